//! Rows for leave-one-out errors, and residuals from leverages.

use crate::{
    Result,
    data::{Chunk, ChunkSource, KeptRows},
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
    model::Targets,
};
use ndarray::{Array1, Array2, ArrayView2, s};

/// Smallest `1 - h` above rounding, with h the leverage of a row.
const LEAST: f64 = 1e-12;

/// Leave-one-out residual from the residual and `1 - h`; infinite if `1 - h` is lost to rounding,
/// since it is unknown then. A residual of exactly 0, such as that of a single row with its mean,
/// gives 0.
pub(super) fn unseen(residual: f64, left: f64) -> f64 {
    if left > LEAST {
        residual / left
    } else if residual == 0.0 {
        0.0
    } else {
        f64::INFINITY
    }
}

/// `1 - s h` for the left-out share s of a row, from `1 - h` for the whole row.
pub(super) fn left_by_share(left: f64, share: f64) -> f64 {
    left + (1.0 - share) * (1.0 - left)
}

/// Rows that were summed with others, for leave-one-out errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookedAt<'a> {
    /// The rows.
    pub(crate) kept: &'a KeptRows,
    /// The map that they were summed on.
    pub(crate) map: &'a dyn FeatureMap,
    /// Kind of their targets.
    pub(crate) targets: &'a Targets,
    /// Device and memory for their features.
    pub(crate) run: &'a Run,
}

/// Portion of these rows.
pub(super) struct Portion<'a> {
    pub(super) z_md: ArrayView2<'a, f32>,
    pub(super) y_mt: Array2<f64>,
    /// Weight of each row, all its copies together.
    pub(super) weights_m: Vec<f64>,
    /// Part of that weight that one observation has.
    pub(super) left_out_m: Vec<f64>,
}

impl LookedAt<'_> {
    /// Calls `take` with all of them in portions that fit into memory, and returns their total
    /// weight. Errors as maps and devices do.
    pub(super) fn for_each_portion(&self, mut take: impl FnMut(Portion<'_>)) -> Result<f64> {
        let (mut weight, mut first) = (0.0, 0);
        let share_m = self.kept.observations().share_m;
        let (source, run) = (&mut self.kept.source(), self.run.silent());
        each_row(
            self.map,
            source,
            self.targets,
            &run,
            |z_md, y_mt, weights_m| {
                weight += weights_m.iter().sum::<f64>();
                let pairs = weights_m.iter().zip(&share_m[first..]);
                let left_out_m = pairs.map(|(weight, share)| weight * share).collect();
                first += weights_m.len();
                take(Portion {
                    z_md,
                    y_mt,
                    weights_m,
                    left_out_m,
                });
            },
        )?;
        Ok(weight)
    }
}

/// Calls `take` with features, targets and weights of all rows, in portions.
pub(super) fn each_row(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    run: &Run,
    mut take: impl FnMut(ArrayView2<'_, f32>, Array2<f64>, Vec<f64>),
) -> Result<()> {
    let branches = vec![Branch::features(map)?];
    let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
    let shift = Array1::from_shape_fn(targets.outputs(), |k| targets.shift(k));
    let with = |chunk: &Chunk, range: std::ops::Range<usize>| {
        let weights_m = match &chunk.weights {
            Some(weights_n) => weights_n.slice(s![range.clone()]).to_vec(),
            None => vec![1.0; range.len()],
        };
        let y_mt = targets.encode(chunk.y.slice(s![range, ..]));
        y_mt.map(|y_mt| (y_mt + &shift, weights_m))
    };
    featurizer.on_host(source, with, |z, with| {
        let (y_mt, weights_m) = with?;
        take(z[0], y_mt, weights_m);
        Ok(())
    })?;
    Ok(())
}
