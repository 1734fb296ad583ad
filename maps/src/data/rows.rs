//! What every source does with [`Rows`]: build, slice, pick, join, check.

use super::Rows;
use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis, s};
use std::{borrow::Cow, ops::Range, path::Path};

/// 2^53: f64 holds every whole number up to here.
#[cfg(feature = "files")]
pub(in crate::data) const EXACT: f64 = 9_007_199_254_740_992.0;

impl Rows {
    /// Number of rows.
    pub fn nrows(&self) -> usize {
        match self {
            Self::F32(x) => x.nrows(),
            Self::F64(x) => x.nrows(),
        }
    }

    /// Number of columns, d.
    pub fn ncols(&self) -> usize {
        match self {
            Self::F32(x) => x.ncols(),
            Self::F64(x) => x.ncols(),
        }
    }

    /// The rows in double precision, `[rows, d]`, without copying where they are so already.
    pub fn into_f64(self) -> Array2<f64> {
        match self {
            Self::F32(x) => x.mapv(f64::from),
            Self::F64(x) => x,
        }
    }

    /// A copy of the rows of `range`. Panics if the range reaches beyond the last row.
    pub fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::F32(x) => Self::F32(x.slice(s![range, ..]).to_owned()),
            Self::F64(x) => Self::F64(x.slice(s![range, ..]).to_owned()),
        }
    }

    /// The rows of `range`, copied unless they are all. Panics if the range reaches beyond the last
    /// row.
    pub(crate) fn part(&self, range: Range<usize>) -> Cow<'_, Self> {
        if range == (0..self.nrows()) {
            Cow::Borrowed(self)
        } else {
            Cow::Owned(self.slice(range))
        }
    }

    /// A copy of the rows `indices`, in that order. Panics if an index is beyond the last row.
    pub fn select(&self, indices: &[usize]) -> Self {
        match self {
            Self::F32(x) => Self::F32(x.select(Axis(0), indices)),
            Self::F64(x) => Self::F64(x.select(Axis(0), indices)),
        }
    }

    /// Writes row `i` into `out`, which must have length d; panics otherwise.
    #[doc(hidden)]
    pub fn copy_row(&self, i: usize, out: &mut [f64]) {
        match self {
            Self::F32(x) => {
                assert_eq!(out.len(), x.ncols());
                for (to, &from) in out.iter_mut().zip(x.row(i)) {
                    *to = f64::from(from);
                }
            }
            Self::F64(x) => {
                assert_eq!(out.len(), x.ncols());
                for (to, &from) in out.iter_mut().zip(x.row(i)) {
                    *to = from;
                }
            }
        }
    }

    /// `parts` one below the other; in double precision if any part is. Errors with
    /// [`Error::Shape`] if the parts differ in their columns or there is none.
    #[doc(hidden)]
    pub fn stack(mut parts: Vec<Self>) -> Result<Self> {
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let single: Option<Vec<_>> = (parts.iter())
            .map(|rows| match rows {
                Self::F32(x) => Some(x.view()),
                Self::F64(_) => None,
            })
            .collect();
        if let Some(views) = single {
            return Ok(Self::F32(stack(&views)?));
        }
        let parts: Vec<_> = parts.into_iter().map(Self::into_f64).collect();
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        Ok(Self::F64(stack(&views)?))
    }

    /// Errors with [`Error::Data`] on a NaN or an infinity, with its row and column.
    #[doc(hidden)]
    pub fn require_finite(&self) -> Result<()> {
        match self.first_non_finite() {
            None => Ok(()),
            Some((i, j, value)) => Err(not_finite(Path::new("X"), "", i, j, value)),
        }
    }

    /// The first NaN or infinity in reading order: row, column, value.
    pub(super) fn first_non_finite(&self) -> Option<(usize, usize, f64)> {
        match self {
            Self::F32(x) => {
                first_non_finite(x, |v| v.is_finite()).map(|(i, j, v)| (i, j, f64::from(v)))
            }
            Self::F64(x) => first_non_finite(x, |v| v.is_finite()),
        }
    }
}

/// `parts` one below the other, `[sum of rows, d]`.
pub(super) fn stack<T: Clone>(parts: &[ArrayView2<'_, T>]) -> Result<Array2<T>> {
    ndarray::concatenate(Axis(0), parts)
        .map_err(|_| Error::shape("chunks of one source differ in their columns"))
}

/// The first element of `x` that is not `finite`, in reading order: row, column, value.
pub(super) fn first_non_finite<T: Copy>(
    x: &Array2<T>,
    finite: impl Fn(T) -> bool,
) -> Option<(usize, usize, T)> {
    // Without an early exit inside a block the test is vectorised: it costs little beside reading
    // the data.
    let all = |block: &[T]| block.iter().fold(true, |ok, &v| ok & finite(v));
    if x.as_slice()
        .is_some_and(|values| values.chunks(1024).all(all))
    {
        return None;
    }
    x.indexed_iter()
        .find(|&(_, &v)| !finite(v))
        .map(|((i, j), &v)| (i, j, v))
}

/// The error for a value that is not finite, at `row` and `column` of the array in `path`, both
/// counted from 0.
pub(super) fn not_finite(path: &Path, array: &str, row: usize, column: usize, value: f64) -> Error {
    let place = format!("{array}row {row}, column {column} (counted from 0)");
    not_finite_at(path, &place, value)
}

/// The error for a value that is not finite, at `place` in `path`.
pub(super) fn not_finite_at(path: &Path, place: &str, value: f64) -> Error {
    let value = if value.is_nan() { "NaN" } else { "infinite" };
    Error::data(
        path,
        format!("{place} is {value}; remove the row or fill in a finite value"),
    )
}

/// `x` in standard (C, row-major) layout, without copying where it is so already.
fn standard<T: Clone>(x: Array2<T>) -> Array2<T> {
    if x.is_standard_layout() {
        x
    } else {
        x.as_standard_layout().into_owned()
    }
}

macro_rules! from_arrays {
    ($($value:ty => $variant:ident),*) => {$(
        /// Any layout: Fortran order is copied to row-major.
        impl From<Array2<$value>> for Rows {
            fn from(x: Array2<$value>) -> Self {
                Self::$variant(standard(x))
            }
        }
        /// Copies the view, row-major.
        impl From<ArrayView2<'_, $value>> for Rows {
            fn from(x: ArrayView2<'_, $value>) -> Self {
                Self::$variant(x.as_standard_layout().into_owned())
            }
        }
        /// Copies the array, row-major.
        impl From<&Array2<$value>> for Rows {
            fn from(x: &Array2<$value>) -> Self {
                x.view().into()
            }
        }
    )*};
}
from_arrays!(f32 => F32, f64 => F64);
