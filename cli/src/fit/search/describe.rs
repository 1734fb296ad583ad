//! What a search tried and chose, for people and for programs.

use crate::{
    names::quoted,
    report::{Report, Value, counted},
};
use bochner::{
    data::Survey,
    features::Standardize,
    models::{Enough, Found, Lambda, Member, Size, Trial},
};
use std::path::PathBuf;

/// Trials that are printed.
const SHOWN: usize = 12;
/// Columns whose importance is printed.
const COLUMNS: usize = 8;

/// What was tried and chosen, of `tries` more than the number of features.
pub(in crate::fit) fn describe(
    found: &Found,
    survey: &Survey,
    standardize: Option<Standardize>,
    output: Option<&PathBuf>,
    tries: bool,
    report: &mut Report,
) {
    report.line("kernel", found.kernel.spec());
    if let Some(size) = &found.size {
        let features = counted(size.features as u64, "feature");
        report.line("enough", format!("{features}: {size}"));
        report.set("enough", sizes(size));
    }
    report.set("sampling", sampling(found));
    blend(found, report);
    if let Some(scaling) = &found.scaling {
        report.line("prepared", scaling.to_string());
    }
    if let Some(metric) = &found.metric {
        importance(metric.kind(), metric.importance(), survey, report);
    } else {
        report.set("metric", Value::Null);
    }
    if found.trials.is_empty() && found.size.is_none() {
        return;
    }
    report.set("trials", found.trials.iter().map(json).collect::<Vec<_>>());
    let table = table(&found.trials);
    if standardize == Some(Standardize::Learned) {
        // Curves are in the model alone.
        report.set("command", Value::Null);
        report.table(table);
        return;
    }
    let command = command(crate::job::arguments(), found, output, tries, standardize);
    report.set("command", &*command);
    let what = if found.members.is_empty() {
        "the same"
    } else {
        "the best of them alone"
    };
    report.table(format!("{table}\n{what} without searching:\n  {command}\n"));
}

/// Replaces the table of trials by one line, for a search that no option asked for.
pub(in crate::fit) fn shorten(found: &Found, report: &mut Report) {
    if found.trials.is_empty() {
        return;
    }
    report.table(String::new());
    let trials = counted(found.trials.len() as u64, "trial");
    let text = format!("{trials}; --auto tries more, --quick fits without a search, -v lists them");
    report.line("search", text);
}

/// What is averaged in the place of one fit.
fn blend(found: &Found, report: &mut Report) {
    let mut said: Vec<(String, usize, f64)> = Vec::new();
    for member in &found.members {
        let name = named(member);
        match said.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, times, share)) => (*times, *share) = (*times + 1, *share + member.share),
            None => said.push((name, 1, member.share)),
        }
    }
    if !said.is_empty() {
        let parts = said.iter().map(|(name, times, share)| {
            let times = if *times > 1 {
                format!("{times} x ")
            } else {
                String::new()
            };
            format!("{:.0} % {times}{name}", 100.0 * share)
        });
        report.line("mean of", parts.collect::<Vec<_>>().join(", "));
    }
    let all = found.members.iter().map(|member| {
        serde_json::json!({
            "name": named(member),
            "share": member.share,
            "lengthscale": member.lengthscale,
            "metric": member.metric.as_ref().map(|metric| metric.kind().to_string()),
            "lambda": match member.lambda {
                Lambda::Fixed(lambda) => Some(lambda),
                _ => None,
            },
        })
    });
    report.set("members", all.collect::<Vec<_>>());
}

/// `2000 features of laplacian`, `160 grids of laplacian`, `2000 landmarks of laplacian`.
fn named(member: &Member) -> String {
    let settings = member.builder.settings();
    let kernel = member
        .builder
        .kernel()
        .map_or(String::new(), |kernel| kernel.spec());
    let what = match settings.get("map") {
        Some("binning") => "grid",
        Some("nystrom") => "landmark",
        _ => "feature",
    };
    let count = settings
        .get("features")
        .and_then(|count| count.parse().ok());
    format!("{} of {kernel}", counted(count.unwrap_or(0), what))
}

/// The first trials, one a line.
fn table(trials: &[Trial]) -> String {
    if trials.is_empty() {
        return String::new();
    }
    let mut table = format!(
        "\n{:>5} {:>7}  {:24} {:>12} {:>9} {:>9} {:>9} {:>7}\n",
        "D", "rows", "kernel", "metric", "sigma", "lambda", "error", "seconds"
    );
    for trial in trials.iter().take(SHOWN) {
        let metric = match trial.metric {
            None => "none".to_owned(),
            Some((kind, turns)) => format!("{kind} {turns}"),
        };
        table.push_str(&format!(
            "{:>5} {:>7}  {:24} {:>12} {:>9.3} {:>9.1e} {:>9.5} {:>7.2}\n",
            trial.features,
            trial.rows,
            match trial.map {
                "binning" => trial.map.to_owned(),
                "nystrom" => format!("landmarks, {}", trial.kernel),
                _ => trial.kernel.clone(),
            },
            metric,
            trial.lengthscale,
            trial.lambda,
            trial.error,
            trial.seconds
        ));
    }
    if trials.len() > SHOWN {
        table.push_str(&format!("and {} more (--json)\n", trials.len() - SHOWN));
    }
    table
}

fn sampling(found: &Found) -> Option<String> {
    found
        .builder
        .sampling()
        .map(|sampling| sampling.settled().to_string())
}

/// Shares of the columns in the squared gradient, the largest first, and of what they are: the
/// kind of the metric, or `leaves`.
pub(in crate::fit) fn importance(
    kind: impl ToString,
    shares: &[f64],
    survey: &Survey,
    report: &mut Report,
) {
    let kind = kind.to_string();
    let name = |j: usize| match &survey.names {
        Some(names) => names[j].clone(),
        None => j.to_string(),
    };
    let mut columns: Vec<(usize, f64)> = shares.iter().copied().enumerate().collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let all = columns
        .iter()
        .map(|&(j, share)| serde_json::json!({ "column": name(j), "importance": share }));
    report.set(
        "metric",
        serde_json::json!({
            "kind": kind,
            "importance": all.collect::<Vec<_>>(),
        }),
    );
    let top = columns.iter().take(COLUMNS);
    let top = top.map(|&(j, share)| format!("{} {:.1} %", name(j), 100.0 * share));
    let more = if columns.len() > COLUMNS { ", ..." } else { "" };
    report.line(
        "metric",
        format!("{kind}: {}{more}", top.collect::<Vec<_>>().join(", ")),
    );
}

/// How many features are enough, for programs.
fn sizes(size: &Size) -> Value {
    let (by, value) = match size.enough {
        Enough::KernelError(error) => ("kernel_error", error),
        Enough::AccuracyLoss(loss) => ("accuracy_loss", loss),
    };
    let tried = size.tried.iter();
    let tried = tried.map(|(features, error)| serde_json::json!([features, error]));
    serde_json::json!({
        "by": by,
        "value": value,
        "features": size.features,
        "tried": tried.collect::<Vec<_>>(),
        "limited": size.limited,
    })
}

fn json(trial: &Trial) -> Value {
    serde_json::json!({
        "map": trial.map,
        "kernel": trial.kernel,
        "standardize": trial.standardize.to_string(),
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
const DECIDED: [(&str, bool); 17] = [
    ("--auto", false),
    ("--bag", true),
    ("--beside", true),
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
    ("--features", true),
    ("--kernel-error", true),
    ("--accuracy-loss", true),
];

/// The arguments of this run without what was searched for, and with what was found.
fn command(
    arguments: impl Iterator<Item = String>,
    found: &Found,
    output: Option<&PathBuf>,
    tries: bool,
    standardize: Option<Standardize>,
) -> String {
    // Leverage scores, say, were given and stay.
    let resampled = sampling(found).is_some();
    let is_decided = |name: &str| match name {
        "--sampling" => resampled,
        "--features" => found.size.is_some(),
        "--kernel-error" | "--accuracy-loss" | "--budget" => true,
        _ => tries,
    };
    let mut words = Words(vec!["bochner".to_owned()]);
    words.keep(arguments, is_decided);
    // --auto has another number than fits without it.
    if let Some(features) = found.builder.features()
        && !words.has("--features")
    {
        words.push(format!("--features {features}"));
    }
    if tries {
        words.push_kernel(found);
        words.push_standardize(standardize);
        words.extend(sampling(found).map(|sampling| format!("--sampling {sampling}")));
        if found.metric.is_some() {
            let model = output.map_or("MODEL".into(), |path| quoted(path.display().to_string()));
            words.push(format!("--metric-from {model}"));
        }
    } else if standardize.is_some() && !words.has("--sigma") && !words.has("--gamma") {
        // What rows chose for as many features as the search began with they may not for others.
        words.push(format!("--sigma {}", found.lengthscale));
        words.push_standardize(standardize);
    }
    words.0.join(" ")
}

/// Words of a command, quoted as a shell wants them.
struct Words(Vec<String>);

impl Words {
    fn push(&mut self, word: String) {
        self.0.push(word);
    }

    fn extend(&mut self, words: impl IntoIterator<Item = String>) {
        self.0.extend(words);
    }

    /// Whether an option is there.
    fn has(&self, option: &str) -> bool {
        self.0.iter().any(|word| word.starts_with(option))
    }

    /// Takes the arguments without those of [`DECIDED`] that are decided.
    fn keep(&mut self, arguments: impl Iterator<Item = String>, is_decided: impl Fn(&str) -> bool) {
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
                self.push(quoted(argument));
            }
        }
    }

    /// The kernel that was found, its bandwidth and its penalty.
    fn push_kernel(&mut self, found: &Found) {
        self.push(format!(
            "--kernel {} --sigma {}",
            quoted(found.kernel.spec()),
            found.lengthscale
        ));
        match found.lambda {
            Lambda::Usual => {}
            Lambda::Fixed(lambda) => self.push(format!("--lambda {lambda:?}")),
            _ => self.push("--lambda auto".into()),
        }
    }

    /// Whether columns are standardised, if it is known and not there yet.
    fn push_standardize(&mut self, standardize: Option<Standardize>) {
        if let Some(standardize) = standardize
            && !self.has("--standardize")
        {
            self.push(format!("--standardize={standardize}"));
        }
    }
}
