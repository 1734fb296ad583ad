//! What the memory of the host cannot hold is refused in one line, before it is begun.

use crate::{Run, command, digits, finish, here};
use std::process::Command;
use tempfile::TempDir;

/// The binary with about four gigabytes beside what its threads may reserve. It has two: each takes
/// addresses for its stack and its heap, and many would take all of the four.
fn limited(arguments: &str) -> Run {
    limited_in(&here(), arguments)
}

fn limited_in(here: &TempDir, arguments: &str) -> Run {
    let threads = std::thread::available_parallelism().map_or(1, |n| 2 * n.get()) + 1;
    let kilobytes = 4_500_000 + threads * (1 << 20);
    let binary = command(here.path());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kilobytes}; exec \"$@\""), "sh"]);
    shell.arg(binary.get_program()).args(arguments.split(' '));
    shell.args(["--threads", "2"]);
    for (name, value) in binary.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    finish(shell.current_dir(here.path()))
}

#[test]
fn what_does_not_fit_is_one_line() {
    let data = format!("{} --target label --device cpu --quiet", digits());
    for (options, needs) in [
        ("fit --features 30000 --solver cholesky", "14.4 GB"),
        ("fit --features 20000 --lambda auto", "17.6 GB"),
        ("fit --features 16384 --model svm", "4.3 GB"),
        ("fit --model pca --features 40000", "70.4 GB"),
        ("fit --map fastfood --features 10000000000", "120.0 GB"),
        ("fit --map sorf --features 10000000000", "120.0 GB"),
        (
            "fit --sampling orthogonal --features 10000000000",
            "3840.0 GB",
        ),
        ("fit --sampling halton --features 10000000000", "3840.0 GB"),
        ("fit --map binning --features 10000000000", "5120.0 GB"),
        (
            "fit --sampling leverage --features 100 --leverage-pool 100000000",
            "76.8 GB",
        ),
    ] {
        let run = limited(&format!("{options} {data}"));
        assert_eq!(run.code, Some(1), "{options}: {run:?}");
        run.fails(&["needs", needs, "of memory", "is free", "--features"]);
    }
    // What fits is done, and so is what products of few rows do.
    for features in [2000, 30_000] {
        let run = limited(&format!("fit --features {features} {data}"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
}

/// The last row is no number, which nobody comes to read: rows are counted up to half as many as
/// features at most, where their products could do.
#[test]
fn what_does_not_fit_is_refused_before_the_rows_are_read() {
    let folder = here();
    let path = folder.path().join("long.csv");
    let rows: String = (0..16_000).map(|i| format!("{i},{}\n", i % 7)).collect();
    std::fs::write(&path, format!("a,y\n{rows}x,oops\n")).expect("written");
    let data = "long.csv --target y --task regression --device cpu -q".to_owned();
    let classes = "long.csv --target y --task classification --device cpu -q";
    for (options, needs) in [
        ("fit --features 30000", "14.4 GB"),
        ("fit --features 20000 --lambda auto", "17.6 GB"),
        ("fit --map sorf --features 10000000000", "120.0 GB"),
        ("fit --features 1000 --memory 10K", "more --memory"),
        ("fit --model gaussian-process --features 20000", "17.6 GB"),
        ("fit --model pca --features 20000", "17.6 GB"),
        ("fit --model pca --components 5 --features 40000", "70.4 GB"),
        (
            "fit --model ica --map fourier --components 5 --features 40000",
            "70.4 GB",
        ),
        (
            "fit --model spectral --map fourier --features 40000",
            "70.4 GB",
        ),
        ("fit --model lasso --features 30000", "10.8 GB"),
        ("fit --model greedy --features 30000", "18.0 GB"),
        ("fit --model boosting --features 20000", "14.4 GB"),
        ("fit --model svr --features 16384", "4.3 GB"),
        ("fit --model one-class --features 16384", "4.3 GB"),
        ("fit --model falkon --landmarks 30000", "14.4 GB"),
        (
            "featurize -o z.npy --map sorf --features 10000000000",
            "120.0 GB",
        ),
    ] {
        let of_rows = ["pca", "ica", "spectral", "one-class"];
        let data = if of_rows.iter().any(|name| options.contains(name)) {
            data.replace(" --task regression", "")
        } else {
            data.clone()
        };
        let data = if options.starts_with("featurize") {
            data.replace(" --task regression", "")
        } else {
            data
        };
        limited_in(&folder, &format!("{options} {data}")).fails(&[needs]);
    }
    for (options, needs) in [
        ("fit --model svm --features 16384", "4.3 GB"),
        ("fit --model logistic --features 16384", "11.8 GB"),
    ] {
        limited_in(&folder, &format!("{options} {classes}")).fails(&[needs]);
    }
    limited_in(&folder, &format!("fit --features 2000 {data}")).fails(&["line 16002"]);
}

/// A bound that is given holds for chunks, map, sums and solution together; what would fit is said,
/// and does.
#[test]
fn memory_that_is_given_is_for_all() {
    let here = here();
    let path = here.path().join("rows.csv");
    let rows: String = (0..4000)
        .map(|i| format!("{},{}\n", i % 97, i % 7))
        .collect();
    std::fs::write(&path, format!("a,y\n{rows}")).expect("written");
    let fit = "fit rows.csv --target y --task regression --device cpu -q --gamma 0.01";
    let memory = "--memory 4000000";
    let refused = crate::bochner(here.path(), &format!("{fit} --features 2000 {memory}"), &[]);
    let said = refused.stderr.clone();
    refused.fails(&[
        "2000 features need 64.0 MB",
        "4.0 MB",
        "enough for",
        "more --memory",
    ]);
    let most = said.split("enough for ").nth(1).expect("a number");
    let most: usize = most
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|digits| digits.parse().ok())
        .expect("digits");
    // Beside rows to choose a penalty by, and the program.
    assert!(
        (250..400).contains(&most),
        "16 D^2 are 1.6 MB at 316: {said}"
    );
    let fits = format!("{fit} --features {} {memory} -o m", most / 2 * 2);
    crate::bochner(here.path(), &fits, &[]).ok();
    // Of the chunks alone it is more than enough.
    crate::bochner(here.path(), &format!("{fit} --features 700"), &[]).ok();
    // Predictions and features have nothing that grows with the square.
    let verbose = |arguments: &str| {
        let arguments = format!("{arguments} --device cpu -v {memory}");
        let run = crate::bochner(here.path(), &arguments, &[]).ok();
        assert!(run.stderr.contains("plan: chunks of "), "{}", run.stderr);
    };
    verbose("predict m rows.csv --target y -o p.npy");
    verbose("featurize rows.csv --target y --features 100 --gamma 0.01 -o z.npy");
    crate::bochner(
        here.path(),
        "featurize rows.csv --target y --features 100000 --gamma 0.01 -o z.npy --memory 1M --device \
         cpu -q",
        &[],
    )
    .fails(&["100000 features need", "enough for"]);
}
