//! A schema as a property of a model file.

use super::{DateParts, Field, Fill, Kind, NoValue, Reading, Schema, TargetMeans, Words};
use crate::{
    data::files::table::short,
    error::{Error, Remedy, Result},
    limits::{HEADER_BYTES, SCHEMA_OBJECTS},
    store::Store,
    text::human_bytes,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The property, and the version of what it holds: 2 where cells are not written plainly or other
/// texts stand for no value, which readers of version 1 would not see, 3 where they have a unit, 4
/// where a column tells rows apart, 5 where one is a copy, 6 where dates have parts,
/// 7 where texts are means of the target, which are arrays of the file, 8 where they are words, 9
/// where answers are one in whatever letters and times have no mark.
const NAME: &str = "schema";
const VERSION: u64 = 9;

impl Schema {
    /// Errors with [`Error::Unsupported`], naming the largest column, unless a model can hold the
    /// schema: a fit asks before it begins.
    #[doc(hidden)]
    pub fn require_room(&self) -> Result<()> {
        self.require_room_of(HEADER_BYTES)
    }

    /// As [`Self::require_room`], of a header of so many bytes.
    fn require_room_of(&self, most: u64) -> Result<()> {
        let all = self.features.iter().chain(&self.targets);
        let plain: usize = all.clone().map(text_bytes).sum();
        // Twice, each at most 7 bytes for one; a quarter is left for all else.
        if (plain as u64) < most / 20 {
            return Ok(());
        }
        let (mut bytes, mut braces, mut largest) = (0, 0, (0, ""));
        for field in all {
            let text = field.to_json().to_string();
            // A model has the names of the columns that it becomes, too.
            let names = Value::from(field.columns()).to_string();
            let escaped = escaped_bytes(&text) + escaped_bytes(&names);
            bytes += escaped;
            braces += objects(&text);
            largest = largest.max((escaped, field.name.as_str()));
        }
        if bytes <= most / 4 * 3 && braces < SCHEMA_OBJECTS {
            return Ok(());
        }
        let (of_it, name) = (human_bytes(largest.0), short(largest.1));
        Err(Error::unsupported(format!(
            "the names and categories of all columns take {}, those of column {name} {of_it}, and \
             a model holds {}",
            human_bytes(bytes),
            human_bytes(most / 4 * 3),
        ))
        .help(Remedy::Ignore(largest.1.to_owned())))
    }

    #[doc(hidden)]
    pub fn write(&self, store: &mut Store) {
        let fields = |fields: &[Field]| fields.iter().map(Field::to_json).collect::<Vec<_>>();
        let mut value = json!({
            "version": self.version(),
            "features": fields(&self.features),
            "targets": fields(&self.targets),
            "weight": self.weight,
            "na": self.no_value.texts(),
        });
        if !self.options.is_empty() {
            value["options"] = json!(self.options);
        }
        if let Some(reading) = &self.weight_reading {
            value["weight_reading"] = reading.to_json();
        }
        store.set(NAME, value);
        for (j, field) in self.features.iter().enumerate() {
            if let Kind::Means(means) = &field.kind {
                store.nest(&arrays_of(j), means.store());
            }
        }
    }

    fn version(&self) -> u64 {
        let any = |is: fn(&Field) -> bool| self.features.iter().chain(&self.targets).any(is);
        let is_clock = |field: &Field| field.reading == Some(Reading::Clock);
        if any(Field::is_in_any_letters) || any(is_clock) {
            VERSION
        } else if any(|field| matches!(field.kind, Kind::Words(_))) {
            8
        } else if any(|field| matches!(field.kind, Kind::Means(_))) {
            7
        } else if any(|field| matches!(field.kind, Kind::Date(parts) if parts.width() > 0)) {
            6
        } else if any(|field| matches!(field.kind, Kind::Copy(_))) {
            5
        } else if any(|field| field.kind == Kind::Id) {
            4
        } else if any(|field| field.amount().is_some()) {
            3
        } else if self.is_written_plainly() {
            1
        } else {
            2
        }
    }

    fn is_written_plainly(&self) -> bool {
        let mut all = self.features.iter().chain(&self.targets);
        let written = |field: &Field| field.reading.is_none() && field.kind != Kind::Empty;
        all.all(written) && self.no_value == NoValue::before()
    }

    /// What [`Self::write`] wrote, whose features become so many columns; `None` in a file without.
    #[doc(hidden)]
    pub fn read(store: &Store, columns: usize) -> Result<Option<Self>> {
        if !store.has_property(NAME) {
            return Ok(None);
        }
        let text = store.text(NAME)?;
        if objects(text) > SCHEMA_OBJECTS {
            return Err(damaged("holds too many objects"));
        }
        let value: Value =
            serde_json::from_str(text).map_err(|fault| damaged(&format!("is damaged: {fault}")))?;
        match value["version"].as_u64() {
            Some(1..=VERSION) => {}
            Some(version) => {
                return Err(damaged(&format!(
                    "has version {version}, and this bochner reads up to {VERSION}: use a newer one"
                )));
            }
            None => return Err(damaged("has no version")),
        }
        let fields = |of: &str| -> Result<Vec<Field>> {
            let list = value[of].as_array();
            let list = list.ok_or_else(|| damaged(&format!("has no list of {of}")))?;
            let read = list.iter().enumerate().map(|(j, value)| {
                let arrays = || store.nested(&arrays_of(j));
                Field::from_json(value, columns, &arrays)
            });
            let read: Option<Vec<_>> = read.collect();
            read.ok_or_else(|| damaged(&format!("has {of} that it cannot have")))
        };
        let (features, targets) = (fields("features")?, fields("targets")?);
        require_columns(&features, columns)?;
        require_targets(&targets)?;
        let no_value = match value.get("na") {
            None => NoValue::before(),
            Some(texts) => NoValue::from_json(texts)
                .ok_or_else(|| damaged("has a list for no value that it cannot have"))?,
        };
        let options: BTreeMap<String, Vec<String>> = match value.get("options") {
            None => BTreeMap::new(),
            Some(words) => serde_json::from_value(words.clone())
                .map_err(|_| damaged("has options that it cannot have"))?,
        };
        let weight_reading = match value.get("weight_reading") {
            None => None,
            Some(reading) => Some(
                Reading::from_json(reading)
                    .ok_or_else(|| damaged("has weights that it cannot have"))?,
            ),
        };
        Ok(Some(Self {
            features,
            targets,
            weight: value["weight"].as_str().map(str::to_owned),
            weight_reading,
            no_value,
            options,
        }))
    }
}

/// How many objects the text of a JSON value has at most.
fn objects(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'{').count()
}

/// The length of a property that is this text: a text in the object of properties, which itself is
/// a text of the header.
fn escaped_bytes(text: &str) -> u64 {
    Value::from(Value::from(text).to_string()).to_string().len() as u64
}

/// Bytes of the texts of a field, and some for what is said of it.
fn text_bytes(field: &Field) -> usize {
    let texts = match &field.kind {
        Kind::Categories(all) => all.iter().map(|text| text.len() + 9).sum(),
        Kind::Means(means) => means.names().iter().map(|text| text.len() + 9).sum(),
        _ => 0,
    };
    let fill = field.fill.as_ref().map_or(0, |fill| 21 * fill.values.len());
    texts + fill + field.name.len() + 64
}

fn damaged(what: &str) -> Error {
    Error::format(format!("the schema of its columns {what}"))
}

/// Errors unless the features become so many columns.
fn require_columns(features: &[Field], columns: usize) -> Result<()> {
    // No width exceeds `columns`, and there are no more of them than bytes of the file.
    let width = features
        .iter()
        .try_fold(0_usize, |sum, f| sum.checked_add(f.width()));
    if width == Some(columns) {
        Ok(())
    } else {
        Err(damaged(&format!("does not make {columns} columns")))
    }
}

/// Errors unless these can be targets.
fn require_targets(targets: &[Field]) -> Result<()> {
    let is_target = |f: &Field| match f.kind {
        Kind::Categories(_) => true,
        Kind::Means(_) | Kind::Words(_) => false,
        _ => f.kind.width() == 1,
    };
    if targets.iter().all(|f| f.fill.is_none() && is_target(f)) {
        Ok(())
    } else {
        Err(damaged("has targets that it cannot have"))
    }
}

/// Where the arrays of a feature lie in the file.
fn arrays_of(j: usize) -> String {
    format!("{NAME}.{j}")
}

impl Field {
    fn to_json(&self) -> Value {
        let mut value = json!({"name": self.name, "kind": self.kind.name()});
        match &self.kind {
            Kind::Categories(all) => value["categories"] = json!(all),
            Kind::Hashed(count) => value["columns"] = json!(count),
            Kind::Means(means) => value["of"] = json!(means.names()),
            Kind::Words(words) => {
                value["columns"] = json!(words.columns());
                value["pairs"] = json!(words.has_pairs());
                value["length"] = json!(words.length());
            }
            Kind::Copy(of) => value["of"] = json!(of),
            Kind::Date(parts) if parts.width() > 0 => {
                value["parts"] = parts.circles().collect();
            }
            Kind::Number | Kind::Date(_) | Kind::Boolean | Kind::Empty | Kind::Id => {}
        }
        if let Some(reading) = &self.reading {
            value["reading"] = reading.to_json();
        }
        if let Some(fill) = &self.fill {
            // As bits, which every reader reads alike.
            let bits: Vec<u64> = fill.values.iter().map(|v| v.to_bits()).collect();
            value["fill"] = json!(bits);
            value["indicator"] = json!(fill.indicator);
            if !fill.missed {
                value["missed"] = json!(false);
            }
        }
        value
    }

    /// `None` of a value that is no field of at most so many columns, with these arrays.
    fn from_json(value: &Value, columns: usize, arrays: &dyn Fn() -> Store) -> Option<Self> {
        let kind = kind_from_json(value, columns, arrays)?;
        let fill = match value.get("fill") {
            None => None,
            Some(values) => {
                let values = values.as_array()?.iter();
                let values = values.map(|v| v.as_u64().map(f64::from_bits));
                let values: Vec<f64> = values.collect::<Option<_>>()?;
                let fits = values.len() == kind.width() && values.iter().all(|v| v.is_finite());
                let fill = Fill {
                    values,
                    indicator: value["indicator"].as_bool()?,
                    // Older files have no such key.
                    missed: value.get("missed").is_none_or(|missed| *missed == true),
                };
                fits.then_some(Some(fill))?
            }
        };
        let reading = match value.get("reading") {
            None => None,
            Some(reading) => Some(Reading::from_json(reading)?),
        };
        let suits = match &reading {
            None => true,
            Some(Reading::Date(_)) => matches!(kind, Kind::Date(_)),
            Some(Reading::Answers) => matches!(kind, Kind::Categories(_)),
            Some(_) => kind == Kind::Number,
        };
        suits.then_some(Self {
            name: value["name"].as_str()?.to_owned(),
            kind,
            fill,
            reading,
        })
    }
}

/// The kind of a field, as [`Field::from_json`] reads it.
fn kind_from_json(value: &Value, columns: usize, arrays: &dyn Fn() -> Store) -> Option<Kind> {
    Some(match value["kind"].as_str()? {
        "number" => Kind::Number,
        "date" => Kind::Date(match value.get("parts") {
            None => DateParts::default(),
            Some(names) => {
                let names = names.as_array()?.iter().map(Value::as_str);
                DateParts::of_circles(&names.collect::<Option<Vec<_>>>()?)?
            }
        }),
        "boolean" => Kind::Boolean,
        "empty" => Kind::Empty,
        "id" => Kind::Id,
        "copy" => Kind::Copy(value["of"].as_str()?.to_owned()),
        "categories" => {
            let all = value["categories"].as_array()?.iter();
            let all = all.map(|text| text.as_str().map(str::to_owned));
            let all: Vec<String> = all.collect::<Option<_>>()?;
            let ascend = !all.is_empty() && all.is_sorted_by(|a, b| a < b);
            ascend.then_some(Kind::Categories(all))?
        }
        "by target" => {
            let of = value["of"].as_array()?.iter();
            let of = of.map(|text| text.as_str().map(str::to_owned));
            let of: Vec<String> = of.collect::<Option<_>>()?;
            let means = TargetMeans::read(&arrays(), of).ok()?;
            (means.names().len() <= columns).then(|| Kind::Means(Arc::new(means)))?
        }
        "words" => {
            let count = value["columns"].as_u64()?;
            let how = (value["pairs"].as_bool()?, value["length"].as_u64()?);
            Kind::Words(Words::read(count, how, columns)?)
        }
        "hashed" => {
            let count = usize::try_from(value["columns"].as_u64()?).ok()?;
            (1..=columns)
                .contains(&count)
                .then_some(Kind::Hashed(count))?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
