mod units;
mod weights;

use super::{
    Candidate, Race,
    deciding::{Errors, downhill},
    kernel_values::KernelValues,
    runner::Runner,
};
use crate::{
    Run,
    data::{ChunkSource, MemorySource},
    features::{Bandwidth, Linear, MapBuilder, Standardize},
    job::{Job, Meaning},
    learn::{Lambda, RidgeOptions},
    prelude::*,
    seed::{Draws, Seed, Stream},
};
use ndarray::{Array1, Array2};
use std::sync::Arc;

type Table = (Array2<f64>, Array1<f64>);

/// Rows of normal columns with a target.
fn table(n: usize, d: usize, target: impl Fn(&[f64], &mut Draws) -> f64) -> Table {
    let mut draws = Seed(5).stream(Stream::Data, 0);
    let mut y = Array1::zeros(n);
    let mut x = Array2::zeros((n, d));
    for (i, mut row) in x.outer_iter_mut().enumerate() {
        row.mapv_inplace(|_: f64| draws.normal());
        y[i] = target(&row.to_vec(), &mut draws);
    }
    (x, y)
}

/// What a job chooses.
fn race_of(table: &Table, map: Arc<dyn MapBuilder>, standardize: Standardize) -> Option<Race> {
    race_with(table, RidgeOptions::default(), map, standardize)
}

fn race_with(
    (x, y): &Table,
    ridge: RidgeOptions,
    map: Arc<dyn MapBuilder>,
    standardize: Standardize,
) -> Option<Race> {
    let mut job = Job::new(ridge, map);
    job.preparation.standardize = standardize;
    let y = y.clone().insert_axis(ndarray::Axis(1));
    let mut source = MemorySource::new(x, Some(y)).expect("finite");
    let run = Run::on(&Device::cpu());
    let job = job.any();
    let survey = job.survey(&mut source, &run).expect("surveys");
    let targets = Meaning::Amounts.targets(&survey, source.schema());
    let (settled, race) = job
        .settled(&survey, &targets.expect("amounts"), &run)
        .expect("runs");
    assert_ne!(settled.bandwidth(), Bandwidth::Chosen);
    race
}

fn fourier() -> Arc<dyn MapBuilder> {
    Arc::new(Fourier::new(Gaussian).features(400))
}

fn chosen(table: &Table) -> Candidate {
    let race = race_of(table, fourier(), Standardize::Auto).expect("a race");
    race.chosen().clone()
}

fn line(x: &[f64], draws: &mut Draws) -> f64 {
    let line: f64 = x.iter().zip(1..).map(|(v, j)| v * f64::from(j).sin()).sum();
    line + 0.3 * draws.normal()
}

/// Both ends are gone beyond: a wave of one column is narrower than all that are looked at first,
/// a line of many columns wider.
#[test]
fn waves_are_narrow_and_lines_wide() {
    let waves = table(700, 1, |x, draws| {
        (20.0 * x[0]).sin() + 0.1 * draws.normal()
    });
    let narrow = chosen(&waves);
    assert!(narrow.multiple.is_some_and(|m| m < 0.25), "{narrow:?}");
    assert!(narrow.error < 0.2, "{narrow:?}");
    let lines = table(300, 20, line);
    let wide = chosen(&lines);
    assert!(wide.multiple.is_some_and(|m| m > 4.0), "{wide:?}");
    // The noise, of which a fit to so few rows adds a tenth.
    let noise = 0.09 / lines.1.var(0.0);
    assert!(
        wide.error < 1.2 * noise && wide.error > 0.8 * noise,
        "{wide:?} {noise}"
    );
}

/// What is linear in many columns and a wave in one: no width serves both, and the columns beside
/// the features do. Where there is nothing but waves of all columns, they stay out.
#[test]
fn lines_beside_waves_have_a_linear_part() {
    let wave = |x: &[f64]| 2.0 * (2.0 * x[0]).sin();
    let both = |n| table(n, 8, |x, draws| wave(x) + 3.0 * line(x, draws));
    let of = |n| {
        let map = Arc::new(Fourier::new(Gaussian).features(1000));
        race_of(&both(n), map, Standardize::Auto).expect("a race")
    };
    let race = of(600);
    let chosen_of = race.chosen();
    assert!(chosen_of.linear, "{race}");
    let same = |c: &&Candidate| !c.linear && c.rows == chosen_of.rows;
    let without = race.candidates.iter().filter(same);
    let least = without.map(|c| c.error).fold(f64::INFINITY, f64::min);
    assert!(chosen_of.error < 0.9 * least, "{race}: {least}");
    // Of many rows, those that are held out judge the winner with a line and without.
    let many = of(6000).candidates;
    let judged = many.iter().filter(|c| c.rows == 4096);
    let twin = |c: &&Candidate| {
        let same = |other: &&Candidate| other.bandwidth == c.bandwidth && other.linear != c.linear;
        judged.clone().any(|other| same(&other))
    };
    assert!(judged.clone().any(|c| twin(&c)), "{many:?}");
    let waves = table(400, 2, |x, draws| {
        (3.0 * x[0]).sin() * (2.0 * x[1]).cos() + 0.1 * draws.normal()
    });
    assert!(!chosen(&waves).linear);
}

/// Of few rows the best of many candidates has learnt noise: what is not clearly better than the
/// linear part alone gives way to it. A wave is clearly better.
#[test]
fn lines_of_few_rows_are_lines() {
    let noisy = table(100, 10, |x, draws| {
        x.iter().sum::<f64>() / 10_f64.sqrt() + 0.5 * draws.normal()
    });
    let found = chosen(&noisy);
    assert!(found.linear && found.multiple >= Some(32.0), "{found:?}");
    let wave = table(100, 2, |x, draws| {
        3.0 * (2.0 * x[0]).sin() + x[1] + 0.3 * draws.normal()
    });
    let found = chosen(&wave);
    assert!(found.multiple < Some(8.0), "{found:?}");
}

/// Columns are few beside features, or asked for.
#[test]
fn many_columns_stay_out_unasked() {
    let lines = table(200, 8, line);
    let of = |features, linear| {
        let map = Fourier::new(Gaussian).features(features);
        let job = Job {
            linear,
            ..Job::new(RidgeOptions::default(), map)
        };
        let y = lines.1.clone().insert_axis(ndarray::Axis(1));
        let mut source = MemorySource::new(&lines.0, Some(y)).expect("finite");
        let run = Run::on(&Device::cpu());
        let fitted = job.any().fit(&mut source, Meaning::Amounts, &run);
        let fitted = fitted.expect("fits");
        let race = fitted.race.expect("a race");
        let any = |is: bool| race.candidates.iter().any(|c| c.linear == is);
        (any(true), any(false), fitted.model.map.output_dim())
    };
    assert_eq!(of(78, Linear::Auto), (false, true, 78));
    assert!(of(80, Linear::Auto).0);
    assert_eq!(of(78, Linear::Yes), (true, false, 78 + 8));
    assert_eq!(of(80, Linear::No), (false, true, 80));
}

/// Many rows have room for what is narrow: leave-one-out errors of 512 of them would have it wider.
#[test]
fn many_rows_are_narrower() {
    let target =
        |x: &[f64], draws: &mut Draws| (2.0 * x[0]).sin() + x[1] * x[2] + line(&x[3..], draws);
    let of = |n: usize| {
        let map = Arc::new(Fourier::new(Gaussian).features(1000));
        let race = race_of(&table(n, 8, target), map, Standardize::Auto);
        race.expect("a race").candidates.swap_remove(1)
    };
    let (few, many) = (of(1000), of(20_000));
    assert_eq!((few.rows, many.rows), (512, 4096));
    assert!(many.multiple < few.multiple, "{many:?} {few:?}");
}

/// Factors are made on the way to the valley and no further.
#[test]
fn penalties_beyond_the_valley_are_not_looked_at() {
    let walk = |errors: &[f64]| {
        let penalties: Vec<f64> = (0..errors.len()).map(|at| at as f64).collect();
        let mut seen = Vec::new();
        let ones = Array1::ones(1);
        let start = (penalties.as_slice(), penalties.len() / 2);
        let best = downhill(start, ones.view(), |penalty| {
            seen.push(penalty as usize);
            let error = errors[penalty as usize];
            Ok((error > 0.0).then(|| Array2::from_elem((1, 1), error)))
        });
        let best = best.expect("errors").map(|(_, off_mt)| off_mt[[0, 0]]);
        (best, seen)
    };
    assert_eq!(walk(&[3.0, 1.0, 2.0, 4.0, 5.0]), (Some(1.0), vec![2, 1, 0]));
    assert_eq!(walk(&[3.0, 2.0, 1.0, 2.0, 3.0]), (Some(1.0), vec![2, 1, 3]));
    assert_eq!(
        walk(&[5.0, 4.0, 3.0, 1.0, 2.0]),
        (Some(1.0), vec![2, 1, 3, 4])
    );
    // What has no solution is 0 here.
    assert_eq!(walk(&[0.0, 0.0, 0.0, 2.0, 3.0]), (Some(2.0), vec![2, 3, 4]));
    assert_eq!(walk(&[0.0, 2.0, 3.0]), (Some(2.0), vec![1, 0, 2]));
    assert_eq!(walk(&[7.0]), (Some(7.0), vec![0]));
    assert_eq!(walk(&[0.0]), (None, vec![0]));
}

/// A penalty that is given is that of every candidate: a line of many columns is not as wide then
/// as one that hardly anything holds.
#[test]
fn given_penalties_are_kept_to() {
    let lines = table(300, 20, line);
    let of = |lambda: Lambda| {
        let ridge = RidgeOptions {
            lambda,
            ..RidgeOptions::default()
        };
        let race = race_with(&lines, ridge, fourier(), Standardize::Auto);
        race.expect("a race").chosen().clone()
    };
    let (held, free) = (of(Lambda::Fixed(1e-2)), of(Lambda::Usual));
    assert!(
        held.multiple.unwrap_or(1.0) < free.multiple.unwrap_or(1.0),
        "{held:?} {free:?}"
    );
    assert!(held.error > 1.2 * free.error, "{held:?} {free:?}");
}

/// What is kept takes 32 MiB at most, and the rule stays where that is too few rows.
#[test]
fn wide_rows_are_few() {
    let job = Job::new(RidgeOptions::default(), fourier());
    let of = |columns| job.any().deciding_rows((columns, 1));
    assert_eq!([1, 32, 784, 8192].map(of), [4096, 4096, 512, 512]);
    assert_eq!([16_384, 32_768, 40_000].map(of), [256, 128, 0]);
    assert_eq!(job.any().deciding_rows((4, 0)), 0);
}

/// The rule stays where nothing is to be told, and where so few rows say so little.
#[test]
fn the_usual_stays_amid_noise() {
    let noise = table(400, 4, |_, draws| draws.normal());
    let race = race_of(&noise, fourier(), Standardize::Auto).expect("a race");
    assert_eq!(race.chosen, 0, "{race}");
    assert!((race.chosen().error - 1.0).abs() < 0.05, "{race}");
    let few = table(19, 2, line);
    assert_eq!(race_of(&few, fourier(), Standardize::Auto), None);
}

/// Half an octave beside the best of the first round is looked at, and taken where it is better.
#[test]
fn between_octaves_there_are_others() {
    let is_half = |m: f64| (m.log2() - 0.5).fract().abs() < 0.01;
    let between = |c: &Candidate| c.multiple.is_some_and(is_half);
    let mut looked_at = 0;
    for wave in (0..12).map(|i| 1.5 + 0.2 * f64::from(i)) {
        let waves = table(300, 3, |x, draws| {
            (wave * x[0]).sin() * x[1] + 0.1 * draws.normal()
        });
        let race = race_of(&waves, fourier(), Standardize::No).expect("a race");
        let least = |of: &dyn Fn(&Candidate) -> bool| {
            let last = race.candidates.iter().filter(|c| c.rows == 300 && of(c));
            last.map(|c| c.error).fold(f64::INFINITY, f64::min)
        };
        let (half, whole) = (least(&between), least(&|c| !between(c)));
        assert!(!between(race.chosen()) || half < whole, "{race}");
        looked_at += u32::from(half.is_finite());
    }
    assert!(looked_at > 0);
}

/// Few rows of a long tail do not hide what is better nearly everywhere.
#[test]
fn long_tails_hide_nothing() {
    let of = |squares_m: &dyn Fn(usize) -> f64| {
        let mut runner = Runner::new(Standardize::Yes, (Bandwidth::Scale, None), false);
        let squares_m = (0..100).map(squares_m).collect();
        runner.run(
            Some(Errors {
                squares_m,
                penalty: None,
            }),
            100.0,
        );
        runner
    };
    let usual_of = |tail| of(&|i| if i == 0 { tail } else { 0.2 });
    let usual = usual_of(90.0);
    assert!(of(&|_| 0.02).beats(&usual));
    // In half of the rows only, or by a tenth: the tail is all that speaks for it.
    assert!(!of(&|i| if i % 2 == 0 { 0.02 } else { 0.21 }).beats(&usual));
    let tenth = of(&|i| if i == 0 { 80.0 } else { 0.19 });
    assert!(!tenth.beats(&usual_of(90.0)) && tenth.beats(&usual_of(900.0)));
}

/// A candidate that failed on few rows is ranked by its next error alone, one that failed on all
/// is beaten by whatever did not, and errors of other rows are not compared.
#[test]
fn what_failed_is_last() {
    let of = |all: &[Option<(usize, f64)>]| {
        let mut runner = Runner::new(Standardize::Yes, (Bandwidth::Scale, None), false);
        for errors in all {
            let errors = errors.map(|(rows, square)| Errors {
                squares_m: Array1::from_elem(rows, square),
                penalty: None,
            });
            runner.run(errors, 10_000.0);
        }
        runner
    };
    let (late, steady) = (of(&[None, Some((256, 0.5))]), of(&[Some((256, 0.4))]));
    assert!(late.ahead >= 0.5 && steady.beats(&late));
    let failed = of(&[Some((128, 0.1)), None]);
    assert!(steady.beats(&failed) && !failed.beats(&steady) && !failed.beats(&failed));
    assert!(!of(&[Some((128, 0.1))]).beats(&steady));
}

/// What is said of columns is kept to, and so is a bandwidth.
#[test]
fn what_is_given_is_not_chosen() {
    let mut lines = table(300, 3, line);
    lines.0.column_mut(0).mapv_inplace(|v| 20.0 * v);
    for given in [Standardize::Yes, Standardize::No] {
        let race = race_of(&lines, fourier(), given).expect("a race");
        assert!(race.candidates.iter().all(|c| c.standardize == given));
    }
    let race = race_of(&lines, fourier(), Standardize::Auto).expect("a race");
    let of = |s| race.candidates.iter().any(|c| c.standardize == s);
    assert!(of(Standardize::Yes) && of(Standardize::No));
}

/// Maps that are drawn without rows are judged by their own features, as many as they have; others
/// by the kernel.
#[test]
fn features_are_judged_where_there_are_some() {
    let (x, y) = table(200, 8, line);
    let y = y.insert_axis(ndarray::Axis(1));
    let mut source = MemorySource::new(&x, Some(y)).expect("finite");
    let survey = crate::data::Survey::deciding(&mut source, (0, 200), 0, &|_| {});
    let survey = survey.expect("surveys");
    let kept = survey.deciding.as_ref().expect("rows");
    let kernel: Arc<dyn crate::kernels::Kernel> = Arc::new(Laplacian);
    let of = |map: &dyn MapBuilder| KernelValues::for_map(map, &kernel, (&survey, None), kept);
    let fourier = of(&Fourier::new(Laplacian).features(64));
    let KernelValues::Features(map, _) = &fourier else {
        panic!("features");
    };
    assert_eq!(map.output_dim(), 64);
    assert!(matches!(
        of(&Nystrom::new(Laplacian).features(64)),
        KernelValues::Kernel(..)
    ));
    assert!(matches!(
        of(&Binning::new(Laplacian).grids(64)),
        KernelValues::Kernel(..)
    ));
    // So few are far off, and near where they are many.
    let off = |features: usize| {
        let kernel_values = of(&Fourier::new(Laplacian).features(features));
        let u = &x * 0.1;
        let gap = kernel_values.gram(u.clone(), None).expect("values")
            - crate::kernels::gram(&Laplacian, u.view());
        (gap.mapv(|v| v * v).mean().expect("values")).sqrt()
    };
    let [few, many] = [off(64), off(1000)];
    assert!(few > 3.0 * many && many < 0.05, "{few} {many}");
    // Products that are kept are those of these rows, in whatever order rows and lines come.
    for (scale, line) in [(0.1, None), (0.1, Some(0.5)), (0.2, Some(0.5)), (0.2, None)] {
        let u = &x * scale;
        let gram =
            |kernel_values: &KernelValues<'_>| kernel_values.gram(u.clone(), line).expect("values");
        let fresh = of(&Fourier::new(Laplacian).features(64));
        assert_eq!(gram(&fourier), gram(&fresh), "{scale} {line:?}");
        let plain = fresh.gram(u.clone(), None).expect("values");
        let gap = gram(&fresh) - plain - line.unwrap_or(0.0) * u.dot(&u.t());
        assert!(gap.iter().all(|gap| gap.abs() < 1e-12), "{scale} {line:?}");
    }
}
