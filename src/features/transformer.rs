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
    fn of(feature: f32) -> Self;
    /// Memory that holds features as they are computed; `None` for other types.
    fn as_computed(memory: &mut [Self]) -> Option<&mut [f32]>;
}

impl FeatureValue for f32 {
    fn of(feature: f32) -> Self {
        feature
    }
    fn as_computed(memory: &mut [Self]) -> Option<&mut [f32]> {
        Some(memory)
    }
}

impl FeatureValue for f64 {
    fn of(feature: f32) -> Self {
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
        size_of::<T>() * self.z_nd.len() >= PastCache::BYTES
    }

    fn take(&mut self, rows: Range<usize>, z_nd: ArrayView2<'_, f32>) -> Result<()> {
        if rows.end > self.z_nd.nrows() {
            return Err(self.wrong(&format!("at least {} rows", rows.end)));
        }
        let mut to = self.z_nd.slice_mut(s![rows, ..]);
        let parts = to.axis_chunks_iter_mut(Axis(0), PART);
        let mut parts: Vec<_> = parts.zip(z_nd.axis_chunks_iter(Axis(0), PART)).collect();
        parallel::usual().parts(&mut parts, &|_, (to, z_nd)| {
            to.zip_mut_with(z_nd, |to, &z| *to = T::of(z));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::MemorySource,
        features::{
            Affine, ArcCosine, Fastfood, Form, Fourier, Nystrom, TensorSketch, Union, featurize,
        },
        kernels::Gaussian,
    };
    use ndarray::Array2;

    fn maps(x: &Array2<f64>) -> Vec<Box<dyn FeatureMap>> {
        let input = || Affine::identity(x.ncols());
        let fourier = Fourier::new(Gaussian).features(24);
        let part = fourier
            .clone()
            .form(Form::Phase)
            .build(input())
            .expect("draws");
        let other = Fastfood::new(Gaussian)
            .features(16)
            .build(input())
            .expect("draws");
        let nystrom = Nystrom::new(Gaussian).features(7).build(input(), x);
        vec![
            Box::new(fourier.build(input()).expect("draws")),
            Box::new(ArcCosine::new().features(10).build(input()).expect("draws")),
            Box::new(nystrom.expect("draws")),
            Box::new(
                Union::new(vec![(Box::new(part), 0.5), (Box::new(other), 0.5)]).expect("fits"),
            ),
        ]
    }

    /// Every map, by chunks and at once, as f32 and as f64, again and again.
    #[test]
    fn features_are_those_of_a_stream_wherever_they_are_written_on_devices() {
        let x = crate::check::normal(1300, 3, 1).mapv(f64::from);
        let mut devices = crate::under_test::gpus();
        devices.push(Device::cpu());
        for device in devices {
            for map in maps(&x) {
                let mut source = MemorySource::new(&x, None).expect("finite");
                let mut expected = Array2::<f32>::zeros((1300, map.output_dim()));
                let mut at = 0;
                featurize(map.as_ref(), &mut source, &device, |z| {
                    expected.slice_mut(s![at..at + z.nrows(), ..]).assign(&z);
                    at += z.nrows();
                    Ok(())
                })
                .expect("runs");
                let mut transformer = Transformer::new(map.as_ref(), &device).expect("loads");
                for _ in 0..2 {
                    let mut z = Array2::from_elem(expected.dim(), f32::NAN);
                    let mut chunks = 0;
                    let mut proceed = || {
                        chunks += 1;
                        Ok(())
                    };
                    let rows = transformer.stream(&mut source, z.view_mut(), &mut proceed);
                    assert_eq!(rows.expect("runs"), 1300);
                    assert!(chunks >= 1);
                    assert_eq!(z, expected, "{} on {device:?}", map.name());
                    // Where rows do not lie one after the other nothing is lent.
                    let mut wide = Array2::from_elem((1300, 2 * z.ncols()), f64::NAN);
                    let part = wide.slice_mut(s![.., ..z.ncols()]);
                    let rows = Rows::from(x.view());
                    transformer.rows(&rows, part).expect("runs");
                    let part = wide.slice(s![.., ..z.ncols()]);
                    assert_eq!(part.mapv(|z| z as f32), expected, "{}", map.name());
                }
            }
        }
    }

    /// Rows of these columns of which so many in a hundred are there.
    fn sparse(rows: usize, columns: usize, percent: usize) -> SparseRows {
        let x = crate::check::normal(rows, columns, 3);
        let there = |i: usize, j: usize| (i * 31 + j * 17 + i * j * 7) % 100 < percent;
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..rows {
            for j in (0..columns).filter(|&j| there(i, j)) {
                places.push(j as u32);
                values.push(f64::from(x[[i, j]]));
            }
            starts.push(values.len());
        }
        SparseRows::new(starts, places, values, columns).expect("fits")
    }

    /// Sparse rows and the same with their zeros, by every map that takes them so and others,
    /// centred and not, of more and of fewer rows than a block.
    #[test]
    fn sparse_rows_have_the_features_of_dense_ones_on_devices() {
        let mut devices = crate::under_test::gpus();
        devices.push(Device::cpu());
        for (rows, columns, percent) in [(1, 90, 5), (1300, 90, 5), (40, 90, 0), (40, 9, 50)] {
            let x = sparse(rows, columns, percent);
            let Rows::F64(dense) = x.to_rows() else {
                unreachable!("sparse rows are f64");
            };
            let center = (0..columns).map(|j| 0.1 * (j % 5) as f64).collect();
            let scale = (0..columns).map(|j| 0.2 + 0.01 * j as f64).collect();
            let input = Affine::of(center, scale).expect("finite");
            for device in &devices {
                for input in [Affine::identity(columns), input.clone()] {
                    let fourier = Fourier::new(Gaussian).features(70);
                    let phases = fourier.clone().form(Form::Phase).build(input.clone());
                    let maps: [Box<dyn FeatureMap>; 5] = [
                        Box::new(fourier.build(input.clone()).expect("draws")),
                        Box::new(phases.expect("draws")),
                        Box::new(
                            ArcCosine::new()
                                .features(33)
                                .build(input.clone())
                                .expect("draws"),
                        ),
                        Box::new(
                            Fastfood::new(Gaussian)
                                .features(16)
                                .build(input.clone())
                                .expect("draws"),
                        ),
                        Box::new(
                            TensorSketch::new(2, 0.5)
                                .features(21)
                                .build(input.clone())
                                .expect("draws"),
                        ),
                    ];
                    for map in &maps {
                        let mut transformer =
                            Transformer::new(map.as_ref(), device).expect("loads");
                        let mut z = Array2::from_elem((rows, map.output_dim()), f32::NAN);
                        let mut expected = z.clone();
                        let wanted = Rows::F64(dense.clone());
                        transformer
                            .rows(&wanted, expected.view_mut())
                            .expect("runs");
                        transformer.sparse_rows(&x, z.view_mut()).expect("runs");
                        let error = (&z - &expected).iter().fold(0.0_f32, |m, e| m.max(e.abs()));
                        let largest = expected.iter().fold(1.0_f32, |m, e| m.max(e.abs()));
                        assert!(error < 3e-6 * largest, "{} {rows}: {error:e}", map.name());
                        let mut double = Array2::from_elem(z.dim(), f64::NAN);
                        transformer
                            .sparse_rows(&x, double.view_mut())
                            .expect("runs");
                        assert_eq!(double.mapv(|z| z as f32), z, "{}", map.name());
                    }
                }
            }
        }
    }

    #[test]
    fn sparse_rows_of_other_shapes_are_errors() {
        let map = Fourier::new(Gaussian)
            .features(8)
            .build(Affine::identity(9));
        let map = map.expect("draws");
        let mut transformer = Transformer::new(&map, &Device::cpu()).expect("loads");
        for (x, shape, said) in [
            (sparse(4, 9, 10), (3, 8), "4 rows of 8"),
            (sparse(4, 9, 90), (3, 8), "4 rows of 8"),
            (sparse(4, 7, 10), (4, 8), "7 columns"),
        ] {
            let error = transformer.sparse_rows(&x, Array2::<f32>::zeros(shape).view_mut());
            let error = error.expect_err("shape").to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    /// What many calls fill is part of the whole.
    #[test]
    fn memory_is_judged_by_all_that_is_wanted() {
        let past = |rows: usize| {
            let mut z = Array2::<f32>::zeros((rows, 256));
            CallerMemory {
                z_nd: z.view_mut(),
                proceed: &mut || Ok(()),
                columns: 256,
            }
            .is_past_caches()
        };
        assert!(!past(4096) && past(32_768));
    }

    #[test]
    fn other_shapes_and_a_stop_are_errors() {
        let x = crate::check::normal(40, 3, 1).mapv(f64::from);
        let map = Fourier::new(Gaussian)
            .features(8)
            .build(Affine::identity(3))
            .expect("draws");
        let mut transformer = Transformer::new(&map, &Device::cpu()).expect("loads");
        let rows = Rows::from(x.view());
        for shape in [(39, 8), (41, 8), (40, 7)] {
            let error = transformer.rows(&rows, Array2::<f32>::zeros(shape).view_mut());
            assert!(
                error
                    .expect_err("shape")
                    .to_string()
                    .contains("40 rows of 8"),
                "{shape:?}"
            );
        }
        let mut source = MemorySource::new(x, None).expect("finite");
        let mut z = Array2::<f32>::zeros((40, 8));
        let mut stop = || Err(Error::missing("stopped"));
        let error = transformer.stream(&mut source, z.view_mut(), &mut stop);
        assert_eq!(error.expect_err("stopped").to_string(), "stopped");
        assert!(z.iter().all(|&z| z == 0.0));
    }
}
