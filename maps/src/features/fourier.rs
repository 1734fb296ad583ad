//! Random Fourier features (Rahimi & Recht 2007): cosines of random projections, drawn from the
//! kernel's spectral measure.

pub(crate) use super::form::Form;

use super::{
    Affine, DenseFeatures, FeatureMap, MapBuilder, MapData,
    leverage::Leverage,
    names::{ARC_COSINE, BINNING, FOURIER, NYSTROM},
};
use crate::{
    Error, Result,
    data::Rows,
    error::Remedy,
    kernels::Kernel,
    ops::projection::DenseMap,
    sampling::{Frequencies, Sampling, round_to_11_bits},
    seed::{Seed, Stream},
    settings::Settings,
};
use ndarray::Array2;
use std::{f64::consts::TAU, sync::Arc};

/// Builds a Fourier map: kernel, sampling, form, number of features, seed.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, Fourier}, kernels::Gaussian, seed::Seed};
/// let input = Affine::identity(3).lengthscale(2.0)?;
/// let map = Fourier::new(Gaussian).features(512).seed(Seed(1)).build(input)?;
/// assert_eq!(map.output_dim(), 512);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fourier {
    kernel: Arc<dyn Kernel>,
    sampling: Sampling,
    form: Form,
    features: usize,
    leverage: Option<Leverage>,
    given: Option<Arc<Frequencies>>,
    columns: Option<Vec<usize>>,
    seed: Seed,
}

impl Fourier {
    /// Features of `kernel`: 1000 of them, paired, by Monte Carlo, from seed 0, until said
    /// otherwise.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self {
            kernel: Arc::new(kernel),
            sampling: Sampling::default(),
            form: Form::default(),
            features: 1000,
            leverage: None,
            given: None,
            columns: None,
            seed: Seed(0),
        }
    }

    /// D, the number of real output columns.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// How frequencies are drawn.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Paired or with phases.
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Draws a pool of `pool` frequencies and keeps those that matter on `rows` (raw, a sample of
    /// the data): each is drawn with probability by its leverage score at the penalty per sample
    /// `lambda` and weighted by sqrt(p/q), so that the estimate stays unbiased (Li, Ton, Oglic &
    /// Sejdinovic 2019, algorithm 1). Takes `(2 pool)^3` operations.
    pub fn leverage(mut self, rows: impl Into<Rows>, lambda: f64, pool: usize) -> Self {
        self.leverage = Some(Leverage {
            rows: Arc::new(rows.into()),
            lambda,
            pool,
        });
        self
    }

    /// Takes these frequencies, at unit scale, instead of drawing any: one for each feature, or for
    /// two features of the paired form, where an offset turns both. They are rounded to 11 bits
    /// ([`round_to_11_bits`]), weights and offsets are not.
    ///
    /// ```
    /// use bochner::{features::{Affine, Form, Fourier}, kernels::Gaussian, sampling::Frequencies};
    /// let frequencies = Frequencies {
    ///     omega_sd: ndarray::array![[0.5, -1.0], [2.0, 0.25]],
    ///     phases: Some(vec![0.0, 0.25]),
    ///     weights: None,
    /// };
    /// let map = Fourier::new(Gaussian).form(Form::Phase).features(2).frequencies(frequencies);
    /// let map = map.build(Affine::identity(2))?;
    /// assert_eq!(map.parameters().w_ds[[0, 1]], 2.0);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn frequencies(mut self, frequencies: Frequencies) -> Self {
        self.given = Some(Arc::new(frequencies));
        self
    }

    /// Draws frequencies along these columns alone, as in so many columns; along all others they
    /// are 0.
    pub(super) fn among(mut self, columns: Option<Vec<usize>>) -> Self {
        self.columns = columns;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Of another kernel and size; orthogonal directions only where the kernel has them.
    fn varied(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Self> {
        self.given.is_none().then(|| Self {
            sampling: self.sampling.for_kernel(kernel.as_ref()),
            kernel,
            features,
            ..self.clone()
        })
    }

    /// Draws the map. `input` takes raw columns to unit lengthscale.
    ///
    /// Errors when D is zero or odd for the paired form, when the kernel has no spectral measure,
    /// when the sampling cannot serve it, and when leverage scores cannot be had (columns that
    /// differ, lambda not positive).
    pub fn build(&self, input: Affine) -> Result<DenseFeatures> {
        let measure = self.kernel.spectrum().ok_or_else(|| self.no_measure())?;
        let s = self.form.frequencies(self.features)?;
        let with_phases = self.form == Form::Phase;
        let draw = |count| {
            let sampling = self.sampling.for_even()?;
            let all = input.columns();
            let Some(columns) = &self.columns else {
                return sampling.draw(measure, all, count, with_phases, self.seed);
            };
            let mut drawn = sampling.draw(measure, columns.len(), count, with_phases, self.seed)?;
            let mut omega_sd = Array2::zeros((count, all));
            for (&j, own) in columns.iter().zip(drawn.omega_sd.columns()) {
                omega_sd.column_mut(j).assign(&own);
            }
            drawn.omega_sd = omega_sd;
            Ok(drawn)
        };
        let drawn = match (&self.given, &self.leverage) {
            (Some(given), _) => given.checked((s, input.columns()), with_phases)?,
            (None, None) => draw(s)?,
            (None, Some(leverage)) => {
                leverage.resample(&draw(leverage.pool)?, self.form, &input, s, self.seed)?
            }
        };
        let amplitude = (2.0 / self.features as f64).sqrt();
        let weights = drawn.weights.unwrap_or_else(|| vec![1.0; s]);
        let dense = DenseMap {
            // Frequencies on 11 bits: matrix units and 16-bit storage then lose nothing.
            w_ds: drawn.omega_sd.t().mapv(round_to_11_bits),
            phase_s: match drawn.phases {
                Some(turns) => turns.iter().map(|&t| t as f32).collect(),
                None => vec![0.0; s],
            },
            amplitude_s: weights
                .iter()
                .map(|w| (amplitude * w.sqrt()) as f32)
                .collect(),
            nonlinearity: self.form.nonlinearity(),
        };
        Ok(DenseFeatures {
            name: FOURIER,
            origin: self.origin(),
            input: input.times(1.0 / TAU),
            dense,
        })
    }
}

impl Fourier {
    /// What is said of a kernel without a spectral measure, and which map takes it.
    fn no_measure(&self) -> Error {
        let problem = format!(
            "the kernel {} has no spectral measure, which Fourier features need",
            self.kernel.spec()
        );
        let error = Error::unsupported(problem).help(Remedy::UseMap(NYSTROM));
        let mut draws = self.seed.stream(Stream::Bins, 0);
        match self.kernel.arc_cosine() {
            Some(_) => error.help(Remedy::UseMap(ARC_COSINE)),
            None if self.kernel.draw_pitch(&mut draws).is_some() => {
                error.help(Remedy::UseMap(BINNING))
            }
            None => error,
        }
    }

    /// Where the features come from.
    fn origin(&self) -> String {
        format!(
            "the {} kernel, {}{}, {}",
            self.kernel.spec(),
            match self.given {
                None => self.sampling.settled().to_string(),
                Some(_) => "given frequencies".into(),
            },
            match &self.leverage {
                None => String::new(),
                Some(l) => format!(" by leverage from {}", l.pool),
            },
            self.form
        )
    }

    /// Its options in words.
    fn in_words(&self) -> Settings {
        if self.given.is_some() {
            return Settings::of_map("custom");
        }
        let settings = Settings::of_map(FOURIER)
            .text("kernel", self.kernel.spec())
            .text("features", self.features)
            .text("form", self.form);
        let settings = match &self.leverage {
            None => settings.text("sampling", self.sampling),
            Some(leverage) => settings
                .text("sampling", "leverage")
                .number("leverage-lambda", leverage.lambda)
                .text("leverage-pool", leverage.pool),
        };
        settings.text("seed", self.seed.0)
    }
}

impl MapBuilder for Fourier {
    fn settings(&self) -> Settings {
        self.in_words()
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(self.kernel.clone())
    }

    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    fn variant(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Box<dyn MapBuilder>> {
        self.varied(kernel, features).map(|map| Box::new(map) as _)
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let (sampling, columns) = match &data.columns {
            Some(columns) => (Sampling::Lattice, columns.len()),
            None => (data.sampling, data.input.columns()),
        };
        let usual = sampling.of_few(self.kernel.spectrum(), (self.features / 2, columns));
        let map = self
            .clone()
            .among(data.columns)
            .sampling(self.sampling.or(usual))
            .seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, features::Transformer, kernels::Gaussian};
    use ndarray::array;

    fn given(phases: Option<Vec<f64>>) -> Frequencies {
        Frequencies {
            omega_sd: array![[0.5, -1.0], [2.0, 0.25], [-1.5, 3.0]],
            phases,
            weights: None,
        }
    }

    #[test]
    fn given_frequencies_and_offsets_are_the_map() {
        let x = array![[0.3, -0.7], [2.0, 1.0]];
        let center = [0.25, -4.0];
        let input = || Affine::new(center.to_vec(), vec![0.5, 2.0]).expect("finite");
        let offsets = vec![0.1, 0.6, 0.9];
        for (form, features) in [(Form::Phase, 3), (Form::Paired, 6)] {
            let map = Fourier::new(Gaussian).features(features).form(form);
            let map = map
                .frequencies(given(Some(offsets.clone())))
                .build(input())
                .expect("fits");
            let mut z = Array2::<f64>::zeros((2, features));
            let mut transformer = Transformer::new(&map, &Device::cpu()).expect("loads");
            transformer
                .rows(&Rows::from(x.view()), z.view_mut())
                .expect("runs");
            let omega_sd = given(None).omega_sd;
            for ((i, l), z) in z.indexed_iter() {
                let u = [0.5 * (x[[i, 0]] - center[0]), 2.0 * (x[[i, 1]] - center[1])];
                let omega = omega_sd.row(l % 3);
                let t = omega[0] * u[0] + omega[1] * u[1] + TAU * offsets[l % 3];
                let expected = if l < 3 { t.cos() } else { t.sin() };
                let expected = (2.0 / features as f64).sqrt() * expected;
                assert!(
                    (z - expected).abs() < 2e-6,
                    "{form} {i} {l}: {z} for {expected}"
                );
            }
        }
    }

    #[test]
    fn given_frequencies_of_other_shapes_are_refused() {
        let refused = |form, features, phases, columns| {
            let map = Fourier::new(Gaussian).features(features).form(form);
            let map = map
                .frequencies(given(phases))
                .build(Affine::identity(columns));
            map.expect_err("refused").to_string()
        };
        let three = || Some(vec![0.0; 3]);
        assert!(refused(Form::Phase, 4, three(), 2).contains("(4, 2)"));
        assert!(refused(Form::Phase, 3, three(), 3).contains("(3, 3)"));
        assert!(refused(Form::Phase, 3, None, 2).contains("0 offsets"));
        assert!(refused(Form::Paired, 6, Some(vec![0.0; 2]), 2).contains("2 offsets"));
        assert!(refused(Form::Phase, 3, Some(vec![f64::NAN; 3]), 2).contains("finite"));
        assert!(Affine::new(vec![0.0], vec![1.0, 1.0]).is_err());
        assert!(Affine::new(vec![0.0], vec![f64::INFINITY]).is_err());
    }
}
