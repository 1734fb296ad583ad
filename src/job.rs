//! A fit from end to end, written once for every door: data -> scales -> map -> fit -> calibrate.
//!
//! The builders of [`models`](crate::models), the command line and the Python package fill in a
//! [`Job`] and say what came of it. [`Job::fit`] runs all stages. The command line and Python have
//! something to say between them, or sum rows in parts, and call them one by one, in this order;
//! they are public for these two alone, and may change in any release.
//!
//! | stage | what it does |
//! |---|---|
//! | [`check`](Job::check) | refuses what does not go together |
//! | `survey` | reads the rows once |
//! | `settled` | what leave-one-out errors choose of preparation and bandwidth |
//! | `scales` | how columns are prepared, and lengthscales |
//! | `choose` | what a search chooses, if one is asked for |
//! | `draw` | the map |
//! | `learn` | the learner, with probabilities and class weights |
//! | `kept_back` | which rows the fit does not see, for intervals |
//! | `grow_leaves` | in the place of the three above: a tree with a model in each leaf |
//!
//! [`Job::cross_validate`] runs all of them for each fold of the rows.

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

/// A fit as plain data: what is done before the learner sees a row, the learner, and what is done
/// around it. The same job on the same rows gives the same model from every door.
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
    /// What is learnt, with its options.
    pub learner: L,
    /// Scales, bandwidth, map and seed.
    pub preparation: Preparation,
    /// Whether a classifier is to have probabilities where it has none of its own.
    pub probabilities: bool,
    /// What classes count.
    pub class_weights: ClassWeights,
    /// Rows after which a row counts for half of what the newest does.
    pub half_life: Option<f64>,
    /// The share of the rows that is kept back from the fit for intervals.
    pub calibrate: Option<f64>,
    /// What rows held out choose before the fit.
    pub search: Option<Search>,
    /// Most rows of a leaf, where rows are parted by a tree.
    pub leaves: Option<usize>,
    /// On what scale amounts are fitted.
    pub target_scale: TargetScale,
    /// Whether the columns themselves stand beside the features of the map.
    pub linear: Linear,
    /// Whether a small map looks at each column of the table.
    pub additive: Additive,
}

/// What a job came to.
#[derive(Debug)]
pub struct Fitted {
    /// The model, which knows the names of its columns.
    pub model: LinearModel,
    /// What one pass over the rows found.
    pub survey: Survey,
    /// How their columns are prepared.
    pub scales: Scales,
    /// What a search chose, if there was one.
    pub found: Option<Found>,
    /// What leave-one-out errors chose of preparation and bandwidth, if that was left to them.
    pub race: Option<Race>,
}

/// Who hears of each trial of a search, with the best error so far; an error ends the search.
pub type Hear<'a> = &'a mut dyn FnMut(&Trial, f64) -> Result<()>;

impl<L> Job<L> {
    /// This learner on this map, with a default for everything else.
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

    /// The same job of another learner.
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
    /// The job whichever its learner is: what all stages are of.
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
    /// How wide the kernel is: as asked for, else as the map has it, else as the learner has it.
    #[doc(hidden)]
    pub fn bandwidth(&self) -> Bandwidth {
        self.preparation
            .bandwidth_or(self.learner.usual().bandwidth)
    }

    /// Rows that a survey samples: for the bandwidth, the map and a search.
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
        // Before all work, which no model could hold.
        source.schema().map_or(Ok(()), Schema::require_room)?;
        Ok(survey)
    }

    /// How columns are prepared, and lengthscales. Errors as [`Bandwidth::lengthscales`] does.
    #[doc(hidden)]
    pub fn scales(&self, survey: &Survey) -> Result<Scales> {
        self.preparation.scales(survey, self.bandwidth())
    }

    /// Draws the map, with what a search chose if there was one. Errors as the map does.
    #[doc(hidden)]
    pub fn draw(&self, rows: Rows<'_>, found: Option<&Found>) -> Result<DrawnMap> {
        let sampling = self.learner.usual().sampling;
        self.preparation.draw(rows, found, sampling)
    }

    /// What sums of rows stand on that come in parts: the first of them, with the targets that
    /// `targets` reads off their survey, decide on scales, bandwidth and map as in a fit to them
    /// alone. Amounts stay as they are unless another scale is asked for: rows that come later
    /// may have none. Errors as these stages do, and as [`Self::check`] of what parts cannot do.
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

    /// What sums of rows stand on that were surveyed and whose targets are known, with their
    /// lengthscales. Errors as the stages from [`Self::settled`] on do.
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

    /// All stages. Every trial of a search is a
    /// [`Step::Trial`].
    pub fn fit(&self, source: &mut dyn ChunkSource, meaning: Meaning, run: &Run) -> Result<Fitted> {
        let mut tried = 0;
        let mut hear = |_: &Trial, best: f64| {
            tried += 1;
            run.say(Step::Trial(tried, best));
            Ok(())
        };
        self.fit_heard(source, meaning, run, &mut hear)
    }

    /// As [`Self::fit`], with `hear` to hear of trials.
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

    /// The share of the rows that is kept back from the fit for intervals, if there is one, and the
    /// seed of the [`Split`] that draws it: the next one, for the first may have drawn rows that
    /// are held out for a score.
    #[doc(hidden)]
    pub fn kept_back(&self) -> Option<(f64, u64)> {
        let seed = self.preparation.seed().0.wrapping_add(1);
        self.calibrate.map(|share| (share, seed))
    }

    /// All stages but calibration, on all rows.
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
