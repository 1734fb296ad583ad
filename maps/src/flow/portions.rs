//! How many rows are worked on at a time, and what happens to those for which a device has no room.

use super::plan::fewer_rows;
use crate::{Error, Result};
use std::ops::Range;

/// How many rows are worked on at a time: as planned, or a quarter from when a device first runs
/// out of memory.
#[derive(Debug)]
pub(crate) struct Portions {
    rows: usize,
    planned: bool,
}

impl Portions {
    /// At first as planned.
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            rows,
            planned: true,
        }
    }

    /// The most rows that are worked on at a time from now on.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes a quarter of `rows` from now on if `error` is that a device has no room for those,
    /// once; hands any other error back.
    fn shrink(&mut self, rows: usize, error: Error) -> Result<()> {
        // Buffers for more rows than there are can be for those that there are.
        let fewer = fewer_rows(rows).or((rows < self.rows).then_some(rows));
        match (&error, fewer) {
            (Error::OutOfMemory { .. }, Some(fewer)) if self.planned => {
                log::warn!(
                    "chunks of {fewer} rows instead of {rows}: {}",
                    error.problem()
                );
                (self.rows, self.planned) = (fewer, false);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Works on the rows `0 .. all` in ranges. `prepare` does everything that needs memory and
    /// hears the most rows that a range can have from then on; a range for which it finds no room
    /// comes again in smaller ones. What it makes goes to `count`, whose errors are final: there
    /// rows are counted, and neither come again nor are left out. Both work on `on`.
    pub(crate) fn for_each_range<S: ?Sized, R>(
        &mut self,
        all: usize,
        on: &mut S,
        mut prepare: impl FnMut(&mut S, Range<usize>, usize) -> Result<R>,
        mut count: impl FnMut(&mut S, Range<usize>, R) -> Result<()>,
    ) -> Result<()> {
        let mut from = 0;
        while from < all {
            let range = from..all.min(from + self.rows);
            match prepare(on, range.clone(), self.rows) {
                Ok(made) => {
                    from = range.end;
                    count(on, range, made)?;
                }
                Err(error) => self.shrink(range.len(), error)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Error {
        Error::OutOfMemory {
            what: "a matrix".into(),
            needed: "2 GB".into(),
            held: "1 GB".into(),
        }
    }

    #[test]
    fn rows_without_room_come_again_in_quarters() {
        let mut portions = Portions::new(64);
        let (mut seen, mut room) = (Vec::new(), 64);
        for rows in [64, 64, 40] {
            let prepare = |_: &mut Vec<usize>, range: Range<usize>, most: usize| {
                assert!(range.len() <= most);
                if most > room {
                    return Err(full());
                }
                room = 16;
                Ok(range.len())
            };
            let count = |seen: &mut Vec<usize>, range: Range<usize>, rows: usize| {
                assert_eq!(range.len(), rows);
                seen.extend(range);
                Ok(())
            };
            portions
                .for_each_range(rows, &mut seen, prepare, count)
                .unwrap();
        }
        let expected: Vec<usize> = (0..64).chain(0..64).chain(0..40).collect();
        assert_eq!(seen, expected);
        assert_eq!(portions.rows(), 16);
    }

    /// What `rows` rows come to when preparing and counting do this, and how often each was called.
    fn tried(
        (planned, rows): (usize, usize),
        prepare: impl Fn(usize) -> Result<()>,
        count: impl Fn() -> Result<()>,
    ) -> (Result<()>, Vec<usize>, usize) {
        let mut calls = (Vec::new(), 0);
        let result = Portions::new(planned).for_each_range(
            rows,
            &mut calls,
            |(most, _), _, rows| {
                most.push(rows);
                prepare(rows)
            },
            |(_, counted), _, ()| {
                *counted += 1;
                count()
            },
        );
        (result, calls.0, calls.1)
    }

    #[test]
    fn a_second_want_of_memory_and_any_other_fault_are_errors() {
        let (error, most, _) = tried((64, 64), |_| Err(full()), || Ok(()));
        assert!(matches!(error, Err(Error::OutOfMemory { .. })));
        assert_eq!(most, [64, 16]);
        let other = || Err(Error::device("other"));
        let (error, most, _) = tried((64, 64), |_| other(), || Ok(()));
        assert_eq!(error.unwrap_err().to_string(), "other");
        assert_eq!(most.len(), 1);
        // Once rows are counted they do not come again.
        let (error, most, counted) = tried((64, 64), |_| Ok(()), || Err(full()));
        assert!(matches!(error, Err(Error::OutOfMemory { .. })));
        assert_eq!((most.len(), counted), (1, 1));
        // Buffers for what there is, where they were planned for more.
        let room_for_9 = |rows| if rows > 9 { Err(full()) } else { Ok(()) };
        let (few, most, counted) = tried((64, 9), room_for_9, || Ok(()));
        few.unwrap();
        assert_eq!((most, counted), (vec![64, 9], 1));
        // Eight rows are the least.
        let (error, ..) = tried((16, 16), |_| Err(full()), || Ok(()));
        assert!(matches!(error, Err(Error::OutOfMemory { .. })));
    }
}
