use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::Result;
use bochner::data::{Chunk, OpenOptions, open};
use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::{fs, io::Write};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

/// Opens and reads a file of this name with these bytes.
fn read(name: &str, bytes: &[u8]) -> Result<Chunk> {
    let (_directory, path) = place(name);
    fs::write(&path, bytes).unwrap();
    read_all(open(&path, &OpenOptions::default())?.as_mut(), 9)
}

/// As many rows as take several blocks and buffers.
fn rows(count: usize) -> String {
    let rows = (0..count).map(|i| format!("{i},{}\n", i as f64 * 0.5 - 3.0));
    format!("a,b\n{}", rows.collect::<String>())
}

#[test]
fn what_is_compressed_is_read_like_what_is_not() {
    let text = rows(60_000);
    let plain = read("x.csv", text.as_bytes()).unwrap();
    for (name, bytes) in [
        ("x.csv.gz", gzip(text.as_bytes())),
        ("x.csv.zst", zstd(text.as_bytes())),
        // Compression is detected by the first bytes, too.
        ("x.csv", gzip(text.as_bytes())),
        ("x.TSV.GZ", gzip(text.replace(',', "\t").as_bytes())),
    ] {
        assert!(bytes.len() < text.len());
        assert_eq!(read(name, &bytes).unwrap(), plain, "{name}");
    }
    // Concatenated members are one file, split anywhere.
    let (first, second) = text.as_bytes().split_at(100_001);
    for pack in [gzip, zstd] {
        let parts = [pack(first), pack(second)].concat();
        assert_eq!(read("x.csv", &parts).unwrap(), plain);
    }
    let skipped = [
        &b"\x53\x2a\x4d\x18\x03\0\0\0abc"[..],
        &zstd(text.as_bytes()),
    ]
    .concat();
    assert_eq!(read("x.csv.zst", &skipped).unwrap(), plain);
    // The character encoding is detected after decompression.
    let utf_16: Vec<u8> = format!("\u{feff}{text}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(read("x.csv.gz", &gzip(&utf_16)).unwrap(), plain);
    assert_eq!(read("x.csv.zst", &zstd(&utf_16)).unwrap(), plain);
    let (_directory, path) = place("x.csv.gz");
    fs::write(&path, gzip(rows(20).as_bytes())).unwrap();
    read_in_every_way(opened(open(&path, &OpenOptions::default())).as_mut());
}

/// Written by `zstd -19 --check`, with content length and checksum.
#[test]
fn a_file_of_zstd_itself_is_read() {
    let packed = include_bytes!("../fixtures/rows.csv.zst");
    let plain = read("x.csv", rows(200).as_bytes()).unwrap();
    assert_eq!(read("x.csv.zst", packed).unwrap(), plain);
}

/// Truncation to every length and damage to every byte are detected.
#[test]
fn what_is_cut_or_damaged_never_passes() {
    let text = rows(200);
    let zstd_itself = include_bytes!("../fixtures/rows.csv.zst").to_vec();
    for (name, bytes) in [
        ("x.csv.gz", gzip(text.as_bytes())),
        ("x.csv.zst", zstd_itself),
    ] {
        let whole = read(name, &bytes).unwrap();
        for length in 0..bytes.len() {
            let Err(error) = read(name, &bytes[..length]) else {
                panic!("{name} of {length} bytes")
            };
            let says = error.to_string();
            assert!(!says.contains('\n'), "{says}");
            if length > 20 {
                assert!(says.contains("truncated"), "{name} {length}: {says}");
            }
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            // Metadata of the compression do not matter.
            if let Ok(read) = read(name, &damaged) {
                assert_eq!(read, whole, "{name}, byte {at}");
            }
        }
        let longer = [&bytes[..], b"more"].concat();
        assert!(read(name, &longer).is_err(), "{name} and more");
    }
}

#[test]
fn names_lines_and_files_that_change() {
    let text = rows(30) + "1,x\n";
    for (name, bytes) in [
        ("x.csv.gz", gzip(text.as_bytes())),
        ("x.csv.zst", zstd(text.as_bytes())),
    ] {
        assert_says(read(name, &bytes), &["line 32, column \"b\"", "\"x\""]);
        assert_says(read(name, text.as_bytes()), &["not packed as its name"]);
        assert_says(read(name, b""), &["is empty"]);
    }
    let (_directory, path) = place("x.csv");
    fs::write(&path, rows(30)).unwrap();
    let mut source = opened(open(&path, &OpenOptions::default()));
    source.next_chunk(3).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"7,8\n").unwrap();
    assert_says(source.rewind(), &["has changed", "start again"]);
}
