use crate::{assert_says, opened, place};
use bochner::Result;
use bochner::data::{Batch, Column, CsvTable, Layout, Table, Texts};
use std::fs;

/// The batches of a .csv with this text.
pub(crate) fn table(text: impl AsRef<[u8]>) -> (tempfile::TempDir, Result<CsvTable>) {
    let (directory, path) = place("table.csv");
    fs::write(&path, text).unwrap();
    (directory, CsvTable::open(path))
}

/// All text of a table, row by row, read `max_rows` rows at a time.
pub(crate) fn rows(table: &mut CsvTable, max_rows: usize) -> Result<Vec<Vec<String>>> {
    table.rewind()?;
    let mut all = Vec::new();
    while let Some(Batch { rows, columns }) = table.next_batch(max_rows)? {
        assert!((1..=max_rows).contains(&rows), "{rows} of {max_rows}");
        let columns = columns.iter().map(|column| {
            assert_eq!(column.len(), rows);
            match column {
                Column::Text(texts) => texts.iter().map(|text| text.expect("a field").to_owned()),
                other => panic!("{other:?}"),
            }
        });
        let mut columns: Vec<_> = columns.collect();
        for _ in 0..rows {
            all.push(columns.iter_mut().map(|c| c.next().unwrap()).collect());
        }
    }
    Ok(all)
}

#[test]
fn fields_are_text_in_batches_of_any_size() {
    let text = "\u{feff}a, b ,\"c, \"\"d\"\"\"\r\n1, ?,\"x\ny\"\r\n\r\n,NA, z \r\né,-2,\"\"\r\n";
    let (_directory, csv) = table(text);
    let mut csv = opened(csv);
    assert_eq!(csv.names(), ["a", "b", "c, \"d\""]);
    assert!(!csv.is_typed() && csv.rows().is_none());
    let all = [["1", "?", "x\ny"], ["", "NA", "z"], ["é", "-2", ""]];
    for max_rows in [1, 2, 3, 100] {
        assert_eq!(rows(&mut csv, max_rows).unwrap(), all, "{max_rows}");
    }
    csv.select(&[2, 0]).unwrap();
    let some: Vec<_> = all.iter().map(|[a, _, c]| [*c, *a]).collect();
    assert_eq!(rows(&mut csv, 2).unwrap(), some);
    assert_says(csv.select(&[3]), &["column 3", "of 3"]);
    assert_says(csv.next_batch(0), &["0 rows"]);
    // Rows are located by their line, which blank and broken lines shift.
    for (row, line) in [(0, 2), (1, 5), (2, 6)] {
        assert_eq!(csv.place(row, 1), format!("line {line}, column \"b\""));
    }
    let (_directory, unnamed) = table("5,6\n7,8\n");
    let mut unnamed = opened(unnamed);
    assert_eq!(unnamed.names(), ["0", "1"]);
    assert_eq!(rows(&mut unnamed, 9).unwrap(), [["5", "6"], ["7", "8"]]);
    assert_eq!(unnamed.place(1, 0), "line 2, column \"0\"");
    let (_directory, broken) = table("a,b\n1,2\n3\n");
    assert_says(rows(&mut opened(broken), 9), &["line 3 has 1 field,"]);
    // Invalid UTF-8 is read as Windows-1252, cell by cell, unless another encoding is given.
    let latin = b"a,gr\xf6\xdfe\n1,\xc3\xa9\n3,\x80 \xe9\n";
    let (_directory, csv) = table(latin);
    let mut csv = opened(csv);
    assert_eq!(csv.names(), ["a", "größe"]);
    assert_eq!(rows(&mut csv, 9).unwrap(), [["1", "é"], ["3", "€ é"]]);
    let (_directory, path) = place("table.csv");
    fs::write(&path, b"a,b\n1,2\n3,\xe9\n").unwrap();
    let said = |name: &str| Layout {
        encoding: Some(name.parse().unwrap()),
        ..Layout::default()
    };
    let mut utf_8 = opened(CsvTable::open_with(&path, &said("utf-8")));
    let says = &["line 3, column \"b\"", "not UTF-8", ".encoding("];
    assert_says(rows(&mut utf_8, 9), says);
    let mut greek = opened(CsvTable::open_with(&path, &said("windows-1253")));
    assert_eq!(rows(&mut greek, 9).unwrap(), [["1", "2"], ["3", "ι"]]);
}

/// All arrangements of missing, empty and long texts.
#[test]
fn missing_text_is_none_and_empty_text_is_not() {
    let pieces = [None, Some(""), Some("a"), Some("bcd")];
    for code in 0..256_usize {
        let wanted: Vec<_> = (0..4).map(|k| pieces[(code >> (2 * k)) % 4]).collect();
        let mut texts = Texts::default();
        assert!(texts.is_empty());
        for piece in &wanted {
            match piece {
                Some(text) => texts.push(text),
                None => texts.push_missing(),
            }
        }
        assert_eq!(texts.iter().collect::<Vec<_>>(), wanted);
        assert_eq!(texts.len(), 4);
    }
}
