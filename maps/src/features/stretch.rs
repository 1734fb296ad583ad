//! Rows in memory under the cosines of a Fourier map, as the lengthscale of each column changes:
//! features in f64 and what they change by. The drawn frequencies stay.

use super::DenseFeatures;
use crate::{Result, data::Rows, linalg::products::product, ops::Nonlinearity, parallel};
use ndarray::{Array1, Array2, Axis, s};
use std::f64::consts::TAU;

/// Rows under cosines. With u the row in turns at the lengthscales of the map, and `l_j` the factor
/// by which that of column j is longer, a frequency w turns by `t = sum_j w_j u_j / l_j + phase`,
/// so that `dt / d log l_j = -w_j u_j / l_j`.
#[derive(Debug)]
#[doc(hidden)]
pub struct Stretched {
    /// Columns in turns, `[d, n]`.
    u_dn: Array2<f64>,
    w_sd: Array2<f64>,
    phase_s: Array1<f64>,
    amplitude_s: Array1<f64>,
    paired: bool,
}

/// Features of all rows at some lengthscales, and what each frequency's change by.
#[derive(Debug)]
#[doc(hidden)]
pub struct StretchedFeatures {
    /// `[D, n]`.
    #[doc(hidden)]
    pub z_dn: Array2<f64>,
    /// Sines of the phase form, whose features are cosines alone, `[s, n]`.
    sine_sn: Option<Array2<f64>>,
}

impl Stretched {
    /// Raw rows under at most `most` features of `map`, whose nonlinearity is one of cosines: the
    /// first frequencies, with as much weight as all have.
    ///
    /// Errors on rows of other columns than the map's.
    #[doc(hidden)]
    pub fn new(map: &DenseFeatures, rows: &Rows, most: usize) -> Result<Self> {
        let dense = &map.dense;
        let paired = matches!(dense.nonlinearity, Nonlinearity::CosSin);
        let all = dense.freqs();
        let kept = all.min((most / dense.nonlinearity.outputs()).max(1));
        let more = (all as f64 / kept as f64).sqrt();
        let u_nd = map.input.apply(rows)?;
        Ok(Self {
            u_dn: u_nd.t().as_standard_layout().into_owned(),
            w_sd: Array2::from_shape_fn((kept, dense.depth()), |(s, j)| dense.w_ds[[j, s]].into()),
            phase_s: dense.phase_s.iter().take(kept).map(|&p| p.into()).collect(),
            amplitude_s: (dense.amplitude_s.iter().take(kept))
                .map(|&a| f64::from(a) * more)
                .collect(),
            paired,
        })
    }

    /// Columns of the rows.
    #[doc(hidden)]
    pub fn columns(&self) -> usize {
        self.u_dn.nrows()
    }

    /// The features at lengthscales longer by these factors, one for each column.
    #[doc(hidden)]
    pub fn features(&self, factor_d: &[f64]) -> StretchedFeatures {
        let inverse_d = Array1::from_iter(factor_d.iter().map(|l| 1.0 / l));
        let mut cosine_sn = product(&(&self.w_sd * &inverse_d), &self.u_dn);
        let mut sine_sn = Array2::zeros(cosine_sn.dim());
        let rows = self.u_dn.ncols();
        let cosines = cosine_sn.as_slice_mut().expect("standard layout");
        let sines = sine_sn.as_slice_mut().expect("standard layout");
        let each = cosines.chunks_mut(rows.max(1));
        let mut each: Vec<_> = each.zip(sines.chunks_mut(rows.max(1))).collect();
        parallel::usual().parts(&mut each, &|s, (cosines, sines)| {
            let (phase, amplitude) = (self.phase_s[s], self.amplitude_s[s]);
            for (cosine, sine) in cosines.iter_mut().zip(sines.iter_mut()) {
                let turns = *cosine + phase;
                let (sin, cos) = (TAU * (turns - turns.round())).sin_cos();
                (*cosine, *sine) = (amplitude * cos, amplitude * sin);
            }
        });
        if self.paired {
            StretchedFeatures {
                z_dn: ndarray::concatenate![Axis(0), cosine_sn, sine_sn],
                sine_sn: None,
            }
        } else {
            StretchedFeatures {
                z_dn: cosine_sn,
                sine_sn: Some(sine_sn),
            }
        }
    }

    /// What a function of the features, whose derivative by each is `by_feature_dn`, changes by
    /// with the logarithm of each column's lengthscale, `[d]`:
    /// `-sum_i (u_ij / l_j) sum_k w_kj 2 pi P_ik`, P its derivative by each phase in radians.
    #[doc(hidden)]
    pub fn by_log_lengthscale(
        &self,
        factor_d: &[f64],
        features: &StretchedFeatures,
        by_feature_dn: &Array2<f64>,
    ) -> Vec<f64> {
        let freqs = self.w_sd.nrows();
        let z_dn = &features.z_dn;
        let by_phase_sn = match &features.sine_sn {
            Some(sine_sn) => -(by_feature_dn * sine_sn),
            None => {
                let (cosine, sine) = (z_dn.slice(s![..freqs, ..]), z_dn.slice(s![freqs.., ..]));
                let by_cosine = by_feature_dn.slice(s![..freqs, ..]);
                let by_sine = by_feature_dn.slice(s![freqs.., ..]);
                &by_sine * &cosine - &by_cosine * &sine
            }
        };
        let w_ds = self.w_sd.t().as_standard_layout().into_owned();
        let turned_dn = product(&w_ds, &by_phase_sn);
        let columns = self.u_dn.rows().into_iter().zip(turned_dn.rows());
        let along = columns.map(|(u, turned)| u.dot(&turned));
        along
            .zip(factor_d)
            .map(|(along, l)| -TAU * along / l)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        features::{Affine, FeatureMap, Form, Fourier, Transformer},
        kernels::{Gaussian, Kernel, Laplacian, Matern, RationalQuadratic},
        sampling::Sampling,
        seed::{Seed, Stream},
    };
    use std::sync::Arc;

    fn maps() -> Vec<DenseFeatures> {
        let kernels: [Arc<dyn Kernel>; 4] = [
            Arc::new(Gaussian),
            Arc::new(Laplacian),
            Arc::new(Matern::new(1.5).expect("a kernel")),
            Arc::new(RationalQuadratic::new(2.0).expect("a kernel")),
        ];
        let input = || Affine::new(vec![0.1, -0.2, 0.0], vec![0.4, 0.9, 0.6]).expect("finite");
        let of = |kernel: &Arc<dyn Kernel>, form, sampling| {
            let map = Fourier::new(kernel.clone()).features(24).form(form);
            map.sampling(sampling).build(input()).expect("builds")
        };
        let mut maps = Vec::new();
        for kernel in &kernels {
            maps.push(of(kernel, Form::Paired, Sampling::MonteCarlo));
            maps.push(of(kernel, Form::Phase, Sampling::MonteCarlo));
        }
        maps.push(of(&kernels[0], Form::Paired, Sampling::Orthogonal));
        maps
    }

    fn rows() -> Rows {
        let mut draws = Seed(4).stream(Stream::Data, 0);
        Array2::from_shape_simple_fn((9, 3), || draws.normal()).into()
    }

    /// As the map gives them whose lengthscales are longer.
    #[test]
    fn features_are_those_of_the_map() {
        let factors = [0.7, 1.9, 1.0];
        for map in maps() {
            let own = Stretched::new(&map, &rows(), 1000).expect("three columns");
            let found = own.features(&factors).z_dn;
            let longer = map.stretched(&factors).expect("positive");
            let mut z_nd = Array2::<f64>::zeros((9, 24));
            let transformer = Transformer::new(&longer, &Device::cpu());
            let mut transformer = transformer.expect("loads");
            transformer.rows(&rows(), z_nd.view_mut()).expect("runs");
            let apart = found - z_nd.t();
            assert!(apart.iter().all(|e| e.abs() < 3e-6), "{}", map.describe());
        }
    }

    /// Of more frequencies than asked for the first ones stand for all.
    #[test]
    fn fewer_frequencies_count_as_much() {
        for map in maps() {
            let own = Stretched::new(&map, &rows(), 10).expect("three columns");
            let z_dn = own.features(&[1.0; 3]).z_dn;
            assert_eq!(z_dn.nrows(), 10);
            if own.paired {
                let squares = z_dn.map_axis(Axis(0), |z| z.dot(&z));
                assert!(squares.iter().all(|z| (z - 1.0).abs() < 1e-6), "{squares}");
            }
        }
    }

    #[test]
    fn derivatives_are_differences_of_values() {
        let step = 1e-6;
        for map in maps() {
            let own = Stretched::new(&map, &rows(), 1000).expect("three columns");
            // Some function of the features: a sum with these factors.
            let mut draws = Seed(5).stream(Stream::Data, 0);
            let slope_dn = Array2::from_shape_simple_fn((24, 9), || draws.normal());
            let value = |factors: &[f64]| (own.features(factors).z_dn * &slope_dn).sum();
            let factors = [0.7, 1.9, 1.0];
            let found = own.by_log_lengthscale(&factors, &own.features(&factors), &slope_dn);
            for j in 0..3 {
                let moved = |by: f64| {
                    let mut factors = factors;
                    factors[j] *= f64::exp(by);
                    value(&factors)
                };
                let expected = (moved(step) - moved(-step)) / (2.0 * step);
                let error = (found[j] - expected).abs();
                assert!(
                    error < 1e-7 * expected.abs().max(1.0),
                    "{found:?} {expected}"
                );
            }
        }
    }
}
