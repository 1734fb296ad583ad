//! What becomes of raw scores where they are not yet what a model says.

use crate::{Error, Result, store::Store};
use ndarray::{Array2, Axis, s};

/// From raw scores z(x)'beta + b, `[n, t + 1]`, to predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Link {
    /// All columns divided by the last, a degree, which is taken for `floor` where it is less:
    /// `[n, t]`.
    OverDegree {
        /// The least degree.
        floor: f64,
    },
}

const NAME: &str = "link";
const OVER_DEGREE: &str = "over-degree";
const FLOOR: &str = "link_floor";

impl Link {
    /// Columns of raw scores that are no predictions.
    pub(super) fn hidden(self) -> usize {
        match self {
            Self::OverDegree { .. } => 1,
        }
    }

    /// Predictions of raw scores.
    pub(super) fn apply(self, scores: &Array2<f64>) -> Array2<f64> {
        match self {
            Self::OverDegree { floor } => {
                let last = scores.ncols() - 1;
                let degree = scores.column(last).mapv(|d| d.max(floor));
                &scores.slice(s![.., ..last]) / &degree.insert_axis(Axis(1))
            }
        }
    }

    pub(super) fn write(self, store: &mut Store) {
        match self {
            Self::OverDegree { floor } => {
                store.set(NAME, OVER_DEGREE);
                store.set(FLOOR, floor);
            }
        }
    }

    /// What [`Self::write`] wrote, if it did, for a model of so many raw scores.
    pub(super) fn read(store: &Store, outputs: usize) -> Result<Option<Self>> {
        if !store.has_property(NAME) {
            return Ok(None);
        }
        let floor: f64 = store.get(FLOOR)?;
        match store.text(NAME)? {
            OVER_DEGREE if outputs >= 1 && floor > 0.0 => Ok(Some(Self::OverDegree { floor })),
            other => Err(Error::format(format!(
                "the link {other:?} with floor {floor} of {outputs} scores is not known"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_divided_by_degrees_that_are_not_too_small() {
        let scores = ndarray::array![[6.0, 3.0, 2.0], [6.0, 3.0, 0.1], [6.0, 3.0, -4.0]];
        let link = Link::OverDegree { floor: 0.5 };
        let expected = ndarray::array![[3.0, 1.5], [12.0, 6.0], [12.0, 6.0]];
        assert_eq!(link.apply(&scores), expected);
        assert_eq!(link.hidden(), 1);
    }
}
