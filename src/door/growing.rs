//! Learners that grow: sums that rows are added to and forgotten from, with a model at any time.

use super::{
    learner::{Labels, Learner, Numbers, RowsAlone},
    renumbered::renumbered,
    train::{LabelledData, RowData, TrainingData},
};
use crate::{
    Error, Result,
    data::{ChunkSource, Schema, Survey},
    features::FeatureMap,
    flow::Run,
    job::{Meaning, check_weights},
    learn::{Basis, Fit, FitRows, FitSums, Partial},
    model::{FromLabel, Model, Predicted, Targets},
    sums::{ModelContext, RowsToSum, Sums},
};
use std::{collections::BTreeMap, marker::PhantomData};

/// A learner that goes on: [`Learner::start`] draws the map and decides what the targets are by the
/// first rows, and both stay as they are: scales, bandwidth and classes do not follow rows that
/// come later. Adding rows takes one pass over them; a model is that of a fit to all rows added and
/// not forgotten, on this map, but for the rounding of their sums.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::{Array2, s};
/// let x = Array2::from_shape_fn((300, 2), |(i, j)| ((i * (7 * j + 3)) % 23) as f64 / 23.0);
/// let pca = KernelPca::on(Fourier::new(Gaussian).features(64)).components(2);
/// let mut growing = pca.start(&x.slice(s![..100, ..]))?;
/// growing.add(&x.slice(s![100.., ..]))?;
/// assert_eq!(growing.rows(), 300);
/// let model = growing.model()?;
/// assert_eq!(model.predict(&x)?.dim(), (300, 2));
/// growing.forget(&x.slice(s![..100, ..]))?;
/// assert_eq!(growing.rows(), 200);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct Growing<L: FitSums, T, P> {
    learner: L,
    basis: Basis,
    sums: L::Sums,
    run: Run,
    predicts: PhantomData<(T, P)>,
}

impl<L: FitSums, T, P: Predicted> Growing<L, T, P> {
    /// Number of rows that the sums are of.
    pub fn rows(&self) -> u64 {
        self.sums.rows()
    }

    /// The map that the first rows gave.
    pub fn map(&self) -> &dyn FeatureMap {
        self.basis.map.as_ref()
    }

    /// The sums, to merge or keep elsewhere.
    #[doc(hidden)]
    pub fn sums(&self) -> &L::Sums {
        &self.sums
    }

    /// The model of the rows so far. Errors as the learner's fit does.
    pub fn model(&self) -> Result<Model<P>> {
        self.model_by(&self.learner)
    }

    /// As [`Self::model`], by other options than those that it began with: another penalty, say.
    ///
    /// ```
    /// use bochner::{models::RidgeOptions, prelude::*};
    /// let x = ndarray::Array2::from_shape_fn((90, 1), |(i, _)| i as f64 / 9.0);
    /// let y = x.column(0).mapv(f64::sin);
    /// let growing = Ridge::on(Fourier::new(Gaussian).features(40)).start((&x, &y))?;
    /// let lambda = 1e-3.into();
    /// let smooth = growing.model_by(&RidgeOptions { lambda, ..RidgeOptions::default() })?;
    /// assert_eq!(smooth.linear().lambda, 1e-3);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn model_by(&self, learner: &L) -> Result<Model<P>> {
        self.sums.check()?;
        let sums = self.sums.clone();
        let solve = |map, known: ModelContext<'_>| learner.model(map, sums, known);
        let model = self.basis.model(learner, &self.run, solve)?;
        P::check(&model)?;
        let device = self.run.device.clone();
        Ok(Model::new(model, device, self.run.memory))
    }

    /// Adds what another learner has seen that goes on from the same start, on another machine say.
    /// With a half-life both saw rows side by side: each row stays as old as it is where it was
    /// seen. Errors when it does not, with the difference.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.basis.check_same(&other.basis)?;
        self.sums.merge(&other.sums)
    }

    /// As [`Self::merge`] of rows that all came after these: with a half-life these get older by as
    /// many rows.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// use ndarray::s;
    /// let x = ndarray::Array2::from_shape_fn((300, 1), |(i, _)| (i * 7 % 90) as f64 / 9.0);
    /// let y = x.column(0).mapv(f64::sin);
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(40)).half_life(50.0);
    /// let part = |from, to| (x.slice(s![from..to, ..]), y.slice(s![from..to]));
    /// let (first, second, third) = (part(0, 100), part(100, 180), part(180, 300));
    /// let mut whole = ridge.start((&first.0, &first.1))?;
    /// let mut cut = ridge.go_on(&whole.to_bytes()?)?;
    /// let mut later = whole.without_rows()?;
    /// for (x, y) in [second, third] {
    ///     whole.add((&x, &y))?;
    ///     later.add((&x, &y))?;
    /// }
    /// cut.follow(&later)?;
    /// let [cut, whole] = [cut.model()?, whole.model()?].map(|model| model.predict(&x));
    /// assert!((cut? - whole?).iter().all(|apart| apart.abs() < 1e-6));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn follow(&mut self, later: &Self) -> Result<()> {
        self.basis.check_same(&later.basis)?;
        self.basis.add_later(&mut self.sums, &later.sums)
    }

    /// The same map and targets, of no rows: for others to add theirs and to be
    /// [merged](Self::merge).
    pub fn without_rows(&self) -> Result<Self>
    where
        L: Clone,
    {
        Ok(Self {
            learner: self.learner.clone(),
            basis: self.basis.clone(),
            sums: self.sums.of_no_rows()?,
            run: self.run.clone(),
            predicts: PhantomData,
        })
    }

    /// What it knows as bytes, to go on elsewhere by [`Learner::go_on`]: those of a [`Partial`].
    ///
    /// ```
    /// use bochner::prelude::*;
    /// use ndarray::{Array2, s};
    /// let x = Array2::from_shape_fn((300, 2), |(i, j)| ((i * (7 * j + 3)) % 23) as f64 / 23.0);
    /// let pca = || KernelPca::on(Fourier::new(Gaussian).features(64)).components(2);
    /// let mut here = pca().start(&x.slice(s![..100, ..]))?;
    /// // Another process, which gets no rows of this one.
    /// let mut there = pca().go_on(&here.without_rows()?.to_bytes()?)?;
    /// there.add(&x.slice(s![100.., ..]))?;
    /// here.merge(&pca().go_on(&there.to_bytes()?)?)?;
    /// assert_eq!(here.rows(), 300);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let partial = Partial {
            basis: self.basis.clone(),
            sums: self.sums.clone(),
            parts: Vec::new(),
        };
        partial.to_bytes()
    }

    fn summed(&self, source: &mut dyn ChunkSource) -> Result<L::Sums> {
        check_weights(&self.learner, source.is_weighted())?;
        let sum = |map: &dyn FeatureMap, data: RowsToSum<'_>| self.learner.sum(map, data);
        self.basis.sum(source, &self.run, sum)
    }

    fn take_up(&mut self, source: &mut dyn ChunkSource) -> Result<()> {
        let more = self.summed(source)?;
        self.basis.add_later(&mut self.sums, &more)
    }

    fn take_out(&mut self, source: &mut dyn ChunkSource) -> Result<()> {
        let less = self.summed(source)?;
        if less.rows() > self.rows() {
            return Err(Error::shape(format!(
                "{} rows hold no {} to forget",
                self.rows(),
                less.rows()
            )));
        }
        self.basis.take_out(&mut self.sums, &less)
    }
}

impl<L: FitSums + Clone, T> Learner<L, T> {
    fn begin_sums<P: Predicted>(
        &self,
        source: &mut dyn ChunkSource,
        targets: impl FnOnce(&Survey, Option<&Schema>) -> Result<Targets>,
        names: Option<Vec<String>>,
    ) -> Result<Growing<L, T, P>> {
        let learner = &self.job.learner;
        let run = self.settings.run()?;
        let mut basis = self.job.any().begin(source, targets, &run)?;
        basis.class_names = names;
        basis.options.extend(options_of(learner));
        let sum = |map: &dyn FeatureMap, data: RowsToSum<'_>| learner.sum(map, data);
        let sums = basis.sum(source, &run, sum)?;
        Ok(Growing {
            sums,
            learner: learner.clone(),
            basis,
            run,
            predicts: PhantomData,
        })
    }
}

impl<L: FitSums + Clone, T> Learner<L, T> {
    /// Goes on with what [`Growing::to_bytes`] gave, on the device and in the memory of this
    /// learner.
    ///
    /// Errors with [`Error::Format`] on other bytes, and when this learner has other options than
    /// the one that began, with the difference.
    pub fn go_on<P: Predicted>(&self, bytes: &[u8]) -> Result<Growing<L, T, P>> {
        let Partial {
            mut basis, sums, ..
        } = Partial::from_bytes(bytes)?;
        let read = basis.clone();
        basis.options = options_of(&self.job.learner);
        basis.forget_by(self.job.half_life);
        basis.check_same(&read)?;
        Ok(Growing {
            learner: self.job.learner.clone(),
            basis,
            sums,
            run: self.settings.run()?,
            predicts: PhantomData,
        })
    }
}

/// The options of a learner, as sums keep them.
fn options_of(learner: &dyn Fit) -> BTreeMap<String, String> {
    [("learner".to_owned(), format!("{learner:?}"))].into()
}

impl<L: FitSums + Clone> Learner<L, Numbers> {
    /// Begins a learner that goes on: scales, bandwidth and map come from these rows, which are the
    /// first to be summed. Errors as [`Learner::fit`] does.
    pub fn start<D: TrainingData>(&self, data: D) -> Result<Growing<L, Numbers, D::Predicted>> {
        let mut source = data.into_source()?;
        let targets =
            |survey: &Survey, schema: Option<&Schema>| Meaning::Amounts.targets(survey, schema);
        self.begin_sums(source.as_mut(), targets, None)
    }
}

impl<L: FitSums + Clone> Learner<L, Labels> {
    /// As for numbers; the labels of these rows are the classes.
    pub fn start<D: LabelledData>(&self, data: D) -> Result<Growing<L, Labels, Vec<D::Label>>> {
        let (mut source, names) = data.into_labelled()?;
        self.begin_sums(source.as_mut(), |survey, _| Targets::classes(survey), names)
    }
}

impl<L: FitSums + FitRows + Clone> Learner<L, RowsAlone> {
    /// As for numbers, of rows alone.
    pub fn start<D: RowData>(&self, rows: D) -> Result<Growing<L, RowsAlone, L::Predicted>> {
        let mut source = rows.into_rows()?;
        self.begin_sums(source.as_mut(), |_, _| Ok(Targets::none()), None)
    }
}

impl<L: FitSums, P: Predicted> Growing<L, Numbers, P> {
    /// Adds rows. Errors when they are other columns or targets, and on rows that cannot be read;
    /// the sums then are as before.
    pub fn add<D: TrainingData<Predicted = P>>(&mut self, data: D) -> Result<()> {
        self.take_up(data.into_source()?.as_mut())
    }

    /// Forgets rows that were added. Errors as [`Self::add`] does, and when there are fewer rows
    /// than that.
    pub fn forget<D: TrainingData<Predicted = P>>(&mut self, data: D) -> Result<()> {
        self.take_out(data.into_source()?.as_mut())
    }
}

impl<L: FitSums, N: FromLabel> Growing<L, Labels, Vec<N>> {
    /// Adds rows. Errors as for numbers, and on a label that the first rows did not have.
    pub fn add<D: LabelledData<Label = N>>(&mut self, data: D) -> Result<()> {
        let mut source = renumbered(data, self.basis.class_names.as_deref())?;
        self.take_up(source.as_mut())
    }

    /// Forgets rows that were added. Errors as [`Self::add`] does, and when there are fewer rows
    /// than that.
    pub fn forget<D: LabelledData<Label = N>>(&mut self, data: D) -> Result<()> {
        let mut source = renumbered(data, self.basis.class_names.as_deref())?;
        self.take_out(source.as_mut())
    }
}

impl<L: FitSums + FitRows> Growing<L, RowsAlone, L::Predicted> {
    /// Adds rows. Errors when they are other columns, and on rows that cannot be read; the sums
    /// then are as before.
    pub fn add<D: RowData>(&mut self, rows: D) -> Result<()> {
        self.take_up(rows.into_rows()?.as_mut())
    }

    /// Forgets rows that were added. Errors as [`Self::add`] does, and when there are fewer rows
    /// than that.
    pub fn forget<D: RowData>(&mut self, rows: D) -> Result<()> {
        self.take_out(rows.into_rows()?.as_mut())
    }
}
