//! What stands in the place of a schema where no files are read.

use crate::{
    error::{Error, Remedy, Result},
    store::Store,
};

/// What the columns of a table become. Without the feature `files` there is none, for no tables are
/// read.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {}

impl Schema {
    /// None, as a model of rows of numbers has none.
    ///
    /// Errors with [`Error::Unsupported`] where the model reads tables.
    #[doc(hidden)]
    pub fn read(store: &Store, _columns: usize) -> Result<Option<Self>> {
        if !store.has_property("schema") {
            return Ok(None);
        }
        let problem = "the model reads tables, and this program was built without files";
        let remedy = "fit to rows of numbers, or build it with the feature `files` of bochner";
        Err(Error::unsupported(problem).help(Remedy::words(remedy)))
    }

    /// Nothing, for there is none.
    #[doc(hidden)]
    pub fn require_room(&self) -> Result<()> {
        match *self {}
    }

    /// Nothing, for there is none.
    #[doc(hidden)]
    pub fn write(&self, _store: &mut Store) {
        match *self {}
    }

    /// Nothing, for there is none.
    #[doc(hidden)]
    pub fn first_of_no_number(&self) -> Option<&str> {
        match *self {}
    }

    pub(super) fn table_columns(&self) -> Vec<super::TableColumn> {
        match *self {}
    }

    pub(super) fn of_words(&self) -> Vec<bool> {
        match *self {}
    }
}
