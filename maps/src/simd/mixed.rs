//! Products of f32 rows with f64 operands of few rows, summed in f64: `Z beta` and `Z' r` for
//! several targets at a time.
//!
//! Values become f64 in blocks that stay in cache, and sums stay in registers. The floor is that of
//! the multiply-adds, one a value and target: a value is turned once for up to `TARGETS` of them.

mod products;
mod transposed;

pub use products::add_products;
pub use transposed::add_transposed;

use crate::device::Aligned;
use std::{cell::RefCell, ops::Range};

/// Targets that share the values that were turned into f64: their operands stay in second-level
/// cache.
const TARGETS: usize = 48;
/// Targets of a register tile at most.
const ABREAST: usize = 6;

/// Scratch of one thread, kept between calls.
#[derive(Default)]
struct Scratch {
    values: Aligned,
    operands: Aligned,
    sums: Aligned,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// At least `len` doubles, of unspecified contents.
fn doubles(memory: &mut Aligned, len: usize) -> &mut [f64] {
    bytemuck::cast_slice_mut(memory.take(2 * len))
}

/// Cuts `count` into as few pieces of at most `most` as there can be, of nearly the same size.
fn pieces(count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let pieces = count.div_ceil(most);
    (0..pieces).map(move |p| p * count / pieces..(p + 1) * count / pieces)
}

/// Calls `$tile::<S, $vectors, T>` for the number of targets `$targets`, which is at most
/// [`ABREAST`].
macro_rules! of_targets {
    ($targets:expr, $tile:ident::<$s:ty, $side:ident>($($argument:expr),*)) => {
        match $targets {
            1 => $tile::<$s, $side, 1>($($argument),*),
            2 => $tile::<$s, $side, 2>($($argument),*),
            3 => $tile::<$s, $side, 3>($($argument),*),
            4 => $tile::<$s, $side, 4>($($argument),*),
            5 => $tile::<$s, $side, 5>($($argument),*),
            _ => $tile::<$s, $side, 6>($($argument),*),
        }
    };
}
use of_targets;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::normal;
    use ndarray::{Array2, s};

    /// Both products against sums in f64 of one row after another: shapes around the edges of
    /// tiles, blocks and segments, a part of the columns, a factor, and sums that were there.
    #[test]
    fn products_are_those_of_plain_sums() {
        for (rows, columns, targets) in [
            (1, 1, 4),
            (5, 37, 4),
            (131, 300, 6),
            (250, 513, 7),
            (7, 8200, 26),
            (129, 260, 53),
        ] {
            let z = normal(rows, columns, 1);
            let beta = normal(targets, columns + 3, 2).mapv(|v| f64::from(v) / 3.0);
            let r = normal(targets, rows + 2, 3).mapv(|v| f64::from(v) / 3.0);
            let (mut to_rows, mut to_columns) = (r.clone(), beta.clone());
            let flat = z.as_slice().expect("standard layout");
            add_products(flat, columns, beta.slice(s![.., 2..columns + 2]), 0.5, {
                to_rows.slice_mut(s![.., 1..=rows])
            });
            add_transposed(flat, columns, r.slice(s![.., 1..=rows]), 0.5, {
                to_columns.slice_mut(s![.., 2..columns + 2])
            });
            let wide = z.mapv(f64::from);
            let mut expected = r.clone();
            let mut inner = expected.slice_mut(s![.., 1..=rows]);
            inner += &(beta.slice(s![.., 2..columns + 2]).dot(&wide.t()) * 0.5);
            close(&to_rows, &expected, columns);
            let mut expected = beta.clone();
            let mut inner = expected.slice_mut(s![.., 2..columns + 2]);
            inner += &(r.slice(s![.., 1..=rows]).dot(&wide) * 0.5);
            close(&to_columns, &expected, rows);
        }
    }

    /// The same bits on one thread and on three; of `Z beta` also for a row alone.
    #[test]
    fn bits_are_those_of_one_thread() {
        let (rows, columns, targets) = (500, 9000, 7);
        let z = normal(rows, columns, 4);
        let beta = normal(targets, columns, 5).mapv(|v| f64::from(v) / 3.0);
        let flat = z.as_slice().expect("standard layout");
        let products = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().expect("threads").install(|| {
                let mut r = Array2::zeros((targets, rows));
                add_products(flat, columns, beta.view(), 0.5, r.view_mut());
                let mut out = Array2::zeros((targets, columns));
                add_transposed(flat, columns, r.view(), 0.5, out.view_mut());
                (r, out)
            })
        };
        let (r, out) = products(1);
        assert_eq!((r.clone(), out), products(3));
        let mut alone = Array2::zeros((targets, 1));
        let row = z.row(333);
        let row = row.to_slice().expect("contiguous");
        add_products(row, columns, beta.view(), 0.5, alone.view_mut());
        assert_eq!(alone.column(0), r.column(333));
    }

    /// The same bits for rows at once and in parts of any size, onto sums that were there.
    #[test]
    fn rows_show_no_cut() {
        let (rows, columns, targets) = (500, 300, 7);
        let z = normal(rows, columns, 6);
        let r = normal(targets, rows, 7).mapv(|v| f64::from(v) / 3.0);
        let sums_of = |part: usize| {
            let mut out = Array2::ones((targets, columns));
            for from in (0..rows).step_by(part) {
                let some = from..rows.min(from + part);
                let z = z.slice(s![some.clone(), ..]);
                let z = z.to_slice().expect("contiguous");
                add_transposed(z, columns, r.slice(s![.., some]), 0.5, out.view_mut());
            }
            out
        };
        let all = sums_of(rows);
        for part in [1, 13, 240, 333] {
            assert!(sums_of(part) == all, "{part}");
        }
    }

    fn close(a: &Array2<f64>, b: &Array2<f64>, terms: usize) {
        let off = (a - b).fold(0.0, |m: f64, e| m.max(e.abs()));
        assert!(off < 1e-13 * (terms as f64).sqrt(), "{off:e} of {terms}");
    }

    #[test]
    fn pieces_are_few_and_even() {
        let cut = |count, most| pieces(count, most).map(|r| r.len()).collect::<Vec<_>>();
        assert_eq!(cut(26, 6), [5, 5, 5, 5, 6]);
        assert_eq!(cut(12, 6), [6, 6]);
        assert_eq!(cut(1, 6), [1]);
        assert_eq!(pieces(26, 6).last(), Some(20..26));
    }
}
