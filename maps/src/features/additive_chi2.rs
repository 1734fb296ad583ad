//! Features of the additive chi-squared kernel, without any draw (Vedaldi & Zisserman 2012).

use super::{Affine, FeatureMap, Formula, LoadedMap, MapBuilder, MapData, names::ADDITIVE_CHI2};
use crate::{
    Device, Error, Matrix, Result,
    kernels::{self, Domain, Kernel},
    ops::{
        additive_chi2::{Samples, additive_chi2, additive_chi2_to},
        product::product,
    },
    settings::Settings,
    store::Store,
    text::counted,
};
use std::{f64::consts::TAU, sync::Arc};

/// Builds the features `sqrt(x L)` and `sqrt(2 x L sech(pi j L))` times cosine and sine of
/// `j L ln x`, j = 1, ..., of every column, whose `z(x)'z(y)` approximates
/// [`kernels::AdditiveChi2`]: how often its spectrum is sampled, and L, the interval. Rows with a
/// value below 0 are refused.
///
/// Nothing is drawn, so that the error is a bias. For values that differ up to tenfold it is at
/// most 10.2 % of `sqrt(x y)` with two samples, 5.0 % with three, 1.3 % with four, 0.03 % with ten;
/// there are `2 n - 1` features a column.
///
/// ```
/// use bochner::features::{AdditiveChi2Features, Affine, FeatureMap};
/// let map = AdditiveChi2Features::new().samples(3).build(Affine::identity(7))?;
/// assert_eq!(map.output_dim(), 7 * 5);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdditiveChi2Features {
    size: Size,
    interval: Option<f64>,
}

/// Samples beyond these have no weight in f32.
const MOST: usize = 4096;

fn usable(samples: Samples) -> bool {
    let interval = samples.interval > 0.0 && samples.interval.is_finite();
    interval && (1..=MOST).contains(&samples.count)
}

/// How many samples there are.
#[derive(Debug, Clone, Copy)]
enum Size {
    Samples(usize),
    /// As many as so many features hold.
    Features(usize),
}

impl Default for AdditiveChi2Features {
    fn default() -> Self {
        Self {
            size: Size::Samples(2),
            interval: None,
        }
    }
}

impl AdditiveChi2Features {
    /// Two samples, three features of each column, until said otherwise.
    pub fn new() -> Self {
        Self::default()
    }

    /// n, how often the spectrum is sampled: `2 n - 1` features of a column.
    pub fn samples(mut self, samples: usize) -> Self {
        self.size = Size::Samples(samples);
        self
    }

    /// As many samples as at most `features` features in all hold, and at least one.
    pub fn features(mut self, features: usize) -> Self {
        self.size = Size::Features(features);
        self
    }

    /// L, the distance of samples. Until said otherwise 0.8, 0.5 and 0.4 for one, two and three
    /// samples (as scikit-learn has them, after Vedaldi & Zisserman 2012, sec. 4.2), and
    /// `2 pi / (5.86 sqrt(n - 1) + 3.65)` for more, the law that is fitted to the best intervals.
    pub fn interval(mut self, interval: f64) -> Self {
        self.interval = Some(interval);
        self
    }

    /// The map of rows that `input` prepares.
    ///
    /// # Errors
    /// [`Error::Parameter`] on no samples or an interval that is not positive,
    /// [`Error::Shape`] without columns.
    pub fn build(&self, input: Affine) -> Result<AdditiveChi2Map> {
        let d = input.columns();
        if d == 0 {
            return Err(Error::shape("chi-squared features need a column"));
        }
        let count = match self.size {
            Size::Samples(count) => count,
            Size::Features(features) => (features / d).div_ceil(2).clamp(1, MOST),
        };
        let interval = self.interval.unwrap_or_else(|| best_interval(count));
        let samples = Samples { count, interval };
        if !usable(samples) {
            return Err(Error::parameter(format!(
                "{count} samples at intervals of {interval}; use 1 to {MOST}, and a positive \
                 interval"
            )));
        }
        Ok(AdditiveChi2Map {
            samples,
            input: input.within(Domain::NonNegative),
        })
    }
}

/// The interval that suits so many samples.
fn best_interval(count: usize) -> f64 {
    match count {
        0 | 1 => 0.8,
        2 => 0.5,
        3 => 0.4,
        more => TAU / (5.86 * ((more - 1) as f64).sqrt() + 3.65),
    }
}

impl MapBuilder for AdditiveChi2Features {
    fn settings(&self) -> Settings {
        let settings = Settings::of_map(ADDITIVE_CHI2).text("kernel", kernels::AdditiveChi2.spec());
        let settings = match self.size {
            Size::Features(features) => settings.text("features", features),
            Size::Samples(samples) => settings.text("samples", samples),
        };
        settings.maybe("sample-interval", self.interval)
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(Arc::new(kernels::AdditiveChi2))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        Ok(Box::new(self.build(data.input)?))
    }
}

/// [`AdditiveChi2Features`] of known columns.
#[derive(Debug, Clone, PartialEq)]
pub struct AdditiveChi2Map {
    samples: Samples,
    input: Affine,
}

impl AdditiveChi2Map {
    /// How the spectrum is sampled.
    #[doc(hidden)]
    pub fn samples(&self) -> Samples {
        self.samples
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let samples = Samples {
            count: store.get("samples")?,
            interval: store.get("interval")?,
        };
        if !usable(samples) {
            return Err(Error::format(format!("{samples:?} are no samples")));
        }
        Ok(Self {
            samples,
            input: Affine::read(store)?,
        })
    }
}

impl FeatureMap for AdditiveChi2Map {
    fn name(&self) -> &'static str {
        ADDITIVE_CHI2
    }

    fn describe(&self) -> String {
        format!(
            "{ADDITIVE_CHI2} features of {} at intervals of {:.3}, {} to {}",
            counted(self.samples.count, "sample"),
            self.samples.interval,
            counted(self.input_dim(), "column"),
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.input_dim() * self.samples.outputs()
    }

    fn formula(&self) -> Result<Formula> {
        Ok(Formula::AdditiveChi2 {
            samples: self.samples,
            columns: self.input_dim(),
        })
    }

    fn load(&self, _device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(Loaded {
            samples: self.samples,
            z_nd: None,
        }))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", ADDITIVE_CHI2);
        store.set("samples", self.samples.count);
        store.set("interval", self.samples.interval);
        self.input.write(store);
        Ok(())
    }

    /// Features wait for their product with coefficients.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        targets.map_or(0, |_| self.output_dim())
    }
}

/// The map on a device.
#[derive(Debug)]
struct Loaded {
    samples: Samples,
    /// Features of a chunk, for predictions.
    z_nd: Option<Matrix>,
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        additive_chi2(self.samples, x_nd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let columns = x_nd.cols() * self.samples.outputs();
        let z_nd = super::scratch(&mut self.z_nd, x_nd, columns)?;
        additive_chi2(self.samples, x_nd, z_nd)?;
        product(z_nd, beta_dt, y_nt)
    }

    fn featurize_to(&mut self, x_nd: &Matrix, z_nd: &mut [f32], _: bool) -> Result<bool> {
        additive_chi2_to(self.samples, x_nd, z_nd)
    }
}
