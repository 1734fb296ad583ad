//! Timing: timestamps of the device where it has them, else the wall clock.

use super::jobs::Job;
use crate::{Device, Error, Result, error::Remedy};
use std::{fmt, time::Instant};

/// Repetitions of a measurement.
const LEAST: usize = 10;
const MOST: usize = 200;
/// A case may take so many times its seconds before it is refused.
const PATIENCE: f64 = 6.0;
/// Submissions waited for together last at least this long, so that waiting costs nothing.
const BATCH_SECONDS: f64 = 2e-3;

/// Which clock a measurement went by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The device's own timestamps around its dispatches.
    Timestamps,
    /// The host's clock around many submissions, or calls on the CPU.
    Wall,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timestamps => "timestamps",
            Self::Wall => "wall clock",
        })
    }
}

/// Seconds of each repetition, shortest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// How they were taken.
    pub clock: Clock,
    seconds: Vec<f64>,
}

impl Sample {
    fn new(clock: Clock, mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        Self { clock, seconds }
    }

    /// Number of repetitions.
    pub fn repetitions(&self) -> usize {
        self.seconds.len()
    }

    /// The shortest.
    pub fn min(&self) -> f64 {
        self.quantile(0.0)
    }

    /// The one in the middle.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Nine of ten are at most this long.
    pub fn p90(&self) -> f64 {
        self.quantile(0.9)
    }

    fn quantile(&self, q: f64) -> f64 {
        let last = self.seconds.len() - 1;
        let at = q * last as f64;
        let (low, high) = (self.seconds[at as usize], self.seconds[at.ceil() as usize]);
        low + (high - low) * at.fract()
    }
}

/// Seconds of one run by the wall clock, from its submission to its end.
fn one(device: &Device, job: &mut dyn Job) -> Result<f64> {
    batch(device, job, 1)
}

/// As [`one`], of `runs` that are waited for together.
pub(super) fn batch(device: &Device, job: &mut dyn Job, runs: usize) -> Result<f64> {
    job.reset();
    let start = Instant::now();
    for _ in 0..runs {
        job.run()?;
    }
    device.synchronize()?;
    Ok(start.elapsed().as_secs_f64() / runs.max(1) as f64)
}

/// Times `job` for about `seconds`, after `warm_ups` runs; refuses one that takes far longer.
pub(super) fn measure(
    device: &Device,
    job: &mut dyn Job,
    warm_ups: usize,
    seconds: f64,
) -> Result<Sample> {
    measure_within(device, job, warm_ups, seconds, PATIENCE * seconds)
}

fn measure_within(
    device: &Device,
    job: &mut dyn Job,
    warm_ups: usize,
    seconds: f64,
    patience: f64,
) -> Result<Sample> {
    let mut estimate = one(device, job)?;
    for done in 1..=warm_ups {
        if estimate * (LEAST + warm_ups) as f64 > patience {
            // The first run may have compiled something: judge by a later one.
            if done > 1 || estimate > patience {
                return Err(Error::unsupported(format!(
                    "one run takes {estimate:.2} s, and {LEAST} are too long for {seconds:.1} s"
                ))
                .help(Remedy::MoreTime));
            }
        }
        estimate = one(device, job)?;
    }
    let times = ((seconds / estimate.max(1e-9)) as usize).clamp(LEAST, MOST);
    if let Some(gpu) = device.as_gpu()
        && gpu.has_timestamps()
    {
        match gpu.time(times, || job.run()) {
            // A clock that stands still is none.
            Ok(taken) if taken.iter().all(|&s| s > 0.0 && s < 3600.0) => {
                return Ok(Sample::new(Clock::Timestamps, taken));
            }
            Ok(_) | Err(Error::Unsupported(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let batch = if device.is_gpu() {
        ((BATCH_SECONDS / estimate.max(1e-9)) as usize).clamp(1, MOST)
    } else {
        1
    };
    let batches = times.div_ceil(batch).max(LEAST);
    let mut taken = Vec::with_capacity(batches);
    for _ in 0..batches {
        taken.push(self::batch(device, job, batch)?);
    }
    Ok(Sample::new(Clock::Wall, taken))
}

/// As [`measure`], of a closure, however long it takes: without its ceilings nothing can be said of
/// a device.
pub(super) fn measure_fn(
    device: &Device,
    seconds: f64,
    run: impl FnMut() -> Result<()>,
) -> Result<Sample> {
    struct Closure<F>(F);
    impl<F: FnMut() -> Result<()>> Job for Closure<F> {
        fn run(&mut self) -> Result<()> {
            (self.0)()
        }
        fn error(&mut self) -> Result<f64> {
            Ok(0.0)
        }
        fn tile(&self) -> String {
            String::new()
        }
    }
    measure_within(device, &mut Closure(run), 2, seconds, f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_sample() {
        let sample = Sample::new(Clock::Wall, vec![3.0, 1.0, 2.0, 4.0]);
        assert_eq!((sample.min(), sample.median()), (1.0, 2.5));
        assert!((sample.p90() - 3.7).abs() < 1e-12);
        assert_eq!(Sample::new(Clock::Wall, vec![5.0]).median(), 5.0);
    }
}
