//! Covariance of coefficients.

use super::Coefficients;
use crate::{
    linalg::entries,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, Axis};

/// Covariance of the coefficients given the data, as a square root.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// A square root of the covariance of beta: `noise root root'`, `[D, D]`.
    pub root_dd: Array2<f64>,
    /// `root' mean(z)`, which centring subtracts, `[D]`.
    pub shift_d: Array1<f64>,
    /// Variance of the noise, `[t]`.
    pub noise_t: Array1<f64>,
    /// Variance of the intercept over that of the noise: 1/n, or 0 without one.
    pub intercept: f64,
}

impl Spread {
    /// Variance of f(x) over that of the noise, from `root'z(x)`, `[rows, D]`: one value per row.
    #[doc(hidden)]
    pub fn relative_variance(&self, rooted_nd: &Array2<f64>) -> Array1<f64> {
        let centred = rooted_nd - &self.shift_d;
        entries::row_squares(centred.view()) + self.intercept
    }

    /// Covariances of f between rows over the variance of the noise, `[rows, rows]`, from the same.
    #[doc(hidden)]
    pub fn relative_covariance(&self, rooted_nd: &Array2<f64>) -> Array2<f64> {
        let centred = rooted_nd - &self.shift_d;
        centred.dot(&centred.t()) + self.intercept
    }

    /// Coefficients of functions drawn from the posterior of target `target`, whose mean is `mean`:
    /// `[D, samples]`, and as many intercepts. Equal seeds draw equal functions.
    #[doc(hidden)]
    pub fn sample(
        &self,
        mean: &Coefficients,
        target: usize,
        samples: usize,
        seed: Seed,
    ) -> Coefficients {
        let deviation = self.noise_t[target].sqrt();
        let features = self.root_dd.nrows();
        let mut draws = seed.stream(Stream::Posterior, target as u64);
        let xi_ds = Array2::from_shape_simple_fn((features, samples), || draws.normal());
        let away_ds = self.root_dd.dot(&xi_ds) * deviation;
        // The intercept varies with the mean of y, and compensates centring.
        let own_s = Array1::from_shape_simple_fn(samples, || draws.normal());
        let own_s = own_s * (deviation * self.intercept.sqrt());
        let centring_s = xi_ds.t().dot(&self.shift_d) * deviation;
        let mean_d = mean.beta_dt.column(target).insert_axis(Axis(1));
        Coefficients {
            beta_dt: &away_ds + &mean_d,
            intercept_t: own_s - centring_s + mean.intercept_t[target],
        }
    }
}
