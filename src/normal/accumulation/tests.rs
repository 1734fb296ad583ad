use super::*;
use crate::{
    Device,
    data::MemorySource,
    features::{Affine, Fourier},
    kernels::Gaussian,
    progress::Step,
};
use std::sync::mpsc;

/// All rows and targets differ, so that an extra, missing or misplaced row shows in the sums.
#[test]
fn resuming_inside_a_chunk_adds_the_rows_that_are_left_on_devices() {
    let x_nd = Array2::from_shape_fn((40, 2), |(i, j)| (i * (j + 1)) as f64 / 7.0);
    let y_nt = Array2::from_shape_fn((40, 1), |(i, _)| (i * i) as f64 / 100.0);
    let map = Fourier::new(Gaussian).features(8);
    let map = map.build(Affine::identity(2)).expect("builds");
    let targets = Targets::Real {
        columns: 1,
        shift: vec![5.0],
    };
    let source = |rows: Range<usize>| {
        let y_nt = y_nt.slice(s![rows.clone(), ..]).to_owned();
        MemorySource::new(x_nd.slice(s![rows, ..]), Some(y_nt)).expect("a source")
    };
    let mut devices = bochner_maps::under_test::gpus();
    devices.push(Device::cpu());
    // All rows in one chunk, and chunks of 16.
    for (device, memory) in devices
        .iter()
        .flat_map(|d| [(d, Run::DEFAULT_MEMORY), (d, 2200)])
    {
        let sums_of = |rows| {
            let source = &mut source(rows);
            let run = Run::on(device).memory(memory);
            NormalEquations::accumulate(&map, source, &targets, run).expect("sums")
        };
        for kept in [1, 15, 16, 17, 31, 39] {
            let mut resumed = sums_of(0..kept);
            let (heard, chunks) = mpsc::channel();
            let run = Run::on(device).memory(memory);
            let run = run.progress(move |step| heard.send(step).expect("heard"));
            resumed
                .resume(&map, &mut source(0..40), &targets, run)
                .expect("goes on");
            let expected_chunks = if memory == 2200 {
                vec![16, 32, 40]
            } else {
                vec![40]
            };
            let expected_chunks: Vec<_> = expected_chunks.into_iter().map(Step::Rows).collect();
            assert_eq!(chunks.iter().collect::<Vec<_>>(), expected_chunks);
            let mut expected = sums_of(0..kept);
            expected.merge(&sums_of(kept..40)).expect("merges");
            assert_eq!(resumed.rows, 40);
            are_near(
                &resumed,
                &expected,
                &format!("after {kept} rows on {device:?}"),
            );
        }
    }
}

fn are_near(own: &NormalEquations, other: &NormalEquations, when: &str) {
    for (name, a, b) in [
        ("gram", &own.gram_dd, &other.gram_dd),
        ("zty", &own.zty_dt, &other.zty_dt),
    ] {
        // A row contributes up to 0.25 and 4; f32 sums of 40 err by 1e-5 at most.
        let worst = (a - b).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(worst < 1e-4, "{name} {when}: {worst}");
    }
    let sums = [&own.y_sum_t, &own.y_square_t, &own.z_sum_d];
    let others = [&other.y_sum_t, &other.y_square_t, &other.z_sum_d];
    for (a, b) in sums.into_iter().zip(others) {
        let worst = (a - b).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(worst < 1e-5, "{when}: {worst}");
    }
}

/// A row of weight w equals w rows, on every device and in chunks of any size; weight 0 drops the
/// row.
#[test]
fn a_row_of_weight_two_is_there_twice_on_devices() {
    let x_nd = Array2::from_shape_fn((40, 2), |(i, j)| (i * (j + 1)) as f64 / 7.0);
    let y_nt = Array2::from_shape_fn((40, 2), |(i, k)| ((i + 3) * i * (k + 1)) as f64 / 100.0);
    let weight = |i: usize| i % 4;
    let copies: Vec<_> = (0..40).flat_map(|i| vec![i; weight(i)]).collect();
    let map = Fourier::new(Gaussian).features(8);
    let map = map.build(Affine::identity(2)).expect("builds");
    let targets = Targets::Real {
        columns: 2,
        shift: vec![5.0, 10.0],
    };
    let pick = |rows: &[usize]| {
        let y_nt = Some(y_nt.select(Axis(0), rows));
        MemorySource::new(x_nd.select(Axis(0), rows), y_nt).expect("a source")
    };
    let mut devices = bochner_maps::under_test::gpus();
    devices.push(Device::cpu());
    for (device, memory) in devices
        .iter()
        .flat_map(|d| [(d, Run::DEFAULT_MEMORY), (d, 2200)])
    {
        let sums_of = |mut source: MemorySource| {
            let run = Run::on(device).memory(memory);
            NormalEquations::accumulate(&map, &mut source, &targets, run)
        };
        let all = pick(&Vec::from_iter(0..40));
        let weights: Vec<_> = (0..40).map(|i| weight(i) as f64).collect();
        let weighted = all.clone().with_weights(weights).expect("weights");
        let weighted = sums_of(weighted).expect("sums");
        let repeated = sums_of(pick(&copies)).expect("sums");
        assert_eq!((weighted.rows, repeated.rows), (40, copies.len() as u64));
        assert_eq!((weighted.weight, repeated.weight), (60.0, 60.0));
        assert_eq!(weighted.log_weight, f64::NEG_INFINITY);
        assert_eq!(repeated.log_weight, 0.0);
        // As above; the products with the roots are rounded once more.
        let close = |name: &str, worst: f64| {
            assert!(worst < 1e-4, "{name} on {device:?}: {worst}");
        };
        let largest = |a: Array2<f64>| a.fold(0.0, |m: f64, v| m.max(v.abs()));
        close("gram", largest(&weighted.gram_dd - &repeated.gram_dd));
        close("zty", largest(&weighted.zty_dt - &repeated.zty_dt) / 10.0);
        for (a, b) in [
            (&weighted.z_sum_d, &repeated.z_sum_d),
            (&weighted.y_sum_t, &repeated.y_sum_t),
            (&weighted.y_square_t, &repeated.y_square_t),
        ] {
            close("sums", (a - b).fold(0.0, |m: f64, v| m.max(v.abs())));
        }
        let none = all.with_weights(Array1::zeros(40)).expect("weights");
        let message = sums_of(none).expect_err("no weight").to_string();
        assert!(message.contains("weight 0"), "{message}");
    }
}
