//! Memory does not grow with rows: ten million of them, where there is time and
//! `BOCHNER_SOAK_ROWS` says so.

#![cfg(target_os = "linux")]

use bochner::{
    data::{Chunk, ChunkSource, Rows},
    features::{Affine, Fourier},
    prelude::*,
    solve::{NormalEquations, Targets},
};
use ndarray::Array2;
use std::sync::{Arc, Mutex};

/// Rows that are made as they are asked for, and how large the process was meanwhile.
struct Made {
    rows: u64,
    at: u64,
    sizes: Arc<Mutex<Vec<(u64, u64)>>>,
}

/// Pages of the process in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let field = text.split(' ').nth(1).expect("two fields");
    field.parse().expect("a number")
}

impl ChunkSource for Made {
    fn columns(&self) -> usize {
        16
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
        self.sizes.lock().expect("whole").push((at, resident()));
        self.at += rows as u64;
        let value = |i: usize, j: usize| ((at + i as u64) * (7 + j as u64) % 101) as f32 / 30.0;
        let x = Array2::from_shape_fn((rows, 16), |(i, j)| value(i, j));
        Ok(Some(Chunk {
            y: x.column(0).mapv(f64::from).insert_axis(ndarray::Axis(1)),
            x: Rows::F32(x),
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }
}

#[test]
fn memory_is_flat() {
    let given = std::env::var("BOCHNER_SOAK_ROWS").ok();
    let rows = given.map_or(200_000, |rows| {
        rows.parse().expect("BOCHNER_SOAK_ROWS is a number")
    });
    let cpu = Device::cpu();
    for features in [16, 64] {
        let sizes = Arc::default();
        let mut made = Made {
            rows,
            at: 0,
            sizes: Arc::clone(&sizes),
        };
        let map = Fourier::new(Gaussian).features(features);
        let map = map.build(Affine::identity(16)).expect("draws");
        let targets = Targets::Real {
            columns: 1,
            shift: vec![1.5],
        };
        let run = bochner::Run::on(&cpu).memory(8 << 20);
        let sums = NormalEquations::accumulate(&map, &mut made, &targets, run).expect("sums");
        assert_eq!(sums.rows, rows);
        let sizes = sizes.lock().expect("whole");
        // After the first fifth everything that is reused is there.
        let early = sizes.iter().filter(|(at, _)| *at < rows / 5);
        let early = early.map(|(_, size)| *size).max().expect("some");
        let most = sizes.iter().map(|(_, size)| *size).max().expect("some");
        println!("{features} features, {rows} rows: {early} pages early, {most} at most");
        assert!(
            most * 100 < early * 105,
            "{features}: {early} grew to {most}"
        );
    }
}
