//! Fits of small data, on the CPU: sums end in a factorisation there in any case.

use crate::{
    errors::{thrown, wrong},
    model::Model,
    options,
    rows::{floats, rows},
};
use bochner::{
    Device, Result,
    data::Rows,
    features::{Bandwidth, Fourier},
    kernels::Gaussian,
    models::{LinearModel, Ridge, RidgeClassifier},
    seed::Seed,
};
use js_sys::Array;
use ndarray::{Array1, Array2};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};

/// Fits ridge regression, or classification where targets are text, on random Fourier features of a
/// Gaussian kernel, and loads the model. It is the library's own fit: the same seed draws the same
/// parameters everywhere.
#[wasm_bindgen]
pub async fn fit(
    #[wasm_bindgen(unchecked_param_type = "Numbers")] numbers: JsValue,
    columns: usize,
    #[wasm_bindgen(unchecked_param_type = "Numbers | string[]")] targets: JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "FitOptions")] options: JsValue,
) -> std::result::Result<Model, JsValue> {
    let x_nd = rows(&numbers, columns)?;
    let choices = Choices::read(&options)?;
    let y = Labels::read(&targets)?;
    if y.len() != x_nd.nrows() {
        return Err(wrong(&format!(
            "{} targets for {} rows; give one a row",
            y.len(),
            x_nd.nrows()
        )));
    }
    let linear = choices.fit(x_nd, &y).map_err(|e| thrown(&e))?;
    Model::new(linear, &options).await
}

enum Labels {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

impl Labels {
    fn read(targets: &JsValue) -> std::result::Result<Self, JsValue> {
        let array = targets.dyn_ref::<Array>();
        let text = array.map(|a| a.iter().map(|v| v.as_string()).collect::<Option<Vec<_>>>());
        match text {
            Some(Some(labels)) if !labels.is_empty() => Ok(Self::Text(labels)),
            _ => floats(targets).map(Self::Numbers),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(labels) => labels.len(),
            Self::Numbers(values) => values.len(),
        }
    }
}

struct Choices {
    features: usize,
    gamma: Option<f64>,
    lambda: Option<f64>,
    seed: Seed,
    classify: bool,
}

impl Choices {
    fn read(options: &JsValue) -> std::result::Result<Self, JsValue> {
        Ok(Self {
            features: options::count(options, "features", 1)?.unwrap_or(500) as usize,
            gamma: options::number(options, "gamma")?,
            lambda: options::number(options, "lambda")?,
            seed: Seed(options::count(options, "seed", 0)?.unwrap_or(0).into()),
            classify: options::truth(options, "classify")?.unwrap_or(false),
        })
    }

    fn fit(&self, x_nd: Rows, y: &Labels) -> Result<LinearModel> {
        let x_nd: Array2<f64> = x_nd.into_f64();
        let bandwidth = self.gamma.map_or(Bandwidth::Median, Bandwidth::Gamma);
        let map = || Fourier::new(Gaussian).features(self.features);
        let cpu = Device::cpu();
        // A model is handed over as the bytes of its file, which hold all of it.
        let bytes = match y {
            Labels::Numbers(values) if !self.classify => {
                let learner = Ridge::on(map()).bandwidth(bandwidth).seed(self.seed);
                let learner = match self.lambda {
                    Some(lambda) => learner.lambda(lambda),
                    None => learner,
                };
                let y_n = Array1::from(values.clone());
                learner.device(&cpu).fit((&x_nd, &y_n))?.linear().to_bytes()
            }
            labels => {
                let learner = RidgeClassifier::on(map()).bandwidth(bandwidth);
                let learner = match self.lambda {
                    Some(lambda) => learner.lambda(lambda),
                    None => learner,
                };
                let learner = learner.seed(self.seed).device(&cpu);
                match labels {
                    Labels::Numbers(y) => learner.fit((&x_nd, y))?.linear().to_bytes(),
                    Labels::Text(y) => learner.fit((&x_nd, y))?.linear().to_bytes(),
                }
            }
        }?;
        LinearModel::from_bytes(&bytes)
    }
}
