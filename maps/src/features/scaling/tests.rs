//! Scalings of columns, as decided and as bent.

use super::*;
use crate::features::standardize::tests::{even, survey};

#[test]
fn rules_see_the_columns_as_decided() {
    let survey = survey(101, 3, |j, i| {
        [1.0, 30.0, 900.0][j] * (j as f64 + even(j, i))
    });
    let raw = Standardize::No.decide(&survey, true);
    assert_eq!(raw.entry_variance(&survey), survey.entry_variance());
    let standard = Standardize::Auto.decide(&survey, true);
    assert!((standard.entry_variance(&survey) - 1.0).abs() < 1e-14);
    let u = standard.apply(&survey.sample).expect("applies");
    assert!((u.mapv(|v| v * v).mean().expect("rows") - 1.0).abs() < 1e-12);
    assert!(u.sum().abs() < 1e-9);
}

#[test]
fn what_is_not_shift_invariant_is_not_moved() {
    let survey = survey(101, 2, |j, i| [1e9, 3.0][j] + even(j, i));
    let scaling = Standardize::No.decide(&survey, false);
    assert_eq!(scaling.input.center(), [0.0; 2]);
    let warning = scaling.far(&survey).expect("far from 0");
    assert!(warning.contains("column 0"), "{warning}");
    assert_eq!(Standardize::No.decide(&survey, true).far(&survey), None);
    let deviation = survey.variance[0].sqrt();
    for (deviations, is_far) in [(0.99 * FAR, false), (1.01 * FAR, true)] {
        let places = crate::features::standardize::tests::survey(101, 1, |j, i| {
            deviations * deviation - 0.5 + even(j, i)
        });
        let scaling = Standardize::No.decide(&places, false);
        assert_eq!(scaling.far(&places).is_some(), is_far, "{deviations}");
    }
    assert_eq!(Standardize::Yes.decide(&survey, false).far(&survey), None);
}

#[test]
fn values_beyond_f32_are_refused_by_column() {
    let survey = survey(101, 2, |j, i| [1.0, 1e33][j] * even(j, i));
    let raw = Standardize::No.decide(&survey, true);
    let message = raw.input(&[1.0]).expect_err("1e33").to_string();
    assert!(
        message.starts_with("column 1 (counted from 0) reaches 5.0e32"),
        "{message}"
    );
    assert!(raw.input(&[1.0, 1e10]).is_ok());
    // Below 0 as above it.
    let below = crate::features::standardize::tests::survey(101, 1, |j, i| -1e33 * even(j, i));
    let message = Standardize::No.decide(&below, false).input(&[1.0]);
    let message = message.expect_err("-1e33").to_string();
    assert!(message.contains("reaches 1.0e33"), "{message}");
    assert!(Standardize::Yes.decide(&survey, true).input(&[1.0]).is_ok());
}

#[test]
fn the_scale_rule_does_not_take_places_for_a_scale() {
    // Deviations of .29, and means so many of them apart; the third column does not vary.
    let at = |far: f64| {
        survey(101, 3, move |j, i| match j {
            2 => 0.5,
            _ => f64::from(u8::from(j == 1)) * far + even(j, i),
        })
    };
    let rule = |survey: &Survey, shift_invariant| {
        let raw = Standardize::No.decide(survey, shift_invariant);
        raw.entry_variance(survey)
    };
    let (near, far) = (at(3.0), at(6.0));
    assert_eq!(rule(&near, true), near.entry_variance());
    let within = far.variance.iter().sum::<f64>() / 3.0;
    assert!(far.entry_variance() > 100.0 * within, "{far:?}");
    assert!((rule(&far, true) / within - 1.0).abs() < 1e-12);
    assert_eq!(rule(&far, false), far.entry_variance());
    // Two columns of one deviation: half their distance over it is what counts.
    let deviation = survey(101, 1, even).variance[0].sqrt();
    for (apart, takes_all) in [(0.99 * APART, true), (1.01 * APART, false)] {
        let two = survey(101, 2, |j, i| {
            2.0 * apart * deviation * j as f64 + even(0, i)
        });
        assert_eq!(
            rule(&two, true) == two.entry_variance(),
            takes_all,
            "{apart}"
        );
    }
    // One place for all is no distance between them, and without any spread there is no rule.
    let moved = survey(101, 2, |j, i| 1e6 + even(j, i));
    assert!(rule(&moved, true) < 0.1);
    let rigid = survey(5, 2, |j, _| j as f64);
    assert_eq!(rule(&rigid, true), 0.25);
}

/// Columns along curves go where these say, whatever their scale was, and those without one stay.
#[test]
fn columns_along_curves_go_where_these_say() {
    let survey = survey(101, 3, |j, i| [1.0, 30.0, 0.0][j] * even(j, i));
    let standard = Standardize::Yes.decide(&survey, true);
    let steep = Curve::through([(-0.5, 0.0), (0.1, 0.25), (0.2, 0.75), (0.5, 1.0)]);
    let along = standard.along(vec![Some(steep.expect("rises")), None, None], &survey);
    assert_eq!(along.applied(), Standardize::Learned);
    assert_eq!(along.to_string(), "learned, 1 of 3 columns");
    let rows = ndarray::array![
        [0.15, survey.mean[1], 7.0],
        [9.0, survey.mean[1] + 2.0, 0.0]
    ];
    let u = along.apply(&rows).expect("applies");
    let expected = ndarray::array![[0.5, 0.0, 0.0], [1.0, 2.0, 0.0]];
    assert!((&u - &expected).iter().all(|off| off.abs() < 1e-12), "{u}");
}
