//! What every learner needs beside its own options: a map, and how the data come to it.

use super::{Listener, Step};
use crate::{
    Device, Result,
    data::{ChunkSource, Survey},
    features::{Bandwidth, FeatureMap, MapBuilder, MapData, Standardize},
    flow::DEFAULT_MEMORY,
    kernels::Gaussian,
    seed::Seed,
};
use std::sync::Arc;

/// Rows that the median rule looks at.
const MEDIAN_ROWS: usize = 2000;

/// The choices that all learners share. [`Learner`](super::Learner) has a method for each.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) map: Arc<dyn MapBuilder>,
    pub(super) bandwidth: Bandwidth,
    pub(super) standardize: Standardize,
    pub(super) device: Option<Device>,
    pub(super) memory: u64,
    pub(super) seed: Option<Seed>,
    pub(super) progress: Listener,
}

/// A map drawn for the data, and what was found on the way.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) device: Device,
    pub(super) survey: Survey,
    pub(super) map: Box<dyn FeatureMap>,
}

impl Setup {
    pub(super) fn on(map: Arc<dyn MapBuilder>) -> Self {
        Self {
            map,
            bandwidth: Bandwidth::Scale,
            standardize: Standardize::default(),
            device: None,
            memory: DEFAULT_MEMORY,
            seed: None,
            progress: Listener::default(),
        }
    }

    /// The device asked for, else the best of this machine.
    pub(super) fn device(&self) -> Result<Device> {
        match &self.device {
            Some(device) => Ok(device.clone()),
            None => Device::best(),
        }
    }

    /// Surveys `source`, decides on scales, and draws the map.
    pub(super) fn prepare(&self, source: &mut dyn ChunkSource) -> Result<Prepared> {
        let device = self.device()?;
        let kernel = self.map.kernel();
        let rows = match self.bandwidth {
            Bandwidth::Median => MEDIAN_ROWS,
            _ => 0,
        };
        let rows = rows.max(self.map.sample_rows());
        let seed = self.seed.unwrap_or_default();
        let survey = Survey::of(source, rows, seed.0, &mut |rows| {
            self.progress.say(Step::Survey(rows));
        })?;
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
            device: &device,
            memory: self.memory,
            seed: self.seed,
            progress: &mut |rows| self.progress.say(Step::Map(rows)),
        })?;
        log::info!(
            "{} on {}, scales {scaling}",
            map.describe(),
            device.describe()
        );
        Ok(Prepared {
            device,
            survey,
            map,
        })
    }
}
