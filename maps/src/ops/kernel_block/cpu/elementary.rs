//! Elementary functions in f32 that compile to vector instructions. Everything is inlined: a call
//! would leave those of the dispatch.

use crate::simd::fused::{in_parts, is_plain};
use pulp::Simd;

/// How `a b + c` is computed.
pub(super) trait Rounding: Copy {
    fn mul_add(a: f32, b: f32, c: f32) -> f32;
}

/// Rounded once, in one instruction.
#[derive(Clone, Copy)]
pub(super) struct Once;

/// Rounded once, where a processor has no such instruction.
#[derive(Clone, Copy)]
pub(super) struct InParts;

/// Rounded twice.
#[derive(Clone, Copy)]
pub(super) struct Twice;

impl Rounding for Once {
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Rounding for InParts {
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        in_parts(a, b, c)
    }
}

impl Rounding for Twice {
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// What takes a way of rounding.
pub(super) trait ByRounding {
    fn round<R: Rounding>(self);
}

/// Has it round as vectors of these instructions do: those of browsers do it twice.
#[inline(always)]
pub(super) fn as_vectors<S: Simd>(work: impl ByRounding) {
    if is_plain::<S>() {
        work.round::<InParts>();
    } else if cfg!(target_family = "wasm") {
        work.round::<Twice>();
    } else {
        work.round::<Once>();
    }
}

/// exp(t) - 1 for t <= 0, relative error 2e-7.
#[inline(always)]
pub(super) fn exp_less_one<R: Rounding>(t: f32) -> f32 {
    let (r, power) = reduced::<R>(t.max(-87.0));
    // (exp(r) - 1) / r by Taylor's series, by Horner. |r| <= 0.347: the first term that is left
    // out is 1.5e-8.
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
        p = R::mul_add(p, r, c);
    }
    // exp(r) - 1 keeps its digits, and so does power - 1, which is 0 for t near 0.
    R::mul_add(power, p * r, power - 1.0)
}

/// exp(t) for t <= 0, relative error 1.5e-7; zero below -87, where f32 has no normal numbers left.
#[inline(always)]
pub(super) fn exp<R: Rounding>(t: f32) -> f32 {
    // The bound keeps 2^n a normal number, whose bits `reduced` can write.
    let (r, power) = reduced::<R>(t.max(-87.0));
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
        p = R::mul_add(p, r, c);
    }
    if t < -87.0 { 0.0 } else { p * power }
}

/// `(r, 2^n)` with exp(t) = 2^n exp(r), n whole and |r| at most ln 2 / 2, for -87 <= t <= 0.
#[inline(always)]
fn reduced<R: Rounding>(t: f32) -> (f32, f32) {
    // 1.5 * 2^23: adding it rounds to the nearest integer and leaves that integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let shifted = R::mul_add(t, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    // ln 2 in two parts, the first of so few bits that its product with n is exact.
    let r = R::mul_add(n, 2.121_944_4e-4, R::mul_add(n, -0.693_359_4, t));
    // 2^n from the bits of n: the low ones, moved into the exponent's place, and its bias of 127.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    (r, power)
}

/// log(1 + u) for u >= 0, relative error 3e-7, by the series of the area tangent of u / (2 + u) =
/// (v - 1) / (v + 1), v = 1 + u; larger u go through mantissa and exponent of v.
#[inline(always)]
pub(super) fn log_of_one_plus<R: Rounding>(u: f32) -> f32 {
    // v = 2^exponent mantissa with the mantissa in [sqrt(1/2), sqrt(2)), whose logarithm is small:
    // 0x3f3504f3 are the bits of sqrt(1/2), and what is taken off them carries into the exponent.
    let bits = (1.0 + u).to_bits().cast_signed();
    let exponent = (bits - 0x3f35_04f3) >> 23;
    let mantissa = f32::from_bits((bits - (exponent << 23)).cast_unsigned());
    let is_small = u < 0.4;
    // Small u from u itself: 1 + u has lost its last digits.
    let s = if is_small {
        u / (2.0 + u)
    } else {
        (mantissa - 1.0) / (mantissa + 1.0)
    };
    // 2 s + 2/3 s^3 + 2/5 s^5 + ...; |s| <= 0.172, so that six terms are enough. The largest is
    // added last.
    let q = s * s;
    let mut p = 2.0 / 11.0;
    for c in [2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0] {
        p = R::mul_add(p, q, c);
    }
    let series = R::mul_add(s * q, p, 2.0 * s);
    if is_small {
        series
    } else {
        R::mul_add(exponent as f32, std::f32::consts::LN_2, series)
    }
}

/// atan(t) for t in [0, 1], within 2e-7: a polynomial in t^2 near the best one, as in the shader.
#[inline(always)]
pub(super) fn arc_tangent<R: Rounding>(t: f32) -> f32 {
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
        p = R::mul_add(p, q, c);
    }
    t * p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elementary_functions_keep_their_bounds() {
        keep_their_bounds::<Once>();
        keep_their_bounds::<InParts>();
        keep_their_bounds::<Twice>();
    }

    fn keep_their_bounds<R: Rounding>() {
        for i in 0..200_000 {
            let t = i as f32 / 200_000.0;
            let atan = (f64::from(arc_tangent::<R>(t)) - f64::from(t).atan()).abs();
            assert!(atan < 2e-7, "atan {t}: {atan:e}");
            let x = -90.0 * t;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp::<R>(x)) - exact).abs();
            assert!(error < 1.5e-7 * exact + 2e-38, "exp {x}: {error:e}");
            for x in [x, -1e-8 * (20.0 * t).exp()] {
                let exact = f64::from(x).exp_m1();
                let error = (f64::from(exp_less_one::<R>(x)) - exact).abs();
                assert!(error <= -2e-7 * exact, "exp - 1 of {x}: {error:e}");
            }
            let u = 1e-8 * (43.0 * t).exp();
            let exact = f64::from(u).ln_1p();
            let error = (f64::from(log_of_one_plus::<R>(u)) / exact - 1.0).abs();
            assert!(error < 3e-7, "log1p {u}: {error:e}");
        }
        assert_eq!((exp::<R>(0.0), log_of_one_plus::<R>(0.0)), (1.0, 0.0));
        assert_eq!(
            (exp_less_one::<R>(0.0), exp_less_one::<R>(-1e30)),
            (0.0, -1.0)
        );
    }
}
