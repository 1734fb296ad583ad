//! Rows of totals, which reports and spreadsheets put under their tables, above them, and behind
//! groups of rows.

mod groups;

use crate::data::{
    Batch, Chunk, Column, Rows,
    files::table::short,
    schema::{Kind, Schema, is_total},
};
use crate::text::counted;
use groups::Groups;

/// Rows above it, at least.
const ENOUGH: f64 = 3.0;
/// A mean is written to less than this share of the deviation of its column: a value among others
/// is as near by chance in one of a hundred columns.
const NEAR: f64 = 0.01;
/// Columns that are totals, at least: one may be so by chance.
const SEVERAL: usize = 2;
/// Of those the note names so many.
const NAMED: usize = 3;
/// What sums lose by rounding, of the sizes of what they are of.
const ROUNDING: f64 = 1e-9;
/// Deviations of a sum of cells that were rounded from the sum of what they were.
const DEVIATIONS: f64 = 4.0;
/// What is off by more than this share of the sum is no total: of three whole numbers any may be
/// as near as such deviations.
const SHARE: f64 = 0.01;

/// What the rows of a pass say of the first and the last of them, and of those behind groups.
#[derive(Debug, Default)]
pub(super) struct Totals {
    columns: Vec<Above>,
    /// Cells that say that their row is one of totals.
    words: u64,
    /// The column of the first text of the last row, if it is one of them, and what it says.
    named: Option<([usize; 1], String)>,
    groups: Groups,
    rows: u64,
}

/// The numbers of one column: the first and the last one, and sums of those above the last.
#[derive(Debug)]
struct Above {
    /// Its place in a batch, and among the columns of a chunk, targets behind the features.
    column: usize,
    at: usize,
    rows: f64,
    sum: f64,
    /// Sums of sizes, and the largest.
    sizes: f64,
    largest: f64,
    mean: f64,
    /// Of squares about the mean.
    squares: f64,
    first: Option<f64>,
    /// The largest size behind the first and above the last.
    largest_below: f64,
    last: Option<f64>,
    unit: Unit,
}

/// The place of the last digit to which cells are written: 0.01 of 2.5 and 2.75.
#[derive(Debug, Clone, Copy)]
struct Unit {
    least: f64,
    /// Cells that were looked at.
    seen: usize,
}

/// What a row is that is none of the others: the last one, where nothing else is said.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// It says so in this column, by this text.
    Named([usize; 1], String),
    /// Its numbers are the sums, or the means, of those above in these columns.
    Sums(Vec<usize>),
    Means(Vec<usize>),
    /// The numbers of the first row are the sums of those below.
    FirstSums(Vec<usize>),
    /// So many rows are totals of groups, the first of them this row by this text.
    OfGroups([usize; 1], (u64, String), usize),
}

impl Found {
    /// The columns that tell, by their places in a batch.
    pub(super) fn columns(&self) -> &[usize] {
        match self {
            Self::Named(column, _) | Self::OfGroups(column, ..) => column,
            Self::Sums(columns) | Self::Means(columns) | Self::FirstSums(columns) => columns,
        }
    }

    /// The row that is meant, of so many.
    pub(super) fn row(&self, rows: u64) -> u64 {
        match self {
            Self::FirstSums(_) => 0,
            Self::OfGroups(_, (row, _), _) => *row,
            _ => rows.saturating_sub(1),
        }
    }

    /// What is said of it, where those columns have these names.
    pub(super) fn says(&self, names: &[String]) -> String {
        let what = match self {
            Self::Named(_, text) => {
                return format!("{}, the last row, is one of totals", short(text));
            }
            Self::OfGroups(_, (_, text), count) => {
                return format!(
                    "{} and {} are totals of groups",
                    short(text),
                    more_rows(*count)
                );
            }
            Self::Sums(_) => "the last row has the sums",
            Self::Means(_) => "the last row has the means",
            Self::FirstSums(_) => "the first row has the sums",
        };
        let (named, others) = names.split_at(names.len().min(NAMED));
        let more = match others.len() {
            0 => String::new(),
            more => format!(" and {}", counted(more, "more column")),
        };
        let named = named.join(", ");
        format!("{what} of all others in {named}{more}")
    }
}

/// How many rows there are beside one.
fn more_rows(count: usize) -> String {
    counted(count.saturating_sub(1), "more row")
}

impl Totals {
    /// For rows of so many features and targets: numbers, or what a schema made of them.
    pub(super) fn new(schema: Option<&Schema>, (features, targets): (usize, usize)) -> Self {
        let mut places = Vec::new();
        match schema {
            None => places.extend((0..features + targets).map(|j| (j, j))),
            Some(schema) => {
                let mut at = 0;
                let fields = schema.features().iter().chain(schema.targets());
                for (column, field) in fields.enumerate() {
                    if *field.kind() == Kind::Number {
                        places.push((column, at));
                    }
                    at += field.width();
                    if column >= features {
                        // A target is one column, whatever it holds.
                        at = schema.width() + column + 1 - features;
                    }
                }
            }
        }
        let columns = places
            .into_iter()
            .map(|(column, at)| Above::new(column, at));
        Self {
            columns: columns.collect(),
            ..Self::default()
        }
    }

    /// Forgets all rows.
    pub(super) fn reset(&mut self) {
        let places = self.columns.iter().map(|above| (above.column, above.at));
        let columns = places.map(|(column, at)| Above::new(column, at)).collect();
        *self = Self {
            columns,
            ..Self::default()
        };
    }

    /// Takes rows, which `cells` are as the table has them unless all are numbers.
    pub(super) fn see(&mut self, chunk: &Chunk, cells: Option<&Batch>) {
        let width = chunk.x.ncols();
        let value = |i: usize, at: usize| match (at.checked_sub(width), &chunk.x) {
            (Some(k), _) => chunk.y[[i, k]],
            (None, Rows::F64(x)) => x[[i, at]],
            (None, Rows::F32(x)) => f64::from(x[[i, at]]),
        };
        let told = cells.map(groups::told);
        let mut values = Vec::with_capacity(self.columns.len());
        for i in 0..chunk.x.nrows() {
            values.clear();
            values.extend(self.columns.iter().map(|above| value(i, above.at)));
            let each = self.columns.iter_mut().zip(&values);
            each.for_each(|(above, value)| above.add(*value));
            if let Some(told) = &told {
                self.groups.see(self.rows + i as u64, told[i], &values);
            }
        }
        if let Some(batch) = cells {
            self.see_cells(batch);
        }
    }

    /// Takes the texts of rows, and which numbers the last of them has: what stands for a gap is
    /// none.
    fn see_cells(&mut self, batch: &Batch) {
        let last = |column: &Column| match column {
            Column::Text(texts) => texts.iter().last().flatten().map(str::to_owned),
            _ => None,
        };
        for column in &batch.columns {
            if let Column::Text(texts) = column {
                let words = texts.iter().flatten().filter(|text| is_total(text));
                self.words += words.count() as u64;
            }
        }
        self.rows += batch.rows as u64;
        for above in &mut self.columns {
            let is_there = match &batch.columns[above.column] {
                Column::Numbers(values) => values.last().is_some_and(|v| !v.is_nan()),
                column => last(column).is_some_and(|text| text.contains(char::is_numeric)),
            };
            above.last = above.last.filter(|_| is_there);
        }
        let says = |text: &String| text.contains(char::is_alphabetic);
        let mut texts = batch.columns.iter().map(last).enumerate();
        let first = texts.find_map(|(k, text)| Some(([k], text.filter(says)?)));
        self.named = first.filter(|(_, text)| is_total(text));
    }

    /// What the last row is, if it is not one of the others.
    pub(super) fn found(self) -> Option<Found> {
        if let Some((column, first, count)) = self.groups.found() {
            return Some(Found::OfGroups([column], first, count));
        }
        if let (1, Some((column, text))) = (self.words, self.named) {
            return Some(Found::Named(column, text));
        }
        let varies = |above: &&Above| above.last.is_some() && above.squares > 0.0;
        let there: Vec<&Above> = self.columns.iter().filter(varies).collect();
        let those = |is: fn(&Above) -> bool| -> Vec<usize> {
            let are = there.iter().filter(|above| is(above));
            are.map(|above| above.column).collect()
        };
        let first = those(Above::is_first_sum);
        if first.len() >= SEVERAL && 2 * first.len() >= there.len() {
            return Some(Found::FirstSums(first));
        }
        let (sums, means) = (those(Above::is_sum), those(Above::is_mean));
        let all = sums.len() + means.len();
        if sums.len() >= SEVERAL && 2 * all >= there.len() {
            Some(Found::Sums(sums))
        } else if means.len() >= SEVERAL && means.len() == there.len() {
            Some(Found::Means(means))
        } else {
            None
        }
    }
}

impl Above {
    fn new(column: usize, at: usize) -> Self {
        Self {
            column,
            at,
            rows: 0.0,
            sum: 0.0,
            sizes: 0.0,
            largest: 0.0,
            mean: 0.0,
            squares: 0.0,
            first: None,
            largest_below: 0.0,
            last: None,
            unit: Unit::default(),
        }
    }

    fn add(&mut self, value: f64) {
        self.unit.see(value);
        self.first.get_or_insert(value);
        if let Some(above) = self.last.replace(value) {
            if self.rows > 0.0 {
                self.largest_below = self.largest_below.max(above.abs());
            }
            self.rows += 1.0;
            self.sum += above;
            self.sizes += above.abs();
            self.largest = self.largest.max(above.abs());
            let off = above - self.mean;
            self.mean += off / self.rows;
            self.squares += off * (above - self.mean);
        }
    }

    /// Whether its last value is the sum of the others, and larger than any of them.
    fn is_sum(&self) -> bool {
        let is = |last: f64| {
            let room = self.unit.room(last, (self.rows, self.sum, self.sizes));
            last.abs() > self.largest && (last - self.sum).abs() <= room
        };
        self.rows >= ENOUGH && self.last.is_some_and(is)
    }

    /// Whether its first value is the sum of the others, and larger than any of them.
    fn is_first_sum(&self) -> bool {
        let (Some(first), Some(last)) = (self.first, self.last) else {
            return false;
        };
        let others = self.sum - first + last;
        let room = self.unit.room(first, (self.rows, others, self.sizes));
        let is_largest = first.abs() > self.largest_below.max(last.abs());
        self.rows >= ENOUGH && is_largest && (first - others).abs() <= room
    }

    /// Whether its last value is the mean of the others, by more digits than chance has.
    fn is_mean(&self) -> bool {
        let is = |last: f64| {
            let room = half_digit(last).max(ROUNDING * self.sizes / self.rows);
            let deviation = (self.squares / self.rows).sqrt();
            room < NEAR * deviation && (last - self.sum / self.rows).abs() <= room
        };
        self.rows >= ENOUGH && self.last.is_some_and(is)
    }
}

/// Half of the last digit of a value.
fn half_digit(value: f64) -> f64 {
    0.5 * digit(value)
}

/// The place of the last digit of a value, 1 of whole numbers.
fn digit(value: f64) -> f64 {
    let text = value.to_string();
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    0.1_f64.powi(digits as i32)
}

impl Default for Unit {
    fn default() -> Self {
        let (least, seen) = (1.0, 0);
        Self { least, seen }
    }
}

impl Unit {
    /// Takes one more cell. The first tell: a table writes a column to one place.
    fn see(&mut self, value: f64) {
        if self.seen < Self::TELL {
            self.seen += 1;
            self.least = self.least.min(digit(value));
        }
    }

    const TELL: usize = 32;

    /// How far from its value a total of so many rows may be, which have this sum and these sizes.
    /// It is rounded itself, and so are they, where it was summed before: each by a value that is
    /// uniform within its last digit.
    fn room(self, total: f64, (rows, sum, sizes): (f64, f64, f64)) -> f64 {
        let rounded = DEVIATIONS * self.least * (rows / 12.0).sqrt();
        let near = rounded.min(SHARE * sum.abs());
        (half_digit(total) + near).max(ROUNDING * sizes)
    }
}

#[cfg(test)]
mod tests;
