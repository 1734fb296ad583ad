//! How a dispatch is cut among invocations: the tile shapes, few rows, and which of them an adapter
//! takes.

pub mod few;
pub mod tile;
pub mod tuning;

mod choice;
mod trial;
