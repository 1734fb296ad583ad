//! Summing a stream of rows on a device, with copies for the case that the device is lost.

use super::{NormalEquations, Targets};
use crate::{
    Device, Error, Matrix, Result,
    data::{Chunk, ChunkSource, Rows},
    device::gpu::Pace,
    error::Remedy,
    features::{FeatureMap, LoadedMap, require_dense},
    ops::gram::{GramAccumulator, GramSums},
    plan::{RowNeeds, chunk_rows_on},
    stream::{Portions, Progress, for_each_chunk},
};
use ndarray::{Array1, Array2, s};
use std::time::{Duration, Instant};

/// The sums of a GPU are copied to the host at most this often: a copy of 8192 features is half a gigabyte.
pub const COPY_EVERY: Duration = Duration::from_secs(30);

/// What a stream is summed with.
pub(crate) struct Run<'a> {
    map: &'a dyn FeatureMap,
    targets: &'a Targets,
    device: &'a Device,
    memory: u64,
    copy_every: Duration,
}

impl<'a> Run<'a> {
    /// As [`NormalEquations::resume`], with copies of the sums `copy_every` so often.
    pub(crate) fn new(
        map: &'a dyn FeatureMap,
        targets: &'a Targets,
        device: &'a Device,
        memory: u64,
        copy_every: Duration,
    ) -> Self {
        Self {
            map,
            targets,
            device,
            memory,
            copy_every,
        }
    }

    /// Adds the rows of `source` that `equations` does not hold. After an error it holds those of the last copy.
    pub(crate) fn add(
        &self,
        source: &mut dyn ChunkSource,
        equations: &mut NormalEquations,
        progress: Progress<'_>,
    ) -> Result<()> {
        let shape = (self.map.output_dim(), self.targets.outputs());
        if equations.zty_dt.dim() != shape {
            return Err(Error::shape(format!(
                "sums for {:?} features and targets do not take rows with {shape:?}",
                equations.zty_dt.dim()
            )));
        }
        let mut copy = None;
        let mut done = self.sum(source, equations.rows, &mut copy, progress);
        if let Ok(sums) = &mut done {
            copy = sums.take();
        }
        match copy {
            Some(sums) if equations.rows == 0 => *equations = sums,
            Some(sums) => equations.merge(&sums)?,
            None => {}
        }
        match done {
            Ok(_) => Ok(()),
            Err(Error::DeviceLost { reason, .. }) => Err(Error::DeviceLost {
                reason,
                rows_kept: equations.rows,
            }),
            Err(error) => Err(error),
        }
    }

    /// The sums of all rows but the first `skip`; `None` if there are no others. `copy` is that of the rows up to some chunk.
    fn sum(
        &self,
        source: &mut dyn ChunkSource,
        skip: u64,
        copy: &mut Option<NormalEquations>,
        progress: Progress<'_>,
    ) -> Result<Option<NormalEquations>> {
        if source.targets() == 0 {
            return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
        }
        require_dense(self.map)?;
        let (d, features) = (self.map.input_dim(), self.map.output_dim());
        let outputs = self.targets.outputs();
        let needs = RowNeeds {
            columns: d,
            widest: features.max(d),
            // Targets: as read (two chunks of f64), encoded in f64, augmented in f32, and on the device.
            device_columns: d + features + 4 * source.targets() + 4 * (outputs + 1),
        };
        let rows = chunk_rows_on(self.device, needs, self.memory)?;
        let rows = source.rows().map_or(rows, |n| rows.min(n.max(1)));
        let mut running = Running {
            sums: GramAccumulator::new(self.device, features, outputs + 1)?,
            rows: 0,
            y_sum_t: Array1::zeros(outputs),
            y_square_t: Array1::zeros(outputs),
        };
        let mut buffers = None;
        let mut portions = Portions::new(rows);
        let mut pace = Pace::default();
        let mut copied = Instant::now();
        let mut left = skip;
        let seen = for_each_chunk(source, rows, progress, |chunk| {
            let counted = usize::try_from(left).map_or(chunk.x.nrows(), |n| n.min(chunk.x.nrows()));
            left -= counted as u64;
            self.add_chunk(&chunk, counted, &mut portions, &mut buffers, &mut running)?;
            if let Device::Gpu(gpu) = self.device {
                gpu.step(&mut pace)?;
            }
            if copied.elapsed() >= self.copy_every && running.rows > 0 {
                running.copy(self.targets, copy)?;
                copied = Instant::now();
            }
            Ok(())
        })?;
        if seen == 0 {
            return Err(Error::shape("the data has no rows"));
        }
        if left > 0 {
            return Err(Error::shape(format!(
                "the sums are of {skip} rows, but the data has {seen}; go on with the same data"
            )));
        }
        if running.rows == 0 {
            return Ok(None);
        }
        let sums = running.sums.finish()?;
        let rest = (running.rows, running.y_sum_t, running.y_square_t);
        let equations = equations(sums, rest, self.targets);
        let mut values = equations.gram_dd.iter().chain(&equations.zty_dt);
        if values.any(|v| !v.is_finite()) {
            let problem = "the sums are not finite: the features or targets are too large";
            return Err(Error::numerical(problem).help(Remedy::Standardize));
        }
        Ok(Some(equations))
    }

    /// Adds the rows of a chunk but the first `counted`.
    fn add_chunk(
        &self,
        chunk: &Chunk,
        counted: usize,
        portions: &mut Portions,
        buffers: &mut Option<Buffers>,
        running: &mut Running,
    ) -> Result<()> {
        portions.each(chunk.x.nrows() - counted, |range, rows| {
            let range = range.start + counted..range.end + counted;
            let y = chunk.y.slice(s![range.clone(), ..]);
            let y = self.targets.encode(y)?;
            let buffers = Buffers::of(buffers, self.map, self.device, rows, y.ncols())?;
            buffers.featurize(self.map, &chunk.x.part(range), &y)?;
            // Counted from here on.
            running.rows += y.nrows() as u64;
            for row in y.rows() {
                for (k, &v) in row.iter().enumerate() {
                    let raw = v + self.targets.shift(k);
                    running.y_sum_t[k] += raw;
                    running.y_square_t[k] += raw * raw;
                }
            }
            Ok(running.sums.add(&buffers.z_nd, &buffers.y_nt))
        })
    }
}

/// Sums in the making: those of products on the device, those of targets here.
struct Running {
    sums: GramAccumulator,
    rows: u64,
    y_sum_t: Array1<f64>,
    y_square_t: Array1<f64>,
}

impl Running {
    /// Copies the sums so far, if the device can be lost. One without room for that is no reason to give up.
    fn copy(&self, targets: &Targets, copy: &mut Option<NormalEquations>) -> Result<()> {
        match self.sums.so_far() {
            Ok(None) => {}
            Ok(Some(sums)) => {
                let rest = (self.rows, self.y_sum_t.clone(), self.y_square_t.clone());
                *copy = Some(equations(sums, rest, targets));
            }
            Err(error @ Error::OutOfMemory { .. }) => {
                log::warn!(
                    "the sums are not copied in case the device is lost: {}",
                    error.problem()
                );
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// From the sums of a device, with a column of ones as last target, and rows, sums and squares of targets.
fn equations(
    sums: GramSums,
    (rows, y_sum_t, y_square_t): (u64, Array1<f64>, Array1<f64>),
    targets: &Targets,
) -> NormalEquations {
    let outputs = targets.outputs();
    let z_sum_d = sums.zty_dt.column(outputs).to_owned();
    let mut zty_dt = sums.zty_dt.slice(s![.., ..outputs]).to_owned();
    for k in 0..outputs {
        zty_dt.column_mut(k).scaled_add(targets.shift(k), &z_sum_d);
    }
    NormalEquations {
        rows,
        gram_dd: sums.gram_dd,
        zty_dt,
        z_sum_d,
        y_sum_t,
        y_square_t,
    }
}

/// A loaded map with the matrices of a chunk.
struct Buffers {
    loaded: Box<dyn LoadedMap>,
    x_nd: Matrix,
    z_nd: Matrix,
    /// Targets, and a column of ones beside them that gives the column sums of Z.
    y_nt: Matrix,
}

impl Buffers {
    /// Those that are there, or new ones for `rows` rows; the map too, whose scratch is for as many.
    fn of<'b>(
        kept: &'b mut Option<Self>,
        map: &dyn FeatureMap,
        device: &Device,
        rows: usize,
        outputs: usize,
    ) -> Result<&'b mut Self> {
        let fits = |b: &Self| b.x_nd.capacity_rows() == rows;
        if !kept.as_ref().is_some_and(fits) {
            *kept = None;
        }
        Ok(match kept {
            Some(buffers) => buffers,
            none => none.insert(Self {
                loaded: map.load(device)?,
                x_nd: Matrix::new(device, rows, map.input_dim())?,
                z_nd: Matrix::new(device, rows, map.output_dim())?,
                y_nt: Matrix::new(device, rows, outputs + 1)?,
            }),
        })
    }

    fn featurize(&mut self, map: &dyn FeatureMap, x: &Rows, y: &Array2<f64>) -> Result<()> {
        map.input().load(x, &mut self.x_nd)?;
        let mut augmented = Array2::from_elem((y.nrows(), y.ncols() + 1), 1.0_f32);
        augmented
            .slice_mut(s![.., ..y.ncols()])
            .assign(&y.mapv(|v| v as f32));
        self.y_nt.write(augmented.view())?;
        self.z_nd.set_rows(self.x_nd.rows())?;
        self.loaded.featurize(&self.x_nd, &mut self.z_nd)
    }
}
