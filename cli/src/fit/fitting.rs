//! A fit of the command line, stage by stage: what is asked, planned and said around its job.

mod prepare;

use super::{
    Args,
    chosen::{Chosen, Takes},
    describe::describe,
    learner::ModelBasis,
    parts::Summing,
    search,
    sources::Sources,
    test_rows::Along,
};
use crate::{
    explain,
    interrupt::writing,
    map::{BuiltMap, hint},
    page::head,
    report::{Console, Report, Usage},
};
use anyhow::Result;
use bochner::{
    Device, Run,
    data::{ChunkSource, Folds},
    features::{Standardize, Structure},
    job::{Job, Meaning, check_weights},
    models::{Fit, Found, LinearModel, Ranges, Targets},
};
use std::time::Duration;

pub(super) use prepare::Prepared;

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
    /// A column that says when rows were, or may say so.
    pub(super) along: Option<Along>,
    /// Sums of parts, which are done with when the model is saved.
    summed: Option<Summing>,
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
        if args.is_open() {
            args.search.search_by_default(args.map.is_count_given());
        }
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
        args.learner.counts_rows = args.half_life.is_some();
        let chosen = args.learner.choose(dense, &console)?;
        let searches = args.search.is_wanted(&args.map);
        args.check(&chosen, dense, searches)?;
        args.settle(&chosen)?;
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
        args.fit_search(&chosen, &sources.train, &run, &console);
        let run = args.plan(&chosen, dense, &mut sources.train, run, &console)?;
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
            along: None,
            summed: None,
        })
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
        let (args, chosen) = (&self.args, &self.chosen);
        args.fit_leaves(&job, chosen, rows, &self.console, &mut self.report)
    }

    /// Draws the map, with what a search chooses if there is one.
    fn draw(&mut self, at: &mut Prepared) -> Result<BuiltMap> {
        let (args, console) = (&self.args, &self.console);
        let train = self.sources.train.as_mut();
        if self.searches {
            let job = args.job(&self.chosen, at.map.clone());
            let spec = at.spec.clone();
            let rows = at.rows(train, &self.run);
            let found = (args.search).run(&job, &spec, rows, console, &mut self.report)?;
            self.chosen.take(&found);
            at.scales = at.scales.clone().with(Some(&found));
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
        // Of several side by side each is fitted by itself.
        let found = self
            .found
            .as_ref()
            .filter(|found| !found.members.is_empty());
        let of_one = found.and_then(|found| found.builder.features());
        let features = of_one.unwrap_or(drawn.map.output_dim());
        let choice = self.landmarks.is_none().then(|| at.spec.map.clone());
        let built = BuiltMap::of_fit(
            drawn,
            &args.map.kernel,
            at.spec.kernel.clone(),
            &at.scales,
            self.found.as_ref(),
            at.selection.take(),
            choice,
        )?;
        if self.found.is_some() {
            let train = &mut self.sources.train;
            self.run = args.plan_found(&self.chosen, features, train, self.run.clone())?;
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
        let (drawn, iterates) = (built.drawn, self.chosen.iterates);
        let model = self.args.fit(&job, drawn, iterates, rows, &self.console);
        model.map(Some)
    }

    fn sum(&mut self, at: &Prepared, built: BuiltMap) -> Result<Option<LinearModel>> {
        let (args, train) = (&self.args, &mut self.sources.train);
        let job = args.job(&self.chosen, at.map.clone());
        let job = job.settings_of(&at.targets, train.is_weighted());
        let job = job.merge(args.data.said());
        let basis = args.basis(built, &at.survey, at.targets.clone(), job);
        let (chosen, rows, run) = (&self.chosen, at.survey.rows, &self.run);
        let sum = || args.sum(basis, chosen, train, rows, run, &self.console);
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
        model.ranges = Some(Ranges::from_survey(&at.survey));
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
            let job = job.merge(args.data.said());
            model.job = Some(if args.learner.is_basis_given() {
                job
            } else {
                job.without(&["landmarks"])
            });
        }
        if let Some(found) = &self.found {
            found.keep(model);
            let output = args.output.as_ref();
            let tries = args.search.tries(&args.map);
            let other = found.scaling.as_ref().map(|scaling| scaling.applied());
            let standardize = other.or(args.map.kernel.standardize());
            let standardize = standardize.filter(|&when| when != Standardize::Auto);
            search::describe(found, &at.survey, standardize, output, tries, report);
            if args.search.is_brief() && !self.console.is_verbose() {
                search::shorten(found, report);
            }
        }
        describe(model, chosen, self.found.is_some(), report);
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
        if let Some(summed) = self.summed.take() {
            summed.finish();
        }
        if let Some(model) = model {
            head::of_model(&self.args.input, model, &mut self.report);
            self.draw_parts(model)?;
        }
        self.args.run.print(&self.report)
    }

    /// The functions of an additive model, for a page: on the rows of the fit.
    fn draw_parts(&mut self, model: &LinearModel) -> Result<()> {
        let is_sum = matches!(model.map.structure(), Structure::Union(_));
        let has_targets = !matches!(self.chosen.takes, Takes::Rows(_));
        if self.args.run.page().is_none() || !is_sum || !has_targets {
            return Ok(());
        }
        let (train, report) = (self.sources.train.as_mut(), &mut self.report);
        let draw = || explain::draw_parts(model, train, &self.run, report);
        let ((), seconds) = self.console.timed(draw)?;
        self.report.seconds("parts", seconds);
        Ok(())
    }

    /// Says where it ran, before rows held out are scored.
    pub(super) fn say_device(&mut self) {
        self.report.device(&self.run.device);
    }
}
