//! A model keeps the job that made it, and the job makes the model again: `fit --like`,
//! `show --job`, `fit --job`.

use crate::{bochner, here};
use std::{fs, path::Path};

/// A smooth amount, a label of it, two columns of unlike scales, one of text and one of weights.
fn table(folder: &Path) {
    let mut text = String::from("a,b,\"c, kind\",weight,amount,label\n");
    for i in 0..240 {
        let (a, b) = (f64::from(i * 37 % 240) / 60.0, f64::from(i * 53 % 239));
        let kind = ["red", "green", "blue"][i as usize % 3];
        let amount = (2.0 * a).sin() + 0.01 * b + f64::from(i * 7919 % 101) / 500.0;
        let label = i32::from(amount > 1.2) + i32::from(amount > 2.2);
        text.push_str(&format!("{a},{b},{kind},{},{amount},{label}\n", 1 + i % 3));
    }
    fs::write(folder.join("t.csv"), text).expect("writes");
}

const AMOUNT: &str = "--target amount --columns a,b";
const LABEL: &str = "--target label --columns a,b";
const ALONE: &str = "--columns a,b";

/// Fits with `options`, then as the model was fitted, by the model and by the file of its job; the
/// same file comes of all.
fn comes_again(at: &Path, options: &str, data: &str) {
    let run = |command: &str| bochner(at, command, &[]).ok();
    run(&format!(
        "fit t.csv {data} {options} --device cpu -q -o first.model"
    ));
    // Of numbers alone a model does not know what the column of weights is called.
    let weight = if options.contains("--weight") {
        "--weight weight"
    } else {
        ""
    };
    run(&format!(
        "fit t.csv --like first.model {weight} --device cpu -q -o second.model"
    ));
    fs::write(at.join("job.toml"), run("show first.model --job").stdout).expect("writes");
    run(&format!(
        "fit t.csv {weight} --job job.toml --device cpu -q -o third.model"
    ));
    let read = |name: &str| fs::read(at.join(name)).expect("reads");
    let first = read("first.model");
    for name in ["second.model", "third.model"] {
        let again = read(name);
        let apart = first
            .iter()
            .zip(&again)
            .position(|(a, b)| a != b)
            .unwrap_or(0);
        let around = |bytes: &[u8]| {
            let end = bytes.len().min(apart + 60);
            String::from_utf8_lossy(&bytes[apart.saturating_sub(60)..end]).into_owned()
        };
        assert!(
            first == again,
            "{options}, {name}: {} and {}",
            around(&first),
            around(&again)
        );
    }
}

#[test]
fn every_learner_comes_again() {
    let here = here();
    let at = here.path();
    table(at);
    let few = "--features 64";
    for (options, data) in [
        (few, AMOUNT),
        (
            "--features 64 --lambda 1e-4,1e-2 --lambda-by kfold --folds 3",
            AMOUNT,
        ),
        ("--features 64 --lambda auto --penalised-intercept", AMOUNT),
        (
            "--features 64 --solver cg --tolerance 1e-4 --iterations 50 --no-intercept",
            AMOUNT,
        ),
        (
            "--features 300 --seed 7 --gamma 0.3 --standardize=no",
            LABEL,
        ),
        (
            "--features 64 --sigma 0.5,40 --calibrate 0.2 --weight weight",
            AMOUNT,
        ),
        ("--features 64 --probabilities --class-weights 1,2,3", LABEL),
        ("--features 64 --leaves 100 --lambda 1e-4", AMOUNT),
        ("--model kernel-ridge --lambda 1e-3", AMOUNT),
        (
            "--model falkon --landmarks 40 --landmarks-choice k-means",
            LABEL,
        ),
        ("--model falkon", AMOUNT),
        (
            "--model greedy --features 64 --steps 9 --held-out 0.3",
            AMOUNT,
        ),
        (
            "--model boosting --features 64 --steps 7 --shrinkage 0.5",
            AMOUNT,
        ),
        ("--model gaussian-process --features 64 --noise 0.3", AMOUNT),
        (
            "--model gaussian-process --features 64 --lengthscales per-column",
            AMOUNT,
        ),
        (
            "--model logistic --features 64 --l1 1e-3 --class-weights balanced",
            LABEL,
        ),
        ("--model logistic --features 64 --laplace", LABEL),
        (
            "--model svm --features 64 --loss hinge --lambda 1e-3",
            LABEL,
        ),
        (
            "--model svr --features 64 --loss quantile --quantile 0.9",
            AMOUNT,
        ),
        (
            "--model svr --features 64 --loss huber --epsilon 0.2 --bound 3",
            AMOUNT,
        ),
        ("--model svr --features 64", AMOUNT),
        ("--model lasso --features 64 --l1 0.01", AMOUNT),
        ("--model one-class --features 64 --nu 0.2", ALONE),
        (
            "--model density --features 64 --log-density --multiples 0.5,1",
            ALONE,
        ),
        ("--model pca --features 64 --explained 0.9", ALONE),
        (
            "--model pca --features 64 --pca-solver randomized --components 3 --passes 2",
            ALONE,
        ),
        (
            "--model ica --map fourier --features 64 --components 3",
            ALONE,
        ),
        (
            "--model kmeans --features 64 --clusters 3 --starts 2",
            ALONE,
        ),
        ("--model spectral --features 64", ALONE),
        (
            "--model spectral-clustering --features 64 --clusters 3",
            ALONE,
        ),
    ] {
        comes_again(at, options, data);
    }
}

#[test]
fn every_map_comes_again() {
    let here = here();
    let at = here.path();
    table(at);
    for options in [
        "--features 64 --form phase --sampling sobol --kernel matern52",
        "--features 32 --sampling leverage --leverage-lambda 0.01",
        "--map fastfood --features 64",
        "--map sorf --features 64 --sorf-radii constant",
        "--map arc-cosine --features 64 --kernel arc-cosine:2:0.5",
        "--map nystrom --features 30 --rank 20 --landmarks-choice leverage:0.01",
        "--map binning --features 20 --lambda 1e-3",
        "--map projection --features 64 --entries sparse:3",
        "--map tensor-sketch --features 64",
        "--map hadamard-sketch --features 64 --kernel polynomial:3:0.5",
        "--map skewed-chi2 --features 64 --standardize=no",
        "--map additive-chi2 --features 14 --standardize=no --sample-interval 0.4",
        "--map identity",
        "--map 0.3*nystrom:20+0.7*fourier --features 40",
    ] {
        comes_again(at, options, AMOUNT);
    }
}

#[test]
fn searches_and_sums_come_again() {
    let here = here();
    let at = here.path();
    table(at);
    for options in [
        "--sigma auto --features 64",
        "--auto --features 64 --budget 6",
        "--kernel auto --features 64 --lambda 1e-3",
        "--metric diagonal --features 64 --metric-iterations 2 --metric-power 0.5",
        "--features auto --accuracy-loss 0.3",
    ] {
        comes_again(at, options, AMOUNT);
    }
    // Sums of parts keep the job, too, and the model of shards says so.
    let fit = |options: &str| {
        let command = format!("fit t.csv {AMOUNT} --features 64 --device cpu -q {options}");
        bochner(at, &command, &[]).ok();
    };
    fit("--quick -o whole.model");
    fit("--checkpoint steps -o steps.model");
    let job = |name: &str| bochner(at, &format!("show {name} --job"), &[]).ok().stdout;
    assert!(job("whole.model").contains("model = \"ridge\"\n"));
    assert_eq!(job("whole.model"), job("steps.model"));
}

/// What was said of a file and its rows is part of the job, which is all that a fit needs.
#[test]
fn a_job_says_how_the_file_was_read() {
    let here = here();
    let at = here.path();
    let mut text = String::from("a title\na;b;note;who;y\n");
    for i in 0..90 {
        let b = if i == 50 { "" } else { "1" };
        let row = format!(
            "{}.5;{b};n{};p{};{}\n",
            i * 37 % 90,
            i % 3,
            i % 5,
            i * i % 31
        );
        text.push_str(&if i == 40 {
            format!("% {row}{row}")
        } else {
            row
        });
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let run = |command: &str| bochner(at, command, &[]).ok();
    let options = "--target y --ignore note --skip-rows 1 --delimiter ; --comment % --group who \
        --nan drop --features 20";
    run(&format!(
        "fit t.csv {options} --device cpu -q -o first.model"
    ));
    let job = run("show first.model --job").stdout;
    for line in [
        "columns = \"a,b\"",
        "skip-rows = 1",
        "group = \"who\"",
        "target = \"y\"",
    ] {
        assert!(job.contains(&format!("{line}\n")), "{line} in {job}");
    }
    fs::write(at.join("job.toml"), job).expect("writes");
    let read = |name: &str| fs::read(at.join(name)).expect("reads");
    for again in ["--job job.toml", "--like first.model"] {
        run(&format!("fit t.csv {again} --device cpu -q -o again.model"));
        assert!(read("first.model") == read("again.model"), "{again}");
    }
}

/// What stands beside a job counts; columns of text and weights are found again.
#[test]
fn what_stands_beside_it_counts() {
    let here = here();
    let at = here.path();
    table(at);
    let run = |command: &str| bochner(at, command, &[]);
    let fit = "fit t.csv --device cpu -q";
    let first = "--target label --ignore amount --weight weight --features 64 --lambda 0.01";
    run(&format!("{fit} {first} -o first.model")).ok();
    run(&format!("{fit} --like first.model -o again.model")).ok();
    let read = |name: &str| fs::read(at.join(name)).expect("reads");
    assert!(
        read("first.model") == read("again.model"),
        "weights or text were lost"
    );
    run(&format!(
        "{fit} --like first.model --features 30 --lambda 0.5 -o other.model"
    ))
    .ok();
    let job = run("show other.model --json").ok().json()["job"].clone();
    assert_eq!(
        (&job["features"], &job["lambda"]),
        (&30.into(), &0.5.into())
    );
    assert_eq!(job["weighted"], true);
    let svm = format!("{fit} --like first.model --model svm -o svm.model");
    run(&svm).ok();
    let job = run("show svm.model --json").ok().json()["job"].clone();
    assert_eq!(
        (&job["model"], &job["features"]),
        (&"svm".into(), &64.into())
    );
    assert_ne!(job["lambda"], 0.01);

    // Weights that no table names have to be named.
    let rows = "--target amount --columns a,b --weight weight --features 20";
    run(&format!("{fit} {rows} -o plain.model")).ok();
    let refused = run(&format!("{fit} --like plain.model -o x.model"));
    let known = run("show plain.model --json").ok().json()["schema"].is_null();
    assert_eq!(refused.code == Some(2), known, "{}", refused.stderr);
    if known {
        assert!(refused.stderr.contains("--weight"), "{}", refused.stderr);
    }
    run(&format!(
        "{fit} --like plain.model --weight weight -o x.model"
    ))
    .ok();
    assert!(read("plain.model") == read("x.model"), "weights were lost");
}

#[test]
fn what_is_no_job_is_told() {
    let here = here();
    let at = here.path();
    table(at);
    fs::write(at.join("job.toml"), "target = 'amount'\nlamda = 1\n").expect("writes");
    fs::write(
        at.join("good.toml"),
        "input = 't.csv'\ntarget = 'amount'\nfeatures = 30\n",
    )
    .expect("writes");
    for (options, says) in [
        (
            "--job job.toml",
            "job.toml: line 2: `bochner fit` has no option \"lamda\"",
        ),
        ("--job none.toml", "none.toml"),
        ("--like t.csv", "t.csv"),
        ("--like a --job b", "cannot be used with"),
    ] {
        let run = bochner(at, &format!("fit t.csv {options}"), &[]);
        assert!(
            run.code != Some(0) && run.stderr.contains(says),
            "{options}: {}",
            run.stderr
        );
        assert_eq!(run.stderr.trim().lines().count(), 1, "{}", run.stderr);
    }
    // The whole command out of a file.
    bochner(
        at,
        "fit --job good.toml --ignore label --device cpu -q -o m.model",
        &[],
    )
    .ok();
    let shown = bochner(at, "show m.model --json", &[]).ok().json();
    assert_eq!(shown["features"], 30);
}
