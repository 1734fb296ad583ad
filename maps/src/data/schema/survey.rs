//! The pass over a table that finds what its columns hold.

mod as_names;
mod candidates;
pub(super) mod cell;
mod circles;
mod codes;
mod copies;
pub(super) mod imputation;
mod notes;
mod packed;
mod pass;
mod points;
mod prose;
mod questions;
mod tally;
pub(super) mod target;
mod target_means;
mod total;
pub(super) mod weight;

pub(in crate::data) use cell::{holds_numbers, infinite, missing, refused, says_nothing};
pub(in crate::data) use codes::Codes;
pub(in crate::data) use copies::may_hold_copies;
pub(in crate::data) use packed::Packed;
pub(in crate::data) use points::{Marked, Points};
pub(in crate::data) use total::{is_total, may_be_total};
pub(in crate::data) use weight::NO_WEIGHT;

use self::{
    copies::Contents, pass::pass, prose::MOST_CLASSES, tally::Tally, target::Target,
    target_means::MOST_SHARES,
};
use super::*;
use super::{means::OutOfFold, order::Order, places::Answers, words::Prose};
use crate::data::Table;
use crate::error::{Error, Remedy, Result};

/// Reads `table` once and says what becomes of its columns: of the rows that `takes` says yes to,
/// which is asked of each in order.
///
/// Rows of weight 0 are seen for what their targets hold alone. What is beside the schema is what
/// the rows that were taken have where it has means of their targets.
///
/// Errors with [`Error::Data`] at a number that is not finite, at a value that is missing though
/// nothing stands for it, where a column holds numbers and text, or none, and as the table does.
pub(in crate::data) fn survey(
    table: &mut dyn Table,
    places: &Places,
    options: &TableOptions,
    takes: &mut dyn FnMut(u64) -> bool,
) -> Result<(Schema, Option<OutOfFold>)> {
    let no_value = NoValue::from_given(options.na.as_deref());
    let weights = weight::learn(table, (places, &no_value), options)?;
    let by = weights.as_ref().map(|(_, reading)| reading);
    let from = (places, &no_value, by);
    let (read, taken) = read(table, from, (options, takes), weights.as_ref())?;
    let features = read[..places.features.len()].iter();
    let contents: Vec<Contents> = features.map(|(tally, _)| tally.contents).collect();
    let mut ended = Ended::new(table, places, read, options)?;
    let targets = ended.fields.split_off(places.features.len());
    let mut fields = std::mem::take(&mut ended.fields);
    if fields.iter().all(|field| field.kind == Kind::Empty) {
        let problem = "has no value in any column of features";
        return Err(Error::data(table.path(), problem));
    }
    let labels = ended.labels.take().filter(|labels| labels.len() > 1);
    let target = |most| {
        let target = Target::from_fields(&targets, labels.as_deref(), most)?;
        Some(target.weighed_by(by.cloned()))
    };
    let of_dates = target(MOST_SHARES);
    let of_dates = (options, of_dates.as_ref());
    let dates = (&mut fields[..], &ended.parts[..]);
    let tell = circles::learn(table, (places, &no_value), dates, of_dates, &taken)?;
    let mut missing = None;
    if options.missing == Missing::Auto {
        let about = (target(MOST_CLASSES), &taken);
        let counts = imputation::choose_indicators(table, from, &mut fields, about)?;
        missing = Some(counts);
    }
    let seen = (&ended.prose[..], std::mem::take(&mut ended.ids), contents);
    let out_of_fold = settle_texts(
        table,
        (places, &no_value),
        (&mut fields[..], seen),
        &target,
        (options, taken),
    )?;
    if let Some(counts) = &missing {
        notes::of_missing(table, &fields, (counts, &ended.null_tokens));
    }
    ended.note(table, options, (&fields, &targets, &tell));
    let schema = Schema {
        features: fields,
        targets,
        weight: options.weight.clone(),
        weight_reading: by.cloned(),
        no_value,
        options: options.said(),
    };
    Ok((schema, out_of_fold))
}

/// Name of a column, and its null tokens with their counts.
type NullTokens = (String, Vec<(String, u64)>);

/// What columns hold, and how their cells are read, where that is not plain.
type Read = Vec<(Tally, Option<Reading>)>;

/// Reads all rows for what columns hold and how their cells are read, and once more where that
/// changes what was seen. Says which rows were taken.
fn read(
    table: &mut dyn Table,
    from: (&Places, &NoValue, Option<&Reading>),
    (options, takes): (&TableOptions, &mut dyn FnMut(u64) -> bool),
    weights: Option<&(Tally, Reading)>,
) -> Result<(Read, Answers)> {
    let (places, ..) = from;
    let all = places.all();
    let features = places.features.len();
    let names: Vec<String> = all.iter().map(|&j| table.names()[j].clone()).collect();
    let how = (options, table.has_decimal_commas(), table.is_typed());
    let new = |(k, name): (usize, &String)| Tally::new(name.clone(), k < features, how);
    let mut tallies: Vec<Tally> = names.iter().enumerate().map(new).collect();
    let mut taken = Answers::default();
    pass(table, from, &mut tallies, &mut |row| {
        let takes = takes(row);
        taken.push(takes);
        takes
    })?;
    require_dates(table, options, &tallies)?;
    let coded: Vec<bool> = tallies.iter().map(Tally::holds_hex).collect();
    take_as_text(&mut tallies, &coded);
    let mut marked = Marked::default();
    let each = tallies.iter();
    each.for_each(|tally| tally.candidates.tell(&mut marked));
    let mut found = Vec::with_capacity(tallies.len());
    for (tally, &j) in tallies.iter().zip(&all) {
        found.push(tally.found((table, j), marked)?);
    }
    let mixed = mixed(table, &all, (&tallies, &found));
    let seen = (&tallies[..], &mut found[..]);
    tell_readings(table, (from, &all), seen, (options, &taken), weights)?;
    // Who fills gaps needs the values, which are known when all cells have told how to read them.
    let fills = options.missing != Missing::Error;
    // Dates of other years than the usual ones cover other days.
    let is_read_again = |reading: &Reading| fills || reading.has_own_years();
    let is_mixed = mixed.iter().any(Option::is_some);
    if found.iter().flatten().any(is_read_again) || coded.contains(&true) || is_mixed {
        // In the same memory unless statistics of both passes are compared: tables have up to a
        // million columns.
        let first = if is_mixed {
            std::mem::take(&mut tallies)
        } else {
            tallies.clear();
            Vec::new()
        };
        tallies.extend(names.iter().enumerate().map(new));
        take_as_text(&mut tallies, &coded);
        let texts = tallies.iter_mut().zip(&mixed).filter(|(_, m)| m.is_some());
        texts.for_each(|(tally, _)| tally.treat_as_categories());
        for (tally, reading) in tallies.iter_mut().zip(&found) {
            tally.reading.clone_from(reading);
        }
        let takes = &mut |row| taken.get(row);
        pass(table, from, &mut tallies, takes)?;
        require_kinds(table, &all, (&tallies, &first), mixed)?;
    }
    Ok((tallies.into_iter().zip(found).collect(), taken))
}

/// Has the target tell which numbers at words are amounts and which are names, and says how columns
/// are read, weights among them. Errors where nobody knows.
fn tell_readings(
    table: &mut dyn Table,
    (from, all): ((&Places, &NoValue, Option<&Reading>), &[usize]),
    (tallies, found): (&[Tally], &mut [Option<Reading>]),
    about: (&TableOptions, &Answers),
    weights: Option<&(Tally, Reading)>,
) -> Result<()> {
    let named = as_names::learn(table, from, (tallies, found), about)?;
    let understood = |k: usize| tallies[k].understood((table, all[k], &tallies[k].name));
    named.untold.iter().try_for_each(|&k| understood(k))?;
    let beside = weights.map(|(tally, reading)| (tally, reading));
    let each = tallies.iter().zip(&*found).enumerate();
    let each = each.filter(|(k, _)| !named.names.contains(k));
    let each = each.filter_map(|(_, (tally, found))| Some((tally, found.as_ref()?)));
    notes::of_readings(table, each.chain(beside));
    // Of texts that look like names nobody asks.
    let looks_otherwise = |k: &&usize| found[**k].is_some() || understood(**k).is_err();
    let told = named.names.iter().filter(looks_otherwise);
    notes::of_names(table, told.map(|&k| &tallies[k]));
    let amounts = named.amounts.iter();
    notes::of_amounts(table, amounts.map(|(k, own)| (&tallies[*k], own)));
    for k in named.names {
        found[k] = None;
    }
    for (k, reading) in named.amounts {
        found[k] = Some(reading);
    }
    Ok(())
}

/// Error of each column of numbers and texts that may be categorical.
fn mixed(
    table: &dyn Table,
    all: &[usize],
    (tallies, found): (&[Tally], &[Option<Reading>]),
) -> Vec<Option<Error>> {
    let each = tallies.iter().zip(found).zip(all);
    let error = |((tally, found), j): ((&Tally, &Option<Reading>), &usize)| {
        tally
            .mixed_types_error(table, *j)
            .filter(|_| found.is_none())
    };
    each.map(error).collect()
}

/// Returns the error of a `mixed` column that is not categorical, by its statistics in the `first`
/// pass and in the second. Logs a note for the others.
fn require_kinds(
    table: &dyn Table,
    all: &[usize],
    (tallies, first): (&[Tally], &[Tally]),
    mixed: Vec<Option<Error>>,
) -> Result<()> {
    let mut told = Vec::new();
    for (k, error) in mixed.into_iter().enumerate() {
        match error {
            Some(error) if !tallies[k].is_categorical(&first[k]) => return Err(error),
            Some(_) => told.push((&first[k], all[k])),
            None => {}
        }
    }
    notes::of_mixed(table, &told);
    Ok(())
}

/// Has those columns be of texts, whatever their cells look like.
fn take_as_text(tallies: &mut [Tally], those: &[bool]) {
    let texts = tallies.iter_mut().zip(those).filter(|(_, is)| **is);
    texts.for_each(|(tally, _)| tally.take_as_text());
}

/// Errors where a format of dates was given that no column has.
fn require_dates(table: &dyn Table, options: &TableOptions, tallies: &[Tally]) -> Result<()> {
    let has_it = |tally: &Tally| tally.candidates.given_date().is_some();
    match &options.date_format {
        Some(format) if !tallies.iter().any(has_it) => {
            let problem = format!("has no column whose cells are all dates as {format}");
            let help = Remedy::words("give the format that they have");
            Err(Error::data(table.path(), problem).help(help))
        }
        _ => Ok(()),
    }
}

/// What became of columns, in their order, and what was seen of them beside.
#[derive(Debug, Default)]
struct Ended {
    fields: Vec<Field>,
    /// Of dates, those parts whose span the column covers.
    parts: Vec<DateParts>,
    prose: Vec<Prose>,
    /// Whether features tell rows apart and nothing else.
    ids: Vec<bool>,
    /// Names of columns whose texts are different in each row, and of those that hold codes.
    uniques: Vec<String>,
    codes: Vec<String>,
    /// Names of features that number the rows, of those with another number behind a word in each,
    /// and whether rows stand in the order of a target.
    numbers_rows: Vec<String>,
    numbered: Vec<String>,
    is_in_order: bool,
    /// Null tokens of numeric columns with their counts, by column name.
    null_tokens: Vec<NullTokens>,
    /// Those of the last column, a target: its different numbers.
    labels: Option<Vec<f64>>,
}

impl Ended {
    /// Logs notes on the features and targets, with the choice of date parts that pay.
    fn note(
        &self,
        table: &dyn Table,
        options: &TableOptions,
        (fields, targets, pays): (&[Field], &[Field], &[DateParts]),
    ) {
        let numbers = (&self.numbers_rows[..], self.is_in_order);
        let numbers = (numbers, &self.numbered[..]);
        let seen = (&self.uniques[..], &self.codes[..], &self.prose[..]);
        notes::of_fields(table, fields, seen, numbers);
        notes::of_capitals(table, fields.iter().chain(targets));
        let seen = (&self.prose[..], &self.parts[..], pays);
        notes::of_choices(table, options, (fields, seen));
    }

    /// What becomes of features and targets, with how their cells are read.
    fn new(table: &dyn Table, places: &Places, read: Read, options: &TableOptions) -> Result<Self> {
        let columns = read.into_iter().zip(places.all());
        let columns = columns.take(places.features.len() + places.targets.len());
        let mut ended = Self::default();
        for ((mut tally, reading), j) in columns {
            tally.reading = reading;
            ended.take(tally, (table, j), options)?;
        }
        Ok(ended)
    }

    fn take(
        &mut self,
        mut tally: Tally,
        (table, j): (&dyn Table, usize),
        options: &TableOptions,
    ) -> Result<()> {
        let null_tokens = tally.resolve_null_tokens();
        if !null_tokens.is_empty() {
            self.null_tokens.push((tally.name.clone(), null_tokens));
        }
        let is_unique = tally.levels.are_unique();
        let (is_id, holds_codes) = (tally.tells_rows_apart(), tally.holds_codes());
        let numbers_rows = tally.numbers_rows() || tally.count_rows_behind_a_word();
        let is_numbered = is_id && tally.are_numbered();
        self.is_in_order |= tally.order.as_ref().is_some_and(Order::is_told_by_rows);
        self.labels = tally.labels.take().filter(|_| tally.reading.is_none());
        self.parts.push(tally.covered().parts());
        self.prose.push(tally.levels.prose);
        let field = tally.finish(table, j, options)?;
        self.uniques.extend(is_unique.then(|| field.name.clone()));
        self.numbers_rows
            .extend(numbers_rows.then(|| field.name.clone()));
        self.numbered
            .extend(is_numbered.then(|| field.name.clone()));
        self.codes.extend(holds_codes.then(|| field.name.clone()));
        self.ids.push(is_id && !options.all_columns);
        self.fields.push(field);
        Ok(())
    }
}

/// What was seen of features beside their kinds: whether they are of prose, whether they tell rows
/// apart, and what all their values are.
type Seen<'a> = (&'a [Prose], Vec<bool>, Vec<Contents>);

/// Has texts become what tells most of the target, and leaves out those that tell rows apart alone.
fn settle_texts(
    table: &mut dyn Table,
    from: (&Places, &NoValue),
    (fields, (prose, mut ids, contents)): (&mut [Field], Seen<'_>),
    target: &dyn Fn(usize) -> Option<Target>,
    (options, taken): (&TableOptions, Answers),
) -> Result<Option<OutOfFold>> {
    let of_words = target(MOST_CLASSES);
    let about = (options, of_words.as_ref());
    let told = prose::learn(table, from, (&mut *fields, prose), about, &taken)?;
    // Words that tell something do more than tell rows apart.
    for (is_id, field) in ids.iter_mut().zip(&*fields) {
        *is_id &= !matches!(field.kind, Kind::Words(_));
    }
    leave_out(fields, &ids, contents, options);
    let of_means = target(MOST_SHARES);
    let about = (options, of_means.as_ref());
    target_means::learn(table, from, (fields, &told), about, taken)
}

/// Leaves out features that tell rows apart, where others are left, and copies.
fn leave_out(fields: &mut [Field], ids: &[bool], contents: Vec<Contents>, options: &TableOptions) {
    let tells = |(field, is_id): (&Field, &bool)| field.width() > 0 && !is_id;
    if fields.iter().zip(ids).any(tells) {
        for (field, _) in fields.iter_mut().zip(ids).filter(|(_, is_id)| **is_id) {
            (field.kind, field.fill, field.reading) = (Kind::Id, None, None);
        }
    }
    if !options.all_columns {
        // A copy of what is left out stays.
        let stays = |(field, contents): (&Field, Contents)| (field.width() > 0).then_some(contents);
        let staying: Vec<_> = fields.iter().zip(contents).map(stays).collect();
        for (j, original) in copies::originals(&staying).into_iter().enumerate() {
            if let Some(original) = original {
                let kind = Kind::Copy(fields[original].name.clone());
                let field = &mut fields[j];
                (field.kind, field.fill, field.reading) = (kind, None, None);
            }
        }
    }
}
