//! Digits that a model was never shown, probabilities of those that it was, and a fit that outliers
//! do not pull: `cargo run --release --example novelty`.

use bochner::{
    models::{LogisticRegression, OneClass, ResidualLoss, SupportVectorRegressor},
    prelude::*,
};
use ndarray::{Array2, Axis};

fn main() -> Result<()> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/digits.csv"))
        .map_err(|e| Error::io("data/digits.csv", e))?;
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').filter_map(|v| v.parse().ok()).collect())
        .collect();
    let columns = rows[0].len() - 1;
    let x = Array2::from_shape_fn((rows.len(), columns), |(i, j)| rows[i][j] / 16.0);
    let labels: Vec<u8> = rows.iter().map(|row| row[columns] as u8).collect();
    let of = |wanted: &dyn Fn(u8) -> bool| {
        let places: Vec<usize> = (0..labels.len()).filter(|&i| wanted(labels[i])).collect();
        x.select(Axis(0), &places)
    };

    // Zeros are known; how many of the others are novel?
    let map = Fourier::new(Gaussian).features(500);
    let zeros = of(&|label| label == 0);
    let model = OneClass::on(map.clone())
        .bandwidth(Bandwidth::Median)
        .nu(0.05)
        .fit(&zeros)?;
    let novel = |x: &Array2<f64>| -> Result<f64> {
        let labels = model.predict(x)?;
        Ok(labels.iter().filter(|&&label| label == -1).count() as f64 / labels.len() as f64)
    };
    let (known, others) = (novel(&zeros)?, novel(&of(&|label| label != 0))?);
    println!(
        "novel: {:.1} % of zeros, {:.1} % of others",
        100.0 * known,
        100.0 * others
    );
    assert!(known < 0.1 && others > 0.9);

    // Probabilities, and the row that the model is least sure of.
    let model = LogisticRegression::on(map)
        .lambda(1e-4)
        .fit((&x, &labels))?;
    let sure = model.predict_probabilities(&x)?;
    let top = |i: usize| sure.row(i).fold(0.0_f64, |m, &p| m.max(p));
    let least = (0..labels.len()).min_by(|&a, &b| top(a).total_cmp(&top(b)));
    let least = least.unwrap_or_default();
    println!(
        "row {least}, a {}, is a {:?} with {:.2}",
        labels[least],
        model.predict(&x)?[least],
        top(least)
    );

    // A wave of which every tenth row is spoilt.
    let x = Array2::from_shape_fn((400, 1), |(i, _)| i as f64 / 60.0);
    let wave = x.column(0).mapv(f64::sin);
    let y: Vec<f64> = (0..400)
        .map(|i| wave[i] + if i % 10 == 0 { 5.0 } else { 0.0 })
        .collect();
    let map = || Fourier::new(Gaussian).features(64);
    let squares = Ridge::on(map()).lambda(1e-5).fit((&x, &y))?.predict(&x)?;
    let median = SupportVectorRegressor::on(map()).loss(ResidualLoss::Quantile(0.5));
    let median = median.fit((&x, &y))?.predict(&x)?;
    let error = |p: &ndarray::Array1<f64>| (p - &wave).mapv(f64::abs).mean().unwrap_or(f64::NAN);
    println!(
        "mean error: squares {:.3}, median {:.3}",
        error(&squares),
        error(&median)
    );
    assert!(error(&median) < 0.2 * error(&squares));
    Ok(())
}
