//! Builders of spectral embedding and clustering.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::{SpectralClusteringOptions, SpectralEmbeddingOptions},
};

/// Laplacian eigenmaps on the features (Belkin and Niyogi 2003; by random features Wu et al. 2018):
/// rows that a walk along the kernel's edges mixes quickly lie close together. A model predicts the
/// coordinates of a row, `[n, k]`, of any row and not of those of the fit alone.
///
/// With W = Z Z' and degrees d = W 1 = Z (Z'1), the leading eigenvectors v of Z' D^-1 Z, one more
/// pass and `8 D^2` bytes, give those of the walk D^-1 W as `z(x)'v / (sqrt(lambda) d(x))`; the
/// first, which is constant, is left out. Coordinates are scaled to a mean square of 1 over rows
/// weighted by their degree, and the largest loading of each is positive.
///
/// A kernel that is nowhere negative gives every row a degree of at least k(x, x); random features
/// may give less, even less than nothing. Such degrees are raised to the mean of |z(x)|^2, and
/// `degrees_raised` in the report counts them: many ask for more features or a larger bandwidth.
///
/// The bandwidth is that of [`Bandwidth::Neighbours`](crate::features::Bandwidth::Neighbours) until
/// said otherwise, and the map best is [`Nystrom`](crate::features::Nystrom), which makes no noise.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array2;
/// let x = Array2::from_shape_fn((90, 1), |(i, _)| (i / 30 * 5) as f64 + (i % 30) as f64 / 30.0);
/// let map = Fourier::new(Gaussian).features(256);
/// let model = SpectralEmbedding::on(map).bandwidth(Bandwidth::Sigma(1.0)).dimensions(2).fit(&x)?;
/// assert_eq!(model.predict(&x)?.dim(), (90, 2));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type SpectralEmbedding = Learner<SpectralEmbeddingOptions, RowsAlone>;

impl SpectralEmbedding {
    /// The number of coordinates; 2 until said otherwise.
    pub fn dimensions(mut self, count: usize) -> Self {
        self.job.learner.dimensions = count;
        self
    }
}

/// Spectral clustering on the features (Shi and Malik 2000; Meila and Shi 2001): k-means on the
/// k - 1 coordinates of [`SpectralEmbedding`]. A model predicts the cluster of a row, a number from
/// 0. Clusters are what hangs together, of any shape, where those of
/// [`KMeans`](crate::models::KMeans) lie around a centre.
///
/// The nearest centre c of `phi = z(x)'V / d(x)` has the largest `z(x)'(V c - |c|^2/2 s)` with
/// d(x) = z(x)'s: a linear classifier. Where a degree had to be raised, this differs a little from
/// the nearest centre.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array2;
/// let x = Array2::from_shape_fn((90, 1), |(i, _)| (i / 30 * 5) as f64 + (i % 30) as f64 / 30.0);
/// let map = Fourier::new(Gaussian).features(256);
/// let model = SpectralClustering::on(map).bandwidth(Bandwidth::Sigma(1.0)).clusters(3).fit(&x)?;
/// let cluster: Vec<usize> = model.predict(&x)?;
/// assert!(cluster[0] != cluster[40] && cluster[0] == cluster[29]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type SpectralClustering = Learner<SpectralClusteringOptions, RowsAlone>;

impl SpectralClustering {
    /// The number of clusters; 8 until said otherwise.
    pub fn clusters(mut self, count: usize) -> Self {
        self.job.learner.kmeans.clusters = count;
        self
    }

    /// The number of seedings of k-means, the best of which is taken; 10 until said otherwise.
    pub fn starts(mut self, count: usize) -> Self {
        self.job.learner.kmeans.starts = count;
        self
    }
}
