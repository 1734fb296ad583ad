//! Features of a user's own nonlinearity.

use super::{Affine, DenseFeatures, FeatureMap, MapBuilder, MapData};
use crate::{
    Error, Result,
    error::Remedy,
    kernels::{ArcCosineKernel, Kernel},
    ops::{Nonlinearity, Pointwise, projection::DenseMap},
    sampling::{Sampling, round_to_11_bits},
    seed::Seed,
    store::Store,
};
use ndarray::Array2;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

pub(super) const NAME: &str = "custom";

/// The nonlinearities that programs have registered, by name.
static REGISTERED: RwLock<BTreeMap<String, Pointwise>> = RwLock::new(BTreeMap::new());

/// Builds a map `z = f(omega . x) / sqrt(D)` with omega ~ N(0, I) and any `f`: `z(x)'z(y)`
/// estimates `E f(omega . x) f(omega . y)` (Rahimi & Recht 2008, "Uniform approximation of
/// functions with random bases").
///
/// The CPU calls `f`; a GPU needs it as a WGSL expression beside it, by [`Self::wgsl`]. A model is
/// saved, and loaded in another process, once `f` has been [registered](Self::register) there.
///
/// ```
/// use bochner::{Device, features::{Affine, Custom, FeatureMap}};
/// let map = Custom::new("tanh", f32::tanh).wgsl("tanh(clamp(t, -10.0, 10.0))").features(64);
/// let map = map.build(Affine::identity(3))?;
/// assert!(map.load(&Device::cpu()).is_ok());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Clone)]
pub struct Custom {
    own: Pointwise,
    wgsl: Option<String>,
    features: usize,
    sampling: Sampling,
    seed: Seed,
}

impl Custom {
    /// 1000 features of `function`, called `name` in messages and files, by Monte Carlo, from seed
    /// 0, until said otherwise.
    pub fn new(
        name: impl Into<String>,
        function: impl Fn(f32) -> f32 + Send + Sync + 'static,
    ) -> Self {
        Self {
            own: Pointwise::new(name, function),
            wgsl: None,
            features: 1000,
            sampling: Sampling::default(),
            seed: Seed(0),
        }
    }

    /// The same function as a WGSL expression in the variable `t`, an f32: `t / (1.0 + exp(-t))`.
    /// It consists of numbers, operators and WGSL's functions of numbers; [`Self::build`] refuses
    /// anything else.
    ///
    /// A GPU compares the two whenever a map is loaded: at 4097 arguments from -128 to 128, dense
    /// around zero, they must not differ by more than 2^-10 of the value and of the mean size of
    /// values between -4 and 4. WGSL lets a GPU's sine and cosine be off by 2^-11, other functions
    /// by less, so that a right expression passes on each. Values beyond 1e30 are not compared. An
    /// expression that overflows on the way is refused: some GPUs give NaN for `tanh(100.0)`, and
    /// need `tanh(clamp(t, -10.0, 10.0))`.
    pub fn wgsl(mut self, expression: impl Into<String>) -> Self {
        self.wgsl = Some(expression.into());
        self
    }

    /// D, the number of features, one for each frequency.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// How the weights omega are drawn.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Has models of this nonlinearity saved and loaded in this process, under its name: a file
    /// keeps the name and some of the values, by which another function of that name is refused.
    /// Call it once, before the first is saved or loaded.
    ///
    /// ```
    /// use bochner::features::Custom;
    /// Custom::new("swish", |t| t / (1.0 + (-t).exp())).wgsl("t / (1.0 + exp(-t))").register()?;
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors with [`Error::Parameter`] when the name is taken by an earlier call, and when the
    /// WGSL is no expression.
    pub fn register(&self) -> Result<()> {
        let own = self.pointwise()?;
        let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
        if registered.contains_key(own.name()) {
            return Err(Error::parameter(format!(
                "the nonlinearity {:?} is registered already; register each once, under a name of \
                 its own",
                own.name()
            )));
        }
        registered.insert(own.name().to_owned(), own);
        Ok(())
    }

    /// Draws the map. `input` prepares raw columns. Errors with [`Error::Shape`] when D or d is 0,
    /// with [`Error::Parameter`] when the WGSL is no expression, and as the sampling does.
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let s = self.features;
        let measure = ArcCosineKernel::weights();
        let drawn = self
            .sampling
            .draw(measure, input.columns(), s, false, self.seed)?;
        let weights = drawn.weights.unwrap_or_else(|| vec![1.0; s]);
        let dense = DenseMap {
            w_ds: drawn.omega_sd.t().mapv(round_to_11_bits),
            phase_s: vec![0.0; s],
            amplitude_s: weights
                .iter()
                .map(|w| (w / s as f64).sqrt() as f32)
                .collect(),
            nonlinearity: Nonlinearity::Custom(self.pointwise()?),
        };
        Ok(DenseFeatures {
            name: NAME,
            origin: format!("{}, {}", self.own.name(), self.sampling.settled()),
            input,
            dense,
        })
    }

    /// Function and expression in one.
    fn pointwise(&self) -> Result<Pointwise> {
        let own = self.own.clone();
        match &self.wgsl {
            None => Ok(own),
            Some(expression) => own.wgsl(expression),
        }
    }
}

impl MapBuilder for Custom {
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        None
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom")
            .field("name", &self.own)
            .field("features", &self.features)
            .finish_non_exhaustive()
    }
}

/// Writes the name and some values. Errors with [`Error::Unsupported`] unless the function has been
/// registered.
pub(super) fn write(own: &Pointwise, store: &mut Store) -> Result<()> {
    let name = own.name();
    let known = registered(name).ok_or_else(|| {
        Error::unsupported(format!("a file cannot keep the function {name:?} itself"))
            .help(register_it(name))
    })?;
    if !agree(&values(&known), &values(own)) {
        return Err(Error::unsupported(format!(
            "another function than this is registered as {name:?}; give each a name of its own"
        )));
    }
    store.set("nonlinearity", NAME);
    store.set("function", name);
    store.put_f32("values", values(own).view());
    Ok(())
}

/// The registered function whose name and values are in a file. Errors with [`Error::Missing`] when
/// there is none of the name, and with [`Error::Format`] when there is another.
pub(super) fn read(store: &Store) -> Result<Nonlinearity> {
    let name = store.text("function")?;
    let own = registered(name).ok_or_else(|| {
        Error::missing(format!(
            "no function is known for the nonlinearity {name:?}"
        ))
        .help(register_it(name))
    })?;
    if !agree(&store.f32("values")?, &values(&own)) {
        return Err(Error::format(format!(
            "the function that is registered as {name:?} gives other values than that which was \
             saved; register the same"
        )));
    }
    Ok(Nonlinearity::Custom(own))
}

fn registered(name: &str) -> Option<Pointwise> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    registered.get(name).cloned()
}

fn register_it(name: &str) -> Remedy {
    Remedy::words(format!(
        "register it by Custom::new({name:?}, ..).register() before saving and before loading"
    ))
}

/// What a function gives from -4 to 4: by which it is known again. Infinities and NaNs count as
/// zero.
fn values(own: &Pointwise) -> Array2<f32> {
    Array2::from_shape_fn((1, 65), |(_, i)| {
        let value = own.at((i as f32 - 32.0) / 8.0);
        if value.is_finite() { value } else { 0.0 }
    })
}

/// Whether these are values of one function, computed perhaps by different machines.
fn agree(a: &Array2<f32>, b: &Array2<f32>) -> bool {
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * (1.0 + a.abs().max(b.abs()));
    a.dim() == b.dim() && a.iter().zip(b).all(close)
}
