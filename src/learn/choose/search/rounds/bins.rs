//! Search for random binning: width, columns and number of grids.

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

/// Number of grids in trials, and in the fit.
const FEW_GRIDS: usize = 48;
const GRIDS: usize = 192;
/// Number of grids in trials, and in the fit, if each grid uses some of the columns.
const FEW_OF_SOME: usize = 160;
const GRIDS_OF_SOME: usize = 512;
/// Largest number of outputs with the full number of grids.
const FEW_OUTPUTS: usize = 4;
/// Largest number of bin indices in memory, of all rows and grids: 256 MB.
const HELD: f64 = 6.4e7;
/// Number of coefficients of binning in a model: at least 32 MB of its file, or [`EACH`] per row
/// and output, up to 128 MB.
const COEFFICIENTS: f64 = 4e6;
const MOST_COEFFICIENTS: f64 = 1.6e7;
const EACH: f64 = 8.0;
/// Widths of grids on all columns, in multiples of the median distance.
const NARROWER: [f64; 4] = [1.0, 0.5, 0.25, 0.125];
/// Least width with all rows of a large table.
const NARROWEST: f64 = 0.01;
/// Widths of grids on some of the columns, in standard deviations of a column: wide ones first,
/// narrow ones if the first is best.
const WIDER: [f64; 3] = [4.0, 8.0, 16.0];
const LESS_WIDE: [f64; 2] = [2.0, 1.0];
/// First penalties.
const PENALTIES: [f64; 3] = [1e-5, 1e-4, 1e-3];
/// Ratio to the loss of grids on all columns above which grids on some columns are tried at one
/// width.
const BEHIND: f64 = 1.25;
/// Ratio to the loss of the best Fourier features below which binning is clearly better.
const AHEAD: f64 = 2.0 / 3.0;

/// Result of few grids on the sample.
pub(super) struct FewBins {
    done: Done,
    columns: GridColumns,
    are_ahead: bool,
}

/// Returns the number of grids in trials, which is less for many outputs, and the largest in fits.
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
    /// Searches the width of binning with few grids on the sample, then tries more grids.
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

    /// Tries few grids on the sample, if it has not all rows, before Fourier features are tried on
    /// all rows, which are then not refined if binning is clearly better.
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

    /// Whether binning was clearly better than Fourier features on the sample.
    pub(super) fn are_bins_ahead(&self) -> bool {
        self.sampled.as_ref().is_some_and(|bins| bins.are_ahead)
    }

    /// Tries few grids on the sample: on all columns, scaled by gradients or nearest neighbours,
    /// and on some columns per grid, drawn by their relevance.
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
            // A column of little relevance may interact with another one.
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

    /// Tries as many grids as memory and model size allow.
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
        // More rows fill more bins, and more grids need at most a smaller penalty.
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

    /// Tries grids on all columns, scaled by a metric and by nearest neighbours.
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

    /// Tries grids on some of the columns: at one width if that is far worse than grids on all
    /// columns, else at wider ones, and at narrower ones if none of these is better.
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

    /// Tries the grids on all rows, and halves their width as long as the loss falls, since more
    /// rows fill narrower bins. `None` if the sample has all rows, or if memory is too small.
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

    /// Returns weights of the columns by the square root of the metric of a fit, which keeps more
    /// of less relevant columns. `None` for maps without gradients.
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

    /// Tries few grids at the given widths in turn, as long as the loss falls.
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

    /// Returns the plan for binning with the preparation of the best plan.
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
