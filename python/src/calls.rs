//! Execution of Python calls: devices, the GIL, interrupts, errors and warnings.

use crate::drivers::quietly;
use bochner::{Device, DeviceChoice, Error, Result, Run, Step, error::Remedy};
use pyo3::{
    exceptions::{
        PyMemoryError, PyNotImplementedError, PyOSError, PyRuntimeError, PyUserWarning,
        PyValueError,
    },
    prelude::*,
};
use std::{
    cell::RefCell,
    ffi::CString,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Minimum time between two progress reports of the same kind.
const PAUSE: Duration = Duration::from_millis(100);

thread_local! {
    /// Warnings of this thread that were not passed to Python yet.
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Logger that collects warnings of the library for Python.
struct Listener;

impl log::Log for Listener {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("bochner")
    }

    fn log(&self, record: &log::Record<'_>) {
        // A missing GPU is reported by `devices()`, not as a warning of each call.
        let text = record.args().to_string();
        if self.enabled(record.metadata()) && !text.starts_with("device: ") {
            WARNINGS.with_borrow_mut(|warnings| warnings.push(text));
        }
    }

    fn flush(&self) {}
}

/// Installs the logger that turns warnings of the library into Python warnings.
pub(crate) fn listen() {
    // An error means that the logger is installed already.
    if log::set_logger(&Listener).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}

/// Signal that arrived while work ran without the GIL, and the exception that Python raised for it.
#[derive(Default)]
pub(crate) struct Interrupt {
    stop: Arc<AtomicBool>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Interrupt {
    /// Stop flag for data sources.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Checks for signals, which only Python's main thread receives. An error ends the work.
    pub(crate) fn check(&self) -> Result<()> {
        // Python reports a signal once; the progress callback may have received it already.
        if self.stop.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => Ok(()),
            Err(error) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.stop.store(true, Ordering::Relaxed);
                Err(interrupted())
            }
        }
    }

    /// Returns a callback that checks for signals.
    pub(crate) fn hear(&self) -> impl Fn() + Send + Sync + 'static {
        let own = Self {
            stop: self.stop.clone(),
            raised: self.raised.clone(),
        };
        move || drop(own.check())
    }

    /// Makes `run` check for signals at every step, stop at the next chunk after one, and report
    /// its steps to `progress`.
    fn heard_by(&self, run: Run, progress: Option<Py<PyAny>>) -> Run {
        run.progress(self.teller(progress)).until(self.flag())
    }

    /// Returns a callback for steps that checks for signals and calls `progress`.
    pub(crate) fn teller(
        &self,
        progress: Option<Py<PyAny>>,
    ) -> impl Fn(Step) + Send + Sync + 'static {
        let hear = self.hear();
        let (said, raised, stop) = (
            Mutex::new(None::<(&str, Instant)>),
            self.raised.clone(),
            self.stop.clone(),
        );
        move |step| {
            hear();
            let Some(progress) = &progress else {
                return;
            };
            let told = match step {
                Step::Survey(rows) => ("survey", rows, None),
                Step::Map(rows) => ("map", rows, None),
                Step::Rows(rows) => ("rows", rows, None),
                Step::Iteration(i, left) => ("iteration", i as u64, Some(left)),
                Step::Trial(i, best) => ("trial", i as u64, Some(best)),
                _ => return,
            };
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.is_some_and(|(what, at)| what == told.0 && at.elapsed() < PAUSE) {
                return;
            }
            *said = Some((told.0, Instant::now()));
            if let Err(error) = Python::attach(|py| progress.call1(py, told)) {
                *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                stop.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Runs `work` without the GIL. Issues its warnings in Python, and returns its result or the
/// exception for an interrupt or an error.
pub(crate) fn without_gil<T: Send>(
    py: Python<'_>,
    work: impl Send + FnOnce(&Interrupt) -> Result<T>,
) -> PyResult<T> {
    let interrupt = Interrupt::default();
    let (result, warnings) = py.detach(|| {
        let result = work(&interrupt);
        (result, WARNINGS.take())
    });
    let category = py.get_type::<PyUserWarning>();
    for warning in warnings {
        let text = CString::new(warning.replace('\0', "")).unwrap_or_default();
        PyErr::warn(py, &category, &text, 1)?;
    }
    let raised = interrupt
        .raised
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, result) => result.map_err(|error| exception(&error)),
    }
}

/// Converts an error to a Python exception whose advice names Python parameters.
pub(crate) fn exception(error: &Error) -> PyErr {
    let text = error.explain(advice);
    match error {
        Error::Unsupported(_) => PyNotImplementedError::new_err(text),
        Error::Device(_) | Error::Shader(_) | Error::DeviceLost { .. } => {
            PyRuntimeError::new_err(text)
        }
        Error::OutOfMemory { .. } | Error::HostMemory { .. } | Error::Limit { .. } => {
            PyMemoryError::new_err(text)
        }
        Error::Io { .. } => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn advice(remedy: &Remedy) -> String {
    match remedy {
        Remedy::LessMemory => "use a smaller memory=".into(),
        Remedy::MoreMemory => "use a larger memory=".into(),
        Remedy::FewerFeatures => "use a smaller n_components=".into(),
        Remedy::UseCpu => "use device='cpu'".into(),
        Remedy::NameAdapter => {
            "use device='NAME' with an adapter's name, as devices() has it".into()
        }
        Remedy::Standardize => "use standardize='yes'".into(),
        Remedy::AmountsAsTheyAre => "use target_scale='as-is'".into(),
        Remedy::LargerLengthscale => "use a smaller gamma=".into(),
        Remedy::GiveLengthscale | Remedy::GiveBandwidth => "use a number for gamma=".into(),
        Remedy::OtherBandwidth => "use another gamma=".into(),
        Remedy::LargerLambda => "use a larger penalty=".into(),
        Remedy::MoreIterations => "use a larger max_iter=".into(),
        Remedy::LargerTolerance => "use a larger tol=".into(),
        Remedy::ConjugateGradients => "use solver='cg'".into(),
        Remedy::UseMap(name) => format!("use map='{name}'"),
        Remedy::UseKernel(spec) => format!("use kernel='{spec}'"),
        Remedy::FillMissing => "let missing='indicator' (or 'mean', 'median') stand for it".into(),
        Remedy::RefitWithMissing => {
            "fit again with missing='indicator' (or 'mean', 'median')".into()
        }
        Remedy::DropRows => "remove the row".into(),
        Remedy::DropRowsWithoutTarget => {
            "leave such rows out with drop_rows_without_target=True".into()
        }
        Remedy::SkipRows(lines) => format!("skip the lines above the names with skip_rows={lines}"),
        Remedy::Comment(begins) => format!("leave such lines out with comment={begins:?}"),
        Remedy::FirstLineNames => "take the first line for names with header='yes'".into(),
        Remedy::Delimiter(mark) => {
            format!(
                "say what separates columns with delimiter={:?}",
                mark.to_string()
            )
        }
        Remedy::OtherEncoding(name) => format!("say how it is written, as in encoding='{name}'"),
        Remedy::Categorical(name) => format!("name it with categorical={name:?}"),
        Remedy::Numeric(name) => format!("take its numbers for amounts with numeric={name:?}"),
        Remedy::ByTarget(name) => format!("take it by the target with by_target={name:?}"),
        Remedy::Ignore(_) => "leave it out by columns=".into(),
        Remedy::KeepKind => "keep it as a kind with na='?'".into(),
        Remedy::AnyDateFormat => "say how dates are written, as in date_format='%d.%m.%Y'".into(),
        Remedy::NoValue(text) => format!("take it for no value with na={text:?}"),
        Remedy::Decimal(mark) => format!("say decimal={:?}", mark.to_string()),
        Remedy::Thousands(mark) => format!("say thousands={:?}", mark.to_string()),
        Remedy::DateFormat(format) => format!("say date_format={format:?}"),
        Remedy::Calibrate => "fit it with calibrate=0.2, or call calibrate_on(X, y) with rows that the fit did not see"
                .into(),
        Remedy::NameFormat => "rename it by what it is".into(),
        other => other.to_string(),
    }
}

/// Opens the device for a value of `device=`; the device for `auto` is shared between calls.
pub(crate) fn device(name: &str) -> Result<Device> {
    require_own_threads()?;
    match name.parse::<DeviceChoice>() {
        Ok(DeviceChoice::Auto) => best(),
        Ok(DeviceChoice::Cpu) => Ok(Device::cpu()),
        Ok(choice) => Ok(quietly(|| Device::open(&choice))?.0),
    }
}

/// Errors in a process forked from one that has used a device: it lacks the worker threads, and
/// would wait for them forever.
fn require_own_threads() -> Result<()> {
    static PROCESS: OnceLock<u32> = OnceLock::new();
    let own = std::process::id();
    if *PROCESS.get_or_init(|| own) == own {
        return Ok(());
    }
    Err(Error::device(
        "this process was forked from one that has used bochner, and has none of its threads; \
         start processes by 'spawn' or 'forkserver', or use bochner in none before they fork",
    ))
}

/// Device for `auto`. A GPU is opened again whenever it was released, and drivers then write to
/// stderr.
fn best() -> Result<Device> {
    static NO_GPU: AtomicBool = AtomicBool::new(false);
    if NO_GPU.load(Ordering::Relaxed) {
        return Device::best();
    }
    let device = quietly(Device::best);
    if device.as_ref().is_ok_and(|device| !device.is_gpu()) {
        NO_GPU.store(true, Ordering::Relaxed);
    }
    device
}

/// Creates a run on the device of this name, with `memory` bytes for chunks. It checks for
/// interrupts and calls `progress` with its steps: kind, amount done, and residual of iterations.
pub(crate) fn run(
    name: &str,
    memory: Option<u64>,
    interrupt: &Interrupt,
    progress: Option<Py<PyAny>>,
) -> Result<Run> {
    let memory = memory.unwrap_or(Run::DEFAULT_MEMORY);
    Ok(interrupt.heard_by(Run::on(&device(name)?).memory(memory), progress))
}

/// Devices for `device=`: the one for `'auto'`, the CPU, and the adapters, one line each.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> (String, String, Vec<String>) {
    py.detach(|| {
        let report = quietly(Device::report);
        let adapters = report.adapters.iter().map(|adapter| adapter.describe());
        (report.auto.0, report.cpu.clone(), adapters.collect())
    })
}

/// Error of work that a signal ended.
pub(crate) fn interrupted() -> Error {
    Error::io("the work", std::io::ErrorKind::Interrupted.into())
}
