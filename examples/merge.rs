//! Sums of parts of the data, computed anywhere, merged to one model: `cargo run --release
//! --example merge`.
//!
//! Every machine draws the same map from the same seed and input, sums its own rows, and writes the
//! sums to a file. Whoever collects the files merges and solves. No rows travel.

use bochner::{
    data::MemorySource,
    features::Affine,
    models::{LinearModel, Targets},
    prelude::*,
    solve::{Cholesky, NormalEquations},
};
use ndarray::{Array2, Axis};

/// What all machines agree on: raw columns are divided by 0.5, 200 features come from seed 1, and y
/// is left as it is.
fn agreed() -> Result<(Box<dyn bochner::features::FeatureMap>, Targets)> {
    let input = Affine::identity(2).lengthscale(0.5)?;
    let map = Fourier::new(Gaussian)
        .features(200)
        .seed(Seed(1))
        .build(input)?;
    Ok((
        Box::new(map),
        Targets::Real {
            columns: 1,
            shift: vec![0.0],
        },
    ))
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io("the temporary folder", e))?;
    let x = Array2::from_shape_fn((3000, 2), |(i, j)| {
        ((i * (31 * j + 7)) % 499) as f64 / 250.0
    });
    let y = x
        .map_axis(Axis(1), |x| (3.0 * x[0]).sin() + x[1])
        .insert_axis(Axis(1));
    let device = Device::cpu();

    // Three machines with a thousand rows each.
    for (i, (x, y)) in x
        .axis_chunks_iter(Axis(0), 1000)
        .zip(y.axis_chunks_iter(Axis(0), 1000))
        .enumerate()
    {
        let (map, targets) = agreed()?;
        let mut source = MemorySource::new(x, Some(y.to_owned()))?;
        let sums = NormalEquations::accumulate(map.as_ref(), &mut source, &targets, &device)?;
        sums.save(folder.path().join(format!("part-{i}")))?;
    }

    // Whoever collects them.
    let (map, targets) = agreed()?;
    let mut sums = NormalEquations::zero(map.output_dim(), targets.outputs());
    for i in 0..3 {
        sums.merge(&NormalEquations::load(
            folder.path().join(format!("part-{i}")),
        )?)?;
    }
    let ridge = Cholesky::default();
    let model = LinearModel {
        lambda: ridge.lambda,
        rows: sums.rows,
        ..LinearModel::new(map, ridge.solve(&sums)?, targets, &device)
    };
    let path = folder.path().join("merged.model");
    model.save(&path)?;
    let predicted: Array2<f64> = Model::load(&path)?.predict(&x)?;
    let worst = (&predicted - &y).fold(0.0_f64, |worst, e| worst.max(e.abs()));
    println!(
        "{} rows of three parts: largest error {worst:.1e}",
        sums.rows
    );
    assert!(worst < 0.01, "{worst}");
    Ok(())
}
