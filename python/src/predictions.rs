//! Predictions of a model: outputs, probabilities, standard deviations, distances.

use crate::{
    asked::Asked,
    calls::device,
    model::Model,
    views::{Source, TableView},
};
use bochner::{
    Error, Result, Run,
    features::Transformer,
    models::{LinearModel, Predictor, Targets},
};
use ndarray::{Array2, ArrayView1, s};
use self_cell::self_cell;
use std::sync::{Arc, PoisonError};

pub(crate) type SharedModel = Arc<LinearModel>;

self_cell!(
    /// A model, and its predictor on a device.
    pub(crate) struct Loaded {
        owner: SharedModel,
        #[not_covariant]
        dependent: Predictor,
    }
);

/// Inputs of up to this many values are copied at once instead of streamed with a reader thread.
const FEW_VALUES: usize = 1 << 16;

/// Number of feature values in memory at once, to compute norms.
const BLOCK_VALUES: usize = 1 << 22;

/// Number of rows between two checks for signals, for standard deviations.
const DEVIATION_ROWS: usize = 1 << 14;

/// Interval level if only the deviations are used; any value works.
const LEVEL: f64 = 0.5;

impl Model {
    /// Outputs for rows, `[n, t]`, with the cached predictor if device and memory are unchanged.
    pub(crate) fn scores_of(
        &self,
        view: TableView<'_>,
        mut asked: Asked<'_>,
    ) -> Result<Array2<f64>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{} {:?}", asked.device, asked.memory);
        let (_, cell) = match &mut *loaded {
            Some(there) if there.0 == key => there,
            other => other.insert((key, self.load(asked.device, asked.memory)?)),
        };
        let stop = asked.interrupt.flag();
        let tell = asked.tell();
        let result = cell.with_dependent_mut(|_, predictor| -> Result<Array2<f64>> {
            let finished = |scores_nt: Array2<f64>| match &self.model.targets {
                Targets::Real { .. } => self.model.decide(scores_nt),
                Targets::Classes(_) => scores_nt,
            };
            if view.rows() * view.columns() <= FEW_VALUES {
                return predictor.scores(&view.part(0..view.rows())?).map(finished);
            }
            let outputs = self.model.targets.outputs();
            let mut all = Array2::zeros((view.rows(), outputs));
            let mut at = 0;
            let mut source = Source::new(view, stop);
            predictor.stream_scores(&mut source, |scores_nt, _| {
                let rows = at..at + scores_nt.nrows();
                at = rows.end;
                all.slice_mut(s![rows, ..])
                    .assign(&finished(scores_nt.to_owned()));
                tell(at)
            })?;
            Ok(all)
        });
        if result.is_err() {
            *loaded = None;
        }
        result
    }

    /// Probabilities for rows, `[n, t]`.
    pub(crate) fn row_probabilities_of(
        &self,
        view: TableView<'_>,
        mut asked: Asked<'_>,
    ) -> Result<Array2<f64>> {
        let mut predictor = self.model.probabilities_on(asked.run()?)?;
        let mut all = Array2::zeros((view.rows(), self.model.targets.outputs()));
        let mut at = 0;
        let mut source = Source::new(view, asked.interrupt.flag());
        let tell = asked.tell();
        predictor.stream(&mut source, |_, p_nt, _| {
            let rows = at..at + p_nt.nrows();
            at = rows.end;
            all.slice_mut(s![rows, ..]).assign(&p_nt);
            tell(at)
        })?;
        Ok(all)
    }

    /// Predictions and the standard deviations of new targets, each `[n, t]`.
    pub(crate) fn deviations_of(
        &self,
        view: TableView<'_>,
        mut asked: Asked<'_>,
    ) -> Result<[Array2<f64>; 2]> {
        let mut predictor = self.model.intervals_on(asked.run()?)?;
        let outputs = self.model.targets.outputs();
        let mut all = [(); 2].map(|()| Array2::zeros((view.rows(), outputs)));
        let tell = asked.tell();
        for from in (0..view.rows()).step_by(DEVIATION_ROWS) {
            let rows = from..view.rows().min(from + DEVIATION_ROWS);
            let intervals = predictor.predict(&view.part(rows.clone())?, LEVEL)?;
            let deviation = intervals
                .deviation_nt
                .ok_or_else(|| Error::unsupported("this model has no deviations"))?;
            for (all, part) in all.iter_mut().zip([intervals.predicted_nt, deviation]) {
                all.slice_mut(s![rows.clone(), ..]).assign(&part);
            }
            tell(rows.end)?;
        }
        Ok(all)
    }

    /// Squared distances from the span of the principal components, `[n]`.
    pub(crate) fn reconstruction_errors_of(
        &self,
        view: TableView<'_>,
        mut asked: Asked<'_>,
    ) -> Result<Vec<f64>> {
        let run = asked.run()?;
        let mut all = Vec::with_capacity(view.rows());
        let mut source = Source::new(view, asked.interrupt.flag());
        let tell = asked.tell();
        (self.model).reconstruction_errors(&mut source, run, |errors_n| {
            all.extend(&errors_n);
            tell(all.len())
        })?;
        Ok(all)
    }

    /// `|z(x)|^2`, `[n]`.
    pub(crate) fn squared_norms_of(
        &self,
        view: TableView<'_>,
        mut asked: Asked<'_>,
    ) -> Result<Vec<f64>> {
        let map = self.model.map.as_ref();
        let width = map.output_dim();
        let mut transformer = Transformer::new(map, &asked.run()?)?;
        let block = (BLOCK_VALUES / width.max(1)).max(1);
        let mut norms = Vec::with_capacity(view.rows());
        let mut z_nd = Array2::<f32>::zeros((block.min(view.rows()), width));
        let tell = asked.tell();
        for from in (0..view.rows()).step_by(block) {
            let rows = from..view.rows().min(from + block);
            let mut z_nd = z_nd.slice_mut(s![..rows.len(), ..]);
            transformer.rows(&view.part(rows)?, z_nd.view_mut())?;
            let square = |z: ArrayView1<'_, f32>| z.fold(0.0, |sum, &z| sum + f64::from(z).powi(2));
            norms.extend(z_nd.rows().into_iter().map(square));
            tell(norms.len())?;
        }
        Ok(norms)
    }

    fn load(&self, name: &str, memory: Option<u64>) -> Result<Loaded> {
        let run = Run::on(&device(name)?).memory(memory.unwrap_or(Run::DEFAULT_MEMORY));
        Loaded::try_new(self.model.clone(), |model| model.on(&run))
    }
}
