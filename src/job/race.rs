//! Preparation and bandwidth chosen by rows left out, before anything is drawn.

mod deciding;
mod ground;
mod rounds;
#[cfg(test)]
mod tests;

use super::Job;
use crate::{
    Result, Run,
    data::{KeptRows, Survey},
    features::{Bandwidth, MapBuilder, Standardize},
    kernels::{Domain, Kernel},
    models::Fit,
    normal::Targets,
};
use std::fmt;

/// Rows that decide by being left out in turn, at most.
const ROWS: usize = 512;
/// Rows that are kept to hold a part of them out, where there are many, and the bytes they may
/// take.
const MORE_ROWS: (usize, usize) = (4096, 4 << 20);

/// Bytes that the rows left out in turn may take as a matrix, and rows below which the rule stays:
/// of columns by the ten thousand no distance tells much.
const WIDE: (usize, usize) = (32 << 20, 128);

/// A preparation of columns with a lengthscale, and how well it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// How columns are prepared.
    pub standardize: Standardize,
    /// How wide the kernel is after that: a rule, or a number.
    pub bandwidth: Bandwidth,
    /// The lengthscale over the median distance of the rows; `None` for a rule.
    pub multiple: Option<f64>,
    /// The least mean squared error of rows left out, over the variance of the targets; infinite
    /// where there was none.
    pub error: f64,
    /// How many rows that is of: each left out in turn up to 512, of more a quarter at once.
    pub rows: usize,
}

/// What was looked at, and what was chosen: by exact leave-one-out errors of kernel ridge
/// regression with an intercept, on the 512 rows whose contents have the smallest hashes. Where
/// more are kept, up to 4,096, the winner then meets narrower kernels, which need the rows: by the
/// errors of a quarter of these, held out.
///
/// The same rows give the same choice in any order, in chunks of any size, in parts and on any
/// device. What is asked for by no option is a candidate, too, and counts where nothing is better
/// by one per cent.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// How many rows decided.
    pub rows: usize,
    /// The usual, then the others.
    pub candidates: Vec<Candidate>,
    /// Which was chosen.
    pub chosen: usize,
}

impl Race {
    /// What was chosen.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.chosen]
    }

    /// What would have been taken without looking: gamma by scale.
    pub fn usual(&self) -> &Candidate {
        &self.candidates[0]
    }
}

/// Whether the columns and the bandwidth of a map may be chosen so: it is made of a kernel of
/// differences and takes every number.
fn suits(map: &dyn MapBuilder) -> bool {
    let of_differences = |kernel: &dyn Kernel| kernel.is_shift_invariant();
    map.kernel()
        .is_some_and(|kernel| of_differences(kernel.as_ref()))
        && map.is_shift_invariant()
        && map.domain() == Domain::Any
}

impl Job<&dyn Fit> {
    /// Whether preparation and bandwidth are left to the rows: the bandwidth is
    /// [`Bandwidth::Chosen`], and nothing else chooses. Columns are prepared as was said, where
    /// it was.
    pub fn races(&self) -> bool {
        self.bandwidth() == Bandwidth::Chosen
            && self.search.is_none()
            && self.leaves.is_none()
            && suits(self.preparation.map.as_ref())
    }

    /// Rows that [`Self::settled`] looks at, of a source with so many columns and targets.
    pub fn deciding_rows(&self, (columns, targets): (usize, usize)) -> usize {
        if !self.races() || targets == 0 {
            return 0;
        }
        let (all_bytes, least) = WIDE;
        match all_bytes / (size_of::<f64>() * columns.max(1)) {
            few if few < least => 0,
            few if few < ROWS => few,
            _ => {
                let (most, bytes) = MORE_ROWS;
                (bytes / KeptRows::row_bytes((columns, targets))).clamp(ROWS, most)
            }
        }
    }

    /// The same job with preparation and bandwidth as the rows decide, and what was looked at:
    /// `None` where they are given, or there is nothing to decide by. Then a bandwidth that was to
    /// be chosen is [`Bandwidth::Scale`].
    ///
    /// `run` hears of each candidate. Errors with [`Error::Numerical`](crate::Error::Numerical) on
    /// kernel values that are not finite.
    pub fn settled(
        &self,
        survey: &Survey,
        targets: &Targets,
        run: &Run,
    ) -> Result<(Self, Option<Race>)> {
        let mut job = self.clone();
        if self.bandwidth() != Bandwidth::Chosen {
            return Ok((job, None));
        }
        let race = match &survey.deciding {
            Some(kept) if self.races() => {
                let asked = rounds::Asked {
                    map: self.preparation.map.as_ref(),
                    standardize: self.preparation.standardize,
                    penalties: self.learner.penalties(),
                    run,
                };
                rounds::race(asked, (survey, kept), targets)?
            }
            _ => None,
        };
        job.preparation.bandwidth = Some(Bandwidth::Scale);
        if let Some(race) = &race {
            let chosen = race.chosen();
            job.preparation.bandwidth = Some(chosen.bandwidth.clone());
            job.preparation.standardize = chosen.standardize;
        }
        Ok((job, race))
    }
}

/// `on 512 rows: standardised, sigma 0.85 (0.5 medians); leave-one-out R2 0.930; gamma by scale
/// 0.460`; with more rows `R2 of a quarter held out`.
impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chosen, usual) = (self.chosen(), self.usual());
        write!(f, "on {} rows: ", self.rows)?;
        match chosen.multiple {
            None => f.write_str("gamma by scale")?,
            Some(multiple) => {
                let columns = match chosen.standardize {
                    Standardize::Yes => "standardised",
                    _ => "columns as they are",
                };
                write!(f, "{columns}, {} ({multiple} medians)", chosen.bandwidth)?;
            }
        }
        let of = match self.rows > ROWS {
            true => "R2 of a quarter held out",
            false => "leave-one-out R2",
        };
        write!(f, "; {of} {:.3}", 1.0 - chosen.error)?;
        match self.chosen {
            0 => Ok(()),
            _ => write!(f, "; gamma by scale {:.3}", 1.0 - usual.error),
        }
    }
}
