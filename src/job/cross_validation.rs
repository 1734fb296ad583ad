//! Cross-validation of a job.

use super::{Job, Meaning};
use crate::{
    Error, Result, Run, Step,
    data::{ChunkSource, Folds, Part},
    learn::Fit,
    model::{AmountScores, LabelScores, LinearModel, Score, Targets},
};
use ndarray::ArrayView2;

/// Scores of a cross-validation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CrossValidation {
    /// Scores of each fold, in order.
    pub folds: Vec<FoldScores>,
}

/// Scores of one fold.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldScores {
    /// Number of rows that the model was fitted to.
    pub train_rows: u64,
    /// Number of rows that it was scored on.
    pub test_rows: u64,
    /// The scores, target by target.
    pub scores: Vec<FoldScore>,
}

/// A score of a fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoldScore {
    /// Index of the target; 0 for labels.
    pub target: usize,
    /// Name of the score: `rmse`, `mae`, `median_error`, `r2`; for quantiles `pinball_loss` and
    /// `coverage`; for labels `accuracy`, `log_loss`, `brier`, `calibration_error`, `auc`,
    /// `average_precision`.
    pub name: &'static str,
    /// Value of the score.
    pub value: f64,
}

/// Mean of a score over folds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoldMean {
    /// Index of the target; 0 for labels.
    pub target: usize,
    /// Name of the score, as in [`FoldScore`].
    pub name: &'static str,
    /// `m = sum s_k / K` over the scores `s_k` of K folds.
    pub mean: f64,
    /// Standard deviation between folds, `sqrt(sum (s_k - m)^2 / (K - 1))`; `None` for one fold.
    /// The models share most of their rows, so it is no unbiased estimate of the error of the mean
    /// (Bengio & Grandvalet 2004).
    pub deviation: Option<f64>,
    /// Number of folds that have this score, K.
    pub folds: usize,
}

impl FoldScores {
    /// Scores of numeric targets, or of a quantile, by a model fitted to `train_rows` rows.
    #[doc(hidden)]
    pub fn of_amounts(train_rows: u64, amounts: &AmountScores, quantile: Option<f64>) -> Self {
        let of = |target| (amounts.named(target, quantile).into_iter()).map(move |s| (target, s));
        let scores = (0..amounts.targets()).flat_map(of);
        Self::new((train_rows, amounts.rows()), scores)
    }

    /// Scores of labels by a model fitted to `train_rows` rows.
    #[doc(hidden)]
    pub fn of_labels(train_rows: u64, labels: &LabelScores) -> Self {
        let scores = labels.named().into_iter().map(|score| (0, score));
        Self::new((train_rows, labels.rows()), scores)
    }

    fn new(
        (train_rows, test_rows): (u64, u64),
        scores: impl Iterator<Item = (usize, (&'static str, Score))>,
    ) -> Self {
        let named = |(target, (name, score)): (usize, (&'static str, Score))| FoldScore {
            target,
            name,
            value: score.value,
        };
        Self {
            train_rows,
            test_rows,
            scores: scores.map(named).collect(),
        }
    }
}

impl CrossValidation {
    /// Returns means and standard deviations over folds, in the order of the first fold.
    pub fn means(&self) -> Vec<FoldMean> {
        let mut all: Vec<(usize, &'static str, Vec<f64>)> = Vec::new();
        for score in self.folds.iter().flat_map(|fold| &fold.scores) {
            let own = all
                .iter_mut()
                .find(|own| (own.0, own.1) == (score.target, score.name));
            match own {
                Some((_, _, values)) => values.push(score.value),
                None => all.push((score.target, score.name, vec![score.value])),
            }
        }
        all.sort_by_key(|own| own.0);
        let mean_of = |(target, name, values): (usize, &'static str, Vec<f64>)| {
            let folds = values.len();
            let mean = values.iter().sum::<f64>() / folds as f64;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            FoldMean {
                target,
                name,
                mean,
                deviation: (folds > 1).then(|| (squares / (folds - 1) as f64).sqrt()),
                folds,
            }
        };
        all.into_iter().map(mean_of).collect()
    }

    /// Returns the mean of a score of the first target, if folds have it.
    pub fn mean(&self, name: &str) -> Option<FoldMean> {
        self.means()
            .into_iter()
            .find(|own| own.target == 0 && own.name == name)
    }
}

impl Job<&dyn Fit> {
    /// Cross-validates the job: fits a model to the training rows of each fold and scores it on the
    /// held-out rows, unweighted. All choices of a fit (encoding and scales of columns, bandwidth,
    /// map, penalty, scale of targets, search) are made on the training rows alone.
    ///
    /// K folds cost K fits, or about two fits in total if nothing before the sums of ridge
    /// regression depends on the rows: [`Self::cross_validate_by_sums`].
    ///
    /// `open` opens the same rows for each fold, so that encodings are not shared. Reports
    /// [`Step::Fold`] before each fold.
    ///
    /// Errors with [`Error::Unsupported`] without targets, and as [`Self::fit`] does.
    ///
    /// ```
    /// use bochner::{Run, data::{Folds, MemorySource}, job::{Job, Meaning}, models::RidgeOptions,
    ///               prelude::*, seed::Seed};
    /// let x = ndarray::Array::from_shape_fn((90, 1), |(i, _)| (i * 7 % 90) as f64 / 9.0);
    /// let y = x.mapv(f64::sin);
    /// let open = || MemorySource::new(x.clone(), Some(y.clone()));
    /// let folds = Folds::dealt(&mut open()?, 5, Seed(0))?;
    /// let job = Job::new(RidgeOptions::default(), Fourier::new(Gaussian).features(40));
    /// let run = Run::on(&Device::cpu());
    /// let scored = job.any().cross_validate(open, Meaning::Amounts, &folds, &run)?;
    /// assert!(scored.mean("r2").is_some_and(|r2| r2.mean > 0.99 && r2.folds == 5));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn cross_validate<S: ChunkSource>(
        &self,
        mut open: impl FnMut() -> Result<S>,
        meaning: Meaning,
        folds: &Folds,
        run: &Run,
    ) -> Result<CrossValidation> {
        if meaning == Meaning::Nothing {
            let problem = "folds are scored by targets, which this job has none of";
            return Err(Error::unsupported(problem));
        }
        match self.cross_validate_by_sums(&mut open, meaning, folds, run)? {
            Some(scored) => Ok(scored),
            None => self.cross_validate_by_fits(open, meaning, folds, run),
        }
    }

    /// Cross-validates with a fit for each fold.
    pub(super) fn cross_validate_by_fits<S: ChunkSource>(
        &self,
        mut open: impl FnMut() -> Result<S>,
        meaning: Meaning,
        folds: &Folds,
        run: &Run,
    ) -> Result<CrossValidation> {
        let fold = |k| {
            run.say(Step::Fold(k + 1, folds.count()));
            let mut source = open()?;
            let mut train = folds.part(&mut source, k, Part::Train)?;
            let model = self.fit(&mut train, meaning, run)?.model;
            source.rewind()?;
            let mut test = folds.part(&mut source, k, Part::Test)?;
            score(&model, &mut test, &run.silent())
        };
        let folds = (0..folds.count()).map(fold).collect::<Result<_>>()?;
        Ok(CrossValidation { folds })
    }
}

/// Returns the scores of a model on held-out rows.
pub(super) fn score(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    run: &Run,
) -> Result<FoldScores> {
    let labels = match &model.targets {
        Targets::Real { columns, .. } => {
            let mut all = AmountScores::new(*columns);
            model
                .on(run)?
                .stream(source, |found, y| all.add(found, y))?;
            return Ok(FoldScores::of_amounts(model.rows, &all, model.quantile()));
        }
        Targets::Classes(labels) => labels,
    };
    let mut all = LabelScores::new(labels);
    let decide = |raw: ArrayView2<'_, f64>| model.decide(raw.to_owned());
    match model.probabilities {
        Some(_) => model.probabilities_on(run)?.stream(source, |raw, p, y| {
            all.add(decide(raw).view(), p, y)?;
            all.add_probabilities(p, y)
        })?,
        None => model
            .on(run)?
            .stream_scores(source, |raw, y| all.add(decide(raw).view(), raw, y))?,
    };
    Ok(FoldScores::of_labels(model.rows, &all))
}

#[cfg(test)]
mod tests;
