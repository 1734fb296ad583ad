//! Pictures of what a model goes by.

use super::{
    Axis, COLUMNS, Drawn, Point, Series, bars, escaped, figure, list, number, points, text,
};
use crate::report::{Value, six_digits};
use std::fmt::Write as _;

/// Curves of single rows that are drawn.
const CURVES: usize = 15;
/// Columns that are named of what makes up a prediction.
const NAMED: usize = 5;

/// The rise of the error of each column.
pub(super) fn rises(object: &Value) -> String {
    let measure = text(&object["measure"]);
    let what = match object["error"].as_f64() {
        Some(error) => format!(
            "By how much the {measure} rises when a column is exchanged between rows; that of the \
             rows as they are is {}.",
            six_digits(error)
        ),
        None => "Without targets: how far predictions move when a column is exchanged between \
                 rows, in their standard deviations."
            .into(),
    };
    of_columns(object, "rise", &what, six_digits)
}

/// The share of each column in the squared gradient, in the same order.
pub(super) fn gradients(object: &Value) -> String {
    let what = "Share of each column in the mean squared gradient of the outputs, columns by their \
                standard deviations, in the order above.";
    of_columns(object, "gradient", what, super::per_cent)
}

fn of_columns(object: &Value, key: &str, what: &str, said: fn(f64) -> String) -> String {
    let all = list(object, "importance").iter();
    let all = all.filter_map(|of| Some((text(&of["column"]), of[key].as_f64()?)));
    let all: Vec<(String, f64)> = all.take(COLUMNS).collect();
    match all.is_empty() {
        true => String::new(),
        false => figure(&bars(what, &all, said), what),
    }
}

/// How outputs go along each column; `axes` has the name of each axis and where values lie on it.
pub(super) fn along(object: &Value, axes: &Value) -> String {
    let columns = list(object, "partial_dependence").iter();
    let axes = axes.as_array().map_or(&[] as &[Value], Vec::as_slice);
    let outputs: Vec<String> = list(object, "outputs").iter().map(text).collect();
    let output = match (&outputs[..], object["outputs_are"].as_str()) {
        ([one], Some("prediction")) => one.clone(),
        ([one], Some(kind)) => format!("{kind} of {one}"),
        (_, kind) => kind.unwrap_or("prediction").to_owned(),
    };
    let each = columns.zip(axes).map(|(of, axis)| {
        if of["ordered"] == true {
            curves(of, axis, &outputs, &output)
        } else {
            categories(of, &outputs, &output)
        }
    });
    each.collect()
}

/// The output of this place in a list of outputs.
pub(super) fn at(outputs: &Value, k: usize) -> f64 {
    outputs[k].as_f64().unwrap_or(f64::NAN)
}

/// The least and the largest of some values, where they differ.
pub(super) fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(ends, |(low, high), x| (low.min(x), high.max(x)));
    (low < high).then_some((low, high))
}

/// Numbers and dates: a line for each output, and rows of one output.
fn curves(of: &Value, axis: &Value, outputs: &[String], output: &str) -> String {
    let xs: Vec<Option<f64>> = list(axis, "x").iter().map(Value::as_f64).collect();
    let line = |values: &[Value], k: usize| -> Vec<Point> {
        let pairs = xs.iter().zip(values);
        pairs
            .filter_map(|(x, y)| Some(Point::new((*x)?, at(y, k))))
            .collect()
    };
    let mean = list(of, "mean");
    let mut series = Vec::new();
    if outputs.len() == 1 {
        for curve in list(of, "curves").iter().take(CURVES) {
            let values = curve.as_array().map_or(&[] as &[Value], Vec::as_slice);
            series.push(Series::new("single rows", Drawn::Line, line(values, 0)));
        }
    }
    for (k, name) in outputs.iter().enumerate() {
        let name = if outputs.len() == 1 {
            "mean of rows"
        } else {
            name
        };
        series.push(Series::new(name, Drawn::Joined, line(mean, k)));
        // Where it is missing has no place on the axis.
        let missing = xs.iter().position(Option::is_none);
        if let Some((missing, (from, to))) = missing.zip(span(xs.iter().flatten().copied())) {
            let y = at(&mean[missing], k);
            series.push(Series::level(format!("{name}, missing"), from, to, y));
        }
    }
    let name = text(&axis["name"]);
    let x = match axis["is_date"] == true {
        true => Axis::linear(&name, ""),
        false => Axis::over(&name, "", xs.iter().flatten().copied()),
    };
    let caption = format!(
        "{}: the mean over {} rows with this column set to each value, and other columns as they \
         are.",
        text(&of["column"]),
        text(&of["rows"])
    );
    points(&caption, x, Axis::linear(output, ""), series)
}

/// The mean of each category, in a table.
fn categories(of: &Value, outputs: &[String], output: &str) -> String {
    let mut table = format!(
        "<div class=\"wide\"><table>\n<tr><th scope=\"col\">{}</th>",
        escaped(&text(&of["column"]))
    );
    for name in outputs {
        let name = if outputs.len() == 1 { output } else { name };
        let _ = write!(table, "<th scope=\"col\">{}</th>", escaped(name));
    }
    table.push_str("</tr>\n");
    for (value, mean) in list(of, "values").iter().zip(list(of, "mean")) {
        let name = match value {
            Value::Null => "missing".into(),
            value => text(value),
        };
        let _ = write!(table, "<tr><td>{}</td>", escaped(&name));
        for k in 0..outputs.len() {
            let _ = write!(table, "<td>{}</td>", six_digits(at(mean, k)));
        }
        table.push_str("</tr>\n");
    }
    let rows = text(&of["rows"]);
    let _ = write!(
        table,
        "</table></div>\n<p class=\"caption\">The mean {} over {rows} rows with this column set to \
         each value.</p>\n",
        escaped(output)
    );
    table
}

/// What columns add to predictions: the mean size of each, and what makes up single ones.
pub(super) fn contributions(object: &Value) -> String {
    let shapley = &object["shapley"];
    let columns: Vec<String> = list(shapley, "columns").iter().map(text).collect();
    let sizes = list(shapley, "mean_absolute")
        .iter()
        .filter_map(Value::as_f64);
    let mut all: Vec<(String, f64)> = columns.iter().cloned().zip(sizes).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.truncate(COLUMNS);
    if all.is_empty() {
        return String::new();
    }
    let what = "Mean of |Shapley value| of each column over the rows that are explained.";
    let mut body = figure(&bars(what, &all, six_digits), what);
    let outputs: Vec<String> = list(object, "outputs").iter().map(text).collect();
    body.push_str(
        "<div class=\"wide\"><table>\n<tr><th scope=\"col\">row</th><th scope=\"col\">output</th>\
         <th scope=\"col\">mean of rows</th><th scope=\"col\" class=\"added\">what columns add, the largest</th></tr>\n",
    );
    for row in list(shapley, "rows") {
        let k = largest(&row["output"], outputs.len());
        let of = match outputs.len() {
            1 => String::new(),
            _ => format!("{}: ", outputs[k]),
        };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}{}</td><td>{}</td><td class=\"added\">{}</td></tr>",
            text(&row["row"]),
            escaped(&of),
            six_digits(at(&row["output"], k)),
            six_digits(at(&shapley["mean_output"], k)),
            escaped(&added(row, &columns, k))
        );
    }
    let rows = number(shapley, "background_rows");
    let how = match shapley["how"] == "exact" {
        true => "Values are exact against these rows.",
        false => {
            "Orders of the columns were sampled; behind +- is the standard error by these, where it \
             is 0.5 % of the value or more."
        }
    };
    let _ = write!(
        body,
        "</table></div>\n<p class=\"caption\">Rows are counted from 0. What all columns add is the \
         output less its mean over {rows} rows of the data; of several outputs the largest is \
         shown. {how}</p>\n"
    );
    body
}

fn largest(output: &Value, outputs: usize) -> usize {
    (1..outputs).fold(0, |best, k| {
        if at(output, k) > at(output, best) {
            k
        } else {
            best
        }
    })
}

/// Standard errors that are less of the value are not told.
const TOLD: f64 = 0.005;

/// Four significant digits.
fn brief(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e5).contains(&size) => {
            let decimals = (3.0 - size.log10().floor()).max(0.0) as usize;
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.3e}"),
    }
}

/// `area = 120: +34.10, rooms = 3: -2.500 +- 0.1000`.
fn added(row: &Value, columns: &[String], k: usize) -> String {
    let value = |j: usize| at(&row["shapley"][j], k);
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| value(b).abs().total_cmp(&value(a).abs()));
    let said = |&j: &usize| {
        let cell = match &row["cells"][j] {
            Value::Null => String::new(),
            cell => format!(" = {}", text(cell)),
        };
        let (value, error) = (value(j), at(&row["errors"][j], k));
        let error = match error > TOLD * value.abs() {
            true => format!(" +- {}", brief(error)),
            false => String::new(),
        };
        let sign = if value > 0.0 { "+" } else { "" };
        format!("{}{cell}: {sign}{}{error}", columns[j], brief(value))
    };
    order
        .iter()
        .take(NAMED)
        .map(said)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object() -> Value {
        json!({
            "measure": "squared error", "error": 0.5, "outputs": ["price"], "outputs_are": "prediction",
            "importance": [
                {"column": "<area>", "rise": 2.0, "deviation": 0.1, "gradient": 0.75},
                {"column": "city", "rise": -0.5, "deviation": 0.1, "gradient": Value::Null},
            ],
            "partial_dependence": [
                {"column": "<area>", "ordered": true, "rows": 7, "values": [1.0, 2.0, Value::Null],
                 "mean": [[1.0], [3.0], [2.5]], "curves": [[[0.0], [1.0], [2.0]]]},
                {"column": "city", "ordered": false, "rows": 7, "values": ["Bern", Value::Null],
                 "mean": [[-1.5], [3.0]], "curves": []},
            ],
            "shapley": {"columns": ["<area>", "city"], "mean_absolute": [0.25, 1.5],
                "mean_output": [2.0], "background_rows": 5,
                "rows": [{"row": 3, "output": [3.25], "cells": [1.5, "Bern"],
                          "shapley": [[-0.25], [1.5]], "errors": [[0.0], [0.125]]}]},
        })
    }

    #[test]
    fn columns_are_drawn_by_both_importances() {
        let object = object();
        let (rises, gradients) = (rises(&object), gradients(&object));
        assert!(
            rises.contains("squared error") && rises.contains("0.500000"),
            "{rises}"
        );
        assert_eq!(rises.matches("<rect").count(), 2);
        // Where no gradient is known no bar stands.
        assert_eq!(gradients.matches("<rect").count(), 1);
        assert!(gradients.contains("75.0 %") && gradients.contains("&lt;area&gt;"));
        assert_eq!(
            of_columns(&json!({"importance": []}), "rise", "", |_| String::new()),
            ""
        );
    }

    #[test]
    fn numbers_have_curves_and_categories_a_table() {
        let axes = json!([{"name": "<area>", "x": [1.0, 2.0, Value::Null]}, {}]);
        let page = along(&object(), &axes);
        for wanted in ["single rows", "mean of rows", "mean of rows, missing"] {
            assert!(
                page.contains(&format!(">{wanted}</text>")),
                "{wanted}: {page}"
            );
        }
        assert!(page.contains("<td>Bern</td><td>-1.50000</td>"), "{page}");
        assert!(page.contains("<td>missing</td><td>3.00000</td>"), "{page}");
        assert!(!page.contains("<area>"), "{page}");
    }

    #[test]
    fn what_columns_add_is_said_from_the_largest() {
        let page = contributions(&object());
        let wanted = "city = Bern: +1.500 +- 0.1250, &lt;area&gt; = 1.50000: -0.2500<";
        assert!(page.contains(wanted), "{page}");
        assert!(
            page.contains("<td>3</td><td>3.25000</td><td>2.00000</td>"),
            "{page}"
        );
        assert_eq!(contributions(&json!({"shapley": Value::Null})), "");
    }
}
