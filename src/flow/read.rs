//! Reading: chunks come from a thread of their own, one ahead of the one in work, and checked.

use super::Progress;
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, next_checked},
};
use std::sync::mpsc;

/// Rewinds `source` and hands its chunks of at most `rows` rows to `work`, in order, reading one ahead. Returns the number
/// of rows. The first error of either side ends both.
///
/// Errors on a chunk that is not what [`ChunkSource`] promises: other columns, targets of other rows, a value that is not
/// finite.
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
            let mut row0 = 0;
            while let Some(chunk) = next_checked(source, rows, row0)? {
                row0 += chunk.x.nrows();
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
