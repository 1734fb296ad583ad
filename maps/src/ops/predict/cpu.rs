//! Fused predict on the CPU: features live in registers and first-level cache, their products with
//! the coefficients in lanes.

use crate::{
    ops::projection::cpu::Map,
    parallel,
    simd::{Epilogue, Fused, ThroughCache, rows_per_block},
};
use pulp::Simd;

/// Lanes that a prediction is summed in, each of the columns that leave one remainder, whatever the
/// width of vectors; their sum comes last, in a fixed order.
const LANES: usize = 32;
/// Rows whose features meet a target while its coefficients are in registers.
const ROWS: usize = 12;
/// Bytes that the sums of a block of rows may take.
const SUM_BYTES: usize = 512 << 10;

/// Writes `f(x W + phase) beta`, block by block; features live in registers and first-level
/// cache only.
pub(super) fn run(map: &Map, x: &[f32], beta: &[f32], y: &mut [f32], targets: usize) {
    let cpu = map.cpu();
    let rows = y.len() / targets;
    if rows == 0 {
        return;
    }
    let depth = x.len() / rows;
    let outputs = map.outputs();
    // [t, D]: the coefficients of a target lie beside each other.
    let mut beta_td = vec![0.0; beta.len()];
    for (j, row) in beta.chunks_exact(targets).enumerate() {
        for (k, &b) in row.iter().enumerate() {
            beta_td[k * outputs + j] = b;
        }
    }
    // The sums of a block of rows stay in cache, whatever the number of targets.
    let fits = (SUM_BYTES / (4 * LANES * targets)).max(1);
    let block = rows_per_block(rows, cpu.threads()).min(fits);
    let work = |sums: &mut Vec<f32>, y: &mut [f32], x: &[f32]| {
        sums.clear();
        sums.resize(y.len() * LANES, 0.0);
        let epilogue = Predictions {
            map,
            beta_td: &beta_td,
            targets,
            sums,
            z: [0.0; ROWS * 2 * LANES],
        };
        map.project(x, map.panels().all(), epilogue);
        for (y, sums) in y.iter_mut().zip(sums.chunks_exact(LANES)) {
            // Lane by lane in order: the bits depend on neither block nor thread.
            *y = sums.iter().sum();
        }
    };
    if rows <= block {
        return work(&mut Vec::new(), y, x);
    }
    cpu.install(|| {
        let x = (x, block * depth);
        parallel::usual().pairs_with_room(y, block * targets, x, &|[sums, _], y, x| {
            work(sums, y, x);
        });
    });
}

/// Features times coefficients, in lanes.
struct Predictions<'a> {
    map: &'a Map,
    beta_td: &'a [f32],
    targets: usize,
    /// `[rows, t, LANES]`.
    sums: &'a mut [f32],
    /// Features of a piece of some rows: cosines, then sines.
    z: [f32; ROWS * 2 * LANES],
}

impl Epilogue for Predictions<'_> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        let (outputs, width) = (self.map.outputs(), t.len());
        // A piece has at most LANES frequencies, so that cosines and sines of it fit z.
        let (z, second) = self.z.split_at_mut(LANES);
        self.map.apply(simd, t, col, z, second, &ThroughCache);
        let sums = &mut self.sums[row * self.targets * LANES..][..self.targets * LANES];
        let betas = self.beta_td.chunks_exact(outputs);
        for (sums, beta) in sums.chunks_exact_mut(LANES).zip(betas) {
            let sums = &mut sums[col % LANES..][..width];
            // Cosines meet the coefficients at col, sines those `freqs` further on.
            let mut from = col;
            for z in self.z.chunks_exact(LANES).take(self.map.parts()) {
                add_products(simd, &z[..width], &beta[from..from + width], sums);
                from += self.map.freqs();
            }
        }
    }

    #[inline(always)]
    fn rows<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        let width = 2 * S::F32_LANES;
        for (some, t) in t.chunks(ROWS * width).enumerate() {
            for (t, z) in t
                .chunks_exact(width)
                .zip(self.z.chunks_exact_mut(2 * LANES))
            {
                let (z, second) = z.split_at_mut(LANES);
                self.map.apply(simd, t, col, z, second, &ThroughCache);
            }
            let first = row + some * ROWS;
            if self.map.parts() == 2 {
                self.add::<S, 2>(simd, (first, t.len() / width), col);
            } else {
                self.add::<S, 1>(simd, (first, t.len() / width), col);
            }
        }
    }
}

impl Predictions<'_> {
    /// Adds the products of the features in z, whole vectors of `PARTS` parts of so many rows from
    /// `first` on, with the coefficients from `col` on. The order of a sum is that of
    /// [`Epilogue::row`].
    #[inline(always)]
    fn add<S: Simd, const PARTS: usize>(
        &mut self,
        simd: S,
        (first, count): (usize, usize),
        col: usize,
    ) {
        let (outputs, freqs) = (self.map.outputs(), self.map.freqs());
        let width = 2 * S::F32_LANES;
        let rows = first * self.targets * LANES..(first + count) * self.targets * LANES;
        let sums = &mut self.sums[rows];
        for (t, beta) in self.beta_td.chunks_exact(outputs).enumerate() {
            // In registers while the rows pass.
            let mut b = [[simd.splat_f32s(0.0); 2]; PARTS];
            for (part, b) in b.iter_mut().enumerate() {
                let (beta, _) = S::as_simd_f32s(&beta[col + part * freqs..][..width]);
                *b = [beta[0], beta[1]];
            }
            let sums = sums[t * LANES..].chunks_mut(self.targets * LANES);
            for (sums, z) in sums.zip(self.z.chunks_exact(2 * LANES)) {
                let (sums, _) = S::as_mut_simd_f32s(&mut sums[col % LANES..][..width]);
                let mut sum = [sums[0], sums[1]];
                for (z, b) in z.chunks_exact(LANES).zip(&b) {
                    let (z, _) = S::as_simd_f32s(&z[..width]);
                    sum[0] = simd.fused_f32s(z[0], b[0], sum[0]);
                    sum[1] = simd.fused_f32s(z[1], b[1], sum[1]);
                }
                (sums[0], sums[1]) = (sum[0], sum[1]);
            }
        }
    }
}

/// `sums += z * beta`, lane by lane; what fills no whole vector goes through one, too, and is
/// rounded as the others.
#[inline(always)]
fn add_products<S: Simd>(simd: S, z: &[f32], beta: &[f32], sums: &mut [f32]) {
    let (sums, sums_rest) = S::as_mut_simd_f32s(sums);
    let ((z, z_rest), (beta, beta_rest)) = (S::as_simd_f32s(z), S::as_simd_f32s(beta));
    for ((sum, &z), &b) in sums.iter_mut().zip(z).zip(beta) {
        *sum = simd.fused_f32s(z, b, *sum);
    }
    if !z_rest.is_empty() {
        let [z, b] = [z_rest, beta_rest].map(|rest| simd.partial_load_f32s(rest));
        let sum = simd.partial_load_f32s(sums_rest);
        simd.partial_store_f32s(sums_rest, simd.fused_f32s(z, b, sum));
    }
}
