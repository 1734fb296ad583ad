//! Summing a stream of rows on a device, in stretches, so that it can go on where one ended: after
//! the loss of a device, or another day.

use super::{NormalEquations, Targets, sparse::SparseSums};
use crate::{
    Device, Error, Matrix, Result,
    data::{Chunk, ChunkSource},
    device::memory_left,
    error::Remedy,
    features::{Branch, Destination, FeatureMap, Featurizer, OnDevice},
    flow::Run,
    linalg::entries,
    ops::gram::{GramAccumulator, GramSums},
    sums::{Keep, Resume},
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::{mem, ops::Range};

/// Bytes of each pair of features while rows are summed: a triangle in f64, then the square.
pub(crate) const SUM_BYTES: u32 = 12;

/// The sums of a GPU go to the host, and begin anew, at multiples of so many rows of the data:
/// those of 8192 features are 268 MB on their way, and 7 10^13 operations.
pub const COPY_EVERY: u64 = 1 << 20;

/// Those of the CPU are added to the total at multiples of so many rows, so that a run that goes on
/// from there ends in the same bits. They take one pass over the sums where the rows themselves
/// took four or more.
const ADD_EVERY: u64 = 1 << 14;

/// What a stream is summed with.
pub(crate) struct Accumulation<'a> {
    map: &'a dyn FeatureMap,
    targets: &'a Targets,
    run: Run,
    /// Rows of a stretch.
    stretch: u64,
}

impl<'a> Accumulation<'a> {
    /// As [`NormalEquations::resume`], in stretches of at most so many rows.
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

    /// As [`Self::all`] of a part of the rows, which may be none, or all of weight 0; behind those
    /// that were summed before.
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

    /// Adds the rows of `source` that `equations` does not hold. After an error it holds those of
    /// the stretches that were whole.
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

    /// Adds the rows of `source` that `total` does not hold to it. `keep` gets the total, and gives
    /// it back, whenever a stretch is whole. Errors where rows that count `must` be there and are
    /// not.
    fn sum(
        &self,
        source: &mut dyn ChunkSource,
        total: &mut NormalEquations,
        keep: &mut Keep<'_, NormalEquations>,
        must: bool,
    ) -> Result<()> {
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
        // On the CPU one triangle is summed, then added to a square; a GPU's sums are read back by
        // panels.
        let gram = || format!("the Gram matrix of {features} features");
        let is_gpu = self.run.device.is_gpu();
        let stretches = is_gpu && source.rows().is_none_or(|n| n as u64 > self.stretch);
        // Those of a stretch go to those of all before.
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
        if seen > 0 && running.left > 0 {
            return Err(Error::shape(format!(
                "the sums are of {skip} rows, but the data has {seen}; go on with the same data"
            )));
        }
        if must && seen == 0 {
            return Err(Error::shape("the data has no rows"));
        }
        let weighs = running.total.weight > before || running.of_targets.weight > 0.0;
        if must && !weighs && seen > skip {
            return Err(Error::data("weights", "all rows have weight 0"));
        }
        running.finish()
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

/// Sums in the making: those of products on the device, those of targets here.
struct Running<'a> {
    targets: &'a Targets,
    /// Rows still to come that are counted already.
    left: u64,
    /// The targets of the chunk in work, as they are fitted.
    y_nt: Array2<f64>,
    /// What each of its rows counts for.
    weights_n: Array1<f64>,
    /// The roots of the weights, which rows of Z and Y are multiplied by; `None` without weights.
    roots_n: Option<Array1<f32>>,
    /// The targets as the device gets them: a column of ones beside them gives the column sums of
    /// Z.
    augmented: Array2<f32>,
    sums: GramAccumulator,
    /// The sums of rows that are mostly zeros, of maps that keep them so, on the CPU.
    sparse: Option<SparseSums>,
    of_targets: OfTargets,
    /// The sums of all stretches before.
    total: &'a mut NormalEquations,
    stretch: u64,
    /// Gets the total when a stretch is whole, and gives it back.
    keep: &'a mut Keep<'a, NormalEquations>,
}

impl OnDevice for Running<'_> {
    fn begin(&mut self, chunk: &Chunk) -> Result<usize> {
        let rows = chunk.x.nrows();
        let counted = usize::try_from(self.left).map_or(rows, |n| n.min(rows));
        self.left -= counted as u64;
        self.y_nt = self.targets.encode(chunk.y.slice(s![counted.., ..]))?;
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
    /// Counts the features of some rows of the chunk, which are these of a portion.
    fn count_products(
        &mut self,
        rows: Range<usize>,
        z_nd: &mut Matrix,
        y_nt: &Matrix,
        of_portion: Range<usize>,
    ) -> Result<()> {
        if let Some(sparse) = &mut self.sparse {
            let weights_n = self.roots_n.is_some().then_some(&self.weights_n);
            let weights_n = weights_n.map(|w| w.slice(s![rows.clone()]));
            let beside = self.augmented.slice(s![rows.clone(), ..]);
            if sparse.add(z_nd, of_portion.clone(), beside, weights_n) {
                return Ok(());
            }
        }
        if let Some(roots_n) = &self.roots_n {
            z_nd.scale_rows(of_portion.clone(), roots_n.slice(s![rows]))?;
        }
        self.sums.add_rows(z_nd, y_nt, of_portion)
    }

    fn count_targets(&mut self, rows: Range<usize>) {
        let of = &mut self.of_targets;
        of.rows += rows.len() as u64;
        let y_nt = self.y_nt.slice(s![rows.clone(), ..]);
        for (row, &w) in y_nt.rows().into_iter().zip(&self.weights_n.slice(s![rows])) {
            of.weight += w;
            of.log_weight += w.ln();
            for (k, &v) in row.iter().enumerate() {
                let raw = v + self.targets.shift(k);
                of.y_sum_t[k] += w * raw;
                of.y_square_t[k] += w * raw * raw;
            }
        }
    }

    /// Adds what the device has summed to the total, and begins anew. It ends at the same rows
    /// however fast they came and wherever an earlier call ended, so that these show in no bit.
    fn end_stretch(&mut self) -> Result<()> {
        let zty_dt = self.sums.take_onto(&mut self.total.gram_dd)?;
        let none = OfTargets::zero(self.targets.outputs());
        let of_targets = mem::replace(&mut self.of_targets, none);
        of_targets.join((zty_dt, self.sparse.as_mut()), self.targets, self.total)?;
        let total = mem::replace(self.total, NormalEquations::zero(0, 0));
        *self.total = (self.keep)(total)?;
        Ok(())
    }

    /// Adds the last rows to the total.
    fn finish(self) -> Result<()> {
        let Self {
            total, mut sums, ..
        } = self;
        if self.of_targets.rows == 0 {
            return Ok(());
        }
        let zty_dt = if total.rows == 0 {
            // As they are: zeros change no bit, but take memory.
            let GramSums { gram_dd, zty_dt } = sums.finish()?;
            total.gram_dd = gram_dd;
            zty_dt
        } else {
            sums.take_onto(&mut total.gram_dd)?
        };
        let mut sparse = self.sparse;
        (self.of_targets).join((zty_dt, sparse.as_mut()), self.targets, total)
    }
}

/// What is summed on the host.
struct OfTargets {
    rows: u64,
    weight: f64,
    log_weight: f64,
    y_sum_t: Array1<f64>,
    y_square_t: Array1<f64>,
}

impl OfTargets {
    fn zero(outputs: usize) -> Self {
        Self {
            rows: 0,
            weight: 0.0,
            log_weight: 0.0,
            y_sum_t: Array1::zeros(outputs),
            y_square_t: Array1::zeros(outputs),
        }
    }

    /// Adds them, and what is beside `Z'Z`, to a total that has the products of features but for
    /// sparse rows already; `Z'Y` has a column of ones as last target. Errors when sums are not
    /// finite.
    fn join(
        self,
        (mut zty_dt, sparse): (Array2<f64>, Option<&mut SparseSums>),
        targets: &Targets,
        total: &mut NormalEquations,
    ) -> Result<()> {
        let outputs = targets.outputs();
        if let Some(sparse) = sparse {
            sparse.take_onto(&mut total.gram_dd, &mut zty_dt);
        }
        let z_sum_d = zty_dt.column(outputs).to_owned();
        for k in 0..outputs {
            let mut column = zty_dt.column_mut(k);
            column.scaled_add(targets.shift(k), &z_sum_d);
        }
        let zty_dt = zty_dt.slice(s![.., ..outputs]);
        // No product of columns is larger than the larger of their squares.
        let squares = total.gram_dd.diag();
        if squares.iter().chain(&zty_dt).any(|v| !v.is_finite()) {
            let problem = "the sums are not finite: the features or targets are too large";
            return Err(Error::numerical(problem).help(Remedy::Standardize));
        }
        total.zty_dt += &zty_dt;
        total.z_sum_d += &z_sum_d;
        total.rows += self.rows;
        total.weight += self.weight;
        total.log_weight += self.log_weight;
        total.y_sum_t += &self.y_sum_t;
        total.y_square_t += &self.y_square_t;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::MemorySource,
        features::{Affine, Fourier},
        kernels::Gaussian,
        progress::Step,
    };
    use std::sync::mpsc;

    /// Every row and every target differs, so that one row too many, too few or beside its place
    /// shows in the sums.
    #[test]
    fn resuming_inside_a_chunk_adds_the_rows_that_are_left_on_devices() {
        let x_nd = Array2::from_shape_fn((40, 2), |(i, j)| (i * (j + 1)) as f64 / 7.0);
        let y_nt = Array2::from_shape_fn((40, 1), |(i, _)| (i * i) as f64 / 100.0);
        let map = Fourier::new(Gaussian).features(8);
        let map = map.build(Affine::identity(2)).expect("builds");
        let targets = Targets::Real {
            columns: 1,
            shift: vec![5.0],
        };
        let source = |rows: Range<usize>| {
            let y_nt = y_nt.slice(s![rows.clone(), ..]).to_owned();
            MemorySource::new(x_nd.slice(s![rows, ..]), Some(y_nt)).expect("a source")
        };
        let mut devices = crate::under_test::gpus();
        devices.push(Device::cpu());
        // All rows in one chunk, and chunks of 16.
        for (device, memory) in devices
            .iter()
            .flat_map(|d| [(d, Run::DEFAULT_MEMORY), (d, 2200)])
        {
            let sums_of = |rows| {
                let source = &mut source(rows);
                let run = Run::on(device).memory(memory);
                NormalEquations::accumulate(&map, source, &targets, run).expect("sums")
            };
            for kept in [1, 15, 16, 17, 31, 39] {
                let mut resumed = sums_of(0..kept);
                let (heard, chunks) = mpsc::channel();
                let run = Run::on(device).memory(memory);
                let run = run.progress(move |step| heard.send(step).expect("heard"));
                resumed
                    .resume(&map, &mut source(0..40), &targets, run)
                    .expect("goes on");
                let expected_chunks = if memory == 2200 {
                    vec![16, 32, 40]
                } else {
                    vec![40]
                };
                let expected_chunks: Vec<_> = expected_chunks.into_iter().map(Step::Rows).collect();
                assert_eq!(chunks.iter().collect::<Vec<_>>(), expected_chunks);
                let mut expected = sums_of(0..kept);
                expected.merge(&sums_of(kept..40)).expect("merges");
                assert_eq!(resumed.rows, 40);
                for (name, a, b) in [
                    ("gram", &resumed.gram_dd, &expected.gram_dd),
                    ("zty", &resumed.zty_dt, &expected.zty_dt),
                ] {
                    // A row contributes up to 0.25 and 4; f32 sums of 40 err by 1e-5 at most.
                    let worst = (a - b).fold(0.0, |m: f64, v| m.max(v.abs()));
                    assert!(
                        worst < 1e-4,
                        "{name} after {kept} rows on {device:?}: {worst}"
                    );
                }
                let sums = [&resumed.y_sum_t, &resumed.y_square_t, &resumed.z_sum_d];
                let others = [&expected.y_sum_t, &expected.y_square_t, &expected.z_sum_d];
                for (a, b) in sums.into_iter().zip(others) {
                    let worst = (a - b).fold(0.0, |m: f64, v| m.max(v.abs()));
                    assert!(worst < 1e-5, "after {kept} rows on {device:?}: {worst}");
                }
            }
        }
    }

    /// A row of weight w counts as w rows, on every device and in chunks of any size; a weight of 0
    /// leaves its row out.
    #[test]
    fn a_row_of_weight_two_is_there_twice_on_devices() {
        let x_nd = Array2::from_shape_fn((40, 2), |(i, j)| (i * (j + 1)) as f64 / 7.0);
        let y_nt = Array2::from_shape_fn((40, 2), |(i, k)| ((i + 3) * i * (k + 1)) as f64 / 100.0);
        let weight = |i: usize| i % 4;
        let copies: Vec<_> = (0..40).flat_map(|i| vec![i; weight(i)]).collect();
        let map = Fourier::new(Gaussian).features(8);
        let map = map.build(Affine::identity(2)).expect("builds");
        let targets = Targets::Real {
            columns: 2,
            shift: vec![5.0, 10.0],
        };
        let pick = |rows: &[usize]| {
            let y_nt = Some(y_nt.select(Axis(0), rows));
            MemorySource::new(x_nd.select(Axis(0), rows), y_nt).expect("a source")
        };
        let mut devices = crate::under_test::gpus();
        devices.push(Device::cpu());
        for (device, memory) in devices
            .iter()
            .flat_map(|d| [(d, Run::DEFAULT_MEMORY), (d, 2200)])
        {
            let sums_of = |mut source: MemorySource| {
                let run = Run::on(device).memory(memory);
                NormalEquations::accumulate(&map, &mut source, &targets, run)
            };
            let all = pick(&Vec::from_iter(0..40));
            let weights: Vec<_> = (0..40).map(|i| weight(i) as f64).collect();
            let weighted = all.clone().with_weights(weights).expect("weights");
            let weighted = sums_of(weighted).expect("sums");
            let repeated = sums_of(pick(&copies)).expect("sums");
            assert_eq!((weighted.rows, repeated.rows), (40, copies.len() as u64));
            assert_eq!((weighted.weight, repeated.weight), (60.0, 60.0));
            assert_eq!(weighted.log_weight, f64::NEG_INFINITY);
            assert_eq!(repeated.log_weight, 0.0);
            // As above; what is rounded once more are the products with the roots.
            let close = |name: &str, worst: f64| {
                assert!(worst < 1e-4, "{name} on {device:?}: {worst}");
            };
            let largest = |a: Array2<f64>| a.fold(0.0, |m: f64, v| m.max(v.abs()));
            close("gram", largest(&weighted.gram_dd - &repeated.gram_dd));
            close("zty", largest(&weighted.zty_dt - &repeated.zty_dt) / 10.0);
            for (a, b) in [
                (&weighted.z_sum_d, &repeated.z_sum_d),
                (&weighted.y_sum_t, &repeated.y_sum_t),
                (&weighted.y_square_t, &repeated.y_square_t),
            ] {
                close("sums", (a - b).fold(0.0, |m: f64, v| m.max(v.abs())));
            }
            let none = all.with_weights(Array1::zeros(40)).expect("weights");
            let message = sums_of(none).expect_err("no weight").to_string();
            assert!(message.contains("weight 0"), "{message}");
        }
    }
}
