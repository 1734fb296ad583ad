//! Builder of k-means, and of incremental k-means.

use crate::{
    Result,
    door::{
        learner::{Fitted, Learner, RowsAlone},
        train::RowData,
    },
    job::Meaning,
    learn::{GrowingClusters, KMeansOptions},
};

/// k-means on random features: approximate kernel k-means (Chitta, Jin and Jain 2012). A model
/// predicts the cluster of a row, a number from 0.
///
/// It minimises the inertia, over k centres c in feature space,
///
/// ```text
/// sum_i w_i min_c |z(x_i) - c|^2
/// ```
///
/// Each start is seeded by k-means++ with the best of several candidates (Arthur and Vassilvitskii
/// 2007) and runs Lloyd's iteration on a uniform sample of rows: 32,768 with up to 2,048 features
/// and 512 clusters. The start with the smallest inertia continues on all rows; an iteration
/// computes the features of those rows again whose nearest centre can have changed (Hamerly 2010).
/// Half of the memory stores features, of the sample or of all rows, if they fit. A row takes 20
/// bytes in addition.
///
/// A cluster of the sample that loses all its rows moves to the row that is farthest from its
/// centre; in the iteration on all rows it does not move. A row of weight w counts as w rows, and
/// takes 8 more bytes.
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
    /// Number of clusters, k. Default: 8.
    pub fn clusters(mut self, count: usize) -> Self {
        self.job.learner.clusters = count;
        self
    }

    /// Number of starts with different seeds; the one with the smallest inertia is kept. Default:
    /// 1.
    pub fn starts(mut self, count: usize) -> Self {
        self.job.learner.starts = count;
        self
    }

    /// Tolerance of the iteration: see [`KMeansOptions::tolerance`].
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.job.learner.tolerance = tolerance;
        self
    }
}

impl KMeans {
    /// Begins incremental k-means. These rows determine scales, bandwidth, map and initial centres.
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
    /// Updates the centres with rows, which are one mini-batch regardless of memory. Errors if the
    /// columns differ, and on rows that cannot be read; the centres then do not change.
    pub fn add<D: RowData>(&mut self, rows: D) -> Result<()> {
        self.take_up(rows.into_rows()?.as_mut())
    }
}
