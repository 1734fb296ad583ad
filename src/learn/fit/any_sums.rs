//! Learners to whom rows are nothing but sums, behind one pointer.

use crate::{
    Error, Result,
    clock::Instant,
    features::FeatureMap,
    learn::{Fit, FitSums},
    model::{FitTimes, LinearModel},
    sums::{AnySums, HeldOutSums, Keep, ModelContext, OneOfSums, Resume, RowsToSum, Sums, keeping},
};
use std::time::Duration;

/// A learner that can be fitted to sums of parts of the rows, made anywhere, at any time.
///
/// ```
/// use bochner::{Device, Run, data::{MemorySource, Pieces}, kernels::Gaussian, seed::Seed};
/// use bochner::{features::{Affine, Fourier}, models::Targets};
/// use bochner::models::{FitAnySums, ModelContext, RidgeOptions, RowsToSum, Sums};
/// let x = ndarray::Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 9.0);
/// let mut source = MemorySource::new(x.clone(), Some(x))?;
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let (ridge, run) = (RidgeOptions::default(), Run::on(&Device::cpu()));
/// let targets = Targets::Real { columns: 1, shift: vec![3.0] };
/// let mut pieces = Pieces::new(&mut source)?;
/// let mut sum = |first_row, rows| {
///     let source = &mut pieces.piece(first_row, rows);
///     let (targets, kernel, seed, run) = (&targets, None, Seed(0), &run);
///     ridge.sum_any(&map, RowsToSum { source, targets, kernel, seed, run })
/// };
/// let mut sums = sum(0, 40)?;
/// sums.merge(&sum(40, 40)?)?;
/// assert_eq!(sums.rows(), 60);
/// let known = ModelContext { targets: &targets, kernel: None, run: &run };
/// assert_eq!(ridge.model_of(Box::new(map), sums, known)?.rows, 60);
/// # Ok::<(), bochner::Error>(())
/// ```
pub trait FitAnySums: Fit {
    /// The sums of the rows of `data`, which may be none. Errors with [`Error::Unsupported`] where
    /// these options need the rows themselves.
    fn sum_any(&self, map: &dyn FeatureMap, data: RowsToSum<'_>) -> Result<AnySums> {
        self.sum_any_on(map, data, Resume::default())
    }

    /// As [`Self::sum_any`], to the bit, from where an earlier run ended: `data` has the rows that
    /// this one had, too. Errors with [`Error::Format`] where they are sums of another learner,
    /// with [`Error::Shape`] where there are fewer rows.
    fn sum_any_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, AnySums>,
    ) -> Result<AnySums>;

    /// Whether [`Self::sum_any`] reads its rows twice.
    fn reads_twice(&self) -> bool {
        false
    }

    /// The model of sums, but for the names of classes.
    ///
    /// Errors with [`Error::Format`] on sums of another learner, with [`Error::Shape`] on no rows,
    /// and as fits do.
    fn model_of(
        &self,
        map: Box<dyn FeatureMap>,
        sums: AnySums,
        known: ModelContext<'_>,
    ) -> Result<LinearModel>;
}

/// The sums, if they are of this kind.
fn take_sums<S: OneOfSums>(sums: AnySums) -> Result<S> {
    S::of_any(sums).ok_or_else(|| {
        Error::format(format!(
            "these are no {}; name sums of this learner",
            S::NAME
        ))
    })
}

impl<L: FitSums> FitAnySums for L
where
    L::Sums: OneOfSums,
{
    fn reads_twice(&self) -> bool {
        L::Sums::NAME == HeldOutSums::NAME
    }

    fn sum_any_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, AnySums>,
    ) -> Result<AnySums> {
        let from = resume.from.map(take_sums).transpose()?;
        let mut keep = (resume.keep).map(|keep| keeping(keep, L::Sums::any, take_sums));
        let keep = keep.as_mut().map(|keep| keep as &mut Keep<'_, _>);
        Ok(self.sum_on(map, data, Resume { from, keep })?.any())
    }

    fn model_of(
        &self,
        map: Box<dyn FeatureMap>,
        sums: AnySums,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let start = Instant::now();
        let sums: L::Sums = take_sums(sums)?;
        sums.check()?;
        let model = self.model(map, sums, known)?;
        Ok(LinearModel {
            times: Some(FitTimes {
                accumulate: Duration::ZERO,
                solve: start.elapsed(),
            }),
            ..model
        })
    }
}
