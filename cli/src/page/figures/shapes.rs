//! Pictures of the functions that an additive model is the sum of.

use super::{
    Axis, Drawn, Point, Series,
    explained::{at, span},
    figure, list, points, text,
};
use crate::{
    page::levels::{cells, dots},
    report::Value,
};

/// Functions that are drawn, those that vary most.
const DRAWN: usize = 24;
/// Values of a curve that have a mark each.
const MARKED: usize = 15;
/// Levels of a text that have a dot each: the furthest from 0.
const LEVELS: usize = 40;
/// Standard errors to each side.
const ERRORS: f64 = 2.0;

/// The function of each column and each pair; `axes` has, of each of their columns, the name of the
/// axis and where values lie on it.
pub(super) fn shapes(object: &Value, axes: &Value) -> String {
    let shapes = &object["shapes"];
    let outputs: Vec<String> = list(shapes, "outputs").iter().map(text).collect();
    let kind = text(&shapes["of"]);
    let parts = list(shapes, "parts");
    let axes = axes.as_array().map_or(&[] as &[Value], Vec::as_slice);
    let each = parts.iter().zip(axes).take(DRAWN).map(|(of, axes)| {
        let drawn = Part {
            of,
            axes: axes.as_array().map_or(&[], Vec::as_slice),
            outputs: &outputs,
            added: format!("added to the {kind}"),
        };
        drawn.figure()
    });
    let mut figures: String = each.collect();
    if parts.len() > DRAWN {
        let more = parts.len() - DRAWN;
        figures.push_str(&format!(
            "<p class=\"caption\">{more} more vary less.</p>\n"
        ));
    }
    figures
}

/// A function that is drawn.
struct Part<'a> {
    of: &'a Value,
    axes: &'a [Value],
    outputs: &'a [String],
    /// What it is called what the function adds.
    added: String,
}

impl Part<'_> {
    fn figure(&self) -> String {
        let names: Vec<String> = list(self.of, "columns").iter().map(text).collect();
        match names.as_slice() {
            [name] if list(self.of, "ordered").first() == Some(&Value::Bool(true)) => {
                self.curve(name)
            }
            [name] => (0..self.outputs.len())
                .map(|k| self.levels(name, k))
                .collect(),
            [one, other] => (0..self.outputs.len())
                .map(|k| self.pair([one, other], k))
                .collect(),
            _ => String::new(),
        }
    }

    /// The function at value g, of output k.
    fn mean(&self, g: usize, k: usize) -> f64 {
        at(&self.of["mean"][g], k)
    }

    /// Two standard errors of it; 0 where none is known.
    fn band(&self, g: usize, k: usize) -> f64 {
        ERRORS * self.of["band"][g][k].as_f64().unwrap_or(0.0)
    }

    /// ` of high`, where there are several outputs.
    fn of_output(&self, k: usize) -> String {
        match self.outputs.len() {
            1 => String::new(),
            _ => format!(" of {}", self.outputs[k]),
        }
    }

    /// Values of a column as text.
    fn values(&self, c: usize) -> Vec<String> {
        let all = self.of["values"][c].as_array();
        let all = all.map_or(&[] as &[Value], Vec::as_slice);
        let name = |value: &Value| match value {
            Value::Null => "missing".into(),
            value => text(value),
        };
        all.iter().map(name).collect()
    }

    fn curve(&self, name: &str) -> String {
        let axis = self.axes.first().unwrap_or(&Value::Null);
        let xs: Vec<Option<f64>> = list(axis, "x").iter().map(Value::as_f64).collect();
        let known = || xs.iter().enumerate().filter_map(|(g, x)| Some((g, (*x)?)));
        let drawn = match known().count() <= MARKED {
            true => Drawn::Joined,
            false => Drawn::Line,
        };
        let has_band = self.of["band"].is_array() && self.outputs.len() == 1;
        let mut series = Vec::new();
        for (k, output) in self.outputs.iter().enumerate() {
            let named = if self.outputs.len() == 1 {
                name
            } else {
                output
            };
            let along = known().map(|(g, x)| Point::new(x, self.mean(g, k)));
            series.push(Series::new(named, drawn, along));
            for side in [-1.0, 1.0].into_iter().filter(|_| has_band) {
                let edge =
                    known().map(|(g, x)| Point::new(x, self.mean(g, k) + side * self.band(g, k)));
                series.push(Series::new("two standard errors", Drawn::Dashed, edge));
            }
            // Where it is missing has no place on the axis.
            let missing = xs.iter().position(Option::is_none);
            if let Some((g, (from, to))) = missing.zip(span(known().map(|of| of.1))) {
                let y = self.mean(g, k);
                series.push(Series::level(format!("{named}, missing"), from, to, y));
            }
        }
        let x_name = text(&axis["name"]);
        let x = match axis["is_date"] == true {
            true => Axis::linear(&x_name, ""),
            false => Axis::over(&x_name, "", known().map(|of| of.1)),
        };
        let caption = match has_band {
            true => format!("{name}: what it adds, with two standard errors to each side."),
            false => format!("{name}: what it adds."),
        };
        points(&caption, x, Axis::linear(&self.added, ""), series)
    }

    fn levels(&self, name: &str, k: usize) -> String {
        let values = self.values(0).into_iter().enumerate();
        let items = values.map(|(g, value)| (value, self.mean(g, k), self.band(g, k)));
        let mut items: Vec<_> = items.collect();
        let mut far: Vec<f64> = items.iter().map(|item| item.1.abs()).collect();
        far.sort_by(|a, b| b.total_cmp(a));
        let all = items.len();
        if all > LEVELS {
            items.retain(|item| item.1.abs() >= far[LEVELS - 1]);
            items.truncate(LEVELS);
        }
        let shown = match all > items.len() {
            true => format!(" Shown are {LEVELS} of {all} levels, the furthest from 0."),
            false => String::new(),
        };
        let bars = match self.of["band"].is_array() {
            true => ", with two standard errors to each side",
            false => "",
        };
        let what = format!(
            "{name}: {}{}{bars}. The line is at 0.{shown}",
            self.added,
            self.of_output(k)
        );
        figure(&dots(&what, &items), &what)
    }

    fn pair(&self, [one, other]: [&String; 2], k: usize) -> String {
        let (across, up) = (self.values(0), self.values(1));
        let value = |a: usize, b: usize| self.mean(a * up.len() + b, k);
        let all = (0..across.len() * up.len()).map(|g| self.mean(g, k));
        let (low, high) = span(all).unwrap_or((0.0, 0.0));
        let what = format!(
            "{one}, to the right, and {other}, upwards: {}{} beside what each adds by itself, from \
             {} to {}. One colour is above 0, one below.",
            self.added,
            self.of_output(k),
            super::six_digits(low),
            super::six_digits(high)
        );
        figure(&cells(&what, (&across, &up), value), &what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_function_has_its_picture() {
        let object = json!({"shapes": {"of": "prediction", "outputs": ["price"], "parts": [
            {"columns": ["<area>"], "ordered": [true], "values": [[1.0, 2.0, Value::Null]],
             "mean": [[-1.0], [1.0], [0.5]], "band": [[0.25], [0.125], [0.5]]},
            {"columns": ["city"], "ordered": [false], "values": [["Bern", Value::Null]],
             "mean": [[-1.5], [3.0]], "band": Value::Null},
            {"columns": ["<area>", "city"], "ordered": [true, false],
             "values": [[1.0, 2.0], ["Bern"]], "mean": [[-0.5], [0.5]], "band": Value::Null},
        ]}});
        let area = json!({"name": "<area>", "x": [1.0, 2.0, Value::Null]});
        let axes = json!([[area], [{}], [area, {}]]);
        let page = shapes(&object, &axes);
        assert_eq!(page.matches("<figure>").count(), 3);
        for wanted in [
            "two standard errors",
            "&lt;area&gt;, missing",
            "missing",
            "Bern",
        ] {
            assert!(
                page.contains(&format!(">{wanted}</text>")),
                "{wanted}: {page}"
            );
        }
        assert!(page.contains("from -0.500000 to 0.500000"), "{page}");
        assert!(!page.contains("<area>"), "{page}");
        assert_eq!(shapes(&json!({}), &Value::Null), "");
    }
}
