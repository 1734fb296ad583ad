//! Tests of what leaves learn.

use super::*;

/// A slow wave on the left, a fast one on the right. With as many features in each leaf as one
/// model has for both, leaves come near to the noise floor, `sigma^2 D_eff / n` with D_eff at most
/// D, while one model misses much of the fast wave.
#[test]
fn leaves_follow_what_changes_from_place_to_place() {
    let truth = |x: &Array2<f64>| {
        x.column(0).mapv(|x: f64| {
            if x < 0.0 {
                (3.0 * x).sin()
            } else {
                (150.0 * x).sin()
            }
        })
    };
    let (x, new) = (uniform(4000, 1, 3), uniform(2000, 1, 4));
    let (sigma, features) = (0.1, 80);
    let y = truth(&x) + normal(4000, 5) * sigma;
    let ridge = Ridge::on(Fourier::new(Gaussian).features(features)).search(chosen());
    let ridge = ridge.device(&Device::cpu()).seed(Seed(1));
    let one = ridge.fit((&x, &y)).expect("fits");
    let one = mean_square(&one.predict(&new).expect("predicts"), &truth(&new));
    let leaves = ridge.leaves(500).fit((&x, &y)).expect("fits");
    let map = grown(leaves.linear());
    assert_eq!(map.tree().leaves(), 8);
    let facts = &leaves.linear().facts;
    assert_eq!(facts["leaf_rows_least"], 500.0);
    assert_eq!(facts["leaf_rows_most"], 500.0);
    assert_eq!(facts["depth"], 3.0);
    // Hold-out errors equal the noise over the deviation in each leaf.
    let expected: f64 = map
        .tree()
        .route(&Rows::from(x.clone()))
        .iter()
        .map(|own| {
            let inside = truth(&x.select(ndarray::Axis(0), own));
            (sigma * sigma / (sigma * sigma + inside.var(0.0))).sqrt() / 8.0
        })
        .sum();
    let ratio = facts["held_out_error"] / expected;
    assert!((0.9..1.3).contains(&ratio), "{ratio}");
    let predicted = leaves.predict(&new).expect("predicts");
    let found = mean_square(&predicted, &truth(&new));
    let floor = sigma * sigma * features as f64 / 500.0;
    assert!(found < 3.0 * floor, "{found}, floor {floor}");
    assert!(one > 30.0 * found, "{one} {found}");
}

/// If y changes along one direction across the columns, rows are split in halves along it.
#[test]
fn rows_are_parted_in_halves_along_the_direction_that_matters() {
    let x = uniform(3000, 3, 6);
    let y = x.rows().into_iter().map(|x| (x[0] + 2.0 * x[2]).sin());
    let y: Array1<f64> = y.collect();
    let ridge = Ridge::on(Fourier::new(Gaussian).features(200)).leaves(1500);
    let model = ridge.device(&Device::cpu()).fit((&x, &y)).expect("fits");
    let mut store = Store::default();
    model.linear().map.write(&mut store).expect("writes");
    let direction = store.f64("tree.directions").expect("one");
    let v = direction.row(0);
    let cosine = (v[0] + 2.0 * v[2]) / (5.0 * v.dot(&v)).sqrt();
    assert!(cosine.abs() > 0.995, "{direction}");
    let facts = &model.linear().facts;
    assert_eq!(facts["leaf_rows_least"], 1500.0);
    assert_eq!(facts["leaf_rows_most"], 1500.0);
}

/// A leaf equals ridge regression on its rows alone.
#[test]
fn leaves_are_fits_to_their_rows() {
    let (x, new) = (uniform(900, 2, 7), uniform(300, 2, 8));
    let y = x.column(0).mapv(|x| (4.0 * x).cos()) + &x.column(1) * 3.0 + 100.0;
    let builder = Fourier::new(Gaussian).features(40);
    let ridge = Ridge::on(builder.clone())
        .standardize(Standardize::No)
        .bandwidth(Bandwidth::Sigma(0.6))
        .lambda(1e-4)
        .device(&Device::cpu());
    let model = ridge
        .clone()
        .seed(Seed(9))
        .leaves(300)
        .fit((&x, &y))
        .expect("fits");
    let map = grown(model.linear());
    let found = model.predict(&new).expect("predicts");
    let of_leaf = map.tree().route(&Rows::from(x.clone()));
    assert_eq!(of_leaf.len(), 4);
    for (leaf, new_rows) in map
        .tree()
        .route(&Rows::from(new.clone()))
        .iter()
        .enumerate()
    {
        let own = ndarray::Axis(0);
        let rows = &of_leaf[leaf];
        let seed = Seed(Seed(9).stream(Stream::Leaves, leaf as u64).next_u64());
        let alone = ridge.clone().seed(seed);
        let alone = alone
            .fit((&x.select(own, rows), &y.select(own, rows)))
            .expect("fits");
        let expected = alone.predict(new.select(own, new_rows)).expect("predicts");
        for (row, expected) in new_rows.iter().zip(expected) {
            assert!((found[*row] - expected).abs() < 1e-3, "{expected}");
        }
    }
}

#[test]
fn leaves_of_some_classes_give_scores_for_all() {
    let ((x, labels), (new, truth)) = (bands(1600, 10), bands(500, 11));
    let model = classifier().leaves(200).fit((&x, &labels)).expect("fits");
    let map = grown(model.linear());
    let pure = (0..map.tree().leaves()).filter(|&leaf| map.map(leaf).is_none());
    let pure: Vec<usize> = pure.collect();
    assert!(!pure.is_empty(), "{:?}", model.linear().facts);
    let found: Vec<String> = model.predict(&new).expect("predicts");
    let wrong = found.iter().zip(&truth).filter(|(a, b)| a != b).count();
    assert!(wrong <= 15, "{wrong} of 500");
    let scores = model
        .loaded()
        .expect("loads")
        .scores(&new)
        .expect("predicts");
    assert_eq!(scores.dim(), (500, 4));
    let of_leaf = map.tree().route(&Rows::from(new.clone()));
    for leaf in pure {
        for &row in &of_leaf[leaf] {
            let mut sorted = scores.row(row).to_vec();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, [-1.0, -1.0, -1.0, 1.0]);
            assert_eq!(found[row], truth[row]);
        }
    }
    // A file gives the same model.
    let bytes = model.linear().to_bytes().expect("writes");
    let read = LinearModel::from_bytes(&bytes).expect("reads");
    assert_eq!(read.to_bytes().expect("writes"), bytes);
    let again = read
        .on(&Device::cpu())
        .expect("loads")
        .scores(&Rows::from(new.clone()));
    assert_eq!(again.expect("predicts"), scores);
    // A single row, and rows in little memory, where leaves are loaded in turn.
    let run = Run::on(&Device::cpu()).memory(1 << 20);
    let mut few = read.on(run).expect("loads");
    for row in [0, 7, 3] {
        let alone = few.scores(&Rows::from(
            new.slice(ndarray::s![row..=row, ..]).to_owned(),
        ));
        assert_eq!(alone.expect("predicts").row(0), scores.row(row));
    }
    assert_eq!(
        few.scores(&Rows::from(new.clone())).expect("predicts"),
        scores
    );
    let mut streamed = Vec::new();
    let mut rows = MemorySource::new(new, None).expect("rows");
    let taken = few.stream_scores(&mut rows, |part, _| {
        streamed.extend(part.iter().copied());
        Ok(())
    });
    assert_eq!(taken.expect("streams"), 500);
    assert_eq!(streamed, scores.iter().copied().collect::<Vec<_>>());
}

/// One seed gives the same model for any memory and any number of threads.
#[test]
fn one_seed_gives_one_model() {
    let (x, labels) = bands(1500, 13);
    let x = ndarray::concatenate![ndarray::Axis(1), x, uniform(1500, 9, 14)];
    let bytes = |memory: u64, device: &Device| {
        let learner = classifier().leaves(400).memory(memory).device(device);
        let model = learner.fit((&x, &labels)).expect("fits");
        let device = String::new();
        let linear = LinearModel::from_bytes(&model.linear().to_bytes().expect("writes"));
        let linear = LinearModel {
            device,
            ..linear.expect("reads")
        };
        linear.to_bytes().expect("writes")
    };
    let usual = bytes(128 << 20, &Device::cpu());
    assert!(usual == bytes(100 << 10, &Device::cpu()), "memory");
    for threads in [1, 2] {
        let device = Device::Cpu(CpuDevice::with_threads(threads).expect("starts"));
        assert!(usual == bytes(128 << 20, &device), "{threads} threads");
    }
}

#[test]
fn every_device_predicts_the_same() {
    let (x, labels) = bands(800, 15);
    let model = classifier().leaves(200).fit((&x, &labels)).expect("fits");
    let rows = Rows::from(x);
    let cpu = model
        .linear()
        .on(&Device::cpu())
        .expect("loads")
        .scores(&rows);
    let cpu = cpu.expect("predicts");
    for device in bochner_maps::under_test::gpus() {
        let gpu = model.linear().on(&device).expect("loads").scores(&rows);
        let off = (gpu.expect("predicts") - &cpu).mapv(f64::abs);
        let most = off.iter().fold(0.0_f64, |a, b| a.max(*b));
        assert!(most < 2e-4, "{most} on {}", device.describe());
    }
}
