//! cos(2 pi t) and sin(2 pi t) of phases in turns: the same polynomial as
//! `shaders/shared/cos2pi.wgsl`.
//!
//! `t - round(t)` is exact in f32, so the error is that of the polynomial, 2e-7 at any phase;
//! WGSL's own `cos` is promised to 2^-11 inside [-pi, pi] only.

use super::Fused;
use pulp::Simd;
#[cfg(target_arch = "aarch64")]
use pulp::{aarch64::Neon, f32x4};
#[cfg(target_arch = "x86_64")]
use pulp::{
    f32x16,
    x86::{V3, V4},
};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::any::Any;

/// Odd minimax polynomial of sin(2 pi u) on [-1/4, 1/4] in u^2, constant term last; error 3.3e-9
/// before rounding.
#[expect(
    clippy::excessive_precision,
    reason = "the digits of the shader's literals"
)]
const SIN: [f32; 5] = [
    39.536_706_762,
    -76.549_787_382,
    81.601_004_077,
    -41.341_655_031,
    6.283_185_16,
];

#[inline(always)]
fn sin_quarter(u: f32) -> f32 {
    let q = u * u;
    let [a, b, c, d, e] = SIN;
    u * ((((a * q + b) * q + c) * q + d) * q + e)
}

/// `t - round(t)` in [-1/2, 1/2], exact; one instruction where vectors are wide.
#[inline(always)]
fn fraction(t: f32) -> f32 {
    t - t.round_ties_even()
}

/// cos(2 pi t), within 2e-7.
#[inline(always)]
pub(crate) fn cos2pi(t: f32) -> f32 {
    // cos(2 pi t) = sin(2 pi (1/4 - |r|)), and 1/4 - |r| is in [-1/4, 1/4], where the polynomial
    // holds.
    sin_quarter(0.25 - fraction(t).abs())
}

/// sin(2 pi t), within 2e-7.
#[inline(always)]
pub(crate) fn sin2pi(t: f32) -> f32 {
    let r = fraction(t);
    // |sin| mirrored about the quarter turn, with the sign of r.
    sin_quarter(0.25 - (r.abs() - 0.25).abs()).copysign(r)
}

/// `t - round(t)`, exact at any phase, by the instruction that AVX-512, AVX2 or NEON has for it or
/// for rounding.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn reduced<S: Simd>(simd: S, t: S::f32s) -> Option<S::f32s> {
    // Known when this is compiled, as are the sizes in the casts.
    let simd_type: &dyn Any = &simd;
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = simd_type.downcast_ref::<V4>() {
        let t: f32x16 = bytemuck::cast(t);
        let r: f32x16 = pulp::cast(token.avx512dq._mm512_reduce_ps::<0>(pulp::cast(t)));
        return Some(bytemuck::cast(r));
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = simd_type.downcast_ref::<V3>() {
        let rounded = token.round_f32x8(bytemuck::cast(t));
        return Some(simd.sub_f32s(t, bytemuck::cast(rounded)));
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(token) = simd_type.downcast_ref::<Neon>() {
        let t: f32x4 = bytemuck::cast(t);
        let rounded: f32x4 = pulp::cast(token.neon.vrndnq_f32(pulp::cast(t)));
        return Some(simd.sub_f32s(bytemuck::cast(t), bytemuck::cast(rounded)));
    }
    None
}

/// `|t - round(t)|`, at most 1/2, and `t - round(t)` for its sign, exact at any phase.
#[inline(always)]
fn fractions<S: Simd>(simd: S, t: S::f32s) -> (S::f32s, S::f32s) {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if let Some(r) = reduced(simd, t) {
        return (simd.abs_f32s(r), r);
    }
    // Adding and subtracting 2^23 rounds what is less to the nearest integer; what is not is one.
    let whole = simd.splat_f32s(8_388_608.0);
    let size = simd.abs_f32s(t);
    let rounded = simd.sub_f32s(simd.add_f32s(size, whole), whole);
    let is_whole = simd.greater_than_or_equal_f32s(size, whole);
    let r = simd.select_f32s(is_whole, simd.splat_f32s(0.0), simd.sub_f32s(size, rounded));
    let sign = simd.and_f32s(t, simd.splat_f32s(-0.0));
    (simd.abs_f32s(r), simd.xor_f32s(r, sign))
}

#[inline(always)]
fn sin_quarters<S: Simd>(simd: S, u: S::f32s) -> S::f32s {
    let q = simd.mul_f32s(u, u);
    let mut p = simd.splat_f32s(SIN[0]);
    for c in &SIN[1..] {
        p = simd.fused_f32s(p, q, simd.splat_f32s(*c));
    }
    simd.mul_f32s(u, p)
}

/// cos(2 pi t) of a vector, within 2e-7.
#[inline(always)]
pub(crate) fn cosines<S: Simd>(simd: S, t: S::f32s) -> S::f32s {
    let (distance, _) = fractions(simd, t);
    sin_quarters(simd, simd.sub_f32s(simd.splat_f32s(0.25), distance))
}

/// cos(2 pi t) and sin(2 pi t) of a vector, within 2e-7.
#[inline(always)]
pub(crate) fn cosines_and_sines<S: Simd>(simd: S, t: S::f32s) -> (S::f32s, S::f32s) {
    let quarter = simd.splat_f32s(0.25);
    let (distance, r) = fractions(simd, t);
    // As the scalar forms: u gives the cosine, and 1/4 - |u| the size of the sine.
    let u = simd.sub_f32s(quarter, distance);
    let sin = sin_quarters(simd, simd.sub_f32s(quarter, simd.abs_f32s(u)));
    let sign = simd.and_f32s(r, simd.splat_f32s(-0.0));
    (sin_quarters(simd, u), simd.xor_f32s(sin, sign))
}

/// cos(2 pi t) in f64: the reference.
pub(crate) fn reference_cos(t: f64) -> f64 {
    (std::f64::consts::TAU * (t - t.round())).cos()
}

/// sin(2 pi t) in f64: the reference.
pub(crate) fn reference_sin(t: f64) -> f64 {
    (std::f64::consts::TAU * (t - t.round())).sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_2e_7_of_f64_at_every_size_of_phase() {
        for scale in [0.25_f32, 1.0, 16.0, 1e3, 1e5, 1e6, 3e7] {
            for i in 0..20_000 {
                let t = scale * (i as f32 / 10_000.0 - 1.0);
                let cos = (f64::from(cos2pi(t)) - reference_cos(t.into())).abs();
                let sin = (f64::from(sin2pi(t)) - reference_sin(t.into())).abs();
                assert!(cos < 2e-7 && sin < 2e-7, "t = {t}: {cos:e}, {sin:e}");
            }
        }
    }

    #[test]
    fn vectors_are_within_2e_7_at_every_size_of_phase() {
        struct Sweep(f32);
        impl pulp::WithSimd for Sweep {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                for i in 0..20_000 {
                    let t = self.0 * (i as f32 / 10_000.0 - 1.0);
                    let (cos, sin) = cosines_and_sines(simd, simd.splat_f32s(t));
                    let cos = bytemuck::cast_slice::<_, f32>(std::slice::from_ref(&cos))[0];
                    let sin = bytemuck::cast_slice::<_, f32>(std::slice::from_ref(&sin))[0];
                    let errors = [
                        (f64::from(cos) - reference_cos(t.into())).abs(),
                        (f64::from(sin) - reference_sin(t.into())).abs(),
                    ];
                    assert!(errors.iter().all(|&e| e < 2e-7), "t = {t}: {errors:?}");
                }
            }
        }
        for scale in [0.25_f32, 1.0, 16.0, 1e3, 1e5, 1e6, 4e6, 3e7, 1e30] {
            crate::instructions::arch().dispatch(Sweep(scale));
        }
    }

    /// Those of the highest powers are beyond what a sweep of phases can see.
    #[test]
    fn the_shader_has_the_same_coefficients() {
        let mut shared = bochner_shaders::SHARED.iter();
        let (_, text) = shared
            .find(|(stem, _)| *stem == "cos2pi")
            .expect("a shader");
        let (_, body) = text.split_once("fn sin_quarter").expect("the polynomial");
        let (body, _) = body.split_once("}").expect("its end");
        let literals = body.split("vec4f(").skip(1);
        let literals: Vec<f32> = literals
            .filter_map(|rest| rest.split(')').next()?.parse().ok())
            .collect();
        assert_eq!(literals, SIN);
    }

    #[test]
    fn quarter_turns_are_exact() {
        for (t, cos, sin) in [
            (0.0, 1.0, 0.0),
            (0.25, 0.0, 1.0),
            (0.5, -1.0, 0.0),
            (-0.25, 0.0, -1.0),
        ] {
            assert!((cos2pi(t) - cos).abs() < 1.2e-7, "cos {t}");
            assert!((sin2pi(t) - sin).abs() < 1.2e-7, "sin {t}");
        }
    }
}
