//! Builders of spectral embedding and clustering.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::{SpectralClusteringOptions, SpectralEmbeddingOptions},
};

/// Spectral embedding (Laplacian eigenmaps) on features (Belkin and Niyogi 2003; with random
/// features Wu et al. 2018). A model predicts the coordinates of rows, `[n, k]`, also of new rows.
///
/// It minimises, over coordinates u_i of the rows,
///
/// ```text
/// sum_ij W_ij |u_i - u_j|^2,  W = Z Z'
/// ```
///
/// where W_ij, close to k(x_i, x_j), is the weight of an edge, and rows have the degrees d = W 1 =
/// Z (Z'1). Weighted by degree, coordinates are uncorrelated and have mean 0 and mean square 1; the
/// largest loading of each is positive. The solution are the leading eigenvectors of the random
/// walk D^-1 W but for the constant one. The eigenvectors v of Z' D^-1 Z, from one more pass and in
/// `8 D^2` bytes, give them as `z(x)'v / (sqrt(lambda) d(x))`.
///
/// A nonnegative kernel gives every row a degree of at least k(x, x). Random features can give
/// smaller or negative degrees. These are raised to the mean of |z(x)|^2, and counted in the fact
/// `degrees_raised`: if there are many, use more features or a larger bandwidth.
///
/// The default bandwidth is [`Bandwidth::Neighbours`](crate::features::Bandwidth::Neighbours). The
/// recommended map is [`Nystrom`](crate::features::Nystrom), which does not add noise to edges.
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
    /// Number of coordinates. Default: 2.
    pub fn dimensions(mut self, count: usize) -> Self {
        self.job.learner.dimensions = count;
        self
    }
}

/// Spectral clustering on features (Shi and Malik 2000; Meila and Shi 2001), for clusters of any
/// shape. A model predicts the cluster of a row, a number from 0.
///
/// It minimises the inertia of k-means `sum_i min_c |u_i - c|^2`, over k centres c, on the k - 1
/// coordinates u_i of [`SpectralEmbedding`], a relaxation of the normalised cut.
///
/// The nearest centre c of `phi = z(x)'V / d(x)` maximises `z(x)'(V c - |c|^2/2 s)` with
/// d(x) = z(x)'s, which is a linear classifier. For rows whose degree was raised, its maximum can
/// differ from the nearest centre.
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
    /// Number of clusters, 2 or more. Default: 8.
    pub fn clusters(mut self, count: usize) -> Self {
        self.job.learner.kmeans.clusters = count;
        self
    }

    /// Number of starts of k-means with different seeds; the one with the smallest inertia is kept.
    /// Default: 10.
    pub fn starts(mut self, count: usize) -> Self {
        self.job.learner.kmeans.starts = count;
        self
    }
}
