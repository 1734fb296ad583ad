//! Bounds on the error of an approximation, and the number of features that they ask for: Fourier
//! features here, random binning and Nystrom in files of their own.

mod binning;
mod nystrom;
mod ridge;

pub use binning::BinningBound;
pub use nystrom::{NystromNorm, nystrom_excess, nystrom_landmarks};
pub use ridge::rudi_rosasco;

use crate::{Error, Result, error::Remedy, features::Form, kernels::Kernel};

/// What a bound holds for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// One pair of rows: Hoeffding, `2 exp(-D eps^2 / 4)` for paired features and
    /// `2 exp(-D eps^2 / 8)` with phases.
    Pointwise,
    /// All pairs of rows at once in a set of the given diameter,
    /// `2^8 (sigma_p diam / eps)^2 exp(-D eps^2 / (4 (d + 2)))` (Rahimi & Recht 2007, claim 1); 8
    /// in place of 4 with phases, as for one pair (Sutherland & Schneider 2015, prop. 2).
    ///
    /// [`Bound::uniform`] takes sigma_p^2 from the kernel.
    Uniform {
        /// d, the number of columns.
        columns: usize,
        /// sigma_p^2, the trace of the frequencies' second moment: 2 d gamma for the Gaussian, so d
        /// at unit scale.
        second_moment: f64,
        /// The largest distance between two rows, in the same scale.
        diameter: f64,
    },
}

impl Bound {
    /// [`Self::Uniform`] for `kernel` at unit scale, on rows of `columns` columns, no two of them
    /// farther apart than `diameter`.
    ///
    /// ```
    /// use bochner::{analysis::{Bound, features_for}, features::Form, kernels};
    /// let matern = kernels::parse("matern52")?;
    /// let bound = Bound::uniform(matern.as_ref(), 4, 3.0)?;
    /// assert!(features_for(bound, Form::Paired, 0.1, 0.99)? > 40_000);
    /// // No slope at 0 is finite enough for the exponential kernel.
    /// assert!(Bound::uniform(&kernels::Exponential, 4, 3.0).is_err());
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for kernels without a spectral measure, whose second moment is
    /// infinite (Laplacian, exponential, Matern up to nu = 1), or not known (a measure of one's
    /// own that does not give it).
    pub fn uniform(kernel: &dyn Kernel, columns: usize, diameter: f64) -> Result<Self> {
        let none = |why: &str| {
            let problem = format!("there is no uniform bound for {}: {why}", kernel.spec());
            Err(Error::unsupported(problem))
        };
        let Some(measure) = kernel.spectrum() else {
            return none("it has no spectral measure");
        };
        match measure.second_moment(columns) {
            None => none("the second moment of its frequencies is not known"),
            Some(moment) if moment.is_finite() => Ok(Self::Uniform {
                columns,
                second_moment: moment,
                diameter,
            }),
            Some(_) => none(
                "the tails of its frequencies are heavy and their second moment is infinite; the \
                 bounds of one pair and of binning hold",
            ),
        }
    }
}

/// The bound on the probability that the estimate of k is off by `error` or more with `features`
/// real columns; may exceed 1, where it says nothing.
///
/// Errors with [`Error::Parameter`] on values outside their domain.
pub fn failure_probability(bound: Bound, form: Form, features: usize, error: f64) -> Result<f64> {
    let (log_factor, rate) = terms(bound, form, error)?;
    Ok((log_factor - features as f64 * rate).exp())
}

/// The least number of real columns D for which the bound promises an error below `error` with
/// probability `confidence`; even for paired features. Independent frequencies are meant;
/// orthogonal and quasi-Monte Carlo ones do better than this.
///
/// ```
/// use bochner::{analysis::{Bound, features_for}, features::Form};
/// // ln(2 / 0.01) / (0.1^2 / 4) = 2119.3
/// assert_eq!(features_for(Bound::Pointwise, Form::Paired, 0.1, 0.99)?, 2120);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] unless `error` is positive, `confidence` lies in (0, 1) and the set has d >
/// 0, a positive second moment and diameter; [`Error::Limit`] when more than 2^53 columns would be
/// needed.
pub fn features_for(bound: Bound, form: Form, error: f64, confidence: f64) -> Result<usize> {
    require_confidence(confidence)?;
    let (log_factor, rate) = terms(bound, form, error)?;
    let least = ((log_factor - (1.0 - confidence).ln()) / rate)
        .max(1.0)
        .ceil();
    if least > (1_u64 << 53) as f64 {
        return Err(too_many(error, least));
    }
    let least = least as usize;
    Ok(match form {
        Form::Paired => least.next_multiple_of(2),
        Form::Phase => least,
    })
}

/// Logarithm of the factor before the exponential, and the rate beside D in it.
fn terms(bound: Bound, form: Form, error: f64) -> Result<(f64, f64)> {
    require_error(error)?;
    let divisor = match form {
        Form::Paired => 4.0,
        Form::Phase => 8.0,
    };
    match bound {
        Bound::Pointwise => Ok((2_f64.ln(), error * error / divisor)),
        Bound::Uniform {
            columns,
            second_moment,
            diameter,
        } => {
            if columns == 0 || !positive(second_moment) || !positive(diameter) {
                return Err(Error::parameter(format!(
                    "the uniform bound needs columns, a finite second moment and a diameter, all positive, not {columns}, \
                     {second_moment} and {diameter}"
                )));
            }
            let size = second_moment.sqrt() * diameter / error;
            let rate = error * error / (divisor * (columns as f64 + 2.0));
            Ok((256_f64.ln() + 2.0 * size.ln(), rate))
        }
    }
}

fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

pub(super) fn require_error(error: f64) -> Result<()> {
    if positive(error) {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "the error is {error}; it must be positive and finite"
        )))
    }
}

fn require_confidence(confidence: f64) -> Result<()> {
    if confidence > 0.0 && confidence < 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "the confidence is {confidence}; it must lie between 0 and 1"
        )))
    }
}

/// `needed` features are beyond what a number of them can be.
fn too_many(error: f64, needed: f64) -> Error {
    Error::Limit {
        what: format!("an error of {error}"),
        needed: format!("{needed:e} features"),
        allowed: "2^53".into(),
        remedies: vec![Remedy::words("allow a larger error")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{self, Hat};

    const UNIFORM: Bound = Bound::Uniform {
        columns: 3,
        second_moment: 3.0,
        diameter: 2.0,
    };

    #[test]
    fn bounds_are_the_formulas() {
        let p = |bound, form| failure_probability(bound, form, 100, 0.2).expect("fine");
        assert!((p(Bound::Pointwise, Form::Paired) / (2.0 * (-1_f64).exp()) - 1.0).abs() < 1e-14);
        assert!((p(Bound::Pointwise, Form::Phase) / (2.0 * (-0.5_f64).exp()) - 1.0).abs() < 1e-14);
        let uniform = 256.0 * 3.0 * 100.0 * (-4.0 / 20.0_f64).exp();
        assert!((p(UNIFORM, Form::Paired) / uniform - 1.0).abs() < 1e-13);
    }

    /// E |omega|^2 is minus the sum of the second derivatives of k at 0, by central differences.
    #[test]
    fn second_moments_are_curvatures_of_the_kernels() {
        let d = 3;
        for spec in [
            "gaussian",
            "cauchy",
            "matern52",
            "matern:1.7",
            "matern:6",
            "rational-quadratic:0.4",
            "product:gaussian@2*cauchy@0.5",
            "mixture:1*gaussian@2+3*rational-quadratic:2@0.7",
        ] {
            let kernel = kernels::parse(spec).expect("a kernel");
            let measure = kernel.spectrum().expect("shift-invariant");
            let moment = measure.second_moment(d).expect("known");
            let curvature = |h: f64| -> f64 {
                let along = |j: usize| {
                    let mut x = [0.0; 3];
                    x[j] = h;
                    2.0 * (1.0 - kernel.evaluate(&x, &[0.0; 3])) / (h * h)
                };
                (0..d).map(along).sum()
            };
            // Matern of nu = 1.7 is not smooth enough for more digits.
            let allowed = if spec == "matern:1.7" { 0.03 } else { 1e-3 };
            let error = curvature(1e-3) / moment - 1.0;
            assert!(error.abs() < allowed, "{spec}: {error}");
        }
        for spec in [
            "laplacian",
            "exponential",
            "matern:1",
            "product:gaussian@1*laplacian@2",
            "mixture:1*gaussian@1+0.01*exponential@1",
        ] {
            let kernel = kernels::parse(spec).expect("a kernel");
            let measure = kernel.spectrum().expect("shift-invariant");
            assert_eq!(measure.second_moment(d), Some(f64::INFINITY), "{spec}");
            let error = Bound::uniform(kernel.as_ref(), 2, 1.0).expect_err("infinite");
            assert!(error.to_string().contains("infinite"), "{error}");
        }
        assert!(Bound::uniform(&Hat, 2, 1.0).is_err());
        let matern = kernels::parse("matern52").expect("a kernel");
        let bound = Bound::uniform(matern.as_ref(), 3, 2.0).expect("finite");
        let second_moment = 5.0;
        let (columns, diameter) = (3, 2.0);
        let expected = Bound::Uniform {
            columns,
            second_moment,
            diameter,
        };
        assert_eq!(bound, expected);
    }

    #[test]
    fn the_number_of_features_is_the_least_that_keeps_the_promise() {
        for bound in [Bound::Pointwise, UNIFORM] {
            for (form, step) in [(Form::Paired, 2), (Form::Phase, 1)] {
                for (error, confidence) in [(0.3, 0.9), (0.05, 0.999)] {
                    let d = features_for(bound, form, error, confidence).expect("fine");
                    let p = |d| failure_probability(bound, form, d, error).expect("fine");
                    let allowed = 1.0 - confidence;
                    assert!(p(d) <= allowed * (1.0 + 1e-12) && p(d - step) > allowed);
                }
            }
        }
        assert!(features_for(Bound::Pointwise, Form::Phase, 0.0, 0.9).is_err());
        assert!(features_for(Bound::Pointwise, Form::Phase, 0.1, 1.0).is_err());
        assert!(features_for(UNIFORM, Form::Phase, 1e-9, 0.9).is_err());
    }
}
