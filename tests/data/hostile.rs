//! Malicious files: each is refused in one line, or predicts numbers.

use crate::samples::{changed, data, models, with_array};
use bochner::{
    data::MemorySource,
    models::{AnySums, LinearModel, Partial},
    prelude::*,
    solve::NormalEquations,
};
use ndarray::{Array1, Array2};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A deterministic random generator.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        (self.0 >> 33) as usize % end
    }
}

/// Reads and predicts. Errors are one line; predictions are finite.
fn tries(bytes: &[u8], what: &str) -> bool {
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let model = LinearModel::from_bytes(bytes)?;
        let x = Array2::from_elem((3, model.map.input_dim().min(64)), 0.5);
        let mut source = MemorySource::new(x, None)?;
        model.on(&Device::cpu())?.stream(&mut source, |found, _| {
            assert!(found.iter().all(|v| v.is_finite()), "{what}: not finite");
            Ok(())
        })
    }));
    match tried.unwrap_or_else(|_| panic!("{what} panicked")) {
        Ok(_) => true,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{what}: {error}");
            false
        }
    }
}

#[test]
fn changed_models_are_refused_or_predict_numbers() {
    let mut draws = Draws(7);
    let mut read = 0;
    for (k, bytes) in models().iter().enumerate() {
        assert!(tries(bytes, "as it was"));
        let n = u64::from_le_bytes(bytes[..8].try_into().expect("eight")) as usize;
        for trial in 0..150 {
            let mut other = bytes.clone();
            match trial % 3 {
                // In the header, in the numbers, and a missing end.
                0 => other[draws.below(8 + n)] = draws.below(256) as u8,
                1 => {
                    let at = 8 + n + draws.below(bytes.len() - 8 - n);
                    other[at] ^= 1 << draws.below(8);
                }
                _ => other.truncate(draws.below(bytes.len())),
            }
            read += usize::from(tries(&other, &format!("model {k}, trial {trial}")));
        }
        // Every property, with invalid values.
        let mut names = Vec::new();
        let same = changed(bytes, |_| {});
        assert!(tries(&same, "the same again"));
        let n = u64::from_le_bytes(same[..8].try_into().expect("eight")) as usize;
        let header: serde_json::Value = serde_json::from_slice(&same[8..8 + n]).expect("JSON");
        let text = header["__metadata__"]["bochner"]
            .as_str()
            .expect("is there");
        let properties: serde_json::Map<_, _> = serde_json::from_str(text).expect("JSON");
        names.extend(properties.keys().cloned());
        for name in names {
            for value in [
                "",
                "0",
                "1",
                "-1",
                "1000000000000000000",
                "nan",
                "1e39",
                "[]",
                "fourier",
            ] {
                let other = changed(bytes, |all| {
                    all.insert(name.clone(), value.into());
                });
                tries(&other, &format!("model {k}, {name} = {value:?}"));
            }
            let other = changed(bytes, |all| {
                all.remove(&name);
            });
            tries(&other, &format!("model {k} without {name}"));
        }
    }
    assert!(read > 100, "some changes do no harm: {read}");
}

/// Number of damaged files of each kind, from `BOCHNER_FUZZ` as set by `cargo xtask fuzz`.
fn fuzzed() -> usize {
    let given = std::env::var("BOCHNER_FUZZ").ok();
    given.map_or(300, |n| n.parse().expect("BOCHNER_FUZZ is a number"))
}

/// Changes one to four bytes or bits, moves some, or cuts the end off.
fn damaged(bytes: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut other = bytes.to_vec();
    for _ in 0..1 + draws.below(4) {
        let at = draws.below(other.len().max(1));
        match draws.below(6) {
            0 => other.truncate(at),
            1 => drop(other.drain(at..(at + 1 + draws.below(16)).min(other.len()))),
            2 => other.insert(at, draws.below(256) as u8),
            3 if at < other.len() => other[at] = draws.below(256) as u8,
            // Lengths and shapes are at the front.
            4 if !other.is_empty() => {
                let front = draws.below(other.len().min(1200));
                other[front] = b"0123456789-e[]{}\",:\xff\0"[draws.below(21)];
            }
            _ if at < other.len() => other[at] ^= 1 << draws.below(8),
            _ => {}
        }
    }
    other
}

#[test]
fn fuzzed_models() {
    let (models, mut draws) = (models(), Draws(fuzzed() as u64));
    let mut read = 0;
    for trial in 0..fuzzed() {
        let k = trial % models.len();
        let other = damaged(&models[k], &mut draws);
        read += usize::from(tries(&other, &format!("model {k}, trial {trial}")));
    }
    println!("models: {read} of {} read", fuzzed());
}

#[test]
fn fuzzed_sums_are_refused_in_one_line() {
    let (x, y, _) = data();
    let process = GaussianProcess::on(Fourier::new(Gaussian).features(8));
    let process = process.device(&Device::cpu());
    let process = process.start((&x, &y)).expect("starts");
    // These also store rows.
    let ridge = Ridge::on(Fourier::new(Gaussian).features(8)).device(&Device::cpu());
    let again = ridge.clone();
    let ridge = ridge.start((&x, &y)).expect("starts");
    let both = [process.to_bytes(), ridge.to_bytes()].map(|bytes| bytes.expect("writes"));
    let mut draws = Draws(3);
    let tries = |other: &[u8]| {
        let read = catch_unwind(AssertUnwindSafe(|| {
            let own = Partial::<NormalEquations>::from_bytes(other).map(|_| ());
            let any = Partial::<AnySums>::from_bytes(other).map(|_| ());
            // Whatever can be read is also solved.
            let grown = again.go_on::<Array1<f64>>(other);
            [own, any, grown.and_then(|grown| grown.model()).map(|_| ())]
        }));
        for error in read.expect("no panic").into_iter().filter_map(Result::err) {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    };
    for bytes in &both {
        sums_are_damaged(bytes, &mut draws, &tries);
    }
}

/// Bytes of sums with one fault each, of many kinds.
fn sums_are_damaged(bytes: &[u8], draws: &mut Draws, tries: &dyn Fn(&[u8])) {
    for _ in 0..fuzzed() {
        tries(&damaged(bytes, draws));
    }
    for trial in 0..600 {
        let mut other = bytes.to_vec();
        let at = draws.below(bytes.len());
        match trial % 2 {
            0 => other[at] = draws.below(256) as u8,
            _ => other.truncate(at),
        }
        tries(&other);
    }
    for name in [
        "sums.rows",
        "sums.weight",
        "sums.kept",
        "sums.kept.most",
        "sums.kept.columns",
        "sums.kept.end",
        "sums.normal.rows",
        "map.features",
        "seed",
        "parts",
        "task",
    ] {
        for value in [
            "",
            "0",
            "-1",
            "1000000000000000000",
            "nan",
            "inf",
            "[",
            "[[]]",
        ] {
            tries(&changed(bytes, |all| {
                all.insert(name.into(), value.into());
            }));
        }
    }
}

/// Special files, files longer than stated, and endless nesting.
#[cfg(unix)]
#[test]
fn files_that_never_end_are_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let fifo = std::process::Command::new("mkfifo")
        .arg(at("fifo"))
        .status();
    assert!(fifo.expect("mkfifo is there").success());
    let says = |path: &std::path::Path, part: &str| {
        let error = LinearModel::load(path).expect_err("refused").to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    };
    says(&at("fifo"), "not a regular file");
    says(std::path::Path::new("/dev/zero"), "not a regular file");
    let long = std::fs::File::create(at("long")).expect("creates");
    long.set_len(1 << 40).expect("a hole");
    says(&at("long"), "not a file of bochner");
    let mut bytes = models().remove(0);
    std::fs::write(at("model"), &bytes).expect("writes");
    LinearModel::load(at("model")).expect("is whole");
    bytes.extend([0; 100]);
    std::fs::write(at("model"), &bytes).expect("writes");
    says(&at("model"), "truncated, or not a file of bochner");
    // Unions in unions, 800 levels deep.
    let deep = changed(&models().remove(0), |all| {
        for depth in 0..800 {
            let prefix = "part0.".repeat(depth);
            all.insert(format!("{prefix}map"), "union".into());
            all.insert(format!("{prefix}parts"), "1".into());
        }
    });
    let error = LinearModel::from_bytes(&deep)
        .expect_err("refused")
        .to_string();
    assert!(error.contains("32 deep"), "{error}");
}

#[test]
fn models_of_nothing_and_of_too_much_are_refused() {
    let bytes = models().remove(0);
    assert!(tries(
        &with_array(&bytes, "coefficients", [8, 1], &[0.5; 8]),
        "a model"
    ));
    let says = |other: &[u8], part: &str| {
        let tried = LinearModel::from_bytes(other).and_then(|model| {
            let mut source = MemorySource::new(Array2::from_elem((3, 2), 0.5), None)?;
            model.on(&Device::cpu())?.stream(&mut source, |_, _| Ok(()))
        });
        let error = tried.expect_err("refused").to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    };
    let none = with_array(&bytes, "coefficients", [8, 0], &[]);
    says(&with_array(&none, "intercept", [1, 0], &[]), "no outputs");
    says(
        &with_array(&bytes, "coefficients", [8, 1], &[1e300; 8]),
        "not finite",
    );
    says(
        &with_array(&bytes, "intercept", [1, 1], &[f64::NAN]),
        "not finite",
    );
    let many = changed(&bytes, |all| {
        all.insert("map".into(), "union".into());
        all.insert("parts".into(), "1000000".into());
    });
    says(&many, "1000000 maps");
}
