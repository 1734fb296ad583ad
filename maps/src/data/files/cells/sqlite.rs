//! Tables and views of SQLite's files.

use super::room::{CELL, ROW, Room};
use super::{Cells, Row, listed};
use crate::data::files::input::open_file;
use crate::error::{Error, Remedy, Result};
use rusqlite::{
    Connection, ErrorCode, OpenFlags, config::DbConfig, limits::Limit, types::ValueRef,
};
use std::{ffi::OsString, io::Read, path::Path};

/// Bytes of the longest text, of the longest row, and of the longest statement.
const LONGEST: (i32, i32) = (1 << 26, 1 << 20);
/// Steps of SQLite's machine that any file may take, how many more for each of its bytes, and after
/// how many they are counted.
const STEPS: (u64, u64, u64) = (100_000_000, 64, 100_000);

/// The cells of the table called `part`, or of the only one, of the file at `file`, which messages
/// call `path`.
pub(super) fn read((path, file): (&Path, &Path), part: Option<&str>) -> Result<Cells> {
    // Says why where it cannot be opened, as for every other file.
    drop(open_file(file)?);
    let fail = |error: rusqlite::Error| {
        if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
            let problem = "has a view that takes too long, or has no end";
            let help = "make a table of it, and name that";
            return Error::data(path, problem).help(Remedy::words(help));
        }
        let says = error.to_string().replace('\n', " ");
        Error::data(
            path,
            format!("is no SQLite database that can be read ({says})"),
        )
    };
    require_settled(path, file)?;
    let base = opened(file).map_err(fail)?;
    let found = tables(&base).map_err(fail)?;
    let names = |of: &[(String, bool)]| -> Vec<String> {
        of.iter().map(|(name, _)| name.clone()).collect()
    };
    let tables = names(&found);
    let table = match (part, &tables[..]) {
        (Some(name), all) => all.iter().find(|table| *table == name),
        // A view computes what it likes, and is read where it is asked for.
        (None, [one]) => Some(one).filter(|_| found.iter().all(|(_, is_view)| !is_view)),
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
    let mut room = Room::of(file)?;
    let mut full = Ok(());
    let take = |bytes| {
        full = room.take(bytes, path);
        full.is_ok()
    };
    let cells = cells(&base, table, take).map_err(fail)?;
    full.map(|()| cells)
}

/// Opens a database of anybody's, to be read: <https://www.sqlite.org/security.html>.
fn opened(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let mut base = Connection::open_with_flags(address(file), flags)?;
    base.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    base.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, LONGEST.0),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST.1),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        base.set_limit(limit, most)?;
    }
    let (any, each, at_once) = STEPS;
    let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
    let mut left = any.saturating_add(bytes.saturating_mul(each)) / at_once;
    let is_over = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    base.progress_handler(at_once as i32, Some(is_over))?;
    Ok(base)
}

/// The address of a file that nothing else is made beside, such as a -wal or a -shm.
fn address(file: &Path) -> OsString {
    let mut address = String::from("file:");
    let bytes = file.as_os_str().as_encoded_bytes();
    if file.is_absolute() {
        address += if bytes.starts_with(b"/") { "//" } else { "///" };
    }
    for &byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => address.push('/'),
            b'/' | b'.' | b'-' | b'_' | b':' => address.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => address.push(byte.into()),
            _ => address += &format!("%{byte:02X}"),
        }
    }
    (address + "?immutable=1").into()
}

/// Errors where changes lie beside the file that are not in it yet, which its reader would miss.
fn require_settled(path: &Path, file: &Path) -> Result<()> {
    let beside = |end: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        std::path::PathBuf::from(name)
    };
    // A journal that is done with begins with zeros, or is empty.
    let mut first = [0];
    let journal = beside("-journal");
    let is_regular = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let is_hot = is_regular(&journal)
        && std::fs::File::open(&journal)
            .and_then(|mut it| it.read(&mut first))
            .is_ok()
        && first != [0];
    let has_changes = std::fs::metadata(beside("-wal")).is_ok_and(|found| found.len() > 0);
    if is_hot || has_changes {
        let problem = "has changes beside it that are not in the file yet";
        let help = "close the program that writes it, or copy it by `sqlite3 FILE '.backup NEW'`";
        return Err(Error::data(path, problem).help(Remedy::words(help)));
    }
    Ok(())
}

/// Tables and views, by their names, and which are views.
fn tables(base: &Connection) -> rusqlite::Result<Vec<(String, bool)>> {
    let asked = "SELECT name, type = 'view' FROM sqlite_master WHERE type IN ('table', 'view') \
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut asked = base.prepare(asked)?;
    let names = asked.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    names.collect()
}

/// All cells, or those up to where `take` has no room for so many bytes more.
fn cells(
    base: &Connection,
    table: &str,
    mut take: impl FnMut(u64) -> bool,
) -> rusqlite::Result<Cells> {
    let mut asked = base.prepare(&format!("SELECT * FROM \"{}\"", table.replace('"', "\"\"")))?;
    let names: Vec<String> = asked.column_names().map(str::to_owned).collect();
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
        let texts: usize = cells
            .iter()
            .flatten()
            .map(|text| text.len() + CELL as usize)
            .sum();
        let room = ROW + CELL * names.len() as u64 + texts as u64;
        rows.push(Row { number, cells });
        if !take(room) {
            break;
        }
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

    fn refused(path: &Path, part: &str) -> String {
        let path = format!("{}{part}", path.display());
        let error = open(path, &OpenOptions::default()).err();
        error.expect(part).to_string()
    }

    /// Views compute what they like: they are read when they are named, and within limits.
    #[test]
    fn views_have_to_be_named_and_to_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";
        let path = base(
            folder.path(),
            &format!(
                "CREATE VIEW wide AS {endless} SELECT x, printf('%.*c', 1000000, 'x') FROM c;
                 CREATE VIEW steps AS {endless} SELECT count(*) AS n FROM c;
                 CREATE VIEW text AS SELECT printf('%.*c', 100000000, 'x') AS t;
                 CREATE VIEW few AS SELECT 1.5 AS x UNION ALL SELECT 2.5;"
            ),
        );
        assert!(refused(&path, "#wide").contains("asks for more than"));
        assert!(refused(&path, "#steps").contains("takes too long, or has no end"));
        assert!(refused(&path, "#text").contains("too big"));
        let few = format!("{}#few", path.display());
        let mut few = open(few, &OpenOptions::default()).expect("opens");
        let chunk = few.next_chunk(9).expect("reads").expect("rows");
        assert_eq!(chunk.x.into_f64(), ndarray::array![[1.5], [2.5]]);
        std::fs::remove_file(&path).expect("removes");
        let path = base(folder.path(), "CREATE VIEW one AS SELECT 1 AS x;");
        assert!(refused(&path, "").contains("has the tables one; name one of them"));
    }

    /// Reading makes no file beside one, and misses no change that lies there.
    #[test]
    fn nothing_is_left_beside_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("50% of #1?");
        std::fs::create_dir(&inner).expect("makes");
        let path = inner.join("shop.sqlite");
        let writer = Connection::open(&path).expect("a database");
        let script = "PRAGMA journal_mode=WAL; CREATE TABLE t (x REAL); INSERT INTO t VALUES (1);";
        writer.execute_batch(script).expect("runs");
        assert!(refused(&path, "").contains("changes beside it"));
        drop(writer);
        let mut rows = open(&path, &OpenOptions::default()).expect("opens");
        assert_eq!(
            rows.next_chunk(9).expect("reads").expect("rows").x.nrows(),
            1
        );
        assert_eq!(std::fs::read_dir(&inner).expect("a folder").count(), 1);
    }
}
