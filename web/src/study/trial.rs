//! A fit in steps, and what came of it.

use super::{held::Held, look, on_cpu, settled::Drawn};
use crate::errors::{thrown, wrong};
use bochner::{
    Device, Error, Result, Run,
    data::ChunkSource,
    models::{
        AmountScores, FitSums, Label, LabelScores, LinearModel, Ranges, RidgeOptions, RidgeSums,
        RowsToSum, Sums, Targets,
    },
};
use js_sys::{Array, Float64Array};
use ndarray::Array2;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// Rows of a step: sums that are cut there have the bits of those that are not.
const STEP: usize = 1 << 14;
/// Held-out rows that are drawn.
const POINTS: usize = 2000;

/// A fit that is on its way. `free` ends it.
#[wasm_bindgen]
pub struct Trial {
    drawn: Drawn,
    train: Held,
    test: Held,
    command: String,
    run: Run,
    sums: Option<RidgeSums>,
    next: usize,
}

impl Trial {
    pub(super) fn new(
        drawn: Drawn,
        (train, test): (Held, Held),
        command: String,
        device: &Device,
    ) -> Self {
        Self {
            drawn,
            train,
            test,
            command,
            run: Run::on(device),
            sums: None,
            next: 0,
        }
    }

    async fn sum_more(&mut self) -> Result<()> {
        let mut part = self.train.part(self.next, STEP);
        self.next += part.len();
        let basis = &self.drawn.basis;
        let mut rescaled;
        let source: &mut dyn ChunkSource = match &basis.rescaled {
            Some(of) => {
                rescaled = of.rows(&mut part);
                &mut rescaled
            }
            None => &mut part,
        };
        let data = RowsToSum {
            source,
            targets: &basis.targets,
            kernel: basis.kernel.as_ref(),
            seed: basis.seed,
            run: &self.run,
        };
        let learner = RidgeOptions::default();
        let sums = learner.sum_later(basis.map.as_ref(), data).await?;
        match &mut self.sums {
            Some(all) => all.merge(&sums)?,
            none => *none = Some(sums),
        }
        Ok(())
    }

    fn model(&mut self) -> Result<LinearModel> {
        let sums = self.sums.take().filter(|_| self.next == self.train.len());
        let early = || Error::unsupported("rows are left to sum; call step until it says so");
        let (sums, learner) = (sums.ok_or_else(early)?, RidgeOptions::default());
        let basis = &self.drawn.basis;
        let mut model = basis.model(&learner, &on_cpu(), |map, known| {
            FitSums::model(&learner, map, sums, known)
        })?;
        model.name_columns(&self.train);
        model.ranges = Some(Ranges::from_survey(&self.drawn.survey));
        Ok(model)
    }
}

#[wasm_bindgen]
impl Trial {
    /// Sums a few thousand rows more on the study's device, and says whether there are others left.
    pub async fn step(&mut self) -> std::result::Result<bool, JsValue> {
        if self.next < self.train.len() {
            self.sum_more().await.map_err(|e| thrown(&e))?;
        }
        Ok(self.next < self.train.len())
    }

    /// The share of the rows that are summed.
    #[wasm_bindgen(getter)]
    pub fn progress(&self) -> f64 {
        self.next as f64 / self.train.len() as f64
    }

    /// Solves for the coefficients and scores the rows held out.
    pub fn finish(mut self) -> std::result::Result<Outcome, JsValue> {
        let model = self.model().map_err(|e| thrown(&e))?;
        Outcome::of(model, self.test, self.command).map_err(|e| thrown(&e))
    }
}

/// A model, and how well it predicts rows held out.
#[wasm_bindgen]
pub struct Outcome {
    model: LinearModel,
    test: Held,
    command: String,
    predicted: Array2<f64>,
    /// Each with its deviation.
    scores: Vec<(&'static str, f64, f64)>,
}

impl Outcome {
    fn of(model: LinearModel, test: Held, command: String) -> Result<Self> {
        let (x, y_nt) = test.arrays();
        let mut predictor = model.on(on_cpu())?;
        let raw_nt = predictor.scores(&x)?;
        let predicted = model.decide(raw_nt.clone());
        let scores = match &model.targets {
            Targets::Classes(labels) => {
                let mut scores = LabelScores::new(labels);
                scores.add(predicted.view(), raw_nt.view(), y_nt.view())?;
                vec![("accuracy", scores.accuracy())]
            }
            Targets::Real { .. } => {
                let mut scores = AmountScores::new(1);
                scores.add(predicted.view(), y_nt.view())?;
                let of = scores.of_target(0);
                let of = |take: fn(bochner::models::AmountScore) -> _| of.and_then(take);
                vec![
                    ("r2", of(|of| of.r2)),
                    ("rmse", of(|of| of.rmse)),
                    ("mae", of(|of| of.mae)),
                ]
            }
        };
        drop(predictor);
        let scores = scores.into_iter();
        let scores = scores.filter_map(|(name, of)| Some((name, of?.value, of?.deviation)));
        Ok(Self {
            scores: scores.collect(),
            model,
            test,
            command,
            predicted,
        })
    }

    fn name_of(&self, class: f64) -> JsValue {
        match self.model.label(class) {
            Label::Number(number) => number.to_string().into(),
            Label::Text(text) => text.into(),
        }
    }
}

#[wasm_bindgen]
impl Outcome {
    /// Names of scores, the first the one to look at.
    #[wasm_bindgen(getter)]
    pub fn scores(&self) -> Vec<String> {
        self.scores
            .iter()
            .map(|(name, ..)| (*name).to_owned())
            .collect()
    }

    /// Each score with its standard deviation, one after the other.
    #[wasm_bindgen(getter)]
    pub fn values(&self) -> Vec<f64> {
        let all = self.scores.iter();
        all.flat_map(|&(_, value, deviation)| [value, deviation])
            .collect()
    }

    /// The features that the model has.
    #[wasm_bindgen(getter)]
    pub fn features(&self) -> usize {
        self.model.map.output_dim()
    }

    /// The map in one line.
    #[wasm_bindgen(getter)]
    pub fn map(&self) -> String {
        self.model.map.describe()
    }

    /// The penalty that was chosen.
    #[wasm_bindgen(getter)]
    pub fn lambda(&self) -> f64 {
        self.model.lambda
    }

    /// The command that fits and scores the same.
    #[wasm_bindgen(getter)]
    pub fn command(&self) -> String {
        self.command.clone()
    }

    /// What was predicted and what was there, of at most 2,000 of the rows held out.
    #[wasm_bindgen(getter, unchecked_return_type = "Float64Array")]
    pub fn points(&self) -> Float64Array {
        let (_, y_nt) = self.test.arrays();
        let every = y_nt.nrows().div_ceil(POINTS);
        let rows = self.predicted.rows().into_iter().zip(y_nt.rows());
        let points: Vec<f64> = rows
            .step_by(every)
            .flat_map(|(p, y)| [p[0], y[0]])
            .collect();
        Float64Array::from(&*points)
    }

    /// The labels of a classifier, in the order of `confusion`.
    #[wasm_bindgen(getter, unchecked_return_type = "string[] | undefined")]
    pub fn labels(&self) -> JsValue {
        match &self.model.targets {
            Targets::Classes(all) => all
                .iter()
                .map(|&c| self.name_of(c))
                .collect::<Array>()
                .into(),
            Targets::Real { .. } => JsValue::UNDEFINED,
        }
    }

    /// How many rows of each class, row after row, were taken for each.
    #[wasm_bindgen(getter, unchecked_return_type = "Float64Array | undefined")]
    pub fn confusion(&self) -> JsValue {
        let Targets::Classes(all) = &self.model.targets else {
            return JsValue::UNDEFINED;
        };
        let (_, y_nt) = self.test.arrays();
        let place = |label: f64| all.iter().position(|&class| class == label);
        let mut counts = Array2::<f64>::zeros((all.len(), all.len()));
        for (p, y) in self.predicted.column(0).iter().zip(y_nt.column(0)) {
            if let (Some(row), Some(column)) = (place(*y), place(*p)) {
                counts[[row, column]] += 1.0;
            }
        }
        Float64Array::from(&*counts.into_raw_vec_and_offset().0).into()
    }

    /// The columns of the table that are features.
    #[wasm_bindgen(getter)]
    pub fn columns(&self) -> Vec<String> {
        let columns = look::columns(&self.test);
        columns.into_iter().map(|column| column.name).collect()
    }

    /// By how much predictions of rows held out move where a column is shuffled among them: the
    /// root of the mean square, over the deviation of what is predicted; of classes the share of
    /// rows that get another label. One number for each of `columns`.
    pub fn importance(&self) -> std::result::Result<Vec<f64>, JsValue> {
        look::importance(&self.model, &self.test).map_err(|e| thrown(&e))
    }

    /// What is predicted over two columns of numbers, in `steps` places of each from the smallest
    /// to the largest of the middle 98 % of the rows held out, all other columns at their medians.
    /// Of classes it is the score of one: of two the second, of more what is predicted at the
    /// medians.
    pub fn surface(
        &self,
        across: usize,
        up: usize,
        steps: usize,
    ) -> std::result::Result<Surface, JsValue> {
        if !(2..=200).contains(&steps) {
            return Err(wrong("a surface has from 2 to 200 steps"));
        }
        look::surface(&self.model, &self.test, [across, up], steps).map_err(|e| thrown(&e))
    }

    /// Rows held out as the numbers that a model takes, at most so many, one after the other: what
    /// `Model.scores` predicts of on another device.
    #[wasm_bindgen(js_name = heldOut)]
    pub fn held_out(&self, most: usize) -> Vec<f64> {
        let (x, _) = self.test.part(0, most).arrays();
        x.into_f64().into_raw_vec_and_offset().0
    }

    /// Which of `columns` are plain numbers.
    #[wasm_bindgen(getter)]
    pub fn numbers(&self) -> Vec<usize> {
        let columns = look::columns(&self.test).into_iter().enumerate();
        let numbers = columns.filter(|(_, column)| column.is_number);
        numbers.map(|(j, _)| j).collect()
    }

    /// The bytes of the model's file.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> std::result::Result<Vec<u8>, JsValue> {
        self.model.to_bytes().map_err(|e| thrown(&e))
    }
}

/// Predictions over two columns.
#[wasm_bindgen(getter_with_clone)]
pub struct Surface {
    /// Places along the first column.
    pub across: Vec<f64>,
    /// Places along the second.
    pub up: Vec<f64>,
    /// What is predicted there, a row for each place of the second.
    pub values: Vec<f64>,
    /// The label of which they are the scores.
    pub of: Option<String>,
}
