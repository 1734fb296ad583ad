//! A linear model on random features: what is kept of a fit.

mod file;
mod of_each;
mod predictor;

pub use predictor::Predictor;
pub(crate) use predictor::{check_columns, require_finite};

use crate::{
    Device, Result,
    data::Schema,
    features::FeatureMap,
    flow::Run,
    model::{
        ClassSets, ClassSpread, Coefficients, Conformal, FitTimes, FoundLengthscales, LambdaCurve,
        LearnedMetric, LeftOutScores, Link, Principal, Probabilities, Ranges, Spread, Targets,
    },
    settings::Settings,
};
use ndarray::Array2;
use std::collections::BTreeMap;

/// The learner of files that name none.
pub(crate) const RIDGE: &str = "ridge";
/// Feature map, coefficients, and what the targets mean.
#[derive(Debug)]
pub struct LinearModel {
    /// The map, parameters drawn.
    pub map: Box<dyn FeatureMap>,
    /// Coefficients `[D, t]` and intercept `[t]`.
    pub coefficients: Coefficients,
    /// Real values or classes.
    pub targets: Targets,
    /// What classes are called if their labels are text, which the numbers in [`Self::targets`]
    /// then count from 0.
    pub class_names: Option<Vec<String>>,
    /// What type labels had where they were fitted, in words of Python, which has them again after
    /// a file was read. `None` if unknown.
    #[doc(hidden)]
    pub label_types: Option<String>,
    /// What the columns of the data were called, as many as the map takes, if they had names; with
    /// a [`Self::schema`] those that it makes.
    pub column_names: Option<Vec<String>>,
    /// What the columns of the map are made of, where a table held more than numbers.
    pub schema: Option<Schema>,
    /// What each column of the map was between; `None` where nobody looked, and of files from
    /// before it was kept.
    pub ranges: Option<Ranges>,
    /// What the columns of the targets were called, if they had names.
    pub target_names: Option<Vec<String>>,
    /// What fitted it, by the name that `fit --model` takes.
    pub learner: String,
    /// Figures that the fit found, by name, such as `effective_dimension`: for reports.
    pub facts: BTreeMap<String, f64>,
    /// The held-out errors by which the penalty was chosen, if it was.
    pub lambda_curve: Option<LambdaCurve>,
    /// The lengthscales that a Gaussian process found, if it looked for any.
    pub lengthscales: Option<FoundLengthscales>,
    /// How scores become probabilities, of classifiers that have some.
    pub probabilities: Option<Probabilities>,
    /// What sets of classes go by, of classifiers whose fit left out rows.
    pub class_sets: Option<ClassSets>,
    /// The covariance of the coefficients, of a Gaussian process or a Laplace approximation.
    pub spread: Option<Spread>,
    /// The covariance of scores of more than two classes, of a Laplace approximation.
    pub class_spread: Option<ClassSpread>,
    /// What it was off by on rows that [`Self::calibrate`] saw, or that its fit left out in turn.
    pub conformal: Option<Conformal>,
    /// Scores of rows that its fit left out in turn; `None` where it left out none, and of a model
    /// read from a file, which does not keep them.
    #[doc(hidden)]
    pub left_out: Option<LeftOutScores>,
    /// What kernel PCA knows beside its components; `None` for all other learners.
    pub principal: Option<Principal>,
    /// The metric that its map compares rows by, if one was learnt.
    pub metric: Option<LearnedMetric>,
    /// The share of each column, `[d]`, in the squared gradients of the models in leaves,
    /// `M_jj / tr M` by prepared columns: the mean over leaves weighted by their rows. `None`
    /// unless leaves were searched.
    pub leaf_importance: Option<Vec<f64>>,
    /// What becomes of raw scores; `None` where they are what the model says.
    pub link: Option<Link>,
    /// The penalty per sample that the fit used; 0 if it has none.
    pub lambda: f64,
    /// Rows that the fit saw.
    pub rows: u64,
    /// The device that the fit ran on, in one line.
    pub device: String,
    /// The job that made it, in words, which `bochner fit --like` fits again.
    /// `None` where nobody said, and of files from before it was kept.
    pub job: Option<Settings>,
    /// How long the fit took; `None` for a model read from a file, which does not keep it.
    pub times: Option<FitTimes>,
}

impl LinearModel {
    /// The level of the quantile that the model predicts, if it was fitted to predict one
    /// ([`ResidualLoss::Quantile`](crate::models::ResidualLoss::Quantile)) and knows its job.
    pub fn quantile(&self) -> Option<f64> {
        let job = self.job.as_ref()?;
        let is_one = job.get("loss") == Some("quantile");
        is_one.then(|| job.get("quantile")?.parse().ok()).flatten()
    }

    /// A model of ridge regression, of no rows yet and without figures: what a fit fills in.
    pub fn new(
        map: Box<dyn FeatureMap>,
        coefficients: Coefficients,
        targets: Targets,
        device: &Device,
    ) -> Self {
        Self {
            map,
            coefficients,
            targets,
            class_names: None,
            label_types: None,
            column_names: None,
            schema: None,
            ranges: None,
            target_names: None,
            learner: RIDGE.into(),
            facts: BTreeMap::new(),
            lambda_curve: None,
            lengthscales: None,
            probabilities: None,
            spread: None,
            class_spread: None,
            class_sets: None,
            conformal: None,
            left_out: None,
            principal: None,
            metric: None,
            leaf_importance: None,
            link: None,
            lambda: 0.0,
            rows: 0,
            device: device.describe(),
            job: None,
            times: None,
        }
    }

    /// What the model says of raw outputs `[n, t]`: values as they are, or the label of the largest
    /// score in each row, `[n, 1]`.
    #[doc(hidden)]
    pub fn decide(&self, scores_nt: Array2<f64>) -> Array2<f64> {
        let Targets::Classes(labels) = &self.targets else {
            return match &self.link {
                None => scores_nt,
                Some(link) => link.apply(&scores_nt),
            };
        };
        Array2::from_shape_fn((scores_nt.nrows(), 1), |(i, _)| {
            let row = scores_nt.row(i);
            let best = (1..row.len()).fold(0, |b, k| if row[k] > row[b] { k } else { b });
            labels[best]
        })
    }

    /// Loads the model on a device: `run` is a `&Device` or a [`Run`].
    pub fn on(&self, run: impl Into<Run>) -> Result<Predictor<'_>> {
        Predictor::new(self, run.into())
    }
}
