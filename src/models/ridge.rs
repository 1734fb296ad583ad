//! Ridge regression and ridge classification on random features.

use super::{
    LinearModel,
    iterative::{self, IterativeOptions, Step},
};
use crate::{
    Device, Error, Result,
    data::{ChunkSource, Survey},
    features::FeatureMap,
    flow::{DEFAULT_MEMORY, Progress},
    normal::{NormalEquations, Targets},
    solve::Ridge,
};
use std::time::{Duration, Instant};

/// How a model is fitted.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Where.
    pub device: Device,
    /// Penalty and intercept.
    pub ridge: Ridge,
    /// Bytes for chunk buffers.
    pub memory: u64,
}

impl FitOptions {
    /// [`Ridge::default`] and [`DEFAULT_MEMORY`] on `device`.
    pub fn on(device: &Device) -> Self {
        Self {
            device: device.clone(),
            ridge: Ridge::default(),
            memory: DEFAULT_MEMORY,
        }
    }
}

/// How long each stage of a fit took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitTimes {
    /// Reading, featurizing and summing.
    pub accumulate: Duration,
    /// The solver.
    pub solve: Duration,
}

fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    options: &FitOptions,
    progress: Progress<'_>,
) -> Result<LinearModel> {
    let FitOptions {
        device,
        ridge,
        memory,
    } = options;
    let start = Instant::now();
    let sums =
        NormalEquations::accumulate(map.as_ref(), source, &targets, device, *memory, progress)?;
    let accumulate = start.elapsed();
    let start = Instant::now();
    let coefficients = ridge.solve(&sums)?;
    let times = FitTimes {
        accumulate,
        solve: start.elapsed(),
    };
    Ok(LinearModel {
        map,
        coefficients,
        times: Some(times),
        targets,
        lambda: ridge.lambda,
        rows: sums.rows,
        device: device.describe(),
    })
}

/// Least squares with a penalty, on random features: approximate kernel ridge regression.
#[derive(Debug)]
pub struct RidgeRegressor;

impl RidgeRegressor {
    /// Streams `source` once. `survey` is one of the same source: its target means are taken out
    /// before rounding to f32.
    pub fn fit(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        options: &FitOptions,
        progress: Progress<'_>,
    ) -> Result<LinearModel> {
        fit(map, source, real(survey), options, progress)
    }

    /// As [`Self::fit`], by conjugate gradients: for every map, also with binning parts, and any
    /// number of features. Dense parts are featurized again in each iteration. Errors with
    /// [`Error::Numerical`] when the iteration does not converge.
    pub fn fit_iterative(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        options: &IterativeOptions,
        progress: &mut dyn FnMut(Step),
    ) -> Result<LinearModel> {
        iterative::fit(map, source, real(survey), options, progress)
    }
}

/// One ridge regression against +-1 per class; the class of the largest value wins.
#[derive(Debug)]
pub struct RidgeClassifier;

impl RidgeClassifier {
    /// Streams `source` once. The classes are the different labels that `survey`, of the same
    /// source, found.
    ///
    /// Errors when there is not exactly one column of labels, or fewer than two classes, or more
    /// than the survey keeps.
    pub fn fit(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        options: &FitOptions,
        progress: Progress<'_>,
    ) -> Result<LinearModel> {
        fit(map, source, classes(survey)?, options, progress)
    }

    /// As [`Self::fit`], by conjugate gradients; see [`RidgeRegressor::fit_iterative`].
    pub fn fit_iterative(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        options: &IterativeOptions,
        progress: &mut dyn FnMut(Step),
    ) -> Result<LinearModel> {
        iterative::fit(map, source, classes(survey)?, options, progress)
    }
}

fn real(survey: &Survey) -> Targets {
    Targets::Real {
        columns: survey.targets.len(),
        shift: survey.targets.iter().map(|t| t.mean).collect(),
    }
}

fn classes(survey: &Survey) -> Result<Targets> {
    let [labels] = survey.targets.as_slice() else {
        return Err(Error::shape(format!(
            "a classifier takes one column of labels, the data has {}",
            survey.targets.len()
        )));
    };
    let classes = match &labels.distinct {
        Some(classes) if classes.len() >= 2 => classes.clone(),
        Some(_) => {
            return Err(Error::data(
                "y",
                "all labels are the same; a classifier needs two classes",
            ));
        }
        None => {
            return Err(Error::data(
                "y",
                "the labels take more than a thousand values; this is a regression",
            ));
        }
    };
    Ok(Targets::Classes(classes))
}
