//! Measuring the ways of a menu.

use super::{Class, Menu, Way};
use crate::clock::Instant;
use crate::{Device, Error, Matrix, Result, device::GpuDevice};
use std::sync::{Mutex, PoisonError};

/// Rounds over all ways, after one that compiles.
const ROUNDS: usize = 5;
/// What is so many times slower than the best in the first round is dropped.
const HOPELESS: f64 = 2.0;
/// Another way than the default must be better by this factor.
const BETTER: f64 = 0.97;

/// Data of a class on a device, on which the ways of a menu are timed.
pub trait Race<W> {
    /// What does the work once in this way: what it needs is loaded before it is timed.
    fn runner(&mut self, way: W) -> Result<Box<dyn FnMut() -> Result<()> + '_>>;

    /// Whether a way may be taken here. It has run before.
    fn is_sound(&mut self, _way: W) -> Result<bool> {
        Ok(true)
    }
}

/// What a race measured, by the names of the ways.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// What is taken from now on.
    pub winner: &'static str,
    /// Everything of the menu that ran, and the seconds of its shortest run.
    pub seconds: Vec<(&'static str, f64)>,
}

/// See [`super::Contest::tune`].
pub(super) fn run<W: Way>(menu: &Menu<W>, gpu: &GpuDevice, class: Class) -> Result<Tuned> {
    // Nothing is to be measured where an adapter can only take the default.
    menu.ways.iter().try_for_each(|way| way.check(gpu))?;
    // One at a time, or timestamps would be refused to the second.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let kind = gpu.report().kind;
    let mut trial = Trial {
        gpu,
        race: (menu.race)(gpu, class)?,
        timestamps: gpu.has_timestamps(),
    };
    let name = format!("{} {}", menu.op, class.name());
    let clock = trial.timestamps;
    let mut seconds = trial.measure(menu.ways, &name)?;
    if trial.timestamps != clock {
        // The clock changed on the way, and times by two clocks cannot be compared.
        seconds = trial.measure(menu.ways, &name)?;
    }
    let winner = winner(&seconds, (menu.default)(kind, class).name());
    gpu.choices().set(menu.op, class.name(), winner);
    Ok(Tuned { winner, seconds })
}

/// The fastest, or the default where that is about as fast.
fn winner(seconds: &[(&'static str, f64)], default: &'static str) -> &'static str {
    let usual = seconds.iter().find(|(way, _)| *way == default);
    let best = seconds.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    match (best, usual) {
        (Some(best), Some(usual)) if best.1 < BETTER * usual.1 => best.0,
        (Some(best), None) => best.0,
        _ => default,
    }
}

/// A race under way.
struct Trial<'a, W> {
    gpu: &'a GpuDevice,
    race: Box<dyn Race<W>>,
    timestamps: bool,
}

impl<W: Way> Trial<'_, W> {
    /// Every way that the driver compiles, and the seconds of its shortest run.
    fn measure(&mut self, ways: &[W], class: &str) -> Result<Vec<(&'static str, f64)>> {
        let mut taken: Vec<(W, Vec<f64>)> = Vec::new();
        for &way in ways {
            // The first run compiles. What the driver cannot compile is none of this adapter's.
            match self.seconds(way) {
                Ok(_) if !self.race.is_sound(way)? => {
                    let way = way.name();
                    log::info!("{class}: {way} gives other bits than the default");
                }
                Ok(_) => taken.push((way, vec![self.seconds(way)?])),
                Err(Error::Shader(reason)) => log::info!("{}: {reason}", way.name()),
                Err(error) => return Err(error),
            }
        }
        let first = taken.iter().map(|(_, seconds)| seconds[0]);
        let limit = HOPELESS * first.fold(f64::INFINITY, f64::min);
        for _ in 1..ROUNDS {
            for (way, seconds) in &mut taken {
                if seconds[0] <= limit {
                    seconds.push(self.seconds(*way)?);
                }
            }
        }
        // Other work on the device only ever adds to a time.
        let shortest = |(way, seconds): (W, Vec<f64>)| {
            let least = seconds.into_iter().fold(f64::INFINITY, f64::min);
            (way.name(), least)
        };
        Ok(taken.into_iter().map(shortest).collect())
    }

    /// Seconds of one run, by timestamps if the adapter has sound ones.
    fn seconds(&mut self, way: W) -> Result<f64> {
        let mut work = self.race.runner(way)?;
        if self.timestamps {
            if let Some(seconds) = by_timestamps(self.gpu, &mut work)? {
                return Ok(seconds);
            }
            // A clock that stands still is none.
            self.timestamps = false;
        }
        self.gpu.synchronize()?;
        let start = Instant::now();
        work()?;
        self.gpu.synchronize()?;
        Ok(start.elapsed().as_secs_f64().max(1e-9))
    }
}

/// `None` when the timestamps cannot be right.
fn by_timestamps(gpu: &GpuDevice, work: impl FnMut() -> Result<()>) -> Result<Option<f64>> {
    match gpu.time(1, work) {
        Ok(taken) => {
            let first = taken.first().copied();
            Ok(first.filter(|seconds| (1e-9..3600.0).contains(seconds)))
        }
        Err(Error::Unsupported(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A matrix of [`noise`].
pub(crate) fn noisy(device: &Device, rows: usize, cols: usize) -> Result<Matrix> {
    let mut matrix = Matrix::new(device, rows, cols)?;
    matrix.write_with(|out| (0..).zip(out).for_each(|(i, v)| *v = noise(i)))?;
    Ok(matrix)
}

/// Numbers in [-1, 1) that no unit can shorten its work on.
pub(crate) fn noise(i: usize) -> f32 {
    let bits = (i as u32).wrapping_mul(0x9e37_79b9) ^ (i as u32 >> 7).wrapping_mul(0x85eb_ca6b);
    (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_stays_unless_another_is_clearly_faster() {
        let times = |seconds| [("usual", 1.0), ("other", seconds)];
        assert_eq!(winner(&times(0.98), "usual"), "usual");
        assert_eq!(winner(&times(0.9), "usual"), "other");
        assert_eq!(winner(&times(0.98), "third"), "other");
    }
}
