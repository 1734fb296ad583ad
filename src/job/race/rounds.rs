//! Successive halving: many candidates on few rows, few candidates on all rows.

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

/// Rows of each round, and candidates that remain after it. A decomposition of four times as many
/// rows takes 64 times as long.
const ROUNDS: [(usize, usize); 3] = [(ROWS / 4, 6), (ROWS / 2, 3), (ROWS, 1)];
/// Relative excess error within which the narrowest candidate stays: it may need more rows.
const ALIKE: f64 = 0.1;
/// Ratio of all rows to compared rows from which the narrowest candidate is preferred, and the
/// relative excess error that it may have.
const MANY: (u64, f64) = (8, 0.05);
/// Ratio to the best error from which the linear part alone is dropped.
const FAR: f64 = 2.0;

/// Removes and returns all but `stay` of the ranked candidates. The narrowest candidate with nearly
/// the least error is among those that stay.
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

/// Evaluates the remaining candidates on more rows in each round, and sorts them by error. Moves
/// eliminated candidates to `done`. Returns the least error of each round.
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

/// Evaluates all candidates on `rows` rows, and sorts them by error.
fn run_all(track: &Track<'_>, left: &mut [Runner], rows: usize) -> Result<()> {
    // Candidates of one width, with and without a linear part, share kernel values.
    let by_width = ascending(left.len(), &|i, j| {
        left[i].sigma().total_cmp(&left[j].sigma())
    });
    for i in by_width {
        track.run(&mut left[i], rows)?;
    }
    left.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
    Ok(())
}

/// Evaluates candidates of other preparations in the same rounds, as long as their errors are below
/// `best`, the least errors of the first preparation in each round. Returns the best of them if it
/// is clearly better than the best of `left`.
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

/// Doubles the widest lengthscale as long as that reduces the error.
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
        // Two sizes show how the error falls with rows.
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

/// Tries lengthscales half an octave to both sides of the best, since the minimum is often that
/// narrow. The better of both on few rows is evaluated on all.
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

/// Compares the best candidate with narrower ones on the hold-out set, as long as these are better:
/// narrow kernels need more rows than leave-one-out errors use.
fn go_narrow(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    let Some(first) = left.first_mut() else {
        return Ok(());
    };
    track.hold_out(first)?;
    // Lengthscales per column were learned without the hold-out set: compare without them, too.
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
    // With a wide kernel on few rows no column may have been more relevant than another.
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

/// Halves the lengthscale as long as that reduces the hold-out error.
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

/// Compares the best candidate on the hold-out set with and without a linear part.
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

/// Moves the narrowest candidate with nearly the least error to the front, if there are many more
/// rows than were compared.
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

/// Removes and returns the candidate that is the linear part alone, evaluated on all leave-one-out
/// rows. If it is better than the rule, the choice has to beat it as clearly as the rule: the best
/// of many candidates on few rows has fitted some of the noise.
fn line_alone(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<Option<Runner>> {
    let at = left.iter().position(Runner::is_line_alone);
    let Some(mut line) = at.filter(|_| !track.has_more()).map(|at| left.remove(at)) else {
        return Ok(None);
    };
    if line.of.rows < track.before_all() {
        track.run(&mut line, track.before_all())?;
    }
    // A much larger error on half of the rows is enough to drop it.
    let best = left.first().map_or(0.0, |first| first.before);
    if line.of.error < FAR * best {
        track.run(&mut line, track.all())?;
        return Ok(Some(line));
    }
    left.push(line);
    Ok(None)
}

/// Refines the best candidate: wider, half an octave to both sides, and lengthscales per column.
fn look_around(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    go_beyond(track, left)?;
    go_between(track, left)?;
    weigh_columns(track, left)
}

/// Makes the last comparisons on the hold-out set if there is one; else prefers narrow kernels.
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

/// Compares preparations and bandwidths on the sampled rows.
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
        // Binning has no linear part by default.
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
    // The lead on few rows has to hold on the hold-out set.
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

/// Evaluates the rule on the rows of the last candidates.
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

/// Returns all candidates, the rule first, and the index of the choice: the best other candidate or
/// the linear part alone if it is clearly better.
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
