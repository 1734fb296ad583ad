//! Rows times packed columns, with an epilogue that takes each piece of a row while it is in cache.

use super::{
    PanelsView, Parts,
    tile::{ABREAST, most_rows, multiply, multiply_abreast, tile_rows},
};
use crate::device::Aligned;
use pulp::{Simd, WithSimd};
use std::cell::RefCell;

/// Bytes of packed rows that a block may take: half of a common second-level cache.
const BLOCK_BYTES: usize = 384 << 10;
/// Columns that take no more than this are read again for every tile of rows, whose results are
/// then written row by row.
const NEAR_BYTES: usize = 256 << 10;
/// More rows than this at a time gain nothing.
const MOST_ROWS: usize = 240;

/// What happens to the products. Implementations are `#[inline(always)]`: they run under the vector
/// instructions of the product around them.
pub(crate) trait Epilogue {
    /// `t` holds the products of row `row` with the columns from `col` on.
    fn row<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]);

    /// As [`Self::row`] for the rows from `row` on, one after another in `t`, all of whose columns
    /// count.
    #[inline(always)]
    fn rows<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        for (i, t) in t.chunks_exact(2 * S::F32_LANES).enumerate() {
            self.row(simd, row + i, col, t);
        }
    }
}

impl<E: Epilogue> Epilogue for &mut E {
    #[inline(always)]
    fn row<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        (**self).row(simd, row, col, t);
    }

    #[inline(always)]
    fn rows<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        (**self).rows(simd, row, col, t);
    }
}

/// Scratch of one thread, kept between calls.
#[derive(Default)]
struct Scratch {
    packed: Aligned,
    products: Aligned,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Calls `epilogue` for every row of `x` (row-major, as deep as the panels) and every panel of
/// columns, on this thread.
pub(crate) fn for_each_row(x: &[f32], parts: Parts<'_, '_>, mut epilogue: impl Epilogue) {
    SCRATCH.with_borrow_mut(|scratch| {
        for panels in parts {
            let (scratch, epilogue) = (&mut *scratch, &mut epilogue);
            crate::instructions::arch().dispatch(Product {
                x,
                panels,
                scratch,
                epilogue,
            });
        }
    });
}

struct Product<'a, E> {
    x: &'a [f32],
    panels: PanelsView<'a>,
    scratch: &'a mut Scratch,
    epilogue: E,
}

impl<E: Epilogue> WithSimd for Product<'_, E> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            x,
            panels,
            scratch,
            mut epilogue,
        } = self;
        let (depth, lanes) = (panels.depth(), S::F32_LANES);
        let columns = 2 * lanes;
        let most = most_rows(lanes);
        // Either the columns stay in cache, and rows pass them tile by tile; or a block of rows
        // stays there, and each panel of columns passes all of it once.
        let tiles = if 4 * depth * panels.columns() <= NEAR_BYTES {
            1
        } else {
            (BLOCK_BYTES / (4 * depth * most)).clamp(1, MOST_ROWS / most)
        };
        for (block, x) in x.chunks(tiles * most * depth).enumerate() {
            let row0 = block * tiles * most;
            let rows = x.len() / depth;
            // A tile more than there are rows: the last one is filled up with zeros.
            let packed = scratch.packed.take((rows + most) * depth);
            let packed_len = pack(x, depth, lanes, packed);
            let products = scratch.products.take((rows + most) * columns * ABREAST);
            let mut panels = panels;
            // One row or two make too few sums to hide the latency of a multiply-add; several
            // panels abreast make enough. What is left of the panels goes the usual way below.
            if rows <= 2 {
                while let Some((first, b)) = panels.take_front(ABREAST) {
                    multiply_abreast(simd, rows, &packed[..packed_len], b, products);
                    let each = products.chunks_exact(rows * columns).take(ABREAST);
                    for (p, products) in each.enumerate() {
                        for (i, t) in products.chunks_exact(columns).enumerate() {
                            epilogue.row(simd, row0 + i, first + p * columns, t);
                        }
                    }
                }
            }
            for (col, panel, next) in panels.iter() {
                by_panel(
                    simd,
                    (rows, depth),
                    &packed[..packed_len],
                    (panel, next),
                    products,
                );
                let width = columns.min(panels.end() - col);
                // A whole panel is handed over in one call whose vectors are whole; the last may
                // be cut, row by row.
                if width == columns {
                    epilogue.rows(simd, row0, col, &products[..rows * columns]);
                    continue;
                }
                for (i, t) in products.chunks_exact(columns).take(rows).enumerate() {
                    epilogue.row(simd, row0 + i, col, &t[..width]);
                }
            }
        }
    }
}

/// Products of packed rows with a panel of columns, row after row.
#[inline(always)]
fn by_panel<S: Simd>(
    simd: S,
    (rows, depth): (usize, usize),
    packed: &[f32],
    (panel, next): (&[f32], &[f32]),
    products: &mut [f32],
) {
    let (lanes, columns) = (S::F32_LANES, 2 * S::F32_LANES);
    let all_tiles = rows.div_ceil(most_rows(lanes));
    // Each tile asks for its share of the next panel, a cache line at least, so that it is there
    // when its turn comes.
    let mut shares = next.chunks((next.len() / all_tiles).next_multiple_of(16).max(16));
    let mut at = 0;
    let mut done = 0;
    while done < rows {
        let tile = tile_rows(rows - done, lanes);
        let a = &packed[at..at + tile * depth];
        let c = &mut products[done * columns..][..tile * columns];
        multiply(simd, tile, a, panel, c, shares.next().unwrap_or_default());
        at += tile * depth;
        done += tile;
    }
    debug_assert_eq!(at, packed.len());
}

/// Packs rows into tiles, depth-major; rows beyond the last are zero. Returns the length.
#[inline(always)]
fn pack(x: &[f32], depth: usize, lanes: usize, packed: &mut [f32]) -> usize {
    let rows = x.len() / depth;
    let (mut at, mut done) = (0, 0);
    while done < rows {
        let tile = tile_rows(rows - done, lanes);
        let out = &mut packed[at..at + tile * depth];
        // Row by row of x, which is read in order; writes are `tile` floats apart, and the tile
        // is small enough to stay in cache meanwhile.
        for r in 0..tile {
            match x.chunks_exact(depth).nth(done + r) {
                Some(row) => {
                    for (out, &v) in out.chunks_exact_mut(tile).zip(row) {
                        out[r] = v;
                    }
                }
                None => out.chunks_exact_mut(tile).for_each(|out| out[r] = 0.0),
            }
        }
        at += tile * depth;
        done += tile;
    }
    at
}

/// Rows of a block on the CPU: small enough for cache and for every thread to have work, in whole
/// register tiles.
pub(crate) fn rows_per_block(rows: usize, threads: usize) -> usize {
    rows.div_ceil(threads.max(1))
        .next_multiple_of(12)
        .clamp(12, 240)
}
