//! `bochner bench`: what a device can do, and how near every op comes to it.

mod check;
mod crossing;
mod results;
mod serve;
mod tune;

use crate::{
    args::{DeviceArgs, at_least_one, named, positive},
    flags,
    interrupt::writing,
    page,
    report::{Console, OutputArgs, Report, Usage},
};
use anyhow::Result;
use bochner::{
    Device, Error,
    bench::{Bench, Ceilings, OpBench, Prepared, Shape, Size, Timed},
    data::AtomicFile,
    form::tuning,
    registry,
};
use results::Results;
use serde_json::Value;
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
    #[arg(long, value_name = "FILE.html", value_parser = named())]
    #[arg(conflicts_with_all = ["tune", "check", "crossing", "serve"])]
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
    let object = args.measure(&bench, &device, size, &ops, &tiles)?;
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
    /// Measures the ceilings, and every op at its shapes with each tile.
    fn measure(
        &self,
        bench: &Bench,
        device: &Device,
        size: Size,
        ops: &[&'static OpBench],
        tiles: &[Option<&str>],
    ) -> Result<serde_json::Map<String, Value>> {
        let mut results = Results::new(self.output.json, device);
        results.tuned(device);
        let ceilings = Ceilings::measure(device, self.seconds.unwrap_or(CEILING_SECONDS))?;
        results.ceilings(&ceilings)?;
        for &op in ops {
            if op.host_only && device.as_cpu().is_none() && self.op.is_none() {
                continue;
            }
            for shape in self.shapes(op, size) {
                for &tile in tiles {
                    match case(bench, device, op, shape, tile) {
                        Ok(Some(timed)) => results.case(&timed, &ceilings)?,
                        Ok(None) => {}
                        Err(
                            error @ (Error::Unsupported(_)
                            | Error::Limit { .. }
                            | Error::OutOfMemory { .. }),
                        ) => results.skipped(op.name, shape, &error)?,
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
        results.finish()
    }

    /// The shapes of an op: the usual ones, or the one asked for.
    fn shapes(&self, op: &OpBench, size: Size) -> Vec<Shape> {
        match self.features {
            None => op.shapes(size).collect(),
            Some(features) => {
                vec![op.shape(self.rows.unwrap_or(8192), self.dim.unwrap_or(784), features)]
            }
        }
    }

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
