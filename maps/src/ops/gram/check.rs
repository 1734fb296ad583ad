//! Gram sums.

mod many_rows;

use crate::{
    Device, Result,
    check::{EPS, Extent, Outcome, menu, normal, poisoned},
    form::tile,
    ops::gram::{self, GramAccumulator, GramSums, Panels, targets, tiles::Form, units},
};
use ndarray::{Array2, ArrayView2, s};

/// Rows, features and targets, which are beside the tiles up to 32 of them.
const SHAPES: [(usize, usize, usize); 12] = [
    (1, 1, 1),
    (3, 63, 2),
    (17, 64, 64),
    (64, 65, 1),
    (65, 130, 3),
    (4097, 20, 65),
    (4096, 49, 3),
    (9000, 5, 1),
    (513, 130, 5),
    (700, 36, 16),
    (1025, 9, 32),
    (530, 67, 33),
];

pub(crate) fn run(device: &Device, extent: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for (number, tile) in menu(device, extent, tile::SQUARE_MENU)
        .into_iter()
        .enumerate()
    {
        for (at, shape) in SHAPES.into_iter().enumerate() {
            let sums = |panels| GramAccumulator::with_tile(device, shape.1, shape.2, tile, panels);
            let cuts = cuts(device, extent, [number, at]);
            compare(device, shape, tile.name, &cuts, &sums, &mut outcome)?;
        }
    }
    if let Device::Gpu(gpu) = device {
        for fragments in units::check::fragments(device, &mut outcome)? {
            let form = Form::Units(fragments);
            let name = format!("{fragments:?}");
            let beside = SHAPES.iter().filter(|(_, _, t)| *t <= targets::MOST);
            for &(rows, d, t) in beside {
                let sums = |panels| GramAccumulator::from_parts(gpu, (d, t), form, panels);
                compare(device, (rows, d, t), &name, &CUTS, &sums, &mut outcome)?;
            }
            units::check::orders(gpu, fragments, &mut outcome)?;
            many_rows::run_in(gpu, form, &mut outcome)?;
        }
    }
    many_rows::run(device, extent, &mut outcome)?;
    Ok(outcome)
}

/// Sums of a shape, cut in every way, against f64.
fn compare(
    device: &Device,
    (rows, d, t): (usize, usize, usize),
    name: &str,
    cuts: &[Panels],
    sums: &dyn Fn(Panels) -> Result<GramAccumulator>,
    outcome: &mut Outcome,
) -> Result<()> {
    let (z, y) = (normal(rows, d, 4), normal(rows, t, 5));
    let reference = gram::reference(z.view(), y.view());
    // Negative control: one row fewer.
    let short = gram::reference(z.slice(s![1.., ..]), y.slice(s![1.., ..]));
    let allowed = 4.0 * EPS * (1.0 + (rows.min(gram::BLOCK_ROWS) as f64).sqrt());
    for &panels in cuts {
        let mut z_nd = poisoned(device, rows, d)?;
        let mut y_nt = poisoned(device, rows, t)?;
        z_nd.write(z.view())?;
        y_nt.write(y.view())?;
        let mut sums = sums(panels)?;
        sums.add(&z_nd, &y_nt)?;
        let sums = sums.finish()?;
        let (zz, zy) = gram_error(&sums, &reference, z.view(), y.view());
        outcome.case(zz.max(zy) / allowed, || {
            format!("{rows} x {d}, {t} targets, {name}, {panels:?}")
        });
        let (zz, zy) = gram_error(&sums, &short, z.view(), y.view());
        outcome.control(zz.min(zy) / allowed, || {
            format!("a lost row of {rows} x {d}, {t} targets")
        });
    }
    Ok(())
}

/// Ways to cut the tiles: panels of one and of two tiles, one for all, and all of it or some split.
const CUTS: [Panels; 6] = {
    const fn panels(bytes: u64, wave: usize) -> Panels {
        Panels { bytes, wave }
    }
    [
        Panels::WHOLE,
        panels(32_768, 1),
        panels(65_536, 1),
        panels(u64::MAX, 2),
        panels(131_072, 1000),
        panels(u64::MAX, 1000),
    ]
};

/// The cuts to check at shape number `at` with tile number `tile`: all of them; the first on the
/// CPU, which cuts nothing; two in turn where the check is short, so that each tile meets each cut
/// at four shapes.
fn cuts(device: &Device, extent: Extent, [tile, at]: [usize; 2]) -> Vec<Panels> {
    let turn = (tile + at) % 3;
    if !device.is_gpu() {
        vec![CUTS[0]]
    } else if extent.is_short_on(device) {
        vec![CUTS[turn], CUTS[turn + 3]]
    } else {
        CUTS.to_vec()
    }
}

/// The worst entry of two sets of Gram sums relative to the norms of its columns: (Z'Z, Z'Y).
fn gram_error(
    sums: &GramSums,
    reference: &GramSums,
    z: ArrayView2<'_, f32>,
    y: ArrayView2<'_, f32>,
) -> (f64, f64) {
    let norms = |m: ArrayView2<'_, f32>| -> Vec<f64> {
        let square =
            |c: ndarray::ArrayView1<'_, f32>| c.iter().map(|&v| f64::from(v).powi(2)).sum();
        let columns = m.columns().into_iter();
        columns.map(|c| f64::sqrt(square(c)).max(1e-30)).collect()
    };
    let (zn, yn) = (norms(z), norms(y));
    let error = |a: &Array2<f64>, b: &Array2<f64>, n: &[f64]| {
        let entry = |((i, j), v): ((usize, usize), &f64)| {
            let e = (v - b[[i, j]]).abs() / (zn[i] * n[j]);
            if e.is_nan() { f64::INFINITY } else { e }
        };
        a.indexed_iter().map(entry).fold(0.0, f64::max)
    };
    (
        error(&sums.gram_dd, &reference.gram_dd, &zn),
        error(&sums.zty_dt, &reference.zty_dt, &yn),
    )
}
