//! Projection and nonlinearity in one op: `z = amplitude * f(x W + phase)`, the dense
//! random-feature map.

mod agreement;
pub(crate) mod check;
pub(super) mod cpu;
pub(super) mod gpu;
pub(super) mod menu;
mod products;
mod resident;
mod units;

pub(crate) use menu::MENU;

pub(crate) use gpu::OP;
pub use units::verdict as units;
pub(crate) use units::{OP as UNITS_OP, SCALES_OP};

use super::{Loaded, Nonlinearity};
use crate::{
    Error, Result,
    device::{Device, Matrix},
    form::DenseForm,
    simd::{
        Entries,
        cos2pi::{reference_cos, reference_sin},
    },
};
use agreement::agree;
use ndarray::{Array1, Array2, ArrayView2};

/// The parameters of a dense map, on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseMap {
    /// Frequencies, `[d, s]`, depth-major.
    pub w_ds: Array2<f32>,
    /// Added to `x W`, length s; in turns for the cosines.
    pub phase_s: Vec<f32>,
    /// Multiplies each feature, length s: sqrt(2/D) and a weight if any.
    pub amplitude_s: Vec<f32>,
    /// What is applied to the projection.
    pub nonlinearity: Nonlinearity,
}

impl DenseMap {
    /// Number of input columns, d.
    #[doc(hidden)]
    pub fn depth(&self) -> usize {
        self.w_ds.nrows()
    }

    /// Number of frequencies, s.
    #[doc(hidden)]
    pub fn freqs(&self) -> usize {
        self.w_ds.ncols()
    }

    /// Number of output columns, D.
    #[doc(hidden)]
    pub fn outputs(&self) -> usize {
        self.freqs() * self.nonlinearity.outputs()
    }

    fn check(&self) -> Result<()> {
        if self.depth() == 0 || self.freqs() == 0 {
            return Err(Error::shape(format!(
                "a map from {} columns to {} features is empty",
                self.depth(),
                self.outputs()
            )));
        }
        if self.phase_s.len() != self.freqs() || self.amplitude_s.len() != self.freqs() {
            return Err(Error::shape(format!(
                "{} frequencies need as many phases ({}) and amplitudes ({})",
                self.freqs(),
                self.phase_s.len(),
                self.amplitude_s.len()
            )));
        }
        Ok(())
    }
}

/// `z = amplitude * f(x W + phase)` in f64, from the f32 inputs that the op sees.
pub fn reference(map: &DenseMap, x_nd: ArrayView2<'_, f32>) -> Array2<f64> {
    let t_ns = Array2::from_shape_fn((x_nd.nrows(), map.freqs()), |(i, l)| {
        let pairs = x_nd.row(i).into_iter().zip(map.w_ds.column(l));
        let dot: f64 = pairs.map(|(&x, &w)| f64::from(x) * f64::from(w)).sum();
        dot + f64::from(map.phase_s[l])
    });
    let amplitude_s = map.amplitude_s.iter().map(|&a| f64::from(a)).collect();
    applied(&map.nonlinearity, &t_ns, &amplitude_s)
}

/// `amplitude * f(t)` in f64, of projections t `[n, s]` with their phases.
pub(crate) fn applied(
    nonlinearity: &Nonlinearity,
    t_ns: &Array2<f64>,
    amplitude_s: &Array1<f64>,
) -> Array2<f64> {
    let s = t_ns.ncols();
    let mut z = Array2::zeros((t_ns.nrows(), s * nonlinearity.outputs()));
    for (t, mut z) in t_ns.rows().into_iter().zip(z.rows_mut()) {
        for (l, (&t, &a)) in t.iter().zip(amplitude_s).enumerate() {
            match nonlinearity {
                Nonlinearity::CosSin => {
                    z[l] = a * reference_cos(t);
                    z[s + l] = a * reference_sin(t);
                }
                Nonlinearity::Cos => z[l] = a * reference_cos(t),
                Nonlinearity::Step => z[l] = if t > 0.0 { a } else { 0.0 },
                Nonlinearity::Relu => z[l] = a * t.max(0.0),
                Nonlinearity::ReluSquared => z[l] = a * t.max(0.0).powi(2),
                Nonlinearity::Identity => z[l] = a * t,
                Nonlinearity::Custom(own) => z[l] = a * f64::from(own.at(t as f32)),
            }
        }
    }
    z
}

/// A dense map loaded on a device.
#[derive(Debug)]
pub struct Projection {
    depth: usize,
    outputs: usize,
    pub(super) loaded: Loaded<cpu::Map, gpu::Map>,
}

impl Projection {
    /// Uploads the parameters. Errors on an empty map, on one that exceeds the device's bindings,
    /// and on a custom nonlinearity that a GPU does not compute as its function does.
    pub fn load(device: &Device, map: &DenseMap) -> Result<Self> {
        Self::load_as(device, map, None)
    }

    /// As [`Self::load`], with one form instead of the adapter's own: [`DenseForm::Few`], or a tile
    /// shape of [`tile::MENU`] ([`tile::PREDICT_MENU`] if it is to
    /// [predict](super::predict::Predict)). Errors with [`Error::Unsupported`] on a shape that
    /// takes more workgroup memory than the adapter has.
    ///
    /// [`tile::MENU`]: crate::form::tile::MENU
    /// [`tile::PREDICT_MENU`]: crate::form::tile::PREDICT_MENU
    pub fn load_with(device: &Device, map: &DenseMap, form: DenseForm) -> Result<Self> {
        Self::load_as(device, map, Some(form))
    }

    fn load_as(device: &Device, map: &DenseMap, form: Option<DenseForm>) -> Result<Self> {
        map.check()?;
        Ok(Self {
            depth: map.depth(),
            outputs: map.outputs(),
            loaded: match device {
                Device::Cpu(cpu) => Loaded::Cpu(cpu::Map::new(cpu, map)),
                Device::Gpu(gpu) => {
                    if let Nonlinearity::Custom(own) = &map.nonlinearity {
                        agree(gpu, own)?;
                    }
                    Loaded::Gpu(gpu::Map::upload(gpu, map, form)?)
                }
            },
        })
    }

    /// Number of output columns, D.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The form that [`Self::run`] takes for so many rows; `None` on the CPU.
    pub fn form(&self, rows: usize) -> Option<DenseForm> {
        match &self.loaded {
            Loaded::Cpu(_) => None,
            Loaded::Gpu(map) => Some(map.form(rows)),
        }
    }

    /// Writes `z = amplitude * f(x W + phase)`, shape `[rows, D]`, for `x` of shape `[rows, d]`.
    /// Errors with [`Error::Shape`] on other shapes and with [`Error::Device`] on a matrix of
    /// another device.
    pub fn run(&self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.check_input(x_nd)?;
        if (z_nd.rows(), z_nd.cols()) != (x_nd.rows(), self.outputs) {
            return Err(Error::shape(format!(
                "z is {} x {}, the map gives {} x {}",
                z_nd.rows(),
                z_nd.cols(),
                x_nd.rows(),
                self.outputs
            )));
        }
        match &self.loaded {
            Loaded::Cpu(map) => map.run(x_nd.cpu("x")?, z_nd.cpu_mut("z")?),
            Loaded::Gpu(map) => map.run(x_nd, z_nd)?,
        }
        Ok(())
    }

    /// As [`Self::run`] on the CPU, to memory of the caller, `rows * D` floats. `false` on a GPU,
    /// where nothing is written. `past_caches` as [`LoadedMap::featurize_to`] has it.
    ///
    /// [`LoadedMap::featurize_to`]: crate::features::LoadedMap::featurize_to
    pub(crate) fn run_to(
        &self,
        x_nd: &Matrix,
        z_nd: &mut [f32],
        past_caches: bool,
    ) -> Result<bool> {
        self.check_input(x_nd)?;
        let Loaded::Cpu(map) = &self.loaded else {
            return Ok(false);
        };
        if z_nd.len() != x_nd.rows() * self.outputs {
            return Err(Error::shape(format!(
                "z has room for {} values, the map gives {} x {}",
                z_nd.len(),
                x_nd.rows(),
                self.outputs
            )));
        }
        map.write(x_nd.cpu("x")?, z_nd, past_caches);
        Ok(true)
    }

    /// As [`Self::run_to`], for rows `base_d + x` with sparse x. `false` on a GPU.
    pub(crate) fn run_sparse(
        &self,
        base_d: &[f32],
        x: Entries<'_>,
        z_nd: &mut [f32],
    ) -> Result<bool> {
        let Loaded::Cpu(map) = &self.loaded else {
            return Ok(false);
        };
        let rows = x.starts.len().saturating_sub(1);
        if base_d.len() != self.depth || z_nd.len() != rows * self.outputs {
            return Err(Error::shape(format!(
                "{rows} sparse rows of {} columns do not go to {} values of a map of {} columns to {}",
                base_d.len(),
                z_nd.len(),
                self.depth,
                self.outputs
            )));
        }
        map.run_sparse(base_d, x, z_nd);
        Ok(true)
    }

    pub(super) fn check_input(&self, x_nd: &Matrix) -> Result<()> {
        if x_nd.cols() != self.depth {
            return Err(Error::shape(format!(
                "rows have {} columns, the map takes {}",
                x_nd.cols(),
                self.depth
            )));
        }
        Ok(())
    }
}
