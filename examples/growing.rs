//! A classifier that rows are added to, and taken from: the sums of the digits so far give a model
//! at any time, and the oldest rows are forgotten again.
//!
//! `cargo run --release --example growing`

use bochner::prelude::*;
use ndarray::{Array2, s};

fn main() -> Result<()> {
    let mut source = DataFile::at("data/digits.csv").target("label").open()?;
    let chunk = source.next_chunk(2000)?.expect("the digits");
    let (x, labels): (Array2<f64>, Vec<i64>) = (
        chunk.x.into_f64(),
        chunk.y.iter().map(|&label| label as i64).collect(),
    );
    let part = |from: usize, to: usize| {
        (
            x.slice(s![from..to, ..]).to_owned(),
            labels[from..to].to_vec(),
        )
    };
    let (last_x, last) = part(1500, 1797);
    let right = |model: &Model<Vec<i64>>| -> Result<f64> {
        let predicted = model.predict(&last_x)?;
        let right = predicted.iter().zip(&last).filter(|(p, l)| p == l);
        Ok(right.count() as f64 / last.len() as f64)
    };

    let (first_x, first) = part(0, 100);
    let classifier = RidgeClassifier::on(Fourier::new(Gaussian).features(1000));
    let mut state = classifier.start((&first_x, &first))?;
    println!(
        "{} rows: accuracy {:.3}",
        state.rows(),
        right(&state.model()?)?
    );
    for (from, to) in [(100, 500), (500, 1500)] {
        let (more_x, more) = part(from, to);
        state.add((&more_x, &more))?;
        println!(
            "{} rows: accuracy {:.3}",
            state.rows(),
            right(&state.model()?)?
        );
    }
    state.forget((&first_x, &first))?;
    println!(
        "{} rows: accuracy {:.3}",
        state.rows(),
        right(&state.model()?)?
    );
    Ok(())
}
