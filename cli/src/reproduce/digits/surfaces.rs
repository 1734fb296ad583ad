//! What machines say on the plane of the first two principal components.

use super::{Digits, GAMMA, machine};
use crate::{
    page::chart::{Axis, Cells, Chart, Ink, Letter, Panel},
    reproduce::Context,
};
use anyhow::Result;
use bochner::{
    features::{Bandwidth, Fourier, Landmarks, MapBuilder, Nystrom},
    kernels::Gaussian,
};
use ndarray::{Array1, Array2, Axis as Along};

/// The plane is drawn from -WIDTH to WIDTH along both components, in so many cells.
const WIDTH: f64 = 2.0;
const CELLS: usize = 40;
/// Features of the approximate machines.
const FEATURES: usize = 100;

/// Three machines beside each other.
pub(super) fn chart(context: &Context<'_>, digits: &Digits) -> Result<Chart> {
    let components = principal(&digits.x);
    let at = |i: usize| -WIDTH + 2.0 * WIDTH * (i as f64 + 0.5) / CELLS as f64;
    let mut plane = Array2::zeros((CELLS * CELLS, digits.x.ncols()));
    for (i, mut row) in plane.rows_mut().into_iter().enumerate() {
        row.scaled_add(at(i % CELLS), &components[0]);
        row.scaled_add(at(i / CELLS), &components[1]);
    }
    let seed = context.seed(0);
    let exact = Nystrom::new(Gaussian).landmarks(Landmarks::Rows(digits.x.clone()));
    let maps: [(String, Box<dyn MapBuilder>); 3] = [
        ("exact kernel".into(), Box::new(exact)),
        (
            format!("Fourier, {FEATURES}"),
            Box::new(Fourier::new(Gaussian).features(FEATURES).seed(seed)),
        ),
        (
            format!("Nystrom, {FEATURES}"),
            Box::new(Nystrom::new(Gaussian).features(FEATURES).seed(seed)),
        ),
    ];
    let mut panels = Vec::new();
    for (title, map) in maps {
        let machine = machine(context, map, &Bandwidth::Gamma(GAMMA), digits.x.nrows())
            .seed(seed)
            .fit((&digits.x, digits.labels.as_slice()))?;
        let classes: Vec<u8> = machine.predict(&plane)?;
        let axis = |name: &str| Axis::linear(name, "").range(-WIDTH, WIDTH);
        let (x, y) = (axis("first component"), axis("second component"));
        let mut panel = Panel::new(title, x, y, Vec::new());
        panel.cells = Some(Cells {
            x: (-WIDTH, WIDTH),
            y: (-WIDTH, WIDTH),
            columns: CELLS,
            values: classes.iter().map(|&class| tint(class)).collect(),
        });
        // Every third row, so that letters leave room for what lies below.
        panel.letters = (digits.x.rows().into_iter().zip(&digits.labels).step_by(3))
            .map(|(row, label)| Letter {
                at: (row.dot(&components[0]), row.dot(&components[1])),
                text: label.to_string(),
                ink: Ink::Text,
            })
            .collect();
        panels.push(panel);
    }
    let caption = "The digit that each machine sees on the plane through the origin of the first two principal components, by \
                   colour; a third of the training rows, projected to it, as their digits.";
    let mut chart = Chart::new(caption, panels);
    chart.height = 260.0;
    Ok(chart)
}

/// A colour and how much of it: six colours serve nine classes in two strengths.
fn tint(class: u8) -> (usize, f64) {
    match class {
        0..=5 => (class.into(), 0.6),
        class => (usize::from(class - 6), 0.25),
    }
}

/// The first two principal components of rows, of length 1, by orthogonal iteration. The largest
/// entry of each is positive.
fn principal(x: &Array2<f64>) -> [Array1<f64>; 2] {
    let mut centred = x.clone();
    if let Some(mean) = x.mean_axis(Along(0)) {
        centred -= &mean;
    }
    let covariance = centred.t().dot(&centred);
    let d = x.ncols();
    let mut u = Array1::from_shape_fn(d, |i| 1.0 + i as f64 / d as f64);
    let mut v = Array1::from_shape_fn(d, |i| 1.0 - 2.0 * (i % 2) as f64);
    let unit = |v: Array1<f64>| {
        let length = v.dot(&v).sqrt();
        v / length
    };
    for _ in 0..2000 {
        u = unit(covariance.dot(&u));
        let next = covariance.dot(&v);
        v = unit(&next - &(&u * u.dot(&next)));
    }
    [u, v].map(|v| {
        let largest = v
            .iter()
            .fold(0.0_f64, |a, b| if b.abs() > a.abs() { *b } else { a });
        if largest < 0.0 { -v } else { v }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Rows along known directions: 3 times as far along the first.
    #[test]
    fn components_are_the_directions_that_rows_vary_along() {
        let (c, s) = (0.6, 0.8);
        let x = array![[3.0 * c, 3.0 * s], [-3.0 * c, -3.0 * s], [-s, c], [s, -c]] + 5.0;
        let [u, v] = principal(&x);
        assert!((u[0] - c).abs() < 1e-9 && (u[1] - s).abs() < 1e-9, "{u}");
        assert!((v[0] - s).abs() < 1e-9 && (v[1] + c).abs() < 1e-9, "{v}");
    }
}
