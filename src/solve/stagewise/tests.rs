//! Compared with the same steps computed from rows.

use super::*;
use crate::seed::{Seed, Stream};
use ndarray::{Array1, Array2, ArrayView1, s};

/// Features, targets, and the sums of the first rows and of the others.
fn drawn() -> (Array2<f64>, Array2<f64>, [NormalEquations; 2]) {
    let mut draws = Seed(2).stream(Stream::Data, 0);
    let z = Array2::from_shape_simple_fn((60, 12), || 0.5 + draws.normal());
    let y = Array2::from_shape_fn((60, 2), |(i, k)| {
        3.0 + z[[i, 2 + k]] - 2.0 * z[[i, 7]] + draws.normal()
    });
    let sums = [s![..40, ..], s![40.., ..]].map(|part| {
        let (z, y) = (z.slice(part), y.slice(part));
        NormalEquations {
            rows: z.nrows() as u64,
            weight: z.nrows() as f64,
            log_weight: 0.0,
            weight_squares: z.nrows() as f64,
            gram_dd: z.t().dot(&z),
            zty_dt: z.t().dot(&y),
            z_sum_d: z.sum_axis(Axis(0)),
            y_sum_t: y.sum_axis(Axis(0)),
            y_square_t: (&y * &y).sum_axis(Axis(0)),
            rest: Vec::new(),
        }
    });
    (z, y, sums)
}

/// Centred by the means of the first 40 rows, or not.
fn centred(a: &Array2<f64>, intercept: bool) -> Array2<f64> {
    let mean = a.slice(s![..40, ..]).mean_axis(Axis(0)).expect("rows");
    if intercept { a - &mean } else { a.clone() }
}

fn dot(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.dot(&b)
}

fn squares(a: &Array2<f64>) -> f64 {
    a.mapv(|v| v * v).sum()
}

/// `|y - f|^2 / |y|^2` for a range of rows.
fn error(y: &Array2<f64>, f: &Array2<f64>, rows: std::ops::Range<usize>) -> f64 {
    let (y, f) = (y.slice(s![rows.clone(), ..]), f.slice(s![rows, ..]));
    squares(&(&y - &f)) / squares(&y.to_owned())
}

/// The error of every step, on training and held-out rows, from the normal equations of f and one
/// feature on rows; every feature is tried.
fn greedy_on_rows(intercept: bool, steps: usize) -> Vec<[f64; 2]> {
    let (z, y, _) = drawn();
    let (z, y) = (centred(&z, intercept), centred(&y, intercept));
    let mut f = Array2::<f64>::zeros((60, 2));
    let fitted = |j: usize, f: &Array2<f64>| {
        let mut next = Array2::zeros((60, 2));
        for k in 0..2 {
            let (phi, old) = (z.column(j), f.column(k));
            let part = s![..40];
            let (p, g) = (phi.slice(part), old.slice(part));
            let y = y.column(k);
            let y = y.slice(part);
            let (gg, gp, pp) = (dot(g, g), dot(g, p), dot(p, p));
            let (gy, py) = (dot(g, y), dot(p, y));
            let det = gg * pp - gp * gp;
            let (keep, add) = if det > 1e-9 {
                ((pp * gy - gp * py) / det, (gg * py - gp * gy) / det)
            } else {
                (0.0, py / pp)
            };
            next.column_mut(k).assign(&(&old * keep + &phi * add));
        }
        next
    };
    let mut errors = Vec::new();
    for _ in 0..steps {
        let tried = (0..12).map(|j| fitted(j, &f));
        let least = |a: &Array2<f64>| error(&y, a, 0..40);
        f = tried
            .min_by(|a, b| least(a).total_cmp(&least(b)))
            .expect("features");
        errors.push([least(&f), error(&y, &f, 40..60)]);
    }
    errors
}

#[test]
fn a_greedy_fit_takes_the_steps_that_rows_tell() {
    let (_, _, [train, held]) = drawn();
    for intercept in [true, false] {
        let on_rows = greedy_on_rows(intercept, 9);
        for steps in [1, 2, 3, 9] {
            let greedy = Greedy {
                steps,
                intercept,
                patience: 100,
            };
            let fit = greedy.solve(&train, None).expect("fits");
            let [error, _] = on_rows[steps - 1];
            assert!(
                (fit.error - error).abs() < 1e-10,
                "{steps}: {} {error}",
                fit.error
            );
            assert_eq!((fit.stages, fit.held_out_error), (steps, None));
            let rows = fit.coefficients.beta_dt.rows();
            let used = rows.into_iter().filter(|b| b.iter().any(|b| *b != 0.0));
            assert!(used.count() <= steps);
        }
        // The best step on the held-out rows.
        let greedy = Greedy {
            steps: 9,
            intercept,
            patience: 100,
        };
        let fit = greedy.solve(&train, Some(&held)).expect("fits");
        let least = |a: &usize, b: &usize| on_rows[*a][1].total_cmp(&on_rows[*b][1]);
        let best = (0..9).min_by(least).expect("steps");
        assert_eq!(fit.stages, best + 1);
        let held_out = fit.held_out_error.expect("rows held out");
        assert!((held_out - on_rows[best][1]).abs() < 1e-10);
        let hasty = Greedy {
            steps: 9,
            intercept,
            patience: 1,
        };
        // Without a step the error is 1.
        let before = |i: usize| if i == 0 { 1.0 } else { on_rows[i - 1][1] };
        let rises = (0..9).find(|&i| on_rows[i][1] >= before(i));
        let fit = hasty.solve(&train, Some(&held)).expect("fits");
        assert_eq!(fit.stages, rises.unwrap_or(9));
    }
}

/// Blocks of columns s, s + S, ..., each fitted to the residual on rows by elimination.
#[test]
fn boosting_takes_the_stages_that_rows_tell() {
    let (z, y, [train, held]) = drawn();
    let (lambda, shrinkage) = (1e-2, 0.3);
    let (zc, yc) = (centred(&z, true), centred(&y, true));
    let mut f = Array2::<f64>::zeros((60, 2));
    let mut errors = Vec::new();
    for _ in 0..7 {
        let tried = (0..3).map(|s| {
            let block = zc.slice(s![.., s..;3]).to_owned();
            let fitted = block.slice(s![..40, ..]);
            let residual = (&yc - &f).slice(s![..40, ..]).to_owned();
            let a = fitted.t().dot(&fitted) + Array2::<f64>::eye(4) * (lambda * 40.0);
            let right = fitted.t().dot(&residual);
            let change = solve(a, right.clone());
            ((&change * &right).sum(), block.dot(&change))
        });
        let (_, change) = tried.max_by(|a, b| a.0.total_cmp(&b.0)).expect("blocks");
        f = f + change * shrinkage;
        errors.push([error(&yc, &f, 0..40), error(&yc, &f, 40..60)]);
    }
    let boosting = |stages| Boosting {
        block: 4,
        shrinkage,
        lambda,
        stages,
        intercept: true,
        patience: 100,
    };
    for stages in [1, 2, 7] {
        let fit = boosting(stages).solve(&train, None).expect("fits");
        let [error, _] = errors[stages - 1];
        assert!(
            (fit.error - error).abs() < 1e-10,
            "{stages}: {} {error}",
            fit.error
        );
        // The intercept comes from centring: training residuals sum to zero.
        let c = &fit.coefficients;
        let left = &y - &(z.dot(&c.beta_dt) + &c.intercept_t);
        let sums = left.slice(s![..40, ..]).sum_axis(Axis(0));
        assert!(sums.iter().all(|s| s.abs() < 1e-9), "{sums}");
    }
    let fit = boosting(7).solve(&train, Some(&held)).expect("fits");
    let least = |a: &usize, b: &usize| errors[*a][1].total_cmp(&errors[*b][1]);
    let best = (0..7).min_by(least).expect("stages");
    assert_eq!(fit.stages, best + 1);
    assert!((fit.held_out_error.expect("rows") - errors[best][1]).abs() < 1e-10);
}

/// One block of all features, with a learning rate of 1.
#[test]
fn boosting_by_one_block_is_ridge_regression() {
    let (.., [train, _]) = drawn();
    let lambda = 1e-2;
    let all = Boosting {
        block: 12,
        shrinkage: 1.0,
        lambda,
        stages: 1,
        intercept: true,
        patience: 100,
    };
    let ridge = crate::solve::Cholesky {
        lambda,
        intercept: true,
    };
    let ridge = ridge.solve(&train).expect("solves");
    let one = all.solve(&train, None).expect("fits").coefficients;
    let apart = (ridge.beta_dt - one.beta_dt).mapv(f64::abs).sum();
    assert!(apart < 1e-10, "{apart:e}");
}

/// Gaussian elimination without pivots, for a positive definite matrix.
fn solve(mut a: Array2<f64>, mut b: Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    for k in 0..n {
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[[i, k]] / a[[k, k]];
            let (row_a, row_b) = (a.row(k).to_owned(), b.row(k).to_owned());
            a.row_mut(i).scaled_add(-factor, &row_a);
            b.row_mut(i).scaled_add(-factor, &row_b);
        }
    }
    for k in 0..n {
        let pivot = a[[k, k]];
        b.row_mut(k).mapv_inplace(|v| v / pivot);
    }
    b
}

#[test]
fn what_leads_nowhere_ends_or_is_refused() {
    let (_, _, [train, _]) = drawn();
    let greedy = |steps| Greedy {
        steps,
        intercept: true,
        patience: 5,
    };
    assert!(greedy(0).solve(&train, None).is_err());
    let boosting = Boosting {
        block: 4,
        shrinkage: 0.5,
        lambda: 1e-3,
        stages: 50,
        intercept: true,
        patience: 5,
    };
    for bad in [
        Boosting {
            block: 0,
            ..boosting
        },
        Boosting {
            stages: 0,
            ..boosting
        },
        Boosting {
            shrinkage: 0.0,
            ..boosting
        },
        Boosting {
            shrinkage: 1.5,
            ..boosting
        },
        Boosting {
            lambda: -1.0,
            ..boosting
        },
    ] {
        assert!(matches!(bad.solve(&train, None), Err(Error::Parameter(_))));
    }
    // A constant target is predicted by its mean, without a step.
    let mut constant = train;
    let n = constant.weight;
    constant.zty_dt = Array2::from_shape_fn((12, 2), |(j, _)| 7.0 * constant.z_sum_d[j]);
    constant.y_sum_t = Array1::from_elem(2, 7.0 * n);
    constant.y_square_t = Array1::from_elem(2, 49.0 * n);
    for fit in [
        greedy(9).solve(&constant, None),
        boosting.solve(&constant, None),
    ] {
        let fit = fit.expect("fits");
        let intercept = &fit.coefficients.intercept_t;
        assert!(
            intercept.iter().all(|b| (b - 7.0).abs() < 1e-9),
            "{intercept}"
        );
    }
    assert!(greedy(1).solve(&NormalEquations::zero(3, 1), None).is_err());
}
