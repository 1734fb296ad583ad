//! What finds the coefficients of a ridge regression.

use crate::{
    Device, Error, Result,
    clock::Instant,
    data::ChunkSource,
    error::Remedy,
    features::{FeatureMap, Formula, require_dense},
    flow::Run,
    learn::squares::{
        dual,
        iterative::{self, Way},
    },
    model::{Coefficients, FitTimes, LinearModel, Targets},
    normal::NormalEquations,
    solve::{Cholesky, ConjugateGradients, Dual, Intercept, LeastNorm},
};

/// How coefficients are found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// A Cholesky factor, or the dual for fewer rows than features where these fit into the memory
    /// of the run, or are twice as many as rows whose products the machine has room for; for maps
    /// whose features cannot be stored (binning) conjugate gradients, unless a factor is cheaper:
    /// of a Gram matrix of at most 1 GiB, or of products of rows of at most 2 GiB.
    #[default]
    Auto,
    /// A Cholesky factor of the normal equations: one pass over the rows, `8 D^2` bytes. Binned
    /// rows are summed on the host, exactly.
    Cholesky,
    /// A Cholesky factor of the products of all rows with each other ([`Dual`]). The features of
    /// all rows are in memory where that of the run has room for both, `8 n (n + D)` bytes; else
    /// they are computed again for each group of rows, and `10 n^2` bytes do. It takes lambda = 0,
    /// too: the smallest coefficients that interpolate. Of binned rows bins are counted instead.
    Dual,
    /// Conjugate gradients, which form no Gram matrix and featurize all rows in every iteration.
    ConjugateGradients {
        /// Done at this relative residual.
        tolerance: f64,
        /// Most iterations.
        max_iterations: usize,
    },
}

impl Solver {
    /// Conjugate gradients to a relative residual of 1e-6, in 1000 iterations at most.
    pub fn conjugate_gradients() -> Self {
        let default = ConjugateGradients::default();
        Self::ConjugateGradients {
            tolerance: default.tolerance,
            max_iterations: default.max_iterations,
        }
    }
}

/// How [`LinearModel::fit`] fits.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Where, with how much memory, and who hears of it. Conjugate gradients hold targets (8 bytes
    /// a row and output) and bins (4 bytes a row and grid) beside the chunks.
    pub run: Run,
    /// The penalty per sample, lambda > 0, or 0 with [`Solver::Dual`] and of the columns as they
    /// are.
    pub lambda: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
    /// How coefficients are found.
    pub solver: Solver,
}

impl FitOptions {
    /// lambda = 1e-6 with an intercept and [`Solver::Auto`]. `run` is a `&Device` or a [`Run`].
    pub fn on(run: impl Into<Run>) -> Self {
        let Cholesky { lambda, intercept } = Cholesky::default();
        Self {
            run: run.into(),
            lambda,
            intercept,
            solver: Solver::Auto,
        }
    }
}

/// Coefficients from sums over the features of `map`, and the effective dimension where it is
/// known. At lambda = 0 it is least squares of least norm, of the columns as they are: features
/// that were drawn depend on each other to within rounding.
pub(super) fn of_sums(
    map: &dyn FeatureMap,
    (lambda, intercept): (f64, Intercept),
    sums: &NormalEquations,
    device: &Device,
) -> Result<(Coefficients, Option<f64>)> {
    if lambda != 0.0 {
        return intercept.solve(lambda, sums);
    }
    if intercept == Intercept::Penalised || !matches!(map.formula(), Ok(Formula::Identity(_))) {
        return Err(Error::parameter(
            "lambda is 0; it must be positive, but for the columns as they are with an intercept \
             that is free, and for the dual solver",
        )
        .help(Remedy::LargerLambda));
    }
    let least = LeastNorm {
        intercept: intercept == Intercept::Free,
        rounding: LeastNorm::rounding_of(sums.z_sum_d.len(), device.is_gpu()),
    };
    let (coefficients, rank) = least.solve(sums)?;
    Ok((coefficients, Some(rank)))
}

impl LinearModel {
    /// Least squares with a penalty on the features of `map`: approximate kernel ridge regression.
    /// [`Ridge`](crate::models::Ridge) does this with the map, too.
    ///
    /// # Errors
    /// As [`NormalEquations::accumulate`] and the solvers; [`Numerical`](crate::Error::Numerical)
    /// when the iteration does not converge, [`Unsupported`](crate::Error::Unsupported) when
    /// [`Solver::Cholesky`] or [`Solver::Dual`] is asked of binning beside other maps,
    /// [`Limit`](crate::Error::Limit) or [`HostMemory`](crate::Error::HostMemory) when there is no
    /// room for the matrix that they factor.
    pub fn fit(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        targets: Targets,
        options: &FitOptions,
    ) -> Result<Self> {
        let FitOptions {
            run,
            lambda,
            intercept,
            solver,
        } = options;
        let (lambda, intercept) = (*lambda, *intercept);
        let default = ConjugateGradients {
            lambda,
            intercept,
            ..ConjugateGradients::default()
        };
        let iterative = match *solver {
            Solver::ConjugateGradients {
                tolerance,
                max_iterations,
            } => {
                let solver = ConjugateGradients {
                    tolerance,
                    max_iterations,
                    ..default
                };
                Some((solver, Way::Iterate))
            }
            Solver::Dual if require_dense(map.as_ref()).is_err() => Some((default, Way::Dual)),
            Solver::Dual => {
                let dual = Dual { lambda, intercept };
                return dual::fit(map, source, targets, dual, run);
            }
            _ if require_dense(map.as_ref()).is_ok() => None,
            Solver::Auto => Some((default, Way::Cheaper)),
            Solver::Cholesky => Some((default, Way::Direct)),
        };
        if let Some((solver, way)) = iterative {
            return iterative::fit(map, source, targets, (&solver, way), run);
        }
        Self::fit_by_sums(map, source, targets, (lambda, intercept.into()), run)
    }

    /// By a Cholesky factor of the sums.
    fn fit_by_sums(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        targets: Targets,
        (lambda, intercept): (f64, Intercept),
        run: &Run,
    ) -> Result<Self> {
        let start = Instant::now();
        let sums = NormalEquations::accumulate(map.as_ref(), source, &targets, run)?;
        let accumulate = start.elapsed();
        let start = Instant::now();
        let solved = of_sums(map.as_ref(), (lambda, intercept), &sums, &run.device)?;
        let times = FitTimes {
            accumulate,
            solve: start.elapsed(),
        };
        let (coefficients, dimension) = solved;
        let mut model = Self {
            times: Some(times),
            lambda,
            rows: sums.rows,
            ..Self::new(map, coefficients, targets, &run.device)
        };
        let name = "effective_dimension".to_owned();
        model
            .facts
            .extend(dimension.map(|dimension| (name, dimension)));
        Ok(model)
    }
}
