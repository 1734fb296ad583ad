//! What is done before a learner sees a row: columns are scaled, and the map is drawn.

use super::Rows;
use crate::{
    Result, Run,
    data::{ChunkSource, Survey},
    features::{
        Affine, Bandwidth, FeatureMap, MapBuilder, MapData, ScaledKernel, Scaling, Standardize,
        by_parts,
    },
    kernels::Gaussian,
    learn::{Found, Usual},
    metric::RowsForMap,
    model::Targets,
    sampling::Sampling,
    seed::Seed,
};
use std::sync::Arc;

/// A map, and how rows come to it.
#[derive(Debug, Clone)]
pub struct Preparation {
    /// The map, chosen but not drawn.
    pub map: Arc<dyn MapBuilder>,
    /// How wide the kernel is; `None` leaves it to the map or else to the learner.
    pub bandwidth: Option<Bandwidth>,
    /// Whether columns are divided by their standard deviations.
    pub standardize: Standardize,
    /// The seed of all draws: of the map, instead of its own, and of the rows that rules look at.
    pub seed: Option<Seed>,
}

/// How the columns of some rows are prepared.
#[derive(Debug, Clone)]
pub struct Scales {
    /// The rule or the number that the lengthscales came from.
    pub bandwidth: Bandwidth,
    /// Which columns are centred and divided.
    pub scaling: Scaling,
    /// Lengthscales after that: one, or one for each column.
    pub lengthscales: Vec<f64>,
}

/// A map that is drawn.
#[derive(Debug)]
pub struct DrawnMap {
    /// The map.
    pub map: Box<dyn FeatureMap>,
    /// The kernel that it estimates, on raw rows; `None` where it is made of none, and where rows
    /// are compared by a metric that was learnt.
    pub kernel: Option<ScaledKernel>,
}

impl Scales {
    /// These, with columns as a search has them prepared.
    #[doc(hidden)]
    pub fn with(mut self, found: Option<&Found>) -> Self {
        if let Some(scaling) = found.and_then(|found| found.scaling.as_ref()) {
            self.scaling = scaling.clone();
        }
        self
    }

    /// From raw columns to unit lengthscale. Errors as [`Scaling::input`] does.
    pub fn input(&self) -> Result<Affine> {
        self.scaling.input(&self.lengthscales)
    }

    /// Whether columns are divided by the same numbers, wherever their middle is.
    pub(super) fn scale_alike(&self, other: &Self) -> bool {
        self.scaling.scales_alike(&other.scaling) && self.lengthscales == other.lengthscales
    }
}

impl Preparation {
    /// This map, with a default for everything else.
    pub fn new(map: impl MapBuilder + 'static) -> Self {
        Self {
            map: Arc::new(map),
            bandwidth: None,
            standardize: Standardize::default(),
            seed: None,
        }
    }

    /// The seed of what is drawn beside the map.
    #[doc(hidden)]
    pub fn seed(&self) -> Seed {
        self.seed.unwrap_or_default()
    }

    /// The bandwidth asked for, or that of the map, or `usual`.
    #[doc(hidden)]
    pub fn bandwidth_or(&self, usual: Bandwidth) -> Bandwidth {
        let of_map = || self.map.usual_bandwidth();
        self.bandwidth.clone().or_else(of_map).unwrap_or(usual)
    }

    /// Rows that this bandwidth and the map look at.
    #[doc(hidden)]
    pub fn sample_rows(&self, bandwidth: &Bandwidth) -> usize {
        let bends = self.standardize.sample_rows();
        bandwidth
            .sample_rows()
            .max(self.map.sample_rows())
            .max(bends)
    }

    /// Reads the rows once and samples so many. Errors as [`Survey::watched`] does.
    #[doc(hidden)]
    pub fn survey(
        &self,
        source: &mut dyn ChunkSource,
        sample_rows: usize,
        run: &Run,
    ) -> Result<Survey> {
        self.survey_deciding(source, (sample_rows, 0), run)
    }

    /// As [`Self::survey`], with so many rows that decide on preparation and bandwidth.
    pub(super) fn survey_deciding(
        &self,
        source: &mut dyn ChunkSource,
        rows: (usize, usize),
        run: &Run,
    ) -> Result<Survey> {
        Survey::deciding(source, rows, self.seed().0, &|step| run.say(step))
    }

    /// How columns are prepared for the map, and lengthscales after that.
    ///
    /// Errors as [`Bandwidth::lengthscales`] does.
    #[doc(hidden)]
    pub fn scales(&self, survey: &Survey, bandwidth: Bandwidth) -> Result<Scales> {
        self.scales_for(self.map.as_ref(), survey, bandwidth)
    }

    /// As [`Self::scales`], for another map.
    pub(crate) fn scales_for(
        &self,
        map: &dyn MapBuilder,
        survey: &Survey,
        bandwidth: Bandwidth,
    ) -> Result<Scales> {
        let scaling = self
            .standardize
            .for_bandwidth(&bandwidth)
            .within(map.domain())
            .decide(survey, map.is_shift_invariant());
        // What is made of no kernel takes rows at the scale that a Gaussian would.
        let kernel = map.kernel().unwrap_or_else(|| Arc::new(Gaussian));
        let mut lengthscales = bandwidth.lengthscales(kernel.as_ref(), survey, &scaling)?;
        let parts = map.column_parts(survey)?;
        let narrower = by_parts(&bandwidth, (kernel.as_ref(), parts.as_deref()), survey);
        lengthscales.iter_mut().for_each(|own| *own *= narrower);
        Ok(Scales {
            bandwidth,
            scaling,
            lengthscales,
        })
    }

    /// Draws the map, or the one that a search found; `sampling` is for few columns where the map
    /// does not say how. Errors as the map does.
    #[doc(hidden)]
    pub fn draw(
        &self,
        rows: Rows<'_>,
        found: Option<&Found>,
        sampling: Sampling,
    ) -> Result<DrawnMap> {
        let Rows {
            source,
            survey,
            scales,
            run,
            ..
        } = rows;
        let drawn = match found {
            Some(found) => DrawnMap {
                map: found.draw(RowsForMap {
                    source,
                    survey,
                    scaling: &scales.scaling,
                    run,
                    seed: Some(self.seed()),
                })?,
                kernel: None,
            },
            None => {
                let input = scales.input()?;
                let mut data = MapData::new(input.clone(), survey, source, run);
                data.seed = self.seed;
                data.sampling = sampling;
                let map = self.map.build_from(data)?;
                let kernel = self.map.kernel();
                let kernel = kernel.filter(|_| self.map.is_of_its_kernel());
                DrawnMap {
                    map,
                    kernel: kernel.map(|kernel| ScaledKernel { kernel, input }),
                }
            }
        };
        log::info!(
            "{} on {}, scales {}",
            drawn.map.describe(),
            run.device.describe(),
            scales.scaling
        );
        Ok(drawn)
    }

    /// Surveys, decides on scales and draws the map: what is needed where there is no learner, or
    /// one that sums rows. `usual` counts where neither this nor the map says it.
    ///
    /// Errors as [`Self::scales`] and [`Self::draw`] do.
    #[doc(hidden)]
    pub fn prepare(
        &self,
        source: &mut dyn ChunkSource,
        usual: Usual,
        run: &Run,
    ) -> Result<(Survey, DrawnMap)> {
        let rows = self.sample_rows(&self.bandwidth_or(usual.bandwidth.clone()));
        let survey = self.survey(source, rows, run)?;
        let drawn = self.draw_of(&survey, source, usual, run)?;
        Ok((survey, drawn))
    }

    /// As [`Self::prepare`], of rows that were surveyed.
    #[doc(hidden)]
    pub fn draw_of(
        &self,
        survey: &Survey,
        source: &mut dyn ChunkSource,
        usual: Usual,
        run: &Run,
    ) -> Result<DrawnMap> {
        let scales = self.scales(survey, self.bandwidth_or(usual.bandwidth))?;
        let rows = Rows {
            source,
            survey,
            scales: &scales,
            targets: &Targets::none(),
            run,
        };
        self.draw(rows, None, usual.sampling)
    }
}
