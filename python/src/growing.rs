//! `GrowingState`: incremental fits of any learner whose model follows from sums over the rows.

use crate::{
    arrays::{Given, Table, Weights, Y},
    calls::{Interrupt, exception, run, without_gil},
    model::Model,
    options::Options,
    parts::{Elsewhere, SurveyPart},
};
use bochner::{
    Error, Result, Run,
    data::{Schema, Survey},
    error::Remedy,
    features::{Additive, FeatureMap},
    hypothesis::{Outcome, partials_differ},
    job::{Job, Preparation, TargetScale, check_weights},
    models::{AnySums, Basis, Fit, FitAnySums, ModelContext, Partial, RowsToSum, Sums, Targets},
};
use ndarray::{ArrayView1, ArrayView2};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sums over rows, on a map drawn for the first rows. A model can be computed at any time.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct GrowingState(Mutex<Partial<AnySums>>);

/// Test of the rows and, with targets, of the targets: statistic, p-value and a third value each.
type Differences = ((f64, f64, f64), Option<(f64, f64, f64)>);

/// Rows, targets and weights of one call.
type RowsOf<'a> = (
    Given<'a>,
    Option<ArrayView2<'a, f64>>,
    Option<ArrayView1<'a, f64>>,
);

fn of_sums(fit: &dyn Fit) -> Result<&dyn FitAnySums> {
    let problem = "this learner needs all rows at once, and keeps no sums of them; use fit";
    fit.of_sums().ok_or_else(|| Error::unsupported(problem))
}

/// Targets for known classes, or real targets.
fn targets_of(classes: Option<Vec<f64>>, survey: &Survey) -> Targets {
    match classes {
        Some(classes) => Targets::Classes(classes),
        None => Targets::real(survey),
    }
}

/// Sums the features of rows.
fn summed(
    fit: &dyn Fit,
    basis: &Basis,
    (given, y, weights): RowsOf<'_>,
    run: &Run,
    interrupt: &Interrupt,
) -> Result<AnySums> {
    check_weights(fit, weights.is_some())?;
    let mut source = given.source(y, weights, interrupt.flag())?;
    let learner = of_sums(fit)?;
    let sum = |map: &dyn FeatureMap, data: RowsToSum<'_>| learner.sum_any(map, data);
    basis.sum(source.as_mut(), run, sum)
}

impl GrowingState {
    fn locked(&self) -> MutexGuard<'_, Partial<AnySums>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sums the given rows alone, on the map of this state.
    fn sums_of(
        &self,
        py: Python<'_>,
        learner: &str,
        x: Table<'_>,
        y: Y<'_>,
        weights: Weights<'_>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<AnySums> {
        let options = Options(options);
        let fit = options.learner(learner)?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let progress = options.get("progress")?;
        let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
        let weights = weights.as_ref().map(|weights| weights.as_array());
        given.check(y, weights)?;
        let basis = self.locked().basis.clone();
        without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, progress)?;
            let rows = (given, y, weights);
            summed(fit.as_ref(), &basis, rows, &run, interrupt)
        })
    }
}

/// Creates the job of a learner on a map.
fn job_of<'a>(
    fit: &'a dyn Fit,
    preparation: &Preparation,
    (target_scale, additive): (TargetScale, Additive),
    half_life: Option<f64>,
) -> Job<&'a dyn Fit> {
    Job {
        preparation: preparation.clone(),
        target_scale,
        additive,
        half_life,
        ..Job::new(fit, preparation.map.clone())
    }
}

#[pymethods]
impl GrowingState {
    /// Begins with the first rows, for the learner of this name, on the map that `options`
    /// describe. `classes` are the codes of all labels, if there are labels; `names` are the labels
    /// of codes 0, 1, ... if they are text.
    #[staticmethod]
    #[expect(
        clippy::too_many_arguments,
        reason = "what a fit takes, by name from Python"
    )]
    #[pyo3(signature = (learner, x, y, weights, options, *, classes=None, names=None))]
    fn begin(
        py: Python<'_>,
        learner: &str,
        x: Table<'_>,
        y: Y<'_>,
        weights: Weights<'_>,
        options: &Bound<'_, PyDict>,
        classes: Option<Vec<f64>>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let options = Options(options);
        let preparation = options.preparation()?;
        let scale = options.parse("target_scale")?.unwrap_or_default();
        let additive = options.additive()?;
        let half_life = options.get("half_life")?;
        let fit = options.learner(learner)?;
        of_sums(fit.as_ref()).map_err(|e| exception(&e))?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let (progress, columns) = (options.get("progress")?, options.get("columns")?);
        let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
        let weights = weights.as_ref().map(|weights| weights.as_array());
        given.check(y, weights)?;
        let partial = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, progress)?;
            let mut source = given.source(y, weights, interrupt.flag())?;
            let targets = |survey: &Survey, _: Option<&Schema>| Ok(targets_of(classes, survey));
            let job = job_of(fit.as_ref(), &preparation, (scale, additive), half_life);
            let basis = Basis {
                class_names: names,
                column_names: columns,
                ..job.begin(source.as_mut(), targets, &run)?
            };
            let rows = (given, y, weights);
            let sums = summed(fit.as_ref(), &basis, rows, &run, interrupt)?;
            Ok(Partial {
                basis,
                sums,
                parts: Vec::new(),
            })
        })?;
        Ok(Self(Mutex::new(partial)))
    }

    /// Begins without rows, for the learner of this name, on the map that `options` describe for
    /// surveyed rows.
    #[staticmethod]
    #[pyo3(signature = (learner, part, options, *, classes=None, names=None))]
    fn of_survey(
        py: Python<'_>,
        learner: &str,
        part: &SurveyPart,
        options: &Bound<'_, PyDict>,
        classes: Option<Vec<f64>>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let options = Options(options);
        let preparation = options.preparation()?;
        let scale = options.parse("target_scale")?.unwrap_or_default();
        let additive = options.additive()?;
        let fit = options.learner(learner)?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let columns = options.get("columns")?;
        if options.get::<f64>("half_life")?.is_some() {
            let problem = "rows that are elsewhere stand in no order; leave half_life out";
            return Err(exception(&Error::unsupported(problem)));
        }
        let partial = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, None)?;
            let survey = part.0.clone().finish()?;
            // Surveys of classifiers have no target column; labels are counted separately.
            let labels = usize::from(classes.is_some());
            let rows = |elsewhere| Elsewhere {
                columns: survey.mean.len(),
                targets: labels.max(survey.targets.len()),
                elsewhere,
            };
            let mut source = rows(true);
            let targets = targets_of(classes, &survey);
            // A transformation of targets would have to be estimated from rows in other processes.
            if matches!(scale, TargetScale::Log | TargetScale::Rank) {
                let problem = "rows that are elsewhere take amounts as they are";
                return Err(Error::unsupported(problem).help(Remedy::AmountsAsTheyAre));
            }
            let job = job_of(fit.as_ref(), &preparation, (scale, additive), None);
            job.check_parts(false)?;
            let (job, _) = job.settled(&survey, &targets, &run)?;
            let preparation = &job.preparation;
            let drawn = preparation.draw_of(&survey, &mut source, fit.usual(), &run)?;
            let basis = Basis {
                kernel: drawn.kernel,
                class_names: names,
                column_names: columns,
                seed: preparation.seed(),
                job: Some(job.settings_of(&targets, false)),
                ..Basis::new(Arc::from(drawn.map), targets)
            };
            let learner = of_sums(fit.as_ref())?;
            let sum = |map: &dyn FeatureMap, data: RowsToSum<'_>| learner.sum_any(map, data);
            let sums = basis.sum(&mut rows(false), &run, sum)?;
            Ok(Partial {
                basis,
                sums,
                parts: Vec::new(),
            })
        })?;
        Ok(Self(Mutex::new(partial)))
    }

    /// Adds rows, with the learner and the options of the first call.
    #[pyo3(signature = (learner, x, y, weights, options))]
    fn add(
        &self,
        py: Python<'_>,
        learner: &str,
        x: Table<'_>,
        y: Y<'_>,
        weights: Weights<'_>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let more = self.sums_of(py, learner, x, y, weights, options)?;
        let mut own = self.locked();
        let Partial { basis, sums, .. } = &mut *own;
        basis.add_later(sums, &more).map_err(|e| exception(&e))
    }

    /// Removes rows that were added.
    #[pyo3(signature = (learner, x, y, weights, options))]
    fn forget(
        &self,
        py: Python<'_>,
        learner: &str,
        x: Table<'_>,
        y: Y<'_>,
        weights: Weights<'_>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let less = self.sums_of(py, learner, x, y, weights, options)?;
        let mut own = self.locked();
        let Partial { basis, sums, .. } = &mut *own;
        basis.take_out(sums, &less).map_err(|e| exception(&e))
    }

    /// Adds the rows of another state on the same map.
    fn merge(&self, other: &Self) -> PyResult<()> {
        // Copy first: `other` may be this state, whose lock is taken next.
        let other = other.locked().clone();
        let mut own = self.locked();
        let merged = own.basis.check_same(&other.basis);
        merged
            .and_then(|()| own.sums.merge(&other.sums))
            .map_err(|e| exception(&e))
    }

    /// Tests whether the rows of both states have the same distribution (statistic, p-value,
    /// unbiased MMD^2), and whether their targets depend on them in the same way (statistic,
    /// p-value, index of the target that differs most).
    fn differs(&self, other: &Self) -> PyResult<Differences> {
        // Copy first: `other` may be this state, whose lock is taken next.
        let other = other.locked().clone();
        let found = partials_differ(&self.locked(), &other).map_err(|e| exception(&e))?;
        let of = |outcome: Outcome, last: f64| (outcome.statistic, outcome.p_value, last);
        let of_targets = found.of_targets.map(|t| of(t.outcome, t.target as f64));
        Ok((of(found.outcome, found.unbiased), of_targets))
    }

    /// A state with the same map and targets, without rows.
    fn empty(&self) -> PyResult<Self> {
        let mut partial = self.locked().clone();
        partial.sums = partial.sums.of_no_rows().map_err(|e| exception(&e))?;
        Ok(Self(Mutex::new(partial)))
    }

    /// Serialises the sums, without the map.
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = Sums::to_bytes(&self.locked().sums).map_err(|e| exception(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Adds serialised sums on the same map.
    fn add_sums(&self, bytes: &[u8]) -> PyResult<()> {
        let more = <AnySums as Sums>::from_bytes(bytes).map_err(|e| exception(&e))?;
        self.locked().sums.merge(&more).map_err(|e| exception(&e))
    }

    /// The model of the rows so far.
    fn model(&self, py: Python<'_>, learner: &str, options: &Bound<'_, PyDict>) -> PyResult<Model> {
        let options = Options(options);
        let fit = options.learner(learner)?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let Partial { basis, sums, .. } = self.locked().clone();
        let model = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, None)?;
            let learner = of_sums(fit.as_ref())?;
            let solve = |map, known: ModelContext<'_>| learner.model_of(map, sums, known);
            basis.model(fit.as_ref(), &run, solve)
        })?;
        Ok(Model::from_model(model))
    }

    /// Number of rows in the sums.
    #[getter]
    fn rows(&self) -> u64 {
        self.locked().sums.rows()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Self>().getattr("from_bytes")?;
        let bytes = self.locked().to_bytes().map_err(|e| exception(&e))?;
        Ok((read, (PyBytes::new(py, &bytes),)))
    }

    /// Deserialises the state, for pickle.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let partial = Partial::from_bytes(bytes);
        partial
            .map(|partial| Self(Mutex::new(partial)))
            .map_err(|e| exception(&e))
    }
}
