//! Fit, predict, save, load: `cargo run --release --example quickstart`.

use bochner::prelude::*;
use ndarray::{Array1, Array2};

fn main() -> Result<()> {
    // y = sin(2 x0) + x1, on a grid.
    let x = Array2::from_shape_fn((400, 2), |(i, j)| {
        [(i % 20) as f64 / 10.0, (i / 20) as f64 / 10.0][j]
    });
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| (2.0 * x[0]).sin() + x[1])
        .collect();

    let map = Fourier::new(Gaussian).features(200);
    let model = Ridge::on(map).bandwidth(Bandwidth::Median).fit((&x, &y))?;
    let predicted = model.predict(&x)?;
    let worst = (&predicted - &y).fold(0.0_f64, |worst, e| worst.max(e.abs()));
    println!("largest error on {} rows: {worst:.1e}", y.len());
    assert!(worst < 0.02, "{worst}");

    // A model is one file, and predicts the same anywhere.
    let folder = tempfile::tempdir().map_err(|e| Error::io("the temporary folder", e))?;
    let path = folder.path().join("sine.model");
    model.save(&path)?;
    let read: Array1<f64> = Model::load(&path)?.predict(&x)?;
    assert_eq!(read, predicted);

    // Labels of any type come back as they went in.
    let side: Vec<&str> = x
        .column(0)
        .iter()
        .map(|&x| if x < 1.0 { "left" } else { "right" })
        .collect();
    let classifier = RidgeClassifier::on(Fourier::new(Gaussian).features(200)).fit((&x, &side))?;
    let right = classifier
        .predict(&x)?
        .iter()
        .zip(&side)
        .filter(|(p, s)| p == s)
        .count();
    println!("{right} of {} labels are right", side.len());
    assert!(right >= 390, "{right}");
    Ok(())
}
