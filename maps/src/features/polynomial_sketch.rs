//! Sketches of the polynomial kernel: what tensor and Hadamard sketches have in common.

use super::{
    Affine, FeatureMap, Formula, LoadedMap, MapBuilder, MapData,
    factors::{self, Part},
};
use crate::{
    Device, Error, Result,
    device::memory_left,
    kernels::{Kernel, Polynomial},
    ops::projection::DenseMap,
    seed::Seed,
    settings::Settings,
    store::Store,
    text::counted,
};
use std::{fmt::Debug, sync::Arc};

/// How large a sketch is.
#[derive(Debug, Clone, Copy)]
pub(super) struct SketchSize {
    /// p, the degree of the kernel.
    pub(super) factors: usize,
    /// Columns with that of the constant.
    pub(super) columns: usize,
    /// D.
    pub(super) features: usize,
}

/// What a sketch draws: the linear forms whose products are its features.
pub(super) trait SketchDraws: Debug + Clone + PartialEq + Send + Sync + 'static {
    /// The map's name.
    const NAME: &'static str;

    /// Draws forms.
    fn draw(size: &SketchSize, seed: Seed) -> Self;

    /// Errors unless these forms are of this size.
    fn check(&self, size: &SketchSize) -> Result<()>;

    /// What form k has of column j at frequency f.
    fn entry(&self, size: &SketchSize) -> impl Fn(usize, usize, usize, Part) -> f64;

    /// Reads what [`Self::write`] wrote.
    fn read(store: &Store) -> Result<Self>;

    /// Writes them to a model file.
    fn write(&self, store: &mut Store);
}

/// Builds a sketch of `(x'y + c)^p` ([`Polynomial`]) without a bias: a
/// [`TensorSketch`](super::TensorSketch) or a [`HadamardSketch`](super::HadamardSketch), by the
/// linear forms F that it draws.
#[derive(Debug, Clone)]
pub struct PolynomialSketch<F> {
    degree: u32,
    constant: f64,
    features: usize,
    given: Option<Arc<F>>,
    seed: Seed,
}

#[expect(private_bounds, reason = "what a sketch draws is the crate's own")]
impl<F: SketchDraws> PolynomialSketch<F> {
    /// For `(x'y + constant)^degree`: 1000 features from seed 0, until said otherwise.
    pub fn new(degree: u32, constant: f64) -> Self {
        Self {
            degree,
            constant,
            features: 1000,
            given: None,
            seed: Seed(0),
        }
    }

    /// D, the number of features.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Takes these forms instead of drawing any.
    pub(super) fn given(mut self, forms: F) -> Self {
        self.given = Some(Arc::new(forms));
        self
    }

    /// Draws the map. `input` prepares raw columns: its scale is the root of the kernel's gamma.
    ///
    /// # Errors
    /// [`Error::Parameter`] on a degree outside of 1 to 64, a negative constant, and given draws
    /// out of their range; [`Error::HostMemory`] when the matrix of the factors would not fit;
    /// [`Error::Shape`] when D or d is 0, or given draws are for other numbers of columns or
    /// features.
    pub fn build(&self, input: Affine) -> Result<PolynomialSketchMap<F>> {
        let kernel = Polynomial::new(self.degree, self.constant)?;
        let (d, s, degree) = (input.columns(), self.features, self.degree as usize);
        if d == 0 || s == 0 {
            return Err(Error::shape(format!(
                "a sketch of {d} columns to {s} features; give at least one of each"
            )));
        }
        let bytes = 4 * d as u128 * degree as u128 * s as u128;
        memory_left::require(bytes, || {
            format!("a sketch of {d} columns to {degree} times {s} features")
        })?;
        let size = SketchSize {
            factors: degree,
            columns: d + usize::from(self.constant != 0.0),
            features: s,
        };
        let forms = match &self.given {
            Some(given) => {
                given.check(&size)?;
                F::clone(given)
            }
            None => F::draw(&size, self.seed),
        };
        Ok(PolynomialSketchMap {
            kernel,
            input,
            features: s,
            forms,
        })
    }
}

impl<F: SketchDraws> MapBuilder for PolynomialSketch<F> {
    fn settings(&self) -> Settings {
        match (&self.given, self.kernel()) {
            (None, Some(kernel)) => Settings::of_map(F::NAME)
                .text("kernel", kernel.spec())
                .text("features", self.features)
                .text("seed", self.seed.0),
            _ => Settings::of_map("custom"),
        }
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        // A degree that is none is an error of `build`.
        let kernel = Polynomial::new(self.degree, self.constant).ok()?;
        Some(Arc::new(kernel))
    }

    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}

/// A sketch of the polynomial kernel with its linear forms drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct PolynomialSketchMap<F> {
    kernel: Polynomial,
    input: Affine,
    /// D.
    features: usize,
    pub(super) forms: F,
}

#[expect(private_bounds, reason = "what a sketch draws is the crate's own")]
impl<F: SketchDraws> PolynomialSketchMap<F> {
    pub(super) fn read(store: &Store) -> Result<Self> {
        let sketch = PolynomialSketch::new(store.get("degree")?, store.get("constant")?);
        let sketch = sketch
            .features(store.get("features")?)
            .given(F::read(store)?);
        sketch.build(Affine::read(store)?)
    }

    fn size(&self) -> SketchSize {
        SketchSize {
            factors: self.kernel.degree() as usize,
            columns: self.input.columns() + usize::from(self.kernel.constant() != 0.0),
            features: self.features,
        }
    }

    /// The linear forms side by side.
    fn side_by_side(&self) -> DenseMap {
        let size = self.size();
        let shape = (self.input.columns(), size.factors, size.features);
        factors::side_by_side(
            shape,
            self.kernel.constant().sqrt(),
            self.forms.entry(&size),
        )
    }
}

impl<F: SketchDraws> FeatureMap for PolynomialSketchMap<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn describe(&self) -> String {
        format!(
            "{} features of the {} kernel, {} to {}",
            F::NAME,
            self.kernel.spec(),
            counted(self.input_dim(), "column"),
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.features
    }

    fn formula(&self) -> Result<Formula> {
        Ok(factors::formula(&self.side_by_side(), self.size().factors))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        factors::load(device, &self.side_by_side(), self.size().factors)
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", F::NAME);
        store.set("degree", self.kernel.degree());
        store.set("constant", self.kernel.constant());
        store.set("features", self.features);
        self.forms.write(store);
        self.input.write(store);
        Ok(())
    }

    /// The factors, and for predictions their product.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        let factors = self.size().factors * self.features;
        factors + targets.map_or(0, |_| self.features)
    }
}
