//! A fit: from rows to a model with the names of its columns.

use crate::{options::Prepared, search::importance};
use bochner::{
    Error, Result, Run,
    data::{ChunkSource, Survey},
    models::{Fit, FitData, LinearModel, WithProbabilities},
    solve::Targets,
};

/// What is fitted, and how.
pub(crate) struct Fitting<'a> {
    pub(crate) learner: &'a str,
    pub(crate) fit: &'a dyn Fit,
    pub(crate) prepared: &'a Prepared,
    /// The model that a fit begins at, if its rows have the same columns and targets.
    pub(crate) start: Option<&'a LinearModel>,
    pub(crate) classes: bool,
    /// Whether targets are those of the rows' file.
    pub(crate) own_targets: bool,
    pub(crate) probabilities: bool,
    pub(crate) importances: bool,
}

impl Fitting<'_> {
    /// The model, and the share of each column in its squared gradient if that is asked for and
    /// there is one.
    pub(crate) fn of(
        &self,
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<(LinearModel, Option<Vec<f64>>)> {
        let (learner, prepared) = (self.learner, self.prepared);
        if source.is_weighted() && !self.fit.takes_weights() {
            let problem = format!("{learner} takes no weights of rows");
            return Err(Error::unsupported(problem));
        }
        let seed = prepared.spec.seed;
        let going_on = match self.start {
            None => None,
            Some(start) => {
                let survey = Survey::watched(source, 0, seed.0, &|step| run.say(step))?;
                goes_on(start, self.classes, &survey, source)?.then_some((start, survey))
            }
        };
        let (map, survey, start) = match going_on {
            None => {
                let (map, survey) = prepared.build(source, run)?;
                (map, survey, None)
            }
            // The same map once more, as a file would give it.
            Some((start, survey)) => {
                let map = LinearModel::from_bytes(&start.to_bytes()?)?.map;
                (map, survey, Some(start))
            }
        };
        if let (false, true, Some(schema)) = (self.classes, self.own_targets, source.schema()) {
            schema.require_amounts()?;
        }
        let data = FitData {
            targets: match (start, self.classes) {
                (Some(start), _) => start.targets.clone(),
                (None, true) => Targets::classes(&survey)?,
                (None, false) => Targets::real(&survey),
            },
            source: &mut *source,
            survey: &survey,
            kernel: match learner {
                "density" => prepared.scaled_kernel(&survey)?,
                // Nothing else asks for it.
                _ => None,
            },
            start: start.map(|start| &start.coefficients),
            seed,
            run,
        };
        let model = match self.probabilities {
            true => WithProbabilities(self.fit).fit(map, data)?,
            false => self.fit.fit(map, data)?,
        };
        if !self.importances {
            return Ok((model, None));
        }
        let (scaling, _) = prepared.scales(&survey)?;
        let importance = importance(&model, source, (&survey, &scaling), run)?;
        Ok((model, importance))
    }
}

/// Whether a fit can begin at a model: one of the same columns and targets.
fn goes_on(
    start: &LinearModel,
    classes: bool,
    survey: &Survey,
    source: &dyn ChunkSource,
) -> Result<bool> {
    let columns = start.map.input_dim() == source.columns();
    let schema = start.schema.as_ref() == source.schema();
    Ok(columns
        && schema
        && match (&start.targets, classes) {
            (Targets::Real { columns, .. }, false) => *columns == source.targets(),
            (Targets::Classes(labels), true) => {
                matches!(Targets::classes(survey)?, Targets::Classes(now) if now == *labels)
            }
            _ => false,
        })
}

/// Keeps what columns and classes are called: as a table has them if the rows are one, else as
/// Python does. Classes are those of the table if the targets are its own.
pub(crate) fn keep_names(
    model: &mut LinearModel,
    source: &dyn ChunkSource,
    (names, own_targets): (Option<Vec<String>>, bool),
    columns: Option<Vec<String>>,
) {
    model.name_columns(source);
    if model.schema.is_none() {
        model.column_names = columns;
    }
    if !own_targets || names.is_some() {
        model.class_names = names;
    }
}
