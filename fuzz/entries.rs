//! What reads each format, whatever bytes come: shared by `cargo xtask fuzz` (tests/data/corpus.rs)
//! and by the targets of cargo-fuzz beside it.

#[path = "../cli/src/checkpoint/state.rs"]
mod state;

use bochner::{
    Device, Error, Result,
    data::{MemorySource, OpenOptions, open},
    models::{AnySums, LinearModel, Partial},
    solve::NormalEquations,
    stream::{Bandit, RecursiveRidge},
};
use ndarray::Array2;
pub(crate) use state::State;
use std::{fs, path::Path};

/// Reads these bytes as a file of this name says, in a folder where they may be written. Returns
/// whether they were read.
///
/// Panics where a reader does what none may: it panics itself, its error has several lines, or
/// what it read is not finite.
pub(crate) fn is_read(folder: &Path, name: &str, bytes: &[u8]) -> bool {
    let path = folder.join(name);
    let read = match path.extension().and_then(|end| end.to_str()) {
        Some("model") => model(bytes),
        Some("partial") => partial(bytes),
        Some("checkpoint") => checkpoint(bytes),
        Some("stream") => stream(bytes),
        Some("bandit") => bandit(bytes),
        end => {
            fs::write(&path, bytes).expect("a file is written");
            match end {
                #[cfg(feature = "parquet")]
                Some("parquet" | "arrow" | "arrows") => columns(&path),
                _ => numbers(&path),
            }
        }
    };
    if let Err(error) = &read {
        let says = error.to_string();
        assert!(!says.contains('\n') && says.len() < 2_000, "{says}");
    }
    read.is_ok()
}

/// A model, which predicts what is finite.
fn model(bytes: &[u8]) -> Result<()> {
    let model = LinearModel::from_bytes(bytes)?;
    let x = Array2::from_elem((3, model.map.input_dim().min(64)), 0.5);
    let mut source = MemorySource::new(x, None)?;
    model.on(&Device::cpu())?.stream(&mut source, |found, _| {
        assert!(found.iter().all(|v| v.is_finite()), "not finite");
        Ok(())
    })?;
    Ok(())
}

/// Sums of some rows, of a learner that is known and of any. They are checkpoints of fits, too.
fn partial(bytes: &[u8]) -> Result<()> {
    let own = Partial::<NormalEquations>::from_bytes(bytes).map(drop);
    Partial::<AnySums>::from_bytes(bytes).map(drop).or(own)
}

/// A stream, which predicts a row and goes on with it.
fn stream(bytes: &[u8]) -> Result<()> {
    let mut stream = RecursiveRidge::from_bytes(bytes)?;
    let z = vec![0.5; stream.features()];
    assert_eq!(stream.predict(&z)?.len(), stream.targets());
    stream.spread(&z)?;
    // Numbers that nobody learned may have no inverse, which is said.
    let y = vec![1.0; stream.targets()];
    let _ = stream.learn(&z, &y, 1.0);
    Ok(())
}

/// A bandit, which chooses an arm and hears of its reward.
fn bandit(bytes: &[u8]) -> Result<()> {
    let mut bandit = Bandit::from_bytes(bytes)?;
    let z = vec![0.5; bandit.arms()[0].features()];
    let arm = bandit.choose(&z)?;
    let _ = bandit.learn(arm, &z, 1.0);
    Ok(())
}

/// The state of outputs that are written row after row.
fn checkpoint(bytes: &[u8]) -> Result<()> {
    let none = || Error::data("state.json", "is no checkpoint");
    let state = State::read(bytes).ok_or_else(none)?;
    assert_eq!(State::read(state.text().as_bytes()), Some(state));
    Ok(())
}

/// Rows of numbers.
fn numbers(path: &Path) -> Result<()> {
    let mut source = open(path, &OpenOptions::default())?;
    let (mut rows, most) = (0, 5);
    while let Some(chunk) = source.next_chunk(most)? {
        assert!((1..=most).contains(&chunk.x.nrows()) && chunk.x.ncols() > 0);
        assert_eq!(chunk.y.dim(), (chunk.x.nrows(), source.targets()));
        rows += chunk.x.nrows();
        assert!(chunk.x.into_f64().iter().all(|v| v.is_finite()));
        assert!(chunk.y.iter().all(|v| v.is_finite()));
    }
    assert!(rows > 0 && source.rows().is_none_or(|all| all == rows));
    Ok(())
}

/// Columns of every type.
#[cfg(feature = "parquet")]
fn columns(path: &Path) -> Result<()> {
    use bochner::data::{ColumnarTable, Format, Table};
    let format = Format::from_path(path).ok_or_else(|| Error::data(path, "is no format"))?;
    let mut table = ColumnarTable::open(path, format)?;
    let mut rows = 0;
    while let Some(batch) = table.next_batch(50)? {
        rows += batch.rows;
        let mut columns = batch.columns.iter();
        assert!(columns.all(|column| column.len() == batch.rows));
    }
    assert_eq!(Some(rows), table.rows());
    Ok(())
}
