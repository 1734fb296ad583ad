//! What a model keeps of the columns that it was fitted to.

use crate::{
    data::{ChunkSource, names_tell},
    model::{LinearModel, Targets},
};

impl LinearModel {
    /// Keeps what the columns of the data are called, where that is not just the numbers from 0 on,
    /// and what they are made of; the names of classes if labels are text.
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

/// Whether names are the numbers from 0 on, which a file without names gets.
fn count_up(names: &[String]) -> bool {
    names
        .iter()
        .enumerate()
        .all(|(j, name)| *name == j.to_string())
}
