//! A card in Markdown.

use super::{Part, Section};
use crate::report::printable;
use std::fmt::Write as _;

/// A text in Markdown without markup of its own, in one line: names in it come from the file.
fn inline(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ").replace('<', "&lt;");
    let text = text.replace("![", "!\\[").replace("](", "]\\(");
    printable(&text).into_owned()
}

/// A cell of a table of Markdown.
fn cell(text: &str) -> String {
    inline(&text.replace('\\', "\\\\").replace('|', "\\|"))
}

/// A block of code, between more marks than stand in it.
fn block(code: &str) -> String {
    let runs = code.split(|c| c != '`').map(str::len);
    let marks = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{marks}\n{}{marks}\n", printable(code))
}

/// The page in Markdown.
pub(super) fn markdown(name: &str, sections: &[Section]) -> String {
    let mut page = format!("# {}\n", inline(name));
    for section in sections {
        let _ = write!(page, "\n## {}\n", section.title);
        for part in &section.parts {
            page.push('\n');
            let _ = match part {
                Part::Said(text) => writeln!(page, "{text}"),
                Part::Text(text) => writeln!(page, "{}", inline(text)),
                Part::Code(code) => write!(page, "{}", block(code)),
                Part::List(items) => {
                    let mut items = items.iter();
                    items.try_for_each(|item| writeln!(page, "* {}", inline(item)))
                }
                Part::Table(head, rows) => {
                    let line = |cells: [String; 3]| format!("| {} |\n", cells.join(" | "));
                    page += &line(head.map(str::to_owned));
                    page += "|---|---|---|\n";
                    rows.iter().for_each(|row| {
                        page += &line(std::array::from_fn(|k| cell(&row[k])));
                    });
                    Ok(())
                }
            };
        }
    }
    page
}
