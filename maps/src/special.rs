//! Special functions in portable f64: only `libm` and IEEE operations, so that their bits agree on
//! every platform.

use std::f64::consts::{LN_2, PI};

/// The standard normal quantile of t in (0, 1), to about 1e-16 relative (Wichura 1988, algorithm AS
/// 241, PPND16).
pub fn normal_quantile(t: f64) -> f64 {
    let q = t - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(&CENTRE_TOP, r) / polynomial(&CENTRE_BOTTOM, r);
    }
    // 1 - t is exact for t >= 1/2, so both tails keep full accuracy.
    let tail = if q < 0.0 { t } else { 1.0 - t };
    let r = (-libm::log(tail)).sqrt();
    let magnitude = if r <= 5.0 {
        polynomial(&MIDDLE_TOP, r - 1.6) / polynomial(&MIDDLE_BOTTOM, r - 1.6)
    } else {
        polynomial(&FAR_TOP, r - 5.0) / polynomial(&FAR_BOTTOM, r - 5.0)
    };
    if q < 0.0 { -magnitude } else { magnitude }
}

/// The quantile of the standard Cauchy law at t in (0, 1).
pub(crate) fn cauchy_quantile(t: f64) -> f64 {
    // tan(pi (t - 1/2)) loses every digit near its poles; the cotangent of the distance to the pole
    // does not.
    if t < 0.25 {
        -1.0 / libm::tan(PI * t)
    } else if t > 0.75 {
        1.0 / libm::tan(PI * (1.0 - t))
    } else {
        libm::tan(PI * (t - 0.5))
    }
}

/// The quantile of the standard Laplace law (density exp(-|x|)/2) at t in (0, 1).
pub(crate) fn laplace_quantile(t: f64) -> f64 {
    if t < 0.5 {
        libm::log(2.0 * t)
    } else {
        -libm::log(2.0 * (1.0 - t))
    }
}

/// The quantile of Gamma(shape, scale 1) at t in (0, 1), to about 1e-14 relative: Newton's method
/// on the logarithm of the smaller tail against the logarithm of x, where both tails are nearly
/// straight lines, kept inside a bracket.
pub(crate) fn gamma_quantile(shape: f64, t: f64) -> f64 {
    let log_gamma = libm::lgamma(shape);
    let lower = t <= 0.5;
    let target = libm::log(if lower { t } else { 1.0 - t });
    // Wilson & Hilferty's cube, or the leading term of the series where that cube fails.
    let spread = 1.0 / (9.0 * shape);
    let cube = 1.0 - spread + normal_quantile(t) * spread.sqrt();
    let mut u = if cube > 0.1 {
        libm::log(shape) + 3.0 * libm::log(cube)
    } else {
        (libm::log(t) + log_gamma + libm::log(shape)) / shape
    };
    let (mut low, mut high) = (-1e5_f64, 1e5_f64);
    for _ in 0..100 {
        let x = libm::exp(u).clamp(f64::MIN_POSITIVE, f64::MAX);
        let (log_p, log_q) = log_gamma_tails(shape, x, log_gamma);
        // Positive where x is too large.
        let excess = if lower {
            log_p - target
        } else {
            target - log_q
        };
        if excess > 0.0 {
            high = u;
        } else {
            low = u;
        }
        let tail = if lower { log_p } else { log_q };
        let slope = libm::exp(shape * libm::log(x) - x - log_gamma - tail);
        let mut next = u - excess / slope;
        // The comparison is false for NaN too.
        if !(next >= low && next <= high) {
            next = 0.5 * (low + high);
        }
        let step = (next - u).abs();
        u = next;
        // Newton's error is squared at each step: what is left is below rounding.
        if step <= 1e-8 {
            break;
        }
    }
    libm::exp(u).max(f64::MIN_POSITIVE)
}

/// P(X > x) for X of the chi-squared law with `dof` > 0 degrees of freedom, any real number of
/// them.
pub fn chi_squared_tail(dof: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    // Far beyond the mean, where the fraction's terms would overflow, the tail is 0 in f64.
    if x > 1e3 * (dof + 10.0) {
        return 0.0;
    }
    let shape = 0.5 * dof;
    libm::exp(log_gamma_tails(shape, 0.5 * x, libm::lgamma(shape)).1)
}

/// Logarithms of the regularised incomplete gamma functions P(a, x) and Q(a, x): the power series
/// below x = a + 1, Lentz's continued fraction above (Abramowitz & Stegun 6.5.29, 6.5.31).
fn log_gamma_tails(a: f64, x: f64, log_gamma: f64) -> (f64, f64) {
    let front = a * libm::log(x) - x - log_gamma;
    let other = |log_tail: f64| libm::log(-libm::expm1(log_tail));
    if x < a + 1.0 {
        let (mut sum, mut term, mut n) = (1.0 / a, 1.0 / a, a);
        while term > 1e-17 * sum {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        // Rounding may carry P a hair above 1.
        let log_p = (front + libm::log(sum)).min(-f64::MIN_POSITIVE);
        return (log_p, other(log_p));
    }
    let mut b = x + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let numerator = -i * (i - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        fraction *= d * c;
        if (d * c - 1.0).abs() <= 3e-16 {
            break;
        }
    }
    let log_q = (front + libm::log(fraction)).min(-f64::MIN_POSITIVE);
    (other(log_q), log_q)
}

/// exp(-y^2) Re erf(x + i y), which stays of order 1 where erf itself overflows; x > 0 (Salzer's
/// series, Abramowitz & Stegun 7.1.29, its hyperbolic functions merged with the exponentials;
/// absolute error about 1e-16).
pub(crate) fn damped_erf(x: f64, y: f64) -> f64 {
    let y = y.abs();
    let (sin, cos) = (libm::sin(2.0 * x * y), libm::cos(2.0 * x * y));
    let gauss = libm::exp(-x * x);
    let damping = libm::exp(-y * y);
    // 1 - cos(2xy) = 2 sin^2(xy), without cancellation for small x.
    let half = libm::sin(x * y);
    let first = damping * (libm::erf(x) + gauss * half * half / (PI * x));
    // exp(-n^2/4) is spent after n = 13; with cosh(ny) the terms peak at n = 2y.
    let last = (2.0 * y) as u64 + 14;
    let begin = if y > 14.0 { (2.0 * y) as u64 - 14 } else { 1 };
    let term = |n: u64| {
        let n = n as f64;
        let (fall, rise) = (y + 0.5 * n, y - 0.5 * n);
        let (low, high) = (libm::exp(-fall * fall), libm::exp(-rise * rise));
        let flat = damping * libm::exp(-0.25 * n * n);
        let waves = x * (2.0 * flat - (high + low) * cos) + 0.5 * n * (high - low) * sin;
        waves / (n * n + 4.0 * x * x)
    };
    first + 2.0 / PI * gauss * (begin..=last).map(term).sum::<f64>()
}

/// 2^(1-nu)/Gamma(nu) z^nu K_nu(z), the Matern kernel at z = sqrt(2 nu) r; 1 at z = 0.
pub(crate) fn matern(nu: f64, z: f64) -> f64 {
    if z == 0.0 {
        return 1.0;
    }
    let log_factor = (1.0 - nu) * LN_2 - libm::lgamma(nu) + nu * libm::log(z);
    weighted_bessel_k(nu, z, log_factor).min(1.0)
}

/// exp(log_factor) K_nu(x) for x > 0, with no overflow in between: the trapezoidal rule on
/// K_nu(x) = int_0^inf exp(-x cosh t) cosh(nu t) dt (DLMF 10.32.9), which converges geometrically.
/// Its error is exp(-2 pi y/step) times the growth of the integrand, (1/cos y)^c with c^2 = x^2 +
/// nu^2, on the line Im t = y: under e^-44 for the best y < pi/2 with a step of min(0.14, 0.5/sqrt
/// c). What is left is rounding, about 1e-16 (1 + |log_factor|).
pub(crate) fn weighted_bessel_k(nu: f64, x: f64, log_factor: f64) -> f64 {
    let step = f64::min(0.14, 0.5 / (x * x + nu * nu).sqrt().sqrt());
    let mut sum = 0.5 * libm::exp(log_factor - x);
    let mut best = sum;
    for i in 1.. {
        let t = f64::from(i) * step;
        let base = log_factor - x * libm::cosh(t);
        let term = 0.5 * (libm::exp(base + nu * t) + libm::exp(base - nu * t));
        sum += term;
        best = f64::max(best, term);
        // Past the peak of the integrand (where x sinh t = nu) terms only fall, faster than
        // geometrically.
        if x * libm::sinh(t) > nu && (term <= 1e-18 * best || term == 0.0) {
            break;
        }
    }
    sum * step
}

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule in a fixed order.
pub(crate) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

const CENTRE_TOP: [f64; 8] = [
    3.387_132_872_796_366_5,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_3e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const CENTRE_BOTTOM: [f64; 8] = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_659_7e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_854e3,
];
const MIDDLE_TOP: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const MIDDLE_BOTTOM: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const FAR_TOP: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const FAR_BOTTOM: [f64; 8] = [
    1.0,
    5.998_322_065_558_879e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests;
