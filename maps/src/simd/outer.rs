//! Products of rows with rows, `X H'`: summed in f32 over a thousand columns, and in f64 beyond.
//!
//! An element is one chain of 256 multiply-adds after another in f32, as in sums of a Gram matrix,
//! four of which are added before they become f64. Of values that are f32 its error is at most
//! `260 u` of the sum of absolute products, u = 2^-24.

use super::{Epilogue, Panels, for_each_row, rows_per_block};
use crate::{device::Aligned, parallel};
use ndarray::{ArrayViewMut2, Axis};
use pulp::Simd;
use std::cell::RefCell;

/// Columns that are summed in f32: four stretches of the register tile.
const SEGMENT: usize = 1024;

thread_local! {
    /// One segment of some rows.
    static SCRATCH: RefCell<Aligned> = RefCell::default();
}

/// Rows that others are multiplied with, in panels, segment after segment of their columns.
#[derive(Debug)]
pub struct HeldRows {
    columns: usize,
    rows: usize,
    segments: Vec<Panels>,
}

impl HeldRows {
    /// Room for so many rows.
    pub fn with_room(rows: usize, columns: usize) -> Self {
        let depths = (0..columns).step_by(SEGMENT);
        let segments = depths.map(|from| Panels::zeroed(SEGMENT.min(columns - from), rows));
        Self {
            columns,
            rows: 0,
            segments: segments.collect(),
        }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows = 0;
    }

    /// Takes more rows, one after another in `z`, on the current thread pool. Panics where there is
    /// no room.
    pub fn extend(&mut self, z: &[f32]) {
        let (columns, first) = (self.columns, self.rows);
        parallel::usual().parts(&mut self.segments, &|s, panels| {
            let here = s * SEGMENT..columns.min((s + 1) * SEGMENT);
            for (r, z) in z.chunks_exact(columns).enumerate() {
                panels.set_column(first + r, &z[here.clone()]);
            }
        });
        self.rows += z.len() / columns;
    }

    /// Adds the products of rows `z` with all rows held, `[m, held]`, on the current thread pool.
    /// Bits depend on the vectors of the processor, not on the rows that come together nor on the
    /// number of threads.
    pub fn add_products(&self, z: &[f32], mut out_mh: ArrayViewMut2<'_, f64>) {
        let together = rows_per_block(out_mh.nrows(), rayon::current_num_threads());
        let blocks = out_mh.axis_chunks_iter_mut(Axis(0), together);
        let mut blocks: Vec<_> = z.chunks(together * self.columns).zip(blocks).collect();
        parallel::alone().parts(&mut blocks, &|_, (z, out_mh)| {
            let rows = out_mh.rows_mut().into_iter();
            let out = rows.map(|row| row.into_slice().expect("contiguous"));
            let mut out: Vec<_> = out.collect();
            for (s, panels) in self.segments.iter().enumerate() {
                let all = panels.all();
                let depth = all.depth();
                SCRATCH.with_borrow_mut(|scratch| {
                    let segment = scratch.take(out.len() * depth);
                    let rows = z.chunks_exact(self.columns);
                    for (to, row) in segment.chunks_exact_mut(depth).zip(rows) {
                        to.copy_from_slice(&row[s * SEGMENT..][..depth]);
                    }
                    let held = &mut [all.part(0, self.rows)].into_iter();
                    for_each_row(segment, held, Add { out: &mut out });
                });
            }
        });
    }
}

/// Adds products to sums in f64.
struct Add<'a, 'o> {
    out: &'a mut [&'o mut [f64]],
}

impl Epilogue for Add<'_, '_> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        let out = &mut self.out[row][col..][..t.len()];
        out.iter_mut()
            .zip(t)
            .for_each(|(out, &t)| *out += f64::from(t));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check::normal, simd::Triangle};
    use ndarray::{Array2, s};

    /// Products with rows that come in parts, of shapes around the edges of tiles, panels and
    /// segments: within the bound that is stated, and as near as the sums of a Gram matrix whose
    /// rows are these columns.
    #[test]
    fn products_are_those_of_f64_and_as_near_as_gram_sums() {
        for (held, columns, rows) in [(1, 1, 1), (31, 255, 5), (33, 1025, 97), (70, 5000, 37)] {
            // All of one sign: sums grow, and so does what rounding takes off them.
            let z = normal(held, columns, 1).mapv(f32::abs);
            let x = normal(rows, columns, 2).mapv(f32::abs);
            let mut some = HeldRows::with_room(held + 3, columns);
            // What was held before is gone.
            some.extend(x.slice(s![..1, ..]).as_slice().expect("standard layout"));
            some.clear();
            let cut = held / 3 * columns;
            let flat = z.as_slice().expect("standard layout");
            some.extend(&flat[..cut]);
            some.extend(&flat[cut..]);
            assert_eq!(some.rows(), held);
            let mut out = Array2::from_elem((rows, held + 2), 0.5);
            let flat = x.as_slice().expect("standard layout");
            some.add_products(flat, out.slice_mut(s![.., 1..=held]));
            assert!(
                out.column(0)
                    .iter()
                    .chain(out.column(held + 1))
                    .all(|&v| v == 0.5)
            );
            let exact = x.mapv(f64::from).dot(&z.mapv(f64::from).t());
            let apart = out.slice(s![.., 1..=held]).to_owned() - 0.5 - &exact;
            let off = (&apart / &exact).fold(0.0_f64, |m, e| m.max(e.abs()));
            assert!(
                off <= 260.0 * (-24_f64).exp2(),
                "{held} {columns} {rows}: {off:e}"
            );
            let mut sums = Triangle::new(held, rows);
            let columns_of = |a: &Array2<f32>| a.t().as_standard_layout().into_owned();
            let (z, x) = (columns_of(&z), columns_of(&x));
            sums.add(z.as_slice().expect("flat"), x.as_slice().expect("flat"));
            let gram = (sums.finish().1.t().to_owned() - &exact) / &exact;
            let of_gram = gram.fold(0.0_f64, |m, e| m.max(e.abs()));
            assert!(off <= 1.5 * of_gram + 1e-15, "{off:e} beside {of_gram:e}");
        }
    }

    /// The same bits on one thread and on three, and for a row alone.
    #[test]
    fn bits_are_those_of_one_thread_and_of_one_row() {
        let (held, columns, rows) = (45, 2100, 70);
        let (z, x) = (normal(held, columns, 3), normal(rows, columns, 4));
        let flat = x.as_slice().expect("standard layout");
        let products = |threads, x: &[f32]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().expect("threads").install(|| {
                let mut some = HeldRows::with_room(held, columns);
                some.extend(z.as_slice().expect("standard layout"));
                let mut out = Array2::zeros((x.len() / columns, held));
                some.add_products(x, out.view_mut());
                out
            })
        };
        let all = products(1, flat);
        assert_eq!(all, products(3, flat));
        let alone = products(2, &flat[33 * columns..34 * columns]);
        assert_eq!(alone.row(0), all.row(33));
    }
}
