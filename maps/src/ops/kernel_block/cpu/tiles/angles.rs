//! Kernels of angles.

use super::{
    super::{
        elementary::{Rounding, arc_tangent},
        forms::LANES,
    },
    Block, ROWS, some_rows, store,
};
use std::f32::consts::{FRAC_1_PI, FRAC_PI_2};

/// The arc-cosine kernel of an order. Landmarks are of length 1, their true lengths in `norm`.
#[inline(always)]
pub(super) fn sweep<R: Rounding>(block: Block<'_>, order: u32) {
    let Block {
        x,
        d,
        packed,
        norm,
        landmarks,
        k,
        ..
    } = block;
    let rows = x.len() / d;
    for (tile, w) in packed.chunks_exact(d * LANES).enumerate() {
        let (w, _) = w.as_chunks::<LANES>();
        let norm = &norm[tile * LANES..][..LANES];
        for from in (0..rows).step_by(ROWS) {
            let x_rows = some_rows::<ROWS>(x, d, from);
            let lengths = x_rows.map(|row| row.iter().map(|v| v * v).sum::<f32>().sqrt());
            // A row of zeros has no direction; it stays zero, and `angular` knows by its length.
            let inverse = lengths.map(|l| if l > 0.0 { 1.0 / l } else { 0.0 });
            let mut values = [[0_f32; LANES]; ROWS];
            // Row by row: two sums each, so that four rows at once would spill.
            for i in 0..ROWS {
                let (mut apart, mut along) = ([0_f32; LANES], [0_f32; LANES]);
                for (b, a) in w.iter().zip(x_rows[i]) {
                    let a = a * inverse[i];
                    for l in 0..LANES {
                        apart[l] = R::mul_add(a - b[l], a - b[l], apart[l]);
                        along[l] = R::mul_add(a + b[l], a + b[l], along[l]);
                    }
                }
                for l in 0..LANES {
                    values[i][l] = angular::<R>(order, apart[l], along[l], lengths[i] * norm[l]);
                }
            }
            store(k, (landmarks, landmarks), (from, tile), &values);
        }
    }
}

/// The arc-cosine kernel from |u - v|^2 and |u + v|^2 of the unit vectors, and the product of the
/// lengths.
#[inline(always)]
fn angular<R: Rounding>(order: u32, apart: f32, along: f32, lengths: f32) -> f32 {
    // Kahan's angle: tan(theta / 2) = |u - v| / |u + v| keeps its digits at both ends of [0, pi].
    let (p, q) = (apart.sqrt(), along.sqrt());
    let angle = arc_tangent::<R>(p.min(q) / p.max(q).max(1e-30));
    // pi - theta.
    let rest = 2.0 * if p > q { angle } else { FRAC_PI_2 - angle };
    // 4, but for the rounding of the unit vectors, which the division takes out again; 0 where
    // both are zero.
    let total = (apart + along).max(1e-30);
    let cosine = (along - apart) / total;
    let sine = 2.0 * p * q / total;
    match order {
        0 if lengths > 0.0 => rest * FRAC_1_PI,
        0 => 0.0,
        1 => lengths * FRAC_1_PI * (sine + rest * cosine),
        _ => {
            let j = 3.0 * sine * cosine + rest * (1.0 + 2.0 * cosine * cosine);
            lengths * lengths * FRAC_1_PI * j
        }
    }
}
