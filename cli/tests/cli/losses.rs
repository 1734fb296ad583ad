//! `fit --model` of the learners with a loss.

use crate::{bochner, digits, number};
use tempfile::TempDir;

#[test]
fn classifiers_with_a_loss_fit_save_and_score() {
    let here = TempDir::new().expect("a temporary directory");
    let here = here.path();
    let digits = digits();
    let fit = format!(
        "fit {digits} --target label --features 200 --gamma scale --test 0.5 --device cpu -q \
         --json -o m"
    );
    for (options, log_loss) in [
        ("--model logistic --lambda 1e-4", true),
        ("--model logistic --bound 30", true),
        ("--model svm --lambda 1e-3", false),
        ("--model svm --bound 30 --tolerance 1e-2", false),
        (
            "--model svm --loss hinge --bound 30 --tolerance 0.03",
            false,
        ),
        ("--model lasso --l1 1e-3 --probabilities", true),
        ("--model ridge --lambda 1e-4 --class-weights balanced", true),
        (
            "--model svm --loss hinge --lambda 1e-3 --probabilities",
            true,
        ),
        ("--model ridge --lambda 1e-4 --probabilities", true),
    ] {
        let fitted = bochner(here, &format!("{fit} {options}"), &[]).json();
        let accuracy = fitted["accuracy"].as_f64().expect("an accuracy");
        assert!(accuracy > 0.92, "{options}: {fitted}");
        assert_eq!(
            fitted["log_loss"].is_number(),
            log_loss,
            "{options}: {fitted}"
        );
        let evaluate = format!("evaluate m {digits} --target label --device cpu -q --json");
        let evaluated = bochner(here, &evaluate, &[]).json();
        if log_loss {
            let loss = evaluated["log_loss"].as_f64().expect("a loss");
            assert!((0.001..0.6).contains(&loss), "{options}: {loss}");
            let predict = "predict m --target label --device cpu -q -o p.csv --probabilities q.csv";
            let predict = predict.replace("predict m", &format!("predict m {digits}"));
            bochner(here, &predict, &[]).ok();
            let text = std::fs::read_to_string(here.join("q.csv")).expect("probabilities");
            assert_eq!(text.lines().next(), Some("0,1,2,3,4,5,6,7,8,9"));
            let first = text.lines().nth(1).expect("a row");
            let sum: f64 = first
                .split(',')
                .map(|p| p.parse::<f64>().expect("a number"))
                .sum();
            assert!((sum - 1.0).abs() < 1e-6, "{first}");
        } else {
            let predict = format!(
                "predict m {digits} --target label --device cpu -q -o p.csv --probabilities q.csv"
            );
            bochner(here, &predict, &[]).fails(&["no probabilities"]);
        }
    }
}

#[test]
fn regressions_and_novelty_fit() {
    let here = TempDir::new().expect("a temporary directory");
    let here = here.path();
    let rows = (0..300).map(|i| {
        let x = f64::from(i) / 60.0;
        format!("{x},{}\n", x.sin() + 1e-3 * f64::from(i % 7))
    });
    let table = format!("x,y\n{}", rows.collect::<String>());
    std::fs::write(here.join("w.csv"), table).expect("writes");
    for options in [
        "--model svr",
        "--model svr --loss huber --epsilon 0.1",
        "--model svr --loss quantile --quantile 0.4",
        "--model svr --loss huber --epsilon 0.1 --bound 20",
        "--model svr --bound 20",
        "--model lasso --l1 1e-4",
    ] {
        let fit = "fit w.csv --target y --task regression --features 64 --test 0.3 --device cpu -q \
                   --json";
        let fitted = bochner(here, &format!("{fit} {options}"), &[]).json();
        let error = fitted["relative_error"].as_f64().expect("an error");
        assert!(error < 0.2, "{options}: {fitted}");
    }
    let fit = "fit w.csv --model one-class --nu 0.2 --features 64 --device cpu -q --json -o m";
    let fitted = bochner(here, fit, &[]).json();
    assert_eq!(fitted["learner"], "one-class");
    bochner(here, "predict m w.csv --device cpu -q -o p.csv", &[]).ok();
    let text = std::fs::read_to_string(here.join("p.csv")).expect("predictions");
    let novel = text.lines().filter(|line| *line == "-1").count();
    assert!((40..80).contains(&novel), "{novel} of 300");
}

/// Probabilities averaged over the posterior: those of `predict` have the log loss that `evaluate`
/// prints, and are between those of the mode and one half.
#[test]
fn probabilities_are_averaged_over_a_posterior() {
    let here = TempDir::new().expect("a temporary directory");
    let here = here.path();
    let digits = std::fs::read_to_string(digits()).expect("digits");
    let mut table = String::new();
    for (i, line) in digits.lines().enumerate().take(401) {
        let (pixels, label) = line.rsplit_once(',').expect("columns");
        let label = match i {
            0 => "label",
            _ if matches!(label, "3" | "5" | "8" | "9") => "1",
            _ => "0",
        };
        table += &format!("{pixels},{label}\n");
    }
    std::fs::write(here.join("two.csv"), table).expect("writes");
    let column = |name: &str| -> Vec<f64> {
        let text = std::fs::read_to_string(here.join(name)).expect("probabilities");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("0,1"));
        let first = |line: &str| line.split(',').next().and_then(|p| p.parse().ok());
        lines.map(|line| first(line).expect("a number")).collect()
    };
    let mut found = Vec::new();
    for (name, options) in [("mode.csv", ""), ("mean.csv", "--laplace")] {
        let fit = format!(
            "fit two.csv --target label --features 150 --gamma scale --model logistic --lambda \
             1e-3 --device cpu -q --json -o m {options}"
        );
        let fitted = bochner(here, &fit, &[]).json();
        let evidence = fitted["log_marginal_likelihood"].is_number();
        assert_eq!(evidence, !options.is_empty(), "{fitted}");
        let on = "two.csv --target label --device cpu -q";
        let predict = format!("predict m {on} -o p.csv --probabilities {name}");
        bochner(here, &predict, &[]).ok();
        let evaluated = bochner(here, &format!("evaluate m {on} --json"), &[]).json();
        let p = column(name);
        let two = std::fs::read_to_string(here.join("two.csv")).expect("rows");
        let rows = two.lines().skip(1).zip(&p);
        let losses = rows.map(|(row, p)| {
            if row.ends_with(",0") {
                -p.ln()
            } else {
                -(1.0 - p).ln()
            }
        });
        let loss = losses.sum::<f64>() / p.len() as f64;
        let printed = evaluated["log_loss"].as_f64().expect("a loss");
        assert!((loss / printed - 1.0).abs() < 1e-6, "{loss} {printed}");
        found.push(p);
    }
    for (mode, mean) in found[0].iter().zip(&found[1]) {
        let (far, near) = ((mode - 0.5).abs(), (mean - 0.5).abs());
        assert!(
            near < far && (mode - 0.5) * (mean - 0.5) > 0.0,
            "{mode} {mean}"
        );
    }
    let refused = "fit two.csv --target label --model logistic --laplace --l1 0.1";
    let refused = bochner(here, refused, &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn options_of_other_models_are_usage_errors() {
    let here = TempDir::new().expect("a temporary directory");
    let digits = digits();
    for (options, says) in [
        (
            "--nu 0.1",
            "--nu belongs to --model one-class, not to --model ridge",
        ),
        (
            "--model svm --l1 0.1",
            "--l1 belongs to --model logistic, lasso, not to --model svm",
        ),
        (
            "--model svm --laplace",
            "--laplace belongs to --model logistic, not to --model svm",
        ),
        (
            "--model falkon --bound 3",
            "--bound belongs to --model logistic, svm, svr, not to --model falkon",
        ),
        (
            "--model kernel-ridge --class-weights balanced",
            "--class-weights belongs to --model ridge, falkon",
        ),
        (
            "--auto --class-weights balanced",
            "--class-weights and a search",
        ),
        (
            "--leaves 200 --class-weights balanced",
            "--class-weights and --leaves do not go together",
        ),
        (
            "--checkpoint kept --class-weights balanced",
            "they are of all rows",
        ),
        ("--model svm --loss huber", "squared-hinge or hinge"),
        ("--model svr --loss squared-epsilon", "--epsilon"),
        ("--model svr --quantile 0.3", "--loss quantile"),
        ("--model one-class --lambda 1", "--lambda belongs to"),
        (
            "--model logistic --solver cg",
            "--solver belongs to --model ridge",
        ),
        ("--model logistic --class-weights 1,x", "positive number"),
    ] {
        let command = format!("fit {digits} --target label --device cpu {options}");
        let run = bochner(here.path(), &command, &[]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(says), "{options}: {}", run.stderr);
    }
}

/// A quantile is scored as one: by its loss and by the share of targets below it, not by the mean.
#[test]
fn a_quantile_is_scored_by_its_loss_and_its_share() {
    let here = TempDir::new().expect("a temporary directory");
    let at = here.path();
    let mut text = String::from("a,y\n");
    for i in 0..400_u64 {
        // Noise of one sign, so that a high quantile is far from the mean.
        let noise = (i * 7919 % 1000) as f64 / 1000.0;
        text += &format!(
            "{},{}\n",
            i % 20,
            0.01 * (i % 20) as f64 + noise * noise * 4.0
        );
    }
    std::fs::write(at.join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target y --model svr --loss quantile --quantile 0.9 --features 20 \
               --test 0.4 --device cpu -o m";
    let run = bochner(at, fit, &[]).ok();
    assert!(run.stdout.contains("0.9 are meant"), "{run:?}");
    assert!(!run.stderr.contains("worse than the mean"), "{run:?}");
    assert!(!run.stdout.contains("\nr2 "), "{run:?}");
    let evaluate = "evaluate m t.csv --target y --device cpu --json -q";
    let scores = bochner(at, evaluate, &[]).json();
    let of = |name: &str| number(&scores, name);
    assert!((of("coverage") - 0.9).abs() < 0.05, "{scores}");
    assert!(of("pinball_loss") < 0.5 * of("mae"), "{scores}");
}
