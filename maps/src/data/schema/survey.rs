//! The pass over a table that finds what its columns hold.

mod as_names;
mod candidates;
pub(super) mod cell;
mod circles;
mod codes;
mod copies;
mod notes;
mod packed;
mod points;
mod prose;
mod questions;
mod tally;
pub(super) mod target;
mod target_means;
mod total;
pub(super) mod weight;

pub(in crate::data) use cell::{infinite, missing, refused, says_nothing};
pub(in crate::data) use codes::Codes;
pub(in crate::data) use copies::may_hold_copies;
pub(in crate::data) use packed::Packed;
pub(in crate::data) use points::{Marked, Points};
pub(in crate::data) use total::{is_total, may_be_total};
pub(in crate::data) use weight::NO_WEIGHT;

use self::{
    copies::Contents, prose::MOST_CLASSES, tally::Tally, target::Target, target_means::MOST_SHARES,
};
use super::*;
use super::{means::OutOfFold, order::Order, places::Answers, words::Prose};
use crate::data::Table;
use crate::error::{Error, Remedy, Result};

/// Rows that are read at a time, and values.
const ROWS: usize = 4096;
const VALUES: usize = 1 << 18;

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
    let contents: Vec<Contents> = read[..places.features.len()]
        .iter()
        .map(|(tally, _)| tally.contents)
        .collect();
    let mut ended = Ended::new(table, places, read, options)?;
    let targets = ended.fields.split_off(places.features.len());
    let mut fields = ended.fields;
    if fields.iter().all(|field| field.kind == Kind::Empty) {
        let problem = "has no value in any column of features";
        return Err(Error::data(table.path(), problem));
    }
    let labels = ended.labels.filter(|labels| labels.len() > 1);
    let target = |most| {
        let target = Target::from_fields(&targets, labels.as_deref(), most)?;
        Some(target.weighed_by(by.cloned()))
    };
    let of_dates = target(MOST_SHARES);
    let (of_dates, dates) = (
        (options, of_dates.as_ref()),
        (&mut fields[..], &ended.parts[..]),
    );
    let tell = circles::learn(table, (places, &no_value), dates, of_dates, &taken)?;
    let seen = (&ended.prose[..], ended.ids, contents);
    let out_of_fold = settle_texts(
        table,
        (places, &no_value),
        (&mut fields[..], seen),
        &target,
        (options, taken),
    )?;
    let numbers = (&ended.numbers_rows[..], ended.is_in_order);
    let numbers = (numbers, &ended.numbered[..]);
    let seen = (&ended.uniques[..], &ended.codes[..], &ended.prose[..]);
    notes::of_fields(table, &fields, seen, numbers);
    notes::of_capitals(table, fields.iter().chain(&targets));
    let seen = (&ended.prose[..], &ended.parts[..], &tell[..]);
    notes::of_choices(table, options, (&fields, seen));
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
    let how = (options, table.has_decimal_commas());
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
    let seen = (&tallies[..], &mut found[..]);
    tell_readings(table, (from, &all), seen, (options, &taken), weights)?;
    // Who fills gaps needs the values, which are known when all cells have told how to read them.
    let fills = options.missing != Missing::Error;
    // Dates of other years than the usual ones cover other days.
    let is_read_again = |reading: &Reading| fills || reading.has_own_years();
    if found.iter().flatten().any(is_read_again) || coded.contains(&true) {
        // In the same memory: tables have up to a million columns.
        tallies.clear();
        tallies.extend(names.iter().enumerate().map(new));
        take_as_text(&mut tallies, &coded);
        for (tally, reading) in tallies.iter_mut().zip(&found) {
            tally.reading.clone_from(reading);
        }
        let takes = &mut |row| taken.get(row);
        pass(table, from, &mut tallies, takes)?;
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
    /// Those of the last column, a target: its different numbers.
    labels: Option<Vec<f64>>,
}

impl Ended {
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

/// Reads all rows once, and hands each cell to the tally of its column.
fn pass(
    table: &mut dyn Table,
    (places, no_value, by): (&Places, &NoValue, Option<&Reading>),
    tallies: &mut [Tally],
    takes: &mut dyn FnMut(u64) -> bool,
) -> Result<()> {
    let rule = no_value.rule(table.is_typed());
    let all = places.all();
    let (features, targets) = (places.features.len(), places.targets.len());
    table.select(&all)?;
    let (mut first, mut any) = (0_u64, false);
    let rows = (VALUES / all.len().max(1)).clamp(1, ROWS);
    while let Some(batch) = table.next_batch(rows)? {
        // Of several files a batch holds rows of one.
        let in_file = table.row_in_file(first);
        let mut weights = vec![0.0; batch.rows];
        for (i, weight) in weights.iter_mut().enumerate() {
            if takes(first + i as u64) {
                *weight = 1.0;
                any = true;
            }
        }
        let taken = weights.clone();
        if let Some(j) = places.weight {
            cell::for_each_cell(&batch.columns[features + targets], rule, |i, cell| {
                let row = first + i as u64;
                let weight =
                    weight::read_weight(cell, by).map_err(|says| table.fault(row, j, says))?;
                weights[i] *= weight;
                Ok::<_, Error>(())
            })?;
        }
        for (k, tally) in tallies[..features + targets].iter_mut().enumerate() {
            let counts = if k < features { &weights } else { &taken };
            cell::for_each_cell(&batch.columns[k], rule, |i, cell| {
                if counts[i] == 0.0 {
                    return Ok(());
                }
                let row = first + i as u64;
                if tally.add((row, in_file + i as u64), cell, counts[i]) {
                    Ok(())
                } else {
                    let error = table.fault(row, all[k], "is infinite");
                    Err(cell::infinite(error, tally.is_feature))
                }
            })?;
        }
        for tally in tallies.iter_mut() {
            tally.see_total(&batch, first);
        }
        first += batch.rows as u64;
    }
    table.rewind()?;
    if !any {
        return Err(Error::shape("the data has no rows; give at least one"));
    }
    Ok(())
}
