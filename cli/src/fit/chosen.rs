//! A learner that was chosen, and what its targets are.

use crate::report::Report;
use bochner::data::Survey;
use bochner::features::Bandwidth;
use bochner::job::{Candidate, Race};
use bochner::models::{ClassWeights, Fit, Found, Lambda, LinearModel, RidgeOptions};

/// What the targets of a learner are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Amounts or labels, as `--task` says.
    NumbersOrLabels,
    /// Amounts.
    Numbers,
    /// Labels.
    Labels,
    /// None, to find these: targets are left alone.
    Rows(&'static str),
}

/// A learner as the command line uses it.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The learner.
    pub(super) fit: Box<dyn Fit>,
    /// What it is fitted to.
    pub(super) takes: Takes,
    /// Whether its progress is iterations rather than rows.
    pub(super) iterates: bool,
    /// How it solves, for the report.
    pub(super) solver: &'static str,
    /// Its options, if it is ridge regression, whose choices can be searched.
    pub(super) ridge: Option<RidgeOptions>,
    /// Whether a penalty, or some, are given.
    pub(super) lambda_given: bool,
    /// Whether it is to have probabilities.
    pub(super) probabilities: bool,
    /// What its classes count, if it does not weigh them itself.
    pub(super) class_weights: ClassWeights,
}

/// So many columns are named to people.
const NAMED: usize = 8;

/// Says what leave-one-out errors chose of preparation and bandwidth for the rows of a survey.
pub(super) fn describe(race: &Race, survey: &Survey, report: &mut Report) {
    report.line("chosen", race.to_string());
    if let Bandwidth::SigmaPerColumn(each) = &race.chosen().bandwidth {
        report.line("weights", weights(each, survey));
    }
    let error = |error: f64| error.is_finite().then_some(error);
    let one = |of: &Candidate| {
        serde_json::json!({
            "standardize": of.standardize.to_string(),
            "bandwidth": of.bandwidth.to_string(),
            "lengthscales": match &of.bandwidth {
                Bandwidth::SigmaPerColumn(each) => Some(each),
                _ => None,
            },
            "multiple": of.multiple,
            "linear": of.linear,
            "rows": of.rows,
            "error": error(of.error),
        })
    };
    let chosen = serde_json::json!({
        "rows": race.rows,
        "chosen": one(race.chosen()),
        "left_out_r2": error(1.0 - race.error()),
        "target_scales": race.scales.iter()
            .map(|&(scale, off)| serde_json::json!({"scale": scale.to_string(), "error": error(off)}))
            .collect::<Vec<_>>(),
        "candidates": race.candidates.iter().map(one).collect::<Vec<_>>(),
    });
    report.set("chosen", chosen);
}

/// The shares of columns that vary in the sum of `1 / sigma^2`, the largest first.
fn weights(lengthscales: &[f64], survey: &Survey) -> String {
    let weight_d = lengthscales.iter().map(|sigma| sigma.powi(-2)).enumerate();
    let weight_d = weight_d.filter(|&(j, _)| !survey.is_constant(j));
    let all: f64 = weight_d.clone().map(|(_, weight)| weight).sum();
    let mut shares: Vec<(usize, f64)> = weight_d.map(|(j, weight)| (j, weight / all)).collect();
    shares.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let name = |j: usize| match &survey.names {
        Some(names) => names[j].clone(),
        None => format!("column {j}"),
    };
    let named = shares.iter().take(NAMED);
    let named = named.map(|&(j, share)| format!("{} {:.1} %", name(j), 100.0 * share));
    let mut named = named.collect::<Vec<_>>().join(", ");
    if shares.len() > NAMED {
        named.push_str(&format!(", and {} more", shares.len() - NAMED));
    }
    named
}

impl Chosen {
    /// A learner that goes by rows and weighs classes alike, without a penalty or probabilities.
    pub(super) fn new(fit: Box<dyn Fit>, takes: Takes, solver: &'static str) -> Self {
        Self {
            fit,
            takes,
            iterates: false,
            solver,
            ridge: None,
            lambda_given: false,
            probabilities: false,
            class_weights: ClassWeights::Equal,
        }
    }

    /// The same of one whose progress is iterations.
    pub(super) fn iterating(self) -> Self {
        Self {
            iterates: true,
            ..self
        }
    }

    /// Ridge regression takes this penalty, unless one is given.
    pub(super) fn penalise(&mut self, lambda: Lambda) {
        if let Some(ridge) = &mut self.ridge
            && !self.lambda_given
        {
            ridge.lambda = lambda;
            self.fit = Box::new(ridge.clone());
        }
    }

    /// Ridge regression takes what a search found.
    pub(super) fn take(&mut self, found: &Found) {
        if let Some(ridge) = &mut self.ridge {
            self.fit = found.learner(ridge);
            ridge.lambda = found.lambda.clone();
        }
    }

    /// Whether the penalty is left to the library.
    pub(super) fn leaves_penalty(&self) -> bool {
        let usual = RidgeOptions::default().lambda;
        let ridge = self.ridge.as_ref();
        ridge.is_some_and(|ridge| ridge.lambda == usual)
    }

    /// How a model was solved for, for the report.
    pub(super) fn solved_by(&self, model: &LinearModel) -> &'static str {
        let fact = |fact| model.learner == "ridge" && model.facts.contains_key(fact);
        match () {
            // Who solves by conjugate gradients says where they ended.
            () if fact("relative_residual") => "cg",
            () if fact("rows_in_memory") => "dual",
            () if self.ridge.is_some()
                && model.lambda_curve.is_some()
                && !fact("penalties_tried") =>
            {
                "eigen"
            }
            () => self.solver,
        }
    }
}
