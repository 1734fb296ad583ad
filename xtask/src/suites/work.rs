//! Jobs side by side, as many as there are cores, and what each of their tests took.

use super::jobs::{Job, Kind};
use crate::adapters::Environment;
use crate::process::shown;
use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// What came of a job.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
    /// Whether the process ended as one whose tests passed does.
    pub(super) ended_well: bool,
    pub(super) took: Duration,
    /// Seconds of processors of the process and those that it started, where the system tells.
    pub(super) processors: Option<f64>,
    /// Each test with its seconds of processors, of the clock where the system does not tell.
    pub(super) tests: Vec<(String, f64)>,
}

/// Runs all jobs, as many side by side as there are cores, and one more where Python's are among
/// them: for a quarter of their time these wait for processes of their own. What a job wrote is
/// shown if it failed, and one line of each in any case.
pub(super) fn run(environment: &Environment, mut jobs: Vec<Job>) -> Result<Vec<Outcome>> {
    // What takes longest begins first, so that no core waits for it at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.weight));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let waits = jobs.iter().any(|job| job.kind == Kind::Python);
    let (at_once, total) = (cores + usize::from(waits), jobs.len());
    let queue = Mutex::new(VecDeque::from(jobs));
    let outcomes = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        loop {
            let Some(mut job) = queue.lock().expect("whole").pop_front() else {
                return Ok(());
            };
            environment.apply(&mut job.command);
            let (outcome, output) = one(job)?;
            let mut outcomes = outcomes.lock().expect("whole");
            let good = outcome.ended_well && outcome.failed == 0;
            if !good {
                println!("{}", String::from_utf8_lossy(&output));
            }
            println!(
                "[{}/{total}] {}: {}, {} passed, {} failed, {:.1} s{}",
                outcomes.len() + 1,
                outcome.name,
                if good { "ok" } else { "FAILED" },
                outcome.passed,
                outcome.failed,
                outcome.took.as_secs_f64(),
                match outcome.processors {
                    Some(seconds) => format!(" ({seconds:.1} s of processors)"),
                    None => String::new(),
                }
            );
            outcomes.push(outcome);
        }
    };
    thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..at_once.min(total)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().expect("does not panic")?;
        }
        Ok(())
    })?;
    Ok(outcomes.into_inner().expect("whole"))
}

/// Runs one job to its end and returns what it wrote.
fn one(mut job: Job) -> Result<(Outcome, Vec<u8>)> {
    let start = Instant::now();
    let command = job.command.stdin(Stdio::null());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start `{}`", shown(&job.command)))?;
    let mut errors = child.stderr.take().expect("was piped");
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        errors.read_to_end(&mut text).map(|_| text)
    });
    let mut lines = Lines::default();
    let mut output = Vec::new();
    let stdout = child.stdout.take().expect("was piped");
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let at = processors(&child).unwrap_or_else(|| start.elapsed().as_secs_f64());
        lines.take(job.kind, &String::from_utf8_lossy(&line), at);
        output.extend(line);
        output.push(b'\n');
    }
    // Before it is waited for, after which the system forgets.
    let seconds = processors(&child);
    let status = child.wait()?;
    output.extend(errors.join().expect("does not panic")?);
    let outcome = Outcome {
        name: job.name,
        passed: lines.passed,
        failed: lines.failed,
        skipped: lines.skipped,
        ended_well: status.success(),
        took: start.elapsed(),
        processors: seconds,
        tests: lines.tests,
    };
    Ok((outcome, output))
}

/// Seconds of processors that a process took, with those of its own that have ended.
///
/// proc_pid_stat(5): fields 14 to 17, in hundredths on every Linux that Rust runs on.
fn processors(child: &Child) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name of the program stands in brackets and may hold anything.
    let (_, fields) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<f64>());
    Some(ticks.sum::<Result<f64, _>>().ok()? / 100.0)
}

/// What the lines of a job say.
#[derive(Debug, Default, PartialEq)]
struct Lines {
    passed: usize,
    failed: usize,
    skipped: usize,
    tests: Vec<(String, f64)>,
    /// When the last test ended.
    last: f64,
}

impl Lines {
    /// Takes a line that came when the process had taken `at` seconds.
    fn take(&mut self, kind: Kind, line: &str, at: f64) {
        match kind {
            Kind::Rust => {
                if let Some((name, _)) = line
                    .strip_prefix("test ")
                    .and_then(|rest| rest.split_once(" ... "))
                {
                    self.tests.push((name.to_owned(), at - self.last));
                    self.last = at;
                } else if line.starts_with("running ") {
                    self.last = at;
                }
                self.add(line.strip_prefix("test result: "), "; ");
            }
            Kind::Documentation => self.add(line.strip_prefix("test result: "), "; "),
            // `2690 passed, 41 skipped in 63.1s`, the last of all.
            Kind::Python => self.add(line.split_once(" in ").map(|(counts, _)| counts), ", "),
        }
    }

    /// Adds `ok. 3 passed; 0 failed; 1 ignored`, or such counts between commas.
    fn add(&mut self, counts: Option<&str>, between: &str) {
        let Some(counts) = counts else { return };
        let counts = counts.split_once(". ").map_or(counts, |(_, counts)| counts);
        for count in counts.split(between) {
            let Some((number, what)) = count.trim_matches(['=', ' ']).split_once(' ') else {
                continue;
            };
            let number: usize = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" | "error" | "errors" => self.failed += number,
                "ignored" | "skipped" => self.skipped += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_add_up_and_tests_have_their_seconds() {
        let mut lines = Lines::default();
        for (line, at) in [
            ("running 3 tests", 1.0),
            ("test a::b ... ok", 3.5),
            ("test a::c ... FAILED", 4.0),
            ("test a::d ... ignored, why", 4.0),
            (
                "test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 9 filtered out; \
                 finished in 1.00s",
                4.0,
            ),
        ] {
            lines.take(Kind::Rust, line, at);
        }
        assert_eq!((lines.passed, lines.failed, lines.skipped), (1, 1, 1));
        let times = [("a::b", 2.5), ("a::c", 0.5), ("a::d", 0.0)];
        assert_eq!(lines.tests, times.map(|(name, s)| (name.to_owned(), s)));
    }

    #[test]
    fn counts_of_pytest_are_read() {
        let mut lines = Lines::default();
        lines.take(Kind::Python, "..... [100%]", 1.0);
        lines.take(
            Kind::Python,
            "2 failed, 2690 passed, 41 skipped in 63.11s",
            1.0,
        );
        assert_eq!((lines.passed, lines.failed, lines.skipped), (2690, 2, 41));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_works_takes_processors() {
        let mut work = std::process::Command::new("sh");
        let mut child = work.args(["-c", "while :; do :; done"]).spawn().unwrap();
        let start = Instant::now();
        let mut most = 0.0_f64;
        while most < 0.02 && start.elapsed() < Duration::from_secs(120) {
            most = most.max(processors(&child).unwrap_or(0.0));
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(most >= 0.02, "{most}");
    }
}
