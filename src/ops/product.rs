//! Matrix product: `c = a b` on one device.

mod host;

pub(crate) use host::HostFactor;

use super::{Binding, Op, few::FewRows};
use crate::{
    Error, Result,
    device::{
        CpuDevice, Device, GpuDevice, Matrix,
        gpu::{Dispatch, shader::Constants},
    },
    form::{
        tile::{self, Form, Tile},
        tuning::{self, Class, TunedOp},
    },
    ops::dispatch::narrow,
    simd::rows_per_block,
};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// The op for the registry.
pub static OP: Op = Op {
    name: "product",
    source: include_str!("../../shaders/product.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[Binding::Read("a"), Binding::Read("b"), Binding::Write("c")],
    variants: || {
        let wide = tile::MENU.iter().map(|&t| wide(t));
        wide.chain(QUADS.map(narrow_variant)).collect()
    },
};

/// Columns of one narrow dispatch, in fours. More columns than twice the last go to the wide form.
const QUADS: [usize; 3] = [1, 2, 4];
/// Invocations that share a row of the narrow form, rows of each, and how many such groups a
/// workgroup has.
const LANES: u32 = 16;
const ROWS: u32 = 4;
const GROUPS: u32 = 4;

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth: u32,
    a_stride4: u32,
    b_stride4: u32,
    c_stride4: u32,
    q0: u32,
    c_row0: u32,
}

fn wide(tile: Tile) -> (String, Constants) {
    let mut constants = tile.constants();
    constants.insert("NARROW".into(), 0);
    (tile.name.to_owned(), constants)
}

fn narrow_variant(quads: usize) -> (String, Constants) {
    let pairs = [
        ("NARROW", 1),
        ("LANES", i64::from(LANES)),
        ("GROUPS", i64::from(GROUPS)),
        ("TM", i64::from(ROWS)),
        ("Q", quads as i64),
    ];
    let constants = pairs.map(|(name, value)| (name.to_owned(), value));
    (format!("narrow-{quads}"), constants.into_iter().collect())
}

/// `a b` in f64, from the f32 inputs that the op sees.
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
    count(a_nk, b_kt)?;
    let form = form(a_nk, b_kt);
    product_with(a_nk, b_kt, c_nt, form.unwrap_or(Form::Narrow))
}

/// As [`product`] on a GPU, into rows `c_row0 ..` of c; the caller has checked the shapes.
pub(super) fn product_into_rows(
    a_nk: &Matrix,
    b_kt: &Matrix,
    c_nt: &mut Matrix,
    c_row0: usize,
) -> Result<()> {
    let Device::Gpu(gpu) = c_nt.device().clone() else {
        unreachable!("the CPU multiplies blocks of rows on its own");
    };
    count(a_nk, b_kt)?;
    let form = form(a_nk, b_kt).unwrap_or(Form::Narrow);
    run_gpu(&gpu, a_nk, b_kt, c_nt, form, c_row0)
}

fn class(a_nk: &Matrix, b_kt: &Matrix) -> Class {
    Class::of(TunedOp::Product, a_nk.rows(), a_nk.cols(), b_kt.cols())
}

/// Counts the work towards tuning, where tiles are what does it.
fn count(a_nk: &Matrix, b_kt: &Matrix) -> Result<()> {
    if let (Device::Gpu(gpu), Some(Form::Tile(_))) = (a_nk.device(), form(a_nk, b_kt)) {
        let work = 2.0 * (a_nk.rows() * a_nk.cols()) as f64 * b_kt.cols() as f64;
        tuning::worked(gpu, class(a_nk, b_kt), work)?;
    }
    Ok(())
}

/// The form that [`product`] takes; `None` on the CPU. One narrow dispatch reads all of a; beyond
/// two of them a tile pays.
pub(crate) fn form(a_nk: &Matrix, b_kt: &Matrix) -> Option<Form> {
    let Device::Gpu(gpu) = a_nk.device() else {
        return None;
    };
    let few = tuning::few(gpu, a_nk.rows(), b_kt.cols(), a_nk.cols());
    Some(
        few.unwrap_or_else(|| match b_kt.stride() / 4 > 2 * QUADS[2] {
            true => tuning::tile(gpu, class(a_nk, b_kt)).into(),
            false => Form::Narrow,
        }),
    )
}

/// As [`product`], in one form: a tile shape of [`tile::MENU`] or one of the others. The CPU has
/// one way and ignores it.
pub fn product_with(a_nk: &Matrix, b_kt: &Matrix, c_nt: &mut Matrix, form: Form) -> Result<()> {
    let (rows, depth, cols) = (a_nk.rows(), a_nk.cols(), b_kt.cols());
    if b_kt.rows() != depth || (c_nt.rows(), c_nt.cols()) != (rows, cols) || depth == 0 {
        return Err(Error::shape(format!(
            "a product of {rows} x {depth} and {} x {cols} does not fit {} x {}",
            b_kt.rows(),
            c_nt.rows(),
            c_nt.cols()
        )));
    }
    match c_nt.device().clone() {
        Device::Cpu(cpu) => run_cpu(&cpu, a_nk, b_kt, c_nt),
        Device::Gpu(gpu) => run_gpu(&gpu, a_nk, b_kt, c_nt, form, 0),
    }
}

fn run_gpu(
    gpu: &GpuDevice,
    a_nk: &Matrix,
    b_kt: &Matrix,
    c_nt: &mut Matrix,
    form: Form,
    c_row0: usize,
) -> Result<()> {
    if let Form::Few { splits } = form {
        let few = FewRows {
            a_nk,
            b_kt,
            cols: b_kt.cols(),
            features: None,
            z_nt: c_nt,
            row0: c_row0,
            splits,
        };
        return few.run(gpu);
    }
    let mut params = Params {
        rows: narrow(a_nk.rows())?,
        depth: narrow(a_nk.cols())?,
        a_stride4: narrow(a_nk.stride() / 4)?,
        b_stride4: narrow(b_kt.stride() / 4)?,
        c_stride4: narrow(c_nt.stride() / 4)?,
        q0: 0,
        c_row0: narrow(c_row0)?,
    };
    let buffers = [
        a_nk.gpu(gpu, "the left factor")?,
        b_kt.gpu(gpu, "the right factor")?,
        c_nt.gpu(gpu, "the product")?,
    ];
    let dispatch = |params: &Params, (name, constants): (String, Constants), workgroups| {
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: &name,
            constants: &constants,
            params: bytemuck::bytes_of(params),
            buffers: &buffers,
            workgroups,
            work: 2.0 * (a_nk.rows() * a_nk.cols()) as f64 * b_kt.cols() as f64,
        })
    };
    if let Form::Tile(tile) = form {
        let workgroups = [
            (4 * params.b_stride4).div_ceil(tile.cols()),
            params.rows.div_ceil(tile.rows()),
            1,
        ];
        return dispatch(&params, wide(tile), workgroups);
    }
    while params.q0 < params.b_stride4 {
        let left = (params.b_stride4 - params.q0) as usize;
        let quads = *QUADS.iter().find(|&&q| q >= left).unwrap_or(&QUADS[2]);
        let workgroups = [params.rows.div_ceil(ROWS * GROUPS), 1, 1];
        dispatch(&params, narrow_variant(quads), workgroups)?;
        params.q0 += quads as u32;
    }
    Ok(())
}

fn run_cpu(cpu: &CpuDevice, a_nk: &Matrix, b_kt: &Matrix, c_nt: &mut Matrix) -> Result<()> {
    let (depth, cols) = (a_nk.cols(), b_kt.cols());
    if cols == 0 {
        return Ok(());
    }
    let block = rows_per_block(a_nk.rows(), cpu.threads());
    let a = a_nk.cpu("the left factor")?;
    let b = HostFactor::new(b_kt.cpu("the right factor")?, depth, cols);
    let c = c_nt.cpu_mut("the product")?;
    cpu.install(|| {
        c.par_chunks_mut(block * cols)
            .zip(a.par_chunks(block * depth))
            .for_each(|(c, a)| b.times(a, c));
    });
    Ok(())
}
