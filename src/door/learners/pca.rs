//! Builder of kernel PCA.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::{Components, KernelPcaOptions, PcaSolver},
};

/// Approximate kernel PCA (Schoelkopf, Smola and Mueller 1998; on random features Lopez-Paz et al.
/// 2014). A model predicts the components `(z(x) - mean)'V`, `[n, k]`.
///
/// It maximises the variance of the components over orthonormal directions V: `trace(V'C V)` with
/// the covariance C of the features z(x). The solution are the leading eigenvectors of C. C is
/// summed in one pass in `8 D^2` bytes, or multiplied by a few directions
/// ([`PcaSolver::Randomized`]).
///
/// The variances are close to the eigenvalues of the centred kernel matrix of all rows, divided by
/// n - 1. The largest loading of each component is positive, which makes signs reproducible.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array2;
/// let x = Array2::from_shape_fn((200, 3), |(i, j)| ((i * (7 * j + 3)) % 23) as f64 / 23.0);
/// let pca = KernelPca::on(Fourier::new(Gaussian).features(128)).components(2);
/// let model = pca.fit(&x)?;
/// assert_eq!(model.predict(&x)?.dim(), (200, 2));
/// // A row unlike the others is far from the span of the components.
/// let far = model.reconstruction_errors(&ndarray::array![[5.0, -5.0, 5.0]])?;
/// assert!(far[0] > model.reconstruction_errors(&x)?.mean().unwrap());
/// # Ok::<(), bochner::Error>(())
/// ```
pub type KernelPca = Learner<KernelPcaOptions, RowsAlone>;

impl KernelPca {
    /// Keeps `count` components.
    pub fn components(mut self, count: usize) -> Self {
        self.job.learner.components = Components::Count(count);
        self
    }

    /// Keeps the fewest components that explain `share` of the variance, above 0 and at most 1.
    /// Default: 0.95.
    pub fn explained_variance(mut self, share: f64) -> Self {
        self.job.learner.components = Components::Variance(share);
        self
    }

    /// Solver. Default: [`PcaSolver::Covariance`].
    ///
    /// ```
    /// use bochner::{models::PcaSolver, prelude::*};
    /// let x = ndarray::Array2::from_shape_fn((60, 3), |(i, j)| ((i * (7 * j + 3)) % 23) as f64);
    /// // The covariance would take 3.2 GB.
    /// let pca = KernelPca::on(Fourier::new(Gaussian).features(20_000)).components(2);
    /// let model = pca.solver(PcaSolver::randomized()).fit(&x)?;
    /// assert_eq!(model.predict(&x)?.dim(), (60, 2));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn solver(mut self, solver: PcaSolver) -> Self {
        self.job.learner.solver = solver;
        self
    }
}
