//! Matrix products on the CPU: the right factor is laid out once for many rows.

use crate::{
    Result,
    device::{CpuDevice, Matrix},
    parallel,
    simd::{Epilogue, Fused, Panels, Upcoming, for_each_row, rows_per_block},
};
use pulp::{Simd, WithSimd};

/// Up to so many columns are dot products of whole rows; more fill the panels of a register tile.
const NARROW: usize = 12;

pub(super) fn run(cpu: &CpuDevice, a_nk: &Matrix, b_kt: &Matrix, c_nt: &mut Matrix) -> Result<()> {
    let (depth, cols) = (a_nk.cols(), b_kt.cols());
    if cols == 0 {
        return Ok(());
    }
    let block = rows_per_block(a_nk.rows(), cpu.threads());
    let a = a_nk.cpu("the left factor")?;
    let b = RightFactor::new(b_kt.cpu("the right factor")?, depth, cols);
    let c = c_nt.cpu_mut("the product")?;
    cpu.install(|| {
        let a = (a, block * depth);
        parallel::usual().pairs(c, block * cols, a, &|c, a| b.times(a, c));
    });
    Ok(())
}

/// `b` of a product `c = a b`. An entry of c is summed in one order whatever the batch of rows
/// around it.
pub(crate) struct RightFactor {
    depth: usize,
    cols: usize,
    layout: Layout,
}

enum Layout {
    /// `[t, k]`: columns whole.
    Narrow(Vec<f32>),
    Wide(Panels),
}

impl RightFactor {
    /// Lays out a row-major matrix, `[depth, cols]`.
    pub(crate) fn new(b: &[f32], depth: usize, cols: usize) -> Self {
        // Panels pad columns to their width; for a few targets most of the work would be padding.
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
                crate::instructions::arch().dispatch(Dots {
                    a,
                    columns,
                    c,
                    depth: self.depth,
                });
            }
            Layout::Wide(panels) => {
                let cols = self.cols;
                for_each_row(a, &mut [panels.all()].into_iter(), Store { c, cols });
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
    fn row<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        self.c[row * self.cols + col..][..t.len()].copy_from_slice(t);
    }

    #[inline(always)]
    fn rows<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        // As vectors, of which there are two: a copy of unknown length would be a call.
        let (t, _) = S::as_simd_f32s(t);
        let rows = self.c[row * self.cols..].chunks_exact_mut(self.cols);
        for (c, t) in rows.zip(t.as_chunks::<2>().0) {
            let (c, _) = S::as_mut_simd_f32s(&mut c[col..col + 2 * S::F32_LANES]);
            for (c, &t) in c.iter_mut().zip(t) {
                *c = t;
            }
        }
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
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            a,
            columns,
            c,
            depth,
        } = self;
        let cols = columns.len() / depth;
        let rows = a.chunks(ROWS * depth).enumerate();
        let all = a;
        for ((i, a), c) in rows.zip(c.chunks_mut(ROWS * cols)) {
            let next = Upcoming::new(all, (i + 1) * ROWS * depth);
            let row = |i: usize| &a[i * depth..][..depth];
            if a.len() == ROWS * depth {
                // Three rows by two columns have twelve sums of vectors, which hide the latency of
                // a multiply-add, take fewer loads than multiply-adds, and fit 16 registers.
                let a: [&[f32]; ROWS] = [row(0), row(1), row(2)];
                by_columns::<S, ROWS, 2>(simd, a, columns, c, next);
            } else {
                for (i, c) in c.chunks_exact_mut(cols).enumerate() {
                    by_columns::<S, 1, 4>(simd, [row(i)], columns, c, next);
                }
            }
        }
    }
}

/// Rows whose dot products are summed together.
const ROWS: usize = 3;

/// Dot products of `R` rows with all columns, `C` of these at a time: two or four.
#[inline(always)]
fn by_columns<S: Simd, const R: usize, const C: usize>(
    simd: S,
    a: [&[f32]; R],
    columns: &[f32],
    c: &mut [f32],
    mut next: Upcoming<'_>,
) {
    let depth = a[0].len();
    let cols = columns.len() / depth;
    for from in (0..cols).step_by(C) {
        let next = &mut next;
        let column = |t: usize| &columns[(from + t) * depth..][..depth];
        let mut put = |dots: &[[f32; R]]| {
            for (t, dots) in dots.iter().enumerate() {
                for (c, &dot) in c.chunks_exact_mut(cols).zip(dots) {
                    c[from + t] = dot;
                }
            }
        };
        match cols - from {
            1 => put(&dots(simd, a, [column(0)], next)),
            2 => put(&dots(simd, a, [0, 1].map(column), next)),
            _ if C == 2 => put(&dots(simd, a, [0, 1].map(column), next)),
            3 => put(&dots(simd, a, [0, 1, 2].map(column), next)),
            _ => put(&dots(simd, a, [0, 1, 2, 3].map(column), next)),
        }
    }
}

/// Dot products of a few rows with a few columns, `[column][row]`, so that each is loaded once for
/// all of the others.
///
/// A dot product has 32 partial sums, whatever the width of vectors, and the upper half is added
/// to the lower one until one is left: its bits follow from the depth alone. Vectors of one number
/// have two, which is another order.
#[inline(always)]
fn dots<S: Simd, const R: usize, const C: usize>(
    simd: S,
    a: [&[f32]; R],
    b: [&[f32]; C],
    next: &mut Upcoming<'_>,
) -> [[f32; R]; C] {
    // A pair of vectors of them at a time, all that registers hold: narrow ones pass over their
    // share of the places once for each pair. Calls and no closure, which might not be inlined.
    let sums = match S::F32_LANES {
        16 => pair::<S, R, C, 2>(simd, a, b, 0, next),
        8 => {
            let first = pair::<S, R, C, 4>(simd, a, b, 0, next);
            add(simd, first, pair::<S, R, C, 4>(simd, a, b, 1, next))
        }
        _ => {
            let first = pair::<S, R, C, 8>(simd, a, b, 0, next);
            let even = add(simd, first, pair::<S, R, C, 8>(simd, a, b, 2, next));
            let second = pair::<S, R, C, 8>(simd, a, b, 1, next);
            let odd = add(simd, second, pair::<S, R, C, 8>(simd, a, b, 3, next));
            add(simd, even, odd)
        }
    };
    let mut out = [[0.0; R]; C];
    // A loop and not `map`: a closure would have the sums in memory.
    for (out, sums) in out.iter_mut().zip(sums) {
        for (out, [first, second]) in out.iter_mut().zip(sums) {
            *out = sum_of_lanes(simd, simd.add_f32s(first, second));
        }
    }
    out
}

/// The upper half onto the lower one until one is left, as pulp does it for vectors of x86.
#[inline(always)]
fn sum_of_lanes<S: Simd>(simd: S, v: S::f32s) -> f32 {
    if S::F32_LANES == 4 {
        let [a, b, c, d]: [f32; 4] = bytemuck::cast(v);
        return (a + c) + (b + d);
    }
    simd.reduce_sum_f32s(v)
}

/// A pair of vectors of partial sums, `[column][row]`.
type Pairs<S, const R: usize, const C: usize> = [[[<S as Simd>::f32s; 2]; R]; C];

#[inline(always)]
fn add<S: Simd, const R: usize, const C: usize>(
    simd: S,
    mut sums: Pairs<S, R, C>,
    others: Pairs<S, R, C>,
) -> Pairs<S, R, C> {
    for (sums, others) in sums.iter_mut().zip(others) {
        for (sums, others) in sums.iter_mut().zip(others) {
            sums[0] = simd.add_f32s(sums[0], others[0]);
            sums[1] = simd.add_f32s(sums[1], others[1]);
        }
    }
    sums
}

/// The partial sums of [`dots`] in vectors `2 pair` and the next one of `VECTORS`.
#[inline(always)]
fn pair<S: Simd, const R: usize, const C: usize, const VECTORS: usize>(
    simd: S,
    a: [&[f32]; R],
    b: [&[f32]; C],
    pair: usize,
    next: &mut Upcoming<'_>,
) -> Pairs<S, R, C> {
    // All of one length, so that the loop has one check for all.
    let step = VECTORS * S::F32_LANES;
    let steps = a[0].len() / step;
    let a_steps = all_steps::<S, R, VECTORS>(a, steps);
    let b_steps = all_steps::<S, C, VECTORS>(b, steps);
    let mut sums = [[[simd.splat_f32s(0.0); 2]; R]; C];
    let ahead = next.lines(steps);
    for k in 0..steps {
        // A line of the rows after these at each step: a row may be a page, at whose end the
        // processor's own reading ahead stops.
        ahead.ask_for(k);
        for half in 0..2 {
            // A row at a time, so that 16 registers hold twelve sums, two columns and it.
            for (r, a) in a_steps.iter().enumerate() {
                for (sums, b) in sums.iter_mut().zip(b_steps) {
                    let (a, b) = (a[k][2 * pair + half], b[k][2 * pair + half]);
                    sums[r][half] = simd.fused_f32s(a, b, sums[r][half]);
                }
            }
        }
    }
    add_rest(simd, (a, b), steps * step, pair, sums)
}

/// Adds what lies from `from` on and fills no whole step to the sums of a pair, zeros beyond:
/// rounded as the others. It takes a copy of the sums, for its loops stay loops, and would have
/// those of whole steps in memory.
#[inline(always)]
fn add_rest<S: Simd, const R: usize, const C: usize>(
    simd: S,
    (a, b): ([&[f32]; R], [&[f32]; C]),
    from: usize,
    pair: usize,
    mut sums: Pairs<S, R, C>,
) -> Pairs<S, R, C> {
    for half in 0..2 {
        let at = from + (2 * pair + half) * S::F32_LANES;
        if at < a[0].len() {
            let vector = |v: &[f32]| {
                let v = &v[at..];
                simd.partial_load_f32s(&v[..v.len().min(S::F32_LANES)])
            };
            for (r, a) in a.iter().enumerate() {
                let a = vector(a);
                for (sums, b) in sums.iter_mut().zip(&b) {
                    sums[r][half] = simd.fused_f32s(a, vector(b), sums[r][half]);
                }
            }
        }
    }
    sums
}

/// The whole steps of each, so many vectors at a time. A loop and not `map`: a call of its closure
/// would have them in memory, and with them the sums.
#[inline(always)]
fn all_steps<S: Simd, const N: usize, const VECTORS: usize>(
    all: [&[f32]; N],
    steps: usize,
) -> [&[[S::f32s; VECTORS]]; N] {
    let mut whole: [&[[S::f32s; VECTORS]]; N] = [&[]; N];
    for (whole, v) in whole.iter_mut().zip(all) {
        *whole = &S::as_simd_f32s(v).0.as_chunks().0[..steps];
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::InstructionSet, instructions::instruction_set};

    /// 32 partial sums in the order of the depth, the upper half onto the lower one until one is
    /// left. Those of a browser round a product before it is added.
    fn plain(a: &[f32], b: &[f32]) -> f32 {
        let twice = instruction_set() == InstructionSet::Simd128;
        let count = 32;
        let mut sums = vec![0.0_f32; count];
        for (k, (&a, &b)) in a.iter().zip(b).enumerate() {
            let sum = &mut sums[k % count];
            *sum = if twice {
                a * b + *sum
            } else {
                a.mul_add(b, *sum)
            };
        }
        while sums.len() > 1 {
            let upper = sums.split_off(sums.len() / 2);
            sums.iter_mut().zip(upper).for_each(|(low, up)| *low += up);
        }
        sums[0]
    }

    #[test]
    fn narrow_products_are_sums_in_one_order_for_all_rows_and_columns() {
        let number = |i: usize| ((i * 7919 + 13) % 1009) as f32 / 504.0 - 1.0;
        for depth in [1, 5, 31, 32, 33, 64, 103] {
            for (rows, cols) in [(1, 1), (2, 3), (3, 2), (4, 7), (7, 4), (3, 1)] {
                let a: Vec<f32> = (0..rows * depth).map(number).collect();
                let b: Vec<f32> = (0..depth * cols).map(|i| number(5 * i + 3)).collect();
                let mut c = vec![f32::NAN; rows * cols];
                RightFactor::new(&b, depth, cols).times(&a, &mut c);
                for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                    let column: Vec<f32> = b.iter().skip(j).step_by(cols).copied().collect();
                    let expected = plain(&a[i * depth..][..depth], &column);
                    assert_eq!(
                        c[i * cols + j],
                        expected,
                        "{depth}: {i} of {rows}, {j} of {cols}"
                    );
                }
            }
        }
    }
}
