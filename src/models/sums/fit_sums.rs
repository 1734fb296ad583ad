//! Learners to whom rows are nothing but sums.

use crate::models::{Fit, FitData, FitTimes, LinearModel, Sums};
use crate::{
    Result,
    clock::Instant,
    data::ChunkSource,
    features::{FeatureMap, ScaledKernel},
    flow::Run,
    normal::Targets,
    seed::Seed,
};
use std::fmt::Debug;

/// A learner to whom rows are nothing but sums.
pub trait FitSums: Fit {
    /// What is summed.
    type Sums: Sums;

    /// The sums of the rows of `data`, which may be none.
    fn sum(&self, map: &dyn FeatureMap, data: Summed<'_>) -> Result<Self::Sums>;

    /// The model of sums, but for the names of classes.
    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: Self::Sums,
        known: Known<'_>,
    ) -> Result<LinearModel>;
}

/// Rows on their way into sums.
pub struct Summed<'a> {
    /// The rows, from the first.
    pub source: &'a mut dyn ChunkSource,
    /// What their targets mean.
    pub targets: &'a Targets,
    /// The kernel that the map estimates, where it is known.
    pub kernel: Option<&'a ScaledKernel>,
    /// The seed of what the learner draws itself.
    pub seed: Seed,
    /// Where, with how much memory, and who hears of it.
    pub run: &'a Run,
}

impl Debug for Summed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Summed")
            .field("targets", &self.targets)
            .field("run", self.run)
            .finish_non_exhaustive()
    }
}

/// What a model of sums needs beside them.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What targets mean.
    pub targets: &'a Targets,
    /// The kernel that the map estimates, where it is known.
    pub kernel: Option<&'a ScaledKernel>,
    /// Where the fit ran.
    pub run: &'a Run,
}

/// A fit by the sums of all rows, for learners that are nothing else.
pub(in crate::models) fn fit_sums<L: FitSums>(
    learner: &L,
    map: Box<dyn FeatureMap>,
    data: FitData<'_>,
) -> Result<LinearModel> {
    let start = Instant::now();
    let summed = Summed {
        source: data.source,
        targets: &data.targets,
        kernel: data.kernel.as_ref(),
        seed: data.seed,
        run: data.run,
    };
    let sums = learner.sum(map.as_ref(), summed)?;
    sums.check()?;
    let accumulate = start.elapsed();
    let known = Known {
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
