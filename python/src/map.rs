//! `FeatureMap`: a feature map with drawn parameters.

mod on_device;

use crate::{
    arrays::Table,
    calls::{exception, run, without_gil},
    options::Options,
};
use bochner::{
    Error, Result,
    features::{
        self, AdditiveChi2Features, Affine, DenseFeatures, Form, Fourier, Hashes, Landmarks,
        Nystrom, SkewedChi2, Store, TensorSketch,
    },
    kernels,
    models::Usual,
    sampling::Frequencies,
    seed::Seed,
};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use on_device::{MapOnDevice, Output};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::sync::Arc;

/// Kind of a serialised map in its store.
const KIND: &str = "features";

/// A feature map with its parameters drawn.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct FeatureMap {
    map: MapOnDevice,
    /// Parameters of the map that Python reads.
    parts: Parts,
}

/// Parameters that Python reads, if the map has them.
#[derive(Default)]
struct Parts {
    /// Frequencies at unit scale, `[d, s]`, and offsets in turns, `[s]`.
    frequencies: Option<(Array2<f32>, Vec<f32>)>,
    /// Root of the kernel matrix of the landmarks, `[m, r]`.
    root: Option<Array2<f32>>,
}

impl FeatureMap {
    fn from_map(map: Arc<dyn features::FeatureMap>, parts: Parts) -> Self {
        Self {
            map: MapOnDevice::new(map),
            parts,
        }
    }

    /// Features z(x) of one row, on the CPU.
    pub(crate) fn row(&self, x_d: &[f64]) -> Result<Vec<f64>> {
        self.map.row(x_d)
    }

    /// D, the number of output columns.
    pub(crate) fn features(&self) -> usize {
        self.map.output_dim()
    }
}

/// Number of features D for a number of frequencies.
fn features_of(form: Form, frequencies: usize) -> usize {
    match form {
        Form::Phase => frequencies,
        Form::Paired => 2 * frequencies,
    }
}

#[pymethods]
impl FeatureMap {
    /// Fourier features of rows `(x - center) * scale`, with frequencies at unit scale, `[s, d]`,
    /// and phase offsets in turns.
    #[staticmethod]
    fn from_frequencies(
        kernel: &str,
        form: &str,
        omega: PyReadonlyArray2<'_, f64>,
        phases: Vec<f64>,
        center: Vec<f64>,
        scale: Vec<f64>,
    ) -> PyResult<Self> {
        let build = || -> Result<DenseFeatures> {
            let form: Form = form.parse()?;
            let frequencies = Frequencies {
                omega_sd: omega.as_array().to_owned(),
                phases: Some(phases.clone()),
                weights: None,
            };
            Fourier::new(kernels::parse(kernel)?)
                .features(features_of(form, frequencies.omega_sd.nrows()))
                .form(form)
                .frequencies(frequencies)
                .build(Affine::new(center.clone(), scale.clone())?)
        };
        let map = build().map_err(|e| exception(&e))?;
        let dense = map.parameters();
        let parts = Parts {
            frequencies: Some((dense.w_ds.clone(), dense.phase_s.clone())),
            root: None,
        };
        Ok(Self::from_map(Arc::new(map), parts))
    }

    /// Nystrom features with a symmetric root, from landmarks `[m, d]` that are not scaled yet.
    #[staticmethod]
    fn from_landmarks(
        py: Python<'_>,
        kernel: &str,
        landmarks: PyReadonlyArray2<'_, f64>,
        center: Vec<f64>,
        scale: Vec<f64>,
    ) -> PyResult<Self> {
        let landmarks = landmarks.as_array().to_owned();
        let map = without_gil(py, |_| {
            Nystrom::new(kernels::parse(kernel)?)
                .landmarks(Landmarks::Rows(landmarks.clone()))
                .symmetric(true)
                .build(Affine::new(center, scale)?, landmarks)
        })?;
        let parts = Parts {
            frequencies: None,
            root: Some(map.root().to_owned()),
        };
        Ok(Self::from_map(Arc::new(map), parts))
    }

    /// Tensor sketch of `(x'y + constant)^degree` for rows `x * scale`, with given hashes
    /// `[degree, d]` or, with a constant, `[degree, d + 1]`.
    #[staticmethod]
    fn from_hashes(
        constant: f64,
        n_components: usize,
        places: PyReadonlyArray2<'_, i64>,
        signs: PyReadonlyArray2<'_, f64>,
        scale: Vec<f64>,
    ) -> PyResult<Self> {
        let hashes = Hashes {
            // A negative index becomes one beyond D, which is an error later.
            places: (places.as_array()).mapv(|p| usize::try_from(p).unwrap_or(usize::MAX)),
            signs: signs.as_array().to_owned(),
        };
        let degree = u32::try_from(hashes.places.nrows()).unwrap_or(u32::MAX);
        let build = || {
            TensorSketch::new(degree, constant)
                .features(n_components)
                .hashes(hashes)
                .build(Affine::new(vec![0.0; scale.len()], scale)?)
        };
        let map = build().map_err(|e| exception(&e))?;
        Ok(Self::from_map(Arc::new(map), Parts::default()))
    }

    /// Skewed chi-squared features with frequencies `[s, d]` and phase offsets in turns.
    #[staticmethod]
    fn from_logarithms(
        skewedness: f64,
        form: &str,
        omega: PyReadonlyArray2<'_, f64>,
        phases: Vec<f64>,
    ) -> PyResult<Self> {
        let omega_sd = omega.as_array().to_owned();
        let (s, d) = omega_sd.dim();
        let form: Form = form.parse().map_err(|e: Error| exception(&e))?;
        let map = SkewedChi2::new()
            .skewedness(skewedness)
            .features(features_of(form, s))
            .form(form)
            .frequencies(Frequencies {
                omega_sd,
                phases: Some(phases),
                weights: None,
            });
        let map = map.build(Affine::identity(d)).map_err(|e| exception(&e))?;
        Ok(Self::from_map(Arc::new(map), Parts::default()))
    }

    /// Skewed chi-squared features with frequencies drawn by a sampling method.
    #[staticmethod]
    fn skewed_chi2(
        n_features: usize,
        skewedness: f64,
        n_components: usize,
        sampling: &str,
        form: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let build = || -> Result<DenseFeatures> {
            SkewedChi2::new()
                .skewedness(skewedness)
                .features(n_components)
                .sampling(sampling.parse()?)
                .form(form.parse()?)
                .seed(Seed(seed))
                .build(Affine::identity(n_features))
        };
        let map = build().map_err(|e| exception(&e))?;
        Ok(Self::from_map(Arc::new(map), Parts::default()))
    }

    /// Additive chi-squared features from `samples` samples of the spectrum at distance `interval`.
    #[staticmethod]
    fn additive_chi2(n_features: usize, samples: usize, interval: f64) -> PyResult<Self> {
        let map = AdditiveChi2Features::new()
            .samples(samples)
            .interval(interval);
        let map = map.build(Affine::identity(n_features));
        let map = map.map_err(|e| exception(&e))?;
        Ok(Self::from_map(Arc::new(map), Parts::default()))
    }

    /// Draws the map that `options` describe, for the rows of `x`.
    #[staticmethod]
    fn draw(py: Python<'_>, x: Table<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = Options(options);
        let preparation = options.preparation()?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let given = x.given();
        let (_, drawn) = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, None)?;
            let mut source = given.source(None, None, interrupt.flag())?;
            preparation.prepare(source.as_mut(), Usual::default(), &run)
        })?;
        Ok(Self::from_map(Arc::from(drawn.map), Parts::default()))
    }

    /// Writes z(x) of the rows `x` to `out`, `[n, D]`, on the device of this name.
    #[pyo3(signature = (x, out, device, memory=None))]
    fn transform(
        &self,
        py: Python<'_>,
        x: Table<'_>,
        out: &Bound<'_, PyAny>,
        device: &str,
        memory: Option<u64>,
    ) -> PyResult<()> {
        let view = x.view()?;
        if view.columns() != self.map.input_dim() {
            return Err(PyValueError::new_err(format!(
                "X has {} features, but the map takes {}",
                view.columns(),
                self.map.input_dim()
            )));
        }
        let out = out.extract::<Output<'_>>()?;
        out.write(py, &self.map, view, device, memory)
    }

    /// D, the number of output columns.
    #[getter]
    fn n_components(&self) -> usize {
        self.map.output_dim()
    }

    /// Map, kernel, sampling and sizes in one line.
    fn describe(&self) -> String {
        self.map.describe()
    }

    /// Frequencies at unit scale, `[d, s]`, and phase offsets in turns, `[s]`, if the map was
    /// created from frequencies.
    #[expect(clippy::type_complexity, reason = "a pair of arrays, used once")]
    fn frequencies<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>)> {
        let (w_ds, phase_s) = self.parts.frequencies.as_ref()?;
        Some((
            w_ds.clone().into_pyarray(py),
            phase_s.clone().into_pyarray(py),
        ))
    }

    /// Root of the kernel matrix of the landmarks, `[m, m]`, if the map was created from landmarks.
    fn root<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f32>>> {
        Some(self.parts.root.clone()?.into_pyarray(py))
    }

    /// Serialises the map for [`Self::from_bytes`].
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut store = Store::default();
        let bytes = self
            .map
            .write(&mut store)
            .and_then(|()| store.to_bytes(KIND));
        bytes
            .map(|bytes| PyBytes::new(py, &bytes))
            .map_err(|e| exception(&e))
    }

    /// Deserialises a map.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let map = Store::from_bytes(bytes, KIND).and_then(|store| features::read(&store));
        Ok(Self::from_map(
            Arc::from(map.map_err(|e| exception(&e))?),
            Parts::default(),
        ))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }
}
