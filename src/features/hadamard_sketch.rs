//! Sketches of the polynomial kernel by products of Hadamard rows with complex signs (Wacker,
//! Kanagawa & Filippone 2022, section 3).

use super::names::HADAMARD_SKETCH;
use super::{
    Affine, FeatureMap, Formula, LoadedMap, MapBuilder, MapData,
    factors::{self, Part},
};
use crate::{
    Device, Error, Result,
    device::room,
    kernels::{Kernel, Polynomial},
    ops::projection::DenseMap,
    seed::{Draws, Seed, Stream},
    settings::Settings,
    store::Store,
    text::counted,
};
use ndarray::Array2;
use std::sync::Arc;

/// Builds a Hadamard sketch, whose `z(x)'z(y)` estimates `(x'y + c)^p` ([`Polynomial`]) without a
/// bias: degree, constant, number of features, seed.
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
#[derive(Debug, Clone)]
pub struct HadamardSketch {
    degree: u32,
    constant: f64,
    features: usize,
    given: Option<Arc<Turns>>,
    seed: Seed,
}

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
    fn of(degree: usize, columns: usize, features: usize) -> Self {
        let real = match features % 2 {
            0 => 2,
            _ => 1,
        };
        Self {
            factors: degree,
            columns,
            padded: columns.next_power_of_two(),
            complex: (features - real) / 2,
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

    /// Takes these diagonals and rows instead of drawing any.
    pub fn turns(mut self, turns: Turns) -> Self {
        self.given = Some(Arc::new(turns));
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
    /// [`Error::Parameter`] on a degree outside of 1 to 64, a negative constant, quarter turns
    /// above 3 and rows beyond n; [`Error::HostMemory`] when the matrix of the factors would not
    /// fit; [`Error::Shape`] when D or d is 0, or what is given is for other numbers of columns or
    /// features.
    pub fn build(&self, input: Affine) -> Result<HadamardSketchMap> {
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
        let shape = Shape::of(degree, columns, s);
        let turns = match &self.given {
            Some(given) => given.checked(&shape)?,
            None => self.draw(&shape),
        };
        Ok(HadamardSketchMap {
            kernel,
            input,
            features: s,
            turns,
        })
    }

    fn draw(&self, shape: &Shape) -> Turns {
        let mut quarters = Array2::zeros((shape.factors * shape.diagonals(), shape.columns));
        let mut rows = Array2::zeros((shape.factors, shape.complex));
        for k in 0..shape.factors {
            let mut draws = self.seed.stream(Stream::Signs, k as u64);
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
            let mut draws = self.seed.stream(Stream::Permutation, k as u64);
            for block in 0..shape.blocks() {
                let order = draws.permutation(shape.padded);
                let of_block = (block * shape.padded..shape.complex).zip(order);
                of_block.for_each(|(c, row)| rows[[k, c]] = row);
            }
        }
        Turns { quarters, rows }
    }
}

impl Turns {
    fn checked(&self, shape: &Shape) -> Result<Self> {
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
            Ok(self.clone())
        } else {
            Err(Error::parameter(format!(
                "quarter turns are 0 to 3, of real features 0 or 2, and rows below {}",
                shape.padded
            )))
        }
    }
}

impl MapBuilder for HadamardSketch {
    fn settings(&self) -> Settings {
        match (&self.given, self.kernel()) {
            (None, Some(kernel)) => Settings::of_map(HADAMARD_SKETCH)
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

/// A Hadamard sketch with its diagonals and rows drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct HadamardSketchMap {
    kernel: Polynomial,
    input: Affine,
    /// D.
    features: usize,
    turns: Turns,
}

impl HadamardSketchMap {
    /// The diagonals and rows.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let given = Turns {
            quarters: store.u32("quarters")?,
            rows: store.u32("rows")?.mapv(|row| row as usize),
        };
        let sketch = HadamardSketch::new(store.get("degree")?, store.get("constant")?);
        let sketch = sketch.features(store.get("features")?).turns(given);
        sketch.build(Affine::read(store)?)
    }

    /// The factors side by side. A Hadamard matrix has `(-1)^(ones in r and j)` in row r and column
    /// j.
    fn factors(&self) -> DenseMap {
        let (d, s) = (self.input.columns(), self.features);
        let (degree, columns) = (self.kernel.degree() as usize, self.turns.quarters.ncols());
        let shape = Shape::of(degree, columns, s);
        let entry = |k: usize, j: usize, f: usize, part: Part| {
            // Real features have no row: any would only change signs that are drawn.
            let (diagonal, row) = match (f, factors::is_real(f, s)) {
                (0, _) => (shape.blocks(), 0),
                (_, true) => (shape.blocks() + 1, 0),
                _ => ((f - 1) / shape.padded, self.turns.rows[[k, f - 1]]),
            };
            let sign = match (row & j).count_ones() % 2 {
                0 => 1.0,
                _ => -1.0,
            };
            let quarter = self.turns.quarters[[k * shape.diagonals() + diagonal, j]];
            let turned = match part {
                Part::Real => [1.0, 0.0, -1.0, 0.0],
                Part::Imaginary => [0.0, 1.0, 0.0, -1.0],
            };
            sign * turned[quarter as usize]
        };
        factors::side_by_side((d, degree, s), self.kernel.constant().sqrt(), entry)
    }
}

impl FeatureMap for HadamardSketchMap {
    fn name(&self) -> &'static str {
        HADAMARD_SKETCH
    }

    fn describe(&self) -> String {
        format!(
            "{HADAMARD_SKETCH} features of the {} kernel, {} to {}",
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
        Ok(factors::formula(&self.factors(), self.turns.rows.nrows()))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        factors::load(device, &self.factors(), self.turns.rows.nrows())
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", HADAMARD_SKETCH);
        store.set("degree", self.kernel.degree());
        store.set("constant", self.kernel.constant());
        store.set("features", self.features);
        store.put_u32("quarters", self.turns.quarters.view());
        let rows = self.turns.rows.mapv(|row| row as u32);
        store.put_u32("rows", rows.view());
        self.input.write(store);
        Ok(())
    }

    /// The factors, and for predictions their product.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        let factors = self.turns.rows.nrows() * self.features;
        factors + targets.map_or(0, |_| self.features)
    }
}
