//! What intervals held of the targets that they were for, and sets of the classes.

use crate::report::{Report, Value, six_digits};
use bochner::models::{ClassSets, Intervals, LinearModel, Targets};
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

/// What was to hold a target with the probability [`LEVEL`].
#[derive(Debug)]
pub(super) enum Held {
    Intervals(Coverage),
    Sets(SetCoverage),
}

impl Held {
    /// Nothing yet of the sets of a classifier, if it has some of this level.
    pub(super) fn sets_of(model: &LinearModel) -> Option<Self> {
        let Targets::Classes(labels) = &model.targets else {
            return None;
        };
        let sets = model.class_sets.as_ref();
        let sets = sets.filter(|sets| reaches(sets.rows()))?;
        Some(Self::Sets(SetCoverage {
            sets: sets.clone(),
            labels: labels.clone(),
            rows: 0,
            held: 0,
            classes: 0,
        }))
    }

    pub(super) fn describe(&self, report: &mut Report) {
        match self {
            Self::Intervals(held) => held.describe(report),
            Self::Sets(held) => held.describe(report),
        }
    }
}

/// Whether so many rows give something of [`LEVEL`].
pub(super) fn reaches(rows: usize) -> bool {
    // One place among one row more is that of the row to come; of 9 rows it is the last.
    (rows + 1) as f64 * (1.0 - LEVEL) >= 1.0 - 1e-9
}

/// What sets of classes of [`LEVEL`] held.
#[derive(Debug)]
pub(super) struct SetCoverage {
    sets: ClassSets,
    labels: Vec<f64>,
    rows: u64,
    held: u64,
    classes: u64,
}

impl SetCoverage {
    /// Takes a chunk of probabilities and labels.
    pub(super) fn add(
        &mut self,
        p_nt: ArrayView2<'_, f64>,
        y_nt: ArrayView2<'_, f64>,
    ) -> bochner::Result<()> {
        let sets = self.sets.sets(&p_nt.to_owned(), LEVEL)?;
        for (set, y) in sets.rows().into_iter().zip(y_nt.column(0)) {
            let class = self.labels.iter().position(|label| label == y);
            self.rows += 1;
            self.held += u64::from(class.is_some_and(|class| set[class]));
            self.classes += set.iter().map(|is_in| u64::from(*is_in)).sum::<u64>();
        }
        Ok(())
    }

    fn describe(&self, report: &mut Report) {
        let of = |sum: u64| sum as f64 / self.rows as f64;
        report.set("set_level", LEVEL);
        report.set("set_coverage", of(self.held));
        report.set("set_size", of(self.classes));
        report.line(
            format!("{:.0} % sets", 100.0 * LEVEL),
            format!(
                "hold {:.1} %, of {} classes on the average",
                100.0 * of(self.held),
                six_digits(of(self.classes))
            ),
        );
    }
}

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

    fn describe(&self, report: &mut Report) {
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

    /// Sets of a level that rows do not reach are not judged.
    #[test]
    fn nine_rows_reach_nine_tenths() {
        assert!(reaches(9) && !reaches(8));
    }

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
