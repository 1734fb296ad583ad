//! The Rust builders give the same models as their parts, for all arrays, labels and maps.

use bochner::{
    data::{MemorySource, Rows, Survey, ToRows},
    error::Remedy,
    features::{Affine, FeatureMap, Form, LeverageSpec, MapKind, MapSpec, featurize},
    models::{FitOptions, LinearModel, LogisticRegression, Scores, Solver, Targets},
    prelude::*,
};
use ndarray::{Array1, Array2, Axis, s};
use std::sync::{Arc, Mutex};

/// Rows of two columns of one unit, and y = sin(3 x0) + x1.
fn data(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| {
        ((i * (13 * j + 7)) % 101) as f64 / 101.0
    });
    let y = x
        .rows()
        .into_iter()
        .map(|x| (3.0 * x[0]).sin() + x[1])
        .collect();
    (x, y)
}

/// Three classes by the first column.
fn class(x: &Array2<f64>, i: usize) -> usize {
    (x[[i, 0]] * 3.0) as usize
}

fn ridge(map: impl MapBuilder + 'static) -> Ridge {
    Ridge::on(map).device(&Device::cpu())
}

fn classifier() -> RidgeClassifier {
    RidgeClassifier::on(Fourier::new(Gaussian).features(64)).device(&Device::cpu())
}

#[test]
fn the_door_gives_the_bits_that_the_pieces_give() {
    let (x, y) = data(300);
    let cpu = Device::cpu();
    let model = ridge(Fourier::new(Gaussian).features(100).seed(Seed(3)))
        .bandwidth(Bandwidth::Median)
        .lambda(1e-4)
        .intercept(false)
        .fit((&x, &y))
        .expect("fits");

    let mut source = MemorySource::new(&x, Some(y.clone().insert_axis(Axis(1)))).expect("finite");
    let survey = Survey::new(&mut source, 2000, 0).expect("surveys");
    let scaling = Standardize::Auto.decide(&survey, true);
    let sigma = Bandwidth::Median
        .lengthscales(&Gaussian, &survey, &scaling)
        .expect("varies");
    let input = scaling.input(&sigma).expect("positive");
    let map = Fourier::new(Gaussian).features(100).seed(Seed(3));
    let map = Box::new(map.build(input).expect("draws"));
    let options = FitOptions {
        lambda: 1e-4,
        intercept: false,
        ..FitOptions::on(&cpu)
    };
    let pieces = LinearModel::fit(map, &mut source, Targets::real(&survey), &options);
    let pieces = pieces.expect("fits");
    assert_eq!(model.linear().coefficients, pieces.coefficients);
    assert_eq!(model.linear().map.describe(), pieces.map.describe());

    let predicted: Array1<f64> = model.predict(&x).expect("predicts");
    let mut predictor = pieces.on(&cpu).expect("loads");
    let expected = predictor.predict(&Rows::from(&x)).expect("predicts");
    assert_eq!(predicted, expected.column(0));
}

#[test]
fn arrays_of_any_number_layout_and_dimension_are_taken() {
    let (x, y) = data(200);
    // Integers, which every type can represent.
    let (x, y) = (
        x.mapv(|v| (v * 100.0).round()),
        y.mapv(|v| (v * 100.0).round()),
    );
    let fit = || ridge(Fourier::new(Gaussian).features(64)).standardize(Standardize::No);
    let expected = fit()
        .fit((&x, &y))
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    let same = |predicted: Array1<f64>| assert_eq!(predicted, expected);

    let single = x.mapv(|v| v as f32);
    same(
        fit()
            .fit((&single, y.mapv(|v| v as f32)))
            .expect("fits")
            .predict(&single)
            .expect("predicts"),
    );
    let whole = x.mapv(|v| v as i64);
    same(
        fit()
            .fit((whole.view(), y.mapv(|v| v as i32).view()))
            .expect("fits")
            .predict(whole)
            .expect("predicts"),
    );
    let mut wide = Array2::from_elem((200, 4), f64::NAN);
    wide.slice_mut(s![.., ..;2]).assign(&x);
    let view = wide.slice(s![.., ..;2]);
    same(
        fit()
            .fit((&view, y.to_vec()))
            .expect("fits")
            .predict(view)
            .expect("predicts"),
    );
    let transposed = x.t().as_standard_layout().into_owned();
    same(
        fit()
            .fit((transposed.t(), y.as_slice().expect("contiguous")))
            .expect("fits")
            .predict(transposed.t())
            .expect("predicts"),
    );

    // Two targets give two columns; one target as a matrix gives one column.
    let both = ndarray::stack(Axis(1), &[y.view(), y.mapv(|v| -v).view()]).expect("stacks");
    let predicted: Array2<f64> = fit()
        .fit((&x, &both))
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    // Sums of two targets use another order of additions.
    let off = |k: usize, sign: f64| {
        (&predicted.column(k) - &(&expected * sign)).fold(0.0_f64, |m, e| m.max(e.abs()))
    };
    assert!(
        off(0, 1.0) < 1e-9 && off(1, -1.0) < 1e-9,
        "{} {}",
        off(0, 1.0),
        off(1, -1.0)
    );
    let column = fit().fit((&x, both.slice(s![.., ..1]))).expect("fits");
    assert_eq!(column.predict(&x).expect("predicts").dim(), (200, 1));
}

#[test]
fn files_and_sources_are_taken() {
    let (x, y) = data(120);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.csv");
    let mut text = "a,label,b\n".to_owned();
    for (x, y) in x.rows().into_iter().zip(&y) {
        text += &format!("{},{y},{}\n", x[0], x[1]);
    }
    std::fs::write(&path, text).expect("writes");
    let fit = || ridge(Fourier::new(Gaussian).features(64));
    let expected = fit().fit((&x, &y)).expect("fits");
    let of_file = fit()
        .fit(DataFile::at(&path).target("label"))
        .expect("fits");
    assert_eq!(
        of_file.linear().coefficients,
        expected.linear().coefficients
    );
    let mut source = DataFile::at(&path).target("label").open().expect("opens");
    let of_source = fit().fit(&mut source).expect("fits");
    assert_eq!(
        of_source.linear().coefficients,
        expected.linear().coefficients
    );

    let mut scores = Scores::default();
    let rows = of_source.stream(&mut source, |predicted, y| scores.add(predicted, y));
    assert_eq!(rows.expect("streams"), 120);
    assert!(scores.rmse() < 0.05, "{scores:?}");

    let error = fit().fit(DataFile::at(&path)).expect_err("no target");
    assert_eq!(error.remedies(), [Remedy::NameTargets], "{error}");
    assert!(
        error.to_string().contains("data.csv: has no targets; "),
        "{error}"
    );
}

#[test]
fn labels_of_every_type_come_back_through_a_file_too() {
    let (x, _) = data(200);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");

    macro_rules! round_trip {
        ($labels:expr, $of:ty) => {{
            let all = $labels;
            let labels: Vec<_> = (0..200).map(|i| all[class(&x, i)]).collect();
            let model = classifier().fit((&x, &labels)).expect("fits");
            let predicted: Vec<$of> = model.predict(&x).expect("predicts");
            let right = predicted
                .iter()
                .zip(&labels)
                .filter(|(p, l)| **p == **l)
                .count();
            assert!(right > 190, "{right} of 200 as {}", stringify!($of));
            model.save(&path).expect("saves");
            let read: Model<Vec<$of>> = Model::load(&path).expect("loads");
            assert_eq!(
                read.device(&Device::cpu()).predict(&x).expect("predicts"),
                predicted
            );
        }};
    }
    // Labels not in the order of their classes, and one that JSON must escape.
    round_trip!(["pear", "apple \"red\"", "fig\n"], String);
    round_trip!([7_i64, -3, 1 << 40], i64);
    round_trip!([0_u8, 255, 7], u8);
    round_trip!([0.5_f32, -1.25, 3.0], f32);
    round_trip!([0.1_f64, 1e30, -2.0], f64);
    round_trip!([true, false, true], bool);

    // The type of predictions is checked before predicting.
    let names = ["a", "b", "c"];
    let text: Vec<&str> = (0..200).map(|i| names[class(&x, i)]).collect();
    classifier()
        .fit((&x, &text))
        .expect("fits")
        .save(&path)
        .expect("saves");
    let message = Model::<Vec<i64>>::load(&path)
        .expect_err("text")
        .to_string();
    assert_eq!(
        message,
        "this model predicts text labels; load it as Model<Vec<String>>"
    );
    assert!(
        Model::<Array2<f64>>::load(&path).is_err() && Model::<Array1<f64>>::load(&path).is_err()
    );
    let numbers: Vec<i32> = (0..200).map(|i| 300 * class(&x, i) as i32).collect();
    classifier()
        .fit((&x, &numbers))
        .expect("fits")
        .save(&path)
        .expect("saves");
    let message = Model::<Vec<u8>>::load(&path)
        .expect_err("too large")
        .to_string();
    assert!(
        message.contains("whole numbers") && message.ends_with("Model<Vec<f64>>"),
        "{message}"
    );
    assert!(Model::<Vec<String>>::load(&path).is_err());
}

#[test]
fn wrong_shapes_are_one_line_with_what_to_do() {
    let (x, y) = data(30);
    let fit = || ridge(Fourier::new(Gaussian).features(8));
    let line = |error: Error| {
        let text = error.to_string();
        assert!(!text.contains('\n') && !text.contains("--"), "{text}");
        text
    };
    let text = line(fit().fit((&x, y.slice(s![..29]))).expect_err("short"));
    assert_eq!(
        text,
        "X has 30 rows and y has 29; give one row of y for each row of X"
    );
    let model = fit().fit((&x, &y)).expect("fits");
    let narrow = x.slice(s![.., ..1]);
    let text = line(model.predict(narrow).expect_err("narrow"));
    assert!(text.contains("1 column,") && text.contains('2'), "{text}");
    let mut holed = x.clone();
    holed[[4, 1]] = f64::NAN;
    let text = line(fit().fit((&holed, &y)).expect_err("NaN"));
    assert!(text.contains("row 4, column 1"), "{text}");
    let text = line(model.predict(&holed).expect_err("NaN"));
    assert!(text.contains("row 4, column 1"), "{text}");
    let calibrated = fit().calibrate(0.3).fit((&x, &y)).expect("fits");
    let text = line(calibrated.intervals(&holed, 0.5).expect_err("NaN"));
    assert!(text.contains("row 4, column 1"), "{text}");
    let labels: Vec<i32> = (0..30).map(|i| i % 2).collect();
    let logistic = LogisticRegression::on(Fourier::new(Gaussian).features(8));
    let likely = logistic
        .device(&Device::cpu())
        .fit((&x, &labels))
        .expect("fits");
    let text = line(likely.predict_probabilities(&holed).expect_err("NaN"));
    assert!(text.contains("row 4, column 1"), "{text}");
    let text = line(classifier().fit((&x, ["one"; 30])).expect_err("one class"));
    assert!(text.contains("two classes"), "{text}");
    let text = line(classifier().fit((&x, ["a", "b"])).expect_err("two labels"));
    assert!(text.contains("30 rows"), "{text}");
    let text = line(fit().memory(64).fit((&x, &y)).expect_err("no room"));
    assert!(text.contains("more .memory(..)"), "{text}");
    let text = line(fit().lambda(-1.0).fit((&x, &y)).expect_err("negative"));
    assert!(text.contains("lambda"), "{text}");
}

#[test]
fn every_map_stands_in_the_door() {
    let (x, y) = data(250);
    let spec = |map: MapKind| {
        let mut spec = MapSpec::new(map.into(), Arc::new(Gaussian));
        spec.features = 64;
        spec
    };
    let mut leverage = spec(MapKind::Fourier);
    leverage.leverage = Some(LeverageSpec {
        lambda: 1e-3,
        pool: None,
    });
    let both = UnionBuilder::new()
        .part(0.4, Binning::new(Laplacian).grids(40))
        .part(0.6, Fourier::new(Laplacian).features(64));
    let maps: Vec<(&str, Box<dyn MapBuilder>)> = vec![
        (
            "fourier",
            Box::new(Fourier::new(Gaussian).features(64).form(Form::Phase)),
        ),
        ("fastfood", Box::new(Fastfood::new(Gaussian).features(64))),
        ("sorf", Box::new(Sorf::new(Gaussian).features(64))),
        ("arc-cosine", Box::new(ArcCosine::new().features(64))),
        ("nystrom", Box::new(Nystrom::new(Gaussian).features(40))),
        ("binning", Box::new(Binning::new(Laplacian).grids(100))),
        ("union", Box::new(both)),
        (
            "custom",
            Box::new(Custom::new("tanh", f32::tanh).features(64)),
        ),
        ("spec", Box::new(spec(MapKind::Fastfood))),
        ("leverage", Box::new(leverage)),
        ("auto", Box::new(Auto::new(Gaussian).features(64))),
    ];
    for (name, map) in maps {
        let model = ridge(map)
            .bandwidth(Bandwidth::Median)
            .lambda(1e-5)
            .fit((&x, &y));
        let predicted = model
            .unwrap_or_else(|e| panic!("{name}: {e}"))
            .predict(&x)
            .expect("predicts");
        let rmse = (&predicted - &y)
            .mapv(|e| e * e)
            .mean()
            .expect("rows")
            .sqrt();
        // Two columns give few directions for SORF, and features without a constant have their kink
        // at the origin only.
        let most = match name {
            "sorf" | "arc-cosine" | "custom" => 0.3,
            _ => 0.1,
        };
        println!("{name}: {rmse:.1e}");
        assert!(rmse < most, "{name}: {rmse}");
    }
}

#[test]
fn nystrom_sees_the_sample_and_the_seed_of_the_learner() {
    let (x, y) = data(250);
    let fit = |seed| {
        ridge(Nystrom::new(Gaussian).features(20))
            .bandwidth(Bandwidth::Scale)
            .seed(seed)
            .fit((&x, &y))
            .expect("fits")
    };
    let (one, two) = (fit(Seed(1)), fit(Seed(2)));
    assert_eq!(
        one.linear().coefficients,
        fit(Seed(1)).linear().coefficients
    );
    assert_ne!(one.linear().coefficients, two.linear().coefficients);
    // The sample holds all 250 rows: landmarks equal those drawn from the rows.
    let mut source = MemorySource::new(&x, None).expect("finite");
    let survey = Survey::new(&mut source, 2000, 1).expect("surveys");
    let scaling = Standardize::Auto.decide(&survey, true);
    let scale = Bandwidth::Scale
        .lengthscales(&Gaussian, &survey, &scaling)
        .expect("varies");
    let map = Nystrom::new(Gaussian).features(20).seed(Seed(1));
    let map = map
        .build(scaling.input(&scale).expect("positive"), &survey.sample)
        .expect("builds");
    let z = |map: &dyn FeatureMap| z_of(map, &x);
    assert_eq!(z(one.linear().map.as_ref()), z(&map));
}

fn z_of(map: &dyn FeatureMap, x: &Array2<f64>) -> Array2<f32> {
    let mut source = MemorySource::new(x, None).expect("finite");
    let mut parts = Vec::new();
    featurize(map, &mut source, &Device::cpu(), |z| {
        parts.push(z.to_owned());
        Ok(())
    })
    .expect("featurizes");
    let views: Vec<_> = parts.iter().map(|z| z.view()).collect();
    ndarray::concatenate(Axis(0), &views).expect("one width")
}

#[test]
fn transform_is_featurize_and_survives_a_file() {
    let (x, _) = data(150);
    let x = x.mapv(|v| v as f32);
    let features = Features::on(Fourier::new(Gaussian).features(32))
        .bandwidth(Bandwidth::Sigma(0.5))
        .standardize(Standardize::Yes)
        .device(&Device::cpu())
        .fit(&x)
        .expect("draws");
    let z = features.transform(&x).expect("runs");
    let wide = x.mapv(f64::from);
    assert_eq!(z, z_of(features.map(), &wide));
    let survey = Survey::new(&mut MemorySource::new(&x, None).expect("finite"), 0, 0);
    let survey = survey.expect("surveys");
    let input = Affine::standardize(&survey)
        .lengthscale(0.5)
        .expect("positive");
    let map = Fourier::new(Gaussian)
        .features(32)
        .build(input)
        .expect("draws");
    assert_eq!(z, z_of(&map, &wide));

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("map");
    features.save(&path).expect("saves");
    let read = FittedFeatures::load(&path)
        .expect("loads")
        .device(&Device::cpu());
    assert_eq!(read.transform(&x).expect("runs"), z);
    let error = Model::<Array1<f64>>::load(&path).expect_err("no model");
    assert!(
        error.to_string().contains("holds features, not model"),
        "{error}"
    );

    let binning = Features::on(Binning::new(Laplacian).grids(8)).device(&Device::cpu());
    let error = binning
        .fit(&x)
        .expect("draws")
        .transform(&x)
        .expect_err("never stored");
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
}

#[test]
fn progress_is_heard_from_every_stage() {
    let (x, y) = data(250);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let steps = heard.clone();
    // By default it would use the dual, which has no iterations, for this number of rows.
    ridge(Binning::new(Laplacian).grids(20))
        .solver(Solver::ConjugateGradients {
            tolerance: 1e-6,
            max_iterations: 1000,
        })
        .progress(move |step| steps.lock().expect("whole").push(step))
        .fit((&x, &y))
        .expect("fits");
    let heard = heard.lock().expect("whole");
    for all in [Step::Survey(250), Step::Map(250), Step::Rows(250)] {
        assert!(heard.contains(&all), "{all:?} of {heard:?}");
    }
    assert!(
        matches!(heard.last(), Some(Step::Iteration(..))),
        "{heard:?}"
    );
}

#[test]
fn one_loaded_model_answers_row_by_row() {
    let (x, y) = data(60);
    let model = ridge(Fourier::new(Gaussian).features(64))
        .fit((&x, &y))
        .expect("fits");
    let all = model.predict(&x).expect("predicts");
    let mut loaded = model.loaded().expect("loads");
    for i in [0, 59, 7] {
        let one = loaded.predict(x.slice(s![i..=i, ..])).expect("predicts");
        assert!((one[0] - all[i]).abs() < 1e-5, "{one} {}", all[i]);
    }
    assert_eq!(x.view().to_rows().nrows(), 60);
}

/// With BOCHNER_DEVICE set to an adapter's name, for that adapter too.
#[test]
fn the_default_device_is_one_for_all() {
    let first = Device::best().expect("opens");
    let second = Device::best().expect("opens");
    assert!(first.same_as(&second), "{first:?} {second:?}");
    let (x, y) = data(40);
    let model = Ridge::on(Fourier::new(Gaussian).features(8)).fit((&x, &y));
    assert_eq!(model.expect("fits").linear().device, first.describe());
}
