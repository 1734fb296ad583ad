//! Fused predict.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, SIZES, in_turn, menu, normal, poisoned, worst},
    form::tile,
    ops::{
        Nonlinearity,
        predict::{self, Predict},
        projection::{
            self, Projection,
            check::{away_from_jumps, bound, dense},
        },
    },
};

/// Every nonlinearity with some number of targets, the paired one with two.
fn forms() -> Vec<(Nonlinearity, usize)> {
    let targets = [19, 5, 2, 8, 11, 6, 3];
    let each = Nonlinearity::examples().into_iter().zip(targets);
    [(Nonlinearity::CosSin, 1)]
        .into_iter()
        .chain(each)
        .collect()
}

pub(crate) fn run(device: &Device, extent: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for (shape, tile) in menu(device, extent, tile::PREDICT_MENU)
        .into_iter()
        .enumerate()
    {
        for (at, &(rows, d, s)) in SIZES.iter().enumerate() {
            for (f, t) in in_turn(device, extent, &forms(), [shape, at]) {
                let map = dense(d, s, f.clone(), 0.3);
                let mut x = normal(rows, d, 1);
                away_from_jumps(&map, &mut x);
                let beta = normal(map.outputs(), t, 8);
                let projection = Projection::load_with(device, &map, tile.into())?;
                let op = Predict::new(&projection);
                let x_nd = Matrix::upload(device, x.view())?;
                let beta_dt = Matrix::upload(device, beta.view())?;
                let run = |splits: Option<usize>| {
                    let mut y_nt = poisoned(device, rows, t)?;
                    match splits {
                        None => op.run(&x_nd, &beta_dt, &mut y_nt)?,
                        Some(splits) => op.run_in_splits(&x_nd, &beta_dt, &mut y_nt, splits)?,
                    }
                    y_nt.download()
                };
                let y = run(None)?;
                let z = projection::reference(&map, x.view()).mapv(f64::abs);
                let sizes = beta.mapv(|v| f64::from(v).abs());
                let (size, feature_bound) = (z.dot(&sizes), bound(&map, &x).dot(&sizes));
                let allowed =
                    |i, j| feature_bound[[i, j]] + 4.0 * EPS * (1.0 + f64::abs(size[[i, j]]));
                let reference = predict::reference(&map, x.view(), beta.view());
                let name = || format!("{rows} x {d} -> {s} -> {t} {f:?} {}", tile.name);
                outcome.case(worst(y.view(), reference.view(), allowed), name);
                if device.gpu().is_ok() && s > 64 {
                    let y = run(Some(2))?;
                    let ratio = worst(y.view(), reference.view(), allowed);
                    outcome.case(ratio, || format!("{} in two splits", name()));
                }
                // Negative control: the coefficients of the last feature lost, unless it is silent
                // on these rows.
                let last = map.outputs() - 1;
                if z.column(last).iter().any(|&v| v >= 1e-3) {
                    let mut wrong = beta.clone();
                    wrong.row_mut(last).fill(0.0);
                    let reference = predict::reference(&map, x.view(), wrong.view());
                    let ratio = worst(y.view(), reference.view(), allowed);
                    outcome.control(ratio, || format!("a lost coefficient of {}", name()));
                }
            }
        }
    }
    Ok(outcome)
}
