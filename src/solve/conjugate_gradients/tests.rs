//! Tests of conjugate gradients on features stored as a matrix.

use super::*;
use crate::seed::{Seed, Stream};

/// A stored feature matrix.
pub(in crate::solve) struct Stored(pub(in crate::solve) Array2<f64>);

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

    fn moments(&mut self, out_2d: &mut Array2<f64>) -> Result<()> {
        out_2d.row_mut(0).assign(&self.0.sum_axis(Axis(0)));
        let squares = self.0.mapv(|z| z * z);
        out_2d.row_mut(1).assign(&squares.sum_axis(Axis(0)));
        Ok(())
    }
}

/// For a matrix of rank 10 plus a penalty, a sketch of 15 directions leaves one eigenvalue: one
/// product nearly converges, and rounding takes two more. With weights and means.
#[test]
fn a_sketch_of_a_low_rank_leaves_nothing_to_do() {
    let (n, d) = (200, 80);
    let mut draws = Seed(6).stream(Stream::Sample, 0);
    // Columns of very different scales.
    let left = Array2::from_shape_simple_fn((n, 10), || draws.normal());
    let mut right = Array2::from_shape_simple_fn((10, d), || draws.normal());
    for (j, mut column) in right.columns_mut().into_iter().enumerate() {
        column *= [1.0, 0.1, 3.0][j % 3];
    }
    let y_tn = Array2::from_shape_simple_fn((2, n), || draws.normal());
    let weights = Array1::from_shape_fn(n, |i| 0.5 + (i % 4) as f64);
    for (intercept, weighted) in [(false, false), (true, false), (true, true)] {
        let z = left.dot(&right);
        let solver = ConjugateGradients {
            lambda: 1e-5,
            intercept,
            tolerance: 1e-10,
            max_iterations: 50,
            preconditioning: Preconditioning::Sketch { rank: 15 },
        };
        let weights_n = weighted.then(|| weights.view());
        let solve = |solver: ConjugateGradients| {
            let mut z = Stored(z.clone());
            let y = y_tn.view();
            let solution = solver.solve_weighted(&mut z, y, weights_n, &mut |_, _| {});
            solution.expect("solves")
        };
        let solution = solve(solver);
        assert!(
            solution.converged && solution.rank == 10,
            "{}",
            solution.rank
        );
        assert!(solution.iterations <= 3, "{}", solution.iterations);
        let diagonal = solve(ConjugateGradients {
            max_iterations: 2000,
            preconditioning: Preconditioning::Diagonal,
            ..solver
        });
        assert!(diagonal.iterations > 8 && diagonal.rank == 0);
        assert!(diagonal.converged);
        let scores = |s: &Solution| z.dot(&s.coefficients.beta_dt);
        let off = (scores(&solution) - scores(&diagonal)).fold(0.0, |m: f64, e| m.max(e.abs()));
        assert!(off < 1e-5, "{off:e}");
    }
}

/// Eigenvalues that decrease slowly and then by a large step, in columns of very different scales:
/// the automatic choice switches to a sketch, and agrees with the factor.
#[test]
fn auto_takes_a_sketch_where_the_diagonal_is_slow() {
    let (n, d) = (600, 320);
    let mut draws = Seed(7).stream(Stream::Sample, 0);
    let mut z = Array2::from_shape_simple_fn((n, d), || draws.normal());
    let turn = Array2::from_shape_simple_fn((d, d), || draws.normal());
    for (j, mut column) in z.columns_mut().into_iter().enumerate() {
        column *= 0.8_f64.powi(j as i32);
    }
    z = z.dot(&turn);
    for (j, mut column) in z.columns_mut().into_iter().enumerate() {
        column *= [1.0, 0.1, 10.0][j % 3];
    }
    let y_tn = Array2::from_shape_simple_fn((1, n), || draws.normal());
    let solver = ConjugateGradients {
        lambda: 1e-3,
        tolerance: 1e-9,
        ..ConjugateGradients::default()
    };
    let solve = |solver: ConjugateGradients| {
        let solution = solver.solve(&mut Stored(z.clone()), y_tn.view(), &mut |_, _| {});
        solution.expect("solves")
    };
    let auto = solve(solver);
    let diagonal = solve(ConjugateGradients {
        preconditioning: Preconditioning::Diagonal,
        ..solver
    });
    println!("{} {} {}", auto.iterations, diagonal.iterations, auto.rank);
    assert!(auto.converged && auto.rank > 0);
    assert!(
        2 * auto.iterations < diagonal.iterations,
        "{} {}",
        auto.iterations,
        diagonal.iterations
    );
    // Without the sketch the iteration has not converged to the same solution.
    let exact = Preconditioning::Sketch { rank: 320 };
    let exact = solve(ConjugateGradients {
        preconditioning: exact,
        ..solver
    });
    let scores = |s: &Solution| z.dot(&s.coefficients.beta_dt);
    let off = (scores(&auto) - scores(&exact)).fold(0.0, |m: f64, e| m.max(e.abs()));
    assert!(off < 1e-5 && exact.iterations < 10, "{off:e}");
}

/// Eigenvalues that decrease as j^-3 to far below the penalty: a sketch of the initial rank leaves
/// most iterations, and twice the rank far fewer, including the iterations that showed it.
#[test]
fn auto_doubles_the_rank_where_a_sketch_is_too_small() {
    let (n, d) = (1000, 900);
    let mut draws = Seed(8).stream(Stream::Sample, 0);
    let mut z = Array2::from_shape_simple_fn((n, d), || draws.normal());
    for (j, mut column) in z.columns_mut().into_iter().enumerate() {
        column *= (j as f64 + 1.0).powf(-1.5);
    }
    let y_tn = Array2::from_shape_simple_fn((1, n), || draws.normal());
    let solve = |preconditioning| {
        let solver = ConjugateGradients {
            lambda: 1e-10,
            tolerance: 1e-7,
            preconditioning,
            ..ConjugateGradients::default()
        };
        let solution = solver.solve(&mut Stored(z.clone()), y_tn.view(), &mut |_, _| {});
        let solution = solution.expect("solves");
        assert!(solution.converged);
        solution
    };
    let auto = solve(Preconditioning::Auto);
    let first = solve(Preconditioning::Sketch { rank: 200 });
    println!("{} of {}, {}", auto.iterations, first.iterations, auto.rank);
    assert_eq!((auto.rank, first.rank), (400, 200));
    assert!(
        5 * auto.iterations < 3 * first.iterations,
        "{} {}",
        auto.iterations,
        first.iterations
    );
    let scores = |s: &Solution| z.dot(&s.coefficients.beta_dt);
    let off = (scores(&auto) - scores(&first)).fold(0.0, |m: f64, e| m.max(e.abs()));
    assert!(off < 1e-4, "{off:e}");
}

/// Correlated features, which take many small steps: the default solution has the promised
/// residual, recomputed from sums, without unnecessary steps.
#[test]
fn the_default_ends_at_the_residual_that_it_promises() {
    let (n, d) = (120, 60);
    let mut draws = Seed(5).stream(Stream::Sample, 0);
    let mut z = Array2::zeros((n, d));
    for i in 0..n {
        let mut walk = 0.0;
        for j in 0..d {
            walk += draws.normal();
            z[[i, j]] = walk;
        }
    }
    let y_tn = Array2::from_shape_simple_fn((2, n), || 3.0 + draws.normal());
    let solver = ConjugateGradients::default();
    let solve = |solver: ConjugateGradients| {
        let solution = solver.solve(&mut Stored(z.clone()), y_tn.view(), &mut |_, _| {});
        solution.expect("solves")
    };
    let solution = solve(solver);
    assert!(solution.converged && solution.iterations > 20);

    let centre =
        |m: &Array2<f64>, axis: Axis| m - &m.mean_axis(axis).expect("rows").insert_axis(axis);
    let (z0, y0) = (centre(&z, Axis(0)), centre(&y_tn, Axis(1)));
    let b = y0.dot(&z0);
    // lambda 1e-6 per sample, for 120 samples.
    let a = z0.t().dot(&z0) + Array2::<f64>::eye(d) * 120e-6;
    for k in 0..2 {
        let beta = solution.coefficients.beta_dt.column(k);
        let r = &b.row(k) - &a.dot(&beta);
        let residual = r.dot(&r).sqrt() / b.row(k).dot(&b.row(k)).sqrt();
        assert!((1e-8..1e-6).contains(&residual), "{residual:e}");
        assert!((residual / solution.residual_t[k] - 1.0).abs() < 1e-3);
    }
    let sooner = solve(ConjugateGradients {
        max_iterations: solution.iterations - 1,
        ..solver
    });
    assert!(!sooner.converged, "one step fewer would have done");
    // Takes the maximum number of steps if the tolerance is out of reach.
    let endless = ConjugateGradients {
        tolerance: 1e-300,
        ..solver
    };
    assert_eq!(solve(endless).iterations, 1000);
}
