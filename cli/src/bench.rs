//! `bochner bench`: what a device can do, and how near every op comes to it.

mod check;
mod crossing;
mod serve;
mod tune;

use crate::{
    args::{DeviceArgs, at_least_one, positive},
    flags,
    interrupt::writing,
    page,
    report::{self, Console, OutputArgs, Report, Usage, json},
};
use anyhow::Result;
use bochner::{
    Device, Error,
    bench::{Bench, BoundBy, Ceilings, OpBench, Prepared, Shape, Size, Timed},
    data::AtomicFile,
    form::tuning,
    registry,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Arguments of `bochner bench`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner bench --device cpu --op projection-paired --rows 8192 --dim 784 --features 4096\n\
    Share is that of the ceiling that bounds an op: its multiply-adds at the measured GFLOP/s, or its bytes at the\n\
    measured rate of a copy of as many bytes. Error is the largest against f64 over the largest value, on a part of the result of the same run."
)]
pub(crate) struct Args {
    /// Measure, check or tune one op only; an unknown name lists them
    #[arg(long, value_name = "NAME")]
    op: Option<String>,
    /// Rows, N, of one shape instead of the usual ones
    #[arg(long, value_name = "N", requires = "features", value_parser = at_least_one)]
    rows: Option<usize>,
    /// Input columns, d
    #[arg(long, value_name = "D", value_parser = at_least_one)]
    dim: Option<usize>,
    /// Features, D
    #[arg(long, value_name = "D", value_parser = at_least_one)]
    features: Option<usize>,
    /// Run with this tile shape or exchange where an op has it, on a GPU; an unknown name lists
    /// them
    #[arg(long, value_name = "NAME", conflicts_with = "tiles")]
    tile: Option<String>,
    /// Run every op with each tile shape that it can take, on a GPU
    #[arg(long)]
    tiles: bool,
    /// Measure the tile shapes and exchanges of a GPU, of every op or that of --op, and keep the
    /// fastest for this adapter and driver; results stay the same to the bit
    #[arg(long, conflicts_with_all = ["rows", "dim", "features", "full", "check", "serve", "tile", "tiles"])]
    tune: bool,
    /// The large shapes: 2^17 rows, d up to 4096, D up to 16384
    #[arg(long)]
    full: bool,
    /// Repeat each shape for so many seconds, and measure the ceilings for as many; by default 0.8
    /// and 4, and 10 of a large shape or one of one's own
    #[arg(long, value_name = "SECONDS", value_parser = positive, conflicts_with_all = ["tune", "check", "crossing", "serve"])]
    seconds: Option<f64>,
    /// Compare every op, or the one of --op, with its f64 reference on the CPU and on every
    /// adapter, with negative controls, and measure nothing
    #[arg(long, conflicts_with_all = ["rows", "dim", "features", "full", "serve", "tile", "tiles"])]
    check: bool,
    /// Measure where fastfood and sorf become cheaper than fourier, and their kernel errors at
    /// equal D; for --dim and --features, or for usual ones
    #[arg(long, conflicts_with_all = ["op", "rows", "full", "check", "serve"])]
    crossing: bool,
    /// Read cases as JSON lines from stdin and answer each with its times
    #[arg(long, hide = true)]
    serve: bool,
    #[command(flatten)]
    device: DeviceArgs,
    /// Write the measurements as a page with a picture, too
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["tune", "check", "crossing", "serve"])]
    report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Seconds of repetitions of a case.
const SECONDS: f64 = 0.8;
const FULL_SECONDS: f64 = 10.0;
/// Seconds for the ceilings.
const CEILING_SECONDS: f64 = 4.0;

/// Measures, checks or serves.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = Console::new(&args.output);
    if let Some(path) = &args.report {
        // Where it cannot be written is said before the work.
        drop(AtomicFile::create(path)?);
    }
    args.device.start(&console)?;
    if args.check {
        return check::run(&console, args.op.as_deref(), args.output.json);
    }
    if args.tune {
        let menus = tune::menus(args.op.as_deref())?;
        let device = args.device.open(&console)?;
        return tune::run(&console, &device, &menus, args.output.json);
    }
    let ops = args.ops()?;
    let device = args.device.open(&console)?;
    if args.crossing {
        return crossing::run(&device, args.dim, args.features, args.output.json);
    }
    let tiles = args.tiles(&device)?;
    if args.serve {
        return serve::run(&device);
    }
    let size = if args.full {
        Size::Full
    } else {
        Bench::size(&device)
    };
    let bench = Bench {
        seconds: args
            .seconds
            .unwrap_or(if args.full || args.features.is_some() {
                FULL_SECONDS
            } else {
                SECONDS
            }),
    };
    let mut page = Page::new(args.output.json, &device);
    page.tuned(&device);
    let ceilings = Ceilings::measure(&device, args.seconds.unwrap_or(CEILING_SECONDS))?;
    page.ceilings(&ceilings)?;
    for op in ops {
        if op.host_only && device.as_cpu().is_none() && args.op.is_none() {
            continue;
        }
        let shapes: Vec<Shape> = match args.features {
            None => op.shapes(size).collect(),
            Some(features) => {
                vec![op.shape(args.rows.unwrap_or(8192), args.dim.unwrap_or(784), features)]
            }
        };
        for shape in shapes {
            for &tile in &tiles {
                match case(&bench, &device, op, shape, tile) {
                    Ok(Some(timed)) => page.case(&timed, &ceilings)?,
                    Ok(None) => {}
                    Err(
                        error @ (Error::Unsupported(_)
                        | Error::Limit { .. }
                        | Error::OutOfMemory { .. }),
                    ) => {
                        page.skipped(op.name, shape, &error)?;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    let object = page.finish()?;
    if let Some(path) = &args.report {
        let _writing = writing();
        page::write(path, &in_short(object))?;
    }
    Ok(())
}

/// Device and ceilings as facts, and all numbers.
fn in_short(object: serde_json::Map<String, Value>) -> Report {
    let mut report = Report::default();
    let rate = |key: &str| {
        object["ceilings"][key]
            .as_f64()
            .map(|rate| format!("{rate:.1}"))
    };
    let device = object["device"].as_str().unwrap_or_default();
    report.line("device", device);
    if let Some(rate) = rate("copy_gb_per_second") {
        report.line("copy", format!("{rate} GB/s, read and written"));
    }
    if let Some(rate) = rate("gflop_per_second") {
        report.line("arithmetic", format!("{rate} GFLOP/s of f32 multiply-adds"));
    }
    for (key, value) in object {
        report.set(&key, value);
    }
    report
}

/// Times one case; `None` if a tile is asked for that this op does not take at this shape.
fn case(
    bench: &Bench,
    device: &Device,
    op: &'static OpBench,
    shape: Shape,
    tile: Option<&str>,
) -> bochner::Result<Option<Timed>> {
    if let Some(gpu) = device.as_gpu() {
        tuning::force(gpu, tile)?;
    }
    let mut prepared = Prepared::new(device, op, shape)?;
    // Parts of the depth follow the name of the form for few rows.
    let taken = prepared.tile();
    let taken = taken.split('/').next().unwrap_or_default();
    if tile.is_some_and(|tile| tile != taken) {
        return Ok(None);
    }
    bench.prepared(&mut prepared, op, shape).map(Some)
}

impl Args {
    /// The tile shapes to run with in turn; `None` stands for the device's own choice.
    fn tiles(&self, device: &Device) -> Result<Vec<Option<&'static str>>> {
        let names = tuning::names();
        if !self.tiles && self.tile.is_none() {
            return Ok(vec![None]);
        }
        if device.as_gpu().is_none() {
            return Err(Usage("the CPU has no tile shapes; use --device with a GPU".into()).into());
        }
        let Some(wanted) = &self.tile else {
            return Ok(names.into_iter().map(Some).collect());
        };
        match names.iter().find(|name| *name == wanted) {
            Some(name) => Ok(vec![Some(name)]),
            None => Err(Usage(format!(
                "there is no tile {wanted:?}; there are: {}",
                names.join(", ")
            ))
            .into()),
        }
    }

    /// The ops asked for.
    fn ops(&self) -> Result<Vec<&'static OpBench>> {
        if [self.rows, self.dim, self.features].contains(&Some(0)) {
            return Err(Usage("--rows, --dim and --features must be positive".into()).into());
        }
        if self.dim.is_some() && self.features.is_none() && !self.crossing {
            return Err(Usage("--dim needs --features".into()).into());
        }
        if self.crossing && self.features.is_some_and(|features| features % 2 == 1) {
            return Err(Usage("--crossing pairs features; use an even --features".into()).into());
        }
        match &self.op {
            None => Ok(registry::benches().collect()),
            Some(name) => match registry::bench(name) {
                Ok(op) => Ok(vec![op]),
                Err(error) => Err(Usage(flags::explain(&error)).into()),
            },
        }
    }
}

/// The results: a table that grows line by line, or one JSON object at the end.
struct Page {
    as_json: bool,
    object: serde_json::Map<String, Value>,
    cases: Vec<Value>,
    skipped: Vec<Value>,
}

impl Page {
    fn new(as_json: bool, device: &Device) -> Self {
        let mut object = serde_json::Map::new();
        object.insert("device".into(), device.describe().into());
        Self {
            as_json,
            object,
            cases: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// The tile shapes that were measured to be best, in this process or an earlier one.
    fn tuned(&mut self, device: &Device) {
        let Some(gpu) = device.as_gpu() else { return };
        let chosen = registry::chosen(gpu).into_iter();
        let chosen = chosen.map(|(class, tile)| (class, Value::from(tile)));
        self.object
            .insert("tuned".into(), Value::Object(chosen.collect()));
    }

    fn ceilings(&mut self, c: &Ceilings) -> Result<()> {
        let giga = |v: f64| v / 1e9;
        let copies = c.copies.iter();
        let copies: Vec<Value> = copies
            .map(|&(bytes, rate)| json!({"bytes": bytes, "gb_per_second": giga(rate)}))
            .collect();
        self.object.insert(
            "ceilings".into(),
            json!({
                "copy_gb_per_second": giga(c.copy_bytes_per_second()),
                "copies": copies,
                "gflop_per_second": giga(c.flops_per_second),
                "upload_gb_per_second": c.upload_bytes_per_second.map(giga),
                "download_gb_per_second": c.download_bytes_per_second.map(giga),
                "dispatch_seconds": c.dispatch_seconds,
                "round_trip_seconds": c.round_trip_seconds,
                "clock": c.clock.to_string(),
            }),
        );
        if self.as_json {
            return Ok(());
        }
        let mut text = format!(
            "device      {}\n",
            self.object["device"].as_str().unwrap_or("")
        );
        let mut line = |label: &str, value: String| {
            text.push_str(&format!("{label:<11} {value}\n"));
        };
        let rates = c.copies.iter();
        let rates =
            rates.map(|&(bytes, rate)| format!("{:.1} ({:.0} MB)", giga(rate), bytes / 1e6));
        let rates = rates.collect::<Vec<_>>().join(", ");
        line(
            "copy",
            format!("{rates} GB/s, read and written, by {}", c.clock),
        );
        line(
            "arithmetic",
            format!(
                "{:.1} GFLOP/s of f32 multiply-adds",
                giga(c.flops_per_second)
            ),
        );
        for (label, rate) in [
            ("upload", c.upload_bytes_per_second),
            ("download", c.download_bytes_per_second),
        ] {
            if let Some(rate) = rate {
                line(label, format!("{:.2} GB/s", giga(rate)));
            }
        }
        let trip = duration(c.round_trip_seconds);
        match c.dispatch_seconds {
            Some(each) => line(
                "dispatch",
                format!("{} among many, {trip} alone with the wait", duration(each)),
            ),
            None => line("wake-up", format!("{trip} for all threads")),
        }
        if let Some(Value::Object(tuned)) = self.object.get("tuned") {
            let each = tuned
                .iter()
                .map(|(class, tile)| format!("{class}: {}", tile.as_str().unwrap_or("")));
            line(
                "tuned",
                if tuned.is_empty() {
                    "nothing yet; bochner bench --tune does".into()
                } else {
                    each.collect::<Vec<_>>().join(", ")
                },
            );
        }
        text.push_str(&format!(
            "\n{:<18} {:<22} {:<16} {:>9} {:>9} {:>5} {:>15} {:>6} {:>9}\n",
            "op", "shape", "tile", "median", "min", "runs", "rate", "share", "error"
        ));
        report::to_stdout(&text)
    }

    fn case(&mut self, timed: &Timed, ceilings: &Ceilings) -> Result<()> {
        let (bound, share) = timed.share(ceilings);
        let median = timed.sample.median();
        let (gflops, gbytes) = (
            timed.work.flops / median / 1e9,
            timed.work.bytes / median / 1e9,
        );
        self.cases.push(json!({
            "op": timed.op,
            "rows": timed.shape.rows,
            "dim": timed.shape.dim,
            "features": timed.shape.features,
            "tile": timed.tile,
            "blocks": timed.blocks,
            "median_seconds": median,
            "min_seconds": timed.sample.min(),
            "p90_seconds": timed.sample.p90(),
            "runs": timed.sample.repetitions(),
            "clock": timed.sample.clock.to_string(),
            "gflop_per_second": gflops,
            "gb_per_second": gbytes,
            "bound": match bound { BoundBy::Arithmetic => "arithmetic", BoundBy::Memory => "copy" },
            "share": share,
            "error": json(timed.error),
        }));
        if self.as_json {
            return Ok(());
        }
        let rate = match bound {
            BoundBy::Arithmetic => format!("{gflops:.1} GFLOP/s"),
            BoundBy::Memory => format!("{gbytes:.1} GB/s"),
        };
        report::to_stdout(&format!(
            "{:<18} {:<22} {:<16} {:>9} {:>9} {:>5} {:>15} {:>5.0}% {:>9.1e}\n",
            timed.op,
            timed.shape.to_string(),
            timed.tile,
            duration(median),
            duration(timed.sample.min()),
            timed.sample.repetitions(),
            rate,
            100.0 * share,
            timed.error
        ))
    }

    fn skipped(&mut self, op: &str, shape: Shape, error: &Error) -> Result<()> {
        let why = report::one_line(&flags::explain(error));
        self.skipped.push(json!({
            "op": op,
            "rows": shape.rows,
            "dim": shape.dim,
            "features": shape.features,
            "reason": why,
        }));
        if self.as_json {
            Ok(())
        } else {
            report::to_stdout(&format!(
                "{op:<18} {:<22} skipped: {why}\n",
                shape.to_string()
            ))
        }
    }

    /// All numbers, which programs get on stdout.
    fn finish(mut self) -> Result<serde_json::Map<String, Value>> {
        self.object.insert("cases".into(), self.cases.into());
        self.object.insert("skipped".into(), self.skipped.into());
        if self.as_json {
            report::to_stdout(&format!("{}\n", Value::Object(self.object.clone())))?;
        }
        Ok(self.object)
    }
}

/// `1.23 ms` and the like.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
