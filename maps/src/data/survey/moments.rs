//! Running mean and variance of columns.

use crate::{Error, Result, store::Store};
use ndarray::Array2;

/// Welford's recurrence, column by column, on values shifted by the first row.
///
/// The shift makes the recurrence work on the spread alone: at 1e9 with spread 1 the mean itself
/// would round by 1e-7 at every row. One row at a time, the result does not depend on how rows come
/// in chunks.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    rows: u64,
    /// What they count for together.
    weight: f64,
    shift: Vec<f64>,
    /// Mean of the shifted values.
    mean: Vec<f64>,
    /// Sum of squared distances from the mean.
    squares: Vec<f64>,
    pub(super) min: Vec<f64>,
    pub(super) max: Vec<f64>,
    /// Whether more than two values were there.
    many: Vec<bool>,
}

impl Moments {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            rows: 0,
            weight: 0.0,
            shift: Vec::new(),
            mean: vec![0.0; columns],
            squares: vec![0.0; columns],
            min: vec![f64::INFINITY; columns],
            max: vec![f64::NEG_INFINITY; columns],
            many: vec![false; columns],
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.mean.len()
    }

    /// Adds one row of all columns, which counts for `weight`, above 0 (West 1979).
    pub(super) fn add(&mut self, row: &[f64], weight: f64) {
        if self.rows == 0 {
            self.shift = row.to_vec();
        }
        self.rows += 1;
        self.weight += weight;
        let share = weight / self.weight;
        let state = self.mean.iter_mut().zip(&mut self.squares);
        for ((&value, &shift), (mean, squares)) in row.iter().zip(&self.shift).zip(state) {
            let shifted = value - shift;
            let distance = shifted - *mean;
            *mean += distance * share;
            *squares += weight * distance * (shifted - *mean);
        }
        let ends = self.min.iter_mut().zip(&mut self.max);
        for ((&value, many), (min, max)) in row.iter().zip(&mut self.many).zip(ends) {
            // A third value lies between the two there were, or is a new end.
            *many |= (*min < *max) & (value != *min) & (value != *max);
            *min = if value < *min { value } else { *min };
            *max = if value > *max { value } else { *max };
        }
    }

    /// Whether a column took two values, exactly.
    pub(super) fn binary(&self) -> Vec<bool> {
        let ends = self.min.iter().zip(&self.max);
        let vary = ends.map(|(min, max)| min < max);
        vary.zip(&self.many)
            .map(|(vary, many)| vary && !many)
            .collect()
    }

    pub(super) fn mean(&self) -> Vec<f64> {
        self.shift
            .iter()
            .zip(&self.mean)
            .map(|(shift, mean)| shift + mean)
            .collect()
    }

    pub(super) fn variance(&self) -> Vec<f64> {
        self.squares
            .iter()
            .map(|squares| squares / self.weight)
            .collect()
    }

    /// Adds other rows of as many columns (Chan, Golub & LeVeque 1979): with weights a and b and
    /// means that are `apart`, the squares gain apart^2 a b / (a + b).
    pub(super) fn merge(&mut self, other: &Self) {
        if other.rows == 0 {
            return;
        }
        if self.rows == 0 {
            self.clone_from(other);
            return;
        }
        let weight = self.weight + other.weight;
        let share = other.weight / weight;
        for j in 0..self.columns() {
            // Both means are small beside the shifts, which are rows of the data and subtract
            // without rounding where the spread is small.
            let apart = (other.shift[j] - self.shift[j]) + other.mean[j] - self.mean[j];
            self.mean[j] += apart * share;
            self.squares[j] += other.squares[j] + apart * apart * self.weight * share;
            let (min, max) = (self.min[j], self.max[j]);
            // Whether a value is neither of the two ends that all rows have together.
            let ends = [min.min(other.min[j]), max.max(other.max[j])];
            let inside = |value| !ends.contains(&value);
            let third = [min, max, other.min[j], other.max[j]]
                .into_iter()
                .any(inside);
            self.many[j] |= other.many[j] | third;
            [self.min[j], self.max[j]] = ends;
        }
        self.rows = self.rows.saturating_add(other.rows);
        self.weight = weight;
    }

    pub(super) fn store(&self) -> Store {
        let mut store = Store::default();
        store.set("rows", self.rows);
        store.set("weight", self.weight);
        // It says how many columns there are, too.
        store.put_vector("mean", &self.mean);
        if self.rows > 0 {
            for (name, vector) in [
                ("shift", &self.shift),
                ("squares", &self.squares),
                ("min", &self.min),
                ("max", &self.max),
            ] {
                store.put_vector(name, vector);
            }
            let many: Vec<u32> = self.many.iter().map(|&many| many.into()).collect();
            store.put_u32("many", ndarray::aview1(&many).insert_axis(ndarray::Axis(0)));
        }
        store
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let mean: Vec<f64> = store.f64("mean")?.into_iter().collect();
        let columns = mean.len();
        let rows: u64 = store.get("rows")?;
        if rows == 0 {
            return Ok(Self::new(columns));
        }
        let vector = |name: &str| store.vector(name, columns).map(|v| v.to_vec());
        let many: Array2<u32> = store.u32("many")?;
        if many.dim() != (1, columns) {
            return Err(Error::format(format!(
                "\"many\" is not of {columns} columns"
            )));
        }
        Ok(Self {
            rows,
            weight: store.get("weight")?,
            shift: vector("shift")?,
            mean,
            squares: vector("squares")?,
            min: vector("min")?,
            max: vector("max")?,
            many: many.iter().map(|&many| many != 0).collect(),
        })
    }
}
