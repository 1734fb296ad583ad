//! [`NormalEquations`]: the sufficient statistics of a linear fit. Sums only, so that parts
//! computed on different machines merge.

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

/// `Z'Z`, `Z'Y` and the related sums, in f64: a monoid under [`Self::merge`].
#[derive(Debug, Clone, PartialEq)]
pub struct NormalEquations {
    /// Number of rows, n.
    pub rows: u64,
    /// The sum of the rows' weights, which is the n of every formula; the number of rows if there
    /// are no weights. Every sum below multiplies a row by its weight w.
    pub weight: f64,
    /// The sum of the logarithms of the weights, used by likelihoods only: minus infinity if a row
    /// has weight 0, and NaN if unknown.
    pub log_weight: f64,
    /// The sum of the squared weights; `weight^2 / weight_squares` is the effective number of rows.
    /// NaN if unknown.
    pub weight_squares: f64,
    /// `Z'Z`, `[D, D]`, lower triangle. The part above the diagonal holds the rounding errors of
    /// the lower triangle: below 2^-52 of the sums for some thousands of rows, and zeros otherwise.
    pub gram_dd: Array2<f64>,
    /// `Z'Y`, `[D, t]`.
    pub zty_dt: Array2<f64>,
    /// Column sums of Z, `[D]`.
    pub z_sum_d: Array1<f64>,
    /// Column sums of Y, `[t]`.
    pub y_sum_t: Array1<f64>,
    /// Sums of squares of Y, `[t]`.
    pub y_square_t: Array1<f64>,
    /// Rounding errors of the other sums: those of the diagonal of `Z'Z`, then those of all further
    /// sums. Empty if there are none.
    #[doc(hidden)]
    pub rest: Vec<f64>,
}

impl NormalEquations {
    /// Sums of no rows.
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

    /// All sums except `Z'Z`, in a fixed order.
    fn beside(&self) -> impl Iterator<Item = &f64> {
        let vectors = self.z_sum_d.iter().chain(&self.y_sum_t);
        let vectors = self.zty_dt.iter().chain(vectors).chain(&self.y_square_t);
        vectors.chain([&self.weight, &self.log_weight, &self.weight_squares])
    }

    /// Fills `rest` up with zeros, and returns how many entries belong to the diagonal of `Z'Z`.
    fn fill_rests(&mut self) -> usize {
        let features = self.gram_dd.nrows();
        let numbers = features + self.beside().count();
        self.rest.resize(numbers, 0.0);
        features
    }

    /// `Z'Z` and the rounding errors of its diagonal: see [`compensated`].
    fn gram_and_rest(&mut self) -> (&mut Array2<f64>, &mut [f64]) {
        let features = self.fill_rests();
        (&mut self.gram_dd, &mut self.rest[..features])
    }

    /// Adds `sign` times other sums of the same shape, except the number of rows. The result does
    /// not depend on the order of additions.
    fn add(&mut self, other: &Self, sign: f64) {
        let of_diagonal = other.rest.get(..other.gram_dd.nrows()).unwrap_or_default();
        let others = (&other.gram_dd, of_diagonal);
        compensated::add_all(self.gram_and_rest(), others, sign);
        self.add_beside(other, sign);
    }

    /// Does [`Self::add`] for all sums except `Z'Z`.
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
    /// features never leave the device. `run` is a `&Device` or a [`Run`], whose callback gets
    /// [`Step::Rows`](crate::Step::Rows). The sums are read back at the end, and at multiples of
    /// [`COPY_EVERY`] rows.
    ///
    /// Errors if the source has no rows, or has no targets where some are required
    /// ([`Targets::none`]), on a label that is not a class, and on all errors of sources and
    /// devices.
    pub fn accumulate(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: impl Into<Run>,
    ) -> Result<Self> {
        Accumulation::new(map, targets, run, COPY_EVERY).all(source)
    }

    /// Does [`Self::accumulate`] for a part of the rows, which may be empty or all of weight 0, and
    /// continues from the sums in `resume`.
    pub(crate) fn of_part(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: impl Into<Run>,
        resume: Resume<'_, Self>,
    ) -> Result<Self> {
        Accumulation::new(map, targets, run, COPY_EVERY).part(source, resume)
    }

    /// The sums of fewer than [`COPY_EVERY`] rows; works in a browser, too.
    pub(crate) async fn of_part_later(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: &Run,
    ) -> Result<Self> {
        let accumulation = Accumulation::new(map, targets, run, COPY_EVERY);
        accumulation.part_later(source).await
    }

    /// Adds the rows of `source` after the first [`Self::rows`], which are already counted.
    /// Otherwise like [`Self::accumulate`]; map, targets and source have to be the same in every
    /// call.
    ///
    /// A GPU can be lost during the work. Its sums therefore go to the host at multiples of
    /// [`COPY_EVERY`] rows. After such an error the sums hold the first [`Self::rows`] rows, and
    /// the same call continues after them on any device. On the same device the result has the bits
    /// of an uninterrupted fit.
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
    ///     // The first call stands in for an interrupted one.
    ///     let x = x.slice(ndarray::s![..rows, ..]).to_owned();
    ///     let mut source = MemorySource::new(&x, Some(x.clone()))?;
    ///     sums.resume(&map, &mut source, &targets, &device)?;
    ///     assert_eq!(sums.rows, rows as u64);
    /// }
    /// assert_eq!(sums.y_sum_t[0], 780.0);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors as [`Self::accumulate`] does, with [`Error::DeviceLost`] and the number of summed
    /// rows, and with [`Error::Shape`] if the sums have other features or targets, or more rows
    /// than `source`.
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
    /// summed on the CPU, merge to the same bits as all rows summed at once, in any order: the sums
    /// keep their rounding errors. Other parts agree to 1e-6.
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

    /// Subtracts the sums of some of the rows, so that a fit forgets them. Rounding errors stay:
    /// the result is as exact as the sums before.
    ///
    /// Errors if the shapes differ, or if the other sums have more rows or weight.
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

    /// Writes the sums to a file, atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.store().save(KIND, path.as_ref())
    }

    /// Returns the bytes of the file that [`Self::save`] writes, to send to another process.
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

    /// Reads bytes of [`Self::to_bytes`]. Errors with [`Error::Format`] on other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    fn store(&self) -> Store {
        let mut store = Store::default();
        self.write(&mut store);
        store
    }
}
