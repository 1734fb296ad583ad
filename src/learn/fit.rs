//! Trait of learners, `Fit`: from rows and a map to a model.

pub(super) mod any_sums;
pub(super) mod apart;
pub(super) mod bring_back;
pub(super) mod centred;
pub(super) mod class_weights;
pub(super) mod fit_sums;
mod forgets;
pub(super) mod lambda;
pub(super) mod left_out;
mod name_columns;
pub(super) mod partial;
pub(super) mod passes;
pub(super) mod penalised;
mod probabilities;
mod repeats;
pub(super) mod with_probabilities;
pub(super) mod worse;

pub(super) use self::repeats::find_repeats;
use crate::{
    Result,
    data::{ChunkSource, Survey},
    features::{Bandwidth, FeatureMap, MapKind, MapSpec, ScaledKernel},
    flow::Run,
    learn::{FitAnySums, FitPenalised},
    model::{Coefficients, LinearModel, Predicted, Targets},
    sampling::Sampling,
    seed::Seed,
    settings::Settings,
};
use std::fmt;

/// A learner: fits a linear model to features. [`Learner`](crate::models::Learner) draws the map
/// and determines the kind of the targets before it calls [`Fit::fit`]; `bochner fit --model NAME`
/// does the same.
///
/// Every learner returns a model `z(x)'beta + b` with a link, so that one file format, one
/// `predict` and one `evaluate` serve all of them.
pub trait Fit: fmt::Debug + Send + Sync {
    /// Name and options as `bochner fit` spells them; `custom` for a learner defined in user code.
    fn settings(&self) -> Settings {
        Settings::of_learner("custom")
    }

    /// Whether it supports [weights](crate::data::Chunk::weights) of rows. If not, a source with
    /// weights is an error.
    fn takes_weights(&self) -> bool {
        false
    }

    /// Whether it supports exponential forgetting by a half-life. Not for learners in which a small
    /// weight means something else than fewer rows.
    fn takes_half_life(&self) -> bool {
        self.takes_weights()
    }

    /// Whether it uses [`FitData::start`] as its starting point.
    fn takes_start(&self) -> bool {
        false
    }

    /// Default map, number of features and bandwidth.
    fn usual(&self) -> Usual {
        Usual::default()
    }

    /// This learner as least squares with an L2 penalty that a [`Search`](crate::models::Search) or
    /// leaves may choose; `None` for others.
    fn penalised(&self) -> Option<&dyn FitPenalised> {
        None
    }

    /// Whether it needs memory for a sketch in addition to the chunks. If so, half of the remaining
    /// memory is reserved for the sketch.
    fn takes_sketch(&self) -> bool {
        false
    }

    /// Peak bytes of sums and solver per pair of features (or landmarks), used to refuse a fit
    /// before a row is read. 0 if there are no pairs, or if the size depends on the rows.
    fn square_bytes(&self, _features: usize) -> u32 {
        0
    }

    /// Bytes kept of each row until the end of the fit for `outputs` outputs, such as targets and
    /// scores. 0 for learners that only sum rows.
    fn row_bytes(&self, _outputs: usize) -> usize {
        0
    }

    /// Bytes of rows that are kept whole in addition to sums, to choose a penalty by them; `size`
    /// is the number of columns and outputs, `rows` an upper bound.
    fn kept_bytes(&self, _size: (usize, usize), _rows: Option<usize>) -> u64 {
        0
    }

    /// The given L2 penalties per sample, if any; the choice of preparation and bandwidth uses them
    /// too.
    fn penalties(&self) -> Option<&[f64]> {
        None
    }

    /// Whether it predicts means of real targets by least squares, so that it may be fitted to
    /// their logarithms.
    fn is_least_squares(&self) -> bool {
        false
    }

    /// Whether a given option is in the unit of the targets, so that a fit to rescaled targets
    /// would misread it.
    fn has_options_in_target_units(&self) -> bool {
        false
    }

    /// Whether the columns themselves may be added to its features if this lowers the leave-one-out
    /// error. Requires an L2 penalty on both.
    fn takes_line(&self) -> bool {
        false
    }

    /// Whether columns may get separate lengthscales if this lowers the leave-one-out error. False
    /// for learners that optimize lengthscales themselves.
    fn takes_lengthscales(&self) -> bool {
        true
    }

    /// Whether it can solve fewer rows than features in the dual.
    fn solves_few_rows(&self) -> bool {
        false
    }

    /// This learner as one that needs only sums of the rows, which can be merged; `None` for
    /// others.
    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        None
    }

    /// Fits to the rows of `data` on the features of `map`.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel>;
}

/// Defaults of a learner, shared by all interfaces; Rust builders always take an explicit map and
/// number of features.
///
/// ```
/// use bochner::models::{Fit, KernelIcaOptions, Usual};
/// use bochner::features::MapKind;
/// assert_eq!(KernelIcaOptions::default().usual().map, MapKind::Identity);
/// assert_eq!(Usual::default().features, 1000);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Usual {
    /// Kind of the map.
    pub map: MapKind,
    /// Number of features or of landmarks.
    pub features: usize,
    /// How frequencies are drawn for few columns ([`Sampling::FEW_COLUMNS`]).
    pub sampling: Sampling,
    /// Bandwidth of the kernel.
    pub bandwidth: Bandwidth,
}

impl Default for Usual {
    /// 1000 Fourier features, drawn independently, with the bandwidth chosen by leave-one-out
    /// errors ([`Bandwidth::Chosen`]).
    fn default() -> Self {
        Self {
            map: MapKind::Fourier,
            features: MapSpec::FEATURES,
            sampling: Sampling::Auto,
            bandwidth: Bandwidth::Chosen,
        }
    }
}

/// An unsupervised learner.
pub trait FitRows: Fit {
    /// Type of the predictions of its models.
    type Predicted: Predicted;
}

/// Inputs of a fit: rows, facts about them, and the run.
pub struct FitData<'a> {
    /// The rows, positioned at the first.
    pub source: &'a mut dyn ChunkSource,
    /// Statistics of the rows from one pass.
    pub survey: &'a Survey,
    /// Kind of the targets.
    pub targets: Targets,
    /// The kernel that the map approximates; `None` for no kernel or an unknown one.
    pub kernel: Option<ScaledKernel>,
    /// The rule or number that determined the lengthscales of the map, if known.
    pub bandwidth: Option<Bandwidth>,
    /// Warm start: coefficients of an earlier model on the same map.
    pub start: Option<&'a Coefficients>,
    /// Seed of the learner's own random draws.
    pub seed: Seed,
    /// Device, memory budget and progress callbacks.
    pub run: &'a Run,
}

impl fmt::Debug for FitData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FitData")
            .field("rows", &self.survey.rows)
            .field("targets", &self.targets)
            .field("run", self.run)
            .finish_non_exhaustive()
    }
}
