//! The hot loops of the CPU without the rest of the library: what `cargo xtask codegen --cpu`
//! compiles for processors that this machine need not be, and looks at as assembly.
//!
//! Each function here is one of `LOOPS` in `xtask/src/codegen/cpu/limits.rs`, by its type's name.

#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "files of the library, of which only the loops are called"
)]

pub type Result<T> = std::result::Result<T, Error>;

/// In the place of the library's.
#[derive(Debug)]
pub struct Error;

mod instructions {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum InstructionSet {
        Avx512,
        Avx2,
        Scalar,
    }

    pub fn instruction_set() -> InstructionSet {
        InstructionSet::Scalar
    }

    /// All of them are compiled.
    pub fn arch() -> pulp::Arch {
        pulp::Arch::new()
    }
}

#[path = "../../maps/src/parallel.rs"]
mod parallel;

#[path = "../../maps/src/device"]
mod device {
    mod aligned;
    pub(crate) use aligned::Aligned;

    /// In the place of the library's: nothing is asked of a system.
    pub(crate) mod large_pages {
        pub(crate) fn ask_for<T>(_: &mut [T]) {}
    }

    /// In the place of the library's.
    pub struct CpuDevice;

    impl CpuDevice {
        pub fn threads(&self) -> usize {
            1
        }

        pub fn install(&self, work: impl FnOnce()) {
            work();
        }
    }

    /// In the place of the library's.
    pub struct Matrix;

    impl Matrix {
        pub fn rows(&self) -> usize {
            0
        }

        pub fn cols(&self) -> usize {
            0
        }

        pub fn cpu(&self, _: &str) -> crate::Result<&[f32]> {
            Err(crate::Error)
        }

        pub fn cpu_mut(&mut self, _: &str) -> crate::Result<&mut [f32]> {
            Err(crate::Error)
        }
    }
}

#[path = "../../maps/src/simd"]
mod simd {
    pub(crate) mod fused;
    mod hint;
    #[cfg(target_arch = "aarch64")]
    mod lanes;
    mod pack;
    mod rows;
    pub(crate) mod swap;
    mod tile;

    pub(crate) use fused::Fused;
    pub(crate) use hint::{Upcoming, prefetch};
    pub(crate) use pack::{Panels, PanelsView, Parts};
    pub(crate) use rows::{Epilogue, for_each_row, rows_per_block};

    #[path = "triangle"]
    mod triangle {
        mod block;

        /// Gram sums.
        pub fn gram(slabs: &[f32], laid: &mut [f32], scratch: &mut [f32], sums: &mut [f64]) {
            let width = block::slab_columns();
            let slab = |s: usize| &slabs[s * 256 * width..(s + 1) * 256 * width];
            crate::instructions::arch().dispatch(block::Block {
                i: 0..2,
                j: 0..2,
                slab,
                laid,
                scratch,
                sums,
            });
        }
    }
    pub use triangle::gram;

    /// The largest tile of dense products.
    struct DenseTile<'a>([&'a [f32]; 3], &'a mut [f32]);

    impl pulp::WithSimd for DenseTile<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, simd: S) {
            let [a, b, next] = self.0;
            tile::multiply(simd, tile::most_rows(S::F32_LANES), a, b, self.1, next);
        }
    }

    pub fn dense_tile(operands: [&[f32]; 3], c: &mut [f32]) {
        crate::instructions::arch().dispatch(DenseTile(operands, c));
    }

    /// What must fail: a tile that takes all 16 registers of AVX2, so that a sum lies on the stack.
    struct FourByThree<'a>([&'a [f32]; 3], &'a mut [f32]);

    impl pulp::WithSimd for FourByThree<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, simd: S) {
            let [a, b, next] = self.0;
            let (a, _) = a.as_chunks::<4>();
            let (b, _) = S::as_simd_f32s(b);
            let (b, _) = b.as_chunks::<3>();
            let mut sums = [[simd.splat_f32s(0.0); 3]; 4];
            for (k, (a, b)) in a.iter().zip(b).enumerate() {
                prefetch(next, k * hint::LINE);
                for (sums, &a) in sums.iter_mut().zip(a) {
                    let a = simd.splat_f32s(a);
                    for (sum, &b) in sums.iter_mut().zip(b) {
                        *sum = simd.mul_add_e_f32s(a, b, *sum);
                    }
                }
            }
            let (c, _) = S::as_mut_simd_f32s(self.1);
            let (c, _) = c.as_chunks_mut::<3>();
            c.iter_mut().zip(sums).for_each(|(c, sums)| *c = sums);
        }
    }

    pub fn four_by_three(operands: [&[f32]; 3], c: &mut [f32]) {
        crate::instructions::arch().dispatch(FourByThree(operands, c));
    }
}
pub use simd::{dense_tile, four_by_three, gram};

#[path = "../../maps/src/linalg/cholesky"]
mod cholesky {
    mod packed;
    mod update;

    pub fn cholesky(rows: &mut [f64], stride: usize) {
        let mut packed = packed::Packed::default();
        packed.pack(rows, stride, (0, 256));
        update::subtract(rows, stride, 256, &packed);
    }
}
pub use cholesky::cholesky;

mod kernels {
    /// As the library's.
    #[derive(Debug, Clone, Copy)]
    pub enum BlockForm {
        Gaussian,
        Laplacian,
        Exponential,
        Matern32,
        Matern52,
        Cauchy,
        Hat,
        RationalQuadratic { alpha: f64 },
        ArcCosine { order: u32 },
    }
}

#[path = "../../maps/src/ops"]
mod ops {
    #[path = "walsh_hadamard"]
    pub(crate) mod walsh_hadamard {
        mod cpu;

        pub fn walsh_hadamard(rows: &mut [f32], n: usize) {
            cpu::rows(rows, n);
        }
    }

    #[path = "product"]
    pub(crate) mod product {
        mod cpu;

        pub fn dots(b: (&[f32], usize), a: &[f32], c: &mut [f32]) {
            cpu::RightFactor::new(b.0, b.1, b.0.len() / b.1).times(a, c);
        }
    }

    #[path = "kernel_block/cpu"]
    pub(crate) mod kernel_block {
        mod elementary;
        mod forms;
        mod tiles;

        /// As the library's.
        #[derive(Debug, Clone, Copy)]
        pub enum Level {
            Zero,
            Top,
        }

        pub fn gaussian(x: &[f32], d: usize, packed: &[f32], k: &mut [f32]) {
            tiles::Block {
                form: crate::kernels::BlockForm::Gaussian,
                level: Level::Zero,
                x,
                d,
                packed,
                norm: &[],
                landmarks: packed.len() / d,
                k,
            }
            .write();
        }
    }
}
pub use ops::{kernel_block::gaussian, product::dots, walsh_hadamard::walsh_hadamard};
