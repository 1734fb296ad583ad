//! `--leaves`: a tree with a model in each leaf.

use super::{Args, Chosen, describe, search::importance};
use crate::report::{Console, Report, Usage};
use anyhow::Result;
use bochner::{
    job::{Job, Rows},
    models::{Fit, LinearModel, Solver},
};

impl Args {
    /// Errors on options that do not go with leaves, beside those that all doors refuse.
    pub(super) fn check_leaves(&self, chosen: &Chosen, dense: bool, searches: bool) -> Result<()> {
        if self.search.leaves.is_none() {
            return Ok(());
        }
        let solver = chosen.ridge.as_ref().map(|ridge| ridge.solver);
        let problem = match () {
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

    /// Parts the rows and fits each leaf.
    pub(super) fn fit_leaves(
        &self,
        job: &Job<&dyn Fit>,
        chosen: &Chosen,
        mut rows: Rows<'_>,
        console: &Console,
        report: &mut Report,
    ) -> Result<LinearModel> {
        let Some(most) = job.leaves else {
            return Err(Usage("there are no --leaves".into()).into());
        };
        let (run, survey) = (rows.run, rows.survey);
        let (all, bar) = (survey.rows, console.bar("fit", Some(survey.rows)));
        let told = run.clone().progress(bar.follow());
        let rows = Rows {
            run: &told,
            ..rows.again()
        };
        let (model, seconds) = console.timed(|| job.grow_leaves(most, rows))?;
        drop(told);
        report.line("map", model.map.describe());
        report.set("map", model.map.describe());
        report.set("map_name", model.map.name());
        report.set("features", model.map.output_dim());
        describe(&model, chosen, false, report);
        if let Some(shares) = &model.leaf_importance {
            importance("leaves", shares, survey, report);
        }
        report.set("intercept", self.learner.intercept());
        report.set("solver", chosen.solved_by(&model));
        report.seconds("fit", seconds);
        report.throughput(all, seconds);
        Ok(model)
    }
}
