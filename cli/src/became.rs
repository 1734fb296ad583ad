//! What became of the columns of a table, in words and as `columns_became` and `targets_became`.

use crate::report::{Console, Report};
use bochner::data::{ChunkSource, Field, Schema};

/// How many columns are of each kind, and with `-v` each of them.
pub(crate) fn describe(schema: &Schema, console: &Console, report: &mut Report) {
    let text = format!("{schema}: {} in all", schema.width());
    report.line("columns", text);
    let each = |fields: &[Field]| fields.iter().map(ToString::to_string).collect();
    let (columns, targets): (Vec<String>, Vec<String>) =
        (each(schema.features()), each(schema.targets()));
    columns.iter().for_each(|column| console.detail(column));
    for target in &targets {
        console.detail(&format!("target {target}"));
    }
    report.set("columns_became", columns);
    if !targets.is_empty() {
        report.set("targets_became", targets);
    }
}

/// The same of columns of numbers that have names, for programs.
pub(crate) fn describe_numbers(source: &dyn ChunkSource, report: &mut Report) {
    let numbers = |names: &[String]| -> Vec<String> {
        names
            .iter()
            .map(|name| format!("{name}: numbers"))
            .collect()
    };
    if let Some(names) = source.column_names() {
        report.set("columns_became", numbers(&names));
    }
    if let Some(names) = source.target_names().filter(|names| !names.is_empty()) {
        report.set("targets_became", numbers(&names));
    }
}
