//! Every learner on data that say little, and with every map: it fits, with finite predictions, or
//! says in one line why not.

use crate::{adapters, bochner};
use std::{fmt::Write, fs, path::Path};
use tempfile::TempDir;

const NUMBERS: [&str; 8] = [
    "ridge",
    "kernel-ridge",
    "falkon",
    "greedy",
    "boosting",
    "gaussian-process",
    "svr",
    "lasso",
];
const LABELS: [&str; 8] = [
    "ridge",
    "kernel-ridge",
    "falkon",
    "greedy",
    "boosting",
    "logistic",
    "svm",
    "lasso",
];
const ROWS: [&str; 7] = [
    "one-class",
    "density",
    "pca",
    "ica",
    "kmeans",
    "spectral",
    "spectral-clustering",
];

/// Other solvers, losses and penalties of the same learners.
const NUMBER_VARIANTS: [&str; 7] = [
    "svr --loss huber --epsilon 0.1",
    "svr --loss squared-epsilon --epsilon 0.1",
    "svr --loss quantile",
    "svr --bound 5",
    "svr --loss huber --epsilon 0.1 --bound 5",
    "ridge --solver cg",
    "gaussian-process --lengthscales per-column",
];
const LABEL_VARIANTS: [&str; 10] = [
    "logistic --l1 0.01",
    "logistic --bound 5",
    "logistic --laplace",
    "logistic --class-weights balanced",
    "svm --loss hinge",
    "svm --bound 5",
    "svm --loss hinge --bound 5",
    "ridge --class-weights balanced",
    "ridge --solver cg",
    "falkon --class-weights balanced",
];
const ROW_VARIANTS: [&str; 3] = [
    "one-class --nu 0.5",
    "density --multiples auto",
    "pca --pca-solver randomized --components 2",
];

/// The learner of a variant.
fn name(model: &str) -> &str {
    model.split_whitespace().next().unwrap_or(model)
}

/// What a learner makes of its columns `a, b, c` and a target.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Numbers,
    Labels,
    Rows,
}

/// Three columns that look drawn, of as many rows.
fn columns(rows: usize) -> Vec<[f64; 3]> {
    let wave = |i: usize, j: usize| 2.0 * (1.7 * (i * i) as f64 + 2.3 * (i * j) as f64 + 0.4).sin();
    (0..rows).map(|i| [1, 2, 3].map(|j| wave(i, j))).collect()
}

fn write(here: &Path, name: &str, x: &[[f64; 3]], y: impl Fn(usize) -> f64) {
    let mut text = String::from("a,b,c,y\n");
    for (i, [a, b, c]) in x.iter().enumerate() {
        writeln!(text, "{a},{b},{c},{}", y(i)).expect("text");
    }
    fs::write(here.join(name), text).expect("written");
}

/// Fits, and predicts the same rows. `None` if both went well, and what was said if the fit failed.
fn attempt(here: &Path, data: &str, (kind, model): (Kind, &str), options: &str) -> Option<String> {
    let task = match kind {
        Kind::Numbers => "--task regression",
        Kind::Labels => "--task classification",
        Kind::Rows => "",
    };
    let features = match name(model) {
        "kernel-ridge" | "falkon" => "",
        _ if options.contains("--map") => "",
        _ => "--features 20",
    };
    let device = if options.contains("--device") {
        ""
    } else {
        "--device cpu"
    };
    let fit = format!(
        "fit {data} --target y {task} --model {model} {features} {device} -q --json -o m {options}"
    );
    let _ = fs::remove_file(here.join("m"));
    let run = bochner(here, &fit, &[]);
    if run.code != Some(0) {
        let said = run.stderr.clone();
        run.fails(&[]);
        assert!(!said.contains("panicked"), "{fit}: {said}");
        assert!(!here.join("m").exists(), "{fit}: a model was left");
        return Some(said);
    }
    let report = run.json();
    // JSON has no word for what is no number, so that a null where a figure was shows it.
    for figure in [
        "objective",
        "effective_dimension",
        "held_out_error",
        "training_error",
    ] {
        if let Some(value) = report.get(figure) {
            let value = value
                .as_f64()
                .unwrap_or_else(|| panic!("{fit}: {figure} is {value}"));
            let least = if figure == "objective" {
                f64::MIN
            } else {
                -1e-3
            };
            assert!(value > least, "{fit}: {figure} is {value}");
        }
    }
    let predict = format!("predict m {data} --target y --device cpu -q -o p.csv");
    bochner(here, &predict, &[]).ok();
    let text = fs::read_to_string(here.join("p.csv")).expect("predictions");
    assert!(text.lines().count() > 1, "{fit}: nothing was predicted");
    for value in text.lines().skip(1).flat_map(|line| line.split(',')) {
        let value: f64 = value.parse().unwrap_or(f64::NAN);
        assert!(value.is_finite(), "{fit}: predictions are {text}");
    }
    None
}

/// What a learner is to say of some data; `None` where it fits.
type Says = fn(&str) -> Option<&'static str>;

#[test]
fn every_learner_on_data_that_say_little() {
    let here = TempDir::new().expect("a temporary directory");
    let here = here.path();
    let x = columns(40);
    let half = |i: usize| f64::from(u8::from(columns(40)[i][0] > 0.0));
    let collinear: Vec<_> = x.iter().map(|[a, ..]| [*a, 2.0 * a, *a]).collect();
    // Boosting once grew without end along what rounding left of features that do not vary.
    let four = [
        [0.12573, -0.132105, 0.640423],
        [0.1049, -0.535669, 0.361595],
        [1.304, 0.947081, -0.703735],
        [-1.26542, -0.623274, 0.041326],
    ];
    let repeated: Vec<_> = (0..40).map(|i| four[i / 10]).collect();
    let same = vec![x[0]; 40];
    let fits: Says = |_| None;
    // More of one class than the other, one class, a class for each row.
    write(here, "one.csv", &x, |_| 1.0);
    write(here, "many.csv", &x[..6], |i| i as f64);
    write(here, "every.csv", &x, |i| i as f64);
    write(here, "constant.csv", &x, |_| 2.5);
    write(here, "collinear.csv", &collinear, half);
    write(here, "repeated.csv", &repeated, |i| (i / 10 % 2) as f64);
    write(here, "same.csv", &same, half);
    write(here, "single.csv", &x[..1], |_| 1.5);
    write(here, "fine.csv", &x, half);
    let positive: Says = |_| Some("must be a positive number");
    let at_zero: Says = |model| match name(model) {
        // Another penalty or a bound is there.
        _ if model.contains("--bound") || model.contains("--l1") => None,
        "ridge" => Some("lambda is 0"),
        "kernel-ridge" => Some("singular to rounding"),
        "lasso" => None,
        "greedy" | "gaussian-process" => Some("--lambda belongs to"),
        _ => Some("--lambda is 0"),
    };
    let one_class: Says = |_| Some("all labels are the same; a classifier needs two classes");
    let of_labels: [(&str, &str, Says); 9] = [
        ("one.csv", "", one_class),
        ("single.csv", "", one_class),
        ("many.csv", "", fits),
        // Twenty rows of forty classes.
        ("every.csv", "--test 0.5", fits),
        ("collinear.csv", "", fits),
        ("repeated.csv", "", fits),
        ("same.csv", "--gamma 1", fits),
        ("fine.csv", "--lambda=-1e-3", positive),
        ("repeated.csv", "--lambda 0", at_zero),
    ];
    let of_numbers: [(&str, &str, Says); 7] = [
        ("constant.csv", "", |model| {
            // A constant has no likeliest lengthscales.
            (model.contains("per-column")).then_some("the likelihood at the first lengthscales")
        }),
        ("collinear.csv", "", fits),
        ("repeated.csv", "", fits),
        ("same.csv", "--gamma 1", |model| {
            (name(model) == "gaussian-process").then_some("the features are the same in all rows")
        }),
        ("single.csv", "--gamma 1", |model| match name(model) {
            "gaussian-process" => Some("1 row says nothing of a variance"),
            _ => None,
        }),
        ("fine.csv", "--lambda=-1e-3", positive),
        ("repeated.csv", "--lambda 0", at_zero),
    ];
    let of_rows: [(&str, &str, Says); 5] = [
        ("same.csv", "", |model| match name(model) {
            "density" => Some("column 'a' is constant"),
            "ica" => Some("the features do not vary"),
            "spectral" | "spectral-clustering" => Some("the median distance is 0"),
            _ => Some("the data has no spread"),
        }),
        ("collinear.csv", "", fits),
        ("repeated.csv", "", |model| match name(model) {
            "kmeans" => Some("4 different points"),
            "spectral-clustering" => Some("4 features give 1 to 3 coordinates"),
            _ => None,
        }),
        ("same.csv", "--gamma 1", |model| match name(model) {
            "one-class" | "density" => None,
            "kmeans" => Some("1 different point"),
            "pca" => Some("the features do not vary"),
            "ica" => Some("the linear kernel is written with a lengthscale"),
            _ => Some("one feature gives no coordinates"),
        }),
        ("single.csv", "--gamma 1", |model| match name(model) {
            "density" if model != "density" => Some("cross-validation leaves rows out"),
            "one-class" | "density" => None,
            "kmeans" => Some("ask for at most as many as there are rows"),
            "pca" => Some("at least 2 rows"),
            "ica" => Some("the linear kernel is written with a lengthscale"),
            _ => Some("20 landmarks cannot be chosen among 1 row"),
        }),
    ];
    let all = [
        (
            Kind::Labels,
            [&LABELS[..], &LABEL_VARIANTS[..]].concat(),
            &of_labels[..],
        ),
        (
            Kind::Numbers,
            [&NUMBERS[..], &NUMBER_VARIANTS[..]].concat(),
            &of_numbers[..],
        ),
        (
            Kind::Rows,
            [&ROWS[..], &ROW_VARIANTS[..]].concat(),
            &of_rows[..],
        ),
    ];
    let mut wrong = String::new();
    for (kind, models, cases) in all {
        for (model, (data, options, says)) in models
            .iter()
            .flat_map(|m| cases.iter().map(move |c| (m, c)))
        {
            let said = attempt(here, data, (kind, model), options);
            let expected = says(model);
            let fine = match (&said, expected) {
                (None, None) => true,
                (Some(said), Some(part)) => said.contains(part),
                _ => false,
            };
            if !fine {
                let what = format!("{model} of {kind:?} on {data} {options}");
                writeln!(wrong, "{what}: {said:?}, not {expected:?}").expect("text");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A map of every family.
const MAPS: [&str; 8] = [
    "--map fourier --features 20",
    "--map fourier --sampling orthogonal --features 20",
    "--map fastfood --features 20",
    "--map sorf --features 20",
    "--map nystrom --features 20",
    "--map binning --kernel laplacian --features 20",
    "--map arc-cosine --features 20",
    "--map binning+fourier --features 20",
];

/// What a learner says of a map that it cannot stand on.
fn refusal(model: &str, map: &str) -> Option<&'static str> {
    let binned = map.contains("binning");
    let union = map.contains('+');
    match model {
        "kernel-ridge" | "falkon" => Some("--map"),
        _ => match (binned, union, model) {
            (_, true, "density") => Some("a density takes one map"),
            (_, _, "density") if map.contains("arc-cosine") => {
                Some("the kernel arc-cosine:1 has no finite integral")
            }
            (
                true,
                _,
                "greedy" | "boosting" | "gaussian-process" | "svr" | "lasso" | "one-class",
            ) => Some("binning"),
            (true, _, "pca" | "ica" | "kmeans" | "spectral" | "spectral-clustering") => {
                Some("binning")
            }
            _ => None,
        },
    }
}

fn with_map(here: &Path, (kind, model): (Kind, &str), map: &str, device: &str) -> Option<String> {
    let options = match model {
        "spectral-clustering" | "kmeans" => "--clusters 2",
        _ => "",
    };
    let said = attempt(
        here,
        "fine.csv",
        (kind, model),
        &format!("{map} {options} {device}"),
    );
    let expected = refusal(model, map);
    let fine = match (&said, expected) {
        (None, None) => true,
        (Some(said), Some(part)) => said.contains(part),
        _ => false,
    };
    let what = format!("{model} of {kind:?} with {map} {device}: {said:?}, not {expected:?}\n");
    (!fine).then_some(what)
}

fn learners() -> impl Iterator<Item = (Kind, &'static str)> {
    let of = |kind| move |model: &&'static str| (kind, *model);
    let labels = LABELS.iter().map(of(Kind::Labels));
    let numbers = NUMBERS.iter().map(of(Kind::Numbers));
    labels.chain(numbers).chain(ROWS.iter().map(of(Kind::Rows)))
}

/// Every learner with every map on the CPU; on adapters every learner with one map, and every map
/// with one learner.
#[test]
fn every_learner_with_every_map() {
    let here = TempDir::new().expect("a temporary directory");
    let here = here.path();
    let x = columns(60);
    let target = |i: usize| f64::from(u8::from(columns(60)[i][0] > 0.0));
    write(here, "fine.csv", &x, target);
    let mut wrong = String::new();
    for (learner, map) in learners().flat_map(|l| MAPS.map(|map| (l, map))) {
        wrong.extend(with_map(here, learner, map, ""));
    }
    let svm = (Kind::Labels, "svm");
    for (name, _) in adapters() {
        // Names are matched by a part, here one without white space.
        let device = name.split_whitespace().next().unwrap_or("gpu");
        let device = format!("--device {device}");
        let pairs = learners()
            .map(|l| (l, MAPS[0]))
            .chain(MAPS.map(|map| (svm, map)));
        for (learner, map) in pairs {
            wrong.extend(with_map(here, learner, map, &device));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
