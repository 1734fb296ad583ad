//! A uniform sample of rows with their targets and weights, for what is worked out in memory.

use super::{CHUNK_VALUES, sample::Reservoir};
use crate::{
    Error, Result,
    data::{ChunkSource, next_checked},
};
use ndarray::{Array1, Array2, Axis, s};

/// Rows of a source, without replacement, in the order of the source.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct RowSample {
    /// `[m, d]`.
    #[doc(hidden)]
    pub x_nd: Array2<f64>,
    /// `[m, t]`.
    #[doc(hidden)]
    pub y_nt: Array2<f64>,
    /// What each row counts for, more than 0, of a source that has weights, `[m]`.
    #[doc(hidden)]
    pub weights_n: Option<Array1<f64>>,
    /// The place of each row in the source, counted from 0, `[m]`.
    #[doc(hidden)]
    pub index_n: Vec<u64>,
}

impl RowSample {
    /// Reads `source` once and keeps up to `most` rows by `seed`, the same for chunks of any size.
    /// Rows of weight 0 are never among them.
    ///
    /// Errors with [`Error::Shape`] if there are no rows, and as the source does.
    #[doc(hidden)]
    pub fn draw(source: &mut dyn ChunkSource, most: usize, seed: u64) -> Result<Self> {
        let (columns, targets) = (source.columns(), source.targets());
        let weighted = source.is_weighted();
        let width = columns + targets + usize::from(weighted);
        let mut reservoir = Reservoir::new(width, most, seed);
        let mut row = vec![0.0; width];
        source.rewind()?;
        let rows = (CHUNK_VALUES / width.max(1)).max(1);
        let mut read = 0;
        while let Some(chunk) = next_checked(source, rows, read)? {
            for i in 0..chunk.x.nrows() {
                chunk.x.copy_row(i, &mut row[..columns]);
                for (to, &y) in row[columns..].iter_mut().zip(chunk.y.row(i)) {
                    *to = y;
                }
                if let Some(weights) = &chunk.weights {
                    row[width - 1] = weights[i];
                    if weights[i] <= 0.0 {
                        continue;
                    }
                }
                reservoir.offer((read + i) as u64, &row);
            }
            read += chunk.x.nrows();
        }
        source.rewind()?;
        let (values, index_n) = reservoir.finish()?;
        if values.nrows() == 0 {
            return Err(match read {
                0 => Error::shape("the data has no rows; give at least one"),
                _ => Error::data("weights", "all rows have weight 0"),
            });
        }
        let part = |from, to| values.slice(s![.., from..to]).to_owned();
        Ok(Self {
            x_nd: part(0, columns),
            y_nt: part(columns, columns + targets),
            weights_n: weighted.then(|| values.column(width - 1).to_owned()),
            index_n,
        })
    }

    /// At most so many of them, spread evenly.
    #[doc(hidden)]
    pub fn thinned(&self, most: usize) -> Self {
        let rows = self.x_nd.nrows();
        let taken = rows.min(most);
        let kept: Vec<usize> = (0..taken).map(|i| i * rows / taken).collect();
        Self {
            x_nd: self.x_nd.select(Axis(0), &kept),
            y_nt: self.y_nt.select(Axis(0), &kept),
            weights_n: self.weights_n.as_ref().map(|w| w.select(Axis(0), &kept)),
            index_n: kept.iter().map(|&i| self.index_n[i]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MemorySource, Survey};

    /// Rows keep their targets and weights, and are those that a survey takes of the same seed.
    #[test]
    fn rows_keep_their_targets_and_weights() {
        let x = Array2::from_shape_fn((300, 2), |(i, j)| (10 * i + j) as f64);
        let y = Array2::from_shape_fn((300, 1), |(i, _)| i as f64 / 2.0);
        let weight = |i: usize| (i % 3) as f64;
        let mut plain = MemorySource::new(&x, Some(y.clone())).expect("rows");
        let sample = RowSample::draw(&mut plain, 40, 7).expect("reads");
        let survey = Survey::new(&mut plain, 40, 7).expect("reads");
        assert_eq!(sample.x_nd, survey.sample);
        assert_eq!(sample.index_n, survey.sample_index);
        assert_eq!(sample.weights_n, None);
        let weights: Vec<f64> = (0..300).map(weight).collect();
        let mut weighted = plain.with_weights(weights).expect("weights");
        let sample = RowSample::draw(&mut weighted, 250, 7).expect("reads");
        assert_eq!(sample.x_nd.nrows(), 200);
        let weights_n = sample.weights_n.expect("weights");
        for ((x, y), &w) in sample
            .x_nd
            .rows()
            .into_iter()
            .zip(&sample.y_nt)
            .zip(&weights_n)
        {
            let i = (x[0] / 10.0) as usize;
            assert_eq!((x[1], *y, w), (x[0] + 1.0, i as f64 / 2.0, weight(i)));
            assert!(w > 0.0);
        }
        let thin = RowSample::draw(&mut weighted, 250, 7)
            .expect("reads")
            .thinned(50);
        assert_eq!(thin.x_nd.row(1), sample.x_nd.row(4));
        assert_eq!(thin.index_n[1], sample.index_n[4]);
        assert_eq!(
            (thin.y_nt[[49, 0]], thin.weights_n.expect("weights")[2]),
            (sample.y_nt[[196, 0]], weights_n[8])
        );
    }
}
