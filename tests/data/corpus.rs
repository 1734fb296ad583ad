//! The files of fuzz/corpus, which the targets of cargo-fuzz begin with: each is read, or refused
//! if its name says so; what is cut off is noticed; and damaged ones are refused or read.
//!
//! `BOCHNER_FUZZ` is how many of each format are damaged (`cargo xtask fuzz` asks for a million),
//! `BOCHNER_FUZZ_SEED` where the draws begin. The files are made again by
//! `cargo test --release --workspace --test data made -- --ignored`.

use crate::damage::{MOST, below, most_held, mutate};
use crate::entries::{State, is_read};
use crate::samples::{changed, data, models, with_array};
use bochner::{
    data::Done,
    models::LinearModel,
    prelude::*,
    seed::Seed,
    stream::{Bandit, Choice, Recursive},
};
use flate2::{Compression, write::GzEncoder};
use ndarray::Array2;
use ndarray_npy::{NpzWriter, WriteNpyExt};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use std::{
    fs,
    io::{Cursor, Write},
    path::PathBuf,
};

/// Damaged files of each format, where nothing else is asked for.
const SHORT: u64 = 1_000;
/// What the names of files begin with that must be refused.
const REFUSED: &str = "refused-";

fn folder(format: &str) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.join("../fuzz/corpus").join(format)
}

/// The files of a format by their names, which decide how they are read.
fn corpus(format: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder(format)).expect("a folder of files");
    let mut files: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("reads"))
        })
        .collect();
    files.sort();
    assert!(files.len() > 2, "{format}: {} files", files.len());
    files
}

/// Lines of text have no end that could be missing.
fn knows_its_end(name: &str) -> bool {
    let text = [".csv", ".tsv", ".libsvm"];
    !text.iter().any(|end| name.ends_with(end))
}

fn holds(format: &str) {
    let number = |name: &str| {
        let given = std::env::var(name).ok();
        given.map(|n| n.parse::<u64>().expect("a number"))
    };
    let count = number("BOCHNER_FUZZ").unwrap_or(SHORT);
    let seed = number("BOCHNER_FUZZ_SEED").unwrap_or(1);
    let mut draw = ChaCha8Rng::seed_from_u64(seed);
    let place = tempfile::tempdir().expect("a folder");
    let files = corpus(format);
    let before = most_held();
    for (name, bytes) in &files {
        let expected = !name.starts_with(REFUSED);
        assert_eq!(is_read(place.path(), name, bytes), expected, "{name}");
        if expected && knows_its_end(name) {
            let step = (bytes.len() / 2_000).max(1);
            for end in (0..bytes.len()).step_by(step).chain([bytes.len() - 1]) {
                let read = is_read(place.path(), name, &bytes[..end]);
                assert!(!read, "{name}: cut to {end} bytes of {}", bytes.len());
            }
        }
    }
    let mut read = 0;
    for _ in 0..count {
        let (name, bytes) = &files[below(&mut draw, files.len())];
        let mut bytes = bytes.clone();
        mutate(&mut bytes, &mut draw);
        read += u64::from(is_read(place.path(), name, &bytes));
    }
    println!("{format}: {read} of {count} read, seed {seed}");
    assert!(read < count, "{format}: no damage was noticed");
    if let Some((before, held)) = before.zip(most_held()) {
        let more = held.saturating_sub(before);
        assert!(more < MOST, "{format}: {held} KiB, {before} before");
    }
}

#[test]
fn fuzzed_corpus_of_models() {
    holds("model");
}

#[test]
fn fuzzed_corpus_of_sums() {
    holds("partial");
}

#[test]
fn fuzzed_corpus_of_checkpoints() {
    holds("checkpoint");
    // Nothing but what was written is taken for it.
    let states: Vec<_> = corpus("checkpoint")
        .into_iter()
        .filter_map(|(_, bytes)| State::read(&bytes).map(|state| (state, bytes)))
        .collect();
    for (state, bytes) in states {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                let read = State::read(&other);
                assert!(read.is_none_or(|read| read == state), "bit {bit} of {at}");
            }
        }
    }
}

#[test]
fn fuzzed_corpus_of_streams() {
    holds("stream");
}

#[test]
fn fuzzed_corpus_of_bandits() {
    holds("bandit");
}

#[test]
fn fuzzed_corpus_of_arrays() {
    holds("npy");
}

#[test]
fn fuzzed_corpus_of_archives() {
    holds("npz");
}

#[test]
fn fuzzed_corpus_of_tables() {
    holds("csv");
}

#[test]
fn fuzzed_corpus_of_sparse_rows() {
    holds("libsvm");
}

#[cfg(feature = "parquet")]
#[test]
fn fuzzed_corpus_of_columns() {
    holds("parquet");
}

/// The files again, as this version writes them, and what damaged ones taught.
#[test]
#[ignore = "writes the files of fuzz/corpus"]
fn made() {
    made_models();
    made_sums_and_checkpoints();
    made_streams();
    made_arrays();
    made_text();
    #[cfg(feature = "parquet")]
    made_columns();
}

fn keep(format: &str, name: &str, bytes: impl AsRef<[u8]>) {
    let folder = folder(format);
    fs::create_dir_all(&folder).expect("a folder");
    let end = if name.contains('.') { "" } else { "." };
    let kind = if name.contains('.') { "" } else { format };
    let path = folder.join(format!("{name}{end}{kind}"));
    fs::write(path, bytes).expect("writes");
}

fn made_models() {
    let models = models();
    for (name, k) in [
        ("fourier", 0),
        ("nystrom", 3),
        ("binning", 4),
        ("union", 5),
        ("process", 6),
        ("falkon", 11),
    ] {
        keep("model", name, &models[k]);
    }
    let plain = &models[0];
    let none = with_array(plain, "coefficients", [8, 0], &[]);
    let none = with_array(&none, "intercept", [1, 0], &[]);
    keep("model", "refused-no-outputs", none);
    let huge = with_array(plain, "coefficients", [8, 1], &[1e300; 8]);
    keep("model", "refused-huge-coefficients", huge);
    let nan = with_array(plain, "intercept", [1, 1], &[f64::NAN]);
    keep("model", "refused-nan", nan);
    let parts = |depth: usize, parts: &str| {
        changed(plain, |all| {
            for depth in 0..depth {
                let prefix = "part0.".repeat(depth);
                all.insert(format!("{prefix}map"), "union".into());
                all.insert(format!("{prefix}parts"), parts.into());
            }
        })
    };
    keep("model", "refused-nested", parts(40, "1"));
    keep("model", "refused-many-parts", parts(1, "1000000"));
}

fn made_sums_and_checkpoints() {
    let (x, y, _) = data();
    let cpu = Device::cpu();
    let map = Fourier::new(Gaussian).features(8);
    let process = GaussianProcess::on(map).device(&cpu).start((&x, &y));
    let process = process.expect("starts").to_bytes().expect("writes");
    keep("partial", "fourier", &process);
    let map = Nystrom::new(Gaussian).features(6);
    let landmarks = GaussianProcess::on(map).device(&cpu).start((&x, &y));
    let landmarks = landmarks.expect("starts").to_bytes().expect("writes");
    keep("partial", "nystrom", landmarks);
    let rows = changed(&process, |all| {
        all.insert("sums.rows".into(), "-1".into());
    });
    keep("partial", "refused-rows", rows);
    LinearModel::from_bytes(&process).expect_err("sums are no model");

    let mut state = State {
        given: [("--features", "48"), ("file", "x.npy, 12,000 bytes")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        done: vec![Done {
            rows: 1_500,
            bytes: 96_128,
        }],
    };
    let text = state.text();
    keep("checkpoint", "features", &text);
    keep("checkpoint", "refused-digit", text.replace("1500", "1600"));
    keep("checkpoint", "refused-nested", "[".repeat(2_000));
    state.done.push(state.done[0]);
    keep("checkpoint", "two-outputs", state.text());
    state.done[1].rows += 1;
    keep("checkpoint", "refused-other-rows", state.text());
}

fn made_streams() {
    let rule = Recursive {
        half_life: 30.0,
        ..Recursive::default()
    };
    let mut stream = rule.start(4, 2).expect("starts");
    let row = |t: usize| [1.0, 0.5, -0.25, 2.0].map(|z| (z * t as f64).sin());
    for t in 0..75 {
        let y = [t as f64 / 10.0, 1.0];
        stream.learn(&row(t), &y, 1.0).expect("learns");
    }
    let bytes = stream.to_bytes().expect("writes");
    keep("stream", "block", &bytes);
    let none = Recursive::default().start(3, 0).expect("starts");
    keep("stream", "none", none.to_bytes().expect("writes"));
    let other = |name: &str, value: &str| {
        changed(&bytes, |all| {
            all.insert(name.into(), value.into());
        })
    };
    keep("stream", "refused-since", other("since_anew", "76"));
    keep(
        "stream",
        "refused-rows",
        other("rows", &u64::MAX.to_string()),
    );
    keep("stream", "refused-growth", other("block.growth", "-0.5"));
    keep(
        "stream",
        "refused-targets",
        other("targets", &usize::MAX.to_string()),
    );

    let mut bandit = Bandit::new(rule, 4, 2, Choice::UpperBound(0.5), Seed(1)).expect("begins");
    for t in 0..40 {
        let arm = bandit.choose(&row(t)).expect("chooses");
        bandit.learn(arm, &row(t), t as f64 / 40.0).expect("learns");
    }
    let bytes = bandit.to_bytes().expect("writes");
    keep("bandit", "two", &bytes);
    let drawn = Bandit::new(rule, 3, 1, Choice::Thompson(1.0), Seed(2)).expect("begins");
    keep("bandit", "drawn", drawn.to_bytes().expect("writes"));
    for (name, key, value) in [
        ("refused-width", "width", "-1"),
        ("refused-rounds", "rounds", "18446744073709551615"),
        ("refused-arms", "arms", "18446744073709551615"),
        ("refused-targets", "arm.1.targets", "0"),
    ] {
        let other = changed(&bytes, |all| {
            all.insert(key.into(), value.into());
        });
        keep("bandit", name, other);
    }
}

fn array(x: &Array2<f64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    x.write_npy(&mut bytes).expect("writes");
    bytes
}

fn made_arrays() {
    let x = Array2::from_shape_fn((12, 3), |(i, j)| i as f64 - 0.5 * j as f64);
    let with_nan = x.mapv(|v| if v == 0.0 { f64::NAN } else { 1.0 });
    let bytes = array(&x);
    keep("npy", "rows", &bytes);
    let mut single = Vec::new();
    let by_columns = x.t().mapv(|v| v as f32);
    by_columns.t().write_npy(&mut single).expect("writes");
    keep("npy", "by-columns", single);
    keep("npy", "refused-nan", array(&with_nan));
    let wide = String::from_utf8_lossy(&bytes[..128]).contains("(12, 3)");
    assert!(wide, "a header of 128 bytes");
    let at = bytes
        .windows(7)
        .position(|w| w == b"(12, 3)")
        .expect("is there");
    let mut wide = bytes.clone();
    wide.splice(at..at + 13, *b"(1,300000000)");
    keep("npy", "refused-wide", wide);

    let archive = |x: &Array2<f64>, packed: bool| {
        let mut zip = if packed {
            NpzWriter::new_compressed(Cursor::new(Vec::new()))
        } else {
            NpzWriter::new(Cursor::new(Vec::new()))
        };
        zip.add_array("X", x).expect("adds");
        let y = x.column(0).to_owned();
        zip.add_array("y", &y).expect("adds");
        zip.finish().expect("finishes").into_inner()
    };
    keep("npz", "stored", archive(&x, false));
    keep("npz", "deflated", archive(&x, true));
    let sparse = include_bytes!("../fixtures/matrix_csr.npz");
    keep("npz", "sparse", sparse);
    // A megabyte of zeros in a kilobyte, of which the directory says that it is 384 bytes.
    let mut bomb = archive(&Array2::zeros((40_000, 3)), true);
    let length = (128 + 40_000 * 3 * 8_u32).to_le_bytes();
    while let Some(at) = bomb.windows(4).position(|w| w == length) {
        bomb.splice(at..at + 4, 384_u32.to_le_bytes());
    }
    keep("npz", "refused-bomb", bomb);
}

/// With lines in front of the names.
const MARKED: &str = "sep=;\r\n# made by X, 2024\r\n#\r\n\r\na;b\r\n1;2\r\n3;4\r\n";

/// With its mark.
fn utf_16(text: &str) -> Vec<u8> {
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

fn made_text() {
    let text = "a,\"b \"\"x\"\"\",c\r\n1,2.5,-3e2\r\n\r\n\"4\",5,6\r\n7, 8 ,.125\r\n";
    keep("csv", "quoted.csv", text);
    keep("csv", "tabs.tsv", text.replace(',', "\t"));
    keep("csv", "marked.csv", MARKED);
    keep("csv", "utf-16.csv", utf_16(text));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).expect("packs");
    keep("csv", "packed.csv.gz", gzip.finish().expect("packs"));
    keep(
        "csv",
        "packed.csv.zst",
        include_bytes!("../fixtures/rows.csv.zst"),
    );
    keep("csv", "refused-quote.csv", "a,b\n1,2\n\"3,4\n5,6\n");
    keep("csv", "refused-short.csv", "a,b\n1,2\n3\n");
    keep("csv", "refused-infinite.csv", "a,b\n1,2\n1e999,4\n");

    let rows = "1 1:2 3:-4e-1\n-1 qid:3 2:5 # six\n0\n1 7:1\n";
    keep("libsvm", "rows", rows);
    keep("libsvm", "one", "0.5 1:1\n");
    keep("libsvm", "refused-wide", "1 99999999999:2\n");
    keep("libsvm", "refused-order", "1 3:2 2:5\n");
}

#[cfg(feature = "parquet")]
fn made_columns() {
    use bochner::data::{AtomicFile, ParquetWriter};
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("x.parquet");
    let rows = Array2::from_shape_fn((20, 2), |(i, j)| (i * (j + 1)) as f64);
    let mut writer = {
        let file = AtomicFile::create(&path).expect("creates");
        ParquetWriter::numbers(file, &["a", "b"]).expect("begins")
    };
    writer.write_rows(rows.view()).expect("writes");
    writer.finish().expect("finishes");
    keep("parquet", "rows.parquet", fs::read(&path).expect("reads"));
    let fixtures: [(&str, &[u8]); 4] = [
        (
            "types.parquet",
            include_bytes!("../fixtures/columnar/types.parquet"),
        ),
        (
            "lists.parquet",
            include_bytes!("../fixtures/columnar/lists-zstd.parquet"),
        ),
        (
            "packed.arrow",
            include_bytes!("../fixtures/columnar/polars-zstd.arrow"),
        ),
        (
            "types.arrows",
            include_bytes!("../fixtures/columnar/types.arrows"),
        ),
    ];
    for (name, bytes) in fixtures {
        keep("parquet", name, bytes);
    }
}
