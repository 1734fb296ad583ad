//! Measuring the ways of a menu.

use super::{Class, Menu, Race, Way};
use crate::clock::Instant;
use crate::{Device, Error, Matrix, Result, device::GpuDevice};
use std::sync::{Mutex, PoisonError};

/// Rounds over all ways, after one that compiles.
const ROUNDS: usize = 5;
/// Rounds after which what is [`HOPELESS`] is dropped: one may be disturbed.
const TRIALS: usize = 2;
/// What is so many times slower than the best is dropped.
const HOPELESS: f64 = 2.0;
/// Seconds of work before the first round: clocks of an idle device take so long to rise.
const WARM_UP: f64 = 0.2;
/// A measurement is as many runs as take so many seconds together, and at most [`MOST_RUNS`].
const LONG: f64 = 5e-3;
/// Timestamps of so many runs fit into one set of queries.
const MOST_RUNS: usize = 100;
/// Another way than the default must be better by this factor.
const BETTER: f64 = 0.97;

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
    let (ways, refused): (Vec<W>, Vec<W>) =
        menu.ways.iter().partition(|way| way.check(gpu).is_ok());
    // Nothing is to be measured where an adapter can only take the default.
    if let (0..=1, Some(way)) = (ways.len(), refused.first()) {
        way.check(gpu)?;
    }
    // One at a time, or timestamps would be refused to the second.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let kind = gpu.report().kind;
    let mut trial = Trial {
        gpu,
        race: (menu.race)(gpu, class)?,
        timestamps: gpu.has_timestamps(),
        clock: {
            let start = Instant::now();
            Box::new(move || start.elapsed().as_secs_f64())
        },
    };
    let name = format!("{} {}", menu.op, class.name());
    let clock = trial.timestamps;
    let mut seconds = trial.measure(&ways, &name)?;
    if trial.timestamps != clock {
        // The clock changed on the way, and times by two clocks cannot be compared.
        seconds = trial.measure(&ways, &name)?;
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
    /// Seconds since some moment.
    clock: Box<dyn Fn() -> f64>,
}

impl<W: Way> Trial<'_, W> {
    /// Every way that the driver compiles, and the seconds of its shortest run.
    fn measure(&mut self, ways: &[W], class: &str) -> Result<Vec<(&'static str, f64)>> {
        let mut taken: Vec<(W, Vec<f64>)> = Vec::new();
        for &way in ways {
            // The first run compiles. What the driver cannot compile is none of this adapter's.
            match self.seconds(way, 1) {
                Ok(_) if !self.race.is_sound(way)? => {
                    let way = way.name();
                    log::info!("{class}: {way} gives other bits than it should");
                }
                Ok(_) => taken.push((way, Vec::new())),
                Err(Error::Shader(reason)) => log::info!("{}: {reason}", way.name()),
                Err(error) => return Err(error),
            }
        }
        self.warm_up(&taken)?;
        for round in 0..ROUNDS {
            let best = taken.iter().map(|(_, seconds)| least(seconds));
            let limit = HOPELESS * best.fold(f64::INFINITY, f64::min);
            for (way, seconds) in &mut taken {
                if round < TRIALS || least(seconds) <= limit {
                    let runs = (LONG / self.seconds(*way, 1)?).ceil();
                    seconds.push(self.seconds(*way, (runs as usize).clamp(1, MOST_RUNS))?);
                }
            }
        }
        let shortest = |(way, seconds): (W, Vec<f64>)| (way.name(), least(&seconds));
        Ok(taken.into_iter().map(shortest).collect())
    }

    /// Keeps the device at work for [`WARM_UP`], with all ways in turn.
    fn warm_up(&mut self, ways: &[(W, Vec<f64>)]) -> Result<()> {
        let start = (self.clock)();
        for (way, _) in ways.iter().cycle() {
            if (self.clock)() - start >= WARM_UP {
                break;
            }
            self.seconds(*way, 1)?;
        }
        Ok(())
    }

    /// Seconds of one of so many runs, by timestamps if the adapter has sound ones.
    fn seconds(&mut self, way: W, runs: usize) -> Result<f64> {
        let mut once = self.race.runner(way)?;
        let mut work = || (0..runs).try_for_each(|_| once());
        if self.timestamps {
            if let Some(seconds) = by_timestamps(self.gpu, &mut work)? {
                return Ok(seconds / runs as f64);
            }
            // A clock that stands still is none.
            self.timestamps = false;
        }
        self.gpu.synchronize()?;
        let start = (self.clock)();
        work()?;
        self.gpu.synchronize()?;
        Ok(((self.clock)() - start).max(1e-9) / runs as f64)
    }
}

/// The shortest; other work only makes times longer.
fn least(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::INFINITY, f64::min)
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
    use std::sync::Arc;

    /// Ways that take so many milliseconds by the clock of the test, which other work on the
    /// machine does not reach.
    const NAMES: [&str; 3] = ["1", "1.5", "9"];

    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Sleeper(usize);

    impl Way for Sleeper {
        fn name(&self) -> &'static str {
            NAMES[self.0]
        }
    }

    impl Sleeper {
        fn milliseconds(self) -> f64 {
            self.name().parse().expect("a number")
        }
    }

    /// The order in which they ran.
    struct Sleepers(Arc<Mutex<Vec<usize>>>);

    impl Race<Sleeper> for Sleepers {
        fn runner(&mut self, way: Sleeper) -> Result<Box<dyn FnMut() -> Result<()> + '_>> {
            Ok(Box::new(move || {
                self.0.lock().expect("no panic").push(way.0);
                Ok(())
            }))
        }
    }

    #[test]
    fn short_runs_are_repeated_and_slow_ways_tried_twice_on_devices() {
        for device in crate::under_test::gpus() {
            let Device::Gpu(gpu) = &device else { continue };
            let ran = Arc::new(Mutex::new(Vec::new()));
            let mut trial = Trial {
                gpu,
                race: Box::new(Sleepers(ran.clone())),
                timestamps: false,
                clock: {
                    // What ran is the time that has passed.
                    let ran = ran.clone();
                    Box::new(move || {
                        let ran = ran.lock().expect("no panic");
                        let each = ran.iter().map(|way| Sleeper(*way).milliseconds());
                        1e-3 * each.sum::<f64>()
                    })
                },
            };
            let ways = [0, 1, 2].map(Sleeper);
            let seconds = trial.measure(&ways, "sleep").expect("sleeps");
            for ((way, seconds), name) in seconds.iter().zip(NAMES) {
                let own = 1e-3 * name.parse::<f64>().expect("a number");
                let off = (seconds / own - 1.0).abs();
                assert!(*way == name && off < 1e-9, "{way}: {seconds}");
            }
            let ran = ran.lock().expect("no panic");
            let rounds = |way: usize| {
                // Each round of a way is one run and then some, without another way in between.
                let parts = ran.chunk_by(|a, b| a == b);
                parts
                    .filter(|part| part[0] == way && part.len() > 1)
                    .count()
            };
            assert_eq!((rounds(0), rounds(2)), (ROUNDS, TRIALS), "{ran:?}");
            // The first run compiles; then all take their turns until the clocks are up.
            let warm = ran
                .chunk_by(|a, b| a == b)
                .take_while(|part| part.len() == 1);
            let milliseconds: f64 = warm.map(|part| Sleeper(part[0]).milliseconds()).sum();
            assert!(milliseconds > 1e3 * WARM_UP, "{ran:?}");
        }
    }

    #[test]
    fn the_default_stays_unless_another_is_clearly_faster() {
        let times = |seconds| [("usual", 1.0), ("other", seconds)];
        assert_eq!(winner(&times(0.98), "usual"), "usual");
        assert_eq!(winner(&times(0.9), "usual"), "other");
        assert_eq!(winner(&times(0.98), "third"), "other");
    }
}
