//! The command line, end to end, through the binary.

mod advised;
mod amounts;
mod answers;
mod auto;
mod bad_input;
mod bench;
mod beside;
mod cells;
#[cfg(target_os = "linux")]
mod checkpoint_folder;
#[cfg(feature = "parquet")]
mod columnar;
mod columns;
mod defaults;
mod devices;
mod doors;
mod drift;
mod explain;
mod export;
#[cfg(target_os = "linux")]
mod faults;
mod files;
mod first_fit;
mod folds;
mod gaps;
mod honest;
mod identity;
#[cfg(unix)]
mod interrupt;
mod intervals;
mod job;
mod jobs;
#[cfg(target_os = "linux")]
mod kept;
mod leaves;
mod left_out;
mod losses;
mod machines;
mod maps;
#[cfg(target_os = "linux")]
mod memory;
mod metamorphic;
mod missing;
mod noted;
mod odd;
mod outputs;
mod page;
mod penalty;
mod processes;
mod reproduce;
#[cfg(target_os = "linux")]
mod room;
mod rows;
mod scores;
mod search;
mod shards;
mod show;
mod standardize;
mod strangers;
mod tables;
mod unseen;
mod usage;
mod written;

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};
use tempfile::TempDir;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Asserts success.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Asserts success and one JSON object on stdout, with nothing beside it.
    pub(crate) fn json(self) -> Value {
        let run = self.ok();
        let value: Value = serde_json::from_str(&run.stdout).expect("stdout is one JSON value");
        assert!(value.is_object(), "{run:?}");
        assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
        value
    }

    /// Asserts a failure with one line on stderr that holds every fragment, and nothing on stdout.
    pub(crate) fn fails(self, fragments: &[&str]) {
        assert!(matches!(self.code, Some(1 | 2)), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        for fragment in fragments {
            assert!(
                self.stderr.contains(fragment),
                "no {fragment:?} in {self:?}"
            );
        }
    }
}

/// A place of its own.
pub(crate) fn here() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

/// A place of its own whose path can stand among words that blanks part, as in `LD_PRELOAD`,
/// wherever temporary files and the checkout lie.
pub(crate) fn without_blanks() -> TempDir {
    let own = std::env::temp_dir();
    let places = [own.as_path(), Path::new("/tmp"), Path::new("/var/tmp")];
    let plain = places.into_iter().filter(|place| {
        let text = place.to_str();
        text.is_some_and(|text| !text.contains(|c: char| c.is_whitespace() || c == ':'))
    });
    let mut made = plain.filter_map(|place| TempDir::new_in(place).ok());
    made.next()
        .expect("a temporary directory without blanks in its path")
}

/// A number of a report.
pub(crate) fn number(report: &Value, key: &str) -> f64 {
    let value = report[key].as_f64();
    value.unwrap_or_else(|| panic!("no number {key:?} in {report}"))
}

/// The binary, in a directory, with nothing in the environment that changes what it does.
pub(crate) fn command(directory: &Path) -> Command {
    static RUNTIME: OnceLock<TempDir> = OnceLock::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bochner"));
    command.current_dir(directory).stdin(Stdio::null());
    for name in [
        "BOCHNER_DEVICE",
        "BOCHNER_CPU",
        "RUST_LOG",
        "RUST_BACKTRACE",
    ] {
        command.env_remove(name);
    }
    // `cargo xtask test --as` plays another machine.
    if let Ok(set) = std::env::var("BOCHNER_TEST_CPU") {
        command.env("BOCHNER_CPU", set);
    }
    // Nothing is read from or left in the user's cache.
    command.env("BOCHNER_CACHE", "off");
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // Without it Mesa's drivers write a line of their own to stderr.
        let runtime = RUNTIME.get_or_init(|| TempDir::new().expect("a temporary directory"));
        command.env("XDG_RUNTIME_DIR", runtime.path());
    }
    command
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.output().expect("the binary starts");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Whether all columns that a report tells of are numbers that were taken as they are.
pub(crate) fn are_numbers(report: &Value) -> bool {
    let became = report["columns_became"].as_array().expect("a list");
    became.iter().all(|column| {
        column
            .as_str()
            .is_some_and(|text| text.ends_with(": numbers"))
    })
}

/// Runs the binary in a directory with arguments separated by white space, then some that are taken
/// as they are.
pub(crate) fn bochner(directory: &Path, arguments: &str, more: &[&str]) -> Run {
    finish(
        command(directory)
            .args(arguments.split_whitespace())
            .args(more),
    )
}

/// The dataset of the repository, by a path without blanks.
pub(crate) fn digits() -> String {
    static COPY: OnceLock<TempDir> = OnceLock::new();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data/digits.csv");
    let path = path.canonicalize().expect("data/digits.csv is there");
    let path = path.to_str().expect("UTF-8");
    if !path.contains(char::is_whitespace) {
        return path.to_owned();
    }
    let folder = COPY.get_or_init(|| {
        let folder = without_blanks();
        std::fs::copy(path, folder.path().join("digits.csv")).expect("copies");
        folder
    });
    let copy = folder.path().join("digits.csv");
    copy.to_str().expect("UTF-8").to_owned()
}

/// The names of all usable adapters, as the CLI lists them; at least one under
/// BOCHNER_REQUIRE_GPU=1.
pub(crate) fn adapters() -> &'static [(String, String)] {
    static ADAPTERS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    ADAPTERS.get_or_init(|| {
        let listing = bochner(&std::env::temp_dir(), "devices --json", &[]).json();
        let text = |device: &Value, key: &str| device[key].as_str().expect("text").to_owned();
        let found: Vec<_> = listing["devices"]
            .as_array()
            .expect("an array")
            .iter()
            .filter(|device| device["kind"] != "cpu" && device["usable"] == true)
            .map(|device| (text(device, "name"), text(device, "kind")))
            .collect();
        println!("adapters under test: {found:?}");
        if std::env::var("BOCHNER_REQUIRE_GPU").as_deref() == Ok("1") {
            assert!(
                !found.is_empty(),
                "no adapter, though BOCHNER_REQUIRE_GPU=1"
            );
        }
        found
    })
}

/// A .npy file with this dtype, order and shape over `bytes`.
pub(crate) fn npy(path: PathBuf, descr: &str, fortran: bool, shape: &str, bytes: &[u8]) {
    let order = if fortran { "True" } else { "False" };
    let dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{dict:117}\n").bytes());
    file.extend(bytes);
    std::fs::write(path, file).expect("written");
}

/// The bytes of numbers, little endian.
pub(crate) fn le(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}
