//! Map options: from arguments to a [`MapSpec`], and to a map once the data is known.

mod built;
mod columns;
mod kernel;
mod landmark_kernel;
mod tuning;

pub(crate) use built::{BuiltMap, note, selected};
pub(crate) use kernel::{KernelArgs, Scale, hint};
pub(crate) use tuning::{Drawing, MapOption, TuningArgs};

use crate::args::whole;
use crate::flags;
use crate::report::{Console, Usage};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{ChunkSource, Survey},
    features::{Form, MapBuilder, MapKind, MapSpec, ScaledKernel, Selection, Standardize},
    job::DrawnMap,
    sampling::Sampling,
};
use clap::Args;
use ndarray::Array2;

/// A number of features, or a rule of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeaturesOption {
    Number(usize),
    RudiRosasco,
    Auto,
}

fn features_option(text: &str) -> std::result::Result<FeaturesOption, String> {
    match text {
        "rudi-rosasco" => Ok(FeaturesOption::RudiRosasco),
        "auto" => Ok(FeaturesOption::Auto),
        _ => whole::<usize>(text).map(FeaturesOption::Number),
    }
}

/// Which feature map.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Map options")]
pub(crate) struct MapArgs {
    /// Feature map: fourier, fastfood, sorf, nystrom, binning and others
    ///
    /// fourier, fastfood, sorf, arc-cosine, nystrom, binning, projection, tensor-sketch,
    /// hadamard-sketch, skewed-chi2, additive-chi2, identity or none (the columns themselves),
    /// precomputed (columns that are kernel values), or several side by side: binning+fourier,
    /// 0.3*binning:200+0.7*fourier (weight, map, features); `auto` times fourier, fastfood and
    /// sorf, those that serve the kernel, on the device and takes the cheapest [default: fourier;
    /// nystrom of spectral and spectral-clustering; identity of ica]
    #[arg(long, value_name = "MAP")]
    map: Option<MapOption>,
    /// Number of features; usually 1000
    ///
    /// They are real output columns: for nystrom the landmarks, chosen among ten times as many
    /// sampled rows (at least 2,000, at most 20,000), for binning the grids, for additive-chi2 at
    /// most so many; maps side by side share them evenly; of `fit --model ridge` also
    /// `rudi-rosasco`: sqrt(n) ln n for n rows, with the penalty 1 / sqrt(n) unless one is given
    /// or searched for, and `auto`: as many as --kernel-error or --accuracy-loss ask for [default:
    /// 1000, with --auto 2000, of density 4096, of spectral and spectral-clustering 500 or all
    /// rows]
    #[arg(long, value_name = "D", value_parser = features_option)]
    features: Option<FeaturesOption>,
    /// `paired` (cosine and sine of D/2 frequencies) or `phase` (cosine with a random phase of D);
    /// fourier, fastfood, sorf, skewed-chi2 [default: paired]
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// How frequencies are drawn: monte-carlo, orthogonal, halton, sobol, lattice, digital-net, for
    /// fourier leverage, for arc-cosine antithetic, and auto: lattice of densities in few columns,
    /// else monte-carlo [default: auto]
    #[arg(long, value_name = "SAMPLING")]
    sampling: Option<Drawing>,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    tuning: TuningArgs,
    /// D of what is fitted, where none is given.
    #[arg(skip)]
    pub(crate) usual: Option<usize>,
    /// The map of what is fitted, where none is given.
    #[arg(skip)]
    pub(crate) usual_map: Option<MapKind>,
}

impl MapArgs {
    /// The map, but for the data; what `auto` takes is not known yet.
    pub(crate) fn spec(&self) -> MapSpec {
        let map = self.map().named();
        self.tuning.spec(
            map.clone(),
            self.kernel.kernel_of(&map),
            self.count(),
            self.form.unwrap_or_default(),
            self.drawing(),
            self.kernel.seed,
        )
    }

    /// D.
    fn count(&self) -> usize {
        match self.features {
            Some(FeaturesOption::Number(features)) => features,
            _ => self.usual.unwrap_or(1000),
        }
    }

    /// Where nobody gave a number of landmarks, no more than there are rows.
    pub(crate) fn no_more_than(&mut self, rows: u64) {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        if self.map() == MapOption::Named(MapKind::Nystrom.into()) {
            self.usual = self.usual.map(|usual| usual.min(rows));
        }
    }

    /// Whether D, or a way to choose it, is given.
    pub(crate) fn is_count_given(&self) -> bool {
        self.features.is_some()
    }

    /// Whether D goes by the number of rows.
    pub(crate) fn is_by_rows(&self) -> bool {
        self.features == Some(FeaturesOption::RudiRosasco)
    }

    /// Whether D is chosen by an error.
    pub(crate) fn is_by_error(&self) -> bool {
        self.features == Some(FeaturesOption::Auto)
    }

    fn map(&self) -> MapOption {
        let usual = self.usual_map.unwrap_or(MapKind::Fourier);
        let default = || MapOption::Named(usual.into());
        self.map.clone().unwrap_or_else(default)
    }

    fn drawing(&self) -> Drawing {
        let default = Drawing::Plain(Sampling::default());
        self.sampling.unwrap_or(default)
    }

    /// The spec, unless it has errors that need no data; options without effect are noted.
    pub(crate) fn check(&self, console: &Console) -> Result<MapSpec> {
        self.kernel.refuse_auto()?;
        if self.is_by_rows() {
            let problem = "--features rudi-rosasco is for `fit --model ridge`, whose training rows \
                it counts; give a number";
            return Err(Usage(problem.into()).into());
        }
        if self.is_by_error() {
            let problem = "--features auto is for `fit --model ridge`, where an error says what is \
                enough; give a number";
            return Err(Usage(problem.into()).into());
        }
        self.check_searched(console)
    }

    /// As [`Self::check`], where a kernel or a bandwidth may be chosen.
    pub(crate) fn check_searched(&self, console: &Console) -> Result<MapSpec> {
        let spec = self.spec();
        self.kernel.check(spec.kernel.as_ref())?;
        spec.check().map_err(|error| match error {
            Error::Parameter(_) => Usage(format!("--features: {}", flags::explain(&error))),
            _ => Usage(flags::explain(&error)),
        })?;
        let map = &spec.map;
        let kinds = || map.parts().iter().map(|part| part.kind);
        let leverage = self.drawing() == Drawing::Leverage;
        if leverage && !map.has(MapKind::Fourier) {
            let problem = "--sampling leverage resamples Fourier features; use --map fourier";
            return Err(Usage(problem.into()).into());
        }
        let auto = self.map() == MapOption::Auto;
        let mut idle = self.tuning.idle(map, leverage);
        // It may come to be SORF.
        idle.retain(|&option| !(auto && option == "--sorf-radii"));
        if self.form.is_some() && !kinds().any(MapKind::takes_form) {
            idle.push("--form");
        }
        if self.sampling.is_some() && !kinds().any(MapKind::takes_sampling) {
            idle.push("--sampling");
        }
        if self.features.is_some() && !kinds().any(MapKind::takes_features) {
            idle.push("--features");
        }
        if !idle.is_empty() {
            let idle = idle.join(", ");
            console.note(&format!("no effect with --map {map}: {idle}"));
        }
        Ok(spec)
    }

    /// Whether [`Self::build`] needs a survey.
    pub(crate) fn needs_survey(&self) -> bool {
        self.kernel.needs_survey() || self.spec().sample_rows() > 0
    }

    /// Reads the source once.
    pub(crate) fn survey(
        &self,
        source: &mut dyn ChunkSource,
        console: &Console,
    ) -> Result<(Survey, f64)> {
        self.survey_at_least(0, source, console)
    }

    /// As [`Self::survey`], with at least so many sampled rows if there are as many.
    pub(crate) fn survey_at_least(
        &self,
        rows: usize,
        source: &mut dyn ChunkSource,
        console: &Console,
    ) -> Result<(Survey, f64)> {
        self.kernel
            .survey(source, self.sample_rows().max(rows), console)
    }

    /// How many rows a survey samples for the bandwidth and the map.
    pub(crate) fn sample_rows(&self) -> usize {
        self.kernel.sample_rows().max(self.spec().sample_rows())
    }

    /// The map, `auto` resolved.
    pub(crate) fn chosen(
        &self,
        columns: usize,
        run: &Run,
        console: &Console,
    ) -> Result<(MapSpec, Option<Selection>)> {
        let mut spec = self.spec();
        let mut selection = None;
        if self.map() == MapOption::Auto {
            let found = spec.select(columns, &run.device)?;
            note(&found, console);
            spec.map = found.kind.into();
            selection = Some(found);
        }
        Ok((spec, selection))
    }

    /// Whether a map is named.
    pub(crate) fn is_map_given(&self) -> bool {
        self.map.is_some()
    }

    /// Whether it is said how frequencies are drawn.
    pub(crate) fn is_sampling_given(&self) -> bool {
        self.sampling.is_some()
    }

    /// Draws the map; binning reads the source once more. `otherwise` is for who did not say
    /// whether to standardise.
    pub(crate) fn build(
        &self,
        source: &mut dyn ChunkSource,
        survey: Option<&Survey>,
        run: &Run,
        console: &Console,
        otherwise: Standardize,
    ) -> Result<(BuiltMap, f64)> {
        let columns = source.columns();
        let (spec, selection) = self.chosen(columns, run, console)?;
        let scale = self.kernel.scale(
            spec.kernel.as_ref(),
            spec.is_shift_invariant(),
            columns,
            survey,
            otherwise,
        )?;
        scale.hint(console);
        let none = Array2::zeros((0, columns));
        let sample = survey.map_or(&none, |survey| &survey.sample);
        let bar = console.bar("map", survey.map(|survey| survey.rows));
        let (map, seconds) = console.timed(|| {
            let run = run.clone().progress(bar.follow());
            spec.build(scale.input.clone(), sample, source, run)
        })?;
        console.detail(&format!("map: {}", map.describe()));
        let kernel = spec.kernel.clone();
        let input = scale.input.clone();
        let built = BuiltMap {
            drawn: DrawnMap {
                map,
                kernel: Some(ScaledKernel { kernel, input }),
            },
            kernel: spec.kernel,
            scale,
            selection,
            choice: Some(spec.map),
        };
        Ok((built, seconds))
    }
}
