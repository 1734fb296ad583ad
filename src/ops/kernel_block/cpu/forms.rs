//! The CPU path: tiles of 4 rows by 16 landmarks kept in vector registers, then the kernel on each.

use crate::kernels::BlockForm;
use pulp::{Simd, WithSimd};
use std::f32::consts::{FRAC_1_PI, FRAC_PI_2};

/// Landmarks of a tile.
pub(super) const LANES: usize = 16;
/// Rows of a tile.
const ROWS: usize = 4;

type Lanes = [f32; LANES];

/// Writes `k(x, landmark)` of whole rows, `[rows, m]`. `packed` holds the landmarks in tiles
/// `[ceil(m / 16), d, 16]` and `norm` their lengths, padded likewise.
pub(super) fn block(
    form: BlockForm,
    x: &[f32],
    d: usize,
    packed: &[f32],
    norm: &[f32],
    k: &mut [f32],
) {
    pulp::Arch::new().dispatch(Block {
        form,
        x,
        d,
        packed,
        norm,
        k,
    });
}

struct Block<'a> {
    form: BlockForm,
    x: &'a [f32],
    d: usize,
    packed: &'a [f32],
    norm: &'a [f32],
    k: &'a mut [f32],
}

impl WithSimd for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.form {
            BlockForm::Gaussian => sweep(self, Gaussian),
            BlockForm::Laplacian => sweep(self, Laplacian),
            BlockForm::Exponential => sweep(self, Exponential),
            BlockForm::Matern32 => sweep(self, Matern32),
            BlockForm::Matern52 => sweep(self, Matern52),
            BlockForm::Cauchy => sweep(self, Cauchy),
            BlockForm::Hat => sweep(self, Hat),
            BlockForm::RationalQuadratic { alpha } => {
                let alpha = alpha as f32;
                sweep(self, RationalQuadratic { alpha });
            }
            BlockForm::ArcCosine { order } => sweep_angles(self, order),
        }
    }
}

/// A kernel of coordinate differences. Everything is inlined: a call would leave the vector
/// instructions of the dispatch.
trait Form: Copy {
    /// What the coordinates are gathered into, to start with.
    const START: f32 = 0.0;

    /// One coordinate more; squared differences unless said otherwise.
    #[inline(always)]
    fn gather(sum: f32, a: f32, b: f32) -> f32 {
        sum + (a - b) * (a - b)
    }

    /// The kernel from what was gathered.
    fn value(self, sum: f32) -> f32;
}

macro_rules! forms {
    ($($name:ident, $sum:ident => $value:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name;

        impl Form for $name {
            #[inline(always)]
            fn value(self, $sum: f32) -> f32 {
                $value
            }
        }
    )*};
}

forms! {
    Gaussian, r2 => exp(-0.5 * r2);
    Exponential, r2 => exp(-r2.sqrt());
    Matern32, r2 => {
        let z = 1.732_050_8 * r2.sqrt();
        (1.0 + z) * exp(-z)
    };
    Matern52, r2 => {
        let z = 2.236_068 * r2.sqrt();
        (1.0 + z + z * z / 3.0) * exp(-z)
    };
}

#[derive(Clone, Copy)]
struct Laplacian;

impl Form for Laplacian {
    #[inline(always)]
    fn gather(sum: f32, a: f32, b: f32) -> f32 {
        sum + (a - b).abs()
    }

    #[inline(always)]
    fn value(self, r: f32) -> f32 {
        exp(-r)
    }
}

#[derive(Clone, Copy)]
struct Cauchy;

impl Form for Cauchy {
    const START: f32 = 1.0;

    /// The bounds keep the product finite; 1e-18 is zero beside 1.
    #[inline(always)]
    fn gather(product: f32, a: f32, b: f32) -> f32 {
        let near = (a - b).abs().min(1e9);
        (product * (1.0 + near * near)).min(1e18)
    }

    #[inline(always)]
    fn value(self, product: f32) -> f32 {
        1.0 / product
    }
}

#[derive(Clone, Copy)]
struct Hat;

impl Form for Hat {
    const START: f32 = 1.0;

    #[inline(always)]
    fn gather(product: f32, a: f32, b: f32) -> f32 {
        product * (1.0 - (a - b).abs()).max(0.0)
    }

    #[inline(always)]
    fn value(self, product: f32) -> f32 {
        product
    }
}

#[derive(Clone, Copy)]
struct RationalQuadratic {
    alpha: f32,
}

impl Form for RationalQuadratic {
    #[inline(always)]
    fn value(self, r2: f32) -> f32 {
        exp(-self.alpha * log_of_one_plus(r2 / (2.0 * self.alpha)))
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
fn sweep<F: Form>(block: Block<'_>, form: F) {
    let Block {
        x, d, packed, k, ..
    } = block;
    let rows = x.len() / d;
    let m = k.len() / rows;
    for (tile, w) in packed.chunks_exact(d * LANES).enumerate() {
        let (w, _) = w.as_chunks::<LANES>();
        for from in (0..rows).step_by(ROWS) {
            let [x0, x1, x2, x3] = four(x, d, from);
            let [mut s0, mut s1, mut s2, mut s3] = [[F::START; LANES]; ROWS];
            for ((((b, &a0), &a1), &a2), &a3) in w.iter().zip(x0).zip(x1).zip(x2).zip(x3) {
                for l in 0..LANES {
                    s0[l] = F::gather(s0[l], a0, b[l]);
                    s1[l] = F::gather(s1[l], a1, b[l]);
                    s2[l] = F::gather(s2[l], a2, b[l]);
                    s3[l] = F::gather(s3[l], a3, b[l]);
                }
            }
            let mut sums = [s0, s1, s2, s3];
            for sum in &mut sums {
                for s in sum {
                    *s = form.value(*s);
                }
            }
            store(k, m, (from, tile), &sums);
        }
    }
}

/// The arc-cosine kernel of an order. Landmarks are of length 1, their true lengths in `norm`.
#[inline(always)]
fn sweep_angles(block: Block<'_>, order: u32) {
    let Block {
        x,
        d,
        packed,
        norm,
        k,
        ..
    } = block;
    let rows = x.len() / d;
    let m = k.len() / rows;
    for (tile, w) in packed.chunks_exact(d * LANES).enumerate() {
        let (w, _) = w.as_chunks::<LANES>();
        let norm = &norm[tile * LANES..][..LANES];
        for from in (0..rows).step_by(ROWS) {
            let x_rows = four(x, d, from);
            let lengths = x_rows.map(|row| row.iter().map(|v| v * v).sum::<f32>().sqrt());
            let inverse = lengths.map(|l| if l > 0.0 { 1.0 / l } else { 0.0 });
            let mut values = [[0_f32; LANES]; ROWS];
            for i in 0..ROWS {
                let (mut apart, mut along) = ([0_f32; LANES], [0_f32; LANES]);
                for (b, a) in w.iter().zip(x_rows[i]) {
                    let a = a * inverse[i];
                    for l in 0..LANES {
                        apart[l] += (a - b[l]) * (a - b[l]);
                        along[l] += (a + b[l]) * (a + b[l]);
                    }
                }
                for l in 0..LANES {
                    values[i][l] = angular(order, apart[l], along[l], lengths[i] * norm[l]);
                }
            }
            store(k, m, (from, tile), &values);
        }
    }
}

/// The arc-cosine kernel from |u - v|^2 and |u + v|^2 of the unit vectors, and the product of the
/// lengths.
#[inline(always)]
fn angular(order: u32, apart: f32, along: f32, lengths: f32) -> f32 {
    // Kahan's angle: tan(theta / 2) = |u - v| / |u + v| keeps its digits at both ends of [0, pi].
    let (p, q) = (apart.sqrt(), along.sqrt());
    let angle = arc_tangent(p.min(q) / p.max(q).max(1e-30));
    // pi - theta.
    let rest = 2.0 * if p > q { angle } else { FRAC_PI_2 - angle };
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

/// log(1 + u) for u >= 0, relative error 3e-7, by the series of the area tangent of u / (2 + u) =
/// (v - 1) / (v + 1), v = 1 + u; larger u go through mantissa and exponent of v.
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

/// atan(t) for t in [0, 1], within 2e-7: a polynomial in t^2 near the best one, as in the shader.
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
            assert!(atan < 2e-7, "atan {t}: {atan:e}");
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
