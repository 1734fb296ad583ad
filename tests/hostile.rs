//! Files that nobody of good will wrote: each is refused in one line, or predicts numbers.

mod common;

use bochner::{
    data::MemorySource,
    models::{AnySums, LinearModel, LogisticRegression, Partial},
    prelude::*,
    solve::NormalEquations,
};
use ndarray::{Array1, Array2};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Draws the same numbers in every run.
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

fn data() -> (Array2<f64>, Array1<f64>, Vec<&'static str>) {
    let x = Array2::from_shape_fn((90, 2), |(i, j)| ((i * (7 * j + 5)) % 23) as f64 / 9.0);
    let y = x.column(0).mapv(f64::sin) + x.column(1);
    let labels = y.iter().map(|y| if *y > 1.5 { "high" } else { "low" });
    let labels = labels.collect();
    (x, y, labels)
}

/// Models of every kind of map, and of learners that keep something of their own.
fn models() -> Vec<Vec<u8>> {
    let (x, y, labels) = data();
    let cpu = Device::cpu();
    let mut bytes = Vec::new();
    let union = UnionBuilder::new()
        .part(0.5, Fourier::new(Laplacian).features(8))
        .part(0.5, Nystrom::new(Laplacian).features(4));
    let maps: [Box<dyn MapBuilder>; 6] = [
        Box::new(Fourier::new(Gaussian).features(8)),
        Box::new(Fastfood::new(Gaussian).features(8)),
        Box::new(Sorf::new(Gaussian).features(8)),
        Box::new(Nystrom::new(Gaussian).features(6)),
        Box::new(Binning::new(Laplacian).grids(4)),
        Box::new(union),
    ];
    for map in maps {
        let model = Ridge::on(map).device(&cpu).fit((&x, &y)).expect("fits");
        bytes.push(model.linear().to_bytes().expect("writes"));
    }
    let map = || Fourier::new(Gaussian).features(8);
    let process = GaussianProcess::on(map()).device(&cpu).fit((&x, &y));
    bytes.push(process.expect("fits").linear().to_bytes().expect("writes"));
    let logistic = LogisticRegression::on(map())
        .device(&cpu)
        .fit((&x, &labels));
    bytes.push(logistic.expect("fits").linear().to_bytes().expect("writes"));
    let pca = KernelPca::on(map()).components(2).device(&cpu).fit(&x);
    bytes.push(pca.expect("fits").linear().to_bytes().expect("writes"));
    bytes
}

/// Reads and predicts. Errors are one line; what is predicted is finite.
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

/// The properties of a file, changed, in a file with the same arrays.
fn changed(
    bytes: &[u8],
    change: impl Fn(&mut serde_json::Map<String, serde_json::Value>),
) -> Vec<u8> {
    let n = u64::from_le_bytes(bytes[..8].try_into().expect("eight")) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + n]).expect("JSON");
    let text = header["__metadata__"]["bochner"]
        .as_str()
        .expect("is there");
    let mut properties: serde_json::Map<_, _> = serde_json::from_str(text).expect("JSON");
    change(&mut properties);
    let text = serde_json::Value::Object(properties).to_string();
    header["__metadata__"]["bochner"] = text.into();
    let mut header = header.to_string();
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let mut all = (header.len() as u64).to_le_bytes().to_vec();
    all.extend(header.bytes());
    all.extend(&bytes[8 + n..]);
    all
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
                // In what says what is there, among the numbers, and an end that is missing.
                0 => other[draws.below(8 + n)] = draws.below(256) as u8,
                1 => {
                    let at = 8 + n + draws.below(bytes.len() - 8 - n);
                    other[at] ^= 1 << draws.below(8);
                }
                _ => other.truncate(draws.below(bytes.len())),
            }
            read += usize::from(tries(&other, &format!("model {k}, trial {trial}")));
        }
        // Every property, with what nobody wrote.
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

#[test]
fn changed_sums_are_refused_in_one_line() {
    let (x, y, _) = data();
    let process = GaussianProcess::on(Fourier::new(Gaussian).features(8));
    let process = process.device(&Device::cpu());
    let bytes = process
        .start((&x, &y))
        .expect("starts")
        .to_bytes()
        .expect("writes");
    let mut draws = Draws(3);
    let tries = |other: &[u8]| {
        let read = catch_unwind(|| {
            let own = Partial::<NormalEquations>::from_bytes(other).map(|_| ());
            let any = Partial::<AnySums>::from_bytes(other).map(|_| ());
            [own, any]
        });
        for error in read.expect("no panic").into_iter().filter_map(Result::err) {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    };
    for trial in 0..600 {
        let mut other = bytes.clone();
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
            tries(&changed(&bytes, |all| {
                all.insert(name.into(), value.into());
            }));
        }
    }
}

/// What is no regular file, is longer than it says, or nested without end.
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
    // A union in a union, 800 deep.
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

/// The file with another array of f64 under a name.
fn with_array(bytes: &[u8], name: &str, shape: [usize; 2], values: &[f64]) -> Vec<u8> {
    let n = u64::from_le_bytes(bytes[..8].try_into().expect("eight")) as usize;
    let header: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&bytes[8..8 + n]).expect("JSON");
    let (mut other, mut data) = (serde_json::Map::new(), Vec::new());
    for (key, mut entry) in header {
        if key == "__metadata__" {
            other.insert(key, entry);
            continue;
        }
        let offset = |k: usize| entry["data_offsets"][k].as_u64().expect("a number") as usize;
        let mut own = bytes[8 + n + offset(0)..8 + n + offset(1)].to_vec();
        if key == name {
            own = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            entry["shape"] = serde_json::json!(shape);
        }
        let from = data.len();
        data.extend(own);
        entry["data_offsets"] = serde_json::json!([from, data.len()]);
        other.insert(key, entry);
    }
    let mut header = serde_json::Value::Object(other).to_string();
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let mut all = (header.len() as u64).to_le_bytes().to_vec();
    all.extend(header.bytes());
    all.extend(data);
    all
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
