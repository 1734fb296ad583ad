//! How much work a device should get at a time: what takes a GPU a twentieth of a second and a
//! software adapter half a second, by the time of the first dispatches that were long enough to
//! tell.
//!
//! Systems reset a GPU that is busy with one submission for two seconds; and below some
//! milliseconds a GPU waits for its host. Adapters differ by a factor of a thousand, so that no
//! number of operations is right for all. Each op has its own speed: what memory bounds is far from
//! the multiply-adds, however its operations are counted.

use super::{AdapterKind, lock};
use std::{collections::HashMap, sync::Mutex};

/// Seconds that one submission should take on a GPU.
const AIM: f64 = 0.05;
/// The same where the CPU does the work: nobody resets it, and every part of a dispatch costs it.
const SOFTWARE_AIM: f64 = 0.5;
/// Operations that are worth the wait of being timed, at first.
const TIMED: f64 = 1e8;
/// Seconds after which a time tells how fast a device is. A shorter one is more than half of it
/// the way there and back.
const LONG: f64 = 5e-3;
/// Times that were long enough before no more are taken: the first may be that of a device that
/// wakes up.
const ENOUGH: u32 = 2;
/// The least and the most operations of a submission.
const RANGE: (f64, f64) = (1e8, 2e13);

/// What the first dispatches of each op have told of a device.
#[derive(Debug)]
pub(super) struct Speed {
    unknown: f64,
    aim: f64,
    ops: Mutex<HashMap<&'static str, MeasuredSpeed>>,
}

#[derive(Debug, Clone, Copy)]
struct MeasuredSpeed {
    /// The fastest seen, operations a second.
    rate: f64,
    /// Operations from which on a dispatch is timed.
    timed_from: f64,
    long: u32,
}

impl Speed {
    /// Of a device of this kind, before any work.
    pub(super) fn for_kind(kind: AdapterKind) -> Self {
        let unknown = match kind {
            AdapterKind::Software => 1e10,
            AdapterKind::Integrated => 2e10,
            // Large ones start with what fills them.
            _ => 2e11,
        };
        let aim = match kind {
            AdapterKind::Software => SOFTWARE_AIM,
            _ => AIM,
        };
        Self {
            unknown,
            aim,
            ops: Mutex::default(),
        }
    }

    /// The operations that one submission of this op should have.
    pub(super) fn most_work(&self, op: &str) -> f64 {
        let known = lock(&self.ops).get(op).copied();
        known.map_or(self.unknown, |known| {
            (self.aim * known.rate).clamp(RANGE.0, RANGE.1)
        })
    }

    /// Whether a dispatch of so many operations should be timed.
    pub(super) fn asks(&self, op: &str, work: f64) -> bool {
        let known = lock(&self.ops).get(op).copied();
        known.map_or(work >= TIMED, |known| {
            known.long < ENOUGH && work >= known.timed_from
        })
    }

    /// Hears what a dispatch alone took, its way there and back included.
    pub(super) fn learn(&self, op: &'static str, work: f64, seconds: f64) {
        let mut ops = lock(&self.ops);
        let known = ops.entry(op).or_insert(MeasuredSpeed {
            rate: 0.0,
            timed_from: TIMED,
            long: 0,
        });
        known.rate = known.rate.max(work / seconds.max(1e-9));
        if seconds >= LONG {
            known.long += 1
        } else {
            // Too short to tell: only far longer ones are worth another wait.
            known.timed_from = 4.0 * work
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_follows_the_time_of_the_first_dispatches() {
        let speed = Speed::for_kind(AdapterKind::Integrated);
        assert_eq!(speed.most_work("a"), 2e10);
        assert!(!speed.asks("a", 0.9 * TIMED) && speed.asks("a", TIMED));
        // 10^11 a second: the first time may be that of a device that wakes up.
        speed.learn("a", 1e9, 0.02);
        assert!(speed.asks("a", 1e9));
        speed.learn("a", 1e9, 0.01);
        assert_eq!(speed.most_work("a"), 5e9);
        assert!(!speed.asks("a", 1e12));
        // Another op is as little known as before.
        assert_eq!(speed.most_work("b"), 2e10);
        let software = Speed::for_kind(AdapterKind::Software);
        software.learn("a", 1e9, 0.1);
        assert_eq!(software.most_work("a"), 5e9);
    }

    #[test]
    fn short_dispatches_only_tell_that_a_device_is_faster() {
        let speed = Speed::for_kind(AdapterKind::Discrete);
        let mut timed = 0;
        let mut work = TIMED;
        // 4 * 10^13 a second behind 50 us of waiting.
        while work < 1e13 {
            for _ in 0..10 {
                if speed.asks("a", work) {
                    speed.learn("a", work, 5e-5 + work / 4e13);
                    timed += 1;
                }
            }
            work *= 2.0;
        }
        assert!((5..=12).contains(&timed), "{timed}");
        let seconds = speed.most_work("a") / 4e13;
        assert!((0.9 * AIM..=AIM).contains(&seconds), "{seconds}");
    }

    #[test]
    fn work_is_never_next_to_nothing_nor_without_end() {
        let speed = Speed::for_kind(AdapterKind::Software);
        speed.learn("slow", 1e9, 60.0);
        speed.learn("fast", 1e9, 0.0);
        assert_eq!(
            [speed.most_work("slow"), speed.most_work("fast")],
            [1e8, 2e13]
        );
    }
}
