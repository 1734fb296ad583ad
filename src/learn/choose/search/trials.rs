//! Sample and hold-out set of a search, and single trials.

use super::{
    SearchData,
    parting::Parting,
    plan::Plan,
    prepared::Prepared,
    score::{AMPLE, CHUNK},
};
use crate::{
    Error, Result, Run,
    analysis::ExactKernel,
    data::{ChunkSource, Grouped, MemorySource, Part, Rows},
    features::{FeatureMap, part_seed},
    learn::{
        choose::metric::{self, MetricOptions, RowsForMap, by_prepared},
        fit::{apart::again, find_repeats},
        squares::dual,
    },
    model::{Coefficients, LearnedMetric, LinearModel},
    normal::NormalEquations,
    seed::Seed,
    solve::{Cholesky, Dual},
};
use ndarray::{Axis, concatenate};

/// Largest number of sampled rows.
pub(in crate::learn) const MOST_ROWS: usize = 20_000;
/// Share of the rows in the hold-out set.
pub(super) const HELD_OUT: f64 = 0.2;
/// Number of rows of a sample up to which a brief search averages several splits, and the largest
/// number of splits: hold-out sets of fewer rows are too noisy for choices among dozens of trials.
const SCORED_ROWS: usize = 2000;
const MAX_SPLITS: usize = 5;
/// Share of all rows from which on a sample is as good as all rows.
const TELLING: f64 = 0.4;
/// Largest number of rows in the first comparison of kernels.
pub(super) const FEW_ROWS: usize = 5000;
/// Number of features up to which penalties are checked on sums over all rows.
const FEW_FEATURES: usize = 500;

/// Rows of a trial, including the hold-out set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::learn) enum Extent {
    /// [`FEW_ROWS`] of the sample.
    Few,
    /// The sample.
    Sample,
    /// All rows.
    All,
}

/// Input of a search, and its sample.
pub(in crate::learn) struct Sample<'a> {
    pub(super) data: SearchData<'a>,
    pub(super) rows: Box<dyn ChunkSource>,
    /// Whether the sample has all rows.
    is_all: bool,
    /// Preparations of the columns, the given one first.
    pub(super) prepared: Vec<Prepared>,
    /// Variances of the targets.
    pub(super) variance_t: Vec<f64>,
    /// Rule for the hold-out sets.
    pub(super) parting: Parting,
    /// Number of splits into training and hold-out rows whose errors a trial averages.
    pub(super) splits: usize,
}

/// Result of a trial.
pub(in crate::learn) struct Tried {
    pub(in crate::learn) lambda: f64,
    pub(in crate::learn) error: f64,
    pub(in crate::learn) squared: f64,
    pub(super) rows: u64,
    /// Map and coefficients, for encoded targets, of the training rows of each split.
    pub(super) models: Vec<LinearModel>,
    /// Normal equations of the first split; `None` for the dual and for binning.
    pub(super) sums: Option<NormalEquations>,
}

impl Tried {
    /// Returns the number of features.
    pub(in crate::learn) fn features(&self) -> usize {
        self.model().map.output_dim()
    }

    /// Returns the model of the first split.
    pub(super) fn model(&self) -> &LinearModel {
        &self.models[0]
    }
}

/// Returns a silent run with the memory of a trial: the final fit holds a quarter more for binning.
pub(super) fn run_of(plan: &Plan, run: &Run) -> Run {
    let mut silent = run.silent();
    if plan.is_binned {
        silent.held = silent.held.map(|held| held / 4 * 3);
    }
    silent
}

impl<'a> Sample<'a> {
    /// Reads the sample.
    pub(in crate::learn) fn read(data: SearchData<'a>) -> Result<Self> {
        Self::of_most(data, MOST_ROWS)
    }

    /// As [`Self::read`], with at most `most_rows` rows.
    pub(super) fn of_most(data: SearchData<'a>, most_rows: usize) -> Result<Self> {
        Self::parted(data, most_rows, false)
    }

    /// Reads the sample, whose parts go by the contents of rows or by their numbers.
    pub(super) fn parted(
        data: SearchData<'a>,
        most_rows: usize,
        by_contents: bool,
    ) -> Result<Self> {
        let prepared = vec![Prepared::new(data.scaling.clone(), data.survey)?];
        let whole = data.survey.rows <= most_rows as u64;
        let parting = Parting {
            repeats: find_repeats(&mut *data.source, data.run)?,
            by_contents,
        };
        data.source.rewind()?;
        // Other draws than those of other splits by the same seed.
        let seed = data.seed.0.wrapping_add(2);
        let rows = if whole {
            gather(&mut *data.source)?
        } else {
            let share = most_rows as f64 / data.survey.rows as f64;
            let mut sample = parting.take(&mut *data.source, Part::Test, (share, seed))?;
            gather(&mut sample)?
        };
        data.source.rewind()?;
        let splits = match by_contents {
            true => (SCORED_ROWS / rows.rows().unwrap_or(0).max(1)).clamp(1, MAX_SPLITS),
            false => 1,
        };
        let variances = data.survey.targets.iter().map(|target| target.variance);
        let variance_t = variances.map(|v| if v > 0.0 { v } else { 1.0 }).collect();
        Ok(Self {
            data,
            rows,
            is_all: whole,
            prepared,
            variance_t,
            parting,
            splits,
        })
    }

    /// Whether the sample has all rows.
    pub(super) fn is_all(&self) -> bool {
        self.is_all
    }

    /// Whether the sample has a large share of all rows.
    pub(super) fn tells(&self) -> bool {
        let sampled = self.rows.rows().unwrap_or(0) as f64;
        sampled >= TELLING * self.data.survey.rows as f64
    }

    /// Returns the approximate number of training rows of a trial.
    pub(super) fn fitted(&self, extent: Extent) -> f64 {
        let sampled = self.rows.rows().unwrap_or(0);
        let rows = match extent {
            Extent::Few => sampled.min(FEW_ROWS) as f64,
            Extent::Sample => sampled as f64,
            Extent::All => self.data.survey.rows as f64,
        };
        (1.0 - HELD_OUT) * rows
    }

    /// Returns the number of rows that decides between the dual and normal equations: for the last
    /// trials that of the final fit, so that it can be solved at the same penalty.
    pub(super) fn deciding(&self, extent: Extent) -> f64 {
        match extent {
            Extent::All => self.data.survey.rows as f64,
            // Last trials of a brief search use the sample.
            _ if self.parting.by_contents && self.is_all => self.data.survey.rows as f64,
            Extent::Few | Extent::Sample => self.fitted(extent),
        }
    }

    /// Returns the variances of the targets, 1 for constant ones.
    pub(super) fn variances(&self) -> &[f64] {
        &self.variance_t
    }

    /// Calls `take` with the hold-out set of a split.
    pub(super) fn with_held_out(
        &mut self,
        (extent, split): (Extent, usize),
        take: &mut dyn FnMut(&mut dyn ChunkSource) -> Result<()>,
    ) -> Result<()> {
        let seed = seed_of_split(self.data.seed, split);
        let source: &mut dyn ChunkSource = match extent {
            Extent::All => &mut *self.data.source,
            Extent::Few | Extent::Sample => self.rows.as_mut(),
        };
        let mut held_out = self
            .parting
            .take(&mut *source, Part::Test, (HELD_OUT, seed))?;
        take(&mut held_out)?;
        source.rewind()
    }

    pub(super) fn data(&self) -> &SearchData<'a> {
        &self.data
    }

    /// Draws the map of a plan, from all rows or from the sample.
    pub(super) fn draw(
        &mut self,
        plan: &Plan,
        is_sampled: bool,
        run: &Run,
    ) -> Result<Box<dyn FeatureMap>> {
        let SearchData { survey, seed, .. } = self.data;
        let source: &mut dyn ChunkSource = if is_sampled {
            self.rows.as_mut()
        } else {
            &mut *self.data.source
        };
        let rows = RowsForMap {
            source,
            survey,
            scaling: &self.prepared[plan.scaling].scaling,
            run,
            seed: Some(part_seed(seed, plan.draw)),
        };
        let metric = plan.metric.as_ref();
        metric::draw(plan.builder.as_ref(), rows, metric, plan.lengthscale)
    }

    /// Returns the relative Frobenius error of the kernel matrix of a plan, on rows of
    /// [`Self::compared`].
    pub(super) fn kernel_error(&mut self, plan: &Plan, exact: &ExactKernel) -> Result<f64> {
        let silent = self.data.run.silent();
        let map = self.draw(plan, false, &silent)?;
        self.data.source.rewind()?;
        Ok(exact.error(map.as_ref(), &silent)?.frobenius)
    }

    /// Returns the penalty of a trial times the least power of ten for which the sums over all rows
    /// can be solved. Only few features need this check, and their sums are cheap.
    pub(super) fn bearable(&mut self, tried: &Tried) -> Result<f64> {
        let mut lambda = tried.lambda;
        if lambda >= AMPLE || tried.features() > FEW_FEATURES || tried.sums.is_none() {
            return Ok(lambda);
        }
        let SearchData {
            targets,
            options,
            run,
            ..
        } = self.data;
        let source = &mut *self.data.source;
        let map = tried.model().map.as_ref();
        let sums = NormalEquations::accumulate(map, source, targets, run.silent())?;
        source.rewind()?;
        let intercept = options.has_intercept();
        let bears = |lambda: f64| (Cholesky { lambda, intercept }).solve(&sums).is_ok();
        while lambda < 1.0 && !bears(lambda) {
            lambda *= 10.0;
        }
        Ok(lambda)
    }

    /// Returns map and coefficients of a trial on all rows, refitted with the hold-out set;
    /// increases the penalty if necessary.
    pub(in crate::learn) fn finish(
        &mut self,
        tried: Tried,
    ) -> Result<(Box<dyn FeatureMap>, Coefficients)> {
        let SearchData {
            targets,
            options,
            seed,
            run,
            ..
        } = self.data;
        let source = &mut *self.data.source;
        let Tried {
            mut lambda,
            mut models,
            sums,
            ..
        } = tried;
        let map = models.swap_remove(0).map;
        let Some(mut sums) = sums else {
            let intercept = options.has_intercept();
            let model = loop {
                source.rewind()?;
                // Copies the map, in case the penalty is too small for all rows.
                let dual = Dual { lambda, intercept };
                let (again, targets) = (again(map.as_ref())?, targets.clone());
                match dual::fit(again, source, targets, dual, &run.silent()) {
                    Err(Error::Numerical(_)) if lambda < 1.0 => lambda *= 10.0,
                    fitted => break fitted?,
                }
            };
            return Ok((map, model.coefficients));
        };
        let of = (HELD_OUT, seed_of_split(seed, 0));
        let mut held_out = self.parting.take(source, Part::Test, of)?;
        let rest = NormalEquations::accumulate(map.as_ref(), &mut held_out, targets, run.silent())?;
        sums.merge(&rest)?;
        let intercept = options.has_intercept();
        loop {
            match (Cholesky { lambda, intercept }).solve(&sums) {
                Err(Error::Numerical(_)) if lambda < 1.0 => lambda *= 10.0,
                solved => return Ok((map, solved?)),
            }
        }
    }

    /// Returns the metric from the gradients of a trial.
    pub(in crate::learn) fn learn(
        &self,
        (tried, scaling): (&Tried, usize),
        options: MetricOptions,
    ) -> Result<LearnedMetric> {
        let survey = self.data.survey;
        let m_dd = by_prepared(
            tried.model().map.as_ref(),
            tried.model().coefficients.beta_dt.view(),
            (tried.sums.as_ref(), &survey.sample),
            &self.prepared[scaling].input,
        )?;
        Ok(LearnedMetric::from_matrix(&m_dd, options)?.named(survey.names.clone()))
    }
}

/// Returns the seed of the hold-out set of a split, distinct from the seeds of other draws.
pub(super) fn seed_of_split(seed: Seed, split: usize) -> u64 {
    seed.0.wrapping_add(3 + ((split as u64) << 32))
}

/// Reads all rows of a source into memory, with their groups.
fn gather(source: &mut dyn ChunkSource) -> Result<Box<dyn ChunkSource>> {
    let (mut xs, mut ys, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(chunk) = source.next_chunk(CHUNK)? {
        xs.push(chunk.x);
        ys.push(chunk.y);
        weights.extend(chunk.weights.into_iter().flatten());
    }
    let ys: Vec<_> = ys.iter().map(|y| y.view()).collect();
    let y = concatenate(Axis(0), &ys).map_err(|fault| Error::shape(fault.to_string()))?;
    let mut gathered = MemorySource::new(Rows::stack(xs)?, Some(y))?;
    if source.is_weighted() {
        gathered = gathered.with_weights(weights)?;
    }
    Ok(match source.groups() {
        Some(groups) => Box::new(Grouped::new(gathered, groups)?),
        None => Box::new(gathered),
    })
}
