//! Words that a job stands for.

use super::expanded;
use std::{ffi::OsString, io::Write};

/// The words after `fit`, of a file of these lines and more words.
fn words(lines: &str, more: &str) -> Result<Vec<String>, String> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(lines.as_bytes()).expect("writes");
    let path = file.path().display().to_string();
    let line = format!("bochner fit --job {path} {more}");
    let given = line.split_whitespace().map(OsString::from).collect();
    let all = expanded(given).map_err(|e| e.to_string().replace(&path, "FILE"))?;
    let words = all.words.into_iter().skip(2);
    let words = words.map(|word| word.into_string().expect("text"));
    Ok(words.take_while(|word| word != "--job").collect())
}

#[test]
fn lines_become_words() {
    let lines = "input = 'a.csv' # where\n[learner]\nlambda = 1e-3\nno_intercept = true\n\
        probabilities = false\n[map]\nfeatures = 2_000\nstandardize = \"auto\"\n\
        target = ['a', '\"b, c\"']\n";
    let mut found = words(lines, "-q").expect("options");
    found.sort();
    let expected = [
        "--features=2000",
        "--lambda=1e-3",
        "--no-intercept",
        "--standardize=auto",
        "--target=\"b, c\"",
        "--target=a",
        "a.csv",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_given_counts() {
    let lines = "input = 'a.csv'\nlambda = 1e-3\nsigma = 2.0\nseed = 4\nmodel = 'ridge'\n\
        solver = 'dual'\n";
    let of = |more| {
        let mut found = words(lines, more).expect("options");
        found.sort();
        found.join(" ")
    };
    let all = "--lambda=1e-3 --model=ridge --seed=4 --sigma=2.0 --solver=dual a.csv";
    assert_eq!(of(""), all);
    assert_eq!(of("b.csv"), all.replace(" a.csv", ""));
    // The two names of one thing.
    assert_eq!(of("--gamma 1"), all.replace(" --sigma=2.0", ""));
    assert_eq!(of("--seed=7"), all.replace(" --seed=4", ""));
    assert_eq!(of("--model ridge"), all.replace(" --model=ridge", ""));
    // Another learner has other options.
    assert_eq!(of("--model svm"), "--seed=4 --sigma=2.0 a.csv");
    assert_eq!(of("--auto"), "--model=ridge --seed=4 --solver=dual a.csv");
}

/// Of a learner that stands on the kernel itself, or that takes no line, what the job has for
/// others is left out, and a model that takes it keeps it.
#[test]
fn what_does_not_go_with_another_model_is_left_out() {
    let lines = "map = 'fourier'\nfeatures = 90\nkernel = 'laplacian'\nform = 'paired'\n\
        linear = 'yes'\ntarget_scale = 'log'\nleaves = 9\nseed = 4\n";
    let of = |more: &str| {
        let mut found = words(lines, more).expect("options");
        found.sort();
        found.join(" ")
    };
    for model in ["kernel-ridge", "falkon"] {
        let left = "--kernel=laplacian --seed=4 --target-scale=log";
        assert_eq!(of(&format!("--model {model}")), left);
    }
    let all = "--features=90 --form=paired --kernel=laplacian --map=fourier --seed=4";
    for model in ["boosting", "gaussian-process", "lasso", "kmeans"] {
        assert_eq!(of(&format!("--model {model}")), all);
    }
    let linear = all.replace("--map", "--linear=yes --map");
    assert_eq!(of("--model svr"), linear);
    let own = linear.replace("--map", "--leaves=9 --map") + " --target-scale=log";
    assert_eq!(
        of("--model ridge"),
        own.replace("--linear=yes --leaves=9", "--leaves=9 --linear=yes")
    );
    assert!(of("--model boosting --linear no").starts_with("--features=90"));
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    for (lines, says) in [
        (
            "a = 1\nlamda = 3\n",
            "FILE: line 1: `bochner fit` has no option \"a\"",
        ),
        (
            "seed = 1\nlamda = 3\n",
            "FILE: line 2: `bochner fit` has no option \"lamda\"",
        ),
        ("seed = 1\nlambda = = 3\n", "FILE: line 2: "),
        (
            "probabilities = 3\n",
            "FILE: line 1: probabilities is \"3\"; it is true or false",
        ),
        ("seed = [[1]]\n", "FILE: line 1: seed is neither"),
        ("job = 'x'\n", "has no option \"job\""),
    ] {
        let error = words(lines, "").expect_err(lines);
        assert!(error.contains(says), "{lines}: {error}");
    }
}
