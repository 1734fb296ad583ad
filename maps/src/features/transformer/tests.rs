use super::*;
use crate::{
    Device,
    data::MemorySource,
    features::{
        Affine, ArcCosine, Fastfood, Form, Fourier, Nystrom, TensorSketch, Union, featurize,
    },
    kernels::Gaussian,
};
use ndarray::Array2;

fn maps(x: &Array2<f64>) -> Vec<Box<dyn FeatureMap>> {
    let input = || Affine::identity(x.ncols());
    let fourier = Fourier::new(Gaussian).features(24);
    let part = fourier
        .clone()
        .form(Form::Phase)
        .build(input())
        .expect("draws");
    let other = Fastfood::new(Gaussian)
        .features(16)
        .build(input())
        .expect("draws");
    let nystrom = Nystrom::new(Gaussian).features(7).build(input(), x);
    vec![
        Box::new(fourier.build(input()).expect("draws")),
        Box::new(ArcCosine::new().features(10).build(input()).expect("draws")),
        Box::new(nystrom.expect("draws")),
        Box::new(Union::new(vec![(Box::new(part), 0.5), (Box::new(other), 0.5)]).expect("fits")),
    ]
}

/// Every map, by chunks and at once, as f32 and as f64, again and again.
#[test]
fn features_are_those_of_a_stream_wherever_they_are_written_on_devices() {
    let x = crate::check::normal(1300, 3, 1).mapv(f64::from);
    let mut devices = crate::under_test::gpus();
    devices.push(Device::cpu());
    for device in devices {
        for map in maps(&x) {
            let mut source = MemorySource::new(&x, None).expect("finite");
            let mut expected = Array2::<f32>::zeros((1300, map.output_dim()));
            let mut at = 0;
            featurize(map.as_ref(), &mut source, &device, |z| {
                expected.slice_mut(s![at..at + z.nrows(), ..]).assign(&z);
                at += z.nrows();
                Ok(())
            })
            .expect("runs");
            let mut transformer = Transformer::new(map.as_ref(), &device).expect("loads");
            for _ in 0..2 {
                let mut z = Array2::from_elem(expected.dim(), f32::NAN);
                let mut chunks = 0;
                let mut proceed = || {
                    chunks += 1;
                    Ok(())
                };
                let rows = transformer.stream(&mut source, z.view_mut(), &mut proceed);
                assert_eq!(rows.expect("runs"), 1300);
                assert!(chunks >= 1);
                assert_eq!(z, expected, "{} on {device:?}", map.name());
                // Where rows do not lie one after the other nothing is lent.
                let mut wide = Array2::from_elem((1300, 2 * z.ncols()), f64::NAN);
                let part = wide.slice_mut(s![.., ..z.ncols()]);
                let rows = Rows::from(x.view());
                transformer.rows(&rows, part).expect("runs");
                let part = wide.slice(s![.., ..z.ncols()]);
                assert_eq!(part.mapv(|z| z as f32), expected, "{}", map.name());
            }
        }
    }
}

/// Rows of these columns of which so many in a hundred are there.
fn sparse(rows: usize, columns: usize, percent: usize) -> SparseRows {
    let x = crate::check::normal(rows, columns, 3);
    let there = |i: usize, j: usize| (i * 31 + j * 17 + i * j * 7) % 100 < percent;
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        for j in (0..columns).filter(|&j| there(i, j)) {
            places.push(j as u32);
            values.push(f64::from(x[[i, j]]));
        }
        starts.push(values.len());
    }
    SparseRows::new(starts, places, values, columns).expect("fits")
}

/// Sparse rows and the same with their zeros, by every map that takes them so and others,
/// centred and not, of more and of fewer rows than a block.
#[test]
fn sparse_rows_have_the_features_of_dense_ones_on_devices() {
    let mut devices = crate::under_test::gpus();
    devices.push(Device::cpu());
    for (rows, columns, percent) in [(1, 90, 5), (1300, 90, 5), (40, 90, 0), (40, 9, 50)] {
        let x = sparse(rows, columns, percent);
        let Rows::F64(dense) = x.to_rows() else {
            unreachable!("sparse rows are f64");
        };
        let center = (0..columns).map(|j| 0.1 * (j % 5) as f64).collect();
        let scale = (0..columns).map(|j| 0.2 + 0.01 * j as f64).collect();
        let input = Affine::new(center, scale).expect("finite");
        for device in &devices {
            for input in [Affine::identity(columns), input.clone()] {
                let fourier = Fourier::new(Gaussian).features(70);
                let phases = fourier.clone().form(Form::Phase).build(input.clone());
                let maps: [Box<dyn FeatureMap>; 5] = [
                    Box::new(fourier.build(input.clone()).expect("draws")),
                    Box::new(phases.expect("draws")),
                    Box::new(
                        ArcCosine::new()
                            .features(33)
                            .build(input.clone())
                            .expect("draws"),
                    ),
                    Box::new(
                        Fastfood::new(Gaussian)
                            .features(16)
                            .build(input.clone())
                            .expect("draws"),
                    ),
                    Box::new(
                        TensorSketch::new(2, 0.5)
                            .features(21)
                            .build(input.clone())
                            .expect("draws"),
                    ),
                ];
                for map in &maps {
                    let mut transformer = Transformer::new(map.as_ref(), device).expect("loads");
                    let mut z = Array2::from_elem((rows, map.output_dim()), f32::NAN);
                    let mut expected = z.clone();
                    let wanted = Rows::F64(dense.clone());
                    transformer
                        .rows(&wanted, expected.view_mut())
                        .expect("runs");
                    transformer.sparse_rows(&x, z.view_mut()).expect("runs");
                    let error = (&z - &expected).iter().fold(0.0_f32, |m, e| m.max(e.abs()));
                    let largest = expected.iter().fold(1.0_f32, |m, e| m.max(e.abs()));
                    assert!(error < 3e-6 * largest, "{} {rows}: {error:e}", map.name());
                    let mut double = Array2::from_elem(z.dim(), f64::NAN);
                    transformer
                        .sparse_rows(&x, double.view_mut())
                        .expect("runs");
                    assert_eq!(double.mapv(|z| z as f32), z, "{}", map.name());
                }
            }
        }
    }
}

#[test]
fn sparse_rows_of_other_shapes_are_errors() {
    let map = Fourier::new(Gaussian)
        .features(8)
        .build(Affine::identity(9));
    let map = map.expect("draws");
    let mut transformer = Transformer::new(&map, &Device::cpu()).expect("loads");
    for (x, shape, said) in [
        (sparse(4, 9, 10), (3, 8), "4 rows of 8"),
        (sparse(4, 9, 90), (3, 8), "4 rows of 8"),
        (sparse(4, 7, 10), (4, 8), "7 columns"),
    ] {
        let error = transformer.sparse_rows(&x, Array2::<f32>::zeros(shape).view_mut());
        let error = error.expect_err("shape").to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// What many calls fill is part of the whole.
#[test]
fn memory_is_judged_by_all_that_is_wanted() {
    let past = |rows: usize| {
        let mut z = Array2::<f32>::zeros((rows, 256));
        CallerMemory {
            z_nd: z.view_mut(),
            proceed: &mut || Ok(()),
            columns: 256,
        }
        .is_past_caches()
    };
    assert!(!past(4096) && past(32_768));
}

#[test]
fn other_shapes_and_a_stop_are_errors() {
    let x = crate::check::normal(40, 3, 1).mapv(f64::from);
    let map = Fourier::new(Gaussian)
        .features(8)
        .build(Affine::identity(3))
        .expect("draws");
    let mut transformer = Transformer::new(&map, &Device::cpu()).expect("loads");
    let rows = Rows::from(x.view());
    for shape in [(39, 8), (41, 8), (40, 7)] {
        let error = transformer.rows(&rows, Array2::<f32>::zeros(shape).view_mut());
        assert!(
            error
                .expect_err("shape")
                .to_string()
                .contains("40 rows of 8"),
            "{shape:?}"
        );
    }
    let mut source = MemorySource::new(x, None).expect("finite");
    let mut z = Array2::<f32>::zeros((40, 8));
    let mut stop = || Err(Error::missing("stopped"));
    let error = transformer.stream(&mut source, z.view_mut(), &mut stop);
    assert_eq!(error.expect_err("stopped").to_string(), "stopped");
    assert!(z.iter().all(|&z| z == 0.0));
}
