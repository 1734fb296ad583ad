//! Learners that need only sums of the rows.

use crate::{
    Result,
    clock::Instant,
    features::FeatureMap,
    learn::{Fit, FitData},
    model::{FitTimes, LinearModel},
    sums::{ModelContext, Resume, RowsToSum, Sums},
};

/// A learner that needs only sums of the rows.
pub trait FitSums: Fit {
    /// Type of the sums.
    type Sums: Sums;

    /// Returns the sums of the rows of `data`, which may be empty.
    fn sum(&self, map: &dyn FeatureMap, data: RowsToSum<'_>) -> Result<Self::Sums> {
        self.sum_on(map, data, Resume::default())
    }

    /// As [`Self::sum`], with bit-identical results, but resumes from the sums of an interrupted
    /// run; `data` includes the rows of that run. Errors with [`Error::Shape`](crate::Error::Shape)
    /// if there are fewer.
    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, Self::Sums>,
    ) -> Result<Self::Sums>;

    /// Returns the model of the sums, without the names of classes.
    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: Self::Sums,
        known: ModelContext<'_>,
    ) -> Result<LinearModel>;
}

/// Sums all rows and solves: the fit of a learner that needs nothing else.
pub(in crate::learn) fn fit_sums<L: FitSums>(
    learner: &L,
    map: Box<dyn FeatureMap>,
    data: FitData<'_>,
) -> Result<LinearModel> {
    let start = Instant::now();
    let summed = RowsToSum {
        source: data.source,
        targets: &data.targets,
        kernel: data.kernel.as_ref(),
        seed: data.seed,
        run: data.run,
    };
    let sums = learner.sum(map.as_ref(), summed)?;
    sums.check()?;
    let accumulate = start.elapsed();
    let known = ModelContext {
        targets: &data.targets,
        kernel: data.kernel.as_ref(),
        run: data.run,
    };
    let model = learner.model(map, sums, known)?;
    Ok(LinearModel {
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed() - accumulate,
        }),
        ..model
    })
}
