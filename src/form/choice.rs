//! What a class may choose.

use crate::{Result, device::GpuDevice, form::tile::Tile, ops::walsh_hadamard::Exchange};
use std::fmt;

/// One way among those that give the same results: known by its name, to people and on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The tile of a dense op.
    Tile(Tile),
    /// The exchange of a transform's rows.
    Exchange(Exchange),
}

impl Choice {
    /// Its name in benchmark tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tile(tile) => tile.name,
            Self::Exchange(exchange) => exchange.name(),
        }
    }

    /// Errors with [`crate::Error::Unsupported`] where the adapter cannot.
    pub(super) fn check(&self, gpu: &GpuDevice) -> Result<()> {
        match self {
            Self::Tile(_) => Ok(()),
            Self::Exchange(exchange) => exchange.check(gpu),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
