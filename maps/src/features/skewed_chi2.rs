//! Fourier features of logarithms for the skewed chi-squared kernel (Li, Ionescu & Sminchisescu
//! 2010, sec. 3.2).

use super::{Affine, DenseFeatures, FeatureMap, Form, MapBuilder, MapData, names::SKEWED_CHI2};
use crate::{
    Result,
    kernels::{Kernel, SkewedChi2Kernel},
    ops::projection::DenseMap,
    sampling::{Frequencies, Sampling, round_to_11_bits},
    seed::Seed,
    settings::Settings,
};
use std::{f64::consts::TAU, sync::Arc};

/// Builds Fourier features of `ln(x + c)`, with frequencies of density sech(pi omega) in each
/// column, whose `z(x)'z(y)` estimates [`SkewedChi2Kernel`] without a bias: skewedness c, number of
/// features, form, sampling, seed. Rows with a value of -c or less are refused.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, SkewedChi2}, seed::Seed};
/// let map = SkewedChi2::new().skewedness(0.1).features(64).seed(Seed(1));
/// assert_eq!(map.build(Affine::identity(3))?.output_dim(), 64);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SkewedChi2 {
    skewedness: f64,
    features: usize,
    form: Form,
    sampling: Sampling,
    given: Option<Arc<Frequencies>>,
    seed: Seed,
}

impl Default for SkewedChi2 {
    fn default() -> Self {
        Self {
            skewedness: 1.0,
            features: 1000,
            form: Form::default(),
            sampling: Sampling::default(),
            given: None,
            seed: Seed(0),
        }
    }
}

impl SkewedChi2 {
    /// 1000 features for a skewedness of 1, paired, by Monte Carlo, from seed 0, until said
    /// otherwise.
    pub fn new() -> Self {
        Self::default()
    }

    /// c, in the units of prepared rows.
    pub fn skewedness(mut self, skewedness: f64) -> Self {
        self.skewedness = skewedness;
        self
    }

    /// D, the number of features.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// Paired sines and cosines, or phases.
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// How the frequencies are drawn.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Takes these frequencies instead of drawing any, as
    /// [`Fourier::frequencies`](super::Fourier::frequencies) does.
    #[doc(hidden)]
    pub fn frequencies(mut self, frequencies: Frequencies) -> Self {
        self.given = Some(Arc::new(frequencies));
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the map. `input` prepares raw columns; of them the logarithm is taken in f64.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) on a skewedness that is not finite and on an
    /// odd D of the paired form, [`Error::Shape`](crate::Error::Shape) when D or d is 0 or given
    /// frequencies do not fit, and as the sampling does.
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let kernel = SkewedChi2Kernel::new(self.skewedness)?;
        let s = self.form.frequencies(self.features)?;
        let phased = self.form == Form::Phase;
        let drawn = match &self.given {
            Some(given) => given.checked((s, input.columns()), phased)?,
            None => {
                let measure = SkewedChi2Kernel::frequencies();
                let sampling = self.sampling.for_even()?;
                sampling.draw(measure, input.columns(), s, phased, self.seed)?
            }
        };
        let amplitude = (2.0 / self.features as f64).sqrt();
        let weights = drawn.weights.unwrap_or_else(|| vec![1.0; s]);
        let dense = DenseMap {
            // On 11 bits, as for Fourier features.
            w_ds: drawn.omega_sd.t().mapv(round_to_11_bits),
            phase_s: match drawn.phases {
                Some(turns) => turns.iter().map(|&t| t as f32).collect(),
                None => vec![0.0; s],
            },
            amplitude_s: weights
                .iter()
                .map(|w| (amplitude * w.sqrt()) as f32)
                .collect(),
            nonlinearity: self.form.nonlinearity(),
        };
        Ok(DenseFeatures {
            name: SKEWED_CHI2,
            origin: format!(
                "the {} kernel, {}, {}",
                kernel.spec(),
                match self.given {
                    None => self.sampling.settled().to_string(),
                    Some(_) => "given frequencies".into(),
                },
                self.form
            ),
            input: input.logarithm(-self.skewedness).times(1.0 / TAU),
            dense,
        })
    }
}

impl MapBuilder for SkewedChi2 {
    fn settings(&self) -> Settings {
        match (&self.given, self.kernel()) {
            (None, Some(kernel)) => Settings::of_map(SKEWED_CHI2)
                .text("kernel", kernel.spec())
                .text("features", self.features)
                .text("form", self.form)
                .text("sampling", self.sampling)
                .text("seed", self.seed.0),
            _ => Settings::of_map("custom"),
        }
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        // A skewedness that is none is an error of `build`.
        let kernel = SkewedChi2Kernel::new(self.skewedness).ok()?;
        Some(Arc::new(kernel))
    }

    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}
