//! What a model makes of single columns.

use super::{held::Held, on_cpu, trial::Surface};
use bochner::{
    Error, Result,
    data::{ChunkSource, Kind, Rows},
    models::{Label, LinearModel, Predictor, Targets},
    seed::{Seed, Stream},
};
use ndarray::{Array2, Axis, s};
use std::ops::Range;

/// Rows that are looked at.
const ROWS: usize = 1000;
/// The share of the rows that lies beyond either end of a surface.
const ENDS: f64 = 0.01;

/// A column of the table.
pub(super) struct Column {
    pub(super) name: String,
    /// The columns that it became.
    places: Range<usize>,
    pub(super) is_number: bool,
}

/// The columns that are features.
pub(super) fn columns(of: &Held) -> Vec<Column> {
    let numbers = || {
        let names = of.column_names();
        let name = move |j: usize| {
            names
                .as_ref()
                .map_or_else(|| j.to_string(), |all| all[j].clone())
        };
        (0..of.columns()).map(move |j| Column {
            name: name(j),
            places: j..j + 1,
            is_number: true,
        })
    };
    let Some(schema) = of.schema() else {
        return numbers().collect();
    };
    let fields = schema.features().iter().enumerate();
    let fields = fields.filter(|(_, field)| field.width() > 0);
    let columns = fields.map(|(j, field)| Column {
        name: field.name().to_owned(),
        places: schema.columns_of(j),
        is_number: matches!(field.kind(), Kind::Number) && field.width() == 1,
    });
    columns.collect()
}

/// At most [`ROWS`] rows, evenly spread.
fn some(of: &Held) -> Array2<f64> {
    let (x, _) = of.arrays();
    let every = x.nrows().div_ceil(ROWS);
    let rows: Vec<usize> = (0..x.nrows()).step_by(every).collect();
    x.select(&rows).into_f64()
}

pub(super) fn importance(model: &LinearModel, of: &Held) -> Result<Vec<f64>> {
    let x_nd = some(of);
    let mut predictor = model.on(on_cpu())?;
    let mut predict = |x_nd: Array2<f64>| predictor.predict(&Rows::F64(x_nd));
    let plain = predict(x_nd.clone())?;
    let mean = plain.mean().unwrap_or(0.0);
    let spread = plain.iter().map(|p| (p - mean).powi(2)).sum::<f64>().sqrt();
    let classes = matches!(model.targets, Targets::Classes(_));
    let mut all = Vec::new();
    for column in columns(of) {
        let mut draws = Seed(0).stream(Stream::Sample, 0);
        let order = draws.permutation(x_nd.nrows());
        let mut shuffled = x_nd.clone();
        let own = s![.., column.places.clone()];
        shuffled
            .slice_mut(own)
            .assign(&x_nd.select(Axis(0), &order).slice(own));
        let moved = predict(shuffled)?;
        let pairs = moved.iter().zip(&plain);
        all.push(if classes {
            pairs.filter(|(a, b)| a != b).count() as f64 / plain.len() as f64
        } else {
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() / spread
        });
    }
    Ok(all)
}

pub(super) fn surface(
    model: &LinearModel,
    of: &Held,
    [across, up]: [usize; 2],
    steps: usize,
) -> Result<Surface> {
    let (x_nd, columns) = (some(of), columns(of));
    let place = |j: usize| {
        let column = columns.get(j).filter(|column| column.is_number);
        let none = || Error::parameter(format!("column {j} is none of numbers; name one that is"));
        column.map(|column| column.places.start).ok_or_else(none)
    };
    let (across, up) = (place(across)?, place(up)?);
    let sorted = |j: usize| {
        let mut values = x_nd.column(j).to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let middle: Vec<f64> = (0..x_nd.ncols())
        .map(|j| quantile(&sorted(j), 0.5))
        .collect();
    let places = |j: usize| -> Vec<f64> {
        let values = sorted(j);
        let [from, to] = [ENDS, 1.0 - ENDS].map(|share| quantile(&values, share));
        let step = |k: usize| from + (to - from) * k as f64 / (steps - 1) as f64;
        (0..steps).map(step).collect()
    };
    let (along, upwards) = (places(across), places(up));
    let at = |(k, j): (usize, usize)| match j {
        j if j == up => upwards[k / steps],
        j if j == across => along[k % steps],
        j => middle[j],
    };
    let grid = Rows::F64(Array2::from_shape_fn((steps * steps, x_nd.ncols()), at));
    let mut predictor = model.on(on_cpu())?;
    let centre = Array2::from_shape_fn((1, x_nd.ncols()), |(_, j)| middle[j]);
    let (column, of) = shown(model, &mut predictor, &Rows::F64(centre))?;
    let values = match of {
        // Labels are fitted as 1 and -1: what lies beyond is as sure as it gets.
        Some(_) => predictor
            .scores(&grid)?
            .mapv(|score| score.clamp(-1.0, 1.0)),
        None => predictor.predict(&grid)?,
    };
    Ok(Surface {
        across: along,
        up: upwards,
        values: values.column(column).to_vec(),
        of,
    })
}

/// Which column of scores is shown, and of which label they are: of two the second, of more the one
/// that is predicted for this row. Of amounts the last target, and no label.
fn shown(
    model: &LinearModel,
    predictor: &mut Predictor<'_>,
    row: &Rows,
) -> Result<(usize, Option<String>)> {
    let Targets::Classes(all) = &model.targets else {
        return Ok((0, None));
    };
    let label = match all.as_slice() {
        [_, second] => *second,
        _ => predictor.predict(row)?[[0, 0]],
    };
    let place = all.iter().position(|&class| class == label).unwrap_or(0);
    let scores = model.coefficients.intercept_t.len();
    let name = match model.label(label) {
        Label::Number(number) => number.to_string(),
        Label::Text(text) => text.to_owned(),
    };
    Ok((place.min(scores - 1), Some(name)))
}

/// Of sorted values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
