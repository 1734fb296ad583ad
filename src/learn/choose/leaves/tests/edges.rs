//! Invalid and degenerate inputs.

use super::*;

#[test]
fn files_that_are_damaged_are_refused() {
    let (x, labels) = bands(800, 12);
    let model = classifier().leaves(200).fit((&x, &labels)).expect("fits");
    let bytes = model.linear().to_bytes().expect("writes");
    for length in [0, 9, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(
            LinearModel::from_bytes(&bytes[..length]).is_err(),
            "{length}"
        );
    }
    let store = Store::from_bytes(&bytes, "model").expect("reads");
    let children = store.u32("tree.children").expect("there");
    let nodes = children.nrows();
    let bad = |change: &dyn Fn(&mut Store)| {
        let mut store = store.clone();
        change(&mut store);
        let bytes = store.to_bytes("model").expect("writes");
        let error = LinearModel::from_bytes(&bytes)
            .expect_err("is damaged")
            .to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
    };
    let child = |i: usize, side: usize, value: u32| {
        let mut children = children.clone();
        children[[i, side]] = value;
        move |store: &mut Store| store.put_u32("tree.children", children.view())
    };
    bad(&child(0, 0, 0));
    bad(&child(0, 1, children[[0, 0]]));
    bad(&child(nodes - 1, 1, u32::MAX));
    bad(&|store| store.put_vector("tree.thresholds", &vec![f64::NAN; nodes]));
    bad(&|store| store.put_vector("tree.thresholds", &vec![0.0; nodes + 1]));
    bad(&|store| store.put_vector("tree.center", &[0.0; 3]));
    bad(&|store| store.put_f64("tree.directions", Array2::zeros((nodes, 3)).view()));
    bad(&|store| store.set("columns", u64::MAX));
    bad(&|store| store.set("leaves", 0));
    bad(&|store| store.set("leaves", 4097));
    bad(&|store| store.set("leaves", nodes));
    bad(&|store| store.set("leaf0.map", "leaves"));
    bad(&|store| store.set("leaf0.map", "nothing"));
    bad(&|store| store.put_f64("coefficients", Array2::zeros((3, 4)).view()));
}

#[test]
fn rows_of_no_weight_and_equal_rows_do_no_harm() {
    let x = uniform(1000, 2, 16);
    let mut y = x.column(0).mapv(|x| (3.0 * x).sin());
    let weights = Array1::from_shape_fn(1000, |i| if i % 5 == 0 { 0.0 } else { 1.0 });
    for i in (0..1000).step_by(5) {
        y[i] = 1e6;
    }
    let mut rows = source(&x, &y).with_weights(weights).expect("weights");
    let ridge = Ridge::on(Fourier::new(Gaussian).features(60)).device(&Device::cpu());
    let model = ridge.clone().leaves(250).fit(&mut rows).expect("fits");
    let found = model.predict(&x).expect("predicts").column(0).to_owned();
    let truth = x.column(0).mapv(|x| (3.0 * x).sin());
    assert!(mean_square(&found, &truth) < 1e-4);
    // Equal rows stay together, with different targets and with equal ones.
    let ridge = ridge.bandwidth(Bandwidth::Sigma(1.0));
    let same = Array2::<f64>::ones((600, 2));
    let noise = normal(600, 17);
    let model = ridge
        .clone()
        .leaves(100)
        .fit((&same, &noise))
        .expect("fits");
    assert_eq!(model.linear().facts["leaves"], 1.0);
    let mean = noise.mean().expect("rows");
    assert!((model.predict(&same).expect("predicts")[0] - mean).abs() < 1e-3);
    let model = ridge
        .leaves(100)
        .fit((&same, &Array1::from_elem(600, 4.5)))
        .expect("fits");
    assert_eq!(model.predict(&same).expect("predicts")[0], 4.5);
}

/// Noise.
fn noise() -> (Array2<f64>, Array1<f64>) {
    (uniform(300, 2, 18), normal(300, 19))
}

#[test]
fn what_cannot_be_is_refused() {
    let (x, y) = noise();
    let ridge = Ridge::on(Fourier::new(Gaussian).features(20)).device(&Device::cpu());
    let few = ridge.clone().leaves(99).fit((&x, &y)).expect_err("too few");
    assert!(few.to_string().contains("100 at least"), "{few}");
    let calibrated = ridge.clone().leaves(100).calibrate(0.2).fit((&x, &y));
    assert!(calibrated.is_err());
    let searches = [
        Search {
            features: Some(Enough::KernelError(0.1)),
            ..chosen()
        },
        Search {
            budget: Budget::Trials(3),
            ..chosen()
        },
    ];
    for (search, field) in searches
        .into_iter()
        .zip(["Search::features", "Search::budget"])
    {
        let refused = ridge.clone().search(search).leaves(100).fit((&x, &y));
        let refused = refused.expect_err("not for leaves").to_string();
        assert!(refused.contains(field), "{refused}");
    }
}

#[test]
fn models_of_leaves_have_no_features_of_all_rows() {
    let (x, y) = noise();
    let ridge = Ridge::on(Fourier::new(Gaussian).features(20)).device(&Device::cpu());
    let model = ridge.leaves(100).fit((&x, &y)).expect("fits");
    assert!(
        model
            .linear()
            .to_onnx(crate::export::onnx::Input::Single)
            .is_err()
    );
    assert!(model.intervals(&x, 0.9).is_err());
    let mut rows = source(&x, &y);
    assert!(
        crate::features::featurize(
            model.linear().map.as_ref(),
            &mut rows,
            &Device::cpu(),
            |_| Ok(())
        )
        .is_err()
    );
}

#[test]
fn so_many_leaves_are_no_tree_that_a_file_holds() {
    let (x, y) = noise();
    let mut rows = source(&x, &y);
    let survey = Survey::new(&mut rows, 0, 0).expect("surveys");
    let survey = Survey {
        rows: 1_000_000,
        ..survey
    };
    let builder: Arc<dyn MapBuilder> = Arc::new(Fourier::new(Gaussian).features(20));
    let scaling = Standardize::No.decide(&survey, true);
    let options = RidgeOptions {
        lambda: Lambda::Fixed(1e-3),
        ..RidgeOptions::default()
    };
    let data = SearchData {
        source: &mut rows,
        survey: &survey,
        scaling: &scaling,
        lengthscale: 1.0,
        targets: &Targets::real(&survey),
        options: &options,
        seed: Seed(0),
        run: &Run::on(&Device::cpu()),
    };
    let leaves = Leaves {
        rows: 900,
        search: Search::default(),
    };
    let many = leaves
        .fit(&builder, data)
        .expect_err("too many")
        .to_string();
    assert!(many.contains("977 at least"), "{many}");
}
