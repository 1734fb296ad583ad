use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::Result;
use bochner::data::{
    Chunk, ChunkSource, LibsvmOptions, LibsvmSource, OpenOptions, Rows, TargetUse, open,
};
use ndarray::{Array1, Array2, array, aview1};
use ndarray_npy::{NpzWriter, write_npy};
use std::fs::{self, File};
use std::path::Path;

fn libsvm(text: &str, options: LibsvmOptions) -> Result<Chunk> {
    let (_directory, path) = place("x.svm");
    fs::write(&path, text).unwrap();
    read_all(&mut LibsvmSource::open(&path, options)?, 2)
}

#[test]
fn rows_of_libsvm_have_their_zeros() {
    let text = "1 1:0.5 3:-2e1\r\n\n# all of it\n-1 qid:7 2:+7. # \"and\n 0.25\t4:1 \n2";
    let (_directory, path) = place("x.svm");
    fs::write(&path, text).unwrap();
    let mut source = opened(open(&path, &OpenOptions::default()));
    assert_eq!((source.rows(), source.targets()), (Some(4), 1));
    let chunk = read_in_every_way(source.as_mut());
    let x = array![
        [0.5, 0.0, -20.0, 0.0],
        [0.0, 7.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0; 4]
    ];
    assert_eq!(chunk.x, Rows::F64(x.clone()));
    assert_eq!(chunk.y, array![[1.0], [-1.0], [0.25], [2.0]]);
    // As many columns as the model has, independent of the file.
    let wide = LibsvmOptions {
        width: Some(6),
        ..Default::default()
    };
    let wide = libsvm(text, wide).unwrap().x.into_f64();
    assert_eq!(wide.slice(ndarray::s![.., ..4]), x);
    assert_eq!(wide.dim(), (4, 6));
    let from_zero = LibsvmOptions {
        zero_based: true,
        ..Default::default()
    };
    let chunk = libsvm("5 0:1 2:3\n", from_zero).unwrap();
    assert_eq!(chunk.x, Rows::F64(array![[1.0, 0.0, 3.0]]));
}

#[test]
fn labels_of_libsvm_may_be_absent_or_left_out() {
    let with = |text: &str, target_use| {
        let options = LibsvmOptions {
            target_use,
            ..Default::default()
        };
        libsvm(text, options)
    };
    let (labelled, some) = ("1 1:2\n3 1:4\n", "1:2\n3 1:4\n");
    for (text, target_use, targets) in [
        (labelled, TargetUse::Ignored, 0),
        ("a 1:2\n1,2 1:4\n", TargetUse::Ignored, 0),
        (some, TargetUse::Ignored, 0),
        (some, TargetUse::IfPresent, 0),
        (labelled, TargetUse::IfPresent, 1),
    ] {
        let chunk = with(text, target_use).unwrap();
        assert_eq!(chunk.x, Rows::F64(array![[2.0], [4.0]]), "{text:?}");
        assert_eq!(chunk.y.ncols(), targets, "{text:?}");
    }
    assert_says(with(some, TargetUse::Required), &["1 rows without a label"]);
}

#[test]
fn libsvm_refuses_with_the_line() {
    let read = |text: &str| libsvm(text, LibsvmOptions::default());
    for (text, needles) in [
        ("", &["is empty"][..]),
        ("\n# nothing\n", &["is empty"]),
        ("1\n2\n", &["no values, only labels"]),
        ("1 1:2\n1 0:2\n", &["line 2, \"0:2\"", "zero-based"]),
        ("1 2:2 1:2\n", &["line 1, \"1:2\"", "ascend"]),
        ("1 2:2 2:2\n", &["does not ascend"]),
        ("1 1:2 3\n", &["\"3\": is no index:value"]),
        ("1 1:x\n", &["\"1:x\"", "text", "\"x\""]),
        ("1 1:nan\n", &["is NaN"]),
        ("1 1:1e999\n", &["\"1e999\", which is beyond"]),
        ("1 1:\n", &["is empty"]),
        ("1 -1:2\n", &["no whole number as its index"]),
        ("1 1.5:2\n", &["no whole number as its index"]),
        ("one 1:2\n", &["\"one\"", "holds the text"]),
        ("1,2 1:2\n", &["several labels"]),
        ("9007199254740993 1:2\n", &["2^53", "renumber"]),
        // No memory of this size is allocated.
        ("1 1000000000:2\n", &["lies beyond 4194304 columns"]),
        ("1 99999999999999999999:2\n", &["no whole number"]),
    ] {
        assert_says(read(text), needles);
    }
    let narrow = LibsvmOptions {
        width: Some(2),
        ..Default::default()
    };
    assert_says(libsvm("1 3:1\n", narrow), &["beyond the 2 columns"]);
}

/// The matrix of the fixtures, written by scipy 1.x.
fn matrix() -> Array2<f64> {
    let mut x = Array2::zeros((7, 5));
    (x[[0, 1]], x[[0, 4]], x[[6, 0]]) = (2.0, -1.5, 1e-3);
    x.row_mut(2).assign(&aview1(&[1.0, 2.0, 3.0, 4.0, 5.0]));
    x
}

#[test]
fn matrices_of_scipy_have_their_zeros() {
    let fixture = |name| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(name)
    };
    let csr = fixture("matrix_csr.npz");
    let mut source = opened(open(&csr, &OpenOptions::default()));
    assert_eq!((source.rows(), source.targets()), (Some(7), 0));
    assert_eq!(read_in_every_way(source.as_mut()).x, Rows::F64(matrix()));
    let (_directory, y) = place("y.npy");
    write_npy(&y, &Array1::from_iter(0..7_i64)).unwrap();
    let options = OpenOptions {
        targets: Some(y.clone()),
        ..Default::default()
    };
    let mut source = opened(open(&csr, &options));
    let chunk = read_in_every_way(source.as_mut());
    assert_eq!(chunk.y.column(0), Array1::from_iter((0..7).map(f64::from)));
    assert_says(
        open(fixture("matrix_csc.npz"), &OpenOptions::default()),
        &["\"csc\"", ".tocsr()"],
    );
    write_npy(&y, &Array1::from_iter(0..6_i64)).unwrap();
    assert_says(open(&csr, &options), &["has 6 rows", "features have 7"]);
}

/// A matrix with these parts of the archive, read in one chunk.
fn csr(shape: [i64; 2], starts: &[i32], places: &[i32], values: &[f64]) -> Result<Chunk> {
    let (_directory, path) = place("x.npz");
    let mut npz = NpzWriter::new(File::create(&path).unwrap());
    // ndarray-npy has no text type; the bytes after the header matter.
    npz.add_array("format", &Array1::from_vec(b"csr".to_vec()))
        .unwrap();
    npz.add_array("shape", &Array1::from_vec(shape.to_vec()))
        .unwrap();
    for (name, array) in [("indptr", starts), ("indices", places)] {
        npz.add_array(name, &Array1::from_vec(array.to_vec()))
            .unwrap();
    }
    npz.add_array("data", &Array1::from_vec(values.to_vec()))
        .unwrap();
    npz.finish().unwrap();
    read_all(open(&path, &OpenOptions::default())?.as_mut(), 9)
}

#[test]
fn damaged_matrices_are_refused() {
    let right = csr([2, 3], &[0, 1, 3], &[2, 0, 0], &[5.0, 1.0, 2.0]).unwrap();
    assert_eq!(right.x, Rows::F64(array![[0.0, 0.0, 5.0], [3.0, 0.0, 0.0]]));
    // More entries than columns; duplicates are added up.
    let long = csr([2, 2], &[0, 0, 3], &[1, 0, 1], &[5.0, 1.0, 2.0]).unwrap();
    assert_eq!(long.x, Rows::F64(array![[0.0, 0.0], [1.0, 7.0]]));
    let values = [5.0, 1.0, 2.0];
    for (shape, starts, places, needles) in [
        ([2, 3], [1, 1, 3], [2, 0, 1], &["first row begins at 1"][..]),
        ([2, 3], [0, 2, 1], [2, 0, 1], &["row 1", "ends at 1"]),
        ([2, 3], [0, 1, 4], [2, 0, 1], &["row 1", "ends at 4"]),
        ([2, 3], [0, 1, -1], [2, 0, 1], &["row 1", "ends at -1"]),
        (
            [2, 3],
            [0, 1, 2],
            [2, 0, 1],
            &["rows end at 2, values at 3"],
        ),
        ([2, 3], [0, 1, 3], [3, 0, 1], &["column 3 of 3"]),
        ([2, 3], [0, 1, 3], [-1, 0, 1], &["column -1 of 3"]),
        ([3, 3], [0, 1, 3], [2, 0, 1], &["3 rows and 3 places"]),
        ([2, 0], [0, 1, 3], [2, 0, 1], &["has 0 columns"]),
        ([2, -3], [0, 1, 3], [2, 0, 1], &["has -3 columns"]),
        (
            [2, 1 << 40],
            [0, 1, 3],
            [2, 0, 1],
            &["can be read with their zeros"],
        ),
    ] {
        assert_says(csr(shape, &starts, &places, &values), needles);
    }
    let nan = csr([2, 3], &[0, 1, 3], &[2, 0, 1], &[5.0, f64::NAN, 2.0]);
    assert_says(nan, &["array data", "NaN"]);
    let most = csr([2, 3], &[0, 1, 3], &[2, 0, 0], &[5.0, 1e308, 1e308]);
    assert_says(most, &["exceed f64"]);
}
