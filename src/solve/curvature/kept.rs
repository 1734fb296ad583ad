//! Subsamples rows of a weighted Gram matrix.

use ndarray::ArrayView1;

/// Rows with the roots of their weights, in order.
pub(super) type Kept = Vec<(usize, f32)>;

/// Samples about `most` rows: rows with weights of at least a threshold are kept unchanged, and a
/// systematic sample of the others in proportion to their weights gets the threshold as weight, so
/// that sums are about the same.
pub(super) fn kept(weight_n: ArrayView1<'_, f64>, most: usize) -> Kept {
    let count = |level: f64| weight_n.fold(0.0, |sum: f64, w| sum + (w / level).min(1.0));
    let positive = weight_n.iter().filter(|w| **w > 0.0).count();
    let mut level = 0.0;
    if positive > most {
        let largest = weight_n.fold(0.0, |m: f64, &w| m.max(w));
        let (mut low, mut high) = (0.0, largest);
        while count(high) > most as f64 {
            high *= 2.0;
        }
        for _ in 0..40 {
            level = 0.5 * (low + high);
            if count(level) > most as f64 {
                low = level
            } else {
                high = level
            }
        }
        level = high;
    }
    let mut passed = 0.5;
    let mut kept = Vec::with_capacity(positive.min(most + 1));
    for (i, &w) in weight_n.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        if w >= level {
            kept.push((i, w.sqrt() as f32));
            continue;
        }
        passed += w / level;
        if passed >= 1.0 {
            passed -= 1.0;
            kept.push((i, level.sqrt() as f32));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, s};

    /// All rows with positive weight if they are few; of many, those with large weights, and a
    /// sample of the others with the same sums.
    #[test]
    fn few_rows_stand_for_many() {
        let few = Array1::from(vec![0.0, 4.0, 0.0, 9.0]);
        assert_eq!(kept(few.view(), 2), [(1, 2.0), (3, 3.0)]);
        let mut weight_n = Array1::from_shape_fn(10_000, |i| 1e-3 * (1 + i % 7) as f64);
        weight_n.slice_mut(s![..20]).fill(50.0);
        let some = kept(weight_n.view(), 500);
        assert!((499..=501).contains(&some.len()), "{}", some.len());
        assert!((0..20).all(|i| some[i] == (i, 50.0_f32.sqrt())));
        assert!(some.windows(2).all(|w| w[0].0 < w[1].0));
        let sum: f64 = some.iter().map(|(_, root)| f64::from(root * root)).sum();
        assert!((sum / weight_n.sum() - 1.0).abs() < 1e-3, "{sum}");
        // Rows are sampled in proportion to their weights.
        let heavy = some.iter().filter(|(i, _)| *i >= 20 && i % 7 == 6).count() as f64;
        assert!((heavy / 480.0 - 0.25).abs() < 0.02, "{heavy}");
    }
}
