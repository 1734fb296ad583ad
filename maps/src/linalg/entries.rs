//! What many places do to the entries of arrays, by name: of a function the compiler makes one copy
//! for all of them, of a closure one for each, and ndarray has a loop for every layout.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis};

/// The nearest f32.
#[inline]
pub fn narrow(v: f64) -> f32 {
    v as f32
}

/// `v^2`.
#[inline]
pub fn square(v: f64) -> f64 {
    v * v
}

/// Squared lengths of columns.
pub fn column_squares(a: ArrayView2<'_, f64>) -> Array1<f64> {
    a.map_axis(Axis(0), |column| column.dot(&column))
}

/// Squared lengths of rows.
pub fn row_squares(a: ArrayView2<'_, f64>) -> Array1<f64> {
    a.map_axis(Axis(1), |row| row.dot(&row))
}

/// `a += by I`.
pub fn add_to_diagonal(a: &mut Array2<f64>, by: f64) {
    a.diag_mut().mapv_inplace(|v| v + by);
}

/// `to += factor x`.
pub fn add_multiple(mut to: ArrayViewMut1<'_, f64>, factor: f64, x: ArrayView1<'_, f32>) {
    to.zip_mut_with(&x, |to, &x| *to += factor * f64::from(x));
}

/// `exp(v - top)` of every entry.
pub fn exp_below(mut values: ArrayViewMut1<'_, f64>, top: f64) {
    values.mapv_inplace(|v| (v - top).exp());
}

/// Writes f32 numbers as f64.
pub fn widen(mut to: ArrayViewMut2<'_, f64>, from: ArrayView2<'_, f32>) {
    to.zip_mut_with(&from, |to, &from| *to = f64::from(from));
}
