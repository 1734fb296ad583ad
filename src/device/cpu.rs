//! The CPU backend: a pool of threads.

use crate::{Error, Result};
use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How long a thread waits for more work before it sleeps: longer than a row takes, too short to be seen in a load.
const LINGER: Duration = Duration::from_micros(200);
/// Calls further apart than this find threads asleep: nobody waits for rare ones.
const SOON: Duration = Duration::from_millis(1);
/// Counts what lingering threads wait for.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// When short work last ended, in microseconds since the first.
static LAST: AtomicU64 = AtomicU64::new(0);

fn since_start() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_micros() as u64
}

/// The CPU as a device. Results do not depend on the number of threads.
#[derive(Clone)]
pub struct CpuDevice {
    /// `None` is rayon's global pool.
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl CpuDevice {
    /// The process-wide pool: one thread per core, or `RAYON_NUM_THREADS`.
    pub fn shared() -> Self {
        Self { pool: None }
    }

    /// Gives the process-wide pool `threads` threads, for every part of the library that runs on the host. Errors on zero,
    /// when the system refuses the threads, and when the pool was set or used before.
    pub fn set_shared_threads(threads: usize) -> Result<()> {
        if threads == 0 {
            return Err(no_threads());
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|e| Error::device(format!("cannot start {threads} threads: {e}")))
    }

    /// A pool of its own with `threads` threads. Errors on zero, or when the system refuses the threads.
    pub fn with_threads(threads: usize) -> Result<Self> {
        if threads == 0 {
            return Err(no_threads());
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| Error::device(format!("cannot start {threads} threads: {e}")))?;
        Ok(Self {
            pool: Some(Arc::new(pool)),
        })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or_else(rayon::current_num_threads, |p| p.current_num_threads())
    }

    /// Runs `work` on this device's threads.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Runs `work` on the calling thread, with a scope whose spawns run on this device's threads.
    pub(crate) fn scope<'s>(&self, work: impl FnOnce(&rayon::Scope<'s>)) {
        match &self.pool {
            Some(pool) => pool.in_place_scope(work),
            None => rayon::in_place_scope(work),
        }
    }

    /// Whether the calling thread is one of this device's: then others may be busy with the work of its neighbours.
    pub(crate) fn is_inside(&self) -> bool {
        let index = self.pool.as_ref().map(|pool| pool.current_thread_index());
        index.unwrap_or_else(rayon::current_thread_index).is_some()
    }

    /// Keeps up to `threads` of the pool awake for a moment after short work, if that came soon after the last: then more is
    /// likely to come at once, and to wake a thread takes as long as the work. [`Self::call`] tells them that it has come.
    pub(crate) fn linger(&self, threads: usize) {
        let now = since_start();
        let last = LAST.swap(now, Ordering::Relaxed);
        if now.saturating_sub(last) > SOON.as_micros() as u64 {
            return;
        }
        let (seen, start) = (CALLS.load(Ordering::Acquire), Instant::now());
        let wait = move || {
            while CALLS.load(Ordering::Acquire) == seen && start.elapsed() < LINGER {
                for _ in 0..32 {
                    std::hint::spin_loop();
                }
            }
        };
        for _ in 0..threads {
            match &self.pool {
                Some(pool) => pool.spawn(wait),
                None => rayon::spawn(wait),
            }
        }
    }

    /// Sends threads that linger back to work.
    pub(crate) fn call(&self) {
        CALLS.fetch_add(1, Ordering::Release);
    }

    /// faer's parallelism for this pool; call inside [`Self::install`].
    pub(crate) fn par(&self) -> faer::Par {
        match self.threads() {
            1 => faer::Par::Seq,
            n => faer::Par::rayon(n),
        }
    }

    /// One line: threads and the widest vector instructions in use.
    pub fn describe(&self) -> String {
        let n = self.threads();
        let plural = if n == 1 { "" } else { "s" };
        format!("CPU, {n} thread{plural}, {}", instruction_set())
    }
}

fn no_threads() -> Error {
    Error::parameter("the number of threads is 0; use at least 1")
}

impl fmt::Debug for CpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

/// The widest vector instructions that run-time dispatch takes on this machine.
pub fn instruction_set() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return "avx512";
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return "avx2";
        }
        "sse2"
    }
    #[cfg(target_arch = "aarch64")]
    {
        "neon"
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        "scalar"
    }
}
