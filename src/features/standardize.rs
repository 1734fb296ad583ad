//! How raw columns are centred and scaled before a bandwidth divides them: as told, or as a survey
//! of them suggests.

use super::{Affine, Bandwidth};
use crate::{
    Error, Result,
    data::{Rows, Survey},
    error::Remedy,
    features::affine::LARGEST,
};
use ndarray::Array2;
use std::{fmt, str::FromStr};

/// Whether columns are divided by their standard deviations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Standardize {
    /// As [`Self::decide`] finds: mixed scales are standardised, columns of one unit are left.
    #[default]
    Auto,
    /// Every column; constant ones become zero.
    Yes,
    /// None.
    No,
}

/// Scales, or places, that differ so many times are mixed. By this measure letters and two sets of
/// images of digits differ 1 to 2 times, and columns of several units (covtype, cpu, adult) 3000
/// times and more: what lies between is a choice.
const MIXED: f64 = 10.0;
/// Scales that differ so many times are worth a hint to who leaves them.
const WIDELY: f64 = 100.0;
/// Of the columns that take many values, so many parts may be smaller than the rest: rarely lit
/// pixels at an edge.
const FEW: usize = 10;
/// A binary column counts as a scale of its own if its standard deviation is this share of its
/// step: the rarer of its values is in 4 % of the rows. Rarer ones are stray pixels as often as
/// they are flags.
const COMMON: f64 = 0.2;
/// f32 keeps 24 bits. So many standard deviations from 0 it rounds by a thousandth of one.
const FAR: f64 = 8192.0;

impl Standardize {
    /// The same beside a bandwidth: who gives every column its own lengthscale has scaled them, so
    /// [`Self::Auto`] is [`Self::No`] there.
    pub fn beside(self, bandwidth: &Bandwidth) -> Self {
        match (self, bandwidth) {
            (Self::Auto, Bandwidth::SigmaPerColumn(_)) => Self::No,
            _ => self,
        }
    }

    /// How the columns of `survey` are prepared for a kernel or nonlinearity, which is
    /// `shift_invariant` if it depends on differences of rows alone
    /// ([`Kernel::is_shift_invariant`](crate::kernels::Kernel::is_shift_invariant)).
    ///
    /// What is shift invariant is centred at the means in every case, which changes no kernel
    /// value: in f64 on the host, so that columns far from 0 (times, identifiers) keep their
    /// digits. Otherwise only standardised columns are centred, and a warning names the columns of
    /// which f32 loses digits.
    ///
    /// [`Self::Auto`] standardises when the columns have mixed scales, as a function of the survey
    /// alone:
    ///
    /// * Compared are the columns that vary and take more than two values, each by its range and by
    ///   its standard deviation, and, as one more column, the widest binary column whose rarer
    ///   value is in at least 4 % of the rows. The factor between the widest and the narrowest, a
    ///   tenth of the columns aside, must be 10 by both measures. Pixels that are rarely lit have a
    ///   small deviation and not a small range; a column with an outlier has a wide range and not a
    ///   wide deviation.
    /// * Or the means of these columns lie apart by 10 times their deviations, so that they share
    ///   no place.
    ///
    /// Then columns of more than two values are standardised. Binary columns keep their scale,
    /// because a rare flag divided by its deviation would outweigh all others, and constant ones
    /// become zero.
    pub fn decide(self, survey: &Survey, shift_invariant: bool) -> Scaling {
        let columns = survey.mean.len();
        let many = |j: usize| !survey.is_constant(j) && !survey.binary[j];
        let (mixed, found) = mixed(survey);
        let (yes, reason, hint) = match self {
            Self::Yes => (true, None, None),
            Self::No => (false, None, mixed.filter(|&f| f >= WIDELY).map(|_| found)),
            Self::Auto => (mixed.is_some(), Some(found), None),
        };
        let varies = |j: usize| !survey.is_constant(j);
        let standardized: Vec<bool> = (0..columns)
            .map(|j| yes && varies(j) && (self == Self::Yes || many(j)))
            .collect();
        let scale = (0..columns).map(|j| match standardized[j] {
            true => 1.0 / survey.variance[j].sqrt(),
            false if yes && !varies(j) => 0.0,
            false => 1.0,
        });
        let scale: Vec<f64> = scale.collect();
        let center = (0..columns).map(|j| match shift_invariant || standardized[j] {
            true => survey.mean[j],
            false => 0.0,
        });
        let center: Vec<f64> = center.collect();
        let scaling = Scaling {
            asked: self,
            yes,
            reach: (0..columns)
                .map(|j| {
                    let ends = [survey.min[j], survey.max[j]];
                    let far = ends.map(|end| (end - center[j]).abs() * scale[j]);
                    far[0].max(far[1])
                })
                .collect(),
            names: (0..columns).map(|j| survey.column(j)).collect(),
            input: Affine::new(center, scale),
            standardized,
            reason,
            hint,
        };
        if let Some(warning) = scaling.far(survey) {
            log::warn!("{warning}");
        }
        scaling
    }
}

/// The factor by which scales or places of the columns differ, if they are mixed, and the finding
/// in words.
fn mixed(survey: &Survey) -> (Option<f64>, String) {
    let columns = 0..survey.mean.len();
    let varying: Vec<usize> = columns.filter(|&j| !survey.is_constant(j)).collect();
    let (binary, many): (Vec<usize>, Vec<usize>) = varying.iter().partition(|&&j| survey.binary[j]);
    let range = |j: usize| survey.max[j] - survey.min[j];
    let deviation = |j: usize| survey.variance[j].sqrt();
    if varying.is_empty() {
        return (None, "no column varies".into());
    }
    if !many.is_empty() {
        let flags = binary.iter().copied();
        let flags = flags.filter(|&j| deviation(j) >= COMMON * range(j));
        let step = flags.map(range).max_by(f64::total_cmp);
        // A binary column of one step deviates by half of it at most.
        let by_range = factor(many.iter().map(|&j| range(j)), step);
        let by_deviation = factor(many.iter().map(|&j| deviation(j)), step.map(|s| s / 2.0));
        let factor = by_range.min(by_deviation);
        if factor >= MIXED {
            return (
                Some(factor),
                format!("scales differ {}-fold", two_digits(factor)),
            );
        }
    }
    let within = survey
        .variance
        .iter()
        .map(|v| v / varying.len() as f64)
        .sum::<f64>();
    let between = {
        let places = varying.iter().map(|&j| survey.mean[j]);
        let n = varying.len() as f64;
        let middle = places.clone().map(|m| m / n).sum::<f64>();
        places.map(|m| (m - middle).powi(2) / n).sum::<f64>()
    };
    let apart = (between / within).sqrt();
    if apart >= MIXED {
        let reason = format!("means lie {} deviations apart", two_digits(apart));
        return (Some(apart), reason);
    }
    let reason = match (many.len(), varying.len()) {
        (0, _) => "all columns are binary",
        (_, 1) => "there is one column",
        _ => "scales are alike",
    };
    (None, reason.into())
}

/// The largest of `scales` over the smallest but for a tenth of them, with `other` among either.
fn factor(scales: impl Iterator<Item = f64>, other: Option<f64>) -> f64 {
    let mut scales: Vec<f64> = scales.collect();
    scales.sort_unstable_by(f64::total_cmp);
    let (small, large) = (scales[scales.len() / FEW], scales[scales.len() - 1]);
    let other = other.unwrap_or(large);
    large.max(other) / small.min(other)
}

/// `3200`, `17`.
fn two_digits(value: f64) -> String {
    let unit = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    let rounded = (value / unit).round() * unit;
    match rounded < 1e6 {
        true => format!("{rounded:.0}"),
        false => format!("{rounded:.1e}"),
    }
}

/// Columns centred and scaled, before a bandwidth divides them: what [`Standardize::decide`] gives.
///
/// It is displayed as the command line says it:
/// `auto -> yes, 8 of 8 columns: scales differ 2400-fold`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    asked: Standardize,
    yes: bool,
    standardized: Vec<bool>,
    reason: Option<String>,
    hint: Option<String>,
    input: Affine,
    /// The largest |u_j| of the rows surveyed.
    reach: Vec<f64>,
    /// What messages call the columns.
    names: Vec<String>,
}

impl Scaling {
    /// What was asked for.
    pub fn asked(&self) -> Standardize {
        self.asked
    }

    /// Whether columns are standardised.
    pub fn is_standardized(&self) -> bool {
        self.yes
    }

    /// Which columns are divided by their standard deviations, `[d]`.
    pub fn standardized(&self) -> &[bool] {
        &self.standardized
    }

    /// Why [`Standardize::Auto`] decided as it did; `None` for the others.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// What speaks against [`Standardize::No`]: scales or places that differ 100-fold or more.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// From raw columns to unit scale: centred, standardised, and divided by `lengthscales`, one or
    /// one per column.
    ///
    /// Errors as [`Affine::lengthscales`] does, and with [`Error::Parameter`] that names the column
    /// if a value of the rows surveyed would leave the range of f32.
    pub fn input(&self, lengthscales: &[f64]) -> Result<Affine> {
        let input = self.input.clone().lengthscales(lengthscales)?;
        let lengthscale = |j: usize| lengthscales[j % lengthscales.len()];
        let mut reach = self.reach.iter().enumerate();
        let Some((j, reach)) = reach.find(|&(j, &r)| r / lengthscale(j) > f64::from(LARGEST))
        else {
            return Ok(input);
        };
        let problem = format!(
            "{} reaches {:.1e} lengthscales, beyond {LARGEST:e}, where sums leave the range of f32",
            self.names[j],
            reach / lengthscale(j)
        );
        Err(Error::parameter(problem)
            .help(Remedy::Standardize)
            .help(Remedy::LargerLengthscale))
    }

    /// Rows before any lengthscale, `[n, d]`, as the `median` rule sees them.
    pub(super) fn apply(&self, x_nd: &Array2<f64>) -> Result<Array2<f64>> {
        self.input.apply(&Rows::from(x_nd))
    }

    /// Variance over all entries before any lengthscale, as the `scale` rule sees it.
    pub(super) fn entry_variance(&self, survey: &Survey) -> f64 {
        // Columns that are left lie where they lie for the rule, as scikit-learn has it, although
        // they are centred.
        if !self.yes {
            return survey.entry_variance();
        }
        let scaled = self.input.scale().iter().zip(&survey.variance);
        scaled.map(|(s, v)| s * s * v).sum::<f64>() / survey.mean.len() as f64
    }

    /// Names the worst column that is neither centred nor near enough to 0 for f32.
    fn far(&self, survey: &Survey) -> Option<String> {
        let distance = |j: usize| (survey.mean[j] - self.input.center()[j]).abs();
        let far = (0..self.names.len()).filter(|&j| !survey.is_constant(j));
        let far = far.map(|j| (j, distance(j) / survey.variance[j].sqrt()));
        let (j, deviations) = far.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (deviations > FAR).then(|| {
            format!(
                "{} lies {} standard deviations from 0, of which f32 keeps {} digits; subtract its \
                 mean or standardise",
                self.names[j],
                two_digits(deviations),
                // 2^-24 is 7.2 digits.
                (7.2 - deviations.log10()).max(0.0).floor()
            )
        })
    }
}

impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.asked == Standardize::Auto {
            f.write_str("auto -> ")?;
        }
        match self.yes {
            true => {
                let count = self.standardized.iter().filter(|&&s| s).count();
                write!(f, "yes, {count} of {} columns", self.standardized.len())?;
            }
            false => f.write_str("no")?,
        }
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Standardize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Yes => "yes",
            Self::No => "no",
        })
    }
}

impl FromStr for Standardize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "yes" => Ok(Self::Yes),
            "no" => Ok(Self::No),
            _ => Err(Error::parameter(format!(
                "standardize is {text:?}; use auto, yes or no"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;

    /// What is found of `rows` rows whose column j is `column(j, i)`.
    fn survey(rows: usize, columns: usize, column: impl Fn(usize, usize) -> f64) -> Survey {
        let x = Array2::from_shape_fn((rows, columns), |(i, j)| column(j, i));
        let mut source = MemorySource::new(x, None).expect("finite");
        Survey::of(&mut source, rows, 0, &mut |_| {}).expect("reads")
    }

    /// 0 to 1, evenly, in another order for every column.
    fn even(j: usize, i: usize) -> f64 {
        ((i * (2 * j + 7) + j) % 101) as f64 / 100.0
    }

    fn decided(survey: &Survey) -> (Vec<bool>, String) {
        let scaling = Standardize::Auto.decide(survey, true);
        (scaling.standardized().to_vec(), scaling.to_string())
    }

    #[test]
    fn mixed_scales_are_standardised_and_one_unit_is_left() {
        let (columns, text) = decided(&survey(101, 3, |j, i| [1.0, 9.0, 5.0][j] * even(j, i)));
        assert_eq!(columns, [false; 3]);
        assert_eq!(text, "auto -> no: scales are alike");
        let (columns, text) = decided(&survey(101, 3, |j, i| [1.0, 3200.0, 5.0][j] * even(j, i)));
        assert_eq!(columns, [true; 3]);
        assert_eq!(text, "auto -> yes, 3 of 3 columns: scales differ 3200-fold");
        let hint = |factor: f64, choice: Standardize| {
            let columns = survey(101, 2, |j, i| [1.0, factor][j] * even(j, i));
            choice.decide(&columns, true).hint().map(str::to_owned)
        };
        let said = hint(120.0, Standardize::No);
        assert_eq!(said.as_deref(), Some("scales differ 120-fold"));
        assert_eq!(hint(80.0, Standardize::No), None);
        assert_eq!(hint(120.0, Standardize::Auto), None);
        // Two wide columns do not hide a narrow one.
        let (columns, _) = decided(&survey(101, 3, |j, i| [1.0, 90.0, 90.0][j] * even(j, i)));
        assert_eq!(columns, [true; 3]);
    }

    #[test]
    fn rarely_lit_pixels_and_an_outlier_are_no_scale() {
        // Of 30 pixels ten light up in two to eleven rows of 8002: deviations differ 15-fold,
        // ranges do not.
        let pixel = |j: usize, i: usize| match j {
            20.. if i >= j - 18 => 0.0,
            20.. => 200.0 + i as f64,
            _ => 255.0 * even(j, i),
        };
        let images = survey(8002, 30, pixel);
        let deviations: Vec<f64> = images.variance.iter().map(|v| v.sqrt()).collect();
        assert!(deviations[0] > 14.0 * deviations[23], "{deviations:?}");
        assert_eq!(decided(&images).0, [false; 30]);
        // One value 35 times as large as the others: so is the range, and the deviation 35 /
        // sqrt(303) / 0.29 = 7 times.
        let outlier = |j: usize, i: usize| match (j, i) {
            (0, 7) => 35.0,
            _ => even(j, i),
        };
        let (columns, text) = decided(&survey(303, 3, outlier));
        assert_eq!(columns, [false; 3], "{text}");
    }

    #[test]
    fn binary_and_constant_columns_are_never_scaled() {
        let column = |j: usize, i: usize| match j {
            0 => 3.0,
            1 => f64::from(u8::from(i.is_multiple_of(50))),
            2 => f64::from(u8::from(i.is_multiple_of(3))),
            3 => even(j, i),
            _ => 500.0 * even(j, i),
        };
        let survey = survey(303, 5, column);
        assert_eq!(survey.binary, [false, true, true, false, false]);
        let scaling = Standardize::Auto.decide(&survey, true);
        assert_eq!(scaling.standardized(), [false, false, false, true, true]);
        assert_eq!(scaling.input.scale()[..3], [0.0, 1.0, 1.0]);
        assert_eq!(scaling.input.center(), survey.mean);
        let all = Standardize::Yes.decide(&survey, true);
        assert_eq!(all.standardized(), [false, true, true, true, true]);
        assert_eq!(all.input, Affine::standardize(&survey));
        assert_eq!(all.to_string(), "yes, 4 of 5 columns");
        let none = Standardize::No.decide(&survey, true);
        assert_eq!(none.standardized(), [false; 5]);
        assert_eq!(none.input.scale(), [1.0; 5]);
        assert_eq!(none.to_string(), "no");
    }

    #[test]
    fn flags_are_a_scale_beside_one_wide_column() {
        let flags = |share: usize| {
            survey(1000, 8, move |j, i| match j {
                0 => 5000.0 * even(j, i),
                _ => f64::from(u8::from((i + j) % share == 0)),
            })
        };
        let (columns, text) = decided(&flags(4));
        assert!(columns[0] && !columns[1], "{text}");
        // Rare ones say nothing of a unit: 16 grey values of an image beside a pixel that is lit
        // once in 200 rows.
        assert_eq!(decided(&flags(200)).0, [false; 8]);
    }

    #[test]
    fn places_far_apart_are_mixed_too() {
        let (columns, text) = decided(&survey(101, 2, |j, i| [1.7e9, 3.0][j] + even(j, i)));
        assert_eq!(columns, [true; 2]);
        assert!(text.contains("means lie"), "{text}");
        let (columns, text) = decided(&survey(101, 2, |j, i| 1.7e9 + even(j, i)));
        assert_eq!(columns, [false; 2], "{text}");
    }

    #[test]
    fn rules_see_the_columns_as_decided() {
        let survey = survey(101, 3, |j, i| {
            [1.0, 30.0, 900.0][j] * (j as f64 + even(j, i))
        });
        let raw = Standardize::No.decide(&survey, true);
        assert_eq!(raw.entry_variance(&survey), survey.entry_variance());
        let standard = Standardize::Auto.decide(&survey, true);
        assert!((standard.entry_variance(&survey) - 1.0).abs() < 1e-14);
        let u = standard.apply(&survey.sample).expect("applies");
        assert!((u.mapv(|v| v * v).mean().expect("rows") - 1.0).abs() < 1e-12);
        assert!(u.sum().abs() < 1e-9);
    }

    #[test]
    fn what_is_not_shift_invariant_is_not_moved() {
        let survey = survey(101, 2, |j, i| [1e9, 3.0][j] + even(j, i));
        let scaling = Standardize::No.decide(&survey, false);
        assert_eq!(scaling.input.center(), [0.0; 2]);
        let warning = scaling.far(&survey).expect("far from 0");
        assert!(warning.contains("column 0"), "{warning}");
        assert_eq!(Standardize::No.decide(&survey, true).far(&survey), None);
        assert_eq!(Standardize::Yes.decide(&survey, false).far(&survey), None);
    }

    #[test]
    fn values_beyond_f32_are_refused_by_column() {
        let survey = survey(101, 2, |j, i| [1.0, 1e33][j] * even(j, i));
        let raw = Standardize::No.decide(&survey, true);
        let message = raw.input(&[1.0]).expect_err("1e33").to_string();
        assert!(
            message.starts_with("column 1 (counted from 0) reaches 5.0e32"),
            "{message}"
        );
        assert!(raw.input(&[1.0, 1e10]).is_ok());
        assert!(Standardize::Yes.decide(&survey, true).input(&[1.0]).is_ok());
    }

    #[test]
    fn lengthscales_of_each_column_are_scales_already() {
        let each = Bandwidth::SigmaPerColumn(vec![1.0, 1000.0]);
        assert_eq!(Standardize::Auto.beside(&each), Standardize::No);
        assert_eq!(Standardize::Yes.beside(&each), Standardize::Yes);
        for one in [Bandwidth::Sigma(2.0), Bandwidth::Median, Bandwidth::Scale] {
            assert_eq!(Standardize::Auto.beside(&one), Standardize::Auto);
        }
    }

    #[test]
    fn spellings_round_trip() {
        for choice in [Standardize::Auto, Standardize::Yes, Standardize::No] {
            assert_eq!(choice.to_string().parse::<Standardize>().ok(), Some(choice));
        }
        assert!("true".parse::<Standardize>().is_err());
    }
}
