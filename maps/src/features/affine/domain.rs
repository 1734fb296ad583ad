//! Values that a kernel does not take.

use super::Affine;
use crate::{Error, Result, data::Rows, error::Remedy, kernels::Domain};
use ndarray::Array2;

impl Affine {
    /// Errors with [`Error::Parameter`] on the first value outside of the domain; `first` is the
    /// number of the first of these rows.
    pub(in crate::features) fn admit(&self, rows: &Rows, first: usize) -> Result<()> {
        if self.domain == Domain::Any {
            return Ok(());
        }
        match rows {
            Rows::F32(x) => self.admit_rows(x, first),
            Rows::F64(x) => self.admit_rows(x, first),
        }
    }

    fn admit_rows<T: Copy + Into<f64>>(&self, x_nd: &Array2<T>, first: usize) -> Result<()> {
        for (i, row) in x_nd.rows().into_iter().enumerate() {
            for (j, &x) in row.iter().enumerate() {
                self.admit_value(x.into(), first + i, j)?;
            }
        }
        Ok(())
    }

    /// As [`Self::admit`], of one value.
    pub(in crate::features) fn admit_value(&self, x: f64, row: usize, column: usize) -> Result<()> {
        let straight = self.straightened(x, column);
        let u = (straight - self.center[column]) * self.scale[column];
        if self.domain.holds(u) {
            return Ok(());
        }
        let scaled = if u == x {
            String::new()
        } else {
            format!(", {u} after scaling")
        };
        let problem = format!(
            "row {row}, column {column} (counted from 0) holds {x}{scaled}; the kernel takes values \
             of {}",
            self.domain
        );
        Err(Error::parameter(problem).help(Remedy::words(
            "leave the column out or shift it, and do not standardise",
        )))
    }
}
