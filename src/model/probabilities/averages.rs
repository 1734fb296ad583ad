//! Means of a sigmoid and of a softmax over normally distributed scores.

use crate::{
    Result,
    kernels::Gaussian,
    linalg::entries,
    model::ClassSpread,
    sampling::{Sampling, Sobol},
    seed::Seed,
};
use ndarray::{Array1, Array2, ArrayView1};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Step of the trapezium rule.
const STEP: f64 = 0.5;

/// `E 1 / (1 + exp(-s))` for `s ~ N(mean, variance)`, accurate to about 1e-9: the integral of
/// Bishop (2006, eq. 4.149), by the trapezium rule, whose error decreases exponentially for
/// integrands without singularities near the real line. Integrates over the normal distribution if
/// it is narrow, otherwise over the logistic distribution, whose distribution function is the
/// sigmoid.
pub(crate) fn mean_sigmoid(mean: f64, variance: f64) -> f64 {
    let deviation = variance.sqrt();
    let points = |reach: f64| {
        let most = (reach / STEP) as i32;
        (-most..=most).map(|i| STEP * f64::from(i))
    };
    if deviation < 1.0 {
        let terms = points(9.0).map(|u| sigmoid(mean + deviation * u) * (-0.5 * u * u).exp());
        return STEP * terms.sum::<f64>() / TAU.sqrt();
    }
    let terms = points(38.0).map(|e| {
        0.5 * libm::erfc(-(mean + e) / deviation * FRAC_1_SQRT_2) * sigmoid(e) * sigmoid(-e)
    });
    STEP * terms.sum::<f64>()
}

/// Without overflow.
pub(crate) fn sigmoid(s: f64) -> f64 {
    let small = (-s.abs()).exp();
    if s >= 0.0 {
        1.0 / (1.0 + small)
    } else {
        small / (1.0 + small)
    }
}

/// Sample points of a standard normal distribution; each is used with its negative.
const POINTS: usize = 256;
const SEED: Seed = Seed(0x1ab1);

/// Means of softmaxes, with the same sample points for all rows.
#[derive(Debug)]
pub(crate) struct MeanSoftmax<'m> {
    spread: &'m ClassSpread,
    points_su: Array2<f64>,
}

impl<'m> MeanSoftmax<'m> {
    /// Uses independent draws if there are more classes than dimensions of Sobol' points.
    pub(crate) fn draw(spread: &'m ClassSpread) -> Result<Self> {
        let directions = spread.turn_cu.ncols();
        let draw = |sampling: Sampling| sampling.draw(&Gaussian, directions, POINTS, false, SEED);
        let drawn = draw(Sampling::Sobol(Sobol::Owen)).or_else(|_| draw(Sampling::MonteCarlo))?;
        Ok(Self {
            spread,
            points_su: drawn.omega_sd,
        })
    }

    /// `E exp(s_k) / sum_j exp(s_j)` for one row with normally distributed scores, from
    /// `root'z(x)`: the mean over 512 points, a scrambled Sobol' net through the normal quantile
    /// and its mirror image, accurate to some 1e-3.
    pub(crate) fn row(
        &self,
        scores_c: ArrayView1<'_, f64>,
        rooted_m: ArrayView1<'_, f32>,
    ) -> Array1<f64> {
        let away_cu = self.spread.turn_cu.dot(&self.spread.factor(rooted_m));
        let away_sc = self.points_su.dot(&away_cu.t());
        let mut mean_c = Array1::zeros(scores_c.len());
        let mut here_c = Array1::zeros(scores_c.len());
        for (away_c, sign) in away_sc
            .rows()
            .into_iter()
            .flat_map(|a| [(a, 1.0), (a, -1.0)])
        {
            here_c.assign(&scores_c);
            here_c.scaled_add(sign, &away_c);
            let top = here_c.fold(f64::NEG_INFINITY, |m: f64, &s| m.max(s));
            entries::exp_below(here_c.view_mut(), top);
            let sum = here_c.sum();
            mean_c.scaled_add(1.0 / sum, &here_c);
        }
        let sum = mean_c.sum();
        mean_c / sum
    }
}
