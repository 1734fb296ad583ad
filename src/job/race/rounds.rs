//! The rounds of a race: many candidates on few rows, few on all.

use super::{
    Candidate, ROWS, Race,
    deciding::Deciding,
    kernel_values::KernelValues,
    outcome::Outcome,
    relevance::{weigh_columns, weighed_by_all},
    runner::{BEYOND, NEAR, Runner},
    track::{Asked, MULTIPLES, Track},
};
use crate::{
    Result,
    data::{ChunkSource, KeptRows, Survey, grouped},
    features::{Bandwidth, Linear, Standardize},
    model::Targets,
    order::ascending,
};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Rows that all candidates are looked at on, and those that are left of them beside the usual: a
/// decomposition of four times as many rows takes 64 times as long.
const ROUNDS: [(usize, usize); 3] = [(ROWS / 4, 6), (ROWS / 2, 3), (ROWS, 1)];
/// Among errors within this share of the best the narrowest stays: more rows may be what it needs.
const ALIKE: f64 = 0.1;
/// With so many times more rows than are looked at, the narrower of two that differ by so little.
const MANY: (u64, f64) = (8, 0.05);
/// Of the best error, what is far behind.
const FAR: f64 = 2.0;

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
/// the last round. Those who fell out before go to `done`. Returns the best rank of each round.
fn rounds(track: &Track<'_>, left: &mut Vec<Runner>, done: &mut Vec<Runner>) -> Result<Vec<f64>> {
    let mut best = Vec::new();
    for (most, stay) in ROUNDS {
        let rows = most.min(track.all());
        run_all(track, left, rows)?;
        best.push(left.first().map_or(f64::INFINITY, Runner::rank));
        if rows == track.all() {
            break;
        }
        done.extend(fall_out(left, stay));
    }
    Ok(best)
}

/// Has all of them run on so many rows; the best is the first then.
fn run_all(track: &Track<'_>, left: &mut [Runner], rows: usize) -> Result<()> {
    // Those of one width one after another: with a linear part and without they share work.
    let by_width = ascending(left.len(), &|i, j| {
        left[i].sigma().total_cmp(&left[j].sigma())
    });
    for i in by_width {
        track.run(&mut left[i], rows)?;
    }
    left.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
    Ok(())
}

/// Has those of other preparations run as the first did: as long as they are ahead of the best that
/// it had of so many rows, `best`. Returns the first where it is clearly ahead of the best that is
/// left.
fn challenge(
    track: &Track<'_>,
    mut others: Vec<Runner>,
    (best, left): (&[f64], &[Runner]),
    done: &mut Vec<Runner>,
) -> Result<Option<Runner>> {
    for ((most, stay), best) in ROUNDS.into_iter().zip(best) {
        let rows = most.min(track.all());
        run_all(track, &mut others, rows)?;
        if rows < track.all() {
            done.extend(fall_out(&mut others, stay));
        }
        let ahead = others.iter().take_while(|runner| runner.rank() < *best);
        let ahead = ahead.count();
        done.extend(others.split_off(ahead));
    }
    if others.is_empty() {
        return Ok(None);
    }
    let first = others.remove(0);
    done.extend(others);
    if left.first().is_none_or(|best| first.beats(best)) {
        return Ok(Some(first));
    }
    done.push(first);
    Ok(None)
}

/// Goes on beyond the widest that there are, as long as that is better.
fn go_beyond(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    if track.max_multiple() < MULTIPLES[MULTIPLES.len() - 1] {
        return Ok(());
    }
    while let Some(first) = left.first() {
        let width = first.width();
        if width < MULTIPLES[MULTIPLES.len() - 1] || width >= BEYOND {
            return Ok(());
        }
        let Some(mut next) = first.at_width(2.0) else {
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
    let beside = [FRAC_1_SQRT_2, SQRT_2].map(|factor| first.at_width(factor));
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

/// Has the first meet narrower ones, as long as these are better, by rows held out: what is narrow
/// needs more rows than were left out in turn.
fn go_narrow(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    let Some(first) = left.first_mut() else {
        return Ok(());
    };
    track.hold_out(first)?;
    // Rows held out have not told what columns weigh: the one that it was before meets them, too.
    if let [first, second, ..] = left.as_mut_slice()
        && first.is_weighed()
    {
        track.hold_out(second)?;
        if second.rank() < first.rank() {
            left.swap(0, 1);
        }
    }
    let before = left[0].width();
    narrow(track, left)?;
    // Few rows may have had a kernel so wide that no column told more than another.
    if left[0].width() < before
        && !left[0].is_weighed()
        && let Some(mut weighed) = weighed_by_all(track, &left[0])?
    {
        track.hold_out(&mut weighed)?;
        let better = weighed.ahead < (1.0 - NEAR) * left[0].ahead;
        left.insert(usize::from(!better), weighed);
        narrow(track, left)?;
    }
    Ok(())
}

/// Goes on to half the width as long as that is better for rows held out.
fn narrow(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    while let Some(mut next) = left[0].at_width(0.5) {
        if left
            .iter()
            .any(|runner| runner.is_like(&next) && runner.of.rows == track.kept())
        {
            break;
        }
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
    let mut other = Runner::new(
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
        .filter(|&i| left[i].of.rows == left[0].of.rows)
        .filter(|&i| left[i].is_weighed() == left[0].is_weighed())
        .filter(|&i| left[i].of.standardize == left[0].of.standardize)
        .min_by(|&a, &b| left[a].width().total_cmp(&left[b].width()));
    let rows = track.all();
    if let Some(i) = narrowest.filter(|_| track.all_rows(rows) >= times as f64 * rows as f64) {
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
    if line.of.rows < track.before_all() {
        track.run(&mut line, track.before_all())?;
    }
    // What is far behind on half of the rows needs no more.
    let best = left.first().map_or(0.0, |first| first.before);
    if line.of.error < FAR * best {
        track.run(&mut line, track.all())?;
        return Ok(Some(line));
    }
    left.push(line);
    Ok(None)
}

/// Has the first meet wider ones, those half an octave beside, and the same with columns weighed.
fn look_around(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    go_beyond(track, left)?;
    go_between(track, left)?;
    weigh_columns(track, left)
}

/// Where rows are held out, these have the last word; else the narrowest may.
fn last_rounds(track: &Track<'_>, left: &mut Vec<Runner>, linear: Linear) -> Result<()> {
    if left.is_empty() || !track.has_more() {
        prefer_narrow(track, left);
        return Ok(());
    }
    go_narrow(track, left)?;
    if linear == Linear::Auto {
        toggle_line(track, left)?;
    }
    Ok(())
}

/// Has preparations and bandwidths run on the rows that were kept.
pub(super) fn race(
    asked: Asked<'_>,
    (survey, kept): (&Survey, &KeptRows),
    targets: &Targets,
) -> Result<Option<Outcome>> {
    let rows = Deciding::from_rows((kept, asked.order), targets, (asked.penalties, survey.rows))?;
    let (Some(kernel), Some(rows)) = (asked.map.kernel(), rows) else {
        return Ok(None);
    };
    warn_of_what_knows(survey, &rows);
    let parts = asked.map.column_parts(survey)?;
    let kernel_values = KernelValues::for_map(asked.map, &kernel, (survey, parts.clone()), kept);
    let linear = match (asked.linear, &kernel_values) {
        // Bins, which nothing stands beside unasked.
        (Linear::Auto, KernelValues::Kernel(..)) => Linear::No,
        (linear, _) => linear,
    };
    let values_of = (rows, kernel_values, kernel.as_ref());
    let track = Track::new(&asked, values_of, (survey, parts));
    let mut preparations = track.candidates(asked.standardize, linear)?.into_iter();
    let (mut left, mut done) = (preparations.next().unwrap_or_default(), Vec::new());
    let best = rounds(&track, &mut left, &mut done)?;
    look_around(&track, &mut left)?;
    let others = preparations.flatten().collect();
    let challenger = challenge(&track, others, (&best, &left), &mut done)?;
    let mut other: Vec<Runner> = challenger.into_iter().collect();
    look_around(&track, &mut other)?;
    left.extend(done);
    for left in [&mut left, &mut other] {
        last_rounds(&track, left, linear)?;
    }
    // What is ahead on few rows has to be so on those held out.
    let ahead = match (other.first(), left.first()) {
        (Some(other), Some(first)) => other.beats(first),
        (other, _) => other.is_some(),
    };
    if ahead {
        std::mem::swap(&mut left, &mut other);
    }
    left.extend(other);
    let usual = run_usual(&track, asked.standardize, linear)?;
    let (all, chosen) = last_word(&track, usual, left)?;
    let amounts = if asked.scales_differ {
        track.amounts(&all[chosen])?
    } else {
        None
    };
    let candidates: Vec<Candidate> = all.into_iter().map(|runner| runner.of).collect();
    let race = Race {
        rows: candidates[chosen].rows,
        candidates,
        chosen,
        by_groups: kept
            .source()
            .groups()
            .is_some_and(|groups| grouped::count(&groups) > 1),
        scales: Vec::new(),
    };
    Ok(Some(Outcome { race, amounts }))
}

/// What stays where nothing is clearly better, run on the rows that the last candidates run on.
fn run_usual(track: &Track<'_>, standardize: Standardize, linear: Linear) -> Result<Runner> {
    let (standardize, always) = (track.usual(standardize), linear == Linear::Yes);
    let mut usual = Runner::new(standardize, (Bandwidth::Scale, None), always);
    if track.has_more() {
        track.hold_out(&mut usual)?;
    } else {
        for (rows, _) in ROUNDS {
            track.run(&mut usual, rows.min(track.all()))?;
        }
    }
    Ok(usual)
}

fn warn_of_what_knows(survey: &Survey, rows: &Deciding) {
    if survey.mean.len() < 2 || survey.rescale.is_some() {
        return;
    }
    for j in rows.that_know() {
        let column = survey.column(j);
        log::warn!(
            "{column} is the target but for a factor: it may know the answer; leave it out?"
        );
    }
}

/// All candidates, the usual first, and which of them is chosen: the first of the others or the
/// linear part alone where that is clearly better.
fn last_word(
    track: &Track<'_>,
    usual: Runner,
    mut left: Vec<Runner>,
) -> Result<(Vec<Runner>, usize)> {
    let line = line_alone(track, &mut left)?;
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
    Ok((all, chosen))
}
