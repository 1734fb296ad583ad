//! Solvers of ridge regression.

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

/// Solver of a ridge regression.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// A Cholesky factor. The dual is used for fewer rows than features if both fit into the memory
    /// of the run, or if there are at least twice as many features as rows and the machine has room
    /// for the products of rows. Maps whose features cannot be stored (binning) use conjugate
    /// gradients, unless a factor is cheaper: of a Gram matrix of at most 1 GiB, or of products of
    /// rows of at most 2 GiB.
    #[default]
    Auto,
    /// A Cholesky factor of the normal equations: one pass over the rows, `8 D^2` bytes. Binned
    /// rows are summed on the host, exactly.
    Cholesky,
    /// A Cholesky factor of the products of all rows with each other ([`Dual`]). If the memory of
    /// the run has room for `8 n (n + D)` bytes, the features of all rows are kept; otherwise they
    /// are computed again for each group of rows, in `10 n^2` bytes. It also supports lambda = 0:
    /// the coefficients of least norm that interpolate. For binned rows, equal bins are counted
    /// instead.
    Dual,
    /// Conjugate gradients, which form no Gram matrix and compute the features of all rows in each
    /// iteration.
    ConjugateGradients {
        /// Relative residual at which the iteration stops.
        tolerance: f64,
        /// Maximum number of iterations.
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

/// Options of [`LinearModel::fit`].
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Device, memory budget and progress callbacks. Conjugate gradients hold targets (8 bytes per
    /// row and output) and bins (4 bytes per row and grid) in addition to the chunks.
    pub run: Run,
    /// The penalty per sample, lambda > 0, or 0 with [`Solver::Dual`] and on the columns
    /// themselves.
    pub lambda: f64,
    /// Whether to fit an intercept.
    pub intercept: bool,
    /// The solver.
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

/// Coefficients from sums over the features of `map`, and the effective dimension if it is known.
/// lambda = 0 gives least squares of least norm, for the columns themselves only: random features
/// are linearly dependent within rounding.
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
    /// L2-penalised least squares on the features of `map`: approximate kernel ridge regression.
    /// [`Ridge`](crate::models::Ridge) also draws the map.
    ///
    /// # Errors
    /// As [`NormalEquations::accumulate`] and the solvers; [`Numerical`](crate::Error::Numerical)
    /// if the iteration does not converge, [`Unsupported`](crate::Error::Unsupported) for
    /// [`Solver::Cholesky`] or [`Solver::Dual`] on binning combined with other maps,
    /// [`Limit`](crate::Error::Limit) or [`HostMemory`](crate::Error::HostMemory) if there is no
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
