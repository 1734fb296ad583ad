//! Whether rows stand in an order of their target, so that the number of a row tells of it.

use super::hashed::number_of;

/// Rows below which nothing is said.
const FEW: f64 = 20.0;
/// Deviations of the ratio that are no chance: 3 of 100,000 tables whose rows are mixed have them.
const DEVIATIONS: f64 = 4.0;

/// Differences of successive values beside their variance.
///
/// Half of the mean square of the differences over the variance is 1 in the mean where rows are
/// mixed, with the variance 1 / n (J. von Neumann, Distribution of the ratio of the mean square
/// successive difference to the variance, 1941).
#[derive(Debug, Default)]
pub(super) struct Order {
    rows: f64,
    mean: f64,
    squares: f64,
    differences: f64,
    last: f64,
}

impl Order {
    pub(super) fn see(&mut self, value: f64) {
        if self.rows > 0.0 {
            self.differences += (value - self.last).powi(2);
        }
        self.last = value;
        self.rows += 1.0;
        let from_mean = value - self.mean;
        self.mean += from_mean / self.rows;
        self.squares += from_mean * (value - self.mean);
    }

    /// A text has a number of its own, in no order.
    pub(super) fn see_text(&mut self, text: &str) {
        self.see(number_of(text) as f64 / 2_f64.powi(64));
    }

    /// Whether values that stand beside each other are nearer than by chance.
    pub(super) fn is_told_by_rows(&self) -> bool {
        let ratio = self.differences / (2.0 * self.squares);
        self.rows >= FEW && ratio < 1.0 - DEVIATIONS / self.rows.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a trend that explains a third of the variance, of kinds one after the other, and of none.
    #[test]
    fn rows_in_an_order_are_told_from_mixed_ones() {
        let mixed = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
        let is_told = |value: &dyn Fn(u32) -> f64| {
            let mut order = Order::default();
            (0..200).for_each(|i| order.see(value(i)));
            order.is_told_by_rows()
        };
        assert!(is_told(
            &|i| mixed(i * i + 7 * i) + f64::from(i) * 0.7 / 200.0
        ));
        assert!(!is_told(&|i| mixed(i * i + 7 * i)) && !is_told(&|_| 1.0));
        let of_texts = |text: &dyn Fn(u32) -> &'static str| {
            let mut order = Order::default();
            (0..150).for_each(|i| order.see_text(text(i)));
            order.is_told_by_rows()
        };
        let kinds = ["setosa", "versicolor", "virginica"];
        assert!(of_texts(&|i| kinds[i as usize / 50]));
        assert!(!of_texts(&|i| kinds[(mixed(i * i + 7 * i) * 3.0) as usize]));
    }
}
