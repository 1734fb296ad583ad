//! Sparse rows times packed columns, with the epilogue of dense ones.

use super::{Epilogue, Fused, PanelsView};
use pulp::{Simd, WithSimd};

/// Entries of rows as the product takes them.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a> {
    /// Where each row begins among the entries, and where the last one ends.
    pub(crate) starts: &'a [usize],
    pub(crate) columns: &'a [u32],
    pub(crate) values: &'a [f32],
}

/// Calls `epilogue` with `base + x W` for every row of `entries` and every panel of columns, on
/// this thread. `base` has a value for each column. A panel stays in the caches near a core while
/// all rows pass it, and sums of a row and a panel stay in registers.
pub(crate) fn for_each_sparse_row(
    entries: Entries<'_>,
    base: &[f32],
    panels: PanelsView<'_>,
    epilogue: impl Epilogue,
) {
    crate::instructions::arch().dispatch(Product {
        entries,
        base,
        panels,
        epilogue,
    });
}

struct Product<'a, E> {
    entries: Entries<'a>,
    base: &'a [f32],
    panels: PanelsView<'a>,
    epilogue: E,
}

impl<E: Epilogue> WithSimd for Product<'_, E> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            entries,
            base,
            panels,
            mut epilogue,
        } = self;
        let width = 2 * S::F32_LANES;
        // Sums of one row: two vectors of at most 16 lanes.
        let mut t = [0.0_f32; 32];
        for (col, panel, _) in panels.iter() {
            let within = width.min(panels.end() - col);
            for (row, ends) in entries.starts.windows(2).enumerate() {
                let (columns, values) = (
                    &entries.columns[ends[0]..ends[1]],
                    &entries.values[ends[0]..ends[1]],
                );
                t[..within].copy_from_slice(&base[col..col + within]);
                t[within..width].fill(0.0);
                let (sums, _) = S::as_mut_simd_f32s(&mut t[..width]);
                let (mut low, mut high) = (sums[0], sums[1]);
                for (&j, &v) in columns.iter().zip(values) {
                    let from = j as usize * width;
                    let (w, _) = S::as_simd_f32s(&panel[from..from + width]);
                    let v = simd.splat_f32s(v);
                    low = simd.fused_f32s(v, w[0], low);
                    high = simd.fused_f32s(v, w[1], high);
                }
                (sums[0], sums[1]) = (low, high);
                epilogue.row(simd, row, col, &t[..within]);
            }
        }
    }
}
