//! What a column becomes, when all of its cells have been seen.

use super::{MOST_CLASSES, Tally};
use crate::data::{
    Table,
    files::table::short,
    schema::{
        Field, Kind, Missing, Reading, TableOptions,
        date_parts::DateParts,
        survey::{cell, questions},
    },
};
use crate::error::{Error, Remedy, Result};

/// Cells of one kind are strangers where there are so many times more of another.
const FAR_MORE: u64 = 4;

impl Tally {
    /// What the column becomes.
    pub(in crate::data::schema) fn finish(
        mut self,
        table: &dyn Table,
        j: usize,
        options: &TableOptions,
    ) -> Result<Field> {
        if let Some(error) = self.two_kinds(table, j) {
            return Err(self.about_target(error));
        }
        if self.is_empty() && !self.is_feature {
            let problem = format!("target {} has no value in any row", short(&self.name));
            let help = Remedy::words("name another target");
            return Err(Error::data(table.path(), problem).help(help));
        }
        if let Some((row, text)) = &self.missing
            && (!self.is_feature || options.missing == Missing::Error)
        {
            return Err(self.gap((table, j), *row, text));
        }
        let are_answers = self.are_answers();
        let kind = self.kind();
        if !self.is_feature && matches!(kind, Kind::Hashed(_)) {
            let problem = format!(
                "target {} holds more than {MOST_CLASSES} different texts, which are no classes",
                short(&self.name)
            );
            return Err(Error::data(table.path(), problem));
        }
        let answers = are_answers.then_some(Reading::Answers);
        let (name, reading) = (self.name.clone(), self.reading.clone().or(answers));
        let fill = if self.is_feature {
            self.fill(&kind, options.missing)?
        } else {
            None
        };
        Ok(Field {
            name,
            kind,
            fill,
            reading,
        })
    }

    /// Whether its texts are answers, of which those are taken for one that differ in letters
    /// alone, where nobody said that each is a kind. Truth values are read in any letters.
    fn are_answers(&mut self) -> bool {
        let [number, date, truth, text] = self.first.each_ref().map(Option::is_some);
        let is_categorical = text || (truth && !self.is_feature);
        let may = is_categorical && !(number || date || self.as_text) && self.reading.is_none();
        may && self.levels.fold_answers()
    }

    /// Whether it has no value in any row.
    fn is_empty(&self) -> bool {
        self.first.iter().all(Option::is_none)
    }

    /// The error of a gap that nothing stands for.
    fn gap(&self, (table, j): (&dyn Table, usize), row: u64, text: &str) -> Error {
        let mut error = table.fault(row, j, &cell::missing(text));
        if let Some(total) = &self.total {
            let says = format!("{} beside {}", cell::missing(text), short(total));
            let help = Remedy::words("remove the row, if it is of totals");
            error = table.fault(row, j, &says).help(help);
        }
        // `None` among kinds may be one.
        if text.contains(char::is_alphabetic) && self.first[3].is_some() && self.reading.is_none() {
            error = error.help(Remedy::KeepKind);
        }
        cell::refused(error, self.is_feature)
    }

    /// What its values are, of one kind.
    fn kind(&self) -> Kind {
        let [number, date, truth, text] = &self.first;
        let dates = Kind::Date(if self.has_parts {
            self.covered().parts()
        } else {
            DateParts::default()
        });
        match (number, date, truth, text) {
            _ if matches!(self.reading, Some(Reading::Date(_))) => dates,
            _ if self.reading.is_some() => Kind::Number,
            _ if self.is_empty() => Kind::Empty,
            _ if self.holds_codes() => self.levels.kind(),
            (Some(_), ..) => Kind::Number,
            (_, Some(_), None, None) => dates,
            (_, None, Some(_), None) if self.is_feature => Kind::Boolean,
            _ => self.levels.kind(),
        }
    }

    /// The error of a column of two kinds, where cells of one are not meant to be: it blames one of
    /// which there are far fewer, or the one that came later.
    pub(super) fn two_kinds(&self, table: &dyn Table, j: usize) -> Option<Error> {
        let [number, date, truth, text] = &self.first;
        let [numbers, dates, _, texts] = self.cells;
        let others: u64 = self.cells[1..].iter().sum();
        let (stray, says) = if let Some(number) = number {
            if self.reading.is_some() {
                return None;
            }
            let other = [date, truth, text].into_iter().flatten().min()?;
            if is_stray((others, other.0), (numbers, number.0)) {
                (other, format!("the text {} among numbers", short(&other.1)))
            } else {
                (number, format!("the number {} among text", number.1))
            }
        } else {
            let (date, text) = (date.as_ref()?, text.as_ref().filter(|_| !self.as_text)?);
            if is_stray((texts, text.0), (dates, date.0)) {
                (text, format!("{} among dates", short(&text.1)))
            } else {
                (date, format!("{} among text", short(&date.1)))
            }
        };
        let error = table.fault(stray.0, j, &format!("holds {says}"));
        let is_text = text.as_ref() == Some(stray);
        let word = is_text.then_some(stray.1.as_str());
        let no_values = word.map_or_else(Vec::new, |word| self.no_values(word));
        Some(questions::cured(
            error,
            (word, no_values),
            self.name.clone(),
        ))
    }
}

/// Whether cells are strangers among others, by how many there are of each, and by the rows of the
/// first.
fn is_stray((few, row): (u64, u64), (many, other): (u64, u64)) -> bool {
    match (few, many) {
        (1, 2..) => true,
        (2.., 1) => false,
        _ if many >= FAR_MORE * few => true,
        _ if few >= FAR_MORE * many => false,
        _ => row > other,
    }
}
