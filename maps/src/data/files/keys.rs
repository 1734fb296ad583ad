//! What parts the rows of a table: groups, or times.

use super::{
    Column, Missing, OpenOptions, Rows, Table, TableOptions, choice,
    open::open_table,
    parts::parts,
    schema::{Encoder, Kind, NoValue, Places, survey},
    stdin::Spool,
};
use crate::error::{Error, Remedy, Result};
use std::{collections::HashMap, path::Path};

/// Rows that are read at a time.
const ROWS: usize = 4096;

/// The group of each row of the table at `path`, numbered as they are met: rows are of one group
/// whose cells in the column [`TableOptions::group`] have one text. They are the rows that
/// [`open`](super::open) reads with these options.
///
/// Errors with [`Error::Parameter`] where no column is named, with [`Error::Data`] where it is not
/// there or misses a value, with [`Error::Unsupported`] on files whose columns have no names, and
/// as [`open`](super::open) does.
#[doc(hidden)]
pub fn groups(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Vec<u32>> {
    let Some(column) = &options.table.group else {
        return Err(Error::parameter("no column of groups is named; name one"));
    };
    let mut table = opened(path.as_ref(), options)?;
    let place = choice::find(table.names(), column, " of groups", table.path())?;
    let no_value = NoValue::from_given(options.table.na.as_deref());
    let rule = no_value.rule(table.is_typed());
    table.select(&[place])?;
    let (mut numbers, mut groups) = (HashMap::<String, u32>::new(), Vec::new());
    while let Some(batch) = table.next_batch(ROWS)? {
        for cell in batch.columns.iter().flat_map(Column::cells) {
            if cell.is_empty() || rule.text(&cell) {
                let error = table.fault(groups.len() as u64, place, "names no group");
                let fill = Remedy::words("fill in a value");
                return Err(error.help(Remedy::DropRows).help(fill));
            }
            let next = numbers.len() as u32;
            groups.push(*numbers.entry(cell).or_insert(next));
        }
    }
    Ok(groups)
}

/// The time of each row of the table at `path` by its cell in `column`, a number or a date, which
/// is one of days since 1970-01-01; of the rows that [`open`](super::open) reads with these
/// options.
///
/// Errors with [`Error::Data`] where the column is not there, misses a value or is neither, with
/// [`Error::Unsupported`] on files whose columns have no names, and as [`open`](super::open) does.
#[doc(hidden)]
pub fn times(path: impl AsRef<Path>, column: &str, options: &OpenOptions) -> Result<Vec<f64>> {
    let mut table = opened(path.as_ref(), options)?;
    let table = table.as_mut();
    let place = choice::find(table.names(), column, " of times", table.path())?;
    let places = Places {
        features: vec![place],
        ..Places::default()
    };
    let alone = TableOptions {
        missing: Missing::Error,
        categorical: Vec::new(),
        by_target: None,
        words: None,
        weight: None,
        group: None,
        all_columns: true,
        ..options.table.clone()
    };
    // The format may be that of another column.
    let otherwise = TableOptions {
        date_format: None,
        ..alone.clone()
    };
    let (schema, _) = survey(table, &places, &alone, &mut |_| true)
        .or_else(|_| survey(table, &places, &otherwise, &mut |_| true))?;
    if let Some(field) = schema.features().first()
        && !matches!(field.kind(), Kind::Number | Kind::Date(_))
    {
        let problem = format!(
            "column {:?} holds neither numbers nor dates; name one whose values are in order",
            field.name()
        );
        return Err(Error::data(table.path(), problem));
    }
    let mut encoder = Encoder::new(schema, places);
    table.select(&[place])?;
    let mut times = Vec::new();
    while let Some(batch) = table.next_batch(ROWS)? {
        let chunk = encoder.chunk(table, &batch, times.len() as u64)?;
        match chunk.x {
            Rows::F64(x) => times.extend(x.column(0)),
            Rows::F32(x) => times.extend(x.column(0).iter().map(|&time| f64::from(time))),
        }
    }
    Ok(times)
}

/// The rows that a source of these options has.
fn opened(path: &Path, options: &OpenOptions) -> Result<Box<dyn Table>> {
    if path == Path::new("-") {
        // The copy of it is that of the source, which is open.
        let spool = Spool::take(options.format)?;
        return Ok(open_table(&spool.path(), options)?.into_table());
    }
    let files = parts(path)?;
    let [one] = &files[..] else {
        let problem = format!(
            "{}: groups and times are read of one file; join the {} that there are",
            path.display(),
            files.len()
        );
        return Err(Error::unsupported(problem));
    };
    Ok(open_table(one, options)?.into_table())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Gaps, NanRows, open};

    /// Groups are those of the rows that a source has, by their text, and no feature; times are
    /// numbers or dates, which stay one.
    #[test]
    fn groups_and_times_are_those_of_the_rows_that_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        let text = "shop,day,kind,a,y\n\"x, y\",2024-01-02,k,1,1\nz,2024-01-01,k,,2\n\
                    07,2024-01-05,k,3,3\n7,2024-01-03,l,4,4\n\"x, y\",2024-01-04,l,5,5\n\
                    NA,2024-01-06,l,6,6\n";
        std::fs::write(&path, text).expect("writes");
        let table = |group: Option<&str>| TableOptions {
            group: group.map(str::to_owned),
            ..TableOptions::default()
        };
        let options = OpenOptions {
            target: vec!["y".into()],
            nan: NanRows::Drop(Gaps::default()),
            table: table(Some("shop")),
            ..OpenOptions::default()
        };
        let source = open(&path, &options).expect("opens");
        let names = source.column_names().expect("names");
        assert_eq!(names, ["day", "kind", "a"]);
        assert_eq!(groups(&path, &options).expect("groups"), [0, 1, 2, 0]);
        let days = times(&path, "day", &options).expect("times");
        assert_eq!(
            days.iter().map(|day| day - days[0]).collect::<Vec<_>>(),
            [0.0, 3.0, 1.0, 2.0]
        );
        let with = |group, nan| OpenOptions {
            table: table(Some(group)),
            nan,
            ..options.clone()
        };
        let refused = [
            times(&path, "kind", &options).map(|_| ()),
            times(&path, "hour", &options).map(|_| ()),
            open(&path, &with("town", NanRows::Error)).map(|_| ()),
            open(&path, &with("y", NanRows::Error)).map(|_| ()),
            groups(&path, &with("a", NanRows::Error)).map(|_| ()),
        ];
        let said = [
            "holds neither numbers nor dates",
            "has no column \"hour\" of times",
            "has no column \"town\" of groups",
            "is a target and no group",
            "line 3, column \"a\": names no group",
        ];
        for (refused, said) in refused.into_iter().zip(said) {
            let error = refused.expect_err(said).to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
