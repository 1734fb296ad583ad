//! Curvature of a loss at given scores: Gram matrices of weighted rows, and the preconditioner from
//! them.

mod kept;

use super::{FeatureProducts, preconditioner::Preconditioner};
use crate::{Device, Error, Matrix, Result, linalg::cholesky::Lower, ops::gram::GramAccumulator};
use kept::{Kept, kept};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Maximum number of rows of a Gram matrix, relative to its order: twice as many improve the
/// preconditioner by a few per cent only and cost twice as much.
const ROWS_A_COLUMN: usize = 8;
/// Memory limit of the factors for a separate factor for each output.
const SEVERAL_BYTES: usize = 1 << 30;
/// Estimated speed of a Gram matrix relative to products with few outputs, per term: the latter
/// read each feature from memory, a Gram matrix has it in registers. This is an estimate, not a
/// measurement: it and [`PASSES`] decide which of two preconditioners is used, which affects only
/// the time of a fit.
const FASTER: f64 = 10.0;
/// Maximum cost of the factors of all outputs, in passes; above it, all outputs share one factor.
/// Logistic regression on digits takes about this number of passes, so a more expensive
/// preconditioner cannot pay off.
const PASSES: f64 = 25.0;

/// Parameters of the preconditioner `(Z - 1 m')'W(Z - 1 m') / total + penalty I` in addition to the
/// weights W, with a column of ones appended to the features if there is an intercept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curvature<'a> {
    /// Means of the features, `[D]`.
    pub(super) mean_d: &'a Array1<f64>,
    /// Total weight of the rows.
    pub(super) total: f64,
    pub(super) penalty: f64,
    pub(super) intercept: bool,
    /// Memory in bytes for the factors of all outputs and the sums of some, if each output has its
    /// own.
    pub(super) memory: u64,
}

/// Bytes of the factor of one output.
fn factor_bytes(order: usize) -> u64 {
    4 * order as u64 * order as u64
}

/// Upper estimate of the bytes of the sums of one output on the CPU: a triangle in f64, and the
/// buffered rows.
fn sum_bytes(order: usize) -> u64 {
    let waiting = WAITING.min(ROWS_A_COLUMN * order);
    factor_bytes(order) + 4 * (order * waiting) as u64
}

/// Maximum number of buffered rows.
const WAITING: usize = 4096;

/// The sums of one preconditioner.
struct Sums {
    kept: Kept,
    /// Number of rows of `kept` that were summed.
    summed: usize,
    gram: GramAccumulator,
}

impl Sums {
    /// Adds the kept rows of a block.
    fn add(&mut self, row0: usize, z_md: ArrayView2<'_, f32>, device: &Device) -> Result<()> {
        let (rows, features) = z_md.dim();
        let rest = &self.kept[self.summed..];
        let here = &rest[..rest.partition_point(|(i, _)| *i < row0 + rows)];
        if here.is_empty() {
            return Ok(());
        }
        let mut scaled = Array2::zeros((here.len(), features));
        for (mut to, &(i, root)) in scaled.rows_mut().into_iter().zip(here) {
            for (to, z) in to.iter_mut().zip(z_md.row(i - row0)) {
                *to = root * z;
            }
        }
        let roots = Array1::from_iter(here.iter().map(|(_, root)| *root));
        self.gram.add(
            &Matrix::upload(device, scaled.view())?,
            &Matrix::upload(device, roots.view().insert_axis(Axis(1)))?,
        )?;
        self.summed += here.len();
        Ok(())
    }
}

impl Curvature<'_> {
    /// Preconditioner for weights `[t, n]` along directions among the outputs, the columns of `[t,
    /// t]`: a separate one for each if that pays off, otherwise a shared one from the mean weights.
    /// `None` if the features are not available in one piece. One pass over the rows, or several if
    /// memory does not hold the sums of all outputs, with identical results.
    pub(super) fn preconditioner(
        &self,
        features: &mut (dyn FeatureProducts + '_),
        (weight_tn, turn_tt): (ArrayView2<'_, f64>, Array2<f64>),
        device: &Device,
    ) -> Result<Option<Preconditioner>> {
        self.preconditioner_of(features, (weight_tn, turn_tt), self.pays(weight_tn), device)
    }

    /// As [`Self::preconditioner`]; `each` chooses between separate and shared ones.
    fn preconditioner_of(
        &self,
        features: &mut (dyn FeatureProducts + '_),
        (weight_tn, turn_tt): (ArrayView2<'_, f64>, Array2<f64>),
        each: bool,
        device: &Device,
    ) -> Result<Option<Preconditioner>> {
        let most = ROWS_A_COLUMN * (self.mean_d.len() + 1);
        let all = weight_tn.mean_axis(Axis(0));
        let kept = match all {
            Some(mean_n) if !each => vec![kept(mean_n.view(), most)],
            _ => weight_tn
                .rows()
                .into_iter()
                .map(|w| kept(w, most))
                .collect(),
        };
        let together = self.together(kept.len());
        let mut left = kept.into_iter();
        let mut factors = Vec::with_capacity(left.len());
        while left.len() > 0 {
            let sums = left.by_ref().take(together).map(|kept| {
                Ok(Sums {
                    kept,
                    summed: 0,
                    gram: GramAccumulator::new(device, self.mean_d.len(), 1)?,
                })
            });
            let mut sums: Vec<Sums> = sums.collect::<Result<_>>()?;
            let there = features.blocks(0, &mut |row0, z_md| {
                sums.iter_mut().try_for_each(|s| s.add(row0, z_md, device))
            })?;
            if !there {
                return Ok(None);
            }
            for sums in sums {
                factors.push(self.factor(sums)?);
            }
        }
        Ok(Some(Preconditioner::by_direction(factors, turn_tt)))
    }

    /// Number of outputs whose rows are summed in one pass, limited by the memory left by the
    /// factors of all.
    fn together(&self, outputs: usize) -> usize {
        let order = self.mean_d.len() + 1;
        let factors = factor_bytes(order).saturating_mul(outputs as u64);
        let some = self.memory.saturating_sub(factors) / sum_bytes(order);
        usize::try_from(some).unwrap_or(usize::MAX).max(1)
    }

    /// Whether separate preconditioners for the outputs pay off.
    fn pays(&self, weight_tn: ArrayView2<'_, f64>) -> bool {
        let (outputs, rows) = weight_tn.dim();
        let order = self.mean_d.len() + 1;
        let (k, n, d) = (outputs as f64, rows as f64, order as f64);
        let counted = n.min(ROWS_A_COLUMN as f64 * d);
        let sums = k * (counted + d) * d * d / FASTER;
        let pass = 4.0 * n * d * k;
        let factors = factor_bytes(order).saturating_mul(outputs as u64);
        let fit = factors.saturating_add(sum_bytes(order)) <= self.memory
            && 8 * outputs * order * order <= SEVERAL_BYTES;
        outputs == 1 || (fit && sums <= PASSES * pass)
    }

    /// Cholesky factor of the preconditioner. If rounding leaves it not positive definite, the
    /// penalty is increased.
    fn factor(&self, sums: Sums) -> Result<Lower> {
        let weight: f64 = (sums.kept.iter())
            .map(|(_, root)| f64::from(root * root))
            .sum();
        let of = sums.gram.finish()?;
        let (mean_d, sum_d) = (self.mean_d, of.zty_dt.column(0));
        let features = mean_d.len();
        let order = features + usize::from(self.intercept);
        let mut matrix = Array2::zeros((order, order));
        for (i, mut row) in matrix.rows_mut().into_iter().enumerate() {
            for j in 0..=i {
                row[j] = match (i < features, j < features) {
                    (true, _) => {
                        let centred = of.gram_dd[[i, j]] - mean_d[i] * sum_d[j];
                        centred - mean_d[j] * (sum_d[i] - weight * mean_d[i])
                    }
                    (false, true) => sum_d[j] - weight * mean_d[j],
                    (false, false) => weight,
                } / self.total;
            }
        }
        let size = matrix.diag().sum() / order as f64;
        let mut penalty = self.penalty.max(f64::from(f32::EPSILON) * size);
        let mut lower = Lower::from_matrix(&matrix);
        loop {
            for i in 0..order {
                lower.row_mut(i)[i] += penalty;
            }
            if lower.factor() {
                return Ok(lower);
            }
            penalty *= 10.0;
            if penalty > size.max(self.penalty) * 1e3 || penalty.is_nan() {
                let problem = "the features have no covariance that can be factored";
                return Err(Error::numerical(problem));
            }
            lower.assign(&matrix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::normal,
        solve::{TakeBlock, preconditioner::Point},
    };
    use ndarray::{ArrayView1, array};

    /// Features that support only summing by blocks.
    struct Blocks(Array2<f32>);

    impl FeatureProducts for Blocks {
        fn rows(&self) -> usize {
            self.0.nrows()
        }
        fn columns(&self) -> usize {
            self.0.ncols()
        }
        fn add_product(&mut self, _: ArrayView2<'_, f64>, _: &mut Array2<f64>) -> Result<()> {
            unreachable!("only sums")
        }
        fn transposed(&mut self, _: ArrayView2<'_, f64>, _: &mut Array2<f64>) -> Result<()> {
            unreachable!("only sums")
        }
        fn moments(&mut self, _: &mut Array2<f64>) -> Result<()> {
            unreachable!("only sums")
        }
        fn blocks(&mut self, _: usize, take: &mut TakeBlock<'_>) -> Result<bool> {
            for (b, z) in self.0.axis_chunks_iter(Axis(0), 13).enumerate() {
                take(13 * b, z)?;
            }
            Ok(true)
        }
    }

    /// The preconditioner of one output, from sums of every row in f64.
    fn product(
        of: &Curvature<'_>,
        z: ArrayView2<'_, f32>,
        weight_n: ArrayView1<'_, f64>,
        (beta, b): (ArrayView1<'_, f64>, f64),
    ) -> (Array1<f64>, f64) {
        let mut back = &beta * of.penalty;
        let mut back_intercept = if of.intercept { of.penalty * b } else { 0.0 };
        for (z, w) in z.rows().into_iter().zip(weight_n) {
            let z = z.mapv(f64::from) - of.mean_d;
            let along = w * (z.dot(&beta) + b) / of.total;
            back.scaled_add(along, &z);
            back_intercept += if of.intercept { along } else { 0.0 };
        }
        (back, back_intercept)
    }

    /// The preconditioner times its inverse returns a gradient, compared with sums of every row in
    /// f64: with and without an intercept, separate or shared by the mean weights, on every device.
    #[test]
    fn a_preconditioner_is_that_of_the_weighted_rows_on_devices() {
        let (n, d, total, penalty) = (50, 7, 60.0, 0.3);
        let z = normal(n, d, 1);
        let weight_tn = Array2::from_shape_fn((2, n), |(k, i)| ((i + 3 * k) % 5) as f64 / 4.0);
        let mut devices = bochner_maps::under_test::gpus();
        devices.push(Device::cpu());
        let ways = [(true, true), (false, true), (true, false), (false, false)];
        let ways = ways
            .into_iter()
            .flat_map(|way| devices.iter().map(move |d| (d, way)));
        for (device, (intercept, each)) in ways {
            let mean_d = if intercept {
                Array1::from_shape_fn(d, |j| 0.2 * j as f64)
            } else {
                Array1::zeros(d)
            };
            let of = Curvature {
                mean_d: &mean_d,
                total,
                penalty,
                intercept,
                // Both outputs in one pass, or in one pass each.
                memory: if intercept { u64::MAX } else { 0 },
            };
            // Directions among the outputs, one column each.
            let turn_tt = array![[0.6, 0.8], [0.8, -0.6]];
            let weights = (weight_tn.view(), turn_tt.clone());
            let preconditioner =
                of.preconditioner_of(&mut Blocks(z.clone()), weights, each, device);
            let preconditioner = preconditioner.expect("sums").expect("blocks");
            let mut gradient = Point::zero(2, d);
            gradient
                .beta_td
                .iter_mut()
                .enumerate()
                .for_each(|(i, g)| *g = (i as f64).cos());
            gradient.intercept_t.fill(if intercept { 1.5 } else { 0.0 });
            let step = preconditioner.inverse(&gradient);
            let turned = |point: &Point| Point {
                beta_td: turn_tt.t().dot(&point.beta_td),
                intercept_t: turn_tt.t().dot(&point.intercept_t),
            };
            let (step, gradient) = (turned(&step), turned(&gradient));
            for k in 0..2 {
                let mean_n = weight_tn.mean_axis(Axis(0)).expect("outputs");
                let weight_n = if each {
                    weight_tn.row(k)
                } else {
                    mean_n.view()
                };
                let at = (step.beta_td.row(k), step.intercept_t[k]);
                let (back, back_intercept) = product(&of, z.view(), weight_n, at);
                let off = (&back - &gradient.beta_td.row(k)).fold(0.0, |m: f64, v| m.max(v.abs()));
                let off = off.max((back_intercept - gradient.intercept_t[k]).abs());
                assert!(off < 1e-5, "output {k} of {each} on {device:?}: {off}");
            }
        }
    }

    /// Separate preconditioners if they are cheap compared with passes, a shared one if features
    /// are many more than rows or factors would not fit.
    #[test]
    fn several_preconditioners_are_taken_where_that_pays() {
        let pays_in = |outputs: usize, rows: usize, features: usize, memory: u64| {
            let mean_d = Array1::zeros(features);
            let of = Curvature {
                mean_d: &mean_d,
                total: 1.0,
                penalty: 0.1,
                intercept: true,
                memory,
            };
            of.pays(Array2::zeros((outputs, rows)).view())
        };
        let pays = |outputs, rows, features| pays_in(outputs, rows, features, u64::MAX);
        assert!(pays(1, 10, 4000) && pays(10, 1800, 200) && pays(10, 60_000, 2000));
        assert!(!pays(3, 50, 1000) && !pays(40, 60_000, 2000));
        // 4 bytes for 40,401 pairs eleven times, and for 1,608 rows of 201 columns once.
        assert!(pays_in(10, 1800, 200, 3_070_476) && !pays_in(10, 1800, 200, 3_070_475));
        assert!(pays_in(1, 1800, 200, 0));
    }
}
