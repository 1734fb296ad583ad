//! Features by standard operators.

use super::{
    graph::{Attribute, Entries, Graph, Value},
    kernels::kernel_block,
};
use crate::{
    Error, Result,
    error::Remedy,
    features::{Formula, PartFormula, names},
    kernels::Kernel,
    ops::{Nonlinearity, additive_chi2::Samples, complex_product::real_parts, kernel_block::Level},
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
        Formula::Multiplied { factors, inner } => {
            let t = features(graph, inner, u)?;
            Ok(multiplied(graph, &t, *factors, inner.outputs() / factors))
        }
        Formula::AdditiveChi2 { samples, .. } => Ok(additive_chi2(graph, *samples, u)),
        Formula::Union(parts) => union(graph, parts, u),
        _ => {
            let problem = "the map has no formula of ONNX's operators";
            Err(Error::unsupported(problem).help(Remedy::UseMap(names::FOURIER)))
        }
    }
}

/// The features of some maps side by side, each of its own rescaled rows, times the root of its
/// weight.
fn union(graph: &mut Graph, parts: &[PartFormula], u: &Value) -> Result<Value> {
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

/// Products of complex numbers, frequency by frequency: of `factors` times s columns, s.
fn multiplied(graph: &mut Graph, t: &Value, factors: usize, s: usize) -> Value {
    let imaginary = s - real_parts(s);
    let columns = |graph: &mut Graph, k: usize, from: usize, to: usize| {
        let [from, to] = [from, to].map(|at| graph.integers(&[(k * s + at) as i64]));
        let axis = graph.integers(&[1]);
        graph.apply("Slice", &[t, &from, &to, &axis])
    };
    let real_of = |graph: &mut Graph, f: usize| {
        let first = columns(graph, 0, f, f + 1);
        (1..factors).fold(first, |product, k| {
            let t = columns(graph, k, f, f + 1);
            graph.apply("Mul", &[&product, &t])
        })
    };
    // Frequencies 0 and, of an even s, s/2 are real.
    let mut parts = vec![real_of(graph, 0)];
    let middle = (s.is_multiple_of(2)).then(|| real_of(graph, s / 2));
    let complex = |graph: &mut Graph, k: usize| {
        let real = columns(graph, k, 1, 1 + imaginary);
        [real, columns(graph, k, s - imaginary, s)]
    };
    if imaginary == 0 {
        parts.extend(middle);
        return side_by_side(graph, &parts);
    }
    let first = complex(graph, 0);
    let [real, imaginary] = (1..factors).fold(first, |[a, b], k| {
        let [c, d] = complex(graph, k);
        let [ac, bd, ad, bc] = [(&a, &c), (&b, &d), (&a, &d), (&b, &c)]
            .map(|(one, other)| graph.apply("Mul", &[one, other]));
        let real = graph.apply("Sub", &[&ac, &bd]);
        [real, graph.apply("Add", &[&ad, &bc])]
    });
    parts.push(real);
    parts.extend(middle);
    parts.push(imaginary);
    side_by_side(graph, &parts)
}

/// Amplitudes times `sqrt(u)` times cosines and sines of `ln u`, 0 where u is.
fn additive_chi2(graph: &mut Graph, samples: Samples, u: &Value) -> Value {
    let u = graph.cast(u, Entries::F64);
    let number = |graph: &mut Graph, value: f64| graph.number(value, Entries::F64);
    let zero = number(graph, 0.0);
    let one = number(graph, 1.0);
    let positive = graph.apply_as("Greater", &[&u, &zero], &[], Entries::Truth);
    // Of 0 there is no logarithm, and its root is 0 whatever the angle.
    let safe = graph.apply_as("Where", &[&positive, &u, &one], &[], Entries::F64);
    let log = graph.apply("Log", &[&safe]);
    let root = graph.apply("Sqrt", &[&u]);
    let mut parts = Vec::with_capacity(samples.outputs());
    for j in 0..samples.count {
        let amplitude = number(graph, samples.amplitude(j));
        let root = graph.apply("Mul", &[&root, &amplitude]);
        let root = graph.cast(&root, Entries::F32);
        if j == 0 {
            parts.push(root);
            continue;
        }
        let turns = number(graph, samples.turns(j));
        let turns = graph.apply("Mul", &[&log, &turns]);
        let angle = angle(graph, &turns);
        for wave in ["Cos", "Sin"] {
            let wave = graph.apply(wave, &[&angle]);
            parts.push(graph.apply("Mul", &[&root, &wave]));
        }
    }
    side_by_side(graph, &parts)
}

/// f(t), in one value or in two side by side.
fn applied(graph: &mut Graph, nonlinearity: &Nonlinearity, t: &Value) -> Result<Vec<Value>> {
    Ok(match nonlinearity {
        Nonlinearity::CosSin | Nonlinearity::Cos => {
            let angle = angle(graph, t);
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
            return Err(Error::unsupported(problem).help(Remedy::UseMap(names::FOURIER)));
        }
    })
}

/// Turns as an angle in f32. Whole turns go first: some runtimes lose digits in cosines of large
/// angles.
fn angle(graph: &mut Graph, turns: &Value) -> Value {
    // Not every runtime rounds numbers of f64. In f32 a half more would take digits from many
    // turns.
    let whole = if turns.entries == Entries::F64 {
        let half = graph.number(0.5, Entries::F64);
        let above = graph.apply("Add", &[turns, &half]);
        graph.apply("Floor", &[&above])
    } else {
        graph.apply("Round", &[turns])
    };
    let part = graph.apply("Sub", &[turns, &whole]);
    let part = graph.cast(&part, Entries::F32);
    let turn = graph.number(TAU, Entries::F32);
    graph.apply("Mul", &[&part, &turn])
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
