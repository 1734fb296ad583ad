//! How the tiles of the upper triangle lie packed one after another, and back to a matrix.

use super::GramSums;
use crate::parallel;

/// Tiles of the upper triangle of `z_tiles` x `z_tiles` and of the columns beside it.
pub(super) fn tile_count(z_tiles: usize, y_tiles: usize) -> usize {
    z_tiles * (z_tiles + 1) / 2 + z_tiles * y_tiles
}

/// Row and column of each tile, in their order.
pub(super) fn places(z_tiles: usize, y_tiles: usize) -> Vec<(usize, usize)> {
    let row = |i| (i..z_tiles + y_tiles).map(move |j| (i, j));
    (0..z_tiles).flat_map(row).collect()
}

/// Adds tiles of the upper triangle to the lower one, mirrored, and those beside it to `Z'Y`. A
/// thread takes the tiles of one column, which are neighbours in the lower triangle.
pub(super) fn unpack(
    data: &[f32],
    side: usize,
    places: &[(usize, usize)],
    z_tiles: usize,
    sums: &mut GramSums,
) {
    let (features, targets) = sums.zty_dt.dim();
    // Tiles of one column j of the upper triangle are one band of rows of the lower: bands do not
    // overlap, so that threads need no lock.
    let mut columns = vec![Vec::new(); z_tiles];
    for (tile, &(i, j)) in data.chunks_exact(side * side).zip(places) {
        match columns.get_mut(j) {
            Some(column) => column.push((tile, i)),
            None => {
                let col0 = (j - z_tiles) * side;
                let rows = tile.chunks_exact(side).zip(i * side..features);
                for (row, row_at) in rows {
                    for (&value, col_at) in row.iter().zip(col0..targets) {
                        sums.zty_dt[[row_at, col_at]] += f64::from(value);
                    }
                }
            }
        }
    }
    let gram = sums.gram_dd.as_slice_mut().expect("allocated row by row");
    parallel::usual().chunks(gram, side * features, &|j, band| {
        for (tile, i) in columns.get(j).into_iter().flatten() {
            for (c, out) in band.chunks_exact_mut(features).enumerate() {
                // The diagonal and what lies left of it: rows of the tile up to its own column.
                let from = i * side;
                let end = features.min(from + side).min(j * side + c + 1);
                for (r, out) in out[from..end].iter_mut().enumerate() {
                    *out += f64::from(tile[r * side + c]);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn every_entry_comes_back_to_its_place() {
        let (features, targets, side) = (11, 5, 4);
        let (z_tiles, y_tiles) = (3, 2);
        let places = places(z_tiles, y_tiles);
        assert_eq!(places.len(), tile_count(z_tiles, y_tiles));
        // The entry at row r and column c of [Z'Z | Z'Y] is 100 r + c; what is beyond the edges is
        // not to be seen.
        let mut data = vec![f32::NAN; places.len() * side * side];
        for (tile, &(i, j)) in data.chunks_exact_mut(side * side).zip(&places) {
            let edge = if j < z_tiles {
                (0, features)
            } else {
                (z_tiles * side, targets)
            };
            for (at, value) in tile.iter_mut().enumerate() {
                let (r, c) = (i * side + at / side, j * side + at % side - edge.0);
                if r < features && c < edge.1 {
                    *value = (100 * r + c) as f32;
                }
            }
        }
        let mut sums = GramSums {
            gram_dd: Array2::zeros((features, features)),
            zty_dt: Array2::zeros((features, targets)),
        };
        // In two parts, one of them in the middle of a row of tiles.
        for part in [0..5, 5..places.len()] {
            let floats = part.start * side * side..part.end * side * side;
            unpack(&data[floats], side, &places[part], z_tiles, &mut sums);
        }
        for ((r, c), &v) in sums.gram_dd.indexed_iter() {
            let expected = if c <= r { 100 * c + r } else { 0 };
            assert_eq!(v, expected as f64, "{r}, {c}");
        }
        for ((r, c), &v) in sums.zty_dt.indexed_iter() {
            assert_eq!(v, (100 * r + c) as f64);
        }
    }
}
