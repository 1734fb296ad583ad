//! `bochner kernel-error`: how close maps come to the exact kernel.

use crate::{
    args::{DataArgs, RunArgs, at_least_one},
    flags,
    map::{self, Drawing, KernelArgs, MapOption, TuningArgs},
    outputs::keep_apart,
    page::head,
    report::{Console, Report, Usage, Value, counted},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    analysis::{ErrorSummary, ExactKernel},
    data::{MemorySource, Rows, TargetUse},
    features::{Affine, Form, MapKind, MapSpec, Radii, Standardize},
    kernels::Kernel,
    sampling::Sampling,
};
use ndarray::{Array2, Axis};
use serde_json::json;
use std::{fmt::Write, path::PathBuf, sync::Arc};

/// Arguments of `bochner kernel-error`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner kernel-error data/digits.csv --target label --sigma median \
     --features 100,800 --map all"
)]
pub(crate) struct Args {
    /// Rows to compare on; target columns are left out
    input: PathBuf,
    /// Rows sampled from the input; time and memory grow with their square
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one)]
    rows: usize,
    /// Seeds to draw every map from: --seed and those after it
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = at_least_one)]
    seeds: usize,
    /// Numbers of features in a comma list; landmarks for nystrom, grids for binning
    #[arg(
        long,
        value_name = "D,...",
        value_delimiter = ',',
        default_value = "100,800"
    )]
    #[arg(value_parser = at_least_one)]
    features: Vec<usize>,
    /// Maps in a comma list, spelled as for `fit`, `auto` too, or `all` that go with the kernel
    #[arg(long, value_name = "MAP,...", default_value = "all")]
    map: Listed<MapOption>,
    /// Samplings in a comma list, or `all` that go with the kernel; for fourier and arc-cosine
    #[arg(long, value_name = "SAMPLING,...", default_value = "all")]
    sampling: Listed<Drawing>,
    /// `paired` or `phase` [default: paired, and for fourier by monte-carlo both]
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    tuning: TuningArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Some by name, or all.
#[derive(Debug, Clone)]
enum Listed<T> {
    All,
    Some(Vec<T>),
}

impl<T: std::str::FromStr> std::str::FromStr for Listed<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        match text.trim() {
            "all" => Ok(Self::All),
            list => Ok(Self::Some(
                list.split(',').map(str::parse).collect::<Result<_, _>>()?,
            )),
        }
    }
}

/// Kernel matrices of more rows do not fit common machines.
const MOST_ROWS: usize = 20_000;

/// One line of the table.
struct Line {
    label: String,
    spec: MapSpec,
    /// Whether the map is chosen for each number of features.
    auto: bool,
}

impl Args {
    /// Every map in every sampling and form asked for, but those that cannot serve the kernel where
    /// all were asked for, whose labels come second.
    fn lines(&self, kernel: &Arc<dyn Kernel>) -> Result<(Vec<Line>, Vec<String>)> {
        let maps: Vec<MapOption> = match &self.map {
            // What draws nothing has no error of its own.
            Listed::All => MapKind::ALL
                .into_iter()
                .filter(|kind| kind.takes_features())
                .map(|kind| MapOption::Named(kind.into()))
                .collect(),
            Listed::Some(maps) => maps.clone(),
        };
        let drawings: Vec<Drawing> = match &self.sampling {
            Listed::All => Sampling::all()
                .map(Drawing::Plain)
                .chain([Drawing::Leverage])
                .collect(),
            Listed::Some(drawings) => drawings.clone(),
        };
        let monte_carlo = Drawing::Plain(Sampling::MonteCarlo);
        let mut lines = Vec::new();
        for option in &maps {
            let auto = *option == MapOption::Auto;
            let map = &option.named();
            let takes = |what: fn(MapKind) -> bool| map.parts().iter().any(|part| what(part.kind));
            let sampled = takes(MapKind::takes_sampling) && !auto;
            // Another sampling would leave nothing to choose.
            let drawings = if sampled {
                drawings.as_slice()
            } else {
                &[monte_carlo]
            };
            for &drawing in drawings {
                if drawing == Drawing::Leverage && !map.has(MapKind::Fourier) {
                    continue;
                }
                let forms: &[Form] = match self.form {
                    Some(Form::Paired) => &[Form::Paired],
                    Some(Form::Phase) => &[Form::Phase],
                    None if drawing == monte_carlo && !auto && *map == MapKind::Fourier.into() => {
                        &[Form::Paired, Form::Phase]
                    }
                    None => &[Form::Paired],
                };
                let forms = if takes(MapKind::takes_form) {
                    forms
                } else {
                    &[Form::Paired]
                };
                for &form in forms {
                    let seed = self.kernel.seed;
                    let (map, kernel) = (map.clone(), kernel.clone());
                    let spec = self.tuning.spec(map, kernel, 0, form, drawing, seed);
                    let label = if auto {
                        format!("auto, {form}")
                    } else {
                        label(&spec, sampled.then_some(drawing))
                    };
                    lines.push(Line { label, spec, auto });
                }
            }
        }
        self.usable(lines)
    }

    /// Splits off the lines that the kernel rules out; an error where nothing is left of what was
    /// asked for by name.
    fn usable(&self, lines: Vec<Line>) -> Result<(Vec<Line>, Vec<String>)> {
        let (mut usable, mut left_out) = (Vec::<Line>::new(), Vec::new());
        for line in lines {
            let problem = self.features.iter().find_map(|&features| {
                let spec = MapSpec {
                    features,
                    ..line.spec.clone()
                };
                spec.check().err()
            });
            match problem {
                None => usable.push(line),
                Some(error @ Error::Parameter(_)) => {
                    let problem = flags::explain(&error);
                    return Err(Usage(format!("--features: {problem}")).into());
                }
                Some(error) => left_out.push((line, error)),
            }
        }
        let mut names: Vec<String> = Vec::new();
        for (line, error) in left_out {
            let others = usable.iter().any(|other| other.spec.map == line.spec.map);
            let asked = if others {
                matches!(self.sampling, Listed::Some(_))
            } else {
                matches!(self.map, Listed::Some(_))
            };
            if asked {
                return Err(Usage(flags::explain(&error)).into());
            }
            let name = if others {
                line.label
            } else {
                line.spec.map.to_string()
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok((usable, names))
    }
}

fn label(spec: &MapSpec, drawing: Option<Drawing>) -> String {
    let mut label = spec.map.to_string();
    let has = |kind| spec.map.has(kind);
    if let Some(drawing) = drawing {
        let _ = write!(label, ", {drawing}");
    }
    if spec.map.parts().iter().any(|part| part.kind.takes_form()) {
        let _ = write!(label, ", {}", spec.form);
    }
    if has(MapKind::Sorf) && spec.radii == Radii::Constant {
        let _ = write!(label, ", {} radii", spec.radii);
    }
    if has(MapKind::Nystrom) {
        let _ = write!(label, ", {}", spec.landmarks);
    }
    label
}

/// Samples rows, computes the exact kernel once, and compares.
pub(crate) fn run(args: &Args) -> Result<()> {
    let read = [Some(args.input.as_path()), args.data.targets()];
    keep_apart([args.run.page()], read)?;
    let console = args.run.start()?;
    let mut report = Report::default();
    if args.rows < 2 || args.rows > MOST_ROWS {
        let problem = format!("--rows {}: use 2 to {MOST_ROWS}", args.rows);
        return Err(Usage(problem).into());
    }
    let first = match &args.map {
        Listed::Some(maps) => maps[0].named(),
        Listed::All => MapKind::Fourier.into(),
    };
    let kernel = args.kernel.kernel_of(&first);
    args.kernel.refuse_auto()?;
    args.kernel.check(kernel.as_ref())?;
    let (lines, left_out) = args.lines(&kernel)?;
    let mut source = args.data.open(&args.input, TargetUse::Ignored)?;
    let run = args.run.open(&console)?;
    if !left_out.is_empty() {
        let spec = kernel.spec();
        console.note(&format!(
            "left out, because they cannot serve the kernel {spec}: {}",
            left_out.join("; ")
        ));
    }

    let sample = args.rows.max(args.kernel.sample_rows());
    let (survey, seconds) = args.kernel.survey(&mut source, sample, &console)?;
    report.seconds("survey", seconds);
    let scale = args.kernel.scale(
        (kernel.as_ref(), kernel.is_shift_invariant()),
        source.columns(),
        Some(&survey),
        Standardize::No,
    )?;
    scale.hint(&console);
    let rows = spread(&survey.sample, args.rows);
    if rows.nrows() < args.rows {
        let there = counted(rows.nrows() as u64, "row");
        console.note(&format!("the data has {there} only"));
    }
    let (exact, seconds) =
        console.timed(|| ExactKernel::new(kernel.as_ref(), &scale.input, &Rows::from(&rows)))?;
    report.seconds("exact", seconds);

    let comparison = Comparison {
        args,
        exact,
        rows,
        input: scale.input.clone(),
        run: &run,
    };
    report.set("rows", comparison.rows.nrows());
    report.set("seeds", args.seeds);
    report.line(
        "compared",
        format!(
            "Z Z' with the exact {} kernel on {}; mean and standard deviation over seeds, {} in \
             all",
            kernel.spec(),
            counted(comparison.rows.nrows() as u64, "row"),
            args.seeds
        ),
    );
    args.kernel.describe(kernel.as_ref(), &scale, &mut report);
    report.device(&run.device);
    let ((results, table), seconds) = console.timed(|| comparison.run(&lines, &console))?;
    report.seconds("compare", seconds);
    report.set("results", results);
    report.table(table);
    report.about("data", head::file(&args.input));
    args.run.print(&report)
}

/// `count` rows spread evenly over a sample.
fn spread(sample: &Array2<f64>, count: usize) -> Array2<f64> {
    let (rows, taken) = (sample.nrows(), count.min(sample.nrows()));
    let places: Vec<usize> = (0..taken).map(|i| i * rows / taken).collect();
    sample.select(Axis(0), &places)
}

struct Comparison<'a> {
    args: &'a Args,
    exact: ExactKernel,
    rows: Array2<f64>,
    input: Affine,
    run: &'a Run,
}

impl Comparison<'_> {
    /// The results of all lines, for programs and for people.
    fn run(&self, lines: &[Line], console: &Console) -> Result<(Vec<Value>, String)> {
        let sizes = &self.args.features;
        let all = matches!(self.args.map, Listed::All);
        let mut results = Vec::new();
        let width = lines.iter().map(|line| line.label.len()).max().unwrap_or(0);
        let mut table = format!(
            "\n{:width$}  {:>6}  {:^17}  {:^17}  {:^17}\n",
            "map", "D", "rel. Frobenius", "rel. spectral", "largest entry"
        );
        let steps = (lines.len() * sizes.len() * self.args.seeds) as u64;
        let bar = console.steps("compare", Some(steps));
        let mut done = 0;
        for Line { label, spec, auto } in lines {
            for &features in sizes {
                let mut spec = MapSpec {
                    features,
                    ..spec.clone()
                };
                let mut selection = None;
                if *auto {
                    let found = spec.select(self.rows.ncols(), &self.run.device)?;
                    bar.above(|| map::note(&found, console));
                    spec.map = found.kind.into();
                    selection = Some(map::selected(&found));
                }
                bar.say(format!("{label}, D = {features}"));
                let mut step = || {
                    done += 1;
                    bar.set_position(done);
                };
                let few = spec.map.has(MapKind::Nystrom) && features > self.rows.nrows();
                let summary = match self.summary(&spec, &mut step) {
                    Ok(summary) => summary,
                    Err(error @ Error::Unsupported(_)) if all => {
                        let why = flags::explain(&error);
                        bar.above(|| console.note(&format!("left out: {label}: {why}")));
                        continue;
                    }
                    Err(error) if all && few => {
                        let why = flags::explain(&error);
                        bar.above(|| console.note(&format!("left out: {label}: {why}")));
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                };
                let (mean, spread) = (summary.mean(), summary.spread());
                let pair = |mean: f64, spread: f64| json!({"mean": mean, "spread": spread});
                results.push(json!({
                    "map": spec.map.to_string(),
                    "label": label,
                    "auto": selection,
                    "features": features,
                    "frobenius": pair(mean.frobenius, spread.frobenius),
                    "spectral": pair(mean.spectral, spread.spectral),
                    "largest": pair(mean.largest, spread.largest),
                }));
                let _ = write!(table, "{label:width$}  {features:>6}");
                for (mean, spread) in [
                    (mean.frobenius, spread.frobenius),
                    (mean.spectral, spread.spectral),
                    (mean.largest, spread.largest),
                ] {
                    let _ = write!(
                        table,
                        "  {:>17}",
                        format!("{} ± {}", short(mean), short(spread))
                    );
                }
                table.push('\n');
            }
        }
        Ok((results, table))
    }

    fn summary(&self, spec: &MapSpec, step: &mut dyn FnMut()) -> bochner::Result<ErrorSummary> {
        let mut source = MemorySource::new(&self.rows, None)?;
        let mut runs = Vec::with_capacity(self.args.seeds);
        for i in 0..self.args.seeds {
            let mut spec = spec.clone();
            spec.seed.0 = spec.seed.0.wrapping_add(i as u64);
            let map = spec.build(self.input.clone(), &self.rows, &mut source, self.run)?;
            runs.push(self.exact.error(map.as_ref(), self.run)?);
            step();
        }
        Ok(ErrorSummary { runs })
    }
}

/// Four decimals where they say enough.
fn short(value: f64) -> String {
    match value.abs() {
        // Rounding of runs that are all alike.
        ..1e-12 => "0".into(),
        1e-3..1e4 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}
