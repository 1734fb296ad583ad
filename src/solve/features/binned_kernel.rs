//! Kernel matrix of binned rows: exact counts of the grids in which two rows share a bin.

use super::BinnedRows;
use crate::{
    features::UNSEEN,
    instructions::{Loops, vectorized},
    parallel,
};
use ndarray::Array2;
use std::ops::Range;

/// Rows per unit of parallel work.
const ROWS: usize = 16;
/// Rows that they are compared with at a time: the counts of both fit into the first-level cache.
const ACROSS: usize = 512;

/// `Z Z'` for maps side by side, `[n, n]`: its lower triangle, zeros above. It takes n^2 / 2
/// comparisons per grid, for any number of bins, and `8 n^2` bytes. Rows in unseen bins share them
/// with no row.
pub(crate) fn binned_kernel(parts: &[BinnedRows]) -> Array2<f64> {
    let rows = parts.first().map_or(0, |part| part.rows);
    let mut kernel_nn = Array2::zeros((rows, rows));
    let out = kernel_nn.as_slice_mut().expect("standard layout");
    let blocks = out.chunks_mut((ROWS * rows).max(1)).enumerate();
    // Starts with the last rows, which take longest.
    let mut blocks: Vec<_> = blocks.rev().collect();
    parallel::alone().parts(&mut blocks, &|_, (block, out)| {
        let first = *block * ROWS;
        let end = first + out.len() / rows;
        let mut counts = vec![0_u32; ROWS * ACROSS];
        for across in (0..end).step_by(ACROSS) {
            let width = end.min(across + ACROSS) - across;
            for part in parts {
                counts.fill(0);
                vectorized(CountTogether {
                    grids: &part.grids,
                    rows: first..end,
                    others: across..across + width,
                    counts: &mut counts,
                });
                let square = part.value * part.value;
                let all = out.chunks_exact_mut(rows).zip(counts.chunks_exact(ACROSS));
                for (i, (out, counts)) in all.enumerate() {
                    // On and below the diagonal.
                    let to = (first + i + 1).clamp(across, across + width);
                    let pairs = out[across..to].iter_mut().zip(counts);
                    pairs.for_each(|(out, &count)| *out += square * f64::from(count));
                }
            }
        }
    });
    kernel_nn
}

/// Adds the number of grids in which two rows share a bin, `[rows, ACROSS]`.
struct CountTogether<'a, G> {
    grids: &'a [G],
    rows: Range<usize>,
    others: Range<usize>,
    counts: &'a mut [u32],
}

impl<G: AsRef<[u32]>> Loops for CountTogether<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for grid in self.grids {
            let grid = grid.as_ref();
            let others = &grid[self.others.clone()];
            let rows = self.counts.chunks_exact_mut(ACROSS);
            for (counts, &own) in rows.zip(&grid[self.rows.clone()]) {
                if own != UNSEEN {
                    let pairs = counts.iter_mut().zip(others);
                    pairs.for_each(|(count, &other)| *count += u32::from(own == other));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        check::normal,
        data::MemorySource,
        features::{Affine, Binning},
        kernels::Laplacian,
        seed::Seed,
        solve::FeatureProducts,
    };
    use ndarray::s;

    /// Compared with products with each unit vector, for two maps of different weights and rows
    /// beyond the edges of blocks.
    #[test]
    fn counts_are_products_of_features() {
        let rows = 2 * ACROSS / 3 + ACROSS;
        let x = normal(rows, 3, 2);
        let map = |grids, seed| {
            let map = Binning::new(Laplacian).grids(grids).seed(seed);
            let mut source = MemorySource::new(x.clone(), None).expect("rows");
            map.fit(Affine::identity(3), &mut source, &Device::cpu())
                .expect("a map")
        };
        let maps = [map(5, Seed(1)), map(3, Seed(2))];
        let mut at = 0;
        let mut parts = Vec::new();
        for (map, root) in maps.iter().zip([0.5, 2.0]) {
            let mut part = BinnedRows::new(map, at, root);
            let run = crate::Run::on(&Device::cpu());
            let mut binner = map.on(&run).expect("a binner");
            let chunk = crate::data::Rows::from(x.clone());
            part.push(binner.indices(&chunk).expect("bins").view());
            at = part.columns();
            parts.push(part);
        }
        let kernel = binned_kernel(&parts);
        for row in [0, 17, ACROSS, rows - 1] {
            let mut unit = Array2::zeros((1, rows));
            unit[[0, row]] = 1.0;
            let (mut beta, mut expected) = (Array2::zeros((1, at)), Array2::zeros((1, rows)));
            for part in &mut parts {
                part.transposed(unit.view(), &mut beta).expect("a product");
                part.add_product(beta.view(), &mut expected)
                    .expect("a product");
            }
            let below = s![row, ..=row];
            let off = &kernel.slice(below) - &expected.slice(s![0, ..=row]);
            assert!(off.iter().all(|e| e.abs() < 1e-12), "row {row}: {off}");
            assert!(kernel.slice(s![row, row + 1..]).iter().all(|v| *v == 0.0));
            assert!((kernel[[row, row]] - 4.25).abs() < 1e-12);
        }
    }
}
