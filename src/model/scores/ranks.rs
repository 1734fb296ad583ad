//! Ranking metrics: how well the scores of a class separate its rows from all others.

use super::groups::{GROUPS, Score, Thinning, group_of};
use ndarray::ArrayView2;

/// Maximum number of scores kept, over all classes.
const KEPT: usize = 1 << 21;
/// Minimum number of rows kept.
const LEAST_KEPT: usize = 1 << 10;

/// Scores of rows for each class, with the class and the group of each row.
#[derive(Debug, Clone)]
pub(super) struct Ranks {
    classes: usize,
    rows: u64,
    thinning: Thinning,
    /// `[rows kept, classes]`.
    scores: Vec<f64>,
    /// Class and group; rows with an unknown label have a class beyond all.
    of_row: Vec<(u32, u8)>,
}

/// Metrics of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Order {
    /// Area under the ROC curve: the share of pairs of a row of the class and another row that are
    /// ranked correctly; ties count half.
    pub(super) auc: f64,
    /// Average precision: the sum over thresholds of precision times the increase in recall.
    pub(super) average_precision: f64,
    /// The largest F1 over all thresholds, and the smallest score that is then assigned to the
    /// class.
    pub(super) best: (f64, f64),
}

impl Ranks {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            classes,
            rows: 0,
            thinning: Thinning::default(),
            scores: Vec::new(),
            of_row: Vec::new(),
        }
    }

    /// Adds scores `[n, classes]` of a chunk, with the class of each row, if known.
    pub(super) fn add(
        &mut self,
        scores_nt: ArrayView2<'_, f64>,
        classes: impl Iterator<Item = Option<usize>>,
    ) {
        let most = (KEPT / self.classes).max(LEAST_KEPT);
        for (scores, class) in scores_nt.rows().into_iter().zip(classes) {
            let row = self.rows;
            self.rows += 1;
            if !self.thinning.keeps(row) {
                continue;
            }
            self.scores.extend(scores);
            let class = class.unwrap_or(self.classes) as u32;
            self.of_row.push((class, group_of(row) as u8));
            if self.of_row.len() > most {
                self.thin();
            }
        }
    }

    fn thin(&mut self) {
        let before = self.thinning;
        self.thinning.halve();
        let after = self.thinning;
        let rows = (0..self.rows).filter(|row| before.keeps(*row));
        let stays: Vec<bool> = rows.map(|row| after.keeps(row)).collect();
        let mut of_scores = stays
            .iter()
            .flat_map(|stays| std::iter::repeat_n(*stays, self.classes));
        self.scores.retain(|_| of_scores.next() == Some(true));
        let mut of_rows = stays.iter();
        self.of_row.retain(|_| of_rows.next() == Some(&true));
    }

    /// Scores of a class in descending order, each with whether the row belongs to the class, and
    /// its group.
    fn sorted(&self, class: usize) -> Vec<(f64, bool, u8)> {
        let rows = self.scores.chunks_exact(self.classes).zip(&self.of_row);
        let rows = rows.map(|(scores, &(of, group))| (scores[class], of as usize == class, group));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        rows
    }

    /// Mean over classes of a ranking metric, with its deviation.
    pub(super) fn score(&self, classes: &[usize], of: fn(Order) -> f64) -> Option<Score> {
        let sorted: Vec<_> = classes.iter().map(|class| self.sorted(*class)).collect();
        let mut held = [false; GROUPS];
        for (.., group) in sorted.iter().flatten() {
            held[usize::from(*group)] = true;
        }
        Score::jackknife(
            |group| held[group],
            |skip| {
                let all = sorted
                    .iter()
                    .map(|sorted| order(sorted, skip).map_or(f64::NAN, of));
                all.sum::<f64>() / classes.len() as f64
            },
        )
    }

    /// The largest F1 of a class, and its threshold.
    pub(super) fn best(&self, class: usize) -> Option<(f64, f64)> {
        order(&self.sorted(class), None).map(|order| order.best)
    }
}

/// Metrics of a ranking without one group; `None` if all rows belong to the class, or none.
fn order(sorted: &[(f64, bool, u8)], skip: Option<usize>) -> Option<Order> {
    let kept = || {
        let rows = sorted.iter();
        rows.filter(move |(_, _, group)| Some(usize::from(*group)) != skip)
    };
    let count = |is: bool| kept().filter(|(_, own, _)| *own == is).count() as f64;
    let (all, others) = (count(true), count(false));
    if all == 0.0 || others == 0.0 {
        return None;
    }
    let (mut right, mut wrong) = (0.0, 0.0);
    let (mut pairs, mut precision, mut best) = (0.0, 0.0, (0.0, f64::NAN));
    let mut rows = kept().peekable();
    while let Some(&(score, own, _)) = rows.next() {
        // Ties are processed together.
        let (mut gained, mut lost) = if own { (1.0, 0.0) } else { (0.0, 1.0) };
        while let Some(&(_, own, _)) = rows.next_if(|next| next.0 == score) {
            if own { gained += 1.0 } else { lost += 1.0 }
        }
        pairs += lost * (right + gained / 2.0);
        (right, wrong) = (right + gained, wrong + lost);
        precision += gained / all * right / (right + wrong);
        let f1 = 2.0 * right / (all + right + wrong);
        if f1 > best.0 {
            best = (f1, score);
        }
    }
    Some(Order {
        auc: pairs / (all * others),
        average_precision: precision,
        best,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn sorted(scores: &[f64], own: &[bool]) -> Order {
        let mut rows: Vec<_> = scores.iter().zip(own).map(|(s, o)| (*s, *o, 0)).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        order(&rows, None).expect("both kinds")
    }

    /// Values computed by hand; scikit-learn gives the same.
    #[test]
    fn orders_are_worth_what_their_formulas_say() {
        let found = sorted(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]);
        assert!((found.auc - 0.75).abs() < 1e-12);
        assert!((found.average_precision - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-12);
        assert_eq!(found.best, (0.8, 0.35));
        // All scores equal: AUC 0.5, and the share of the class as average precision.
        let found = sorted(&[0.5; 4], &[false, false, true, false]);
        assert!((found.auc - 0.5).abs() < 1e-12 && (found.average_precision - 0.25).abs() < 1e-12);
        assert!(order(&[(0.5, true, 0)], None).is_none());
    }

    /// The deviation of the AUC is that of Hanley and McNeil (1982) for exponential scores: Q1 = A
    /// / (2 - A), Q2 = 2 A^2 / (1 + A).
    #[test]
    fn the_deviation_of_the_area_is_known() {
        let turns = 20;
        let (mut area, mut deviation) = (0.0, 0.0);
        for turn in 0..turns {
            let mut draws = crate::seed::Seed(turn).stream(crate::seed::Stream::Data, 0);
            let classes: Vec<usize> = (0..1200).map(|i| i % 2).collect();
            let scores = Array2::from_shape_fn((1200, 2), |(i, j)| {
                let size = -(1.0 - draws.uniform()).ln();
                match j {
                    1 => size * if i % 2 == 1 { 3.0 } else { 1.0 },
                    _ => 0.0,
                }
            });
            let mut ranks = Ranks::new(2);
            ranks.add(scores.view(), classes.into_iter().map(Some));
            let score = ranks.score(&[1], |order| order.auc).expect("an area");
            area += score.value / turns as f64;
            deviation += score.deviation / turns as f64;
        }
        let (a, n) = (0.75_f64, 600.0);
        let (q1, q2) = (a / (2.0 - a), 2.0 * a * a / (1.0 + a));
        let known = (a * (1.0 - a) + (n - 1.0) * (q1 - a * a + q2 - a * a)).sqrt() / n;
        assert!((area - a).abs() < 0.01, "{area}");
        assert!(
            (deviation / known - 1.0).abs() < 0.12,
            "{deviation} and {known}"
        );
    }

    #[test]
    fn chunks_change_nothing_and_rows_are_thinned() {
        let rows = KEPT / 40 + 500;
        let scores = Array2::from_shape_fn((rows, 40), |(i, j)| ((i * 7 + j * 13) % 101) as f64);
        let class = |i: usize| (!i.is_multiple_of(50)).then_some(i % 40);
        let mut whole = Ranks::new(40);
        whole.add(scores.view(), (0..rows).map(class));
        let mut parts = Ranks::new(40);
        for at in (0..rows).step_by(999) {
            let end = (at + 999).min(rows);
            let chunk = scores.slice(ndarray::s![at..end, ..]);
            parts.add(chunk, (at..end).map(class));
        }
        assert_eq!(whole.of_row, parts.of_row);
        assert!(whole.scores == parts.scores && whole.of_row.len() < KEPT / 40 * 6 / 10);
        assert_eq!(whole.scores.len(), 40 * whole.of_row.len());
    }
}
