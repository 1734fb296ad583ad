//! The builder of kernel densities.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::DensityOptions,
};

/// The kernel density of rows: `f(x) = sum_i w_i k(x, x_i) / (I sum_i w_i)` with I the integral of
/// the kernel (Rosenblatt 1956; Parzen 1962), on features `z(x)'m / I` with m the weighted mean of
/// z over the rows. One pass over them, whatever their number; a prediction costs D operations
/// where the sum itself costs n.
///
/// The kernel needs a finite integral ([`Kernel::ln_integral`](crate::kernels::Kernel)), over the
/// columns that standardisation keeps. The bandwidth is
/// [`Bandwidth::Scott`](crate::features::Bandwidth::Scott) unless said otherwise, times what
/// [`Self::multiples`] chooses: in one column it does so unasked, for Scott's rule is of one
/// Gaussian cloud and blurs two.
///
/// **What random features cost.** A mean of D cosines is off by about `|m|/sqrt(D)` everywhere,
/// where rows are and where none are, and so it is of either sign there. This deviation, over I, is
/// the fact `noise_deviation` of the model: densities below some of it say nothing. In few columns
/// frequencies are a lattice where nobody says how they are drawn, which makes much less noise
/// ([`Sampling::FEW_COLUMNS`](crate::sampling::Sampling::FEW_COLUMNS)); a fit measures what
/// they make as the fact `noise_share`, by how much the density integrates to more than 1, and
/// warns of a tenth and more. Predictions are set to 0 where the estimate is negative, and
/// logarithms are taken of no less than that deviation;
/// [`LoadedModel::scores`](crate::models::LoadedModel::scores) gives the mean kernel value as it
/// is. With many columns densities range over so many powers of ten that no number of features
/// serves: a handful of columns is what this is for. Binning
/// ([`Binning`](crate::features::Binning), for the Laplacian among others) is an average of
/// histograms and never negative.
///
/// ```
/// use bochner::{models::Density, prelude::*};
/// // Quantiles of a triangular law on [0, 2].
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
    /// Whether predictions are logarithms of the density; they are not, until said otherwise.
    pub fn log(mut self, log: bool) -> Self {
        self.job.learner.log = log;
        self
    }

    /// Chooses the multiple of the bandwidth by least squares: the smallest integral of the squared
    /// density minus twice the mean over rows of the density of the others (Rudemo 1982; Bowman
    /// 1984), both in closed form from the means of all multiples' features, of one pass. Needs a
    /// [`Fourier`](crate::features::Fourier) map, which then is the one of the multiple chosen.
    ///
    /// The noise of the features over the place of the rows counts as an error, so that a narrow
    /// kernel whose noise would be more than it shows is not taken. An empty list takes the
    /// bandwidth as it is.
    pub fn multiples(mut self, multiples: &[f64]) -> Self {
        self.job.learner.multiples = Some(multiples.to_vec());
        self
    }
}
