//! The front door: a learner on a map, with a default for everything else.

use super::{
    ClassWeights, Fit, FitData, FitRows, FittedFeatures, LabelledData, LinearModel, Model,
    Predicted, RowData, TrainingData, WithClassWeights, WithProbabilities, setup::Setup,
};
use crate::{
    Device, Error, Result, Run,
    data::{ChunkSource, MemorySource, Part, Split, Survey, ToRows},
    features::{Bandwidth, MapBuilder, Standardize},
    normal::Targets,
    progress::{Progress, Step},
    seed::Seed,
};
use ndarray::Array2;
use std::{marker::PhantomData, sync::Arc};

/// Something that learns on the features of a map: [`Ridge`](super::Ridge),
/// [`RidgeClassifier`](super::RidgeClassifier), [`Features`]. This type holds what all of them
/// share; `L` is what one has of its own, and `T` says what it is fitted to: [`Numbers`],
/// [`Labels`] or rows alone.
///
/// Until said otherwise a learner takes the best GPU or else the CPU, 128 MiB for chunks,
/// standardises where columns have mixed scales, takes the bandwidth of [`Bandwidth::Scale`] (a
/// density that of [`Bandwidth::Scott`]), and is silent.
#[derive(Debug, Clone)]
pub struct Learner<L, T> {
    pub(crate) setup: Setup,
    pub(crate) own: L,
    targets: PhantomData<T>,
}

/// Targets are amounts.
#[derive(Debug, Clone, Copy)]
pub struct Numbers;

/// Targets are labels.
#[derive(Debug, Clone, Copy)]
pub struct Labels;

/// Targets are amounts, and predictions are functions drawn, a column each.
#[derive(Debug, Clone, Copy)]
pub struct Functions;

/// There are no targets.
#[derive(Debug, Clone, Copy)]
pub struct RowsAlone;

impl<L: Default, T> Learner<L, T> {
    /// Learns on the features of `map`, with a default for everything else.
    pub fn on(map: impl MapBuilder + 'static) -> Self {
        Self {
            setup: Setup::on(Arc::new(map)),
            own: L::default(),
            targets: PhantomData,
        }
    }
}

impl<L, T> Learner<L, T> {
    /// How wide the kernel is.
    pub fn bandwidth(mut self, bandwidth: Bandwidth) -> Self {
        self.setup.bandwidth = Some(bandwidth);
        self
    }

    /// Whether columns are divided by their standard deviations.
    pub fn standardize(mut self, standardize: Standardize) -> Self {
        self.setup.standardize = standardize;
        self
    }

    /// Where work runs: in the fit, and in the model until it is told otherwise.
    pub fn device(mut self, device: &Device) -> Self {
        self.setup.device = Some(device.clone());
        self
    }

    /// Bytes for chunk buffers.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.setup.memory = bytes;
        self
    }

    /// The seed of all draws: of the map, instead of its own, and of the rows that rules look at.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.setup.seed = Some(seed);
        self
    }

    /// Calls `hear` as work proceeds.
    pub fn progress(mut self, hear: impl Fn(Step) + Send + Sync + 'static) -> Self {
        self.setup.progress = Progress::to(hear);
        self
    }
}

/// What was fitted, and where.
pub(super) struct Fitted {
    pub(super) model: LinearModel,
    pub(super) run: Run,
}

impl Fitted {
    fn door<P: Predicted>(self) -> Model<P> {
        Model::new(self.model, self.run.device, self.run.memory)
    }
}

impl<L: Fit, T> Learner<L, T> {
    /// Draws the map for `source`, decides by the survey what the targets are, and fits.
    pub(super) fn linear(
        &self,
        source: &mut dyn ChunkSource,
        targets: impl Fn(&Survey) -> Result<Targets>,
        probabilities: bool,
    ) -> Result<Fitted> {
        if source.is_weighted() && !self.own.takes_weights() {
            return Err(Error::unsupported("this learner takes no weights of rows"));
        }
        let parted = self.setup.leaves.is_some() || self.setup.search.is_some();
        if parted && self.setup.class_weights != ClassWeights::Equal {
            return Err(Error::unsupported(
                "a search and leaves take no class weights; give rows weights, or leave one out",
            ));
        }
        if parted && self.own.ridge().is_some_and(|ridge| ridge.penalised) {
            return Err(Error::unsupported(
                "a search and leaves take no penalised intercept; leave one of both out",
            ));
        }
        if let Some((rows, options)) = self.setup.leaves.zip(self.own.ridge()) {
            if probabilities {
                return Err(Error::unsupported(
                    "leaves have no probabilities; fit without one of both",
                ));
            }
            let (mut model, run) = self.setup.leaves(rows, source, &targets, options)?;
            model.name_columns(source);
            return Ok(Fitted { model, run });
        }
        let searched = self.setup.search.as_ref().zip(self.own.ridge());
        let (prepared, found) = match searched {
            None => {
                let bandwidth = self.setup.bandwidth_beside(self.own.bandwidth());
                (self.setup.prepare_for(source, bandwidth)?, None)
            }
            Some((search, options)) => {
                let (prepared, found) = self.setup.search(search, source, &targets, options)?;
                let options = found.options(options);
                (prepared, Some((found, options)))
            }
        };
        let own: &dyn Fit = match &found {
            None => &self.own,
            Some((_, options)) => options,
        };
        let with = WithProbabilities(own);
        let fit: &dyn Fit = if probabilities { &with } else { own };
        let weighed = WithClassWeights(fit, &self.setup.class_weights);
        let fit: &dyn Fit = match self.setup.class_weights {
            ClassWeights::Equal => fit,
            _ => &weighed,
        };
        let targets = targets(&prepared.survey)?;
        if let (Targets::Real { columns: 1.., .. }, Some(schema)) = (&targets, source.schema()) {
            schema.require_amounts()?;
        }
        let data = FitData {
            kernel: prepared.kernel,
            start: None,
            source: &mut *source,
            targets,
            survey: &prepared.survey,
            seed: self.setup.seed.unwrap_or_default(),
            run: &prepared.run,
        };
        let mut model = fit.fit(prepared.map, data)?;
        model.name_columns(source);
        if let Some((found, _)) = &found {
            found.keep(&mut model);
        }
        Ok(Fitted {
            model,
            run: prepared.run,
        })
    }
}

impl<L: Fit> Learner<L, Numbers> {
    /// Fits to arrays `(&x, &y)`, a [`DataFile`](crate::data::DataFile), or `&mut source` of a
    /// [`ChunkSource`]. y of one dimension gives predictions of one.
    ///
    /// Errors when x and y differ in their rows or hold values that are not finite, when the map
    /// cannot be drawn, and as the learner's own [`Fit::fit`] does.
    pub fn fit<D: TrainingData>(&self, data: D) -> Result<Model<D::Predicted>> {
        let mut source = data.into_source()?;
        let source = source.as_mut();
        let targets = |survey: &Survey| Ok(Targets::real(survey));
        if self.setup.calibrate.is_some() && self.setup.leaves.is_some() {
            return Err(Error::unsupported(
                "leaves have no intervals; fit without one of both",
            ));
        }
        let Some(fraction) = self.setup.calibrate else {
            return Ok(self.linear(source, targets, false)?.door());
        };
        let seed = self.setup.seed.unwrap_or_default().0;
        let mut fitted = Split::new(&mut *source, Part::Train, fraction, seed)?;
        let mut fitted = self.linear(&mut fitted, targets, false)?;
        source.rewind()?;
        let mut kept_back = Split::new(source, Part::Test, fraction, seed)?;
        fitted
            .model
            .calibrate(&mut kept_back, fitted.run.silent())?;
        Ok(fitted.door())
    }

    /// Keeps this share of the rows back from the fit, chosen by the seed, and calibrates intervals
    /// on them ([`LinearModel::calibrate`]): [`Model::intervals`] then hold what they promise,
    /// whatever the data.
    pub fn calibrate(mut self, fraction: f64) -> Self {
        self.setup.calibrate = Some(fraction);
        self
    }
}

impl<L: Fit> Learner<L, Functions> {
    /// Fits to arrays `(&x, &y)`, a [`DataFile`](crate::data::DataFile), or `&mut source` of a
    /// [`ChunkSource`]. Predictions are `[n, functions]`, of one target.
    ///
    /// Errors as a learner of numbers does.
    pub fn fit<D: TrainingData>(&self, data: D) -> Result<Model<Array2<f64>>> {
        let mut source = data.into_source()?;
        let targets = |survey: &Survey| Ok(Targets::real(survey));
        Ok(self.linear(source.as_mut(), targets, false)?.door())
    }
}

impl<L: Fit> Learner<L, Labels> {
    /// Fits to arrays `(&x, &labels)`, a [`DataFile`](crate::data::DataFile), or `&mut source` of a
    /// [`ChunkSource`]; files and sources have numbers for labels.
    ///
    /// Errors as a learner of numbers does, and when there are fewer than two classes or more than
    /// a thousand.
    pub fn fit<D: LabelledData>(&self, data: D) -> Result<Model<Vec<D::Label>>> {
        let (mut source, names) = data.into_labelled()?;
        let probabilities = self.setup.probabilities;
        let mut fitted = self.linear(source.as_mut(), Targets::classes, probabilities)?;
        if names.is_some() {
            fitted.model.class_names = names;
        }
        // Text where numbers are expected is told now rather than at a prediction.
        Vec::<D::Label>::check(&fitted.model)?;
        Ok(fitted.door())
    }

    /// Whether the model is to have probabilities
    /// ([`Model::predict_probabilities`]) where it has none of its own, as logistic regression
    /// does: sigmoids on the scores of a fifth of the rows, of more than two classes one softmax,
    /// by a second fit to the others. It is not, until said otherwise.
    pub fn probabilities(mut self, wanted: bool) -> Self {
        self.setup.probabilities = wanted;
        self
    }
}

impl<L: FitRows> Learner<L, RowsAlone> {
    /// Fits to an array `&x`, a [`DataFile`](crate::data::DataFile), or `&mut source` of a
    /// [`ChunkSource`], whose targets are left alone if it has any.
    ///
    /// Errors when x holds values that are not finite, when the map cannot be drawn, and as the
    /// learner's own [`Fit::fit`] does.
    pub fn fit<D: RowData>(&self, rows: D) -> Result<Model<L::Predicted>> {
        let mut source = rows.into_rows()?;
        let fitted = self.linear(source.as_mut(), |_| Ok(Targets::none()), false)?;
        Ok(fitted.door())
    }
}

/// Nothing is learnt but the scales of the columns: [`Self::fit`] gives features to use elsewhere.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::array![[0.0_f32, 1.0], [0.5, 0.2], [2.0, -1.0]];
/// let map = Fourier::new(Gaussian).features(16);
/// let features = Features::on(map).bandwidth(Bandwidth::Median).fit(&x)?;
/// assert_eq!(features.transform(&x)?.dim(), (3, 16));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Features = Learner<OfRows, RowsAlone>;

/// [`Features`] have no options of their own.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfRows;

impl Features {
    /// Surveys the rows and draws the map. Errors when x holds a value that is not finite or the
    /// map cannot be drawn.
    pub fn fit(&self, x_nd: impl ToRows) -> Result<FittedFeatures> {
        let mut source = MemorySource::new(x_nd.to_rows(), None)?;
        let prepared = self.setup.prepare(&mut source)?;
        let memory = self.setup.memory;
        Ok(FittedFeatures::new(
            prepared.map,
            prepared.run.device,
            memory,
        ))
    }
}
