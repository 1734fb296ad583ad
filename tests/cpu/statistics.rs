//! Feature maps compared with closed forms: over many seeds the estimate of k is unbiased and its
//! variance is the known one. The negative control shows that a bandwidth wrong by a few per cent
//! fails.

use bochner::{
    Device, Matrix,
    data::Rows,
    features::{Affine, FeatureMap, Form, Fourier},
    kernels::{Gaussian, Kernel},
    seed::Seed,
};
use ndarray::{Array2, array};

const SEEDS: u64 = 500;
const FEATURES: usize = 32;

/// z(x)'z(y) for the pairs (row 0, row i), for each seed.
fn estimates(form: Form, x: &Array2<f64>, lengthscale: f64) -> Array2<f64> {
    let device = Device::cpu();
    let rows = Rows::from(x);
    let mut k = Array2::zeros((SEEDS as usize, x.nrows() - 1));
    for seed in 0..SEEDS {
        let input = Affine::identity(x.ncols())
            .lengthscale(lengthscale)
            .expect("positive");
        let map = Fourier::new(Gaussian)
            .form(form)
            .features(FEATURES)
            .seed(Seed(seed));
        let map = map.build(input).expect("builds");
        let mut x_nd = Matrix::new(&device, x.nrows(), x.ncols()).expect("fits");
        let mut z_nd = Matrix::new(&device, x.nrows(), FEATURES).expect("fits");
        map.input().load(&rows, &mut x_nd).expect("loads");
        let mut loaded = map.load(&device).expect("loads");
        loaded.featurize(&x_nd, &mut z_nd).expect("runs");
        let z = z_nd.download().expect("reads").mapv(f64::from);
        for i in 1..x.nrows() {
            k[[seed as usize, i - 1]] = z.row(0).dot(&z.row(i));
        }
    }
    k
}

/// Largest deviations relative to 4 sigma: (of the means, of the variances).
fn deviations(form: Form, lengthscale_used: f64) -> (f64, f64) {
    let x = array![
        [0.3, -0.2, 0.7],
        [0.5, 0.1, 0.2],
        [1.2, -1.0, 0.4],
        [-0.7, 0.9, -0.1],
        [0.31, -0.2, 0.69]
    ];
    let lengthscale = 1.3;
    let k = estimates(form, &x, lengthscale_used);
    let (mut mean_worst, mut variance_worst) = (0.0_f64, 0.0_f64);
    for i in 1..x.nrows() {
        let unit = |i: usize| (&x.row(i) / lengthscale).to_vec();
        let exact = Gaussian.evaluate(&unit(0), &unit(i));
        // k(2 Delta): the pair at twice the distance.
        let far: Vec<f64> = unit(0)
            .iter()
            .zip(unit(i))
            .map(|(a, b)| 2.0 * b - a)
            .collect();
        let double = Gaussian.evaluate(&unit(0), &far);
        let variance = match form {
            Form::Paired => 1.0 + double - 2.0 * exact * exact,
            Form::Phase => 1.0 + double / 2.0 - exact * exact,
        } / FEATURES as f64;
        let column = k.column(i - 1);
        let mean = column.mean().expect("not empty");
        let empirical = column
            .mapv(|v| (v - exact).powi(2))
            .mean()
            .expect("not empty");
        let r = SEEDS as f64;
        mean_worst = mean_worst.max((mean - exact).abs() / (4.0 * (variance / r).sqrt()));
        // Four standard deviations of a variance whose kurtosis is close to a Gaussian's.
        let ratio = (empirical / variance - 1.0).abs() / (4.0 * (2.0 / r).sqrt());
        // The nearly equal pair has a tiny variance, far from Gaussian: only its mean is checked.
        if variance > 1e-4 {
            variance_worst = variance_worst.max(ratio);
        }
    }
    (mean_worst, variance_worst)
}

#[test]
fn fourier_features_are_unbiased_with_the_known_variance() {
    for form in [Form::Paired, Form::Phase] {
        let (mean, variance) = deviations(form, 1.3);
        assert!(mean < 1.0, "{form}: mean off by {mean} of what is allowed");
        assert!(
            variance < 1.0,
            "{form}: variance off by {variance} of what is allowed"
        );
    }
}

/// Negative control: a bandwidth 5 per cent off.
#[test]
fn a_bandwidth_slightly_off_is_noticed() {
    for wrong in [1.3 * 1.05, 1.3 / 1.05] {
        let (mean, _) = deviations(Form::Paired, wrong);
        assert!(mean > 1.0, "lengthscale {wrong} passes: {mean}");
    }
}
