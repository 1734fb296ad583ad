//! Features of a user's own nonlinearity.

use super::{
    Affine, DenseFeatures, FeatureMap, MapBuilder, MapData, names::CUSTOM, registered::register,
};
use crate::{
    Result,
    kernels::{ArcCosineKernel, Kernel},
    ops::{Nonlinearity, Pointwise, projection::DenseMap},
    sampling::{Sampling, round_to_11_bits},
    seed::Seed,
};
use std::{fmt, sync::Arc};

/// Builds a map `z = f(omega . x) / sqrt(D)` with omega ~ N(0, I) and any `f`: `z(x)'z(y)`
/// estimates `E f(omega . x) f(omega . y)` (Rahimi & Recht 2008, "Uniform approximation of
/// functions with random bases").
///
/// The CPU calls `f`; a GPU needs it as a WGSL expression beside it, by [`Self::wgsl`]. A model is
/// saved, and loaded in another process, once `f` has been [registered](Self::register) there.
///
/// ```
/// use bochner::{Device, features::{Affine, Custom, FeatureMap}};
/// let map = Custom::new("tanh", f32::tanh).wgsl("tanh(clamp(t, -10.0, 10.0))").features(64);
/// let map = map.build(Affine::identity(3))?;
/// assert!(map.load(&Device::cpu()).is_ok());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Clone)]
pub struct Custom {
    own: Pointwise,
    wgsl: Option<String>,
    features: usize,
    sampling: Sampling,
    seed: Seed,
}

impl Custom {
    /// 1000 features of `function`, called `name` in messages and files, by Monte Carlo, from seed
    /// 0, until said otherwise.
    pub fn new(
        name: impl Into<String>,
        function: impl Fn(f32) -> f32 + Send + Sync + 'static,
    ) -> Self {
        Self {
            own: Pointwise::new(name, function),
            wgsl: None,
            features: 1000,
            sampling: Sampling::default(),
            seed: Seed(0),
        }
    }

    /// The same function as a WGSL expression in the variable `t`, an f32: `t / (1.0 + exp(-t))`.
    /// It consists of numbers, operators and WGSL's functions of numbers; [`Self::build`] refuses
    /// anything else.
    ///
    /// A GPU compares the two whenever a map is loaded: at 4097 arguments from -128 to 128, dense
    /// around zero, they must not differ by more than 2^-10 of the value and of the mean size of
    /// values between -4 and 4. WGSL lets a GPU's sine and cosine be off by 2^-11, other functions
    /// by less, so that a right expression passes on each. Values beyond 1e30 are not compared. An
    /// expression that overflows on the way is refused: some GPUs give NaN for `tanh(100.0)`, and
    /// need `tanh(clamp(t, -10.0, 10.0))`.
    pub fn wgsl(mut self, expression: impl Into<String>) -> Self {
        self.wgsl = Some(expression.into());
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

    /// Has models of this nonlinearity saved and loaded in this process, under its name: a file
    /// keeps the name and some of the values, by which another function of that name is refused.
    /// Call it once, before the first is saved or loaded.
    ///
    /// ```
    /// use bochner::features::Custom;
    /// Custom::new("swish", |t| t / (1.0 + (-t).exp())).wgsl("t / (1.0 + exp(-t))").register()?;
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors with [`Error::Parameter`](crate::Error::Parameter) when the name is taken by an
    /// earlier call, and when the WGSL is no expression.
    pub fn register(&self) -> Result<()> {
        register(self.pointwise()?)
    }

    /// Draws the map. `input` prepares raw columns. Errors with
    /// [`Error::Shape`](crate::Error::Shape) when D or d is 0, with
    /// [`Error::Parameter`](crate::Error::Parameter) when the WGSL is no expression, and as the
    /// sampling does.
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let s = self.features;
        let measure = ArcCosineKernel::weights();
        let drawn = self
            .sampling
            .draw(measure, input.columns(), s, false, self.seed)?;
        let weights = drawn.weights.unwrap_or_else(|| vec![1.0; s]);
        let dense = DenseMap {
            w_ds: drawn.omega_sd.t().mapv(round_to_11_bits),
            phase_s: vec![0.0; s],
            amplitude_s: weights
                .iter()
                .map(|w| (w / s as f64).sqrt() as f32)
                .collect(),
            nonlinearity: Nonlinearity::Custom(self.pointwise()?),
        };
        Ok(DenseFeatures {
            name: CUSTOM,
            origin: format!("{}, {}", self.own.name(), self.sampling.settled()),
            input,
            dense,
        })
    }

    /// Function and expression in one.
    fn pointwise(&self) -> Result<Pointwise> {
        let own = self.own.clone();
        match &self.wgsl {
            None => Ok(own),
            Some(expression) => own.wgsl(expression),
        }
    }
}

impl MapBuilder for Custom {
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        None
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom")
            .field("name", &self.own)
            .field("features", &self.features)
            .finish_non_exhaustive()
    }
}
