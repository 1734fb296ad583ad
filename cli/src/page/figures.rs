//! Which pictures a report's numbers make.

mod explained;
mod scores;
mod shapes;

use super::{
    chart::{Axis, Chart, Drawn, Panel, Point, Series, bars, figure, per_cent},
    escaped,
};
use crate::report::{Value, six_digits};
use std::fmt::Write as _;

/// Columns whose importance is drawn; the others share one bar.
const COLUMNS: usize = 30;

/// Headings and figures, in order.
pub(super) fn draw_all(object: &Value, pictured: &Value) -> Vec<(&'static str, String)> {
    let all = [
        ("What was taken for what", scores::confusion(object)),
        (
            "How often probabilities came true",
            scores::calibration(object),
        ),
        (
            "How often intervals held",
            scores::levels(&pictured["levels"]),
        ),
        (
            "Predictions along the column",
            scores::along(&pictured["along"]),
        ),
        ("Residuals", scores::residuals(&pictured["residuals"])),
        (
            "What was predicted",
            scores::predictions(&pictured["predictions"]),
        ),
        ("What differs", scores::shifts(object)),
        ("Importance of columns", importance(object)),
        ("Importance by exchange", explained::rises(object)),
        ("Importance by gradients", explained::gradients(object)),
        (
            "What each part adds",
            shapes::shapes(object, &pictured["shape_axes"]),
        ),
        ("Along columns", explained::along(object, &pictured["axes"])),
        ("What columns add", explained::contributions(object)),
        ("Preparation and bandwidth", race(&object["chosen"])),
        ("What was tried", trials(object)),
        ("Penalty", penalties(object)),
        ("Error by features", kernel_errors(object)),
        ("Share of the ceiling", shares(object)),
    ];
    all.into_iter()
        .filter(|(_, figure)| !figure.is_empty())
        .collect()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(f64::NAN)
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => six_digits(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// Shares of the columns in the squared gradient of the fitted model.
fn importance(object: &Value) -> String {
    let columns = list(&object["metric"], "importance");
    let shares = columns
        .iter()
        .map(|of| (text(&of["column"]), number(of, "importance")));
    let what = "Share of each column in the mean squared gradient of the predictions";
    shared(what, shares.collect())
}

/// Bars of shares, the last of them of all that are not drawn; nothing of none.
fn shared(what: &str, mut shares: Vec<(String, f64)>) -> String {
    if shares.is_empty() {
        return String::new();
    }
    if shares.len() > COLUMNS {
        let rest = shares.split_off(COLUMNS);
        let sum = rest.iter().map(|(_, share)| share).sum();
        shares.push((format!("{} others", rest.len()), sum));
    }
    figure(&bars(what, &shares, per_cent), what)
}

/// An axis upwards that suits all points.
fn over(name: &str, series: &[Series]) -> Axis {
    let points = series.iter().flat_map(|series| &series.points);
    Axis::over(name, "", points.map(|point| point.y))
}

/// One panel of series.
fn points(caption: &str, x: Axis, y: Axis, series: Vec<Series>) -> String {
    Chart::new(caption, vec![Panel::new("", x, y, series)]).figure()
}

/// The errors of preparations and bandwidths that were chosen among, and that of the usual ones.
fn race(chosen: &Value) -> String {
    let candidates = list(chosen, "candidates");
    let multiple = |of: &Value| of["multiple"].as_f64();
    let mut series: Vec<Series> = Vec::new();
    for (words, standardize, linear, weighed) in [
        ("standardised", "yes", false, false),
        ("columns as they are", "no", false, false),
        ("columns over their ranges", "range", false, false),
        ("columns weighed", "yes", false, true),
        ("standardised, a line beside", "yes", true, false),
        ("as they are, a line beside", "no", true, false),
        ("over their ranges, a line beside", "range", true, false),
        ("weighed, a line beside", "yes", true, true),
    ] {
        let own = candidates.iter().filter(|of| {
            of["standardize"] == standardize
                && of["linear"].as_bool().unwrap_or(false) == linear
                && of["lengthscales"].is_array() == weighed
        });
        let points = own.filter_map(|of| {
            let point = Point::new(multiple(of)?, of["error"].as_f64()?);
            let hollow = of["rows"] != chosen["rows"];
            Some(Point { hollow, ..point })
        });
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if !points.is_empty() {
            series.push(Series::new(words, Drawn::Marks, points));
        }
    }
    let (from, to) = series
        .iter()
        .flat_map(|series| &series.points)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), p| {
            (low.min(p.x), high.max(p.x))
        });
    let usual = candidates.iter().find(|of| multiple(of).is_none());
    if let (Some(y), true) = (usual.and_then(|of| of["error"].as_f64()), from < to) {
        series.push(Series::level("gamma by scale", from, to, y));
    }
    let best = multiple(&chosen["chosen"]).map_or("gamma by scale".to_owned(), |multiple| {
        match chosen["chosen"]["linear"].as_bool() {
            Some(true) => format!("{multiple} medians with a line beside"),
            _ => format!("{multiple} medians"),
        }
    });
    points(
        &format!(
            "Mean squared error over the variance of the target, of rows that were left out: 1 is \
             what the mean gives. Filled: on {} rows, hollow: on fewer. {best} was chosen.",
            text(&chosen["rows"])
        ),
        Axis::log("bandwidth, in multiples of the median distance", ""),
        over("error of rows left out", &series),
        series,
    )
}

/// A picture of the trials of a search, and all of them in a table.
fn trials(object: &Value) -> String {
    let trials = list(object, "trials");
    let Some(most) = trials.iter().map(|trial| trial["rows"].as_u64()).max() else {
        return String::new();
    };
    let mut series: Vec<Series> = Vec::new();
    for trial in trials {
        let name = match &trial["metric"] {
            Value::Null => text(&trial["kernel"]),
            metric => format!("{}, metric {}", text(&trial["kernel"]), text(metric)),
        };
        let point = Point {
            x: number(trial, "multiple"),
            y: number(trial, "error"),
            spread: 0.0,
            hollow: trial["rows"].as_u64() < most,
        };
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series::new(name, Drawn::Marks, [point])),
        }
    }
    let x = Axis::log("bandwidth, in multiples of the median distance", "");
    let y = over("error on rows held out", &series);
    let mut figure = points(
        "Filled: trials on all training rows. Hollow: on a sample of them.",
        x,
        y,
        series,
    );
    const HEADS: [(&str, &str); 8] = [
        ("kernel", "kernel"),
        ("metric", "metric"),
        ("turns", "turns"),
        ("features", "features"),
        ("rows", "rows"),
        ("lengthscale", "sigma"),
        ("lambda", "lambda"),
        ("error", "error"),
    ];
    figure.push_str("<div class=\"wide\"><table>\n<tr>");
    for (_, head) in HEADS {
        let _ = write!(figure, "<th scope=\"col\">{head}</th>");
    }
    figure.push_str("</tr>\n");
    for trial in trials {
        figure.push_str("<tr>");
        for (key, _) in HEADS {
            let _ = write!(figure, "<td>{}</td>", escaped(&text(&trial[key])));
        }
        figure.push_str("</tr>\n");
    }
    figure.push_str("</table></div>\n");
    figure
}

/// The error of each penalty that was weighed.
fn penalties(object: &Value) -> String {
    let curve = list(object, "lambda_curve").iter().map(|point| Point {
        x: number(point, "lambda"),
        y: number(point, "error"),
        spread: 0.0,
        hollow: number(point, "lambda") != number(object, "lambda"),
    });
    let series = vec![Series::new("error", Drawn::Joined, curve)];
    let (x, y) = (Axis::log("lambda", ""), over("error", &series));
    let by = text(&object["lambda_by"]);
    points(
        &format!("Error by {by} for each penalty; the chosen one is filled."),
        x,
        y,
        series,
    )
}

/// Errors of the approximate kernel by the number of features, a line for each map.
fn kernel_errors(object: &Value) -> String {
    let mut series: Vec<Series> = Vec::new();
    for result in list(object, "results") {
        let point = Point {
            x: number(result, "features"),
            y: number(&result["frobenius"], "mean"),
            spread: number(&result["frobenius"], "spread"),
            hollow: false,
        };
        let name = text(&result["label"]);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series::new(name, Drawn::Joined, [point])),
        }
    }
    let x = Axis::log("features", "");
    let y = Axis::log("relative error in the Frobenius norm", "");
    points(
        "Mean over seeds; bars show one standard deviation.",
        x,
        y,
        series,
    )
}

/// How near each measured case came to what bounds it.
fn shares(object: &Value) -> String {
    let case = |case: &Value| {
        let sizes = ["rows", "dim", "features"].map(|key| text(&case[key]));
        let name = format!("{}, {}", text(&case["op"]), sizes.join(" x "));
        (name, number(case, "share"))
    };
    let cases: Vec<(String, f64)> = list(object, "cases").iter().map(case).collect();
    if cases.is_empty() {
        return String::new();
    }
    let what = "Rows x columns x features of each case: its share of the measured rate of what bounds it, multiply-adds or a \
                copy of as many bytes";
    figure(&bars(what, &cases, per_cent), what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_search_makes_a_picture_and_a_table() {
        let trial = |kernel: &str, metric: Value, multiple: f64, rows: u64, error: f64| {
            json!({"kernel": kernel, "metric": metric, "multiple": multiple, "rows": rows,
                   "error": error, "features": 100, "lambda": 1e-6, "lengthscale": 2.0, "turns": 0})
        };
        let object = json!({"trials": [
            trial("gaussian", Value::Null, 1.0, 50, 0.25),
            trial("gaussian", Value::Null, 2.0, 100, 0.125),
            trial("gaussian", json!("full"), 0.5, 100, 0.5),
        ]});
        let figures = draw_all(&object, &Value::Null);
        assert_eq!(figures.len(), 1);
        let (heading, figure) = &figures[0];
        assert_eq!(*heading, "What was tried");
        // Two series, of which one trial saw fewer rows.
        for name in [">gaussian</text>", ">gaussian, metric full</text>"] {
            assert_eq!(figure.matches(name).count(), 1, "{figure}");
        }
        assert_eq!(figure.matches("hollow").count(), 1);
        assert_eq!(figure.matches("<tr>").count(), 4);
        assert!(figure.contains("<td>0.125000</td>"), "{figure}");
    }

    #[test]
    fn what_was_chosen_among_is_drawn_by_preparation() {
        let one = |standardize: &str, multiple: Value, rows: u64, error: Value| json!({"standardize": standardize, "multiple": multiple, "rows": rows, "error": error});
        let best = one("yes", json!(0.5), 512, json!(0.25));
        let mut with_line = one("yes", json!(0.5), 512, json!(0.3));
        with_line["linear"] = json!(true);
        let object = json!({"chosen": {"rows": 512, "chosen": best, "candidates": [
            one("auto", Value::Null, 512, json!(0.5)),
            best,
            one("no", json!(1.0), 256, json!(0.75)),
            with_line,
            one("no", json!(0.25), 128, Value::Null),
        ]}});
        let figures = draw_all(&object, &Value::Null);
        let (heading, figure) = &figures[0];
        assert_eq!((figures.len(), *heading), (1, "Preparation and bandwidth"));
        for name in [
            "standardised",
            "columns as they are",
            "standardised, a line beside",
            "gamma by scale",
        ] {
            assert!(figure.contains(&format!(">{name}</text>")), "{figure}");
        }
        // The one that saw fewer rows; the one without an error is not drawn.
        assert_eq!(figure.matches(" hollow\"").count(), 1, "{figure}");
        assert!(figure.contains("0.5 medians was chosen"), "{figure}");
    }

    #[test]
    fn columns_beyond_the_drawn_share_a_bar() {
        let columns: Vec<Value> = (0..40)
            .map(|j| json!({"column": format!("c{j}"), "importance": 0.025}))
            .collect();
        let object = json!({"metric": {"kind": "diagonal", "importance": columns}});
        let figure = &draw_all(&object, &Value::Null)[0].1;
        assert_eq!(figure.matches("<rect").count(), 31);
        assert!(
            figure.contains("10 others") && figure.contains("25.0 %"),
            "{figure}"
        );
    }

    #[test]
    fn the_chosen_penalty_is_filled() {
        let point = |lambda: f64, error: f64| json!({"lambda": lambda, "error": error});
        let object = json!({"lambda": 1e-5, "lambda_by": "leave-one-out",
            "lambda_curve": [point(1e-6, 0.3), point(1e-5, 0.2), point(1e-4, 0.4)]});
        let figure = &draw_all(&object, &Value::Null)[0].1;
        assert_eq!(figure.matches("hollow").count(), 2);
        assert!(figure.contains("leave-one-out"));
    }

    #[test]
    fn maps_are_lines_with_their_spread() {
        let result = |features: u32, mean: f64| {
            json!({"label": "fourier", "features": features,
                   "frobenius": {"mean": mean, "spread": 0.01}})
        };
        let object = json!({"results": [result(100, 0.2), result(400, 0.1)]});
        let figure = &draw_all(&object, &Value::Null)[0].1;
        // One through both, and a bar of each.
        assert_eq!(figure.matches("class=\"line s0\"").count(), 3);
    }

    #[test]
    fn nothing_to_draw_makes_no_heading() {
        assert!(draw_all(&json!({"rows": 3, "metric": null}), &Value::Null).is_empty());
    }
}
