//! Sums over rows of features, in f64 on the host.

use crate::device::CpuDevice;
use faer::{
    Accum, MatMut, MatRef,
    linalg::matmul::triangular::{self, BlockStructure},
};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};

/// Rows that are multiplied at a time.
const ROWS: usize = 512;

/// Calls `work` with the rows of `parts` side by side, in f64, some hundreds at a time.
pub(super) fn each_block(parts: &[ArrayView2<'_, f32>], mut work: impl FnMut(Array2<f64>)) {
    let blocks = parts
        .iter()
        .map(|z| z.axis_chunks_iter(Axis(0), ROWS).collect());
    let blocks: Vec<Vec<_>> = blocks.collect();
    for b in 0..blocks.first().map_or(0, Vec::len) {
        let views: Vec<_> = blocks.iter().map(|part| part[b]).collect();
        let z = concatenate(Axis(1), &views).expect("parts of the same rows");
        let z = z.mapv(f64::from);
        // A single column has another layout.
        work(if z.is_standard_layout() {
            z
        } else {
            z.as_standard_layout().into_owned()
        });
    }
}

/// Sums and products of the columns of features, `[D]` and `[D, D]`.
///
/// Both are of features minus a shift, the mean of the first rows. A cosine of low frequency is
/// nearly 1 in every row: unshifted squares in f64 would lose digits of the variance that a
/// regression on nearly collinear features needs.
#[derive(Debug, Clone)]
pub(super) struct Products {
    pub(super) rows: u64,
    shift_d: Array1<f64>,
    sum_d: Array1<f64>,
    /// The lower triangle.
    gram_dd: Array2<f64>,
}

impl Products {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            rows: 0,
            shift_d: Array1::zeros(columns),
            sum_d: Array1::zeros(columns),
            gram_dd: Array2::zeros((columns, columns)),
        }
    }

    /// Adds rows whose features lie side by side in `parts`.
    pub(super) fn add(&mut self, parts: &[ArrayView2<'_, f32>]) {
        let d = self.sum_d.len();
        each_block(parts, |mut z| {
            let rows = z.nrows();
            if self.rows == 0 {
                self.shift_d = z.sum_axis(Axis(0)) / rows.max(1) as f64;
            }
            z -= &self.shift_d;
            self.sum_d += &z.sum_axis(Axis(0));
            self.rows += rows as u64;
            let z = MatRef::from_row_major_slice(z.as_slice().expect("standard layout"), rows, d);
            let gram = self.gram_dd.as_slice_mut().expect("standard layout");
            triangular::matmul(
                MatMut::from_row_major_slice_mut(gram, d, d),
                BlockStructure::TriangularLower,
                Accum::Add,
                z.transpose(),
                BlockStructure::Rectangular,
                z,
                BlockStructure::Rectangular,
                1.0,
                CpuDevice::shared().par(),
            );
        });
    }

    /// Mean of every column, `[D]`.
    pub(super) fn mean(&self) -> Array1<f64> {
        self.shifted_mean() + &self.shift_d
    }

    /// Mean of every column minus its shift, `[D]`.
    fn shifted_mean(&self) -> Array1<f64> {
        &self.sum_d / self.rows as f64
    }

    /// Sum of the squared norms of the rows.
    pub(super) fn squares(&self) -> f64 {
        let shift_d = &self.shift_d;
        let of_shift = 2.0 * shift_d.dot(&self.sum_d) + self.rows as f64 * shift_d.dot(shift_d);
        self.gram_dd.diag().sum() + of_shift
    }

    /// `sum_i (z_i - mean)(z_i - mean)'`, `[D, D]`, both triangles.
    pub(super) fn scatter(&self) -> Array2<f64> {
        let mean_d = self.shifted_mean();
        let lower = |i: usize, j: usize| {
            let product = self.gram_dd[[i, j]];
            product - self.sum_d[i] * mean_d[j]
        };
        Array2::from_shape_fn(self.gram_dd.dim(), |(i, j)| lower(i.max(j), i.min(j)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::s;

    #[test]
    fn sums_are_those_of_all_rows_however_they_come() {
        let z_nd = crate::check::normal(1300, 5, 2);
        let mut products = Products::new(5);
        for rows in [s![..7, ..], s![7..1299, ..], s![1299.., ..]] {
            let z = z_nd.slice(rows);
            products.add(&[z.slice(s![.., ..2]), z.slice(s![.., 2..])]);
        }
        let z_nd = z_nd.mapv(f64::from);
        let mean_d = z_nd.mean_axis(Axis(0)).expect("rows");
        let centred = &z_nd - &mean_d;
        let error = products.scatter() - centred.t().dot(&centred);
        assert!(error.iter().all(|e| e.abs() < 1e-9));
        assert!((products.mean() - mean_d).iter().all(|e| e.abs() < 1e-14));
        let squares: f64 = z_nd.iter().map(|z| z * z).sum();
        assert!((products.squares() / squares - 1.0).abs() < 1e-12);
        assert_eq!(products.rows, 1300);
    }

    /// Features near 1 with little variance: their covariance is as accurate as if they were
    /// standardised first.
    #[test]
    fn the_covariance_of_what_hardly_varies_keeps_its_digits() {
        let around_one = |u: f32| 1.0 - 1e-4 * u;
        let z_nd = crate::check::normal(1300, 4, 3).mapv(around_one);
        let mut products = Products::new(4);
        products.add(&[z_nd.view()]);
        let z_nd = z_nd.mapv(f64::from);
        let centred = &z_nd - &z_nd.mean_axis(Axis(0)).expect("rows");
        let exact = centred.t().dot(&centred);
        let scatter = products.scatter();
        for ((i, j), &exact_ij) in exact.indexed_iter() {
            let unit = (exact[[i, i]] * exact[[j, j]]).sqrt();
            let error = (scatter[[i, j]] - exact_ij).abs() / unit;
            assert!(error < 1e-13, "{i} {j}: {error:e}");
        }
    }
}
