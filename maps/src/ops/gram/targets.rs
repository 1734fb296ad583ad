//! Z'Y on a GPU where targets are few: a column of tiles for them would be mostly padding.

use super::{
    BLOCK_ROWS, GramSums,
    blocks::{TARGETS_SIDE as SIDE, add_blocks},
    partial_block::PartialBlock,
};
use crate::{
    Result,
    device::{
        GpuDevice, Matrix,
        gpu::{Dispatch, PooledBuffer},
    },
    ops::{Binding, Op, Variant, dispatch::narrow},
};
use std::ops::Range;

/// The op for the registry.
pub(crate) static TARGETS_OP: Op = Op {
    name: "gram_targets",
    source: bochner_shaders::GRAM_TARGETS,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("z"),
        Binding::Read("y"),
        Binding::Write("partial"),
    ],
    variants: || QUADS.map(variant).into(),
};

/// Targets of an invocation, in fours.
const QUADS: [usize; 3] = [1, 2, 4];
/// More targets, in fours, are columns of tiles.
const MOST_QUADS: usize = 8;
/// The most that stand beside the tiles.
pub(super) const MOST: usize = 4 * MOST_QUADS;
/// Fours of features of a workgroup, and lanes that share the rows of a block.
const CX: usize = 32;
const LANES: usize = 4;
/// Blocks that are summed at a time, and the bytes of their sums, at most.
const BLOCKS: usize = 16;
const BLOCKS_BYTES: usize = 16 << 20;
const AREA: usize = (SIDE * SIDE) as usize;

fn variant(quads: usize) -> Variant {
    Variant::new([
        ("CX", CX as i64),
        ("LANES", LANES as i64),
        ("Q", quads as i64),
        // As many numbers are on their way in every variant.
        ("UNROLL", 4 / quads as i64),
        ("BLOCK", BLOCK_ROWS as i64),
    ])
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    row0: u32,
    row_end: u32,
    z_stride4: u32,
    y_stride4: u32,
    block_size4: u32,
}

/// How Z'Y lies: row-major, 4 `quads` columns, in runs of `AREA` floats, which have their high
/// parts before their low ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    features: usize,
    targets: usize,
}

impl Layout {
    fn quads(self) -> usize {
        self.targets.div_ceil(4)
    }

    /// Fours of features.
    fn rows4(self) -> usize {
        self.features.div_ceil(4)
    }

    fn tiles(self) -> usize {
        (16 * self.rows4() * self.quads()).div_ceil(AREA)
    }

    /// Bytes of the sums of one block.
    fn bytes(self) -> usize {
        4 * AREA * self.tiles()
    }

    /// Blocks that are summed at a time.
    fn blocks(self) -> usize {
        (BLOCKS_BYTES / self.bytes()).clamp(1, BLOCKS)
    }

    /// Fours of targets of an invocation.
    fn quads_at_once(self) -> usize {
        *QUADS
            .iter()
            .find(|&&q| q >= self.quads())
            .unwrap_or(&QUADS[2])
    }

    /// The workgroups of so many blocks.
    fn groups(self, blocks: usize) -> Result<[u32; 3]> {
        Ok([
            narrow(self.rows4().div_ceil(CX))?,
            narrow(self.quads().div_ceil(self.quads_at_once()))?,
            narrow(blocks)?,
        ])
    }

    /// Adds runs of `AREA` floats to Z'Y, of which each comes `times` times, one after another.
    fn add(self, data: &[f32], times: usize, sums: &mut GramSums) {
        let width = 4 * self.quads();
        for (at, run) in data.chunks_exact(AREA).enumerate() {
            let first = at / times * AREA;
            for (at, &value) in (first..).zip(run) {
                if let Some(sum) = sums.zty_dt.get_mut([at / width, at % width]) {
                    *sum += f64::from(value);
                }
            }
        }
    }
}

/// Running sums of Z'Y: pairs of a high and a low part.
#[derive(Debug)]
pub(super) struct TargetSums {
    layout: Layout,
    sums: PooledBuffer,
    /// Where blocks leave their sums.
    partial: PooledBuffer,
}

impl TargetSums {
    /// Sums of zero; none where targets are so many that tiles suit them.
    pub(super) fn new(gpu: &GpuDevice, features: usize, targets: usize) -> Result<Option<Self>> {
        let layout = Layout { features, targets };
        if layout.quads() > MOST_QUADS {
            return Ok(None);
        }
        let what = || format!("the products of {features} features with {targets} targets");
        let bytes = layout.bytes();
        let sums = Self {
            layout,
            sums: gpu.buffer(2 * bytes as u64, what)?,
            // What no invocation writes of it is added up, too, and never read.
            partial: gpu.buffer((layout.blocks() * bytes) as u64, what)?,
        };
        sums.clear(gpu);
        Ok(Some(sums))
    }

    /// Records that they are zero.
    pub(super) fn clear(&self, gpu: &GpuDevice) {
        gpu.clear(&self.sums, 2 * self.layout.bytes() as u64);
    }

    /// Records the sums of some rows, of whole blocks but for the last.
    pub(super) fn sum(
        &self,
        gpu: &GpuDevice,
        operands: [&Matrix; 2],
        rows: Range<usize>,
    ) -> Result<()> {
        let at_once = self.layout.blocks() * BLOCK_ROWS;
        for row0 in rows.clone().step_by(at_once) {
            let part = row0..rows.end.min(row0 + at_once);
            let blocks = part.len().div_ceil(BLOCK_ROWS);
            self.record(gpu, operands, part)?;
            let (tiles, partial) = (self.layout.tiles(), &self.partial);
            add_blocks(gpu, SIDE, (tiles, blocks), partial, &self.sums)?;
        }
        Ok(())
    }

    /// Records the sums of blocks, one beside the other.
    fn record(&self, gpu: &GpuDevice, [z, y]: [&Matrix; 2], rows: Range<usize>) -> Result<()> {
        let layout = self.layout;
        let params = Params {
            row0: narrow(rows.start)?,
            row_end: narrow(rows.end)?,
            z_stride4: narrow(z.stride() / 4)?,
            y_stride4: narrow(y.stride() / 4)?,
            block_size4: narrow(layout.bytes() / 16)?,
        };
        let quads = layout.quads_at_once();
        let workgroups = layout.groups(rows.len().div_ceil(BLOCK_ROWS))?;
        // Each four of features times each target; or the pass over Z, which memory bounds.
        let each = (8 * quads).max(10) as f64 * f64::from(workgroups[1]);
        gpu.dispatch(&Dispatch {
            op: &TARGETS_OP,
            variant: variant(quads),
            params: bytemuck::bytes_of(&params),
            buffers: &[z.gpu(gpu, "z")?, y.gpu(gpu, "y")?, &self.partial],
            workgroups,
            work: each * (rows.len() * layout.features) as f64,
        })
    }

    /// Adds the sums so far to those on the host, with those of the rows that wait.
    pub(super) async fn read_later(
        &self,
        gpu: &GpuDevice,
        waiting: &PartialBlock,
        sums: &mut GramSums,
    ) -> Result<()> {
        let layout = self.layout;
        let floats = layout.bytes() / 4;
        let added = gpu.read_later(&self.sums, 0..2 * floats)?;
        let rest = match waiting.rows() {
            0 => None,
            rows => {
                self.record(gpu, [&waiting.z_nd, &waiting.y_nt], 0..rows)?;
                Some(gpu.read_later(&self.partial, 0..floats)?)
            }
        };
        layout.add(added.arrive().await?.values(), 2, sums);
        if let Some(rest) = rest {
            layout.add(rest.arrive().await?.values(), 1, sums);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn layout_of(features: usize, targets: usize) -> Layout {
        Layout { features, targets }
    }

    #[test]
    fn a_target_costs_what_it_is() {
        // A tile column of 128 x 128 for one target of 1024, 2048 and 4096 features is 8, 16 and
        // 32 workgroups of 256 invocations, each of which does 128 times the products of a target.
        for (features, expected) in [(1024, 8), (2048, 16), (4096, 32)] {
            for targets in [1, 4] {
                let groups = layout_of(features, targets).groups(1).expect("narrow");
                assert_eq!(groups, [expected, 1, 1], "{features}, {targets}");
            }
        }
        // Invocations, each of 16, 32 or 64 products a row: as many as there are, in fours of
        // features and in 4, 8 or 16 targets.
        let products = |features, targets| {
            let layout = layout_of(features, targets);
            let [x, y, z] = layout.groups(16).expect("narrow");
            let each = 16 * layout.quads_at_once() as u32;
            x * y * z * CX as u32 * each
        };
        assert_eq!(products(1024, 1), 16 * 1024 * 4);
        assert_eq!(products(1024, 7), 16 * 1024 * 8);
        assert_eq!(products(1024, 11), 16 * 1024 * 16);
        assert_eq!(products(1024, 32), 16 * 1024 * 32);
        // Never more than in the narrowest tiles.
        assert!(products(1024, 27) <= 16 * 1024 * 32);
    }

    #[test]
    fn sums_of_blocks_take_little_memory() {
        assert_eq!(
            [layout_of(1024, 1).blocks(), layout_of(65_536, 1).blocks()],
            [16, 16]
        );
        assert_eq!(layout_of(65_536, 32).blocks(), 2);
        assert_eq!(layout_of(1 << 20, 32).blocks(), 1);
    }

    #[test]
    fn every_product_comes_back_to_its_place() {
        for (features, targets) in [(1, 1), (5, 3), (63, 4), (70, 9), (300, 32)] {
            let layout = layout_of(features, targets);
            let width = 4 * layout.quads();
            // The product of row r and column c is 100 r + c, its low part a half; what is beyond
            // the edges is not to be seen.
            let mut data = vec![f32::NAN; 2 * AREA * layout.tiles()];
            for r in 0..features {
                for c in 0..targets {
                    let at = r * width + c;
                    let place = at / AREA * 2 * AREA + at % AREA;
                    data[place] = (100 * r + c) as f32;
                    data[place + AREA] = 0.5;
                }
            }
            let mut sums = GramSums {
                gram_dd: Array2::zeros((features, features)),
                zty_dt: Array2::zeros((features, targets)),
            };
            layout.add(&data, 2, &mut sums);
            for ((r, c), &v) in sums.zty_dt.indexed_iter() {
                assert_eq!(v, (100 * r + c) as f64 + 0.5);
            }
        }
    }
}
