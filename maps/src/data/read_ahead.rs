//! Reading: chunks come from a thread of their own, one ahead of the one in work, and checked.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, next_checked},
    error::Remedy,
};
use std::{any::Any, sync::mpsc, thread};

/// Rewinds `source` and hands its chunks of at most `rows` rows to `work`, in order, reading one
/// ahead. Returns the number of rows. The first error of either side ends both.
///
/// Errors on a chunk that is not what [`ChunkSource`] promises: other columns, targets of other
/// rows, a value that is not finite.
pub fn for_each_chunk(
    source: &mut dyn ChunkSource,
    rows: usize,
    work: impl FnMut(Chunk) -> Result<()>,
) -> Result<u64> {
    watch_chunks(source, rows, |_| {}, work)
}

/// As [`for_each_chunk`]; `hear` gets the number of rows done after each chunk.
pub fn watch_chunks(
    source: &mut dyn ChunkSource,
    rows: usize,
    hear: impl Fn(u64),
    mut work: impl FnMut(Chunk) -> Result<()>,
) -> Result<u64> {
    watch(source, rows, &hear, &mut work)
}

/// As [`watch_chunks`]. Not generic, as both are called but once a chunk: a thread and its channel
/// are much code to have once for each that reads.
fn watch(
    source: &mut dyn ChunkSource,
    rows: usize,
    hear: &dyn Fn(u64),
    work: &mut dyn FnMut(Chunk) -> Result<()>,
) -> Result<u64> {
    source.rewind()?;
    let mut done = 0;
    // A page has one thread.
    if cfg!(target_family = "wasm") {
        let mut row0 = 0;
        while let Some(chunk) = next_checked(source, rows, row0)? {
            row0 += chunk.x.nrows();
            work(chunk)?;
            done = row0 as u64;
            hear(done);
        }
        return Ok(done);
    }
    thread::scope(|scope| {
        // Rendezvous: one chunk is read while another is in work, never more.
        let (sender, chunks) = mpsc::sync_channel(0);
        let read = move || send_all(source, rows, &sender);
        let thread = thread::Builder::new().name("reader".into());
        let reader = thread.spawn_scoped(scope, read).map_err(|error| {
            let problem = format!("no thread could be started to read the data: {error}");
            Error::numerical(problem)
                .help(Remedy::words("end other programs, or allow more threads"))
        })?;
        for chunk in &chunks {
            done += chunk.x.nrows() as u64;
            if let Err(e) = work(chunk) {
                drop(chunks);
                // The reader ends at its next send; its own error, if any, comes second.
                return Err(e);
            }
            hear(done);
        }
        match reader.join() {
            Ok(result) => result,
            Err(payload) => Err(panicked(payload.as_ref())),
        }
    })?;
    Ok(done)
}

/// Reads chunks until there are none, or nobody takes them.
fn send_all(
    source: &mut dyn ChunkSource,
    rows: usize,
    sender: &mpsc::SyncSender<Chunk>,
) -> Result<()> {
    let mut row0 = 0;
    while let Some(chunk) = next_checked(source, rows, row0)? {
        row0 += chunk.x.nrows();
        if sender.send(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

/// The error of a reader that panicked, with what it said.
fn panicked(payload: &(dyn Any + Send)) -> Error {
    let said = payload.downcast_ref::<&str>().copied();
    let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = said.unwrap_or("without a word").replace('\n', " ");
    Error::numerical(format!("reading the data panicked: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MemorySource, Rows};
    use ndarray::Array2;

    /// A source of a user's own, of two columns and a target: yields these chunks, whatever it
    /// promises.
    #[derive(Clone)]
    struct Own {
        chunks: Vec<Chunk>,
        next: usize,
    }

    impl Own {
        /// Two chunks of four rows, of which `spoil` makes something else.
        fn new(spoil: impl Fn(&mut Vec<Chunk>)) -> Self {
            let chunk = |row0: usize| Chunk {
                x: Rows::F64(Array2::from_shape_fn((4, 2), |(i, j)| {
                    ((row0 + i) * (j + 1)) as f64
                })),
                y: Array2::from_shape_fn((4, 1), |(i, _)| (row0 + i) as f64),
                weights: None,
            };
            let mut chunks = vec![chunk(0), chunk(4)];
            spoil(&mut chunks);
            Self { chunks, next: 0 }
        }
    }

    impl ChunkSource for Own {
        fn columns(&self) -> usize {
            2
        }
        fn targets(&self) -> usize {
            1
        }
        fn rows(&self) -> Option<usize> {
            Some(8)
        }
        fn next_chunk(&mut self, _: usize) -> Result<Option<Chunk>> {
            self.next += 1;
            Ok(self.chunks.get(self.next - 1).cloned())
        }
        fn rewind(&mut self) -> Result<()> {
            self.next = 0;
            Ok(())
        }
    }

    #[test]
    fn more_rows_than_were_asked_for_are_refused() {
        let read = for_each_chunk(&mut Own::new(|_| ()), 3, |_| Ok(()));
        let error = read.expect_err("4 rows").to_string();
        assert!(error.contains("1 to 3 rows"), "{error}");
    }

    /// What says that it is checked is believed: nobody pays twice.
    #[test]
    fn checked_sources_are_not_looked_at_again() {
        struct Checked(Own);
        impl ChunkSource for Checked {
            fn columns(&self) -> usize {
                2
            }
            fn targets(&self) -> usize {
                1
            }
            fn rows(&self) -> Option<usize> {
                None
            }
            fn next_chunk(&mut self, rows: usize) -> Result<Option<Chunk>> {
                self.0.next_chunk(rows)
            }
            fn rewind(&mut self) -> Result<()> {
                self.0.rewind()
            }
            fn is_checked(&self) -> bool {
                true
            }
        }
        let mut source = Checked(Own::new(|c| c[0].y[[0, 0]] = f64::NAN));
        for_each_chunk(&mut source, 4, |_| Ok(())).expect("believed");
        let memory = MemorySource::new(Array2::<f32>::zeros((2, 2)), None).expect("a source");
        assert!(memory.is_checked());
        let boxed: Box<dyn ChunkSource> = Box::new(memory);
        assert!(boxed.is_checked());
    }
}
