//! Sketches of the polynomial kernel by products of Hadamard rows with complex signs (Wacker,
//! Kanagawa & Filippone 2022, section 3).

use super::{
    PolynomialSketch, PolynomialSketchMap,
    factors::{self, Part},
    names::HADAMARD_SKETCH,
    polynomial_sketch::{SketchDraws, SketchSize},
};
use crate::{
    Error, Result,
    seed::{Draws, Seed, Stream},
    store::Store,
};
use ndarray::Array2;

/// Builds a Hadamard sketch, whose `z(x)'z(y)` estimates `(x'y + c)^p`
/// ([`Polynomial`](crate::kernels::Polynomial)) without a bias: degree, constant, number of
/// features, seed.
///
/// A complex feature is the product over p factors of `(H D x)_r`, with x and a column `sqrt(c)`
/// filled up with zeros to a power of two n: D a diagonal of random numbers from 1, i, -1, -i,
/// H the Hadamard matrix of n rows, and r a row of it. Features of one block share the diagonals
/// and have different rows, drawn for each factor: such features vary against each other, and their
/// mean less than that of independent ones. D features are D/2 complex ones, but for the first, and
/// of an even D another, which are real products of independent signs.
///
/// With `a = (x'y)^2`, `b = |x|^2 |y|^2 - s` and `e = (x'y)^2 - s`, s the sum of `x_j^2 y_j^2` and
/// x, y with the column of the constant, of m complex features, q pairs of which share a block, and
/// t real ones, the variance is
///
/// `4 [m V + 2 q C] / D^2 + t [(a + b + e)^p - a^p] / D^2`, with
/// `V = [(a + b)^p + (a + e)^p] / 2 - a^p` and
/// `C = [(a - b / (n-1))^p + (a - e / (n-1))^p] / 2 - a^p`.
///
/// Of a [`TensorSketch`](super::TensorSketch) the term of C is missing and that of the last power
/// doubled: at as many features, and for the same products of matrices, it errs more.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, HadamardSketch}, seed::Seed};
/// let map = HadamardSketch::new(2, 1.0).features(64).seed(Seed(1));
/// assert_eq!(map.build(Affine::identity(1000))?.output_dim(), 64);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type HadamardSketch = PolynomialSketch<Turns>;

/// A Hadamard sketch with its diagonals and rows drawn.
pub type HadamardSketchMap = PolynomialSketchMap<Turns>;

/// What is drawn of a Hadamard sketch of p factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Turns {
    /// Entries of the diagonals in quarter turns, 0 to 3: for each factor first those of the
    /// blocks, then the signs of the real features, 0 or 2; `[p * (blocks + real features), d]`, or
    /// `d + 1` with a constant, whose column is the last.
    pub quarters: Array2<u32>,
    /// Rows of the Hadamard matrix, below n, `[p, complex features]`; block by block n of them.
    pub rows: Array2<usize>,
}

/// How the features of a sketch are made up.
#[derive(Debug, Clone, Copy)]
struct Shape {
    factors: usize,
    /// Columns with that of the constant.
    columns: usize,
    /// n.
    padded: usize,
    complex: usize,
    real: usize,
}

impl Shape {
    fn of_sketch(size: &SketchSize) -> Self {
        let real = if size.features.is_multiple_of(2) {
            2
        } else {
            1
        };
        Self {
            factors: size.factors,
            columns: size.columns,
            padded: size.columns.next_power_of_two(),
            complex: (size.features - real) / 2,
            real,
        }
    }

    fn blocks(&self) -> usize {
        self.complex.div_ceil(self.padded)
    }

    /// Diagonals of one factor.
    fn diagonals(&self) -> usize {
        self.blocks() + self.real
    }
}

impl HadamardSketch {
    /// Takes these diagonals and rows instead of drawing any.
    #[doc(hidden)]
    pub fn turns(self, turns: Turns) -> Self {
        self.given(turns)
    }
}

impl HadamardSketchMap {
    /// The diagonals and rows.
    #[doc(hidden)]
    pub fn turns(&self) -> &Turns {
        &self.forms
    }
}

impl SketchDraws for Turns {
    const NAME: &'static str = HADAMARD_SKETCH;

    fn draw(size: &SketchSize, seed: Seed) -> Self {
        let shape = Shape::of_sketch(size);
        let mut quarters = Array2::zeros((shape.factors * shape.diagonals(), shape.columns));
        let mut rows = Array2::zeros((shape.factors, shape.complex));
        for k in 0..shape.factors {
            let mut draws = seed.stream(Stream::Signs, k as u64);
            for diagonal in 0..shape.diagonals() {
                let of = |draws: &mut Draws| {
                    if diagonal < shape.blocks() {
                        draws.below(4)
                    } else {
                        2 * draws.below(2)
                    }
                };
                for j in 0..shape.columns {
                    quarters[[k * shape.diagonals() + diagonal, j]] = of(&mut draws) as u32;
                }
            }
            let mut draws = seed.stream(Stream::Permutation, k as u64);
            for block in 0..shape.blocks() {
                let order = draws.permutation(shape.padded);
                let of_block = (block * shape.padded..shape.complex).zip(order);
                of_block.for_each(|(c, row)| rows[[k, c]] = row);
            }
        }
        Self { quarters, rows }
    }

    fn check(&self, size: &SketchSize) -> Result<()> {
        let shape = Shape::of_sketch(size);
        let quarters = (shape.factors * shape.diagonals(), shape.columns);
        let rows = (shape.factors, shape.complex);
        if self.quarters.dim() != quarters || self.rows.dim() != rows {
            return Err(Error::shape(format!(
                "quarter turns of {:?} and rows of {:?} are to be {quarters:?} and {rows:?}",
                self.quarters.dim(),
                self.rows.dim()
            )));
        }
        let is_turn = |((diagonal, _), &quarter): ((usize, usize), &u32)| {
            let is_real = diagonal % shape.diagonals() >= shape.blocks();
            quarter < 4 && !(is_real && quarter % 2 == 1)
        };
        let turns = self.quarters.indexed_iter().all(is_turn);
        if turns && self.rows.iter().all(|&row| row < shape.padded) {
            Ok(())
        } else {
            Err(Error::parameter(format!(
                "quarter turns are 0 to 3, of real features 0 or 2, and rows below {}",
                shape.padded
            )))
        }
    }

    /// A Hadamard matrix has `(-1)^(ones in r and j)` in row r and column j.
    fn entry(&self, size: &SketchSize) -> impl Fn(usize, usize, usize, Part) -> f64 {
        let (shape, s) = (Shape::of_sketch(size), size.features);
        move |k, j, f, part| {
            // Real features have no row: any would only change signs that are drawn.
            let (diagonal, row) = match (f, factors::is_real(f, s)) {
                (0, _) => (shape.blocks(), 0),
                (_, true) => (shape.blocks() + 1, 0),
                _ => ((f - 1) / shape.padded, self.rows[[k, f - 1]]),
            };
            let even = (row & j).count_ones().is_multiple_of(2);
            let sign = if even { 1.0 } else { -1.0 };
            let quarter = self.quarters[[k * shape.diagonals() + diagonal, j]];
            let turned = match part {
                Part::Real => [1.0, 0.0, -1.0, 0.0],
                Part::Imaginary => [0.0, 1.0, 0.0, -1.0],
            };
            sign * turned[quarter as usize]
        }
    }

    fn read(store: &Store) -> Result<Self> {
        Ok(Self {
            quarters: store.u32("quarters")?,
            rows: store.u32("rows")?.mapv(|row| row as usize),
        })
    }

    fn write(&self, store: &mut Store) {
        store.put_u32("quarters", self.quarters.view());
        let rows = self.rows.mapv(|row| row as u32);
        store.put_u32("rows", rows.view());
    }
}
