use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::data::{ChunkSource, NpzSource, OpenOptions, Rows, open};
use ndarray::{Array1, Array2, ShapeBuilder};
use ndarray_npy::{NpzWriter, WriteNpyExt};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Values that deflate only partly.
fn table(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        ((i * 31 + j * 17) % 101) as f32 / 7.0
    })
}

fn write(path: &Path, compressed: bool, x: &Array2<f32>, y: Option<&Array1<u8>>) {
    let file = File::create(path).unwrap();
    let mut npz = if compressed {
        NpzWriter::new_compressed(file)
    } else {
        NpzWriter::new(file)
    };
    // y first: entries may have any order.
    if let Some(y) = y {
        npz.add_array("y", y).unwrap();
    }
    npz.add_array("X", x).unwrap();
    npz.finish().unwrap();
}

#[test]
fn stored_and_deflated_in_both_orders() {
    let (_directory, path) = place("data.npz");
    let x = table(57, 9);
    let mut by_columns = Array2::zeros((57, 9).f());
    by_columns.assign(&x);
    let y = Array1::from_iter((0..57).map(|i| (i % 10) as u8));
    for compressed in [false, true] {
        for layout in [&x, &by_columns] {
            write(&path, compressed, layout, Some(&y));
            let mut source = opened(open(&path, &OpenOptions::default()));
            assert_eq!(
                (source.rows(), source.columns(), source.targets()),
                (Some(57), 9, 1)
            );
            let chunk = read_in_every_way(&mut source);
            assert_eq!(chunk.x, Rows::F32(x.clone()));
            assert_eq!(chunk.y.column(0).to_vec(), y.mapv(f64::from).to_vec());
            write(&path, compressed, layout, None);
            assert_eq!(opened(NpzSource::open(&path)).targets(), 0);
        }
    }
}

#[test]
fn larger_than_the_buffers() {
    let (_directory, path) = place("data.npz");
    let x = table(20_000, 33);
    write(&path, true, &x, None);
    assert_eq!(
        read_all(&mut opened(NpzSource::open(&path)), 1_234)
            .unwrap()
            .x,
        Rows::F32(x)
    );
}

#[test]
fn refuses_what_it_cannot_read() {
    let (_directory, path) = place("data.npz");
    let mut npz = NpzWriter::new(File::create(&path).unwrap());
    for k in 0..12 {
        npz.add_array(format!("features{k}"), &table(2, 2)).unwrap();
    }
    npz.finish().unwrap();
    assert_says(
        NpzSource::open(&path),
        &[
            "data.npz",
            "no array X",
            "features1,",
            "and 4 more",
            "savez",
        ],
    );
    let mut x = table(20, 3);
    write(&path, true, &x, Some(&Array1::zeros(19)));
    assert_says(NpzSource::open(&path), &["array y has 19 rows", "20"]);
    x[(11, 1)] = f32::NAN;
    write(&path, true, &x, None);
    assert_says(
        read_all(&mut opened(NpzSource::open(&path)), 4),
        &["array X row 11, column 1 (counted from 0)", "NaN"],
    );
    fs::write(&path, "PK and nothing else").unwrap();
    assert_says(NpzSource::open(&path), &["not a .npz archive"]);
    fs::write(&path, "").unwrap();
    assert_says(NpzSource::open(&path), &["data.npz"]);
}

#[test]
fn damage_never_passes_and_never_panics() {
    let (_directory, path) = place("data.npz");
    for compressed in [false, true] {
        write(&path, compressed, &table(40, 5), Some(&Array1::zeros(40)));
        let bytes = fs::read(&path).unwrap();
        let good = read_all(&mut opened(NpzSource::open(&path)), 7).unwrap();
        let read = || NpzSource::open(&path).and_then(|mut source| read_all(&mut source, 7));
        for end in (0..bytes.len()).step_by(3) {
            fs::write(&path, &bytes[..end]).unwrap();
            assert_says(read(), &["data.npz"]);
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).unwrap();
            match read() {
                // A bit flip in a date or another irrelevant byte, or in the name of y, which is
                // optional.
                Ok(chunk) => assert!(
                    chunk.x == good.x && (chunk.y == good.y || chunk.y.ncols() == 0),
                    "byte {at}"
                ),
                Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
            }
        }
    }
}

/// A few compressed bytes may expand to more than any disk holds: no more is unpacked than the
/// directory declares, neither into memory nor into the copy of an array that is stored by columns.
#[test]
fn no_more_is_unpacked_than_the_directory_says() {
    let (_directory, path) = place("data.npz");
    let mut by_columns = Array2::<f32>::zeros((2, 16).f());
    by_columns.fill(1.0);
    for x in [Array2::zeros((2, 16)), by_columns] {
        let mut array = Vec::new();
        x.write_npy(&mut array).unwrap();
        let length = array.len() as u32;
        array.resize(64 << 20, 0);
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        zip.start_file("X.npy", zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(&array).unwrap();
        zip.finish().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        assert!(bytes.len() < 1 << 17);
        // The directory at the end, with the length.
        let entry = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
        bytes[entry + 24..entry + 28].copy_from_slice(&length.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        let read = NpzSource::open(&path).and_then(|mut source| read_all(&mut source, 1));
        assert_says(
            read,
            &[
                "array X is damaged",
                "more than the archive's directory says",
            ],
        );
    }
}
