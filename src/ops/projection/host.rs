//! The dense map on the CPU: packed frequencies, register tiles, and the nonlinearity while a piece of a row is in cache.

use super::{DenseMap, Nonlinearity};
#[cfg(target_arch = "x86_64")]
use crate::ops::host::HalfPanels;
use crate::ops::{
    cos2pi::{cos2pi, sin2pi},
    host::{Epilogue, Panels, PanelsView, for_each_row},
};
use rayon::prelude::*;

/// The parameters on the CPU.
#[derive(Debug)]
pub(in crate::ops) struct HostMap {
    nonlinearity: Nonlinearity,
    panels: Panels,
    /// The same in 16 bits, for a row or two, where that is exact.
    #[cfg(target_arch = "x86_64")]
    half: Option<HalfPanels>,
    phase_s: Vec<f32>,
    amplitude_s: Vec<f32>,
}

/// Fewer products than this are not worth waking another thread.
const WORTH_A_THREAD: usize = 1 << 18;

impl HostMap {
    pub(super) fn new(map: &DenseMap) -> Self {
        let w_ds = map.w_ds.as_standard_layout();
        let flat = w_ds.as_slice().expect("standard layout");
        let panels = Panels::pack(flat, map.depth(), map.freqs());
        Self {
            nonlinearity: map.nonlinearity,
            #[cfg(target_arch = "x86_64")]
            half: HalfPanels::of(&panels),
            panels,
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

    /// Writes the features of the rows of `x`.
    pub(super) fn featurize(&self, x: &[f32], z: &mut [f32], threads: usize) {
        let outputs = self.outputs();
        let rows = z.len() / outputs;
        if rows == 0 {
            return;
        }
        let depth = x.len() / rows;
        #[cfg(target_arch = "x86_64")]
        if let (1 | 2, Some(half)) = (rows, &self.half) {
            return half.for_each_row(x, &mut Features { map: self, z });
        }
        let threads = threads.min((x.len() * self.freqs()).div_ceil(WORTH_A_THREAD));
        if threads > 1 && rows < SPLIT_ROWS * threads {
            return self.featurize_few(x, z, (rows, threads));
        }
        let block = rows_per_block(rows, threads);
        let work = |z: &mut [f32], x: &[f32]| {
            for_each_row(x, self.panels.all(), Features { map: self, z });
        };
        if threads == 1 {
            return work(z, x);
        }
        z.par_chunks_mut(block * outputs)
            .zip(x.par_chunks(block * depth))
            .for_each(|(z, x)| work(z, x));
    }

    /// A few rows: threads share the frequencies, each in memory of its own.
    fn featurize_few(&self, x: &[f32], z: &mut [f32], (rows, threads): (usize, usize)) {
        let parts: Vec<_> = self.panels.all().split(threads).collect();
        let mut pieces: Vec<Vec<f32>> = vec![Vec::new(); parts.len()];
        let projected = pieces.par_iter_mut().zip(&parts);
        projected.for_each(|(t, (_, panels))| {
            let width = panels.columns();
            t.resize(rows * width, 0.0);
            for_each_row(x, *panels, Copy { t, width });
        });
        pulp::Arch::new().dispatch(Gather {
            map: self,
            parts: &parts,
            pieces: &pieces,
            z,
        });
    }

    /// The nonlinearity on the projections of one row on the frequencies from `col` on. `second` takes the sines of the
    /// paired form and is not touched otherwise.
    #[inline(always)]
    pub(in crate::ops) fn apply(&self, t: &[f32], col: usize, z: &mut [f32], second: &mut [f32]) {
        let phase = &self.phase_s[col..col + t.len()];
        let amplitude = &self.amplitude_s[col..col + t.len()];
        match self.nonlinearity {
            Nonlinearity::CosSin => {
                let outputs = z.iter_mut().zip(second);
                for ((c, s), ((&t, &phase), &a)) in outputs.zip(t.iter().zip(phase).zip(amplitude))
                {
                    *c = a * cos2pi(t + phase);
                    *s = a * sin2pi(t + phase);
                }
            }
            Nonlinearity::Cos => each(t, phase, amplitude, z, cos2pi),
            Nonlinearity::Step => each(t, phase, amplitude, z, |t| f32::from(u8::from(t > 0.0))),
            Nonlinearity::Relu => each(t, phase, amplitude, z, |t| t.max(0.0)),
            Nonlinearity::ReluSquared => {
                each(t, phase, amplitude, z, |t| t.max(0.0) * t.max(0.0));
            }
        }
    }

    /// Output columns of one frequency.
    pub(in crate::ops) fn parts(&self) -> usize {
        self.nonlinearity.outputs()
    }

    pub(in crate::ops) fn panels(&self) -> &Panels {
        &self.panels
    }
}

#[inline(always)]
fn each(t: &[f32], phase: &[f32], amplitude: &[f32], z: &mut [f32], f: impl Fn(f32) -> f32) {
    for (z, ((&t, &phase), &a)) in z.iter_mut().zip(t.iter().zip(phase).zip(amplitude)) {
        *z = a * f(t + phase);
    }
}

/// Writes features where they belong.
struct Features<'a> {
    map: &'a HostMap,
    z: &'a mut [f32],
}

impl Epilogue for Features<'_> {
    #[inline(always)]
    fn row(&mut self, row: usize, col: usize, t: &[f32]) {
        let outputs = self.map.outputs();
        let (z, second) = self.z[row * outputs..][..outputs].split_at_mut(self.map.freqs());
        let second = second.get_mut(col..).unwrap_or_default();
        self.map.apply(t, col, &mut z[col..], second);
    }
}

/// The nonlinearity on what threads have projected. A type and not a closure: pulp inlines only the former whole.
struct Gather<'a> {
    map: &'a HostMap,
    parts: &'a [(usize, PanelsView<'a>)],
    pieces: &'a [Vec<f32>],
    z: &'a mut [f32],
}

impl pulp::WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let mut features = Features {
            map: self.map,
            z: self.z,
        };
        for ((col, panels), t) in self.parts.iter().zip(self.pieces) {
            for (row, t) in t.chunks_exact(panels.columns()).enumerate() {
                features.row(row, *col, t);
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
    fn row(&mut self, row: usize, col: usize, t: &[f32]) {
        self.t[row * self.width + col..][..t.len()].copy_from_slice(t);
    }
}

/// With fewer rows a thread, threads share the frequencies instead.
const SPLIT_ROWS: usize = 12;

/// Rows of a block on the CPU: small enough for cache and for every thread to have work, in whole register tiles.
pub(crate) fn rows_per_block(rows: usize, threads: usize) -> usize {
    rows.div_ceil(threads.max(1))
        .next_multiple_of(12)
        .clamp(12, 240)
}
