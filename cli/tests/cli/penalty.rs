//! The penalty of ridge regression: given, chosen, or chosen unasked where that is cheap.

use crate::{bochner, digits, here, number};
use serde_json::Value;

/// The penalty is the best of its curve, whoever is held out, and the report has both.
#[test]
fn a_penalty_is_chosen() {
    let here = here();
    let digits = digits();
    let fit = |options: &str| {
        let command = format!(
            "fit {digits} --target label --task classification --features 100 --device cpu --json \
             --test 0.5"
        );
        bochner(here.path(), &format!("{command} {options}"), &[])
            .ok()
            .json()
    };
    for (options, by, points) in [
        ("--lambda auto", "leave-one-out", 17),
        (
            "--lambda 1e-1,1e-4,1e-7 --lambda-by kfold --folds 3",
            "3 folds",
            3,
        ),
    ] {
        let report = fit(options);
        assert_eq!(report["lambda_by"], by);
        let curve = report["lambda_curve"].as_array().expect("a curve").clone();
        assert_eq!(curve.len(), points);
        let best = curve.iter().min_by(|a, b| {
            let error = |point: &Value| point["error"].as_f64().expect("a number");
            error(a).total_cmp(&error(b))
        });
        let best = best.expect("points");
        assert_eq!(best["lambda"], report["lambda"]);
        assert_eq!(best["effective_dimension"], report["effective_dimension"]);
        assert!(report["accuracy"].as_f64() > Some(0.9), "{report}");
    }
}

/// A table of so many rows: a smooth target and noise.
fn table(rows: usize) -> String {
    (0..rows).fold("a,b,y\n".into(), |text, i| {
        let (a, b) = (
            (i * 37 % 1009) as f64 / 100.0,
            (i * 71 % 997) as f64 / 100.0,
        );
        let noise = (i * 7919 % 101) as f64 / 101.0 - 0.5;
        format!("{text}{a},{b},{}\n", a.sin() + b.cos() + 6.0 * noise)
    })
}

/// Where no penalty is given it is that of `--lambda auto`, by all rows of a few and by some of
/// many: in one go and in steps, whatever the memory, by eigenvectors, a walk or the dual.
#[test]
fn a_penalty_is_chosen_unasked() {
    let here = here();
    let folder = here.path();
    std::fs::write(folder.join("few.csv"), table(900)).expect("writes");
    std::fs::write(folder.join("many.csv"), table(18000)).expect("writes");
    let run = |options: &str| bochner(folder, &format!("fit {options} --device cpu"), &[]).ok();
    let fit = |options: &str| run(&format!("{options} --target y --test 0.5 --json")).json();
    let rmse = |report: &Value| report["rmse"].as_f64().expect("an error");
    let few = "few.csv --features 300 --sigma 0.3";
    let (own, asked) = (fit(few), fit(&format!("{few} --lambda auto")));
    assert_eq!(own["lambda"], asked["lambda"]);
    let errors = |report: &Value| -> Vec<f64> {
        let curve = report["lambda_curve"].as_array().expect("a curve");
        let error = |point: &Value| point["error"].as_f64().expect("a number");
        curve.iter().map(error).collect()
    };
    for (own, asked) in errors(&own).iter().zip(errors(&asked)) {
        assert!(
            (own / asked - 1.0).abs() < 1e-9,
            "the same rows: {own} {asked}"
        );
    }
    assert_eq!(
        (&own["solver"], &own["lambda_by"]),
        (&"eigen".into(), &"leave-one-out".into())
    );
    assert_eq!(own["rmse"], asked["rmse"]);
    let usual = fit(&format!("{few} --lambda 1e-6"));
    assert!(rmse(&own) < 0.95 * rmse(&usual), "{own} {usual}");
    for (options, solver) in [
        ("--checkpoint kept --every 100", "eigen"),
        ("--solver cholesky", "cholesky"),
    ] {
        let safe = fit(&format!("{few} {options}"));
        assert_eq!(safe["lambda"], own["lambda"], "{options}");
        assert_eq!(safe["solver"], solver, "{options}");
        assert!((rmse(&safe) / rmse(&own) - 1.0).abs() < 1e-4, "{options}");
    }

    let many = "many.csv --quick --features 100";
    let own = fit(many);
    assert_eq!(own["lambda_by"], "leave-one-out of 4096 rows");
    let asked = fit(&format!("{many} --lambda auto"));
    for (some, all) in errors(&own).iter().zip(errors(&asked)) {
        assert!(
            *some != all && (some / all - 1.0).abs() < 0.1,
            "{some} {all}"
        );
    }
    assert!(rmse(&own) < 1.005 * rmse(&asked), "{own} {asked}");
    let safe = fit(&format!("{many} --checkpoint kept --every 700"));
    assert_eq!(safe["lambda"], own["lambda"]);
    for (safe, own) in errors(&safe).iter().zip(errors(&own)) {
        assert!((safe / own - 1.0).abs() < 1e-3, "{safe} {own}");
    }

    // More features than eigenvectors are taken of, of more rows and of fewer.
    let wide = fit("many.csv --features 2050 --sigma 0.3");
    assert_eq!(wide["solver"], "cholesky");
    assert_eq!(wide["lambda_by"], "leave-one-out of 2048 rows");
    let fixed = fit("many.csv --features 2050 --sigma 0.3 --lambda 1e-6");
    assert!(rmse(&wide) < 0.99 * rmse(&fixed), "{wide} {fixed}");
    let dual = fit("few.csv --features 2050 --sigma 0.3");
    assert_eq!(
        (&dual["solver"], &dual["lambda_by"]),
        (&"dual".into(), &"leave-one-out".into())
    );
    assert!(dual["lambda"].as_f64() > Some(1e-6), "{dual}");

    for (usual, solver) in [
        ("few.csv --features 300 --solver cg", "cg"),
        ("few.csv --map binning --features 10", "cholesky"),
    ] {
        let report = fit(usual);
        assert_eq!(report["lambda"], 1e-6, "{usual}");
        assert_eq!(report["solver"], solver, "{usual}");
        assert!(report["lambda_curve"].is_null(), "{usual}");
        let said = run(&format!("{usual} --target y")).stdout;
        assert!(said.contains("the usual one"), "{usual}: {said}");
    }
}

/// A penalised intercept is held back from a mean of a thousand by a large penalty, where a free
/// one is not, by a penalty that is given and by one that is chosen, from all rows and in parts.
#[test]
fn an_intercept_is_penalised_where_that_is_asked_for() {
    let here = here();
    let rows = (0..200).fold("a,y\n".into(), |text: String, i| {
        let a = f64::from(i * 37 % 101) / 20.0;
        format!("{text}{a},{}\n", 1000.0 + a.sin())
    });
    std::fs::write(here.path().join("t.csv"), rows).expect("writes");
    let run = |options: &str| {
        let fit = "fit t.csv --target y --task regression --features 20 --test 0.5 --device cpu";
        bochner(here.path(), &format!("{fit} --json {options}"), &[])
    };
    let rmse = |options: &str| {
        let report = run(options).ok().json();
        let penalised = options.contains("--penalised-intercept");
        assert_eq!(report["penalised_intercept"] == true, penalised, "{report}");
        report["rmse"].as_f64().expect("a number")
    };
    for penalty in ["--lambda 1", "--lambda 1,2", "--lambda 1 --checkpoint c"] {
        let free = rmse(&penalty.replace(" c", " d"));
        let held = rmse(&format!("{penalty} --penalised-intercept"));
        // Features and the intercept, of about 1 and 1, share the mean, and the penalty takes a
        // third.
        assert!(
            free < 2.0 && (250.0..500.0).contains(&held),
            "{free} {held}"
        );
    }
    for (options, says) in [
        ("--no-intercept", "--no-intercept"),
        ("--solver cg --lambda 1", "Cholesky"),
        ("--solver dual --lambda 1", "Cholesky"),
        ("--map binning --lambda 1", "without binning"),
        ("--auto", "a search"),
        ("--leaves 50", "--penalised-intercept and --leaves"),
        (
            "--model logistic",
            "--penalised-intercept belongs to --model ridge",
        ),
    ] {
        run(&format!("{options} --penalised-intercept")).fails(&[says]);
    }
}

/// Penalties below rounding have no error, where it was 1e15 and more; the others choose.
#[test]
fn errors_that_rounding_hides_are_none() {
    let here = here();
    let at = here.path();
    let mut text = String::from("a,y\n");
    for i in 0..30_u32 {
        let a = f64::from(i * 17 % 30) / 5.0;
        text.push_str(&format!("{a},{}\n", a.sin() + f64::from(i * 7 % 11) / 50.0));
    }
    std::fs::write(at.join("t.csv"), text).expect("writes");
    for features in [20, 500] {
        let fit = format!("fit t.csv --target y --features {features} --device cpu --json");
        let run = format!("{fit} --lambda 1e-16,1e-14,1e-3 --report r.html");
        let report = bochner(at, &run, &[]).json();
        assert_eq!(number(&report, "lambda"), 1e-3);
        let curve = report["lambda_curve"].as_array().expect("a curve");
        for point in curve {
            let error = point["error"].as_f64();
            assert!(error.is_none_or(|error| error < 100.0), "{point}");
        }
        assert!(number(&report, "held_out_r2") > 0.9, "{report}");
    }
}
