//! Arc-cosine features (Cho & Saul 2009, sec. 2): steps, ReLUs and squared ReLUs of random
//! projections.

use super::{Affine, DenseFeatures, FeatureMap, MapBuilder, MapData};
use crate::{
    Result, kernels,
    ops::{Nonlinearity, projection::DenseMap},
    sampling::{Sampling, round_to_11_bits},
    seed::Seed,
};
use std::sync::Arc;

pub(super) const NAME: &str = "arc-cosine";

/// Builds an arc-cosine map, `z = sqrt(2/D) 1[omega . x > 0] (omega . x)^n` with omega ~ N(0, I),
/// whose `z(x)'z(y)` estimates [`kernels::ArcCosineKernel`]: order, number of features, sampling,
/// seed.
///
/// ```
/// use bochner::{features::{Affine, ArcCosine, FeatureMap}, seed::Seed};
/// let map = ArcCosine::new().order(2).features(64).seed(Seed(1)).build(Affine::identity(3))?;
/// assert_eq!(map.output_dim(), 64);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArcCosine {
    order: u32,
    features: usize,
    sampling: Sampling,
    seed: Seed,
}

impl Default for ArcCosine {
    fn default() -> Self {
        Self {
            order: 1,
            features: 1000,
            sampling: Sampling::default(),
            seed: Seed(0),
        }
    }
}

impl ArcCosine {
    /// 1000 features of order 1 (ReLU), by Monte Carlo, from seed 0, until said otherwise.
    pub fn new() -> Self {
        Self::default()
    }

    /// n: 0 for steps, 1 for ReLU, 2 for squared ReLU.
    pub fn order(mut self, order: u32) -> Self {
        self.order = order;
        self
    }

    /// D, the number of features, one for each frequency.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// How the weights omega are drawn.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the map. `input` prepares raw columns; a lengthscale in it only multiplies the kernel.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) on an order beyond 2,
    /// [`Error::Shape`](crate::Error::Shape) when D or d is 0, and as the sampling does.
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let kernel = kernels::ArcCosineKernel::new(self.order)?;
        let s = self.features;
        let measure = kernels::ArcCosineKernel::weights();
        let drawn = self
            .sampling
            .draw(measure, input.columns(), s, false, self.seed)?;
        let amplitude = (2.0 / s as f64).sqrt();
        let weights = drawn.weights.unwrap_or_else(|| vec![1.0; s]);
        let dense = DenseMap {
            // On 11 bits, as for Fourier features.
            w_ds: drawn.omega_sd.t().mapv(round_to_11_bits),
            phase_s: vec![0.0; s],
            amplitude_s: weights
                .iter()
                .map(|w| (amplitude * w.sqrt()) as f32)
                .collect(),
            nonlinearity: match kernel.order() {
                0 => Nonlinearity::Step,
                1 => Nonlinearity::Relu,
                _ => Nonlinearity::ReluSquared,
            },
        };
        Ok(DenseFeatures {
            name: NAME,
            origin: format!("order {}, {}", self.order, self.sampling),
            input,
            dense,
        })
    }
}

impl MapBuilder for ArcCosine {
    fn kernel(&self) -> Option<Arc<dyn kernels::Kernel>> {
        // An order that is none is an error of `build`.
        let kernel = kernels::ArcCosineKernel::new(self.order).ok()?;
        Some(Arc::new(kernel))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}
