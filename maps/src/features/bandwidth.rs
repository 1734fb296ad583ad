//! Bandwidths: from what a user says to the lengthscale of a kernel at unit scale.

use crate::{
    Error, Result,
    data::{Survey, nearest_distance, typical_distance},
    error::Remedy,
    features::{Scaling, Standardize},
    kernels::Kernel,
};
use std::{fmt, str::FromStr};

/// How wide a kernel is. There is no bare number: gamma and sigma are different conventions.
#[derive(Debug, Clone, PartialEq)]
pub enum Bandwidth {
    /// The gamma of the kernel's own formula: Gaussian `exp(-gamma |x-y|^2)`, Laplacian
    /// `exp(-gamma |x-y|_1)`.
    Gamma(f64),
    /// The lengthscale (sigma of the Gaussian), one for all columns.
    Sigma(f64),
    /// A lengthscale for each column (automatic relevance determination).
    SigmaPerColumn(Vec<f64>),
    /// The median distance between up to 2,000 sampled rows: sigma for kernels of the Euclidean
    /// distance, 1/gamma for L1. Where most pairs are equal rows, as of counts and flags, it is the
    /// median of the distances above 0.
    Median,
    /// For graphs: the larger of a tenth of [`Self::Median`] and the mean distance of a row to its
    /// nearest one, both among up to 2,000 sampled rows. The first keeps apart what gaps part, the
    /// second has rows of many columns see their neighbours.
    Neighbours,
    /// `gamma = 1 / (d Var(X))`, Var over all entries, as scikit-learn has it.
    ///
    /// Where the kernel depends on differences alone and the columns' means lie ten deviations
    /// apart or more, their places would make nearly all of Var(X), and the kernel would be too
    /// wide to see any difference. Var is then the mean of the columns' variances, and a warning
    /// says so. scikit-learn's own number is there all the same, as a [`Self::Gamma`] from
    /// [`Survey::entry_variance`].
    Scale,
    /// For densities: `h_j = s_j n^(-1/(d + 4))` for each column, of deviation s_j over n rows, d
    /// the columns that are not dropped as constant (Scott 1992, sec. 6.3), times what the kernel
    /// needs to smooth as a Gaussian does
    /// ([`Kernel::smooths_as_gaussian`]). Rows count once, whatever their weights.
    Scott,
    /// For densities: [`Self::Scott`] times `(4/(d + 2))^(1/(d + 4))` (Silverman 1986, eq. 4.14),
    /// which is best for a Gaussian cloud.
    Silverman,
    /// What leave-one-out errors on at most 512 rows choose
    /// (`Job::settled`), together with the preparation of columns where
    /// that is left to [`Standardize::Auto`]. The kernel has to depend on differences alone;
    /// [`Self::Scale`] there and where there is nothing to choose by, as without targets.
    Chosen,
}

impl Bandwidth {
    /// Whether the lengthscales are found by a rule in the data.
    #[doc(hidden)]
    pub fn is_rule(&self) -> bool {
        matches!(
            self,
            Self::Median
                | Self::Neighbours
                | Self::Scale
                | Self::Scott
                | Self::Silverman
                | Self::Chosen
        )
    }

    /// Rows that [`Self::Median`] and [`Self::Neighbours`] look at.
    #[doc(hidden)]
    pub const MEDIAN_ROWS: usize = 2000;

    /// Rows that have to be sampled for it.
    pub fn sample_rows(&self) -> usize {
        if matches!(self, Self::Median | Self::Neighbours) {
            Self::MEDIAN_ROWS
        } else {
            0
        }
    }

    fn rule(text: &str) -> Option<Self> {
        let rules = [
            Self::Median,
            Self::Neighbours,
            Self::Scale,
            Self::Scott,
            Self::Silverman,
            Self::Chosen,
        ];
        rules.into_iter().find(|rule| rule.to_string() == text)
    }

    /// Reads a gamma from text: a number or a rule, `median`, `neighbours`, `scale`, `scott`,
    /// `silverman` or `chosen`.
    pub fn from_gamma(text: &str) -> Result<Self> {
        match Self::rule(text) {
            Some(rule) => Ok(rule),
            None => Ok(Self::Gamma(positive("gamma", text)?)),
        }
    }

    /// Reads a lengthscale from text: a number, one number per column separated by commas, or a
    /// rule.
    pub fn from_sigma(text: &str) -> Result<Self> {
        match Self::rule(text) {
            Some(rule) => Ok(rule),
            None if text.contains(',') => Ok(Self::SigmaPerColumn(
                text.split(',')
                    .map(|part| positive("sigma", part.trim()))
                    .collect::<Result<_>>()?,
            )),
            None => Ok(Self::Sigma(positive("sigma", text)?)),
        }
    }

    /// The lengthscales for `kernel` if no data is needed to find them: `None` for the rules.
    /// Errors as [`Self::lengthscales`] does.
    pub fn fixed(&self, kernel: &dyn Kernel) -> Result<Option<Vec<f64>>> {
        let one = match self {
            Self::Gamma(gamma) => kernel.lengthscale_of_gamma(*gamma)?,
            Self::Sigma(sigma) => *sigma,
            Self::SigmaPerColumn(all) => return Ok(Some(all.clone())),
            _ => return Ok(None),
        };
        checked(one).map(Some)
    }

    /// The lengthscales for `kernel`: one, or one per column. The rules see the columns of `survey`
    /// as `scaling` has decided on them.
    ///
    /// Errors when a gamma is given to a kernel whose formula has none, when the rule finds no
    /// spread in the data, and when the result is not positive and finite.
    pub fn lengthscales(
        &self,
        kernel: &dyn Kernel,
        survey: &Survey,
        scaling: &Scaling,
    ) -> Result<Vec<f64>> {
        if let Some(fixed) = self.fixed(kernel)? {
            return Ok(fixed);
        }
        if matches!(self, Self::Scott | Self::Silverman) {
            return self.of_density(kernel, survey, scaling);
        }
        let one = match self {
            Self::Median => typical_distance(scaling.apply(&survey.sample)?.view(), kernel.norm())?,
            Self::Neighbours => {
                let sample = scaling.apply(&survey.sample)?;
                let tenth = typical_distance(sample.view(), kernel.norm())? / 10.0;
                tenth.max(nearest_distance(sample.view(), kernel.norm()))
            }
            _ => {
                let variance = scaling.entry_variance(survey);
                let gamma = 1.0 / (survey.mean.len() as f64 * variance);
                if !gamma.is_finite() {
                    let problem = "the data has no spread, so `scale` finds no bandwidth";
                    return Err(Error::numerical(problem).help(Remedy::GiveBandwidth));
                }
                // Kernels without a gamma take the sigma that a Gaussian would have.
                kernel
                    .lengthscale_of_gamma(gamma)
                    .unwrap_or_else(|_| (0.5 / gamma).sqrt())
            }
        };
        checked(one)
    }

    /// [`Self::Scott`] and [`Self::Silverman`].
    fn of_density(
        &self,
        kernel: &dyn Kernel,
        survey: &Survey,
        scaling: &Scaling,
    ) -> Result<Vec<f64>> {
        let deviations = scaling.deviations(survey);
        let varying = |s: &&Option<f64>| s.is_some();
        let d = deviations.iter().filter(varying).count();
        let smooths = kernel.smooths_as_gaussian(d).ok_or_else(|| {
            if kernel.ln_integral(d).is_none() {
                let problem = format!(
                    "the kernel {} has no finite integral over {d} columns that is known, which a \
                     density is divided by",
                    kernel.spec()
                );
                return Error::unsupported(problem).help(if kernel.is_shift_invariant() {
                    Remedy::UseKernel("gaussian")
                } else {
                    Remedy::UseMap("fourier")
                });
            }
            let problem = format!("{self} is not known for the kernel {}", kernel.spec());
            Error::unsupported(problem).help(Remedy::GiveLengthscale)
        })?;
        let (n, d) = (survey.rows as f64, d as f64);
        let silverman = match self {
            Self::Silverman => 4.0 / (d + 2.0),
            _ => 1.0,
        };
        let factor = smooths * (silverman / n).powf(1.0 / (d + 4.0));
        let each = deviations.iter().enumerate().map(|(j, s)| match s {
            // What is dropped has no scale.
            None => Ok(1.0),
            Some(s) if *s > 0.0 => Ok(factor * s * (n / (n - 1.0)).sqrt()),
            Some(_) => Err(Error::numerical(format!(
                "{} is constant, so `{self}` finds no bandwidth; leave it out",
                survey.column(j)
            ))
            .help(Remedy::Standardize)
            .help(Remedy::GiveBandwidth)),
        });
        each.collect()
    }
}

impl Standardize {
    /// The same beside a bandwidth: who gives every column its own lengthscale has scaled them, so
    /// [`Self::Auto`] is [`Self::No`] there.
    #[doc(hidden)]
    pub fn for_bandwidth(self, bandwidth: &Bandwidth) -> Self {
        match (self, bandwidth) {
            (Self::Auto, Bandwidth::SigmaPerColumn(_)) => Self::No,
            _ => self,
        }
    }
}

fn checked(lengthscale: f64) -> Result<Vec<f64>> {
    if lengthscale > 0.0 && lengthscale.is_finite() {
        Ok(vec![lengthscale])
    } else {
        Err(Error::parameter(format!(
            "the lengthscale is {lengthscale}; it must be positive and finite"
        ))
        .help(Remedy::OtherBandwidth))
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gamma(gamma) => write!(f, "gamma {gamma}"),
            Self::Sigma(sigma) => write!(f, "sigma {sigma}"),
            Self::SigmaPerColumn(all) => write!(f, "{} sigmas", all.len()),
            Self::Median => f.write_str("median"),
            Self::Neighbours => f.write_str("neighbours"),
            Self::Scale => f.write_str("scale"),
            Self::Scott => f.write_str("scott"),
            Self::Silverman => f.write_str("silverman"),
            Self::Chosen => f.write_str("chosen"),
        }
    }
}

fn positive(name: &str, text: &str) -> Result<f64> {
    match f64::from_str(text) {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(Error::parameter(format!(
            "{name} is {text:?}; it must be a positive number, median, neighbours, scale, \
             scott, silverman or chosen"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::MemorySource,
        kernels::{Exponential, Gaussian, Laplacian},
    };
    use ndarray::{Array2, array};

    /// The rules against their definitions, entry by entry and pair by pair.
    #[test]
    fn median_and_scale_are_their_definitions() {
        let x: Array2<f64> = array![
            [0.0, 10.0, 1.0],
            [1.0, 13.0, 1.5],
            [4.0, 9.0, 0.0],
            [2.0, 14.0, 3.0]
        ];
        let mut source = MemorySource::new(&x, None).expect("finite");
        let survey = Survey::new(&mut source, 4, 0).expect("surveys");
        let raw = Standardize::No.decide(&survey, true);
        let of = |rule: Bandwidth, kernel: &dyn Kernel, scaling: &Scaling| {
            rule.lengthscales(kernel, &survey, scaling).expect("fine")[0]
        };
        let near = |got: f64, expected: f64| {
            assert!((got / expected - 1.0).abs() < 1e-12, "{got} for {expected}");
        };
        // scikit-learn's gamma="scale": 1 / (d Var(X)) over all entries.
        let mean = x.mean().expect("entries");
        let variance = x.mapv(|v| (v - mean).powi(2)).mean().expect("entries");
        let gamma = 1.0 / (3.0 * variance);
        near(of(Bandwidth::Scale, &Gaussian, &raw), (0.5 / gamma).sqrt());
        near(of(Bandwidth::Scale, &Laplacian, &raw), 1.0 / gamma);
        near(
            of(Bandwidth::Scale, &Exponential, &raw),
            (0.5 / gamma).sqrt(),
        );
        // Standardised entries have variance 1.
        let scaled = Standardize::Yes.decide(&survey, true);
        near(of(Bandwidth::Scale, &Gaussian, &scaled), 1.5_f64.sqrt());

        // Of the six distances in the norm of the kernel.
        let median_of = |x: &Array2<f64>, distance: fn(f64) -> f64, finish: fn(f64) -> f64| {
            let mut all: Vec<f64> = (0..4)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| finish((&x.row(i) - &x.row(j)).mapv(distance).sum()))
                .collect();
            all.sort_unstable_by(f64::total_cmp);
            (all[2] + all[3]) / 2.0
        };
        let median = |distance, finish| median_of(&x, distance, finish);
        near(
            of(Bandwidth::Median, &Gaussian, &raw),
            median(|v| v * v, f64::sqrt),
        );
        near(
            of(Bandwidth::Median, &Laplacian, &raw),
            median(f64::abs, |v| v),
        );
        // Of the columns as they were decided on.
        let deviations = x.std_axis(ndarray::Axis(0), 0.0);
        near(
            of(Bandwidth::Median, &Gaussian, &scaled),
            median_of(&(&x / &deviations), |v| v * v, f64::sqrt),
        );
    }

    /// By their definitions, of columns that are standardised or not; constant ones are no columns
    /// where they are dropped, and an error else.
    #[test]
    fn rules_of_densities_are_their_definitions() {
        let x: Array2<f64> = array![
            [0.0, 10.0, 1.0, 2.0],
            [1.0, 13.0, 1.5, 2.0],
            [4.0, 9.0, 0.0, 2.0],
            [2.0, 14.0, 3.0, 2.0],
            [2.5, 11.0, 3.5, 2.0]
        ];
        let mut source = MemorySource::new(&x, None).expect("finite");
        let survey = Survey::new(&mut source, 0, 0).expect("surveys");
        let deviations = x.std_axis(ndarray::Axis(0), 1.0);
        let raw = Standardize::No.decide(&survey, true);
        let scaled = Standardize::Yes.decide(&survey, true);
        for (rule, factor) in [
            (Bandwidth::Scott, 5.0_f64.powf(-1.0 / 7.0)),
            // (4 / (3 + 2))^(1/7) beside it.
            (Bandwidth::Silverman, (4.0_f64 / 25.0).powf(1.0 / 7.0)),
        ] {
            let of = |kernel: &dyn Kernel, scaling| rule.lengthscales(kernel, &survey, scaling);
            let own = of(&Gaussian, &scaled).expect("three columns");
            let wide = of(&Laplacian, &scaled).expect("three columns");
            for j in 0..3 {
                // Standardised by the deviation of the population.
                let population = x.column(j).std(0.0);
                let expected = factor * deviations[j] / population;
                assert!((own[j] / expected - 1.0).abs() < 1e-12, "{rule} {j}");
                let ratio = wide[j] / own[j];
                let known = Laplacian.smooths_as_gaussian(3).expect("known");
                assert!((ratio / known - 1.0).abs() < 1e-12, "{rule} {j}");
            }
            let message = of(&Gaussian, &raw).expect_err("constant").to_string();
            assert!(message.contains("column 3"), "{message}");
            assert!(of(&crate::kernels::Cauchy, &scaled).is_err());
            assert_eq!(
                Bandwidth::from_sigma(&rule.to_string()).expect("a rule"),
                rule
            );
        }
    }

    #[test]
    fn lengthscales_of_each_column_are_scales_already() {
        let each = Bandwidth::SigmaPerColumn(vec![1.0, 1000.0]);
        assert_eq!(Standardize::Auto.for_bandwidth(&each), Standardize::No);
        assert_eq!(Standardize::Yes.for_bandwidth(&each), Standardize::Yes);
        for one in [Bandwidth::Sigma(2.0), Bandwidth::Median, Bandwidth::Scale] {
            assert_eq!(Standardize::Auto.for_bandwidth(&one), Standardize::Auto);
        }
    }
}
