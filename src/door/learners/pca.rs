//! The builder of kernel principal components.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::{Components, KernelPcaOptions, PcaSolver},
};

/// Principal components of the features: approximate kernel PCA (Schoelkopf, Smola and Mueller
/// 1998; on random features Lopez-Paz et al. 2014). The leading eigenvectors V of the covariance of
/// z(x), centred, give the components `(z(x) - mean)'V`, which the model predicts, `[n, k]`. The
/// covariance is summed in one pass in `8 D^2` bytes, or seen in products with a few directions
/// ([`PcaSolver::Randomized`]).
///
/// Their variances are the eigenvalues of the centred kernel matrix of all rows, divided by n - 1.
/// The largest loading of each component is positive, so that signs are the same everywhere.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array2;
/// let x = Array2::from_shape_fn((200, 3), |(i, j)| ((i * (7 * j + 3)) % 23) as f64 / 23.0);
/// let pca = KernelPca::on(Fourier::new(Gaussian).features(128)).components(2);
/// let model = pca.fit(&x)?;
/// assert_eq!(model.predict(&x)?.dim(), (200, 2));
/// // How far a row is from all that the components span: a row unlike the others is far.
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

    /// Keeps the fewest components that explain `share` of the variance; 0.95 until said otherwise.
    pub fn explained_variance(mut self, share: f64) -> Self {
        self.job.learner.components = Components::Variance(share);
        self
    }

    /// How components are found; by the covariance, until said otherwise.
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
