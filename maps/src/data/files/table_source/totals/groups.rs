//! Rows that are totals of groups: `North Total` or `Subtotal` behind the rows of each, or before
//! them.

use super::{Unit, half_digit};
use crate::data::{Batch, Column, schema::may_be_total};

/// Rows that say that they are totals, at most: kinds that are called so have more.
const MOST: usize = 1024;
/// Those that are, at least.
const SEVERAL: usize = 2;

/// Rows that say that they are totals, and the sums of those between them.
#[derive(Debug, Default)]
pub(super) struct Groups {
    rows: Vec<Row>,
    /// Those behind the last of them, and all that say nothing.
    below: Block,
    all: Block,
    is_full: bool,
}

#[derive(Debug)]
struct Row {
    number: u64,
    column: usize,
    text: String,
    values: Vec<f64>,
    /// Rows between it and the one before.
    above: Block,
}

/// Rows beside each other: how many, and sums of each column and of its sizes.
#[derive(Debug, Default, Clone)]
struct Block {
    rows: f64,
    sums: Vec<[f64; 2]>,
    units: Vec<Unit>,
}

impl Block {
    fn add(&mut self, values: &[f64]) {
        self.rows += 1.0;
        self.sums.resize(values.len(), [0.0; 2]);
        self.units.resize(values.len(), Unit::default());
        for ([sum, size], value) in self.sums.iter_mut().zip(values) {
            *sum += value;
            *size += value.abs();
        }
        let units = self.units.iter_mut().zip(values);
        units.for_each(|(unit, value)| unit.see(*value));
    }

    /// Whether most of the values are sums or means of its rows, several where there are.
    fn sums_up_to(&self, values: &[f64]) -> bool {
        let each = values.iter().zip(self.sums.iter().zip(&self.units));
        let told: Vec<_> = each.filter(|(_, ([_, size], _))| *size > 0.0).collect();
        let is = |(value, ([sum, size], unit)): &&(&f64, (&[f64; 2], &Unit))| {
            let off = |total: f64| (**value - total).abs();
            let mean = half_digit(**value).max(super::ROUNDING * size / self.rows);
            off(*sum) <= unit.room(**value, (self.rows, *sum, *size))
                || off(sum / self.rows) <= mean
        };
        let are = told.iter().filter(is).count();
        are >= SEVERAL.min(told.len()).max(1) && 2 * are >= told.len()
    }
}

impl Groups {
    /// Takes the numbers of a row, and the text that says that it is one of totals, by its column.
    pub(super) fn see(&mut self, number: u64, says: Option<(usize, &str)>, values: &[f64]) {
        if self.is_full {
            return;
        }
        match says {
            None => {
                self.below.add(values);
                self.all.add(values);
            }
            Some((column, text)) => self.rows.push(Row {
                number,
                column,
                text: text.to_owned(),
                values: values.to_vec(),
                above: std::mem::take(&mut self.below),
            }),
        }
        self.is_full |= self.rows.len() > MOST;
    }

    /// The first of them with its column and its row, and how many there are, if most that say so
    /// are sums or means of the rows above, of those below or of all.
    pub(super) fn found(self) -> Option<(usize, (u64, String), usize)> {
        let says = self.rows.len();
        let below = self.rows.iter().skip(1).map(|row| row.above.clone());
        let below: Vec<Block> = below.chain([self.below]).collect();
        let is_total = |(row, below): &(Row, Block)| {
            let mut blocks = [&row.above, below, &self.all].into_iter();
            blocks.any(|block| block.sums_up_to(&row.values))
        };
        // Of blocks of one row each, kinds that have the same numbers are as good.
        let are_several = self.all.rows > says as f64;
        let totals = self.rows.into_iter().zip(below).filter(is_total);
        let totals: Vec<(Row, Block)> = totals.collect();
        let count = totals.len();
        let (first, _) = totals.into_iter().next()?;
        let are = count >= SEVERAL && 2 * count >= says && are_several;
        (are && !self.is_full).then_some((first.column, (first.number, first.text), count))
    }
}

/// What says in each row of a batch that it is one of totals, and in which column.
pub(super) fn told(batch: &Batch) -> Vec<Option<(usize, &str)>> {
    let mut told = vec![None; batch.rows];
    for (k, column) in batch.columns.iter().enumerate() {
        if let Column::Text(texts) = column {
            for (told, text) in told.iter_mut().zip(texts.iter()) {
                let says = text.filter(|text| told.is_none() && may_be_total(text));
                *told = told.or(says.map(|text| (k, text)));
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of rows with what they say, if anything, and two numbers.
    fn found(rows: &[(&str, f64, f64)]) -> Option<(usize, (u64, String), usize)> {
        let mut groups = Groups::default();
        for (number, (text, one, other)) in (0..).zip(rows) {
            let says = may_be_total(text).then_some((3, *text));
            groups.see(number, says, &[*one, *other]);
        }
        groups.found()
    }

    #[test]
    fn totals_of_groups_sum_the_rows_beside_them() {
        let [a, b, c, d] = [
            ("N", 1.5, 7.0),
            ("N", 2.0, 3.0),
            ("S", 4.0, 1.0),
            ("S", 1.0, 5.0),
        ];
        let first = |row, text: &str, count| Some((3, (row, text.to_owned()), count));
        let north = ("North Total", 3.5, 10.0);
        let south = ("South Total", 5.0, 6.0);
        let all = ("Grand Total", 8.5, 16.0);
        let behind = [a, b, north, c, d, south];
        assert_eq!(found(&behind), first(2, "North Total", 2));
        assert_eq!(
            found(&[&behind[..], &[all]].concat()),
            first(2, "North Total", 3)
        );
        assert_eq!(
            found(&[north, a, b, south, c, d]),
            first(0, "North Total", 2)
        );
        let one = |text| [a, b, (text, 3.5, 10.0), c, d, (text, 5.0, 6.0)];
        for text in [
            "Subtotal",
            "TOTAL",
            "Summe",
            "Zwischensumme N",
            "N - Total",
            "Sum of N",
        ] {
            assert_eq!(found(&one(text)), first(2, text, 2), "{text}");
        }
        let means = [
            a,
            b,
            ("N Average", 1.75, 5.0),
            c,
            d,
            ("S Average", 2.5, 3.0),
        ];
        assert_eq!(found(&means), first(2, "N Average", 2));
        // One total, kinds that sum nothing up, and a group that nothing says.
        assert_eq!(found(&[a, b, north, c, d]), None);
        let kinds = [a, ("N Total", 2.0, 4.0), b, ("S Total", 1.0, 9.0), c, d];
        assert_eq!(found(&kinds), None);
        assert_eq!(
            found(&[a, b, ("N", 3.5, 10.0), c, d, ("S", 5.0, 6.0)]),
            None
        );
    }
}
