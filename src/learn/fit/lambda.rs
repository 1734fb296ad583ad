//! The penalty per sample: fixed, or how it is chosen.

use crate::{Error, Result, data::KeptRows, model::HeldOut, settings::Settings};

/// Default number of rows for leave-one-out errors that choose a penalty.
const ROWS: usize = 4096;

/// Residuals (rows times outputs) that suffice to compare penalties: with many targets fewer rows
/// do.
const RESIDUALS: usize = 1 << 18;

/// Bytes of kept rows, unless this gives fewer than `LEAST_ROWS`.
const BYTES: usize = 64 << 20;

/// Minimum number of rows under both limits.
const LEAST_ROWS: usize = 256;

/// Rows for the leave-one-out error of a fit with a fixed penalty, which only reports the quality
/// of the fit.
const ROWS_OF_ONE: usize = 512;

/// The penalty per sample of ridge regression and of kernel machines.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Lambda {
    /// The best of [`Self::auto`] by leave-one-out errors of a sample of at most 4096 rows. The
    /// sample is kept while rows are summed, so that no row is read twice, and merged sums of parts
    /// choose the same penalty as sums of all rows. Up to 2048 features, one eigendecomposition
    /// gives the errors at every penalty; for more features, a search along the penalties factors a
    /// matrix for each penalty that it evaluates.
    ///
    /// With fewer rows than features, leave-one-out errors of all rows are computed in the dual.
    /// Equal rows count as one row of their total weight and are left out together.
    ///
    /// It is also the default of kernel machines, which keep at most 2048 rows and use the kernel
    /// matrix of these.
    ///
    /// It is 1e-6 if there are no stored rows to choose by: for conjugate gradients, for maps with
    /// binning, in a dual that recomputes features, and with a [`Search`](crate::models::Search) or
    /// leaves.
    #[default]
    Usual,
    /// This penalty.
    Fixed(f64),
    /// The candidate with the smallest hold-out error: one eigendecomposition for leave-one-out
    /// errors, or one for each fold.
    Best {
        /// Candidate penalties.
        of: Vec<f64>,
        /// The hold-out errors that decide.
        by: HeldOut,
    },
}

impl Lambda {
    /// Default penalty if none is given or chosen.
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

    /// Adds `--lambda` and related options to the settings; nothing for the default.
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

    /// A given penalty, or the default for choices that are not possible here.
    pub(crate) fn settled(&self) -> Self {
        match self {
            Self::Usual => Self::Fixed(Self::USUAL),
            given => given.clone(),
        }
    }

    /// The given penalties, if any.
    pub(crate) fn given(&self) -> Option<&[f64]> {
        match self {
            Self::Usual => None,
            Self::Fixed(lambda) => Some(std::slice::from_ref(lambda)),
            Self::Best { of, .. } => Some(of),
        }
    }

    /// The penalties that a trial of a search evaluates.
    pub(in crate::learn) fn tried(&self) -> Vec<f64> {
        match self.settled() {
            Self::Best { of, .. } => of,
            Self::Fixed(lambda) => vec![lambda],
            Self::Usual => vec![Self::USUAL],
        }
    }

    /// The single penalty. Errors with [`Error::Unsupported`] if several are given.
    pub(in crate::learn) fn fixed(&self) -> Result<f64> {
        match self.settled() {
            Self::Fixed(lambda) => Ok(lambda),
            _ => Err(Error::unsupported("this takes one penalty, not several")),
        }
    }

    /// Whether sums and the rows kept with them suffice to choose the penalty.
    pub(in crate::learn) fn goes_by_sums(&self) -> bool {
        let by_rows = |by: &HeldOut| matches!(by, HeldOut::LeaveSomeOut(_));
        !matches!(self, Self::Best { by, .. } if !by_rows(by))
    }

    /// The candidate penalties if leave-one-out errors choose among them.
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

    /// The candidate penalties, if there are several.
    pub(in crate::learn) fn candidates(&self) -> Option<Vec<f64>> {
        match self {
            Self::Fixed(_) => None,
            Self::Best { of, .. } => Some(of.clone()),
            Self::Usual => Self::auto(HeldOut::LeaveOneOut).candidates(),
        }
    }

    /// Number of rows to keep, to choose a penalty or to report the leave-one-out error of a fixed
    /// one; `size` is the number of columns and outputs.
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

/// Number of rows to keep for `columns` and `outputs`, at most `most`.
fn most_rows((columns, outputs): (usize, usize), most: usize) -> usize {
    let enough = RESIDUALS / outputs.max(1);
    let fitting = BYTES / KeptRows::row_bytes((columns, outputs));
    enough.min(fitting).clamp(LEAST_ROWS, most)
}

/// Number of rows of the leave-one-out error that chooses nothing; `size` is the number of columns
/// and outputs.
pub(in crate::learn) fn rows_left_out(size: (usize, usize)) -> usize {
    most_rows(size, ROWS_OF_ONE)
}

impl From<f64> for Lambda {
    fn from(lambda: f64) -> Self {
        Self::Fixed(lambda)
    }
}
