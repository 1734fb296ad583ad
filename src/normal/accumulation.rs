//! Summing a stream of rows on a device, in stretches, for the case that the device is lost.

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
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::{mem, ops::Range};

/// Bytes of each pair of features while rows are summed: a triangle in f64, then the square.
pub(crate) const SUM_BYTES: u32 = 12;

/// The sums of a GPU go to the host, and begin anew, at multiples of so many rows of the data:
/// those of 8192 features are 268 MB on their way, and 7 10^13 operations.
pub const COPY_EVERY: u64 = 1 << 20;

/// What a stream is summed with.
pub(crate) struct Accumulation<'a> {
    map: &'a dyn FeatureMap,
    targets: &'a Targets,
    run: Run,
    copy_every: u64,
}

/// What the rows of a source came to, beyond the sums that went to the total.
struct Rest {
    /// The sums of the last rows; `None` without any.
    sums: Option<NormalEquations>,
    /// Rows of the source.
    seen: u64,
    /// Whether some of the rows that are new have weight.
    weighs: bool,
}

impl<'a> Accumulation<'a> {
    /// As [`NormalEquations::resume`], with the sums of a GPU on the host every so many rows.
    pub(crate) fn new(
        map: &'a dyn FeatureMap,
        targets: &'a Targets,
        run: impl Into<Run>,
        copy_every: u64,
    ) -> Self {
        Self {
            map,
            targets,
            run: run.into(),
            copy_every,
        }
    }

    /// The sums of all rows of `source`; nothing is kept after an error.
    pub(crate) fn all(&self, source: &mut dyn ChunkSource) -> Result<NormalEquations> {
        let mut total = self.none();
        match self.sum(source, &mut total) {
            Ok(()) => Ok(total),
            Err(Error::DeviceLost { reason, .. }) => Err(Error::DeviceLost {
                reason,
                rows_kept: 0,
            }),
            Err(error) => Err(error),
        }
    }

    /// As [`Self::all`] of a part of the rows, which may be none, or all of weight 0.
    pub(crate) fn part(&self, source: &mut dyn ChunkSource) -> Result<NormalEquations> {
        let mut total = self.none();
        let rest = self.sum_any(source, &mut total)?;
        total.take(rest.sums)?;
        Ok(total)
    }

    /// Adds the rows of `source` that `equations` does not hold. After an error it holds those of
    /// the stretches that were whole.
    pub(crate) fn add(
        &self,
        source: &mut dyn ChunkSource,
        equations: &mut NormalEquations,
    ) -> Result<()> {
        let shape = (self.map.output_dim(), self.targets.outputs());
        if equations.zty_dt.dim() != shape {
            return Err(Error::shape(format!(
                "sums for {:?} features and targets do not take rows with {shape:?}",
                equations.zty_dt.dim()
            )));
        }
        match self.sum(source, equations) {
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

    /// Adds the rows of `source` that `total` does not hold.
    fn sum(&self, source: &mut dyn ChunkSource, total: &mut NormalEquations) -> Result<()> {
        let before = total.rows;
        let Rest { sums, seen, weighs } = self.sum_any(source, total)?;
        if seen == 0 {
            return Err(Error::shape("the data has no rows"));
        }
        if !weighs && seen > before {
            return Err(Error::data("weights", "all rows have weight 0"));
        }
        total.take(sums)
    }

    /// Adds the rows of `source` that `total` does not hold to it, but for the last.
    fn sum_any(&self, source: &mut dyn ChunkSource, total: &mut NormalEquations) -> Result<Rest> {
        if source.targets() == 0 && self.targets.outputs() > 0 {
            return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
        }
        let (features, outputs) = (self.map.output_dim(), self.targets.outputs());
        // On the CPU one triangle is summed, then written out as a square; a GPU's sums are read
        // back by panels.
        let gram = || format!("the Gram matrix of {features} features");
        let is_gpu = matches!(self.run.device, Device::Gpu(_));
        let stretches = is_gpu && source.rows().is_none_or(|n| n as u64 > self.copy_every);
        // Those of a stretch go to those of all before.
        let each = SUM_BYTES + if stretches { 8 } else { 0 };
        memory_left::require_square(features, each, gram)?;
        let end = Destination::Device {
            beside: outputs + 1,
        };
        let branches = vec![Branch::features(self.map)?];
        let mut featurizer = Featurizer::new(branches, source.targets(), end, &self.run)?;
        let (skip, before) = (total.rows, total.weight);
        let mut running = Running {
            targets: self.targets,
            left: skip,
            y_nt: Array2::zeros((0, outputs)),
            weights_n: Array1::zeros(0),
            roots_n: None,
            augmented: Array2::zeros((0, outputs + 1)),
            sums: GramAccumulator::new(&self.run.device, features, outputs + 1)?,
            sparse: match &self.run.device {
                Device::Cpu(_) => {
                    (self.map.of_zeros()).map(|base_d| SparseSums::new(base_d, outputs + 1))
                }
                Device::Gpu(_) => None,
            },
            of_targets: OfTargets::zero(outputs),
            // The CPU cannot be lost.
            copy_every: if is_gpu { self.copy_every } else { u64::MAX },
            total,
        };
        let seen = featurizer.on_device(source, &mut running)?;
        if seen > 0 && running.left > 0 {
            return Err(Error::shape(format!(
                "the sums are of {skip} rows, but the data has {seen}; go on with the same data"
            )));
        }
        let weighs = running.total.weight > before || running.of_targets.weight > 0.0;
        let of_targets = running.of_targets;
        let mut rest = Rest {
            sums: None,
            seen,
            weighs,
        };
        if of_targets.rows > 0 {
            let mut sums = running.sums.finish()?;
            if let Some(sparse) = running.sparse {
                sparse.add_to(&mut sums.gram_dd, &mut sums.zty_dt);
            }
            rest.sums = Some(of_targets.join(sums, self.targets)?);
        }
        Ok(rest)
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
    copy_every: u64,
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
        if let Some(sparse) = &mut self.sparse {
            let weights_n = self.roots_n.is_some().then_some(&self.weights_n);
            let weights_n = weights_n.map(|w| w.slice(s![rows.clone()]));
            if sparse.add(z_nd, self.augmented.slice(s![rows.clone(), ..]), weights_n) {
                self.count_targets(rows);
                return Ok(());
            }
        }
        if let Some(roots_n) = &self.roots_n {
            z_nd.scale_rows(roots_n.slice(s![rows.clone()]))?;
        }
        let mut from = rows.start;
        while from < rows.end {
            let counted = self.total.rows + self.of_targets.rows;
            let left = self.copy_every - counted % self.copy_every;
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let part = from..rows.end.min(from.saturating_add(left));
            from = part.end;
            self.count_targets(part.clone());
            let of_portion = part.start - rows.start..part.end - rows.start;
            self.sums.add_rows(z_nd, y_nt, of_portion)?;
            if part.len() == left {
                self.end_stretch()?;
            }
        }
        Ok(())
    }
}

impl Running<'_> {
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
        let sums = self.sums.take()?;
        let none = OfTargets::zero(self.targets.outputs());
        let of_targets = mem::replace(&mut self.of_targets, none);
        let stretch = of_targets.join(sums, self.targets)?;
        self.total.take(Some(stretch))
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

    /// With the sums of a device, which has a column of ones as last target. Errors when these are
    /// not finite.
    fn join(self, sums: GramSums, targets: &Targets) -> Result<NormalEquations> {
        let outputs = targets.outputs();
        let z_sum_d = sums.zty_dt.column(outputs).to_owned();
        let mut zty_dt = sums.zty_dt.slice(s![.., ..outputs]).to_owned();
        for k in 0..outputs {
            zty_dt.column_mut(k).scaled_add(targets.shift(k), &z_sum_d);
        }
        if sums.gram_dd.iter().chain(&zty_dt).any(|v| !v.is_finite()) {
            let problem = "the sums are not finite: the features or targets are too large";
            return Err(Error::numerical(problem).help(Remedy::Standardize));
        }
        Ok(NormalEquations {
            rows: self.rows,
            weight: self.weight,
            log_weight: self.log_weight,
            gram_dd: sums.gram_dd,
            zty_dt,
            z_sum_d,
            y_sum_t: self.y_sum_t,
            y_square_t: self.y_square_t,
        })
    }
}

impl NormalEquations {
    /// Adds sums of other rows, as they are where there are none yet. Zeros change no bit, but take
    /// memory.
    fn take(&mut self, other: Option<Self>) -> Result<()> {
        match other {
            Some(other) if self.rows == 0 => *self = other,
            Some(other) => self.merge(&other)?,
            None => {}
        }
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
