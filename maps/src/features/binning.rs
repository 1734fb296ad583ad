//! Random binning (Rahimi & Recht 2007, sec. 4): P randomly shifted grids with random pitches; two
//! rows share a bin of a grid with probability k(x, y).
//!
//! The feature of a row is `1/sqrt(P)` at the bin it occupies in each grid and zero elsewhere, so a
//! row is P column numbers and is never stored one-hot; `ConjugateGradients` fits it. A bin is
//! known by 64 bits of hash. Two bins of one grid that n rows occupy get the same hash with
//! probability below n^2 / 2^65: 3e-10 for n = 10^5; [`collisions`] counts them on given rows.

mod columns;
mod dictionary;
mod loaded;
mod shared;

pub use columns::GridColumns;
pub use loaded::Binner;
pub use shared::{collisions, shared_bins};

use super::{Affine, FeatureMap, LoadedMap, MapBuilder, MapData, Structure, names::BINNING};
use crate::{
    Device, Error, Result,
    data::{ChunkSource, Rows},
    device::memory_left,
    error::Remedy,
    flow::{Run, watch_chunks},
    kernels::Kernel,
    ops::binning::Grids,
    progress::Step,
    seed::{Seed, Stream},
    settings::Settings,
    store::Store,
    text::{counted, human_bytes},
};
use dictionary::Dictionary;
use loaded::{HashedRows, LoadedBinning};
use ndarray::Array2;
use std::sync::Arc;

/// What [`BinningMap::indices`] has for a bin without training rows; it contributes nothing.
#[doc(hidden)]
pub const UNSEEN: u32 = u32::MAX;

/// Coordinates are in fixed point within this many lengthscales.
const RANGE: f64 = 32_768.0;

/// Builds a binning map: kernel, number of grids, seed.
///
/// ```
/// use bochner::{Device, data::MemorySource, kernels::Laplacian, seed::Seed};
/// use bochner::features::{Affine, Binning};
/// let x = ndarray::array![[0.0, 1.0], [0.1, 1.1], [5.0, -3.0]];
/// let mut rows = MemorySource::new(x, None)?;
/// let map = Binning::new(Laplacian).grids(64).seed(Seed(1)).fit(
///     Affine::identity(2), &mut rows, &Device::cpu())?;
/// assert!(map.bins() >= 64 && map.bins() <= 3 * 64);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Binning {
    kernel: Arc<dyn Kernel>,
    grids: usize,
    seed: Seed,
    columns: GridColumns,
}

impl Binning {
    /// Bins for `kernel`: 1000 grids from seed 0, until said otherwise.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self {
            kernel: Arc::new(kernel),
            grids: 1000,
            seed: Seed(0),
            columns: GridColumns::All,
        }
    }

    /// P, the number of grids.
    pub fn grids(mut self, grids: usize) -> Self {
        self.grids = grids;
        self
    }

    /// Which columns each grid looks at: all, until said otherwise.
    pub fn columns(mut self, columns: GridColumns) -> Self {
        self.columns = columns;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the grids. `input` takes raw columns to unit lengthscale. Grid g takes its pitches
    /// (from `p(delta) = delta k''(delta)`, one per column) and shifts from block g of its stream,
    /// so that more grids leave the first ones as they are.
    ///
    /// Errors with [`Error::Parameter`] for no grids and for columns whose weights are none, and
    /// with [`Error::Unsupported`] for a kernel that binning cannot serve.
    #[doc(hidden)]
    pub fn draw(&self, input: Affine) -> Result<DrawnGrids> {
        if self.grids == 0 {
            return Err(Error::parameter("the number of grids is 0; use at least 1"));
        }
        let d = input.columns();
        self.columns.check(d)?;
        let bytes = 8 * d as u128 * self.grids as u128;
        memory_left::require(bytes, || format!("a map of {} grids", self.grids))?;
        let mut grids = Grids {
            inverse_dp: Array2::zeros((d, self.grids)),
            shift_dp: Array2::zeros((d, self.grids)),
        };
        let varies = |j: &usize| input.scale()[*j] != 0.0;
        let varying: Vec<usize> = (0..d).filter(varies).collect();
        for g in 0..self.grids {
            let mut draws = self.seed.stream(Stream::Bins, g as u64);
            let (looked_at, width) = self.columns.draw((d, &varying), &mut draws);
            for j in looked_at {
                let pitch = self.kernel.draw_pitch(&mut draws).ok_or_else(|| {
                    let problem = format!(
                        "random binning needs a kernel that is a product over columns of functions \
                         of |x - y| convex on [0, inf), which {} is not",
                        self.kernel.spec()
                    );
                    Error::unsupported(problem)
                        .help(Remedy::UseKernel("laplacian"))
                        .help(Remedy::UseKernel("hat"))
                        // As people spell it: that file names this one in turn.
                        .help(Remedy::UseMap("fourier"))
                })?;
                grids.inverse_dp[[j, g]] = Grids::inverse(pitch * width);
                grids.shift_dp[[j, g]] = (draws.next_u64() >> 32) as u32;
            }
        }
        Ok(DrawnGrids {
            origin: self.columns.describe(&self.kernel.spec()),
            input,
            grids,
        })
    }

    /// Draws the grids and reads `source` once: every bin that one of its rows occupies gets a
    /// column. The columns of a grid are numbered in the order in which rows first occupy them,
    /// whatever the size of chunks, the number of threads and the device. `run` is a `&Device` or a
    /// [`Run`], which hears [`Step::Map`].
    ///
    /// Errors as [`Self::draw`], on rows 32,768 lengthscales from the centre, and on 2^32 - 1 bins.
    pub fn fit(
        &self,
        input: Affine,
        source: &mut dyn ChunkSource,
        run: impl Into<Run>,
    ) -> Result<BinningMap> {
        let run = run.into();
        let drawn = self.draw(input)?;
        let mut dictionary = Dictionary::new(self.grids);
        let mut hashed = HashedRows::new(&drawn, source.targets(), &run)?;
        let rows = hashed.chunk_rows();
        let rows = source.rows().map_or(rows, |n| rows.min(n.max(1)));
        let most = run.held.unwrap_or(u64::MAX);
        let hear = |rows| run.say(Step::Map(rows));
        let seen = watch_chunks(source, rows, hear, |chunk| {
            drawn.check_range(&chunk.x)?;
            // A bin that is learnt twice keeps its first column.
            hashed.each_block(&chunk.x, |_, hashes| {
                dictionary.learn(hashes);
                Ok(())
            })?;
            if dictionary.bytes() <= most {
                Ok(())
            } else {
                Err(Error::Limit {
                    what: "the bins of a binning map".into(),
                    needed: format!("more than {}", human_bytes(dictionary.bytes())),
                    allowed: human_bytes(most),
                    remedies: vec![Remedy::MoreMemory, Remedy::FewerFeatures],
                })
            }
        })?;
        if seen == 0 {
            return Err(Error::shape("the data has no rows"));
        }
        dictionary.finish()?;
        drop(hashed);
        Ok(BinningMap { drawn, dictionary })
    }
}

impl MapBuilder for Binning {
    fn settings(&self) -> Settings {
        Settings::of_map(BINNING)
            .text("kernel", self.kernel.spec())
            .text("features", self.grids)
            .text("seed", self.seed.0)
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(self.kernel.clone())
    }

    fn is_piecewise_constant(&self) -> bool {
        true
    }

    fn is_of_its_kernel(&self) -> bool {
        self.columns == GridColumns::All
    }

    fn resized(&self, features: usize) -> Option<Box<dyn MapBuilder>> {
        Some(Box::new(self.clone().grids(features)))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        let MapData {
            input, source, run, ..
        } = data;
        Ok(Box::new(map.fit(input, source, run)?))
    }
}

/// Grids that are drawn but know no data yet: what a kernel estimate needs.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct DrawnGrids {
    origin: String,
    input: Affine,
    grids: Grids,
}

impl DrawnGrids {
    /// Pitches and shifts.
    pub fn parameters(&self) -> &Grids {
        &self.grids
    }

    /// From raw columns to unit lengthscale.
    pub fn input(&self) -> &Affine {
        &self.input
    }

    /// Hash of the bin of each row in each grid, `[rows, P]`: the same on every device.
    pub fn hashes(&self, run: impl Into<Run>, rows: &Rows) -> Result<Array2<u64>> {
        let mut hashed = HashedRows::new(self, 0, &run.into())?;
        let mut all = Array2::zeros((rows.nrows(), self.grids.inverse_dp.ncols()));
        hashed.each_block(rows, |row0, hashes| {
            let mut to = all.slice_mut(ndarray::s![row0..row0 + hashes.nrows(), ..]);
            to.assign(&hashes);
            Ok(())
        })?;
        Ok(all)
    }

    fn check_range(&self, rows: &Rows) -> Result<()> {
        let u = self.input.apply(rows)?;
        match u
            .indexed_iter()
            .find(|(_, v)| v.abs() >= RANGE || v.is_nan())
        {
            None => Ok(()),
            Some(((i, j), v)) => Err(Error::parameter(format!(
                "row {i} of a chunk lies {v:.3e} lengthscales out in column {j}, binning takes up \
                 to {RANGE}"
            ))
            .help(Remedy::Standardize)
            .help(Remedy::LargerLengthscale)),
        }
    }
}

/// A binning map, fixed at fit: grids, and a column for each bin that a training row occupies.
#[derive(Debug, Clone, PartialEq)]
pub struct BinningMap {
    drawn: DrawnGrids,
    dictionary: Dictionary,
}

impl BinningMap {
    /// Number of grids, P.
    pub fn grids(&self) -> usize {
        self.drawn.grids.inverse_dp.ncols()
    }

    /// Number of occupied bins, D: the columns of the map.
    pub fn bins(&self) -> usize {
        self.dictionary.bins()
    }

    /// The first column of each grid, and D at the end, `[P + 1]`.
    #[doc(hidden)]
    pub fn grid_starts(&self) -> Vec<usize> {
        self.dictionary.starts()
    }

    /// Bytes of the grids and of the tables that find the column of a bin.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        let grids = 8 * self.grids() * self.drawn.input.columns();
        grids as u64 + self.dictionary.bytes()
    }

    /// The grids without their data.
    #[doc(hidden)]
    pub fn drawn(&self) -> &DrawnGrids {
        &self.drawn
    }

    /// The value of a feature that is not zero: `1/sqrt(P)`.
    #[doc(hidden)]
    pub fn value(&self) -> f64 {
        1.0 / (self.grids() as f64).sqrt()
    }

    /// Loads the grids on a device.
    #[doc(hidden)]
    pub fn on(&self, run: impl Into<Run>) -> Result<Binner<'_>> {
        Binner::new(self, &run.into())
    }

    /// The column of each row in each grid, `[rows, P]`, [`UNSEEN`] where no training row was: row
    /// by row the same in any batch, in any order and on any device.
    #[doc(hidden)]
    pub fn indices(&self, run: impl Into<Run>, rows: &Rows) -> Result<Array2<u32>> {
        self.on(run)?.indices(rows)
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let grids = Grids {
            inverse_dp: store.u32("grids.inverse_pitch")?,
            shift_dp: store.u32("grids.shift")?,
        };
        let input = Affine::read(store)?;
        if grids.inverse_dp.dim() != grids.shift_dp.dim()
            || grids.inverse_dp.nrows() != input.columns()
        {
            return Err(Error::shape(format!(
                "pitches of shape {:?} and shifts of {:?} do not fit {} columns",
                grids.inverse_dp.dim(),
                grids.shift_dp.dim(),
                input.columns()
            )));
        }
        let dictionary = Dictionary::read(store, grids.inverse_dp.ncols())?;
        Ok(Self {
            drawn: DrawnGrids {
                origin: store.text("origin")?.to_owned(),
                input,
                grids,
            },
            dictionary,
        })
    }
}

impl FeatureMap for BinningMap {
    fn name(&self) -> &'static str {
        BINNING
    }

    fn describe(&self) -> String {
        format!(
            "binning features of {}, {} to {} in {}",
            self.drawn.origin,
            counted(self.input_dim(), "column"),
            counted(self.bins(), "bin"),
            counted(self.grids(), "grid")
        )
    }

    fn input(&self) -> &Affine {
        &self.drawn.input
    }

    fn output_dim(&self) -> usize {
        self.bins()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Binning(self)
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(LoadedBinning::new(self, device)?))
    }

    /// Sums in f64, and their rounding to f32.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        3 * targets.unwrap_or(0)
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", BINNING);
        store.set("origin", &self.drawn.origin);
        store.put_u32("grids.inverse_pitch", self.drawn.grids.inverse_dp.view());
        store.put_u32("grids.shift", self.drawn.grids.shift_dp.view());
        self.dictionary.write(store);
        self.drawn.input.write(store);
        Ok(())
    }
}
