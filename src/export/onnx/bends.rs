//! Columns that are clipped, or taken by their ranks.

use super::{
    along,
    graph::{Attribute, Entries, Graph, Value},
};
use crate::features::Bend;
use ndarray::{Array1, Array2};

/// Beyond so many quartile distances nothing is told apart, and squares would leave f64.
const FAR: f64 = 1e150;

/// What rows `[rows, d]` in f64 become.
pub(super) fn bent(graph: &mut Graph, x: &Value, bends: &[Bend]) -> Value {
    let mask = |of: fn(&Bend) -> bool| -> Option<Array1<f64>> {
        let mask: Array1<f64> = bends
            .iter()
            .map(|bend| f64::from(u8::from(of(bend))))
            .collect();
        mask.iter().any(|&m| m > 0.0).then_some(mask)
    };
    let mut parts = Vec::new();
    if let Some(mask) = mask(|bend| *bend == Bend::Straight) {
        let mask = graph.row(mask.view(), Entries::F64);
        parts.push(graph.apply("Mul", &[x, &mask]));
    }
    if let Some(mask) = mask(|bend| matches!(bend, Bend::Clip { .. })) {
        let clipped = clipped(graph, x, bends);
        let mask = graph.row(mask.view(), Entries::F64);
        parts.push(graph.apply("Mul", &[&clipped, &mask]));
    }
    for (j, bend) in bends.iter().enumerate() {
        let Bend::Along(curve) = bend else {
            continue;
        };
        let place = graph.integers(&[j as i64]);
        let axis = Attribute::Int("axis", 1);
        let column = graph.apply_as("Gather", &[x, &place], &[axis], Entries::F64);
        let ranks = along(graph, curve, &column);
        let own = Array2::from_shape_fn((1, bends.len()), |(_, k)| f64::from(u8::from(k == j)));
        let own = graph.matrix(own.view(), Entries::F64);
        parts.push(graph.apply("MatMul", &[&ranks, &own]));
    }
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_else(|| x.clone());
    parts.fold(first, |sum, part| graph.apply("Add", &[&sum, &part]))
}

/// `u / sqrt(1 + (u / 3)^2)` of all columns, of those that are not clipped for nothing.
fn clipped(graph: &mut Graph, x: &Value, bends: &[Bend]) -> Value {
    let of = |bend: &Bend| match bend {
        Bend::Clip { median, spread } => [*median, *spread],
        _ => [0.0, 1.0],
    };
    let [median, spread] = [0, 1].map(|i| bends.iter().map(|bend| of(bend)[i]).collect());
    let [median, spread]: [Array1<f64>; 2] = [median, spread];
    let median = graph.row(median.view(), Entries::F64);
    let spread = graph.row(spread.view(), Entries::F64);
    let [far, near, third, one] =
        [FAR, -FAR, 1.0 / 3.0, 1.0].map(|number| graph.number(number, Entries::F64));
    let from = graph.apply("Sub", &[x, &median]);
    let u = graph.apply("Div", &[&from, &spread]);
    let u = graph.apply("Min", &[&u, &far]);
    let u = graph.apply("Max", &[&u, &near]);
    let thirds = graph.apply("Mul", &[&u, &third]);
    let squares = graph.apply("Mul", &[&thirds, &thirds]);
    let above = graph.apply("Add", &[&squares, &one]);
    let root = graph.apply("Sqrt", &[&above]);
    graph.apply("Div", &[&u, &root])
}
