//! Feature map with a cached transformer on the device of its last use, and output arrays.

use crate::{
    calls::{Interrupt, device, without_gil},
    views::{Source, TableView},
};
use bochner::{
    Result, Run,
    data::Rows,
    features::{FeatureMap, FeatureValue, Transformer},
};
use ndarray::{ArrayView2, ArrayViewMut2, s};
use numpy::{PyArray2, PyArrayMethods, PyReadwriteArray2};
use pyo3::prelude::*;
use self_cell::self_cell;
use std::{
    ops::Deref,
    sync::{Arc, Mutex, PoisonError},
};

/// Inputs of up to this many values are copied at once instead of streamed with a reader thread.
const FEW_VALUES: usize = 1 << 16;
/// Number of sparse rows per call of the transformer.
const SPARSE_ROWS: usize = 1 << 14;

type SharedMap = Arc<dyn FeatureMap>;

self_cell!(
    /// A map, and its transformer on a device.
    struct Loaded {
        owner: SharedMap,
        #[not_covariant]
        dependent: Transformer,
    }
);

/// A map, and its transformer for the device name and memory of the last use.
pub(super) struct MapOnDevice {
    map: SharedMap,
    loaded: Mutex<Option<(String, Option<u64>, Loaded)>>,
}

impl Deref for MapOnDevice {
    type Target = dyn FeatureMap;

    fn deref(&self) -> &Self::Target {
        self.map.as_ref()
    }
}

impl MapOnDevice {
    pub(super) fn new(map: SharedMap) -> Self {
        Self {
            map,
            loaded: Mutex::new(None),
        }
    }

    /// Calls `work` with the transformer, which is cached until another device or memory is used.
    fn on<R>(
        &self,
        (name, memory): (&str, Option<u64>),
        work: impl FnOnce(&mut Transformer<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let (.., cell) = match &mut *loaded {
            Some(there) if there.0 == name && there.1 == memory => there,
            other => {
                let run = Run::on(&device(name)?).memory(memory.unwrap_or(Run::DEFAULT_MEMORY));
                let cell =
                    Loaded::try_new(self.map.clone(), |map| Transformer::new(map.as_ref(), &run))?;
                other.insert((name.to_owned(), memory, cell))
            }
        };
        let result = cell.with_dependent_mut(|_, transformer| work(transformer));
        if result.is_err() {
            // Open the device again after an error.
            *loaded = None;
        }
        result
    }

    /// Features z(x) of one row, on the CPU.
    pub(super) fn row(&self, x_d: &[f64]) -> Result<Vec<f64>> {
        let mut z_d = vec![0.0; self.map.output_dim()];
        self.on(("cpu", None), |transformer| {
            let x_1d = ArrayView2::from_shape((1, x_d.len()), x_d).expect("one row");
            let z_1d = ArrayViewMut2::from_shape((1, z_d.len()), &mut z_d).expect("one row");
            transformer.rows(&Rows::from(&x_1d.to_owned()), z_1d)
        })?;
        Ok(z_d)
    }

    /// Writes z(x) of all rows to `z_nd`.
    fn write<T: FeatureValue>(
        &self,
        x: TableView<'_>,
        z_nd: ArrayViewMut2<'_, T>,
        name: &str,
        memory: Option<u64>,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let sparse = !matches!(x, TableView::Single(_) | TableView::Double(_));
        self.on((name, memory), |transformer| {
            if sparse {
                sparse_rows(transformer, x, z_nd, interrupt)
            } else if x.rows() * x.columns() <= FEW_VALUES {
                transformer.rows(&x.part(0..x.rows())?, z_nd)
            } else {
                let mut source = Source::new(x, interrupt.flag());
                let mut proceed = || interrupt.check();
                transformer
                    .stream(&mut source, z_nd, &mut proceed)
                    .map(drop)
            }
        })
    }
}

/// Writes z(x) of sparse rows, without making them dense if the map supports that.
fn sparse_rows<T: FeatureValue>(
    transformer: &mut Transformer<'_>,
    x: TableView<'_>,
    mut z_nd: ArrayViewMut2<'_, T>,
    interrupt: &Interrupt,
) -> Result<()> {
    for from in (0..x.rows()).step_by(SPARSE_ROWS) {
        interrupt.check()?;
        let rows = from..x.rows().min(from + SPARSE_ROWS);
        let z = z_nd.slice_mut(s![rows.clone(), ..]);
        match x.sparse_part(rows.clone())? {
            Some(part) => transformer.sparse_rows(&part, z)?,
            None => transformer.rows(&x.part(rows)?, z)?,
        }
    }
    Ok(())
}

/// Output array for features.
pub(super) enum Output<'py> {
    Single(PyReadwriteArray2<'py, f32>),
    Double(PyReadwriteArray2<'py, f64>),
}

/// Tries casts instead of derived extraction, as [`crate::arrays::Table`] does.
impl<'py> FromPyObject<'_, 'py> for Output<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyArray2<f32>>() {
            Ok(out) => Ok(Self::Single(out.try_readwrite()?)),
            Err(_) => Ok(Self::Double(
                object.cast::<PyArray2<f64>>()?.try_readwrite()?,
            )),
        }
    }
}

impl Output<'_> {
    /// Writes z(x) of all rows to the array, without the GIL.
    pub(super) fn write(
        self,
        py: Python<'_>,
        map: &MapOnDevice,
        x: TableView<'_>,
        device: &str,
        memory: Option<u64>,
    ) -> PyResult<()> {
        match self {
            Self::Single(mut out) => {
                let out = out.as_array_mut();
                without_gil(py, |interrupt| map.write(x, out, device, memory, interrupt))
            }
            Self::Double(mut out) => {
                let out = out.as_array_mut();
                without_gil(py, |interrupt| map.write(x, out, device, memory, interrupt))
            }
        }
    }
}
