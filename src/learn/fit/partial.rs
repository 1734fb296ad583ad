//! Partial sums of rows together with their basis, as exchanged between processes.

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

/// Kind tag in the serialized form of a [`Partial`].
const KIND: &str = "partial";
/// Version of the format, and the name of its property.
const VERSION: u32 = 2;
/// Version for sums of targets on their own scale, which earlier programs can read.
const VERSION_AS_IS: u32 = 1;
const VERSION_NAME: &str = "partial_version";
const OPTIONS: &str = "options";
const RESCALED: &str = "rescaled";
/// Keys that need not be equal for sums to merge.
const JOB: &str = "job";
const PARTS: &str = "parts";

/// Basis of sums: the drawn map and the kind of the targets. Sums on different bases do not merge.
#[derive(Debug, Clone)]
pub struct Basis {
    /// The map with its drawn parameters.
    pub map: Arc<dyn FeatureMap>,
    /// The kernel that the map approximates, if known. A kernel defined in user code has no
    /// spelling and is not serialized.
    pub kernel: Option<ScaledKernel>,
    /// Kind of the targets.
    pub targets: Targets,
    /// Names of the classes if labels are text.
    pub class_names: Option<Vec<String>>,
    /// Names of the columns, if there are any.
    pub column_names: Option<Vec<String>>,
    /// Names of the targets, if there are any.
    pub target_names: Option<Vec<String>>,
    /// Seed of the learner's own random draws.
    pub seed: Seed,
    /// Settings of the fit, which its model keeps.
    pub job: Option<Settings>,
    /// Transformation of the targets; `None` for the original scale.
    pub rescaled: Option<Rescaled>,
    /// How the sums were computed, by name: all values must be equal for sums to merge.
    pub options: BTreeMap<String, String>,
}

impl Basis {
    /// A basis with a map and targets only.
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

    /// Sums the rows of `source`, whose targets are on their original scale, with the learner's
    /// function `sum`. With forgetting, rows are weighted by their age relative to the last row.
    /// Errors as the learner does, and on targets that cannot be transformed to the scale of the
    /// sums.
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

    /// Returns the model of the sums with the facts of the basis; it predicts on the original scale
    /// of the targets. `solve` belongs to `learner`, whose options may differ from those at the
    /// start. Errors as `solve` does.
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

    /// Keeps the names of the columns unless they are just numbers.
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
                // A kernel defined in user code: sums do not need it.
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

    /// Describes the first difference between two bases; `None` if they are equal. Errors if a map
    /// holds user code, which cannot be serialized.
    #[doc(hidden)]
    pub fn difference(&self, other: &Self) -> Result<Option<String>> {
        // Options chosen by the user are more informative than the numbers derived from them.
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

    /// Errors with the difference unless sums on both bases may be merged.
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

/// Partial sums on a [`Basis`], which can be merged with sums of other rows and solved.
///
/// The serialized form is a safetensors file, with the same bytes for the same contents;
/// `docs/long-runs.md` documents it.
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
    /// Basis of the sums.
    pub basis: Basis,
    /// Sums of rows; without rows it serves as a template for processes that sum.
    pub sums: S,
    /// Names of the merged parts, one each, so that no part is added twice. Unnamed parts are not
    /// checked.
    pub parts: Vec<String>,
}

impl<S: Sums> Partial<S> {
    /// Adds the sums of other rows: associative and, up to rounding, commutative.
    ///
    /// Errors with [`Error::Format`] and the difference if the bases differ, or if a part was added
    /// already; the sums are then unchanged.
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

    /// Serializes the partial sums. Errors if the map holds user code.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.store()?.to_bytes(KIND)
    }

    /// Deserializes [`Self::to_bytes`]. Errors with [`Error::Format`] on other bytes, on a later
    /// version, on sums of another learner, and on sums that do not match the map.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    /// Writes [`Self::to_bytes`] to a file atomically.
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
