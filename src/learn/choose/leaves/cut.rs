//! Where the rows of a node part: at the median of a direction along which a model of them changes.

use super::Task;
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, MemorySource, Part, Split, Survey},
    features::{Cut, project},
    learn::choose::search::{Extent, Plan, Sample, SearchData},
    linalg::eigen::eigen,
    metric::MetricOptions,
    model::Metric,
    seed::Seed,
};
use ndarray::ArrayView1;

/// Rows whose gradients say how a node is split, at most.
const SAMPLED: f64 = 8000.0;
/// Features of the model that has these gradients, at most.
const FEATURES: usize = 1000;
/// Its lengthscale over the median distance, where lengthscales are chosen.
const MULTIPLE: f64 = 0.5;
/// The penalties it may have.
const LAMBDAS: [f64; 3] = [1e-6, 1e-5, 1e-4];
/// Directions that are tried: along some all rows may be the same.
const DIRECTIONS: usize = 8;
/// The smaller side has this share of the rows at least.
const SMALLEST: f64 = 0.125;
/// Rows whose places along a direction are sorted, at most; of more a sample.
const SORTED: u64 = 1 << 20;

impl Task<'_> {
    /// A cut that leaves an eighth of the rows on either side at least, as near to the median as
    /// equal rows allow; `None` where no direction has one.
    pub(super) fn cut(
        &self,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        seed: Seed,
    ) -> Result<Option<Cut>> {
        for direction in self.directions(source, survey, seed)? {
            let along = self.along(source, survey.rows, &direction, seed)?;
            if let Some(threshold) = median(along) {
                return Ok(Some(Cut {
                    direction,
                    threshold,
                }));
            }
        }
        Ok(None)
    }

    /// Directions by raw columns, along which a model of a sample changes most.
    fn directions(
        &self,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        seed: Seed,
    ) -> Result<Vec<Vec<f64>>> {
        let share = SAMPLED / survey.rows as f64;
        let mut sampled = if share < 1.0 {
            MemorySource::from_source(&mut Split::new(source, Part::Test, share, seed.0)?)?
        } else {
            MemorySource::from_source(source)?
        };
        let survey = Survey::new(&mut sampled, super::SURVEYED, seed.0)?;
        let targets = self.targets_of(&survey);
        let data = SearchData {
            source: &mut sampled,
            survey: &survey,
            scaling: self.scaling,
            lengthscale: self.lengthscale,
            targets: &targets,
            options: self.options,
            seed,
            run: &self.run,
        };
        let mut sample = Sample::read(data)?;
        let median = sample.median(0, None, self.kernel.norm());
        let multiple = if self.search.bandwidth {
            MULTIPLE
        } else {
            self.lengthscale / median
        };
        let plan = Plan {
            lengthscale: multiple * median,
            ..self.plan(Some(FEATURES), median, multiple)
        };
        let tried = sample.run(&plan, &LAMBDAS, Extent::Sample)?;
        let options = MetricOptions::from(Metric::Full);
        let metric = sample.learn((&tried, 0), options)?;
        let decomposed = eigen(&metric.root())?;
        let scale = self.prepared.scale();
        let vectors = decomposed.vectors_nn.columns();
        let raw = |v: ArrayView1<'_, f64>| v.iter().zip(scale).map(|(v, s)| v * s).collect();
        Ok(vectors.into_iter().take(DIRECTIONS).map(raw).collect())
    }

    /// Places of the rows along a direction.
    fn along(
        &self,
        source: &mut dyn ChunkSource,
        rows: u64,
        direction: &[f64],
        seed: Seed,
    ) -> Result<Vec<f64>> {
        let mut along = Vec::new();
        let mut x = vec![0.0; direction.len()];
        let direction = ArrayView1::from(direction);
        let mut take = |chunk: &Chunk| {
            let weights = chunk.weights.as_ref();
            for i in 0..chunk.x.nrows() {
                if weights.is_some_and(|weights| weights[i] <= 0.0) {
                    continue;
                }
                chunk.x.copy_row(i, &mut x);
                along.push(project(&x, self.prepared.center(), direction));
            }
        };
        source.rewind()?;
        if rows <= SORTED {
            while let Some(chunk) = source.next_chunk(super::CHUNK)? {
                take(&chunk);
            }
        } else {
            let share = SORTED as f64 / rows as f64;
            let mut some = Split::new(&mut *source, Part::Test, share, seed.0.wrapping_add(1))?;
            while let Some(chunk) = some.next_chunk(super::CHUNK)? {
                take(&chunk);
            }
        }
        source.rewind()?;
        if along.iter().all(|p| p.is_finite()) {
            Ok(along)
        } else {
            Err(Error::numerical(
                "values of a column are too large to split rows along it; rescale or remove it",
            ))
        }
    }
}

/// A threshold with as many values up to it as beyond it, or as near to that as equal values allow;
/// `None` where the smaller part is too small.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    // A boundary has different values on its sides; the first to the left and to the right.
    let boundary = |&i: &usize| values[i - 1] < values[i];
    let middle = n.div_ceil(2);
    let below = (1..=middle.min(n.saturating_sub(1))).rev().find(boundary);
    let above = (middle..n).find(|i| *i > 0 && boundary(i));
    let best = match (below, above) {
        (Some(below), Some(above)) if middle - below <= above - middle => below,
        (_, Some(above)) => above,
        (Some(below), None) => below,
        (None, None) => return None,
    };
    if (best.min(n - best) as f64) < SMALLEST * n as f64 {
        return None;
    }
    let (low, high) = (values[best - 1], values[best]);
    let between = low + (high - low) / 2.0;
    // Between neighbours there may be no number.
    Some(if between < high { between } else { low })
}
