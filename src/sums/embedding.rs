//! Kernel mean embeddings: the mean of features over rows, from sums that merge.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, Pieces},
    features::{BinningMap, Branch, Destination, FeatureMap, Featurizer, Structure},
    flow::{RowNeeds, Run, watch_chunks},
    linalg::entries,
    parallel,
    progress::Step,
    solve::BinnedRows,
    store::Store,
    sums::{Keep, Resume, Sums, check_all_there, check_some, rows_together},
};
use ndarray::{Array1, ArrayView2, Axis};
use std::{mem, ops::Range};

/// Minimum number of columns that one thread sums.
const COLUMNS: usize = 64;

/// The kernel mean embedding of rows on features (Smola, Gretton, Song & Schoelkopf 2007): sums of
/// their weighted features, in f64.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Number of rows.
    pub(crate) rows: u64,
    /// The sum of their weights.
    pub(crate) weight: f64,
    /// The sum of the squares of their weights.
    pub(crate) weight_squares: f64,
    /// `sum_i w_i z_i`, `[D]`.
    pub(crate) sum_d: Array1<f64>,
    /// `sum_i w_i^2 |z_i|^2`: the share of single rows in the square of the sum.
    pub(crate) own: f64,
}

impl Embedding {
    fn zero(features: usize) -> Self {
        Self {
            rows: 0,
            weight: 0.0,
            weight_squares: 0.0,
            sum_d: Array1::zeros(features),
            own: 0.0,
        }
    }

    /// Sums the rows of `source` in one pass; there may be none. Features are summed on the host,
    /// so that a GPU reads them back.
    ///
    /// Errors as sources and devices do, and if there are fewer rows than were summed before.
    pub(crate) fn accumulate(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        run: &Run,
        resume: Resume<'_, Self>,
    ) -> Result<Self> {
        let mut sums = vec![resume.from.unwrap_or_else(|| Self::zero(map.output_dim()))];
        let mut nobody = Ok;
        let keep: &mut Keep<'_, Self> = resume.keep.unwrap_or(&mut nobody);
        // Rows are added one at a time: sums may end and resume at any row.
        let before = sums[0].rows;
        let mut pieces = Pieces::new(source)?;
        let source = &mut pieces.piece(before, u64::MAX);
        match map.structure() {
            Structure::Binning(map) => Self::of_bins(map, source, run, (&mut sums[0], keep))?,
            _ => Self::of_any(&[map], source, run, (&mut sums, keep))?,
        }
        check_all_there(before, pieces.rows_read())?;
        Ok(sums.swap_remove(0))
    }

    /// Does the same for several maps with stored features, in one pass for all of them.
    pub(crate) fn of_each(
        maps: &[&dyn FeatureMap],
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<Vec<Self>> {
        let zeros = maps.iter().map(|map| Self::zero(map.output_dim()));
        let mut sums: Vec<_> = zeros.collect();
        Self::of_any(maps, source, run, (&mut sums, &mut Ok))?;
        sums.iter().try_for_each(Self::check)?;
        Ok(sums)
    }

    /// Like [`Self::of_each`] for rows that may be none, added to `sums`; `keep` gets the first
    /// sums.
    fn of_any(
        maps: &[&dyn FeatureMap],
        source: &mut dyn ChunkSource,
        run: &Run,
        (sums, keep): (&mut [Self], &mut Keep<'_, Self>),
    ) -> Result<()> {
        let branches = maps.iter().map(|map| Branch::features(*map));
        let branches = branches.collect::<Result<_>>()?;
        let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
        featurizer.on_host(source, weights, |branches, weight_n: Vec<f64>| {
            for (sums, z_nd) in sums.iter_mut().zip(branches) {
                sums.add(*z_nd, &weight_n);
            }
            sums.first_mut().map_or(Ok(()), |sums| sums.keep(keep))
        })?;
        Ok(())
    }

    fn of_bins(
        map: &BinningMap,
        source: &mut dyn ChunkSource,
        run: &Run,
        (sums, keep): (&mut Self, &mut Keep<'_, Self>),
    ) -> Result<()> {
        let needs = RowNeeds::read(source.columns() + source.targets());
        // Bin numbers in two layouts, by row and by grid: 8 bytes for each grid.
        let chunk = needs.and_bytes(8 * map.grids()).rows_of(run)?;
        let mut binner = map.on(run)?;
        let hear = |rows| run.say(Step::Rows(rows));
        watch_chunks(source, chunk, hear, |chunk| {
            let weight_n = weights(&chunk, 0..chunk.x.nrows());
            let mut binned = BinnedRows::new(map, 0, 1.0);
            binned.push(binner.indices(&chunk.x)?.view());
            let sum_d = sums.sum_d.as_slice_mut().expect("one after another");
            binned.add_weighted(&weight_n, sum_d);
            sums.count(&weight_n);
            // Each row has one bin in every grid, and therefore length 1.
            for w in &weight_n {
                sums.own += w * w;
            }
            sums.keep(keep)
        })?;
        Ok(())
    }

    /// Passes the sums so far to the `keep` callback.
    fn keep(&mut self, keep: &mut Keep<'_, Self>) -> Result<()> {
        *self = keep(mem::replace(self, Self::zero(0)))?;
        Ok(())
    }

    fn count(&mut self, weight_n: &[f64]) {
        self.rows += weight_n.len() as u64;
        for w in weight_n {
            self.weight += w;
            self.weight_squares += w * w;
        }
    }

    /// Adds rows of features, `[m, D]`. Every thread sums its own columns over the rows in order,
    /// so that the sums depend neither on threads nor on chunks.
    fn add(&mut self, z_nd: ArrayView2<'_, f32>, weight_n: &[f64]) {
        self.count(weight_n);
        let width = COLUMNS.max(self.sum_d.len().div_ceil(rayon::current_num_threads()));
        let mut strips: Vec<_> = (self.sum_d.axis_chunks_iter_mut(Axis(0), width))
            .zip(z_nd.axis_chunks_iter(Axis(1), width))
            .collect();
        parallel::usual().parts(&mut strips, &|_, (sum, z_nd)| {
            for (z, &w) in z_nd.rows().into_iter().zip(weight_n) {
                entries::add_multiple(sum.view_mut(), w, z);
            }
        });
        let rows = z_nd.nrows().min(weight_n.len());
        let own = parallel::at_least(64).numbers(rows, &|i| {
            let (z, w) = (z_nd.row(i), weight_n[i]);
            w * w * z.fold(0.0, |sum, &z| sum + f64::from(z) * f64::from(z))
        });
        self.own = own.iter().fold(self.own, |sum, own| sum + own);
    }

    /// The mean of the features, `[D]`. Errors with [`Error::Shape`] when there are no rows.
    pub fn mean(&self) -> Result<Array1<f64>> {
        self.check()?;
        Ok(&self.sum_d / self.weight)
    }
}

impl Sums for Embedding {
    const NAME: &'static str = "embedding";

    fn rows(&self) -> u64 {
        self.rows
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.check_shape(other)?;
        self.rows = rows_together(self.rows, other.rows)?;
        self.weight += other.weight;
        self.weight_squares += other.weight_squares;
        self.sum_d += &other.sum_d;
        self.own += other.own;
        Ok(())
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        self.check_shape(other)?;
        let rounding = 1e-12 * self.weight;
        if other.rows > self.rows || other.weight > self.weight + rounding {
            return Err(Error::shape(format!(
                "sums of {} rows (weight {}) hold no {} rows (weight {}) to forget",
                self.rows, self.weight, other.rows, other.weight
            )));
        }
        self.rows -= other.rows;
        self.weight = (self.weight - other.weight).max(0.0);
        self.weight_squares = (self.weight_squares - other.weight_squares).max(0.0);
        self.sum_d -= &other.sum_d;
        self.own -= other.own;
        Ok(())
    }

    fn fade(&mut self, share: f64) {
        self.weight *= share;
        self.sum_d *= share;
        self.weight_squares *= share * share;
        self.own *= share * share;
    }

    fn check(&self) -> Result<()> {
        check_some(self.rows, self.weight)
    }

    fn are_of(&self, features: usize, _: usize) -> bool {
        self.sum_d.len() == features
    }

    fn write(&self, store: &mut Store) {
        store.set("rows", self.rows);
        store.set("weight", self.weight);
        store.set("weight_squares", self.weight_squares);
        store.set("own", self.own);
        store.put_vector("z_sum", &self.sum_d.to_vec());
    }

    fn read(store: &Store) -> Result<Self> {
        let sum_1d = store.f64("z_sum")?;
        let figure = |name| {
            let value: f64 = store.get(name)?;
            if value.is_finite() {
                Ok(value)
            } else {
                Err(Error::format(format!("property {name:?} is not finite")))
            }
        };
        Ok(Self {
            rows: store.get("rows")?,
            weight: figure("weight")?,
            weight_squares: figure("weight_squares")?,
            sum_d: store.vector("z_sum", sum_1d.ncols())?,
            own: figure("own")?,
        })
    }
}

impl Embedding {
    fn check_shape(&self, other: &Self) -> Result<()> {
        if self.sum_d.len() == other.sum_d.len() {
            Ok(())
        } else {
            Err(Error::shape(format!(
                "means of {} and {} features do not go together",
                self.sum_d.len(),
                other.sum_d.len()
            )))
        }
    }
}

/// The weights of a range of a chunk's rows.
fn weights(chunk: &Chunk, range: Range<usize>) -> Vec<f64> {
    match &chunk.weights {
        Some(weight_n) => weight_n.slice(ndarray::s![range]).to_vec(),
        None => vec![1.0; range.len()],
    }
}
