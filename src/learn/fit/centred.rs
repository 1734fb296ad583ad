//! Centres targets far from 0, which would lose significant digits in sums of squares.

use crate::{
    Result,
    data::{Chunk, ChunkSource, Schema, Survey},
    features::FeatureMap,
    learn::FitData,
    model::{LinearModel, Targets},
};
use ndarray::{Array1, ArrayView1, Axis};

/// Targets are centred if the mean exceeds this number of standard deviations. Squares have 16
/// digits; the variance loses twice the digits of mean / deviation.
const FAR: f64 = 100.0;

/// Means of the targets, if one of them is far from 0 relative to its deviation; `None` otherwise.
fn far(data: &FitData<'_>) -> Option<Array1<f64>> {
    if !matches!(data.targets, Targets::Real { .. }) {
        return None;
    }
    let stats = data.survey.targets.iter();
    let is_far = stats
        .clone()
        .any(|t| t.mean.abs() > FAR * t.variance.sqrt() && t.mean != 0.0);
    is_far.then(|| stats.map(|t| t.mean).collect())
}

/// Calls `fit`, with targets less their means if they are far from 0 and there is an intercept. The
/// means are then added to the intercept.
pub(in crate::learn) fn fit(
    has_intercept: bool,
    map: Box<dyn FeatureMap>,
    data: FitData<'_>,
    fit: impl FnOnce(Box<dyn FeatureMap>, FitData<'_>) -> Result<LinearModel>,
) -> Result<LinearModel> {
    let Some(mean_t) = far(&data).filter(|_| has_intercept) else {
        return fit(map, data);
    };
    let mut survey: Survey = data.survey.clone();
    for (target, mean) in survey.targets.iter_mut().zip(&mean_t) {
        target.mean -= mean;
    }
    let start = data.start.cloned().map(|mut start| {
        start.intercept_t -= &mean_t;
        start
    });
    let mut source = Centred {
        inner: data.source,
        mean_t: mean_t.view(),
    };
    let mut model = fit(
        map,
        FitData {
            source: &mut source,
            survey: &survey,
            targets: Targets::real(&survey),
            start: start.as_ref(),
            kernel: data.kernel,
            bandwidth: data.bandwidth,
            seed: data.seed,
            run: data.run,
        },
    )?;
    model.coefficients.intercept_t += &mean_t;
    model.targets = data.targets;
    Ok(model)
}

/// Source whose targets are less their means.
struct Centred<'a> {
    inner: &'a mut dyn ChunkSource,
    mean_t: ArrayView1<'a, f64>,
}

impl ChunkSource for Centred<'_> {
    fn columns(&self) -> usize {
        self.inner.columns()
    }
    fn targets(&self) -> usize {
        self.inner.targets()
    }
    fn is_weighted(&self) -> bool {
        self.inner.is_weighted()
    }
    fn groups(&self) -> Option<std::sync::Arc<[u32]>> {
        self.inner.groups()
    }
    fn rows(&self) -> Option<usize> {
        self.inner.rows()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.inner.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.inner.target_names()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let mut chunk = self.inner.next_chunk(max_rows)?;
        if let Some(chunk) = &mut chunk {
            chunk.y -= &self.mean_t.insert_axis(Axis(0));
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()
    }
    fn schema(&self) -> Option<&Schema> {
        self.inner.schema()
    }
    fn is_checked(&self) -> bool {
        self.inner.is_checked()
    }
}
