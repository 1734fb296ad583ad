//! What a user fits and keeps: a feature map with coefficients, in one file that predicts anywhere.
//!
//! [`Ridge`] and [`RidgeClassifier`] are the front door: learners on a map, with a default for
//! everything else. What all learners share lies in [`Learner`], and what they give back is a
//! [`Model`]. Below lie [`LinearModel`], which is fitted to a map that is drawn, and its
//! [`Predictor`].

// A face alone: no room imports it.
pub use crate::model::{
    AmountScore, AmountScores, ClassScore, ClassSpread, Coefficients, Conformal, FitTimes,
    FoundLengthscales, FromLabel, HeldOut, IntervalPredictor, Intervals, IsLabel, Label,
    LabelScores, LambdaCurve, LambdaPoint, LearnedMetric, LinearModel, Link, LoadedModel, Metric,
    Model, Predicted, Predictor, Principal, Probabilities, ProbabilityPredictor, QuantileScore,
    Range, Ranges, Score, Scores, Spread, Targets, ToLabels,
};
#[cfg(feature = "learn")]
pub use crate::{
    door::*,
    learn::{
        Basis, BoostingOptions, Budget, ClassWeights, Components, DensityOptions, Enough,
        FalkonOptions, Fit, FitAnySums, FitData, FitOptions, FitPenalised, FitRows, FitSums, Found,
        GaussianProcessOptions, GreedyOptions, GrowingClusters, KMeansOptions, KernelIcaOptions,
        KernelPcaOptions, KernelRidgeOptions, Lambda, LassoOptions, Leaves, Lengthscales,
        LogisticOptions, MarginLoss, MemoryPlan, OneClassOptions, Partial, PathwiseOptions,
        PcaSolver, ResidualLoss, ResidualOptions, RidgeOptions, RowWeights, Search, SearchData,
        Size, Solver, SpectralClusteringOptions, SpectralEmbeddingOptions, Stopping,
        SupportVectorOptions, Trial, Usual, WithClassWeights, WithProbabilities,
    },
    solve::OwnLoss,
    sums::{
        AnySums, Embedding, HeldOutSums, Keep, ModelContext, OneOfSums, Resume, RidgeSums,
        RowsToSum, Sums,
    },
};
