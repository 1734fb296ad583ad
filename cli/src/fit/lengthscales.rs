//! What lengthscales a Gaussian process found, for people and for programs.

use crate::report::{Report, Value, counted, six_digits};
use bochner::models::FoundLengthscales;

/// So many columns are named to people.
const NAMED: usize = 8;

/// Evidence before and after, and the columns by how relevant they are.
pub(super) fn describe(found: &FoundLengthscales, report: &mut Report) {
    let name = |j: usize| match &found.names {
        Some(names) => names[j].clone(),
        None => format!("column {j}"),
    };
    let columns = (0..found.lengthscale_d.len()).map(|j| {
        serde_json::json!({
            "column": found.names.as_ref().map(|names| &names[j]),
            "lengthscale": found.lengthscale_d[j],
            "relevance": found.relevance_d[j],
        })
    });
    let columns: Vec<Value> = columns.collect();
    report.set(
        "lengthscales",
        serde_json::json!({
            "columns": columns,
            "log_marginal_likelihood_before": found.before,
            "log_marginal_likelihood_after": found.after,
            "iterations": found.iterations,
            "rows": found.rows,
        }),
    );
    report.line(
        "lengthscales",
        format!(
            "log likelihood of {} {} -> {} in {}",
            counted(found.rows as u64, "row"),
            six_digits(found.before),
            six_digits(found.after),
            counted(found.iterations as u64, "step")
        ),
    );
    let ranking = found.ranking();
    let named = ranking.iter().take(NAMED).map(|&j| {
        let relevance = six_digits(found.relevance_d[j]);
        format!("{} {relevance}", name(j))
    });
    let mut named = named.collect::<Vec<_>>().join(", ");
    if ranking.len() > NAMED {
        named.push_str(&format!(", and {} more", ranking.len() - NAMED));
    }
    report.line("relevance", format!("deviation over lengthscale: {named}"));
}
