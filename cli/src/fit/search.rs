//! `--auto`, `--metric`: choices that rows held out make before the fit.

use super::{Source, chosen::Chosen};
use crate::{
    args::{at_least_one, positive},
    map::{BuiltMap, MapArgs},
    report::{Console, Report, Usage, Value, six_digits},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{ChunkSource, Survey},
    features::{MapBuilder, MapSpec},
    metric::{Ground, LearnedMetric, Metric, MetricOptions},
    models::{Budget, Found, LinearModel, RidgeOptions, Search, SearchData, Trial},
    seed::Seed,
    solve::Targets,
};
use clap::Args;
use std::{path::PathBuf, str::FromStr, sync::Arc, time::Duration};

/// Features of `--auto`, as the library's `Auto` has them.
const AUTOMATIC: usize = 2000;

/// What is searched for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search options")]
pub(super) struct SearchArgs {
    /// Choose kernel, bandwidth, penalty and metric by rows held out, then fit; what is given
    /// stays. For --model ridge
    #[arg(long)]
    auto: bool,
    /// End the search after so many trials, or after a time such as 60s or 5m (which may give
    /// another model the next time)
    #[arg(long, value_name = "TRIALS|TIME", value_parser = budget)]
    budget: Option<Budget>,
    /// Learn by what rows are compared: a lengthscale for each column (`diagonal`), directions
    /// across them (`full`), the better of these and `none` (`auto`); bandwidth and penalty are
    /// found with it unless given
    #[arg(long, value_name = "METRIC")]
    metric: Option<MetricOption>,
    /// Compare rows by the outer product of the gradients to this power, 1 or 0.5 [default: 1]
    #[arg(long, value_name = "P", value_parser = positive, allow_hyphen_values = true)]
    metric_power: Option<f64>,
    /// Fits and outer products in turn, at most [default: 5]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_hyphen_values = true)]
    metric_iterations: Option<usize>,
    /// Compare rows by the metric that this model has learnt, of the same columns
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["auto", "metric"])]
    metric_from: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricOption {
    None,
    Auto,
    One(Metric),
}

impl FromStr for MetricOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "none" => Ok(Self::None),
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::One).map_err(|_| {
                Error::parameter(format!("{text:?} is none of none, diagonal, full and auto"))
            }),
        }
    }
}

/// Trials, or a time in s, m or h.
fn budget(text: &str) -> Result<Budget, String> {
    if let Ok(trials) = at_least_one(text) {
        return Ok(Budget::Trials(trials));
    }
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        let number = positive(text.trim().strip_suffix(unit)?).ok()?;
        Duration::try_from_secs_f64(number * seconds).ok()
    });
    seconds
        .map(Budget::Time)
        .ok_or_else(|| "must be a number of trials, or a time such as 60s or 5m".into())
}

/// The rows of a search, and how it runs.
pub(super) struct Rows<'a> {
    pub(super) train: &'a mut Source,
    pub(super) survey: &'a Survey,
    pub(super) targets: &'a Targets,
    pub(super) run: &'a Run,
    pub(super) console: &'a Console,
}

impl SearchArgs {
    /// Whether something is to be chosen here, or was.
    pub(super) fn is_wanted(&self, map: &MapArgs) -> bool {
        let metric = self
            .metric
            .is_some_and(|metric| metric != MetricOption::None);
        self.auto || metric || map.kernel.has_auto() || self.metric_from.is_some()
    }

    /// D where none is given.
    pub(super) fn features(&self) -> Option<usize> {
        self.auto.then_some(AUTOMATIC)
    }

    /// Errors on options that have no effect.
    pub(super) fn check(&self, map: &MapArgs, chosen: &Chosen) -> Result<()> {
        let learns =
            self.auto || matches!(self.metric, Some(MetricOption::One(_) | MetricOption::Auto));
        for (option, given) in [
            ("--metric-power", self.metric_power.is_some()),
            ("--metric-iterations", self.metric_iterations.is_some()),
        ] {
            if given && !learns {
                return Err(Usage(format!("{option} is for --metric or --auto; give one")).into());
            }
        }
        let wanted = self.is_wanted(map);
        if self.budget.is_some() && (!wanted || self.metric_from.is_some()) {
            let problem = "--budget ends a search; give --auto, --metric, --kernel auto or --sigma \
                auto";
            return Err(Usage(problem.into()).into());
        }
        if wanted && chosen.ridge.is_none() {
            let problem = "--auto, --metric, --kernel auto and --sigma auto are for --model ridge";
            return Err(Usage(problem.into()).into());
        }
        Ok(())
    }

    fn search(&self, map: &MapArgs, chosen: &Chosen) -> Search {
        let kernel = &map.kernel;
        let learns =
            self.auto || matches!(self.metric, Some(MetricOption::One(_) | MetricOption::Auto));
        let options = |kind: Metric| MetricOptions {
            power: self.metric_power.unwrap_or(1.0),
            iterations: self.metric_iterations.unwrap_or(5),
            ..kind.into()
        };
        let kinds: &[Metric] = match self.metric {
            Some(MetricOption::None) => &[],
            Some(MetricOption::One(ref one)) => std::slice::from_ref(one),
            Some(MetricOption::Auto) => &[Metric::Diagonal, Metric::Full],
            None if self.auto => &[Metric::Diagonal, Metric::Full],
            None => &[],
        };
        Search {
            kernels: match kernel.is_auto() || (self.auto && !kernel.is_given()) {
                true => Search::catalogue(),
                false => Vec::new(),
            },
            bandwidth: kernel.is_sigma_auto() || (learns && !kernel.is_bandwidth_given()),
            lambda: !chosen.lambda_given,
            metrics: kinds.iter().map(|&kind| options(kind)).collect(),
            metric_required: matches!(self.metric, Some(MetricOption::One(_))),
            budget: self.budget.unwrap_or_default(),
        }
    }

    /// Searches, draws the map that is best, and says what was tried.
    pub(super) fn run(
        &self,
        map: &MapArgs,
        chosen: &mut Chosen,
        rows: Rows<'_>,
        report: &mut Report,
    ) -> Result<(BuiltMap, Found)> {
        let Rows {
            train,
            survey,
            targets,
            run,
            console,
        } = rows;
        let Some(options) = chosen.ridge.clone() else {
            return Err(Usage("--auto is for --model ridge".into()).into());
        };
        let (mut spec, selection) = map.chosen(train.columns(), run, console)?;
        if self.auto && !map.is_sampling_given() {
            spec.sampling = bochner::sampling::Sampling::Orthogonal.beside(spec.kernel.as_ref());
        }
        let (scaling, lengthscale) = map.kernel.prepared(spec.kernel.as_ref(), survey)?;
        let seed = Seed(map.kernel.seed);
        let found = match &self.metric_from {
            Some(path) => given(path, spec, lengthscale, &options)?,
            None => {
                let bar = console.steps("search", None);
                let mut tried = 0;
                let mut hear = |trial: &Trial, best: f64| {
                    tried += 1;
                    let best = six_digits(best);
                    bar.say(format!("trial {tried}: {trial}; best {best}"));
                };
                let data = SearchData {
                    source: &mut *train,
                    survey,
                    scaling: &scaling,
                    lengthscale,
                    targets,
                    options: &options,
                    seed,
                    run,
                };
                let search = self.search(map, chosen);
                let builder: Arc<dyn MapBuilder> = Arc::new(spec);
                let found = console.timed(|| search.run(&builder, data, &mut hear));
                drop(bar);
                let (found, seconds) = found?;
                report.seconds("search", seconds);
                found
            }
        };
        chosen.fit = Box::new(found.options(&options));
        let drawn = found.draw(Ground {
            source: train,
            survey,
            scaling: &scaling,
            run,
            seed: Some(seed),
        })?;
        let built = map.searched(drawn, &found, scaling, selection)?;
        Ok((built, found))
    }
}

/// A map with the metric of a model.
fn given(
    path: &std::path::Path,
    spec: MapSpec,
    lengthscale: f64,
    options: &RidgeOptions,
) -> Result<Found> {
    let model = LinearModel::load(path)?;
    let Some(metric) = model.metric else {
        let problem = "has learnt no metric; fit it with --metric or --auto";
        return Err(Error::data(path, problem).into());
    };
    Ok(Found {
        kernel: spec.kernel.clone(),
        builder: Arc::new(spec),
        metric: Some(metric),
        lengthscale,
        lambda: options.lambda.clone(),
        trials: Vec::new(),
    })
}

/// Trials that are printed.
const SHOWN: usize = 12;
/// Columns whose importance is printed.
const COLUMNS: usize = 8;

/// What was tried and chosen.
pub(super) fn describe(
    found: &Found,
    survey: &Survey,
    output: Option<&PathBuf>,
    report: &mut Report,
) {
    report.line("kernel", found.kernel.spec());
    report.set("sampling", sampling(found));
    if let Some(metric) = &found.metric {
        importance(metric, survey, report);
    } else {
        report.set("metric", Value::Null);
    }
    if found.trials.is_empty() {
        return;
    }
    report.set("trials", found.trials.iter().map(json).collect::<Vec<_>>());
    let command = command(std::env::args().skip(1), found, output);
    report.set("command", &*command);
    let mut table = format!(
        "\n{:>5} {:>7}  {:24} {:>12} {:>9} {:>9} {:>9} {:>7}\n",
        "D", "rows", "kernel", "metric", "sigma", "lambda", "error", "seconds"
    );
    for trial in found.trials.iter().take(SHOWN) {
        let metric = match trial.metric {
            None => "none".to_owned(),
            Some((kind, turns)) => format!("{kind} {turns}"),
        };
        table.push_str(&format!(
            "{:>5} {:>7}  {:24} {:>12} {:>9.3} {:>9.1e} {:>9.5} {:>7.2}\n",
            trial.features,
            trial.rows,
            trial.kernel,
            metric,
            trial.lengthscale,
            trial.lambda,
            trial.error,
            trial.seconds
        ));
    }
    if found.trials.len() > SHOWN {
        table.push_str(&format!(
            "and {} more (--json)\n",
            found.trials.len() - SHOWN
        ));
    }
    table.push_str(&format!("\nthe same without searching:\n  {command}\n"));
    report.table(table);
}

fn sampling(found: &Found) -> Option<String> {
    found
        .builder
        .sampling()
        .map(|sampling| sampling.to_string())
}

/// Shares of the columns in the squared gradient, the largest first.
fn importance(metric: &LearnedMetric, survey: &Survey, report: &mut Report) {
    let name = |j: usize| match &survey.names {
        Some(names) => names[j].clone(),
        None => j.to_string(),
    };
    let mut columns: Vec<(usize, f64)> = metric.importance().iter().copied().enumerate().collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let all = columns
        .iter()
        .map(|&(j, share)| serde_json::json!({ "column": name(j), "importance": share }));
    report.set(
        "metric",
        serde_json::json!({
            "kind": metric.kind().to_string(),
            "importance": all.collect::<Vec<_>>(),
        }),
    );
    let top = columns.iter().take(COLUMNS);
    let top = top.map(|&(j, share)| format!("{} {:.1} %", name(j), 100.0 * share));
    let more = match columns.len() > COLUMNS {
        true => ", ...",
        false => "",
    };
    report.line(
        "metric",
        format!(
            "{}: {}{more}",
            metric.kind(),
            top.collect::<Vec<_>>().join(", ")
        ),
    );
}

fn json(trial: &Trial) -> Value {
    serde_json::json!({
        "kernel": trial.kernel,
        "metric": trial.metric.map(|(kind, _)| kind.to_string()),
        "turns": trial.metric.map_or(0, |(_, turns)| turns),
        "multiple": trial.multiple,
        "lengthscale": trial.lengthscale,
        "lambda": trial.lambda,
        "features": trial.features,
        "rows": trial.rows,
        "error": trial.error,
        "squared_error": trial.squared,
        "seconds": trial.seconds,
    })
}

/// Options that a search decides, with whether a value follows.
const DECIDED: [(&str, bool); 12] = [
    ("--auto", false),
    ("--budget", true),
    ("--metric", true),
    ("--metric-power", true),
    ("--metric-iterations", true),
    ("--kernel", true),
    ("--sigma", true),
    ("--gamma", true),
    ("--lambda", true),
    ("--lambda-by", true),
    ("--folds", true),
    ("--sampling", true),
];

/// The arguments of this run without what was searched for, and with what was found.
fn command(
    arguments: impl Iterator<Item = String>,
    found: &Found,
    output: Option<&PathBuf>,
) -> String {
    // Leverage scores, say, were given and stay.
    let resampled = sampling(found).is_some();
    let is_decided = |name: &str| name != "--sampling" || resampled;
    let mut kept = vec!["bochner".to_owned()];
    let mut skip = false;
    for argument in arguments {
        if std::mem::take(&mut skip) {
            continue;
        }
        let mut decided = DECIDED.iter().filter(|(name, _)| is_decided(name));
        if let Some((_, value)) = decided.clone().find(|(name, _)| argument == *name) {
            skip = *value;
            continue;
        }
        let joined = |(name, _): &(&str, bool)| argument.starts_with(&format!("{name}="));
        if !decided.any(joined) {
            kept.push(quoted(argument));
        }
    }
    // --auto has another number than fits without it.
    if let Some(features) = found.builder.features()
        && !kept.iter().any(|kept| kept.starts_with("--features"))
    {
        kept.push(format!("--features {features}"));
    }
    kept.push(format!(
        "--kernel {} --sigma {} --lambda {}",
        quoted(found.kernel.spec()),
        found.lengthscale,
        match found.lambda {
            bochner::models::Lambda::Fixed(lambda) => lambda.to_string(),
            _ => "auto".into(),
        }
    ));
    kept.extend(sampling(found).map(|sampling| format!("--sampling {sampling}")));
    if found.metric.is_some() {
        let model = output.map_or("MODEL".into(), |path| quoted(path.display().to_string()));
        kept.push(format!("--metric-from {model}"));
    }
    kept.join(" ")
}

/// As a shell reads it back.
fn quoted(argument: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument,
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_trials_or_times() {
        assert_eq!(budget("12"), Ok(Budget::Trials(12)));
        assert_eq!(budget("60s"), Ok(Budget::Time(Duration::from_secs(60))));
        assert_eq!(budget("1.5m"), Ok(Budget::Time(Duration::from_secs(90))));
        for bad in ["", "0", "s", "-3s", "5x", "1e300h"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("a-b_c=1".into()), "a-b_c=1");
        assert_eq!(quoted("it's".into()), "'it'\\''s'");
        assert_eq!(quoted(String::new()), "''");
    }
}
