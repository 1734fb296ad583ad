//! Measuring the shapes of a class.

use super::{Class, TunedOp};
use crate::{
    Device, Error, Matrix, Result,
    device::{GpuDevice, gpu::AdapterKind},
    ops::{
        gram::GramAccumulator,
        product,
        projection::{DenseMap, Nonlinearity, Projection},
        tile::Tile,
    },
};
use ndarray::Array2;
use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// Rounds over all candidates, after one that compiles.
const ROUNDS: usize = 5;
/// A shape so many times slower than the best in the first round is dropped.
const HOPELESS: f64 = 2.0;
/// Another shape than the default must be better by this factor.
const BETTER: f64 = 0.97;

impl Class {
    /// Rows, depth and columns that stand for the class.
    pub(super) fn shape(&self, kind: AdapterKind) -> [usize; 3] {
        let depth = if self.deep { 256 } else { 32 };
        let [rows, depth, cols] = match (self.op, self.large) {
            (TunedOp::Predict, false) => [4096, depth, 512],
            (TunedOp::Predict, true) => [65_536, depth, 256],
            (TunedOp::Gram, false) => [512, 2048, 512],
            (TunedOp::Gram, true) => [2048, 2048, 2048],
            (_, false) => [512, depth, 1024],
            (_, true) => [2048, depth, 4096],
        };
        match (kind, self.op) {
            // Thousands of times slower: less of the same.
            (AdapterKind::Software, TunedOp::Gram) => [rows / 4, depth / 16, cols / 4],
            (AdapterKind::Software, _) => [rows / 16, depth, cols / 4],
            _ => [rows, depth, cols],
        }
    }
}

/// What [`tune`] measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The shape that is taken from now on.
    pub winner: Tile,
    /// Every shape of the menu that ran, and the seconds of its shortest run.
    pub seconds: Vec<(Tile, f64)>,
}

/// Times the shapes of a class on data of its own, some milliseconds each, and keeps the fastest in memory and in the cache.
/// Errors when the device does, or has no memory left; the default then stays. Other threads may use the device meanwhile; they
/// make the times longer, and the choice perhaps another.
pub fn tune(gpu: &GpuDevice, class: Class) -> Result<Tuned> {
    // One at a time, or timestamps would be refused to the second.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut trial = Trial::new(gpu, class)?;
    let clock = trial.timestamps;
    let mut seconds = measure(&mut trial, class)?;
    if trial.timestamps != clock {
        // The clock changed on the way, and times by two clocks cannot be compared.
        seconds = measure(&mut trial, class)?;
    }
    let winner = winner(&seconds, class.default_tile(gpu.report().kind));
    gpu.choices().set(&class.to_string(), winner.name);
    Ok(Tuned { winner, seconds })
}

/// Every shape that the driver compiles, and the seconds of its shortest run.
fn measure(trial: &mut Trial, class: Class) -> Result<Vec<(Tile, f64)>> {
    let mut taken = Vec::new();
    for &tile in class.menu() {
        // The first run compiles. A shape that the driver cannot compile is none of this adapter's.
        match trial.seconds(tile) {
            Ok(_) => taken.push((tile, vec![trial.seconds(tile)?])),
            Err(Error::Shader(reason)) => log::info!("{}: {reason}", tile.name),
            Err(error) => return Err(error),
        }
    }
    let least = |taken: &[(Tile, Vec<f64>)]| {
        let first = taken.iter().map(|(_, s)| s[0]);
        first.fold(f64::INFINITY, f64::min)
    };
    let limit = HOPELESS * least(&taken);
    for _ in 1..ROUNDS {
        for (tile, seconds) in &mut taken {
            if seconds[0] <= limit {
                seconds.push(trial.seconds(*tile)?);
            }
        }
    }
    // Other work on the device only ever adds to a time.
    let shortest = |(tile, seconds): (Tile, Vec<f64>)| {
        (tile, seconds.into_iter().fold(f64::INFINITY, f64::min))
    };
    Ok(taken.into_iter().map(shortest).collect())
}

/// The fastest, or the default where that is about as fast.
fn winner(seconds: &[(Tile, f64)], default: Tile) -> Tile {
    let of = |wanted: Tile| seconds.iter().find(|(tile, _)| *tile == wanted);
    let best = seconds.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    match (best, of(default)) {
        (Some(best), Some(usual)) if best.1 < BETTER * usual.1 => best.0,
        (Some(best), None) => best.0,
        _ => default,
    }
}

/// Operands of a class on the device.
struct Trial {
    gpu: GpuDevice,
    class: Class,
    a: Matrix,
    b: Matrix,
    out: Matrix,
    map: DenseMap,
    timestamps: bool,
}

impl Trial {
    fn new(gpu: &GpuDevice, class: Class) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let [rows, depth, cols] = class.shape(gpu.report().kind);
        // Of Gram sums, a is Z and b is Y; of predictions, b is beta.
        let (a, b, out) = match class.op {
            TunedOp::Gram => ([depth, cols], [depth, 4], [1, 1]),
            TunedOp::Predict => ([rows, depth], [2 * cols, 4], [rows, 4]),
            TunedOp::Projection => ([rows, depth], [1, 1], [rows, 2 * cols]),
            TunedOp::Product => ([rows, depth], [depth, cols], [rows, cols]),
        };
        let fill = |[rows, cols]: [usize; 2]| -> Result<Matrix> {
            let mut matrix = Matrix::new(&device, rows, cols)?;
            matrix.write_with(|out| (0..).zip(out).for_each(|(i, v)| *v = noise(i)))?;
            Ok(matrix)
        };
        let (freqs, depth) = match class.op {
            TunedOp::Projection | TunedOp::Predict => (cols, depth),
            _ => (1, 1),
        };
        Ok(Self {
            gpu: gpu.clone(),
            class,
            a: fill(a)?,
            b: fill(b)?,
            out: Matrix::new(&device, out[0], out[1])?,
            map: DenseMap {
                w_ds: Array2::from_shape_fn((depth, freqs), |(k, l)| noise(k * freqs + l)),
                phase_s: vec![0.0; freqs],
                amplitude_s: vec![1.0; freqs],
                nonlinearity: Nonlinearity::CosSin,
            },
            timestamps: gpu.has_timestamps(),
        })
    }

    /// Seconds of one run, by timestamps if the adapter has sound ones.
    fn seconds(&mut self, tile: Tile) -> Result<f64> {
        let gpu = self.gpu.clone();
        let device = Device::Gpu(gpu.clone());
        let timestamps = self.timestamps;
        let (a, b, out) = (&self.a, &self.b, &mut self.out);
        let seconds = match self.class.op {
            TunedOp::Projection => {
                let op = Projection::load_with(&device, &self.map, tile.into())?;
                time(&gpu, timestamps, || op.run(a, out))
            }
            TunedOp::Predict => {
                let op = Projection::load_with(&device, &self.map, tile.into())?;
                time(&gpu, timestamps, || op.predict(a, b, out))
            }
            TunedOp::Product => time(&gpu, timestamps, || {
                product::product_with(a, b, out, tile.into())
            }),
            TunedOp::Gram => {
                let sums = GramAccumulator::with_tile(&device, a.cols(), b.cols(), tile, u64::MAX);
                let mut sums = sums?;
                time(&gpu, timestamps, || sums.add(a, b))
            }
        }?;
        if let Some(seconds) = seconds {
            return Ok(seconds);
        }
        // A clock that stands still is none.
        self.timestamps = false;
        self.seconds(tile)
    }
}

/// `None` when the timestamps cannot be right.
fn time(
    gpu: &GpuDevice,
    timestamps: bool,
    mut run: impl FnMut() -> Result<()>,
) -> Result<Option<f64>> {
    if timestamps {
        return match gpu.time(1, run) {
            Ok(taken) => Ok(taken
                .first()
                .copied()
                .filter(|s| (1e-9..3600.0).contains(s))),
            Err(Error::Unsupported(_)) => Ok(None),
            Err(error) => Err(error),
        };
    }
    gpu.synchronize()?;
    let start = Instant::now();
    run()?;
    gpu.synchronize()?;
    Ok(Some(start.elapsed().as_secs_f64().max(1e-9)))
}

/// Numbers in [-1, 1) that no unit can shorten its work on.
fn noise(i: usize) -> f32 {
    let bits = (i as u32).wrapping_mul(0x9e37_79b9) ^ (i as u32 >> 7).wrapping_mul(0x85eb_ca6b);
    (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::tile;

    #[test]
    fn the_default_stays_unless_another_is_clearly_faster() {
        let times = |other| [(tile::SHARED_64, 1.0), (tile::SHARED_32, other)];
        assert_eq!(winner(&times(0.98), tile::SHARED_64), tile::SHARED_64);
        assert_eq!(winner(&times(0.9), tile::SHARED_64), tile::SHARED_32);
        assert_eq!(winner(&times(0.98), tile::SHARED_128), tile::SHARED_32);
    }
}
