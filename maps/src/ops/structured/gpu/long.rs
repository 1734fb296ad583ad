//! Rows longer than workgroup memory: steps with Walsh-Hadamard passes between.

use super::{Tables, buffers, packed};
use crate::{
    Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    form::Registers,
    ops::{
        Binding, Op, Variant,
        dispatch::{moved, narrow},
        structured::{
            form,
            map::{Mixing, StructuredMap},
        },
        walsh_hadamard::{
            LOG_STRIDED, LOG_WHOLE, RowLayout, WalshHadamard, columns, of_both, strided_invocations,
        },
    },
};
use std::ops::Range;

/// The steps for longer rows, for the registry.
pub(crate) static STAGE_OP: Op = Op {
    name: "structured_stage",
    source: bochner_shaders::STRUCTURED_STAGE,
    params_bytes: size_of::<StageParams>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("signs"),
        Binding::Read("permutation"),
        Binding::Read("diagonal"),
        Binding::Read("feature"),
        Binding::Write("y"),
    ],
    variants: || of_both(stage_forms),
};

/// As [`forms`], of the steps for longer rows.
pub(crate) fn stage_forms(registers: Registers) -> Vec<Variant> {
    let stages = [
        Stage::Spread,
        Stage::Mix(false),
        Stage::Mix(true),
        Stage::Sign,
    ];
    let finishes = (1..=LOG_STRIDED).flat_map(|k| [0, 1].map(|form| Stage::Finish(k, form)));
    stages
        .into_iter()
        .chain(finishes)
        .map(|stage| stage.variant(registers))
        .collect()
}

/// Scratch of longer rows, per matrix.
const SCRATCH_BYTES: usize = 32 << 20;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct StageParams {
    n: u32,
    x_row0: u32,
    y_row0: u32,
    depth: u32,
    x_stride4: u32,
    y_stride: u32,
    freqs: u32,
    block: u32,
    sign_at: u32,
    inner4: u32,
    amplitude: f32,
}

/// One pass of `structured_stage.wgsl`.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// Signs of x, and the levels within parts of 2^12.
    Spread,
    /// Permutation and diagonal, and those levels; whether indices are packed two a word.
    Mix(bool),
    /// Signs, and those levels.
    Sign,
    /// The last so many levels, and the features in this form.
    Finish(u32, i64),
}

impl Stage {
    fn variant(self, registers: Registers) -> Variant {
        let whole = RowLayout::new(LOG_WHOLE, registers)
            .variant()
            .with_constant("COLUMNS", 4);
        let (stage, packed, form, layout) = match self {
            Self::Spread => (0, 0, 0, whole),
            Self::Mix(packed) => (1, packed.into(), 0, whole),
            Self::Sign => (2, 0, 0, whole),
            Self::Finish(levels_of, form) => {
                let levels = ["LOG_N", "LOG_E"].map(|name| (name, levels_of.into()));
                let columns = columns(levels_of, registers).into();
                (
                    3,
                    0,
                    form,
                    Variant::new(levels).with_constant("COLUMNS", columns),
                )
            }
        };
        let layout = layout
            .with_constant("STAGE", stage)
            .with_constant("PACKED", packed);
        layout.with_constant("FORM", form)
    }
}

/// Rows longer than workgroup memory: two scratch matrices, some rows and one block at a time.
pub(super) fn run(
    map: &StructuredMap,
    tables: &Tables,
    x_nd: &Matrix,
    row0: usize,
    z_nd: &mut Matrix,
) -> Result<()> {
    let gpu = &tables.gpu;
    let n = map.padded;
    let rows = z_nd.rows();
    // The y of a grid counts rows: 65,535 at most.
    let most = (SCRATCH_BYTES / (4 * n)).clamp(1, 65_535);
    let device = Device::Gpu(gpu.clone());
    let mut u = Matrix::new(&device, most.min(rows), n)?;
    let mut v = Matrix::new(&device, most.min(rows), n)?;
    let strided = Strided::new(gpu, n)?;
    for first in (0..rows).step_by(most) {
        let batch = most.min(rows - first);
        u.set_rows(batch)?;
        v.set_rows(batch)?;
        for block in 0..map.blocks() {
            let stages = Stages {
                map,
                tables,
                row0,
                rows: first..first + batch,
                block,
                last: strided.last,
            };
            stages.record_block((x_nd, z_nd), (&u, &v), &strided)?;
        }
    }
    Ok(())
}

/// The stages of a block of some rows that are longer than workgroup memory.
struct Stages<'a> {
    map: &'a StructuredMap,
    tables: &'a Tables,
    /// The first row of x.
    row0: usize,
    /// These rows behind it, which are the first of z and of the scratch matrices.
    rows: Range<usize>,
    block: usize,
    /// The last pass of a transform: the levels that are done, and those of the pass.
    last: (u32, u32),
}

impl Stages<'_> {
    /// Records a stage from x to y, by these signs.
    fn record(&self, stage: Stage, (x, y): (&Matrix, &Matrix), sign_row: usize) -> Result<()> {
        let Self { map, tables, .. } = self;
        let registers = tables.registers;
        let (n, (done, levels)) = (map.padded, self.last);
        // x and z are the caller's, of all rows; the scratch matrices hold this batch alone.
        let (mut at_x, mut at_y) = (0, 0);
        let parts = narrow(n >> LOG_WHOLE)?;
        let workgroups = match stage {
            Stage::Spread => {
                at_x = self.row0 + self.rows.start;
                parts
            }
            Stage::Mix(_) | Stage::Sign => parts,
            Stage::Finish(..) => {
                at_y = self.rows.start;
                strided_invocations(n.trailing_zeros(), levels, registers).div_ceil(64)
            }
        };
        let params = StageParams {
            n: narrow(n)?,
            x_row0: narrow(at_x)?,
            y_row0: narrow(at_y)?,
            depth: narrow(map.depth)?,
            x_stride4: narrow(x.stride() / 4)?,
            y_stride: narrow(y.stride())?,
            freqs: narrow(map.freqs())?,
            block: narrow(self.block)?,
            sign_at: narrow(sign_row * map.signs.ncols())?,
            inner4: 1 << (done - 2),
            amplitude: map.amplitude,
        };
        tables.gpu.dispatch(&Dispatch {
            op: &STAGE_OP,
            variant: stage.variant(registers),
            params: bytemuck::bytes_of(&params),
            buffers: &buffers(tables, x, y)?,
            workgroups: [workgroups, narrow(self.rows.len())?, 1],
            work: moved(y),
        })
    }

    /// Records all stages, from x to z by two scratch matrices.
    fn record_block(
        &self,
        (x_nd, z_nd): (&Matrix, &Matrix),
        (u, v): (&Matrix, &Matrix),
        strided: &Strided<'_>,
    ) -> Result<()> {
        let step = |stage, x: &Matrix, y: &Matrix, row| self.record(stage, (x, y), row);
        let (_, levels) = self.last;
        let finish = Stage::Finish(levels, form(&self.map.nonlinearity));
        match self.map.mixing {
            Mixing::Fastfood { .. } => {
                step(Stage::Spread, x_nd, u, self.block)?;
                strided.all(u)?;
                // A permutation reads where others would write: it cannot stay in place, so
                // that u and v take turns.
                step(Stage::Mix(packed(self.map.padded)), u, v, 0)?;
                strided.but_last(v)?;
                step(finish, v, z_nd, 0)?;
            }
            Mixing::Sorf => {
                step(Stage::Spread, x_nd, u, 3 * self.block)?;
                strided.all(u)?;
                // No buffer may be bound to be read and to be written: signs change the matrix
                // too.
                step(Stage::Sign, u, v, 3 * self.block + 1)?;
                strided.all(v)?;
                step(Stage::Sign, v, u, 3 * self.block + 2)?;
                strided.but_last(u)?;
                step(finish, u, z_nd, 0)?;
            }
        }
        Ok(())
    }
}

/// Levels that lie far apart, in place; levels within parts of 2^12 are in the stages.
struct Strided<'a> {
    gpu: &'a GpuDevice,
    transform: WalshHadamard,
    /// The passes but for the last, which ends in the features where it is that of the last
    /// transform: the levels that are done, and those of the pass.
    passes: Vec<(u32, u32)>,
    last: (u32, u32),
}

impl<'a> Strided<'a> {
    fn new(gpu: &'a GpuDevice, n: usize) -> Result<Self> {
        let transform = WalshHadamard::new(n)?;
        let mut passes: Vec<(u32, u32)> = transform.strided_passes().collect();
        let last = passes.pop().expect("longer than one dispatch takes");
        Ok(Self {
            gpu,
            transform,
            passes,
            last,
        })
    }

    fn but_last(&self, y: &Matrix) -> Result<()> {
        let mut passes = self.passes.iter();
        passes.try_for_each(|&pass| self.transform.strided(self.gpu, pass, y))
    }

    fn all(&self, y: &Matrix) -> Result<()> {
        self.but_last(y)?;
        self.transform.strided(self.gpu, self.last, y)
    }
}
