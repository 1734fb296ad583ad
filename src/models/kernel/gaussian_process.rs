//! Gaussian process regression on random features.

#[cfg(test)]
mod tests;

use crate::clock::Instant;
use crate::models::{
    Fit, FitAnySums, FitData, FitSums, FitTimes, Known, Learner, Lengthscales, LinearModel,
    Numbers, Summed, fit::centred, kernel::lengthscales, sums::growing::fit_sums,
};
use crate::{
    Error, Result,
    features::FeatureMap,
    linalg::eigen::EIGEN_BYTES,
    normal::{NormalEquations, Targets},
    seed::Seed,
    settings::Settings,
    solve::{Evidence, KnownVariances},
};

/// Gaussian process regression on random features: the mean of ridge regression, with variances,
/// intervals and functions drawn from the posterior. The variances of signal and noise are those of
/// the largest marginal likelihood unless given; no penalty has to be chosen.
///
/// `f = z(x)'beta` with `beta ~ N(0, signal I)` has the covariance `signal z(x)'z(y)`, about
/// `signal k(x, y)`; `y = f + e`, `e ~ N(0, noise)` (Rasmussen & Williams 2006, chapters 2 and 5).
/// One pass over the rows, `O(n D^2 + D^3)` operations, `8 D^2` bytes a matrix.
///
/// A row of weight w has the noise `noise / w`, as scikit-learn's `alpha = noise / w` says it:
/// the mean of w readings, or one that is known that much better. `noise` is that of a row of
/// weight 1, which intervals are for. Weights are positive.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array;
/// let x = Array::from_shape_fn((200, 1), |(i, _)| i as f64 / 20.0);
/// let wobble = |i: usize| ((i * 37) % 11) as f64 / 50.0 - 0.1;
/// let y = Array::from_shape_fn(200, |i| x[[i, 0]].sin() + wobble(i));
///
/// let map = Fourier::new(Gaussian).features(100);
/// let model = GaussianProcess::on(map).bandwidth(Bandwidth::Sigma(1.5)).fit((&x, &y))?;
/// let ahead = ndarray::array![[5.0], [25.0]];
/// let intervals = model.intervals(&ahead, 0.95)?;
/// // Beyond the data nothing is known but the prior.
/// assert!(intervals.width()[[1, 0]] > 3.0 * intervals.width()[[0, 0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type GaussianProcess = Learner<GaussianProcessOptions, Numbers>;

/// What a [`GaussianProcess`] has of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianProcessOptions {
    /// Variance of the noise; `None` finds it.
    pub noise: Option<f64>,
    /// Variance of f where k(x, x) = 1; `None` finds it.
    pub signal: Option<f64>,
    /// Whether there is an intercept, with a flat prior.
    pub intercept: bool,
    /// Which lengthscales are found.
    pub lengthscales: Lengthscales,
    /// What weights of rows say.
    pub weights: RowWeights,
}

/// What weights of rows say to a [`GaussianProcess`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowWeights {
    /// How well a target is known: a row of weight w is one with the noise `noise / w`.
    #[default]
    Precisions,
    /// How often a row is there: one of weight w stands for w rows with noises of their own and
    /// equal targets. The posterior at given variances is that of precisions; the likelihood is
    /// that of as many rows as all weights together, so the likeliest noise is another.
    Counts,
}

impl Default for GaussianProcessOptions {
    /// Both variances are found, no lengthscales; with an intercept.
    fn default() -> Self {
        Self {
            noise: None,
            signal: None,
            intercept: true,
            lengthscales: Lengthscales::Fixed,
            weights: RowWeights::Precisions,
        }
    }
}

impl<T> Learner<GaussianProcessOptions, T> {
    /// The variance of the noise, instead of the likeliest.
    pub fn noise(mut self, variance: f64) -> Self {
        self.job.learner.noise = Some(variance);
        self
    }

    /// The variance of f where k(x, x) = 1, instead of the likeliest.
    pub fn signal(mut self, variance: f64) -> Self {
        self.job.learner.signal = Some(variance);
        self
    }

    /// Whether there is an intercept, with a flat prior; there is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// Finds one lengthscale, or one for each column, with which the targets are likeliest, near
    /// those of the bandwidth; none until said otherwise.
    ///
    /// The gradient of the marginal likelihood (Rasmussen & Williams 2006, section 5.4.1) goes
    /// through the features: `z(x; l)` takes `x / l`, so that the drawn frequencies stay. It is
    /// taken in f64 on up to 4,000 rows, drawn uniformly by the seed (fewer where
    /// `8 (4 D + 3 d)` bytes a row exceed [`memory`](Self::memory), 256 at least), and on the first
    /// 2,000 features. It begins with the likeliest of seven bandwidths, 1/8 to 8 times the given
    /// one. Quasi-Newton steps change a lengthscale by a factor e at most, and all of them together
    /// by a thousand; they end when two in turn gain less than 0.01. The fit then streams all rows.
    /// [`LinearModel::lengthscales`] says what was found.
    ///
    /// Only Fourier maps have frequencies that stay: of any sampling and both forms.
    ///
    /// ```
    /// use bochner::{models::Lengthscales, prelude::*};
    /// use ndarray::Array;
    /// // The second column says nothing of y.
    /// let x = Array::from_shape_fn((150, 2), |(i, j)| ((i * (7 + 12 * j)) % 31) as f64 / 5.0);
    /// let wobble = |i: usize| ((i * 37) % 11) as f64 / 50.0 - 0.1;
    /// let y = Array::from_shape_fn(150, |i| x[[i, 0]].sin() + wobble(i));
    ///
    /// let process = GaussianProcess::on(Fourier::new(Gaussian).features(100));
    /// let model = process.lengthscales(Lengthscales::PerColumn).fit((&x, &y))?;
    /// let found = model.linear().lengthscales.as_ref().expect("found");
    /// assert!(found.after >= found.before);
    /// println!("most relevant first: {:?}", found.ranking());
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn lengthscales(mut self, lengthscales: Lengthscales) -> Self {
        self.job.learner.lengthscales = lengthscales;
        self
    }

    /// What weights of rows say; precisions until said otherwise.
    ///
    /// ```
    /// use bochner::{models::RowWeights, prelude::*};
    /// use ndarray::{Array, Array1, Axis, concatenate};
    /// let x = Array::from_shape_fn((60, 1), |(i, _)| i as f64 / 10.0);
    /// let y = Array::from_shape_fn(60, |i| (i as f64 / 10.0).sin() + (i * 37 % 11) as f64 / 50.0);
    /// let process = GaussianProcess::on(Fourier::new(Gaussian).features(50))
    ///     .bandwidth(Bandwidth::Sigma(1.5))
    ///     .weights(RowWeights::Counts);
    /// let model = process.fit((&x, &y, &Array1::from_elem(60, 2.0)))?;
    /// let twice = (concatenate![Axis(0), x, x], concatenate![Axis(0), y, y]);
    /// let repeated = process.fit((&twice.0, &twice.1))?;
    /// let [a, b] = [&model, &repeated].map(|m| m.linear().facts["noise_deviation"]);
    /// assert!((a / b - 1.0).abs() < 1e-3);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn weights(mut self, weights: RowWeights) -> Self {
        self.job.learner.weights = weights;
        self
    }
}

impl Fit for GaussianProcessOptions {
    fn settings(&self) -> Settings {
        // The square of what is said here is the variance, bit for bit.
        Settings::of_learner("gaussian-process")
            .maybe("noise", self.noise.map(f64::sqrt))
            .maybe("signal", self.signal.map(f64::sqrt))
            .flag("no-intercept", !self.intercept)
            .text(
                "lengthscales",
                match self.lengthscales {
                    Lengthscales::Fixed => "fixed",
                    Lengthscales::One => "one",
                    Lengthscales::PerColumn => "per-column",
                },
            )
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        EIGEN_BYTES
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    /// Errors as [`NormalEquations::accumulate`] and [`Evidence::maximize`] do, and with
    /// [`Error::Unsupported`] when lengthscales are to be found of other maps than Fourier's.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let fit = |map, data: FitData<'_>| self.fit_centred(map, data);
        centred::fit(self.intercept, map, data, fit)
    }
}

impl GaussianProcessOptions {
    /// To targets that do not lie far from 0.
    fn fit_centred(&self, map: Box<dyn FeatureMap>, mut data: FitData<'_>) -> Result<LinearModel> {
        if self.lengthscales == Lengthscales::Fixed {
            return fit_sums(self, map, data);
        }
        takes(&data.targets)?;
        let start = Instant::now();
        let (map, found) = lengthscales::find(map.as_ref(), &mut data, self)?;
        let search = start.elapsed();
        let fixed = Self {
            lengthscales: Lengthscales::Fixed,
            ..*self
        };
        // The kernel that was handed over is that of the lengthscales before.
        data.kernel = None;
        let model = fit_sums(&fixed, map, data)?;
        let times = model.times.map(|times| FitTimes {
            solve: search + times.solve,
            ..times
        });
        Ok(LinearModel {
            lengthscales: Some(found),
            times,
            ..model
        })
    }
}

/// Errors on classes.
fn takes(targets: &Targets) -> Result<()> {
    match targets {
        Targets::Real { .. } => Ok(()),
        Targets::Classes(_) => Err(Error::unsupported(
            "a Gaussian process takes amounts, not class labels; fit a classifier",
        )),
    }
}

impl FitSums for GaussianProcessOptions {
    type Sums = NormalEquations;

    /// Errors as [`NormalEquations::accumulate`] does, and with [`Error::Unsupported`] when
    /// lengthscales are to be found, which takes the rows themselves.
    fn sum(&self, map: &dyn FeatureMap, data: Summed<'_>) -> Result<NormalEquations> {
        takes(data.targets)?;
        if self.lengthscales != Lengthscales::Fixed {
            return Err(Error::unsupported(
                "lengthscales are found by a fit to all rows, not for rows that come later; fit \
                 once, and start with what it finds as the bandwidth",
            ));
        }
        NormalEquations::of_part(map, data.source, data.targets, data.run)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: NormalEquations,
        known: Known<'_>,
    ) -> Result<LinearModel> {
        let evidence = match self.weights {
            RowWeights::Precisions => Evidence::of(&sums, self.intercept)?,
            RowWeights::Counts => Evidence::counting(&sums, self.intercept)?,
        };
        let variances = evidence.maximize(KnownVariances {
            noise: self.noise,
            signal: self.signal,
        })?;
        let posterior = evidence.posterior(&variances)?;
        let mut model = LinearModel {
            learner: "gaussian-process".into(),
            lambda: variances.ratio / sums.weight,
            rows: sums.rows,
            spread: Some(posterior.spread),
            ..LinearModel::new(
                map,
                posterior.coefficients,
                known.targets.clone(),
                &known.run.device,
            )
        };
        let signal_t = variances.signal_t();
        for (k, (noise, signal)) in variances.noise_t.iter().zip(&signal_t).enumerate() {
            let of_target = match signal_t.len() {
                1 => String::new(),
                _ => format!("_{k}"),
            };
            for (name, variance) in [("noise", noise), ("signal", signal)] {
                let name = format!("{name}_deviation{of_target}");
                model.facts.insert(name, variance.sqrt());
            }
        }
        for (name, figure) in [
            (
                "log_marginal_likelihood",
                evidence.log_marginal_likelihood(&variances),
            ),
            (
                "effective_dimension",
                evidence.effective_dimension(variances.ratio)?,
            ),
        ] {
            model.facts.insert(name.into(), figure);
        }
        Ok(model)
    }
}

impl LinearModel {
    /// Functions drawn from the posterior of target `target`: a model with one output for each of
    /// `samples`. Equal seeds draw equal functions.
    ///
    /// They vary as the features do: with hardly more features than the effective dimension they
    /// have nothing left to vary by, even away from the rows.
    /// [`PosteriorFunctions`](crate::models::PosteriorFunctions) return to the prior there.
    ///
    /// Errors with [`Error::Unsupported`] unless the model is of a [`GaussianProcess`], and with
    /// [`Error::Parameter`] when there is no such target or nothing to draw.
    pub fn sample(self, target: usize, samples: usize, seed: Seed) -> Result<Self> {
        let spread = match &self.targets {
            Targets::Real { .. } => self.spread.as_ref(),
            Targets::Classes(_) => None,
        };
        let Some(spread) = spread else {
            return Err(Error::unsupported(format!(
                "a model of {} has no posterior to draw from; fit a GaussianProcess",
                self.learner
            )));
        };
        let targets = spread.noise_t.len();
        if target >= targets || samples == 0 {
            return Err(Error::parameter(format!(
                "{samples} samples of target {target} (counted from 0), of {targets}, were asked \
                 for; draw at least one of a target that there is"
            )));
        }
        let coefficients = spread.sample(&self.coefficients, target, samples, seed);
        Ok(Self {
            coefficients,
            spread: None,
            conformal: None,
            targets: Targets::Real {
                columns: samples,
                shift: vec![0.0; samples],
            },
            ..self
        })
    }
}
