//! Which rows stand for the data.

use crate::{
    Error, Result,
    data::Rows,
    error::Remedy,
    features::Affine,
    kernels::{Kernel, cross, gram},
    linalg::{cholesky::Lower, entries},
    parallel,
    seed::{Draws, Seed, Stream},
    text::counted,
};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use std::{fmt, ops::RangeInclusive, str::FromStr};

/// How landmarks are chosen among n candidate rows.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Landmarks {
    /// Different rows, all sets alike (Williams & Seeger 2001).
    #[default]
    Uniform,
    /// Independent rows, so that one may come twice.
    UniformWithReplacement,
    /// Different rows with probability by `sum_i k(x_i, x_j)^2` (Drineas, Kannan & Mahoney 2006).
    /// Takes n^2 kernel values.
    ColumnNorm,
    /// Different rows with probability by `k(x_j, x_j)` (Drineas & Mahoney 2005); uniform for
    /// shift-invariant kernels.
    Diagonal,
    /// Different rows with probability by approximate ridge leverage scores,
    /// `(k_ii - k_i'(K_JJ + q lambda I)^-1 k_i) / (n lambda)` from a uniform pilot J of q = m rows
    /// (Musco & Musco 2017, sec. 3).
    RidgeLeverage {
        /// The penalty per sample, lambda > 0.
        lambda: f64,
    },
    /// One after another with probability by what the ones before leave of the diagonal (Chen,
    /// Epperly, Tropp & Webber 2023, algorithm 2.1). Stops early when nothing is left: the kernel
    /// then is reproduced.
    PivotedCholesky,
    /// Centres of k-means, from a k-means++ start (Zhang, Tsang & Kwok 2008).
    KMeans,
    /// The user's own rows, raw as the data are, `[m, d]`.
    Rows(Array2<f64>),
}

/// Lloyd's iterations stop here at the latest; the centres hardly move by then.
const LLOYD_STEPS: usize = 25;

/// Rows that landmarks are chosen among, unless more landmarks are asked for.
const CANDIDATES: RangeInclusive<usize> = 2000..=20_000;

impl Landmarks {
    /// How many rows `m` landmarks are chosen among: ten times as many, at least 2,000 and at most
    /// 20,000, but never fewer than the landmarks; none for [`Self::Rows`].
    pub(in crate::features) fn candidates(&self, m: usize) -> usize {
        match self {
            Self::Rows(_) => 0,
            _ => {
                let most = m.max(*CANDIDATES.end());
                m.saturating_mul(10).clamp(*CANDIDATES.start(), most)
            }
        }
    }

    /// `m` landmarks at unit scale among `candidates`, raw rows `[n, d]`, or those that
    /// [`Self::Rows`] brings.
    ///
    /// Errors when there are none, more than candidates, or rows of other columns.
    pub(in crate::features) fn among(
        &self,
        kernel: &dyn Kernel,
        input: &Affine,
        candidates: impl Into<Rows>,
        m: usize,
        seed: Seed,
    ) -> Result<Array2<f64>> {
        let chosen = match self {
            Self::Rows(rows) if rows.ncols() != input.columns() => {
                return Err(Error::shape(format!(
                    "the landmarks have {}, the data has {}; give rows of the same columns",
                    counted(rows.ncols(), "column"),
                    input.columns()
                )));
            }
            Self::Rows(rows) => input.apply(&Rows::from(rows))?,
            _ => {
                let u_nd = input.apply(&candidates.into())?;
                let n = u_nd.nrows();
                if m == 0 || m > n {
                    return Err(Error::parameter(format!(
                        "{} cannot be chosen among {}; use 1 to {n}",
                        counted(m, "landmark"),
                        counted(n, "row")
                    )));
                }
                self.choose(kernel, &u_nd, m, seed)?
            }
        };
        if chosen.is_empty() {
            return Err(Error::parameter(
                "there are no landmarks; give at least one row on which the kernel is not zero",
            ));
        }
        Ok(chosen)
    }

    /// `m` landmarks of the candidates `u`, `[n, d]` at unit scale; [`Self::Rows`] is for the
    /// caller.
    fn choose(
        &self,
        kernel: &dyn Kernel,
        u_nd: &Array2<f64>,
        m: usize,
        seed: Seed,
    ) -> Result<Array2<f64>> {
        let n = u_nd.nrows();
        let mut draws = seed.stream(Stream::Landmarks, 0);
        let chosen = match self {
            Self::Uniform => draws.permutation(n)[..m].to_vec(),
            Self::UniformWithReplacement => {
                (0..m).map(|_| draws.below(n as u64) as usize).collect()
            }
            Self::ColumnNorm => weighted(&column_norms(kernel, u_nd.view()), m, &mut draws)?,
            Self::Diagonal => weighted(&diagonal(kernel, u_nd.view()), m, &mut draws)?,
            Self::RidgeLeverage { lambda } => {
                let pilot = draws.permutation(n)[..m].to_vec();
                let scores = ridge_leverage(kernel, u_nd, &pilot, *lambda)?;
                weighted(&scores, m, &mut draws)?
            }
            Self::PivotedCholesky => pivoted_cholesky(kernel, u_nd.view(), m, &mut draws)?,
            Self::KMeans => return Ok(k_means(u_nd, m, &mut draws)),
            Self::Rows(_) => unreachable!("rows are taken as they are"),
        };
        Ok(u_nd.select(Axis(0), &chosen))
    }
}

impl fmt::Display for Landmarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::UniformWithReplacement => "uniform-with-replacement",
            Self::ColumnNorm => "column-norm",
            Self::Diagonal => "diagonal",
            Self::RidgeLeverage { lambda } => return write!(f, "leverage:{lambda}"),
            Self::PivotedCholesky => "pivoted-cholesky",
            Self::KMeans => "k-means",
            Self::Rows(_) => "given",
        })
    }
}

impl FromStr for Landmarks {
    type Err = Error;

    /// Reads what [`fmt::Display`] writes; `leverage` alone takes lambda = 0.001.
    fn from_str(text: &str) -> Result<Self> {
        Ok(match text.trim() {
            "uniform" => Self::Uniform,
            "uniform-with-replacement" => Self::UniformWithReplacement,
            "column-norm" => Self::ColumnNorm,
            "diagonal" => Self::Diagonal,
            "leverage" => Self::RidgeLeverage { lambda: 1e-3 },
            "pivoted-cholesky" => Self::PivotedCholesky,
            "k-means" => Self::KMeans,
            other => {
                let lambda = other.strip_prefix("leverage:").and_then(|l| l.parse().ok());
                match lambda {
                    Some(lambda) => Self::RidgeLeverage { lambda },
                    None => {
                        return Err(Error::parameter(format!(
                            "unknown landmarks {text:?}; use uniform, uniform-with-replacement, column-norm, diagonal, \
                             leverage[:LAMBDA], pivoted-cholesky or k-means"
                        )));
                    }
                }
            }
        })
    }
}

/// A kernel that f64 does not hold.
pub(in crate::features) fn not_finite(of: &str) -> Error {
    Error::numerical(format!("the kernel of {of} is not finite"))
        .help(Remedy::Standardize)
        .help(Remedy::LargerLengthscale)
}

/// `m` different indices with probability by weight (Efraimidis & Spirakis 2006: the first m of
/// exponential clocks).
fn weighted(weights: &[f64], m: usize, draws: &mut Draws) -> Result<Vec<usize>> {
    if weights.iter().any(|w| !w.is_finite()) {
        return Err(not_finite("a candidate row"));
    }
    let mut clocks: Vec<(f64, usize)> = weights
        .iter()
        .enumerate()
        .map(|(i, &w)| (draws.exponential() / w.max(f64::MIN_POSITIVE), i))
        .collect();
    clocks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(clocks[..m].iter().map(|&(_, i)| i).collect())
}

fn slices<'a>(u_nd: &'a ArrayView2<'_, f64>) -> Vec<ArrayView1<'a, f64>> {
    u_nd.axis_iter(Axis(0)).collect()
}

fn as_slice<'a>(row: &'a ArrayView1<'_, f64>) -> &'a [f64] {
    row.as_slice().expect("rows are contiguous")
}

fn diagonal(kernel: &dyn Kernel, u_nd: ArrayView2<'_, f64>) -> Vec<f64> {
    let rows = slices(&u_nd);
    let rows = rows.iter().map(as_slice);
    rows.map(|u| kernel.evaluate(u, u)).collect()
}

fn column_norms(kernel: &dyn Kernel, u_nd: ArrayView2<'_, f64>) -> Vec<f64> {
    let rows = slices(&u_nd);
    parallel::usual().numbers(rows.len(), &|i| {
        let u = as_slice(&rows[i]);
        let squares = rows.iter().map(|v| kernel.evaluate(u, as_slice(v)).powi(2));
        squares.sum()
    })
}

fn ridge_leverage(
    kernel: &dyn Kernel,
    u_nd: &Array2<f64>,
    pilot: &[usize],
    lambda: f64,
) -> Result<Vec<f64>> {
    if !(lambda > 0.0 && lambda.is_finite()) {
        return Err(Error::parameter(format!(
            "the lambda of leverage scores is {lambda}; it must be positive and finite"
        )));
    }
    let pilot_rows = u_nd.select(Axis(0), pilot);
    let mut inner = gram(kernel, pilot_rows.view());
    let penalty = pilot.len() as f64 * lambda;
    entries::add_to_diagonal(&mut inner, penalty);
    let mut inner = Lower::from_matrix(&inner);
    if !inner.factor() {
        return Err(Error::numerical(format!(
            "leverage scores at lambda = {lambda:e} are lost to rounding; use a larger lambda (10 \
             times)"
        )));
    }
    let mut half = cross(kernel, pilot_rows.view(), u_nd.view());
    inner.solve(&mut half);
    let explained = half.mapv(entries::square).sum_axis(Axis(0));
    let scale = 1.0 / (u_nd.nrows() as f64 * lambda);
    let left = diagonal(kernel, u_nd.view()).into_iter().zip(&explained);
    Ok(left
        .map(|(k, e)| (scale * (k - e)).clamp(0.0, 1.0))
        .collect())
}

fn pivoted_cholesky(
    kernel: &dyn Kernel,
    u_nd: ArrayView2<'_, f64>,
    m: usize,
    draws: &mut Draws,
) -> Result<Vec<usize>> {
    let rows = slices(&u_nd);
    let n = rows.len();
    let mut left = diagonal(kernel, u_nd);
    // Rounding leaves about this much of a diagonal that is used up.
    let nothing = f64::EPSILON * n as f64 * left.iter().copied().fold(0.0, f64::max);
    // Row i: the factor's entries so far.
    let mut factor = vec![0.0; n * m];
    let mut chosen = Vec::with_capacity(m);
    for step in 0..m {
        let total: f64 = left.iter().sum();
        if !total.is_finite() {
            return Err(not_finite("a candidate row"));
        }
        if total <= n as f64 * nothing {
            break;
        }
        let mut at = draws.uniform() * total;
        let pivot = left.iter().position(|l| {
            at -= l;
            at < 0.0
        });
        let last = || {
            left.iter()
                .rposition(|&l| l > 0.0)
                .expect("the total is positive")
        };
        let pivot = pivot.unwrap_or_else(last);
        let of_pivot = factor[pivot * m..][..step].to_vec();
        let scale = 1.0 / left[pivot].sqrt();
        let pivot_row = as_slice(&rows[pivot]);
        factor
            .par_chunks_mut(m)
            .zip(&mut left)
            .zip(&rows)
            .for_each(|((factor, left), row)| {
                let known: f64 = factor.iter().zip(&of_pivot).map(|(a, b)| a * b).sum();
                let entry = scale * (kernel.evaluate(as_slice(row), pivot_row) - known);
                factor[step] = entry;
                *left = (*left - entry * entry).max(0.0);
                if *left < nothing {
                    *left = 0.0;
                }
            });
        left[pivot] = 0.0;
        chosen.push(pivot);
    }
    Ok(chosen)
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn k_means(u_nd: &Array2<f64>, m: usize, draws: &mut Draws) -> Array2<f64> {
    let view = u_nd.view();
    let rows = slices(&view);
    let (n, d) = u_nd.dim();
    // k-means++: each further start with probability by the squared distance to the nearest so far.
    let mut starts = vec![draws.below(n as u64) as usize];
    let mut nearest = vec![f64::INFINITY; n];
    while starts.len() < m {
        let latest = as_slice(&rows[starts[starts.len() - 1]]);
        parallel::usual().chunks(&mut nearest, 1, &|i, near| {
            near[0] = near[0].min(squared_distance(as_slice(&rows[i]), latest));
        });
        let mut at = draws.uniform() * nearest.iter().sum::<f64>();
        let next = nearest.iter().position(|near| {
            at -= near;
            at < 0.0
        });
        // Fewer different rows than centres: equal centres, which the eigendecomposition merges.
        starts.push(next.unwrap_or(starts.len() % n));
    }
    let mut centres = u_nd.select(Axis(0), &starts);
    let mut owner = vec![usize::MAX; n];
    for _ in 0..LLOYD_STEPS {
        let view = centres.view();
        let places = slices(&view);
        let owners = parallel::usual().map(n, &|i| {
            let row = as_slice(&rows[i]);
            let distance = |c: usize| squared_distance(row, as_slice(&places[c]));
            let first = (0, distance(0));
            let best = (1..m).fold(first, |best, c| {
                let next = distance(c);
                if next < best.1 { (c, next) } else { best }
            });
            best.0
        });
        if owners == owner {
            break;
        }
        owner = owners;
        let mut sums = Array2::<f64>::zeros((m, d));
        let mut counts = vec![0_u32; m];
        for (row, &c) in rows.iter().zip(&owner) {
            sums.row_mut(c).scaled_add(1.0, row);
            counts[c] += 1;
        }
        for ((mut centre, sum), &count) in
            centres.rows_mut().into_iter().zip(sums.rows()).zip(&counts)
        {
            // A centre that lost all its rows stays where it is.
            if count > 0 {
                centre.assign(&(&sum / f64::from(count)));
            }
        }
    }
    centres
}
