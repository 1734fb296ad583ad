//! Unsupervised learners compared with the exact kernel, and their invariances.

use crate::common::devices;
use bochner::{
    Run,
    data::MemorySource,
    features::Landmarks,
    kernels::gram,
    models::{LinearModel, PcaSolver},
    prelude::*,
    seed::Stream,
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Rows of three columns with decreasing spread.
fn cloud(rows: usize) -> Array2<f64> {
    let mut draws = Seed(11).stream(Stream::Data, 0);
    Array2::from_shape_fn((rows, 3), |(_, j)| [1.5, 1.0, 0.6][j] * draws.normal())
}

/// Three blobs of deviation 0.3, `rows` rows in turn, and the blob of each.
fn blobs(rows: usize) -> (Array2<f64>, Vec<usize>) {
    let mut draws = Seed(12).stream(Stream::Data, 0);
    let centres = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| centres[i % 3][j] + 0.3 * draws.normal());
    (x, (0..rows).map(|i| i % 3).collect())
}

fn pca(features: usize) -> KernelPca {
    KernelPca::on(Fourier::new(Gaussian).features(features))
        .bandwidth(Bandwidth::Sigma(2.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
}

fn kmeans(clusters: usize) -> KMeans {
    KMeans::on(Fourier::new(Gaussian).features(64))
        .bandwidth(Bandwidth::Sigma(2.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .clusters(clusters)
}

/// Eigenvalues, largest first, and eigenvectors of the centred kernel matrix at sigma = 2.
fn exact(x: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let n = x.nrows();
    let k = gram(&Gaussian, (x / 2.0).view());
    let means = k.mean_axis(Axis(0)).expect("rows");
    let all = k.mean().expect("entries");
    let centred = faer::Mat::from_fn(n, n, |i, j| k[[i, j]] - means[i] - means[j] + all);
    let eigen = centred
        .self_adjoint_eigen(faer::Side::Lower)
        .expect("finite");
    let value = |k: usize| eigen.S().column_vector()[n - 1 - k];
    let vectors = Array2::from_shape_fn((n, n), |(i, k)| eigen.U()[(i, n - 1 - k)]);
    ((0..n).map(value).collect(), vectors)
}

fn worst(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    (a - b).fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// The column with the sign of `like`.
fn signed(column: ArrayView1<'_, f64>, like: ArrayView1<'_, f64>) -> Array1<f64> {
    &column * column.dot(&like).signum()
}

/// Clusters of weighted rows, some far away with weight 0: equal the clusters without these, bit
/// for bit whether or not memory holds the features. Other weights give other centres.
#[test]
fn clusters_count_rows_by_their_weights_on_devices() {
    let (mut x, _) = blobs(900);
    let weight = |i: usize| [0.0, 1.5, 1.0, 4.0][i % 4];
    for i in (0..900).step_by(4) {
        x.row_mut(i).fill(40.0);
    }
    let counting: Vec<usize> = (0..900).filter(|i| i % 4 > 0).collect();
    let rows = |of: &[usize], weight: &dyn Fn(usize) -> f64| {
        let weights: Array1<f64> = of.iter().map(|&i| weight(i)).collect();
        let source = MemorySource::new(x.select(Axis(0), of), None).expect("rows");
        source.with_weights(weights).expect("weights")
    };
    let all: Vec<usize> = (0..900).collect();
    let all_devices = devices();
    let bits = |of: Array2<f64>| of.mapv(f64::to_bits);
    for device in all_devices {
        let kmeans = kmeans(3).device(device).tolerance(0.0);
        let fit = |mut rows: MemorySource| kmeans.fit(&mut rows).expect("fits");
        let (with, without) = (fit(rows(&all, &weight)), fit(rows(&counting, &weight)));
        let beta = |model: &Model<Vec<usize>>| model.linear().coefficients.beta_dt.clone();
        let little = kmeans.clone().memory(200_000);
        let little = little.fit(&mut rows(&all, &weight)).expect("fits");
        assert_eq!(bits(beta(&little)), bits(beta(&with)));
        let off = worst(&beta(&with), &beta(&without));
        assert!(off < 1e-6, "{}: {off:e}", device.describe());
        let inertia = [&with, &without].map(|model| model.linear().facts["inertia"]);
        assert!((inertia[0] / inertia[1] - 1.0).abs() < 1e-6, "{inertia:?}");
        let even = fit(rows(&counting, &|_| 1.0));
        assert!(worst(&beta(&even), &beta(&without)) > 1e-3);
    }
    let none = kmeans(3).fit(&mut rows(&all, &|_| 0.0));
    let message = none.expect_err("no row counts").to_string();
    assert!(message.contains("weight 0"), "{message}");
}

/// Components of weighted rows equal the components of repeated rows; rows of weight 0 are ignored.
/// Other weights give other components, and a total weight below two rows is refused.
#[test]
fn components_count_rows_by_their_weights_on_devices() {
    let x = cloud(400);
    let count = |i: usize| [1_usize, 0, 3, 2][i % 4];
    let often: Vec<usize> = (0..400).flat_map(|i| [i].repeat(count(i))).collect();
    let weighted = |scale: f64| {
        let weights: Array1<f64> = (0..400).map(|i| scale * count(i) as f64).collect();
        let source = MemorySource::new(x.clone(), None).expect("rows");
        source.with_weights(weights).expect("weights")
    };
    for device in devices() {
        let pca = pca(64).components(3).device(device);
        let with = pca.fit(&mut weighted(1.0)).expect("fits");
        let without = pca.fit(&x.select(Axis(0), &often)).expect("fits");
        let of = |model: &Model<Array2<f64>>| {
            let LinearModel {
                coefficients,
                principal,
                ..
            } = model.linear();
            (coefficients.clone(), principal.clone().expect("components"))
        };
        let ((own, variances), (expected, known)) = (of(&with), of(&without));
        assert!(worst(&own.beta_dt, &expected.beta_dt) < 1e-4);
        let means = (&variances.mean_d - &known.mean_d).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(means < 1e-6, "{means:e}");
        for (own, expected) in variances.variance_t.iter().zip(&known.variance_t) {
            assert!((own / expected - 1.0).abs() < 1e-5, "{own} {expected}");
        }
        assert!((variances.total_variance / known.total_variance - 1.0).abs() < 1e-5);
        assert_eq!(with.linear().facts["weight"], often.len() as f64);
        let even = of(&pca.fit(&x).expect("fits"));
        assert!(worst(&even.0.beta_dt, &expected.beta_dt) > 1e-2);
        // From merged parts, too.
        let mut growing = pca.start(&mut weighted(1.0)).expect("starts");
        growing.add(&mut weighted(1.0)).expect("adds");
        let twice = of(&growing.model().expect("solves")).1;
        let n = often.len() as f64;
        let shrunk = (2.0 * n) / (2.0 * n - 1.0) * (n - 1.0) / n;
        let ratio = twice.total_variance / known.total_variance;
        assert!((ratio / shrunk - 1.0).abs() < 1e-5, "{ratio} {shrunk}");
    }
    let none = pca(64).components(1).fit(&mut weighted(1e-3)).err();
    let message = none.expect("less than a row").to_string();
    assert!(
        message.contains("weights") && message.contains("above 1"),
        "{message}"
    );
    // With all directions a sketch is exact.
    let solver = PcaSolver::Randomized {
        oversampling: 61,
        passes: 3,
    };
    let sketch = pca(64).components(3).solver(solver);
    let [with, without] = [
        sketch.fit(&mut weighted(1.0)),
        pca(64).components(3).fit(&x.select(Axis(0), &often)),
    ]
    .map(|model| {
        model
            .expect("fits")
            .linear()
            .principal
            .clone()
            .expect("components")
    });
    assert!((with.total_variance / without.total_variance - 1.0).abs() < 1e-5);
    assert!(
        (&with.mean_d - &without.mean_d)
            .iter()
            .all(|off| off.abs() < 1e-6)
    );
    for (own, expected) in with.variance_t.iter().zip(&without.variance_t) {
        assert!((own / expected - 1.0).abs() < 1e-4, "{own} {expected}");
    }
}

#[test]
fn with_every_row_a_landmark_components_are_those_of_the_kernel_matrix() {
    let x = cloud(50);
    let (values, vectors) = exact(&x);
    let model = KernelPca::on(Nystrom::new(Gaussian).features(50))
        .bandwidth(Bandwidth::Sigma(2.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .components(4)
        .fit(&x)
        .expect("fits");
    let principal = model.linear().principal.as_ref().expect("kept");
    let total: f64 = values.iter().sum();
    assert!((principal.total_variance / (total / 49.0) - 1.0).abs() < 1e-3);
    let scores = model.predict(&x).expect("predicts");
    for (k, value) in values.iter().enumerate().take(4) {
        let ratio = principal.variance_t[k] / (value / 49.0);
        assert!((ratio - 1.0).abs() < 1e-3, "eigenvalue {k}: {ratio}");
        let expected = vectors.column(k).mapv(|u| u * value.sqrt());
        let difference = signed(scores.column(k), expected.view()) - &expected;
        let worst = difference.fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(worst < 2e-3, "scores {k}: {worst}");
    }
}

/// A kernel of distances is invariant under rotation, shift and reflection; components depend on
/// the kernel only, have zero mean and no covariance with each other, and the reported variance.
#[test]
fn components_turn_and_move_with_the_rows() {
    let x = cloud(60);
    let fit = |x: &Array2<f64>| {
        let landmarks = Nystrom::new(Gaussian).landmarks(Landmarks::Rows(x.clone()));
        let model = KernelPca::on(landmarks.features(60))
            .bandwidth(Bandwidth::Sigma(2.0))
            .standardize(Standardize::No)
            .device(&Device::cpu())
            .components(3)
            .fit(x)
            .expect("fits");
        let variances = model
            .linear()
            .principal
            .as_ref()
            .expect("kept")
            .variance_t
            .clone();
        (model.predict(x).expect("predicts"), variances)
    };
    let (scores, variances) = fit(&x);
    let (sin, cos) = 0.7_f64.sin_cos();
    let turn = ndarray::array![[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, -1.0]];
    let (moved, of_moved) = fit(&(x.dot(&turn) + &ndarray::array![3.0, -2.0, 5.0]));
    for k in 0..3 {
        assert!(
            (of_moved[k] / variances[k] - 1.0).abs() < 1e-4,
            "{of_moved:?} {variances:?}"
        );
        let own = signed(moved.column(k), scores.column(k));
        let off = (&own - &scores.column(k)).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(off < 2e-3, "{k}: {off}");
        assert!(scores.column(k).mean().expect("rows").abs() < 1e-5);
        for j in 0..3 {
            let covariance = scores.column(j).dot(&scores.column(k)) / 59.0;
            let expected = if j == k { variances[k] } else { 0.0 };
            assert!(
                (covariance - expected).abs() < 1e-4 * variances[0],
                "{j} {k}"
            );
        }
    }
}

#[test]
fn components_converge_to_the_kernels_as_features_grow() {
    let x = cloud(80);
    let (values, vectors) = exact(&x);
    let error = |features: usize| {
        let seeds = (0..4).map(|seed| {
            let model = pca(features).seed(Seed(seed)).components(3).fit(&x);
            let model = model.expect("fits");
            let variances = &model.linear().principal.as_ref().expect("kept").variance_t;
            let scores = model.predict(&x).expect("predicts");
            (0..3)
                .map(|k| {
                    let expected = vectors.column(k).mapv(|u| u * values[k].sqrt());
                    let own = scores.column(k);
                    let cosine = own.dot(&expected) / (own.dot(&own) * values[k]).sqrt();
                    (variances[k] * 79.0 / values[k] - 1.0).abs() + 1.0 - cosine.abs()
                })
                .sum::<f64>()
        });
        seeds.sum::<f64>() / 4.0
    };
    let (few, many) = (error(64), error(4096));
    // Errors of eigenvalues decrease as 1/sqrt(D), errors of eigenvectors faster.
    assert!(many < few / 4.0 && many < 0.12, "{few} {many}");
}

#[test]
fn components_are_the_same_on_every_device_in_any_chunks_and_order() {
    let x = cloud(300);
    let fit = |device: &Device, memory: u64, x: &Array2<f64>| {
        let model = pca(64).device(device).memory(memory).components(3).fit(x);
        model.expect("fits")
    };
    let expected = fit(&Device::cpu(), 128 << 20, &x)
        .predict(&x)
        .expect("predicts");
    for device in devices() {
        let model = fit(device, 30_000, &x);
        let scores = model.predict(&x).expect("predicts");
        assert!(worst(&scores, &expected) < 1e-4, "{}", device.describe());
    }
    let order: Vec<usize> = (0..300).map(|i| (i * 7) % 300).collect();
    let model = fit(&Device::cpu(), 128 << 20, &x.select(Axis(0), &order));
    assert!(worst(&model.predict(&x).expect("predicts"), &expected) < 1e-4);
}

#[test]
fn reconstruction_errors_are_what_the_components_leave() {
    let x = cloud(200);
    let model = pca(96).explained_variance(0.8).fit(&x).expect("fits");
    let principal = model.linear().principal.clone().expect("kept");
    let ratio: f64 = principal.explained_variance_ratio().iter().sum();
    let last = principal.explained_variance_ratio().pop().expect("some");
    assert!(ratio >= 0.8 && ratio - last < 0.8, "{ratio}");
    assert_eq!(model.linear().facts["explained_variance_ratio"], ratio);
    let errors = model.reconstruction_errors(&x).expect("streams");
    let left = principal.total_variance * (1.0 - ratio) * 199.0 / 200.0;
    let mean = errors.mean().expect("rows");
    assert!((mean / left - 1.0).abs() < 1e-3, "{mean} {left}");
    // Far from all rows the reconstruction error is large.
    let far = model.reconstruction_errors(Array2::from_elem((1, 3), 40.0));
    assert!(far.expect("streams")[0] > 4.0 * mean);

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pca.model");
    model.save(&path).expect("saves");
    let again = LinearModel::load(&path).expect("loads");
    assert_eq!(again.principal, Some(principal));
    let mut chunks: Vec<f64> = Vec::new();
    let mut source = MemorySource::new(&x, None).expect("a source");
    let run = Run::on(&Device::cpu()).memory(60_000);
    again
        .reconstruction_errors(&mut source, run, |errors| {
            chunks.extend(errors);
            Ok(())
        })
        .expect("streams");
    let worst = errors.iter().zip(&chunks).map(|(a, b)| (a - b).abs());
    assert!(worst.fold(0.0, f64::max) < 1e-6);
}

#[test]
fn components_that_are_not_there_are_refused_in_one_line() {
    let x = cloud(5);
    let same = Array2::from_elem((9, 3), 0.7);
    for (result, says) in [
        (pca(16).components(0).fit(&x), "0 components"),
        (pca(16).components(17).fit(&x), "16 features"),
        (pca(16).components(9).fit(&x), "vary in 4 directions"),
        (pca(16).explained_variance(0.0).fit(&x), "above 0"),
        (pca(16).fit(&x.slice(s![..1, ..])), "at least 2 rows"),
        (pca(16).fit(&same), "do not vary"),
    ] {
        let message = result.expect_err(says).to_string();
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
    let binned = KernelPca::on(Binning::new(Laplacian)).device(&Device::cpu());
    assert!(matches!(binned.fit(&x), Err(Error::Unsupported(_))));
    assert_eq!(
        pca(16)
            .explained_variance(1.0)
            .fit(&x)
            .expect("fits")
            .predict(&x)
            .expect("")
            .ncols(),
        4
    );
}

/// Whether two partitions are equal up to relabelling.
fn same(a: &[usize], b: &[usize]) -> bool {
    let pairs: std::collections::BTreeSet<_> = a.iter().zip(b).collect();
    let parts = |of: &[usize]| of.iter().collect::<std::collections::BTreeSet<_>>().len();
    pairs.len() == parts(a) && parts(a) == parts(b)
}

#[test]
fn blobs_are_found_on_every_device_in_any_chunks_order_and_place() {
    let (x, truth) = blobs(600);
    let clusters = |model: &Model<Vec<usize>>, x: &Array2<f64>| model.predict(x).expect("predicts");
    let whole = kmeans(3).fit(&x).expect("fits");
    assert!(same(&clusters(&whole, &x), &truth));
    assert_eq!(whole.linear().facts["iterations_on_sample"], 0.0);
    let inertia = whole.linear().facts["inertia"];
    for device in devices() {
        // Features are recomputed in each pass.
        let model = kmeans(3)
            .device(device)
            .memory(60_000)
            .fit(&x)
            .expect("fits");
        assert!(same(&clusters(&model, &x), &truth), "{}", device.describe());
        let facts = &model.linear().facts;
        assert!((facts["inertia"] / inertia - 1.0).abs() < 1e-4);
    }
    let order: Vec<usize> = (0..600).map(|i| (i * 7) % 600).collect();
    let model = kmeans(3).fit(&x.select(Axis(0), &order)).expect("fits");
    assert!(same(&clusters(&model, &x), &truth));
    assert!((model.linear().facts["inertia"] / inertia - 1.0).abs() < 1e-5);
    let moved = &x + 3.0;
    let model = kmeans(3).fit(&moved).expect("fits");
    assert!(same(&clusters(&model, &moved), &truth));
    assert!((model.linear().facts["inertia"] / inertia - 1.0).abs() < 1e-4);
}

/// sum K_ii - sum over clusters of the mean of their blocks of K.
#[test]
fn with_every_row_a_landmark_inertia_is_that_of_kernel_k_means() {
    let (x, _) = blobs(60);
    let model = KMeans::on(Nystrom::new(Gaussian).features(60))
        .bandwidth(Bandwidth::Sigma(2.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .clusters(4)
        .starts(3)
        .fit(&x)
        .expect("fits");
    let cluster = model.predict(&x).expect("predicts");
    let k = gram(&Gaussian, (&x / 2.0).view());
    let mut inertia = 60.0;
    for c in 0..4 {
        let rows: Vec<usize> = (0..60).filter(|&i| cluster[i] == c).collect();
        let block = k.select(Axis(0), &rows).select(Axis(1), &rows);
        inertia -= block.sum() / rows.len() as f64;
    }
    let own = model.linear().facts["inertia"];
    assert!((own / inertia - 1.0).abs() < 2e-3, "{own} {inertia}");
}

#[test]
fn the_fewest_components_that_explain_a_share_are_kept() {
    let x = cloud(200);
    let all = pca(32).components(8).fit(&x).expect("fits");
    let all = all.linear().principal.clone().expect("kept");
    let mut explained = 0.0;
    for (k, ratio) in all.explained_variance_ratio().into_iter().enumerate() {
        explained += ratio;
        for (share, kept) in [(explained - 1e-6, k + 1), (explained + 1e-6, k + 2)] {
            let model = pca(32).explained_variance(share).fit(&x).expect("fits");
            let own = model.linear().principal.as_ref().expect("kept");
            assert_eq!(own.variance_t.len(), kept, "{share}");
        }
    }
}

/// The nearest centre c has the largest z'c - |c|^2/2, for every c.
#[test]
fn scores_of_clusters_are_those_of_the_nearest_centre() {
    let x = cloud(200);
    let model = kmeans(6).fit(&x).expect("fits");
    let coefficients = &model.linear().coefficients;
    let squares = coefficients.beta_dt.map_axis(Axis(0), |c| c.dot(&c));
    let worst = (&coefficients.intercept_t + &(squares / 2.0)).mapv(f64::abs);
    assert!(worst.sum() < 1e-12, "{worst}");
}

#[test]
fn more_starts_are_no_worse_and_seeds_repeat() {
    let x = cloud(400);
    let inertia = |starts: usize, seed: u64| {
        let model = kmeans(12).starts(starts).seed(Seed(seed)).fit(&x);
        model.expect("fits").linear().facts["inertia"]
    };
    for seed in 0..3 {
        assert!(inertia(6, seed) <= inertia(1, seed) + 1e-9);
        assert_eq!(inertia(1, seed), inertia(1, seed));
    }
}

#[test]
fn clusters_that_rows_do_not_make_are_refused_in_one_line() {
    let x = cloud(5);
    let mut twice = Array2::from_elem((9, 3), 0.7);
    twice.row_mut(3).fill(-1.0);
    for (result, says) in [
        (kmeans(6).fit(&x), "6 clusters of 5 rows"),
        (kmeans(0).fit(&x), "0 clusters"),
        (kmeans(2).starts(0).fit(&x), "0 starts"),
        (kmeans(2).tolerance(-1.0).fit(&x), "tolerance"),
        (kmeans(3).fit(&twice), "2 different points"),
    ] {
        let message = result.expect_err(says).to_string();
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
    let one = kmeans(1).fit(&twice).expect("fits");
    assert_eq!(one.predict(&twice).expect("predicts"), vec![0; 9]);
    let each = kmeans(5).fit(&x).expect("fits");
    let mut clusters = each.predict(&x).expect("predicts");
    clusters.sort_unstable();
    assert_eq!(clusters, [0, 1, 2, 3, 4]);
    assert!(each.linear().facts["inertia"] < 1e-4);
}
