//! Default width of Huber's loss.

use super::{ResidualLoss, ResidualOptions, penalty};
use crate::{
    Result, data::ChunkSource, features::FeatureMap, flow::RowNeeds, learn::FitData,
    model::LinearModel,
};

/// Width in deviations of the residuals: 95 % as efficient as least squares for normal residuals
/// (Holland & Welsch 1977).
const EFFICIENT: f64 = 1.345;
/// Median absolute value of the standard normal distribution.
const MEDIAN_SIZE: f64 = 0.674_489_750_196_081_7;
/// Least absolute deviations, which is robust against outliers.
const ROBUST: ResidualLoss = ResidualLoss::Quantile(0.5);

impl ResidualOptions {
    /// 1.345 robust deviations, `median |r| / 0.6745` (Huber 1964; Rousseeuw & Croux 1993), of the
    /// residuals of least absolute deviations on the rows held out to choose the penalty, or on the
    /// training rows if there are few. Returns the map.
    pub(super) fn usual_width(
        &self,
        map: Box<dyn FeatureMap>,
        data: &mut FitData<'_>,
        size: f64,
    ) -> Result<(Box<dyn FeatureMap>, f64)> {
        let options = Self {
            stopping: None,
            ..*self
        };
        let (map, chosen) = options.choose(map, data, (ROBUST, size))?;
        let (rows, run) = (data.survey.rows, data.run);
        data.source.rewind()?;
        let mut fitted = penalty::fitted(&mut *data.source, rows, &chosen);
        let some = FitData {
            source: fitted.as_mut(),
            survey: data.survey,
            targets: data.targets.clone(),
            kernel: data.kernel.clone(),
            bandwidth: data.bandwidth.clone(),
            start: None,
            seed: data.seed,
            run,
        };
        let model = options.fit_with(map, some, (ROBUST, size, chosen.lambda), true)?;
        drop(fitted);
        data.source.rewind()?;
        let mut rest = penalty::rest(&mut *data.source, rows, &chosen);
        let mut sizes = sizes(&model, rest.as_mut(), run)?;
        drop(rest);
        data.source.rewind()?;
        sizes.sort_unstable_by(f64::total_cmp);
        let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
        // All residuals can be 0.
        let deviation = if median > 0.0 {
            median / MEDIAN_SIZE
        } else {
            size
        };
        Ok((model.map, EFFICIENT * deviation))
    }
}

/// Absolute residuals of all targets, for rows of positive weight.
fn sizes(model: &LinearModel, source: &mut dyn ChunkSource, run: &crate::Run) -> Result<Vec<f64>> {
    let chunk = RowNeeds::read(source.columns() + source.targets()).rows_of(run)?;
    let silent = run.silent();
    let mut predictor = model.on(&silent)?;
    let mut sizes = Vec::new();
    while let Some(chunk) = source.next_chunk(chunk)? {
        let scores_nt = predictor.scores(&chunk.x)?;
        for (i, (s, y)) in scores_nt.rows().into_iter().zip(chunk.y.rows()).enumerate() {
            if chunk
                .weights
                .as_ref()
                .is_none_or(|weights| weights[i] > 0.0)
            {
                sizes.extend(s.iter().zip(y).map(|(s, y)| (s - y).abs()));
            }
        }
    }
    Ok(sizes)
}
