//! The rows of a search: a sample in memory, of which a fifth is held out, and one trial on them.

use super::{SearchData, loss, plan::Plan};
use crate::{
    Error, Result, Run,
    data::{ChunkSource, MemorySource, Part, Rows, Split, median_distance},
    features::{Affine, FeatureMap},
    kernels::Norm,
    models::{
        LinearModel,
        metric::{self, Ground, LearnedMetric, MetricOptions, by_prepared},
    },
    normal::{NormalEquations, Targets},
    seed::Seed,
    solve::{Cholesky, Coefficients},
};
use ndarray::{Array1, Array2, Axis, concatenate, s};

/// Rows that trials see at most.
const MOST_ROWS: usize = 20_000;
/// The share of rows that is held out.
const HELD_OUT: f64 = 0.2;
/// Rows that are predicted together.
const CHUNK: usize = 2048;

/// Rows of the race of kernels, at most.
const FEW_ROWS: usize = 5000;

/// The rows of a trial, of which a fifth is held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// [`FEW_ROWS`] of the sample.
    Few,
    /// The sample.
    Sample,
    /// All rows.
    All,
}

/// What a search looks at, and its sample.
pub(super) struct Sample<'a> {
    data: SearchData<'a>,
    rows: MemorySource,
    /// Columns before any lengthscale.
    prepared: Affine,
    /// Sampled rows of the survey, prepared.
    v_nd: Array2<f64>,
    /// Variances of the targets.
    variance_t: Vec<f64>,
}

/// What a trial gave.
pub(super) struct Tried {
    pub(super) lambda: f64,
    pub(super) error: f64,
    pub(super) squared: f64,
    pub(super) rows: u64,
    map: Box<dyn FeatureMap>,
    beta_dt: Array2<f64>,
    sums: NormalEquations,
}

impl Tried {
    /// D.
    pub(super) fn features(&self) -> usize {
        self.map.output_dim()
    }
}

impl<'a> Sample<'a> {
    /// Reads the sample.
    pub(super) fn of(data: SearchData<'a>) -> Result<Self> {
        let prepared = data.scaling.input(&[1.0])?;
        let v_nd = prepared.apply(&Rows::from(&data.survey.sample))?;
        let whole = data.survey.rows <= MOST_ROWS as u64;
        // Other draws than those of other splits by the same seed.
        let seed = data.seed.0.wrapping_add(2);
        let rows = match whole {
            true => gather(&mut *data.source)?,
            false => {
                let share = MOST_ROWS as f64 / data.survey.rows as f64;
                gather(&mut Split::new(&mut *data.source, Part::Test, share, seed)?)?
            }
        };
        data.source.rewind()?;
        let variances = data.survey.targets.iter().map(|target| target.variance);
        let variance_t = variances.map(|v| if v > 0.0 { v } else { 1.0 }).collect();
        Ok(Self {
            data,
            rows,
            prepared,
            v_nd,
            variance_t,
        })
    }

    pub(super) fn data(&self) -> &SearchData<'a> {
        &self.data
    }

    /// The median distance of rows as `metric` compares them; where most rows are the same, the
    /// root mean square one.
    pub(super) fn median(&self, metric: Option<&LearnedMetric>, norm: Norm) -> f64 {
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
    pub(super) fn run(&mut self, plan: &Plan, lambdas: &[f64], extent: Extent) -> Result<Tried> {
        let SearchData {
            survey,
            scaling,
            targets,
            options,
            seed,
            run,
            ..
        } = self.data;
        let silent = run.silent();
        let ground = Ground {
            source: &mut *self.data.source,
            survey,
            scaling,
            run: &silent,
            seed: Some(seed),
        };
        let metric = plan.metric.as_ref();
        let map = metric::draw(plan.builder.as_ref(), ground, metric, plan.lengthscale)?;
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
        let sums = NormalEquations::accumulate(map.as_ref(), &mut fitted, targets, &silent)?;
        source.rewind()?;
        let (kept, solved) = solve(&sums, lambdas, options.intercept)?;
        let columns = solved.intercept_t.len();
        let outputs = targets.outputs();
        let stacked = Targets::Real {
            columns,
            shift: vec![0.0; columns],
        };
        let model = LinearModel::new(map, solved, stacked, &silent.device);
        let mut held_out = Split::new(&mut *source, Part::Test, HELD_OUT, seed)?;
        let errors = errors(&model, &mut held_out, (targets, &self.variance_t), &silent)?;
        source.rewind()?;
        let ranked = errors.iter().enumerate();
        let losses = ranked.filter(|(_, errors)| errors.1.is_finite());
        let losses = losses.map(|(at, &(error, squared))| (at, loss(error, squared)));
        let best = losses.min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let Some((at, (error, squared))) = best.map(|(at, _)| (at, errors[at])) else {
            return Err(Error::numerical("no penalty has a finite held-out error"));
        };
        let beta_dt = model.coefficients.beta_dt;
        let own = s![.., at * outputs..(at + 1) * outputs];
        Ok(Tried {
            lambda: kept[at],
            error,
            squared,
            rows: sums.rows,
            beta_dt: beta_dt.slice(own).to_owned(),
            map: model.map,
            sums,
        })
    }

    /// The penalty of what was tried, times the least power of ten that the sums over all rows
    /// bear. Few features may have passed trials by luck, and their sums cost little; of many,
    /// some direction has shown that there is no room.
    pub(super) fn bearable(&mut self, tried: &Tried) -> Result<f64> {
        let mut lambda = tried.lambda;
        if lambda >= AMPLE || tried.features() > FEW_FEATURES {
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
        let intercept = options.intercept;
        let bears = |lambda: f64| (Cholesky { lambda, intercept }).solve(&sums).is_ok();
        while lambda < 1.0 && !bears(lambda) {
            lambda *= 10.0;
        }
        Ok(lambda)
    }

    /// The metric of the gradients of what was tried.
    pub(super) fn learn(&self, tried: &Tried, options: MetricOptions) -> Result<LearnedMetric> {
        let survey = self.data.survey;
        let m_dd = by_prepared(
            tried.map.as_ref(),
            tried.beta_dt.view(),
            (&tried.sums, &survey.sample),
            &self.prepared,
        )?;
        Ok(LearnedMetric::of(&m_dd, options)?.named(survey.names.clone()))
    }
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
    match source.is_weighted() {
        true => gathered.with_weights(weights),
        false => Ok(gathered),
    }
}

/// Several penalties must leave so much room below them: the fit to all rows takes one of them, and
/// must not fail where the trial just did not.
const ROOM: f64 = 0.1;
/// Penalties that have that room: far above the rounding of sums of f32.
const AMPLE: f64 = 1e-6;
/// Features whose sums over all rows are taken once more before the fit.
const FEW_FEATURES: usize = 500;

/// Penalties, ascending, that can be solved for, and their coefficients side by side.
fn solve(
    sums: &NormalEquations,
    lambdas: &[f64],
    intercept: bool,
) -> Result<(Vec<f64>, Coefficients)> {
    let (mut kept, mut solved, mut refused) = (Vec::new(), Vec::new(), None);
    let at = |lambda: f64| (Cholesky { lambda, intercept }).solve(sums);
    let mut has_room = match lambdas {
        [several, _, ..] if *several < AMPLE => at(ROOM * several).is_ok(),
        _ => true,
    };
    for &lambda in lambdas {
        match at(lambda) {
            Ok(one) if has_room => {
                kept.push(lambda);
                solved.push(one);
            }
            Ok(_) => has_room = true,
            Err(error) => refused = Some(error),
        }
    }
    if solved.is_empty() {
        let none = || Error::numerical("no penalty is large enough for these features");
        return Err(refused.unwrap_or_else(none));
    }
    let betas: Vec<_> = solved.iter().map(|one| one.beta_dt.view()).collect();
    let intercepts: Vec<_> = solved.iter().map(|one| one.intercept_t.view()).collect();
    let shape = |fault: ndarray::ShapeError| Error::shape(fault.to_string());
    let coefficients = Coefficients {
        beta_dt: concatenate(Axis(1), &betas).map_err(shape)?,
        intercept_t: concatenate(Axis(0), &intercepts).map_err(shape)?,
    };
    Ok((kept, coefficients))
}

/// Error and squared error of each penalty on rows held out, whose outputs `model` has side by
/// side.
fn errors(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    (targets, variance_t): (&Targets, &[f64]),
    run: &Run,
) -> Result<Vec<(f64, f64)>> {
    let outputs = targets.outputs();
    let penalties = model.coefficients.intercept_t.len() / outputs;
    let mut squared = Array2::<f64>::zeros((penalties, outputs));
    let mut wrong = Array1::<f64>::zeros(penalties);
    let mut total = 0.0;
    let plain = match targets {
        Targets::Real { columns, .. } => Targets::Real {
            columns: *columns,
            shift: vec![0.0; *columns],
        },
        classes => classes.clone(),
    };
    let mut predictor = model.on(run)?;
    while let Some(chunk) = source.next_chunk(CHUNK)? {
        let scores = predictor.scores(&chunk.x)?;
        let y_nt = plain.encode(chunk.y.view())?;
        for (i, (scores, y)) in scores.rows().into_iter().zip(y_nt.rows()).enumerate() {
            let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
            total += weight;
            for penalty in 0..penalties {
                let own = scores.slice(s![penalty * outputs..(penalty + 1) * outputs]);
                for (sum, (score, y)) in
                    (squared.row_mut(penalty).iter_mut()).zip(own.iter().zip(y))
                {
                    *sum += weight * (score - y).powi(2);
                }
                let largest = (1..outputs).fold(0, |b, k| if own[k] > own[b] { k } else { b });
                if y[largest] < 0.0 {
                    wrong[penalty] += weight;
                }
            }
        }
    }
    let squared = squared / total;
    Ok((0..penalties)
        .map(|penalty| {
            let row = squared.row(penalty);
            match targets {
                Targets::Classes(_) => (wrong[penalty] / total, row.sum() / outputs as f64),
                Targets::Real { .. } => {
                    let relative = row.iter().zip(variance_t).map(|(s, v)| s / v).sum::<f64>();
                    let mean = relative / outputs as f64;
                    (mean.sqrt(), mean)
                }
            }
        })
        .collect())
}
