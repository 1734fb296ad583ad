//! The builder of k-means, and of clusters that grow.

use crate::{
    Result,
    door::{
        learner::{Fitted, Learner, RowsAlone},
        train::RowData,
    },
    job::Meaning,
    learn::{GrowingClusters, KMeansOptions},
};

/// k-means on the features: approximate kernel k-means (Chitta, Jin and Jain 2012). A model
/// predicts the cluster of a row, a number from 0.
///
/// Each start seeds by k-means++ with the best of some candidates (Arthur and Vassilvitskii 2007)
/// and runs Lloyd's iteration on a uniform sample of rows whose features fill half of the memory;
/// the start with the least inertia goes on over all rows, of which those are featurized again
/// whose nearest centre can have changed (Hamerly 2010). If all rows fit, the sample is all of
/// them. A row takes 20 bytes beside that; features are never stored.
///
/// A cluster of the sample that loses all its rows moves to the row that is farthest from its
/// centre; beside all rows it stays where it was. A row of weight w counts as w rows, and takes 8
/// bytes more.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::array![[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]];
/// let model = KMeans::on(Fourier::new(Gaussian)).clusters(2).fit(&x)?;
/// let cluster: Vec<usize> = model.predict(&x)?;
/// assert!(cluster[..3].iter().all(|&c| c == cluster[0]));
/// assert!(cluster[3..].iter().all(|&c| c == 1 - cluster[0]));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type KMeans = Learner<KMeansOptions, RowsAlone>;

impl KMeans {
    /// The number of clusters; 8 until said otherwise.
    pub fn clusters(mut self, count: usize) -> Self {
        self.job.learner.clusters = count;
        self
    }

    /// The number of seedings, the best of which is taken; 1 until said otherwise.
    pub fn starts(mut self, count: usize) -> Self {
        self.job.learner.starts = count;
        self
    }

    /// When iterations end: see [`KMeansOptions::tolerance`].
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.job.learner.tolerance = tolerance;
        self
    }
}

impl KMeans {
    /// Begins clusters that go on: scales, bandwidth, map and first centres come from these rows.
    /// Errors as the fit does.
    pub fn start<D: RowData>(&self, rows: D) -> Result<GrowingClusters> {
        let mut source = rows.into_rows()?;
        let Fitted { model, run } = self.linear(source.as_mut(), Meaning::Nothing)?;
        let none = vec![0.0; model.coefficients.beta_dt.ncols()];
        let mut growing = GrowingClusters::resume(model, none, run)?;
        growing.take_up(source.as_mut())?;
        Ok(growing)
    }
}

impl GrowingClusters {
    /// Adds rows, all of them one mini-batch, whatever the memory. Errors when they are other
    /// columns, and on rows that cannot be read; the centres then are as before.
    pub fn add<D: RowData>(&mut self, rows: D) -> Result<()> {
        self.take_up(rows.into_rows()?.as_mut())
    }
}
