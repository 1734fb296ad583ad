//! One softmax for the scores of many classes: a common slope, and an offset for each class.

use crate::linalg::cholesky::Lower;
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Maximum number of Newton steps; about ten suffice.
const STEPS: usize = 100;
/// Stops if a step gains less than this in log likelihood.
const FINE: f64 = 1e-9;

/// Slope and offsets with the greatest likelihood of `softmax(slope s_k + offset_k)` for scores
/// `[n, t]` of rows of these classes, with weights of mean 1 (Guo, Pleiss, Sun & Weinberger 2017,
/// "On calibration of modern neural networks", section 4.2; with offsets Alexandari, Kundaje &
/// Shrikumar 2020).
///
/// Label smoothing, as Platt (1999) uses for two classes: each row gives a share of its weight, one
/// row in total, to all classes alike, which keeps the slope finite if every row is classified
/// correctly. Offsets have a normal prior of variance 1, which is negligible with some tens of rows
/// and keeps the offset of a class without rows finite.
pub(super) fn tempered(
    scores_nt: &Array2<f64>,
    (class_n, counts): (&[usize], &[f64]),
) -> (f64, Vec<f64>) {
    let classes = scores_nt.ncols();
    let problem = Problem {
        scores_nt,
        class_n,
        counts,
        doubt: 1.0 / (counts.iter().sum::<f64>() + 1.0),
    };
    let mut at = Array1::zeros(classes + 1);
    at[0] = 1.0;
    let (mut value, mut p_nt) = problem.cost(&at);
    for _ in 0..STEPS {
        let (gradient, hessian) = problem.slopes(&at, &p_nt);
        let mut factor = Lower::take(hessian);
        if !factor.factor() {
            break;
        }
        let mut step = gradient.clone();
        factor.solve(&mut step);
        factor.solve_transposed(&mut step);
        let gain = gradient.column(0).dot(&step.column(0));
        if gain.is_nan() || gain <= FINE {
            break;
        }
        let mut share = 1.0;
        let next = loop {
            let there = &at - &(&step.column(0) * share);
            let (next, p_nt) = problem.cost(&there);
            if next <= value - 1e-4 * share * gain {
                break Some((there, next, p_nt));
            }
            share *= 0.5;
            if share < 1e-10 {
                break None;
            }
        };
        let Some(next) = next else {
            break;
        };
        (at, value, p_nt) = next;
    }
    (at[0], at.slice(s![1..]).to_vec())
}

/// Objective as a function of `[slope, offsets]`.
struct Problem<'a> {
    scores_nt: &'a Array2<f64>,
    class_n: &'a [usize],
    counts: &'a [f64],
    /// Share of each row that is distributed over all classes.
    doubt: f64,
}

impl Problem<'_> {
    /// Smoothed target of row `i` for class `k`.
    fn target(&self, i: usize, k: usize) -> f64 {
        let classes = self.scores_nt.ncols() as f64;
        f64::from(self.class_n[i] == k) * (1.0 - self.doubt) + self.doubt / classes
    }

    /// The objective, and the probabilities.
    fn cost(&self, at: &Array1<f64>) -> (f64, Array2<f64>) {
        let offset_t = at.slice(s![1..]);
        let mut p_nt = self.scores_nt * at[0] + offset_t;
        let mut sum = 0.5 * offset_t.dot(&offset_t);
        for (i, mut row) in p_nt.rows_mut().into_iter().enumerate() {
            let top = row.fold(f64::NEG_INFINITY, |m, &u| m.max(u));
            row -= top;
            let log = row.iter().map(|u| u.exp()).sum::<f64>().ln();
            row -= log;
            for (k, log_p) in row.iter().enumerate() {
                sum -= self.counts[i] * self.target(i, k) * log_p;
            }
            row.mapv_inplace(f64::exp);
        }
        (sum, p_nt)
    }

    /// Gradient (as a column) and lower triangle of the Hessian at these probabilities.
    fn slopes(&self, at: &Array1<f64>, p_nt: &Array2<f64>) -> (Array2<f64>, Array2<f64>) {
        let classes = p_nt.ncols();
        let mut gradient = Array2::zeros((classes + 1, 1));
        let mut hessian = Array2::zeros((classes + 1, classes + 1));
        for k in 0..classes {
            gradient[[k + 1, 0]] = at[k + 1];
            hessian[[k + 1, k + 1]] = 1.0;
        }
        // Keeps the Hessian definite if all scores are equal.
        hessian[[0, 0]] = 1e-12;
        for (i, p) in p_nt.rows().into_iter().enumerate() {
            let scores = self.scores_nt.row(i);
            let (mean, count) = (p.dot(&scores), self.counts[i]);
            for k in 0..classes {
                let off = count * (p[k] - self.target(i, k));
                gradient[[0, 0]] += off * scores[k];
                gradient[[k + 1, 0]] += off;
                hessian[[0, 0]] += count * p[k] * (scores[k] - mean).powi(2);
                hessian[[k + 1, 0]] += count * p[k] * (scores[k] - mean);
            }
        }
        let mut among = hessian.slice_mut(s![1.., 1..]);
        let counts_n = ArrayView1::from(self.counts).insert_axis(Axis(1));
        let counted_nt = p_nt * &counts_n;
        among -= &counted_nt.t().dot(p_nt);
        among
            .diag_mut()
            .scaled_add(1.0, &counted_nt.sum_axis(Axis(0)));
        (gradient, hessian)
    }
}
