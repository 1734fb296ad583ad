//! `--report FILE.html`.

use super::{bochner, digits, here};
use std::fs;

/// A page per command, each with the picture of what it found, and nothing from elsewhere.
#[test]
fn commands_write_pages_with_their_pictures() {
    let here = here();
    let digits = digits();
    let fit = format!("fit {digits} --target label --device cpu --features 32");
    let search = format!("{fit} --kernel auto --metric diagonal --budget 4 --quiet");
    let all = [
        (
            format!("{fit} --lambda auto"),
            "<h2>Penalty</h2>",
            "polyline",
        ),
        (search.clone(), "<h2>What was tried</h2>", "<circle"),
        (
            format!("{fit} --metric diagonal --quiet"),
            "<h2>Importance of columns</h2>",
            "<rect",
        ),
        (
            "bench --op gram --rows 64 --dim 4 --features 16 --seconds 0.5 \
             --device cpu --threads 1"
                .into(),
            "<h2>Share of the ceiling</h2>",
            "<rect",
        ),
        (
            format!(
                "kernel-error {digits} --target label --device cpu --rows 100 --features 20,40 \
                 --seeds 2"
            ),
            "<h2>Error by features</h2>",
            "polyline",
        ),
    ];
    for (command, heading, mark) in all {
        let report = bochner(
            here.path(),
            &format!("{command} --json --report p.html"),
            &[],
        );
        // What programs read is as it was, and on the page.
        let report = report.json();
        let page = fs::read_to_string(here.path().join("p.html")).expect("a page");
        assert!(
            page.contains(heading) && page.contains(mark),
            "{command}: {page}"
        );
        assert!(page.ends_with("</html>\n") && page.matches("<svg").count() >= 1);
        assert!(!page.contains("http") && !page.contains("NaN"), "{page}");
        let device = report["device"].as_str().expect("a device");
        assert!(page.contains(device), "{page}");
    }
    // Fits that search name the command that does not.
    bochner(here.path(), &format!("{search} --report p.html"), &[]).ok();
    let page = fs::read_to_string(here.path().join("p.html")).expect("a page");
    assert!(page.contains("The same without searching"), "{page}");
}

/// What was taken for what, how often probabilities came true, and what predictions lack.
#[test]
fn evaluations_show_where_a_model_is_wrong() {
    let here = here();
    let digits = digits();
    let shown = |command: &str, headings: &[&str]| {
        let command = format!("{command} --device cpu --json --report p.html");
        let report = bochner(here.path(), &command, &[]).json();
        let page = fs::read_to_string(here.path().join("p.html")).expect("a page");
        for heading in [
            "What was taken for what",
            "How often probabilities came true",
            "Residuals",
        ] {
            let is_there = page.contains(&format!("<h2>{heading}</h2>"));
            assert_eq!(
                is_there,
                headings.contains(&heading),
                "{command}: {heading}"
            );
        }
        // A fit shows what it chose among, too.
        let chosen = usize::from(page.contains("<h2>Preparation and bandwidth</h2>"));
        assert_eq!(chosen == 1, command.starts_with("fit"), "{command}");
        let pictures = headings.len() + chosen;
        assert_eq!(page.matches("<svg").count(), pictures, "{command}");
        report
    };
    let labels = format!("{digits} --target label");
    let fit = format!("fit {labels} --features 64 --lambda 1e-4 -q -o");
    // Margins have no probabilities.
    let svm = format!("{fit} svm.model --model svm");
    bochner(here.path(), &svm, &[]).ok();
    let table = ["What was taken for what"];
    let report = shown(&format!("evaluate svm.model {labels}"), &table);
    // The right ones lie on the diagonal.
    let confusion: Vec<Vec<u64>> =
        serde_json::from_value(report["confusion"].clone()).expect("counts");
    let all: u64 = confusion.iter().flatten().sum();
    let right: u64 = (0..confusion.len()).map(|i| confusion[i][i]).sum();
    assert_eq!(report["rows"], all);
    let accuracy = report["accuracy"].as_f64().expect("a number");
    assert!((right as f64 / all as f64 - accuracy).abs() < 1e-12 && right < all);
    // With probabilities, and in a fit with rows held out.
    let fit = format!("fit {labels} --model logistic --features 64 --test 0.3 -q");
    let both = [table[0], "How often probabilities came true"];
    let report = shown(&fit, &both);
    let parts = report["calibration"].as_array().expect("a list");
    let sum = |key: &str| -> f64 {
        let of = |part: &serde_json::Value| {
            part[key].as_f64().expect("a number") * part["rows"].as_f64().expect("a number")
        };
        parts.iter().map(of).sum::<f64>() / report["test_rows"].as_f64().expect("rows")
    };
    assert!((sum("right") - report["accuracy"].as_f64().expect("a number")).abs() < 1e-12);
    assert!((sum("probability") - sum("right")).abs() < 0.1, "{report}");
    // A digit as a number.
    let numbers = format!("{labels} --task regression --features 64 --lambda 1e-4");
    let report = shown(&format!("fit {numbers} --test 0.3 -q"), &["Residuals"]);
    assert!(report.get("confusion").is_none() && report.get("residuals").is_none());
}

/// Where a page cannot be written is said before any work, and no input becomes a page.
#[test]
fn pages_are_outputs_like_others() {
    let here = here();
    fs::write(
        here.path().join("t.csv"),
        "a,b,label\n1,2,0\n3,4,1\n5,7,1\n",
    )
    .expect("a table");
    let run = |arguments: &str| bochner(here.path(), arguments, &[]);
    let fit = "fit t.csv --target label --device cpu -q --features 8";
    run(&format!("{fit} -o m.model")).ok();
    for command in [
        fit,
        "evaluate m.model t.csv --target label",
        "explain m.model t.csv --target label",
        "predict m.model t.csv -o p.csv",
        "featurize t.csv -o z.npy --features 4",
        "kernel-error t.csv --features 4 --rows 3",
        "drift t.csv t.csv",
        "independence t.csv --x a --y b",
    ] {
        run(&format!("{command} --report t.csv")).fails(&["t.csv", "would be replaced"]);
        run(&format!("{command} --report none/p.html")).fails(&["none", "no directory"]);
    }
    run("merge a.part b.part -o m.model --report a.part").fails(&["a.part"]);
    run(&format!("{fit} -o m.model --report m.model")).fails(&["m.model", "two outputs"]);
}
