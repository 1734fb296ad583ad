//! The rounds of a race: many candidates on few rows, few on all.

use super::{
    Candidate, ROWS, Race,
    deciding::{Amounts, Deciding, Errors, How, Judged},
    ground::Ground,
    relevance::weigh_columns,
    runner::{BEYOND, NEAR, Runner, are_less, none},
};
use crate::{
    Error, Result, Run,
    data::{KeptRows, Survey, median_distance},
    features::{Bandwidth, Linear, MapBuilder, Scaling, Standardize, line_weight},
    kernels::Kernel,
    normal::Targets,
    progress::Step,
};
use ndarray::Array1;
use std::{
    cell::Cell,
    f64::consts::{FRAC_1_SQRT_2, SQRT_2},
    ops::Range,
};

/// Rows that all candidates are looked at on, and those that are left of them beside the usual: a
/// decomposition of four times as many rows takes 64 times as long.
const ROUNDS: [(usize, usize); 3] = [(ROWS / 4, 6), (ROWS / 2, 3), (ROWS, 1)];
/// Lengthscales, in medians of the distances. The narrow ones are for waves of few columns, which
/// look like noise at every other width, so that nothing leads to them.
const MULTIPLES: [f64; 8] = [0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Among errors within this share of the best the narrowest stays: more rows may be what it needs.
const ALIKE: f64 = 0.1;
/// With so many times more rows than are looked at, the narrower of two that differ by so little.
const MANY: (u64, f64) = (8, 0.05);
/// Of the best error, what is far behind.
const FAR: f64 = 2.0;
/// Rows from which on a part is held out.
const ENOUGH: usize = 4 * ROWS;
/// Columns whose deviations are within this factor are alike as they are.
const EQUAL: f64 = 1.25;

/// To four digits: rounding of means that rows in another order have is then not seen.
fn rounded(value: f64) -> f64 {
    let text = format!("{value:.3e}");
    text.parse().unwrap_or(value)
}

/// What a race is asked for.
pub(super) struct Asked<'a> {
    /// On which map candidates run.
    pub(super) map: &'a dyn MapBuilder,
    /// In which order it looks at the rows.
    pub(super) order: &'a [usize],
    /// With which preparation, or with all that differ where that is [`Standardize::Auto`].
    pub(super) standardize: Standardize,
    /// With a linear part beside, or with one and without where that is [`Linear::Auto`].
    pub(super) linear: Linear,
    /// At which penalties, where these are given.
    pub(super) penalties: Option<&'a [f64]>,
    /// Whether columns may be weighed by what they tell.
    pub(super) weighs: bool,
    /// Whether another race has them on another scale.
    pub(super) scales_differ: bool,
    /// Who hears of it.
    pub(super) run: &'a Run,
}

/// What candidates run on.
pub(super) struct Track<'a> {
    run: &'a Run,
    /// How many ran.
    looked_at: Cell<usize>,
    rows: Deciding,
    ground: Ground<'a>,
    kernel: &'a dyn Kernel,
    survey: &'a Survey,
    /// As is usual, as they are, standardised, over their ranges.
    scalings: [Scaling; 4],
    /// Whether columns may be weighed by what they tell.
    weighs: bool,
}

impl Track<'_> {
    fn scaling(&self, standardize: Standardize) -> &Scaling {
        match standardize {
            Standardize::Auto => &self.scalings[0],
            Standardize::No => &self.scalings[1],
            Standardize::Yes => &self.scalings[2],
            Standardize::Range => &self.scalings[3],
        }
    }

    /// All rows that are left out in turn: fewer where the rows held out have the last word.
    pub(super) fn all(&self) -> usize {
        match self.has_more() {
            true => ROWS / 2,
            false => self.rows.few(),
        }
    }

    /// Those of the round before the last.
    pub(super) fn before_all(&self) -> usize {
        match self.has_more() {
            true => ROWS / 4,
            false => self.all().min(ROWS / 2),
        }
    }

    /// Has a candidate run on so many rows.
    pub(super) fn run(&self, runner: &mut Runner, rows: usize) -> Result<()> {
        if runner.of.rows == rows {
            return Ok(());
        }
        let errors = self.judge(runner, Judged::LeftOut(0, rows))?;
        runner.run(errors, self.survey.rows);
        Ok(())
    }

    /// How far these rows are off by a candidate.
    pub(super) fn judge(&self, runner: &Runner, judged: Judged) -> Result<Option<Errors>> {
        let near = Some(runner.penalty).filter(|penalty| penalty.is_finite());
        self.errors(runner, |how| {
            self.rows.errors(judged, &self.ground, (how, near))
        })
    }

    /// Mean squared slopes of a candidate that is fitted to these rows, along standardised columns.
    pub(super) fn slopes(
        &self,
        runner: &Runner,
        rows: Range<usize>,
    ) -> Result<Option<Array1<f64>>> {
        let penalty = runner.penalty;
        self.errors(runner, |how| {
            let squares_d = self.rows.slopes(rows, &self.ground, (how, penalty))?;
            let seen = how.scaling.input(how.lengthscales)?;
            let scales = self
                .scaling(Standardize::Yes)
                .scale()
                .iter()
                .zip(seen.scale());
            let ratios = scales.map(|(unit, seen)| match *unit == 0.0 {
                true => 0.0,
                false => (seen / unit).powi(2),
            });
            let ratios_d: Array1<f64> = ratios.collect();
            Ok(squares_d.map(|squares_d| squares_d * ratios_d))
        })
    }

    /// The median distance of standardised columns times `roots_d`. None where most rows are alike.
    pub(super) fn median_distance(&self, roots_d: &Array1<f64>) -> Result<Option<f64>> {
        let standardised = self.scaling(Standardize::Yes);
        let v_md = standardised.apply(&self.rows.few_md().to_owned())? * roots_d;
        Ok(median_distance(v_md.view(), self.kernel.norm()).ok())
    }

    /// Rows that are left out in turn, where all are.
    pub(super) fn few(&self) -> usize {
        self.rows.few()
    }

    /// Columns that vary, where they may be weighed.
    pub(super) fn weighable(&self) -> usize {
        let survey = self.survey;
        let varying = (0..survey.mean.len()).filter(|&j| !survey.is_constant(j));
        if self.weighs { varying.count() } else { 0 }
    }

    /// How near amounts are to what a candidate predicts of them, on its last rows.
    fn amounts(&self, runner: &Runner) -> Result<Option<Amounts>> {
        let judged = match self.has_more() {
            true => Judged::HeldOut,
            false => Judged::LeftOut(0, self.all()),
        };
        let rescale = self.survey.rescale.as_ref();
        self.errors(runner, |how: How<'_>| {
            (self.rows).amounts(judged, &self.ground, (how, rescale))
        })
    }

    /// Errors of a candidate by `errors`; none where its columns leave the range of f32.
    fn errors<T>(
        &self,
        runner: &Runner,
        errors: impl FnOnce(How<'_>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let scaling = self.scaling(runner.of.standardize);
        let lengthscales = (runner.of.bandwidth).lengthscales(self.kernel, self.survey, scaling);
        self.looked_at.set(self.looked_at.get() + 1);
        self.run.pause(Step::Candidate(self.looked_at.get()))?;
        let squares = match lengthscales.as_deref() {
            Ok(lengthscales) => {
                let input = scaling.input(lengthscales);
                let line = |input| line_weight(&input, self.survey);
                errors(How {
                    scaling,
                    lengthscales,
                    line: input.ok().filter(|_| runner.of.linear).and_then(line),
                })
            }
            Err(_) => Ok(None),
        };
        match squares {
            Err(Error::Parameter(_) | Error::Numerical(_)) => Ok(None),
            squares => squares,
        }
    }

    /// Whether there are rows to hold a part out.
    fn has_more(&self) -> bool {
        self.rows.all() >= ENOUGH && matches!(self.ground, Ground::Features(..))
    }

    /// Has a candidate run on all rows that were kept.
    fn hold_out(&self, runner: &mut Runner) -> Result<()> {
        let errors = self.judge(runner, Judged::HeldOut)?;
        runner.squares_m = errors.map_or_else(none, |errors| errors.squares_m);
        runner.of.error = runner.squares_m.mean().unwrap_or(f64::INFINITY);
        (runner.ahead, runner.of.rows) = (runner.of.error, self.rows.all());
        Ok(())
    }

    /// All of one preparation, with a linear part or without. None where most rows are alike.
    fn prepared(&self, standardize: Standardize, linear: bool) -> Result<Vec<Runner>> {
        let u_md = self
            .scaling(standardize)
            .apply(&self.rows.few_md().to_owned())?;
        let Ok(median) = median_distance(u_md.view(), self.kernel.norm()) else {
            return Ok(Vec::new());
        };
        // With a linear part beside, one so wide is the linear part alone.
        let alone = linear.then_some(BEYOND);
        let runners = MULTIPLES.into_iter().chain(alone).map(|multiple| {
            let sigma = Bandwidth::Sigma(rounded(multiple * median));
            Runner::of(standardize, (sigma, Some(multiple)), linear)
        });
        Ok(runners.collect())
    }

    /// Columns whose scales may differ.
    fn scaled(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let survey = self.survey;
        let is_scaled = |j: &usize| !survey.is_constant(*j) && !survey.of_words[*j];
        (0..survey.mean.len()).filter(is_scaled)
    }

    /// The deviations of columns, ascending.
    fn deviations(&self) -> Vec<f64> {
        ascending(self.scaled().map(|j| self.survey.variance[j].sqrt()))
    }

    /// Preparations that differ: standardised columns; columns as they are, unless their deviations
    /// are alike already; and columns over their ranges, where most have one unit and some do not.
    fn preparations(&self) -> Vec<Standardize> {
        let survey = self.survey;
        let ranges = ascending(self.scaled().map(|j| survey.max[j] - survey.min[j]));
        let median = ranges.get(ranges.len() / 2).copied().unwrap_or(0.0);
        let of_one_unit = ranges
            .iter()
            .filter(|&&range| range <= EQUAL * median && median <= EQUAL * range);
        let most = 2 * of_one_unit.count() > ranges.len();
        let mut all = vec![Standardize::Yes];
        if !are_alike(&self.deviations()) {
            all.push(Standardize::No);
            if most && !are_alike(&ranges) {
                all.push(Standardize::Range);
            }
        }
        all
    }

    /// How the usual prepares columns: standardised where their deviations are alike already, so
    /// that another unit of one of them changes nothing.
    fn usual(&self, asked: Standardize) -> Standardize {
        match asked {
            Standardize::Auto if are_alike(&self.deviations()) => Standardize::Yes,
            asked => asked,
        }
    }
}

fn ascending(widths: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut widths: Vec<f64> = widths.collect();
    widths.sort_unstable_by(f64::total_cmp);
    widths
}

/// Whether ascending widths are within [`EQUAL`] of each other.
fn are_alike(widths: &[f64]) -> bool {
    match widths {
        [low, .., high] => *high <= EQUAL * low,
        _ => true,
    }
}

/// Takes out all but the first `stay` of those in order; among these is the narrowest of those
/// about as good as the first.
fn fall_out(left: &mut Vec<Runner>, stay: usize) -> Vec<Runner> {
    let best = left.first().map_or(0.0, Runner::rank);
    let near = |runner: &Runner| runner.rank() <= (1.0 + ALIKE) * best;
    let narrowest = (0..left.len())
        .filter(|&i| near(&left[i]))
        .min_by(|&a, &b| left[a].width().total_cmp(&left[b].width()));
    if let Some(i) = narrowest.filter(|&i| i >= stay) {
        let runner = left.remove(i);
        left.insert(stay - 1, runner);
    }
    left.split_off(stay.min(left.len()))
}

/// Has the candidates that are left run on more and more rows; the best first, then the others of
/// the last round. Those who fell out before go to `done`.
fn rounds(track: &Track<'_>, mut left: Vec<Runner>, done: &mut Vec<Runner>) -> Result<Vec<Runner>> {
    for (most, stay) in ROUNDS {
        let rows = most.min(track.all());
        // Those of one width one after another: with a linear part and without they share work.
        let mut by_width: Vec<&mut Runner> = left.iter_mut().collect();
        by_width.sort_by(|a, b| a.sigma().total_cmp(&b.sigma()));
        for runner in by_width {
            track.run(runner, rows)?;
        }
        left.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
        if rows == track.all() {
            break;
        }
        done.extend(fall_out(&mut left, stay));
    }
    Ok(left)
}

/// Goes on beyond the widest that there are, as long as that is better.
fn go_beyond(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    while let Some(first) = left.first() {
        let width = first.width();
        if width < MULTIPLES[MULTIPLES.len() - 1] || width >= BEYOND {
            return Ok(());
        }
        let Some(mut next) = at_width(first, 2.0) else {
            return Ok(());
        };
        // Twice, to see how its error falls.
        track.run(&mut next, track.before_all())?;
        track.run(&mut next, track.all())?;
        let better = next.ahead < first.ahead;
        left.insert(usize::from(!better), next);
        if !better {
            return Ok(());
        }
    }
    Ok(())
}

/// Half an octave to both sides of the first: the valley of errors is as narrow as that, often. The
/// better of both on few rows runs on all.
fn go_between(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    let widest = MULTIPLES[MULTIPLES.len() - 1];
    let Some(first) = left.first().filter(|first| first.width() <= widest) else {
        return Ok(());
    };
    let beside = [FRAC_1_SQRT_2, SQRT_2].map(|factor| at_width(first, factor));
    let mut beside: Vec<Runner> = beside.into_iter().flatten().collect();
    for runner in &mut beside {
        track.run(runner, track.before_all())?;
    }
    let Some(mut next) = beside
        .into_iter()
        .min_by(|a, b| a.ahead.total_cmp(&b.ahead))
    else {
        return Ok(());
    };
    track.run(&mut next, track.all())?;
    let better = next.ahead < left[0].ahead;
    left.insert(usize::from(!better), next);
    Ok(())
}

/// A candidate of another width.
pub(super) fn at_width(runner: &Runner, factor: f64) -> Option<Runner> {
    let bandwidth = match &runner.of.bandwidth {
        Bandwidth::Sigma(sigma) => Bandwidth::Sigma(rounded(factor * sigma)),
        Bandwidth::SigmaPerColumn(each) => {
            Bandwidth::SigmaPerColumn(each.iter().map(|sigma| rounded(factor * sigma)).collect())
        }
        _ => return None,
    };
    let multiple = rounded(factor * runner.of.multiple?);
    let of = &runner.of;
    Some(Runner {
        penalty: runner.penalty,
        ..Runner::of(of.standardize, (bandwidth, Some(multiple)), of.linear)
    })
}

/// Has the first meet narrower ones, as long as these are better, by rows held out: what is narrow
/// needs more rows than were left out in turn.
fn go_narrow(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    let Some(first) = left.first_mut() else {
        return Ok(());
    };
    track.hold_out(first)?;
    while let Some(mut next) = at_width(&left[0], 0.5) {
        left.retain(|runner| !runner.is_like(&next));
        track.hold_out(&mut next)?;
        let better = next.ahead < (1.0 - NEAR) * left[0].ahead;
        left.insert(usize::from(!better), next);
        if !better {
            break;
        }
    }
    Ok(())
}

/// Has the first meet the same with a linear part, or without one, by rows held out.
fn toggle_line(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    let Some(first) = left.first() else {
        return Ok(());
    };
    let of = &first.of;
    let mut other = Runner::of(
        of.standardize,
        (of.bandwidth.clone(), of.multiple),
        !of.linear,
    );
    track.hold_out(&mut other)?;
    let better = other.rank() < first.rank();
    left.retain(|runner| !runner.is_like(&other));
    left.insert(usize::from(!better), other);
    Ok(())
}

/// Puts the narrowest of those that are about as good as the first before it, where there are many
/// more rows than were looked at.
fn prefer_narrow(track: &Track<'_>, left: &mut [Runner]) {
    let (times, near) = MANY;
    let Some(best) = left.first().map(Runner::rank) else {
        return;
    };
    let narrowest = (0..left.len())
        .filter(|&i| left[i].rank() <= (1.0 + near) * best)
        .filter(|&i| left[i].is_weighed() == left[0].is_weighed())
        .min_by(|&a, &b| left[a].width().total_cmp(&left[b].width()));
    if let Some(i) = narrowest.filter(|_| track.survey.rows >= times * track.all() as u64) {
        left[..=i].rotate_right(1);
    }
}

/// Takes the linear part alone out, on all rows that are left out in turn. Where it is better than
/// the usual, it has to be beaten as clearly: on few rows the best of many has learnt some of the
/// noise.
fn line_alone(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<Option<Runner>> {
    let at = left.iter().position(Runner::is_line_alone);
    let Some(mut line) = at.filter(|_| !track.has_more()).map(|at| left.remove(at)) else {
        return Ok(None);
    };
    track.run(&mut line, track.before_all())?;
    // What is far behind on half of the rows needs no more.
    let best = left.first().map_or(0.0, |first| first.before);
    if line.of.error < FAR * best {
        track.run(&mut line, track.all())?;
        return Ok(Some(line));
    }
    left.push(line);
    Ok(None)
}

/// What came of a race.
pub(super) struct Outcome {
    pub(super) race: Race,
    /// Of what was chosen, where scales are compared.
    amounts: Option<Amounts>,
}

impl Outcome {
    /// The mean squared error of amounts over their variance.
    pub(super) fn error(&self) -> f64 {
        let of = self.amounts.as_ref();
        of.map_or(f64::INFINITY, |of| {
            of.squares_m.mean().unwrap_or(f64::INFINITY)
        })
    }

    /// Whether it expects amounts more than a race of the same rows does, by more than the standard
    /// error of the difference: by the densities that rows left out have (Box & Cox 1964), for
    /// squares of amounts with a long tail are those of a few. They must not speak against it.
    pub(super) fn expects_more_than(&self, other: &Self) -> bool {
        let (Some(own), Some(other)) = (&self.amounts, &other.amounts) else {
            return false;
        };
        own.squares_m.len() == other.squares_m.len()
            && are_less(&(-&own.log_density_m), &(-&other.log_density_m))
            && !are_less(&other.squares_m, &own.squares_m)
    }
}

/// Has preparations and bandwidths run on the rows that were kept.
pub(super) fn race(
    asked: Asked<'_>,
    (survey, kept): (&Survey, &KeptRows),
    targets: &Targets,
) -> Result<Option<Outcome>> {
    let Asked {
        map,
        order,
        standardize,
        linear,
        penalties,
        weighs,
        scales_differ,
        run,
    } = asked;
    let rows = Deciding::of((kept, order), targets, penalties)?;
    let (Some(kernel), Some(rows)) = (map.kernel(), rows) else {
        return Ok(None);
    };
    if survey.mean.len() > 1 && survey.rescale.is_none() {
        for j in rows.that_know() {
            let column = survey.column(j);
            log::warn!(
                "{column} is the target but for a factor: it may know the answer; leave it out?"
            );
        }
    }
    let decide = |standardize: Standardize| standardize.decide(survey, true);
    let track = Track {
        run,
        looked_at: Cell::new(0),
        rows,
        ground: Ground::of(map, &kernel, survey, kept),
        kernel: kernel.as_ref(),
        survey,
        scalings: [
            Standardize::Auto,
            Standardize::No,
            Standardize::Yes,
            Standardize::Range,
        ]
        .map(decide),
        weighs: weighs && matches!(standardize, Standardize::Auto | Standardize::Yes),
    };
    let preparations = match standardize {
        Standardize::Auto => track.preparations(),
        given => vec![given],
    };
    let linear = match (linear, &track.ground) {
        // Bins, which nothing stands beside unasked.
        (Linear::Auto, Ground::Kernel(_)) => Linear::No,
        (linear, _) => linear,
    };
    let lines: &[bool] = match linear {
        Linear::Auto => &[false, true],
        Linear::Yes => &[true],
        Linear::No => &[false],
    };
    let mut all = Vec::new();
    for preparation in preparations {
        for &linear in lines {
            all.extend(track.prepared(preparation, linear)?);
        }
    }
    let mut done = Vec::new();
    let mut left = rounds(&track, all, &mut done)?;
    go_beyond(&track, &mut left)?;
    go_between(&track, &mut left)?;
    weigh_columns(&track, &mut left)?;
    left.extend(done);
    let always = linear == Linear::Yes;
    let mut usual = Runner::of(track.usual(standardize), (Bandwidth::Scale, None), always);
    if track.has_more() {
        go_narrow(&track, &mut left)?;
        if linear == Linear::Auto {
            toggle_line(&track, &mut left)?;
        }
        track.hold_out(&mut usual)?;
    } else {
        prefer_narrow(&track, &mut left);
        for (rows, _) in ROUNDS {
            track.run(&mut usual, rows.min(track.all()))?;
        }
    }
    let line = line_alone(&track, &mut left)?;
    let better = left.first().is_some_and(|first| first.beats(&usual));
    let mut all: Vec<Runner> = [usual].into_iter().chain(left).collect();
    let mut chosen = usize::from(better);
    match line {
        Some(line) if line.beats(&all[0]) && !all[chosen].beats(&line) => {
            all.insert(1, line);
            chosen = 1;
        }
        line => all.extend(line),
    }
    let amounts = match scales_differ {
        true => track.amounts(&all[chosen])?,
        false => None,
    };
    let candidates: Vec<Candidate> = all.into_iter().map(|runner| runner.of).collect();
    let race = Race {
        rows: candidates[chosen].rows,
        candidates,
        chosen,
        scales: Vec::new(),
    };
    Ok(Some(Outcome { race, amounts }))
}
