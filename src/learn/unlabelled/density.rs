//! Kernel density estimation on features.

mod cross_validation;
mod noise;

use crate::{
    Error, Result,
    clock::Instant,
    features::{Bandwidth, FeatureMap, ScaledKernel, Structure},
    flow::Run,
    kernels::SpectralMeasure,
    learn::{
        Fit, FitAnySums, FitData, FitRows, FitSums, Usual, fit::fit_sums::fit_sums,
        unlabelled::pca::scores,
    },
    model::{Coefficients, FitTimes, LinearModel, Link},
    sampling::Sampling,
    settings::Settings,
    sums::{Embedding, ModelContext, Resume, RowsToSum},
};
use ndarray::{Array1, Axis};
use noise::{Noise, RowSpread};
use std::collections::BTreeMap;

/// Options of [`Density`](crate::models::Density).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DensityOptions {
    /// Whether to predict the logarithm of the density.
    pub log: bool,
    /// Candidate multiples of the bandwidth for cross-validation; an empty list keeps the
    /// bandwidth. `None` uses [`Self::some_multiples`] for [`Bandwidth::Scott`] in one column. It
    /// keeps the bandwidth for more columns, other bandwidths, maps without cross-validation, and
    /// merged sums.
    pub multiples: Option<Vec<f64>>,
}

impl DensityOptions {
    /// General-purpose multiples: from 1/16 to 2, each sqrt(2) times the one before.
    #[doc(hidden)]
    pub fn some_multiples() -> Vec<f64> {
        (-8..=2).map(|k| 2.0_f64.powf(f64::from(k) / 2.0)).collect()
    }
}

impl FitRows for DensityOptions {
    type Predicted = Array1<f64>;
}

impl Fit for DensityOptions {
    fn settings(&self) -> Settings {
        let settings = Settings::of_learner("density").flag("log-density", self.log);
        match &self.multiples {
            None => settings,
            Some(none) if none.is_empty() => settings.text("multiples", "none"),
            Some(some) => settings.numbers("multiples", some),
        }
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Scott's bandwidth, and 4,096 Fourier features of a lattice, which is complete at powers of
    /// two and accurate to a few per cent in two columns.
    fn usual(&self) -> Usual {
        Usual {
            features: 4096,
            sampling: Sampling::Lattice,
            bandwidth: Bandwidth::Scott,
            ..Usual::default()
        }
    }

    /// Errors with [`Error::Unsupported`] on maps without a kernel, with several parts, or with a
    /// kernel whose integral is infinite or unknown; with given multiples, on maps other than
    /// Fourier features, and with [`Error::Parameter`] on multiples that are not positive.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let multiples = self.multiples_for(map.as_ref(), &data);
        let place =
            (data.kernel.as_ref()).map(|kernel| RowSpread::from_survey(data.survey, kernel));
        if multiples.is_empty() {
            let kernel = data.kernel.clone();
            let mut model = fit_sums(self, map, data)?;
            if let (Some(kernel), Some(place)) = (kernel, place) {
                tell_noise(&mut model, &kernel, &place);
            }
            return Ok(model);
        }
        let start = Instant::now();
        let kernel = kernel_of(map.as_ref(), data.kernel.as_ref())?.clone();
        let place = RowSpread::from_survey(data.survey, &kernel);
        let rows = (data.source, &place, data.run);
        let best = cross_validation::best(map.as_ref(), kernel, &multiples, rows)?;
        let accumulate = start.elapsed();
        let mut model = self.density(best.map, &best.kernel, &best.embedding, data.run)?;
        tell_noise(&mut model, &best.kernel, &place.stretched(best.multiple));
        let facts = [
            ("bandwidth_multiple", best.multiple),
            ("cross_validation", best.score),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        model.facts.extend(facts);
        model.times = Some(FitTimes {
            accumulate,
            solve: start.elapsed() - accumulate,
        });
        Ok(model)
    }
}

impl FitSums for DensityOptions {
    type Sums = Embedding;

    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, Embedding>,
    ) -> Result<Embedding> {
        if self.multiples.as_ref().is_some_and(|some| !some.is_empty()) {
            return Err(Error::unsupported(
                "cross-validation chooses the bandwidth of one fit, not of rows that grow; give \
                 a bandwidth alone",
            ));
        }
        // Checks the kernel before the pass.
        kernel_of(map, data.kernel)?.ln_integral()?;
        Embedding::accumulate(map, data.source, data.run, resume)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: Embedding,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let kernel = kernel_of(map.as_ref(), known.kernel)?;
        self.density(map, kernel, &sums, known.run)
    }
}

/// The kernel of a map for densities. Errors on maps with none or several.
fn kernel_of<'k>(
    map: &dyn FeatureMap,
    kernel: Option<&'k ScaledKernel>,
) -> Result<&'k ScaledKernel> {
    if let Structure::Union(_) = map.structure() {
        return Err(Error::unsupported(
            "a density takes one map, not several side by side; give one",
        ));
    }
    kernel.ok_or_else(|| {
        let problem = format!(
            "a {} map has no kernel that a density could have",
            map.name()
        );
        Error::unsupported(problem).help(crate::error::Remedy::UseMap("fourier"))
    })
}

/// Stores the share of the density that is noise of the features, and warns if it is large.
fn tell_noise(model: &mut LinearModel, kernel: &ScaledKernel, place: &RowSpread) {
    let mean = model.coefficients.beta_dt.column(0);
    let length = mean.dot(&mean).sqrt();
    let noise = (model.map.fourier()).and_then(|map| Noise::estimate((map, kernel), place, length));
    if let Some(noise) = noise {
        noise::warn(noise.share());
        model.facts.insert("noise_share".into(), noise.share());
    }
}

impl DensityOptions {
    /// Candidate multiples for these rows; empty to keep the bandwidth.
    fn multiples_for(&self, map: &dyn FeatureMap, data: &FitData<'_>) -> Vec<f64> {
        if let Some(given) = &self.multiples {
            return given.clone();
        }
        let kernel = data.kernel.as_ref().filter(|_| map.fourier().is_some());
        let one = kernel.is_some_and(|kernel| {
            let spectrum = kernel.kernel.spectrum();
            let known = |spectrum: &dyn SpectralMeasure| spectrum.ln_density(&[0.0]).is_some();
            kernel.input.volume().0.len() == 1 && spectrum.is_some_and(known)
        });
        if one && data.survey.rows > 1 && data.bandwidth == Some(Bandwidth::Scott) {
            Self::some_multiples()
        } else {
            Vec::new()
        }
    }

    /// Density of the rows that were summed.
    fn density(
        &self,
        map: Box<dyn FeatureMap>,
        kernel: &ScaledKernel,
        embedding: &Embedding,
        run: &Run,
    ) -> Result<LinearModel> {
        let ln_integral = kernel.ln_integral()?;
        let mean_d = embedding.mean()?;
        let length = mean_d.dot(&mean_d).sqrt();
        // Smallest density distinguishable from 0: the standard deviation of a mean of cosines.
        let floor = (length / (mean_d.len() as f64).sqrt()).max(f64::MIN_POSITIVE);
        let link = if self.log {
            Link::LogDensity { ln_integral, floor }
        } else {
            Link::Density { ln_integral }
        };
        let coefficients = Coefficients {
            beta_dt: mean_d.insert_axis(Axis(1)),
            intercept_t: Array1::zeros(1),
        };
        let mut facts = BTreeMap::from([("ln_integral".to_owned(), ln_integral)]);
        if is_of_cosines(map.as_ref()) {
            let noise = (floor.ln() - ln_integral).exp();
            facts.insert("noise_deviation".to_owned(), noise);
        }
        Ok(LinearModel {
            learner: "density".into(),
            facts,
            link: Some(link),
            rows: embedding.rows,
            ..LinearModel::new(map, coefficients, scores(1), &run.device)
        })
    }
}

/// Whether the features of a map are cosines, which do not decay away from the rows.
fn is_of_cosines(map: &dyn FeatureMap) -> bool {
    matches!(map.name(), "fourier" | "fastfood" | "sorf")
}
