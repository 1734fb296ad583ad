//! Threads that stay awake for a moment after short work, because to wake one takes as long as its
//! part of a row.
//!
//! Awake means spinning, which pays only while cores have nothing else to do. A thread that finds
//! itself put aside by the system sends everybody to sleep for a while, and more threads than cores
//! never spin: they would wait for each other.

use crate::clock::Instant;
use std::{
    num::NonZero,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// How long a thread waits for more work before it sleeps: longer than a row takes, too short to be
/// seen in a load.
const SPIN: Duration = Duration::from_micros(200);
/// A thread that spins looks at the clock every few microseconds. If this long has passed, another
/// had its core.
const PUT_ASIDE: Duration = Duration::from_micros(100);
/// Nobody spins for so long on a machine that was found busy: what it then costs is a part in
/// five hundred.
const BUSY: Duration = Duration::from_millis(100);

/// The process's one account of who waits for what.
pub(super) static SPINNING: Spinning = Spinning::new();

/// When short work came, and whether the machine had cores to spare. Times are in microseconds
/// since the first call.
#[derive(Debug)]
pub(super) struct Spinning {
    /// Counts what spinning threads wait for.
    calls: AtomicU64,
    /// When short work last ended.
    last: AtomicU64,
    /// How long after that the last call came.
    pause: AtomicU64,
    /// Until when nobody spins.
    busy_until: AtomicU64,
}

impl Spinning {
    const fn new() -> Self {
        Self {
            calls: AtomicU64::new(0),
            last: AtomicU64::new(0),
            pause: AtomicU64::new(u64::MAX),
            busy_until: AtomicU64::new(0),
        }
    }

    /// Work has come at `now`: those who spin may go.
    pub(super) fn call(&self, now: Duration) {
        self.calls.fetch_add(1, Ordering::Release);
        let pause = micros(now).saturating_sub(self.last.load(Ordering::Relaxed));
        self.pause.store(pause, Ordering::Relaxed);
    }

    /// Short work has ended at `now` on a pool of `threads`. What each of its threads should wait
    /// for, if any should: who had spun after the last work would have met this one, and every
    /// thread has a core that nobody else wants.
    pub(super) fn after(&self, now: Duration, threads: usize) -> Option<Turn> {
        self.last.store(micros(now), Ordering::Relaxed);
        let soon = self.pause.load(Ordering::Relaxed) <= micros(SPIN);
        let busy = micros(now) < self.busy_until.load(Ordering::Relaxed);
        (soon && !busy && threads <= cores()).then(|| Turn {
            seen: self.calls.load(Ordering::Acquire),
            begun: now,
        })
    }

    /// Waits, spinning, until the next call or the end of the turn; sooner where the machine is
    /// busy.
    pub(super) fn wait(&self, turn: Turn, mut clock: impl FnMut() -> Duration) {
        let mut before = clock();
        while self.calls.load(Ordering::Acquire) == turn.seen {
            for _ in 0..32 {
                std::hint::spin_loop();
            }
            let now = clock();
            if now.saturating_sub(before) > PUT_ASIDE {
                let until = micros(now + BUSY);
                self.busy_until.fetch_max(until, Ordering::Relaxed);
                return;
            }
            if now.saturating_sub(turn.begun) >= SPIN {
                return;
            }
            before = now;
        }
    }
}

/// One occasion to spin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// The calls so far.
    seen: u64,
    begun: Duration,
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Time since the first question.
pub(super) fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Cores that this process may use; 1 where the system does not say.
pub(super) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// A clock that goes on by `steps`, the last of them for ever; and how often it was read.
    fn ticking(from: u64, steps: &[u64]) -> impl FnMut() -> Duration {
        let (mut now, mut steps) = (from, steps.to_vec());
        move || {
            let step = if steps.len() > 1 {
                steps.remove(0)
            } else {
                steps[0]
            };
            now += step;
            at(now)
        }
    }

    #[test]
    fn threads_linger_for_calls_that_come_soon_and_no_longer_than_a_moment() {
        let spinning = Spinning::new();
        spinning.call(at(50_000));
        assert!(
            spinning.after(at(52_000), 1).is_none(),
            "the first call for long"
        );
        spinning.call(at(52_100));
        let turn = spinning
            .after(at(54_000), 1)
            .expect("the second comes soon, however long it takes");
        let mut reads = 0;
        let mut clock = ticking(54_000, &[5]);
        spinning.wait(turn, || {
            reads += 1;
            clock()
        });
        assert_eq!(reads, 40, "200 microseconds in steps of 5");
        spinning.call(at(54_150));
        assert!(
            spinning.after(at(54_400), 1).is_some(),
            "nobody was put aside"
        );
        spinning.call(at(54_700));
        assert!(
            spinning.after(at(54_800), 1).is_none(),
            "who spins would be asleep by then"
        );
    }

    #[test]
    fn a_call_ends_it() {
        let spinning = Spinning::new();
        spinning.call(at(50));
        let turn = spinning.after(at(100), 1).expect("soon");
        let mut reads = 0;
        spinning.wait(turn, || {
            reads += 1;
            if reads == 3 {
                spinning.call(at(110));
            }
            at(100)
        });
        assert_eq!(reads, 3);
    }

    #[test]
    fn nobody_lingers_for_a_while_on_a_machine_that_was_busy() {
        let spinning = Spinning::new();
        spinning.call(at(0));
        let turn = spinning.after(at(100), 1).expect("soon");
        // Put aside for 3 ms on the second look at the clock.
        spinning.wait(turn, ticking(100, &[5, 5, 3000, 5]));
        let mut now = 3_200;
        while now < 103_000 {
            assert!(spinning.after(at(now), 1).is_none(), "at {now}");
            now += 500;
        }
        assert!(
            spinning.after(at(103_200), 1).is_some(),
            "it is asked again"
        );
    }

    #[test]
    fn more_threads_than_cores_never_linger() {
        let spinning = Spinning::new();
        spinning.call(at(0));
        assert!(spinning.after(at(100), cores() + 1).is_none());
        assert!(spinning.after(at(200), cores()).is_some());
    }
}
