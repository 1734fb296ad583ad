//! Did the data change, and what depends on what: `cargo run --release --example drift`.

use bochner::{
    data::{MemorySource, OpenOptions, open},
    hypothesis::{ConditionalIndependence, Independence, TwoSample, column_shifts},
    prelude::*,
};
use ndarray::{Array2, Axis, concatenate, s};

fn main() -> Result<()> {
    // 1,797 handwritten digits: 64 pixels and the digit.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/digits.csv");
    let options = OpenOptions {
        target: vec!["label".into()],
        ..OpenOptions::default()
    };
    let mut source = open(path, &options)?;
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    while let Some(chunk) = source.next_chunk(1000)? {
        rows.push(chunk.x.into_f64());
        labels.extend(chunk.y);
    }
    let rows: Vec<_> = rows.iter().map(|rows| rows.view()).collect();
    let pixels = concatenate(Axis(0), &rows).map_err(|e| Error::shape(e.to_string()))?;

    // Every other digit against the rest: one law. A third of those dimmed by a sixth: two.
    let old = pixels.slice(s![..;2, ..]);
    let new = pixels.slice(s![1..;2, ..]).to_owned();
    let mut dimmed = new.clone();
    dimmed
        .slice_mut(s![..;3, ..])
        .mapv_inplace(|v| v * 5.0 / 6.0);
    let test = TwoSample::on(Fourier::new(Gaussian).features(200)).bandwidth(Bandwidth::Median);
    for (name, new, differs) in [("the other half", &new, false), ("dimmed", &dimmed, true)] {
        let found = test.test(old, new)?;
        println!(
            "{name}: MMD^2 {:.5}, p {:.3}",
            found.unbiased, found.outcome.p_value
        );
        assert_eq!(found.outcome.rejects(0.01), differs);
    }
    let source = |x: &Array2<f64>| MemorySource::new(x, None);
    let shifts = column_shifts(
        &mut source(&old.to_owned())?,
        &mut source(&dimmed)?,
        Seed(0),
    )?;
    println!("the pixel that differs most: {}", shifts[0].column);

    // Two pixels far apart depend on each other, because the digit decides on both.
    let column = |j: usize| pixels.slice(s![.., j..=j]).to_owned();
    let (x, y) = (column(21), column(42));
    let digit = Array2::from_shape_fn((labels.len(), 10), |(i, k)| {
        f64::from(u8::from(labels[i] == k as f64))
    });
    let test = Independence::on(Fourier::new(Gaussian).features(40));
    let alone = test.test(&x, &y)?.outcome;
    let test = ConditionalIndependence::on(Fourier::new(Gaussian).features(100));
    let given = test.test(&x, &y, &digit)?.outcome;
    println!(
        "pixels 21 and 42: p {:.1e}, given the digit {:.1e}",
        alone.p_value, given.p_value
    );
    assert!(alone.rejects(1e-3) && given.p_value > alone.p_value);
    Ok(())
}
