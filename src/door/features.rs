//! Features for use elsewhere: scales and a map, and nothing learnt from them.

use crate::{
    Device, Error, Result,
    data::{ChunkSource, MemorySource, ToRows},
    door::learner::{Learner, RowsAlone},
    features::{self, FeatureMap, featurize, require_dense},
    flow::Run,
    learn::Usual,
    store::Store,
};
use ndarray::{Array2, ArrayView2, s};
use std::path::Path;

/// What the file of a map says it is.
const KIND: &str = "features";

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
pub type Features = Learner<OfRows, RowsAlone>;

/// [`Features`] have no options of their own.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfRows;

impl Features {
    /// Surveys the rows and draws the map. Errors when x holds a value that is not finite or the
    /// map cannot be drawn.
    pub fn fit(&self, x_nd: impl ToRows) -> Result<FittedFeatures> {
        let mut source = MemorySource::new(x_nd.to_rows(), None)?;
        let run = self.settings.run()?;
        let (_, drawn) = (self.job.preparation).prepare(&mut source, Usual::default(), &run)?;
        Ok(FittedFeatures::new(drawn.map, run.device, run.memory))
    }
}

/// A map drawn for some rows, with a device to run on: what [`Features`](crate::models::Features)
/// give.
#[derive(Debug)]
pub struct FittedFeatures {
    map: Box<dyn FeatureMap>,
    device: Option<Device>,
    memory: u64,
}

impl FittedFeatures {
    fn new(map: Box<dyn FeatureMap>, device: Device, memory: u64) -> Self {
        Self {
            map,
            device: Some(device),
            memory,
        }
    }

    /// The map.
    pub fn map(&self) -> &dyn FeatureMap {
        self.map.as_ref()
    }

    /// Where it runs.
    pub fn device(mut self, device: &Device) -> Self {
        self.device = Some(device.clone());
        self
    }

    /// Bytes for chunk buffers.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// z(x) of rows `[n, d]`, shape `[n, D]`. Errors with [`Error::Unsupported`] for maps with
    /// binning parts, whose columns are too many to store.
    pub fn transform(&self, x_nd: impl ToRows) -> Result<Array2<f32>> {
        require_dense(self.map.as_ref())?;
        let rows = x_nd.to_rows();
        let mut all = Array2::zeros((rows.nrows(), self.map.output_dim()));
        let mut at = 0;
        self.stream(&mut MemorySource::new(rows, None)?, |z_nd| {
            all.slice_mut(s![at..at + z_nd.nrows(), ..]).assign(&z_nd);
            at += z_nd.nrows();
            Ok(())
        })?;
        Ok(all)
    }

    /// Streams a source: `sink` gets z(x) of each chunk, in order. Returns the number of rows.
    pub fn stream(
        &self,
        source: &mut dyn ChunkSource,
        sink: impl FnMut(ArrayView2<'_, f32>) -> Result<()>,
    ) -> Result<u64> {
        let device = match &self.device {
            Some(device) => device.clone(),
            None => Device::best()?,
        };
        let run = Run::on(&device).memory(self.memory);
        featurize(self.map.as_ref(), source, run, sink)
    }

    /// Writes the map to a file, whole or not at all. Errors when it holds code that no file can
    /// keep.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut store = Store::default();
        self.map.write(&mut store)?;
        store.save(KIND, path.as_ref())
    }

    /// Reads what [`Self::save`] wrote. It runs on the best device until told otherwise.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        let map = features::read(&store).map_err(|fault| Error::in_model(path, &fault))?;
        Ok(Self {
            map,
            device: None,
            memory: Run::DEFAULT_MEMORY,
        })
    }
}
