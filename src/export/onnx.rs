//! Models as ONNX files, of standard operators alone (opset 17): runtimes of other languages,
//! phones and browsers run them.

mod bends;
mod digits;
mod features;
mod graph;
mod kernels;
mod protobuf;

use crate::{
    Error, Result,
    data::{Curve, Schema},
    model::{LinearModel, Link, Probabilities, Targets},
};
use graph::{Attribute, Entries, Graph, Value};
use ndarray::{Array1, ArrayView1, Axis};

/// What the input holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// f32, or f64 where f32 would lose digits of a column that the model goes by, as far as it
    /// knows the ranges of its columns. A warning names the column.
    #[default]
    Auto,
    /// f32, which most runtimes expect. A warning names a column whose digits it loses.
    Single,
    /// f64: for columns whose numbers are large beside what tells them apart, such as dates.
    Double,
}

impl Input {
    /// [`Self::Double`] or [`Self::Single`]: the type that the file of this model has.
    pub fn of_model(self, model: &LinearModel) -> Self {
        match self {
            Self::Auto if digits::coarse_column(model).is_some() => Self::Double,
            Self::Auto => Self::Single,
            given => given,
        }
    }

    /// Warns of a column whose digits f32 loses, unless f64 was asked for.
    fn warn(self, model: &LinearModel) {
        let Some((j, step)) = digits::coarse_column(model).filter(|_| self != Self::Double) else {
            return;
        };
        let column = match &model.column_names {
            Some(names) => format!("column {:?}", names[j]),
            None => format!("column {j} (counted from 0)"),
        };
        let cure = match self {
            Self::Auto => "the file takes and gives f64",
            _ => {
                "predictions of the file differ from the model's; export it in f64 (--double, \
                 double=)"
            }
        };
        log::warn!(
            "{column}: f32 goes in steps of {step} there, which is too coarse for this model; \
             {cure}"
        );
    }
}

/// The largest file that the format allows.
const MOST_BYTES: u64 = (1 << 31) - (1 << 20);

/// The names of what an ONNX file of this model gives, in order.
pub fn outputs(model: &LinearModel) -> &'static [&'static str] {
    match (&model.targets, &model.probabilities) {
        (Targets::Real { .. }, _) => &["values"],
        (Targets::Classes(_), None | Some(Probabilities::Averaged)) => &["label", "scores"],
        (Targets::Classes(_), Some(_)) => &["label", "scores", "probabilities"],
    }
}

impl LinearModel {
    /// The model as an ONNX file. Its one input is `X`, raw columns `[rows, d]`. A regressor, and
    /// every learner without classes, gives `values` `[rows, t]`; a classifier gives `label`
    /// `[rows]` (i64 where labels are whole numbers, else f64 or text), `scores` `[rows, classes]`,
    /// and `probabilities` where the model has some that scores give alone. Numbers that come out
    /// are of the type that went in.
    ///
    /// ```
    /// use bochner::{export::onnx::Input, prelude::*};
    /// use ndarray::array;
    /// let (x, y) = (array![[0.0], [1.0], [2.0], [3.0]], array![0.0, 1.0, 0.0, -1.0]);
    /// let model = Ridge::on(Fourier::new(Gaussian).features(8)).fit((&x, &y))?;
    /// let bytes = model.linear().to_onnx(Input::Auto)?;
    /// assert!(bytes.len() > 100);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors with [`Error::Unsupported`] for models of tables of text, dates or missing values,
    /// for maps without a [formula](crate::features::Formula) (random binning), for nonlinearities
    /// and kernels that standard operators do not give, and for models of 2 GiB.
    pub fn to_onnx(&self, input: Input) -> Result<Vec<u8>> {
        self.require_numbers()?;
        let formula = self.map.formula()?;
        input.warn(self);
        let outside = match input.of_model(self) {
            Input::Double => Entries::F64,
            Input::Auto | Input::Single => Entries::F32,
        };
        let mut graph = Graph::default();
        let u = self.prepared(&mut graph, outside);
        let z = features::features(&mut graph, &formula, &u)?;
        // Coefficients of f64, as many as there are features: what cancels between them stays.
        let z = graph.cast(&z, Entries::F64);
        let beta = graph.matrix(self.coefficients.beta_dt.view(), Entries::F64);
        let product = graph.apply("MatMul", &[&z, &beta]);
        let intercept = graph.row(self.coefficients.intercept_t.view(), Entries::F64);
        let scores = graph.apply("Add", &[&product, &intercept]);
        match &self.targets {
            Targets::Real { columns, .. } => {
                let values = self.link.as_ref().map_or_else(
                    || scores.clone(),
                    |link| linked(&mut graph, link, &scores, *columns),
                );
                let values = graph.cast(&values, outside);
                graph.output(&values, "values", Some(*columns));
            }
            Targets::Classes(labels) => self.classified(&mut graph, &scores, labels, outside),
        }
        if graph.bytes() > MOST_BYTES {
            return Err(Error::unsupported(format!(
                "the model takes {} MB, and an ONNX file holds 2 GiB; fit one with fewer features",
                graph.bytes() / 1_000_000
            )));
        }
        let mut facts = vec![
            ("learner", self.learner.clone()),
            ("map", self.map.describe()),
        ];
        let list = |names: &[String]| serde_json::json!(names).to_string();
        facts.extend(self.column_names.iter().map(|n| ("column_names", list(n))));
        facts.extend(self.target_names.iter().map(|n| ("target_names", list(n))));
        Ok(graph.into_model(&facts))
    }

    /// Errors unless rows are numbers as they are: what makes columns of text, dates and missing
    /// values is not in the file.
    fn require_numbers(&self) -> Result<()> {
        match self.schema.as_ref().and_then(Schema::first_of_no_number) {
            None => Ok(()),
            Some(name) => Err(Error::unsupported(format!(
                "the model makes numbers of column {name:?} (text, a date or missing values), which \
                 an ONNX file does not; fit to a table of numbers"
            ))),
        }
    }

    /// Rows as the map takes them: scaled in f64, then rounded to f32, as the library does.
    fn prepared(&self, graph: &mut Graph, outside: Entries) -> Value {
        let affine = self.map.input();
        let x = graph.input("X", outside, affine.columns());
        let x = graph.cast(&x, Entries::F64);
        let x = match affine.bends() {
            Some(bends) => bends::bent(graph, &x, bends),
            None => x,
        };
        let center = graph.row(ArrayView1::from(affine.center()), Entries::F64);
        let scale = graph.row(ArrayView1::from(affine.scale()), Entries::F64);
        let centred = graph.apply("Sub", &[&x, &center]);
        let mut u = graph.apply("Mul", &[&centred, &scale]);
        if let Some((factor, bound)) = affine.factor_and_bound() {
            let bound = graph.number(bound, Entries::F64);
            let above = graph.apply("Sub", &[&u, &bound]);
            let log = graph.apply("Log", &[&above]);
            let factor = graph.number(factor, Entries::F64);
            u = graph.apply("Mul", &[&log, &factor]);
        }
        graph.cast(&u, Entries::F32)
    }

    /// The label of the largest score, the scores and, where scores alone give them, probabilities.
    fn classified(&self, graph: &mut Graph, scores: &Value, labels: &[f64], outside: Entries) {
        let (axis, flat) = (Attribute::Int("axis", 1), Attribute::Int("keepdims", 0));
        let best = graph.apply_as("ArgMax", &[scores], &[axis, flat], Entries::I64);
        let known = match &self.class_names {
            Some(names) => graph.texts(names),
            None if labels.iter().all(|l| l.fract() == 0.0 && l.abs() < 9e15) => {
                let whole: Vec<i64> = labels.iter().map(|&l| l as i64).collect();
                graph.integers(&whole)
            }
            None => graph.row(ArrayView1::from(labels), Entries::F64),
        };
        let label = graph.apply("Gather", &[&known, &best]);
        graph.output(&label, "label", None);
        let given = graph.cast(scores, outside);
        graph.output(&given, "scores", Some(labels.len()));
        let probabilities = match &self.probabilities {
            Some(Probabilities::Softmax) => {
                let axis = Attribute::Int("axis", 1);
                Some(graph.apply_as("Softmax", &[scores], &[axis], Entries::F64))
            }
            Some(Probabilities::Tempered { slope, offset_t }) => {
                let slope = graph.number(*slope, Entries::F64);
                let offset = graph.row(ArrayView1::from(offset_t), Entries::F64);
                let sloped = graph.apply("Mul", &[scores, &slope]);
                let sum = graph.apply("Add", &[&sloped, &offset]);
                let axis = Attribute::Int("axis", 1);
                Some(graph.apply_as("Softmax", &[&sum], &[axis], Entries::F64))
            }
            Some(Probabilities::Sigmoids { slope_t, offset_t }) => {
                let slope = graph.row(ArrayView1::from(slope_t), Entries::F64);
                let offset = graph.row(ArrayView1::from(offset_t), Entries::F64);
                let sloped = graph.apply("Mul", &[scores, &slope]);
                let sum = graph.apply("Add", &[&sloped, &offset]);
                let sigmoids = sigmoid(graph, &sum);
                Some(normalised(graph, &sigmoids, labels.len()))
            }
            // They need the variance of every row, too.
            Some(Probabilities::Averaged) | None => None,
        };
        if let Some(probabilities) = probabilities {
            let given = graph.cast(&probabilities, outside);
            graph.output(&given, "probabilities", Some(labels.len()));
        }
    }
}

/// `1 / (1 + exp(-x))` in f64, of which not every runtime has a sigmoid.
fn sigmoid(graph: &mut Graph, x: &Value) -> Value {
    let [minus, one] = [-1.0, 1.0].map(|number| graph.number(number, Entries::F64));
    let negative = graph.apply("Mul", &[x, &minus]);
    let power = graph.apply("Exp", &[&negative]);
    let above = graph.apply("Add", &[&power, &one]);
    graph.apply("Div", &[&one, &above])
}

/// Each row over its sum; the same for all classes where the sum is 0.
fn normalised(graph: &mut Graph, values: &Value, classes: usize) -> Value {
    let axis = graph.integers(&[1]);
    let keep = Attribute::Int("keepdims", 1);
    let sum = graph.apply_as("ReduceSum", &[values, &axis], &[keep], Entries::F64);
    let zero = graph.number(0.0, Entries::F64);
    let positive = graph.apply_as("Greater", &[&sum, &zero], &[], Entries::Truth);
    let shares = graph.apply("Div", &[values, &sum]);
    let even = Array1::from_elem(classes, 1.0 / classes as f64);
    let even = graph.row(even.view(), Entries::F64);
    graph.apply_as("Where", &[&positive, &shares, &even], &[], Entries::F64)
}

/// What becomes of raw scores `[rows, t]` or `[rows, t + 1]`.
fn linked(graph: &mut Graph, link: &Link, scores: &Value, columns: usize) -> Value {
    let number = |graph: &mut Graph, value: f64| graph.number(value, Entries::F64);
    match *link {
        Link::OverDegree { floor } => {
            let axis = graph.integers(&[1]);
            let columns = columns as i64;
            let (from, to) = (graph.integers(&[0]), graph.integers(&[columns]));
            let amounts = graph.apply("Slice", &[scores, &from, &to, &axis]);
            let end = graph.integers(&[columns + 1]);
            let degree = graph.apply("Slice", &[scores, &to, &end, &axis]);
            let floor = number(graph, floor);
            let degree = graph.apply("Max", &[&degree, &floor]);
            graph.apply("Div", &[&amounts, &degree])
        }
        Link::Density { ln_integral } => {
            let zero = number(graph, 0.0);
            let at_least = graph.apply("Max", &[scores, &zero]);
            let log = graph.apply("Log", &[&at_least]);
            let integral = number(graph, ln_integral);
            let log = graph.apply("Sub", &[&log, &integral]);
            graph.apply("Exp", &[&log])
        }
        Link::Exponential { ln_smear } => {
            let smear = number(graph, ln_smear);
            let log = graph.apply("Add", &[scores, &smear]);
            graph.apply("Exp", &[&log])
        }
        Link::Ranks { ref mean, .. } => along(graph, mean, scores),
        Link::Unit { unit } => {
            let unit = number(graph, unit);
            graph.apply("Mul", &[scores, &unit])
        }
        Link::LogDensity { ln_integral, floor } => {
            let floor = number(graph, floor);
            let at_least = graph.apply("Max", &[scores, &floor]);
            let log = graph.apply("Log", &[&at_least]);
            let integral = number(graph, ln_integral);
            graph.apply("Sub", &[&log, &integral])
        }
    }
}

/// The height of a curve at scores `[rows, 1]`: where it begins, and what it rises on each piece
/// that they reach.
fn along(graph: &mut Graph, curve: &Curve, scores: &Value) -> Value {
    let (x, y): (Vec<f64>, Vec<f64>) = curve.points().unzip();
    let from = Array1::from(x[..x.len() - 1].to_vec());
    let widths = Array1::from_iter(x.windows(2).map(|x| x[1] - x[0]));
    let slopes = Array1::from_iter(y.windows(2).map(|y| y[1] - y[0])) / &widths;
    let first = graph.number(y[0], Entries::F64);
    if x.len() == 1 {
        let zero = graph.number(0.0, Entries::F64);
        let none = graph.apply("Mul", &[scores, &zero]);
        return graph.apply("Add", &[&none, &first]);
    }
    let from = graph.row(from.view(), Entries::F64);
    let widths = graph.row(widths.view(), Entries::F64);
    let zero = graph.number(0.0, Entries::F64);
    let past = graph.apply("Sub", &[scores, &from]);
    let past = graph.apply("Max", &[&past, &zero]);
    let past = graph.apply("Min", &[&past, &widths]);
    let slopes = slopes.insert_axis(Axis(1));
    let slopes = graph.matrix(slopes.view(), Entries::F64);
    let rise = graph.apply("MatMul", &[&past, &slopes]);
    graph.apply("Add", &[&rise, &first])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, features, kernels, prelude::*, seed::Seed};
    use ndarray::{Array2, array};

    fn contains(bytes: &[u8], text: &str) -> bool {
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    }

    /// What the runtime's own tests do not see: what is refused, and facts for people.
    #[test]
    fn files_name_what_they_hold_and_refuse_what_they_cannot() {
        let x = array![[0.0, 1.0], [1.0, 0.5], [2.0, 0.25], [3.0, 0.0]];
        let labels = ["low", "low", "high", "high"];
        let model = RidgeClassifier::on(Fourier::new(Gaussian).features(8)).fit((&x, &labels));
        let model = model.expect("fits");
        let bytes = model.linear().to_onnx(Input::Single).expect("exports");
        for text in [
            "MatMul", "ArgMax", "high", "learner", "ridge", "X", "scores",
        ] {
            assert!(contains(&bytes, text), "{text}");
        }
        assert!(!contains(&bytes, "probabilities"));
        assert_eq!(outputs(model.linear()), ["label", "scores"]);
        let binning = features::Binning::new(kernels::Laplacian)
            .grids(4)
            .seed(Seed(1));
        let model = Ridge::on(binning).fit((&x, &array![0.0, 1.0, 0.0, 1.0]));
        let error = model.expect("fits").linear().to_onnx(Input::Single);
        let error = error.expect_err("no formula").to_string();
        assert!(
            error.contains("no formula of a binning map is known"),
            "{error}"
        );
        let own = features::Custom::new("tanh-of-onnx", f32::tanh).features(4);
        let own = own.build(features::Affine::identity(2)).expect("draws");
        let coefficients = crate::model::Coefficients {
            beta_dt: Array2::zeros((4, 1)),
            intercept_t: Array1::zeros(1),
        };
        let real = Targets::Real {
            columns: 1,
            shift: vec![0.0],
        };
        let model = LinearModel::new(Box::new(own), coefficients, real, &Device::cpu());
        let error = model.to_onnx(Input::Single).expect_err("code").to_string();
        assert!(error.contains("code, which ONNX does not hold"), "{error}");
    }
}
