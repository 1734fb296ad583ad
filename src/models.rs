//! Learners and fitted models: a feature map with coefficients, saved in one file.
//!
//! [`Ridge`] and [`RidgeClassifier`] are the usual start: learners on a map, with a default for
//! every other setting. [`Learner`] has the methods that all learners share, and a fit returns a
//! [`Model`]. The lower level is [`LinearModel`], fitted to a map that is already drawn, and its
//! [`Predictor`].

// Re-exports only: no other module imports this one.
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
// Items that the command line and the Python package call in addition to the public ones.
#[cfg(feature = "learn")]
#[doc(hidden)]
pub use crate::{
    learn::{
        FitAnySums, FitPenalised, FitRows, FitSums, Leaves, MemoryPlan, SearchData,
        WithClassWeights, WithProbabilities,
    },
    sums::{AnySums, Keep, ModelContext, OneOfSums, Resume, RowsToSum},
};
