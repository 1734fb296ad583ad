//! Sums that go on where an earlier run ended.

#[cfg(test)]
mod tests;

use crate::{Error, Result};
use std::fmt::Debug;

/// Gets the sums so far, and gives them back: it may write them to where another run takes them up.
/// Its errors end the run.
pub type Keep<'a, S> = dyn FnMut(S) -> Result<S> + 'a;

/// What an earlier run left, and who keeps what this one has on the way. Who goes on from what was
/// kept, with the same rows from the first, ends in the bits of a run that nothing ended.
///
/// ```
/// use bochner::{Device, Run, data::MemorySource, kernels::Gaussian, seed::Seed};
/// use bochner::{features::{Affine, Fourier}, models::Targets};
/// use bochner::models::{FitSums, Resume, RidgeOptions, RowsToSum, Sums};
/// let x = ndarray::Array2::from_shape_fn((20_000, 1), |(i, _)| i as f64 / 9.0);
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let ridge = RidgeOptions { lambda: 1e-6.into(), ..RidgeOptions::default() };
/// let run = Run::on(&Device::cpu());
/// let targets = Targets::Real { columns: 1, shift: vec![3.0] };
/// let sum = |resume: Resume<'_, _>| {
///     let source = &mut MemorySource::new(x.clone(), Some(x.clone()))?;
///     let (targets, kernel, seed, run) = (&targets, None, Seed(0), &run);
///     ridge.sum_on(&map, RowsToSum { source, targets, kernel, seed, run }, resume)
/// };
/// let mut kept = None;
/// let whole = sum(Resume { from: None, keep: Some(&mut |sums| Ok(kept.insert(sums).clone())) })?;
/// assert_eq!(kept.as_ref().map(Sums::rows), Some(16_384));
/// assert_eq!(sum(Resume { from: kept, keep: None })?, whole);
/// # Ok::<(), bochner::Error>(())
/// ```
pub struct Resume<'a, S> {
    /// The sums of the first rows; `None` where there are none yet.
    pub from: Option<S>,
    /// Gets the sums whenever a run could go on from them; nobody does where it is `None`.
    pub keep: Option<&'a mut Keep<'a, S>>,
}

impl<S> Default for Resume<'_, S> {
    fn default() -> Self {
        Self {
            from: None,
            keep: None,
        }
    }
}

impl<S: Debug> Debug for Resume<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resume")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// Errors with [`Error::Shape`] where the data has fewer rows than were summed before.
pub(crate) fn check_all_there(summed: u64, seen: u64) -> Result<()> {
    if seen < summed {
        return Err(Error::shape(format!(
            "the sums are of {summed} rows, but the data has {seen}; go on with the same data"
        )));
    }
    Ok(())
}

/// Who keeps a part of sums, by who keeps the whole: `join` puts the part in its place, `part`
/// takes it out again.
pub(crate) fn keeping<'k, S, P>(
    keep: &'k mut Keep<'_, S>,
    join: impl Fn(P) -> S + 'k,
    part: impl Fn(S) -> Result<P> + 'k,
) -> impl FnMut(P) -> Result<P> + 'k {
    move |sums| part(keep(join(sums))?)
}
