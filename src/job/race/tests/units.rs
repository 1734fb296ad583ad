//! Units of columns, and what their preparations have to do with each other.

use super::{Candidate, Race, Table, fourier, race_of, table};
use crate::{features::Standardize, seed::Draws};

/// Columns of one unit but for one: over their ranges all have it again, and few rows tell as much
/// as with one unit. Those that vary little stay small, which deviations would make as wide as the
/// others.
#[test]
fn one_column_in_another_unit_comes_back_to_it() {
    let of = |factor: f64| {
        // Two columns that matter, and ten that are rarely lit.
        let (mut x, y) = table(400, 12, |x, draws| {
            let wave = |v: f64| (2.0 * v.clamp(-2.0, 2.0)).sin();
            wave(x[0]) * wave(x[1]) + 0.1 * draws.normal()
        });
        for mut row in x.outer_iter_mut() {
            row.mapv_inplace(|v| v.clamp(-2.0, 2.0));
            row.slice_mut(ndarray::s![2..])
                .mapv_inplace(|v| if v >= 2.0 { 2.0 } else { -2.0 });
            row[0] *= factor;
        }
        race_of(&(x, y), fourier(), Standardize::Auto).expect("a race")
    };
    let (own, other) = (of(1.0), of(1000.0));
    let least = |race: &Race, standardize| {
        let first = race.candidates.iter().filter(|c| c.rows == 128);
        let of = first.filter(|c| c.standardize == standardize);
        of.map(|c| c.error).fold(f64::INFINITY, f64::min)
    };
    let as_they_are = least(&own, Standardize::No);
    let over_ranges = least(&other, Standardize::Range);
    assert!((over_ranges / as_they_are - 1.0).abs() < 0.02, "{other:?}");
    assert!(least(&other, Standardize::No) > 1.5 * as_they_are);
    assert!(least(&other, Standardize::Yes) > 1.2 * as_they_are);
    let (own, other) = (own.chosen(), other.chosen());
    assert!(other.error < 1.03 * own.error, "{other:?} for {own:?}");
}

/// Units and zeros of columns are no part of the choice where it standardises, nor of which rows
/// are looked at, nor of the usual.
#[test]
fn units_do_not_count() {
    let target = |x: &[f64], draws: &mut Draws| (5.0 * x[0]).sin() + x[1] + 0.1 * draws.normal();
    let plain = table(900, 2, target);
    let of = |table: &Table| race_of(table, fourier(), Standardize::Auto).expect("a race");
    let own = of(&plain);
    for (j, unit) in [(0, 1e5), (1, 1e-6), (1, 40.0)] {
        let mut other = plain.clone();
        other.0.column_mut(j).mapv_inplace(|v| unit * (v + 30.0));
        let of_other = of(&other);
        for of in [Race::chosen, Race::usual] {
            let (own, other) = (of(&own), of(&of_other));
            assert_eq!(other.multiple, own.multiple, "{j} {unit}");
            let off = other.error / own.error - 1.0;
            assert!(off.abs() < 1e-6, "{j} {unit}: {other:?} for {own:?}");
        }
    }
}

/// What becomes of standardised columns, weights too, is their own: columns as they are and over
/// their ranges, which another unit brings in, put none of them out.
#[test]
fn preparations_race_by_themselves() {
    let of = |table: &Table| race_of(table, fourier(), Standardize::Auto).expect("a race");
    for wave in [1.6, 1.8, 2.0, 2.2, 2.4] {
        let plain = table(300, 4, |x, draws| {
            3.0 * (wave * x[0]).sin() + x[1] + x[2] * x[3] / 2.0 + 0.3 * draws.normal()
        });
        let own = of(&plain);
        let standardised = |race: &Race| -> Vec<Candidate> {
            let of_race = race.candidates.iter();
            let mut all: Vec<Candidate> = of_race
                .filter(|c| c.standardize == Standardize::Yes && c.multiple.is_some())
                .cloned()
                .collect();
            all.sort_by_key(|c| format!("{:?} {}", c.bandwidth, c.linear));
            all
        };
        for (j, unit) in [(0, 0.1), (2, 1e4)] {
            let mut other = plain.clone();
            other.0.column_mut(j).mapv_inplace(|v| unit * v);
            let other = of(&other);
            let (own, other) = (standardised(&own), standardised(&other));
            assert_eq!(own.len(), other.len(), "{wave} {j} {unit}");
            for (own, other) in own.iter().zip(&other) {
                assert_eq!(own.rows, other.rows, "{own:?} {other:?}");
                let off = other.error / own.error - 1.0;
                assert!(off.abs() < 1e-3, "{own:?} {other:?}");
            }
        }
    }
}

/// A preparation that is ahead on few rows has to be so on those held out.
#[test]
fn rows_held_out_judge_preparations() {
    let mut rows = table(4000, 5, |x, draws| {
        (2.0 * x[0]).sin() * x[1] + x[2] + 0.3 * draws.normal()
    });
    rows.0.column_mut(0).mapv_inplace(|v| 3.0 * v);
    let race = race_of(&rows, fourier(), Standardize::Auto).expect("a race");
    let is_held = |c: &&Candidate| c.rows == 4000 && c.standardize == Standardize::No;
    assert!(race.candidates.iter().any(|c| is_held(&c)), "none met them");
    assert_eq!(race.chosen().standardize, Standardize::Yes, "{race}");
}
