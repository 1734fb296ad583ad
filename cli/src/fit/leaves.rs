//! `--leaves`: a tree with a model in each leaf.

use super::{
    Args, Chosen, Source, describe,
    search::{Rows, importance},
};
use crate::{
    evaluate::score,
    interrupt::writing,
    report::{Report, Usage},
};
use anyhow::Result;
use bochner::models::{ClassWeights, LinearModel, Solver};

impl Args {
    /// Errors on options that do not go with leaves.
    pub(super) fn check_leaves(&self, chosen: &Chosen, dense: bool, searches: bool) -> Result<()> {
        if self.search.leaves.is_none() {
            return Ok(());
        }
        let solver = chosen.ridge.as_ref().map(|ridge| ridge.solver);
        let problem = match () {
            () if solver.is_none() => "--leaves is for --model ridge; leave one of both out",
            () if self.is_in_parts() => {
                "--leaves reads the rows once for each level of its tree; leave out --checkpoint \
                 and --shard"
            }
            () if self.calibrate.is_some() || chosen.probabilities => {
                "leaves have no intervals and no probabilities; leave out --calibrate and \
                 --probabilities"
            }
            () if chosen.class_weights != ClassWeights::Equal => {
                "leaves take no class weights; give a column of weights by --weight"
            }
            () if self.search.ends_or_is_given() => {
                "each leaf makes its own few trials; leave out --budget and --metric-from"
            }
            () if self.map.is_by_rows() => {
                "--features rudi-rosasco is for one model of all rows; give the number of each leaf"
            }
            () if !dense => "--leaves takes maps with gradients; leave binning out",
            () if searches && !matches!(solver, Some(Solver::Auto | Solver::Cholesky)) => {
                "what leaves choose is solved by Cholesky; leave out --solver"
            }
            () => return Ok(()),
        };
        Err(Usage(problem.into()).into())
    }

    /// Parts the rows and fits each leaf, scores and saves.
    pub(super) fn fit_leaves(
        &self,
        chosen: &Chosen,
        rows: Rows<'_>,
        test: Option<Source>,
        mut report: Report,
    ) -> Result<()> {
        let (run, console) = (rows.run, rows.console);
        let survey = rows.survey;
        let (all, bar) = (rows.survey.rows, console.bar("fit", Some(rows.survey.rows)));
        let told = run.clone().progress(bar.follow());
        let rows = Rows { run: &told, ..rows };
        let grown = || self.search.grow(&self.map, chosen, rows);
        let (model, seconds) = console.timed(grown)?;
        drop(told);
        report.line("map", model.map.describe());
        report.set("map", model.map.describe());
        report.set("map_name", model.map.name());
        report.set("features", model.map.output_dim());
        describe(&model, chosen, &mut report);
        if let Some(shares) = &model.leaf_importance {
            importance("leaves", shares, survey, &mut report);
        }
        report.set("intercept", self.learner.intercept());
        report.set("solver", chosen.solver);
        report.seconds("fit", seconds);
        report.throughput(all, seconds);
        report.device(&run.device);
        if let Some(mut test) = test {
            let (scores, seconds) = score(&model, run, &mut test, (console, "test"))?;
            report.seconds("test", seconds);
            report.set("test_rows", scores.rows());
            scores.describe(&mut report, "held-out rows");
        }
        self.keep(&model, &mut report)?;
        self.run.print(&report)
    }

    fn keep(&self, model: &LinearModel, report: &mut Report) -> Result<()> {
        if let Some(path) = &self.output {
            let _writing = writing();
            model.save(path)?;
            report.output("model", path);
        }
        Ok(())
    }
}
