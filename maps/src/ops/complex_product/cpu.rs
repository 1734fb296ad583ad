//! Complex products on the CPU: whole slices of real and of imaginary parts.

use super::real_parts;
use crate::{device::CpuDevice, parallel};

/// Rows of `factors * s` numbers to rows of `s`.
pub(super) fn run(cpu: &CpuDevice, t_nf: &[f32], factors: usize, s: usize, z_ns: &mut [f32]) {
    cpu.install(|| {
        parallel::at_least(16).pairs(z_ns, s, (t_nf, factors * s), &|z, t| {
            let (first, others) = t.split_at(s);
            z.copy_from_slice(first);
            others.chunks_exact(s).for_each(|t| multiply(z, t));
        });
    });
}

/// `z *= t`, of transforms.
fn multiply(z: &mut [f32], t: &[f32]) {
    let s = z.len();
    let real = real_parts(s);
    let imaginary = s - real;
    let (z_real, z_imaginary) = z.split_at_mut(real);
    let (t_real, t_imaginary) = t.split_at(real);
    z_real[0] *= t_real[0];
    // Frequency s/2 of an even s.
    if real > imaginary + 1 {
        z_real[real - 1] *= t_real[real - 1];
    }
    let z_pairs = z_real[1..].iter_mut().zip(z_imaginary);
    let t_pairs = t_real[1..].iter().zip(t_imaginary);
    for ((a, b), (&c, &d)) in z_pairs.zip(t_pairs) {
        (*a, *b) = (*a * c - *b * d, *a * d + *b * c);
    }
}
