//! The pass over a table that finds what its columns hold.

use super::{
    Field, Fill, Kind, Missing, NoValue, Reading, Schema, TableOptions,
    amount::Amount,
    cell::{self, Cell},
    copies::{self, Contents},
    date,
    levels::Levels,
    notes,
    reading::{Ambiguous, Candidates},
};
use crate::data::{Table, TargetStats, survey::Reservoir, table::short};
use crate::error::{Error, Remedy, Result};

/// Rows that are read at a time, and values.
const ROWS: usize = 4096;
const VALUES: usize = 1 << 18;
/// Classes that a target may name.
const MOST_CLASSES: usize = TargetStats::MOST_DISTINCT;
/// Values that a median looks at.
const MEDIAN_VALUES: usize = 1 << 16;

/// Which columns of a table are what, by their places.
#[derive(Debug, Clone, Default)]
pub(in crate::data) struct Places {
    pub(in crate::data) features: Vec<usize>,
    pub(in crate::data) targets: Vec<usize>,
    pub(in crate::data) weight: Option<usize>,
}

impl Places {
    /// All of them, in the order of the batches.
    pub(in crate::data) fn all(&self) -> Vec<usize> {
        let each = self.features.iter().chain(&self.targets);
        each.chain(&self.weight).copied().collect()
    }
}

/// Reads `table` once and says what becomes of its columns: of the rows that `takes` says yes to,
/// which is asked of each in order.
///
/// Rows of weight 0 are seen for what their targets hold alone. Errors with [`Error::Data`] at a
/// number that is not finite, at a value that is missing though nothing stands for it, where a
/// column holds numbers and text, or none, and as the table does.
pub(in crate::data) fn survey(
    table: &mut dyn Table,
    places: &Places,
    options: &TableOptions,
    takes: &mut dyn FnMut(u64) -> bool,
) -> Result<Schema> {
    let all = places.all();
    let features = places.features.len();
    let names: Vec<String> = all.iter().map(|&j| table.names()[j].clone()).collect();
    let how = (options, table.has_decimal_commas());
    let new = |(k, name): (usize, &String)| Tally::new(name.clone(), k < features, how);
    let mut tallies: Vec<Tally> = names.iter().enumerate().map(new).collect();
    // Who fills gaps needs the values, which are known when all cells have told how to read them.
    let fills = options.missing != Missing::Error;
    let no_value = NoValue::of(options.na.as_deref());
    let mut taken = Answers::default();
    pass(table, (places, &no_value), &mut tallies, &mut |row| {
        let takes = takes(row);
        if fills {
            taken.push(takes);
        }
        takes
    })?;
    let mut found = Vec::with_capacity(tallies.len());
    for (tally, &j) in tallies.iter().zip(&all) {
        found.push(tally.found(table, j)?);
    }
    notes::of_readings(table, &tallies, &found);
    if fills && found.iter().any(Option::is_some) {
        tallies = names.iter().enumerate().map(new).collect();
        for (tally, reading) in tallies.iter_mut().zip(&found) {
            tally.reading.clone_from(reading);
        }
        let takes = &mut |row| taken.get(row);
        pass(table, (places, &no_value), &mut tallies, takes)?;
    }
    let mut fields: Vec<Field> = Vec::with_capacity(all.len());
    let contents: Vec<Contents> = tallies[..features]
        .iter()
        .map(|tally| tally.contents)
        .collect();
    let (mut uniques, mut ids) = (Vec::new(), Vec::new());
    let columns = tallies.into_iter().zip(found).zip(&all);
    for ((mut tally, reading), &j) in columns.take(features + places.targets.len()) {
        tally.reading = reading;
        let is_unique = tally.levels.are_unique();
        let is_id = tally.tells_rows_apart();
        let field = tally.finish(table, j, options)?;
        uniques.extend(is_unique.then(|| field.name.clone()));
        ids.push(is_id && !options.all_columns);
        fields.push(field);
    }
    let targets = fields.split_off(features);
    if let Some(format) = &options.date_format {
        let read = fields.iter().chain(&targets).map(|field| &field.reading);
        if !read
            .flatten()
            .any(|reading| *reading == Reading::Date(format.clone()))
        {
            let problem = format!("has no column whose cells are all dates as {format}");
            let help = Remedy::words("give the format that they have");
            return Err(Error::data(table.path(), problem).help(help));
        }
    }
    if fields.iter().all(|field| field.kind == Kind::Empty) {
        let problem = "has no value in any column of features";
        return Err(Error::data(table.path(), problem));
    }
    let tells = |(field, is_id): (&Field, &bool)| field.width() > 0 && !is_id;
    if fields.iter().zip(&ids).any(tells) {
        for (field, _) in fields.iter_mut().zip(&ids).filter(|(_, is_id)| **is_id) {
            (field.kind, field.fill, field.reading) = (Kind::Id, None, None);
        }
    }
    if !options.all_columns {
        for (j, original) in copies::originals(&contents).into_iter().enumerate() {
            let Some(original) = original.filter(|_| fields[j].width() > 0) else {
                continue;
            };
            let kind = Kind::Copy(fields[original].name.clone());
            let field = &mut fields[j];
            (field.kind, field.fill, field.reading) = (kind, None, None);
        }
    }
    notes::of_fields(table, &fields, &uniques);
    Ok(Schema {
        features: fields,
        targets,
        weight: options.weight.clone(),
        no_value,
    })
}

/// What was answered of each row, a bit a row: who answers may count what he is asked.
#[derive(Default)]
struct Answers {
    words: Vec<u64>,
    rows: u64,
}

impl Answers {
    fn push(&mut self, answer: bool) {
        if self.rows.is_multiple_of(64) {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(answer) << (self.rows % 64);
        }
        self.rows += 1;
    }

    fn get(&self, row: u64) -> bool {
        let word = self.words.get((row / 64) as usize);
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}

/// Reads all rows once, and hands each cell to the tally of its column.
fn pass(
    table: &mut dyn Table,
    (places, no_value): (&Places, &NoValue),
    tallies: &mut [Tally],
    takes: &mut dyn FnMut(u64) -> bool,
) -> Result<()> {
    let no_value = (!table.is_typed()).then_some(no_value);
    let all = places.all();
    let (features, targets) = (places.features.len(), places.targets.len());
    table.select(&all)?;
    let (mut first, mut any) = (0_u64, false);
    let rows = (VALUES / all.len().max(1)).clamp(1, ROWS);
    while let Some(batch) = table.next_batch(rows)? {
        let mut weights = vec![0.0; batch.rows];
        for (i, weight) in weights.iter_mut().enumerate() {
            if takes(first + i as u64) {
                *weight = 1.0;
                any = true;
            }
        }
        let taken = weights.clone();
        if let Some(j) = places.weight {
            cell::each(&batch.columns[features + targets], no_value, |i, cell| {
                let row = first + i as u64;
                let weight = weight(cell).map_err(|says| table.fault(row, j, says))?;
                weights[i] *= weight;
                Ok::<_, Error>(())
            })?;
        }
        for (k, tally) in tallies[..features + targets].iter_mut().enumerate() {
            let counts = if k < features { &weights } else { &taken };
            cell::each(&batch.columns[k], no_value, |i, cell| {
                if counts[i] == 0.0 {
                    return Ok(());
                }
                let row = first + i as u64;
                match tally.add(row, cell, counts[i]) {
                    true => Ok(()),
                    false => {
                        let error = table.fault(row, all[k], "is infinite");
                        Err(cell::infinite(error, tally.is_feature))
                    }
                }
            })?;
        }
        first += batch.rows as u64;
    }
    table.rewind()?;
    if !any {
        return Err(Error::shape("the data has no rows; give at least one"));
    }
    Ok(())
}

/// What is wrong with another one.
pub(in crate::data) const NO_WEIGHT: &str =
    "is no weight; weights are finite numbers and not negative";

/// A weight, or what is wrong with it.
pub(super) fn weight(cell: Cell<'_>) -> std::result::Result<f64, &'static str> {
    let found = match cell {
        Cell::Number(value) => Some(value),
        Cell::Text(text) => text.parse().ok(),
        _ => None,
    };
    match found {
        Some(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err(NO_WEIGHT),
    }
}

/// What is known of one column.
pub(super) struct Tally {
    pub(super) name: String,
    is_feature: bool,
    as_text: bool,
    /// First rows with a number, a date, a truth value and other text, and what they hold.
    first: [Option<(u64, String)>; 4],
    /// First row with none, and what is written there.
    missing: Option<(u64, String)>,
    /// Weight and mean of numbers, dates or truth values.
    weight: f64,
    mean: f64,
    sample: Option<Reservoir>,
    levels: Levels,
    /// Whether all values are the number of their row, from 0 and from 1.
    counts: [bool; 2],
    contents: Contents,
    /// How its text may be read, and how it is, once that is known.
    pub(super) candidates: Candidates,
    reading: Option<Reading>,
}

impl Tally {
    fn new(name: String, is_feature: bool, (options, commas): (&TableOptions, bool)) -> Self {
        let median = is_feature && options.missing == Missing::Median;
        Self {
            as_text: options.categorical.contains(&name),
            name,
            is_feature,
            first: [const { None }; 4],
            missing: None,
            weight: 0.0,
            mean: 0.0,
            sample: median.then(|| Reservoir::new(1, MEDIAN_VALUES, 0)),
            levels: Levels::new(match is_feature {
                true => options.most_categories,
                false => MOST_CLASSES,
            }),
            counts: [true; 2],
            contents: Contents::default(),
            candidates: Candidates::new(options, commas),
            reading: None,
        }
    }

    /// Whether the column says which row it is and nothing else: by its texts, where nobody said
    /// that they are categories, or by its numbers and its name.
    fn tells_rows_apart(&self) -> bool {
        let [number, date, truth, text] = self.first.each_ref().map(Option::is_some);
        let counts = self.counts.contains(&true) && self.weight >= FEW_ROWS;
        match (number, text) {
            _ if date || truth || self.as_text || self.reading.is_some() => false,
            (true, false) => counts && numbers_rows(&self.name),
            (false, true) => self.levels.tell_rows_apart(),
            _ => false,
        }
    }

    /// How its cells are read, if not plainly. Errors where they may be read in two ways, and where
    /// a text stands among many cells that can be read.
    fn found(&self, table: &dyn Table, j: usize) -> Result<Option<Reading>> {
        let [_, date, truth, text] = &self.first;
        let is_plain = date.is_some() || truth.is_some();
        if self.as_text || (is_plain && self.candidates.given_date().is_none()) {
            return Ok(None);
        }
        match self.candidates.found() {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(Ambiguous {
                row,
                text,
                readings,
            }) => {
                let values = readings.iter().map(|reading| said(reading, &text));
                let values: Vec<String> = values.collect();
                let says = format!("{} may be {}", short(&text), values.join(" or "));
                let mut error = table.fault(row, j, &says);
                for reading in &readings {
                    error = error.help(remedy(reading));
                }
                return Err(error.help(Remedy::Categorical(self.name.clone())));
            }
        }
        if let Some([(first, one), (row, other)]) = self.candidates.units() {
            let (one, other) = (short(one), short(other));
            let one = format!("{one} in {}", table.place(*first, j));
            let says = format!("holds {other}, and {one}: amounts in two units");
            let error = table.fault(*row, j, &says);
            let help = Remedy::words("bring the column to one unit");
            return Err(error
                .help(help)
                .help(Remedy::Categorical(self.name.clone())));
        }
        match (text, self.candidates.stray()) {
            (Some(_), Some((row, text, reading))) => {
                let says = format!("holds the text {} among {reading}", short(text));
                let error = table
                    .fault(*row, j, &says)
                    .help(Remedy::words("correct it"));
                Err(error.help(Remedy::Categorical(self.name.clone())))
            }
            _ => Ok(None),
        }
    }

    /// Takes the value of a row; false if it is infinite.
    fn add(&mut self, row: u64, cell: Cell<'_>, weight: f64) -> bool {
        if self.is_feature {
            self.contents.add(cell);
        }
        let (kind, value, text) = match cell {
            Cell::Missing(text) => {
                self.missing.get_or_insert_with(|| (row, text.to_owned()));
                return true;
            }
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
            Cell::Text(text) => {
                let plain = text.parse::<f64>();
                self.candidates.see(row, text, plain.as_ref().ok().copied());
                match (plain, date::days(text), cell::boolean(text)) {
                    (Ok(value), ..) => (0, Some(value), String::new()),
                    (_, Some(days), _) => (1, Some(days), text.to_owned()),
                    (.., Some(truth)) => (2, Some(f64::from(u8::from(truth))), text.to_owned()),
                    _ => (3, None, text.to_owned()),
                }
            }
        };
        self.first[kind].get_or_insert_with(|| match cell {
            Cell::Number(value) => (row, value.to_string()),
            Cell::Date(value) => (row, date::text(value)),
            Cell::Text(text) | Cell::Missing(text) => (row, text.to_owned()),
            Cell::Boolean(value) => (row, value.to_string()),
        });
        if let Some(value) = value {
            if !value.is_finite() {
                return false;
            }
            for (from, counts) in self.counts.iter_mut().enumerate() {
                *counts &= value == (row + from as u64) as f64;
            }
            self.weight += weight;
            self.mean += weight / self.weight * (value - self.mean);
            if let Some(sample) = &mut self.sample {
                sample.offer(row, &[value]);
            }
        }
        if kind > 0 {
            self.levels.add(&text, weight);
        }
        true
    }

    /// What the column becomes.
    fn finish(self, table: &dyn Table, j: usize, options: &TableOptions) -> Result<Field> {
        let [number, date, truth, text] = &self.first;
        let is_read = self.reading.is_some();
        if let Some(number) = number
            && !is_read
            && let Some(other) = [date, truth, text].into_iter().flatten().min()
        {
            // The one that came later is the stranger.
            let (row, says) = match other.0 > number.0 {
                true => (
                    other.0,
                    format!("holds the text {} among numbers", short(&other.1)),
                ),
                false => (
                    number.0,
                    format!("holds the number {} among text", number.1),
                ),
            };
            let error = table.fault(row, j, &says).help(Remedy::words("correct it"));
            return Err(error.help(Remedy::Categorical(self.name)));
        }
        if let (Some(date), Some(text), None, false) = (date, text, number, self.as_text) {
            let (stray, among) = match text.0 > date.0 {
                true => (text, "dates"),
                false => (date, "text"),
            };
            let says = format!("holds {} among {among}", short(&stray.1));
            let error = table
                .fault(stray.0, j, &says)
                .help(Remedy::words("correct it"));
            return Err(error.help(Remedy::Categorical(self.name)));
        }
        let is_empty = self.first.iter().all(Option::is_none);
        if is_empty && !self.is_feature {
            let problem = format!("target {} has no value in any row", short(&self.name));
            let help = Remedy::words("name another target");
            return Err(Error::data(table.path(), problem).help(help));
        }
        if let Some((row, text)) = &self.missing
            && (!self.is_feature || options.missing == Missing::Error)
        {
            let error = table.fault(*row, j, &cell::missing(text));
            return Err(cell::refused(error, self.is_feature));
        }
        let kind = match (number, date, truth, text) {
            _ if matches!(self.reading, Some(Reading::Date(_))) => Kind::Date,
            _ if is_read => Kind::Number,
            _ if is_empty => Kind::Empty,
            (Some(_), ..) => Kind::Number,
            (_, Some(_), None, None) => Kind::Date,
            (_, None, Some(_), None) if self.is_feature => Kind::Boolean,
            _ => self.levels.kind(),
        };
        if !self.is_feature && matches!(kind, Kind::Hashed(_)) {
            let problem = format!(
                "target {} holds more than {MOST_CLASSES} different texts, which are no classes",
                short(&self.name)
            );
            return Err(Error::data(table.path(), problem));
        }
        let (name, reading) = (self.name.clone(), self.reading.clone());
        let fill = match self.is_feature {
            true => self.fill(&kind, options.missing)?,
            false => None,
        };
        Ok(Field {
            name,
            kind,
            fill,
            reading,
        })
    }

    fn fill(self, kind: &Kind, missing: Missing) -> Result<Option<Fill>> {
        let some = missing == Missing::Indicator && self.missing.is_some();
        let indicator = some && *kind != Kind::Empty;
        let median = missing == Missing::Median;
        let values = match kind {
            _ if missing == Missing::Error => return Ok(None),
            Kind::Empty => Vec::new(),
            Kind::Number | Kind::Date | Kind::Boolean => vec![match self.sample {
                Some(sample) => middle(sample)?,
                None => self.mean,
            }],
            Kind::Categories(all) if indicator => vec![0.0; all.len()],
            Kind::Hashed(count) if indicator => vec![0.0; *count],
            _ => self.levels.shares(median),
        };
        Ok(Some(Fill { values, indicator }))
    }
}

/// Rows below which numbers that count say nothing.
const FEW_ROWS: f64 = 20.0;
/// What columns are called that number rows. Others that count may be a time.
const NUMBERS: [&str; 14] = [
    "",
    "unnamed: 0",
    "index",
    "id",
    "row",
    "rowid",
    "row_id",
    "row id",
    "rownames",
    "rowname",
    "nr",
    "no",
    "no.",
    "#",
];

/// Whether the name of a column says that it numbers rows.
pub(in crate::data) fn numbers_rows(name: &str) -> bool {
    NUMBERS.contains(&name.trim().to_ascii_lowercase().as_str())
}

/// What a text is by a reading.
fn said(reading: &Reading, text: &str) -> String {
    match (reading, reading.value(text)) {
        (Reading::Date(_), Some(days)) => date::text(days),
        (_, value) => value.unwrap_or(f64::NAN).to_string(),
    }
}

/// How to ask for a reading.
fn remedy(reading: &Reading) -> Remedy {
    match reading {
        Reading::Date(format) => Remedy::DateFormat(format.to_string()),
        Reading::Time => Remedy::words("write it with its unit"),
        Reading::Number(marks) | Reading::Amount(Amount { marks, .. }) => match marks.decimal {
            '.' => marks
                .thousands
                .map_or(Remedy::Decimal('.'), Remedy::Thousands),
            decimal => Remedy::Decimal(decimal),
        },
    }
}

/// The median of one column; of an even number of values the mean of the middle two.
fn middle(sample: Reservoir) -> Result<f64> {
    let mut values: Vec<f64> = sample.finish()?.0.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let [below, above] = [(values.len() - 1) / 2, values.len() / 2];
    Ok(values[below] / 2.0 + values[above] / 2.0)
}
