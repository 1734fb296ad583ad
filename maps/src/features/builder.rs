//! One face for every map that is still to be drawn: what it asks of the data, and what it makes of
//! them.

use super::{Affine, Bandwidth, ColumnPart, FeatureMap};
use crate::{
    Result,
    data::{ChunkSource, Survey},
    flow::Run,
    kernels::{Domain, Kernel},
    sampling::Sampling,
    seed::Seed,
    settings::Settings,
};
use std::{fmt::Debug, sync::Arc};

/// A feature map that is chosen but not drawn: kernel, sizes and samplings, without the data.
/// Learners take any of them, and a map of your own that implements this:
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::array![[0.0, 1.0], [0.5, 0.2], [2.0, -1.0], [1.0, 0.0]];
/// let y = ndarray::array![0.3, 0.1, -0.2, 0.4];
/// let of_choice: Box<dyn MapBuilder> = Box::new(Nystrom::new(Gaussian).features(4));
/// let model = Ridge::on(of_choice).device(&Device::cpu()).fit((&x, &y))?;
/// assert_eq!(model.predict(&x)?.len(), 4);
/// # Ok::<(), bochner::Error>(())
/// ```
pub trait MapBuilder: Debug + Send + Sync {
    /// Its name and its options in words, as `bochner fit` has them; `custom` for a map that only
    /// code can give.
    fn settings(&self) -> Settings {
        Settings::of_map("custom")
    }

    /// The kernel that bandwidths are meant for; `None` for maps that are not made from one.
    fn kernel(&self) -> Option<Arc<dyn Kernel>>;

    /// Whether z(x)'z(y) is of that kernel alone: not where something stands beside its features.
    fn is_of_its_kernel(&self) -> bool {
        true
    }

    /// Whether some features are constant between cuts of the columns, so that a lengthscale far
    /// beyond the distances of rows leaves them the same in nearly all rows.
    fn is_piecewise_constant(&self) -> bool {
        false
    }

    /// Whether z(x)'z(y) depends on x - y alone, so that columns may be centred.
    fn is_shift_invariant(&self) -> bool {
        self.kernel()
            .is_some_and(|kernel| kernel.is_shift_invariant())
    }

    /// The values at unit lengthscale that the map takes. Where these are not all,
    /// [`Standardize::Auto`](super::Standardize::Auto) leaves columns as they are.
    fn domain(&self) -> Domain {
        self.kernel().map_or(Domain::Any, |kernel| kernel.domain())
    }

    /// How many rows of the data, drawn uniformly, [`MapData::survey`] must have for the map.
    fn sample_rows(&self) -> usize {
        0
    }

    /// D, the number of features, if it is decided before the data are seen.
    fn features(&self) -> Option<usize> {
        None
    }

    /// How frequencies are drawn, if they are.
    fn sampling(&self) -> Option<Sampling> {
        None
    }

    /// The bandwidth where none is asked for; `None` leaves it to the learner.
    fn usual_bandwidth(&self) -> Option<Bandwidth> {
        None
    }

    /// The columns that each of several parts looks at, in a sum of maps that do not all look at
    /// all of them; `None` for other maps. Errors with [`Error::Parameter`](crate::Error) on
    /// columns that the rows do not have.
    #[doc(hidden)]
    fn column_parts(&self, survey: &Survey) -> Result<Option<Vec<ColumnPart>>> {
        let _ = survey;
        Ok(None)
    }

    /// The same map of another kernel and another number of features, which searches try; `None`
    /// for maps that are not made of a kernel, or of given parts.
    fn variant(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Box<dyn MapBuilder>> {
        let _ = (kernel, features);
        None
    }

    /// The same map of another number of features, which parts of an additive model are; `None` for
    /// maps that have one size.
    #[doc(hidden)]
    fn resized(&self, features: usize) -> Option<Box<dyn MapBuilder>> {
        self.variant(self.kernel()?, features)
    }

    /// Draws the map, looking at the data where the map needs that. Errors as the map's own `build`
    /// does.
    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>>;
}

/// What a map may look at when it is drawn, and where.
#[non_exhaustive]
pub struct MapData<'a> {
    /// From raw columns to unit lengthscale.
    pub input: Affine,
    /// A survey of all rows, with a sample of at least [`MapBuilder::sample_rows`] rows, or of all
    /// there are.
    pub survey: &'a Survey,
    /// All rows.
    pub source: &'a mut dyn ChunkSource,
    /// Where rows are worked on, with how much memory; hears [`Step::Map`](crate::Step::Map) of
    /// the rows of [`Self::source`] that are done.
    pub run: &'a Run,
    /// The seed to draw from instead of the map's own.
    pub seed: Option<Seed>,
    /// How frequencies are drawn in few columns where the map does not say it.
    pub sampling: Sampling,
    /// The columns that the map looks at, where these are not all: `input` drops the others.
    #[doc(hidden)]
    pub columns: Option<Vec<usize>>,
}

impl<'a> MapData<'a> {
    /// All that a builder needs; the seed is the map's own, and frequencies are drawn as
    /// [`Sampling::Auto`] says.
    pub fn new(
        input: Affine,
        survey: &'a Survey,
        source: &'a mut dyn ChunkSource,
        run: &'a Run,
    ) -> Self {
        Self {
            input,
            survey,
            source,
            run,
            seed: None,
            sampling: Sampling::Auto,
            columns: None,
        }
    }

    /// For a map that looks at these columns alone.
    #[doc(hidden)]
    pub fn of_columns(mut self, columns: Vec<usize>) -> Self {
        self.input = self.input.only(&columns);
        self.columns = Some(columns);
        self
    }
}

/// The seed of part `i` of maps side by side, which must not draw the same numbers.
#[doc(hidden)]
pub fn part_seed(seed: Seed, i: usize) -> Seed {
    Seed(seed.0.wrapping_add((i as u64) << 48))
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<M: MapBuilder + ?Sized> MapBuilder for $pointer {
            fn settings(&self) -> Settings {
                (**self).settings()
            }
            fn kernel(&self) -> Option<Arc<dyn Kernel>> {
                (**self).kernel()
            }
            fn is_of_its_kernel(&self) -> bool {
                (**self).is_of_its_kernel()
            }
            fn is_piecewise_constant(&self) -> bool {
                (**self).is_piecewise_constant()
            }
            fn is_shift_invariant(&self) -> bool {
                (**self).is_shift_invariant()
            }
            fn domain(&self) -> Domain {
                (**self).domain()
            }
            fn sample_rows(&self) -> usize {
                (**self).sample_rows()
            }
            fn features(&self) -> Option<usize> {
                (**self).features()
            }
            fn sampling(&self) -> Option<Sampling> {
                (**self).sampling()
            }
            fn usual_bandwidth(&self) -> Option<Bandwidth> {
                (**self).usual_bandwidth()
            }
            fn column_parts(&self, survey: &Survey) -> Result<Option<Vec<ColumnPart>>> {
                (**self).column_parts(survey)
            }
            fn variant(
                &self,
                kernel: Arc<dyn Kernel>,
                features: usize,
            ) -> Option<Box<dyn MapBuilder>> {
                (**self).variant(kernel, features)
            }
            fn resized(&self, features: usize) -> Option<Box<dyn MapBuilder>> {
                (**self).resized(features)
            }
            fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
                (**self).build_from(data)
            }
        }
    )*};
}
forward!(Box<M>, Arc<M>);

/// Maps that are drawn from a kernel, an input and a seed alone.
macro_rules! drawn {
    ($($map:ty),*) => {$(
        impl MapBuilder for $map {
            fn settings(&self) -> Settings {
                self.in_words()
            }
            fn kernel(&self) -> Option<Arc<dyn Kernel>> {
                Some(self.kernel.clone())
            }
            fn features(&self) -> Option<usize> {
                Some(self.features)
            }
            fn variant(
                &self,
                kernel: Arc<dyn Kernel>,
                features: usize,
            ) -> Option<Box<dyn MapBuilder>> {
                self.varied(kernel, features).map(|map| Box::new(map) as _)
            }
            fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
                let map = self.clone().seed(data.seed.unwrap_or(self.seed));
                Ok(Box::new(map.build(data.input)?))
            }
        }
    )*};
}
pub(super) use drawn;
