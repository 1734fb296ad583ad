//! Which readings all cells of a column allow.

mod found;
mod units;

pub(in crate::data::schema) use found::Ambiguous;
pub(in crate::data::schema) use units::is_limit;

use super::{
    DateFormat, Marks, Reading, TableOptions,
    amount::{Amount, Unit},
    century::Years,
    date_parts::Covered,
    duration,
    packed::{Packed, is_packed},
    points::{Marked, Points, is_month},
    unlisted_zone,
};

/// Cells of one kind after which another text is taken for a stray.
const TELLING: u32 = 20;
/// So many times as many cells as words tell the same, if there are fewer.
const FEWER_WORDS: u32 = 4;

/// A reading, and what the dates that it gives cover.
#[derive(Debug)]
struct Candidate {
    reading: Reading,
    covered: Covered,
}

impl Candidate {
    fn new(reading: Reading) -> Self {
        Self {
            reading,
            covered: Covered::default(),
        }
    }
}

/// Readings that all cells of a column so far allow.
#[derive(Debug)]
pub(in crate::data::schema) struct Candidates {
    readings: Vec<Candidate>,
    /// Marks that numbers of amounts may have.
    marks: Vec<Marks>,
    /// Whether somebody said how numbers, or dates, are written.
    given: [bool; 2],
    /// The first cell that is no plain number.
    first: Option<(u64, String)>,
    /// The first cell of which two say different things.
    differs: Option<(u64, String)>,
    /// What plain numbers show of their points, and whether there is nothing else.
    points: Points,
    is_plain: bool,
    /// The first plain number that may be a month of a year.
    month: Option<(u64, String)>,
    /// Cells that were read.
    cells: u32,
    /// The cell that ended the last of them, after many that were one kind, and that kind.
    stray: Option<(u64, String, Reading)>,
    /// The first cell without a digit, or with a limit, `<5`, and how many there are: it ends
    /// nothing, for it may stand for no value.
    word: Option<(u64, String)>,
    words: u32,
    /// The first times of two parts, `59:27`, and of three.
    clocks: [Option<(u64, String)>; 2],
    /// The first cells in each of two units, and whether both are known.
    units: Option<([(u64, String); 2], bool)>,
    /// Years of its dates, where these have two digits.
    years: Years,
    /// The cell that ended them, if it is a date in a zone that is not known.
    zone: Option<(u64, String)>,
    /// Whether a comma that may be either stands before a fraction.
    commas: bool,
    /// Whether any word may stand at its numbers.
    any_word: bool,
    /// Digits of the first cell, and whether another has more or fewer.
    digits: Option<usize>,
    digits_vary: bool,
    /// What its cells have of dates and times without a mark.
    packed: Packed,
}

/// What a cell is by the readings that it allows.
#[derive(Default)]
struct Told {
    /// Its value by the first of them, and whether another says otherwise.
    one: Option<f64>,
    differs: bool,
    /// The date that it is by two digits of the year.
    short_year: Option<f64>,
}

impl Candidates {
    /// For cells that nobody has seen; with `commas`, a comma that may stand before a fraction or
    /// between thousands does the former.
    pub(in crate::data::schema) fn new(options: &TableOptions, commas: bool) -> Self {
        let (decimal, thousands) = (options.decimal, options.thousands);
        let numbers = match (decimal, thousands) {
            (Some(decimal), Some(_)) => vec![Marks::new(decimal, thousands)],
            (Some(decimal), None) => {
                let all = Marks::ALL
                    .into_iter()
                    .filter(|marks| marks.decimal == decimal);
                match decimal {
                    '.' => Vec::new(),
                    _ => all.collect(),
                }
            }
            (None, Some(mark)) => {
                let all = Marks::ALL.into_iter();
                all.filter(|own| own.thousands == Some(mark)).collect()
            }
            (None, None) => Marks::ALL.to_vec(),
        };
        let marks = match (decimal, thousands) {
            (None, None) => [&[Marks::PLAIN], &Marks::ALL[..]].concat(),
            (Some('.'), None) => vec![Marks::PLAIN],
            _ => numbers.clone(),
        };
        let dates = match &options.date_format {
            Some(format) => vec![format.clone()],
            None => DateFormat::all().collect(),
        };
        let numbers = numbers.into_iter().map(Reading::Number);
        Self {
            readings: numbers
                .chain(dates.into_iter().map(Reading::Date))
                .map(Candidate::new)
                .collect(),
            marks,
            given: [
                decimal.is_some() || thousands.is_some(),
                options.date_format.is_some(),
            ],
            first: None,
            differs: None,
            points: Points::default(),
            is_plain: true,
            month: None,
            cells: 0,
            stray: None,
            word: None,
            words: 0,
            clocks: [None, None],
            units: None,
            years: Years::default(),
            zone: None,
            commas,
            any_word: false,
            digits: None,
            digits_vary: false,
            packed: Packed::default(),
        }
    }

    /// The same of a column of which somebody said that it holds numbers, if so: one word stands at
    /// them, whatever it is.
    pub(in crate::data::schema) fn of_numbers(self, are_numbers: bool) -> Self {
        Self {
            any_word: are_numbers,
            ..self
        }
    }

    /// Takes a cell, which is a plain number or not.
    pub(in crate::data::schema) fn see(&mut self, row: u64, text: &str, plain: Option<f64>) {
        let is_word = !text.contains(char::is_numeric) || (is_limit(text) && !self.any_word);
        if is_word {
            self.word.get_or_insert_with(|| (row, text.to_owned()));
            self.words = self.words.saturating_add(1);
            return;
        }
        self.packed.see(text);
        if self.first.is_none() && plain.is_none() {
            self.expect_unit(text);
            self.expect_times(text);
        }
        self.look_at_points(row, text, plain.is_some());
        if self.readings.is_empty() {
            return;
        }
        let last = self.readings.first().map(|first| first.reading.clone());
        let told = self.keep_those_that_read(text, plain);
        if let (true, Some(kind)) = (self.readings.is_empty(), last) {
            self.units = self.two_units(row, text, &kind);
            self.zone = unlisted_zone::find(text).map(|_| (row, text.to_owned()));
            let telling = self.cells >= TELLING && self.first.is_some();
            self.stray = telling.then(|| (row, text.to_owned(), kind));
            return;
        }
        self.count((row, text), told.short_year);
        if told.differs {
            self.differs.get_or_insert_with(|| (row, text.to_owned()));
        }
        if plain.is_none() || told.one != plain {
            self.first.get_or_insert_with(|| (row, text.to_owned()));
        }
    }

    fn look_at_points(&mut self, row: u64, text: &str, is_plain: bool) {
        if !is_plain {
            self.is_plain = false;
            return;
        }
        self.points.see(text);
        if self.month.is_none() && is_month(text) {
            self.month = Some((row, text.to_owned()));
        }
    }

    /// Keeps the readings that a cell allows, and says what it is by them.
    fn keep_those_that_read(&mut self, text: &str, plain: Option<f64>) -> Told {
        let mut told = Told::default();
        // Amounts of one unit stay what they are, where they may be times as well.
        let mut all = self.readings.iter();
        let has_amounts = all.any(|own| own.reading.amount().is_some());
        let any_date = !self.given[1];
        self.readings.retain_mut(|Candidate { reading, covered }| {
            // What is plain is the same to those whose fraction begins with a point.
            let value = match (plain, &*reading) {
                (Some(value), Reading::Number(marks)) if marks.decimal == '.' => Some(value),
                (Some(value), Reading::Amount(amount)) if amount.unit.name.is_empty() => {
                    Some(value)
                }
                (_, Reading::Date(format)) if any_date && format.may_be_version(text) => None,
                _ => reading.value(text),
            };
            let counts = *reading != Reading::Time || !has_amounts;
            if let Some(value) = value.filter(|_| counts) {
                told.differs |= *told.one.get_or_insert(value) != value;
            }
            if let (Some(days), Reading::Date(format)) = (value, &*reading) {
                covered.add(days);
                let short_year = format.has_usual_years().then_some(days);
                told.short_year = told.short_year.or(short_year);
            }
            value.is_some()
        });
        told
    }

    /// Takes a cell that was read, and the date that it is by two digits of the year.
    fn count(&mut self, (row, text): (u64, &str), short_year: Option<f64>) {
        self.cells = self.cells.saturating_add(1);
        if let Some(days) = short_year {
            self.years.add(days, (row, text));
        }
        let digits = text.chars().filter(char::is_ascii_digit).count();
        self.digits_vary |= *self.digits.get_or_insert(digits) != digits;
        if let colons @ 1..=2 = text.matches(':').count() {
            self.clocks[colons - 1].get_or_insert_with(|| (row, text.to_owned()));
        }
    }

    /// Takes amounts in the unit of the first cell that is not plain into account. What has a unit
    /// has it in each cell.
    fn expect_unit(&mut self, text: &str) {
        let any = || self.any_word.then(|| Unit::of_any_word(text)).flatten();
        let unit = Unit::parse(text).or_else(any);
        let Some(unit) = unit.filter(|unit| self.cells == 0 || unit.name.is_empty()) else {
            return;
        };
        let amounts = self.marks.iter().map(|&marks| Amount {
            unit: unit.clone(),
            marks,
        });
        let amounts = amounts.map(Reading::Amount).map(Candidate::new);
        self.readings.extend(amounts);
    }

    /// Takes times into account, if the first cell that is not plain is one.
    fn expect_times(&mut self, text: &str) {
        if self.cells == 0 && duration::days(text).is_some() {
            self.readings.push(Candidate::new(Reading::Time));
        }
    }

    /// A time of two parts and one of three, of a column of both: what comes first may be hours or
    /// minutes.
    pub(in crate::data::schema) fn two_clocks(&self) -> Option<[&(u64, String); 2]> {
        let is_time = self.readings().next() == Some(&Reading::Time);
        let [short, long] = &self.clocks;
        Some([short.as_ref()?, long.as_ref()?]).filter(|_| is_time && self.words == 0)
    }

    /// Whether no reading is left, or numbers alone behind a sign such as `No.` or a label, which
    /// may be names.
    pub(in crate::data::schema) fn may_be_texts(&self) -> bool {
        let may = |reading: &Reading| is_number(reading) || is_label(reading);
        self.readings().all(may)
    }

    /// Whether cells that were read have more digits or fewer than others.
    pub(in crate::data::schema) fn digits_vary(&self) -> bool {
        self.digits_vary
    }

    /// A date in a zone that is not known, with its row.
    pub(in crate::data::schema) fn zone(&self) -> Option<&(u64, String)> {
        self.zone.as_ref()
    }

    /// Whether cells may be two numbers, of which the file says which they are by the points of
    /// its other columns: commas stand between thousands.
    pub(in crate::data::schema) fn has_groups_by_file(&self, reading: &Reading) -> bool {
        let is_comma = |own: &Reading| own.marks().is_some_and(|marks| marks.decimal == ',');
        let may_be = self.differs.is_some() && self.readings().any(is_comma);
        may_be
            && reading
                .marks()
                .is_some_and(|marks| marks.thousands == Some(','))
    }

    /// Has `marked` know what the column says of points and commas of its file.
    pub(in crate::data::schema) fn tell(&self, marked: &mut Marked) {
        marked.see(&self.points);
        // What may be either says nothing.
        let is_clear = !self.is_plain && self.differs.is_none();
        if let (true, Ok(Some(reading))) = (is_clear, self.found(Marked::default())) {
            marked.see_reading(&reading);
        }
    }

    /// Dates as somebody said, if all cells are: plain numbers may be, `20210312`, and dates by
    /// ISO 8601.
    pub(in crate::data::schema) fn given_date(&self) -> Option<&Reading> {
        let is_date = |reading: &&Reading| matches!(reading, Reading::Date(_));
        let date = self.readings().find(is_date);
        date.filter(|_| self.given[1] && self.cells > 0 && self.words == 0)
    }

    /// Dates and times without a mark, if all cells are and nobody said how dates are written or
    /// that these are numbers.
    pub(in crate::data::schema) fn packed(&self) -> Option<Reading> {
        let may_be = !(self.given[1] || self.any_word) && self.words == 0;
        self.packed.reading().filter(|_| may_be)
    }

    fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.readings.iter().map(|own| &own.reading)
    }

    /// The same numbers with the other mark before fractions, where all cells allow that as well:
    /// thousands are marked, and no number has a fraction.
    pub(in crate::data::schema) fn with_other_decimal(
        &self,
        reading: &Reading,
    ) -> Option<&Reading> {
        let marks = reading.marks().filter(|own| own.thousands.is_some())?;
        let other = reading.with_marks(marks.with_other_decimal()?);
        self.readings().find(|own| **own == other)
    }

    /// What the dates of a reading cover that all cells allow.
    pub(in crate::data::schema) fn covered(&self, reading: &Reading) -> Option<&Covered> {
        let own = self.readings.iter().find(|own| own.reading == *reading);
        let own = own.filter(|_| self.cells > 0).map(|own| &own.covered);
        own.or_else(|| is_packed(reading).then(|| self.packed.covered()))
    }

    /// Whether somebody said that cells are to be read so.
    pub(in crate::data::schema) fn is_given(&self, reading: &Reading) -> bool {
        match reading {
            Reading::Number(_) => self.given[0],
            Reading::Amount(_) | Reading::Time | Reading::Clock | Reading::Answers => false,
            Reading::Date(_) => self.given[1],
        }
    }

    /// A text among many cells that are numbers or dates in one manner, with its row and theirs.
    pub(in crate::data::schema) fn stray(&self) -> Option<(u64, &str, &Reading)> {
        if let Some((row, text, reading)) = &self.stray {
            return Some((*row, text, reading));
        }
        let (row, text) = self.word.as_ref()?;
        let reading = self.readings().next()?;
        let most = FEWER_WORDS.saturating_mul(self.words);
        let many = self.cells >= TELLING.min(most) && self.cells >= self.words;
        (many && self.first.is_some()).then_some((*row, text, reading))
    }
}

/// Whether it is of numbers behind a sign of such.
pub(in crate::data::schema) fn is_number(reading: &Reading) -> bool {
    reading
        .amount()
        .is_some_and(|amount| amount.unit.is_number())
}

/// Whether it is of numbers behind a label, `Price:`.
pub(in crate::data::schema) fn is_label(reading: &Reading) -> bool {
    reading
        .amount()
        .is_some_and(|amount| amount.unit.is_label())
}

#[cfg(test)]
mod tests;
