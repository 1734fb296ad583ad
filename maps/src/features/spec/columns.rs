//! Columns that a map looks at, by their names or numbers.

use crate::{Error, Result, data::TableColumn, text::counted};
use std::{fmt, ops::Range};

/// Columns of a table by their names, `[age,income]`, or by numbers from 0 and half-open ranges of
/// them, `[3,0:8]`. A name with a comma, a bracket or a quote in it stands in double quotes, each
/// of its own doubled: `["rent, net"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct ColumnChoice(Vec<String>);

impl ColumnChoice {
    /// Reads what stands between the brackets.
    pub(super) fn read(text: &str) -> Result<Self> {
        let words: Vec<String> = outside_quotes(text, ',').map(unquoted).collect();
        if words.iter().any(String::is_empty) {
            return Err(Error::parameter(format!(
                "[{text}] has a column without a name; write [age,income], or [0:8] for the first 8 \
                 columns"
            )));
        }
        Ok(Self(words))
    }

    /// The columns of numbers that those of the table became, ascending. Errors with
    /// [`Error::Parameter`] on a column that the table does not have.
    pub fn places(&self, table: &[TableColumn]) -> Result<Vec<usize>> {
        let mut places = Vec::new();
        for word in &self.0 {
            for column in &table[found(word, table)?] {
                places.extend(column.places.clone());
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }
}

/// The columns of this name, else of this number or range.
fn found(word: &str, table: &[TableColumn]) -> Result<Range<usize>> {
    if let Some(j) = table.iter().position(|column| column.name == word) {
        return Ok(j..j + 1);
    }
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let range = match word.split_once(':') {
        Some((from, to)) => number(from).zip(number(to)).map(|(from, to)| from..to),
        None => number(word).map(|j| j..j + 1),
    };
    match range {
        None => TableColumn::find(table, word).map(|j| j..j + 1),
        Some(range) if range.is_empty() => Err(Error::parameter(format!(
            "columns {word} are none; a range ends behind its last column: 0:8 are the first 8"
        ))),
        Some(range) if range.end > table.len() => Err(Error::parameter(format!(
            "columns {word}, counted from 0, are not all there: the rows have {}",
            counted(table.len(), "column")
        ))),
        Some(range) => Ok(range),
    }
}

/// What is between separators that stand in no quotes and no brackets.
pub(super) fn outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut depth) = (false, 0_usize);
    text.split(move |letter| {
        match letter {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == separator && !quoted && depth == 0
    })
    .map(str::trim)
}

fn unquoted(word: &str) -> String {
    let inner = word.strip_prefix('"').and_then(|w| w.strip_suffix('"'));
    inner.map_or_else(|| word.to_owned(), |inner| inner.replace("\"\"", "\""))
}

impl fmt::Display for ColumnChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let special = |letter| matches!(letter, ',' | '[' | ']' | '"');
        let words = self.0.iter().map(|word| {
            if word.contains(special) || word.trim() != word {
                format!("\"{}\"", word.replace('"', "\"\""))
            } else {
                word.clone()
            }
        });
        write!(f, "[{}]", words.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Vec<TableColumn> {
        let widths = [
            ("age", 1),
            ("city", 3),
            ("rent, net", 1),
            ("7", 1),
            ("a[b]", 1),
        ];
        let mut from = 0;
        let column = |(name, width): (&str, usize)| {
            from += width;
            TableColumn {
                name: name.to_owned(),
                places: from - width..from,
            }
        };
        widths.map(column).into()
    }

    fn places(text: &str) -> Result<Vec<usize>> {
        ColumnChoice::read(text)?.places(&table())
    }

    #[test]
    fn columns_go_by_names_then_by_numbers() {
        for (text, expected) in [
            ("age", vec![0]),
            ("city", vec![1, 2, 3]),
            ("city,age", vec![0, 1, 2, 3]),
            ("1:3", vec![1, 2, 3, 4]),
            ("0,0:2", vec![0, 1, 2, 3]),
            // A name counts before a number.
            ("7", vec![5]),
            ("\"rent, net\",age", vec![0, 4]),
            ("\"a[b]\"", vec![6]),
        ] {
            assert_eq!(places(text).expect(text), expected, "{text}");
        }
        for (text, told) in [
            ("", "without a name"),
            ("age,", "without a name"),
            ("ages", "the nearest of 5 are age"),
            ("3:3", "are none"),
            ("4:6", "not all there"),
            ("5", "not all there"),
        ] {
            let error = places(text).expect_err(text).to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn special_names_are_written_in_quotes() {
        for text in [
            "[age,income]",
            "[0:8]",
            "[\"rent, net\",\"a[b]\",\"say \"\"x\"\"\"]",
        ] {
            let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            let choice = ColumnChoice::read(inner.expect("brackets")).expect("columns");
            assert_eq!(choice.to_string(), text);
        }
    }
}
