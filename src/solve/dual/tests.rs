use super::*;
use crate::{
    normal::NormalEquations,
    seed::{Seed, Stream},
    solve::{Cholesky, conjugate_gradients::tests::Stored},
};
use ndarray::s;

fn drawn(rows: usize, features: usize) -> (Array2<f64>, Array2<f64>) {
    let mut draws = Seed(9).stream(Stream::Data, 0);
    let z = Array2::from_shape_simple_fn((rows, features), || 0.3 + draws.normal());
    let y = Array2::from_shape_simple_fn((rows, 2), || 4.0 + draws.normal());
    (z, y)
}

/// Equals the normal equations, with weights and without, for more features than rows and for
/// fewer.
#[test]
fn primal_and_dual_meet() {
    for (rows, features) in [(20, 50), (50, 20)] {
        let (z, y) = drawn(rows, features);
        let some = Array1::from_shape_fn(rows, |i| (i % 3) as f64);
        for weights in [Array1::ones(rows), some] {
            let by = weights.view().insert_axis(Axis(1));
            let (wz, wy) = (&z * &by, &y * &by);
            let sums = NormalEquations {
                rows: rows as u64,
                weight: weights.sum(),
                log_weight: weights.iter().map(|w: &f64| w.ln()).sum(),
                weight_squares: weights.iter().map(|w: &f64| w * w).sum(),
                gram_dd: z.t().dot(&wz),
                zty_dt: z.t().dot(&wy),
                z_sum_d: wz.sum_axis(Axis(0)),
                y_sum_t: wy.sum_axis(Axis(0)),
                y_square_t: (&wy * &y).sum_axis(Axis(0)),
                rest: Vec::new(),
            };
            for intercept in [true, false] {
                let lambda = 1e-3;
                let primal = Cholesky { lambda, intercept }.solve_with_dimension(&sums);
                let (primal, dimension) = primal.expect("solves");
                let dual = Dual { lambda, intercept };
                let dual = dual.solve(z.clone(), y.clone(), Some(weights.view()));
                let (dual, of_dual) = dual.expect("solves");
                let apart = (&primal.beta_dt - &dual.beta_dt).mapv(f64::abs);
                assert!(apart.iter().all(|e| *e < 1e-9), "{apart}");
                let apart = (&primal.intercept_t - &dual.intercept_t).mapv(f64::abs);
                assert!(apart.iter().all(|e| *e < 1e-9), "{apart}");
                let dimension = dimension.expect("few");
                assert!((dimension - of_dual).abs() < 1e-8);
                let of_kernel = Dual { lambda, intercept }.solve_kernel(
                    &mut Stored(z.clone()),
                    z.dot(&z.t()),
                    y.t(),
                    Some(weights.view()),
                );
                let (by_kernel, of_kernel) = of_kernel.expect("solves");
                let apart = (&primal.beta_dt - &by_kernel.beta_dt).mapv(f64::abs);
                assert!(apart.iter().all(|e| *e < 1e-9), "{apart}");
                let apart = (&primal.intercept_t - &by_kernel.intercept_t).mapv(f64::abs);
                assert!(apart.iter().all(|e| *e < 1e-9), "{apart}");
                assert!((dimension - of_kernel).abs() < 1e-8);
            }
        }
    }
}

/// At lambda = 0 it interpolates, with coefficients in the span of the rows, with and without equal
/// rows.
#[test]
fn the_least_interpolant_is_the_limit() {
    let (mut z, mut y) = drawn(15, 40);
    let (first_z, first_y) = (z.row(0).to_owned(), y.row(0).to_owned());
    z.row_mut(14).assign(&first_z);
    y.row_mut(14).assign(&first_y);
    for intercept in [true, false] {
        let dual = Dual {
            lambda: 0.0,
            intercept,
        };
        let (fit, rank) = dual.solve(z.clone(), y.clone(), None).expect("solves");
        assert_eq!(rank, if intercept { 13.0 } else { 14.0 });
        let fitted = z.dot(&fit.beta_dt) + &fit.intercept_t;
        assert!((fitted - &y).iter().all(|e| e.abs() < 1e-10));
        let near = Dual {
            lambda: 1e-12,
            intercept,
        };
        let (near, _) = near.solve(z.clone(), y.clone(), None).expect("solves");
        assert!((near.beta_dt - &fit.beta_dt).iter().all(|e| e.abs() < 1e-6));
    }
    let bad = |lambda| Dual {
        lambda,
        intercept: true,
    };
    assert!(bad(-1.0).solve(z.clone(), y.clone(), None).is_err());
    assert!(bad(f64::NAN).solve(z.clone(), y.clone(), None).is_err());
    let short = y.slice(s![..3, ..]).to_owned();
    assert!(bad(1.0).solve(z.clone(), short, None).is_err());
    let none = Array1::zeros(15);
    assert!(bad(1.0).solve(z, y, Some(none.view())).is_err());
}
