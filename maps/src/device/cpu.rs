//! The CPU backend: a pool of threads.

use super::spinning::{SPINNING, clock, cores};
use crate::{Error, Result, instructions::instruction_set, text::counted};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The CPU as a device. Results do not depend on the number of threads.
#[derive(Clone)]
pub struct CpuDevice {
    /// `None` is rayon's global pool.
    pool: Option<Arc<rayon::ThreadPool>>,
    /// How many were [asked to help](Self::invite) and have not come yet.
    invited: Arc<AtomicUsize>,
}

impl CpuDevice {
    /// The process-wide pool: one thread per core, or `RAYON_NUM_THREADS`.
    pub fn shared() -> Self {
        Self {
            pool: None,
            invited: Arc::default(),
        }
    }

    /// The cores that this process may use, as the system counts them: more threads than that only
    /// wait for each other.
    pub fn cores() -> usize {
        cores()
    }

    /// Gives the process-wide pool `threads` threads, for every part of the library that runs on
    /// the host. Errors on zero, when the system refuses the threads, and when the pool was set or
    /// used before.
    pub fn set_shared_threads(threads: usize) -> Result<()> {
        if threads == 0 {
            return Err(no_threads());
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|e| Error::device(format!("cannot start {threads} threads: {e}")))
    }

    /// A pool of its own with `threads` threads. Errors on zero, or when the system refuses the
    /// threads.
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
            invited: Arc::default(),
        })
    }

    /// Number of threads; one in a page.
    pub fn threads(&self) -> usize {
        if cfg!(target_family = "wasm") {
            return 1;
        }
        self.pool
            .as_ref()
            .map_or_else(rayon::current_num_threads, |p| p.current_num_threads())
    }

    /// Runs `work` on this device's threads.
    #[doc(hidden)]
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        let mut run = || {
            if let Some(work) = work.take() {
                result = Some(work());
            }
        };
        match &self.pool {
            Some(pool) => install(pool, &mut run),
            None => run(),
        }
        result.expect("the work was done")
    }

    /// Asks `others` of the pool to call `help` when they are awake, and waits for none. Nobody is
    /// asked while as many as the pool has threads have not come yet.
    pub(crate) fn invite(&self, others: usize, help: impl Fn() + Clone + Send + 'static) {
        let most = self.threads();
        for _ in 0..others {
            if self.invited.load(Ordering::Relaxed) >= most {
                return;
            }
            self.invited.fetch_add(1, Ordering::Relaxed);
            let (invited, help) = (self.invited.clone(), help.clone());
            let come = move || {
                invited.fetch_sub(1, Ordering::Relaxed);
                help();
            };
            match &self.pool {
                Some(pool) => pool.spawn(come),
                None => rayon::spawn(come),
            }
        }
    }

    /// How many have been invited and have not come.
    #[cfg(test)]
    pub(crate) fn invited(&self) -> usize {
        self.invited.load(Ordering::Relaxed)
    }

    /// Whether the calling thread is one of this device's: then others may be busy with the work of
    /// its neighbours.
    pub(crate) fn is_inside(&self) -> bool {
        let index = self.pool.as_ref().map(|pool| pool.current_thread_index());
        index.unwrap_or_else(rayon::current_thread_index).is_some()
    }

    /// Keeps up to `threads` of the pool awake for a moment after short work, if that came soon
    /// after the last and the machine has cores to spare. [`Self::call`] tells them that more has
    /// come.
    pub(crate) fn keep_spinning(&self, threads: usize) {
        let Some(turn) = SPINNING.after(clock(), self.threads()) else {
            return;
        };
        let wait = move || SPINNING.wait(turn, clock);
        for _ in 0..threads {
            match &self.pool {
                Some(pool) => pool.spawn(wait),
                None => rayon::spawn(wait),
            }
        }
    }

    /// Sends threads that spin back to work.
    pub(crate) fn call(&self) {
        SPINNING.call(clock());
    }

    /// faer's parallelism for this pool; call inside [`Self::install`].
    #[doc(hidden)]
    pub fn par(&self) -> faer::Par {
        match self.threads() {
            #[cfg(not(target_family = "wasm"))]
            threads if threads > 1 => faer::Par::rayon(threads),
            _ => faer::Par::Seq,
        }
    }

    /// One line: threads and the vector instructions in use.
    #[doc(hidden)]
    pub fn describe(&self) -> String {
        let threads = counted(self.threads(), "thread");
        format!("CPU, {threads}, {}", instruction_set())
    }
}

fn no_threads() -> Error {
    Error::parameter("the number of threads is 0; use at least 1")
}

/// Runs `work` on the threads of `pool`: compiled once, not for all that is run.
fn install(pool: &rayon::ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

impl fmt::Debug for CpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
