//! Sums that forget: rows of the past count for less with every row that comes.

use super::partial::Basis;
use crate::{
    Error, Result,
    data::{check_half_life, kept_of},
    sums::Sums,
};

/// Among the options of a basis, of which all has to be alike for sums to merge.
const HALF_LIFE: &str = "half-life";

impl Basis {
    /// Sums forget by this half-life, if there is one, from then on.
    pub(crate) fn forget_by(&mut self, half_life: Option<f64>) {
        let option = half_life.map(|rows| (HALF_LIFE.to_owned(), format!("{rows:?}")));
        self.options.extend(option);
    }

    /// Rows after which a row counts for half, where sums forget.
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

    /// Adds the sums of rows that came later: where sums forget, those before get older by as many.
    /// Errors as [`Sums::merge`] does.
    #[doc(hidden)]
    pub fn add_later<S: Sums>(&self, sums: &mut S, later: &S) -> Result<()> {
        if let Some(half_life) = self.half_life()? {
            sums.fade(kept_of(later.rows(), half_life));
        }
        sums.merge(later)
    }

    /// Takes the sums of rows out again. Errors as [`Sums::subtract`] does, and where sums forget:
    /// nobody knows how old the rows are.
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
