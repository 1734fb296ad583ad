//! Random assignments of a stream of rows to two samples.

use crate::{
    parallel,
    seed::{Draws, Seed, Stream},
};
use ndarray::Array2;

/// Random assignments of a known number of rows to two samples, drawn as the rows pass: each
/// remaining row is equally likely to be one of the rows that the first sample still needs
/// (selection sampling, Knuth 3.4.2, algorithm S). Assignments are uniformly distributed.
#[derive(Debug)]
pub(super) struct Assignments {
    /// Random stream of each, and the number of rows that its first sample still needs.
    each: Vec<(Draws, u64)>,
    left: u64,
}

impl Assignments {
    /// `count` assignments of `first + second` rows.
    pub(super) fn new(count: usize, [first, second]: [u64; 2], seed: Seed) -> Self {
        let draws = |b| seed.stream(Stream::Exchange, b as u64);
        Self {
            each: (0..count).map(|b| (draws(b), first)).collect(),
            left: first + second,
        }
    }

    /// Writes 1 for rows that an assignment puts into the first sample, and 0 for others:
    /// assignment b to row `at + b` of `labels` `[_, rows]`.
    pub(super) fn write(&mut self, at: usize, labels: &mut Array2<f64>) {
        let (left, rows) = (self.left, labels.ncols());
        let own = &mut labels.as_slice_mut().expect("standard layout")[at * rows..];
        let each = self.each.iter_mut();
        let mut each: Vec<_> = each.zip(own.chunks_mut(rows.max(1))).collect();
        parallel::usual().parts(&mut each, &|_, ((draws, wanted), labels)| {
            for (label, left) in labels.iter_mut().zip((0..=left).rev()) {
                let taken = left > 0 && draws.below(left) < *wanted;
                *wanted -= u64::from(taken);
                *label = f64::from(u8::from(taken));
            }
        });
        self.left = left.saturating_sub(rows as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_uniform_and_do_not_depend_on_portions() {
        const COUNT: usize = 30_000;
        let draw = |portions: &[usize]| {
            let mut all = Assignments::new(COUNT, [2, 3], Seed(4));
            let mut labels = vec![String::new(); COUNT];
            for &rows in portions {
                let mut some = Array2::zeros((COUNT + 1, rows));
                all.write(1, &mut some);
                assert!(some.row(0).iter().all(|&v| v == 0.0));
                for (text, row) in labels.iter_mut().zip(some.rows().into_iter().skip(1)) {
                    text.extend(row.iter().map(|&v| if v == 1.0 { 'a' } else { 'b' }));
                }
            }
            labels
        };
        let labels = draw(&[5]);
        assert_eq!(labels, draw(&[1, 3, 1]));
        let mut counts = std::collections::HashMap::new();
        labels
            .iter()
            .for_each(|l| *counts.entry(l).or_insert(0) += 1);
        assert_eq!(counts.len(), 10);
        // 3000 each, with a standard deviation of 52.
        assert!(
            counts.values().all(|&c: &i32| (c - 3000).abs() < 210),
            "{counts:?}"
        );
    }
}
