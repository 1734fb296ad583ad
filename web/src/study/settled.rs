//! What rows left out choose of preparation, bandwidth and scale of the targets, once for all fits
//! of a kernel.

use super::choice::Choice;
use bochner::{
    Result, Run,
    data::{ChunkSource, Survey},
    features::{Bandwidth, Linear, MapBuilder, MapSpec, Standardize},
    job::{Job, Meaning, Preparation, TargetScale},
    models::{Basis, Fit, RidgeOptions},
    seed::Seed,
};
use std::sync::Arc;

/// Preparation, bandwidth and scale of the targets.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    standardize: Standardize,
    bandwidth: Bandwidth,
    linear: bool,
    target_scale: TargetScale,
}

/// A map that is drawn, what its fit is about, and what was said of it.
pub(super) struct Drawn {
    pub(super) basis: Basis,
    pub(super) survey: Survey,
    pub(super) lengthscales: Vec<f64>,
}

/// What `bochner fit` does of this map where no other option is given.
pub(super) fn job(learner: &RidgeOptions, map: MapSpec, seed: Seed) -> Job<&dyn Fit> {
    let preparation = Preparation {
        map: Arc::new(map.clone()),
        bandwidth: map.usual_bandwidth(),
        standardize: Standardize::Auto,
        seed: Some(seed),
    };
    Job {
        preparation,
        ..Job::new(learner as &dyn Fit, map)
    }
}

impl Settled {
    /// What stands where nothing chooses.
    pub(super) fn by_rule() -> Self {
        Self {
            standardize: Standardize::Auto,
            bandwidth: Bandwidth::Scale,
            linear: false,
            target_scale: TargetScale::AsIs,
        }
    }

    /// Surveys the rows and lets those left out choose. Errors as these stages do.
    pub(super) fn of(
        source: &mut dyn ChunkSource,
        (choice, map): (&Choice, MapSpec),
        meaning: Meaning,
        run: &Run,
    ) -> Result<Self> {
        let learner = RidgeOptions::default();
        let job = job(&learner, map, choice.seed);
        let survey = job.survey(source, run)?;
        let targets = meaning.targets(&survey, source.schema())?;
        let (job, race) = job.settled(&survey, &targets, run)?;
        Ok(Self {
            standardize: job.preparation.standardize,
            bandwidth: job.bandwidth(),
            linear: race.is_some_and(|race| race.chosen().linear),
            target_scale: job.target_scale,
        })
    }

    /// Draws the map that is asked for, on these rows.
    pub(super) fn draw(
        &self,
        source: &mut dyn ChunkSource,
        (choice, map): (&Choice, MapSpec),
        meaning: Meaning,
        run: &Run,
    ) -> Result<Drawn> {
        let learner = RidgeOptions::default();
        let mut job = job(&learner, map, choice.seed);
        let preparation = &mut job.preparation;
        preparation.standardize = self.standardize;
        preparation.bandwidth = Some(self.bandwidth.clone());
        job.target_scale = self.target_scale;
        // As a fit of so many features has it.
        let line = self.linear && job.may_have_line(source.columns());
        job.linear = if line { Linear::Yes } else { Linear::No };
        let survey = job.survey(source, run)?;
        let targets = meaning.targets(&survey, source.schema())?;
        if choice.width != 1.0 {
            let scales = job.scales(&survey)?;
            let wider = scales.lengthscales.iter().map(|s| s * choice.width);
            job.preparation.bandwidth = Some(match wider.collect::<Vec<_>>() {
                one if one.len() == 1 => Bandwidth::Sigma(one[0]),
                all => Bandwidth::SigmaPerColumn(all),
            });
        }
        let known = (survey.clone(), targets);
        let (basis, lengthscales) = job.basis(source, known, run)?;
        Ok(Drawn {
            basis,
            survey,
            lengthscales,
        })
    }

    /// What was chosen, as `bochner fit` is told it.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec![format!("--standardize={}", self.standardize)];
        if self.linear {
            words.push("--linear yes".into());
        }
        if self.target_scale != TargetScale::AsIs {
            words.push(format!("--target-scale {}", self.target_scale));
        }
        words
    }
}
