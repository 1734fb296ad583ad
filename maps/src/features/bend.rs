//! What a column goes through before it is centred and scaled, so that few far values do not make
//! its scale.

use super::Standardize;
use crate::{
    Error, Result,
    data::{Curve, Survey},
    special::normal_quantile,
    store::Store,
};
use ndarray::Array2;
use std::sync::Arc;

/// Of a curve of ranks, how far its points are apart at least.
const STEP: f64 = 1.0 / 32.0;
/// Where a clip has lost 30 % of a value, in quartile distances.
const KNEE: f64 = 3.0;
/// The distance of the quartiles of normal values, in deviations.
const NORMAL_QUARTILES: f64 = 1.349;

const CLIPS: &str = "input.clips";
const RANKS: &str = "input.ranks";

/// A rising function of one column.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub enum Bend {
    /// Nothing is bent.
    Straight,
    /// `u / sqrt(1 + (u / 3)^2)` of `u = (x - median) / spread`, where the spread is the distance
    /// of the quartiles: straight about the median, and never beyond 3 (Holzmuller, Grinsztajn &
    /// Steinwart 2024, section 3).
    Clip {
        /// The median.
        median: f64,
        /// The distance of the quartiles.
        spread: f64,
    },
    /// A curve, straight between its points and level beyond them: the normal scores of ranks among
    /// the rows that were surveyed, or what a search learnt.
    Along(Arc<Curve>),
}

impl Bend {
    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        match self {
            Self::Straight => x,
            Self::Clip { median, spread } => {
                let u = (x - median) / spread;
                // The root of a square that is beyond f64 is not.
                u / libm::hypot(1.0, u / KNEE)
            }
            Self::Along(curve) => curve.at(x),
        }
    }

    /// One for each column that `bent` names, by the rows of a survey that were kept or else
    /// sampled, or else by mean and deviation alone; `None` where `standardize` bends nothing.
    pub(super) fn of_columns(
        standardize: Standardize,
        survey: &Survey,
        bent: &[bool],
    ) -> Option<Arc<[Self]>> {
        if !standardize.bends() {
            return None;
        }
        let columns = bent.iter().enumerate();
        let bends = columns.map(|(j, &is_bent)| match (is_bent, standardize) {
            (false, _) => Self::Straight,
            (true, Standardize::Rank) => Self::ranks(survey, j),
            (true, _) => Self::clip(survey, j),
        });
        Some(bends.collect())
    }

    fn clip(survey: &Survey, j: usize) -> Self {
        let values = weighed(survey, j);
        let all: f64 = values.iter().map(|(_, weight)| weight).sum();
        // The value at or below which this share lies.
        let at = |share: f64| {
            let mut below = 0.0;
            let reaches = |&&(_, weight): &&(f64, f64)| {
                below += weight;
                below >= share * all
            };
            values.iter().find(reaches).map(|(value, _)| *value)
        };
        let quartiles = at(0.25).zip(at(0.75)).map(|(low, high)| high - low);
        let range = survey.max[j] - survey.min[j];
        let (median, spread) = match (at(0.5), quartiles) {
            (Some(median), Some(spread)) if spread > 0.0 => (median, spread),
            // Most rows have one value.
            (Some(median), Some(_)) => (median, range / 2.0),
            _ => (survey.mean[j], NORMAL_QUARTILES * survey.variance[j].sqrt()),
        };
        Self::Clip { median, spread }
    }

    fn ranks(survey: &Survey, j: usize) -> Self {
        let values = weighed(survey, j);
        let all: f64 = values.iter().map(|(_, weight)| weight).sum();
        let (mut below, mut points) = (0.0, Vec::<(f64, f64)>::new());
        let last = values.last().map(|(value, _)| *value);
        for alike in values.chunk_by(|a, b| a.0 == b.0) {
            let weight: f64 = alike.iter().map(|(_, weight)| weight).sum();
            let score = normal_quantile((below + weight / 2.0) / all);
            let far = points.last().is_none_or(|&(_, from)| score >= from + STEP);
            if far || Some(alike[0].0) == last {
                points.push((alike[0].0, score));
            }
            below += weight;
        }
        match Curve::through(points) {
            Ok(curve) => Self::Along(Arc::new(curve)),
            Err(_) => Self::clip(survey, j),
        }
    }

    /// Stores those of all columns.
    pub(super) fn write(bends: &[Self], store: &mut Store) {
        let clips = Array2::from_shape_fn((2, bends.len()), |(i, j)| match &bends[j] {
            Self::Clip { median, spread } => [*median, *spread][i],
            _ => 0.0,
        });
        store.put_f64(CLIPS, clips.view());
        for (j, bend) in bends.iter().enumerate() {
            if let Self::Along(curve) = bend {
                curve.write(&format!("{RANKS}.{j}"), store);
            }
        }
    }

    /// Those of so many columns that [`Self::write`] stored; `None` where it stored none.
    pub(super) fn read(store: &Store, columns: usize) -> Result<Option<Arc<[Self]>>> {
        let clips = match store.f64(CLIPS) {
            Err(Error::Missing(_)) => return Ok(None),
            clips => clips?,
        };
        let usable = clips.dim() == (2, columns) && clips.iter().all(|v| v.is_finite());
        if !usable || clips.row(1).iter().any(|&spread| spread < 0.0) {
            return Err(Error::format("the clips of columns are damaged"));
        }
        let of_column = |j: usize| {
            let name = format!("{RANKS}.{j}");
            match (clips[[1, j]], Curve::read(&name, store)) {
                (spread, Err(Error::Missing(_))) if spread > 0.0 => Ok(Self::Clip {
                    median: clips[[0, j]],
                    spread,
                }),
                (_, Err(Error::Missing(_))) => Ok(Self::Straight),
                (_, curve) => Ok(Self::Along(Arc::new(curve?))),
            }
        };
        (0..columns).map(of_column).collect::<Result<_>>().map(Some)
    }
}

/// The values of a column, ascending, each with what it counts for: of the rows that were kept, or
/// else of those sampled.
fn weighed(survey: &Survey, j: usize) -> Vec<(f64, f64)> {
    let kept = survey.deciding.as_ref().filter(|kept| !kept.is_empty());
    let mut values = match kept {
        Some(kept) => kept.values(j),
        None => survey.sample.column(j).iter().map(|&v| (v, 1.0)).collect(),
    };
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::standardize::tests::survey;

    fn bends(standardize: Standardize, survey: &Survey) -> Arc<[Bend]> {
        let all = vec![true; survey.mean.len()];
        Bend::of_columns(standardize, survey, &all).expect("bends")
    }

    /// Values 0 to 100 in some order: quartiles 25 and 75.
    #[test]
    fn a_clip_is_straight_in_the_middle_and_ends_at_three() {
        let found = survey(101, 1, |_, i| ((i * 37) % 101) as f64);
        let clip = &bends(Standardize::Robust, &found)[0];
        let expected = Bend::Clip {
            median: 50.0,
            spread: 50.0,
        };
        assert_eq!(*clip, expected);
        for (x, u) in [(50.0, 0.0_f64), (51.0, 0.02), (100.0, 1.0), (0.0, -1.0)] {
            let expected = u / (1.0 + (u / 3.0).powi(2)).sqrt();
            assert!((clip.at(x) - expected).abs() < 1e-15, "{x}");
        }
        for far in [1e30, 1e200, f64::MAX] {
            assert!((clip.at(far) - 3.0).abs() < 1e-12 && (clip.at(-far) + 3.0).abs() < 1e-12);
        }
    }

    #[test]
    fn one_far_value_moves_neither_and_a_column_of_one_value_mostly_has_its_range() {
        let far = survey(101, 2, |j, i| match (j, i) {
            (0, 7) => 1e30,
            (0, _) => ((i * 37) % 101) as f64,
            (_, 0..10) => 8.0,
            _ => 2.0,
        });
        let clips = bends(Standardize::Robust, &far);
        let Bend::Clip { median, spread } = clips[0] else {
            panic!("a clip");
        };
        assert!((median - 50.0).abs() <= 1.0 && (spread - 50.0).abs() <= 1.0);
        let mostly = Bend::Clip {
            median: 2.0,
            spread: 3.0,
        };
        assert_eq!(clips[1], mostly);
    }

    /// Ranks of any rising function of a column are those of the column.
    #[test]
    fn ranks_are_normal_scores_that_rise_and_see_no_scale() {
        let plain = survey(401, 1, |_, i| ((i * 37) % 401) as f64);
        let bent = survey(401, 1, |_, i| (((i * 37) % 401) as f64 / 40.0).exp());
        let (ranks, of_bent) = (
            &bends(Standardize::Rank, &plain)[0],
            &bends(Standardize::Rank, &bent)[0],
        );
        for k in 0..401 {
            let x = f64::from(k);
            let expected = normal_quantile((x + 0.5) / 401.0);
            assert!((ranks.at(x) - expected).abs() < 1.5 * STEP, "{k}");
            assert!(
                (of_bent.at((x / 40.0).exp()) - expected).abs() < 1.5 * STEP,
                "{k}"
            );
        }
        assert_eq!(ranks.at(-9.0), ranks.at(0.0));
        assert_eq!(ranks.at(1e300), ranks.at(400.0));
        assert!((ranks.at(400.0) - normal_quantile(400.5 / 401.0)).abs() < 1e-12);
    }

    #[test]
    fn what_was_written_is_read_to_the_bit() {
        let found = survey(101, 3, |j, i| ((i * (2 * j + 7)) % 101) as f64 / 3.0);
        for standardize in [Standardize::Robust, Standardize::Rank] {
            let bends = Bend::of_columns(standardize, &found, &[true, false, true]);
            let bends = bends.expect("bends");
            let mut store = Store::default();
            Bend::write(&bends, &mut store);
            let read = Bend::read(&store, 3).expect("reads").expect("some");
            assert_eq!(read, bends);
            assert!(Bend::read(&store, 2).is_err());
        }
        assert_eq!(Bend::read(&Store::default(), 3).expect("reads"), None);
    }
}
