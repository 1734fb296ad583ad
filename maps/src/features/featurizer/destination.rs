//! Where what comes off the branches goes.

use crate::{Matrix, Result, data::Chunk};
use ndarray::ArrayView2;
use std::ops::Range;

/// Where what comes off the branches is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Destination {
    /// On the device, beside so many columns of targets: [`super::Featurizer::on_device`].
    Device { beside: usize },
    /// On the host: [`super::Featurizer::on_host`] and [`super::Featurizer::rows`].
    Host,
}

/// What stands at the end of the road for work that stays on the device: sums.
#[doc(hidden)]
pub trait OnDevice {
    /// Hears of a chunk before its rows are on the device. Returns how many of its first rows are
    /// left out.
    fn begin(&mut self, chunk: &Chunk) -> Result<usize>;

    /// What goes to the device beside the features of some rows, counted from the first that is not
    /// left out, `[rows, beside]`.
    fn columns_beside(&self, rows: Range<usize>) -> ArrayView2<'_, f32>;

    /// Counts those rows, whose features and targets are on the device.
    /// It may change the features: nobody looks at them afterwards.
    fn count(&mut self, rows: Range<usize>, z_nd: &mut Matrix, y_nt: &Matrix) -> Result<()>;
}

/// Where features go on the host, each row to its place.
pub(crate) trait HostRows {
    /// Hears of a chunk before its rows come. An error ends the stream.
    fn chunk(&mut self) -> Result<()> {
        Ok(())
    }

    /// The memory of some rows, if it holds f32 row after row.
    fn lend(&mut self, rows: Range<usize>) -> Option<&mut [f32]>;

    /// Whether nobody reads what it lends before it would have left the caches of this core.
    fn is_past_caches(&self) -> bool {
        false
    }

    /// Hears that the features of the rows are in the memory that it lent for them.
    fn filled(&mut self) -> Result<()> {
        Ok(())
    }

    /// Takes the features of some rows, `[rows, D]`.
    fn take(&mut self, rows: Range<usize>, z_nd: ArrayView2<'_, f32>) -> Result<()>;
}
