//! Links: transformations from raw scores to predictions.

use crate::{
    Error, Result,
    data::{Curve, Rescale},
    store::Store,
};
use ndarray::{Array2, Axis, s};
use std::sync::Arc;

/// Transformation from raw scores z(x)'beta + b to predictions.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// All columns of `[n, t + 1]` divided by the last one, a degree, which is at least `floor`:
    /// `[n, t]`.
    OverDegree {
        /// Minimum degree.
        floor: f64,
    },
    /// Mean kernel values `[n, 1]` over the integral of the kernel: a density. Negative values,
    /// which are errors of random features, become zero.
    Density {
        /// ln of the integral.
        ln_integral: f64,
    },
    /// Logarithm of the density, with mean kernel values of at least `floor`.
    LogDensity {
        /// ln of the integral.
        ln_integral: f64,
        /// Minimum mean kernel value.
        floor: f64,
    },
    /// Exponential of fitted logarithms: `exp(score + ln_smear)`, for each column.
    Exponential {
        /// ln of the mean of `exp(e)` over residuals e of the logarithms (Duan 1983), which
        /// corrects from the median to the mean.
        ln_smear: f64,
    },
    /// Inverse of the normal scores of ranks.
    Ranks {
        /// From scores to means: `mean_i T^-1(score + e_i)` over residuals e of the scores T(y)
        /// (Duan 1983).
        mean: Arc<Curve>,
        /// T, from amounts to scores.
        ranks: Arc<Curve>,
    },
    /// `unit * score`, for each column: for targets that overflow single precision.
    Unit {
        /// The power of two that targets were divided by.
        unit: f64,
    },
}

const NAME: &str = "link";
const FLOOR: &str = "link_floor";
const LN_INTEGRAL: &str = "link_ln_integral";
const OVER_DEGREE: &str = "over-degree";
const DENSITY: &str = "density";
const LOG_DENSITY: &str = "log-density";
const EXPONENTIAL: &str = "exponential";
const LN_SMEAR: &str = "link_ln_smear";
const UNIT: &str = "unit";
const LINK_UNIT: &str = "link_unit";
const RANKS: &str = "ranks";
const RANKS_MEAN: &str = "link_mean";
const RANKS_CURVE: &str = "link_ranks";

impl Link {
    /// Number of raw score columns that are no predictions.
    pub(crate) fn hidden(&self) -> usize {
        match self {
            Self::OverDegree { .. } => 1,
            _ => 0,
        }
    }

    /// Predictions from raw scores.
    pub(crate) fn apply(&self, scores: &Array2<f64>) -> Array2<f64> {
        match self {
            Self::OverDegree { floor } => {
                let last = scores.ncols() - 1;
                let degree = scores.column(last).mapv(|d| d.max(*floor));
                &scores.slice(s![.., ..last]) / &degree.insert_axis(Axis(1))
            }
            // In logarithms: the integral itself can overflow f64.
            Self::Density { ln_integral } => scores.mapv(|k| (k.max(0.0).ln() - ln_integral).exp()),
            Self::LogDensity { ln_integral, floor } => {
                scores.mapv(|k| k.max(*floor).ln() - ln_integral)
            }
            Self::Exponential { ln_smear } => scores.mapv(|log| (log + ln_smear).exp()),
            Self::Ranks { mean, .. } => scores.mapv(|score| mean.at(score)),
            Self::Unit { unit } => scores * *unit,
        }
    }

    /// The transformation of the targets, if there was one.
    pub(crate) fn rescale(&self) -> Option<Rescale> {
        match self {
            Self::Exponential { .. } => Some(Rescale::Logarithms),
            Self::Ranks { ranks, .. } => Some(Rescale::Ranks(ranks.clone())),
            Self::Unit { unit } => Some(Rescale::Unit(*unit)),
            _ => None,
        }
    }

    /// The factor from scores to predictions, if the link is only that.
    pub(crate) fn factor(link: Option<&Self>) -> Option<f64> {
        match link {
            None => Some(1.0),
            Some(Self::Unit { unit }) => Some(*unit),
            Some(_) => None,
        }
    }

    pub(crate) fn write(&self, store: &mut Store) {
        match self {
            Self::Unit { unit } => {
                store.set(NAME, UNIT);
                store.set(LINK_UNIT, unit);
            }
            Self::OverDegree { floor } => {
                store.set(NAME, OVER_DEGREE);
                store.set(FLOOR, floor);
            }
            Self::Density { ln_integral } => {
                store.set(NAME, DENSITY);
                store.set(LN_INTEGRAL, ln_integral);
            }
            Self::LogDensity { ln_integral, floor } => {
                store.set(NAME, LOG_DENSITY);
                store.set(LN_INTEGRAL, ln_integral);
                store.set(FLOOR, floor);
            }
            Self::Exponential { ln_smear } => {
                store.set(NAME, EXPONENTIAL);
                store.set(LN_SMEAR, ln_smear);
            }
            Self::Ranks { mean, ranks } => {
                store.set(NAME, RANKS);
                mean.write(RANKS_MEAN, store);
                ranks.write(RANKS_CURVE, store);
            }
        }
    }

    /// Reads the entries of [`Self::write`], if present, for a model with `outputs` raw scores.
    pub(crate) fn read(store: &Store, outputs: usize) -> Result<Option<Self>> {
        if !store.has_property(NAME) {
            return Ok(None);
        }
        let floor = || -> Result<f64> {
            match store.get(FLOOR)? {
                floor if floor > 0.0 => Ok(floor),
                other => Err(Error::format(format!("the floor of a link is {other}"))),
            }
        };
        let ln_integral = || -> Result<f64> {
            match store.get::<f64>(LN_INTEGRAL)? {
                value if value.is_finite() => Ok(value),
                other => Err(Error::format(format!(
                    "the logarithm of the integral of a link is {other}"
                ))),
            }
        };
        Ok(Some(match (store.text(NAME)?, outputs) {
            (OVER_DEGREE, 1..) => Self::OverDegree { floor: floor()? },
            (DENSITY, 1) => Self::Density {
                ln_integral: ln_integral()?,
            },
            (LOG_DENSITY, 1) => Self::LogDensity {
                ln_integral: ln_integral()?,
                floor: floor()?,
            },
            (EXPONENTIAL, 1..) => match store.get::<f64>(LN_SMEAR)? {
                ln_smear if ln_smear.is_finite() => Self::Exponential { ln_smear },
                other => return Err(Error::format(format!("the smearing of a link is {other}"))),
            },
            (UNIT, 1..) => match store.get::<f64>(LINK_UNIT)? {
                unit if unit.is_normal() && unit > 0.0 => Self::Unit { unit },
                other => return Err(Error::format(format!("the unit of a link is {other}"))),
            },
            (RANKS, 1) => Self::Ranks {
                mean: Curve::read(RANKS_MEAN, store)?.into(),
                ranks: Curve::read(RANKS_CURVE, store)?.into(),
            },
            (other, _) => {
                return Err(Error::format(format!(
                    "the link {other:?} of {outputs} scores is not known"
                )));
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn scores_are_divided_by_degrees_that_are_not_too_small() {
        let scores = array![[6.0, 3.0, 2.0], [6.0, 3.0, 0.1], [6.0, 3.0, -4.0]];
        let link = Link::OverDegree { floor: 0.5 };
        let expected = array![[3.0, 1.5], [12.0, 6.0], [12.0, 6.0]];
        assert_eq!(link.apply(&scores), expected);
        assert_eq!(link.hidden(), 1);
    }

    #[test]
    fn mean_kernel_values_are_divided_by_the_integral_and_not_negative() {
        let scores = array![[0.5], [0.0], [-0.1], [0.001]];
        let ln_integral = 4.0_f64.ln();
        let density = Link::Density { ln_integral }.apply(&scores);
        let expected = array![[0.125], [0.0], [0.0], [0.00025]];
        assert!((density - expected).iter().all(|e| e.abs() < 1e-15));
        let floor = 0.01;
        let log = Link::LogDensity { ln_integral, floor }.apply(&scores);
        let expected = array![[0.125], [0.0025], [0.0025], [0.0025]].mapv(f64::ln);
        assert!((log - expected).iter().all(|e| e.abs() < 1e-14));
    }

    #[test]
    fn logarithms_become_means() {
        let link = Link::Exponential {
            ln_smear: 1.5_f64.ln(),
        };
        let amounts = link.apply(&array![[0.0], [2.0_f64.ln()]]);
        assert!(
            (amounts - array![[1.5], [3.0]])
                .iter()
                .all(|e| e.abs() < 1e-14)
        );
    }

    #[test]
    fn what_was_written_is_read() {
        let ln_integral = 0.1_f64;
        for (link, outputs) in [
            (Link::OverDegree { floor: 0.25 }, 3),
            (Link::Exponential { ln_smear: 0.02 }, 1),
            (
                Link::Unit {
                    unit: 2_f64.powi(150),
                },
                2,
            ),
            (
                Link::Ranks {
                    mean: Curve::through([(0.0, 1.5), (1.0, 3.0)])
                        .expect("rises")
                        .into(),
                    ranks: Curve::through([(1.0, 0.0), (4.0, 1.0)])
                        .expect("rises")
                        .into(),
                },
                1,
            ),
            (Link::Density { ln_integral }, 1),
            (
                Link::LogDensity {
                    ln_integral,
                    floor: 1e-3,
                },
                1,
            ),
        ] {
            let mut store = Store::default();
            link.write(&mut store);
            let read = Link::read(&store, outputs).expect("reads");
            assert_eq!(read, Some(link));
            assert!(Link::read(&store, 0).is_err());
        }
    }

    /// A floor of 0 would allow division by a degree of 0, and the logarithm of 0.
    #[test]
    fn figures_that_no_fit_writes_are_refused() {
        let refusal = |link: Link, outputs| {
            let mut store = Store::default();
            link.write(&mut store);
            let read = Link::read(&store, outputs);
            read.expect_err("refused").to_string()
        };
        for floor in [0.0, -0.25, f64::NAN] {
            let message = refusal(Link::OverDegree { floor }, 3);
            assert!(message.contains("the floor of a link is"), "{message}");
            let ln_integral = 0.1;
            let message = refusal(Link::LogDensity { ln_integral, floor }, 1);
            assert!(message.contains("the floor of a link is"), "{message}");
        }
        for unit in [0.0, -1.0, f64::INFINITY] {
            let message = refusal(Link::Unit { unit }, 1);
            assert!(message.contains("the unit of a link is"), "{message}");
        }
        for ln_integral in [f64::NAN, f64::INFINITY] {
            let message = refusal(Link::Density { ln_integral }, 1);
            assert!(message.contains("the integral of a link is"), "{message}");
        }
    }
}
