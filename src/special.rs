//! Special functions in portable f64: only `libm` and IEEE operations, so that their bits agree on every platform.

use std::f64::consts::PI;

/// The standard normal quantile of t in (0, 1), to about 1e-16 relative (Wichura 1988, algorithm AS 241, PPND16).
pub(crate) fn normal_quantile(t: f64) -> f64 {
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
    // tan(pi (t - 1/2)) loses every digit near its poles; the cotangent of the distance to the pole does not.
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
mod tests {
    use super::*;

    #[test]
    fn normal_quantile_matches_published_values() {
        // Wichura's own check values, and the far tail from 50-digit arithmetic.
        for (t, z) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (1e-20, -9.262_340_089_798_409),
            (0.975, 1.959_963_984_540_054),
        ] {
            assert!((normal_quantile(t) / z - 1.0).abs() < 4e-16, "{t}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
    }

    #[test]
    fn quantiles_are_odd_and_keep_their_tails() {
        for t in [2f64.powi(-53), 1e-9, 0.1, 0.25, 0.4] {
            // 1 - t is only exact for a t on the 2^-53 grid.
            let t = (t * 2f64.powi(53)).round() / 2f64.powi(53);
            for quantile in [normal_quantile, cauchy_quantile, laplace_quantile] {
                assert_eq!(quantile(t), -quantile(1.0 - t));
            }
        }
        let t = 2f64.powi(-53);
        assert!((cauchy_quantile(t) * PI * t + 1.0).abs() < 1e-15);
        assert!((cauchy_quantile(0.75) - 1.0).abs() < 1e-15);
        assert!((laplace_quantile(0.125) + 2.0 * libm::log(2.0)).abs() < 1e-15);
    }
}
