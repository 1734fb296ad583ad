//! Whole numbers that are names of things, as those of shops are: rows that share one are alike,
//! and rows of numbers beside each other are not.

use super::ranks::ranks;
use ndarray::aview1;

/// Different numbers, at least, and rows beyond the first of each.
const ENOUGH: (usize, usize) = (10, 40);
/// Standard errors by which numbers that tell nothing do not differ from chance.
const SURE: f64 = 5.0;
/// Numbers beside each other are alike where their rows vary together by more than this share of
/// what rows of one number do.
const ALIKE: f64 = 0.5;

/// Standard errors by which neighbours are alike: chance has it once in 740 columns.
const NEAR: f64 = 3.0;
/// What amounts may tell apart from their neighbours, of the variance of all.
const APART: f64 = 0.02;

/// What the rows that share a number of a column say.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct Told {
    /// The share of the variance of the target that the numbers explain as names would.
    #[doc(hidden)]
    pub r2: f64,
    /// How many different numbers there are, as chance finds one twice.
    #[doc(hidden)]
    pub numbers: f64,
}

/// What whole numbers `x` tell as codes of the target `y` of a sample of so many rows: by the
/// variances of a one-way layout of random effects (Searle, Casella & McCulloch 1992, "Variance
/// Components", section 3.6), the part between numbers tau2 and that within them sigma2. With k
/// rows of each, their means explain `tau2 / (tau2 + sigma2) k / (k + sigma2 / tau2)`.
///
/// Targets are their ranks, for a few of a long tail would be variance that nothing explains;
/// where these tell, the share is that of the targets themselves if it is more, as of two heaps of
/// them.
///
/// `None` of other numbers, of those of which rows of one are no more alike than chance has it,
/// and of those whose neighbours are alike: the product of the means of two neighbours, less that
/// of all, is on average what numbers vary by together.
#[doc(hidden)]
pub fn told(x: &[f64], y: &[f64], rows: f64) -> Option<Told> {
    if x.iter().any(|value| value.fract() != 0.0) {
        return None;
    }
    let (all, by_value) = (x.len() as f64, groups(x, y.iter().copied()));
    let groups = groups(x, ranks(aview1(y)).iter().copied());
    if groups.len() < ENOUGH.0 || x.len() - groups.len() < ENOUGH.1 {
        return None;
    }
    let sum = |of: fn(&Group) -> f64| groups.iter().map(of).sum::<f64>();
    let (free, left) = (groups.len() as f64 - 1.0, all - groups.len() as f64);
    let (effects, within, ratio) = layout(&groups);
    if ratio <= 1.0 + SURE * (2.0 / free + 2.0 / left).sqrt() {
        return None;
    }
    let middle = sum(|g| g.mean) / groups.len() as f64;
    let beside = groups
        .windows(2)
        .map(|two| (two[0].mean - middle) * (two[1].mean - middle));
    if beside.sum::<f64>() / free > ALIKE * effects {
        return None;
    }
    let pairs = sum(|g| g.rows * (g.rows - 1.0)) / 2.0;
    let numbers = all * (all - 1.0) / 2.0 / pairs;
    let each = rows / numbers;
    let explained = |(effects, within, _)| {
        let noise: f64 = within / effects;
        each / (1.0 + noise) / (each + noise)
    };
    let (by_rank, by_value) = (explained((effects, within, ratio)), layout(&by_value));
    let is_told = by_value.0 > 0.0;
    Some(Told {
        r2: by_rank.max(if is_told { explained(by_value) } else { 0.0 }),
        numbers,
    })
}

/// The variances between numbers and within them, and how many times more the means of numbers
/// vary than by chance.
fn layout(groups: &[Group]) -> (f64, f64, f64) {
    let sum = |of: fn(&Group) -> f64| groups.iter().map(of).sum::<f64>();
    let (all, free) = (sum(|g| g.rows), groups.len() as f64 - 1.0);
    let between = sum(|g| g.rows * g.mean * g.mean);
    let within = sum(|g| g.squares) / (all - groups.len() as f64);
    let effects = (between - free * within) / (all - sum(|g| g.rows * g.rows) / all);
    (effects, within, between / free / within)
}

/// Whether numbers `x` are amounts by the target `y`, where nothing else says whether they are
/// names.
///
/// Rows of numbers beside each other are more alike than chance has it: by the correlation of the
/// means of neighbours, of which that of n numbers without an order has a variance of about 1 / n
/// (Wald & Wolfowitz 1943, "An exact test for randomness in the non-parametric case based on
/// serial correlation"). And what numbers tell apart from their neighbours is less than the noise
/// of their means, by which names would be told, or next to nothing: half of the mean square of
/// successive differences of the means, less that noise.
pub(crate) fn are_amounts(x: &[f64], y: &[f64]) -> bool {
    let groups = groups(x, ranks(aview1(y)).iter().copied());
    let numbers = groups.len() as f64;
    let middle = groups.iter().map(|g| g.mean).sum::<f64>() / numbers;
    let off: Vec<f64> = groups.iter().map(|g| g.mean - middle).collect();
    let products: f64 = off.windows(2).map(|two| two[0] * two[1]).sum();
    let squares: f64 = off.iter().map(|off| off * off).sum();
    if products * numbers.sqrt() <= NEAR * squares {
        return false;
    }
    let left = x.len() - groups.len();
    if left < ENOUGH.1 {
        return true;
    }
    let within = groups.iter().map(|g| g.squares).sum::<f64>() / left as f64;
    let noise = groups.iter().map(|g| within / g.rows).sum::<f64>() / numbers;
    let beside = off.windows(2).map(|two| (two[1] - two[0]).powi(2) / 2.0);
    let apart = beside.sum::<f64>() / (numbers - 1.0) - noise;
    apart < noise.max(APART * squares / numbers)
}

/// Rows of one number: how many, the mean of their targets about that of all, and the squares of
/// these about it.
struct Group {
    rows: f64,
    mean: f64,
    squares: f64,
}

/// Those of each number, ascending.
fn groups(x: &[f64], y: impl Iterator<Item = f64>) -> Vec<Group> {
    let y: Vec<f64> = y.collect();
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_unstable_by(|&a, &b| x[a].total_cmp(&x[b]));
    let middle = y.iter().sum::<f64>() / x.len() as f64;
    let groups = order.chunk_by(|&a, &b| x[a] == x[b]).map(|of| {
        let rows = of.len() as f64;
        let mean = of.iter().map(|&i| y[i] - middle).sum::<f64>() / rows;
        let squares = of.iter().map(|&i| (y[i] - middle - mean).powi(2)).sum();
        Group {
            rows,
            mean,
            squares,
        }
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    /// So many rows of a number drawn among `numbers`, with a target of it and noise of deviation
    /// 1.
    fn drawn(
        (rows, numbers): (usize, usize),
        of: impl Fn(usize) -> f64,
        number: impl Fn(usize) -> f64,
    ) -> Option<Told> {
        let mut draws = Seed(7).stream(Stream::Data, 0);
        let drawn = (0..rows).map(|_| {
            let k = (draws.uniform() * numbers as f64) as usize;
            (number(k), of(k) + draws.normal())
        });
        let (x, y): (Vec<f64>, Vec<f64>) = drawn.unzip();
        told(&x, &y, 10.0 * rows as f64)
    }

    /// What a number says by itself and not by its size.
    fn effect(k: usize) -> f64 {
        2.0 * (7.3 * (k * k % 1009) as f64).sin()
    }

    #[test]
    fn codes_tell_and_amounts_do_not() {
        let shop = |k: usize| 1000.0 + 7.0 * k as f64;
        let size = |k: usize| k as f64;
        // Effects of variance 2 beside noise of 1.
        let told = drawn((4000, 700), effect, shop).expect("codes");
        assert!((told.r2 - 0.655).abs() < 0.09, "{told:?}");
        assert!((told.numbers / 700.0 - 1.0).abs() < 0.1, "{told:?}");
        assert!(drawn((400, 30), effect, size).is_some());
        assert!(drawn((400, 14), effect, size).is_some());
        // Ages, years, prices and counts: a trend, a wave, a step, and nothing.
        for numbers in [60, 300] {
            let share = |k: usize| k as f64 / numbers as f64;
            assert_eq!(drawn((4000, numbers), |k| 5.0 * share(k), size), None);
            let wave = |k: usize| 2.0 * (9.0 * share(k)).sin();
            assert_eq!(drawn((4000, numbers), wave, size), None);
            let step = |k: usize| if share(k) > 0.8 { 4.0 } else { 0.0 };
            assert_eq!(drawn((4000, numbers), step, size), None);
            assert_eq!(drawn((4000, numbers), |_| 0.0, size), None);
        }
        // Another number in each row, few numbers, and fractions.
        assert_eq!(drawn((4000, 10_000_000), effect, size), None);
        assert_eq!(drawn((4000, 8), effect, size), None);
        assert_eq!(drawn((4000, 700), effect, |k| k as f64 / 8.0), None);
    }

    /// A tenth of the numbers put their rows on another heap: ranks of the others are noise.
    #[test]
    fn two_heaps_of_targets_are_told_by_their_values() {
        let heap = |k: usize| if k * k % 11 == 5 { 30.0 } else { 0.0 };
        let told = drawn((4000, 100), heap, |k| 7.0 * k as f64).expect("codes");
        assert!(told.r2 > 0.9, "{told:?}");
    }

    /// Each once and each several times: a line, a wave and a step are amounts, unless so few
    /// numbers have rows enough to be told as names, and effects of each number are none, however
    /// little noise there is, nor is nothing at all.
    #[test]
    fn neighbours_are_alike_where_numbers_are_amounts() {
        let mut draws = Seed(5).stream(Stream::Data, 0);
        let mut are = |numbers: usize, of: &dyn Fn(usize) -> f64, noise: f64| {
            let drawn = (0..400).map(|_| {
                let k = (draws.uniform() * numbers as f64) as usize;
                (k as f64, of(k) + noise * draws.normal())
            });
            let (x, y): (Vec<f64>, Vec<f64>) = drawn.unzip();
            are_amounts(&x, &y)
        };
        for numbers in [30, 100, 300, 5_000] {
            let share = |k: usize| k as f64 / numbers as f64;
            assert!(are(numbers, &|k| 4.0 * share(k), 0.5), "{numbers}");
            let wave = |k: usize| 2.0 * (9.0 * share(k)).sin();
            let step = |k: usize| if share(k) > 0.6 { 3.0 } else { 0.0 };
            for of in [&wave as &dyn Fn(usize) -> f64, &step] {
                assert_eq!(are(numbers, of, 0.5), numbers > 30, "{numbers}");
            }
            for noise in [0.05, 0.5] {
                assert!(!are(numbers, &effect, noise), "{numbers}");
                // Names whose numbers tell something as well.
                let both = |k: usize| effect(k) / 2.0 + 4.0 * share(k);
                assert!(numbers > 300 || !are(numbers, &both, noise), "{numbers}");
            }
            assert!(!are(numbers, &|_| 0.0, 1.0), "{numbers}");
        }
        assert!(!are_amounts(&[], &[]));
    }

    /// Numbers that are nearly all different and amounts of which few are nearly all the variance:
    /// chance alone puts these where numbers stand alone.
    #[test]
    fn long_tails_are_no_codes() {
        for seed in 0..20 {
            let mut draws = Seed(seed).stream(Stream::Data, 0);
            let rows = (0..4000).map(|_| {
                let price = (draws.uniform() * 14_000.0).floor();
                (price, (3.0 * draws.normal()).exp())
            });
            let (x, y): (Vec<f64>, Vec<f64>) = rows.unzip();
            assert_eq!(told(&x, &y, 40_000.0), None, "{seed}");
        }
    }
}
