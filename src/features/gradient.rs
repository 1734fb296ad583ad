//! Gradients of z(u)'beta in closed form, one for each family of maps.

use super::fourier;
use crate::{
    Error, Result,
    error::Remedy,
    kernels::Kernel,
    ops::{Nonlinearity, projection::DenseMap, structured::StructuredMap},
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;
use std::{f64::consts::TAU, sync::Arc};

/// How the features of a map depend on its prepared row u, as far as gradients need to know.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, Fourier}, kernels::Gaussian};
/// let map = Fourier::new(Gaussian).features(2).build(Affine::identity(1))?;
/// let gradient = map.gradient()?;
/// // z = [cos 2 pi w u, sin 2 pi w u], and beta takes the sine.
/// let (u_nd, beta_dt) = (ndarray::array![[0.0]], ndarray::array![[0.0], [1.0]]);
/// let w = f64::from(map.parameters().w_ds[[0, 0]]);
/// let slope = gradient.of(u_nd.view(), beta_dt.view())?[0][[0, 0]];
/// assert!((slope - std::f64::consts::TAU * w).abs() < 1e-6 * slope.abs());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Gradient {
    /// `z = amplitude f(u W + phase)`: dense and structured maps.
    Projected {
        /// `[d, s]`.
        w_ds: Array2<f64>,
        /// `[s]`; in turns for cosines.
        phase_s: Array1<f64>,
        /// `[s]`.
        amplitude_s: Array1<f64>,
        /// f, one with a derivative.
        nonlinearity: Nonlinearity,
    },
    /// `z = root' k_m(u)`: kernels with landmarks.
    Kernel {
        /// The kernel, one with a [gradient](Kernel::gradient).
        kernel: Arc<dyn Kernel>,
        /// At unit scale, `[m, d]`.
        landmarks_md: Array2<f64>,
        /// `[m, D]`; the landmarks' kernel values themselves without it.
        root_mr: Option<Array2<f64>>,
    },
    /// `z(R'u)` of a map of other columns.
    Mixed {
        /// R, `[d, columns of the map]`.
        root_de: Array2<f64>,
        /// The map's own.
        inner: Box<Self>,
    },
    /// Maps side by side.
    Union(Vec<PartGradient>),
}

/// One of several maps side by side.
#[derive(Debug, Clone)]
pub struct PartGradient {
    /// Features of the part.
    pub columns: usize,
    /// What multiplies its features.
    pub root: f64,
    /// Scale and shift from the common row to that of the part, one for each column.
    pub rescale: Option<Vec<[f32; 2]>>,
    /// Its own.
    pub gradient: Gradient,
}

impl Gradient {
    /// Of a dense map. Errors with [`Error::Unsupported`] where its nonlinearity has no derivative
    /// that is known.
    pub(super) fn dense(map: &DenseMap, name: &str) -> Result<Self> {
        let of = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect();
        Self::projected(
            map.w_ds.mapv(f64::from),
            (of(&map.phase_s), of(&map.amplitude_s)),
            map.nonlinearity.clone(),
            name,
        )
    }

    /// Of a structured map, whose frequencies are written out for it.
    pub(super) fn structured(map: &StructuredMap, name: &str) -> Result<Self> {
        Self::projected(
            map.materialize(),
            (
                map.phase_s.iter().map(|&v| f64::from(v)).collect(),
                Array1::from_elem(map.freqs(), f64::from(map.amplitude)),
            ),
            map.nonlinearity.clone(),
            name,
        )
    }

    fn projected(
        w_ds: Array2<f64>,
        (phase_s, amplitude_s): (Array1<f64>, Array1<f64>),
        nonlinearity: Nonlinearity,
        name: &str,
    ) -> Result<Self> {
        match nonlinearity {
            Nonlinearity::CosSin
            | Nonlinearity::Cos
            | Nonlinearity::Identity
            | Nonlinearity::Relu
            | Nonlinearity::ReluSquared => Ok(Self::Projected {
                w_ds,
                phase_s,
                amplitude_s,
                nonlinearity,
            }),
            Nonlinearity::Step | Nonlinearity::Custom(_) => Err(unknown(name)),
        }
    }

    /// Of a kernel with landmarks, whose columns a root whitens. Errors with
    /// [`Error::Unsupported`] where the kernel has no gradient that is known.
    pub(super) fn kernel(
        kernel: &Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
        root_mr: Option<ArrayView2<'_, f32>>,
    ) -> Result<Self> {
        let mut none = [0.0];
        if !kernel.gradient(&[1.0], &[0.0], &mut none) {
            let problem = format!("no gradient of the kernel {} is known", kernel.spec());
            return Err(Error::unsupported(problem).help(Remedy::UseMap(fourier::NAME)));
        }
        Ok(Self::Kernel {
            kernel: kernel.clone(),
            landmarks_md: landmarks_md.mapv(f64::from),
            root_mr: root_mr.map(|root| root.mapv(f64::from)),
        })
    }

    /// The gradients of `z(u)'beta` by u for rows `[n, d]` and coefficients `[D, t]`: for each
    /// output one row each, `[n, d]`.
    ///
    /// Errors with [`Error::Shape`] when rows or coefficients do not fit the map.
    pub fn of(
        &self,
        u_nd: ArrayView2<'_, f64>,
        beta_dt: ArrayView2<'_, f64>,
    ) -> Result<Vec<Array2<f64>>> {
        self.check(u_nd.ncols(), beta_dt.nrows())?;
        match self {
            Self::Projected {
                w_ds,
                phase_s,
                amplitude_s,
                nonlinearity,
            } => {
                let t_ns = u_nd.dot(w_ds) + phase_s;
                let of = |k: usize| {
                    let slope_ns = slopes(nonlinearity, &t_ns, beta_dt.column(k).to_vec());
                    (slope_ns * amplitude_s).dot(&w_ds.t())
                };
                Ok((0..beta_dt.ncols()).into_par_iter().map(of).collect())
            }
            Self::Kernel {
                kernel,
                landmarks_md,
                root_mr,
            } => {
                let m = landmarks_md.nrows();
                // A column of ones beside the landmarks has no gradient.
                let alpha_mt = match root_mr {
                    Some(root) => root.dot(&beta_dt),
                    None => beta_dt.slice(s![..m, ..]).to_owned(),
                };
                Ok(of_kernel(kernel.as_ref(), landmarks_md, &alpha_mt, u_nd))
            }
            Self::Mixed { root_de, inner } => {
                let all = inner.of(u_nd.dot(root_de).view(), beta_dt)?;
                Ok(all.iter().map(|g| g.dot(&root_de.t())).collect())
            }
            Self::Union(parts) => {
                let mut sums = vec![Array2::zeros(u_nd.dim()); beta_dt.ncols()];
                let mut at = 0;
                for part in parts {
                    let own = beta_dt.slice(s![at..at + part.columns, ..]);
                    at += part.columns;
                    let mut u = u_nd.to_owned();
                    let scale: Array1<f64> = match &part.rescale {
                        None => Array1::ones(u.ncols()),
                        Some(rescale) => rescale.iter().map(|r| f64::from(r[0])).collect(),
                    };
                    u *= &scale;
                    if let Some(rescale) = &part.rescale {
                        let shift: Array1<f64> = rescale.iter().map(|r| f64::from(r[1])).collect();
                        u += &shift;
                    }
                    let of_part = part.gradient.of(u.view(), own)?;
                    for (sum, one) in sums.iter_mut().zip(of_part) {
                        *sum += &(one * &scale * part.root);
                    }
                }
                Ok(sums)
            }
        }
    }

    /// The columns of a row.
    fn columns(&self) -> Option<usize> {
        match self {
            Self::Projected { w_ds, .. } => Some(w_ds.nrows()),
            Self::Kernel { landmarks_md, .. } => Some(landmarks_md.ncols()),
            Self::Mixed { root_de, .. } => Some(root_de.nrows()),
            Self::Union(parts) => parts.iter().find_map(|part| part.gradient.columns()),
        }
    }

    /// Whether there may be so many features.
    fn fits(&self, features: usize) -> bool {
        match self {
            Self::Projected {
                w_ds, nonlinearity, ..
            } => w_ds.ncols() * nonlinearity.outputs() == features,
            Self::Kernel {
                root_mr: Some(root),
                ..
            } => root.ncols() == features,
            Self::Kernel { landmarks_md, .. } => {
                (landmarks_md.nrows()..=landmarks_md.nrows() + 1).contains(&features)
            }
            Self::Mixed { inner, .. } => inner.fits(features),
            Self::Union(parts) => parts.iter().map(|p| p.columns).sum::<usize>() == features,
        }
    }

    fn check(&self, columns: usize, features: usize) -> Result<()> {
        if self.columns().is_none_or(|own| own == columns) && self.fits(features) {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows of {columns} columns and {features} coefficients do not fit the map"
        )))
    }

    /// `sum_i sum_t grad f_t(u_i) grad f_t(u_i)'`, `[d, d]`, of the rows whose `Z'Z` is `gram_dd`
    /// (its lower triangle) and f = z'beta; `None` for maps whose gradients lie outside of the span
    /// of their features.
    ///
    /// The paired form is closed under derivatives: with coefficients a of the cosines and b of the
    /// sines, `grad f = 2 pi sum_k w_k (b_k c_k - a_k s_k)`. So the sum is `(2 pi)^2 W S W'` with
    /// `S = BB' o C'C + AA' o S'S - BA' o C'S - AB' o S'C`, and every product of features is an
    /// entry of Z'Z: no row is read again.
    pub(crate) fn outer_product_of_sums(
        &self,
        gram_dd: &Array2<f64>,
        beta_dt: ArrayView2<'_, f64>,
    ) -> Option<Array2<f64>> {
        match self {
            Self::Projected {
                w_ds,
                nonlinearity: Nonlinearity::CosSin,
                ..
            } => {
                let s = w_ds.ncols();
                let (a, b) = beta_dt.split_at(Axis(0), s);
                let lower = |at: usize| {
                    let block = gram_dd.slice(s![at..at + s, at..at + s]);
                    Array2::from_shape_fn((s, s), |(i, j)| block[[i.max(j), i.min(j)]])
                };
                // Sines by cosines.
                let sc = gram_dd.slice(s![s.., ..s]);
                let mixed = a.dot(&b.t()) * sc;
                let inner_ss =
                    lower(0) * b.dot(&b.t()) + lower(s) * a.dot(&a.t()) - &mixed - mixed.t();
                Some(w_ds.dot(&inner_ss).dot(&w_ds.t()) * (TAU * TAU))
            }
            Self::Mixed { root_de, inner } => {
                let inner = inner.outer_product_of_sums(gram_dd, beta_dt)?;
                Some(root_de.dot(&inner).dot(&root_de.t()))
            }
            _ => None,
        }
    }

    /// Whether [`Self::outer_product_of_sums`] serves.
    pub(crate) fn is_in_span(&self) -> bool {
        match self {
            Self::Projected { nonlinearity, .. } => *nonlinearity == Nonlinearity::CosSin,
            Self::Mixed { inner, .. } => inner.is_in_span(),
            _ => false,
        }
    }
}

/// `sum beta f'(t)` over the features of each frequency, `[n, s]`, at the projections t.
fn slopes(nonlinearity: &Nonlinearity, t_ns: &Array2<f64>, beta: Vec<f64>) -> Array2<f64> {
    let s = t_ns.ncols();
    let mut out = t_ns.clone();
    for mut row in out.rows_mut() {
        for (k, t) in row.iter_mut().enumerate() {
            *t = match nonlinearity {
                Nonlinearity::CosSin => {
                    let (sin, cos) = turn(*t);
                    TAU * (beta[s + k] * cos - beta[k] * sin)
                }
                Nonlinearity::Cos => -TAU * beta[k] * turn(*t).0,
                Nonlinearity::Identity => beta[k],
                Nonlinearity::Relu => beta[k] * f64::from(u8::from(*t > 0.0)),
                Nonlinearity::ReluSquared => beta[k] * 2.0 * t.max(0.0),
                // Refused when the gradient was made.
                Nonlinearity::Step | Nonlinearity::Custom(_) => 0.0,
            };
        }
    }
    out
}

/// Sine and cosine of an angle in turns.
fn turn(t: f64) -> (f64, f64) {
    let angle = TAU * (t - t.round());
    (libm::sin(angle), libm::cos(angle))
}

/// `sum_m alpha_m grad k(u, l_m)` of each row, for each output.
fn of_kernel(
    kernel: &dyn Kernel,
    landmarks_md: &Array2<f64>,
    alpha_mt: &Array2<f64>,
    u_nd: ArrayView2<'_, f64>,
) -> Vec<Array2<f64>> {
    let (d, outputs) = (u_nd.ncols(), alpha_mt.ncols());
    let landmarks: Vec<Vec<f64>> = landmarks_md
        .rows()
        .into_iter()
        .map(|r| r.to_vec())
        .collect();
    let one = |u: Vec<f64>| {
        // What a row of every output sums up to, side by side.
        let (mut sums, mut part) = (vec![0.0; outputs * d], vec![0.0; d]);
        for (l, alpha) in landmarks.iter().zip(alpha_mt.rows()) {
            kernel.gradient(&u, l, &mut part);
            for (sum, &alpha) in sums.chunks_mut(d).zip(alpha) {
                sum.iter_mut().zip(&part).for_each(|(s, p)| *s += alpha * p);
            }
        }
        sums
    };
    let rows: Vec<Vec<f64>> = u_nd.rows().into_iter().map(|row| row.to_vec()).collect();
    let rows: Vec<Vec<f64>> = rows.into_par_iter().map(one).collect();
    let of = |k: usize| Array2::from_shape_fn((rows.len(), d), |(i, j)| rows[i][k * d + j]);
    (0..outputs).map(of).collect()
}

/// No gradient is known of a map.
pub(super) fn unknown(name: &str) -> Error {
    Error::unsupported(format!("no gradient of a {name} map is known"))
        .help(Remedy::UseMap(fourier::NAME))
}
