//! Blocks moved between matrices: what is inside is scaled and shifted, what is outside stays.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, normal, worst},
    ops::place::{self, Place, Spot},
};
use ndarray::s;

/// Rows and columns around a workgroup of eight by 64.
const BLOCKS: [(usize, usize); 6] = [(1, 1), (7, 63), (8, 64), (9, 65), (3, 130), (257, 5)];
/// First row and column in the source, first column in the place: the corner, and inside of both.
const STARTS: [(usize, usize, usize); 2] = [(0, 0, 0), (2, 3, 5)];

pub(crate) fn run(device: &Device, _: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for (rows, cols) in BLOCKS {
        for (source_row, source_col, col) in STARTS {
            for add in [false, true] {
                let spot = Spot {
                    rows,
                    source_row,
                    source_col,
                    col,
                    add,
                };
                block(device, spot, cols, &mut outcome)?;
            }
        }
    }
    Ok(outcome)
}

fn block(device: &Device, spot: Spot, cols: usize, outcome: &mut Outcome) -> Result<()> {
    // Rows and columns to spare on every side that the spot leaves.
    let source = normal(
        spot.source_row + spot.rows + 1,
        spot.source_col + cols + 2,
        1,
    );
    let mut before = normal(spot.rows + 2, spot.col + cols + 3, 2);
    if !spot.add {
        let mut inside = before.slice_mut(s![..spot.rows, spot.col..spot.col + cols]);
        inside.fill(f32::NAN);
    }
    let pairs = normal(cols, 2, 3);
    let factors: Vec<[f32; 2]> = pairs.rows().into_iter().map(|p| [p[0], p[1]]).collect();

    let source_nd = Matrix::upload(device, source.view())?;
    let mut place_nd = Matrix::upload(device, before.view())?;
    Place::load(device, &factors)?.run(spot, &source_nd, &mut place_nd)?;
    let after = place_nd.download()?;

    // A product and at most two sums, each of which rounds once; nothing outside of the block may
    // change.
    let allowed = |i: usize, j: usize| {
        let inside = i < spot.rows && (spot.col..spot.col + cols).contains(&j);
        if !inside {
            return 1e-30;
        }
        let from = source[[spot.source_row + i, spot.source_col + j - spot.col]];
        let [scale, shift] = factors[j - spot.col];
        let there = if spot.add { before[[i, j]] } else { 0.0 };
        3.0 * EPS * f64::from((from * scale).abs() + shift.abs() + there.abs())
    };
    let ratio = |factors: &[[f32; 2]], spot: Spot| {
        let reference = place::reference(factors, spot, source.view(), before.view());
        worst(after.view(), reference.view(), allowed)
    };
    let name = || format!("{} x {cols} {spot:?}", spot.rows);
    outcome.case(ratio(&factors, spot), name);
    controls(outcome, (&factors, spot), &ratio, &name);
    Ok(())
}

/// Negative controls, each of which is compared by `ratio`.
fn controls(
    outcome: &mut Outcome,
    (factors, spot): (&[[f32; 2]], Spot),
    ratio: &dyn Fn(&[[f32; 2]], Spot) -> f64,
    name: &dyn Fn() -> String,
) {
    let last = factors.len() - 1;
    let mut wrong = factors.to_vec();
    wrong[last][0] *= 1.001;
    outcome.control(ratio(&wrong, spot), || {
        format!("a scale 1 per mille off in {}", name())
    });
    let mut wrong = factors.to_vec();
    wrong[last][1] = 0.0;
    outcome.control(ratio(&wrong, spot), || {
        format!("a lost shift of {}", name())
    });
    let aside = Spot {
        source_col: spot.source_col + 1,
        ..spot
    };
    outcome.control(ratio(factors, aside), || {
        format!("the column beside that of {}", name())
    });
    if spot.add {
        let fresh = Spot { add: false, ..spot };
        outcome.control(ratio(factors, fresh), || {
            format!("what was there lost of {}", name())
        });
    }
}
