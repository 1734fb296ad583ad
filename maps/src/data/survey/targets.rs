//! What is known of a target column after one pass.

use super::moments::Moments;
use crate::{Error, Result, store::Store};

/// One target column.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetStats {
    /// Mean.
    pub mean: f64,
    /// Population variance.
    pub variance: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Whether every value is a whole number.
    pub whole: bool,
    /// The different values, ascending, if there are at most [`Self::MOST_DISTINCT`] of them.
    pub distinct: Option<Vec<f64>>,
    /// How many rows have each of them, where that is known: sums of earlier versions do not say.
    pub counts: Option<Vec<u64>>,
    /// Mean and population variance of the natural logarithms, if all values are above 0.
    pub log: Option<(f64, f64)>,
}

impl TargetStats {
    /// So many different values are kept: enough for the classes of a classifier.
    #[doc(hidden)]
    pub const MOST_DISTINCT: usize = 1025;

    /// Whether all rows have the same value, up to rounding of f64.
    pub fn is_constant(&self) -> bool {
        super::is_constant(self.min, self.max)
    }
}

/// [`TargetStats`] in the making.
#[derive(Debug, Clone)]
pub(super) struct TargetSurvey {
    moments: Moments,
    whole: bool,
    distinct: Option<Vec<f64>>,
    counts: Option<Vec<u64>>,
    /// Of the logarithms, as long as all values have some.
    log: Option<Moments>,
}

impl Default for TargetSurvey {
    fn default() -> Self {
        Self {
            moments: Moments::new(1),
            whole: true,
            distinct: Some(Vec::new()),
            counts: Some(Vec::new()),
            log: Some(Moments::new(1)),
        }
    }
}

impl TargetSurvey {
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        // -0 and 0 are one value.
        let value = value + 0.0;
        if weight > 0.0 {
            self.moments.add(&[value], weight);
        }
        match &mut self.log {
            Some(log) if value > 0.0 && weight > 0.0 => log.add(&[value.ln()], weight),
            Some(_) if value > 0.0 => {}
            log => *log = None,
        }
        self.whole &= value.fract() == 0.0;
        self.see(value, 1);
    }

    /// Counts `value`, which so many rows have, among the different ones.
    fn see(&mut self, value: f64, rows: u64) {
        let Some(values) = &mut self.distinct else {
            return;
        };
        let found = values.binary_search_by(|other| other.total_cmp(&value));
        match (found, &mut self.counts) {
            (Ok(at), Some(counts)) => counts[at] += rows,
            (Ok(_), None) => {}
            (Err(_), _) if values.len() >= TargetStats::MOST_DISTINCT => {
                (self.distinct, self.counts) = (None, None);
            }
            (Err(at), counts) => {
                values.insert(at, value);
                counts.iter_mut().for_each(|counts| counts.insert(at, rows));
            }
        }
    }

    pub(super) fn finish(self) -> TargetStats {
        TargetStats {
            mean: self.moments.mean()[0],
            variance: self.moments.variance()[0],
            min: self.moments.min[0],
            max: self.moments.max[0],
            whole: self.whole,
            distinct: self.distinct,
            counts: self.counts,
            log: self.log.map(|log| (log.mean()[0], log.variance()[0])),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        match (&mut self.log, &other.log) {
            (Some(log), Some(other)) => log.merge(other),
            (log, _) => *log = None,
        }
        self.whole &= other.whole;
        if other.counts.is_none() {
            self.counts = None;
        }
        match &other.distinct {
            Some(values) => {
                let rows = |at: usize| other.counts.as_ref().map_or(0, |counts| counts[at]);
                let values = values.iter().enumerate();
                values.for_each(|(at, &value)| self.see(value, rows(at)));
            }
            None => (self.distinct, self.counts) = (None, None),
        }
    }

    pub(super) fn store(&self) -> Store {
        let mut store = Store::default();
        store.nest("moments", self.moments.store());
        store.set("whole", self.whole);
        if let Some(values) = &self.distinct {
            store.put_vector("distinct", values);
        }
        if let Some(counts) = &self.counts {
            let counts: Vec<f64> = counts.iter().map(|&rows| rows as f64).collect();
            store.put_vector("counts", &counts);
        }
        if let Some(log) = &self.log {
            store.nest("log", log.store());
        }
        store
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let moments = Moments::read(&store.nested("moments"))?;
        let vector = |name| {
            let has = store.has(name);
            has.then(|| Ok::<Vec<f64>, Error>(store.f64(name)?.into_iter().collect()))
                .transpose()
        };
        let (distinct, counts) = (vector("distinct")?, vector("counts")?);
        let counts: Option<Vec<u64>> =
            counts.map(|counts| counts.iter().map(|&rows| rows as u64).collect());
        let log = if store.has_property("log.rows") {
            Some(Moments::read(&store.nested("log"))?)
        } else {
            None
        };
        let ascend = |values: &Vec<f64>| values.is_sorted_by(|a, b| a < b);
        let one = |moments: &Moments| moments.columns() == 1;
        let lengths = (
            distinct.as_ref().map(Vec::len),
            counts.as_ref().map(Vec::len),
        );
        let fit = lengths.1.is_none() || lengths.0 == lengths.1;
        let is_whole = one(&moments) && log.as_ref().is_none_or(one);
        if !is_whole || !fit || !distinct.as_ref().is_none_or(ascend) {
            return Err(Error::format("the survey of a target is damaged"));
        }
        Ok(Self {
            moments,
            whole: store.get("whole")?,
            distinct,
            counts,
            log,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values in an order that goes up and down, in parts that merge and are read again, count as
    /// in one; sums without counts leave none.
    #[test]
    fn rows_of_each_value_are_counted_in_parts_as_in_one() {
        let of = |rows: std::ops::Range<u32>| {
            let mut survey = TargetSurvey::default();
            rows.for_each(|i| survey.add(f64::from(i * 7 % 5), f64::from(i % 3)));
            survey
        };
        let mut merged = of(0..13);
        merged.merge(&TargetSurvey::read(&of(13..31).store()).expect("reads"));
        assert_eq!(merged.counts, Some(vec![7, 6, 6, 6, 6]));
        assert_eq!(merged.finish().counts, of(0..31).finish().counts);
        let mut before = of(13..31);
        before.counts = None;
        let mut merged = of(0..13);
        merged.merge(&TargetSurvey::read(&before.store()).expect("reads"));
        assert_eq!(
            (merged.counts, merged.distinct.map(|v| v.len())),
            (None, Some(5))
        );
    }
}
