//! What is known of one column of a table, and what becomes of it.

mod fill;
mod finish;
mod found;
mod mixed_types;
mod null_tokens;
mod strays;

use super::{
    Fill, Kind, Marks, Missing, Reading, TableOptions,
    amount::Unit,
    candidates::{Candidates, is_label, is_limit, is_number},
    cell::{self, Cell},
    codes::{Codes, HexCodes},
    copies::{self, Contents},
    date,
    date_parts::{Covered, DateParts, Dates, Means},
    hashed::number_of,
    is_null_token,
    levels::Levels,
    may_be_total,
    numbered::Numbered,
    order::Order,
    points::Marked,
    questions,
    sketch::Sketches,
    target_means::MOST_SHARES,
};
use crate::data::{Batch, Column, TargetStats, survey::Reservoir};
use null_tokens::NullTokens;
use std::collections::HashSet;

/// Classes that a target may name.
const MOST_CLASSES: usize = TargetStats::MOST_DISTINCT;
/// Values that a median looks at.
const MEDIAN_VALUES: usize = 1 << 16;

/// What is known of one column.
pub(in crate::data::schema) struct Tally {
    pub(in crate::data::schema) name: String,
    pub(in crate::data::schema) is_feature: bool,
    as_text: bool,
    /// Whether somebody said that it holds numbers.
    as_numbers: bool,
    /// First rows with a number, a date, a truth value and other text, and what they hold.
    first: [Option<(u64, String)>; 4],
    /// First row with none, and what is written there.
    missing: Option<(u64, String)>,
    /// Null tokens: missing values of a numeric column, categories of a text column.
    null_tokens: NullTokens,
    /// Whether a number has a fraction, and whether a text has no digit or is a limit (`<5`).
    has_fraction: bool,
    has_word: bool,
    /// Hashes of the distinct texts of a column of numbers and texts.
    distinct: Option<HashSet<u64>>,
    /// Different texts that are limits, `<5`.
    limits: Vec<String>,
    /// What says beside it that the row is one of totals.
    total: Option<String>,
    /// Weight and mean of numbers, dates or truth values.
    weight: f64,
    mean: f64,
    sample: Option<Reservoir>,
    /// What its dates by ISO 8601 cover.
    covered: Covered,
    /// Means of what dates become beside their days, where those may stand for gaps.
    means: Option<Box<Means>>,
    /// Whether they become that.
    has_parts: bool,
    pub(in crate::data::schema) levels: Levels,
    /// Whether its numbers are codes; `None` where nobody asks.
    codes: Option<Codes>,
    /// The different numbers of a target, ascending, while those are few and whole.
    pub(in crate::data::schema) labels: Option<Vec<f64>>,
    /// Whether rows stand in its order, of a target.
    pub(in crate::data::schema) order: Option<Order>,
    /// Whether all values are the number of their row, from 0 and from 1.
    counts: [bool; 2],
    pub(in crate::data::schema) contents: Contents,
    /// How many cells of each kind there are, as in `first`.
    cells: [u64; 4],
    /// What its texts look like that cannot be read.
    sketches: Sketches,
    /// Whole numbers that they have behind one text.
    numbered: Numbered,
    hex: HexCodes,
    /// How its text may be read, and how it is, once that is known.
    pub(in crate::data::schema) candidates: Candidates,
    pub(in crate::data::schema) reading: Option<Reading>,
}

impl Tally {
    pub(in crate::data::schema) fn new(
        name: String,
        is_feature: bool,
        (options, commas, is_typed): (&TableOptions, bool, bool),
    ) -> Self {
        let median = is_feature && options.missing == Missing::Median;
        let has_parts = is_feature && options.dates == Some(Dates::Parts);
        let has_means = has_parts && !median && options.missing != Missing::Error;
        Self {
            as_text: options.named_texts().any(|text| *text == name),
            as_numbers: options.numeric.contains(&name),
            labels: (!is_feature).then(Vec::new),
            order: (!is_feature).then(Order::default),
            is_feature,
            first: [const { None }; 4],
            missing: None,
            null_tokens: NullTokens::new(options.na.is_none() && !is_typed),
            has_fraction: false,
            has_word: false,
            distinct: None,
            limits: Vec::new(),
            total: None,
            weight: 0.0,
            mean: 0.0,
            sample: median.then(|| Reservoir::new(1, MEDIAN_VALUES, 0)),
            covered: Covered::default(),
            means: has_means.then(Box::default),
            has_parts,
            levels: Levels::new(if is_feature {
                options.most_categories
            } else {
                MOST_CLASSES
            }),
            codes: (is_feature && options.codes && !options.numeric.contains(&name))
                .then(Codes::default),
            counts: [true; 2],
            contents: Contents::default(),
            cells: [0; 4],
            sketches: Sketches::default(),
            numbered: Numbered::default(),
            hex: HexCodes::default(),
            candidates: Candidates::new(options, commas)
                .of_numbers(options.numeric.contains(&name)),
            reading: None,
            name,
        }
    }

    /// Whether the column says which row it is and nothing else: by its texts, where nobody said
    /// that they are categories, or by its numbers and its name.
    pub(in crate::data::schema) fn tells_rows_apart(&self) -> bool {
        let [number, date, truth, text] = self.first.each_ref().map(Option::is_some);
        let counts = self.numbers_rows();
        match (number, text) {
            _ if date || truth || self.as_text || self.reading.is_some() => false,
            (true, false) => counts,
            (false, true) => self.levels.tell_rows_apart() || self.are_numbered(),
            _ => false,
        }
    }

    /// Whether its name and its numbers say that they count rows, where nobody said that they are
    /// numbers.
    pub(in crate::data::schema) fn numbers_rows(&self) -> bool {
        let counts = self.counts.contains(&true) && self.weight >= FEW_ROWS;
        counts && !self.as_numbers && super::numbers_rows(&self.name)
    }

    /// Whether all its values are plain numbers.
    pub(in crate::data::schema) fn are_numbers(&self) -> bool {
        let [numbers, others @ ..] = &self.first;
        numbers.is_some() && others.iter().all(Option::is_none)
    }

    /// Whether its cells are codes in base sixteen, some of which look like numbers.
    pub(in crate::data::schema) fn holds_hex(&self) -> bool {
        let [number, _, _, text] = &self.first;
        number.is_some() && text.is_some() && self.hex.are()
    }

    /// Takes all cells for texts from now on.
    pub(in crate::data::schema) fn take_as_text(&mut self) {
        self.as_text = true;
    }

    /// Whether its numbers are codes. Where each row has its own, they may count something, and
    /// as categories they would tell nothing.
    pub(in crate::data::schema) fn holds_codes(&self) -> bool {
        let are = self.codes.as_ref().is_some_and(Codes::are);
        are && !self.as_text && self.reading.is_none() && !self.levels.are_unique()
    }

    /// Takes the value of a row, whose number in its file it may be; false if it is infinite.
    pub(in crate::data::schema) fn add(
        &mut self,
        (row, in_file): (u64, u64),
        cell: Cell<'_>,
        weight: f64,
    ) -> bool {
        if let Cell::Missing(text) = cell {
            self.missing.get_or_insert_with(|| (row, text.to_owned()));
            self.contents.add(copies::MISSING);
            return true;
        }
        if let Cell::Text(text) = cell
            && !self.as_text
            && self.null_tokens.see(row, text, weight)
        {
            self.contents.add(copies::of_text(text));
            return true;
        }
        let (kind, value, text) = self.understand(row, cell);
        self.cells[kind] += 1;
        self.first[kind].get_or_insert_with(|| match cell {
            Cell::Number(value) => (row, value.to_string()),
            Cell::Date(value) => (row, date::text(value)),
            Cell::Text(text) | Cell::Missing(text) => (row, text.to_owned()),
            Cell::Boolean(value) => (row, value.to_string()),
        });
        self.contents.add(match value {
            Some(value) => copies::of_value(kind, value),
            None => copies::of_text(&text),
        });
        if let Some(value) = value {
            if !value.is_finite() {
                return false;
            }
            self.see_value((row, in_file), (kind, value), weight);
        }
        self.look_for_codes(cell, weight);
        if value.is_none() {
            self.order
                .iter_mut()
                .for_each(|order| order.see_text(&text));
        }
        if kind > 0 {
            self.levels.add(&text, weight);
            self.count_category(&text);
        }
        true
    }

    /// Which kind a cell is of, by its place in `first`; its value, if it has one; and its text as
    /// a category, but of numbers and of what is read. Sees what texts look like while nobody knows
    /// how they are read.
    fn understand(&mut self, row: u64, cell: Cell<'_>) -> (usize, Option<f64>, String) {
        match cell {
            Cell::Number(value) if self.as_text => (3, None, value.to_string()),
            Cell::Boolean(value) if self.as_text => (3, None, value.to_string()),
            Cell::Date(value) if self.as_text => (3, None, date::text(value)),
            Cell::Text(text) if self.as_text => (3, None, text.to_owned()),
            Cell::Number(value) => (0, Some(value), String::new()),
            Cell::Date(value) => (1, Some(value), date::text(value)),
            Cell::Boolean(value) => (2, Some(f64::from(u8::from(value))), value.to_string()),
            Cell::Text(text) if self.reading.is_some() => {
                let reading = self.reading.as_ref();
                let kind = usize::from(matches!(reading, Some(Reading::Date(_))));
                let value = reading.and_then(|reading| reading.value(text));
                (kind, value, String::new())
            }
            Cell::Text(text) | Cell::Missing(text) => {
                self.hex.see(text);
                let plain = cell::plain(text);
                self.candidates.see(row, text, plain);
                match (plain, date::days(text), cell::boolean(text)) {
                    (Some(value), ..) => (0, Some(value), String::new()),
                    (_, Some(days), _) => (1, Some(days), text.to_owned()),
                    (.., Some(truth)) => (2, Some(f64::from(u8::from(truth))), text.to_owned()),
                    _ => {
                        self.see_limit(text);
                        let has_digit = text.contains(|c: char| c.is_ascii_digit());
                        self.has_word |= !has_digit || is_limit(text);
                        self.numbered.see(text);
                        let candidates = &self.candidates;
                        if candidates.may_be_texts() || candidates.is_of_limits(text) {
                            self.sketches.see(row, text);
                        }
                        (3, None, text.to_owned())
                    }
                }
            }
        }
    }

    /// Takes a finite value of that kind.
    fn see_value(&mut self, (row, in_file): (u64, u64), (kind, value): (usize, f64), weight: f64) {
        for (from, counts) in self.counts.iter_mut().enumerate() {
            *counts &= value == (in_file + from as u64) as f64;
        }
        self.see_label(value);
        self.has_fraction |= value.fract() != 0.0;
        self.order.iter_mut().for_each(|order| order.see(value));
        self.weight += weight;
        self.mean += weight / self.weight * (value - self.mean);
        if let Some(sample) = &mut self.sample {
            sample.offer(row, &[value]);
        }
        if kind == 1 {
            self.covered.add(value);
            self.means
                .iter_mut()
                .for_each(|means| means.add(value, weight));
        }
    }

    /// Keeps what is written in a cell, as long as it may be a code.
    fn look_for_codes(&mut self, cell: Cell<'_>, weight: f64) {
        let Some(codes) = self.codes.as_mut().filter(|_| !self.as_text) else {
            return;
        };
        match cell {
            Cell::Text(text) => {
                codes.see(text);
                if codes.may_be() {
                    self.levels.add(text, weight);
                }
            }
            _ => codes.see_other(),
        }
    }

    fn see_label(&mut self, value: f64) {
        let Some(labels) = &mut self.labels else {
            return;
        };
        // -0 and 0 are one value.
        let value = value + 0.0;
        if let Err(at) = labels.binary_search_by(|other| other.total_cmp(&value)) {
            labels.insert(at, value);
        }
        if labels.len() > MOST_SHARES || value.fract() != 0.0 {
            self.labels = None;
        }
    }

    /// Takes note of what says that the row of its first gap is one of totals, where that is among
    /// the rows of `batch`, of which the first has the number `first`.
    pub(in crate::data::schema) fn see_total(&mut self, batch: &Batch, first: u64) {
        let Some((row, _)) = &self.missing else {
            return;
        };
        let i = row.checked_sub(first).map(|i| i as usize);
        let Some(i) = i.filter(|&i| self.total.is_none() && i < batch.rows) else {
            return;
        };
        let texts = batch.columns.iter().filter_map(|column| match column {
            Column::Text(texts) => texts.iter().nth(i)?,
            _ => None,
        });
        let mut totals = texts.filter(|text| may_be_total(text));
        self.total = totals.next().map(str::to_owned);
    }

    /// What its dates cover. Where gaps are filled it is read a second time, by its reading.
    pub(in crate::data::schema) fn covered(&self) -> &Covered {
        let read = self.reading.as_ref();
        let read = read.and_then(|reading| self.candidates.covered(reading));
        read.unwrap_or(&self.covered)
    }
}

/// Rows below which numbers that count say nothing.
const FEW_ROWS: f64 = 20.0;
