//! What the training rows decide before a map is drawn: what targets mean, how columns are
//! prepared, which of it leave-one-out errors choose.

use super::{Fitting, search};
use crate::{
    became,
    fit::{
        chosen::{self, Takes},
        test_rows::Along,
    },
    report::Usage,
};
use anyhow::Result;
use bochner::{
    Run,
    analysis::rudi_rosasco,
    data::{ChunkSource, MemorySource, Rescaled, Schema, Survey},
    features::{Additive, Bandwidth, Linear, MapBuilder, MapSpec, Selection, Standardize},
    job::{Meaning, Rows, Scales, TargetScale},
    models::{Lambda, Targets},
};
use std::sync::Arc;

/// Training rows that were read once, and what is to be drawn for them.
pub(in crate::fit) struct Prepared {
    pub(super) survey: Survey,
    pub(in crate::fit) targets: Targets,
    pub(super) scales: Scales,
    pub(super) map: Arc<dyn MapBuilder>,
    pub(super) spec: MapSpec,
    pub(super) selection: Option<Selection>,
}

impl Prepared {
    /// The rows as stages of a job take them.
    pub(super) fn rows<'a>(
        &'a mut self,
        source: &'a mut dyn ChunkSource,
        run: &'a Run,
    ) -> Rows<'a> {
        Rows {
            source,
            survey: &self.survey,
            scales: &self.scales,
            targets: &self.targets,
            run,
        }
    }
}

impl Fitting {
    /// Reads the training rows once, and decides what targets mean and how columns are prepared.
    pub(in crate::fit) fn prepare(&mut self) -> Result<Prepared> {
        let survey = self.survey()?;
        self.say_when_rows_were(&survey);
        self.share_schema(&survey)?;
        let targets = self.targets(&survey)?;
        let (args, train) = (&self.args, &self.sources.train);
        let (rows, outputs) = (survey.rows, targets.outputs());
        self.run = args.plan_rows(&self.chosen, rows, outputs, train, self.run.clone())?;
        let (mut spec, selection) = match self.landmarks {
            None => (self.args.map).chosen(train.columns(), &self.run, &self.console)?,
            Some(_) => (self.args.map.spec(), None),
        };
        self.args.search.drawn_as(&mut spec, &self.args.map);
        let map: Arc<dyn MapBuilder> = match self.landmarks {
            None => Arc::new(spec.clone()),
            Some(landmarks) => Arc::new(self.args.map.columns(landmarks)),
        };
        let (scale, map) = self.race(&survey, &targets, map)?;
        self.args.target_scale = scale;
        let job = self.args.job(&self.chosen, map.clone());
        let (survey, targets) = match job.survey_to_fit(&survey, &targets)? {
            Some(survey) => self.take_scale(survey)?,
            None => (survey, targets),
        };
        let job = self.args.job(&self.chosen, map.clone());
        let scales = job.scales(&survey)?;
        if (self.searches || job.leaves.is_some()) && scales.lengthscales.len() > 1 {
            return Err(Usage(search::ONE_SIGMA.into()).into());
        }
        Ok(Prepared {
            survey,
            targets,
            scales,
            map,
            spec,
            selection,
        })
    }

    /// Training rows with targets on another scale, of which this is the survey.
    fn take_scale(&mut self, survey: Survey) -> Result<(Survey, Targets)> {
        let problem = || Usage("these targets have no other scale".into());
        let rescaled = Rescaled::from_survey(&survey).ok_or_else(problem)?;
        // Sums do so themselves.
        if !self.args.is_in_parts() {
            // Something has to stand in the place of what is wrapped, for a moment.
            let none = MemorySource::new(ndarray::Array2::<f64>::zeros((1, 1)), None)?;
            let train = std::mem::replace(&mut self.sources.train, Box::new(none));
            self.sources.train = Box::new(rescaled.rows(train));
        }
        let targets = Targets::real(&survey);
        Ok((survey, targets))
    }

    /// Has leave-one-out errors choose preparation and bandwidth, if that is left to them, the
    /// scale of the targets, and what stands beside the map, which it says.
    fn race(
        &mut self,
        survey: &Survey,
        targets: &Targets,
        map: Arc<dyn MapBuilder>,
    ) -> Result<(TargetScale, Arc<dyn MapBuilder>)> {
        let job = self.args.job(&self.chosen, map);
        let settled = self
            .console
            .timed(|| job.settled(survey, targets, &self.run));
        let ((job, race), seconds) = settled?;
        let bandwidth = job.bandwidth();
        let kernel = &mut self.args.map.kernel;
        self.raced = race.is_some();
        if let Some(race) = race {
            let mut candidates = race.candidates.iter();
            self.tried_standardized = candidates.any(|c| c.standardize == Standardize::Yes);
            kernel.settle_for(bandwidth, Some(race.chosen().standardize));
            chosen::describe(&race, survey, &mut self.report);
            self.report.seconds("race", seconds);
        } else if kernel.bandwidth() == Bandwidth::Chosen {
            kernel.settle_for(bandwidth, None);
        }
        // The map that comes back has it.
        let (scale, map) = (job.target_scale, job.preparation.map);
        (self.args.linear, self.args.additive) = (Linear::No, Additive::No);
        Ok((scale, map))
    }

    fn survey(&mut self) -> Result<Survey> {
        let (args, console) = (&mut self.args, &self.console);
        let train = self.sources.train.as_mut();
        let (survey, seconds) = match self.landmarks {
            None => {
                let searches = self.searches || args.search.leaves.is_some();
                let rows = if searches { Bandwidth::MEDIAN_ROWS } else { 0 };
                args.map.survey_at_least(rows, train, console)?
            }
            Some(landmarks) => args.map.survey_columns(landmarks, train, console)?,
        };
        // Before all work, which no model could hold.
        (train.schema()).map_or(Ok(()), Schema::require_room)?;
        self.report.seconds("survey", seconds);
        args.data.describe_gaps(&mut self.report);
        args.map.no_more_than(survey.rows);
        let among = |landmarks| args.learner.landmarks_among(landmarks, survey.rows);
        self.landmarks = self.landmarks.map(among);
        if args.map.is_by_rows() {
            let (features, lambda) = rudi_rosasco(survey.rows)?;
            args.map.usual = Some(features);
            self.chosen.penalise(Lambda::Fixed(lambda));
        }
        Ok(survey)
    }

    /// Says of rows held out at random that they lie between others in time, if a column tells.
    fn say_when_rows_were(&mut self, survey: &Survey) {
        let along = Along::find(survey, self.sources.train.schema());
        if let Some(note) = self.args.between_times(along.as_ref()) {
            self.console.note(&note);
        }
        self.along = along;
    }

    /// What the training rows made of the columns of a table holds for all other rows.
    fn share_schema(&mut self, survey: &Survey) -> Result<()> {
        let Some(schema) = self.sources.train.schema() else {
            if let Some(test) = self.args.filled_test(&self.sources.train, survey)? {
                self.sources.test = Some(test);
            }
            became::describe_numbers(self.sources.train.as_ref(), &mut self.report);
            return Ok(());
        };
        if self.args.part.shard.is_some() {
            let problem = "--shard takes files of numbers without missing values: partial sums do not \
                           store how columns of text are encoded; fit this table in one process, \
                           with --checkpoint";
            return Err(Usage(problem.into()).into());
        }
        let others = self.args.sources(&self.chosen, Some(schema))?;
        became::describe(schema, &self.console, &mut self.report);
        (self.sources.kept_back, self.sources.test) = (others.kept_back, others.test);
        Ok(())
    }

    fn targets(&self, survey: &Survey) -> Result<Targets> {
        let schema = self.sources.train.schema();
        let text = schema.and_then(Schema::classes).map(<[String]>::len);
        let classifies = || self.args.classifies(survey, text, &self.console);
        self.args.check_task(self.chosen.takes)?;
        let meaning = match self.chosen.takes {
            Takes::Labels => Meaning::Labels,
            Takes::NumbersOrLabels if classifies() => Meaning::Labels,
            Takes::NumbersOrLabels | Takes::Numbers => Meaning::Amounts,
            Takes::Rows(_) => Meaning::Nothing,
        };
        if meaning == Meaning::Labels && self.sources.kept_back.is_some() {
            let problem = "--calibrate is for regressions; labels have no intervals";
            return Err(Usage(problem.into()).into());
        }
        if meaning == Meaning::Labels && text.is_none() {
            let of_labels = matches!(self.chosen.takes, Takes::Labels);
            self.args.check_classes(survey, of_labels, &self.console)?;
        }
        Ok(meaning.targets(survey, schema)?)
    }
}
