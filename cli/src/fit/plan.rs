//! What a fit takes, said and refused before a row is read.

use super::{Args, chosen::Chosen, learner::ModelBasis, sources::Source};
use crate::report::Console;
use anyhow::Result;
use bochner::{Run, models::MemoryPlan};

impl Args {
    /// Says what the fit takes, and errors where that is not there, before a row is read. Where
    /// memory was given, chunks get what the rest leaves of it.
    ///
    /// What hangs on how many rows there are may not be known yet: sums of bins, the kernel of all
    /// rows, features by a rule for them. Searches and leaves keep to their memory themselves.
    pub(super) fn plan(
        &self,
        (chosen, dense): (&Chosen, bool),
        train: &mut Source,
        (run, console): (Run, &Console),
    ) -> Result<Run> {
        let fit = chosen.fit.as_ref();
        let size = (train.columns(), train.targets());
        let plan = match self.learner.basis() {
            ModelBasis::AllRows => {
                let chunks = self
                    .run
                    .within(|bytes| Ok(MemoryPlan::beside_program(bytes)))?;
                return Ok(run.memory(chunks));
            }
            ModelBasis::Landmarks(landmarks) => {
                MemoryPlan::of_landmarks(landmarks, fit, size, &run)
            }
            ModelBasis::Features if self.map.is_by_rows() => return Ok(run),
            ModelBasis::Features if !dense => {
                let rows = train.rows().map(|rows| rows as u64);
                return self.plan_bins(rows, size, run, Some(console));
            }
            ModelBasis::Features => MemoryPlan::of_fit(&self.map.spec(), fit, size, &run),
        };
        // A sample for the bandwidth and for landmarks, and what is kept of each row.
        let sample = self.sample_rows();
        let rows = train.rows().unwrap_or(0) as u64;
        let plan = plan.with_sample(sample.min(train.rows().unwrap_or(sample)), size.0);
        let mut plan = plan.with_rows(rows, fit, size.1);
        // A search and leaves choose by rows of their own.
        if !self.search.is_wanted(&self.map) && self.search.leaves.is_none() {
            plan = plan.with_kept(train.rows(), fit, size);
        }
        // Landmarks that nobody asked for are no more than there are rows.
        if !self.learner.is_basis_given() {
            console.detail(&format!("plan: {plan}"));
            return Ok(run);
        }
        plan.require(fit, train.as_mut(), &run)?;
        let tries = self.search.tries(&self.map);
        let given = self.search.is_wanted(&self.map) && !tries && !self.map.is_by_error();
        // A metric that is given makes no trials, and leaves plan their own.
        if self.search.leaves.is_some() || given {
            console.detail(&format!("plan: {plan}"));
            let half = |bytes| Ok(MemoryPlan::beside_program(bytes) / 2);
            let chunks = self.run.within(half)?;
            return Ok(run.memory(chunks));
        }
        if self.map.is_by_error() {
            console.detail(&format!("plan: {plan}"));
            // It takes as many features as have room for their sums in this, of 8 bytes a pair
            // where a search has 60.
            let share = |bytes| Ok(MemoryPlan::beside_program(bytes) * 2 / 15);
            let chunks = self.run.within(share)?;
            return Ok(run.memory(chunks));
        }
        if tries {
            let plan = plan.searching(train.rows(), size.0 + size.1);
            console.detail(&format!("plan: {plan}"));
            let chunks = self.run.within(|bytes| Ok(plan.within(bytes)? / 2))?;
            return Ok(run.memory(chunks));
        }
        let within = |bytes| plan.of_fit_within(bytes, fit, train.as_mut(), &run);
        let chunks = self.run.within(within)?;
        console.detail(&format!("plan: {plan}"));
        Ok(self.share(chosen, (&plan, chunks), run))
    }

    /// Chunks have what is left, or half of it where the learner takes the other for a sketch.
    fn share(&self, chosen: &Chosen, (plan, left): (&MemoryPlan, u64), run: Run) -> Run {
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
        (run, console): (&Run, &Console),
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
        (rows, outputs): (u64, usize),
        train: &mut Source,
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
        let plan = match self.learner.basis() {
            ModelBasis::AllRows => return Ok(run),
            ModelBasis::Landmarks(landmarks) => {
                MemoryPlan::of_landmarks(landmarks, fit, size, &run)
            }
            ModelBasis::Features => MemoryPlan::of_fit(&self.map.spec(), fit, size, &run),
        };
        let plan = plan.with_sample(self.sample_rows().min(rows as usize), size.0);
        let plan = plan.with_rows(rows, fit, outputs);
        let chunks = self.run.within(|bytes| plan.within(bytes))?;
        Ok(self.share(chosen, (&plan, chunks), run))
    }

    /// As [`Self::plan`] of so many features, which were found.
    pub(super) fn plan_found(
        &self,
        (chosen, features): (&Chosen, usize),
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
