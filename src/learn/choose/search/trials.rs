//! The rows of a search: a sample in memory, of which a fifth is held out, and one trial on them.

use super::{
    SearchData,
    fitted::{Fitted, stacked},
    plan::Plan,
    score::{AMPLE, CHUNK, errors, least},
};
use crate::{
    Error, Result, Run,
    analysis::ExactKernel,
    data::{ChunkSource, MemorySource, Part, Rows, Split, median_distance},
    features::{self, Affine, FeatureMap},
    kernels::Norm,
    learn::{
        choose::metric::{self, MetricOptions, RowsForMap, by_prepared},
        squares::dual,
    },
    model::{Coefficients, LearnedMetric},
    normal::NormalEquations,
    seed::Seed,
    solve::{Cholesky, Dual},
    store::Store,
};
use ndarray::{Array2, Axis, concatenate, s};

/// Rows that trials see at most, before the last of them.
pub(in crate::learn) const MOST_ROWS: usize = 20_000;
/// The share of rows that is held out.
pub(super) const HELD_OUT: f64 = 0.2;
/// Rows of the race of kernels, at most.
const FEW_ROWS: usize = 5000;
/// Features whose sums over all rows are taken once more before the fit.
const FEW_FEATURES: usize = 500;

/// The rows of a trial, of which a fifth is held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::learn) enum Extent {
    /// [`FEW_ROWS`] of the sample.
    Few,
    /// The sample.
    Sample,
    /// All rows.
    All,
}

/// What a search looks at, and its sample.
pub(in crate::learn) struct Sample<'a> {
    data: SearchData<'a>,
    rows: MemorySource,
    /// Whether these are all.
    is_all: bool,
    /// Columns before any lengthscale.
    prepared: Affine,
    /// Sampled rows of the survey, prepared.
    v_nd: Array2<f64>,
    /// Variances of the targets.
    variance_t: Vec<f64>,
}

/// What a trial gave.
pub(in crate::learn) struct Tried {
    pub(in crate::learn) lambda: f64,
    pub(in crate::learn) error: f64,
    pub(in crate::learn) squared: f64,
    pub(super) rows: u64,
    map: Box<dyn FeatureMap>,
    pub(super) beta_dt: Array2<f64>,
    /// None where its rows are fewer than its features, and were solved for in the dual.
    pub(super) sums: Option<NormalEquations>,
}

impl Tried {
    /// D.
    pub(in crate::learn) fn features(&self) -> usize {
        self.map.output_dim()
    }
}

impl<'a> Sample<'a> {
    /// Reads the sample.
    pub(in crate::learn) fn read(data: SearchData<'a>) -> Result<Self> {
        Self::of_most(data, MOST_ROWS)
    }

    /// As [`Self::read`], of so many rows at most.
    pub(super) fn of_most(data: SearchData<'a>, most_rows: usize) -> Result<Self> {
        let prepared = data.scaling.input(&[1.0])?;
        let v_nd = prepared.apply(&Rows::from(&data.survey.sample))?;
        let whole = data.survey.rows <= most_rows as u64;
        // Other draws than those of other splits by the same seed.
        let seed = data.seed.0.wrapping_add(2);
        let rows = if whole {
            gather(&mut *data.source)?
        } else {
            let share = most_rows as f64 / data.survey.rows as f64;
            gather(&mut Split::new(&mut *data.source, Part::Test, share, seed)?)?
        };
        data.source.rewind()?;
        let variances = data.survey.targets.iter().map(|target| target.variance);
        let variance_t = variances.map(|v| if v > 0.0 { v } else { 1.0 }).collect();
        Ok(Self {
            data,
            rows,
            is_all: whole,
            prepared,
            v_nd,
            variance_t,
        })
    }

    /// Whether it has all rows.
    pub(super) fn is_all(&self) -> bool {
        self.is_all
    }

    /// About how many rows a trial fits.
    pub(super) fn fitted(&self, extent: Extent) -> f64 {
        let sampled = self.rows.rows().unwrap_or(0);
        let rows = match extent {
            Extent::Few => sampled.min(FEW_ROWS) as f64,
            Extent::Sample => sampled as f64,
            Extent::All => self.data.survey.rows as f64,
        };
        (1.0 - HELD_OUT) * rows
    }

    pub(super) fn data(&self) -> &SearchData<'a> {
        &self.data
    }

    /// The median distance of rows as `metric` compares them; where most rows are the same, the
    /// root mean square one.
    pub(in crate::learn) fn median(&self, metric: Option<&LearnedMetric>, norm: Norm) -> f64 {
        let rows = match metric {
            None => self.v_nd.clone(),
            Some(metric) => metric.apply(&self.v_nd),
        };
        let spread = || {
            let variance = rows.var_axis(Axis(0), 0.0).sum();
            let distance = (2.0 * variance).sqrt();
            if distance > 0.0 { distance } else { 1.0 }
        };
        median_distance(rows.view(), norm).unwrap_or_else(|_| spread())
    }

    /// Fits with each of some penalties, and keeps the best by the rows held out: of the sample, or
    /// of all rows.
    pub(in crate::learn) fn run(
        &mut self,
        plan: &Plan,
        lambdas: &[f64],
        extent: Extent,
    ) -> Result<Tried> {
        let SearchData {
            targets,
            options,
            seed,
            run,
            ..
        } = self.data;
        let silent = run.silent();
        let map = self.draw(plan, &silent)?;
        let rows = self.fitted(extent);
        let draws = seed.0.wrapping_add(4);
        let share = FEW_ROWS as f64 / self.rows.rows().unwrap_or(0).max(1) as f64;
        let mut few;
        let source: &mut dyn ChunkSource = match extent {
            Extent::All => &mut *self.data.source,
            Extent::Few if share < 1.0 => {
                few = Split::new(&mut self.rows, Part::Test, share, draws)?;
                &mut few
            }
            _ => &mut self.rows,
        };
        let seed = split_seed(seed);
        let mut fitted = Split::new(&mut *source, Part::Train, HELD_OUT, seed)?;
        let how = (lambdas, options.has_intercept());
        let is_dual = rows < map.output_dim() as f64;
        let fit = Fitted::new(
            map.as_ref(),
            (&mut fitted, is_dual),
            (targets, how),
            &silent,
        )?;
        source.rewind()?;
        let model = stacked(map, fit.solved, &silent.device);
        let mut held_out = Split::new(&mut *source, Part::Test, HELD_OUT, seed)?;
        let errors = errors(&model, &mut held_out, (targets, &self.variance_t), &silent)?;
        source.rewind()?;
        let (at, (error, squared)) = least(&errors)?;
        let beta_dt = model.coefficients.beta_dt;
        let outputs = targets.outputs();
        let own = s![.., at * outputs..(at + 1) * outputs];
        Ok(Tried {
            lambda: fit.lambdas[at],
            error,
            squared,
            rows: fit.rows,
            beta_dt: beta_dt.slice(own).to_owned(),
            map: model.map,
            sums: fit.sums,
        })
    }

    /// The map of a plan, drawn on the rows of the data.
    fn draw(&mut self, plan: &Plan, run: &Run) -> Result<Box<dyn FeatureMap>> {
        let SearchData {
            survey,
            scaling,
            seed,
            ..
        } = self.data;
        let rows = RowsForMap {
            source: &mut *self.data.source,
            survey,
            scaling,
            run,
            seed: Some(seed),
        };
        let metric = plan.metric.as_ref();
        metric::draw(plan.builder.as_ref(), rows, metric, plan.lengthscale)
    }

    /// Sampled rows, raw and as the kernel of a plan sees them: `count` at most, spread evenly.
    pub(super) fn compared(&self, plan: &Plan, count: usize) -> Result<(Rows, Array2<f64>)> {
        let sample = &self.data.survey.sample;
        let (rows, taken) = (sample.nrows(), count.min(sample.nrows()));
        let places: Vec<usize> = (0..taken).map(|i| i * rows / taken).collect();
        let raw = sample.select(Axis(0), &places);
        let v_nd = self.prepared.apply(&Rows::from(&raw))?;
        let v_nd = match &plan.metric {
            None => v_nd,
            Some(metric) => metric.apply(&v_nd),
        };
        Ok((Rows::from(raw), v_nd / plan.lengthscale))
    }

    /// The relative Frobenius error of the map of a plan, on rows of [`Self::compared`].
    pub(super) fn kernel_error(&mut self, plan: &Plan, exact: &ExactKernel) -> Result<f64> {
        let silent = self.data.run.silent();
        let map = self.draw(plan, &silent)?;
        self.data.source.rewind()?;
        Ok(exact.error(map.as_ref(), &silent)?.frobenius)
    }

    /// The penalty of what was tried, times the least power of ten that the sums over all rows
    /// bear. Few features may have passed trials by luck, and their sums cost little; of many,
    /// some direction has shown that there is no room.
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
        let map = tried.map.as_ref();
        let sums = NormalEquations::accumulate(map, source, targets, run.silent())?;
        source.rewind()?;
        let intercept = options.has_intercept();
        let bears = |lambda: f64| (Cholesky { lambda, intercept }).solve(&sums).is_ok();
        while lambda < 1.0 && !bears(lambda) {
            lambda *= 10.0;
        }
        Ok(lambda)
    }

    /// The map of what was tried on all rows, with its coefficients on these and the rows that were
    /// held out; with more of a penalty if their sums want it.
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
            map,
            sums,
            ..
        } = tried;
        let Some(mut sums) = sums else {
            let intercept = options.has_intercept();
            let model = loop {
                source.rewind()?;
                // The same map once more, if a penalty is too small for all rows.
                let dual = Dual { lambda, intercept };
                let (again, targets) = (again(map.as_ref())?, targets.clone());
                match dual::fit(again, source, targets, dual, &run.silent()) {
                    Err(Error::Numerical(_)) if lambda < 1.0 => lambda *= 10.0,
                    fitted => break fitted?,
                }
            };
            return Ok((map, model.coefficients));
        };
        let mut held_out = Split::new(source, Part::Test, HELD_OUT, split_seed(seed))?;
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

    /// The metric of the gradients of what was tried.
    pub(in crate::learn) fn learn(
        &self,
        tried: &Tried,
        options: MetricOptions,
    ) -> Result<LearnedMetric> {
        let survey = self.data.survey;
        let m_dd = by_prepared(
            tried.map.as_ref(),
            tried.beta_dt.view(),
            (tried.sums.as_ref(), &survey.sample),
            &self.prepared,
        )?;
        Ok(LearnedMetric::from_matrix(&m_dd, options)?.named(survey.names.clone()))
    }
}

/// A map once more, as a file would give it.
fn again(map: &dyn FeatureMap) -> Result<Box<dyn FeatureMap>> {
    let mut store = Store::default();
    map.write(&mut store)?;
    features::read(&store)
}

/// What decides which rows are held out: other draws than those of other splits by the same seed.
fn split_seed(seed: Seed) -> u64 {
    seed.0.wrapping_add(3)
}

/// All rows of a source, in memory.
fn gather(source: &mut dyn ChunkSource) -> Result<MemorySource> {
    let (mut xs, mut ys, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(chunk) = source.next_chunk(CHUNK)? {
        xs.push(chunk.x);
        ys.push(chunk.y);
        weights.extend(chunk.weights.into_iter().flatten());
    }
    let ys: Vec<_> = ys.iter().map(|y| y.view()).collect();
    let y = concatenate(Axis(0), &ys).map_err(|fault| Error::shape(fault.to_string()))?;
    let gathered = MemorySource::new(Rows::stack(xs)?, Some(y))?;
    if source.is_weighted() {
        gathered.with_weights(weights)
    } else {
        Ok(gathered)
    }
}
