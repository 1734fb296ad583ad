//! `bochner show`: what a model file holds.

use crate::{bochner, digits, here};
use std::fs;

#[test]
fn a_model_says_what_it_is() {
    let here = here();
    let at = here.path();
    let fit = format!("fit {} --target label --device cpu -q", digits());
    let options = "--features 64 --lambda 1e-4 --probabilities -o digits.model";
    bochner(at, &format!("{fit} {options}"), &[]).ok();
    let shown = bochner(at, "show digits.model --json", &[]).json();
    for (key, value) in [
        ("learner", serde_json::json!("ridge")),
        ("task", serde_json::json!("classification")),
        ("features", 64.into()),
        ("columns", 64.into()),
        ("lambda", 1e-4.into()),
        ("probabilities", "tempered".into()),
        ("target_names", serde_json::json!(["label"])),
        ("classes", (0..10).map(f64::from).collect()),
    ] {
        assert_eq!(shown[key], value, "{key} of {shown}");
    }
    assert_eq!(shown["rows"], 1797);
    let bytes = fs::metadata(at.join("digits.model")).expect("is there");
    assert_eq!(shown["bytes"], bytes.len());
    let said = bochner(at, "show digits.model", &[]).ok().stdout;
    for part in [
        "fourier",
        "10 classes of label: 0, 1",
        "1,797 rows",
        "probabilities",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

/// A card has each column with what it became and lay between, the job and the limits, in both
/// forms.
#[test]
fn a_card_says_what_a_model_takes_and_where_it_ends() {
    let here = here();
    let at = here.path();
    let mut text = String::from("a|b,city,id,y\n");
    for i in 0..80 {
        let city = ["Bern", "Basel", "Zug"][i % 3];
        text.push_str(&format!("{}.5,{city},{i},{}\n", i * 7 % 40, i * i % 31));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target y --task regression --features 20 --device cpu -q -o m.model";
    bochner(at, fit, &[]).ok();
    let card = bochner(at, "card m.model --purpose Prices.", &[])
        .ok()
        .stdout;
    for part in [
        "# m.model\n",
        "\nPrices.\n",
        "It gives 1 amount of y, by `ridge`",
        "fitted to 80 rows",
        "| a\\|b | numbers | 0.5 to 39.5 |\n",
        "| city | 3 categories |  |\n",
        "| id | tells rows apart, left out |  |\n",
        "\nmodel = \"ridge\"\n",
        "leaving out each row in turn",
        "bochner evaluate m.model new.csv",
        "A text of city that was in no row",
        "It does not look at id.",
    ] {
        assert!(card.contains(part), "no {part:?} in {card}");
    }
    bochner(at, "card m.model -o m.html -q", &[]).ok();
    let page = fs::read_to_string(at.join("m.html")).expect("the page");
    assert!(
        page.contains("<td>a|b</td><td>numbers</td><td>0.5 to 39.5</td>"),
        "{page}"
    );
    bochner(at, "card m.model -o m.txt", &[]).fails(&["a card is a .md, a .html or a folder"]);
}

/// A folder for a hub has the card under a head and the model, which predicts there as before; a
/// second card leaves the model as it is.
#[test]
fn a_folder_has_the_card_under_a_head_and_the_model() {
    let here = here();
    let at = here.path();
    let rows = (0..60).map(|i| format!("{i},{}\n", ["low", "high"][i / 30]));
    let text = String::from("a,y\n") + &rows.collect::<String>();
    fs::write(at.join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target y --features 20 --device cpu -q -o m.model";
    bochner(at, fit, &[]).ok();
    bochner(at, "card m.model -o hub/ -q", &[]).ok();
    let card = fs::read_to_string(at.join("hub/README.md")).expect("a card");
    let head = "---\nlibrary_name: bochner\npipeline_tag: tabular-classification\ntags:\n";
    assert!(card.starts_with(head), "{card}");
    assert!(card.contains("\n---\n\n# m.model\n"), "{card}");
    assert!(card.contains("bochner predict m.model new.csv"), "{card}");
    let same = |file: &str| fs::read(at.join(file)).expect("a model");
    assert!(same("hub/m.model") == same("m.model"));
    bochner(at, "card hub/m.model -o hub --purpose Again. -q", &[]).ok();
    let card = fs::read_to_string(at.join("hub/README.md")).expect("a card");
    assert!(card.contains("\nAgain.\n"), "{card}");
    assert!(same("hub/m.model") == same("m.model"));
}

/// Names of columns and classes, the choice of a penalty, a metric that was learnt, intervals.
#[test]
fn what_a_fit_found_is_shown() {
    let here = here();
    let at = here.path();
    let mut text = String::from("dull,telling,price\n");
    for i in 0..300 {
        let (dull, telling) = (i * 37 % 101, f64::from(i * 53 % 97) / 20.0);
        text.push_str(&format!("{dull},{telling},{}\n", telling.sin()));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target price --device cpu -q --features 100";
    let options = "--metric diagonal --calibrate 0.2 -o t.model";
    bochner(at, &format!("{fit} {options}"), &[]).ok();
    let shown = bochner(at, "show t.model --json", &[]).json();
    assert_eq!(
        shown["column_names"],
        serde_json::json!(["dull", "telling"])
    );
    assert_eq!(shown["importance"][0]["column"], "telling");
    assert!(shown["importance"][0]["importance"].as_f64() > Some(0.9));
    assert_eq!(shown["task"], "regression");
    let kept_back = shown["calibration_rows"].as_u64();
    assert!(
        kept_back.is_some_and(|rows| (40..80).contains(&rows)),
        "{shown}"
    );
    let said = bochner(at, "show t.model", &[]).ok().stdout;
    for part in [
        "2 columns: dull, telling",
        "1 amount of price",
        "importance",
        "intervals",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    bochner(at, "show t.csv", &[]).fails(&["t.csv"]);
    bochner(at, "show nothing.model", &[]).fails(&["nothing.model"]);
}
