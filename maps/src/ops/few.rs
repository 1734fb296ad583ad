//! Few rows on a GPU, as when a model serves: `z = f(a b)` split over columns and depth, so that
//! one row keeps more than one workgroup busy. Projections, products and predictions of few rows
//! take this form instead of a tile.
//!
//! Columns are split first; the depth among the lanes of a workgroup; and, where columns are few,
//! among workgroups too, whose sums a second pass adds. The order of all sums follows from the
//! shape and the kind of adapter alone.

use super::{
    Binding, Nonlinearity, Op, Variant,
    dispatch::{fold, narrow},
};
use crate::{
    Result,
    device::{GpuDevice, Matrix, gpu::Dispatch},
    form::few::{LANES, ROWS, TX},
};

/// The op for the registry: sums, and features of them where the depth is not split among
/// workgroups.
pub(crate) static OP: Op = Op {
    name: "few",
    source: bochner_shaders::FEW,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("a"),
        Binding::Read("b"),
        Binding::Read("feature"),
        Binding::Write("z"),
    ],
    variants: || {
        let all = ROWS.iter().flat_map(|&rows| {
            let whole = nonlinearities().map(move |f| variant(rows, Stage::Whole(f.as_ref())));
            whole.chain([variant(rows, Stage::Split)])
        });
        all.collect()
    },
};

/// The op for the registry: the sums of all splits, and features of them.
pub(crate) static SUM_OP: Op = Op {
    name: "few_sum",
    source: bochner_shaders::FEW_SUM,
    params_bytes: size_of::<SumParams>(),
    bindings: &[
        Binding::Read("partial"),
        Binding::Read("feature"),
        Binding::Write("z"),
    ],
    variants: || nonlinearities().map(|f| sum_variant(f.as_ref())).collect(),
};

/// All, and `None` for a plain product.
fn nonlinearities() -> impl Iterator<Item = Option<Nonlinearity>> {
    let all = Nonlinearity::examples().into_iter();
    all.map(Some).chain([None])
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth: u32,
    freqs: u32,
    a_stride4: u32,
    b_stride4: u32,
    z_stride: u32,
    row0: u32,
    per_split: u32,
}

/// As [`Params`], of the second pass.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct SumParams {
    rows: u32,
    splits: u32,
    freqs: u32,
    z_stride: u32,
    row0: u32,
}

/// What a workgroup writes: its sums, or what follows from them.
#[derive(Clone, Copy)]
enum Stage<'a> {
    Split,
    Whole(Option<&'a Nonlinearity>),
}

/// The variant with a nonlinearity; 7 is none.
fn with_nonlinearity(f: Option<&Nonlinearity>, variant: Variant) -> Variant {
    match f {
        Some(f) => f.add_to(variant),
        None => variant.with_constant("NONLINEARITY", 7),
    }
}

fn variant(rows: usize, stage: Stage<'_>) -> Variant {
    let (split, f) = match stage {
        Stage::Split => (1, None),
        Stage::Whole(f) => (0, f),
    };
    let form = Variant::new([
        ("R", rows as i64),
        ("TX", TX as i64),
        ("LANES", LANES as i64),
        ("SPLIT", split),
        ("WHOLE", 0),
    ]);
    with_nonlinearity(f, form)
}

fn sum_variant(f: Option<&Nonlinearity>) -> Variant {
    with_nonlinearity(f, Variant::new([("WHOLE", 0)]))
}

/// `z` = the sum over splits of `partial`, `[splits, rows, ceil(cols / 4)]` vec4s.
pub(super) fn add_splits(
    gpu: &GpuDevice,
    partial: &wgpu::Buffer,
    splits: usize,
    z_nt: &Matrix,
) -> Result<()> {
    let sums = Sums {
        partial,
        splits,
        rows: z_nt.rows(),
        cols: z_nt.cols(),
        row0: 0,
    };
    // The phases are bound and not read.
    sums.run(gpu, z_nt, (partial, None))
}

/// The operands of one product.
pub(super) struct FewRows<'a> {
    /// `[rows, depth]`.
    pub(super) a_nk: &'a Matrix,
    /// `[depth, cols]`, perhaps with more rows and columns.
    pub(super) b_kt: &'a Matrix,
    /// Columns of the product.
    pub(super) cols: usize,
    /// Pairs of phase and amplitude, and what is applied to the sums; `None` for a plain product.
    pub(super) features: Option<(&'a Matrix, &'a Nonlinearity)>,
    /// Rows `row0 ..` are written.
    pub(super) z_nt: &'a Matrix,
    /// The first row of z.
    pub(super) row0: usize,
    /// Workgroups among which the depth is split.
    pub(super) splits: usize,
}

impl FewRows<'_> {
    fn params(&self, per_split: usize) -> Result<Params> {
        Ok(Params {
            rows: narrow(self.a_nk.rows())?,
            depth: narrow(self.a_nk.cols())?,
            freqs: narrow(self.cols)?,
            a_stride4: narrow(self.a_nk.stride() / 4)?,
            b_stride4: narrow(self.b_kt.stride() / 4)?,
            z_stride: narrow(self.z_nt.stride())?,
            row0: narrow(self.row0)?,
            per_split: narrow(per_split)?,
        })
    }

    /// Records the product, in one dispatch or two.
    pub(super) fn run(&self, gpu: &GpuDevice) -> Result<()> {
        let (rows, depth, cols) = (self.a_nk.rows(), self.a_nk.cols(), self.cols);
        if rows == 0 || cols == 0 {
            return Ok(());
        }
        // Whole vec4s of depth a split, none of them empty: 5 splits of 3 vec4s are 3 of 1.
        let depth4 = depth.div_ceil(4);
        let per_split = depth4.div_ceil(self.splits.clamp(1, depth4));
        let splits = depth4.div_ceil(per_split);
        let a = self.a_nk.gpu(gpu, "the left factor")?;
        let b = self.b_kt.gpu(gpu, "the right factor")?;
        let z = self.z_nt.gpu(gpu, "z")?;
        let (feature, f) = match self.features {
            Some((feature, f)) => (feature.gpu(gpu, "the phases")?, Some(f)),
            // Bound and not read.
            None => (b, None),
        };
        let scratch = match splits {
            1 => None,
            _ => {
                let bytes = 16 * (splits * rows * cols.div_ceil(4)) as u64;
                Some(gpu.buffer(bytes, || "the sums of few rows".into())?)
            }
        };
        // The least that holds all rows, or else the largest several times.
        let group_rows = ROWS.into_iter().find(|&r| r >= rows).unwrap_or(ROWS[3]);
        // The nonlinearity has to wait for the whole sum.
        let stage = match scratch {
            None => Stage::Whole(f),
            Some(_) => Stage::Split,
        };
        let params = self.params(per_split)?;
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: variant(group_rows, stage),
            params: bytemuck::bytes_of(&params),
            buffers: &[a, b, feature, scratch.as_deref().unwrap_or(z)],
            workgroups: [
                narrow(cols.div_ceil(4 * TX))?,
                narrow(rows.div_ceil(group_rows))?,
                narrow(splits)?,
            ],
            work: 2.0 * (rows * depth) as f64 * cols as f64,
        })?;
        let Some(scratch) = scratch else {
            return Ok(());
        };
        let sums = Sums {
            partial: &scratch,
            splits,
            rows,
            cols,
            row0: self.row0,
        };
        sums.run(gpu, self.z_nt, (feature, f))
    }
}

/// Sums of parts, to be added up.
struct Sums<'a> {
    partial: &'a wgpu::Buffer,
    splits: usize,
    rows: usize,
    cols: usize,
    row0: usize,
}

impl Sums<'_> {
    fn run(
        &self,
        gpu: &GpuDevice,
        z_nt: &Matrix,
        (feature, f): (&wgpu::Buffer, Option<&Nonlinearity>),
    ) -> Result<()> {
        let params = SumParams {
            rows: narrow(self.rows)?,
            splits: narrow(self.splits)?,
            freqs: narrow(self.cols)?,
            z_stride: narrow(z_nt.stride())?,
            row0: narrow(self.row0)?,
        };
        let quads = narrow(self.rows * self.cols.div_ceil(4))?;
        gpu.dispatch(&Dispatch {
            op: &SUM_OP,
            variant: sum_variant(f),
            params: bytemuck::bytes_of(&params),
            buffers: &[self.partial, feature, z_nt.gpu(gpu, "z")?],
            workgroups: fold(quads.div_ceil(64)),
            work: 10.0 * (self.splits * self.rows) as f64 * self.cols as f64,
        })
    }
}
