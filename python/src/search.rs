//! Ridge regression with hyperparameter search on a hold-out set.

use crate::{
    arrays::{Table, Weights, Y},
    calls::{exception, run, without_gil},
    fitting::{keep_names, meaning},
    model::Model,
    options::Options,
};
use bochner::{
    Error, Step,
    features::Standardize,
    kernels::{self, Kernel},
    metric::{MetricOptions, importance},
    models::{Blend, Budget, Found, Lambda, Metric, Search, Trial},
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyList},
};
use std::time::Duration;

/// Results of a search, without the model.
struct Chosen {
    found: Found,
    /// Shares of the scaled columns in the squared gradient, if the map has a gradient.
    importance: Option<Vec<f64>>,
    /// Scaling of the columns.
    standardize: Standardize,
    /// Whether the input columns are appended to the features.
    linear: bool,
    /// Transformation of the targets.
    target_scale: String,
}

impl Options<'_, '_> {
    /// Reads the options `search_kernel`, `search_gamma`, `search_penalty`, `search_preparation`,
    /// `bag`, `beside_binning`, `beside_nystrom`, `metric`, `metric_power`, `metric_iterations`,
    /// `trials`, `seconds` and `brief`.
    fn search(&self) -> PyResult<Search> {
        let metric: String = self.need("metric")?;
        let brief: bool = self.need("brief")?;
        let of = |kind: Metric| -> PyResult<MetricOptions> {
            let default = MetricOptions::from(kind);
            Ok(MetricOptions {
                power: self.get("metric_power")?.unwrap_or(default.power),
                iterations: self.get("metric_iterations")?.unwrap_or(default.iterations),
                ..default
            })
        };
        let metrics = match metric.as_str() {
            "none" => Vec::new(),
            "auto" if brief => vec![of(Metric::Diagonal)?],
            "auto" => vec![of(Metric::Diagonal)?, of(Metric::Full)?],
            one => vec![of(one.parse().map_err(|e: Error| exception(&e))?)?],
        };
        let seconds = self.get("seconds")?.map(Duration::try_from_secs_f64);
        let seconds = seconds.transpose();
        let seconds = seconds.map_err(|e| PyValueError::new_err(format!("budget: {e}")))?;
        let budget = match (self.get("trials")?, seconds) {
            (Some(trials), _) => Budget::Trials(trials),
            (None, Some(time)) => Budget::Time(time),
            (None, None) if brief => Budget::Brief,
            (None, None) => Budget::All,
        };
        Ok(Search {
            kernels: match self.need("search_kernel")? {
                true if brief => Search::brief().kernels,
                true => Search::catalogue(),
                false => Vec::new(),
            },
            bandwidth: self.need("search_gamma")?,
            lambda: self.need("search_penalty")?,
            metric_required: !matches!(metric.as_str(), "none" | "auto"),
            metrics,
            preparation: self.need("search_preparation")?,
            blend: Blend {
                draws: self.need("bag")?,
                binning: self.need("beside_binning")?,
                nystrom: self.need("beside_nystrom")?,
            },
            features: None,
            budget,
        })
    }
}

/// Fits ridge regression like `Model.fit`, after a hyperparameter search. Also returns the trials
/// and the selected values.
#[pyfunction]
#[pyo3(signature = (x, y, weights, options, *, classes=false, names=None))]
pub(crate) fn fit_searched<'py>(
    py: Python<'py>,
    x: Table<'py>,
    y: Y<'py>,
    weights: Weights<'py>,
    options: &Bound<'py, PyDict>,
    classes: bool,
    names: Option<Vec<String>>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let options = Options(options);
    let ridge = options.ridge()?;
    let mut job = options.job(&ridge)?;
    job.search = Some(options.search()?);
    let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
    let progress = options.get("progress")?;
    let columns = (options.get("columns")?, options.get("imputation")?);
    let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
    let weights = weights.as_ref().map(|weights| weights.as_array());
    given.check(y, weights)?;
    let own_targets = y.is_none();
    let (model, chosen) = without_gil(py, |interrupt| {
        let run = run(&name, memory, interrupt, progress)?;
        let mut source = given.table(y, weights, interrupt.flag())?;
        let source = source.as_mut();
        let mut tried = 0;
        let mut hear = |_: &Trial, best: f64| {
            tried += 1;
            run.say(Step::Trial(tried, best));
            interrupt.check()
        };
        let meaning = meaning(classes, own_targets);
        let mut fitted = job.fit_heard(source, meaning, &run, &mut hear)?;
        keep_names(&mut fitted.model, source, names, own_targets, columns);
        let (model, scaling) = (fitted.model, &fitted.scales.scaling);
        let Some(found) = fitted.found else {
            return Err(Error::unsupported("nothing was searched for"));
        };
        let importance = match (&found.metric, &found.importance) {
            (Some(metric), _) => Some(metric.importance().to_vec()),
            (None, Some(importance)) => Some(importance.clone()),
            (None, None) => importance(&model, source, scaling, &run)?,
        };
        let job = model.job.as_ref();
        let scale = job.and_then(|job| job.get("target-scale"));
        let chosen = Chosen {
            target_scale: scale.unwrap_or("as-is").to_owned(),
            linear: job.is_some_and(|job| job.get("linear").is_some()),
            found,
            importance,
            standardize: scaling.applied(),
        };
        Ok((model, chosen))
    })?;
    let found = chosen.describe(py)?;
    Ok((Model::from_model(model), found))
}

impl Chosen {
    /// Converts trials, as a dict of columns, and selected values to a dict.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Found {
            builder,
            kernel,
            lengthscale,
            lambda,
            trials,
            ..
        } = &self.found;
        let table = PyDict::new(py);
        let of = |value: &dyn Fn(&Trial) -> f64| PyList::new(py, trials.iter().map(value));
        let gamma = |trial: &Trial| {
            let kernel = kernels::parse(&trial.kernel);
            kernel.map_or(f64::NAN, |kernel| {
                gamma_of(kernel.as_ref(), trial.lengthscale)
            })
        };
        table.set_item("map", trials.iter().map(|t| t.map).collect::<Vec<_>>())?;
        table.set_item(
            "kernel",
            trials.iter().map(|t| t.kernel.as_str()).collect::<Vec<_>>(),
        )?;
        let kinds = trials
            .iter()
            .map(|t| t.metric.map(|(kind, _)| kind.to_string()));
        table.set_item("metric", kinds.collect::<Vec<_>>())?;
        let turns = trials
            .iter()
            .map(|t| t.metric.map_or(0, |(_, turns)| turns));
        table.set_item("metric_turns", turns.collect::<Vec<_>>())?;
        table.set_item("gamma", of(&gamma)?)?;
        table.set_item("median_multiple", of(&|t| t.multiple)?)?;
        table.set_item("penalty", of(&|t| t.lambda)?)?;
        let features = trials.iter().map(|t| t.features);
        table.set_item("n_components", features.collect::<Vec<_>>())?;
        let rows = trials.iter().map(|t| t.rows);
        table.set_item("n_samples", rows.collect::<Vec<_>>())?;
        table.set_item("error", of(&|t| t.error)?)?;
        table.set_item("squared_error", of(&|t| t.squared)?)?;
        table.set_item("seconds", of(&|t| t.seconds)?)?;
        let all = PyDict::new(py);
        all.set_item("trials", table)?;
        all.set_item("kernel", kernel.spec())?;
        all.set_item("gamma", gamma_of(kernel.as_ref(), *lengthscale))?;
        all.set_item("sampling", builder.sampling().map(|s| s.to_string()))?;
        let penalty = match lambda {
            Lambda::Fixed(lambda) => Some(*lambda),
            _ => None,
        };
        all.set_item("penalty", penalty)?;
        all.set_item("standardize", self.standardize.to_string())?;
        all.set_item("target_scale", &self.target_scale)?;
        all.set_item("linear", self.linear)?;
        all.set_item("importance", &self.importance)?;
        Ok(all)
    }
}

/// Gamma of a lengthscale; for kernels without a gamma of their formula, `1 / (2 l^2)`.
fn gamma_of(kernel: &dyn Kernel, lengthscale: f64) -> f64 {
    let own = kernel.gamma_of_lengthscale(lengthscale);
    own.unwrap_or(0.5 / (lengthscale * lengthscale))
}
