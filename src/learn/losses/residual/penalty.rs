//! The penalty of a regression by a loss of residuals, by the loss on rows held out.

use super::{ResidualLoss, ResidualOptions};
use crate::{
    Result,
    data::{Chunk, ChunkSource, Part, Repeats, Split},
    features::FeatureMap,
    flow::{RowNeeds, Run, for_each_chunk},
    learn::{FitData, fit::find_repeats, losses::minimise::AnyLoss},
    model::{Coefficients, LinearModel},
    solve::risk::RowLoss,
};
use std::sync::Arc;

/// Where nothing can be held out.
pub(super) const USUAL: f64 = 1e-5;
/// The share of the rows that choose by their loss.
const HELD_OUT: f64 = 0.2;
/// Rows that choosing looks at, about.
const ROWS: f64 = 10_000.0;
/// The fewest rows that choose.
const FEWEST: u64 = 20;
/// Penalties from 1 down, each the root of ten less than the one before.
const STEPS: i32 = 14;
/// So many penalties in a row may be worse than the best before they end.
const PATIENCE: usize = 3;

/// A penalty, and the mean loss that it was chosen by.
pub(super) struct Chosen {
    pub(super) lambda: f64,
    pub(super) loss: Option<f64>,
    /// Rows that the hold-out draws one by one.
    repeats: Arc<Repeats>,
}

impl Chosen {
    /// One that was given.
    pub(super) fn given(lambda: f64) -> Self {
        Self {
            lambda,
            loss: None,
            repeats: Arc::default(),
        }
    }
}

/// A part of the rows for choosing: of about [`ROWS`] of them those that are fitted, or the rest.
/// The contents of a row decide, so that equal rows are in one part, except [`Repeats`].
fn part<'a>(
    source: &'a mut dyn ChunkSource,
    (rows, repeats): (u64, &Arc<Repeats>),
    part: Part,
) -> Box<dyn ChunkSource + 'a> {
    let share = ROWS / rows as f64;
    if share < 1.0 {
        let some = Split::by_contents(source, Part::Test, share, 1, repeats);
        Box::new(Split::by_contents(some, part, HELD_OUT, 0, repeats))
    } else {
        Box::new(Split::by_contents(source, part, HELD_OUT, 0, repeats))
    }
}

/// The rows that [`ResidualOptions::choose`] fitted when it came to this; all, if it had nothing to
/// choose by.
pub(super) fn fitted<'a>(
    source: &'a mut dyn ChunkSource,
    rows: u64,
    chosen: &Chosen,
) -> Box<dyn ChunkSource + 'a> {
    match chosen.loss {
        Some(_) => part(source, (rows, &chosen.repeats), Part::Train),
        None => Box::new(source),
    }
}

/// The rows that it chose by, likewise.
pub(super) fn rest<'a>(
    source: &'a mut dyn ChunkSource,
    rows: u64,
    chosen: &Chosen,
) -> Box<dyn ChunkSource + 'a> {
    match chosen.loss {
        Some(_) => part(source, (rows, &chosen.repeats), Part::Test),
        None => Box::new(source),
    }
}

/// What the rows of a source count for together, and the mean of what `each` says of its rows.
fn mean(
    source: &mut dyn ChunkSource,
    rows: usize,
    mut each: impl FnMut(&Chunk) -> Result<Vec<f64>>,
) -> Result<(f64, f64)> {
    let (mut weight, mut sum) = (0.0, 0.0);
    for_each_chunk(source, rows, |chunk| {
        for (i, value) in each(&chunk)?.into_iter().enumerate() {
            let counts = chunk.weights.as_ref().map_or(1.0, |weight_n| weight_n[i]);
            weight += counts;
            sum += counts * value;
        }
        Ok(())
    })?;
    Ok((weight, sum / weight))
}

impl ResidualLoss {
    /// What penalties are multiples of for targets of this size: coefficients are of their size,
    /// squares of them in the unit of the loss.
    fn unit(self, size: f64) -> f64 {
        match self {
            Self::SquaredEpsilonInsensitive(_) => 1.0,
            Self::Huber(width) => (width / size).min(1.0),
            Self::EpsilonInsensitive(_) | Self::Quantile(_) => 1.0 / size,
            Self::Own(own) => own.slope() / size,
        }
    }
}

impl AnyLoss {
    /// The loss of score `s` where the target is `y`.
    fn value(&self, y: f64, s: f64) -> f64 {
        match self {
            Self::Kinked { loss, .. } => loss.value(y, s),
            Self::Smooth(RowLoss::Each(loss)) => loss.value_and_slope(y, s).0,
            Self::Smooth(_) => f64::NAN,
        }
    }
}

impl ResidualOptions {
    /// Fits to four fifths of the rows, of some of them where they are many, with penalties from
    /// large to small, each from the coefficients of the one before, and takes the one whose mean
    /// loss on the other fifth is the least. Gives the map back.
    pub(super) fn choose(
        &self,
        map: Box<dyn FeatureMap>,
        data: &mut FitData<'_>,
        (loss, size): (ResidualLoss, f64),
    ) -> Result<(Box<dyn FeatureMap>, Chosen)> {
        let (rows, run) = (data.survey.rows, data.run);
        let columns = data.source.columns() + data.source.targets();
        let chunk = RowNeeds::read(columns).rows_of(run)?;
        let repeats = match rows {
            ..FEWEST => Arc::default(),
            _ => find_repeats(&mut *data.source, run)?,
        };
        let by = (rows, &repeats);
        if rows < FEWEST || !has_both_parts(data, by, chunk)? {
            return Ok((map, Chosen::given(USUAL)));
        }
        let value = loss.scaled_to(size)?;
        let (unit, silent) = (loss.unit(size), run.silent());
        let (mut map, mut best, mut worse) = (map, Chosen::given(USUAL), 0);
        let mut start: Option<Coefficients> = None;
        for step in 0..=STEPS {
            let lambda = unit * 10_f64.powf(-0.5 * f64::from(step));
            data.source.rewind()?;
            let mut fitted = part(&mut *data.source, by, Part::Train);
            let most = FitData {
                source: fitted.as_mut(),
                survey: data.survey,
                targets: data.targets.clone(),
                kernel: data.kernel.clone(),
                bandwidth: data.bandwidth.clone(),
                start: start.as_ref(),
                seed: data.seed,
                run,
            };
            let model = self.fit_with(map, most, (loss, size, lambda), true)?;
            drop(fitted);
            let held = held_out(&model, &value, (&mut *data.source, by, chunk), &silent)?;
            log::info!("penalty {lambda:e}: a loss of {held:e} on rows held out");
            worse += 1;
            if best.loss.is_none_or(|least| held < least) {
                best = Chosen {
                    lambda,
                    loss: Some(held),
                    repeats: repeats.clone(),
                };
                worse = 0;
            }
            // Losses with a kink, and those beside a bound, begin anew.
            if matches!(value, AnyLoss::Smooth(_)) && self.bound.is_none() {
                start = Some(model.coefficients);
            }
            map = model.map;
            if worse == PATIENCE {
                break;
            }
        }
        data.source.rewind()?;
        Ok((map, best))
    }
}

/// Whether training and validation rows both have weight.
fn has_both_parts(
    data: &mut FitData<'_>,
    (rows, repeats): (u64, &Arc<Repeats>),
    chunk: usize,
) -> Result<bool> {
    for which in [Part::Train, Part::Test] {
        data.source.rewind()?;
        let mut part = part(&mut *data.source, (rows, repeats), which);
        let ones = |chunk: &Chunk| Ok(vec![1.0; chunk.y.nrows()]);
        if mean(part.as_mut(), chunk, ones)?.0 <= 0.0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The mean loss of a model on the rows that are held out.
fn held_out(
    model: &LinearModel,
    loss: &AnyLoss,
    (source, rows, chunk): (&mut dyn ChunkSource, (u64, &Arc<Repeats>), usize),
    run: &Run,
) -> Result<f64> {
    let mut predictor = model.on(run)?;
    let mut rest = part(source, rows, Part::Test);
    let each = |chunk: &Chunk| {
        let scores_nt = predictor.scores(&chunk.x)?;
        let rows = scores_nt.rows().into_iter().zip(chunk.y.rows());
        let of_row = rows.map(|(s, y)| s.iter().zip(y).map(|(&s, &y)| loss.value(y, s)).sum());
        Ok(of_row.collect())
    };
    Ok(mean(rest.as_mut(), chunk, each)?.1)
}
