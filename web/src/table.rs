//! A .csv file in, one of predictions out.

use crate::work::{Ask, ask};
use bochner::{
    Result,
    data::{OpenOptions, PageFile, TargetUse, open},
    models::{Label, LinearModel, Targets},
};
use futures_intrusive::channel::shared::Sender;
use std::fmt::Write;

/// Rows that go to the device at a time.
const ROWS: usize = 4096;

/// The predictions for the rows of a file, a line each under a line of names.
pub(crate) async fn predict(
    model: &LinearModel,
    asks: &Sender<Ask>,
    name: String,
    bytes: Vec<u8>,
) -> Result<String> {
    // A pattern would stand for several files, of which a page has none.
    let name = name.replace(['*', '?'], "_");
    let _file = PageFile::new(&name, bytes);
    let options = OpenOptions {
        target_use: TargetUse::Ignored,
        columns: model.columns(),
        ..OpenOptions::default()
    };
    let mut source = open(&name, &options)?;
    let (columns, takes) = (source.columns(), model.map.input_dim());
    if columns != takes {
        let problem = format!("{name} has {columns} columns, the model takes {takes}");
        return Err(bochner::Error::shape(problem));
    }
    let mut text = header(model);
    text.push('\n');
    while let Some(chunk) = source.next_chunk(ROWS)? {
        let scores_nt = ask(asks, chunk.x, Ask::Scores).await?;
        for row in model.decide(scores_nt).rows() {
            let cells = row.iter().map(|&y| cell(model, y));
            text.push_str(&cells.collect::<Vec<_>>().join(","));
            text.push('\n');
        }
    }
    Ok(text)
}

/// The names of the targets, or numbers for those that have none.
fn header(model: &LinearModel) -> String {
    let columns = match &model.targets {
        Targets::Classes(_) => 1,
        Targets::Real { columns, .. } => *columns,
    };
    let names = model.target_names.as_ref();
    match names.filter(|names| names.len() == columns) {
        Some(names) => names
            .iter()
            .map(|name| quoted(name))
            .collect::<Vec<_>>()
            .join(","),
        None if columns == 1 => "prediction".into(),
        None => {
            let names = (0..columns).map(|j| format!("prediction{j}"));
            names.collect::<Vec<_>>().join(",")
        }
    }
}

fn cell(model: &LinearModel, y: f64) -> String {
    match (&model.targets, model.label(y)) {
        (Targets::Classes(_), Label::Text(text)) => quoted(text),
        _ => {
            let mut number = String::new();
            write!(number, "{y}").expect("text grows");
            number
        }
    }
}

/// As RFC 4180 has it.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
