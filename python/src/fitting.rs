//! Fits with optional warm start and feature importances.

use bochner::{
    Result, Run,
    data::{ChunkSource, NumericImputation, Schema, Survey},
    job::{Fitted, Job, Meaning},
    metric::importance,
    models::{Fit, LinearModel, Targets},
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Specification of a fit.
pub(crate) struct Fitting<'a> {
    pub(crate) job: Job<&'a dyn Fit>,
    pub(crate) meaning: Meaning,
    /// Model for a warm start, used if the rows have its columns and targets.
    pub(crate) start: Option<&'a LinearModel>,
    pub(crate) importances: bool,
}

/// Kind of the targets: labels, or amounts, and whether amounts are in the file of the rows.
pub(crate) fn meaning(classes: bool, own_targets: bool) -> Meaning {
    match (classes, own_targets) {
        (true, _) => Meaning::Labels,
        (false, true) => Meaning::Amounts,
        (false, false) => Meaning::AmountsBeside,
    }
}

impl Fitting<'_> {
    /// Fits the model. Also returns the share of each column in its squared gradient, if requested
    /// and if the map has a gradient.
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

    /// Fits with a warm start, if there is a model with the same columns and targets.
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

/// Whether a model has the same columns and targets, as a warm start needs.
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

/// Fill value of each column, whether a training row misses a value, and whether the column has an
/// indicator.
pub(crate) type Imputation = (Vec<f64>, Vec<bool>, Vec<bool>);

/// Stores names of columns and classes in the model: column names of a table, or else from Python;
/// class names of the table if it has the targets, or else from Python.
pub(crate) fn keep_names(
    model: &mut LinearModel,
    source: &dyn ChunkSource,
    names: Option<Vec<String>>,
    own_targets: bool,
    (columns, imputation): (Option<Vec<String>>, Option<Imputation>),
) {
    model.name_columns(source);
    if let Some((means, missed, indicated)) = imputation {
        let name = |j: usize| format!("x{j}");
        let names = columns.unwrap_or_else(|| (0..means.len()).map(name).collect());
        let imputation = NumericImputation {
            means,
            missed,
            indicated,
        };
        let schema = Schema::from_imputation(&names, &imputation);
        model.column_names = Some(schema.column_names());
        model.schema = Some(schema);
    } else if model.schema.is_none() {
        model.column_names = columns;
    }
    if !own_targets || names.is_some() {
        model.class_names = names;
    }
}

/// Columns of `missing`, `[n, d]`, that predict a column of the targets `y`, `[n, t]`, and so get
/// an indicator column.
#[pyfunction]
pub(crate) fn predictive_columns(
    missing: PyReadonlyArray2<'_, bool>,
    y: PyReadonlyArray2<'_, f64>,
    weights: PyReadonlyArray1<'_, f64>,
) -> Vec<bool> {
    let (missing_nd, y_nt) = (missing.as_array(), y.as_array());
    NumericImputation::predictive_columns(missing_nd, y_nt, weights.as_array())
}

/// Names of the columns, and their [`Imputation`].
pub(crate) type NamedImputation = (Option<Vec<String>>, Vec<f64>, Vec<bool>, Vec<bool>);

/// Returns the imputation of a model with numeric columns, or `None` for columns of other kinds.
pub(crate) fn imputation(model: &LinearModel) -> Option<NamedImputation> {
    if let Some(schema) = &model.schema {
        let found = schema.imputation()?;
        let names = schema.features().iter();
        let names = Some(names.map(|field| field.name().to_owned()).collect());
        return Some((names, found.means, found.missed, found.indicated));
    }
    let means = model.ranges.as_ref()?.means()?.to_vec();
    let none = vec![false; means.len()];
    Some((model.column_names.clone(), means, none.clone(), none))
}
