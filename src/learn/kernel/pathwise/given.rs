//! Draws functions by Matheron's rule with the estimates of a Gaussian process on features.

use super::PathwiseOptions;
use crate::{
    Error, Result,
    data::{ChunkSource, Survey},
    error::Remedy,
    features::KernelColumns,
    flow::Run,
    kernels,
    learn::{Fit, FitData},
    model::{LinearModel, Targets},
    seed::Seed,
};
use std::f64::consts::TAU;

impl LinearModel {
    /// Draws functions by Matheron's rule from the posterior of target `target` given the rows of
    /// `source`, which has that single target. Kernel, lengthscales, noise and signal are taken
    /// from this model of a [`GaussianProcess`](crate::models::GaussianProcess) on Fourier
    /// features; `features` is the number of features of the prior.
    /// [`PosteriorFunctions`](crate::models::PosteriorFunctions) with these variances draw the same
    /// functions: near the rows the kernel itself decides, away from them they return to the prior.
    /// An intercept is fitted unless the model's settings have none.
    ///
    /// ```
    /// use bochner::{data::MemorySource, prelude::*};
    /// let x = ndarray::Array::from_shape_fn((60, 1), |(i, _)| i as f64 / 12.0);
    /// let y = x.mapv(f64::sin);
    /// let process = GaussianProcess::on(Fourier::new(Gaussian).features(100));
    /// let process = process.device(&Device::cpu()).noise(1e-4).fit((&x, &y))?;
    /// let mut rows = MemorySource::new(x.clone(), Some(y))?;
    /// let (run, sizes) = (bochner::Run::on(&Device::cpu()), (9, 200));
    /// let drawn = process.linear().sample_given((&mut rows, 0), sizes, Seed(1), &run)?;
    /// assert_eq!(drawn.targets.outputs(), 9);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors with [`Error::Unsupported`] on models of other learners and maps, with
    /// [`Error::Parameter`] on an invalid target or 0 samples, and with [`Error::Limit`] if the
    /// kernel matrix of all rows does not fit into the memory of the run.
    pub fn sample_given(
        &self,
        (source, target): (&mut dyn ChunkSource, usize),
        (samples, features): (usize, usize),
        seed: Seed,
        run: &Run,
    ) -> Result<Self> {
        if source.columns() != self.map.input_dim() {
            return Err(Error::shape(format!(
                "the rows have {} columns, the model was fitted on {}",
                source.columns(),
                self.map.input_dim()
            )));
        }
        let options = PathwiseOptions {
            samples,
            features,
            noise: Some(self.variance("noise", target)?),
            signal: Some(self.variance("signal", target)?),
            intercept: self.job_word("no-intercept").is_none(),
        };
        let kernel = self.kernel_of_features()?;
        let columns = KernelColumns::new(kernel);
        let none = ndarray::Array2::<f64>::zeros((0, self.map.input_dim()));
        // Frequencies are in turns (cycles): their input is that of the kernel over 2 pi.
        let input = self.map.input().clone().lengthscale(1.0 / TAU)?;
        let map = columns.build(input, none)?;
        let survey = Survey::watched(source, 0, seed.0, &|step| run.say(step))?;
        source.rewind()?;
        let data = FitData {
            source,
            targets: Targets::real(&survey),
            survey: &survey,
            kernel: None,
            bandwidth: None,
            start: None,
            seed,
            run,
        };
        let drawn = options.fit(Box::new(map), data)?;
        Ok(Self {
            column_names: self.column_names.clone(),
            schema: self.schema.clone(),
            ..drawn
        })
    }

    /// The variance with this name that a Gaussian process estimated for a target.
    fn variance(&self, name: &str, target: usize) -> Result<f64> {
        let several = format!("{name}_deviation_{target}");
        let one = format!("{name}_deviation");
        let alone = (target == 0).then(|| self.facts.get(&one)).flatten();
        let deviation = alone.or_else(|| self.facts.get(&several));
        let of_process = self.learner == "gaussian-process" && self.spread.is_some();
        match deviation {
            Some(deviation) if of_process => Ok(deviation * deviation),
            _ if of_process => Err(Error::parameter(format!(
                "there is no target {target} (counted from 0) among {}",
                self.targets.outputs()
            ))),
            _ => Err(Error::unsupported(format!(
                "a model of {} has no posterior to draw from; fit a GaussianProcess",
                self.learner
            ))),
        }
    }

    fn job_word(&self, name: &str) -> Option<&str> {
        self.job.as_ref().and_then(|job| job.get(name))
    }

    /// The kernel that the Fourier features approximate, parsed from the settings.
    fn kernel_of_features(&self) -> Result<std::sync::Arc<dyn kernels::Kernel>> {
        let spec = self
            .job_word("kernel")
            .filter(|_| self.map.fourier().is_some());
        match spec {
            Some(spec) => kernels::parse(spec),
            None => Err(Error::unsupported(format!(
                "the kernel of a model on {} is not known",
                self.map.describe()
            ))
            .help(Remedy::words(
                "fit a GaussianProcess on Fourier features, which keeps its job",
            ))),
        }
    }
}
