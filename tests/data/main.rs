//! The data layer: valid inputs, error messages of invalid ones, and independence of chunks.

mod by_target;
mod cells;
#[cfg(feature = "parquet")]
mod columnar;
mod compressed;
mod corpus;
mod csv;
#[path = "../common/damage.rs"]
mod damage;
#[path = "../../fuzz/entries.rs"]
mod entries;
mod fuzz;
mod gaps;
mod hostile;
mod large_targets;
mod merging;
mod npy;
mod npz;
mod output;
mod page;
mod panics;
mod parts;
mod promises;
mod round_trips;
mod rust_of_pages;
#[path = "../common/samples.rs"]
mod samples;
mod schema;
mod sparse;
mod stream;
mod survey;
mod table;
mod tables;
mod weights;
mod words;

use bochner::Result;
use bochner::data::{Chunk, ChunkSource, Rows};
use ndarray::{Array2, Axis, concatenate};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use std::path::PathBuf;
use tempfile::TempDir;

/// A temporary directory, and a path in it.
fn place(name: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    (directory, path)
}

/// Number of cases of a property test, with a fixed seed unless `PROPTEST_RNG_SEED` is set;
/// `PROPTEST_CASES` increases it.
fn cases(cases: u32) -> ProptestConfig {
    let given = |name| std::env::var_os(name).is_some();
    let mut config = ProptestConfig::default();
    if !given("PROPTEST_CASES") {
        config.cases = cases;
    }
    if !given("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config.failure_persistence = None;
    config
}

/// Everything a source yields in chunks of at most `max_rows`, from its first row on.
fn read_all(source: &mut dyn ChunkSource, max_rows: usize) -> Result<Chunk> {
    source.rewind()?;
    let mut weights = Vec::new();
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    let mut single = true;
    while let Some(chunk) = source.next_chunk(max_rows)? {
        let rows = chunk.x.nrows();
        assert!(
            (1..=max_rows).contains(&rows),
            "a chunk of {rows} rows, {max_rows} asked for"
        );
        assert_eq!(chunk.x.ncols(), source.columns());
        assert_eq!(chunk.y.dim(), (rows, source.targets()));
        single &= matches!(chunk.x, Rows::F32(_));
        xs.push(chunk.x.into_f64());
        ys.push(chunk.y);
        weights.extend(chunk.weights.into_iter().flatten());
    }
    assert!(
        source.next_chunk(max_rows)?.is_none(),
        "the end stays the end"
    );
    let join = |parts: &[Array2<f64>]| {
        concatenate(
            Axis(0),
            &parts.iter().map(|part| part.view()).collect::<Vec<_>>(),
        )
        .unwrap()
    };
    let x = join(&xs);
    let x = if single {
        Rows::F32(x.mapv(|v| v as f32))
    } else {
        Rows::F64(x)
    };
    let weighted = source.is_weighted();
    assert_eq!(weights.len(), if weighted { x.nrows() } else { 0 });
    Ok(Chunk {
        x,
        y: join(&ys),
        weights: weighted.then(|| weights.into()),
    })
}

/// Reads `source` in chunks of many sizes, twice each, and returns the common result.
fn read_in_every_way(source: &mut dyn ChunkSource) -> Chunk {
    let whole = read_all(source, usize::MAX).unwrap();
    for max_rows in [1, 2, 3, 7, 64] {
        assert_eq!(
            read_all(source, max_rows).unwrap(),
            whole,
            "chunks of {max_rows}"
        );
    }
    // Rewinds from the middle.
    source.rewind().unwrap();
    source.next_chunk(2).unwrap();
    assert_eq!(read_all(source, 5).unwrap(), whole);
    whole
}

/// Checks that an error is one line that contains all of `needles`.
#[track_caller]
fn assert_says<T>(result: Result<T>, needles: &[&str]) {
    let Err(error) = result else {
        panic!("no error; expected one with {needles:?}")
    };
    let text = error.to_string();
    assert!(!text.contains('\n'), "more than one line: {text:?}");
    for needle in needles {
        assert!(text.contains(needle), "{text:?} does not say {needle:?}");
    }
}

/// Unwraps a source that a test expects to open.
#[track_caller]
fn opened<S>(result: Result<S>) -> S {
    result.unwrap_or_else(|error| panic!("{error}"))
}
