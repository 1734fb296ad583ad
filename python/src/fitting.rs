//! A fit: from rows to a model with the names of its columns.

use bochner::{
    Result, Run,
    data::{ChunkSource, Survey},
    job::{Fitted, Job, Meaning},
    metric::importance,
    models::{Fit, LinearModel, Targets},
};

/// What is fitted, and how.
pub(crate) struct Fitting<'a> {
    pub(crate) job: Job<&'a dyn Fit>,
    pub(crate) meaning: Meaning,
    /// The model that a fit begins at, if its rows have the same columns and targets.
    pub(crate) start: Option<&'a LinearModel>,
    pub(crate) importances: bool,
}

/// What targets mean: labels, or amounts, of the rows' own file or beside it.
pub(crate) fn meaning(classes: bool, own_targets: bool) -> Meaning {
    match (classes, own_targets) {
        (true, _) => Meaning::Labels,
        (false, true) => Meaning::Amounts,
        (false, false) => Meaning::AmountsBeside,
    }
}

impl Fitting<'_> {
    /// The model, and the share of each column in its squared gradient if that is asked for and
    /// there is one.
    pub(crate) fn run(
        &self,
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<(LinearModel, Option<Vec<f64>>)> {
        let fitted = match self.warm(source, run)? {
            Some(fitted) => fitted,
            None => self.job.fit(source, self.meaning, run)?,
        };
        if !self.importances {
            return Ok((fitted.model, None));
        }
        let scaling = &fitted.scales.scaling;
        let shares = importance(&fitted.model, source, scaling, run)?;
        Ok((fitted.model, shares))
    }

    /// The fit that begins at a model, if there is one of the same columns and targets.
    fn warm(&self, source: &mut dyn ChunkSource, run: &Run) -> Result<Option<Fitted>> {
        let (job, labels) = (&self.job, self.meaning == Meaning::Labels);
        let Some(start) = self.start else {
            return Ok(None);
        };
        let weighted = source.is_weighted();
        let mut source = job.forgetting(source)?;
        let survey = job.survey(&mut source, run)?;
        if !goes_on(start, labels, &survey, &source)? {
            source.rewind()?;
            return Ok(None);
        }
        let mut model = job.go_on(start, (&mut source, &survey), run)?;
        job.say_weighted(&mut model, weighted);
        Ok(Some(Fitted {
            model,
            scales: job.scales(&survey)?,
            survey,
            found: None,
            race: None,
        }))
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
    names: Option<Vec<String>>,
    own_targets: bool,
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
