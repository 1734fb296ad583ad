//! k-means on features: clusters of rows that are similar under the kernel.

mod lloyd;
mod mini_batch;
mod points;
mod seeding;
#[cfg(test)]
mod tests;

pub(in crate::learn) use lloyd::{Lloyd, Rules};
pub use mini_batch::GrowingClusters;
pub(in crate::learn) use points::{Finish, Kept, Points, Streamed};
use points::{Subset, sample_of};

use crate::{
    Device, Error, Result,
    clock::Instant,
    data::ChunkSource,
    features::FeatureMap,
    flow::{RowNeeds, Run, watch_chunks},
    learn::{Fit, FitData, FitRows},
    model::{Coefficients, FitTimes, LinearModel, Targets},
    progress::Step,
    seed::{Seed, Stream},
    settings::Settings,
    text::counted,
};
use ndarray::{Array1, Array2};
use std::{collections::BTreeMap, time::Duration};

/// Options of [`KMeans`](crate::models::KMeans).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KMeansOptions {
    /// Number of clusters, k.
    pub clusters: usize,
    /// Number of initializations; the best one is kept.
    pub starts: usize,
    /// Convergence threshold: squared moves of all centres, relative to the mean variance of a
    /// feature.
    pub tolerance: f64,
    /// Maximum number of iterations, of each start on the sample and of the passes over all rows.
    pub max_iterations: usize,
}

/// Rows of the sample that k-means starts on, limited by its number of entries (256 MiB in f32).
/// The sample is large enough for its centres to be close to the final ones, and mostly fits into
/// memory. The last constant is the minimum number of rows per cluster.
const SAMPLE: usize = 1 << 15;
const SAMPLE_ENTRIES: usize = 1 << 26;
const SAMPLE_OF_CLUSTER: usize = 64;

impl Default for KMeansOptions {
    /// Eight clusters, one start, a tolerance of 1e-4, 300 iterations.
    fn default() -> Self {
        Self {
            clusters: 8,
            starts: 1,
            tolerance: 1e-4,
            max_iterations: 300,
        }
    }
}

impl FitRows for KMeansOptions {
    type Predicted = Vec<usize>;
}

impl KMeansOptions {
    /// Errors on options that are invalid for any rows.
    fn check(&self) -> Result<()> {
        let problem = match self {
            Self { clusters: 0, .. } => "0 clusters hold no rows; ask for 1 or more".into(),
            Self { starts: 0, .. } => "0 starts find nothing; ask for 1 or more".into(),
            Self {
                max_iterations: 0, ..
            } => "0 iterations find nothing; ask for 1 or more".into(),
            Self { tolerance, .. } if !(*tolerance >= 0.0 && tolerance.is_finite()) => {
                format!("the tolerance must be 0 or a positive number, not {tolerance}")
            }
            _ => return Ok(()),
        };
        Err(Error::parameter(problem))
    }

    /// Clusters `points` with weights `weights_n` (`[rows]`, or 1): first a sample, then all
    /// points. Returns centres and figures of the best start. `hear` is called with each iteration
    /// and the squared moves of the centres.
    ///
    /// Memory holds up to `room` points. This saves passes but does not change results: the sample
    /// has the same size whether it is held or not.
    pub(in crate::learn) fn cluster(
        &self,
        (points, weights_n): (&mut dyn Points, Option<&[f64]>),
        room: usize,
        seed: Seed,
        hear: &dyn Fn(usize, f64),
    ) -> Result<Clusters> {
        let fit = SAMPLE.min(SAMPLE_ENTRIES / points.columns().max(1));
        let most = fit.max(SAMPLE_OF_CLUSTER.saturating_mul(self.clusters));
        self.cluster_from((points, weights_n), (most, room), seed, hear)
    }

    /// As [`Self::cluster`], from a sample of `most` points.
    fn cluster_from(
        &self,
        (points, weights_n): (&mut dyn Points, Option<&[f64]>),
        (most, room): (usize, usize),
        seed: Seed,
        hear: &dyn Fn(usize, f64),
    ) -> Result<Clusters> {
        self.check()?;
        let count: Vec<bool> = match weights_n {
            None => vec![true; points.rows()],
            Some(weights_n) => weights_n.iter().map(|&weight| weight > 0.0).collect(),
        };
        let rows = count.iter().filter(|counts| **counts).count();
        let k = self.clusters;
        if k > rows {
            return Err(Error::shape(format!(
                "{k} clusters of {}; ask for at most as many as there are rows",
                counted(rows, "row")
            )));
        }
        let mut held = match points.rows() <= room {
            true => Some(Kept::all(points)?),
            false => None,
        };
        let points = held.as_mut().map_or(points, |held| held as &mut dyn Points);
        let mut draws = seed.stream(Stream::Iteration, 0);
        let sampled = sample_of(&count, most, &mut draws);
        let whole = rows <= most;
        let numbers: Vec<usize> = (0..sampled.len()).filter(|&i| sampled[i]).collect();
        let of_sample: Option<Vec<f64>> =
            weights_n.map(|weights_n| numbers.iter().map(|&i| weights_n[i]).collect());
        let mut subset = Subset { points, numbers };
        let mut best = self.best_start((&mut subset, of_sample.as_deref()), room, seed, hear)?;
        let on_sample = best.iterations();
        if !whole {
            best = Lloyd::from(best.into_centres(), points.rows(), weights_n);
            best.run(points, self.rules(), hear)?;
            log::info!("{on_sample} iterations on {most} rows, then on all");
        }
        let facts = [
            ("clusters", k as f64),
            ("inertia", best.inertia()),
            ("iterations", best.iterations() as f64),
            (
                "iterations_on_sample",
                if whole { 0.0 } else { on_sample as f64 },
            ),
            ("converged", f64::from(u8::from(best.converged()))),
        ];
        Ok(Clusters {
            facts: facts.map(|(name, v)| (name.to_owned(), v)).into(),
            centres_kd: best.into_centres(),
        })
    }

    fn rules(&self) -> Rules {
        Rules {
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        }
    }

    /// Clusters a sample from all starts, and keeps the best.
    fn best_start<'w>(
        &self,
        (subset, of_sample): (&mut Subset<'_>, Option<&'w [f64]>),
        room: usize,
        seed: Seed,
        hear: &dyn Fn(usize, f64),
    ) -> Result<Lloyd<'w>> {
        let rows = subset.rows();
        // If all points are held, so is the sample.
        let mut held = match subset.points.rows() > room && rows <= room {
            true => Some(Kept::all(subset)?),
            false => None,
        };
        let sample = match &mut held {
            Some(held) => held as &mut dyn Points,
            None => subset,
        };
        let mut best: Option<Lloyd<'_>> = None;
        for start in 0..self.starts {
            let mut draws = seed.stream(Stream::Iteration, 1 + start as u64);
            let centres_kd = seeding::plus_plus(sample, of_sample, self.clusters, &mut draws)?;
            let mut lloyd = Lloyd::from(centres_kd, rows, of_sample);
            lloyd.run(sample, self.rules(), hear)?;
            if best.as_ref().is_none_or(|b| lloyd.inertia() < b.inertia()) {
                best = Some(lloyd);
            }
        }
        best.ok_or_else(|| Error::numerical("no start found clusters"))
    }
}

/// Centres, and figures for the report.
pub(in crate::learn) struct Clusters {
    pub(in crate::learn) centres_kd: Array2<f64>,
    pub(in crate::learn) facts: BTreeMap<String, f64>,
}

/// Class targets 0, 1, ... for clusters.
pub(in crate::learn) fn numbered(clusters: usize) -> Targets {
    Targets::Classes((0..clusters).map(|c| c as f64).collect())
}

/// Fit times of a learner whose passes and solver are one stage.
pub(in crate::learn) fn whole(accumulate: Duration) -> FitTimes {
    FitTimes {
        accumulate,
        solve: Duration::ZERO,
    }
}

/// Weights of the rows, if there are any. Rewinds the source.
pub(in crate::learn) fn weights(
    source: &mut dyn ChunkSource,
    run: &Run,
) -> Result<Option<Vec<f64>>> {
    if !source.is_weighted() {
        return Ok(None);
    }
    let chunk = RowNeeds::read(source.columns() + source.targets()).rows_of(run)?;
    let mut weights = Vec::new();
    watch_chunks(
        source,
        chunk,
        |_| {},
        |chunk| {
            weights.extend(chunk.weights.iter().flatten());
            Ok(())
        },
    )?;
    if weights.iter().all(|&weight| weight == 0.0) {
        return Err(Error::data("weights", "all rows have weight 0"));
    }
    Ok(Some(weights))
}

impl KMeansOptions {
    /// Adds the options to the settings; options of `bochner fit` only if they differ from the
    /// defaults.
    pub(in crate::learn) fn said(&self, settings: Settings) -> Settings {
        let usual = Self::default();
        let tolerance = (self.tolerance != usual.tolerance).then_some(self.tolerance);
        let settings = settings
            .text("clusters", self.clusters)
            .text("starts", self.starts)
            .maybe("tolerance", tolerance);
        if self.max_iterations == usual.max_iterations {
            settings
        } else {
            settings.text("iterations", self.max_iterations)
        }
    }
}

impl Fit for KMeansOptions {
    fn settings(&self) -> Settings {
        self.said(Settings::of_learner("kmeans"))
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn row_bytes(&self, _outputs: usize) -> usize {
        16
    }

    /// The nearest centre c has the largest `z(x)'c - |c|^2/2`: a linear classifier.
    ///
    /// Errors with [`Error::Unsupported`] on maps whose features cannot be stored, with
    /// [`Error::Shape`] on more clusters than rows, and with [`Error::Numerical`] on more clusters
    /// than distinct rows.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let start = Instant::now();
        let run = data.run;
        let room = (run.memory / 2) as usize / (4 * map.output_dim().max(1));
        // Half of the memory is for points in memory, half for chunks.
        let half = run.clone().memory(run.memory - run.memory / 2);
        let weights_n = weights(data.source, &half)?;
        let mut points = Streamed::features(map.as_ref(), data.source, data.survey.rows, &half)?;
        let hear = |iteration, moves: f64| run.say(Step::Iteration(iteration, moves.sqrt()));
        let Clusters { centres_kd, facts } =
            self.cluster((&mut points, weights_n.as_deref()), room, data.seed, &hear)?;
        drop(points);
        Ok(LinearModel {
            facts,
            times: Some(whole(start.elapsed())),
            ..centres_model(map, &centres_kd, data.survey.rows, &run.device)
        })
    }
}

/// Model that predicts the nearest of these centres, `[k, D]`.
fn centres_model(
    map: Box<dyn FeatureMap>,
    centres_kd: &Array2<f64>,
    rows: u64,
    device: &Device,
) -> LinearModel {
    let coefficients = Coefficients {
        intercept_t: Array1::from_iter(centres_kd.rows().into_iter().map(|c| -0.5 * c.dot(&c))),
        beta_dt: centres_kd.t().as_standard_layout().into_owned(),
    };
    LinearModel {
        learner: "kmeans".into(),
        rows,
        ..LinearModel::new(map, coefficients, numbered(centres_kd.nrows()), device)
    }
}
