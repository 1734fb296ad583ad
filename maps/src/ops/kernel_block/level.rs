/// What the values of a kernel block are measured from.
///
/// f32 holds a number to a part of its own size. Where a kernel is smooth and its lengthscale
/// long, all values lie near k(0), and what tells rows apart is in their last places: measured
/// from k(0) they keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// k(x, y), `[rows, m]`.
    #[default]
    Zero,
    /// k(x, y) - k(0), to the relative precision of f32, and one column more, of ones, whose
    /// coefficient adds the rest: `[rows, m + 1]`. For shift-invariant kernels.
    Top,
}

impl Level {
    /// Columns of a block of so many landmarks.
    pub fn columns(self, landmarks: usize) -> usize {
        landmarks + usize::from(self == Self::Top)
    }
}
