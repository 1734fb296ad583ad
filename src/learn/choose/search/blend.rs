//! Weights of averaged models, by least squares on held-out rows.

use super::{
    score::{CHUNK, Tally, plain},
    trials::{Extent, Sample, Tried},
};
use crate::{
    Result,
    data::{Chunk, ChunkSource},
    model::{CalibratedOn, LeftOutScores, Predictor, Targets},
};
use ndarray::Array2;

/// Callback for the scores of each model on a chunk, `[rows, outputs]`, and the chunk.
type TakeScores<'a> = dyn FnMut(&[Array2<f64>], &Chunk) -> Result<()> + 'a;

/// Largest number of pairwise updates; for two models one is exact.
const EXCHANGES: usize = 100;
/// Change of a weight below which the iteration ends.
const SETTLED: f64 = 1e-9;

/// Returns the weights w of models, nonnegative with sum 1, that minimise `w'Gw`, with the products
/// G of their residuals, `[m, m]`: the average with the least squared error. Updates two weights at
/// a time (pairwise steps as in Platt 1998).
pub(super) fn shares(products_mm: &Array2<f64>) -> Vec<f64> {
    let m = products_mm.nrows();
    let best = (0..m).min_by(|&i, &j| products_mm[[i, i]].total_cmp(&products_mm[[j, j]]));
    let mut shares = vec![0.0; m];
    if let Some(best) = best {
        shares[best] = 1.0;
    }
    for _ in 0..EXCHANGES {
        let mut moved = 0.0_f64;
        for i in 0..m {
            for j in 0..i {
                let slope =
                    |k: usize| -> f64 { (0..m).map(|l| products_mm[[k, l]] * shares[l]).sum() };
                let bend = products_mm[[i, i]] + products_mm[[j, j]] - 2.0 * products_mm[[i, j]];
                if bend <= 0.0 {
                    continue;
                }
                // Moves weight from model j to model i.
                let step = ((slope(j) - slope(i)) / bend).clamp(-shares[i], shares[j]);
                shares[i] += step;
                shares[j] -= step;
                moved = moved.max(step.abs());
            }
        }
        if moved < SETTLED {
            break;
        }
    }
    shares
}

/// Returns the products of residuals with the first two models, which are draws of one map,
/// replaced by the average of K draws. Its product with itself is `a / K + b (1 - 1 / K)`, with the
/// mean product a of a draw with itself and b of two draws.
pub(super) fn of_draws(products_mm: &Array2<f64>, draws: usize) -> Array2<f64> {
    let m = products_mm.nrows() - 1;
    let each = 1.0 / draws as f64;
    let mean = |k: usize| f64::midpoint(products_mm[[0, k]], products_mm[[1, k]]);
    let own = f64::midpoint(products_mm[[0, 0]], products_mm[[1, 1]]);
    Array2::from_shape_fn((m, m), |at| match at {
        (0, 0) => each * own + (1.0 - each) * products_mm[[0, 1]],
        (0, k) | (k, 0) => mean(k + 1),
        (i, j) => products_mm[[i + 1, j + 1]],
    })
}

/// Returns `w'Gw`, the squared error of the average with weights w, summed over rows and outputs.
pub(super) fn squared(products_mm: &Array2<f64>, shares: &[f64]) -> f64 {
    let shares = ndarray::ArrayView1::from(shares);
    shares.dot(&products_mm.dot(&shares))
}

impl Sample<'_> {
    /// Returns the products of held-out residuals of models, `[m, m]`, with each output relative to
    /// the variance of its target.
    pub(super) fn residual_products(
        &mut self,
        tried: &[&Tried],
        extent: Extent,
    ) -> Result<Array2<f64>> {
        let m = tried.len();
        let mut products_mm = Array2::zeros((m, m));
        let targets = plain(self.data().targets);
        // Outputs of classes have equal scales.
        let variance_t = match &targets {
            Targets::Real { .. } => self.variances().to_vec(),
            Targets::Classes(_) => vec![1.0; targets.outputs()],
        };
        self.each_held_out(tried, extent, &mut |scores, chunk| {
            let y_nt = targets.encode(chunk.y.view())?;
            for (row, y) in y_nt.rows().into_iter().enumerate() {
                let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[row]);
                for (t, (y, variance)) in y.iter().zip(&variance_t).enumerate() {
                    let off = |i: usize| scores[i][[row, t]] - y;
                    for i in 0..m {
                        for j in 0..m {
                            products_mm[[i, j]] += weight / variance * off(i) * off(j);
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(products_mm)
    }

    /// Returns error and squared error of the average with these weights, on held-out rows.
    pub(super) fn blended(
        &mut self,
        tried: &[&Tried],
        shares: &[f64],
        extent: Extent,
    ) -> Result<(f64, f64)> {
        let targets = self.data().targets;
        let variance_t = self.variances().to_vec();
        let mut tally = Tally::new(1, targets);
        self.each_held_out(tried, extent, &mut |scores, chunk| {
            let mut mean_nt = Array2::zeros(scores[0].dim());
            for (scores_nt, share) in scores.iter().zip(shares) {
                mean_nt.scaled_add(*share, scores_nt);
            }
            tally.add(mean_nt.view(), chunk)
        })?;
        Ok(tally.errors(&variance_t)[0])
    }

    /// Returns the scores of held-out rows by the average with these weights.
    pub(super) fn held_out_scores(
        &mut self,
        tried: &[&Tried],
        shares: &[f64],
        extent: Extent,
    ) -> Result<LeftOutScores> {
        // Models of trials predict targets without a shift.
        let targets = plain(self.data().targets);
        let (mut weights, mut ys, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        self.each_held_out(tried, extent, &mut |scores, chunk| {
            let y_nt = targets.encode(chunk.y.view())?;
            let mut error_nt = y_nt.clone();
            for (scores_nt, share) in scores.iter().zip(shares) {
                error_nt.scaled_add(-*share, scores_nt);
            }
            match &chunk.weights {
                Some(of_rows) => weights.extend(of_rows),
                None => weights.extend(std::iter::repeat_n(1.0, y_nt.nrows())),
            }
            ys.extend(y_nt);
            errors.extend(error_nt);
            Ok(())
        })?;
        let ids = (0..weights.len() as u64).collect();
        let counts = vec![1.0; weights.len()];
        LeftOutScores::new(
            (ids, counts, weights),
            (ys, errors, Vec::new()),
            targets.outputs(),
            CalibratedOn::KeptBack,
        )
    }

    /// Calls `take` with the scores of each model on each chunk of held-out rows.
    fn each_held_out(
        &mut self,
        tried: &[&Tried],
        extent: Extent,
        take: &mut TakeScores<'_>,
    ) -> Result<()> {
        let silent = self.data().run.silent();
        for split in 0..self.splits {
            let predictors = tried.iter().map(|tried| tried.models[split].on(&silent));
            let mut predictors: Vec<Predictor<'_>> = predictors.collect::<Result<_>>()?;
            self.with_held_out((extent, split), &mut |rows: &mut dyn ChunkSource| {
                while let Some(chunk) = rows.next_chunk(CHUNK)? {
                    let scores = predictors.iter_mut().map(|model| model.scores(&chunk.x));
                    take(&scores.collect::<Result<Vec<_>>>()?, &chunk)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// For two models the weights have a closed form, `(G_22 - G_12) / (G_11 + G_22 - 2 G_12)`; for
    /// several the slopes of all models with positive weight are equal, and not smaller for others.
    #[test]
    fn shares_are_those_of_the_least_squares() {
        let two = array![[2.0, 0.5], [0.5, 3.0]];
        let expected = (3.0 - 0.5) / (2.0 + 3.0 - 1.0);
        assert!((shares(&two)[0] - expected).abs() < 1e-12);
        // A model with the residuals of another plus additional ones has weight 0.
        let worse = array![[1.0, 1.2], [1.2, 2.0]];
        assert_eq!(shares(&worse), [1.0, 0.0]);
        let four = array![
            [2.0, 0.3, 0.1, 1.9],
            [0.3, 1.5, 0.2, 1.6],
            [0.1, 0.2, 1.0, 1.4],
            [1.9, 1.6, 1.4, 4.0]
        ];
        let shares = shares(&four);
        let slopes: Vec<f64> = (0..4)
            .map(|i| (0..4).map(|j| four[[i, j]] * shares[j]).sum())
            .collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares[3] == 0.0 && slopes[3] > slopes[0]);
        for i in 0..3 {
            assert!(
                shares[i] > 0.1 && (slopes[i] - slopes[0]).abs() < 1e-8,
                "{slopes:?}"
            );
        }
        assert_eq!(super::shares(&array![[3.0]]), [1.0]);
    }

    /// The average of two draws has the products of its residuals; for identical draws a larger
    /// number gains nothing.
    #[test]
    fn means_of_draws_have_their_products() {
        let residuals = array![[1.0, -2.0, 0.5], [0.4, -1.0, 2.0], [3.0, 0.1, -0.7]];
        let products = residuals.dot(&residuals.t());
        let mean = (&residuals.row(0) + &residuals.row(1)) / 2.0;
        let two = of_draws(&products, 2);
        let last = residuals.row(2);
        let expected = array![
            [mean.dot(&mean), mean.dot(&last)],
            [mean.dot(&last), last.dot(&last)]
        ];
        assert!((&two - &expected).iter().all(|off| off.abs() < 1e-12));
        let direct = (0.3 * &mean + 0.7 * &last).mapv(|v| v * v).sum();
        assert!((squared(&two, &[0.3, 0.7]) - direct).abs() < 1e-12);
        // With five draws, the diagonal has a fifth of the product of a draw with itself and four
        // fifths of that of two draws.
        let own = (products[[0, 0]] + products[[1, 1]]) / 2.0;
        let five = of_draws(&products, 5)[[0, 0]];
        assert!((five - (0.2 * own + 0.8 * products[[0, 1]])).abs() < 1e-12);
        let same = array![[2.0, 2.0], [2.0, 2.0]];
        assert_eq!(of_draws(&same, 7), array![[2.0]]);
    }
}
