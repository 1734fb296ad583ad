//! The pass over a table that finds which columns of prose become words.

mod left_out;

use crate::data::{
    Table,
    parting::hash,
    schema::{
        Field, Kind, NoValue, Places, TableOptions,
        places::Answers,
        survey::target::{Row, Target, require_features},
        words::{Prose, Words, to_unit_length},
    },
};
use crate::error::Result;
use left_out::{Centred, are_less};
use ndarray::{Array1, Array2, s};
use std::collections::BTreeMap;

/// Classes of a target that words are asked of.
pub(in crate::data::schema) const MOST_CLASSES: usize = 64;
/// Rows that are kept to ask by: 8 MB.
const KEPT: usize = 4096;
/// Draws them, unlike any seed of a fit.
const SEED: u64 = 0x776f_7264_735f_6f66;

/// Texts with their targets, of a uniform sample of the rows.
#[derive(Default)]
struct Sample(BTreeMap<u64, Kept>);

/// One of them.
struct Kept {
    /// Words and pairs as they add up, before rows are scaled; halves of the digits are enough to
    /// decide by.
    columns: Vec<f32>,
    targets: Vec<f64>,
    weight: f64,
}

impl Sample {
    fn offer(&mut self, words: Words, row: &Row<'_>) {
        let key = hash(SEED, row.number);
        let is_full = self.0.len() >= KEPT;
        if is_full && self.0.last_key_value().is_some_and(|(last, _)| key > *last) {
            return;
        }
        let mut columns = vec![0.0; words.width()];
        words.add(row.text, |at, weight| columns[at] += weight as f32);
        let kept = Kept {
            columns,
            targets: row.targets.to_vec(),
            weight: row.weight,
        };
        self.0.insert(key, kept);
        if is_full {
            self.0.pop_last();
        }
    }

    /// Whether words tell something of the target, and pairs of them more: the share of its squares
    /// that words explain on rows left out, and whether pairs are among them.
    fn ask(&self, words: Words) -> Option<(f64, bool)> {
        let rows: Vec<&Kept> = self.0.values().collect();
        let width = rows.first()?.targets.len();
        let y_mt = Array2::from_shape_fn((rows.len(), width), |(i, t)| rows[i].targets[t]);
        let weights_m: Array1<f64> = rows.iter().map(|row| row.weight).collect();
        let mut x_mw = Array2::from_shape_fn((rows.len(), words.width()), |(i, w)| {
            f64::from(rows[i].columns[w])
        });
        let target = Centred::new(&y_mt, &weights_m);
        let by_mean_m = target.by_mean();
        let mut alone_mw = x_mw.slice(s![.., ..words.columns()]).to_owned();
        alone_mw.rows_mut().into_iter().for_each(to_unit_length);
        let alone_m = target.by_ridge(&alone_mw);
        x_mw.rows_mut().into_iter().for_each(to_unit_length);
        let paired_m = target.by_ridge(&x_mw);
        let pairs = are_less(&paired_m, &alone_m) && are_less(&paired_m, &by_mean_m);
        let squares_m = if pairs { paired_m } else { alone_m };
        let r2 = 1.0 - squares_m.sum() / by_mean_m.sum();
        are_less(&squares_m, &by_mean_m).then_some((r2, pairs))
    }
}

/// Has those features become words that are asked for, or that are hashed prose which says
/// something of the target so, by the rows `taken`. Of the latter the share of the squares of the
/// target that they explain on rows left out.
///
/// Errors with [`Error::Parameter`](crate::error::Error::Parameter) where what is asked for is no
/// feature, and as the table does.
pub(in crate::data::schema) fn learn(
    table: &mut dyn Table,
    from: (&Places, &NoValue),
    (features, prose): (&mut [Field], &[Prose]),
    (options, target): (&TableOptions, Option<&Target>),
    taken: &Answers,
) -> Result<Vec<Option<f64>>> {
    let mut told = vec![None; features.len()];
    let asked = options.words.as_ref();
    require_features(features, asked)?;
    let may = |j: usize| match (asked, &features[j]) {
        (Some(names), field) => names.contains(&field.name),
        (None, field) => {
            let is_told = options.named_texts().any(|name| *name == field.name);
            matches!(field.kind, Kind::Hashed(_)) && prose[j].is() && !is_told
        }
    };
    let mine: Vec<usize> = (0..features.len()).filter(|&j| may(j)).collect();
    let asks_target = options.by_target.as_ref().is_none_or(|all| !all.is_empty());
    let target = target.filter(|_| asks_target && !mine.is_empty());
    let found = match target {
        None => vec![None; mine.len()],
        Some(target) => {
            let both = Words::new(true, 0);
            let mut samples: Vec<Sample> = mine.iter().map(|_| Sample::default()).collect();
            let offer = &mut |row: Row<'_>| samples[row.feature].offer(both, &row);
            target.each_row(table, from, (&mine, taken), offer)?;
            samples.iter().map(|sample| sample.ask(both)).collect()
        }
    };
    for (j, found) in mine.into_iter().zip(found) {
        if asked.is_none() {
            told[j] = found.map(|(r2, _)| r2);
        }
        if asked.is_some() || found.is_some() {
            let pairs = found.is_some_and(|(_, pairs)| pairs);
            become_words(&mut features[j], Words::new(pairs, prose[j].length()));
        }
    }
    Ok(told)
}

/// The feature is of words from now on; a gap has none.
fn become_words(field: &mut Field, words: Words) {
    if let Some(fill) = &mut field.fill {
        fill.values = vec![0.0; words.width()];
    }
    field.kind = Kind::Words(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of texts of six of so many words with their targets.
    fn asked((seed, of): (u64, u64), y: impl Fn(&[u64], f64) -> f64) -> Option<(f64, bool)> {
        let draw = |i: u64, k: u64| hash(hash(seed, i), k);
        let even = |draw: u64| draw as f64 / u64::MAX as f64 - 0.5;
        let both = Words::new(true, 0);
        let mut sample = Sample::default();
        for i in 0..700 {
            let words: Vec<u64> = (0..6).map(|k| draw(i, k) % of).collect();
            let text: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
            let noise = even(draw(i, 6)) + even(draw(i, 7)) + even(draw(i, 8));
            let row = Row {
                feature: 0,
                number: i,
                text: &text.join(" "),
                weight: 1.0,
                targets: &[y(&words, noise)],
            };
            sample.offer(both, &row);
        }
        sample.ask(both)
    }

    #[test]
    fn words_are_taken_where_they_tell_and_pairs_where_they_tell_more() {
        let has = |yes: bool| f64::from(u8::from(yes));
        let of_word = |words: &[u64], noise| has(words.contains(&7)) + 0.2 * noise;
        let (r2, pairs) = asked((1, 40), of_word).expect("a word that decides");
        assert!(r2 > 0.7 && !pairs, "{r2} {pairs}");
        let of_order = |words: &[u64], noise| {
            let is_there = words.windows(2).any(|two| two == [3, 4]);
            has(is_there) + 0.2 * noise
        };
        let (r2, pairs) = asked((2, 6), of_order).expect("an order that decides");
        assert!(r2 > 0.5 && pairs, "{r2} {pairs}");
    }

    /// In four of a hundred columns at most something is seen that is not there.
    #[test]
    fn noise_tells_nothing() {
        let taken = (0..12).filter(|&seed| asked((seed, 40), |_, noise| noise).is_some());
        assert!(taken.count() <= 1);
    }

    /// The rows that are kept are those of the smallest hashes, in any order.
    #[test]
    fn no_more_rows_are_kept_than_there_is_room_for() {
        let words = Words::new(false, 0);
        let mut sample = Sample::default();
        for number in 0..KEPT as u64 + 500 {
            let row = Row {
                feature: 0,
                number,
                text: "a b",
                weight: 1.0,
                targets: &[0.0],
            };
            sample.offer(words, &row);
        }
        let mut all: Vec<u64> = (0..KEPT as u64 + 500).map(|i| hash(SEED, i)).collect();
        all.sort_unstable();
        assert!(sample.0.keys().eq(&all[..KEPT]));
    }
}
