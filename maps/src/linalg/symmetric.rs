//! Symmetric matrices by their lower triangle: its numbers in a row, and products with one vector;
//! and those of the rows of any. Sums have one order on every machine.

use crate::simd::Fused;
use ndarray::Array2;
use pulp::{Simd, WithSimd};

/// Partial sums of a product: those of the widest vectors, whatever vectors there are.
const PARTS: usize = 8;
/// Rows that are read side by side.
const ROWS: usize = 4;

/// The lower triangle, row after row.
pub fn lower_entries(a_nn: &Array2<f64>) -> Vec<f64> {
    let rows = a_nn.rows().into_iter().enumerate();
    rows.flat_map(|(i, row)| row.into_iter().take(i + 1).copied())
        .collect()
}

/// A square with this lower triangle, row after row, and zeros above; of too few numbers the last
/// places are zero, too.
pub fn of_lower_entries(n: usize, entries: impl IntoIterator<Item = f64>) -> Array2<f64> {
    let mut a_nn = Array2::zeros((n, n));
    let mut entries = entries.into_iter();
    for (i, mut row) in a_nn.rows_mut().into_iter().enumerate() {
        for (to, entry) in row.iter_mut().take(i + 1).zip(&mut entries) {
            *to = entry;
        }
    }
    a_nn
}

/// Overwrites `out` with `A x` of a symmetric matrix in standard layout, of which the lower
/// triangle is read, each number once. Panics on shapes that do not go together.
pub fn symmetric_times(a_nn: &Array2<f64>, x_n: &[f64], out_n: &mut [f64]) {
    let n = x_n.len();
    assert!(a_nn.dim() == (n, n) && out_n.len() == n, "one length");
    let a = a_nn.as_slice().expect("standard layout");
    out_n.fill(0.0);
    crate::instructions::arch().dispatch(Symmetric {
        a,
        x: x_n,
        out: out_n,
    });
}

/// `a b`, of one length.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::instructions::arch().dispatch(Product(a, b))
}

/// `r x` of each of some rows that lie one after another.
pub fn rows_times(rows: &[f64], x: &[f64]) -> Vec<f64> {
    let rows = rows.chunks_exact(x.len().max(1));
    rows.map(|row| crate::instructions::arch().dispatch(Product(row, x)))
        .collect()
}

/// Adds a multiple of each of some rows that lie one after another.
pub fn add_rows(out: &mut [f64], rows: &[f64], factors: &[f64]) {
    for (row, &factor) in rows.chunks_exact(out.len().max(1)).zip(factors) {
        crate::instructions::arch().dispatch(AddMultiple(out, factor, row));
    }
}

struct Symmetric<'a> {
    a: &'a [f64],
    x: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Symmetric<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many vectors as the partial sums of a row.
        match S::F64_LANES {
            8 => self.run::<S, 1>(simd),
            4 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl Symmetric<'_> {
    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        let Self { a, x, out } = self;
        let n = x.len();
        for i in (0..n).step_by(ROWS) {
            let (left, below) = out.split_at_mut(i);
            if i + ROWS <= n {
                let rows = std::array::from_fn(|r| &a[(i + r) * n..][..i]);
                let by = std::array::from_fn(|r| x[i + r]);
                let sums = side_by_side::<S, VECTORS>(simd, rows, (&x[..i], by), left);
                below[..ROWS].copy_from_slice(&sums);
            } else {
                for (r, sum) in below.iter_mut().enumerate() {
                    let row = &a[(i + r) * n..][..i];
                    *sum = Product(row, &x[..i]).with_simd(simd);
                    AddMultiple(left, x[i + r], row).with_simd(simd);
                }
            }
            // What is left of these rows is a triangle of a few columns.
            for r in 0..below.len().min(ROWS) {
                let row = &a[(i + r) * n + i..][..=r];
                for (c, &value) in row.iter().enumerate() {
                    below[r] = value.mul_add(x[i + c], below[r]);
                    if c < r {
                        below[c] = value.mul_add(x[i + r], below[c]);
                    }
                }
            }
        }
    }
}

/// The products of rows with `x`, while `out` takes each row as often as `by` says.
#[inline(always)]
fn side_by_side<S: Simd, const VECTORS: usize>(
    simd: S,
    rows: [&[f64]; ROWS],
    (x, by): (&[f64], [f64; ROWS]),
    out: &mut [f64],
) -> [f64; ROWS] {
    let splat = by.map(|factor| simd.splat_f64s(factor));
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
    let chunks = rows.map(|row| row.as_chunks::<PARTS>());
    let ((x, x_rest), (out, out_rest)) = (x.as_chunks::<PARTS>(), out.as_chunks_mut::<PARTS>());
    for (k, (x, out)) in x.iter().zip(out).enumerate() {
        let ((x, _), (out, _)) = (S::as_simd_f64s(x), S::as_mut_simd_f64s(out));
        for v in 0..VECTORS {
            let mut sum = out[v];
            for r in 0..ROWS {
                let (row, _) = S::as_simd_f64s(&chunks[r].0[k]);
                sum = simd.fused_f64s(splat[r], row[v], sum);
                sums[r][v] = simd.fused_f64s(row[v], x[v], sums[r][v]);
            }
            out[v] = sum;
        }
    }
    std::array::from_fn(|r| {
        let mut all = [0.0; PARTS];
        let (parts, _) = S::as_mut_simd_f64s(&mut all);
        parts.copy_from_slice(&sums[r]);
        let mut sum = total(all);
        for ((&value, &x), out) in chunks[r].1.iter().zip(x_rest).zip(out_rest.iter_mut()) {
            sum = value.mul_add(x, sum);
            *out = value.mul_add(by[r], *out);
        }
        sum
    })
}

/// `a b`: the sum of eight chains, of which chain `p` has every eighth product from `p` on.
pub(super) struct Product<'a>(pub(super) &'a [f64], pub(super) &'a [f64]);

impl WithSimd for Product<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let ((a, a_rest), (b, b_rest)) = (self.0.as_chunks::<PARTS>(), self.1.as_chunks::<PARTS>());
        let mut sums = [0.0; PARTS];
        let (sum, _) = S::as_mut_simd_f64s(&mut sums);
        for (a, b) in a.iter().zip(b) {
            let ((a, _), (b, _)) = (S::as_simd_f64s(a), S::as_simd_f64s(b));
            for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
                *sum = simd.fused_f64s(a, b, *sum);
            }
        }
        let (mut a, mut b) = ([0.0; PARTS], [0.0; PARTS]);
        a[..a_rest.len()].copy_from_slice(a_rest);
        b[..b_rest.len()].copy_from_slice(b_rest);
        let ((a, _), (b, _)) = (S::as_simd_f64s(&a), S::as_simd_f64s(&b));
        for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
            *sum = simd.fused_f64s(a, b, *sum);
        }
        total(sums)
    }
}

/// Partial sums, added up in one order.
#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: [f64; PARTS]) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// `to += factor x`.
pub(super) struct AddMultiple<'a>(
    pub(super) &'a mut [f64],
    pub(super) f64,
    pub(super) &'a [f64],
);

impl WithSimd for AddMultiple<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(to, factor, x) = self;
        let ((to, to_rest), (x, x_rest)) = (S::as_mut_simd_f64s(to), S::as_simd_f64s(x));
        let factors = simd.splat_f64s(factor);
        for (to, &x) in to.iter_mut().zip(x) {
            *to = simd.fused_f64s(factors, x, *to);
        }
        for (to, &x) in to_rest.iter_mut().zip(x_rest) {
            *to = factor.mul_add(x, *to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_gives_the_product_of_the_whole_matrix() {
        for n in [1, 3, 4, 5, 8, 12, 13, 31, 64, 70] {
            let value = |(i, j): (usize, usize)| ((i.max(j) * 7 + i.min(j) * 3) as f64).sin();
            let whole = Array2::from_shape_fn((n, n), value);
            // What is above the diagonal is not read.
            let lower =
                Array2::from_shape_fn(
                    (n, n),
                    |(i, j)| {
                        if j <= i { value((i, j)) } else { f64::NAN }
                    },
                );
            let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5).cos()).collect();
            let mut out = vec![f64::NAN; n];
            symmetric_times(&lower, &x, &mut out);
            let expected = whole.dot(&ndarray::aview1(&x));
            for (out, expected) in out.iter().zip(&expected) {
                assert!(
                    (out - expected).abs() < 1e-13 * n as f64,
                    "{n}: {out} {expected}"
                );
            }
        }
    }

    #[test]
    fn rows_are_multiplied_and_added() {
        let rows: Vec<f64> = (0..3 * 11).map(|i| f64::from(i % 7) - 2.0).collect();
        let x: Vec<f64> = (0..11).map(f64::from).collect();
        let products = rows_times(&rows, &x);
        let mut out = x.clone();
        add_rows(&mut out, &rows, &products);
        for (j, out) in out.iter().enumerate() {
            let sum: f64 = (0..3).map(|r| products[r] * rows[r * 11 + j]).sum();
            assert_eq!(*out, x[j] + sum);
        }
        for (r, product) in products.iter().enumerate() {
            let sum: f64 = (0..11).map(|j| rows[r * 11 + j] * x[j]).sum();
            assert_eq!(*product, sum);
        }
    }
}
