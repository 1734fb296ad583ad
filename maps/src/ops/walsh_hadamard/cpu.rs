//! The Walsh-Hadamard transform on the CPU, for the vectors that run-time dispatch chose.
//!
//! Levels commute, so they are taken in the order that suits the cache: from the top while a row
//! exceeds it, then those inside one vector, then three at a time.

use crate::{
    device::CpuDevice,
    parallel,
    simd::{
        fused::is_plain,
        swap::{swapped, vector},
    },
};
use pulp::{Simd, WithSimd};

/// Transforms rows of `n` elements where they stand, on all threads.
pub(super) fn run(cpu: &CpuDevice, n: usize, all: &mut [f32]) {
    // Tasks of at least 64 KiB, whole rows.
    let task = n * (16_384 / n).max(1);
    cpu.install(|| parallel::usual().chunks(all, task, &|_, some| rows(some, n)));
}

/// As [`run`], on the calling thread.
pub(super) fn rows(rows: &mut [f32], n: usize) {
    crate::instructions::arch().dispatch(Rows { rows, n });
}

/// Rows one after another, under run-time dispatch. A struct rather than a closure: a closure is
/// called from every instruction set's wrapper and then not inlined into any.
struct Rows<'a> {
    rows: &'a mut [f32],
    n: usize,
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.rows.chunks_exact_mut(self.n) {
            transform(simd, row);
        }
    }
}

/// Longest row that is transformed level by level: 16 KiB, half of a first-level cache.
const LOCAL: usize = 4096;

/// Transforms one row of a power of two floats in place, unnormalised.
#[inline(always)]
pub(crate) fn transform<S: Simd>(simd: S, x: &mut [f32]) {
    debug_assert!(x.len().is_power_of_two());
    if x.len() > LOCAL {
        long(simd, x);
    } else {
        local(simd, x);
    }
}

/// The two or three top levels in one sweep, then the parts, each of which soon fits a cache.
#[inline(always)]
fn long<S: Simd>(simd: S, x: &mut [f32]) {
    // Explicit stack instead of recursion: an inlined function cannot call itself.
    let mut sizes = [0_usize; 32];
    let mut depth = 0;
    let mut size = x.len();
    while size > LOCAL {
        // Each sweep reads and writes all of its part, so it takes as many levels as it may.
        let radix = if size >= 8 * LOCAL { 8 } else { size / LOCAL };
        sizes[depth] = size;
        depth += 1;
        size /= radix;
    }
    // Walk the leaves in order; before leaf number `leaf`, sweep every level whose part begins
    // there.
    for leaf in 0..x.len() / size {
        let at = leaf * size;
        for &level in &sizes[..depth] {
            if at.is_multiple_of(level) {
                sweep(&mut x[at..at + level]);
            }
        }
        local(simd, &mut x[at..at + size]);
    }
}

/// One sweep over a row longer than [`LOCAL`].
#[inline(always)]
fn sweep(x: &mut [f32]) {
    let radix = (x.len() / LOCAL).min(8);
    match radix {
        8 => radix8(x, x.len() / 8),
        4 => radix4(x, x.len() / 4),
        _ => radix2(x, x.len() / 2),
    }
}

#[inline(always)]
fn local<S: Simd>(simd: S, x: &mut [f32]) {
    let n = x.len();
    let lanes = S::F32_LANES;
    // Levels up to distance h are done.
    let mut h = 1;
    let (vectors, _) = S::as_mut_simd_f32s(x);
    if n >= VECTORS * lanes {
        for vectors in vectors.as_chunks_mut().0 {
            eight_vectors(simd, vectors);
        }
        h = VECTORS * lanes;
    } else if n >= lanes {
        for v in vectors {
            *v = in_vector(simd, *v);
        }
        h = lanes;
    }
    while h < n {
        match n / h {
            2 => {
                radix2(x, h);
                h *= 2;
            }
            // 4 = 4, 16 = 4 * 4; everything else starts with an 8. A sweep of one level is left
            // only where one level is all there is.
            4 | 16 => {
                radix4(x, h);
                h *= 4;
            }
            _ => {
                radix8(x, h);
                h *= 8;
            }
        }
    }
}

// Half of AVX2's sixteen registers; the others hold partners and signs.
/// Vectors that are transformed together while they are in registers.
const VECTORS: usize = 8;

/// The levels inside each vector, and those across all, in one visit.
#[inline(always)]
fn eight_vectors<S: Simd>(simd: S, vectors: &mut [S::f32s; VECTORS]) {
    // Eight names and not an array that loops walk: that would lie in memory.
    let [a, b, c, d, e, f, g, k] = *vectors;
    let (a, b) = pair(simd, in_vector(simd, a), in_vector(simd, b));
    let (c, d) = pair(simd, in_vector(simd, c), in_vector(simd, d));
    let (e, f) = pair(simd, in_vector(simd, e), in_vector(simd, f));
    let (g, k) = pair(simd, in_vector(simd, g), in_vector(simd, k));
    let ((a, c), (b, d)) = (pair(simd, a, c), pair(simd, b, d));
    let ((e, g), (f, k)) = (pair(simd, e, g), pair(simd, f, k));
    let ((a, e), (b, f)) = (pair(simd, a, e), pair(simd, b, f));
    let ((c, g), (d, k)) = (pair(simd, c, g), pair(simd, d, k));
    *vectors = [a, b, c, d, e, f, g, k];
}

#[inline(always)]
fn pair<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> (S::f32s, S::f32s) {
    (simd.add_f32s(a, b), simd.sub_f32s(a, b))
}

/// The levels inside one vector.
#[inline(always)]
fn in_vector<S: Simd>(simd: S, v: S::f32s) -> S::f32s {
    let v = level::<S, 1>(simd, v);
    let v = level::<S, 2>(simd, v);
    let v = level::<S, 4>(simd, v);
    level::<S, 8>(simd, v)
}

/// One level inside a vector: the partner of lane i is lane `i ^ H`.
#[inline(always)]
fn level<S: Simd, const H: usize>(simd: S, v: S::f32s) -> S::f32s {
    if H >= S::F32_LANES {
        return v;
    }
    let sign = vector::<S>(std::array::from_fn(|i| if i & H == 0 { 1.0 } else { -1.0 }));
    // The lower of two lanes becomes their sum, the upper one lower less upper. The product is
    // exact: these are the bits of an addition.
    let partner = swapped::<S, H>(simd, v);
    if is_plain::<S>() {
        return simd.add_f32s(simd.mul_f32s(v, sign), partner);
    }
    simd.mul_add_e_f32s(v, sign, partner)
}

#[inline(always)]
fn radix2(x: &mut [f32], h: usize) {
    for block in x.chunks_exact_mut(2 * h) {
        let (a, b) = block.split_at_mut(h);
        for (a, b) in a.iter_mut().zip(b) {
            (*a, *b) = (*a + *b, *a - *b);
        }
    }
}

#[inline(always)]
fn radix4(x: &mut [f32], h: usize) {
    for block in x.chunks_exact_mut(4 * h) {
        let (a, rest) = block.split_at_mut(h);
        let (b, rest) = rest.split_at_mut(h);
        let (c, d) = rest.split_at_mut(h);
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let (s, t) = (*a + *b, *a - *b);
            let (u, v) = (*c + *d, *c - *d);
            (*a, *b, *c, *d) = (s + u, t + v, s - u, t - v);
        }
    }
}

#[inline(always)]
fn radix8(x: &mut [f32], h: usize) {
    for block in x.chunks_exact_mut(8 * h) {
        let (low, high) = block.split_at_mut(4 * h);
        let (a, rest) = low.split_at_mut(h);
        let (b, rest) = rest.split_at_mut(h);
        let (c, d) = rest.split_at_mut(h);
        let (e, rest) = high.split_at_mut(h);
        let (f, rest) = rest.split_at_mut(h);
        let (g, k) = rest.split_at_mut(h);
        // Three levels while eight values are in registers: p after distance h, q after 2 h, and
        // 4 h last. These are the additions of three single levels, so the bits are the same.
        for i in 0..h {
            let (p0, p1) = (a[i] + b[i], a[i] - b[i]);
            let (p2, p3) = (c[i] + d[i], c[i] - d[i]);
            let (p4, p5) = (e[i] + f[i], e[i] - f[i]);
            let (p6, p7) = (g[i] + k[i], g[i] - k[i]);
            let (q0, q1, q2, q3) = (p0 + p2, p1 + p3, p0 - p2, p1 - p3);
            let (q4, q5, q6, q7) = (p4 + p6, p5 + p7, p4 - p6, p5 - p7);
            (a[i], b[i], c[i], d[i]) = (q0 + q4, q1 + q5, q2 + q6, q3 + q7);
            (e[i], f[i], g[i], k[i]) = (q0 - q4, q1 - q5, q2 - q6, q3 - q7);
        }
    }
}
