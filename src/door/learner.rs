//! The front door: a learner on a map, with a default for everything else.

use super::train::{LabelledData, RowData, TrainingData};
use crate::{
    Device, Result, Run,
    data::{ChunkSource, Folds},
    features::{Additive, Bandwidth, Linear, MapBuilder, Standardize},
    flow::RunSettings,
    job::{CrossValidation, Job, Meaning, Preparation, TargetScale},
    learn::{Fit, FitRows},
    model::{LinearModel, Model, Predicted},
    progress::{Progress, Step},
    seed::Seed,
};
use ndarray::Array2;
use std::marker::PhantomData;

/// Something that learns on the features of a map: [`Ridge`](crate::models::Ridge),
/// [`RidgeClassifier`](crate::models::RidgeClassifier), [`Features`](super::Features). This type
/// holds what all of them share; `L` is what one has of its own, and `T` says what it is fitted to:
/// [`Numbers`], [`Labels`] or rows alone.
///
/// Until said otherwise a learner takes the best GPU or else the CPU, 128 MiB for chunks,
/// standardises where columns have mixed scales, takes the bandwidth that is usual for it
/// ([`Fit::usual`], mostly [`Bandwidth::Chosen`]), and is silent.
#[derive(Debug, Clone)]
pub struct Learner<L, T> {
    pub(crate) job: Job<L>,
    pub(crate) settings: RunSettings,
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
        Self::prepared_by(Preparation::new(map))
    }

    /// Learns on the features of a map, with everything that is done before said.
    pub fn prepared_by(preparation: Preparation) -> Self {
        let job = Job::new(L::default(), preparation.map.clone());
        Self {
            job: Job { preparation, ..job },
            settings: RunSettings::default(),
            targets: PhantomData,
        }
    }
}

impl<L, T> Learner<L, T> {
    /// How wide the kernel is.
    pub fn bandwidth(mut self, bandwidth: Bandwidth) -> Self {
        self.job.preparation.bandwidth = Some(bandwidth);
        self
    }

    /// Whether columns are divided by their standard deviations.
    pub fn standardize(mut self, standardize: Standardize) -> Self {
        self.job.preparation.standardize = standardize;
        self
    }

    /// On what scale amounts are fitted, by learners of least squares.
    pub fn target_scale(mut self, scale: TargetScale) -> Self {
        self.job.target_scale = scale;
        self
    }

    /// Whether the columns themselves stand beside the features of the map.
    pub fn linear_part(mut self, linear: Linear) -> Self {
        self.job.linear = linear;
        self
    }

    /// Has rows forgotten by and by: in their order, row i of the n that are fitted counts for
    /// `2^(-(n - 1 - i) / rows)` times its own weight, as in a fit to rows with these weights. Rows
    /// that are [added](super::Growing::add) make those before older. A half-life is a row or more.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// let x = ndarray::Array::from_shape_fn((400, 1), |(i, _)| (i * 7 % 90) as f64 / 9.0);
    /// // The sign turns in the middle.
    /// let y = (x.column(0).into_iter().enumerate()).map(|(i, x)| if i < 200 { -x } else { *x });
    /// let y: ndarray::Array1<f64> = y.collect();
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(40)).half_life(20.0);
    /// let model = ridge.fit((&x, &y))?;
    /// assert!((model.predict(&ndarray::array![[5.0]])?[0] - 5.0).abs() < 0.1);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn half_life(mut self, rows: f64) -> Self {
        self.job.half_life = Some(rows);
        self
    }

    /// Whether a small map looks at each column of the table: a generalised additive model, of
    /// pairs of columns, too, if asked for. The features of the map are shared between the parts,
    /// each of 20 at least.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// use ndarray::Array;
    /// let x = Array::from_shape_fn((90, 2), |(i, j)| (i * (7 + 4 * j) % 90) as f64 / 9.0);
    /// let y = x.rows().into_iter().map(|x| x[0].sin() + x[1]).collect::<Vec<_>>();
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(100)).additive(Additive::Columns);
    /// let model = ridge.device(&Device::cpu()).fit((&x, &y))?;
    /// assert_eq!(model.linear().map.output_dim(), 2 * 50);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn additive(mut self, additive: Additive) -> Self {
        self.job.additive = additive;
        self
    }

    /// Where work runs: in the fit, and in the model until it is told otherwise.
    pub fn device(mut self, device: &Device) -> Self {
        self.settings.device = Some(device.clone());
        self
    }

    /// Bytes for chunk buffers.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.settings.memory = bytes;
        self
    }

    /// The seed of all draws: of the map, instead of its own, and of the rows that rules look at.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.job.preparation.seed = Some(seed);
        self
    }

    /// Calls `hear` as work proceeds.
    pub fn progress(mut self, hear: impl Fn(Step) + Send + Sync + 'static) -> Self {
        self.settings.progress = Progress::to(hear);
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
    /// Fits to targets of this meaning.
    pub(super) fn linear(&self, source: &mut dyn ChunkSource, meaning: Meaning) -> Result<Fitted> {
        let run = self.settings.run()?;
        let model = self.job.any().fit(source, meaning, &run)?.model;
        Ok(Fitted { model, run })
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
        Ok(self.linear(source.as_mut(), Meaning::Amounts)?.door())
    }

    /// Scores the learner by rows that it did not see: of `folds` folds, dealt by the seed
    /// ([`Folds::dealt`]), each is held out in turn from a fit to the others, which chooses all
    /// that it chooses by these alone ([`Job::cross_validate`]).
    ///
    /// Errors on fewer than 2 folds and on more than there are rows, and as [`Self::fit`] does.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// let x = ndarray::Array::from_shape_fn((90, 1), |(i, _)| (i * 7 % 90) as f64 / 9.0);
    /// let y = x.column(0).mapv(f64::sin);
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(40)).device(&Device::cpu());
    /// let r2 = ridge.cross_validate((&x, &y), 5)?.mean("r2").expect("a score");
    /// assert!(r2.mean > 0.99);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn cross_validate<D: TrainingData + Clone>(
        &self,
        data: D,
        folds: usize,
    ) -> Result<CrossValidation> {
        let open = || data.clone().into_source();
        let folds = Folds::dealt(open()?.as_mut(), folds, self.job.preparation.seed())?;
        let run = self.settings.run()?;
        let job = self.job.any();
        job.cross_validate(open, Meaning::Amounts, &folds, &run)
    }

    /// Keeps this share of the rows back from the fit, chosen by the seed, and calibrates intervals
    /// on them ([`LinearModel::calibrate`]): [`Model::intervals`] then hold what they promise,
    /// whatever the data. Ridge regression has intervals without, by rows that it leaves out in
    /// turn.
    pub fn calibrate(mut self, fraction: f64) -> Self {
        self.job.calibrate = Some(fraction);
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
        Ok(self.linear(source.as_mut(), Meaning::Amounts)?.door())
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
        let mut fitted = self.linear(source.as_mut(), Meaning::Labels)?;
        if names.is_some() {
            fitted.model.class_names = names;
        }
        // Text where numbers are expected is told now rather than at a prediction.
        Vec::<D::Label>::check(&fitted.model)?;
        Ok(fitted.door())
    }

    /// As that of a learner of numbers, each class dealt by itself ([`Folds::stratified`]).
    pub fn cross_validate<D: LabelledData + Clone>(
        &self,
        data: D,
        folds: usize,
    ) -> Result<CrossValidation> {
        let open = || Ok(data.clone().into_labelled()?.0);
        let folds = Folds::stratified(open()?.as_mut(), folds, self.job.preparation.seed())?;
        let run = self.settings.run()?;
        let job = self.job.any();
        job.cross_validate(open, Meaning::Labels, &folds, &run)
    }

    /// Whether the model is to have probabilities
    /// ([`Model::predict_probabilities`]) where it has none of its own, as logistic regression
    /// does, and ridge regression, by rows that it leaves out in turn: sigmoids on the scores of a
    /// fifth of the rows, of more than two classes one softmax, by a second fit to the others. It
    /// is not, until said otherwise.
    pub fn probabilities(mut self, wanted: bool) -> Self {
        self.job.probabilities = wanted;
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
        let fitted = self.linear(source.as_mut(), Meaning::Nothing)?;
        Ok(fitted.door())
    }
}
