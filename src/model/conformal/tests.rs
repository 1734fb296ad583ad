//! Half widths compared with their definitions.

use super::*;

/// The `ceil((m + 1) level)`-th smallest error (Lei et al. 2018, algorithm 2).
#[test]
fn half_widths_are_the_ranked_errors() {
    let errors = |of: fn(f64) -> f64| (1..=9).rev().map(|e| of(f64::from(e))).collect::<Vec<_>>();
    let both = Conformal::from_errors(vec![errors(|e| e), errors(|e| 100.0 - e)]).expect("rows");
    for (level, rank) in [
        (0.01, 1),
        (0.1, 1),
        (0.101, 2),
        (0.2, 2),
        (0.5, 5),
        (0.55, 6),
        (0.8, 8),
        (0.9, 9),
    ] {
        let half = both.half_width_t(level).expect("so many rows");
        let rank = f64::from(rank);
        assert_eq!(half.to_vec(), [rank, 90.0 + rank], "{level}");
    }
    // A level of p needs p/(1 - p) rows.
    let of =
        |rows: i32| Conformal::from_errors(vec![(0..rows).map(f64::from).collect()]).expect("rows");
    assert_eq!(of(19).half_width_t(0.95).expect("enough")[0], 18.0);
    let message = of(18).half_width_t(0.95).expect_err("too few").to_string();
    assert!(
        message.contains("18 calibrated rows") && message.contains("it takes 19"),
        "{message}"
    );
}
