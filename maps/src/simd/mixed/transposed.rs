//! `Z' r`: tiles of targets by columns, summed over rows.

use super::{ABREAST, SCRATCH, Scratch, TARGETS, doubles, of_targets, pieces};
use crate::{
    parallel,
    simd::{
        Fused,
        hint::{LINE, prefetch},
    },
};
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Columns that a thread sums at a time.
const COLUMNS: usize = 256;
/// Rows whose values are f64 at a time: with [`COLUMNS`], a part of second-level cache.
const ROWS: usize = 240;
/// Lines of a row of a block.
const LINES: usize = COLUMNS / LINE;

/// `out_td += factor r Z` on the current thread pool: Z `[m, columns]`, row after row, and `r_tm`
/// `[t, m]`. A thread owns columns and takes the rows in order, each onto the sum of those before
/// it, so that rows end in the same bits however they are cut into calls.
pub fn add_transposed(
    z: &[f32],
    columns: usize,
    r_tm: ArrayView2<'_, f64>,
    factor: f64,
    mut out_td: ArrayViewMut2<'_, f64>,
) {
    let (targets, rows) = r_tm.dim();
    // Rows of a block, target after target of a piece: as tiles read them.
    let mut r = Vec::with_capacity(targets * rows);
    for block in (0..rows).step_by(ROWS) {
        let r_tm = r_tm.slice(s![.., block..rows.min(block + ROWS)]);
        for piece in all_pieces(targets) {
            for r_t in r_tm.slice(s![piece, ..]).columns() {
                r.extend(r_t.iter().map(|r| factor * r));
            }
        }
    }
    let mut blocks: Vec<_> = out_td.axis_chunks_iter_mut(Axis(1), COLUMNS).collect();
    parallel::alone().parts(&mut blocks, &|c, out_td| {
        SCRATCH.with_borrow_mut(|scratch| {
            crate::instructions::arch().dispatch(Block {
                z,
                columns,
                first: c * COLUMNS,
                r: &r,
                scratch,
                out_td: out_td.view_mut(),
            });
        });
    });
}

/// Targets tile by tile.
fn all_pieces(targets: usize) -> impl Iterator<Item = Range<usize>> {
    pieces(targets, TARGETS).flat_map(|some| {
        let first = some.start;
        pieces(some.len(), ABREAST).map(move |piece| first + piece.start..first + piece.end)
    })
}

/// Some columns of all rows with all targets.
struct Block<'a> {
    z: &'a [f32],
    columns: usize,
    first: usize,
    r: &'a [f64],
    scratch: &'a mut Scratch,
    out_td: ArrayViewMut2<'a, f64>,
}

impl WithSimd for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Sums, values of a row and one operand in 32 or in 16 registers.
        match S::F64_LANES {
            8 | 2 => self.sum::<S, 4>(simd),
            _ => self.sum::<S, 2>(simd),
        }
    }
}

impl Block<'_> {
    /// With tiles of `SIDE` vectors of columns.
    #[inline(always)]
    fn sum<S: Simd, const SIDE: usize>(self, simd: S) {
        let Self {
            z,
            columns,
            first,
            r,
            scratch,
            mut out_td,
        } = self;
        let (targets, own) = out_td.dim();
        let width = SIDE * S::F64_LANES;
        let values = doubles(&mut scratch.values, ROWS * COLUMNS);
        let sums = doubles(&mut scratch.sums, ABREAST * width);
        let rows = out_td.rows_mut().into_iter();
        let mut out: Vec<_> = rows
            .map(|row| row.into_slice().expect("contiguous"))
            .collect();
        for (b, block) in z.chunks(ROWS * columns).enumerate() {
            let rows = block.len() / columns;
            // The rows that come next, or the first ones of the columns that do.
            let next = match (b + 1) * ROWS * columns {
                next if next < z.len() => &z[next + first..],
                _ => z.get(first + COLUMNS..).unwrap_or_default(),
            };
            let r = &r[b * ROWS * targets..][..rows * targets];
            widen(block, (columns, first..first + own), width, values);
            let mut asked = 0;
            for panel in 0..own.div_ceil(width) {
                let a = &values[panel * rows * width..][..rows * width];
                let here = panel * width..own.min((panel + 1) * width);
                for piece in all_pieces(targets) {
                    let count = piece.len();
                    let r = &r[piece.start * rows..piece.end * rows];
                    let sums = &mut sums[..count * width];
                    let (left, right) = (&mut out[piece.start..piece.end], here.clone());
                    for out in left.iter() {
                        (right.clone().step_by(8)).for_each(|at| prefetch(out, at));
                    }
                    // Rows are far apart, where no processor looks ahead by itself: each product
                    // asks for its lines of the rows that come next.
                    let line = LINE * (asked % LINES);
                    let ahead = next.get(line..).unwrap_or_default();
                    let ahead = if asked < LINES { ahead } else { &[] };
                    asked += 1;
                    for (out, sums) in left.iter().zip(sums.chunks_exact_mut(width)) {
                        sums[..right.len()].copy_from_slice(&out[right.clone()]);
                    }
                    of_targets!(count, multiply::<S, SIDE>(simd, a, r, sums, ahead, columns));
                    for (out, sums) in left.iter_mut().zip(sums.chunks_exact(width)) {
                        out[right.clone()].copy_from_slice(&sums[..right.len()]);
                    }
                }
            }
        }
    }
}

/// Those columns of rows as f64, panel after panel, row after row, as wide as a tile, padded with
/// zeros.
#[inline(always)]
fn widen(block: &[f32], (columns, here): (usize, Range<usize>), width: usize, values: &mut [f64]) {
    let rows = block.len() / columns;
    for (i, row) in block.chunks_exact(columns).enumerate() {
        for (panel, part) in row[here.clone()].chunks(width).enumerate() {
            let to = &mut values[(panel * rows + i) * width..][..width];
            let (body, padding) = to.split_at_mut(part.len());
            body.iter_mut()
                .zip(part)
                .for_each(|(to, &z)| *to = z.into());
            padding.fill(0.0);
        }
    }
}

/// `c += r' a`: `a` `[rows][SIDE][lanes]`, `r` `[rows][T]`, `c` `[T][SIDE][lanes]`. With every row
/// one more line of `ahead` is asked for, `columns` further on.
#[inline(always)]
fn multiply<S: Simd, const SIDE: usize, const T: usize>(
    simd: S,
    a: &[f64],
    r: &[f64],
    c: &mut [f64],
    ahead: &[f32],
    columns: usize,
) {
    let (a, _) = S::as_simd_f64s(a);
    let (a, _) = a.as_chunks::<SIDE>();
    let (r, _) = r.as_chunks::<T>();
    let (c, _) = S::as_mut_simd_f64s(c);
    let (c, _) = c.as_chunks_mut::<SIDE>();
    let mut sums = [[simd.splat_f64s(0.0); SIDE]; T];
    for (sums, c) in sums.iter_mut().zip(c.iter()) {
        *sums = *c;
    }
    for (i, (a, r)) in a.iter().zip(r).enumerate() {
        prefetch(ahead, i * columns);
        for (sums, &r) in sums.iter_mut().zip(r) {
            let r = simd.splat_f64s(r);
            for (sum, &a) in sums.iter_mut().zip(a) {
                *sum = simd.fused_f64s(a, r, *sum);
            }
        }
    }
    for (c, sums) in c.iter_mut().zip(sums) {
        *c = sums;
    }
}
