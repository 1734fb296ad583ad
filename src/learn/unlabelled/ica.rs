//! Kernel ICA: the directions of whitened components along which rows are least Gaussian.

use crate::{
    Error, Result,
    clock::Instant,
    error::Remedy,
    features::{FeatureMap, MapKind, names::IDENTITY},
    flow::Run,
    learn::{
        Fit, FitData, FitRows, Usual,
        unlabelled::{
            kmeans::{Finish, Kept, Streamed},
            pca::{Components, Covariance, scores},
        },
    },
    linalg::{
        eigen::{EIGEN_BYTES, Eigen, eigen, sign},
        entries,
        leading::LEADING_BYTES,
    },
    model::{Coefficients, FitTimes, LinearModel, Targets},
    normal::NormalEquations,
    order::ascending,
    parallel,
    progress::Step,
    seed::{Draws, Stream},
    settings::Settings,
    text::{counted, human_bytes},
};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Options of [`KernelIca`](crate::models::KernelIca).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelIcaOptions {
    /// Number of sources, k. `None` takes all directions in which the columns vary, or two on
    /// features of a kernel.
    pub components: Option<usize>,
    /// Convergence threshold on the turn of each direction, 1 - |cosine|.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
}

impl Default for KernelIcaOptions {
    /// All sources of the columns, a tolerance of 1e-6, 500 iterations.
    fn default() -> Self {
        Self {
            components: None,
            tolerance: 1e-6,
            max_iterations: 500,
        }
    }
}

impl FitRows for KernelIcaOptions {
    type Predicted = Array2<f64>;
}

/// Minimum size of the sample: entries of whitened components, and rows per source.
const SAMPLE: usize = 1 << 22;
const SAMPLE_OF_COMPONENT: usize = 16;

/// Rows per unit of parallel work.
const ROWS: usize = 1024;

impl Fit for KernelIcaOptions {
    fn settings(&self) -> Settings {
        let usual = Self::default();
        let tolerance = (self.tolerance != usual.tolerance).then_some(self.tolerance);
        let settings = Settings::of_learner("ica");
        let settings = match self.components {
            Some(count) => settings.text("components", count),
            None => settings,
        };
        let settings = settings.maybe("tolerance", tolerance);
        if self.max_iterations == usual.max_iterations {
            settings
        } else {
            settings.text("iterations", self.max_iterations)
        }
    }

    /// The columns themselves, whose sources are mixed by sums. On features of a kernel, sources of
    /// the features are found.
    fn usual(&self) -> Usual {
        Usual {
            map: MapKind::Identity,
            ..Usual::default()
        }
    }

    fn row_bytes(&self, _outputs: usize) -> usize {
        16
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        match self.components {
            Some(_) => LEADING_BYTES,
            None => EIGEN_BYTES,
        }
    }

    /// Errors as kernel PCA does, and with [`Error::Numerical`] if the iteration does not converge,
    /// for example if all sources are Gaussian.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let start = Instant::now();
        let run = data.run;
        let none = Targets::none();
        let sums = NormalEquations::accumulate(map.as_ref(), &mut *data.source, &none, run)?;
        let rows = sums.rows;
        let covariance = Covariance::from_sums(sums)?;
        let Eigen {
            values_n,
            vectors_nn,
        } = covariance.leading(self.kept(map.as_ref()))?;
        let components = values_n.len();
        let white_dk = vectors_nn / values_n.mapv(f64::sqrt);
        let shift_k = covariance.mean_d.dot(&white_dk);
        let most = sample_rows((rows, components), run)?;
        let half = run.clone().memory(run.memory - run.memory / 2);
        let finish: Finish<'_> = Box::new(|y| (y.mapv(f64::from) - &shift_k).mapv(entries::narrow));
        let branch = (map.as_ref(), &white_dk);
        let mut points = Streamed::outputs(branch, (finish, components), data.source, rows, &half)?;
        let mut draws = data.seed.stream(Stream::Iteration, 0);
        let sample = Kept::sample(&mut points, most, &mut draws)?;
        drop(points);
        let accumulate = start.elapsed();
        let start = Instant::now();
        let hear = |iteration, turn| run.say(Step::Iteration(iteration, turn));
        let (turn_kk, iterations) = self.unmix(sample.points(), &mut draws, &hear)?;
        let mut beta_dt = white_dk.dot(&turn_kk.t());
        sign(&mut beta_dt);
        let coefficients = Coefficients {
            intercept_t: -covariance.mean_d.dot(&beta_dt),
            beta_dt,
        };
        Ok(LinearModel {
            learner: "ica".into(),
            facts: [
                ("components".into(), components as f64),
                ("iterations".into(), iterations as f64),
            ]
            .into(),
            rows,
            times: Some(FitTimes {
                accumulate,
                solve: start.elapsed(),
            }),
            ..LinearModel::new(map, coefficients, scores(components), &run.device)
        })
    }
}

/// Maximum number of sampled rows, the same for any memory budget. Errors if half of the memory
/// does not hold them.
fn sample_rows((rows, components): (u64, usize), run: &Run) -> Result<usize> {
    let most = (SAMPLE / components).max(SAMPLE_OF_COMPONENT * components);
    let rows = usize::try_from(rows).unwrap_or(usize::MAX).min(most);
    let needed = 8 * rows as u64 * components as u64;
    if needed <= run.memory {
        return Ok(rows);
    }
    Err(Error::Limit {
        what: format!(
            "a sample of {} for {}",
            counted(rows, "row"),
            counted(components, "source")
        ),
        needed: human_bytes(needed),
        allowed: human_bytes(run.memory),
        remedies: vec![
            Remedy::MoreMemory,
            Remedy::words("ask for fewer components"),
        ],
    })
}

impl KernelIcaOptions {
    /// Number of whitened components that are rotated to sources. On the columns themselves all
    /// directions with variance are kept, since with two of three the third would still be mixed
    /// into them. Features of a kernel have too many directions for that.
    fn kept(&self, map: &dyn FeatureMap) -> Components {
        match self.components {
            Some(count) => Components::Count(count),
            None if map.name() == IDENTITY => Components::Variance(1.0),
            None => Components::Count(2),
        }
    }

    /// Rotation W from whitened rows to sources, `[k, k]`, the least Gaussian first, and the number
    /// of iterations.
    ///
    /// FastICA's steps can cycle if sources are close to Gaussian. After `PATIENCE` steps whose
    /// turn did not halve, the sign of each source's deviation from a Gaussian is fixed, which
    /// makes their contrast a smooth function of W, and each step is shortened until it increases
    /// this. The fixed points stay the same.
    fn unmix(
        &self,
        y_nk: ArrayView2<'_, f32>,
        draws: &mut Draws,
        hear: &dyn Fn(usize, f64),
    ) -> Result<(Array2<f64>, usize)> {
        let k = y_nk.ncols();
        let start = Array2::from_shape_simple_fn((k, k), || draws.normal());
        let mut w_kk = decorrelated(&start)?;
        let mut sums = Sums::compute(y_nk, &w_kk);
        let (mut least_turn, mut waited) = (f64::INFINITY, 0);
        let mut sides_k: Option<Array1<f64>> = None;
        let mut length = 1.0;
        for iteration in 1..=self.max_iterations {
            let next_kk = sums.step(&w_kk, sides_k.as_ref(), length)?;
            let cosines = (&next_kk * &w_kk).sum_axis(Axis(1));
            // Scales the turn of a short step to that of a full step; angles are proportional.
            let turn = cosines.fold(0.0_f64, |m, c| m.max((c.abs() - 1.0).abs()));
            let turn = turn / (length * length);
            hear(iteration, turn);
            let next = Sums::compute(y_nk, &next_kk);
            if turn < self.tolerance {
                let away = next.contrast_k.mapv(|c| (c - GAUSSIAN).powi(2));
                let order = ascending(k, &|a, b| away[b].total_cmp(&away[a]));
                return Ok((next_kk.select(Axis(0), &order), iteration));
            }
            if let Some(sides_k) = &sides_k {
                if sides_k.dot(&(&next.contrast_k - &sums.contrast_k)) < 0.0 {
                    length /= 2.0;
                    continue;
                }
            } else if turn < 0.5 * least_turn {
                (least_turn, waited) = (turn, 0);
            } else {
                waited += 1;
                if waited == PATIENCE {
                    sides_k = Some(sums.sides(&w_kk));
                }
            }
            (w_kk, sums) = (next_kk, next);
        }
        Err(Error::numerical(format!(
            "the sources still turn after {} iterations: they may be Gaussian",
            self.max_iterations
        ))
        .help(Remedy::words("ask for fewer components")))
    }
}

/// FastICA steps without halving the turn before steps are shortened.
const PATIENCE: usize = 20;

/// The mean of log cosh of a standard Gaussian.
const GAUSSIAN: f64 = 0.374_567_207_491_438_25;

/// Means over all rows for one iteration, with g = tanh.
struct Sums {
    /// g(W y) y', `[k, k]`.
    gy_kk: Array2<f64>,
    /// g'(W y), `[k]`.
    slope_k: Array1<f64>,
    /// log cosh(W y), `[k]`.
    contrast_k: Array1<f64>,
}

impl Sums {
    /// `E[g(W y) y'] - diag(E[g'(W y)]) W`: Newton's step of each source, not yet decorrelated
    /// (Hyvarinen 1999, eq. 20).
    fn newton_kk(&self, w_kk: &Array2<f64>) -> Array2<f64> {
        &self.gy_kk - w_kk * &self.slope_k.view().insert_axis(Axis(1))
    }

    /// 1 for a source whose contrast has a maximum at the end of its step, -1 for a minimum.
    fn sides(&self, w_kk: &Array2<f64>) -> Array1<f64> {
        let along_k = (self.newton_kk(w_kk) * w_kk).sum_axis(Axis(1));
        along_k.mapv(|a| if a < 0.0 { -1.0 } else { 1.0 })
    }

    /// Rotation after a step; length 1 is FastICA's step. A shorter one moves from W towards
    /// Newton's step, with its sign and scale matched to W.
    fn step(
        &self,
        w_kk: &Array2<f64>,
        sides_k: Option<&Array1<f64>>,
        length: f64,
    ) -> Result<Array2<f64>> {
        let newton_kk = self.newton_kk(w_kk);
        let Some(sides_k) = sides_k else {
            return decorrelated(&newton_kk);
        };
        let along_k = (&newton_kk * w_kk).sum_axis(Axis(1));
        let size = along_k.fold(f64::MIN_POSITIVE, |m: f64, a| m.max(a.abs()));
        let towards_kk = newton_kk * &(sides_k / size).insert_axis(Axis(1));
        decorrelated(&(w_kk * (1.0 - length) + towards_kk * length))
    }

    fn compute(y_nk: ArrayView2<'_, f32>, w_kk: &Array2<f64>) -> Self {
        let (n, k) = y_nk.dim();
        let blocks: Vec<_> = y_nk.axis_chunks_iter(Axis(0), ROWS).collect();
        let parts: Vec<Self> = parallel::usual().map(blocks.len(), &|block| {
            let y = blocks[block].mapv(f64::from);
            let s = y.dot(&w_kk.t());
            let g = s.mapv(f64::tanh);
            // log cosh without overflow.
            let cosh = |s: f64| s.abs() + (-2.0 * s.abs()).exp().ln_1p() - std::f64::consts::LN_2;
            Self {
                gy_kk: g.t().dot(&y),
                slope_k: g.mapv(|g| 1.0 - g * g).sum_axis(Axis(0)),
                contrast_k: s.mapv(cosh).sum_axis(Axis(0)),
            }
        });
        let mut sums = Self {
            gy_kk: Array2::zeros((k, k)),
            slope_k: Array1::zeros(k),
            contrast_k: Array1::zeros(k),
        };
        // Added in order, so that results do not depend on the number of threads.
        for part in parts {
            sums.gy_kk += &part.gy_kk;
            sums.slope_k += &part.slope_k;
            sums.contrast_k += &part.contrast_k;
        }
        sums.gy_kk /= n as f64;
        sums.slope_k /= n as f64;
        sums.contrast_k /= n as f64;
        sums
    }
}

/// `(W W')^{-1/2} W`: the nearest rotation.
fn decorrelated(w_kk: &Array2<f64>) -> Result<Array2<f64>> {
    let Eigen {
        values_n,
        vectors_nn,
    } = eigen(&w_kk.dot(&w_kk.t()))?;
    if values_n.iter().any(|&v| v <= 0.0) {
        return Err(Error::numerical(
            "two sources became one; ask for fewer components",
        ));
    }
    let root = (&vectors_nn / &values_n.mapv(f64::sqrt)).dot(&vectors_nn.t());
    Ok(root.dot(w_kk))
}

#[cfg(test)]
mod tests;
