//! Ranks of values.

use ndarray::{Array1, ArrayView1};

/// How many values are less than each: the same for values in another unit, from another zero, or
/// through any rising function.
#[doc(hidden)]
pub fn ranks(values: ArrayView1<'_, f64>) -> Array1<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    values.mapv(|value| sorted.partition_point(|other| *other < value) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_rank() {
        let ranks = ranks(ndarray::aview1(&[3.0, -1.0, 3.0, 7.5, -0.0, 0.0]));
        assert_eq!(ranks.to_vec(), [3.0, 0.0, 3.0, 5.0, 1.0, 1.0]);
    }
}
