//! Gram sums.

use super::{EPS, Outcome, gram_error, menu, normal, panel_limits, poisoned};
use crate::{
    Device, Result,
    form::tile,
    ops::gram::{self, GramAccumulator},
};
use ndarray::s;

const SHAPES: [(usize, usize, usize); 8] = [
    (1, 1, 1),
    (3, 63, 2),
    (17, 64, 64),
    (64, 65, 1),
    (65, 130, 3),
    (4097, 20, 65),
    (4096, 49, 3),
    (9000, 5, 1),
];

pub(crate) fn run(device: &Device) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for &tile in menu(device, tile::SQUARE_MENU) {
        for (rows, d, t) in SHAPES {
            let (z, y) = (normal(rows, d, 4), normal(rows, t, 5));
            let reference = gram::reference(z.view(), y.view());
            // Negative control: one row fewer.
            let short = gram::reference(z.slice(s![1.., ..]), y.slice(s![1.., ..]));
            let allowed = 4.0 * EPS * (1.0 + (rows.min(gram::BLOCK_ROWS) as f64).sqrt());
            for &panel_bytes in panel_limits(device) {
                let mut z_nd = poisoned(device, rows, d)?;
                let mut y_nt = poisoned(device, rows, t)?;
                z_nd.write(z.view())?;
                y_nt.write(y.view())?;
                let mut sums = GramAccumulator::with_tile(device, d, t, tile, panel_bytes)?;
                sums.add(&z_nd, &y_nt)?;
                let sums = sums.finish()?;
                let (zz, zy) = gram_error(&sums, &reference, z.view(), y.view());
                outcome.case(zz.max(zy) / allowed, || {
                    let panels = match panel_bytes {
                        u64::MAX => "one panel".into(),
                        bytes => format!("panels of {bytes} bytes"),
                    };
                    format!("{rows} x {d}, {t} targets, {}, {panels}", tile.name)
                });
                let (zz, zy) = gram_error(&sums, &short, z.view(), y.view());
                outcome.control(zz.min(zy) / allowed, || {
                    format!("a lost row of {rows} x {d}, {t} targets")
                });
            }
        }
    }
    Ok(outcome)
}
