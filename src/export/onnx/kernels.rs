//! Kernel values with landmarks by standard operators, in f64.

use super::graph::{Entries, Graph, Value};
use crate::{
    Error, Result,
    error::Remedy,
    features::names,
    kernels::{BlockForm, ClosedForm, Component, Kernel},
    linalg::entries,
};
use ndarray::{Array2, Axis};
use std::f64::consts::{FRAC_1_PI, LN_2, PI};

/// What no factor of a product falls below, so that its logarithm is a number.
const TINY: f64 = 1e-300;

/// Terms of the arc sine's series: with arguments below 0.15 the next is 1e-19.
const TERMS: u32 = 20;

/// k(u, landmark), `[rows, m]`.
pub(super) fn kernel_block(
    graph: &mut Graph,
    kernel: &dyn Kernel,
    landmarks_md: &Array2<f64>,
    u: &Value,
) -> Result<Value> {
    let unknown = || {
        let problem = format!(
            "the kernel {} has no formula of ONNX's operators",
            kernel.spec()
        );
        Error::unsupported(problem).help(Remedy::UseMap(names::FOURIER))
    };
    let form = kernel.closed_form().ok_or_else(unknown)?;
    let rows = Rows { landmarks_md, u };
    match form {
        ClosedForm::Block(form) => Ok(rows.block(graph, form)),
        ClosedForm::ArcCosine { order, bias } => Ok(rows.arc_cosine(graph, order, bias)),
        ClosedForm::Polynomial { degree, constant } => {
            let constant = number(graph, constant);
            let products = rows.products(graph, 1.0);
            let base = graph.apply("Add", &[&products, &constant]);
            Ok((1..degree).fold(base.clone(), |power, _| {
                graph.apply("Mul", &[&power, &base])
            }))
        }
        ClosedForm::AdditiveChi2 => Ok(rows.additive_chi2(graph)),
        ClosedForm::SkewedChi2 { skewedness } => Ok(rows.skewed_chi2(graph, skewedness)),
        ClosedForm::Mixture(mixture) => {
            let parts = mixture.components().iter();
            let parts = parts.map(
                |Component {
                     weight,
                     kernel,
                     lengthscale,
                 }| {
                    let block = rows.scaled(graph, kernel.as_ref(), *lengthscale)?;
                    let share = number(graph, weight / mixture.total_weight());
                    Ok(graph.apply("Mul", &[&block, &share]))
                },
            );
            let parts: Vec<Value> = parts.collect::<Result<_>>()?;
            Ok(joined(graph, "Add", &parts))
        }
        ClosedForm::Product(product) => {
            let parts = product.factors().iter();
            let parts = parts.map(|(kernel, l)| rows.scaled(graph, kernel.as_ref(), *l));
            let parts: Vec<Value> = parts.collect::<Result<_>>()?;
            Ok(joined(graph, "Mul", &parts))
        }
        _ => Err(unknown()),
    }
}

/// Rows u and landmarks.
#[derive(Clone, Copy)]
struct Rows<'r> {
    landmarks_md: &'r Array2<f64>,
    u: &'r Value,
}

impl Rows<'_> {
    /// Of both, divided by a lengthscale.
    fn scaled(self, graph: &mut Graph, kernel: &dyn Kernel, lengthscale: f64) -> Result<Value> {
        let inverse = number(graph, 1.0 / lengthscale);
        let u = graph.apply("Mul", &[self.u, &inverse]);
        kernel_block(graph, kernel, &(self.landmarks_md / lengthscale), &u)
    }

    fn block(self, graph: &mut Graph, form: BlockForm) -> Value {
        let one = number(graph, 1.0);
        match form {
            BlockForm::Gaussian => {
                let squares = self.squares(graph);
                decay(graph, &squares, 0.5)
            }
            BlockForm::Exponential => {
                let squares = self.squares(graph);
                let r = graph.apply("Sqrt", &[&squares]);
                decay(graph, &r, 1.0)
            }
            BlockForm::Matern32 | BlockForm::Matern52 => {
                let five = form == BlockForm::Matern52;
                let squares = self.squares(graph);
                let factor = number(graph, if five { 5.0 } else { 3.0 });
                let zz = graph.apply("Mul", &[&squares, &factor]);
                let z = graph.apply("Sqrt", &[&zz]);
                let mut sum = graph.apply("Add", &[&z, &one]);
                if five {
                    let third = number(graph, 1.0 / 3.0);
                    let square = graph.apply("Mul", &[&zz, &third]);
                    sum = graph.apply("Add", &[&sum, &square]);
                }
                let decay = decay(graph, &z, 1.0);
                graph.apply("Mul", &[&sum, &decay])
            }
            BlockForm::RationalQuadratic { alpha } => {
                let squares = self.squares(graph);
                let factor = number(graph, 0.5 / alpha);
                let scaled = graph.apply("Mul", &[&squares, &factor]);
                let base = graph.apply("Add", &[&scaled, &one]);
                let log = graph.apply("Log", &[&base]);
                decay(graph, &log, alpha)
            }
            BlockForm::Laplacian => {
                let differences = self.differences(graph);
                let sum = self.sum_last(graph, &differences);
                decay(graph, &sum, 1.0)
            }
            BlockForm::Cauchy => {
                let differences = self.differences(graph);
                let squares = graph.apply("Mul", &[&differences, &differences]);
                let base = graph.apply("Add", &[&squares, &one]);
                let logs = graph.apply("Log", &[&base]);
                let sum = self.sum_last(graph, &logs);
                decay(graph, &sum, 1.0)
            }
            BlockForm::Hat => {
                let differences = self.differences(graph);
                let heights = graph.apply("Sub", &[&one, &differences]);
                let tiny = number(graph, TINY);
                let heights = graph.apply("Max", &[&heights, &tiny]);
                let logs = graph.apply("Log", &[&heights]);
                let sum = self.sum_last(graph, &logs);
                graph.apply("Exp", &[&sum])
            }
            BlockForm::ArcCosine { order } => self.arc_cosine(graph, order, 0.0),
        }
    }

    /// `(1/pi) |x|^n |y|^n J_n(theta)`, of rows with one more column, which holds the bias.
    fn arc_cosine(self, graph: &mut Graph, order: u32, bias: f64) -> Value {
        let tiny = number(graph, TINY);
        let more = number(graph, bias * bias);
        let norms = entries::row_squares(self.landmarks_md.view()) + bias * bias;
        let norms = norms.mapv_into(f64::sqrt);
        let norms = graph.row(norms.view(), Entries::F64);
        let squares = self.own_squares(graph);
        let squares = graph.apply("Add", &[&squares, &more]);
        let own = graph.apply("Sqrt", &[&squares]);
        let lengths = graph.apply("Mul", &[&own, &norms]);
        let products = self.products(graph, 1.0);
        let products = graph.apply("Add", &[&products, &more]);
        let safe = graph.apply("Max", &[&lengths, &tiny]);
        let cos = graph.apply("Div", &[&products, &safe]);
        let j = angular(graph, order, &cos);
        let inverse = number(graph, FRAC_1_PI);
        let mut k = graph.apply("Mul", &[&j, &inverse]);
        // A row of zeros has k = 0, of order 0 too.
        let zero = number(graph, 0.0);
        let is_row = graph.apply_as("Greater", &[&lengths, &zero], &[], Entries::Truth);
        let is_row = graph.cast(&is_row, Entries::F64);
        k = graph.apply("Mul", &[&k, &is_row]);
        (0..order).fold(k, |k, _| graph.apply("Mul", &[&k, &lengths]))
    }

    /// `sum_m 2 x_m y_m / (x_m + y_m)`, 0 where both are 0.
    fn additive_chi2(self, graph: &mut Graph) -> Value {
        let (wide, landmarks) = self.wide(graph);
        let two = number(graph, 2.0);
        let tiny = number(graph, TINY);
        let product = graph.apply("Mul", &[&wide, &landmarks]);
        let twice = graph.apply("Mul", &[&product, &two]);
        let sum = graph.apply("Add", &[&wide, &landmarks]);
        let sum = graph.apply("Max", &[&sum, &tiny]);
        let parts = graph.apply("Div", &[&twice, &sum]);
        self.sum_last(graph, &parts)
    }

    /// `prod_m 2 sqrt(x_m + c) sqrt(y_m + c) / (x_m + y_m + 2 c)`, by its logarithm.
    fn skewed_chi2(self, graph: &mut Graph, c: f64) -> Value {
        let d = self.landmarks_md.ncols() as f64;
        let half_logs = self.landmarks_md.map_axis(Axis(1), |l| {
            l.iter().map(|l| 0.5 * libm::log(l + c)).sum::<f64>() + d * LN_2
        });
        let of_landmarks = graph.row(half_logs.view(), Entries::F64);
        let (shift, half) = (number(graph, c), number(graph, 0.5));
        let above = graph.apply("Add", &[self.u, &shift]);
        let logs = graph.apply("Log", &[&above]);
        let halves = graph.apply("Mul", &[&logs, &half]);
        let ones = graph.matrix(
            Array2::ones((self.landmarks_md.ncols(), 1)).view(),
            Entries::F64,
        );
        let own = graph.apply("MatMul", &[&halves, &ones]);
        let (wide, landmarks) = self.wide(graph);
        let sum = graph.apply("Add", &[&wide, &landmarks]);
        let twice = number(graph, 2.0 * c);
        let sum = graph.apply("Add", &[&sum, &twice]);
        let logs = graph.apply("Log", &[&sum]);
        let below = self.sum_last(graph, &logs);
        let log = graph.apply("Sub", &[&own, &below]);
        let log = graph.apply("Add", &[&log, &of_landmarks]);
        graph.apply("Exp", &[&log])
    }

    /// Squared distances `|u - l|^2 = |u|^2 - 2 u'l + |l|^2`: f64 has the digits that it cancels.
    fn squares(self, graph: &mut Graph) -> Value {
        let own = self.own_squares(graph);
        let products = self.products(graph, -2.0);
        let norms = entries::row_squares(self.landmarks_md.view());
        let norms = graph.row(norms.view(), Entries::F64);
        let sum = graph.apply("Add", &[&own, &products]);
        let sum = graph.apply("Add", &[&sum, &norms]);
        let zero = number(graph, 0.0);
        graph.apply("Max", &[&sum, &zero])
    }

    /// `|u|^2`, `[rows, 1]`.
    fn own_squares(self, graph: &mut Graph) -> Value {
        let uu = graph.apply("Mul", &[self.u, self.u]);
        let ones = graph.matrix(
            Array2::ones((self.landmarks_md.ncols(), 1)).view(),
            Entries::F64,
        );
        graph.apply("MatMul", &[&uu, &ones])
    }

    /// `factor u'l`, `[rows, m]`.
    fn products(self, graph: &mut Graph, factor: f64) -> Value {
        let landmarks = self.landmarks_md.t().to_owned() * factor;
        let landmarks = graph.matrix(landmarks.view(), Entries::F64);
        graph.apply("MatMul", &[self.u, &landmarks])
    }

    /// `|u_j - l_j|`, `[rows, m, d]`.
    fn differences(self, graph: &mut Graph) -> Value {
        let (wide, landmarks) = self.wide(graph);
        let apart = graph.apply("Sub", &[&wide, &landmarks]);
        graph.apply("Abs", &[&apart])
    }

    /// u as `[rows, 1, d]` and the landmarks `[m, d]`, which go together to `[rows, m, d]`.
    fn wide(self, graph: &mut Graph) -> (Value, Value) {
        let axis = graph.integers(&[1]);
        let wide = graph.apply("Unsqueeze", &[self.u, &axis]);
        (wide, graph.matrix(self.landmarks_md.view(), Entries::F64))
    }

    /// `[rows, m, d]` to `[rows, m]`: a product with ones, since sums of no rows fail in some
    /// runtimes.
    fn sum_last(self, graph: &mut Graph, value: &Value) -> Value {
        let ones = graph.matrix(
            Array2::ones((self.landmarks_md.ncols(), 1)).view(),
            Entries::F64,
        );
        let sum = graph.apply("MatMul", &[value, &ones]);
        let axis = graph.integers(&[2]);
        graph.apply("Squeeze", &[&sum, &axis])
    }
}

fn number(graph: &mut Graph, value: f64) -> Value {
    graph.number(value, Entries::F64)
}

/// `exp(-a v)` of a value v.
fn decay(graph: &mut Graph, v: &Value, a: f64) -> Value {
    let factor = number(graph, -a);
    let exponent = graph.apply("Mul", &[v, &factor]);
    graph.apply("Exp", &[&exponent])
}

/// All parts added or multiplied.
fn joined(graph: &mut Graph, operator: &str, parts: &[Value]) -> Value {
    let rest = parts[1..].iter();
    rest.fold(parts[0].clone(), |all, part| {
        graph.apply(operator, &[&all, part])
    })
}

/// `J_n(theta)` of `cos theta`: few runtimes have an inverse cosine of f64, so that the angle is
/// the series of the arc sine. With `s = sin^2(theta/2) = (1 - cos theta)/2` the angle is
/// `2 asin sqrt(s)`, or pi less that of 1 - s, so that s <= 1/2; and
/// `asin sqrt(s) = 2 asin sqrt(v)`, `v = s / (2 (1 + sqrt(1 - s)))`, which is below 0.15.
fn angular(graph: &mut Graph, order: u32, cos: &Value) -> Value {
    let [zero, half, one, two, pi] = [0.0, 0.5, 1.0, 2.0, PI].map(|v| number(graph, v));
    let complement = graph.apply("Sub", &[&one, cos]);
    let s = graph.apply("Mul", &[&complement, &half]);
    let s = graph.apply("Max", &[&s, &zero]);
    let s = graph.apply("Min", &[&s, &one]);
    let rest = graph.apply("Sub", &[&one, &s]);
    let small = graph.apply("Min", &[&s, &rest]);
    let other = graph.apply("Max", &[&s, &rest]);
    let root = graph.apply("Sqrt", &[&other]);
    let sum = graph.apply("Add", &[&root, &one]);
    let sum = graph.apply("Mul", &[&sum, &two]);
    let v = graph.apply("Div", &[&small, &sum]);
    let asin = asin_of_root(graph, &v);
    let four = number(graph, 4.0);
    let acute = graph.apply("Mul", &[&asin, &four]);
    let obtuse = graph.apply("Sub", &[&pi, &acute]);
    let is_obtuse = graph.apply_as("Greater", &[&s, &half], &[], Entries::Truth);
    // pi - theta.
    let beyond = graph.apply_as("Where", &[&is_obtuse, &acute, &obtuse], &[], Entries::F64);
    if order == 0 {
        return beyond;
    }
    let product = graph.apply("Mul", &[&s, &rest]);
    let sin = graph.apply("Sqrt", &[&product]);
    let sin = graph.apply("Mul", &[&sin, &two]);
    let twice = graph.apply("Mul", &[&s, &two]);
    let cos = graph.apply("Sub", &[&one, &twice]);
    if order == 1 {
        let arc = graph.apply("Mul", &[&beyond, &cos]);
        return graph.apply("Add", &[&sin, &arc]);
    }
    let three = number(graph, 3.0);
    let wave = graph.apply("Mul", &[&sin, &cos]);
    let wave = graph.apply("Mul", &[&wave, &three]);
    let square = graph.apply("Mul", &[&cos, &cos]);
    let square = graph.apply("Mul", &[&square, &two]);
    let square = graph.apply("Add", &[&square, &one]);
    let arc = graph.apply("Mul", &[&beyond, &square]);
    graph.apply("Add", &[&wave, &arc])
}

/// `asin sqrt(v) = sqrt(v) sum_n (2n)! / (4^n n!^2 (2n + 1)) v^n` (DLMF 4.24.1).
fn asin_of_root(graph: &mut Graph, v: &Value) -> Value {
    let mut central = 1.0;
    let terms = (0..TERMS).map(|n| {
        let n = f64::from(n);
        let term = central / (2.0 * n + 1.0);
        central *= (2.0 * n + 1.0) / (2.0 * n + 2.0);
        term
    });
    let terms: Vec<f64> = terms.collect();
    let last = number(graph, terms[terms.len() - 1]);
    let sum = terms[..terms.len() - 1]
        .iter()
        .rev()
        .fold(last, |sum, &term| {
            let product = graph.apply("Mul", &[&sum, v]);
            let term = number(graph, term);
            graph.apply("Add", &[&product, &term])
        });
    let root = graph.apply("Sqrt", &[v]);
    graph.apply("Mul", &[&sum, &root])
}
