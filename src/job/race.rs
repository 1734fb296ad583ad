//! Choice of preparation and bandwidth by leave-one-out errors, before the map is drawn.

mod deciding;
mod display;
mod kernel_values;
mod order;
mod outcome;
mod pairs;
mod relevance;
mod rounds;
mod runner;
#[cfg(test)]
mod tests;
mod track;

use self::outcome::Outcome;
use super::{Job, TargetScale};
use crate::{
    Result, Run,
    data::{ChunkSource, KeptRows, Survey},
    features::{Additive, AdditiveMap, Bandwidth, Linear, MapBuilder, Standardize, WithLine},
    kernels::{Domain, Kernel},
    learn::Fit,
    model::Targets,
};
use ndarray::Array1;
use std::sync::Arc;

/// Largest number of rows for leave-one-out errors.
const ROWS: usize = 512;
/// Least number of sampled rows for a hold-out set of a quarter of them.
const ENOUGH: usize = 4 * ROWS;
/// Rows sampled if a hold-out set is used, and the bytes that they may take.
const MORE_ROWS: (usize, usize) = (4096, 4 << 20);

/// Bytes of the matrix of the leave-one-out rows, and the least number of rows within them: with
/// tens of thousands of columns distances carry little information, and the rule stays.
const WIDE: (usize, usize) = (32 << 20, 128);

/// Least number of features per column for a default linear part: the Gram matrix then costs at
/// most a fifth more.
const LINE_SHARE: usize = 10;

/// Least skewness of a target for which logarithms are tried.
const SKEWED: f64 = 0.5;
/// Least standardised fourth moment of a target for which ranks are tried: twice that of normal
/// values.
const LONG_TAILS: f64 = 6.0;
/// Least number of rows for ranks.
const RANKED: usize = 64;
/// Largest ratio of squared errors for ranks to win: a gain in likelihood alone may be noise.
const LESS: f64 = 0.97;

/// Candidate preparation and lengthscale, with its error.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Preparation of the columns.
    pub standardize: Standardize,
    /// Bandwidth on prepared columns: a rule, or a number.
    pub bandwidth: Bandwidth,
    /// The lengthscale over the median distance of the rows; `None` for a rule.
    pub multiple: Option<f64>,
    /// Whether the columns themselves are concatenated to the features
    /// ([`WithLine`](crate::features::WithLine)).
    pub linear: bool,
    /// Least mean squared leave-one-out error over the penalties, relative to the variance of the
    /// targets; infinite if it could not be computed.
    pub error: f64,
    /// Number of rows behind the error: leave-one-out up to 512, else a hold-out set of a quarter.
    pub rows: usize,
}

/// Candidates for preparation and bandwidth, and the choice among them.
///
/// Candidates are compared by exact leave-one-out errors of kernel ridge regression with an
/// intercept, on 512 rows that are drawn by their weights and by hashes of their ranks. With a
/// larger sample (up to 4,096 rows) 256 rows are used, and narrower kernels, which need more rows,
/// are then compared with the winner on a hold-out set of a quarter of the sample. Columns get
/// lengthscales by the slopes of the winner if slopes from one half of the rows improve the error
/// on the other half. Standardised columns are compared among themselves first; raw columns, and
/// columns divided by their ranges, replace them only if they are clearly better, so that the unit
/// of a column changes nothing else.
///
/// If the source has [`ChunkSource::groups`], whole groups are left out: five folds in turn, or the
/// quarter with the largest group numbers.
///
/// The choice does not depend on the order of the rows, the size of chunks, parts or the device.
/// The rule `gamma = scale` on standardised columns (or the given preparation) stays unless another
/// candidate is better by 1 % and by 1.5 standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// Number of sampled rows.
    pub rows: usize,
    /// The rule first, then the other candidates.
    pub candidates: Vec<Candidate>,
    /// Index of the chosen candidate.
    pub chosen: usize,
    /// Whether groups of rows, or rows adjacent in time, were left out together.
    pub by_groups: bool,
    /// Scales of the target that were compared, if any, with their mean squared errors relative to
    /// the variance. The first is the chosen one.
    pub scales: Vec<(TargetScale, f64)>,
}

impl Race {
    /// Returns the chosen candidate.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.chosen]
    }

    /// Returns the mean squared error of the choice relative to the variance of the targets, on
    /// their original scale.
    pub fn error(&self) -> f64 {
        let of_scale = self.scales.first().map(|&(_, error)| error);
        of_scale.unwrap_or(self.chosen().error)
    }

    /// Returns the rule, which stays if nothing is clearly better: `gamma = scale` on standardised
    /// columns, or on the given preparation.
    pub fn usual(&self) -> &Candidate {
        &self.candidates[0]
    }
}

/// Whether preparation and bandwidth of a map can be chosen: its kernel depends on differences of
/// rows and accepts every number.
fn suits(map: &dyn MapBuilder) -> bool {
    let of_differences = |kernel: &dyn Kernel| kernel.is_shift_invariant();
    map.kernel()
        .is_some_and(|kernel| of_differences(kernel.as_ref()))
        && map.is_shift_invariant()
        && map.domain() == Domain::Any
}

impl Job<&dyn Fit> {
    /// Whether preparation and bandwidth are chosen from the rows: the bandwidth is
    /// [`Bandwidth::Chosen`], and nothing else chooses it. A given preparation is kept.
    pub(crate) fn races(&self) -> bool {
        self.bandwidth() == Bandwidth::Chosen
            && self.leaves.is_none()
            && suits(self.preparation.map.as_ref())
    }

    /// Returns the number of rows that [`Self::settled`] samples, for these numbers of columns and
    /// targets.
    #[doc(hidden)]
    pub fn deciding_rows(&self, (columns, targets): (usize, usize)) -> usize {
        let rescales = matches!(self.target_scale, TargetScale::Log | TargetScale::Rank);
        let bends = self.preparation.standardize.bends();
        let pairs = self.additive == Additive::Pairs;
        let looks = self.races() || rescales || bends || pairs;
        if !looks || targets == 0 {
            return 0;
        }
        let (all_bytes, least) = WIDE;
        match all_bytes / (size_of::<f64>() * columns.max(1)) {
            few if few < least => 0,
            few if few < ROWS => few,
            _ => {
                let (most, bytes) = MORE_ROWS;
                (bytes / KeptRows::row_bytes((columns, targets))).clamp(ROWS, most)
            }
        }
    }

    /// Returns the job with preparation, bandwidth and scale of the targets chosen from the rows,
    /// and the candidates. The candidates are `None` if all is given, or if there are too few rows;
    /// the bandwidth is then [`Bandwidth::Scale`], and targets keep their scale.
    ///
    /// If the chosen scale of the targets is another one, later stages take the survey of
    /// [`TargetScale::survey`], its targets, and rows through
    /// [`RescaledTargets`](crate::data::RescaledTargets).
    ///
    /// Reports each candidate to `run`. Errors with [`crate::Error::Numerical`] if kernel values
    /// are not finite, and with [`crate::Error::Data`] if logarithms are requested for targets that
    /// have none.
    #[doc(hidden)]
    pub fn settled(
        &self,
        survey: &Survey,
        targets: &Targets,
        run: &Run,
    ) -> Result<(Self, Option<Race>)> {
        let Some(additive) = self.additive_map(survey)? else {
            return self.settled_of_map(survey, targets, run);
        };
        let mut job = self.clone();
        job.preparation.map = Arc::new(additive.clone());
        job.additive = Additive::No;
        let (mut job, race) = job.settled_of_map(survey, targets, run)?;
        if self.additive == Additive::Pairs {
            let pairs = job.pairs(&additive, (survey, targets), run)?;
            job.preparation.map = Arc::new(additive.with_pairs(pairs));
        }
        Ok((job, race))
    }

    /// Returns the additive map, with a share of the features for each column, if requested.
    fn additive_map(&self, survey: &Survey) -> Result<Option<AdditiveMap>> {
        let map = || self.preparation.map.clone();
        let asked = (self.additive != Additive::No).then_some(self.additive);
        asked
            .map(|additive| AdditiveMap::of_columns(map(), survey, additive))
            .transpose()
    }

    /// Settles as [`Self::settled`] does, for a map that is not additive.
    fn settled_of_map(
        &self,
        survey: &Survey,
        targets: &Targets,
        run: &Run,
    ) -> Result<(Self, Option<Race>)> {
        let mut job = self.clone();
        job.linear = Linear::No;
        if self.linear == Linear::Yes {
            job.preparation.map = Arc::new(WithLine::new(self.preparation.map.clone()));
        }
        let asked = self.survey_to_fit(survey, targets)?;
        job.target_scale = match self.target_scale {
            TargetScale::Auto => TargetScale::AsIs,
            given => given,
        };
        if self.bandwidth() != Bandwidth::Chosen {
            return Ok((job, None));
        }
        job.preparation.bandwidth = Some(Bandwidth::Scale);
        let Some(kept) = survey.deciding.as_ref().filter(|_| self.races()) else {
            return Ok((job, None));
        };
        let others = match self.target_scale {
            TargetScale::Auto => self.other_scales(targets, kept)?,
            _ => Vec::new(),
        };
        let order = order::by_priority(kept)?;
        let how = track::Asked {
            map: self.preparation.map.as_ref(),
            order: &order,
            standardize: self.preparation.standardize,
            linear: self.raced_line(survey.mean.len()),
            penalties: self.learner.penalties(),
            // A search learns a metric itself.
            weighs: self.search.is_none() && self.learner.takes_lengthscales(),
            scales_differ: !others.is_empty(),
            run,
        };
        let race = |survey: &Survey, targets: &Targets| match &survey.deciding {
            None => Ok(None),
            Some(kept) => rounds::race(how, (survey, kept), targets),
        };
        let mut outcome = match &asked {
            Some(survey) => race(survey, &Targets::real(survey))?,
            None => race(survey, targets)?,
        };
        if let Some(as_is) = &mut outcome
            && let Some(scale) = best_scale(&others, (survey, targets), as_is, &race)?
        {
            job.target_scale = scale;
        }
        let race = outcome.map(|outcome| outcome.race);
        if let Some(race) = &race {
            job.take(race.chosen(), self.linear);
        }
        Ok((job, race))
    }

    /// Applies the chosen candidate; its linear part only if none is given.
    fn take(&mut self, chosen: &Candidate, linear: Linear) {
        self.preparation.bandwidth = Some(chosen.bandwidth.clone());
        self.preparation.standardize = chosen.standardize;
        if chosen.linear && linear == Linear::Auto {
            self.preparation.map = Arc::new(WithLine::new(self.preparation.map.clone()));
        }
    }

    /// Returns which linear parts candidates have. By default both are tried, for learners that
    /// support one and maps with at least ten features per column.
    fn raced_line(&self, columns: usize) -> Linear {
        match self.linear {
            // Trials of a search have no linear part.
            Linear::Auto if self.search.is_some() || !self.may_have_line(columns) => Linear::No,
            linear => linear,
        }
    }

    /// Whether a linear part is tried by default.
    #[doc(hidden)]
    pub fn may_have_line(&self, columns: usize) -> bool {
        let map = &self.preparation.map;
        let few = |all: usize| columns * LINE_SHARE <= all;
        let fits = map.features().is_some_and(few);
        self.learner.takes_line() && map.is_of_its_kernel() && map.sample_rows() == 0 && fits
    }

    /// Returns other scales to try for a numeric target: logarithms if their skewness is nearer to
    /// 0, ranks if tails are long.
    fn other_scales(&self, targets: &Targets, kept: &KeptRows) -> Result<Vec<TargetScale>> {
        let amounts = matches!(targets, Targets::Real { columns: 1, .. });
        if !amounts || !self.learner.is_least_squares() || self.leaves.is_some() {
            return Ok(Vec::new());
        }
        let Some(chunk) = kept.source().next_chunk(MORE_ROWS.0)? else {
            return Ok(Vec::new());
        };
        let y_m = chunk.y.column(0);
        let weights_m = chunk.weights.unwrap_or_else(|| Array1::ones(y_m.len()));
        let moment = |power, of: &dyn Fn(f64) -> f64| {
            let values = y_m.iter().zip(&weights_m);
            moment(power, values.map(|(&y, &weight)| (of(y), weight)))
        };
        let skewed = moment(3, &|y| y);
        let logs = moment(3, &f64::ln);
        let long = moment(4, &|y| y) > LONG_TAILS;
        let mut scales = Vec::new();
        if skewed > SKEWED && logs.abs() < skewed {
            scales.push(TargetScale::Log);
        }
        if long && kept.len() >= RANKED {
            scales.push(TargetScale::Rank);
        }
        Ok(scales)
    }
}

/// Compares candidates on other scales of the target, and returns a scale that is clearly better
/// than the original one, whose outcome it replaces.
fn best_scale(
    others: &[TargetScale],
    (survey, targets): (&Survey, &Targets),
    as_is: &mut Outcome,
    race: &dyn Fn(&Survey, &Targets) -> Result<Option<Outcome>>,
) -> Result<Option<TargetScale>> {
    let mut best = None;
    let mut scales = vec![(TargetScale::AsIs, as_is.error())];
    for &scale in others {
        // The first clearly better scale wins.
        if best.is_some() {
            break;
        }
        let Ok(Some(of_scale)) = scale.survey(survey, targets) else {
            continue;
        };
        let Some(other) = race(&of_scale, &Targets::real(&of_scale))? else {
            continue;
        };
        let better = other.expects_more_than(as_is)
            && (scale == TargetScale::Log || other.error() < LESS * as_is.error());
        let place = if better { 0 } else { scales.len() };
        scales.insert(place, (scale, other.error()));
        if better {
            best = Some(scale);
            *as_is = other;
        }
    }
    if scales.len() > 1 {
        as_is.race.scales = scales;
    }
    Ok(best)
}

/// Weighted standardised central moment: 0 for power 3 and 3 for power 4 of normal values; 0 for
/// constant values.
fn moment(power: i32, values: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let total = values.clone().map(|(_, weight)| weight).sum::<f64>();
    let mean = |of: &dyn Fn(f64) -> f64| {
        let sum = values.clone().map(|(v, weight)| weight * of(v));
        sum.sum::<f64>() / total
    };
    let middle = mean(&|v| v);
    let moment = |power| mean(&|v: f64| (v - middle).powi(power));
    match moment(2) {
        variance if variance > 0.0 => moment(power) / variance.powf(f64::from(power) / 2.0),
        _ => 0.0,
    }
}
