//! Preparation of a fit: scales of the columns, and the drawn map.

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

/// A map builder, and how rows are scaled for it.
#[derive(Debug, Clone)]
pub struct Preparation {
    /// The map, before it is drawn.
    pub map: Arc<dyn MapBuilder>,
    /// Bandwidth of the kernel; `None` for the default of the map or of the learner.
    pub bandwidth: Option<Bandwidth>,
    /// Whether columns are divided by their standard deviations.
    pub standardize: Standardize,
    /// Seed of all draws: of the map, instead of its own seed, and of sampled rows.
    pub seed: Option<Seed>,
}

/// Preparation of the columns of some rows.
#[derive(Debug, Clone)]
pub struct Scales {
    /// Rule or number behind the lengthscales.
    pub bandwidth: Bandwidth,
    /// Centres and divisors of the columns.
    pub scaling: Scaling,
    /// Lengthscales of the prepared columns: one, or one per column.
    pub lengthscales: Vec<f64>,
}

/// A drawn map.
#[derive(Debug)]
pub struct DrawnMap {
    /// The map.
    pub map: Box<dyn FeatureMap>,
    /// Kernel on raw rows that the map estimates; `None` for maps without a kernel, and with a
    /// learned metric.
    pub kernel: Option<ScaledKernel>,
}

impl Scales {
    /// Returns these scales with the preparation that a search chose.
    #[doc(hidden)]
    pub fn with(mut self, found: Option<&Found>) -> Self {
        if let Some(scaling) = found.and_then(|found| found.scaling.as_ref()) {
            self.scaling = scaling.clone();
        }
        self
    }

    /// Returns the affine map from raw columns to unit lengthscale. Errors as [`Scaling::input`]
    /// does.
    pub fn input(&self) -> Result<Affine> {
        self.scaling.input(&self.lengthscales)
    }

    /// Whether both divide the columns by the same numbers; centres may differ.
    pub(super) fn scale_alike(&self, other: &Self) -> bool {
        self.scaling.scales_alike(&other.scaling) && self.lengthscales == other.lengthscales
    }
}

impl Preparation {
    /// Creates a preparation for a map, with defaults for everything else.
    pub fn new(map: impl MapBuilder + 'static) -> Self {
        Self {
            map: Arc::new(map),
            bandwidth: None,
            standardize: Standardize::default(),
            seed: None,
        }
    }

    /// Returns the seed of draws other than the map.
    #[doc(hidden)]
    pub fn seed(&self) -> Seed {
        self.seed.unwrap_or_default()
    }

    /// Returns the requested bandwidth, or that of the map, or `usual`.
    #[doc(hidden)]
    pub fn bandwidth_or(&self, usual: Bandwidth) -> Bandwidth {
        let of_map = || self.map.usual_bandwidth();
        self.bandwidth.clone().or_else(of_map).unwrap_or(usual)
    }

    /// Returns the number of rows that this bandwidth and the map sample.
    #[doc(hidden)]
    pub fn sample_rows(&self, bandwidth: &Bandwidth) -> usize {
        let bends = self.standardize.sample_rows();
        bandwidth
            .sample_rows()
            .max(self.map.sample_rows())
            .max(bends)
    }

    /// Reads the rows once, and samples `sample_rows` of them. Errors as [`Survey::watched`] does.
    #[doc(hidden)]
    pub fn survey(
        &self,
        source: &mut dyn ChunkSource,
        sample_rows: usize,
        run: &Run,
    ) -> Result<Survey> {
        self.survey_deciding(source, (sample_rows, 0), run)
    }

    /// Surveys as [`Self::survey`] does, and keeps rows for the choice of preparation and
    /// bandwidth.
    pub(super) fn survey_deciding(
        &self,
        source: &mut dyn ChunkSource,
        rows: (usize, usize),
        run: &Run,
    ) -> Result<Survey> {
        Survey::deciding(source, rows, self.seed().0, &|step| run.say(step))
    }

    /// Returns the preparation of the columns for the map, and the lengthscales.
    ///
    /// Errors as [`Bandwidth::lengthscales`] does.
    #[doc(hidden)]
    pub fn scales(&self, survey: &Survey, bandwidth: Bandwidth) -> Result<Scales> {
        self.scales_for(self.map.as_ref(), survey, bandwidth)
    }

    /// Returns the scales for another map.
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
        // Maps without a kernel take rows at the scale of a Gaussian kernel.
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

    /// Draws the map, or the map that a search found. `sampling` applies to tables with few columns
    /// if the map does not set one. Errors as the map does.
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

    /// Surveys the rows, chooses scales and draws the map, for use without a learner or with sums
    /// of rows. `usual` is the bandwidth if neither this nor the map sets one.
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

    /// Prepares as [`Self::prepare`] does, for surveyed rows.
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
