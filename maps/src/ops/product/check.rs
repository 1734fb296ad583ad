//! Matrix products.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, menu, normal, poisoned, worst},
    form::tile::{self, Tile},
    ops::product::{self, ProductForm},
};

/// Around every tile edge; the last is more rows of tiles than a band has.
const SHAPES: [(usize, usize, usize); 11] = [
    (1, 1, 1),
    (3, 5, 2),
    (15, 63, 4),
    (16, 64, 5),
    (18, 131, 10),
    (35, 129, 27),
    (17, 65, 17),
    (63, 130, 64),
    (65, 7, 65),
    (257, 1027, 36),
    (1153, 6, 257),
];

pub(crate) fn run(device: &Device, extent: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    let tiles = menu(device, extent, tile::MENU).into_iter();
    for form in tiles.map(Tile::into).chain([ProductForm::Narrow]) {
        for (rows, k, t) in SHAPES {
            let (a, b) = (normal(rows, k, 1), normal(k, t, 2));
            let a_nk = Matrix::upload(device, a.view())?;
            let b_kt = Matrix::upload(device, b.view())?;
            let mut c_nt = poisoned(device, rows, t)?;
            product::product_with(&a_nk, &b_kt, &mut c_nt, form)?;
            let c = c_nt.download()?;
            let size = a.mapv(f32::abs).dot(&b.mapv(f32::abs));
            let allowed = |i, j| (4.0 + (k as f64).sqrt()) * EPS * f64::from(size[[i, j]]);
            let reference = product::reference(a.view(), b.view());
            let name = || format!("{rows} x {k} x {t} {}", form.name());
            outcome.case(worst(c.view(), reference.view(), allowed), name);
            // Negative control: the last of k lost.
            let mut wrong = b.clone();
            wrong.row_mut(k - 1).fill(0.0);
            let reference = product::reference(a.view(), wrong.view());
            let ratio = worst(c.view(), reference.view(), allowed);
            outcome.control(ratio, || format!("a lost row of {}", name()));
        }
    }
    Ok(outcome)
}
