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

#[test]
fn bessel_k_matches_published_values() {
    // From 30-digit arithmetic.
    for (nu, x, k) in [
        (0.3, 0.01, 6.890_102_638_292_77),
        (0.3, 1.7, 0.169_073_052_272_134_4),
        (0.75, 0.2, 3.151_601_086_382_876),
        (0.75, 2.1, 0.112_649_429_645_078_44),
        (1.0, 1.0, 0.601_907_230_197_234_6),
        (1.0, 1e-6, 999_999.999_992_784_3),
        (2.2, 5.5, 0.003_198_686_536_329_171),
        (3.7, 0.5, 344.198_342_087_044_2),
        (7.25, 20.0, 2.045_921_318_998_141e-9),
        (10.0, 3.0, 2_459.620_422_056_946_8),
        (25.5, 12.0, 5_319.555_135_841_952),
        (0.5, 3.0, 0.036_025_985_131_764_59),
    ] {
        let error = weighted_bessel_k(nu, x, 0.0) / k - 1.0;
        assert!(error.abs() < 1e-14, "K_{nu}({x}): {error:e}");
    }
}

#[test]
fn matern_meets_its_closed_forms_and_limits() {
    for z in [1e-300, 1e-8, 0.01, 0.3, 1.0, 4.0, 30.0, 800.0] {
        let forms = [(0.5, 1.0), (1.5, 1.0 + z), (2.5, 1.0 + z + z * z / 3.0)];
        for (nu, front) in forms {
            let exact = front * libm::exp(-z);
            let error = (matern(nu, z) - exact).abs();
            let rounding = 4e-16 * (10.0 + nu * libm::log(z).abs() + z);
            assert!(
                error <= rounding * exact + 1e-300,
                "nu {nu}, z {z:e}: {error:e}"
            );
        }
    }
    // nu -> infinity is the Gaussian, with an error of order 1/nu.
    let nu = 5000.0;
    assert!((matern(nu, (2.0 * nu).sqrt()) - libm::exp(-0.5)).abs() < 1.0 / nu);
    assert!(matern(0.01, 1e-12) < 1.0);
}

#[test]
fn damped_erf_matches_published_values() {
    // Re erf(x + i y) from 30-digit arithmetic.
    for (x, y, re) in [
        (0.5, 0.5, 0.642_612_914_854_820_5),
        (1.0, -2.0, -0.536_643_565_778_565),
        (3.0, 1.0, 0.999_942_386_132_013_8),
        (0.1, 5.0, 6_817_477_771.513_837),
        (2.5, -8.0, 7.431_745_867_036_469e23),
    ] {
        let error = damped_erf(x, y) - re * libm::exp(-y * y);
        assert!(error.abs() < 4e-16, "{x} {y}: {error:e}");
    }
    assert!(damped_erf(2.0, 1e3).abs() < 1e-3);
}

#[test]
fn chi_squared_tails_match_published_values() {
    // The usual table of critical values, and SciPy's chi2.sf.
    for (dof, x, tail) in [
        (1.0, 3.841_458_820_694_124, 0.05),
        (1.0, 6.634_896_601_021_213, 0.01),
        (2.0, 5.991_464_547_107_979, 0.05),
        (10.0, 18.307_038_053_275_146, 0.05),
        (10.0, 3.940_299_136_119_060_4, 0.95),
        (100.0, 124.342_113_404_004_08, 0.05),
        (3.7, 20.0, 3.683_924_031_249_858e-4),
        (0.3, 1e-3, 0.657_298_122_326_557_9),
        (50.0, 250.0, 2.177_291_001_112_404e-28),
        (2e5, 2e5, 0.499_579_477_889_634_8),
    ] {
        let error = chi_squared_tail(dof, x) / tail - 1.0;
        // Logarithms of the size of dof cancel.
        let allowed = 1e-10 + 4e-15 * dof;
        assert!(error.abs() < allowed, "{dof} {x}: {error:e}");
    }
    assert_eq!(chi_squared_tail(3.0, 0.0), 1.0);
    assert_eq!(chi_squared_tail(3.0, -1.0), 1.0);
    assert_eq!(chi_squared_tail(3.0, f64::INFINITY), 0.0);
    assert_eq!(chi_squared_tail(3.0, 1e9), 0.0);
}

#[test]
fn gamma_quantile_inverts_the_incomplete_gamma() {
    // P(a, x) from 30-digit arithmetic.
    for (a, x, p) in [
        (0.5, 0.3, 0.561_421_973_919_000_1),
        (1.5, 0.1, 0.022_410_702_238_350_6),
        (3.0, 2.5, 0.456_186_884_116_670_5),
        (3.0, 10.0, 0.997_230_604_284_488_4),
        (100.0, 90.0, 0.158_220_989_186_430_17),
        (100.0, 130.0, 0.997_249_591_632_693_5),
        (0.1, 1e-5, 0.332_398_405_040_503_3),
    ] {
        // Near t = 1 the rounding of t itself moves x.
        let error = gamma_quantile(a, p) / x - 1.0;
        assert!(error.abs() < 1e-13, "a {a}, x {x}: {error:e}");
    }
    // Gamma(1) is exponential; extremes stay finite and positive.
    let tiny = 2f64.powi(-53);
    assert!((gamma_quantile(1.0, 1.0 - tiny) / (53.0 * LN_2) - 1.0).abs() < 1e-14);
    assert!((gamma_quantile(1.0, tiny) / tiny - 1.0).abs() < 1e-13);
    for shape in [1e-3, 0.02, 0.5, 7.0, 1e4] {
        for t in [tiny, 0.01, 0.5, 0.99, 1.0 - tiny] {
            let x = gamma_quantile(shape, t);
            assert!(x > 0.0 && x.is_finite(), "shape {shape}, t {t}: {x}");
        }
    }
}
