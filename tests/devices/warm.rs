//! Warm starts from an earlier model: the same minimum, in no more passes.

use crate::common::devices;
use bochner::{
    features::{Affine, FeatureMap, MapData},
    models::{
        LinearModel, LogisticRegression, MarginLoss, ResidualLoss, Stopping,
        SupportVectorClassifier, SupportVectorRegressor,
    },
    prelude::*,
    seed::Stream,
};
use ndarray::{Array1, Array2, s};
use std::sync::Arc;

/// A map that does not depend on the rows.
#[derive(Debug, Clone, Copy)]
struct Fixed;

impl MapBuilder for Fixed {
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(Arc::new(Gaussian))
    }

    fn build_from(&self, _: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let input = Affine::identity(2).lengthscale(1.5)?;
        Ok(Box::new(Fourier::new(Gaussian).features(60).build(input)?))
    }
}

fn data(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(9).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((rows, 2), || draws.normal());
    let y = x.rows().into_iter();
    let y = y
        .map(|x| 3.0 + (2.0 * x[0]).sin() + x[1] + 0.5 * draws.normal())
        .collect();
    (x, y)
}

fn stopping() -> Stopping {
    Stopping {
        tolerance: 1e-8,
        max_passes: 400,
    }
}

/// The same coefficients, in no more passes.
fn check(warm: &LinearModel, cold: &LinearModel, what: &str) {
    let (a, b) = (&warm.coefficients, &cold.coefficients);
    let size = b.beta_dt.fold(0.0_f64, |m, v| m.max(v.abs()));
    let off = (&a.beta_dt - &b.beta_dt).fold(0.0_f64, |m, v| m.max(v.abs())) / size;
    assert!(off < 1e-4, "{what}: {off:e}");
    let off = (&a.intercept_t - &b.intercept_t).fold(0.0_f64, |m, v| m.max(v.abs())) / size;
    assert!(off < 1e-4, "{what}: {off:e}");
    let passes = [warm, cold].map(|model| model.facts["passes"]);
    // With support vectors at this tolerance few passes are saved, if any.
    let margin = if what.starts_with("svm") { 0.0 } else { 1.0 };
    assert!(passes[0] + margin <= passes[1], "{what}: {passes:?}");
    let values = [warm, cold].map(|model| model.facts["objective"]);
    assert!(
        (values[0] / values[1] - 1.0).abs() < 1e-8,
        "{what}: {values:?}"
    );
    assert_eq!(
        (warm.rows, &warm.class_names),
        (cold.rows, &cold.class_names)
    );
    assert_eq!(warm.probabilities.is_some(), cold.probabilities.is_some());
}

#[test]
fn the_least_is_that_of_all_rows_in_no_more_passes_on_devices() {
    let (x, y) = data(800);
    let two: Vec<&str> = y
        .iter()
        .map(|&y| if y > 3.0 { "high" } else { "low" })
        .collect();
    let three: Vec<i64> = y.iter().map(|&y| (y.clamp(2.0, 4.5)) as i64).collect();
    let most = s![..700, ..];
    for device in devices() {
        macro_rules! on {
            ($learner:ident) => {
                $learner::on(Fixed)
                    .device(device)
                    .lambda(1e-3)
                    .stopping(stopping())
            };
        }
        macro_rules! compare {
            ($learner:expr, $y:expr, $what:expr) => {{
                let (learner, y) = ($learner, $y);
                let first = learner.fit((x.slice(most), &y[..700])).expect("fits");
                let cold = learner.fit((&x, &y[..])).expect("fits");
                let warm = learner.fit_from(&first, (&x, &y[..])).expect("goes on");
                check(warm.linear(), cold.linear(), $what);
                warm
            }};
        }
        compare!(on!(LogisticRegression), &two, "logistic, two classes");
        compare!(on!(LogisticRegression), &three, "logistic, three classes");
        compare!(on!(SupportVectorClassifier), &two, "svm, two classes");
        compare!(on!(SupportVectorClassifier), &three, "svm, three classes");
        let huber = on!(SupportVectorRegressor).loss(ResidualLoss::Huber(0.5));
        let first = huber
            .fit((x.slice(most), y.slice(s![..700]).to_owned()))
            .expect("fits");
        let cold = huber.fit((&x, &y)).expect("fits");
        let warm = huber.fit_from(&first, (&x, &y)).expect("goes on");
        check(warm.linear(), cold.linear(), "huber");
    }
}

/// Classes keep their names and numbers, even if all new rows have the same class.
#[test]
fn classes_are_those_of_the_model() {
    let (x, y) = data(400);
    let labels: Vec<&str> = y
        .iter()
        .map(|&y| if y > 3.0 { "high" } else { "low" })
        .collect();
    let logistic = LogisticRegression::on(Fixed)
        .device(&Device::cpu())
        .lambda(1e-3);
    let first = logistic.fit((&x, &labels[..])).expect("fits");
    let low: Vec<usize> = (0..400).filter(|&i| labels[i] == "low").collect();
    let x_low = x.select(ndarray::Axis(0), &low);
    let only = vec!["low"; low.len()];
    let again = logistic
        .fit_from(&first, (&x_low, &only[..]))
        .expect("goes on");
    assert_eq!(again.predict(&x_low).expect("predicts"), only);
    assert_eq!(again.linear().class_names, first.linear().class_names);
    let unknown = vec!["other"; 400];
    let message = logistic
        .fit_from(&first, (&x, &unknown[..]))
        .expect_err("unknown")
        .to_string();
    assert!(message.contains("none of the classes"), "{message}");
}

#[test]
fn what_cannot_go_on_says_so_in_one_line() {
    let (x, y) = data(100);
    let labels: Vec<i64> = y.iter().map(|&y| i64::from(y > 3.0)).collect();
    let device = Device::cpu();
    let logistic = || LogisticRegression::on(Fixed).device(&device);
    let first = logistic().fit((&x, &labels[..])).expect("fits");
    let hinge = SupportVectorClassifier::on(Fixed)
        .device(&device)
        .loss(MarginLoss::Hinge);
    let ridge = RidgeClassifier::on(Fixed).device(&device);
    let narrow = x.slice(s![.., ..1]).to_owned();
    for (result, says) in [
        (
            logistic().l1(1e-3).fit_from(&first, (&x, &labels[..])),
            "without l1",
        ),
        (hinge.fit_from(&first, (&x, &labels[..])), "smooth losses"),
        (ridge.fit_from(&first, (&x, &labels[..])), "does not go on"),
        (
            logistic().fit_from(&first, (&narrow, &labels[..])),
            "1 column",
        ),
    ] {
        let message = result.expect_err(says).to_string();
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
}
