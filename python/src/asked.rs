//! Context of a prediction call: device, memory, interrupts and progress.

use crate::{
    arrays::Table,
    calls::{Interrupt, run, without_gil},
    views::TableView,
};
use bochner::{Result, Run, Step};
use pyo3::prelude::*;

/// Device, memory, interrupt flag and progress callback of a prediction call.
pub(crate) struct Asked<'a> {
    pub(crate) device: &'a str,
    pub(crate) memory: Option<u64>,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: Option<Py<PyAny>>,
}

impl Asked<'_> {
    pub(crate) fn run(&self) -> Result<Run> {
        run(self.device, self.memory, self.interrupt, None)
    }

    /// Returns a callback that reports the number of finished rows, and fails after a signal.
    pub(crate) fn tell(&mut self) -> impl Fn(usize) -> Result<()> + use<'_> {
        let tell = self.interrupt.teller(self.progress.take());
        let interrupt = self.interrupt;
        move |rows| {
            tell(Step::Rows(rows as u64));
            interrupt.check()
        }
    }
}

/// Runs `work` on rows in memory without the GIL.
pub(crate) fn heard<T: Send>(
    py: Python<'_>,
    x: &Table<'_>,
    device: &str,
    memory: Option<u64>,
    progress: Option<Py<PyAny>>,
    work: impl Send + FnOnce(TableView<'_>, Asked<'_>) -> Result<T>,
) -> PyResult<T> {
    let view = x.view()?;
    without_gil(py, |interrupt| {
        let asked = Asked {
            device,
            memory,
            interrupt,
            progress,
        };
        work(view, asked)
    })
}
