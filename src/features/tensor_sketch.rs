//! Tensor sketches of the polynomial kernel (Pham & Pagh 2013), in the frequency domain.

use super::names::TENSOR_SKETCH;
use super::{
    Affine, FeatureMap, Formula, LoadedMap, MapBuilder, MapData,
    factors::{self, Part},
};
use crate::{
    Device, Error, Result,
    device::room,
    kernels::{Kernel, Polynomial},
    ops::projection::DenseMap,
    seed::{Seed, Stream},
    settings::Settings,
    store::Store,
    text::counted,
};
use ndarray::Array2;
use std::{f64::consts::TAU, sync::Arc};

/// Builds a tensor sketch, whose `z(x)'z(y)` estimates `(x'y + c)^p` ([`Polynomial`]) without a
/// bias: degree, constant, number of features, seed.
///
/// Each of p count sketches hashes the columns of `[x, sqrt(c)]` to D places, with random signs;
/// the sketch of the p-fold tensor product of x with itself is the circular convolution of them. A
/// convolution is a product of Fourier transforms, and a transform keeps inner products, so the
/// features are that product itself: `F C_1 x * ... * F C_p x`, with the transforms F folded into
/// the hash matrices C_i. No transform is left to compute, and any D will do.
///
/// With `a = (x'y)^2`, `b = |x|^2 |y|^2 - s` and `e = (x'y)^2 - s`, s the sum of
/// `x_j^2 y_j^2` and x, y with the column of the constant, the variance is
///
/// `[(a + b)^p + (a + e)^p - 2 a^p] / D + g [(a + b + e)^p - (a + b)^p - (a + e)^p + a^p] / D^2`
///
/// with g = 2 for an even D and 1 for an odd one: two hashes of D agree with probability 1/D.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, TensorSketch}, seed::Seed};
/// let map = TensorSketch::new(2, 1.0).features(64).seed(Seed(1));
/// assert_eq!(map.build(Affine::identity(1000))?.output_dim(), 64);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TensorSketch {
    degree: u32,
    constant: f64,
    features: usize,
    given: Option<Arc<Hashes>>,
    seed: Seed,
}

/// The hash functions of count sketches: of sketch k and column j, where it goes and with which
/// sign, each `[p, d]`, or `[p, d + 1]` with a constant, whose column is the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Hashes {
    /// Places, below D.
    pub places: Array2<usize>,
    /// 1 or -1.
    pub signs: Array2<f64>,
}

impl TensorSketch {
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

    /// Takes these hashes instead of drawing any.
    pub fn hashes(mut self, hashes: Hashes) -> Self {
        self.given = Some(Arc::new(hashes));
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the map. `input` prepares raw columns: its scale is the root of the kernel's gamma.
    ///
    /// # Errors
    /// [`Error::Parameter`] on a degree outside of 1 to 64, a negative constant, and hashes beyond
    /// D; [`Error::HostMemory`] when their matrix would not fit; [`Error::Shape`] when D or d is 0,
    /// or given hashes are for other numbers of columns.
    pub fn build(&self, input: Affine) -> Result<TensorSketchMap> {
        let kernel = Polynomial::new(self.degree, self.constant)?;
        let (d, s, degree) = (input.columns(), self.features, self.degree as usize);
        if d == 0 || s == 0 {
            return Err(Error::shape(format!(
                "a sketch of {d} columns to {s} features; give at least one of each"
            )));
        }
        let bytes = 4 * d as u128 * degree as u128 * s as u128;
        room::ask(bytes, || {
            format!("a sketch of {d} columns to {degree} times {s} features")
        })?;
        let columns = d + usize::from(self.constant != 0.0);
        let hashes = match &self.given {
            Some(given) => given.checked((degree, columns), s)?,
            None => self.draw((degree, columns)),
        };
        Ok(TensorSketchMap {
            kernel,
            input,
            features: s,
            hashes,
        })
    }

    fn draw(&self, (degree, columns): (usize, usize)) -> Hashes {
        let mut places = Array2::zeros((degree, columns));
        let mut signs = Array2::zeros((degree, columns));
        for k in 0..degree {
            let mut draws = self.seed.stream(Stream::Hashes, k as u64);
            for j in 0..columns {
                places[[k, j]] = draws.below(self.features as u64) as usize;
                signs[[k, j]] = draws.sign();
            }
        }
        Hashes { places, signs }
    }
}

impl Hashes {
    fn checked(&self, shape: (usize, usize), s: usize) -> Result<Self> {
        if self.places.dim() != shape || self.signs.dim() != shape {
            return Err(Error::shape(format!(
                "hashes of {:?} and signs of {:?} are to be {shape:?}",
                self.places.dim(),
                self.signs.dim()
            )));
        }
        let signs = self.signs.iter().all(|&v| v.abs() == 1.0);
        if signs && self.places.iter().all(|&place| place < s) {
            Ok(self.clone())
        } else {
            Err(Error::parameter(format!(
                "hashes are places below {s}, with signs of 1 and -1"
            )))
        }
    }
}

impl MapBuilder for TensorSketch {
    fn settings(&self) -> Settings {
        match (&self.given, self.kernel()) {
            (None, Some(kernel)) => Settings::of_map(TENSOR_SKETCH)
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

/// A tensor sketch with its hashes drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorSketchMap {
    kernel: Polynomial,
    input: Affine,
    /// D.
    features: usize,
    hashes: Hashes,
}

impl TensorSketchMap {
    /// The hash functions.
    pub fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let given = Hashes {
            places: store.u32("places")?.mapv(|place| place as usize),
            signs: store.f32("signs")?.mapv(f64::from),
        };
        let sketch = TensorSketch::new(store.get("degree")?, store.get("constant")?);
        let sketch = sketch.features(store.get("features")?).hashes(given);
        sketch.build(Affine::read(store)?)
    }

    /// The transformed count sketches side by side: a frequency turns a place as the discrete
    /// Fourier transform does.
    fn sketches(&self) -> DenseMap {
        let s = self.features;
        let waves: Vec<[f64; 2]> = (0..s)
            .map(|turn| TAU * turn as f64 / s as f64)
            .map(|angle| [libm::cos(angle), libm::sin(angle)])
            .collect();
        let entry = |k: usize, j: usize, f: usize, part: Part| {
            let wave = waves[f * self.hashes.places[[k, j]] % s];
            self.hashes.signs[[k, j]]
                * match part {
                    Part::Real => wave[0],
                    Part::Imaginary => wave[1],
                }
        };
        let degree = self.kernel.degree() as usize;
        let shape = (self.input.columns(), degree, s);
        factors::side_by_side(shape, self.kernel.constant().sqrt(), entry)
    }
}

impl FeatureMap for TensorSketchMap {
    fn name(&self) -> &'static str {
        TENSOR_SKETCH
    }

    fn describe(&self) -> String {
        format!(
            "{TENSOR_SKETCH} features of the {} kernel, {} to {}",
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
        Ok(factors::formula(
            &self.sketches(),
            self.hashes.places.nrows(),
        ))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        factors::load(device, &self.sketches(), self.hashes.places.nrows())
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", TENSOR_SKETCH);
        store.set("degree", self.kernel.degree());
        store.set("constant", self.kernel.constant());
        store.set("features", self.features);
        let places = self.hashes.places.mapv(|place| place as u32);
        store.put_u32("places", places.view());
        let signs = self.hashes.signs.mapv(|sign| sign as f32);
        store.put_f32("signs", signs.view());
        self.input.write(store);
        Ok(())
    }

    /// The factors, and for predictions their product.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        let factors = self.hashes.places.nrows() * self.features;
        factors + targets.map_or(0, |_| self.features)
    }
}
