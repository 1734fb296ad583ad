//! Stages of a job that fit a model.

use super::{Job, Rows, codes, odd::warn_of_odd_rows, worth};
use crate::{
    Error, Result, Run,
    data::{ChunkSource, KeptRows, Rescaled, Survey},
    features::{self, FeatureMap, ScaledKernel},
    learn::bring_back,
    learn::{ClassWeights, Fit, FitData, Leaves, WithClassWeights, WithProbabilities},
    model::{LinearModel, Link, Ranges},
    store::Store,
};

impl Job<&dyn Fit> {
    /// Returns the rows as input of a learner.
    #[doc(hidden)]
    pub fn fit_data<'a>(&self, rows: Rows<'a>, kernel: Option<ScaledKernel>) -> FitData<'a> {
        FitData {
            source: rows.source,
            targets: rows.targets.clone(),
            survey: rows.survey,
            kernel,
            bandwidth: Some(rows.scales.bandwidth.clone()),
            start: None,
            seed: self.preparation.seed(),
            run: rows.run,
        }
    }

    /// Fits the learner to a drawn map, with probabilities and class weights. The model stores the
    /// names of its columns. Errors as [`Fit::fit`] does.
    #[doc(hidden)]
    pub fn learn(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let (source, survey) = (data.source, data.survey);
        let data = FitData {
            source: &mut *source,
            ..data
        };
        let about = (Some(&data.targets), Some(map.as_ref()));
        warn_of_odd_rows(survey, &mut [&mut *data.source], about)?;
        let with = WithProbabilities(self.learner);
        let fit: &dyn Fit = if self.probabilities {
            &with
        } else {
            self.learner
        };
        let mut model = match &self.class_weights {
            ClassWeights::Equal => fit.fit(map, data)?,
            weights => WithClassWeights(fit, weights).fit(map, data)?,
        };
        model.name_columns(source);
        model.ranges = Some(Ranges::from_survey(survey));
        worth::judge(&mut model, survey);
        codes::warn(&model, survey, source.schema());
        to_amounts(&mut model, survey)?;
        self.keep(&mut model, source.is_weighted());
        Ok(model)
    }

    /// Divides the rows by a tree and fits a model in each leaf, where the choices of the search
    /// are made. Errors with [`Error::Unsupported`] unless trials may choose the penalty of the
    /// learner, and as [`Leaves::fit`] does.
    #[doc(hidden)]
    pub fn grow_leaves(&self, most: usize, mut rows: Rows<'_>) -> Result<LinearModel> {
        let options = self.penalised()?;
        let search = self.search.clone().unwrap_or_default();
        let about = (Some(rows.targets), None);
        warn_of_odd_rows(rows.survey, &mut [&mut *rows.source], about)?;
        let data = self.search_data(rows.again(), options)?;
        let mut model = Leaves { rows: most, search }.fit(&self.preparation.map, data)?;
        to_amounts(&mut model, rows.survey)?;
        model.name_columns(rows.source);
        model.ranges = Some(Ranges::from_survey(rows.survey));
        self.keep(&mut model, rows.source.is_weighted());
        Ok(model)
    }

    /// Checks a warm start before a row is read. Errors with [`Error::Unsupported`] for learners
    /// without warm starts, and as [`Self::check`] does.
    pub(crate) fn check_start(&self, weighted: bool) -> Result<()> {
        if !self.learner.takes_start() {
            return Err(Error::unsupported(
                "this learner does not go on from a model; fit it anew, or keep its sums by \
                 .start(..)",
            ));
        }
        self.check(weighted)
    }

    /// Fits with the map and from the coefficients of an earlier model (warm start), to rows with
    /// the same columns and targets.
    ///
    /// Errors with [`Error::Unsupported`] for learners without warm starts, and for maps that
    /// cannot be stored.
    #[doc(hidden)]
    pub fn go_on(
        &self,
        start: &LinearModel,
        (source, survey): (&mut dyn ChunkSource, &Survey),
        run: &Run,
    ) -> Result<LinearModel> {
        self.check_start(source.is_weighted())?;
        if start.link.as_ref().and_then(Link::rescale).is_some() {
            return Err(Error::unsupported(
                "a model of logarithms or ranks is fitted anew; none goes on from it",
            ));
        }
        let data = FitData {
            source,
            targets: start.targets.clone(),
            survey,
            kernel: None,
            bandwidth: None,
            start: Some(&start.coefficients),
            seed: self.preparation.seed(),
            run,
        };
        // Copies the map through its stored form.
        let mut store = Store::default();
        start.map.write(&mut store)?;
        self.learn(features::read(&store)?, data)
    }
}

/// Converts a model of rescaled targets into one of the original targets.
fn to_amounts(model: &mut LinearModel, survey: &Survey) -> Result<()> {
    let Some(rescale) = survey.rescale.clone() else {
        return Ok(());
    };
    let none = || KeptRows::new(0, (survey.mean.len(), survey.targets.len()));
    let kept = survey.deciding.clone().unwrap_or_else(none);
    bring_back(model, &Rescaled { rescale, kept })
}
