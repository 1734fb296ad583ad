//! Falkon: kernel ridge regression with landmarks, for any number of rows.

use crate::{
    Error, Result,
    clock::Instant,
    data::{ChunkSource, KeptRows},
    device::memory_left,
    error::Remedy,
    features::{FeatureMap, KernelColumnsMap},
    flow::{RowNeeds, Run, for_each_chunk},
    learn::{
        Fit, FitData, Lambda,
        kernel::kernel_ridge::{Choice, Chosen, columns_of},
        squares::iterative::read,
    },
    linalg::cholesky::Lower,
    model::{Coefficients, FitTimes, LinearModel, Targets},
    progress::Step,
    settings::Settings,
    solve::{
        ConjugateGradients, Solution, StreamedRows,
        falkon::{FalkonPreconditioner, Whitened},
    },
    text::{counted, human_bytes},
};
use std::collections::BTreeMap;

/// Options of [`Falkon`](crate::models::Falkon) and
/// [`FalkonClassifier`](crate::models::FalkonClassifier).
#[derive(Debug, Clone, PartialEq)]
pub struct FalkonOptions {
    /// The penalty per sample, lambda > 0, or how it is chosen.
    ///
    /// [`Lambda::Usual`] is that of [`KernelRidge`](crate::models::KernelRidge): the best by
    /// leave-one-out errors of at most 2048 rows, computed with the kernel matrix of these rows
    /// instead of that of the landmarks. It takes a pass over the rows.
    pub lambda: Lambda,
    /// Whether to fit an intercept, which is not penalised.
    pub intercept: bool,
    /// Convergence threshold on the residual of each target, in the norm of the inverse
    /// preconditioner, relative to its start. The relative error of the coefficients in the norm of
    /// the problem is then about the same.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
}

impl Default for FalkonOptions {
    /// The best penalty by leave-one-out errors, with an intercept, tolerance 1e-5, at most 500
    /// iterations.
    fn default() -> Self {
        Self {
            lambda: Lambda::Usual,
            intercept: true,
            tolerance: 1e-5,
            max_iterations: 500,
        }
    }
}

/// Bytes per pair of landmarks: the factors of their kernel matrix and of the problem.
const FACTOR_BYTES: u32 = 16;

/// Limit on the bytes of the factors.
const MOST_BYTES: u64 = 1 << 38;

/// Bytes of the factors of the landmarks' kernel and of the problem.
fn factor_bytes(landmarks: usize) -> u64 {
    u64::from(FACTOR_BYTES) * (landmarks as u64).pow(2)
}

impl Fit for FalkonOptions {
    fn is_least_squares(&self) -> bool {
        true
    }

    fn penalties(&self) -> Option<&[f64]> {
        self.lambda.given()
    }

    fn settings(&self) -> Settings {
        (self.lambda)
            .said(Settings::of_learner("falkon"))
            .flag("no-intercept", !self.intercept)
            .number("tolerance", self.tolerance)
            .text("iterations", self.max_iterations)
    }

    /// Targets and the products of an iteration.
    fn row_bytes(&self, outputs: usize) -> usize {
        16 * outputs.max(1)
    }

    fn square_bytes(&self, _landmarks: usize) -> u32 {
        FACTOR_BYTES
    }

    fn kept_bytes(&self, size: (usize, usize), rows: Option<usize>) -> u64 {
        let choice = Choice::from_penalties(&self.lambda, u64::MAX)
            .ok()
            .flatten();
        let kept = choice.map_or(0, |choice| choice.rows(size).most());
        (kept.min(rows.unwrap_or(kept)) * KeptRows::row_bytes(size)) as u64
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors with [`Error::Unsupported`] on a map other than
    /// [`KernelColumns`](crate::features::KernelColumns) with landmarks, with [`Error::Limit`] on
    /// too many landmarks, and with [`Error::Parameter`] on options outside their domain. Warns if
    /// the iteration ends before it converges, and keeps the result.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let FitData {
            source,
            targets,
            run,
            ..
        } = data;
        let (choice, given) = self.penalty(run)?;
        let columns = columns_of(map.as_ref(), "Falkon")?;
        require_room(columns.landmarks().nrows())?;
        if source.targets() == 0 {
            return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
        }
        let start = Instant::now();
        let chosen = match choice {
            Some(choice) => self.choose(&choice, columns, (&mut *source, &targets), run)?,
            None => Chosen::given(given),
        };
        let lambda = chosen.lambda;
        let held = read(map.as_ref(), source, &targets, run)?;
        let rows = held.y_tn.ncols();
        let factors = FalkonPreconditioner::from_kernel(
            || columns.gram(),
            columns.top(),
            lambda,
            self.intercept,
        )?;
        let accumulate = start.elapsed();
        let start = Instant::now();
        let mut block = StreamedRows::new(&[(map.as_ref(), 0, 1.0)], source, rows, run)?;
        let mut whitened = Whitened {
            block: &mut block,
            factor: &factors.landmarks,
            top: columns.top(),
        };
        let solution = self.solver(lambda).solve_preconditioned(
            &mut whitened,
            held.y_tn.view(),
            held.weights_n.as_ref().map(|w| w.view()),
            Some(&factors.problem),
            &mut |i, r| run.say(Step::Iteration(i, r)),
        )?;
        drop(block);
        drop(held);
        let facts = self.facts(&solution, (columns.landmarks().nrows(), factors.jitter));
        let coefficients = unwhitened(solution.coefficients, &factors.landmarks, columns);
        let mut model = LinearModel {
            learner: "falkon".into(),
            facts,
            lambda,
            rows: rows as u64,
            times: Some(FitTimes {
                accumulate,
                solve: start.elapsed(),
            }),
            ..LinearModel::new(map, coefficients, targets, &run.device)
        };
        chosen.keep(&mut model);
        Ok(model)
    }
}

/// Coefficients of the columns from those in the basis of the factor of the landmarks' kernel.
fn unwhitened(
    coefficients: Coefficients,
    landmarks: &Lower,
    columns: &KernelColumnsMap,
) -> Coefficients {
    let Coefficients {
        mut beta_dt,
        intercept_t,
    } = coefficients;
    landmarks.solve_transposed(&mut beta_dt);
    Coefficients {
        beta_dt: columns.lift(beta_dt),
        intercept_t,
    }
}

/// The warning for a residual above the tolerance.
fn short_of(residual: f64, (iterations, tolerance): (usize, f64)) -> String {
    format!(
        "falkon: the relative residual is {residual:.1e} after {iterations} iterations, and not \
         {tolerance:.0e}; the model is kept: try a larger lambda or more iterations"
    )
}

/// Errors without landmarks, or without memory for their factors.
fn require_room(m: usize) -> Result<()> {
    if m == 0 {
        return Err(Error::parameter("Falkon has no landmarks")
            .help(Remedy::words("ask for some by KernelColumns::landmarks")));
    }
    if factor_bytes(m) > MOST_BYTES {
        return Err(Error::Limit {
            what: format!("the kernel of {}", counted(m, "landmark")),
            needed: human_bytes(factor_bytes(m)),
            allowed: human_bytes(MOST_BYTES),
            remedies: vec![Remedy::FewerLandmarks],
        });
    }
    memory_left::require_square(m, FACTOR_BYTES, || format!("the factors of {m} landmarks"))
        .map_err(|error| error.instead(&Remedy::FewerFeatures, Some(Remedy::FewerLandmarks)))
}

impl FalkonOptions {
    /// The choice of the penalty, or the given one. Checks the options before rows are read.
    fn penalty(&self, run: &Run) -> Result<(Option<Choice>, f64)> {
        // A third of the memory is reserved for everything except the kernel of the deciding rows.
        let choice = Choice::from_penalties(&self.lambda, run.memory / 3 * 2)?;
        let given = match &choice {
            Some(_) => Lambda::USUAL,
            None => self.lambda.fixed()?,
        };
        self.solver(given).check()?;
        Ok((choice, given))
    }

    /// Facts about the iterations, the number of landmarks and the jitter on the diagonal of their
    /// kernel. Warns if the iterations ended before the tolerance.
    fn facts(
        &self,
        solution: &Solution,
        (landmarks, jitter): (usize, f64),
    ) -> BTreeMap<String, f64> {
        let residual = solution.residual_t.fold(0.0, |m: f64, &r| m.max(r));
        if !solution.converged {
            log::warn!(
                "{}",
                short_of(residual, (solution.iterations, self.tolerance))
            );
        }
        let facts = [
            ("iterations", solution.iterations as f64),
            ("relative_residual", residual),
            ("tolerance", self.tolerance),
            ("landmarks", landmarks as f64),
            ("jitter", jitter),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn solver(&self, lambda: f64) -> ConjugateGradients {
        ConjugateGradients {
            lambda,
            intercept: self.intercept,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            ..ConjugateGradients::default()
        }
    }

    /// Reads the rows once to sample the rows that choose the penalty.
    fn choose(
        &self,
        choice: &Choice,
        columns: &KernelColumnsMap,
        (source, targets): (&mut dyn ChunkSource, &Targets),
        run: &Run,
    ) -> Result<Chosen> {
        let chunk = RowNeeds::read(source.columns() + source.targets()).rows_of(run)?;
        let (mut weight, mut kept) = (0.0, choice.rows((source.columns(), source.targets())));
        let (groups, mut seen) = (source.groups(), 0);
        for_each_chunk(source, chunk, |chunk| {
            let rows = chunk.x.nrows();
            weight += chunk.weights.as_ref().map_or(rows as f64, |w| w.sum());
            let own = groups
                .as_ref()
                .and_then(|groups| groups.get(seen..seen + rows));
            kept.look_at_groups(&chunk, own);
            seen += rows;
            Ok(())
        })?;
        choice.choose_by(&kept, columns, (targets, weight, self.intercept), run)
    }
}
