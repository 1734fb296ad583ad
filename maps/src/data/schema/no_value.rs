//! Texts that stand for no value.

use super::{DateFormat, Marks, amount::Unit, date};

/// Texts that say there is no value, in a table without types; an empty cell always does.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::data) struct NoValue {
    /// In order.
    texts: Vec<String>,
    /// Those that are whole numbers, and the days of those that are dates.
    numbers: Vec<String>,
    days: Vec<f64>,
    /// Those that are numbers or dates of any form, as columns of these types hold them.
    values: Vec<(f64, String)>,
    moments: Vec<(f64, String)>,
    /// A bit of each [`mark`] that one of them has: nearly all cells have another.
    marks: [u64; 4],
}

/// What a text has in its first byte and its length, below 256.
fn mark(text: &str) -> usize {
    let first = text.as_bytes().first().map_or(0, |&byte| usize::from(byte));
    (first + 37 * text.len()) % 256
}

/// What says so where nobody gave a list: what pandas' `read_csv` takes for it (its documentation,
/// `na_values`), a question mark, and the usual words in other cases.
pub(crate) const USUAL: [&str; 22] = [
    "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NAN", "NULL", "NaN", "None", "Null", "n/a", "na", "nan", "null",
];

/// Additional null tokens of numeric columns, in lower case and ascending order. In a text column
/// each may be a category.
const NULL_TOKENS: [&str; 39] = [
    "#div/0!",
    "#n/v",
    "#name?",
    "#null!",
    "#num!",
    "#nv",
    "#ref!",
    "#value!",
    "(null)",
    "*",
    "-",
    "--",
    "---",
    ".",
    "..",
    "...",
    "<null>",
    "??",
    "[null]",
    "\\n",
    "_",
    "k. a.",
    "k.a.",
    "missing",
    "n.a.",
    "n.d.",
    "n/a",
    "n/d",
    "na",
    "nan",
    "nat",
    "nd",
    "nil",
    "none",
    "null",
    "undefined",
    "unknown",
    "\u{2013}",
    "\u{2014}",
];
/// Maximum length of a null token, in bytes.
const MAX_NULL_TOKEN_BYTES: usize = 9;

/// Whether a text is a null token in a numeric column.
pub(in crate::data) fn is_null_token(text: &str) -> bool {
    let may = text.len() <= MAX_NULL_TOKEN_BYTES && !text.starts_with(|c: char| c.is_ascii_digit());
    let says = |text: &str| NULL_TOKENS.binary_search(&text).is_ok();
    may && says(&text.trim().to_ascii_lowercase())
}

/// What said so before there was a list: in files of models that have none.
const BEFORE: [&str; 8] = ["?", "NA", "na", "NaN", "nan", "NAN", "null", "NULL"];

impl NoValue {
    /// These, or the usual ones.
    pub(in crate::data) fn from_given(given: Option<&[String]>) -> Self {
        match given {
            Some(texts) => Self::from_texts(texts.iter().map(String::as_str)),
            None => Self::from_texts(USUAL),
        }
    }

    /// What models without a list go by.
    pub(super) fn before() -> Self {
        Self::from_texts(BEFORE)
    }

    fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let texts = texts.into_iter().map(|text| text.trim().to_owned());
        let mut texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        texts.sort_unstable();
        texts.dedup();
        let mut marks = [0; 4];
        for mark in texts.iter().map(|text| mark(text)) {
            marks[mark / 64] |= 1 << (mark % 64);
        }
        let is_whole = |text: &&String| text.parse::<i64>().is_ok();
        Self {
            numbers: texts.iter().filter(is_whole).cloned().collect(),
            days: texts.iter().filter_map(|text| days(text)).collect(),
            values: with_text(&texts, |text| text.parse().ok()),
            moments: with_text(&texts, date::days),
            texts,
            marks,
        }
    }

    pub(in crate::data) fn says(&self, text: &str) -> bool {
        let mark = mark(text);
        let may = self.marks[mark / 64] >> (mark % 64) & 1 == 1;
        let find = || self.texts.binary_search_by(|own| own.as_str().cmp(text));
        text.is_empty()
            || (may && find().is_ok())
            || self.numbers.iter().any(|own| is_same(own, text))
            || self.days.iter().any(|own| is_day(*own, text))
    }

    /// Which cells of a table hold no value. A table without types goes by any list, one of types
    /// by a list that was given: there a text `NA` is a text, unless the user says otherwise.
    pub(in crate::data) fn rule(&self, is_typed: bool) -> MissingRule<'_> {
        let is_default = self.texts == Self::from_given(None).texts || *self == Self::before();
        MissingRule {
            list: (!is_typed || !is_default).then_some(self),
            is_typed,
            has_null_tokens: !is_typed && is_default,
            is_numeric_column: false,
        }
    }

    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// What [`Self::texts`] gave; `None` of anything else.
    pub(super) fn from_json(value: &serde_json::Value) -> Option<Self> {
        let texts = value.as_array()?.iter().map(|text| text.as_str());
        let texts: Vec<&str> = texts.collect::<Option<_>>()?;
        let own = Self::from_texts(texts.iter().copied());
        (own.texts == texts).then_some(own)
    }
}

/// Which cells of a table hold no value, beside those that are empty in columns of types.
#[derive(Debug, Clone, Copy)]
pub(in crate::data) struct MissingRule<'a> {
    list: Option<&'a NoValue>,
    is_typed: bool,
    /// Whether [null tokens](is_null_token) are missing values in numeric columns: only without a
    /// given list.
    has_null_tokens: bool,
    /// Whether the current column is numeric and has such tokens.
    is_numeric_column: bool,
}

impl<'a> MissingRule<'a> {
    /// No text, number or date stands for no value.
    pub(in crate::data) const NONE: Self = Self {
        list: None,
        is_typed: true,
        has_null_tokens: false,
        is_numeric_column: false,
    };

    /// Whether a text is a missing value in a column of numbers, dates or truth values.
    pub(in crate::data) fn is_null_token(self, text: &str) -> bool {
        self.has_null_tokens && is_null_token(text)
    }

    /// The rule for one column: null tokens are missing values if it is numeric.
    pub(in crate::data) fn for_column(self, is_numeric: bool) -> Self {
        Self {
            is_numeric_column: is_numeric && self.has_null_tokens,
            ..self
        }
    }

    /// Whether cells of text may stand for numbers, as in a table without types.
    pub(in crate::data) fn reads_text(self) -> bool {
        !self.is_typed
    }

    /// Whether a cell of text stands for no value. An empty one of a column of text is a text.
    pub(in crate::data) fn text(self, text: &str) -> bool {
        let may = !(self.is_typed && text.is_empty());
        let says = may && self.list.is_some_and(|list| list.says(text));
        says || (self.is_numeric_column && is_null_token(text))
    }

    /// The text of the list that is this number, if there is one. Columns of f32 hold it rounded.
    pub(in crate::data) fn number(self, value: f64) -> Option<&'a str> {
        let is = |own: f64| value == own || value == f64::from(own as f32);
        find(&self.list?.values, is)
    }

    /// The text of the list that is this date: its day, or its moment where it has a time.
    pub(in crate::data) fn date(self, days: f64) -> Option<&'a str> {
        let is = |own: f64| days == own || (own.fract() == 0.0 && days.floor() == own);
        find(&self.list?.moments, is)
    }
}

fn find(all: &[(f64, String)], is: impl Fn(f64) -> bool) -> Option<&str> {
    let found = all.iter().find(|(own, _)| is(*own));
    found.map(|(_, text)| text.as_str())
}

/// The finite values of those texts that have one.
fn with_text(texts: &[String], value: impl Fn(&str) -> Option<f64>) -> Vec<(f64, String)> {
    let finite = |text: &String| value(text).filter(|value| value.is_finite());
    let each = texts.iter();
    each.filter_map(|text| Some((finite(text)?, text.clone())))
        .collect()
}

/// Whether text is a whole number with a fraction of zeros, `-999.00` or `-999,0`, with marks
/// between its thousands, `-9.999`, or the same in a unit, `-999,00 €`. Three zeros may be
/// thousands, but not of a negative number: codes for no value are small.
fn is_same(whole: &str, text: &str) -> bool {
    let mut digits = text.bytes().filter(u8::is_ascii_digit);
    let mut own = whole.bytes().filter(u8::is_ascii_digit);
    // Nearly all cells have other digits.
    if !own.all(|digit| digits.next() == Some(digit)) {
        return false;
    }
    let (unit, value) = (Unit::parse(text), whole.parse::<f64>().ok());
    let is_open = unit.is_none() && !text.ends_with(|c: char| c.is_ascii_digit());
    let is = |marks: Marks| {
        let found = match &unit {
            Some(unit) => unit.clone().amount(marks).value(text),
            None => marks.value(text),
        };
        let may_part = value >= Some(0.0) && has_three_behind(marks.decimal, text);
        found == value && (!may_part || (unit.is_some() && marks == Marks::PLAIN))
    };
    !is_open && std::iter::once(Marks::PLAIN).chain(Marks::ALL).any(is)
}

/// Whether three digits and no more stand behind this mark.
fn has_three_behind(mark: char, text: &str) -> bool {
    let behind = text.rsplit_once(mark).map(|(_, behind)| behind);
    behind.is_some_and(|behind| behind.bytes().take_while(u8::is_ascii_digit).count() == 3)
}

/// Days of a date by ISO 8601.
fn days(text: &str) -> Option<f64> {
    date::days(text).filter(|_| text.len() == 10)
}

/// Whether text is the date of this day, in whatever form: `31.12.9999`.
fn is_day(day: f64, text: &str) -> bool {
    let (year, ..) = date::calendar(day as i64);
    let year = format!("{year:04}");
    let is = |days: f64| days.floor() == day;
    // Nearly all cells have another year, which may be of two digits.
    text.contains(&year[2..])
        && (date::days(text).is_some_and(is)
            || DateFormat::all().any(|format| format.days(text).is_some_and(is)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_texts_stand_for_no_value_unasked() {
        let usual = NoValue::from_given(None);
        for text in USUAL.into_iter().chain([""]) {
            assert!(usual.says(text), "{text}");
        }
        for text in ["0", "-", "none", "??", "nand", "n", "NONE"] {
            assert!(!usual.says(text), "{text}");
        }
    }

    /// What was given, which numbers, amounts and days are that are written otherwise.
    fn given() -> NoValue {
        let given = ["-", " -999", "", "9999-12-31", "-9999", "99", "2000-01-01"].map(String::from);
        NoValue::from_given(Some(&given))
    }

    fn assert_says(cases: &[(&str, bool)]) {
        for &(text, says) in cases {
            assert_eq!(given().says(text), says, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_given_stand_for_no_value() {
        assert_says(&[
            ("", true),
            ("-", true),
            ("-999", true),
            ("-999.00", true),
            ("-999,0", true),
            ("-999.", false),
            ("-999.50", false),
            ("-999.000", true),
            ("-999,000", true),
            ("-999.000,00", false),
            ("999,000", false),
            ("-9990", false),
            ("-9,999", true),
            ("-9,9990", false),
            ("99,000", false),
            ("99.0", true),
            ("NA", false),
        ]);
    }

    #[test]
    fn amounts_of_given_numbers_stand_for_no_value() {
        assert_says(&[
            ("-999 kg", true),
            ("-999.0kg", true),
            ("-$999", true),
            ("-999 kg bag", false),
            ("-999,00 €", true),
            ("-999,0 kg", true),
            ("€ -999,00", true),
            ("-999,5 kg", false),
            ("-999.000,00 €", false),
            ("-9.999,00 €", true),
            ("999 kg", false),
            ("-999.5 kg", false),
        ]);
    }

    #[test]
    fn days_that_are_given_stand_for_no_value() {
        assert_says(&[
            ("9999-12-31", true),
            ("31.12.9999", true),
            ("12/31/9999 00:00", true),
            ("Dec 31, 9999", true),
            ("30.12.9999", false),
            ("01.01.00", true),
            ("01.01.01", false),
            ("9999", false),
        ]);
    }

    #[test]
    fn a_given_list_holds_in_columns_of_types() {
        let given = ["-999", "0.1", "-", "9999-12-31", "2000-01-01T06:00"].map(String::from);
        let given = NoValue::from_given(Some(&given));
        let usual = NoValue::from_given(None);
        let rule = given.rule(true);
        assert_eq!(rule.number(-999.0), Some("-999"));
        assert_eq!(rule.number(f64::from(0.1_f32)), Some("0.1"));
        assert_eq!(rule.number(-998.0), None);
        let last = date::days("9999-12-31").expect("a date");
        assert_eq!(rule.date(last + 0.5), Some("9999-12-31"));
        let morning = date::days("2000-01-01T06:00").expect("a date");
        assert_eq!(rule.date(morning), Some("2000-01-01T06:00"));
        assert_eq!(rule.date(morning + 0.1), None);
        assert!(rule.text("-") && !rule.text("NA") && !rule.text(""));
        for other in [&usual, &NoValue::before()] {
            assert!(!other.rule(true).text("NA") && other.rule(false).text("NA"));
            assert!(other.rule(false).text("") && !other.rule(true).text(""));
            assert_eq!(other.rule(true).number(-999.0), None);
        }
    }

    #[test]
    fn what_was_given_is_kept() {
        let given = given();
        assert_eq!(
            given.texts(),
            ["-", "-999", "-9999", "2000-01-01", "99", "9999-12-31"]
        );
        let written = serde_json::json!(given.texts());
        assert_eq!(NoValue::from_json(&written), Some(given));
        for bad in [
            serde_json::json!(["b", "a"]),
            serde_json::json!([1]),
            serde_json::json!("a"),
        ] {
            assert_eq!(NoValue::from_json(&bad), None, "{bad}");
        }
    }
}
