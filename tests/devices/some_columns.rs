//! Maps of some of the columns, and sums of them.

use crate::common::{devices, normal, worst};
use bochner::{
    Device, Matrix,
    data::{MemorySource, Rows, Survey},
    features::{Affine, FeatureMap, MapSpec, Store},
    kernels,
    models::{FitOptions, LinearModel, Targets},
};
use ndarray::{Array2, Axis, s};

const ROWS: usize = 60;

fn rows() -> Array2<f64> {
    normal(ROWS, 4, 1).mapv(f64::from)
}

/// A map of the Laplacian kernel for these rows, with centred columns on different scales.
fn map(choice: &str, x: &Array2<f64>) -> Box<dyn FeatureMap> {
    let kernel = kernels::parse("laplacian").expect("a kernel");
    let mut spec = MapSpec::new(choice.parse().expect("maps"), kernel);
    spec.features = 120;
    let input = Affine::new(vec![0.1, -0.2, 0.3, 0.0], vec![0.5, 0.25, 0.5, 1.0]);
    let mut source = MemorySource::new(x.clone(), None).expect("finite");
    let map = spec.build(input.expect("finite"), x, &mut source, &Device::cpu());
    map.expect(choice)
}

fn featurize(map: &dyn FeatureMap, device: &Device, x: &Array2<f64>) -> Array2<f32> {
    let mut z = Vec::new();
    let mut source = MemorySource::new(x.clone(), None).expect("finite");
    bochner::features::featurize(map, &mut source, device, |chunk| {
        z.extend(chunk.iter().copied());
        Ok(())
    })
    .expect("runs");
    Array2::from_shape_vec((x.nrows(), map.output_dim()), z).expect("whole")
}

/// The sum of kernels of columns, computed explicitly: `exp(-sum_j s_j |x_j - y_j|)`.
fn kernel(x: &Array2<f64>, parts: &[(&[usize], f64)]) -> Array2<f64> {
    let scale = [0.5, 0.25, 0.5, 1.0];
    Array2::from_shape_fn((x.nrows(), x.nrows()), |(i, k)| {
        let of = |columns: &[usize]| {
            let apart = columns
                .iter()
                .map(|&j| scale[j] * (x[[i, j]] - x[[k, j]]).abs());
            (-apart.sum::<f64>()).exp()
        };
        parts
            .iter()
            .map(|(columns, weight)| weight * of(columns))
            .sum()
    })
}

/// With all rows as landmarks the kernel is exact, so that weights, scales and columns of parts are
/// checked to the last digits; a column that no part uses has no effect.
#[test]
fn sums_of_parts_are_sums_of_their_kernels_on_devices() {
    let x = rows();
    let two: &[(&[usize], f64)] = &[(&[0], 0.3), (&[1, 2], 0.7)];
    let one: &[(&[usize], f64)] = &[(&[1, 2], 1.0)];
    for (choice, parts) in [
        ("0.3*nystrom[0]:60+0.7*nystrom[1:3]:60", two),
        ("nystrom[2,1]:60", one),
    ] {
        let map = map(choice, &x);
        let mut store = Store::default();
        map.write(&mut store).expect("writes");
        let read = bochner::features::read(&store).expect("reads");
        let mut other = x.clone();
        other.column_mut(3).mapv_inplace(|x| 5.0 - 3.0 * x);
        for device in devices() {
            let z = featurize(map.as_ref(), device, &x);
            assert_eq!(z, featurize(read.as_ref(), device, &x), "{choice}");
            assert_eq!(z, featurize(map.as_ref(), device, &other), "{choice}");
            let z = z.mapv(f64::from);
            let gap = z.dot(&z.t()) - kernel(&x, parts);
            let off = gap.iter().fold(0.0_f64, |most, gap| most.max(gap.abs()));
            assert!(off < 1e-3, "{choice} on {device:?}: {off}");
        }
    }
}

/// Frequencies of a part equal the frequencies of a map of its columns alone, and are 0 along
/// others.
#[test]
fn fourier_parts_agree_with_maps_of_their_columns_on_devices() {
    let x = rows();
    let both = map("2*fourier[0]:80+0.5*fourier[1,3]:100", &x);
    let alone = |columns: &[usize], choice: &str| {
        let kernel = kernels::parse("laplacian").expect("a kernel");
        let mut spec = MapSpec::new(choice.parse().expect("maps"), kernel);
        spec.features = 100;
        spec.seed = bochner::seed::Seed((columns.len() as u64 - 1) << 48);
        spec.sampling = bochner::sampling::Sampling::Lattice;
        let own = x.select(Axis(1), columns);
        let of = |all: [f64; 4]| columns.iter().map(|&j| all[j]).collect::<Vec<_>>();
        let input = Affine::new(of([0.1, -0.2, 0.3, 0.0]), of([0.5, 0.25, 0.5, 1.0]));
        let mut source = MemorySource::new(own.clone(), None).expect("finite");
        let map = spec.build(input.expect("finite"), &own, &mut source, &Device::cpu());
        (map.expect("draws"), own)
    };
    let (first, x_first) = alone(&[0], "fourier:80");
    let (second, x_second) = alone(&[1, 3], "fourier:100");
    for device in devices() {
        let z = featurize(both.as_ref(), device, &x);
        for (from, own, x_own, weight) in [
            (0, &first, &x_first, 2.0_f64),
            (80, &second, &x_second, 0.5),
        ] {
            let expected = featurize(own.as_ref(), device, x_own);
            let expected = expected.mapv(|z| f64::from(z) * weight.sqrt());
            let block = z.slice(s![.., from..from + expected.ncols()]);
            let ratio = worst(block, expected.view(), |_, _| 2e-5);
            assert!(ratio < 1.0, "columns {from}.. on {device:?}: {ratio}");
        }
        let beta = normal(180, 2, 5);
        let mut x_nd = Matrix::new(device, ROWS, 4).expect("fits");
        let raw = Rows::from(x.view());
        both.input().load(&raw, &mut x_nd).expect("loads");
        let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
        let mut y_nt = Matrix::new(device, ROWS, 2).expect("fits");
        let mut loaded = both.load(device).expect("loads");
        loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
        let by_hand = z.mapv(f64::from).dot(&beta.mapv(f64::from));
        let fused = y_nt.download().expect("reads back");
        let ratio = worst(fused.view(), by_hand.view(), |_, _| 2e-5);
        assert!(ratio < 1.0, "predict on {device:?}: {ratio}");
    }
}

/// Bins of several parts, combined with features, are a kernel machine of the sum of the kernels.
#[test]
fn bins_of_parts_fit_as_the_sum_of_their_kernels_on_devices() {
    let x = rows();
    let y = Array2::from_shape_fn((ROWS, 1), |(i, _)| {
        (2.0 * x[[i, 0]]).sin() + x[[i, 1]] * x[[i, 2]]
    });
    let parts: &[(&[usize], f64)] = &[(&[0], 0.5), (&[1, 2], 0.8), (&[0, 3], 0.2)];
    let choice = "0.5*binning[0]:3000+0.8*binning[1,2]:3000+0.2*nystrom[0,3]:60";
    let (map, lambda) = (map(choice, &x), 0.05);
    let mut source = MemorySource::new(x.clone(), Some(y.clone())).expect("finite");
    let survey = Survey::new(&mut source, 0, 0).expect("surveys");
    let options = FitOptions {
        lambda,
        ..FitOptions::on(&Device::cpu())
    };
    let targets = Targets::real(&survey);
    let model = LinearModel::fit(map, &mut source, targets, &options).expect("fits");
    // (K + n lambda I) alpha = y - mean, of the centred kernel.
    let n = ROWS as f64;
    let centring =
        Array2::from_shape_fn((ROWS, ROWS), |(i, k)| f64::from(u8::from(i == k)) - 1.0 / n);
    let k = kernel(&x, parts);
    let centred = centring.dot(&k).dot(&centring);
    let ridge = &centred + &(Array2::<f64>::eye(ROWS) * (n * lambda));
    let mut beta = Array2::<f64>::zeros((ROWS, 1));
    let middle = y.mean().expect("rows");
    for _ in 0..2000 {
        let residual = &y - middle - ridge.dot(&beta);
        beta = beta + residual / (2.0 * n);
    }
    let expected = centred.dot(&beta) + middle;
    let spread = y.std(0.0);
    for device in devices() {
        let mut predictor = model.on(device).expect("loads");
        let found = predictor.predict(&Rows::from(x.view())).expect("predicts");
        let off = (&found - &expected)
            .mapv(|e| e * e)
            .mean()
            .expect("rows")
            .sqrt();
        assert!(off < 0.02 * spread, "on {device:?}: {off} of {spread}");
        let mut other = x.clone();
        other.column_mut(3).fill(0.5);
        let moved = predictor
            .predict(&Rows::from(other.view()))
            .expect("predicts");
        assert!(moved != found, "the last column is seen by a part");
    }
}
