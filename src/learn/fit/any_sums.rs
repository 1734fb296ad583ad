//! Object-safe form of learners that need only sums of the rows.

use crate::{
    Error, Result,
    clock::Instant,
    features::FeatureMap,
    learn::{Fit, FitSums},
    model::{FitTimes, LinearModel},
    sums::{AnySums, HeldOutSums, Keep, ModelContext, OneOfSums, Resume, RowsToSum, Sums, keeping},
};
use std::time::Duration;

/// A learner that can be fitted to merged sums of separate sets of rows.
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
    /// Returns the sums of the rows of `data`, which may be empty. Errors with
    /// [`Error::Unsupported`] if these options need the rows themselves.
    fn sum_any(&self, map: &dyn FeatureMap, data: RowsToSum<'_>) -> Result<AnySums> {
        self.sum_any_on(map, data, Resume::default())
    }

    /// As [`Self::sum_any`], with bit-identical results, but resumes from the sums of an
    /// interrupted run; `data` includes the rows of that run. Errors with [`Error::Format`] on sums
    /// of another learner, and with [`Error::Shape`] if there are fewer rows than were summed.
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

    /// Returns the model of the sums, without the names of classes.
    ///
    /// Errors with [`Error::Format`] on sums of another learner, with [`Error::Shape`] on sums of
    /// no rows, and as fits do.
    fn model_of(
        &self,
        map: Box<dyn FeatureMap>,
        sums: AnySums,
        known: ModelContext<'_>,
    ) -> Result<LinearModel>;
}

/// Extracts sums of type `S`; errors on sums of another learner.
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
