//! Splits the rows of a node at the median along a direction in which a model of them changes most.

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

/// Maximum number of rows whose gradients determine a split.
const SAMPLED: f64 = 8000.0;
/// Maximum number of features of the model for these gradients.
const FEATURES: usize = 1000;
/// Its lengthscale relative to the median distance, if lengthscales are chosen.
const MULTIPLE: f64 = 0.5;
/// Candidate penalties.
const LAMBDAS: [f64; 3] = [1e-6, 1e-5, 1e-4];
/// Number of directions that are tried: all rows may be equal along some.
const DIRECTIONS: usize = 8;
/// Minimum share of the rows on the smaller side.
const SMALLEST: f64 = 0.125;
/// Maximum number of projections that are sorted for the median; more rows are sampled.
const SORTED: u64 = 1 << 20;

impl Task<'_> {
    /// A cut with at least an eighth of the rows on either side, as near to the median as ties
    /// allow; `None` if no direction has one.
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

    /// Directions in raw columns along which a model of a sample changes most.
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

    /// Projections of the rows onto a direction.
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

/// A threshold with as many values up to it as above it, or as close to that as ties allow; `None`
/// if the smaller part is too small.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    // A boundary separates different values; finds the first to the left and to the right.
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
    // Adjacent floats have no number between them.
    Some(if between < high { between } else { low })
}
