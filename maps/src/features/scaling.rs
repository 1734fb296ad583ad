//! Raw columns centred and scaled, before a bandwidth divides them.

use super::{
    Affine, Bend, Standardize,
    affine::LARGEST,
    standardize::{Decision, two_digits},
};
use crate::{
    Error, Result,
    data::{Curve, Rows, Survey},
    error::Remedy,
};
use ndarray::Array2;
use std::{fmt, sync::Arc};

/// f32 keeps 24 bits. So many standard deviations from 0 it rounds by a thousandth of one.
const FAR: f64 = 8192.0;
/// Means of columns that lie so many deviations apart say nothing of how wide the data is.
const APART: f64 = 10.0;

/// Columns centred and scaled, before a bandwidth divides them: what [`Standardize::decide`] gives.
///
/// It is displayed as the command line says it:
/// `auto -> yes, 8 of 8 columns: scales differ 2400-fold`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    decision: Decision,
    input: Affine,
    /// The variance of each column of the rows surveyed, as it is centred, `[d]`: bent, where it
    /// is.
    variance: Vec<f64>,
    /// Whether every column is centred, since the kernel does not see where they lie.
    shift_invariant: bool,
    /// The largest |u_j| of the rows surveyed.
    reach: Vec<f64>,
    /// What messages call the columns.
    names: Vec<String>,
}

impl Scaling {
    /// What `decision` comes to for the columns of `survey`. Warns of columns of which f32 loses
    /// digits.
    fn new(decision: Decision, survey: &Survey, shift_invariant: bool) -> Self {
        let bends = Bend::of_columns(decision.asked, survey, &decision.standardized);
        Self::bent(decision, bends, survey, shift_invariant)
    }

    /// The same with each column along a curve, `[d]`; those without one are left at their means.
    #[doc(hidden)]
    pub fn along(&self, curves: Vec<Option<Curve>>, survey: &Survey) -> Self {
        let decision = Decision {
            asked: Standardize::Learned,
            yes: true,
            standardized: curves.iter().map(Option::is_some).collect(),
            reason: None,
            hint: None,
        };
        let bends = curves.into_iter().map(|curve| match curve {
            Some(curve) => Bend::Along(Arc::new(curve)),
            None => Bend::Straight,
        });
        Self::bent(
            decision,
            Some(bends.collect()),
            survey,
            self.shift_invariant,
        )
    }

    fn bent(
        decision: Decision,
        bends: Option<Arc<[Bend]>>,
        survey: &Survey,
        shift_invariant: bool,
    ) -> Self {
        let columns = 0..survey.mean.len();
        let is_bent = |j: usize| bends.is_some() && decision.standardized[j];
        let scale = columns.clone().map(|j| {
            // What is bent has a scale.
            if is_bent(j) {
                1.0
            } else if decision.standardized[j] {
                if decision.asked == Standardize::Range {
                    1.0 / (survey.max[j] - survey.min[j])
                } else {
                    1.0 / survey.variance[j].sqrt()
                }
            } else if decision.yes && survey.is_constant(j) {
                0.0
            } else {
                1.0
            }
        });
        let scale: Vec<f64> = scale.collect();
        let center = columns.clone();
        let center = center.map(|j| {
            if is_bent(j) {
                0.0
            } else if shift_invariant || decision.standardized[j] {
                survey.mean[j]
            } else {
                0.0
            }
        });
        let center: Vec<f64> = center.collect();
        let reach = columns.clone().map(|j| {
            let ends = [survey.min[j], survey.max[j]];
            let ends = bends
                .as_ref()
                .map_or(ends, |bends| ends.map(|end| bends[j].at(end)));
            let far = ends.map(|end| (end - center[j]).abs() * scale[j]);
            far[0].max(far[1])
        });
        let reach = reach.collect();
        let input = Affine::unchecked(center, scale).bent(bends);
        let scaling = Self {
            variance: input.variances(survey),
            decision,
            shift_invariant,
            reach,
            names: columns.map(|j| survey.column(j)).collect(),
            input,
        };
        if let Some(warning) = scaling.far(survey) {
            log::warn!("{warning}");
        }
        scaling
    }

    /// What was asked for.
    #[doc(hidden)]
    pub fn asked(&self) -> Standardize {
        self.decision.asked
    }

    /// What is done: [`Standardize::Auto`] is what it came to.
    #[doc(hidden)]
    pub fn applied(&self) -> Standardize {
        match (self.decision.yes, self.decision.asked) {
            (false, _) => Standardize::No,
            (true, Standardize::Auto) => Standardize::Yes,
            (true, asked) => asked,
        }
    }

    /// Whether columns are standardised, or divided by their ranges.
    pub fn is_standardized(&self) -> bool {
        self.decision.yes
    }

    /// Whether far values are pulled in: by [`Standardize::Robust`] or [`Standardize::Rank`].
    pub fn bends(&self) -> bool {
        self.input.bends().is_some()
    }

    /// Which columns are divided by their standard deviations or ranges, `[d]`.
    #[doc(hidden)]
    pub fn standardized(&self) -> &[bool] {
        &self.decision.standardized
    }

    /// What each column is multiplied by before any lengthscale, `[d]`.
    #[doc(hidden)]
    pub fn scale(&self) -> &[f64] {
        self.input.scale()
    }

    /// Whether columns are bent and divided as another has them, wherever their middle is.
    #[doc(hidden)]
    pub fn scales_alike(&self, other: &Self) -> bool {
        let of = |scaling: &Self| {
            (
                scaling.input.scale().to_vec(),
                scaling.input.bends().map(<[Bend]>::to_vec),
            )
        };
        of(self) == of(other)
    }

    /// What each column is divided by, `[d]`: 1 where it is left, and where it is bent.
    #[doc(hidden)]
    pub fn units(&self) -> Vec<f64> {
        let columns = self.standardized().iter().zip(self.input.scale());
        columns
            .map(|(&divided, scale)| if divided { 1.0 / scale } else { 1.0 })
            .collect()
    }

    /// Why [`Standardize::Auto`] decided as it did; `None` for the others.
    pub fn reason(&self) -> Option<&str> {
        self.decision.reason.as_deref()
    }

    /// What speaks against [`Standardize::No`]: scales or places that differ 100-fold or more.
    #[doc(hidden)]
    pub fn hint(&self) -> Option<&str> {
        self.decision.hint.as_deref()
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
    #[doc(hidden)]
    pub fn apply(&self, x_nd: &Array2<f64>) -> Result<Array2<f64>> {
        self.input.apply(&Rows::from(x_nd))
    }

    /// Deviation of each column before any lengthscale; `None` for those that are dropped.
    pub(crate) fn deviations(&self, survey: &Survey) -> Vec<Option<f64>> {
        let columns = self.input.scale().iter().enumerate();
        let deviation = |j: usize| {
            if survey.is_constant(j) {
                0.0
            } else {
                self.variance[j].sqrt()
            }
        };
        let each = columns.map(|(j, &s)| (s != 0.0).then(|| s * deviation(j)));
        each.collect()
    }

    /// Variance of the entries before any lengthscale, as the `scale` rule sees it
    /// (`Bandwidth::Scale`).
    pub(super) fn entry_variance(&self, survey: &Survey) -> f64 {
        let scaled = self.input.scale().iter().zip(&self.variance);
        let within = scaled.map(|(s, v)| s * s * v).sum::<f64>() / survey.mean.len() as f64;
        if self.decision.yes {
            return within;
        }
        // Columns that are left lie where they lie for the rule, as scikit-learn has it, although
        // they are centred.
        let all = survey.entry_variance();
        let apart = (all / within - 1.0).sqrt();
        if !(self.shift_invariant && within > 0.0 && apart >= APART) {
            return all;
        }
        log::warn!(
            "means of columns lie {} deviations apart, so scale takes the variance within columns; \
             scikit-learn would take that of all entries",
            two_digits(apart)
        );
        within
    }

    /// Names the worst column that is neither centred nor near enough to 0 for f32.
    fn far(&self, survey: &Survey) -> Option<String> {
        let distance = |j: usize| (survey.mean[j] - self.input.center()[j]).abs();
        let is_seen = |j: usize| !survey.is_constant(j) && !self.input.is_bent(j);
        let far = (0..self.names.len()).filter(|&j| is_seen(j));
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

impl Standardize {
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
    ///   tenth of the columns aside, must be 2.5 by both measures. Pixels that are rarely lit have
    ///   a small deviation and not a small range; a column with an outlier has a wide range and not
    ///   a wide deviation.
    /// * Or the means of these columns lie apart by 10 times their deviations, so that they share
    ///   no place.
    ///
    /// Then columns of more than two values are standardised. Binary columns keep their scale,
    /// because a rare flag divided by its deviation would outweigh all others, and constant ones
    /// become zero.
    ///
    /// Columns of words ([`Survey::of_words`]) keep their scale in every case, and are compared
    /// with none: their rows have unit length together.
    pub fn decide(self, survey: &Survey, shift_invariant: bool) -> Scaling {
        Scaling::new(self.decision(survey), survey, shift_invariant)
    }
}

impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.decision.asked == Standardize::Auto {
            f.write_str("auto -> ")?;
        }
        write!(f, "{}", self.applied())?;
        if self.decision.yes {
            let all = &self.decision.standardized;
            let count = all.iter().filter(|&&s| s).count();
            write!(f, ", {count} of {} columns", all.len())?;
        }
        match &self.decision.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
