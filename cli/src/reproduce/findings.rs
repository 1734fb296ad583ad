//! What an experiment found: words, tables, pictures, and the numbers behind them.

use crate::page::{
    chart::{Chart, Scene, bars, figure, per_cent},
    escaped,
};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What an experiment found, in the order in which it is read.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    parts: Vec<Part>,
    numbers: Map<String, Value>,
    /// What was left out, and why.
    pub(super) missing: Vec<String>,
}

/// One part of a page.
#[derive(Debug)]
enum Part {
    Heading(String),
    Text(String),
    Grid(Grid),
    Picture(Picture),
}

/// A picture, whose files end in this name.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(super) name: String,
    pub(super) scene: Scene,
    caption: String,
}

/// A table.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// What it shows, and whose the published figures are.
    caption: String,
}

impl Grid {
    /// A table with these columns.
    pub(crate) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Adds a row.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// What it shows, and whose the published figures are.
    pub(crate) fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }
}

impl Findings {
    /// Begins a part.
    pub(crate) fn heading(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Heading(text.into()));
    }

    /// A paragraph.
    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Text(text.into()));
    }

    /// A table.
    pub(crate) fn grid(&mut self, grid: Grid) {
        self.parts.push(Part::Grid(grid));
    }

    /// A picture, whose files end in this name; none where nothing can be drawn.
    pub(crate) fn picture(&mut self, name: impl Into<String>, chart: Chart) {
        if let Some(scene) = chart.scene() {
            self.drawn(name.into(), scene, chart.caption);
        }
    }

    /// Bars of these names and shares, whose files end in this name.
    pub(crate) fn bars(
        &mut self,
        name: impl Into<String>,
        caption: impl Into<String>,
        items: &[(String, f64)],
    ) {
        let caption = caption.into();
        self.drawn(name.into(), bars(&caption, items, per_cent), caption);
    }

    fn drawn(&mut self, name: String, scene: Scene, caption: String) {
        self.parts.push(Part::Picture(Picture {
            name,
            scene,
            caption,
        }));
    }

    /// A number, or several, for programs.
    pub(crate) fn number(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.numbers.insert(key.into(), value.into());
    }

    /// More numbers of one list.
    pub(crate) fn more(&mut self, key: impl Into<String>, values: Vec<Value>) {
        let list = self.numbers.entry(key).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.extend(values);
        }
    }

    /// All numbers.
    pub(crate) fn numbers(&self) -> &Map<String, Value> {
        &self.numbers
    }

    /// All pictures.
    pub(crate) fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.parts.iter().filter_map(|part| match part {
            Part::Picture(picture) => Some(picture),
            _ => None,
        })
    }

    /// The middle of a page.
    pub(super) fn html(&self) -> String {
        let mut html = String::new();
        for part in &self.parts {
            let _ = match part {
                Part::Heading(text) => writeln!(html, "<h2>{}</h2>", escaped(text)),
                Part::Text(text) => writeln!(html, "<p>{}</p>", escaped(text)),
                Part::Picture(picture) => {
                    writeln!(html, "{}", figure(&picture.scene, &picture.caption))
                }
                Part::Grid(grid) => writeln!(html, "{}", grid.html()),
            };
        }
        for said in &self.missing {
            let _ = writeln!(
                html,
                "<p class=\"missing\">Left out: {}.</p>",
                escaped(said)
            );
        }
        html
    }
}

impl Grid {
    fn html(&self) -> String {
        let mut html = String::from("<div class=\"wide\"><table>\n<tr>");
        for head in &self.head {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(head));
        }
        html.push_str("</tr>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for cell in row {
                let _ = write!(html, "<td>{}</td>", escaped(cell));
            }
            html.push_str("</tr>\n");
        }
        let _ = write!(
            html,
            "</table></div>\n<p class=\"caption\">{}</p>",
            escaped(&self.caption)
        );
        html
    }
}

/// Mean and standard deviation over repeats (of one repeat 0).
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let deviation = match values.len() {
        0 | 1 => 0.0,
        _ => (squares / (n - 1.0)).sqrt(),
    };
    (mean, deviation)
}

/// `0.954 ± 0.011`.
pub(crate) fn with_deviation(values: &[f64], decimals: usize) -> String {
    let (mean, deviation) = mean_and_deviation(values);
    match values.len() {
        1 => format!("{mean:.decimals$}"),
        _ => format!("{mean:.decimals$} ± {deviation:.decimals$}"),
    }
}

/// The slope of the least squares line of ln y by ln x.
pub(crate) fn slope(xs: &[f64], ys: &[f64]) -> f64 {
    let mean = |of: &[f64]| of.iter().map(|v| v.ln()).sum::<f64>() / of.len() as f64;
    let (mx, my) = (mean(xs), mean(ys));
    let pairs = xs.iter().zip(ys).map(|(x, y)| (x.ln() - mx, y.ln() - my));
    let (over, under) = pairs.fold((0.0, 0.0), |(o, u), (x, y)| (o + x * y, u + x * x));
    over / under
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 2_f64.sqrt()));
        assert_eq!(with_deviation(&[0.5, 0.7], 2), "0.60 ± 0.14");
        assert_eq!(with_deviation(&[0.5], 2), "0.50");
    }

    #[test]
    fn the_slope_is_that_of_a_power() {
        let xs = [1.0, 2.0, 8.0];
        let ys = xs.map(|x: f64| 3.0 * x.powf(-0.7));
        assert!((slope(&xs, &ys) + 0.7).abs() < 1e-12);
    }
}
