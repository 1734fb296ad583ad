//! Range of each column in the training rows.

use crate::{Result, data::Survey, store::Store};

/// Names of the arrays in a model file.
const NAMES: [&str; 2] = ["seen.min", "seen.max"];
const MEANS: &str = "seen.mean";
/// A value is far outside where it lies beyond an end by more than this share of the width.
const FAR: f64 = 0.5;

/// Smallest and largest value of each column, `[d]`, before any scaling, in the training rows.
/// Predictions for rows far outside extrapolate: a kernel machine tends to its intercept there, a
/// linear model continues linearly.
///
/// ```
/// use bochner::{models::Range, prelude::*};
/// let x = ndarray::Array2::from_shape_fn((40, 1), |(i, _)| i as f64);
/// let y = x.column(0).mapv(f64::sin);
/// let model = Ridge::on(Fourier::new(Gaussian)).fit((&x, &y))?;
/// let ranges = model.linear().ranges.as_ref().expect("a fit keeps them");
/// assert_eq!(ranges.of_column(0), Range { min: 0.0, max: 39.0 });
/// assert!(ranges.of_column(0).is_far(1e6) && !ranges.of_column(0).is_far(45.0));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges {
    min: Vec<f64>,
    max: Vec<f64>,
    /// Column means; `None` for older files.
    means: Option<Vec<f64>>,
}

/// Range of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Its smallest value.
    pub min: f64,
    /// Its largest value.
    pub max: f64,
}

impl Range {
    /// Whether a value is outside by more than half the width of the range. Never for a column with
    /// a single value, whose scale is unknown.
    #[doc(hidden)]
    pub fn is_far(self, value: f64) -> bool {
        let most = FAR * (self.max - self.min);
        self.min < self.max && (value < self.min - most || value > self.max + most)
    }
}

/// Replaces -0 by 0, so that models of equal rows have equal bytes.
fn without_sign(ends: &[f64]) -> Vec<f64> {
    ends.iter().map(|end| end + 0.0).collect()
}

/// Rounds to f32 if the value is in its range.
fn rounded(mean: f64) -> f64 {
    let short = f64::from(mean as f32);
    if short.is_finite() { short + 0.0 } else { mean }
}

impl Ranges {
    /// From a survey of the rows.
    #[doc(hidden)]
    pub fn from_survey(survey: &Survey) -> Self {
        Self {
            min: without_sign(&survey.min),
            max: without_sign(&survey.max),
            // Rounds off digits that depend on the order of the rows.
            means: Some(survey.mean.iter().map(|&mean| rounded(mean)).collect()),
        }
    }

    /// Number of columns.
    #[doc(hidden)]
    pub fn columns(&self) -> usize {
        self.min.len()
    }

    /// Range of column `j`. Panics if there is no such column.
    pub fn of_column(&self, j: usize) -> Range {
        Range {
            min: self.min[j],
            max: self.max[j],
        }
    }

    /// Column means, if known.
    #[doc(hidden)]
    pub fn means(&self) -> Option<&[f64]> {
        self.means.as_deref()
    }

    pub(crate) fn write(&self, store: &mut Store) {
        if let Some(means) = &self.means {
            store.put_vector(MEANS, means);
        }
        for (name, ends) in NAMES.into_iter().zip([&self.min, &self.max]) {
            store.put_vector(name, ends);
        }
    }

    /// Reads the entries of [`Self::write`] for `columns` columns; `None` in older files.
    pub(crate) fn read(store: &Store, columns: usize) -> Result<Option<Self>> {
        if !NAMES.iter().all(|name| store.has(name)) {
            return Ok(None);
        }
        let vector = |name: &str| Ok(store.vector(name, columns)?.to_vec());
        let means = store.has(MEANS).then(|| vector(MEANS)).transpose()?;
        Ok(Some(Self {
            min: vector(NAMES[0])?,
            max: vector(NAMES[1])?,
            means,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_kept_and_files_without_are_read() {
        let mut store = Store::default();
        assert_eq!(Ranges::read(&store, 2).expect("none"), None);
        let ranges = Ranges {
            min: vec![-0.0, 1e-300],
            max: vec![1.0 / 3.0, 2.0],
            means: Some(vec![0.25, 1.0]),
        };
        ranges.write(&mut store);
        assert_eq!(Ranges::read(&store, 2).expect("reads"), Some(ranges));
        assert!(Ranges::read(&store, 3).is_err());
    }

    #[test]
    fn far_is_more_than_half_of_the_width_outside() {
        let range = Range { min: 2.0, max: 4.0 };
        assert!([1.0, 2.0, 3.0, 5.0].iter().all(|v| !range.is_far(*v)));
        assert!(
            [0.9, 5.1, f64::MIN, f64::MAX]
                .iter()
                .all(|v| range.is_far(*v))
        );
        assert!(!Range { min: 2.0, max: 2.0 }.is_far(9.0));
    }
}
