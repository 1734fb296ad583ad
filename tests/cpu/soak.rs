//! Memory does not grow with the number of rows: ten million of them with `BOCHNER_SOAK_ROWS`
//! (`cargo xtask soak`).

#![cfg(target_os = "linux")]

use bochner::{
    data::{Chunk, ChunkSource, Rows},
    device::CpuDevice,
    prelude::*,
};
use ndarray::{Array2, Axis};
use std::sync::{Arc, Mutex};

const COLUMNS: usize = 16;
/// Default number of rows.
const ROWS: u64 = 400_000;
/// Copies that the control keeps of each row: some of them use memory that earlier tests left in
/// the heap, at most 12 MB.
const COPIES: usize = 3;
/// A third of the size of one copy of the rows after the first fifth, so that keeping them exceeds
/// the limit threefold. Without copies the process grew by at most 25 kB.
const ALLOWED: u64 = ROWS * 4 / 5 * 4 * COLUMNS as u64 / 3;

/// For one pass over the rows: the first row of each chunk, and the bytes of the process.
type Pass = Vec<(u64, u64)>;

/// Rows generated on demand, and the size of the process meanwhile.
struct Made {
    rows: u64,
    at: u64,
    passes: Arc<Mutex<Vec<Pass>>>,
    /// Copies of all rows so far, which the test must detect.
    kept: Option<Vec<[Array2<f32>; COPIES]>>,
}

/// Resident bytes of the process, counted by pages if possible: `status` lacks counts that cores
/// have not reported yet, which can be megabytes.
fn resident() -> u64 {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}"));
    let text = read("smaps_rollup").or_else(|_| read("status"));
    let text = text.expect("Linux");
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let line = of("Rss:").or_else(|| of("VmRSS:"));
    let field = line.and_then(|line| line.split_whitespace().next());
    1024 * field.expect("a number").parse::<u64>().expect("a number")
}

impl ChunkSource for Made {
    fn columns(&self) -> usize {
        COLUMNS
    }
    fn targets(&self) -> usize {
        1
    }
    fn rows(&self) -> Option<usize> {
        usize::try_from(self.rows).ok()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let left = usize::try_from(self.rows - self.at).unwrap_or(max_rows);
        let (rows, at) = (left.min(max_rows).min(4096), self.at);
        if rows == 0 {
            return Ok(None);
        }
        let mut passes = self.passes.lock().expect("whole");
        passes.last_mut().expect("rewound").push((at, resident()));
        self.at += rows as u64;
        let value = |i: usize, j: usize| ((at + i as u64) * (7 + j as u64) % 101) as f32 / 30.0;
        let x = Array2::from_shape_fn((rows, COLUMNS), |(i, j)| value(i, j));
        if let Some(kept) = &mut self.kept {
            kept.push([(); COPIES].map(|()| x.clone()));
        }
        Ok(Some(Chunk {
            y: x.column(0).mapv(f64::from).insert_axis(Axis(1)),
            x: Rows::F32(x),
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        self.passes.lock().expect("whole").push(Vec::new());
        Ok(())
    }
}

/// Fits `rows` rows, and returns the size of the process during the summing pass: the maximum in
/// its first fifth, when all reusable memory is allocated, and overall.
fn grown(rows: u64, features: usize, keeps: bool) -> (u64, u64) {
    let passes = Arc::new(Mutex::new(vec![Pass::new()]));
    let mut made = Made {
        rows,
        at: 0,
        passes: Arc::clone(&passes),
        kept: keeps.then(Vec::new),
    };
    // Thread-local memory is allocated at first use, late with many threads.
    let device = Device::Cpu(CpuDevice::with_threads(2).expect("starts"));
    let model = Ridge::on(Fourier::new(Gaussian).features(features))
        .device(&device)
        .memory(8 << 20)
        .fit(&mut made)
        .expect("fits");
    assert_eq!(model.linear().rows, rows);
    let passes = passes.lock().expect("whole");
    let whole = |pass: &&Pass| pass.last().is_some_and(|(at, _)| at + 4096 >= rows);
    let sizes = passes.iter().rfind(whole).expect("a pass over all rows");
    for part in sizes.chunks(sizes.len().div_ceil(10)) {
        let (at, bytes) = part[part.len() - 1];
        println!("{features} features: {at:>9} rows, {bytes} bytes");
    }
    let most = |sizes: &mut dyn Iterator<Item = &(u64, u64)>| sizes.map(|(_, size)| *size).max();
    let early = most(&mut sizes.iter().filter(|(at, _)| *at < rows / 5));
    let all = most(&mut sizes.iter());
    (early.expect("some"), all.expect("some"))
}

/// Kept rows are detected with twice the limit.
fn require_that_kept_rows_are_seen() {
    let (early, most) = grown(ROWS, 16, true);
    let added = most - early;
    println!("rows that are kept add {added} bytes");
    assert!(
        added > 2 * ALLOWED,
        "rows are kept and nobody sees it: {added} bytes, {ALLOWED} allowed"
    );
}

#[test]
fn memory_is_flat() {
    let given = std::env::var("BOCHNER_SOAK_ROWS").ok();
    let given = given.map(|rows| rows.parse::<u64>().expect("BOCHNER_SOAK_ROWS is a number"));
    let (rows, features) = match given {
        Some(rows) => (rows, 512),
        None => (ROWS, 32),
    };
    let sizes = grown(rows, features, false);
    println!("{rows} rows to {features} features: {sizes:?} bytes, early and at most");
    let (early, most) = sizes;
    assert!(most - early < ALLOWED, "{sizes:?}, {ALLOWED} bytes allowed");
    require_that_kept_rows_are_seen();
}
