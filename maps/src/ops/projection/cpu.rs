//! The dense map on the CPU: packed frequencies, register tiles, and the nonlinearity while a piece
//! of a row is in cache.

mod shared;

use super::{DenseMap, products::Products};
use crate::{
    device::CpuDevice,
    ops::Nonlinearity,
    parallel,
    simd::{
        Entries, Epilogue, Panels, PanelsView, PastCache, Sink, ThroughCache,
        cos2pi::{cosines, cosines_and_sines},
        for_each_sparse_row, rows_per_block,
    },
};
use pulp::Simd;
use std::{iter, sync::Arc};

/// The parameters on the CPU.
#[derive(Debug)]
pub(in crate::ops) struct Map {
    cpu: CpuDevice,
    nonlinearity: Nonlinearity,
    products: Arc<Products>,
    phase_s: Vec<f32>,
    amplitude_s: Vec<f32>,
}

/// Fewer products than this are not worth waking another thread.
const WORTH_A_THREAD: usize = 1 << 18;
/// Sparse rows that pass a panel of frequencies together.
const SPARSE_ROWS: usize = 512;

impl Map {
    pub(in crate::ops) fn new(cpu: &CpuDevice, map: &DenseMap) -> Self {
        let w_ds = map.w_ds.as_standard_layout();
        let flat = w_ds.as_slice().expect("standard layout");
        let panels = Panels::pack(flat, map.depth(), map.freqs());
        Self {
            cpu: cpu.clone(),
            nonlinearity: map.nonlinearity.clone(),
            products: Arc::new(Products::new(panels)),
            phase_s: map.phase_s.clone(),
            amplitude_s: map.amplitude_s.clone(),
        }
    }

    pub(in crate::ops) fn freqs(&self) -> usize {
        self.phase_s.len()
    }

    pub(in crate::ops) fn outputs(&self) -> usize {
        self.freqs() * self.nonlinearity.outputs()
    }

    /// Writes the features of the rows of `x`; more than the caches hold is written past them:
    /// nobody reads it before it would have left.
    pub(in crate::ops) fn run(&self, x: &[f32], z: &mut [f32]) {
        self.write(x, z, PastCache::suits(size_of_val(z)));
    }

    /// As [`Self::run`], past the caches or not.
    pub(super) fn write(&self, x: &[f32], z: &mut [f32], past: bool) {
        let cpu = &self.cpu;
        let outputs = self.outputs();
        let rows = z.len() / outputs;
        if rows == 0 {
            return;
        }
        let depth = x.len() / rows;
        // Products of the call, x.len() being rows times depth.
        let worth = (x.len() * self.freqs()).div_ceil(WORTH_A_THREAD);
        let threads = cpu.threads().min(worth);
        cpu.call();
        // Alone, with many rows each, or with frequencies each: the sums of an entry have one order
        // in all three.
        if threads <= 1 {
            // No pool: handing over would take longer than the work.
            self.featurize_block(x, z, past);
        } else if rows < SPLIT_ROWS * threads {
            shared::featurize(self, x, z, threads - 1);
        } else {
            let block = rows_per_block(rows, threads);
            cpu.install(|| {
                parallel::usual().pairs(z, block * outputs, (x, block * depth), &|z, x| {
                    self.featurize_block(x, z, past);
                });
            });
        }
    }

    /// The features of some rows, on this thread, written past the caches or not.
    fn featurize_block(&self, x: &[f32], z: &mut [f32], past: bool) {
        let (map, panels) = (self, self.products.all());
        if past {
            let sink = &PastCache::new();
            self.project(x, panels, Features { map, z, sink });
        } else {
            self.project(x, panels, Features::through_cache(map, z));
        }
    }

    /// Writes the features of `base_d + x` for sparse rows x.
    pub(in crate::ops) fn run_sparse(&self, base_d: &[f32], x: Entries<'_>, z: &mut [f32]) {
        let outputs = self.outputs();
        let rows = z.len() / outputs;
        if rows == 0 {
            return;
        }
        let cpu = &self.cpu;
        let mut base_s = vec![0.0; self.freqs()];
        if base_d.iter().any(|&b| b != 0.0) {
            let (t, width) = (&mut base_s[..], self.freqs());
            self.project(base_d, self.products.all(), Copy { t, width });
        }
        let past = PastCache::suits(size_of_val(z));
        let block = rows.div_ceil(cpu.threads()).clamp(1, SPARSE_ROWS);
        cpu.call();
        cpu.install(|| {
            parallel::usual().chunks(z, block * outputs, &|i, z| {
                let from = i * block;
                let x = Entries {
                    starts: &x.starts[from..=from + z.len() / outputs],
                    ..x
                };
                let (map, panels) = (self, self.products.all());
                if past {
                    let sink = &PastCache::new();
                    for_each_sparse_row(x, &base_s, panels, Features { map, z, sink });
                } else {
                    for_each_sparse_row(x, &base_s, panels, Features::through_cache(map, z));
                }
            });
        });
    }

    /// Hands the products of `x` with some of the frequencies to `epilogue`, on this thread.
    pub(in crate::ops) fn project(
        &self,
        x: &[f32],
        panels: PanelsView<'_>,
        epilogue: impl Epilogue,
    ) {
        self.products.project(x, &mut iter::once(panels), epilogue);
    }

    /// The nonlinearity on the projections of one row on the frequencies from `col` on. `second`
    /// takes the sines of the paired form and is not touched otherwise.
    #[inline(always)]
    pub(in crate::ops) fn apply<S: Simd>(
        &self,
        simd: S,
        t: &[f32],
        col: usize,
        z: &mut [f32],
        second: &mut [f32],
        sink: &impl Sink,
    ) {
        // All three cut to one length here, so that the loops below check no bounds.
        let phase = &self.phase_s[col..col + t.len()];
        let amplitude = &self.amplitude_s[col..col + t.len()];
        let z = &mut z[..t.len()];
        match &self.nonlinearity {
            Nonlinearity::CosSin => {
                let second = &mut second[..t.len()];
                let (z, z_rest) = S::as_mut_simd_f32s(z);
                let (second, second_rest) = S::as_mut_simd_f32s(second);
                let ((t, t_rest), (phase, phase_rest)) =
                    (S::as_simd_f32s(t), S::as_simd_f32s(phase));
                let (amplitude, amplitude_rest) = S::as_simd_f32s(amplitude);
                let outputs = z.iter_mut().zip(second);
                for ((c, s), ((&t, &phase), &a)) in outputs.zip(t.iter().zip(phase).zip(amplitude))
                {
                    // One reduction to the nearest whole turn serves both.
                    let (cos, sin) = cosines_and_sines(simd, simd.add_f32s(t, phase));
                    sink.store::<S>(c, simd.mul_f32s(a, cos));
                    sink.store::<S>(s, simd.mul_f32s(a, sin));
                }
                if !t_rest.is_empty() {
                    let [t, phase, a] = [t_rest, phase_rest, amplitude_rest]
                        .map(|rest| simd.partial_load_f32s(rest));
                    let (cos, sin) = cosines_and_sines(simd, simd.add_f32s(t, phase));
                    simd.partial_store_f32s(z_rest, simd.mul_f32s(a, cos));
                    simd.partial_store_f32s(second_rest, simd.mul_f32s(a, sin));
                }
            }
            Nonlinearity::Cos => apply_each::<S, Cosine>(simd, (t, phase, amplitude), z, sink),
            Nonlinearity::Step => apply_each::<S, Step>(simd, (t, phase, amplitude), z, sink),
            Nonlinearity::Relu => apply_each::<S, Relu>(simd, (t, phase, amplitude), z, sink),
            Nonlinearity::ReluSquared => {
                apply_each::<S, ReluSquared>(simd, (t, phase, amplitude), z, sink)
            }
            Nonlinearity::Identity => {
                apply_each::<S, Identity>(simd, (t, phase, amplitude), z, sink)
            }
            // Nothing is known of the function: one call a value, no vectors.
            Nonlinearity::Custom(own) => {
                for (z, ((&t, &phase), &a)) in z.iter_mut().zip(t.iter().zip(phase).zip(amplitude))
                {
                    *z = a * own.at(t + phase);
                }
            }
        }
    }

    /// Output columns of one frequency.
    pub(in crate::ops) fn parts(&self) -> usize {
        self.nonlinearity.outputs()
    }

    pub(in crate::ops) fn cpu(&self) -> &CpuDevice {
        &self.cpu
    }

    pub(in crate::ops) fn panels(&self) -> &Panels {
        self.products.panels()
    }

    pub(super) fn products(&self) -> &Arc<Products> {
        &self.products
    }
}

/// A function of one variable. Types and not closures: only what is `#[inline(always)]` runs under
/// the vector instructions of its caller.
trait Function {
    fn vector<S: Simd>(simd: S, t: S::f32s) -> S::f32s;
}

struct Cosine;
struct Step;
struct Relu;
struct ReluSquared;
struct Identity;

impl Function for Cosine {
    #[inline(always)]
    fn vector<S: Simd>(simd: S, t: S::f32s) -> S::f32s {
        cosines(simd, t)
    }
}

impl Function for Step {
    #[inline(always)]
    fn vector<S: Simd>(simd: S, t: S::f32s) -> S::f32s {
        let zero = simd.splat_f32s(0.0);
        simd.select_f32s(simd.greater_than_f32s(t, zero), simd.splat_f32s(1.0), zero)
    }
}

impl Function for Relu {
    #[inline(always)]
    fn vector<S: Simd>(simd: S, t: S::f32s) -> S::f32s {
        simd.max_f32s(t, simd.splat_f32s(0.0))
    }
}

impl Function for ReluSquared {
    #[inline(always)]
    fn vector<S: Simd>(simd: S, t: S::f32s) -> S::f32s {
        let positive = Relu::vector(simd, t);
        simd.mul_f32s(positive, positive)
    }
}

impl Function for Identity {
    #[inline(always)]
    fn vector<S: Simd>(_simd: S, t: S::f32s) -> S::f32s {
        t
    }
}

/// `amplitude * f(t + phase)`. What fills no whole vector goes through one, too: one number at a
/// time the functions round otherwise, and how many are left over depends on the processor.
#[inline(always)]
fn apply_each<S: Simd, F: Function>(
    simd: S,
    (t, phase, amplitude): (&[f32], &[f32], &[f32]),
    z: &mut [f32],
    sink: &impl Sink,
) {
    let (z, z_rest) = S::as_mut_simd_f32s(z);
    let ((t, t_rest), (phase, phase_rest)) = (S::as_simd_f32s(t), S::as_simd_f32s(phase));
    let (amplitude, amplitude_rest) = S::as_simd_f32s(amplitude);
    for (z, ((&t, &phase), &a)) in z.iter_mut().zip(t.iter().zip(phase).zip(amplitude)) {
        sink.store::<S>(
            z,
            simd.mul_f32s(a, F::vector(simd, simd.add_f32s(t, phase))),
        );
    }
    if !t_rest.is_empty() {
        let [t, phase, a] =
            [t_rest, phase_rest, amplitude_rest].map(|rest| simd.partial_load_f32s(rest));
        let values = simd.mul_f32s(a, F::vector(simd, simd.add_f32s(t, phase)));
        simd.partial_store_f32s(z_rest, values);
    }
}

/// Writes features where they belong.
pub(super) struct Features<'a, W> {
    map: &'a Map,
    z: &'a mut [f32],
    sink: &'a W,
}

impl<'a> Features<'a, ThroughCache> {
    pub(super) fn through_cache(map: &'a Map, z: &'a mut [f32]) -> Self {
        let sink = &ThroughCache;
        Self { map, z, sink }
    }
}

impl<W: Sink> Epilogue for Features<'_, W> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        let outputs = self.map.outputs();
        let (z, second) = self.z[row * outputs..][..outputs].split_at_mut(self.map.freqs());
        // Unpaired forms have no second outputs.
        let second = second.get_mut(col..).unwrap_or_default();
        self.map
            .apply(simd, t, col, &mut z[col..], second, self.sink);
    }

    #[inline(always)]
    fn rows<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        let map = self.map;
        // `t` is a register tile: two vectors of each row, one row after another.
        let (outputs, freqs, width) = (map.outputs(), map.freqs(), 2 * S::F32_LANES);
        let z = self.z[row * outputs..].chunks_exact_mut(outputs);
        let rows = z.zip(t.chunks_exact(width));
        // The choice once for all rows; inside, whole vectors only.
        match map.nonlinearity {
            Nonlinearity::CosSin => {
                for (z, t) in rows {
                    let (cos, sin) = z.split_at_mut(freqs);
                    map.apply(simd, t, col, &mut cos[col..], &mut sin[col..], self.sink);
                }
            }
            _ => {
                for (z, t) in rows {
                    map.apply(simd, t, col, &mut z[col..], &mut [], self.sink);
                }
            }
        }
    }
}

/// Keeps the projections.
struct Copy<'a> {
    t: &'a mut [f32],
    width: usize,
}

impl Epilogue for Copy<'_> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        self.t[row * self.width + col..][..t.len()].copy_from_slice(t);
    }
}

/// With fewer rows a thread, threads share the frequencies instead.
const SPLIT_ROWS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Wherever memory begins, with rows of whole vectors and of others.
    #[test]
    fn what_goes_past_the_caches_has_the_same_bits() {
        let cpu = CpuDevice::with_threads(2).expect("starts");
        for (freqs, nonlinearity) in [
            (64, Nonlinearity::CosSin),
            (96, Nonlinearity::Cos),
            (45, Nonlinearity::CosSin),
        ] {
            let w = |(k, j): (usize, usize)| ((k * 7 + j * 3) % 11) as f32 * 0.1 - 0.5;
            let map = DenseMap {
                w_ds: Array2::from_shape_fn((5, freqs), w),
                phase_s: (0..freqs).map(|j| j as f32 / freqs as f32).collect(),
                amplitude_s: vec![0.5; freqs],
                nonlinearity,
            };
            let map = Map::new(&cpu, &map);
            for rows in [1, 700] {
                let x: Vec<f32> = (0..rows * 5).map(|i| (i % 13) as f32 * 0.2).collect();
                let mut expected = vec![f32::NAN; rows * map.outputs()];
                map.write(&x, &mut expected, false);
                for from in [0, 1, 16] {
                    let mut all = vec![f32::NAN; from + expected.len()];
                    map.write(&x, &mut all[from..], true);
                    assert!(all[from..] == expected, "{rows} {freqs} {from}");
                }
            }
        }
    }
}
