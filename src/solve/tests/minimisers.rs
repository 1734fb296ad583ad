//! Solvers of losses compared with scikit-learn's on fixed features: tests/fixtures/losses.py has
//! the same features and computes the values.

mod separable;

use crate::{
    Device, Result,
    linalg::cholesky::Lower,
    model::Coefficients,
    solve::{
        Accelerated, Admm, FeatureProducts, NormalEquations, OwnLoss, Quadratic, QuasiNewton,
        Reached, Separable, TakeBlock,
        loss::{
            EpsilonInsensitive, Hinge, KinkedLoss, Logistic, Outside, Pinball, SmoothLoss,
            SquaredEpsilonInsensitive, SquaredHinge,
        },
        own_loss::{OfMargin, OfResidual},
        preconditioner::Covariance,
        risk::{FittedRows, Risk, RowLoss, RowTargets},
    },
};
use ndarray::{Array1, Array2, ArrayView2, Axis, array, concatenate, s};

const N: usize = 120;
const LAMBDA: f64 = 0.01;

struct Stored(Array2<f64>);

impl FeatureProducts for Stored {
    fn rows(&self) -> usize {
        self.0.nrows()
    }
    fn columns(&self) -> usize {
        self.0.ncols()
    }
    fn add_product(&mut self, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> Result<()> {
        *r_tn += &beta_td.dot(&self.0.t());
        Ok(())
    }
    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        out_td.assign(&r_tn.dot(&self.0));
        Ok(())
    }
    fn moments(&mut self, _: &mut Array2<f64>) -> Result<()> {
        unreachable!("covariances come from sums")
    }
    fn blocks(&mut self, _: usize, take: &mut TakeBlock<'_>) -> Result<bool> {
        let z = self.0.mapv(|z| z as f32);
        // Blocks with sizes that are no multiples of anything.
        for (b, z) in z.axis_chunks_iter(Axis(0), 37).enumerate() {
            take(37 * b, z)?;
        }
        Ok(true)
    }
}

fn features() -> Array2<f64> {
    Array2::from_shape_fn((N, 6), |(i, j)| {
        let (i, j) = (i as f64, j as f64);
        (0.7 * i * (j + 1.0) + 0.3 * j * j).sin() + 0.2 * (0.05 * i * j).cos()
    })
}

fn amounts() -> Array1<f64> {
    let wave = (0..N).map(|i| 0.8 * (1.9 * (i * i) as f64).sin() + 0.4);
    features().dot(&array![1.0, -2.0, 0.5, 0.0, 1.5, -0.7]) + &wave.collect::<Array1<f64>>()
}

fn classes(edges: &[f64]) -> FittedRows {
    let class = |f: f64| edges.iter().filter(|&&edge| f >= edge).count() as u32;
    FittedRows {
        targets: RowTargets::Classes {
            class_n: amounts().iter().map(|&f| class(f)).collect(),
            classes: edges.len() + 1,
        },
        weight_n: None,
        rows: N,
    }
}

fn two() -> FittedRows {
    classes(&[0.3])
}

fn real() -> FittedRows {
    FittedRows {
        targets: RowTargets::Real(amounts().insert_axis(Axis(0))),
        weight_n: None,
        rows: N,
    }
}

fn covariance(intercept: bool) -> Covariance {
    covariance_of(&features(), intercept)
}

fn covariance_of(z: &Array2<f64>, intercept: bool) -> Covariance {
    let sums = NormalEquations {
        rows: N as u64,
        weight: N as f64,
        gram_dd: z.t().dot(z),
        z_sum_d: z.sum_axis(Axis(0)),
        ..NormalEquations::zero(6, 1)
    };
    Covariance::of_sums(sums, intercept)
}

fn row_loss(loss: impl SmoothLoss + 'static) -> RowLoss {
    RowLoss::Each(Box::new(loss))
}

fn smooth(rows: &FittedRows, loss: &RowLoss, intercept: bool) -> Reached {
    let covariance = covariance(intercept);
    let curvature = loss.curvature_at_zero(rows.targets.outputs());
    let preconditioner = covariance
        .preconditioner(curvature, LAMBDA)
        .expect("factors");
    let mut z = Stored(features());
    let mut risk = Risk::new(&mut z, rows, loss, &covariance, (LAMBDA, intercept));
    let solver = QuasiNewton {
        start: None,
        tolerance: 1e-7,
        max_passes: 100,
        device: Device::cpu(),
        memory: u64::MAX,
    };
    let reached = solver
        .solve(&mut risk, &preconditioner, &mut |_, _| {})
        .expect("solves");
    assert!(reached.converged, "{reached:?}");
    reached
}

fn kinked(rows: &FittedRows, loss: &dyn KinkedLoss, intercept: bool) -> Reached {
    let reached = within(rows, loss, (LAMBDA, intercept), (None, 1e-7));
    assert!(reached.converged, "{reached:?}");
    reached
}

fn within(
    rows: &FittedRows,
    loss: &dyn KinkedLoss,
    (lambda, intercept): (f64, bool),
    (cost, tolerance): (Option<Separable>, f64),
) -> Reached {
    let solver = Admm {
        lambda,
        intercept,
        tilt: 0.0,
        cost,
        stiffness: 1.0,
        tolerance,
        max_passes: 5000,
    };
    let mut z = Stored(features());
    let how = (rows, loss);
    let reached = solver.solve(&mut z, how, &covariance(intercept), &mut |_, _| {});
    reached.expect("solves")
}

#[track_caller]
fn agrees(reached: &Reached, expected: f64) {
    println!("{} passes: {}", reached.passes, reached.objective);
    let off = reached.objective / expected - 1.0;
    assert!(off.abs() < 1e-7, "{} is no {expected}", reached.objective);
}

#[test]
fn smooth_losses_reach_the_least_objective() {
    agrees(&smooth(&two(), &row_loss(Logistic), true), 0.250001935032);
    let squared = smooth(&two(), &row_loss(SquaredHinge), false);
    agrees(&squared, 0.196744317513);
    let squared = SquaredEpsilonInsensitive { epsilon: 0.3 };
    agrees(&smooth(&real(), &row_loss(squared), false), 0.264517096729);
    let three = classes(&[-0.8, 1.0]);
    let reached = smooth(&three, &RowLoss::Multinomial, true);
    agrees(&reached, 0.477814118069);
    assert!(reached.passes < 30, "{}", reached.passes);

    let mut balanced = two();
    let second = |i| balanced.targets.value(0, i) > 0.0;
    let yes = (0..N).filter(|&i| second(i)).count();
    let weight = |i| N as f64 / (2 * if second(i) { yes } else { N - yes }) as f64;
    let weights = (0..N).map(weight).collect();
    balanced.weight_n = Some(weights);
    agrees(
        &smooth(&balanced, &row_loss(Logistic), true),
        0.250015016863,
    );
}

#[test]
fn kinked_losses_reach_the_least_objective() {
    agrees(&kinked(&two(), &Hinge, true), 0.170758249305);
    agrees(&kinked(&two(), &Hinge, false), 0.184025961482);
    for (epsilon, expected) in [(0.3, 0.274629336072), (0.0, 0.535598460229)] {
        let loss = EpsilonInsensitive { epsilon };
        agrees(&kinked(&real(), &loss, true), expected);
    }
}

/// Losses with a kink in a box, without and with an L2 penalty, compared with linear and quadratic
/// programs. A custom loss given by its values alone gives the same.
#[test]
fn the_one_class_machine_reaches_the_least_objective() {
    let rows = FittedRows {
        targets: RowTargets::None,
        weight_n: None,
        rows: N,
    };
    let solver = Admm {
        lambda: 1.0,
        intercept: true,
        tilt: 1.0,
        cost: None,
        stiffness: 1.0,
        tolerance: 1e-7,
        max_passes: 5000,
    };
    let how: (&FittedRows, &dyn KinkedLoss) = (&rows, &Outside { nu: 0.3 });
    // Features around the origin are not on one side of a hyperplane.
    let mut z = Stored(features() + 1.0);
    let covariance = covariance_of(&z.0, true);
    let reached = solver.solve(&mut z, how, &covariance, &mut |_, _| {});
    let reached = reached.expect("solves");
    agrees(&reached, -1.0374251584);
    let Coefficients {
        beta_dt,
        intercept_t,
    } = &reached.coefficients;
    let outside = z.0.dot(&beta_dt.column(0)) + intercept_t[0];
    let outside = outside.iter().filter(|s| **s < -1e-6).count();
    assert!((33..=36).contains(&outside), "{outside} of 120 at nu = 0.3");
}

/// The gradient of the solvers, compared with differences of the objective.
#[test]
fn gradients_are_differences() {
    for (rows, loss) in [
        (classes(&[-0.8, 1.0]), RowLoss::Multinomial),
        (two(), row_loss(Logistic)),
    ] {
        let covariance = covariance(true);
        let mut z = Stored(features());
        let mut risk = Risk::new(&mut z, &rows, &loss, &covariance, (0.3, true));
        let mut at = risk.zero();
        for (i, b) in at.beta_td.iter_mut().chain(&mut at.intercept_t).enumerate() {
            *b = (i as f64).sin();
        }
        let mut scores = risk.scores();
        let (_, gradient) = risk.evaluate(&at, &mut scores).expect("evaluates");
        let slopes: Vec<f64> = gradient
            .beta_td
            .iter()
            .chain(&gradient.intercept_t)
            .copied()
            .collect();
        for (i, slope) in slopes.into_iter().enumerate() {
            let mut value = |h: f64| -> f64 {
                let mut near = at.clone();
                let mut all = near.beta_td.iter_mut().chain(&mut near.intercept_t);
                *all.nth(i).expect("a coefficient") += h;
                let (values, _) = risk.evaluate(&near, &mut scores).expect("evaluates");
                values.iter().sum()
            };
            let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!(
                (difference - slope).abs() < 1e-8,
                "{i}: {difference} {slope}"
            );
        }
    }
}

/// The coefficients, compared with Newton's method on the full Hessian of all outputs in f64.
#[test]
fn coefficients_are_those_of_newton() {
    for (rows, loss, outputs) in [
        (two(), row_loss(Logistic), 1),
        (classes(&[-0.8, 1.0]), RowLoss::Multinomial, 3),
    ] {
        let exact = newton(&rows, outputs);
        let reached = smooth(&rows, &loss, true).coefficients;
        // Of three intercepts only the differences matter.
        let mean = |of: &[f64]| match outputs {
            1 => 0.0,
            _ => of.iter().sum::<f64>() / of.len() as f64,
        };
        let of = |k: usize| exact[7 * k + 6];
        let intercepts: Vec<f64> = (0..outputs).map(of).collect();
        let ours = reached.intercept_t.to_vec();
        for k in 0..outputs {
            for j in 0..6 {
                let (a, b) = (reached.beta_dt[[j, k]], exact[7 * k + j]);
                assert!((a - b).abs() < 1e-5, "{loss:?} {k} {j}: {a} {b}");
            }
            let (a, b) = (ours[k] - mean(&ours), intercepts[k] - mean(&intercepts));
            assert!((a - b).abs() < 1e-5, "{loss:?} {k}: {a} {b}");
        }
    }
}

/// Coefficients and intercept of each output, concatenated: log loss for one output, the
/// multinomial loss for several.
fn newton(rows: &FittedRows, outputs: usize) -> Array1<f64> {
    let z = concatenate![Axis(1), features(), Array2::ones((N, 1))];
    let order = 7 * outputs;
    let penalty = |j: usize| if j % 7 == 6 { 0.0 } else { LAMBDA };
    let mut at = Array1::<f64>::zeros(order);
    for _ in 0..30 {
        let mut gradient = Array1::from_shape_fn(order, |j| penalty(j) * at[j]);
        // The loss of several intercepts depends only on their differences.
        let mut hessian = Array2::from_diag(&Array1::from_shape_fn(order, |j| penalty(j) + 1e-9));
        for (i, z) in z.rows().into_iter().enumerate() {
            let scores: Vec<f64> = (0..outputs)
                .map(|k| z.dot(&at.slice(s![7 * k..7 * k + 7])))
                .collect();
            let all: f64 = scores.iter().map(|s| s.exp()).sum();
            let p: Vec<f64> = match outputs {
                1 => vec![1.0 / (1.0 + (-scores[0]).exp())],
                _ => scores.iter().map(|s| s.exp() / all).collect(),
            };
            for k in 0..outputs {
                let own = f64::from(rows.targets.value(k, i) > 0.0);
                let mut part = gradient.slice_mut(s![7 * k..7 * k + 7]);
                part.scaled_add((p[k] - own) / N as f64, &z);
                for l in 0..outputs {
                    let bend = p[k] * (f64::from(k == l) - p[l]) / N as f64;
                    for (a, b) in (0..7).flat_map(|a| (0..7).map(move |b| (a, b))) {
                        hessian[[7 * k + a, 7 * l + b]] += bend * z[a] * z[b];
                    }
                }
            }
        }
        let mut lower = Lower::from_matrix(&hessian);
        assert!(lower.factor());
        let mut step = gradient.insert_axis(Axis(1));
        lower.solve(&mut step);
        lower.solve_transposed(&mut step);
        at -= &step.column(0);
    }
    at
}
