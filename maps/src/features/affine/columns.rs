//! Some of the columns.

use super::Affine;

impl Affine {
    /// The same for `columns`; all others become zero, as constant ones do.
    pub(in crate::features) fn only(mut self, columns: &[usize]) -> Self {
        for (j, scale) in self.scale.iter_mut().enumerate() {
            if !columns.contains(&j) {
                *scale = 0.0;
            }
        }
        self
    }

    /// With the columns that it drops as the first of `others` has them that keeps them.
    pub(in crate::features) fn with_columns_of<'a>(
        mut self,
        others: impl Iterator<Item = &'a Self> + Clone,
    ) -> Self {
        for j in 0..self.columns() {
            // Of other numbers of columns nothing comes of it.
            let keeps = |other: &&Self| other.scale.get(j).is_some_and(|&scale| scale != 0.0);
            if self.scale[j] == 0.0
                && let Some(other) = others.clone().find(keeps)
            {
                (self.center[j], self.scale[j]) = (other.center[j], other.scale[j]);
            }
        }
        self
    }

    /// The columns that it keeps.
    #[doc(hidden)]
    pub fn kept(&self) -> Vec<usize> {
        let all = 0..self.columns();
        all.filter(|&j| self.scale[j] != 0.0).collect()
    }
}
