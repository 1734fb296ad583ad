//! Random projections (Johnson & Lindenstrauss 1984): columns made few, lengths and products kept.

use super::{Affine, DenseFeatures, FeatureMap, MapBuilder, MapData, names::RANDOM_PROJECTION};
use crate::{
    Error, Result,
    kernels::{ArcCosineKernel, Kernel, Linear},
    ops::{Nonlinearity, projection::DenseMap},
    sampling::{Sampling, round_to_11_bits},
    seed::{Seed, Stream},
    settings::Settings,
};
use ndarray::Array2;
use std::{fmt, str::FromStr, sync::Arc};

/// The entries of a random matrix, of mean 0 and variance 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Entries {
    /// Normal; frequencies on 11 bits, as of other dense maps.
    #[default]
    Gaussian,
    /// `sqrt(s)` times -1, 0 and 1 with probabilities 1/(2 s), 1 - 1/s, 1/(2 s): signs for s = 1,
    /// and for s = 3 the sparse ones of Achlioptas 2003.
    Sparse(f64),
    /// [`Self::Sparse`] with s the root of the number of columns (Li, Hastie & Church 2006).
    VerySparse,
}

impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian => f.write_str("gaussian"),
            Self::Sparse(s) => write!(f, "sparse:{s}"),
            Self::VerySparse => f.write_str("sparse"),
        }
    }
}

impl FromStr for Entries {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "gaussian" => Ok(Self::Gaussian),
            "sparse" => Ok(Self::VerySparse),
            other => {
                let s = other
                    .strip_prefix("sparse:")
                    .and_then(|s| s.trim().parse().ok());
                let s = s.ok_or_else(|| {
                    Error::parameter(format!(
                        "unknown entries {text:?}; use gaussian, sparse or sparse:3"
                    ))
                })?;
                checked(s).map(Self::Sparse)
            }
        }
    }
}

fn checked(s: f64) -> Result<f64> {
    if s >= 1.0 && s.is_finite() {
        Ok(s)
    } else {
        Err(Error::parameter(format!(
            "one entry in {s} was asked to be other than 0; use 1 or more"
        )))
    }
}

/// Builds a random projection `z = W'x / sqrt(D)`, whose `z(x)'z(y)` estimates x'y
/// ([`kernels::Linear`](crate::kernels::Linear)) with the variance
/// `(|x|^2 |y|^2 + (x'y)^2 + (m - 3) sum_j x_j^2 y_j^2) / D`, m the fourth moment of an entry: 3 of
/// normal ones, s of sparse ones. Lengths of n rows and of their differences stay within a factor
/// `1 +- e` with D of about `8 ln(n) / e^2`, whatever the number of columns.
///
/// It is a map as any other: learners on it are linear in the columns, at the cost of D of them.
/// Zeros of a sparse matrix are stored and multiplied, so that it is no faster here; it is spelled
/// out in integers.
///
/// ```
/// use bochner::{features::{Affine, Entries, FeatureMap, RandomProjection}, seed::Seed};
/// let map = RandomProjection::new().features(64).entries(Entries::Sparse(3.0)).seed(Seed(1));
/// assert_eq!(map.build(Affine::identity(1000))?.output_dim(), 64);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RandomProjection {
    entries: Entries,
    features: usize,
    sampling: Sampling,
    seed: Seed,
}

impl Default for RandomProjection {
    fn default() -> Self {
        Self {
            entries: Entries::default(),
            features: 1000,
            sampling: Sampling::default(),
            seed: Seed(0),
        }
    }
}

impl RandomProjection {
    /// 1000 features of normal entries, by Monte Carlo, from seed 0, until said otherwise.
    pub fn new() -> Self {
        Self::default()
    }

    /// D, the number of features.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// What the matrix consists of.
    pub fn entries(mut self, entries: Entries) -> Self {
        self.entries = entries;
        self
    }

    /// How normal entries are drawn.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the map. `input` prepares raw columns.
    ///
    /// Errors with [`Error::Shape`] when D or d is 0, with [`Error::Parameter`] on sparse entries
    /// with s below 1, and as the sampling does.
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let (d, s) = (input.columns(), self.features);
        if d == 0 || s == 0 {
            return Err(Error::shape(format!(
                "a projection of {d} columns to {s} features; give at least one of each"
            )));
        }
        let (w_ds, variance) = match self.entries {
            Entries::Gaussian => {
                let measure = ArcCosineKernel::weights();
                let drawn = self
                    .sampling
                    .for_even()?
                    .draw(measure, d, s, false, self.seed)?;
                let weight = |l: usize| drawn.weights.as_ref().map_or(1.0, |w| w[l]);
                let variances = (0..s).map(weight).collect();
                (drawn.omega_sd.t().mapv(round_to_11_bits), variances)
            }
            Entries::Sparse(one_in) => self.sparse(d, checked(one_in)?),
            Entries::VerySparse => self.sparse(d, (d as f64).sqrt()),
        };
        let amplitude = |v: &f64| (v / s as f64).sqrt() as f32;
        let dense = DenseMap {
            w_ds,
            phase_s: vec![0.0; s],
            amplitude_s: variance.iter().map(amplitude).collect(),
            nonlinearity: Nonlinearity::Identity,
        };
        let origin = match self.entries {
            Entries::Gaussian => format!("{} entries, {}", self.entries, self.sampling.settled()),
            _ => format!("{} entries", self.entries),
        };
        Ok(DenseFeatures {
            name: RANDOM_PROJECTION,
            origin,
            input,
            dense,
        })
    }

    /// -1, 0 and 1, and what their squares are to be multiplied by.
    fn sparse(&self, d: usize, one_in: f64) -> (Array2<f32>, Vec<f64>) {
        let mut w_ds = Array2::zeros((d, self.features));
        for (l, mut column) in w_ds.columns_mut().into_iter().enumerate() {
            let mut draws = self.seed.stream(Stream::Signs, l as u64);
            column.mapv_inplace(|_: f32| {
                if draws.uniform() * one_in < 1.0 {
                    draws.sign() as f32
                } else {
                    0.0
                }
            });
        }
        (w_ds, vec![one_in; self.features])
    }
}

impl MapBuilder for RandomProjection {
    fn settings(&self) -> Settings {
        Settings::of_map(RANDOM_PROJECTION)
            .text("kernel", Linear.spec())
            .text("features", self.features)
            .text("sampling", self.sampling)
            .text("entries", self.entries)
            .text("seed", self.seed.0)
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(Arc::new(Linear))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}
