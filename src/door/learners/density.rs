//! Builder of kernel density estimation.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::DensityOptions,
};

/// Kernel density estimation on features, for a few columns (Rosenblatt 1956; Parzen 1962).
///
/// The density `f(x) = sum_i w_i k(x, x_i) / (I sum_i w_i)`, with the integral I of the kernel, is
/// estimated as `z(x)'m / I` with the weighted mean m of z over the rows. The fit takes one pass; a
/// prediction takes D operations, instead of n for the sum over rows. With several
/// [`Self::multiples`] of the bandwidth, the fit minimises over them the least-squares
/// cross-validation score, here for equal weights,
///
/// ```text
/// integral f(x)^2 dx - 2/n sum_i f_without_i(x_i)
/// ```
///
/// plus an estimate of the integrated square of the noise of the features.
///
/// The kernel must have a finite integral ([`Kernel::ln_integral`](crate::kernels::Kernel)) over
/// the columns that are not constant. The default bandwidth is
/// [`Bandwidth::Scott`](crate::features::Bandwidth::Scott). With one column it is multiplied by the
/// best of several multiples, since Scott's rule assumes normal data and oversmooths other
/// densities.
///
/// **Noise of random features.** The mean of D cosines has an error of about `|m|/sqrt(D)`
/// everywhere, of either sign, also away from the rows. Divided by I, it is the fact
/// `noise_deviation` of the model; densities of this size are not reliable. With few columns, the
/// default sampling is a lattice, which has much less noise
/// ([`Sampling::FEW_COLUMNS`](crate::sampling::Sampling::FEW_COLUMNS)). The fact `noise_share`
/// estimates by how much the density integrates to more than 1 because of noise; above 0.1 the fit
/// warns. Predictions are 0 where the estimate is negative, and log densities are at least the
/// logarithm of the deviation. [`LoadedModel::scores`](crate::models::LoadedModel::scores) returns
/// the unmodified mean kernel value. With many columns, densities span too many orders of magnitude
/// for any number of features. Binning ([`Binning`](crate::features::Binning), for the Laplacian
/// and others) is an average of histograms and never negative.
///
/// ```
/// use bochner::{models::Density, prelude::*};
/// // Quantiles of a triangular distribution on [0, 2].
/// let x = ndarray::Array2::from_shape_fn((2000, 1), |(i, _)| {
///     let t = (i as f64 + 0.5) / 1000.0;
///     if t < 1.0 { t.sqrt() } else { 2.0 - (2.0 - t).sqrt() }
/// });
/// let model = Density::on(Fourier::new(Gaussian).features(4000)).fit(&x)?;
/// let density = model.predict(&ndarray::array![[0.5], [1.0], [6.0]])?;
/// assert!((density[0] - 0.5).abs() < 0.1 && (density[1] - 1.0).abs() < 0.2);
/// assert!(density[2] < 0.1);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Density = Learner<DensityOptions, RowsAlone>;

impl Density {
    /// Whether predictions are logarithms of the density. Default: false.
    pub fn log(mut self, log: bool) -> Self {
        self.job.learner.log = log;
        self
    }

    /// Selects a multiple of the bandwidth by least-squares cross-validation (Rudemo 1982; Bowman
    /// 1984). The scores have a closed form in the mean features of all multiples, which take one
    /// pass. It requires a [`Fourier`](crate::features::Fourier) map; the model has the map of the
    /// selected multiple.
    ///
    /// The score includes the noise of the features where the rows lie, which excludes bandwidths
    /// that are too narrow for the number of features. An empty list keeps the bandwidth.
    pub fn multiples(mut self, multiples: &[f64]) -> Self {
        self.job.learner.multiples = Some(multiples.to_vec());
        self
    }
}
