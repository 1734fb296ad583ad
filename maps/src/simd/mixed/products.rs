//! `Z beta`: tiles of rows by targets, whose sums are vectors over columns.

use super::{ABREAST, SCRATCH, Scratch, TARGETS, doubles, of_targets, pieces};
use crate::{
    parallel,
    simd::{
        Fused,
        hint::{LINE, prefetch},
    },
};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Columns that a thread sums in one go. Sums of the segments are added in order.
const SEGMENT: usize = 8192;
/// Rows that a thread multiplies at a time: operands are packed once for them.
const ROWS: usize = 240;
/// Columns whose values are f64 at a time.
const DEPTH: usize = 256;
/// Partial sums of a row and a target, each of the columns that leave one remainder: as many
/// whatever the width of vectors.
const LANES: usize = 8;
/// Rows whose values are f64 at a time: with [`DEPTH`], most of first-level cache.
const TOGETHER: usize = 8;

/// `r_tm += factor (Z beta)'` on the current thread pool: Z `[m, columns]`, row after row, and
/// `beta_td` `[t, columns]`, rows contiguous. Bits depend neither on the vectors of the
/// processor nor on the rows that come together nor on the number of threads.
pub fn add_products(
    z: &[f32],
    columns: usize,
    beta_td: ArrayView2<'_, f64>,
    factor: f64,
    mut r_tm: ArrayViewMut2<'_, f64>,
) {
    let (targets, rows) = r_tm.dim();
    let segments = columns.div_ceil(SEGMENT);
    let blocks = rows.div_ceil(ROWS);
    let work: Vec<Array2<f64>> = parallel::alone().map(blocks * segments, &|part| {
        let (block, segment) = (part / segments, part % segments);
        let rows = block * ROWS..rows.min((block + 1) * ROWS);
        let from = segment * SEGMENT..columns.min((segment + 1) * SEGMENT);
        let mut sums_tm = Array2::zeros((targets, rows.len()));
        for some in pieces(targets, TARGETS) {
            SCRATCH.with_borrow_mut(|scratch| {
                crate::instructions::arch().dispatch(Segment {
                    z: &z[rows.start * columns..rows.end * columns],
                    columns,
                    from: from.clone(),
                    beta_td: beta_td.slice(s![some.clone(), ..]),
                    scratch,
                    sums_tm: sums_tm.slice_mut(s![some, ..]),
                });
            });
        }
        sums_tm
    });
    for (block, parts) in work.chunks(segments.max(1)).enumerate() {
        for part in parts {
            let here = block * ROWS..block * ROWS + part.ncols();
            r_tm.slice_mut(s![.., here]).scaled_add(factor, part);
        }
    }
}

/// Some columns of some rows with some targets.
struct Segment<'a> {
    z: &'a [f32],
    columns: usize,
    from: Range<usize>,
    beta_td: ArrayView2<'a, f64>,
    scratch: &'a mut Scratch,
    sums_tm: ArrayViewMut2<'a, f64>,
}

impl WithSimd for Segment<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Sums, values of each row and one operand in 32 or in 16 registers.
        match S::F64_LANES {
            8 | 2 => self.sum::<S, 4>(simd),
            _ => self.sum::<S, 2>(simd),
        }
    }
}

impl Segment<'_> {
    /// With tiles of `SIDE` rows.
    #[inline(always)]
    fn sum<S: Simd, const SIDE: usize>(self, simd: S) {
        let Self {
            z,
            columns,
            from,
            beta_td,
            scratch,
            mut sums_tm,
        } = self;
        let (targets, rows) = sums_tm.dim();
        let tiles = rows.div_ceil(SIDE);
        let products = TOGETHER / SIDE * targets.div_ceil(ABREAST);
        let values = doubles(&mut scratch.values, TOGETHER * DEPTH);
        let packed = doubles(&mut scratch.operands, targets * DEPTH);
        // Tile after tile, piece after piece, row after row, target after target.
        let sums = doubles(&mut scratch.sums, tiles * SIDE * targets * LANES);
        sums.fill(0.0);
        for first in from.clone().step_by(DEPTH) {
            let here = first..from.end.min(first + DEPTH);
            // Of whole vectors; what is beyond the columns is zero.
            let depth = here.len().next_multiple_of(LANES);
            pack(beta_td.slice(s![.., here.clone()]), depth, packed);
            for together in (0..rows).step_by(TOGETHER) {
                let rows_of_z = z[together * columns..].chunks_exact(columns);
                let rows_of_z = rows_of_z.map(|z_row| &z_row[here.clone()]);
                widen(rows_of_z, values.chunks_exact_mut(depth).take(TOGETHER));
                // Rows are far apart, where no processor looks ahead by itself: each product asks
                // for its share of those that come next.
                let mut ahead = Ahead {
                    z,
                    columns,
                    from: (together + TOGETHER) * columns + here.start,
                    line: 0,
                    share: (TOGETHER * LINES).div_ceil(products),
                };
                for some in pieces(targets, ABREAST) {
                    let b = &packed[some.start * depth..some.end * depth];
                    for tile in 0..(TOGETHER / SIDE).min(tiles - together / SIDE) {
                        let a = &values[tile * SIDE * depth..][..SIDE * depth];
                        let at = (together / SIDE + tile) * SIDE * targets + SIDE * some.start;
                        let c = &mut sums[at * LANES..][..SIDE * some.len() * LANES];
                        of_targets!(some.len(), multiply::<S, SIDE>(simd, a, b, c, &ahead));
                        ahead.line += ahead.share;
                    }
                }
            }
        }
        write::<SIDE>(sums, &mut sums_tm);
    }
}

/// Operands `[t, columns]` as [`multiply`] takes them, piece after piece of the targets.
#[inline(always)]
fn pack(beta_td: ArrayView2<'_, f64>, depth: usize, packed: &mut [f64]) {
    for some in pieces(beta_td.nrows(), ABREAST) {
        let out = &mut packed[some.start * depth..some.end * depth];
        let count = some.len();
        for (k, target) in some.enumerate() {
            let beta = beta_td.row(target);
            let beta = beta.to_slice().expect("contiguous");
            let places = out.chunks_exact_mut(count * LANES);
            for (out, beta) in places.zip(beta.chunks(LANES)) {
                let out = &mut out[k * LANES..][..LANES];
                let (body, padding) = out.split_at_mut(beta.len());
                body.iter_mut().zip(beta).for_each(|(to, &b)| *to = b);
                padding.fill(0.0);
            }
        }
    }
}

/// Values of rows as f64, row after row, each padded with zeros; rows that are not there are zero.
#[inline(always)]
fn widen<'z, 'v>(
    mut rows: impl Iterator<Item = &'z [f32]>,
    values: impl Iterator<Item = &'v mut [f64]>,
) {
    for to in values {
        let Some(row) = rows.next() else {
            to.fill(0.0);
            continue;
        };
        let (body, padding) = to.split_at_mut(row.len());
        for (to, &z) in body.iter_mut().zip(row) {
            *to = f64::from(z);
        }
        padding.fill(0.0);
    }
}

/// Writes the sums of tiles, piece after piece of the targets, each of its lanes added up.
#[inline(always)]
fn write<const SIDE: usize>(sums: &[f64], sums_tm: &mut ArrayViewMut2<'_, f64>) {
    let (targets, rows) = sums_tm.dim();
    let (sums, _) = sums.as_chunks::<LANES>();
    for (tile, sums) in sums.chunks_exact(SIDE * targets).enumerate() {
        for some in pieces(targets, ABREAST) {
            let sums = &sums[SIDE * some.start..SIDE * some.end];
            for (i, sums) in sums.chunks_exact(some.len()).enumerate() {
                let row = tile * SIDE + i;
                if row < rows {
                    for (k, &sum) in some.clone().zip(sums) {
                        sums_tm[[k, row]] = sum_of_lanes(sum);
                    }
                }
            }
        }
    }
}

/// The upper half onto the lower one until one is left.
#[inline(always)]
fn sum_of_lanes([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Lines of a row that are f64 at a time.
const LINES: usize = DEPTH / LINE;

/// Values that are wanted next.
struct Ahead<'a> {
    z: &'a [f32],
    columns: usize,
    /// The first of them.
    from: usize,
    /// The line that is next, row after row.
    line: usize,
    /// Lines to ask for at a time.
    share: usize,
}

impl Ahead<'_> {
    #[inline(always)]
    fn ask(&self, line: usize) {
        if line < self.share {
            let line = self.line + line;
            let (row, line) = (line / LINES, line % LINES);
            prefetch(self.z, self.from + row * self.columns + LINE * line);
        }
    }
}

/// `c += a b'`, sums over columns vector by vector: `a` `[SIDE][depth]`, `b` `[depth / LANES][T]
/// [LANES]`, `c` `[SIDE][T][LANES]`.
#[inline(always)]
fn multiply<S: Simd, const SIDE: usize, const T: usize>(
    simd: S,
    a: &[f64],
    b: &[f64],
    c: &mut [f64],
    ahead: &Ahead<'_>,
) {
    let steps = a.len() / (SIDE * LANES);
    let (a, _) = a.as_chunks::<LANES>();
    let a: [_; SIDE] = std::array::from_fn(|i| &a[i * steps..][..steps]);
    let (b, _) = b.as_chunks::<LANES>();
    let (b, _) = b.as_chunks::<T>();
    let b = &b[..steps];
    let (c, _) = c.as_chunks_mut::<LANES>();
    let (c, _) = c.as_chunks_mut::<T>();
    // A vector of the partial sums at a time: narrow ones pass over their share of the columns.
    for (part, from) in (0..LANES).step_by(S::F64_LANES).enumerate() {
        let vector = |v: &[f64; LANES]| S::as_simd_f64s(&v[from..from + S::F64_LANES]).0[0];
        let mut sums: [[S::f64s; T]; SIDE] =
            std::array::from_fn(|i| std::array::from_fn(|k| vector(&c[i][k])));
        for (j, b) in b.iter().enumerate() {
            ahead.ask(part * steps + j);
            let a: [_; SIDE] = std::array::from_fn(|i| vector(&a[i][j]));
            for (k, b) in b.iter().enumerate() {
                let b = vector(b);
                for (sums, &a) in sums.iter_mut().zip(&a) {
                    sums[k] = simd.fused_f64s(a, b, sums[k]);
                }
            }
        }
        for (c, sums) in c.iter_mut().zip(sums) {
            for (c, sum) in c.iter_mut().zip(sums) {
                S::as_mut_simd_f64s(&mut c[from..from + S::F64_LANES]).0[0] = sum;
            }
        }
    }
}
