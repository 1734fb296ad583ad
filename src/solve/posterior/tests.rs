//! Evidence and posterior compared with the exact process.

mod weighted;

use super::*;
use crate::linalg::cholesky::Lower;
use crate::seed::{Seed, Stream};
use ndarray::{Array2, Axis};

/// Twelve rows of five features, two targets.
fn data() -> (Array2<f64>, Array2<f64>) {
    let mut draws = Seed(3).stream(Stream::Data, 0);
    let z = Array2::from_shape_simple_fn((12, 5), || draws.normal());
    let y = Array2::from_shape_fn((12, 2), |(i, k)| {
        z[[i, 0]] - 2.0 * z[[i, 3 - k]] + 4.0 + 0.3 * draws.normal()
    });
    (z, y)
}

fn sums(z: &Array2<f64>, y: &Array2<f64>) -> NormalEquations {
    NormalEquations {
        weight: z.nrows() as f64,
        log_weight: 0.0,
        weight_squares: z.nrows() as f64,
        rows: z.nrows() as u64,
        gram_dd: z.t().dot(z),
        zty_dt: z.t().dot(y),
        z_sum_d: z.sum_axis(Axis(0)),
        y_sum_t: y.sum_axis(Axis(0)),
        y_square_t: (y * y).sum_axis(Axis(0)),
        rest: Vec::new(),
    }
}

/// An orthonormal basis of the complement of constants, `[n, n - 1]` (Helmert's).
fn contrasts(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, n - 1), |(i, k)| {
        let m = (k + 1) as f64;
        match i.cmp(&(k + 1)) {
            std::cmp::Ordering::Less => 1.0 / (m * (m + 1.0)).sqrt(),
            std::cmp::Ordering::Equal => -(m / (m + 1.0)).sqrt(),
            std::cmp::Ordering::Greater => 0.0,
        }
    })
}

/// The exact Gaussian process: everything from the n x n covariance.
struct Exact {
    factor: Lower,
    log_determinant: f64,
}

impl Exact {
    fn new(k_nn: &Array2<f64>) -> Self {
        let mut factor = Lower::from_matrix(k_nn);
        assert!(factor.factor(), "positive definite");
        let log_determinant = (0..k_nn.nrows()).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
        Self {
            factor,
            log_determinant,
        }
    }

    /// `b' K^-1 b` for each column of b.
    fn quadratic(&self, b: &Array2<f64>) -> Array1<f64> {
        let mut b = b.as_standard_layout().into_owned();
        self.factor.solve(&mut b);
        b.map_axis(Axis(0), |c| c.dot(&c))
    }
}

#[test]
fn the_likelihood_is_that_of_the_exact_process() {
    let (z, y) = data();
    let variances = Variances {
        ratio: 0.4,
        noise_t: Array1::from(vec![0.2, 0.9]),
    };
    for intercept in [false, true] {
        let (z, y, all) = if intercept {
            let u = contrasts(12);
            (u.t().dot(&z), u.t().dot(&y), sums(&z, &y))
        } else {
            (z.clone(), y.clone(), sums(&z, &y))
        };
        let evidence = Evidence::new(&all, intercept).expect("decomposes");
        let mut expected = 0.0;
        for k in 0..2 {
            let noise = variances.noise_t[k];
            let mut k_nn = z.dot(&z.t()) * (noise / variances.ratio);
            k_nn.diag_mut().mapv_inplace(|v| v + noise);
            let exact = Exact::new(&k_nn);
            let y = y.column(k).to_owned().insert_axis(Axis(1));
            let n = z.nrows() as f64;
            expected -= 0.5 * (exact.quadratic(&y)[0] + exact.log_determinant + n * TAU.ln());
        }
        let found = evidence.log_marginal_likelihood(&variances);
        assert!(
            (found - expected).abs() < 1e-10 * expected.abs(),
            "{found} {expected}"
        );
    }
}

#[test]
fn mean_and_variance_are_those_of_the_exact_process() {
    let (z, y) = data();
    let evidence = Evidence::new(&sums(&z, &y), false).expect("decomposes");
    let variances = Variances {
        ratio: 0.4,
        noise_t: Array1::from(vec![0.2, 0.2]),
    };
    let posterior = evidence.posterior(&variances).expect("posterior");
    let mut draws = Seed(5).stream(Stream::Data, 1);
    let new = Array2::from_shape_simple_fn((3, 5), || draws.normal());
    // f* | y ~ N(k*'K^-1 y, k** - k*'K^-1 k*), Rasmussen & Williams (2.22) to (2.24).
    let signal = 0.5;
    let mut k_nn = z.dot(&z.t()) * signal;
    k_nn.diag_mut().mapv_inplace(|v| v + 0.2);
    let exact = Exact::new(&k_nn);
    let cross = z.dot(&new.t()) * signal;
    let (mut l_cross, mut l_y) = (cross.as_standard_layout().into_owned(), y.clone());
    exact.factor.solve(&mut l_cross);
    exact.factor.solve(&mut l_y);
    let mean = l_cross.t().dot(&l_y);
    let found = new.dot(&posterior.coefficients.beta_dt);
    assert!(
        (&mean - &found).iter().all(|e| e.abs() < 1e-12),
        "{mean} {found}"
    );
    let own = new.map_axis(Axis(1), |row| row.dot(&row) * signal);
    let variance = &own - &l_cross.map_axis(Axis(0), |c| c.dot(&c));
    let found = {
        let spread = &posterior.spread;
        spread.relative_variance(&new.dot(&spread.root_dd))
    } * 0.2;
    assert!(
        (&variance - &found).iter().all(|e| e.abs() < 1e-12),
        "{variance} {found}"
    );
    let covariance = new.dot(&new.t()) * signal - l_cross.t().dot(&l_cross);
    let found = {
        let spread = &posterior.spread;
        spread.relative_covariance(&new.dot(&spread.root_dd))
    } * 0.2;
    assert!(
        (&covariance - &found).iter().all(|e| e.abs() < 1e-12),
        "{covariance} {found}"
    );
}

/// The intercept equals an additional feature with an unbounded prior.
#[test]
fn an_intercept_is_a_feature_of_unbounded_variance() {
    let (z, y) = data();
    let with = Evidence::new(&sums(&z, &y), true).expect("decomposes");
    // With a wider one the features would count as rounding of the trace.
    let wide = 500.0;
    let column = Array2::from_elem((12, 1), wide);
    let extended = ndarray::concatenate![Axis(1), z, column];
    let without = Evidence::new(&sums(&extended, &y), false).expect("decomposes");
    let variances = Variances {
        ratio: 0.4,
        noise_t: Array1::from(vec![0.2, 0.2]),
    };
    let posterior = |e: Evidence| e.posterior(&variances).expect("posterior");
    let (with, without) = (posterior(with), posterior(without));
    let row = ndarray::array![[-1.0, -0.6, -0.3, 0.0, 0.3], [0.2, 0.5, -0.4, 0.1, -0.7]];
    let longer = ndarray::concatenate![Axis(1), row, Array2::from_elem((2, 1), wide)];
    let rooted = row.dot(&with.spread.root_dd);
    let a = with.spread.relative_covariance(&rooted);
    let b = without
        .spread
        .relative_covariance(&longer.dot(&without.spread.root_dd));
    let size = a.diag().sum();
    assert!((&a - &b).iter().all(|e| e.abs() < 1e-6 * size), "{a} {b}");
    let variance = with.spread.relative_variance(&rooted);
    assert!(
        (&a.diag() - &variance)
            .iter()
            .all(|e| e.abs() < 1e-12 * size),
        "{a} {variance}"
    );
    let a = &row.dot(&with.coefficients.beta_dt) + &with.coefficients.intercept_t;
    let b = longer.dot(&without.coefficients.beta_dt);
    assert!((&a - &b).iter().all(|e| e.abs() < 1e-6), "{a} {b}");
}

/// No neighbour is more likely, for any given variances.
#[test]
fn the_variances_are_where_the_likelihood_is_largest() {
    let (z, y) = data();
    for intercept in [false, true] {
        let evidence = Evidence::new(&sums(&z, &y), intercept).expect("decomposes");
        for (noise, signal) in [(None, None), (Some(0.15), None), (None, Some(3.0))] {
            let known = KnownVariances { noise, signal };
            let best = evidence.maximize(known).expect("finds");
            let top = evidence.log_marginal_likelihood(&best);
            for factor in [0.97, 1.03] {
                let ratio = best.ratio * factor;
                let mut others = vec![Variances {
                    ratio,
                    noise_t: evidence.noise_t(ratio, known),
                }];
                if (noise, signal) == (None, None) {
                    others.push(Variances {
                        ratio: best.ratio,
                        noise_t: &best.noise_t * factor,
                    });
                }
                for other in others {
                    let there = evidence.log_marginal_likelihood(&other);
                    assert!(there < top, "{known:?}: {there} at {factor}, {top}");
                }
            }
            if let Some(signal) = signal {
                assert!((best.signal_t()[0] - signal).abs() < 1e-12);
            }
        }
    }
}

/// Functions drawn from the posterior have its mean and its variance, at a row near the data
/// and at one far away, with and without an intercept.
#[test]
fn samples_have_the_mean_and_variance_of_the_posterior() {
    let (z, y) = data();
    let mut rows = ndarray::array![[0.3, -0.2, 0.1, 0.5, 0.0], [4.0, -6.0, 5.0, 1.0, -3.0]];
    // At the mean of the data only an intercept varies.
    let mean = z.mean_axis(Axis(0)).expect("rows");
    rows.push_row(mean.view()).expect("as wide");
    for intercept in [false, true] {
        let evidence = Evidence::new(&sums(&z, &y), intercept).expect("decomposes");
        let variances = evidence.maximize(KnownVariances::default());
        let Posterior {
            coefficients,
            spread,
        } = evidence
            .posterior(&variances.expect("finds"))
            .expect("posterior");
        let relative = spread.relative_variance(&rows.dot(&spread.root_dd));
        let mean = rows.dot(&coefficients.beta_dt) + &coefficients.intercept_t;
        let count = 20_000;
        for target in [0, 1] {
            let drawn = spread.sample(&coefficients, target, count, Seed(9));
            let f = rows.dot(&drawn.beta_dt) + &drawn.intercept_t;
            for (i, f) in f.rows().into_iter().enumerate() {
                let variance = relative[i] * spread.noise_t[target];
                let off = f.sum() / count as f64 - mean[[i, target]];
                let errors = (variance / count as f64).sqrt();
                assert!(off.abs() < 4.0 * errors, "{off} in units of {errors}");
                let found = f.var(1.0);
                // Four standard errors of a variance.
                let bound = 4.0 * (2.0 / count as f64).sqrt();
                assert!((found / variance - 1.0).abs() < bound, "{found} {variance}");
            }
        }
    }
}

/// Drawn functions have the covariance of the exact process: `k** - k*'K^-1 k*`, Rasmussen &
/// Williams (2.24).
#[test]
fn samples_have_the_covariance_of_the_exact_process() {
    let (z, y) = data();
    let evidence = Evidence::new(&sums(&z, &y), false).expect("decomposes");
    let (noise, signal) = (0.2, 0.5);
    let variances = Variances {
        ratio: noise / signal,
        noise_t: Array1::from(vec![noise; 2]),
    };
    let Posterior {
        coefficients,
        spread,
    } = evidence.posterior(&variances).expect("posterior");
    let mut draws = Seed(5).stream(Stream::Data, 1);
    let new = Array2::from_shape_simple_fn((4, 5), || draws.normal());
    let mut k_nn = z.dot(&z.t()) * signal;
    k_nn.diag_mut().mapv_inplace(|v| v + noise);
    let exact = Exact::new(&k_nn);
    let mut rooted = (z.dot(&new.t()) * signal).as_standard_layout().into_owned();
    exact.factor.solve(&mut rooted);
    let expected = new.dot(&new.t()) * signal - rooted.t().dot(&rooted);
    let count = 40_000;
    let drawn = spread.sample(&coefficients, 1, count, Seed(2));
    let f = new.dot(&drawn.beta_dt);
    let away = &f
        - &f.mean_axis(Axis(1))
            .expect("functions")
            .insert_axis(Axis(1));
    let found = away.dot(&away.t()) / count as f64;
    for i in 0..4 {
        for j in 0..=i {
            let own = expected[[i, i]] * expected[[j, j]];
            // Four standard errors of a covariance.
            let bound = 4.0 * ((own + expected[[i, j]].powi(2)) / count as f64).sqrt();
            let off = found[[i, j]] - expected[[i, j]];
            assert!(off.abs() < bound, "{i} {j}: {found} {expected}");
        }
    }
}

#[test]
fn what_says_nothing_is_an_error() {
    let (z, y) = data();
    let one = sums(
        &z.slice(ndarray::s![..1, ..]).to_owned(),
        &y.slice(ndarray::s![..1, ..]).to_owned(),
    );
    assert!(matches!(Evidence::new(&one, true), Err(Error::Shape(_))));
    let flat = sums(&z, &Array2::from_elem((12, 2), 3.0));
    let flat = Evidence::new(&flat, true).expect("decomposes");
    let known = KnownVariances::default();
    assert!(flat.maximize(known).is_ok());
    let still = sums(&Array2::ones((12, 5)), &y);
    let still = Evidence::new(&still, true).expect("decomposes");
    assert!(matches!(still.maximize(known), Err(Error::Numerical(_))));
    let known = KnownVariances {
        noise: Some(-1.0),
        signal: None,
    };
    assert!(matches!(flat.maximize(known), Err(Error::Parameter(_))));
}

/// A constant target, up to rounding, is predicted without a deviation, and does not affect the
/// other target.
#[test]
fn a_constant_target_is_its_constant() {
    let (z, y) = data();
    let known = KnownVariances::default();
    let one = sums(&z, &y.slice(ndarray::s![.., ..1]).to_owned());
    let one = Evidence::new(&one, true)
        .expect("sums")
        .maximize(known)
        .expect("a maximum");
    for constant in [0.0, 2.0, 3.7, 0.1, -2.3] {
        let mut both = y.clone();
        both.column_mut(1).fill(constant);
        let evidence = Evidence::new(&sums(&z, &both), true).expect("sums");
        let found = evidence.maximize(known).expect("a maximum");
        assert!((found.ratio / one.ratio - 1.0).abs() < 1e-4, "{constant}");
        assert!((found.noise_t[0] / one.noise_t[0] - 1.0).abs() < 1e-4);
        assert!(found.noise_t[1] < 1e-200 && found.noise_t[1] > 0.0);
        assert!(evidence.log_marginal_likelihood(&found).is_finite());
        let fit = evidence
            .posterior(&found)
            .expect("a posterior")
            .coefficients;
        assert!(fit.beta_dt.column(1).iter().all(|&beta| beta == 0.0));
        assert!((fit.intercept_t[1] - constant).abs() < 1e-14);
        let alone = Array2::from_elem((12, 1), constant);
        let evidence = Evidence::new(&sums(&z, &alone), true).expect("sums");
        let found = evidence.maximize(known).expect("constants have a model");
        assert!(found.ratio > 0.0 && evidence.log_marginal_likelihood(&found).is_finite());
    }
}
