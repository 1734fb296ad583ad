//! A survey of some of the rows, which merges with those of the others.

use super::{
    CHUNK_VALUES, Survey, moments::Moments, row_order::RowOrders, sample::Reservoir,
    targets::TargetSurvey,
};
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, KeptRows, watch_chunks},
    progress::Step,
    store::Store,
};

const KIND: &str = "survey";
const DECIDING: &str = "deciding";

/// What is known of some of the rows of a dataset: parts merge, in any order, and
/// [`Self::finish`] gives the [`Survey`] of all.
///
/// Where the parts are those of one file, with the numbers that its rows have there, the survey
/// takes the same sample as one pass over the file, finds the same ends and classes, and means and
/// variances up to rounding (Chan, Golub & LeVeque 1979, section 2).
///
/// ```
/// use bochner::data::{MemorySource, Survey, SurveyPart};
/// use ndarray::{Array2, s};
/// let x = Array2::from_shape_fn((90, 2), |(i, j)| (i * (j + 3) % 17) as f64);
/// let mut source = |from, to| MemorySource::new(x.slice(s![from..to, ..]), None);
/// let mut all = SurveyPart::new(&mut source(0, 30)?, 0, 10, 7)?;
/// let rest = SurveyPart::new(&mut source(30, 90)?, 30, 10, 7)?;
/// all.merge(&SurveyPart::from_bytes(&rest.to_bytes()?)?)?;
/// let (parts, whole) = (all.finish()?, Survey::new(&mut source(0, 90)?, 10, 7)?);
/// assert_eq!(parts.sample, whole.sample);
/// assert!((parts.variance[1] - whole.variance[1]).abs() < 1e-12);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct SurveyPart {
    rows: u64,
    names: Option<Vec<String>>,
    features: Moments,
    reservoir: Reservoir,
    targets: Vec<TargetSurvey>,
    row_orders: RowOrders,
    /// Rows that decide on preparation and bandwidth, if any are to be kept.
    deciding: Option<KeptRows>,
}

/// What is kept of rows beside their moments: the same of all parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) sample_rows: usize,
    /// Rows that decide, 0 for none.
    pub(super) deciding: usize,
    pub(super) seed: u64,
}

impl SurveyPart {
    /// Reads `source` once from its first row on and rewinds it. Its rows have the numbers
    /// `first_row` and so on among all: no two parts may share one, or the sample has a row twice.
    /// `sample_rows` and `seed` are those of all parts, as [`Survey::new`] takes them.
    ///
    /// Errors as [`Survey::new`] does, but for a variance beyond f64 and weights that are all 0,
    /// which [`Self::finish`] reports.
    pub fn new(
        source: &mut dyn ChunkSource,
        first_row: u64,
        sample_rows: usize,
        seed: u64,
    ) -> Result<Self> {
        Self::watched(source, first_row, sample_rows, seed, &|_| {})
    }

    /// As [`Self::new`]; `hear` gets [`Step::Survey`] after each chunk.
    pub fn watched(
        source: &mut dyn ChunkSource,
        first_row: u64,
        sample_rows: usize,
        seed: u64,
        hear: &dyn Fn(Step),
    ) -> Result<Self> {
        let look = Look {
            sample_rows,
            deciding: 0,
            seed,
        };
        Self::looking(source, first_row, look, hear)
    }

    pub(super) fn looking(
        source: &mut dyn ChunkSource,
        first_row: u64,
        look: Look,
        hear: &dyn Fn(Step),
    ) -> Result<Self> {
        let columns = source.columns();
        let names = source.column_names();
        let mut part = Self {
            rows: 0,
            names: names.filter(|names| names.len() == columns),
            features: Moments::new(columns),
            reservoir: Reservoir::new(columns, look.sample_rows, look.seed),
            targets: vec![TargetSurvey::default(); source.targets()],
            row_orders: RowOrders::new(columns),
            deciding: (look.deciding > 0)
                .then(|| KeptRows::new(look.deciding, (columns, source.targets()))),
        };
        let groups = (look.deciding > 0).then(|| source.groups()).flatten();
        let rows = (CHUNK_VALUES / columns.max(1)).max(1);
        let mut row = vec![0.0; columns];
        // Chunks come from a thread that reads ahead: reading and what is made of rows take about
        // as long as each other.
        let done = |rows| hear(Step::Survey(rows));
        watch_chunks(source, rows, done, |chunk| {
            part.look_at((&chunk, groups.as_deref()), first_row, &mut row);
            Ok(())
        })?;
        source.rewind()?;
        if part.rows == 0 {
            return Err(Error::shape("the data has no rows; give at least one"));
        }
        Ok(part)
    }

    /// Looks at the rows of a chunk, of all `groups` those that begin where it does; `row` is room
    /// for one.
    fn look_at(
        &mut self,
        (chunk, groups): (&Chunk, Option<&[u32]>),
        first_row: u64,
        row: &mut [f64],
    ) {
        if let Some(deciding) = &mut self.deciding {
            let groups = groups.and_then(|all| all.get(self.rows as usize..));
            deciding.look_at_groups(chunk, groups);
        }
        for i in 0..chunk.x.nrows() {
            let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
            for (survey, &value) in self.targets.iter_mut().zip(chunk.y.row(i)) {
                survey.add(value, weight);
            }
            if weight > 0.0 {
                chunk.x.copy_row(i, row);
                self.reservoir.offer(first_row + self.rows + i as u64, row);
                self.features.add(row, weight);
                self.row_orders.see(row);
            }
        }
        self.rows += chunk.x.nrows() as u64;
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds what is known of other rows. Errors with [`Error::Shape`] when they have other columns,
    /// targets or column names, or were sampled in another way.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |part: &Self| (part.features.columns(), part.targets.len());
        if shape(self) != shape(other) {
            return Err(Error::shape(format!(
                "parts of a survey have {:?} and {:?} feature and target columns; survey rows of \
                 one dataset",
                shape(self),
                shape(other)
            )));
        }
        if self.names != other.names {
            let problem = "parts of a survey have other column names; survey rows of one dataset";
            return Err(Error::shape(problem));
        }
        match (&mut self.deciding, &other.deciding) {
            (None, None) => {}
            (Some(own), Some(other)) => own.merge(other)?,
            _ => {
                let problem = "some parts of a survey keep rows that decide and others do not; \
                               give all the same";
                return Err(Error::shape(problem));
            }
        }
        let Some(rows) = self.rows.checked_add(other.rows) else {
            return Err(Error::format(
                "parts of a survey have too many rows together",
            ));
        };
        self.reservoir.merge(&other.reservoir)?;
        self.features.merge(&other.features);
        for (target, other) in self.targets.iter_mut().zip(&other.targets) {
            target.merge(other);
        }
        self.row_orders.forget();
        self.rows = rows;
        Ok(())
    }

    /// The survey of all rows that were merged.
    ///
    /// Errors with [`Error::Data`] if all of them have weight 0, and with [`Error::Numerical`] if a
    /// column's variance exceeds f64.
    pub fn finish(self) -> Result<Survey> {
        if self.features.rows() == 0 {
            return Err(Error::data("weights", "all rows have weight 0"));
        }
        let (sample, sample_index) = self.reservoir.finish()?;
        let survey = Survey {
            rows: self.rows,
            mean: self.features.mean(),
            variance: self.features.variance(),
            binary: self.features.binary(),
            of_words: vec![false; self.features.mean().len()],
            names: self.names,
            table: None,
            min: self.features.min,
            max: self.features.max,
            sample,
            sample_index,
            targets: self.targets.into_iter().map(TargetSurvey::finish).collect(),
            row_orders: self.row_orders.finish(),
            deciding: self.deciding,
            rescale: None,
        };
        survey.check()?;
        Ok(survey)
    }

    /// As bytes, to send to where parts are merged.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut store = Store::default();
        store.set("rows", self.rows);
        if let Some(names) = &self.names {
            let names = serde_json::to_string(names).map_err(|e| Error::format(e.to_string()))?;
            store.set("names", names);
        }
        store.nest("features", self.features.store());
        store.nest("sample", self.reservoir.store());
        store.set("targets", self.targets.len());
        for (k, target) in self.targets.iter().enumerate() {
            store.nest(&format!("target{k}"), target.store());
        }
        if let Some(deciding) = &self.deciding {
            let mut inner = Store::default();
            deciding.write(&mut inner);
            store.nest(DECIDING, inner);
            store.set(DECIDING, true);
        }
        store.to_bytes(KIND)
    }

    /// What [`Self::to_bytes`] gave. Errors with [`Error::Format`] on other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let store = Store::from_bytes(bytes, KIND)?;
        let features = Moments::read(&store.nested("features"))?;
        let columns = features.columns();
        let names: Option<Vec<String>> = if store.has_property("names") {
            serde_json::from_str(store.text("names")?)
                .map(Some)
                .map_err(|e| Error::format(e.to_string()))?
        } else {
            None
        };
        if names.as_ref().is_some_and(|names| names.len() != columns) {
            return Err(Error::format(format!(
                "names of other than {columns} columns"
            )));
        }
        let targets: usize = store.get("targets")?;
        let targets =
            (0..targets).map(|k| TargetSurvey::read(&store.nested(&format!("target{k}"))));
        let deciding = if store.has_property(DECIDING) {
            Some(KeptRows::read(&store.nested(DECIDING))?)
        } else {
            None
        };
        Ok(Self {
            deciding,
            rows: store.get("rows")?,
            names,
            reservoir: Reservoir::read(&store.nested("sample"), columns)?,
            targets: targets.collect::<Result<_>>()?,
            row_orders: RowOrders::new(0),
            features,
        })
    }
}

#[cfg(test)]
mod tests;
