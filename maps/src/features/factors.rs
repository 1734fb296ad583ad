//! Features that are products of p complex linear forms: the forms side by side as one dense map,
//! then their products, frequency by frequency. Sketches of polynomial kernels come so.
//!
//! Features lie as [`complex_product`] has them: the real parts of frequencies `0 ..= D/2`, then
//! the imaginary parts of those between 0 and D/2. Frequency 0, and D/2 of an even D, are real.

use super::{Formula, LoadedMap, SparseInput};
use crate::{
    Device, Matrix, Result,
    ops::{
        Nonlinearity,
        complex_product::{complex_product, complex_product_to, real_parts},
        product::product,
        projection::{DenseMap, Projection},
    },
};
use ndarray::Array2;

/// Which part of a complex number a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Real,
    Imaginary,
}

/// Whether a frequency of D is real.
pub(super) fn is_real(f: usize, features: usize) -> bool {
    f == 0 || 2 * f == features
}

/// `degree` linear forms of d columns for each of D features side by side, `[d, degree D]`.
/// `entry(k, j, f, part)` is what form k has of column j at frequency f; column d is the constant,
/// whose value is `root`, and is asked for where that is not 0.
///
/// By Parseval's identity a frequency with an imaginary part counts twice, for its conjugate as
/// well: amplitudes are `sqrt(2 / D)`, and `sqrt(1 / D)` of real ones. The first form takes them.
pub(super) fn side_by_side(
    (d, degree, features): (usize, usize, usize),
    root: f64,
    entry: impl Fn(usize, usize, usize, Part) -> f64,
) -> DenseMap {
    let real = real_parts(features);
    let of = |feature: usize| {
        if feature < real {
            (feature, Part::Real)
        } else {
            (feature - real + 1, Part::Imaginary)
        }
    };
    let mut w_ds = Array2::zeros((d, degree * features));
    let mut phase_s = vec![0.0; degree * features];
    for k in 0..degree {
        for feature in 0..features {
            let (f, part) = of(feature);
            let at = k * features + feature;
            for j in 0..d {
                w_ds[[j, at]] = entry(k, j, f, part) as f32;
            }
            if root != 0.0 {
                phase_s[at] = (root * entry(k, d, f, part)) as f32;
            }
        }
    }
    let amplitude = |feature: usize| {
        let weight = if is_real(of(feature).0, features) {
            1.0
        } else {
            2.0
        };
        (weight / features as f64).sqrt() as f32
    };
    let first = (0..features).map(amplitude);
    let others = (features..degree * features).map(|_| 1.0);
    DenseMap {
        w_ds,
        phase_s,
        amplitude_s: first.chain(others).collect(),
        nonlinearity: Nonlinearity::Identity,
    }
}

/// The product of the forms that [`side_by_side`] lays out.
pub(super) fn formula(forms: &DenseMap, degree: usize) -> Formula {
    Formula::Multiplied {
        factors: degree,
        inner: Box::new(Formula::dense(forms)),
    }
}

/// The forms and their product on a device.
pub(super) fn load(
    device: &Device,
    forms: &DenseMap,
    factors: usize,
) -> Result<Box<dyn LoadedMap>> {
    Ok(Box::new(Loaded {
        device: device.clone(),
        forms: Projection::load(device, forms)?,
        factors,
        t_nf: None,
        z_nd: None,
        sparse: Vec::new(),
    }))
}

#[derive(Debug)]
struct Loaded {
    device: Device,
    forms: Projection,
    factors: usize,
    /// The factors of a chunk.
    t_nf: Option<Matrix>,
    /// Features of a chunk, for predictions.
    z_nd: Option<Matrix>,
    /// The factors of sparse rows.
    sparse: Vec<f32>,
}

impl Loaded {
    fn outputs(&self) -> usize {
        self.forms.outputs() / self.factors
    }

    /// The factors of some rows.
    fn factors(&mut self, x_nd: &Matrix) -> Result<&Matrix> {
        let t_nf = super::scratch(&mut self.t_nf, x_nd, self.forms.outputs())?;
        self.forms.run(x_nd, t_nf)?;
        Ok(t_nf)
    }
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        let factors = self.factors;
        complex_product(self.factors(x_nd)?, factors, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let mut kept = self.z_nd.take();
        let z_nd = super::scratch(&mut kept, x_nd, self.outputs())?;
        self.featurize(x_nd, z_nd)?;
        product(z_nd, beta_dt, y_nt)?;
        self.z_nd = kept;
        Ok(())
    }

    fn featurize_to(&mut self, x_nd: &Matrix, z_nd: &mut [f32], _: bool) -> Result<bool> {
        if self.device.is_gpu() {
            return Ok(false);
        }
        let (shape, device) = ((self.factors, self.outputs()), self.device.clone());
        let t_nf = self.factors(x_nd)?.cpu("the factors")?;
        complex_product_to(&device, t_nf, shape, z_nd)?;
        Ok(true)
    }

    fn featurize_sparse(&mut self, x: &SparseInput, z_nd: &mut [f32]) -> Result<bool> {
        let shape = (self.factors, self.outputs());
        self.sparse.resize(self.factors * z_nd.len(), 0.0);
        let (base, entries) = (&x.base_d, x.entries());
        if !self.forms.run_sparse(base, entries, &mut self.sparse)? {
            return Ok(false);
        }
        complex_product_to(&self.device, &self.sparse, shape, z_nd)?;
        Ok(true)
    }
}
