//! A survey of some of the rows, which merges with those of the others.

use super::{CHUNK_VALUES, Survey, moments::Moments, sample::Reservoir, targets::TargetSurvey};
use crate::{
    Error, Result,
    data::{ChunkSource, KeptRows, next_checked},
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
/// let mut all = SurveyPart::of(&mut source(0, 30)?, 0, 10, 7)?;
/// let rest = SurveyPart::of(&mut source(30, 90)?, 30, 10, 7)?;
/// all.merge(&SurveyPart::from_bytes(&rest.to_bytes()?)?)?;
/// let (parts, whole) = (all.finish()?, Survey::of(&mut source(0, 90)?, 10, 7)?);
/// assert_eq!(parts.sample, whole.sample);
/// assert!((parts.variance[1] - whole.variance[1]).abs() < 1e-12);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SurveyPart {
    rows: u64,
    names: Option<Vec<String>>,
    features: Moments,
    reservoir: Reservoir,
    targets: Vec<TargetSurvey>,
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
    /// `sample_rows` and `seed` are those of all parts, as [`Survey::of`] takes them.
    ///
    /// Errors as [`Survey::of`] does, but for a variance beyond f64 and weights that are all 0,
    /// which [`Self::finish`] reports.
    pub fn of(
        source: &mut dyn ChunkSource,
        first_row: u64,
        sample_rows: usize,
        seed: u64,
    ) -> Result<Self> {
        Self::watched(source, first_row, sample_rows, seed, &|_| {})
    }

    /// As [`Self::of`]; `hear` gets [`Step::Survey`] after each chunk.
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
            deciding: (look.deciding > 0)
                .then(|| KeptRows::new(look.deciding, (columns, source.targets()))),
        };
        let groups = (look.deciding > 0).then(|| source.groups()).flatten();
        let mut row = vec![0.0; columns];
        source.rewind()?;
        let rows = (CHUNK_VALUES / columns.max(1)).max(1);
        while let Some(chunk) = next_checked(source, rows, part.rows as usize)? {
            if let Some(deciding) = &mut part.deciding {
                let groups = groups
                    .as_ref()
                    .and_then(|all| all.get(part.rows as usize..));
                deciding.look_at_groups(&chunk, groups);
            }
            for i in 0..chunk.x.nrows() {
                let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
                for (survey, &value) in part.targets.iter_mut().zip(chunk.y.row(i)) {
                    survey.add(value, weight);
                }
                if weight > 0.0 {
                    chunk.x.copy_row(i, &mut row);
                    let index = first_row + part.rows + i as u64;
                    part.reservoir.offer(index, &row);
                    part.features.add(&row, weight);
                }
            }
            part.rows += chunk.x.nrows() as u64;
            hear(Step::Survey(part.rows));
        }
        source.rewind()?;
        if part.rows == 0 {
            return Err(Error::shape("the data has no rows; give at least one"));
        }
        Ok(part)
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
        self.reservoir.merge(&other.reservoir)?;
        self.features.merge(&other.features);
        for (target, other) in self.targets.iter_mut().zip(&other.targets) {
            target.merge(other);
        }
        self.rows += other.rows;
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
            min: self.features.min,
            max: self.features.max,
            sample,
            sample_index,
            targets: self.targets.into_iter().map(TargetSurvey::finish).collect(),
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
            features,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;
    use ndarray::{Array2, s};

    fn numbers(rows: usize) -> (Array2<f64>, Array2<f64>, Vec<f64>) {
        let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
        let x = Array2::from_shape_fn((rows, 4), |(i, j)| match j {
            // Large values with a small spread, a binary column, and one that is constant.
            0 => 1e9 + wave(i, j),
            1 => f64::from(i % 3 == 0),
            2 => -4.5,
            _ => 3.0 * wave(i, j) - 1.0,
        });
        let y = Array2::from_shape_fn((rows, 2), |(i, j)| match j {
            0 => (i % 5) as f64,
            _ => wave(i, 9) * 1e3,
        });
        let weights = (0..rows).map(|i| (i % 4) as f64 / 2.0).collect();
        (x, y, weights)
    }

    /// Parts in another order, by way of bytes, are one pass: bits of the sample, ends and classes,
    /// and moments up to rounding.
    #[test]
    fn parts_in_any_order_are_one_pass() {
        let (x, y, weights) = numbers(403);
        let source = |from: usize, to: usize, weighted: bool| {
            let rows = MemorySource::new(
                x.slice(s![from..to, ..]),
                Some(y.slice(s![from..to, ..]).to_owned()),
            );
            let rows = rows.expect("rows");
            if weighted {
                rows.with_weights(weights[from..to].to_vec())
                    .expect("weights")
            } else {
                rows
            }
        };
        // The third has one row, of weight 0 where there are weights.
        let cuts = [(250, 403), (0, 100), (100, 101), (101, 250)];
        for weighted in [false, true] {
            let whole = Survey::of(&mut source(0, 403, weighted), 50, 3).expect("surveys");
            let mut parts = cuts.map(|(from, to)| {
                let mut part = source(from, to, weighted);
                let part = SurveyPart::of(&mut part, from as u64, 50, 3).expect("surveys");
                SurveyPart::from_bytes(&part.to_bytes().expect("writes")).expect("reads")
            });
            let (first, others) = parts.split_first_mut().expect("four");
            for other in others {
                first.merge(other).expect("merges");
            }
            let merged = first.clone().finish().expect("rows");
            assert_eq!(merged.rows, 403);
            assert_eq!(merged.sample, whole.sample);
            assert_eq!(merged.sample_index, whole.sample_index);
            assert_eq!((&merged.min, &merged.max), (&whole.min, &whole.max));
            assert_eq!(merged.binary, [false, true, false, false]);
            assert_eq!(merged.binary, whole.binary);
            let close = |a: f64, b: f64, spread: f64| {
                assert!((a - b).abs() <= 1e-12 * spread, "{a} {b} {weighted}");
            };
            for j in 0..4 {
                close(
                    merged.variance[j],
                    whole.variance[j],
                    whole.variance[j].max(1e-30),
                );
                close(merged.mean[j], whole.mean[j], whole.mean[j].abs());
            }
            for (merged, whole) in merged.targets.iter().zip(&whole.targets) {
                close(merged.variance, whole.variance, whole.variance);
                close(merged.mean, whole.mean, whole.variance.sqrt());
                assert_eq!((merged.min, merged.max), (whole.min, whole.max));
                assert_eq!(merged.whole, whole.whole);
                assert_eq!(merged.distinct, whole.distinct);
            }
        }
    }

    /// Two ends in one part and a third value in another are three values.
    #[test]
    fn a_third_value_in_another_part_is_seen() {
        let part = |values: &[f64], first| {
            let x = Array2::from_shape_fn((values.len(), 1), |(i, _)| values[i]);
            let mut rows = MemorySource::new(x, None).expect("rows");
            SurveyPart::of(&mut rows, first, 0, 0).expect("surveys")
        };
        for (a, b, binary) in [
            (vec![0.0, 1.0], vec![0.0, 1.0, 1.0], true),
            (vec![0.0, 1.0], vec![1.0], true),
            (vec![0.0], vec![1.0], true),
            (vec![0.0, 1.0], vec![2.0], false),
            (vec![0.0, 2.0], vec![1.0], false),
            (vec![0.0, 1.0], vec![2.0, 3.0], false),
            (vec![0.0], vec![0.0], false),
            (vec![0.0], vec![1.0, 2.0, 3.0], false),
        ] {
            let mut all = part(&a, 0);
            all.merge(&part(&b, 10)).expect("merges");
            assert_eq!(all.finish().expect("rows").binary, [binary], "{a:?} {b:?}");
        }
    }

    /// One fraction among whole numbers, and one value too many, are seen in whichever part.
    #[test]
    fn targets_of_parts_are_those_of_all() {
        let part = |values: Vec<f64>| {
            let y = Array2::from_shape_fn((values.len(), 1), |(i, _)| values[i]);
            let x = Array2::<f64>::zeros((values.len(), 1));
            let mut rows = MemorySource::new(x, Some(y)).expect("rows");
            SurveyPart::of(&mut rows, 0, 0, 0).expect("surveys")
        };
        let whole = |from: usize, to: usize| (from..to).map(|i| i as f64).collect::<Vec<_>>();
        for (a, b, is_whole, distinct) in [
            (vec![2.0, 1.0], vec![3.0, 1.0], true, Some(3)),
            (vec![2.0, 1.0], vec![0.5], false, Some(3)),
            (vec![0.5], vec![2.0, 1.0], false, Some(3)),
            (whole(0, 1000), whole(900, 1025), true, Some(1025)),
            (whole(0, 1000), whole(900, 1026), true, None),
            (whole(0, 1026), vec![1.0], true, None),
            (vec![1.0], whole(0, 1026), true, None),
        ] {
            let mut all = part(a);
            all.merge(&part(b)).expect("merges");
            let target = &all.finish().expect("rows").targets[0];
            assert_eq!(
                (target.whole, target.distinct.as_ref().map(Vec::len)),
                (is_whole, distinct)
            );
        }
    }

    #[test]
    fn parts_of_other_datasets_are_refused() {
        let (x, y, _) = numbers(20);
        let part = |columns: usize, targets: bool, rows: usize, seed| {
            let y = targets.then(|| y.clone());
            let mut source = MemorySource::new(x.slice(s![.., ..columns]), y).expect("rows");
            SurveyPart::of(&mut source, 0, rows, seed).expect("surveys")
        };
        let mut base = part(4, true, 5, 0);
        for (other, says) in [
            (part(3, true, 5, 0), "columns"),
            (part(4, false, 5, 0), "columns"),
            (part(4, true, 6, 0), "sample"),
            (part(4, true, 5, 1), "sample"),
        ] {
            let error = base.merge(&other).expect_err("refused").to_string();
            assert!(error.contains(says), "{error}");
        }
        let bytes = base.to_bytes().expect("writes");
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            assert!(SurveyPart::from_bytes(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn rows_of_weight_zero_alone_are_refused_at_the_end() {
        let (x, _, _) = numbers(6);
        let part = |from: usize, to: usize, weight| {
            let rows = MemorySource::new(x.slice(s![from..to, ..]), None).expect("rows");
            let mut rows = rows.with_weights(vec![weight; to - from]).expect("weights");
            let part = SurveyPart::of(&mut rows, from as u64, 4, 0).expect("surveys");
            SurveyPart::from_bytes(&part.to_bytes().expect("writes")).expect("reads")
        };
        let mut all = part(0, 3, 0.0);
        assert!(all.clone().finish().is_err());
        all.merge(&part(3, 6, 2.0)).expect("merges");
        let survey = all.finish().expect("rows");
        assert_eq!((survey.rows, survey.sample_index), (6, vec![3, 4, 5]));
        assert_eq!(
            survey.min[3],
            x.slice(s![3.., 3]).iter().copied().fold(f64::MAX, f64::min)
        );
    }
}
