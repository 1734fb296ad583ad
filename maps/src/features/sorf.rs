//! Structured orthogonal random features (Yu et al. 2016): three Hadamard transforms with random
//! signs between.

use super::{
    Affine, FeatureMap, Form, MapBuilder, MapData, StructuredFeatures, builder::drawn, names::SORF,
    structured::Plan,
};
use crate::{
    Error, Result, kernels::Kernel, ops::structured::Mixing, seed::Seed, settings::Settings,
};
use std::{fmt, str::FromStr, sync::Arc};

/// The norms of SORF's frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Radii {
    /// Drawn from the kernel's own law of |omega|, chi(n) for the Gaussian: nearly unbiased.
    #[default]
    Drawn,
    /// The paper's constant sqrt(n), for the Gaussian only: the error stops falling, at d = 8 at
    /// 0.035, however large D is.
    Constant,
}

impl fmt::Display for Radii {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drawn => "drawn",
            Self::Constant => "constant",
        })
    }
}

impl FromStr for Radii {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "drawn" => Ok(Self::Drawn),
            "constant" => Ok(Self::Constant),
            _ => Err(Error::parameter(format!(
                "unknown radii {text:?}; use drawn or constant"
            ))),
        }
    }
}

/// Builds a SORF map: kernel, radii, form, number of features, seed.
///
/// Frequencies are the rows of `W = R H D1 H D2 H D3` at unit scale, n the columns padded to a
/// power of two: H the orthonormal Walsh-Hadamard matrix, D_i random signs, R the radii. Rows of a
/// block are exactly orthogonal, which lowers the variance below that of independent frequencies;
/// they are only nearly uniform in direction, a bias that shrinks with n. A feature costs O(log d).
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, Sorf}, kernels::Gaussian, seed::Seed};
/// let input = Affine::identity(3).lengthscale(2.0)?;
/// let map = Sorf::new(Gaussian).features(512).seed(Seed(1)).build(input)?;
/// assert_eq!(map.output_dim(), 512);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sorf {
    kernel: Arc<dyn Kernel>,
    radii: Radii,
    form: Form,
    features: usize,
    seed: Seed,
}

impl Sorf {
    /// Features of `kernel`: 1000 of them, paired, radii drawn, from seed 0, until said otherwise.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self {
            kernel: Arc::new(kernel),
            radii: Radii::default(),
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

    /// Drawn radii, or the paper's constant.
    pub fn radii(mut self, radii: Radii) -> Self {
        self.radii = radii;
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
    /// [`Error::Parameter`] when D is zero, or odd for the paired form; [`Error::Unsupported`] for
    /// a kernel whose frequencies are not isotropic (Laplacian, Cauchy), and for constant radii
    /// with another kernel than the Gaussian.
    pub fn build(&self, input: Affine) -> Result<StructuredFeatures> {
        let plan = Plan {
            name: SORF,
            kernel: self.kernel.as_ref(),
            form: self.form,
            features: self.features,
            seed: self.seed,
        };
        if self.radii == Radii::Constant && self.kernel.spec() != "gaussian" {
            return Err(Error::unsupported(format!(
                "constant radii approximate the gaussian kernel only, not {}; use drawn radii",
                self.kernel.spec()
            )));
        }
        plan.build(
            input,
            3,
            |_, _| Mixing::Sorf,
            |measure, n, _, draws| {
                let n = n as f64;
                let norm = match self.radii {
                    Radii::Drawn => measure.radius(n as usize, draws)?,
                    Radii::Constant => n.sqrt(),
                };
                // Three orthonormal transforms as three unnormalised ones.
                Some(norm / (n * n.sqrt()))
            },
        )
    }
}

impl Sorf {
    /// Its options in words.
    fn in_words(&self) -> Settings {
        Settings::of_map(SORF)
            .text("kernel", self.kernel.spec())
            .text("features", self.features)
            .text("form", self.form)
            .text("sorf-radii", self.radii)
            .text("seed", self.seed.0)
    }
}

drawn!(Sorf);
