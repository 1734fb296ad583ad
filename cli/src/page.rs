//! `--report FILE.html`: what a command found, as one page that needs no other file.

pub(crate) mod chart;
mod confusion;
mod figures;
mod font;
pub(crate) mod head;
mod labels;
mod levels;
mod palette;
mod scale;
mod scene;

use crate::report::{Report, Value};
use anyhow::Result;
use bochner::{Error, data::AtomicFile};
use std::{fmt::Write as _, io::Write as _, path::Path, time::SystemTime};

/// Colours of both themes, and how the page is set. Series differ by colours that people tell apart
/// who see few of them, and by their marks.
const STYLE: &str = concat!(
    include_str!("page/colours.css"),
    include_str!("page/shapes.css"),
    include_str!("page/style.css")
);

/// Writes the page of a report.
pub(crate) fn write(path: &Path, report: &Report) -> Result<()> {
    let command = words(crate::job::arguments());
    let page = page(&command, &head::date(SystemTime::now()), report);
    let mut file = AtomicFile::create(path)?;
    file.write_all(page.as_bytes())
        .map_err(|error| Error::io(path, error))?;
    Ok(file.finish()?)
}

/// The command line again.
fn words(arguments: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = arguments.map(crate::names::quoted).collect();
    format!("bochner {}", words.join(" "))
}

fn page(command: &str, date: &str, report: &Report) -> String {
    let title: Vec<&str> = command.split(' ').take(2).collect();
    let mut facts = vec![("command", command.to_owned()), ("date", date.to_owned())];
    let told = report.subject().chain(report.lines());
    facts.extend(told.map(|(label, text)| (label, text.to_owned())));
    let object = report.object();
    let mut body = String::new();
    for (heading, figure) in figures::draw_all(&object, &report.pictured()) {
        let _ = write!(body, "<h2>{}</h2>\n{figure}", escaped(heading));
    }
    // Trials have a table of their own, and the command beside it.
    if let Some(command) = object["command"].as_str() {
        let command = unbroken(command);
        let _ = write!(
            body,
            "<h2>The same without searching</h2>\n<pre class=\"command\">{command}</pre>\n"
        );
    } else if !report.text_table().is_empty() {
        let table = escaped(report.text_table().trim_matches('\n'));
        let _ = write!(body, "<h2>Table</h2>\n<pre>{table}</pre>\n");
    }
    document(&title.join(" "), &facts, &body, Some(&object))
}

/// A page that needs no other file: a title, the command (the fact of that name), facts, what was
/// found, and all numbers.
pub(crate) fn document(
    title: &str,
    facts: &[(&str, String)],
    body: &str,
    numbers: Option<&Value>,
) -> String {
    let title = escaped(title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n"
    );
    let (command, facts): (Vec<_>, Vec<_>) =
        facts.iter().partition(|(label, _)| *label == "command");
    for (_, command) in command {
        let _ = writeln!(page, "<pre class=\"command\">{}</pre>", unbroken(command));
    }
    page.push_str("<table class=\"facts\">\n");
    for (label, text) in facts {
        let (label, text) = (escaped(label), escaped(text));
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{label}</th><td>{text}</td></tr>"
        );
    }
    page.push_str("</table>\n");
    page.push_str(body);
    if let Some(numbers) = numbers {
        let numbers = serde_json::to_string_pretty(numbers).unwrap_or_default();
        let _ = writeln!(
            page,
            "<details><summary>All numbers, as JSON</summary>\n<pre>{}</pre></details>",
            escaped(&numbers)
        );
    }
    let _ = write!(
        page,
        "<footer>bochner {}</footer>\n</main>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

/// Words of a command line that are not parted where a line ends, as browsers part them at dashes.
fn unbroken(command: &str) -> String {
    let word = |word| format!("<span>{}</span>", escaped(word));
    command.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Text that stands for itself in HTML and SVG.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_of_columns_are_text_and_no_markup() {
        let mut report = Report::default();
        report.line("metric", "diagonal: <b> 60.0 %");
        report.set(
            "metric",
            json!({"importance": [{"column": "<script>\"&", "importance": 1.0}]}),
        );
        report.about("data", "<b>.csv");
        let page = page("bochner fit 'a<b'", "2026-01-02 03:04 UTC", &report);
        assert!(
            !page.contains("<script>") && !page.contains("<b>"),
            "{page}"
        );
        assert!(page.contains("&lt;script&gt;&quot;&amp;"), "{page}");
        assert!(page.contains("<h1>bochner fit</h1>"));
        // What it is about stands before what was found.
        let at = |text: &str| page.find(text).expect(text);
        assert!(at("2026-01-02") < at("&lt;b&gt;.csv") && at("&lt;b&gt;.csv") < at("diagonal: "));
    }
}
