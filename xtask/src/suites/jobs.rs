//! What runs: the tests of each executable, on which adapters, in processes that take about as
//! long.

use super::Request;
use super::build::Executable;
use crate::adapters::Driver;
use crate::process::{capture, cargo};
use crate::python;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// A process and what is expected of it.
#[derive(Debug)]
pub(crate) struct Job {
    /// As it is told of: the executable, and the driver where there is one.
    pub(crate) name: String,
    pub(crate) command: Command,
    /// What its lines are taken for.
    pub(crate) kind: Kind,
    /// Its tests on devices, which begin first, for they take longest.
    pub(crate) weight: usize,
}

/// Who runs the tests of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An executable of Rust's tests, one test after the other.
    Rust,
    /// Tests in the documentation, whose times are not told apart.
    Documentation,
    /// pytest.
    Python,
}

/// What the name of a test holds if it runs on devices.
const ON_DEVICES: [&str; 2] = ["device", "adapter"];

/// Modules of tests that run on the first driver alone: what they compute with are ops, each of
/// which is held to f64 on every driver, and what puts ops together is the same on all of them.
/// `device::gpu::pipeline` has every op under all checks, see [`ON_THE_OTHERS`].
const ON_THE_FIRST: [&str; 25] = [
    "chi2",
    "density",
    "device::gpu::pipeline",
    "estimates",
    "features",
    "flow",
    "growing",
    "growth",
    "hadamard_sketches",
    "hypothesis",
    "identity",
    "intervals",
    "kernel_machines",
    "matrix_free",
    "metric",
    "models",
    "nystrom",
    "projections",
    "randomized",
    "search",
    "sketches",
    "solve",
    "spectral",
    "unsupervised",
    "warm",
];

/// Modules of tests that a first driver of software leaves to the others: every op as users have
/// it, in every shape. Under all checks, with poisoned memory, the same ops run there. Most of
/// either is compiling shaders.
const ON_THE_OTHERS: [&str; 7] = [
    "edges",
    "exchange",
    "nonlinearity",
    "ops::predict::tests",
    "parity",
    "structured",
    "tiles",
];

/// What holds the arithmetic of the CPU: it runs again with every other instruction set of the
/// machine, for others have those.
const ARITHMETIC: [&str; 9] = [
    "bits",
    "instructions",
    "linalg",
    "normal",
    "ops",
    "parity::ops_agree_with_f64_on_any_number_of_threads",
    "simd",
    "solve",
    "stream",
];

/// What of it is the arithmetic of a GPU's matrix units, done in plain numbers: no instruction set
/// changes it.
const PLAIN: [&str; 3] = [
    "ops::gram::units::arithmetic",
    "ops::projection::units::arithmetic",
    "ops::units::arithmetic",
];

/// Tests of a process at most, where they run once: so that cores finish together.
const PIECE: usize = 60;

/// The jobs of all executables.
pub(super) fn list_jobs(
    built: &[Executable],
    drivers: &[Driver],
    request: &Request,
) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for executable in built {
        let listed = capture(
            Command::new(&executable.path)
                .args(["--list", "--format", "terse"])
                .current_dir(&executable.folder),
        )?;
        let all = tests(&listed).filter(|name| request.asks_for(&executable.name, name));
        // The programs that the command line's tests start open devices by themselves.
        let by_itself = executable.name == "cli/cli";
        let (on_devices, once): (Vec<&str>, Vec<&str>) =
            all.partition(|name| !by_itself && runs_on_devices(name));
        for (at, driver) in drivers.iter().enumerate() {
            let here = on_devices.iter().copied();
            let here: Vec<&str> = here
                .filter(|name| request.whole || runs_on(name, at, drivers))
                .collect();
            if !here.is_empty() {
                let name = format!("{} on {}", executable.name, driver.name);
                let mut command = program(executable, &here, request);
                driver.choose(&mut command);
                jobs.push(rust(name, command, 1000 + here.len()));
            }
        }
        let arithmetic = once
            .iter()
            .copied()
            .filter(|name| lies_in(&ARITHMETIC, name) && !lies_in(&PLAIN, name));
        let arithmetic: Vec<&str> = arithmetic.collect();
        for set in other_instruction_sets().filter(|_| !arithmetic.is_empty()) {
            let mut command = program(executable, &arithmetic, request);
            command.env("BOCHNER_CPU", set);
            command.env("BOCHNER_TEST_DEVICES", "none");
            let name = format!("{} with {set}", executable.name);
            jobs.push(rust(name, command, arithmetic.len()));
        }
        for (at, piece) in once.chunks(PIECE).enumerate() {
            let mut command = program(executable, piece, request);
            if !by_itself {
                command.env("BOCHNER_TEST_DEVICES", "none");
            }
            let name = if once.len() > PIECE {
                format!("{} {}", executable.name, at + 1)
            } else {
                executable.name.clone()
            };
            // Those of the command line wait for programs, and take longest of those that run once.
            let more = if by_itself { 10 * PIECE } else { 0 };
            jobs.push(rust(name, command, more + piece.len()));
        }
    }
    Ok(jobs)
}

fn rust(name: String, command: Command, weight: usize) -> Job {
    Job {
        name,
        command,
        kind: Kind::Rust,
        weight,
    }
}

/// The tests in the documentation of the library.
pub(super) fn documentation() -> Job {
    let mut command = cargo(["test", "--release", "--workspace", "--doc", "--quiet"]);
    command.env("BOCHNER_DEVICE", "cpu");
    Job {
        name: "documentation".into(),
        command,
        kind: Kind::Documentation,
        weight: 500,
    }
}

/// The tests of the Python package, which is put together first.
pub(super) fn python(interpreter: &Path) -> Result<impl Iterator<Item = Job>> {
    let commands = python::tests(interpreter)?.into_iter();
    Ok(commands.enumerate().map(|(at, command)| Job {
        name: format!("python {}", at + 1),
        command,
        kind: Kind::Python,
        weight: 2000,
    }))
}

/// The names in a listing.
fn tests(listing: &str) -> impl Iterator<Item = &str> {
    listing
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
}

fn runs_on_devices(name: &str) -> bool {
    let function = name.rsplit("::").next().unwrap_or(name);
    ON_DEVICES.iter().any(|word| function.contains(word))
}

/// Instruction sets of this machine but its best, as `BOCHNER_CPU` calls them.
fn other_instruction_sets() -> impl Iterator<Item = &'static str> {
    #[cfg(target_arch = "x86_64")]
    let (avx2, scalar) = (
        std::is_x86_feature_detected!("avx512f"),
        std::is_x86_feature_detected!("avx2"),
    );
    #[cfg(not(target_arch = "x86_64"))]
    let (avx2, scalar) = (false, cfg!(target_arch = "aarch64"));
    let sets = [("avx2", avx2), ("scalar", scalar)];
    sets.into_iter().filter_map(|(set, is)| is.then_some(set))
}

/// Whether a test runs on driver number `at` of these.
fn runs_on(name: &str, at: usize, drivers: &[Driver]) -> bool {
    match at {
        0 => drivers.len() == 1 || !drivers[0].is_software || !lies_in(&ON_THE_OTHERS, name),
        _ => !lies_in(&ON_THE_FIRST, name),
    }
}

/// Whether a test lies in one of these modules, or is one of them.
fn lies_in(rooms: &[&str], name: &str) -> bool {
    let is_of = |room: &&str| {
        name.strip_prefix(*room)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    rooms.iter().any(is_of)
}

/// An executable with some of its tests, one after the other: as many jobs as there are cores run
/// side by side, and what a test takes of the processors can be told.
fn program(executable: &Executable, names: &[&str], request: &Request) -> Command {
    let mut command = Command::new(&executable.path);
    command
        .args(["--test-threads", "1", "--exact"])
        .args(names)
        .current_dir(&executable.folder);
    if request.whole {
        command.env("BOCHNER_WHOLE", "1");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_on_devices_are_told_by_their_names() {
        let listing = "a::b_on_devices: test\nsrc/x.rs - y (line 3): bench\nc::d: test\n";
        assert_eq!(
            tests(listing).collect::<Vec<_>>(),
            ["a::b_on_devices", "c::d"]
        );
        assert!(runs_on_devices("a::every_adapter_opens") && !runs_on_devices("devices::a::b"));
    }

    #[test]
    fn what_no_instruction_set_changes_lies_in_what_runs_under_each() {
        for room in PLAIN {
            let file = format!("maps/src/{}.rs", room.replace("::", "/"));
            assert!(lies_in(&ARITHMETIC, room), "{room}");
            assert!(crate::folders::root().join(&file).exists(), "{file}");
        }
    }

    #[test]
    fn every_driver_has_every_op_and_the_first_what_puts_them_together() {
        let drivers: Vec<Driver> = [true, true, false].map(Driver::of_tests).into();
        let on = |name: &str, drivers: &[Driver]| -> Vec<bool> {
            (0..drivers.len())
                .map(|at| runs_on(name, at, drivers))
                .collect()
        };
        assert_eq!(on("models::x::y", &drivers), [true, false, false]);
        assert_eq!(on("faults::models", &drivers), [true, true, true]);
        assert_eq!(on("parity::models", &drivers), [false, true, true]);
        // Alone, or a GPU.
        assert_eq!(on("parity::models", &drivers[..1]), [true]);
        assert_eq!(
            on("parity::models", &[drivers[2].clone(), drivers[0].clone()]),
            [true, true]
        );
    }
}
