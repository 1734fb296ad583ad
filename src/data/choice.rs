//! Which columns of a file with names are features.

use super::open::shortened;
use crate::error::{Error, Result};
use std::path::Path;

/// Which columns of a .csv are features. Targets never are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ColumnChoice {
    /// All that are not targets.
    #[default]
    All,
    /// These, in this order.
    These(Vec<String>),
    /// All but these, which must be there.
    AllBut(Vec<String>),
    /// These, in this order, where the file has names that are not just numbers; else all. For rows
    /// that a model is to predict: [`LinearModel::columns`](crate::models::LinearModel::columns).
    Matching(Vec<String>),
}

/// Whether names say what columns are, and not just where: numbers are what a file without names
/// gets.
pub(crate) fn names_tell(names: &[String]) -> bool {
    !names.iter().all(|name| name.parse::<f64>().is_ok())
}

impl ColumnChoice {
    /// The numbers of the features among `names` of the file at `path`, without `targets`.
    ///
    /// Errors with [`Error::Data`] on a name that is missing, there twice, or that of a target, and
    /// with [`Error::Parameter`] on one that is asked for twice.
    pub(super) fn among(
        &self,
        names: &[String],
        targets: &[usize],
        path: &Path,
    ) -> Result<Vec<usize>> {
        let find = |name: &str, why: &str| {
            let mut found = (0..names.len()).filter(|&j| names[j] == name);
            match (found.next(), found.next()) {
                (Some(j), None) => Ok(j),
                (Some(_), Some(_)) => {
                    let problem = format!("has several columns called {name:?}; rename them");
                    Err(Error::data(path, problem))
                }
                (None, _) => Err(Error::data(
                    path,
                    format!(
                        "has no column {name:?}{why}; its columns are {}",
                        shortened(names)
                    ),
                )),
            }
        };
        let each = |wanted: &[String], why: &str| -> Result<Vec<usize>> {
            let mut found = Vec::with_capacity(wanted.len());
            for name in wanted {
                let j = find(name.trim(), why)?;
                if found.contains(&j) {
                    let problem = format!("column {name:?} is named twice; name it once");
                    return Err(Error::parameter(problem));
                }
                found.push(j);
            }
            Ok(found)
        };
        let others = |left_out: &[usize]| {
            let free = |j: &usize| !targets.contains(j) && !left_out.contains(j);
            (0..names.len()).filter(free).collect()
        };
        let chosen = match self {
            Self::Matching(wanted) if names_tell(names) && names_tell(wanted) => {
                return each(wanted, ", which the model was fitted on");
            }
            Self::All | Self::Matching(_) => others(&[]),
            Self::AllBut(unwanted) => others(&each(unwanted, " to leave out")?),
            Self::These(wanted) => each(wanted, "")?,
        };
        match chosen.iter().find(|j| targets.contains(j)) {
            None => Ok(chosen),
            Some(&j) => {
                let problem = format!("column {:?} is a target and no feature", names[j]);
                Err(Error::parameter(problem))
            }
        }
    }
}
