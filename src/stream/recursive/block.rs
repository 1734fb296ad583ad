//! The last rows of a stream, which are not included in the inverse yet.

use crate::{
    Error, Result,
    linalg::symmetric::{add_rows, rows_times},
    store::Store,
};
use ndarray::{Array2, Axis};
use std::mem;

/// Lines of a matrix that are filled together.
const LINES: usize = 16;

/// Up to [`Self::ROWS`] rows. Instead of decreasing all past weights with every row, the weights of
/// new rows increase, and all are rescaled together when the inverse is recomputed.
///
/// With `A` the matrix of all previous rows and a row z of weight c, the inverse of `A + c z z'` is
/// that of A minus `share g g'`, where `g = A^-1 z` and `share = c / (1 + c z'g)` (Sherman &
/// Morrison 1950).
#[derive(Debug, Clone)]
pub(super) struct Block {
    size: usize,
    /// For each row: the row, the gain g, targets, share, and weight.
    z_km: Vec<f64>,
    gain_km: Vec<f64>,
    y_kt: Vec<f64>,
    share_k: Vec<f64>,
    counts_k: Vec<f64>,
    /// Current scale of the weights: that of a new row of weight 1.
    growth: f64,
}

impl Block {
    /// Few enough that corrections cost less than the inverse, many enough that including all of
    /// them is one matrix product.
    pub(super) const ROWS: usize = 64;

    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            z_km: Vec::new(),
            gain_km: Vec::new(),
            y_kt: Vec::new(),
            share_k: Vec::new(),
            counts_k: Vec::new(),
            growth: 1.0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.counts_k.len() >= Self::ROWS
    }

    /// Factor to the current scale of the weights since the last rescaling.
    pub(super) fn shrunk(&self) -> f64 {
        1.0 / self.growth
    }

    /// Total weight of the rows, before rescaling.
    pub(super) fn weight(&self) -> f64 {
        self.counts_k.iter().sum()
    }

    /// Multiplies past weights by `keep` for a new row; returns the weight of a new row of weight 1
    /// on this scale.
    pub(super) fn grow(&mut self, keep: f64) -> f64 {
        self.growth /= keep;
        self.growth
    }

    pub(super) fn push(
        &mut self,
        (z_m, y_t): (&[f64], &[f64]),
        (gain_m, share): (&[f64], f64),
        counts: f64,
    ) {
        self.z_km.extend_from_slice(z_m);
        self.y_kt.extend_from_slice(y_t);
        self.gain_km.extend_from_slice(gain_m);
        self.share_k.push(share);
        self.counts_k.push(counts);
    }

    /// Adds a target to `targets`, which was 0 in all rows.
    pub(super) fn add_target(&mut self, targets: usize) {
        let rows = 0..self.counts_k.len();
        let with_zero = |k: usize| {
            let of_row = &self.y_kt[k * targets..(k + 1) * targets];
            of_row.iter().copied().chain([0.0])
        };
        self.y_kt = rows.flat_map(with_zero).collect();
    }

    /// Subtracts the contribution of the rows from the inverse times a row.
    pub(super) fn correct(&self, z_m: &[f64], out_m: &mut [f64]) {
        let mut factors = rows_times(&self.gain_km, z_m);
        for (factor, share) in factors.iter_mut().zip(&self.share_k) {
            *factor *= -share;
        }
        add_rows(out_m, &self.gain_km, &factors);
    }

    /// Scaled gains as columns: the inverse minus their outer product is that including the rows.
    pub(super) fn gains_mk(&self) -> Array2<f64> {
        self.side_by_side(&self.gain_km, &self.share_k)
    }

    /// Scaled rows as columns, whose outer product is their contribution to `Z'Z`.
    pub(super) fn rows_mk(&self) -> Array2<f64> {
        self.side_by_side(&self.z_km, &self.counts_k)
    }

    fn side_by_side(&self, rows: &[f64], counts: &[f64]) -> Array2<f64> {
        let mut out_mk = Array2::zeros((self.size, counts.len()));
        // A few lines of the result at a time, which fit into the first-level cache.
        for (lines, mut out) in out_mk.axis_chunks_iter_mut(Axis(0), LINES).enumerate() {
            let of_lines = lines * LINES..self.size.min((lines + 1) * LINES);
            for (k, (row, count)) in rows.chunks_exact(self.size).zip(counts).enumerate() {
                let root = count.sqrt();
                for (to, value) in out.column_mut(k).iter_mut().zip(&row[of_lines.clone()]) {
                    *to = value * root;
                }
            }
        }
        out_mk
    }

    /// Adds the contribution of the rows to `Z'Y`.
    pub(super) fn add_targets(&self, zty_tm: &mut [f64]) {
        let targets = self.y_kt.len() / self.counts_k.len().max(1);
        for (t, zty_m) in zty_tm.chunks_exact_mut(self.size.max(1)).enumerate() {
            let of_rows = self.y_kt.iter().skip(t).step_by(targets.max(1));
            let factors: Vec<_> = of_rows.zip(&self.counts_k).map(|(y, c)| y * c).collect();
            add_rows(zty_m, &self.z_km, &factors);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self {
            growth: self.growth,
            ..Self::new(self.size)
        };
    }

    /// Resets the scale of the weights to 1; returns the factor for past weights.
    pub(super) fn shrink(&mut self) -> f64 {
        1.0 / mem::replace(&mut self.growth, 1.0)
    }

    /// Writes the rows under their names.
    pub(super) fn write(&self, store: &mut Store) {
        store.set("block.rows", self.counts_k.len());
        store.set("block.growth", self.growth);
        for (name, values) in [
            ("block.z", &self.z_km),
            ("block.gain", &self.gain_km),
            ("block.y", &self.y_kt),
            ("block.share", &self.share_k),
            ("block.counts", &self.counts_k),
        ] {
            store.put_vector(name, values);
        }
    }

    /// Reads the entries of [`Self::write`].
    pub(super) fn read(store: &Store, size: usize, targets: usize) -> Result<Self> {
        let rows: usize = store.get("block.rows")?;
        if rows >= Self::ROWS {
            return Err(Error::format(format!("a block of {rows} rows")));
        }
        let vector = |name, of_row: usize| -> Result<Vec<f64>> {
            let numbers = rows.checked_mul(of_row);
            let numbers = numbers.ok_or_else(|| Error::format("too many numbers in a block"))?;
            Ok(store.vector(name, numbers)?.to_vec())
        };
        let growth: f64 = store.get("block.growth")?;
        let (share_k, counts_k) = (vector("block.share", 1)?, vector("block.counts", 1)?);
        let mut numbers = share_k.iter().chain(&counts_k);
        let are_counts = numbers.all(|n| (0.0..f64::INFINITY).contains(n));
        if !(are_counts && (1.0..f64::INFINITY).contains(&growth)) {
            return Err(Error::format(
                "a block of rows that count for less than nothing",
            ));
        }
        Ok(Self {
            size,
            z_km: vector("block.z", size)?,
            gain_km: vector("block.gain", size)?,
            y_kt: vector("block.y", targets)?,
            share_k,
            counts_k,
            growth,
        })
    }
}
