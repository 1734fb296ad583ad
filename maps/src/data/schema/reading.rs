//! How the text of a column is read as numbers or dates where it is not written plainly.

use super::{
    DateFormat, Marks,
    amount::{Amount, Unit},
    clock::clock,
    duration,
};
use serde_json::{Value, json};
use std::fmt;

/// What text becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    /// Numbers with other marks.
    Number(Marks),
    /// Numbers with a unit.
    Amount(Amount),
    /// Dates in another order.
    Date(DateFormat),
    /// Times of day and lengths of time, in days as those of .parquet files.
    Time,
    /// Times of day as in `0930`, in days.
    Clock,
    /// Answers that are kinds in whatever letters: `Yes`, `YES` and `yes` are one.
    Answers,
}

impl Reading {
    /// The number, or the days since 1970-01-01.
    pub(super) fn value(&self, text: &str) -> Option<f64> {
        match self {
            Self::Number(marks) => marks.value(text),
            Self::Amount(amount) => amount.value(text),
            Self::Date(format) => format.days(text),
            Self::Time => duration::days(text),
            Self::Clock => clock(text),
            Self::Answers => None,
        }
    }

    /// The marks of its numbers.
    pub(super) fn marks(&self) -> Option<Marks> {
        match self {
            Self::Number(marks) | Self::Amount(Amount { marks, .. }) => Some(*marks),
            Self::Date(_) | Self::Time | Self::Clock | Self::Answers => None,
        }
    }

    /// The same with other marks, of numbers and amounts.
    pub(super) fn with_marks(&self, marks: Marks) -> Self {
        match self {
            Self::Number(_) => Self::Number(marks),
            Self::Amount(Amount { unit, .. }) => Self::Amount(unit.clone().amount(marks)),
            other => other.clone(),
        }
    }

    /// How amounts are written, if it is of some.
    pub(super) fn amount(&self) -> Option<&Amount> {
        match self {
            Self::Amount(amount) => Some(amount),
            _ => None,
        }
    }

    /// Whether it is of dates in other years than the usual ones.
    pub(super) fn has_own_years(&self) -> bool {
        matches!(self, Self::Date(format) if format.first_year().is_some())
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Number(Marks { decimal, thousands }) => {
                json!({"decimal": decimal, "thousands": thousands})
            }
            Self::Amount(Amount { unit, marks }) => json!({
                "unit": unit.name,
                "before": unit.is_before,
                "decimal": marks.decimal,
                "thousands": marks.thousands,
            }),
            Self::Date(format) => json!({"date": format.to_string()}),
            Self::Time => json!({"time": "days"}),
            Self::Clock => json!({"time": "hhmm"}),
            Self::Answers => json!({"answers": "in any letters"}),
        }
    }

    /// What [`Self::to_json`] gave; `None` of anything else.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        if let Some(format) = value["date"].as_str() {
            return Some(Self::Date(format.parse().ok()?));
        }
        if value["time"] == "days" {
            return Some(Self::Time);
        }
        if value["time"] == "hhmm" {
            return Some(Self::Clock);
        }
        if value["answers"] == "in any letters" {
            return Some(Self::Answers);
        }
        let mark = |name: &str| {
            let mut text = value[name].as_str()?.chars();
            text.next().filter(|_| text.next().is_none())
        };
        let decimal = mark("decimal")?;
        let thousands = match &value["thousands"] {
            Value::Null => None,
            _ => Some(mark("thousands")?),
        };
        let marks = Marks { decimal, thousands };
        let Some(unit) = value.get("unit") else {
            return Some(Self::Number(marks));
        };
        let unit = Unit {
            name: unit.as_str()?.to_owned(),
            is_before: value["before"].as_bool()?,
        };
        Some(Self::Amount(Amount { unit, marks }))
    }
}

/// As it is told of.
impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(marks) => write!(f, "numbers as in {marks}"),
            Self::Amount(amount) => amount.fmt(f),
            Self::Date(format) => {
                write!(f, "dates as {format}")?;
                match format.first_year() {
                    Some(year) => write!(f, ", of {year} to {}", year + 99),
                    None => Ok(()),
                }
            }
            Self::Time => f.write_str("times, in days"),
            Self::Clock => f.write_str("times of day as in 0930, in days"),
            Self::Answers => f.write_str("answers in any letters"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_survive_a_file() {
        let date = Reading::Date(DateFormat::known("%d.%m.%Y"));
        let amount = Reading::Amount(Amount {
            unit: Unit::parse("$3").expect("a unit"),
            marks: Marks::PLAIN,
        });
        let all = Marks::ALL.map(Reading::Number).into_iter();
        let others = [
            date,
            amount,
            Reading::Time,
            Reading::Clock,
            Reading::Answers,
        ];
        for reading in all.chain(others) {
            assert_eq!(Reading::from_json(&reading.to_json()), Some(reading));
        }
        for bad in [
            json!({}),
            json!({"decimal": ",,"}),
            json!({"date": "%d"}),
            json!(7),
        ] {
            assert_eq!(Reading::from_json(&bad), None, "{bad}");
        }
        let long = json!({"decimal": ",", "thousands": "ab"});
        assert_eq!(Reading::from_json(&long), None);
    }
}
