//! Ridge regression whose kernel, bandwidth, penalty and metric are chosen by rows held out.

use crate::{
    arrays::{Table, Weights, Y},
    calls::{Interrupt, exception, run, without_gil},
    fitting::keep_names,
    model::Model,
    options::{Options, Prepared},
};
use bochner::{
    Error, Result, Run, Step,
    data::{ChunkSource, Survey},
    features::{MapBuilder, Scaling},
    kernels::{self, Kernel},
    metric::{Ground, Metric, MetricOptions, average_gradient_outer_product},
    models::{
        Budget, Fit, FitData, Found, HeldOut, Lambda, LinearModel, RidgeOptions, Search,
        SearchData, Trial, WithProbabilities,
    },
    solve::Targets,
};
use ndarray::Array2;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyList},
};
use std::{sync::Arc, time::Duration};

/// Rows that a search looks at for medians.
const MEDIAN_ROWS: usize = 2000;

/// Fewer rows are not held out: too few would be left to choose by.
const LEAST_ROWS: u64 = 40;

/// What a search found beside the model.
struct Chosen {
    found: Found,
    /// Shares of the prepared columns in the squared gradient, where the map has one.
    importance: Option<Vec<f64>>,
    /// Whether columns were divided by their deviations.
    standardized: bool,
}

impl Options<'_, '_> {
    /// From the options `search_kernel`, `search_gamma`, `search_penalty`, `metric`,
    /// `metric_power`, `metric_iterations`, `trials` and `seconds`.
    fn search(&self) -> PyResult<Search> {
        let metric: String = self.need("metric")?;
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
            "auto" => vec![of(Metric::Diagonal)?, of(Metric::Full)?],
            one => vec![of(one.parse().map_err(|e: Error| exception(&e))?)?],
        };
        let seconds = self.get("seconds")?.map(Duration::try_from_secs_f64);
        let seconds = seconds.transpose();
        let seconds = seconds.map_err(|e| PyValueError::new_err(format!("budget: {e}")))?;
        let budget = match (self.get("trials")?, seconds) {
            (Some(trials), _) => Budget::Trials(trials),
            (None, Some(time)) => Budget::Time(time),
            (None, None) => Budget::All,
        };
        Ok(Search {
            kernels: match self.need("search_kernel")? {
                true => Search::catalogue(),
                false => Vec::new(),
            },
            bandwidth: self.need("search_gamma")?,
            lambda: self.need("search_penalty")?,
            metric_required: !matches!(metric.as_str(), "none" | "auto"),
            metrics,
            features: None,
            budget,
        })
    }
}

/// As `Model.fit` of ridge regression, with choices by rows held out; what was tried and chosen
/// comes second.
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
    let prepared = Prepared::read(&options)?;
    let (search, ridge) = (options.search()?, options.ridge()?);
    let probabilities = options.get("probability")?.unwrap_or(false);
    let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
    let progress = options.get("progress")?;
    let columns = options.get("columns")?;
    let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
    let weights = weights.as_ref().map(|weights| weights.as_array());
    given.check(y, weights)?;
    let own_targets = y.is_none();
    let (model, chosen) = without_gil(py, |interrupt| {
        let run = run(&name, memory, interrupt, progress)?;
        let mut source = given.table(y, weights, interrupt.flag())?;
        let task = Task {
            prepared: &prepared,
            search: &search,
            ridge: &ridge,
            classes,
            given_targets: !own_targets,
            probabilities,
        };
        let (mut model, chosen) = task.fit(source.as_mut(), (&run, interrupt))?;
        keep_names(&mut model, source.as_ref(), (names, own_targets), columns);
        Ok((model, chosen))
    })?;
    let found = chosen.describe(py)?;
    Ok((Model::of(model), found))
}

/// What is asked for.
struct Task<'a> {
    prepared: &'a Prepared,
    search: &'a Search,
    ridge: &'a RidgeOptions,
    classes: bool,
    /// Whether targets are not those of the rows' file.
    given_targets: bool,
    probabilities: bool,
}

impl Task<'_> {
    fn fit(
        &self,
        source: &mut dyn ChunkSource,
        (run, interrupt): (&Run, &Interrupt),
    ) -> Result<(LinearModel, Chosen)> {
        let spec = &self.prepared.spec;
        let seed = spec.seed;
        let rows = self.prepared.sampled_rows().max(MEDIAN_ROWS);
        let survey = Survey::watched(source, rows, seed.0, &|step| run.say(step))?;
        let (scaling, lengthscales) = self.prepared.scales(&survey)?;
        let &[lengthscale] = lengthscales.as_slice() else {
            return Err(Error::unsupported(
                "a search takes one gamma for all columns; leave those of each to the metric",
            ));
        };
        if let (false, Some(schema)) = (self.classes || self.given_targets, source.schema()) {
            schema.require_amounts()?;
        }
        let targets = match self.classes {
            true => Targets::classes(&survey)?,
            false => Targets::real(&survey),
        };
        let builder: Arc<dyn MapBuilder> = Arc::new(spec.clone());
        let mut tried = 0;
        let mut hear = |_: &Trial, best: f64| {
            tried += 1;
            run.say(Step::Trial(tried, best));
            interrupt.check()
        };
        let data = SearchData {
            source: &mut *source,
            survey: &survey,
            scaling: &scaling,
            lengthscale,
            targets: &targets,
            options: self.ridge,
            seed,
            run,
        };
        let found = match survey.rows < LEAST_ROWS {
            true => self.unsearched(&builder, lengthscale),
            false => self.search.run(&builder, data, &mut hear)?,
        };
        let map = found.draw(Ground {
            source: &mut *source,
            survey: &survey,
            scaling: &scaling,
            run,
            seed: Some(seed),
        })?;
        let data = FitData {
            source: &mut *source,
            survey: &survey,
            targets,
            kernel: None,
            start: None,
            seed,
            run,
        };
        let fit = found.options(self.ridge);
        let mut model = match self.probabilities {
            true => WithProbabilities(&fit).fit(map, data)?,
            false => fit.fit(map, data)?,
        };
        found.keep(&mut model);
        let importance = match &found.metric {
            Some(metric) => Some(metric.importance().to_vec()),
            None => importance(&model, source, (&survey, &scaling), run)?,
        };
        let chosen = Chosen {
            found,
            importance,
            standardized: scaling.is_standardized(),
        };
        Ok((model, chosen))
    }
}

impl Task<'_> {
    /// What is taken where rows are too few to search with.
    fn unsearched(&self, builder: &Arc<dyn MapBuilder>, lengthscale: f64) -> Found {
        log::warn!(
            target: "bochner",
            "fewer than {LEAST_ROWS} rows are too few to hold some out: the kernel and the bandwidth are \
             those of a fit without a search, and the penalty is chosen by leave-one-out errors"
        );
        Found {
            builder: builder.clone(),
            kernel: self.prepared.spec.kernel.clone(),
            metric: None,
            lengthscale,
            lambda: match self.search.lambda {
                true => Lambda::auto(HeldOut::LeaveOneOut),
                false => self.ridge.lambda.clone(),
            },
            size: None,
            trials: Vec::new(),
        }
    }
}

/// Shares of the prepared columns in the squared gradient of a model, by one more pass over its
/// rows; none of maps without gradients.
pub(crate) fn importance(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    (survey, scaling): (&Survey, &Scaling),
    run: &Run,
) -> Result<Option<Vec<f64>>> {
    source.rewind()?;
    // What a gradient by a raw column is multiplied by for one by a prepared column.
    let unit = |(j, &divided): (usize, &bool)| match divided {
        true => survey.variance[j],
        false => 1.0,
    };
    let units_d = scaling.standardized().iter().enumerate().map(unit);
    shares(average_gradient_outer_product(model, source, run), units_d)
}

/// Shares of columns in the squared gradient, which is in raw units and is multiplied by those of
/// each column, squared; none of maps without gradients.
fn shares(
    m_dd: Result<Array2<f64>>,
    units_d: impl Iterator<Item = f64>,
) -> Result<Option<Vec<f64>>> {
    let m_dd = match m_dd {
        Ok(m_dd) => m_dd,
        Err(Error::Unsupported(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let m_d = m_dd.diag();
    let along_d = m_d.iter().zip(units_d).map(|(m, unit)| m.max(0.0) * unit);
    let along_d: Vec<f64> = along_d.collect();
    let trace: f64 = along_d.iter().sum();
    let even = 1.0 / along_d.len() as f64;
    let share = |m: f64| if trace > 0.0 { m / trace } else { even };
    Ok(Some(along_d.into_iter().map(share).collect()))
}

impl Chosen {
    /// What was tried, a list for each column of a table, and what was chosen.
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
        all.set_item("standardized", self.standardized)?;
        all.set_item("importance", &self.importance)?;
        Ok(all)
    }
}

/// The gamma of a lengthscale; of kernels without one that of a Gaussian, as `gamma=` takes it.
fn gamma_of(kernel: &dyn Kernel, lengthscale: f64) -> f64 {
    let own = kernel.gamma_of_lengthscale(lengthscale);
    own.unwrap_or(0.5 / (lengthscale * lengthscale))
}
