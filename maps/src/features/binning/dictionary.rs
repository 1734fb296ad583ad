//! From the hash of a bin to its column, per grid.

use super::UNSEEN;
use crate::{Error, Result, error::Remedy, parallel, store::Store};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, OnceLock},
};

/// Two numbers that differ from process to process, so that no file can hold keys that all fall
/// into one place of a table.
#[derive(Debug, Clone, Copy)]
struct Mix {
    shift: u64,
    factor: u64,
}

impl Default for Mix {
    fn default() -> Self {
        static OF_PROCESS: OnceLock<Mix> = OnceLock::new();
        *OF_PROCESS.get_or_init(|| {
            let random = RandomState::new();
            Self {
                shift: random.hash_one(0),
                factor: random.hash_one(1) | 1,
            }
        })
    }
}

impl BuildHasher for Mix {
    type Hasher = Mixed;

    fn build_hasher(&self) -> Mixed {
        Mixed { mix: *self, key: 0 }
    }
}

/// Two multiplications, one of which leaves keys of few bits close together: the keys are hashes
/// already, unless somebody chose them.
#[derive(Debug, Clone, Copy)]
struct Mixed {
    mix: Mix,
    key: u64,
}

impl Hasher for Mixed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64")
    }

    fn write_u64(&mut self, key: u64) {
        self.key = key;
    }

    fn finish(&self) -> u64 {
        let Mix { shift, factor } = self.mix;
        folded(folded(self.key ^ shift, factor) ^ factor, shift | 1)
    }
}

/// Both halves of a product.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// One grid: bin to number within the grid.
type Grid = HashMap<u64, u32, Mix>;

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Keys that differ in their high bits, their low bits or by a stride.
    #[test]
    fn chosen_keys_do_not_fall_into_one_place() {
        for key in [
            |i: u64| i << 32,
            |i| i,
            |i| i << 52,
            |i| i * 0x9e37_79b9_7f4a_7c15,
        ] {
            let keys: Vec<_> = (0..4096).map(key).collect();
            let places = keys.iter().map(|key| Mix::default().hash_one(key) % 8192);
            let places: HashSet<_> = places.collect();
            // 3,200 on average of random places.
            assert!(places.len() > 2500, "{}", places.len());
        }
    }
}
