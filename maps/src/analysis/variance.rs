//! Variance of the estimate of k: closed form and measured.

use super::features_of;
use crate::{
    Result,
    data::Rows,
    features::{FeatureMap, Form},
    flow::Run,
    seed::Seed,
};
use ndarray::{Array1, Array2};

/// The variance of `z(x)'z(y)` with D = `features` independent Fourier features, from
/// `k = k(Delta)` and `k_twice = k(2 Delta)`: paired `(1/D) [1 + k(2 Delta) - 2 k(Delta)^2]`, with
/// phases `(1/D) [1 + k(2 Delta)/2 - k(Delta)^2]` (Sutherland & Schneider 2015, sec. 2.1).
pub fn variance(form: Form, features: usize, k: f64, k_twice: f64) -> f64 {
    let one = match form {
        Form::Paired => 1.0 + k_twice - 2.0 * k * k,
        Form::Phase => 1.0 + k_twice / 2.0 - k * k,
    };
    one / features as f64
}

/// Mean and variance over seeds of the estimate of k between pairs of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// Mean of `z(x)'z(y)`, one per pair.
    pub mean: Array1<f64>,
    /// Sample variance about that mean, one per pair.
    pub variance: Array1<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

/// Estimates k between the rows `(i, j)` of each of `pairs` with the map that `build` gives for
/// each seed.
///
/// Errors as building and featurizing do.
pub fn estimates(
    rows: &Rows,
    pairs: &[(usize, usize)],
    run: impl Into<Run>,
    seeds: impl IntoIterator<Item = Seed>,
    mut build: impl FnMut(Seed) -> Result<Box<dyn FeatureMap>>,
) -> Result<Estimates> {
    let run = run.into();
    let mut all = Vec::new();
    let mut count = 0;
    for seed in seeds {
        let z_nd: Array2<f64> = features_of(build(seed)?.as_ref(), rows, &run)?;
        all.extend(pairs.iter().map(|&(i, j)| z_nd.row(i).dot(&z_nd.row(j))));
        count += 1;
    }
    // Welford's recurrence would gain nothing: the values are of order 1 and few.
    let mean = Array1::from_shape_fn(pairs.len(), |p| {
        all.iter().skip(p).step_by(pairs.len()).sum::<f64>() / count as f64
    });
    let variance = Array1::from_shape_fn(pairs.len(), |p| {
        let values = all.iter().skip(p).step_by(pairs.len());
        let squares: f64 = values.map(|v| (v - mean[p]) * (v - mean[p])).sum();
        squares / (count as f64 - 1.0)
    });
    Ok(Estimates {
        mean,
        variance,
        seeds: count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::{
        features::{Affine, Fourier},
        kernels::Gaussian,
    };
    use ndarray::array;

    /// Few seeds, where dividing by one more or one fewer shows.
    #[test]
    fn mean_and_variance_are_those_of_the_estimates() {
        let rows = Rows::from(array![[0.3, -0.2], [0.5, 0.1], [-0.4, 0.9]]);
        let build = |seed| -> Result<Box<dyn FeatureMap>> {
            let map = Fourier::new(Gaussian).features(4).seed(seed);
            Ok(Box::new(map.build(Affine::identity(2))?))
        };
        let (pairs, cpu) = ([(0, 1), (2, 0)], Device::cpu());
        let run = estimates(&rows, &pairs, &cpu, (0..3).map(Seed), build).expect("runs");
        assert_eq!(run.seeds, 3);
        for (p, (i, j)) in pairs.into_iter().enumerate() {
            let k = [0, 1, 2].map(|seed| {
                let map = build(Seed(seed)).expect("builds");
                let z_nd = features_of(map.as_ref(), &rows, &cpu).expect("runs");
                z_nd.row(i).dot(&z_nd.row(j))
            });
            let mean = k.iter().sum::<f64>() / 3.0;
            let variance = k.iter().map(|k| (k - mean).powi(2)).sum::<f64>() / 2.0;
            assert!((run.mean[p] - mean).abs() < 1e-14);
            assert!((run.variance[p] / variance - 1.0).abs() < 1e-12);
        }
    }
}
