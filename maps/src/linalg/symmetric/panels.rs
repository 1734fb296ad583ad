//! A symmetric matrix in the order in which a product with a vector reads it.

use super::{PARTS, total};
use crate::{device::large_pages, instructions::arch, simd::Fused};
use ndarray::Array2;
use pulp::{Simd, WithSimd};

/// Rows that are read side by side.
const ROWS: usize = 4;

/// As many numbers as a cache line has, on one line.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
struct Line([f64; PARTS]);

/// A symmetric matrix, as `T + T'` of a lower triangle `T` whose diagonal is half the matrix's own:
/// so no number of it is a case of its own. Four rows make a panel, which lies in one piece: their
/// first eight columns, row under row, their next eight, up to the diagonal and zeros behind it. A
/// product reads all from the first number to the last and no load straddles two lines; rows of a
/// matrix, each as long as a page or nearly, took 2.5 times as long (501 of them, AVX-512).
#[derive(Debug, Clone)]
pub struct Panels {
    n: usize,
    lines: Vec<Line>,
}

impl Panels {
    /// Of the lower triangle of a square matrix.
    pub fn of(a_nn: &Array2<f64>) -> Self {
        let (n, panels) = (a_nn.nrows(), a_nn.nrows().div_ceil(ROWS));
        let lines = (0..panels).map(|panel| ROWS * chunks(panel)).sum();
        let mut lines = vec![Line([0.0; PARTS]); lines];
        large_pages::ask_for(&mut lines);
        let mut out = Self { n, lines };
        out.assign(a_nn);
        out
    }

    /// Takes the lower triangle of another matrix of that size. Panics on one of another.
    pub fn assign(&mut self, a_nn: &Array2<f64>) {
        assert_eq!(a_nn.dim(), (self.n, self.n), "one size");
        let mut panel = self.lines.as_mut_slice();
        for first in (0..self.n).step_by(ROWS) {
            let (lines, rest) = panel.split_at_mut(ROWS * chunks(first / ROWS));
            let rows = a_nn.rows().into_iter().enumerate().skip(first).take(ROWS);
            for (i, row) in rows {
                let row = row.to_slice().expect("standard layout");
                let (before, diagonal) = (&row[..i], row[i]);
                for (line, from) in lines
                    .iter_mut()
                    .skip(i - first)
                    .step_by(ROWS)
                    .zip(before.chunks(PARTS))
                {
                    line.0[..from.len()].copy_from_slice(from);
                }
                lines[i / PARTS * ROWS + i - first].0[i % PARTS] = diagonal / 2.0;
            }
            panel = rest;
        }
    }

    /// `A x`. Panics on an x of another length.
    pub fn times(&self, x_n: &[f64]) -> Vec<f64> {
        assert_eq!(x_n.len(), self.n, "one length");
        let mut x = vec![Line([0.0; PARTS]); self.n.div_ceil(PARTS)];
        for (to, from) in x.iter_mut().zip(x_n.chunks(PARTS)) {
            to.0[..from.len()].copy_from_slice(from);
        }
        let mut out = vec![Line([0.0; PARTS]); x.len()];
        arch().dispatch(Times {
            lines: &self.lines,
            x: &x,
            out: &mut out,
        });
        let out = out.iter().flat_map(|line| line.0);
        out.take(self.n).collect()
    }
}

/// Chunks of columns up to the last number of a panel that is on the diagonal.
fn chunks(panel: usize) -> usize {
    (ROWS * (panel + 1)).div_ceil(PARTS)
}

struct Times<'a> {
    lines: &'a [Line],
    x: &'a [Line],
    out: &'a mut [Line],
}

impl WithSimd for Times<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many vectors as a line has.
        match S::F64_LANES {
            8 => self.run::<S, 1>(simd),
            4 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl Times<'_> {
    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        let Self { mut lines, x, out } = self;
        for first in (0..x.len() * PARTS).step_by(ROWS) {
            let (panel, rest) = lines.split_at(lines.len().min(ROWS * chunks(first / ROWS)));
            let of_rows = first % PARTS..first % PARTS + ROWS;
            let by = &x[first / PARTS].0[of_rows.clone()];
            let by: [f64; ROWS] = std::array::from_fn(|r| by[r]);
            let sums = panel_times::<S, VECTORS>(simd, panel, (x, by), out);
            for (to, sum) in out[first / PARTS].0[of_rows].iter_mut().zip(sums) {
                *to += sum;
            }
            lines = rest;
        }
    }
}

/// The products of a panel's rows with `x`, while `out` takes each row as often as `by` says.
#[inline(always)]
fn panel_times<S: Simd, const VECTORS: usize>(
    simd: S,
    panel: &[Line],
    (x, by): (&[Line], [f64; ROWS]),
    out: &mut [Line],
) -> [f64; ROWS] {
    let splat = by.map(|factor| simd.splat_f64s(factor));
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
    let (chunks, _) = panel.as_chunks::<ROWS>();
    for ((rows, x), out) in chunks.iter().zip(x).zip(out) {
        let ((x, _), (out, _)) = (S::as_simd_f64s(&x.0), S::as_mut_simd_f64s(&mut out.0));
        for v in 0..VECTORS {
            let mut sum = out[v];
            for r in 0..ROWS {
                let (row, _) = S::as_simd_f64s(&rows[r].0);
                sum = simd.fused_f64s(splat[r], row[v], sum);
                sums[r][v] = simd.fused_f64s(row[v], x[v], sums[r][v]);
            }
            out[v] = sum;
        }
    }
    sums.map(|of_row| {
        let mut all = [0.0; PARTS];
        let (parts, _) = S::as_mut_simd_f64s(&mut all);
        parts.copy_from_slice(&of_row);
        total(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value((i, j): (usize, usize)) -> f64 {
        ((i.max(j) * 7 + i.min(j) * 3) as f64).sin()
    }

    #[test]
    fn a_triangle_gives_the_product_of_the_whole_matrix() {
        for n in [1, 3, 4, 5, 8, 9, 12, 13, 31, 64, 70] {
            let whole = Array2::from_shape_fn((n, n), value);
            // What is above the diagonal is not read.
            let lower = |(i, j): (usize, usize)| match j <= i {
                true => value((i, j)),
                false => f64::NAN,
            };
            let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5).cos()).collect();
            let mut panels = Panels::of(&Array2::ones((n, n)));
            panels.assign(&Array2::from_shape_fn((n, n), lower));
            let expected = whole.dot(&ndarray::aview1(&x));
            for (out, expected) in panels.times(&x).iter().zip(&expected) {
                let off = (out - expected).abs();
                assert!(off < 1e-13 * n as f64, "{n}: {out} {expected}");
            }
        }
    }

    /// Entries are those of plain loops in the order that is written down, with vectors of any
    /// length: of each row eight chains over the columns, then what rows below say of its column.
    #[test]
    fn bits_are_those_of_plain_loops() {
        let n = 21;
        let lower = Array2::from_shape_fn((n, n), value);
        let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5).cos()).collect();
        let half = |i: usize, j: usize| match j.cmp(&i) {
            std::cmp::Ordering::Less => lower[[i, j]],
            std::cmp::Ordering::Equal => lower[[i, i]] / 2.0,
            std::cmp::Ordering::Greater => 0.0,
        };
        let twice =
            crate::instructions::instruction_set() == crate::device::InstructionSet::Simd128;
        let mul_add = |a: f64, b: f64, c: f64| if twice { a * b + c } else { a.mul_add(b, c) };
        let mut expected = vec![0.0; n];
        for first in (0..n).step_by(ROWS) {
            let rows = first..n.min(first + ROWS);
            let sums: Vec<_> = (rows.clone())
                .map(|i| {
                    let mut s = [0.0; PARTS];
                    (0..=i).for_each(|j| s[j % PARTS] = mul_add(half(i, j), x[j], s[j % PARTS]));
                    total(s)
                })
                .collect();
            for (j, i) in (0..rows.end).flat_map(|j| rows.clone().map(move |i| (j, i))) {
                expected[j] = mul_add(half(i, j), x[i], expected[j]);
            }
            for (i, sum) in rows.zip(sums) {
                expected[i] += sum;
            }
        }
        assert_eq!(Panels::of(&lower).times(&x), expected);
    }
}
