//! The rows of a table as numbers, by a schema.

mod columns;
mod encoded;
mod look;
mod totals;

use super::gaps::GaplessTable;
use super::schema::{Encoder, NO_WEIGHT, NoValue, Places, survey};
use super::{
    Chunk, ChunkSource, ColumnChoice, CsvOptions, CsvSource, Missing, NanRows, OpenOptions, Schema,
    Table, TargetUse, require_rows,
};
use crate::error::{Error, Remedy, Result};
use columns::{advised, choose, with_parts};
use encoded::encoded;
use ndarray::s;
use totals::{Found, Totals};

/// Rows of a batch that is read to see whether it can be.
const BATCH: usize = 256;

/// A table as a source, of whatever its columns hold.
///
/// As long as nothing but numbers was met it reads numbers, in one pass with the survey. Where the
/// survey ends at something else, [`ChunkSource::settle`] reads the file once to make up a
/// [`Schema`], by which all passes from then on read it. A schema of a model is there from the
/// first. Rows that are more or fewer in a later pass than in the first are an error: a fit that
/// was surveyed on other rows fits something else.
pub struct TableSource {
    table: Box<dyn Table>,
    reader: Reader,
    options: OpenOptions,
    /// Whether the schema is what the rows or a model said, and not a guess.
    settled: bool,
    /// Rows read in this pass, and in the first that came to the end.
    read: u64,
    counted: Option<u64>,
    /// What the first pass after [`ChunkSource::settle`] says of rows of totals.
    totals: Option<Totals>,
    /// Rows of the last chunk: what the next one reserves.
    expected: usize,
}

enum Reader {
    /// Numbers of a .csv, whose last target is the weight if there is one.
    Numbers(Box<CsvSource>, Places),
    Encoded(Box<Encoder>),
}

impl std::fmt::Debug for TableSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TableSource({})", self.table.path().display())
    }
}

impl TableSource {
    /// The columns of `table` that `options` name; `numbers` opens a .csv for numbers alone.
    ///
    /// Errors with [`Error::Data`] when a column is not there or several have its name, and with
    /// [`Error::Parameter`] when one is named for two purposes.
    pub(in crate::data) fn new(
        mut table: Box<dyn Table>,
        options: &OpenOptions,
        numbers: Option<impl FnOnce(CsvOptions) -> Result<CsvSource>>,
    ) -> Result<Self> {
        let options = &with_parts(table.as_ref(), options);
        let places =
            choose(table.as_ref(), options).map_err(|e| advised(e, table.as_ref(), options))?;
        let (schema, settled) = first_schema(table.as_ref(), &places, options);
        if let Some(gaps) = options.nan.gaps() {
            let columns = (table.as_ref(), &places);
            let needed = needed(columns, (&schema, settled), options);
            let no_value = if settled {
                schema.no_value().clone()
            } else {
                NoValue::from_given(options.table.na.as_deref())
            };
            let (nan, needed) = ((&options.nan, gaps), (needed, &places));
            table = Box::new(GaplessTable::new(table, nan, &no_value, needed)?);
        }
        let reader = match numbers {
            Some(numbers) if !settled && reads_numbers(options) => {
                let mut target = options.target.clone();
                target.extend(options.table.weight.clone());
                let mut numbers = numbers(CsvOptions {
                    target,
                    target_use: options.target_use,
                    columns: options.columns.clone(),
                    layout: options.layout.clone(),
                })?;
                if let ColumnChoice::Imputed { means, .. } = &options.columns {
                    numbers.set_fill_values(means);
                }
                Reader::Numbers(Box::new(numbers), places)
            }
            _ => {
                table.select(&places.all())?;
                Reader::Encoded(Box::new(Encoder::new(schema, places)))
            }
        };
        Ok(Self {
            table,
            reader,
            options: options.clone(),
            settled,
            read: 0,
            counted: None,
            totals: None,
            expected: 0,
        })
    }

    pub(in crate::data) fn places(&self) -> &Places {
        match &self.reader {
            Reader::Numbers(_, places) => places,
            Reader::Encoded(encoder) => encoder.places(),
        }
    }

    /// The names of all columns of the file.
    pub(in crate::data) fn table_names(&self) -> &[String] {
        self.table.names()
    }

    /// The table as it is, without the rows that are left out.
    pub(in crate::data) fn into_table(self) -> Box<dyn Table> {
        self.table
    }

    fn names(&self, of: &[usize]) -> Vec<String> {
        of.iter().map(|&j| self.table.names()[j].clone()).collect()
    }

    /// Whether all rows can be read by a schema.
    fn can_be_read(&mut self, schema: &Schema, places: &Places) -> Result<bool> {
        let mut encoder = Encoder::new(schema.clone(), places.clone()).silent();
        self.table.select(&places.all())?;
        let (mut first, table) = (0, self.table.as_mut());
        let mut read = || -> Result<()> {
            while let Some(batch) = table.next_batch(BATCH)? {
                encoder.chunk(table, &batch, first)?;
                first += batch.rows as u64;
            }
            Ok(())
        };
        let can = read().is_ok();
        self.table.rewind()?;
        Ok(can)
    }

    /// Says so where rows look like totals of the others.
    fn note_totals(&self, totals: Totals) {
        let Some(found) = totals.found() else {
            return;
        };
        let all = self.places().all();
        let columns: Vec<usize> = found.columns().iter().map(|&k| all[k]).collect();
        let says = found.says(&self.names(&columns));
        let place = self.table.place(found.row(self.read), columns[0]);
        let path = self.table.path().display();
        let advice = match found {
            Found::OfGroups(..) => "they count as any others: remove them",
            _ => "it counts as any other: remove it",
        };
        log::warn!("{path}, {place}: {says}; {advice}");
    }

    /// Counts the rows of a chunk, or the end of a pass.
    fn count(&mut self, rows: Option<usize>) -> Result<()> {
        let changed = |now: u64, before: u64, more: &str| {
            let problem = format!(
                "has {more}{now} rows and had {before} when it was read before; it must not \
                 change while it is in use"
            );
            Err(Error::data(self.table.path(), problem))
        };
        match (rows, self.counted) {
            (Some(rows), counted) => {
                let now = self.read + rows as u64;
                if let Some(before) = counted.filter(|&before| now > before) {
                    return changed(now, before, "at least ");
                }
                self.read = now;
            }
            (None, None) => self.counted = Some(self.read),
            (None, Some(before)) if before != self.read => return changed(self.read, before, ""),
            _ => {}
        }
        Ok(())
    }
}

/// The schema that the columns of `table` have at first, and whether it is that of a model.
fn first_schema(table: &dyn Table, places: &Places, options: &OpenOptions) -> (Schema, bool) {
    let names = |of: &[usize]| {
        of.iter()
            .map(|&j| table.names()[j].clone())
            .collect::<Vec<_>>()
    };
    match &options.columns {
        ColumnChoice::Known(schema) => {
            let mut schema = (**schema).clone();
            schema.keep_targets(&names(&places.targets));
            schema.keep_what_is_read();
            (schema, true)
        }
        _ => {
            let weight = options.table.weight.as_deref();
            let (features, targets) = (names(&places.features), names(&places.targets));
            let mut schema = Schema::of_numbers(&features, &targets, weight);
            if let ColumnChoice::Imputed { means, .. } = &options.columns {
                schema.set_fill_values(means);
            }
            (schema, false)
        }
    }
}

/// Whether a .csv is read as numbers until it turns out to hold others: a weight is read as the
/// last of the targets then, so they have to be there.
fn reads_numbers(options: &OpenOptions) -> bool {
    let read = options.target_use == TargetUse::Required;
    let all_rows = options.nan.gaps().is_none();
    all_rows && !options.table.asks_for_schema() && (read || options.table.weight.is_none())
}

/// The columns of which every row needs a value: those for which nothing stands where they miss
/// one, or the targets alone.
fn needed(
    (table, places): (&dyn Table, &Places),
    (schema, settled): (&Schema, bool),
    options: &OpenOptions,
) -> Vec<usize> {
    if options.nan.is_of_targets() {
        return places.targets.clone();
    }
    // `NanRows::Drop` without an explicit `Missing` drops rows with missing features.
    let drops = matches!(options.nan, NanRows::Drop(_));
    let fills = match options.table.missing {
        Missing::Error => false,
        Missing::Auto => !drops,
        Missing::Mean | Missing::Median | Missing::Indicator => true,
    };
    let left_out = match &options.columns {
        ColumnChoice::Known(schema) if options.same_rows && !fills => schema.left_out_names(),
        _ => Vec::new(),
    };
    let left_out = left_out.iter().filter_map(|name| {
        let mut names = table.names().iter();
        names.position(|own| own == name)
    });
    let fields = schema.features().iter();
    // Without an explicit `Missing` a model fills only what its training rows missed.
    let is_auto = schema.options().all(|(name, _)| name != "missing");
    let needs = fields.map(|field| match settled {
        true => !(field.may_miss() && (field.misses() || !(is_auto && drops))),
        false => !fills,
    });
    let features = places.features.iter().zip(needs);
    let features = features.filter(|(_, needs)| *needs).map(|(j, _)| j);
    let beside = places.weight.iter().chain(&places.group);
    let others = places.targets.iter().chain(beside);
    features.chain(others).copied().chain(left_out).collect()
}

impl ChunkSource for TableSource {
    fn columns(&self) -> usize {
        match &self.reader {
            Reader::Numbers(_, places) => places.features.len(),
            Reader::Encoded(encoder) => encoder.schema().width(),
        }
    }
    fn targets(&self) -> usize {
        self.places().targets.len()
    }
    fn is_weighted(&self) -> bool {
        self.places().weight.is_some()
    }
    fn rows(&self) -> Option<usize> {
        self.table.rows()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        Some(match &self.reader {
            Reader::Numbers(_, places) => self.names(&places.features),
            Reader::Encoded(encoder) => encoder.schema().column_names(),
        })
    }
    fn target_names(&self) -> Option<Vec<String>> {
        Some(self.names(&self.places().targets))
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        let known = match &self.options.columns {
            ColumnChoice::Known(_) | ColumnChoice::Matching(_) | ColumnChoice::Imputed { .. } => {
                true
            }
            ColumnChoice::All | ColumnChoice::These(_) | ColumnChoice::AllBut(_) => false,
        };
        // What stands for missing values and how cells are read a fit says, and a model keeps.
        let of_model = |error: Error| {
            if known {
                let parts = "fit with --thousands ',' (thousands=) if that parts thousands";
                error
                    .instead(&Remedy::FillMissing, Some(Remedy::RefitWithMissing))
                    .instead(&Remedy::Decimal(','), None)
                    .instead(&Remedy::Thousands(','), Some(Remedy::words(parts)))
            } else {
                error
            }
        };
        let chunk = match &mut self.reader {
            Reader::Numbers(numbers, places) => {
                let mut chunk = numbers.next_chunk(max_rows).map_err(of_model)?;
                if let (Some(chunk), Some(j)) = (&mut chunk, places.weight) {
                    let last = chunk.y.ncols() - 1;
                    let weights = chunk.y.column(last).to_owned();
                    if let Some(i) = weights.iter().position(|&w| w < 0.0) {
                        return Err(self.table.fault(self.read + i as u64, j, NO_WEIGHT));
                    }
                    chunk.y = chunk.y.slice(s![.., ..last]).to_owned();
                    chunk.weights = Some(weights);
                }
                if let (Some(chunk), Some(totals)) = (&chunk, &mut self.totals) {
                    totals.see(chunk, None);
                }
                chunk
            }
            Reader::Encoded(encoder) => {
                let all = (max_rows, self.expected);
                let table = self.table.as_mut();
                encoded(encoder, table, self.read, all, &mut self.totals).map_err(of_model)?
            }
        };
        let rows = chunk.as_ref().map(|chunk| chunk.x.nrows());
        self.expected = rows.unwrap_or(self.expected);
        self.count(rows)?;
        if let (None, Some(totals)) = (rows, self.totals.take_if(|_| rows.is_none())) {
            self.note_totals(totals);
        }
        Ok(chunk)
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        if self.settled {
            return Ok(false);
        }
        let asks = self.options.table.asks_for_schema();
        let places = self.places().clone();
        let columns = (places.features.len(), places.targets.len());
        self.totals = Some(Totals::new(None, columns));
        if !(failed || asks || self.may_mislead(&places)? || self.may_hold_codes(&places)?) {
            return Ok(false);
        }
        let (schema, out_of_fold) =
            survey(self.table.as_mut(), &places, &self.options.table, takes)?;
        // Rows that are held out may be written otherwise and be clear all the same; if they are
        // not, something else is wrong with the file.
        if schema.is_plain() && !asks && !(failed && self.can_be_read(&schema, &places)?) {
            return Ok(false);
        }
        self.totals = Some(Totals::new(Some(&schema), columns));
        let encoder = Encoder::new(schema, places).of_training(out_of_fold);
        self.reader = Reader::Encoded(Box::new(encoder));
        (self.settled, self.read, self.counted) = (true, 0, None);
        Ok(true)
    }
    fn schema(&self) -> Option<&Schema> {
        match &self.reader {
            Reader::Encoded(encoder) if self.settled => Some(encoder.schema()),
            _ => None,
        }
    }
    fn rewind(&mut self) -> Result<()> {
        self.read = 0;
        self.totals.iter_mut().for_each(Totals::reset);
        match &mut self.reader {
            Reader::Numbers(numbers, _) => numbers.rewind(),
            Reader::Encoded(_) => self.table.rewind(),
        }
    }
    fn is_checked(&self) -> bool {
        true
    }
}
