//! Drift of targets given rows.

use super::*;
use crate::linalg::cholesky::Lower;
use ndarray::Array1;

/// Sums of rows whose target is a function of the first and the last column, plus noise.
struct Made {
    rows: usize,
    columns: usize,
    shift: f64,
    slope: f64,
    noise: f64,
    /// Whether noise grows with the distance from the mean.
    outwards: bool,
    half_life: Option<f64>,
}

const USUAL: Made = Made {
    rows: 60,
    columns: 2,
    shift: 0.0,
    slope: 1.0,
    noise: 0.5,
    outwards: false,
    half_life: None,
};

impl Made {
    fn values(&self, draw: u64) -> (Array2<f64>, Array2<f64>) {
        let x = rows(self.rows, self.columns, self.shift, draw);
        let mut draws = Seed(77).stream(Stream::Data, draw);
        let y = x.rows().into_iter().map(|x| {
            let of_row = self.slope * (0.7 * x[0]).sin() + 0.5 * x[x.len() - 1];
            let wide = if self.outwards { 0.2 + x[0].abs() } else { 1.0 };
            of_row + self.noise * wide * draws.normal()
        });
        let y = Array1::from_iter(y).insert_axis(Axis(1));
        (x, y)
    }

    fn sums(&self, draw: u64) -> NormalEquations {
        let (x, y) = self.values(draw);
        summed(&x, Some(y), &amounts(1), self.half_life)
    }

    /// Two classes, with y as log odds.
    fn classes(&self, draw: u64, flipped: f64) -> NormalEquations {
        let (x, mut y) = self.values(draw);
        let mut draws = Seed(78).stream(Stream::Data, draw);
        y.mapv_inplace(|y| {
            let one = draws.uniform() < 1.0 / (1.0 + (-3.0 * y).exp());
            let flips = draws.uniform() < flipped;
            f64::from(u8::from(one != flips))
        });
        summed(&x, Some(y), &Targets::Classes(vec![0.0, 1.0]), None)
    }
}

fn tested(a: &NormalEquations, b: &NormalEquations) -> TargetsOutcome {
    sums_differ(a, b)
        .expect("tests")
        .of_targets
        .expect("targets")
}

fn share(pairs: u64, below: f64, p: impl Fn(u64) -> f64) -> f64 {
    let count = (0..pairs).filter(|&pair| p(pair) < below).count();
    count as f64 / pairs as f64
}

/// If the targets depend on the rows in the same way, one pair in twenty has a p-value below .05,
/// within the error of 500 pairs, also if the distribution of the rows or the noise differs.
#[test]
fn the_level_is_kept_whatever_else_drifts() {
    for (k, [a, b]) in [
        [Made { rows: 15, ..USUAL }, Made { rows: 15, ..USUAL }],
        [
            USUAL,
            Made {
                noise: 1.5,
                rows: 90,
                ..USUAL
            },
        ],
        [
            Made { rows: 150, ..USUAL },
            Made {
                rows: 200,
                shift: 0.7,
                ..USUAL
            },
        ],
        [
            Made {
                rows: 120,
                half_life: Some(20.0),
                ..USUAL
            },
            Made {
                rows: 150,
                half_life: Some(9.0),
                ..USUAL
            },
        ],
    ]
    .iter()
    .enumerate()
    {
        let p = |pair: u64| {
            let draw = 20_000 * k as u64 + 2 * pair;
            tested(&a.sums(draw), &b.sums(draw + 1)).outcome.p_value
        };
        let all: Vec<f64> = (0..500).map(p).collect();
        let of = |below| share(500, below, |pair| all[pair as usize]);
        let (low, half) = (of(0.05), of(0.5));
        assert!((0.021..0.079).contains(&low), "{k}: {low}");
        assert!((0.42..0.58).contains(&half), "{k}: {half}");
    }
}

/// For two classes noise is smaller where the classes are well separated, and there are fewer false
/// alarms. Noise that grows away from the mean is not visible in sums: it doubles false alarms.
#[test]
fn other_noise_costs_what_is_said() {
    let of_classes = |pair| {
        let [a, b] = [0, 1].map(|s| USUAL.classes(90_000 + 2 * pair + s, 0.0));
        tested(&a, &b).outcome.p_value
    };
    let low = share(500, 0.05, of_classes);
    assert!(low < 0.079, "{low}");
    let outwards = Made {
        outwards: true,
        rows: 200,
        ..USUAL
    };
    let low = share(500, 0.05, |pair| {
        let draw = 95_000 + 2 * pair;
        tested(&outwards.sums(draw), &outwards.sums(draw + 1))
            .outcome
            .p_value
    });
    println!("noise that grows outwards: {low}");
    assert!((0.05..0.15).contains(&low), "{low}");
}

/// For rows of one distribution, different relations of the targets are detected, by the test of
/// targets only.
#[test]
fn other_slopes_and_flipped_labels_are_found() {
    let steeper = Made {
        rows: 200,
        slope: 1.6,
        ..USUAL
    };
    let usual = Made { rows: 200, ..USUAL };
    let mut by_rows = 0;
    let found = share(60, 0.05, |pair| {
        let draw = 70_000 + 2 * pair;
        let (a, b) = (usual.sums(draw), steeper.sums(draw + 1));
        tested(&a, &b).outcome.p_value
    });
    for pair in 0..60 {
        let draw = 70_000 + 2 * pair;
        let found = sums_differ(&usual.sums(draw), &steeper.sums(draw + 1)).expect("tests");
        by_rows += u64::from(found.outcome.rejects(0.05));
    }
    assert!(found > 0.9 && by_rows <= 9, "{found} {by_rows}");
    let flipped = share(60, 0.05, |pair| {
        let draw = 80_000 + 2 * pair;
        let outcome = tested(&usual.classes(draw, 0.0), &usual.classes(draw + 1, 0.4));
        assert_eq!(outcome.targets, 1);
        outcome.outcome.p_value
    });
    assert!(flipped > 0.9, "{flipped}");
}

/// Sums by plain loops; with an additional constant column if `x` has one.
fn plain(x: &Array2<f64>, y: &Array2<f64>) -> NormalEquations {
    NormalEquations {
        rows: x.nrows() as u64,
        weight: x.nrows() as f64,
        weight_squares: x.nrows() as f64,
        gram_dd: x.t().dot(x),
        zty_dt: x.t().dot(y),
        z_sum_d: x.sum_axis(Axis(0)),
        y_sum_t: y.sum_axis(Axis(0)),
        y_square_t: (y * y).sum_axis(Axis(0)),
        ..NormalEquations::zero(x.ncols(), y.ncols())
    }
}

fn inverse(a: &Array2<f64>) -> Array2<f64> {
    let mut lower = Lower::from_matrix(a);
    assert!(lower.factor());
    let mut out = Array2::eye(a.nrows());
    lower.solve(&mut out);
    lower.solve_transposed(&mut out);
    out
}

/// The statistic is the difference of two least-squares fits to the rows, weighted by the
/// information of both, divided by its expectation under noise.
#[test]
fn sums_compare_the_fits_to_the_rows() {
    let ((xa, ya), (xb, yb)) = (
        USUAL.values(5),
        Made {
            slope: 1.4,
            ..USUAL
        }
        .values(6),
    );
    let found = tested(&plain(&xa, &ya), &plain(&xb, &yb));
    let both = concatenate(Axis(0), &[xa.view(), xb.view()]).expect("rows");
    let mean = both.mean_axis(Axis(0)).expect("rows");
    let spread = (&both - &mean).mapv(|v| v * v).sum() / both.nrows() as f64;
    let fit = |x: &Array2<f64>, y: &Array2<f64>| {
        let ones = Array2::from_elem((x.nrows(), 1), spread.sqrt());
        let z = concatenate(Axis(1), &[(x - &mean).view(), ones.view()]).expect("columns");
        let unsure = inverse(&z.t().dot(&z));
        let beta = unsure.dot(&z.t().dot(y));
        let left = (y - &z.dot(&beta)).mapv(|e| e * e).sum() / (x.nrows() as f64 - 3.0);
        (unsure, beta, left)
    };
    let ((a, beta_a, noise_a), (b, beta_b, noise_b)) = (fit(&xa, &ya), fit(&xb, &yb));
    let known = inverse(&(&a + &b));
    let apart = known.dot(&(&beta_a - &beta_b)).mapv(|v| v * v).sum();
    let noise = known.dot(&(&a * noise_a + &b * noise_b)).dot(&known);
    let expected = apart / noise.diag().sum();
    let off = found.outcome.statistic / expected - 1.0;
    assert!(off.abs() < 1e-9, "{found:?} {expected}");
    assert_eq!((found.directions, found.targets), (2, 1));
}

/// With several targets the one that differs is named, and the p-value accounts for their number;
/// equal constants have neither noise nor difference, and different constants count as a
/// difference.
#[test]
fn each_target_is_tested() {
    let ((xa, ya), (xb, yb)) = (USUAL.values(7), USUAL.values(8));
    let turned = |x: &Array2<f64>, sign: f64| {
        let of_row = |(i, x): (usize, f64)| sign * x + ((7 * i) as f64).cos();
        Array1::from_iter(x.column(1).iter().copied().enumerate().map(of_row))
    };
    let targets = |x: &Array2<f64>, y: &Array2<f64>, sign: f64, constant: f64| {
        let constant = Array1::from_elem(x.nrows(), constant);
        let y = y.column(0).to_owned();
        let columns = [&y, &(-&y), &turned(x, sign), &constant];
        ndarray::stack(Axis(1), &columns.map(|column| column.view())).expect("columns")
    };
    let sums = |x: &Array2<f64>, y: Array2<f64>| summed(x, Some(y), &amounts(4), None);
    let a = sums(&xa, targets(&xa, &ya, 1.0, 3.0));
    let same = tested(&a, &sums(&xb, targets(&xb, &yb, 1.0, 3.0)));
    assert_eq!(same.targets, 3);
    assert!(same.outcome.p_value > 0.05, "{same:?}");
    let other = tested(&a, &sums(&xb, targets(&xb, &yb, -1.0, 3.0)));
    assert!(
        other.outcome.rejects(1e-4) && other.target == 2,
        "{other:?}"
    );
    let constant = tested(&a, &sums(&xb, targets(&xb, &yb, 1.0, 3.1)));
    assert!(
        constant.outcome.rejects(1e-6) && constant.target == 3,
        "{constant:?}"
    );
    // Each target alone, times three.
    let alone = |b: NormalEquations, k: usize| {
        let only = |sums: &NormalEquations| NormalEquations {
            zty_dt: sums.zty_dt.slice(ndarray::s![.., k..=k]).to_owned(),
            y_sum_t: sums.y_sum_t.slice(ndarray::s![k..=k]).to_owned(),
            y_square_t: sums.y_square_t.slice(ndarray::s![k..=k]).to_owned(),
            ..sums.clone()
        };
        tested(&only(&a), &only(&b)).outcome.p_value
    };
    let b = || sums(&xb, targets(&xb, &yb, 1.0, 3.0));
    let each = [0, 2, 3].map(|k| alone(b(), k));
    let least = each.into_iter().fold(1.0, f64::min);
    let off = same.outcome.p_value - (3.0 * least).min(1.0);
    assert!(off.abs() < 1e-12 && each[2] > 0.99, "{same:?} {each:?}");
}
