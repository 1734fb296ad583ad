//! Products with the features of one chunk: f32 values, f64 sums.

use crate::{
    instructions::{Loops, vectorized},
    parallel,
    simd::mixed,
};
use ndarray::{ArrayView2, ArrayViewMut2, CowArray, Ix2, s};

/// Columns per unit of parallel work.
const COLUMNS: usize = 256;
/// Below this number of targets, each is summed separately.
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
    /// Features `[rows, columns]` whose columns start at column `offset` of the operator,
    /// multiplied by `root`.
    pub(crate) fn new(z: ArrayView2<'a, f32>, offset: usize, root: f64) -> Self {
        Self {
            columns: z.ncols(),
            // Rows read from a GPU may be padded.
            z: if z.is_standard_layout() {
                z.into()
            } else {
                z.as_standard_layout().into_owned().into()
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
                let z = (self.values(), self.columns);
                parallel::at_least(16).pairs(r, 1, z, &|r, z| {
                    r[0] += self.root * vectorized(Dot(z, beta));
                });
            }
            return;
        }
        mixed::add_products(self.values(), self.columns, beta_td, self.root, r_tm);
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
                parallel::usual().chunks(out, COLUMNS, &|c, out| {
                    vectorized(AddTransposed {
                        z: self.values(),
                        columns: self.columns,
                        first: c * COLUMNS,
                        r,
                        root: self.root,
                        out,
                    });
                });
            }
            return;
        }
        mixed::add_transposed(self.values(), self.columns, r_tm, self.root, out_td);
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

/// `z'beta`, in eight partial sums, for vectorization.
struct Dot<'a>(&'a [f32], &'a [f64]);

impl Loops for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sums = [0.0; 8];
        let (z8, rest) = self.0.as_chunks::<8>();
        let (b8, beta_rest) = self.1.as_chunks::<8>();
        for (z, b) in z8.iter().zip(b8) {
            for ((sum, &z), &b) in sums.iter_mut().zip(z).zip(b) {
                *sum += f64::from(z) * b;
            }
        }
        let rest = rest.iter().zip(beta_rest).map(|(&z, &b)| f64::from(z) * b);
        sums.into_iter().chain(rest).sum()
    }
}

/// Adds `Z'r` for columns from the first on.
struct AddTransposed<'a, R> {
    z: &'a [f32],
    columns: usize,
    first: usize,
    r: R,
    root: f64,
    out: &'a mut [f64],
}

impl<'r, R: IntoIterator<Item = &'r f64>> Loops for AddTransposed<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (z, &r) in self.z.chunks_exact(self.columns).zip(self.r) {
            let r = self.root * r;
            for (out, &z) in self.out.iter_mut().zip(&z[self.first..]) {
                *out += f64::from(z) * r;
            }
        }
    }
}
