//! What the command line says of itself and of what it was given: usage, details, completions.

use crate::{bochner, command, digits, finish};
use tempfile::TempDir;

/// A fit of a second.
fn small(options: &str) -> crate::Run {
    let here = TempDir::new().expect("directory");
    let features = if options.contains("--features") {
        ""
    } else {
        "--features 20"
    };
    let arguments = format!("fit {} --target label {features} {options}", digits());
    bochner(here.path(), &arguments, &[])
}

#[test]
fn a_number_that_an_option_cannot_take_is_told_what_it_takes() {
    let here = TempDir::new().expect("directory");
    for (option, words) in [
        ("--seed -1", "whole number from 0"),
        ("--seed 1.5", "whole number from 0"),
        ("--seed 18446744073709551616", "2^64 - 1"),
        ("--features -5", "whole number from 0"),
        ("--threads -2", "1 or more"),
        ("--threads 0", "1 or more"),
        ("--memory -1", "positive number of bytes"),
        ("--rank -1", "1 or more"),
        ("--leverage-pool -1", "1 or more"),
        ("--iterations -1", "1 or more"),
        ("--lambda -1", "positive number"),
    ] {
        let run = bochner(here.path(), &format!("fit a.csv {option}"), &[]);
        assert!(!run.stderr.contains("tip"), "{option}: {}", run.stderr);
        let name = option.split_whitespace().next().expect("a name");
        run.fails(&[name, words, "try 'bochner fit --help'"]);
    }
    // A slip of the pen gets the option it meant, and no lesson on dashes.
    for (option, words) in [("--sede 1", "--seed"), ("-x", "'-x'"), ("-1", "'-1'")] {
        let run = bochner(here.path(), &format!("fit a.csv {option}"), &[]);
        assert!(!run.stderr.contains("as a value"), "{}", run.stderr);
        run.fails(&[words]);
    }
    bochner(here.path(), "fit a.csv -v -q", &[]).fails(&["--verbose", "--quiet"]);
}

#[test]
fn more_threads_than_cores_are_cut_with_a_note() {
    let run = small("--threads 9999 --device cpu --task classification").ok();
    let note = run
        .stderr
        .lines()
        .find(|line| line.contains("--threads 9999"));
    assert!(
        note.is_some_and(|line| line.starts_with("note: ")),
        "{run:?}"
    );
    let cores = std::thread::available_parallelism().expect("known").get();
    let plural = if cores == 1 { "" } else { "s" };
    assert!(
        run.stdout
            .contains(&format!("CPU, {cores} thread{plural},")),
        "{run:?}"
    );
    let one = small("--threads 1 --device cpu --task classification -q").ok();
    assert!(
        one.stderr.is_empty() && one.stdout.contains("CPU, 1 thread,"),
        "{one:?}"
    );
}

#[test]
fn verbose_tells_the_plan_and_nobody_else_does() {
    let plain = small("--device cpu --task classification").ok();
    assert_eq!(plain.stderr, "", "nothing to note");
    let run = small("--device cpu --task classification --verbose --json");
    for fragment in [
        "memory for chunks: 128",
        "device: CPU",
        "plan: chunks of ",
        "sums and solution",
        "map: fourier features of",
        "64 columns to 20",
        "chunks of ",
        "solver: Cholesky",
    ] {
        assert!(run.stderr.contains(fragment), "{fragment}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("adapter"), "{}", run.stderr);
    let auto = small("-v --task classification");
    for fragment in ["adapter", "auto takes "] {
        assert!(auto.stderr.contains(fragment), "{}", auto.stderr);
    }
    // What goes to stdout stays what it was.
    assert!(run.json()["accuracy"].is_null());
}

/// Mesa's drivers, and any other, write on stderr where they miss something.
#[cfg(unix)]
#[test]
fn drivers_keep_their_words_unless_asked() {
    let here = TempDir::new().expect("directory");
    let run = |arguments: &[&str]| {
        let mut command = command(here.path());
        finish(command.env_remove("XDG_RUNTIME_DIR").args(arguments))
    };
    let aloud = run(&["devices", "-v"]).ok();
    let quiet = run(&["devices"]).ok();
    assert_eq!(quiet.stderr, "", "with -v: {}", aloud.stderr);
    assert_eq!(quiet.stdout, aloud.stdout);
    if !aloud.stderr.contains("XDG_RUNTIME_DIR") {
        println!("not tested: no driver here has anything to say");
    }
    // Our own words are not lost with theirs.
    let input = digits();
    let fit = ["fit", &input, "--target", "label", "--features", "20"];
    let mut refused = command(here.path());
    let refused = finish(
        refused
            .env_remove("XDG_RUNTIME_DIR")
            .args(fit)
            .args(["--device", "no such adapter"]),
    );
    refused.fails(&["no such adapter", "cpu, gpu or auto"]);
}

#[test]
fn gamma_and_lengthscale_are_both_printed() {
    for option in ["--sigma 10", "--gamma 0.005"] {
        let text = small(&format!("{option} -q --device cpu")).ok().stdout;
        assert!(
            text.contains("gamma") && text.contains("0.00500000"),
            "{text}"
        );
        assert!(
            text.contains("lengthscale") && text.contains("10.0000"),
            "{text}"
        );
    }
    let rule = small("--gamma scale -q --device cpu").ok().stdout;
    assert_eq!(rule.matches("(scale)").count(), 2, "{rule}");
}

#[test]
fn one_is_no_plural() {
    let run = small("--form phase --device cpu --features 1");
    assert!(!format!("{run:?}").contains("1 features"), "{run:?}");
    small("--device cpu --features 1").fails(&["1 feature cannot be paired"]);
    small("--device cpu --features 18446744073709551615").fails(&["use 18446744073709551614"]);
    let here = TempDir::new().expect("directory");
    std::fs::write(here.path().join("one.csv"), "a,y\n1,0.5\n2,1.5\n3,1.5\n").expect("written");
    let one = bochner(
        here.path(),
        "fit one.csv --target y --features 4 --device cpu -q",
        &[],
    );
    assert!(one.ok().stdout.contains("1 column to 4"));
    let pca = "fit one.csv --model pca --components 2 --form phase --features 1 --device cpu -q";
    let of_one = "2 components cannot come of 1 feature; ask for at most 1, or use a map of more";
    bochner(here.path(), pca, &[]).fails(&[of_one]);
}

#[test]
fn shells_get_their_completions() {
    let here = TempDir::new().expect("directory");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = bochner(here.path(), "completions", &[shell]).ok();
        for word in ["bochner", "kernel-error", "standardize"] {
            assert!(run.stdout.contains(word), "{shell}: no {word}");
        }
        assert_eq!(run.stderr, "", "{shell}");
    }
    bochner(here.path(), "completions tcl", &[]).fails(&["bash", "zsh"]);
}

/// What a learner does not do is an error, and nothing else in its place.
#[test]
fn a_task_of_another_learner_is_refused() {
    let here = TempDir::new().expect("a temporary directory");
    let rows: String = (0..40).map(|i| format!("{},{}\n", i % 7, i % 2)).collect();
    std::fs::write(here.path().join("t.csv"), format!("x,y\n{rows}")).expect("writes");
    let fit = "fit t.csv --target y --features 20 --device cpu --model";
    for model in ["logistic", "svm"] {
        let asked = format!("{fit} {model} --task regression");
        bochner(here.path(), &asked, &[]).fails(&["--task regression", "--model", "labels"]);
        bochner(here.path(), &format!("{fit} {model}"), &[]).ok();
    }
    let asked = format!("{fit} gaussian-process --task classification");
    bochner(here.path(), &asked, &[]).fails(&["--task classification", "--model", "amounts"]);
}

/// A task that came with a model names it, and what predicts the target all the same.
#[test]
fn a_task_out_of_a_model_says_so() {
    let here = TempDir::new().expect("a temporary directory");
    let rows: String = (0..40)
        .map(|i| format!("{},{}.5\n", i % 7, i % 20))
        .collect();
    std::fs::write(here.path().join("t.csv"), format!("x,y\n{rows}")).expect("writes");
    let run = |options: &str| bochner(here.path(), &format!("fit t.csv {options}"), &[]);
    let own = "--sigma 1 --lambda 1e-3 --features 8 --device cpu";
    run(&format!("--target y {own} -o m.model")).ok();
    let like = "--like m.model --model logistic -q";
    run(like).fails(&[
        "--task regression of --like m.model is not for --model logistic",
        "--model ridge, svr or gaussian-process",
    ]);
    let typed = format!("{like} --task regression");
    run(&typed).fails(&["error: --task regression is not for --model logistic"]);
}

/// Amounts are no classes, and models that predict them are named.
#[test]
fn a_classifier_of_amounts_hears_of_other_models() {
    let here = TempDir::new().expect("a temporary directory");
    let table = |name: &str, rows: usize| {
        let rows: String = (0..rows).map(|i| format!("{},{i}.5\n", i % 7)).collect();
        std::fs::write(here.path().join(name), format!("x,y\n{rows}")).expect("writes");
    };
    table("many.csv", 1100);
    table("some.csv", 40);
    table("few.csv", 20);
    let run = |options: &str| {
        let own = "--target y --sigma 1 --lambda 1e-3 --features 8 --device cpu";
        bochner(here.path(), &format!("fit {options} {own}"), &[])
    };
    let of_amounts = "--model ridge, svr or gaussian-process";
    let as_amounts = "--task regression predicts amounts";
    run("many.csv -q --model svm").fails(&["more than 1025 different values", of_amounts]);
    run("many.csv -q --task classification").fails(&["too many for classes", as_amounts]);
    for (options, cure) in [
        ("--model svm --iterations 1", of_amounts),
        ("--task classification", as_amounts),
    ] {
        let said = run(&format!("some.csv {options}")).ok().stderr;
        let each = "40 values, not whole numbers, and each is a class";
        assert!(said.contains(each) && said.contains(cure), "{said}");
        let said = run(&format!("few.csv {options}")).ok().stderr;
        assert!(!said.contains("each is a class"), "{said}");
    }
}

/// What is of classes alone says what to do where targets are amounts.
#[test]
fn what_amounts_do_not_have_is_left_out() {
    let here = TempDir::new().expect("a temporary directory");
    let rows: String = (0..40)
        .map(|i| format!("{},{}.5\n", i % 7, i % 20))
        .collect();
    std::fs::write(here.path().join("t.csv"), format!("x,y\n{rows}")).expect("writes");
    let fit = "fit t.csv --target y --task regression --sigma 1 --lambda 0.1 --features 8 -q";
    for (option, cure) in [
        ("--probabilities", "leave probabilities out, or fit labels"),
        (
            "--class-weights balanced",
            "leave class weights out, or fit labels",
        ),
    ] {
        let run = bochner(here.path(), &format!("{fit} --device cpu {option}"), &[]);
        run.fails(&["the targets are amounts; ", cure]);
    }
}

/// What others call a model is told by its name here.
#[test]
fn a_model_by_another_name_is_told_its_own() {
    let here = TempDir::new().expect("a temporary directory");
    for (name, own) in [
        (
            "quantile",
            "write --model svr --loss quantile --quantile 0.9; try",
        ),
        ("GPR", "write --model gaussian-process; try"),
    ] {
        let fit = format!("fit a.csv --model {name}");
        bochner(here.path(), &fit, &[]).fails(&[name, own]);
    }
    let other = bochner(here.path(), "fit a.csv --task quantile", &[]);
    assert!(!other.stderr.contains("svr"), "{other:?}");
}
