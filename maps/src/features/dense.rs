//! Dense maps: one matrix of frequencies, then a nonlinearity. Fourier and arc-cosine maps and
//! those of a user's own nonlinearity build one of these.

use super::{Affine, FeatureMap, Formula, LoadedMap, SparseInput, names, registered};
use crate::{
    Device, Error, Matrix, Result,
    ops::{
        Nonlinearity,
        predict::Predict,
        projection::{DenseMap, Projection},
    },
    sampling::round_to_11_bits,
    store::Store,
    text::counted,
};
use ndarray::Array2;

/// A dense map with its parameters drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseFeatures {
    pub(super) name: &'static str,
    /// Kernel and sampling, for people.
    pub(super) origin: String,
    pub(super) input: Affine,
    pub(super) dense: DenseMap,
}

impl DenseFeatures {
    /// Frequencies, phases and amplitudes.
    pub fn parameters(&self) -> &DenseMap {
        &self.dense
    }

    /// The same features of rows that are multiplied by `factor`.
    #[doc(hidden)]
    #[doc(hidden)]
    pub fn rescaled(&self, factor: f64) -> Self {
        Self {
            input: self.input.clone().times(factor),
            ..self.clone()
        }
    }

    /// The same frequencies for lengthscales that are longer by these factors, one for all columns
    /// or one for each: `z(x; l)` takes `x / l`, so that only the scale of the input changes.
    ///
    /// ```
    /// use bochner::{features::{Affine, FeatureMap, Fourier}, kernels::Gaussian};
    /// let map = Fourier::new(Gaussian).features(8).build(Affine::identity(2))?;
    /// let longer = map.stretched(&[2.0, 3.0])?;
    /// assert_eq!(longer.parameters(), map.parameters());
    /// assert_ne!(longer.input(), map.input());
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors with [`Error::Shape`] on another number of factors, and with [`Error::Parameter`]
    /// unless they are positive and finite.
    #[doc(hidden)]
    pub fn stretched(&self, factors: &[f64]) -> Result<Self> {
        Ok(Self {
            input: self.input.clone().lengthscales(factors)?,
            ..self.clone()
        })
    }

    pub(super) fn read(store: &Store, name: &'static str) -> Result<Self> {
        let nonlinearity = read_nonlinearity(store)?;
        let w_ds = store.f32("frequencies")?;
        let input = Affine::read(store)?;
        let vector = |name: &str| -> Result<Vec<f32>> {
            let array = store.f32(name)?;
            if array.dim() == (1, w_ds.ncols()) {
                Ok(array.into_raw_vec_and_offset().0)
            } else {
                Err(Error::shape(format!(
                    "{name:?} does not fit {} frequencies",
                    w_ds.ncols()
                )))
            }
        };
        if input.columns() != w_ds.nrows() {
            return Err(Error::shape(format!(
                "frequencies are for {} columns, scales for {}",
                w_ds.nrows(),
                input.columns()
            )));
        }
        let dense = DenseMap {
            phase_s: vector("phases")?,
            amplitude_s: vector("amplitudes")?,
            w_ds,
            nonlinearity,
        };
        Ok(Self {
            name,
            origin: store.text("origin")?.to_owned(),
            input,
            dense,
        })
    }
}

impl FeatureMap for DenseFeatures {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> String {
        format!(
            "{} features of {}, {} to {}",
            self.name,
            self.origin,
            counted(self.input_dim(), "column"),
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.dense.outputs()
    }

    fn fourier(&self) -> Option<&DenseFeatures> {
        (self.name == names::FOURIER).then_some(self)
    }

    fn formula(&self) -> Result<Formula> {
        Ok(Formula::dense(&self.dense))
    }

    /// `W'(R'u) = (R W)'u`. A scale that all columns share stays with the input, so that
    /// frequencies stay at unit scale.
    fn after(&self, input: &Affine, root_de: &Array2<f64>) -> Option<Box<dyn FeatureMap>> {
        if self.input.is_logarithm() {
            return None;
        }
        let scale = self.input.scale();
        let common = if scale.iter().all(|s| *s == scale[0]) {
            scale[0]
        } else {
            1.0
        };
        let mut w_es = self.dense.w_ds.mapv(f64::from);
        for (mut row, scale) in w_es.rows_mut().into_iter().zip(scale) {
            row *= scale / common;
        }
        Some(Box::new(Self {
            name: self.name,
            origin: format!("{}, mixed by a metric", self.origin),
            input: input.clone().times(common),
            dense: DenseMap {
                w_ds: root_de.dot(&w_es).mapv(round_to_11_bits),
                ..self.dense.clone()
            },
        }))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(Projection::load(device, &self.dense)?))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        let row = |v: &[f32]| ndarray::Array2::from_shape_fn((1, v.len()), |(_, j)| v[j]);
        store.set("map", self.name);
        store.set("origin", &self.origin);
        match &self.dense.nonlinearity {
            Nonlinearity::Custom(own) => registered::write(own, store)?,
            known => store.set("nonlinearity", known.code()),
        }
        store.put_f32("frequencies", self.dense.w_ds.view());
        store.put_f32("phases", row(&self.dense.phase_s).view());
        store.put_f32("amplitudes", row(&self.dense.amplitude_s).view());
        self.input.write(store);
        Ok(())
    }
}

/// One of the library's own by its number, or a registered one by its name.
fn read_nonlinearity(store: &Store) -> Result<Nonlinearity> {
    if store.text("nonlinearity")? == names::CUSTOM {
        return registered::read(store);
    }
    let code: usize = store.get("nonlinearity")?;
    let known = Nonlinearity::ALL.into_iter().nth(code);
    known.ok_or_else(|| Error::format(format!("nonlinearity {code} is not known")))
}

impl LoadedMap for Projection {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.run(x_nd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        Predict::new(self).run(x_nd, beta_dt, y_nt)
    }

    fn featurize_to(&mut self, x_nd: &Matrix, z_nd: &mut [f32], past_caches: bool) -> Result<bool> {
        self.run_to(x_nd, z_nd, past_caches)
    }

    fn featurize_sparse(&mut self, x: &SparseInput, z_nd: &mut [f32]) -> Result<bool> {
        self.run_sparse(&x.base_d, x.entries(), z_nd)
    }
}
