//! A map in the memory of a device, for many calls: features where the caller wants them.

use super::{
    FeatureMap,
    featurizer::{Branch, Destination, Featurizer, HostRows},
};
use crate::{
    Error, Result,
    data::{ChunkSource, Rows, SparseRows},
    flow::Run,
    parallel,
    simd::PastCache,
    wait::wait,
};
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use std::{fmt, ops::Range};

/// A map on a device with its buffers: [`featurize`](super::featurize) for many calls, which then
/// bring nothing but their rows, into memory of the caller.
///
/// On the CPU dense maps write their features where they are wanted, without a copy between.
///
/// ```
/// use bochner::{Device, data::Rows, kernels::Gaussian};
/// use bochner::features::{Affine, Fourier, Transformer};
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let mut transformer = Transformer::new(&map, &Device::cpu())?;
/// let mut z = ndarray::Array2::<f64>::zeros((3, 16));
/// transformer.rows(&Rows::from(ndarray::array![[0.0], [1.0], [2.0]]), z.view_mut())?;
/// // The paired form has z'z = 1.
/// assert!((z.row(0).dot(&z.row(0)) - 1.0).abs() < 1e-6);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct Transformer<'m> {
    columns: usize,
    featurizer: Featurizer<'m>,
}

/// What features can be written as: f32, in which they are computed, or f64.
pub trait FeatureValue: Copy + Send + Sync + 'static {
    /// From a feature.
    fn from_feature(feature: f32) -> Self;
    /// Memory that holds features as they are computed; `None` for other types.
    fn as_computed(memory: &mut [Self]) -> Option<&mut [f32]>;
}

impl FeatureValue for f32 {
    fn from_feature(feature: f32) -> Self {
        feature
    }
    fn as_computed(memory: &mut [Self]) -> Option<&mut [f32]> {
        Some(memory)
    }
}

impl FeatureValue for f64 {
    fn from_feature(feature: f32) -> Self {
        feature.into()
    }
    fn as_computed(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }
}

impl<'m> Transformer<'m> {
    /// Loads the map: `run` is a `&Device` or a [`Run`], which hears
    /// [`Step::Rows`](crate::Step::Rows).
    ///
    /// Errors with [`Error::Unsupported`] for maps whose features cannot be stored, and when not
    /// even 8 rows fit into the memory of `run` or the device.
    pub fn new(map: &'m dyn FeatureMap, run: impl Into<Run>) -> Result<Self> {
        let mut featurizer =
            Featurizer::new(vec![Branch::features(map)?], 0, Destination::Host, run)?;
        featurizer.load()?;
        Ok(Self {
            columns: map.output_dim(),
            featurizer,
        })
    }

    /// Writes z(x) of all rows of `source` to `z_nd`, `[n, D]`; `proceed` is asked before each
    /// chunk and may end it. Returns the number of rows.
    ///
    /// Errors with [`Error::Shape`] unless `z_nd` has their shape, and as sources, devices and
    /// `proceed` do.
    pub fn stream<T: FeatureValue>(
        &mut self,
        source: &mut dyn ChunkSource,
        z_nd: ArrayViewMut2<'_, T>,
        proceed: &mut dyn FnMut() -> Result<()>,
    ) -> Result<u64> {
        let mut into = CallerMemory {
            z_nd,
            proceed,
            columns: self.columns,
        };
        into.check(source.rows())?;
        let rows = self.featurizer.write(source, &mut into)?;
        if rows == into.z_nd.nrows() as u64 {
            Ok(rows)
        } else {
            Err(into.wrong(&format!("{rows} rows")))
        }
    }

    /// As [`Self::stream`] for rows that are there: no thread reads ahead.
    pub fn rows<T: FeatureValue>(&mut self, x: &Rows, z_nd: ArrayViewMut2<'_, T>) -> Result<()> {
        wait(self.rows_later(x, z_nd))
    }

    /// As [`Self::rows`] without waiting on the spot, which in a browser nobody can for a GPU.
    pub async fn rows_later<T: FeatureValue>(
        &mut self,
        x: &Rows,
        z_nd: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        let mut into = CallerMemory {
            z_nd,
            proceed: &mut || Ok(()),
            columns: self.columns,
        };
        into.check(Some(x.nrows()))?;
        self.featurizer.write_rows(x, &mut into).await
    }
}

/// Denser rows than this are cheaper with their zeros.
const DENSE: f64 = 0.15;
/// Values that are held at a time: features before they are another type, rows with their zeros.
const HELD: usize = 1 << 22;

impl Transformer<'_> {
    /// As [`Self::rows`] for sparse rows. Dense maps on the CPU multiply only what is there, if
    /// that is little; elsewhere rows are filled with zeros, some at a time.
    ///
    /// Errors with [`Error::Shape`] unless `z_nd` has their shape and the rows as many columns as
    /// the map takes, and as devices do.
    pub fn sparse_rows<T: FeatureValue>(
        &mut self,
        x: &SparseRows,
        mut z_nd: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        if x.density() > DENSE {
            return self.filled(x, z_nd);
        }
        let mut into = CallerMemory {
            z_nd: z_nd.view_mut(),
            proceed: &mut || Ok(()),
            columns: self.columns,
        };
        into.check(Some(x.nrows()))?;
        if let Some(z) = into.lend(0..x.nrows()) {
            return if self.featurizer.write_sparse(x, z)? {
                Ok(())
            } else {
                self.filled(x, z_nd)
            };
        }
        let most = (HELD / self.columns.max(1)).max(1);
        let mut held = Vec::new();
        for from in (0..x.nrows()).step_by(most) {
            let rows = from..x.nrows().min(from + most);
            held.resize(rows.len() * self.columns, 0.0);
            if !self
                .featurizer
                .write_sparse(&x.slice(rows.clone()), &mut held)?
            {
                return self.filled(x, z_nd);
            }
            let z = ArrayView2::from_shape((rows.len(), self.columns), &held);
            into.take(rows, z.map_err(|e| Error::shape(e.to_string()))?)?;
        }
        Ok(())
    }

    /// Sparse rows with their zeros, some at a time.
    fn filled<T: FeatureValue>(
        &mut self,
        x: &SparseRows,
        mut z_nd: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        let place = CallerMemory {
            z_nd: z_nd.view_mut(),
            proceed: &mut || Ok(()),
            columns: self.columns,
        };
        place.check(Some(x.nrows()))?;
        let most = (HELD / x.ncols().max(1)).max(1);
        for from in (0..x.nrows()).step_by(most) {
            let rows = from..x.nrows().min(from + most);
            let z_nd = z_nd.slice_mut(s![rows.clone(), ..]);
            self.rows(&x.slice(rows).to_rows(), z_nd)?;
        }
        Ok(())
    }
}

/// Rows that a thread copies at a time: the first touch of a page is dear, and threads share it.
const PART: usize = 32;

/// Memory of the caller.
struct CallerMemory<'a, T> {
    z_nd: ArrayViewMut2<'a, T>,
    proceed: &'a mut dyn FnMut() -> Result<()>,
    columns: usize,
}

impl<T> fmt::Debug for CallerMemory<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallerMemory({:?})", self.z_nd.dim())
    }
}

impl<T: FeatureValue> CallerMemory<'_, T> {
    fn check(&self, rows: Option<usize>) -> Result<()> {
        let (n, columns) = self.z_nd.dim();
        if columns == self.columns && rows.is_none_or(|rows| rows == n) {
            Ok(())
        } else {
            Err(self.wrong(&rows.map_or("rows".into(), |rows| format!("{rows} rows"))))
        }
    }

    fn wrong(&self, rows: &str) -> Error {
        Error::shape(format!(
            "z is {} x {}, the map gives {rows} of {}",
            self.z_nd.nrows(),
            self.z_nd.ncols(),
            self.columns
        ))
    }
}

impl<T: FeatureValue> HostRows for CallerMemory<'_, T> {
    fn chunk(&mut self) -> Result<()> {
        (self.proceed)()
    }

    fn lend(&mut self, rows: Range<usize>) -> Option<&mut [f32]> {
        if rows.end > self.z_nd.nrows() {
            return None;
        }
        let rows = rows.start * self.columns..rows.end * self.columns;
        T::as_computed(self.z_nd.as_slice_mut()?.get_mut(rows)?)
    }

    fn is_past_caches(&self) -> bool {
        PastCache::suits(size_of::<T>() * self.z_nd.len())
    }

    fn take(&mut self, rows: Range<usize>, z_nd: ArrayView2<'_, f32>) -> Result<()> {
        if rows.end > self.z_nd.nrows() {
            return Err(self.wrong(&format!("at least {} rows", rows.end)));
        }
        let mut to = self.z_nd.slice_mut(s![rows, ..]);
        let parts = to.axis_chunks_iter_mut(Axis(0), PART);
        let mut parts: Vec<_> = parts.zip(z_nd.axis_chunks_iter(Axis(0), PART)).collect();
        parallel::usual().parts(&mut parts, &|_, (to, z_nd)| {
            to.zip_mut_with(z_nd, |to, &z| *to = T::from_feature(z));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
