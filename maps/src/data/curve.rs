//! Rising curves through points.

use crate::{Error, Result, store::Store};
use ndarray::Array2;

/// A rising curve through points: straight between them, level beyond the first and the last.
///
/// ```
/// use bochner::data::Curve;
/// let curve = Curve::through(vec![(0.0, 1.0), (2.0, 5.0)])?;
/// assert_eq!([-1.0, 0.0, 0.5, 2.0, 9.0].map(|x| curve.at(x)), [1.0, 1.0, 2.0, 5.0, 5.0]);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Curve {
    /// Rising.
    x: Vec<f64>,
    /// Not falling.
    y: Vec<f64>,
}

impl Curve {
    /// Through points whose x rise and whose y do not fall. Errors with [`Error::Parameter`] on
    /// others, on none and on what is not finite.
    pub fn through(points: impl IntoIterator<Item = (f64, f64)>) -> Result<Self> {
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let finite = x.iter().chain(&y).all(|v| v.is_finite());
        let rises = x.is_sorted_by(|a, b| a < b) && y.is_sorted();
        if x.is_empty() || !finite || !rises {
            return Err(Error::parameter("the points of a curve do not rise"));
        }
        Ok(Self { x, y })
    }

    /// Its height at `x`.
    pub fn at(&self, x: f64) -> f64 {
        between(&self.x, &self.y, x)
    }

    /// Where it has the height `y`: the last place where there are several.
    #[doc(hidden)]
    pub fn reaches(&self, y: f64) -> f64 {
        between(&self.y, &self.x, y)
    }

    /// The points.
    pub fn points(&self) -> impl ExactSizeIterator<Item = (f64, f64)> + Clone + '_ {
        self.x.iter().copied().zip(self.y.iter().copied())
    }

    #[doc(hidden)]
    pub fn write(&self, name: &str, store: &mut Store) {
        let points = [&self.x, &self.y];
        let both = Array2::from_shape_fn((2, self.x.len()), |(i, k)| points[i][k]);
        store.put_f64(name, both.view());
    }

    /// What [`Self::write`] wrote. Errors with [`Error::Format`] on anything else.
    #[doc(hidden)]
    pub fn read(name: &str, store: &Store) -> Result<Self> {
        let both = store.f64(name)?;
        let wrong = || Error::format(format!("the curve {name} is damaged"));
        if both.nrows() != 2 {
            return Err(wrong());
        }
        let points = both.columns().into_iter().map(|point| (point[0], point[1]));
        Self::through(points).map_err(|_| wrong())
    }
}

/// The value at `x` between those at the knots about it.
fn between(knots: &[f64], values: &[f64], x: f64) -> f64 {
    let last = knots.len() - 1;
    let after = knots.partition_point(|&knot| knot <= x);
    if after == 0 {
        return values[0];
    }
    if after > last {
        return values[last];
    }
    let share = (x - knots[after - 1]) / (knots[after] - knots[after - 1]);
    // Such that both ends are met, and no order of points is lost.
    values[after - 1] * (1.0 - share) + values[after] * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_met_and_lines_lie_between() {
        let curve = Curve::through([(-1.0, 0.0), (0.0, 3.0), (4.0, 3.0), (5.0, 7.0)]);
        let curve = curve.expect("rises");
        for (x, y) in curve.points() {
            assert_eq!(curve.at(x), y);
        }
        for (x, y) in [
            (-7.0, 0.0),
            (-0.5, 1.5),
            (2.0, 3.0),
            (4.25, 4.0),
            (9.0, 7.0),
        ] {
            assert!((curve.at(x) - y).abs() < 1e-15, "{x}");
        }
        // Level in the middle.
        for (y, x) in [
            (-1.0, -1.0),
            (1.5, -0.5),
            (3.0, 4.0),
            (4.0, 4.25),
            (8.0, 5.0),
        ] {
            assert!((curve.reaches(y) - x).abs() < 1e-15, "{y}");
        }
        let one = Curve::through([(2.0, 5.0)]).expect("a point");
        assert_eq!([1.0, 2.0, 3.0].map(|x| one.at(x)), [5.0; 3]);
    }

    #[test]
    fn what_is_no_curve_is_refused_and_what_was_written_is_read() {
        for points in [
            vec![],
            vec![(0.0, 1.0), (0.0, 2.0)],
            vec![(0.0, 1.0), (1.0, 0.5)],
            vec![(0.0, f64::NAN)],
        ] {
            assert!(Curve::through(points.clone()).is_err(), "{points:?}");
        }
        let curve = Curve::through([(0.5, 1.0), (1.5, 2.0)]).expect("rises");
        let mut store = Store::default();
        curve.write("c", &mut store);
        assert_eq!(Curve::read("c", &store).expect("reads"), curve);
        store.put_f64("d", ndarray::array![[1.0, 0.0], [0.0, 1.0]].view());
        assert!(Curve::read("d", &store).is_err());
    }
}
