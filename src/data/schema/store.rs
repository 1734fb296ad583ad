//! A schema as a property of a model file.

use super::{DateParts, Field, Fill, Kind, NoValue, Reading, Schema, TargetMeans, Words};
use crate::{
    error::{Error, Result},
    store::Store,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The property, and the version of what it holds: 2 where cells are not written plainly or other
/// texts stand for no value, which readers of version 1 would not see, 3 where they have a unit, 4
/// where a column tells rows apart, 5 where one is a copy, 6 where dates have parts,
/// 7 where texts are means of the target, which are arrays of the file, 8 where they are words.
const NAME: &str = "schema";
const VERSION: u64 = 8;

impl Schema {
    pub(crate) fn write(&self, store: &mut Store) {
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
        if any(|field| matches!(field.kind, Kind::Words(_))) {
            VERSION
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
    pub(crate) fn read(store: &Store, columns: usize) -> Result<Option<Self>> {
        if !store.has_property(NAME) {
            return Ok(None);
        }
        let damaged = |what: &str| Error::format(format!("the schema of its columns {what}"));
        let value: Value = serde_json::from_str(store.text(NAME)?)
            .map_err(|fault| damaged(&format!("is damaged: {fault}")))?;
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
        // No width exceeds `columns`, and there are no more of them than bytes of the file.
        let width = features
            .iter()
            .try_fold(0_usize, |sum, f| sum.checked_add(f.width()));
        if width != Some(columns) {
            return Err(damaged(&format!("does not make {columns} columns")));
        }
        let is_target = |f: &Field| match f.kind {
            Kind::Categories(_) => true,
            Kind::Means(_) | Kind::Words(_) => false,
            _ => f.kind.width() == 1,
        };
        if !targets.iter().all(|f| f.fill.is_none() && is_target(f)) {
            return Err(damaged("has targets that it cannot have"));
        }
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
            Kind::Means(means) => value["of"] = json!(means.of()),
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
        }
        value
    }

    /// `None` of a value that is no field of at most so many columns, with these arrays.
    fn from_json(value: &Value, columns: usize, arrays: &dyn Fn() -> Store) -> Option<Self> {
        let kind = match value["kind"].as_str()? {
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
                (means.of().len() <= columns).then(|| Kind::Means(Arc::new(means)))?
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
        };
        let fill = match value.get("fill") {
            None => None,
            Some(values) => {
                let values = values.as_array()?.iter();
                let values = values.map(|v| v.as_u64().map(f64::from_bits));
                let values: Vec<f64> = values.collect::<Option<_>>()?;
                let fits = values.len() == kind.width() && values.iter().all(|v| v.is_finite());
                let indicator = value["indicator"].as_bool()?;
                fits.then_some(Some(Fill { values, indicator }))?
            }
        };
        let reading = match value.get("reading") {
            None => None,
            Some(reading) => Some(Reading::from_json(reading)?),
        };
        let suits = match &reading {
            None => true,
            Some(Reading::Number(_) | Reading::Amount(_) | Reading::Time) => kind == Kind::Number,
            Some(Reading::Date(_)) => matches!(kind, Kind::Date(_)),
        };
        suits.then_some(Self {
            name: value["name"].as_str()?.to_owned(),
            kind,
            fill,
            reading,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Marks;

    fn schema() -> Schema {
        let field = |name: &str, kind, fill| Field {
            name: name.into(),
            kind,
            fill,
            reading: None,
        };
        let categories = Kind::Categories(vec!["a".into(), "b, \"c\"".into()]);
        let fill = |values: &[f64], indicator| {
            let values = values.to_vec();
            Some(Fill { values, indicator })
        };
        Schema {
            features: vec![
                field("x", Kind::Number, None),
                field("day", Kind::Date(DateParts::default()), fill(&[0.1], false)),
                field("lift", Kind::Boolean, fill(&[1.0 / 3.0], true)),
                field("city", categories.clone(), fill(&[0.5, -0.0], true)),
                field("zip", Kind::Hashed(5), None),
            ],
            targets: vec![field("y", categories, None)],
            weight: Some("w".into()),
            weight_reading: Some(Reading::Number(Marks::new(',', None))),
            no_value: NoValue::before(),
            options: BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_written_is_read_to_the_bit() {
        let mut store = Store::default();
        assert_eq!(Schema::read(&store, 3).expect("none"), None);
        schema().write(&mut store);
        assert_eq!(schema().width(), 12);
        assert_eq!(Schema::read(&store, 12).expect("reads"), Some(schema()));
    }

    /// Before there was such a list, a cell `None` was a text.
    #[test]
    fn files_without_a_list_go_by_the_one_of_then() {
        let mut store = Store::default();
        schema().write(&mut store);
        let text = store.text(NAME).expect("written").to_owned();
        let mut value: Value = serde_json::from_str(&text).expect("an object");
        let list = value.as_object_mut().and_then(|all| all.remove("na"));
        assert!(list.is_some());
        store.set(NAME, value);
        let read = Schema::read(&store, 12).expect("reads").expect("a schema");
        assert_eq!(read, schema());
        assert!(read.no_value.says("NA") && !read.no_value.says("None"));
    }

    #[test]
    fn columns_that_are_left_out_are_kept_as_such() {
        let mut apart = schema();
        apart.features.push(Field {
            kind: Kind::Id,
            ..Field::number("id")
        });
        let mut store = Store::default();
        apart.write(&mut store);
        assert!(store.text(NAME).expect("written").contains("\"version\":4"));
        assert_eq!(
            Schema::read(&store, 12).expect("reads"),
            Some(apart.clone())
        );
        let copy = Kind::Copy("id".into());
        apart.features.push(Field {
            kind: copy,
            ..Field::number("number")
        });
        let mut store = Store::default();
        apart.write(&mut store);
        assert!(store.text(NAME).expect("written").contains("\"version\":5"));
        assert_eq!(
            Schema::read(&store, 12).expect("reads"),
            Some(apart.clone())
        );
        apart.keep_what_is_read();
        assert_eq!(apart, schema());
    }

    #[test]
    fn means_are_kept() {
        let mut by_target = schema();
        let mut arrays = Store::default();
        arrays.put_u32("texts", ndarray::array![[0, 7], [3, 1], [3, 2]].view());
        arrays.put_f64(
            "effects",
            ndarray::array![[0.1, -0.5], [0.0, 1e9], [2.0, 3.0]].view(),
        );
        let of = || vec!["share of b".into(), "share of c".into()];
        let means = TargetMeans::read(&arrays, of()).expect("goes together");
        by_target.features[4].kind = Kind::Means(Arc::new(means));
        let mut store = Store::default();
        by_target.write(&mut store);
        let text = store.text(NAME).expect("written").to_owned();
        assert!(text.contains("\"version\":7"), "{text}");
        assert_eq!(by_target.width(), 9);
        assert_eq!(Schema::read(&store, 9).expect("reads"), Some(by_target));
        let names = "[\"share of b\",\"share of c\"]";
        for to in ["[]", "[\"share of b\"]", "7", "[1,2]"] {
            let mut store = store.clone();
            store.set(NAME, text.replacen(names, to, 1));
            assert!(Schema::read(&store, 9).is_err(), "{to}");
        }
        let damaged = |texts: ndarray::Array2<u32>| {
            let mut arrays = arrays.clone();
            arrays.put_u32("texts", texts.view());
            TargetMeans::read(&arrays, of()).is_err()
        };
        assert!(damaged(ndarray::array![[0, 7], [3, 2], [3, 1]]));
        assert!(damaged(ndarray::array![[0, 7], [3, 1]]));
        assert!(damaged(ndarray::array![[0], [1], [2]]));
        assert!(TargetMeans::read(&Store::default(), of()).is_err());
    }

    #[test]
    fn words_are_kept() {
        for (pairs, width) in [(false, 17), (true, 27)] {
            let mut of_words = schema();
            let words = Words::read(10, (pairs, 7), 20).expect("fits");
            of_words.features[4].kind = Kind::Words(words);
            let mut store = Store::default();
            of_words.write(&mut store);
            let text = store.text(NAME).expect("written").to_owned();
            assert!(text.contains("\"version\":8"), "{text}");
            assert_eq!(of_words.width(), width);
            assert_eq!(Schema::read(&store, width).expect("reads"), Some(of_words));
            for (from, to) in [
                ("\"columns\":10", "\"columns\":0"),
                ("\"columns\":10", "\"columns\":11"),
                ("\"columns\":10", "\"columns\":18446744073709551615"),
                ("\"length\":7", "\"length\":-1"),
                (",\"pairs\":", ",\"pears\":"),
            ] {
                let broken = text.replacen(from, to, 1);
                assert_ne!(broken, text, "{from}");
                store.set(NAME, broken);
                assert!(Schema::read(&store, width).is_err(), "{to}");
            }
        }
    }

    #[test]
    fn parts_of_dates_are_kept() {
        let mut parted = schema();
        let parts = DateParts::of_circles(&["year", "time"]).expect("two");
        parted.features[1].kind = Kind::Date(parts);
        parted.features[1].fill = None;
        let mut store = Store::default();
        parted.write(&mut store);
        let text = store.text(NAME).expect("written").to_owned();
        assert!(text.contains("\"version\":6"), "{text}");
        assert_eq!(Schema::read(&store, 16).expect("reads"), Some(parted));
        for (from, to) in [
            ("[\"year\",\"time\"]", "[\"time\",\"year\"]"),
            ("[\"year\",\"time\"]", "[]"),
            ("[\"year\",\"time\"]", "[\"year\",7]"),
            ("[\"year\",\"time\"]", "\"year\""),
            ("[\"year\",\"time\"]", "[\"year\"]"),
        ] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            store.set(NAME, broken);
            assert!(Schema::read(&store, 16).is_err(), "{to}");
        }
    }

    #[test]
    fn how_cells_are_written_is_kept() {
        let mut written = schema();
        let marks = super::super::Marks::new(',', Some('.'));
        written.features[0].reading = Some(Reading::Number(marks));
        written.no_value = NoValue::from_given(Some(&["-".into()]));
        written.features.push(Field {
            name: "left".into(),
            kind: Kind::Empty,
            fill: Some(Fill {
                values: Vec::new(),
                indicator: false,
            }),
            reading: None,
        });
        let mut store = Store::default();
        written.write(&mut store);
        assert_eq!(Schema::read(&store, 12).expect("reads"), Some(written));
        let text = store.text(NAME).expect("written").to_owned();
        assert!(text.contains("\"version\":2"), "{text}");
        store.set(NAME, text.replacen("[\"-\"]", "[\"-\",\"-\"]", 1));
        assert!(Schema::read(&store, 12).is_err());
        // Marks of numbers suit no categories.
        store.set(
            NAME,
            text.replacen("\"kind\":\"number\"", "\"kind\":\"date\"", 1),
        );
        assert!(Schema::read(&store, 12).is_err());
    }

    /// No number of the file is believed before it is held against what there is.
    #[test]
    fn damaged_schemas_are_refused() {
        let mut store = Store::default();
        schema().write(&mut store);
        let text = store.text(NAME).expect("written").to_owned();
        for (from, to, says) in [
            ("{", "", "damaged"),
            ("\"version\":1", "\"version\":9", "version 9"),
            ("\"version\":1", "\"version\":\"1\"", "no version"),
            ("\"features\":[", "\"features\":[7,", "features"),
            (
                "\"columns\":5",
                "\"columns\":18446744073709551615",
                "features",
            ),
            ("\"columns\":5", "\"columns\":13", "features"),
            ("\"columns\":5", "\"columns\":12", "12 columns"),
            ("\"columns\":5", "\"columns\":0", "features"),
            ("\"kind\":\"date\"", "\"kind\":\"data\"", "features"),
            ("[\"a\",", "[\"c\",", "features"),
            ("[\"a\",", "[7,", "features"),
            ("\"indicator\":true", "\"indicator\":1", "features"),
            // Infinity by its bits.
            ("\"fill\":[", "\"fill\":[9218868437227405312,", "features"),
            ("\"fill\":[", "\"fill\":[0,", "features"),
            (
                "\"targets\":[",
                "\"targets\":[{\"name\":\"z\",\"kind\":\"hashed\",\"columns\":3},",
                "targets",
            ),
        ] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            store.set(NAME, broken);
            let error = Schema::read(&store, 12).expect_err(to).to_string();
            assert!(
                error.contains(says) && error.len() < 200,
                "{from} {to}: {error}"
            );
        }
        store.set(NAME, text);
        for columns in [0, 11, 13] {
            assert!(Schema::read(&store, columns).is_err(), "{columns}");
        }
    }
}
