//! Tile shapes: how the dense ops split a matrix product among invocations.

use crate::device::gpu::shader::Constants;

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

    /// The constants that shaders expand with.
    pub fn constants(&self) -> Constants {
        [
            ("TX", self.tx),
            ("TY", self.ty),
            ("TM", self.tm),
            ("TN", self.tn),
            ("BK", self.bk),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), i64::from(value)))
        .collect()
    }
}

/// How a dense op splits its work among invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Workgroups of one shape.
    Tile(Tile),
    /// Few columns of a product: neighbours share a row of the left factor.
    Narrow,
    /// Few rows: invocations share the depth, and so do this many workgroups.
    Few {
        /// Parts of the depth.
        splits: usize,
    },
}

impl Form {
    /// Its name in benchmark tables.
    pub fn name(&self) -> String {
        match self {
            Self::Tile(tile) => tile.name.into(),
            Self::Narrow => "narrow".into(),
            Self::Few { splits: 1 } => "few-rows".into(),
            Self::Few { splits } => format!("few-rows/{splits}"),
        }
    }
}

impl Form {
    /// Parts of the depth of a form for few rows; one of any other.
    pub(crate) fn splits(form: Option<Self>) -> usize {
        match form {
            Some(Self::Few { splits }) => splits,
            _ => 1,
        }
    }
}

impl From<Tile> for Form {
    fn from(tile: Tile) -> Self {
        Self::Tile(tile)
    }
}

/// For GPUs with few units, and for few rows: many small workgroups.
pub const SHARED_32: Tile = Tile {
    name: "shared-32x32",
    tx: 8,
    ty: 8,
    tm: 4,
    tn: 4,
    bk: 16,
};

/// 32 products an invocation: where 64 spill, as on Apple's GPUs, and where registers bound the
/// threads in flight.
pub const SHARED_64_HALF: Tile = Tile {
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
};

/// Twice as many rows.
pub const SHARED_128_64: Tile = Tile {
    name: "shared-128x64",
    ty: 16,
    ..SHARED_64
};

/// For large GPUs: every value loaded is used 128 times. Takes all of the 16 KiB of workgroup
/// memory and of the 256 invocations that every adapter has.
pub const SHARED_128: Tile = Tile {
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
};

/// As [`DIRECT_8X64`], with square tiles, for Gram matrices.
pub const DIRECT_64: Tile = Tile {
    name: "direct-64x64",
    ty: 8,
    ..DIRECT_8X64
};

/// The shapes of projections and products; every one is validated and checked against the
/// reference.
///
/// All of them sum over depth in the same order. Where a driver neither contracts nor reassociates
/// what a shader says, they give the same bits on one device; elsewhere the last places may differ.
pub const MENU: &[Tile] = &[
    SHARED_64,
    SHARED_32,
    SHARED_64_HALF,
    SHARED_128_64,
    SHARED_128,
    DIRECT_8X64,
];

/// The shapes of fused predictions. Each sums features in eight lanes, in one order too; 128 x 128
/// has sixteen.
pub const PREDICT_MENU: &[Tile] = &[
    SHARED_64,
    SHARED_32,
    SHARED_64_HALF,
    SHARED_128_64,
    DIRECT_8X64,
];

/// The square shapes, of Gram matrices.
pub const SQUARE_MENU: &[Tile] = &[SHARED_64, SHARED_32, SHARED_64_HALF, SHARED_128, DIRECT_64];
