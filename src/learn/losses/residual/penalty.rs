//! Chooses the penalty of a regression with a loss of residuals by the loss on held-out rows.

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

/// Penalty if no rows can be held out.
pub(super) const USUAL: f64 = 1e-5;
/// Share of held-out rows.
const HELD_OUT: f64 = 0.2;
/// Approximate number of rows used for the choice.
const ROWS: f64 = 10_000.0;
/// Minimum number of rows for a choice.
const FEWEST: u64 = 20;
/// Number of penalties from 1 down, each smaller than the one before by sqrt(10).
const STEPS: i32 = 14;
/// Penalties in a row without an improvement before the search ends.
const PATIENCE: usize = 3;

/// A penalty, and the mean loss that it was chosen by.
pub(super) struct Chosen {
    pub(super) lambda: f64,
    pub(super) loss: Option<f64>,
    /// Repeated rows, which the hold-out split assigns one by one.
    repeats: Arc<Repeats>,
}

impl Chosen {
    /// A given penalty.
    pub(super) fn given(lambda: f64) -> Self {
        Self {
            lambda,
            loss: None,
            repeats: Arc::default(),
        }
    }
}

/// Part of about [`ROWS`] rows for the choice: the training part, or the rest. A hash of the
/// contents decides, so that equal rows are in one part, except [`Repeats`].
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

/// The rows on which [`ResidualOptions::choose`] fitted when it chose this penalty; all if it could
/// not choose.
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

/// The held-out rows of that choice; all if it could not choose.
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

/// Total weight of the rows of a source, and the weighted mean of `each` over its rows.
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
    /// Unit of the penalties for targets of this size: coefficients have the size of the targets,
    /// and their squares have the unit of the loss.
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
    /// The loss of score `s` for target `y`.
    fn value(&self, y: f64, s: f64) -> f64 {
        match self {
            Self::Kinked { loss, .. } => loss.value(y, s),
            Self::Smooth(RowLoss::Each(loss)) => loss.value_and_slope(y, s).0,
            Self::Smooth(_) => f64::NAN,
        }
    }
}

impl ResidualOptions {
    /// Fits to four fifths of the rows (of a sample if there are many) with penalties from large to
    /// small and warm starts, and takes the one with the least mean loss on the other fifth.
    /// Returns the map.
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
            // Losses with a kink, and bounded coefficients, do not support warm starts.
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

/// Mean loss of a model on the held-out rows.
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
