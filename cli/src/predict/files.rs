//! The files of predictions and of probabilities: begun, written side by side, finished.

use super::{
    Args,
    kept::Kept,
    output::{Cells, Writer},
    seen::Seen,
    way::{Way, What, class_names},
};
use crate::checkpoint::Progress;
use anyhow::Result;
use bochner::{
    data::{AtomicFile, ChunkSource, Done, Refill},
    models::LinearModel,
};
use std::path::Path;

/// What is written.
pub(super) struct Outputs {
    predictions: Writer,
    probabilities: Option<Writer>,
    /// The places of rows that are left out, which are written as none.
    refill: Refill,
}

impl Outputs {
    /// Predicts some rows; gives their number.
    pub(super) fn write(
        &mut self,
        way: &mut Way<'_>,
        source: &mut dyn ChunkSource,
        seen: &mut Seen,
    ) -> Result<u64> {
        Ok(way.stream(source, &mut |found, p_nt| {
            seen.add(found);
            let places = self.refill.places(found.nrows());
            if let (Some(beside), Some(p_nt)) = (&mut self.probabilities, p_nt) {
                beside.refilled(p_nt, places.clone())?;
            }
            self.predictions.refilled(found, places)
        })?)
    }

    /// How far each file is.
    pub(super) fn marks(&mut self) -> Result<Vec<Done>> {
        let mut done = vec![self.predictions.mark()?];
        if let Some(beside) = &mut self.probabilities {
            done.push(beside.mark()?);
        }
        Ok(done)
    }

    /// Writes rows that are left out at the end, and has the files appear.
    pub(super) fn finish(mut self) -> Result<()> {
        let rest = self.refill.rest();
        for mut writer in self.probabilities.into_iter().chain([self.predictions]) {
            writer.blank(rest.len())?;
            writer.finish()?;
        }
        Ok(())
    }
}

impl Args {
    /// Begins what is written, or goes on with it.
    pub(super) fn outputs(
        &self,
        model: &LinearModel,
        what: What,
        progress: Option<&Progress>,
        refill: Refill,
    ) -> Result<Outputs> {
        let open = |output, path: &Path| -> Result<_> {
            let fresh = AtomicFile::create(path)?;
            match progress {
                // A place that cannot be written is better known now than at the end.
                Some(progress) => Ok(progress.output(output, path)?),
                None => Ok((fresh, Done::default())),
            }
        };
        let names = what.columns(model);
        let cells = match (what, &model.class_names) {
            (What::Sets(_), _) => Cells::Sets,
            (_, Some(labels)) if what.is_labels(model) => Cells::Labels(labels),
            _ => Cells::Numbers,
        };
        let columns = (names.as_slice(), cells);
        let kept = Kept::from_args(self)?;
        let predictions = Writer::create(&self.output, |path| open(0, path), columns, kept)?;
        let probabilities = self.probabilities.as_ref().map(|path| {
            let classes = class_names(model);
            Writer::create(path, |path| open(1, path), (&classes, Cells::Numbers), None)
        });
        Ok(Outputs {
            predictions,
            probabilities: probabilities.transpose()?,
            refill,
        })
    }
}
