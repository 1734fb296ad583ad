//! Chi-squared features on the CPU.

use super::Samples;
use crate::{
    device::CpuDevice,
    parallel,
    simd::cos2pi::{cos2pi, sin2pi},
};

/// Rows of `d` numbers to rows of `d` times as many features.
pub(super) fn run(cpu: &CpuDevice, samples: Samples, x_nd: &[f32], d: usize, z_nd: &mut [f32]) {
    let table = samples.table();
    cpu.install(|| {
        let size = d * samples.outputs();
        parallel::at_least(16).pairs(z_nd, size, (x_nd, d), &|z, x| row(&table, x, z));
    });
}

fn row(table: &[f32], x: &[f32], z: &mut [f32]) {
    let d = x.len();
    let (roots, waves) = z.split_at_mut(d);
    for (root, &x) in roots.iter_mut().zip(x) {
        *root = x.sqrt();
    }
    for (pair, waves) in table[2..]
        .chunks_exact(2)
        .zip(waves.chunks_exact_mut(2 * d))
    {
        let (cosines, sines) = waves.split_at_mut(d);
        let features = cosines.iter_mut().zip(sines);
        for ((cosine, sine), (&root, &x)) in features.zip(roots.iter().zip(x)) {
            // Of 0 the root is 0, and any finite logarithm will do.
            let turns = pair[1] * libm::logf(x.max(f32::MIN_POSITIVE));
            let size = pair[0] * root;
            (*cosine, *sine) = (size * cos2pi(turns), size * sin2pi(turns));
        }
    }
    roots.iter_mut().for_each(|root| *root *= table[0]);
}
