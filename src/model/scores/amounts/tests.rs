use super::*;
use ndarray::{Array2, array, s};

#[test]
fn scores_are_those_of_their_formulas() {
    // Targets far from zero, whose squares would lose digits.
    let y = array![[1e6], [1e6 + 1.0], [1e6 + 2.0], [1e6 + 5.0]];
    let error = array![[0.5], [-1.0], [0.0], [2.0]];
    let mut scores = AmountScores::new(1);
    scores.add((&y + &error).view(), y.view()).expect("adds");
    let score = scores.of_target(0).expect("a target");
    let near = |score: Option<Score>, known: f64| {
        let value = score.expect("a score").value;
        assert!((value - known).abs() < 1e-9, "{value} and {known}");
    };
    near(score.rmse, (5.25_f64 / 4.0).sqrt());
    near(score.mae, 3.5 / 4.0);
    near(score.median_error, 0.75);
    near(score.r2, 1.0 - 5.25 / 14.0);
    assert!(scores.of_target(1).is_none() && scores.rows() == 4);
}

/// The deviation for few rows is that of leaving out each of them, if the score without them is
/// defined.
#[test]
fn few_rows_know_no_more_than_they_hold() {
    let of = |errors: &[f64]| {
        let y = Array2::from_shape_fn((errors.len(), 1), |(i, _)| i as f64);
        let p = Array2::from_shape_fn(y.dim(), |(i, _)| i as f64 + errors[i]);
        let mut scores = AmountScores::new(1);
        scores.add(p.view(), y.view()).expect("adds");
        scores.of_target(0).expect("a target")
    };
    let one = of(&[0.5]);
    let mae = one.mae.expect("a row");
    assert_eq!((one.r2, mae.value), (None, 0.5));
    assert!(mae.deviation.is_nan(), "{mae:?}");
    let two = of(&[0.5, 1.0]);
    let (mae, r2) = (two.mae.expect("rows"), two.r2.expect("they vary"));
    assert!((mae.deviation - 0.25).abs() < 1e-12, "{mae:?}");
    assert!(r2.deviation.is_nan() && r2.value == -1.5, "{r2:?}");
}

/// Normal targets predicted by their quantile: the share below it, and the loss `phi(z)` (the
/// density there), which is larger for every other prediction.
#[test]
fn a_quantile_covers_its_share_at_the_least_loss() {
    let mut draws = crate::seed::Seed(3).stream(crate::seed::Stream::Data, 0);
    let y = Array2::from_shape_simple_fn((40_000, 1), || draws.normal());
    let of = |predicted: f64, level: f64| {
        let mut scores = AmountScores::new(1);
        let p = Array2::from_elem(y.dim(), predicted);
        scores.add(p.view(), y.view()).expect("adds");
        let score = scores.of_quantile(0, level).expect("a target");
        (
            score.pinball_loss.expect("rows").value,
            score.coverage.expect("rows").value,
        )
    };
    for (level, z) in [(0.1, -1.281_55), (0.5, 0.0), (0.9, 1.281_55)] {
        let (loss, coverage) = of(z, level);
        let known = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        assert!(
            (loss / known - 1.0).abs() < 0.02,
            "{level}: {loss} and {known}"
        );
        assert!((coverage - level).abs() < 0.006, "{level}: {coverage}");
        for other in [z - 0.2, z + 0.2] {
            assert!(of(other, level).0 > 1.005 * loss, "{level}: {other}");
        }
    }
    assert!(AmountScores::new(1).of_quantile(1, 0.5).is_none());
}

/// Standard errors for Gaussian errors: of the root mean square `s / sqrt(2 n)`, of the mean
/// absolute error `s sqrt((1 - 2 / pi) / n)`.
#[test]
fn deviations_are_those_of_other_rows() {
    let (mut rmse, mut mae, turns) = (0.0, 0.0, 30);
    for turn in 0..turns {
        let mut draws = crate::seed::Seed(turn).stream(crate::seed::Stream::Data, 0);
        let y = Array2::zeros((800, 1));
        let p = Array2::from_shape_simple_fn((800, 1), || draws.normal());
        let mut scores = AmountScores::new(1);
        scores.add(p.view(), y.view()).expect("adds");
        let score = scores.of_target(0).expect("a target");
        rmse += score.rmse.expect("rmse").deviation / turns as f64;
        mae += score.mae.expect("mae").deviation / turns as f64;
    }
    let n = 800.0_f64;
    let known = [
        (2.0 * n).sqrt().recip(),
        ((1.0 - 2.0 / std::f64::consts::PI) / n).sqrt(),
    ];
    assert!(
        (rmse / known[0] - 1.0).abs() < 0.08,
        "{rmse} and {}",
        known[0]
    );
    assert!(
        (mae / known[1] - 1.0).abs() < 0.08,
        "{mae} and {}",
        known[1]
    );
}

#[test]
fn chunks_change_nothing_and_errors_are_thinned() {
    let rows = (KEPT / 512 + 100, 512);
    let y = Array2::from_shape_fn(rows, |(i, j)| ((i * 31 + j) % 97) as f64);
    let p = Array2::from_shape_fn(rows, |(i, j)| ((i * 17 + j * 5) % 89) as f64);
    let mut whole = AmountScores::new(512);
    whole.add(p.view(), y.view()).expect("adds");
    let mut parts = AmountScores::new(512);
    for at in (0..rows.0).step_by(700) {
        let range = at..(at + 700).min(rows.0);
        let (p, y) = (p.slice(s![range.clone(), ..]), y.slice(s![range, ..]));
        parts.add(p, y).expect("adds");
    }
    assert_eq!(whole.of_target(3), parts.of_target(3));
    let kept = whole.targets[3].kept.len();
    assert!((KEPT / 512 / 3..=KEPT / 512).contains(&kept), "{kept}");
    let errors = (&p - &y).column(3).mapv(f64::abs);
    let mut errors = errors.to_vec();
    errors.sort_by(f64::total_cmp);
    let median = whole
        .of_target(3)
        .and_then(|score| score.median_error)
        .expect("a median");
    let known = errors[errors.len() / 2];
    assert!(
        (median.value - known).abs() < 4.0 * median.deviation.max(0.5),
        "{median:?} {known}"
    );
}
