//! `--test`: which rows of the input are held out.

use super::Args;
use crate::args::fraction;
use anyhow::Result;
use bochner::data::{Field, Folds, Kind, Schema};
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

    /// What is said of rows held out at random, where a column says when they were.
    pub(super) fn between_dates(&self, schema: &Schema) -> Option<String> {
        let is_date = |field: &&Field| matches!(field.kind(), Kind::Date(_));
        let date = schema.features().iter().find(is_date)?.name();
        let instead = match self.test {
            Some(TestRows::Share(share)) => {
                format!("--test last:{share} holds out the last ones")
            }
            None if self.folds.are_at_random() => {
                format!("--cv-time {date:?} predicts each fold from the rows before it")
            }
            _ => return None,
        };
        Some(format!(
            "rows held out at random lie between those of the fit by {date}: later rows may be \
             predicted far worse; {instead}"
        ))
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
