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
    /// Mean and population variance of the natural logarithms, if all values are above 0.
    pub log: Option<(f64, f64)>,
}

impl TargetStats {
    /// So many different values are kept: enough for the classes of a classifier.
    pub const MOST_DISTINCT: usize = 1025;
}

/// [`TargetStats`] in the making.
#[derive(Debug, Clone)]
pub(super) struct TargetSurvey {
    moments: Moments,
    whole: bool,
    distinct: Option<Vec<f64>>,
    /// Of the logarithms, as long as all values have some.
    log: Option<Moments>,
}

impl Default for TargetSurvey {
    fn default() -> Self {
        Self {
            moments: Moments::new(1),
            whole: true,
            distinct: Some(Vec::new()),
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
        self.see(value);
    }

    /// Counts `value` among the different ones.
    fn see(&mut self, value: f64) {
        if let Some(values) = &mut self.distinct
            && let Err(at) = values.binary_search_by(|other| other.total_cmp(&value))
        {
            if values.len() < TargetStats::MOST_DISTINCT {
                values.insert(at, value);
            } else {
                self.distinct = None;
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
        match &other.distinct {
            Some(values) => values.iter().for_each(|&value| self.see(value)),
            None => self.distinct = None,
        }
    }

    pub(super) fn store(&self) -> Store {
        let mut store = Store::default();
        store.nest("moments", self.moments.store());
        store.set("whole", self.whole);
        if let Some(values) = &self.distinct {
            store.put_vector("distinct", values);
        }
        if let Some(log) = &self.log {
            store.nest("log", log.store());
        }
        store
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let moments = Moments::read(&store.nested("moments"))?;
        let distinct = if store.has("distinct") {
            Some(store.f64("distinct")?.into_iter().collect::<Vec<_>>())
        } else {
            None
        };
        let log = if store.has_property("log.rows") {
            Some(Moments::read(&store.nested("log"))?)
        } else {
            None
        };
        let ascend = |values: &Vec<f64>| values.is_sorted_by(|a, b| a < b);
        let one = |moments: &Moments| moments.columns() == 1;
        if !one(&moments) || !log.as_ref().is_none_or(one) || !distinct.as_ref().is_none_or(ascend)
        {
            return Err(Error::format("the survey of a target is damaged"));
        }
        Ok(Self {
            moments,
            whole: store.get("whole")?,
            distinct,
            log,
        })
    }
}
