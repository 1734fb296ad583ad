//! Fits that begin where an earlier model ended.

use super::{
    learner::{Labels, Learner, Numbers},
    renumbered::renumbered,
    train::{LabelledData, TrainingData},
};
use crate::{
    Result,
    data::ChunkSource,
    learn::Fit,
    model::{LinearModel, Model},
};

impl<L: Fit, T> Learner<L, T> {
    fn begin_at(&self, model: &LinearModel, source: &mut dyn ChunkSource) -> Result<LinearModel> {
        let (job, run) = (self.job.any(), self.settings.run()?);
        let weighted = source.is_weighted();
        job.check_start(weighted)?;
        let mut source = job.forgetting(source)?;
        let survey = self.job.preparation.survey(&mut source, 0, &run)?;
        let mut fitted = job.go_on(model, (&mut source, &survey), &run)?;
        job.say_weighted(&mut fitted, weighted);
        Ok(LinearModel {
            class_names: model.class_names.clone(),
            ..fitted
        })
    }
}

impl<L: Fit> Learner<L, Numbers> {
    /// As [`Self::fit`], on the map of an earlier model and from its coefficients, a warm start:
    /// for rows that came since, beside those that it saw. The minimum is that of all rows given,
    /// to the same tolerance, wherever the fit begins; only passes are fewer. Scales and
    /// bandwidth stay those of the model.
    ///
    /// Errors as [`Self::fit`] does, with [`Error::Unsupported`](crate::Error::Unsupported) on
    /// learners that do not minimise a smooth loss, and on maps that no file can keep, and with
    /// [`Error::Shape`](crate::Error::Shape) on data of other columns or targets.
    pub fn fit_from<D: TrainingData>(
        &self,
        model: &Model<D::Predicted>,
        data: D,
    ) -> Result<Model<D::Predicted>> {
        let fitted = self.begin_at(model.linear(), data.into_source()?.as_mut())?;
        let run = self.settings.run()?;
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
        let run = self.settings.run()?;
        Ok(Model::new(fitted, run.device, run.memory))
    }
}
