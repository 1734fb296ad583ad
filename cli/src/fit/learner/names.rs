//! What learners, solvers and choices of scales are called.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Name {
    /// Least squares with a penalty, of amounts or of classes
    Ridge,
    /// Ridge regression without features, by the kernel of all rows: the reference for few
    KernelRidge,
    /// Ridge regression on the kernel with landmark rows, by preconditioned conjugate gradients
    Falkon,
    /// The best few features of a pool, one a step
    Greedy,
    /// Blocks of features fitted to what is left, until rows held out say when to stop
    Boosting,
    /// Gaussian process regression: predictions with a deviation; finds its own penalty
    GaussianProcess,
    /// Logistic regression of classes, with probabilities
    Logistic,
    /// Linear support vector machine, of classes
    Svm,
    /// Support vector regression, Huber's, quantiles
    Svr,
    /// Sparse least squares
    Lasso,
    /// Novelty detection: 1 for rows like those seen, -1 for others
    OneClass,
    /// Density of rows without targets, by the mean of their kernels
    Density,
    /// Principal components of rows without targets
    Pca,
    /// Independent components of rows without targets
    Ica,
    /// Clusters of rows without targets, around centres
    Kmeans,
    /// Coordinates in which neighbours stay neighbours, of rows without targets
    Spectral,
    /// Clusters of rows without targets, of any shape
    SpectralClustering,
}

/// What is asked for by a name that other programs have for a model, or for a loss of one.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "quantile" | "quantile-regression" => "--model svr --loss quantile --quantile 0.9",
        "median" => "--model svr --loss quantile --quantile 0.5",
        "huber" => "--model svr --loss huber",
        "svc" => "--model svm",
        "gp" | "gpr" | "kriging" => "--model gaussian-process",
        "krr" => "--model kernel-ridge",
        "linear" | "regression" => "--model ridge",
        "classification" | "softmax" => "--model logistic",
        _ => return None,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Solver {
    Auto,
    Cholesky,
    Dual,
    Cg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scales {
    /// None
    Fixed,
    /// One factor for all columns
    One,
    /// One for each column: those that say nothing grow
    PerColumn,
}
