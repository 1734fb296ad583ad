//! Columns whose numbers f32 holds too coarsely for a model.

use crate::{
    data::Rows,
    features::{Affine, names::IDENTITY},
    model::LinearModel,
};
use ndarray::Array2;

/// Rounding to f32 may move a prepared value by this much: by .0015 widths of the kernel where the
/// map takes phases in turns, and by less for other maps.
const MOST: f64 = 1.0 / 4096.0;
/// Number of values checked between the ends of a column.
const PLACES: usize = 64;

/// The column that rounding of its raw values to f32 changes most, where that is too much, and the
/// largest distance between two f32 in its range: by the ranges that the fit saw.
pub(super) fn coarse_column(model: &LinearModel) -> Option<(usize, f64)> {
    let ranges = model.ranges.as_ref()?;
    let affine = model.map.input();
    let columns = affine.columns();
    if ranges.columns() != columns {
        return None;
    }
    let ends = |j: usize| (ranges.of_column(j).min, ranges.of_column(j).max);
    let place = |k: usize, j: usize| {
        let (min, max) = ends(j);
        let share = k as f64 / PLACES as f64;
        min * (1.0 - share) + max * share
    };
    // Half a step towards the other end, so that values stay where logarithms are defined.
    let rounded = |k: usize, j: usize| {
        let half = 0.5 * step(place(k, j));
        place(k, j) + if 2 * k <= PLACES { half } else { -half }
    };
    let exact = prepared(affine, &place)?;
    let moved = prepared(affine, &rounded)?;
    let is_identity = model.map.kind() == IDENTITY;
    let coarse = (0..columns).filter_map(|j| {
        let (exact, moved) = (exact.column(j), moved.column(j));
        let shift =
            (exact.iter().zip(moved)).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        // Without a kernel there is no width: the step is compared with the range of the column.
        let unit = if is_identity {
            (exact[PLACES] - exact[0]).abs()
        } else {
            1.0
        };
        let (min, max) = ends(j);
        let share = shift / unit;
        (share > MOST).then(|| (j, step(min).max(step(max)), share))
    });
    let worst = coarse.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some((worst.0, worst.1))
}

/// What the map takes of rows with these values; `None` where it refuses them.
fn prepared(affine: &Affine, value: &dyn Fn(usize, usize) -> f64) -> Option<Array2<f64>> {
    let rows = Array2::from_shape_fn((PLACES + 1, affine.columns()), |(k, j)| value(k, j));
    affine.apply(&Rows::F64(rows)).ok()
}

/// The distance between the f32 at a value and the next one away from 0.
fn step(value: f64) -> f64 {
    let value = (value.abs() as f32).min(f32::MAX);
    f64::from(value) - f64::from(value.next_down().max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use ndarray::{Array1, Array2};

    /// The step of the column, if it is coarse: values of so many between `from` and `to`.
    fn coarse(from: f64, to: f64) -> Option<f64> {
        let values = Array1::linspace(from, to, 90);
        let y = values.mapv(|v| (6.0 * (v - from) / (to - from)).sin());
        let x = values.insert_axis(ndarray::Axis(1));
        let model = Ridge::on(Fourier::new(Gaussian).features(40)).fit((&x, &y));
        let found = coarse_column(model.expect("fits").linear());
        found.map(|(j, step)| {
            assert_eq!(j, 0);
            step
        })
    }

    #[test]
    fn columns_far_from_zero_beside_their_range_are_found() {
        assert_eq!(coarse(1.7e9, 1.7e9 + 3600.0), Some(128.0));
        assert_eq!(coarse(41_234_567_001.0, 41_234_567_090.0), Some(4096.0));
        assert_eq!(coarse(0.0, 1.0), None);
        assert_eq!(coarse(-1e6, 1e6), None);
        assert_eq!(coarse(99_000.0, 103_000.0), None);
    }

    #[test]
    fn linear_models_count_a_column_by_its_range() {
        let x = Array2::from_shape_fn((60, 1), |(i, _)| 4e6 + 1e4 * i as f64);
        let y = x.column(0).mapv(|v| v * 1e-6);
        let model = Ridge::on(crate::features::Identity).fit((&x, &y));
        assert_eq!(coarse_column(model.expect("fits").linear()), None);
    }
}
