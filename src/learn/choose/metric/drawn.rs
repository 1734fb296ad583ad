//! Draws maps for rows that are compared by a metric.

use crate::{
    Error, Result,
    data::{ChunkSource, Survey},
    features::{FeatureMap, MapBuilder, MapData, Mixed, Scaling},
    flow::Run,
    model::{LearnedMetric, Metric},
    seed::Seed,
};

/// Inputs for drawing a map.
#[expect(missing_debug_implementations, reason = "a source has none")]
pub struct RowsForMap<'a> {
    /// All rows.
    pub source: &'a mut dyn ChunkSource,
    /// A survey of them, with as many sampled rows as the map needs.
    pub survey: &'a Survey,
    /// Scaling of the columns.
    pub scaling: &'a Scaling,
    /// Device, memory budget and progress callbacks.
    pub run: &'a Run,
    /// Seed that replaces that of the map.
    pub seed: Option<Seed>,
}

/// Draws the map of `builder` for rows compared by `metric` (`None` for rows as prepared), with
/// `lengthscale`.
///
/// A diagonal metric is a lengthscale for each column. A full one is multiplied into the
/// frequencies of dense maps; other maps get an additional projection of the input.
///
/// Errors with [`Error::Shape`] if the metric has other columns, and as the builder does.
pub fn draw(
    builder: &dyn MapBuilder,
    rows: RowsForMap<'_>,
    metric: Option<&LearnedMetric>,
    lengthscale: f64,
) -> Result<Box<dyn FeatureMap>> {
    let RowsForMap {
        source,
        survey,
        scaling,
        run,
        seed,
    } = rows;
    let columns = survey.mean.len();
    if let Some(metric) = metric
        && metric.columns() != columns
    {
        return Err(Error::shape(format!(
            "a metric of {} columns is not for rows of {columns}",
            metric.columns()
        )));
    }
    let data = |lengthscales: &[f64], source| {
        let mut data = MapData::new(scaling.input(lengthscales)?, survey, source, run);
        data.seed = seed;
        Ok::<_, Error>(data)
    };
    match metric {
        None => builder.build_from(data(&[lengthscale], source)?),
        Some(metric) if metric.kind == Metric::Diagonal => {
            let own: Vec<f64> = metric.root.iter().map(|r| lengthscale / r).collect();
            builder.build_from(data(&own, source)?)
        }
        Some(metric) => Mixed::build(builder, data(&[1.0], source)?, &metric.root, lengthscale),
    }
}
