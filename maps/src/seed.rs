//! Everything random: a [`Seed`] opens named, indexed ChaCha8 streams, and [`Draws`] turns their
//! bits into variates with pure-Rust maths, so that one seed gives the same bits on every platform,
//! device and thread count.

use crate::special;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng, TryRng};
use std::convert::Infallible;

/// The one number from which everything random follows.
///
/// ```
/// use bochner::seed::{Seed, Stream};
/// let mut draws = Seed(7).stream(Stream::Frequencies, 0);
/// let first = draws.normal();
/// assert_eq!(first, Seed(7).stream(Stream::Frequencies, 0).normal());
/// assert_ne!(first, Seed(7).stream(Stream::Frequencies, 1).normal());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seed(pub u64);

/// What a stream is for. Two purposes never share bits, so that adding a draw to one leaves the
/// others as they were. The numbers are part of the file format of reproducibility: never change or
/// reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Stream {
    /// Independent frequencies; block = the frequency.
    Frequencies = 1,
    /// Phases of the phase form.
    Phases = 2,
    /// Random signs (Fastfood's B, SORF's D).
    Signs = 3,
    /// Permutations (Fastfood's P).
    Permutation = 4,
    /// Gaussian diagonals (Fastfood's G).
    Gaussian = 5,
    /// Row norms of orthogonal and structured maps.
    Radii = 6,
    /// Scrambling of a quasi-random sequence.
    Scramble = 7,
    /// Shifts of a lattice or digital net.
    Shift = 8,
    /// Components of a mixture.
    Mixture = 9,
    /// Nystrom landmarks.
    Landmarks = 10,
    /// Grids of random binning.
    Bins = 11,
    /// Rows sampled for a bandwidth rule, a kernel error or a held-out split.
    Sample = 12,
    /// Householder vectors of a random rotation; block = the rotation.
    Rotation = 13,
    /// Features resampled by leverage score.
    Leverage = 14,
    /// Start vectors of iterative methods.
    Iteration = 15,
    /// Candidates of a greedy fit.
    Greedy = 16,
    /// Synthetic data of tests, benches and examples.
    Data = 17,
    /// Functions drawn from the posterior of a Gaussian process; block = the target.
    Posterior = 18,
    /// The prior and the noise of functions drawn by Matheron's rule; block = the function.
    Paths = 19,
    /// Hash functions of a sketch; block = the sketch.
    Hashes = 21,
    /// Exchanges of rows under a null hypothesis; block = the exchange.
    Exchange = 24,
    /// Seeds of the leaves of a tree, and from 2^32 on of its nodes; block = which.
    Leaves = 25,
    /// Scores of the arms of a bandit; block = the round.
    Arms = 26,
    /// Orders in which columns of a row are exchanged for those of another; block = the row.
    Orders = 27,
}

impl Seed {
    /// A seed from the next 64 bits of any generator of `rand`: `Seed::from_rng(&mut rand::rng())`
    /// for one that differs from run to run.
    ///
    /// ```
    /// use bochner::seed::Seed;
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// let seed = || Seed::from_rng(&mut ChaCha8Rng::seed_from_u64(7));
    /// assert_eq!(seed(), seed());
    /// ```
    pub fn from_rng<R: Rng + ?Sized>(rng: &mut R) -> Self {
        Self(rng.next_u64())
    }

    /// Opens the stream `(self, stream, block)`: ChaCha8 with the seed and the stream's number as
    /// its key and `block` as its nonce, so that streams never overlap and may be drawn in any
    /// order, on any thread.
    pub fn stream(self, stream: Stream, block: u64) -> Draws {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..12].copy_from_slice(&(stream as u32).to_le_bytes());
        // The rest of the key names the scheme, so that a later one cannot collide with it.
        key[24..].copy_from_slice(b"bochner1");
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(block);
        Draws(rng)
    }
}

/// Variates from one stream. Every continuous law but the gamma family takes one uniform per
/// variate, by inversion.
///
/// It is a generator of `rand` too (`Rng`, hence `RngExt`), for laws and sequences that are not
/// here. What `rand` makes of the bits may change with its version; what the methods below make of
/// them does not.
///
/// ```
/// use bochner::seed::{Seed, Stream};
/// use rand::{RngExt, seq::IndexedRandom};
/// let mut draws = Seed(7).stream(Stream::Data, 0);
/// let die = draws.random_range(1..=6);
/// assert!((1..=6).contains(&die));
/// assert!(["red", "green"].choose(&mut draws).is_some());
/// ```
#[derive(Debug)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on the open interval (0, 1): an odd multiple of 2^-53, so never 0, 1 or 1/2, and 1 -
    /// t is exact.
    pub fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        ((self.next_u64() >> 11) | 1) as f64 * UNIT
    }

    /// Standard normal, by the inverse distribution function (Wichura 1988, AS 241).
    pub fn normal(&mut self) -> f64 {
        special::normal_quantile(self.uniform())
    }

    /// Standard Cauchy, density 1/(pi (1 + x^2)).
    pub fn cauchy(&mut self) -> f64 {
        special::cauchy_quantile(self.uniform())
    }

    /// Standard Laplace, density exp(-|x|)/2.
    pub fn laplace(&mut self) -> f64 {
        special::laplace_quantile(self.uniform())
    }

    /// Exponential of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Gamma of the given shape and scale 1 (Marsaglia & Tsang 2000; below shape 1 by their boost
    /// u^(1/shape)). NaN unless `shape` is positive and finite.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if !(shape > 0.0 && shape.is_finite()) {
            return f64::NAN;
        }
        let boost = if shape < 1.0 {
            libm::exp(libm::log(self.uniform()) / shape)
        } else {
            1.0
        };
        let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            if libm::log(self.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return boost * d * v;
            }
        }
    }

    /// Chi-squared with `dof` degrees of freedom, any positive number.
    pub fn chi_squared(&mut self, dof: f64) -> f64 {
        2.0 * self.gamma(0.5 * dof)
    }

    /// Chi with `dof` degrees of freedom: the length of a `dof`-dimensional standard normal vector.
    pub fn chi(&mut self, dof: f64) -> f64 {
        self.chi_squared(dof).sqrt()
    }

    /// +1 or -1, each with probability 1/2.
    pub fn sign(&mut self) -> f64 {
        if self.next_u64() >> 63 == 0 {
            1.0
        } else {
            -1.0
        }
    }

    /// Uniform on 0..n, without bias (Lemire 2019).
    ///
    /// # Panics
    /// If `n` is 0.
    #[doc(hidden)]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "below(0) has no value to draw");
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            // The low word decides whether this draw falls in the part of 2^64 that n does not
            // divide.
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts the items in a uniformly random order (Fisher-Yates), the same on every platform and in
    /// every version.
    #[doc(hidden)]
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }

    /// A uniform permutation of 0..n: the numbers, [shuffled](Self::shuffle).
    #[doc(hidden)]
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }
}

/// The bits of [`Draws::next_u64`], as `rand` takes them; [`rand_core::Rng`] follows from it.
impl TryRng for Draws {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sample mean, and variance about the known mean.
    fn moments(mean: f64, n: usize, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let (mut sum, mut square) = (0.0, 0.0);
        for _ in 0..n {
            let x = draw() - mean;
            sum += x;
            square += x * x;
        }
        (sum / n as f64, square / n as f64)
    }

    #[test]
    fn laws_have_their_moments() {
        let n = 100_000;
        let mut draws = Seed(1).stream(Stream::Data, 0);
        // name, mean, variance, fourth central moment
        type Case = (&'static str, f64, f64, f64, fn(&mut Draws) -> f64);
        let gamma4 = |k: f64| 3.0 * k * k + 6.0 * k;
        let cases: [Case; 8] = [
            ("uniform", 0.5, 1.0 / 12.0, 1.0 / 80.0, Draws::uniform),
            ("normal", 0.0, 1.0, 3.0, Draws::normal),
            ("laplace", 0.0, 2.0, 24.0, Draws::laplace),
            ("exponential", 1.0, 1.0, 9.0, Draws::exponential),
            ("sign", 0.0, 1.0, 1.0, Draws::sign),
            ("gamma 0.3", 0.3, 0.3, gamma4(0.3), |r| r.gamma(0.3)),
            ("gamma 2.5", 2.5, 2.5, gamma4(2.5), |r| r.gamma(2.5)),
            ("chi2 7", 7.0, 14.0, 16.0 * gamma4(3.5), |r| {
                r.chi_squared(7.0)
            }),
        ];
        for (name, mean, variance, fourth, draw) in cases {
            let (m, v) = moments(mean, n, || draw(&mut draws));
            let root = (n as f64).sqrt();
            assert!(m.abs() < 4.0 * variance.sqrt() / root, "{name}: mean {m}");
            let spread = (fourth - variance * variance).max(1e-12).sqrt();
            assert!((v - variance).abs() < 4.0 * spread / root, "{name}: {v}");
        }
        // The Cauchy law has no moments; half of it lies in [-1, 1].
        let inside = (0..n).filter(|_| draws.cauchy().abs() < 1.0).count() as f64;
        assert!((inside / n as f64 - 0.5).abs() < 2.0 / (n as f64).sqrt());
        assert!(draws.gamma(0.0).is_nan() && draws.gamma(f64::INFINITY).is_nan());
    }

    #[test]
    fn below_is_unbiased_and_permutations_are_uniform() {
        let mut draws = Seed(2).stream(Stream::Data, 0);
        let mut counts = [0_f64; 7];
        (0..70_000).for_each(|_| counts[draws.below(7) as usize] += 1.0);
        let chi2: f64 = counts.iter().map(|c| (c - 1e4) * (c - 1e4) / 1e4).sum();
        assert!(chi2 < 22.5, "{chi2}"); // 99.9 % of chi-squared(6)
        let mut orders = std::collections::HashMap::new();
        (0..24_000).for_each(|_| *orders.entry(draws.permutation(4)).or_insert(0) += 1);
        assert_eq!(orders.len(), 24);
        assert!(orders.values().all(|&c: &i32| (c - 1000).abs() < 160));
    }

    #[test]
    fn streams_are_addressed() {
        let words = |seed, stream, block| Seed(seed).stream(stream, block).next_u64();
        let base = words(1, Stream::Signs, 0);
        assert_eq!(base, words(1, Stream::Signs, 0));
        assert_ne!(base, words(2, Stream::Signs, 0));
        assert_ne!(base, words(1, Stream::Phases, 0));
        assert_ne!(base, words(1, Stream::Signs, 1 << 40));
    }

    #[test]
    fn seeds_and_streams_speak_the_traits_of_rand() {
        use rand::{RngExt, seq::SliceRandom};
        let mut any = ChaCha8Rng::seed_from_u64(5);
        let (first, second) = (Seed::from_rng(&mut any), Seed::from_rng(&mut any));
        assert_ne!(first, second, "the generator goes on");
        let mut again = ChaCha8Rng::seed_from_u64(5);
        assert_eq!(first, Seed(again.next_u64()));

        // One stream of bits, whoever asks: through the trait, or by the methods of `Draws`.
        let open = || first.stream(Stream::Data, 2);
        let (mut ours, mut theirs) = (open(), open());
        let by_trait: u64 = theirs.random();
        assert_eq!(ours.next_u64(), by_trait);
        let mut bytes = [0; 8];
        theirs.fill_bytes(&mut bytes);
        assert_eq!(ours.next_u64().to_le_bytes(), bytes);
        assert_eq!(Rng::next_u64(&mut open()) as u32, open().next_u32());

        let mut items: Vec<_> = (0..100).collect();
        items[..].shuffle(&mut theirs);
        let mut sorted = items.clone();
        sorted.sort_unstable();
        assert!(items != sorted && sorted.into_iter().eq(0..100));
    }

    #[test]
    fn a_shuffle_is_the_permutation_of_the_same_bits() {
        let open = || Seed(3).stream(Stream::Data, 1);
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let mut shuffled = names;
        open().shuffle(&mut shuffled);
        let order = open().permutation(names.len());
        assert_eq!(
            shuffled.to_vec(),
            order.iter().map(|&i| names[i]).collect::<Vec<_>>()
        );
        open().shuffle::<u8>(&mut []);
    }

    /// Bits that no platform and no later version may change: models and published results depend
    /// on them.
    #[test]
    fn golden_values() {
        let mut draws = Seed(42).stream(Stream::Frequencies, 3);
        let bits = [
            draws.next_u64(),
            draws.uniform().to_bits(),
            draws.normal().to_bits(),
            draws.cauchy().to_bits(),
            draws.laplace().to_bits(),
            draws.exponential().to_bits(),
            draws.gamma(0.4).to_bits(),
            draws.chi(784.0).to_bits(),
            draws.below(1000),
        ];
        let golden = [
            0xc4a5_86a3_dc67_fa7a,
            0x3fd2_d9f6_5219_3ad2,
            0x3fe8_1f74_6f00_3d84,
            0xbff8_829c_7d5f_eed3,
            0x3ff5_dd37_5cdf_9b18,
            0x4010_73a1_58f6_69ce,
            0x3fcf_dacf_07f3_b574,
            0x403d_6e6d_9271_4531,
            649,
        ];
        assert_eq!(bits, golden, "{bits:#018x?}");
        assert_eq!(draws.permutation(8), [0, 6, 5, 7, 3, 4, 2, 1]);
    }
}
