//! Builder of kernel ICA.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::KernelIcaOptions,
};

/// Independent component analysis on features: symmetric FastICA (Hyvarinen 1999) on the whitened
/// components of kernel PCA. A model predicts the sources, `[n, k]`, which have variance 1 and are
/// uncorrelated on the rows of the fit, the least Gaussian first.
///
/// It maximises the non-Gaussianity of the sources `s = W y` over rotations W of the whitened
/// components y: stationary points of the contrast `sum_k E log cosh(s_k)`. The iteration runs on a
/// uniform sample of up to `2^22 / k` rows, or `16 k` if that is more. The largest loading of each
/// source is positive.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array2;
/// // Mixtures of two uniform sources.
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
    /// Number of sources. Default: the number of directions in which the columns vary, with the
    /// identity map; 2 with other maps.
    pub fn components(mut self, count: usize) -> Self {
        self.job.learner.components = Some(count);
        self
    }
}
