//! How much memory the host still has for this process, and errors before it is asked for more.
//!
//! An allocation that fails aborts a program, and one that Linux grants without having the memory
//! ends it later; so whatever grows with a square, or with a number that a user gave, asks here
//! first. What is known: on Linux the memory that is available, the limit of the control group, and
//! `ulimit -v`. Elsewhere nothing is known and nothing refused.

use crate::{Error, Result, error::Remedy, text::human_bytes};

/// Errors with [`Error::HostMemory`] unless so many bytes are free. `what` needs them.
#[doc(hidden)]
pub fn require(bytes: u128, what: impl FnOnce() -> String) -> Result<()> {
    refuse(bytes, (free(), None), what)
}

/// As [`require`], of square matrices `[columns, columns]` of so many bytes an entry in all; the
/// error says how many columns would do.
#[doc(hidden)]
pub fn require_square(columns: usize, entry: u32, what: impl FnOnce() -> String) -> Result<()> {
    let (entry, free) = (u128::from(entry), free());
    let most = free.map(|free| (free as f64 / entry as f64).sqrt());
    // To two digits, so that the next run has some room.
    let two_digits = |most: f64| {
        let unit = 10_f64.powf((most.max(10.0).log10() - 1.0).floor());
        ((most / unit).floor() * unit) as u64
    };
    let bytes = entry * (columns as u128).pow(2);
    refuse(bytes, (free, most.map(two_digits)), what)
}

/// Bytes of this process in memory, if that is known.
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    entry(&status, "VmRSS:").map(|kib| 1024 * kib)
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
#[doc(hidden)]
pub fn resident() -> Option<u64> {
    None
}

fn refuse(
    bytes: u128,
    (free, enough_for): (Option<u64>, Option<u64>),
    what: impl FnOnce() -> String,
) -> Result<()> {
    match free {
        Some(free) if bytes > u128::from(free) => Err(Error::HostMemory {
            what: what(),
            needed: human_bytes(u64::try_from(bytes).unwrap_or(u64::MAX)),
            free: human_bytes(free),
            enough_for,
            remedies: vec![Remedy::FewerFeatures],
        }),
        _ => Ok(()),
    }
}

/// What is left of so many bytes when chunks, threads and drivers have taken theirs.
#[cfg(target_os = "linux")]
fn less_others(free: u64) -> u64 {
    (free - free / 8).saturating_sub(256 << 20)
}

/// Bytes that this process may still take for one thing, if that is known.
#[cfg(target_os = "linux")]
fn free() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let group = "/sys/fs/cgroup";
    // This one, those of the CPU backend, and as many of faer.
    let threads = std::thread::available_parallelism().map_or(1, |n| 2 * n.get() as u64) + 1;
    let known = [
        read("/proc/meminfo").and_then(|text| available(&text)),
        read("/proc/self/limits")
            .zip(read("/proc/self/statm"))
            .and_then(|(limits, size)| address_space(&limits, &size, threads)),
        read(&format!("{group}/memory.max"))
            .zip(read(&format!("{group}/memory.stat")))
            .and_then(|(most, stat)| control_group(&most, &stat)),
    ];
    known.into_iter().flatten().min().map(less_others)
}

#[cfg(not(target_os = "linux"))]
fn free() -> Option<u64> {
    None
}

/// The number behind `name` in a text of lines `name number ..`.
#[cfg(target_os = "linux")]
fn entry(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// From /proc/meminfo, whose unit is 1024 bytes: what programs may take without others being
/// swapped out, and the swap.
#[cfg(target_os = "linux")]
fn available(meminfo: &str) -> Option<u64> {
    let swap = entry(meminfo, "SwapFree:").unwrap_or(0);
    Some(1024 * (entry(meminfo, "MemAvailable:")? + swap))
}

/// From /proc/self/limits and statm, whose first number is the size in pages: what `ulimit -v`
/// leaves. A page has 4096 bytes or more. faer's products reserve a gigabyte of addresses in each
/// thread, which they do not fill.
#[cfg(target_os = "linux")]
fn address_space(limits: &str, statm: &str, threads: u64) -> Option<u64> {
    let most = entry(limits, "Max address space")?;
    let pages: u64 = statm.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(4096 * pages + (threads << 30)))
}

/// From memory.max and memory.stat of a control group: what its programs may still take. Files that
/// are cached give way.
#[cfg(target_os = "linux")]
fn control_group(max: &str, stat: &str) -> Option<u64> {
    let most: u64 = max.trim().parse().ok()?;
    Some(most.saturating_sub(entry(stat, "anon ")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_more_than_is_free_is_refused_with_what_would_fit() {
        assert!(require(1, || "a byte".into()).is_ok());
        let refused = require_square(1 << 40, 16, || "sums".into());
        if cfg!(target_os = "linux") {
            let Err(Error::HostMemory { enough_for, .. }) = refused else {
                panic!("no machine has that: {refused:?}");
            };
            let most = enough_for.expect("a number");
            assert!(require_square(most as usize / 2, 16, || "sums".into()).is_ok());
            assert!(require_square(2 * most as usize, 16, || "sums".into()).is_err());
        } else {
            assert!(refused.is_ok())
        }
        let with = |free| refuse(1001, (free, Some(31)), || "it".into());
        assert!(with(Some(1001)).is_ok() && with(None).is_ok());
        let text = with(Some(1000)).expect_err("too little").to_string();
        assert!(text.contains("is free, enough for 31; use fewer"), "{text}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_linux_says_is_read() {
        let meminfo = "MemTotal: 9 kB\nMemAvailable:    1000 kB\nSwapFree:  24 kB\n";
        assert_eq!(available(meminfo), Some(1024 * 1024));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        let limits = "Limit   Soft Limit  Hard Limit  Units\nMax address space   1000000   \
                      unlimited   bytes\n";
        assert_eq!(address_space(limits, "100 5 1 1 0 3 0\n", 0), Some(590_400));
        assert_eq!(address_space(limits, "1 5\n", 1), Some(0));
        let none = "Max address space   unlimited   unlimited   bytes\n";
        assert_eq!(address_space(none, "100 5\n", 0), None);
        assert_eq!(control_group("5000\n", "anon 1200\nfile 9\n"), Some(3800));
        assert_eq!(control_group("max\n", "anon 1200\n"), None);
        assert!(free().is_some_and(|bytes| bytes > 1 << 20));
    }
}
