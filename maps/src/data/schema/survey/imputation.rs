//! Counts of missing values, and the choice of indicator columns.

use super::{
    Field, Kind, NoValue, Places, Reading,
    cell::{self, Cell},
    places::Answers,
    target::{Target, without_features},
};
use crate::data::{Batch, Table, schema::MissingRule};
use crate::error::Result;
use ndarray::{Array2, ArrayView1, ArrayView2};
use std::collections::BTreeMap;

/// Rows that are read at a time.
const ROWS: usize = 4096;
/// Minimum number of rows for the F test, and of rows with and without a value among them: one odd
/// target must not decide.
const MIN_ROWS: u64 = 20;
const MIN_ROWS_OF_EACH: u64 = 8;
/// Minimum F statistic of an indicator column. If the target is independent of the missing values,
/// F with 1 and m degrees of freedom exceeds it in 1 of 190 columns at 20 rows and in 1 of 640 in
/// the limit.
const MIN_F: f64 = 10.0;

/// Counts of rows with missing feature values.
#[derive(Debug, Default)]
pub(in crate::data::schema) struct MissingCounts {
    /// Number of rows in the survey, and of rows that miss at least one value.
    pub(in crate::data::schema) rows: u64,
    pub(in crate::data::schema) missing: u64,
    /// Index of each feature with missing values, and the number of rows that miss it.
    pub(in crate::data::schema) features: Vec<(usize, u64)>,
    /// A null token with letters, such as `None`, for each text feature that has one: it may be a
    /// category.
    pub(in crate::data::schema) words: BTreeMap<usize, String>,
}

/// Gives an indicator column to each feature whose missing values predict the target: an F test of
/// the indicator alone on the rows in `taken`, for each target column. Returns the counts of
/// missing values.
///
/// Returns the errors of the table.
pub(in crate::data::schema) fn choose_indicators(
    table: &mut dyn Table,
    (places, no_value, by): (&Places, &NoValue, Option<&Reading>),
    fields: &mut [Field],
    (target, taken): (Option<Target>, &Answers),
) -> Result<MissingCounts> {
    let target = target.as_ref();
    let has_missing = |j: &usize| fields[*j].misses() && fields[*j].width() > 0;
    let mine: Vec<usize> = (0..fields.len()).filter(has_missing).collect();
    if mine.is_empty() {
        return Ok(MissingCounts::default());
    }
    let own = Places {
        features: mine.iter().map(|&j| places.features[j]).collect(),
        targets: target.map_or_else(Vec::new, |_| places.targets.clone()),
        ..places.clone()
    };
    table.select(&own.all())?;
    let mut encoder = match target {
        Some(target) => target.encoder(&own, no_value),
        None => without_features(Vec::new(), (&own, no_value, by)),
    };
    let rule = no_value.rule(table.is_typed());
    let numeric = mine.iter().map(|&j| is_numeric(&fields[j].kind));
    let numeric: Vec<bool> = numeric.collect();
    let mut sums = Sums::new(mine.len(), target.map_or(0, Target::width));
    let (mut first, mut shift, mut words) = (0, None, BTreeMap::new());
    while first < taken.rows()
        && let Some(mut batch) = table.next_batch(ROWS)?
    {
        let rows = batch.rows;
        let missing = missing(&mut batch, &numeric, rule, &mut words);
        let chunk = encoder.chunk(&*table, &batch, first)?;
        for (i, missing) in missing.iter().enumerate() {
            let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
            if weight > 0.0 && taken.get(first + i as u64) {
                if let Some(target) = target {
                    // Keeps the digits of targets far from 0.
                    let y = chunk.y[[i, 0]];
                    target.put(y, *shift.get_or_insert(y), &mut sums.row);
                }
                sums.add(missing, weight);
            }
        }
        first += rows as u64;
    }
    table.select(&places.all())?;
    for (k, &j) in mine.iter().enumerate() {
        if let Some(fill) = fields[j].fill.as_mut() {
            fill.indicator = sums.passes_f_test(k);
        }
    }
    Ok(MissingCounts {
        rows: sums.rows,
        missing: sums.with_missing,
        words: words.into_iter().map(|(k, word)| (mine[k], word)).collect(),
        features: mine.into_iter().zip(sums.missing).collect(),
    })
}

/// Returns which columns of `missing_nd` predict a target, by the F test of an indicator column.
pub(in crate::data::schema) fn predictive_columns(
    missing_nd: ArrayView2<'_, bool>,
    y_nt: ArrayView2<'_, f64>,
    weights_n: ArrayView1<'_, f64>,
) -> Vec<bool> {
    let mut sums = Sums::new(missing_nd.ncols(), y_nt.ncols());
    let rows = missing_nd.rows().into_iter().zip(y_nt.rows());
    for ((missing, y), &weight) in rows.zip(weights_n).filter(|(_, weight)| **weight > 0.0) {
        // Keeps the digits of targets far from 0.
        let shifted = y.iter().zip(y_nt.row(0)).map(|(y, first)| y - first);
        sums.row
            .iter_mut()
            .zip(shifted)
            .for_each(|(own, y)| *own = y);
        sums.add(&missing.to_vec(), weight);
    }
    (0..missing_nd.ncols())
        .map(|j| sums.passes_f_test(j))
        .collect()
}

/// Whether null tokens such as `-` are missing values in a column of this kind.
pub(in crate::data::schema) fn is_numeric(kind: &Kind) -> bool {
    matches!(kind, Kind::Number | Kind::Date(_) | Kind::Boolean)
}

/// Removes the first columns from the batch and returns which of them each row misses. Keeps the
/// alphabetically first null token with letters of each text column in `words`.
fn missing(
    batch: &mut Batch,
    numeric: &[bool],
    rule: MissingRule<'_>,
    words: &mut BTreeMap<usize, String>,
) -> Vec<Vec<bool>> {
    let mut missing = vec![vec![false; numeric.len()]; batch.rows];
    for (k, column) in batch.columns.drain(..numeric.len()).enumerate() {
        let told = cell::for_each_cell(&column, rule, |i, cell| {
            if let Cell::Missing(text) = cell
                && !numeric[k]
                && text.contains(char::is_alphabetic)
                && words.get(&k).is_none_or(|word| text < word.as_str())
            {
                words.insert(k, text.to_owned());
            }
            missing[i][k] = match cell {
                Cell::Missing(_) => true,
                Cell::Text(text) => numeric[k] && rule.is_null_token(text),
                _ => false,
            };
            Ok::<_, std::convert::Infallible>(())
        });
        match told {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }
    missing
}

/// Sums of the target columns over all rows and over the rows that miss each feature.
struct Sums {
    rows: u64,
    with_missing: u64,
    missing: Vec<u64>,
    weight: f64,
    weights: Vec<f64>,
    /// Target columns of the current row.
    row: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    /// `[features, columns]`
    of_missing: Array2<f64>,
}

impl Sums {
    fn new(features: usize, columns: usize) -> Self {
        Self {
            rows: 0,
            with_missing: 0,
            missing: vec![0; features],
            weight: 0.0,
            weights: vec![0.0; features],
            row: vec![0.0; columns],
            sums: vec![0.0; columns],
            squares: vec![0.0; columns],
            of_missing: Array2::zeros((features, columns)),
        }
    }

    /// Adds the row whose target is in `self.row`.
    fn add(&mut self, missing: &[bool], weight: f64) {
        self.rows += 1;
        self.weight += weight;
        self.with_missing += u64::from(missing.contains(&true));
        for (k, y) in self.row.iter().enumerate() {
            self.sums[k] += weight * y;
            self.squares[k] += weight * y * y;
        }
        for (j, _) in missing.iter().enumerate().filter(|(_, is)| **is) {
            self.missing[j] += 1;
            self.weights[j] += weight;
            for (k, y) in self.row.iter().enumerate() {
                self.of_missing[[j, k]] += weight * y;
            }
        }
    }

    /// Whether the indicator of feature `j` passes the F test for a target column.
    fn passes_f_test(&self, j: usize) -> bool {
        let (missing, own) = (self.missing[j], self.weights[j]);
        let others = self.weight - own;
        let are_many =
            self.rows >= MIN_ROWS && missing.min(self.rows - missing) >= MIN_ROWS_OF_EACH;
        let more = |k: usize| {
            let (sum, of_own) = (self.sums[k], self.of_missing[[j, k]]);
            let apart = of_own / own - (sum - of_own) / others;
            let between = own * others / self.weight * apart * apart;
            let all = self.squares[k] - sum * sum / self.weight;
            // A constant target leaves only rounding errors.
            let least = 1e-12 * self.squares[k];
            let by_chance = (all - between).max(0.0) / (self.rows - 2) as f64;
            all > least && between > MIN_F * by_chance
        };
        are_many && (0..self.sums.len()).any(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tells(rows: usize, is_missing: impl Fn(usize) -> bool, y: impl Fn(usize) -> f64) -> bool {
        let mut sums = Sums::new(1, 1);
        for i in 0..rows {
            sums.row[0] = y(i);
            sums.add(&[is_missing(i)], 1.0);
        }
        sums.passes_f_test(0)
    }

    #[test]
    fn indicators_need_a_shifted_target() {
        let noise = |i: usize| (i * 7919 % 1009) as f64 / 1009.0;
        let is_missing = |i: usize| i % 4 == 1;
        let shifted = move |i: usize| noise(i) + if is_missing(i) { 0.3 } else { 0.0 };
        assert!(tells(200, is_missing, shifted));
        assert!(!tells(200, is_missing, noise));
        assert!(!tells(
            200,
            |i| i < 7,
            |i| if i < 7 { 9.0 } else { noise(i) }
        ));
        assert!(!tells(19, |i| i < 9, |i| f64::from(u8::from(i < 9))));
        assert!(tells(20, |i| i < 9, |i| f64::from(u8::from(i < 9))));
        assert!(!tells(200, is_missing, |_| 1e9 + 0.1));
    }
}
