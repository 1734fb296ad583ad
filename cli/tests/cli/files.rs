//! Text tables as programs and people leave them: lines in front of the names, encodings, rows
//! without a target.

use crate::{Run, are_numbers, bochner, command, finish, here};
use std::{
    fs::{self, File},
    path::Path,
};

const FIT: &str = "--target y --task regression --features 8 --sigma 9 --lambda 1e-3 --device cpu";

/// A table with a name and cells that are not ASCII.
fn table() -> String {
    let row = |i: usize| {
        let city = ["Bern", "Zürich", "Genève"][i % 3];
        format!("{i},{}.5,{city},{}\n", i % 7, i * i % 11)
    };
    format!("t,größe,city,y\n{}", (0..40).map(row).collect::<String>())
}

fn write(at: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(at.join(name), bytes).expect("written");
}

fn fit(at: &Path, file: &str, options: &str) -> Run {
    bochner(at, &format!("fit {file} {FIT} --json {options}"), &[])
}

/// What the fit of a file without its own name and places makes of the rows: to be compared.
fn said(run: Run) -> (serde_json::Value, String) {
    let stderr = run.stderr.clone();
    let mut report = run.json();
    let report = report.as_object_mut().expect("an object");
    for key in ["seconds", "rows_per_second", "output"] {
        report.remove(key);
    }
    (report.clone().into(), stderr)
}

fn notes(stderr: &str) -> Vec<&str> {
    stderr
        .lines()
        .filter(|line| line.starts_with("note: t.csv: "))
        .collect()
}

/// Lines in front of the names are found or skipped, and the fit is that of the table without them.
#[test]
fn lines_in_front_of_the_names_are_no_rows() {
    let here = here();
    let at = here.path();
    let plain = table();
    write(at, "t.csv", &plain);
    let (expected, _) = said(fit(at, "t.csv", ""));
    let semicolons = plain.replace(',', ";");
    for (text, options, note) in [
        (format!("sep=;\n{semicolons}"), "", None),
        (format!("\u{feff}sep=;\r\n{semicolons}"), "", None),
        (
            format!("# made by X\n{plain}"),
            "",
            Some("1 line that begins with # is left out"),
        ),
        (
            format!("# X, 2024\n#\n\n{plain}"),
            "",
            Some("2 lines that begin with # are left out"),
        ),
        (format!("Sales of \"2024\n\n{plain}"), "--skip-rows 2", None),
        (format!("sep=;\nSales\n{semicolons}"), "--skip-rows 2", None),
        (plain.replace("\n3,", "\n# 3,\n3,"), "--comment #", None),
        (format!("-- a\n{}-- \"b", plain), "--comment=--", None),
    ] {
        write(at, "t.csv", &text);
        let (found, stderr) = said(fit(at, "t.csv", options));
        assert!(found == expected, "{options} of {:?}", text.lines().next());
        let notes = notes(&stderr);
        assert_eq!(notes.len(), usize::from(note.is_some()), "{stderr}");
        assert!(note.is_none_or(|note| notes[0].contains(note)), "{stderr}");
    }
    // A name may begin so.
    write(at, "t.csv", format!("#{plain}"));
    let (found, stderr) = said(fit(at, "t.csv", ""));
    assert_eq!(found["columns_became"][0], "#t: numbers");
    assert_eq!(notes(&stderr), [""; 0]);
    // What is said of the files of a fit is said of those of a model.
    write(at, "t.csv", format!("Sales\n{plain}"));
    fit(at, "t.csv", "--skip-rows 1 --test 0.3 -o m.model").ok();
    let skip = "--skip-rows 1 --device cpu -q";
    for command in [
        "evaluate m.model t.csv",
        "predict m.model t.csv --keep t -o p.csv",
    ] {
        bochner(at, &format!("{command} {skip}"), &[]).ok();
        bochner(at, &format!("{command} --device cpu -q"), &[]).fails(&["--skip-rows 1"]);
    }
    let kept = fs::read_to_string(at.join("p.csv")).expect("predictions");
    assert!(
        kept.starts_with("t,") && kept.lines().count() == 41,
        "{kept}"
    );
    bochner(at, &format!("independence t.csv --x t --y y {skip}"), &[]).ok();
    bochner(
        at,
        &format!("featurize t.csv --ignore city --features 4 -o z.npy {skip}"),
        &[],
    )
    .ok();
}

/// Titles are named by what they do to the table: no column of that name, rows of another length.
#[test]
fn errors_of_titles_say_how_many_lines_to_skip() {
    let here = here();
    let at = here.path();
    let plain = table();
    for (above, lines) in [
        ("Sales of 2024\n", 1),
        ("Sales of 2024\n\nby city\n", 3),
        ("Sales of 2024,,,\n", 1),
        ("Sales, by city\n", 1),
    ] {
        write(at, "t.csv", format!("{above}{plain}"));
        let cure = format!("--skip-rows {lines}");
        fit(at, "t.csv", "-q").fails(&["has no column \"y\"", &cure]);
        fit(at, "t.csv", &format!("-q {cure}")).ok();
        let clusters = "fit t.csv --model kmeans --clusters 2 --features 8 --device cpu -q";
        if !above.contains(",,") {
            bochner(at, clusters, &[]).fails(&["fields, but the first row has", &cure]);
        }
    }
    write(at, "t.csv", plain.replace("\n3,", "\n# three\n3,"));
    fit(at, "t.csv", "-q").fails(&["line 5 has 1 field,", "--comment '#'"]);
    // Rows that are broken, and names that nobody wrote.
    write(at, "t.csv", plain.replace("\n3,", "\n3,3,"));
    let run = fit(at, "t.csv", "-q");
    assert!(!run.stderr.contains("--skip-rows"), "{run:?}");
    run.fails(&["line 5 has 5 fields", "give every row the same columns"]);
    let open = plain.replace('\n', ",\n").replacen(",\n", "\n", 1);
    write(at, "t.csv", open);
    let cure = "leave out the delimiter at the end of the lines";
    fit(at, "t.csv", "-q").fails(&["line 2 has 5 fields", cure]);
    write(at, "t.csv", &plain);
    let run = fit(at, "t.csv", "-q --ignore Bern");
    assert!(!run.stderr.contains("--skip-rows"), "{run:?}");
    run.fails(&["no column \"Bern\""]);
}

#[test]
fn names_that_are_numbers_are_asked_about() {
    let here = here();
    let at = here.path();
    let rows: String = (0..40)
        .map(|i| format!("{i},{}.5,{}\n", i % 7, i * i % 11))
        .collect();
    write(at, "t.csv", format!("2019,2020,2021\n{rows}"));
    let fit = "fit t.csv --task regression --features 8 --sigma 9 --device cpu --json";
    let asked = format!("{fit} --target 2021 -q");
    bochner(at, &asked, &[]).fails(&["no column \"2021\"", "--header yes"]);
    assert_eq!(
        bochner(at, &format!("{asked} --header yes"), &[]).json()["rows"],
        40
    );
    let (report, stderr) = said(bochner(at, &format!("{fit} --target 2"), &[]));
    assert_eq!(report["rows"], 41);
    assert!(
        notes(&stderr).len() == 1 && stderr.contains("--header yes"),
        "{stderr}"
    );
    // Rows that count as the first does are rows.
    write(at, "t.csv", format!("1,2,3\n4,5,6\n{rows}"));
    let (_, stderr) = said(bochner(at, &format!("{fit} --target 2"), &[]));
    assert_eq!(notes(&stderr), [""; 0]);
}

/// A table is the same in every encoding that is found or said, packed or piped.
#[test]
fn characters_are_read_as_they_are_written() {
    let here = here();
    let at = here.path();
    let plain = table();
    write(at, "t.csv", &plain);
    let expected = said(fit(at, "t.csv", "")).0;
    assert_eq!(expected["columns_became"][1], "größe: numbers");
    let units = || plain.encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    let latin: Vec<u8> = plain
        .chars()
        .map(|c| u8::try_from(c).expect("Latin-1"))
        .collect();
    for (bytes, options, note) in [
        ([&[0xff, 0xfe][..], &little].concat(), "", Some("UTF-16LE")),
        ([&[0xfe, 0xff][..], &big].concat(), "", Some("UTF-16BE")),
        (little, "--encoding utf-16", None),
        (big, "--encoding utf-16be", None),
        (latin.clone(), "", Some("windows-1252")),
        (latin.clone(), "--encoding latin-1", None),
        (
            [&b"\xef\xbb\xbf"[..], plain.as_bytes()].concat(),
            "--encoding utf-8",
            None,
        ),
    ] {
        write(at, "t.csv", &bytes);
        let (found, stderr) = said(fit(at, "t.csv", options));
        assert!(found == expected, "{options}: {found}");
        let notes = notes(&stderr);
        assert_eq!(notes.len(), usize::from(note.is_some()), "{stderr}");
        let says = |note: &str| notes[0].contains(note) && notes[0].contains("--encoding");
        assert!(note.is_none_or(says), "{stderr}");
    }
    // From a pipe, as what reads it is a copy of its own.
    write(at, "t.csv", &latin);
    let mut piped = command(at);
    piped.args(format!("fit - {FIT} --json").split_whitespace());
    let run = finish(piped.stdin(File::open(at.join("t.csv")).expect("opens")));
    assert!(said(run).0 == expected);
    fit(at, "t.csv", "-q --encoding utf-8").fails(&["name of column 1", "--encoding windows-1252"]);
    fit(at, "t.csv", "-q --encoding klingon").fails(&["--encoding", "windows-1252"]);
    // A model knows its columns whatever they are written in.
    fit(at, "t.csv", "-q -o m.model").ok();
    write(at, "u.csv", &plain);
    for name in ["t", "u"] {
        let predict = format!("predict m.model {name}.csv -o {name}.out.csv --device cpu -q");
        bochner(at, &predict, &[]).ok();
    }
    let read = |name: &str| fs::read(at.join(name)).expect("predictions");
    assert!(read("t.out.csv") == read("u.out.csv"));
}

/// A comma that may be two things is decimal where semicolons separate.
#[test]
fn semicolons_settle_what_commas_are() {
    let here = here();
    let at = here.path();
    let rows = |comma: &str| -> String {
        let row = |i: usize| format!("{i};{}{comma}{}25;{}\n", i % 7 + 1, i % 3 + 1, i * i % 11);
        (0..40).map(row).collect()
    };
    write(at, "t.csv", format!("t;a;y\n{}", rows(".")));
    let mut expected = said(fit(at, "t.csv", "")).0;
    assert!(are_numbers(&expected));
    write(at, "t.csv", format!("t;a;y\n{}", rows(",")));
    let (mut found, stderr) = said(fit(at, "t.csv", ""));
    assert_eq!(found["columns_became"][1], "a: numbers as in 1234,5");
    assert!(
        notes(&stderr).len() == 1 && stderr.contains("\"a\": read as numbers"),
        "{stderr}"
    );
    for report in [&mut found, &mut expected] {
        report
            .as_object_mut()
            .expect("an object")
            .remove("columns_became");
    }
    assert!(found == expected, "{found} {expected}");
    let report = said(fit(at, "t.csv", "--thousands ,")).0;
    assert_eq!(report["columns_became"][1], "a: numbers as in 1,234.5");
    // Elsewhere they are asked about.
    let quoted = rows(",").replace(';', "\t");
    write(at, "t.csv", format!("t\ta\ty\n{quoted}"));
    fit(at, "t.csv", "-q").fails(&["may be", "--decimal ','", "--thousands ','"]);
}

/// Rows without a target are an error that names what leaves them out, which says how many.
#[test]
fn rows_without_a_target() {
    let here = here();
    let at = here.path();
    let rows = |target: &dyn Fn(usize) -> String| -> String {
        let row = |i: usize| format!("{i},{}.5,{}\n", i % 7, target(i));
        format!("t,a,y\n{}", (0..40).map(row).collect::<String>())
    };
    let target = |i: usize| (i * i % 11).to_string();
    for gap in ["", "NA", "inf", "nan"] {
        let with = rows(&|i| if i % 10 == 3 { gap.into() } else { target(i) });
        let has_target = |line: &&str| !line.ends_with(&format!(",{gap}"));
        let without: Vec<&str> = with.lines().filter(has_target).collect();
        write(at, "t.csv", &with);
        write(at, "u.csv", without.join("\n"));
        fit(at, "t.csv", "-q").fails(&["line 5, column \"y\"", "--drop-rows-without-target"]);
        let (mut found, stderr) = said(fit(at, "t.csv", "--drop-rows-without-target -o m.model"));
        assert!(
            notes(&stderr) == ["note: t.csv: 4 rows without a target left out"],
            "{stderr}"
        );
        assert_eq!(found["rows_dropped"], 4);
        found
            .as_object_mut()
            .expect("an object")
            .remove("rows_dropped");
        assert!(found == said(fit(at, "u.csv", "")).0, "{gap}: {found}");
        let evaluate = "evaluate m.model t.csv --device cpu -q --json";
        bochner(at, evaluate, &[]).fails(&["\"y\"", "--drop-rows-without-target"]);
        let evaluate = format!("{evaluate} --drop-rows-without-target");
        assert_eq!(bochner(at, &evaluate, &[]).json()["rows"], 36);
    }
    // A feature is none of its business, and its line is that of the file.
    let text = rows(&|i| if i < 2 { String::new() } else { target(i) }).replace("\n7,", "\n,");
    write(at, "t.csv", &text);
    fit(at, "t.csv", "-q --drop-rows-without-target --missing error").fails(&[
        "line 9, column \"t\": is empty",
        "--nan drop",
        "--missing indicator",
    ]);
    fit(at, "t.csv", "-q --drop-rows-without-target --missing mean").ok();
    let infinite = text.replace("\n,", "\ninf,");
    write(at, "t.csv", infinite);
    let run = fit(at, "t.csv", "-q --drop-rows-without-target");
    run.fails(&["line 9, column \"t\": is infinite", "--nan drop"]);
    // None at all.
    write(at, "t.csv", rows(&|_| String::new()));
    for (options, says) in [
        ("", "target \"y\" has no value in any row"),
        (
            "--drop-rows-without-target",
            "target \"y\" has no value in any of 40 rows",
        ),
        (
            "--drop-rows-without-target --test 0.3",
            "target \"y\" has no value in any of 40 rows",
        ),
        ("--nan drop", "target \"y\" has no value in any of 40 rows"),
        (
            "--nan drop --test 0.3",
            "target \"y\" has no value in any of 40 rows",
        ),
        ("--missing mean", "target \"y\" has no value in any row"),
    ] {
        let run = fit(at, "t.csv", &format!("-q {options}"));
        assert!(!run.stderr.contains("fraction"), "{run:?}");
        run.fails(&[says]);
    }
    let kept = "fit t.csv --target y --features 8 --checkpoint k -o m --drop-rows-without-target";
    bochner(at, kept, &[]).fails(&["--drop-rows-without-target does not go with --checkpoint"]);
}

/// What a model misses is said of the model, and stdout has nothing before an error.
#[test]
fn a_gap_in_predictions_is_cured_by_the_fit() {
    let here = here();
    let at = here.path();
    let plain = table();
    let numbers: String = (0..40)
        .map(|i| format!("{i},{}.5,{}\n", i % 7, i * i % 11))
        .collect();
    for text in [plain, format!("t,a,y\n{numbers}")] {
        write(at, "t.csv", &text);
        fit(at, "t.csv", "-q -o m.model --missing error").ok();
        write(at, "gap.csv", text.replace("\n3,", "\n,"));
        for output in ["p.csv", "-"] {
            let run = bochner(
                at,
                &format!("predict m.model gap.csv -o {output} -q --device cpu"),
                &[],
            );
            assert!(!run.stderr.contains("let --missing"), "{run:?}");
            run.fails(&[
                "line 5",
                "\"t\"",
                "--nan drop",
                "fit again with --missing indicator",
            ]);
        }
        let predict = |output: &str| {
            bochner(
                at,
                &format!("predict m.model t.csv --device cpu -o {output}"),
                &[],
            )
            .ok()
        };
        let piped = predict("-");
        assert_eq!(piped.stdout.lines().count(), 41);
        #[cfg(unix)]
        {
            let named = predict("/dev/stdout");
            assert_eq!(
                (named.stdout, named.stderr.contains("rows")),
                (piped.stdout, true)
            );
        }
    }
}
