//! A few rows by several threads, which share the frequencies: each takes the next part until none
//! is left.
//!
//! The caller begins at once. Others come when they are awake, and take what is left: to wake one
//! takes about as long as its half of a row. The caller waits for nobody who has not begun, and
//! after a moment not for who has: it multiplies that part itself, with the same bits.

use super::{Features, Map};
use crate::{
    clock::Instant,
    ops::projection::products::Products,
    simd::{Epilogue, PanelsView},
};
use pulp::{Simd, WithSimd};
use std::{
    iter,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Products of a part: what one thread does in a few microseconds, so that all end at much the same
/// time.
const PART: usize = 1 << 15;
/// How long the caller waits for a part that another thread has begun.
const NEARLY_DONE: Duration = Duration::from_micros(50);

/// Rows, and the projections of them that others have made. They own all of it, because nobody
/// waits until they have come.
struct Shared {
    products: Arc<Products>,
    x: Vec<f32>,
    /// Frequencies of a part.
    step: usize,
    /// The next part that nobody has taken.
    next: AtomicUsize,
    /// `[rows, s]`, as bits; of the parts in `done`.
    t: Vec<AtomicU32>,
    done: Vec<AtomicBool>,
}

impl Shared {
    fn new(products: &Arc<Products>, x: &[f32]) -> Self {
        let all = products.all();
        let (depth, freqs) = (all.depth(), all.columns());
        let abreast = products.abreast();
        let step = PART.div_ceil(abreast * x.len()) * abreast;
        Self {
            products: products.clone(),
            x: x.to_vec(),
            step,
            next: AtomicUsize::new(0),
            t: zeros(x.len() / depth * freqs),
            done: iter::repeat_with(AtomicBool::default)
                .take(freqs.div_ceil(step))
                .collect(),
        }
    }

    /// A part for the thread that asks, if any is left.
    fn take(&self) -> Option<usize> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        (part < self.done.len()).then_some(part)
    }

    fn part(&self, part: usize) -> PanelsView<'_> {
        let all = self.products.all();
        let from = part * self.step;
        all.part(from, all.columns().min(from + self.step))
    }

    /// What a thread does that has come to help.
    fn help(&self) {
        let mut last = None::<usize>;
        let mut parts = iter::from_fn(|| {
            if let Some(part) = last {
                self.done[part].store(true, Ordering::Release);
            }
            last = self.take();
            last.map(|part| self.part(part))
        });
        let freqs = self.products.all().columns();
        let keep = Keep { t: &self.t, freqs };
        self.products.project(&self.x, &mut parts, keep);
    }

    /// Whether another thread has done its part, or does so soon.
    fn wait(&self, part: usize, start: Instant, most: Duration) -> bool {
        loop {
            if self.done[part].load(Ordering::Acquire) {
                return true;
            }
            if start.elapsed() >= most {
                return false;
            }
            std::hint::spin_loop();
        }
    }
}

/// `n` zeros that several threads write to.
fn zeros(n: usize) -> Vec<AtomicU32> {
    iter::repeat_with(AtomicU32::default).take(n).collect()
}

/// Writes the features of few rows to `z`, with the help of `others`.
pub(super) fn featurize(map: &Map, x: &[f32], z: &mut [f32], others: usize) {
    let cpu = map.cpu();
    let shared = Arc::new(Shared::new(map.products(), x));
    let inside = cpu.is_inside();
    let help = {
        let shared = shared.clone();
        move || shared.help()
    };
    cpu.invite(others, help);
    // Who helps from within the pool may have been called away to other work.
    let most = if inside { Duration::ZERO } else { NEARLY_DONE };
    finish(map, &shared, x, z, most);
    if !inside {
        cpu.keep_spinning(others);
    }
}

/// Does what is left, and gathers what others have done.
fn finish(map: &Map, shared: &Shared, x: &[f32], z: &mut [f32], most: Duration) {
    let mut own = vec![false; shared.done.len()];
    let mut parts = iter::from_fn(|| {
        let part = shared.take()?;
        own[part] = true;
        Some(shared.part(part))
    });
    let products = map.products();
    products.project(x, &mut parts, Features::through_cache(map, z));
    let start = Instant::now();
    for part in (0..own.len()).filter(|&part| !own[part]) {
        let panels = shared.part(part);
        if shared.wait(part, start, most) {
            crate::instructions::arch().dispatch(Gather {
                map,
                shared,
                panels,
                z,
            });
        } else {
            map.project(x, panels, Features::through_cache(map, z));
        }
    }
}

/// The nonlinearity on what another thread has projected. A type and not a closure: pulp inlines
/// only the former whole.
struct Gather<'a> {
    map: &'a Map,
    shared: &'a Shared,
    panels: PanelsView<'a>,
    z: &'a mut [f32],
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (from, width) = (self.panels.start(), self.panels.columns());
        let mut features = Features::through_cache(self.map, self.z);
        let mut row_t = vec![0.0; width];
        for (row, t) in self.shared.t.chunks_exact(self.map.freqs()).enumerate() {
            for (value, bits) in row_t.iter_mut().zip(&t[from..]) {
                *value = f32::from_bits(bits.load(Ordering::Relaxed));
            }
            features.row(simd, row, from, &row_t);
        }
    }
}

/// Keeps the projections for the caller.
struct Keep<'a> {
    t: &'a [AtomicU32],
    freqs: usize,
}

impl Epilogue for Keep<'_> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        for (kept, value) in self.t[row * self.freqs + col..].iter().zip(t) {
            kept.store(value.to_bits(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device::CpuDevice,
        ops::{Nonlinearity, projection::DenseMap},
        seed::{Seed, Stream},
    };
    use ndarray::Array2;
    use std::sync::Mutex;

    fn dense(depth: usize, freqs: usize, bits: u32) -> DenseMap {
        let mut draws = Seed(5).stream(Stream::Data, 0);
        let cut = |v: f64| match bits {
            11 => crate::sampling::round_to_11_bits(v),
            _ => v as f32,
        };
        DenseMap {
            w_ds: Array2::from_shape_simple_fn((depth, freqs), || cut(draws.normal())),
            phase_s: (0..freqs).map(|i| i as f32 / freqs as f32).collect(),
            amplitude_s: vec![0.5; freqs],
            nonlinearity: Nonlinearity::CosSin,
        }
    }

    /// On every unit (of 11 bits, of two rows, of f32), with parts that do not come out even.
    #[test]
    fn threads_that_help_change_no_bit() {
        for (depth, freqs, bits) in [(64, 9000, 11), (31, 9001, 11), (70, 8999, 24)] {
            let map = dense(depth, freqs, bits);
            let one = Map::new(&CpuDevice::with_threads(1).expect("starts"), &map);
            let some = Map::new(&CpuDevice::with_threads(3).expect("starts"), &map);
            let mut draws = Seed(6).stream(Stream::Data, 0);
            for rows in [1, 2, 3, 5, 20] {
                let x: Vec<f32> = (0..rows * depth).map(|_| draws.normal() as f32).collect();
                let mut alone = vec![f32::NAN; rows * one.outputs()];
                one.run(&x, &mut alone);
                for _ in 0..20 {
                    let mut helped = vec![f32::NAN; alone.len()];
                    some.run(&x, &mut helped);
                    assert!(
                        alone == helped,
                        "{rows} rows, {depth} to {freqs}, {bits} bits"
                    );
                }
            }
        }
    }

    /// Nobody comes while all are busy; the caller does all of it, and asks no more of them than
    /// there are.
    #[test]
    fn a_row_waits_for_nobody_who_is_busy() {
        let map = dense(64, 9000, 11);
        let one = Map::new(&CpuDevice::with_threads(1).expect("starts"), &map);
        let cpu = CpuDevice::with_threads(3).expect("starts");
        let busy = Map::new(&cpu, &map);
        let x = vec![0.25; 64];
        let mut alone = vec![f32::NAN; one.outputs()];
        one.run(&x, &mut alone);
        let gate = Arc::new(Mutex::new(()));
        let shut = gate.lock().expect("no panic");
        let held = gate.clone();
        cpu.invite(3, move || drop(held.lock()));
        for _ in 0..50 {
            let mut z = vec![f32::NAN; alone.len()];
            busy.run(&x, &mut z);
            assert!(alone == z);
        }
        assert!(cpu.invited() <= 3, "{} were asked", cpu.invited());
        drop(shut);
    }

    /// A part that somebody has taken and does not finish is made by the caller.
    #[test]
    fn parts_that_nobody_finishes_are_not_waited_for() {
        let map = dense(64, 9000, 11);
        let one = Map::new(&CpuDevice::with_threads(1).expect("starts"), &map);
        let shared = Shared::new(one.products(), &[0.25; 64]);
        let taken = shared.take().expect("a part");
        let start = Instant::now();
        assert!(!shared.wait(taken, start, Duration::from_micros(10)));
        let mut z = vec![f32::NAN; one.outputs()];
        let mut alone = z.clone();
        one.run(&[0.25; 64], &mut alone);
        finish(
            &one,
            &shared,
            &[0.25; 64],
            &mut z,
            Duration::from_micros(10),
        );
        assert!(alone == z);
    }
}
