//! How many rows are worked on at a time: one pure function of the device's limits and a memory
//! budget.

use super::{ReadBehind, Run};
use crate::{
    Error, Result,
    device::Device,
    error::Remedy,
    text::{counted, human_bytes},
};

/// Rows that a shader can be dispatched for: 65,535 workgroups of the smallest tile.
const MAX_ROWS: u64 = 65_535 * 8;
/// More rows than this at a time gain nothing and delay the first progress.
const ENOUGH_ROWS: u64 = 65_536;

/// The widest matrix of a chunk on the CPU: part of a common third-level cache.
const CACHED_BYTES: usize = 8 << 20;
/// Rows that a thread of the CPU works on at a time.
const ROWS_PER_THREAD: usize = 240;

/// A buffer on its way to the host takes this many times its bytes: drivers keep a shadow of what
/// is mapped.
const MAPPED: u64 = 2;

/// What one row takes from the time it is read until it is done with: built up by who allocates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowNeeds {
    /// Columns of the widest matrix on the device.
    widest: usize,
    /// Bytes of all buffers together, on the host and on the device.
    bytes: u64,
}

impl RowNeeds {
    /// `columns` values as they are read, features and targets: one chunk in work and one ahead of
    /// it, of at most eight bytes a value.
    pub fn read(columns: usize) -> Self {
        Self {
            widest: 0,
            bytes: 2 * 8 * columns as u64,
        }
    }

    /// Bytes of a row.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// A matrix of `columns` columns on `device`.
    pub fn matrix(mut self, device: &Device, columns: usize) -> Self {
        self.widest = self.widest.max(columns);
        self.bytes += 4 * device.stride(columns) as u64;
        self
    }

    /// `columns` columns that are read back while the device goes on. Where the CPU is the device
    /// they are lent.
    pub fn read_back(mut self, device: &Device, columns: usize) -> Self {
        if device.is_gpu() {
            let buffers = MAPPED * ReadBehind::AT_ONCE as u64;
            self.bytes += buffers * 4 * device.stride(columns) as u64;
        }
        self
    }

    /// Anything else, on either side.
    pub fn and_bytes(mut self, bytes: usize) -> Self {
        self.bytes += bytes as u64;
        self
    }

    /// [`chunk_rows`] for a run. On the CPU no more than stay in cache between one step of the
    /// work and the next, where that is rows enough for every thread.
    pub fn rows_of(self, run: &Run) -> Result<usize> {
        let rows = chunk_rows(self, run.device.max_matrix_bytes(), run.memory)?;
        let rows = match run.device.as_cpu() {
            None => rows,
            Some(cpu) => {
                let cached = CACHED_BYTES / (4 * self.widest.max(1));
                let block = ROWS_PER_THREAD * cpu.threads();
                rows.min((cached / block).max(1) * block)
            }
        };
        log::debug!("chunks of {rows} rows, {} a row", human_bytes(self.bytes));
        Ok(rows)
    }
}

/// Rows of a chunk: as many as `memory` bytes hold, as fit one binding of the device, and as one
/// dispatch takes; a whole number of Gram blocks when that many fit.
///
/// Errors when not even 8 rows fit: with [`Error::Parameter`] into `memory`, with [`Error::Limit`]
/// into the device.
fn chunk_rows(needs: RowNeeds, max_matrix_bytes: u64, memory: u64) -> Result<usize> {
    let by_memory = memory / needs.bytes.max(1);
    let by_binding = max_matrix_bytes / (4 * (needs.widest as u64).next_multiple_of(4)).max(1);
    let rows = by_memory.min(by_binding).min(MAX_ROWS).min(ENOUGH_ROWS);
    if by_memory < 8 {
        return Err(Error::parameter(format!(
            "a chunk of 8 rows, the widest matrix of {}, needs {}, and the memory for chunks is {}",
            counted(needs.widest, "column"),
            human_bytes(8 * needs.bytes),
            human_bytes(memory)
        ))
        .help(Remedy::MoreMemory)
        .help(Remedy::FewerFeatures));
    }
    if rows < 8 {
        return Err(Error::Limit {
            what: format!("a matrix of 8 rows of {}", counted(needs.widest, "column")),
            needed: human_bytes(32 * needs.widest as u64),
            allowed: human_bytes(max_matrix_bytes),
            remedies: vec![Remedy::FewerFeatures],
        });
    }
    Ok(whole_blocks(usize::try_from(rows).unwrap_or(8)))
}

/// The chunk that is tried when a device has no room for one of `rows` rows: a quarter, or nothing
/// below 8 rows.
pub(super) fn fewer_rows(rows: usize) -> Option<usize> {
    (rows >= 32).then(|| whole_blocks(rows / 4))
}

/// A whole number of Gram blocks when that many rows are there, else of smaller ones.
fn whole_blocks(rows: usize) -> usize {
    let block = [4096, 256, 8].into_iter().find(|&b| rows >= b).unwrap_or(8);
    rows / block * block
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prelude::*, test_runner::RngSeed};

    /// 32 columns to 1000 features.
    fn needs() -> RowNeeds {
        let cpu = Device::cpu();
        RowNeeds::read(32).matrix(&cpu, 32).matrix(&cpu, 1000)
    }

    #[test]
    fn every_buffer_of_a_row_is_counted_on_devices() {
        assert_eq!((needs().bytes, needs().widest), (16 * 32 + 4 * 1032, 1000));
        let more = needs().and_bytes(12).read_back(&Device::cpu(), 1000);
        assert_eq!(more.bytes, needs().bytes + 12);
        for gpu in crate::under_test::gpus() {
            // Rows on a GPU are whole vec4s; two portions of results are on their way, each with a
            // shadow.
            let needs = RowNeeds::read(3).matrix(&gpu, 5).read_back(&gpu, 7);
            assert_eq!((needs.bytes, needs.widest), (16 * 3 + 4 * 8 + 4 * 4 * 8, 5));
        }
    }

    #[test]
    fn keeps_to_every_limit() {
        assert_eq!(
            chunk_rows(needs(), u64::MAX, 1 << 40).expect("fits"),
            65_536
        );
        let by_memory = chunk_rows(needs(), u64::MAX, 64 << 20).expect("fits");
        assert!(by_memory.is_multiple_of(4096) && by_memory * (16 * 32 + 4 * 1032) <= 64 << 20);
        let by_binding = chunk_rows(needs(), 4_000_000, 1 << 40).expect("fits");
        assert_eq!(by_binding, 768);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(5),
            failure_persistence: None,
            ..ProptestConfig::with_cases(20_000)
        })]

        /// Whatever is asked: rows fit, are as many whole blocks as fit, or are refused rightly.
        #[test]
        fn any_needs_fit_or_are_refused(
            widest in 0.0..24.0_f64,
            beside in 0.0..4.0_f64,
            binding in 4.0..36.0_f64,
            memory in 0.0..40.0_f64,
        ) {
            let widest = widest.exp2() as usize;
            let needs = RowNeeds {
                widest,
                bytes: (4.0 * widest as f64 * beside.exp2()) as u64,
            };
            let (binding, memory) = (binding.exp2() as u64, memory.exp2() as u64);
            let wide = 4 * (widest as u64).next_multiple_of(4);
            let fits = |rows: u64| {
                rows * needs.bytes <= memory && rows * wide <= binding && rows <= ENOUGH_ROWS
            };
            match chunk_rows(needs, binding, memory) {
                Err(_) => assert!(!fits(8), "it is refused"),
                Ok(rows) => {
                    let rows = rows as u64;
                    assert!(fits(rows) && rows.is_multiple_of(8), "{rows} rows");
                    // One block more would not fit, or makes larger blocks of all.
                    let block = [4096, 256, 8].into_iter().find(|&b| rows >= b).expect("8");
                    assert!(!fits(rows + block), "{rows} rows, but {block} more fit");
                }
            }
        }
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
        let message = chunk_rows(needs(), u64::MAX, 1000)
            .expect_err("too small")
            .to_string();
        assert!(message.contains("more .memory(..)"), "{message}");
        let message = chunk_rows(needs(), 1000, 1 << 40)
            .expect_err("too small")
            .to_string();
        assert!(message.contains("this device allows"), "{message}");
    }
}
