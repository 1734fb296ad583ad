//! `bochner show`: what a model file holds.

use crate::job::lines;
use crate::report::{OutputArgs, Report, Value, counted, fact, printable, six_digits, to_stdout};
use anyhow::Result;
use bochner::{
    Error,
    data::Field,
    job::Settings,
    models::{CalibratedOn, ClassSets, Conformal, LinearModel, Probabilities, Targets},
};
use std::path::PathBuf;

/// Names that are printed of many.
const NAMED: usize = 8;

/// Arguments of `bochner show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: bochner show digits.model")]
pub(crate) struct Args {
    /// A model that `bochner fit` wrote, or Python or the library
    model: PathBuf,
    /// Print the job that made it alone, as a file for `bochner fit --job`
    #[arg(long)]
    job: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reads the model and says what it is, what it takes, what it gives and how it was chosen.
pub(crate) fn run(args: &Args) -> Result<()> {
    let bytes = std::fs::metadata(&args.model).map_err(|e| Error::io(&args.model, e))?;
    let model = LinearModel::load(&args.model)?;
    if args.job {
        return to_stdout(&printable(&lines(&model, &args.model)?));
    }
    let mut report = Report::default();
    report.line("learner", model.learner.as_str());
    report.set("learner", model.learner.as_str());
    report.line("map", model.map.describe());
    report.set("map", model.map.describe());
    report.set("features", model.map.output_dim());
    describe_columns(&model, &mut report);
    given(&model, &mut report);
    chosen(&model, &mut report);
    importance(&model, &mut report);
    report.line("rows", counted(model.rows, "row"));
    report.set("rows", model.rows);
    report.line("device", format!("fitted on {}", model.device));
    report.set("device", model.device.as_str());
    job(&model, &mut report);
    report.line("size", counted(bytes.len(), "byte"));
    report.set("bytes", bytes.len());
    report.print(args.output.json)
}

/// The options of a job in one line.
pub(crate) fn words(job: &Settings) -> String {
    let options = job.iter().map(|(name, value)| format!("{name}={value}"));
    options.collect::<Vec<_>>().join(" ")
}

/// The job that made it.
fn job(model: &LinearModel, report: &mut Report) {
    let Some(job) = &model.job else {
        report.set("job", Value::Null);
        return;
    };
    report.line("job", words(job));
    let object = job.iter().map(|(name, value)| {
        let number = value.parse().ok().and_then(serde_json::Number::from_f64);
        let value = match (value, value.parse::<u64>(), number) {
            ("true", ..) => Value::Bool(true),
            (_, Ok(whole), _) => whole.into(),
            (_, _, Some(number)) => Value::Number(number),
            _ => value.into(),
        };
        (name.to_owned(), value)
    });
    report.set("job", Value::Object(object.collect()));
}

/// Some of many names.
pub(crate) fn few(names: &[String]) -> String {
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>();
    let more = names.len().saturating_sub(NAMED);
    match more {
        0 => named.join(", "),
        more => format!("{}, and {more} more", named.join(", ")),
    }
}

/// The columns of rows that it takes.
fn describe_columns(model: &LinearModel, report: &mut Report) {
    let columns = model.map.input_dim();
    let count = counted(columns as u64, "column");
    let text = match (&model.schema, &model.column_names) {
        (Some(schema), _) => format!("{count}, made of {schema}"),
        (None, Some(names)) => format!("{count}: {}", few(names)),
        (None, None) => count,
    };
    report.line("takes", text);
    report.set("columns", columns);
    report.set("column_names", model.column_names.clone());
    report.set("schema", model.schema.as_ref().map(ToString::to_string));
    let each = |fields: &[Field]| fields.iter().map(ToString::to_string).collect();
    let schema = model.schema.as_ref();
    let columns: Vec<String> = schema.map_or_else(Vec::new, |schema| each(schema.features()));
    let targets: Vec<String> = schema.map_or_else(Vec::new, |schema| each(schema.targets()));
    report.set("columns_became", columns);
    report.set("targets_became", targets);
}

/// What it predicts.
pub(crate) fn gives(model: &LinearModel) -> String {
    let names = model.target_names.clone().unwrap_or_default();
    let of = if names.is_empty() {
        String::new()
    } else {
        format!(" of {}", few(&names))
    };
    match (&model.targets, &model.class_names) {
        (Targets::Real { columns: 0, .. }, _) => "what it finds in rows without targets".into(),
        (Targets::Real { columns, .. }, _) => {
            format!("{}{of}", counted(*columns as u64, "amount"))
        }
        (Targets::Classes(labels), names) => {
            let labels = || labels.iter().map(ToString::to_string).collect();
            let names = names.clone().unwrap_or_else(labels);
            format!("{} classes{of}: {}", names.len(), few(&names))
        }
    }
}

/// What it predicts, and what it can say beside that.
fn given(model: &LinearModel, report: &mut Report) {
    report.line("gives", gives(model));
    let task = match &model.targets {
        Targets::Real { columns: 0, .. } => "rows",
        Targets::Real { .. } => "regression",
        Targets::Classes(_) => "classification",
    };
    report.set("task", task);
    report.set("target_names", model.target_names.clone());
    report.set("classes", classes(model));
    let probabilities = model.probabilities.as_ref().map(|how| match how {
        Probabilities::Softmax => "softmax",
        Probabilities::Sigmoids { .. } => "sigmoids",
        Probabilities::Tempered { .. } => "tempered",
        Probabilities::Averaged => "averaged",
    });
    let sets = model.class_sets.as_ref();
    let of_sets = |sets: &ClassSets| match sets.on() {
        CalibratedOn::KeptBack => {
            format!("probabilities and sets by {} rows kept back", sets.rows())
        }
        on => format!("probabilities and sets by {on}"),
    };
    let of_intervals = |errors: &Conformal| match errors.on() {
        CalibratedOn::KeptBack => format!("intervals calibrated on {} rows", errors.rows()),
        on => format!("intervals by {on}"),
    };
    let mut beside = Vec::new();
    match sets {
        Some(sets) => beside.push(of_sets(sets)),
        None => beside.extend(probabilities.map(|_| "probabilities".to_owned())),
    }
    beside.extend(model.spread.iter().map(|_| "deviations".into()));
    beside.extend(model.conformal.as_ref().map(of_intervals));
    if !beside.is_empty() {
        report.line("beside", beside.join(", "));
    }
    report.set("probabilities", probabilities);
    let conformal = model.conformal.as_ref();
    report.set("calibration_rows", conformal.map(Conformal::rows));
    let on = conformal.map(Conformal::on).or(sets.map(ClassSets::on));
    report.set("calibrated_on", on.map(|on| on.to_string()));
}

fn classes(model: &LinearModel) -> Value {
    match (&model.targets, &model.class_names) {
        (_, Some(names)) => names.as_slice().into(),
        (Targets::Classes(labels), None) => labels.as_slice().into(),
        _ => Value::Null,
    }
}

/// What the fit chose and found.
fn chosen(model: &LinearModel, report: &mut Report) {
    if model.lambda > 0.0 {
        let of = model.lambda_curve.as_ref().map(|curve| curve.points.len());
        let of = of.map_or(String::new(), |count| {
            format!(", of {count} that were tried")
        });
        report.line("lambda", format!("{}{of}", six_digits(model.lambda)));
    }
    report.set("lambda", model.lambda);
    for (name, &value) in &model.facts {
        report.line(name.replace('_', " "), fact(value));
        report.set(name, value);
    }
}

/// The columns that matter most, where the fit knows.
fn importance(model: &LinearModel, report: &mut Report) {
    let shares = match (&model.metric, &model.leaf_importance) {
        (Some(metric), _) => metric.importance(),
        (None, Some(shares)) => shares,
        (None, None) => return,
    };
    let name = |j: usize| match &model.column_names {
        Some(names) => names[j].clone(),
        None => j.to_string(),
    };
    let mut columns: Vec<(usize, f64)> = shares.iter().copied().enumerate().collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let percent = |&(j, share): &(usize, f64)| format!("{} {:.1} %", name(j), 100.0 * share);
    let shown: Vec<String> = columns.iter().map(percent).collect();
    report.line("importance", few(&shown));
    let all = columns
        .iter()
        .map(|&(j, share)| serde_json::json!({ "column": name(j), "importance": share }));
    report.set("importance", all.collect::<Vec<Value>>());
}
