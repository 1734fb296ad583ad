//! The front door: a learner on a map, with a default for everything else.

use super::{FittedFeatures, Listener, Step, setup::Setup};
use crate::{
    Device, Result,
    data::{MemorySource, ToRows},
    features::{Bandwidth, MapBuilder, Standardize},
    seed::Seed,
};
use std::sync::Arc;

/// Something that learns on the features of a map: [`Ridge`](super::Ridge),
/// [`RidgeClassifier`](super::RidgeClassifier), [`Features`]. This type holds what all of them
/// share; `L` is what one has of its own.
///
/// Until said otherwise a learner takes the best GPU or else the CPU, 128 MiB for chunks,
/// standardises where columns have mixed scales, takes the bandwidth of [`Bandwidth::Scale`], and
/// is silent.
#[derive(Debug, Clone)]
pub struct Learner<L> {
    pub(super) setup: Setup,
    pub(super) own: L,
}

impl<L: Default> Learner<L> {
    /// Learns on the features of `map`, with a default for everything else.
    pub fn on(map: impl MapBuilder + 'static) -> Self {
        Self {
            setup: Setup::on(Arc::new(map)),
            own: L::default(),
        }
    }
}

impl<L> Learner<L> {
    /// How wide the kernel is.
    pub fn bandwidth(mut self, bandwidth: Bandwidth) -> Self {
        self.setup.bandwidth = bandwidth;
        self
    }

    /// Whether columns are divided by their standard deviations.
    pub fn standardize(mut self, standardize: Standardize) -> Self {
        self.setup.standardize = standardize;
        self
    }

    /// Where work runs: in the fit, and in the model until it is told otherwise.
    pub fn device(mut self, device: &Device) -> Self {
        self.setup.device = Some(device.clone());
        self
    }

    /// Bytes for chunk buffers.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.setup.memory = bytes;
        self
    }

    /// The seed of all draws: of the map, instead of its own, and of the rows that rules look at.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.setup.seed = Some(seed);
        self
    }

    /// Calls `hear` as work proceeds.
    pub fn progress(mut self, hear: impl Fn(Step) + Send + Sync + 'static) -> Self {
        self.setup.progress = Listener::to(hear);
        self
    }
}

/// Nothing is learnt but the scales of the columns: [`Self::fit`] gives features to use elsewhere.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::array![[0.0_f32, 1.0], [0.5, 0.2], [2.0, -1.0]];
/// let map = Fourier::new(Gaussian).features(16);
/// let features = Features::on(map).bandwidth(Bandwidth::Median).fit(&x)?;
/// assert_eq!(features.transform(&x)?.dim(), (3, 16));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Features = Learner<OfRows>;

/// [`Features`] have no options of their own.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfRows;

impl Features {
    /// Surveys the rows and draws the map. Errors when x holds a value that is not finite or the
    /// map cannot be drawn.
    pub fn fit(&self, x_nd: impl ToRows) -> Result<FittedFeatures> {
        let mut source = MemorySource::new(x_nd.to_rows(), None)?;
        let prepared = self.setup.prepare(&mut source)?;
        let memory = self.setup.memory;
        Ok(FittedFeatures::new(prepared.map, prepared.device, memory))
    }
}
