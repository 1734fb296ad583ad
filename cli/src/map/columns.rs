//! Learners on the kernel itself: what of the map options they take.

use super::MapArgs;
use crate::report::{Console, Usage};
use anyhow::Result;
use bochner::{
    data::{ChunkSource, Survey},
    features::{KernelColumns, MapBuilder, MapKind},
    seed::Seed,
};

impl MapArgs {
    /// Errors on options of maps, which `model` does not take. A choice of landmarks is one only
    /// where there are `landmarks`.
    pub(crate) fn check_columns(&self, model: &str, landmarks: usize) -> Result<()> {
        let given = [
            ("--map", self.map.is_some()),
            ("--features", self.features.is_some()),
            ("--form", self.form.is_some()),
            ("--sampling", self.sampling.is_some()),
        ];
        let of_tuning = self.tuning.idle_of_columns(landmarks > 0);
        let given = given.into_iter().chain(of_tuning);
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            let problem = format!(
                "{option} is for models on the features of a map, and {model} stands on the kernel \
                 itself; leave it out"
            );
            return Err(Usage(problem).into());
        }
        self.kernel.refuse_auto()?;
        let kernel = self.kernel.kernel_of(&MapKind::Nystrom.into());
        self.kernel.check(kernel.as_ref())
    }

    /// The kernel with so many landmarks.
    pub(crate) fn columns(&self, landmarks: usize) -> KernelColumns {
        let kernel = self.kernel.kernel_of(&MapKind::Nystrom.into());
        let columns = KernelColumns::new(kernel).landmarks(landmarks);
        let columns = columns.seed(Seed(self.kernel.seed));
        columns.choice(self.tuning.landmarks_choice())
    }

    /// As [`MapArgs::survey`], with rows to choose landmarks among.
    pub(crate) fn survey_columns(
        &self,
        landmarks: usize,
        source: &mut dyn ChunkSource,
        console: &Console,
    ) -> Result<(Survey, f64)> {
        let rows = self.columns(landmarks).sample_rows();
        let rows = rows.max(self.kernel.sample_rows());
        self.kernel.survey(source, rows, console)
    }
}
