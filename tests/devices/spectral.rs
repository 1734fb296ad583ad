//! Spectral embedding and clustering and kernel ICA, compared with the exact kernel, and their
//! invariances.

use crate::common::devices;
use bochner::{kernels::gram, models::LinearModel, prelude::*, seed::Stream};
use faer::prelude::SolveLstsq;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use std::collections::BTreeSet;

/// Two concentric rings, `rows` rows in turn, which k-means cannot separate.
fn rings(rows: usize) -> (Array2<f64>, Vec<usize>) {
    let mut draws = Seed(21).stream(Stream::Data, 0);
    let mut x = Array2::zeros((rows, 2));
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        let radius = [1.0, 4.0][i % 2] + 0.1 * draws.normal();
        let (sin, cos) = (std::f64::consts::TAU * draws.uniform()).sin_cos();
        row[0] = radius * cos;
        row[1] = radius * sin;
    }
    (x, (0..rows).map(|i| i % 2).collect())
}

/// Whether two partitions are equal up to relabelling.
fn same(a: &[usize], b: &[usize]) -> bool {
    let pairs: BTreeSet<_> = a.iter().zip(b).collect();
    let parts = |of: &[usize]| of.iter().collect::<BTreeSet<_>>().len();
    pairs.len() == parts(a) && parts(a) == parts(b)
}

/// The column with the sign of `like`.
fn signed(column: ArrayView1<'_, f64>, like: &Array1<f64>) -> Array1<f64> {
    &column * column.dot(like).signum()
}

/// Coordinates of the random walk on the exact kernel, `[n, k]`: sqrt(volume) u / sqrt(d).
fn exact(x: &Array2<f64>, sigma: f64, k: usize) -> Array2<f64> {
    let n = x.nrows();
    let w = gram(&Gaussian, (x / sigma).view());
    let d = w.sum_axis(Axis(1));
    let laplace = faer::Mat::from_fn(n, n, |i, j| w[[i, j]] / (d[i] * d[j]).sqrt());
    let eigen = laplace
        .self_adjoint_eigen(faer::Side::Lower)
        .expect("finite");
    let volume = d.sum();
    Array2::from_shape_fn((n, k), |(i, j)| {
        eigen.U()[(i, n - 2 - j)] * (volume / d[i]).sqrt()
    })
}

fn cloud(rows: usize) -> Array2<f64> {
    let mut draws = Seed(22).stream(Stream::Data, 0);
    Array2::from_shape_fn((rows, 2), |(_, j)| [1.5, 0.8][j] * draws.normal())
}

fn embedding(map: impl MapBuilder + 'static) -> SpectralEmbedding {
    SpectralEmbedding::on(map)
        .bandwidth(Bandwidth::Sigma(1.5))
        .standardize(Standardize::No)
        .device(&Device::cpu())
}

#[test]
fn with_every_row_a_landmark_coordinates_are_those_of_the_graph() {
    let x = cloud(60);
    let expected = exact(&x, 1.5, 2);
    let model = embedding(Nystrom::new(Gaussian).features(60))
        .fit(&x)
        .expect("fits");
    let own = model.predict(&x).expect("predicts");
    for k in 0..2 {
        let expected = expected.column(k).to_owned();
        let worst =
            (signed(own.column(k), &expected) - &expected).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(worst < 5e-3, "coordinate {k}: {worst}");
    }
    assert_eq!(model.linear().facts["degrees_raised"], 0.0);
}

#[test]
fn coordinates_converge_and_are_the_same_everywhere_and_after_saving_on_devices() {
    let x = cloud(120);
    let expected = exact(&x, 1.5, 1).column(0).to_owned();
    let error = |features: usize| {
        let seeds = (0..4).map(|seed| {
            let map = Fourier::new(Gaussian).features(features).seed(Seed(seed));
            let model = embedding(map).dimensions(1).fit(&x).expect("fits");
            let own = model.predict(&x).expect("predicts");
            let own = own.column(0);
            1.0 - (own.dot(&expected) / (own.dot(&own) * expected.dot(&expected)).sqrt()).abs()
        });
        seeds.sum::<f64>() / 4.0
    };
    let (few, many) = (error(128), error(4096));
    assert!(many < few / 4.0 && many < 0.01, "{few} {many}");

    let fit = |device: &Device, memory: u64| {
        let map = Fourier::new(Gaussian).features(256);
        embedding(map)
            .device(device)
            .memory(memory)
            .fit(&x)
            .expect("fits")
    };
    let model = fit(&Device::cpu(), 128 << 20);
    let expected = model.predict(&x).expect("predicts");
    let worst = |own: &Array2<f64>| (own - &expected).fold(0.0, |m: f64, v| m.max(v.abs()));
    for device in devices() {
        let own = fit(device, 150_000).predict(&x).expect("predicts");
        assert!(worst(&own) < 1e-3, "{}: {}", device.describe(), worst(&own));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spectral.model");
    model.save(&path).expect("saves");
    assert_eq!(
        LinearModel::load(&path).expect("loads").link,
        model.linear().link
    );
    let again: Model<Array2<f64>> = Model::load(&path).expect("loads");
    assert_eq!(
        worst(&again.device(&Device::cpu()).predict(&x).expect("predicts")),
        0.0
    );
}

#[test]
fn rings_are_parted_where_k_means_cannot() {
    let (x, truth) = rings(400);
    let map = || Nystrom::new(Gaussian).features(200);
    let kmeans = KMeans::on(map())
        .bandwidth(Bandwidth::Sigma(20.0))
        .clusters(2);
    let kmeans = kmeans
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .fit(&x);
    let clusters = kmeans.expect("fits").predict(&x).expect("predicts");
    assert!(!same(&clusters, &truth));
    for memory in [128 << 20, 300_000] {
        let model = SpectralClustering::on(map())
            .bandwidth(Bandwidth::Sigma(0.7))
            .standardize(Standardize::No)
            .device(&Device::cpu())
            .memory(memory)
            .clusters(2)
            .fit(&x)
            .expect("fits");
        let clusters = model.predict(&x).expect("predicts");
        assert!(
            same(&clusters, &truth),
            "{memory} {:?}",
            model.linear().facts
        );
    }
}

/// The nearest centre c of coordinates y has the largest y'c - |c|^2/2; multiplied by the degree, a
/// common factor, that is z'(V c - s |c|^2/2) with the V and s of the embedding.
#[test]
fn scores_of_clusters_are_those_of_the_nearest_centre() {
    let x = cloud(150);
    let map = || Fourier::new(Gaussian).features(64);
    let embedded = embedding(map()).dimensions(3).fit(&x).expect("fits");
    // Rows of features with the norm of a kernel's.
    let Some(bochner::models::Link::OverDegree { floor }) = embedded.linear().link else {
        panic!("{:?}", embedded.linear().link)
    };
    assert!((floor - 1.0).abs() < 1e-5, "{floor}");
    let model = SpectralClustering::on(map())
        .bandwidth(Bandwidth::Sigma(1.5))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .clusters(4)
        .fit(&x)
        .expect("fits");
    let basis = &embedded.linear().coefficients.beta_dt;
    let basis = faer::Mat::from_fn(64, 4, |i, j| basis[[i, j]]);
    let beta = &model.linear().coefficients.beta_dt;
    let beta = faer::Mat::from_fn(64, 4, |i, j| beta[[i, j]]);
    let parts = basis.qr().solve_lstsq(&beta);
    assert!((&basis * &parts - &beta).norm_max() < 1e-6 * beta.norm_max());
    for k in 0..4 {
        let square: f64 = (0..3).map(|j| parts[(j, k)] * parts[(j, k)]).sum();
        let ratio = -parts[(3, k)] / (square / 2.0);
        assert!((ratio - 1.0).abs() < 1e-6, "{k}: {ratio}");
    }
}

#[test]
fn graphs_that_are_not_there_are_refused_in_one_line() {
    let x = cloud(4);
    let map = || Fourier::new(Gaussian).features(32);
    for (result, says) in [
        (embedding(map()).dimensions(0).fit(&x), "not 0"),
        (
            embedding(map()).dimensions(32).fit(&x),
            "1 to 31 coordinates",
        ),
        (embedding(map()).dimensions(9).fit(&x), "have 3 coordinates"),
    ] {
        let message = result.expect_err(says).to_string();
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
    let one = SpectralClustering::on(map())
        .device(&Device::cpu())
        .clusters(1)
        .fit(&x);
    assert!(
        one.expect_err("one")
            .to_string()
            .contains("2 clusters or more")
    );
}

/// At a fixed point of the symmetric iteration, a step E[tanh(s) s'] - diag(E[1 - tanh(s)^2]) of
/// the centred sources changes only their signs: after multiplying rows by the sign of their
/// diagonal, it is symmetric. For skewed distributions, uncentred rows have another fixed point.
#[test]
fn sources_are_a_fixed_point_of_the_iteration() {
    let mut draws = Seed(24).stream(Stream::Data, 0);
    let s = Array2::from_shape_fn((1500, 2), |(_, k)| match k {
        0 => 1.7 * (2.0 * draws.uniform() - 1.0),
        _ => -draws.uniform().ln(),
    });
    let x = s.dot(&ndarray::array![[1.0, 0.6], [-0.5, 1.2]]);
    let model = KernelIca::on(Fourier::new(Gaussian).features(64))
        .bandwidth(Bandwidth::Sigma(4.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .components(3)
        .fit(&x)
        .expect("fits");
    let found = model.predict(&x).expect("predicts");
    let g = found.mapv(f64::tanh);
    let mut step = g.t().dot(&found) / 1500.0;
    let slope = 1.0 - g.mapv(|g| g * g).mean_axis(Axis(0)).expect("rows");
    for (k, mut row) in step.rows_mut().into_iter().enumerate() {
        row[k] -= slope[k];
        row *= row[k].signum();
    }
    let apart = (&step - &step.t()).fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(apart < 2e-3, "{apart}: {step}");
}

/// Mixed uniform sources: with a wide kernel features are nearly linear.
#[test]
fn mixed_sources_come_back_on_devices() {
    let mut draws = Seed(23).stream(Stream::Data, 0);
    let s = Array2::from_shape_simple_fn((2000, 2), || 2.0 * draws.uniform() - 1.0);
    let x = s.dot(&ndarray::array![[1.0, 0.6], [-0.5, 1.2]]);
    let fit = |device: &Device, memory: u64| {
        KernelIca::on(Fourier::new(Gaussian).features(512))
            .bandwidth(Bandwidth::Sigma(8.0))
            .standardize(Standardize::No)
            .device(device)
            .memory(memory)
            .components(2)
            .fit(&x)
            .expect("fits")
    };
    let correlation = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
        let (a, b) = (&a - a.mean().expect("rows"), &b - b.mean().expect("rows"));
        (a.dot(&b) / (a.dot(&a) * b.dot(&b)).sqrt()).abs()
    };
    let model = fit(&Device::cpu(), 128 << 20);
    let found = model.predict(&x).expect("predicts");
    for k in 0..2 {
        let (a, b) = (
            correlation(found.column(k), s.column(0)),
            correlation(found.column(k), s.column(1)),
        );
        assert!(a.max(b) > 0.98 && a.min(b) < 0.15, "{a} {b}");
        let column = found.column(k);
        assert!(column.mean().expect("rows").abs() < 1e-2);
        assert!((column.var(1.0) - 1.0).abs() < 1e-2, "{}", column.var(1.0));
    }
    assert!(correlation(found.column(0), found.column(1)) < 1e-2);
    for device in devices() {
        let own = fit(device, 1 << 20).predict(&x).expect("predicts");
        let both = (0..2).map(|k| correlation(own.column(k), found.column(0)));
        assert!(both.fold(0.0, f64::max) > 0.999, "{}", device.describe());
    }
    // Gaussian sources, or more sources than directions, cannot be found.
    let same = KernelIca::on(Fourier::new(Gaussian))
        .bandwidth(Bandwidth::Sigma(1.0))
        .device(&Device::cpu());
    let message = same
        .fit(&Array2::from_elem((9, 2), 1.0))
        .expect_err("constant")
        .to_string();
    assert!(message.contains("do not vary"), "{message}");
}
