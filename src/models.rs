//! What a user fits and keeps: a feature map with coefficients, in one file that predicts anywhere.
//!
//! [`Ridge`] and [`RidgeClassifier`] are the front door: learners on a map, with a default for
//! everything else. What all learners share lies in [`Learner`], and what they give back is a
//! [`Model`]. Below lie [`LinearModel`], which is fitted to a map that is drawn, and its
//! [`Predictor`].

// A face alone: no room imports it.
#[doc(hidden)]
pub use crate::model::LeftOutScores;
pub use crate::model::{
    AmountScore, AmountScores, CalibratedOn, ClassScore, ClassSets, ClassSpread, Coefficients,
    Conformal, FitTimes, FoundLengthscales, FromLabel, Gradients, HeldOut, IntervalPredictor,
    Intervals, IsLabel, Label, LabelScores, LambdaCurve, LambdaPoint, LearnedMetric, LinearModel,
    Link, LoadedModel, Metric, Model, Predicted, Predictor, Principal, Probabilities,
    ProbabilityPredictor, QuantileScore, Range, Ranges, Score, Scores, Spread, Targets, ToLabels,
};
#[cfg(feature = "learn")]
pub use crate::{
    door::*,
    learn::{
        Basis, Blend, BoostingOptions, Budget, ClassWeights, Components, DensityOptions, Enough,
        FalkonOptions, Fit, FitData, FitOptions, Found, GaussianProcessOptions, GreedyOptions,
        GrowingClusters, KMeansOptions, KernelIcaOptions, KernelPcaOptions, KernelRidgeOptions,
        Lambda, LassoOptions, Lengthscales, LogisticOptions, MarginLoss, Member, OneClassOptions,
        Partial, PathwiseOptions, PcaSolver, ResidualLoss, ResidualOptions, RidgeOptions,
        RowWeights, Search, Size, Solver, SpectralClusteringOptions, SpectralEmbeddingOptions,
        Stopping, SupportVectorOptions, Trial, Usual,
    },
    solve::OwnLoss,
    sums::{Embedding, HeldOutSums, RidgeSums, Sums},
};
// What the command line and Python call of learners, beside what users do.
#[cfg(feature = "learn")]
#[doc(hidden)]
pub use crate::{
    learn::{
        FitAnySums, FitPenalised, FitRows, FitSums, Leaves, MemoryPlan, SearchData,
        WithClassWeights, WithProbabilities,
    },
    sums::{AnySums, Keep, ModelContext, OneOfSums, Resume, RowsToSum},
};
