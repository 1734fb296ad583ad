use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::data::{ChunkSource, NpySource, OpenOptions, Rows, open};
use ndarray::{Array1, Array2, Array3, ShapeBuilder, arr0, array};
use ndarray_npy::write_npy;
use std::fs;
use std::path::Path;

/// Writes a .npy file that ndarray-npy cannot write.
fn write_raw(path: &Path, descr: &str, fortran: bool, shape: &str, data: &[u8]) {
    let order = if fortran { "True" } else { "False" };
    let dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(dict.len()).unwrap().to_le_bytes());
    bytes.extend(dict.as_bytes());
    bytes.extend(data);
    fs::write(path, bytes).unwrap();
}

fn table(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        (i * columns + j) as f64 / 8.0 - 3.0
    })
}

#[test]
fn features_and_targets_in_step() {
    let (directory, path) = place("X.npy");
    let y_path = directory.path().join("y.npy");
    let x = table(23, 5);
    write_npy(&path, &x).unwrap();
    write_npy(&y_path, &Array1::from_iter((0..23_i64).map(|i| i % 4))).unwrap();
    let mut source = opened(NpySource::open(&path, Some(&y_path)));
    assert_eq!(
        (source.rows(), source.columns(), source.targets()),
        (Some(23), 5, 1)
    );
    let chunk = read_in_every_way(&mut source);
    assert_eq!(chunk.x, Rows::F64(x.clone()));
    assert_eq!(
        chunk.y.column(0).to_vec(),
        (0..23).map(|i| f64::from(i % 4)).collect::<Vec<_>>()
    );

    let both = concat_columns(&x);
    write_npy(&y_path, &both).unwrap();
    let options = OpenOptions {
        targets: Some(y_path),
        ..Default::default()
    };
    let mut source = opened(open(&path, &options));
    assert_eq!(source.targets(), 2);
    assert_eq!(read_in_every_way(&mut source).y, both);
    assert_eq!(opened(NpySource::open(&path, None)).targets(), 0);
}

fn concat_columns(x: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), 2), |(i, j)| x[(i, j)] * 2.0)
}

#[test]
fn a_row_longer_than_the_buffer() {
    let (_directory, path) = place("X.npy");
    let x = Array2::from_shape_fn((3, 100_000), |(i, j)| (i * 100_000 + j) as f32);
    write_npy(&path, &x).unwrap();
    assert_eq!(
        read_all(&mut opened(NpySource::open(&path, None)), 2)
            .unwrap()
            .x,
        Rows::F32(x)
    );
}

#[test]
fn small_dtypes_come_as_f32_and_large_ones_as_f64() {
    let (_directory, path) = place("X.npy");
    let expected = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    macro_rules! check {
        ($($value:ty => $variant:ident),*) => {$(
            write_npy(&path, &expected.mapv(|v: f64| v as $value)).unwrap();
            let x = read_in_every_way(&mut opened(NpySource::open(&path, None))).x;
            assert!(matches!(x, Rows::$variant(_)), stringify!($value));
            assert_eq!(x.into_f64(), expected);
        )*};
    }
    check!(u8 => F32, i8 => F32, u16 => F32, i16 => F32, f32 => F32);
    check!(u32 => F64, i32 => F64, u64 => F64, i64 => F64, f64 => F64);
    write_npy(&path, &expected.mapv(|v| v != 0.0)).unwrap();
    assert_eq!(
        read_all(&mut opened(NpySource::open(&path, None)), 9)
            .unwrap()
            .x
            .into_f64(),
        expected
    );
    // f16, which Rust arrays do not support.
    write_raw(&path, "<f2", false, "(1, 2)", &[0x00, 0x3c, 0x00, 0xc0]);
    assert_eq!(
        read_all(&mut opened(NpySource::open(&path, None)), 9)
            .unwrap()
            .x,
        Rows::F32(array![[1.0, -2.0]])
    );
}

#[test]
fn big_endian() {
    let (_directory, path) = place("X.npy");
    let x = table(4, 3);
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_be_bytes()).collect();
    write_raw(&path, ">f8", false, "(4, 3)", &bytes);
    assert_eq!(
        read_in_every_way(&mut opened(NpySource::open(&path, None))).x,
        Rows::F64(x.clone())
    );
    let bytes: Vec<u8> = x
        .iter()
        .flat_map(|&v| ((v * 8.0) as i16).to_be_bytes())
        .collect();
    write_raw(&path, ">i2", false, "(4, 3)", &bytes);
    let read = read_in_every_way(&mut opened(NpySource::open(&path, None))).x;
    assert_eq!(read, Rows::F32(x.mapv(|v| (v * 8.0) as f32)));
}

#[test]
fn fortran_order_is_the_same_rows() {
    let (_directory, path) = place("X.npy");
    // Minimal sizes in either order, too.
    for (rows, columns) in [(41, 6), (41, 2), (2, 2), (2, 6)] {
        let x = table(rows, columns);
        let mut by_columns = Array2::zeros((rows, columns).f());
        by_columns.assign(&x);
        write_npy(&path, &by_columns).unwrap();
        assert!(
            fs::read(&path)
                .unwrap()
                .windows(21)
                .any(|w| w == b"'fortran_order': True")
        );
        assert_eq!(
            read_in_every_way(&mut opened(NpySource::open(&path, None))).x,
            Rows::F64(x),
            "{rows} x {columns}"
        );
    }
}

#[test]
fn not_finite_names_row_and_column() {
    let (directory, path) = place("X.npy");
    for (value, word) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "infinite")] {
        let mut x = table(30, 4);
        x[(17, 2)] = value;
        let mut by_columns = Array2::zeros((30, 4).f());
        by_columns.assign(&x);
        for layout in [&x, &by_columns] {
            write_npy(&path, layout).unwrap();
            for max_rows in [1, 8, 100] {
                let mut source = opened(NpySource::open(&path, None));
                assert_says(
                    read_all(&mut source, max_rows),
                    &["X.npy", "row 17, column 2 (counted from 0)", word, "remove"],
                );
            }
        }
        write_npy(&path, &x.mapv(|v| v as f32)).unwrap();
        assert_says(
            read_all(&mut opened(NpySource::open(&path, None)), 8),
            &["row 17, column 2", word],
        );
        let y_path = directory.path().join("y.npy");
        write_npy(&path, &table(30, 4)).unwrap();
        write_npy(&y_path, &x.column(2).to_owned()).unwrap();
        let mut source = opened(NpySource::open(&path, Some(&y_path)));
        assert_says(
            read_all(&mut source, 8),
            &["y.npy", "row 17, column 0", word],
        );
    }
}

#[test]
fn refuses_what_it_cannot_read() {
    let (directory, path) = place("X.npy");
    let open = || NpySource::open(&path, None);
    assert_says(open(), &["X.npy"]);
    assert_says(NpySource::open(directory.path(), None), &["directory"]);
    write_npy(&path, &Array1::<f64>::zeros(5)).unwrap();
    assert_says(open(), &["1-D", "5 values", "reshape(-1, 1)"]);
    write_npy(&path, &Array3::<f64>::zeros((5, 2, 2))).unwrap();
    assert_says(open(), &["3-D", "2-D", "reshape(5, -1)"]);
    write_npy(&path, &arr0(1.0)).unwrap();
    assert_says(open(), &["0-D"]);
    write_npy(&path, &Array2::<f64>::zeros((0, 3))).unwrap();
    assert_says(open(), &["no rows", "[0, 3]"]);
    write_npy(&path, &Array2::<f64>::zeros((3, 0))).unwrap();
    assert_says(open(), &["no columns"]);
    write_raw(&path, "<c16", false, "(1, 1)", &[0; 16]);
    assert_says(open(), &["'<c16'", "complex"]);
    write_raw(&path, "<U4", false, "(1, 1)", &[0; 16]);
    assert_says(open(), &["text", "encode"]);
    write_raw(&path, "<f8", false, "(4000000000, 4000000000)", &[0; 16]);
    assert_says(open(), &["header is damaged"]);
    write_raw(&path, "<f8", false, "(1000000000000, 100)", &[0; 16]);
    assert_says(open(), &["truncated"]);
    write_raw(&path, "<f8", false, "(1, 1)", &[0; 9]);
    assert_says(open(), &["goes on for 1 bytes"]);
    fs::write(&path, "a,b\n1,2\n").unwrap();
    assert_says(open(), &["not a .npy array"]);
    fs::write(&path, "").unwrap();
    assert_says(open(), &["truncated"]);

    write_npy(&path, &table(4, 2)).unwrap();
    let y_path = directory.path().join("y.npy");
    write_npy(&y_path, &Array1::<f64>::zeros(5)).unwrap();
    assert_says(
        NpySource::open(&path, Some(&y_path)),
        &["y.npy", "5 rows", "have 4"],
    );
    write_npy(&y_path, &array![1, 2, (1_i64 << 53) + 1, 3]).unwrap();
    let mut source = opened(NpySource::open(&path, Some(&y_path)));
    assert_says(
        read_all(&mut source, 4),
        &["y.npy", "row 2, column 0", "2^53"],
    );
    assert_says(opened(open()).next_chunk(0), &["0 rows"]);
}

#[test]
fn no_truncation_or_flip_panics() {
    let (_directory, path) = place("X.npy");
    write_npy(&path, &table(5, 3)).unwrap();
    let bytes = fs::read(&path).unwrap();
    for end in 0..bytes.len() {
        fs::write(&path, &bytes[..end]).unwrap();
        assert_says(NpySource::open(&path, None), &["X.npy: ", "truncated"]);
    }
    for at in 0..bytes.len() {
        for flip in [1, 2, 4, 16, 64, 128, 255] {
            let mut flipped = bytes.clone();
            flipped[at] ^= flip;
            fs::write(&path, &flipped).unwrap();
            if let Err(error) =
                NpySource::open(&path, None).and_then(|mut source| read_all(&mut source, 2))
            {
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
}

#[test]
fn a_file_that_shrinks_is_truncated() {
    let (_directory, path) = place("X.npy");
    write_npy(&path, &table(50, 3)).unwrap();
    let mut source = opened(NpySource::open(&path, None));
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(400)
        .unwrap();
    assert_says(read_all(&mut source, 8), &["truncated"]);
}

/// A sparse file with few rows, larger than any memory.
#[test]
fn too_many_columns_are_refused_before_anything_of_their_size_is_held() {
    let (_directory, path) = place("x.npy");
    let dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1000000000), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dict.len() as u16).to_le_bytes());
    bytes.extend(dict.as_bytes());
    fs::write(&path, &bytes).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(bytes.len() as u64 + 2_000_000_000).unwrap();
    assert_says(
        NpySource::open(&path, None),
        &[
            "has 1000000000 columns",
            "16777216 can be read",
            "transpose",
        ],
    );
}
