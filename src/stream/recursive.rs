//! Online ridge regression with exponential forgetting.

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

/// Options of recursive least squares, whose coefficients after row t equal the weighted fit
///
/// ```text
/// min  sum_i w_i 2^(-(t - i) / half_life) |y_i - b - beta'z_i|^2 + penalty_t |beta|^2
/// ```
///
/// up to rounding, for any t (Haykin 2002, chapter 9). A row takes `O(D^2)` operations, a
/// prediction `O(D)`. The weights of past rows decrease with every row, and so does the penalty:
/// once per half-life it is reset to `penalty`, and the inverse is recomputed from the sums. In
/// between, `penalty_t` is at least half of it; [`RecursiveRidge::penalty`] returns the current
/// value.
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
    /// Penalty on `|beta|^2` added to the sum over rows, > 0: NOT per sample, since a stream has no
    /// fixed number of rows.
    pub penalty: f64,
    /// Number of rows after which the weight of a row is halved, >= 1; infinite for no forgetting.
    pub half_life: f64,
    /// Whether to fit an intercept, which is not penalised.
    pub intercept: bool,
}

impl Default for Recursive {
    /// A penalty of 1, no forgetting, an intercept.
    fn default() -> Self {
        Self {
            penalty: 1.0,
            half_life: f64::INFINITY,
            intercept: true,
        }
    }
}

impl Recursive {
    /// Starts a stream for rows with `features` features and `targets` targets.
    ///
    /// Errors with [`Error::Parameter`] unless the penalty is positive and finite and the half-life
    /// at least one row, and if there is neither a feature nor an intercept.
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

    /// Errors on invalid options.
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

    /// Factor of the weights of past rows for each new row.
    fn keep(&self) -> f64 {
        (-1.0 / self.half_life).exp2()
    }

    /// Number of rows after which the inverse is recomputed, for a stream of `rows` rows: once per
    /// half-life, and with little forgetting whenever the number of rows has doubled.
    fn turn(&self, rows: u64) -> u64 {
        let doubled = rows.max(Block::ROWS as u64);
        doubled.min(self.half_life.ceil().min(u64::MAX as f64) as u64)
    }
}

/// State of an online ridge regression; see [`Recursive`].
#[derive(Debug, Clone)]
pub struct RecursiveRidge {
    rule: Recursive,
    features: usize,
    targets: usize,
    rows: u64,
    /// Total weight of the rows before the block, on the scale of the inverse and of the sums
    /// below; [`Block::shrunk`] converts it to the current scale.
    weight: f64,
    /// Number of rows since the inverse was computed from the sums.
    since_anew: u64,
    /// Penalty of the inverse.
    penalty: f64,
    /// `(Z'Z + penalty)^-1`, the lower triangle; the intercept comes after the features.
    inverse_mm: Array2<f64>,
    /// The same, in a layout for products with rows.
    inverse: Panels,
    /// `-Z'Z`, the lower triangle.
    minus_gram_mm: Array2<f64>,
    /// `Z'Y`, target-major.
    zty_tm: Vec<f64>,
    /// Coefficients after the last row, target-major.
    beta_tm: Vec<f64>,
    /// Rows that are not included in the inverse and the sums yet.
    block: Block,
}

impl RecursiveRidge {
    /// Number of rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Current total weight of the rows.
    pub fn weight(&self) -> f64 {
        (self.weight + self.block.weight()) * self.block.shrunk()
    }

    /// Penalty of the current coefficients: at most that of the options, and at least half of it.
    pub fn penalty(&self) -> f64 {
        self.penalty * self.block.shrunk()
    }

    /// Learns one row `[D]` with its targets `[t]` and weight `weight`.
    ///
    /// Errors with [`Error::Shape`] on other lengths and with [`Error::Parameter`] on numbers that
    /// are not finite and negative weights, without a change of the state; and with
    /// [`Error::Numerical`] if the penalty is lost to rounding when the inverse is recomputed,
    /// after the row was learned.
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

    /// Adds a target, which was 0 in all previous rows: for one-hot classes, a class that was not
    /// seen before.
    pub fn add_target(&mut self) {
        self.block.add_target(self.targets);
        self.targets += 1;
        let more = vec![0.0; self.inverse_mm.nrows()];
        self.zty_tm.extend(&more);
        self.beta_tm.extend(&more);
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of targets.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Predicts the targets of a row, `[t]`. Errors as [`Self::learn`] does.
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

    /// `z'(Z'Z + penalty)^-1 z` of a row: the variance of the prediction divided by that of the
    /// noise. Its root is the width of LinUCB's bounds (Li et al. 2010, section 3). With an
    /// intercept it is infinite before the first row. Errors as [`Self::learn`] does.
    pub fn spread(&self, z_d: &[f64]) -> Result<f64> {
        self.check(z_d)?;
        if self.rule.intercept && self.weight == 0.0 {
            return Ok(f64::INFINITY);
        }
        let (_, spread) = self.inverse_times(&self.with_one(z_d));
        Ok(spread / self.block.shrunk())
    }

    /// The coefficients after the last row.
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

    /// Checks the length and the values of a row.
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

    /// First row of positive weight with an intercept, which is undetermined before.
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
        // Block-wise inverse: what remains of the features after projecting out the constant is the
        // penalty.
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

    /// The inverse, including the rows of the block, times a row; and the inner product of the row
    /// with that.
    fn inverse_times(&self, z_m: &[f64]) -> (Vec<f64>, f64) {
        let mut out_m = self.inverse.times(z_m);
        self.block.correct(z_m, &mut out_m);
        let spread = dot(z_m, &out_m);
        // Only rounding makes it negative.
        (out_m, spread.max(0.0))
    }

    /// Includes the rows of the block in the inverse and the sums.
    fn end_block(&mut self) {
        subtract_lower_outer(&mut self.inverse_mm, self.block.gains_mk().view());
        self.inverse.assign(&self.inverse_mm);
        subtract_lower_outer(&mut self.minus_gram_mm, self.block.rows_mk().view());
        self.block.add_targets(&mut self.zty_tm);
        self.weight += self.block.weight();
        self.block.clear();
    }

    /// Rescales the weights to those relative to the last row. Between two recomputations of the
    /// inverse, at most a half-life apart, they grow by at most a factor of 2, so that blocks need
    /// not rescale the matrices.
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

    /// Recomputes the inverse and the coefficients from the sums, with the full penalty. The block
    /// must be empty.
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
