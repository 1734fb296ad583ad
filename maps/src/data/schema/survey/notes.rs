//! What is said of columns that were not taken as they stand.

use super::{
    DateParts, Field, Kind, Reading, TableOptions, imputation::MissingCounts, packed::is_packed,
    tally::Tally, words::Prose,
};
use crate::data::{
    Table,
    files::table::{seen, short, shortened},
    schema::composed,
};
use std::collections::BTreeMap;

/// Says which columns are read in a manner that nobody gave.
pub(in crate::data::schema) fn of_readings<'a>(
    table: &dyn Table,
    columns: impl Iterator<Item = (&'a Tally, &'a Reading)>,
) {
    let mut said = Said::default();
    for (tally, reading) in columns.filter(|(tally, own)| !tally.candidates.is_given(own)) {
        let mut says = format!("read as {reading}, which all cells are");
        if is_packed(reading) {
            says += "; --numeric (numeric=) takes them for numbers";
        }
        says += fraction_in_doubt(tally.candidates.with_other_decimal(reading));
        if tally.candidates.has_groups_by_file(reading) {
            says += "; other columns have points before fractions, so its commas part thousands: \
                     --decimal ',' (decimal=) has them before fractions";
        }
        said.add(says, &tally.name);
    }
    said.warn(table);
}

/// What is said of numbers without a fraction, before which this other mark may stand as well.
fn fraction_in_doubt(other: Option<&Reading>) -> &'static str {
    match other.and_then(Reading::marks).map(|marks| marks.decimal) {
        Some(',') => {
            "; none has a fraction, so a point is taken to stand before one: --decimal ',' \
             (decimal=) says a comma"
        }
        Some(_) => {
            "; none has a fraction, so a comma is taken to stand before one: --decimal . \
             (decimal=) says a point"
        }
        None => "",
    }
}

/// Says which columns of amounts are taken for names.
pub(in crate::data::schema) fn of_names<'a>(
    table: &dyn Table,
    columns: impl Iterator<Item = &'a Tally>,
) {
    let mut said = Said::default();
    for tally in columns {
        let says = "names and no amounts: rows of one number are alike and those of numbers beside \
                    each other are not; --numeric (numeric=) takes them for amounts";
        said.add(says.into(), &tally.name);
    }
    said.warn(table);
}

/// Says which columns of texts are taken for amounts.
pub(in crate::data::schema) fn of_amounts<'a>(
    table: &dyn Table,
    columns: impl Iterator<Item = (&'a Tally, &'a Reading)>,
) {
    let mut said = Said::default();
    for (tally, reading) in columns {
        let says = format!(
            "read as {reading} and no names: rows of numbers beside each other are alike; \
             --categorical (categorical=) takes them for names"
        );
        said.add(says, &tally.name);
    }
    said.warn(table);
}

/// Says which features hold no value, tell rows apart, are copies, hold whole numbers that are
/// codes (those named in `codes`), a text of its own in each row all the same (in `uniques`), or
/// more texts than there are columns for; of lists (`prose` tells) what takes their words. Of what
/// numbers the rows it says whether those stand in the order of a target, and of what has a number
/// behind a word in each row (`numbered`), what takes that.
pub(in crate::data::schema) fn of_fields(
    table: &dyn Table,
    features: &[Field],
    (uniques, codes, prose): (&[String], &[String], &[Prose]),
    ((numbers_rows, are_in_order), numbered): ((&[String], bool), &[String]),
) {
    let mut said = Said::default();
    for (field, prose) in features.iter().zip(prose) {
        let is_unique = uniques.contains(&field.name);
        if codes.contains(&field.name) && field.width() > 0 {
            let says = "codes, of which some begin with 0: categories and no numbers; --numeric \
                        (numeric=) takes them for numbers";
            said.add(says.into(), &field.name);
        }
        match field.kind {
            Kind::Empty => said.add("no value in any row; left out".into(), &field.name),
            Kind::Id => {
                let in_order = are_in_order && numbers_rows.contains(&field.name);
                let says = left_out(in_order, numbered.contains(&field.name));
                said.add(says.into(), &field.name);
            }
            Kind::Copy(ref of) => {
                let of = short(of);
                let says = format!(
                    "a copy of {of}; left out unless all columns are asked for (--all-columns, \
                     all_columns=)"
                );
                said.add(says, &field.name);
            }
            Kind::Categories(_) | Kind::Hashed(_) if is_unique => {
                let says = "a different text in each row, which tells nothing of others";
                let lists = lists(prose);
                let advice = if lists.is_empty() {
                    "; leave it out?"
                } else {
                    &lists
                };
                said.add(format!("{says}{advice}"), &field.name);
            }
            Kind::Hashed(count) => {
                let says =
                    format!("more than {count} different texts, hashed into {count} columns");
                said.add(says + &lists(prose), &field.name);
            }
            _ => {}
        }
    }
    said.warn(table);
}

/// What is said of a column that tells rows apart: it numbers rows that stand in the order of a
/// target, or has a number behind a word in each, or neither.
fn left_out(in_order: bool, is_numbered: bool) -> &'static str {
    match (in_order, is_numbered) {
        (true, _) => {
            "numbers the rows, which stand in an order of the target: left out, for new rows have \
             other numbers; where it is a time or a place keep it (--numeric, numeric=)"
        }
        (false, true) => {
            "tells rows apart and nothing of others by the numbers behind its word; left out: \
             --numeric (numeric=) takes these for amounts, --by-target (by_target=) the texts for \
             names, --all-columns (all_columns=) keeps it"
        }
        (false, false) => {
            "tells rows apart and nothing of others; left out unless all columns are asked for \
             (--all-columns, all_columns=)"
        }
    }
}

/// Says of which columns kinds differ in capitals and blanks alone, as slips do.
pub(in crate::data::schema) fn of_capitals<'a>(
    table: &dyn Table,
    fields: impl Iterator<Item = &'a Field>,
) {
    let mut said = Said::default();
    for field in fields {
        let Kind::Categories(all) = &field.kind else {
            continue;
        };
        if field.is_in_any_letters() {
            let kinds: Vec<String> = all.iter().map(|kind| short(kind)).collect();
            let says = format!(
                "read as {} in whatever letters; --categorical (categorical=) makes a kind of each \
                 text as it is written",
                kinds.join(" and ")
            );
            said.add(says, &field.name);
        }
        let folded = all.iter().map(|text| {
            let words = text.split_whitespace().map(str::to_lowercase);
            composed(&words.collect::<Vec<_>>().join(" ")).into_owned()
        });
        let mut folded: Vec<String> = folded.collect();
        let twin = (1..all.len()).find_map(|i| {
            let first = folded[..i].iter().position(|other| *other == folded[i])?;
            Some((short(&all[first]), short(&all[i])))
        });
        folded.sort_unstable();
        folded.dedup();
        if let Some((one, other)) = twin {
            let says = format!(
                "{} kinds, {} but for capitals, blanks and forms of Unicode ({one} and {other}); \
                 write them alike if they are",
                all.len(),
                folded.len()
            );
            said.add(says, &field.name);
        }
    }
    said.warn(table);
}

/// Says what texts and dates became where no option says it.
pub(in crate::data::schema) fn of_choices(
    table: &dyn Table,
    options: &TableOptions,
    (features, (prose, covered, tell)): (&[Field], Seen<'_>),
) {
    if options.by_target.is_none() {
        of_means(table, features, prose);
    }
    if options.words.is_none() {
        of_words(table, features);
    }
    if options.dates.is_none() {
        of_dates(table, features, (covered, tell));
    }
}

/// Of each feature whether it is of prose, which parts its dates cover, and which of these tell.
type Seen<'a> = (&'a [Prose], &'a [DateParts], &'a [DateParts]);

/// Says which texts are means of the target though nobody asked for that.
fn of_means(table: &dyn Table, features: &[Field], prose: &[Prose]) {
    let mut said = Said::default();
    for (field, prose) in features.iter().zip(prose) {
        if let Kind::Means(means) = &field.kind {
            let says = format!("{means}{}; --categorical hashes them", lists(prose));
            said.add(says, &field.name);
        }
    }
    said.warn(table);
}

/// Says which texts are words though nobody asked for that.
fn of_words(table: &dyn Table, features: &[Field]) {
    let mut said = Said::default();
    for field in features {
        if let Kind::Words(words) = &field.kind {
            let says = format!("{words}; --categorical takes each text as a whole");
            said.add(says, &field.name);
        }
    }
    said.warn(table);
}

/// Says which dates are taken as days alone though they cover circles, and which are not as these
/// tell something.
fn of_dates(table: &dyn Table, features: &[Field], (covered, tell): (&[DateParts], &[DateParts])) {
    let mut said = Said::default();
    let dates = features.iter().zip(covered.iter().zip(tell));
    for (field, (covered, tell)) in dates.filter(|(f, _)| matches!(f.kind, Kind::Date(_))) {
        if tell.width() > 0 {
            let says = format!(
                "taken as days and {tell}, which tell something of the target; --dates day takes \
                 days alone"
            );
            said.add(says, &field.name);
        } else if covered.width() > 0 {
            let says =
                format!("taken as days; --dates parts adds {covered}, if those tell something");
            said.add(says, &field.name);
        }
    }
    said.warn(table);
}

/// Logs a note for each column of numbers and texts that is read as text.
pub(in crate::data::schema) fn of_mixed(table: &dyn Table, columns: &[(&Tally, usize)]) {
    for (tally, j) in columns {
        let Some((row, text, are_texts)) = tally.odd_cell() else {
            continue;
        };
        let (path, place, text) = (table.path().display(), table.place(row, *j), short(text));
        let others = if are_texts { "texts" } else { "numbers" };
        let became = if tally.is_feature {
            "categories"
        } else {
            "classes"
        };
        log::warn!(
            "{path}, {place}: {text} among {others}: the column is read as {became}; correct the cell \
             if it is a typo"
        );
    }
}

/// Logs the number of rows with missing values, the columns with their fill values and indicators,
/// and the null tokens of single columns.
pub(in crate::data::schema) fn of_missing(
    table: &dyn Table,
    features: &[Field],
    (counts, null_tokens): (&MissingCounts, &[super::NullTokens]),
) {
    let path = table.path().display();
    let mut named: [Vec<String>; 3] = Default::default();
    let mut indicated = Vec::new();
    for &(j, count) in &counts.features {
        let field = &features[j];
        let by = match field.kind {
            Kind::Number | Kind::Date(_) | Kind::Boolean => 0,
            Kind::Categories(_) | Kind::Hashed(_) => 1,
            Kind::Means(_) | Kind::Words(_) => 2,
            Kind::Empty | Kind::Id | Kind::Copy(_) => continue,
        };
        named[by].push(format!("{} ({count})", seen(&field.name)));
        indicated.extend(field.has_indicator().then(|| seen(&field.name)));
    }
    if named.iter().all(Vec::is_empty) {
        return;
    }
    let filled = named.iter().zip(["means", "shares of categories", "0"]);
    let filled = filled.filter(|(names, _)| !names.is_empty());
    let filled = filled.map(|(names, by)| format!("{} filled with {by}", shortened(names)));
    let mut says = format!(
        "missing: {} of {} rows; {}",
        counts.missing,
        counts.rows,
        filled.collect::<Vec<_>>().join(", ")
    );
    if !indicated.is_empty() {
        let names = shortened(&indicated);
        says +=
            &format!("; indicator columns for {names}, as their missing values predict the target");
    }
    let tokens = null_tokens.iter().map(|(name, texts)| {
        let texts = texts.iter();
        let texts = texts.map(|(text, count)| format!("{} ({count})", short(text)));
        let texts: Vec<String> = texts.collect();
        format!("{} in {}", shortened(&texts), seen(name))
    });
    let tokens: Vec<String> = tokens.collect();
    let words = counts.words.iter();
    let words = words.map(|(j, word)| format!("{} in {}", short(word), seen(&features[*j].name)));
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        says += &format!(
            "; counted as missing: {}, which --na '?' (na=) keeps as a category",
            shortened(&words)
        );
    }
    if !tokens.is_empty() {
        says += &format!("; counted as missing: {}", shortened(&tokens));
    }
    log::warn!("{path}: {says}; --missing (missing=) chooses otherwise");
}

/// What is said of texts that are lists.
fn lists(prose: &Prose) -> String {
    let mark = prose.mark_between().map(String::from);
    let says = |mark: String| {
        let mark = short(&mark);
        format!("; {mark} stands between words of most: --words (words=) takes each word")
    };
    mark.map_or(String::new(), says)
}

/// What is said, and of which columns.
#[derive(Default)]
struct Said(BTreeMap<String, Vec<String>>);

impl Said {
    fn add(&mut self, says: String, name: &str) {
        self.0.entry(says).or_default().push(short(name));
    }

    fn warn(self, table: &dyn Table) {
        for (says, names) in self.0 {
            let (path, names) = (table.path().display(), names.join(", "));
            log::warn!("{path}: {names}: {says}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_told_how_their_words_are_taken() {
        let said = |text: &str| {
            let mut prose = Prose::default();
            prose.see(text);
            lists(&prose)
        };
        let wanted = "; \"|\" stands between words of most: --words (words=) takes each word";
        assert_eq!(said("pool|wifi"), wanted);
        assert_eq!(said("pool"), "");
    }
}
