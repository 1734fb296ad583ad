//! Gaussian process regression on random features.

mod lengthscales;
#[cfg(test)]
mod tests;

pub use lengthscales::Lengthscales;

use crate::{
    Error, Result,
    clock::Instant,
    features::FeatureMap,
    learn::{
        Fit, FitAnySums, FitData, FitSums,
        fit::{centred, fit_sums::fit_sums},
    },
    linalg::eigen::EIGEN_BYTES,
    model::{FitTimes, LinearModel, Targets},
    normal::NormalEquations,
    seed::Seed,
    settings::Settings,
    solve::{Evidence, KnownVariances},
    sums::{ModelContext, Resume, RowsToSum},
};

/// Options of a [`GaussianProcess`](crate::models::GaussianProcess).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianProcessOptions {
    /// Variance of the noise; `None` estimates it.
    pub noise: Option<f64>,
    /// Variance of f where k(x, x) = 1; `None` estimates it.
    pub signal: Option<f64>,
    /// Whether to fit an intercept, with a flat prior.
    pub intercept: bool,
    /// Which lengthscales to estimate.
    pub lengthscales: Lengthscales,
    /// Meaning of the weights of rows.
    pub weights: RowWeights,
}

/// Meaning of the weights of rows for a [`GaussianProcess`](crate::models::GaussianProcess).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowWeights {
    /// Precisions: a row of weight w has the noise variance `noise / w`.
    #[default]
    Precisions,
    /// Frequencies: a row of weight w equals w rows with independent noise and equal targets. For
    /// given variances the posterior is that of precisions. The likelihood is that of as many rows
    /// as the total weight, so estimated noise differs.
    Counts,
}

impl Default for GaussianProcessOptions {
    /// Estimates both variances but no lengthscales; with an intercept.
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

impl Fit for GaussianProcessOptions {
    fn has_options_in_target_units(&self) -> bool {
        self.noise.is_some() || self.signal.is_some()
    }

    fn settings(&self) -> Settings {
        // Squaring these settings gives the variances bit for bit.
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

    /// Not for precisions: forgotten rows would be treated as rows with large noise.
    fn takes_half_life(&self) -> bool {
        self.weights == RowWeights::Counts
    }

    fn takes_lengthscales(&self) -> bool {
        self.lengthscales == Lengthscales::Fixed
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    /// Errors as [`NormalEquations::accumulate`] and [`Evidence::maximize`] do, and with
    /// [`Error::Unsupported`] if lengthscales are to be estimated on maps other than Fourier
    /// features.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let fit = |map, data: FitData<'_>| self.fit_centred(map, data);
        centred::fit(self.intercept, map, data, fit)
    }
}

impl GaussianProcessOptions {
    /// Fits to centred targets.
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
        // The given kernel has the previous lengthscales.
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

    /// Errors as [`NormalEquations::accumulate`] does, and with [`Error::Unsupported`] if
    /// lengthscales are to be estimated, which takes the rows themselves.
    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, NormalEquations>,
    ) -> Result<NormalEquations> {
        takes(data.targets)?;
        if self.lengthscales != Lengthscales::Fixed {
            return Err(Error::unsupported(
                "lengthscales are found by a fit to all rows, not for rows that come later; fit \
                 once, and start with what it finds as the bandwidth",
            ));
        }
        NormalEquations::of_part(map, data.source, data.targets, data.run, resume)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: NormalEquations,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let evidence = match self.weights {
            RowWeights::Precisions => Evidence::new(&sums, self.intercept)?,
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
    /// Draws functions from the posterior of target `target`: a model with `samples` outputs. Equal
    /// seeds draw equal functions.
    ///
    /// They vary in the span of the features. If there are few more features than the effective
    /// dimension, their variance is too small, even away from the rows.
    /// [`PosteriorFunctions`](crate::models::PosteriorFunctions) return to the prior there.
    ///
    /// Errors with [`Error::Unsupported`] unless the model is a
    /// [`GaussianProcess`](crate::models::GaussianProcess), and with [`Error::Parameter`] on an
    /// invalid target or 0 samples.
    #[doc(hidden)]
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
