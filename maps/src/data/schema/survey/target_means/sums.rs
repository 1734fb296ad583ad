//! Sums of the targets of each text in each fold, and what they come to.

use crate::data::schema::means::FOLDS;
use std::collections::HashMap;

/// Sums of the rows of each text in each fold.
pub(super) struct Sums {
    columns: usize,
    /// Texts that there is room for.
    most: usize,
    places: HashMap<u64, usize>,
    /// `[texts, folds, 2 + columns]`: number and weight of the rows, and sums of their targets.
    cells: Vec<f64>,
    /// `[folds, columns]`: sums of the squares of all rows' targets.
    squares: Vec<f64>,
    is_full: bool,
}

/// Rows of one text.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    rows: f64,
    weight: f64,
    sum: f64,
}

/// What [`Sums`] come to.
pub(super) struct Learnt {
    /// Hashes of the texts, ascending.
    pub(super) texts: Vec<u64>,
    /// `[texts, columns]`, of all rows.
    pub(super) effects: Vec<f64>,
    /// `[texts, folds, columns]`, of the rows outside a fold.
    pub(super) out_of_fold: Vec<f64>,
    /// By how much the squared errors of all rows are less with what the others say of their texts
    /// than without, and the standard error of that sum.
    pub(super) gain: f64,
    pub(super) error: f64,
    /// The squares of the targets about their means.
    squares: f64,
}

impl Learnt {
    /// Whether texts tell something of the target, by more than two standard errors.
    pub(super) fn tells(&self) -> bool {
        self.gain > 2.0 * self.error
    }

    /// The share of the squares of the targets that texts explain by what other rows say.
    pub(super) fn r2(&self) -> f64 {
        self.gain / self.squares
    }
}

impl Sums {
    /// For so many columns of targets, and at most so many texts.
    pub(super) fn new(columns: usize, most: usize) -> Self {
        Self {
            columns,
            most,
            places: HashMap::new(),
            cells: Vec::new(),
            squares: vec![0.0; FOLDS * columns],
            is_full: false,
        }
    }

    /// Whether there are more texts than there is room for.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Adds a row of the text with this hash, of weight above 0.
    pub(super) fn add(&mut self, text: u64, fold: usize, weight: f64, targets: &[f64]) {
        let size = 2 + self.columns;
        let next = self.places.len();
        if next >= self.most && !self.places.contains_key(&text) {
            self.is_full = true;
            return;
        }
        let place = *self.places.entry(text).or_insert(next);
        if place == next {
            self.cells.resize((next + 1) * FOLDS * size, 0.0);
        }
        let cell = &mut self.cells[(place * FOLDS + fold) * size..][..size];
        cell[0] += 1.0;
        cell[1] += weight;
        for (k, &target) in targets.iter().enumerate() {
            cell[2 + k] += weight * target;
            self.squares[fold * self.columns + k] += weight * target * target;
        }
    }

    fn cell(&self, text: usize, fold: usize, column: usize) -> Group {
        let size = 2 + self.columns;
        let cell = &self.cells[(text * FOLDS + fold) * size..][..size];
        Group {
            rows: cell[0],
            weight: cell[1],
            sum: cell[2 + column],
        }
    }

    /// The mean of a column of targets over the rows outside a fold, if one is left out, and the
    /// effect of each text by them.
    fn effects(&self, column: usize, without: Option<usize>) -> (f64, Vec<f64>) {
        let folds = move || (0..FOLDS).filter(move |&fold| Some(fold) != without);
        let group = |text| {
            folds().fold(Group::default(), |all, fold| {
                let more = self.cell(text, fold, column);
                Group {
                    rows: all.rows + more.rows,
                    weight: all.weight + more.weight,
                    sum: all.sum + more.sum,
                }
            })
        };
        let groups: Vec<Group> = (0..self.places.len()).map(group).collect();
        let squares = folds().map(|fold| self.squares[fold * self.columns + column]);
        let (mean, ratio) = mean_and_ratio(&groups, squares.sum());
        let effect = |group: &Group| {
            if group.rows > 0.0 {
                group.weight / (group.weight + ratio) * (group.sum / group.weight - mean)
            } else {
                0.0
            }
        };
        (mean, groups.iter().map(effect).collect())
    }

    /// The squares of a column of targets about its mean.
    fn about_mean(&self, column: usize) -> f64 {
        let folds = || (0..self.places.len()).flat_map(|text| (0..FOLDS).map(move |f| (text, f)));
        let of = |part: &dyn Fn(Group) -> f64| -> f64 {
            folds()
                .map(|(text, fold)| part(self.cell(text, fold, column)))
                .sum()
        };
        let squares: f64 = (0..FOLDS)
            .map(|fold| self.squares[fold * self.columns + column])
            .sum();
        squares - of(&|group| group.sum).powi(2) / of(&|group| group.weight)
    }

    /// Effects of all rows and of those outside each fold, and whether they help.
    pub(super) fn finish(self) -> Learnt {
        let (texts, columns) = (self.places.len(), self.columns);
        let mut order: Vec<(u64, usize)> = self.places.iter().map(|(&h, &at)| (h, at)).collect();
        order.sort_unstable();
        let mut effects = vec![0.0; texts * columns];
        let mut out_of_fold = vec![0.0; texts * FOLDS * columns];
        let mut gains = vec![0.0; texts];
        for column in 0..columns {
            let (_, of_all) = self.effects(column, None);
            for (place, &(_, text)) in order.iter().enumerate() {
                effects[place * columns + column] = of_all[text];
            }
            for fold in 0..FOLDS {
                let (mean, of_others) = self.effects(column, Some(fold));
                for (place, &(_, text)) in order.iter().enumerate() {
                    let effect = of_others[text];
                    out_of_fold[(place * FOLDS + fold) * columns + column] = effect;
                    // (y - mean)^2 - (y - mean - effect)^2 over the rows of the fold.
                    let own = self.cell(text, fold, column);
                    let apart = own.sum - mean * own.weight;
                    gains[place] += effect * (2.0 * apart - effect * own.weight);
                }
            }
        }
        // Rows of one text are not independent, texts are.
        let squares: f64 = gains.iter().map(|gain| gain * gain).sum();
        Learnt {
            texts: order.into_iter().map(|(hash, _)| hash).collect(),
            effects,
            out_of_fold,
            gain: gains.iter().sum(),
            error: squares.sqrt(),
            squares: (0..columns).map(|column| self.about_mean(column)).sum(),
        }
    }
}

/// The mean of all rows, and the variance within texts over that between them: infinite where texts
/// do not differ by more than chance, or that cannot be told. `squares` is the sum of the squares
/// of all targets. The formula is that of [`TargetMeans`](super::TargetMeans).
fn mean_and_ratio(groups: &[Group], squares: f64) -> (f64, f64) {
    let seen = || groups.iter().filter(|group| group.rows > 0.0);
    let sum = |of: &dyn Fn(&Group) -> f64| seen().map(of).sum::<f64>();
    let (texts, rows) = (seen().count() as f64, sum(&|group| group.rows));
    let weight = sum(&|group| group.weight);
    if texts == 0.0 {
        return (0.0, f64::INFINITY);
    }
    let mean = sum(&|group| group.sum) / weight;
    if texts < 2.0 || rows <= texts {
        return (mean, f64::INFINITY);
    }
    let of_means = sum(&|group| group.sum * group.sum / group.weight);
    let within = (squares - of_means).max(0.0) / (rows - texts);
    let between = of_means - mean * mean * weight - (texts - 1.0) * within;
    let size = weight - sum(&|group| group.weight * group.weight) / weight;
    if between > 0.0 {
        (mean, within * size / between)
    } else {
        (mean, f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked numbers of a small layout, of all rows and of those outside a fold.
    #[test]
    fn effects_are_those_of_a_hand_computation() {
        let mut sums = Sums::new(1, 10);
        // Text 7 has 1, 2, 3 and text 5 has 5, 7; the row of 7 that is 3 lies in fold 1.
        for (text, fold, y) in [
            (7, 0, 1.0),
            (7, 0, 2.0),
            (7, 1, 3.0),
            (5, 0, 5.0),
            (5, 2, 7.0),
        ] {
            sums.add(text, fold, 1.0, &[y]);
        }
        let learnt = sums.finish();
        assert_eq!(learnt.texts, [5, 7]);
        // Means 6 and 2, of all 3.6; SSW 4 of 3 degrees, SSB 2 * 2.4^2 + 3 * 1.6^2 = 19.2.
        let within = 4.0 / 3.0;
        let between = (19.2 - within) / (5.0 - 13.0 / 5.0);
        let of = |rows: f64, apart: f64| rows / (rows + within / between) * apart;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(learnt.effects[0], of(2.0, 2.4));
        close(learnt.effects[1], of(3.0, -1.6));
        // Without fold 1: 1, 2 and 5, 7, with means 1.5 and 6, of all 3.75.
        let within = 2.5 / 2.0;
        let between = (4.0 * 2.25_f64.powi(2) - within) / (4.0 - 8.0 / 4.0);
        let of = |apart: f64| 2.0 / (2.0 + within / between) * apart;
        close(learnt.out_of_fold[1], of(2.25));
        close(learnt.out_of_fold[FOLDS + 1], of(-2.25));
        // Without fold 0 there is one row of each: nothing can be told.
        close(learnt.out_of_fold[0], 0.0);
    }

    /// Weights count as rows do, whatever their unit.
    #[test]
    fn effects_know_no_unit_of_weights() {
        let of = |unit: f64| {
            let mut sums = Sums::new(1, 100);
            for i in 0..60_u32 {
                let y = f64::from(i % 6) + f64::from(i * 7 % 5);
                let weight = unit * f64::from(1 + i % 3);
                sums.add(u64::from(i % 6), i as usize % FOLDS, weight, &[y]);
            }
            sums.finish()
        };
        let (one, other) = (of(1.0), of(1e-3));
        for (a, b) in one.out_of_fold.iter().zip(&other.out_of_fold) {
            assert!((a - b).abs() < 1e-9 && *a != 0.0, "{a} {b}");
        }
    }

    #[test]
    fn room_ends_at_its_bound() {
        let mut sums = Sums::new(2, 3);
        for (text, is_full) in [(1, false), (2, false), (3, false), (1, false), (4, true)] {
            sums.add(text, 0, 1.0, &[0.0, 1.0]);
            assert_eq!(sums.is_full(), is_full, "{text}");
        }
    }
}
