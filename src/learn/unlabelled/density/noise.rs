//! Estimates from the frequencies alone the noise that random features add to a density.

use crate::{
    data::Survey,
    features::{DenseFeatures, ScaledKernel},
    linalg::entries,
    ops::Nonlinearity,
    parallel,
    seed::{Seed, Stream},
};

/// Number of differences of rows at which the approximated kernel is compared with the kernel.
const DIFFERENCES: usize = 256;
/// Width of the region of the rows in each column, in standard deviations around the mean.
const REACH: f64 = 4.0;
/// The mean of the positive half of a variable, over its deviation: `1 / sqrt(2 pi)`.
const HALF: f64 = 0.4;
/// Warn if noise exceeds this share of the total mass.
const MUCH: f64 = 0.1;

/// Region of the rows: standard deviations of their columns at unit lengthscale.
#[derive(Debug, Clone)]
pub(super) struct RowSpread {
    deviation_d: Vec<f64>,
}

impl RowSpread {
    /// From the survey, after scaling by the input of `kernel`; dropped columns are 0.
    pub(super) fn from_survey(survey: &Survey, kernel: &ScaledKernel) -> Self {
        let scaled = kernel.input.scale().iter().zip(&survey.variance);
        Self {
            deviation_d: scaled.map(|(scale, v)| scale.abs() * v.sqrt()).collect(),
        }
    }

    /// The region for lengthscales that are longer by `factor`.
    pub(super) fn stretched(&self, factor: f64) -> Self {
        Self {
            deviation_d: self.deviation_d.iter().map(|s| s / factor).collect(),
        }
    }

    /// ln of the volume of the region, in units of lengthscales.
    fn ln_volume(&self) -> f64 {
        let varying = self.deviation_d.iter().filter(|s| **s > 0.0);
        varying.map(|s| (2.0 * REACH * s).ln()).sum()
    }

    /// A random difference between a point of the region and a row.
    fn difference(&self, number: u64) -> Vec<f64> {
        let mut draws = Seed(0).stream(Stream::Sample, number);
        let each = self.deviation_d.iter();
        each.map(|s| s * (REACH * (2.0 * draws.uniform() - 1.0) - draws.normal()))
            .collect()
    }
}

/// Noise of the mean of D features with norm `length`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    /// Its standard deviation over the region of the rows, in units of the kernel.
    pub(super) deviation: f64,
    /// ln of the integral of the kernel and of the volume of the region, both in units of
    /// lengthscales.
    ln_volume: f64,
    ln_integral: f64,
}

impl Noise {
    /// A mean of independent cosines has the standard error `length / sqrt(D)`. For evenly spread
    /// frequencies it is smaller by the ratio of kernel errors: the root of `D mean (k^(delta) -
    /// k(delta))^2` over differences delta of points in the region.
    ///
    /// `None` if the kernel has no integral.
    pub(super) fn estimate(
        (map, kernel): (&DenseFeatures, &ScaledKernel),
        place: &RowSpread,
        length: f64,
    ) -> Option<Self> {
        let parameters = map.parameters();
        let (w_ds, features) = (&parameters.w_ds, parameters.outputs() as f64);
        let paired = matches!(parameters.nonlinearity, Nonlinearity::CosSin);
        let zero = vec![0.0; w_ds.nrows()];
        let error = |i: usize| {
            let delta_d = place.difference(i as u64);
            let cosines = w_ds.columns().into_iter().zip(&parameters.amplitude_s);
            let estimate: f64 = cosines
                .map(|(w_d, &amplitude)| {
                    let along = w_d.iter().zip(&delta_d);
                    let phase: f64 = along.map(|(&w, delta)| f64::from(w) * delta).sum();
                    entries::square(f64::from(amplitude)) * phase.cos()
                })
                .sum();
            entries::square(estimate - kernel.kernel.evaluate(&delta_d, &zero))
        };
        // Random offsets add noise too.
        let ratio = if paired {
            let errors = parallel::usual().map(DIFFERENCES, &error);
            (features * errors.iter().sum::<f64>() / DIFFERENCES as f64).sqrt()
        } else {
            1.0
        };
        let varying = place.deviation_d.iter().filter(|s| **s > 0.0).count();
        Some(Self {
            deviation: length * ratio / features.sqrt(),
            ln_volume: place.ln_volume(),
            ln_integral: kernel.kernel.ln_integral(varying.max(1))?,
        })
    }

    /// Approximate share of the total mass that is noise if negative values are cut off: the excess
    /// of the integral over 1.
    pub(super) fn share(&self) -> f64 {
        HALF * self.deviation * (self.ln_volume - self.ln_integral).exp()
    }

    /// Integral of its square over the region, times the integral of the kernel.
    pub(super) fn square(&self) -> f64 {
        entries::square(self.deviation) * (self.ln_volume - self.ln_integral).exp()
    }
}

/// Warns if noise is a large share of the mass.
pub(super) fn warn(share: f64) {
    if let Some(warning) = said(share) {
        log::warn!("{warning}");
    }
}

/// The warning, or `None`.
fn said(share: f64) -> Option<String> {
    (share > MUCH).then(|| {
        format!(
            "the noise of the features is about {:.0} % of the density, which integrates to that \
             much more than 1; take more features, a larger bandwidth or fewer columns",
            100.0 * share
        )
    })
}
