//! The approximation for several classes compared with that for two, differences of the cost, and
//! integrals.

use super::*;
use crate::model::probabilities::averages::{MeanSoftmax, mean_sigmoid};
use crate::seed::{Seed, Stream};
use ndarray::{ArrayView1, array};

const PRECISION: f64 = 0.7;

/// Rows with classes and weights, and the cost at coefficients along the contrasts.
struct Problem {
    z_nd: Array2<f64>,
    class_n: Vec<usize>,
    w_n: Vec<f64>,
    classes: usize,
    intercept: bool,
}

impl Problem {
    fn new(rows: usize, features: usize, classes: usize, intercept: bool) -> Self {
        let z_nd = Array2::from_shape_fn((rows, features), |(i, j)| {
            f64::from((0.3 + (0.7 * (i * (j + 1)) as f64 + 0.3 * j as f64).sin()) as f32)
        });
        Self {
            z_nd,
            class_n: (0..rows).map(|i| (i * i + i / 3) % classes).collect(),
            w_n: (0..rows).map(|i| 0.5 + (i % 3) as f64).collect(),
            classes,
            intercept,
        }
    }

    fn size(&self) -> usize {
        self.z_nd.ncols() + usize::from(self.intercept)
    }

    fn columns(&self) -> Array2<f64> {
        let mut all = Array2::ones((self.z_nd.nrows(), self.size()));
        all.slice_mut(s![.., ..self.z_nd.ncols()])
            .assign(&self.z_nd);
        all
    }

    /// Scores `[n, C]` at coefficients `[U, P]` along the contrasts.
    fn scores(&self, at_up: &Array2<f64>) -> Array2<f64> {
        self.columns()
            .dot(&at_up.t())
            .dot(&contrasts(self.classes).t())
    }

    fn log_likelihood(&self, at_up: &Array2<f64>) -> f64 {
        let scores = self.scores(at_up);
        let rows = scores.rows().into_iter().zip(&self.class_n).zip(&self.w_n);
        rows.map(|((s, &c), w)| w * (s[c] - s.mapv(f64::exp).sum().ln()))
            .sum()
    }

    fn square(&self, at_up: &Array2<f64>) -> f64 {
        let beta = at_up.slice(s![.., ..self.z_nd.ncols()]);
        PRECISION * (&beta * &beta).sum()
    }

    fn cost(&self, at_up: &Array2<f64>) -> f64 {
        0.5 * self.square(at_up) - self.log_likelihood(at_up)
    }

    fn probabilities(&self, at_up: &Array2<f64>) -> Array2<f64> {
        let p = self.scores(at_up).mapv(f64::exp);
        let sums = p.sum_axis(Axis(1)).insert_axis(Axis(1));
        p / sums
    }

    /// The Cholesky factor of the Hessian by central differences of the cost.
    fn factor(&self, at_up: &Array2<f64>) -> Lower {
        let size = self.size();
        let all = at_up.len();
        let cost = |moves: [(usize, f64); 2]| {
            let mut at = at_up.clone();
            for (j, by) in moves {
                at[[j / size, j % size]] += by;
            }
            self.cost(&at)
        };
        let step = 1e-4;
        let hessian = Array2::from_shape_fn((all, all), |(i, j)| {
            let sides = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
            let four = sides.map(|(a, b)| a * b * cost([(i, a * step), (j, b * step)]));
            four.iter().sum::<f64>() / (4.0 * step * step)
        });
        let mut factor = Lower::from_matrix(&hessian);
        assert!(factor.factor());
        factor
    }

    /// Coefficients of the scores of classes, `[D, C]`.
    fn beta(&self, at_up: &Array2<f64>) -> Array2<f64> {
        let beta = at_up.slice(s![.., ..self.z_nd.ncols()]);
        contrasts(self.classes).dot(&beta).reversed_axes()
    }

    fn whole(&self, at_up: &Array2<f64>) -> ClassLaplace {
        let p_nc = self.probabilities(at_up);
        let features = self.z_nd.ncols();
        let mut sums = ClassHessian::zero(self.classes, features, self.intercept).expect("room");
        let z_nd = self.z_nd.mapv(|z| z as f32);
        // In two portions.
        for rows in [0..7, 7..self.w_n.len()] {
            let part = s![rows.clone(), ..];
            sums.add(z_nd.slice(part), p_nc.slice(part), &self.w_n[rows]);
        }
        let at = (self.beta(at_up), self.log_likelihood(at_up));
        sums.approximate(at.0.view(), PRECISION, at.1)
            .expect("a law")
    }

    fn apart(&self, turn_cu: &Array2<f64>, at_up: &Array2<f64>) -> ClassLaplace {
        let p_nc = self.probabilities(at_up);
        let beta = self.beta(at_up);
        let sums = |a: usize| {
            let turn = turn_cu.column(a);
            let bend = p_nc.dot(&turn.mapv(|t| t * t)) - p_nc.dot(&turn).mapv(|v| v * v);
            let c_n = bend * Array1::from(self.w_n.clone());
            let curved = &self.z_nd * &c_n.view().insert_axis(Axis(1));
            Ok(NormalEquations {
                rows: c_n.len() as u64,
                weight: c_n.sum(),
                gram_dd: self.z_nd.t().dot(&curved),
                z_sum_d: curved.sum_axis(Axis(0)),
                ..NormalEquations::zero(self.z_nd.ncols(), 0)
            })
        };
        let figures = (PRECISION, self.log_likelihood(at_up));
        let place = (beta.view(), self.intercept);
        ClassLaplace::apart(turn_cu.clone(), place, figures, sums).expect("a law")
    }
}

/// The covariance between directions for a row.
fn covariance(spread: &ClassSpread, z_d: ArrayView1<'_, f64>) -> Array2<f64> {
    let rooted = z_d.dot(&spread.root_dm).mapv(|r| r as f32);
    let factor = spread.factor(rooted.view());
    factor.dot(&factor.t())
}

fn place(directions: usize, size: usize) -> Array2<f64> {
    Array2::from_shape_fn((directions, size), |(a, j)| {
        0.9 * (1.3 * a as f64 + 0.8 * j as f64 + 0.4).cos()
    })
}

#[test]
fn contrasts_are_orthonormal_and_ignore_what_all_scores_share() {
    for classes in [2, 3, 7] {
        let turn = contrasts(classes);
        let off = turn.t().dot(&turn) - Array2::<f64>::eye(classes - 1);
        assert!(off.iter().all(|e| e.abs() < 1e-14), "{off}");
        assert!(turn.sum_axis(Axis(0)).iter().all(|e| e.abs() < 1e-14));
    }
}

/// The prior of two columns of coefficients at a precision is that of their difference at half of
/// it.
#[test]
fn of_two_classes_both_forms_are_that_of_one_score() {
    for intercept in [true, false] {
        let problem = Problem::new(25, 3, 2, intercept);
        let at = place(1, problem.size());
        let p_n = problem.probabilities(&at).column(1).to_owned();
        let c_n = &p_n * &(1.0 - &p_n) * Array1::from(problem.w_n.clone());
        let curved = &problem.z_nd * &c_n.view().insert_axis(Axis(1));
        let sums = NormalEquations {
            rows: 25,
            weight: c_n.sum(),
            gram_dd: problem.z_nd.t().dot(&curved),
            z_sum_d: curved.sum_axis(Axis(0)),
            ..NormalEquations::zero(3, 0)
        };
        let beta = problem.beta(&at);
        let odds = &beta.column(1) - &beta.column(0);
        let likely = problem.log_likelihood(&at);
        let one = Laplace::new(&sums, (odds.view(), intercept), 0.5 * PRECISION, likely);
        let one = one.expect("a law");
        for of in [problem.whole(&at), problem.apart(&contrasts(2), &at)] {
            let apart = (of.log_evidence - one.log_evidence).abs();
            assert!(apart < 1e-5, "{} {}", of.log_evidence, one.log_evidence);
            for z in problem.z_nd.rows() {
                let rooted = z.dot(&one.spread.root_dd).insert_axis(Axis(0));
                let expected = one.spread.relative_variance(&rooted)[0];
                // The log odds are the root of 2 times the contrast.
                let found = 2.0 * covariance(&of.spread, z)[[0, 0]];
                assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}

#[test]
fn covariance_and_evidence_are_those_of_the_hessian() {
    for intercept in [true, false] {
        let problem = Problem::new(25, 2, 3, intercept);
        let size = problem.size();
        let at = place(2, size);
        let all = 2 * size;
        let factor = problem.factor(&at);
        let of = problem.whole(&at);
        for (z, columns) in problem
            .z_nd
            .rows()
            .into_iter()
            .zip(problem.columns().rows())
        {
            let mut each = Array2::zeros((all, 2));
            for a in 0..2 {
                each.slice_mut(s![a * size..(a + 1) * size, a])
                    .assign(&columns);
            }
            factor.solve(&mut each);
            let off = each.t().dot(&each) - covariance(&of.spread, z);
            assert!(off.iter().all(|e| e.abs() < 1e-5), "{off}");
        }
        // log p(y, at) + size/2 log 2 pi - 1/2 log |H|; intercepts have a flat prior, of density 1
        // for differences to one of them: sqrt(3) along the contrasts.
        let log_determinant: f64 = (0..all).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
        let prior = 2.0 * (PRECISION / TAU).ln();
        let of_intercepts = if intercept { 0.5 * 3_f64.ln() } else { 0.0 };
        let expected = prior - problem.cost(&at)
            + of_intercepts
            + 0.5 * (all as f64 * TAU.ln() - log_determinant);
        assert!(
            (of.log_evidence - expected).abs() < 1e-5,
            "{} {expected}",
            of.log_evidence
        );
    }
}

/// With equally likely classes, directions are independent.
#[test]
fn blocks_are_the_whole_where_classes_are_even() {
    let problem = Problem::new(30, 3, 4, true);
    let at = Array2::zeros((3, 4));
    let (whole, apart) = (problem.whole(&at), problem.apart(&contrasts(4), &at));
    assert!((whole.log_evidence - apart.log_evidence).abs() < 1e-5);
    for z in problem.z_nd.rows() {
        let off = covariance(&whole.spread, z) - covariance(&apart.spread, z);
        assert!(off.iter().all(|e| e.abs() < 1e-6), "{off}");
    }
}

/// A spread whose directions have this covariance at z = 1.
fn of_covariance(classes: usize, root: &Array2<f64>, apart: bool) -> ClassSpread {
    ClassSpread {
        turn_cu: contrasts(classes),
        shift_m: Array1::zeros(root.len()),
        root_dm: Array2::from_shape_vec((1, root.len()), root.iter().copied().collect())
            .expect("a row"),
        apart,
    }
}

#[test]
fn means_of_softmaxes_are_integrals() {
    // Two classes: by quadrature.
    for (odds, deviation) in [(0.4, 0.3), (-2.0, 2.5), (3.0, 8.0)] {
        let spread = of_covariance(2, &array![[deviation / 2_f64.sqrt()]], true);
        let mean = MeanSoftmax::draw(&spread).expect("points");
        let rooted = spread.root_dm.row(0).mapv(|r| r as f32);
        let found = mean.row(array![0.0, odds].view(), rooted.view());
        let expected = mean_sigmoid(odds, deviation * deviation);
        assert!((found[1] - expected).abs() < 1e-3, "{found} {expected}");
    }
    // Three classes: by a grid along both directions.
    let root = array![[1.4, 0.0], [-0.9, 2.0]];
    let spread = of_covariance(3, &root, false);
    let scores = array![0.5, -1.0, 1.2];
    let (step, reach) = (0.05, 140);
    let mut expected = Array1::<f64>::zeros(3);
    let mut all = 0.0;
    for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
        let u = array![step * f64::from(i), step * f64::from(j)];
        let density = (-0.5 * u.dot(&u)).exp();
        let p = (&scores + &contrasts(3).dot(&root.dot(&u))).mapv(f64::exp);
        expected.scaled_add(density / p.sum(), &p);
        all += density;
    }
    expected /= all;
    let mean = MeanSoftmax::draw(&spread).expect("points");
    let rooted = spread.root_dm.row(0).mapv(|r| r as f32);
    let found = mean.row(scores.view(), rooted.view());
    let off = &found - &expected;
    assert!(off.iter().all(|e| e.abs() < 1.5e-3), "{found} {expected}");
    // Without spread it is the softmax.
    let none = of_covariance(3, &Array2::zeros((2, 2)), false);
    let mean = MeanSoftmax::draw(&none).expect("points");
    let found = mean.row(scores.view(), Array1::zeros(4).view());
    let p = scores.mapv(f64::exp);
    let off = &found - &(&p / p.sum());
    assert!(off.iter().all(|e| e.abs() < 1e-12), "{off}");
}

/// The mode for three classes and one feature, by gradient steps with differences.
fn mode(problem: &Problem) -> Array2<f64> {
    let mut at = Array2::zeros((2, 2));
    for _ in 0..400 {
        let p = problem.probabilities(&at);
        let mut slope = -p;
        slope
            .rows_mut()
            .into_iter()
            .zip(&problem.class_n)
            .for_each(|(mut s, &c)| s[c] += 1.0);
        let mut gradient = contrasts(3).t().dot(&slope.t()).dot(&problem.columns());
        for a in 0..2 {
            gradient[[a, 0]] -= PRECISION * at[[a, 0]];
        }
        at.scaled_add(0.02, &gradient);
    }
    at
}

/// The integral of the posterior relative to its height at the mode and the normal approximation,
/// and the mean probabilities of `new` rows, by importance sampling from the approximation.
fn integrals(
    problem: &Problem,
    (at, factor): (&Array2<f64>, &Lower),
    new: &Array2<f64>,
    mut normal: impl FnMut() -> f64,
) -> (f64, Array2<f64>) {
    let top = problem.cost(at);
    let (mut all, mut p) = (0.0, Array2::<f64>::zeros((3, 3)));
    let drawn = 20_000;
    for _ in 0..drawn {
        let xi = Array1::from_shape_simple_fn(4, &mut normal);
        let mut away = xi.view().insert_axis(Axis(1)).to_owned();
        factor.solve_transposed(&mut away);
        let away = Array2::from_shape_vec((2, 2), away.iter().copied().collect());
        let here = at + &away.expect("a shape");
        let weight = (top - problem.cost(&here) + 0.5 * xi.dot(&xi)).exp();
        all += weight;
        let u = here.dot(&ndarray::stack![
            Axis(0),
            new.column(0),
            Array1::<f64>::ones(3)
        ]);
        for (i, u) in u.columns().into_iter().enumerate() {
            let e = contrasts(3).dot(&u).mapv(f64::exp);
            p.row_mut(i).scaled_add(weight / e.sum(), &e);
        }
    }
    p /= all;
    (all / f64::from(drawn), p)
}

/// The posterior itself.
#[test]
fn evidence_and_probabilities_are_near_the_integrals() {
    let mut problem = Problem::new(150, 1, 3, true);
    problem.w_n.fill(1.0);
    let mut draws = Seed(5).stream(Stream::Data, 0);
    // Classes that depend on the feature.
    for (z, class) in problem.z_nd.iter().zip(&mut problem.class_n) {
        let scores = [0.2 + z, -0.3 - 1.5 * z, 0.0];
        let noisy = scores.map(|s| s - (-draws.uniform().ln()).ln());
        *class = (1..3).fold(0, |b, k| if noisy[k] > noisy[b] { k } else { b });
    }
    let at = mode(&problem);
    let of = problem.whole(&at);
    let factor = problem.factor(&at);
    let new = array![[0.4], [1.5], [-2.0]];
    let (whole, p) = integrals(&problem, (&at, &factor), &new, || draws.normal());
    let log_root: f64 = (0..4).map(|i| -factor.row(i)[i].ln()).sum();
    let evidence = whole.ln() + log_root + 2.0 * TAU.ln() - problem.cost(&at);
    let evidence = evidence + (PRECISION / TAU).ln() + 0.5 * 3_f64.ln();
    assert!(
        (of.log_evidence - evidence).abs() < 0.05,
        "{} {evidence}",
        of.log_evidence
    );
    let mean = MeanSoftmax::draw(&of.spread).expect("points");
    for (i, z) in new.column(0).iter().enumerate() {
        let scores = contrasts(3).dot(&at.dot(&array![*z, 1.0]));
        let rooted = of.spread.root_dm.row(0).mapv(|r| (r * z) as f32);
        let found = mean.row(scores.view(), rooted.view());
        let off = &found - &p.row(i);
        assert!(
            off.iter().all(|e| e.abs() < 0.012),
            "{z}: {found} {}",
            p.row(i)
        );
    }
}

#[test]
fn what_has_no_law_says_so() {
    let sums = ClassHessian::zero(3, 2, true).expect("room");
    let refused = sums.approximate(Array2::zeros((2, 3)).view(), 1.0, 0.0);
    let message = refused.expect_err("no rows").to_string();
    assert!(message.contains("not positive definite"), "{message}");
}
