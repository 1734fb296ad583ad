//! Amounts on another scale: in another unit, by logarithms, or by the normal scores of ranks.

use super::{Chunk, ChunkSource, Curve, KeptRows, Survey, TargetStats};
use crate::{Error, Result, error::Remedy, special::normal_quantile, store::Store};
use std::sync::Arc;

/// Of a curve of ranks, how far its points are apart at least.
const STEP: f64 = 1.0 / 64.0;

/// From amounts to what a fit sees of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Rescale {
    /// Their natural logarithms.
    Logarithms,
    /// By a rising curve: the normal scores of their ranks, `Phi^-1(p)` of the share p of the rows
    /// that are less (of those alike, half), straight between amounts that were seen.
    Ranks(Arc<Curve>),
    /// Divided by a unit, a power of two: amounts that single precision cannot hold.
    Unit(f64),
}

/// Deviations of targets that sums and coefficients in single precision can hold, with room for
/// features, penalties and squares: its normal numbers range from 1.2e-38 to 3.4e38.
const DEVIATIONS: std::ops::RangeInclusive<f64> = 1e-15..=1e15;

impl Rescale {
    /// The normal scores of the ranks of the rows that `survey` keeps to decide by, one column of
    /// amounts (van der Waerden 1952). The least and the largest of all rows are at
    /// `Phi^-1(1 / 2n)` and above. Errors with [`Error::Missing`] where no rows were kept.
    #[doc(hidden)]
    pub fn ranks(survey: &Survey) -> Result<Self> {
        let kept = survey.deciding.as_ref().filter(|kept| !kept.is_empty());
        let (Some(kept), [target]) = (kept, survey.targets.as_slice()) else {
            let problem = "no rows were kept to rank amounts by";
            return Err(Error::missing(problem).help(Remedy::AmountsAsTheyAre));
        };
        let mut amounts = kept.amounts();
        amounts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = amounts.iter().map(|(_, weight)| weight).sum();
        let end = normal_quantile(0.5 / survey.rows.max(1) as f64).abs();
        let (mut below, mut points) = (0.0, Vec::<(f64, f64)>::new());
        for alike in amounts.chunk_by(|a, b| a.0 == b.0) {
            let weight: f64 = alike.iter().map(|(_, weight)| weight).sum();
            points.push((alike[0].0, normal_quantile((below + weight / 2.0) / all)));
            below += weight;
        }
        let (first, last) = (points[0], points[points.len() - 1]);
        let mut curve = Vec::new();
        if target.min < first.0 && -end < first.1 - STEP {
            curve.push((target.min, -end));
        }
        for (k, &(amount, score)) in points.iter().enumerate() {
            let ends = k == 0 || k + 1 == points.len();
            let far = curve.last().is_none_or(|&(_, from)| score >= from + STEP);
            if far || ends {
                curve.push((amount, score));
            }
        }
        if target.max > last.0 && end > last.1 + STEP {
            curve.push((target.max, end));
        }
        Ok(Self::Ranks(Arc::new(Curve::through(curve)?)))
    }

    /// The unit of the targets of `survey` that vary, if single precision cannot hold these as they
    /// are: the power of two next to the largest deviation. `None` if it can.
    ///
    /// Errors with [`Error::Data`] if deviations differ by more than single precision can hold.
    #[doc(hidden)]
    pub fn unit(survey: &Survey) -> Result<Option<Self>> {
        let deviations = survey.targets.iter().filter_map(deviation);
        let (least, largest) = deviations.fold((f64::INFINITY, 0.0_f64), |(least, largest), d| {
            (least.min(d), largest.max(d))
        });
        if largest == 0.0 || (DEVIATIONS.contains(&least) && DEVIATIONS.contains(&largest)) {
            return Ok(None);
        }
        if least / largest < *DEVIATIONS.start() {
            let problem = format!(
                "targets vary by {least:.1e} to {largest:.1e}, which single precision cannot hold \
                 together"
            );
            let remedy = "fit them apart, or scale each to a deviation near 1";
            return Err(Error::data("y", problem).help(Remedy::words(remedy)));
        }
        Ok(Some(Self::Unit(2_f64.powi(largest.log2().floor() as i32))))
    }

    /// What a fit sees of an amount. Errors with [`Error::Data`] where it has no logarithm.
    #[doc(hidden)]
    pub fn seen(&self, amount: f64) -> Result<f64> {
        match self {
            Self::Logarithms => logarithm(amount),
            Self::Ranks(curve) => Ok(curve.at(amount)),
            Self::Unit(unit) => Ok(amount / unit),
        }
    }

    /// The amount of which a fit sees this.
    #[doc(hidden)]
    pub fn amount(&self, seen: f64) -> f64 {
        match self {
            Self::Logarithms => seen.exp(),
            Self::Ranks(curve) => curve.reaches(seen),
            Self::Unit(unit) => seen * unit,
        }
    }

    /// ln of how much what is seen rises with the amount of which this is seen; of ranks about it.
    #[doc(hidden)]
    pub fn ln_slope(&self, seen: f64) -> f64 {
        /// So far to either side: less would be the distance of two rows.
        const ABOUT: f64 = 0.25;
        match self {
            Self::Logarithms => -seen,
            Self::Unit(unit) => -unit.ln(),
            Self::Ranks(curve) => {
                let rise = |about: f64| curve.reaches(seen + about) - curve.reaches(seen - about);
                // Wider where all of that is one amount.
                let widths = (0..6).map(|k| ABOUT * f64::from(1 << k));
                let found = widths.map(|about| (about, rise(about)));
                let wide = found.clone().find(|(_, rise)| *rise > 0.0);
                wide.map_or(0.0, |(about, rise)| (2.0 * about / rise).ln())
            }
        }
    }

    /// What is known of targets when they are seen so. `None` where they have no logarithms.
    fn stats(&self, target: &TargetStats, kept: Option<&KeptRows>) -> Option<TargetStats> {
        let (mean, variance) = match self {
            Self::Unit(unit) => return Some(in_unit(target, *unit)),
            Self::Logarithms => target.log?,
            Self::Ranks(_) => kept.map_or((0.0, 1.0), KeptRows::target_moments),
        };
        Some(TargetStats {
            mean,
            variance,
            min: self.seen(target.min).ok()?,
            max: self.seen(target.max).ok()?,
            whole: false,
            distinct: None,
            counts: None,
            log: None,
        })
    }

    /// The survey of the same rows whose targets are seen so. `None` where some have no logarithm.
    #[doc(hidden)]
    pub fn survey(&self, of: &Survey) -> Option<Survey> {
        let seen = |amount| self.seen(amount).unwrap_or(f64::NAN);
        let deciding = of.deciding.as_ref().map(|kept| kept.with_targets(seen));
        let targets = of.targets.iter();
        let targets = targets.map(|target| self.stats(target, deciding.as_ref()));
        Some(Survey {
            targets: targets.collect::<Option<_>>()?,
            deciding,
            rescale: Some(self.clone()),
            ..of.clone()
        })
    }

    fn write(&self, store: &mut Store) {
        match self {
            Self::Unit(unit) => {
                store.set("scale", "unit");
                store.set("unit", unit);
            }
            Self::Logarithms => store.set("scale", "log"),
            Self::Ranks(curve) => {
                store.set("scale", "rank");
                curve.write("ranks", store);
            }
        }
    }

    fn read(store: &Store) -> Result<Self> {
        match store.text("scale")? {
            "log" => Ok(Self::Logarithms),
            "unit" => match store.get::<f64>("unit")? {
                unit if unit.is_normal() && unit > 0.0 => Ok(Self::Unit(unit)),
                other => Err(Error::format(format!("the unit of targets is {other}"))),
            },
            "rank" => Ok(Self::Ranks(Arc::new(Curve::read("ranks", store)?))),
            other => Err(Error::format(format!("the scale {other:?} is not known"))),
        }
    }
}

/// The deviation of a target; `None` if it is constant. The range stands in where a square leaves
/// the range of f64.
fn deviation(target: &TargetStats) -> Option<f64> {
    let range = target.max / 2.0 - target.min / 2.0;
    match target.variance.sqrt() {
        _ if range == 0.0 => None,
        deviation if deviation > 0.0 && deviation.is_finite() => Some(deviation),
        _ => Some(range),
    }
}

/// Statistics of a target divided by `unit`.
fn in_unit(target: &TargetStats, unit: f64) -> TargetStats {
    let over = |value: f64| value / unit;
    let variance = over(over(target.variance));
    let range = over(target.max) - over(target.min);
    TargetStats {
        mean: over(target.mean),
        // Squares that left the range of f64: the variance of an even spread.
        variance: if variance > 0.0 && variance.is_finite() {
            variance
        } else {
            range * range / 12.0
        },
        min: over(target.min),
        max: over(target.max),
        whole: false,
        distinct: (target.distinct.as_ref()).map(|all| all.iter().map(|&y| over(y)).collect()),
        counts: target.counts.clone(),
        log: target
            .log
            .map(|(mean, variance)| (mean - unit.ln(), variance)),
    }
}

/// Errors with [`Error::Data`] unless `amount` has a logarithm.
fn logarithm(amount: f64) -> Result<f64> {
    if amount > 0.0 {
        return Ok(amount.ln());
    }
    let problem = format!("a target is {amount}, and only amounts above 0 have a logarithm");
    Err(Error::data("y", problem).help(Remedy::AmountsAsTheyAre))
}

/// A scale with the rows by which a model on it is brought back to amounts.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Rescaled {
    #[doc(hidden)]
    pub rescale: Rescale,
    /// With targets as a fit sees them.
    #[doc(hidden)]
    pub kept: KeptRows,
}

impl Rescaled {
    /// Of a survey of targets on another scale; `None` of one of targets as they are.
    pub fn from_survey(survey: &Survey) -> Option<Self> {
        let rescale = survey.rescale.clone()?;
        let kept = match (&survey.deciding, &rescale) {
            (Some(kept), _) => kept.clone(),
            // A unit needs no rows to bring amounts back.
            (None, Rescale::Unit(_)) => KeptRows::new(0, (survey.mean.len(), survey.targets.len())),
            (None, _) => return None,
        };
        Some(Self { rescale, kept })
    }

    /// The rows of `source` as a fit sees them.
    pub fn rows<S: ChunkSource>(&self, source: S) -> RescaledTargets<S> {
        RescaledTargets(source, self.rescale.clone())
    }

    #[doc(hidden)]
    pub fn write(&self, store: &mut Store) {
        self.rescale.write(store);
        let mut rows = Store::default();
        self.kept.write(&mut rows);
        store.nest("rows", rows);
    }

    #[doc(hidden)]
    pub fn read(store: &Store) -> Result<Self> {
        Ok(Self {
            rescale: Rescale::read(store)?,
            kept: KeptRows::read(&store.nested("rows"))?,
        })
    }
}

/// The rows of a source with targets on another scale.
///
/// ```
/// use bochner::data::{ChunkSource, MemorySource, Rescale, RescaledTargets};
/// let rows = MemorySource::new(ndarray::array![[1.0]], Some(ndarray::array![[1.0]]))?;
/// let chunk = RescaledTargets::new(rows, Rescale::Logarithms).next_chunk(9)?.expect("a row");
/// assert_eq!(chunk.y[[0, 0]], 0.0);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
#[doc(hidden)]
pub struct RescaledTargets<S>(S, Rescale);

impl<S: ChunkSource> RescaledTargets<S> {
    /// Of the rows of `source`, from where it stands.
    pub fn new(source: S, rescale: Rescale) -> Self {
        Self(source, rescale)
    }
}

impl<S: ChunkSource> ChunkSource for RescaledTargets<S> {
    crate::as_its_source!(self => self.0);
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let mut chunk = self.0.next_chunk(max_rows)?;
        if let Some(chunk) = &mut chunk {
            for y in &mut chunk.y {
                *y = self.1.seen(*y)?;
            }
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;
    use ndarray::{Array1, Array2, Axis};

    fn survey(y: &Array1<f64>, keep: usize) -> Survey {
        let x = Array2::from_shape_fn((y.len(), 1), |(i, _)| i as f64);
        let y = y.clone().insert_axis(Axis(1));
        let mut rows = MemorySource::new(x, Some(y)).expect("finite");
        Survey::deciding(&mut rows, (0, keep), 0, &|_| {}).expect("surveys")
    }

    /// Scores of ranks are normal quantiles of shares, those alike share one; amounts come back.
    #[test]
    fn ranks_are_normal_scores() {
        let y = Array1::from(vec![5.0, 1.0, 1.0, 9.0, 700.0]);
        let ranks = Rescale::ranks(&survey(&y, 9)).expect("rows");
        let expected = [(1.0, 0.2), (5.0, 0.5), (9.0, 0.7), (700.0, 0.9)];
        for (amount, share) in expected {
            let score = normal_quantile(share);
            assert!((ranks.seen(amount).expect("a score") - score).abs() < 1e-14);
            assert!((ranks.amount(score) - amount).abs() < 1e-12 * amount);
        }
        let of = ranks.survey(&survey(&y, 9)).expect("a survey");
        let all: Vec<f64> = y.iter().map(|&y| ranks.seen(y).expect("a score")).collect();
        let mean = all.iter().sum::<f64>() / 5.0;
        assert!((of.targets[0].mean - mean).abs() < 1e-14);
        assert_eq!(of.targets[0].max, normal_quantile(0.9));
        assert!(Rescale::ranks(&survey(&y, 0)).is_err());
    }

    /// Of many rows a sample is kept; the ends are those of all, and points are few.
    #[test]
    fn ranks_of_a_sample_reach_all_amounts() {
        let y = Array1::from_shape_fn(5000, |i| (i as f64 / 700.0).sinh());
        let of = survey(&y, 500);
        let ranks = Rescale::ranks(&of).expect("rows");
        let Rescale::Ranks(curve) = &ranks else {
            panic!("{ranks:?}")
        };
        assert!(curve.points().len() < 500, "{}", curve.points().len());
        let end = normal_quantile(0.5 / 5000.0);
        assert_eq!(ranks.seen(of.targets[0].max).expect("a score"), -end);
        for share in [0.05, 0.3, 0.5, 0.9] {
            let amount = (5000.0_f64 * share / 700.0).sinh();
            let gap = ranks.seen(amount).expect("a score") - normal_quantile(share);
            assert!(gap.abs() < 0.2, "{share}: {gap}");
        }
        // The density of the amounts by that of the scores: uniform in asinh(y).
        let seen = 0.4;
        let amount = ranks.amount(seen);
        let phi = (-0.5_f64 * seen * seen).exp() / std::f64::consts::TAU.sqrt();
        let slope = 700.0 / (5000.0 * amount.hypot(1.0) * phi);
        assert!((ranks.ln_slope(seen) - slope.ln()).abs() < 0.25);
    }
}
