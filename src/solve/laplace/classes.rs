//! Laplace approximation for several classes: a normal distribution of scores, and the mean of
//! their softmax.

#[cfg(test)]
mod tests;

use super::Laplace;
use crate::{
    Error, Result, device::memory_left, error::Remedy, linalg::cholesky::Lower, model::ClassSpread,
    normal::NormalEquations, parallel,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};
use std::f64::consts::TAU;

/// Normal approximation around the mode of the coefficients of several classes.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassLaplace {
    /// The covariance of scores.
    pub spread: ClassSpread,
    /// Logarithm of the evidence, with a flat prior for intercepts: density 1 for their differences
    /// to one of them.
    pub log_evidence: f64,
}

/// Directions among C scores that are orthonormal and orthogonal to 1 (Helmert's contrasts),
/// `[C, C - 1]`.
pub(crate) fn contrasts(classes: usize) -> Array2<f64> {
    Array2::from_shape_fn((classes, classes - 1), |(k, a)| {
        let size = (((a + 1) * (a + 2)) as f64).sqrt();
        match k.cmp(&(a + 1)) {
            std::cmp::Ordering::Less => -1.0 / size,
            std::cmp::Ordering::Equal => (a + 1) as f64 / size,
            std::cmp::Ordering::Greater => 0.0,
        }
    })
}

/// Sums over rows of the full Hessian of a softmax along [`contrasts`]: `sum_i w_i T'(diag(p_i) -
/// p_i p_i')T (x) z_i z_i'`, with a 1 appended to z for an intercept.
#[derive(Debug)]
pub(crate) struct ClassHessian {
    turn_cu: Array2<f64>,
    intercept: bool,
    /// Blocks of directions a >= b, `[P, P]` each, in the order (0,0), (1,0), (1,1), ...
    blocks: Vec<Array2<f64>>,
}

impl ClassHessian {
    /// Without rows. Errors if the host has too little memory.
    pub(crate) fn zero(classes: usize, features: usize, intercept: bool) -> Result<Self> {
        let (directions, size) = (classes - 1, features + usize::from(intercept));
        // The blocks, their matrix, its factor and its inverse, each in f64.
        memory_left::require_square(directions * size, 32, || {
            format!("the covariance of {features} coefficients of {classes} classes")
        })?;
        let blocks = directions * (directions + 1) / 2;
        Ok(Self {
            turn_cu: contrasts(classes),
            intercept,
            blocks: vec![Array2::zeros((size, size)); blocks],
        })
    }

    /// Adds rows with features `[n, D]`, probabilities `[n, C]` and weights.
    pub(crate) fn add(
        &mut self,
        z_nd: ArrayView2<'_, f32>,
        p_nc: ArrayView2<'_, f64>,
        weight_n: &[f64],
    ) {
        let rows = z_nd.nrows();
        let mut z = z_nd.mapv(f64::from);
        if self.intercept {
            z = concatenate![Axis(1), z, Array2::ones((rows, 1))];
        }
        let (turn, along_nu) = (&self.turn_cu, p_nc.dot(&self.turn_cu));
        let pairs = (0..turn.ncols()).flat_map(|a| (0..=a).map(move |b| (a, b)));
        let pairs: Vec<_> = pairs.collect();
        parallel::usual().parts(&mut self.blocks, &|i, block| {
            let (a, b) = pairs[i];
            let product = &turn.column(a) * &turn.column(b);
            let mut bend_n = p_nc.dot(&product);
            for (i, bend) in bend_n.iter_mut().enumerate() {
                *bend = weight_n[i] * (*bend - along_nu[[i, a]] * along_nu[[i, b]]);
            }
            *block += &z.t().dot(&(&z * &bend_n.insert_axis(Axis(1))));
        });
    }

    /// The approximation around `beta_dc` with the prior `beta ~ N(0, I / precision)`;
    /// `log_likelihood` is that of all rows at the mode.
    ///
    /// Errors with [`Error::Numerical`] if rounding leaves the Hessian not positive definite.
    pub(crate) fn approximate(
        self,
        beta_dc: ArrayView2<'_, f64>,
        precision: f64,
        log_likelihood: f64,
    ) -> Result<ClassLaplace> {
        let Self {
            turn_cu,
            intercept,
            blocks,
        } = self;
        let (classes, directions) = turn_cu.dim();
        let (features, size) = (beta_dc.nrows(), blocks[0].nrows());
        let all = directions * size;
        let hessian = whole(blocks, (directions, features), precision);
        let mut factor = Lower::take(hessian);
        if !factor.factor() {
            let problem = "the Hessian of the loss is not positive definite";
            return Err(Error::numerical(problem).help(Remedy::LargerLambda));
        }
        let log_determinant = 2.0 * (0..all).map(|i| factor.row(i)[i].ln()).sum::<f64>();
        // L^-1: column (a, j) is the contribution of coefficient j of direction a to the root of a
        // score's variance.
        let mut inverse = Array2::eye(all);
        factor.solve(&mut inverse);
        let mut root_dm = Array2::zeros((features, directions * all));
        let mut shift_m = Array1::zeros(directions * all);
        for a in 0..directions {
            let own = inverse.slice(s![.., a * size..(a + 1) * size]);
            let part = a * all..(a + 1) * all;
            let columns = own.slice(s![.., ..features]);
            root_dm.slice_mut(s![.., part.clone()]).assign(&columns.t());
            if intercept {
                let of_intercept = own.column(features).mapv(|v| -v);
                shift_m.slice_mut(s![part]).assign(&of_intercept);
            }
        }
        let theta_du = beta_dc.dot(&turn_cu);
        let square = precision * (&theta_du * &theta_du).sum();
        let of_prior = (directions * features) as f64 * precision.ln() - square;
        let of_intercepts = if intercept {
            directions as f64 * TAU.ln() + (classes as f64).ln()
        } else {
            0.0
        };
        Ok(ClassLaplace {
            log_evidence: log_likelihood + 0.5 * (of_prior - log_determinant + of_intercepts),
            spread: ClassSpread {
                turn_cu,
                root_dm,
                shift_m,
                apart: false,
            },
        })
    }
}

/// The Hessian (lower half), assembled from blocks of pairs of directions, with the precision added
/// for features but not for the intercept.
fn whole(
    blocks: Vec<Array2<f64>>,
    (directions, features): (usize, usize),
    precision: f64,
) -> Array2<f64> {
    let size = blocks[0].nrows();
    let all = directions * size;
    let mut hessian = Array2::zeros((all, all));
    let mut blocks = blocks.into_iter();
    for a in 0..directions {
        for (b, block) in (0..=a).zip(&mut blocks) {
            let (rows, columns) = (a * size.., b * size..);
            let place = s![rows, columns];
            hessian
                .slice_mut(place)
                .slice_mut(s![..size, ..size])
                .assign(&block);
        }
        for j in 0..features {
            hessian[[a * size + j, a * size + j]] += precision;
        }
    }
    hessian
}

impl ClassLaplace {
    /// Treats the directions `turn_cu` as independent: one block of the Hessian each, for which
    /// `sums` returns the sums of rows weighted by `w_i t'(diag(p_i) - p_i p_i')t`. For two classes
    /// this is the full Hessian.
    ///
    /// Errors as `sums` and [`Laplace::new`] do.
    pub(crate) fn apart(
        turn_cu: Array2<f64>,
        (beta_dc, intercept): (ArrayView2<'_, f64>, bool),
        (precision, log_likelihood): (f64, f64),
        mut sums: impl FnMut(usize) -> Result<NormalEquations>,
    ) -> Result<Self> {
        let (features, (classes, directions)) = (beta_dc.nrows(), turn_cu.dim());
        let size = features + 1;
        let bytes = 8 * (features * size * directions) as u128;
        memory_left::require(bytes, || {
            format!("{directions} covariances of {features} coefficients")
        })?;
        let mut root_dm = Array2::zeros((features, directions * size));
        let mut shift_m = Array1::zeros(directions * size);
        let mut log_evidence = log_likelihood;
        for a in 0..directions {
            let theta_d = beta_dc.dot(&turn_cu.column(a));
            let one = Laplace::new(&sums(a)?, (theta_d.view(), intercept), precision, 0.0)?;
            let from = a * size;
            let part = s![.., from..from + features];
            root_dm.slice_mut(part).assign(&one.spread.root_dd);
            let part = s![from..from + features];
            shift_m.slice_mut(part).assign(&one.spread.shift_d);
            // One separate coefficient, whose square is the variance of the intercept.
            shift_m[from + features] = one.spread.intercept.sqrt();
            log_evidence += one.log_evidence;
        }
        if intercept {
            log_evidence += 0.5 * (classes as f64).ln();
        }
        Ok(Self {
            log_evidence,
            spread: ClassSpread {
                turn_cu,
                root_dm,
                shift_m,
                apart: true,
            },
        })
    }
}
