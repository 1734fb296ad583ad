//! Which columns of a table are features, targets, weights and groups.

use crate::data::{ColumnChoice, OpenOptions, Table, TargetUse, files::choice, schema::Places};
use crate::error::{Error, Result};
use std::path::Path;

/// The options with the columns that lists became in the place of the names of the lists.
pub(super) fn with_parts(table: &dyn Table, options: &OpenOptions) -> OpenOptions {
    let all = |names: &[String]| -> Vec<String> {
        let parts = |name: &String| {
            table
                .parts(name.trim())
                .unwrap_or_else(|| vec![name.clone()])
        };
        names.iter().flat_map(parts).collect()
    };
    let mut options = options.clone();
    options.target = all(&options.target);
    options.columns = match (&options.columns, &options.table.group) {
        (ColumnChoice::These(names), _) => ColumnChoice::These(all(names)),
        (ColumnChoice::AllBut(names), None) => ColumnChoice::AllBut(all(names)),
        (ColumnChoice::AllBut(names), Some(group)) => {
            let mut names = all(names);
            if !names.iter().any(|name| name.trim() == group) {
                names.push(group.clone());
            }
            ColumnChoice::AllBut(names)
        }
        (ColumnChoice::All, Some(group)) => ColumnChoice::AllBut(vec![group.clone()]),
        (other, _) => other.clone(),
    };
    options
}

/// The error about columns that are asked for, with what helps where the first of them that is not
/// there stands further down in the file.
pub(super) fn advised(error: Error, table: &dyn Table, options: &OpenOptions) -> Error {
    let columns = match &options.columns {
        ColumnChoice::These(names) | ColumnChoice::AllBut(names) => names.clone(),
        ColumnChoice::Matching(names) | ColumnChoice::Imputed { names, .. }
            if choice::names_tell(names) =>
        {
            names.clone()
        }
        ColumnChoice::Known(schema) => schema.feature_names(),
        ColumnChoice::All | ColumnChoice::Matching(_) | ColumnChoice::Imputed { .. } => Vec::new(),
    };
    let cells = (options.table.weight.iter())
        .chain(&options.table.group)
        .chain(options.table.named_texts())
        .chain(&options.table.numeric);
    let mut asked = options.target.iter().chain(cells).chain(&columns);
    let is_there = |name: &str| table.names().iter().any(|own| own == name);
    let gone = asked.find(|name| !is_there(name.trim()));
    match gone.and_then(|name| table.remedy(name.trim())) {
        Some(remedy) => error.help(remedy),
        None => error,
    }
}

/// Which columns are what.
pub(super) fn choose(table: &dyn Table, options: &OpenOptions) -> Result<Places> {
    let (names, path) = (table.names(), table.path());
    let wanted = wanted_targets(path, options)?;
    let targets = choice::targets(&wanted, options.target_use, names, path)?;
    let weight = match &options.table.weight {
        None => None,
        Some(name) => {
            let found = choice::find(names, name, " of weights", path)?;
            if targets.contains(&found) {
                let problem = format!("column {name:?} is a target and no weight");
                return Err(Error::parameter(problem));
            }
            Some(found)
        }
    };
    let group = group(table, options, (&targets, weight))?;
    require_kinds(table, options)?;
    let taken: Vec<usize> = targets.iter().chain(&weight).copied().collect();
    let features = options.columns.features(names, &taken, path)?;
    let read = match options.target_use {
        TargetUse::Ignored => Vec::new(),
        TargetUse::IfPresent if targets.len() < wanted.len() => Vec::new(),
        _ => targets,
    };
    Ok(Places {
        features,
        targets: read,
        weight,
        group,
    })
}

/// The names of the targets, which are those of the model where there is one.
fn wanted_targets(path: &Path, options: &OpenOptions) -> Result<Vec<String>> {
    let wanted = options.target.clone();
    let ColumnChoice::Known(schema) = &options.columns else {
        return Ok(wanted);
    };
    if wanted.is_empty() {
        return Ok(schema.target_names());
    }
    if options.target_use == TargetUse::Required && wanted != schema.target_names() {
        let problem = format!(
            "has the targets {}, but the model predicts {}; name those",
            wanted.join(", "),
            schema.target_names().join(", ")
        );
        return Err(Error::data(path, problem));
    }
    Ok(wanted)
}

/// Where the groups of rows stand, if there are any: in a column that is nothing else.
fn group(
    table: &dyn Table,
    options: &OpenOptions,
    (targets, weight): (&[usize], Option<usize>),
) -> Result<Option<usize>> {
    let names = table.names();
    let group = options.table.group.as_ref();
    let group = group.map(|name| choice::find(names, name, " of groups", table.path()));
    let group = group.transpose()?;
    if let Some(found) = group {
        let name = &names[found];
        let other = match () {
            () if targets.contains(&found) => Some("a target"),
            () if weight == Some(found) => Some("a weight"),
            () if options.columns.names(name) => Some("a feature"),
            () => None,
        };
        if let Some(other) = other {
            let problem = format!("column {name:?} is {other} and no group; name it once");
            return Err(Error::parameter(problem));
        }
    }
    Ok(group)
}

/// Errors where a column is named for categories or for numbers and is not there, where one is
/// named for two kinds, and where no categories are allowed.
fn require_kinds(table: &dyn Table, options: &OpenOptions) -> Result<()> {
    let (names, path) = (table.names(), table.path());
    for name in options.table.named_texts() {
        choice::find(names, name, " of categories", path)?;
    }
    for name in &options.table.numeric {
        choice::find(names, name, " of numbers", path)?;
        if options.table.named_texts().any(|text| text == name) {
            let problem = format!("column {name:?} is named for categories and for numbers");
            return Err(Error::parameter(problem));
        }
    }
    let mut words = options.table.words.iter().flatten();
    let by_target = |name: &&String| options.table.by_target.iter().flatten().any(|n| n == *name);
    if let Some(name) = words.find(by_target) {
        let problem = format!("column {name:?} is named for words and for means of the target");
        return Err(Error::parameter(problem));
    }
    if options.table.most_categories == 0 {
        return Err(Error::parameter(
            "0 categories leave no column; allow at least 1",
        ));
    }
    Ok(())
}
