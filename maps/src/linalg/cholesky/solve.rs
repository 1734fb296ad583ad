//! Triangular solves for a few right-hand sides, each sum in one order on every machine.

use super::{
    super::symmetric::{AddMultiple, Product},
    Lower,
};

/// Overwrites each column `b` with `L^-1 b`: `b_i` becomes `(b_i - L_i b) / L_ii`, row after row.
pub(super) fn forward(factor: &Lower, columns: &mut [Vec<f64>]) {
    for i in 0..factor.order() {
        // Read once for all columns.
        let row = factor.row(i);
        for b in columns.iter_mut() {
            let product = crate::instructions::arch().dispatch(Product(&row[..i], &b[..i]));
            b[i] = (b[i] - product) / row[i];
        }
    }
}

/// Overwrites each column `b` with `L'^-1 b`: from the last row on, `b_i` becomes `b_i / L_ii`, and
/// its share leaves those before it.
pub(super) fn backward(factor: &Lower, columns: &mut [Vec<f64>]) {
    for i in (0..factor.order()).rev() {
        let row = factor.row(i);
        for b in columns.iter_mut() {
            b[i] /= row[i];
            let (rest, done) = b.split_at_mut(i);
            crate::instructions::arch().dispatch(AddMultiple(rest, -done[0], &row[..i]));
        }
    }
}
