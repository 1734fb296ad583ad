//! Ridge regression of a stream: one row after another, and the past forgotten by and by.

mod block;
mod file;
#[cfg(test)]
mod tests;

use crate::{
    Error, Result,
    error::Remedy,
    linalg::{
        cholesky::Lower,
        products::subtract_lower_outer,
        symmetric::{Panels, add_rows, dot},
    },
    model::Coefficients,
};
use block::Block;
use ndarray::{Array2, ArrayView2};

/// How a stream is learned: by recursive least squares, whose coefficients after row t are those of
/// the weighted fit
///
/// ```text
/// min  sum_i w_i 2^(-(t - i) / half_life) |y_i - b - beta'z_i|^2 + penalty_t |beta|^2
/// ```
///
/// to rounding, whatever t (Haykin 2002, chapter 9). A row takes `O(D^2)` operations, a prediction
/// `O(D)`. What rows before count for shrinks with every row, and the penalty with it: once in a
/// half-life it is brought back to `penalty`, and the inverse computed anew from the sums. Between,
/// `penalty_t` is at least half of it, and [`RecursiveRidge::penalty`] says how much.
///
/// ```
/// use bochner::stream::Recursive;
/// let rule = Recursive { half_life: 50.0, penalty: 1e-3, ..Recursive::default() };
/// let mut stream = rule.start(1, 1)?;
/// for t in 0..400 {
///     let x = f64::from(t % 7) / 7.0;
///     // The slope turns.
///     let y = if t < 200 { 2.0 * x } else { 1.0 - x };
///     stream.learn(&[x], &[y], 1.0)?;
/// }
/// assert!((stream.predict(&[0.5])?[0] - 0.5).abs() < 0.06);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recursive {
    /// The penalty of `|beta|^2` beside the sum over rows, > 0: NOT per sample, for a stream has no
    /// number of rows.
    pub penalty: f64,
    /// Rows after which a row counts for half, >= 1; infinite, and none is forgotten.
    pub half_life: f64,
    /// Whether an intercept is fitted, which is never penalised.
    pub intercept: bool,
}

impl Default for Recursive {
    /// A penalty of 1, nothing forgotten, an intercept.
    fn default() -> Self {
        Self {
            penalty: 1.0,
            half_life: f64::INFINITY,
            intercept: true,
        }
    }
}

impl Recursive {
    /// A stream of rows of so many features and targets, of which none came yet.
    ///
    /// Errors with [`Error::Parameter`] unless the penalty is positive and finite and the half-life
    /// a row or more, and where there is neither a feature nor an intercept.
    pub fn start(self, features: usize, targets: usize) -> Result<RecursiveRidge> {
        self.check(features)?;
        let size = features + usize::from(self.intercept);
        let inverse_mm = Array2::from_diag_elem(size, 1.0 / self.penalty);
        Ok(RecursiveRidge {
            rule: self,
            features,
            targets,
            rows: 0,
            weight: 0.0,
            since_anew: 0,
            penalty: self.penalty,
            inverse: Panels::of(&inverse_mm),
            inverse_mm,
            minus_gram_mm: Array2::zeros((size, size)),
            zty_tm: vec![0.0; targets * size],
            beta_tm: vec![0.0; targets * size],
            block: Block::new(size),
        })
    }

    /// That there can be such a stream.
    fn check(&self, features: usize) -> Result<()> {
        if !(self.penalty > 0.0 && self.penalty.is_finite()) {
            return Err(Error::parameter(format!(
                "the penalty of a stream is {}; it is a positive number",
                self.penalty
            )));
        }
        if self.half_life.is_nan() || self.half_life < 1.0 {
            return Err(Error::parameter(format!(
                "a half-life is {} rows; it is one row or more",
                self.half_life
            )));
        }
        if features == 0 && !self.intercept {
            return Err(Error::parameter("a stream has a feature or an intercept"));
        }
        Ok(())
    }

    /// What rows before count for after one more.
    fn keep(&self) -> f64 {
        (-1.0 / self.half_life).exp2()
    }

    /// Rows after which the inverse is computed anew, of a stream that is as long: once in a
    /// half-life, and where little is forgotten whenever the stream is twice as long.
    fn turn(&self, rows: u64) -> u64 {
        let doubled = rows.max(Block::ROWS as u64);
        doubled.min(self.half_life.ceil().min(u64::MAX as f64) as u64)
    }
}

/// What a stream has taught so far; see [`Recursive`].
#[derive(Debug, Clone)]
pub struct RecursiveRidge {
    rule: Recursive,
    features: usize,
    targets: usize,
    rows: u64,
    /// Sum of what the rows count for, of those before the block, in the measure of the inverse, in
    /// which are the sums below: [`Block::shrunk`] takes it to what they count for now.
    weight: f64,
    /// Rows since the inverse was computed from the sums.
    since_anew: u64,
    /// The penalty that the inverse has.
    penalty: f64,
    /// `(Z'Z + penalty)^-1`, the lower triangle, of features and then the intercept.
    inverse_mm: Array2<f64>,
    /// The same, to be multiplied with rows.
    inverse: Panels,
    /// `-Z'Z`, the lower triangle.
    minus_gram_mm: Array2<f64>,
    /// `Z'Y`, target after target.
    zty_tm: Vec<f64>,
    /// Coefficients as of the last row, target after target.
    beta_tm: Vec<f64>,
    /// Rows whose part of the inverse and of the sums is not in them yet.
    block: Block,
}

impl RecursiveRidge {
    /// Number of rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Sum of what the rows count for now.
    pub fn weight(&self) -> f64 {
        (self.weight + self.block.weight()) * self.block.shrunk()
    }

    /// The penalty of the fit that the coefficients are of: at most that of the rule, and at least
    /// half of it.
    pub fn penalty(&self) -> f64 {
        self.penalty * self.block.shrunk()
    }

    /// Learns one row `[D]` with its targets `[t]`, which counts for `weight`.
    ///
    /// Errors with [`Error::Shape`] on other lengths and [`Error::Parameter`] on numbers that are
    /// not finite and weights below 0, with all as before; and with [`Error::Numerical`] where the
    /// penalty is lost beside the sums when the inverse is computed anew, with the row learned.
    pub fn learn(&mut self, z_d: &[f64], y_t: &[f64], weight: f64) -> Result<()> {
        self.check(z_d)?;
        if y_t.len() != self.targets {
            let (found, wanted) = (y_t.len(), self.targets);
            return Err(Error::shape(format!(
                "{found} targets in a stream of {wanted}"
            )));
        }
        if !(weight >= 0.0 && weight.is_finite() && y_t.iter().all(|y| y.is_finite())) {
            return Err(Error::parameter(
                "a target of a stream is a finite number, and a weight, too, of 0 or more",
            ));
        }
        let z_m = self.with_one(z_d);
        self.rows += 1;
        if self.rule.intercept && self.weight == 0.0 {
            self.begin(&z_m, y_t, weight);
            return Ok(());
        }
        self.since_anew += 1;
        let (gain_m, spread) = self.inverse_times(&z_m);
        let counts = weight * self.block.grow(self.rule.keep());
        let share = counts / (1.0 + counts * spread);
        let beta = self.beta_tm.chunks_exact_mut(z_m.len());
        for (beta_m, y) in beta.zip(y_t) {
            let error = y - dot(beta_m, &z_m);
            add_rows(beta_m, &gain_m, &[share * error]);
        }
        self.block.push((&z_m, y_t), (&gain_m, share), counts);
        let anew = self.since_anew >= self.rule.turn(self.rows - self.since_anew);
        if self.block.is_full() || anew {
            self.end_block();
        }
        if anew {
            self.solve_anew()?;
        }
        Ok(())
    }

    /// One target more, which was 0 in all rows so far: of classes by a column each, one that
    /// nobody had seen.
    pub fn add_target(&mut self) {
        self.block.add_target(self.targets);
        self.targets += 1;
        let more = vec![0.0; self.inverse_mm.nrows()];
        self.zty_tm.extend(&more);
        self.beta_tm.extend(&more);
    }

    /// Features of a row.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Targets of a row.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// What the row's targets would be, `[t]`. Errors as [`Self::learn`] does.
    pub fn predict(&self, z_d: &[f64]) -> Result<Vec<f64>> {
        self.check(z_d)?;
        let size = self.inverse_mm.nrows();
        let beta = self.beta_tm.chunks_exact(size.max(1));
        let predicted = beta.map(|beta_m| {
            let (slopes, constant) = beta_m.split_at(z_d.len());
            dot(slopes, z_d) + constant.first().unwrap_or(&0.0)
        });
        Ok(predicted.collect())
    }

    /// `z'(Z'Z + penalty)^-1 z` of a row: times the variance of the noise, that of what is
    /// predicted. Its root is the width of LinUCB's bounds (Li et al. 2010, section 3). Beside an
    /// intercept it is infinite before the first row. Errors as [`Self::learn`] does.
    pub fn spread(&self, z_d: &[f64]) -> Result<f64> {
        self.check(z_d)?;
        if self.rule.intercept && self.weight == 0.0 {
            return Ok(f64::INFINITY);
        }
        let (_, spread) = self.inverse_times(&self.with_one(z_d));
        Ok(spread / self.block.shrunk())
    }

    /// The coefficients as of the last row.
    pub fn coefficients(&self) -> Coefficients {
        let size = self.inverse_mm.nrows();
        let beta =
            ArrayView2::from_shape((self.targets, size), &self.beta_tm).expect("their shape");
        let (slopes, constant) = beta.split_at(ndarray::Axis(1), self.features);
        Coefficients {
            beta_dt: slopes.t().to_owned(),
            intercept_t: constant.sum_axis(ndarray::Axis(1)),
        }
    }

    /// That a row is one of this stream.
    fn check(&self, z_d: &[f64]) -> Result<()> {
        if z_d.len() != self.features {
            let (found, wanted) = (z_d.len(), self.features);
            return Err(Error::shape(format!(
                "a row of {found} in a stream of {wanted} features"
            )));
        }
        match z_d.iter().position(|z| !z.is_finite()) {
            Some(at) => Err(Error::parameter(format!(
                "feature {at} of a row is {}; it is a finite number",
                z_d[at]
            ))),
            None => Ok(()),
        }
    }

    fn with_one(&self, z_d: &[f64]) -> Vec<f64> {
        let mut z_m = Vec::with_capacity(z_d.len() + 1);
        z_m.extend_from_slice(z_d);
        z_m.extend(self.rule.intercept.then_some(1.0));
        z_m
    }

    /// The first row that counts beside an intercept: without it nothing holds the constant.
    fn begin(&mut self, z_m: &[f64], y_t: &[f64], weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.since_anew = 1;
        self.weight = weight;
        let one = self.features;
        for (k, &z) in z_m.iter().enumerate() {
            add_rows(
                self.minus_gram_mm
                    .row_mut(k)
                    .as_slice_mut()
                    .expect("standard layout"),
                z_m,
                &[-weight * z],
            );
        }
        // The inverse by blocks: what is left of the features beside the constant is the penalty.
        let norm: f64 = z_m[..one].iter().map(|z| z * z).sum();
        for (to, z) in self.inverse_mm.row_mut(one).iter_mut().zip(z_m) {
            *to = -z / self.penalty;
        }
        self.inverse_mm[[one, one]] = 1.0 / weight + norm / self.penalty;
        self.inverse.assign(&self.inverse_mm);
        let of_targets = self.beta_tm.chunks_exact_mut(z_m.len());
        let of_targets = of_targets.zip(self.zty_tm.chunks_exact_mut(z_m.len()));
        for ((beta_m, zty_m), &y) in of_targets.zip(y_t) {
            beta_m[one] = y;
            add_rows(zty_m, z_m, &[weight * y]);
        }
    }

    /// The inverse, with the rows of the block, times a row; and the row's product with that.
    fn inverse_times(&self, z_m: &[f64]) -> (Vec<f64>, f64) {
        let mut out_m = self.inverse.times(z_m);
        self.block.correct(z_m, &mut out_m);
        let spread = dot(z_m, &out_m);
        // Below zero by rounding alone.
        (out_m, spread.max(0.0))
    }

    /// Takes the rows of the block into the inverse and the sums.
    fn end_block(&mut self) {
        subtract_lower_outer(&mut self.inverse_mm, self.block.gains_mk().view());
        self.inverse.assign(&self.inverse_mm);
        subtract_lower_outer(&mut self.minus_gram_mm, self.block.rows_mk().view());
        self.block.add_targets(&mut self.zty_tm);
        self.weight += self.block.weight();
        self.block.clear();
    }

    /// Has what rows count for be that beside the last of them again. Between two inverses from the
    /// sums, which are a half-life apart at most, nothing grows to more than twice as much, so that
    /// no block need pass over the matrices for it.
    fn shrink(&mut self) {
        let shrunk = self.block.shrink();
        if shrunk == 1.0 {
            return;
        }
        self.weight *= shrunk;
        self.penalty *= shrunk;
        self.minus_gram_mm *= shrunk;
        self.inverse_mm /= shrunk;
        self.inverse.assign(&self.inverse_mm);
        self.zty_tm.iter_mut().for_each(|sum| *sum *= shrunk);
    }

    /// Computes the inverse and the coefficients from the sums, with the whole penalty. No row is
    /// in the block.
    fn solve_anew(&mut self) -> Result<()> {
        self.shrink();
        let size = self.inverse_mm.nrows();
        let mut matrix_mm = self.minus_gram_mm.mapv(|v| 0.0 - v);
        matrix_mm
            .diag_mut()
            .iter_mut()
            .take(self.features)
            .for_each(|v| *v += self.rule.penalty);
        let mut factor = Lower::take(matrix_mm);
        if !factor.factor() {
            return Err(Error::numerical(format!(
                "a penalty of {:e} is lost beside sums of {} rows",
                self.rule.penalty, self.rows
            ))
            .help(Remedy::LargerLambda));
        }
        let sums = ArrayView2::from_shape((self.targets, size), &self.zty_tm).expect("their shape");
        let mut beta_mt = sums.t().as_standard_layout().into_owned();
        factor.solve(&mut beta_mt);
        factor.solve_transposed(&mut beta_mt);
        self.beta_tm = beta_mt.t().iter().copied().collect();
        self.inverse_mm = factor.inverse().into_matrix();
        self.inverse.assign(&self.inverse_mm);
        self.penalty = self.rule.penalty;
        self.since_anew = 0;
        Ok(())
    }
}
