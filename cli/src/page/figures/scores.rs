//! Pictures of how well models predict.

use super::{Axis, Drawn, Point, Series, figure, list, number, points, text};
use crate::report::Value;

/// Rows of each label by what was predicted.
pub(super) fn confusion(object: &Value) -> String {
    let names: Vec<String> = list(object, "classes").iter().map(text).collect();
    let row = |row: &Value| -> Vec<u64> {
        let counts = row.as_array().map_or(&[] as &[Value], Vec::as_slice);
        counts.iter().filter_map(Value::as_u64).collect()
    };
    let counts: Vec<Vec<u64>> = list(object, "confusion").iter().map(row).collect();
    if names.is_empty() || counts.is_empty() {
        return String::new();
    }
    let what = "Rows by label, at the left, and by what was predicted, above. Colours and per cent are shares of a \
                label's rows: one colour for what is right, one for what is wrong.";
    figure(&crate::page::confusion::scene(what, &names, &counts), what)
}

/// How often the likeliest class was right, against its probability.
pub(super) fn calibration(object: &Value) -> String {
    let parts = list(object, "calibration").iter();
    let parts = parts.map(|part| {
        let point = Point::new(number(part, "probability"), number(part, "right"));
        with_deviation(point, number(part, "rows"))
    });
    against_ideal(
        parts.collect(),
        ["rows that were scored", "as probabilities say"],
        "Rows in ten parts by the probability of their likeliest class. Below the dashed line a model is too sure. Bars show \
         one standard deviation of a share.",
        ["probability of the likeliest class", "share that was right"],
    )
}

/// How often intervals of a Gaussian law held their targets, against their level.
pub(super) fn levels(levels: &Value) -> String {
    let values = number(levels, "values");
    let level = |pair: &Value| {
        let at = |i: usize| pair[i].as_f64().unwrap_or(f64::NAN);
        with_deviation(Point::new(at(0), at(1) / values), values)
    };
    against_ideal(
        list(levels, "within").iter().map(level).collect(),
        ["targets that were scored", "as intervals say"],
        "Share of targets inside their interval, by the level of the intervals. Below the dashed line intervals are too \
         narrow. Bars show one standard deviation of a share.",
        ["level of the interval", "share of targets inside"],
    )
}

/// A share of so many, with its standard deviation.
fn with_deviation(point: Point, of: f64) -> Point {
    point.spread((point.y * (1.0 - point.y) / of).sqrt())
}

/// Shares against what they are said to be.
fn against_ideal(
    shares: Vec<Point>,
    [measured, said]: [&str; 2],
    caption: &str,
    [x, y]: [&str; 2],
) -> String {
    if shares.is_empty() {
        return String::new();
    }
    let ideal = [0.0, 1.0].map(|p| Point::new(p, p));
    let series = vec![
        Series::new(measured, Drawn::Joined, shares),
        Series::new(said, Drawn::Dashed, ideal),
    ];
    points(caption, Axis::linear(x, ""), Axis::linear(y, ""), series)
}

/// What predictions lack of their targets.
pub(super) fn residuals(object: &Value) -> String {
    let at = |pair: &Value, i: usize| pair[i].as_f64().unwrap_or(f64::NAN);
    let kept = list(object, "kept").iter();
    let kept: Vec<Point> = kept
        .map(|pair| Point::new(at(pair, 0), at(pair, 1)))
        .collect();
    if kept.is_empty() {
        return String::new();
    }
    let (from, to) = ends(kept.iter().map(|point| point.x));
    let some = match number(object, "rows") {
        rows if rows > kept.len() as f64 => {
            format!(", of {} rows spread evenly over all", kept.len())
        }
        _ => String::new(),
    };
    let x = Axis::over("prediction", "", kept.iter().map(|point| point.x));
    let series = vec![
        Series::new("rows", Drawn::Marks, kept),
        Series::level("no error", from, to, 0.0),
    ];
    points(
        &format!("Target less prediction against the prediction{some}; the first target."),
        x,
        Axis::linear("target - prediction", ""),
        series,
    )
}

/// Predictions of rows with one column along it, with their intervals if there are any.
pub(super) fn along(along: &Value) -> String {
    let mut rows: Vec<&Value> = list(along, "rows").iter().collect();
    rows.sort_by(|a, b| number(a, "x").total_cmp(&number(b, "x")));
    if rows.is_empty() {
        return String::new();
    }
    let line = |y: fn(&Value) -> f64| -> Vec<Point> {
        let point = |row: &&Value| Point::new(number(row, "x"), y(row));
        rows.iter().map(point).collect()
    };
    let mut series = vec![
        Series::new("targets", Drawn::Marks, line(|row| number(row, "target"))),
        Series::new(
            "predictions",
            Drawn::Line,
            line(|row| number(row, "prediction")),
        ),
    ];
    let mut caption = "Targets and predictions along the only column; the first target.".to_owned();
    if !rows[0]["ends"].is_null() {
        let ends: [fn(&Value) -> f64; 2] = [
            |row| row["ends"][0].as_f64().unwrap_or(f64::NAN),
            |row| row["ends"][1].as_f64().unwrap_or(f64::NAN),
        ];
        series.extend(ends.map(|end| Series::new("interval", Drawn::Dashed, line(end))));
        caption.push_str(" Dashed: the ends of intervals that hold nine of ten targets.");
    }
    let x = Axis::over(
        along["column"].as_str().unwrap_or_default(),
        "",
        rows.iter().map(|row| number(row, "x")),
    );
    let values = series.iter().flat_map(|series| &series.points);
    let y = Axis::over("target", "", values.map(|point| point.y));
    points(&caption, x, y, series)
}

/// How predictions are distributed: shares of labels, or of amounts in bins of equal width.
pub(super) fn predictions(predicted: &Value) -> String {
    let all = number(predicted, "rows");
    let labels = list(predicted, "labels").iter();
    let labels: Vec<(String, f64)> = labels
        .map(|label| (text(&label["label"]), number(label, "rows") / all))
        .collect();
    if !labels.is_empty() {
        return super::shared(
            "Share of the rows that each label was predicted for",
            labels,
        );
    }
    let kept = list(predicted, "kept").iter().filter_map(Value::as_f64);
    let kept: Vec<f64> = kept.filter(|value| value.is_finite()).collect();
    if kept.is_empty() {
        return String::new();
    }
    let x = Axis::over("prediction", "", kept.iter().copied());
    let outline = histogram(&kept, x.log);
    points(
        &format!(
            "Share of {} rows in bins of equal width; the first target.",
            kept.len()
        ),
        x,
        Axis::linear("share of rows", ""),
        vec![Series::new("predictions", Drawn::Line, outline)],
    )
}

/// The outline of shares in bins of equal width: twice the cube root of the number (Rice's rule).
fn histogram(values: &[f64], log: bool) -> Vec<Point> {
    let along = |v: f64| if log { v.log10() } else { v };
    let back = |v: f64| if log { 10_f64.powf(v) } else { v };
    let (from, to) = ends(values.iter().map(|&v| along(v)));
    let bins = (2.0 * (values.len() as f64).cbrt()).ceil().min(40.0);
    let width = if to > from { (to - from) / bins } else { 1.0 };
    let mut counts = vec![0_u32; bins as usize];
    let last = counts.len() - 1;
    for &value in values {
        counts[(((along(value) - from) / width) as usize).min(last)] += 1;
    }
    let edge = |i: usize| back(from + width * i as f64);
    let share = |count: u32| f64::from(count) / values.len() as f64;
    let tops = counts
        .iter()
        .enumerate()
        .flat_map(|(i, &count)| [edge(i), edge(i + 1)].map(|x| Point::new(x, share(count))));
    let end = edge(counts.len());
    let ground = |x: f64| Point::new(x, 0.0);
    [ground(edge(0))]
        .into_iter()
        .chain(tops)
        .chain([ground(end)])
        .collect()
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}

/// How far each column of two samples differs.
pub(super) fn shifts(object: &Value) -> String {
    let columns = list(object, "columns_by_shift").iter();
    let name = |of: &Value| match &of["name"] {
        Value::Null => format!("column {}", of["column"]),
        name => text(name),
    };
    let mut columns: Vec<(String, f64)> = columns.map(|of| (name(of), number(of, "mmd"))).collect();
    columns.truncate(super::COLUMNS);
    if columns.is_empty() {
        return String::new();
    }
    let what = "Maximum mean discrepancy of each column alone between both samples, the largest first: 0 where \
                they have one law.";
    let said = |mmd: f64| format!("{mmd:.3}");
    figure(&crate::page::chart::bars(what, &columns, said), what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn histograms_have_shares_of_equal_bins() {
        // Eight values make four bins, from 0 to 8.
        let outline = histogram(&[0.0, 0.5, 1.0, 1.5, 2.5, 4.5, 5.0, 8.0], false);
        let tops: Vec<f64> = outline.iter().map(|point| point.y).collect();
        assert_eq!(
            tops,
            [0.0, 0.5, 0.5, 0.125, 0.125, 0.25, 0.25, 0.125, 0.125, 0.0]
        );
        assert_eq!((outline[0].x, outline[2].x, outline[9].x), (0.0, 2.0, 8.0));
        // One value alone is a bin, and decades are of one width.
        assert_eq!(histogram(&[3.0], false)[1].y, 1.0);
        let decades = histogram(&[1.0, 10.0, 100.0, 1000.0], true);
        assert!(
            (decades[2].x - 1000_f64.powf(0.25)).abs() < 1e-9,
            "{decades:?}"
        );
    }

    #[test]
    fn intervals_are_drawn_along_a_column_in_its_order() {
        let row =
            |x: f64| json!({"x": x, "target": 1.0, "prediction": x, "ends": [x - 1.0, x + 1.0]});
        let mut one = json!({"column": "age", "rows": [row(2.0), row(0.0), row(1.0)]});
        let picture = along(&one);
        assert!(
            picture.contains(">age</text>") && picture.contains("nine of ten"),
            "{picture}"
        );
        // Both ends from the left to the right.
        let lines = picture.split("<polyline class=\"line s2 dashed\"").skip(1);
        let mut count = 0;
        for line in lines.filter_map(|line| line.split_once("points=\"")) {
            let points = line.1.split('"').next().unwrap_or_default();
            let x = |point: &str| point.split(',').next().and_then(|x| x.parse::<f64>().ok());
            let xs: Vec<f64> = points.split(' ').filter_map(x).collect();
            // The sample of the legend has two points.
            count += usize::from(xs.len() == 3 && xs.is_sorted());
        }
        assert_eq!(count, 2, "{picture}");
        for i in 0..3 {
            one["rows"][i]["ends"] = Value::Null;
        }
        assert!(!along(&one).contains("nine of ten"));
    }

    #[test]
    fn what_differs_most_has_the_longest_bar() {
        let of = |column: u32, name: Value, mmd: f64| json!({"column": column, "name": name, "mmd": mmd});
        let object =
            json!({"columns_by_shift": [of(1, json!("age"), 0.25), of(0, Value::Null, 0.125)]});
        let picture = shifts(&object);
        for text in ["age", "column 0", "0.250", "0.125"] {
            assert!(picture.contains(&format!(">{text}</text>")), "{picture}");
        }
    }
}
