//! Packed columns in 16 bits, for one or two rows: reading the columns is all that such a product
//! waits for. Frequencies have 11 significant bits, so f16 holds them exactly after a scaling by a
//! power of two, and the sums keep their bits.

use super::{
    Epilogue, Panels, PanelsView, Parts, f16,
    tile::{ABREAST, STRETCH, panel_columns},
};
use crate::device::Line;
use pulp::{NullaryFnOnce, Simd, f32x16, x86::V4};

/// Columns of a panel with AVX-512.
const COLUMNS: usize = 32;

/// A matrix in panels of f16, on a machine with AVX-512.
pub(crate) struct HalfPanels {
    token: V4,
    depth: usize,
    columns: usize,
    data: Vec<Line>,
    unscale: f32,
}

impl HalfPanels {
    /// The same matrix in 16 bits; `None` when f16 does not hold it exactly, or when the machine
    /// lacks the instructions.
    pub(crate) fn from_panels(panels: &Panels) -> Option<Self> {
        let token = crate::instructions::wide()?;
        if panel_columns() != COLUMNS {
            return None;
        }
        let view = panels.all();
        let values = view.data();
        let (scale, unscale) = f16::scale(values, 15)?;
        let mut data = vec![Line([0.0; 16]); values.len().div_ceil(32)];
        let halves: &mut [u16] = bytemuck::cast_slice_mut(&mut data);
        for (half, &value) in halves.iter_mut().zip(values) {
            *half = f16::exact(value * scale)?;
        }
        Some(Self {
            token,
            depth: view.depth(),
            columns: view.columns(),
            data,
            unscale,
        })
    }

    /// As [`super::for_each_row`] for at most two rows, with the same bits.
    pub(crate) fn for_each_row(
        &self,
        x: &[f32],
        parts: Parts<'_, '_>,
        mut epilogue: impl Epilogue,
    ) {
        for part in parts {
            match x.len() / self.depth {
                0 => {}
                1 => self.run::<1>(x, part, &mut epilogue),
                _ => self.run::<2>(x, part, &mut epilogue),
            }
        }
    }

    fn run<const ROWS: usize>(
        &self,
        x: &[f32],
        part: PanelsView<'_>,
        epilogue: &mut impl Epilogue,
    ) {
        self.token.vectorize(Product::<'_, _, ROWS> {
            panels: self,
            start: part.start(),
            columns: part.columns(),
            x,
            epilogue,
        });
    }
}

impl std::fmt::Debug for HalfPanels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {} in 16 bits", self.depth, self.columns)
    }
}

struct Product<'a, E, const ROWS: usize> {
    panels: &'a HalfPanels,
    /// The first column, with which a panel begins, and how many from there on.
    start: usize,
    columns: usize,
    x: &'a [f32],
    epilogue: &'a mut E,
}

impl<E: Epilogue, const ROWS: usize> NullaryFnOnce for Product<'_, E, ROWS> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            panels,
            start,
            columns,
            x,
            epilogue,
        } = self;
        let (token, depth) = (panels.token, panels.depth);
        let halves: &[[[u16; 16]; 2]] = bytemuck::cast_slice(&panels.data);
        let unscale = token.splat_f32s(panels.unscale);
        let mut products = [[[0.0_f32; COLUMNS]; ROWS]; ABREAST];
        let width = ABREAST * COLUMNS;
        for first in (0..columns).step_by(width) {
            let count = columns.div_ceil(COLUMNS) - first / COLUMNS;
            // Panels beyond the last repeat it; what they give is not used.
            let at: [usize; ABREAST] =
                std::array::from_fn(|p| ((start + first) / COLUMNS + p.min(count - 1)) * depth);
            for from in (0..depth).step_by(STRETCH) {
                let len = STRETCH.min(depth - from);
                let x: [&[f32]; ROWS] = std::array::from_fn(|r| &x[r * depth + from..][..len]);
                let b: [_; ABREAST] = std::array::from_fn(|p| &halves[at[p] + from..][..len]);
                let mut sums = [[[token.splat_f32s(0.0); 2]; ROWS]; ABREAST];
                for k in 0..len {
                    for (sums, b) in sums.iter_mut().zip(b) {
                        let b: [f32x16; 2] = b[k].map(|half| {
                            pulp::cast(token.avx512f._mm512_cvtph_ps(pulp::cast(half)))
                        });
                        for (sum, x) in sums.iter_mut().zip(x) {
                            let x = token.splat_f32s(x[k]);
                            sum[0] = token.mul_add_e_f32s(x, b[0], sum[0]);
                            sum[1] = token.mul_add_e_f32s(x, b[1], sum[1]);
                        }
                    }
                }
                let products = products.as_flattened_mut().iter_mut();
                for (product, sum) in products.zip(sums.as_flattened()) {
                    for (product, &sum) in product.as_chunks_mut::<16>().0.iter_mut().zip(sum) {
                        let sum = token.mul_f32s(sum, unscale);
                        let sum = match from {
                            0 => sum,
                            _ => token.add_f32s(pulp::cast(*product), sum),
                        };
                        *product = pulp::cast(sum);
                    }
                }
            }
            for (p, products) in products.iter().enumerate().take(count) {
                let col = first + p * COLUMNS;
                let used = COLUMNS.min(columns - col);
                for (row, t) in products.iter().enumerate() {
                    epilogue.row(token, row, start + col, &t[..used]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects what an epilogue gets.
    struct Collect(Vec<(usize, usize, Vec<u32>)>);

    impl Epilogue for Collect {
        fn row<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
            let bits = t.iter().map(|v| v.to_bits()).collect();
            self.0.push((row, col, bits));
        }
    }

    #[test]
    fn sixteen_bits_give_the_bits_of_thirty_two() {
        if crate::instructions::wide().is_none() {
            println!("no AVX-512 here: 32 bits are used");
            return;
        }
        for (depth, columns) in [
            (1, 1),
            (3, 31),
            (300, 33),
            (784, 191),
            (256, 192),
            (257, 385),
        ] {
            let mut draws = crate::seed::Seed(3).stream(crate::seed::Stream::Sample, 0);
            let w: Vec<f32> = (0..depth * columns)
                .map(|_| crate::sampling::round_to_11_bits(draws.normal()))
                .collect();
            let x: Vec<f32> = (0..2 * depth).map(|_| draws.normal() as f32).collect();
            let panels = Panels::pack(&w, depth, columns);
            let half = HalfPanels::from_panels(&panels).expect("11 bits fit");
            for rows in [1, 2] {
                let x = &x[..rows * depth];
                let (mut a, mut b) = (Collect(Vec::new()), Collect(Vec::new()));
                super::super::for_each_row(x, &mut [panels.all()].into_iter(), &mut a);
                half.for_each_row(x, &mut [panels.all()].into_iter(), &mut b);
                a.0.sort();
                b.0.sort();
                assert_eq!(a.0, b.0, "{rows} x {depth} x {columns}");
            }
        }
    }

    #[test]
    fn more_than_eleven_bits_are_refused() {
        let fine = Panels::pack(&[1.0, 1.0 + 1.0 / 1024.0, 3.0e-5], 1, 3);
        let coarse = Panels::pack(&[1.0, 1.0 + 1.0 / 2048.0], 1, 2);
        assert!(HalfPanels::from_panels(&coarse).is_none());
        // 3e-5 has more bits than 11.
        assert!(HalfPanels::from_panels(&fine).is_none());
    }
}
