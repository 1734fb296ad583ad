//! Structured maps on the CPU: a few rows at a time through each block, so that its tables are read
//! from cache.

use super::map::{Mixing, StructuredMap};
use crate::{
    Result,
    device::{CpuDevice, Matrix},
    ops::{Nonlinearity, product::RightFactor, walsh_hadamard::transform},
    parallel,
    simd::{
        cos2pi::{cos2pi, sin2pi},
        rows_per_block,
    },
};
use pulp::{Simd, WithSimd};

/// Rows that go through a block together.
const ROWS: usize = 16;

/// Signs as factors, which multiply faster than bits unpack.
#[derive(Debug)]
pub(super) struct Tables {
    cpu: CpuDevice,
    /// `diagonals * n` factors a block.
    signs: Vec<f32>,
}

impl Tables {
    pub(super) fn new(cpu: &CpuDevice, map: &StructuredMap) -> Self {
        let rows = 0..map.signs.nrows();
        let signs = rows.flat_map(|row| (0..map.padded).map(move |i| map.sign(row, i) as f32));
        Self {
            cpu: cpu.clone(),
            signs: signs.collect(),
        }
    }
}

/// The features of all rows.
pub(super) fn run(
    map: &StructuredMap,
    tables: &Tables,
    x_nd: &Matrix,
    z_nd: &mut Matrix,
) -> Result<()> {
    // Blocks outside, rows inside: the tables of a block are read from memory once for all rows of
    // a task.
    let task = rows_per_block(x_nd.rows(), tables.cpu.threads()).min(ROWS);
    let x = x_nd.cpu("x")?;
    let z = z_nd.cpu_mut("z")?;
    tables.cpu.install(|| {
        let (x, size) = ((x, task * map.depth), task * map.outputs());
        parallel::usual().pairs_with_room(z, size, x, &|[scratch, _], z, x| {
            featurize(map, tables, x, scratch, z);
        });
    });
    Ok(())
}

/// The features of a few rows at a time, times the coefficients.
pub(super) fn predict(
    map: &StructuredMap,
    tables: &Tables,
    x_nd: &Matrix,
    beta_dt: &Matrix,
    y_nt: &mut Matrix,
) -> Result<()> {
    let (outputs, targets) = (map.outputs(), beta_dt.cols());
    if targets == 0 {
        return Ok(());
    }
    let task = rows_per_block(x_nd.rows(), tables.cpu.threads()).min(4 * ROWS);
    let x = x_nd.cpu("x")?;
    let beta = RightFactor::new(beta_dt.cpu("the coefficients")?, outputs, targets);
    let y = y_nt.cpu_mut("y")?;
    tables.cpu.install(|| {
        let x = (x, task * map.depth);
        parallel::usual().pairs_with_room(y, task * targets, x, &|[scratch, z], y, x| {
            z.resize(x.len() / map.depth * outputs, 0.0);
            featurize(map, tables, x, scratch, z);
            beta.times(z, y);
        });
    });
    Ok(())
}

/// Some rows on the calling thread.
fn featurize(
    map: &StructuredMap,
    tables: &Tables,
    x: &[f32],
    scratch: &mut Vec<f32>,
    z: &mut [f32],
) {
    scratch.resize(2 * map.padded, 0.0);
    crate::instructions::arch().dispatch(Featurize {
        map,
        tables,
        x,
        scratch,
        z,
    });
}

/// A struct, not a closure, so that it is compiled for each instruction set as a whole.
struct Featurize<'a> {
    map: &'a StructuredMap,
    tables: &'a Tables,
    x: &'a [f32],
    scratch: &'a mut [f32],
    z: &'a mut [f32],
}

impl WithSimd for Featurize<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { map, x, z, .. } = self;
        let n = map.padded;
        // Two rows of scratch: a permutation cannot stay in place.
        let (v, w) = self.scratch.split_at_mut(n);
        assert!(n > 0 && v.len() == n, "scratch is made for n");
        let signs = self.tables.signs.chunks_exact(n * map.diagonals());
        for (block, signs) in signs.enumerate() {
            let rows = x
                .chunks_exact(map.depth)
                .zip(z.chunks_exact_mut(map.outputs()));
            for (x, z) in rows {
                // B x, or the first diagonal of SORF; `signs` goes on with the block's others.
                for ((v, &x), &sign) in v.iter_mut().zip(x).zip(signs) {
                    *v = sign * x;
                }
                // The row before left its transform there.
                v[map.depth..].fill(0.0);
                transform(simd, v);
                match &map.mixing {
                    Mixing::Fastfood {
                        permutation_bn,
                        gaussian_bn,
                    } => {
                        // H B x lies in v; G P of it goes to w, and H once more.
                        let from = permutation_bn.row(block);
                        let from = from.as_slice().expect("rows of a standard layout");
                        let g = gaussian_bn.row(block);
                        let g = g.as_slice().expect("rows of a standard layout");
                        permute(v, from, g, w);
                        transform(simd, w);
                        finish(map, block, w, z);
                    }
                    Mixing::Sorf => {
                        // H D3 H D2 H D1 x: the first signs are on x already.
                        for signs in signs[n..].chunks_exact(n) {
                            v.iter_mut().zip(signs).for_each(|(v, &sign)| *v *= sign);
                            transform(simd, v);
                        }
                        finish(map, block, v, z);
                    }
                }
            }
        }
    }
}

/// `w_i = g_i v[from_i]`, eight at a time: the values come one by one, products and stores at once.
/// All are as long, a power of two.
#[inline(always)]
fn permute(v: &[f32], from: &[u32], g: &[f32], w: &mut [f32]) {
    let last = v.len() - 1;
    // The mask changes nothing, every index being below the length; it spares a check.
    let value = |from: u32| v[from as usize & last];
    let ((from, from_rest), (g, g_rest)) = (from.as_chunks::<8>(), g.as_chunks::<8>());
    let (w, w_rest) = w.as_chunks_mut::<8>();
    for ((w, &[a, b, c, d, e, f, g, h]), factors) in w.iter_mut().zip(from).zip(g) {
        let values = [
            value(a),
            value(b),
            value(c),
            value(d),
            value(e),
            value(f),
            value(g),
            value(h),
        ];
        for ((w, value), factor) in w.iter_mut().zip(values).zip(factors) {
            *w = factor * value;
        }
    }
    for ((w, &from), &g) in w_rest.iter_mut().zip(from_rest).zip(g_rest) {
        *w = g * value(from);
    }
}

/// Radii, phases and cosines of one block of one row.
#[inline(always)]
fn finish(map: &StructuredMap, block: usize, v: &[f32], z: &mut [f32]) {
    let (s, a) = (map.freqs(), map.amplitude);
    let first = block * map.padded;
    // The last block may reach beyond the frequencies of the map.
    let last = s.min(first + map.padded);
    let radius = &map.radius_s[first..last];
    if map.nonlinearity == Nonlinearity::CosSin {
        // All cosines of a row, then all sines. Phases of this form are zero.
        let (cos, sin) = z.split_at_mut(s);
        let out = cos[first..last].iter_mut().zip(&mut sin[first..last]);
        for (((c, s), &v), &r) in out.zip(v).zip(radius) {
            let t = r * v;
            *c = a * cos2pi(t);
            *s = a * sin2pi(t);
        }
    } else {
        let phase = &map.phase_s[first..last];
        let out = z[first..last].iter_mut();
        for (((c, &v), &r), &p) in out.zip(v).zip(radius).zip(phase) {
            *c = a * cos2pi(r * v + p);
        }
    }
}
