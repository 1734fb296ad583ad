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

/// What the rows that share a number of a column say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Told {
    /// The share of the variance of the target that the numbers explain as names would.
    pub(crate) r2: f64,
    /// How many different numbers there are, as chance finds one twice.
    pub(crate) numbers: f64,
}

/// What whole numbers `x` tell as codes of the target `y` of a sample of so many rows: by the
/// variances of a one-way layout of random effects (Searle, Casella & McCulloch 1992, "Variance
/// Components", section 3.6), the part between numbers tau2 and that within them sigma2. With k
/// rows of each, their means explain `tau2 / (tau2 + sigma2) k / (k + sigma2 / tau2)`.
///
/// Targets are their ranks, for a few of a long tail would be variance that nothing explains.
///
/// `None` of other numbers, of those of which rows of one are no more alike than chance has it, and
/// of those whose neighbours are alike: the product of the means of two neighbours, less that of
/// all, is on average what numbers vary by together.
pub(crate) fn told(x: &[f64], y: &[f64], rows: f64) -> Option<Told> {
    if x.iter().any(|value| value.fract() != 0.0) {
        return None;
    }
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_unstable_by(|&a, &b| x[a].total_cmp(&x[b]));
    let y = ranks(aview1(y));
    let all = x.len() as f64;
    let mean = y.sum() / all;
    // Of each number its rows, the mean of their targets about that of all, and their squares
    // about their own.
    let groups: Vec<(f64, f64, f64)> = order
        .chunk_by(|&a, &b| x[a] == x[b])
        .map(|rows| {
            let count = rows.len() as f64;
            let own = rows.iter().map(|&i| y[i] - mean).sum::<f64>() / count;
            let squares = rows.iter().map(|&i| (y[i] - mean - own).powi(2)).sum();
            (count, own, squares)
        })
        .collect();
    if groups.len() < ENOUGH.0 || x.len() - groups.len() < ENOUGH.1 {
        return None;
    }
    let sum = |of: fn(&(f64, f64, f64)) -> f64| groups.iter().map(of).sum::<f64>();
    let (free, left) = (groups.len() as f64 - 1.0, all - groups.len() as f64);
    let (between, within) = (sum(|g| g.0 * g.1 * g.1), sum(|g| g.2) / left);
    let chance = 1.0 + SURE * (2.0 / free + 2.0 / left).sqrt();
    if between / free <= chance * within {
        return None;
    }
    let effects = (between - free * within) / (all - sum(|g| g.0 * g.0) / all);
    let middle = sum(|g| g.1) / groups.len() as f64;
    let beside = groups
        .windows(2)
        .map(|two| (two[0].1 - middle) * (two[1].1 - middle));
    if beside.sum::<f64>() / free > ALIKE * effects {
        return None;
    }
    let pairs = sum(|g| g.0 * (g.0 - 1.0)) / 2.0;
    let numbers = all * (all - 1.0) / 2.0 / pairs;
    let each = rows / numbers;
    Some(Told {
        r2: effects / (effects + within) * each / (each + within / effects),
        numbers,
    })
}

/// Whether rows of numbers `x` beside each other are more alike in the target `y` than chance has
/// it: the correlation of the ranks of neighbours, of which that of n rows without an order has a
/// variance of about 1 / n (Wald & Wolfowitz 1943, "An exact test for randomness in the
/// non-parametric case based on serial correlation").
pub(crate) fn are_alike(x: &[f64], y: &[f64]) -> bool {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_unstable_by(|&a, &b| x[a].total_cmp(&x[b]));
    let y = ranks(aview1(y));
    let (all, mean) = (x.len() as f64, y.sum() / x.len() as f64);
    let off: Vec<f64> = order.iter().map(|&i| y[i] - mean).collect();
    let products: f64 = off.windows(2).map(|two| two[0] * two[1]).sum();
    let squares: f64 = off.iter().map(|off| off * off).sum();
    products * all.sqrt() > NEAR * squares
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

    #[test]
    fn neighbours_are_alike_where_numbers_are_amounts() {
        let mut draws = Seed(5).stream(Stream::Data, 0);
        let x: Vec<f64> = (0..60).map(|_| (900.0 * draws.uniform()).floor()).collect();
        let noise: Vec<f64> = x.iter().map(|_| draws.normal()).collect();
        let both = x.iter().zip(&noise);
        let amounts: Vec<f64> = both.map(|(x, noise)| x / 150.0 + noise).collect();
        assert!(are_alike(&x, &amounts));
        assert!(!are_alike(&x, &noise) && !are_alike(&[], &[]));
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
