//! Streaming: chunks are read on a thread of their own while the one before is worked on.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
};
use std::sync::mpsc;

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
            Err(_) => Err(Error::Numerical("reading the data panicked".into())),
        }
    })?;
    Ok(done)
}
