//! Sums of rows that are fitted and of rows that say when to stop, and stages of both.

use super::Staged;
use crate::{
    Error, Result,
    data::{ChunkSource, Part, Split},
    features::FeatureMap,
    model::worse,
    normal::NormalEquations,
    solve::Stagewise,
    sums::{HeldOutSums, RowsToSum, Sums},
};

impl HeldOutSums {
    /// Sums rows, of which this share is held out: their features decide which ones, so that equal
    /// rows stay together, in whatever order, steps or shards they come. Errors as
    /// [`NormalEquations::accumulate`] does, and with [`Error::Parameter`] on a share that is none.
    pub(super) fn accumulate(
        share: f64,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
    ) -> Result<Self> {
        let RowsToSum {
            source,
            targets,
            seed,
            run,
            ..
        } = data;
        if !(0.0..1.0).contains(&share) {
            return Err(Error::parameter(format!(
                "the share of rows to hold out is {share}; it must lie between 0 and 1"
            )));
        }
        let sum =
            |source: &mut dyn ChunkSource| NormalEquations::of_part(map, source, targets, run);
        if share == 0.0 {
            return Ok(Self {
                fitted: sum(source)?,
                held_out: None,
            });
        }
        // Other draws than those that split or sample rows with the same seed.
        let seed = seed.0 ^ u64::from_le_bytes(*b"stages..");
        let part = |part, source: &mut dyn ChunkSource| {
            source.rewind()?;
            sum(&mut Split::by_contents(source, part, share, seed))
        };
        Ok(Self {
            fitted: part(Part::Train, &mut *source)?,
            held_out: Some(part(Part::Test, source)?),
        })
    }

    /// Grows to the stage that is best on the rows held out, then so many stages on all rows; all
    /// stages where there are no rows of both parts.
    pub(super) fn solve(mut self, learner: &impl Staged) -> Result<(Stagewise, u64)> {
        let rows = self.rows();
        let Some(held_out) = self.held_out.take() else {
            return Ok((learner.grow(&self.fitted, None)?, rows));
        };
        let chosen = if self.fitted.weight > 0.0 && held_out.weight > 0.0 {
            Some(learner.grow(&self.fitted, Some(&held_out))?)
        } else {
            None
        };
        self.fitted.merge(&held_out)?;
        drop(held_out);
        let Some(chosen) = chosen else {
            return Ok((learner.grow(&self.fitted, None)?, rows));
        };
        let held_out_error = chosen.held_out_error;
        worse::than_mean(held_out_error.unwrap_or(0.0), rows);
        let all = learner.grow_to(&self.fitted, chosen.stages)?;
        let solved = Stagewise {
            held_out_error,
            ..all
        };
        Ok((solved, rows))
    }
}
