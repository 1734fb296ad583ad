//! Products with the features of one chunk: f32 values, f64 sums.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2, linalg::general_mat_mul, s};
use rayon::prelude::*;

/// Columns that a thread sums at a time.
const COLUMNS: usize = 256;
/// Rows that a thread multiplies at a time.
const ROWS: usize = 256;
/// Fewer targets than this are summed one by one, more by matrix products.
const FEW: usize = 4;

/// Features of a chunk from one map.
pub(crate) struct Block<'a> {
    /// `[rows, columns]`.
    z: CowArray<'a, f32, Ix2>,
    columns: usize,
    offset: usize,
    root: f64,
}

impl<'a> Block<'a> {
    /// Features `[rows, columns]` whose columns begin at column `offset` of the operator, each to
    /// be multiplied by `root`.
    pub(crate) fn new(z: ArrayView2<'a, f32>, offset: usize, root: f64) -> Self {
        Self {
            columns: z.ncols(),
            // Rows that come from a GPU may be padded.
            z: match z.is_standard_layout() {
                true => z.into(),
                false => z.as_standard_layout().into_owned().into(),
            },
            offset,
            root,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.z.nrows()
    }

    fn values(&self) -> &[f32] {
        self.z.as_slice().expect("standard layout")
    }

    /// Adds `Z beta`.
    pub(crate) fn add_product(
        &self,
        beta_td: ArrayView2<'_, f64>,
        mut r_tm: ArrayViewMut2<'_, f64>,
    ) {
        let beta_td = beta_td.slice(s![.., self.offset..self.offset + self.columns]);
        let targets = beta_td.nrows();
        if targets < FEW {
            for (beta, mut r) in beta_td.rows().into_iter().zip(r_tm.rows_mut()) {
                let beta = beta.to_slice().expect("contiguous");
                let r = r.as_slice_mut().expect("contiguous");
                r.par_iter_mut()
                    .zip(self.values().par_chunks(self.columns))
                    .with_min_len(16)
                    .for_each(|(r, z)| {
                        *r += self.root * pulp::Arch::new().dispatch(|| dot(z, beta));
                    });
            }
            return;
        }
        let blocks = self.values().par_chunks(ROWS * self.columns);
        let products: Vec<Array2<f64>> = blocks
            .map(|z| {
                let z = z.iter().map(|&z| f64::from(z)).collect();
                let z: Array2<f64> = self.matrix(z);
                let mut product = Array2::zeros((z.nrows(), targets));
                multiply(product.view_mut(), z.view(), beta_td.t(), self.root);
                product
            })
            .collect();
        for (b, product) in products.iter().enumerate() {
            let rows = b * ROWS..b * ROWS + product.nrows();
            let mut r = r_tm.slice_mut(s![.., rows]);
            r += &product.t();
        }
    }

    fn matrix(&self, values: Vec<f64>) -> Array2<f64> {
        let shape = (values.len() / self.columns, self.columns);
        Array2::from_shape_vec(shape, values).expect("whole rows")
    }

    /// Adds `Z' r`: a thread owns columns and takes the rows in order.
    pub(crate) fn add_transposed(
        &self,
        r_tm: ArrayView2<'_, f64>,
        mut out_td: ArrayViewMut2<'_, f64>,
    ) {
        let mut out_td = out_td.slice_mut(s![.., self.offset..self.offset + self.columns]);
        if r_tm.nrows() < FEW {
            for (r, mut out) in r_tm.rows().into_iter().zip(out_td.rows_mut()) {
                let out = out.as_slice_mut().expect("contiguous");
                out.par_chunks_mut(COLUMNS)
                    .enumerate()
                    .for_each(|(c, out)| {
                        pulp::Arch::new().dispatch(|| {
                            for (z, &r) in self.values().chunks_exact(self.columns).zip(r) {
                                let r = self.root * r;
                                for (out, &z) in out.iter_mut().zip(&z[c * COLUMNS..]) {
                                    *out += f64::from(z) * r;
                                }
                            }
                        });
                    });
            }
            return;
        }
        let blocks: Vec<_> = out_td.axis_chunks_iter_mut(Axis(1), COLUMNS).collect();
        blocks.into_par_iter().enumerate().for_each(|(c, out)| {
            let mut out = out;
            let columns = out.ncols();
            for (b, z) in self.values().chunks(ROWS * self.columns).enumerate() {
                let rows = z.len() / self.columns;
                let z = z.chunks_exact(self.columns);
                let z = z.flat_map(|z| z[c * COLUMNS..][..columns].iter().map(|&z| f64::from(z)));
                let z = Array2::from_shape_vec((rows, columns), z.collect()).expect("a block");
                let r = r_tm.slice(s![.., b * ROWS..b * ROWS + rows]);
                multiply(out.view_mut(), r, z.view(), self.root);
            }
        });
    }

    /// Adds the sums of its columns, and of their squares.
    pub(crate) fn add_moments(&self, sums: &mut [f64], squares: &mut [f64]) {
        let range = self.offset..self.offset + self.columns;
        let (sums, squares) = (&mut sums[range.clone()], &mut squares[range]);
        for z in self.values().chunks_exact(self.columns) {
            for ((sum, square), &z) in sums.iter_mut().zip(&mut *squares).zip(z) {
                let z = self.root * f64::from(z);
                *sum += z;
                *square += z * z;
            }
        }
    }
}

/// `c += factor a b` on one thread.
fn multiply(
    c: ArrayViewMut2<'_, f64>,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    factor: f64,
) {
    general_mat_mul(factor, &a, &b, 1.0, &mut { c });
}

/// Eight running sums, for vectors.
#[inline(always)]
fn dot(z: &[f32], beta: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (z8, rest) = z.as_chunks::<8>();
    let (b8, beta_rest) = beta.as_chunks::<8>();
    for (z, b) in z8.iter().zip(b8) {
        for ((sum, &z), &b) in sums.iter_mut().zip(z).zip(b) {
            *sum += f64::from(z) * b;
        }
    }
    let rest = rest.iter().zip(beta_rest).map(|(&z, &b)| f64::from(z) * b);
    sums.into_iter().chain(rest).sum()
}
