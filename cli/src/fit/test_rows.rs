//! `--test`: which rows of the input are held out.

use super::Args;
use crate::{args::fraction, evaluate::ADVICE};
use anyhow::Result;
use bochner::data::{Field, Folds, Kind, RowOrder, Schema, Survey};
use std::str::FromStr;

/// Rows that are held out and scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TestRows {
    /// This share, chosen by the seed.
    Share(f64),
    /// This share, the last of them.
    Last(f64),
}

impl FromStr for TestRows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().strip_prefix("last:") {
            Some(share) => Ok(Self::Last(fraction(share)?)),
            None => Ok(Self::Share(fraction(text)?)),
        }
    }
}

impl Args {
    /// Which rows are the last, which is known when they are counted.
    pub(super) fn hold_out_last(&mut self) -> Result<()> {
        if let (None, Some(TestRows::Last(share))) = (&self.held_out, self.test) {
            let mut source = self.data.open_to_count(&self.input)?;
            self.held_out = Some((Folds::last(source.as_mut(), share)?, 0));
        }
        Ok(())
    }

    /// What is said of rows held out at random, where a column says when rows were, or may say so.
    pub(super) fn between_times(&self, along: Option<&Along>) -> Option<String> {
        let along = along?;
        let by_time = |name: &String| {
            format!("--cv-time {name:?} predicts each fold from the rows before it")
        };
        let instead = match (self.test, &along.name) {
            (Some(TestRows::Share(share)), _) if along.last_are_later => {
                format!("--test last:{share} holds out the last ones")
            }
            (Some(TestRows::Share(_)), Some(name)) => format!("--cv 5 {}", by_time(name)),
            (None, Some(name)) if self.folds.are_at_random() => by_time(name),
            _ => return None,
        };
        let said = &along.said;
        Some(if along.is_date {
            format!(
                "rows held out at random lie between those of the fit by {said}: later rows may be \
                 predicted far worse; {instead}"
            )
        } else {
            format!(
                "rows stand in the order of {said}: if that is a time, rows held out at random lie \
                 between those of the fit, and later rows may be predicted far worse; {instead}"
            )
        })
    }

    /// What helps where test rows are predicted worse than by one value for all.
    pub(super) fn advice(&self, along: Option<&Along>) -> String {
        let last = matches!(self.test, Some(TestRows::Last(_)));
        match along.filter(|along| last && along.is_by_rows) {
            Some(along) => along.advice(),
            None => ADVICE.to_owned(),
        }
    }
}

/// A column that says when rows were, or may say so.
#[derive(Debug)]
pub(super) struct Along {
    /// Its name, if it has one, and what notes call it.
    name: Option<String>,
    said: String,
    is_date: bool,
    /// Whether rows stand in its order, and whether the last are those of its largest values.
    is_by_rows: bool,
    last_are_later: bool,
}

impl Along {
    /// The first date, or else the first column of numbers in whose order rows stand.
    pub(super) fn find(survey: &Survey, schema: Option<&Schema>) -> Option<Self> {
        let fields = schema.map_or(&[][..], Schema::features);
        let names = survey.names.as_ref();
        let name = |order: &RowOrder| Some(names?[order.column].clone());
        let mut orders = survey.row_orders.iter();
        let is_date = |field: &&Field| matches!(field.kind(), Kind::Date(_));
        if let Some(date) = fields.iter().find(is_date) {
            let own = orders.find(|order| name(order).is_some_and(|name| name == date.name()));
            return Some(Self {
                name: Some(date.name().to_owned()),
                said: date.name().to_owned(),
                is_date: true,
                is_by_rows: own.is_some(),
                last_are_later: own.is_none_or(|order| order.rises),
            });
        }
        // Numbers that texts became are in no order of their own.
        let is_number = |order: &&RowOrder| {
            let mut own = fields
                .iter()
                .filter(|field| name(order).is_some_and(|n| n == field.name()));
            schema.is_none() || own.any(|field| *field.kind() == Kind::Number)
        };
        let order = orders.find(is_number)?;
        Some(Self {
            name: name(order),
            said: survey.column(order.column),
            is_date: false,
            is_by_rows: true,
            last_are_later: order.rises,
        })
    }

    /// What helps where the last rows are predicted badly: beyond the ends of the fit neither a
    /// penalty nor a bandwidth does.
    fn advice(&self) -> String {
        let said = &self.said;
        let when = if self.is_date {
            ""
        } else {
            "if that is a time, "
        };
        let without = self.name.as_ref();
        let without = without.map_or(String::new(), |name| format!(", with --ignore {name:?}"));
        format!(
            "they lie beyond the rows of the fit by {said}; {when}give the target of an earlier \
             row as a column, or take the change since then as the target{without}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_any_rows_or_of_the_last() {
        assert_eq!("0.2".parse(), Ok(TestRows::Share(0.2)));
        assert_eq!("last:0.2".parse(), Ok(TestRows::Last(0.2)));
        for text in ["last", "last:", "last:1", "first:0.2", "1.5", "-0.1"] {
            assert!(text.parse::<TestRows>().is_err(), "{text}");
        }
    }
}
