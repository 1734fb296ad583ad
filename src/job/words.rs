//! Options of a job as text.

use super::{Job, Settings, TargetScale};
use crate::{
    features::Bandwidth,
    learn::{Budget, ClassWeights, Enough, Fit, Search},
    metric::MetricOptions,
    model::{LinearModel, Metric, Targets},
};

impl Job<&dyn Fit> {
    /// Returns the options of the job under their names in `bochner fit`: learner, map,
    /// preparation, and calibration. Device and memory are not included.
    pub fn settings(&self) -> Settings {
        let settings = self
            .learner
            .settings()
            .merge(self.preparation.map.settings());
        let settings = match self.bandwidth() {
            Bandwidth::Gamma(gamma) => settings.number("gamma", gamma),
            Bandwidth::Sigma(sigma) => settings.number("sigma", sigma),
            Bandwidth::SigmaPerColumn(all) => settings.numbers("sigma", &all),
            // Not chosen yet.
            Bandwidth::Chosen => settings.text("sigma", Bandwidth::Scale),
            rule => settings.text("sigma", rule),
        };
        let settings = settings
            .text("standardize", self.preparation.standardize)
            .flag("probabilities", self.probabilities)
            .maybe("half-life", self.half_life)
            .maybe("calibrate", self.calibrate);
        let settings = match &self.class_weights {
            ClassWeights::Equal => settings,
            weights => settings.text("class-weights", weights),
        };
        let settings = match self.target_scale {
            TargetScale::Auto | TargetScale::AsIs => settings,
            scale => settings.text("target-scale", scale),
        };
        let settings = match self.leaves {
            Some(rows) => settings.text("leaves", rows),
            None => settings,
        };
        let settings = match &self.search {
            Some(search) => searched(search, settings),
            None => settings,
        };
        let drawn = settings.get("seed").map(str::to_owned);
        let of_map = drawn.and_then(|seed| seed.parse().ok());
        let seed = self.preparation.seed.map(|seed| seed.0).or(of_map);
        settings.without(&["seed"]).text("seed", seed.unwrap_or(0))
    }

    /// Returns the options that a model stores: those of [`Self::settings`], the kind of the
    /// targets, and whether rows had weights, other than those of a half-life.
    #[doc(hidden)]
    pub fn settings_of(&self, targets: &Targets, weighted: bool) -> Settings {
        let own = weighted && self.half_life.is_none();
        let settings = self.settings().flag("weighted", own);
        match targets {
            Targets::Classes(_) => settings.text("task", "classification"),
            Targets::Real { columns: 1.., .. } => settings.text("task", "regression"),
            Targets::Real { .. } => settings,
        }
    }

    /// Stores the options of the job in a model.
    pub(super) fn keep(&self, model: &mut LinearModel, weighted: bool) {
        model.job = Some(self.settings_of(&model.targets, weighted));
    }
}

/// Adds the options of averaging, except for leaves and for a number of features chosen by an
/// error. If preparations are searched, adds `auto`, and sets what `auto` implies but this search
/// does not do to `none`.
fn averaged(search: &Search, settings: Settings) -> Settings {
    let mut settings = settings;
    let races = search.preparation;
    if races {
        settings = settings.without(&["standardize"]).flag("auto", true);
        if search.metrics.is_empty() {
            settings = settings.text("metric", "none");
        }
    }
    if settings.get("leaves").is_some() || search.features.is_some() {
        return settings;
    }
    if races || search.blend.draws > 1 {
        settings = settings.text("bag", search.blend.draws);
    }
    match (search.blend.binning, search.blend.nystrom) {
        (true, true) => settings.text("beside", "binning+nystrom"),
        (true, false) => settings.text("beside", "binning"),
        (false, true) => settings.text("beside", "nystrom"),
        (false, false) if races => settings.text("beside", "none"),
        (false, false) => settings,
    }
}

/// Replaces given options by those of the search.
fn searched(search: &Search, settings: Settings) -> Settings {
    let mut settings = settings;
    if !search.kernels.is_empty() {
        settings = settings.text("kernel", "auto");
    }
    if search.bandwidth {
        settings = settings.without(&["gamma"]).text("sigma", "auto");
    }
    if search.lambda {
        settings = settings.without(&["lambda", "lambda-by", "folds"]);
    }
    let is_brief = search.budget == Budget::Brief;
    if let Some(metric) = search.metrics.first().filter(|_| !is_brief) {
        let both = search.metrics.len() > 1;
        let kind = if both {
            "auto".into()
        } else {
            metric.kind.to_string()
        };
        settings = of_metric(settings.text("metric", kind), metric);
    }
    settings = match search.features {
        None => settings,
        Some(enough) => {
            let (name, share) = match enough {
                Enough::KernelError(share) => ("kernel-error", share),
                Enough::AccuracyLoss(share) => ("accuracy-loss", share),
            };
            settings.text("features", "auto").number(name, share)
        }
    };
    settings = averaged(search, settings);
    match search.budget {
        Budget::All => settings,
        Budget::Brief => settings.text("budget", "brief"),
        Budget::Trials(trials) => settings.text("budget", trials),
        Budget::Time(time) => {
            let seconds = format!("{:?}s", time.as_secs_f64());
            settings.text("budget", seconds)
        }
    }
}

/// Adds the options of a metric that differ from the defaults.
fn of_metric(settings: Settings, metric: &MetricOptions) -> Settings {
    let usual = MetricOptions::from(Metric::Diagonal);
    let power = (metric.power != usual.power).then_some(metric.power);
    let settings = settings.maybe("metric-power", power);
    if metric.iterations == usual.iterations {
        settings
    } else {
        settings.text("metric-iterations", metric.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        features::Fourier,
        kernels::Gaussian,
        learn::{Blend, Lambda, RidgeOptions},
        seed::Seed,
    };
    use std::time::Duration;

    fn ridge(lambda: Lambda) -> RidgeOptions {
        RidgeOptions {
            lambda,
            ..RidgeOptions::default()
        }
    }

    #[test]
    fn what_is_chosen_by_rule_is_not_said_and_what_is_given_is() {
        let map = Fourier::new(Gaussian).features(64).seed(Seed(5));
        let usual = ridge(Lambda::Usual);
        let job = Job::new(&usual as &dyn Fit, map.clone());
        let words = job.settings();
        assert_eq!(words.get("lambda"), None);
        assert_eq!(words.get("sigma"), Some("scale"));
        assert_eq!(words.get("standardize"), Some("auto"));
        // The seed of the map, until the job has one.
        assert_eq!(words.get("seed"), Some("5"));
        let given = ridge(Lambda::Fixed(2.5e-7));
        let mut job = Job::new(&given as &dyn Fit, map);
        job.preparation.seed = Some(Seed(9));
        job.preparation.bandwidth = Some(Bandwidth::Gamma(0.125));
        (job.calibrate, job.leaves) = (Some(0.2), Some(300));
        let words = job.settings();
        for (name, value) in [
            ("lambda", "2.5e-7"),
            ("gamma", "0.125"),
            ("calibrate", "0.2"),
            ("leaves", "300"),
            ("seed", "9"),
        ] {
            assert_eq!(words.get(name), Some(value), "{name}");
        }
        assert_eq!(words.get("sigma"), None);
    }

    #[test]
    fn a_search_is_said_in_the_place_of_what_it_chooses() {
        let given = ridge(Lambda::Fixed(1e-3));
        let mut job = Job::new(&given as &dyn Fit, Fourier::new(Gaussian));
        job.search = Some(Search {
            budget: Budget::Time(Duration::from_millis(1500)),
            features: Some(Enough::KernelError(0.1)),
            ..Search::everything()
        });
        let words = job.settings();
        for (name, value) in [
            ("kernel", Some("auto")),
            ("sigma", Some("auto")),
            ("lambda", None),
            ("metric", Some("auto")),
            ("features", Some("auto")),
            ("kernel-error", Some("0.1")),
            ("budget", Some("1.5s")),
            ("auto", Some("true")),
            ("standardize", None),
            // Both are excluded by a number of features that is chosen by an error.
            ("bag", None),
            ("beside", None),
        ] {
            assert_eq!(words.get(name), value, "{name}");
        }
        job.search = Some(Search::everything());
        let words = job.settings();
        let ends = [words.get("bag"), words.get("beside")];
        assert_eq!(ends, [Some("5"), Some("binning")]);
        job.search = Some(Search {
            metrics: Vec::new(),
            blend: Blend::default(),
            ..Search::everything()
        });
        let words = job.settings();
        let none = ["metric", "bag", "beside"].map(|name| words.get(name));
        assert_eq!(none, [Some("none"), Some("1"), Some("none")]);
        job.search = Some(Search {
            metrics: vec![MetricOptions {
                power: 0.5,
                ..Metric::Full.into()
            }],
            ..Search::default()
        });
        let words = job.settings();
        assert_eq!(words.get("lambda"), Some("0.001"));
        assert_eq!(words.get("metric"), Some("full"));
        assert_eq!(words.get("metric-power"), Some("0.5"));
    }

    #[test]
    fn landmarks_and_bins_beside_are_said() {
        let given = ridge(Lambda::Fixed(1e-3));
        let mut job = Job::new(&given as &dyn Fit, Fourier::new(Gaussian));
        for (binning, beside) in [(true, "binning+nystrom"), (false, "nystrom")] {
            let blend = Blend {
                binning,
                nystrom: true,
                draws: 1,
            };
            job.search = Some(Search {
                blend,
                ..Search::everything()
            });
            assert_eq!(job.settings().get("beside"), Some(beside));
        }
    }
}
