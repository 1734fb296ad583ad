//! How many independent Fourier features leave a given error of the kernel matrix.

use super::variance;
use crate::{
    Error, Result,
    features::Form,
    kernels::{Kernel, gram},
};
use ndarray::{Array2, Zip};

/// The number of independent Fourier features D whose kernel matrix on these rows is expected to be
/// off by `error`, relative and in the Frobenius norm:
///
/// `D = sum_ij v(u_i - u_j) / (error^2 |K|_F^2)`, v the variance of one feature or pair
/// ([`variance`]), because `E |Z Z' - K|_F^2` is the sum of the variances of its entries
/// (Sutherland & Schneider 2015, sec. 2.1). Rounded up, to an even number for paired features.
///
/// `u_nd` has rows at unit lengthscale, `[n, d]`; time is `O(n^2 d)`. Orthogonal and quasi-Monte
/// Carlo frequencies need fewer.
///
/// ```
/// use bochner::{analysis::expected_features, features::Form, kernels::Gaussian};
/// use ndarray::Array;
/// let u = Array::from_shape_fn((50, 2), |(i, j)| ((i * (3 * j + 7)) % 31) as f64 / 31.0);
/// let few = expected_features(&Gaussian, &u, Form::Paired, 0.1)?;
/// // Half the error takes four times as many.
/// let more = expected_features(&Gaussian, &u, Form::Paired, 0.05)?;
/// assert!(more.abs_diff(4 * few) <= 8);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// Errors with [`Error::Unsupported`] unless the kernel is a function of differences, with
/// [`Error::Parameter`] unless `error` is positive and finite, and with [`Error::Numerical`] when
/// the matrix is zero or not finite.
pub fn expected_features(
    kernel: &dyn Kernel,
    u_nd: &Array2<f64>,
    form: Form,
    error: f64,
) -> Result<usize> {
    super::bounds::require_error(error)?;
    if !kernel.is_shift_invariant() {
        return Err(Error::unsupported(format!(
            "the kernel {} is no function of differences, so the variance of its features is not \
             known",
            kernel.spec()
        )));
    }
    let exact_nn = gram(kernel, u_nd.view());
    let twice_nn = gram(kernel, (2.0 * u_nd).view());
    let (mut variances, mut squares) = (0.0, 0.0);
    Zip::from(&exact_nn).and(&twice_nn).for_each(|&k, &twice| {
        variances += variance(form, 1, k, twice).max(0.0);
        squares += k * k;
    });
    let needed = (variances / (error * error * squares)).ceil();
    if !needed.is_finite() {
        return Err(Error::numerical(
            "the exact kernel is zero or not finite on these rows, so there is no relative error",
        ));
    }
    // A float beyond usize saturates.
    let needed = (needed as usize).max(1);
    Ok(match form {
        Form::Paired => needed.saturating_add(needed % 2),
        Form::Phase => needed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        analysis::kernel_errors,
        data::Rows,
        features::{Affine, Fourier},
        kernels::{self, Polynomial},
        seed::{Seed, Stream},
    };
    use std::sync::Arc;

    /// The root mean squared error of so many features, over seeds, is the one asked for.
    #[test]
    fn expected_features_have_the_error_that_was_asked_for() {
        let mut draws = Seed(5).stream(Stream::Iteration, 0);
        let u = Array2::from_shape_fn((60, 3), |_| draws.normal());
        let input = Affine::identity(3);
        for form in [Form::Paired, Form::Phase] {
            for spec in ["gaussian", "matern32", "laplacian"] {
                let kernel: Arc<dyn Kernel> = kernels::parse(spec).expect("a kernel");
                let features = expected_features(kernel.as_ref(), &u, form, 0.1).expect("a number");
                let build = |seed| {
                    let map = Fourier::new(kernel.clone()).features(features).form(form);
                    Ok(Box::new(map.seed(seed).build(input.clone())?) as _)
                };
                let (rows, seeds) = (Rows::from(&u), (0..400).map(Seed));
                let runs =
                    kernel_errors(kernel.as_ref(), &input, &rows, &Device::cpu(), seeds, build);
                let runs = runs.expect("runs").runs;
                let squares = runs.iter().map(|run| run.frobenius.powi(2)).sum::<f64>();
                let error = (squares / runs.len() as f64).sqrt();
                assert!((error / 0.1 - 1.0).abs() < 0.015, "{spec} {form}: {error}");
            }
        }
        let refused = |error| expected_features(&kernels::Gaussian, &u, Form::Paired, error);
        assert!(refused(0.0).is_err() && refused(f64::NAN).is_err());
        let polynomial = Polynomial::new(2, 1.0).expect("a degree");
        assert!(expected_features(&polynomial, &u, Form::Paired, 0.1).is_err());
    }
}
