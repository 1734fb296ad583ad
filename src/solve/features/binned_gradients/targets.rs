//! Targets for conjugate gradients on bins: centred, in f32, W side by side.

use super::add;
use ndarray::ArrayView2;

/// Targets and weights of rows.
pub(super) struct Targets<'a, const W: usize> {
    pub(super) weight_n: Option<&'a [f32]>,
    pub(super) y_n: Vec<[f32; W]>,
    pub(super) mean: [f64; W],
    pub(super) total: f64,
}

impl<'a, const W: usize> Targets<'a, W> {
    pub(super) fn new(
        k: usize,
        (y_tn, weight_n): (ArrayView2<'_, f64>, Option<&'a [f32]>),
        intercept: bool,
    ) -> Self {
        let weight = |i: usize| weight_n.map_or(1.0, |weights| f64::from(weights[i]));
        let total: f64 = (0..y_tn.ncols()).map(weight).sum();
        let mean: [f64; W] = std::array::from_fn(|t| {
            let row = y_tn.row(k + t);
            let sum: f64 = row.iter().enumerate().map(|(i, y)| weight(i) * y).sum();
            if intercept { sum / total } else { 0.0 }
        });
        let one = |i| std::array::from_fn(|t| (y_tn[[k + t, i]] - mean[t]) as f32);
        Self {
            weight_n,
            y_n: (0..y_tn.ncols()).map(one).collect(),
            mean,
            total,
        }
    }

    /// Weighted means over rows.
    pub(super) fn means(&self, sum_n: &[[f32; W]]) -> [f64; W] {
        let mut all = [0.0; W];
        for (i, sum) in sum_n.iter().enumerate() {
            let weight = self.weight_n.map_or(1.0, |weights| weights[i]);
            add(&mut all, &sum.map(|s| f64::from(weight * s)));
        }
        all.map(|sum| sum / self.total)
    }

    /// Subtracts the means if features are centred; returns the weighted sums of squares.
    pub(super) fn centre(&self, sum_n: &mut [[f32; W]], intercept: bool) -> [f64; W] {
        let mean = if intercept {
            self.means(sum_n)
        } else {
            [0.0; W]
        };
        let mean = mean.map(|m| m as f32);
        let mut squares = [0.0; W];
        for (i, sum) in sum_n.iter_mut().enumerate() {
            let weight = f64::from(self.weight_n.map_or(1.0, |weights| weights[i]));
            for t in 0..W {
                sum[t] -= mean[t];
                squares[t] += weight * f64::from(sum[t]).powi(2);
            }
        }
        squares
    }
}
