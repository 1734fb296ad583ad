//! Columns weighed by what they tell.

use super::{Candidate, Table, fourier, race_of, table};
use crate::{
    features::{Bandwidth, Standardize},
    seed::Draws,
};

/// The lengthscales of each column of what was chosen.
fn weights(of: &Candidate) -> Option<&[f64]> {
    match &of.bandwidth {
        Bandwidth::SigmaPerColumn(each) => Some(each),
        _ => None,
    }
}

/// One column of eight tells all: it is narrow, the others are wide, and errors fall by half.
/// Where all tell as much, and where none does, columns count alike.
#[test]
fn columns_count_by_what_they_tell() {
    let of = |table: &Table| race_of(table, fourier(), Standardize::Auto).expect("a race");
    let wave = |x: &[f64], draws: &mut Draws| (2.0 * x[2]).sin() + 0.1 * draws.normal();
    let one = table(400, 8, wave);
    let race = of(&one);
    let each = weights(race.chosen()).expect("weights").to_vec();
    let others = (0..8).filter(|&j| j != 2).map(|j| each[j]);
    let least = others.fold(f64::INFINITY, f64::min);
    assert!(least > 4.0 * each[2], "{each:?}");
    let alike = race.candidates.iter().filter(|c| weights(c).is_none());
    let alike = alike.map(|c| c.error).fold(f64::INFINITY, f64::min);
    assert!(race.chosen().error < 0.5 * alike, "{race} {alike}");
    // Weights are for a column, wherever its zero.
    let mut other = one.clone();
    other.0.column_mut(2).mapv_inplace(|v| v - 700.0);
    let of_other = of(&other);
    let again = weights(of_other.chosen()).expect("weights").to_vec();
    let off = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 2e-3;
    assert!(each.iter().zip(&again).all(off), "{each:?} {again:?}");
    // Said otherwise, nothing is weighed.
    let kept = race_of(&one, fourier(), Standardize::No).expect("a race");
    assert!(kept.candidates.iter().all(|c| weights(c).is_none()));
    for target in [
        |x: &[f64], draws: &mut Draws| (x.iter().sum::<f64>() / 2.0).sin() + 0.1 * draws.normal(),
        |_: &[f64], draws: &mut Draws| draws.normal(),
    ] {
        let race = of(&table(400, 4, target));
        assert!(
            race.candidates.iter().all(|c| weights(c).is_none()),
            "{race}"
        );
    }
}

/// Rows held out judge weighed columns beside those that count alike.
#[test]
fn rows_held_out_judge_weights() {
    let wave = |x: &[f64], draws: &mut Draws| (2.0 * x[2]).sin() + 0.1 * draws.normal();
    let race = race_of(&table(3000, 8, wave), fourier(), Standardize::Auto).expect("a race");
    let held = race
        .candidates
        .iter()
        .filter(|c| c.rows == 3000 && c.multiple.is_some());
    let (weighed, alike): (Vec<_>, Vec<_>) = held.partition(|c| weights(c).is_some());
    assert!(!weighed.is_empty() && !alike.is_empty(), "{race}");
    assert!(weights(race.chosen()).is_some(), "{race}");
}

/// Few rows see a line alone, so that the widest kernel wins and no column is weighed; rows held
/// out find the wave, and with it what columns tell.
#[test]
fn columns_are_weighed_after_narrowing() {
    for wave in [2.0, 2.1] {
        let rows = table(4000, 5, |x, draws| {
            (wave * x[0]).sin() * x[1] + x[2] + 0.3 * draws.normal()
        });
        let race = race_of(&rows, fourier(), Standardize::Auto).expect("a race");
        let each = weights(race.chosen()).map(<[f64]>::to_vec);
        let each = each.unwrap_or_else(|| panic!("{wave}: {race}"));
        assert!(each[3].min(each[4]) > 2.0 * each[0], "{wave}: {each:?}");
    }
}
