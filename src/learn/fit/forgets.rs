//! Exponential forgetting: the weight of past rows decreases with every new row.

use super::partial::Basis;
use crate::{
    Error, Result,
    data::{check_half_life, kept_of},
    sums::Sums,
};

/// Key among the options of a basis, which must be equal for sums to merge.
const HALF_LIFE: &str = "half-life";

impl Basis {
    /// Sets the half-life of the sums; `None` changes nothing.
    pub(crate) fn forget_by(&mut self, half_life: Option<f64>) {
        let option = half_life.map(|rows| (HALF_LIFE.to_owned(), format!("{rows:?}")));
        self.options.extend(option);
    }

    /// Number of rows after which the weight of a row is halved; `None` without forgetting.
    #[doc(hidden)]
    pub fn half_life(&self) -> Result<Option<f64>> {
        let Some(text) = self.options.get(HALF_LIFE) else {
            return Ok(None);
        };
        let rows = text.parse::<f64>().ok();
        let rows = rows.filter(|&rows| check_half_life(rows).is_ok());
        let problem = || Error::format(format!("{text:?} is no half-life"));
        rows.map(Some).ok_or_else(problem)
    }

    /// Adds the sums of later rows; with forgetting, the earlier sums are first decayed by that
    /// number of rows. Errors as [`Sums::merge`] does.
    #[doc(hidden)]
    pub fn add_later<S: Sums>(&self, sums: &mut S, later: &S) -> Result<()> {
        if let Some(half_life) = self.half_life()? {
            sums.fade(kept_of(later.rows(), half_life));
        }
        sums.merge(later)
    }

    /// Subtracts the sums of rows. Errors as [`Sums::subtract`] does, and with forgetting, since
    /// the age of the rows is unknown.
    #[doc(hidden)]
    pub fn take_out<S: Sums>(&self, sums: &mut S, less: &S) -> Result<()> {
        if self.half_life()?.is_some() {
            return Err(Error::unsupported(
                "rows are forgotten by the half-life, and none is taken out; leave one of both out",
            ));
        }
        sums.subtract(less)
    }
}
