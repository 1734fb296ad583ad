//! A linear model on random features: the result of a fit.

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

/// Learner of files that do not name one.
pub(crate) const RIDGE: &str = "ridge";
/// Feature map, coefficients, and kind of the targets.
#[derive(Debug)]
pub struct LinearModel {
    /// The map with its drawn parameters.
    pub map: Box<dyn FeatureMap>,
    /// Coefficients `[D, t]` and intercept `[t]`.
    pub coefficients: Coefficients,
    /// Real values or classes.
    pub targets: Targets,
    /// Names of the classes if labels are text; the numbers in [`Self::targets`] then count from 0.
    pub class_names: Option<Vec<String>>,
    /// Python type of the labels at the fit, which is restored when a file is read. `None` if
    /// unknown.
    #[doc(hidden)]
    pub label_types: Option<String>,
    /// Names of the input columns of the map, if they have names; with a [`Self::schema`], names of
    /// the columns that it produces.
    pub column_names: Option<Vec<String>>,
    /// How columns of the map are derived from a table, if it has other columns than numbers.
    pub schema: Option<Schema>,
    /// Range of each input column of the map; `None` if not computed, and in older files.
    pub ranges: Option<Ranges>,
    /// Names of the target columns, if they have names.
    pub target_names: Option<Vec<String>>,
    /// Name of the learner, as in `fit --model`.
    pub learner: String,
    /// Figures of the fit by name, such as `effective_dimension`, for reports.
    pub facts: BTreeMap<String, f64>,
    /// Hold-out errors of the candidate penalties, if the penalty was chosen.
    pub lambda_curve: Option<LambdaCurve>,
    /// Lengthscales estimated by a Gaussian process, if any.
    pub lengthscales: Option<FoundLengthscales>,
    /// How scores become probabilities, for classifiers that support them.
    pub probabilities: Option<Probabilities>,
    /// Calibration of sets of classes, for classifiers with leave-one-out or hold-out scores.
    pub class_sets: Option<ClassSets>,
    /// Covariance of the coefficients, for a Gaussian process or a Laplace approximation.
    pub spread: Option<Spread>,
    /// Covariance of the scores of more than two classes, for a Laplace approximation.
    pub class_spread: Option<ClassSpread>,
    /// Prediction errors on the rows of [`Self::calibrate`], or leave-one-out errors of the fit.
    pub conformal: Option<Conformal>,
    /// Leave-one-out scores of training rows; `None` if the fit computed none, and for a model read
    /// from a file, which does not store them.
    #[doc(hidden)]
    pub left_out: Option<LeftOutScores>,
    /// Variances and mean of kernel PCA; `None` for all other learners.
    pub principal: Option<Principal>,
    /// The metric by which its map compares rows, if one was learnt.
    pub metric: Option<LearnedMetric>,
    /// The share of each column, `[d]`, in the squared gradients of the models in leaves,
    /// `M_jj / tr M` by prepared columns: the mean over leaves weighted by their rows. `None`
    /// unless leaves were searched.
    pub leaf_importance: Option<Vec<f64>>,
    /// Transformation of raw scores; `None` if they are the predictions.
    pub link: Option<Link>,
    /// The penalty per sample that the fit used; 0 if it has none.
    pub lambda: f64,
    /// Number of training rows.
    pub rows: u64,
    /// The device that the fit ran on, in one line.
    pub device: String,
    /// Settings of the fit, which `bochner fit --like` repeats. `None` if unknown, and in older
    /// files.
    pub job: Option<Settings>,
    /// How long the fit took; `None` for a model read from a file, which does not store it.
    pub times: Option<FitTimes>,
}

impl LinearModel {
    /// The level of the predicted quantile, if the model was fitted with
    /// [`ResidualLoss::Quantile`](crate::models::ResidualLoss::Quantile) and stores its settings.
    pub fn quantile(&self) -> Option<f64> {
        let job = self.job.as_ref()?;
        let is_one = job.get("loss") == Some("quantile");
        is_one.then(|| job.get("quantile")?.parse().ok()).flatten()
    }

    /// A model of ridge regression with 0 rows and without figures, to be filled in by a fit.
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

    /// Predictions from raw outputs `[n, t]`: the values themselves, or the label of the largest
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
