//! What learners that grow by stages sum: rows that are fitted, and rows that say when to stop.

use super::Staged;
use crate::{
    Error, Result,
    data::{ChunkSource, Part, Split},
    features::FeatureMap,
    models::{Summed, Sums, predict::worse},
    normal::NormalEquations,
    solve::Stagewise,
    store::Store,
};

/// Rows held out in a file of sums.
const HELD_OUT: &str = "held_out";

/// The sums of rows that are fitted and of those that are held out.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutSums {
    /// Of rows that are fitted.
    pub fitted: NormalEquations,
    /// Of rows that say when to stop, if there are to be some.
    pub held_out: Option<NormalEquations>,
}

impl HeldOutSums {
    /// Sums rows, of which this share is held out: their features decide which ones, so that equal
    /// rows stay together, in whatever order, steps or shards they come. Errors as
    /// [`NormalEquations::accumulate`] does, and with [`Error::Parameter`] on a share that is none.
    pub(super) fn of(share: f64, map: &dyn FeatureMap, data: Summed<'_>) -> Result<Self> {
        let Summed {
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
        let chosen = match self.fitted.weight > 0.0 && held_out.weight > 0.0 {
            true => Some(learner.grow(&self.fitted, Some(&held_out))?),
            false => None,
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

impl Sums for HeldOutSums {
    const NAME: &'static str = "held-out-sums";

    fn rows(&self) -> u64 {
        self.fitted.rows + self.held_out.as_ref().map_or(0, |held| held.rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.fitted.merge(&other.fitted)?;
        match (&mut self.held_out, &other.held_out) {
            (Some(own), Some(other)) => own.merge(other),
            _ => Ok(()),
        }
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        let mut fitted = self.fitted.clone();
        fitted.subtract(&other.fitted)?;
        if let (Some(own), Some(other)) = (&mut self.held_out, &other.held_out) {
            own.subtract(other)?;
        }
        self.fitted = fitted;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        // One part without rows is none: all rows are fitted then.
        let parts = [Some(&self.fitted), self.held_out.as_ref()];
        let mut some = parts.into_iter().flatten().filter(|sums| sums.weight > 0.0);
        match some.next() {
            None => self.fitted.check(),
            Some(first) => some.try_fold(first.check()?, |(), sums| sums.check()),
        }
    }

    fn are_of(&self, features: usize, outputs: usize) -> bool {
        self.fitted.are_of(features, outputs)
    }

    fn write(&self, store: &mut Store) {
        let parts = [
            ("fitted", Some(&self.fitted)),
            (HELD_OUT, self.held_out.as_ref()),
        ];
        for (name, sums) in parts {
            if let Some(sums) = sums {
                let mut inner = Store::default();
                sums.write(&mut inner);
                store.nest(name, inner);
            }
        }
    }

    fn read(store: &Store) -> Result<Self> {
        let fitted = NormalEquations::read(&store.nested("fitted"))?;
        let inner = store.nested(HELD_OUT);
        let held_out = match inner.has_property("rows") {
            true => Some(NormalEquations::read(&inner)?),
            false => None,
        };
        match &held_out {
            Some(held) if held.zty_dt.dim() != fitted.zty_dt.dim() => Err(Error::format(
                "the sums of rows that are fitted and held out do not go together",
            )),
            _ => Ok(Self { fitted, held_out }),
        }
    }
}
