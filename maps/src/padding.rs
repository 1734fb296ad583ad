//! Tests of what lies behind the columns of a matrix: ops multiply with it, so it must be zero
//! whoever wrote the matrix.

use crate::{
    Device, Matrix, Result,
    check::normal,
    features::{Affine, ArcCosine, Fastfood, FeatureMap, Form, Fourier, Nystrom, Sorf, Union},
    kernels::Gaussian,
    ops::{
        Nonlinearity,
        product::product,
        projection::{DenseMap, Projection},
        walsh_hadamard::WalshHadamard,
    },
};
use ndarray::{Array2, ArrayView2};

/// Every adapter, with memory that is full of NaN when it is handed out.
fn poisoned() -> Vec<Device> {
    let all = crate::under_test::gpus();
    for device in &all {
        device.gpu().expect("a GPU").poison_memory();
    }
    all
}

fn up(device: &Device, host: ArrayView2<'_, f32>) -> Matrix {
    Matrix::upload(device, host).expect("fits")
}

/// A matrix that an op wrote against the same numbers uploaded: ops that take it next say the same
/// of both, bit for bit. If what lies behind its columns were not zero, they would not.
fn counts_for_nothing(device: &Device, written: Matrix, what: &str) {
    let (rows, d) = (written.rows(), written.cols());
    assert!(!d.is_multiple_of(4), "{what}: {d} columns have no padding");
    let host = written.download().expect("reads back");
    assert!(host.iter().all(|v| v.is_finite()), "{what}");
    let uploaded = up(device, host.view());
    let s = 6;
    let dense = DenseMap {
        w_ds: normal(d, s, 1),
        phase_s: vec![0.1; s],
        amplitude_s: vec![1.0; s],
        nonlinearity: Nonlinearity::Cos,
    };
    let next = Projection::load(device, &dense).expect("loads");
    let landmarks = normal(3, d, 2);
    let kernel = crate::ops::kernel_block::KernelBlock::load(
        device,
        std::sync::Arc::new(Gaussian),
        landmarks.view(),
    );
    let kernel = kernel.expect("loads");
    let structured = Fastfood::new(Gaussian).features(10);
    let structured = structured.build(Affine::identity(d)).expect("builds");
    let mut structured = structured.load(device).expect("loads");
    let b = up(device, normal(d, 3, 3).view());
    let mut all = |x: &Matrix| -> Result<Vec<Array2<f32>>> {
        let new = |cols| Matrix::new(device, rows, cols);
        let (mut z, mut k, mut f, mut c) = (new(s)?, new(3)?, new(10)?, new(3)?);
        next.run(x, &mut z)?;
        kernel.run(x, &mut k)?;
        structured.featurize(x, &mut f)?;
        product(x, &b, &mut c)?;
        [z, k, f, c].iter().map(Matrix::download).collect()
    };
    let (of_written, of_uploaded) = (all(&written).expect("runs"), all(&uploaded).expect("runs"));
    assert_eq!(of_written, of_uploaded, "{what} on {device:?}");
    assert!(of_written[0].iter().all(|v| v.is_finite()), "{what}");
    // Negative control: ones there are seen.
    let mut wrong = Matrix::new(device, rows, d).expect("fits");
    let stride = wrong.stride();
    let fill = wrong.write_with(|out| {
        for (row, out) in host.rows().into_iter().zip(out.chunks_exact_mut(stride)) {
            out.fill(1.0);
            row.iter().zip(out).for_each(|(&v, o)| *o = v);
        }
    });
    fill.expect("uploads");
    let of_wrong = all(&wrong).expect("runs");
    assert_ne!(of_wrong[3], of_uploaded[3], "{what} on {device:?}");
}

/// One map of each kind from d columns to features that are no multiple of four.
fn maps(d: usize) -> Vec<Box<dyn FeatureMap>> {
    let input = || Affine::identity(d);
    let mut maps: Vec<Box<dyn FeatureMap>> = vec![
        Box::new(
            Fourier::new(Gaussian)
                .features(10)
                .build(input())
                .expect("builds"),
        ),
        Box::new(
            Fourier::new(Gaussian)
                .features(7)
                .form(Form::Phase)
                .build(input())
                .expect("builds"),
        ),
        Box::new(ArcCosine::new().features(9).build(input()).expect("builds")),
        Box::new(
            Fastfood::new(Gaussian)
                .features(10)
                .build(input())
                .expect("builds"),
        ),
        Box::new(
            Sorf::new(Gaussian)
                .features(6)
                .build(input())
                .expect("builds"),
        ),
    ];
    let nystrom = Nystrom::new(Gaussian).features(6);
    let nystrom = nystrom.build(input(), normal(40, d, 4)).expect("builds");
    let one = Fourier::new(Gaussian).features(4).build(input());
    let other = Fastfood::new(Gaussian).features(6);
    let scaled = input().lengthscales(&vec![2.0; d]).expect("scales");
    let other = other.build(scaled).expect("builds");
    let union = Union::new(vec![
        (Box::new(one.expect("builds")), 0.5),
        (Box::new(other), 0.5),
    ]);
    maps.push(Box::new(nystrom));
    maps.push(Box::new(union.expect("builds")));
    maps
}

#[test]
fn the_padding_of_what_any_map_writes_counts_for_nothing_on_devices() {
    let d = 5;
    let maps = maps(d);
    for device in poisoned() {
        for rows in [2, 70] {
            let x = up(&device, normal(rows, d, 5).view());
            for map in &maps {
                let mut loaded = map.load(&device).expect("loads");
                let mut z = Matrix::new(&device, rows, map.output_dim()).expect("fits");
                loaded.featurize(&x, &mut z).expect("runs");
                counts_for_nothing(&device, z, &map.describe());
            }
        }
    }
}

#[test]
fn the_padding_of_products_predictions_and_transforms_counts_for_nothing_on_devices() {
    for device in poisoned() {
        for rows in [2, 70] {
            let x = up(&device, normal(rows, 5, 0).view());
            let new = |cols| Matrix::new(&device, rows, cols).expect("fits");
            let mut c = new(3);
            product(&x, &up(&device, normal(5, 3, 1).view()), &mut c).expect("runs");
            counts_for_nothing(&device, c, "a product");
            let mut wide = new(301);
            product(&x, &up(&device, normal(5, 301, 1).view()), &mut wide).expect("runs");
            counts_for_nothing(&device, wide, "a wide product");
            let map = Fourier::new(Gaussian)
                .features(6)
                .build(Affine::identity(5));
            let mut map = map.expect("builds").load(&device).expect("loads");
            let mut y = new(3);
            map.predict(&x, &up(&device, normal(6, 3, 2).view()), &mut y)
                .expect("runs");
            counts_for_nothing(&device, y, "a prediction");
            let mut pairs = up(&device, normal(rows, 2, 3).view());
            WalshHadamard::new(2)
                .expect("a power of two")
                .run(&mut pairs)
                .expect("runs");
            counts_for_nothing(&device, pairs, "a transform");
        }
    }
}

#[test]
fn nothing_in_and_nothing_out_is_no_error_on_devices() {
    let mut devices = poisoned();
    devices.push(Device::cpu());
    for device in devices {
        let new = |rows, cols| Matrix::new(&device, rows, cols).expect("fits");
        let none = up(&device, normal(0, 5, 0).view());
        let x = up(&device, normal(3, 5, 0).view());
        for map in maps(5) {
            let (what, features) = (map.describe(), map.output_dim());
            let mut map = map.load(&device).expect("loads");
            map.featurize(&none, &mut new(0, features)).expect(&what);
            let beta = up(&device, normal(features, 2, 1).view());
            map.predict(&none, &beta, &mut new(0, 2)).expect(&what);
            let no_targets = up(&device, Array2::zeros((features, 0)).view());
            map.predict(&x, &no_targets, &mut new(3, 0)).expect(&what);
        }
        let b = up(&device, normal(5, 2, 1).view());
        product(&none, &b, &mut new(0, 2)).expect("no rows");
        let columns = up(&device, Array2::zeros((5, 0)).view());
        product(&x, &columns, &mut new(3, 0)).expect("no columns");
        let kernel = crate::ops::kernel_block::KernelBlock::load(
            &device,
            std::sync::Arc::new(Gaussian),
            normal(4, 5, 1).view(),
        );
        let columns = up(&device, Array2::zeros((4, 0)).view());
        let kernel = kernel.expect("loads");
        kernel
            .times(&x, &columns, &mut new(3, 0), &mut None)
            .expect("no columns");
        assert_eq!(
            up(&device, Array2::zeros((3, 0)).view())
                .download()
                .expect("reads")
                .dim(),
            (3, 0)
        );
    }
}
