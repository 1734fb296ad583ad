//! What became of the columns of a table, in words and as `columns_became`.

use crate::report::{Console, Report};
use bochner::data::{ChunkSource, Schema};

/// How many columns are of each kind, and with `-v` each of them.
pub(crate) fn describe(schema: &Schema, console: &Console, report: &mut Report) {
    let text = format!("{schema}: {} in all", schema.width());
    report.line("columns", text);
    let each = schema.features().iter().map(ToString::to_string);
    let each: Vec<String> = each.collect();
    each.iter().for_each(|column| console.detail(column));
    report.set("columns_became", each);
}

/// The same of columns of numbers that have names, for programs.
pub(crate) fn describe_numbers(source: &dyn ChunkSource, report: &mut Report) {
    if let Some(names) = source.column_names() {
        let each = names.iter().map(|name| format!("{name}: numbers"));
        report.set("columns_became", each.collect::<Vec<_>>());
    }
}
