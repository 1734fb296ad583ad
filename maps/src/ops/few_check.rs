//! Few rows: projections, predictions and products whose depth is split among invocations and among
//! workgroups.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, normal, poisoned, worst},
    form::DenseForm,
    ops::{
        Nonlinearity,
        predict::{self, Predict},
        product,
        projection::{
            self, Projection,
            check::{away_from_jumps, bound, dense, featurize},
        },
    },
};
use ndarray::Array2;

const ROWS: [usize; 4] = [1, 2, 7, 64];
const DEPTHS: [usize; 3] = [1, 3, 784];
const FEATURES: [usize; 3] = [1, 2, 4096];
/// Depths are split among so many workgroups, or as many as have a vec4 of it.
const SPLITS: [usize; 2] = [1, 5];

pub(crate) fn run(device: &Device, _: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for rows in ROWS {
        for d in DEPTHS {
            for features in FEATURES {
                let (f, freqs) = match features {
                    1 => (Nonlinearity::Cos, 1),
                    _ => (Nonlinearity::CosSin, features / 2),
                };
                of_map(device, (rows, d, freqs), f, &mut outcome)?;
                of_product(device, (rows, d, features), &mut outcome)?;
            }
        }
    }
    for f in Nonlinearity::examples() {
        of_map(device, (3, 130, 37), f, &mut outcome)?;
    }
    Ok(outcome)
}

/// The projection with and without splits, and the prediction.
fn of_map(
    device: &Device,
    (rows, d, s): (usize, usize, usize),
    f: Nonlinearity,
    outcome: &mut Outcome,
) -> Result<()> {
    let map = dense(d, s, f.clone(), 0.3);
    let mut x = normal(rows, d, 1);
    away_from_jumps(&map, &mut x);
    let allowed = bound(&map, &x);
    let reference = projection::reference(&map, x.view());
    // Negative control: the last coordinate lost.
    let mut wrong = map.clone();
    wrong.w_ds.row_mut(d - 1).fill(0.0);
    let wrong = projection::reference(&wrong, x.view());
    let noticeable = f != Nonlinearity::Step;
    for splits in SPLITS {
        let z = featurize(device, &map, &x, DenseForm::Few { splits })?;
        let ratio = worst(z.view(), reference.view(), |i, j| allowed[[i, j]]);
        let name = || format!("{rows} x {d} -> {s} {f:?} in {splits}");
        outcome.case(ratio, name);
        if noticeable {
            let ratio = worst(z.view(), wrong.view(), |i, j| allowed[[i, j]]);
            outcome.control(ratio, || format!("a lost coordinate of {}", name()));
        }
    }
    let beta = normal(map.outputs(), 5, 8);
    let splits = SPLITS[1];
    let op = Projection::load_with(device, &map, DenseForm::Few { splits })?;
    let x_nd = Matrix::upload(device, x.view())?;
    let beta_dt = Matrix::upload(device, beta.view())?;
    let mut y_nt = poisoned(device, rows, 5)?;
    Predict::new(&op).run(&x_nd, &beta_dt, &mut y_nt)?;
    let sizes = beta.mapv(|v| f64::from(v).abs());
    let (size, features) = (reference.mapv(f64::abs).dot(&sizes), allowed.dot(&sizes));
    let allowed = |i, j| features[[i, j]] + 4.0 * EPS * (1.0 + f64::abs(size[[i, j]]));
    let y = y_nt.download()?;
    let reference = predict::reference(&map, x.view(), beta.view());
    outcome.case(worst(y.view(), reference.view(), allowed), || {
        format!("{rows} x {d} -> {s} -> 5 {f:?}")
    });
    Ok(())
}

fn of_product(
    device: &Device,
    (rows, k, t): (usize, usize, usize),
    outcome: &mut Outcome,
) -> Result<()> {
    let (a, b) = (normal(rows, k, 1), normal(k, t, 2));
    let a_nk = Matrix::upload(device, a.view())?;
    let b_kt = Matrix::upload(device, b.view())?;
    let size = a.mapv(f32::abs).dot(&b.mapv(f32::abs));
    let allowed = |i, j| (4.0 + (k as f64).sqrt()) * EPS * f64::from(size[[i, j]]);
    let reference = product::reference(a.view(), b.view());
    let mut wrong: Array2<f32> = b.clone();
    wrong.row_mut(k - 1).fill(0.0);
    let wrong = product::reference(a.view(), wrong.view());
    for splits in SPLITS {
        let mut c_nt = poisoned(device, rows, t)?;
        product::product_with(&a_nk, &b_kt, &mut c_nt, DenseForm::Few { splits })?;
        let c = c_nt.download()?;
        let name = || format!("{rows} x {k} x {t} in {splits}");
        outcome.case(worst(c.view(), reference.view(), allowed), name);
        let ratio = worst(c.view(), wrong.view(), allowed);
        outcome.control(ratio, || format!("a lost row of {}", name()));
    }
    Ok(())
}
