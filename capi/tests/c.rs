//! The library as a C program sees it: the same numbers as from Rust, errors as codes and texts,
//! and nothing that valgrind or the address sanitizer finds.

#![cfg(unix)]

use bochner::{
    models::{Label, LinearModel, LogisticRegression, SupportVectorClassifier},
    prelude::*,
};
use ndarray::{Array2, s};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};
use tempfile::TempDir;

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of libraries, and the newest of the shared ones: that of this build.
fn library() -> (PathBuf, PathBuf) {
    let program = std::env::current_exe().expect("this program");
    let folder = program.parent().expect("a folder").to_owned();
    let suffix = std::env::consts::DLL_SUFFIX;
    let files = folder.read_dir().expect("lists").flatten();
    let built = files.filter(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        name.starts_with("libbochner_c") && name.ends_with(suffix)
    });
    let newest = built.max_by_key(|file| file.metadata().and_then(|m| m.modified()).ok());
    let newest = newest.expect("cargo has built the shared library").path();
    (folder, newest)
}

/// Compiles the C program beside `folder`.
fn compile(folder: &Path, options: &[&str]) -> PathBuf {
    let (libraries, library) = library();
    let program = folder.join("program");
    let output = Command::new("cc")
        .args([
            "-std=c11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
        ])
        .args(options)
        .arg("-I")
        .arg(here().join("include"))
        .arg(here().join("tests/program.c"))
        .arg(library)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .args(["-lm", "-lpthread", "-o"])
        .arg(&program)
        .output()
        .expect("there is a C compiler, cc");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    program
}

fn rows(n: usize, d: usize) -> Array2<f32> {
    Array2::from_shape_fn((n, d), |(i, j)| {
        ((7 * i + 3 * j + i * j) % 23) as f32 / 23.0
    })
}

fn write_rows(path: &Path, x: &Array2<f32>) {
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_ne_bytes()).collect();
    std::fs::write(path, bytes).expect("writes");
}

/// What the program prints about `model` and `x`, a line for each name.
fn run(command: &mut Command, folder: &Path, model: &[u8], x: &Array2<f32>) -> String {
    std::fs::write(folder.join("a.model"), model).expect("writes");
    write_rows(&folder.join("rows"), x);
    let output = command
        .args(["a.model", "rows"])
        .args([x.nrows().to_string(), x.ncols().to_string()])
        .current_dir(folder)
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn numbers(said: &str, name: &str) -> Vec<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {said}"));
    line.split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect()
}

/// A regression of two targets, a classifier of numbers with probabilities, and one of text.
fn models(x: &Array2<f32>) -> [LinearModel; 3] {
    let map = || {
        Fourier::new(Gaussian)
            .features(64)
            .seed(bochner::seed::Seed(3))
    };
    let y = Array2::from_shape_fn((x.nrows(), 2), |(i, k)| x[[i, k]] * x[[i, 2]]);
    let of_numbers: Vec<i32> = (0..x.nrows()).map(|i| 3 * (i as i32 % 3) - 1).collect();
    let of_text: Vec<&str> = (0..x.nrows())
        .map(|i| ["left", "r\u{e9}st"][i % 2])
        .collect();
    let cpu = Device::cpu();
    let values = Ridge::on(map()).device(&cpu).fit((x, &y));
    let numbered = LogisticRegression::on(map()).device(&cpu).lambda(1e-2);
    let numbered = numbered.fit((x, &of_numbers));
    // Margins, unlike squares, say nothing of how likely a class is.
    let named = SupportVectorClassifier::on(map()).device(&cpu);
    let named = named.fit((x, &of_text));
    [
        LinearModel::from_bytes(&values.expect("fits").linear().to_bytes().expect("bytes")),
        LinearModel::from_bytes(&numbered.expect("fits").linear().to_bytes().expect("bytes")),
        LinearModel::from_bytes(&named.expect("fits").linear().to_bytes().expect("bytes")),
    ]
    .map(|model| model.expect("reads"))
}

/// The same numbers up to `allowed`.
fn agree(said: &[f64], exact: Array2<f64>, allowed: f64) {
    assert_eq!(said.len(), exact.len());
    let exact = exact.into_raw_vec_and_offset().0;
    let off = said.iter().zip(&exact).map(|(a, b)| (a - b).abs());
    let most = off.fold(0.0, f64::max);
    assert!(most <= allowed, "{most}");
}

fn check(command: impl Fn() -> Command, folder: &Path, allowed: f64) {
    let x = rows(60, 5);
    for (kind, model) in models(&x).iter().enumerate() {
        let said = run(
            &mut command(),
            folder,
            &model.to_bytes().expect("bytes"),
            &x,
        );
        let rows = bochner::data::Rows::from(&x);
        let mut predictor = model.on(&Device::cpu()).expect("loads");
        let predicted = predictor.predict(&rows).expect("predicts");
        agree(&numbers(&said, "predictions"), predicted, allowed);
        let scores = predictor.scores(&rows).expect("predicts");
        agree(&numbers(&said, "scores"), scores, allowed);
        assert!(said.contains("row 0, column 4"), "{said}");
        match kind {
            0 => assert!(!said.contains("classes") && !said.contains("labels")),
            1 => {
                assert_eq!(numbers(&said, "classes"), [-1.0, 2.0, 5.0]);
                let mut exact = model.probabilities_on(&Device::cpu()).expect("loads");
                let exact = exact.predict(&rows).expect("predicts");
                agree(&numbers(&said, "probabilities"), exact, allowed);
                assert!(!said.contains("labels"));
            }
            _ => {
                assert!(said.contains("no probabilities: "), "{said}");
                let labels = said.lines().find(|line| line.starts_with("labels "));
                let words: Vec<_> = labels.expect("text").split(' ').skip(1).collect();
                let predicted = predictor.predict(&rows).expect("predicts");
                for (word, &number) in words.iter().zip(&predicted) {
                    assert_eq!(model.label(number), Label::Text(word));
                }
                assert_eq!(words.len(), 60);
            }
        }
    }
}

#[test]
fn a_c_program_sees_what_rust_sees() {
    let folder = TempDir::new().expect("a folder");
    let program = compile(folder.path(), &[]);
    let command = || {
        let mut command = Command::new(&program);
        command.arg("check");
        command
    };
    check(command, folder.path(), 0.0);
}

/// Reads and writes beyond what was handed over, and what is never freed.
#[test]
fn nothing_is_read_beyond_its_end_or_left_behind() {
    let folder = TempDir::new().expect("a folder");
    let there = Command::new("valgrind").arg("--version").output();
    if there.is_ok_and(|output| output.status.success()) {
        let program = compile(folder.path(), &["-g"]);
        let valgrind = || {
            let mut command = Command::new("valgrind");
            command.args([
                "--quiet",
                "--error-exitcode=99",
                "--leak-check=full",
                "--show-leak-kinds=definite",
                "--errors-for-leak-kinds=definite",
            ]);
            let known = here().join("tests/valgrind.supp");
            command.arg(format!("--suppressions={}", known.display()));
            command.args([program.as_os_str(), "memory".as_ref()]);
            command
        };
        // It has no AVX-512, so that sums may round otherwise.
        check(valgrind, folder.path(), 1e-5);
        return;
    }
    eprintln!(
        "NOT run under valgrind, which is not installed; under the address sanitizer instead"
    );
    let program = compile(folder.path(), &["-g", "-fsanitize=address"]);
    let sanitized = || {
        let mut command = Command::new(&program);
        command.arg("memory");
        command
    };
    check(sanitized, folder.path(), 0.0);
}

/// Every function of the library stands in the header, with as many arguments.
#[test]
fn the_header_has_every_function() {
    let source = std::fs::read_to_string(here().join("src/lib.rs")).expect("reads");
    let header = std::fs::read_to_string(here().join("include/bochner.h")).expect("reads");
    let (header, count) = (
        header.split_whitespace().collect::<Vec<_>>().join(" "),
        |list: &str| {
            list.split(',')
                .filter(|part| !["", "void"].contains(&part.trim()))
                .count()
        },
    );
    let functions: Vec<_> = source.split("extern \"C\" fn ").skip(1).collect();
    assert!(functions.len() > 10);
    for function in functions {
        let (name, rest) = function.split_once('(').expect("a function");
        let own = count(rest.split_once(')').expect("arguments").0);
        let there = header.split_once(&format!("{name}(")).map(|(_, rest)| rest);
        let there = there.unwrap_or_else(|| panic!("{name} is not in the header"));
        let declared = count(there.split_once(')').expect("arguments").0);
        assert_eq!(own, declared, "{name}: run `cargo xtask header`");
    }
}

/// One row of 784 columns through 4,096 features, in turns with Rust:
/// `cargo test --profile dist -p bochner-capi -- --ignored --nocapture`.
#[test]
#[ignore = "a time, which says something at full optimisation alone"]
fn one_row_takes_as_long_as_from_rust() {
    let folder = TempDir::new().expect("a folder");
    let program = compile(folder.path(), &[]);
    let x = rows(300, 784);
    let y = x.column(3).to_owned();
    let map = Fourier::new(Gaussian).features(4096);
    let model = Ridge::on(map)
        .device(&Device::cpu())
        .fit((&x, &y))
        .expect("fits");
    model.save(folder.path().join("a.model")).expect("writes");
    write_rows(&folder.path().join("rows"), &x);
    let (mut from_c, mut from_rust) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let mut command = Command::new(&program);
        command.args(["time", "a.model", "rows", "300", "784"]);
        let output = command.current_dir(folder.path()).output().expect("runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        from_c.push(text.trim().parse::<f64>().expect("nanoseconds"));
        let mut loaded = model.loaded().expect("loads");
        let mut times: Vec<f64> = (0..x.nrows())
            .map(|i| {
                let start = Instant::now();
                loaded.predict(x.slice(s![i..=i, ..])).expect("predicts");
                start.elapsed().as_nanos() as f64
            })
            .collect();
        times.sort_by(f64::total_cmp);
        from_rust.push(times[times.len() / 2]);
    }
    for times in [&mut from_c, &mut from_rust] {
        times.sort_by(f64::total_cmp);
    }
    let (c, rust) = (from_c[4] / 1e3, from_rust[4] / 1e3);
    println!(
        "one row: {c:.1} us from C, {rust:.1} us from Rust, {:.2} times",
        c / rust
    );
    assert!(c < 1.2 * rust);
}
