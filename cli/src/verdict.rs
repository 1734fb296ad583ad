//! What tests of hypothesis share: where a p-value comes from, and the verdict.

use crate::{
    args::{at_least_one, fraction},
    report::{Console, Report, Usage, counted, six_digits},
};
use anyhow::Result;
use bochner::{
    Run, Step,
    data::Survey,
    hypothesis::{Null, Outcome},
};
use clap::ValueEnum;

/// How a test decides.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Test options")]
pub(crate) struct TestArgs {
    /// Share of false alarms that is borne: a p-value up to it is a verdict
    #[arg(long, value_name = "FRACTION", default_value_t = 0.05, value_parser = fraction)]
    pub(crate) level: f64,
    /// Where the p-value comes from
    ///
    /// `permutation` is exact, `asymptotic` is the limit for many rows.
    #[arg(long, value_name = "NULL")]
    null: Option<NullOption>,
    /// Random exchanges of rows; no p-value is below 1/(N + 1) [default: 500]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    permutations: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NullOption {
    Permutation,
    Asymptotic,
}

impl TestArgs {
    /// Where the p-value comes from; `otherwise` is for who did not say.
    pub(crate) fn null(&self, otherwise: NullOption) -> Result<Null> {
        let permutes = self.permutations.map(|_| NullOption::Permutation);
        match (
            self.null.or(permutes).unwrap_or(otherwise),
            self.permutations,
        ) {
            (NullOption::Permutation, count) => Ok(Null::Permutation(count.unwrap_or(500))),
            (NullOption::Asymptotic, None) => Ok(Null::Asymptotic),
            (NullOption::Asymptotic, Some(_)) => {
                let problem = "--permutations goes with --null permutation";
                Err(Usage(problem.into()).into())
            }
        }
    }

    /// Statistic, p-value and verdict, in words for people and as `key` for programs.
    pub(crate) fn describe(
        &self,
        outcome: &Outcome,
        (key, [found, nothing]): (&str, [&str; 2]),
        report: &mut Report,
    ) {
        let rejected = outcome.rejects(self.level);
        let how = match outcome.null {
            Null::Permutation(count) => counted(count as u64, "permutation"),
            Null::Asymptotic => "asymptotic".into(),
        };
        let verdict = if rejected { found } else { nothing };
        report.line("statistic", six_digits(outcome.statistic));
        report.line(
            "p-value",
            format!("{} ({how})", six_digits(outcome.p_value)),
        );
        report.line("verdict", format!("{verdict}, at level {}", self.level));
        report.set("statistic", outcome.statistic);
        report.set("p_value", outcome.p_value);
        report.set("level", self.level);
        report.set(key, rejected);
        let (null, permutations) = match outcome.null {
            Null::Permutation(count) => ("permutation", Some(count)),
            Null::Asymptotic => ("asymptotic", None),
        };
        report.set("null", null);
        report.set("permutations", permutations);
    }
}

/// `run` with a bar over the rows of a survey.
pub(crate) fn watched(run: &Run, stage: &'static str, survey: &Survey, console: &Console) -> Run {
    let bar = console.bar(stage, Some(survey.rows));
    run.clone().progress(move |step| {
        if let Step::Rows(rows) = step {
            bar.set_position(rows);
        }
    })
}
