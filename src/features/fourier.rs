//! Random Fourier features (Rahimi & Recht 2007): cosines of random projections, drawn from the
//! kernel's spectral measure.

use super::{
    Affine, DenseFeatures, FeatureMap, MapBuilder, MapData, arc_cosine, binning, builder::drawn,
    leverage::Leverage, nystrom,
};
use crate::{
    Error, Result,
    data::Rows,
    error::Remedy,
    kernels::Kernel,
    ops::{Nonlinearity, projection::DenseMap},
    sampling::{Sampling, round_to_11_bits},
    seed::{Seed, Stream},
    text::counted,
};
use std::{f64::consts::TAU, fmt, str::FromStr, sync::Arc};

pub(super) const NAME: &str = "fourier";

/// The two forms of a Fourier feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// `sqrt(2/D) [cos(w'x), sin(w'x)]` on D/2 frequencies: the lower variance for Gaussian and
    /// Laplacian, and z'z = 1.
    #[default]
    Paired,
    /// `sqrt(2/D) cos(w'x + b)` on D frequencies, b uniform: the form of scikit-learn.
    Phase,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Paired => "paired",
            Self::Phase => "phase",
        })
    }
}

impl FromStr for Form {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "paired" => Ok(Self::Paired),
            "phase" => Ok(Self::Phase),
            _ => Err(Error::parameter(format!(
                "unknown form {text:?}; use paired or phase"
            ))),
        }
    }
}

impl Form {
    /// Frequencies of D real features. Errors when D is zero, or odd for the paired form.
    pub fn frequencies(self, features: usize) -> Result<usize> {
        match (self, features) {
            (_, 0) => Err(Error::parameter(
                "the number of features is 0; use at least 2",
            )),
            (Self::Phase, s) => Ok(s),
            (Self::Paired, d) if d % 2 == 0 => Ok(d / 2),
            (Self::Paired, d) => Err(Error::parameter(format!(
                "{} cannot be paired; use {} or the phase form",
                counted(d, "feature"),
                d + 1
            ))),
        }
    }

    pub(super) fn nonlinearity(self) -> Nonlinearity {
        match self {
            Self::Paired => Nonlinearity::CosSin,
            Self::Phase => Nonlinearity::Cos,
        }
    }
}

/// Builds a Fourier map: kernel, sampling, form, number of features, seed.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, Fourier}, kernels::Gaussian, seed::Seed};
/// let input = Affine::identity(3).lengthscale(2.0)?;
/// let map = Fourier::new(Gaussian).features(512).seed(Seed(1)).build(input)?;
/// assert_eq!(map.output_dim(), 512);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fourier {
    kernel: Arc<dyn Kernel>,
    sampling: Sampling,
    form: Form,
    features: usize,
    leverage: Option<Leverage>,
    seed: Seed,
}

impl Fourier {
    /// Features of `kernel`: 1000 of them, paired, by Monte Carlo, from seed 0, until said
    /// otherwise.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self::of(Arc::new(kernel))
    }

    /// As [`Self::new`], for a kernel chosen at run time.
    pub fn of(kernel: Arc<dyn Kernel>) -> Self {
        Self {
            kernel,
            sampling: Sampling::default(),
            form: Form::default(),
            features: 1000,
            leverage: None,
            seed: Seed(0),
        }
    }

    /// D, the number of real output columns.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// How frequencies are drawn.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Paired or with phases.
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Draws a pool of `pool` frequencies and keeps those that matter on `rows` (raw, a sample of
    /// the data): each is drawn with probability by its leverage score at the penalty per sample
    /// `lambda` and weighted by sqrt(p/q), so that the estimate stays unbiased (Li, Ton, Oglic &
    /// Sejdinovic 2019, algorithm 1). Takes `(2 pool)^3` operations.
    pub fn leverage(mut self, rows: impl Into<Rows>, lambda: f64, pool: usize) -> Self {
        self.leverage = Some(Leverage {
            rows: Arc::new(rows.into()),
            lambda,
            pool,
        });
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the map. `input` takes raw columns to unit lengthscale.
    ///
    /// Errors when D is zero or odd for the paired form, when the kernel has no spectral measure,
    /// when the sampling cannot serve it, and when leverage scores cannot be had (columns that
    /// differ, lambda not positive).
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let measure = self.kernel.spectrum().ok_or_else(|| {
            let problem = format!(
                "the kernel {} has no spectral measure, which Fourier features need",
                self.kernel.spec()
            );
            let error = Error::unsupported(problem).help(Remedy::UseMap(nystrom::NAME));
            let mut draws = self.seed.stream(Stream::Bins, 0);
            match self.kernel.arc_cosine() {
                Some(_) => error.help(Remedy::UseMap(arc_cosine::NAME)),
                None if self.kernel.draw_pitch(&mut draws).is_some() => {
                    error.help(Remedy::UseMap(binning::NAME))
                }
                None => error,
            }
        })?;
        let s = self.form.frequencies(self.features)?;
        let with_phases = self.form == Form::Phase;
        let draw = |count| {
            self.sampling
                .draw(measure, input.columns(), count, with_phases, self.seed)
        };
        let drawn = match &self.leverage {
            None => draw(s)?,
            Some(leverage) => {
                leverage.resample(&draw(leverage.pool)?, self.form, &input, s, self.seed)?
            }
        };
        let amplitude = (2.0 / self.features as f64).sqrt();
        let weights = drawn.weights.unwrap_or_else(|| vec![1.0; s]);
        let dense = DenseMap {
            // Frequencies on 11 bits: matrix units and 16-bit storage then lose nothing.
            w_ds: drawn.omega_sd.t().mapv(round_to_11_bits),
            phase_s: match drawn.phases {
                Some(turns) => turns.iter().map(|&t| t as f32).collect(),
                None => vec![0.0; s],
            },
            amplitude_s: weights
                .iter()
                .map(|w| (amplitude * w.sqrt()) as f32)
                .collect(),
            nonlinearity: self.form.nonlinearity(),
        };
        Ok(DenseFeatures {
            name: NAME,
            origin: format!(
                "the {} kernel, {}{}, {}",
                self.kernel.spec(),
                self.sampling,
                match &self.leverage {
                    None => String::new(),
                    Some(l) => format!(" by leverage from {}", l.pool),
                },
                self.form
            ),
            input: input.times(1.0 / TAU),
            dense,
        })
    }
}

drawn!(Fourier);
