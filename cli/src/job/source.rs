//! Where options come from: a file of TOML, or the job that a model keeps.

use super::model_options;
use crate::report::Usage;
use anyhow::Result;
use bochner::{Error, data::Schema, job::Settings, models::LinearModel};
use clap::ArgAction;
use std::{ffi::OsString, fmt::Write, fs::File, io::Read, path::Path};
use toml::de::{DeTable, DeValue};

/// Options of a table that take lists of names.
const LISTS: [&str; 5] = ["na", "categorical", "numeric", "by-target", "words"];

/// Bytes of the longest file of options.
const LONGEST: u64 = 1 << 20;

/// An option of a fit.
#[derive(Debug)]
pub(super) struct Given {
    /// Its long name.
    pub(super) name: String,
    /// Its values in words; of several each is an option of its own.
    values: Vec<String>,
    /// Where it stands, for errors.
    pub(super) at: String,
}

/// Options of a fit.
#[derive(Debug, Default)]
pub(super) struct Options(Vec<Given>);

impl Given {
    /// The words of a command line that say this.
    pub(super) fn words(&self, argument: &clap::Arg) -> Result<Vec<OsString>> {
        let Self { name, values, at } = self;
        let one = |value: &String| -> Result<Option<OsString>> {
            if argument.is_positional() {
                return Ok(Some(value.into()));
            }
            let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
            match (is_flag, value.as_str()) {
                (false, _) => Ok(Some(format!("--{name}={value}").into())),
                (true, "true") => Ok(Some(format!("--{name}").into())),
                (true, "false") => Ok(None),
                (true, _) => {
                    let problem = format!("{at}: {name} is {value:?}; it is true or false");
                    Err(Usage(problem).into())
                }
            }
        };
        values
            .iter()
            .filter_map(|value| one(value).transpose())
            .collect()
    }
}

impl Options {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Given> {
        self.0.iter()
    }

    /// The first value of an option.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|given| given.name == name)?;
        found.values.first().map(String::as_str)
    }

    fn push(&mut self, name: &str, values: Vec<String>, at: String) {
        let name = name.replace('_', "-");
        self.0.push(Given { name, values, at });
    }

    /// Those of a file: `name = value`, in sections or not, whose names say nothing.
    pub(super) fn of_file(path: &Path) -> Result<Self> {
        let text = text(path)?;
        let line = |at: usize| {
            let before = text.get(..at).unwrap_or_default();
            format!(
                "{}: line {}",
                path.display(),
                before.matches('\n').count() + 1
            )
        };
        let table = DeTable::parse(&text).map_err(|error| {
            let at = line(error.span().map_or(0, |span| span.start));
            let what = crate::report::one_line(error.message());
            Usage(format!("{at}: {what}; write lines such as features = 2000"))
        })?;
        let mut options = Self::default();
        options.take(table.get_ref(), &line)?;
        Ok(options)
    }

    /// As lines of TOML, which [`Self::of_file`] reads.
    pub(super) fn lines(&self) -> String {
        let settings = self.0.iter().fold(Settings::default(), |settings, given| {
            settings.text(&given.name, given.values.join(","))
        });
        settings.to_string()
    }

    fn take(&mut self, table: &DeTable<'_>, line: &dyn Fn(usize) -> String) -> Result<()> {
        for (name, value) in table {
            let at = line(name.span().start);
            if let DeValue::Table(section) = value.get_ref() {
                self.take(section, line)?;
                continue;
            }
            let values = match value.get_ref() {
                DeValue::Array(all) => all.iter().map(|one| word(one.get_ref())).collect(),
                one => word(one).map(|word| vec![word]),
            };
            let Some(values) = values else {
                let problem = format!(
                    "{at}: {} is neither a word, a number, true, false nor a list of them",
                    name.get_ref()
                );
                return Err(Usage(problem).into());
            };
            self.push(name.get_ref(), values, at);
        }
        Ok(())
    }

    /// Those of the fit of a model, with its columns and targets where they have names.
    ///
    /// Errors where the rows had weights whose column nobody knows, unless `has_weights`.
    pub(super) fn of_model(model: &LinearModel, path: &Path, has_weights: bool) -> Result<Self> {
        let Some(job) = &model.job else {
            let problem = "keeps no job to fit again: it is older than that, or code made it; name \
                the options";
            return Err(Error::data(path, problem).into());
        };
        let at = path.display().to_string();
        let mut options = Self::default();
        for (name, value) in job.iter().filter(|&(name, _)| name != "weighted") {
            options.push(name, vec![value.to_owned()], at.clone());
        }
        if let Some(names) = &model.target_names {
            options.push("target", named(names), at.clone());
        }
        let of_schema = model.schema.as_ref().map(|schema| {
            let fields = schema.features().iter();
            fields.map(|field| field.name().to_owned()).collect()
        });
        for (name, word) in model.schema.iter().flat_map(reading) {
            options.push(name, vec![word], at.clone());
        }
        if let Some(names) = of_schema.as_ref().or(model.column_names.as_ref()) {
            options.push("columns", named(names), at.clone());
        }
        let weight = model.schema.as_ref().and_then(Schema::weight);
        match weight.filter(|_| job.get("weighted").is_some()) {
            Some(name) => options.push("weight", vec![name.to_owned()], at),
            None if has_weights || job.get("weighted").is_none() => {}
            None => {
                let problem = "was fitted to rows with weights; name their column by --weight";
                return Err(Usage(format!("{at} {problem}")).into());
            }
        }
        if let Some(command) = model_options::command() {
            for option in options.iter() {
                model_options::require(&command, (&option.name, &option.values), &option.at)?;
            }
        }
        Ok(options)
    }
}

/// The text of a file of options. Errors if it is longer than such a file is, or has no length.
fn text(path: &Path) -> Result<String> {
    let fail = |error| Error::io(path, error);
    // Asked first: to open a pipe waits for who writes into it, and a device may have no end.
    if !std::fs::metadata(path).map_err(fail)?.is_file() {
        let problem = "is not a regular file; save the options to one";
        return Err(Error::data(path, problem).into());
    }
    let mut text = String::new();
    let file = File::open(path).map_err(fail)?;
    let mut start = file.take(LONGEST + 1);
    start.read_to_string(&mut text).map_err(fail)?;
    if text.len() as u64 > LONGEST {
        let problem = "has more than 1 MiB, which no job has; name the file of options";
        return Err(Error::data(path, problem).into());
    }
    Ok(text)
}

/// How cells were read that a schema was learnt of, as options and their words.
fn reading(schema: &Schema) -> impl Iterator<Item = (&str, String)> {
    schema.options().map(|(name, words)| match words {
        [one] if !LISTS.contains(&name) => (name, one.clone()),
        all => (name, named(all).join(",")),
    })
}

fn named(names: &[String]) -> Vec<String> {
    names.iter().map(|name| listed(name)).collect()
}

/// A name as one of a list: in quotes where it has a comma.
fn listed(name: &str) -> String {
    if name.contains([',', '"']) || name.trim() != name {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// A value as a word of the command line.
fn word(value: &DeValue<'_>) -> Option<String> {
    let mut word = String::new();
    let written = match value {
        DeValue::String(text) => return Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => word.write_str(number.as_str()),
        DeValue::Float(number) => word.write_str(number.as_str()),
        DeValue::Boolean(is) => write!(word, "{is}"),
        DeValue::Datetime(date) => write!(word, "{date}"),
        _ => return None,
    };
    written.ok().map(|()| word)
}
