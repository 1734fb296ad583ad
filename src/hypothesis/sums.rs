//! Sums over rows of features, in f64 on the host.

use crate::device::CpuDevice;
use faer::{
    Accum, MatMut, MatRef,
    linalg::matmul::triangular::{self, BlockStructure},
};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};

/// Rows that are multiplied at a time.
const ROWS: usize = 512;

/// Hands `work` the rows of `parts` side by side, in f64, some hundreds at a time.
pub(super) fn each_block(parts: &[ArrayView2<'_, f32>], mut work: impl FnMut(Array2<f64>)) {
    let blocks = parts
        .iter()
        .map(|z| z.axis_chunks_iter(Axis(0), ROWS).collect());
    let blocks: Vec<Vec<_>> = blocks.collect();
    for b in 0..blocks.first().map_or(0, Vec::len) {
        let views: Vec<_> = blocks.iter().map(|part| part[b]).collect();
        let z = concatenate(Axis(1), &views).expect("parts of the same rows");
        let z = z.mapv(f64::from);
        // One column comes out in another layout.
        work(match z.is_standard_layout() {
            true => z,
            false => z.as_standard_layout().into_owned(),
        });
    }
}

/// Sums and products of the columns of features, `[D]` and `[D, D]`.
#[derive(Debug, Clone)]
pub(super) struct Products {
    pub(super) rows: u64,
    sum_d: Array1<f64>,
    /// The lower triangle.
    gram_dd: Array2<f64>,
}

impl Products {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            rows: 0,
            sum_d: Array1::zeros(columns),
            gram_dd: Array2::zeros((columns, columns)),
        }
    }

    /// Adds rows whose features lie side by side in `parts`.
    pub(super) fn add(&mut self, parts: &[ArrayView2<'_, f32>]) {
        let d = self.sum_d.len();
        each_block(parts, |z| {
            let rows = z.nrows();
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
        &self.sum_d / self.rows as f64
    }

    /// Sum of the squared lengths of the rows.
    pub(super) fn squares(&self) -> f64 {
        self.gram_dd.diag().sum()
    }

    /// `sum_i (z_i - mean)(z_i - mean)'`, `[D, D]`, both triangles.
    pub(super) fn scatter(&self) -> Array2<f64> {
        let mean_d = self.mean();
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
}
