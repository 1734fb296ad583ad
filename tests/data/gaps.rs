//! Rows that are left out for what they miss.

use bochner::data::{
    Chunk, ChunkSource, Gaps, Missing, NanRows, NpyWriter, OpenOptions, Refill, Rows, Survey,
    TableOptions, open,
};
use ndarray::{Array2, array};
use std::path::Path;

/// All rows, in chunks of so many.
fn all(source: &mut dyn ChunkSource, rows: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    while let Some(chunk) = source.next_chunk(rows).expect("reads") {
        let Chunk {
            x: part,
            y: targets,
            ..
        } = chunk;
        x.extend(part.into_f64().rows().into_iter().map(|row| row.to_vec()));
        y.extend(targets.column(0));
    }
    (x, y)
}

fn write(path: &Path, rows: &Array2<f32>) {
    let mut writer = NpyWriter::<f32>::create(path, rows.ncols()).expect("creates");
    writer.write_rows(rows.view()).expect("writes");
    writer.finish().expect("writes");
}

/// Rows 4 to 9 are NaN, so that a chunk may hold nothing else, 12 is infinite, and the target of 1
/// is NaN.
#[test]
fn arrays_are_read_without_rows_that_are_not_finite() {
    let folder = tempfile::tempdir().expect("a folder");
    let (x, y) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    let mut rows = Array2::from_shape_fn((15, 2), |(i, j)| (10 * i + j) as f32);
    (4..10).for_each(|i| rows[[i, i % 2]] = f32::NAN);
    rows[[12, 0]] = f32::NEG_INFINITY;
    let mut targets = Array2::from_shape_fn((15, 1), |(i, _)| i as f32);
    targets[[1, 0]] = f32::NAN;
    write(&x, &rows);
    write(&y, &targets);
    let gaps = Gaps::default();
    let with = |nan| OpenOptions {
        targets: Some(y.clone()),
        nan,
        ..OpenOptions::default()
    };
    let kept = [0, 2, 3, 10, 11, 13, 14].map(f64::from);
    for chunk in [1, 2, 3, 5, 100] {
        let mut source = open(&x, &with(NanRows::Drop(gaps.clone()))).expect("opens");
        for _ in 0..2 {
            let (x, y) = all(source.as_mut(), chunk);
            assert_eq!(y, kept, "{chunk}");
            assert_eq!(x, kept.map(|i| vec![10.0 * i, 10.0 * i + 1.0]), "{chunk}");
            source.rewind().expect("rewinds");
        }
    }
    assert_eq!(gaps.dropped(), 8);
    let mut refused = open(&x, &with(NanRows::Error)).expect("opens");
    let error = refused.next_chunk(100).expect_err("NaN").to_string();
    assert!(error.contains("row 4"), "{error}");
    // Rows go back to their places.
    let gaps = Gaps::listed();
    let mut source = open(&x, &with(NanRows::Drop(gaps.clone()))).expect("opens");
    let (mut refill, mut out) = (Refill::new(Some(gaps)), Vec::new());
    while let Some(chunk) = source.next_chunk(4).expect("reads") {
        let places = refill.places(chunk.y.nrows()).expect("some are left out");
        out.extend(Refill::filled(chunk.y.view(), &places, -1.0));
    }
    out.extend(refill.rest().iter().map(|_| -1.0));
    let expected = (0..15)
        .map(f64::from)
        .map(|i| if kept.contains(&i) { i } else { -1.0 });
    assert_eq!(out, expected.collect::<Vec<_>>());
    assert_eq!(Refill::new(None).places(3), None);
}

const TABLE: &str = "a,city,y\n1,Bern,1\n,Basel,2\n3,,3\n4,Bern,?\n5,Basel,inf\n6,Chur,6\nNA,,\n";

/// Of a table what counts is what nothing stands for.
#[test]
fn tables_are_read_without_rows_that_miss_something() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, TABLE).expect("written");
    for (missing, kept, columns) in [
        (Missing::Error, vec![1.0, 6.0], 3),
        (Missing::Mean, vec![1.0, 2.0, 3.0, 6.0], 4),
    ] {
        let gaps = Gaps::default();
        let options = OpenOptions {
            target: vec!["y".into()],
            nan: NanRows::Drop(gaps.clone()),
            table: TableOptions {
                missing,
                ..TableOptions::default()
            },
            ..OpenOptions::default()
        };
        let mut source = open(&path, &options).expect("opens");
        let survey = Survey::of(&mut source, 0, 0).expect("surveys");
        assert_eq!(survey.rows, kept.len() as u64);
        assert_eq!(source.columns(), columns);
        let (x, y) = all(source.as_mut(), 2);
        assert_eq!((x.len(), y), (kept.len(), kept.clone()));
        assert_eq!(gaps.dropped(), 7 - kept.len() as u64);
    }
}

/// Numbers alone, as text.
#[test]
fn numbers_of_a_table_are_read_without_gaps() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,b\n1,2\n,3\n4,nan\n-inf,1\n5,6\n").expect("written");
    let options = OpenOptions {
        nan: NanRows::Drop(Gaps::default()),
        ..OpenOptions::default()
    };
    let mut source = open(&path, &options).expect("opens");
    let chunk = source.next_chunk(10).expect("reads").expect("rows");
    assert_eq!(chunk.x, Rows::F64(array![[1.0, 2.0], [5.0, 6.0]]));
}
