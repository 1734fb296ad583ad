//! Which rows a split takes.

use crate::{
    data::{Folds, Part, grouped, parting::hash},
    error::Error,
};
use std::sync::Arc;

/// Which rows are taken.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    /// Those of a part at this test fraction.
    Part(Part, f64),
    /// As [`Self::Part`], by the hash of a row's features in the place of its number.
    Contents(Part, f64),
    /// Those whose hash leaves this remainder by the number of folds.
    Fold(u64, u64),
    /// Those of a part of a fold, whatever their hash.
    Of(Folds, usize, Part),
    /// These, which whole groups decide on.
    Groups(Arc<[bool]>),
}

impl Rule {
    /// The same by whole groups, where there are enough of them.
    pub(super) fn by(self, groups: &[u32]) -> Self {
        let takes: Option<Arc<[bool]>> = match self {
            Self::Part(part, fraction) | Self::Contents(part, fraction) => {
                let held_out = grouped::held_out(groups, fraction);
                held_out.map(|held| held.iter().map(|&h| h == (part == Part::Test)).collect())
            }
            Self::Fold(k, folds) => {
                let folds = grouped::folds(groups, folds as usize);
                folds.map(|folds| folds.iter().map(|&fold| fold as u64 == k).collect())
            }
            Self::Of(..) | Self::Groups(_) => None,
        };
        takes.map_or(self, Self::Groups)
    }

    pub(super) fn takes(&self, seed: u64, row: u64) -> bool {
        match self {
            Self::Fold(k, folds) => hash(seed, row) % folds == *k,
            Self::Part(part, fraction) | Self::Contents(part, fraction) => {
                let uniform = (hash(seed, row) >> 11) as f64 * 2_f64.powi(-53);
                (uniform < *fraction) == (*part == Part::Test)
            }
            Self::Of(folds, k, part) => folds.takes(row, *k, *part) == Some(true),
            Self::Groups(takes) => takes.get(row as usize) == Some(&true),
        }
    }

    /// The rows that there have to be, if that is known.
    pub(super) fn all_rows(&self) -> Option<u64> {
        match self {
            Self::Of(folds, ..) => Some(folds.rows() as u64),
            Self::Groups(takes) => Some(takes.len() as u64),
            Self::Part(..) | Self::Contents(..) | Self::Fold(..) => None,
        }
    }

    /// The error of a part without rows.
    pub(super) fn no_rows(&self) -> Error {
        Error::parameter(match self {
            Rule::Of(_, k, part) => format!(
                "the {} of fold {k} has no rows; use fewer folds",
                named(*part)
            ),
            Rule::Groups(_) => "a part by groups has no rows; give more groups".to_owned(),
            Rule::Fold(k, folds) => format!(
                "fold {k} of {folds} has no rows; use fewer folds or another seed, or give more \
                 rows"
            ),
            Rule::Part(part, fraction) | Rule::Contents(part, fraction) => format!(
                "the {} part has no rows at test fraction {fraction}; choose another fraction or \
                 seed, or give more rows",
                named(*part)
            ),
        })
    }
}

/// What a part is called.
fn named(part: Part) -> &'static str {
    match part {
        Part::Test => "test",
        Part::Train => "training",
    }
}
