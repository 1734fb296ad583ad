//! The approximation compared with scikit-learn's, differences of the cost, and integrals by a
//! grid.

use super::*;
use crate::model::probabilities::averages::{mean_sigmoid, sigmoid};
use ndarray::{Axis, array, s};

/// Rows of tests/fixtures/laplace.py.
fn features(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 3), |(i, j)| {
        let (i, j) = (i as f64, j as f64);
        (0.7 * i * (j + 1.0) + 0.3 * j * j).sin() + 0.2 * (0.05 * i * j).cos()
    })
}

fn labels(z_nd: &Array2<f64>) -> Array1<f64> {
    let wave = (0..z_nd.nrows()).map(|i| 0.8 * (1.9 * (i * i) as f64).sin());
    let f = z_nd.slice(s![.., ..3]).dot(&array![1.0, -2.0, 0.5]) + &wave.collect::<Array1<f64>>();
    f.mapv(|f| if f > 0.1 { 1.0 } else { -1.0 })
}

/// Rows with labels of +-1 and weights, and the cost at `[beta, b]`.
struct Problem {
    z_nd: Array2<f64>,
    y_n: Array1<f64>,
    w_n: Array1<f64>,
    precision: f64,
    intercept: bool,
}

impl Problem {
    fn size(&self) -> usize {
        self.z_nd.ncols() + usize::from(self.intercept)
    }

    /// Features with a column of ones for the intercept.
    fn columns(&self, z_nd: &Array2<f64>) -> Array2<f64> {
        let mut all = Array2::ones((z_nd.nrows(), self.size()));
        all.slice_mut(s![.., ..z_nd.ncols()]).assign(z_nd);
        all
    }

    fn log_likelihood(&self, at: &Array1<f64>) -> f64 {
        let scores = self.columns(&self.z_nd).dot(at);
        let each = scores.iter().zip(&self.y_n).zip(&self.w_n);
        -each
            .map(|((s, y), w)| w * (-y * s).exp().ln_1p())
            .sum::<f64>()
    }

    fn square(&self, at: &Array1<f64>) -> f64 {
        let beta = at.slice(s![..self.z_nd.ncols()]);
        self.precision * beta.dot(&beta)
    }

    fn cost(&self, at: &Array1<f64>) -> f64 {
        0.5 * self.square(at) - self.log_likelihood(at)
    }

    /// `w p (1 - p)`.
    fn curvature(&self, at: &Array1<f64>) -> Array1<f64> {
        let p_n = self.columns(&self.z_nd).dot(at).mapv(sigmoid);
        &self.w_n * &p_n * &(1.0 - &p_n)
    }

    /// By Newton's method.
    fn mode(&self) -> Array1<f64> {
        let z = self.columns(&self.z_nd);
        let mut at = Array1::zeros(self.size());
        for _ in 0..50 {
            let p_n = z.dot(&at).mapv(sigmoid);
            let slope_n = (p_n - self.y_n.mapv(|y| f64::from(y > 0.0))) * &self.w_n;
            let mut gradient = z.t().dot(&slope_n);
            let curved = &z * &self.curvature(&at).insert_axis(Axis(1));
            let mut h = z.t().dot(&curved);
            for j in 0..self.z_nd.ncols() {
                gradient[j] += self.precision * at[j];
                h[[j, j]] += self.precision;
            }
            let mut factor = Lower::from_matrix(&h);
            assert!(factor.factor());
            let mut step = gradient.insert_axis(Axis(1));
            factor.solve(&mut step);
            factor.solve_transposed(&mut step);
            at -= &step.column(0);
        }
        at
    }

    fn approximation(&self, at: &Array1<f64>) -> Laplace {
        let c_n = self.curvature(at);
        let curved_nd = &self.z_nd * &c_n.view().insert_axis(Axis(1));
        let features = self.z_nd.ncols();
        let sums = NormalEquations {
            rows: c_n.len() as u64,
            weight: c_n.sum(),
            gram_dd: self.z_nd.t().dot(&curved_nd),
            z_sum_d: curved_nd.sum_axis(Axis(0)),
            ..NormalEquations::zero(features, 0)
        };
        let of = (at.slice(s![..features]), self.intercept);
        Laplace::new(&sums, of, self.precision, self.log_likelihood(at)).expect("a law")
    }

    /// Means and variances of the scores of rows.
    fn scores(&self, at: &Array1<f64>, z_nd: &Array2<f64>) -> (Array1<f64>, Array1<f64>) {
        let spread = self.approximation(at).spread;
        let variance = spread.relative_variance(&z_nd.dot(&spread.root_dd));
        (self.columns(z_nd).dot(at), variance)
    }
}

/// tests/fixtures/laplace.py, scikit-learn 1.9.1, whose kernel is z(x)'z(y) / precision.
#[test]
fn it_is_that_of_the_gaussian_process_of_the_same_kernel() {
    let z_nd = features(24);
    let problem = Problem {
        y_n: labels(&z_nd),
        w_n: Array1::ones(24),
        z_nd,
        precision: 0.7,
        intercept: false,
    };
    let at = problem.mode();
    let new = array![[0.5, -1.0, 0.2], [0.0, 0.1, 0.0], [-3.0, 2.0, 4.0]];
    let (mean, variance) = problem.scores(&at, &new);
    let close = |found: &Array1<f64>, expected: [f64; 3], most: f64| {
        let apart = found - &Array1::from(expected.to_vec());
        assert!(apart.iter().all(|e| e.abs() < most), "{found} {expected:?}");
    };
    let expected = [2.579391790655949, -0.23327750694539098, -8.985378485539904];
    close(&mean, expected, 1e-6);
    let expected = [0.6641694988051907, 0.004976950211578117, 13.39114908454598];
    close(&variance, expected, 1e-6);
    let evidence = problem.approximation(&at).log_evidence;
    assert!((evidence + 10.272922801481487).abs() < 1e-7, "{evidence}");
    // It uses five error functions for a sigmoid, with errors of up to 3e-4.
    let p = mean
        .iter()
        .zip(&variance)
        .map(|(&m, &v)| mean_sigmoid(m, v));
    let expected = [0.9105256231102885, 0.4420412142506791, 0.014166664483127533];
    close(&p.collect(), expected, 5e-4);
}

/// The Hessian by central differences of the cost, with weights, with an intercept and without.
#[test]
fn covariance_and_evidence_are_those_of_the_hessian() {
    for intercept in [true, false] {
        let z_nd = features(25);
        let problem = Problem {
            y_n: labels(&z_nd),
            w_n: Array1::from_shape_fn(25, |i| 0.5 + (i % 3) as f64),
            z_nd: z_nd + 0.3,
            precision: 0.7,
            intercept,
        };
        // Any point works: the approximation uses the Hessian there.
        let size = problem.size();
        let at = array![0.9, -0.4, 0.2, 0.3].slice(s![..size]).to_owned();
        let step = 1e-4;
        let cost = |moves: [(usize, f64); 2]| {
            let mut at = at.clone();
            for (j, by) in moves {
                at[j] += by;
            }
            problem.cost(&at)
        };
        let hessian = Array2::from_shape_fn((size, size), |(i, j)| {
            let sides = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
            let four = sides.map(|(a, b)| a * b * cost([(i, a * step), (j, b * step)]));
            four.iter().sum::<f64>() / (4.0 * step * step)
        });
        let mut factor = Lower::from_matrix(&hessian);
        assert!(factor.factor());
        let new = problem.z_nd.slice(s![..5, ..]).to_owned();
        let mut columns = problem.columns(&new).t().as_standard_layout().into_owned();
        factor.solve(&mut columns);
        let expected = columns.map_axis(Axis(0), |c| c.dot(&c));
        let (_, variance) = problem.scores(&at, &new);
        let mut each = variance.iter().zip(&expected);
        assert!(
            each.all(|(a, b)| (a / b - 1.0).abs() < 1e-5),
            "{variance} {expected}"
        );
        // log p(y, at) + size/2 log 2 pi - 1/2 log |H|, the prior of beta being normal.
        let log_determinant: f64 = (0..size).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
        let prior = 1.5 * (problem.precision / TAU).ln();
        let expected = prior - problem.cost(&at) + 0.5 * (size as f64 * TAU.ln() - log_determinant);
        let evidence = problem.approximation(&at).log_evidence;
        assert!((evidence - expected).abs() < 1e-5, "{evidence} {expected}");
    }
}

/// A slope and an intercept: the posterior by a grid. With 80 rows it is nearly normal.
#[test]
fn evidence_and_probabilities_are_near_the_integrals() {
    let rows = 80;
    let z_nd = features(rows).slice(s![.., ..1]).to_owned();
    let noise = features(rows).column(2).to_owned();
    let problem = Problem {
        y_n: (&z_nd.column(0) + &noise - 0.3).mapv(f64::signum),
        w_n: Array1::ones(rows),
        z_nd,
        precision: 0.5,
        intercept: true,
    };
    let at = problem.mode();
    let top = problem.cost(&at);
    let new = array![[0.4], [1.5], [-2.0], [2.5]];
    let (step, reach) = (0.04, 150);
    let (mut all, mut p) = (0.0, Array1::<f64>::zeros(4));
    let z_new = problem.columns(&new);
    for i in -reach..=reach {
        for j in -reach..=reach {
            let here = &at + &array![step * f64::from(i), step * f64::from(j)];
            let density = (top - problem.cost(&here)).exp();
            all += density;
            p.scaled_add(density, &z_new.dot(&here).mapv(sigmoid));
        }
    }
    p /= all;
    let prior = 0.5 * (problem.precision / TAU).ln();
    let evidence = (all * step * step).ln() - top + prior;
    let found = problem.approximation(&at).log_evidence;
    assert!((found - evidence).abs() < 0.025, "{found} {evidence}");
    let (mean, variance) = problem.scores(&at, &new);
    let averaged = |i: usize| mean_sigmoid(mean[i], variance[i]);
    let off = Array1::from_shape_fn(4, |i| (averaged(i) - p[i]).abs());
    assert!(off.iter().all(|off| *off < 0.006), "{off} of {p}");
}

/// SciPy's quadrature: tests/fixtures/laplace.py.
#[test]
fn mean_sigmoids_are_the_integral() {
    for (mean, deviation, expected) in [
        (0.3, 0.1, 0.5742614096433244_f64),
        (-1.0, 0.9, 0.29804464008389947),
        (2.0, 1.0, 0.8445374814698767),
        (2.0, 3.0, 0.7174239858956766),
        (-5.0, 30.0, 0.43393556282936924),
        (-8.0, 0.5, 0.0003799435349220527),
    ] {
        let found = mean_sigmoid(mean, deviation * deviation);
        assert!(
            (found - expected).abs() < 1e-9,
            "{mean} {deviation}: {found}"
        );
        let other = mean_sigmoid(-mean, deviation * deviation);
        assert!((found + other - 1.0).abs() < 1e-12, "{mean} {deviation}");
    }
    assert!((mean_sigmoid(-2.5, 0.0) - sigmoid(-2.5)).abs() < 1e-14);
    // Both rules agree where one replaces the other.
    let (below, above) = (1.0 - 1e-12, 1.0);
    assert!((mean_sigmoid(0.7, below) - mean_sigmoid(0.7, above)).abs() < 1e-10);
}

#[test]
fn what_has_no_law_says_so() {
    let refused = |sums: &NormalEquations| {
        let refused = Laplace::new(sums, (array![0.0].view(), true), 1e-9, 0.0);
        refused.expect_err("refused").to_string()
    };
    assert!(refused(&NormalEquations::zero(1, 0)).contains("no row has a loss that bends"));
    let mut sums = NormalEquations::zero(1, 0);
    (sums.weight, sums.z_sum_d[0]) = (1.0, 1.0);
    assert!(refused(&sums).contains("not positive definite"));
}
