//! Estimates lengthscales of a Gaussian process by the gradient of its marginal likelihood.

use crate::{
    Error, Result,
    data::{RowSample, Rows},
    error::Remedy,
    features::{DenseFeatures, FeatureMap, Stretched, names},
    flow::Run,
    learn::{FitData, GaussianProcessOptions, RowWeights},
    model::FoundLengthscales,
    progress::Step,
    solve::{Ascent, FeatureEvidence, KnownVariances},
};
use std::f64::consts::TAU;

#[cfg(test)]
mod tests;

/// Which lengthscales a [`GaussianProcess`](crate::models::GaussianProcess) estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Lengthscales {
    /// None: lengthscales are given by the bandwidth.
    #[default]
    Fixed,
    /// One common factor: the bandwidth.
    One,
    /// One for each column (automatic relevance determination; Rasmussen & Williams 2006, section
    /// 5.1): the lengthscale of an irrelevant column grows until the column has no effect.
    PerColumn,
}

/// Maximum number of sampled rows.
const MOST_ROWS: usize = 4000;
/// Maximum number of features.
const MOST_FEATURES: usize = 2000;
/// Minimum number of sampled rows if memory is scarce.
const FEWEST_ROWS: usize = 256;
/// Factors of all lengthscales that are tried before the first step: far from the best one the
/// phases of distant rows change quickly, and the likelihood has many local maxima.
const TRIED: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Rows of the sample and features for these trials.
const TRIED_ON: (usize, usize) = (1000, 500);
/// Bounds on the factor by which lengthscales change.
const FARTHEST: f64 = 1e3;
/// Stops if two steps in a row gain less than this; ten times as much changes the likelihood by a
/// per cent.
const ASCENT: Ascent = Ascent {
    tolerance: 1e-2,
    max_iterations: 100,
    longest: 1.0,
};

/// The map as cosine features. Errors on others.
fn cosines(map: &dyn FeatureMap) -> Result<&DenseFeatures> {
    map.fourier().ok_or_else(|| {
        Error::unsupported(format!(
            "lengthscales are found for Fourier features alone, not for a {} map",
            map.name()
        ))
        .help(Remedy::UseMap(names::FOURIER))
    })
}

/// Number of rows of `d` columns and `features` features that fit into the memory of a run, three
/// and a half times in f64.
fn most_rows(run: &Run, (d, features): (usize, usize)) -> usize {
    let row = 8 * (4 * features + 3 * d);
    let fit = usize::try_from(run.memory).unwrap_or(usize::MAX) / row.max(1);
    fit.clamp(FEWEST_ROWS, MOST_ROWS)
}

/// Finds the lengthscales that maximize the likelihood of the targets of a sample of rows, together
/// with variances that are not given, and returns the map with them. One pass over the rows.
pub(in crate::learn) fn find(
    map: &dyn FeatureMap,
    data: &mut FitData<'_>,
    options: &GaussianProcessOptions,
) -> Result<(Box<dyn FeatureMap>, FoundLengthscales)> {
    let map = cosines(map)?;
    let (columns, features) = (map.input_dim(), map.output_dim().min(MOST_FEATURES));
    let most = most_rows(data.run, (columns, features));
    let sample = RowSample::draw(data.source, most, data.seed.0)?;
    let rows = sample.x_nd.nrows();
    let landscape = |sample: &RowSample, features| Landscape::new(map, sample, features, options);
    let (few, features) = (sample.thinned(TRIED_ON.0), TRIED_ON.1);
    let start = landscape(&few, features)?.best(&TRIED)?;
    let landscape = landscape(&sample, MOST_FEATURES)?;
    let hear = &mut |iteration, gained| data.run.say(Step::Iteration(iteration, gained));
    let maximised = landscape.maximise(start, hear)?;
    let map = map.stretched(&maximised.factor_d)?;
    let scale = map.input().scale();
    let lengthscale_d: Vec<f64> = scale.iter().map(|s| (TAU * s.abs()).recip()).collect();
    let variances = map.input().variances(data.survey);
    let deviations = variances.iter().map(|v| v.sqrt());
    let found = FoundLengthscales {
        relevance_d: deviations.zip(&lengthscale_d).map(|(s, l)| s / l).collect(),
        lengthscale_d,
        names: data.survey.names.clone(),
        before: maximised.before,
        after: maximised.after,
        iterations: maximised.iterations,
        rows,
    };
    Ok((Box::new(map), found))
}

/// Starting point of the ascent.
struct Foothold {
    at: Vec<f64>,
    /// Log ratio of the variances, and its bounds.
    log_ratio: f64,
    ends: (f64, f64),
    /// Log marginal likelihood at this point.
    value: f64,
}

/// Result of the ascent of the evidence.
struct Maximised {
    /// Factor of each lengthscale relative to the start, `[d]`.
    factor_d: Vec<f64>,
    before: f64,
    after: f64,
    iterations: usize,
}

/// The evidence as a function of the log factor of all lengthscales, or of each column, and of the
/// log ratio of noise to signal unless both are given.
struct Landscape {
    stretched: Stretched,
    evidence: FeatureEvidence,
    per_column: bool,
    moves_ratio: bool,
}

impl Landscape {
    fn new(
        map: &DenseFeatures,
        sample: &RowSample,
        most_features: usize,
        options: &GaussianProcessOptions,
    ) -> Result<Self> {
        let known = KnownVariances {
            noise: options.noise,
            signal: options.signal,
        };
        let (y_nt, weights) = (sample.y_nt.clone(), sample.weights_n.as_ref());
        let counts = options.weights == RowWeights::Counts;
        let rows = Rows::F64(sample.x_nd.clone());
        Ok(Self {
            stretched: Stretched::new(map, &rows, most_features)?,
            evidence: FeatureEvidence::new(y_nt, (weights, counts), options.intercept, known),
            per_column: options.lengthscales == Lengthscales::PerColumn,
            moves_ratio: known.noise.is_none() || known.signal.is_none(),
        })
    }
    /// Number of variables that are log factors of lengthscales.
    fn scales(&self) -> usize {
        if self.per_column {
            self.stretched.columns()
        } else {
            1
        }
    }

    /// The factor of each column.
    fn factors(&self, at: &[f64]) -> Vec<f64> {
        let one = |j: usize| at[if self.per_column { j } else { 0 }].exp();
        (0..self.stretched.columns()).map(one).collect()
    }

    /// The evidence and its gradient; not finite if the problem is singular within rounding.
    fn at(&self, at: &[f64], log_ratio: f64) -> (f64, Vec<f64>) {
        let log_ratio = if self.moves_ratio {
            at[self.scales()]
        } else {
            log_ratio
        };
        let factor_d = self.factors(at);
        let features = self.stretched.features(&factor_d);
        let Some(slope) = self.evidence.slope(features.z_dn.clone(), log_ratio) else {
            return (f64::NAN, vec![f64::NAN; at.len()]);
        };
        let by_feature_dn = &slope.by_feature_dn;
        let by_d = (self.stretched).by_log_lengthscale(&factor_d, &features, by_feature_dn);
        let mut gradient = if self.per_column {
            by_d
        } else {
            vec![by_d.iter().sum()]
        };
        if self.moves_ratio {
            gradient.push(slope.by_log_ratio);
        }
        (slope.value, gradient)
    }

    /// Best variances with all lengthscales multiplied by a factor.
    fn along(&self, factor: f64) -> Result<Foothold> {
        let features = self
            .stretched
            .features(&vec![factor; self.stretched.columns()]);
        let (variances, ends) = self.evidence.likeliest(features.z_dn)?;
        let log_ratio = variances.ratio.ln();
        let mut at = vec![factor.ln(); self.scales()];
        if self.moves_ratio {
            at.push(log_ratio);
        }
        let (value, _) = self.at(&at, log_ratio);
        Ok(Foothold {
            at,
            log_ratio,
            ends,
            value,
        })
    }

    /// The candidate factor of all lengthscales with the greatest likelihood; 1 if none has a
    /// finite one.
    fn best(&self, factors: &[f64]) -> Result<f64> {
        let mut best = (1.0, f64::NEG_INFINITY);
        for &factor in factors {
            let value = self.along(factor)?.value;
            if value > best.1 {
                best = (factor, value);
            }
        }
        Ok(best.0)
    }

    /// Maximizes the evidence, starting from lengthscales multiplied by `start`, or from the
    /// unchanged ones if these are more likely.
    fn maximise(&self, start: f64, hear: &mut dyn FnMut(usize, f64)) -> Result<Maximised> {
        let mut from = self.along(1.0)?;
        let before = from.value;
        if !before.is_finite() {
            let problem = "the likelihood at the first lengthscales is lost to rounding";
            return Err(Error::numerical(problem).help(Remedy::LargerLengthscale));
        }
        if start != 1.0 {
            let other = self.along(start)?;
            if other.value > before {
                from = other;
            }
        }
        let Foothold {
            at,
            log_ratio,
            ends,
            ..
        } = from;
        let mut bounds = vec![(-FARTHEST.ln(), FARTHEST.ln()); self.scales()];
        if self.moves_ratio {
            bounds.push(ends);
        }
        let mut evaluate = |at: &[f64]| Ok(self.at(at, log_ratio));
        let top = ASCENT.maximise(at, &bounds, &mut evaluate, hear)?;
        if !top.converged {
            log::warn!(
                "lengthscales: the likelihood still rises after {} steps",
                top.iterations
            );
        }
        Ok(Maximised {
            factor_d: self.factors(&top.at),
            before,
            after: top.value,
            iterations: top.iterations,
        })
    }
}
