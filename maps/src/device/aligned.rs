//! Host memory that starts on a cache line.

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
        Self(bytemuck::zeroed_vec(len.div_ceil(16)))
    }

    /// At least `len` floats, of unspecified contents.
    pub(crate) fn take(&mut self, len: usize) -> &mut [f32] {
        let lines = len.div_ceil(16);
        if self.0.len() < lines {
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
