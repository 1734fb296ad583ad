//! Tile shapes: how the dense ops split a matrix product among invocations.

use crate::device::{GpuDevice, gpu::shader::Constants};

/// A workgroup of `tx` x `ty` invocations, each of which keeps `tm` rows by `tn` columns of the product in registers.
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

/// For GPUs: 64 x 64 through workgroup memory.
pub const SHARED_64: Tile = Tile {
    name: "shared-64x64",
    tx: 8,
    ty: 8,
    tm: 8,
    tn: 8,
    bk: 16,
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

/// All shapes; every one is validated and checked against the reference.
pub const MENU: &[Tile] = &[SHARED_64, DIRECT_8X64];

/// The shape for an adapter.
pub fn choose(gpu: &GpuDevice) -> Tile {
    if gpu.is_software() {
        DIRECT_8X64
    } else {
        SHARED_64
    }
}
