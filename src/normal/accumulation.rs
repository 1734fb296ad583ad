//! Sums a stream of rows on a device in intervals, so that a run can resume after the loss of a
//! device or in another process.

use super::{
    Keep, NormalEquations, Resume, check_all_there,
    double::{DoubleSums, input_of},
    of_targets::OfTargets,
    sparse::SparseSums,
};
use crate::{
    Device, Error, Matrix, Result,
    data::{Chunk, ChunkSource, Rows},
    device::memory_left,
    error::Remedy,
    features::{Affine, Branch, Destination, FeatureMap, Featurizer, OnDevice},
    flow::Run,
    linalg::entries,
    model::Targets,
    ops::gram::{GramAccumulator, GramSums},
    wait::wait,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::{mem, ops::Range};

/// Bytes per pair of features during summation: a triangle in f64, then the square.
pub(crate) const SUM_BYTES: u32 = 12;

/// GPU sums are copied to the host and reset at multiples of this number of rows. With 8192
/// features a copy takes 268 MB for 7 10^13 operations.
pub const COPY_EVERY: u64 = 1 << 20;

/// CPU sums are added to the total at multiples of this number of rows, so that resuming there, or
/// merging sums of rows split there, gives the same bits. This takes one pass over the sums,
/// compared with at least four for summing the rows themselves.
pub const ADD_EVERY: u64 = 1 << 14;

/// Parameters of the summation of a stream.
pub(crate) struct Accumulation<'a> {
    map: &'a dyn FeatureMap,
    targets: &'a Targets,
    run: Run,
    /// Rows of an interval.
    stretch: u64,
}

impl<'a> Accumulation<'a> {
    /// As [`NormalEquations::resume`], in intervals of at most `stretch` rows.
    pub(crate) fn new(
        map: &'a dyn FeatureMap,
        targets: &'a Targets,
        run: impl Into<Run>,
        copy_every: u64,
    ) -> Self {
        let run = run.into();
        let stretch = match run.device {
            Device::Gpu(_) => copy_every,
            Device::Cpu(_) => copy_every.min(ADD_EVERY),
        };
        Self {
            map,
            targets,
            run,
            stretch,
        }
    }

    /// The sums of all rows of `source`; nothing is kept after an error.
    pub(crate) fn all(&self, source: &mut dyn ChunkSource) -> Result<NormalEquations> {
        let mut total = self.none();
        match self.sum(source, &mut total, &mut Ok, true) {
            Ok(()) => Ok(total),
            Err(Error::DeviceLost { reason, .. }) => Err(Error::DeviceLost {
                reason,
                rows_kept: 0,
            }),
            Err(error) => Err(error),
        }
    }

    /// As [`Self::all`] for a part of the rows, which may be empty or have total weight 0; resumes
    /// from earlier sums.
    pub(crate) fn part(
        &self,
        source: &mut dyn ChunkSource,
        resume: Resume<'_, NormalEquations>,
    ) -> Result<NormalEquations> {
        let mut total = resume.from.unwrap_or_else(|| self.none());
        let mut nobody = Ok;
        let keep: &mut Keep<'_, _> = resume.keep.unwrap_or(&mut nobody);
        self.sum(source, &mut total, keep, false)?;
        Ok(total)
    }

    /// Asynchronous sums of rows, which may be empty, also for browsers, where blocking on a GPU is
    /// not possible. There must be fewer rows than in an interval.
    pub(crate) async fn part_later(&self, source: &mut dyn ChunkSource) -> Result<NormalEquations> {
        let mut total = self.none();
        let mut nobody = Ok;
        let keep: &mut Keep<'_, _> = &mut nobody;
        let running = self.run_through(source, &mut total, keep, false)?;
        running.finish_later().await?;
        Ok(total)
    }

    /// Adds the rows of `source` that are not in `equations` yet. After an error it holds the sums
    /// of complete intervals.
    pub(crate) fn add(
        &self,
        source: &mut dyn ChunkSource,
        equations: &mut NormalEquations,
    ) -> Result<()> {
        match self.sum(source, equations, &mut Ok, true) {
            Err(Error::DeviceLost { reason, .. }) => Err(Error::DeviceLost {
                reason,
                rows_kept: equations.rows,
            }),
            done => done,
        }
    }

    fn none(&self) -> NormalEquations {
        NormalEquations::zero(self.map.output_dim(), self.targets.outputs())
    }

    /// Adds the rows of `source` that are not in `total` yet. `keep` receives the total after each
    /// complete interval, and returns it. Errors if `must` is set and there are no rows of positive
    /// weight.
    fn sum(
        &self,
        source: &mut dyn ChunkSource,
        total: &mut NormalEquations,
        keep: &mut Keep<'_, NormalEquations>,
        must: bool,
    ) -> Result<()> {
        let running = self.run_through(source, total, keep, must)?;
        wait(running.finish_later())
    }

    /// As [`Self::sum`], except for the last rows, whose sums are still on the device.
    fn run_through<'s>(
        &'s self,
        source: &mut dyn ChunkSource,
        total: &'s mut NormalEquations,
        keep: &'s mut Keep<'_, NormalEquations>,
        must: bool,
    ) -> Result<Running<'s>> {
        let (features, outputs) = (self.map.output_dim(), self.targets.outputs());
        if total.zty_dt.dim() != (features, outputs) {
            return Err(Error::shape(format!(
                "sums for {:?} features and targets do not take rows with {:?}",
                total.zty_dt.dim(),
                (features, outputs)
            )));
        }
        if source.targets() == 0 && outputs > 0 {
            return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
        }
        // The CPU sums one triangle, then adds it to a square; sums of a GPU are read back by
        // panels.
        let gram = || format!("the Gram matrix of {features} features");
        let is_gpu = self.run.device.is_gpu();
        let stretches = is_gpu && source.rows().is_none_or(|n| n as u64 > self.stretch);
        // The sums of an interval are added to the total.
        let each = SUM_BYTES + if stretches { 8 } else { 0 };
        memory_left::require_square(features, each, gram)?;
        let end = Destination::Device {
            beside: outputs + 1,
        };
        let branches = vec![Branch::features(self.map)?];
        let mut featurizer = Featurizer::new(branches, source.targets(), end, &self.run)?;
        let (skip, before) = (total.rows, total.weight);
        let mut running = self.running(total, keep)?;
        let seen = featurizer.on_device(source, &mut running)?;
        if must && seen == 0 {
            return Err(Error::shape("the data has no rows"));
        }
        check_all_there(skip, seen)?;
        let weighs = running.total.weight > before || running.of_targets.weight > 0.0;
        if must && !weighs && seen > skip {
            return Err(Error::data("weights", "all rows have weight 0"));
        }
        Ok(running)
    }

    fn running<'s>(
        &'s self,
        total: &'s mut NormalEquations,
        keep: &'s mut Keep<'_, NormalEquations>,
    ) -> Result<Running<'s>> {
        let (features, outputs) = total.zty_dt.dim();
        let device = &self.run.device;
        Ok(Running {
            targets: self.targets,
            left: total.rows,
            y_nt: Array2::zeros((0, outputs)),
            weights_n: Array1::zeros(0),
            roots_n: None,
            augmented: Array2::zeros((0, outputs + 1)),
            sums: GramAccumulator::new(device, features, outputs + 1)?,
            device,
            input: input_of(self.map, device),
            z_nd: None,
            double: DoubleSums::new(features, outputs + 1),
            sparse: match device {
                Device::Cpu(_) => {
                    (self.map.of_zeros()).map(|base_d| SparseSums::new(base_d, outputs + 1))
                }
                Device::Gpu(_) => None,
            },
            of_targets: OfTargets::zero(outputs),
            stretch: self.stretch,
            total,
            keep,
        })
    }
}

/// Sums in progress: products on the device, sums of targets on the host.
struct Running<'a> {
    targets: &'a Targets,
    /// Rows to skip, since they are in the sums already.
    left: u64,
    /// Encoded targets of the current chunk.
    y_nt: Array2<f64>,
    /// Weights of its rows.
    weights_n: Array1<f64>,
    /// Roots of the weights, which multiply the rows of Z and Y; `None` without weights.
    roots_n: Option<Array1<f32>>,
    /// Targets for the device: an additional column of ones gives the column sums of Z.
    augmented: Array2<f32>,
    sums: GramAccumulator,
    device: &'a Device,
    /// Preparation of the rows, if the features are the prepared columns.
    input: Option<&'a Affine>,
    /// In that case, the features of the chunk in f64.
    z_nd: Option<Array2<f64>>,
    /// Sums of these.
    double: DoubleSums,
    /// Sums of sparse rows, for maps that preserve sparsity, on the CPU.
    sparse: Option<SparseSums>,
    of_targets: OfTargets,
    /// Sums of all previous intervals.
    total: &'a mut NormalEquations,
    stretch: u64,
    /// Receives the total after each complete interval, and returns it.
    keep: &'a mut Keep<'a, NormalEquations>,
}

impl OnDevice for Running<'_> {
    fn begin(&mut self, chunk: &Chunk) -> Result<usize> {
        let rows = chunk.x.nrows();
        let counted = usize::try_from(self.left).map_or(rows, |n| n.min(rows));
        self.left -= counted as u64;
        self.y_nt = self.targets.encode(chunk.y.slice(s![counted.., ..]))?;
        self.z_nd = match (self.input, &chunk.x) {
            (Some(input), rows @ Rows::F64(_)) => {
                Some(input.apply(rows)?.slice_move(s![counted.., ..]))
            }
            _ => None,
        };
        let (rows, outputs) = self.y_nt.dim();
        self.augmented = Array2::from_elem((rows, outputs + 1), 1.0);
        let y_nt = self.y_nt.mapv(entries::narrow);
        self.augmented.slice_mut(s![.., ..outputs]).assign(&y_nt);
        self.weights_n = match &chunk.weights {
            Some(weights_n) => weights_n.slice(s![counted..]).to_owned(),
            None => Array1::ones(rows),
        };
        self.roots_n = chunk.weights.is_some().then(|| {
            let roots_n = self.weights_n.mapv(|w| w.sqrt() as f32);
            self.augmented *= &roots_n.view().insert_axis(Axis(1));
            roots_n
        });
        Ok(counted)
    }

    fn columns_beside(&self, rows: Range<usize>) -> ArrayView2<'_, f32> {
        self.augmented.slice(s![rows, ..])
    }

    fn count(&mut self, rows: Range<usize>, z_nd: &mut Matrix, y_nt: &Matrix) -> Result<()> {
        let mut from = rows.start;
        while from < rows.end {
            let counted = self.total.rows + self.of_targets.rows;
            let left = self.stretch - counted % self.stretch;
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let part = from..rows.end.min(from.saturating_add(left));
            from = part.end;
            let of_portion = part.start - rows.start..part.end - rows.start;
            self.count_products(part.clone(), z_nd, y_nt, of_portion)?;
            self.count_targets(part.clone());
            if part.len() == left {
                self.end_stretch()?;
            }
        }
        Ok(())
    }
}

impl Running<'_> {
    /// Adds the products of the features of a portion of the chunk.
    fn count_products(
        &mut self,
        rows: Range<usize>,
        z_nd: &mut Matrix,
        y_nt: &Matrix,
        of_portion: Range<usize>,
    ) -> Result<()> {
        let weights_n = self.roots_n.is_some().then_some(&self.weights_n);
        let weights_n = weights_n.map(|w| w.slice(s![rows.clone()]));
        let left = match &mut self.sparse {
            Some(sparse) => {
                let beside = self.augmented.slice(s![rows.clone(), ..]);
                sparse.add(z_nd, of_portion.clone(), beside, weights_n)
            }
            None => (0..rows.len()).collect(),
        };
        if let Some(own_nd) = &self.z_nd {
            let own_nd = own_nd.slice(s![rows.clone(), ..]);
            let y_nt = self.y_nt.slice(s![rows, ..]);
            return (self.double).add(self.device, &left, (own_nd, y_nt), weights_n);
        }
        if left.is_empty() {
            return Ok(());
        }
        if let Some(roots_n) = &self.roots_n {
            z_nd.scale_rows(of_portion.clone(), roots_n.slice(s![rows.clone()]))?;
        }
        match z_nd.on_host() {
            Some(all_nd) if left.len() < rows.len() => {
                let few_nd = all_nd.slice(s![of_portion, ..]).select(Axis(0), &left);
                let beside = self.augmented.slice(s![rows, ..]).select(Axis(0), &left);
                let few_nd = Matrix::upload(self.device, few_nd.view())?;
                let beside = Matrix::upload(self.device, beside.view())?;
                self.sums.add(&few_nd, &beside)
            }
            _ => self.sums.add_rows(z_nd, y_nt, of_portion),
        }
    }

    fn count_targets(&mut self, rows: Range<usize>) {
        let of = &mut self.of_targets;
        of.rows += rows.len() as u64;
        let y_nt = self.y_nt.slice(s![rows.clone(), ..]);
        for (row, &w) in y_nt.rows().into_iter().zip(&self.weights_n.slice(s![rows])) {
            of.weight += w;
            of.log_weight += w.ln();
            of.weight_squares += w * w;
            for (k, &v) in row.iter().enumerate() {
                let raw = v + self.targets.shift(k);
                of.y_sum_t[k] += w * raw;
                of.y_square_t[k] += w * raw * raw;
            }
        }
    }

    /// Adds the sums on the device to the total and resets them. Intervals end at fixed rows,
    /// independent of chunk sizes and of where an earlier call ended, so that results are
    /// reproducible to the bit.
    fn end_stretch(&mut self) -> Result<()> {
        let (gram_dd, rest_d) = self.total.gram_and_rest();
        let mut zty_dt = self.sums.take_onto(gram_dd, rest_d)?;
        (self.double).take_onto(self.device, (gram_dd, rest_d), &mut zty_dt)?;
        let none = OfTargets::zero(self.targets.outputs());
        let of_targets = mem::replace(&mut self.of_targets, none);
        of_targets.join((zty_dt, self.sparse.as_mut()), self.targets, self.total)?;
        let total = mem::replace(self.total, NormalEquations::zero(0, 0));
        *self.total = (self.keep)(total)?;
        Ok(())
    }

    /// Adds the last rows to the total.
    async fn finish_later(self) -> Result<()> {
        let Self {
            total,
            mut sums,
            mut double,
            ..
        } = self;
        if self.of_targets.rows == 0 {
            return Ok(());
        }
        let mut zty_dt = if total.rows == 0 {
            // Moved without an addition: adding to zeros gives the same bits, but takes memory.
            let GramSums { gram_dd, zty_dt } = sums.finish_later().await?;
            total.gram_dd = gram_dd;
            zty_dt
        } else {
            let (gram_dd, rest_d) = total.gram_and_rest();
            sums.take_onto(gram_dd, rest_d)?
        };
        double.take_onto(self.device, total.gram_and_rest(), &mut zty_dt)?;
        let mut sparse = self.sparse;
        (self.of_targets).join((zty_dt, sparse.as_mut()), self.targets, total)
    }
}

#[cfg(test)]
mod tests;
