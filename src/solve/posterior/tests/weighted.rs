//! Rows with weights.

use super::*;

/// Rows of different weights, and their sums.
fn weighted() -> (Array2<f64>, Array2<f64>, Array1<f64>, NormalEquations) {
    let (z, y) = data();
    let w_n = Array1::from_shape_fn(12, |i| 0.4 + 0.6 * (i % 5) as f64);
    let by = w_n.view().insert_axis(Axis(1));
    let (wz, wy) = (&z * &by, &y * &by);
    let sums = NormalEquations {
        rows: 12,
        weight: w_n.sum(),
        log_weight: w_n.mapv(f64::ln).sum(),
        weight_squares: w_n.mapv(|w| w * w).sum(),
        gram_dd: z.t().dot(&wz),
        zty_dt: z.t().dot(&wy),
        z_sum_d: wz.sum_axis(Axis(0)),
        y_sum_t: wy.sum_axis(Axis(0)),
        y_square_t: (&wy * &y).sum_axis(Axis(0)),
        rest: Vec::new(),
    };
    (z, y, w_n, sums)
}

/// Rows of weight w have the noise `noise / w`: compared with the exact process with it on the
/// diagonal.
#[test]
fn weights_divide_the_noise() {
    let (z, y, w_n, sums) = weighted();
    let (noise, signal) = (0.2, 0.5);
    let variances = Variances {
        ratio: noise / signal,
        noise_t: Array1::from(vec![noise; 2]),
    };
    let mut k_nn = z.dot(&z.t()) * signal;
    k_nn.diag_mut().zip_mut_with(&w_n, |k, w| *k += noise / w);
    let new = z.slice(ndarray::s![..3, ..]).mapv(|z| 0.3 - z);
    for intercept in [false, true] {
        let evidence = Evidence::new(&sums, intercept).expect("decomposes");
        // The complement of constants.
        let turn = if intercept {
            contrasts(12)
        } else {
            Array2::eye(12)
        };
        let exact = Exact::new(&turn.t().dot(&k_nn).dot(&turn));
        let n = turn.ncols() as f64;
        let each = exact.log_determinant + n * TAU.ln();
        let expected = -0.5 * (exact.quadratic(&turn.t().dot(&y)).sum() + 2.0 * each);
        let found = evidence.log_marginal_likelihood(&variances);
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");

        // The intercept as an additional feature, whose prior is so wide that it is flat.
        let flat = if intercept { 1e7 } else { 0.0 };
        let exact = Exact::new(&(&k_nn + flat));
        let mut cross = (z.dot(&new.t()) * signal + flat)
            .as_standard_layout()
            .into_owned();
        let mut y = y.clone();
        exact.factor.solve(&mut cross);
        exact.factor.solve(&mut y);
        let posterior = evidence.posterior(&variances).expect("posterior");
        let Coefficients {
            beta_dt,
            intercept_t,
        } = &posterior.coefficients;
        let apart = new.dot(beta_dt) + intercept_t - cross.t().dot(&y);
        assert!(apart.iter().all(|e| e.abs() < 1e-5), "{apart}");
        let own = new.map_axis(Axis(1), |row| row.dot(&row) * signal) + flat;
        let expected = own - cross.map_axis(Axis(0), |c| c.dot(&c));
        let spread = &posterior.spread;
        let found = spread.relative_variance(&new.dot(&spread.root_dd)) * noise;
        let apart = &found - &expected;
        assert!(apart.iter().all(|e| e.abs() < 1e-5), "{found} {expected}");
    }
}

#[test]
fn no_variances_of_weighted_rows_are_likelier_than_those_found() {
    let (.., sums) = weighted();
    for intercept in [false, true] {
        let evidence = Evidence::new(&sums, intercept).expect("decomposes");
        let best = evidence.maximize(KnownVariances::default()).expect("found");
        let top = evidence.log_marginal_likelihood(&best);
        for factor in [0.97, 1.03] {
            for (of_ratio, of_noise) in [(factor, 1.0), (1.0, factor)] {
                let other = Variances {
                    ratio: best.ratio * of_ratio,
                    noise_t: &best.noise_t * of_noise,
                };
                assert!(evidence.log_marginal_likelihood(&other) < top);
            }
        }
    }
}

#[test]
fn rows_of_weight_0_have_no_evidence() {
    let (.., sums) = weighted();
    let none = NormalEquations {
        log_weight: f64::NEG_INFINITY,
        ..sums
    };
    let message = Evidence::new(&none, true).expect_err("refused").to_string();
    assert!(message.contains("weight 0"), "{message}");
}
