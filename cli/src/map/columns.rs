//! Learners on the kernel itself: what of the map options they take.

use super::{BuiltMap, MapArgs};
use crate::report::{Console, Usage};
use anyhow::Result;
use bochner::{
    data::{ChunkSource, Survey},
    features::{KernelColumns, MapBuilder, MapKind, Standardize},
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
        self.kernel.check(self.columns(landmarks).1.as_ref())
    }

    /// So many landmarks of the kernel, and the kernel.
    fn columns(
        &self,
        landmarks: usize,
    ) -> (KernelColumns, std::sync::Arc<dyn bochner::kernels::Kernel>) {
        let kernel = self.kernel.kernel_of(&MapKind::Nystrom.into());
        let columns = KernelColumns::of(kernel.clone()).landmarks(landmarks);
        let columns = columns.seed(Seed(self.kernel.seed));
        (columns.choice(self.tuning.landmarks_choice()), kernel)
    }

    /// As [`MapArgs::survey`], with rows to choose landmarks among.
    pub(crate) fn survey_columns(
        &self,
        landmarks: usize,
        source: &mut dyn ChunkSource,
        console: &Console,
    ) -> Result<(Survey, f64)> {
        let rows = self.columns(landmarks).0.sample_rows();
        let rows = rows.max(self.kernel.sample_rows());
        self.kernel.survey(source, rows, console)
    }

    /// As [`MapArgs::build`], for the kernel with so many landmarks.
    pub(crate) fn build_columns(
        &self,
        landmarks: usize,
        columns: usize,
        survey: &Survey,
        console: &Console,
    ) -> Result<(BuiltMap, f64)> {
        let (builder, kernel) = self.columns(landmarks);
        let survey_of = Some(survey);
        let scale = self.kernel.scale(
            (kernel.as_ref(), kernel.is_shift_invariant()),
            columns,
            survey_of,
            Standardize::Auto,
        )?;
        scale.hint(console);
        let (map, seconds) =
            console.timed(|| builder.build(scale.input.clone(), &survey.sample))?;
        let built = BuiltMap {
            map: Box::new(map),
            kernel,
            scale,
            selection: None,
            choice: None,
        };
        Ok((built, seconds))
    }
}
