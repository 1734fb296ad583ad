//! Dropping rows with missing values.

use bochner::data::{
    Chunk, ChunkSource, ColumnChoice, DataFile, Gaps, Missing, NanRows, NpyWriter, OpenOptions,
    Refill, Rows, Survey, TableOptions, open,
};
use ndarray::{Array2, array};
use std::path::Path;

/// All rows, in chunks of `rows` rows.
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

/// The schema drops a column of codes. Rows with a missing code are dropped only if `same_rows`
/// requests the rows from which the schema was inferred.
#[test]
fn rows_are_the_same_by_the_schema_that_was_learnt_from_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let line = |i: usize| match i % 4 {
        0 => format!(
            ",{i},{i}
"
        ),
        _ => format!(
            "c{i:03},{i},{i}
"
        ),
    };
    let text: String = (0..60).map(line).collect();
    std::fs::write(
        &path,
        format!(
            "code,x,y
{text}"
        ),
    )
    .expect("written");
    let with = |columns, same_rows| OpenOptions {
        target: vec!["y".into()],
        nan: NanRows::Drop(Gaps::default()),
        columns,
        same_rows,
        ..OpenOptions::default()
    };
    let mut first = open(&path, &with(ColumnChoice::All, false)).expect("opens");
    Survey::new(first.as_mut(), 0, 0).expect("surveys");
    let schema = first.schema().expect("text").clone();
    let rows = |same_rows| {
        let known = ColumnChoice::Known(Box::new(schema.clone()));
        let mut source = open(&path, &with(known, same_rows)).expect("opens");
        let (x, y) = all(source.as_mut(), 7);
        assert_eq!(x[0].len(), 1, "the code is left out");
        y.len()
    };
    assert_eq!((rows(true), rows(false)), (45, 60));
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
    // Row numbers are mapped back to the file.
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

/// In tables, only missing values without an imputation drop a row.
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
        let survey = Survey::new(&mut source, 0, 0).expect("surveys");
        assert_eq!(survey.rows, kept.len() as u64);
        assert_eq!(source.columns(), columns);
        let (x, y) = all(source.as_mut(), 2);
        assert_eq!((x.len(), y), (kept.len(), kept.clone()));
        assert_eq!(gaps.dropped(), 7 - kept.len() as u64);
    }
}

/// Numbers only, as text.
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

/// Rows are dropped for missing targets only; a missing feature is an error with its position in
/// the file.
#[test]
fn rows_without_a_target_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let of = |missing, gaps: &Gaps| OpenOptions {
        target: vec!["y".into()],
        nan: NanRows::DropWithoutTarget(gaps.clone()),
        table: TableOptions {
            missing,
            ..TableOptions::default()
        },
        ..OpenOptions::default()
    };
    let survey = |text: &str, missing, gaps: &Gaps| {
        std::fs::write(&path, text).expect("written");
        let mut source = open(&path, &of(missing, gaps)).expect("opens");
        let found = Survey::new(&mut source, 0, 0);
        found.map(|survey| (survey.rows, all(source.as_mut(), 2)))
    };
    let gaps = Gaps::default();
    let (rows, (_, y)) = survey(TABLE, Missing::Mean, &gaps).expect("reads");
    assert_eq!((rows, y), (4, vec![1.0, 2.0, 3.0, 6.0]));
    assert_eq!(gaps.dropped(), 3);
    // Three dropped rows precede the line, whose number counts all lines of the file.
    let text = "a,y\n1,\n\n1,NA\n2,2\n5,-inf\n,3\n";
    for (text, says) in [
        (text, "line 7, column \"a\": is empty"),
        (
            "a,y\n1,\n2,NA\n",
            "target \"y\" has no value in any of 2 rows",
        ),
    ] {
        let error = survey(text, Missing::Error, &Gaps::default()).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
    // All columns missing, and each row missing another column.
    for (text, says) in [
        (
            "a,y\n,1\n,2\n",
            "column \"a\" has no value in any of 2 rows",
        ),
        ("a,y\n1,\n,2\n", "every row misses a value"),
    ] {
        std::fs::write(&path, text).expect("written");
        let mut options = of(Missing::Error, &Gaps::default());
        options.nan = NanRows::Drop(Gaps::default());
        let mut source = open(&path, &options).expect("opens");
        let error = Survey::new(&mut source, 0, 0).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
        // Writing aligned to the rows of the file still works.
        options.nan = NanRows::Drop(Gaps::listed());
        let mut source = open(&path, &options).expect("opens");
        assert!(source.next_chunk(9).expect("reads").is_none());
    }
}

/// The same for arrays.
#[test]
fn rows_of_arrays_without_a_target_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (x, y) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    let mut rows = Array2::from_shape_fn((6, 1), |(i, _)| i as f32);
    let mut targets = rows.clone();
    (targets[[0, 0]], targets[[4, 0]]) = (f32::NAN, f32::INFINITY);
    rows[[4, 0]] = f32::NAN;
    write(&x, &rows);
    write(&y, &targets);
    let file = DataFile::at(&x).targets(&y).drop_rows_without_target();
    let (_, kept) = all(file.open().expect("opens").as_mut(), 2);
    assert_eq!(kept, [1.0, 2.0, 3.0, 5.0]);
    rows[[3, 0]] = f32::NAN;
    write(&x, &rows);
    let mut source = file.open().expect("opens");
    let error = std::iter::repeat_with(|| source.next_chunk(2)).find_map(Result::err);
    let error = error.expect("a NaN").to_string();
    assert!(error.contains("row 3, column 0"), "{error}");
    targets.fill(f32::NAN);
    write(&y, &targets);
    let error = file.open().expect("opens").next_chunk(9).expect_err("none");
    assert!(error.to_string().contains("no row has a target"), "{error}");
}

/// One of several files may have no rows left.
#[test]
fn a_file_of_several_may_have_gaps_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.csv"), "a,y\n1,\n2,\n").expect("written");
    std::fs::write(folder.path().join("b.csv"), "a,y\n3,3\n4,\n").expect("written");
    let file = DataFile::at(folder.path())
        .target("y")
        .drop_rows_without_target();
    let (_, y) = all(file.open().expect("opens").as_mut(), 9);
    assert_eq!(y, [3.0]);
}
