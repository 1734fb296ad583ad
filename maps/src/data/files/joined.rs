//! Several files as one dataset.

use super::rows::stack;
use super::{Chunk, ChunkSource, Format, OpenOptions, Rows, require_rows};
use crate::error::{Error, Remedy, Result};
use std::path::{Path, PathBuf};

/// What opens one file.
type OpenOne = fn(&Path, &OpenOptions) -> Result<Box<dyn ChunkSource>>;

/// Files of one format whose rows follow each other, with the same columns in the same order.
pub(in crate::data) struct Joined {
    files: Vec<PathBuf>,
    options: OpenOptions,
    open_one: OpenOne,
    /// Sources that stay open: all of few files, and of many the one that is read.
    open: Vec<Option<Box<dyn ChunkSource>>>,
    columns: usize,
    targets: usize,
    rows: Option<usize>,
    names: [Option<Vec<String>>; 2],
    /// The file of the next row.
    current: usize,
}

/// Files that stay open all the time.
const OPEN: usize = 64;

impl Joined {
    /// Opens each of `files`, of which there is at least one, by `open_one`.
    ///
    /// Errors as opening one does, and with [`Error::Data`] if their columns differ, and with
    /// [`Error::Unsupported`] on a file of targets.
    pub(in crate::data) fn open(
        files: Vec<PathBuf>,
        options: &OpenOptions,
        open_one: OpenOne,
    ) -> Result<Self> {
        let mut options = options.clone();
        let Some(first) = files.first().cloned() else {
            return Err(Error::parameter("no file is named; name one"));
        };
        if options.targets.is_some() {
            return Err(Error::unsupported(format!(
                "{}: a targets file goes with one .npy, not with several files; save both as \
                 arrays X and y of .npz files",
                first.display()
            )));
        }
        if options.format_of(&first) == Some(Format::Libsvm) && options.width.is_none() {
            let mut width = 0;
            for file in &files {
                width = width.max(open_one(file, &options)?.columns());
            }
            options.width = Some(width);
        }
        if let Some(gaps) = options.nan.gaps() {
            gaps.allow_empty();
        }
        let source = open_one(&first, &options)?;
        let mut joined = Self {
            columns: source.columns(),
            targets: source.targets(),
            rows: Some(0),
            names: [source.column_names(), source.target_names()],
            open: files.iter().map(|_| None).collect(),
            files,
            options,
            open_one,
            current: 0,
        };
        joined.open[0] = Some(source);
        for k in 0..joined.files.len() {
            let rows = joined.source(k)?.rows();
            joined.rows = joined
                .rows
                .zip(rows)
                .and_then(|(all, more)| all.checked_add(more));
            joined.close(k);
        }
        Ok(joined)
    }

    /// The source of file `k`, opened if it is not.
    fn source(&mut self, k: usize) -> Result<&mut Box<dyn ChunkSource>> {
        let source = match self.open[k].take() {
            Some(source) => source,
            None => {
                let source = (self.open_one)(&self.files[k], &self.options)?;
                self.check(k, source.as_ref())?;
                source
            }
        };
        Ok(self.open[k].insert(source))
    }

    /// Closes file `k` if there are many.
    fn close(&mut self, k: usize) {
        if self.files.len() > OPEN {
            self.open[k] = None;
        }
    }

    /// Errors unless the columns of file `k` are those of the first.
    fn check(&self, k: usize, source: &dyn ChunkSource) -> Result<()> {
        let first = self.files[0].display();
        let fail = |what: String| {
            let problem = format!("{what}; give all files of a dataset the same columns");
            Err(Error::data(&self.files[k], problem))
        };
        for (what, has, wanted) in [
            ("feature", source.columns(), self.columns),
            ("target", source.targets(), self.targets),
        ] {
            if has != wanted {
                return fail(format!(
                    "has {has} {what} columns, and {first} has {wanted}"
                ));
            }
        }
        for (has, wanted) in [source.column_names(), source.target_names()]
            .iter()
            .zip(&self.names)
        {
            let (Some(has), Some(wanted)) = (has, wanted) else {
                continue;
            };
            if let Some((has, wanted)) = has.iter().zip(wanted).find(|(a, b)| a != b) {
                return fail(format!("has column {has:?} where {first} has {wanted:?}"));
            }
        }
        Ok(())
    }
}

/// Advice for missing values: only one file has a schema that fills them.
fn joined() -> Remedy {
    Remedy::words("join the files to one, in which missing values are filled")
}

/// Chunks one below the other.
fn stacked(mut chunks: Vec<Chunk>) -> Result<Option<Chunk>> {
    if chunks.len() < 2 {
        return Ok(chunks.pop());
    }
    let y: Vec<_> = chunks.iter().map(|chunk| chunk.y.view()).collect();
    Ok(Some(Chunk {
        y: stack(&y)?,
        x: Rows::stack(chunks.into_iter().map(|chunk| chunk.x).collect())?,
        weights: None,
    }))
}

impl ChunkSource for Joined {
    fn columns(&self) -> usize {
        self.columns
    }
    fn targets(&self) -> usize {
        self.targets
    }
    fn rows(&self) -> Option<usize> {
        self.rows
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.names[0].clone()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.names[1].clone()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        // Chunks are filled across files, so that many small ones are not many small chunks.
        let (mut chunks, mut rows) = (Vec::new(), 0);
        while rows < max_rows && self.current < self.files.len() {
            let next = self.source(self.current)?.next_chunk(max_rows - rows);
            match next.map_err(|error| error.instead(&Remedy::FillMissing, Some(joined())))? {
                Some(chunk) => {
                    rows += chunk.x.nrows();
                    chunks.push(chunk);
                }
                None => {
                    self.close(self.current);
                    self.current += 1;
                }
            }
        }
        stacked(chunks)
    }
    fn rewind(&mut self) -> Result<()> {
        self.close(self.current.min(self.files.len() - 1));
        self.current = 0;
        for source in self.open.iter_mut().flatten() {
            source.rewind()?;
        }
        Ok(())
    }
    fn is_checked(&self) -> bool {
        true
    }
}
