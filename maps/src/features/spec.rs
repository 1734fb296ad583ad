//! Maps chosen at run time: one description of any map, or of several side by side, that the
//! command line and programs share.

mod choice;
mod columns;
mod drawn;
mod words;

pub use choice::{MapChoice, MapKind, MapPart};
pub use columns::ColumnChoice;

use super::{
    Affine, Bandwidth, ColumnPart, Entries, FeatureMap, Form, Landmarks, MapBuilder, MapData,
    Precomputed, sorf::Radii,
};
use crate::{
    Error, Result,
    data::Survey,
    kernels::Kernel,
    sampling::{Sampling, Sobol},
    seed::Seed,
    settings::Settings,
    text::counted,
};
use drawn::Within;
use std::sync::Arc;

/// How a Fourier map draws by leverage score ([`Fourier::leverage`](super::Fourier::leverage)).
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct LeverageSpec {
    /// The penalty per sample.
    pub lambda: f64,
    /// Frequencies to choose from; `None` for four times as many as are kept.
    pub pool: Option<usize>,
}

/// Everything that decides a map, but the data: [`MapSpec::new`], then change what is to differ.
/// Options that do not concern a map are not looked at.
///
/// ```
/// use bochner::{Device, data::MemorySource, features::{Affine, FeatureMap, MapSpec}, kernels};
/// let x = ndarray::array![[0.0, 1.0], [0.1, 1.1], [5.0, -3.0]];
/// let mut spec = MapSpec::new("0.5*binning+0.5*fourier".parse()?, kernels::parse("laplacian")?);
/// spec.features = 64;
/// let mut source = MemorySource::new(x.clone(), None)?;
/// let map = spec.build(Affine::identity(2), &x, &mut source, &Device::cpu())?;
/// assert_eq!(map.name(), "union");
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct MapSpec {
    /// Which map or maps.
    pub map: MapChoice,
    /// The kernel, the same for all.
    pub kernel: Arc<dyn Kernel>,
    /// D, the number of real output columns, at most for additive chi-squared features; landmarks
    /// for Nystrom, grids for binning.
    pub features: usize,
    /// Paired or with phases: Fourier, Fastfood, SORF, skewed chi-squared.
    pub form: Form,
    /// How frequencies are drawn: Fourier, arc-cosine, random projections, skewed chi-squared.
    pub sampling: Sampling,
    /// Whether Fourier features are then chosen by leverage score.
    pub leverage: Option<LeverageSpec>,
    /// The entries of random projections.
    pub entries: Entries,
    /// The distance of samples of the additive chi-squared spectrum; `None` for what suits their
    /// number.
    pub interval: Option<f64>,
    /// The norms of SORF's frequencies.
    pub radii: Radii,
    /// How Nystrom's landmarks are chosen.
    pub landmarks: Landmarks,
    /// Nystrom's largest rank.
    pub rank: Option<usize>,
    /// The landmarks' own kernel, which precomputed values need.
    pub precomputed: Option<Precomputed>,
    /// The seed of all draws.
    pub seed: Seed,
}

/// Rows that leverage scores, and Nystrom with few landmarks, look at.
const SAMPLE: usize = 2000;
/// Rows that Nystrom looks at, at most, unless there are more landmarks.
const LARGEST_SAMPLE: usize = 20_000;

impl MapSpec {
    /// D where nobody says so.
    pub const FEATURES: usize = 1000;

    /// [`Self::FEATURES`], everything else as the builders of the maps have it.
    pub fn new(map: MapChoice, kernel: Arc<dyn Kernel>) -> Self {
        Self {
            map,
            kernel,
            features: Self::FEATURES,
            form: Form::default(),
            sampling: Sampling::default(),
            leverage: None,
            entries: Entries::default(),
            interval: None,
            radii: Radii::default(),
            landmarks: Landmarks::default(),
            rank: None,
            precomputed: None,
            seed: Seed(0),
        }
    }

    /// How many rows of the data [`Self::build`] wants to see: for Nystrom ten times the landmarks,
    /// at least 2,000 and at most 20,000 (but never fewer than the landmarks); for leverage scores
    /// 2,000; else none.
    pub fn sample_rows(&self) -> usize {
        let of_part = |(part, features): (&MapPart, usize)| match part.kind {
            MapKind::Nystrom => features
                .saturating_mul(10)
                .clamp(SAMPLE, LARGEST_SAMPLE.max(features)),
            MapKind::Fourier if self.leverage.is_some() => SAMPLE,
            _ => 0,
        };
        let all = self.map.shares(self.features).map(of_part);
        all.max().unwrap_or(0)
    }

    /// D for rows of so many columns; of Nystrom at most.
    #[doc(hidden)]
    pub fn outputs(&self, columns: usize) -> usize {
        let of_part = |(part, features): (&MapPart, usize)| match part.kind {
            MapKind::Identity => columns,
            MapKind::Precomputed => self.rank.unwrap_or(columns).min(columns),
            _ => features,
        };
        let all = self.map.shares(self.features).map(of_part);
        all.fold(0, usize::saturating_add)
    }

    /// Bytes of the parameters while they are drawn, for rows of so many columns; what a sample of
    /// the rows takes is not among them.
    #[doc(hidden)]
    pub fn parameter_bytes(&self, columns: usize) -> u128 {
        let d = columns as u128;
        let of_part = |(part, features): (&MapPart, usize)| {
            let (all, frequencies) = (features as u128, self.form.frequencies(features));
            let drawn = frequencies.map_or(all, |s| s as u128);
            match part.kind {
                MapKind::Fourier => {
                    let pool = self.leverage.and_then(|leverage| leverage.pool);
                    12 * d * pool.map_or(drawn, |pool| drawn.max(pool as u128))
                }
                MapKind::SkewedChi2 => 12 * d * drawn,
                MapKind::Fastfood | MapKind::Sorf => 24 * drawn,
                MapKind::ArcCosine | MapKind::Projection => 12 * d * all,
                MapKind::Binning => 8 * d * all,
                MapKind::TensorSketch | MapKind::HadamardSketch => {
                    let degree = self.kernel.polynomial().map_or(1, |k| k.degree());
                    4 * d * all * u128::from(degree)
                }
                MapKind::Nystrom => 4 * d * all + 24 * all * all,
                MapKind::Precomputed => 24 * d * d,
                MapKind::AdditiveChi2 | MapKind::Identity => 0,
            }
        };
        let all = self.map.shares(self.features).map(of_part);
        all.fold(0, u128::saturating_add)
    }

    /// Grids of the binning parts.
    #[doc(hidden)]
    pub fn grids(&self) -> usize {
        let of_part = |(part, features): (&MapPart, usize)| match part.kind {
            MapKind::Binning => features,
            _ => 0,
        };
        self.map.shares(self.features).map(of_part).sum()
    }

    /// Whether features can be written and solved by normal equations; not with random binning.
    pub fn is_dense(&self) -> bool {
        !self.map.has(MapKind::Binning)
    }

    /// Errors that need no data: a kernel and a map that cannot go together, or a number of
    /// features that a map cannot give.
    pub fn check(&self) -> Result<()> {
        for (part, features) in self.map.shares(self.features) {
            if part.kind == MapKind::Precomputed && part.columns.is_some() {
                let problem =
                    "precomputed kernel values are looked at whole; leave the brackets out";
                return Err(Error::unsupported(problem));
            }
            if !part.kind.takes_features() {
                if part.kind == MapKind::Identity {
                    self.drawn(part.kind, 0, Affine::identity(1))?;
                }
                continue;
            }
            if part.kind.takes_form() {
                self.form.frequencies(features)?;
            }
            if features == 0 {
                return Err(Error::parameter(format!(
                    "{} cannot be shared with {}; use at least {}",
                    counted(self.features, "feature"),
                    part.kind,
                    2 * self.map.parts().len()
                )));
            }
            if let Some(0) = self.rank {
                return Err(Error::parameter("the rank is 0; use at least 1"));
            }
            // The builders know best; a few features of two columns tell. Sobol' points need of a
            // kernel what a lattice needs, and do not warn of so few.
            let mut trial = self.clone();
            if trial.sampling == Sampling::Lattice {
                trial.sampling = Sampling::Sobol(Sobol::Owen);
            }
            let (features, input) = (features.min(2), Affine::identity(2));
            match part.kind {
                MapKind::Nystrom => {}
                MapKind::Binning => drop(trial.binning(features).draw(input)?),
                kind => drop(trial.drawn(kind, features, input)?),
            }
        }
        Ok(())
    }
}

impl MapBuilder for MapSpec {
    fn settings(&self) -> Settings {
        self.in_words()
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(self.kernel.clone())
    }

    fn is_piecewise_constant(&self) -> bool {
        self.map.has(MapKind::Binning)
    }

    fn is_of_its_kernel(&self) -> bool {
        !self.map.has_columns()
    }

    fn column_parts(&self, survey: &Survey) -> Result<Option<Vec<ColumnPart>>> {
        if !self.map.has_columns() {
            return Ok(None);
        }
        let table = survey.table_columns();
        let parts = self.map.parts().iter().map(|part| {
            let places = match &part.columns {
                Some(columns) => columns.places(&table)?,
                None => (0..survey.mean.len()).collect(),
            };
            Ok(ColumnPart {
                places,
                weight: part.weight,
            })
        });
        parts.collect::<Result<_>>().map(Some)
    }

    /// Columns as they are may be centred, too.
    fn is_shift_invariant(&self) -> bool {
        let mut kinds = self.map.parts().iter().map(|part| part.kind);
        self.kernel.is_shift_invariant() || kinds.all(|kind| kind == MapKind::Identity)
    }

    fn usual_bandwidth(&self) -> Option<Bandwidth> {
        let mut kinds = self.map.parts().iter().map(|part| part.kind);
        let unscaled = kinds.all(|kind| !kind.takes_features());
        unscaled.then_some(Bandwidth::Sigma(1.0))
    }

    fn sample_rows(&self) -> usize {
        Self::sample_rows(self)
    }

    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    /// None where leverage scores choose.
    fn sampling(&self) -> Option<Sampling> {
        let mut kinds = self.map.parts().iter().map(|part| part.kind);
        let drawn = kinds.any(MapKind::takes_sampling) && self.leverage.is_none();
        drawn.then_some(self.sampling)
    }

    fn variant(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Box<dyn MapBuilder>> {
        let has_own = |kind: &MapKind| self.map.has(*kind);
        let own_kernel = [
            MapKind::ArcCosine,
            MapKind::TensorSketch,
            MapKind::HadamardSketch,
            MapKind::SkewedChi2,
            MapKind::AdditiveChi2,
            MapKind::Identity,
            MapKind::Precomputed,
        ];
        let own_kernel = own_kernel.iter().any(has_own);
        let varied = || Self {
            sampling: self.sampling.for_kernel(kernel.as_ref()),
            kernel,
            features,
            ..self.clone()
        };
        (!own_kernel).then(|| Box::new(varied()) as _)
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let mut spec = self.clone();
        spec.seed = data.seed.unwrap_or(self.seed);
        let usual = data.sampling.of_few(
            self.kernel.spectrum(),
            (self.features / 2, data.input.columns()),
        );
        let within = Within {
            table: data.survey.table_columns(),
            columns: data.columns,
        };
        if within.columns.is_none() && !self.map.has_columns() {
            spec.sampling = self.sampling.or(usual);
        }
        let MapData {
            input,
            survey,
            source,
            run,
            ..
        } = data;
        spec.build_within(within, input, &survey.sample, source, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;

    fn spec(map: &str, kernel: &str) -> MapSpec {
        let kernel = kernels::parse(kernel).expect("a kernel");
        MapSpec::new(map.parse().expect("a map"), kernel)
    }

    #[test]
    fn features_are_shared_evenly_and_samples_follow_the_landmarks() {
        let mut spec = spec("nystrom+fourier:100+binning", "laplacian");
        spec.features = 3001;
        let shares: Vec<usize> = spec.map.shares(3001).map(|(_, n)| n).collect();
        assert_eq!(shares, [1000, 100, 1000]);
        assert_eq!(spec.sample_rows(), 10_000);
        for (features, rows) in [(30, 2000), (9000, 20_000), (90_000, 30_000)] {
            spec.features = features;
            assert_eq!(spec.sample_rows(), rows, "{features}");
        }
    }

    #[test]
    fn what_cannot_go_together_is_known_before_the_data() {
        for (map, kernel, fragment) in [
            ("binning", "gaussian", "laplacian"),
            ("fourier", "hat", "spectral measure"),
            ("fourier", "arc-cosine:1", "spectral measure"),
            ("sorf", "laplacian", "direction"),
            ("fastfood", "cauchy", "direction"),
            ("arc-cosine", "gaussian", "arc-cosine:1"),
            ("projection", "gaussian", "linear"),
            ("fourier", "linear", "spectral measure"),
            ("fourier", "polynomial", "spectral measure"),
            ("tensor-sketch", "gaussian", "polynomial:2:1"),
            ("hadamard-sketch", "gaussian", "polynomial:2:1"),
            ("skewed-chi2", "additive-chi2", "skewed-chi2:1"),
            ("additive-chi2", "skewed-chi2", "additive-chi2"),
            ("binning+sorf", "laplacian", "direction"),
        ] {
            let error = spec(map, kernel).check().expect_err(map).to_string();
            assert!(error.contains(fragment), "{map} {kernel}: {error}");
        }
        let mut odd = spec("sorf", "gaussian");
        odd.features = 7;
        assert!(odd.check().expect_err("odd").to_string().contains("use 8"));
        odd.form = Form::Phase;
        odd.check().expect("phases");
        odd.map = "sorf+fourier+nystrom".parse().expect("maps");
        odd.features = 5;
        assert!(odd.check().is_err());
        for map in ["fourier", "fastfood", "sorf", "nystrom"] {
            spec(map, "matern52").check().expect(map);
        }
    }
}
