//! Fits that begin where an earlier model ended.

use super::{
    Fit, FitData, LabelledData, Labels, Learner, LinearModel, Model, Numbers, TrainingData,
    state::renumbered,
};
use crate::{
    Error, Result,
    data::{ChunkSource, Survey},
    features::{self, FeatureMap},
    store::Store,
};

impl<L: Fit, T> Learner<L, T> {
    fn begin_at(&self, model: &LinearModel, source: &mut dyn ChunkSource) -> Result<LinearModel> {
        if !self.own.takes_start() {
            return Err(Error::unsupported(
                "this learner does not go on from a model; fit it anew, or keep its sums by \
                 .start(..)",
            ));
        }
        let run = self.setup.run()?;
        let seed = self.setup.seed.unwrap_or_default();
        let survey = Survey::watched(source, 0, seed.0, &|step| run.say(step))?;
        let data = FitData {
            source,
            targets: model.targets.clone(),
            survey: &survey,
            kernel: None,
            start: Some(&model.coefficients),
            seed,
            run: &run,
        };
        let fitted = self.own.fit(copied(model.map.as_ref())?, data)?;
        Ok(LinearModel {
            class_names: model.class_names.clone(),
            ..fitted
        })
    }
}

/// The same map once more, as a file would give it.
fn copied(map: &dyn FeatureMap) -> Result<Box<dyn FeatureMap>> {
    let mut store = Store::default();
    map.write(&mut store)?;
    features::read(&store)
}

impl<L: Fit> Learner<L, Numbers> {
    /// As [`Self::fit`], on the map of an earlier model and from its coefficients, a warm start:
    /// for rows that came since, beside those that it saw. The minimum is that of all rows given,
    /// to the same tolerance, wherever the fit begins; only passes are fewer. Scales and
    /// bandwidth stay those of the model.
    ///
    /// Errors as [`Self::fit`] does, with [`Error::Unsupported`] on learners that do not minimise
    /// a smooth loss, and on maps that no file can keep, and with [`Error::Shape`] on data of
    /// other columns or targets.
    pub fn fit_from<D: TrainingData>(
        &self,
        model: &Model<D::Predicted>,
        data: D,
    ) -> Result<Model<D::Predicted>> {
        let fitted = self.begin_at(model.linear(), data.into_source()?.as_mut())?;
        let run = self.setup.run()?;
        Ok(Model::new(fitted, run.device, run.memory))
    }
}

impl<L: Fit> Learner<L, Labels> {
    /// As for numbers. The classes are those of the model.
    ///
    /// ```
    /// use bochner::{models::LogisticRegression, prelude::*};
    /// use ndarray::{Array2, s};
    /// let x = Array2::from_shape_fn((300, 1), |(i, _)| (i * 7 % 300) as f64 / 50.0);
    /// let y: Vec<bool> = x.column(0).iter().map(|x| x.sin() > 0.0).collect();
    /// let logistic = LogisticRegression::on(Fourier::new(Gaussian).features(50));
    /// let first = logistic.fit((&x.slice(s![..200, ..]), &y[..200]))?;
    /// let all = logistic.fit_from(&first, (&x, &y[..]))?;
    /// assert_eq!(all.predict(&x)?.len(), 300);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn fit_from<D: LabelledData>(
        &self,
        model: &Model<Vec<D::Label>>,
        data: D,
    ) -> Result<Model<Vec<D::Label>>> {
        let names = model.linear().class_names.as_deref();
        let fitted = self.begin_at(model.linear(), renumbered(data, names)?.as_mut())?;
        let run = self.setup.run()?;
        Ok(Model::new(fitted, run.device, run.memory))
    }
}
