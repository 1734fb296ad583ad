//! Results on their way to the host, one chunk late, so that the device works meanwhile.

use crate::{Result, device::Reading, wait::wait};
use ndarray::ArrayView2;
use std::collections::VecDeque;

/// Matrices on their way to the host, those of one portion of rows together, each portion with what
/// it is needed with. One portion is waited for while the device works on the next.
#[derive(Debug)]
pub(crate) struct ReadBehind<T>(VecDeque<(Vec<Reading>, T)>);

impl<T> Default for ReadBehind<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> ReadBehind<T> {
    /// Portions that are on their way at most, while the next is sent: [`super::RowNeeds`] counts
    /// their buffers.
    pub(crate) const AT_ONCE: usize = 2;

    /// Adds a portion, and hands those that came before it to `take`.
    pub(crate) fn push(
        &mut self,
        readings: Vec<Reading>,
        with: T,
        take: impl FnMut(&[ArrayView2<'_, f32>], T) -> Result<()>,
    ) -> Result<()> {
        self.0.push_back((readings, with));
        // A page cannot wait here: there all portions are on their way until it does.
        match cfg!(target_family = "wasm") {
            true => Ok(()),
            false => wait(self.settle(Self::AT_ONCE - 1, take)),
        }
    }

    /// Hands all to `take`.
    pub(crate) fn finish(
        self,
        take: impl FnMut(&[ArrayView2<'_, f32>], T) -> Result<()>,
    ) -> Result<()> {
        wait(self.finish_later(take))
    }

    /// As [`Self::finish`], in a browser too.
    pub(crate) async fn finish_later(
        mut self,
        take: impl FnMut(&[ArrayView2<'_, f32>], T) -> Result<()>,
    ) -> Result<()> {
        self.settle(0, take).await
    }

    async fn settle(
        &mut self,
        left: usize,
        mut take: impl FnMut(&[ArrayView2<'_, f32>], T) -> Result<()>,
    ) -> Result<()> {
        while self.0.len() > left {
            if let Some((readings, with)) = self.0.pop_front() {
                let mut arrived = Vec::with_capacity(readings.len());
                for reading in readings {
                    arrived.push(reading.arrive().await?);
                }
                let views: Vec<_> = arrived.iter().map(|a| a.view()).collect();
                take(&views, with)?;
            }
        }
        Ok(())
    }
}
