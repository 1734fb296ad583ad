//! Fits in the dual: features of all rows in memory, where they are fewer than features.

use super::{FitTimes, LinearModel};
use crate::clock::Instant;
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
    error::Remedy,
    features::{End, FeatureMap, Featurizer, Lane},
    flow::Run,
    normal::Targets,
    solve::Dual,
    text::{counted, human_bytes},
};
use ndarray::{Array1, Array2, s};

/// What features of so many rows, and their products with each other, take.
fn bytes(rows: u64, features: usize) -> u64 {
    8u64.saturating_mul(rows)
        .saturating_mul(rows.saturating_add(features as u64))
}

/// Whether the dual is the cheaper way, and fits into memory.
pub(super) fn suits(rows: u64, features: usize, run: &Run) -> bool {
    rows < features as u64 && bytes(rows, features) <= run.memory
}

/// Reads `source` once, and solves. Errors with [`Error::Limit`] as soon as there are more rows
/// than memory has room for.
pub(super) fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    dual: Dual,
    run: &Run,
) -> Result<LinearModel> {
    if source.targets() == 0 {
        return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
    }
    let start = Instant::now();
    let features = map.output_dim();
    let lanes = vec![Lane::features(map.as_ref())?];
    let mut featurizer = Featurizer::new(lanes, source.targets(), End::Host, run)?;
    let (mut z, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = 0;
    let with = |chunk: &Chunk, rows: std::ops::Range<usize>| {
        let y = chunk.y.slice(s![rows.clone(), ..]).to_owned();
        let weights = chunk.weights.as_ref().map(|w| w.slice(s![rows]).to_owned());
        (y, weights)
    };
    featurizer.on_host(source, with, |z_nd, (y_nt, weights_n)| {
        seen += y_nt.nrows() as u64;
        if bytes(seen, features) > run.memory {
            return Err(Error::Limit {
                what: format!(
                    "{} of more than {} in memory",
                    counted(features, "feature"),
                    counted(seen as usize - y_nt.nrows(), "row")
                ),
                needed: format!("more than {}", human_bytes(bytes(seen, features))),
                allowed: human_bytes(run.memory),
                remedies: vec![
                    Remedy::MoreMemory,
                    Remedy::FewerFeatures,
                    Remedy::words("use the Cholesky solver"),
                ],
            });
        }
        z.extend(z_nd[0].iter().map(|&z| f64::from(z)));
        // Nothing is rounded to f32 here, so the shift has no use.
        let encoded = targets.encode(y_nt.view())?;
        let shift: Array1<f64> = (0..targets.outputs()).map(|k| targets.shift(k)).collect();
        y.extend(encoded + shift);
        weights.extend(weights_n.into_iter().flatten());
        Ok(())
    })?;
    drop(featurizer);
    let accumulate = start.elapsed();
    let start = Instant::now();
    let rows = seen as usize;
    let shape = |e: ndarray::ShapeError| Error::shape(e.to_string());
    let z_nd = Array2::from_shape_vec((rows, features), z).map_err(shape)?;
    let y_nt = Array2::from_shape_vec((rows, targets.outputs()), y).map_err(shape)?;
    let weights_n = source.is_weighted().then(|| Array1::from(weights));
    let weights_n = weights_n.as_ref().map(|w| w.view());
    let (coefficients, dimension) = dual.solve(z_nd, y_nt, weights_n)?;
    let mut model = LinearModel {
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed(),
        }),
        lambda: dual.lambda,
        rows: seen,
        ..LinearModel::new(map, coefficients, targets, &run.device)
    };
    let facts = [
        ("effective_dimension", dimension),
        ("rows_in_memory", rows as f64),
    ];
    model
        .facts
        .extend(facts.map(|(name, v)| (name.to_owned(), v)));
    Ok(model)
}
