//! Features by standard operators.

use super::graph::{Attribute, Entries, Graph, Value};
use crate::{
    Error, Result,
    error::Remedy,
    features::{Formula, fourier},
    kernels::{BlockForm, Kernel},
    ops::{Nonlinearity, kernel_block::Level},
};
use ndarray::{Array2, ArrayView1, Axis};
use std::f64::consts::TAU;

/// z(u), of prepared rows u in f32.
///
/// Projections are f32, as the library has them. Kernels are f64: what whitens them magnifies their
/// rounding.
pub(super) fn features(graph: &mut Graph, formula: &Formula, u: &Value) -> Result<Value> {
    match formula {
        Formula::Projected {
            w_ds,
            phase_s,
            amplitude_s,
            nonlinearity,
        } => {
            let w_ds = graph.matrix(w_ds.view(), Entries::F32);
            let product = graph.apply("MatMul", &[u, &w_ds]);
            let phase_s = graph.row(phase_s.view(), Entries::F32);
            let t = graph.apply("Add", &[&product, &phase_s]);
            let amplitude_s = graph.row(amplitude_s.view(), Entries::F32);
            let parts = applied(graph, nonlinearity, &t)?;
            let parts: Vec<Value> = parts
                .iter()
                .map(|part| graph.apply("Mul", &[part, &amplitude_s]))
                .collect();
            Ok(side_by_side(graph, &parts))
        }
        Formula::Identity(_) => Ok(u.clone()),
        Formula::Kernel {
            kernel,
            landmarks_md,
            level,
            root_br,
        } => kernel_features(graph, (kernel.as_ref(), *level), (landmarks_md, root_br), u),
        Formula::Mixed { root_de, inner } => {
            let root_de = graph.matrix(root_de.view(), Entries::F32);
            let mixed = graph.apply("MatMul", &[u, &root_de]);
            features(graph, inner, &mixed)
        }
        Formula::Union(parts) => {
            let mut all = Vec::with_capacity(parts.len());
            for part in parts {
                let own = match &part.rescale {
                    None => u.clone(),
                    Some(rescale) => {
                        let column = |k: usize| rescale.iter().map(|r| f64::from(r[k])).collect();
                        let (scale, shift): (Vec<f64>, Vec<f64>) = (column(0), column(1));
                        let scale = graph.row(ArrayView1::from(&scale), Entries::F32);
                        let shift = graph.row(ArrayView1::from(&shift), Entries::F32);
                        let scaled = graph.apply("Mul", &[u, &scale]);
                        graph.apply("Add", &[&scaled, &shift])
                    }
                };
                let z = features(graph, &part.formula, &own)?;
                let z = graph.cast(&z, Entries::F64);
                let root = graph.number(part.root, Entries::F64);
                all.push(graph.apply("Mul", &[&z, &root]));
            }
            Ok(side_by_side(graph, &all))
        }
    }
}

/// f(t), in one value or in two side by side.
fn applied(graph: &mut Graph, nonlinearity: &Nonlinearity, t: &Value) -> Result<Vec<Value>> {
    Ok(match nonlinearity {
        Nonlinearity::CosSin | Nonlinearity::Cos => {
            // Whole turns go first: some runtimes lose digits in cosines of large angles.
            let whole = graph.apply("Round", &[t]);
            let part = graph.apply("Sub", &[t, &whole]);
            let turn = graph.number(TAU, t.entries);
            let angle = graph.apply("Mul", &[&part, &turn]);
            let cos = graph.apply("Cos", &[&angle]);
            match nonlinearity {
                Nonlinearity::CosSin => vec![cos, graph.apply("Sin", &[&angle])],
                _ => vec![cos],
            }
        }
        Nonlinearity::Step => {
            let zero = graph.number(0.0, t.entries);
            let positive = graph.apply_as("Greater", &[t, &zero], &[], Entries::Truth);
            vec![graph.cast(&positive, t.entries)]
        }
        Nonlinearity::Relu => vec![graph.apply("Relu", &[t])],
        Nonlinearity::ReluSquared => {
            let positive = graph.apply("Relu", &[t]);
            vec![graph.apply("Mul", &[&positive, &positive])]
        }
        Nonlinearity::Identity => vec![t.clone()],
        Nonlinearity::Custom(_) => {
            let problem = "a nonlinearity of a user's own is code, which ONNX does not hold";
            return Err(Error::unsupported(problem).help(Remedy::UseMap(fourier::NAME)));
        }
    })
}

/// Kernel values with landmarks, and what whitens them.
fn kernel_features(
    graph: &mut Graph,
    (kernel, level): (&dyn Kernel, Level),
    (landmarks_md, root_br): (&Array2<f64>, &Option<Array2<f64>>),
    u: &Value,
) -> Result<Value> {
    let u = graph.cast(u, Entries::F64);
    let mut block = kernel_block(graph, kernel, landmarks_md, &u)?;
    let m = landmarks_md.nrows();
    let Some(root_br) = root_br else {
        if level == Level::Top {
            let one = landmarks_md.row(0).to_vec();
            let top = graph.number(kernel.evaluate(&one, &one), Entries::F64);
            block = graph.apply("Sub", &[&block, &top]);
            // The column of ones: any column less itself, plus one.
            let nothing = graph.matrix(Array2::zeros((m, 1)).view(), Entries::F64);
            let zeros = graph.apply("MatMul", &[&block, &nothing]);
            let one = graph.number(1.0, Entries::F64);
            let ones = graph.apply("Add", &[&zeros, &one]);
            block = side_by_side(graph, &[block, ones]);
        }
        return Ok(block);
    };
    let (of_landmarks, rest) = root_br.view().split_at(Axis(0), m);
    let root = graph.matrix(of_landmarks, Entries::F64);
    if level == Level::Top {
        let one = landmarks_md.row(0).to_vec();
        let top = graph.number(kernel.evaluate(&one, &one), Entries::F64);
        block = graph.apply("Sub", &[&block, &top]);
        let product = graph.apply("MatMul", &[&block, &root]);
        let constant = graph.row(rest.row(0), Entries::F64);
        return Ok(graph.apply("Add", &[&product, &constant]));
    }
    Ok(graph.apply("MatMul", &[&block, &root]))
}

/// k(u, landmark), `[rows, m]`.
fn kernel_block(
    graph: &mut Graph,
    kernel: &dyn Kernel,
    landmarks_md: &Array2<f64>,
    u: &Value,
) -> Result<Value> {
    let unsupported = || {
        let problem = format!(
            "the kernel {} has no formula of ONNX's operators",
            kernel.spec()
        );
        Err(Error::unsupported(problem).help(Remedy::UseMap(fourier::NAME)))
    };
    let number = |graph: &mut Graph, value: f64| graph.number(value, Entries::F64);
    // exp(-a v) of a value v.
    let decay = |graph: &mut Graph, v: &Value, a: f64| {
        let factor = number(graph, -a);
        let exponent = graph.apply("Mul", &[v, &factor]);
        graph.apply("Exp", &[&exponent])
    };
    let Some(form) = kernel.block_form() else {
        return unsupported();
    };
    Ok(match form {
        BlockForm::Gaussian => {
            let squares = squares(graph, landmarks_md, u);
            decay(graph, &squares, 0.5)
        }
        BlockForm::Exponential => {
            let squares = squares(graph, landmarks_md, u);
            let r = graph.apply("Sqrt", &[&squares]);
            decay(graph, &r, 1.0)
        }
        BlockForm::Matern32 | BlockForm::Matern52 => {
            let five = form == BlockForm::Matern52;
            let squares = squares(graph, landmarks_md, u);
            let factor = number(graph, if five { 5.0 } else { 3.0 });
            let zz = graph.apply("Mul", &[&squares, &factor]);
            let z = graph.apply("Sqrt", &[&zz]);
            let one = number(graph, 1.0);
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
            let squares = squares(graph, landmarks_md, u);
            let factor = number(graph, 0.5 / alpha);
            let scaled = graph.apply("Mul", &[&squares, &factor]);
            let one = number(graph, 1.0);
            let base = graph.apply("Add", &[&scaled, &one]);
            let log = graph.apply("Log", &[&base]);
            decay(graph, &log, alpha)
        }
        BlockForm::Laplacian => {
            let differences = differences(graph, landmarks_md, u);
            let sum = sum_last(graph, &differences, landmarks_md.ncols());
            decay(graph, &sum, 1.0)
        }
        BlockForm::Cauchy => {
            let differences = differences(graph, landmarks_md, u);
            let squares = graph.apply("Mul", &[&differences, &differences]);
            let one = number(graph, 1.0);
            let base = graph.apply("Add", &[&squares, &one]);
            let logs = graph.apply("Log", &[&base]);
            let sum = sum_last(graph, &logs, landmarks_md.ncols());
            decay(graph, &sum, 1.0)
        }
        // An inverse cosine of f64 is in few runtimes, and the hat's product of zeros.
        BlockForm::Hat | BlockForm::ArcCosine { .. } => return unsupported(),
    })
}

/// Squared distances `|u - l|^2 = |u|^2 - 2 u'l + |l|^2`, in f64, which has the digits that it
/// cancels.
fn squares(graph: &mut Graph, landmarks_md: &Array2<f64>, u: &Value) -> Value {
    let uu = graph.apply("Mul", &[u, u]);
    let d = landmarks_md.ncols();
    let ones = graph.matrix(Array2::ones((d, 1)).view(), Entries::F64);
    let own = graph.apply("MatMul", &[&uu, &ones]);
    let twice = graph.matrix((landmarks_md.t().to_owned() * -2.0).view(), Entries::F64);
    let products = graph.apply("MatMul", &[u, &twice]);
    let norms = landmarks_md.map_axis(Axis(1), |l| l.dot(&l));
    let norms = graph.row(norms.view(), Entries::F64);
    let sum = graph.apply("Add", &[&own, &products]);
    let sum = graph.apply("Add", &[&sum, &norms]);
    let zero = graph.number(0.0, Entries::F64);
    graph.apply("Max", &[&sum, &zero])
}

/// `|u_j - l_j|`, `[rows, m, d]`.
fn differences(graph: &mut Graph, landmarks_md: &Array2<f64>, u: &Value) -> Value {
    let axis = graph.integers(&[1]);
    let wide = graph.apply("Unsqueeze", &[u, &axis]);
    let landmarks = graph.matrix(landmarks_md.view(), Entries::F64);
    let apart = graph.apply("Sub", &[&wide, &landmarks]);
    graph.apply("Abs", &[&apart])
}

/// `[rows, m, d]` to `[rows, m]`: a product with ones, since sums of no rows fail in some runtimes.
fn sum_last(graph: &mut Graph, value: &Value, d: usize) -> Value {
    let ones = graph.matrix(Array2::ones((d, 1)).view(), value.entries);
    let sum = graph.apply("MatMul", &[value, &ones]);
    let axis = graph.integers(&[2]);
    graph.apply("Squeeze", &[&sum, &axis])
}

fn side_by_side(graph: &mut Graph, parts: &[Value]) -> Value {
    match parts {
        [one] => one.clone(),
        parts => {
            let values: Vec<&Value> = parts.iter().collect();
            let axis = Attribute::Int("axis", 1);
            graph.apply_as("Concat", &values, &[axis], parts[0].entries)
        }
    }
}
