//! `--memory` bounds what a run has in memory, the program itself and all.

use crate::{bochner, command, here};
use bochner::data::NpyWriter;
use ndarray::Array2;
use std::{fmt::Write, path::Path, process::Stdio, time::Duration};

/// The most bytes that the command has in memory, which succeeds.
fn peak(folder: &Path, arguments: &str) -> u64 {
    let mut child = command(folder)
        .args(arguments.split_whitespace())
        .args(["--device", "cpu", "--threads", "2", "-q"])
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        // What the system says is the most so far; a run that is at its end has no such line.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(1024 * kib.unwrap_or(0));
        if let Some(exit) = child.try_wait().expect("waits") {
            assert!(exit.success(), "{arguments}");
            return most;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn value(i: usize, j: usize) -> f32 {
    ((i * (7 + j) + i / 11 + j * j) % 9973) as f32 / 1000.0
}

fn write(path: &Path, rows: usize, columns: usize, of: impl Fn(usize, usize) -> f32) {
    let mut file = NpyWriter::create(path, columns).expect("creates");
    for from in (0..rows).step_by(10_000) {
        let rows = (rows - from).min(10_000);
        let rows = Array2::from_shape_fn((rows, columns), |(i, j)| of(from + i, j));
        file.write_rows(rows.view()).expect("writes");
    }
    file.finish().expect("finishes");
}

/// Of each command and the bytes of its `--memory`.
fn keeps_to(folder: &Path, commands: &[&str]) {
    for arguments in commands {
        let given = arguments.split("--memory ").nth(1).expect("is given");
        let given: u64 = given
            .trim_end_matches('M')
            .parse()
            .expect("a number of MiB");
        let (given, most) = (given << 20, peak(folder, arguments));
        println!("{:.2} of {given}: {arguments}", most as f64 / given as f64);
        assert!(
            most * 10 <= given * 11,
            "{arguments}: {most} of {given} bytes"
        );
    }
}

/// What grows with the square of the features: sums, factors, curvatures.
#[test]
fn sums_and_factors_keep_to_it() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 1400, 6, value);
    write(&at("y.npy"), 1400, 1, |i, _| value(i, 0).sin());
    write(&at("c.npy"), 1400, 1, |i, _| f32::from(value(i, 0) > 5.0));
    keeps_to(
        here.path(),
        &[
            "fit x.npy --targets y.npy --task regression --gamma 0.1 --solver cholesky \
             --features 1800 -o m --memory 80M",
            "fit x.npy --targets c.npy --model logistic --gamma 0.1 --features 1000 \
             --iterations 12 --memory 80M",
            "fit x.npy --targets y.npy --model falkon --gamma 0.1 --landmarks 1200 --memory 72M",
            "predict m x.npy -o p.npy --memory 64M",
            "featurize x.npy -o z.npy --gamma 0.1 --features 20000 --memory 64M",
        ],
    );
}

/// The factors of the landmarks' kernel and of the problem, `16 m^2` bytes, and no third matrix:
/// what the peak grows by where chunks have the same room. Whether the next chunk is read already
/// when the solve has its peak is a matter of moments: 8 MB, a byte a pair of so many landmarks.
#[test]
fn falkon_holds_two_matrices_of_its_landmarks() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 4000, 6, value);
    write(&at("y.npy"), 4000, 1, |i, _| value(i, 0).sin());
    let (few, many) = (500_u64, 2700_u64);
    let of = |m: u64| {
        // Beside them the landmarks, in f64 and f32.
        let memory = (20 << 20) + 16 * m * m + 12 * 6 * m;
        let fit = "fit x.npy --targets y.npy --model falkon --gamma 0.1 --lambda 1e-3";
        let fit = format!("{fit} --tolerance 1e-2 --landmarks {m} --memory {memory}");
        peak(here.path(), &fit)
    };
    let grown = of(many) as f64 - of(few) as f64;
    let each = grown / (many * many - few * few) as f64;
    println!("{each:.2} bytes a pair of landmarks");
    assert!((12.0..19.0).contains(&each), "{each} bytes a pair");
}

/// A search has sums of trials beside one another, and rows.
#[test]
fn searches_keep_to_it() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 2500, 6, value);
    write(&at("y.npy"), 2500, 1, |i, _| value(i, 0).sin());
    write(&at("wide.npy"), 12_000, 100, value);
    write(&at("t.npy"), 12_000, 1, |i, _| value(i, 0).sin());
    // Buffers that come and go, in every thread's own part of the allocator.
    write(&at("long.npy"), 100_000, 10, value);
    write(&at("l.npy"), 100_000, 1, |i, _| value(i, 0).sin());
    let search = "fit x.npy --targets y.npy --task regression --budget 3";
    keeps_to(
        here.path(),
        &[
            &format!("{search} --metric diagonal --features 1000 --memory 108M"),
            &format!("{search} --auto --memory 76M"),
            &format!("{search} --features auto --kernel-error 0.02 --memory 64M"),
            "fit wide.npy --targets t.npy --task regression --budget 2 --auto --features 200 \
             --memory 76M",
            "fit long.npy --targets l.npy --task regression --budget 4 --auto --memory 48M",
        ],
    );
    let said = bochner(here.path(), &format!("{search} --auto --memory 76M"), &[]).ok();
    assert!(
        said.stderr
            .contains("features, for which --memory has room"),
        "{said:?}"
    );
    bochner(
        here.path(),
        &format!("{search} --auto --features 2000 --memory 64M --device cpu -q"),
        &[],
    )
    .fails(&["240.1 MB", "enough for", "more --memory"]);
}

/// What each class has of its own is left out where it does not fit, and what a spectrum without
/// gaps takes counts.
#[test]
fn many_classes_and_flat_spectra_keep_to_it() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 1400, 6, value);
    write(&at("c.npy"), 1400, 1, |i, _| value(i, 0).min(9.0).floor());
    let classes = "fit x.npy --targets c.npy --model logistic --gamma 0.1 --features 600 \
                   --iterations 14 --memory 64M";
    keeps_to(here.path(), &[classes]);
    let flat = "fit x.npy --model spectral --components 2 --gamma 900 --features 1000";
    keeps_to(here.path(), &[&format!("{flat} --memory 96M")]);
    bochner(here.path(), &format!("{flat} -q --memory 40M"), &[]).fails(&[
        "44.0 MB",
        "enough for",
        "more --memory",
    ]);
}

/// Tables are there as what they hold and as numbers, a part at a time.
#[test]
fn tables_keep_to_it() {
    let here = here();
    let mut text = String::from("y");
    for j in 0..8 {
        write!(text, ",kind{j},name{j}").expect("a string");
    }
    for i in 0..20_000 {
        write!(text, "\n{}", value(i, 0)).expect("a string");
        for j in 0..8 {
            let k = (i * (j + 3) + i / 7) % 40;
            write!(
                text,
                ",kind{k},a rather long name of nothing but {}",
                i % (j + 2)
            )
            .expect("a string");
        }
    }
    std::fs::write(here.path().join("text.csv"), text).expect("written");
    let fit = "fit text.csv --target y --task regression --gamma 0.1 --features 16 --memory 72M";
    keeps_to(here.path(), &[fit]);
    if cfg!(feature = "parquet") {
        write(&here.path().join("x.npy"), 7000, 4, value);
        let lists = "featurize x.npy -o lists.parquet --gamma 0.1 --features 4096 --memory 72M";
        let again = "featurize lists.parquet -o z.npy --gamma 0.1 --features 16 --memory 80M";
        keeps_to(here.path(), &[lists, again]);
    }
}

/// What learners keep of each row, and a sample of the rows, are refused where they do not fit.
#[test]
fn rows_that_are_kept_count() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 600_000, 2, value);
    write(&at("c.npy"), 600_000, 1, |i, _| {
        f32::from(value(i, 0) > 5.0)
    });
    write(&at("wide.npy"), 2500, 600, value);
    write(&at("t.npy"), 2500, 1, |i, _| value(i, 0).sin());
    let fit = "fit x.npy --targets c.npy --model logistic --gamma 0.1 --features 8 --iterations 3";
    keeps_to(here.path(), &[&format!("{fit} --memory 96M")]);
    // 40 bytes of each of 600,000 rows.
    bochner(here.path(), &format!("{fit} -q --memory 30M"), &[])
        .fails(&["what is kept of the rows 24.0 MB", "more --memory"]);
    // 2,000 rows of 600 numbers, twice.
    let median = "fit wide.npy --targets t.npy --task regression --features 8 --gamma median";
    keeps_to(here.path(), &[&format!("{median} --memory 96M")]);
    bochner(here.path(), &format!("{median} -q --memory 24M"), &[])
        .fails(&["what is kept of the rows 19.2 MB", "more --memory"]);
}

/// Bins, and the matrix that solves for them, which is no larger than what is there for it.
#[test]
fn bins_and_their_solver_keep_to_it() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 3000, 6, value);
    write(&at("y.npy"), 3000, 3, |i, t| value(i, t).sin());
    let fit = "fit x.npy --targets y.npy --task regression --map binning --kernel laplacian \
               --gamma 0.3 --features 200 --lambda 1e-3 -o m";
    keeps_to(
        here.path(),
        &[
            // 72 MB of products of rows, which is the fastest way.
            &format!("{fit} --memory 140M"),
            // Conjugate gradients, with a small sketch.
            &format!("{fit} --memory 56M"),
        ],
    );
    let solver = |memory: &str| {
        let said = bochner(here.path(), &format!("{fit} --memory {memory} --json"), &[]).ok();
        said.stdout.contains("\"relative_residual\"")
    };
    assert!(!solver("140M") && solver("56M"));
    let refused = |more: &str| bochner(here.path(), &format!("{fit} -q {more}"), &[]);
    refused("--solver dual --memory 56M").fails(&["72.", "for 3000 rows", "more --memory"]);
    write(&at("x.npy"), 60_000, 6, value);
    write(&at("y.npy"), 60_000, 3, |i, t| value(i, t).sin());
    refused("--memory 56M").fails(&["200 grids need 48.", "enough for", "more --memory"]);
}

/// The kernel of all rows, and the sketch of conjugate gradients.
#[test]
fn kernels_and_sketches_keep_to_it() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 2400, 6, value);
    write(&at("wide.npy"), 1000, 3000, value);
    write(&at("y.npy"), 2400, 1, |i, _| value(i, 0).sin());
    write(&at("t.npy"), 1000, 1, |i, _| value(i, 0).sin());
    keeps_to(
        here.path(),
        &[
            "fit x.npy --targets y.npy --model kernel-ridge --gamma 0.1 -o m --memory 88M",
            "fit wide.npy --targets t.npy --model kernel-ridge --gamma 1e-4 -o m --memory 120M",
            "fit x.npy --targets y.npy --task regression --solver cg --gamma 3 --features 12000 \
             --lambda 1e-7 --tolerance 1e-8 -o m --memory 64M",
        ],
    );
}
