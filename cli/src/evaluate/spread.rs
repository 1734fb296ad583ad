//! How far targets lie from their mean, and what is said of predictions that lie farther.

use crate::report::Console;
use ndarray::ArrayView2;

/// Fewer rows tell too little.
const ROWS: u64 = 10;
/// By how much predictions may be worse than the mean before it is said: little is noise.
const NOISE: f64 = 0.02;

/// Means of targets, and squared distances from them (Welford 1962).
#[derive(Debug, Default)]
pub(super) struct Spread {
    rows: u64,
    mean_t: Vec<f64>,
    squares: f64,
    errors: f64,
}

impl Spread {
    /// Takes a chunk of predictions and targets `[n, targets]`.
    pub(super) fn add(&mut self, predicted: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) {
        self.mean_t.resize(y.ncols(), 0.0);
        for (p_t, y_t) in predicted.rows().into_iter().zip(y.rows()) {
            self.rows += 1;
            for ((mean, &p), &y) in self.mean_t.iter_mut().zip(p_t).zip(y_t) {
                let before = y - *mean;
                *mean += before / self.rows as f64;
                self.squares += before * (y - *mean);
                self.errors += (p - y) * (p - y);
            }
        }
    }

    /// Notes when the mean of the targets would have been better.
    pub(super) fn note(&self, console: &Console) {
        if let Some(text) = self.said() {
            console.note(&text);
        }
    }

    fn said(&self) -> Option<String> {
        let worse = self.errors > self.squares * (1.0 + NOISE) && self.squares > 0.0;
        (self.rows >= ROWS && worse).then(|| {
            format!(
                "R2 {:.2} on the rows held out: worse than the mean of their targets; try another \
                 --lambda or --gamma, or other columns",
                1.0 - self.errors / self.squares
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn predictions_are_held_to_the_mean() {
        let y = Array2::from_shape_fn((40, 2), |(i, k)| 1e6 + (i * (k + 3) % 7) as f64);
        let mean_t = y.mean_axis(ndarray::Axis(0)).expect("rows");
        // Farther from the mean by this factor, on the other side: 1 + (1 + times)^2 - 1.
        let said = |times: f64, rows: usize| {
            let predicted = &mean_t - &((&y - &mean_t) * times);
            let mut spread = Spread::default();
            for from in (0..rows).step_by(7) {
                let part = ndarray::s![from..rows.min(from + 7), ..];
                spread.add(predicted.slice(part), y.slice(part));
            }
            spread.said()
        };
        assert_eq!(said(0.0, 40), None);
        assert_eq!(said(-0.5, 40), None);
        let worse = said(0.03, 40).expect("worse");
        assert!(
            worse.contains("R2 -0.06") && !worse.contains('\n'),
            "{worse}"
        );
        assert!(said(1.0, 40).expect("worse").contains("R2 -3.00"));
        assert_eq!(said(1.0, 9), None);
    }
}
