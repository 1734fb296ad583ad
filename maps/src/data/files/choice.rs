//! Which columns of a file with names are features, and which are targets.

use super::{
    Schema,
    table::{seen, short, shortened},
};
use crate::data::schema::composed;
use crate::error::{Error, Result};
use std::{collections::HashSet, path::Path};

/// What becomes of target columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TargetUse {
    /// Read; a missing one is an error. For fitting and scoring.
    #[default]
    Required,
    /// Read if all are there. If some are missing, the others are left out and there are no
    /// targets.
    IfPresent,
    /// Left out, unread, wherever they are there. For predicting on rows that may or may not be
    /// labelled.
    Ignored,
}

/// Which columns of a .csv are features. Targets never are.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ColumnChoice {
    /// All that are not targets.
    #[default]
    All,
    /// These, in this order.
    These(Vec<String>),
    /// All but these, which must be there.
    AllBut(Vec<String>),
    /// These, in this order, where the file has names that are not just numbers, or more columns
    /// than these; else all. For rows
    /// that a model is to predict: `LinearModel::columns`.
    Matching(Vec<String>),
    /// As [`Self::Matching`], with a fill value for each column.
    Imputed {
        /// Column names.
        names: Vec<String>,
        /// Fill value of each column for missing values.
        means: Vec<f64>,
    },
    /// Those of a schema, by which they are read, with its targets.
    Known(Box<Schema>),
}

/// Whether names say what columns are, and not just where: numbers are what a file without names
/// gets.
#[doc(hidden)]
pub fn names_tell(names: &[String]) -> bool {
    !names.iter().all(|name| name.parse::<f64>().is_ok())
}

/// The first few names for an error about one that is not there. Characters that are not seen are
/// spelled.
fn seen_names(names: &[String], wanted: &str) -> String {
    let shown: Vec<_> = names.iter().map(|name| seen(name)).collect();
    shortened(&shown) + &alike(names, wanted)
}

/// Explains that a name looks like the requested one and differs in its characters.
fn alike(names: &[String], wanted: &str) -> String {
    let looks = looks(wanted);
    match names.iter().find(|name| self::looks(name) == looks) {
        Some(name) => format!(
            ", of which {} looks the same: it has other characters, so write both alike",
            short(name)
        ),
        None => String::new(),
    }
}

/// What is seen of a name: in one form of Unicode, without characters of no width.
fn looks(name: &str) -> String {
    let is_seen =
        |c: &char| !matches!(*c as u32, 0xAD | 0x200B..=0x200F | 0x2060..=0x2064 | 0xFEFF);
    let shown: String = name.chars().filter(is_seen).collect();
    let words: Vec<&str> = shown.split_whitespace().collect();
    composed(&words.join(" ")).into_owned()
}

/// The column of this name; `why` it is looked for follows it in the error.
pub(in crate::data) fn find(names: &[String], name: &str, why: &str, path: &Path) -> Result<usize> {
    let mut found = (0..names.len()).filter(|&j| names[j] == name);
    match (found.next(), found.next()) {
        (Some(j), None) => Ok(j),
        (Some(_), Some(_)) => {
            let problem = format!("has several columns called {name:?}; rename them");
            Err(Error::data(path, problem))
        }
        (None, _) => {
            let shown = seen_names(names, name);
            let problem = format!("has no column {name:?}{why}; its columns are {shown}");
            Err(Error::data(path, problem))
        }
    }
}

/// The columns of the targets `wanted`, in their order; without those that are not there, unless
/// they are required.
///
/// Errors with [`Error::Parameter`] on a target that is named twice, and with [`Error::Data`] on
/// one that is required and missing, or that several columns have the name of.
pub(in crate::data) fn targets(
    wanted: &[String],
    target_use: TargetUse,
    names: &[String],
    path: &Path,
) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for (i, target) in wanted.iter().enumerate() {
        let target = target.trim();
        if wanted[..i].iter().any(|other| other.trim() == target) {
            return Err(Error::parameter(format!(
                "target column {target:?} is named twice; name it once"
            )));
        }
        let mut columns = (0..names.len()).filter(|&j| names[j] == target);
        match (columns.next(), columns.next()) {
            (Some(j), None) => found.push(j),
            (Some(_), Some(_)) => {
                let problem = format!(
                    "has several columns called {target:?}; give the target a name of its own"
                );
                return Err(Error::data(path, problem));
            }
            (None, _) if target_use == TargetUse::Required => {
                let shown: Vec<_> = names.iter().map(|name| short(name)).collect();
                let shown = shortened(&shown) + &alike(names, target);
                let problem =
                    format!("has no column {target:?} for the target; its columns are {shown}");
                return Err(Error::data(path, problem));
            }
            (None, _) => {}
        }
    }
    Ok(found)
}

/// The columns `found`, which later are asked for by their names: errors with [`Error::Data`] where
/// two share one.
fn with_own_names(found: Vec<usize>, names: &[String], path: &Path) -> Result<Vec<usize>> {
    let mut seen = HashSet::with_capacity(found.len());
    match found.iter().find(|&&j| !seen.insert(&names[j])) {
        None => Ok(found),
        Some(&j) => {
            let problem = format!("has several columns called {:?}; rename them", names[j]);
            Err(Error::data(path, problem))
        }
    }
}

impl ColumnChoice {
    /// Whether it asks for the column of this name.
    pub(in crate::data) fn names(&self, name: &str) -> bool {
        matches!(self, Self::These(wanted) if wanted.iter().any(|own| own.trim() == name))
    }

    /// As [`Self::among`]; errors, besides, with [`Error::Data`] where none is left.
    pub(in crate::data) fn features(
        &self,
        names: &[String],
        targets: &[usize],
        path: &Path,
    ) -> Result<Vec<usize>> {
        let found = self.among(names, targets, path)?;
        if found.is_empty() {
            let problem = match self {
                Self::AllBut(_) => "has no column left; leave out fewer",
                _ => "has only target columns; at least one column of features is needed",
            };
            return Err(Error::data(path, problem));
        }
        Ok(found)
    }

    /// The numbers of the features among `names` of the file at `path`, without `targets`.
    ///
    /// Errors with [`Error::Data`] on a name that is missing, there twice, or that of a target, and
    /// with [`Error::Parameter`] on one that is asked for twice.
    fn among(&self, names: &[String], targets: &[usize], path: &Path) -> Result<Vec<usize>> {
        let each = |wanted: &[String], why: &str| -> Result<Vec<usize>> {
            let mut found = Vec::with_capacity(wanted.len());
            for name in wanted {
                let j = find(names, name.trim(), why, path)?;
                if found.contains(&j) {
                    let problem = format!("column {name:?} is named twice; name it once");
                    return Err(Error::parameter(problem));
                }
                found.push(j);
            }
            Ok(found)
        };
        let others = |left_out: &[usize]| -> Vec<usize> {
            let free = |j: &usize| !targets.contains(j) && !left_out.contains(j);
            (0..names.len()).filter(free).collect()
        };
        let chosen = match self {
            Self::Matching(wanted) | Self::Imputed { names: wanted, .. }
                if names_tell(names) && names_tell(wanted) =>
            {
                return each(wanted, ", which the model was fitted on");
            }
            // Places, where the file has more columns than those.
            Self::Matching(wanted) | Self::Imputed { names: wanted, .. }
                if !names_tell(names)
                    && !names_tell(wanted)
                    && others(&[]).len() > wanted.len() =>
            {
                return each(wanted, ", which the model was fitted on");
            }
            Self::Known(schema) => {
                return each(&schema.feature_names(), ", which the model was fitted on");
            }
            Self::Matching(_) | Self::Imputed { .. } => others(&[]),
            Self::All => with_own_names(others(&[]), names, path)?,
            Self::AllBut(unwanted) => {
                let left = others(&each(unwanted, " to leave out")?);
                with_own_names(left, names, path)?
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_told_apart() {
        let names = ["Gro\u{308}\u{DF}e", "a\u{200B}", "b"].map(str::to_owned);
        let path = Path::new("t.csv");
        for (wanted, says) in [
            (
                "Gr\u{F6}\u{DF}e",
                r#"are "Gro\u{308}\u{df}e", "a\u{200b}", b, of which "Gro\u{308}\u{df}e" looks"#,
            ),
            ("a", r#", b, of which "a\u{200b}" looks the same"#),
        ] {
            let says = says.replace(r"\u{df}", "\u{DF}");
            let found = find(&names, wanted, "", path)
                .expect_err("another")
                .to_string();
            assert!(found.contains(&says), "{found}");
            let targets = targets(&[wanted.into()], TargetUse::Required, &names, path);
            let found = targets.expect_err("another").to_string();
            assert!(found.contains("looks the same"), "{found}");
        }
        let found = find(&names, "c", "", path).expect_err("none").to_string();
        assert!(!found.contains("looks"), "{found}");
    }
}
