//! What every learner needs beside its own options: a map, and how the data come to it.

use super::{
    ClassWeights, Found, Leaves, LinearModel, RidgeOptions, Search, SearchData, Trial,
    metric::Ground,
};
use crate::{
    Device, Error, Result,
    data::{ChunkSource, Survey},
    features::{Bandwidth, FeatureMap, MapBuilder, MapData, ScaledKernel, Scaling, Standardize},
    flow::Run,
    kernels::Gaussian,
    normal::Targets,
    progress::{Progress, Step},
    seed::Seed,
};
use std::sync::Arc;

/// Rows that the median rule looks at.
const MEDIAN_ROWS: usize = 2000;

/// The choices that all learners share. [`Learner`](super::Learner) has a method for each.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) map: Arc<dyn MapBuilder>,
    /// What was asked for; `None` leaves it to the learner.
    pub(crate) bandwidth: Option<Bandwidth>,
    pub(crate) standardize: Standardize,
    pub(crate) device: Option<Device>,
    pub(crate) memory: u64,
    pub(crate) seed: Option<Seed>,
    pub(crate) probabilities: bool,
    pub(crate) class_weights: ClassWeights,
    pub(crate) calibrate: Option<f64>,
    pub(crate) progress: Progress,
    pub(crate) search: Option<Search>,
    /// Most rows of a leaf, where rows are parted by a tree.
    pub(crate) leaves: Option<usize>,
}

/// A map drawn for the data, and what was found on the way.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) run: Run,
    pub(crate) survey: Survey,
    pub(crate) map: Box<dyn FeatureMap>,
    pub(crate) kernel: Option<ScaledKernel>,
}

/// Rows that are surveyed, and how they are prepared.
struct Scaled {
    run: Run,
    survey: Survey,
    scaling: Scaling,
    lengthscale: f64,
}

impl Setup {
    pub(crate) fn on(map: Arc<dyn MapBuilder>) -> Self {
        Self {
            map,
            bandwidth: None,
            standardize: Standardize::default(),
            device: None,
            memory: Run::DEFAULT_MEMORY,
            seed: None,
            probabilities: false,
            class_weights: ClassWeights::Equal,
            calibrate: None,
            progress: Progress::default(),
            search: None,
            leaves: None,
        }
    }

    /// Errors on class weights, which are of all rows at once.
    pub(crate) fn check_unweighted(&self) -> Result<()> {
        match self.class_weights {
            ClassWeights::Equal => Ok(()),
            _ => Err(Error::unsupported(
                "class weights are of one fit; give rows weights where they come in parts",
            )),
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
            held: None,
            progress: self.progress.clone(),
        })
    }

    /// Rows that the bandwidth and `map` look at.
    pub(crate) fn sample_rows(&self, map: &dyn MapBuilder) -> usize {
        let rows = match self.bandwidth {
            Some(Bandwidth::Median) => MEDIAN_ROWS,
            _ => 0,
        };
        rows.max(map.sample_rows())
    }

    /// The bandwidth asked for, or that of most learners.
    pub(crate) fn bandwidth(&self) -> Bandwidth {
        self.bandwidth_beside(Bandwidth::Scale)
    }

    /// The bandwidth asked for, or that of the map, or `own`.
    pub(crate) fn bandwidth_beside(&self, own: Bandwidth) -> Bandwidth {
        let usual = || self.map.usual_bandwidth();
        self.bandwidth.clone().or_else(usual).unwrap_or(own)
    }

    /// Surveys `source`, decides on scales, and draws the map.
    pub(crate) fn prepare(&self, source: &mut dyn ChunkSource) -> Result<Prepared> {
        self.prepare_for(source, self.bandwidth())
    }

    /// As [`Self::prepare`], with this bandwidth.
    pub(crate) fn prepare_for(
        &self,
        source: &mut dyn ChunkSource,
        bandwidth: Bandwidth,
    ) -> Result<Prepared> {
        let run = self.run()?;
        let own = self.map.kernel();
        let rows = self.sample_rows(&self.map);
        let seed = self.seed.unwrap_or_default();
        let survey = Survey::watched(source, rows, seed.0, &|step| run.say(step))?;
        let scaling = self
            .standardize
            .beside(&bandwidth)
            .within(self.map.domain())
            .decide(&survey, self.map.is_shift_invariant());
        // What is made of no kernel takes rows at the scale that a Gaussian would.
        let kernel = own.clone().unwrap_or_else(|| Arc::new(Gaussian));
        let lengthscales = bandwidth.lengthscales(kernel.as_ref(), &survey, &scaling)?;
        let input = scaling.input(&lengthscales)?;
        let map = self.map.build_from(MapData {
            input: input.clone(),
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
        Ok(Prepared {
            run,
            survey,
            map,
            kernel: own.map(|kernel| ScaledKernel { kernel, input }),
        })
    }

    /// What searches begin with.
    fn scaled(&self, source: &mut dyn ChunkSource) -> Result<Scaled> {
        let run = self.run()?;
        let bandwidth = self.bandwidth();
        let rows = self.sample_rows(&self.map).max(MEDIAN_ROWS);
        let seed = self.seed.unwrap_or_default();
        let survey = Survey::watched(source, rows, seed.0, &|step| run.say(step))?;
        let shift_invariant = self.map.is_shift_invariant();
        let scaling = self
            .standardize
            .beside(&bandwidth)
            .within(self.map.domain())
            .decide(&survey, shift_invariant);
        let kernel = self.map.kernel().unwrap_or_else(|| Arc::new(Gaussian));
        let lengthscales = bandwidth.lengthscales(kernel.as_ref(), &survey, &scaling)?;
        let &[lengthscale] = lengthscales.as_slice() else {
            return Err(Error::unsupported(
                "a search takes one lengthscale for all columns; leave those of each to the metric",
            ));
        };
        Ok(Scaled {
            run,
            survey,
            scaling,
            lengthscale,
        })
    }

    /// A tree with a model of ridge regression in each leaf.
    pub(crate) fn leaves(
        &self,
        rows: usize,
        source: &mut dyn ChunkSource,
        targets: impl FnOnce(&Survey) -> Result<Targets>,
        options: &RidgeOptions,
    ) -> Result<(LinearModel, Run)> {
        let scaled = self.scaled(source)?;
        let search = self.search.clone().unwrap_or_default();
        let data = SearchData {
            source,
            survey: &scaled.survey,
            scaling: &scaled.scaling,
            lengthscale: scaled.lengthscale,
            targets: &targets(&scaled.survey)?,
            options,
            seed: self.seed.unwrap_or_default(),
            run: &scaled.run,
        };
        let model = Leaves { rows, search }.fit(&self.map, data)?;
        Ok((model, scaled.run))
    }

    /// As [`Self::prepare`], with the choices that `search` makes; what they are comes second.
    pub(crate) fn search(
        &self,
        search: &Search,
        source: &mut dyn ChunkSource,
        targets: impl FnOnce(&Survey) -> Result<Targets>,
        options: &RidgeOptions,
    ) -> Result<(Prepared, Found)> {
        let Scaled {
            run,
            survey,
            scaling,
            lengthscale,
        } = self.scaled(source)?;
        let seed = self.seed.unwrap_or_default();
        let targets = targets(&survey)?;
        let data = SearchData {
            source: &mut *source,
            survey: &survey,
            scaling: &scaling,
            lengthscale,
            targets: &targets,
            options,
            seed,
            run: &run,
        };
        let mut tried = 0;
        let mut hear = |_: &Trial, best| {
            tried += 1;
            run.say(Step::Trial(tried, best));
            Ok(())
        };
        let found = search.run(&self.map, data, &mut hear)?;
        let map = found.draw(Ground {
            source,
            survey: &survey,
            scaling: &scaling,
            run: &run,
            seed: Some(seed),
        })?;
        let described = map.describe();
        log::info!("{described} on {}, scales {scaling}", run.device.describe());
        let prepared = Prepared {
            run,
            survey,
            map,
            kernel: None,
        };
        Ok((prepared, found))
    }
}
