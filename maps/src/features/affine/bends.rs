//! Columns that go through more than centring and scaling.

use super::{Affine, Bend};
use crate::data::Survey;
use std::sync::Arc;

impl Affine {
    /// What each column goes through before it is centred, `[d]`.
    pub(in crate::features) fn bent(mut self, bends: Option<Arc<[Bend]>>) -> Self {
        debug_assert!(bends.as_ref().is_none_or(|b| b.len() == self.columns()));
        self.bends = bends;
        self
    }

    /// What each column goes through before it is centred, if any goes through more.
    #[doc(hidden)]
    pub fn bends(&self) -> Option<&[Bend]> {
        self.bends.as_deref()
    }

    /// Whether a column goes through more than centring and scaling.
    pub(in crate::features) fn is_bent(&self, j: usize) -> bool {
        let bends = self.bends.as_ref();
        bends.is_some_and(|bends| bends[j] != Bend::Straight)
    }

    /// A value of a column as it is centred.
    pub(super) fn straightened(&self, x: f64, j: usize) -> f64 {
        match &self.bends {
            Some(bends) => bends[j].at(x),
            None => x,
        }
    }

    /// The variance of each column of the rows surveyed as it is centred, `[d]`: of those that are
    /// bent, of the rows that were kept or sampled; as they would be if normal without these.
    #[doc(hidden)]
    pub fn variances(&self, survey: &Survey) -> Vec<f64> {
        let Some(bends) = &self.bends else {
            return survey.variance.clone();
        };
        let kept = survey.deciding.as_ref().filter(|kept| !kept.is_empty());
        let of_bent = |j: usize, bend: &Bend| {
            let values = match kept {
                Some(kept) => kept.values(j),
                None => survey.sample.column(j).iter().map(|&x| (x, 1.0)).collect(),
            };
            let all: f64 = values.iter().map(|(_, weight)| weight).sum();
            let mean = |of: &dyn Fn(f64) -> f64| {
                let sum: f64 = values
                    .iter()
                    .map(|&(x, weight)| weight * of(bend.at(x)))
                    .sum();
                sum / all
            };
            let middle = mean(&|v| v);
            mean(&|v| (v - middle).powi(2))
        };
        let columns = bends.iter().enumerate();
        columns
            .map(|(j, bend)| match bend {
                Bend::Straight => survey.variance[j],
                bend if kept.is_some() || survey.sample.nrows() > 0 => of_bent(j, bend),
                _ => 1.0,
            })
            .collect()
    }
}
