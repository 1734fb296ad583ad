//! Matrix products on a GPU: by tiles, for few columns, or for few rows.

use super::{MENU, ProductForm};
use crate::{
    Error, Result,
    device::{GpuDevice, Matrix, gpu::Dispatch},
    form::{
        self, DenseForm, Shape, Way,
        tile::{self, Tile},
    },
    ops::{Binding, Op, Variant, dispatch::narrow, few::FewRows},
};

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "product",
    source: bochner_shaders::PRODUCT,
    params_bytes: size_of::<Params>(),
    bindings: &[Binding::Read("a"), Binding::Read("b"), Binding::Write("c")],
    variants: || {
        let wide = tile::MENU.iter().map(|&t| wide(t));
        wide.chain(QUADS.map(narrow_variant)).collect()
    },
};

/// Columns of one narrow dispatch, in fours. More columns than twice the most go to the wide form.
const QUADS: [usize; 4] = [1, 2, 3, 4];
const MOST_QUADS: usize = 4;
/// Invocations that share a row of the narrow form, rows of each, and how many such groups a
/// workgroup has.
// 128 invocations in all. Neighbours read 512 bytes of a row of a at a time, in whole cache lines;
// four rows use each value of b four times. On an H200 16 lanes took 1.7 times as long for 8,192
// rows and 2.3 times for 1,024, where there are too few of them.
const LANES: u32 = 32;
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

impl Params {
    fn new(a_nk: &Matrix, b_kt: &Matrix, c_nt: &Matrix, c_row0: usize) -> Result<Self> {
        Ok(Self {
            rows: narrow(a_nk.rows())?,
            depth: narrow(a_nk.cols())?,
            a_stride4: narrow(a_nk.stride() / 4)?,
            b_stride4: narrow(b_kt.stride() / 4)?,
            c_stride4: narrow(c_nt.stride() / 4)?,
            q0: 0,
            c_row0: narrow(c_row0)?,
        })
    }
}

fn wide(tile: Tile) -> Variant {
    tile.variant().with_constant("NARROW", 0)
}

fn narrow_variant(quads: usize) -> Variant {
    Variant::new([
        ("NARROW", 1),
        ("LANES", i64::from(LANES)),
        ("GROUPS", i64::from(GROUPS)),
        ("TM", i64::from(ROWS)),
        ("Q", quads as i64),
    ])
}

/// The form that suits the shapes. One narrow dispatch reads all of a; beyond two of them a tile
/// pays.
pub(super) fn form(gpu: &GpuDevice, a_nk: &Matrix, b_kt: &Matrix) -> ProductForm {
    match form::choose(gpu, &MENU, shape(a_nk, b_kt)) {
        DenseForm::Tile(_) if b_kt.stride() / 4 <= 2 * MOST_QUADS => ProductForm::Narrow,
        form => form.into(),
    }
}

fn shape(a_nk: &Matrix, b_kt: &Matrix) -> Shape {
    Shape {
        rows: a_nk.rows(),
        depth: a_nk.cols(),
        cols: b_kt.cols(),
    }
}

fn work(a_nk: &Matrix, b_kt: &Matrix) -> f64 {
    2.0 * (a_nk.rows() * a_nk.cols()) as f64 * b_kt.cols() as f64
}

/// Records the product in the form that suits it.
pub(super) fn run(gpu: &GpuDevice, a_nk: &Matrix, b_kt: &Matrix, c_nt: &mut Matrix) -> Result<()> {
    into_rows(gpu, a_nk, b_kt, c_nt, 0)
}

/// As [`run`], into rows `c_row0 ..` of c; the caller has checked the shapes.
pub(in crate::ops) fn into_rows(
    gpu: &GpuDevice,
    a_nk: &Matrix,
    b_kt: &Matrix,
    c_nt: &mut Matrix,
    c_row0: usize,
) -> Result<()> {
    let form = form(gpu, a_nk, b_kt);
    run_as(gpu, a_nk, b_kt, c_nt, form, c_row0)
}

/// Records the product in one form.
pub(super) fn run_as(
    gpu: &GpuDevice,
    a_nk: &Matrix,
    b_kt: &Matrix,
    c_nt: &mut Matrix,
    form: ProductForm,
    c_row0: usize,
) -> Result<()> {
    match form {
        ProductForm::Dense(DenseForm::Units { .. }) => {
            return Err(Error::unsupported("matrix units are for projections"));
        }
        ProductForm::Dense(DenseForm::Few { splits }) => {
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
        ProductForm::Dense(DenseForm::Tile(tile)) => tile.check(gpu)?,
        ProductForm::Narrow => {}
    }
    let params = Params::new(a_nk, b_kt, c_nt, c_row0)?;
    let buffers = [
        a_nk.gpu(gpu, "the left factor")?,
        b_kt.gpu(gpu, "the right factor")?,
        c_nt.gpu(gpu, "the product")?,
    ];
    let dispatch = |params: &Params, variant: Variant, workgroups| {
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant,
            params: bytemuck::bytes_of(params),
            buffers: &buffers,
            workgroups,
            work: work(a_nk, b_kt),
        })
    };
    if let ProductForm::Dense(DenseForm::Tile(tile)) = form {
        let workgroups = [
            // Columns of the padding too: what stands behind a row of c stays zero that way.
            (4 * params.b_stride4).div_ceil(tile.cols()),
            params.rows.div_ceil(tile.rows()),
            1,
        ];
        return dispatch(&params, wide(tile), workgroups);
    }
    narrow_columns(params, &dispatch)
}

/// Records a dispatch with these parameters, of so many workgroups.
type Record<'a> = dyn Fn(&Params, Variant, [u32; 3]) -> Result<()> + 'a;

/// Each dispatch reads all of a and makes up to 16 columns; the padding of b is zero, and so are
/// the columns that it makes in the padding of c.
fn narrow_columns(mut params: Params, dispatch: &Record<'_>) -> Result<()> {
    while params.q0 < params.b_stride4 {
        let left = (params.b_stride4 - params.q0) as usize;
        let quads = *QUADS.iter().find(|&&q| q >= left).unwrap_or(&MOST_QUADS);
        let workgroups = [params.rows.div_ceil(ROWS * GROUPS), 1, 1];
        dispatch(&params, narrow_variant(quads), workgroups)?;
        params.q0 += quads as u32;
    }
    Ok(())
}
