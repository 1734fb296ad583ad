//! What people and programs read: results on stdout, errors in one line.

mod console;

pub(crate) use console::{Console, InFold, OutputArgs, log};

use crate::flags;
use anyhow::Result;
use bochner::Error;
use indicatif::HumanCount;
pub(crate) use serde_json::Value;
use std::{
    borrow::Cow,
    fmt,
    io::{self, Write},
    path::Path,
};

/// Wrong usage that clap cannot see: exit status 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The results of a command: a JSON object for programs, a few aligned lines for people.
#[derive(Debug, Default)]
pub(crate) struct Report {
    object: serde_json::Map<String, Value>,
    seconds: serde_json::Map<String, Value>,
    lines: Vec<(Cow<'static, str>, String)>,
    table: String,
    /// What a page says of the data and the job, above what was found.
    subject: Vec<(&'static str, String)>,
    /// What pictures show and nobody reads.
    pictured: serde_json::Map<String, Value>,
}

/// A value as JSON; a number that is not finite becomes null.
pub(crate) fn json(value: impl Into<Value>) -> Value {
    value.into()
}

impl Report {
    /// Sets a key of the object.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.object.insert(key.into(), value.into());
    }

    /// Sets a key that is for pictures alone.
    pub(crate) fn picture(&mut self, key: &str, value: impl Into<Value>) {
        self.pictured.insert(key.into(), value.into());
    }

    /// Adds what a page says of the data and the job.
    pub(crate) fn about(&mut self, label: &'static str, text: impl Into<String>) {
        self.subject.push((label, text.into()));
    }

    /// What a page says of the data and the job.
    pub(crate) fn subject(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.subject.iter();
        all.map(|(label, text)| (*label, text.as_str()))
    }

    /// What is for pictures alone.
    pub(crate) fn pictured(&self) -> Value {
        Value::Object(self.pictured.clone())
    }

    /// Sets how long a stage took.
    pub(crate) fn seconds(&mut self, stage: &str, seconds: f64) {
        self.seconds.insert(stage.into(), seconds.into());
    }

    /// Adds a line for people.
    pub(crate) fn line(&mut self, label: impl Into<Cow<'static, str>>, text: impl Into<String>) {
        self.lines.push((label.into(), text.into()));
    }

    /// Adds a table for people, below that which is there.
    pub(crate) fn table_below(&mut self, text: String) {
        self.table.push_str(&text);
    }

    /// Sets a table for people, below the lines.
    pub(crate) fn table(&mut self, text: String) {
        self.table = text;
    }

    /// Rows, seconds and rows per second of the stage that counts.
    pub(crate) fn throughput(&mut self, rows: u64, seconds: f64) {
        // A clock may see no time pass.
        let rate = rows as f64 / seconds.max(1e-9);
        self.set("rows", rows);
        self.set("rows_per_second", rate);
        self.line(
            "rows",
            format!(
                "{} in {seconds:.3} s, {} per second",
                HumanCount(rows),
                HumanCount(rate as u64)
            ),
        );
    }

    /// The device, for both kinds of reader.
    pub(crate) fn device(&mut self, device: &bochner::Device) {
        self.set("device", device.describe());
        self.line("device", device.describe());
    }

    /// The file that was written.
    pub(crate) fn output(&mut self, label: &'static str, path: &Path) {
        self.set("output", path.display().to_string());
        self.line(label, path.display().to_string());
    }

    /// All that programs read.
    pub(crate) fn object(&self) -> Value {
        let mut object = self.object.clone();
        if !self.seconds.is_empty() {
            object.insert("seconds".into(), self.seconds.clone().into());
        }
        Value::Object(object)
    }

    /// What people read: labels with what they are of.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().map(|(label, text)| (&**label, &**text))
    }

    /// The table for people, below the lines.
    pub(crate) fn text_table(&self) -> &str {
        &self.table
    }

    /// Writes everything to stdout.
    pub(crate) fn print(&self, as_json: bool) -> Result<()> {
        to_stdout(&self.text(as_json))
    }

    /// All of it, as people or programs read it.
    pub(crate) fn text(&self, as_json: bool) -> String {
        let mut text = String::new();
        if as_json {
            text = self.object().to_string();
            text.push('\n');
        } else {
            let width = self.lines.iter().map(|(label, _)| label.len()).max();
            let width = width.unwrap_or(0);
            for (label, line) in &self.lines {
                text.push_str(&format!("{label:width$}  {line}\n"));
            }
            text.push_str(&self.table);
        }
        printable(&text).into_owned()
    }
}

/// Writes to stdout, where a closed pipe is an error and no panic.
pub(crate) fn to_stdout(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(written.map_err(|error| Error::io("stdout", error))?)
}

/// Whether the reader of stdout has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(Error::Io { path, source })
            if source.kind() == io::ErrorKind::BrokenPipe && path == Path::new("stdout")
    )
}

/// The error in one line, with a remedy where the system's reason has none.
pub(crate) fn explain(error: &anyhow::Error) -> String {
    let text = match error.downcast_ref() {
        Some(error) => one_line(&flags::explain(error)),
        None => one_line(&error.to_string()),
    };
    let Some(Error::Io { path, source }) = error.downcast_ref() else {
        return text;
    };
    // The system's number for its reason says nothing that the reason does not.
    let text = match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    };
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
    let remedy = match (source.kind(), directory) {
        (io::ErrorKind::NotFound, Some(directory)) if !directory.exists() => {
            format!("there is no directory {} either", directory.display())
        }
        (io::ErrorKind::NotFound, _) => "check the name".into(),
        (io::ErrorKind::PermissionDenied, _) => {
            "check the permissions, or name another file".into()
        }
        (io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory, _) => "name a file".into(),
        (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => {
            "free some space, or write elsewhere".into()
        }
        _ => return text,
    };
    one_line(&format!("{text}; {remedy}"))
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", HumanCount(count))
}

/// Six significant digits.
pub(crate) fn six_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor();
    if (-4.0..6.0).contains(&exponent) {
        let decimals = (5.0 - exponent) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{value:.5e}")
}

/// What a model knows of itself: counts are whole numbers, and read as such.
pub(crate) fn fact(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        format!("{value}")
    } else {
        six_digits(value)
    }
}

/// Line breaks become spaces, and other control characters escapes.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.lines().map(str::trim).collect();
    printable(words.join(" ").trim()).into_owned()
}

/// A text without characters that a terminal obeys: names come from files of anybody. Control
/// characters but line breaks and tabs, and marks that turn the direction of writing, become
/// escapes that JSON and TOML read back.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || (c.is_control() && c != '\n' && c != '\t')
    };
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) {
            out += &format!("\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_significant_digits() {
        for (value, text) in [
            (0.000430670691, "0.000430671"),
            (0.25, "0.250000"),
            (34.0731545, "34.0732"),
            (123456.7, "123457"),
            (1.5e-9, "1.50000e-9"),
            (2e300, "2.00000e300"),
        ] {
            assert_eq!(six_digits(value), text);
        }
        assert_eq!(six_digits(0.0), "0");
        assert_eq!([600.0, 0.25].map(fact), ["600", "0.250000"]);
    }

    /// What a terminal obeys is escaped on the way to people, and programs read the same name back.
    #[test]
    fn names_do_not_command_a_terminal() {
        let name = "\u{1b}]0;pwned\u{7}a\u{9b}2J\u{202e}b\u{7f}\rc";
        let mut report = Report::default();
        report.line("takes", name);
        report.table(format!("{name}\t1\n"));
        report.set("name", name);
        let is_odd = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        for as_json in [false, true] {
            let text = report.text(as_json);
            assert!(!text.contains(is_odd), "{text:?}");
        }
        let read: Value = serde_json::from_str(&report.text(true)).expect("JSON");
        assert_eq!(read["name"], name);
        assert!(!one_line(name).contains(is_odd));
        assert_eq!(printable("a\n\tß"), "a\n\tß");
    }

    #[test]
    fn errors_take_one_line_and_offer_a_remedy() {
        let missing = io::Error::from_raw_os_error(2);
        let text = explain(&Error::io("data.csv", missing).into());
        assert!(
            text.starts_with("data.csv: ") && text.ends_with("; check the name"),
            "{text}"
        );
        assert!(!text.contains("os error"), "{text}");
        assert_eq!(explain(&anyhow::anyhow!("a\n  b")), "a b");
    }
}
