//! Whatever is wrong: exit status 1 or 2, one line that says what, where and what to do, and no
//! file touched.

use crate::{bochner, le, npy};
use ndarray::{Array2, array};
use ndarray_npy::NpzWriter;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    path::Path,
};
use tempfile::TempDir;

/// Every file of a directory with its contents.
fn contents(directory: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("lists");
    let files = entries
        .map(|entry| entry.expect("an entry"))
        .filter(|e| e.path().is_file());
    files
        .map(|file| (file.file_name(), fs::read(file.path()).expect("reads")))
        .collect()
}

/// Runs every case where `old.npy` and `old.model` stand for what was there before: nothing may
/// change, nothing be added.
fn all_fail(here: &TempDir, cases: &[(&str, &[&str])]) {
    for name in ["old.npy", "old.model"] {
        fs::write(here.path().join(name), "precious").expect("written");
    }
    let before = contents(here.path());
    for (arguments, fragments) in cases {
        println!("bochner {arguments}");
        bochner(here.path(), arguments, &[]).fails(fragments);
        assert!(
            contents(here.path()) == before,
            "{arguments} changed a file"
        );
    }
}

fn directory(files: &[(&str, &str)]) -> TempDir {
    let here = TempDir::new().expect("a temporary directory");
    for (name, text) in files {
        fs::write(here.path().join(name), text).expect("written");
    }
    here
}

#[test]
fn csv() {
    let here = directory(&[
        ("good.csv", "a,b,label\n1,2,0\n3,4,1\n5,7,1\n"),
        ("nan.csv", "a,b,label\n1,2,0\n3,NaN,1\n"),
        ("inf.csv", "a,b,label\n1,2,0\n-inf,4,1\n"),
        ("y.csv", "a,b,label\n1,2,nan\n"),
        ("ragged.csv", "a,b,label\n1,2,0\n3,4\n"),
        ("empty.csv", ""),
        ("names.csv", "a,b,label\n"),
        ("text.csv", "a,b,label\n1,2,0\n3,blue,1\n"),
        ("gap.csv", "a,b,label\n1,,0\n"),
        ("same.csv", "a,b,label\n1,1,0\n1,1,1\n"),
        ("one.csv", "a,b,label\n1,2,1\n3,4,1\n"),
        ("only.csv", "label\n1\n"),
        ("x.parquetry", "a\n1\n"),
    ]);
    macro_rules! fit {
        ($input:literal $($options:literal)?) => {
            concat!("fit ", $input, " --target label --device cpu -q -o old.model ", $($options)?)
        };
    }
    all_fail(
        &here,
        &[
            (
                fit!("nan.csv" "--missing error"),
                &["nan.csv", "line 3", "\"b\"", "NaN", "remove"],
            ),
            (fit!("inf.csv"), &["inf.csv", "line 3", "\"a\"", "infinite"]),
            (
                fit!("y.csv"),
                &["y.csv", "\"label\"", "has no value in any row"],
            ),
            (fit!("ragged.csv"), &["line 3", "2 fields", "3"]),
            (fit!("empty.csv"), &["is empty"]),
            (fit!("names.csv"), &["no rows"]),
            (
                fit!("text.csv"),
                &["line 3", "\"b\"", "\"blue\"", "correct it"],
            ),
            (
                fit!("gap.csv" "--missing error"),
                &["line 2", "\"b\"", "empty"],
            ),
            (fit!("same.csv"), &["no spread", "--gamma"]),
            (fit!("one.csv"), &["labels are the same"]),
            (fit!("only.csv"), &["only target columns"]),
            (fit!("missing.csv"), &["missing.csv", "check the name"]),
            (fit!("no/where.csv"), &["there is no directory no"]),
            (fit!("x.parquetry"), &[".parquetry", "convert"]),
            (
                fit!("good.csv" "--targets old.npy"),
                &["targets file", "name a target column"],
            ),
            (
                fit!("good.csv" "--sigma 1,2,3"),
                &["3 lengthscales for 2 columns"],
            ),
            (fit!("good.csv" "--memory 10"), &["--memory"]),
            (
                fit!("good.csv" "--test 0.000001"),
                &["test part has no rows", "fraction"],
            ),
            (fit!("good.csv" "--test-input only.csv"), &["only.csv"]),
            (
                "fit good.csv --target colour -q",
                &["\"colour\"", "\"a\", \"b\", \"label\""],
            ),
            ("fit good.csv -q", &["no targets", "--target"]),
            (
                "fit good.csv --target a,label --task classification --device cpu",
                &["one column"],
            ),
            (
                "fit good.csv --target label --device cpu -o no/model",
                &["no directory no", "create"],
            ),
            (
                "fit good.csv --target label --device cpu -o .",
                &["is a directory"],
            ),
            (
                "featurize nan.csv --missing error --device cpu -o old.npy",
                &["line 3"],
            ),
            (
                "featurize nan.csv --missing error --device cpu --gamma 1 -o old.npy",
                &["line 3"],
            ),
            (
                "featurize nan.csv --missing error --device cpu --gamma 1 -o new.npy",
                &["line 3"],
            ),
        ],
    );
}

#[test]
fn arrays() {
    let here = TempDir::new().expect("a temporary directory");
    let at = |name: &str| here.path().join(name);
    let six = le(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    npy(at("y.npy"), "<f8", false, "(3,)", &le(&[0.5, 1.0, 2.0]));
    npy(at("good.npy"), "<f8", false, "(3, 2)", &six);
    npy(at("cut.npy"), "<f8", false, "(3, 2)", &six[..40]);
    npy(at("complex.npy"), "<c16", false, "(3, 1)", &six);
    npy(at("object.npy"), "|O", false, "(3, 2)", &six);
    npy(at("flat.npy"), "<f8", false, "(6,)", &six);
    npy(at("two.npy"), "<f8", false, "(2, 3)", &six);
    npy(
        at("fortran.npy"),
        "<f8",
        true,
        "(3, 2)",
        &le(&[1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0]),
    );
    npy(
        at("inf.npy"),
        "<f8",
        false,
        "(3, 2)",
        &le(&[1.0, 2.0, 3.0, f64::INFINITY, 5.0, 6.0]),
    );
    npy(
        at("nan_y.npy"),
        "<f8",
        false,
        "(3,)",
        &le(&[0.0, 1.0, f64::NAN]),
    );
    fs::write(at("foreign.npy"), "PNG").expect("written");
    let archive = |name: &str, arrays: &[(&str, Array2<f64>)]| {
        let mut writer = NpzWriter::new_compressed(File::create(at(name)).expect("creates"));
        for (name, array) in arrays {
            writer.add_array(*name, array).expect("adds");
        }
        writer.finish().expect("finishes");
    };
    let x = array![[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]];
    archive("x.npz", &[("X", x.clone())]);
    archive("data.npz", &[("data", x.clone())]);
    archive("whole.npz", &[("X", x.clone()), ("y", x)]);
    let whole = fs::read(at("whole.npz")).expect("reads");
    fs::write(at("cut.npz"), &whole[..whole.len() / 2]).expect("written");
    macro_rules! fit {
        ($input:literal) => {
            concat!(
                "fit ",
                $input,
                ".npy --targets y.npy --device cpu -q -o old.model"
            )
        };
    }
    all_fail(
        &here,
        &[
            (fit!("cut"), &["cut.npy", "truncated"]),
            (fit!("complex"), &["complex.npy", "<c16", "complex"]),
            (fit!("object"), &["|O", "astype"]),
            (fit!("flat"), &["flat.npy"]),
            (fit!("two"), &["2", "3"]),
            (
                fit!("fortran"),
                &["fortran.npy", "row 1", "column 1", "NaN"],
            ),
            (fit!("inf"), &["inf.npy", "row 1", "column 1", "infinite"]),
            (fit!("foreign"), &["foreign.npy"]),
            (
                "fit good.npy --targets nan_y.npy --device cpu -q",
                &["nan_y.npy", "row 2", "NaN"],
            ),
            (
                "fit good.npy --targets cut.npy --device cpu -q",
                &["cut.npy", "truncated"],
            ),
            ("fit good.npy --device cpu -q", &["no targets", "--targets"]),
            (
                "fit good.npy --target a --device cpu -q",
                &["no column names"],
            ),
            ("fit x.npz --device cpu -q", &["no targets", "array y"]),
            ("fit data.npz --device cpu -q", &["data.npz", "X"]),
            ("fit cut.npz --device cpu -q", &["cut.npz"]),
            (
                "featurize inf.npy --gamma 1 --device cpu -o old.npy",
                &["row 1", "column 1"],
            ),
        ],
    );
}

#[test]
fn models() {
    let here = directory(&[
        ("good.csv", "a,b,label\n1,2,0\n3,4,1\n5,7,1\n"),
        ("wide.csv", "a,b,c,label\n1,2,3,0\n"),
        ("nameless.csv", "1,2,3\n"),
        ("narrow.csv", "a,c,label\n1,2,0\n"),
        ("text.model", "not a model at all"),
        ("empty.model", ""),
        ("bad.csv", "a,b\n1,2\n3,x\n"),
    ]);
    bochner(
        here.path(),
        "fit good.csv --target label --device cpu -q --features 8 -o good.model",
        &[],
    )
    .ok();
    let good = fs::read(here.path().join("good.model")).expect("reads");
    fs::write(here.path().join("cut.model"), &good[..good.len() - 9]).expect("written");
    fs::write(here.path().join("stub.model"), &good[..20]).expect("written");
    let foreign = b"\x02\0\0\0\0\0\0\0{}";
    fs::write(here.path().join("foreign.model"), foreign).expect("written");
    macro_rules! predict {
        ($model:literal $($rest:literal)?) => {
            concat!("predict ", $model, " good.csv --target label --device cpu -o old.npy \
             ", $($rest)?)
        };
    }
    all_fail(
        &here,
        &[
            (
                predict!("text.model"),
                &["text.model", "not a file of bochner", "fit again"],
            ),
            (predict!("empty.model"), &["empty.model", "truncated"]),
            (predict!("cut.model"), &["cut.model", "truncated"]),
            (predict!("stub.model"), &["stub.model", "truncated"]),
            (
                predict!("foreign.model"),
                &["foreign.model", "another program"],
            ),
            (
                predict!("missing.model"),
                &["missing.model", "check the name"],
            ),
            (
                predict!("good.model" "--device nothing-like-it"),
                &["--device"],
            ),
            (
                "predict good.model nameless.csv --device cpu -o old.npy",
                &["3 feature columns", "2", "--target"],
            ),
            (
                "predict good.model narrow.csv --device cpu -o old.npy",
                &["\"b\"", "fitted on", "a, c, label"],
            ),
            (
                "predict good.model bad.csv --device cpu -o old.npy",
                &["line 3", "\"x\""],
            ),
            (
                "predict good.model bad.csv --device cpu -o new.csv",
                &["line 3", "\"x\""],
            ),
            (
                "predict good.model good.csv --target label -o out.txt",
                &["out.txt", ".npy, .csv or .parquet"],
            ),
            (
                "evaluate good.model narrow.csv --target label --device cpu",
                &["\"b\"", "fitted on", "a, c, label"],
            ),
            (
                "evaluate good.model wide.csv --target c,label --device cpu",
                &["2 target columns", "1"],
            ),
            (
                "evaluate good.model narrow.csv --device cpu",
                &["\"b\"", "fitted on", "a, c, label"],
            ),
        ],
    );
}

#[test]
fn options() {
    let here = directory(&[("good.csv", "a,b,label\n1,2,0\n3,4,1\n5,7,1\n")]);
    macro_rules! fit {
        ($options:literal) => {
            concat!("fit good.csv --target label -o old.model -q ", $options)
        };
    }
    let cases: &[(&str, &[&str])] = &[
        (fit!("--features 0"), &["--features", "0"]),
        (fit!("--features 7"), &["7", "paired", "use 8"]),
        (fit!("--features -4"), &["-4", "--features"]),
        (fit!("--features many"), &["many", "--features"]),
        (fit!("--form phase --features 0"), &["--features", "0"]),
        (fit!("--gamma 0"), &["--gamma", "positive"]),
        (fit!("--gamma -1"), &["--gamma", "positive"]),
        (fit!("--gamma nan"), &["--gamma", "positive"]),
        (
            fit!("--gamma wide"),
            &["--gamma", "median, neighbours, scale"],
        ),
        (fit!("--sigma 0"), &["--sigma", "positive"]),
        (fit!("--sigma 1,-2"), &["--sigma", "-2"]),
        (fit!("--gamma 1 --sigma 2"), &["--gamma", "--sigma"]),
        (fit!("--gamma 1e-320"), &["lengthscale", "--gamma"]),
        (fit!("--kernel matern32 --gamma 1"), &["matern", "--sigma"]),
        (fit!("--lambda 0 --model svm"), &["--lambda", "positive"]),
        (
            fit!("--lambda 0 --solver cholesky"),
            &["--lambda", "positive"],
        ),
        (fit!("--lambda -1e-3"), &["--lambda", "positive"]),
        (fit!("--model falkon --map sorf"), &["--map", "falkon"]),
        (fit!("--model kernel-ridge --features 9"), &["--features"]),
        (fit!("--model kernel-ridge --landmarks 9"), &["falkon"]),
        (fit!("--landmarks 0 --model falkon"), &["--landmarks"]),
        (fit!("--held-out 1 --model boosting"), &["--held-out"]),
        (fit!("--shrinkage 0 --model boosting"), &["--shrinkage"]),
        (fit!("--steps 0 --model greedy"), &["--steps"]),
        (fit!("--block 9 --model greedy"), &["--block", "boosting"]),
        (fit!("--kernel gauss"), &["gauss", "gaussian"]),
        (fit!("--map furrier"), &["furrier", "fourier"]),
        (fit!("--sampling dice"), &["dice", "monte-carlo"]),
        (fit!("--form octagonal"), &["octagonal", "paired", "phase"]),
        (fit!("--seed -1"), &["--seed"]),
        (fit!("--test 0"), &["--test", "between 0 and 1"]),
        (fit!("--test 1"), &["--test", "between 0 and 1"]),
        (fit!("--test -0.5"), &["--test", "between 0 and 1"]),
        (fit!("--test 0.5 --test-input good.csv"), &["--test"]),
        (fit!("--test-targets good.csv"), &["--test-input"]),
        (fit!("--memory 5Q"), &["--memory", "256M"]),
        (fit!("--memory 0"), &["--memory"]),
        (fit!("--threads 0"), &["--threads", "1 or more"]),
        (fit!("--bogus"), &["--bogus"]),
        ("featurize good.csv -o old.txt", &["old.txt", ".npy"]),
        (
            "featurize good.csv",
            &["--output", "bochner featurize --help"],
        ),
        ("fit", &["<INPUT>", "bochner fit --help"]),
        ("conjure", &["conjure"]),
    ];
    all_fail(&here, cases);
    for (arguments, _) in cases {
        let code = bochner(here.path(), arguments, &[]).code;
        assert_eq!(code, Some(2), "{arguments}");
    }
    // What depends on the machine is no fault of usage.
    let run = bochner(here.path(), fit!("--device no-such-adapter"), &[]);
    assert_eq!(run.code, Some(1));
    run.fails(&["no adapter", "no-such-adapter", "cpu, gpu or auto"]);
}
