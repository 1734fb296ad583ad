//! Which raw columns are standardised: as told, or as a survey of them suggests.

use crate::{Error, Result, data::Survey, kernels::Domain, text::spelled};
use std::{fmt, str::FromStr};

/// Whether columns are divided by their standard deviations, or by their ranges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Standardize {
    /// As [`Self::decide`] finds: mixed scales are standardised, columns of one unit are left.
    #[default]
    Auto,
    /// Every column; constant ones become zero.
    Yes,
    /// None.
    No,
    /// Every column, divided by its range in the place of its deviation: columns of one unit keep
    /// it, pixels that are rarely lit stay small, and one of another unit is as wide as the rest.
    Range,
    /// Every column of more than two values, from its median and over the distance of its
    /// quartiles, and what is far from there pulled in: `u / sqrt(1 + (u / 3)^2)`, never beyond 3
    /// (Holzmuller, Grinsztajn & Steinwart 2024). For columns with far values.
    Robust,
    /// Every column of more than two values by the normal scores of its ranks among the rows
    /// surveyed, which no rising function of a column changes. For columns whose units say little.
    Rank,
    /// Every column along a curve of its own, of which equal steps change predictions alike: steep
    /// where targets jump, and flat where a column says nothing. A search finds it
    /// (`Search::preparation`); asked for by itself it is [`Self::Yes`], for nothing is learnt yet.
    Learned,
}

/// Scales that differ so many times are mixed. By this measure letters and two sets of images of
/// digits, which lose by it, differ 1 to 2 times; a smooth function of a column beside one three
/// times as wide is lost without it.
const MIXED: f64 = 2.5;
/// Places that differ so many deviations are mixed.
const APART: f64 = 10.0;
/// Scales that differ so many times are worth a hint to who leaves them.
const WIDELY: f64 = 100.0;
/// Of the columns that take many values, so many parts may be smaller than the rest: rarely lit
/// pixels at an edge.
const FEW: usize = 10;
/// A binary column counts as a scale of its own if its standard deviation is this share of its
/// step: the rarer of its values is in 4 % of the rows. Rarer ones are stray pixels as often as
/// they are flags.
const COMMON: f64 = 0.2;

/// What is done with the columns of a survey, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision {
    pub(super) asked: Standardize,
    /// Whether columns are standardised at all.
    pub(super) yes: bool,
    /// Which, `[d]`.
    pub(super) standardized: Vec<bool>,
    /// Why [`Standardize::Auto`] decided so.
    pub(super) reason: Option<String>,
    /// What speaks against [`Standardize::No`].
    pub(super) hint: Option<String>,
}

impl Standardize {
    /// The same for a kernel that takes the values of `domain`: standardised columns hold both
    /// signs, so [`Self::Auto`] is [`Self::No`] where not every number is taken.
    #[doc(hidden)]
    pub fn within(self, domain: Domain) -> Self {
        match (self, domain) {
            (Self::Auto, Domain::NonNegative | Domain::Above(_)) => Self::No,
            _ => self,
        }
    }

    /// Whether columns may be left as they are, whatever the rows say.
    #[doc(hidden)]
    pub fn may_leave(self) -> bool {
        matches!(self, Self::Auto | Self::No)
    }

    /// Whether columns go through more than centring and scaling.
    #[doc(hidden)]
    pub fn bends(self) -> bool {
        matches!(self, Self::Robust | Self::Rank)
    }

    /// Whether columns of two values are divided, too.
    fn divides_flags(self) -> bool {
        matches!(self, Self::Yes | Self::Range | Self::Learned)
    }

    /// Rows that it looks at.
    #[doc(hidden)]
    pub fn sample_rows(self) -> usize {
        if self.bends() {
            super::Bandwidth::MEDIAN_ROWS
        } else {
            0
        }
    }

    /// What is done with the columns of `survey`: [`Self::decide`] has the rule.
    pub(super) fn decision(self, survey: &Survey) -> Decision {
        let columns = survey.mean.len();
        let many = |j: usize| !survey.binary[j];
        let (mixed, found) = mixed(survey);
        let (yes, reason, hint) = match self {
            Self::Yes | Self::Range | Self::Robust | Self::Rank | Self::Learned => {
                (true, None, None)
            }
            Self::No => (false, None, mixed.filter(|&f| f >= WIDELY).map(|_| found)),
            Self::Auto => (mixed.is_some(), Some(found), None),
        };
        // The unit of words is the length of their rows.
        let varies = |j: usize| !survey.is_constant(j) && !survey.of_words[j];
        let standardized: Vec<bool> = (0..columns)
            .map(|j| yes && varies(j) && (self.divides_flags() || many(j)))
            .collect();
        Decision {
            asked: self,
            yes,
            standardized,
            reason,
            hint,
        }
    }
}

/// The factor by which scales or places of the columns differ, if they are mixed, and the finding
/// in words.
fn mixed(survey: &Survey) -> (Option<f64>, String) {
    let columns = 0..survey.mean.len();
    let varying = columns.filter(|&j| !survey.is_constant(j) && !survey.of_words[j]);
    let varying: Vec<usize> = varying.collect();
    let (binary, many): (Vec<usize>, Vec<usize>) = varying.iter().partition(|&&j| survey.binary[j]);
    let range = |j: usize| survey.max[j] - survey.min[j];
    let deviation = |j: usize| survey.variance[j].sqrt();
    if varying.is_empty() {
        let reason = if survey.of_words.contains(&true) {
            "there are words alone"
        } else {
            "no column varies"
        };
        return (None, reason.into());
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
    let variances = varying.iter().map(|&j| survey.variance[j]);
    let within = variances.map(|v| v / varying.len() as f64).sum::<f64>();
    let between = {
        let places = varying.iter().map(|&j| survey.mean[j]);
        let n = varying.len() as f64;
        let middle = places.clone().map(|m| m / n).sum::<f64>();
        places.map(|m| (m - middle).powi(2) / n).sum::<f64>()
    };
    let apart = (between / within).sqrt();
    if apart >= APART {
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
pub(super) fn two_digits(value: f64) -> String {
    let unit = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    let rounded = (value / unit).round() * unit;
    if rounded < 1e6 {
        format!("{rounded:.0}")
    } else {
        format!("{rounded:.1e}")
    }
}

impl fmt::Display for Standardize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Yes => "yes",
            Self::No => "no",
            Self::Range => "range",
            Self::Robust => "robust",
            Self::Rank => "rank",
            Self::Learned => "learned",
        })
    }
}

impl FromStr for Standardize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        spelled(
            "standardize",
            text,
            &[
                Self::Auto,
                Self::Yes,
                Self::No,
                Self::Range,
                Self::Robust,
                Self::Rank,
            ],
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{data::MemorySource, features::Affine};
    use ndarray::Array2;

    /// What is found of `rows` rows whose column j is `column(j, i)`.
    pub(in crate::features) fn survey(
        rows: usize,
        columns: usize,
        column: impl Fn(usize, usize) -> f64,
    ) -> Survey {
        let x = Array2::from_shape_fn((rows, columns), |(i, j)| column(j, i));
        let mut source = MemorySource::new(x, None).expect("finite");
        Survey::new(&mut source, rows, 0).expect("reads")
    }

    /// 0 to 1, evenly, in another order for every column.
    pub(in crate::features) fn even(j: usize, i: usize) -> f64 {
        ((i * (2 * j + 7) + j) % 101) as f64 / 100.0
    }

    fn decided(survey: &Survey) -> (Vec<bool>, String) {
        let scaling = Standardize::Auto.decide(survey, true);
        (scaling.standardized().to_vec(), scaling.to_string())
    }

    #[test]
    fn mixed_scales_are_standardised_and_one_unit_is_left() {
        let (columns, text) = decided(&survey(101, 3, |j, i| [1.0, 2.2, 1.5][j] * even(j, i)));
        assert_eq!(columns, [false; 3]);
        assert_eq!(text, "auto -> no: scales are alike");
        let (columns, text) = decided(&survey(101, 3, |j, i| [1.0, 3.0, 1.5][j] * even(j, i)));
        assert_eq!(columns, [true; 3]);
        assert_eq!(text, "auto -> yes, 3 of 3 columns: scales differ 3-fold");
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
        // One value 10 times as large as the others: so is the range, and the deviation
        // sqrt(1 + 100 / 303 / 0.29^2) = 2.2 times.
        let outlier = |j: usize, i: usize| match (j, i) {
            (0, 7) => 10.0,
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
        assert_eq!(
            scaling.input(&[1.0]).expect("fine").scale()[..3],
            [0.0, 1.0, 1.0]
        );
        assert_eq!(scaling.input(&[1.0]).expect("fine").center(), survey.mean);
        let wide = Standardize::Range.decide(&survey, true);
        assert_eq!(wide.standardized(), [false, true, true, true, true]);
        let over = wide.input(&[1.0]).expect("fine");
        assert_eq!(over.scale(), [0.0, 1.0, 1.0, 1.0, 1.0 / 500.0]);
        assert_eq!(over.center(), survey.mean);
        assert_eq!(wide.to_string(), "range, 4 of 5 columns");
        let all = Standardize::Yes.decide(&survey, true);
        assert_eq!(all.standardized(), [false, true, true, true, true]);
        assert_eq!(
            all.input(&[1.0]).expect("fine"),
            Affine::standardize(&survey)
        );
        assert_eq!(all.to_string(), "yes, 4 of 5 columns");
        let none = Standardize::No.decide(&survey, true);
        assert_eq!(none.standardized(), [false; 5]);
        assert_eq!(none.input(&[1.0]).expect("fine").scale(), [1.0; 5]);
        assert_eq!(none.to_string(), "no");
    }

    /// Their rows have unit length together, whatever is done with the others.
    #[test]
    fn words_keep_their_scale_and_are_none_beside_others() {
        let widths = [0.01, 0.02, 1.0, 1.5];
        let mut found = survey(101, 4, |j, i| widths[j] * even(j, i));
        assert_eq!(decided(&found).0, [true; 4]);
        found.of_words = vec![true, true, false, false];
        let (columns, text) = decided(&found);
        assert_eq!(
            (columns, &text[..]),
            (vec![false; 4], "auto -> no: scales are alike")
        );
        for asked in [Standardize::Yes, Standardize::Range] {
            let scaling = asked.decide(&found, true);
            assert_eq!(scaling.standardized(), [false, false, true, true]);
            assert_eq!(scaling.input(&[1.0]).expect("fine").scale()[..2], [1.0; 2]);
        }
        found.of_words = vec![true; 4];
        assert_eq!(decided(&found).1, "auto -> no: there are words alone");
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
    fn spellings_round_trip() {
        use Standardize::{Auto, No, Range, Rank, Robust, Yes};
        for choice in [Auto, Yes, No, Range, Robust, Rank] {
            assert_eq!(choice.to_string().parse::<Standardize>().ok(), Some(choice));
        }
        assert!("true".parse::<Standardize>().is_err());
    }
}
