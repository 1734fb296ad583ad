//! Column and class names that a model keeps.

use crate::{
    data::{ChunkSource, names_tell},
    model::{LinearModel, Targets},
};

impl LinearModel {
    /// Keeps the names of the columns unless they just count up from 0, their roles, and the names
    /// of classes if labels are text.
    #[doc(hidden)]
    pub fn name_columns(&mut self, of: &dyn ChunkSource) {
        let telling = |names: Option<Vec<String>>| names.filter(|names| names_tell(names));
        let columns = of.column_names();
        let chosen = columns.filter(|names| names_tell(names) || !count_up(names));
        self.column_names = chosen.filter(|names| names.len() == self.map.input_dim());
        self.target_names = telling(of.target_names());
        self.schema = of.schema().cloned();
        if let (Some(schema), Targets::Classes(_)) = (&self.schema, &self.targets) {
            self.class_names = schema.classes().map(<[String]>::to_vec);
        }
    }
}

/// Whether names count up from 0, the default of files without names.
fn count_up(names: &[String]) -> bool {
    names
        .iter()
        .enumerate()
        .all(|(j, name)| *name == j.to_string())
}
