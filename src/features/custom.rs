//! Features of a user's own nonlinearity, on the CPU.

use super::{Affine, FeatureMap, LoadedMap, MapBuilder, MapData};
use crate::{
    Device, Error, Matrix, Result,
    device::CpuDevice,
    error::Remedy,
    kernels::{ArcCosineKernel, Kernel},
    ops::product::RightFactor,
    sampling::{Sampling, round_to_11_bits},
    seed::Seed,
    simd::rows_per_block,
    store::Store,
    text::counted,
};
use ndarray::Array2;
use rayon::prelude::*;
use std::{fmt, sync::Arc};

type Function = Arc<dyn Fn(f32) -> f32 + Send + Sync>;

/// Builds a map `z = f(omega . x) / sqrt(D)` with omega ~ N(0, I) and any `f`: `z(x)'z(y)`
/// estimates `E f(omega . x) f(omega . y)` (Rahimi & Recht 2008, "Uniform approximation of
/// functions with random bases").
///
/// It runs on the CPU alone, because a closure cannot become a shader, and cannot be saved.
///
/// ```
/// use bochner::{Device, features::{Affine, Custom, FeatureMap}};
/// let map = Custom::new("tanh", f32::tanh).features(64).build(Affine::identity(3))?;
/// assert!(map.load(&Device::cpu()).is_ok());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Clone)]
pub struct Custom {
    name: String,
    function: Function,
    features: usize,
    sampling: Sampling,
    seed: Seed,
}

impl Custom {
    /// 1000 features of `function`, called `name` in messages, by Monte Carlo, from seed 0, until
    /// said otherwise.
    pub fn new(
        name: impl Into<String>,
        function: impl Fn(f32) -> f32 + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            function: Arc::new(function),
            features: 1000,
            sampling: Sampling::default(),
            seed: Seed(0),
        }
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

    /// Draws the map. `input` prepares raw columns. Errors with [`Error::Shape`] when D or d is 0,
    /// and as the sampling does.
    pub fn build(&self, input: Affine) -> Result<CustomFeatures> {
        let s = self.features;
        let measure = ArcCosineKernel::weights();
        let drawn = self
            .sampling
            .draw(measure, input.columns(), s, false, self.seed)?;
        let weights = drawn.weights.unwrap_or_else(|| vec![1.0; s]);
        Ok(CustomFeatures {
            name: self.name.clone(),
            function: self.function.clone(),
            input,
            w_ds: drawn.omega_sd.t().mapv(round_to_11_bits),
            amplitude_s: weights
                .iter()
                .map(|w| (w / s as f64).sqrt() as f32)
                .collect(),
        })
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
            .field("name", &self.name)
            .field("features", &self.features)
            .finish_non_exhaustive()
    }
}

/// A map of a user's own nonlinearity with its weights drawn.
#[derive(Clone)]
pub struct CustomFeatures {
    name: String,
    function: Function,
    input: Affine,
    /// `[d, D]`.
    w_ds: Array2<f32>,
    amplitude_s: Vec<f32>,
}

impl fmt::Debug for CustomFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

impl FeatureMap for CustomFeatures {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn describe(&self) -> String {
        format!(
            "{} features of normal projections, {} to {}",
            self.name,
            counted(self.input_dim(), "column"),
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.w_ds.ncols()
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        let cpu = device.as_cpu().ok_or_else(|| {
            Error::unsupported(format!(
                "the nonlinearity {} is a closure, which no shader can call",
                self.name
            ))
            .help(Remedy::UseCpu)
        })?;
        Ok(Box::new(Loaded {
            cpu: cpu.clone(),
            function: self.function.clone(),
            depth: self.w_ds.nrows(),
            weights: RightFactor::new(
                self.w_ds
                    .as_standard_layout()
                    .as_slice()
                    .unwrap_or_default(),
                self.w_ds.nrows(),
                self.w_ds.ncols(),
            ),
            amplitude_s: self.amplitude_s.clone(),
        }))
    }

    fn write(&self, _: &mut Store) -> Result<()> {
        Err(Error::unsupported(format!(
            "the nonlinearity {} is a closure, which no file can keep; save a map of a named \
             nonlinearity instead",
            self.name
        )))
    }
}

struct Loaded {
    cpu: CpuDevice,
    function: Function,
    depth: usize,
    weights: RightFactor,
    amplitude_s: Vec<f32>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").finish_non_exhaustive()
    }
}

impl Loaded {
    fn check(&self, x_nd: &Matrix, out: &Matrix, cols: usize) -> Result<()> {
        if x_nd.cols() == self.depth && (out.rows(), out.cols()) == (x_nd.rows(), cols) {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows of {} columns and an output of {} x {} do not fit a map of {} columns to {}",
            x_nd.cols(),
            out.rows(),
            out.cols(),
            self.depth,
            self.amplitude_s.len()
        )))
    }

    fn block(&self, x: &[f32], z: &mut [f32]) {
        self.weights.times(x, z);
        for z in z.chunks_exact_mut(self.amplitude_s.len()) {
            for (z, a) in z.iter_mut().zip(&self.amplitude_s) {
                *z = a * (self.function)(*z);
            }
        }
    }
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        let features = self.amplitude_s.len();
        self.check(x_nd, z_nd, features)?;
        let block = rows_per_block(x_nd.rows(), self.cpu.threads());
        let (x, z) = (x_nd.cpu("x")?, z_nd.cpu_mut("z")?);
        self.cpu.install(|| {
            z.par_chunks_mut(block * features)
                .zip(x.par_chunks(block * self.depth))
                .for_each(|(z, x)| self.block(x, z));
        });
        Ok(())
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let (features, targets) = (self.amplitude_s.len(), beta_dt.cols());
        self.check(x_nd, y_nt, targets)?;
        if beta_dt.rows() != features {
            return Err(Error::shape(format!(
                "coefficients are for {} features, the map gives {features}",
                beta_dt.rows()
            )));
        }
        let block = rows_per_block(x_nd.rows(), self.cpu.threads());
        let x = x_nd.cpu("x")?;
        let beta = RightFactor::new(beta_dt.cpu("the coefficients")?, features, targets);
        let y = y_nt.cpu_mut("y")?;
        self.cpu.install(|| {
            y.par_chunks_mut(block * targets.max(1))
                .zip(x.par_chunks(block * self.depth))
                .for_each_init(Vec::new, |z, (y, x)| {
                    z.resize(x.len() / self.depth * features, 0.0);
                    self.block(x, z);
                    beta.times(z, y);
                });
        });
        Ok(())
    }
}
