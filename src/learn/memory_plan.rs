//! Estimates the memory of a fit, of computing features or of predictions before a row is read.

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

/// Memory estimate of one task, derived from its columns. The display lists the chunks, the
/// parameters of the map, and the parts that grow with the square of the features.
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
    /// Number of features D, or of landmarks.
    pub features: usize,
    /// Rows per chunk; 0 if not even 8 fit.
    pub chunk_rows: usize,
    /// Bytes per row of a chunk, from reading until the row is processed.
    pub row_bytes: u64,
    /// Bytes of the map while it is drawn, or of a model.
    pub map_bytes: u128,
    /// Bytes of the sums and of their solver; 0 if there are none, or if the size depends on the
    /// rows.
    pub square_bytes: u128,
    /// Bytes kept of the rows: a sample, or values for each row.
    pub kept_bytes: u128,
    entry: u32,
    needs: RowNeeds,
    unit: &'static str,
}

impl MemoryPlan {
    /// Plans a fit on the features of a map; `size` is the number of feature and target columns.
    pub fn of_fit(spec: &MapSpec, fit: &dyn Fit, size: (usize, usize), run: &Run) -> Self {
        let features = spec.outputs(size.0);
        let bytes = spec.parameter_bytes(size.0);
        Self::new((features, bytes), fit.square_bytes(features), size, run)
    }

    /// Plans a fit on `landmarks` landmarks; `size` is the number of feature and target columns.
    pub fn of_landmarks(landmarks: usize, fit: &dyn Fit, size: (usize, usize), run: &Run) -> Self {
        // Landmarks are stored in f64 and in f32.
        let bytes = 12 * landmarks as u128 * size.0 as u128;
        Self {
            unit: "landmarks",
            ..Self::new((landmarks, bytes), fit.square_bytes(landmarks), size, run)
        }
    }

    /// Plans a fit on a map with binning parts, which keeps the targets and bin numbers of all
    /// `rows` (`None` if unknown). The memory of the solver depends on the number of bins and is
    /// not included; [`Run::held`] bounds it.
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

    /// Plans the computation of features of rows with `columns` columns.
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

    /// Plans the predictions of a model whose file has `bytes` bytes, for rows with `targets`
    /// target columns in addition to the features.
    pub fn of_predictions(model: &LinearModel, bytes: u64, targets: usize, run: &Run) -> Self {
        let (map, device) = (model.map.as_ref(), &run.device);
        let (columns, outputs) = (map.input_dim(), model.coefficients.beta_dt.ncols());
        let needs = RowNeeds::read(columns + targets)
            .matrix(device, columns)
            .matrix(device, outputs)
            .and_bytes(4 * map.scratch_columns(Some(outputs)))
            .read_back(device, outputs);
        // The contents of the file, and the numbers parsed from it.
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

    /// Errors with [`Error::HostMemory`] if the host has too little memory, and for learners that
    /// sum with [`Error::Parameter`] or [`Error::Limit`] if not even 8 rows fit into the memory of
    /// `run` or the device. A source with fewer rows than features may be solved in the dual
    /// instead: rows are counted until the dual no longer applies, then `source` is rewound.
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
            // Learners without such sums may need less memory per row.
            0 => Ok(()),
            _ => self.needs.rows_of(run).map(drop),
        }
    }

    /// Errors with [`Error::HostMemory`] if the host has too little memory for the map.
    pub fn require_map(&self) -> Result<()> {
        let what = || format!("a map of {} {}", self.features, self.unit);
        memory_left::require(self.map_bytes, what).map_err(|error| self.fewer(error))
    }

    /// Replaces the remedy of the error by one that fits the unit of the plan.
    fn fewer(&self, error: Error) -> Error {
        match self.unit {
            "landmarks" => error.instead(&Remedy::FewerFeatures, Some(Remedy::FewerLandmarks)),
            _ => error,
        }
    }

    /// Bytes available for chunks if the whole process may use `bytes`. The memory that the program
    /// uses already is subtracted, up to a third of `bytes`.
    ///
    /// Errors with [`Error::Parameter`] if map, sums and solver leave no room for 8 rows; the
    /// message gives the number of features that would fit.
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

    /// Bytes left of `bytes` after the memory of the program itself, which is counted up to a
    /// third.
    pub fn beside_program(bytes: u64) -> u64 {
        bytes - own(bytes)
    }

    /// Bytes left for [`featurize`](crate::features::featurize) of `chunks` bytes if a
    /// [`WriteBehind`](crate::data::WriteBehind) holds copies of the features.
    pub fn without_copies(&self, chunks: u64) -> u64 {
        let copies = (COPIES * 4 * self.features) as u64;
        let share = 1.0 - copies as f64 / self.row_bytes.max(1) as f64;
        (chunks as f64 * share).ceil() as u64
    }

    /// As [`Self::within`], for a fit to the rows of `source`. If these can be solved in the dual,
    /// as in [`Self::require`], the chunks get all of the memory, or the rest after the products of
    /// the rows if the features of all rows do not fit.
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
        // A plan without sums of feature pairs is solved in the dual for any number of rows.
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
        // The other half of the remaining memory is used for a group of rows.
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

    /// Adds a sample of `rows` rows, which is held from the survey on, and twice while it is
    /// copied.
    pub fn with_sample(self, rows: usize, columns: usize) -> Self {
        let bytes = 2 * 8 * rows as u128 * columns as u128;
        Self {
            kept_bytes: self.kept_bytes + bytes,
            ..self
        }
    }

    /// Adds the values that a learner keeps of each of `rows` rows.
    pub fn with_rows(self, rows: u64, fit: &dyn Fit, outputs: usize) -> Self {
        let bytes = u128::from(rows) * fit.row_bytes(outputs) as u128;
        Self {
            kept_bytes: self.kept_bytes + bytes,
            ..self
        }
    }

    /// Adds the rows that a learner keeps whole, out of `rows` (`None` if unknown); `size` is the
    /// number of feature and target columns.
    pub fn with_kept(self, rows: Option<usize>, fit: &dyn Fit, size: (usize, usize)) -> Self {
        let bytes = u128::from(fit.kept_bytes(size, rows));
        Self {
            kept_bytes: self.kept_bytes + bytes,
            ..self
        }
    }

    /// Plans a search on this fit. It holds the sums of five trials, the best trial of each step,
    /// the next trial, a factor and its workspace. It also holds a sample of the `rows` rows
    /// (`None` if unknown), twice while the sample is gathered.
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

    /// Bytes of a search that depend neither on rows nor on features: distances of sampled rows,
    /// products of gradients.
    const SEARCHED: u128 = 16 << 20;
    /// Bytes of a search per pair of features.
    const SEARCH_BYTES: u32 = 60;

    /// Upper bound on the number of features for `bytes` of memory, ignoring fixed costs.
    pub fn features_within(&self, bytes: u64) -> u64 {
        // The positive root of `entry D^2 + each D = bytes`.
        let bytes = u128::from(bytes).saturating_sub(self.kept_bytes);
        let features = self.features.max(1) as f64;
        let each = (self.map_bytes as f64 + 8.0 * self.row_bytes as f64) / features;
        let (entry, bytes) = (f64::from(self.entry), bytes as f64);
        let root = 2.0 * bytes / (each + (each * each + 4.0 * entry * bytes).sqrt());
        // The other memory of 8 rows is less than that of one feature.
        (root as u64).saturating_sub(1)
    }
}

/// Copies of features that wait for a file: one being written, one queued.
const COPIES: usize = 2;
/// Values read at a time to count rows.
const LOOKED_AT: usize = 1 << 18;

/// Bytes of `bytes` that code and threads of the program use already, at most a third.
fn own(bytes: u64) -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    let first = FIRST.get_or_init(|| memory_left::resident().unwrap_or(0));
    (*first).min(bytes / 3)
}

/// Number of rows, or `None` if `suits` rejects it. A read error counts as the end of the rows: the
/// later reader of `source` reports it.
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
