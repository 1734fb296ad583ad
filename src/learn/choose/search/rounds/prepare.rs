//! Comparison of preparations of the columns.

use super::{
    Rounds,
    explore::{MULTIPLES, RACED},
};
use crate::{
    Result,
    kernels::Kernel,
    learn::choose::search::{CLEARLY, Trial, plan::Plan},
};
use std::sync::Arc;

impl Rounds<'_, '_> {
    /// Returns the plans of the remaining kernels with the best preparation, sorted by loss.
    pub(super) fn field(
        &mut self,
        kernels: Vec<Arc<dyn Kernel>>,
        explored: Option<usize>,
    ) -> Result<Vec<Plan>> {
        let raced = explored.map(|d| d.min(RACED));
        if kernels.len() == 1 && !self.search.preparation {
            let plan = self.plan(kernels[0].clone(), raced, 0)?;
            return Ok(vec![if self.search.bandwidth {
                plan.at(MULTIPLES[0])
            } else {
                plan
            }]);
        }
        let mut field = self.race(&kernels, raced, 0)?;
        if field.is_empty() {
            return Err(self.nothing());
        }
        if self.search.preparation {
            let mut best: Vec<Arc<dyn Kernel>> = Vec::new();
            for (plan, _) in &field {
                if best.iter().all(|known| known.norm() != plan.kernel.norm()) {
                    best.push(plan.kernel.clone());
                }
            }
            for way in self.effort().preparations {
                let survey = self.sample.data().survey;
                let scaling = way.decide(survey, true);
                if !scaling.bends() {
                    continue;
                }
                let number = self.sample.prepare(scaling)?;
                let other = self.race(&best, raced, number)?;
                let wins =
                    |(_, trial): &(Plan, Trial)| trial.loss().0 < CLEARLY * field[0].1.loss().0;
                if other.first().is_some_and(wins) {
                    field = other;
                }
            }
        }
        Ok(field.into_iter().map(|(plan, _)| plan).collect())
    }
}
