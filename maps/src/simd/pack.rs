//! Packed operands.

use super::tile::{ABREAST, panel_columns};
use crate::device::Aligned;

/// A matrix `[depth, columns]` in panels of as many columns as a register tile has, each panel
/// depth-major. Columns beyond the last are zero.
#[derive(Clone)]
pub(crate) struct Panels {
    depth: usize,
    columns: usize,
    data: Aligned,
}

impl Panels {
    /// Packs a row-major matrix.
    pub(crate) fn pack(matrix: &[f32], depth: usize, columns: usize) -> Self {
        let width = panel_columns();
        let count = columns.div_ceil(width);
        let mut data = Aligned::default();
        let out = data.take(count * depth * width);
        for (p, panel) in out.chunks_exact_mut((depth * width).max(1)).enumerate() {
            let from = p * width;
            let to = columns.min(from + width);
            for (row, out) in matrix
                .chunks_exact(columns)
                .zip(panel.chunks_exact_mut(width))
            {
                let (body, padding) = out.split_at_mut(to - from);
                body.copy_from_slice(&row[from..to]);
                padding.fill(0.0);
            }
        }
        Self {
            depth,
            columns,
            data,
        }
    }

    /// Panels of zeros.
    pub(crate) fn zeroed(depth: usize, columns: usize) -> Self {
        let width = panel_columns();
        Self {
            depth,
            columns,
            data: Aligned::zeroed(columns.div_ceil(width) * width * depth),
        }
    }

    /// Writes one column.
    pub(crate) fn set_column(&mut self, column: usize, values: &[f32]) {
        assert!(column < self.columns && values.len() == self.depth);
        let width = panel_columns();
        let first = column / width * self.depth * width + column % width;
        let places = self.data.as_mut_slice()[first..].iter_mut().step_by(width);
        places.zip(values).for_each(|(to, &value)| *to = value);
    }

    /// All panels.
    pub(crate) fn all(&self) -> PanelsView<'_> {
        PanelsView {
            depth: self.depth,
            first: 0,
            columns: self.columns,
            data: self.data.as_slice(),
        }
    }
}

/// Some of the panels of a matrix.
#[derive(Clone, Copy)]
pub(crate) struct PanelsView<'a> {
    depth: usize,
    /// The column of the matrix that this run of panels starts at.
    first: usize,
    columns: usize,
    data: &'a [f32],
}

impl<'a> PanelsView<'a> {
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Columns of the panels that a row or two are multiplied with at once.
    pub(crate) fn abreast_columns() -> usize {
        ABREAST * panel_columns()
    }

    /// All values, padding included.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn data(&self) -> &'a [f32] {
        let width = panel_columns();
        &self.data[..self.columns.div_ceil(width) * width * self.depth]
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The panels with their first column, each with the next one (the last one with the first).
    pub(super) fn iter(self) -> impl Iterator<Item = (usize, &'a [f32], &'a [f32])> {
        let width = panel_columns();
        let count = self.columns.div_ceil(width);
        let size = self.depth * width;
        let first = self.first;
        let panel = move |p: usize| &self.data[p * size..(p + 1) * size];
        (0..count).map(move |p| (first + p * width, panel(p), panel((p + 1) % count)))
    }

    /// The column of the matrix that this run starts at.
    pub(crate) fn start(&self) -> usize {
        self.first
    }

    /// The column after the last.
    pub(super) fn end(&self) -> usize {
        self.first + self.columns
    }

    /// Takes `count` whole panels off the front, with their first column, if there are so many.
    pub(super) fn take_front(&mut self, count: usize) -> Option<(usize, &'a [f32])> {
        let width = count * panel_columns();
        if self.columns < width {
            return None;
        }
        let (panels, rest) = self.data.split_at(width * self.depth);
        let first = self.first;
        self.first += width;
        self.columns -= width;
        self.data = rest;
        Some((first, panels))
    }

    /// The columns from `from` to `to`, which begin with a panel, and end with one or with the last
    /// column.
    pub(crate) fn part(self, from: usize, to: usize) -> Self {
        Self {
            depth: self.depth,
            first: self.first + from,
            columns: to - from,
            data: &self.data[from * self.depth..],
        }
    }
}

/// Runs of panels that are multiplied with in turn: one, or what other threads leave.
pub(crate) type Parts<'a, 'p> = &'a mut dyn Iterator<Item = PanelsView<'p>>;

impl std::fmt::Debug for Panels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {} in panels", self.depth, self.columns)
    }
}
