//! The penalty per sample: one that is given, or how it is chosen.

use crate::{Error, Result, data::KeptRows, model::HeldOut, settings::Settings};

/// Rows that are left out in turn where nobody says how many.
const ROWS: usize = 4096;

/// Residuals that are enough to tell penalties apart: rows of many targets need not be as many.
const RESIDUALS: usize = 1 << 18;

/// Bytes of kept rows, unless that would be too few of them.
const BYTES: usize = 64 << 20;

/// The fewest rows for either.
const LEAST_ROWS: usize = 256;

/// Rows that are left out in turn of a fit with one penalty, which says what it is worth.
const ROWS_OF_ONE: usize = 512;

/// The penalty per sample of ridge regression and of kernel machines.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Lambda {
    /// The best of [`Self::auto`] by leave-one-out errors of some rows, at most 4096, which are
    /// kept as the rows are summed: no row is read again, and sums of parts choose what those of
    /// all rows would. Up to 2048 features one eigendecomposition gives the errors at every
    /// penalty; of more features a walk factors a matrix for each penalty that it looks at.
    ///
    /// Of fewer rows than features all are left out, by a walk in their dual. Rows that are equal
    /// are left out together, as one row of their weight.
    ///
    /// Kernel machines, of which it is the default too, keep at most 2048 rows and go by the kernel
    /// of these.
    ///
    /// It is 1e-6 where nothing is stored to choose by: for conjugate gradients, maps with binning,
    /// a dual whose features are computed again, and beside a [`Search`](crate::models::Search) and
    /// leaves.
    #[default]
    Usual,
    /// This one.
    Fixed(f64),
    /// The one of these with the smallest error on rows that its fit has not seen: all of them
    /// from one eigendecomposition (leave-one-out) or one a fold.
    Best {
        /// The penalties to choose from.
        of: Vec<f64>,
        /// Whose errors decide.
        by: HeldOut,
    },
}

impl Lambda {
    /// The penalty where none is given or chosen.
    pub(crate) const USUAL: f64 = 1e-6;

    /// The best of 1e-9, 10^-8.5, ..., 1e-1.
    pub fn auto(by: HeldOut) -> Self {
        Self::Best {
            of: (-18..=-2)
                .map(|i| 10_f64.powf(f64::from(i) / 2.0))
                .collect(),
            by,
        }
    }

    /// With what `fit --lambda` and its kin would say; nothing of the usual choice.
    pub(in crate::learn) fn said(&self, settings: Settings) -> Settings {
        let (of, by) = match self {
            Self::Usual => return settings,
            Self::Fixed(lambda) => return settings.number("lambda", *lambda),
            Self::Best { of, by } => (of, by),
        };
        let settings = if *self == Self::auto(*by) {
            settings.text("lambda", "auto")
        } else {
            settings.numbers("lambda", of)
        };
        match by {
            HeldOut::Folds(folds) => settings.text("lambda-by", "kfold").text("folds", folds),
            _ => settings,
        }
    }

    /// What is given, or the usual penalty where one is to be chosen and cannot be.
    pub(crate) fn settled(&self) -> Self {
        match self {
            Self::Usual => Self::Fixed(Self::USUAL),
            given => given.clone(),
        }
    }

    /// The penalties that were given, if any were.
    pub(crate) fn given(&self) -> Option<&[f64]> {
        match self {
            Self::Usual => None,
            Self::Fixed(lambda) => Some(std::slice::from_ref(lambda)),
            Self::Best { of, .. } => Some(of),
        }
    }

    /// The penalties that a trial of a search takes.
    pub(in crate::learn) fn tried(&self) -> Vec<f64> {
        match self.settled() {
            Self::Best { of, .. } => of,
            Self::Fixed(lambda) => vec![lambda],
            Self::Usual => vec![Self::USUAL],
        }
    }

    /// The one penalty. Errors with [`Error::Unsupported`] where several are given.
    pub(in crate::learn) fn fixed(&self) -> Result<f64> {
        match self.settled() {
            Self::Fixed(lambda) => Ok(lambda),
            _ => Err(Error::unsupported("this takes one penalty, not several")),
        }
    }

    /// Whether sums, with rows that are kept beside them, are all that it takes.
    pub(in crate::learn) fn goes_by_sums(&self) -> bool {
        let by_rows = |by: &HeldOut| matches!(by, HeldOut::LeaveSomeOut(_));
        !matches!(self, Self::Best { by, .. } if !by_rows(by))
    }

    /// The penalties that are chosen among by rows that are each left out alone.
    pub(in crate::learn) fn by_rows(&self) -> Option<Vec<f64>> {
        let by_folds = matches!(
            self,
            Self::Best {
                by: HeldOut::Folds(_),
                ..
            }
        );
        self.candidates().filter(|_| !by_folds)
    }

    /// The penalties that are chosen among, if there are several.
    pub(in crate::learn) fn candidates(&self) -> Option<Vec<f64>> {
        match self {
            Self::Fixed(_) => None,
            Self::Best { of, .. } => Some(of.clone()),
            Self::Usual => Self::auto(HeldOut::LeaveOneOut).candidates(),
        }
    }

    /// How many rows are kept to choose by, or to be left out of a fit with one penalty, of so many
    /// columns and outputs.
    pub(in crate::learn) fn rows_kept(&self, size: (usize, usize)) -> Option<usize> {
        match self {
            Self::Usual => Some(most_rows(size, ROWS)),
            Self::Fixed(_) => Some(rows_left_out(size)),
            Self::Best {
                by: HeldOut::LeaveSomeOut(most),
                ..
            } => Some(*most),
            Self::Best { .. } => None,
        }
    }
}

/// Rows that are kept of so many columns and outputs, and at most.
fn most_rows((columns, outputs): (usize, usize), most: usize) -> usize {
    let enough = RESIDUALS / outputs.max(1);
    let fitting = BYTES / KeptRows::row_bytes((columns, outputs));
    enough.min(fitting).clamp(LEAST_ROWS, most)
}

/// Rows of so many columns and outputs that are left out in turn of a fit that chooses nothing by
/// them.
pub(in crate::learn) fn rows_left_out(size: (usize, usize)) -> usize {
    most_rows(size, ROWS_OF_ONE)
}

impl From<f64> for Lambda {
    fn from(lambda: f64) -> Self {
        Self::Fixed(lambda)
    }
}
