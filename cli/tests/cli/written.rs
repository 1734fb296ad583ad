//! Tables whose numbers and dates are not written as programs write them.

use crate::{bochner, here, number};
use std::{fs, path::Path};

/// How numbers are written.
type Numbers = Box<dyn Fn(f64) -> String>;
/// How day, month and year are.
type Dates = fn((u32, u32, u32)) -> String;

/// Rows of a table: a size, a price of it and a day, the same in every test.
fn rows() -> Vec<(f64, f64, u32)> {
    let row = |i: u32| {
        let size = f64::from(1000 + i * 37 % 2400) / 8.0;
        let day = i * 53 % 700;
        (size, 1200.5 + 4.25 * size + f64::from(day), day)
    };
    (0..300).map(row).collect()
}

/// Day, month and year of a day after 2019-12-31.
fn date(day: u32) -> (u32, u32, u32) {
    let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut left, mut year) = (day, 2020);
    if left >= 366 {
        (left, year) = (left - 366, 2021);
    }
    for (month, length) in lengths.into_iter().enumerate() {
        let length = if year == 2021 && month == 1 {
            28
        } else {
            length
        };
        if left < length {
            return (left + 1, month as u32 + 1, year);
        }
        left -= length;
    }
    unreachable!("less than two years")
}

/// Writes the table: what parts columns, how a number and how a date is written.
fn table(
    path: &Path,
    mark: char,
    write: impl Fn(f64) -> String,
    day: impl Fn((u32, u32, u32)) -> String,
) {
    let mut text = format!("size{mark}price{mark}day\n");
    for (size, price, of) in rows() {
        let cells = [write(size), write(price), day(date(of))];
        text.push_str(&cells.join(&mark.to_string()));
        text.push('\n');
    }
    fs::write(path, text).expect("writes");
}

fn plain(value: f64) -> String {
    value.to_string()
}

fn iso((day, month, year): (u32, u32, u32)) -> String {
    format!("{year}-{month:02}-{day:02}")
}

/// With marks between thousands and before the fraction.
fn marked(value: f64, thousands: &str, decimal: char) -> String {
    // Three digits after a mark could be a thousand.
    let text = format!("{value:.5}");
    let (whole, fraction) = text.split_once('.').expect("a point");
    let whole = match whole.len() {
        ..=3 => whole.to_owned(),
        long => format!("{}{thousands}{}", &whole[..long - 3], &whole[long - 3..]),
    };
    format!("{whole}{decimal}{fraction}")
}

/// Fits both, and says whether they predict alike, with what stands on stderr.
fn alike(at: &Path, options: &str) -> String {
    let fit = |file: &str, options: &str| {
        let command = format!(
            "fit {file} --target price --features 60 --lambda 1e-4 --device cpu {options} -o \
             {file}.model"
        );
        let run = bochner(at, &command, &[]).ok();
        let predict = format!("predict {file}.model {file} -o {file}.npy --device cpu -q");
        bochner(at, &predict, &[]).ok();
        (
            fs::read(at.join(format!("{file}.npy"))).expect("predictions"),
            run.stderr,
        )
    };
    let fill = if options.contains("--missing") {
        "--missing mean"
    } else {
        ""
    };
    let (plain, _) = fit("plain.csv", fill);
    let (written, said) = fit("written.csv", options);
    assert!(plain == written, "{options}: {said}");
    said
}

#[test]
fn numbers_with_other_marks_are_numbers() {
    let here = here();
    let at = here.path();
    let written = at.join("written.csv");
    table(&at.join("plain.csv"), ',', plain, iso);
    let quoted = |value: f64| format!("\"{}\"", marked(value, ",", '.'));
    let cases: [(char, Numbers, &str); 5] = [
        (';', Box::new(|v| plain(v).replace('.', ",")), "1234,5"),
        (';', Box::new(|v| marked(v, ".", ',')), "1.234,5"),
        (';', Box::new(|v| marked(v, "\u{a0}", ',')), "1 234,5"),
        ('\t', Box::new(|v| marked(v, "'", '.')), "1'234.5"),
        (',', Box::new(quoted), "1,234.5"),
    ];
    for (mark, write, says) in cases {
        table(&written, mark, write, iso);
        let said = alike(at, "");
        assert!(said.contains("\"price\"") && said.contains(says), "{said}");
        // What stands for gaps is the mean of the numbers that the text is.
        alike(at, "--missing mean");
    }
    // Who says so is told nothing.
    table(&written, ';', |v| plain(v).replace('.', ","), iso);
    let said = alike(at, "--decimal ,");
    assert!(!said.contains("which all cells are"), "{said}");
    // Other rows are read as those of the fit were, and as nothing else.
    fs::write(at.join("new.csv"), "size;day\n150.5;2020-01-05\n").expect("writes");
    bochner(
        at,
        "predict written.csv.model new.csv -o x.npy --device cpu",
        &[],
    )
    .fails(&["line 2", "150.5", "1234,5"]);
    let shown = bochner(
        at,
        "evaluate written.csv.model written.csv --device cpu --json",
        &[],
    )
    .json();
    assert!(number(&shown, "r2") > 0.99, "{shown}");
}

#[test]
fn numbers_that_may_be_two_things_are_asked_about() {
    let here = here();
    let at = here.path();
    let mut text = String::from("rent|price\n");
    for i in 0..60 {
        text.push_str(&format!("{}{:02},000|{}\n", 1 + i % 9, i, i * i % 41));
    }
    fs::write(at.join("t.csv"), &text).expect("writes");
    let fit = "fit t.csv --target price --features 20 --gamma scale --lambda 1e-3 --device cpu -o m.model";
    bochner(at, fit, &[]).fails(&[
        "line 2",
        "\"100,000\" may be 100 or 100000",
        "say --decimal ','",
        "say --thousands ','",
        "--categorical rent",
    ]);
    for (options, scale) in [("--decimal ,", 1.0), ("--thousands ,", 1000.0)] {
        let report = bochner(at, &format!("{fit} {options} --standardize=no --json"), &[]).json();
        // 1 / (d Var X) by the rule of scale.
        let rents: Vec<f64> = (0..60).map(|i| f64::from((1 + i % 9) * 100 + i)).collect();
        let mean = rents.iter().sum::<f64>() / 60.0;
        let variance = rents.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 60.0;
        let gamma = 1.0 / (variance * scale * scale);
        let found = number(&report, "gamma");
        assert!(
            (found / gamma - 1.0).abs() < 1e-6,
            "{options}: {found} and {gamma}"
        );
    }
    // One word among many numbers of one manner.
    let strange = text.replace(",000", ",5").replacen("430,5|", "none?|", 1);
    assert_ne!(strange.matches("none?").count(), 0, "{strange}");
    fs::write(at.join("t.csv"), strange).expect("writes");
    bochner(at, fit, &[]).fails(&[
        "\"none?\" among numbers as in 1234,5",
        "take it for no value with --na 'none?', or name it with --categorical rent",
    ]);
    // Semicolons separate where commas mark decimals, so nothing is asked.
    fs::write(at.join("t.csv"), text.replace('|', ";")).expect("writes");
    let run = bochner(at, fit, &[]).ok();
    let says = "\"rent\": read as numbers as in 1234,5";
    assert!(run.stderr.contains(says), "{run:?}");
}

#[test]
fn dates_in_other_orders_are_dates() {
    let here = here();
    let at = here.path();
    let written = at.join("written.csv");
    table(&at.join("plain.csv"), ',', plain, iso);
    let cases: [(&str, Dates); 6] = [
        ("%Y%m%d", |(d, m, y)| format!("{y}{m:02}{d:02}")),
        ("%m/%d/%Y", |(d, m, y)| format!("{m:02}/{d:02}/{y}")),
        ("%d.%m.%Y", |(d, m, y)| format!("{d}.{m}.{y}")),
        ("%Y/%m/%d", |(d, m, y)| format!("{y}/{m:02}/{d:02}")),
        ("%d/%m/%y", |(d, m, y)| {
            format!("{d:02}/{m:02}/{:02}", y % 100)
        }),
        ("%d.%m.%Y", |(d, m, y)| {
            format!("{d:02}.{m:02}.{y} 00:00:00Z")
        }),
    ];
    for (says, day) in cases {
        table(&written, ',', plain, day);
        let said = alike(at, "");
        assert!(said.contains("\"day\"") && said.contains(says), "{said}");
        alike(at, "--missing mean");
    }
    // A format of one's own.
    table(&written, ',', plain, |(d, m, y)| {
        format!("{d:02}_{m:02}_{y}")
    });
    let fit = "fit written.csv --target price --features 60 --device cpu";
    bochner(at, &format!("{fit} -q"), &[]).fails(&[
        "holds \"01_01_2020\", which looks like an amount or a date and is read as none",
        "say how dates are written, as in --date-format %d.%m.%Y",
    ]);
    alike(at, "--date-format %d_%m_%Y");
    // What fits no column is not what was meant.
    bochner(at, &format!("{fit} -q --date-format %Y/%m/%d"), &[]).fails(&[
        "has no column whose cells are all dates as %Y/%m/%d",
        "give the format that they have",
    ]);
    // Of dates by ISO 8601 and of plain numbers, too.
    table(&written, ',', plain, |(d, m, y)| {
        format!("{y}-{m:02}-{d:02}")
    });
    alike(at, "--date-format %Y-%m-%d");
    table(&written, ',', plain, |(d, m, y)| format!("{y}{m:02}{d:02}"));
    alike(at, "--date-format %Y%m%d");
    let bad = bochner(at, &format!("{fit} --date-format %q"), &[]);
    assert!(
        bad.code == Some(2) && bad.stderr.contains("%d.%m.%Y"),
        "{bad:?}"
    );
}

/// Among numbers alone, and where the first rows have one day; beside a text; as numbers, if
/// somebody says so.
#[test]
fn dates_and_times_without_marks_are_such() {
    let here = here();
    let at = here.path();
    let packed = |(d, m, y): (u32, u32, u32)| format!("{y}{m:02}{d:02}");
    let write = |file: &str, day: &dyn Fn(u32) -> String, kind: &str| {
        let mut text = format!(
            "size,price,day{}\n",
            if kind.is_empty() { "" } else { ",kind" }
        );
        for (size, price, of) in rows() {
            text.push_str(&format!("{size},{price},{}{kind}\n", day(of)));
        }
        fs::write(at.join(file), text).expect("writes");
    };
    let says = "\"day\": read as dates as %Y%m%d, which all cells are; --numeric (numeric=) takes \
                them for numbers";
    for kind in ["", ",b"] {
        write("plain.csv", &|day| iso(date(day)), kind);
        write("written.csv", &|day| packed(date(day)), kind);
        let said = alike(at, "");
        assert!(said.contains(says), "{said}");
        let bad = fs::read_to_string(at.join("written.csv")).expect("rows");
        fs::write(at.join("bad.csv"), bad.replacen("20200101", "20201301", 1)).expect("writes");
        bochner(at, "predict written.csv.model bad.csv -o p.npy -q", &[]).fails(&[
            "line 2",
            "is no date",
            "write it as %Y%m%d",
        ]);
    }
    let numbers = "fit written.csv --target price --features 60 --device cpu --numeric day -o m";
    let run = bochner(at, numbers, &[]).ok();
    assert!(!run.stderr.contains("\"day\": read as"), "{run:?}");
    // Of 300 rows the first 280 have one day.
    let late = |row: u32, day| if row < 280 { 4 } else { day };
    let mut text = String::from("size,price,day\n");
    for (row, (size, price, day)) in (0..).zip(rows()) {
        text.push_str(&format!(
            "{size},{price},{}\n",
            packed(date(late(row, day)))
        ));
    }
    fs::write(at.join("late.csv"), text).expect("writes");
    let late = "fit late.csv --target price --features 60 --device cpu -o m";
    let run = bochner(at, late, &[]).ok();
    assert!(run.stderr.contains(says), "{run:?}");
    // A time of the day.
    let time = |day: u32, mark: &str| format!("{:02}{mark}{:02}", day % 24, day * 7 % 60);
    write("plain.csv", &|day| time(day, ":"), "");
    write("written.csv", &|day| time(day, ""), "");
    let said = alike(at, "");
    assert!(
        said.contains("\"day\": read as times of day as in 0930, in days"),
        "{said}"
    );
}

/// A pattern of weekdays, which the day alone does not tell; a model keeps the parts.
#[test]
fn dates_have_parts_where_these_tell_something_or_are_asked_for() {
    let here = here();
    let at = here.path();
    let mut text = String::from("day,y\n");
    for day in 0..280 {
        let (d, m, y) = date(day);
        // 2020-01-01 was a Wednesday.
        let weekend = (day + 2) % 7 >= 5;
        text.push_str(&format!(
            "{}T12:00,{}\n",
            iso((d, m, y)),
            u32::from(weekend) * 7 + day % 2
        ));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target y --task regression --test .25 --features 60 --device cpu";
    let found = bochner(at, &format!("{fit} --json"), &[]).ok();
    let note = "\"day\": taken as days and their place in the week, which tell something of the \
                target; --dates day takes days alone";
    assert!(found.stderr.contains(note), "{found:?}");
    // A fit like another reads cells as that did, whatever it was told.
    for (options, of) in [("", "found"), ("--dates day --missing mean", "days")] {
        bochner(at, &format!("{fit} {options} -q -o {of}"), &[]).ok();
        let like = format!("fit t.csv --like {of} --test .25 --device cpu -q -o like");
        bochner(at, &like, &[]).ok();
        let job = bochner(at, &format!("show {of} --job"), &[]).ok();
        fs::write(at.join("job.toml"), job.stdout).expect("writes");
        let by = "fit t.csv --job job.toml --target y --test .25 --device cpu -q -o job";
        bochner(at, by, &[]).ok();
        let files = [of, "like", "job"].map(|name| fs::read(at.join(name)).expect("reads"));
        assert!(files.iter().all(|file| *file == files[0]), "{options}");
    }
    let day = bochner(at, &format!("{fit} --dates day --json"), &[]).ok();
    assert!(!day.stderr.contains("--dates"), "{day:?}");
    let asked = format!("{fit} --dates parts -o m.model --json");
    let parts = bochner(at, &asked, &[]).ok();
    assert!(!parts.stderr.contains("--dates"), "{parts:?}");
    let (day, parts) = (day.json(), parts.json());
    let all = [&day, &parts, &found.json()];
    let [day, parts_r2, found_r2] = all.map(|report| number(report, "r2"));
    assert!(parts_r2 > 0.9 && day < 0.5, "{parts_r2} {day}");
    assert_eq!(found_r2, parts_r2);
    let became = serde_json::json!(["day: dates, with their place in the week"]);
    assert_eq!(parts["columns_became"], became);
    let shown = bochner(at, "show m.model --json", &[]).json();
    assert_eq!(shown["columns_became"], became);
    let like = bochner(at, "fit t.csv --like m.model --device cpu --json", &[]).json();
    assert_eq!(like["columns_became"], became);
    let scored = bochner(at, "evaluate m.model t.csv --device cpu --json", &[]).json();
    assert!(number(&scored, "r2") > 0.9, "{scored}");
    let again = bochner(at, "evaluate m.model t.csv --device cpu --dates day", &[]);
    assert!(
        again.code == Some(2) && again.stderr.contains("--dates are for `fit`"),
        "{again:?}"
    );
    bochner(at, "export m.model -o m.onnx", &[]).fails(&["column \"day\"", "a date"]);
}

#[test]
fn dates_that_may_be_two_days_are_asked_about() {
    let here = here();
    let at = here.path();
    let early = |(d, m, y): (u32, u32, u32)| format!("{:02}/{m:02}/{y}", 1 + d % 12);
    table(&at.join("t.csv"), ',', plain, early);
    let fit = "fit t.csv --target price --features 30 --device cpu -q";
    bochner(at, fit, &[]).fails(&[
        " may be 2020-",
        "say --date-format %m/%d/%Y",
        "say --date-format %d/%m/%Y",
    ]);
    bochner(at, &format!("{fit} --date-format %d/%m/%Y"), &[]).ok();
    // One that is none, among six hundred or after the first.
    table(&at.join("t.csv"), ',', plain, |(d, m, y)| {
        format!("{d:02}.{m:02}.{y}")
    });
    let text = fs::read_to_string(at.join("t.csv")).expect("reads");
    let strange: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            200 => line
                .rsplit_once(',')
                .map_or(String::new(), |(rest, _)| format!("{rest},soon")),
            _ => line.to_owned(),
        })
        .collect();
    fs::write(at.join("t.csv"), strange.join("\n")).expect("writes");
    bochner(at, fit, &[]).fails(&[
        "line 201",
        "\"soon\" among dates as %d.%m.%Y",
        "--categorical day",
    ]);
    fs::write(
        at.join("t.csv"),
        "price,day\n1,2020-01-01\n2,2020-01-02\n3,soon\n4,2020-01-04\n",
    )
    .expect("writes");
    bochner(at, fit, &[]).fails(&["line 4", "\"soon\" among dates", "--categorical day"]);
    bochner(at, &format!("{fit} --categorical day"), &[]).ok();
}

/// A target is not left out, so that is no advice where its cells are not understood.
#[test]
fn who_asks_about_a_target_does_not_advise_to_leave_it_out() {
    let here = here();
    let rows: String = (0..30)
        .map(|i| format!("{i},{} Foo 2021\n", 1 + i % 28))
        .collect();
    fs::write(here.path().join("t.csv"), format!("a,day\n{rows}")).expect("written");
    let said = |options: &str| {
        let fit = format!("fit t.csv --device cpu --features 8 --sigma 1 {options}");
        let run = bochner(here.path(), &fit, &[]);
        assert_eq!(run.code, Some(1), "{run:?}");
        run.stderr
    };
    for how in ["", " --numeric day"] {
        assert!(said(&format!("--target a{how}")).contains("leave it out with --ignore day"));
        assert!(!said(&format!("--target day{how}")).contains("--ignore"));
    }
}
