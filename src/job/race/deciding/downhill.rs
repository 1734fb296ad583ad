//! The penalty whose errors are the least.

use super::squares;
use crate::Result;
use ndarray::{Array2, ArrayView1};

/// Penalties over the number of rows, where none are given: from 1e-8 to 10, two in ten.
pub(super) const PENALTIES: usize = 19;
/// The least penalty: 0 leaves no row out.
const LEAST: f64 = 1e-12;

/// Penalties over the number of rows, ascending: these, or the usual ones.
pub(super) fn ascending(given: Option<&[f64]>) -> Vec<f64> {
    let mut penalties: Vec<f64> = match given {
        Some(given) => given.iter().map(|penalty| penalty.max(LEAST)).collect(),
        None => (0..PENALTIES)
            .map(|k| 10_f64.powf(k as f64 / 2.0 - 8.0))
            .collect(),
    };
    penalties.sort_unstable_by(f64::total_cmp);
    penalties.dedup();
    penalties
}

/// The penalty and the errors whose weighted squares are the least of those at rising penalties:
/// from one of them on as long as they fall, down and else up, for they are taken to have one
/// valley. Each takes a factor, so that those beyond it are not made.
pub(in crate::job::race) fn downhill(
    (penalties, start): (&[f64], usize),
    weights_m: ArrayView1<'_, f64>,
    mut errors: impl FnMut(f64) -> Result<Option<Array2<f64>>>,
) -> Result<Option<(f64, Array2<f64>)>> {
    let sum = |off: &Option<(f64, Array2<f64>)>| {
        let sum = off
            .as_ref()
            .map(|(_, off_mt)| (squares(off_mt) * weights_m).sum());
        sum.filter(|sum| sum.is_finite()).unwrap_or(f64::INFINITY)
    };
    let (below, above) = penalties.split_at(start.min(penalties.len().saturating_sub(1)));
    let mut best = None;
    let mut walk = |penalties: &mut dyn Iterator<Item = &f64>| -> Result<bool> {
        let mut moved = false;
        for &penalty in penalties {
            let next = errors(penalty)?.map(|off_mt| (penalty, off_mt));
            if sum(&next) < sum(&best) {
                (best, moved) = (next, true);
            } else if best.is_some() {
                break;
            }
        }
        Ok(moved)
    };
    let mut above = above.iter();
    if walk(&mut above.by_ref().take(1))? {
        if !walk(&mut below.iter().rev())? {
            walk(&mut above)?;
        }
    // What has no solution may have one with a larger penalty.
    } else if !walk(&mut above)? {
        walk(&mut below.iter().rev())?;
    }
    Ok(best)
}

/// The penalty and the errors whose weighted squares are the least.
pub(super) fn least(
    all: impl IntoIterator<Item = (f64, Array2<f64>)>,
    weights_m: ArrayView1<'_, f64>,
) -> Option<(f64, Array2<f64>)> {
    let sum = |off_mt: &Array2<f64>| (squares(off_mt) * weights_m).sum();
    let finite = all.into_iter().filter(|(_, off)| sum(off).is_finite());
    finite.min_by(|(_, a), (_, b)| sum(a).total_cmp(&sum(b)))
}
