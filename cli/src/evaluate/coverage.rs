//! What intervals held of the targets that they were for.

use crate::report::{Report, Value, six_digits};
use bochner::models::{Intervals, LinearModel};
use ndarray::{ArrayView2, Zip};
use serde_json::json;

/// The level of the intervals that are scored, where a model has any.
pub(super) const LEVEL: f64 = 0.9;

/// Levels of a Gaussian law, with half the width of their interval in deviations.
const GAUSSIAN: [(f64, f64); 10] = [
    (0.1, 0.12566),
    (0.2, 0.25335),
    (0.3, 0.38532),
    (0.4, 0.52440),
    (0.5, 0.67449),
    (0.6, 0.84162),
    (0.7, 1.03643),
    (0.8, 1.28155),
    (LEVEL, 1.64485),
    (0.99, 2.57583),
];
/// That of [`LEVEL`].
const HALF: f64 = 1.64485;

/// What intervals of [`LEVEL`] held.
#[derive(Debug)]
pub(super) struct Coverage {
    values: u64,
    held: u64,
    width: f64,
    /// Targets inside the interval of each level of [`GAUSSIAN`], of a model with that law.
    within: Option<[u64; GAUSSIAN.len()]>,
}

impl Coverage {
    /// Nothing yet. Intervals of a Gaussian process are those of a Gaussian law about the
    /// prediction, so that one of them tells all; those of calibrated models, and of logarithms,
    /// are not.
    pub(super) fn for_model(model: &LinearModel) -> Self {
        let is_gaussian =
            model.spread.is_some() && model.conformal.is_none() && model.link.is_none();
        Self {
            values: 0,
            held: 0,
            width: 0.0,
            within: is_gaussian.then(Default::default),
        }
    }

    /// Takes a chunk of intervals and targets.
    pub(super) fn add(&mut self, intervals: &Intervals, y_nt: ArrayView2<'_, f64>) {
        Zip::from(&intervals.lower_nt)
            .and(&intervals.upper_nt)
            .and(&y_nt)
            .for_each(|&lower, &upper, &y| self.add_one((lower, upper), y));
    }

    fn add_one(&mut self, (lower, upper): (f64, f64), y: f64) {
        self.values += 1;
        self.held += u64::from((lower..=upper).contains(&y));
        self.width += upper - lower;
        let deviation = 0.5 * (upper - lower) / HALF;
        let off = (y - 0.5 * (lower + upper)).abs();
        for (count, (_, half)) in self.within.iter_mut().flatten().zip(GAUSSIAN) {
            *count += u64::from(off <= half * deviation);
        }
    }

    pub(super) fn describe(&self, report: &mut Report) {
        let share = self.held as f64 / self.values as f64;
        let width = self.width / self.values as f64;
        report.set("interval_level", LEVEL);
        report.set("interval_coverage", share);
        report.set("interval_width", width);
        let width = six_digits(width);
        report.line(
            format!("{:.0} % intervals", 100.0 * LEVEL),
            format!("hold {:.1} %, mean width {width}", 100.0 * share),
        );
        if let Some(within) = &self.within {
            let level = |(&count, (level, _)): (&u64, (f64, f64))| json!([level, count]);
            let levels: Vec<Value> = within.iter().zip(GAUSSIAN).map(level).collect();
            report.picture("levels", json!({"values": self.values, "within": levels}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets at the quantiles of a Gaussian law are held as often as each level says.
    #[test]
    fn levels_hold_their_share_of_a_gaussian_law() {
        let mut held = Coverage {
            values: 0,
            held: 0,
            width: 0.0,
            within: Some(Default::default()),
        };
        // Mean 3, deviation 2; a target between the edges of each two levels, and one beyond all.
        let ends = GAUSSIAN.map(|(_, half)| half);
        let inside = |i: usize| 0.5 * (ends[i] + if i > 0 { ends[i - 1] } else { 0.0 });
        for off in (0..ends.len()).map(inside).chain([4.0]) {
            let y = 3.0
                + 2.0
                    * off
                    * if held.values.is_multiple_of(2) {
                        1.0
                    } else {
                        -1.0
                    };
            held.add_one((3.0 - 2.0 * HALF, 3.0 + 2.0 * HALF), y);
        }
        assert_eq!(held.within, Some([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
        assert_eq!((held.values, held.held), (11, 9));
    }
}
