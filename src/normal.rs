//! [`NormalEquations`]: all that a linear fit needs of the data. Sums only, so that parts computed
//! anywhere merge.

mod accumulation;
pub(crate) mod double;
mod encode;
mod fade;
mod file;
mod of_targets;
mod resume;
mod sparse;

pub use accumulation::{ADD_EVERY, COPY_EVERY};
pub(crate) use accumulation::{Accumulation, SUM_BYTES};
pub use resume::{Keep, Resume};
pub(crate) use resume::{check_all_there, keeping};

use crate::{
    Error, Result, data::ChunkSource, features::FeatureMap, flow::Run, linalg::compensated,
    model::Targets, store::Store, sums::rows_together,
};
use ndarray::{Array1, Array2};
use std::path::Path;

const KIND: &str = "normal-equations";

/// `Z'Z`, `Z'Y` and the sums beside them, in f64: a monoid under [`Self::merge`].
#[derive(Debug, Clone, PartialEq)]
pub struct NormalEquations {
    /// Number of rows, n.
    pub rows: u64,
    /// The sum of the rows' weights, which is the n of every formula; without weights, their
    /// number. Every sum below counts a row of weight w as often as that.
    pub weight: f64,
    /// The sum of the logarithms of the weights, of which only a likelihood asks: minus infinity
    /// where a row has weight 0, and NaN where nobody knows.
    pub log_weight: f64,
    /// The sum of the squares of the weights, by which rows count as `weight^2 / weight_squares` of
    /// equal weight; NaN where nobody knows.
    pub weight_squares: f64,
    /// `Z'Z`, `[D, D]`, lower triangle. Above the diagonal lies what rounding took from it: less
    /// than 2^-52 of the sums, where there are some thousands of rows, and zeros otherwise.
    pub gram_dd: Array2<f64>,
    /// `Z'Y`, `[D, t]`.
    pub zty_dt: Array2<f64>,
    /// Column sums of Z, `[D]`.
    pub z_sum_d: Array1<f64>,
    /// Column sums of Y, `[t]`.
    pub y_sum_t: Array1<f64>,
    /// Sums of squares of Y, `[t]`.
    pub y_square_t: Array1<f64>,
    /// What rounding took from the other sums: of the diagonal of `Z'Z`, then of the numbers
    /// beside it. Empty where it took nothing.
    #[doc(hidden)]
    pub rest: Vec<f64>,
}

impl NormalEquations {
    /// No rows.
    pub fn zero(features: usize, targets: usize) -> Self {
        Self {
            rows: 0,
            weight: 0.0,
            log_weight: 0.0,
            weight_squares: 0.0,
            gram_dd: Array2::zeros((features, features)),
            zty_dt: Array2::zeros((features, targets)),
            z_sum_d: Array1::zeros(features),
            y_sum_t: Array1::zeros(targets),
            y_square_t: Array1::zeros(targets),
            rest: Vec::new(),
        }
    }

    /// The numbers beside `Z'Z`, one after another.
    fn beside(&self) -> impl Iterator<Item = &f64> {
        let vectors = self.z_sum_d.iter().chain(&self.y_sum_t);
        let vectors = self.zty_dt.iter().chain(vectors).chain(&self.y_square_t);
        vectors.chain([&self.weight, &self.log_weight, &self.weight_squares])
    }

    /// Gives each number that has none a rest of 0, and says how many the diagonal of `Z'Z` has.
    fn fill_rests(&mut self) -> usize {
        let features = self.gram_dd.nrows();
        let numbers = features + self.beside().count();
        self.rest.resize(numbers, 0.0);
        features
    }

    /// `Z'Z`, and what rounding took from its diagonal: see [`compensated`].
    fn gram_and_rest(&mut self) -> (&mut Array2<f64>, &mut [f64]) {
        let features = self.fill_rests();
        (&mut self.gram_dd, &mut self.rest[..features])
    }

    /// Adds `sign` times other sums of the same shape, but for the number of rows. The sums come
    /// out the same in whatever order they are added.
    fn add(&mut self, other: &Self, sign: f64) {
        let of_diagonal = other.rest.get(..other.gram_dd.nrows()).unwrap_or_default();
        let others = (&other.gram_dd, of_diagonal);
        compensated::add_all(self.gram_and_rest(), others, sign);
        self.add_beside(other, sign);
    }

    /// As [`Self::add`], of what is beside `Z'Z`.
    fn add_beside(&mut self, other: &Self, sign: f64) {
        let features = self.fill_rests();
        let vectors = self.z_sum_d.iter_mut().chain(&mut self.y_sum_t);
        let vectors = self.zty_dt.iter_mut().chain(vectors);
        let vectors = vectors.chain(&mut self.y_square_t);
        let numbers = [
            &mut self.weight,
            &mut self.log_weight,
            &mut self.weight_squares,
        ];
        let sums = vectors.chain(numbers);
        let pairs = sums.zip(&mut self.rest[features..]);
        for (k, (pair, value)) in pairs.zip(other.beside()).enumerate() {
            let rest = other.rest.get(features + k).copied().unwrap_or_default();
            compensated::add(pair, (sign * value, sign * rest));
        }
        if self.rest.iter().all(|&rest| rest == 0.0) {
            self.rest.clear();
        }
    }

    /// Streams `source` through `map` on a device: chunks are read, featurized and summed; the
    /// features never leave the device. `run` is a `&Device` or a [`Run`], which hears
    /// [`Step::Rows`](crate::Step::Rows). The sums are read back at the end, and at multiples of
    /// [`COPY_EVERY`] rows.
    ///
    /// Errors on a source without rows, or without targets where some are wanted
    /// ([`Targets::none`]), on a label that is no class, and on everything that sources and devices
    /// report.
    pub fn accumulate(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: impl Into<Run>,
    ) -> Result<Self> {
        Accumulation::new(map, targets, run, COPY_EVERY).all(source)
    }

    /// As [`Self::accumulate`] of a part of the rows, which may be none, or all of weight 0; behind
    /// those that were summed before.
    pub(crate) fn of_part(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: impl Into<Run>,
        resume: Resume<'_, Self>,
    ) -> Result<Self> {
        Accumulation::new(map, targets, run, COPY_EVERY).part(source, resume)
    }

    /// The sums of some rows, in a browser too. They are fewer than [`COPY_EVERY`].
    pub(crate) async fn of_part_later(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: &Run,
    ) -> Result<Self> {
        let accumulation = Accumulation::new(map, targets, run, COPY_EVERY);
        accumulation.part_later(source).await
    }

    /// Adds the rows of `source` after the first [`Self::rows`], which are counted already;
    /// otherwise as [`Self::accumulate`], with the same map, targets and source every time.
    ///
    /// A GPU can be lost in the middle. Its sums therefore go to the host at multiples of
    /// [`COPY_EVERY`] rows. After such an error the sums are those of the rows up to there,
    /// [`Self::rows`] says of how many, and the same call goes on behind them, on any device: on
    /// the same one to the bits of a fit that nothing stopped.
    ///
    /// ```
    /// use bochner::{Device, data::MemorySource, features::{Affine, Fourier}, kernels::Gaussian};
    /// use bochner::models::Targets;
    /// use bochner::solve::NormalEquations;
    /// use ndarray::Array2;
    /// let x = Array2::from_shape_fn((40, 1), |(i, _)| i as f64);
    /// let map = Fourier::new(Gaussian).features(8).build(Affine::identity(1))?;
    /// let targets = Targets::Real { columns: 1, shift: vec![0.0] };
    /// let (device, mut sums) = (Device::cpu(), NormalEquations::zero(8, 1));
    /// for rows in [15, 40] {
    ///     // The first call stands for one that ended early.
    ///     let x = x.slice(ndarray::s![..rows, ..]).to_owned();
    ///     let mut source = MemorySource::new(&x, Some(x.clone()))?;
    ///     sums.resume(&map, &mut source, &targets, &device)?;
    ///     assert_eq!(sums.rows, rows as u64);
    /// }
    /// assert_eq!(sums.y_sum_t[0], 780.0);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors as [`Self::accumulate`] does, with [`Error::DeviceLost`] with the number of rows
    /// kept, and with [`Error::Shape`] when the sums are for other features or targets, or of more
    /// rows than `source` has.
    #[doc(hidden)]
    pub fn resume(
        &mut self,
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: impl Into<Run>,
    ) -> Result<()> {
        Accumulation::new(map, targets, run, COPY_EVERY).add(source, self)
    }

    /// Adds the sums of other rows. Parts of the rows, cut at multiples of [`ADD_EVERY`] rows and
    /// summed on the CPU, merge to the bits of all rows summed at once, in whatever order: sums
    /// keep what rounding takes from them. Other parts agree to 1e-6.
    ///
    /// Errors when the shapes differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.zty_dt.dim() != other.zty_dt.dim() {
            return Err(Error::shape(format!(
                "normal equations of {:?} and {:?} features and targets do not merge",
                self.zty_dt.dim(),
                other.zty_dt.dim()
            )));
        }
        self.rows = rows_together(self.rows, other.rows)?;
        self.add(other, 1.0);
        Ok(())
    }

    /// Takes the sums of some of the rows out again, which forgets them. Rounding stays: what is
    /// left is as exact as the sums that were there.
    ///
    /// Errors when the shapes differ, and when the others are of more rows or weight.
    pub fn subtract(&mut self, other: &Self) -> Result<()> {
        if self.zty_dt.dim() != other.zty_dt.dim() {
            return Err(Error::shape(format!(
                "normal equations of {:?} and {:?} features and targets are not subtracted",
                self.zty_dt.dim(),
                other.zty_dt.dim()
            )));
        }
        let rounding = 1e-12 * self.weight;
        if other.rows > self.rows || other.weight > self.weight + rounding {
            return Err(Error::shape(format!(
                "sums of {} rows (weight {}) hold no {} rows (weight {}) to forget",
                self.rows, self.weight, other.rows, other.weight
            )));
        }
        self.rows -= other.rows;
        self.add(other, -1.0);
        self.weight = self.weight.max(0.0);
        self.weight_squares = self.weight_squares.max(0.0);
        Ok(())
    }

    /// Writes the sums to a file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.store().save(KIND, path.as_ref())
    }

    /// The bytes of the file that [`Self::save`] writes, to send to where sums are merged.
    ///
    /// ```
    /// use bochner::solve::NormalEquations;
    /// let sums = NormalEquations::zero(3, 1);
    /// assert_eq!(NormalEquations::from_bytes(&sums.to_bytes()?)?, sums);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.store().to_bytes(KIND)
    }

    /// What [`Self::to_bytes`] gave. Errors with [`Error::Format`] on other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    fn store(&self) -> Store {
        let mut store = Store::default();
        self.write(&mut store);
        store
    }
}
