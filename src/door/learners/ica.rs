//! The builder of kernel ICA.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::KernelIcaOptions,
};

/// Independent components of the features: FastICA (Hyvarinen 1999; symmetric, contrast log cosh)
/// on the whitened components of kernel PCA. A model predicts the sources, `[n, k]`, of variance 1
/// and uncorrelated on the rows of the fit, the least Gaussian first.
///
/// The iteration runs on a uniform sample of rows whose whitened components fill half of the
/// memory: on all of them where `4 k` bytes a row fit. The largest loading of each source is
/// positive.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array2;
/// // Two sources of uniform law, mixed.
/// let source = |i: usize, step: usize| ((i * step) % 211) as f64 / 105.0 - 1.0;
/// let x = Array2::from_shape_fn((211, 2), |(i, j)| match j {
///     0 => source(i, 17) + source(i, 90),
///     _ => source(i, 17) - 0.5 * source(i, 90),
/// });
/// let map = Fourier::new(Gaussian).features(256);
/// let model = KernelIca::on(map).bandwidth(Bandwidth::Sigma(20.0)).components(2).fit(&x)?;
/// assert_eq!(model.predict(&x)?.dim(), (211, 2));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type KernelIca = Learner<KernelIcaOptions, RowsAlone>;

impl KernelIca {
    /// The number of sources. Until it is said, of the columns themselves as many as there are
    /// directions in which they vary, and 2 of features of a kernel.
    pub fn components(mut self, count: usize) -> Self {
        self.job.learner.components = Some(count);
        self
    }
}
