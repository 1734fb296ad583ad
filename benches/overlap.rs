//! Files several times larger than the memory for chunks: how fast they are read, computed with and
//! written, each alone, and all together. Rounds are interleaved and medians taken, so that ratios
//! hold on a busy machine too. `cargo bench --bench overlap [threads] [fit|featurize]`.
//!
//! Reading and writing have a thread each beside those that compute. With as many of these as there
//! are cores nothing is left for the others: then all together take the sum of their processor time
//! over the cores at least, which is printed as well.

mod interleaved;

use bochner::{
    Device, Result, Run,
    data::{Chunk, ChunkSource, CsvWriter, NpyWriter, OpenOptions, Rows, WriteBehind, open},
    device::CpuDevice,
    features::{Affine, DenseFeatures, Fourier, featurize, featurize_behind},
    kernels::Gaussian,
    models::Targets,
    solve::NormalEquations,
};
use interleaved::{Job, medians};
use ndarray::{Array2, s};
use std::{cell::RefCell, fs, path::Path};

const ROUNDS: usize = 5;
const COLUMNS: usize = 32;
/// Bytes for chunks.
const MEMORY: u64 = 8 << 20;

/// So many rows of the same chunk, which nobody reads from anywhere.
struct Made {
    chunk: Chunk,
    rows: usize,
    left: usize,
}

impl Made {
    fn new(rows: usize) -> Self {
        let x = Array2::from_shape_fn((1 << 16, COLUMNS), |(i, j)| value(i, j) as f32);
        let chunk = Chunk {
            y: x.slice(s![.., ..1]).mapv(f64::from),
            x: Rows::F32(x),
            weights: None,
        };
        Self {
            chunk,
            rows,
            left: rows,
        }
    }
}

impl ChunkSource for Made {
    fn columns(&self) -> usize {
        COLUMNS
    }
    fn targets(&self) -> usize {
        1
    }
    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let rows = max_rows.min(self.left).min(self.chunk.y.nrows());
        self.left -= rows;
        Ok((rows > 0).then(|| Chunk {
            x: self.chunk.x.slice(0..rows),
            y: self.chunk.y.slice(s![..rows, ..]).to_owned(),
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.left = self.rows;
        Ok(())
    }
    fn is_checked(&self) -> bool {
        true
    }
}

fn value(i: usize, j: usize) -> f64 {
    ((i * (7 + j) + i / 11) % 9973) as f64 / 997.0
}

/// A file of so many rows, as its name says, with a target in the last column of a .csv.
fn write(path: &Path, rows: usize) -> Result<()> {
    let is_csv = path.extension().is_some_and(|name| name == "csv");
    let columns = COLUMNS + usize::from(is_csv);
    let block = |from: usize, to: usize| {
        Array2::from_shape_fn((to - from, columns), |(i, j)| value(from + i, j) as f32)
    };
    let mut take: Box<dyn FnMut(Option<Array2<f32>>) -> Result<()>> = if is_csv {
        let names: Vec<_> = (0..columns).map(|j| format!("c{j}")).collect();
        let mut writer = Some(CsvWriter::create(path, &names)?);
        Box::new(move |rows| match (rows, &mut writer) {
            (Some(rows), Some(writer)) => writer.write_rows(rows.view()),
            (_, writer) => writer.take().map_or(Ok(()), |w| w.finish().map(drop)),
        })
    } else {
        let mut writer = Some(NpyWriter::create(path, columns)?);
        Box::new(move |rows| match (rows, &mut writer) {
            (Some(rows), Some(writer)) => writer.write_rows(rows.view()),
            (_, writer) => writer.take().map_or(Ok(()), |w| w.finish().map(drop)),
        })
    };
    for from in (0..rows).step_by(10_000) {
        take(Some(block(from, rows.min(from + 10_000))))?;
    }
    take(None)
}

fn source(path: &Path) -> Box<dyn ChunkSource> {
    let is_csv = path.extension().is_some_and(|name| name == "csv");
    let options = OpenOptions {
        target: Vec::from_iter(is_csv.then(|| format!("c{COLUMNS}"))),
        ..OpenOptions::default()
    };
    open(path, &options).expect("opens")
}

fn map(features: usize) -> DenseFeatures {
    let map = Fourier::new(Gaussian).features(features);
    map.build(Affine::identity(COLUMNS)).expect("builds")
}

/// Seconds of each stage alone and of all together.
fn tell(what: &str, stages: &mut [Job<'_>]) {
    let times = medians(ROUNDS, stages);
    let (whole, alone) = times.split_last().expect("stages");
    let slowest = alone.iter().fold(0.0_f64, |most, &t| most.max(t));
    let each: Vec<_> = (stages.iter().zip(alone))
        .map(|((name, _), t)| format!("{name} {t:.2}"))
        .collect();
    println!(
        "{what}: {}; together {whole:.2} s, {:.2} of the speed of the slowest",
        each.join(", "),
        slowest / whole
    );
}

/// Sums of all rows, as fits take them.
fn fit(path: &Path, rows: usize, features: usize, run: &Run) {
    let (map, made) = (map(features), RefCell::new(Made::new(rows)));
    let file = RefCell::new(source(path));
    let targets = Targets::Real {
        columns: 1,
        shift: vec![0.0],
    };
    let sum = |source: &mut dyn ChunkSource| {
        let sums = NormalEquations::accumulate(&map, source, &targets, run);
        assert_eq!(sums.expect("sums").rows, rows as u64);
    };
    let name = path.extension().and_then(|name| name.to_str());
    let what = format!("fit {rows} rows of .{} to {features}", name.unwrap_or(""));
    let mut stages: [Job<'_>; 3] = [
        ("read".into(), Box::new(|| read(file.borrow_mut().as_mut()))),
        ("compute".into(), Box::new(|| sum(&mut *made.borrow_mut()))),
        ("all".into(), Box::new(|| sum(file.borrow_mut().as_mut()))),
    ];
    tell(&what, &mut stages);
}

/// Reads all rows.
fn read(source: &mut dyn ChunkSource) {
    source.rewind().expect("rewinds");
    while source.next_chunk(4096).expect("reads").is_some() {}
}

/// Features of all rows, written to a file.
fn features(path: &Path, rows: usize, features: usize, run: &Run) {
    let (map, made) = (map(features), RefCell::new(Made::new(rows)));
    let (file, out) = (RefCell::new(source(path)), path.with_extension("out.npy"));
    let block = Array2::<f32>::zeros((1024, features));
    let mut stages: [Job<'_>; 4] = [
        ("read".into(), Box::new(|| read(file.borrow_mut().as_mut()))),
        (
            "compute".into(),
            Box::new(|| {
                let mut made = made.borrow_mut();
                featurize(&map, &mut *made, run, |_| Ok(())).expect("computes");
            }),
        ),
        (
            "write".into(),
            Box::new(|| {
                let mut writer = NpyWriter::create(&out, features).expect("creates");
                for from in (0..rows).step_by(1024) {
                    let end = 1024.min(rows - from);
                    writer
                        .write_rows(block.slice(s![..end, ..]))
                        .expect("writes");
                }
                // As it is done below.
                drop(writer);
            }),
        ),
        (
            "all".into(),
            Box::new(|| {
                let writer = NpyWriter::create(&out, features).expect("creates");
                let mut behind = WriteBehind::new(writer).expect("a thread");
                let mut file = file.borrow_mut();
                featurize_behind(&map, file.as_mut(), run, &mut behind).expect("runs");
                // Unfinished, so that no disk is waited for.
                drop(behind.into_inner().expect("writes"));
            }),
        ),
    ];
    tell(
        &format!("featurize {rows} rows of .npy to {features}"),
        &mut stages,
    );
}

fn main() -> Result<()> {
    let given: Vec<_> = std::env::args().skip(1).collect();
    let threads = given.iter().find_map(|given| given.parse().ok());
    let threads = threads.unwrap_or(1);
    let is_asked = |work: &str| {
        let mut others = ["fit", "featurize"].iter().filter(|other| **other != work);
        !others.any(|other| given.iter().any(|given| given == other))
    };
    CpuDevice::set_shared_threads(threads)?;
    let run = &Run::on(&Device::cpu()).memory(MEMORY);
    let folder = tempfile::tempdir().expect("a folder");
    let (npy, csv) = (folder.path().join("x.npy"), folder.path().join("x.csv"));
    let rows = 400_000;
    write(&npy, rows)?;
    write(&csv, rows)?;
    let times = |path: &Path| fs::metadata(path).map_or(0, |file| file.len() / MEMORY);
    println!(
        "{threads} threads; the files are {} and {} times the memory for chunks",
        times(&npy),
        times(&csv)
    );
    if is_asked("fit") {
        fit(&csv, rows, 64, run);
        fit(&csv, rows, 512, run);
        fit(&csv, rows, 1024, run);
    }
    if is_asked("featurize") {
        features(&npy, rows, 128, run);
        features(&npy, rows, 512, run);
    }
    Ok(())
}
