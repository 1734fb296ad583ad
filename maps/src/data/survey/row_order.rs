//! Columns that rise, or fall, all along the rows: as times do, and counters.

/// Different values below which rows are sorted by a few kinds and not in the order of a time.
const FEW: u64 = 20;

/// A feature column in whose order all rows stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowOrder {
    /// The column, counted from 0.
    pub column: usize,
    /// Whether its values never fall from row to row; else they never rise.
    pub rises: bool,
}

/// Which columns rise, or fall, as far as rows were seen.
#[derive(Debug, Clone)]
pub(super) struct RowOrders(Vec<Column>);

#[derive(Debug, Clone)]
struct Column {
    order: RowOrder,
    last: f64,
    /// How many different values there were.
    values: u64,
}

impl RowOrders {
    /// Those of so many columns, before the first row.
    pub(super) fn new(columns: usize) -> Self {
        let column = |column| Column {
            order: RowOrder {
                column,
                rises: true,
            },
            last: f64::NAN,
            values: 0,
        };
        Self((0..columns).map(column).collect())
    }

    /// None is known: rows that were seen apart have no order that is known.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Takes the next row, of all columns. It costs as much as there are columns that may still be
    /// in an order, which soon are few.
    pub(super) fn see(&mut self, row: &[f64]) {
        self.0.retain_mut(|column| {
            let value = row[column.order.column];
            let rises = value > column.last;
            match column.values {
                _ if value == column.last => return true,
                0 => {}
                1 => column.order.rises = rises,
                _ if column.order.rises != rises => return false,
                _ => {}
            }
            (column.last, column.values) = (value, column.values + 1);
            true
        });
    }

    /// The columns that are in an order, by more than a few values.
    pub(super) fn finish(self) -> Vec<RowOrder> {
        let columns = self.0.into_iter();
        let told = columns.filter(|column| column.values >= FEW);
        told.map(|column| column.order).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter with gaps and ties, one that counts down, and what is no order: mixed values, few
    /// kinds, one value, and a counter that begins anew.
    #[test]
    fn counters_are_told_from_what_is_mixed_or_of_few_kinds() {
        let mut orders = RowOrders::new(6);
        for i in 0..100_u32 {
            let mixed = i.wrapping_mul(2_654_435_761) >> 8;
            let row = [i / 2 * 3, 1000 - i, mixed, i / 10, 7, i % 90];
            orders.see(&row.map(f64::from));
        }
        let found: Vec<_> = orders.clone().finish();
        let found: Vec<_> = found.iter().map(|o| (o.column, o.rises)).collect();
        assert_eq!(found, [(0, true), (1, false)]);
        orders.forget();
        assert!(orders.finish().is_empty());
    }
}
