//! Specification of a fit, and its stages from rows to a calibrated model.
//!
//! The builders of [`models`](crate::models), the command line and the Python package fill in a
//! [`Job`] and report its result. [`Job::fit`] runs all stages. The command line and Python call
//! the stages one by one, in this order, to report between them or to sum rows in parts; the stages
//! are public for these two alone, and may change in any release.
//!
//! | stage | result |
//! |---|---|
//! | [`check`](Job::check) | an error if options exclude each other |
//! | `survey` | moments, labels and a sample of the rows, from one pass |
//! | `settled` | preparation and bandwidth with the least leave-one-out error |
//! | `scales` | preparation of the columns, and lengthscales |
//! | `choose` | result of a search on held-out rows, if one is requested |
//! | `draw` | the feature map |
//! | `learn` | the model, with probabilities and class weights |
//! | `kept_back` | rows that the fit does not see, for intervals |
//! | `grow_leaves` | instead of the last three: a tree with a model in each leaf |
//!
//! [`Job::cross_validate`] runs all stages for each fold of the rows.

mod choose;
mod codes;
mod cross_validation;
mod half_life;
mod learning;
mod meaning;
mod odd;
mod preparation;
mod race;
mod rows;
mod rules;
mod shared_sums;
mod target_scale;
mod words;
mod worth;

pub use crate::settings::Settings;
#[doc(hidden)]
pub use choose::Chosen;
pub use cross_validation::{CrossValidation, FoldMean, FoldScore, FoldScores};
pub use meaning::Meaning;
#[doc(hidden)]
pub use meaning::{MOST_CLASSES, few_whole};
#[doc(hidden)]
pub use odd::warn_of_odd_cells;
#[doc(hidden)]
pub use preparation::DrawnMap;
pub use preparation::{Preparation, Scales};
pub use race::{Candidate, Race};
#[doc(hidden)]
pub use rows::Rows;
#[doc(hidden)]
pub use rules::{Around, Choice, Refused, check_weights};
pub use target_scale::TargetScale;

use crate::{
    Result, Run, Step,
    data::{ChunkSource, Part, Rescaled, RescaledTargets, Schema, Split, Survey},
    features::{Additive, Bandwidth, Linear, MapBuilder},
    learn::{Basis, ClassWeights, Fit, Found, Search, Trial},
    model::{LinearModel, Targets},
};
use std::sync::Arc;

/// Specification of a fit: preparation of the rows, learner, and calibration. The same job on the
/// same rows gives the same model in Rust, from the command line and in Python.
///
/// ```
/// use bochner::{Run, data::MemorySource, job::{Job, Meaning}, models::RidgeOptions, prelude::*};
/// let x = ndarray::Array::from_shape_fn((90, 1), |(i, _)| i as f64 / 9.0);
/// let y = x.mapv(f64::sin);
/// let map = Fourier::new(Gaussian).features(40);
/// let job = Job::new(RidgeOptions::default(), map);
/// let mut rows = MemorySource::new(x.clone(), Some(y))?;
/// let run = Run::on(&Device::cpu());
/// let fitted = job.any().fit(&mut rows, Meaning::Amounts, &run)?;
/// assert_eq!(fitted.model.rows, 90);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Job<L> {
    /// The learner, with its options.
    pub learner: L,
    /// Scales, bandwidth, map and seed.
    pub preparation: Preparation,
    /// Whether to calibrate probabilities for a classifier that has none.
    pub probabilities: bool,
    /// Weights of the classes.
    pub class_weights: ClassWeights,
    /// Exponential forgetting: number of rows after which the weight of a row halves.
    pub half_life: Option<f64>,
    /// Share of the rows that is held out of the fit to calibrate intervals.
    pub calibrate: Option<f64>,
    /// Search on held-out rows before the fit.
    pub search: Option<Search>,
    /// Largest number of rows in a leaf, if a tree divides the rows.
    pub leaves: Option<usize>,
    /// Scale on which a numeric target is fitted.
    pub target_scale: TargetScale,
    /// Whether the columns themselves are concatenated to the features of the map.
    pub linear: Linear,
    /// Whether each column gets a small map of its own (additive model).
    pub additive: Additive,
}

/// Result of a job.
#[derive(Debug)]
pub struct Fitted {
    /// The model, with the names of its columns.
    pub model: LinearModel,
    /// Moments, labels and sample from one pass over the rows.
    pub survey: Survey,
    /// Preparation of the columns.
    pub scales: Scales,
    /// Result of the search, if there was one.
    pub found: Option<Found>,
    /// Choice of preparation and bandwidth by leave-one-out errors, if nothing else chose them.
    pub race: Option<Race>,
}

/// Callback for each trial of a search, with the best error so far; an error ends the search.
pub type Hear<'a> = &'a mut dyn FnMut(&Trial, f64) -> Result<()>;

impl<L> Job<L> {
    /// Creates a job for a learner and a map, with defaults for everything else.
    pub fn new(learner: L, map: impl MapBuilder + 'static) -> Self {
        Self {
            learner,
            preparation: Preparation::new(map),
            probabilities: false,
            class_weights: ClassWeights::Equal,
            half_life: None,
            calibrate: None,
            search: None,
            leaves: None,
            target_scale: TargetScale::Auto,
            linear: Linear::Auto,
            additive: Additive::No,
        }
    }

    /// Returns the same job with another learner.
    pub(crate) fn learning<M>(self, learner: M) -> Job<M> {
        Job {
            learner,
            preparation: self.preparation,
            probabilities: self.probabilities,
            class_weights: self.class_weights,
            half_life: self.half_life,
            calibrate: self.calibrate,
            search: self.search,
            leaves: self.leaves,
            target_scale: self.target_scale,
            linear: self.linear,
            additive: self.additive,
        }
    }
}

impl<L: Fit> Job<L> {
    /// Returns the job with a dynamically typed learner, as all stages take it.
    pub fn any(&self) -> Job<&dyn Fit> {
        Job {
            learner: &self.learner as &dyn Fit,
            preparation: self.preparation.clone(),
            probabilities: self.probabilities,
            class_weights: self.class_weights.clone(),
            half_life: self.half_life,
            calibrate: self.calibrate,
            search: self.search.clone(),
            leaves: self.leaves,
            target_scale: self.target_scale,
            linear: self.linear,
            additive: self.additive,
        }
    }
}

impl Job<&dyn Fit> {
    /// Returns the requested bandwidth, or the default of the map, or that of the learner.
    #[doc(hidden)]
    pub fn bandwidth(&self) -> Bandwidth {
        self.preparation
            .bandwidth_or(self.learner.usual().bandwidth)
    }

    /// Returns the number of rows that the survey samples for bandwidth, map and search.
    #[doc(hidden)]
    pub fn sample_rows(&self) -> usize {
        let searches = self.search.is_some() || self.leaves.is_some();
        let least = if searches { Bandwidth::MEDIAN_ROWS } else { 0 };
        least.max(self.preparation.sample_rows(&self.bandwidth()))
    }

    /// Reads the rows once. Errors as [`Survey::watched`] does.
    #[doc(hidden)]
    pub fn survey(&self, source: &mut dyn ChunkSource, run: &Run) -> Result<Survey> {
        let rows = (
            self.sample_rows(),
            self.deciding_rows((source.columns(), source.targets())),
        );
        let survey = (self.preparation).survey_deciding(source, rows, run)?;
        // A schema that no model file can hold is an error before the fit.
        source.schema().map_or(Ok(()), Schema::require_room)?;
        Ok(survey)
    }

    /// Returns the preparation of the columns, and lengthscales. Errors as
    /// [`Bandwidth::lengthscales`] does.
    #[doc(hidden)]
    pub fn scales(&self, survey: &Survey) -> Result<Scales> {
        self.preparation.scales(survey, self.bandwidth())
    }

    /// Draws the map, with the result of a search if there was one. Errors as the map does.
    #[doc(hidden)]
    pub fn draw(&self, rows: Rows<'_>, found: Option<&Found>) -> Result<DrawnMap> {
        let sampling = self.learner.usual().sampling;
        self.preparation.draw(rows, found, sampling)
    }

    /// Returns the basis of sums over parts of the rows. The first part decides on scales,
    /// bandwidth and map, as in a fit to it alone; `targets` derives the targets from its survey.
    /// Numeric targets keep their scale unless another is requested, since later rows may have no
    /// logarithm. Errors as these stages do, and as [`Self::check`] if an option excludes parts.
    #[doc(hidden)]
    pub fn begin(
        &self,
        source: &mut dyn ChunkSource,
        targets: impl FnOnce(&Survey, Option<&Schema>) -> Result<Targets>,
        run: &Run,
    ) -> Result<Basis> {
        self.check_parts(source.is_weighted())?;
        let mut source = self.forgetting(source)?;
        let survey = self.survey(&mut source, run)?;
        let targets = targets(&survey, source.schema())?;
        let mut job = self.clone();
        if job.target_scale == TargetScale::Auto {
            job.target_scale = TargetScale::AsIs;
        }
        let (mut basis, _) = job.basis(&mut source, (survey, targets), run)?;
        basis.forget_by(self.half_life);
        Ok(basis)
    }

    /// Returns the basis of sums over surveyed rows with known targets, and the lengthscales.
    /// Errors as the stages from [`Self::settled`] on do.
    #[doc(hidden)]
    pub fn basis(
        &self,
        source: &mut dyn ChunkSource,
        (survey, targets): (Survey, Targets),
        run: &Run,
    ) -> Result<(Basis, Vec<f64>)> {
        let (job, _) = self.settled(&survey, &targets, run)?;
        let (survey, targets) = match job.survey_to_fit(&survey, &targets)? {
            Some(survey) => {
                let targets = Targets::real(&survey);
                (survey, targets)
            }
            None => (survey, targets),
        };
        let scales = job.scales(&survey)?;
        let rows = Rows {
            source,
            survey: &survey,
            scales: &scales,
            targets: &targets,
            run,
        };
        let drawn = job.draw(rows, None)?;
        let words = job.settings_of(&targets, source.is_weighted());
        let mut basis = Basis {
            kernel: drawn.kernel,
            seed: job.preparation.seed(),
            job: Some(words),
            rescaled: Rescaled::from_survey(&survey),
            ..Basis::new(Arc::from(drawn.map), targets)
        };
        basis.name_columns(source);
        Ok((basis, scales.lengthscales))
    }

    /// Runs all stages. Reports each trial of a search as [`Step::Trial`].
    pub fn fit(&self, source: &mut dyn ChunkSource, meaning: Meaning, run: &Run) -> Result<Fitted> {
        let mut tried = 0;
        let mut hear = |_: &Trial, best: f64| {
            tried += 1;
            run.say(Step::Trial(tried, best));
            Ok(())
        };
        self.fit_heard(source, meaning, run, &mut hear)
    }

    /// Runs all stages as [`Self::fit`] does, and calls `hear` for each trial.
    pub fn fit_heard(
        &self,
        source: &mut dyn ChunkSource,
        meaning: Meaning,
        run: &Run,
        hear: Hear<'_>,
    ) -> Result<Fitted> {
        self.check(source.is_weighted())?;
        let Some((share, seed)) = self.kept_back() else {
            return self.fit_all(source, meaning, run, hear);
        };
        let mut rows = Split::new(&mut *source, Part::Train, share, seed)?;
        let mut fitted = self.fit_all(&mut rows, meaning, run, hear)?;
        source.rewind()?;
        let mut kept_back = Split::new(source, Part::Test, share, seed)?;
        fitted.model.calibrate(&mut kept_back, run.silent())?;
        Ok(fitted)
    }

    /// Returns the share of the rows that is held out for intervals, if any, and the seed of the
    /// [`Split`] that draws it: one more than the seed of the job, which may have drawn the rows
    /// that are held out for a score.
    #[doc(hidden)]
    pub fn kept_back(&self) -> Option<(f64, u64)> {
        let seed = self.preparation.seed().0.wrapping_add(1);
        self.calibrate.map(|share| (share, seed))
    }

    /// Runs all stages but calibration, on all rows.
    fn fit_all(
        &self,
        source: &mut dyn ChunkSource,
        meaning: Meaning,
        run: &Run,
        hear: Hear<'_>,
    ) -> Result<Fitted> {
        let weighted = source.is_weighted();
        let source: &mut dyn ChunkSource = &mut self.forgetting(source)?;
        let survey = self.survey(source, run)?;
        let targets = meaning.targets(&survey, source.schema())?;
        let (job, race) = self.settled(&survey, &targets, run)?;
        race.iter().for_each(|race| log::info!("chosen {race}"));
        let mut rescaled;
        let of_scale = job.survey_to_fit(&survey, &targets)?;
        let scale = of_scale.and_then(|survey| Some((survey.rescale.clone()?, survey)));
        let (survey, targets, source): (_, _, &mut dyn ChunkSource) = match scale {
            Some((rescale, survey)) => {
                rescaled = RescaledTargets::new(source, rescale);
                let targets = Targets::real(&survey);
                (survey, targets, &mut rescaled)
            }
            None => (survey, targets, source),
        };
        let scales = job.scales(&survey)?;
        let mut rows = Rows {
            source,
            survey: &survey,
            scales: &scales,
            targets: &targets,
            run,
        };
        let (mut model, found) = match (self.leaves, &self.search) {
            (Some(most), _) => (job.grow_leaves(most, rows.again())?, None),
            (None, Some(search)) => {
                let chosen = job.choose(search, rows.again(), hear)?;
                let drawn = job.draw(rows.again(), Some(&chosen.found))?;
                let job = job.clone().learning(chosen.learner.as_ref());
                let model = job.learn(drawn.map, job.fit_data(rows.again(), drawn.kernel))?;
                (model, Some(chosen.found))
            }
            (None, None) => {
                let drawn = job.draw(rows.again(), None)?;
                (
                    job.learn(drawn.map, job.fit_data(rows, drawn.kernel))?,
                    None,
                )
            }
        };
        found.iter().for_each(|found| found.keep(&mut model));
        self.say_weighted(&mut model, weighted);
        Ok(Fitted {
            model,
            survey,
            scales: scales.with(found.as_ref()),
            found,
            race,
        })
    }
}
