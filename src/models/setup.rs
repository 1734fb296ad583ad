//! What every learner needs beside its own options: a map, and how the data come to it.

use crate::{
    Device, Result,
    data::{ChunkSource, Survey},
    features::{Bandwidth, FeatureMap, MapBuilder, MapData, Standardize},
    flow::Run,
    kernels::Gaussian,
    progress::Progress,
    seed::Seed,
};
use std::sync::Arc;

/// Rows that the median rule looks at.
const MEDIAN_ROWS: usize = 2000;

/// The choices that all learners share. [`Learner`](super::Learner) has a method for each.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) map: Arc<dyn MapBuilder>,
    pub(crate) bandwidth: Bandwidth,
    pub(crate) standardize: Standardize,
    pub(crate) device: Option<Device>,
    pub(crate) memory: u64,
    pub(crate) seed: Option<Seed>,
    pub(crate) probabilities: bool,
    pub(crate) calibrate: Option<f64>,
    pub(crate) progress: Progress,
}

/// A map drawn for the data, and what was found on the way.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) run: Run,
    pub(crate) survey: Survey,
    pub(crate) map: Box<dyn FeatureMap>,
}

impl Setup {
    pub(crate) fn on(map: Arc<dyn MapBuilder>) -> Self {
        Self {
            map,
            bandwidth: Bandwidth::Scale,
            standardize: Standardize::default(),
            device: None,
            memory: Run::DEFAULT_MEMORY,
            seed: None,
            probabilities: false,
            calibrate: None,
            progress: Progress::default(),
        }
    }

    /// On the device asked for, else the best of this machine.
    pub(crate) fn run(&self) -> Result<Run> {
        let device = match &self.device {
            Some(device) => device.clone(),
            None => Device::best()?,
        };
        Ok(Run {
            device,
            memory: self.memory,
            progress: self.progress.clone(),
        })
    }

    /// Rows that the bandwidth and `map` look at.
    pub(crate) fn sample_rows(&self, map: &dyn MapBuilder) -> usize {
        let rows = match self.bandwidth {
            Bandwidth::Median => MEDIAN_ROWS,
            _ => 0,
        };
        rows.max(map.sample_rows())
    }

    /// Surveys `source`, decides on scales, and draws the map.
    pub(crate) fn prepare(&self, source: &mut dyn ChunkSource) -> Result<Prepared> {
        let run = self.run()?;
        let kernel = self.map.kernel();
        let rows = self.sample_rows(&self.map);
        let seed = self.seed.unwrap_or_default();
        let survey = Survey::watched(source, rows, seed.0, &|step| run.say(step))?;
        let scaling = self
            .standardize
            .beside(&self.bandwidth)
            .decide(&survey, self.map.is_shift_invariant());
        // What is made of no kernel takes rows at the scale that a Gaussian would.
        let kernel = kernel.unwrap_or_else(|| Arc::new(Gaussian));
        let lengthscales = self
            .bandwidth
            .lengthscales(kernel.as_ref(), &survey, &scaling)?;
        let map = self.map.build_from(MapData {
            input: scaling.input(&lengthscales)?,
            survey: &survey,
            source,
            run: &run,
            seed: self.seed,
        })?;
        log::info!(
            "{} on {}, scales {scaling}",
            map.describe(),
            run.device.describe()
        );
        Ok(Prepared { run, survey, map })
    }
}
