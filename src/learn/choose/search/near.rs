//! Metric by which nearest neighbours predict the targets of training rows.

use super::{
    SearchData,
    score::CHUNK,
    trials::{HELD_OUT, Sample, seed_of_split},
};
use crate::{
    Error, Result,
    data::{ChunkSource, Part},
    learn::choose::metric::Neighbours,
    model::{LearnedMetric, Metric, Targets},
};
use ndarray::{Array1, Array2, Axis, concatenate};

impl Sample<'_> {
    /// Returns lengthscales of prepared columns by [`Neighbours::weights`] on the training rows of
    /// the sample; `None` if neighbours do not predict the targets.
    pub(super) fn near(&mut self, scaling: usize) -> Result<Option<LearnedMetric>> {
        let SearchData {
            targets,
            survey,
            seed,
            ..
        } = self.data;
        let deviation_t = match targets {
            Targets::Real { .. } => self.variance_t.iter().map(|v| v.sqrt()).collect(),
            Targets::Classes(_) => Array1::ones(targets.outputs()),
        };
        let (mut vs, mut ys, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let input = &self.prepared[scaling].input;
        let of = (HELD_OUT, seed_of_split(seed, 0));
        let mut fitted = self.parting.take(self.rows.as_mut(), Part::Train, of)?;
        while let Some(chunk) = fitted.next_chunk(CHUNK)? {
            vs.push(input.apply(&chunk.x)?);
            ys.push(targets.encode(chunk.y.view())? / &deviation_t);
            counts.extend(chunk.weights.into_iter().flatten());
        }
        self.rows.rewind()?;
        let (v_nd, y_nt) = (stacked(&vs)?, stacked(&ys)?);
        let counts = (!counts.is_empty()).then(|| Array1::from(counts));
        let of = Neighbours::new(&v_nd, &y_nt, counts.as_ref().map(|counts| counts.view()));
        let Some(weights_d) = of.weights(seed) else {
            return Ok(None);
        };
        let squares_dd = Array2::from_diag(&weights_d.mapv(|a| a * a));
        let metric = LearnedMetric::from_matrix(&squares_dd, Metric::Diagonal.into())?;
        Ok(Some(metric.named(survey.names.clone())))
    }
}

fn stacked(parts: &[Array2<f64>]) -> Result<Array2<f64>> {
    let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
    concatenate(Axis(0), &views).map_err(|fault| Error::shape(fault.to_string()))
}
