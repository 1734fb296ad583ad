//! Results on their way to the host, one chunk late, so that the device works meanwhile.

use crate::{Result, device::Reading, wait::wait};
use ndarray::ArrayView2;
use std::{collections::VecDeque, ops::Range};

/// Takes the matrices of a portion on the host, and which rows they are of. It is called once a
/// portion, hence not generic: all that reads back shares one way there.
pub(crate) type Take<'t> = dyn FnMut(&[ArrayView2<'_, f32>], Range<usize>) -> Result<()> + 't;

/// Matrices on their way to the host, those of one portion of rows together, each portion with its
/// rows. One portion is waited for while the device works on the next.
#[derive(Debug, Default)]
pub(crate) struct ReadBehind(VecDeque<(Vec<Reading>, Range<usize>)>);

impl ReadBehind {
    /// Portions that are on their way at most, while the next is sent: [`super::RowNeeds`] counts
    /// their buffers.
    pub(crate) const AT_ONCE: usize = 2;

    /// Adds a portion, and hands those that came before it to `take`.
    pub(crate) fn push(
        &mut self,
        readings: Vec<Reading>,
        rows: Range<usize>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        self.0.push_back((readings, rows));
        // A page cannot wait here: there all portions are on their way until it does.
        if cfg!(target_family = "wasm") {
            Ok(())
        } else {
            wait(self.settle(Self::AT_ONCE - 1, take))
        }
    }

    /// Hands all to `take`.
    pub(crate) fn finish(self, take: &mut Take<'_>) -> Result<()> {
        wait(self.finish_later(take))
    }

    /// As [`Self::finish`], in a browser too.
    pub(crate) async fn finish_later(mut self, take: &mut Take<'_>) -> Result<()> {
        self.settle(0, take).await
    }

    async fn settle(&mut self, left: usize, take: &mut Take<'_>) -> Result<()> {
        while self.0.len() > left {
            if let Some((readings, rows)) = self.0.pop_front() {
                let mut arrived = Vec::with_capacity(readings.len());
                for reading in readings {
                    arrived.push(reading.arrive().await?);
                }
                let views: Vec<_> = arrived.iter().map(|a| a.view()).collect();
                take(&views, rows)?;
            }
        }
        Ok(())
    }
}
