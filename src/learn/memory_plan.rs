//! What a fit, features or predictions take, known before a row is read.

use crate::{
    Error, Result,
    data::ChunkSource,
    device::memory_left,
    error::Remedy,
    features::MapSpec,
    flow::{RowNeeds, Run},
    learn::{Fit, choose::search::MOST_ROWS, squares::dual},
    model::LinearModel,
    text::{counted, human_bytes},
};
use std::{fmt, sync::OnceLock};

/// The memory of a piece of work, as far as the columns tell it: what is displayed is chunks,
/// parameters of the map, and what grows with the square of the features.
///
/// ```
/// use bochner::{models::{MemoryPlan, RidgeOptions}, prelude::*, features::{MapKind, MapSpec}};
/// let mut spec = MapSpec::new(MapKind::Fourier.into(), std::sync::Arc::new(Gaussian));
/// spec.features = 1000;
/// let run = bochner::Run::on(&Device::cpu());
/// let plan = MemoryPlan::of_fit(&spec, &RidgeOptions::default(), (32, 1), &run);
/// // Z'Z and a factor of it, squares of f64.
/// assert_eq!(plan.square_bytes, 16 * 1000 * 1000);
/// // 500 frequencies of 32 columns, in f64 and in f32.
/// assert_eq!(plan.map_bytes, 12 * 500 * 32);
/// // Of 64 MiB in all, chunks have what these and the program itself leave.
/// let left = u128::from(plan.within(64 << 20)?);
/// assert!(left <= (64 << 20) - 16 * 1000 * 1000 - 12 * 500 * 32 && left > 32 << 20);
/// assert!(plan.within(8 << 20).is_err());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryPlan {
    /// D, or how many landmarks.
    pub features: usize,
    /// Rows that are worked on at a time; 0 where not even 8 fit.
    pub chunk_rows: usize,
    /// Bytes that each of them takes, from the time it is read until it is done with.
    pub row_bytes: u64,
    /// Bytes of the map while it is drawn, or of a model.
    pub map_bytes: u128,
    /// Bytes of sums and of what solves for them; 0 where there are none or that is not known
    /// before.
    pub square_bytes: u128,
    /// Bytes of what is kept of the rows: a sample, or something of each.
    pub kept_bytes: u128,
    entry: u32,
    needs: RowNeeds,
    unit: &'static str,
}

impl MemoryPlan {
    /// Of a fit on the features of a map, to rows of so many feature and target columns.
    pub fn of_fit(spec: &MapSpec, fit: &dyn Fit, size: (usize, usize), run: &Run) -> Self {
        let features = spec.outputs(size.0);
        let bytes = spec.parameter_bytes(size.0);
        Self::new((features, bytes), fit.square_bytes(features), size, run)
    }

    /// Of a fit on so many landmarks, to rows of so many feature and target columns.
    pub fn of_landmarks(landmarks: usize, fit: &dyn Fit, size: (usize, usize), run: &Run) -> Self {
        // In f64 and in f32.
        let bytes = 12 * landmarks as u128 * size.0 as u128;
        Self {
            unit: "landmarks",
            ..Self::new((landmarks, bytes), fit.square_bytes(landmarks), size, run)
        }
    }

    /// Of a fit on a map with binning parts to so many rows, if that is known: it keeps their
    /// targets and the numbers of their bins. What its solver takes beside them hangs on how many
    /// bins there are; [`Run::held`] bounds that.
    pub fn of_bins(
        spec: &MapSpec,
        rows: Option<u64>,
        (columns, outputs): (usize, usize),
        run: &Run,
    ) -> Self {
        let grids = spec.grids();
        let needs = RowNeeds::read(columns + outputs)
            .matrix(&run.device, columns)
            .matrix(&run.device, spec.outputs(columns) - grids)
            .and_bytes(8 * outputs + 4 * grids);
        let rows = u128::from(rows.unwrap_or(0));
        let bytes = spec.parameter_bytes(columns) + rows * (4 * grids) as u128;
        Self {
            kept_bytes: rows * (8 * (outputs + 1)) as u128,
            unit: "grids",
            ..Self::from_needs((grids, bytes), 0, needs, run)
        }
    }

    /// Of the features of a map of rows with so many columns.
    pub fn of_features(spec: &MapSpec, columns: usize, run: &Run) -> Self {
        let bytes = spec.parameter_bytes(columns);
        let device = &run.device;
        let features = spec.outputs(columns);
        let needs = RowNeeds::read(columns)
            .matrix(device, columns)
            .matrix(device, features)
            .read_back(device, features)
            // One copy is written while another waits.
            .and_bytes(COPIES * 4 * features);
        Self::from_needs((features, bytes), 0, needs, run)
    }

    /// Of the predictions of a model whose file has so many bytes, of rows with so many target
    /// columns beside the features.
    pub fn of_predictions(model: &LinearModel, bytes: u64, targets: usize, run: &Run) -> Self {
        let (map, device) = (model.map.as_ref(), &run.device);
        let (columns, outputs) = (map.input_dim(), model.coefficients.beta_dt.ncols());
        let needs = RowNeeds::read(columns + targets)
            .matrix(device, columns)
            .matrix(device, outputs)
            .and_bytes(4 * map.scratch_columns(Some(outputs)))
            .read_back(device, outputs);
        // As it is read, and its numbers.
        let bytes = 2 * u128::from(bytes);
        Self::from_needs((map.output_dim(), bytes), 0, needs, run)
    }

    fn new(map: (usize, u128), entry: u32, (columns, targets): (usize, usize), run: &Run) -> Self {
        let device = &run.device;
        let needs = RowNeeds::read(columns + targets)
            .matrix(device, columns)
            .matrix(device, map.0)
            .and_bytes(12 * (targets + 1))
            .matrix(device, targets + 1);
        Self::from_needs(map, entry, needs, run)
    }

    fn from_needs(
        (features, map_bytes): (usize, u128),
        entry: u32,
        needs: RowNeeds,
        run: &Run,
    ) -> Self {
        Self {
            features,
            chunk_rows: needs.rows_of(run).unwrap_or(0),
            row_bytes: needs.bytes(),
            map_bytes,
            square_bytes: u128::from(entry) * (features as u128).pow(2),
            kept_bytes: 0,
            entry,
            needs,
            unit: "features",
        }
    }

    /// Errors with [`Error::HostMemory`] when the host has no room for it, and for learners that
    /// sum with [`Error::Parameter`] or [`Error::Limit`] when not even 8 rows fit into the memory
    /// of `run` or the device. Few rows of `source` may be solved in their own number instead: it
    /// is read until there are more than that takes, and rewound.
    pub fn require(&self, fit: &dyn Fit, source: &mut dyn ChunkSource, run: &Run) -> Result<()> {
        let (features, unit) = (self.features, self.unit);
        self.require_map()?;
        let what = || match unit {
            "landmarks" => format!("the factors of {features} landmarks"),
            _ => format!("the Gram matrix of {features} features"),
        };
        match memory_left::require_square(features, self.entry, what) {
            Err(_)
                if fit.solves_few_rows()
                    && few(source, |rows| dual::suits(rows, features, run)).is_some() => {}
            asked => asked.map_err(|error| self.fewer(error))?,
        }
        match self.entry {
            // Others may need less of a row.
            0 => Ok(()),
            _ => self.needs.rows_of(run).map(drop),
        }
    }

    /// Errors with [`Error::HostMemory`] when the host has no room for the map.
    pub fn require_map(&self) -> Result<()> {
        let what = || format!("a map of {} {}", self.features, self.unit);
        memory_left::require(self.map_bytes, what).map_err(|error| self.fewer(error))
    }

    /// With the remedy for what there is too much of.
    fn fewer(&self, error: Error) -> Error {
        match self.unit {
            "landmarks" => error.instead(&Remedy::FewerFeatures, Some(Remedy::FewerLandmarks)),
            _ => error,
        }
    }

    /// What is left for chunks of so many bytes in all. What the program itself has in memory
    /// counts, too, up to a third of them.
    ///
    /// Errors with [`Error::Parameter`] when 8 rows do not fit beside map, sums and solution; it
    /// says how many features would do.
    pub fn within(&self, bytes: u64) -> Result<u64> {
        let fixed = self.map_bytes + self.square_bytes + self.kept_bytes;
        let own = own(bytes);
        let left = u128::from(bytes - own).saturating_sub(fixed);
        if left >= u128::from(8 * self.row_bytes) {
            return Ok(u64::try_from(left).unwrap_or(bytes));
        }
        let human = |bytes: u128| human_bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
        let error = Error::parameter(format!(
            "{} {} need {}{}, and 8 rows of {} beside them; the memory for all is {}, {} of it for \
             the program, enough for {}",
            self.features,
            self.unit,
            human(self.map_bytes + self.square_bytes),
            match self.kept_bytes {
                0 => String::new(),
                kept => format!(", what is kept of the rows {}", human(kept)),
            },
            human_bytes(self.row_bytes),
            human_bytes(bytes),
            human_bytes(own),
            self.features_within(bytes - own)
        ))
        .help(Remedy::MoreMemory)
        .help(Remedy::FewerFeatures);
        Err(self.fewer(error))
    }

    /// Of so many bytes those that the program leaves, whose code and threads have up to a third.
    pub fn beside_program(bytes: u64) -> u64 {
        bytes - own(bytes)
    }

    /// Of so many bytes for chunks of features what [`featurize`](crate::features::featurize) has,
    /// if a [`WriteBehind`](crate::data::WriteBehind) takes its rows.
    pub fn without_copies(&self, chunks: u64) -> u64 {
        let copies = (COPIES * 4 * self.features) as u64;
        let share = 1.0 - copies as f64 / self.row_bytes.max(1) as f64;
        (chunks as f64 * share).ceil() as u64
    }

    /// As [`Self::within`], of a fit to these rows: few of them that may be solved in their own
    /// number, as in [`Self::require`], have all of it, or what their products with each other
    /// leave where not all features fit.
    pub fn of_fit_within(
        &self,
        bytes: u64,
        fit: &dyn Fit,
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<u64> {
        let left = self.within(bytes);
        if !fit.solves_few_rows() || (left.is_ok() && self.entry > 0) {
            return left;
        }
        // Who asks for no square of features is solved in the number of rows in any case.
        let suits = |rows| self.entry == 0 || dual::suits(rows, self.features, run);
        let Some(rows) = few(source, suits) else {
            return left;
        };
        let all = bytes - own(bytes);
        if dual::held_bytes(rows, self.features) <= all {
            return Ok(all);
        }
        let products = u128::from(dual::PAIR_BYTES) * u128::from(rows).pow(2);
        let fixed = products + self.map_bytes + self.kept_bytes;
        // Half of what is left is for a group of rows.
        let need = fixed + u128::from(16 * self.row_bytes);
        if need <= u128::from(all) {
            return Ok(u64::try_from(u128::from(all) - fixed).unwrap_or(all));
        }
        left.and(Err(Error::parameter(format!(
            "the products of {} with each other need {}; the memory for all is {}",
            counted(usize::try_from(rows).unwrap_or(usize::MAX), "row"),
            human_bytes(u64::try_from(need).unwrap_or(u64::MAX)),
            human_bytes(bytes)
        ))
        .help(Remedy::MoreMemory)
        .help(Remedy::ConjugateGradients)))
    }

    /// With a sample of so many rows of so many columns beside it, which is there from the survey
    /// on, twice for a while.
    pub fn with_sample(self, rows: usize, columns: usize) -> Self {
        let bytes = 2 * 8 * rows as u128 * columns as u128;
        Self {
            kept_bytes: self.kept_bytes + bytes,
            ..self
        }
    }

    /// With what a learner keeps of each of so many rows.
    pub fn with_rows(self, rows: u64, fit: &dyn Fit, outputs: usize) -> Self {
        let bytes = u128::from(rows) * fit.row_bytes(outputs) as u128;
        Self {
            kept_bytes: self.kept_bytes + bytes,
            ..self
        }
    }

    /// With rows that a learner keeps whole, of so many rows if that is known, of so many feature
    /// and target columns.
    pub fn with_kept(self, rows: Option<usize>, fit: &dyn Fit, size: (usize, usize)) -> Self {
        let bytes = u128::from(fit.kept_bytes(size, rows));
        Self {
            kept_bytes: self.kept_bytes + bytes,
            ..self
        }
    }

    /// Of a search for what such a fit takes: it has the sums of five trials, the best of each of
    /// its steps, beside the next, a factor of them, and what these are made in. It has a sample of
    /// the rows, which are so many if that is known, twice while it is gathered.
    pub fn searching(self, rows: Option<usize>, columns: usize) -> Self {
        let square = (self.features as u128).pow(2);
        let sampled = rows.unwrap_or(MOST_ROWS).min(MOST_ROWS);
        let plan = self.with_sample(sampled, columns);
        Self {
            square_bytes: u128::from(Self::SEARCH_BYTES) * square,
            kept_bytes: plan.kept_bytes + Self::SEARCHED,
            entry: Self::SEARCH_BYTES,
            ..plan
        }
    }

    /// Bytes of a search that go by nothing: distances of sampled rows, products of gradients.
    const SEARCHED: u128 = 16 << 20;
    /// Bytes a pair of features that a search has.
    const SEARCH_BYTES: u32 = 60;

    /// How many features would fit into so many bytes beside what the program has, if all but what
    /// grows with them takes nothing.
    pub fn features_within(&self, bytes: u64) -> u64 {
        // `entry D^2 + each D = bytes`, of which the positive root.
        let bytes = u128::from(bytes).saturating_sub(self.kept_bytes);
        let features = self.features.max(1) as f64;
        let each = (self.map_bytes as f64 + 8.0 * self.row_bytes as f64) / features;
        let (entry, bytes) = (f64::from(self.entry), bytes as f64);
        let root = 2.0 * bytes / (each + (each * each + 4.0 * entry * bytes).sqrt());
        // What 8 rows take beside their features is less than another feature does.
        (root as u64).saturating_sub(1)
    }
}

/// Copies of features on their way into a file: one that is written, one that waits.
const COPIES: usize = 2;
/// Values that are read at a time where rows are counted.
const LOOKED_AT: usize = 1 << 18;

/// Of so many bytes those that the program takes before it begins: its code, its threads.
fn own(bytes: u64) -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    let first = FIRST.get_or_init(|| memory_left::resident().unwrap_or(0));
    (*first).min(bytes / 3)
}

/// How many rows there are, if so few that they may be solved in their own number, as `suits` says
/// of so many. What cannot be read yet is left to who reads it.
fn few(source: &mut dyn ChunkSource, suits: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut rows, step) = (0, (LOOKED_AT / source.columns().max(1)).clamp(1, 256));
    let few = loop {
        if !suits(rows + 1) {
            break None;
        }
        match source.next_chunk(step) {
            Ok(Some(chunk)) => rows += chunk.x.nrows() as u64,
            Ok(None) | Err(_) => break Some(rows),
        }
    };
    match source.rewind() {
        Ok(()) => few,
        Err(_) => Some(rows),
    }
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |bytes: u128| human_bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
        let chunk = self.chunk_rows as u128 * u128::from(self.row_bytes);
        write!(
            f,
            "chunks of {} rows, {} a row, {}; map {}",
            self.chunk_rows,
            bytes(u128::from(self.row_bytes)),
            bytes(chunk),
            bytes(self.map_bytes)
        )?;
        if self.square_bytes > 0 {
            write!(f, "; sums and solution {}", bytes(self.square_bytes))?;
        }
        if self.kept_bytes > 0 {
            write!(f, "; of the rows {}", bytes(self.kept_bytes))?;
        }
        let all = chunk + self.map_bytes + self.square_bytes + self.kept_bytes;
        write!(f, "; at most {} in all", bytes(all))
    }
}

#[cfg(test)]
mod tests;
