//! Arc-cosine features (Cho & Saul 2009, sec. 2): steps, ReLUs and squared ReLUs of random
//! projections.

use super::{Affine, DenseFeatures, FeatureMap, MapBuilder, MapData, names::ARC_COSINE};
use crate::{
    Result, kernels,
    ops::{Nonlinearity, projection::DenseMap},
    sampling::{Sampling, round_to_11_bits},
    seed::{Seed, Stream},
    settings::Settings,
};
use ndarray::{Array2, ArrayView1, s};
use std::sync::Arc;

/// Builds an arc-cosine map, `z = sqrt(2/D) 1[t > 0] t^n` of t = omega . x + b with omega ~ N(0, I)
/// and b ~ N(0, bias^2), 0 until said otherwise, whose `z(x)'z(y)` estimates
/// [`kernels::ArcCosineKernel`]: order, bias, number of features, sampling, seed.
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
    bias: f64,
    features: usize,
    sampling: Sampling,
    seed: Seed,
}

impl Default for ArcCosine {
    fn default() -> Self {
        Self {
            order: 1,
            bias: 0.0,
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

    /// The standard deviation of b, in the units of prepared rows: where steps and ReLUs are
    /// hinged.
    pub fn bias(mut self, bias: f64) -> Self {
        self.bias = bias;
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

    /// The kernel that the map estimates.
    fn own_kernel(&self) -> Result<kernels::ArcCosineKernel> {
        kernels::ArcCosineKernel::new(self.order)?.with_bias(self.bias)
    }

    /// Draws the map. `input` prepares raw columns; without a bias a lengthscale in it only
    /// multiplies the kernel.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) on an order beyond 2 or a negative bias,
    /// [`Error::Shape`](crate::Error::Shape) when D or d is 0, and as the sampling does.
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let kernel = self.own_kernel()?;
        let (d, s) = (input.columns(), self.features);
        let (omega_sd, bias_s) = match self.sampling {
            Sampling::Antithetic => self.of_one_length(&kernel, d)?,
            sampling => {
                let measure = kernels::ArcCosineKernel::weights();
                let drawn = sampling.draw(measure, d, s, false, self.seed)?;
                let mut draws = self.seed.stream(Stream::Phases, 0);
                let bias = |_| match self.bias {
                    0.0 => 0.0,
                    deviation => deviation * draws.normal(),
                };
                (drawn.omega_sd, (0..s).map(bias).collect())
            }
        };
        let dense = DenseMap {
            // On 11 bits, as for Fourier features.
            w_ds: omega_sd.t().mapv(round_to_11_bits),
            phase_s: bias_s.iter().map(|&b| b as f32).collect(),
            amplitude_s: vec![(2.0 / s as f64).sqrt() as f32; s],
            nonlinearity: match kernel.order() {
                0 => Nonlinearity::Step,
                1 => Nonlinearity::Relu,
                _ => Nonlinearity::ReluSquared,
            },
        };
        Ok(DenseFeatures {
            name: ARC_COSINE,
            origin: match self.bias {
                0.0 => format!("order {}, {}", self.order, self.sampling.settled()),
                bias => format!(
                    "order {}, bias {bias}, {}",
                    self.order,
                    self.sampling.settled()
                ),
            },
            input,
            dense,
        })
    }

    /// Pairs of weights, `[s, d]`, and b for each: the weight of a column more, in which rows hold
    /// the deviation.
    fn of_one_length(
        &self,
        kernel: &kernels::ArcCosineKernel,
        d: usize,
    ) -> Result<(Array2<f64>, Vec<f64>)> {
        let columns = match (d, self.bias) {
            // Which the sampling refuses.
            (0, _) => 0,
            (_, 0.0) => d,
            _ => d + 1,
        };
        let measure = kernel.weights_of_one_length();
        let drawn = (self.sampling).draw(&measure, columns, self.features, false, self.seed)?;
        let omega = drawn.omega_sd;
        let bias = |row: ArrayView1<f64>| row.get(d).map_or(0.0, |w| self.bias * w);
        let bias_s = omega.rows().into_iter().map(bias).collect();
        Ok((omega.slice_move(s![.., ..d]), bias_s))
    }
}

impl MapBuilder for ArcCosine {
    fn settings(&self) -> Settings {
        let kernel = self.kernel();
        Settings::of_map(ARC_COSINE)
            .text(
                "kernel",
                kernel.map_or("arc-cosine".into(), |kernel| kernel.spec()),
            )
            .text("features", self.features)
            .text("sampling", self.sampling)
            .text("seed", self.seed.0)
    }

    fn kernel(&self) -> Option<Arc<dyn kernels::Kernel>> {
        // An order that is none is an error of `build`.
        let kernel = self.own_kernel().ok()?;
        Some(Arc::new(kernel))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}
