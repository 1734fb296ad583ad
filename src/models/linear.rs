//! A linear model on random features, and its predictor on a device.

use super::{
    Conformal, FitTimes, FoundLengthscales, LambdaCurve, Link, Principal, Probabilities,
    metric::LearnedMetric,
};
use crate::{
    Device, Error, Result,
    data::{Chunk, ChunkSource, ColumnChoice, Rows, Schema, names_tell},
    features::{self, End, FeatureMap, Featurizer, Lane},
    flow::Run,
    normal::Targets,
    solve::{Coefficients, Spread},
    store::Store,
    text::counted,
};
use ndarray::{Array2, ArrayView2, s};
use std::{collections::BTreeMap, path::Path};

const KIND: &str = "model";
/// The learner of files that name none.
const RIDGE: &str = "ridge";
/// Names of columns and of targets.
const COLUMNS: &str = "column_names";
const TARGETS: &str = "target_names";
/// Names and figures of a fit.
const FACTS: &str = "facts";

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
    /// What the columns of the data were called, as many as the map takes, if they had names; with
    /// a [`Self::schema`] those that it makes.
    pub column_names: Option<Vec<String>>,
    /// What the columns of the map are made of, where a table held more than numbers.
    pub schema: Option<Schema>,
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
    /// The covariance of the coefficients, of a Gaussian process or a Laplace approximation.
    pub spread: Option<Spread>,
    /// What it was off by on rows that [`Self::calibrate`] saw.
    pub conformal: Option<Conformal>,
    /// What kernel PCA knows beside its components; `None` for all other learners.
    pub principal: Option<Principal>,
    /// The metric that its map compares rows by, if one was learnt.
    pub metric: Option<LearnedMetric>,
    /// What becomes of raw scores; `None` where they are what the model says.
    pub link: Option<Link>,
    /// The penalty per sample that the fit used; 0 if it has none.
    pub lambda: f64,
    /// Rows that the fit saw.
    pub rows: u64,
    /// The device that the fit ran on, in one line.
    pub device: String,
    /// How long the fit took; `None` for a model read from a file, which does not keep it.
    pub times: Option<FitTimes>,
}

impl LinearModel {
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
            column_names: None,
            schema: None,
            target_names: None,
            learner: RIDGE.into(),
            facts: BTreeMap::new(),
            lambda_curve: None,
            lengthscales: None,
            probabilities: None,
            spread: None,
            conformal: None,
            principal: None,
            metric: None,
            link: None,
            lambda: 0.0,
            rows: 0,
            device: device.describe(),
            times: None,
        }
    }

    /// Keeps what the columns of the data are called, where that is not just the numbers from 0 on,
    /// and what they are made of; the names of classes if labels are text.
    pub fn name_columns(&mut self, of: &dyn ChunkSource) {
        let telling = |names: Option<Vec<String>>| names.filter(|names| names_tell(names));
        let columns = of.column_names();
        let chosen = columns.filter(|names| names_tell(names) || !count_up(names));
        self.column_names = chosen.filter(|names| names.len() == self.map.input_dim());
        self.target_names = telling(of.target_names());
        self.schema = of.schema().cloned();
        if let (Some(schema), Targets::Classes(_)) = (&self.schema, &self.targets) {
            self.class_names = schema.classes().map(<[String]>::to_vec);
        }
    }

    /// How to [`open`](crate::data::open) rows to predict: columns by their names, in any order and
    /// beside others, where the model and the file have names.
    pub fn columns(&self) -> ColumnChoice {
        match (&self.schema, &self.column_names) {
            (Some(schema), _) => ColumnChoice::Known(Box::new(schema.clone())),
            (None, Some(names)) => ColumnChoice::Matching(names.clone()),
            (None, None) => ColumnChoice::All,
        }
    }

    /// Writes one file with everything that predicting needs, whole or not at all. Errors also when
    /// the map holds code that no file can keep.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.store()?.save(KIND, path.as_ref())
    }

    /// The bytes of the file that [`Self::save`] writes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.store()?.to_bytes(KIND)
    }

    /// What [`Self::to_bytes`] gave. Errors with [`Error::Format`] on other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    fn store(&self) -> Result<Store> {
        let mut store = Store::default();
        self.map.write(&mut store)?;
        store.put_f64("coefficients", self.coefficients.beta_dt.view());
        store.put_vector("intercept", &self.coefficients.intercept_t.to_vec());
        match &self.targets {
            Targets::Real { .. } => store.set("task", "regression"),
            Targets::Classes(labels) => {
                store.set("task", "classification");
                store.put_vector("classes", labels);
            }
        }
        if let Some(names) = &self.class_names {
            store.set("class_names", serde_json::json!(names));
        }
        for (name, names) in [(COLUMNS, &self.column_names), (TARGETS, &self.target_names)] {
            if let Some(names) = names {
                store.set(name, serde_json::json!(names));
            }
        }
        if let Some(schema) = &self.schema {
            schema.write(&mut store);
        }
        store.set("learner", &self.learner);
        if !self.facts.is_empty() {
            let (names, figures): (Vec<_>, Vec<f64>) = self.facts.iter().unzip();
            store.set(FACTS, serde_json::json!(names));
            store.put_vector(FACTS, &figures);
        }
        if let Some(curve) = &self.lambda_curve {
            curve.write(&mut store);
        }
        if let Some(lengthscales) = &self.lengthscales {
            lengthscales.write(&mut store);
        }
        if let Some(probabilities) = &self.probabilities {
            probabilities.write(&mut store);
        }
        if let Some(spread) = &self.spread {
            write_spread(spread, &mut store);
        }
        if let Some(conformal) = &self.conformal {
            conformal.write(&mut store);
        }
        if let Some(principal) = &self.principal {
            principal.write(&mut store);
        }
        if let Some(metric) = &self.metric {
            metric.write(&mut store);
        }
        if let Some(link) = self.link {
            link.write(&mut store);
        }
        store.set("lambda", self.lambda);
        store.set("rows", self.rows);
        store.set("device", &self.device);
        store.set("written_by", concat!("bochner ", env!("CARGO_PKG_VERSION")));
        Ok(store)
    }

    /// Reads a model file. Errors with [`Error::Model`] on a truncated, foreign or newer file, and
    /// on parts that do not fit together.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        Self::read(&store).map_err(|e| Error::in_model(path, &e))
    }

    fn read(store: &Store) -> Result<Self> {
        let map = features::read(store)?;
        let beta_dt = store.f64("coefficients")?;
        let (features, outputs) = beta_dt.dim();
        if features != map.output_dim() {
            return Err(Error::format(format!(
                "{features} coefficients for {} features",
                map.output_dim()
            )));
        }
        if features == 0 || outputs == 0 {
            return Err(Error::format("coefficients of no features or no outputs"));
        }
        let intercept_t = store.vector("intercept", outputs)?;
        let link = Link::read(store, outputs)?;
        let hidden = link.map_or(0, Link::hidden);
        let columns = outputs.saturating_sub(hidden);
        if columns == 0 {
            return Err(Error::format("a link that leaves no outputs"));
        }
        let targets = match store.text("task")? {
            "regression" => Targets::Real {
                columns,
                shift: vec![0.0; columns],
            },
            "classification" => Targets::Classes(store.vector("classes", outputs)?.to_vec()),
            other => return Err(Error::format(format!("the task {other:?} is not known"))),
        };
        let class_names = read_names(store, &targets)?;
        let metric = LearnedMetric::read(store)?;
        if let Some(metric) = metric.as_ref().filter(|m| m.columns() != map.input_dim()) {
            return Err(Error::format(format!(
                "a metric of {} columns for a map of {}",
                metric.columns(),
                map.input_dim()
            )));
        }
        // Files from before there were other learners name none.
        let learner = match store.has_property("learner") {
            true => store.text("learner")?.to_owned(),
            false => RIDGE.into(),
        };
        let list = |name| match store.has_property(name) {
            true => read_list(store, name).map(Some),
            false => Ok(None),
        };
        let column_names = list(COLUMNS)?;
        if let Some(names) = &column_names
            && names.len() != map.input_dim()
        {
            return Err(Error::format(format!(
                "{} names for {} columns",
                names.len(),
                map.input_dim()
            )));
        }
        Ok(Self {
            lengthscales: FoundLengthscales::read(store, map.input_dim())?,
            schema: Schema::read(store, map.input_dim())?,
            map,
            column_names,
            target_names: list(TARGETS)?,
            class_names,
            spread: read_spread(store, (features, outputs))?,
            conformal: Conformal::read(store, outputs)?,
            coefficients: Coefficients {
                beta_dt,
                intercept_t,
            },
            targets,
            learner,
            facts: read_facts(store)?,
            lambda_curve: LambdaCurve::read(store)?,
            probabilities: Probabilities::read(store, outputs)?,
            principal: Principal::read(store, (features, outputs))?,
            metric,
            link,
            lambda: store.get("lambda")?,
            rows: store.get("rows")?,
            device: store.text("device")?.to_owned(),
            times: None,
        })
    }

    /// What the model says of raw outputs `[n, t]`: values as they are, or the label of the largest
    /// score in each row, `[n, 1]`.
    pub fn decide(&self, scores_nt: Array2<f64>) -> Array2<f64> {
        let Targets::Classes(labels) = &self.targets else {
            return match self.link {
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

/// A model on a device, with its buffers.
#[derive(Debug)]
pub struct Predictor<'m> {
    model: &'m LinearModel,
    featurizer: Featurizer<'m>,
}

impl<'m> Predictor<'m> {
    fn new(model: &'m LinearModel, run: Run) -> Result<Self> {
        let beta_dt = &model.coefficients.beta_dt;
        let lanes = vec![Lane::outputs(model.map.as_ref(), beta_dt)];
        let mut featurizer = Featurizer::new(lanes, beta_dt.ncols(), End::Host, run)?;
        featurizer.load()?;
        Ok(Self { model, featurizer })
    }

    /// The model that predicts.
    pub fn model(&self) -> &'m LinearModel {
        self.model
    }

    /// The raw outputs, `[rows, t]`: predicted values, or one score per class.
    pub fn scores(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        let intercept = &self.model.coefficients.intercept_t;
        let mut all = Array2::zeros((rows.nrows(), intercept.len()));
        self.featurizer.rows(rows, |y, range| {
            let y = y[0].mapv(f64::from) + intercept;
            require_finite(&y)?;
            all.slice_mut(s![range, ..]).assign(&y);
            Ok(())
        })?;
        Ok(all)
    }

    /// Predictions, `[rows, t]` values, or `[rows, 1]` labels for a classifier.
    pub fn predict(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        let scores = self.scores(rows)?;
        Ok(self.model.decide(scores))
    }

    /// Streams a source: `sink` gets the predictions and the targets of each chunk, in order.
    /// The [`Run`] hears [`Step::Rows`](crate::Step::Rows). Returns the number of rows.
    pub fn stream(
        &mut self,
        source: &mut dyn ChunkSource,
        mut sink: impl FnMut(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let model = self.model;
        self.stream_scores(source, |scores_nt, y_nt| {
            sink(model.decide(scores_nt.to_owned()).view(), y_nt)
        })
    }

    /// As [`Self::stream`] with the raw outputs in place of predictions.
    pub fn stream_scores(
        &mut self,
        source: &mut dyn ChunkSource,
        mut sink: impl FnMut(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let model = self.model;
        check_columns(model, source)?;
        let targets = |chunk: &Chunk, range| chunk.y.slice(s![range, ..]).to_owned();
        self.featurizer
            .on_host(source, targets, |scores, y: Array2<f64>| {
                let scores = scores[0].mapv(f64::from) + &model.coefficients.intercept_t;
                require_finite(&scores)?;
                sink(scores.view(), y.view())
            })
    }
}

/// Whether names are the numbers from 0 on, which a file without names gets.
fn count_up(names: &[String]) -> bool {
    names
        .iter()
        .enumerate()
        .all(|(j, name)| *name == j.to_string())
}

/// Errors on outputs that are not numbers: nobody asked for them.
pub(super) fn require_finite(outputs: &Array2<f64>) -> Result<()> {
    match outputs.iter().all(|v| v.is_finite()) {
        true => Ok(()),
        false => Err(Error::numerical(
            "the model predicts values that are not finite: rows are too far from those it was \
             fitted to, or the file is damaged",
        )),
    }
}

/// Errors unless `source` has the columns that `model` was fitted on.
pub(super) fn check_columns(model: &LinearModel, source: &dyn ChunkSource) -> Result<()> {
    if source.columns() == model.map.input_dim() {
        return Ok(());
    }
    Err(Error::shape(format!(
        "the data has {}, the model was fitted on {}",
        counted(source.columns(), "column"),
        model.map.input_dim()
    )))
}

fn write_spread(spread: &Spread, store: &mut Store) {
    store.put_f64("spread_root", spread.root_dd.view());
    store.put_vector("spread_shift", &spread.shift_d.to_vec());
    store.put_vector("spread_noise", &spread.noise_t.to_vec());
    store.set("spread_intercept", spread.intercept);
}

/// What [`write_spread`] wrote, for so many features and outputs.
fn read_spread(store: &Store, (features, outputs): (usize, usize)) -> Result<Option<Spread>> {
    if !store.has("spread_root") {
        return Ok(None);
    }
    let root_dd = store.f64("spread_root")?;
    if root_dd.dim() != (features, features) {
        return Err(Error::format(format!(
            "a spread of shape {:?} does not go with {features} features",
            root_dd.dim()
        )));
    }
    Ok(Some(Spread {
        root_dd,
        shift_d: store.vector("spread_shift", features)?,
        noise_t: store.vector("spread_noise", outputs)?,
        intercept: store.get("spread_intercept")?,
    }))
}

/// The figures that a fit found, if it kept any.
fn read_facts(store: &Store) -> Result<BTreeMap<String, f64>> {
    if !store.has(FACTS) {
        return Ok(BTreeMap::new());
    }
    let names = read_list(store, FACTS)?;
    let figures = store.vector(FACTS, names.len())?;
    Ok(names.into_iter().zip(figures).collect())
}

/// A property that is a list of names.
pub(super) fn read_list(store: &Store, name: &str) -> Result<Vec<String>> {
    serde_json::from_str(store.text(name)?)
        .map_err(|fault| Error::format(format!("property {name:?} is no list of names: {fault}")))
}

/// The names of classes; files of numeric labels, and older ones, have none.
fn read_names(store: &Store, targets: &Targets) -> Result<Option<Vec<String>>> {
    const NAME: &str = "class_names";
    if !store.has_property(NAME) {
        return Ok(None);
    }
    let names = read_list(store, NAME)?;
    // Classes count the names, of which some may have had no row.
    let counts = |&class: &f64| class.fract() == 0.0 && (0.0..names.len() as f64).contains(&class);
    match targets {
        Targets::Classes(classes) if classes.iter().all(counts) => Ok(Some(names)),
        _ => Err(Error::format(format!(
            "{} names do not go with the classes {targets:?}",
            names.len()
        ))),
    }
}
