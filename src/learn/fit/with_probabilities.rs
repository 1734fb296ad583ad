//! Probabilities of classifiers that have none of their own.

use crate::{
    Error, Result, Run,
    data::{ChunkSource, Part, Split},
    error::Remedy,
    features::{FeatureMap, Structure},
    learn::{Fit, FitData, fit::left_out::judge_classes},
    model::{CalibratedOn, LinearModel, Targets},
    settings::Settings,
};
use ndarray::Array2;

/// The share of rows that probabilities are fitted to, and the seed that chooses them.
const HELD_OUT: f64 = 0.2;

const SEED: u64 = 0x9e37;

/// Fewer rows are too few for that.
const FEWEST: u64 = 20;

/// A classifier with probabilities. Beside one that has none of its own another is fitted to four
/// rows of five, and sigmoids (of more than two classes, a softmax) to its scores of the fifth,
/// which it has not seen.
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

    /// Errors as the classifier does, with [`Error::Unsupported`] on amounts and with
    /// [`Error::Data`] on fewer than 20 rows.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let FitData {
            source,
            survey,
            targets,
            kernel,
            bandwidth,
            start,
            seed,
            run,
        } = data;
        let Targets::Classes(labels) = &targets else {
            return Err(of_amounts());
        };
        if survey.rows < FEWEST {
            let problem = format!("probabilities take at least {FEWEST} rows");
            return Err(Error::data("x", problem));
        }
        let full = FitData {
            source: &mut *source,
            survey,
            targets: targets.clone(),
            kernel: kernel.clone(),
            bandwidth: bandwidth.clone(),
            start,
            seed,
            run,
        };
        let mut model = self.0.fit(map, full)?;
        if model.probabilities.is_some() {
            return Ok(model);
        }
        // Kernel columns can have landmarks that are the rows of a fit.
        let own = match model.map.structure() {
            Structure::Kernel(columns) => Some(columns.clone()),
            _ => None,
        };
        source.rewind()?;
        let mut most = Split::new(&mut *source, Part::Train, HELD_OUT, SEED)?;
        let part = FitData {
            source: &mut most,
            survey,
            targets: targets.clone(),
            kernel,
            bandwidth,
            start,
            seed,
            run,
        };
        let most = self.0.fit(model.map, part)?;
        source.rewind()?;
        let mut rest = Split::new(source, Part::Test, HELD_OUT, SEED)?;
        let scored = scores(&most, &mut rest, labels, run)?;
        model.map = match own {
            Some(columns) => Box::new(columns),
            None => most.map,
        };
        judge(&mut model, scored);
        Ok(model)
    }
}

/// By the scores and classes of rows that were kept back, which count alike.
fn judge(model: &mut LinearModel, (scores_nt, class_n): (Array2<f64>, Vec<usize>)) {
    let counts = vec![1.0; class_n.len()];
    let of = (class_n.as_slice(), counts.as_slice());
    judge_classes(model, scores_nt, of, CalibratedOn::KeptBack);
}

fn of_amounts() -> Error {
    let problem = "probabilities are of classes, and the targets are amounts";
    let error = Error::unsupported(problem).help(Remedy::words("leave probabilities out"));
    error.help(Remedy::words("fit labels"))
}

/// The scores of rows, `[n, classes]`, and which class each of them is of.
fn scores(
    model: &LinearModel,
    rows: &mut dyn ChunkSource,
    labels: &[f64],
    run: &Run,
) -> Result<(Array2<f64>, Vec<usize>)> {
    let (mut all, mut class_n) = (Vec::new(), Vec::new());
    model
        .on(run.silent())?
        .stream_scores(rows, |scores_nt, y_nt| {
            all.extend(scores_nt.iter());
            let place = |y: &f64| labels.iter().position(|l| l == y).unwrap_or(labels.len());
            class_n.extend(y_nt.column(0).iter().map(place));
            Ok(())
        })?;
    let scores_nt = Array2::from_shape_vec((class_n.len(), labels.len()), all);
    Ok((scores_nt.map_err(|e| Error::shape(e.to_string()))?, class_n))
}
