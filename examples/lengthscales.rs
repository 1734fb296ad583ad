//! Which pixels tell a 3 from the other digits: a Gaussian process finds a lengthscale for each,
//! and predicts rows held out better for it.
//!
//! `cargo run --release --example lengthscales`

use bochner::{models::Lengthscales, prelude::*};
use ndarray::{Array1, Array2, Axis};

/// Pixels of every second digit from `first` on, and whether it is a 3.
fn digits(first: usize) -> Result<(Array2<f64>, Array1<f64>)> {
    let mut source = DataFile::at("data/digits.csv").target("label").open()?;
    let (mut pixels, mut threes) = (Vec::new(), Vec::new());
    while let Some(chunk) = source.next_chunk(1000)? {
        let x = chunk.x.into_f64();
        pixels.extend(x.axis_iter(Axis(0)).map(|row| row.to_vec()));
        threes.extend(
            chunk
                .y
                .iter()
                .map(|&label| f64::from(u8::from(label == 3.0))),
        );
    }
    let rows: Vec<usize> = (first..pixels.len()).step_by(2).collect();
    let x = Array2::from_shape_fn((rows.len(), 64), |(i, j)| pixels[rows[i]][j]);
    Ok((x, rows.iter().map(|&i| threes[i]).collect()))
}

fn main() -> Result<()> {
    let ((x, y), (x_new, y_new)) = (digits(0)?, digits(1)?);
    let mut errors = Vec::new();
    for lengthscales in [
        Lengthscales::Fixed,
        Lengthscales::One,
        Lengthscales::PerColumn,
    ] {
        let map = Fourier::new(Gaussian).features(600);
        let process = GaussianProcess::on(map).lengthscales(lengthscales);
        let model = process.fit((&x, &y))?;
        let off = model.predict(&x_new)? - &y_new;
        let error = (off.mapv(|e| e * e).sum() / y_new.len() as f64).sqrt();
        println!("{lengthscales:?}: error {error:.4} on rows held out");
        errors.push(error);
        let Some(found) = &model.linear().lengthscales else {
            continue;
        };
        println!(
            "  log likelihood {:.0} -> {:.0} in {} steps",
            found.before, found.after, found.iterations
        );
        if lengthscales == Lengthscales::PerColumn {
            let most = found.relevance_d.iter().fold(0.0, |m: f64, r| m.max(*r));
            for row in found.relevance_d.chunks(8) {
                let shade = |r: &f64| b" .:+*#"[(5.0 * r / most).round() as usize] as char;
                println!("  |{}|", row.iter().map(shade).collect::<String>());
            }
        }
    }
    assert!(errors[2] < errors[0]);
    Ok(())
}
