//! `cargo xtask test`: everything is built in one go, each executable's tests are cut into jobs, as
//! many of which run side by side as there are cores, and what they took is told.
//!
//! A test whose name holds `device` or `adapter` runs once for each driver of adapters, with the
//! CPU beside it, in a process that sees no other driver. All others run once, and no device beyond
//! the CPU's is given to them.

mod build;
mod exceptions;
mod jobs;
mod machine;
mod names;
mod report;
mod work;

use crate::adapters::{self, Driver, Environment};
use crate::{budget, python};
use anyhow::{Result, bail};
use jobs::Job;
use machine::Machine;
use std::time::{Duration, Instant};

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// Parts of the names of tests, or names of programs of tests; none are all.
    names: Vec<String>,
    /// Also what takes long for its count of variants or draws.
    whole: bool,
    /// The machines to play; none is this one as it is.
    machines: Vec<&'static Machine>,
}

impl Request {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--whole" => request.whole = true,
                "--as" => {
                    let name = arguments.next().map_or("", String::as_str);
                    request.machines.extend(Machine::named(name)?);
                }
                flag if flag.starts_with('-') => bail!(
                    "`test` does not take {flag}; it takes parts of the names of tests, --whole and \
                     --as MACHINE"
                ),
                name => request.names.push(name.to_owned()),
            }
        }
        Ok(request)
    }

    fn asks_for(&self, program: &str, test: &str) -> bool {
        let asks = |name: &String| name == program || test.contains(name.as_str());
        self.is_all() || self.names.iter().any(asks)
    }

    fn is_all(&self) -> bool {
        self.names.is_empty()
    }

    fn asks_for_python(&self) -> bool {
        self.is_all() || self.names.iter().any(|name| name == "python")
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
    let python = request
        .asks_for_python()
        .then(|| std::thread::spawn(python::set_up));
    let built = build::build(&names::targets(&request.names)?)?;
    if request.asks_for_python() && !request.is_all() {
        python::build()?;
    }
    let building = start.elapsed();

    let (environment, drivers) = adapters::prepare()?;
    let python = python.map(|python| python.join().expect("does not panic"));
    let python = python.transpose()?;
    if !request.machines.is_empty() {
        return run_elsewhere(request, (&environment, &drivers), &mut || {
            let mut jobs = jobs::list_jobs(&built, &drivers, request)?;
            if let Some(Ok(interpreter)) = &python {
                jobs.extend(jobs::python(interpreter)?);
            }
            Ok(jobs)
        });
    }
    let mut jobs = jobs::list_jobs(&built, &drivers, request)?;
    if request.is_all() {
        jobs.push(jobs::documentation());
    }
    if let Some(python) = python {
        match python {
            Ok(interpreter) => jobs.extend(jobs::python(&interpreter)?),
            Err(why) => println!("the Python package is not tested: {why}"),
        }
    }
    let start = Instant::now();
    let outcomes = work::run(&environment, jobs)?;
    if request.is_all() {
        budget::note("running the tests", start.elapsed().as_secs_f64());
    }
    report::tell(&outcomes, [building, start.elapsed()], request, &drivers)
}

/// Runs the jobs as on each of the machines that were asked for, and tells of each in a line at the
/// end. Errs if a test failed on one.
fn run_elsewhere(
    request: &Request,
    (environment, drivers): (&Environment, &[Driver]),
    jobs: &mut dyn FnMut() -> Result<Vec<Job>>,
) -> Result<()> {
    let mut lines = Vec::new();
    for machine in &request.machines {
        println!("==> as on the machine `{}`", machine.name);
        let start = Instant::now();
        let told = if machine.is_elsewhere() {
            machine::elsewhere(&request.names)
        } else {
            let mut jobs = jobs()?;
            jobs.iter_mut().try_for_each(|job| machine.play(job))?;
            let others = machine.others()?;
            let outcomes = work::run(environment, jobs)?;
            drop(others);
            report::tell(
                &outcomes,
                [Duration::ZERO, start.elapsed()],
                request,
                drivers,
            )
        };
        let seconds = start.elapsed().as_secs_f64();
        lines.push(match &told {
            Ok(()) => format!("{:12} passed, {seconds:.0} s", machine.name),
            Err(error) => format!("{:12} FAILED, {seconds:.0} s: {error:#}", machine.name),
        });
    }
    println!("\n{}", lines.join("\n"));
    if lines.iter().any(|line| line.contains("FAILED")) {
        bail!("tests failed as on another machine");
    }
    Ok(())
}
