//! Boosting of squared errors, with blocks of features as weak learners.

use super::{Centred, Growing, NO_MORE, Stagewise, at_least_one};
use crate::{
    Error, Result,
    error::Remedy,
    linalg::{cholesky::Lower, entries},
    normal::NormalEquations,
};
use ndarray::{Array2, Axis};

/// Boosting of squared errors (Friedman 2001; Buhlmann & Yu 2003) with blocks of features as weak
/// learners: in every stage each block is fitted to the residual by ridge regression, the best one
/// is selected, and `shrinkage` times its fit is added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Boosting {
    /// Number of features per block.
    pub block: usize,
    /// Learning rate: the share of each weak learner that is added, in (0, 1].
    pub shrinkage: f64,
    /// The penalty per sample of a block's ridge regression, lambda > 0.
    pub lambda: f64,
    /// Maximum number of stages.
    pub stages: usize,
    /// Whether to fit an intercept, by centring.
    pub intercept: bool,
    /// Early stopping: with held-out rows, stops after this number of stages without a smaller
    /// error on them.
    pub patience: usize,
}

impl Boosting {
    /// Fits to the sums of training rows; with sums of held-out rows, returns the stage with the
    /// least error on these. Of S blocks the s-th has columns s, s + S, s + 2 S and so on. A stage
    /// takes `O(D B t)`, after `O(D^2 + D B^2)` for all.
    ///
    /// Errors with [`Error::Shape`] if there are no rows or sums of other shapes, and with
    /// [`Error::Parameter`] on options outside their domain.
    pub fn solve(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
    ) -> Result<Stagewise> {
        at_least_one("the number of stages", self.stages)?;
        self.grow(sums, held_out, self.stages)
    }

    /// Fits exactly `count` stages, which may be 0, to the sums of rows. Errors as [`Self::solve`]
    /// does.
    pub fn solve_stages(&self, sums: &NormalEquations, count: usize) -> Result<Stagewise> {
        self.grow(sums, None, count)
    }

    fn check(&self) -> Result<()> {
        at_least_one("the number of features of a block", self.block)?;
        if !(self.shrinkage > 0.0 && self.shrinkage <= 1.0) {
            return Err(Error::parameter(format!(
                "the shrinkage is {}; it must lie above 0 and at 1 at most",
                self.shrinkage
            )));
        }
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            return Err(Error::parameter(format!(
                "lambda is {}; it must be positive and finite",
                self.lambda
            )));
        }
        Ok(())
    }

    fn grow(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
        most: usize,
    ) -> Result<Stagewise> {
        self.check()?;
        let mut fit = Growing::new(sums, held_out, self.intercept)?;
        let (targets, features) = fit.beta_td.dim();
        let count = features.div_ceil(self.block);
        let columns = |s: usize| -> Vec<usize> { (s..features).step_by(count).collect() };
        // Rounding can make the Gram matrix indefinite in directions without variance, along which
        // stages would grow without bound.
        if (0..count).any(|s| !Lower::from_matrix(&block(&fit.train, &columns(s))).factor()) {
            let rounding = f64::from(f32::EPSILON) * fit.train.gram_dd.diag().sum();
            entries::add_to_diagonal(&mut fit.train.gram_dd, rounding);
        }
        let blocks: Vec<(Vec<usize>, Array2<f64>)> = (0..count)
            .map(|s| {
                let columns = columns(s);
                let inverse = inverse(&fit.train, &columns, self.lambda)?;
                Ok((columns, inverse))
            })
            .collect::<Result<_>>()?;
        let square: f64 = fit.train.square_t.sum();
        for _ in 0..most {
            let left_td = &fit.train.zty_td - &fit.train_td;
            let mut best: Option<(f64, usize, Array2<f64>)> = None;
            for (s, (columns, inverse)) in blocks.iter().enumerate() {
                let left = left_td.select(Axis(1), columns);
                let change = left.dot(inverse);
                // Decrease of the penalised sum of squares.
                let gain = (&left * &change).sum();
                if best.as_ref().is_none_or(|(most, ..)| gain > *most) {
                    best = Some((gain, s, change));
                }
            }
            let Some((gain, s, change_tb)) = best.filter(|(gain, ..)| *gain > NO_MORE * square)
            else {
                break;
            };
            log::trace!("block {s} explains {:.1e} of the squares", gain / square);
            for k in 0..targets {
                let changes = blocks[s].0.iter().zip(change_tb.row(k));
                let changes: Vec<_> = changes.map(|(&j, c)| (j, self.shrinkage * c)).collect();
                fit.step(k, 1.0, &changes);
            }
            let done = fit.train.error(&fit.beta_td, &fit.train_td) <= NO_MORE;
            if !fit.end_stage(self.patience) || done {
                break;
            }
        }
        Ok(fit.finish())
    }
}

/// `Z_B'Z_B` for a block of columns.
fn block(train: &Centred, columns: &[usize]) -> Array2<f64> {
    let rows = train.gram_dd.select(Axis(0), columns);
    rows.select(Axis(1), columns)
}

/// `(Z_B'Z_B + lambda n I)^-1` for a block of columns.
fn inverse(train: &Centred, columns: &[usize], lambda: f64) -> Result<Array2<f64>> {
    let mut of_block = block(train, columns);
    entries::add_to_diagonal(&mut of_block, lambda * train.n);
    let mut factor = Lower::from_matrix(&of_block);
    if !factor.factor() {
        let problem = format!("a block is not positive definite at lambda = {lambda:e}");
        return Err(Error::numerical(problem).help(Remedy::LargerLambda));
    }
    let mut inverse = Array2::eye(columns.len());
    factor.solve(&mut inverse);
    factor.solve_transposed(&mut inverse);
    Ok(inverse)
}
