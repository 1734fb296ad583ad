//! Decay of the weights of past rows.

use super::NormalEquations;

impl NormalEquations {
    /// Multiplies the weights of all rows by `share`, from 0 to 1: exponential forgetting.
    ///
    /// ```
    /// use bochner::solve::NormalEquations;
    /// let mut sums = NormalEquations::zero(1, 0);
    /// (sums.rows, sums.weight, sums.weight_squares) = (3, 3.0, 3.0);
    /// sums.fade(0.5);
    /// assert_eq!((sums.rows, sums.weight, sums.weight_squares), (3, 1.5, 0.75));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn fade(&mut self, share: f64) {
        if self.rows == 0 {
            return;
        }
        self.gram_dd *= share;
        self.zty_dt *= share;
        self.z_sum_d *= share;
        self.y_sum_t *= share;
        self.y_square_t *= share;
        self.weight *= share;
        self.weight_squares *= share * share;
        self.log_weight += self.rows as f64 * share.ln();
        if let Some((of_squares, rest)) = self.rest.split_last_mut() {
            *of_squares *= share * share;
            // The sum of logarithms is not multiplied.
            if let Some((_, rest)) = rest.split_last_mut() {
                rest.iter_mut().for_each(|rest| *rest *= share);
            }
        }
    }
}
