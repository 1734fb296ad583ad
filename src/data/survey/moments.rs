//! Running mean and variance of columns.

/// Welford's recurrence, column by column, on values shifted by the first row.
///
/// The shift makes the recurrence work on the spread alone: at 1e9 with spread 1 the mean itself
/// would round by 1e-7 at every row. One row at a time, the result does not depend on how rows come
/// in chunks.
#[derive(Debug)]
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
}
