//! A stream that changes: digits are predicted and then learned, one by one, and after 900 of them
//! they stand upside down. `cargo run --release --example stream`

use bochner::{
    data::MemorySource,
    features::{Affine, featurize},
    prelude::*,
    seed::Stream,
    stream::Recursive,
};
use ndarray::{Array2, Axis, s};
use std::time::Instant;

fn main() -> Result<()> {
    let mut source = DataFile::at("data/digits.csv").target("label").open()?;
    let chunk = source.next_chunk(2000)?.expect("the digits");
    let (x, y) = (chunk.x.into_f64(), chunk.y);

    for half_life in [f64::INFINITY, 400.0] {
        let mut wrong = Vec::new();
        let start = Instant::now();
        for seed in (0..5).map(Seed) {
            let order = seed.stream(Stream::Data, 0).permutation(x.nrows());
            let labels: Vec<_> = order.iter().map(|&row| y[[row, 0]] as usize).collect();
            let mut x = x.select(Axis(0), &order);
            let turned = x.slice(s![900.., ..;-1]).to_owned();
            x.slice_mut(s![900.., ..]).assign(&turned);
            // Pixels go from 0 to 16.
            let map = Fourier::new(Gaussian).features(500).seed(seed);
            let z = features(&map.build(Affine::identity(64).lengthscale(35.0)?)?, &x)?;
            let rule = Recursive {
                penalty: 0.1,
                half_life,
                intercept: true,
            };
            let mut stream = rule.start(z.ncols(), 10)?;
            let mut missed = vec![];
            for (z, &label) in z.rows().into_iter().zip(&labels) {
                let z = z.as_slice().expect("row by row");
                let scores = stream.predict(z)?;
                let best = (0..10).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
                missed.push(best != Some(label));
                let targets: Vec<f64> = (0..10).map(|k| f64::from(k == label)).collect();
                stream.learn(z, &targets, 1.0)?;
            }
            wrong.push(share(&missed[missed.len() - 300..]));
        }
        let rows = 5 * x.nrows();
        let each = start.elapsed() / u32::try_from(rows).expect("few");
        let mean = wrong.iter().sum::<f64>() / 5.0;
        println!(
            "half-life {half_life}: {:.1} % of the last 300 wrong, {each:?} a digit",
            100.0 * mean
        );
        assert!(mean < if half_life == 400.0 { 0.04 } else { 0.06 });
    }
    Ok(())
}

fn share(missed: &[bool]) -> f64 {
    missed.iter().filter(|&&missed| missed).count() as f64 / missed.len() as f64
}

/// Features of all rows, `[n, D]`.
fn features(map: &dyn bochner::features::FeatureMap, x: &Array2<f64>) -> Result<Array2<f64>> {
    let mut source = MemorySource::new(x.view(), None)?;
    let mut all = Vec::new();
    featurize(map, &mut source, &Device::cpu(), |z| {
        all.extend(z.iter().map(|&z| f64::from(z)));
        Ok(())
    })?;
    let shape = (x.nrows(), map.output_dim());
    Array2::from_shape_vec(shape, all).map_err(|fault| Error::shape(fault.to_string()))
}
