//! Matrix product: `c = a b` on one device.

pub(crate) mod check;
mod cpu;
mod gpu;
mod menu;

pub(crate) use cpu::RightFactor;
pub(crate) use gpu::OP;
pub(super) use gpu::into_rows;
pub(crate) use menu::MENU;

use crate::{
    Error, Result,
    device::{Device, Matrix},
    form::{DenseForm, Tile},
};
use ndarray::{Array2, ArrayView2};

/// How a product is cut on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum ProductForm {
    /// Few columns: neighbours share a row of the left factor.
    Narrow,
    /// As the other dense ops.
    Dense(DenseForm),
}

impl ProductForm {
    /// Its name in benchmark tables.
    pub fn name(&self) -> String {
        match self {
            Self::Narrow => "narrow".into(),
            Self::Dense(form) => form.name(),
        }
    }
}

impl From<DenseForm> for ProductForm {
    fn from(form: DenseForm) -> Self {
        Self::Dense(form)
    }
}

impl From<Tile> for ProductForm {
    fn from(tile: Tile) -> Self {
        Self::Dense(tile.into())
    }
}

/// `a b` in f64, from the f32 inputs that the op sees.
#[doc(hidden)]
pub fn reference(a_nk: ArrayView2<'_, f32>, b_kt: ArrayView2<'_, f32>) -> Array2<f64> {
    a_nk.mapv(f64::from).dot(&b_kt.mapv(f64::from))
}

/// Writes `c = a b`, shape `[n, t]`, for `a` of shape `[n, k]` and `b` of shape `[k, t]`, all on
/// one device.
///
/// Sums are in f32: the error of an entry is at most `k 2^-24 sum |a| |b|`, in practice nearer
/// `sqrt(k)`.
///
/// ```
/// use bochner::{Device, Matrix, ops::product::product};
/// use ndarray::array;
/// let device = Device::cpu();
/// let a_nk = Matrix::upload(&device, array![[1.0, 2.0]].view())?;
/// let b_kt = Matrix::upload(&device, array![[3.0], [4.0]].view())?;
/// let mut c_nt = Matrix::new(&device, 1, 1)?;
/// product(&a_nk, &b_kt, &mut c_nt)?;
/// assert_eq!(c_nt.download()?, array![[11.0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] on shapes that do not fit or an empty inner dimension, [`Error::Device`] on
/// matrices of several devices.
pub fn product(a_nk: &Matrix, b_kt: &Matrix, c_nt: &mut Matrix) -> Result<()> {
    check(a_nk, b_kt, c_nt)?;
    match c_nt.device().clone() {
        Device::Cpu(cpu) => cpu::run(&cpu, a_nk, b_kt, c_nt),
        Device::Gpu(gpu) => gpu::run(&gpu, a_nk, b_kt, c_nt),
    }
}

/// As [`product`], in one form: a tile shape of [`tile::MENU`] or one of the others. The CPU has
/// one way and ignores it. Errors with [`Error::Unsupported`] on a shape that takes more workgroup
/// memory than the adapter has.
///
/// [`tile::MENU`]: crate::form::tile::MENU
#[doc(hidden)]
pub fn product_with(
    a_nk: &Matrix,
    b_kt: &Matrix,
    c_nt: &mut Matrix,
    form: impl Into<ProductForm>,
) -> Result<()> {
    check(a_nk, b_kt, c_nt)?;
    match c_nt.device().clone() {
        Device::Cpu(cpu) => cpu::run(&cpu, a_nk, b_kt, c_nt),
        Device::Gpu(gpu) => gpu::run_as(&gpu, a_nk, b_kt, c_nt, form.into(), 0),
    }
}

fn check(a_nk: &Matrix, b_kt: &Matrix, c_nt: &Matrix) -> Result<()> {
    let (rows, depth, cols) = (a_nk.rows(), a_nk.cols(), b_kt.cols());
    if b_kt.rows() == depth && (c_nt.rows(), c_nt.cols()) == (rows, cols) && depth > 0 {
        return Ok(());
    }
    Err(Error::shape(format!(
        "a product of {rows} x {depth} and {} x {cols} does not fit {} x {}",
        b_kt.rows(),
        c_nt.rows(),
        c_nt.cols()
    )))
}

/// The form that [`product`] takes; `None` on the CPU.
pub(crate) fn form(a_nk: &Matrix, b_kt: &Matrix) -> Option<ProductForm> {
    match a_nk.device() {
        Device::Cpu(_) => None,
        Device::Gpu(gpu) => Some(gpu::form(gpu, a_nk, b_kt)),
    }
}
