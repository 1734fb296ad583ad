//! Fastfood (Le, Sarlos & Smola 2013): Fourier features whose frequencies are products of Hadamard
//! matrices and diagonals.

use super::names::FASTFOOD;
use super::{
    Affine, FeatureMap, Form, MapBuilder, MapData, StructuredFeatures,
    builder::drawn,
    structured::{BYTES, Plan},
};
use crate::{
    Result,
    device::memory_left,
    kernels::Kernel,
    ops::structured::Mixing,
    seed::{Seed, Stream},
    settings::Settings,
};
use ndarray::Array2;
use std::sync::Arc;

/// Builds a Fastfood map: kernel, form, number of features, seed.
///
/// Frequencies are the rows of `V = (1/sqrt n) S H G P H B` at unit scale, n the columns padded to
/// a power of two: H the +-1 Walsh-Hadamard matrix, B random signs, P a permutation, G a Gaussian
/// diagonal, `S_ii = s_i / |G|_F` with s_i drawn from the law of |omega| in n dimensions, so that
/// row i has exactly the norm s_i. Each row alone has exactly the law of the kernel's frequencies
/// (`h_i G P H B` is a rotated Gaussian vector), so the estimate of k is unbiased; rows of a block
/// are not independent. A feature costs O(log d) and the parameters O(D), instead of O(d) and O(d
/// D).
///
/// ```
/// use bochner::{features::{Affine, Fastfood, FeatureMap}, kernels::Gaussian, seed::Seed};
/// let input = Affine::identity(3).lengthscale(2.0)?;
/// let map = Fastfood::new(Gaussian).features(512).seed(Seed(1)).build(input)?;
/// assert_eq!(map.output_dim(), 512);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fastfood {
    kernel: Arc<dyn Kernel>,
    form: Form,
    features: usize,
    seed: Seed,
}

impl Fastfood {
    /// Features of `kernel`: 1000 of them, paired, from seed 0, until said otherwise.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self {
            kernel: Arc::new(kernel),
            form: Form::default(),
            features: 1000,
            seed: Seed(0),
        }
    }

    /// D, the number of real output columns.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// Paired or with phases.
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Of another kernel and size.
    fn varied(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Self> {
        Some(Self {
            kernel,
            features,
            ..self.clone()
        })
    }

    /// Draws the map. `input` takes raw columns to unit lengthscale.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] when D is zero, or odd for the paired form;
    /// [`crate::Error::Unsupported`] for a kernel whose frequencies are not isotropic (Laplacian,
    /// Cauchy).
    pub fn build(&self, input: Affine) -> Result<StructuredFeatures> {
        let plan = Plan {
            name: FASTFOOD,
            kernel: self.kernel.as_ref(),
            form: self.form,
            features: self.features,
            seed: self.seed,
        };
        let n = input.columns().next_power_of_two().max(2);
        let s = self.form.frequencies(self.features)?;
        memory_left::require(BYTES * s as u128, || format!("a map of {s} frequencies"))?;
        let blocks = s.div_ceil(n);
        let mut gaussian_bn = Array2::zeros((blocks, n));
        let mut permutation_bn = Array2::zeros((blocks, n));
        // |G|_F sqrt n, from G as it is used: rounded.
        let mut norms = Vec::with_capacity(blocks);
        for block in 0..blocks {
            let mut draws = self.seed.stream(Stream::Gaussian, block as u64);
            let mut square = 0.0;
            for g in gaussian_bn.row_mut(block) {
                *g = draws.normal() as f32;
                square += f64::from(*g).powi(2);
            }
            norms.push((square * n as f64).sqrt());
            let mut draws = self.seed.stream(Stream::Permutation, block as u64);
            let row = permutation_bn.row_mut(block);
            row.into_iter()
                .zip(draws.permutation(n))
                .for_each(|(to, from)| *to = from as u32);
        }
        let mixing = Mixing::Fastfood {
            permutation_bn,
            gaussian_bn,
        };
        plan.build(
            input,
            1,
            |_, _| mixing,
            |measure, n, block, draws| Some(measure.radius(n, draws)? / norms[block]),
        )
    }
}

impl Fastfood {
    /// Its options in words.
    fn in_words(&self) -> Settings {
        Settings::of_map(FASTFOOD)
            .text("kernel", self.kernel.spec())
            .text("features", self.features)
            .text("form", self.form)
            .text("seed", self.seed.0)
    }
}

drawn!(Fastfood);
