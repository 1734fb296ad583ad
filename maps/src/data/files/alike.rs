//! Two files as tables of the same columns.

use super::{
    ChunkSource, ColumnChoice, Format, OpenOptions, Schema, TableSource,
    open::{open, open_table},
    parts::parts,
    schema::{Places, survey},
    stacked::Stacked,
    stdin::Spool,
};
use crate::error::{Error, Result};
use crate::text::counted;
use std::path::Path;

/// Two files whose columns become the same numbers, to be compared.
///
/// Of tables that hold more than numbers one [`Schema`] is made up of the rows of both: a text that
/// stands in one of them alone has its column in both. A schema of the first file alone would make
/// nothing of a text that is new in the second, and of two samples of one law only the second would
/// have such.
#[doc(hidden)]
pub struct Alike {
    /// The files, in their order.
    pub sources: [Box<dyn ChunkSource>; 2],
    /// What became of the columns of both, columns that were left out among them; `None` where they
    /// are numbers as they are.
    pub schema: Option<Schema>,
}

impl std::fmt::Debug for Alike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Alike({} columns)", self.sources[0].columns())
    }
}

impl Alike {
    /// Opens both files with the same options.
    ///
    /// Of several files as one, by a folder or a pattern, columns are numbers. Errors with
    /// [`Error::Shape`] when the files differ in their columns, as [`open`](super::open) does, and
    /// as [`Survey::new`](super::Survey::new) does of a table that holds more than numbers.
    ///
    /// ```
    /// use bochner::{data::{Alike, OpenOptions}, hypothesis::TwoSample, prelude::*};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let [may, june] = ["may.csv", "june.csv"].map(|name| folder.path().join(name));
    /// std::fs::write(&may, "size,city\n50,Bern\n80,Chur\n60,Bern\n").unwrap();
    /// std::fs::write(&june, "size,city\n70,Zug\n50,Bern\n").unwrap();
    /// let mut flats = Alike::open([&may, &june], &OpenOptions::default())?;
    /// let [a, b] = &mut flats.sources;
    /// assert_eq!(a.column_names().unwrap(), ["size", "city=Bern", "city=Chur", "city=Zug"]);
    /// let test = TwoSample::on(Fourier::new(Gaussian).features(64)).device(&Device::cpu());
    /// assert!(!test.test_sources(a, b)?.outcome.rejects(0.05));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn open(paths: [impl AsRef<Path>; 2], options: &OpenOptions) -> Result<Self> {
        let [a, b] = [paths[0].as_ref(), paths[1].as_ref()];
        let mut schema = None;
        if let (Some(a), Some(b)) = (table(a, options)?, table(b, options)?) {
            require_alike(&a, &b)?;
            schema = learnt([a, b], options)?;
        }
        let options = match &schema {
            None => options,
            Some(schema) => &OpenOptions {
                columns: ColumnChoice::Known(Box::new(schema.clone())),
                same_rows: true,
                ..options.clone()
            },
        };
        let sources = [open(a, options)?, open(b, options)?];
        Ok(Self { sources, schema })
    }
}

/// Errors with [`Error::Shape`] when two sources differ in their columns, by number or, where both
/// have names, by name.
#[doc(hidden)]
pub fn require_alike(a: &dyn ChunkSource, b: &dyn ChunkSource) -> Result<()> {
    if a.columns() != b.columns() {
        return Err(Error::shape(format!(
            "the first sample has {} and the second {}; give both the same",
            counted(a.columns(), "column"),
            b.columns()
        )));
    }
    if let (Some(first), Some(second)) = (a.column_names(), b.column_names())
        && let Some(j) = (0..first.len().min(second.len())).find(|&j| first[j] != second[j])
    {
        return Err(Error::shape(format!(
            "column {j} (counted from 0) is '{}' in the first sample and '{}' in the second; \
             give both the same columns in one order",
            first[j], second[j]
        )));
    }
    Ok(())
}

/// The table at `path`, if it is one file whose columns have names.
fn table(path: &Path, options: &OpenOptions) -> Result<Option<TableSource>> {
    let is_table = |path: &Path| options.format_of(path).is_some_and(Format::is_named);
    if path == Path::new("-") {
        let spool = Spool::take(options.format)?;
        let path = spool.path();
        return is_table(&path)
            .then(|| open_table(&path, options))
            .transpose();
    }
    match &parts(path)?[..] {
        [one] if is_table(one) => open_table(one, options).map(Some),
        _ => Ok(None),
    }
}

/// What becomes of the columns of both tables, unless they are plain numbers.
fn learnt([a, b]: [TableSource; 2], options: &OpenOptions) -> Result<Option<Schema>> {
    let (features, second) = (a.places().features.clone(), b.places().features.clone());
    let mut pairs = vec![0; a.table_names().len()];
    for (&j, &other) in features.iter().zip(&second) {
        pairs[j] = other;
    }
    let places = Places {
        features,
        ..Places::default()
    };
    let mut both = Stacked::new([a.into_table(), b.into_table()], pairs);
    let (schema, _) = survey(&mut both, &places, &options.table, &mut |_| true)?;
    let asks = options.table.asks_for_schema();
    Ok(Some(schema).filter(|schema| asks || !schema.is_plain()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Missing, TableOptions, TargetUse};
    use std::fmt::Write;
    use tempfile::TempDir;

    /// Two files of `header` and of so many rows, by their number in all, each opened alike, and
    /// the folder that they are in.
    fn alike(
        header: &str,
        rows: [usize; 2],
        row: impl Fn(usize) -> String,
        options: &OpenOptions,
    ) -> Result<(TempDir, Alike)> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut next = 0;
        let paths = ["a.csv", "b.csv"]
            .into_iter()
            .zip(rows)
            .map(|(name, rows)| {
                let mut text = format!("{header}\n");
                for _ in 0..rows {
                    writeln!(text, "{}", row(next)).expect("a string");
                    next += 1;
                }
                let path = folder.path().join(name);
                std::fs::write(&path, text).expect("writes");
                path
            });
        let paths: Vec<_> = paths.collect();
        let both = Alike::open([&paths[0], &paths[1]], options)?;
        Ok((folder, both))
    }

    fn values(source: &mut dyn ChunkSource) -> Vec<Vec<f64>> {
        let chunk = source.next_chunk(1000).expect("reads").expect("rows");
        let x = chunk.x.into_f64();
        x.rows().into_iter().map(|row| row.to_vec()).collect()
    }

    /// Whichever file holds a text or a form of numbers, both are read by it.
    #[test]
    fn columns_of_both_files_are_those_of_all_rows() {
        let rows = ["3,Bern,1.5", "1,Zug,2", "2,Chur,\"2,5\"", "4,Bern,\"1,5\""];
        let row = |i: usize| rows[i].replace("1.5", "\"1,25\"");
        let options = OpenOptions::default();
        let (_folder, mut both) = alike("a,city,b", [2, 2], row, &options).expect("opens");
        let [a, b] = &mut both.sources;
        for source in [&a, &b] {
            let names = source.column_names().expect("names");
            assert_eq!(names, ["a", "city=Bern", "city=Chur", "city=Zug", "b"]);
        }
        assert_eq!(values(a)[0], [3.0, 1.0, 0.0, 0.0, 1.25]);
        assert_eq!(
            values(b),
            [[2.0, 0.0, 1.0, 0.0, 2.5], [4.0, 1.0, 0.0, 0.0, 1.5]]
        );
        assert_eq!(both.schema.expect("learnt").features().len(), 3);
        // Numbers stay what they are, read as ever.
        let numbers = alike("a,b", [30, 9], |i| format!("{},{}", i % 7, i % 5), &options);
        let (_folder, mut numbers) = numbers.expect("opens");
        assert!(numbers.schema.is_none() && numbers.sources[1].schema().is_none());
        assert_eq!(values(numbers.sources[1].as_mut()).len(), 9);
    }

    /// A column that numbers the rows of each file, texts of their own and a copy tell nothing of
    /// what the files hold.
    #[test]
    fn what_tells_rows_apart_in_each_file_is_left_out() {
        let row = |i: usize| {
            let in_file = i % 30;
            format!("{in_file},n{i}x,{},k{},{}", i % 4, i % 3, i % 4)
        };
        let header = "id,name,a,kind,same";
        let (_folder, both) = alike(header, [30, 25], row, &OpenOptions::default()).expect("opens");
        let names = both.sources[1].column_names().expect("names");
        assert_eq!(names, ["a", "kind=k0", "kind=k1", "kind=k2"]);
        let said = both.schema.expect("learnt").to_string();
        assert_eq!(said, "1 numeric, 1 categorical, 2 ids, 1 copy");
    }

    /// Gaps are filled by the rows of both; an error names the file and the line that it is in.
    #[test]
    fn gaps_and_errors_are_those_of_their_file() {
        let row = |i: usize| match i {
            5 => ",x".to_owned(),
            i => format!("{i},{}", ["x", "y"][i % 2]),
        };
        let options = |missing| OpenOptions {
            target: vec!["nowhere".into()],
            target_use: TargetUse::IfPresent,
            table: TableOptions {
                missing,
                ..TableOptions::default()
            },
            ..OpenOptions::default()
        };
        let error = alike("a,k", [4, 4], row, &options(Missing::Error)).expect_err("a gap");
        let said = error.to_string();
        assert!(said.contains("b.csv: line 3, column \"a\""), "{said}");
        let filled = alike("a,k", [4, 4], row, &options(Missing::Mean));
        let (_folder, mut filled) = filled.expect("opens");
        let mean = 23.0 / 7.0;
        assert_eq!(values(filled.sources[1].as_mut())[1], [mean, 1.0, 0.0]);
        let other = |i: usize| {
            format!(
                "{i},{}",
                if i == 6 {
                    "x".into()
                } else {
                    (7 * i).to_string()
                }
            )
        };
        let error = alike("a,k", [4, 4], other, &options(Missing::Error));
        let said = error.expect_err("a text among numbers").to_string();
        assert!(said.contains("b.csv: line 4, column \"k\""), "{said}");
    }
}
