//! Which map for a kernel, d and D on a device: measured there, and told with its reason.

mod cost;

pub use cost::MapCost;
pub(crate) use cost::{MEASURED, measure};

use super::{FeatureMap, MapBuilder, MapData, MapKind, MapSpec};
use crate::text::counted;
use crate::{
    Device, Result, device::cache::Cache, kernels::Kernel, sampling::Sampling, seed::Seed,
    settings::Settings,
};
use std::sync::Arc;

/// The map that [`MapSpec::select`] chose, and why.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Selection {
    /// The map.
    pub kind: MapKind,
    /// Why, for people.
    pub reason: String,
    /// What was measured, in the order fourier, fastfood, sorf; empty where nothing had to be.
    pub costs: Vec<MapCost>,
    /// Whether that was measured by an earlier process and kept.
    pub kept: bool,
}

/// A structured map must be cheaper by this factor: near the crossing, noise must not change what a
/// command gives.
const MARGIN: f64 = 1.1;
/// SORF's directions are only nearly uniform, which shows in short rows: with fewer padded columns
/// it is no candidate. In eight columns a regression errs a fifth more than on independent
/// frequencies, though the kernel error is smaller.
const SORF_LEAST_COLUMNS: usize = 16;
/// The name of kept measurements.
const ENTRY: &str = "map-costs";

impl MapSpec {
    /// The cheapest map for rows of `columns` on `device` among [`Fourier`](super::Fourier),
    /// [`Fastfood`](super::Fastfood) and [`Sorf`](super::Sorf), whatever [`MapSpec::map`] says.
    ///
    /// Only maps that serve the kernel and the other options compete: structured ones need an
    /// isotropic kernel and Monte Carlo sampling. Each is timed on a few rows with the real d, D
    /// and form, in turns, medians; about a tenth of a second on common devices. The times are kept
    /// per device, d, D and form in the user's cache folder (`BOCHNER_CACHE`, or `off`), so that
    /// the same choice is made next time; name the map to be independent of that.
    ///
    /// At equal D, SORF's error is that of independent frequencies or less, and Fastfood's is
    /// larger: its time counts [`fastfood_penalty`] times, as many more features bring the same
    /// error. A structured map must win by a tenth.
    ///
    /// # Errors
    /// As [`MapSpec::check`] for a number of features that cannot be, and when no candidate fits
    /// the device.
    ///
    /// ```
    /// use bochner::{Device, features::{MapKind, MapSpec}, kernels};
    /// let mut spec = MapSpec::new(MapKind::Fourier.into(), kernels::parse("laplacian")?);
    /// spec.features = 64;
    /// let selection = spec.select(3, &Device::cpu())?;
    /// assert_eq!(selection.kind, MapKind::Fourier);
    /// assert!(selection.reason.contains("laplacian"));
    /// spec.map = selection.kind.into();
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn select(&self, columns: usize, device: &Device) -> Result<Selection> {
        self.select_with(columns, device, &Cache::user())
    }

    fn select_with(&self, columns: usize, device: &Device, cache: &Cache) -> Result<Selection> {
        let freqs = self.form.frequencies(self.features)?;
        let only = |reason: String| Selection {
            kind: MapKind::Fourier,
            reason,
            costs: Vec::new(),
            kept: false,
        };
        if self.leverage.is_some() {
            return Ok(only("leverage scores choose among its frequencies".into()));
        }
        if self.sampling.settled() != Sampling::MonteCarlo {
            let sampling = self.sampling;
            return Ok(only(format!("it alone draws by {sampling}")));
        }
        let serves = |kind: MapKind| {
            let spec = Self {
                map: kind.into(),
                ..self.clone()
            };
            spec.check().is_ok()
        };
        let candidates = MEASURED.map(|kind| match kind {
            MapKind::Sorf => columns.next_power_of_two() >= SORF_LEAST_COLUMNS && serves(kind),
            _ => serves(kind),
        });
        if candidates == [true, false, false] {
            let spec = self.kernel.spec();
            return Ok(only(format!(
                "the {spec} kernel has frequencies of preferred directions, which structured maps \
                 have not"
            )));
        }
        // Measured together and kept together: what competes is decided afterwards.
        let (costs, kept) = self.costs(columns, device, cache)?;
        let compete = |cost: &&MapCost| {
            let at = MEASURED.iter().position(|&kind| kind == cost.kind);
            at.is_some_and(|at| candidates[at])
        };
        let compete: Vec<MapCost> = costs.iter().filter(compete).copied().collect();
        let penalty = fastfood_penalty(columns, freqs);
        let kind = cheapest(&compete, penalty).unwrap_or(MapKind::Fourier);
        Ok(Selection {
            kind,
            reason: self.reason(kind, &compete, columns, penalty),
            costs,
            kept,
        })
    }

    fn costs(
        &self,
        columns: usize,
        device: &Device,
        cache: &Cache,
    ) -> Result<(Vec<MapCost>, bool)> {
        let (features, form) = (self.features, self.form);
        let key = format!("{} {columns} {features} {form}", device.describe());
        if let Some(costs) = cache.load(ENTRY, &key).and_then(|bytes| parse(&bytes)) {
            return Ok((costs, true));
        }
        let costs = measure(device, &MEASURED, columns, features, form)?;
        let lines = costs
            .iter()
            .map(|cost| format!("{} {:e}\n", cost.kind, cost.seconds));
        cache.store(ENTRY, &key, lines.collect::<String>().as_bytes());
        Ok((costs, false))
    }

    fn reason(&self, kind: MapKind, costs: &[MapCost], columns: usize, penalty: f64) -> String {
        let (own, others): (Vec<_>, Vec<_>) = costs.iter().partition(|cost| cost.kind == kind);
        let list = |costs: &[&MapCost]| {
            let each = |cost: &&MapCost| format!("{} {:.3} us", cost.kind, 1e6 * cost.seconds);
            costs.iter().map(each).collect::<Vec<_>>().join(", ")
        };
        let mut reason = format!(
            "for a row of {} to {}, {} against {}",
            counted(columns, "column"),
            counted(self.features, "feature"),
            list(&own),
            list(&others)
        );
        if costs.iter().any(|cost| cost.kind == MapKind::Fastfood) {
            reason += &format!("; fastfood counts {penalty:.1} times for its larger error");
        }
        reason
    }
}

/// The cheapest map on the device at hand, [`MapSpec::select`], as a builder.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::Array2::from_shape_fn((50, 3), |(i, j)| ((i * (j + 2)) % 7) as f64);
/// let ridge = Ridge::on(Auto::new(Gaussian).features(64)).device(&Device::cpu());
/// let model = ridge.fit((&x, x.column(0)))?;
/// // The columns themselves may join the features.
/// assert!(model.linear().map.output_dim() >= 64);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Auto(MapSpec);

impl Auto {
    /// 1000 features of `kernel`, paired, from seed 0, until said otherwise.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self(MapSpec::new(MapKind::Fourier.into(), Arc::new(kernel)))
    }

    /// D, the number of real output columns.
    pub fn features(mut self, features: usize) -> Self {
        self.0.features = features;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.0.seed = seed;
        self
    }
}

impl MapBuilder for Auto {
    fn settings(&self) -> Settings {
        Settings::of_map("auto")
            .text("kernel", self.0.kernel.spec())
            .text("features", self.0.features)
            .text("seed", self.0.seed.0)
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(self.0.kernel.clone())
    }

    fn features(&self) -> Option<usize> {
        Some(self.0.features)
    }

    fn variant(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Box<dyn MapBuilder>> {
        let mut map = self.clone();
        (map.0.kernel, map.0.features) = (kernel, features);
        Some(Box::new(map))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let mut spec = self.0.clone();
        let selection = spec.select(data.input.columns(), &data.run.device)?;
        log::info!("auto takes {}: {}", selection.kind, selection.reason);
        spec.map = selection.kind.into();
        spec.build_from(data)
    }
}

/// How many times as many features Fastfood needs as independent frequencies for the same kernel
/// error: about 1.9 where blocks of n frequencies (`columns` padded to a power of two) are full,
/// and nearer to 1 where only `freqs` of n are taken.
///
/// Measured, on normal rows (`bochner bench --crossing`): full blocks 1.3 at 8 columns, 1.7 at 16,
/// 1.8 to 2.0 from 64 on; half a block 1.4 to 1.5; an eighth 1.2.
pub(crate) fn fastfood_penalty(columns: usize, freqs: usize) -> f64 {
    let block = columns.next_power_of_two().max(2);
    1.0 + 0.9 * (freqs as f64 / block as f64).min(1.0)
}

/// The cheapest, Fastfood's time counted `penalty` times; the dense map unless another wins
/// clearly.
fn cheapest(costs: &[MapCost], penalty: f64) -> Option<MapKind> {
    let weighted = |cost: &MapCost| match cost.kind {
        MapKind::Fourier => cost.seconds / MARGIN,
        MapKind::Fastfood => cost.seconds * penalty,
        _ => cost.seconds,
    };
    let cheaper = |a: &&MapCost, b: &&MapCost| weighted(a).total_cmp(&weighted(b));
    costs.iter().min_by(cheaper).map(|cost| cost.kind)
}

/// What [`MapSpec::costs`] kept; `None` for anything else.
fn parse(bytes: &[u8]) -> Option<Vec<MapCost>> {
    let line = |line: &str| {
        let (kind, seconds) = line.split_once(' ')?;
        let seconds: f64 = seconds.parse().ok()?;
        (seconds > 0.0 && seconds.is_finite()).then_some(MapCost {
            kind: kind.parse().ok()?,
            seconds,
        })
    };
    let costs: Vec<MapCost> = str::from_utf8(bytes)
        .ok()?
        .lines()
        .map(line)
        .collect::<Option<_>>()?;
    (!costs.is_empty()).then_some(costs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        features::{Form, LeverageSpec, Radii},
        kernels,
    };

    fn cost(kind: MapKind, seconds: f64) -> MapCost {
        MapCost { kind, seconds }
    }

    fn spec(kernel: &str, features: usize) -> MapSpec {
        let kernel = kernels::parse(kernel).expect("a kernel");
        let mut spec = MapSpec::new(MapKind::Nystrom.into(), kernel);
        spec.features = features;
        spec
    }

    #[test]
    fn the_cheapest_wins_by_a_margin_and_after_its_accuracy() {
        use MapKind::{Fastfood, Fourier, Sorf};
        for (fourier, fastfood, sorf, wins) in [
            (1.0, 2.0, 3.0, Fourier),
            (1.0, 0.1, 0.18, Sorf),
            (1.0, 0.1, 0.12, Sorf),
            (1.0, 0.1, 0.3, Fastfood),
            // Within a tenth, and Fastfood with its penalty.
            (1.0, 9.0, 0.95, Fourier),
            (1.0, 0.6, 9.0, Fourier),
            (1.0, 9.0, 0.8, Sorf),
        ] {
            let costs = [
                cost(Fourier, fourier),
                cost(Fastfood, fastfood),
                cost(Sorf, sorf),
            ];
            assert_eq!(cheapest(&costs, 1.9), Some(wins), "{costs:?}");
        }
        assert_eq!(cheapest(&[cost(Fastfood, 1.0)], 1.9), Some(Fastfood));
        assert!((fastfood_penalty(784, 4096) - 1.9).abs() < 1e-12);
        assert!((fastfood_penalty(4096, 512) - 1.1125).abs() < 1e-12);
    }

    #[test]
    fn what_was_measured_is_kept_and_decides_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path());
        let (device, spec) = (Device::cpu(), spec("gaussian", 64));
        let first = spec.select_with(20, &device, &cache).expect("measures");
        assert!(!first.kept && first.costs.len() == 3, "{first:?}");
        let second = spec.select_with(20, &device, &cache).expect("reads");
        assert_eq!(
            second,
            Selection {
                kept: true,
                ..first
            }
        );
        // What is kept decides, whatever was measured.
        let key = format!("{} 20 64 paired", device.describe());
        for wins in [MapKind::Sorf, MapKind::Fourier] {
            let content: String = MEASURED
                .iter()
                .map(|&kind| format!("{kind} {}\n", if kind == wins { 1e-9 } else { 1e-3 }))
                .collect();
            cache.store(ENTRY, &key, content.as_bytes());
            let selection = spec.select_with(20, &device, &cache).expect("reads");
            assert_eq!(selection.kind, wins, "{selection:?}");
            assert!(selection.reason.contains("0.001 us"), "{selection:?}");
        }
        // Another form and damaged content are measured anew.
        let mut phase = spec.clone();
        phase.form = Form::Phase;
        assert!(
            !phase
                .select_with(20, &device, &cache)
                .expect("measures")
                .kept
        );
        for bad in ["", "fourier", "fourier -1", "fourier x", "else 1"] {
            cache.store(ENTRY, &key, bad.as_bytes());
            let selection = spec.select_with(20, &device, &cache).expect("measures");
            assert!(!selection.kept && selection.costs.len() == 3, "{bad}");
        }
    }

    #[test]
    fn only_what_serves_the_options_competes() {
        let cache = Cache::default();
        let device = Device::cpu();
        let select =
            |spec: &MapSpec, columns| spec.select_with(columns, &device, &cache).expect("selects");
        for (kernel, fragment) in [("laplacian", "laplacian"), ("cauchy", "preferred")] {
            let selection = select(&spec(kernel, 64), 20);
            assert_eq!(selection.kind, MapKind::Fourier);
            assert!(selection.costs.is_empty() && selection.reason.contains(fragment));
        }
        let mut sobol = spec("gaussian", 64);
        sobol.sampling = "sobol".parse().expect("a sampling");
        assert!(select(&sobol, 20).reason.contains("sobol"));
        let mut leverage = spec("gaussian", 64);
        leverage.leverage = Some(LeverageSpec {
            lambda: 1e-3,
            pool: None,
        });
        assert!(select(&leverage, 20).reason.contains("leverage"));
        // Short rows, and constant radii of another kernel: no SORF.
        let short = select(&spec("gaussian", 64), 8);
        assert!(!short.reason.contains("sorf"), "{short:?}");
        let mut constant = spec("matern52", 64);
        assert!(select(&constant, 20).reason.contains("sorf"));
        constant.radii = Radii::Constant;
        let constant = select(&constant, 20);
        assert!(!constant.reason.contains("sorf"), "{constant:?}");
        assert!(
            spec("gaussian", 7)
                .select_with(20, &device, &cache)
                .is_err()
        );
    }
}
