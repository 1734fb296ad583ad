//! A map in one formula, z(u) of its prepared row u: what gradients and other runtimes need.

mod gradient;

use crate::{
    Error, Result,
    kernels::Kernel,
    ops::{
        Nonlinearity,
        additive_chi2::{self, Samples},
        complex_product,
        kernel_block::Level,
        projection::{self, DenseMap},
        structured::StructuredMap,
    },
};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};
use std::sync::Arc;

/// How the features of a map depend on its prepared row u.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, Fourier}, kernels::Gaussian};
/// let map = Fourier::new(Gaussian).features(2).build(Affine::identity(1))?;
/// let formula = map.formula()?;
/// // z = [cos 2 pi w u, sin 2 pi w u], and beta takes the sine.
/// let (u_nd, beta_dt) = (ndarray::array![[0.0]], ndarray::array![[0.0], [1.0]]);
/// assert_eq!(formula.features(u_nd.view())?, ndarray::array![[1.0, 0.0]]);
/// let w = f64::from(map.parameters().w_ds[[0, 0]]);
/// let slope = formula.gradient(u_nd.view(), beta_dt.view())?[0][[0, 0]];
/// assert!((slope - std::f64::consts::TAU * w).abs() < 1e-6 * slope.abs());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Formula {
    /// `z = amplitude f(u W + phase)`: dense and structured maps.
    Projected {
        /// `[d, s]`.
        w_ds: Array2<f64>,
        /// `[s]`; in turns for cosines.
        phase_s: Array1<f64>,
        /// `[s]`.
        amplitude_s: Array1<f64>,
        /// f.
        nonlinearity: Nonlinearity,
    },
    /// `z = u`, of so many columns.
    Identity(usize),
    /// `z = root' b(u)`: kernels with landmarks, b a row of the kernel block.
    Kernel {
        /// The kernel.
        kernel: Arc<dyn Kernel>,
        /// At unit scale, `[m, d]`.
        landmarks_md: Array2<f64>,
        /// What the block is measured from.
        level: Level,
        /// `[columns of the block, D]`; the block itself without it.
        root_br: Option<Array2<f64>>,
    },
    /// `z(R'u)` of a map of other columns.
    Mixed {
        /// R, `[d, columns of the map]`.
        root_de: Array2<f64>,
        /// The map's own.
        inner: Box<Self>,
    },
    /// Products of complex numbers: the factors side by side, of each the real parts, then the
    /// imaginary ones ([`complex_product`]). Tensor sketches.
    Multiplied {
        /// How many factors there are.
        factors: usize,
        /// The factors.
        inner: Box<Self>,
    },
    /// Square roots of u times cosines and sines of ln u ([`additive_chi2`]), of so many columns.
    AdditiveChi2 {
        /// The samples of the spectrum.
        samples: Samples,
        /// Columns of a row.
        columns: usize,
    },
    /// Maps side by side.
    Union(Vec<PartFormula>),
}

/// One of several maps side by side.
#[derive(Debug, Clone)]
pub struct PartFormula {
    /// Features of the part.
    pub columns: usize,
    /// What multiplies its features.
    pub root: f64,
    /// Scale and shift from the common row to that of the part, one for each column.
    pub rescale: Option<Vec<[f32; 2]>>,
    /// Its own.
    pub formula: Formula,
}

impl PartFormula {
    /// The part's prepared rows from the common ones.
    fn rescaled(&self, u_nd: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut u = u_nd.to_owned();
        for (j, [scale, shift]) in self.rescale.iter().flatten().enumerate() {
            let (scale, shift) = (f64::from(*scale), f64::from(*shift));
            u.column_mut(j).mapv_inplace(|v| v * scale + shift);
        }
        u
    }
}

impl Formula {
    /// Of a dense map.
    pub(super) fn dense(map: &DenseMap) -> Self {
        let of = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect();
        Self::Projected {
            w_ds: map.w_ds.mapv(f64::from),
            phase_s: of(&map.phase_s),
            amplitude_s: of(&map.amplitude_s),
            nonlinearity: map.nonlinearity.clone(),
        }
    }

    /// Of a structured map, whose frequencies are written out for it.
    pub(super) fn structured(map: &StructuredMap) -> Self {
        Self::Projected {
            w_ds: map.materialize(),
            phase_s: map.phase_s.iter().map(|&v| f64::from(v)).collect(),
            amplitude_s: Array1::from_elem(map.freqs(), f64::from(map.amplitude)),
            nonlinearity: map.nonlinearity.clone(),
        }
    }

    /// Of a kernel with landmarks, whose block a root whitens.
    pub(super) fn kernel(
        kernel: &Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
        level: Level,
        root_br: Option<ArrayView2<'_, f32>>,
    ) -> Self {
        Self::Kernel {
            kernel: kernel.clone(),
            landmarks_md: landmarks_md.mapv(f64::from),
            level,
            root_br: root_br.map(|root| root.mapv(f64::from)),
        }
    }

    /// z of prepared rows `[n, d]` in f64, `[n, D]`: slow, and nothing is rounded.
    ///
    /// Errors with [`Error::Shape`] when the rows do not fit the map.
    pub fn features(&self, u_nd: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let features = self.outputs();
        self.check(u_nd.ncols(), features)?;
        match self {
            Self::Projected {
                w_ds,
                phase_s,
                amplitude_s,
                nonlinearity,
            } => {
                let t_ns = u_nd.dot(w_ds) + phase_s;
                Ok(projection::applied(nonlinearity, &t_ns, amplitude_s))
            }
            Self::Identity(_) => Ok(u_nd.to_owned()),
            Self::Kernel {
                kernel,
                landmarks_md,
                level,
                root_br,
            } => {
                let (n, m) = (u_nd.nrows(), landmarks_md.nrows());
                let (u, l) = (rows_of(u_nd), rows_of(landmarks_md.view()));
                let top = match (level, l.first()) {
                    (Level::Top, Some(one)) => kernel.evaluate(one, one),
                    _ => 0.0,
                };
                let block = Array2::from_shape_fn((n, level.columns(m)), |(i, j)| {
                    if j < m {
                        kernel.evaluate(&u[i], &l[j]) - top
                    } else {
                        1.0
                    }
                });
                Ok(match root_br {
                    Some(root) => block.dot(root),
                    None => block,
                })
            }
            Self::Mixed { root_de, inner } => inner.features(u_nd.dot(root_de).view()),
            Self::Multiplied { factors, inner } => {
                let t_nf = inner.features(u_nd)?;
                Ok(complex_product::reference(t_nf.view(), *factors))
            }
            Self::AdditiveChi2 { samples, .. } => Ok(additive_chi2::reference(*samples, u_nd)),
            Self::Union(parts) => {
                let parts = parts.iter().map(|part| {
                    let own = part.formula.features(part.rescaled(u_nd).view())?;
                    Ok(own * part.root)
                });
                let parts: Vec<Array2<f64>> = parts.collect::<Result<_>>()?;
                let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
                concatenate(Axis(1), &views).map_err(|e| Error::shape(e.to_string()))
            }
        }
    }

    /// D.
    #[doc(hidden)]
    pub fn outputs(&self) -> usize {
        match self {
            Self::Projected {
                w_ds, nonlinearity, ..
            } => w_ds.ncols() * nonlinearity.outputs(),
            Self::Identity(columns) => *columns,
            Self::Kernel {
                root_br: Some(root),
                ..
            } => root.ncols(),
            Self::Kernel {
                landmarks_md,
                level,
                ..
            } => level.columns(landmarks_md.nrows()),
            Self::Mixed { inner, .. } => inner.outputs(),
            Self::Multiplied { factors, inner } => inner.outputs() / factors,
            Self::AdditiveChi2 { samples, columns } => columns * samples.outputs(),
            Self::Union(parts) => parts.iter().map(|p| p.columns).sum(),
        }
    }

    /// The columns of a row.
    fn columns(&self) -> Option<usize> {
        match self {
            Self::Projected { w_ds, .. } => Some(w_ds.nrows()),
            Self::Identity(columns) | Self::AdditiveChi2 { columns, .. } => Some(*columns),
            Self::Multiplied { inner, .. } => inner.columns(),
            Self::Kernel { landmarks_md, .. } => Some(landmarks_md.ncols()),
            Self::Mixed { root_de, .. } => Some(root_de.nrows()),
            Self::Union(parts) => parts.iter().find_map(|part| part.formula.columns()),
        }
    }

    fn check(&self, columns: usize, features: usize) -> Result<()> {
        if self.columns().is_none_or(|own| own == columns) && self.outputs() == features {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows of {columns} columns and {features} coefficients do not fit the map"
        )))
    }
}

fn rows_of(rows_nd: ArrayView2<'_, f64>) -> Vec<Vec<f64>> {
    rows_nd.rows().into_iter().map(|row| row.to_vec()).collect()
}
