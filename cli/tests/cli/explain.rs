//! `bochner explain`: what a model goes by, as a page and as numbers.

use crate::{bochner, here, le, npy, number};
use serde_json::Value;
use std::{fmt::Write, fs, path::Path};

const ROWS: usize = 240;

fn area(i: usize) -> f64 {
    ((i * 37) % 101) as f64
}

/// Flats whose price is 2 area and 60 a kind of city, some of which are not known.
fn flats(path: &Path) {
    let mut text = String::from("area,city,since,noise,price\n");
    for i in 0..ROWS {
        let city = (i * 7 + i / 5) % 4;
        let name = ["Basel", "Bern", "Chur", ""][city];
        let price = 2.0 * area(i) + 60.0 * city as f64;
        let (month, day) = (1 + i % 12, 1 + (i / 12) % 28);
        let noise = (i * 53) % 97;
        writeln!(
            text,
            "{},{name},2024-{month:02}-{day:02},{noise},{price}",
            area(i)
        )
        .expect("a string");
    }
    fs::write(path, text).expect("written");
}

fn named<'a>(all: &'a Value, name: &str) -> &'a Value {
    let mut all = all.as_array().expect("a list").iter();
    all.find(|of| of["column"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

fn numbers(of: &Value) -> Vec<f64> {
    let all = of.as_array().expect("a list").iter();
    all.map(|value| value.as_f64().expect("a number")).collect()
}

/// A linear model of known slopes: importance by the closed form, categories whole, curves
/// straight, and Shapley values that sum up.
#[test]
fn a_linear_model_is_explained_by_its_slopes() {
    let here = here();
    let at = here.path();
    flats(&at.join("t.csv"));
    let run = |arguments: &str| bochner(at, arguments, &["--device", "cpu"]);
    let fit = "fit t.csv --target price --map none --lambda 1e-9 --missing indicator -q -o m.model";
    run(&format!("{fit} --target-scale as-is")).ok();
    let found = run("explain m.model t.csv --repeats 20 --rows 5 --json").json();
    let (importance, outputs) = (&found["importance"], &found["outputs"]);
    assert_eq!(importance.as_array().map(Vec::len), Some(4), "{importance}");
    assert_eq!(
        (found["measure"].as_str(), outputs[0].as_str()),
        (Some("squared error"), Some("price"))
    );
    let mean = (0..ROWS).map(area).sum::<f64>() / ROWS as f64;
    let variance = (0..ROWS).map(|i| (area(i) - mean).powi(2)).sum::<f64>() / ROWS as f64;
    let rise = |name: &str| number(named(importance, name), "rise");
    assert!(
        (rise("area") / (8.0 * variance) - 1.0).abs() < 0.06,
        "{importance}"
    );
    assert!(
        rise("noise").abs() < 1.0 && rise("since").abs() < 1.0,
        "{importance}"
    );
    let share = |name: &str| number(named(importance, name), "gradient");
    let cities = (0..ROWS).map(|i| 60.0 * ((i * 7 + i / 5) % 4) as f64);
    let mean = cities.clone().sum::<f64>() / ROWS as f64;
    let of_cities = cities.map(|y| (y - mean).powi(2)).sum::<f64>() / ROWS as f64;
    let wanted = of_cities / (of_cities + 4.0 * variance);
    assert!(
        (rise("city") / (2.0 * of_cities) - 1.0).abs() < 0.1,
        "{importance}"
    );
    assert!((share("city") - wanted).abs() < 0.003, "{importance}");
    assert!(
        (share("city") + share("area") - 1.0).abs() < 1e-6,
        "{importance}"
    );
    // Along the area all curves have its slope; cities are named, and the last is none.
    let along = &found["partial_dependence"];
    let (values, means) = (
        numbers(&named(along, "area")["values"]),
        &named(along, "area")["mean"],
    );
    for (g, value) in values.iter().enumerate().skip(1) {
        let rise = means[g][0].as_f64().expect("a mean") - means[0][0].as_f64().expect("a mean");
        assert!((rise - 2.0 * (value - values[0])).abs() < 0.05, "{rise}");
    }
    let city = named(along, "city");
    assert_eq!(
        city["values"],
        serde_json::json!(["Basel", "Bern", "Chur", null])
    );
    let of_missing = city["mean"][3][0].as_f64().expect("a mean");
    let of_bern = city["mean"][1][0].as_f64().expect("a mean");
    assert!((of_missing - of_bern - 120.0).abs() < 0.5, "{city}");
    let dates = &named(along, "since")["values"];
    assert_eq!(
        dates[0].as_str().map(|text| text[..5].to_owned()),
        Some("2024-".into())
    );
    // Of each row, with its own cells.
    let shapley = &found["shapley"];
    let mean = shapley["mean_output"][0].as_f64().expect("a mean");
    let rows = shapley["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 5);
    for row in rows {
        let i = row["row"].as_u64().expect("a place") as usize;
        let columns = shapley["columns"].as_array().expect("names");
        let place = columns
            .iter()
            .position(|name| name == "area")
            .expect("there");
        assert_eq!(row["cells"][place].as_f64(), Some(area(i)));
        let values = row["shapley"].as_array().expect("values").iter();
        let sum: f64 = values.map(|of| of[0].as_f64().expect("a value")).sum();
        let output = row["output"][0].as_f64().expect("a prediction");
        assert!(
            (sum - (output - mean)).abs() < 1e-9 * output.abs().max(1.0),
            "{row}"
        );
    }
    // A page and a file of numbers, which is what --json prints but for the time that it took.
    let said = run("explain m.model t.csv --rows 3 -o e.html").ok().stdout;
    assert!(
        said.contains("error rises by") && said.contains("area"),
        "{said}"
    );
    let page = fs::read_to_string(at.join("e.html")).expect("a page");
    for heading in [
        "Importance by exchange",
        "Importance by gradients",
        "Along columns",
        "What columns add",
    ] {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    assert!(page.contains("<td>Basel</td>") && page.contains("since (days from 2024-01-0"));
    assert!(!page.contains("http") && !page.contains("NaN") && !page.contains("<script"));
    run("explain m.model t.csv --repeats 20 --rows 5 -o e.json").ok();
    let file = fs::read_to_string(at.join("e.json")).expect("numbers");
    let mut written: Value = serde_json::from_str(&file).expect("JSON");
    let mut printed = found.clone();
    for object in [&mut written, &mut printed] {
        object["seconds"] = Value::Null;
    }
    assert_eq!(written, printed);
}

/// An additive model: the function of each column with its band, on a page of the fit, too; Shapley
/// values are exact.
#[test]
fn an_additive_model_is_drawn_part_by_part() {
    let here = here();
    let at = here.path();
    flats(&at.join("t.csv"));
    let run = |arguments: &str| bochner(at, arguments, &["--device", "cpu", "-q"]);
    let fit = "fit t.csv --target price --additive --features 160 --missing indicator";
    let fit = format!("{fit} --target-scale as-is --report f.html -o m.model");
    let said = run(&fit).ok().stdout;
    assert!(said.contains("4 functions of single columns"), "{said}");
    let page = fs::read_to_string(at.join("f.html")).expect("a page");
    assert!(page.contains("<h2>What each part adds</h2>"));
    assert!(page.contains("two standard errors") && page.contains(">Basel</text>"));
    let found = run("explain m.model t.csv --repeats 1 --rows 2 -o e.html --json").json();
    let page = fs::read_to_string(at.join("e.html")).expect("a page");
    assert!(page.contains("<h2>What each part adds</h2>") && page.contains("are exact"));
    assert_eq!(found["shapley"]["how"], "exact");
    let (shapes, parts) = (&found["shapes"], &found["shapes"]["parts"]);
    assert_eq!(
        (&shapes["of"], &shapes["rows"]),
        (&"prediction".into(), &240.into())
    );
    // The city matters most, and its function is 60 a kind.
    let of = |name: &str| {
        let mut all = parts.as_array().expect("a list").iter();
        let own = all.find(|of| of["columns"] == serde_json::json!([name]));
        own.unwrap_or_else(|| panic!("no {name}: {parts}"))
    };
    let city = of("city");
    assert_eq!(
        city["values"][0],
        serde_json::json!(["Basel", "Bern", "Chur", null])
    );
    let value = |of: &Value, key: &str, g: usize| of[key][g][0].as_f64().expect("a number");
    let (basel, missing) = (value(city, "mean", 0), value(city, "mean", 3));
    let band = value(city, "band", 3) + value(city, "band", 0);
    assert!((missing - basel - 180.0).abs() < 4.0 + 2.0 * band, "{city}");
    let area = of("area");
    let (values, last) = (numbers(&area["values"][0]), 49);
    let rise = value(area, "mean", last) - value(area, "mean", 0);
    assert!(
        (rise / (2.0 * (values[last] - values[0])) - 1.0).abs() < 0.05,
        "{area}"
    );
    let said = run("explain m.model t.csv --repeats 1 --rows 2")
        .ok()
        .stdout;
    assert!(said.contains("exact, against 64 rows"), "{said}");
    // A model of all columns has no parts, and says nothing of them.
    run("fit t.csv --target price --features 60 --missing indicator --report f.html -o w.model")
        .ok();
    let page = fs::read_to_string(at.join("f.html")).expect("a page");
    assert!(!page.contains("What each part adds"));
    let whole = run("explain w.model t.csv --repeats 1 --rows 0 --json").json();
    assert!(whole.get("shapes").is_none());
}

/// Without targets predictions are what moves; columns are named, and what cannot be had is said in
/// one line.
#[test]
fn what_is_asked_for_is_looked_along_or_refused() {
    let here = here();
    let at = here.path();
    flats(&at.join("t.csv"));
    let run = |arguments: &str| bochner(at, arguments, &["--device", "cpu", "-q"]);
    run("fit t.csv --target price --features 60 --missing indicator -o m.model").ok();
    let rows = fs::read_to_string(at.join("t.csv")).expect("written");
    let bare = rows
        .lines()
        .map(|line| line.rsplit_once(',').map_or("", |of| of.0));
    fs::write(at.join("x.csv"), bare.collect::<Vec<_>>().join("\n")).expect("written");
    let few = "--repeats 2 --sample 50";
    let found = run(&format!(
        "explain m.model x.csv {few} --columns noise,city --json"
    ))
    .json();
    assert_eq!(found["measure"], "how far predictions move");
    assert_eq!(
        (&found["error"], number(&found, "rows")),
        (&Value::Null, 50.0)
    );
    let along = found["partial_dependence"].as_array().expect("a list");
    assert_eq!(
        (&along[0]["column"], &along[1]["column"]),
        (&"noise".into(), &"city".into())
    );
    let said = run(&format!("explain m.model x.csv {few}")).ok().stdout;
    assert!(
        said.contains("without targets") && said.contains("moves by"),
        "{said}"
    );
    let none = run(&format!("explain m.model x.csv {few} --rows 0 --json")).json();
    assert!(none.get("shapley").is_none());

    run("fit x.csv --model kmeans --clusters 2 --features 20 --missing indicator -o k.model").ok();
    fs::write(at.join("none.csv"), "area,city,since,noise\n").expect("written");
    for (arguments, fragments) in [
        (
            "m.model x.csv --columns rooms",
            ["\"rooms\"", "area, city, since, noise"],
        ),
        (
            "k.model x.csv",
            ["kmeans learns without targets", "regressor or a classifier"],
        ),
        ("m.model x.csv -o e.txt", ["e.txt", ".html or .json"]),
        ("m.model x.csv -o x.csv", ["x.csv", "would be replaced"]),
        ("m.model x.csv -o none/e.html", ["none", "no directory"]),
        ("m.model x.csv --target price", ["x.csv", "\"price\""]),
        ("m.model t.csv --target noise", ["t.csv", "predicts price"]),
        ("m.model none.csv", ["none.csv", "no rows"]),
        ("m.model x.csv --repeats 0", ["--repeats", "1 or more"]),
    ] {
        run(&format!("explain {arguments}")).fails(&fragments);
    }
}

/// Models of every kind, with columns by their numbers where they have no names.
#[test]
fn every_kind_of_model_is_explained() {
    let here = here();
    let at = here.path();
    let x: Vec<f64> = (0..100)
        .flat_map(|i| {
            [
                f64::from((i * 7) % 23) / 23.0,
                f64::from((i * 5) % 19) / 19.0,
            ]
        })
        .collect();
    let y: Vec<f64> = x
        .chunks(2)
        .map(|row| f64::from(u8::from(row[0] > 0.5)) + f64::from(u8::from(row[0] > 0.8)))
        .collect();
    npy(at.join("x.npy"), "<f8", false, "(100, 2)", &le(&x));
    npy(at.join("y.npy"), "<f8", false, "(100, 1)", &le(&y));
    let two: Vec<f64> = y.iter().map(|y| y.min(1.0)).collect();
    npy(at.join("two.npy"), "<f8", false, "(100, 1)", &le(&two));
    let amounts = ["squared error", "prediction"];
    let probable = ["log loss", "probability"];
    for (fit, targets, [measure, kind], outputs, has_gradient) in [
        (
            "--task regression --model gaussian-process",
            "y.npy",
            amounts,
            1,
            true,
        ),
        (
            "--task regression --model kernel-ridge",
            "y.npy",
            amounts,
            1,
            true,
        ),
        (
            "--task regression --map binning",
            "y.npy",
            amounts,
            1,
            false,
        ),
        (
            "--task regression --model svr --loss quantile --quantile 0.9",
            "y.npy",
            ["pinball loss", "prediction"],
            1,
            true,
        ),
        (
            "--model svm",
            "y.npy",
            ["share of wrong labels", "score"],
            3,
            true,
        ),
        ("--model logistic", "y.npy", probable, 3, true),
        (
            "--task classification --probabilities",
            "two.npy",
            probable,
            1,
            true,
        ),
    ] {
        let fit = format!("fit x.npy --targets {targets} {fit} --device cpu -q -o m.model");
        let size = if fit.contains("kernel-ridge") {
            ""
        } else {
            "--features 40"
        };
        bochner(at, &format!("{fit} {size}"), &[]).ok();
        let explain = format!("explain m.model x.npy --targets {targets} --rows 2 --repeats 2");
        let found = bochner(at, &explain, &["--device", "cpu", "-q", "--json"]).json();
        assert_eq!(
            (&found["measure"], &found["outputs_are"]),
            (&measure.into(), &kind.into()),
            "{fit}"
        );
        assert_eq!(
            found["outputs"].as_array().map(Vec::len),
            Some(outputs),
            "{fit}"
        );
        let first = &found["importance"][0];
        assert_eq!(first["column"], "0", "{fit}: {first}");
        assert_eq!(first["gradient"].is_null(), !has_gradient, "{fit}");
        assert_eq!(
            found["shapley"]["rows"][0]["shapley"][1]
                .as_array()
                .map(Vec::len),
            Some(outputs)
        );
    }
}
