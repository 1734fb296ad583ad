//! Tensor sketches of the polynomial kernel (Pham & Pagh 2013), in the frequency domain.

use super::{
    PolynomialSketch, PolynomialSketchMap,
    factors::Part,
    names::TENSOR_SKETCH,
    polynomial_sketch::{SketchDraws, SketchSize},
};
use crate::{
    Error, Result,
    seed::{Seed, Stream},
    store::Store,
};
use ndarray::Array2;
use std::f64::consts::TAU;

/// Builds a tensor sketch, whose `z(x)'z(y)` estimates `(x'y + c)^p`
/// ([`Polynomial`](crate::kernels::Polynomial)) without a bias: degree, constant, number of
/// features, seed.
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
pub type TensorSketch = PolynomialSketch<Hashes>;

/// A tensor sketch with its hashes drawn.
pub type TensorSketchMap = PolynomialSketchMap<Hashes>;

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
    /// Takes these hashes instead of drawing any.
    #[doc(hidden)]
    pub fn hashes(self, hashes: Hashes) -> Self {
        self.given(hashes)
    }
}

impl TensorSketchMap {
    /// The hash functions.
    #[doc(hidden)]
    pub fn hashes(&self) -> &Hashes {
        &self.forms
    }
}

impl SketchDraws for Hashes {
    const NAME: &'static str = TENSOR_SKETCH;

    fn draw(size: &SketchSize, seed: Seed) -> Self {
        let mut places = Array2::zeros((size.factors, size.columns));
        let mut signs = Array2::zeros((size.factors, size.columns));
        for k in 0..size.factors {
            let mut draws = seed.stream(Stream::Hashes, k as u64);
            for j in 0..size.columns {
                places[[k, j]] = draws.below(size.features as u64) as usize;
                signs[[k, j]] = draws.sign();
            }
        }
        Self { places, signs }
    }

    fn check(&self, size: &SketchSize) -> Result<()> {
        let (shape, s) = ((size.factors, size.columns), size.features);
        if self.places.dim() != shape || self.signs.dim() != shape {
            return Err(Error::shape(format!(
                "hashes of {:?} and signs of {:?} are to be {shape:?}",
                self.places.dim(),
                self.signs.dim()
            )));
        }
        let signs = self.signs.iter().all(|&v| v.abs() == 1.0);
        if signs && self.places.iter().all(|&place| place < s) {
            Ok(())
        } else {
            Err(Error::parameter(format!(
                "hashes are places below {s}, with signs of 1 and -1"
            )))
        }
    }

    /// The transform of a count sketch: a frequency turns a place as the discrete Fourier transform
    /// does.
    fn entry(&self, size: &SketchSize) -> impl Fn(usize, usize, usize, Part) -> f64 {
        let s = size.features;
        let waves: Vec<[f64; 2]> = (0..s)
            .map(|turn| TAU * turn as f64 / s as f64)
            .map(|angle| [libm::cos(angle), libm::sin(angle)])
            .collect();
        move |k, j, f, part| {
            let wave = waves[f * self.places[[k, j]] % s];
            self.signs[[k, j]]
                * match part {
                    Part::Real => wave[0],
                    Part::Imaginary => wave[1],
                }
        }
    }

    fn read(store: &Store) -> Result<Self> {
        Ok(Self {
            places: store.u32("places")?.mapv(|place| place as usize),
            signs: store.f32("signs")?.mapv(f64::from),
        })
    }

    fn write(&self, store: &mut Store) {
        let places = self.places.mapv(|place| place as u32);
        store.put_u32("places", places.view());
        let signs = self.signs.mapv(|sign| sign as f32);
        store.put_f32("signs", signs.view());
    }
}
