use super::{Keep, Resume};
use crate::{
    Device, Result, Run,
    data::MemorySource,
    features::{Affine, Binning, FeatureMap, Fourier, Identity, ScaledKernel},
    kernels::{Gaussian, Laplacian},
    learn::FitAnySums,
    model::Targets,
    models::{BoostingOptions, DensityOptions, LassoOptions, RidgeOptions},
    seed::{Seed, Stream},
    sums::{AnySums, RowsToSum, Sums},
};
use ndarray::Array2;
use std::sync::Arc;

/// Rows of two intervals and a part of a third.
const ROWS: usize = 40_000;
const COLUMNS: usize = 3;

/// Rows with mostly zeros in two of three columns, and their weights.
fn rows(n: usize) -> MemorySource {
    let mut draws = Seed(4).stream(Stream::Data, 0);
    let x = Array2::from_shape_fn((n, COLUMNS), |(i, j)| match (i + j) % 11 {
        _ if j == 0 => draws.normal(),
        0 => draws.normal(),
        _ => 0.0,
    });
    let y = Array2::from_shape_fn((n, 1), |(i, _)| x[[i, 0]].sin() + x[[i, 1]] + 0.3);
    let weights: Vec<_> = (0..n).map(|i| 0.5 + (i % 7) as f64).collect();
    let rows = MemorySource::new(x, Some(y)).expect("rows");
    rows.with_weights(weights).expect("weights")
}

fn ridge() -> RidgeOptions {
    RidgeOptions {
        lambda: 1e-3.into(),
        ..RidgeOptions::default()
    }
}

fn sum(
    learner: &dyn FitAnySums,
    map: &dyn FeatureMap,
    (rows_of, memory): (usize, u64),
    resume: Resume<'_, AnySums>,
) -> Result<AnySums> {
    let kernel = ScaledKernel {
        kernel: Arc::new(Gaussian),
        input: Affine::identity(COLUMNS),
    };
    let targets = Targets::Real {
        columns: 1,
        shift: vec![0.25],
    };
    let data = RowsToSum {
        source: &mut rows(rows_of),
        targets: &targets,
        kernel: Some(&kernel),
        seed: Seed(1),
        run: &Run::on(&Device::cpu()).memory(memory),
    };
    learner.sum_any_on(map, data, resume)
}

/// Resuming from saved sums gives the bits of an uninterrupted run: at every save point, for every
/// learner, with sparse rows and weights, in chunks of any size.
#[test]
fn sums_go_on_to_the_same_bits() {
    let affine = || Affine::identity(COLUMNS);
    let fourier = Fourier::new(Gaussian).features(20).build(affine());
    let fourier: &dyn FeatureMap = &fourier.expect("a map");
    let identity: &dyn FeatureMap = &Identity.build(affine()).expect("a map");
    let binning = Binning::new(Laplacian).grids(5);
    let binning = binning.fit(affine(), &mut rows(ROWS), &Device::cpu());
    let binning = binning.expect("a map");
    let ridge = ridge();
    let density = DensityOptions {
        multiples: Some(Vec::new()),
        ..DensityOptions::default()
    };
    let learners: [(&str, &dyn FitAnySums, &dyn FeatureMap); 7] = [
        ("ridge", &ridge, fourier),
        ("ridge that keeps rows", &RidgeOptions::default(), fourier),
        ("sparse rows", &ridge, identity),
        ("lasso", &LassoOptions::default(), fourier),
        ("boosting", &BoostingOptions::default(), fourier),
        ("density", &density, fourier),
        ("density of bins", &density, &binning),
    ];
    for (name, learner, map) in learners {
        for memory in [Run::DEFAULT_MEMORY, 400_000] {
            let mut kept = Vec::new();
            let keep: &mut Keep<'_, AnySums> = &mut |sums| {
                kept.push(sums.clone());
                Ok(sums)
            };
            let resume = Resume {
                from: None,
                keep: Some(keep),
            };
            let whole = sum(learner, map, (ROWS, memory), resume).expect("sums");
            assert_eq!(whole.rows(), ROWS as u64, "{name}");
            assert!(!kept.is_empty(), "{name}");
            for from in kept {
                let rows = from.rows();
                let from = Some(from);
                let resume = Resume { from, keep: None };
                let again = sum(learner, map, (ROWS, memory), resume).expect("goes on");
                assert!(again == whole, "{name}: other bits after {rows} rows");
            }
        }
    }
}

/// Resuming at another row gives other bits: the sums depend on where intervals begin.
#[test]
fn sums_of_other_rows_first_have_other_bits() {
    let map = Fourier::new(Gaussian).features(20);
    let map = map.build(Affine::identity(COLUMNS)).expect("a map");
    let sum = |rows, from| {
        let resume = Resume { from, keep: None };
        sum(&ridge(), &map, (rows, Run::DEFAULT_MEMORY), resume)
    };
    let whole = sum(ROWS, None).expect("sums");
    let few = sum(5000, None).expect("sums");
    let again = sum(ROWS, Some(few)).expect("goes on");
    assert_eq!(again.rows(), whole.rows());
    assert!(again != whole);
}

/// Resuming with fewer rows than were summed is an error.
#[test]
fn fewer_rows_than_were_summed_are_an_error() {
    let map = Fourier::new(Gaussian).features(20);
    let map = &map.build(Affine::identity(COLUMNS)).expect("a map");
    let binning = Binning::new(Laplacian).grids(5);
    let binning = binning.fit(Affine::identity(COLUMNS), &mut rows(900), &Device::cpu());
    let binning = &binning.expect("a map");
    let density = DensityOptions {
        multiples: Some(Vec::new()),
        ..DensityOptions::default()
    };
    let learners: [(&dyn FitAnySums, &dyn FeatureMap); 4] = [
        (&ridge(), map),
        (&RidgeOptions::default(), map),
        (&density, map),
        (&density, binning),
    ];
    for (learner, map) in learners {
        let sum = |rows, from| {
            let resume = Resume { from, keep: None };
            sum(learner, map, (rows, Run::DEFAULT_MEMORY), resume)
        };
        let from = sum(900, None).expect("sums");
        assert!(sum(900, Some(from.clone())).is_ok());
        let error = sum(20, Some(from)).expect_err("fewer rows").to_string();
        assert!(error.contains("900 rows, but the data has 20"), "{error}");
    }
}
