//! On what scale amounts are fitted: as they are, or by their logarithms.

use crate::{
    Device, Error, Result, Run,
    data::{Chunk, ChunkSource, Schema, Survey},
    models::{LinearModel, Link},
    text::spelled,
};
use std::{fmt, str::FromStr};

/// On what scale amounts are fitted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TargetScale {
    /// By their logarithms where these are less skewed and make rows left out more likely; what
    /// [`Job::settled`](super::Job::settled) decides. As they are where preparation and bandwidth
    /// are given.
    #[default]
    Auto,
    /// As they are.
    AsIs,
    /// By their natural logarithms: errors are then shares of an amount. One column of amounts
    /// above 0, for learners of least squares. Predictions are means, brought back by the smearing
    /// estimate `exp(z(x)'beta + b) mean_i exp(e_i)` of residuals e_i (Duan 1983), intervals those
    /// of the logarithms with both ends brought back.
    Log,
}

impl fmt::Display for TargetScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::AsIs => "as-is",
            Self::Log => "log",
        })
    }
}

impl FromStr for TargetScale {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        spelled(
            "the scale of targets",
            text,
            &[Self::Auto, Self::AsIs, Self::Log],
        )
    }
}

/// The rows of a source with the natural logarithms of their targets.
///
/// ```
/// use bochner::{data::{ChunkSource, MemorySource}, job::LogTargets};
/// let rows = MemorySource::new(ndarray::array![[1.0]], Some(ndarray::array![[1.0]]))?;
/// let chunk = LogTargets::of(rows).next_chunk(9)?.expect("a row");
/// assert_eq!(chunk.y[[0, 0]], 0.0);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct LogTargets<S>(S);

impl<S: ChunkSource> LogTargets<S> {
    /// Of the rows of `source`, from where it stands.
    pub fn of(source: S) -> Self {
        Self(source)
    }
}

/// Errors with [`Error::Data`] unless `amount` has a logarithm.
pub(crate) fn logarithm(amount: f64) -> Result<f64> {
    if amount > 0.0 {
        return Ok(amount.ln());
    }
    let problem = format!("a target is {amount}, and only amounts above 0 have a logarithm");
    Err(Error::data("y", problem).help(crate::error::Remedy::AmountsAsTheyAre))
}

impl<S: ChunkSource> ChunkSource for LogTargets<S> {
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn targets(&self) -> usize {
        self.0.targets()
    }
    fn is_weighted(&self) -> bool {
        self.0.is_weighted()
    }
    fn rows(&self) -> Option<usize> {
        self.0.rows()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.0.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.0.target_names()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let mut chunk = self.0.next_chunk(max_rows)?;
        if let Some(chunk) = &mut chunk {
            for y in &mut chunk.y {
                *y = logarithm(*y)?;
            }
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        self.0.settle(failed, takes)
    }
    fn schema(&self) -> Option<&Schema> {
        self.0.schema()
    }
    fn is_checked(&self) -> bool {
        self.0.is_checked()
    }
}

/// From the logarithms that `model` predicts to means of amounts: by its residuals on the rows that
/// were kept of `survey`, which has logarithms for targets.
pub(super) fn bring_back(model: &mut LinearModel, survey: &Survey) -> Result<()> {
    let Some(kept) = &survey.deciding else {
        return Err(Error::missing(
            "no rows were kept to bring logarithms back by",
        ));
    };
    // The same on every machine, and few rows.
    let run = Run::on(&Device::cpu());
    let (mut sum, mut weight) = (0.0, 0.0);
    let mut source = kept.source();
    let mut predictor = model.on(&run)?;
    while let Some(chunk) = source.next_chunk(1024)? {
        let scores_nt = predictor.scores(&chunk.x)?;
        for (i, (score, y)) in scores_nt
            .column(0)
            .iter()
            .zip(chunk.y.column(0))
            .enumerate()
        {
            let counts = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
            sum += counts * (y - score).exp();
            weight += counts;
        }
    }
    drop(predictor);
    let ln_smear = (sum / weight).ln();
    model.link = Some(Link::Exponential { ln_smear });
    // What the fit says of rows left out is said of their logarithms.
    for name in ["held_out_r2", "estimated_r2"] {
        if let Some(r2) = model.facts.remove(name) {
            model.facts.insert(format!("{name}_of_logarithms"), r2);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        job::Job,
        models::RidgeOptions,
        prelude::*,
        seed::{Seed, Stream},
    };
    use ndarray::{Array1, Array2};

    const NOISE: f64 = 0.8;

    /// `exp(x_0 + x_1 / 2 + noise)`, and its mean by x.
    fn prices(rows: usize) -> (Array2<f64>, Array1<f64>, Array1<f64>) {
        let mut draws = Seed(3).stream(Stream::Data, 0);
        let x = Array2::from_shape_fn((rows, 2), |_| draws.normal());
        let log = x.dot(&ndarray::array![1.0, 0.5]);
        let y = log.mapv(|log| (log + NOISE * draws.normal()).exp());
        (x, y, log.mapv(|log| (log + NOISE * NOISE / 2.0).exp()))
    }

    fn ridge() -> Ridge {
        Ridge::on(Fourier::new(Gaussian).features(200)).device(&Device::cpu())
    }

    /// Without smearing all predictions would be medians, which are less by a factor of 1.38.
    #[test]
    fn logarithms_are_brought_back_as_means() {
        let (x, y, mean) = prices(3000);
        let model = ridge().target_scale(TargetScale::Log).fit((&x, &y));
        let model = model.expect("fits");
        let Some(Link::Exponential { ln_smear }) = model.linear().link else {
            panic!("{:?}", model.linear().link);
        };
        assert!((ln_smear - NOISE * NOISE / 2.0).abs() < 0.05, "{ln_smear}");
        let ratio = model.predict(&x).expect("predicts") / &mean;
        let off = ratio.mapv(|r| r.ln().abs()).mean().expect("rows");
        assert!(off < 0.1, "{off}");
        // A file brings it back, and the job says it.
        let bytes = model.linear().to_bytes().expect("writes");
        let read = LinearModel::from_bytes(&bytes).expect("reads");
        assert_eq!(read.link, model.linear().link);
        let job = read.job.expect("a job");
        assert_eq!(job.get("target-scale"), Some("log"));
    }

    /// Rows left out decide: for amounts whose errors are shares of them, and not for others.
    #[test]
    fn rows_left_out_decide_on_the_scale() {
        let (x, prices, _) = prices(800);
        // As skewed as prices, with errors that are alike everywhere.
        let counts: Array1<f64> = (x.rows().into_iter().zip(0..))
            .map(|(x, i)| 9.0 + 2.0 * (x[0] + x[1]).max(0.0).powi(2) + f64::from(i % 7) / 7.0)
            .collect();
        for (y, scale) in [(prices, TargetScale::Log), (counts, TargetScale::AsIs)] {
            let y = y.insert_axis(ndarray::Axis(1));
            let mut rows = crate::data::MemorySource::new(&x, Some(y)).expect("finite");
            let job = Job::of(
                RidgeOptions::default(),
                std::sync::Arc::new(Fourier::new(Gaussian).features(200)),
            );
            let run = Run::on(&Device::cpu());
            let fitted = job.any().fit(&mut rows, crate::job::Meaning::Amounts, &run);
            let fitted = fitted.expect("fits");
            let race = fitted.race.expect("a race");
            let scales: Vec<TargetScale> = race.scales.iter().map(|&(scale, _)| scale).collect();
            assert_eq!(scales.len(), 2, "{race}");
            assert_eq!(scales[0], scale, "{race}: {:?}", race.scales);
            let logs = fitted.model.link.is_some_and(Link::is_exponential);
            assert_eq!(logs, scale == TargetScale::Log, "{race}");
            let said = race.to_string().contains("by their logarithms");
            assert_eq!(said, logs, "{race}");
        }
    }

    /// The ends of intervals are those of the logarithms, brought back.
    #[test]
    fn intervals_hold_what_they_promise() {
        let (x, y, _) = prices(4000);
        let (seen, new) = (ndarray::s![..2000, ..], ndarray::s![2000.., ..]);
        let logs = ridge().target_scale(TargetScale::Log).calibrate(0.3);
        let model = logs.fit((
            &x.slice(seen).to_owned(),
            &y.slice(ndarray::s![..2000]).to_owned(),
        ));
        let of = model.expect("fits").intervals(x.slice(new).to_owned(), 0.8);
        let of = of.expect("intervals");
        let inside = (of.lower_nt.iter().zip(&of.upper_nt))
            .zip(y.slice(ndarray::s![2000..]))
            .filter(|((low, high), y)| *low < *y && *y < *high);
        let share = inside.count() as f64 / 2000.0;
        assert!((share - 0.8).abs() < 0.04, "{share}");
        // As wide as the amount is large: 2 z(.9) deviations of the logarithm.
        let ratio = (&of.upper_nt / &of.lower_nt).mapv(f64::ln).mean();
        let expected = 2.0 * 1.2816 * NOISE;
        let ratio = ratio.expect("rows");
        assert!(
            (ratio / expected - 1.0).abs() < 0.08,
            "{ratio} for {expected}"
        );
    }

    #[test]
    fn what_has_no_logarithm_is_refused_by_its_value() {
        let (x, mut y, _) = prices(60);
        y[7] = -3.0;
        let log = ridge().target_scale(TargetScale::Log);
        let message = log.fit((&x, &y)).expect_err("below 0").to_string();
        assert!(
            message.contains("a target is -3") && message.contains("AsIs"),
            "{message}"
        );
        y[7] = 0.0;
        let message = log.fit((&x, &y)).expect_err("0").to_string();
        assert!(message.contains("a target is 0"), "{message}");
        let two = Array2::from_elem((60, 2), 1.5);
        assert!(log.fit((&x, &two)).is_err());
        assert!("logarithm".parse::<TargetScale>().is_err());
    }
}
