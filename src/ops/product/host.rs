//! The right factor of a product on the CPU, laid out once for many rows.

use crate::ops::host::{Epilogue, Panels, for_each_row};
use pulp::{Simd, WithSimd};

/// Up to so many columns are dot products of whole rows; more fill the panels of a register tile.
const NARROW: usize = 12;
/// Lanes of a dot product; their sum comes last, in a fixed order.
const LANES: usize = 32;

/// `b` of a product `c = a b`. An entry of c is summed in one order whatever the batch of rows around it.
pub(crate) struct HostFactor {
    depth: usize,
    cols: usize,
    layout: Layout,
}

enum Layout {
    /// `[t, k]`: columns whole.
    Narrow(Vec<f32>),
    Wide(Panels),
}

impl HostFactor {
    /// Lays out a row-major matrix, `[depth, cols]`.
    pub(crate) fn new(b: &[f32], depth: usize, cols: usize) -> Self {
        let layout = if cols <= NARROW {
            let mut columns = vec![0.0; depth * cols];
            for (k, row) in b.chunks_exact(cols.max(1)).enumerate() {
                for (t, &v) in row.iter().enumerate() {
                    columns[t * depth + k] = v;
                }
            }
            Layout::Narrow(columns)
        } else {
            Layout::Wide(Panels::pack(b, depth, cols))
        };
        Self {
            depth,
            cols,
            layout,
        }
    }

    /// Writes `c = a b` for whole rows of `a`, row-major, on this thread.
    pub(crate) fn times(&self, a: &[f32], c: &mut [f32]) {
        if self.cols == 0 {
            return;
        }
        match &self.layout {
            Layout::Narrow(columns) => {
                pulp::Arch::new().dispatch(Dots {
                    a,
                    columns,
                    c,
                    depth: self.depth,
                });
            }
            Layout::Wide(panels) => {
                let cols = self.cols;
                for_each_row(a, panels.all(), Store { c, cols });
            }
        }
    }
}

struct Store<'a> {
    c: &'a mut [f32],
    cols: usize,
}

impl Epilogue for Store<'_> {
    #[inline(always)]
    fn row(&mut self, row: usize, col: usize, t: &[f32]) {
        self.c[row * self.cols + col..][..t.len()].copy_from_slice(t);
    }
}

struct Dots<'a> {
    a: &'a [f32],
    columns: &'a [f32],
    c: &'a mut [f32],
    depth: usize,
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let cols = self.columns.len() / self.depth;
        let rows = self.a.chunks_exact(self.depth);
        for (a, c) in rows.zip(self.c.chunks_exact_mut(cols)) {
            for (c, b) in c.iter_mut().zip(self.columns.chunks_exact(self.depth)) {
                *c = dot(a, b);
            }
        }
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    for ((sum, &a), &b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += a * b;
    }
    sums.iter().sum()
}
