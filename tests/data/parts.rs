use crate::{assert_says, opened, read_in_every_way};
use bochner::data::{ChunkSource, Format, OpenOptions, Rows, open, parts};
use ndarray::{Array2, array};
use ndarray_npy::write_npy;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Names and texts.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A folder of files with this text.
fn folder(files: Files<'_>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn with_target(name: &str) -> OpenOptions {
    OpenOptions {
        target: vec![name.into()],
        ..Default::default()
    }
}

#[test]
fn files_of_a_folder_are_one_dataset() {
    let here = folder(&[
        ("b.csv", "a,y\n3,4\n"),
        ("a.csv", "a,y\n1,2\n1,3\n"),
        ("c.csv", "a,y\n5,6\n7,8\n9,9\n"),
        ("_SUCCESS", ""),
        (".hidden.csv", "z\n1\n"),
        ("notes.md", "?"),
    ]);
    fs::create_dir(here.path().join("d.csv")).unwrap();
    for path in [here.path().to_owned(), here.path().join("*.csv")] {
        if path.ends_with("*.csv") {
            // A pattern matches names with a leading dot if it starts with one.
            fs::remove_file(here.path().join(".hidden.csv")).unwrap();
        }
        let mut source = opened(open(&path, &with_target("y")));
        let chunk = read_in_every_way(source.as_mut());
        let x = array![[1.0], [1.0], [3.0], [5.0], [7.0], [9.0]];
        let y = array![[2.0], [3.0], [4.0], [6.0], [8.0], [9.0]];
        assert_eq!((chunk.x, chunk.y), (Rows::F64(x), y));
        assert_eq!(source.column_names().unwrap(), ["a"]);
        assert_eq!(source.target_names().unwrap(), ["y"]);
        // Chunks continue across files.
        source.rewind().unwrap();
        let rows = |chunk: Option<bochner::data::Chunk>| chunk.map(|chunk| chunk.x.nrows());
        assert_eq!(rows(source.next_chunk(4).unwrap()), Some(4));
        assert_eq!(rows(source.next_chunk(4).unwrap()), Some(2));
    }
    let mut one = opened(open(here.path().join("?.csv"), &with_target("y")));
    assert_eq!(read_in_every_way(one.as_mut()).x.nrows(), 6);
    let mut some = opened(
        open(here.path().join("[ab].csv"), &with_target("y")).or_else(|_| {
            // Brackets are not special in patterns.
            open(here.path().join("b*"), &with_target("y"))
        }),
    );
    assert_eq!(read_in_every_way(some.as_mut()).x.nrows(), 1);
}

#[test]
fn many_files_of_arrays_and_sparse_rows_are_one_dataset() {
    let here = tempfile::tempdir().unwrap();
    for i in 0..70 {
        let x = Array2::from_elem((1 + i % 3, 2), i as f32);
        write_npy(here.path().join(format!("{i:02}.npy")), &x).unwrap();
    }
    let mut source = opened(open(here.path(), &OpenOptions::default()));
    let expected: Vec<_> = (0..70_u8)
        .flat_map(|i| vec![f32::from(i); 2 * (1 + usize::from(i) % 3)])
        .collect();
    let rows = expected.len() / 2;
    assert_eq!(source.rows(), Some(rows));
    let expected = Array2::from_shape_vec((rows, 2), expected).unwrap();
    assert_eq!(read_in_every_way(source.as_mut()).x, Rows::F32(expected));
    // Sparse rows have the width of the widest file.
    let here = folder(&[
        ("a.svm", "1 1:2\n"),
        ("b.svm", "2 3:4\n"),
        ("c.svm", "3\n1 2:1\n"),
    ]);
    let mut source = opened(open(here.path(), &OpenOptions::default()));
    let x = array![[2.0, 0.0, 0.0], [0.0, 0.0, 4.0], [0.0; 3], [0.0, 1.0, 0.0]];
    assert_eq!(read_in_every_way(source.as_mut()).x, Rows::F64(x));
}

#[test]
fn files_that_do_not_go_together_are_refused() {
    let read = |files: Files<'_>, options: &OpenOptions| {
        let here = folder(files);
        let mut source = open(here.path(), options)?;
        while source.next_chunk(9)?.is_some() {}
        Ok(())
    };
    let any = OpenOptions::default();
    let cases: [(Files, &[&str]); 6] = [
        (&[("x.md", "")], &["is a directory without", ".csv"]),
        (
            &[("x.csv", "a\n1\n"), ("x.svm", "1 1:2\n")],
            &["several formats", "\"*.csv\""],
        ),
        (
            &[("x.csv", "a,b\n1,2\n"), ("y.csv", "b,a\n1,2\n")],
            &["y.csv", "column \"b\"", "x.csv has \"a\""],
        ),
        (
            &[("x.csv", "a,b\n1,2\n"), ("y.csv", "a\n1\n")],
            &["y.csv", "has 1 feature columns", "has 2"],
        ),
        // Names in the first file only do not apply to the second.
        (
            &[("x.csv", "a,b\n1,2\n"), ("y.csv", "3,4\n")],
            &["y.csv", "column \"0\"", "\"a\""],
        ),
        (
            &[("x.csv", "a,b\n1,2\n"), ("y.csv", "a,b\n1,x\n")],
            &["y.csv: line 2, column \"b\""],
        ),
    ];
    for (files, needles) in cases {
        assert_says(read(files, &any), needles);
    }
    // Named columns are found in any order.
    let named = OpenOptions {
        columns: bochner::data::ColumnChoice::These(vec!["a".into(), "b".into()]),
        ..Default::default()
    };
    let mixed = [("x.csv", "a,b\n1,2\n"), ("y.csv", "b,a\n1,2\n")];
    read(&mixed, &named).unwrap();
    let targets = OpenOptions {
        targets: Some("y.npy".into()),
        ..Default::default()
    };
    let arrays = tempfile::tempdir().unwrap();
    for name in ["a.npy", "b.npy"] {
        write_npy(arrays.path().join(name), &Array2::<f32>::zeros((1, 1))).unwrap();
    }
    assert_says(open(arrays.path(), &targets), &["not with several files"]);
    assert_says(open("no/x*.csv", &any), &["no/x*.csv"]);
    assert_eq!(parts("x.csv").unwrap(), [PathBuf::from("x.csv")]);
    let none = folder(&[]);
    assert_says(parts(none.path().join("*.csv")), &["stands for no file"]);
    // The format may be given, and applies to each file.
    let here = folder(&[("rows", "1 1:2\n")]);
    let said = OpenOptions {
        format: Some(Format::Libsvm),
        ..Default::default()
    };
    let path: &Path = &here.path().join("rows");
    assert_eq!(opened(open(path, &said)).columns(), 1);
}
