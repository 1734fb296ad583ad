//! Host memory that starts on a cache line.

use super::large_pages;

/// One cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Line(pub(crate) [f32; 16]);

/// Floats that start on a cache line, so that no vector of a row that is a whole number of vectors
/// straddles two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aligned(Vec<Line>);

impl Aligned {
    /// `len` zeros and the rest of the last line, in pages that the system gives when they are
    /// first written.
    pub(crate) fn zeroed(len: usize) -> Self {
        let mut lines = bytemuck::zeroed_vec(len.div_ceil(16));
        large_pages::ask_for(&mut lines);
        Self(lines)
    }

    /// At least `len` floats, of unspecified contents.
    pub(crate) fn take(&mut self, len: usize) -> &mut [f32] {
        let lines = len.div_ceil(16);
        if self.0.len() < lines {
            let more = lines - self.0.len();
            self.0.reserve_exact(more);
            large_pages::ask_for(self.0.spare_capacity_mut());
            self.0.resize(lines, Line([0.0; 16]));
        }
        &mut self.as_mut_slice()[..len]
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
