//! How long iterations will still take.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

/// Residuals fall by about the same factor in each iteration: what is left of the way to the
/// tolerance, on a logarithmic scale, takes as long as the same part of it took.
#[derive(Debug)]
pub(super) struct Remaining {
    tolerance: f64,
    /// When the first residual was heard of, that residual and the smallest since.
    seen: Mutex<Option<(Instant, f64, f64)>>,
}

/// Before this much of the way is done nothing is said.
const TOO_EARLY: f64 = 0.02;

impl Remaining {
    pub(super) fn until(tolerance: f64) -> Self {
        Self {
            tolerance,
            seen: Mutex::new(None),
        }
    }

    /// Hears a residual; says what is left, after a comma.
    pub(super) fn after(&self, residual: f64) -> Option<String> {
        let mut seen = self.seen.lock().ok()?;
        let (start, first, least) = seen.get_or_insert((Instant::now(), residual, residual));
        *least = least.min(residual);
        let left = left(start.elapsed(), [*first, *least, self.tolerance])?;
        Some(format!(", about {} s left", left.as_secs() + 1))
    }
}

fn left(elapsed: Duration, [first, least, tolerance]: [f64; 3]) -> Option<Duration> {
    let way = (first / tolerance).ln();
    let done = (first / least).ln();
    let fraction = done / way;
    (fraction > TOO_EARLY && fraction < 1.0).then(|| elapsed.mul_f64((1.0 - fraction) / fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_way_takes_as_long_again() {
        let minute = Duration::from_secs(60);
        assert_eq!(left(minute, [1.0, 1e-3, 1e-6]), Some(minute));
        assert_eq!(left(minute, [1.0, 1e-2, 1e-8]), Some(3 * minute));
        assert_eq!(left(minute, [1.0, 0.9, 1e-6]), None);
        assert_eq!(left(minute, [1.0, 1e-7, 1e-6]), None);
    }
}
