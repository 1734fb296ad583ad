//! A fitted model in a page.

use crate::{
    devices,
    errors::{thrown, wrong},
    options,
    rows::rows,
    table,
    work::{Ask, ask, start},
};
use bochner::{
    data::Rows,
    features::require_dense,
    models::{Label, LinearModel, Targets},
};
use futures_intrusive::channel::shared::Sender;
use js_sys::{Array, Float32Array, Float64Array, Promise};
use ndarray::Array2;
use std::rc::Rc;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::future_to_promise;

/// Reads a model file and loads it on a device.
///
/// Throws an `Error` of one line when the bytes are no model of this bochner or an older one, and
/// when the device is not to be had.
#[wasm_bindgen]
pub async fn load(
    bytes: Vec<u8>,
    #[wasm_bindgen(unchecked_optional_param_type = "LoadOptions")] options: JsValue,
) -> Result<Model, JsValue> {
    let linear = LinearModel::from_bytes(&bytes).map_err(|e| thrown(&e))?;
    Model::new(linear, &options).await
}

/// A fitted model, loaded on a device. `free` gives its memory back.
#[wasm_bindgen]
pub struct Model {
    linear: Rc<LinearModel>,
    asks: Rc<Sender<Ask>>,
    device: String,
    on_gpu: bool,
    note: Option<String>,
}

impl Model {
    /// Loads what was read or fitted.
    pub(crate) async fn new(linear: LinearModel, options: &JsValue) -> Result<Self, JsValue> {
        let name = options::text(options, "device")?.unwrap_or_else(|| "auto".into());
        // Bins are looked up on the host in the middle of a prediction, which a page cannot wait
        // for.
        let map = linear.map.as_ref();
        let binned = map.name() != "leaves" && require_dense(map).is_err();
        let (device, note) = match (binned, name.as_str()) {
            (true, "auto" | "gpu") => {
                let note = "bins are looked up on the CPU".to_owned();
                (bochner::Device::cpu(), Some(note))
            }
            _ => devices::open(&name).await.map_err(|e| thrown(&e))?,
        };
        let linear = Rc::new(linear);
        let asks = start(linear.clone(), device.clone()).await;
        Ok(Self {
            linear,
            asks: Rc::new(asks.map_err(|e| thrown(&e))?),
            on_gpu: device.is_gpu(),
            device: devices::describe(&device),
            note,
        })
    }

    /// Rows of this model.
    fn rows(&self, numbers: &JsValue, columns: usize) -> Result<Rows, JsValue> {
        let takes = self.linear.map.input_dim();
        if columns != takes {
            return Err(wrong(&format!(
                "the rows have {columns} columns, the model takes {takes}"
            )));
        }
        rows(numbers, columns)
    }
}

/// Labels, numbers or text, or values row after row.
fn predictions(linear: &LinearModel, scores_nt: Array2<f64>) -> JsValue {
    let y_nt = linear.decide(scores_nt);
    if linear.class_names.is_none() {
        return Float64Array::from(&*values(y_nt)).into();
    }
    let labels = y_nt.iter().map(|&y| label(linear, y));
    labels.collect::<Array>().into()
}

fn label(linear: &LinearModel, number: f64) -> JsValue {
    match linear.label(number) {
        Label::Number(number) => number.into(),
        Label::Text(text) => text.into(),
    }
}

fn values<T>(array: Array2<T>) -> Vec<T> {
    array.into_raw_vec_and_offset().0
}

#[wasm_bindgen]
impl Model {
    /// Columns of a row, as the map takes them.
    #[wasm_bindgen(getter)]
    pub fn columns(&self) -> usize {
        self.linear.map.input_dim()
    }

    /// Features of a row.
    #[wasm_bindgen(getter)]
    pub fn features(&self) -> usize {
        self.linear.map.output_dim()
    }

    /// Scores of a row: one for each class, or one for each target.
    #[wasm_bindgen(getter)]
    pub fn outputs(&self) -> usize {
        self.linear.coefficients.intercept_t.len()
    }

    /// The labels in the order of scores; `undefined` for a regression.
    #[wasm_bindgen(getter, unchecked_return_type = "(string | number)[] | undefined")]
    pub fn labels(&self) -> JsValue {
        let Targets::Classes(classes) = &self.linear.targets else {
            return JsValue::UNDEFINED;
        };
        let labels = classes.iter().map(|&class| label(&self.linear, class));
        labels.collect::<Array>().into()
    }

    /// What the columns were called, if they had names.
    #[wasm_bindgen(getter, js_name = columnNames)]
    pub fn column_names(&self) -> Option<Vec<String>> {
        self.linear.column_names.clone()
    }

    /// The map in one line.
    #[wasm_bindgen(getter)]
    pub fn map(&self) -> String {
        self.linear.map.describe()
    }

    /// What fitted it.
    #[wasm_bindgen(getter)]
    pub fn learner(&self) -> String {
        self.linear.learner.clone()
    }

    /// Where it predicts, in one line.
    #[wasm_bindgen(getter)]
    pub fn device(&self) -> String {
        self.device.clone()
    }

    /// Whether that is WebGPU.
    #[wasm_bindgen(getter, js_name = onGpu)]
    pub fn on_gpu(&self) -> bool {
        self.on_gpu
    }

    /// Why it is not, where it might have been.
    #[wasm_bindgen(getter)]
    pub fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// Values row after row, or one label a row.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float64Array | string[]>")]
    pub fn predict(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Numbers")] rows: JsValue,
        columns: usize,
    ) -> Promise {
        let (rows, linear) = (self.rows(&rows, columns), self.linear.clone());
        let asks = self.asks.clone();
        future_to_promise(async move {
            let scores = ask(&asks, rows?, Ask::Scores).await;
            Ok(predictions(&linear, scores.map_err(|e| thrown(&e))?))
        })
    }

    /// Raw outputs row after row: `outputs` of each.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float64Array>")]
    pub fn scores(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Numbers")] rows: JsValue,
        columns: usize,
    ) -> Promise {
        let (rows, asks) = (self.rows(&rows, columns), self.asks.clone());
        future_to_promise(async move {
            let scores = ask(&asks, rows?, Ask::Scores).await;
            let scores = values(scores.map_err(|e| thrown(&e))?);
            Ok(Float64Array::from(&*scores).into())
        })
    }

    /// Random features row after row: `features` of each.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array>")]
    pub fn featurize(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Numbers")] rows: JsValue,
        columns: usize,
    ) -> Promise {
        let (rows, asks) = (self.rows(&rows, columns), self.asks.clone());
        future_to_promise(async move {
            let z = ask(&asks, rows?, Ask::Features).await;
            let z = values(z.map_err(|e| thrown(&e))?);
            Ok(Float32Array::from(&*z).into())
        })
    }

    /// Predictions for a .csv file, as a .csv file of one line a row. Columns go by their names
    /// where file and model have some; text columns are what they were in the fit.
    #[wasm_bindgen(js_name = predictCsv, unchecked_return_type = "Promise<string>")]
    pub fn predict_csv(&self, name: String, bytes: Vec<u8>) -> Promise {
        let (linear, asks) = (self.linear.clone(), self.asks.clone());
        future_to_promise(async move {
            let predicted = table::predict(&linear, &asks, name, bytes).await;
            predicted.map(JsValue::from).map_err(|e| thrown(&e))
        })
    }

    /// The bytes of the model's file.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Result<Vec<u8>, JsValue> {
        self.linear.to_bytes().map_err(|e| thrown(&e))
    }
}
