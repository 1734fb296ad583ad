//! Maps on the road: rows to features or predictions on a device, for whoever sums, writes or
//! solves with them.
//!
//! Fits, files of features, predictions, conjugate gradients and kernel errors all go through
//! [`Featurizer`]. It alone knows what a row takes, loads maps, keeps the buffers of a chunk, and
//! starts again with fewer rows when a device is full.

mod destination;
#[cfg(test)]
mod tests;
#[cfg(feature = "files")]
mod to_writer;
mod work;

use super::{FeatureMap, require_dense};
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, Rows, SparseRows},
    device::{Reading, gpu::Pace},
    flow::{Portions, ReadBehind, Run, Take, watch_chunks},
    progress::Step,
    wait::wait,
};
pub(crate) use destination::HostRows;
#[doc(hidden)]
pub use destination::{Destination, OnDevice};
use ndarray::ArrayView2;
use std::{cell::RefCell, collections::VecDeque, ops::Range};
#[cfg(feature = "files")]
pub use to_writer::featurize_behind;
use work::Work;

/// Streams `source` through `map` on a device: `sink` gets z(x) of each chunk, `[rows, D]`, rows in
/// order. `run` is a `&Device` or a [`Run`], which hears [`Step::Rows`]. Returns the number of
/// rows.
///
/// Errors with [`Error::Shape`] if the source has another number of columns than the map takes,
/// when not even 8 rows fit into the memory of `run` or the device, with [`Error::Unsupported`] for
/// maps that cannot be stored, and as sources, devices and `sink` do.
///
/// ```
/// use bochner::{Device, data::MemorySource, kernels::Gaussian};
/// use bochner::features::{Affine, Fourier, featurize};
/// let mut source = MemorySource::new(ndarray::array![[0.0], [1.0], [2.0]], None)?;
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let rows = featurize(&map, &mut source, &Device::cpu(), |z| {
///     assert_eq!(z.dim(), (3, 16));
///     Ok(())
/// })?;
/// assert_eq!(rows, 3);
/// # Ok::<(), bochner::Error>(())
/// ```
pub fn featurize(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    run: impl Into<Run>,
    mut sink: impl FnMut(ArrayView2<'_, f32>) -> Result<()>,
) -> Result<u64> {
    let branches = vec![Branch::features(map)?];
    let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
    featurizer.on_host(source, |_, _| (), |z, ()| sink(z[0]))
}

/// A map on the road, and what becomes of its rows.
#[derive(Debug)]
#[doc(hidden)]
pub struct Branch<'m> {
    map: &'m dyn FeatureMap,
    /// Coefficients `[D, t]` of a branch that ends in z(x) beta; without them it ends in z(x).
    beta_dt: Option<ArrayView2<'m, f64>>,
}

impl<'m> Branch<'m> {
    /// Features z(x), `[rows, D]`. Errors on a map whose features cannot be stored.
    #[doc(hidden)]
    pub fn features(map: &'m dyn FeatureMap) -> Result<Self> {
        require_dense(map)?;
        Ok(Self { map, beta_dt: None })
    }

    /// Outputs z(x) beta, `[rows, t]`, of any map.
    #[doc(hidden)]
    pub fn outputs(map: &'m dyn FeatureMap, beta_dt: impl Into<ArrayView2<'m, f64>>) -> Self {
        Self {
            map,
            beta_dt: Some(beta_dt.into()),
        }
    }

    /// Columns of what it ends in.
    fn columns(&self) -> usize {
        self.beta_dt
            .map_or_else(|| self.map.output_dim(), |beta_dt| beta_dt.ncols())
    }
}

/// Where a portion of rows is after it was worked on.
enum Delivery {
    /// Where it was to go.
    There,
    /// In a buffer of the host.
    Here,
    /// Between a GPU and the host.
    OnItsWay(Vec<Reading>),
}

/// Takes raw rows through one map or several side by side, on one device.
#[derive(Debug)]
#[doc(hidden)]
pub struct Featurizer<'m> {
    work: Work<'m>,
    portions: Portions,
    run: Run,
}

impl<'m> Featurizer<'m> {
    /// Plans the chunks of `run`, from a source with so many target columns. Loads nothing yet.
    ///
    /// Errors when not even 8 rows fit into the memory of `run` or the device.
    #[doc(hidden)]
    pub fn new(
        branches: Vec<Branch<'m>>,
        targets: usize,
        end: Destination,
        run: impl Into<Run>,
    ) -> Result<Self> {
        let run = run.into();
        let work = Work::new(branches, end, &run.device);
        let rows = work.needs(targets).rows_of(&run)?;
        Ok(Self {
            work,
            portions: Portions::new(rows),
            run,
        })
    }

    /// Loads the maps now, so that the first rows find them and what is wrong with them is known.
    #[doc(hidden)]
    pub fn load(&mut self) -> Result<()> {
        self.work.load()
    }

    /// Streams `source` to the device, where `sums` takes it up. Nothing is waited for but that few
    /// chunks are under way.
    #[doc(hidden)]
    pub fn on_device(
        &mut self,
        source: &mut dyn ChunkSource,
        sums: &mut dyn OnDevice,
    ) -> Result<u64> {
        self.check(source)?;
        let rows = self.chunk_rows(source);
        let Self {
            work,
            portions,
            run,
        } = self;
        let mut pace = Pace::default();
        let hear = |rows| run.say(Step::Rows(rows));
        let mut first = 0;
        watch_chunks(source, rows, hear, |chunk| {
            work.admit(&chunk.x, first)?;
            first += chunk.x.nrows();
            let left_out = sums.begin(&chunk)?;
            portions.for_each_range(
                chunk.x.nrows() - left_out,
                &mut (&mut *work, &mut *sums),
                |(work, sums), range, most| {
                    let raw = left_out + range.start..left_out + range.end;
                    work.run(&chunk.x.part(raw), Some(sums.columns_beside(range)), most)
                },
                |(work, sums), range, _| {
                    let (z_nd, y_nt) = work.on_device()?;
                    sums.count(range, z_nd, y_nt)
                },
            )?;
            work.step(&mut pace)
        })
    }

    /// Streams `source` to the host: `take` gets what comes off every branch, rows in order, `with`
    /// what it needs of the chunk. On a GPU it works on one portion while the device works on the
    /// next.
    #[doc(hidden)]
    pub fn on_host<T>(
        &mut self,
        source: &mut dyn ChunkSource,
        with: impl Fn(&Chunk, Range<usize>) -> T,
        mut take: impl FnMut(&[ArrayView2<'_, f32>], T) -> Result<()>,
    ) -> Result<u64> {
        // Portions are taken in the order in which they are sent, so the road need not know T.
        let sent = RefCell::new(VecDeque::new());
        self.stream(
            source,
            &|chunk, range| sent.borrow_mut().push_back(with(chunk, range)),
            &mut |z, _| {
                let with = sent.borrow_mut().pop_front();
                let unsent = || Error::device("rows came back that were not sent");
                take(z, with.ok_or_else(unsent)?)
            },
        )
    }

    /// As [`Self::on_host`]: `send` hears of each portion of a chunk before `take` gets it.
    fn stream(
        &mut self,
        source: &mut dyn ChunkSource,
        send: &dyn Fn(&Chunk, Range<usize>),
        take: &mut Take<'_>,
    ) -> Result<u64> {
        self.check(source)?;
        let rows = self.chunk_rows(source);
        let mut behind = ReadBehind::default();
        let run = self.run.clone();
        let hear = |rows| run.say(Step::Rows(rows));
        let mut first = 0;
        let rows = watch_chunks(source, rows, hear, |chunk| {
            self.work.admit(&chunk.x, first)?;
            first += chunk.x.nrows();
            let hear = |range| send(&chunk, range);
            self.send(&chunk.x, &mut behind, &hear, take)
        })?;
        behind.finish(take)?;
        Ok(rows)
    }

    /// As [`Self::on_host`] for rows that are there, each portion with its range. Buffers stay for
    /// the next call.
    #[doc(hidden)]
    pub fn rows(
        &mut self,
        x: &Rows,
        mut take: impl FnMut(&[ArrayView2<'_, f32>], Range<usize>) -> Result<()>,
    ) -> Result<()> {
        self.rows_now(x, &mut take)
    }

    fn rows_now(&mut self, x: &Rows, take: &mut Take<'_>) -> Result<()> {
        wait(self.rows_later(x, take))
    }

    /// As [`Self::rows`], in a browser too.
    #[doc(hidden)]
    pub async fn rows_later(&mut self, x: &Rows, take: &mut Take<'_>) -> Result<()> {
        let mut behind = ReadBehind::default();
        self.work.admit(x, 0)?;
        self.send(x, &mut behind, &|_| (), take)?;
        behind.finish_later(take).await
    }

    /// Streams `source` through the only branch and hands `to` each portion: first for the host
    /// memory that its rows go to, if they can go there at once, else for the rows to be taken.
    pub(crate) fn write(
        &mut self,
        source: &mut dyn ChunkSource,
        to: &mut dyn HostRows,
    ) -> Result<u64> {
        self.check(source)?;
        let rows = self.chunk_rows(source);
        let mut behind = ReadBehind::default();
        let run = self.run.clone();
        let hear = |rows| run.say(Step::Rows(rows));
        let mut first = 0;
        let rows = watch_chunks(source, rows, hear, |chunk| {
            to.chunk()?;
            self.send_to(&chunk.x, first, &mut behind, to)?;
            first += chunk.x.nrows();
            Ok(())
        })?;
        behind.finish(&mut |z, range| to.take(range, z[0]))?;
        Ok(rows)
    }

    /// As [`Self::write`] for rows that are there, in a browser too.
    pub(crate) async fn write_rows(&mut self, x: &Rows, to: &mut dyn HostRows) -> Result<()> {
        let mut behind = ReadBehind::default();
        self.send_to(x, 0, &mut behind, to)?;
        let take = &mut |z: &[ArrayView2<'_, f32>], range| to.take(range, z[0]);
        behind.finish_later(take).await
    }

    /// As [`Self::write_rows`] for sparse rows, which stay so where the map takes them; returns
    /// whether it did.
    pub(crate) fn write_sparse(&mut self, x: &SparseRows, z_nd: &mut [f32]) -> Result<bool> {
        self.work.run_sparse(x, z_nd)
    }

    /// Sends the rows `x`, the first of which is row `first`, to `to` in portions.
    fn send_to(
        &mut self,
        x: &Rows,
        first: usize,
        behind: &mut ReadBehind,
        to: &mut dyn HostRows,
    ) -> Result<()> {
        let Self { work, portions, .. } = self;
        work.admit(x, first)?;
        let place = |range: &Range<usize>| first + range.start..first + range.end;
        portions.for_each_range(
            x.nrows(),
            &mut (work, to),
            |(work, to), range, most| {
                let at = place(&range);
                let x = x.part(range);
                let past_caches = to.is_past_caches();
                if let Some(z) = to.lend(at)
                    && work.run_to(&x, (z, past_caches), most)?
                {
                    return Ok(Delivery::There);
                }
                Ok(match work.run(&x, None, most)? {
                    Some(readings) => Delivery::OnItsWay(readings),
                    None => Delivery::Here,
                })
            },
            |(work, to), range, sent| match sent {
                Delivery::There => to.filled(),
                Delivery::Here => to.take(place(&range), work.on_host()?[0]),
                Delivery::OnItsWay(readings) => {
                    behind.push(readings, place(&range), &mut |z, at| to.take(at, z[0]))
                }
            },
        )
    }

    /// Sends what comes off the branches for `x` on its way in portions, and hands `take` those
    /// that were sent before; on the CPU all of them. `hear` gets the rows of each before `take`
    /// does.
    fn send(
        &mut self,
        x: &Rows,
        behind: &mut ReadBehind,
        hear: &dyn Fn(Range<usize>),
        take: &mut Take<'_>,
    ) -> Result<()> {
        let Self { work, portions, .. } = self;
        portions.for_each_range(
            x.nrows(),
            work,
            |work, range, most| work.run(&x.part(range), None, most),
            |work, range, readings| {
                hear(range.clone());
                match readings {
                    Some(readings) => behind.push(readings, range, take),
                    None => take(&work.on_host()?, range),
                }
            },
        )
    }

    /// Rows to read at a time.
    #[doc(hidden)]
    pub fn chunk_rows(&self, source: &dyn ChunkSource) -> usize {
        let planned = self.portions.rows();
        source.rows().map_or(planned, |n| planned.min(n.max(1)))
    }

    fn check(&self, source: &dyn ChunkSource) -> Result<()> {
        let has = source.columns();
        match self
            .work
            .branches()
            .iter()
            .find(|l| l.map.input_dim() != has)
        {
            None => Ok(()),
            Some(branch) => Err(Error::shape(format!(
                "the data has {has} columns, the map takes {}",
                branch.map.input_dim()
            ))),
        }
    }
}
