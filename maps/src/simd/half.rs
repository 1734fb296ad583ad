//! Packed columns in 16 bits, for one or two rows: reading the columns is all that such a product
//! waits for. Frequencies have 11 significant bits, so f16 holds them exactly after a scaling by a
//! power of two, and the sums keep their bits.

#![allow(
    unsafe_code,
    reason = "conversions of f16 beside AVX2 are unsafe functions; each use says why it is sound"
)]

use super::{
    Epilogue, Fused, Panels, PanelsView, Parts, f16,
    tile::{ABREAST, STRETCH, panel_columns},
};
use crate::{device::Line, instructions::Arch};
use bytemuck::Pod;
use pulp::{
    NullaryFnOnce, Simd,
    x86::{V3, V4},
};
use std::arch::x86_64::{__m128i, _mm256_cvtph_ps};

/// A matrix in panels of f16, on a machine with AVX-512, or with AVX2 and conversions of f16.
pub(crate) struct HalfPanels {
    machine: Machine,
    depth: usize,
    columns: usize,
    data: Vec<Line>,
    unscale: f32,
}

#[derive(Clone, Copy)]
enum Machine {
    Wide(V4),
    Narrow(Narrow),
}

impl Machine {
    fn here() -> Option<Self> {
        match crate::instructions::arch() {
            Arch::V4(token) => Some(Self::Wide(token)),
            Arch::V3(token) => Narrow::with(token).map(Self::Narrow),
            _ => None,
        }
    }
}

/// Vectors that f16 is converted to.
trait Halves: Copy {
    type S: Simd;
    /// As many f16 as a vector has numbers.
    type Half: Pod;

    fn simd(self) -> Self::S;

    /// Runs `f` where the instructions are.
    fn run<F: NullaryFnOnce<Output = ()>>(self, f: F);

    /// To be called under [`Self::run`].
    fn convert(self, half: Self::Half) -> <Self::S as Simd>::f32s;
}

impl Halves for V4 {
    type S = Self;
    type Half = [u16; 16];

    #[inline(always)]
    fn simd(self) -> Self {
        self
    }

    fn run<F: NullaryFnOnce<Output = ()>>(self, f: F) {
        self.vectorize(f);
    }

    #[inline(always)]
    fn convert(self, half: [u16; 16]) -> <Self as Simd>::f32s {
        pulp::cast(self.avx512f._mm512_cvtph_ps(pulp::cast(half)))
    }
}

/// AVX2, and conversions of f16 beside it, as all its processors have them. Only [`Self::with`]
/// makes one.
#[derive(Clone, Copy)]
struct Narrow(V3);

impl Narrow {
    fn with(token: V3) -> Option<Self> {
        std::arch::is_x86_feature_detected!("f16c").then_some(Self(token))
    }
}

impl Halves for Narrow {
    type S = V3;
    type Half = [u16; 8];

    #[inline(always)]
    fn simd(self) -> V3 {
        self.0
    }

    fn run<F: NullaryFnOnce<Output = ()>>(self, f: F) {
        #[target_feature(enable = "avx,avx2,bmi1,bmi2,fma,lzcnt,popcnt,f16c")]
        fn run<F: NullaryFnOnce<Output = ()>>(f: F) {
            f.call();
        }
        // SAFETY: V3 has all of these but f16c, which was looked for when this was made.
        unsafe { run(f) }
    }

    #[inline(always)]
    fn convert(self, half: [u16; 8]) -> <V3 as Simd>::f32s {
        let half: __m128i = pulp::cast(half);
        // SAFETY: there are conversions, or there would be no `self`.
        pulp::cast(unsafe { _mm256_cvtph_ps(half) })
    }
}

impl HalfPanels {
    /// The same matrix in 16 bits; `None` when f16 does not hold it exactly, or when the machine
    /// lacks the instructions.
    pub(crate) fn from_panels(panels: &Panels) -> Option<Self> {
        let machine = Machine::here()?;
        let view = panels.all();
        let values = view.data();
        let (scale, unscale) = f16::scale(values, 15)?;
        let mut data = vec![Line([0.0; 16]); values.len().div_ceil(32)];
        let halves: &mut [u16] = bytemuck::cast_slice_mut(&mut data);
        for (half, &value) in halves.iter_mut().zip(values) {
            *half = f16::exact(value * scale)?;
        }
        Some(Self {
            machine,
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
        let epilogue = &mut epilogue;
        for part in parts {
            match (self.machine, x.len() / self.depth) {
                (_, 0) => {}
                (Machine::Wide(v4), 1) => self.run::<V4, _, 1, ABREAST>(v4, x, part, epilogue),
                (Machine::Wide(v4), _) => self.run::<V4, _, 2, ABREAST>(v4, x, part, epilogue),
                (Machine::Narrow(v3), 1) => {
                    self.run::<Narrow, _, 1, ABREAST>(v3, x, part, epilogue);
                }
                // Two rows by six panels are 24 sums: more than 16 registers hold.
                (Machine::Narrow(v3), _) => {
                    self.run::<Narrow, _, 2, { ABREAST / 2 }>(v3, x, part, epilogue);
                }
            }
        }
    }

    fn run<H: Halves, E: Epilogue, const ROWS: usize, const PANELS: usize>(
        &self,
        halves: H,
        x: &[f32],
        part: PanelsView<'_>,
        epilogue: &mut E,
    ) {
        halves.run(Product::<'_, H, E, ROWS, PANELS> {
            halves,
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

/// With so many rows and panels at a time.
struct Product<'a, H, E, const ROWS: usize, const PANELS: usize> {
    halves: H,
    panels: &'a HalfPanels,
    /// The first column, with which a panel begins, and how many from there on.
    start: usize,
    columns: usize,
    x: &'a [f32],
    epilogue: &'a mut E,
}

impl<H: Halves, E: Epilogue, const ROWS: usize, const PANELS: usize> NullaryFnOnce
    for Product<'_, H, E, ROWS, PANELS>
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            halves,
            panels,
            start,
            columns,
            x,
            epilogue,
        } = self;
        let (simd, depth) = (halves.simd(), panels.depth);
        let all: &[[H::Half; 2]] = bytemuck::cast_slice(&panels.data);
        let unscale = simd.splat_f32s(panels.unscale);
        let zero = simd.splat_f32s(0.0);
        let mut products = [[[zero; 2]; ROWS]; PANELS];
        let width = panel_columns();
        for first in (0..columns).step_by(PANELS * width) {
            let count = columns.div_ceil(width) - first / width;
            // Panels beyond the last repeat it; what they give is not used.
            let mut at = [0; PANELS];
            for (p, at) in at.iter_mut().enumerate() {
                *at = ((start + first) / width + p.min(count - 1)) * depth;
            }
            for from in (0..depth).step_by(STRETCH) {
                let len = STRETCH.min(depth - from);
                let x: [&[f32]; ROWS] = std::array::from_fn(|r| &x[r * depth + from..][..len]);
                let b: [_; PANELS] = std::array::from_fn(|p| &all[at[p] + from..][..len]);
                let mut sums = [[[zero; 2]; ROWS]; PANELS];
                for k in 0..len {
                    for (sums, b) in sums.iter_mut().zip(b) {
                        let b = [halves.convert(b[k][0]), halves.convert(b[k][1])];
                        for (sum, x) in sums.iter_mut().zip(x) {
                            let x = simd.splat_f32s(x[k]);
                            sum[0] = simd.fused_f32s(x, b[0], sum[0]);
                            sum[1] = simd.fused_f32s(x, b[1], sum[1]);
                        }
                    }
                }
                let products = products.as_flattened_mut().as_flattened_mut().iter_mut();
                for (product, &sum) in products.zip(sums.as_flattened().as_flattened()) {
                    let sum = simd.mul_f32s(sum, unscale);
                    *product = match from {
                        0 => sum,
                        _ => simd.add_f32s(*product, sum),
                    };
                }
            }
            for (p, products) in products.iter().enumerate().take(count) {
                let col = first + p * width;
                let used = width.min(columns - col);
                for (row, t) in products.iter().enumerate() {
                    let t: &[f32] = bytemuck::cast_slice(t);
                    epilogue.row(simd, row, start + col, &t[..used]);
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
        if Machine::here().is_none() {
            println!("no conversions of f16 here: 32 bits are used");
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
