//! Independent fits to the parts of a map; the prediction is their mean.

use crate::{
    Error, Result,
    features::{self, FeatureMap, Structure},
    learn::{Fit, FitData, fit::left_out::keep_left_out},
    model::{Coefficients, FitTimes, LeftOutScores, LinearModel},
    settings::Settings,
    store::Store,
};
use ndarray::{Array1, Array2, Axis, concatenate};
use std::time::Duration;

/// Learners for the parts of a [`Union`](crate::features::Union), in their order, each with its
/// share of the mean; shares sum to 1: `f(x) = sum_i s_i (z_i(x)'beta_i + b_i)`, with beta_i and
/// b_i fitted to part i alone.
///
/// Fits on other draws of the same features have partly independent errors, which the mean of m
/// fits reduces (Breiman 1996 for bagging of rows). It takes m sums of `D^2` pairs instead of the
/// `(m D)^2` of one fit to all features.
#[derive(Debug)]
pub(in crate::learn) struct Apart {
    parts: Vec<(Box<dyn Fit>, f64)>,
    /// Scores of held-out rows, if the parts have no leave-one-out scores, or if these would come
    /// from known groups.
    held_out: Option<LeftOutScores>,
}

impl Apart {
    pub(in crate::learn) fn new(parts: Vec<(Box<dyn Fit>, f64)>) -> Self {
        Self {
            parts,
            held_out: None,
        }
    }

    /// Sets scores for probabilities and intervals, which replace the leave-one-out scores of the
    /// parts.
    pub(in crate::learn) fn judged_by(self, held_out: Option<LeftOutScores>) -> Self {
        Self { held_out, ..self }
    }

    fn most<T: Ord + Default>(&self, of: impl Fn(&dyn Fit) -> T) -> T {
        let all = self.parts.iter().map(|(fit, _)| of(fit.as_ref()));
        all.max().unwrap_or_default()
    }
}

impl Fit for Apart {
    /// The settings of the first part.
    fn settings(&self) -> Settings {
        match self.parts.first() {
            Some((fit, _)) => fit.settings(),
            None => Settings::of_learner("custom"),
        }
    }

    fn takes_weights(&self) -> bool {
        self.parts.iter().all(|(fit, _)| fit.takes_weights())
    }

    fn has_options_in_target_units(&self) -> bool {
        self.parts
            .iter()
            .any(|(fit, _)| fit.has_options_in_target_units())
    }

    fn is_least_squares(&self) -> bool {
        self.parts.iter().all(|(fit, _)| fit.is_least_squares())
    }

    fn row_bytes(&self, outputs: usize) -> usize {
        self.most(|fit| fit.row_bytes(outputs))
    }

    /// The size of one part: parts are fitted one at a time.
    fn square_bytes(&self, features: usize) -> u32 {
        self.most(|fit| fit.square_bytes(features))
    }

    fn kept_bytes(&self, size: (usize, usize), rows: Option<usize>) -> u64 {
        self.most(|fit| fit.kept_bytes(size, rows))
    }

    /// Errors with [`Error::Shape`] on maps of another number of parts, and as the learners do. A
    /// single learner takes any map.
    fn fit(&self, map: Box<dyn FeatureMap>, mut data: FitData<'_>) -> Result<LinearModel> {
        if let ([(fit, _)], Some(held_out)) = (&self.parts[..], &self.held_out) {
            let mut model = fit.fit(map, data)?;
            keep_left_out(&mut model, held_out.clone())?;
            return Ok(model);
        }
        let parts = match map.structure() {
            Structure::Union(union) => union.parts().collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        if parts.len() != self.parts.len() {
            return Err(Error::shape(format!(
                "{} fits are for as many maps side by side, there are {}",
                self.parts.len(),
                parts.len()
            )));
        }
        let mut mean = Mean {
            held_out: self.held_out.clone(),
            ..Mean::default()
        };
        for ((fit, share), (part, weight)) in self.parts.iter().zip(parts) {
            let model = fit_part(fit.as_ref(), part, &mut data)?;
            mean.add(model, *share, weight);
        }
        mean.model(map, data)
    }
}

/// Fits one part after rewinding the source.
fn fit_part(fit: &dyn Fit, map: &dyn FeatureMap, data: &mut FitData<'_>) -> Result<LinearModel> {
    data.source.rewind()?;
    let own = FitData {
        source: &mut *data.source,
        targets: data.targets.clone(),
        kernel: None,
        bandwidth: None,
        start: None,
        ..*data
    };
    fit.fit(again(map)?, own)
}

/// Mean of fits.
#[derive(Default)]
struct Mean {
    /// Coefficients of the parts, in order.
    betas: Vec<Array2<f64>>,
    intercept_t: Option<Array1<f64>>,
    /// The penalty of the first fit.
    lambda: Option<f64>,
    rows: u64,
    accumulate: Duration,
    solve: Duration,
    /// Leave-one-out scores of each fit that has some, with its share.
    left_out: Vec<(LeftOutScores, f64)>,
    held_out: Option<LeftOutScores>,
}

impl Mean {
    /// Adds the fit of a part with its share. `weight` is the weight of the part in the union,
    /// whose features are scaled by its root.
    fn add(&mut self, model: LinearModel, share: f64, weight: f64) {
        let Coefficients {
            beta_dt,
            intercept_t,
        } = model.coefficients;
        self.betas.push(beta_dt * (share / weight.sqrt()));
        let own_t = intercept_t * share;
        self.intercept_t = Some(match self.intercept_t.take() {
            Some(sum_t) => sum_t + own_t,
            None => own_t,
        });
        self.lambda = self.lambda.or(Some(model.lambda));
        self.rows = model.rows;
        self.left_out
            .extend(model.left_out.map(|rows| (rows, share)));
        if let Some(times) = model.times {
            self.accumulate += times.accumulate;
            self.solve += times.solve;
        }
    }

    fn model(self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let all_left_out = self.left_out.len() == self.betas.len();
        let left_out = all_left_out.then(|| LeftOutScores::mean(&self.left_out));
        let views: Vec<_> = self.betas.iter().map(|beta_dt| beta_dt.view()).collect();
        let beta_dt = concatenate(Axis(0), &views).map_err(|e| Error::shape(e.to_string()))?;
        let coefficients = Coefficients {
            beta_dt,
            intercept_t: self.intercept_t.unwrap_or_default(),
        };
        let mut model = LinearModel {
            lambda: self.lambda.unwrap_or(0.0),
            rows: self.rows,
            times: Some(FitTimes {
                accumulate: self.accumulate,
                solve: self.solve,
            }),
            ..LinearModel::new(map, coefficients, data.targets, &data.run.device)
        };
        // What a mean without one row says is the mean of what they say without it.
        if let Some(left_out) = self.held_out.or(left_out.flatten()) {
            keep_left_out(&mut model, left_out)?;
        }
        Ok(model)
    }
}

/// Copies a map by a round trip through its serialized form.
pub(in crate::learn) fn again(map: &dyn FeatureMap) -> Result<Box<dyn FeatureMap>> {
    let mut store = Store::default();
    map.write(&mut store)?;
    features::read(&store)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        data::{ChunkSource, MemorySource, Survey},
        features::{Affine, Fourier, Union},
        kernels::Gaussian,
        learn::{Lambda, RidgeOptions},
        model::Targets,
        seed::Seed,
    };

    /// Predictions are the weighted mean of single fits by their shares, for any weights of the
    /// parts.
    #[test]
    fn predictions_are_the_mean_of_single_fits() {
        let x =
            ndarray::Array2::from_shape_fn((90, 2), |(i, j)| ((i * (5 * j + 3)) % 37) as f64 / 9.0);
        let y = x.map_axis(Axis(1), |x| (x[0] + 0.5 * x[1]).sin() + 2.0);
        let run = Run::on(&Device::cpu());
        let mut source = MemorySource::new(&x, Some(y.insert_axis(Axis(1)))).expect("finite");
        let survey = Survey::new(&mut source, 90, 0).expect("surveys");
        let ridge = || {
            Box::new(RidgeOptions {
                lambda: Lambda::Fixed(1e-4),
                ..RidgeOptions::default()
            })
        };
        let draw = |seed: u64| -> Box<dyn FeatureMap> {
            let map = Fourier::new(Gaussian).features(20).seed(Seed(seed));
            Box::new(map.build(Affine::identity(2)).expect("draws"))
        };
        let mut fit = |fit: &dyn Fit, map: Box<dyn FeatureMap>| {
            source.rewind().expect("rewinds");
            let data = FitData {
                source: &mut source,
                survey: &survey,
                targets: Targets::real(&survey),
                kernel: None,
                bandwidth: None,
                start: None,
                seed: Seed(0),
                run: &run,
            };
            fit.fit(map, data)
        };
        let rows = crate::data::Rows::from(&x);
        let predicted = |model: &LinearModel| {
            let mut predictor = model.on(&run).expect("loads");
            predictor.scores(&rows).expect("predicts")
        };
        let single =
            [0, 1].map(|seed| predicted(&fit(ridge().as_ref(), draw(seed)).expect("fits")));
        let union = Union::new(vec![(draw(0), 1.0), (draw(1), 4.0)]).expect("two");
        let apart = Apart::new(vec![(ridge(), 0.3), (ridge(), 0.7)]);
        let model = fit(&apart, Box::new(union)).expect("fits");
        let expected = 0.3 * &single[0] + 0.7 * &single[1];
        let off = (predicted(&model) - &expected).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(off < 1e-5, "{off}");
        assert!((&single[0] - &single[1]).fold(0.0, |m: f64, v| m.max(v.abs())) > 1e-3);
        assert_eq!((model.rows, model.lambda), (90, 1e-4));
        // Leave-one-out scores are the mean over single fits.
        let alone = [0, 1].map(|seed| fit(ridge().as_ref(), draw(seed)).expect("fits"));
        let errors = |model: &LinearModel| {
            let rows = model.left_out.as_ref().expect("rows left out");
            rows.error_mt.clone()
        };
        let expected = 0.3 * errors(&alone[0]) + 0.7 * errors(&alone[1]);
        let off = (errors(&model) - expected).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(off < 1e-12 && model.conformal.is_some(), "{off}");
        // The memory plan counts one part at a time.
        assert_eq!(apart.square_bytes(20), ridge().square_bytes(20));
        // A map with another number of parts, or without parts, is an error.
        assert!(fit(&apart, draw(0)).is_err());
    }
}
