//! Rows written on a thread of their own, while the next ones are worked on.

use super::{CsvWriter, NpyValue, NpyWriter, RawWriter};
use crate::error::{Error, Remedy, Result};
use ndarray::ArrayView2;
use std::{
    sync::mpsc::{self, Receiver, SyncSender},
    thread::{self, JoinHandle},
};

/// Who writes rows of T.
#[doc(hidden)]
pub trait RowWriter<T>: Send + 'static {
    /// Appends rows `[n, columns]`, n of any size.
    fn write_rows(&mut self, rows: ArrayView2<'_, T>) -> Result<()>;
}

impl<T: NpyValue + Send + 'static> RowWriter<T> for NpyWriter<T> {
    fn write_rows(&mut self, rows: ArrayView2<'_, T>) -> Result<()> {
        Self::write_rows(self, rows)
    }
}

impl<T: NpyValue> RowWriter<T> for CsvWriter {
    fn write_rows(&mut self, rows: ArrayView2<'_, T>) -> Result<()> {
        Self::write_rows(self, rows)
    }
}

impl RowWriter<f32> for RawWriter {
    fn write_rows(&mut self, rows: ArrayView2<'_, f32>) -> Result<()> {
        Self::write_rows(self, rows)
    }
}

/// A writer on a thread of its own: while it writes some rows, the next ones are made.
///
/// Of the rows two copies are there at a time, one that is written and one that waits.
///
/// ```
/// use bochner::data::{NpyWriter, WriteBehind};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("z.npy");
/// let mut writer = WriteBehind::new(NpyWriter::<f32>::create(&path, 2)?)?;
/// for k in 0..3 {
///     writer.write_rows(ndarray::array![[k as f32, 1.0]].view())?;
/// }
/// assert_eq!(writer.into_inner()?.finish()?, 3);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
#[doc(hidden)]
pub struct WriteBehind<W, T> {
    /// Values and columns of rows on their way; `None` once the writer is done.
    rows: Option<SyncSender<(Vec<T>, usize)>>,
    /// Memory of rows that are written.
    spare: Receiver<Vec<T>>,
    /// Memory that is lent for the next ones.
    lent: Vec<T>,
    thread: Option<JoinHandle<Result<W>>>,
}

impl<W: RowWriter<T>, T: Copy + Send + 'static> WriteBehind<W, T> {
    /// Begins a thread for a writer. Errors with [`Error::Numerical`] when the system starts none.
    pub fn new(mut writer: W) -> Result<Self> {
        // Rendezvous: rows are handed over when those before them are written.
        let (sender, rows) = mpsc::sync_channel::<(Vec<T>, usize)>(0);
        let (used, spare) = mpsc::channel();
        let write = move || -> Result<W> {
            for (values, columns) in rows {
                let shape = (values.len() / columns.max(1), columns);
                let view = ArrayView2::from_shape(shape, &values);
                writer.write_rows(view.map_err(|error| Error::shape(error.to_string()))?)?;
                // Nobody takes the memory of the last ones.
                let _ = used.send(values);
            }
            Ok(writer)
        };
        let thread = thread::Builder::new().name("writer".into()).spawn(write);
        let thread = thread.map_err(|error| {
            let problem = format!("no thread could be started to write the output: {error}");
            Error::numerical(problem)
                .help(Remedy::words("end other programs, or allow more threads"))
        })?;
        Ok(Self {
            rows: Some(sender),
            spare,
            lent: Vec::new(),
            thread: Some(thread),
        })
    }

    /// Appends `rows` `[n, columns]`, once those before them are written.
    ///
    /// Errors as the writer did for rows before these; then all later calls do.
    pub fn write_rows(&mut self, rows: ArrayView2<'_, T>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut values = self.memory();
        values.clear();
        match rows.as_slice() {
            Some(all) => values.extend_from_slice(all),
            None => values.extend(rows.iter().copied()),
        }
        self.send(values, rows.ncols())
    }

    /// Memory in which the next `values` values can be made, which [`Self::write_lent`] appends.
    pub(crate) fn lend(&mut self, values: usize) -> &mut [T]
    where
        T: Default,
    {
        if self.lent.is_empty() {
            self.lent = self.memory();
        }
        // What it held before is written over.
        self.lent.resize(values, T::default());
        &mut self.lent
    }

    /// As [`Self::write_rows`] of rows of so many columns in what [`Self::lend`] gave last.
    pub(crate) fn write_lent(&mut self, columns: usize) -> Result<()> {
        let values = std::mem::take(&mut self.lent);
        if values.is_empty() {
            Ok(())
        } else {
            self.send(values, columns)
        }
    }

    /// Memory that nobody has.
    fn memory(&mut self) -> Vec<T> {
        if self.lent.is_empty() {
            self.spare.try_recv().unwrap_or_default()
        } else {
            std::mem::take(&mut self.lent)
        }
    }

    fn send(&mut self, values: Vec<T>, columns: usize) -> Result<()> {
        let sent = self.rows.as_ref().map(|to| to.send((values, columns)));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.end().err().unwrap_or_else(ended)),
        }
    }

    /// The writer, when all rows are written. Errors as it did.
    pub fn into_inner(mut self) -> Result<W> {
        self.end()
    }

    fn end(&mut self) -> Result<W> {
        self.rows = None;
        let thread = self.thread.take().ok_or_else(ended)?;
        thread.join().unwrap_or_else(|payload| {
            let said = payload.downcast_ref::<&str>().copied();
            let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let what = said.unwrap_or("without a word").replace('\n', " ");
            Err(Error::numerical(format!(
                "writing the output panicked: {what}"
            )))
        })
    }
}

fn ended() -> Error {
    Error::numerical("the output is written no more")
}

/// The writer is gone when this is: what is half-written is removed before its owner goes on.
impl<W, T> Drop for WriteBehind<W, T> {
    fn drop(&mut self) {
        self.rows = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, ShapeBuilder, array, s};
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };

    /// Fails at some rows, and says how many it has.
    struct Slow {
        all: Vec<f32>,
        at_work: Arc<AtomicUsize>,
        fails: Option<f32>,
    }

    impl RowWriter<f32> for Slow {
        fn write_rows(&mut self, rows: ArrayView2<'_, f32>) -> Result<()> {
            self.at_work.fetch_add(1, Ordering::SeqCst);
            match self.fails {
                Some(value) if rows.iter().any(|v| *v == value) => {
                    assert!(value < 100.0, "gave up");
                    return Err(Error::data("z.npy", "is full"));
                }
                _ => self.all.extend(rows.iter()),
            }
            // Who writes is slower than who makes rows.
            thread::sleep(Duration::from_millis(2));
            Ok(())
        }
    }

    fn slow(fails: Option<f32>) -> (Slow, Arc<AtomicUsize>) {
        let at_work = Arc::default();
        let slow = Slow {
            all: Vec::new(),
            at_work: Arc::clone(&at_work),
            fails,
        };
        (slow, at_work)
    }

    #[test]
    fn rows_are_written_in_order_while_others_are_made() {
        let (writer, at_work) = slow(None);
        let mut behind = WriteBehind::new(writer).expect("a thread");
        let all = Array2::from_shape_fn((40, 3), |(i, j)| (3 * i + j) as f32);
        for k in 0..20 {
            let rows = all.slice(s![2 * k..2 * k + 2, ..]);
            match k % 2 {
                0 => behind.write_rows(rows).expect("writes"),
                _ => {
                    let mut by_columns = Array2::zeros((2, 3).f());
                    by_columns.assign(&rows);
                    behind.write_rows(by_columns.view()).expect("writes");
                }
            }
            // No more than one waits, and one is at work.
            assert!(at_work.load(Ordering::SeqCst) + 2 > k, "{k}");
        }
        behind
            .write_rows(Array2::zeros((0, 3)).view())
            .expect("none");
        let written = behind.into_inner().expect("writes").all;
        assert_eq!(written, all.into_raw_vec_and_offset().0);
    }

    #[test]
    fn what_the_writer_says_comes_with_the_next_rows_and_at_the_end() {
        let (writer, _) = slow(Some(7.0));
        let mut behind = WriteBehind::new(writer).expect("a thread");
        let mut send = |value| behind.write_rows(array![[value]].view());
        send(1.0).and_then(|()| send(7.0)).expect("is on its way");
        let error = send(8.0).expect_err("is full").to_string();
        assert!(error.contains("is full"), "{error}");
        assert!(send(9.0).is_err());
        for (value, says) in [(7.0, "is full"), (100.0, "panicked: gave up")] {
            let (writer, _) = slow(Some(value));
            let mut behind = WriteBehind::new(writer).expect("a thread");
            behind
                .write_rows(array![[value]].view())
                .expect("on its way");
            let error = behind.into_inner().map(|_| ()).expect_err("at the end");
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
