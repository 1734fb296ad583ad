//! cos(2 pi t) and sin(2 pi t) of phases in turns: the same polynomial as `shaders/shared/cos2pi.wgsl`.
//!
//! `t - round(t)` is exact in f32, so the error is that of the polynomial, 2e-7 at any phase; WGSL's own `cos` is promised to
//! 2^-11 inside [-pi, pi] only.

/// Odd minimax polynomial of sin(2 pi u) on [-1/4, 1/4] in u^2, constant term last; error 3.3e-9 before rounding.
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
///
/// ```
/// assert!((bochner::ops::cos2pi::cos2pi(1.0e6 + 0.5) + 1.0).abs() < 1e-6);
/// ```
#[inline(always)]
pub fn cos2pi(t: f32) -> f32 {
    sin_quarter(0.25 - fraction(t).abs())
}

/// sin(2 pi t), within 2e-7.
#[inline(always)]
pub fn sin2pi(t: f32) -> f32 {
    let r = fraction(t);
    sin_quarter(0.25 - (r.abs() - 0.25).abs()).copysign(r)
}

/// cos(2 pi t) in f64: the reference.
pub fn reference_cos(t: f64) -> f64 {
    (std::f64::consts::TAU * (t - t.round())).cos()
}

/// sin(2 pi t) in f64: the reference.
pub fn reference_sin(t: f64) -> f64 {
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
