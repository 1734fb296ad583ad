//! Measuring the choices of a class.

use super::{
    choice::Choice,
    tile::Tile,
    tuning::{Class, TunedOp},
};
use crate::{
    Device, Error, Matrix, Result,
    device::{GpuDevice, gpu::AdapterKind},
    ops::{
        Nonlinearity,
        gram::GramAccumulator,
        product,
        projection::{DenseMap, Projection},
        walsh_hadamard::{Exchange, WalshHadamard},
    },
};
use ndarray::Array2;
use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// Rounds over all candidates, after one that compiles.
const ROUNDS: usize = 5;
/// What is so many times slower than the best in the first round is dropped.
const HOPELESS: f64 = 2.0;
/// Another choice than the default must be better by this factor.
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
            // The large ones are more than the caches of most adapters hold.
            (TunedOp::Transform, large) => {
                let n = if self.deep { 1024 } else { 256 };
                let elements = if large { 1 << 24 } else { 1 << 18 };
                [elements / n, n, n]
            }
            (_, false) => [512, depth, 1024],
            (_, true) => [2048, depth, 4096],
        };
        match (kind, self.op) {
            // Thousands of times slower: less of the same.
            (AdapterKind::Software, TunedOp::Gram) => [rows / 4, depth / 16, cols / 4],
            (AdapterKind::Software, TunedOp::Transform) => [rows / 4, depth, cols],
            (AdapterKind::Software, _) => [rows / 16, depth, cols / 4],
            _ => [rows, depth, cols],
        }
    }
}

/// What [`tune`] measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// What is taken from now on.
    pub winner: Choice,
    /// Everything of the menu that ran, and the seconds of its shortest run.
    pub seconds: Vec<(Choice, f64)>,
}

/// Times the choices of a class on data of its own, some milliseconds each, and keeps the fastest
/// in memory and in the cache. Errors when the device does, or has no memory left, and with
/// [`Error::Unsupported`] where the adapter leaves no choice; the default then stays. Other threads
/// may use the device meanwhile; they make the times longer, and the choice perhaps another.
pub fn tune(gpu: &GpuDevice, class: Class) -> Result<Tuned> {
    // Nothing is to be measured where an adapter can only take the default.
    class.menu().try_for_each(|choice| choice.check(gpu))?;
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
    let winner = winner(&seconds, class.default_choice(gpu.report().kind));
    gpu.choices().set(&class.to_string(), winner.name());
    Ok(Tuned { winner, seconds })
}

/// Everything of the menu that the driver compiles, and the seconds of its shortest run.
fn measure(trial: &mut Trial, class: Class) -> Result<Vec<(Choice, f64)>> {
    let mut taken = Vec::new();
    for choice in class.menu() {
        // The first run compiles. What the driver cannot compile is none of this adapter's.
        match trial.seconds(choice) {
            Ok(_) if !trial.is_sound(choice)? => {
                log::info!("{class}: {choice} gives other bits than the default");
            }
            Ok(_) => taken.push((choice, vec![trial.seconds(choice)?])),
            Err(Error::Shader(reason)) => log::info!("{choice}: {reason}"),
            Err(error) => return Err(error),
        }
    }
    let least = |taken: &[(Choice, Vec<f64>)]| {
        let first = taken.iter().map(|(_, s)| s[0]);
        first.fold(f64::INFINITY, f64::min)
    };
    let limit = HOPELESS * least(&taken);
    for _ in 1..ROUNDS {
        for (choice, seconds) in &mut taken {
            if seconds[0] <= limit {
                seconds.push(trial.seconds(*choice)?);
            }
        }
    }
    // Other work on the device only ever adds to a time.
    let shortest = |(choice, seconds): (Choice, Vec<f64>)| {
        (choice, seconds.into_iter().fold(f64::INFINITY, f64::min))
    };
    Ok(taken.into_iter().map(shortest).collect())
}

/// The fastest, or the default where that is about as fast.
fn winner(seconds: &[(Choice, f64)], default: Choice) -> Choice {
    let of = |wanted: Choice| seconds.iter().find(|(choice, _)| *choice == wanted);
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
        // Of Gram sums, a is Z and b is Y; of predictions, b is beta; transforms need no b.
        let (a, b, out) = match class.op {
            TunedOp::Gram => ([depth, cols], [depth, 4], [1, 1]),
            TunedOp::Predict => ([rows, depth], [2 * cols, 4], [rows, 4]),
            TunedOp::Projection => ([rows, depth], [1, 1], [rows, 2 * cols]),
            TunedOp::Product => ([rows, depth], [depth, cols], [rows, cols]),
            TunedOp::Transform => ([rows, cols], [1, 1], [rows, cols]),
        };
        let (freqs, depth) = match class.op {
            TunedOp::Projection | TunedOp::Predict => (cols, depth),
            _ => (1, 1),
        };
        Ok(Self {
            gpu: gpu.clone(),
            class,
            a: noisy(&device, a)?,
            b: noisy(&device, b)?,
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
    fn seconds(&mut self, choice: Choice) -> Result<f64> {
        let seconds = match choice {
            Choice::Tile(tile) => self.tiled(tile),
            Choice::Exchange(exchange) => {
                let op = WalshHadamard::new(self.a.cols())?.with_exchange(exchange);
                let (a, out) = (&self.a, &mut self.out);
                time(&self.gpu, self.timestamps, || op.run_into(a, out))
            }
        }?;
        if let Some(seconds) = seconds {
            return Ok(seconds);
        }
        // A clock that stands still is none.
        self.timestamps = false;
        self.seconds(choice)
    }

    fn tiled(&mut self, tile: Tile) -> Result<Option<f64>> {
        let gpu = self.gpu.clone();
        let device = Device::Gpu(gpu.clone());
        let timestamps = self.timestamps;
        let (a, b, out) = (&self.a, &self.b, &mut self.out);
        match self.class.op {
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
            TunedOp::Transform => unreachable!("transforms have no tiles"),
        }
    }

    /// Whether a choice may be taken. Shuffles rely on subgroups that are full and of the size that
    /// the driver told: what gives other bits than the default here is not taken, so that tuning
    /// changes no bit of a transform.
    fn is_sound(&self, choice: Choice) -> Result<bool> {
        let Choice::Exchange(exchange) = choice else {
            return Ok(true);
        };
        let device = Device::Gpu(self.gpu.clone());
        let n = self.a.cols();
        let x_nd = noisy(&device, [259, n])?;
        let bits = |exchange| {
            let mut y_nd = Matrix::new(&device, x_nd.rows(), n)?;
            let op = WalshHadamard::new(n)?.with_exchange(exchange);
            op.run_into(&x_nd, &mut y_nd)?;
            y_nd.download()
        };
        Ok(bits(exchange)? == bits(Exchange::WorkgroupMemory)?)
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

fn noisy(device: &Device, [rows, cols]: [usize; 2]) -> Result<Matrix> {
    let mut matrix = Matrix::new(device, rows, cols)?;
    matrix.write_with(|out| (0..).zip(out).for_each(|(i, v)| *v = noise(i)))?;
    Ok(matrix)
}

/// Numbers in [-1, 1) that no unit can shorten its work on.
fn noise(i: usize) -> f32 {
    let bits = (i as u32).wrapping_mul(0x9e37_79b9) ^ (i as u32 >> 7).wrapping_mul(0x85eb_ca6b);
    (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::tile;

    #[test]
    fn the_default_stays_unless_another_is_clearly_faster() {
        let [usual, other, third] =
            [tile::SHARED_64, tile::SHARED_32, tile::SHARED_128].map(Choice::Tile);
        let times = |seconds| [(usual, 1.0), (other, seconds)];
        assert_eq!(winner(&times(0.98), usual), usual);
        assert_eq!(winner(&times(0.9), usual), other);
        assert_eq!(winner(&times(0.98), third), other);
    }
}
