//! Ridge regressions that grow: rows are added and forgotten, and a model is there at any time.

use super::{
    FitTimes, FromLabel, LabelledData, Labels, Learner, LinearModel, Model, Numbers, Predicted,
    RidgeOptions, TrainingData,
};
use crate::clock::Instant;
use crate::{
    Device, Error, Result,
    data::{Chunk, ChunkSource, Survey},
    features::{Bandwidth, FeatureMap},
    flow::Run,
    normal::{NormalEquations, Targets},
    solve::Intercept,
};
use std::{marker::PhantomData, sync::Arc};

/// The sums of a ridge regression that goes on: [`Learner::start`] draws the map and decides what
/// the targets are by the first rows, and both stay as they are. Adding rows takes what their fit
/// would, a model one factor of `D^3 / 3` operations, whatever the number of rows.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::Array::from_shape_fn((300, 1), |(i, _)| (i * 7 % 300) as f64 / 60.0);
/// let y = x.column(0).mapv(f64::sin);
/// let part = |from: usize, to: usize| {
///     (x.slice(ndarray::s![from..to, ..]).to_owned(), y.slice(ndarray::s![from..to]).to_owned())
/// };
/// let ridge = Ridge::on(Fourier::new(Gaussian).features(50));
/// let (first_x, first_y) = part(0, 100);
/// let mut state = ridge.start((&first_x, &first_y))?;
/// let (more_x, more_y) = part(100, 300);
/// state.add((&more_x, &more_y))?;
/// assert_eq!(state.rows(), 300);
/// let model = state.model(1e-6)?;
/// assert!((model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.02));
/// state.forget((&first_x, &first_y))?;
/// assert_eq!(state.rows(), 200);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct RidgeState<T, P> {
    map: Arc<dyn FeatureMap>,
    targets: Targets,
    names: Option<Vec<String>>,
    sums: NormalEquations,
    intercept: Intercept,
    run: Run,
    predicts: PhantomData<(T, P)>,
}

impl<T, P: Predicted> RidgeState<T, P> {
    /// Number of rows that the sums are of.
    pub fn rows(&self) -> u64 {
        self.sums.rows
    }

    /// The map that the first rows gave.
    pub fn map(&self) -> &dyn FeatureMap {
        self.map.as_ref()
    }

    /// The sums, to merge or keep elsewhere.
    pub fn sums(&self) -> &NormalEquations {
        &self.sums
    }

    fn summed(&self, source: &mut dyn ChunkSource) -> Result<NormalEquations> {
        NormalEquations::accumulate(self.map.as_ref(), source, &self.targets, &self.run)
    }

    /// The ridge regression of the rows so far, with this penalty per sample. Classes are those of
    /// the first rows.
    ///
    /// Errors as [`Cholesky::solve`](crate::solve::Cholesky::solve) does, and with [`Error::Shape`]
    /// when all rows are forgotten.
    pub fn model(&self, lambda: f64) -> Result<Model<P>> {
        let start = Instant::now();
        let solved = self.intercept.solve(lambda, &self.sums)?;
        let (coefficients, dimension) = solved;
        let (map, targets) = (Box::new(self.map.clone()), self.targets.clone());
        let device: &Device = &self.run.device;
        let mut model = LinearModel {
            lambda,
            rows: self.sums.rows,
            class_names: self.names.clone(),
            times: Some(FitTimes {
                accumulate: std::time::Duration::ZERO,
                solve: start.elapsed(),
            }),
            ..LinearModel::new(map, coefficients, targets, device)
        };
        let name = "effective_dimension".to_owned();
        model.facts.extend(dimension.map(|d| (name, d)));
        Ok(Model::new(model, device.clone(), self.run.memory))
    }
}

impl<T> Learner<RidgeOptions, T> {
    fn begin<P: Predicted>(
        &self,
        source: &mut dyn ChunkSource,
        targets: impl FnOnce(&Survey) -> Result<Targets>,
        names: Option<Vec<String>>,
    ) -> Result<RidgeState<T, P>> {
        self.job.any().check_parts(source.is_weighted())?;
        let run = self.settings.run()?;
        let (survey, drawn) = (self.job.preparation).prepare(source, Bandwidth::Scale, &run)?;
        let targets = targets(&survey)?;
        let map: Arc<dyn FeatureMap> = Arc::from(drawn.map);
        Ok(RidgeState {
            sums: NormalEquations::accumulate(map.as_ref(), source, &targets, &run)?,
            map,
            targets,
            names,
            intercept: self.job.learner.added(),
            run,
            predicts: PhantomData,
        })
    }
}

impl Learner<RidgeOptions, Numbers> {
    /// Begins a regression that goes on: scales, bandwidth and map come from these rows, which are
    /// the first to be summed. The penalty is chosen with each [`RidgeState::model`].
    ///
    /// Errors as [`Learner::fit`] does, and with [`Error::Unsupported`] for maps whose features
    /// cannot be stored.
    pub fn start<D: TrainingData>(&self, data: D) -> Result<RidgeState<Numbers, D::Predicted>> {
        let mut source = data.into_source()?;
        self.begin(source.as_mut(), |survey| Ok(Targets::real(survey)), None)
    }
}

impl Learner<RidgeOptions, Labels> {
    /// As for numbers; the labels of these rows are the classes.
    pub fn start<D: LabelledData>(&self, data: D) -> Result<RidgeState<Labels, Vec<D::Label>>> {
        let (mut source, names) = data.into_labelled()?;
        self.begin(source.as_mut(), Targets::classes, names)
    }
}

impl<P: Predicted> RidgeState<Numbers, P> {
    /// Adds rows. Errors when they are other columns or targets, and as [`Learner::fit`] does on
    /// rows that cannot be read; the sums then are as before.
    pub fn add<D: TrainingData<Predicted = P>>(&mut self, data: D) -> Result<()> {
        let more = self.summed(data.into_source()?.as_mut())?;
        self.sums.merge(&more)
    }

    /// Forgets rows that were added. Errors as [`Self::add`] does, and when there are fewer rows
    /// than that.
    pub fn forget<D: TrainingData<Predicted = P>>(&mut self, data: D) -> Result<()> {
        let less = self.summed(data.into_source()?.as_mut())?;
        self.sums.subtract(&less)
    }
}

impl<L: FromLabel> RidgeState<Labels, Vec<L>> {
    /// Adds rows. Errors as for numbers, and on a label that the first rows did not have.
    pub fn add<D: LabelledData<Label = L>>(&mut self, data: D) -> Result<()> {
        let more = self.summed(renumbered(data, self.names.as_deref())?.as_mut())?;
        self.sums.merge(&more)
    }

    /// Forgets rows that were added. Errors as [`Self::add`] does, and when there are fewer rows
    /// than that.
    pub fn forget<D: LabelledData<Label = L>>(&mut self, data: D) -> Result<()> {
        let less = self.summed(renumbered(data, self.names.as_deref())?.as_mut())?;
        self.sums.subtract(&less)
    }
}

/// Rows with labels, numbered as the `known` names if the labels are text. Errors on a label that
/// is none of them.
pub(super) fn renumbered<'a, D: LabelledData + 'a>(
    data: D,
    known: Option<&[String]>,
) -> Result<Box<dyn ChunkSource + 'a>> {
    let (source, names) = data.into_labelled()?;
    let (Some(known), Some(names)) = (known, names) else {
        return Ok(source);
    };
    let place = |name: &String| {
        let place = known.iter().position(|k| k == name).map(|i| i as f64);
        place.ok_or_else(|| {
            let problem = format!("label {name:?} is none of the classes {known:?}");
            Error::data("y", problem)
        })
    };
    let codes = names.iter().map(place).collect::<Result<_>>()?;
    Ok(Box::new(Renumbered { source, codes }))
}

/// Labels that count names in their own order, as numbers of other names.
struct Renumbered<'a> {
    source: Box<dyn ChunkSource + 'a>,
    codes: Vec<f64>,
}

impl ChunkSource for Renumbered<'_> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else {
            return Ok(None);
        };
        chunk.y.mapv_inplace(|code| self.codes[code as usize]);
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        self.source.rewind()
    }
    fn is_weighted(&self) -> bool {
        self.source.is_weighted()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
}
