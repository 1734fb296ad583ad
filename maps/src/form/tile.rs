//! Tile shapes: how the dense ops split a matrix product among invocations.

use super::{Class, Shape, Way};
use crate::{
    Error, Result,
    device::{
        GpuDevice,
        gpu::{AdapterKind, op::Variant},
    },
};

/// A workgroup of `tx` x `ty` invocations, each of which keeps `tm` rows by `tn` columns of the
/// product in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Its name in benchmark tables.
    pub name: &'static str,
    /// Invocations along the columns.
    pub tx: u32,
    /// Invocations along the rows.
    pub ty: u32,
    /// Rows an invocation keeps.
    pub tm: u32,
    /// Columns an invocation keeps, a multiple of four.
    pub tn: u32,
    /// Depth of a stage in workgroup memory; zero reads operands straight from the buffers.
    pub bk: u32,
    /// Depths of a stage that are written out, a divisor of `bk`: no driver that was seen unrolls
    /// them all by itself.
    pub unroll: u32,
    /// Whether 32 neighbours are 4 rows of 8 where they would be 2 of 16: they then ask workgroup
    /// memory for fewer places.
    pub lanes_4x8: bool,
    /// Whether values of one depth are loaded before the multiply-adds of the depth before; all of
    /// a stage is then written out.
    pub ahead: bool,
    /// Stages that workgroup memory holds: with two of them invocations wait for each other once a
    /// stage, with one twice.
    pub stages: u32,
    /// Rows of tiles that workgroups with neighbouring numbers share, or none: they then go along
    /// one row. Gram sums have an order of their own.
    pub band: u32,
}

impl Tile {
    /// Rows of a workgroup's tile.
    pub const fn rows(&self) -> u32 {
        self.ty * self.tm
    }

    /// Columns of a workgroup's tile.
    pub const fn cols(&self) -> u32 {
        self.tx * self.tn
    }

    /// Bytes of workgroup memory that the stages of a product take.
    pub const fn workgroup_bytes(&self) -> u32 {
        4 * self.stages * self.bk * (self.rows() + self.cols())
    }

    /// The same shape with fewer depths written out.
    const fn with_unroll(self, unroll: u32, name: &'static str) -> Self {
        Self {
            name,
            unroll,
            ..self
        }
    }

    /// The constants that shaders of tiles expand with; an op adds its own.
    pub(crate) fn variant(&self) -> Variant {
        let constants = [
            ("TX", self.tx),
            ("TY", self.ty),
            ("TM", self.tm),
            ("TN", self.tn),
            ("BK", self.bk),
            ("UNROLL", self.unroll),
            ("LANES48", self.lanes_4x8.into()),
            ("AHEAD", self.ahead.into()),
            ("STAGES", self.stages),
            ("BAND", self.band),
        ];
        Variant::new(constants.map(|(name, value)| (name, value.into())))
    }

    /// The shape that a variant of a shader has, if any.
    pub fn from_variant(variant: &Variant) -> Option<Self> {
        let mut all = MENU.iter().chain([&DIRECT_64]).copied();
        let is = |tile: &Self| {
            let own = tile.variant();
            variant.constants().starts_with(own.constants())
        };
        all.find(is)
    }
}

impl Way for Tile {
    fn name(&self) -> &'static str {
        self.name
    }

    fn check(&self, gpu: &GpuDevice) -> Result<()> {
        let (needed, there) = (self.workgroup_bytes(), gpu.report().workgroup_bytes);
        if needed <= there {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "{} needs {needed} bytes of workgroup memory; {} has {there}",
            self.name,
            gpu.describe()
        )))
    }
}

/// For GPUs with few units, and for few rows: many small workgroups.
pub(crate) const SHARED_32: Tile = Tile {
    name: "shared-32x32",
    tx: 8,
    ty: 8,
    tm: 4,
    tn: 4,
    bk: 16,
    unroll: 16,
    lanes_4x8: false,
    ahead: false,
    stages: 1,
    band: 0,
};

/// 32 products an invocation: where 64 spill, as on Apple's GPUs, and where registers bound the
/// threads in flight.
pub(crate) const SHARED_64_HALF: Tile = Tile {
    name: "shared-64x64-4x8",
    ty: 16,
    tm: 4,
    ..SHARED_64
};

/// 64 x 64 through workgroup memory, 64 products an invocation.
pub const SHARED_64: Tile = Tile {
    name: "shared-64x64",
    tx: 8,
    ty: 8,
    tm: 8,
    tn: 8,
    bk: 16,
    unroll: 16,
    lanes_4x8: false,
    ahead: false,
    stages: 1,
    band: 0,
};

/// Twice as many rows.
pub(crate) const SHARED_128_64: Tile = Tile {
    name: "shared-128x64",
    ty: 16,
    ..SHARED_64
};

/// For large GPUs: every value loaded is used 128 times. Takes all of the 16 KiB of workgroup
/// memory and of the 256 invocations that every adapter has.
pub(crate) const SHARED_128: Tile = Tile {
    name: "shared-128x128",
    tx: 16,
    ty: 16,
    ..SHARED_64
};

/// For software adapters, where workgroup memory is ordinary memory and a barrier costs a loop.
pub const DIRECT_8X64: Tile = Tile {
    name: "direct-8x64",
    tx: 8,
    ty: 1,
    tm: 8,
    tn: 8,
    bk: 0,
    unroll: 1,
    lanes_4x8: false,
    ahead: false,
    stages: 1,
    band: 0,
};

/// As [`DIRECT_8X64`], with square tiles, for Gram matrices.
pub const DIRECT_64: Tile = Tile {
    name: "direct-64x64",
    ty: 8,
    ..DIRECT_8X64
};

/// Shapes with fewer depths written out: what that saves in registers and code may be worth more
/// than what it costs in instructions. Beyond 128 registers NVIDIA's GPUs run fewer threads at a
/// time, beyond some kilobytes of code every GPU waits for it.
pub(crate) const SHARED_64_BY_1: Tile = SHARED_64.with_unroll(1, "shared-64x64-k1");
/// See [`SHARED_64_BY_1`].
pub(crate) const SHARED_64_BY_4: Tile = SHARED_64.with_unroll(4, "shared-64x64-k4");
/// See [`SHARED_64_BY_1`].
pub(crate) const SHARED_64_HALF_BY_1: Tile = SHARED_64_HALF.with_unroll(1, "shared-64x64-4x8-k1");
/// See [`SHARED_64_BY_1`].
pub(crate) const SHARED_64_HALF_BY_4: Tile = SHARED_64_HALF.with_unroll(4, "shared-64x64-4x8-k4");
/// See [`SHARED_64_BY_1`].
pub(crate) const SHARED_128_BY_1: Tile = SHARED_128.with_unroll(1, "shared-128x128-k1");
/// See [`SHARED_64_BY_1`].
pub(crate) const SHARED_128_BY_4: Tile = SHARED_128.with_unroll(4, "shared-128x128-k4");

/// As [`SHARED_128`], with lanes in 4 rows of 8; those of narrower tiles are.
pub(crate) const SHARED_128_LANES: Tile = Tile {
    name: "shared-128x128-lanes",
    lanes_4x8: true,
    ..SHARED_128
};

/// As [`SHARED_128_LANES`], with values of a depth loaded before the depth before is worked on:
/// where few threads are in flight, nothing else hides the time that workgroup memory takes.
pub(crate) const SHARED_128_AHEAD: Tile = Tile {
    name: "shared-128x128-ahead",
    ahead: true,
    ..SHARED_128_LANES
};

/// As [`SHARED_128_LANES`], with two stages that take turns and half of the barriers. Takes 32 KiB
/// of workgroup memory.
pub(crate) const SHARED_128_TWO: Tile = Tile {
    name: "shared-128x128-two",
    stages: 2,
    ..SHARED_128_LANES
};

/// As [`SHARED_128_TWO`], and ahead from one stage into the next: nobody waits for what was brought
/// last.
pub(crate) const SHARED_128_TWO_AHEAD: Tile = Tile {
    name: "shared-128x128-two-ahead",
    ahead: true,
    ..SHARED_128_TWO
};

/// As [`SHARED_128_LANES`], in bands of eight rows of tiles: for second operands that are larger
/// than an adapter's cache.
pub(crate) const SHARED_128_BANDS: Tile = Tile {
    name: "shared-128x128-bands",
    band: 8,
    ..SHARED_128_LANES
};

/// The shapes of projections and products; every one is validated and checked against the
/// reference.
///
/// All of them sum over depth in the same order. Where a driver neither contracts nor reassociates
/// what a shader says, they give the same bits on one device; elsewhere the last places may differ.
/// Adapters without the workgroup memory that a shape takes do not have it ([`Way::check`]).
pub const MENU: &[Tile] = &[
    SHARED_64,
    SHARED_32,
    SHARED_64_HALF,
    SHARED_128_64,
    SHARED_128,
    SHARED_64_BY_1,
    SHARED_64_BY_4,
    SHARED_64_HALF_BY_1,
    SHARED_64_HALF_BY_4,
    SHARED_128_BY_1,
    SHARED_128_BY_4,
    SHARED_128_LANES,
    SHARED_128_AHEAD,
    SHARED_128_TWO,
    SHARED_128_TWO_AHEAD,
    SHARED_128_BANDS,
    DIRECT_8X64,
];

/// The shapes of fused predictions. Through workgroup memory they sum features in strips of 32
/// frequencies, in one order; a strip of 128 x 128 would have 64, and no room there. Straight from
/// the buffers they sum in eight lanes, as suits software adapters.
pub const PREDICT_MENU: &[Tile] = &[
    SHARED_64,
    SHARED_32,
    SHARED_64_HALF,
    SHARED_128_64,
    SHARED_64_BY_1,
    SHARED_64_BY_4,
    SHARED_64_HALF_BY_1,
    SHARED_64_HALF_BY_4,
    DIRECT_8X64,
];

/// The square shapes, of Gram matrices.
pub const SQUARE_MENU: &[Tile] = &[
    SHARED_64,
    SHARED_32,
    SHARED_64_HALF,
    SHARED_128,
    SHARED_64_BY_1,
    SHARED_64_BY_4,
    SHARED_64_HALF_BY_1,
    SHARED_64_HALF_BY_4,
    SHARED_128_BY_1,
    SHARED_128_BY_4,
    SHARED_128_LANES,
    SHARED_128_AHEAD,
    SHARED_128_TWO,
    SHARED_128_TWO_AHEAD,
    DIRECT_64,
];

/// Shapes that together take every branch of the shaders' text: operands straight from the buffers
/// and through workgroup memory, each number of rows and columns in registers, stages that are
/// written out whole, in part and not at all, lanes, values ahead, two stages, both, bands.
pub(crate) const BRANCHES: &[Tile] = &[
    SHARED_32,
    SHARED_64_BY_1,
    SHARED_64_HALF_BY_4,
    SHARED_128_AHEAD,
    SHARED_128_TWO,
    SHARED_128_TWO_AHEAD,
    SHARED_128_BANDS,
    DIRECT_8X64,
    DIRECT_64,
];

/// Sums of more terms than this are long for a tile: they pay for its stages in workgroup memory.
pub(crate) const DEEP: usize = 64;

/// The shape of projections and products until something was measured. On an H200, the one GPU that
/// has raced them, those of a discrete one are within 4 % of the fastest for large work and within
/// 15 % for small work, where 32 x 32 was faster; others may have fewer cores to fill. Elsewhere
/// 128 x 128 loads least where there is enough work for it, 32 sums an invocation suit GPUs with
/// few registers (64 spill on Apple's), a stage that is all written out has the most multiply-adds
/// among its instructions on every compiler that was asked (docs/performance.md), and without
/// workgroup memory of their own software adapters are faster straight from the buffers.
pub fn usual(kind: AdapterKind, class: Class) -> Tile {
    match kind {
        AdapterKind::Software => DIRECT_8X64,
        AdapterKind::Integrated if !class.large => SHARED_32,
        AdapterKind::Integrated => SHARED_64_HALF,
        _ if class.large && class.deep => SHARED_128,
        _ => SHARED_64_HALF,
    }
}

/// The shape that stands for a class of projections and products when tiles are raced on an
/// adapter: of the large ones, several waves of workgroups in every tile shape, or the race would
/// tell how well one wave happens to fit.
pub(crate) fn raced(kind: AdapterKind, class: Class) -> Shape {
    let depth = if class.deep { 256 } else { 32 };
    let (rows, cols) = match (class.large, kind) {
        // Thousands of times slower: less of the same.
        (true, AdapterKind::Software) => (128, 1024),
        (false, AdapterKind::Software) => (32, 256),
        (true, AdapterKind::Discrete | AdapterKind::Virtual) => (4096, 4096),
        (true, _) => (2048, 4096),
        (false, _) => (512, 1024),
    };
    Shape { rows, depth, cols }
}

#[cfg(test)]
mod tests;
