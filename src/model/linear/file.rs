//! Serialization of models.

#[cfg(test)]
mod tests;

use super::{LinearModel, RIDGE};
use crate::{
    Error, Result,
    data::Schema,
    features,
    model::{
        ClassSets, ClassSpread, Coefficients, Conformal, FoundLengthscales, LambdaCurve,
        LearnedMetric, Link, Principal, Probabilities, Ranges, Spread, Targets,
    },
    settings::Settings,
    store::Store,
};
use ndarray::Array2;
use std::{collections::BTreeMap, path::Path};

const KIND: &str = "model";
/// Names of columns and of targets.
const COLUMNS: &str = "column_names";
const TARGETS: &str = "target_names";
/// Names and values of facts.
const FACTS: &str = "facts";
/// Settings of the fit.
const JOB: &str = "job";
/// Shares of columns.
const LEAF_IMPORTANCE: &str = "leaves.importance";
const LABEL_TYPES: &str = "label_types";

impl LinearModel {
    /// Writes one file with everything needed for prediction, atomically. Errors if the map holds
    /// user code, which cannot be stored.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.store()?.save(KIND, path.as_ref())
    }

    /// As [`Self::save`], with `types` instead of [`Self::label_types`] if given.
    #[doc(hidden)]
    pub fn save_with_label_types(&self, path: impl AsRef<Path>, types: Option<&str>) -> Result<()> {
        let mut store = self.store()?;
        if let Some(types) = types {
            store.set(LABEL_TYPES, types);
        }
        store.save(KIND, path.as_ref())
    }

    /// The bytes of the file that [`Self::save`] writes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.store()?.to_bytes(KIND)
    }

    /// Deserializes [`Self::to_bytes`]. Errors with [`Error::Format`] on other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    fn store(&self) -> Result<Store> {
        let mut store = Store::default();
        self.map.write(&mut store)?;
        store.put_f64("coefficients", self.coefficients.beta_dt.view());
        store.put_vector("intercept", &self.coefficients.intercept_t.to_vec());
        write_targets(&self.targets, &mut store);
        if let Some(names) = &self.class_names {
            store.set("class_names", serde_json::json!(names));
        }
        if let Some(types) = &self.label_types {
            store.set(LABEL_TYPES, types);
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
        self.write_parts(&mut store);
        if let Some(job) = &self.job {
            store.set(JOB, job.to_json());
        }
        store.set("lambda", self.lambda);
        store.set("rows", self.rows);
        store.set("device", &self.device);
        store.set("written_by", concat!("bochner ", env!("CARGO_PKG_VERSION")));
        Ok(store)
    }

    /// Writes optional parts.
    fn write_parts(&self, store: &mut Store) {
        if let Some(curve) = &self.lambda_curve {
            curve.write(store);
        }
        if let Some(lengthscales) = &self.lengthscales {
            lengthscales.write(store);
        }
        if let Some(probabilities) = &self.probabilities {
            probabilities.write(store);
        }
        if let Some(spread) = &self.spread {
            write_spread(spread, store);
        }
        if let Some(spread) = &self.class_spread {
            spread.write(store);
        }
        if let Some(conformal) = &self.conformal {
            conformal.write(store);
        }
        if let Some(sets) = &self.class_sets {
            sets.write(store);
        }
        if let Some(principal) = &self.principal {
            principal.write(store);
        }
        if let Some(metric) = &self.metric {
            metric.write(store);
        }
        if let Some(shares) = &self.leaf_importance {
            store.put_vector(LEAF_IMPORTANCE, shares);
        }
        if let Some(link) = &self.link {
            link.write(store);
        }
        if let Some(ranges) = &self.ranges {
            ranges.write(store);
        }
    }

    /// Reads a model file. Errors with [`Error::Model`] on a truncated, foreign or newer file, and
    /// on inconsistent parts.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        Self::read(&store).map_err(|e| Error::in_model(path, &e))
    }

    fn read(store: &Store) -> Result<Self> {
        let map = features::read(store)?;
        let beta_dt = read_coefficients(store, map.output_dim())?;
        let (features, outputs) = beta_dt.dim();
        let intercept_t = store.vector("intercept", outputs)?;
        let link = Link::read(store, outputs)?;
        let hidden = link.as_ref().map_or(0, Link::hidden);
        let columns = outputs.saturating_sub(hidden);
        if columns == 0 {
            return Err(Error::format("a link that leaves no outputs"));
        }
        let targets = read_targets(store, (outputs, columns))?;
        let class_names = read_names(store, &targets)?;
        let metric = read_metric(store, map.input_dim())?;
        let leaf_importance = if store.has(LEAF_IMPORTANCE) {
            Some(store.vector(LEAF_IMPORTANCE, map.input_dim())?.to_vec())
        } else {
            None
        };
        let learner = read_learner(store)?;
        let job = if store.has_property(JOB) {
            Some(Settings::from_json(store.text(JOB)?)?)
        } else {
            None
        };
        let column_names = read_column_names(store, map.input_dim())?;
        Ok(Self {
            lengthscales: FoundLengthscales::read(store, map.input_dim())?,
            schema: Schema::read(store, map.input_dim())?,
            ranges: Ranges::read(store, map.input_dim())?,
            map,
            job,
            column_names,
            target_names: read_list(store, TARGETS)?,
            class_names,
            label_types: read_label_types(store)?,
            spread: read_spread(store, (features, outputs))?,
            class_spread: ClassSpread::read(store, (features, outputs))?,
            conformal: Conformal::read(store, outputs)?,
            class_sets: read_class_sets(store, &targets)?,
            left_out: None,
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
            leaf_importance,
            link,
            lambda: store.get("lambda")?,
            rows: store.get("rows")?,
            device: store.text("device")?.to_owned(),
            times: None,
        })
    }
}

/// The types of labels, in files written by Python.
fn read_label_types(store: &Store) -> Result<Option<String>> {
    if store.has_property(LABEL_TYPES) {
        Ok(Some(store.text(LABEL_TYPES)?.to_owned()))
    } else {
        Ok(None)
    }
}

fn read_learner(store: &Store) -> Result<String> {
    // Older files, which had only one learner, do not name it.
    if store.has_property("learner") {
        Ok(store.text("learner")?.to_owned())
    } else {
        Ok(RIDGE.into())
    }
}

/// Coefficients for `expected` features, `[D, t]`.
fn read_coefficients(store: &Store, expected: usize) -> Result<Array2<f64>> {
    let beta_dt = store.f64("coefficients")?;
    let (features, outputs) = beta_dt.dim();
    if features != expected {
        return Err(Error::format(format!(
            "{features} coefficients for {expected} features"
        )));
    }
    if features == 0 || outputs == 0 {
        return Err(Error::format("coefficients of no features or no outputs"));
    }
    Ok(beta_dt)
}

fn write_targets(targets: &Targets, store: &mut Store) {
    match targets {
        Targets::Real { .. } => store.set("task", "regression"),
        Targets::Classes(labels) => {
            store.set("task", "classification");
            store.put_vector("classes", labels);
        }
    }
}

/// Kind of the targets of `outputs` outputs, with `columns` columns of real targets.
fn read_targets(store: &Store, (outputs, columns): (usize, usize)) -> Result<Targets> {
    match store.text("task")? {
        "regression" => Ok(Targets::Real {
            columns,
            shift: vec![0.0; columns],
        }),
        "classification" => Ok(Targets::Classes(store.vector("classes", outputs)?.to_vec())),
        other => Err(Error::format(format!("the task {other:?} is not known"))),
    }
}

/// The metric of a map with `columns` columns, if present.
fn read_metric(store: &Store, columns: usize) -> Result<Option<LearnedMetric>> {
    let metric = LearnedMetric::read(store)?;
    if let Some(metric) = metric.as_ref().filter(|m| m.columns() != columns) {
        return Err(Error::format(format!(
            "a metric of {} columns for a map of {columns}",
            metric.columns()
        )));
    }
    Ok(metric)
}

/// Calibration of sets of classes, for classifiers.
fn read_class_sets(store: &Store, targets: &Targets) -> Result<Option<ClassSets>> {
    match (ClassSets::read(store)?, targets) {
        (Some(_), Targets::Real { .. }) => {
            Err(Error::format("sets of classes of a model of amounts"))
        }
        (sets, _) => Ok(sets),
    }
}

/// A list of names, if present.
fn read_list(store: &Store, name: &str) -> Result<Option<Vec<String>>> {
    if store.has_property(name) {
        store.list(name).map(Some)
    } else {
        Ok(None)
    }
}

/// The names of `columns` columns, if present.
fn read_column_names(store: &Store, columns: usize) -> Result<Option<Vec<String>>> {
    let names = read_list(store, COLUMNS)?;
    if let Some(names) = &names
        && names.len() != columns
    {
        return Err(Error::format(format!(
            "{} names for {columns} columns",
            names.len()
        )));
    }
    Ok(names)
}

fn write_spread(spread: &Spread, store: &mut Store) {
    store.put_f64("spread_root", spread.root_dd.view());
    store.put_vector("spread_shift", &spread.shift_d.to_vec());
    store.put_vector("spread_noise", &spread.noise_t.to_vec());
    store.set("spread_intercept", spread.intercept);
}

/// Reads the entries of [`write_spread`], for these numbers of features and outputs.
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

/// The facts of a fit, if present.
fn read_facts(store: &Store) -> Result<BTreeMap<String, f64>> {
    if !store.has(FACTS) {
        return Ok(BTreeMap::new());
    }
    let names = store.list(FACTS)?;
    let figures = store.vector(FACTS, names.len())?;
    let mut facts = BTreeMap::new();
    facts.extend(names.into_iter().zip(figures));
    Ok(facts)
}

/// The names of classes; files with numeric labels, and older ones, do not have them.
fn read_names(store: &Store, targets: &Targets) -> Result<Option<Vec<String>>> {
    const NAME: &str = "class_names";
    if !store.has_property(NAME) {
        return Ok(None);
    }
    let names = store.list(NAME)?;
    // Class numbers are indices of the names; some names may have no rows.
    let counts = |&class: &f64| class.fract() == 0.0 && (0.0..names.len() as f64).contains(&class);
    match targets {
        Targets::Classes(classes) if classes.iter().all(counts) => Ok(Some(names)),
        _ => Err(Error::format(format!(
            "{} names do not go with the classes {targets:?}",
            names.len()
        ))),
    }
}
