//! What a search chose.

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

/// What a search chose.
#[derive(Debug, Clone)]
pub struct Found {
    /// The map, of the kernel that was chosen.
    pub builder: Arc<dyn MapBuilder>,
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The metric, if one was better.
    pub metric: Option<LearnedMetric>,
    /// The lengthscale of the metric's distances.
    pub lengthscale: f64,
    /// The penalty.
    pub lambda: Lambda,
    /// How columns are prepared, if another way than the one that was given was better.
    pub scaling: Option<Scaling>,
    /// Fits whose mean predicts, in the place of one; empty where one stands alone.
    pub members: Vec<Member>,
    /// Scores of held-out rows by the mean of the members, if these leave no rows out in turn.
    pub held_out: Option<LeftOutScores>,
    /// The share of each prepared column in the squared gradient of the best, `[d]`, where members
    /// stand in its place.
    pub importance: Option<Vec<f64>>,
    /// How many features are enough, if that was asked for.
    pub size: Option<Size>,
    /// What was tried: most features first, of these the best first.
    pub trials: Vec<Trial>,
}

/// One of the fits whose mean predicts.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its map.
    pub builder: Arc<dyn MapBuilder>,
    /// The metric that its rows are compared by, if there is one.
    pub metric: Option<LearnedMetric>,
    /// The lengthscale of the metric's distances.
    pub lengthscale: f64,
    /// Whether its features are bins.
    pub is_binned: bool,
    /// Which draw it is of maps that differ by their seeds alone, from 0.
    pub draw: usize,
    /// Its penalty.
    pub lambda: Lambda,
    /// Its share of the mean; those of all are 1 together.
    pub share: f64,
}

impl Member {
    /// What a plan says, with this penalty and share.
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
    /// Draws the map that was chosen, or those of all members side by side. Errors as their
    /// builders do.
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

    /// The learner for the map that [`Self::draw`] gives, with the penalty that was chosen.
    #[doc(hidden)]
    pub fn learner(&self, options: &dyn FitPenalised) -> Box<dyn Fit> {
        if self.members.is_empty() {
            return options.with_lambda(self.lambda.clone());
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

    /// Has `model`, fitted to the map that [`Self::draw`] gave, keep the metric.
    #[doc(hidden)]
    pub fn keep(&self, model: &mut LinearModel) {
        model.metric = self.metric.clone();
    }
}
