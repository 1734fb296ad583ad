//! How a dispatch is cut among invocations: in tiles or for few rows, and which of a menu an
//! adapter takes.
//!
//! An op hands in its [`Menu`]: what there is to choose from, what is taken until something was
//! measured, and how the ways are raced. Nothing here knows an op.

pub mod contest;
pub mod exchange;
pub mod few;
pub mod menu;
pub mod race;
pub mod registers;
pub mod tile;
pub mod tuning;

pub use contest::Contest;
pub use exchange::Exchange;
pub use menu::{Class, Menu, Race, Shape, Way};
pub use race::Tuned;
pub use registers::Registers;
pub use tile::Tile;

use crate::device::GpuDevice;

/// How a dense op splits its work among invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenseForm {
    /// Workgroups of one shape.
    Tile(Tile),
    /// Few rows: invocations share the depth, and so do this many workgroups.
    Few {
        /// Parts of the depth.
        splits: usize,
    },
    /// Matrix units, of projections alone: products of f16 that are summed in f32.
    Units {
        /// Rows, columns and depths of a fragment.
        side: u32,
    },
}

impl DenseForm {
    /// Its name in benchmark tables.
    pub fn name(&self) -> String {
        match self {
            Self::Tile(tile) => tile.name.into(),
            Self::Few { splits: 1 } => few::NAME.into(),
            Self::Few { splits } => format!("{}/{splits}", few::NAME),
            Self::Units { side } => format!("units-{side}x{side}"),
        }
    }
}

impl From<Tile> for DenseForm {
    fn from(tile: Tile) -> Self {
        Self::Tile(tile)
    }
}

/// The form of a dense op: that of few rows where tiles would leave the adapter idle, else a tile
/// of its menu.
pub fn choose(gpu: &GpuDevice, menu: &Menu<Tile>, shape: Shape) -> DenseForm {
    few::form(gpu, shape).unwrap_or_else(|| menu.choice(gpu, shape).into())
}
