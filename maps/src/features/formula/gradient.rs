//! Gradients of z(u)'beta in closed form, one for each family of maps.

use super::{Formula, PartFormula};
use crate::{
    Error, Result, error::Remedy, features::names, kernels::Kernel, ops::Nonlinearity, parallel,
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Zip, s};
use std::f64::consts::TAU;

impl Formula {
    /// Errors with [`Error::Unsupported`] where a nonlinearity or a kernel has no gradient that is
    /// known; [`Self::gradient`] is of the others.
    #[doc(hidden)]
    pub fn require_smooth(&self) -> Result<()> {
        match self {
            Self::Projected { nonlinearity, .. } => match nonlinearity {
                Nonlinearity::CosSin
                | Nonlinearity::Cos
                | Nonlinearity::Identity
                | Nonlinearity::Relu
                | Nonlinearity::ReluSquared => Ok(()),
                Nonlinearity::Step => Err(unknown("features that are steps")),
                Nonlinearity::Custom(_) => Err(unknown("features of a user's own")),
            },
            Self::Identity(_) => Ok(()),
            Self::Kernel { kernel, .. } => {
                if kernel.gradient(&[1.0], &[0.0], &mut [0.0]) {
                    Ok(())
                } else {
                    Err(unknown(&format!("the kernel {}", kernel.spec())))
                }
            }
            Self::Mixed { inner, .. } => inner.require_smooth(),
            Self::Multiplied { .. } => Err(unknown("a tensor sketch")),
            Self::AdditiveChi2 { .. } => Err(unknown("additive chi-squared features")),
            Self::Union(parts) => parts.iter().try_for_each(|p| p.formula.require_smooth()),
        }
    }

    /// The gradients of `z(u)'beta` by u for rows `[n, d]` and coefficients `[D, t]`: for each
    /// output one row each, `[n, d]`.
    ///
    /// Errors with [`Error::Shape`] when rows or coefficients do not fit the map, and as
    /// [`Self::require_smooth`].
    pub fn gradient(
        &self,
        u_nd: ArrayView2<'_, f64>,
        beta_dt: ArrayView2<'_, f64>,
    ) -> Result<Vec<Array2<f64>>> {
        self.check(u_nd.ncols(), beta_dt.nrows())?;
        self.require_smooth()?;
        match self {
            Self::Projected {
                w_ds,
                phase_s,
                amplitude_s,
                nonlinearity,
            } => {
                let t_ns = u_nd.dot(w_ds) + phase_s;
                // Once for all outputs: sines take longer than the rest of one.
                let slopes_ons = slopes(nonlinearity, &t_ns);
                let of = |k: usize| {
                    let beta = blocks(beta_dt.column(k), w_ds.ncols());
                    let mut slope_ns = Array2::zeros(t_ns.dim());
                    for (own_ns, beta_s) in slopes_ons.iter().zip(beta) {
                        slope_ns += &(own_ns * &(beta_s * amplitude_s));
                    }
                    slope_ns.dot(&w_ds.t())
                };
                Ok(parallel::usual().map(beta_dt.ncols(), &of))
            }
            Self::Identity(_) => {
                let of = |beta_d: ArrayView1<'_, f64>| {
                    let all = beta_d.broadcast(u_nd.dim()).expect("as many columns");
                    all.to_owned()
                };
                Ok(beta_dt.columns().into_iter().map(of).collect())
            }
            Self::Kernel {
                kernel,
                landmarks_md,
                root_br,
                ..
            } => {
                let m = landmarks_md.nrows();
                // A column of ones beside the landmarks has no gradient.
                let alpha_mt = match root_br {
                    Some(root) => root.slice(s![..m, ..]).dot(&beta_dt),
                    None => beta_dt.slice(s![..m, ..]).to_owned(),
                };
                Ok(of_kernel(kernel.as_ref(), landmarks_md, &alpha_mt, u_nd))
            }
            Self::Mixed { root_de, inner } => {
                let all = inner.gradient(u_nd.dot(root_de).view(), beta_dt)?;
                Ok(all.iter().map(|g| g.dot(&root_de.t())).collect())
            }
            // `require_smooth` refuses them.
            Self::Multiplied { .. } | Self::AdditiveChi2 { .. } => Ok(Vec::new()),
            Self::Union(parts) => of_union(parts, u_nd, beta_dt),
        }
    }

    /// `sum_i sum_t grad f_t(u_i) grad f_t(u_i)'`, `[d, d]`, of the rows whose `Z'Z` is `gram_dd`
    /// (its lower triangle) and f = z'beta; `None` for maps whose gradients lie outside of the span
    /// of their features.
    ///
    /// The paired form is closed under derivatives: with coefficients a of the cosines and b of the
    /// sines, `grad f = 2 pi sum_k w_k (b_k c_k - a_k s_k)`. So the sum is `(2 pi)^2 W S W'` with
    /// `S = BB' o C'C + AA' o S'S - BA' o C'S - AB' o S'C`, and every product of features is an
    /// entry of Z'Z: no row is read again.
    #[doc(hidden)]
    pub fn outer_product_of_sums(
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
    #[doc(hidden)]
    pub fn is_in_span(&self) -> bool {
        match self {
            Self::Projected { nonlinearity, .. } => *nonlinearity == Nonlinearity::CosSin,
            Self::Mixed { inner, .. } => inner.is_in_span(),
            _ => false,
        }
    }
}

/// The gradients of parts side by side, as [`Formula::gradient`] gives them.
fn of_union(
    parts: &[PartFormula],
    u_nd: ArrayView2<'_, f64>,
    beta_dt: ArrayView2<'_, f64>,
) -> Result<Vec<Array2<f64>>> {
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
        let of_part = part.formula.gradient(u.view(), own)?;
        for (sum, one) in sums.iter_mut().zip(of_part) {
            *sum += &(one * &scale * part.root);
        }
    }
    Ok(sums)
}

/// The slope of each feature of a frequency by its projection t, at the projections `[n, s]`: as
/// many arrays of their shape as a frequency has features.
fn slopes(nonlinearity: &Nonlinearity, t_ns: &Array2<f64>) -> Vec<Array2<f64>> {
    let of = |slope: &dyn Fn(f64) -> f64| t_ns.mapv(slope);
    match nonlinearity {
        Nonlinearity::CosSin => {
            let (mut of_cos_ns, mut of_sin_ns) = (t_ns.clone(), t_ns.clone());
            Zip::from(&mut of_cos_ns)
                .and(&mut of_sin_ns)
                .for_each(|of_cos, of_sin| {
                    let (sin, cos) = turn(*of_cos);
                    (*of_cos, *of_sin) = (-TAU * sin, TAU * cos);
                });
            vec![of_cos_ns, of_sin_ns]
        }
        Nonlinearity::Cos => vec![of(&|t| -TAU * turn(t).0)],
        Nonlinearity::Identity => vec![of(&|_| 1.0)],
        Nonlinearity::Relu => vec![of(&|t| f64::from(u8::from(t > 0.0)))],
        Nonlinearity::ReluSquared => vec![of(&|t| 2.0 * t.max(0.0))],
        // `require_smooth` refuses them.
        Nonlinearity::Step | Nonlinearity::Custom(_) => Vec::new(),
    }
}

/// Coefficients of the first features of all frequencies, of the second ones, `[s]` each.
fn blocks(beta_d: ArrayView1<'_, f64>, s: usize) -> impl Iterator<Item = Array1<f64>> {
    (0..beta_d.len() / s.max(1)).map(move |o| beta_d.slice(s![o * s..(o + 1) * s]).to_owned())
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
    let rows: Vec<Vec<f64>> = u_nd.rows().into_iter().map(|row| row.to_vec()).collect();
    let landmarks: Vec<Vec<f64>> = landmarks_md
        .rows()
        .into_iter()
        .map(|r| r.to_vec())
        .collect();
    let one = |i: usize| {
        // What a row of every output sums up to, side by side.
        let (mut sums, mut part) = (vec![0.0; outputs * d], vec![0.0; d]);
        for (l, alpha) in landmarks.iter().zip(alpha_mt.rows()) {
            kernel.gradient(&rows[i], l, &mut part);
            for (sum, &alpha) in sums.chunks_mut(d).zip(alpha) {
                sum.iter_mut().zip(&part).for_each(|(s, p)| *s += alpha * p);
            }
        }
        sums
    };
    let rows: Vec<Vec<f64>> = parallel::usual().map(rows.len(), &one);
    let of = |k: usize| Array2::from_shape_fn((rows.len(), d), |(i, j)| rows[i][k * d + j]);
    (0..outputs).map(of).collect()
}

fn unknown(of: &str) -> Error {
    Error::unsupported(format!("no gradient of {of} is known")).help(Remedy::UseMap(names::FOURIER))
}
