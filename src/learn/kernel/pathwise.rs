//! Functions drawn from the posterior of an exact Gaussian process, by Matheron's rule.

mod given;
#[cfg(test)]
mod tests;

use crate::{
    Error, Result,
    clock::Instant,
    device::Device,
    features::{FeatureMap, Fourier, Union},
    learn::{
        Fit, FitData,
        kernel::kernel_ridge::{columns_of, read},
    },
    linalg::eigen::eigen,
    model::{Coefficients, FitTimes, LinearModel, Targets},
    normal::NormalEquations,
    seed::{Seed, Stream},
    settings::Settings,
    solve::{Evidence, KnownVariances, kernel_ridge},
    text::counted,
};
use ndarray::{Array1, Array2, Axis};

/// Options of [`PosteriorFunctions`](crate::models::PosteriorFunctions).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathwiseOptions {
    /// Number of functions to draw.
    pub samples: usize,
    /// Number of features of the prior, even.
    pub features: usize,
    /// Variance of the noise; `None` estimates it.
    pub noise: Option<f64>,
    /// Variance of f where k(x, x) = 1; `None` estimates it.
    pub signal: Option<f64>,
    /// Whether to fit an intercept, with a flat prior.
    pub intercept: bool,
}

impl Default for PathwiseOptions {
    /// 16 functions with a prior of 2,000 features; both variances are estimated; with an
    /// intercept.
    fn default() -> Self {
        Self {
            samples: 16,
            features: 2000,
            noise: None,
            signal: None,
            intercept: true,
        }
    }
}

/// Noise and signal that maximize the evidence of the exact process, and that evidence: the
/// eigenvectors of K times the roots of their eigenvalues serve as features whose inner products
/// are K.
fn variances(
    k_nn: &Array2<f64>,
    y_nt: &Array2<f64>,
    options: &PathwiseOptions,
) -> Result<(f64, f64, f64)> {
    let n = y_nt.nrows();
    let decomposed = eigen(k_nn)?;
    let values_n = decomposed.values_n.mapv(|s| s.max(0.0));
    let root_n = values_n.mapv(f64::sqrt);
    let turned = decomposed.vectors_nn.t();
    let sums = NormalEquations {
        rows: n as u64,
        weight: n as f64,
        log_weight: 0.0,
        weight_squares: n as f64,
        gram_dd: Array2::from_diag(&values_n),
        zty_dt: turned.dot(y_nt) * root_n.view().insert_axis(Axis(1)),
        z_sum_d: turned.sum_axis(Axis(1)) * &root_n,
        y_sum_t: y_nt.sum_axis(Axis(0)),
        y_square_t: (y_nt * y_nt).sum_axis(Axis(0)),
        rest: Vec::new(),
    };
    let evidence = Evidence::new(&sums, options.intercept)?;
    let variances = evidence.maximize(KnownVariances {
        noise: options.noise,
        signal: options.signal,
    })?;
    let likelihood = evidence.log_marginal_likelihood(&variances);
    Ok((variances.noise_t[0], variances.signal_t()[0], likelihood))
}

/// Draws coefficients of the prior, `[D, samples]`, and noise at the rows, `[n, samples]`, of unit
/// variance. The draws of a function do not depend on the number of functions.
fn draw(
    seed: Seed,
    (features, rows, samples): (usize, usize, usize),
) -> (Array2<f64>, Array2<f64>) {
    let mut w_ds = Array2::zeros((features, samples));
    let mut e_ns = Array2::zeros((rows, samples));
    for k in 0..samples {
        let mut draws = seed.stream(Stream::Paths, k as u64);
        w_ds.column_mut(k).mapv_inplace(|_| draws.normal());
        e_ns.column_mut(k).mapv_inplace(|_| draws.normal());
    }
    (w_ds, e_ns)
}

impl Fit for PathwiseOptions {
    fn has_options_in_target_units(&self) -> bool {
        self.noise.is_some() || self.signal.is_some()
    }

    fn settings(&self) -> Settings {
        Settings::of_learner("pathwise")
            .text("samples", self.samples)
            .text("features-of-draws", self.features)
            .maybe("noise", self.noise.map(f64::sqrt))
            .maybe("signal", self.signal.map(f64::sqrt))
            .flag("no-intercept", !self.intercept)
    }

    /// Errors with [`Error::Unsupported`] on a map other than
    /// [`KernelColumns`](crate::features::KernelColumns), on classes, on several targets and on
    /// kernels without a spectral measure; with [`Error::Parameter`] on 0 samples; with
    /// [`Error::Limit`] if the kernel matrix of all rows does not fit into the memory of the run;
    /// and as [`Evidence::maximize`] and [`kernel_ridge`] do.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let columns = columns_of(map.as_ref(), "a draw of functions")?;
        self.check(&data.targets)?;
        let start = Instant::now();
        let (x, y_nt, _) = read(data.source, &data.targets, data.run)?;
        let columns = columns.with_all(&x)?;
        let prior = Fourier::new(columns.kernel())
            .features(self.features)
            .seed(data.seed);
        let prior = prior.build(columns.input().clone())?;
        let k_nn = columns.gram()?;
        let accumulate = start.elapsed();
        let start = Instant::now();
        let (noise, signal, likelihood) = variances(&k_nn, &y_nt, self)?;
        let rows = y_nt.nrows();
        let (w_ds, e_ns) = draw(data.seed, (self.features, rows, self.samples));
        let device = &data.run.device;
        let prior = self.of_prior(Box::new(prior), w_ds * signal.sqrt(), device);
        let functions = prior.targets.clone();
        let mut off_ns = prior.on(data.run.silent())?.scores(&x)?;
        off_ns.scaled_add(noise.sqrt(), &e_ns);
        off_ns = &y_nt - &off_ns;
        let lambda = noise / signal / rows as f64;
        let update = kernel_ridge(k_nn, off_ns.view(), lambda, self.intercept)?.coefficients;
        let LinearModel {
            map: prior,
            coefficients: drawn,
            ..
        } = prior;
        let beta_dt = ndarray::concatenate![Axis(0), columns.lift(update.beta_dt), drawn.beta_dt];
        // The kernel columns are the first part, so that rows are transformed like their landmarks.
        let map = Union::new(vec![(Box::new(columns), 1.0), (prior, 1.0)])?;
        let coefficients = Coefficients {
            beta_dt,
            intercept_t: update.intercept_t,
        };
        let mut model = LinearModel {
            learner: "pathwise".into(),
            lambda,
            rows: rows as u64,
            times: Some(FitTimes {
                accumulate,
                solve: start.elapsed(),
            }),
            ..LinearModel::new(Box::new(map), coefficients, functions, device)
        };
        for (name, figure) in [
            ("noise_deviation", noise.sqrt()),
            ("signal_deviation", signal.sqrt()),
            ("log_marginal_likelihood", likelihood),
            ("functions", self.samples as f64),
        ] {
            model.facts.insert(name.into(), figure);
        }
        Ok(model)
    }
}

impl PathwiseOptions {
    fn check(&self, targets: &Targets) -> Result<()> {
        match targets {
            Targets::Real { columns: 1, .. } => {}
            Targets::Real { columns, .. } => {
                return Err(Error::unsupported(format!(
                    "functions are drawn given one target, and the data has {}; give one",
                    counted(*columns, "target")
                )));
            }
            Targets::Classes(_) => {
                return Err(Error::unsupported(
                    "functions are drawn given amounts, and the targets are class labels",
                ));
            }
        }
        if self.samples == 0 {
            return Err(Error::parameter(
                "0 functions are to be drawn; draw at least 1",
            ));
        }
        Ok(())
    }

    /// Functions of the prior with these coefficients, `[D, samples]`.
    fn of_prior(
        &self,
        map: Box<dyn FeatureMap>,
        w_ds: Array2<f64>,
        device: &Device,
    ) -> LinearModel {
        let drawn = Coefficients {
            beta_dt: w_ds,
            intercept_t: Array1::zeros(self.samples),
        };
        let functions = Targets::Real {
            columns: self.samples,
            shift: vec![0.0; self.samples],
        };
        LinearModel::new(map, drawn, functions, device)
    }
}
