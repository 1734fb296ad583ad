//! Randomly damaged files: each is refused in one line or read according to its contents, in
//! bounded memory and without a panic.
//!
//! `BOCHNER_FUZZ` is the number of files of each kind (`cargo xtask fuzz` uses a million);
//! `BOCHNER_FUZZ_SEED` is the seed.

use crate::damage::{MOST, below, most_held, mutate};
use crate::entries::is_read;
use flate2::{Compression, write::GzEncoder};
use ndarray::{Array1, Array2, ShapeBuilder};
use ndarray_npy::WriteNpyExt;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use std::io::{Cursor, Read, Write};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Default number for each kind.
const SHORT: u64 = 2_000;

/// Reads the result of `damaged` for each of many draws, under this name.
fn fuzz(name: &str, mut damaged: impl FnMut(&mut ChaCha8Rng) -> Vec<u8>) {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|n| n.parse().expect("a number"))
    };
    let (count, seed) = (
        number("BOCHNER_FUZZ").unwrap_or(SHORT),
        number("BOCHNER_FUZZ_SEED"),
    );
    let mut draw = ChaCha8Rng::seed_from_u64(seed.unwrap_or(1));
    let folder = tempfile::tempdir().unwrap();
    let before = most_held();
    let mut read = 0;
    for _ in 0..count {
        read += u64::from(is_read(folder.path(), name, &damaged(&mut draw)));
    }
    println!("{name}: {read} of {count} read");
    assert!(read < count, "{name}: no damage was noticed");
    if let Some((before, held)) = before.zip(most_held()) {
        let more = held.saturating_sub(before);
        assert!(more < MOST, "{name}: {held} KiB, {before} before");
    }
}

/// [`fuzz`] of these bytes.
fn fuzz_bytes(name: &str, bytes: &[u8]) {
    fuzz(name, |draw| {
        let mut bytes = bytes.to_vec();
        mutate(&mut bytes, draw);
        bytes
    });
}

/// [`fuzz`] of the unpacked bytes, packed again with correct lengths and checksums.
fn fuzz_packed(name: &str, bytes: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>) {
    fuzz(name, |draw| {
        let mut bytes = bytes.to_vec();
        mutate(&mut bytes, draw);
        pack(&bytes)
    });
}

const CSV: &str = "a,\"b \"\"x\"\"\",c\r\n1,2.5,-3e2\r\n\r\n\"4\",5,6\r\n7, 8 ,.125\r\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn npy(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes);
    bytes
}

/// The entries of an archive, by name.
type Entries = Vec<(String, Vec<u8>)>;

fn entries(archive: &[u8]) -> Entries {
    let mut archive = ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut entries = Vec::new();
    for k in 0..archive.len() {
        let mut file = archive.by_index(k).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        entries.push((file.name().to_owned(), bytes));
    }
    entries
}

fn archive(entries: &Entries, method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// [`fuzz`] of an archive, and of one of its arrays in an intact archive.
fn fuzz_archive(name: &str, whole: &Entries) {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        fuzz_bytes(name, &archive(whole, method));
    }
    fuzz(name, |draw| {
        let mut entries = whole.clone();
        let k = below(draw, entries.len());
        mutate(&mut entries[k].1, draw);
        archive(&entries, CompressionMethod::Stored)
    });
}

#[test]
fn fuzzed_text() {
    fuzz_bytes("x.csv", CSV.as_bytes());
    let marked = format!("sep=,\n# made by X\n#\n\n{CSV}");
    fuzz_bytes("x.csv", marked.as_bytes());
    let units = format!("\u{feff}{CSV}");
    let utf_16: Vec<u8> = units.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fuzz_bytes("x.csv", &utf_16);
    fuzz_bytes("x.tsv", CSV.replace(',', "\t").as_bytes());
    fuzz_bytes("x.txt", b"1 2\n3 4\n 5  6 \n");
    fuzz_bytes("x.svm", b"1 1:2 3:-4e-1\n-1 qid:3 2:5 # six\n0\n1 7:1\n");
}

#[test]
fn fuzzed_compression() {
    fuzz_bytes("x.csv.gz", &gzip(CSV.as_bytes()));
    fuzz_packed("x.csv.gz", CSV.as_bytes(), gzip);
    fuzz_bytes("x.csv.zst", include_bytes!("../fixtures/rows.csv.zst"));
}

#[test]
fn fuzzed_arrays() {
    let x = Array2::from_shape_fn((4, 3), |(i, j)| i as f32 - 0.5 * j as f32);
    fuzz_bytes("x.npy", &npy(|bytes| x.write_npy(bytes).unwrap()));
    let mut by_columns = Array2::<i64>::zeros((4, 3).f());
    by_columns[(2, 1)] = 5;
    fuzz_bytes("x.npy", &npy(|bytes| by_columns.write_npy(bytes).unwrap()));
}

#[test]
fn fuzzed_archives() {
    let x = Array2::from_shape_fn((4, 3), |(i, j)| i as f64 - 0.5 * j as f64);
    let mut by_columns = Array2::zeros((4, 3).f());
    by_columns.assign(&x);
    let y = Array1::from_vec(vec![1_u8, 0, 1, 1]);
    let y = npy(|bytes| y.write_npy(bytes).unwrap());
    for x in [x, by_columns] {
        let x = npy(|bytes| x.write_npy(bytes).unwrap());
        fuzz_archive(
            "x.npz",
            &vec![("X.npy".into(), x), ("y.npy".into(), y.clone())],
        );
    }
    fuzz_archive(
        "x.npz",
        &entries(include_bytes!("../fixtures/matrix_csr.npz")),
    );
}

/// Files of pyarrow and polars with every codec: all readable columns, including text.
#[cfg(feature = "parquet")]
#[test]
fn fuzzed_columns() {
    for bytes in [
        &include_bytes!("../fixtures/columnar/types.parquet")[..],
        include_bytes!("../fixtures/columnar/lists-none.parquet"),
        include_bytes!("../fixtures/columnar/lists-gzip.parquet"),
        include_bytes!("../fixtures/columnar/lists-lz4.parquet"),
        include_bytes!("../fixtures/columnar/polars.parquet"),
    ] {
        fuzz_bytes("x.parquet", bytes);
    }
    for bytes in [
        &include_bytes!("../fixtures/columnar/types.arrow")[..],
        include_bytes!("../fixtures/columnar/polars-uncompressed.arrow"),
        include_bytes!("../fixtures/columnar/polars-lz4.arrow"),
        include_bytes!("../fixtures/columnar/polars-zstd.arrow"),
    ] {
        fuzz_bytes("x.arrow", bytes);
    }
    fuzz_bytes(
        "x.arrows",
        include_bytes!("../fixtures/columnar/types.arrows"),
    );
}
