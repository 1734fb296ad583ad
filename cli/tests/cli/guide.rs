//! The figures of the guide are those that its commands print.

use super::{Run, bochner, digits, here};
use std::{fs, path::Path};

/// A number with a fraction as it is printed: its value, and one in its last digit.
fn number(word: &str) -> Option<(f64, f64)> {
    let word = word.trim_end_matches([',', ';']);
    let value: f64 = word.parse().ok()?;
    let (digits, power) = word.split_once('e').unwrap_or((word, "0"));
    let decimals = digits.split_once('.')?.1.len();
    let power = power.parse::<i32>().ok()? - i32::try_from(decimals).ok()?;
    Some((value, 10_f64.powi(power)))
}

/// Whether the words are the same, numbers with a fraction but for rounding: within two in the last
/// digit that the guide has or a five-hundredth, which is what other vector instructions and a row
/// on the edge of two classes may change.
fn is_same(guide: &str, printed: &str) -> bool {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (guide, printed) = (words(guide), words(printed));
    let alike = |(guide, printed): (&String, &String)| match (number(guide), number(printed)) {
        (Some((a, unit)), Some((b, _))) => (a - b).abs() <= (2.01 * unit).max(0.002 * a.abs()),
        _ => guide == printed,
    };
    guide.len() == printed.len() && guide.iter().zip(&printed).all(alike)
}

/// What stands between two texts of the guide.
fn between<'a>(guide: &'a str, from: &str, to: &str) -> &'a str {
    let (_, after) = guide
        .split_once(from)
        .unwrap_or_else(|| panic!("the guide has no {from:?}"));
    after.split_once(to).expect("an end").0
}

/// A command of the guide in `here`, on the CPU.
fn run(here: &Path, command: &str) -> Run {
    let words = command.trim().strip_prefix("bochner ").expect("a command");
    let words = words.replace("data/digits.csv", &digits());
    bochner(here, &format!("{words} --device cpu --quiet"), &[]).ok()
}

fn accuracy(here: &Path, command: &str) -> f64 {
    let report = run(here, &format!("{command} --json")).json();
    report["accuracy"].as_f64().expect("an accuracy")
}

#[test]
fn the_guide_has_what_its_commands_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide.md");
    let guide = fs::read_to_string(path).expect("docs/guide.md");
    let here = here();
    let here = here.path();
    // The first model, line by line, but for what the machine and its clock say.
    let first = between(&guide, "```sh\nbochner fit", "```");
    let printed = run(here, &format!("bochner fit{first}")).stdout;
    let shown = between(&guide, "```text\n", "```");
    for (line, own) in shown.lines().zip(printed.lines()) {
        let label = line.split("  ").next().unwrap_or_default();
        assert_eq!(own.split("  ").next(), Some(label), "{printed}");
        if !["rows", "solve", "device"].contains(&label) {
            assert!(
                is_same(line, own),
                "the guide has {line:?}\nprinted is {own:?}"
            );
        }
    }
    // The rows that come later.
    let table = fs::read_to_string(digits()).expect("the digits");
    let lines: Vec<&str> = table.lines().collect();
    let later = [&lines[..1], &lines[lines.len() - 297..]].concat();
    fs::write(here.join("train.csv"), lines[..1501].join("\n")).expect("writes");
    fs::write(here.join("new.csv"), later.join("\n")).expect("writes");
    // How many features.
    let sizes = between(&guide, "for D in ", ";");
    let given = between(&guide, "Here it gives ", ", so ");
    let given: Vec<&str> = given
        .split([' ', ','])
        .filter(|w| number(w).is_some())
        .collect();
    assert_eq!(sizes.split(' ').count(), given.len());
    for (size, given) in sizes.split(' ').zip(given) {
        let features = 2 * size.parse::<u32>().expect("a number");
        let fit = format!("bochner fit train.csv --target label --features {features} --test 0.3");
        let own = accuracy(here, &fit).to_string();
        assert!(
            is_same(given, &own),
            "{features}: the guide has {given}, printed is {own}"
        );
    }
    // A model in use.
    run(
        here,
        &format!(
            "bochner fit{}",
            between(&guide, "Save the model", "bochner evaluate")
                .split_once("bochner fit")
                .expect("a fit")
                .1
        ),
    );
    let own = accuracy(here, "bochner evaluate digits.model new.csv").to_string();
    let given = between(&guide, "`evaluate` prints ", " ");
    assert!(
        is_same(given, &own),
        "the guide has {given}, printed is {own}"
    );
}

#[test]
fn figures_that_differ_are_seen() {
    assert!(is_same("r2 0.913935 of 6", "r2 0.913940 of 6"));
    assert!(is_same("0.0044", "0.0046") && is_same("0.991", "0.9910913140311804"));
    assert!(!is_same("0.0044", "0.0047") && !is_same("0.991", "0.9880"));
    assert!(!is_same("3.16228e-5 of 6", "3.16228e-6 of 6"));
    assert!(!is_same("2000", "2001") && !is_same("of 6", "of 7"));
    assert!(!is_same("yes, 5", "no, 5") && !is_same("6", "6 of 6"));
}
