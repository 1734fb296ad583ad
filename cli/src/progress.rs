//! What long work says of itself while it lasts: a bar on a terminal, elsewhere lines now and then.

use crate::{drivers::to_stderr, report::printable};
use bochner::Step;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Progress of one stage, which leaves nothing behind on a terminal.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Where stderr is no terminal.
    lines: Option<Lines>,
}

/// What a position counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Rows,
    Steps,
}

impl Bar {
    /// One that nobody sees.
    pub(crate) fn silent() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            lines: None,
        }
    }

    /// Over rows; a spinner where their number is not known.
    pub(crate) fn rows(stage: &'static str, rows: Option<u64>, every: Duration) -> Self {
        let template = match rows {
            Some(_) => {
                "{prefix:>9} [{bar:32}] {human_pos} of {human_len} rows, {per_sec}, {eta} left"
            }
            None => "{prefix:>9} {spinner} {human_pos} rows, {per_sec}",
        };
        Self::new(stage, rows, Counted::Rows, template, every)
    }

    /// Over steps, and what it is at; a spinner where their number is not known.
    pub(crate) fn steps(stage: &'static str, total: Option<u64>, every: Duration) -> Self {
        let template = match total {
            Some(_) => "{prefix:>9} [{bar:32}] {pos} of {len}, {eta} left: {msg}",
            None => "{prefix:>9} {spinner} {msg}",
        };
        Self::new(stage, total, Counted::Steps, template, every)
    }

    fn new(
        stage: &'static str,
        total: Option<u64>,
        counted: Counted,
        template: &str,
        every: Duration,
    ) -> Self {
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        };
        if bar.is_hidden() {
            let lines = Lines::new(stage, total, counted, every);
            return Self {
                bar,
                lines: Some(lines),
            };
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> ").with_key(
                "per_sec",
                |state: &indicatif::ProgressState, out: &mut dyn fmt::Write| {
                    let _ = write!(out, "{} rows/s", HumanCount(state.per_sec() as u64));
                },
            ));
        }
        bar.set_prefix(stage);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, lines: None }
    }

    /// So many rows or steps are done.
    pub(crate) fn set_position(&self, done: u64) {
        self.bar.set_position(done);
        if let Some(lines) = &self.lines {
            lines.position(done);
        }
    }

    /// Follows the rows of some work, for as long as that work can be heard of.
    pub(crate) fn follow(self) -> impl Fn(Step) + Send + Sync {
        move |step| match step {
            Step::Survey(rows) | Step::Map(rows) | Step::Rows(rows) => self.set_position(rows),
            _ => {}
        }
    }

    /// As [`Self::follow`], of steps of some work: each tells where it begins.
    pub(crate) fn follow_from(
        self: &Arc<Self>,
        before: u64,
    ) -> impl Fn(Step) + Send + Sync + use<> {
        let bar = self.clone();
        move |step| match step {
            Step::Survey(rows) | Step::Map(rows) | Step::Rows(rows) => {
                bar.set_position(before + rows);
            }
            _ => {}
        }
    }

    /// What is at work.
    pub(crate) fn say(&self, text: impl Into<String>) {
        let text = printable(&text.into()).into_owned();
        if let Some(lines) = &self.lines {
            lines.say(&text);
        }
        self.bar.set_message(text);
    }

    /// A note that does not disturb the bar.
    pub(crate) fn above(&self, note: impl FnOnce()) {
        self.bar.suspend(note);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A plain line at most every so often, for logs; none of work that is sooner done.
#[derive(Debug)]
struct Lines {
    stage: &'static str,
    total: Option<u64>,
    counted: Counted,
    every: Duration,
    start: Instant,
    last: Mutex<Instant>,
    done: AtomicU64,
}

impl Lines {
    fn new(stage: &'static str, total: Option<u64>, counted: Counted, every: Duration) -> Self {
        let start = Instant::now();
        Self {
            stage,
            total,
            counted,
            every,
            start,
            last: Mutex::new(start),
            done: AtomicU64::new(0),
        }
    }

    /// Whether the last line is long enough ago. The next one counts from now then.
    fn is_time(&self) -> bool {
        self.last.lock().is_ok_and(|mut last| {
            let due = last.elapsed() >= self.every;
            if due {
                *last = Instant::now();
            }
            due
        })
    }

    fn position(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        // Steps say what they are at.
        if self.counted == Counted::Rows && self.is_time() {
            let text = rows_line(done, self.total, self.start.elapsed());
            to_stderr(&format!("{}: {text}", self.stage));
        }
    }

    fn say(&self, text: &str) {
        if self.is_time() {
            let done = self.done.load(Ordering::Relaxed);
            let of = self.total.map(|total| format!("{done} of {total}, "));
            to_stderr(&format!("{}: {}{text}", self.stage, of.unwrap_or_default()));
        }
    }
}

/// Rows that are done, how fast, and how long the others will take.
fn rows_line(done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(1e-9);
    let speed = format!("{} rows/s", HumanCount(rate as u64));
    match total {
        Some(total) => {
            let left = total.saturating_sub(done) as f64 / rate.max(1e-9);
            let (done, total) = (HumanCount(done), HumanCount(total));
            format!("{done} of {total} rows, {speed}, about {left:.0} s left")
        }
        None => format!("{} rows, {speed}", HumanCount(done)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_rows_their_rate_and_what_is_left() {
        let seconds = Duration::from_secs(20);
        let line = rows_line(40_000, Some(100_000), seconds);
        assert_eq!(
            line,
            "40,000 of 100,000 rows, 2,000 rows/s, about 30 s left"
        );
        assert_eq!(
            rows_line(40_000, None, seconds),
            "40,000 rows, 2,000 rows/s"
        );
    }

    #[test]
    fn lines_wait_for_their_time() {
        let lines = |every| Lines::new("fit", None, Counted::Rows, every);
        let hourly = lines(Duration::from_secs(3600));
        assert!(!hourly.is_time() && !hourly.is_time());
        let each = lines(Duration::ZERO);
        assert!(each.is_time() && each.is_time());
    }
}
