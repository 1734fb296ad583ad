//! Sums of some of the rows with what they are sums of: what one process hands to another.

use crate::{
    Error, Result, Run,
    data::{ChunkSource, Forgetting, Rescaled, names_tell},
    features::{self, Affine, FeatureMap, ScaledKernel},
    kernels,
    learn::{Fit, bring_back},
    model::{LinearModel, Targets},
    seed::Seed,
    settings::Settings,
    store::Store,
    sums::{self, ModelContext, RowsToSum, Sums},
};
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// What the bytes of a [`Partial`] say they are.
const KIND: &str = "partial";
/// The version of the format, and its property.
const VERSION: u32 = 2;
/// That of sums of targets as they are, which earlier programs read, too.
const VERSION_AS_IS: u32 = 1;
const VERSION_NAME: &str = "partial_version";
const OPTIONS: &str = "options";
const RESCALED: &str = "rescaled";
/// No part of what has to be alike.
const JOB: &str = "job";
const PARTS: &str = "parts";

/// What sums are sums of: a map that is drawn, and what targets mean. Sums on different grounds do
/// not merge.
#[derive(Debug, Clone)]
pub struct Basis {
    /// The map, parameters drawn.
    pub map: Arc<dyn FeatureMap>,
    /// The kernel that it estimates, where it is known. One of a program's own, which has no
    /// spelling, is not kept in bytes.
    pub kernel: Option<ScaledKernel>,
    /// What targets mean.
    pub targets: Targets,
    /// What classes are called if their labels are text.
    pub class_names: Option<Vec<String>>,
    /// What the columns are called, if they have names.
    pub column_names: Option<Vec<String>>,
    /// What the targets are called, if they have names.
    pub target_names: Option<Vec<String>>,
    /// The seed of what the learner draws itself.
    pub seed: Seed,
    /// The job that they are for, in words, which its model keeps.
    pub job: Option<Settings>,
    /// The scale of the targets, if it is another one than their own.
    pub rescaled: Option<Rescaled>,
    /// How the sums were made, by name: all of it has to be equal for sums to merge.
    pub options: BTreeMap<String, String>,
}

impl Basis {
    /// This map and these targets, and nothing else.
    #[doc(hidden)]
    pub fn new(map: Arc<dyn FeatureMap>, targets: Targets) -> Self {
        Self {
            map,
            kernel: None,
            targets,
            class_names: None,
            column_names: None,
            target_names: None,
            seed: Seed::default(),
            job: None,
            rescaled: None,
            options: BTreeMap::new(),
        }
    }

    /// The sums of the rows of `source`, whose targets are as they were read; `sum` is the
    /// learner's. Where sums forget, rows count by their age beside the last of them. Errors as
    /// the learner does, and on amounts that are not on the scale of the sums.
    #[doc(hidden)]
    pub fn sum<S>(
        &self,
        source: &mut dyn ChunkSource,
        run: &Run,
        sum: impl FnOnce(&dyn FeatureMap, RowsToSum<'_>) -> Result<S>,
    ) -> Result<S> {
        let mut source = Forgetting::maybe(source, self.half_life()?)?;
        let mut rescaled;
        let source: &mut dyn ChunkSource = match &self.rescaled {
            Some(of) => {
                rescaled = of.rows(&mut source);
                &mut rescaled
            }
            None => &mut source,
        };
        let data = RowsToSum {
            source,
            targets: &self.targets,
            kernel: self.kernel.as_ref(),
            seed: self.seed,
            run,
        };
        sum(self.map.as_ref(), data)
    }

    /// The model of sums, which knows what it is of, and predicts amounts where sums see another
    /// scale; `solve` is that of `learner`, which may have other options than the one that began.
    /// Errors as `solve` does.
    #[doc(hidden)]
    pub fn model(
        &self,
        learner: &dyn Fit,
        run: &Run,
        solve: impl FnOnce(Box<dyn FeatureMap>, ModelContext<'_>) -> Result<LinearModel>,
    ) -> Result<LinearModel> {
        let known = ModelContext {
            targets: &self.targets,
            kernel: self.kernel.as_ref(),
            run,
        };
        let job = self.job.clone();
        let mut model = LinearModel {
            class_names: self.class_names.clone(),
            column_names: self.column_names.clone(),
            target_names: self.target_names.clone(),
            job: job.map(|job| job.learning(learner.settings())),
            ..solve(Box::new(self.map.clone()), known)?
        };
        if let Some(rescaled) = &self.rescaled {
            bring_back(&mut model, rescaled)?;
        }
        Ok(model)
    }

    /// Keeps what the columns of the data are called, where that is not just numbers.
    #[doc(hidden)]
    pub fn name_columns(&mut self, of: &dyn ChunkSource) {
        let telling = |names: Option<Vec<String>>| names.filter(|names| names_tell(names));
        self.column_names =
            telling(of.column_names()).filter(|names| names.len() == self.map.input_dim());
        self.target_names = telling(of.target_names());
    }

    fn store(&self) -> Result<Store> {
        let mut store = Store::default();
        let mut map = Store::default();
        self.map.write(&mut map)?;
        store.nest("map", map);
        let mut options = Store::default();
        for (name, value) in &self.options {
            options.set(name, value);
        }
        store.nest(OPTIONS, options);
        if let Some(kernel) = &self.kernel {
            let spec = kernel.kernel.spec();
            match kernels::parse(&spec) {
                Ok(_) => {
                    let mut inner = Store::default();
                    inner.set("spec", spec);
                    kernel.input.write(&mut inner);
                    store.nest("kernel", inner);
                }
                // One that was defined in code: sums do without it.
                Err(Error::Unsupported(_)) => {}
                Err(error) => return Err(error),
            }
        }
        match &self.targets {
            Targets::Real { shift, .. } => {
                store.set("task", "regression");
                store.put_vector("shift", shift);
            }
            Targets::Classes(labels) => {
                store.set("task", "classification");
                store.put_vector("classes", labels);
            }
        }
        let names = [&self.class_names, &self.column_names, &self.target_names];
        for (name, names) in NAMES.into_iter().zip(names) {
            if let Some(names) = names {
                store.set(name, serde_json::json!(names));
            }
        }
        store.set("seed", self.seed.0);
        if let Some(rescaled) = &self.rescaled {
            let mut inner = Store::default();
            rescaled.write(&mut inner);
            store.nest(RESCALED, inner);
        }
        Ok(store)
    }

    fn read(store: &Store) -> Result<Self> {
        let row = |name| -> Result<Vec<f64>> {
            let array = store.f64(name)?;
            Ok(store.vector(name, array.ncols())?.to_vec())
        };
        let targets = match store.text("task")? {
            "regression" => {
                let shift = row("shift")?;
                Targets::Real {
                    columns: shift.len(),
                    shift,
                }
            }
            "classification" => Targets::Classes(row("classes")?),
            other => return Err(Error::format(format!("the task {other:?} is not known"))),
        };
        let kernel = store.nested("kernel");
        let kernel = if kernel.has_property("spec") {
            Some(ScaledKernel {
                kernel: kernels::parse(kernel.text("spec")?)?,
                input: Affine::read(&kernel)?,
            })
        } else {
            None
        };
        let list = |name| {
            if store.has_property(name) {
                store.list(name).map(Some)
            } else {
                Ok(None)
            }
        };
        let [classes, columns, names] = NAMES;
        Ok(Self {
            map: Arc::from(features::read(&store.nested("map"))?),
            kernel,
            targets,
            class_names: list(classes)?,
            column_names: list(columns)?,
            target_names: list(names)?,
            seed: Seed(store.get("seed")?),
            job: if store.has_property(JOB) {
                Some(Settings::from_json(store.text(JOB)?)?)
            } else {
                None
            },
            rescaled: match store.nested(RESCALED) {
                rescaled if rescaled.has_property("scale") => Some(Rescaled::read(&rescaled)?),
                _ => None,
            },
            options: store.nested(OPTIONS).properties().clone(),
        })
    }

    /// The first thing in which two are not alike, in words. Errors when a map holds code that no
    /// file can keep.
    #[doc(hidden)]
    pub fn difference(&self, other: &Self) -> Result<Option<String>> {
        // What somebody chose says more than the numbers that followed.
        let options = |basis: &Self| {
            let mut store = Store::default();
            for (name, value) in &basis.options {
                store.set(name, value);
            }
            store
        };
        match options(self).difference(&options(other)) {
            None => Ok(self.store()?.difference(&other.store()?)),
            some => Ok(some),
        }
    }

    /// Errors unless sums on both grounds may be added, with what differs.
    #[doc(hidden)]
    pub fn check_same(&self, other: &Self) -> Result<()> {
        let Some(difference) = self.difference(other)? else {
            return Ok(());
        };
        Err(Error::format(format!(
            "these sums were not made alike: {difference}; sum all parts with the same options \
             and the same plan"
        )))
    }
}

const NAMES: [&str; 3] = ["class_names", "column_names", "target_names"];

/// Sums of some of the rows on a [`Basis`]: from anywhere, to be merged with those of other rows
/// and solved.
///
/// As bytes it is a safetensors file, the same bytes for the same contents; `docs/long-runs.md`
/// says what is in it.
///
/// ```
/// use bochner::{models::Partial, prelude::*, solve::NormalEquations};
/// let x = ndarray::Array2::from_shape_fn((90, 1), |(i, _)| i as f64 / 9.0);
/// let y = x.column(0).mapv(f64::cos);
/// let process = GaussianProcess::on(Fourier::new(Gaussian).features(32));
/// let whole = process.start((&x, &y))?;
/// // To another process and back.
/// let bytes = whole.to_bytes()?;
/// let partial = Partial::<NormalEquations>::from_bytes(&bytes)?;
/// assert_eq!(partial.sums.rows, 90);
/// assert_eq!(partial.to_bytes()?, bytes);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Partial<S> {
    /// What the sums are sums of.
    pub basis: Basis,
    /// Sums of rows, maybe of none: a plan for those who sum.
    pub sums: S,
    /// What the rows are called, so that none counts twice: as many names as parts were merged.
    /// Nobody looks after rows without a name.
    pub parts: Vec<String>,
}

impl<S: Sums> Partial<S> {
    /// Adds the sums of other rows: associative and, but for rounding, commutative.
    ///
    /// Errors with [`Error::Format`] when the sums were not made alike, with the difference, and
    /// when a part is there already; the sums then are as before.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.basis.check_same(&other.basis)?;
        if let Some(twice) = other.parts.iter().find(|part| self.parts.contains(part)) {
            return Err(Error::format(format!(
                "part {twice} is there twice; name each file of sums once"
            )));
        }
        self.sums.merge(&other.sums)?;
        self.parts.extend(other.parts.iter().cloned());
        self.parts.sort();
        Ok(())
    }

    /// The partial as bytes. Errors when the map holds code that no file can keep.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.store()?.to_bytes(KIND)
    }

    /// What [`Self::to_bytes`] gave. Errors with [`Error::Format`] on other bytes, of a later
    /// version, of the sums of another learner, and on sums that are not of the map.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    /// Writes [`Self::to_bytes`] to a file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.store()?.save(KIND, path.as_ref())
    }

    /// Reads what [`Self::save`] wrote. Errors with [`Error::Model`] where [`Self::from_bytes`]
    /// does.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        Self::read(&store).map_err(|e| Error::in_model(path, &e))
    }

    fn store(&self) -> Result<Store> {
        let mut store = self.basis.store()?;
        let mut own = Store::default();
        self.sums.write(&mut own);
        sums::mark::<S>(&mut own);
        store.nest("sums", own);
        if let Some(job) = &self.basis.job {
            store.set(JOB, job.to_json());
        }
        store.set(PARTS, serde_json::json!(self.parts));
        let rescaled = self.basis.rescaled.is_some();
        store.set(VERSION_NAME, if rescaled { VERSION } else { VERSION_AS_IS });
        Ok(store)
    }

    fn read(store: &Store) -> Result<Self> {
        let version = store.text(VERSION_NAME)?;
        if !matches!(version.parse::<u32>(), Ok(v) if (1..=VERSION).contains(&v)) {
            return Err(Error::format(format!(
                "sums of some rows in version {version}; this bochner reads up to {VERSION}: use \
                 a newer one"
            )));
        }
        let partial = Self {
            basis: Basis::read(store)?,
            sums: sums::read_marked(&store.nested("sums"))?,
            parts: store.list(PARTS)?,
        };
        let Basis { map, targets, .. } = &partial.basis;
        let (features, outputs) = (map.output_dim(), targets.outputs());
        if partial.sums.are_of(features, outputs) {
            Ok(partial)
        } else {
            Err(Error::format(format!(
                "the sums are not of {features} features and {outputs} targets, as their map is"
            )))
        }
    }
}
