//! Lists of texts for no value in columns that have types.

use crate::data::{
    ChunkSource, Gaps, Missing, NanRows, OpenOptions, Rows, TableOptions, groups, open,
};
use arrow_array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::{fs::File, path::Path, sync::Arc};

const LAST_DAY: i32 = 2_932_896;

/// Four rows: a code, a day and a text in the second stand for no value.
fn write(path: &Path) {
    let day = [19_000, LAST_DAY, 19_002, 19_004];
    let columns: [(&str, ArrayRef); 5] = [
        (
            "x",
            Arc::new(Float64Array::from(vec![1.0, -999.0, 3.0, 5.0])),
        ),
        ("i", Arc::new(Int64Array::from(vec![2, -999, 4, 9]))),
        ("d", Arc::new(Date32Array::from(day.to_vec()))),
        ("t", Arc::new(StringArray::from(vec!["7", "-", "8", "12"]))),
        ("y", Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5, 3.5]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("opens");
    writer.write(&batch).expect("writes");
    writer.close().expect("closes");
}

fn options(na: &[&str], nan: NanRows) -> OpenOptions {
    let missing = match &nan {
        NanRows::Error => Missing::Mean,
        _ => Missing::Error,
    };
    OpenOptions {
        target: vec!["y".into()],
        nan,
        table: TableOptions {
            missing,
            na: Some(na.iter().map(|text| (*text).to_owned()).collect()),
            ..TableOptions::default()
        },
        ..OpenOptions::default()
    }
}

/// The rows of a source, whose columns are surveyed first.
fn rows(source: &mut dyn ChunkSource) -> ndarray::Array2<f64> {
    source.settle(false, &mut |_| true).expect("settles");
    match source.next_chunk(9).expect("reads").expect("rows").x {
        Rows::F64(x) => x,
        Rows::F32(x) => x.mapv(f64::from),
    }
}

const GIVEN: [&str; 3] = ["-999", "-", "9999-12-31"];

#[test]
fn a_given_list_of_texts_for_no_value_holds_in_columns_of_types() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    write(&path);
    let mut source = open(&path, &options(&GIVEN, NanRows::Error)).expect("opens");
    let x = rows(source.as_mut());
    assert_eq!(x.row(1).to_vec(), [3.0, 5.0, 19_002.0, 9.0]);
    let dropped = options(&GIVEN, NanRows::Drop(Gaps::default()));
    let mut source = open(&path, &dropped).expect("opens");
    assert_eq!(rows(source.as_mut()).nrows(), 3);
    let mut grouped = dropped;
    grouped.nan = NanRows::Error;
    grouped.table.group = Some("t".into());
    let error = groups(&path, &grouped).expect_err("no group").to_string();
    assert!(error.contains("names no group"), "{error}");
}
