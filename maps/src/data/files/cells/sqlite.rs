//! Tables and views of SQLite's files.

use super::{Cells, Row, listed};
use crate::data::files::input::open_file;
use crate::error::{Error, Remedy, Result};
use rusqlite::{Connection, OpenFlags, types::ValueRef};
use std::path::Path;

/// The cells of the table called `part`, or of the only one, of the file at `file`, which messages
/// call `path`.
pub(super) fn read((path, file): (&Path, &Path), part: Option<&str>) -> Result<Cells> {
    // Says why where it cannot be opened, as for every other file.
    drop(open_file(file)?);
    let fail = |error: rusqlite::Error| {
        let says = error.to_string().replace('\n', " ");
        Error::data(
            path,
            format!("is no SQLite database that can be read ({says})"),
        )
    };
    let base = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(fail)?;
    let tables = tables(&base).map_err(fail)?;
    let table = match (part, &tables[..]) {
        (Some(name), all) => all.iter().find(|table| *table == name),
        (None, [one]) => Some(one),
        (None, _) => None,
    };
    let Some(table) = table else {
        let problem = match part {
            Some(name) => format!("has no table {name:?}, but {}", listed(&tables)),
            None => format!("has the tables {}", listed(&tables)),
        };
        let example = tables.first().map_or("table", String::as_str);
        let help = format!("name one of them, as in {}#{example}", file.display());
        return Err(Error::data(path, problem).help(Remedy::words(help)));
    };
    cells(&base, table).map_err(fail)
}

/// Tables and views, by their names.
fn tables(base: &Connection) -> rusqlite::Result<Vec<String>> {
    let asked = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') \
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut asked = base.prepare(asked)?;
    let names = asked.query_map([], |row| row.get(0))?;
    names.collect()
}

fn cells(base: &Connection, table: &str) -> rusqlite::Result<Cells> {
    let mut asked = base.prepare(&format!("SELECT * FROM \"{}\"", table.replace('"', "\"\"")))?;
    let names: Vec<String> = asked
        .column_names()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut bytes = vec![None; names.len()];
    let mut rows = Vec::new();
    let mut found = asked.query([])?;
    while let Some(row) = found.next()? {
        let number = rows.len() as u64;
        let mut cells = Vec::with_capacity(names.len());
        for (j, bytes) in bytes.iter_mut().enumerate() {
            let text: Option<Box<str>> = match row.get_ref(j)? {
                ValueRef::Null => None,
                ValueRef::Integer(value) => Some(value.to_string().into()),
                ValueRef::Real(value) => Some(value.to_string().into()),
                ValueRef::Text(text) => Some(String::from_utf8_lossy(text).trim().into()),
                ValueRef::Blob(_) => {
                    bytes.get_or_insert(number);
                    None
                }
            };
            cells.push(text.filter(|text| !text.is_empty()));
        }
        rows.push(Row { number, cells });
    }
    Ok(Cells { names, rows, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ChunkSource, ColumnChoice, OpenOptions, open};
    use std::path::PathBuf;

    fn base(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("shop.sqlite");
        let base = Connection::open(&path).expect("a database");
        base.execute_batch(script).expect("runs");
        path
    }

    /// Cells are what those of a .csv are, whatever SQLite calls their type; tables are named.
    #[test]
    fn tables_are_read_as_their_csv() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = base(
            folder.path(),
            "CREATE TABLE \"the flats\" (rooms INTEGER, city TEXT, rent TEXT, since TEXT, at REAL);
             INSERT INTO \"the flats\" VALUES (3, 'Bern', '1450.50 CHF', '2019-05-01', 0.25),
             (2, 'Chur', '990.00 CHF', '2020-01-31', 1e300);",
        );
        let csv = folder.path().join("flats.csv");
        let lines = "rooms,city,rent,since,at\n3,Bern,1450.50 CHF,2019-05-01,0.25\n\
                     2,Chur,990.00 CHF,2020-01-31,1e300\n";
        std::fs::write(&csv, lines).expect("writes");
        let all = |path: &Path| {
            let mut source = open(path, &OpenOptions::default()).expect("opens");
            source.settle(true, &mut |_| true).expect("a schema");
            let chunk = source.next_chunk(10).expect("reads").expect("rows");
            (source.column_names(), source.schema().cloned(), chunk)
        };
        assert_eq!(all(&path), all(&csv));
        let named = PathBuf::from(format!("{}#the flats", path.display()));
        assert_eq!(all(&named), all(&csv));
    }

    #[test]
    fn what_cannot_be_read_is_told_in_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = base(
            folder.path(),
            "CREATE TABLE a (x REAL, photo BLOB, k TEXT); CREATE TABLE b (x REAL);
             INSERT INTO a VALUES (1.5, NULL, 'u'), (2.5, x'00ff', 'v'), (NULL, NULL, 'u');",
        );
        let refused = |part: &str, options: &OpenOptions| {
            let path = format!("{}{part}", path.display());
            let read = open(path, options).and_then(|mut source| {
                source.settle(true, &mut |_| true)?;
                source.next_chunk(10)
            });
            read.expect_err("refused").to_string()
        };
        let usual = OpenOptions::default();
        let without = OpenOptions {
            columns: ColumnChoice::AllBut(vec!["photo".into()]),
            ..OpenOptions::default()
        };
        for (part, options, says) in [
            (
                "",
                &usual,
                "shop.sqlite: has the tables a, b; name one of them, as in ",
            ),
            ("#c", &usual, "has no table \"c\", but a, b"),
            ("#b", &usual, "#b: has no rows"),
            (
                "#a",
                &usual,
                "row 1 (counted from 0), column \"photo\": holds bytes",
            ),
            (
                "#a",
                &without,
                "row 2 (counted from 0), column \"x\": is empty",
            ),
        ] {
            let said = refused(part, options);
            assert!(
                said.contains(says) && !said.contains('\n'),
                "{part}: {said}"
            );
        }
        let text = folder.path().join("x.db");
        std::fs::write(
            &text,
            "no database, but long enough to be looked at as one is",
        )
        .expect("ok");
        let said = open(&text, &usual).err().expect("refused").to_string();
        assert!(said.contains("is no SQLite database"), "{said}");
    }
}
