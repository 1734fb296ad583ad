//! Sums of training rows and of held-out rows, and stages on both.

use super::Staged;
use crate::{
    Error, Result,
    data::{Part, Split},
    features::FeatureMap,
    learn::fit::{find_repeats, worse},
    normal::NormalEquations,
    solve::Stagewise,
    sums::{HeldOutSums, Keep, Resume, RowsToSum, Sums, keeping},
};
use std::{mem, sync::Arc};

impl HeldOutSums {
    /// Sums rows and holds out this share. The split hashes the features, so that equal rows stay
    /// together for any order, chunking or sharding. Errors as [`NormalEquations::accumulate`]
    /// does, and with [`Error::Parameter`] on an invalid share.
    pub(super) fn accumulate(
        share: f64,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, Self>,
    ) -> Result<Self> {
        if !(0.0..1.0).contains(&share) {
            return Err(Error::parameter(format!(
                "the share of rows to hold out is {share}; it must lie between 0 and 1"
            )));
        }
        let mut nobody = Ok;
        let keep: &mut Keep<'_, Self> = resume.keep.unwrap_or(&mut nobody);
        let (fitted, held_out) = match resume.from {
            Some(sums) => (Some(sums.fitted), sums.held_out),
            None => (None, None),
        };
        // A salt, so that the split is independent of other splits and samples with the same seed.
        let seed = data.seed.0 ^ u64::from_le_bytes(*b"stages..");
        let repeats = match share {
            0.0 => Arc::default(),
            _ => find_repeats(&mut *data.source, data.run)?,
        };
        let mut part = |part, from, keep: &mut Keep<'_, NormalEquations>| {
            let resume = Resume {
                from,
                keep: Some(keep),
            };
            if share == 0.0 {
                return NormalEquations::of_part(map, data.source, data.targets, data.run, resume);
            }
            data.source.rewind()?;
            let mut rows = Split::by_contents(&mut *data.source, part, share, seed, &repeats);
            NormalEquations::of_part(map, &mut rows, data.targets, data.run, resume)
        };
        let mut fitted = match (fitted, &held_out) {
            // One pass is done.
            (Some(fitted), Some(_)) => fitted,
            (fitted, _) => {
                let mut keep = keeping(keep, Self::of_fitted, |sums| Ok(sums.fitted));
                part(Part::Train, fitted, &mut keep)?
            }
        };
        if share == 0.0 {
            return Ok(Self::of_fitted(fitted));
        }
        let mut keep_both = |held_out| {
            let sums = keep(Self {
                fitted: mem::replace(&mut fitted, NormalEquations::zero(0, 0)),
                held_out: Some(held_out),
            })?;
            fitted = sums.fitted;
            let lost = || Error::shape("sums that were kept came back without rows held out");
            sums.held_out.ok_or_else(lost)
        };
        let held_out = Some(part(Part::Test, held_out, &mut keep_both)?);
        Ok(Self { fitted, held_out })
    }

    /// Sums without a hold-out set.
    fn of_fitted(fitted: NormalEquations) -> Self {
        let held_out = None;
        Self { fitted, held_out }
    }

    /// Finds the best stage on the held-out rows, then fits as many stages on all rows; the maximum
    /// number of stages if one part has no rows.
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
        worse::than_mean(held_out_error.unwrap_or(0.0), rows, "number of stages");
        let all = learner.grow_to(&self.fitted, chosen.stages)?;
        let solved = Stagewise {
            held_out_error,
            ..all
        };
        Ok((solved, rows))
    }
}
