//! The Walsh-Hadamard transform on the CPU, for the vectors that run-time dispatch chose.
//!
//! Levels commute, so they are taken in the order that suits the cache: from the top while a row
//! exceeds it, then those inside one vector, then three at a time.

use crate::{device::CpuDevice, parallel};
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
    if n >= VECTORS * lanes {
        in_registers::<S, VECTORS>(simd, x);
        h = VECTORS * lanes;
    } else if n >= lanes {
        in_registers::<S, 1>(simd, x);
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

/// The levels inside one vector, and those across `N` neighbours, in one visit.
#[inline(always)]
fn in_registers<S: Simd, const N: usize>(simd: S, x: &mut [f32]) {
    let (vectors, _) = S::as_mut_simd_f32s(x);
    for vectors in vectors.as_chunks_mut::<N>().0 {
        let mut v = *vectors;
        for v in &mut v {
            *v = in_vector(simd, *v);
        }
        // N is a constant: the loops unroll, and the array becomes N registers.
        let mut h = 1;
        while h < N {
            for i in 0..N {
                // i is the lower of the pair i, i + h.
                if i & h == 0 {
                    let (a, b) = (v[i], v[i | h]);
                    v[i] = simd.add_f32s(a, b);
                    v[i | h] = simd.sub_f32s(a, b);
                }
            }
            h *= 2;
        }
        *vectors = v;
    }
}

/// The levels inside one vector: the partner of lane i is lane i ^ h, which a rotation either way
/// brings.
#[inline(always)]
fn in_vector<S: Simd>(simd: S, mut v: S::f32s) -> S::f32s {
    /// Widest vectors of any instruction set that is dispatched to.
    const MOST: usize = 16;
    let lanes = S::F32_LANES;
    debug_assert!(lanes <= MOST);
    let vector = |f: &dyn Fn(usize) -> f32| {
        let values: [f32; MOST] = std::array::from_fn(f);
        S::as_simd_f32s(&values).0[0]
    };
    let minus_zero = simd.splat_f32s(-0.0);
    let mut h = 1;
    while h < lanes {
        // Constants of an unrolled loop.
        let sign = vector(&|i| if i & h == 0 { 0.0 } else { -0.0 });
        // Lane i gets lane i + h, and below lane i - h; at half a vector both are the same lane.
        let above = simd.rotate_right_f32s(v, lanes - h);
        let partner = if 2 * h == lanes {
            above
        } else {
            let upper = simd.equal_u32s(bytemuck::cast(sign), bytemuck::cast(minus_zero));
            let below = simd.rotate_right_f32s(v, h);
            simd.select_f32s(upper, below, above)
        };
        // The lower of two lanes becomes their sum, the upper one lower less upper: its own sign
        // is turned by the exclusive or, which leaves the lower one's.
        v = simd.add_f32s(partner, simd.xor_f32s(v, sign));
        h *= 2;
    }
    v
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
