//! Probabilities for classifiers that do not provide them.

use crate::{
    Error, Result, Run,
    data::{Chunk, ChunkSource, Part, Repeats, Split, grouped},
    error::Remedy,
    features::{FeatureMap, Structure},
    learn::{
        Fit, FitData,
        fit::{
            find_repeats,
            left_out::{judge_classes, shares},
        },
    },
    model::{CalibratedOn, LinearModel, Probabilities, Targets},
    settings::Settings,
};
use ndarray::{Array2, Axis};
use std::sync::Arc;

/// Share of the rows that probabilities are fitted to, and the seed of the split.
const HELD_OUT: f64 = 0.2;

const SEED: u64 = 0x9e37;

/// Minimum number of observations for probabilities.
const MIN_OBSERVATIONS: f64 = 20.0;

/// A classifier with probabilities. If the classifier provides none, a second fit uses four fifths
/// of the rows, and sigmoids (a softmax for more than two classes) are fitted to its scores on the
/// held-out fifth.
#[derive(Debug)]
pub struct WithProbabilities<'a>(pub &'a dyn Fit);

impl Fit for WithProbabilities<'_> {
    fn settings(&self) -> Settings {
        self.0.settings().text("probabilities", true)
    }

    fn takes_weights(&self) -> bool {
        self.0.takes_weights()
    }

    fn takes_start(&self) -> bool {
        self.0.takes_start()
    }

    fn row_bytes(&self, outputs: usize) -> usize {
        self.0.row_bytes(outputs)
    }

    fn square_bytes(&self, features: usize) -> u32 {
        self.0.square_bytes(features)
    }

    fn solves_few_rows(&self) -> bool {
        self.0.solves_few_rows()
    }

    /// Errors as the classifier does, with [`Error::Unsupported`] on real targets and with
    /// [`Error::Data`] on fewer than 20 rows.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let Targets::Classes(_) = &data.targets else {
            return Err(of_amounts());
        };
        let FitData { source, .. } = data;
        let full = FitData {
            source: &mut *source,
            targets: data.targets.clone(),
            kernel: data.kernel.clone(),
            bandwidth: data.bandwidth.clone(),
            ..data
        };
        let model = self.0.fit(map, full)?;
        if model.probabilities.is_some() {
            return Ok(model);
        }
        let repeats = find_repeats(source, data.run)?;
        self.calibrate(model, FitData { source, ..data }, &repeats)
    }
}

impl WithProbabilities<'_> {
    /// Fits a second model to four fifths of the rows, and probabilities to its scores of the
    /// others.
    fn calibrate(
        &self,
        mut model: LinearModel,
        data: FitData<'_>,
        repeats: &Arc<Repeats>,
    ) -> Result<LinearModel> {
        let Targets::Classes(labels) = data.targets.clone() else {
            return Err(of_amounts());
        };
        let (source, run) = (data.source, data.run);
        let all = ScoredRows::sample(&model, source, &labels, (repeats, run))?;
        if repeats.observations(&all.weight_n) < MIN_OBSERVATIONS {
            let problem = format!("probabilities take at least {MIN_OBSERVATIONS} rows");
            return Err(Error::data("x", problem));
        }
        // The landmarks of kernel columns can be rows of the fit.
        let own = match model.map.structure() {
            Structure::Kernel(columns) => Some(columns.clone()),
            _ => None,
        };
        source.rewind()?;
        let mut others = part(&mut *source, Part::Train, repeats)?;
        let others = FitData {
            source: &mut others,
            ..data
        };
        let most = self.0.fit(model.map, others)?;
        source.rewind()?;
        let mut rest = part(&mut *source, Part::Test, repeats)?;
        let held_out = ScoredRows::read(&most, &mut rest, &labels, run)?;
        model.map = match own {
            Some(columns) => Box::new(columns),
            None => most.map,
        };
        // With few rows the hold-out set may be empty.
        let rows = match held_out.class_n.is_empty() {
            true => &all,
            false => &held_out,
        };
        let on = (repeats.observations(&rows.weight_n), CalibratedOn::KeptBack);
        let of = (rows.class_n.as_slice(), rows.weight_n.as_slice());
        // Held-out rows have other class shares than all rows.
        let share_t = shares((&all.class_n, &all.weight_n), all.scores_nt.ncols());
        let match_shares = |probabilities: &mut Probabilities| {
            probabilities.match_shares(&all.scores_nt, &all.weight_n, &share_t);
        };
        judge_classes(&mut model, rows.scores_nt.clone(), of, on, match_shares);
        Ok(model)
    }
}

/// Approximate number of rows on which mean probabilities are matched to class shares.
const SHARE_ROWS: f64 = 20_000.0;

/// Splits off a part of the rows: whole groups if there are enough of them. A fifth of a few groups
/// would be one group with its own base rate; then rows of all groups are held out.
fn part<'a>(
    source: &'a mut dyn ChunkSource,
    part: Part,
    repeats: &Arc<Repeats>,
) -> Result<Split<&'a mut dyn ChunkSource>> {
    match source.groups() {
        None => Ok(Split::by_contents(source, part, HELD_OUT, SEED, repeats)),
        Some(groups) if grouped::are_few(&groups) => {
            if part == Part::Test {
                say_few_groups(&groups);
            }
            Split::by_rows(source, part, HELD_OUT, SEED)
        }
        Some(_) => Split::new(source, part, HELD_OUT, SEED),
    }
}

/// Warns that probabilities hold only for rows of the groups in the data.
pub(in crate::learn) fn say_few_groups(groups: &[u32]) {
    log::warn!(
        "{} groups are too few to tell probabilities for new groups: they are calibrated on \
         held-out rows of these groups, and hold for rows of these",
        grouped::count(groups)
    );
}

fn of_amounts() -> Error {
    let problem = "probabilities are of classes, and the targets are amounts";
    let error = Error::unsupported(problem).help(Remedy::words("leave probabilities out"));
    error.help(Remedy::words("fit labels"))
}

/// Scores and classes of rows.
struct ScoredRows {
    /// `[n, classes]`
    scores_nt: Array2<f64>,
    class_n: Vec<usize>,
    weight_n: Vec<f64>,
}

impl ScoredRows {
    /// Scores all rows of the fit, or about [`SHARE_ROWS`] of them.
    fn sample(
        model: &LinearModel,
        source: &mut dyn ChunkSource,
        labels: &[f64],
        (repeats, run): (&Arc<Repeats>, &Run),
    ) -> Result<Self> {
        source.rewind()?;
        let share = SHARE_ROWS / model.rows as f64;
        if share >= 1.0 {
            return Self::read(model, source, labels, run);
        }
        let mut some = Split::by_contents(source, Part::Test, share, SEED + 1, repeats);
        Self::read(model, &mut some, labels, run)
    }

    /// Scores the rows of `source` whose label is in `labels` and whose weight is positive.
    fn read(
        model: &LinearModel,
        source: &mut dyn ChunkSource,
        labels: &[f64],
        run: &Run,
    ) -> Result<Self> {
        let (mut all, mut class_n, mut weight_n) = (Vec::new(), Vec::new(), Vec::new());
        let mut weighed = Weighed {
            source,
            weights: Vec::new(),
        };
        let mut classes = Vec::new();
        model
            .on(run.silent())?
            .stream_scores(&mut weighed, |scores_nt, y_nt| {
                all.extend(scores_nt.iter());
                classes.extend(
                    y_nt.column(0)
                        .iter()
                        .map(|y| labels.iter().position(|l| l == y)),
                );
                Ok(())
            })?;
        let scores_nt = Array2::from_shape_vec((classes.len(), labels.len()), all);
        let scores_nt = scores_nt.map_err(|e| Error::shape(e.to_string()))?;
        let mut rows = Vec::new();
        for (row, (class, &weight)) in classes.iter().zip(&weighed.weights).enumerate() {
            if let Some(class) = class.filter(|_| weight > 0.0) {
                rows.push(row);
                class_n.push(class);
                weight_n.push(weight);
            }
        }
        Ok(Self {
            scores_nt: scores_nt.select(Axis(0), &rows),
            class_n,
            weight_n,
        })
    }
}

/// Source that records the weights of rows that have passed.
struct Weighed<'a> {
    source: &'a mut dyn ChunkSource,
    weights: Vec<f64>,
}

impl ChunkSource for Weighed<'_> {
    crate::as_its_source!(self => self.source);
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let chunk = self.source.next_chunk(max_rows)?;
        if let Some(chunk) = &chunk {
            match &chunk.weights {
                Some(weights) => self.weights.extend(weights),
                None => self.weights.extend((0..chunk.y.nrows()).map(|_| 1.0)),
            }
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.weights.clear();
        self.source.rewind()
    }
}
