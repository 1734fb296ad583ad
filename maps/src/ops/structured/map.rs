//! The parameters of a structured map on the host, and its f64 reference.

use crate::{
    Error, Result,
    ops::Nonlinearity,
    simd::cos2pi::{reference_cos, reference_sin},
};
use ndarray::{Array2, ArrayView2};

/// The parameters of a structured map: blocks of n frequencies, n a power of two, side by side and
/// cut off after s.
///
/// Frequency i of a block has the projection `t_i = radius_i (C x)_i + phase_i` in turns, x padded
/// with zeros to n.
#[derive(Debug, Clone, PartialEq)]
pub struct StructuredMap {
    /// Number of input columns, d <= n.
    pub depth: usize,
    /// Random signs as bits, set for -1, 32 a word: one row a block for Fastfood (B), three for
    /// SORF (D3, D2, D1 in the order in which they are applied), `ceil(n / 32)` words each.
    pub signs: Array2<u32>,
    /// What C is.
    pub mixing: Mixing,
    /// n, the padded depth.
    pub padded: usize,
    /// Radii with every factor of C's normalisation, length s.
    pub radius_s: Vec<f32>,
    /// Phases in turns, length s; zeros for the paired form.
    pub phase_s: Vec<f32>,
    /// Multiplies each feature: sqrt(2/D).
    pub amplitude: f32,
    /// [`Nonlinearity::CosSin`] or [`Nonlinearity::Cos`].
    pub nonlinearity: Nonlinearity,
}

/// How a block mixes its input; H is the unnormalised Walsh-Hadamard matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum Mixing {
    /// `C = H G P H B` (Le, Sarlos & Smola 2013).
    Fastfood {
        /// `(P v)_i = v[permutation[block, i]]`, shape `[blocks, n]`.
        permutation_bn: Array2<u32>,
        /// The diagonal of G, drawn in f64 and rounded once, shape `[blocks, n]`.
        gaussian_bn: Array2<f32>,
    },
    /// `C = H D1 H D2 H D3` (Yu et al. 2016).
    Sorf,
}

impl StructuredMap {
    /// Number of frequencies, s.
    pub fn freqs(&self) -> usize {
        self.radius_s.len()
    }

    /// Number of output columns, D.
    pub fn outputs(&self) -> usize {
        self.freqs() * self.nonlinearity.outputs()
    }

    /// Number of blocks, ceil(s/n).
    pub fn blocks(&self) -> usize {
        self.freqs().div_ceil(self.padded)
    }

    /// Sign diagonals of a block.
    pub(super) fn diagonals(&self) -> usize {
        match self.mixing {
            Mixing::Fastfood { .. } => 1,
            Mixing::Sorf => 3,
        }
    }

    /// Errors with [`Error::Shape`] unless all parts fit together, as they may not in a damaged
    /// model file.
    pub(crate) fn check(&self) -> Result<()> {
        let (n, s) = (self.padded, self.freqs());
        let wrong = |what: String| Err(Error::shape(what));
        if self.depth == 0 || s == 0 {
            return wrong(format!(
                "a map from {} columns to {s} frequencies is empty",
                self.depth
            ));
        }
        if !n.is_power_of_two() || n < 2 || self.depth > n || n > 1 << 30 {
            return wrong(format!(
                "{} columns cannot be padded to {n}; take the next power of two",
                self.depth
            ));
        }
        let signs = (self.blocks() * self.diagonals(), n.div_ceil(32));
        if self.signs.dim() != signs || self.phase_s.len() != s {
            return wrong(format!(
                "{s} frequencies need signs of shape {signs:?} ({:?}) and as many phases ({})",
                self.signs.dim(),
                self.phase_s.len()
            ));
        }
        if !matches!(self.nonlinearity, Nonlinearity::CosSin | Nonlinearity::Cos) {
            return wrong("a structured map takes cosines only".into());
        }
        if !self.amplitude.is_finite() {
            return wrong(format!("the amplitude is {}", self.amplitude));
        }
        let Mixing::Fastfood {
            permutation_bn,
            gaussian_bn,
        } = &self.mixing
        else {
            return Ok(());
        };
        let shape = (self.blocks(), n);
        if permutation_bn.dim() != shape || gaussian_bn.dim() != shape {
            return wrong(format!(
                "permutations {:?} and diagonals {:?} are not of shape {shape:?}",
                permutation_bn.dim(),
                gaussian_bn.dim()
            ));
        }
        // Shaders and the CPU gather by these indices without a check of their own.
        for (block, permutation) in permutation_bn.rows().into_iter().enumerate() {
            let mut seen = vec![false; n];
            for &to in permutation {
                match seen.get_mut(to as usize) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return wrong(format!("block {block} holds no permutation of 0..{n}")),
                }
            }
        }
        Ok(())
    }

    /// +1 or -1 of element `i` in sign diagonal `row`.
    pub(super) fn sign(&self, row: usize, i: usize) -> f64 {
        match self.signs[[row, i / 32]] >> (i % 32) & 1 {
            0 => 1.0,
            _ => -1.0,
        }
    }

    /// `C x` of one block in f64, all n of it, radii not applied.
    fn mix(&self, block: usize, x: &[f64]) -> Vec<f64> {
        let mut v: Vec<f64> = (0..self.padded)
            .map(|i| x.get(i).map_or(0.0, |&x| x))
            .collect();
        let flip = |v: &mut [f64], row: usize| {
            for (i, v) in v.iter_mut().enumerate() {
                *v *= self.sign(row, i);
            }
        };
        match &self.mixing {
            Mixing::Fastfood {
                permutation_bn,
                gaussian_bn,
            } => {
                // From right to left in H G P H B.
                flip(&mut v, block);
                hadamard(&mut v);
                v = (0..self.padded)
                    .map(|i| {
                        let from = permutation_bn[[block, i]] as usize;
                        f64::from(gaussian_bn[[block, i]]) * v[from]
                    })
                    .collect();
                hadamard(&mut v);
            }
            Mixing::Sorf => {
                for j in 0..3 {
                    flip(&mut v, 3 * block + j);
                    hadamard(&mut v);
                }
            }
        }
        v
    }

    /// `radius_i (C x)_i` of all s frequencies in f64, phases not added.
    fn turns(&self, x: &[f64]) -> Vec<f64> {
        let all = (0..self.blocks()).flat_map(|block| self.mix(block, x));
        all.zip(&self.radius_s)
            .map(|(v, &r)| f64::from(r) * v)
            .collect()
    }

    /// The frequencies as a dense matrix, shape `[d, s]`: what the map computes without ever
    /// storing it.
    pub fn materialize(&self) -> Array2<f64> {
        let mut w_ds = Array2::zeros((self.depth, self.freqs()));
        let mut unit = vec![0.0; self.depth];
        for (j, mut row) in w_ds.rows_mut().into_iter().enumerate() {
            unit.fill(0.0);
            unit[j] = 1.0;
            row.iter_mut()
                .zip(self.turns(&unit))
                .for_each(|(w, t)| *w = t);
        }
        w_ds
    }
}

fn hadamard(v: &mut [f64]) {
    let mut h = 1;
    while h < v.len() {
        for block in v.chunks_exact_mut(2 * h) {
            let (a, b) = block.split_at_mut(h);
            for (a, b) in a.iter_mut().zip(b) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        h *= 2;
    }
}

/// `z = amplitude * cos(2 pi (radius C x + phase))` in f64, from the f32 inputs that the op sees.
pub fn reference(map: &StructuredMap, x_nd: ArrayView2<'_, f32>) -> Array2<f64> {
    let s = map.freqs();
    let a = f64::from(map.amplitude);
    let mut z_nd = Array2::zeros((x_nd.nrows(), map.outputs()));
    for (x, mut z) in x_nd.rows().into_iter().zip(z_nd.rows_mut()) {
        let x: Vec<f64> = x.iter().map(|&v| v.into()).collect();
        for (l, t) in map.turns(&x).into_iter().enumerate() {
            let t = t + f64::from(map.phase_s[l]);
            z[l] = a * reference_cos(t);
            if map.nonlinearity == Nonlinearity::CosSin {
                z[s + l] = a * reference_sin(t);
            }
        }
    }
    z_nd
}
