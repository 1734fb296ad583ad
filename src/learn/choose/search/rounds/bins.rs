//! Random binning beside the best: how wide, of which columns, and of how many grids.

use super::{Done, Rounds, blend::BESIDE};
use crate::{
    Result,
    features::{Binning, GridColumns},
    kernels::{Kernel, Laplacian},
    learn::choose::{
        metric::MetricOptions,
        search::{
            plan::Plan,
            trials::{Extent, Tried},
        },
    },
    model::{LearnedMetric, Metric},
};
use std::sync::Arc;

/// Grids of trials that choose, and of what is fitted.
const FEW_GRIDS: usize = 48;
const GRIDS: usize = 192;
/// The same of grids that look at some columns each, and have fewer bins.
const FEW_OF_SOME: usize = 160;
const GRIDS_OF_SOME: usize = 512;
/// Outputs that take as many grids as one.
const FEW_OUTPUTS: usize = 4;
/// Bins of rows that are held, of all grids: 256 MB.
const HELD: f64 = 6.4e7;
/// Coefficients that a model may have for them: 32 MB of its file, of many rows so many for each
/// row and output, up to 128 MB.
const COEFFICIENTS: f64 = 4e6;
const MOST_COEFFICIENTS: f64 = 1.6e7;
const EACH: f64 = 8.0;
/// Widths in multiples of the median distance, of columns by either metric.
const NARROWER: [f64; 4] = [1.0, 0.5, 0.25, 0.125];
/// With all rows of a large table no narrower than this.
const NARROWEST: f64 = 0.01;
/// Those of grids that look at some columns each, in deviations of a column: wider ones first, and
/// narrower ones where none of these is better.
const WIDER: [f64; 3] = [4.0, 8.0, 16.0];
const LESS_WIDE: [f64; 2] = [2.0, 1.0];
/// Penalties that are tried first.
const PENALTIES: [f64; 3] = [1e-5, 1e-4, 1e-3];
/// Bins of some columns with so many times the loss of those of all are tried at one width.
const BEHIND: f64 = 1.25;
/// Bins are far ahead where few of them have this share of the loss of the best waves.
const AHEAD: f64 = 2.0 / 3.0;

/// Few grids that were tried on the sample.
pub(super) struct FewBins {
    done: Done,
    columns: GridColumns,
    are_ahead: bool,
}

/// Grids of trials that choose, fewer of many outputs, and of what is fitted at most.
fn grids_of(columns: &GridColumns, outputs: usize) -> (usize, usize) {
    let (few, most) = match columns {
        GridColumns::All => (FEW_GRIDS, GRIDS),
        _ => (FEW_OF_SOME, GRIDS_OF_SOME),
    };
    (
        (few * FEW_OUTPUTS / outputs.max(FEW_OUTPUTS)).max(few / 4),
        most,
    )
}

impl Rounds<'_, '_> {
    /// Bins beside the best, as wide as rows held out like them best: of few grids on the sample,
    /// then of more on all rows.
    pub(super) fn binned(&mut self, best: &Done) -> Result<Option<Done>> {
        let sampled = self.sampled.take();
        let same = sampled.filter(|bins| bins.done.plan.scaling == best.plan.scaling);
        let few = match same {
            Some(bins) => Some(bins),
            None => self.few_bins(best)?,
        };
        match few {
            Some(few) => self.many_bins(best, few),
            None => Ok(None),
        }
    }

    /// Where the sample has not all rows, tries few grids on it before waves are tried with all
    /// features on all rows: these are tried once where bins are far ahead.
    pub(super) fn bins_of_sample(&mut self, waves: &Done) -> Result<()> {
        let wanted = self.search.blend.binning && self.search.lambda;
        if wanted && !self.sample.is_all() {
            self.sampled = self.few_bins(waves)?.map(|bins| FewBins {
                are_ahead: bins.done.trial.loss().0 < AHEAD * waves.trial.loss().0,
                ..bins
            });
        }
        Ok(())
    }

    /// Whether bins of the sample are far ahead of all waves.
    pub(super) fn are_bins_ahead(&self) -> bool {
        self.sampled.as_ref().is_some_and(|bins| bins.are_ahead)
    }

    /// Few grids on the sample, of all columns together, weighed by gradients or by what neighbours
    /// tell, or of some at a time, drawn by what they tell.
    fn few_bins(&mut self, best: &Done) -> Result<Option<FewBins>> {
        let metric = self.weights(&best.tried, best.plan.scaling)?;
        let some = metric.as_ref().map_or(GridColumns::Some, |metric| {
            GridColumns::Weighed(metric.squared_scales().into())
        });
        let together = self.of_all_columns(best, metric)?;
        let apart = self.of_some_columns(best, &some, together.as_ref())?;
        let (mut chosen, mut columns) = match (together, apart) {
            (Some(one), Some(other)) if other.trial.better_than(&one.trial) => (other, some),
            (Some(one), _) => (one, GridColumns::All),
            (None, Some(other)) => (other, some),
            (None, None) => return Ok(None),
        };
        if let GridColumns::Weighed(_) = columns
            && self.effort().bins_evenly
        {
            // What tells little may tell it beside another column.
            let plan = self.bins(best, (None, GridColumns::Some), chosen.plan.features);
            let plan = plan.at(chosen.plan.multiple);
            let lambdas = self.penalties_beside(chosen.plan.lambda, &BESIDE);
            if let Some(evenly) = self.attempt(plan, &lambdas, Extent::Sample)?
                && evenly.trial.better_than(&chosen.trial)
            {
                (chosen, columns) = (evenly, GridColumns::Some);
            }
        }
        if chosen.plan.metric.is_some() {
            let lambdas = [chosen.plan.lambda];
            let grids = chosen.plan.features;
            let plan = self.bins(best, (None, GridColumns::All), grids);
            let plan = plan.at(chosen.plan.multiple);
            if let Some(done) = self.attempt(plan, &lambdas, Extent::Sample)?
                && done.trial.better_than(&chosen.trial)
            {
                chosen = done;
            }
        }
        Ok(Some(FewBins {
            done: chosen,
            columns,
            are_ahead: false,
        }))
    }

    /// As many grids of all rows as are allowed.
    fn many_bins(&mut self, best: &Done, few: FewBins) -> Result<Option<Done>> {
        let FewBins {
            done: mut chosen,
            columns,
            ..
        } = few;
        let mut more = self.sample.fitted(Extent::All) / self.sample.fitted(Extent::Sample);
        if let GridColumns::All = columns
            && self.effort().tries_all_rows
            && let Some(done) = self.narrower(&chosen)?
        {
            (chosen, more) = (done, 1.0);
        }
        // More rows fill more bins, and more grids take less of a penalty at most.
        let outputs = self.sample.data().targets.outputs();
        let (few, most) = grids_of(&columns, outputs);
        let each =
            more * outputs as f64 * chosen.tried.features() as f64 / chosen.plan.features as f64;
        let rows = self.sample.fitted(Extent::All);
        let allowed = (EACH * rows * outputs as f64).clamp(COEFFICIENTS, MOST_COEFFICIENTS);
        let grids = ((allowed / each).min(HELD / rows) as usize).clamp(few / 2, most);
        let (multiple, lambda) = (chosen.plan.multiple, chosen.plan.lambda);
        let of = (chosen.plan.metric, columns);
        let plan = self.bins(best, of, grids).at(multiple);
        let lambdas = self.penalties_beside(lambda, &BESIDE);
        self.attempt(plan, &lambdas, self.last_rows())
    }

    /// Bins of all columns together, as this metric weighs them or as neighbours do.
    fn of_all_columns(
        &mut self,
        best: &Done,
        metric: Option<LearnedMetric>,
    ) -> Result<Option<Done>> {
        let by_gradients = self.narrowed(best, (metric, GridColumns::All), &NARROWER, None)?;
        let Some(near) = self.sample.near(best.plan.scaling)? else {
            return Ok(by_gradients);
        };
        let by_near = self.narrowed(best, (Some(near), GridColumns::All), &NARROWER, None)?;
        Ok(match (by_gradients, by_near) {
            (Some(one), Some(other)) if other.trial.better_than(&one.trial) => Some(other),
            (one, other) => one.or(other),
        })
    }

    /// Bins of some columns at a time: of one width where that is far behind those of all columns
    /// together, else of wider ones, and of narrower ones where none of these is better.
    fn of_some_columns(
        &mut self,
        best: &Done,
        columns: &GridColumns,
        together: Option<&Done>,
    ) -> Result<Option<Done>> {
        let of = (None, columns.clone());
        let Some(first) = self.narrowed(best, of.clone(), &WIDER[..1], None)? else {
            return Ok(None);
        };
        if together.is_some_and(|all| first.trial.loss().0 > BEHIND * all.trial.loss().0) {
            return Ok(Some(first));
        }
        let mut chosen = self.narrowed(best, of.clone(), &WIDER[1..], Some(first))?;
        if let Some(first) = chosen.take_if(|done| done.plan.multiple == WIDER[0]) {
            chosen = self.narrowed(best, of, &LESS_WIDE, Some(first))?;
        }
        Ok(chosen)
    }

    /// The same bins with all rows where the sample had fewer, and narrower ones as long as these
    /// are better: a bin that a sample leaves empty has many rows of all. None where the sample
    /// has all, or so few grids of all rows are more than is held.
    fn narrower(&mut self, sampled: &Done) -> Result<Option<Done>> {
        let held = sampled.plan.features as f64 * self.sample.fitted(Extent::All);
        if self.sample.is_all() || held > HELD {
            return Ok(None);
        }
        let lambdas = self.penalties_beside(sampled.plan.lambda, &BESIDE);
        let mut best = self.attempt(sampled.plan.clone(), &lambdas, Extent::All)?;
        while let Some(wider) = &best
            && wider.plan.multiple > NARROWEST
        {
            let plan = wider.plan.at(wider.plan.multiple / 2.0);
            let lambdas = self.penalties_beside(wider.plan.lambda, &BESIDE);
            match self.attempt(plan, &lambdas, Extent::All)? {
                Some(done) if done.trial.better_than(&wider.trial) => best = Some(done),
                _ => break,
            }
        }
        Ok(best)
    }

    /// Weights of the columns by the root of the metric of a fit, which leaves more of those that
    /// matter less: a step along one of them is seen by few gradients. None of maps without.
    pub(super) fn weights(&self, tried: &Tried, scaling: usize) -> Result<Option<LearnedMetric>> {
        let options = MetricOptions {
            power: 0.5,
            ..Metric::Diagonal.into()
        };
        match self.sample.learn((tried, scaling), options) {
            Err(crate::Error::Unsupported(_)) => Ok(None),
            learnt => learnt.map(Some),
        }
    }

    /// Few grids of the first of these widths, unless one was tried before, and of the others as
    /// long as they are better.
    fn narrowed(
        &mut self,
        best: &Done,
        (metric, columns): (Option<LearnedMetric>, GridColumns),
        widths: &[f64],
        mut chosen: Option<Done>,
    ) -> Result<Option<Done>> {
        for &width in widths {
            let lambdas = match &chosen {
                Some(done) => self.penalties_beside(done.plan.lambda, &BESIDE),
                None => PENALTIES.to_vec(),
            };
            let few = grids_of(&columns, self.sample.data().targets.outputs()).0;
            let plan = self.bins(best, (metric.clone(), columns.clone()), few);
            let Some(done) = self.attempt(plan.at(width), &lambdas, Extent::Sample)? else {
                break;
            };
            if (chosen.as_ref()).is_some_and(|before| !done.trial.better_than(&before.trial)) {
                break;
            }
            chosen = Some(done);
        }
        Ok(chosen)
    }

    /// Bins of so many grids, of columns as the best has them prepared.
    fn bins(
        &self,
        best: &Done,
        (metric, columns): (Option<LearnedMetric>, GridColumns),
        grids: usize,
    ) -> Plan {
        let scaling = best.plan.scaling;
        Plan {
            kernel: Arc::new(Laplacian),
            scaling,
            is_binned: true,
            draw: 0,
            median: match columns {
                GridColumns::All => {
                    (self.sample).median(scaling, metric.as_ref(), Laplacian.norm())
                }
                _ => self.sample.deviation(scaling),
            },
            builder: Arc::new(Binning::new(Laplacian).columns(columns).grids(grids)),
            metric,
            turns: 0,
            features: grids,
            multiple: 1.0,
            lengthscale: 1.0,
            lambda: Plan::AS_GIVEN,
        }
    }
}
