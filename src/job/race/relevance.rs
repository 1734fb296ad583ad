//! Lengthscales per column (automatic relevance determination).
//!
//! The slopes of a fit show along which columns its predictions change. A kernel that is narrow
//! along these and wide along the others fits better; lengthscales come from the diagonal of the
//! average gradient outer product (Radhakrishnan, Beaglehole, Pandit & Belkin 2024). On few rows
//! slopes are noisy, so one half of the rows estimates slopes and the other half validates them.

use super::{
    deciding::Judged,
    runner::{BEYOND, Runner, are_less, rounded},
    track::Track,
};
use crate::{
    Result,
    features::{Bandwidth, Standardize},
};
use ndarray::Array1;

/// Largest number of rows that estimate slopes, and least number of rows in each half.
const ROWS: (usize, usize) = (512, 32);
/// Largest number of columns: distances along more dominate the time.
const COLUMNS: usize = 128;
/// Added to the squared slopes, which have mean 1, so that no column is lost for good.
const FLOOR: f64 = 1e-3;
/// Largest ratio to the error with one lengthscale.
const BETTER: f64 = 0.97;
/// Significant digits of lengthscales: slopes amplify rounding differences between orders of rows.
const DIGITS: usize = 3;
/// Number of alternations between slopes and lengthscales.
const TURNS: usize = 5;
/// Factors of the lengthscale that are tried besides 1.
const WIDTHS: [f64; 4] = [
    0.5,
    std::f64::consts::FRAC_1_SQRT_2,
    1.0,
    std::f64::consts::SQRT_2,
];

/// Inserts the best candidate with lengthscales per column at the front, if lengthscales from one
/// half of the rows clearly reduce the error on the other half.
pub(super) fn weigh_columns(track: &Track<'_>, left: &mut Vec<Runner>) -> Result<()> {
    let Some(first) = left.first().filter(|first| first.width() < BEYOND) else {
        return Ok(());
    };
    let Some(slopes) = slopes_that_tell(track, first)? else {
        return Ok(());
    };
    let Some(best) = in_turn(track, first, &slopes)? else {
        return Ok(());
    };
    let widths = WIDTHS.iter().filter_map(|&width| best.at_width(width));
    let mut widths: Vec<Runner> = widths.collect();
    for runner in &mut widths {
        track.run(runner, track.before_all())?;
    }
    let best = widths
        .into_iter()
        .min_by(|a, b| a.ahead.total_cmp(&b.ahead));
    if let Some(mut best) = best {
        track.run(&mut best, track.all())?;
        let better = best.ahead < left[0].ahead;
        left.insert(usize::from(!better), best);
    }
    Ok(())
}

/// Returns a candidate with lengthscales per column for comparison on the hold-out set. Its penalty
/// may stem from a wider kernel.
pub(super) fn weighed_by_all(track: &Track<'_>, first: &Runner) -> Result<Option<Runner>> {
    let rows = 0..track.few().min(ROWS.0);
    let Some(mut first) = first.at_width(1.0).filter(|_| is_weighable(track)) else {
        return Ok(None);
    };
    let errors = track.judge(&first, Judged::LeftOut(rows.start, rows.end))?;
    let Some(penalty) = errors.and_then(|errors| errors.penalty) else {
        return Ok(None);
    };
    first.penalty = penalty;
    let slopes = track.slopes(&first, rows)?;
    let weighed = slopes.map(|slopes| in_turn(track, &first, &slopes));
    Ok(weighed.transpose()?.flatten())
}

/// Alternates between lengthscales from slopes and slopes with these lengthscales.
fn in_turn(track: &Track<'_>, first: &Runner, slopes: &Array1<f64>) -> Result<Option<Runner>> {
    let rows = track.few().min(ROWS.0);
    let Some(mut best) = weighed(track, first, slopes)? else {
        return Ok(None);
    };
    for turn in 1..TURNS {
        // Half of the rows take a quarter of the time; the last turn uses all.
        let rows = if turn + 1 < TURNS { rows / 2 } else { rows };
        let slopes = track.slopes(&best, 0..rows)?;
        let next = slopes.map(|slopes| weighed(track, first, &slopes));
        match next.transpose()?.flatten() {
            Some(next) => best = next,
            None => break,
        }
    }
    Ok(Some(best))
}

/// Whether the number of columns is small enough.
fn is_weighable(track: &Track<'_>) -> bool {
    (2..=COLUMNS).contains(&track.weighable())
}

/// Returns the squared slopes of a candidate, if lengthscales from one half of the rows reduce the
/// error on the other half.
fn slopes_that_tell(track: &Track<'_>, first: &Runner) -> Result<Option<Array1<f64>>> {
    let (most, least) = ROWS;
    let half = track.few().min(most) / 2;
    if half < least || !is_weighable(track) {
        return Ok(None);
    }
    let (mut alike, mut other) = (Vec::new(), Vec::new());
    let mut sum_d = Array1::zeros(0);
    for (tell, judge) in [(0..half, half..2 * half), (half..2 * half, 0..half)] {
        let Some(slopes_d) = track.slopes(first, tell)? else {
            return Ok(None);
        };
        let Some(next) = weighed(track, first, &slopes_d)? else {
            return Ok(None);
        };
        let judged = Judged::LeftOut(judge.start, judge.end);
        let errors = track.judge(first, judged)?;
        let (Some(own), Some(next)) = (errors, track.judge(&next, judged)?) else {
            return Ok(None);
        };
        alike.extend(own.squares_m);
        other.extend(next.squares_m);
        sum_d = if sum_d.is_empty() {
            slopes_d
        } else {
            sum_d + slopes_d
        };
    }
    let (alike_m, other_m) = (Array1::from(alike), Array1::from(other));
    let better = other_m.sum() < BETTER * alike_m.sum() && are_less(&other_m, &alike_m);
    Ok(better.then_some(sum_d))
}

/// Returns a candidate with lengthscales `sigma / r_j` along standardised columns: `r_j^2` is
/// proportional to the squared slopes, and sigma is the same multiple of the median distance.
fn weighed(track: &Track<'_>, first: &Runner, squares_d: &Array1<f64>) -> Result<Option<Runner>> {
    let mean = squares_d.sum() / track.weighable() as f64;
    let Some(multiple) = first.of.multiple.filter(|_| mean > 0.0 && mean.is_finite()) else {
        return Ok(None);
    };
    let roots_d = squares_d.mapv(|square| (square / mean + FLOOR).sqrt());
    let Some(median) = track.median_distance(&roots_d)? else {
        return Ok(None);
    };
    let each = roots_d.mapv(|root| rounded(multiple * median / root, DIGITS));
    let bandwidth = (Bandwidth::SigmaPerColumn(each.to_vec()), Some(multiple));
    Ok(Some(Runner {
        penalty: first.penalty,
        ..Runner::new(Standardize::Yes, bandwidth, first.of.linear)
    }))
}
