//! Two-sample test on sums: detects drift without the rows.

mod of_targets;
#[cfg(test)]
mod tests;

pub use of_targets::TargetsOutcome;

use super::{Null, Outcome, WeightedChiSquares};
use crate::{
    Error, Result,
    learn::{Basis, Partial},
    model::Targets,
    normal::NormalEquations,
    store::Store,
    sums::{AnySums, HeldOutSums, OneOfSums, RidgeSums, Sums},
};
use ndarray::{Array1, Array2};
use std::path::Path;

/// Result of comparing the sums of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumsOutcome {
    /// Statistic and p-value; the statistic is [`Self::biased`] over `1/n + 1/m`, n and m being
    /// [`Self::effective_rows`].
    pub outcome: Outcome,
    /// `|mean z(a) - mean z(b)|^2`, of weighted means: the squared distance of the mean
    /// embeddings, never negative.
    pub biased: f64,
    /// The same minus its expectation under the null hypothesis; can be negative.
    pub unbiased: f64,
    /// Number of rows of each.
    pub rows: [u64; 2],
    /// Effective number of rows of each, `(sum w)^2 / sum w^2`.
    pub effective_rows: [f64; 2],
    /// Whether the targets depend on the rows in the same way; `None` if sums have no targets, or
    /// different ones.
    pub of_targets: Option<TargetsOutcome>,
}

/// Sums of one sample, prepared for the test.
struct Sample {
    mean_d: Array1<f64>,
    /// Effective rows.
    rows: f64,
    /// `sum w (z - mean)(z - mean)'`, with weights rescaled to sum to the effective rows.
    scatter_dd: Array2<f64>,
}

/// Minimum number of effective rows of a sample.
const LEAST: f64 = 5.0;

impl Sample {
    fn new(sums: &NormalEquations, which: &str) -> Result<Self> {
        let (weight, squares) = (sums.weight, sums.weight_squares);
        if squares.is_nan() {
            return Err(Error::unsupported(format!(
                "the {which} sums have weights of which no squares were summed; sum the rows again"
            )));
        }
        let rows = if squares > 0.0 {
            weight * weight / squares
        } else {
            0.0
        };
        if rows < LEAST {
            return Err(Error::shape(format!(
                "the {which} sums count as {rows:.1} rows of equal weight; a test needs {LEAST}"
            )));
        }
        let mean_d = &sums.z_sum_d / weight;
        let share = rows / weight;
        let entry = |i: usize, j: usize| {
            let product = sums.gram_dd[[i.max(j), i.min(j)]];
            share * (product - weight * mean_d[i] * mean_d[j])
        };
        Ok(Self {
            scatter_dd: Array2::from_shape_fn(sums.gram_dd.dim(), |(i, j)| entry(i, j)),
            mean_d,
            rows,
        })
    }

    /// Sum of the variances of the features.
    fn spread(&self) -> f64 {
        self.scatter_dd.diag().sum() / (self.rows - 1.0)
    }
}

/// Tests whether the rows of two sums on the same features come from one distribution, by the
/// maximum mean discrepancy of their weighted means (Gretton et al. 2012), as
/// [`TwoSample`](super::TwoSample) does with rows.
///
/// With n and m effective rows, `|mean z(a) - mean z(b)|^2 / (1/n + 1/m)` asymptotically follows a
/// [`WeightedChiSquares`] distribution whose weights are the eigenvalues of the covariance of the
/// features within the samples. For few rows, sums of powers of its eigenvalues are estimated
/// without bias for normal features, by the moments of a Wishart matrix, and the estimated scale of
/// the statistic is taken into account as in an F distribution (Paulson 1942). Of 500 pairs of
/// samples of one distribution, with 15 rows and more, the expected share has a p-value below .05.
/// Rows must be independent, and no row may be in both sums.
///
/// If sums have targets, [`SumsOutcome::of_targets`] tests whether these depend on the rows in the
/// same way, for any distribution of the rows: whether least squares on both have the same
/// coefficients (Chow 1960), in the directions of greatest variance of the features, one for each
/// three effective rows of the smaller sample. No penalty is involved. With Gram matrices A and B,
/// the squared norm of `(A^-1 + B^-1)^-1 (beta_a - beta_b)` follows a distribution of weighted
/// chi-squares, with the noise variance of each sample (Welch 1938). It assumes a constant noise
/// variance within a sample: noise that grows away from the mean makes p-values too small. The
/// directions are eigenvectors, which take some hundred times D^2 operations, or 9 D^3.
///
/// ```
/// use bochner::{hypothesis::sums_differ, prelude::*};
/// let value = |(i, j): (usize, usize)| ((7 * i + 3 * j) % 23) as f64 / 23.0;
/// let x = ndarray::Array2::from_shape_fn((120, 2), value);
/// let pca = KernelPca::on(Fourier::new(Gaussian).features(64)).device(&Device::cpu());
/// let old = pca.start(&x)?;
/// let mut new = old.without_rows()?;
/// new.add(&(&x + 0.3))?;
/// assert!(sums_differ(old.sums(), new.sums())?.outcome.rejects(0.01));
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// Errors with [`Error::Shape`] on sums on different features and on fewer than 5 effective rows,
/// and with [`Error::Unsupported`] if no squares of weights were summed, as in older files.
pub fn sums_differ(a: &NormalEquations, b: &NormalEquations) -> Result<SumsOutcome> {
    if a.gram_dd.dim() != b.gram_dd.dim() {
        return Err(Error::shape(format!(
            "sums of {} and {} features are not compared",
            a.gram_dd.nrows(),
            b.gram_dd.nrows()
        )));
    }
    let rows = [a.rows, b.rows];
    let sums = [a, b];
    let (a, b) = (Sample::new(a, "first")?, Sample::new(b, "second")?);
    let of_targets = match sums[0].zty_dt.dim() == sums[1].zty_dt.dim() {
        true => of_targets::test(sums, [&a, &b])?,
        false => None,
    };
    let apart = &a.mean_d - &b.mean_d;
    let biased = apart.dot(&apart);
    let noise = a.spread() / a.rows + b.spread() / b.rows;
    let dof = a.rows + b.rows - 2.0;
    let within_dd = (&a.scatter_dd + &b.scatter_dd) / dof;
    let statistic = biased / (1.0 / a.rows + 1.0 / b.rows);
    let law = WeightedChiSquares::of_covariance(&within_dd);
    Ok(SumsOutcome {
        outcome: Outcome {
            statistic,
            p_value: law.of_sample(dof)?.tail_of_ratio(statistic, dof),
            null: Null::Asymptotic,
        },
        biased,
        unbiased: biased - noise,
        rows,
        effective_rows: [a.rows, b.rows],
        of_targets,
    })
}

/// As [`sums_differ`], for partial sums with their basis: shards, checkpoints, incremental fits.
///
/// Also errors with [`Error::Format`] if their maps differ, if both are the same part of the same
/// data, and on sums of densities, which have no covariance.
pub fn partials_differ(a: &Partial<AnySums>, b: &Partial<AnySums>) -> Result<SumsOutcome> {
    let written = |partial: &Partial<AnySums>| -> Result<Store> {
        let mut store = Store::default();
        partial.basis.map.write(&mut store)?;
        Ok(store)
    };
    if let Some(difference) = written(a)?.difference(&written(b)?) {
        return Err(Error::format(format!(
            "the sums stand on other maps: {difference}; sum both samples on one, as shards, or \
             learners without rows, do"
        )));
    }
    let data = |partial: &Partial<AnySums>| partial.basis.options.get("data").cloned();
    if data(a).is_some() && data(a) == data(b) && a.parts == b.parts {
        return Err(Error::format(format!(
            "both sums are of part {} of the same data; name those of other rows",
            a.parts.join(", ")
        )));
    }
    let mut found = sums_differ(&normal(&a.sums)?, &normal(&b.sums)?)?;
    let (a, b) = (&a.basis, &b.basis);
    let alike = match (&a.targets, &b.targets) {
        (Targets::Classes(a), Targets::Classes(b)) => a == b,
        // Sums are of unshifted targets, whatever was subtracted on the way.
        (Targets::Real { columns: a, .. }, Targets::Real { columns: b, .. }) => a == b,
        _ => false,
    };
    let scale = |basis: &Basis| basis.rescaled.as_ref().map(|of| of.rescale.clone());
    if !(alike && a.class_names == b.class_names && scale(a) == scale(b)) {
        found.of_targets = None;
    }
    Ok(found)
}

/// Reads a file of partial sums with their basis, of any learner. Errors with [`Error::Model`] on
/// anything else.
pub fn load_partial(path: impl AsRef<Path>) -> Result<Partial<AnySums>> {
    fn of<S: OneOfSums>(path: &Path) -> Result<Partial<AnySums>> {
        let Partial { basis, sums, parts } = Partial::<S>::load(path)?;
        let sums = sums.any();
        Ok(Partial { basis, sums, parts })
    }
    let path = path.as_ref();
    Partial::<AnySums>::load(path).or_else(|error| {
        of::<RidgeSums>(path)
            .or_else(|_| of::<NormalEquations>(path))
            .or_else(|_| of::<HeldOutSums>(path))
            .map_err(|_| error)
    })
}

/// The normal equations of all rows.
fn normal(sums: &AnySums) -> Result<NormalEquations> {
    match sums {
        AnySums::Normal(sums) => Ok(sums.as_ref().clone()),
        AnySums::Ridge(sums) => Ok(sums.normal.clone()),
        AnySums::HeldOut(sums) => {
            let mut all = sums.fitted.clone();
            if let Some(held) = &sums.held_out {
                all.merge(held)?;
            }
            Ok(all)
        }
        other => Err(Error::format(format!(
            "sums of {} rows of a density hold no covariance to test by",
            other.rows()
        ))),
    }
}
