//! What a fit takes, said and refused before a row is read.

use super::{Args, chosen::Chosen, learner::ModelBasis, sources::Source};
use crate::report::Console;
use anyhow::Result;
use bochner::{
    Run,
    models::{Fit, MemoryPlan},
};

impl Args {
    /// Says what the fit takes, and errors where that is not there, before a row is read. Where
    /// memory was given, chunks get what the rest leaves of it.
    ///
    /// What hangs on how many rows there are may not be known yet: sums of bins, the kernel of all
    /// rows, features by a rule for them. Searches and leaves keep to their memory themselves.
    pub(super) fn plan(
        &self,
        chosen: &Chosen,
        dense: bool,
        train: &mut Source,
        run: Run,
        console: &Console,
    ) -> Result<Run> {
        let fit = chosen.fit.as_ref();
        let size = (train.columns(), train.targets());
        if self.learner.basis() == ModelBasis::Features {
            if self.map.is_by_rows() {
                return Ok(run);
            }
            if !dense {
                let rows = train.rows().map(|rows| rows as u64);
                return self.plan_bins(rows, size, run, Some(console));
            }
        }
        let Some(plan) = self.memory_plan(fit, size, &run) else {
            let chunks = self
                .run
                .within(|bytes| Ok(MemoryPlan::beside_program(bytes)))?;
            return Ok(run.memory(chunks));
        };
        let plan = self.plan_kept(plan, fit, train);
        // Landmarks that nobody asked for are no more than there are rows.
        if !self.learner.is_basis_given() {
            console.detail(&format!("plan: {plan}"));
            return Ok(run);
        }
        plan.require(fit, train.as_mut(), &run)?;
        if self.chooses() {
            return self.plan_choices(plan, train, run, console);
        }
        let within = |bytes| plan.of_fit_within(bytes, fit, train.as_mut(), &run);
        let chunks = self.run.within(within)?;
        console.detail(&format!("plan: {plan}"));
        Ok(self.share(chosen, &plan, chunks, run))
    }

    /// Whether a search or leaves choose by rows of their own.
    fn chooses(&self) -> bool {
        self.search.is_wanted(&self.map) || self.search.leaves.is_some()
    }

    /// What the map and the sums of its features take, to rows of so many columns and targets. None
    /// of the kernel of all rows.
    fn memory_plan(&self, fit: &dyn Fit, size: (usize, usize), run: &Run) -> Option<MemoryPlan> {
        match self.learner.basis() {
            ModelBasis::AllRows => None,
            ModelBasis::Landmarks(landmarks) => {
                Some(MemoryPlan::of_landmarks(landmarks, fit, size, run))
            }
            ModelBasis::Features => Some(MemoryPlan::of_fit(&self.map.spec(), fit, size, run)),
        }
    }

    /// Beside a plan a sample for the bandwidth and for landmarks, and what is kept of each row.
    fn plan_kept(&self, plan: MemoryPlan, fit: &dyn Fit, train: &Source) -> MemoryPlan {
        let size = (train.columns(), train.targets());
        let sample = self.sample_rows();
        let sample = sample.min(train.rows().unwrap_or(sample));
        let rows = train.rows().unwrap_or(0) as u64;
        let plan = plan.with_sample(sample, size.0);
        let plan = plan.with_rows(rows, fit, size.1);
        if self.chooses() {
            plan
        } else {
            plan.with_kept(train.rows(), fit, size)
        }
    }

    /// Chunks beside what searches and leaves keep.
    fn plan_choices(
        &self,
        plan: MemoryPlan,
        train: &Source,
        run: Run,
        console: &Console,
    ) -> Result<Run> {
        let beside = |share: fn(u64) -> u64| {
            let within = |bytes| Ok(share(MemoryPlan::beside_program(bytes)));
            self.run.within(within)
        };
        let leaves = self.search.leaves.is_some();
        let chunks = if !leaves && self.map.is_by_error() {
            console.detail(&format!("plan: {plan}"));
            // It takes as many features as have room for their sums in this, of 8 bytes a pair
            // where a search has 60.
            beside(|bytes| bytes * 2 / 15)?
        } else if !leaves && self.search.tries(&self.map) {
            let plan = plan.searching(train.rows(), train.columns() + train.targets());
            console.detail(&format!("plan: {plan}"));
            self.run.within(|bytes| Ok(plan.within(bytes)? / 2))?
        } else {
            // A metric that is given makes no trials, and leaves plan their own.
            console.detail(&format!("plan: {plan}"));
            beside(|bytes| bytes / 2)?
        };
        Ok(run.memory(chunks))
    }

    /// Chunks have what is left, or half of it where the learner takes the other for a sketch.
    fn share(&self, chosen: &Chosen, plan: &MemoryPlan, left: u64, run: Run) -> Run {
        if !chosen.fit.takes_sketch() || self.run.given_memory().is_none() {
            return run.memory(left);
        }
        let kept = u64::try_from(plan.kept_bytes).unwrap_or(u64::MAX);
        let half = left / 2;
        run.memory(left - half).held(kept.saturating_add(half))
    }

    /// As [`Self::plan`], of a map with binning parts: an eighth of what is left beside what is
    /// kept of the rows is for chunks, the rest for bins and what solves for them.
    fn plan_bins(
        &self,
        rows: Option<u64>,
        size: (usize, usize),
        run: Run,
        console: Option<&Console>,
    ) -> Result<Run> {
        let plan = MemoryPlan::of_bins(&self.map.spec(), rows, size, &run);
        if let Some(console) = console {
            console.detail(&format!("plan: {plan}"));
        }
        let Some(bytes) = self.run.given_memory() else {
            return Ok(run);
        };
        let chunks = (plan.within(bytes)? / 8).max(8 * plan.row_bytes);
        let held = MemoryPlan::beside_program(bytes) - chunks;
        Ok(run.memory(chunks).held(held))
    }

    /// Where nobody gave a number of features, a search has as many as memory that was given has
    /// room for.
    pub(super) fn fit_search(
        &mut self,
        chosen: &Chosen,
        train: &Source,
        run: &Run,
        console: &Console,
    ) {
        let (map, search) = (&self.map, &self.search);
        let (Some(bytes), None) = (self.run.given_memory(), search.leaves) else {
            return;
        };
        if map.is_count_given() || !search.tries(map) {
            return;
        }
        let size = (train.columns(), train.targets());
        let plan = MemoryPlan::of_fit(&map.spec(), chosen.fit.as_ref(), size, run);
        let plan = plan.with_sample(self.sample_rows(), size.0);
        let plan = plan.searching(train.rows(), size.0 + size.1);
        // A quarter for chunks.
        let most = plan.features_within(MemoryPlan::beside_program(bytes) / 4 * 3);
        let most = usize::try_from(most).unwrap_or(usize::MAX) / 2 * 2;
        if (2..plan.features).contains(&most) {
            console.note(&format!("{most} features, for which --memory has room"));
            self.map.usual = Some(most);
        }
    }

    /// Rows that the survey samples.
    fn sample_rows(&self) -> usize {
        match self.learner.basis() {
            ModelBasis::Features => self.map.sample_rows(),
            ModelBasis::AllRows => 0,
            ModelBasis::Landmarks(landmarks) => landmarks,
        }
    }

    /// As [`Self::plan`], now that it is known how many rows there are and what their targets are:
    /// some learners keep something of each.
    pub(super) fn plan_rows(
        &self,
        chosen: &Chosen,
        rows: u64,
        outputs: usize,
        train: &Source,
        run: Run,
    ) -> Result<Run> {
        let fit = chosen.fit.as_ref();
        let size = (train.columns(), train.targets());
        if self.learner.basis() == ModelBasis::Features && !self.map.spec().is_dense() {
            return self.plan_bins(Some(rows), (size.0, outputs), run, None);
        }
        if fit.row_bytes(outputs) == 0 {
            return Ok(run);
        }
        let Some(plan) = self.memory_plan(fit, size, &run) else {
            return Ok(run);
        };
        let plan = plan.with_sample(self.sample_rows().min(rows as usize), size.0);
        let plan = plan.with_rows(rows, fit, outputs);
        let chunks = self.run.within(|bytes| plan.within(bytes))?;
        Ok(self.share(chosen, &plan, chunks, run))
    }

    /// As [`Self::plan`] of so many features, which were found.
    pub(super) fn plan_found(
        &self,
        chosen: &Chosen,
        features: usize,
        train: &mut Source,
        run: Run,
    ) -> Result<Run> {
        let mut spec = self.map.spec();
        spec.features = features;
        let fit = chosen.fit.as_ref();
        let size = (train.columns(), train.targets());
        if !spec.is_dense() {
            return Ok(run);
        }
        let within = |bytes| {
            let run = run.clone().memory(bytes);
            let plan = MemoryPlan::of_fit(&spec, fit, size, &run);
            plan.of_fit_within(bytes, fit, train.as_mut(), &run)
        };
        let chunks = self.run.within(within)?;
        Ok(run.memory(chunks))
    }
}
