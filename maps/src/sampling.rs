//! How frequencies are drawn from a spectral measure. One file per sampling.

mod antithetic;
mod apart;
mod digital_net;
mod discrepancy;
mod halton;
mod lattice;
mod leverage;
mod monte_carlo;
mod orthogonal;
mod quasi;
mod sobol;

pub use discrepancy::box_discrepancy;
pub use halton::Halton;
pub use leverage::leverage_resample;
pub use sobol::Sobol;

use crate::{
    device::memory_left,
    error::{Error, Result},
    kernels::{Kernel, SpectralMeasure},
    seed::{Draws, Seed, Stream},
    text::counted,
};
use ndarray::Array2;
use quasi::Sequence;
use std::{fmt, str::FromStr};

/// How frequencies are drawn. Every choice estimates k without bias (plain and leaped Halton, which
/// have nothing random in them, excepted); they differ in variance and in which measures they can
/// serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sampling {
    /// What suits who learns on the features: a lattice where a density is of at most
    /// [`Self::FEW_COLUMNS`] columns, independent draws elsewhere.
    #[default]
    Auto,
    /// Independent draws; every measure, any d.
    MonteCarlo,
    /// Blocks of d orthogonal directions with independent lengths (Yu et al. 2016); isotropic
    /// measures only.
    Orthogonal,
    /// Orthogonal directions in pairs +omega, -omega, in frames that keep apart; isotropic
    /// measures, and features that are not the same of both: arc-cosine ones (which need no more
    /// than one length then) and a nonlinearity of your own.
    Antithetic,
    /// Halton's sequence; any d.
    Halton(Halton),
    /// Sobol' points; up to 5,715 coordinates. With fewer frequencies than coordinates they can be
    /// a little worse than Monte Carlo (relative Gram error 0.10 against 0.08 for 64 frequencies of
    /// 784 columns), with more they are better.
    Sobol(Sobol),
    /// A rank-1 lattice with a random shift; up to 9,125 coordinates and 2^20 frequencies.
    Lattice,
    /// A base-2 digital net: Sobol's matrices, linearly scrambled and digitally shifted; up to
    /// 5,715 coordinates.
    DigitalNet,
}

/// Every sampling with its spelling on the command line and in model files.
const SPELLINGS: [(Sampling, &str); 11] = [
    (Sampling::Auto, "auto"),
    (Sampling::MonteCarlo, "monte-carlo"),
    (Sampling::Orthogonal, "orthogonal"),
    (Sampling::Antithetic, "antithetic"),
    (Sampling::Halton(Halton::Scrambled), "halton"),
    (Sampling::Halton(Halton::Plain), "halton:plain"),
    (Sampling::Halton(Halton::Leaped), "halton:leaped"),
    (Sampling::Sobol(Sobol::Owen), "sobol"),
    (Sampling::Sobol(Sobol::Shift), "sobol:shift"),
    (Sampling::Lattice, "lattice"),
    (Sampling::DigitalNet, "digital-net"),
];

/// Frequencies at unit scale, as drawn: [`round_to_11_bits`] is for the map that uses them.
#[derive(Debug, Clone, PartialEq)]
pub struct Frequencies {
    /// One frequency per row, shape `[s, d]`.
    pub omega_sd: Array2<f64>,
    /// The offsets b of the phase form, in turns, in (0, 1): cos(omega . x + 2 pi b).
    pub phases: Option<Vec<f64>>,
    /// What each frequency counts for in k^ = (1/s) sum_l weight_l cos(omega_l . Delta); `None`
    /// stands for all ones.
    pub weights: Option<Vec<f64>>,
}

impl Frequencies {
    /// The same, if they are `s` of `d` columns, with an offset each where they are `phased`.
    pub(crate) fn checked(&self, (s, d): (usize, usize), phased: bool) -> Result<Self> {
        let wrong = |problem: String| Err(Error::shape(problem));
        if self.omega_sd.dim() != (s, d) {
            return wrong(format!(
                "the given frequencies are {:?}, and the map's are {:?}",
                self.omega_sd.dim(),
                (s, d)
            ));
        }
        let phases = self.phases.as_ref().map(Vec::len);
        if phases.is_some_and(|given| given != s) || (phased && phases.is_none()) {
            return wrong(format!(
                "there are {} of {s} frequencies; give one each",
                counted(phases.unwrap_or(0), "offset")
            ));
        }
        if self
            .weights
            .as_ref()
            .is_some_and(|weights| weights.len() != s)
        {
            return wrong(format!("{s} frequencies take as many weights"));
        }
        let offsets = self.phases.iter().chain(&self.weights).flatten();
        if !self.omega_sd.iter().chain(offsets).all(|v| v.is_finite()) {
            return Err(Error::parameter("a given frequency is not finite"));
        }
        Ok(self.clone())
    }
}

impl Sampling {
    /// Up to so many columns a lattice makes less noise in a mean of features than independent
    /// draws. With 4,096 features of 2,000 normal rows (3 seeds) it makes 0.02 of theirs in one
    /// column, 0.19 in 2, 0.87 in 3, 0.70 in 4 and 1.1 in 5; Sobol' points make 0.04, 0.29, 0.73,
    /// 0.89 and 0.97.
    pub const FEW_COLUMNS: usize = 4;

    /// This one, or `usual` where it is [`Self::Auto`].
    pub(crate) fn or(self, usual: Self) -> Self {
        match self {
            Self::Auto => usual,
            _ => self,
        }
    }

    /// What draws: independent draws for [`Self::Auto`].
    #[doc(hidden)]
    pub fn settled(self) -> Self {
        self.or(Self::MonteCarlo)
    }

    /// The same for `s` frequencies where columns are few, and the measure has a map from the unit
    /// cube.
    pub(crate) fn of_few(
        self,
        measure: Option<&dyn SpectralMeasure>,
        (s, d): (usize, usize),
    ) -> Self {
        let cube = measure.and_then(|measure| measure.cube_dim(d));
        let serves = cube.is_some_and(|dim| lattice::serves(dim + 1, s));
        if d <= Self::FEW_COLUMNS && serves {
            self
        } else {
            Self::Auto
        }
    }

    /// The same for a kernel that it may not be for: only isotropic ones have orthogonal
    /// directions, and the others take independent draws in their place.
    pub fn for_kernel(self, kernel: &dyn Kernel) -> Self {
        let isotropic = |measure| crate::kernels::is_isotropic(measure, 2);
        match self {
            Self::Orthogonal if !kernel.spectrum().is_some_and(isotropic) => Self::MonteCarlo,
            _ => self,
        }
    }

    /// The same for features that omega and -omega have in common.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where half of the frequencies would be for nothing.
    pub(crate) fn for_even(self) -> Result<Self> {
        match self {
            Self::Antithetic => Err(Error::unsupported(
                "antithetic sampling draws -omega beside omega, of which this map has the same \
                 features: use orthogonal; antithetic is for arc-cosine maps",
            )),
            _ => Ok(self),
        }
    }

    /// Every sampling, in the order of its spellings.
    #[doc(hidden)]
    pub fn all() -> impl Iterator<Item = Self> {
        SPELLINGS.iter().map(|&(sampling, _)| sampling)
    }

    /// Draws `s` frequencies for `d` columns, and with `with_phases` the offsets of the phase form.
    ///
    /// The result depends on nothing but the arguments, and for a larger `s` its first rows stay
    /// what they were (with Owen-scrambled Sobol' points up to the next power of two).
    ///
    /// # Errors
    /// [`Error::Shape`] when `d` or `s` is 0; [`Error::Unsupported`] when the measure's law does
    /// not allow this sampling, or its table is too short for d.
    ///
    /// ```
    /// use bochner::{kernels::{Gaussian, Kernel}, sampling::Sampling, seed::Seed};
    /// let kernel = Gaussian;
    /// let measure = kernel.spectrum().expect("the Gaussian has a spectrum");
    /// let drawn = Sampling::MonteCarlo.draw(measure, 3, 100, false, Seed(1))?;
    /// assert_eq!(drawn.omega_sd.dim(), (100, 3));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn draw(
        self,
        measure: &dyn SpectralMeasure,
        d: usize,
        s: usize,
        with_phases: bool,
        seed: Seed,
    ) -> Result<Frequencies> {
        if d == 0 || s == 0 {
            return Err(Error::shape(format!(
                "cannot draw {s} frequencies for {d} columns: both must be at least 1"
            )));
        }
        // In f64 as they are drawn, in f32 as a map keeps them.
        let bytes = 12 * d as u128 * s as u128;
        memory_left::require(bytes, || format!("a map of {s} frequencies in {d} columns"))?;
        let omega = match self.settled() {
            Self::MonteCarlo => monte_carlo::draw(measure, d, s, seed),
            Self::Orthogonal => orthogonal::draw(measure, d, s, seed)?,
            Self::Antithetic => antithetic::draw(measure, d, s, seed)?,
            _ => return self.draw_quasi(measure, (s, d), with_phases, seed),
        };
        let omega_sd = Array2::from_shape_vec((s, d), omega);
        Ok(Frequencies {
            omega_sd: omega_sd.map_err(|e| Error::shape(e.to_string()))?,
            phases: with_phases.then(|| independent_phases(s, seed)),
            weights: None,
        })
    }

    /// The sequences, where the offsets are one more coordinate.
    fn draw_quasi(
        self,
        measure: &dyn SpectralMeasure,
        shape: (usize, usize),
        with_phases: bool,
        seed: Seed,
    ) -> Result<Frequencies> {
        let dim = quasi::cube_dim(measure, shape.1, with_phases)?;
        let sequence: Box<dyn Sequence> = match self {
            Self::Halton(halton) => Box::new(halton::sequence(halton, dim, seed)),
            Self::Sobol(sobol) => Box::new(sobol::sequence(sobol, dim, seed)?),
            Self::Lattice => Box::new(lattice::sequence(dim, shape.0, seed)?),
            Self::DigitalNet => Box::new(digital_net::sequence(dim, seed)?),
            Self::Auto | Self::MonteCarlo | Self::Orthogonal | Self::Antithetic => {
                unreachable!("drawn without a sequence")
            }
        };
        Ok(quasi::draw(
            sequence.as_ref(),
            measure,
            shape,
            dim,
            with_phases,
        ))
    }
}

fn independent_phases(s: usize, seed: Seed) -> Vec<f64> {
    let mut draws: Draws = seed.stream(Stream::Phases, 0);
    (0..s).map(|_| draws.uniform()).collect()
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelling = SPELLINGS.iter().find(|(sampling, _)| sampling == self);
        f.write_str(spelling.map_or("", |(_, name)| name))
    }
}

impl FromStr for Sampling {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = SPELLINGS.iter().find(|(_, name)| *name == text.trim());
        found.map(|&(sampling, _)| sampling).ok_or_else(|| {
            let names: Vec<&str> = SPELLINGS.iter().map(|&(_, name)| name).collect();
            Error::parameter(format!(
                "unknown sampling '{text}'; use one of {}",
                names.join(", ")
            ))
        })
    }
}

/// Rounds to 11 significant bits (f16's precision), to nearest with ties to even, over the range of
/// f32's normal numbers: smaller magnitudes become 0, larger ones the largest such number. A
/// frequency rounded so is exact in f16 matrix units after a scaling by a power of two, and the
/// estimate of k does not change beyond its own noise.
#[doc(hidden)]
pub fn round_to_11_bits(value: f64) -> f32 {
    const DROPPED: u32 = 53 - 11;
    if !value.is_finite() {
        return value as f32;
    }
    let bits = value.to_bits();
    let even = (bits >> DROPPED) & 1;
    // A carry out of the mantissa raises the exponent, which is what rounding up to a power of two
    // means.
    let bits = (bits + (1_u64 << (DROPPED - 1)) - 1 + even) & (u64::MAX << DROPPED);
    let rounded = f64::from_bits(bits);
    // (2 - 2^-10) 2^127.
    let largest = f64::from(f32::from_bits(0x7f7f_e000));
    if rounded.abs() < f64::from(f32::MIN_POSITIVE) {
        return 0.0;
    }
    rounded.clamp(-largest, largest) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_11_bits_to_even() {
        let cases = [
            (1.0, 1.0),
            (2049.0, 2048.0),
            (2051.0, 2052.0),
            (-2049.000001, -2050.0),
            (4095.5, 4096.0),
            (1e39, (2.0 - 1.0 / 1024.0) * 2f64.powi(127)),
            (1e-39, 0.0),
            (3.0 * 2f64.powi(-126), 3.0 * 2f64.powi(-126)),
            (f64::MAX, (2.0 - 1.0 / 1024.0) * 2f64.powi(127)),
        ];
        for (value, rounded) in cases {
            assert_eq!(f64::from(round_to_11_bits(value)), rounded, "{value}");
        }
        let mut draws = Seed(3).stream(Stream::Data, 0);
        for _ in 0..1000 {
            let value = draws.cauchy();
            let rounded = round_to_11_bits(value);
            assert!((f64::from(rounded) - value).abs() <= value.abs() * 2f64.powi(-11));
            assert_eq!(rounded.to_bits() & ((1 << 13) - 1), 0);
        }
    }

    #[test]
    fn spellings_round_trip() {
        for (sampling, name) in SPELLINGS {
            assert_eq!(sampling.to_string(), name);
            assert_eq!(name.parse::<Sampling>().unwrap(), sampling);
        }
        let error = "sobol2".parse::<Sampling>().unwrap_err().to_string();
        assert!(error.contains("monte-carlo"), "{error}");
    }
}
