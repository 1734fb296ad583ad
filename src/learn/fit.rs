//! What a learner does once its map is drawn: from rows to a model.

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

/// A way to fit a linear model to features. [`Learner`](crate::models::Learner) draws the map,
/// decides what the targets are and hands both over; the command line does the same for
/// `fit --model NAME`.
///
/// Whatever is learnt ends as `z(x)'beta + b` with a meaning, so that one file, one `predict` and
/// one `evaluate` serve every learner.
pub trait Fit: fmt::Debug + Send + Sync {
    /// Its name and its options in words, as `bochner fit` has them; `custom` for a learner of
    /// one's own, which only code can give.
    fn settings(&self) -> Settings {
        Settings::of_learner("custom")
    }

    /// Whether it counts rows by their [weights](crate::data::Chunk::weights). To one that does
    /// not, a source that has some is an error.
    fn takes_weights(&self) -> bool {
        false
    }

    /// Whether rows may count for less the older they are: not where a small weight says something
    /// else than few rows.
    fn takes_half_life(&self) -> bool {
        self.takes_weights()
    }

    /// Whether it begins at [`FitData::start`] where there is one.
    fn takes_start(&self) -> bool {
        false
    }

    /// What stands before it where nobody says so: the map, its size and the bandwidth.
    fn usual(&self) -> Usual {
        Usual::default()
    }

    /// Itself, if it is least squares with a penalty that a [`Search`](crate::models::Search) or
    /// leaves may choose.
    fn penalised(&self) -> Option<&dyn FitPenalised> {
        None
    }

    /// Whether it takes memory for a sketch beside the chunks that it reads: then half of what is
    /// left is for that.
    fn takes_sketch(&self) -> bool {
        false
    }

    /// Bytes of each pair of so many features or landmarks at the peak, of sums and of what solves
    /// for them: what is refused before a row is read. 0 where there are no pairs, or where that
    /// depends on the rows.
    fn square_bytes(&self, _features: usize) -> u32 {
        0
    }

    /// Bytes that stay of each row until the fit ends, for so many outputs: targets, scores. 0 for
    /// what sums rows and forgets them.
    fn row_bytes(&self, _outputs: usize) -> usize {
        0
    }

    /// Bytes of the rows that are kept whole beside sums, of so many columns and outputs and of so
    /// many rows at most: what a penalty is chosen by.
    fn kept_bytes(&self, _size: (usize, usize), _rows: Option<usize>) -> u64 {
        0
    }

    /// Penalties per row on |beta|^2 beside mean squared errors, where they are given: what chooses
    /// preparation and bandwidth keeps to them.
    fn penalties(&self) -> Option<&[f64]> {
        None
    }

    /// Whether it predicts means of amounts by least squares: then their logarithms may stand for
    /// them.
    fn is_least_squares(&self) -> bool {
        false
    }

    /// Whether an option that is given is in the unit of the targets, so that a fit of targets in
    /// another unit would read it wrong.
    fn has_options_in_target_units(&self) -> bool {
        false
    }

    /// Whether the columns themselves may stand beside its features where rows left out are
    /// predicted better so: a penalty of squares is on both.
    fn takes_line(&self) -> bool {
        false
    }

    /// Whether columns may get lengthscales of their own where rows left out are predicted better
    /// so; not if it finds some itself.
    fn takes_lengthscales(&self) -> bool {
        true
    }

    /// Whether fewer rows than features may be solved in their own number.
    fn solves_few_rows(&self) -> bool {
        false
    }

    /// Itself, if rows are nothing but sums to it, which parts of them have, too.
    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        None
    }

    /// Fits to the rows of `data` on the features of `map`.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel>;
}

/// What stands before a learner where nobody says so: of every door, but that a builder in Rust is
/// given a map of a number of features.
///
/// ```
/// use bochner::models::{Fit, KernelIcaOptions, Usual};
/// use bochner::features::MapKind;
/// assert_eq!(KernelIcaOptions::default().usual().map, MapKind::Identity);
/// assert_eq!(Usual::default().features, 1000);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Usual {
    /// Which map.
    pub map: MapKind,
    /// Its features, or its landmarks.
    pub features: usize,
    /// How frequencies are drawn where columns are few ([`Sampling::FEW_COLUMNS`]).
    pub sampling: Sampling,
    /// How wide the kernel is.
    pub bandwidth: Bandwidth,
}

impl Default for Usual {
    /// 1000 Fourier features, drawn independently, of the bandwidth that rows left out choose
    /// ([`Bandwidth::Chosen`]).
    fn default() -> Self {
        Self {
            map: MapKind::Fourier,
            features: MapSpec::FEATURES,
            sampling: Sampling::Auto,
            bandwidth: Bandwidth::Chosen,
        }
    }
}

/// A way to learn from rows alone, without targets.
pub trait FitRows: Fit {
    /// What its models predict.
    type Predicted: Predicted;
}

/// Rows on their way into a fit, and where it runs.
pub struct FitData<'a> {
    /// The rows, from the first.
    pub source: &'a mut dyn ChunkSource,
    /// What one pass over them found.
    pub survey: &'a Survey,
    /// What their targets mean.
    pub targets: Targets,
    /// The kernel that the map estimates; `None` where it is made of none, or not known.
    pub kernel: Option<ScaledKernel>,
    /// The rule or the number that the lengthscales of the map came from, where it is known.
    pub bandwidth: Option<Bandwidth>,
    /// Coefficients of an earlier model on the same map to begin at; `None` begins anew.
    pub start: Option<&'a Coefficients>,
    /// The seed of what the learner draws itself.
    pub seed: Seed,
    /// Where, with how much memory, and who hears of it.
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
