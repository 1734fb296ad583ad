//! Cholesky factors and triangular solves in f64, on all threads.

mod packed;
mod panel;
mod solve;
mod update;

use crate::device::{CpuDevice, large_pages};
use crate::parallel;
use faer::{
    Accum, Mat, MatMut, MatRef, Par,
    linalg::{
        matmul::triangular::{self, BlockStructure},
        triangular_inverse, triangular_solve,
    },
};
use ndarray::{Array2, ArrayView1};
use packed::Packed;
use update::subtract;

/// Rows that start a multiple of this many floats apart fall on the same few lines of a cache.
const ALIAS: usize = 512;
/// Floats that keep them apart.
const PADDING: usize = 8;
/// Columns that are factored together: whole slabs of every tile.
const BLOCK: usize = 240;
/// Right-hand sides that are solved for by sums of one order.
const FEW: usize = 32;
/// So many of them by a thread.
const COLUMNS: usize = 8;
/// Rows that a thread solves for at a time: whatever the number of threads, the same.
const SOLVED_TOGETHER: usize = 96;

/// A symmetric matrix by its lower triangle, and then its Cholesky factor. Rows lie so that they do
/// not push each other out of a cache, which a power of two of columns would make them do.
#[derive(Debug, Clone)]
pub struct Lower {
    n: usize,
    stride: usize,
    data: Vec<f64>,
}

/// `C - A A'` up to the diagonal, for `C` of `n` rows and columns and `A` of `n` rows; above it
/// stands what may be anything. Bits depend on neither threads nor the vectors of the processor.
pub(crate) fn subtract_outer(c: &mut [f64], n: usize, a: &[f64]) {
    let columns = a.len().checked_div(n).unwrap_or(0);
    let mut packed = Packed::default();
    for from in (0..columns).step_by(BLOCK) {
        packed.pack(a, columns, (from, columns.min(from + BLOCK)));
        subtract(c, n, 0, &packed);
    }
}

impl Lower {
    /// The lower triangle of a square matrix.
    pub fn from_matrix(a: &Array2<f64>) -> Self {
        let mut lower = Self::zeros(a.nrows());
        lower.assign(a);
        lower
    }

    fn zeros(n: usize) -> Self {
        let stride = if n >= ALIAS && n.is_multiple_of(ALIAS) {
            n + PADDING
        } else {
            n
        };
        let mut data = vec![0.0; n * stride];
        large_pages::ask_for(&mut data);
        Self { n, stride, data }
    }

    /// The lower triangle of a matrix that nobody needs any more: without a copy, where its rows
    /// can stay.
    pub fn take(a: Array2<f64>) -> Self {
        let n = a.nrows();
        if a.is_standard_layout() && !(n >= ALIAS && n.is_multiple_of(ALIAS)) {
            Self {
                n,
                stride: n,
                data: a.into_raw_vec_and_offset().0,
            }
        } else {
            Self::from_matrix(&a)
        }
    }

    /// Takes the lower triangle of another matrix of the same size.
    pub fn assign(&mut self, a: &Array2<f64>) {
        parallel::usual().chunks(&mut self.data, self.stride.max(1), &|i, to| {
            for (to, &from) in to[..=i].iter_mut().zip(a.row(i)) {
                *to = from;
            }
        });
    }

    /// Rows of the matrix.
    pub fn order(&self) -> usize {
        self.n
    }

    /// Row `i` up to the diagonal.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.stride..][..=i]
    }

    /// As [`Self::row`], to change.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.stride..][..=i]
    }

    /// Replaces the matrix by L, `L L'` the matrix. False when it is not positive definite.
    pub fn factor(&mut self) -> bool {
        let (n, stride) = (self.n, self.stride);
        let (mut block, mut packed) = (Packed::default(), Packed::default());
        for from in (0..n).step_by(BLOCK) {
            let to = n.min(from + BLOCK);
            let (above, below) = self.data.split_at_mut(to * stride);
            let rows = &mut above[from * stride..];
            block.pack(rows, stride, (from, to));
            let Some(inverses) = panel::factor(&mut block) else {
                return false;
            };
            block.unpack(rows, stride, from);
            packed.pack_through(below, stride, (from, to), &|slab| {
                panel::solve(&block, &inverses, slab);
            });
            subtract(below, stride, to, &packed);
        }
        true
    }

    /// Overwrites `b` (standard layout) with `L^-1 b`. Of a few columns, as models have targets,
    /// the bits are the same on every machine.
    pub fn solve(&self, b: &mut Array2<f64>) {
        if b.ncols() <= FEW {
            return self.by_columns(b, solve::forward);
        }
        let par = CpuDevice::shared().par();
        triangular_solve::solve_lower_triangular_in_place(
            self.columns().transpose(),
            matrix(b),
            par,
        );
    }

    /// Overwrites `b` (standard layout) with `L'^-1 b`, as [`Self::solve`].
    pub fn solve_transposed(&self, b: &mut Array2<f64>) {
        if b.ncols() <= FEW {
            return self.by_columns(b, solve::backward);
        }
        let par = CpuDevice::shared().par();
        triangular_solve::solve_upper_triangular_in_place(self.columns(), matrix(b), par);
    }

    /// Hands some columns at a time to `solve`.
    fn by_columns(&self, b: &mut Array2<f64>, solve: fn(&Self, &mut [Vec<f64>])) {
        let mut columns: Vec<_> = b.columns().into_iter().map(|b| b.to_vec()).collect();
        let mut parts: Vec<_> = columns.chunks_mut(COLUMNS).collect();
        parallel::alone().parts(&mut parts, &|_, columns| solve(self, columns));
        for (mut to, from) in b.columns_mut().into_iter().zip(columns) {
            to.assign(&ArrayView1::from(&from));
        }
    }

    /// The squared norm of `L^-1`, which is the trace of the inverse of `L L'`.
    pub fn inverse_norm_squared(&self) -> f64 {
        let norms = parallel::usual().numbers(self.n.div_ceil(SOLVED_TOGETHER), &|block| {
            self.inverse_columns(block).squared_norm_l2()
        });
        norms.iter().sum()
    }

    /// The diagonal of the inverse of `L L'`: the squared norms of the columns of `L^-1`.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let blocks = parallel::usual().map(self.n.div_ceil(SOLVED_TOGETHER), &|block| {
            let columns = self.inverse_columns(block);
            let norms = columns.col_iter().map(|column| column.squared_norm_l2());
            norms.collect::<Vec<_>>()
        });
        blocks.concat()
    }

    /// The inverse of `L L'`, by its lower triangle.
    pub fn inverse(&self) -> Self {
        let (n, mut rows) = (self.n, Self::zeros(self.n));
        let stride = rows.stride;
        triangular_inverse::invert_upper_triangular(
            MatMut::from_column_major_slice_with_stride_mut(&mut rows.data, n, n, stride),
            self.columns(),
            self.par(),
        );
        rows.inner(1.0)
    }

    /// The lower triangle as a matrix, of which the rest means nothing.
    pub fn into_matrix(self) -> Array2<f64> {
        let Self { n, stride, data } = self;
        let data = match stride == n {
            true => data,
            false => data
                .chunks(stride)
                .flat_map(|row| &row[..n])
                .copied()
                .collect(),
        };
        Array2::from_shape_vec((n, n), data).expect("its shape")
    }

    /// Columns of `L^-1` from their own diagonal block on, above which they are zero.
    fn inverse_columns(&self, block: usize) -> Mat<f64> {
        let n = self.n;
        let lower = self.columns().transpose();
        let from = block * SOLVED_TOGETHER;
        let count = SOLVED_TOGETHER.min(n - from);
        let mut columns = Mat::<f64>::identity(n - from, count);
        triangular_solve::solve_lower_triangular_in_place(
            lower.submatrix(from, from, n - from, n - from),
            columns.as_mut(),
            Par::Seq,
        );
        columns
    }

    /// `factor L'L` of a factor L: another matrix by its lower triangle.
    pub fn inner(&self, factor: f64) -> Self {
        let (n, mut out) = (self.n, Self::zeros(self.n));
        let stride = out.stride;
        // The lower triangle by rows is the upper one by columns.
        triangular::matmul(
            MatMut::from_column_major_slice_with_stride_mut(&mut out.data, n, n, stride),
            BlockStructure::TriangularUpper,
            Accum::Replace,
            self.columns(),
            BlockStructure::TriangularUpper,
            self.columns().transpose(),
            BlockStructure::TriangularLower,
            factor,
            self.par(),
        );
        out
    }

    /// The threads of a product with a triangle, or of its inverse.
    fn par(&self) -> Par {
        if parallel::is_worth(self.n.pow(3) / 6) {
            CpuDevice::shared().par()
        } else {
            Par::Seq
        }
    }

    /// The rows as columns: L'.
    fn columns(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice_with_stride(&self.data, self.n, self.n, self.stride)
    }
}

fn matrix(a: &mut Array2<f64>) -> MatMut<'_, f64> {
    let (rows, cols) = a.dim();
    MatMut::from_row_major_slice_mut(a.as_slice_mut().expect("standard layout"), rows, cols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix_of(n: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, n), |(i, j)| {
            if i == j {
                n as f64
            } else {
                ((i * j) as f64).sin()
            }
        })
    }

    /// L L' is the matrix again and the solves undo it, where rows are kept apart and where they
    /// are not.
    #[test]
    fn factors_multiply_to_the_matrix() {
        for n in [1, 7, 300, 512, 811] {
            let full = matrix_of(n);
            let mut lower = Lower::from_matrix(&full);
            assert!(lower.factor());
            let l =
                Array2::from_shape_fn((n, n), |(i, j)| if j <= i { lower.row(i)[j] } else { 0.0 });
            let error = l.dot(&l.t()) - &full;
            assert!(error.iter().all(|e| e.abs() < 1e-12 * n as f64), "{n}");
            let b = Array2::from_shape_fn((n, 3), |(i, j)| ((i + 5 * j) as f64).cos());
            let mut x = b.clone();
            lower.solve(&mut x);
            lower.solve_transposed(&mut x);
            let residual = full.dot(&x) - &b;
            assert!(residual.iter().all(|r| r.abs() < 1e-12), "{n}");
            let (inner, expected) = (lower.inner(0.5), l.t().dot(&l) * 0.5);
            for (i, expected) in expected.rows().into_iter().enumerate() {
                let off = inner.row(i).iter().zip(expected);
                let worst = off.fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(worst < 1e-12 * n as f64, "{n}: row {i}");
            }
            let whole = lower.inverse().into_matrix();
            let value = |(i, j): (usize, usize)| whole[[i.max(j), i.min(j)]];
            let one = full.dot(&Array2::from_shape_fn((n, n), value)) - Array2::<f64>::eye(n);
            assert!(one.iter().all(|e| e.abs() < 1e-12), "{n}");
            let mut inverse = Array2::eye(n);
            lower.solve(&mut inverse);
            let norm = inverse.mapv(|v| v * v).sum();
            assert!(
                (lower.inverse_norm_squared() / norm - 1.0).abs() < 1e-12,
                "{n}"
            );
        }
        assert!(!Lower::from_matrix(&Array2::from_elem((512, 512), -1.0)).factor());
    }

    /// Entries are those of plain loops in the order that is written down: chains over the columns
    /// of a block, block after block. No vector length, tile or block of rows says anything of
    /// them.
    #[test]
    fn bits_are_those_of_plain_loops() {
        use crate::{device::InstructionSet, instructions::instruction_set};
        // A browser rounds a product before it is added.
        let twice = instruction_set() == InstructionSet::Simd128;
        let mul_add = |a: f64, b: f64, c: f64| {
            if twice { a * b + c } else { a.mul_add(b, c) }
        };
        for n in [1, 23, 240, 241, 509] {
            let full = matrix_of(n);
            let mut lower = Lower::from_matrix(&full);
            assert!(lower.factor());
            let mut plain = Array2::<f64>::zeros((n, n));
            for (i, k) in (0..n).flat_map(|i| (0..=i).map(move |k| (i, k))) {
                let mut rest = full[[i, k]];
                for from in (0..=k).step_by(BLOCK) {
                    let columns = from..k.min(from + BLOCK);
                    let chain =
                        columns.fold(0.0, |sum, m| mul_add(plain[[k, m]], plain[[i, m]], sum));
                    rest -= chain;
                }
                plain[[i, k]] = if i == k {
                    rest.sqrt()
                } else {
                    rest * (1.0 / plain[[k, k]])
                };
                assert_eq!(lower.row(i)[k], plain[[i, k]], "{n}: {i} {k}");
            }
            let b = Array2::from_shape_fn((n, 2), |(i, j)| ((i + 5 * j) as f64).cos());
            let mut forth = b.clone();
            lower.solve(&mut forth);
            let mut back = forth.clone();
            lower.solve_transposed(&mut back);
            for t in 0..2 {
                let mut x = b.column(t).to_vec();
                for i in 0..n {
                    let mut s = [0.0; 8];
                    (0..i).for_each(|m| s[m % 8] = mul_add(plain[[i, m]], x[m], s[m % 8]));
                    let sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
                    x[i] = (x[i] - sum) / plain[[i, i]];
                }
                assert_eq!(forth.column(t).to_vec(), x, "{n}");
                for i in (0..n).rev() {
                    x[i] /= plain[[i, i]];
                    for m in 0..i {
                        x[m] = mul_add(-x[i], plain[[i, m]], x[m]);
                    }
                }
                assert_eq!(back.column(t).to_vec(), x, "{n}");
            }
        }
    }
}
