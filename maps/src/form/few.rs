//! When few rows take a form of their own instead of a tile, and among how many workgroups they are
//! split.

use super::{DenseForm, Exchange, Shape, Way};
use crate::device::{GpuDevice, gpu::AdapterKind};

/// The name that [`super::tuning::force`] knows this form by.
pub const NAME: &str = "few-rows";

/// The most rows of this form.
pub const MOST_ROWS: usize = 64;
/// Rows of a workgroup.
pub(crate) const ROWS: [usize; 4] = [1, 2, 4, 8];
/// Columns of a workgroup, in fours.
pub(crate) const TX: usize = 8;
/// Invocations that share a column.
pub(crate) const LANES: usize = 32;
/// Workgroups that keep an adapter of this kind busy. Not raced on GPUs: the largest have about as
/// many units.
const fn enough_workgroups(kind: AdapterKind) -> usize {
    match kind {
        AdapterKind::Discrete | AdapterKind::Virtual => 256,
        AdapterKind::Integrated | AdapterKind::Other => 64,
        AdapterKind::Software => 8,
    }
}

/// Invocations that keep an adapter of this kind busy.
pub(crate) const fn enough_invocations(kind: AdapterKind) -> usize {
    enough_workgroups(kind) * TX * LANES
}

/// The form of few rows on this adapter, unless a tile was forced; with it forced, also where it
/// would not be taken. None where bits must not depend on the number of rows.
pub(super) fn form(gpu: &GpuDevice, shape: Shape) -> Option<DenseForm> {
    if gpu.is_steady() {
        return None;
    }
    let kind = gpu.report().kind;
    let forced = gpu.choices().forced();
    // The exchange of a transform says nothing of dense ops.
    let dense = |name: &&str| Exchange::ALL.iter().all(|e| e.name() != *name);
    match forced.as_deref().filter(dense) {
        None => suits(kind, shape).then(|| split(kind, shape)),
        Some(NAME) if shape.rows <= MOST_ROWS => Some(split(kind, shape)),
        Some(_) => None,
    }
}

fn split(kind: AdapterKind, shape: Shape) -> DenseForm {
    DenseForm::Few {
        splits: splits(kind, shape),
    }
}

/// Whether tiles of 64 x 64 leave an adapter of this kind idle.
fn suits(kind: AdapterKind, Shape { rows, cols, .. }: Shape) -> bool {
    let tiles = rows.div_ceil(MOST_ROWS) * cols.div_ceil(64);
    match kind {
        // Measured on lavapipe: tiles of eight rows win beyond.
        AdapterKind::Software => rows <= 4,
        _ => rows <= MOST_ROWS && tiles < enough_workgroups(kind),
    }
}

/// Workgroups among which the depth is split: as many as fill the adapter, while each lane has
/// something to add.
pub(crate) fn splits(kind: AdapterKind, shape: Shape) -> usize {
    let Shape { rows, depth, cols } = shape;
    let groups = cols.div_ceil(4 * TX) * rows.div_ceil(ROWS[3]);
    let wanted = enough_workgroups(kind) / groups.max(1);
    wanted.clamp(1, (depth / (4 * LANES)).max(1))
}

/// Parts that the frequencies of a fused prediction are split into, where the workgroups of its
/// rows alone leave an adapter of this kind idle: a workgroup there has a quarter of the
/// invocations, so four times as many are wanted.
pub(crate) fn feature_splits(kind: AdapterKind, rows: usize, freqs: usize) -> usize {
    let wanted = match kind {
        // Not measured: the cores of a CPU have enough to do with a few rows.
        AdapterKind::Software => return 1,
        _ => 4 * enough_workgroups(kind) / rows.div_ceil(64).max(1),
    };
    wanted.clamp(1, (freqs / 128).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_split_only_where_rows_leave_workgroups_idle() {
        let at = |rows, freqs| feature_splits(AdapterKind::Discrete, rows, freqs);
        assert_eq!(
            [at(100, 4096), at(8192, 4096), at(65_536, 4096)],
            [32, 8, 1]
        );
        // Less than 128 frequencies a part are not worth a second pass.
        assert_eq!(at(8192, 300), 2);
        assert_eq!(at(0, 1), 1);
        assert_eq!(feature_splits(AdapterKind::Software, 100, 4096), 1);
    }

    #[test]
    fn the_depth_is_split_only_where_columns_leave_workgroups_idle() {
        let form = |kind, rows, cols, depth| {
            let shape = Shape { rows, depth, cols };
            suits(kind, shape).then(|| split(kind, shape))
        };
        let at = |rows, cols, depth| form(AdapterKind::Discrete, rows, cols, depth);
        // One row to 4096 paired columns: 64 workgroups of columns, four parts of the depth.
        assert_eq!(at(1, 2048, 784), Some(DenseForm::Few { splits: 4 }));
        // Columns enough.
        assert_eq!(at(1, 8192, 784), Some(DenseForm::Few { splits: 1 }));
        assert_eq!(at(1, 16_384, 784), None);
        // A depth that gives each lane one vec4 is not split.
        assert_eq!(at(1, 2, 64), Some(DenseForm::Few { splits: 1 }));
        assert_eq!(at(64, 2, 784), Some(DenseForm::Few { splits: 6 }));
        assert_eq!(at(65, 2, 784), None);
        assert_eq!(form(AdapterKind::Software, 5, 2048, 784), None);
    }
}
