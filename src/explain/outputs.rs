//! Outputs of a model to explain: predictions, probabilities or scores.

use crate::{
    Error, Result, Run,
    data::Rows,
    error::Remedy,
    model::{Label, LinearModel, Predictor, ProbabilityPredictor, Targets},
};
use ndarray::{Array2, s};

/// Kind of the explained outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// Predictions, in units of the targets.
    Amounts,
    /// Probabilities of classes.
    Probabilities,
    /// Scores of classes, for classifiers without probabilities: the label of a row is encoded as
    /// 1, others as -1, or as defined by the learner.
    Scores,
}

impl OutputKind {
    /// `prediction`, `probability` or `score`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amounts => "prediction",
            Self::Probabilities => "probability",
            Self::Scores => "score",
        }
    }
}

/// Unsupervised learners, by the names in models.
const WITHOUT_TARGETS: [&str; 7] = [
    "one-class",
    "density",
    "pca",
    "ica",
    "kmeans",
    "spectral",
    "spectral-clustering",
];

/// A model on a device with its kind of outputs.
#[derive(Debug)]
pub(super) struct Outputs<'m> {
    model: &'m LinearModel,
    way: Way<'m>,
}

#[derive(Debug)]
enum Way<'m> {
    Amounts(Predictor<'m>),
    Probabilities(Box<ProbabilityPredictor<'m>>),
    Scores(Predictor<'m>),
}

impl<'m> Outputs<'m> {
    /// Errors with [`Error::Unsupported`] for models without targets, and as devices do.
    pub(super) fn new(model: &'m LinearModel, run: &Run) -> Result<Self> {
        let way = match &model.targets {
            _ if WITHOUT_TARGETS.contains(&model.learner.as_str()) => {
                let problem = format!(
                    "{} learns without targets, and it is predictions of targets that are \
                     explained",
                    model.learner
                );
                let remedy = Remedy::words("name the model of a regressor or a classifier");
                return Err(Error::unsupported(problem).help(remedy));
            }
            Targets::Real { .. } => Way::Amounts(model.on(run.clone())?),
            Targets::Classes(_) if model.probabilities.is_some() => {
                Way::Probabilities(Box::new(model.probabilities_on(run.clone())?))
            }
            Targets::Classes(_) => Way::Scores(model.on(run.clone())?),
        };
        Ok(Self { model, way })
    }

    pub(super) fn kind(&self) -> OutputKind {
        match self.way {
            Way::Amounts(_) => OutputKind::Amounts,
            Way::Probabilities(_) => OutputKind::Probabilities,
            Way::Scores(_) => OutputKind::Scores,
        }
    }

    /// Whether outputs are the sum `z(x)'beta + b` of the model: predictions of untransformed
    /// targets, and scores.
    pub(super) fn is_sum(&self) -> bool {
        match self.way {
            Way::Amounts(_) => self.model.link.is_none(),
            Way::Probabilities(_) => false,
            Way::Scores(_) => true,
        }
    }

    /// First explained output: 0, or for two classes the second.
    pub(super) fn from(&self) -> usize {
        match &self.model.targets {
            Targets::Classes(labels) if labels.len() == 2 => 1,
            _ => 0,
        }
    }

    /// Names of the explained outputs.
    pub(super) fn names(&self) -> Vec<String> {
        let all: Vec<String> = match &self.model.targets {
            Targets::Classes(labels) => {
                let name = |&label: &f64| match self.model.label(label) {
                    Label::Text(text) => text.to_owned(),
                    Label::Number(number) => number.to_string(),
                };
                labels.iter().map(name).collect()
            }
            Targets::Real { columns, .. } => match &self.model.target_names {
                Some(names) => names.clone(),
                None if *columns == 1 => vec!["prediction".into()],
                None => (0..*columns).map(|t| format!("target {t}")).collect(),
            },
        };
        all[self.from()..].to_vec()
    }

    /// All outputs of rows `[n, d]`, `[n, t]`.
    pub(super) fn all(&mut self, x_nd: Array2<f64>) -> Result<Array2<f64>> {
        let rows = Rows::F64(x_nd);
        match &mut self.way {
            Way::Amounts(predictor) => predictor.predict(&rows),
            Way::Probabilities(predictor) => predictor.predict(&rows),
            Way::Scores(predictor) => predictor.scores(&rows),
        }
    }

    /// The explained outputs, `[n, k]`.
    pub(super) fn some(&mut self, x_nd: Array2<f64>) -> Result<Array2<f64>> {
        let (from, all_nt) = (self.from(), self.all(x_nd)?);
        Ok(all_nt.slice(s![.., from..]).to_owned())
    }
}
