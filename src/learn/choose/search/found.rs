//! Result of a search.

use super::{Plan, Size, Trial};
use crate::{
    Result,
    features::{FeatureMap, MapBuilder, Scaling, Union, part_seed},
    kernels::Kernel,
    learn::{
        Fit, FitPenalised, Lambda,
        choose::metric::{self, RowsForMap},
        fit::apart::Apart,
        squares::iterative::RoughBins,
    },
    model::{LearnedMetric, LeftOutScores, LinearModel},
};
use std::sync::Arc;

/// Result of a search.
#[derive(Debug, Clone)]
pub struct Found {
    /// Map with the chosen kernel.
    pub builder: Arc<dyn MapBuilder>,
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The metric, if one was better.
    pub metric: Option<LearnedMetric>,
    /// The lengthscale of the metric's distances.
    pub lengthscale: f64,
    /// The penalty.
    pub lambda: Lambda,
    /// Preparation of the columns, if another one than the given one was better.
    pub scaling: Option<Scaling>,
    /// Models that are averaged; empty for a single fit.
    pub members: Vec<Member>,
    /// Scores of held-out rows, if the model leaves no rows out in turn or the rows have groups.
    pub held_out: Option<LeftOutScores>,
    /// Share of each prepared column in the squared gradient of the best fit, `[d]`, if members are
    /// averaged.
    pub importance: Option<Vec<f64>>,
    /// Chosen number of features, if it was searched.
    pub size: Option<Size>,
    /// Trials, by decreasing number of features, then by loss.
    pub trials: Vec<Trial>,
}

/// One of the averaged models.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its map.
    pub builder: Arc<dyn MapBuilder>,
    /// Its metric, if any.
    pub metric: Option<LearnedMetric>,
    /// The lengthscale of the metric's distances.
    pub lengthscale: f64,
    /// Whether the features are random bins.
    pub is_binned: bool,
    /// Index of the draw, from 0, among maps that differ by their seeds alone.
    pub draw: usize,
    /// Its penalty.
    pub lambda: Lambda,
    /// Weight in the average; weights sum to 1.
    pub share: f64,
}

impl Member {
    /// Creates a member from a plan.
    pub(super) fn of(plan: &Plan, lambda: Lambda, share: f64) -> Self {
        Self {
            builder: plan.builder.clone(),
            metric: plan.metric.clone(),
            lengthscale: plan.lengthscale,
            is_binned: plan.is_binned,
            draw: plan.draw,
            lambda,
            share,
        }
    }
}

impl Found {
    /// Draws the chosen map, or the concatenated maps of all members. Errors as their builders do.
    #[doc(hidden)]
    pub fn draw(&self, rows: RowsForMap<'_>) -> Result<Box<dyn FeatureMap>> {
        let RowsForMap {
            source,
            survey,
            scaling,
            run,
            seed,
        } = rows;
        let scaling = self.scaling.as_ref().unwrap_or(scaling);
        let mut draw = |builder: &dyn MapBuilder, metric: Option<_>, lengthscale, draw| {
            let rows = RowsForMap {
                source: &mut *source,
                survey,
                scaling,
                run,
                seed: seed.map(|seed| part_seed(seed, draw)),
            };
            metric::draw(builder, rows, metric, lengthscale)
        };
        if self.members.is_empty() {
            return draw(
                self.builder.as_ref(),
                self.metric.as_ref(),
                self.lengthscale,
                0,
            );
        }
        let parts = self.members.iter().map(|of| {
            let map = draw(
                of.builder.as_ref(),
                of.metric.as_ref(),
                of.lengthscale,
                of.draw,
            )?;
            Ok((map, 1.0))
        });
        Ok(Box::new(Union::new(parts.collect::<Result<_>>()?)?))
    }

    /// Returns the learner for the map of [`Self::draw`], with the chosen penalty.
    #[doc(hidden)]
    pub fn learner(&self, options: &dyn FitPenalised) -> Box<dyn Fit> {
        if self.members.is_empty() {
            let fit = options.with_lambda(self.lambda.clone());
            return match &self.held_out {
                Some(rows) => Box::new(Apart::new(vec![(fit, 1.0)]).judged_by(Some(rows.clone()))),
                None => fit,
            };
        }
        let parts = self.members.iter().map(|of| {
            let fit: Box<dyn Fit> = if of.is_binned {
                let lambda = match of.lambda {
                    Lambda::Fixed(lambda) => lambda,
                    _ => Lambda::USUAL,
                };
                Box::new(RoughBins {
                    lambda,
                    intercept: options.has_intercept(),
                })
            } else {
                options.with_lambda(of.lambda.clone())
            };
            (fit, of.share)
        });
        Box::new(Apart::new(parts.collect()).judged_by(self.held_out.clone()))
    }

    /// Stores the metric in a model fitted to the map of [`Self::draw`].
    #[doc(hidden)]
    pub fn keep(&self, model: &mut LinearModel) {
        model.metric = self.metric.clone();
    }
}
