//! Tables of all kinds: what a column can be, and what a target can make of it.

use super::Kind;
use bochner::seed::Draws;
use std::f64::consts::TAU;

fn normal(draws: &mut Draws, _: usize) -> f64 {
    draws.normal()
}

fn uniform(draws: &mut Draws, _: usize) -> f64 {
    draws.uniform()
}

fn as_is(_: usize, value: f64) -> f64 {
    value
}

/// A weight of column j that is no pattern.
fn weight(j: usize) -> f64 {
    ((j + 1) as f64 * 2.399).sin()
}

/// What a linear model gets right.
fn linear(x: &[f64]) -> f64 {
    (x.iter().enumerate()).map(|(j, v)| weight(j) * v).sum()
}

fn noisy(value: f64, deviation: f64, draws: &mut Draws) -> f64 {
    value + deviation * draws.normal()
}

/// Draws of 0 or 1, the second with this chance.
fn coin(draws: &mut Draws, chance: f64) -> f64 {
    f64::from(draws.uniform() < chance)
}

/// y = 3 sin 2x + w.
fn wave(x: &[f64], draws: &mut Draws) -> f64 {
    noisy(3.0 * (2.0 * x[0]).sin() + x[1], 0.3, draws)
}

fn friedman1(x: &[f64], draws: &mut Draws) -> f64 {
    let smooth = 10.0 * (TAU / 2.0 * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2);
    noisy(smooth + 10.0 * x[3] + 5.0 * x[4], 1.0, draws)
}

/// Columns of Friedman's circuits.
fn circuit(draws: &mut Draws, j: usize) -> f64 {
    let (from, to) = match j {
        0 => (0.0, 100.0),
        1 => (40.0 * TAU / 2.0, 560.0 * TAU / 2.0),
        2 => (0.0, 1.0),
        _ => (1.0, 11.0),
    };
    from + (to - from) * draws.uniform()
}

fn impedance(x: &[f64]) -> f64 {
    x[1] * x[2] - 1.0 / (x[1] * x[3])
}

/// A corner of the plane with a hole: one label inside a ring, another outside.
fn ring(x: &[f64], draws: &mut Draws) -> f64 {
    let radius = (x[0] * x[0] + x[1] * x[1]).sqrt();
    f64::from(noisy(radius, 0.1, draws) > 1.18)
}

/// Prices: a product of what was paid for.
fn price(x: &[f64], draws: &mut Draws) -> f64 {
    (noisy(linear(x), 0.2, draws) + 3.0).exp()
}

const PLAIN: Kind = Kind {
    name: "",
    rows: 1000,
    labels: false,
    columns: 2,
    column: normal,
    target: wave,
    written: as_is,
};

/// All kinds, those that are alike beside each other.
pub(in super::super) const KINDS: [Kind; 42] = [
    Kind {
        name: "a wave and a line",
        ..PLAIN
    },
    Kind {
        name: "the same, the line's column 8 times as wide",
        written: |j, v| if j == 1 { 8.0 * v } else { v },
        ..PLAIN
    },
    Kind {
        name: "the same, a millionth as wide",
        written: |j, v| if j == 1 { 1e-6 * v } else { v },
        ..PLAIN
    },
    Kind {
        name: "the same, the wave's a million times as wide",
        written: |j, v| if j == 0 { 1e6 * v } else { v },
        ..PLAIN
    },
    Kind {
        name: "the same, 10,000 added",
        written: |_, v| v + 1e4,
        ..PLAIN
    },
    Kind {
        name: "a wave beside a column of 0 to 100",
        column: |d, j| {
            if j == 0 {
                3.0 * d.normal()
            } else {
                100.0 * d.uniform()
            }
        },
        target: |x, d| noisy(5.0 * x[0].sin() + x[1] / 10.0, 0.3, d),
        ..PLAIN
    },
    Kind {
        name: "ten columns of 10^-6 to 10^6",
        columns: 10,
        target: |x, d| {
            noisy(
                (2.0 * x[0]).sin() + x[1] * x[2] + 0.3 * linear(&x[3..]),
                0.2,
                d,
            )
        },
        written: |j, v| v * 10_f64.powi((j as i32 * 5) % 13 - 6),
        ..PLAIN
    },
    Kind {
        name: "lines of 10 of 50 columns, 210 rows",
        rows: 210,
        columns: 50,
        target: |x, d| noisy(linear(&x[..10]), 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "lines of 30 columns, 300 rows",
        rows: 300,
        columns: 30,
        target: |x, d| noisy(linear(x), 0.5, d),
        ..PLAIN
    },
    Kind {
        name: "lines of 5 of 50 columns, 300 rows",
        rows: 300,
        columns: 50,
        target: |x, d| noisy(linear(&x[..5]), 0.7, d),
        ..PLAIN
    },
    Kind {
        name: "lines of 8 columns, 40 rows",
        rows: 40,
        columns: 8,
        target: |x, d| noisy(linear(x), 0.8, d),
        ..PLAIN
    },
    Kind {
        name: "lines of 20 columns, 5,000 rows",
        rows: 5000,
        columns: 20,
        target: |x, d| noisy(linear(x), 1.0, d),
        ..PLAIN
    },
    Kind {
        name: "lines of scales 10^-3 to 10^3",
        columns: 12,
        target: |x, d| noisy(linear(x), 0.5, d),
        written: |j, v| v * 10_f64.powi(j as i32 % 7 - 3),
        ..PLAIN
    },
    Kind {
        name: "a line with a fast wave upon it",
        columns: 6,
        target: |x, d| noisy(2.0 * linear(x) + (4.0 * x[0]).sin(), 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "noise alone",
        columns: 5,
        target: |_, d| d.normal(),
        ..PLAIN
    },
    Kind {
        name: "Friedman 1, 700 rows",
        rows: 700,
        columns: 10,
        column: uniform,
        target: friedman1,
        ..PLAIN
    },
    Kind {
        name: "Friedman 2, 700 rows",
        rows: 700,
        columns: 4,
        column: circuit,
        target: |x, d| noisy(x[0].hypot(impedance(x)), 60.0, d),
        ..PLAIN
    },
    Kind {
        name: "Friedman 3, 700 rows",
        rows: 700,
        columns: 4,
        column: circuit,
        target: |x, d| noisy((impedance(x) / x[0].max(1e-3)).atan(), 0.1, d),
        ..PLAIN
    },
    Kind {
        name: "Friedman 1 beside 20 columns of noise",
        columns: 30,
        column: uniform,
        target: friedman1,
        ..PLAIN
    },
    Kind {
        name: "Friedman 1, 20,000 rows",
        rows: 20_000,
        columns: 10,
        column: uniform,
        target: friedman1,
        ..PLAIN
    },
    Kind {
        name: "a product of two of 5",
        columns: 5,
        target: |x, d| noisy(x[0] * x[1], 0.1, d),
        ..PLAIN
    },
    Kind {
        name: "a product of three",
        columns: 4,
        target: |x, d| noisy(x[0] * x[1] * x[2], 0.1, d),
        ..PLAIN
    },
    Kind {
        name: "a step in one of 5",
        rows: 600,
        columns: 5,
        target: |x, d| noisy(2.0 * f64::from(x[0] > 0.3), 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "a chessboard of 4 x 4",
        rows: 2000,
        column: uniform,
        target: |x, d| {
            let field = (4.0 * x[0]).floor() + (4.0 * x[1]).floor();
            noisy(field % 2.0, 0.1, d)
        },
        ..PLAIN
    },
    Kind {
        name: "stairs in 6 columns",
        columns: 6,
        column: uniform,
        target: |x, d| noisy(x.iter().map(|v| (3.0 * v).floor()).sum(), 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "five periods and a line",
        column: uniform,
        target: |x, d| noisy((30.0 * x[0]).sin() + 2.0 * x[1], 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "eight periods of one column",
        columns: 1,
        column: uniform,
        target: |x, d| noisy((8.0 * TAU * x[0]).sin(), 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "slow first, fast then",
        columns: 1,
        column: uniform,
        target: |x, d| noisy((40.0 * x[0] * x[0]).sin(), 0.1, d),
        ..PLAIN
    },
    Kind {
        name: "amounts with a long tail",
        columns: 5,
        column: |d, _| (1.5 * d.normal()).exp(),
        target: |x, d| noisy(linear(&[x[0].ln(), x[1].ln(), x[2].ln()]), 0.3, d),
        ..PLAIN
    },
    Kind {
        name: "columns with outliers",
        columns: 4,
        column: |d, _| d.normal() / d.uniform().max(1e-4).sqrt(),
        target: |x, d| noisy((2.0 * x[0]).tanh() + x[1].tanh(), 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "a cell of 10^12 in 500",
        columns: 3,
        column: |d, j| match (j, d.uniform()) {
            (2, u) if u < 0.002 => 1e12,
            _ => d.normal(),
        },
        target: |x, d| noisy((2.0 * x[0]).sin() + x[1], 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "prices: products of 4",
        columns: 4,
        target: price,
        ..PLAIN
    },
    Kind {
        name: "prices: products of 4, two waves",
        columns: 4,
        target: |x, d| (noisy((2.0 * x[0]).sin() + x[1].cos() + x[2], 0.2, d) + 3.0).exp(),
        ..PLAIN
    },
    Kind {
        name: "shops as columns of 0 and 1",
        columns: 12,
        column: |d, j| if j < 10 { coin(d, 0.1) } else { d.normal() },
        target: |x, d| noisy(2.0 * linear(&x[..10]) + (2.0 * x[10]).sin(), 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "switches that work together",
        columns: 12,
        column: |d, _| coin(d, 0.5),
        target: |x, d| noisy(linear(x) + 2.0 * x[0] * x[1] - 2.0 * x[2] * x[3], 0.2, d),
        ..PLAIN
    },
    Kind {
        name: "30 rows",
        rows: 30,
        ..PLAIN
    },
    Kind {
        name: "100,000 rows of 8 columns",
        rows: 100_000,
        columns: 8,
        target: |x, d| noisy((2.0 * x[0]).sin() + x[1] * x[2] + linear(&x[3..]), 0.3, d),
        ..PLAIN
    },
    Kind {
        name: "labels: a ring, one column 20 times as wide",
        labels: true,
        target: ring,
        written: |j, v| if j == 1 { 20.0 * v } else { v },
        ..PLAIN
    },
    Kind {
        name: "labels: a half space of 20 columns",
        labels: true,
        columns: 20,
        target: |x, d| f64::from(noisy(linear(x), 0.5, d) > 0.0),
        ..PLAIN
    },
    Kind {
        name: "labels: one in thirty, 2,000 rows",
        rows: 2000,
        labels: true,
        columns: 5,
        target: |x, d| f64::from(noisy(x[0] + x[1] * x[1], 0.3, d) > 3.8),
        ..PLAIN
    },
    Kind {
        name: "labels: 16 corners of 8 columns",
        rows: 3000,
        labels: true,
        columns: 8,
        target: |x, d| {
            let side = |j: usize| f64::from(x[j] > 0.0);
            let corner = side(0) + 2.0 * side(1) + 4.0 * side(2);
            3.0 * corner + f64::from(noisy(x[3], 0.1, d) > 0.5)
        },
        ..PLAIN
    },
    Kind {
        name: "labels: exclusive or of 2 of 8",
        labels: true,
        columns: 8,
        target: |x, d| f64::from((x[0] * x[1] > 0.0) == (d.uniform() < 0.95)),
        ..PLAIN
    },
];
