//! Resuming sums from an interrupted run.

#[cfg(test)]
mod tests;

use crate::{Error, Result};
use std::fmt::Debug;

/// Receives the sums so far, and returns them; it may save them for another run. Its errors end the
/// run.
pub type Keep<'a, S> = dyn FnMut(S) -> Result<S> + 'a;

/// Saved sums of an interrupted run, and a callback that saves the sums of this one. Resuming with
/// the same rows from the first gives the bits of an uninterrupted run.
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
    /// The sums of the first rows; `None` to start from the first row.
    pub from: Option<S>,
    /// Receives the sums at each point from which a run can resume; `None` to save nothing.
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

/// Errors with [`Error::Shape`] if the data has fewer rows than were summed before.
pub(crate) fn check_all_there(summed: u64, seen: u64) -> Result<()> {
    if seen < summed {
        return Err(Error::shape(format!(
            "the sums are of {summed} rows, but the data has {seen}; go on with the same data"
        )));
    }
    Ok(())
}

/// Adapts a callback for whole sums to one for a part: `join` makes the whole from the part, `part`
/// extracts it again.
pub(crate) fn keeping<'k, S, P>(
    keep: &'k mut Keep<'_, S>,
    join: impl Fn(P) -> S + 'k,
    part: impl Fn(S) -> Result<P> + 'k,
) -> impl FnMut(P) -> Result<P> + 'k {
    move |sums| part(keep(join(sums))?)
}
