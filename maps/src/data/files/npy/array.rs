//! One array read row by row through a fixed buffer.

use super::dtype::Dtype;
use super::entry::Entry;
use super::header::{Fault, Header};
use super::location::ArrayLocation;
use crate::data::Rows;
use crate::data::rows::{EXACT, first_non_finite, not_finite};
use crate::error::Result;
use crate::limits::ARRAY_COLUMNS;
use crate::linalg::entries::narrow;
use ndarray::Array2;
use std::convert::identity;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The bytes of an array, header included.
#[derive(Debug)]
pub(in crate::data) enum Input {
    /// A file from its first byte on.
    File(File),
    /// An entry of an archive.
    Entry(Entry),
}

impl Input {
    fn len(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Entry(entry) => Ok(entry.len()),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Entry(entry) => entry.read(buffer),
        }
    }
}

/// What an array stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::data) enum Role {
    /// `[rows, d]`.
    Features,
    /// `[rows, targets]` or `[rows]`.
    Targets,
}

/// Bytes read at a time: within second-level caches, large against the cost of a read.
const BUFFER: usize = 256 * 1024;

/// An array `[rows, columns]` that is read in order.
#[derive(Debug)]
pub(in crate::data) struct ArrayReader {
    place: ArrayLocation,
    input: Input,
    dtype: Dtype,
    /// Column after column in the file.
    by_columns: bool,
    start: u64,
    rows: usize,
    columns: usize,
    next: usize,
    /// Whether values that are not finite are refused.
    finite: bool,
    /// Whether features beyond 2^53 were warned of.
    warned: bool,
    buffer: Vec<u8>,
}

impl ArrayReader {
    /// Reads the header and checks it against the length of `input`.
    pub(in crate::data) fn new(place: ArrayLocation, mut input: Input, role: Role) -> Result<Self> {
        let header = Header::read(&mut input).map_err(|fault| match fault {
            Fault::Io(error) => place.io(error),
            Fault::Problem(problem) => place.problem(problem),
        })?;
        let (rows, columns) =
            dimensions(&header.shape, role).map_err(|problem| place.problem(problem))?;
        let bytes = length(&place, &header, (rows, columns), &input)?;
        // With one row or one column both orders are the same bytes.
        let by_columns = header.fortran && rows > 1 && columns > 1;
        if by_columns && let Input::Entry(entry) = &mut input {
            // Columns need seeks, which an archive does not offer: the array goes through a
            // temporary file.
            let spooled = entry.spool().map_err(|error| place.io(error))?;
            input = Input::File(spooled);
        }
        let buffer = vec![0; BUFFER.min(bytes)];
        Ok(Self {
            place,
            input,
            dtype: header.dtype,
            by_columns,
            start: header.start,
            rows,
            columns,
            next: 0,
            finite: true,
            warned: false,
            buffer,
        })
    }

    /// Number of rows.
    pub(in crate::data) fn rows(&self) -> usize {
        self.rows
    }

    /// Rows that have not been read.
    pub(super) fn left(&self) -> usize {
        self.rows - self.next
    }

    /// Number of columns.
    pub(in crate::data) fn columns(&self) -> usize {
        self.columns
    }

    /// Where the array lies.
    pub(in crate::data) fn place(&self) -> &ArrayLocation {
        &self.place
    }

    /// The next `rows` rows (no more than are left), each value through `from`.
    fn read<T: Copy + Default>(
        &mut self,
        rows: usize,
        from: impl Fn(f64) -> T + Copy,
    ) -> Result<Array2<T>> {
        let count = rows * self.columns;
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| {
            self.place.problem(format!(
                "does not fit: a chunk of {rows} rows x {} columns exceeds \
                 the memory; read fewer rows at a time",
                self.columns
            ))
        })?;
        if self.by_columns {
            self.read_columns(rows, &mut values, from)
        } else {
            self.read_run(count, |_, dtype, bytes| {
                dtype.decode(bytes, &mut values, from)
            })
        }
        .map_err(|error| self.place.io(error))?;
        self.next += rows;
        if self.next == self.rows
            && let Input::Entry(entry) = &mut self.input
        {
            entry.finish().map_err(|error| self.place.io(error))?;
        }
        Array2::from_shape_vec((rows, self.columns), values)
            .map_err(|error| self.place.problem(error.to_string()))
    }

    /// Reads `count` values that lie one after the other: `take` gets the index of the first and
    /// the bytes of each piece.
    fn read_run(
        &mut self,
        count: usize,
        mut take: impl FnMut(usize, Dtype, &[u8]),
    ) -> io::Result<()> {
        let size = self.dtype.size();
        let mut done = 0;
        while done < count {
            let values = (self.buffer.len() / size).min(count - done);
            let bytes = &mut self.buffer[..values * size];
            self.input.read_exact(bytes)?;
            take(done, self.dtype, bytes);
            done += values;
        }
        Ok(())
    }

    /// Rows of a Fortran-ordered file: one seek per column.
    fn read_columns<T: Copy + Default>(
        &mut self,
        rows: usize,
        values: &mut Vec<T>,
        from: impl Fn(f64) -> T + Copy,
    ) -> io::Result<()> {
        values.resize(rows * self.columns, T::default());
        let columns = self.columns;
        let mut piece = Vec::new();
        for j in 0..columns {
            let Input::File(file) = &mut self.input else {
                return Err(io::Error::other(
                    "an entry of an archive cannot be read by columns",
                ));
            };
            let value = (j * self.rows + self.next) as u64;
            file.seek(SeekFrom::Start(
                self.start + value * self.dtype.size() as u64,
            ))?;
            self.read_run(rows, |first, dtype, bytes| {
                piece.clear();
                dtype.decode(bytes, &mut piece, from);
                for (i, &value) in piece.iter().enumerate() {
                    values[(first + i) * columns + j] = value;
                }
            })?;
        }
        Ok(())
    }

    pub(in crate::data) fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        match &mut self.input {
            Input::File(file) => file.seek(SeekFrom::Start(self.start)).map(drop),
            Input::Entry(entry) => entry
                .rewind()
                .and_then(|()| io::copy(&mut entry.by_ref().take(self.start), &mut io::sink()))
                .map(drop),
        }
        .map_err(|error| self.place.io(error))
    }

    /// Takes NaN and infinities, too.
    pub(in crate::data) fn any_values(mut self) -> Self {
        self.finite = false;
        self
    }

    pub(super) fn read_features(&mut self, rows: usize) -> Result<Rows> {
        let first = self.next;
        let x = if self.dtype.fits_f32() {
            Rows::F32(self.read(rows, narrow)?)
        } else {
            Rows::F64(self.read(rows, identity)?)
        };
        if self.finite
            && let Some((i, j, value)) = x.first_non_finite()
        {
            return Err(not_finite(
                &self.place.path,
                &self.place.label(),
                first + i,
                j,
                value,
            ));
        }
        if !self.warned
            && let Some((i, j)) = self.first_rounded(&x)
        {
            self.warned = true;
            let problem = format!(
                "row {}, column {j} (counted from 0) is a whole number beyond 2^53, of which f64 keeps \
                 15 digits; subtract an offset before saving if the last ones matter",
                first + i
            );
            log::warn!("{}", self.place.problem(problem));
        }
        Ok(x)
    }

    /// Row and column of the first whole number that f64 may have rounded.
    fn first_rounded(&self, x: &Rows) -> Option<(usize, usize)> {
        match x {
            Rows::F64(x) if self.dtype.exceeds_f64() => {
                first_non_finite(x, |v| v.abs() < EXACT).map(|(i, j, _)| (i, j))
            }
            _ => None,
        }
    }

    /// The next `rows` rows as finite numbers that f64 holds exactly.
    pub(in crate::data) fn read_targets(&mut self, rows: usize) -> Result<Array2<f64>> {
        let first = self.next;
        let y = self.read(rows, identity)?;
        if self.finite
            && let Some((i, j, value)) = first_non_finite(&y, f64::is_finite)
        {
            return Err(not_finite(
                &self.place.path,
                &self.place.label(),
                first + i,
                j,
                value,
            ));
        }
        if self.dtype.exceeds_f64()
            // 2^53 + 1 is rounded to 2^53, and two labels could become one.
            && let Some((i, j, _)) = first_non_finite(&y, |v| v.abs() < EXACT)
        {
            return Err(self.place.problem(format!(
                "row {}, column {j} (counted from 0) is a whole number beyond 2^53, which f64 \
                 cannot hold exactly; renumber the targets",
                first + i
            )));
        }
        Ok(y)
    }
}

/// Bytes of the values of an array of so many rows and columns. Errors unless they are all that
/// stands behind the header.
fn length(
    place: &ArrayLocation,
    header: &Header,
    (rows, columns): (usize, usize),
    input: &Input,
) -> Result<usize> {
    let size = header.dtype.size();
    let bytes = (rows.checked_mul(columns))
        .and_then(|values| values.checked_mul(size))
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| {
            place.problem(format!(
                "is [{rows}, {columns}], more than any machine \
                 holds: its header is damaged; write it again"
            ))
        })?;
    if columns > ARRAY_COLUMNS {
        return Err(place.problem(format!(
            "has {columns} columns, and {ARRAY_COLUMNS} can be read; is it stored with samples \
             in columns? Save its transpose"
        )));
    }
    let (need, have) = (
        header.start + bytes as u64,
        input.len().map_err(|error| place.io(error))?,
    );
    if have < need {
        return Err(place.problem(format!(
            "is truncated: [{rows}, {columns}] of {size} bytes each need {need} bytes and \
             {have} are there; copy or write the file again"
        )));
    }
    if have > need {
        return Err(place.problem(format!(
            "goes on for {} bytes after the array [{rows}, {columns}] that its header names; \
             save one array per file",
            have - need
        )));
    }
    Ok(bytes)
}

/// Rows and columns of an array of this shape.
fn dimensions(shape: &[usize], role: Role) -> std::result::Result<(usize, usize), String> {
    let (rows, columns) = match (shape, role) {
        (&[rows, columns], _) => (rows, columns),
        (&[rows], Role::Targets) => (rows, 1),
        (&[rows], Role::Features) => {
            return Err(format!(
                "is 1-D with {rows} values, features are 2-D [rows, columns]; save it as \
                 .reshape(-1, 1)"
            ));
        }
        (&[], _) => {
            return Err("is 0-D, a single number; save an array with one row per sample".into());
        }
        (&[rows, ..], _) => {
            return Err(format!(
                "is {}-D, and {}-D is needed; save it as .reshape({rows}, -1)",
                shape.len(),
                2
            ));
        }
    };
    if rows == 0 || columns == 0 {
        let none = if rows == 0 { "rows" } else { "columns" };
        return Err(format!(
            "has no {none}: its shape is {shape:?}; save at least one"
        ));
    }
    Ok((rows, columns))
}
