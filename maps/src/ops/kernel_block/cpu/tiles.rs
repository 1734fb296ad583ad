//! Blocks gathered from coordinate differences: tiles of 4 or 8 rows by 16 landmarks kept in vector
//! registers, then the kernel on each.

mod angles;

use super::{
    elementary::{ByRounding, Rounding, as_vectors},
    forms::{
        Below, Cauchy, Exponential, Form, Gaussian, Hat, LANES, Lanes, Laplacian, Matern32,
        Matern52, RationalQuadratic, values,
    },
};
use crate::{kernels::BlockForm, ops::kernel_block::Level};
use pulp::{Simd, WithSimd};

// Sums of a tile stay in registers for all of the depth: 4 or 8 of AVX-512 out of 32, 8 of AVX2 out
// of 16, 16 of NEON out of 32. More rows would spill on AVX2; fewer would load a tile more often.
/// Rows of a tile.
const ROWS: usize = 4;

/// Whole rows of a kernel block, and what they are computed from.
pub(super) struct Block<'a> {
    pub(super) form: BlockForm,
    pub(super) level: Level,
    /// `[rows, d]`.
    pub(super) x: &'a [f32],
    pub(super) d: usize,
    /// The landmarks in tiles `[ceil(m / 16), d, 16]`, padded with zeros.
    pub(super) packed: &'a [f32],
    /// The lengths of the landmarks, padded likewise.
    pub(super) norm: &'a [f32],
    /// m.
    pub(super) landmarks: usize,
    /// The output, `[rows, m]`, or a column wider from the top.
    pub(super) k: &'a mut [f32],
}

impl Block<'_> {
    /// Writes the rows.
    pub(super) fn write(self) {
        crate::instructions::arch().dispatch(self);
    }
}

impl WithSimd for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        as_vectors::<S>(WithLanes(self, S::F32_LANES));
    }
}

/// A block by vectors of so many lanes.
struct WithLanes<'a>(Block<'a>, usize);

impl ByRounding for WithLanes<'_> {
    #[inline(always)]
    fn round<R: Rounding>(self) {
        by_form::<R>(self.0, self.1);
    }
}

#[inline(always)]
fn by_form<R: Rounding>(block: Block<'_>, lanes: usize) {
    match block.form {
        BlockForm::Gaussian => sweep_from::<R, _>(block, Gaussian, lanes),
        BlockForm::Laplacian => sweep_from::<R, _>(block, Laplacian, lanes),
        BlockForm::Exponential => sweep_from::<R, _>(block, Exponential, lanes),
        BlockForm::Matern32 => sweep_from::<R, _>(block, Matern32, lanes),
        BlockForm::Matern52 => sweep_from::<R, _>(block, Matern52, lanes),
        BlockForm::Cauchy => sweep_from::<R, _>(block, Cauchy, lanes),
        BlockForm::Hat => sweep_from::<R, _>(block, Hat, lanes),
        BlockForm::RationalQuadratic { alpha } => {
            sweep_from::<R, _>(block, RationalQuadratic::new(alpha), lanes);
        }
        BlockForm::ArcCosine { order } => angles::sweep::<R>(block, order),
    }
}

/// Rows of `x` from `from` on, the last one repeated beyond the end.
#[inline(always)]
fn some_rows<const N: usize>(x: &[f32], d: usize, from: usize) -> [&[f32]; N] {
    let rows = x.len() / d;
    // The repeated row is computed and dropped by `store`: cheaper than a loop of its own for a
    // few rows, and it reads nothing outside of x.
    std::array::from_fn(|i| &x[(from + i).min(rows - 1) * d..][..d])
}

/// Writes the part of a tile of `m` landmarks that lies inside `k`, `width` columns wide.
#[inline(always)]
fn store<const N: usize>(
    k: &mut [f32],
    (m, width): (usize, usize),
    (from, tile): (usize, usize),
    values: &[Lanes; N],
) {
    // Lanes beyond m hold kernels of the padding; rows beyond the end have no place in k.
    let columns = LANES.min(m - tile * LANES);
    for (row, values) in k[from * width..].chunks_exact_mut(width).zip(values) {
        row[tile * LANES..][..columns].copy_from_slice(&values[..columns]);
    }
}

#[inline(always)]
fn sweep_from<R: Rounding, F: Form>(block: Block<'_>, form: F, lanes: usize) {
    match block.level {
        Level::Zero => sweep::<R, _>(block, form, lanes),
        Level::Top => {
            // The column of ones, whose coefficient adds what was taken off.
            for row in block.k.chunks_exact_mut(block.landmarks + 1) {
                row[block.landmarks] = 1.0;
            }
            sweep::<R, _>(block, Below(form), lanes);
        }
    }
}

#[inline(always)]
fn sweep<R: Rounding, F: Form>(block: Block<'_>, form: F, lanes: usize) {
    let Block {
        x,
        d,
        packed,
        landmarks,
        k,
        ..
    } = block;
    let rows = x.len() / d;
    let widths = (landmarks, k.len() / rows);
    // Tiles outside, rows inside: the 64 d bytes of a tile stay in the first-level cache while all
    // rows of the block pass.
    for (tile, w) in packed.chunks_exact(d * LANES).enumerate() {
        let (w, _) = w.as_chunks::<LANES>();
        // The processor waits for the sums of four rows where each is one vector, and has
        // registers for those of eight; over a short depth their begin and end cost more.
        if LANES == lanes && d >= 64 {
            for from in (0..rows).step_by(8) {
                let sums = eight_sums::<R, F>(w, some_rows(x, d, from));
                store(k, widths, (from, tile), &values::<R, F, 8>(form, sums));
            }
        } else {
            for from in (0..rows).step_by(ROWS) {
                let sums = four_sums::<R, F>(w, some_rows(x, d, from));
                store(k, widths, (from, tile), &values::<R, F, ROWS>(form, sums));
            }
        }
    }
}

/// What the coordinates of four rows are gathered into.
#[inline(always)]
fn four_sums<R: Rounding, F: Form>(w: &[Lanes], [x0, x1, x2, x3]: [&[f32]; 4]) -> [Lanes; 4] {
    // Four names and not an array that a loop walks: the compiler keeps each in registers. A sum
    // runs over the coordinates in order, whatever the rows beside it.
    let [mut s0, mut s1, mut s2, mut s3] = [[F::START; LANES]; 4];
    for ((((b, &a0), &a1), &a2), &a3) in w.iter().zip(x0).zip(x1).zip(x2).zip(x3) {
        for l in 0..LANES {
            s0[l] = F::gather::<R>(s0[l], a0, b[l]);
            s1[l] = F::gather::<R>(s1[l], a1, b[l]);
            s2[l] = F::gather::<R>(s2[l], a2, b[l]);
            s3[l] = F::gather::<R>(s3[l], a3, b[l]);
        }
    }
    [s0, s1, s2, s3]
}

/// As [`four_sums`].
#[inline(always)]
fn eight_sums<R: Rounding, F: Form>(w: &[Lanes], x: [&[f32]; 8]) -> [Lanes; 8] {
    let [x0, x1, x2, x3, x4, x5, x6, x7] = x;
    let [mut s0, mut s1, mut s2, mut s3] = [[F::START; LANES]; 4];
    let [mut s4, mut s5, mut s6, mut s7] = [[F::START; LANES]; 4];
    let first = x0.iter().zip(x1).zip(x2).zip(x3);
    let second = x4.iter().zip(x5).zip(x6).zip(x7);
    for ((b, (((a0, a1), a2), a3)), (((a4, a5), a6), a7)) in w.iter().zip(first).zip(second) {
        for l in 0..LANES {
            s0[l] = F::gather::<R>(s0[l], *a0, b[l]);
            s1[l] = F::gather::<R>(s1[l], *a1, b[l]);
            s2[l] = F::gather::<R>(s2[l], *a2, b[l]);
            s3[l] = F::gather::<R>(s3[l], *a3, b[l]);
            s4[l] = F::gather::<R>(s4[l], *a4, b[l]);
            s5[l] = F::gather::<R>(s5[l], *a5, b[l]);
            s6[l] = F::gather::<R>(s6[l], *a6, b[l]);
            s7[l] = F::gather::<R>(s7[l], *a7, b[l]);
        }
    }
    [s0, s1, s2, s3, s4, s5, s6, s7]
}
