//! `cargo xtask test`: everything is built in one go, each executable's tests are cut into jobs, as
//! many of which run side by side as there are cores, and what they took is told.
//!
//! A test whose name holds `device` or `adapter` runs once for each driver of adapters, with the
//! CPU beside it, in a process that sees no other driver. All others run once, and no device beyond
//! the CPU's is given to them.

mod build;
mod exceptions;
mod jobs;
mod names;
mod report;
mod work;

use crate::{adapters, python};
use anyhow::{Result, bail};
use std::time::Instant;

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// Parts of the names of tests; none are all.
    names: Vec<String>,
    /// Also what takes long for its count of variants or draws.
    whole: bool,
}

impl Request {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--whole" => request.whole = true,
                flag if flag.starts_with('-') => bail!(
                    "`test` does not take {flag}; it takes parts of the names of tests, and --whole"
                ),
                name => request.names.push(name.to_owned()),
            }
        }
        Ok(request)
    }

    fn asks_for(&self, test: &str) -> bool {
        self.is_all() || self.names.iter().any(|name| test.contains(name.as_str()))
    }

    fn is_all(&self) -> bool {
        self.names.is_empty()
    }
}

/// Sets up adapters, builds, and runs the tests that were asked for, of all those of Python and of
/// the documentation too.
///
/// Errs if one fails, if none ran, or if there is no adapter to run on; where `CI` is set also if
/// one took more of the processors than `tests/slow.txt` allows.
pub(crate) fn run(request: &Request) -> Result<()> {
    let start = Instant::now();
    // Packages of Python come over the network, beside the build.
    let python = request.is_all().then(|| std::thread::spawn(python::set_up));
    let built = build::build(&names::targets(&request.names)?)?;
    let building = start.elapsed();

    let (environment, drivers) = adapters::prepare()?;
    let mut jobs = jobs::of(&built, &drivers, request)?;
    if let Some(python) = python {
        jobs.push(jobs::documentation());
        match python.join().expect("does not panic")? {
            Ok(interpreter) => jobs.push(jobs::python(&interpreter)?),
            Err(why) => println!("the Python package is not tested: {why}"),
        }
    }
    let start = Instant::now();
    let outcomes = work::run(&environment, jobs)?;
    report::tell(&outcomes, [building, start.elapsed()], request, &drivers)
}
