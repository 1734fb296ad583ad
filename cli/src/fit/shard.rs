//! A part of the rows, whose sums merge with those of the others.

use bochner::solve::ADD_EVERY;
use std::{fmt, str::FromStr};

/// Part `index` of `count`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shard {
    pub(crate) index: u64,
    pub(crate) count: u64,
}

impl Shard {
    /// All rows.
    pub(super) const WHOLE: Self = Self { index: 1, count: 1 };

    /// Its rows among all, from the first to before the last. Where each has so many, they are cut
    /// where sums go to the total: merged, they have the bits of one process then.
    pub(super) fn rows(self, all: u64) -> (u64, u64) {
        let whole = if all / self.count >= ADD_EVERY {
            ADD_EVERY
        } else {
            1
        };
        let at = |index: u64| {
            let row = u128::from(all) * u128::from(index) / u128::from(self.count);
            let row = u64::try_from(row).unwrap_or(all);
            if index == self.count {
                all
            } else {
                row.saturating_add(whole / 2) / whole * whole
            }
        };
        (at(self.index - 1), at(self.index))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || "must be I/N, such as 2/8: part I of N, I from 1 to N".to_owned();
        let (index, count) = text.split_once('/').ok_or_else(problem)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| problem());
        let (index, count) = (number(index)?, number(count)?);
        if index >= 1 && index <= count {
            Ok(Self { index, count })
        } else {
            Err(problem())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_all_rows_once() {
        let (few, many) = (3 * ADD_EVERY - 1, (1 << 63) + 1);
        for (all, count) in [
            (10, 3),
            (2, 5),
            (0, 2),
            (few, 3),
            (few + 1, 3),
            (many, 7),
            (many, 1),
        ] {
            let is_cut = all / count >= ADD_EVERY;
            let most = all / count + 1 + if is_cut { ADD_EVERY } else { 0 };
            let mut next = 0;
            for index in 1..=count {
                let (first, end) = Shard { index, count }.rows(all);
                assert_eq!(first, next);
                assert!(!is_cut || first.is_multiple_of(ADD_EVERY));
                assert!(end - first <= most, "{all} {count}: {first} to {end}");
                next = end;
            }
            assert_eq!(next, all);
        }
        assert_eq!("2/8".parse(), Ok(Shard { index: 2, count: 8 }));
        for text in ["0/2", "3/2", "2", "a/b", "-1/2", "1/0", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
