//! `bochner export`: a fitted model as an ONNX file.

use crate::{
    args::named,
    report::{OutputArgs, Report},
};
use anyhow::Result;
use bochner::{
    Error,
    data::AtomicFile,
    export::onnx::{self, Input},
    models::LinearModel,
};
use std::{io::Write, path::PathBuf};

/// Arguments of `bochner export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: bochner export digits.model -o digits.onnx\n\
    The file has one input, X [rows, columns], and is of standard operators (opset 17).")]
pub(crate) struct Args {
    /// A model that `bochner fit` wrote
    model: PathBuf,
    /// The file, .onnx
    #[arg(long, short, value_name = "OUT", value_parser = named())]
    output: PathBuf,
    /// Take and give f64: for columns whose numbers are large beside what tells them apart. The
    /// default is f32, and f64 where f32 would lose digits of a column
    #[arg(long)]
    double: bool,
    /// Take and give f32, whatever digits that loses
    #[arg(long, conflicts_with = "double")]
    single: bool,
    #[command(flatten)]
    pub(crate) report: OutputArgs,
}

/// Reads the model, and writes the other file whole or not at all.
pub(crate) fn run(args: &Args) -> Result<()> {
    let model = LinearModel::load(&args.model)?;
    let input = match (args.double, args.single) {
        (true, _) => Input::Double,
        (_, true) => Input::Single,
        _ => Input::Auto,
    };
    let bytes = model.to_onnx(input)?;
    let mut file = AtomicFile::create(&args.output)?;
    file.write_all(&bytes)
        .map_err(|e| Error::io(&args.output, e))?;
    file.finish()?;
    let outputs = onnx::outputs(&model);
    let mut report = Report::default();
    report.set("learner", model.learner.as_str());
    report.set("columns", model.map.input_dim());
    report.set("outputs", outputs.to_vec());
    report.set("bytes", bytes.len());
    report.line("model", model.map.describe());
    let entries = match input.of_model(&model) {
        Input::Double => "f64",
        _ => "f32",
    };
    report.set("entries", entries);
    report.line(
        "input",
        format!("X [rows, {}], {entries}", model.map.input_dim()),
    );
    report.line("outputs", outputs.join(", "));
    report.output("written", &args.output);
    report.print(args.report.json)
}
