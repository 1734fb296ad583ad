//! The one door to rayon: work that the threads of the current pool share, by its number.
//!
//! Rayon compiles all that shares out work anew for every closure, some thousand lines of machine
//! code a piece. Here it is compiled once, and calls the work through a pointer: that costs nothing
//! where each call is a block of rows, a column, a row of many numbers. Loops inside of such work
//! stay with the caller.
//!
//! A page has one thread, and loads nothing of rayon for it.

use crate::Result;
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether there can be threads.
const THREADS: bool = !cfg!(target_family = "wasm");

/// How numbers are shared out: how many of them, next to each other, make a task.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    least: usize,
    most: usize,
}

/// As rayon sees fit.
pub const fn usual() -> Shares {
    Shares {
        least: 1,
        most: usize::MAX,
    }
}

/// A task each: where some take much longer than others, or come in an order.
pub const fn alone() -> Shares {
    Shares { least: 1, most: 1 }
}

/// So many a task or more: where each is short.
pub const fn at_least(least: usize) -> Shares {
    Shares {
        least,
        most: usize::MAX,
    }
}

/// So many a task or fewer.
pub(crate) const fn at_most(most: usize) -> Shares {
    Shares { least: 1, most }
}

/// Multiplications and additions, or as much else, that others are woken for: about a millisecond.
/// Where less is shared out, waiting takes what it saves, and where other programs have the
/// processors many times as much.
const WORTH: usize = 1 << 25;

/// Whether others are worth waking for so many operations.
pub(crate) fn is_worth(operations: usize) -> bool {
    operations >= WORTH
}

/// Works on a chunk and the one beside it, with room for numbers that a task keeps.
type WorkWithRoom<'w> = dyn Fn(&mut [Vec<f32>; 2], &mut [f32], &[f32]) + Sync + 'w;

impl Shares {
    /// On the thread that asks alone, unless there are so many operations in all that others are
    /// worth waking.
    pub(crate) fn worth(self, operations: usize) -> Self {
        if is_worth(operations) {
            self
        } else {
            at_least(usize::MAX)
        }
    }

    /// Hands `0 .. n` to `work`.
    pub(crate) fn for_each(self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        if !THREADS {
            return (0..n).for_each(work);
        }
        (0..n)
            .into_par_iter()
            .with_min_len(self.least)
            .with_max_len(self.most)
            .for_each(work);
    }

    /// Hands every part with its number to `work`.
    pub fn parts<P: Send>(self, parts: &mut [P], work: &(dyn Fn(usize, &mut P) + Sync)) {
        let parts: Vec<_> = parts.iter_mut().map(Mutex::new).collect();
        // Nobody waits: a number comes once.
        self.for_each(parts.len(), &|i| work(i, &mut own(&parts[i])));
    }

    /// What `work` makes of `0 .. n`, in this order.
    pub fn map<R: Send>(self, n: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
        let mut made: Vec<Mutex<Option<R>>> = Vec::new();
        made.resize_with(n, Mutex::default);
        self.for_each(n, &|i| {
            let value = work(i);
            *own(&made[i]) = Some(value);
        });
        let mut all = Vec::with_capacity(n);
        for value in made {
            let value = value.into_inner().unwrap_or_else(PoisonError::into_inner);
            all.push(value.expect("every number was worked on"));
        }
        all
    }

    /// As [`Self::map`], for numbers.
    pub fn numbers(self, n: usize, work: &(dyn Fn(usize) -> f64 + Sync)) -> Vec<f64> {
        let mut all = vec![0.0; n];
        self.chunks(&mut all, 1, &|i, value| value[0] = work(i));
        all
    }

    /// Hands every chunk of `size` elements, the last may have fewer, with its number to `work`.
    pub fn chunks<T: Send>(
        self,
        data: &mut [T],
        size: usize,
        work: &(dyn Fn(usize, &mut [T]) + Sync),
    ) {
        if !THREADS {
            let chunks = data.chunks_mut(size).enumerate();
            return chunks.for_each(|(i, chunk)| work(i, chunk));
        }
        data.par_chunks_mut(size)
            .enumerate()
            .with_min_len(self.least)
            .with_max_len(self.most)
            .for_each(|(i, chunk)| work(i, chunk));
    }

    /// As [`Self::pairs`], with room for numbers that a task keeps: it holds what the chunk before
    /// left there.
    pub(crate) fn pairs_with_room(
        self,
        data: &mut [f32],
        size: usize,
        (others, width): (&[f32], usize),
        work: &WorkWithRoom<'_>,
    ) {
        if !THREADS {
            let mut room = Default::default();
            let pairs = data.chunks_mut(size).zip(others.chunks(width));
            return pairs.for_each(|(chunk, other)| work(&mut room, chunk, other));
        }
        data.par_chunks_mut(size)
            .zip(others.par_chunks(width))
            .with_min_len(self.least)
            .with_max_len(self.most)
            .for_each_init(Default::default, |room, (chunk, other)| {
                work(room, chunk, other);
            });
    }

    /// As [`Self::chunks`], until an error, which is returned; of several, any.
    pub(crate) fn try_chunks(
        self,
        data: &mut [f32],
        size: usize,
        work: &(dyn Fn(usize, &mut [f32]) -> Result<()> + Sync),
    ) -> Result<()> {
        if !THREADS {
            let mut chunks = data.chunks_mut(size).enumerate();
            return chunks.try_for_each(|(i, chunk)| work(i, chunk));
        }
        data.par_chunks_mut(size)
            .enumerate()
            .with_min_len(self.least)
            .with_max_len(self.most)
            .try_for_each(|(i, chunk)| work(i, chunk))
    }

    /// Hands every chunk of `size` elements, with the chunk of `beside.1` elements of the same
    /// number in `beside.0`, to `work`; as many as both have.
    pub fn pairs<T: Send, U: Sync>(
        self,
        data: &mut [T],
        size: usize,
        (others, width): (&[U], usize),
        work: &(dyn Fn(&mut [T], &[U]) + Sync),
    ) {
        let chunks = others.len().div_ceil(width);
        let len = data.len().min(chunks.saturating_mul(size));
        self.chunks(&mut data[..len], size, &|i, chunk| {
            let from = i * width;
            work(chunk, &others[from..others.len().min(from + width)]);
        });
    }
}

/// Calls `work` once on every thread of the current pool, and waits for all.
pub(crate) fn everywhere(work: &(dyn Fn() + Sync)) {
    if THREADS {
        rayon::broadcast(|_| work());
    } else {
        work();
    }
}

fn own<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_in_its_place() {
        for shares in [usual(), alone(), at_least(64), at_most(8)] {
            let squares = shares.map(1000, &|i| i * i);
            assert!((0..1000).eq(squares.iter().map(|s| s.isqrt())));
            assert_eq!(shares.numbers(3, &|i| i as f64), [0.0, 1.0, 2.0]);
            let mut parts: Vec<_> = (0..1000).map(|i| (i, 0)).collect();
            shares.parts(&mut parts, &|i, part| part.1 += part.0 + i);
            assert!(parts.iter().all(|(i, twice)| 2 * i == *twice));
            shares.parts(&mut [(); 0], &|_, ()| unreachable!());
            assert!(shares.map(0, &|_| ()).is_empty());
        }
    }

    #[test]
    fn little_work_stays_with_the_thread_that_asks() {
        let here = std::thread::current().id();
        let is_here = |_: usize| std::thread::current().id() == here;
        for shares in [usual(), alone(), at_most(8)] {
            assert!(
                shares
                    .worth(WORTH - 1)
                    .map(1000, &is_here)
                    .iter()
                    .all(|&is| is)
            );
            // From outside of the pool its threads do all of it.
            assert!(!shares.worth(WORTH).map(1000, &is_here).iter().all(|&is| is));
        }
    }

    #[test]
    fn chunks_end_where_the_data_or_their_pairs_do() {
        let beside: Vec<u32> = (0..30).collect();
        for (len, size, width, filled) in [(35, 4, 3, 35), (100, 4, 3, 40), (9, 2, 7, 9)] {
            let mut data = vec![0; len];
            usual().pairs(&mut data, size, (&beside, width), &|data, beside| {
                data.fill(beside[0] as usize / width + 1);
            });
            let expected = (0..len).map(|i| if i < filled { i / size + 1 } else { 0 });
            assert!(expected.eq(data.iter().copied()), "{data:?}");
        }
    }
}
