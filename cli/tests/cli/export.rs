//! Models for other runtimes.

use crate::{bochner, digits, here};
use std::fs;

#[test]
fn a_model_becomes_an_onnx_file() {
    let here = here();
    let at = here.path();
    let fit = |more: &[&str]| {
        let data = digits();
        let fixed = [data.as_str(), "--target", "label", "--device", "cpu"];
        bochner(at, "fit", &[&fixed, more].concat()).ok();
    };
    fit(&["--quick", "--features", "32", "-o", "digits.model"]);
    let report = bochner(
        at,
        "export",
        &["digits.model", "-o", "digits.onnx", "--json"],
    )
    .json();
    let outputs = serde_json::json!(["label", "scores", "probabilities"]);
    assert_eq!(report["outputs"], outputs);
    assert_eq!(report["columns"], 64);
    let bytes = fs::read(at.join("digits.onnx")).expect("is there");
    assert_eq!(report["bytes"], bytes.len());
    // The version of the file, then who wrote it.
    assert_eq!(&bytes[..11], b"\x08\x08\x12\x07bochner");
    let double = bochner(
        at,
        "export",
        &["digits.model", "-o", "double.onnx", "--double"],
    )
    .ok();
    assert!(double.stdout.contains("X [rows, 64]"), "{double:?}");
    assert_eq!(report["entries"], "f32");
    assert_ne!(fs::read(at.join("double.onnx")).expect("is there"), bytes);
    // What cannot be leaves what was there.
    fit(&["--map", "binning", "--features", "4", "-o", "binned.model"]);
    let arguments = ["binned.model", "-o", "digits.onnx"];
    bochner(at, "export", &arguments).fails(&["no formula of a binning map", "--map fourier"]);
    assert_eq!(fs::read(at.join("digits.onnx")).expect("is there"), bytes);
    let table = "city,size,price\nrome,1,2\noslo,2,3\nrome,3,4\nrome,4,6\n";
    fs::write(at.join("table.csv"), table).expect("writes");
    let arguments = [
        "table.csv",
        "--target",
        "price",
        "--features",
        "4",
        "-o",
        "table.model",
    ];
    bochner(at, "fit", &arguments).ok();
    let arguments = ["table.model", "-o", "digits.onnx"];
    bochner(at, "export", &arguments).fails(&["\"city\"", "fit to a table of numbers"]);
    assert_eq!(fs::read(at.join("digits.onnx")).expect("is there"), bytes);
    bochner(at, "export", &["digits.model", "-o", "digits.model"]).fails(&["digits.model"]);
    bochner(at, "export", &["digits.onnx", "-o", "x.onnx"]).fails(&["digits.onnx"]);
}

#[test]
fn a_model_of_numbers_beyond_f32_becomes_a_file_of_f64() {
    let here = here();
    let at = here.path();
    let table = (0..90).fold("t,y\n".to_owned(), |text, i| {
        let seconds = 40.0 * f64::from(i);
        format!("{text}{},{}\n", 1.7e9 + seconds, (seconds / 600.0).sin())
    });
    fs::write(at.join("t.csv"), table).expect("writes");
    let fit = "fit t.csv --target y --features 40 --device cpu -q -o m";
    bochner(at, fit, &[]).ok();
    let export = |more: &str| bochner(at, &format!("export m -o m.onnx --json {more}"), &[]).ok();
    for (more, entries, noted) in [
        ("", "f64", Some("takes and gives f64")),
        (
            "--single",
            "f32",
            Some("export it in f64 (--double, double=)"),
        ),
        ("--double", "f64", None),
    ] {
        let done = export(more);
        let wanted = format!("\"entries\":\"{entries}\"");
        assert!(done.stdout.contains(&wanted), "{more}: {}", done.stdout);
        let said = done
            .stderr
            .contains("column \"t\": f32 goes in steps of 128");
        assert_eq!(said, noted.is_some(), "{more}: {}", done.stderr);
        assert!(
            noted.is_none_or(|noted| done.stderr.contains(noted)),
            "{more}"
        );
    }
}
