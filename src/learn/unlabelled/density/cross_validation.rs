//! Least-squares cross-validation of the bandwidth of a density, in closed form.

use super::{
    Embedding,
    noise::{Noise, RowSpread},
};
use crate::{
    Error, Result,
    data::ChunkSource,
    error::Remedy,
    features::{DenseFeatures, FeatureMap, ScaledKernel},
    flow::Run,
    linalg::entries,
};
use ndarray::Array1;

/// The multiple with the smallest score, and its results.
pub(super) struct Best {
    pub(super) multiple: f64,
    pub(super) score: f64,
    with_noise: f64,
    pub(super) map: Box<dyn FeatureMap>,
    pub(super) kernel: ScaledKernel,
    pub(super) embedding: Embedding,
}

/// Scores all multiples in one pass over the rows.
pub(super) fn best(
    map: &dyn FeatureMap,
    kernel: ScaledKernel,
    multiples: &[f64],
    (source, place, run): (&mut dyn ChunkSource, &RowSpread, &Run),
) -> Result<Best> {
    if let Some(bad) = multiples.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
        return Err(Error::parameter(format!(
            "a multiple of the bandwidth is {bad}; it must be positive and finite"
        )));
    }
    // A kernel without an integral is an error for every map.
    kernel.ln_integral()?;
    let fourier = frequencies(map)?;
    let share_d = smoothed(fourier, &kernel)?;
    let maps: Vec<_> = multiples
        .iter()
        .map(|c| fourier.rescaled(1.0 / c))
        .collect();
    let dynamic: Vec<&dyn FeatureMap> = maps.iter().map(|map| map as _).collect();
    let sums = Embedding::of_each(&dynamic, source, run)?;
    if sums.iter().any(|sums| sums.others() <= 0.0) {
        return Err(Error::shape(
            "cross-validation leaves rows out, and there is 1; give more, or a bandwidth",
        ));
    }
    let mut best: Option<Best> = None;
    for ((&multiple, map), embedding) in multiples.iter().zip(maps).zip(sums) {
        let kernel = ScaledKernel {
            kernel: kernel.kernel.clone(),
            input: kernel.input.clone().lengthscale(multiple)?,
        };
        let mean_d = embedding.mean()?;
        let (length, place) = (mean_d.dot(&mean_d).sqrt(), place.stretched(multiple));
        let noise = Noise::estimate((fourier, &kernel), &place, length);
        let noise = noise.map_or(0.0, |noise| noise.square());
        let over = (-kernel.ln_integral()?).exp();
        let score = embedding.score(&share_d) * over;
        let with_noise = score + noise * over;
        log::info!("{multiple} times the bandwidth: {score:e}, and {with_noise:e} with its noise");
        if best
            .as_ref()
            .is_none_or(|best| with_noise < best.with_noise)
        {
            best = Some(Best {
                multiple,
                score,
                with_noise,
                map: Box::new(map),
                kernel,
                embedding,
            });
        }
    }
    let best = best.ok_or_else(|| Error::parameter("no multiple of the bandwidth was given"))?;
    warn_at_ends(multiples, best.multiple);
    Ok(best)
}

/// Frequencies of a map; errors if it has none.
fn frequencies(map: &dyn FeatureMap) -> Result<&DenseFeatures> {
    map.fourier().ok_or_else(|| {
        let problem = format!(
            "cross-validation of a density weighs frequencies, and a {} map shows none",
            map.name()
        );
        Error::unsupported(problem)
            .help(Remedy::UseMap("fourier"))
            .help(Remedy::words(
                "give this map the bandwidth that fourier finds",
            ))
    })
}

/// Warns if the best multiple is the smallest or largest of several.
fn warn_at_ends(multiples: &[f64], best: f64) {
    let ends = multiples
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), &c| {
            (low.min(c), high.max(c))
        });
    if multiples.len() > 1 && (best == ends.0 || best == ends.1) {
        log::warn!(
            "the best multiple of the bandwidth, {}, is at the end of those tried; try some beyond",
            best
        );
    }
}

/// Factor by which convolution with the kernel shrinks each feature, `[D]`: the Fourier transform
/// of the kernel's density at its frequency, p(omega)/p(0).
fn smoothed(map: &DenseFeatures, kernel: &ScaledKernel) -> Result<Array1<f64>> {
    let unknown = || {
        let problem = format!(
            "the spectral density of {} is not known, by which cross-validation of a density goes",
            kernel.kernel.spec()
        );
        Error::unsupported(problem).help(Remedy::GiveLengthscale)
    };
    let (kept, _) = kernel.input.volume();
    let spectrum = kernel.kernel.spectrum().ok_or_else(unknown)?;
    let at = |omega: &[f64]| spectrum.ln_density(omega).ok_or_else(unknown);
    let at_zero = at(&vec![0.0; kept.len()])?;
    let parameters = map.parameters();
    let share_s = parameters.w_ds.columns().into_iter().map(|omega| {
        let omega: Vec<f64> = kept.iter().map(|&j| f64::from(omega[j])).collect();
        Ok((at(&omega)? - at_zero).exp())
    });
    let share_s = share_s.collect::<Result<Vec<f64>>>()?;
    // Cosines first, then sines.
    let repeated = share_s.iter().cycle().take(map.output_dim());
    Ok(repeated.copied().collect())
}

impl Embedding {
    /// `W^2 - sum_i w_i^2`: the total weight of pairs of different rows.
    fn others(&self) -> f64 {
        let rounding = 1e-12 * self.weight_squares;
        let others = self.weight * self.weight - self.weight_squares;
        if others > rounding { others } else { 0.0 }
    }

    /// `int f^2 - 2 E f(x)`, times the integral I of the kernel. With m the mean of the features
    /// and g the factors of convolution, `I int f^2 = sum_j g_j m_j^2`, since the Fourier transform
    /// of the density at omega is that of the rows times g. The mean over pairs of different rows
    /// is `(W^2 |m|^2 - sum_i w_i^2 |z_i|^2)/(W^2 - sum_i w_i^2)`.
    fn score(&self, share_d: &Array1<f64>) -> f64 {
        let squares_d = self.sum_d.mapv(entries::square);
        let square = squares_d.dot(share_d) / (self.weight * self.weight);
        let left_out = (squares_d.sum() - self.own) / self.others();
        square - 2.0 * left_out
    }
}
