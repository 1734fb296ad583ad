//! A fit of the command line, stage by stage: what is asked, planned and said around its job.

use super::{
    Args,
    chosen::{self, Chosen, Takes},
    describe::describe,
    learner::ModelBasis,
    parts::Summing,
    search,
    sources::Sources,
    task::Task,
};
use crate::{
    became,
    interrupt::writing,
    map::{BuiltMap, hint},
    page::head,
    report::{Console, Report, Usage},
};
use anyhow::Result;
use bochner::{
    Device, Run,
    analysis::rudi_rosasco,
    data::{ChunkSource, Folds, MemorySource, Rescaled, Schema, Survey},
    features::{Bandwidth, Linear, MapBuilder, MapSpec, Selection, Standardize},
    job::{Job, Meaning, Rows, Scales, TargetScale, check_weights},
    models::{Fit, Found, Lambda, LinearModel, Ranges},
    solve::Targets,
};
use std::{sync::Arc, time::Duration};

/// What a fit is at.
pub(super) struct Fitting {
    pub(super) args: Args,
    pub(super) console: Console,
    pub(super) report: Report,
    chosen: Chosen,
    /// Landmarks of a model that stands on the kernel itself, 0 for all rows.
    landmarks: Option<usize>,
    /// Whether rows held out choose something.
    searches: bool,
    /// Whether leave-one-out errors chose preparation and bandwidth.
    raced: bool,
    /// Whether standardised columns were among what these errors chose from.
    tried_standardized: bool,
    pub(super) sources: Sources,
    pub(super) run: Run,
    /// What a search chose.
    found: Option<Found>,
    /// Sums of parts, which are done with when the model is saved.
    summed: Option<Summing>,
}

/// Training rows that were read once, and what is to be drawn for them.
pub(super) struct Prepared {
    survey: Survey,
    pub(super) targets: Targets,
    scales: Scales,
    map: Arc<dyn MapBuilder>,
    spec: MapSpec,
    selection: Option<Selection>,
}

impl Fitting {
    /// Looks at all options, at the files that are named, and at what there is room for.
    pub(super) fn begin(args: Args) -> Result<Self> {
        let console = args.run.start()?;
        Self::set_up(args, console, None)
    }

    /// As [`Self::begin`], of a fold of rows beside this fit, on its device: nobody hears of it and
    /// nothing is written.
    pub(super) fn of_fold(&self, mut args: Args, fold: (Folds, usize)) -> Result<Self> {
        args.output = None;
        args.held_out = Some(fold);
        Self::set_up(args, self.console.silent(), Some(&self.run.device))
    }

    fn set_up(mut args: Args, console: Console, device: Option<&Device>) -> Result<Self> {
        let usual = args.learner.usual();
        args.map.usual = args.search.features().or(Some(usual.features));
        args.map.usual_map = Some(usual.map);
        let landmarks = match args.learner.basis() {
            ModelBasis::Features => None,
            ModelBasis::AllRows => Some(0),
            ModelBasis::Landmarks(landmarks) => Some(landmarks),
        };
        let dense = match landmarks {
            None => args.map.check_searched(&console)?.is_dense(),
            Some(landmarks) => {
                args.map.check_columns(&args.learner.name(), landmarks)?;
                true
            }
        };
        let chosen = args.learner.choose(dense, &console)?;
        let searches = args.search.is_wanted(&args.map);
        args.check(&chosen, (dense, searches))?;
        args.settle(&chosen)?;
        args.keep_apart()?;
        args.part_rows()?;
        args.hold_out_last()?;
        let mut sources = args.sources(&chosen, None)?;
        let width = (sources.train.columns(), sources.train.targets());
        args.decide_by_rows(&chosen, width);
        check_weights(chosen.fit.as_ref(), sources.train.is_weighted())?;
        args.claim_outputs()?;
        let run = match device {
            Some(device) => args.run.run_on(device),
            None => args.run.open(&console)?,
        };
        args.fit_search(&chosen, &sources.train, (&run, &console));
        let run = args.plan((&chosen, dense), &mut sources.train, (run, &console))?;
        Ok(Self {
            args,
            console,
            report: Report::default(),
            chosen,
            landmarks,
            searches,
            raced: false,
            tried_standardized: false,
            sources,
            run,
            found: None,
            summed: None,
        })
    }

    /// Reads the training rows once, and decides what targets mean and how columns are prepared.
    pub(super) fn prepare(&mut self) -> Result<Prepared> {
        let survey = self.survey()?;
        self.share_schema()?;
        let targets = self.targets(&survey)?;
        let size = (survey.rows, targets.outputs());
        let train = &mut self.sources.train;
        self.run = (self.args).plan_rows(&self.chosen, size, train, self.run.clone())?;
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
        let (survey, targets) = match scale.survey(&survey, &targets)? {
            Some(survey) => self.take_scale(scale, survey)?,
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
    fn take_scale(&mut self, scale: TargetScale, survey: Survey) -> Result<(Survey, Targets)> {
        self.args.target_scale = scale;
        let problem = || Usage("these targets have no other scale".into());
        let rescaled = Rescaled::of(&survey).ok_or_else(problem)?;
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
        self.args.linear = Linear::No;
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

    /// What the training rows made of the columns of a table holds for all other rows.
    fn share_schema(&mut self) -> Result<()> {
        let Some(schema) = self.sources.train.schema() else {
            became::describe_numbers(self.sources.train.as_ref(), &mut self.report);
            return Ok(());
        };
        if self.args.part.shard.is_some() {
            let problem = "--shard takes files of numbers: sums do not say what columns of text \
                           became; fit this table in one process, with --checkpoint";
            return Err(Usage(problem.into()).into());
        }
        let others = self.args.sources(&self.chosen, Some(schema))?;
        if let Some(note) = self.args.between_dates(schema) {
            self.console.note(&note);
        }
        became::describe(schema, &self.console, &mut self.report);
        (self.sources.kept_back, self.sources.test) = (others.kept_back, others.test);
        Ok(())
    }

    /// The job, and what its targets mean, if no rows chose anything of it.
    pub(super) fn unraced_job(&self, at: &Prepared) -> Option<(Job<&dyn Fit>, Meaning)> {
        let chosen = self.raced || self.searches || self.args.map.is_by_rows();
        let meaning = match &at.targets {
            Targets::Classes(_) => Meaning::Labels,
            Targets::Real { .. } => Meaning::Amounts,
        };
        (!chosen).then(|| (self.args.job(&self.chosen, at.map.clone()), meaning))
    }

    fn targets(&self, survey: &Survey) -> Result<Targets> {
        let schema = self.sources.train.schema();
        let text = schema.and_then(Schema::classes).map(<[String]>::len);
        let classifies = || self.args.classifies(survey, text, &self.console);
        let meaning = match self.chosen.takes {
            Takes::Labels if self.args.task == Task::Regression => {
                let problem = "--task regression is not for this --model, which takes labels";
                return Err(Usage(problem.into()).into());
            }
            Takes::Labels => Meaning::Labels,
            Takes::NumbersOrLabels if classifies() => Meaning::Labels,
            Takes::Numbers if self.args.task == Task::Classification => {
                let problem = "--task classification is not for this --model, which takes amounts";
                return Err(Usage(problem.into()).into());
            }
            Takes::NumbersOrLabels | Takes::Numbers => Meaning::Amounts,
            Takes::Rows(_) => Meaning::Nothing,
        };
        let targets = meaning.targets(survey, schema)?;
        if matches!(targets, Targets::Classes(_)) && self.sources.kept_back.is_some() {
            let problem = "--calibrate is for regressions; labels have no intervals";
            return Err(Usage(problem.into()).into());
        }
        Ok(targets)
    }

    /// From training rows to a model, described; without one where the sums of a shard are all that
    /// is wanted.
    pub(super) fn model(&mut self, at: &mut Prepared) -> Result<Option<LinearModel>> {
        if self.args.search.leaves.is_some() {
            return self.grow_leaves(at).map(Some);
        }
        let built = self.draw(at)?;
        let mut model = self.learn(at, built)?;
        if let Some(model) = &mut model {
            self.describe(model, at);
        }
        Ok(model)
    }

    /// A tree with a model in each leaf, in the place of one map and one model.
    fn grow_leaves(&mut self, at: &mut Prepared) -> Result<LinearModel> {
        let job = self.args.job(&self.chosen, at.map.clone());
        let rows = at.rows(self.sources.train.as_mut(), &self.run);
        let jobs = (&job, &self.chosen);
        (self.args).fit_leaves(jobs, rows, &self.console, &mut self.report)
    }

    /// Draws the map, with what a search chooses if there is one.
    fn draw(&mut self, at: &mut Prepared) -> Result<BuiltMap> {
        let (args, console) = (&self.args, &self.console);
        let train = self.sources.train.as_mut();
        if self.searches {
            let job = args.job(&self.chosen, at.map.clone());
            let spec = at.spec.clone();
            let rows = at.rows(train, &self.run);
            let found = (args.search).run(&job, &spec, rows, (console, &mut self.report))?;
            self.chosen.take(&found);
            self.found = Some(found);
        } else if !self.tried_standardized {
            hint(&at.scales.scaling, &at.scales.lengthscales, console);
        }
        let (drawn, seconds) = {
            let bar = console.bar("map", Some(at.survey.rows));
            let told = self.run.clone().progress(bar.follow());
            let job = args.job(&self.chosen, at.map.clone());
            let rows = at.rows(train, &told);
            console.timed(|| job.draw(rows, self.found.as_ref()))?
        };
        console.detail(&format!("map: {}", drawn.map.describe()));
        let features = drawn.map.output_dim();
        let choice = self.landmarks.is_none().then(|| at.spec.map.clone());
        let from = (&args.map.kernel, at.spec.kernel.clone(), &at.scales);
        let how = (at.selection.take(), choice);
        let built = BuiltMap::of_fit(drawn, from, self.found.as_ref(), how)?;
        if self.found.is_some() {
            let (sized, train) = ((&self.chosen, features), &mut self.sources.train);
            self.run = args.plan_found(sized, train, self.run.clone())?;
        }
        self.report.seconds("map", seconds);
        args.map.describe(&built, &mut self.report);
        Ok(built)
    }

    /// From the map to a model.
    fn learn(&mut self, at: &mut Prepared, built: BuiltMap) -> Result<Option<LinearModel>> {
        if self.args.is_in_parts() {
            return self.sum(at, built);
        }
        let job = self.args.job(&self.chosen, at.map.clone());
        let rows = at.rows(self.sources.train.as_mut(), &self.run);
        let drawn = (built.drawn, self.chosen.iterates);
        self.args.fit(&job, drawn, rows, &self.console).map(Some)
    }

    fn sum(&mut self, at: &Prepared, built: BuiltMap) -> Result<Option<LinearModel>> {
        let (args, train) = (&self.args, &mut self.sources.train);
        let job = args.job(&self.chosen, at.map.clone());
        let job = job.settings_of(&at.targets, train.is_weighted());
        let job = job.with(args.data.said());
        let how = (&self.chosen, at.targets.clone(), job);
        let on = (&self.run, &self.console);
        let sum = || args.sum(built, train, &at.survey, how, on);
        let (summing, seconds) = self.console.timed(sum)?;
        self.report.seconds("fit", seconds);
        if let Some(path) = &args.part.partial {
            let _writing = writing();
            summing.save(path, &mut self.report)?;
            return Ok(None);
        }
        let learner = self.chosen.fit.of_sums();
        let learner = learner.ok_or_else(|| Usage("this learner sums no rows".into()))?;
        let mut model = summing.model(learner, &self.run)?;
        model.name_columns(self.sources.train.as_ref());
        model.ranges = Some(Ranges::of(&at.survey));
        if let Some(times) = &mut model.times {
            times.accumulate = Duration::from_secs_f64(seconds);
        }
        self.summed = Some(summing);
        Ok(Some(model))
    }

    /// Says what came of it.
    fn describe(&mut self, model: &mut LinearModel, at: &Prepared) {
        let (args, chosen, report) = (&self.args, &self.chosen, &mut self.report);
        // What the rows have cut is no part of what was asked for.
        if let Some(job) = model.job.take() {
            let job = job.with(args.data.said());
            model.job = Some(if args.learner.is_basis_given() {
                job
            } else {
                job.without(&["landmarks"])
            });
        }
        if let Some(found) = &self.found {
            found.keep(model);
            let how = (args.output.as_ref(), args.search.tries(&args.map));
            let standardize = args.map.kernel.standardize();
            let standardize = standardize.filter(|&when| when != Standardize::Auto);
            search::describe(found, (&at.survey, standardize), how, report);
        }
        describe(model, (chosen, self.found.is_some()), report);
        if !matches!(chosen.takes, Takes::Rows(_)) {
            report.set("intercept", args.learner.intercept());
            if chosen.ridge.as_ref().is_some_and(|ridge| ridge.penalised) {
                report.set("penalised_intercept", true);
            }
        }
        report.set("solver", chosen.solved_by(model));
    }

    /// Writes the model, if there is one and a place for it, last: a run that fails leaves an older
    /// one as it was. Prints the report.
    pub(super) fn finish(mut self, model: Option<&LinearModel>) -> Result<()> {
        if let Some((path, model)) = self.args.output.as_ref().zip(model) {
            let _writing = writing();
            model.save(path)?;
            self.report.output("model", path);
        }
        if let Some(summed) = self.summed {
            summed.finish();
        }
        if let Some(model) = model {
            head::of_model(&self.args.input, model, &mut self.report);
        }
        self.args.run.print(&self.report)
    }

    /// Says where it ran, before rows held out are scored.
    pub(super) fn say_device(&mut self) {
        self.report.device(&self.run.device);
    }
}

impl Prepared {
    /// The rows as stages of a job take them.
    fn rows<'a>(&'a mut self, source: &'a mut dyn ChunkSource, run: &'a Run) -> Rows<'a> {
        Rows {
            source,
            survey: &self.survey,
            scales: &self.scales,
            targets: &self.targets,
            run,
        }
    }
}
