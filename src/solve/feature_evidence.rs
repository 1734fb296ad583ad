//! Marginal likelihood of a Gaussian process on features in memory, and its gradient with respect
//! to them.

use super::{Evidence, KnownVariances, LambdaPath, Variances};
use crate::{
    Result,
    linalg::{
        cholesky::Lower,
        entries,
        products::{lower_outer, product},
    },
    normal::NormalEquations,
};
use ndarray::{Array1, Array2, Axis};
use std::f64::consts::TAU;

/// Targets and weights of rows for the evidence, without their features. Equals [`Evidence`], by a
/// Cholesky factor instead of an eigendecomposition, for one ratio and with the gradient.
///
/// A row of weight w has the noise `noise / w`. With R the diagonal of the roots of the weights, `R
/// y` has the covariance `signal (R Z)(R Z)' + noise I`, and all formulas use R Z and R y;
/// densities of y are `|R|` times the densities of R y. An intercept projects the direction `R 1`
/// out of both.
#[derive(Debug)]
pub(crate) struct FeatureEvidence {
    /// Targets times roots, with the intercept projected out, `[n, t]`.
    y_nt: Array2<f64>,
    square_t: Array1<f64>,
    roots_n: Option<Array1<f64>>,
    /// Unit vector along `R 1`, if there is an intercept.
    along_n: Option<Array1<f64>>,
    known: KnownVariances,
    /// Contribution of the weights to the log likelihood of one target.
    of_weights: f64,
    /// Number of rows in the likelihood.
    counted: f64,
}

/// The evidence and its derivatives.
#[derive(Debug)]
pub(crate) struct EvidenceSlope {
    /// `log p(y | x)`, summed over targets.
    pub(crate) value: f64,
    /// Its derivative with respect to the logarithm of the ratio of noise to signal.
    pub(crate) by_log_ratio: f64,
    /// Its derivative with respect to each feature, `[D, n]`.
    pub(crate) by_feature_dn: Array2<f64>,
}

impl FeatureEvidence {
    /// From targets `[n, t]` and optional positive weights of rows, which are precisions or, with
    /// `counts`, frequencies.
    pub(crate) fn new(
        mut y_nt: Array2<f64>,
        (weights_n, counts): (Option<&Array1<f64>>, bool),
        intercept: bool,
        known: KnownVariances,
    ) -> Self {
        let n = y_nt.nrows() as f64;
        let roots_n = weights_n.map(|w| w.mapv(f64::sqrt));
        let mut of_weights = 0.0;
        let mut rows = n;
        if let (Some(roots_n), Some(weights_n)) = (&roots_n, weights_n) {
            y_nt *= &roots_n.view().insert_axis(Axis(1));
            if counts {
                rows = weights_n.sum();
            } else {
                of_weights = 0.5 * weights_n.mapv(f64::ln).sum();
                if intercept {
                    of_weights -= 0.5 * (weights_n.sum() / n).ln();
                }
            }
        }
        let along_n = intercept.then(|| match &roots_n {
            Some(roots_n) => roots_n / roots_n.dot(roots_n).sqrt(),
            None => Array1::from_elem(y_nt.nrows(), n.sqrt().recip()),
        });
        if let Some(along_n) = &along_n {
            let share_t = along_n.dot(&y_nt).insert_axis(Axis(0));
            y_nt -= &(&along_n.view().insert_axis(Axis(1)) * &share_t);
        }
        Self {
            square_t: (&y_nt * &y_nt).sum_axis(Axis(0)),
            y_nt,
            roots_n,
            along_n,
            known,
            of_weights,
            counted: if intercept { rows - 1.0 } else { rows },
        }
    }

    /// `R Z` with the intercept projected out, from and to `[D, n]`.
    fn prepared(&self, mut z_dn: Array2<f64>) -> Array2<f64> {
        if let Some(roots_n) = &self.roots_n {
            z_dn *= roots_n;
        }
        if let Some(along_n) = &self.along_n {
            for mut z in z_dn.rows_mut() {
                let share = z.dot(along_n);
                z.scaled_add(-share, along_n);
            }
        }
        z_dn
    }

    /// Maximum-likelihood variances at features `[D, n]`, unless they are given, and the range of
    /// the log ratio to search.
    ///
    /// Errors as [`Evidence::maximize`] does.
    pub(crate) fn likeliest(&self, z_dn: Array2<f64>) -> Result<(Variances, (f64, f64))> {
        let z_dn = self.prepared(z_dn);
        let (features, rows) = z_dn.dim();
        let sums = NormalEquations {
            rows: rows as u64,
            weight: self.counted + if self.along_n.is_some() { 1.0 } else { 0.0 },
            log_weight: 0.0,
            weight_squares: f64::NAN,
            zty_dt: product(&z_dn, &self.y_nt),
            gram_dd: lower_outer(&z_dn),
            y_square_t: self.square_t.clone(),
            ..NormalEquations::zero(features, self.y_nt.ncols())
        };
        let trace = sums.gram_dd.diag().sum();
        let evidence = Evidence::counting(&sums, self.along_n.is_some())?;
        let variances = evidence.maximize(self.known)?;
        let least = (LambdaPath::CUTOFF * trace).min(variances.ratio).ln();
        Ok((variances, (least, (trace * 1e4).ln())))
    }

    /// Noise of each target at a ratio: as given, or with maximum likelihood.
    fn noise_t(&self, ratio: f64, misfit_t: &Array1<f64>) -> Array1<f64> {
        let every = |noise| Array1::from_elem(misfit_t.len(), noise);
        match (self.known.noise, self.known.signal) {
            (Some(noise), _) => every(noise),
            (None, Some(signal)) => every(signal * ratio),
            (None, None) => misfit_t / self.counted,
        }
    }

    /// Derivative of the evidence with respect to the log ratio, with `tr Z'Z A^-1` and `|beta|^2`
    /// of each target.
    fn by_log_ratio(
        &self,
        (ratio, free): (f64, f64),
        norms_t: &Array1<f64>,
        (misfit_t, noise_t): (&Array1<f64>, &Array1<f64>),
    ) -> f64 {
        let shrunk: f64 = norms_t
            .iter()
            .zip(noise_t)
            .map(|(b, noise)| ratio * b / noise)
            .sum();
        let targets = norms_t.len() as f64;
        let mut by_log_ratio = 0.5 * (targets * free - shrunk);
        if let (None, Some(_)) = (self.known.noise, self.known.signal) {
            // For a given signal the noise grows with the ratio.
            let off: f64 = misfit_t
                .iter()
                .zip(noise_t)
                .map(|(m, noise)| m / noise)
                .sum();
            by_log_ratio += 0.5 * (off - targets * self.counted);
        }
        by_log_ratio
    }

    /// The evidence and its derivatives at features `[D, n]` and a log ratio, with the
    /// maximum-likelihood noise unless given. `None` if rounding leaves no positive definite
    /// matrix.
    ///
    /// With `A = Z'Z + r I`, `beta = A^-1 Z'y`, `e = y - Z beta` for each target and the noise at
    /// its optimum, which does not change first-order terms (Rasmussen & Williams 2006, section
    /// 5.4.1, in feature space): `-2 log p = (e'e + r |beta|^2) / noise + N log(2 pi noise) + log
    /// |A| - D log r`, `d log p / d Z = sum_t e beta' / noise - t Z A^-1`, `-2 d log p / d log r =
    /// sum_t r |beta|^2 / noise - t tr Z'Z A^-1`.
    pub(crate) fn slope(&self, z_dn: Array2<f64>, log_ratio: f64) -> Option<EvidenceSlope> {
        let ratio = log_ratio.exp();
        let z_dn = self.prepared(z_dn);
        let (features, rows) = z_dn.dim();
        let targets = self.y_nt.ncols() as f64;
        let mut a_dd = lower_outer(&z_dn);
        entries::add_to_diagonal(&mut a_dd, ratio);
        let mut factor = Lower::take(a_dd);
        if !factor.factor() {
            return None;
        }
        let log_determinant: f64 = (0..features).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
        let mut beta_dt = product(&z_dn, &self.y_nt);
        factor.solve(&mut beta_dt);
        let explained_t = entries::column_squares(beta_dt.view());
        factor.solve_transposed(&mut beta_dt);
        let mut misfit_t = &self.square_t - &explained_t;
        for (m, y) in misfit_t.iter_mut().zip(&self.square_t) {
            *m = m.max(y * f64::EPSILON);
        }
        let noise_t = self.noise_t(ratio, &misfit_t);
        let counted = self.counted;
        let stretch = log_determinant - features as f64 * log_ratio;
        let each = misfit_t.iter().zip(&noise_t);
        let each = each.map(|(misfit, noise)| misfit / noise + counted * (TAU * noise).ln());
        let value = targets * self.of_weights - 0.5 * (each.sum::<f64>() + targets * stretch);

        // A^-1 Z', and tr Z'Z A^-1 on the way.
        let mut slope_dn = z_dn.clone();
        factor.solve(&mut slope_dn);
        factor.solve_transposed(&mut slope_dn);
        let free: f64 = slope_dn.iter().zip(&z_dn).map(|(a, z)| a * z).sum();
        let norms_t = entries::column_squares(beta_dt.view());
        let by_log_ratio = self.by_log_ratio((ratio, free), &norms_t, (&misfit_t, &noise_t));
        let mut scaled_tn = Array2::zeros((self.y_nt.ncols(), rows));
        scaled_tn.assign(&self.y_nt.t());
        let fitted_nt = z_dn.t().dot(&beta_dt);
        scaled_tn -= &fitted_nt.t();
        scaled_tn /= &noise_t.view().insert_axis(Axis(1));
        drop(z_dn);
        slope_dn *= -targets;
        slope_dn += &product(&beta_dt, &scaled_tn);
        if let Some(roots_n) = &self.roots_n {
            slope_dn *= roots_n;
        }
        value.is_finite().then_some(EvidenceSlope {
            value,
            by_log_ratio,
            by_feature_dn: slope_dn,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    /// Thirteen rows of six features, two targets, and weights.
    fn rows() -> (Array2<f64>, Array2<f64>, Array1<f64>) {
        let mut draws = Seed(3).stream(Stream::Data, 0);
        let z_dn = Array2::from_shape_simple_fn((6, 13), || 0.2 + draws.normal());
        let y_nt = Array2::from_shape_fn((13, 2), |(i, k)| {
            z_dn[[0, i]] - 2.0 * z_dn[[3 - k, i]] + 4.0 + 0.3 * draws.normal()
        });
        let weights_n = Array1::from_shape_fn(13, |i| 0.3 + (i % 4) as f64);
        (z_dn, y_nt, weights_n)
    }

    fn known() -> [KnownVariances; 4] {
        let of = |noise, signal| KnownVariances { noise, signal };
        [
            of(None, None),
            of(Some(0.3), None),
            of(None, Some(2.0)),
            of(Some(0.3), Some(2.0)),
        ]
    }

    #[test]
    fn without_weights_it_is_the_evidence_of_the_sums() {
        let (z_dn, y_nt, _) = rows();
        let sums = NormalEquations {
            rows: 13,
            weight: 13.0,
            log_weight: 0.0,
            weight_squares: 13.0,
            gram_dd: z_dn.dot(&z_dn.t()),
            zty_dt: z_dn.dot(&y_nt),
            z_sum_d: z_dn.sum_axis(Axis(1)),
            y_sum_t: y_nt.sum_axis(Axis(0)),
            y_square_t: (&y_nt * &y_nt).sum_axis(Axis(0)),
            rest: Vec::new(),
        };
        for intercept in [true, false] {
            let evidence = Evidence::new(&sums, intercept).expect("decomposes");
            for known in known() {
                let own = FeatureEvidence::new(y_nt.clone(), (None, false), intercept, known);
                let (variances, _) = own.likeliest(z_dn.clone()).expect("found");
                let expected = evidence.maximize(known).expect("found");
                assert!((variances.ratio / expected.ratio - 1.0).abs() < 1e-5);
                let expected = evidence.log_marginal_likelihood(&expected);
                let slope = own.slope(z_dn.clone(), variances.ratio.ln());
                let slope = slope.expect("positive definite");
                assert!(
                    (slope.value - expected).abs() < 1e-9,
                    "{known:?}: {slope:?}"
                );
                // The derivative vanishes at the maximum.
                if known.noise.is_none() || known.signal.is_none() {
                    assert!(slope.by_log_ratio.abs() < 1e-4, "{known:?}: {slope:?}");
                }
            }
        }
    }

    #[test]
    fn derivatives_are_differences_of_values() {
        let (z_dn, y_nt, weights_n) = rows();
        let step = 1e-5;
        for (intercept, weighted) in [(true, false), (false, false), (true, true), (false, true)] {
            for known in known() {
                let weights = weighted.then_some(&weights_n);
                let own = FeatureEvidence::new(y_nt.clone(), (weights, false), intercept, known);
                let at = |z_dn: &Array2<f64>, log_ratio: f64| {
                    let slope = own.slope(z_dn.clone(), log_ratio);
                    slope.expect("positive definite")
                };
                let slope = at(&z_dn, -0.7);
                for (i, j) in [(0, 0), (3, 5), (5, 12), (2, 7)] {
                    let moved = |by: f64| {
                        let mut z_dn = z_dn.clone();
                        z_dn[[i, j]] += by;
                        at(&z_dn, -0.7).value
                    };
                    let expected = (moved(step) - moved(-step)) / (2.0 * step);
                    let found = slope.by_feature_dn[[i, j]];
                    assert!((found - expected).abs() < 1e-7, "{found} {expected}");
                }
                if known.noise.is_none() || known.signal.is_none() {
                    let moved = |by: f64| at(&z_dn, -0.7 + by).value;
                    let expected = (moved(step) - moved(-step)) / (2.0 * step);
                    let found = slope.by_log_ratio;
                    assert!((found - expected).abs() < 1e-7, "{found} {expected}");
                }
            }
        }
    }

    /// A row of weight w has the noise s^2 / w: compares with the density of the targets by the
    /// covariance of all rows.
    #[test]
    fn weights_divide_the_noise() {
        let (z_dn, y_nt, weights_n) = rows();
        let (noise, signal) = (0.3, 2.0);
        let known = KnownVariances {
            noise: Some(noise),
            signal: Some(signal),
        };
        // log N(y; 0, C), and |U'CU| = |C| 1'C^-1 1 / n of contrasts U.
        let mut c_nn = z_dn.t().dot(&z_dn) * signal;
        c_nn.diag_mut()
            .zip_mut_with(&weights_n, |c, w| *c += noise / w);
        let mut factor = Lower::from_matrix(&c_nn);
        assert!(factor.factor());
        let log_determinant: f64 = (0..13).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
        let solved = ndarray::concatenate![Axis(1), y_nt, Array2::ones((13, 1))];
        let mut solved = solved.as_standard_layout().into_owned();
        factor.solve(&mut solved);
        let ones = solved.column(2).to_owned();
        for intercept in [false, true] {
            let mut expected = 0.0;
            for k in 0..2 {
                let y = solved.column(k);
                let (mut square, mut determinant, mut counted) = (y.dot(&y), log_determinant, 13.0);
                if intercept {
                    square -= y.dot(&ones).powi(2) / ones.dot(&ones);
                    determinant += (ones.dot(&ones) / 13.0).ln();
                    counted -= 1.0;
                }
                expected -= 0.5 * (square + determinant + counted * TAU.ln());
            }
            let own =
                FeatureEvidence::new(y_nt.clone(), (Some(&weights_n), false), intercept, known);
            let slope = own.slope(z_dn.clone(), (noise / signal).ln());
            let found = slope.expect("positive definite").value;
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
    }
}
