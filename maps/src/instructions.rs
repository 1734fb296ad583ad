//! Which vector instructions the code of the CPU takes: the best that the machine has, or those
//! that `BOCHNER_CPU` names, so that any machine tests and measures what others run.

use crate::{Error, Result, simd::fused::Plain};
use pulp::Simd;
use std::{fmt, str::FromStr, sync::OnceLock};

/// The environment variable that names an instruction set.
pub(crate) const CPU_VARIABLE: &str = "BOCHNER_CPU";

/// The environment variable that says what matrix units are for: `none`, `projections` or `all`, of
/// which a GPU takes the first where nobody says it, and a processor the last.
pub(crate) const UNITS_VARIABLE: &str = "BOCHNER_UNITS";

/// Vector instructions of a processor.
///
/// Products and solvers of dependencies (faer: eigenvectors, singular values, inverses, products in
/// f64) choose their own, and matrix units of x86-64 (AMX) are taken beside
/// [`Self::Avx512`] alone, unless `BOCHNER_UNITS` is `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstructionSet {
    /// 16 lanes of f32, 32 registers: x86-64-v4.
    Avx512,
    /// 8 lanes of f32, 16 registers, fused multiply-adds: x86-64-v3.
    Avx2,
    /// 4 lanes of f32, 32 registers: all 64-bit ARM.
    Neon,
    /// 4 lanes of f32 in a browser.
    Simd128,
    /// No vectors, on any machine: numbers one by one, with as many operations for each
    /// multiply-add as have its bits.
    Scalar,
}
use InstructionSet::*;

impl InstructionSet {
    /// All of them, best first.
    const ALL: [Self; 5] = [Avx512, Avx2, Neon, Simd128, Scalar];

    /// What runs for it, where this machine has it.
    pub(crate) fn arch(self) -> Option<Arch> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Avx512 => pulp::x86::V4::try_new().map(Arch::V4),
            #[cfg(target_arch = "x86_64")]
            Avx2 => pulp::x86::V3::try_new().map(Arch::V3),
            #[cfg(target_arch = "aarch64")]
            Neon => pulp::aarch64::Neon::try_new().map(Arch::Neon),
            #[cfg(target_arch = "wasm32")]
            Simd128 => pulp::wasm::Simd128::try_new().map(Arch::Simd128),
            Scalar => Some(Arch::Plain(Plain)),
            _ => None,
        }
    }

    /// Those of this machine, best first.
    pub fn here() -> impl Iterator<Item = Self> {
        let all = Self::ALL.into_iter();
        all.filter(|set| set.arch().is_some())
    }

    /// The one in use: what `BOCHNER_CPU` names, else the best of this machine.
    ///
    /// Errors with [`Error::Unsupported`] where this machine has not what it names, and with
    /// [`Error::Parameter`] on other words.
    pub fn chosen() -> Result<Self> {
        let named = std::env::var(CPU_VARIABLE).ok();
        let named = named.filter(|text| !matches!(text.as_str(), "" | "auto"));
        let Some(text) = named else {
            return Ok(Self::best());
        };
        let listed = || {
            let all: Vec<_> = Self::here().map(|set| set.to_string()).collect();
            all.join(", ")
        };
        let set: Self = text.parse().map_err(|_| {
            Error::parameter(format!(
                "{CPU_VARIABLE} is {text:?}; this machine has {}",
                listed()
            ))
        })?;
        set.arch().map(|_| set).ok_or_else(|| {
            let problem =
                format!("{CPU_VARIABLE} is {set}, which this machine has not; use one of");
            Error::unsupported(format!("{problem} {}", listed()))
        })
    }

    fn best() -> Self {
        Self::here().next().unwrap_or(Scalar)
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Avx512 => "avx512",
            Avx2 => "avx2",
            Neon => "neon",
            Simd128 => "simd128",
            Scalar => "scalar",
        })
    }
}

impl FromStr for InstructionSet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut all = Self::ALL.into_iter();
        let named = all.find(|set| set.to_string() == text.to_ascii_lowercase());
        named.ok_or_else(|| Error::parameter(format!("{text:?} is no instruction set")))
    }
}

/// The instruction set that everything here takes; a name that cannot be had is told where a device
/// is opened, and the best is taken where nobody opens one.
pub(crate) fn instruction_set() -> InstructionSet {
    static SET: OnceLock<InstructionSet> = OnceLock::new();
    *SET.get_or_init(|| {
        InstructionSet::chosen().unwrap_or_else(|error| {
            log::warn!("{error}; the best is taken");
            InstructionSet::best()
        })
    })
}

/// The vectors of an instruction set, as pulp knows them.
#[derive(Debug, Clone, Copy)]
pub enum Arch {
    #[cfg(target_arch = "x86_64")]
    V4(pulp::x86::V4),
    #[cfg(target_arch = "x86_64")]
    V3(pulp::x86::V3),
    #[cfg(target_arch = "aarch64")]
    Neon(pulp::aarch64::Neon),
    #[cfg(target_arch = "wasm32")]
    Simd128(pulp::wasm::Simd128),
    Plain(Plain),
}

impl Arch {
    /// Runs `op` with them. Not a closure, though the trait is there for these: see [`Loops`].
    #[inline(always)]
    pub fn dispatch<Op: pulp::WithSimd>(self, op: Op) -> Op::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::V4(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "x86_64")]
            Self::V3(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "wasm32")]
            Self::Simd128(simd) => Simd::vectorize(simd, op),
            Self::Plain(simd) => Simd::vectorize(simd, op),
        }
    }
}

/// Vector instructions as a page has them: known when it is compiled, so that it holds no code of
/// any other, as an arm for numbers one at a time would be.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[derive(Debug, Clone, Copy)]
pub struct OnlyVectors(pulp::wasm::Simd128);

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
impl OnlyVectors {
    /// Runs `op`, as [`Arch`] does elsewhere.
    #[inline(always)]
    pub fn dispatch<Op: pulp::WithSimd>(self, op: Op) -> Op::Output {
        pulp::Simd::vectorize(self.0, op)
    }
}

/// What runs vector code: the one door to it.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
pub fn arch() -> OnlyVectors {
    let vectors = pulp::wasm::Simd128::try_new();
    OnlyVectors(vectors.expect("compiled with them"))
}

/// What runs vector code: the one door to it.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline]
pub fn arch() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(|| instruction_set().arch().unwrap_or(Arch::Plain(Plain)))
}

/// Loops over numbers that the compiler turns into vectors, of the instruction set that is in use.
///
/// `run` is to be `#[inline(always)]`, as is what it calls. A closure has no place here: what is
/// not inlined into code for an instruction set is compiled for what every machine has.
pub trait Loops {
    /// What comes of them.
    type Output;

    /// Runs them.
    fn run(self) -> Self::Output;
}

/// Runs loops with the vectors of [`arch`].
#[inline(always)]
pub fn vectorized<L: Loops>(loops: L) -> L::Output {
    struct Op<L>(L);

    impl<L: Loops> pulp::WithSimd for Op<L> {
        type Output = L::Output;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> L::Output {
            self.0.run()
        }
    }

    arch().dispatch(Op(loops))
}

/// AVX-512, where that is in use: what matrix units and 16-bit floats of x86-64 stand on.
#[cfg(target_arch = "x86_64")]
pub(crate) fn wide() -> Option<pulp::x86::V4> {
    match arch() {
        Arch::V4(token) => Some(token),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_the_machine_has_some() {
        for set in InstructionSet::ALL {
            assert_eq!(set.to_string().parse::<InstructionSet>().ok(), Some(set));
        }
        assert!("sse9".parse::<InstructionSet>().is_err());
        let here: Vec<_> = InstructionSet::here().collect();
        assert_eq!(here.last(), Some(&Scalar));
        // What is said to be in use is what runs.
        let lanes = arch().dispatch(Lanes);
        let expected = match instruction_set() {
            Avx512 => 16,
            Avx2 => 8,
            Neon | Simd128 | Scalar => 4,
        };
        assert_eq!(lanes, expected);
    }

    struct Lanes;

    impl pulp::WithSimd for Lanes {
        type Output = usize;

        fn with_simd<S: pulp::Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }
}
