//! The CPU path: tiles of 4 rows by 16 landmarks kept in vector registers, then the kernel on each.

use crate::kernels::BlockForm;
use std::f32::consts::{FRAC_1_PI, FRAC_PI_2};

/// Landmarks of a tile.
pub(super) const LANES: usize = 16;
/// Rows of a tile.
const ROWS: usize = 4;

type Lanes = [f32; LANES];

/// Writes `k(x, landmark)` of whole rows, `[rows, m]`. `packed` holds the landmarks in tiles `[ceil(m / 16), d, 16]` and
/// `norm` their lengths, padded likewise.
pub(super) fn block(
    form: BlockForm,
    x: &[f32],
    d: usize,
    packed: &[f32],
    norm: &[f32],
    k: &mut [f32],
) {
    pulp::Arch::new().dispatch(|| dispatched(form, x, d, packed, norm, k));
}

#[inline(always)]
fn dispatched(form: BlockForm, x: &[f32], d: usize, packed: &[f32], norm: &[f32], k: &mut [f32]) {
    let squares = |sum: f32, a: f32, b: f32| sum + (a - b) * (a - b);
    match form {
        BlockForm::Gaussian => sweep(x, d, packed, k, 0.0, squares, |r2| exp(-0.5 * r2)),
        BlockForm::Laplacian => {
            let absolute = |sum: f32, a: f32, b: f32| sum + (a - b).abs();
            sweep(x, d, packed, k, 0.0, absolute, |r| exp(-r));
        }
        BlockForm::Exponential => sweep(x, d, packed, k, 0.0, squares, |r2| exp(-r2.sqrt())),
        BlockForm::Matern32 => sweep(x, d, packed, k, 0.0, squares, |r2| {
            let z = 3_f32.sqrt() * r2.sqrt();
            (1.0 + z) * exp(-z)
        }),
        BlockForm::Matern52 => sweep(x, d, packed, k, 0.0, squares, |r2| {
            let z = 5_f32.sqrt() * r2.sqrt();
            (1.0 + z + z * z / 3.0) * exp(-z)
        }),
        BlockForm::Cauchy => {
            // The bounds keep the product finite; 1e-18 is zero beside 1.
            let factor = |product: f32, a: f32, b: f32| {
                let near = (a - b).abs().min(1e9);
                (product * (1.0 + near * near)).min(1e18)
            };
            sweep(x, d, packed, k, 1.0, factor, |product| 1.0 / product);
        }
        BlockForm::Hat => {
            let factor = |product: f32, a: f32, b: f32| product * (1.0 - (a - b).abs()).max(0.0);
            sweep(x, d, packed, k, 1.0, factor, |product| product);
        }
        BlockForm::RationalQuadratic { alpha } => {
            let alpha = alpha as f32;
            let scale = 0.5 / alpha;
            sweep(x, d, packed, k, 0.0, squares, |r2| {
                exp(-alpha * log_of_one_plus(scale * r2))
            });
        }
        BlockForm::ArcCosine { order: 0 } => {
            sweep_angles(x, d, packed, norm, k, |rest, _, _, lengths| {
                if lengths > 0.0 { rest * FRAC_1_PI } else { 0.0 }
            });
        }
        BlockForm::ArcCosine { order: 1 } => {
            sweep_angles(x, d, packed, norm, k, |rest, cosine, sine, lengths| {
                lengths * FRAC_1_PI * (sine + rest * cosine)
            });
        }
        BlockForm::ArcCosine { .. } => {
            sweep_angles(x, d, packed, norm, k, |rest, cosine, sine, lengths| {
                let j = 3.0 * sine * cosine + rest * (1.0 + 2.0 * cosine * cosine);
                lengths * lengths * FRAC_1_PI * j
            });
        }
    }
}

/// Four rows of `x` from `from` on, the last one repeated beyond the end.
#[inline(always)]
fn four(x: &[f32], d: usize, from: usize) -> [&[f32]; ROWS] {
    let rows = x.len() / d;
    std::array::from_fn(|i| &x[(from + i).min(rows - 1) * d..][..d])
}

/// Writes the part of a tile that lies inside `k`, `m` columns wide.
#[inline(always)]
fn store(k: &mut [f32], m: usize, (from, tile): (usize, usize), values: &[Lanes; ROWS]) {
    let columns = LANES.min(m - tile * LANES);
    for (row, values) in k[from * m..].chunks_exact_mut(m).zip(values) {
        row[tile * LANES..][..columns].copy_from_slice(&values[..columns]);
    }
}

#[inline(always)]
fn sweep(
    x: &[f32],
    d: usize,
    packed: &[f32],
    k: &mut [f32],
    start: f32,
    gather: impl Fn(f32, f32, f32) -> f32 + Copy,
    value: impl Fn(f32) -> f32 + Copy,
) {
    let rows = x.len() / d;
    let m = k.len() / rows;
    for (tile, w) in packed.chunks_exact(d * LANES).enumerate() {
        let (w, _) = w.as_chunks::<LANES>();
        for from in (0..rows).step_by(ROWS) {
            let [x0, x1, x2, x3] = four(x, d, from);
            let mut sums = [[start; LANES]; ROWS];
            for ((((b, &a0), &a1), &a2), &a3) in w.iter().zip(x0).zip(x1).zip(x2).zip(x3) {
                for (sum, a) in sums.iter_mut().zip([a0, a1, a2, a3]) {
                    for (s, &b) in sum.iter_mut().zip(b) {
                        *s = gather(*s, a, b);
                    }
                }
            }
            for sum in &mut sums {
                for s in sum {
                    *s = value(*s);
                }
            }
            store(k, m, (from, tile), &sums);
        }
    }
}

/// `value` gets pi - theta, cos theta, sin theta and the product of the lengths. Landmarks are of length 1.
#[inline(always)]
fn sweep_angles(
    x: &[f32],
    d: usize,
    packed: &[f32],
    norm: &[f32],
    k: &mut [f32],
    value: impl Fn(f32, f32, f32, f32) -> f32 + Copy,
) {
    let rows = x.len() / d;
    let m = k.len() / rows;
    for (tile, w) in packed.chunks_exact(d * LANES).enumerate() {
        let (w, _) = w.as_chunks::<LANES>();
        let norm = &norm[tile * LANES..][..LANES];
        for from in (0..rows).step_by(ROWS) {
            let x_rows = four(x, d, from);
            let lengths = x_rows.map(|row| row.iter().map(|v| v * v).sum::<f32>().sqrt());
            let inverse = lengths.map(|l| if l > 0.0 { 1.0 / l } else { 0.0 });
            let [x0, x1, x2, x3] = x_rows;
            let mut apart = [[0_f32; LANES]; ROWS];
            let mut along = [[0_f32; LANES]; ROWS];
            for ((((b, &a0), &a1), &a2), &a3) in w.iter().zip(x0).zip(x1).zip(x2).zip(x3) {
                let unit = [a0, a1, a2, a3];
                for i in 0..ROWS {
                    let a = unit[i] * inverse[i];
                    for l in 0..LANES {
                        apart[i][l] += (a - b[l]) * (a - b[l]);
                        along[i][l] += (a + b[l]) * (a + b[l]);
                    }
                }
            }
            for i in 0..ROWS {
                for l in 0..LANES {
                    // Kahan's angle: tan(theta / 2) = |u - v| / |u + v| keeps its digits at both ends of [0, pi].
                    let (p, q) = (apart[i][l].sqrt(), along[i][l].sqrt());
                    let angle = arc_tangent(p.min(q) / p.max(q).max(1e-30));
                    let rest = 2.0 * if p > q { angle } else { FRAC_PI_2 - angle };
                    let total = (apart[i][l] + along[i][l]).max(1e-30);
                    let cosine = (along[i][l] - apart[i][l]) / total;
                    let sine = 2.0 * p * q / total;
                    apart[i][l] = value(rest, cosine, sine, lengths[i] * norm[l]);
                }
            }
            store(k, m, (from, tile), &apart);
        }
    }
}

/// exp(t) for t <= 0, relative error 1.5e-7; zero below -87, where f32 has no normal numbers left.
#[inline(always)]
fn exp(t: f32) -> f32 {
    // 1.5 * 2^23: adding it rounds to the nearest integer and leaves that integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let bounded = t.max(-87.0);
    let shifted = bounded * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, the first of so few bits that its product with n is exact.
    let r = (bounded - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let mut p = 1.0 / 5040.0;
    for c in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        p = p * r + c;
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    if t < -87.0 { 0.0 } else { p * power }
}

/// log(1 + u) for u >= 0, relative error 3e-7, by the series of the area tangent of u / (2 + u) = (v - 1) / (v + 1),
/// v = 1 + u; larger u go through mantissa and exponent of v.
#[inline(always)]
fn log_of_one_plus(u: f32) -> f32 {
    let bits = (1.0 + u).to_bits().cast_signed();
    let exponent = (bits - 0x3f35_04f3) >> 23;
    let mantissa = f32::from_bits((bits - (exponent << 23)).cast_unsigned());
    let is_small = u < 0.4;
    let s = if is_small {
        u / (2.0 + u)
    } else {
        (mantissa - 1.0) / (mantissa + 1.0)
    };
    let q = s * s;
    let p = ((2.0 / 11.0 * q + 2.0 / 9.0) * q + 2.0 / 7.0) * q + 2.0 / 5.0;
    let series = s * q * (p * q + 2.0 / 3.0) + 2.0 * s;
    if is_small {
        series
    } else {
        exponent as f32 * std::f32::consts::LN_2 + series
    }
}

/// atan(t) for t in [0, 1], within 1.1e-7: a polynomial in t^2 near the best one, as in the shader.
#[inline(always)]
fn arc_tangent(t: f32) -> f32 {
    let q = t * t;
    let mut p = 0.002_834_064_3;
    for c in [
        -0.016_005_03,
        0.042_587_608,
        -0.074_954_45,
        0.106_367_54,
        -0.142_025_7,
        0.199_924_84,
        -0.333_330_67,
        1.0,
    ] {
        p = p * q + c;
    }
    t * p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elementary_functions_keep_their_bounds() {
        for i in 0..200_000 {
            let t = i as f32 / 200_000.0;
            let atan = (f64::from(arc_tangent(t)) - f64::from(t).atan()).abs();
            assert!(atan < 1.1e-7, "atan {t}: {atan:e}");
            let x = -90.0 * t;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs();
            assert!(error < 1.5e-7 * exact + 2e-38, "exp {x}: {error:e}");
            let u = 1e-8 * (43.0 * t).exp();
            let exact = f64::from(u).ln_1p();
            let error = (f64::from(log_of_one_plus(u)) / exact - 1.0).abs();
            assert!(error < 3e-7, "log1p {u}: {error:e}");
        }
        assert_eq!((exp(0.0), log_of_one_plus(0.0)), (1.0, 0.0));
    }
}
