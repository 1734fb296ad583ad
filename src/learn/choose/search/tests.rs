//! Steps of a search, on smaller samples than in use.

mod blends;
mod curves;
mod sizes;
mod splits;

use super::{
    Budget, Enough, Found, Search, SearchData, Trial, loss,
    plan::Plan,
    rounds::{Rounds, close, forecast},
    size,
    trials::{Extent, Sample, Tried},
};
use crate::{
    Device, Run,
    data::{MemorySource, Part, Split, Survey},
    features::{Affine, Fourier, MapBuilder, Scaling, Standardize},
    kernels::Gaussian,
    learn::{Blend, Lambda, RidgeOptions},
    model::{Metric, Targets},
    normal::NormalEquations,
    seed::{Seed, Stream},
    solve::Cholesky,
};
use ndarray::{Array1, Array2};
use std::{sync::Arc, time::Instant};

fn rows(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut draws = Seed(seed).stream(Stream::Iteration, 0);
    Array2::from_shape_fn((n, d), |_| draws.normal())
}

/// Rows with the inputs of a search.
struct Table {
    source: MemorySource,
    survey: Survey,
    scaling: Scaling,
    targets: Targets,
    options: RidgeOptions,
    run: Run,
}

impl Table {
    fn new(x: &Array2<f64>, y: &Array1<f64>, classes: bool) -> Self {
        let y = y.clone().insert_axis(ndarray::Axis(1));
        let mut source = MemorySource::new(x, Some(y)).expect("finite");
        let survey = Survey::new(&mut source, 2000, 0).expect("surveys");
        let targets = if classes {
            Targets::classes(&survey).expect("labels")
        } else {
            Targets::real(&survey)
        };
        Self {
            scaling: Standardize::No.decide(&survey, true),
            source,
            survey,
            targets,
            options: RidgeOptions::default(),
            run: Run::on(&Device::cpu()),
        }
    }

    fn data(&mut self, lengthscale: f64) -> SearchData<'_> {
        SearchData {
            source: &mut self.source,
            survey: &self.survey,
            scaling: &self.scaling,
            lengthscale,
            targets: &self.targets,
            options: &self.options,
            seed: Seed(3),
            run: &self.run,
        }
    }

    /// Plan and trials, in order, of a search whose sample has at most `most` rows.
    fn search(&mut self, search: &Search, map: Fourier, most: usize) -> (Plan, Vec<Trial>) {
        let builder: Arc<dyn MapBuilder> = Arc::new(map);
        let sample = Sample::of_most(self.data(1.0), most).expect("reads");
        let mut hear = |_: &Trial, _: f64| Ok(());
        let mut rounds = Rounds::new(search, &builder, sample, Instant::now(), &mut hear);
        let plan = rounds.run().expect("finds").plan;
        (plan, rounds.into_trials())
    }

    fn found(&mut self, search: &Search, map: Fourier, lengthscale: f64) -> Found {
        let builder: Arc<dyn MapBuilder> = Arc::new(map);
        let found = search.run(&builder, self.data(lengthscale), &mut |_, _| Ok(()));
        found.expect("finds")
    }
}

fn search(preparation: bool, blend: Blend) -> Search {
    Search {
        bandwidth: true,
        lambda: true,
        preparation,
        blend,
        ..Search::default()
    }
}

fn trial(features: usize, error: f64, squared: f64) -> Trial {
    Trial {
        map: "fourier",
        kernel: "gaussian".into(),
        standardize: Standardize::No,
        metric: None,
        multiple: 1.0,
        lengthscale: 1.0,
        lambda: 1e-6,
        features,
        rows: 100,
        error,
        squared,
        seconds: 0.0,
    }
}

/// By error times squared error; ties are decided by the squared error, and trials with the most
/// features come first.
#[test]
fn trials_are_ranked_by_error_times_squares() {
    assert_eq!(loss(0.2, 0.3), (0.2 * 0.3, 0.3));
    // Fewer wrong labels by chance, but a larger squared error; and the other way round.
    let (lucky, sound) = (trial(500, 0.10, 0.30), trial(500, 0.11, 0.25));
    assert!(sound.better_than(&lucky) && !lucky.better_than(&sound));
    let (sharp, blunt) = (trial(500, 0.05, 0.30), trial(500, 0.10, 0.25));
    assert!(sharp.better_than(&blunt));
    // Without a wrong label the squared error decides.
    assert!(trial(500, 0.0, 0.1).better_than(&trial(500, 0.0, 0.2)));
    let mut all = [sound.clone(), lucky.clone(), trial(1000, 0.4, 0.4)];
    all.sort_by(Trial::cmp_to);
    let order: Vec<f64> = all.iter().map(|trial| trial.error).collect();
    assert_eq!(order, [0.4, 0.11, 0.10]);
    // A more complex metric must reduce the error by one per cent for real targets.
    let plain = trial(500, 0.1, 0.01);
    let of = |error: f64| trial(500, error, error * error);
    assert!(of(0.0985).clearly_better_than(&plain));
    assert!(!of(0.0995).clearly_better_than(&plain));
}

/// If the sample is a part of the rows, trials that it cannot distinguish continue.
#[test]
fn finalists_are_those_that_a_sample_cannot_tell_apart() {
    assert_eq!(close(&[0.100, 0.104, 0.106], false), 2);
    assert_eq!(close(&[0.100, 0.106], false), 1);
    assert_eq!(close(&[0.100, 0.100], true), 1);
    assert_eq!(close(&[], true), 0);
}

/// The time of a trial is forecast from other trials, and no trial begins that would end too late:
/// it must leave time for a fit to all rows, and take at most half of the time.
#[test]
fn trials_that_would_end_late_are_left_out() {
    let took = |features, rows, seconds| Trial {
        rows,
        seconds,
        ..trial(features, 0.1, 0.1)
    };
    // 500 (500 + 500) and 1000 (1000 + 500) per row.
    let trials = [took(500, 100, 0.5), took(1000, 1000, 6.0)];
    let seconds = forecast(&trials, 2000.0, 2000);
    let expected = 6.0 * 2000.0 * 2000.0 * 2500.0 / (1000.0 * 1000.0 * 1500.0);
    assert!((seconds / expected - 1.0).abs() < 1e-12, "{seconds}");
    assert_eq!(forecast(&[], 2000.0, 2000), 0.0);
    let x = rows(900, 2, 2);
    let y = x.column(0).mapv(f64::sin);
    let mut table = Table::new(&x, &y, false);
    let map = || Fourier::new(Gaussian).features(100);
    // Some ten trials fit into an hour, a single one into no time.
    for (time, expected) in [(3600, 10..100), (0, 1..2)] {
        let search = Search {
            budget: Budget::Time(std::time::Duration::from_secs(time)),
            ..Search::everything()
        };
        let (_, trials) = table.search(&search, map(), 900);
        assert!(expected.contains(&trials.len()), "{}", trials.len());
    }
    // Enough time for trials of a sample, but not for trials of all rows in addition to the fit.
    let sample = Sample::of_most(table.data(1.0), 100).expect("reads");
    assert!((sample.fitted(Extent::Sample) - 80.0).abs() < 20.0);
    assert_eq!(sample.fitted(Extent::All), 720.0);
    let search = Search {
        budget: Budget::Time(std::time::Duration::from_secs(60)),
        ..Search::everything()
    };
    let builder: Arc<dyn MapBuilder> = Arc::new(map());
    let mut hear = |_: &Trial, _: f64| Ok(());
    let mut rounds = Rounds::new(&search, &builder, sample, Instant::now(), &mut hear);
    // 5.2 s for 80 rows give 47 s for 720, and 58 s for all, with a limit of 30 s.
    let ends = rounds.ends_after(took(100, 80, 5.2)).expect("plans");
    assert_eq!(ends, [false, true]);
    let ends = rounds.ends_after(took(100, 80, 1.0)).expect("plans");
    assert_eq!(ends, [false, false]);
}

/// Waves that are short compared with the median distance need many steps to their bandwidth.
#[test]
fn the_bandwidth_walks_on_while_that_helps() {
    let x = rows(900, 1, 2);
    let waves = [(1.0, 2.0), (1.0, 6.0), (0.7, 16.0), (0.4, 40.0)];
    let wave = |x: f64| {
        waves
            .iter()
            .map(|(height, often)| height * (often * x).sin())
            .sum()
    };
    let y = x.column(0).mapv(wave);
    let map = || Fourier::new(Gaussian).features(200);
    let search = Search {
        bandwidth: true,
        lambda: true,
        ..Search::default()
    };
    let mut table = Table::new(&x, &y, false);
    let (plan, trials) = table.search(&search, map(), 900);
    let best = trials.iter().map(|trial| trial.error).fold(1.0, f64::min);
    let fixed = Search {
        lambda: true,
        ..Search::default()
    };
    // The best of a grid, without steps.
    let mut least = 1.0_f64;
    for power in [2, 4, 6, 7, 8, 9, 10] {
        let lengthscale = plan.median * 0.7_f64.powi(power);
        let found = table.found(&fixed, map(), lengthscale);
        least = least.min(found.trials[0].error);
    }
    assert!(plan.multiple < 0.2, "{trials:#?}");
    assert!(best < 1.2 * least, "{best} for {least}: {trials:#?}");
    // The best trial is the resulting plan.
    let chosen = trials.iter().find(|trial| trial.error == best);
    assert_eq!(
        chosen.map(|trial| trial.lengthscale),
        Some(plan.lengthscale)
    );
}

/// If all settings are given, their hold-out error is reported all the same.
#[test]
fn a_search_for_nothing_tries_what_is_given() {
    let x = rows(200, 2, 8);
    let y = x.column(0).to_owned();
    let map = Fourier::new(Gaussian).features(50);
    let mut table = Table::new(&x, &y, false);
    let found = table.found(&Search::default(), map, 1.7);
    assert!(!found.trials.is_empty());
    for trial in &found.trials {
        assert_eq!((found.lengthscale, trial.lengthscale), (1.7, 1.7));
        assert!(trial.error < 0.2, "{trial:?}");
    }
}

/// The search uses fewer features; all of them are used in the last trials only, of the best plan
/// and of its learnt metric, whether or not the sample has all rows.
#[test]
fn all_features_are_for_what_was_found() {
    let x = rows(900, 2, 5);
    let y = Array1::from_shape_fn(900, |i| (3.0 * x[[i, 0]]).sin() + x[[i, 1]]);
    let search = Search {
        metrics: vec![Metric::Diagonal.into()],
        metric_required: true,
        ..search(false, Blend::default())
    };
    for most in [900, 400] {
        let map = Fourier::new(Gaussian).features(1200);
        let (plan, trials) = Table::new(&x, &y, false).search(&search, map, most);
        let whole = trials.iter().filter(|trial| trial.features == 1200);
        assert_eq!(plan.features, 1200);
        assert_eq!(whole.count(), 2, "{trials:#?}");
        let last = trials.last().expect("some");
        assert_eq!(last.features, 1200);
        assert!(last.rows > 600, "{last:?}");
    }
}

/// On all rows the metric is learnt again from a fit to them, for each kind.
#[test]
fn the_metric_is_learnt_anew_with_more_rows() {
    let x = rows(1000, 6, 5);
    let noise = rows(1000, 1, 7);
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .zip(&noise)
        .map(|(x, noise)| (1.5 * (x[0] + x[1])).sin() + 0.3 * x[2] + 0.2 * noise)
        .collect();
    let search = Search {
        bandwidth: true,
        lambda: true,
        metrics: vec![Metric::Diagonal.into(), Metric::Full.into()],
        metric_required: true,
        ..Search::default()
    };
    let map = Fourier::new(Gaussian).features(200);
    let (plan, trials) = Table::new(&x, &y, false).search(&search, map, 250);
    let turns = |trial: &Trial| trial.metric.map_or(0, |(_, turns)| turns);
    let whole: Vec<usize> = trials.iter().filter(|t| t.rows > 400).map(turns).collect();
    let kinds: Vec<Metric> = (trials.iter())
        .filter(|trial| trial.rows > 400)
        .filter_map(|trial| trial.metric)
        .map(|(kind, _)| kind)
        .collect();
    assert!(kinds.contains(&Metric::Full), "{trials:#?}");
    // The first has the metric of the sample. The next is learnt on all rows, with a gain that
    // makes the search learn it once more.
    assert!(
        whole.iter().any(|turns| *turns > whole[0] + 1),
        "{trials:#?}"
    );
    // It has the direction of the sine, (1, 1); the other slope is small.
    let root = plan.metric.expect("was asked for").root();
    assert!(root[[0, 1]] > 0.8 * root[[0, 0]], "{root}");
    assert!(root[[0, 0]] > 10.0 * root[[5, 5]], "{root}");
}

/// A plan with `features` features of the Gaussian kernel, on unscaled columns.
fn plan(features: usize) -> Plan {
    Plan {
        builder: Arc::new(Fourier::new(Gaussian).features(features)),
        kernel: Arc::new(Gaussian),
        scaling: 0,
        is_binned: false,
        draw: 0,
        metric: None,
        turns: 0,
        features,
        median: 1.0,
        multiple: 1.0,
        lengthscale: 1.0,
        lambda: 0.0,
    }
}

/// A fit of more rows than features uses sums, and so does a trial of all rows, although its
/// training part has fewer rows than features: in the dual it could choose a penalty that is too
/// small for the sums of the fit.
#[test]
fn trials_of_all_rows_are_solved_as_the_fit_is() {
    let x = rows(110, 3, 8);
    let smooth: Array1<f64> = x.rows().into_iter().map(|x| (x[0] - x[1]).sin()).collect();
    let mut table = Table::new(&x, &smooth, false);
    let lambdas = [1e-13, 1e-8, 1e-4, 1e-3];
    let tried = {
        let mut sample = Sample::of_most(table.data(1.0), 1000).expect("reads");
        let wide = sample.run(&plan(120), &lambdas, Extent::All).expect("runs");
        assert!(wide.sums.is_none(), "fewer rows than features");
        let few = sample.run(&plan(100), &lambdas, Extent::Sample);
        assert!(
            few.expect("runs").sums.is_none(),
            "a sample is not what is fitted"
        );
        sample.run(&plan(100), &lambdas, Extent::All).expect("runs")
    };
    assert!(tried.sums.is_some() && tried.rows < 100, "{}", tried.rows);
    let (map, run) = (tried.model().map.as_ref(), Run::on(&Device::cpu()));
    let sums = NormalEquations::accumulate(map, &mut table.source, &table.targets, &run);
    let (lambda, intercept) = (tried.lambda, true);
    let solved = (Cholesky { lambda, intercept }).solve(&sums.expect("sums"));
    assert!(solved.is_ok(), "at {lambda:e}");
}

/// A trial keeps the coefficients of its best penalty, for all outputs.
#[test]
fn coefficients_are_those_of_the_best_penalty() {
    let x = rows(400, 2, 5);
    let noise = rows(400, 1, 6);
    let y: Array1<f64> = (0..400)
        .map(|i| (x[[i, 0]] + 0.3 * noise[[i, 0]]).round().clamp(-1.0, 1.0))
        .collect();
    let lambdas = [10.0, 1e-2, 1e-4];
    let mut table = Table::new(&x, &y, true);
    let targets = table.targets.clone();
    let plan = plan(60);
    let tried = {
        let mut sample = Sample::of_most(table.data(1.0), 1000).expect("reads");
        sample.run(&plan, &lambdas, Extent::All).expect("runs")
    };
    // Not the first penalty, whose coefficients come first.
    assert!(tried.lambda < lambdas[0]);
    let map = Fourier::new(Gaussian).features(60).seed(Seed(3));
    let input = table.scaling.input(&[1.0]).expect("positive");
    let map = map.build(input).expect("draws");
    // The training part of the trial's split.
    let mut fitted = Split::new(&mut table.source, Part::Train, 0.2, 6).expect("splits");
    let run = Run::on(&Device::cpu());
    let sums = NormalEquations::accumulate(&map, &mut fitted, &targets, &run).expect("sums");
    assert_eq!(sums.rows, tried.rows);
    let (lambda, intercept) = (tried.lambda, true);
    let expected = (Cholesky { lambda, intercept })
        .solve(&sums)
        .expect("solves");
    assert_eq!(tried.model().coefficients, expected);
}
