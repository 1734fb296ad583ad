//! Preparation and bandwidth chosen by rows left out, before anything is drawn.

mod deciding;
mod ground;
mod rounds;
mod runner;
#[cfg(test)]
mod tests;

use super::{Job, TargetScale, target_scale::logarithm};
use crate::{
    Error, Result, Run,
    data::{ChunkSource, KeptRows, Survey},
    error::Remedy,
    features::{Bandwidth, Linear, MapBuilder, Standardize, WithLine},
    kernels::{Domain, Kernel},
    models::Fit,
    normal::Targets,
};
use std::{fmt, sync::Arc};

/// Rows that decide by being left out in turn, at most.
const ROWS: usize = 512;
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
/// regression with an intercept, on the 512 rows whose contents have the smallest hashes. Where
/// more are kept, up to 4,096, that is of 256 rows, and the winner then meets narrower kernels,
/// which need the rows: by the errors of a quarter of all, held out.
///
/// The same rows give the same choice in any order, in chunks of any size, in parts and on any
/// device. What is asked for by no option is a candidate, too, and counts where nothing is better
/// by one per cent.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// How many rows decided.
    pub rows: usize,
    /// The usual, then the others.
    pub candidates: Vec<Candidate>,
    /// Which was chosen.
    pub chosen: usize,
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

    /// What would have been taken without looking: gamma by scale.
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
    pub fn races(&self) -> bool {
        self.bandwidth() == Bandwidth::Chosen
            && self.leaves.is_none()
            && suits(self.preparation.map.as_ref())
    }

    /// Rows that [`Self::settled`] looks at, of a source with so many columns and targets.
    pub fn deciding_rows(&self, (columns, targets): (usize, usize)) -> usize {
        let looks = self.races() || self.target_scale == TargetScale::Log;
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
    /// Where the scale is [`TargetScale::Log`] in the end, the stages after this one take
    /// [`LogTargets`](super::LogTargets), [`Survey::of_logarithms`] and targets of that.
    ///
    /// `run` hears of each candidate. Errors with [`Error::Numerical`] on
    /// kernel values that are not finite, and with [`Error::Data`] on targets
    /// that have no logarithm where that is asked for.
    pub fn settled(
        &self,
        survey: &Survey,
        targets: &Targets,
        run: &Run,
    ) -> Result<(Self, Option<Race>)> {
        let mut job = self.clone();
        job.linear = Linear::No;
        if self.linear == Linear::Yes {
            job.preparation.map = Arc::new(WithLine::of(self.preparation.map.clone()));
        }
        job.target_scale = match self.target_scale {
            TargetScale::Log => {
                require_logarithms(survey, targets)?;
                TargetScale::Log
            }
            _ => TargetScale::AsIs,
        };
        if self.bandwidth() != Bandwidth::Chosen {
            return Ok((job, None));
        }
        job.preparation.bandwidth = Some(Bandwidth::Scale);
        let Some(kept) = survey.deciding.as_ref().filter(|_| self.races()) else {
            return Ok((job, None));
        };
        let compares =
            self.target_scale == TargetScale::Auto && self.may_be_logarithms(targets, kept)?;
        let race = |survey: &Survey, kept: &KeptRows, targets: &Targets, are_logarithms| {
            let asked = rounds::Asked {
                map: self.preparation.map.as_ref(),
                standardize: self.preparation.standardize,
                linear: self.raced_line(survey.mean.len()),
                penalties: self.learner.penalties(),
                are_logarithms,
                scales_differ: compares,
                run,
            };
            rounds::race(asked, (survey, kept), targets)
        };
        let of_logs = || match survey.of_logarithms() {
            Some(logs) => match &logs.deciding {
                Some(kept) => race(&logs, kept, &Targets::real(&logs), true),
                None => Ok(None),
            },
            None => Ok(None),
        };
        let outcome = match self.target_scale {
            TargetScale::Log => of_logs()?,
            TargetScale::Auto if compares => {
                match (race(survey, kept, targets, false)?, of_logs()?) {
                    (Some(as_is), Some(log)) => {
                        let nearer = log.expects_more_than(&as_is);
                        let mut scales = vec![
                            (TargetScale::AsIs, as_is.error()),
                            (TargetScale::Log, log.error()),
                        ];
                        let mut chosen = as_is;
                        if nearer {
                            scales.reverse();
                            job.target_scale = TargetScale::Log;
                            chosen = log;
                        }
                        chosen.race.scales = scales;
                        Some(chosen)
                    }
                    (as_is, _) => as_is,
                }
            }
            _ => race(survey, kept, targets, false)?,
        };
        let race = outcome.map(|outcome| outcome.race);
        if let Some(race) = &race {
            let chosen = race.chosen();
            job.preparation.bandwidth = Some(chosen.bandwidth.clone());
            job.preparation.standardize = chosen.standardize;
            if chosen.linear && self.linear == Linear::Auto {
                job.preparation.map = Arc::new(WithLine::of(self.preparation.map.clone()));
            }
        }
        Ok((job, race))
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
    fn may_have_line(&self, columns: usize) -> bool {
        let map = &self.preparation.map;
        let few = |all: usize| columns * LINE_SHARE <= all;
        let fits = map.features().is_some_and(few);
        self.learner.takes_line() && map.is_of_its_kernel() && map.sample_rows() == 0 && fits
    }

    /// Whether targets are amounts that a learner of least squares may take by their logarithms,
    /// and these are nearer to normal: their skewness is nearer to 0.
    fn may_be_logarithms(&self, targets: &Targets, kept: &KeptRows) -> Result<bool> {
        let amounts = matches!(targets, Targets::Real { columns: 1, .. });
        if !amounts || !self.learner.is_least_squares() || self.leaves.is_some() {
            return Ok(false);
        }
        let Some(chunk) = kept.source().next_chunk(MORE_ROWS.0)? else {
            return Ok(false);
        };
        let y_m = chunk.y.column(0);
        let skewed = skewness(y_m.iter().copied());
        let logs = skewness(y_m.iter().map(|y| y.ln()));
        Ok(skewed > SKEWED && logs.abs() < skewed)
    }
}

/// Errors unless targets are one column of amounts above 0.
fn require_logarithms(survey: &Survey, targets: &Targets) -> Result<()> {
    if !matches!(targets, Targets::Real { columns: 1, .. }) {
        let problem = "only one column of amounts is fitted by its logarithm";
        return Err(Error::unsupported(problem).help(Remedy::AmountsAsTheyAre));
    }
    match survey.targets.iter().find(|target| target.log.is_none()) {
        Some(target) => logarithm(target.min.min(0.0)).map(|_| ()),
        None => Ok(()),
    }
}

/// The mean cube of values less their mean, over the cube of their deviation; 0 where they do not
/// vary.
fn skewness(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let moment = |power| values.clone().map(|v| (v - mean).powi(power)).sum::<f64>() / n;
    match moment(2) {
        variance if variance > 0.0 => moment(3) / variance.powf(1.5),
        _ => 0.0,
    }
}

/// `on 512 rows: standardised, sigma 0.85 (0.5 medians); leave-one-out R2 0.930; gamma by scale
/// 0.460`; with more rows `R2 of a quarter held out`.
impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chosen, usual) = (self.chosen(), self.usual());
        write!(f, "on {} rows: ", self.rows)?;
        match chosen.multiple {
            None => f.write_str("gamma by scale")?,
            Some(multiple) => {
                let columns = match chosen.standardize {
                    Standardize::Yes => "standardised",
                    Standardize::Range => "columns over their ranges",
                    _ => "columns as they are",
                };
                write!(f, "{columns}, {} ({multiple} medians)", chosen.bandwidth)?;
                if chosen.linear {
                    f.write_str(", with a linear part")?;
                }
            }
        }
        let of = match self.rows > ROWS {
            true => "R2 of a quarter held out",
            false => "leave-one-out R2",
        };
        if let [(TargetScale::Log, log), ..] = self.scales[..] {
            return write!(f, ", targets by their logarithms; {of} {:.3}", 1.0 - log);
        }
        write!(f, "; {of} {:.3}", 1.0 - chosen.error)?;
        match self.chosen {
            0 => Ok(()),
            _ => write!(f, "; gamma by scale {:.3}", 1.0 - usual.error),
        }
    }
}
