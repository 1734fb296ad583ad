//! Sparse rows as maps take them.

use super::{Affine, affine::LARGEST};
use crate::{Error, Result, data::SparseRows, error::Remedy, simd::Entries};

/// Sparse rows after [`Affine`]: u = `base_d` + entries, for an affine map takes zeros to
/// `-center * scale`, the same for all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseInput {
    /// What a row of zeros becomes, `[d]`.
    pub base_d: Vec<f32>,
    /// Where each row begins among the entries, and where the last one ends, `[n + 1]`.
    pub starts: Vec<usize>,
    /// The column of each entry.
    pub columns: Vec<u32>,
    /// What each entry adds to its place.
    pub values: Vec<f32>,
}

impl SparseInput {
    pub(super) fn entries(&self) -> Entries<'_> {
        Entries {
            starts: &self.starts,
            columns: &self.columns,
            values: &self.values,
        }
    }
}

impl Affine {
    /// Applies the map to sparse rows. Errors when the columns differ, and on values that are too
    /// large.
    #[doc(hidden)]
    pub fn sparse(&self, rows: &SparseRows) -> Result<SparseInput> {
        if rows.ncols() != self.columns() {
            return Err(Error::shape(format!(
                "the data has {} columns, the map takes {}",
                rows.ncols(),
                self.columns()
            )));
        }
        if !self.is_affine() {
            return Err(Error::unsupported(
                "logarithms and ranks of sparse rows are not sparse",
            ));
        }
        let (starts, columns, values) = rows.parts();
        for (row, ends) in starts.windows(2).enumerate() {
            for at in ends[0]..ends[1] {
                self.admit_value(values[at], row, columns[at] as usize)?;
            }
        }
        let scale = self.scale();
        let value = |(&j, &v): (&u32, &f64)| (v * scale[j as usize]) as f32;
        let input = SparseInput {
            base_d: (self.center().iter().zip(scale))
                .map(|(c, s)| (-c * s) as f32)
                .collect(),
            starts: starts.to_vec(),
            columns: columns.to_vec(),
            values: columns.iter().zip(values).map(value).collect(),
        };
        let all = input.base_d.iter().chain(&input.values);
        if all.into_iter().all(|u| u.abs() <= LARGEST) {
            Ok(input)
        } else {
            Err(Error::parameter(format!(
                "a column holds a value beyond {LARGEST:e} after scaling, where sums would leave the \
                 range of f32"
            ))
            .help(Remedy::Standardize))
        }
    }
}
