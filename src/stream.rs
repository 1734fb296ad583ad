//! Streaming: chunks are read on a thread of their own while the one before is worked on.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
    device::Reading,
    plan::fewer_rows,
};
use ndarray::ArrayView2;
use std::{collections::VecDeque, ops::Range, sync::mpsc};

/// What long work calls after each chunk with the number of rows done so far.
pub type Progress<'a> = &'a mut dyn FnMut(u64);

/// Rewinds `source` and hands its chunks of at most `rows` rows to `work`, in order, reading one ahead. Returns the number
/// of rows. The first error of either side ends both.
pub fn for_each_chunk(
    source: &mut dyn ChunkSource,
    rows: usize,
    progress: Progress<'_>,
    mut work: impl FnMut(Chunk) -> Result<()>,
) -> Result<u64> {
    source.rewind()?;
    let mut done = 0;
    std::thread::scope(|scope| {
        // Rendezvous: one chunk is read while another is in work, never more.
        let (sender, chunks) = mpsc::sync_channel(0);
        let reader = scope.spawn(move || -> Result<()> {
            while let Some(chunk) = source.next_chunk(rows)? {
                if sender.send(chunk).is_err() {
                    break;
                }
            }
            Ok(())
        });
        for chunk in &chunks {
            done += chunk.x.nrows() as u64;
            if let Err(e) = work(chunk) {
                drop(chunks);
                // The reader ends at its next send; its own error, if any, comes second.
                return Err(e);
            }
            progress(done);
        }
        match reader.join() {
            Ok(result) => result,
            Err(_) => Err(Error::numerical("reading the data panicked")),
        }
    })?;
    Ok(done)
}

/// How many rows are worked on at a time: as planned, or a quarter from when a device first runs out of memory.
#[derive(Debug)]
pub(crate) struct Portions {
    rows: usize,
    planned: bool,
}

impl Portions {
    /// At first as planned.
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            rows,
            planned: true,
        }
    }

    /// The most rows that are worked on at a time from now on.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes a quarter of `rows` from now on if `error` is that a device has no room for those, once; hands any other error
    /// back.
    pub(crate) fn shrink(&mut self, rows: usize, error: Error) -> Result<()> {
        // Buffers for more rows than there are can be for those that there are.
        let fewer = fewer_rows(rows).or((rows < self.rows).then_some(rows));
        match (&error, fewer) {
            (Error::OutOfMemory { .. }, Some(fewer)) if self.planned => {
                log::warn!(
                    "chunks of {fewer} rows instead of {rows}: {}",
                    error.problem()
                );
                (self.rows, self.planned) = (fewer, false);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Hands the rows `0 .. all` to `work` in ranges, each with the most rows that one can have from then on: buffers are for
    /// that many. A range for which `work` finds no room comes again in smaller ones. What `work` gives back is final: in
    /// there rows are counted, and neither come again nor are left out.
    pub(crate) fn each(
        &mut self,
        all: usize,
        mut work: impl FnMut(Range<usize>, usize) -> Result<Result<()>>,
    ) -> Result<()> {
        let mut from = 0;
        while from < all {
            let to = all.min(from + self.rows);
            match work(from..to, self.rows) {
                Ok(counted) => {
                    counted?;
                    from = to;
                }
                Err(error) => self.shrink(to - from, error)?,
            }
        }
        Ok(())
    }
}

/// Matrices on their way to the host, each with what it is needed with. One is waited for while the device works on the next.
#[derive(Debug, Default)]
pub(crate) struct ReadBehind<T>(VecDeque<(Reading, T)>);

impl<T> ReadBehind<T> {
    /// Adds one, and hands those that came before it to `take`.
    pub(crate) fn push(
        &mut self,
        reading: Reading,
        with: T,
        take: impl FnMut(ArrayView2<'_, f32>, T) -> Result<()>,
    ) -> Result<()> {
        self.0.push_back((reading, with));
        self.settle(1, take)
    }

    /// Hands all to `take`.
    pub(crate) fn finish(
        mut self,
        take: impl FnMut(ArrayView2<'_, f32>, T) -> Result<()>,
    ) -> Result<()> {
        self.settle(0, take)
    }

    fn settle(
        &mut self,
        left: usize,
        mut take: impl FnMut(ArrayView2<'_, f32>, T) -> Result<()>,
    ) -> Result<()> {
        while self.0.len() > left {
            if let Some((reading, with)) = self.0.pop_front() {
                reading.finish(|matrix| take(matrix, with))??;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Error {
        Error::OutOfMemory {
            what: "a matrix".into(),
            needed: "2 GB".into(),
            held: "1 GB".into(),
        }
    }

    #[test]
    fn rows_without_room_come_again_in_quarters() {
        let mut portions = Portions::new(64);
        let mut seen = Vec::new();
        let mut room = 64;
        for rows in [64, 64, 40] {
            let work = |range: Range<usize>, most| {
                if most > room {
                    return Err(full());
                }
                assert!(range.len() <= most);
                seen.extend(range);
                room = 16;
                Ok(Ok(()))
            };
            portions.each(rows, work).unwrap();
        }
        let expected: Vec<usize> = (0..64).chain(0..64).chain(0..40).collect();
        assert_eq!(seen, expected);
        assert_eq!(portions.rows(), 16);
    }

    #[test]
    fn a_second_want_of_memory_and_any_other_fault_are_errors() {
        let mut calls = 0;
        let error = Portions::new(64).each(64, |_, _| {
            calls += 1;
            Err(full())
        });
        assert!(matches!(error, Err(Error::OutOfMemory { .. })));
        assert_eq!(calls, 2);
        let error = Portions::new(64).each(64, |_, _| Err(Error::device("other")));
        assert_eq!(error.unwrap_err().to_string(), "other");
        // Once rows are counted they do not come again.
        let mut calls = 0;
        let counted = Portions::new(64).each(64, |_, _| {
            calls += 1;
            Ok(Err(full()))
        });
        assert!(matches!(counted, Err(Error::OutOfMemory { .. })));
        assert_eq!(calls, 1);
        // Buffers for what there is, where they were planned for more.
        let mut most = Vec::new();
        let few = Portions::new(64).each(9, |_, rows| {
            most.push(rows);
            if rows > 9 { Err(full()) } else { Ok(Ok(())) }
        });
        few.unwrap();
        assert_eq!(most, [64, 9]);
        // Eight rows are the least.
        let error = Portions::new(16).each(16, |_, _| Err(full()));
        assert!(matches!(error, Err(Error::OutOfMemory { .. })));
    }
}
