//! One pass over a source: what standardisation, bandwidth rules and classifiers need to know
//! before the fit.

mod moments;
mod part;
mod row_order;
mod row_sample;
mod sample;
mod targets;

use part::Look;
pub use part::SurveyPart;
pub use row_order::RowOrder;
#[doc(hidden)]
pub use row_sample::RowSample;
#[cfg(feature = "files")]
pub(in crate::data) use sample::Reservoir;
pub use sample::{median_distance, nearest_distance, typical_distance};
pub use targets::TargetStats;

use super::{ChunkSource, KeptRows, Rescale, TableColumn};
use crate::{Error, Result, progress::Step};
use ndarray::Array2;

/// What one pass over a source found. Every field is the same for chunks of any size.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Number of rows, at least one.
    pub rows: u64,
    /// Mean of each feature column, `[d]`.
    pub mean: Vec<f64>,
    /// Population variance (divided by the number of rows) of each feature column, `[d]`.
    pub variance: Vec<f64>,
    /// Smallest value of each feature column, `[d]`.
    pub min: Vec<f64>,
    /// Largest value of each feature column, `[d]`.
    pub max: Vec<f64>,
    /// Whether each feature column takes two values and no third, or is to count as one that does,
    /// `[d]`.
    pub binary: Vec<bool>,
    /// Whether each feature column is one of the words of texts ([`Kind::Words`](super::Kind)),
    /// whose rows have unit length together, `[d]`.
    pub of_words: Vec<bool>,
    /// Names of the feature columns where the source has them, `[d]`.
    pub names: Option<Vec<String>>,
    /// The columns of the table, where the rows are one.
    #[doc(hidden)]
    pub table: Option<Vec<TableColumn>>,
    /// A uniform sample of rows without replacement, `[m, d]`, in the order of the source.
    pub sample: Array2<f64>,
    /// Index in the source of each row of the sample, ascending, `[m]`.
    pub sample_index: Vec<u64>,
    /// One entry per target column.
    pub targets: Vec<TargetStats>,
    /// Feature columns that never fall along the rows, or never rise, and take 20 different values
    /// or more. Of parts that were merged none is known.
    pub row_orders: Vec<RowOrder>,
    /// Rows that decide on preparation and bandwidth, if any were to be kept.
    #[doc(hidden)]
    pub deciding: Option<KeptRows>,
    /// How amounts became these targets, if they are on another scale.
    #[doc(hidden)]
    pub rescale: Option<Rescale>,
}

/// A `pass` over a source that is to make up its mind about its columns: where it ends at what is
/// no number, and the source may now come further, it is made once more.
pub(in crate::data) fn settled<T>(
    source: &mut dyn ChunkSource,
    pass: impl Fn(&mut dyn ChunkSource) -> Result<T>,
) -> Result<T> {
    source.settle(false, &mut |_| true)?;
    match pass(source) {
        Err(Error::Data { path, problem }) => {
            if source.settle(true, &mut |_| true)? {
                pass(source)
            } else {
                Err(Error::Data { path, problem })
            }
        }
        done => done,
    }
}

/// Whether values from `min` to `max` are one up to rounding: a quotient such as `1.1 * v / v` is
/// within two ulps of the exact value.
fn is_constant(min: f64, max: f64) -> bool {
    const ULPS: f64 = 4.0;
    max - min <= ULPS * f64::EPSILON * min.abs().max(max.abs())
}

/// Values per chunk: small beside the page cache, large beside the cost of a call.
const CHUNK_VALUES: usize = 1 << 19;

impl Survey {
    /// Reads `source` once from its first row on and rewinds it. Up to `sample_rows` rows are
    /// sampled by `seed`. A source that is to make up its mind about its columns does so now
    /// ([`ChunkSource::settle`]).
    ///
    /// Rows count by their weights in means and variances; of rows of weight 0 nothing is seen but
    /// which values their targets take. Means and variances are Welford's in f64 on values shifted
    /// by the first row, so a column of large values with a small spread keeps its variance.
    ///
    /// Errors with [`Error::Shape`] if there are no rows or a chunk has another shape than its
    /// source says, with [`Error::Data`] at the first value that is not finite, with
    /// [`Error::Numerical`] if a column's variance exceeds f64, and as the source does.
    pub fn new(source: &mut dyn ChunkSource, sample_rows: usize, seed: u64) -> Result<Self> {
        Self::watched(source, sample_rows, seed, &|_| {})
    }

    /// As [`Self::watched`], and keeps `deciding` rows, those whose contents with their targets
    /// have the smallest hashes, for `Job::settled`; 0 keeps none, and
    /// costs nothing.
    #[doc(hidden)]
    pub fn deciding(
        source: &mut dyn ChunkSource,
        (sample_rows, deciding): (usize, usize),
        seed: u64,
        hear: &dyn Fn(Step),
    ) -> Result<Self> {
        let look = Look {
            sample_rows,
            deciding,
            seed,
        };
        let mut survey = settled(source, |source| {
            SurveyPart::looking(source, 0, look, hear)?.finish()
        })?;
        if let Some(schema) = source.schema() {
            survey.of_words = schema.of_words();
            survey.table = Some(schema.table_columns());
        }
        Ok(survey)
    }

    /// As [`Self::new`]; `hear` gets [`Step::Survey`] after each chunk.
    #[doc(hidden)]
    pub fn watched(
        source: &mut dyn ChunkSource,
        sample_rows: usize,
        seed: u64,
        hear: &dyn Fn(Step),
    ) -> Result<Self> {
        Self::deciding(source, (sample_rows, 0), seed, hear)
    }

    fn check(&self) -> Result<()> {
        let (what, j) = if let Some(j) = self.variance.iter().position(|v| !v.is_finite()) {
            ("feature", j)
        } else if let Some(j) = self
            .targets
            .iter()
            .position(|target| !target.variance.is_finite())
        {
            ("target", j)
        } else {
            return Ok(());
        };
        Err(Error::numerical(format!(
            "the variance of {what} column {j} (counted from 0) exceeds the range of f64; rescale \
             or remove it"
        )))
    }

    /// The same of some of the columns, in the order of `columns`. Panics on a column that there is
    /// not.
    #[doc(hidden)]
    pub fn select(&self, columns: &[usize]) -> Self {
        let of = |values: &[f64]| columns.iter().map(|&j| values[j]).collect();
        let names = self.names.as_ref();
        Self {
            rows: self.rows,
            mean: of(&self.mean),
            variance: of(&self.variance),
            min: of(&self.min),
            max: of(&self.max),
            binary: columns.iter().map(|&j| self.binary[j]).collect(),
            of_words: columns.iter().map(|&j| self.of_words[j]).collect(),
            names: names.map(|names| columns.iter().map(|&j| names[j].clone()).collect()),
            table: None,
            sample: self.sample.select(ndarray::Axis(1), columns),
            sample_index: self.sample_index.clone(),
            targets: self.targets.clone(),
            row_orders: Vec::new(),
            deciding: None,
            rescale: None,
        }
    }

    /// The columns of the table; of other rows each is one by itself.
    #[doc(hidden)]
    pub fn table_columns(&self) -> Vec<TableColumn> {
        let of_numbers = || TableColumn::of_numbers(self.names.as_deref(), self.mean.len());
        self.table.clone().unwrap_or_else(of_numbers)
    }

    /// Column `j` as messages call it: by its name, or by its number.
    #[doc(hidden)]
    pub fn column(&self, j: usize) -> String {
        match &self.names {
            Some(names) => format!("column '{}'", names[j]),
            None => format!("column {j} (counted from 0)"),
        }
    }

    /// Whether all rows have the same value in column `j`, up to rounding of f64.
    pub fn is_constant(&self, j: usize) -> bool {
        is_constant(self.min[j], self.max[j])
    }

    /// Variance over all entries of X, as the `scale` rule has it: the mean of the columns'
    /// variances plus the variance of their means.
    #[doc(hidden)]
    pub fn entry_variance(&self) -> f64 {
        let d = self.mean.len() as f64;
        let centre = self.mean.iter().map(|m| m / d).sum::<f64>();
        let between = self
            .mean
            .iter()
            .map(|m| (m - centre).powi(2) / d)
            .sum::<f64>();
        self.variance.iter().map(|v| v / d).sum::<f64>() + between
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data::MemorySource, features::Affine};

    /// Quotients that are one number up to rounding are constant; numbers that differ are not, even
    /// far from 0.
    #[test]
    fn a_column_is_constant_up_to_rounding() {
        let v = |i: usize| 1.0 + (i * 37 % 800) as f64 / 100.0;
        let x = Array2::from_shape_fn((200, 4), |(i, j)| match j {
            0 => v(i) * 1.1 / v(i),
            1 => 1e15 + (i % 2) as f64,
            2 => -3.7,
            _ => 1e-200 * v(i),
        });
        assert!(x.column(0).iter().any(|&value| value != x[[0, 0]]));
        let mut rows = MemorySource::new(&x, Some(x.clone())).expect("rows");
        let survey = Survey::new(&mut rows, 0, 0).expect("a survey");
        let constant = |j| (survey.is_constant(j), survey.targets[j].is_constant());
        assert_eq!(
            [0, 1, 2, 3].map(|j| constant(j).0),
            [true, false, true, false]
        );
        assert_eq!(
            [0, 1, 2, 3].map(|j| constant(j).1),
            [true, false, true, false]
        );
        assert_eq!(Affine::standardize(&survey).scale()[0], 0.0);
    }
}
