use super::*;
use crate::seed::{Seed, Stream};

/// Rows of two distributions, more than one unit of parallel work.
fn rows() -> Array2<f32> {
    let mut draws = Seed(5).stream(Stream::Data, 0);
    Array2::from_shape_fn((2500, 2), |(_, k)| match k {
        0 => (2.0 * draws.uniform() - 1.0) as f32 * 3_f32.sqrt(),
        _ => draws.normal() as f32,
    })
}

#[test]
fn sums_are_means_over_rows() {
    let y_nk = rows();
    let w_kk = ndarray::array![[0.6, 0.8], [-0.8, 0.6]];
    let sums = Sums::compute(y_nk.view(), &w_kk);
    let s_nk = y_nk.mapv(f64::from).dot(&w_kk.t());
    for k in 0..2 {
        let mean = |of: &dyn Fn(f64) -> f64| s_nk.column(k).mapv(of).mean().expect("rows");
        let slope = mean(&|s| 1.0 / s.cosh().powi(2));
        assert!((sums.slope_k[k] - slope).abs() < 1e-12);
        let contrast = mean(&|s| s.cosh().ln());
        assert!((sums.contrast_k[k] - contrast).abs() < 1e-12);
        for j in 0..2 {
            let products = s_nk.column(k).mapv(f64::tanh) * y_nk.column(j).mapv(f64::from);
            let mean = products.mean().expect("rows");
            assert!((sums.gy_kk[[k, j]] - mean).abs() < 1e-12);
        }
    }
}

/// `W <- E[g(W y) y'] - diag(E[g'(W y)]) W`, decorrelated (Hyvarinen 1999, eq. 20 and 26), and
/// the uniform source before the Gaussian one.
#[test]
fn a_step_is_fast_icas() {
    let y_nk = rows();
    let once = KernelIcaOptions {
        components: Some(2),
        // Accepts any turn, to stop after one step.
        tolerance: 3.0,
        max_iterations: 1,
    };
    let draws = || Seed(8).stream(Stream::Iteration, 0);
    let (own, iterations) = once
        .unmix(y_nk.view(), &mut draws(), &|_, _| {})
        .expect("one step");
    assert_eq!(iterations, 1);
    let mut again = draws();
    let start = Array2::from_shape_simple_fn((2, 2), || again.normal());
    let w = decorrelated(&start).expect("a rotation");
    let one = w.dot(&w.t()) - Array2::<f64>::eye(2);
    assert!(one.iter().all(|e| e.abs() < 1e-12));
    let Sums { gy_kk, slope_k, .. } = Sums::compute(y_nk.view(), &w);
    let step = Array2::from_shape_fn((2, 2), |(k, j)| gy_kk[[k, j]] - slope_k[k] * w[[k, j]]);
    // The polar factor of a 2 x 2 matrix: M plus or minus its cofactors, over a length.
    let sign = (step[[0, 0]] * step[[1, 1]] - step[[0, 1]] * step[[1, 0]]).signum();
    let polar = ndarray::array![
        [
            step[[0, 0]] + sign * step[[1, 1]],
            step[[0, 1]] - sign * step[[1, 0]]
        ],
        [
            step[[1, 0]] - sign * step[[0, 1]],
            step[[1, 1]] + sign * step[[0, 0]]
        ]
    ];
    let length = polar.row(0).dot(&polar.row(0)).sqrt();
    let polar = polar / length;
    let away = |w: &Array2<f64>, k: usize| {
        let contrast = Sums::compute(y_nk.view(), w).contrast_k[k];
        (contrast - GAUSSIAN).abs()
    };
    let order = if away(&polar, 0) > away(&polar, 1) {
        [0, 1]
    } else {
        [1, 0]
    };
    let expected = polar.select(Axis(0), &order);
    assert!(
        (&own - &expected).iter().all(|e| e.abs() < 1e-10),
        "{own} {expected}"
    );

    let all = KernelIcaOptions::default();
    let (w, _) = all
        .unmix(y_nk.view(), &mut draws(), &|_, _| {})
        .expect("converges");
    assert!(w[[0, 0]].abs() > 0.99 && w[[1, 1]].abs() > 0.99, "{w}");
}

/// On few Gaussian rows FastICA's own steps cycle in two of three draws of five sources. The
/// shortened steps converge to a stationary point of the contrasts over rotations: `s_i E[g(y_i)
/// y_j]` is symmetric (Hyvarinen 1999, eq. 24 for all sources).
#[test]
fn gaussian_rows_have_sources_too() {
    let options = KernelIcaOptions {
        components: Some(5),
        tolerance: 1e-8,
        max_iterations: 5000,
    };
    for seed in 0..20 {
        let mut draws = Seed(seed).stream(Stream::Data, 0);
        let raw = Array2::from_shape_simple_fn((40, 5), || draws.normal());
        let white = decorrelated(&raw.t().to_owned()).expect("full rank");
        let y_nk = white.t().mapv(|v| (v * 40_f64.sqrt()) as f32);
        let y_nk = y_nk.as_standard_layout();
        let (w_kk, _) = options
            .unmix(y_nk.view(), &mut draws, &|_, _| {})
            .expect("ends");
        let one = w_kk.dot(&w_kk.t()) - Array2::<f64>::eye(5);
        assert!(one.iter().all(|e| e.abs() < 1e-12));
        let sums = Sums::compute(y_nk.view(), &w_kk);
        let signed = sums.gy_kk.dot(&w_kk.t()) * &sums.sides(&w_kk).insert_axis(Axis(1));
        let skew = &signed - &signed.t();
        assert!(skew.iter().all(|e| e.abs() < 1e-3), "seed {seed}: {skew}");
    }
}

/// By the trapezoidal rule.
#[test]
fn the_gaussian_mean_of_log_cosh() {
    let step = 1e-3;
    let each = (-12_000..=12_000).map(|i| {
        let s = step * f64::from(i);
        s.cosh().ln() * (-0.5 * s * s).exp()
    });
    let mean = each.sum::<f64>() * step / std::f64::consts::TAU.sqrt();
    assert!((mean - GAUSSIAN).abs() < 1e-12, "{mean}");
}

/// The sample has the same size for any memory, at most all rows, and is refused if half of the
/// memory does not hold it: 2 million rows of two sources take 16 MiB.
#[test]
fn the_sample_goes_by_sources_not_by_memory() {
    let rows = |rows: u64, sources, memory| {
        let run = Run::on(&crate::Device::cpu()).memory(memory);
        sample_rows((rows, sources), &run)
    };
    for memory in [1 << 25, 1 << 30, 1 << 40] {
        assert_eq!(rows(1 << 40, 2, memory).expect("fits"), 1 << 21);
        assert_eq!(rows(500, 2, memory).expect("fits"), 500);
    }
    assert_eq!(rows(1 << 40, 1000, 1 << 30).expect("fits"), 16_000);
    for (sources, memory) in [(2, (1 << 25) - 1), (1000, 1 << 26)] {
        let message = rows(1 << 40, sources, memory)
            .expect_err("short")
            .to_string();
        assert!(
            message.contains("sources") && !message.contains('\n'),
            "{message}"
        );
    }
}
