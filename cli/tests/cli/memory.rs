//! `--memory` bounds what a run has in memory, the program itself and all.

use crate::{bochner, faults::peak, here};
use bochner::data::NpyWriter;
use ndarray::Array2;
use std::{fmt::Write, path::Path};

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

/// What a command may have at most, for what it had when it was last looked at: half again as much.
/// Whoever has all of it twice is seen. Where nobody heeds `--memory` it is 2.3 of what is given
/// for features, 4.4 for many classes and 4 to 5 for searches.
const ROOM: f64 = 1.5;

/// What the program has with next to nothing to do, measured here and now: its code, its threads.
fn program() -> u64 {
    let here = here();
    write(&here.path().join("x.npy"), 100, 2, value);
    let featurize = "featurize x.npy -o z.npy --gamma 0.1 --features 4";
    peak(here.path(), featurize)
}

/// So many MiB beside the program, and half of the program again: it counts itself at another
/// moment, and what it has then differs by machine, driver and allocator.
fn given(program: u64, beside: u64) -> u64 {
    program + program / 2 + (beside << 20)
}

/// Of each command, the MiB that it is given beside what the program has, and the share of what was
/// given that it had on two cores with AVX-512.
fn keeps_to(folder: &Path, commands: &[(&str, u64, f64)]) {
    let program = program();
    for (arguments, beside, seen) in commands {
        let given = given(program, *beside);
        // The program counts for no more than a third.
        let beside = given - program.min(given / 3);
        let most = peak(folder, &format!("{arguments} --memory {given}"));
        let held = most.saturating_sub(program) as f64 / beside as f64;
        println!("{held:.2} of {beside}, {seen} seen: {arguments}, {program} of the program");
        assert!(
            held < ROOM * seen,
            "{arguments}: {most} of {given} bytes, {program} of the program"
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
    write(&at("long.npy"), 20_000, 6, value);
    keeps_to(
        here.path(),
        &[
            (
                "fit x.npy --targets y.npy --task regression --gamma 0.1 --solver cholesky \
                 --features 1800 -o m",
                52,
                0.95,
            ),
            (
                "fit x.npy --targets c.npy --model logistic --gamma 0.1 --features 1000 \
                 --iterations 12",
                48,
                0.9,
            ),
            (
                "fit x.npy --targets y.npy --model falkon --gamma 0.1 --landmarks 1200",
                32,
                0.9,
            ),
            // Next to nothing, 0.3 of it; all features of the rows would be 144 MB. Some pages have
            // 2 MiB where the system gives such.
            ("predict m long.npy -o p.npy", 4, 1.0),
            (
                "featurize x.npy -o z.npy --gamma 0.1 --features 20000",
                48,
                1.05,
            ),
        ],
    );
}

/// The factors of the landmarks' kernel and of the problem, `16 m^2` bytes, and no third matrix:
/// what the peak grows by beyond those where chunks have the same room, which is small. Whether the
/// next chunk is read already when the solve has its peak is a matter of moments.
#[test]
fn falkon_holds_two_matrices_of_its_landmarks() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    write(&at("x.npy"), 4000, 6, value);
    write(&at("y.npy"), 4000, 1, |i, _| value(i, 0).sin());
    let (few, many) = (1000_u64, 2000_u64);
    let program = program();
    let of = |m: u64| {
        // Beside them the landmarks, in f64 and f32.
        let memory = given(program, 2) + 16 * m * m + 12 * 6 * m;
        let fit = "fit x.npy --targets y.npy --model falkon --gamma 0.1 --lambda 1e-3";
        let fit = format!("{fit} --tolerance 1e-2 --landmarks {m} --memory {memory}");
        peak(here.path(), &fit)
    };
    let grown = of(many) as f64 - of(few) as f64;
    let each = grown / (many * many - few * few) as f64;
    println!("{each:.2} bytes a pair of landmarks");
    // 14.4 to 14.8 were seen, for some pages are never touched; a third matrix is 4 more in f32 and
    // 8 in f64. Three bytes more than the most that was seen are 9 MB.
    assert!((-4.0..2.0).contains(&(each - 16.0)), "{each} bytes a pair");
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
            (
                &format!("{search} --metric diagonal --features 1000"),
                72,
                0.8,
            ),
            (&format!("{search} --auto"), 28, 1.0),
            (
                &format!("{search} --features auto --kernel-error 0.02"),
                32,
                0.8,
            ),
            (
                "fit wide.npy --targets t.npy --task regression --budget 2 --auto --features 200",
                44,
                0.95,
            ),
            (
                "fit long.npy --targets l.npy --task regression --budget 4 --auto",
                32,
                0.95,
            ),
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
                   --iterations 14";
    keeps_to(here.path(), &[(classes, 32, 0.75)]);
    let flat = "fit x.npy --model spectral --map fourier --components 2 --gamma 900 \
                --features 1000";
    keeps_to(here.path(), &[(flat, 48, 0.6)]);
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
    let fit = "fit text.csv --target y --task regression --gamma 0.1 --features 16";
    keeps_to(here.path(), &[(fit, 40, 0.5)]);
    if cfg!(feature = "parquet") {
        write(&here.path().join("x.npy"), 7000, 4, value);
        let lists = "featurize x.npy -o lists.parquet --gamma 0.1 --features 4096";
        let again = "featurize lists.parquet -o z.npy --gamma 0.1 --features 16";
        keeps_to(here.path(), &[(lists, 40, 0.65), (again, 44, 0.65)]);
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
    keeps_to(here.path(), &[(fit, 28, 0.65)]);
    // 40 bytes of each of 600,000 rows.
    bochner(here.path(), &format!("{fit} -q --memory 30M"), &[])
        .fails(&["what is kept of the rows 24.0 MB", "more --memory"]);
    // 2,000 rows of 600 numbers, twice, and 512 that are left out of the fit in turn.
    let median = "fit wide.npy --targets t.npy --task regression --features 8 --gamma median";
    let median = &format!("{median} --lambda 1e-6");
    keeps_to(here.path(), &[(median, 56, 0.9)]);
    bochner(here.path(), &format!("{median} -q --memory 24M"), &[])
        .fails(&["what is kept of the rows 23.0 MB", "more --memory"]);
    // And 2,500 rows of 600 numbers, their columns and a target, to choose a penalty by.
    let choosing = median.replace(" --lambda 1e-6", "");
    keeps_to(here.path(), &[(&choosing, 84, 0.65)]);
    bochner(here.path(), &format!("{choosing} -q --memory 24M"), &[])
        .fails(&["what is kept of the rows 37.9 MB", "more --memory"]);
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
            (fit, 104, 0.8),
            // Conjugate gradients, with a small sketch.
            (fit, 40, 0.9),
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
            (
                "fit x.npy --targets y.npy --model kernel-ridge --gamma 0.1 -o m",
                60,
                1.2,
            ),
            (
                "fit wide.npy --targets t.npy --model kernel-ridge --gamma 1e-4 -o m",
                96,
                0.85,
            ),
            (
                "fit x.npy --targets y.npy --task regression --solver cg --gamma 3 --features \
                 12000 --lambda 1e-7 --tolerance 1e-8 -o m",
                48,
                0.8,
            ),
        ],
    );
}
