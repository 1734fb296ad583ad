//! Averaging: further draws of the features, another kernel, landmarks, and random binning.

use super::{Done, Rounds};
use crate::{
    Result,
    features::Nystrom,
    kernels::Kernel,
    learn::{
        Lambda,
        choose::search::{
            Blend, Member,
            blend::{of_draws, shares, squared},
            loss,
            plan::Plan,
            trials::Tried,
        },
        fit::left_out::calibrates_on_rows,
    },
    model::{LeftOutScores, Targets},
};
use std::sync::Arc;

/// Factors of the best penalty of an earlier trial.
pub(super) const BESIDE: [f64; 3] = [0.3, 1.0, 3.0];
/// Ratio to the loss of the best model below which models are averaged: 1 % of a root mean squared
/// error.
const TOGETHER: f64 = 0.97;
/// Ratio to the squared error of all draws within which fewer draws suffice.
const ENOUGH: f64 = 1.0025;
/// Least weight of a model in an average.
const LITTLE: f64 = 0.05;

impl Rounds<'_, '_> {
    /// Returns the models to average: draws of the features of the best plan, the best kernel of
    /// another norm, landmarks and random binning, as far as they reduce the held-out loss. Empty
    /// if the best model is used alone.
    ///
    /// Second are the held-out scores of the result if it includes binning, which has no
    /// leave-one-out scores, or if rows have groups, whose rows are alike.
    pub(super) fn blend(
        &mut self,
        best: &Plan,
        done: Done,
    ) -> Result<(Vec<Member>, Option<LeftOutScores>)> {
        let mut blend = self.search.blend;
        if !self.effort().tries_all_rows && !self.sample.is_all() {
            // Each further draw would be a fit to all rows.
            blend.draws = 1;
        }
        let mut all = vec![done];
        if blend == Blend::default() {
            return self.alone(&all[0]);
        }
        let are_waves_behind = self.are_bins_ahead();
        if blend.draws > 1 && !are_waves_behind {
            // All trials share their frequencies. A second draw shows how much of the error is due
            // to the draw.
            let plan = Plan {
                draw: 1,
                ..all[0].plan.clone()
            };
            let lambdas = self.penalties_beside(plan.lambda, &BESIDE);
            all.extend(self.attempt(plan, &lambdas, self.last_rows())?);
        }
        let draws = if all.len() == 1 { 1 } else { blend.draws };
        if blend.draws > 1 && !are_waves_behind {
            all.extend(self.other(&all[0])?);
        }
        if blend.nystrom && !are_waves_behind {
            all.extend(self.landmarks(&all[0])?);
        }
        if blend.binning && self.search.lambda && !self.are_groups_few() {
            all.extend(self.binned(&all[0])?);
        }
        if self.is_over() {
            return self.alone(&all[0]);
        }
        let (draws, shares) = self.shares(&all, draws)?;
        if draws == 1 && shares[0] == 1.0 {
            return self.alone(&all[0]);
        }
        let members = self.members(best, &all, (draws, &shares));
        let mut held_out = None;
        if members.iter().any(|member| member.is_binned) || self.has_groups() {
            let of_draws = all.len() + 1 - shares.len();
            let each = std::iter::repeat_n(shares[0] / of_draws as f64, of_draws);
            let each: Vec<f64> = each.chain(shares[1..].iter().copied()).collect();
            let tried: Vec<&Tried> = all.iter().map(|done| &done.tried).collect();
            let rows = (self.sample).held_out_scores(&tried, &each, self.last_rows())?;
            held_out = Some(rows);
        }
        Ok((members, held_out))
    }

    /// Returns no members, for a model that is used alone, and its held-out scores if rows have
    /// groups.
    fn alone(&mut self, done: &Done) -> Result<(Vec<Member>, Option<LeftOutScores>)> {
        let scores = match self.has_groups() {
            true => {
                Some((self.sample).held_out_scores(&[&done.tried], &[1.0], self.last_rows())?)
            }
            false => None,
        };
        Ok((Vec::new(), scores))
    }

    /// Whether scores of held-out groups are needed: rows of a known group would flatter.
    fn has_groups(&self) -> bool {
        self.sample.data().source.groups().is_some() && !self.are_groups_few()
    }

    /// Whether groups are too few for probabilities of new groups, which then come from rows that
    /// are left out in turn.
    fn are_groups_few(&self) -> bool {
        let data = self.sample.data();
        calibrates_on_rows(data.targets, data.source.groups().as_deref())
    }

    /// Returns the members with nonzero weights; draws of the best plan share its weight equally.
    fn members(&self, best: &Plan, all: &[Done], (draws, shares): (usize, &[f64])) -> Vec<Member> {
        let others = &all[all.len() + 1 - shares.len()..];
        let of_draws = &all[..all.len() - others.len()];
        // The largest penalty of the tried draws is solvable for further draws, too.
        let lambda = of_draws.iter().map(|done| done.plan.lambda);
        let lambda = lambda.fold(Plan::AS_GIVEN, f64::max);
        let lambda = if best.lambda == Plan::AS_GIVEN {
            self.sample.data().options.lambda().clone()
        } else {
            Lambda::Fixed(lambda)
        };
        let of_draw = |draw| {
            let plan = Plan {
                draw,
                ..best.clone()
            };
            Member::of(&plan, lambda.clone(), shares[0] / draws as f64)
        };
        let of_other = |(done, &share): (&Done, &f64)| {
            Member::of(&done.plan, Lambda::Fixed(done.plan.lambda), share)
        };
        let draws = (0..draws).map(of_draw);
        let all = draws.chain(others.iter().zip(&shares[1..]).map(of_other));
        all.filter(|member| member.share > 0.0).collect()
    }

    /// Returns the number of draws, their total weight, and the weights of the other models. One
    /// draw alone if averaging gains little; small weights are set to 0.
    fn shares(&mut self, all: &[Done], draws: usize) -> Result<(usize, Vec<f64>)> {
        let tried: Vec<&Tried> = all.iter().map(|done| &done.tried).collect();
        let products_mm = self.sample.residual_products(&tried, self.last_rows())?;
        let of = |count: usize| match draws {
            1 => products_mm.clone(),
            _ => of_draws(&products_mm, count),
        };
        let mean_mm = of(draws);
        let mut found = shares(&mean_mm);
        found
            .iter_mut()
            .filter(|share| **share < LITTLE)
            .for_each(|share| *share = 0.0);
        let sum: f64 = found.iter().sum();
        found.iter_mut().for_each(|share| *share /= sum);
        let least = squared(&mean_mm, &found);
        let enough = (1..draws).find(|&few| squared(&of(few), &found) <= ENOUGH * least);
        // The tried draws share the weight of all draws.
        let was_tried = draws.min(2);
        let of_tried = std::iter::repeat_n(found[0] / was_tried as f64, was_tried);
        let each: Vec<f64> = of_tried.chain(found[1..].iter().copied()).collect();
        let (error, squares) = self.sample.blended(&tried, &each, self.last_rows())?;
        // Ratio of the squared error of all draws to that of the tried ones.
        let better = least / squared(&of(was_tried), &found);
        let error = match self.sample.data().targets {
            Targets::Real { .. } => error * better.sqrt(),
            Targets::Classes(_) => error,
        };
        let gains = loss(error, squares * better).0 < TOGETHER * all[0].trial.loss().0;
        let mut alone = vec![0.0; found.len()];
        alone[0] = 1.0;
        Ok(if gains {
            (enough.unwrap_or(draws), found)
        } else {
            (1, alone)
        })
    }

    /// Tries landmarks with the kernel of the best plan, as many as it has features.
    fn landmarks(&mut self, best: &Done) -> Result<Option<Done>> {
        let plan = &best.plan;
        let landmarks = plan.features.min(self.sample.data().survey.sample.nrows());
        let plan = Plan {
            builder: Arc::new(Nystrom::new(plan.kernel.clone()).features(landmarks)),
            features: landmarks,
            // A draw that no other member has.
            draw: self.search.blend.draws + 1,
            ..plan.clone()
        };
        // Landmarks may need another penalty.
        let lambdas = self.penalties_beside(plan.lambda, &[0.1, 0.3, 1.0, 3.0, 10.0]);
        self.attempt(plan, &lambdas, self.last_rows())
    }

    /// Tries the best kernel of another norm.
    fn other(&mut self, best: &Done) -> Result<Option<Done>> {
        let norm = best.plan.kernel.norm();
        // Concatenated maps share the preparation of the columns.
        let of_other =
            |plan: &&Plan| plan.kernel.norm() != norm && plan.scaling == best.plan.scaling;
        let Some(plan) = self.others.iter().find(of_other).cloned() else {
            return Ok(None);
        };
        let lambdas = self.penalties_beside(plan.lambda, &[0.1, 1.0]);
        let plan = Plan {
            draw: self.search.blend.draws,
            ..self.resized(plan, Some(best.plan.features))?
        };
        self.attempt(plan, &lambdas, self.last_rows())
    }
}
