//! What is explained of a model: its amounts, probabilities or scores.

use crate::{
    Error, Result, Run,
    data::Rows,
    error::Remedy,
    model::{Label, LinearModel, Predictor, ProbabilityPredictor, Targets},
};
use ndarray::{Array2, s};

/// What the outputs of a model are that are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// Amounts, in units of the targets.
    Amounts,
    /// Probabilities of classes.
    Probabilities,
    /// Scores of classes, of classifiers without probabilities: rows with a label are fitted as 1,
    /// others as -1, or as the learner has it.
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

/// Learners of rows alone, by the names that models keep.
const WITHOUT_TARGETS: [&str; 7] = [
    "one-class",
    "density",
    "pca",
    "ica",
    "kmeans",
    "spectral",
    "spectral-clustering",
];

/// A model on a device, asked for its outputs.
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

    /// Whether outputs are the sum that the model is, `z(x)'beta + b`: amounts that were fitted as
    /// they are, and scores.
    pub(super) fn is_sum(&self) -> bool {
        match self.way {
            Way::Amounts(_) => self.model.link.is_none(),
            Way::Probabilities(_) => false,
            Way::Scores(_) => true,
        }
    }

    /// Outputs that are looked at: all, but of two classes the second alone.
    pub(super) fn from(&self) -> usize {
        match &self.model.targets {
            Targets::Classes(labels) if labels.len() == 2 => 1,
            _ => 0,
        }
    }

    /// What those are called.
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

    /// Those that are looked at, `[n, k]`.
    pub(super) fn some(&mut self, x_nd: Array2<f64>) -> Result<Array2<f64>> {
        let (from, all_nt) = (self.from(), self.all(x_nd)?);
        Ok(all_nt.slice(s![.., from..]).to_owned())
    }
}
