//! Standard errors of the functions of an additive model.

use super::parts::{Part, Piece};
use crate::{
    Result, Run,
    data::Rows,
    features::{Branch, Destination, Featurizer, Leaf, Structure, UNSEEN},
    linalg::{
        cholesky::Lower,
        entries,
        products::{lower_outer, product},
    },
    model::{LinearModel, Targets, linear::RIDGE},
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::ops::Range;

/// Maximum number of features for sums of products; with more, kernel values of rows are used.
const FEATURES: usize = 2048;
/// Maximum number of feature values in these sums.
const VALUES: usize = 1 << 23;
/// Maximum number of rows for kernel values.
const ROWS: usize = 1500;

/// Covariance of the coefficients divided by the variance of the noise, `C = (Z'Z + n lambda I)^-1`
/// for centred features: for the function of one part, `var f_p(x) / noise = v'C v` with `v =
/// z_p(x) - mean z_p` and zeros for all other parts.
///
/// It is the posterior of a Gaussian process with this kernel, whose intervals have the nominal
/// coverage on average over x (Wahba 1983, "Bayesian confidence intervals for the cross-validated
/// smoothing spline"; Nychka 1988).
pub(super) struct Covariance<'m> {
    way: Way<'m>,
    /// `N = tr (Z'Z C)`, for estimating the noise from residuals.
    dimension: f64,
}

enum Way<'m> {
    /// The root of a Gaussian process, and the mean of the features.
    Root(&'m Array2<f64>, Array1<f64>),
    /// `L L' = Z'Z + m lambda I` for a sample of m of the n training rows, whose sums are scaled by
    /// `m / n`.
    Features {
        factor: Lower,
        mean_d: Array1<f64>,
        share: f64,
    },
    /// `L L' = K + m lambda I`, with K the centred kernel matrix of m rows: equivalent by `v'C v =
    /// (k(v, v) - k(v, X) (K + m lambda I)^-1 k(X, v)) / (n lambda)`.
    Rows {
        factor: Lower,
        /// Features of each part at the rows.
        parts: Vec<Vec<Features>>,
        penalty: f64,
    },
}

impl<'m> Covariance<'m> {
    /// From the features of rows `[m, d]`, if the model has a covariance: the stored one of
    /// Gaussian processes, or that of the objective for ridge regression, with these rows as a
    /// sample of the training rows.
    pub(super) fn of(
        model: &'m LinearModel,
        parts: &[Part<'m>],
        x_nd: &Array2<f64>,
        run: &Run,
    ) -> Result<Option<Self>> {
        if let (Some(spread), Targets::Real { .. }) = (&model.spread, &model.targets) {
            let (mean_d, _) = centred(features_of_all(parts, x_nd, run)?);
            let way = Way::Root(&spread.root_dd, mean_d);
            return Ok(Some(Self {
                way,
                dimension: 0.0,
            }));
        }
        let pieces = || parts.iter().flat_map(|part| &part.pieces);
        if model.learner != RIDGE || model.lambda <= 0.0 || pieces().any(is_of_landmarks) {
            return Ok(None);
        }
        let features = model.map.output_dim();
        let is_dense = pieces().all(|piece| matches!(piece.leaf, Leaf::Dense(_)));
        if is_dense && features <= FEATURES {
            let x_nd = thinned(x_nd, VALUES / features.max(1));
            return Self::of_features(model, parts, &x_nd, run);
        }
        Self::of_rows(model, parts, &thinned(x_nd, ROWS), run)
    }

    pub(super) fn of_features(
        model: &LinearModel,
        parts: &[Part<'m>],
        x_nd: &Array2<f64>,
        run: &Run,
    ) -> Result<Option<Self>> {
        let (mean_d, z_nd) = centred(features_of_all(parts, x_nd, run)?);
        let (m, penalty) = (z_nd.nrows() as f64, z_nd.nrows() as f64 * model.lambda);
        let mut gram_dd = lower_outer(&z_nd.t().as_standard_layout().into_owned());
        entries::add_to_diagonal(&mut gram_dd, penalty);
        let mut factor = Lower::take(gram_dd);
        Ok(factor.factor().then(|| Self {
            dimension: mean_d.len() as f64 - penalty * factor.inverse_norm_squared(),
            way: Way::Features {
                factor,
                mean_d,
                share: m / model.rows.max(1) as f64,
            },
        }))
    }

    pub(super) fn of_rows(
        model: &LinearModel,
        parts: &[Part<'m>],
        x_nd: &Array2<f64>,
        run: &Run,
    ) -> Result<Option<Self>> {
        let of_parts = parts.iter().map(|part| features(part, x_nd, run));
        let parts: Vec<Vec<Features>> = of_parts.collect::<Result<_>>()?;
        let m = x_nd.nrows();
        let mut k_mm = Array2::zeros((m, m));
        for of in &parts {
            k_mm += &kernel(of, of);
        }
        let mean_m = mean_of(&k_mm);
        let mean = mean_m.mean().unwrap_or(0.0);
        let mut k_mm = (k_mm - &mean_m) - mean_m.view().insert_axis(Axis(1)) + mean;
        let penalty = m as f64 * model.lambda;
        entries::add_to_diagonal(&mut k_mm, penalty);
        let mut factor = Lower::take(k_mm);
        Ok(factor.factor().then(|| Self {
            dimension: m as f64 - penalty * factor.inverse_norm_squared(),
            way: Way::Rows {
                factor,
                parts,
                penalty: model.rows.max(1) as f64 * model.lambda,
            },
        }))
    }

    /// N.
    #[cfg(test)]
    pub(super) fn dimension(&self) -> f64 {
        self.dimension
    }

    /// Noise variance of each output, from residuals `[m, k]` of rows of a fit to n rows: their
    /// mean square over `1 - (N + 1) / n`; `None` if the fit has no more rows than that.
    pub(super) fn noise(&self, residuals_mk: &Array2<f64>, rows: u64) -> Option<Array1<f64>> {
        let left = 1.0 - (self.dimension + 1.0) / rows.max(1) as f64;
        let squares_k = entries::column_squares(residuals_mk.view());
        (left > 0.0).then(|| squares_k / (residuals_mk.nrows() as f64 * left))
    }

    /// `var f_p / noise` for part `p` at rows `[g, d]`.
    pub(super) fn relative(
        &self,
        (p, part): (usize, &Part<'m>),
        x_gd: &Array2<f64>,
        run: &Run,
    ) -> Result<Array1<f64>> {
        let at = features(part, x_gd, run)?;
        Ok(match &self.way {
            Way::Root(root_dd, mean_d) => {
                let mut rooted_gd = Array2::zeros((x_gd.nrows(), root_dd.ncols()));
                for (own, v_ge) in away(part, &at, mean_d) {
                    let root_ed = root_dd.slice(s![own, ..]).as_standard_layout().into_owned();
                    rooted_gd += &product(&v_ge, &root_ed);
                }
                entries::row_squares(rooted_gd.view())
            }
            Way::Features {
                factor,
                mean_d,
                share,
            } => {
                let mut v_dg = Array2::zeros((mean_d.len(), x_gd.nrows()));
                for (own, v_ge) in away(part, &at, mean_d) {
                    v_dg.slice_mut(s![own, ..]).assign(&v_ge.t());
                }
                factor.solve(&mut v_dg);
                entries::column_squares(v_dg.view()) * *share
            }
            Way::Rows {
                factor,
                parts,
                penalty,
            } => {
                let own = &parts[p];
                let own_mean_m = mean_of(&kernel(own, own));
                let mean = own_mean_m.mean().unwrap_or(0.0);
                let k_gm = kernel(&at, own);
                let mean_g = k_gm.mean_axis(Axis(1)).unwrap_or_default();
                let self_g = of_itself(&at) - &mean_g * 2.0 + mean;
                let centred_gm = (k_gm - &mean_g.insert_axis(Axis(1))) - &own_mean_m + mean;
                let mut k_mg = centred_gm.t().as_standard_layout().into_owned();
                factor.solve(&mut k_mg);
                let left_g = self_g - entries::column_squares(k_mg.view());
                left_g.mapv(|left| left.max(0.0) / penalty)
            }
        })
    }
}

/// Whether the penalty is the kernel of landmarks instead of the L2 norm.
fn is_of_landmarks(piece: &Piece<'_>) -> bool {
    matches!(piece.leaf, Leaf::Dense(map) if matches!(map.structure(), Structure::Kernel(_)))
}

/// At most `most` rows, evenly spaced.
fn thinned(x_nd: &Array2<f64>, most: usize) -> Array2<f64> {
    let (rows, most) = (x_nd.nrows(), most.max(1));
    let taken: Vec<usize> = (0..rows.min(most))
        .map(|i| i * rows / rows.min(most))
        .collect();
    x_nd.select(Axis(0), &taken)
}

/// Features of a map at rows, times the root of its weight.
enum Features {
    /// `root z`, `[n, D]`.
    Dense(Array2<f64>),
    /// The bin in each grid, `[n, P]`, and the kernel contribution of a shared bin.
    Bins(Array2<u32>, f64),
}

/// Features of each map of a part at rows `[n, d]`.
fn features(part: &Part<'_>, x_nd: &Array2<f64>, run: &Run) -> Result<Vec<Features>> {
    let rows = Rows::F64(x_nd.clone());
    let of = |piece: &Piece<'_>| match piece.leaf {
        Leaf::Binning(bins) => {
            let shared = (piece.root * bins.value()).powi(2);
            Ok(Features::Bins(bins.indices(run.silent(), &rows)?, shared))
        }
        Leaf::Dense(map) => {
            let mut z_nd = Array2::zeros((rows.nrows(), map.output_dim()));
            let branches = vec![Branch::features(map)?];
            let mut featurizer = Featurizer::new(branches, 0, Destination::Host, run.silent())?;
            featurizer.rows(&rows, |z, range: Range<usize>| {
                let mut to_nd = z_nd.slice_mut(s![range, ..]);
                to_nd.zip_mut_with(&z[0], |to, &z| *to = piece.root * f64::from(z));
                Ok(())
            })?;
            Ok(Features::Dense(z_nd))
        }
    };
    part.pieces.iter().map(of).collect()
}

/// Dense features of all parts in their columns, `[n, D]`.
fn features_of_all(parts: &[Part<'_>], x_nd: &Array2<f64>, run: &Run) -> Result<Array2<f64>> {
    let pieces = parts.iter().flat_map(|part| &part.pieces);
    let width = pieces.map(|piece| piece.own.end).max().unwrap_or(0);
    let mut z_nd = Array2::zeros((x_nd.nrows(), width));
    for part in parts {
        for (piece, of) in part.pieces.iter().zip(features(part, x_nd, run)?) {
            if let Features::Dense(own_nd) = of {
                z_nd.slice_mut(s![.., piece.own.clone()]).assign(&own_nd);
            }
        }
    }
    Ok(z_nd)
}

/// Mean of the features, and centred features.
fn centred(z_nd: Array2<f64>) -> (Array1<f64>, Array2<f64>) {
    let mean_d = mean_of(&z_nd);
    (mean_d.clone(), z_nd - &mean_d)
}

fn mean_of(a_nm: &Array2<f64>) -> Array1<f64> {
    let none = || Array1::zeros(a_nm.ncols());
    a_nm.mean_axis(Axis(0)).unwrap_or_else(none)
}

/// Centred dense features of a part, with their columns.
fn away<'a>(
    part: &'a Part<'_>,
    at: &'a [Features],
    mean_d: &'a Array1<f64>,
) -> impl Iterator<Item = (Range<usize>, Array2<f64>)> + 'a {
    let each = part.pieces.iter().zip(at);
    each.filter_map(|(piece, of)| match of {
        Features::Dense(z_ge) => {
            let mean_e = mean_d.slice(s![piece.own.clone()]);
            Some((piece.own.clone(), z_ge - &mean_e))
        }
        Features::Bins(..) => None,
    })
}

/// `k_p` between rows, `[a, b]`.
fn kernel(of_a: &[Features], of_b: &[Features]) -> Array2<f64> {
    let each = of_a.iter().zip(of_b).map(|pair| match pair {
        (Features::Dense(a), Features::Dense(b)) => {
            product(a, &b.t().as_standard_layout().into_owned())
        }
        (Features::Bins(a, shared), Features::Bins(b, _)) => in_one_bin(a, b.view(), *shared),
        // Both come from the same map, so this does not happen.
        (Features::Dense(a), Features::Bins(b, _)) | (Features::Bins(b, _), Features::Dense(a)) => {
            Array2::zeros((a.nrows(), b.nrows()))
        }
    });
    each.reduce(|a, b| a + b)
        .unwrap_or_else(|| Array2::zeros((0, 0)))
}

/// `k_p` of rows with themselves.
fn of_itself(of: &[Features]) -> Array1<f64> {
    let each = of.iter().map(|of| match of {
        Features::Dense(z_nd) => entries::row_squares(z_nd.view()),
        Features::Bins(bins_np, shared) => {
            let seen = |row: ndarray::ArrayView1<'_, u32>| {
                row.iter().filter(|&&bin| bin != UNSEEN).count() as f64 * shared
            };
            bins_np.rows().into_iter().map(seen).collect()
        }
    });
    each.reduce(|a, b| a + b).unwrap_or_default()
}

/// Number of grids in which rows share a bin, times the contribution of one.
fn in_one_bin(a_np: &Array2<u32>, b_mp: ArrayView2<'_, u32>, shared: f64) -> Array2<f64> {
    Array2::from_shape_fn((a_np.nrows(), b_mp.nrows()), |(i, j)| {
        let both = a_np.row(i).into_iter().zip(b_mp.row(j));
        let same = both.filter(|(a, b)| a == b && **a != UNSEEN).count();
        shared * same as f64
    })
}
