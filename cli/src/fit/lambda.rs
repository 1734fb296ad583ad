//! `--lambda`: one penalty, several to choose from, or a choice of our own.

use crate::{
    args::positive,
    report::{Report, Usage, Value, six_digits},
};
use anyhow::Result;
use bochner::models::{HeldOut, Lambda, LambdaCurve};
use clap::{Args, ValueEnum};

/// The penalty, and who chooses it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct LambdaArgs {
    /// Penalty per sample, or for ridge several or `auto`
    ///
    /// Ridge, kernel-ridge and falkon take the best of several, divided by commas, or of `auto`
    /// (1e-9 to 1e-1), by the error on rows held out [default: of these the
    /// best of `auto` by at most 4096 rows left out, of kernel-ridge and falkon 2048; 1e-6 of ridge
    /// beside searches, leaves, binning and conjugate gradients, and of boosting; 0 of lasso and
    /// beside --l1 or --bound, 1e-5 of others]
    #[arg(long, value_name = "L,..", value_parser = penalty, allow_hyphen_values = true)]
    lambda: Option<Penalty>,
    /// Rows that are held out to choose a penalty: each in turn (default), or folds
    #[arg(long, value_enum)]
    lambda_by: Option<By>,
    /// Number of folds for `--lambda-by kfold` (default 5)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..))]
    #[arg(allow_hyphen_values = true)]
    folds: Option<u16>,
}

#[derive(Debug, Clone, PartialEq)]
enum Penalty {
    One(f64),
    Several(Vec<f64>),
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Leave-one-out errors, without refitting
    Loo,
    /// Cross-validation, from the sums of each fold
    Kfold,
}

fn penalty(text: &str) -> std::result::Result<Penalty, String> {
    if text == "auto" {
        return Ok(Penalty::Auto);
    }
    // What interpolates; a learner that cannot says so.
    if text.trim().parse() == Ok(0.0) {
        return Ok(Penalty::One(0.0));
    }
    let mut lambdas = text.split(',').map(|one| positive(one.trim()));
    let lambdas = lambdas
        .by_ref()
        .collect::<std::result::Result<Vec<f64>, _>>()?;
    Ok(match lambdas.as_slice() {
        [one] => Penalty::One(*one),
        _ => Penalty::Several(lambdas),
    })
}

impl LambdaArgs {
    pub(super) fn is_given(&self) -> bool {
        self.lambda.is_some()
    }

    pub(super) fn is_auto(&self) -> bool {
        self.lambda == Some(Penalty::Auto)
    }

    /// Whether it is 0, which few learners take.
    pub(super) fn is_zero(&self) -> bool {
        self.lambda == Some(Penalty::One(0.0))
    }

    pub(super) fn is_by_given(&self) -> bool {
        self.lambda_by.is_some()
    }

    pub(super) fn is_folds_given(&self) -> bool {
        self.folds.is_some()
    }

    /// The penalty, if one is given, of a learner that does not choose.
    pub(super) fn only(&self) -> Result<Option<f64>> {
        match self.lambda {
            None => Ok(None),
            Some(Penalty::One(lambda)) => Ok(Some(lambda)),
            Some(_) => Err(usage(
                "a choice among several penalties belongs to --model ridge, kernel-ridge and falkon; \
                 use one --lambda",
            )),
        }
    }

    /// The penalty of ridge regression and of kernel machines, or how it is chosen.
    pub(super) fn of_ridge(&self) -> Result<Lambda> {
        let by = match (self.lambda_by, self.folds) {
            (Some(By::Kfold), folds) => HeldOut::Folds(folds.unwrap_or(5).into()),
            (_, Some(_)) => return Err(usage("--folds is for --lambda-by kfold; give both")),
            _ => HeldOut::LeaveOneOut,
        };
        match &self.lambda {
            Some(Penalty::Several(of)) => Ok(Lambda::Best { of: of.clone(), by }),
            Some(Penalty::Auto) => Ok(Lambda::auto(by)),
            _ if self.lambda_by.is_some() => Err(usage(
                "--lambda-by chooses among several penalties; use --lambda auto or --lambda L,L,..",
            )),
            Some(Penalty::One(lambda)) => Ok(Lambda::Fixed(*lambda)),
            None => Ok(Lambda::default()),
        }
    }
}

fn usage(problem: &str) -> anyhow::Error {
    Usage(problem.into()).into()
}

/// Which penalty was chosen among what.
pub(super) fn describe(chosen: f64, curve: &LambdaCurve, report: &mut Report) {
    let by = match curve.by {
        HeldOut::Folds(folds) => format!("{folds} folds"),
        HeldOut::LeaveSomeOut(rows) => format!("leave-one-out of {rows} rows"),
        _ => "leave-one-out".into(),
    };
    report.set("lambda_by", &*by);
    let points = curve.points.iter().map(|point| {
        let of = [
            ("lambda", point.lambda),
            ("error", point.error),
            ("effective_dimension", point.effective_dimension),
        ];
        Value::Object(
            of.map(|(name, v)| (name.to_owned(), v.into()))
                .into_iter()
                .collect(),
        )
    });
    report.set("lambda_curve", points.collect::<Vec<Value>>());
    let edge = [curve.points.first(), curve.points.last()];
    let edge = if edge.into_iter().flatten().any(|p| p.lambda == chosen) {
        ", at the edge: try more"
    } else {
        ""
    };
    report.line(
        "lambda",
        format!(
            "{} of {} by {by}{edge}",
            six_digits(chosen),
            curve.points.len()
        ),
    );
}
