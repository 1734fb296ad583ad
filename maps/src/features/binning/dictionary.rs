//! From the hash of a bin to its column, per grid.

use super::UNSEEN;
use crate::{Error, Result, error::Remedy, parallel, store::Store};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
};

/// The keys are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// One grid: bin to number within the grid.
type Grid = HashMap<u64, u32, BuildHasherDefault<Identity>>;

/// The occupied bins of all grids. The columns of a grid follow those of the grid before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dictionary {
    // Shared by the loaded forms of a map.
    grids: Arc<Vec<Grid>>,
    /// First column of each grid.
    first: Vec<u32>,
    bins: usize,
}

impl Dictionary {
    pub(super) fn new(grids: usize) -> Self {
        Self {
            grids: Arc::new(vec![Grid::default(); grids]),
            first: vec![0; grids],
            bins: 0,
        }
    }

    /// Numbers the bins of more rows, `[rows, P]`, in the order of rows.
    pub(super) fn learn(&mut self, hashes_np: ArrayView2<'_, u64>) {
        let grids = Arc::make_mut(&mut self.grids);
        parallel::usual().parts(grids, &|g, grid| {
            for &key in hashes_np.column(g) {
                // A full u32 of bins is refused by `finish`.
                let next = u32::try_from(grid.len()).unwrap_or(UNSEEN);
                grid.entry(key).or_insert(next);
            }
        });
    }

    /// Lays the columns of all grids side by side. Errors when a u32 cannot number them.
    pub(super) fn finish(&mut self) -> Result<()> {
        let mut bins = 0_usize;
        for (first, grid) in self.first.iter_mut().zip(self.grids.iter()) {
            *first = u32::try_from(bins).unwrap_or(UNSEEN);
            bins += grid.len();
        }
        if bins >= UNSEEN as usize {
            return Err(Error::Limit {
                what: "a binning map".into(),
                needed: format!("{bins} bins"),
                allowed: format!("{}", UNSEEN - 1),
                remedies: vec![Remedy::FewerFeatures, Remedy::LargerLengthscale],
            });
        }
        self.bins = bins;
        Ok(())
    }

    pub(super) fn bins(&self) -> usize {
        self.bins
    }

    /// Bytes of the tables: of each place a hash, a number and a byte that says whether it is
    /// taken. Of 8 places 7 are taken at most.
    pub(super) fn bytes(&self) -> u64 {
        let places: usize = self.grids.iter().map(|grid| grid.capacity() / 7 * 8).sum();
        places as u64 * (size_of::<(u64, u32)>() as u64 + 1)
    }

    /// Writes the column of each hash `[rows, P]`, or [`UNSEEN`].
    pub(super) fn look_up(
        &self,
        hashes_np: ArrayView2<'_, u64>,
        mut out_np: ArrayViewMut2<'_, u32>,
    ) {
        // Grid by grid within a block of rows: a grid's table stays in cache.
        let outs = out_np.axis_chunks_iter_mut(Axis(0), 256);
        let mut blocks: Vec<_> = outs.zip(hashes_np.axis_chunks_iter(Axis(0), 256)).collect();
        parallel::usual().parts(&mut blocks, &|_, (out, hashes)| {
            for (g, (grid, &first)) in self.grids.iter().zip(&self.first).enumerate() {
                for (out, key) in out.column_mut(g).iter_mut().zip(hashes.column(g)) {
                    *out = grid.get(key).map_or(UNSEEN, |&local| first + local);
                }
            }
        });
    }

    /// The first column of each grid, and the number of all columns at the end, `[P + 1]`.
    pub(super) fn starts(&self) -> Vec<usize> {
        let firsts = self.first.iter().map(|&first| first as usize);
        firsts.chain([self.bins]).collect()
    }

    /// The hash of every column, two words each, and the number of columns of each grid.
    pub(super) fn write(&self, store: &mut Store) {
        let mut words = Array2::zeros((self.bins, 2));
        for (grid, &first) in self.grids.iter().zip(&self.first) {
            for (&key, &local) in grid {
                let at = first as usize + local as usize;
                words[[at, 0]] = key as u32;
                words[[at, 1]] = (key >> 32) as u32;
            }
        }
        let counts =
            Array2::from_shape_fn((1, self.grids.len()), |(_, g)| self.grids[g].len() as u32);
        store.put_u32("bins", words.view());
        store.put_u32("bins.per_grid", counts.view());
    }

    pub(super) fn read(store: &Store, grids: usize) -> Result<Self> {
        let (words, counts) = (store.u32("bins")?, store.u32("bins.per_grid")?);
        let total: u64 = counts.iter().map(|&c| u64::from(c)).sum();
        if counts.dim() != (1, grids) || words.ncols() != 2 || total != words.nrows() as u64 {
            return Err(Error::shape(format!(
                "bins of shape {:?} do not fit {grids} grids with {total} bins",
                words.dim()
            )));
        }
        let mut dictionary = Self::new(grids);
        let mut rows = words.rows().into_iter();
        for (grid, &count) in Arc::make_mut(&mut dictionary.grids).iter_mut().zip(&counts) {
            for (local, word) in (0..count).zip(&mut rows) {
                grid.insert(u64::from(word[1]) << 32 | u64::from(word[0]), local);
            }
            if grid.len() != count as usize {
                return Err(Error::shape("a bin is listed twice in its grid"));
            }
        }
        dictionary.finish()?;
        Ok(dictionary)
    }
}
