//! Which kernel, on what scale, from which seed.

use crate::args::whole;
use crate::flags;
use crate::report::{Console, Report, Usage, Value, json, six_digits};
use anyhow::Result;
use bochner::{
    data::{ChunkSource, Survey},
    features::{Affine, Bandwidth, MapChoice, MapKind, Scaling, Standardize},
    kernels::{self, Kernel},
};
use clap::Args;
use std::sync::Arc;

/// Which kernel, on what scale, and the seed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Map options")]
pub(crate) struct KernelArgs {
    /// Kernel: gaussian, laplacian, matern52, linear and others
    ///
    /// gaussian, laplacian, exponential, matern32, matern52, cauchy, rational-quadratic,
    /// arc-cosine:ORDER, linear, polynomial:DEGREE:CONSTANT, additive-chi2,
    /// skewed-chi2:SKEWEDNESS; an unknown name lists all; of `fit` also `auto`, the best of five on
    /// rows held out [default: gaussian; laplacian with binning, arc-cosine:1 with arc-cosine,
    /// linear with projection and identity, polynomial:2:1 with tensor-sketch and hadamard-sketch,
    /// skewed-chi2:1, additive-chi2]
    #[arg(long, value_name = "KERNEL", value_parser = kernel_option)]
    kernel: Option<KernelOption>,
    /// Gamma of the kernel's formula, exp(-gamma |x-y|^2) for the Gaussian: a number, `median`,
    /// `scale`, for graphs `neighbours`, for densities `scott` or `silverman`, or of `fit`
    /// `chosen`: with the preparation of columns, by leave-one-out errors of at most 512 rows
    /// [default: chosen of fit with targets, else scale; scott of density; neighbours of spectral
    /// and spectral-clustering]
    #[arg(
        long,
        value_name = "G",
        conflicts_with = "sigma",
        allow_hyphen_values = true
    )]
    #[arg(value_parser = Bandwidth::from_gamma)]
    gamma: Option<Bandwidth>,
    /// Lengthscale of the kernel: a number, one for each column, or a rule
    ///
    /// A number, a comma list with one for each column, or a rule as with --gamma; of `fit` also
    /// `auto`, the best on rows held out.
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = sigma_option)]
    sigma: Option<SigmaOption>,
    /// The rule of what is fitted, where none of both is given.
    #[arg(skip)]
    pub(crate) rule: Option<Bandwidth>,
    /// Rows that are kept to choose preparation and bandwidth by.
    #[arg(skip)]
    pub(crate) deciding: usize,
    /// What came of a bandwidth that was to be chosen.
    #[arg(skip)]
    settled: Option<Bandwidth>,
    /// Whether nobody said how columns are prepared, before rows chose.
    #[arg(skip)]
    unasked: bool,
    /// Seed of frequencies, splits and samples of rows
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    pub(crate) seed: u64,
    /// Divide columns by their standard deviations: yes, no, auto
    ///
    /// Columns are centred, too, by what the training rows have. `auto` does so if scales are
    /// mixed, and leaves binary columns; alone it means yes. `range` divides by ranges; `robust`
    /// goes by median and quartiles and pulls in what is far from there, and `rank` takes normal
    /// scores of ranks: both leave columns of two values [default: auto for fit, else no]
    #[arg(
        long,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes"
    )]
    standardize: Option<Standardize>,
}

/// A kernel, or what is chosen by rows held out.
#[derive(Debug, Clone)]
enum KernelOption {
    Auto,
    Named(Arc<dyn Kernel>),
}

fn or_gaussian(kernel: bochner::Result<impl Kernel + 'static>) -> Arc<dyn Kernel> {
    match kernel {
        Ok(kernel) => Arc::new(kernel),
        Err(_) => Arc::new(kernels::Gaussian),
    }
}

fn kernel_option(text: &str) -> std::result::Result<KernelOption, bochner::Error> {
    match text {
        "auto" => Ok(KernelOption::Auto),
        _ => Ok(KernelOption::Named(kernels::parse(text)?)),
    }
}

/// A lengthscale, or what is chosen by rows held out.
#[derive(Debug, Clone)]
enum SigmaOption {
    Auto,
    Given(Bandwidth),
}

fn sigma_option(text: &str) -> std::result::Result<SigmaOption, bochner::Error> {
    match text {
        "auto" => Ok(SigmaOption::Auto),
        _ => Ok(SigmaOption::Given(Bandwidth::from_sigma(text)?)),
    }
}

/// The scale of the columns, resolved.
#[derive(Debug)]
pub(crate) struct Scale {
    pub(crate) input: Affine,
    pub(super) lengthscales: Vec<f64>,
    pub(super) gamma: Option<f64>,
    /// `None` without a survey.
    pub(super) scaling: Option<Scaling>,
}

impl KernelArgs {
    /// The kernel given, or what suits the map.
    pub(crate) fn kernel_of(&self, map: &MapChoice) -> Arc<dyn Kernel> {
        let suitable = || -> Arc<dyn Kernel> {
            match () {
                () if map.has(MapKind::ArcCosine) => or_gaussian(kernels::ArcCosineKernel::new(1)),
                () if map.has(MapKind::Binning) => Arc::new(kernels::Laplacian),
                () if map.parts().iter().all(|part| !part.kind.takes_features()) => {
                    Arc::new(kernels::Linear)
                }
                () if map.has(MapKind::Projection) => Arc::new(kernels::Linear),
                () if map.has(MapKind::AdditiveChi2) => Arc::new(kernels::AdditiveChi2),
                () if map.has(MapKind::SkewedChi2) => {
                    or_gaussian(kernels::SkewedChi2Kernel::new(1.0))
                }
                () if map.has(MapKind::TensorSketch) || map.has(MapKind::HadamardSketch) => {
                    or_gaussian(kernels::Polynomial::new(2, 1.0))
                }
                () => Arc::new(kernels::Gaussian),
            }
        };
        match &self.kernel {
            Some(KernelOption::Named(kernel)) => kernel.clone(),
            _ => suitable(),
        }
    }

    /// How wide the kernel is.
    pub(crate) fn bandwidth(&self) -> Bandwidth {
        match (&self.gamma, &self.sigma) {
            _ if self.settled.is_some() => self.settled.clone().unwrap_or(Bandwidth::Scale),
            (Some(given), _) | (None, Some(SigmaOption::Given(given))) => given.clone(),
            _ => self.rule.clone().unwrap_or(Bandwidth::Scale),
        }
    }

    /// Whether the kernel is to be chosen.
    pub(crate) fn is_auto(&self) -> bool {
        matches!(self.kernel, Some(KernelOption::Auto))
    }

    /// Whether the bandwidth is to be chosen.
    pub(crate) fn is_sigma_auto(&self) -> bool {
        matches!(self.sigma, Some(SigmaOption::Auto))
    }

    /// Whether either is.
    pub(crate) fn has_auto(&self) -> bool {
        self.is_auto() || self.is_sigma_auto()
    }

    /// Whether no option names a kernel or a bandwidth.
    pub(crate) fn is_open(&self) -> bool {
        self.kernel.is_none() && self.gamma.is_none() && self.sigma.is_none()
    }

    /// Whether a kernel is named.
    pub(crate) fn is_given(&self) -> bool {
        matches!(self.kernel, Some(KernelOption::Named(_)))
    }

    /// Whether there is a number or a rule for the bandwidth.
    pub(crate) fn is_bandwidth_given(&self) -> bool {
        self.gamma.is_some() || matches!(self.sigma, Some(SigmaOption::Given(_)))
    }

    /// Errors where a kernel or a bandwidth is to be chosen: `fit` alone has targets for that.
    pub(crate) fn refuse_auto(&self) -> Result<()> {
        if self.has_auto() {
            let problem = "--kernel auto and --sigma auto are for `fit` with --model ridge, \
                    which chooses by its targets; name them here";
            Err(Usage(problem.into()).into())
        } else {
            Ok(())
        }
    }

    /// Has columns left as they are.
    pub(super) fn leave_columns(&mut self) {
        self.standardize = Some(Standardize::No);
    }

    /// Takes what was chosen, as though it had been given.
    pub(crate) fn settle_for(&mut self, bandwidth: Bandwidth, standardize: Option<Standardize>) {
        self.settled = Some(bandwidth);
        self.unasked |= self.standardize.is_none();
        self.standardize = standardize.or(self.standardize);
    }

    /// Whether somebody said how columns are prepared.
    pub(crate) fn is_standardize_given(&self) -> bool {
        self.standardize.is_some() && !self.unasked
    }

    /// Whether to standardise, for who said so.
    pub(crate) fn standardize(&self) -> Option<Standardize> {
        self.standardize
    }

    /// Errors of the bandwidth that need no data.
    pub(crate) fn check(&self, kernel: &dyn Kernel) -> Result<()> {
        let fixed = self.bandwidth().fixed(kernel);
        fixed.map_err(|error| Usage(flags::explain(&error)))?;
        Ok(())
    }

    /// Whether [`Self::scale`] needs a survey.
    pub(super) fn needs_survey(&self) -> bool {
        let standardizes = self.standardize.is_some_and(|s| s != Standardize::No);
        standardizes || self.bandwidth().is_rule()
    }

    /// How many rows the survey samples for the bandwidth.
    pub(crate) fn sample_rows(&self) -> usize {
        let bends = self.standardize.map_or(0, Standardize::sample_rows);
        self.bandwidth().sample_rows().max(bends)
    }

    /// Reads the source once.
    pub(crate) fn survey(
        &self,
        source: &mut dyn ChunkSource,
        sample_rows: usize,
        console: &Console,
    ) -> Result<(Survey, f64)> {
        let bar = console.bar("survey", source.rows().map(|rows| rows as u64));
        let rows = (sample_rows, self.deciding);
        console.timed(|| Survey::deciding(source, rows, self.seed, &bar.follow()))
    }

    /// From raw columns to unit lengthscale, centred if the map does not see where they lie.
    /// `otherwise` is for who did not say whether to
    /// standardise.
    pub(crate) fn scale(
        &self,
        kernel: &dyn Kernel,
        centred: bool,
        columns: usize,
        survey: Option<&Survey>,
        otherwise: Standardize,
    ) -> Result<Scale> {
        let bandwidth = self.bandwidth();
        let standardize = self
            .standardize
            .unwrap_or(otherwise)
            .for_bandwidth(&bandwidth);
        let standardize = standardize.within(kernel.domain());
        let scaling = survey.map(|survey| standardize.decide(survey, centred));
        let lengthscales = match (survey.zip(scaling.as_ref()), bandwidth.fixed(kernel)?) {
            (_, Some(fixed)) => fixed,
            (Some((survey, scaling)), None) => bandwidth.lengthscales(kernel, survey, scaling)?,
            (None, None) => unreachable!("a rule needs a survey"),
        };
        let gamma = self.gamma_of(kernel, &lengthscales);
        let input = match &scaling {
            Some(scaling) => scaling.input(&lengthscales)?,
            // One map for whatever file it is given: it must not depend on the rows.
            None => Affine::identity(columns).lengthscales(&lengthscales)?,
        };
        Ok(Scale {
            input,
            lengthscales,
            gamma,
            scaling,
        })
    }

    /// The gamma that is given, or that of one lengthscale.
    pub(super) fn gamma_of(&self, kernel: &dyn Kernel, lengthscales: &[f64]) -> Option<f64> {
        match (self.bandwidth(), lengthscales) {
            (Bandwidth::Gamma(gamma), _) => Some(gamma),
            (_, &[lengthscale]) => kernel.gamma_of_lengthscale(lengthscale),
            _ => None,
        }
    }

    /// What kernel and scale came to.
    pub(crate) fn describe(&self, kernel: &dyn Kernel, scale: &Scale, report: &mut Report) {
        let rule = self.bandwidth();
        let origin = if rule.is_rule() {
            format!(" ({rule})")
        } else {
            String::new()
        };
        if let Some(gamma) = scale.gamma {
            report.line("gamma", format!("{}{origin}", six_digits(gamma)));
        }
        match scale.lengthscales.as_slice() {
            [one] => report.line("lengthscale", format!("{}{origin}", six_digits(*one))),
            all => report.line(
                "lengthscale",
                format!("one for each of {} columns{origin}", all.len()),
            ),
        }
        let lengthscale: Value = match scale.lengthscales.as_slice() {
            &[one] => json(one),
            all => json(all),
        };
        report.set("kernel", kernel.spec());
        report.set("columns", scale.input.columns());
        report.set("bandwidth", rule.to_string());
        report.set("lengthscale", lengthscale);
        report.set("gamma", scale.gamma);
        report.set("standardize", standardized(scale));
        if let Some(scaling) = &scale.scaling
            && scaling.asked() != Standardize::No
        {
            report.line("standardize", scaling.to_string());
        }
        report.set("seed", self.seed);
    }
}

impl Scale {
    /// As [`hint`].
    pub(crate) fn hint(&self, console: &Console) {
        if let Some(scaling) = &self.scaling {
            hint(scaling, &self.lengthscales, console);
        }
    }
}

/// One line for who leaves columns as they are though their scales differ widely.
pub(crate) fn hint(scaling: &Scaling, lengthscales: &[f64], console: &Console) {
    // Lengthscales of each column are scales of its own.
    if let (Some(hint), [_]) = (scaling.hint(), lengthscales) {
        console.note(&format!("{hint}; --standardize may serve better"));
    }
}

/// Whether columns were standardised, for programs.
fn standardized(scale: &Scale) -> Value {
    let scaling = scale.scaling.as_ref();
    let columns = scaling.map_or(&[][..], Scaling::standardized);
    let asked = scaling.map_or(Standardize::No, Scaling::asked);
    serde_json::json!({
        "asked": asked.to_string(),
        "standardized": scaling.is_some_and(Scaling::is_standardized),
        "columns": columns.iter().filter(|&&yes| yes).count(),
        "of": scale.input.columns(),
        "reason": scaling.and_then(Scaling::reason),
    })
}
