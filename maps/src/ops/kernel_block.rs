//! Blocks of the kernel matrix: `k(x, landmark)` for every row and every landmark, and their
//! product with a matrix.

#[doc(hidden)]
pub mod check;
mod cpu;
mod gpu;
mod level;

pub use gpu::MENU;
pub(crate) use gpu::{OP, is_default};
pub use level::Level;

use super::Loaded;
use crate::{
    Error, Result,
    device::{Device, Matrix},
    error::Remedy,
    form::Tile,
    kernels::{BlockForm, Kernel},
};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// `k(x, landmark)` in f64, `[rows, m]`, from the f32 rows that the op sees.
pub fn reference(
    kernel: &dyn Kernel,
    x_nd: ArrayView2<'_, f32>,
    landmarks_md: ArrayView2<'_, f32>,
) -> Array2<f64> {
    let wide = |rows: ArrayView2<'_, f32>| -> Vec<Vec<f64>> {
        let rows = rows.rows().into_iter();
        rows.map(|row| row.iter().map(|&v| f64::from(v)).collect())
            .collect()
    };
    let (x, y) = (wide(x_nd), wide(landmarks_md));
    Array2::from_shape_fn((x.len(), y.len()), |(i, j)| kernel.evaluate(&x[i], &y[j]))
}

/// As [`reference()`], measured from `level`: `[rows, m]` or `[rows, m + 1]`.
pub fn reference_from(
    kernel: &dyn Kernel,
    x_nd: ArrayView2<'_, f32>,
    landmarks_md: ArrayView2<'_, f32>,
    level: Level,
) -> Array2<f64> {
    let k = reference(kernel, x_nd, landmarks_md);
    let (n, m) = k.dim();
    if level == Level::Zero || m == 0 {
        return k;
    }
    let one: Vec<f64> = landmarks_md.row(0).iter().map(|&v| f64::from(v)).collect();
    let top = kernel.evaluate(&one, &one);
    Array2::from_shape_fn((n, level.columns(m)), |(i, j)| {
        if j < m { k[[i, j]] - top } else { 1.0 }
    })
}

/// A kernel and its landmarks, loaded on a device.
///
/// Kernels with a [`BlockForm`] run everywhere, in f32, from coordinate differences; all others run
/// on the CPU, in f64, through [`Kernel::evaluate`]. Values are measured from a [`Level`].
///
/// On the CPU, kernels of the distance of rows of 64 columns or more may come from the product x.y.
/// The distance of neighbours, which cancels in it, is summed from differences all the same. An
/// entry has the same bits whatever rows are beside it.
#[derive(Debug)]
pub struct KernelBlock {
    depth: usize,
    landmarks: usize,
    level: Level,
    loaded: Loaded<cpu::Landmarks, gpu::Landmarks>,
}

impl KernelBlock {
    /// Uploads the landmarks, `[m, d]`, at unit scale.
    ///
    /// # Errors
    /// [`Error::Shape`] on an empty block; [`Error::Unsupported`] for a kernel without a
    /// [`BlockForm`] on a GPU;
    /// [`Error::Limit`] when the device cannot bind the landmarks.
    pub fn load(
        device: &Device,
        kernel: Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
    ) -> Result<Self> {
        Self::load_as(device, kernel, landmarks_md, Level::Zero, None)
    }

    /// As [`Self::load`], measured from `level`.
    ///
    /// # Errors
    /// As [`Self::load`], and [`Error::Unsupported`] for a kernel that is not shift-invariant from
    /// [`Level::Top`]: it has none.
    pub fn load_from(
        device: &Device,
        kernel: Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
        level: Level,
    ) -> Result<Self> {
        Self::load_as(device, kernel, landmarks_md, level, None)
    }

    /// As [`Self::load_from`], with a tile shape of [`MENU`] instead of the adapter's own.
    pub fn load_with(
        device: &Device,
        kernel: Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
        level: Level,
        tile: Tile,
    ) -> Result<Self> {
        Self::load_as(device, kernel, landmarks_md, level, Some(tile))
    }

    fn load_as(
        device: &Device,
        kernel: Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
        level: Level,
        tile: Option<Tile>,
    ) -> Result<Self> {
        let (m, d) = landmarks_md.dim();
        if m == 0 || d == 0 {
            return Err(Error::shape(format!(
                "{m} landmarks of {d} columns are an empty block"
            )));
        }
        if level == Level::Top && !kernel.is_shift_invariant() {
            return Err(Error::unsupported(format!(
                "the kernel {} has no largest value to measure from; measure from zero",
                kernel.spec()
            )));
        }
        // A form is what shaders and the vector code know of a kernel. A kernel of a user's has
        // none, and only the CPU can call it.
        let loaded = match (device, kernel.block_form()) {
            (Device::Cpu(cpu), Some(form)) => {
                let landmarks = Scaled::new(form, landmarks_md);
                Loaded::Cpu(cpu::Landmarks::in_f32(cpu, form, level, &landmarks))
            }
            (Device::Cpu(cpu), None) => {
                Loaded::Cpu(cpu::Landmarks::in_f64(cpu, kernel, level, landmarks_md))
            }
            (Device::Gpu(gpu), Some(form)) => {
                let landmarks = Scaled::new(form, landmarks_md);
                Loaded::Gpu(gpu::Landmarks::upload(gpu, form, level, &landmarks, tile)?)
            }
            (Device::Gpu(_), None) => {
                let problem = format!("the kernel {} has no shader", kernel.spec());
                return Err(Error::unsupported(problem).help(Remedy::UseCpu));
            }
        };
        Ok(Self {
            depth: d,
            landmarks: m,
            level,
            loaded,
        })
    }

    /// Number of landmarks, m.
    pub fn landmarks(&self) -> usize {
        self.landmarks
    }

    /// Number of columns of the block: m, or m + 1 from [`Level::Top`].
    pub fn columns(&self) -> usize {
        self.level.columns(self.landmarks)
    }

    /// The tile shape of its dispatches; `None` on the CPU.
    pub(crate) fn tile(&self) -> Option<Tile> {
        match &self.loaded {
            Loaded::Cpu(_) => None,
            Loaded::Gpu(landmarks) => Some(landmarks.tile()),
        }
    }

    /// Writes `k = k(x, landmark)`, shape `[rows, m]`, or what [`Level::Top`] says, for `x` of
    /// shape `[rows, d]` at unit scale.
    /// Errors with [`Error::Shape`] on other shapes and with [`Error::Device`] on a matrix of
    /// another device.
    pub fn run(&self, x_nd: &Matrix, k_nm: &mut Matrix) -> Result<()> {
        self.check(x_nd, k_nm, self.columns())?;
        match &self.loaded {
            Loaded::Cpu(landmarks) => landmarks.run(x_nd, k_nm),
            Loaded::Gpu(landmarks) => landmarks.run(x_nd, 0, k_nm),
        }
    }

    /// Writes the block times `b`, shape `[rows, t]`, for `b` of shape `[columns, t]`.
    ///
    /// On the CPU the kernel block stays in cache; a GPU keeps 32 to 256 MiB of it at a time, by
    /// its kind, in `scratch`, which is allocated at the first call and again only for more rows.
    /// Errors as [`Self::run`].
    pub fn times(
        &self,
        x_nd: &Matrix,
        b_mt: &Matrix,
        out_nt: &mut Matrix,
        scratch: &mut Option<Matrix>,
    ) -> Result<()> {
        self.check(x_nd, out_nt, b_mt.cols())?;
        if b_mt.rows() != self.columns() {
            return Err(Error::shape(format!(
                "a kernel block of {} columns cannot be multiplied with {} rows",
                self.columns(),
                b_mt.rows()
            )));
        }
        if out_nt.rows() == 0 || out_nt.cols() == 0 {
            return Ok(());
        }
        match &self.loaded {
            Loaded::Cpu(landmarks) => landmarks.times(x_nd, b_mt, out_nt),
            Loaded::Gpu(landmarks) => landmarks.times(x_nd, b_mt, out_nt, scratch),
        }
    }

    fn check(&self, x_nd: &Matrix, out: &Matrix, cols: usize) -> Result<()> {
        if x_nd.cols() == self.depth && (out.rows(), out.cols()) == (x_nd.rows(), cols) {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows of {} columns and an output of {} x {} do not fit {} landmarks of {} columns",
            x_nd.cols(),
            out.rows(),
            out.cols(),
            self.landmarks,
            self.depth
        )))
    }
}

/// Landmarks as the kernel of a form takes them, and their lengths.
struct Scaled<'a> {
    landmarks_md: ArrayView2<'a, f32>,
    lengths: Vec<f64>,
    /// Whether the kernel takes unit vectors, and lengths apart.
    angular: bool,
}

impl<'a> Scaled<'a> {
    fn new(form: BlockForm, landmarks_md: ArrayView2<'a, f32>) -> Self {
        let rows = landmarks_md.rows().into_iter();
        let square = |&v: &f32| f64::from(v).powi(2);
        Self {
            landmarks_md,
            lengths: rows
                .map(|row| row.iter().map(square).sum::<f64>().sqrt())
                .collect(),
            angular: matches!(form, BlockForm::ArcCosine { .. }),
        }
    }

    /// Coordinate `c` of landmark `j`; zero in the padding.
    fn value(&self, j: usize, c: usize) -> f32 {
        match self.landmarks_md.get([j, c]) {
            // Divided in f64 and rounded once: the angle between neighbours is made of the last
            // digits of their coordinates.
            Some(&v) if self.angular && self.lengths[j] > 0.0 => {
                (f64::from(v) / self.lengths[j]) as f32
            }
            Some(&v) => v,
            None => 0.0,
        }
    }

    /// The length of landmark `j`; zero in the padding.
    fn length(&self, j: usize) -> f32 {
        self.lengths.get(j).map_or(0.0, |&length| length as f32)
    }
}
