//! Preparation and bandwidth chosen by rows left out, before anything is drawn.

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

/// Rows that decide by being left out in turn, at most.
const ROWS: usize = 512;
/// Rows from which on a part is held out.
const ENOUGH: usize = 4 * ROWS;
/// Rows that are kept to hold a part of them out, where there are many, and the bytes they may
/// take.
const MORE_ROWS: (usize, usize) = (4096, 4 << 20);

/// Bytes that the rows left out in turn may take as a matrix, and rows below which the rule stays:
/// of columns by the ten thousand no distance tells much.
const WIDE: (usize, usize) = (32 << 20, 128);

/// Features for each column that stands beside them unasked, at least: pairs cost a fifth more
/// then at most.
const LINE_SHARE: usize = 10;

/// Amounts whose skewness is less are not looked at by their logarithms.
const SKEWED: f64 = 0.5;
/// Amounts whose fourth moment is less, twice the normal one, are not looked at by their ranks,
const LONG_TAILS: f64 = 6.0;
/// nor are so few,
const RANKED: usize = 64;
/// and the squares of their errors have to be less by this factor: what is likelier by ranks alone
/// may be the noise.
const LESS: f64 = 0.97;

/// A preparation of columns with a lengthscale, and how well it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// How columns are prepared.
    pub standardize: Standardize,
    /// How wide the kernel is after that: a rule, or a number.
    pub bandwidth: Bandwidth,
    /// The lengthscale over the median distance of the rows; `None` for a rule.
    pub multiple: Option<f64>,
    /// Whether the columns themselves stand beside the features
    /// ([`WithLine`](crate::features::WithLine)).
    pub linear: bool,
    /// The least mean squared error of rows left out, over the variance of the targets; infinite
    /// where there was none.
    pub error: f64,
    /// How many rows that is of: each left out in turn up to 512, of more a quarter at once.
    pub rows: usize,
}

/// What was looked at, and what was chosen: by exact leave-one-out errors of kernel ridge
/// regression with an intercept, on 512 rows that are drawn by their weights and hashes of their
/// ranks. Where more are kept, up to 4,096, that is of 256 rows, and the winner then meets narrower
/// kernels, which need the rows: by the errors of a quarter of all, held out. Columns are weighed
/// by the slopes of the winner where half of the rows tell weights that predict the other half
/// better. Standardised columns race by themselves; columns as they are, and over their ranges, are
/// taken where they are clearly better, so that of rows that are all kept no unit changes anything
/// else.
///
/// Rows of a source that has [`ChunkSource::groups`] are left out by whole groups: in five folds in
/// turn, or in the quarter of the largest numbers.
///
/// The same rows give the same choice in any order, in chunks of any size, in parts and on any
/// device. Gamma by scale, on standardised columns unless other is said, is a candidate, too, and
/// counts where nothing is better by one per cent and by 1.5 standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// How many rows decided.
    pub rows: usize,
    /// The usual, then the others.
    pub candidates: Vec<Candidate>,
    /// Which was chosen.
    pub chosen: usize,
    /// Whether rows of one group, or next to each other in time, were left out together.
    pub by_groups: bool,
    /// Scales of the targets that were looked at, if there was a choice of them: mean squared
    /// errors of amounts over their variance. The first was chosen.
    pub scales: Vec<(TargetScale, f64)>,
}

impl Race {
    /// What was chosen.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.chosen]
    }

    /// The mean squared error of what was chosen over the variance of the targets, of amounts on
    /// their own scale.
    pub fn error(&self) -> f64 {
        let of_scale = self.scales.first().map(|&(_, error)| error);
        of_scale.unwrap_or(self.chosen().error)
    }

    /// What stays where nothing is clearly better: gamma by scale, on standardised columns unless
    /// other is said.
    pub fn usual(&self) -> &Candidate {
        &self.candidates[0]
    }
}

/// Whether the columns and the bandwidth of a map may be chosen so: it is made of a kernel of
/// differences and takes every number.
fn suits(map: &dyn MapBuilder) -> bool {
    let of_differences = |kernel: &dyn Kernel| kernel.is_shift_invariant();
    map.kernel()
        .is_some_and(|kernel| of_differences(kernel.as_ref()))
        && map.is_shift_invariant()
        && map.domain() == Domain::Any
}

impl Job<&dyn Fit> {
    /// Whether preparation and bandwidth are left to the rows: the bandwidth is
    /// [`Bandwidth::Chosen`], and nothing else chooses. Columns are prepared as was said, where
    /// it was.
    pub(crate) fn races(&self) -> bool {
        self.bandwidth() == Bandwidth::Chosen
            && self.leaves.is_none()
            && suits(self.preparation.map.as_ref())
    }

    /// Rows that [`Self::settled`] looks at, of a source with so many columns and targets.
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

    /// The same job with preparation, bandwidth and scale of the targets as the rows decide, and
    /// what was looked at: `None` where all is given, or there is nothing to decide by. Then a
    /// bandwidth that was to be chosen is [`Bandwidth::Scale`], and amounts stay as they are.
    ///
    /// Where the scale of the targets is another one in the end, the stages after this one take
    /// what [`TargetScale::survey`] gives, targets of that, and rows by
    /// [`RescaledTargets`](crate::data::RescaledTargets).
    ///
    /// `run` hears of each candidate. Errors with [`crate::Error::Numerical`] on
    /// kernel values that are not finite, and with [`crate::Error::Data`] on targets
    /// that have no logarithm where that is asked for.
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

    /// A share of the map for each column, where that is asked for.
    fn additive_map(&self, survey: &Survey) -> Result<Option<AdditiveMap>> {
        let map = || self.preparation.map.clone();
        let asked = (self.additive != Additive::No).then_some(self.additive);
        asked
            .map(|additive| AdditiveMap::of_columns(map(), survey, additive))
            .transpose()
    }

    /// As [`Self::settled`], of a map that does not come in parts.
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
            // A search has its own metric.
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

    /// Takes what a race has chosen, and the columns beside the features where nobody said.
    fn take(&mut self, chosen: &Candidate, linear: Linear) {
        self.preparation.bandwidth = Some(chosen.bandwidth.clone());
        self.preparation.standardize = chosen.standardize;
        if chosen.linear && linear == Linear::Auto {
            self.preparation.map = Arc::new(WithLine::new(self.preparation.map.clone()));
        }
    }

    /// The linear part that candidates have. By themselves only maps with features have one, of ten
    /// times as many as there are columns, for a learner that takes it.
    fn raced_line(&self, columns: usize) -> Linear {
        match self.linear {
            // The trials of a search are planned for the features of the map alone.
            Linear::Auto if self.search.is_some() || !self.may_have_line(columns) => Linear::No,
            linear => linear,
        }
    }

    /// Whether the columns may stand beside the features of the map unasked.
    #[doc(hidden)]
    pub fn may_have_line(&self, columns: usize) -> bool {
        let map = &self.preparation.map;
        let few = |all: usize| columns * LINE_SHARE <= all;
        let fits = map.features().is_some_and(few);
        self.learner.takes_line() && map.is_of_its_kernel() && map.sample_rows() == 0 && fits
    }

    /// On which other scales amounts are looked at: by their logarithms where these are nearer to
    /// normal, their skewness nearer to 0; by their ranks where tails are long.
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

/// Races amounts on other scales, and returns one that is clearly better than the amounts as they
/// are, whose outcome it puts in the place of theirs.
fn best_scale(
    others: &[TargetScale],
    (survey, targets): (&Survey, &Targets),
    as_is: &mut Outcome,
    race: &dyn Fn(&Survey, &Targets) -> Result<Option<Outcome>>,
) -> Result<Option<TargetScale>> {
    let mut best = None;
    let mut scales = vec![(TargetScale::AsIs, as_is.error())];
    for &scale in others {
        // One that is clearly better has no need of another.
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

/// Weighted mean of a power of values less their mean, over that power of their deviation: 3 and 0
/// of normal values for powers 4 and 3; 0 where they do not vary.
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
