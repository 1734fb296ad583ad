//! Learners to whom rows are nothing but sums.

use crate::{
    Result,
    clock::Instant,
    features::FeatureMap,
    learn::{Fit, FitData},
    model::{FitTimes, LinearModel},
    sums::{ModelContext, Resume, RowsToSum, Sums},
};

/// A learner to whom rows are nothing but sums.
pub trait FitSums: Fit {
    /// What is summed.
    type Sums: Sums;

    /// The sums of the rows of `data`, which may be none.
    fn sum(&self, map: &dyn FeatureMap, data: RowsToSum<'_>) -> Result<Self::Sums> {
        self.sum_on(map, data, Resume::default())
    }

    /// As [`Self::sum`], to the bit, from where an earlier run ended: `data` has the rows that this
    /// one had, too. Errors with [`Error::Shape`](crate::Error::Shape) where it has fewer.
    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, Self::Sums>,
    ) -> Result<Self::Sums>;

    /// The model of sums, but for the names of classes.
    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: Self::Sums,
        known: ModelContext<'_>,
    ) -> Result<LinearModel>;
}

/// A fit by the sums of all rows, for learners that are nothing else.
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
