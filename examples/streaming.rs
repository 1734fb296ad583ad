//! A .npy larger than the memory it is given: `cargo run --release --example streaming`.
//!
//! 200,000 rows are written, fitted and predicted in chunks of at most 8 MiB; with more rows the
//! file grows, the memory does not.

use bochner::{data::NpyWriter, models::Scores, prelude::*};
use ndarray::Array2;

const ROWS: usize = 200_000;
const CHUNK: usize = 10_000;

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io("the temporary folder", e))?;
    let (rows, targets) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    let mut x_file = NpyWriter::<f32>::create(&rows, 4)?;
    let mut y_file = NpyWriter::<f64>::create(&targets, 1)?;
    for start in (0..ROWS).step_by(CHUNK) {
        let x = Array2::from_shape_fn((CHUNK, 4), |(i, j)| {
            ((start + i) * (17 * j + 3) % 1009) as f32 / 1009.0
        });
        let y = x
            .rows()
            .into_iter()
            .map(|x| f64::from((6.0 * x[0]).sin() + x[1] * x[2]))
            .collect();
        x_file.write_rows(x.view())?;
        y_file.write_rows(
            Array2::from_shape_vec((CHUNK, 1), y)
                .expect("one a row")
                .view(),
        )?;
    }
    x_file.finish()?;
    y_file.finish()?;

    let mut source = DataFile::at(&rows).targets(&targets).open()?;
    let model = Ridge::on(Fourier::new(Gaussian).features(256))
        .memory(8 << 20)
        .progress(|step| {
            if let Step::Rows(rows) = step {
                println!("{rows} rows fitted");
            }
        })
        .fit(&mut source)?;

    let mut scores = Scores::default();
    model
        .memory(8 << 20)
        .stream(&mut source, |predicted, y| scores.add(predicted, y))?;
    println!(
        "relative error {:.1e} on {} rows",
        scores.relative_error(),
        scores.rows()
    );
    assert!(scores.relative_error() < 0.05 && scores.rows() == ROWS as u64);
    Ok(())
}
