//! Opens files of rows for prediction.

use crate::{
    Result,
    data::{ChunkSource, ColumnChoice, OpenOptions, TargetUse, open},
    model::{LinearModel, Model, Predicted, Ranges},
};
use std::path::Path;

impl LinearModel {
    /// How to [`open`](crate::data::open) rows to predict: columns are matched by name, in any
    /// order and with additional columns, if the model and the file have names.
    #[doc(hidden)]
    pub fn columns(&self) -> ColumnChoice {
        match (&self.schema, &self.column_names) {
            (Some(schema), _) => ColumnChoice::Known(Box::new(schema.clone())),
            (None, Some(names)) => match self.ranges.as_ref().and_then(Ranges::means) {
                Some(means) => ColumnChoice::Imputed {
                    names: names.clone(),
                    means: means.to_vec(),
                },
                None => ColumnChoice::Matching(names.clone()),
            },
            (None, None) => ColumnChoice::All,
        }
    }
}

impl<Y: Predicted> Model<Y> {
    /// Opens a file of rows to predict, as [`open`] does: with columns matched by name, parsed as
    /// in the fit, and without targets.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Box<dyn ChunkSource>> {
        let options = OpenOptions {
            target_use: TargetUse::Ignored,
            columns: self.linear().columns(),
            ..OpenOptions::default()
        };
        open(path, &options)
    }
}
