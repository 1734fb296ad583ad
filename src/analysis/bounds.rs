//! Bounds on the error of Fourier features, and the number of features that they ask for.

use crate::{Error, Result, error::Remedy, features::Form};

/// What a bound holds for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// One pair of rows: Hoeffding, `2 exp(-D eps^2 / 4)` for paired features and
    /// `2 exp(-D eps^2 / 8)` with phases.
    Pointwise,
    /// All pairs of rows at once in a set of the given diameter,
    /// `2^8 (sigma_p diam / eps)^2 exp(-D eps^2 / (4 (d + 2)))` (Rahimi & Recht 2007, claim 1); 8
    /// in place of 4 with phases, as for one pair (Sutherland & Schneider 2015, prop. 2).
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
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::parameter(format!(
            "the confidence is {confidence}; it must lie between 0 and 1"
        )));
    }
    let (log_factor, rate) = terms(bound, form, error)?;
    let least = ((log_factor - (1.0 - confidence).ln()) / rate)
        .max(1.0)
        .ceil();
    if least > (1_u64 << 53) as f64 {
        return Err(Error::Limit {
            what: format!("an error of {error}"),
            needed: format!("{least:e} features"),
            allowed: "2^53".into(),
            remedies: vec![Remedy::words("allow a larger error")],
        });
    }
    let least = least as usize;
    Ok(match form {
        Form::Paired => least.next_multiple_of(2),
        Form::Phase => least,
    })
}

/// Logarithm of the factor before the exponential, and the rate beside D in it.
fn terms(bound: Bound, form: Form, error: f64) -> Result<(f64, f64)> {
    if !(error > 0.0 && error.is_finite()) {
        return Err(Error::parameter(format!(
            "the error is {error}; it must be positive and finite"
        )));
    }
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
            let positive = |v: f64| v > 0.0 && v.is_finite();
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

#[cfg(test)]
mod tests {
    use super::*;

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
