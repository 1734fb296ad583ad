//! How many rows are worked on at a time: one pure function of the device's limits and a memory budget.

use crate::{Error, Result, device::Device, error::Remedy, text::human_bytes};

/// Chunk buffers take at most this much unless told otherwise.
pub const DEFAULT_MEMORY: u64 = 128 << 20;
/// Rows that a shader can be dispatched for: 65,535 workgroups of the smallest tile.
const MAX_ROWS: u64 = 65_535 * 8;
/// More rows than this at a time gain nothing and delay the first progress.
const ENOUGH_ROWS: u64 = 65_536;

/// The widest matrix of a chunk on the CPU: part of a common third-level cache.
const CACHED_BYTES: usize = 8 << 20;
/// Rows that a thread of the CPU works on at a time.
const ROWS_PER_THREAD: usize = 240;

/// What one row of a chunk needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowNeeds {
    /// Input columns, d.
    pub columns: usize,
    /// Columns of the widest matrix on the device (D when features are stored).
    pub widest: usize,
    /// All columns on the device together.
    pub device_columns: usize,
}

/// Rows of a chunk: as many as `memory` bytes hold (the chunk read, the one in work, and the matrices on the device), as
/// fit one binding of the device, and as one dispatch takes; a whole number of Gram blocks when that many fit.
///
/// Errors when not even 8 rows fit: with [`Error::Parameter`] into `memory`, with [`Error::Limit`] into the device.
pub fn chunk_rows(needs: RowNeeds, max_matrix_bytes: u64, memory: u64) -> Result<usize> {
    // Two chunks of at most eight bytes a value on the host, four bytes a value on the device.
    let bytes_per_row = 16 * needs.columns as u64 + 4 * needs.device_columns as u64;
    let by_memory = memory / bytes_per_row.max(1);
    let by_binding = max_matrix_bytes / (4 * (needs.widest as u64).next_multiple_of(4)).max(1);
    let rows = by_memory.min(by_binding).min(MAX_ROWS).min(ENOUGH_ROWS);
    if by_memory < 8 {
        return Err(Error::parameter(format!(
            "a chunk of 8 rows of {} columns needs {}, and the memory for chunks is {}",
            needs.device_columns,
            human_bytes(8 * bytes_per_row),
            human_bytes(memory)
        ))
        .help(Remedy::MoreMemory)
        .help(Remedy::FewerFeatures));
    }
    if rows < 8 {
        return Err(Error::Limit {
            what: format!("a matrix of 8 rows of {} columns", needs.widest),
            needed: human_bytes(32 * needs.widest as u64),
            allowed: human_bytes(max_matrix_bytes),
            remedies: vec![Remedy::FewerFeatures],
        });
    }
    Ok(whole_blocks(usize::try_from(rows).unwrap_or(8)))
}

/// The chunk that is tried when a device has no room for one of `rows` rows: a quarter, or nothing below 8 rows.
pub(crate) fn fewer_rows(rows: usize) -> Option<usize> {
    (rows >= 32).then(|| whole_blocks(rows / 4))
}

/// A whole number of Gram blocks when that many rows are there, else of smaller ones.
fn whole_blocks(rows: usize) -> usize {
    let block = [4096, 256, 8].into_iter().find(|&b| rows >= b).unwrap_or(8);
    rows / block * block
}

/// [`chunk_rows`] for a device. On the CPU no more than stay in cache between one step of the work and the next, where that is
/// rows enough for every thread.
pub fn chunk_rows_on(device: &Device, needs: RowNeeds, memory: u64) -> Result<usize> {
    let rows = chunk_rows(needs, device.max_matrix_bytes(), memory)?;
    Ok(match device {
        Device::Gpu(_) => rows,
        Device::Cpu(cpu) => {
            let cached = CACHED_BYTES / (4 * needs.widest.max(1));
            let block = ROWS_PER_THREAD * cpu.threads();
            rows.min((cached / block).max(1) * block)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: RowNeeds = RowNeeds {
        columns: 32,
        widest: 1000,
        device_columns: 1032,
    };

    #[test]
    fn keeps_to_every_limit() {
        assert_eq!(chunk_rows(NEEDS, u64::MAX, 1 << 40).expect("fits"), 65_536);
        let by_memory = chunk_rows(NEEDS, u64::MAX, 64 << 20).expect("fits");
        assert!(by_memory.is_multiple_of(4096) && by_memory * (16 * 32 + 4 * 1032) <= 64 << 20);
        let by_binding = chunk_rows(NEEDS, 4_000_000, 1 << 40).expect("fits");
        assert_eq!(by_binding, 768);
    }

    #[test]
    fn fewer_rows_are_whole_blocks_too() {
        let fewer = [65_536, 16_384, 8192, 4096, 1000, 35, 32, 31].map(fewer_rows);
        let expected = [16_384, 4096, 2048, 1024, 248, 8, 8].map(Some);
        assert_eq!(fewer[..7], expected);
        assert_eq!(fewer[7], None);
    }

    #[test]
    fn refuses_what_cannot_fit() {
        let message = chunk_rows(NEEDS, u64::MAX, 1000)
            .expect_err("too small")
            .to_string();
        assert!(message.contains("more .memory(..)"), "{message}");
        let message = chunk_rows(NEEDS, 1000, 1 << 40)
            .expect_err("too small")
            .to_string();
        assert!(message.contains("this device allows"), "{message}");
    }
}
