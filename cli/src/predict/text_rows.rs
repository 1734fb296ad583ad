//! Predictions as rows of text: labels by their names, sets of them, columns of the input before
//! them, stdout.

use super::{kept::Kept, output::Cells};
use bochner::{
    Error,
    data::{AtomicFile, CsvWriter, Done},
};
use ndarray::{ArrayView1, ArrayView2};
use std::{
    io::{self, BufWriter, Seek, Write},
    path::{Path, PathBuf},
};

/// Between the classes of a set, and what their column is called.
const BETWEEN: &str = "|";
const SET: &str = "set";

/// A .csv whose rows are kept columns, then a label by its name, a set of classes or numbers.
pub(super) struct TextRows {
    out: Out,
    kept: Option<Kept>,
    texts: Texts,
    columns: usize,
    /// The line of names, until there are rows: what goes to stdout cannot be taken back.
    names: String,
    rows: u64,
}

/// What is written of the numbers of a row.
enum Texts {
    Numbers,
    /// The classes in quotes, of which a number is the place.
    Labels(Vec<String>),
    /// The classes, of which those with a 1 are written.
    Sets(Vec<String>),
}

impl Texts {
    fn write(&self, row: ArrayView1<'_, f64>, line: &mut String) {
        match self {
            // Rows that were left out have none.
            Self::Labels(_) | Self::Sets(_) if row[0].is_nan() => line.push_str("\"\""),
            Self::Labels(labels) => {
                let label = labels.get(row[0] as usize);
                line.push_str(label.map_or("\"\"", String::as_str));
            }
            Self::Sets(classes) => {
                let own = classes.iter().zip(row).filter(|(_, is_in)| **is_in == 1.0);
                let own: Vec<&str> = own.map(|(class, _)| class.as_str()).collect();
                line.push_str(&CsvWriter::quoted(&own.join(BETWEEN)));
            }
            Self::Numbers => {
                for (j, &value) in row.iter().enumerate() {
                    if j > 0 {
                        line.push(',');
                    }
                    line.push_str(&CsvWriter::number(value));
                }
            }
        }
    }
}

enum Out {
    File(PathBuf, BufWriter<AtomicFile>),
    Stdout(BufWriter<io::Stdout>),
}

impl Out {
    fn write(&mut self, text: &str) -> bochner::Result<()> {
        let (path, written) = match self {
            Self::File(path, file) => (path.as_path(), file.write_all(text.as_bytes())),
            Self::Stdout(out) => (Path::new("stdout"), out.write_all(text.as_bytes())),
        };
        written.map_err(|error| Error::io(path, error))
    }
}

/// Errors on classes whose names hold what stands between them.
fn require_apart(classes: &[String]) -> bochner::Result<()> {
    match classes.iter().find(|class| class.contains(BETWEEN)) {
        Some(class) => Err(Error::unsupported(format!(
            "the class {class:?} has the {BETWEEN} that stands between classes of a set; name a .npy \
             or a .parquet, which have a column for each class"
        ))),
        None => Ok(()),
    }
}

impl TextRows {
    /// Begins, or goes on with, a file of these columns; stdout where there is no file.
    pub(super) fn begin(
        file: Option<(AtomicFile, Done)>,
        kept: Option<Kept>,
        (columns, cells): (&[String], Cells<'_>),
    ) -> bochner::Result<Self> {
        let done = file.as_ref().map(|(_, done)| *done).unwrap_or_default();
        let out = match file {
            Some((file, _)) => Out::File(file.path().to_owned(), BufWriter::new(file)),
            None => Out::Stdout(BufWriter::new(io::stdout())),
        };
        let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
        let texts = match cells {
            Cells::Numbers => Texts::Numbers,
            Cells::Labels(names) => Texts::Labels(names.iter().map(quoted).collect()),
            Cells::Sets => {
                require_apart(columns)?;
                Texts::Sets(columns.to_vec())
            }
        };
        let set = [SET.to_owned()];
        let named = match texts {
            Texts::Sets(_) => &set[..],
            _ => columns,
        };
        let mut rows = Self {
            out,
            texts,
            columns: columns.len(),
            names: String::new(),
            rows: done.rows,
            kept,
        };
        if done.bytes == 0 {
            let names = rows.kept.iter().flat_map(|kept| kept.names());
            let names = names.chain(named).map(|name| CsvWriter::quoted(name));
            let names: Vec<_> = names.collect();
            rows.names = names.join(",") + "\n";
        }
        Ok(rows)
    }

    /// Writes the line of names, if it is to come.
    fn write_names(&mut self) -> bochner::Result<()> {
        self.out.write(&std::mem::take(&mut self.names))
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn write_rows(&mut self, found: ArrayView2<'_, f64>) -> bochner::Result<()> {
        let before = match &mut self.kept {
            Some(kept) => kept.next(found.nrows())?,
            None => Vec::new(),
        };
        self.write_names()?;
        let mut line = String::new();
        for (i, row) in found.rows().into_iter().enumerate() {
            line.clear();
            line.push_str(before.get(i).map_or("", String::as_str));
            self.texts.write(row, &mut line);
            line.push('\n');
            self.out.write(&line)?;
        }
        self.rows += found.nrows() as u64;
        Ok(())
    }

    /// Writes all rows so far through to the disk, and says how far the file is.
    pub(super) fn mark(&mut self) -> bochner::Result<Done> {
        self.write_names()?;
        let Out::File(path, file) = &mut self.out else {
            // Refused before it was begun.
            return Ok(Done::default());
        };
        let fail = |error| Error::io(&*path, error);
        file.flush().map_err(fail)?;
        file.get_ref().sync()?;
        let bytes = file.stream_position().map_err(fail)?;
        Ok(Done {
            rows: self.rows,
            bytes,
        })
    }

    pub(super) fn finish(mut self) -> bochner::Result<u64> {
        self.write_names()?;
        match self.out {
            Out::File(path, file) => {
                let file = file.into_inner();
                let file = file.map_err(|e| Error::io(&path, e.into_error()))?;
                file.finish()?;
            }
            Out::Stdout(mut out) => out.flush().map_err(|error| Error::io("stdout", error))?,
        }
        Ok(self.rows)
    }
}
