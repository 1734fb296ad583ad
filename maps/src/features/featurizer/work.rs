//! What lies on the device for a chunk: maps, coefficients and matrices, and what a row takes
//! there.

use super::{Branch, Destination};
use crate::{
    Device, Error, Matrix, Result,
    data::{Rows, SparseRows},
    device::{Reading, gpu::Pace},
    features::LoadedMap,
    flow::RowNeeds,
    linalg::entries,
};
use ndarray::ArrayView2;

/// The branches and what they hold on the device.
#[derive(Debug)]
pub(super) struct Work<'m> {
    branches: Vec<Branch<'m>>,
    end: Destination,
    device: Device,
    loaded: Option<Loaded>,
}

/// Maps with their coefficients on the device, and the matrices of a chunk.
#[derive(Debug)]
struct Loaded {
    maps: Vec<(Box<dyn LoadedMap>, Option<Matrix>)>,
    chunk: Option<Buffers>,
}

/// The matrices of a chunk, for at least as many rows as it has.
#[derive(Debug)]
pub(super) struct Buffers {
    /// The rows as each map takes them, and what comes off its branch.
    branches: Vec<(Matrix, Matrix)>,
    /// Targets.
    beside: Option<Matrix>,
}

impl<'m> Work<'m> {
    /// Nothing is loaded yet.
    pub(super) fn new(branches: Vec<Branch<'m>>, end: Destination, device: &Device) -> Self {
        let device = match end {
            // Sums must not depend on chunks.
            Destination::Device { .. } => device.steady(),
            Destination::Host => device.clone(),
        };
        Self {
            branches,
            end,
            device,
            loaded: None,
        }
    }

    pub(super) fn branches(&self) -> &[Branch<'m>] {
        &self.branches
    }

    /// Errors on a row that a map does not take; `first` is the number of the first of them.
    pub(super) fn admit(&self, x: &Rows, first: usize) -> Result<()> {
        let mut branches = self.branches.iter();
        branches.try_for_each(|branch| branch.map.input().admit(x, first))
    }

    /// Ends a step of work that is not waited for.
    pub(super) fn step(&self, pace: &mut Pace) -> Result<()> {
        self.device.step(pace)
    }

    /// What a row of data with so many target columns takes: every buffer that this file allocates
    /// for it.
    pub(super) fn needs(&self, targets: usize) -> RowNeeds {
        let device = &self.device;
        let columns = self
            .branches
            .first()
            .map_or(1, |branch| branch.map.input_dim());
        let mut needs = RowNeeds::read(columns + targets);
        for branch in &self.branches {
            let outputs = branch.beta_dt.map(|beta_dt| beta_dt.ncols());
            needs = needs
                .matrix(device, branch.map.input_dim())
                .matrix(device, branch.columns())
                .and_bytes(4 * branch.map.scratch_columns(outputs));
            if self.end == Destination::Host {
                needs = needs.read_back(device, branch.columns());
            }
        }
        match self.end {
            Destination::Host => needs,
            // On the host in f64, and in f32 as they are uploaded.
            Destination::Device { beside } => {
                needs.and_bytes((8 + 4) * beside).matrix(device, beside)
            }
        }
    }

    pub(super) fn load(&mut self) -> Result<()> {
        if self.loaded.is_none() {
            let maps = self.branches.iter().map(|branch| {
                let beta = branch.beta_dt.map(|beta| beta.mapv(entries::narrow));
                let beta = beta.map(|beta| Matrix::upload(&self.device, beta.view()));
                Ok((branch.map.load(&self.device)?, beta.transpose()?))
            });
            self.loaded = Some(Loaded {
                maps: maps.collect::<Result<_>>()?,
                chunk: None,
            });
        }
        Ok(())
    }

    /// Takes the rows `x` through all branches, with `beside` beside them, in buffers for at most
    /// `most` rows. What ends on the host of a GPU is on its way then; `None` for anything else.
    ///
    /// When there is no room, all that is loaded goes: the scratch of maps is for as many rows as
    /// the matrices.
    pub(super) fn run(
        &mut self,
        x: &Rows,
        beside: Option<ArrayView2<'_, f32>>,
        most: usize,
    ) -> Result<Option<Vec<Reading>>> {
        let result = self.try_run(x, beside, most);
        if let Err(Error::OutOfMemory { .. }) = result {
            self.loaded = None;
        }
        result
    }

    fn try_run(
        &mut self,
        x: &Rows,
        beside: Option<ArrayView2<'_, f32>>,
        most: usize,
    ) -> Result<Option<Vec<Reading>>> {
        self.load()?;
        let Self {
            branches,
            end,
            device,
            loaded,
        } = self;
        let Some(Loaded { maps, chunk }) = loaded else {
            return Err(not_loaded());
        };
        let buffers = Buffers::reuse(chunk, branches, *end, device, (x.nrows(), most))?;
        if let (Some(y_nt), Some(beside)) = (&mut buffers.beside, beside) {
            y_nt.write(beside)?;
        }
        for ((branch, (map, beta_dt)), (x_nd, out)) in
            branches.iter().zip(maps).zip(&mut buffers.branches)
        {
            branch.map.input().load(x, x_nd)?;
            out.set_rows(x.nrows())?;
            match beta_dt {
                None => map.featurize(x_nd, out)?,
                Some(beta_dt) => map.predict(x_nd, beta_dt, out)?,
            }
        }
        match end {
            Destination::Device { .. } => Ok(None),
            // None as soon as one is on the host already.
            Destination::Host => buffers
                .branches
                .iter()
                .map(|(_, out)| out.read_later())
                .collect(),
        }
    }

    /// Takes the rows `x` through the only branch and writes its features to memory of the caller,
    /// as the map can where it works on the host; past the caches if told to. Returns whether it
    /// did.
    pub(super) fn run_to(
        &mut self,
        x: &Rows,
        (z_nd, past_caches): (&mut [f32], bool),
        most: usize,
    ) -> Result<bool> {
        self.load()?;
        let Self {
            branches,
            end,
            device,
            loaded,
        } = self;
        let (Some(Loaded { maps, chunk }), Device::Cpu(_)) = (loaded, &*device) else {
            return Ok(false);
        };
        let ([branch], [(map, None)]) = (&branches[..], &mut maps[..]) else {
            return Ok(false);
        };
        // Of the other matrix no page is ever touched.
        let buffers = Buffers::reuse(chunk, branches, *end, device, (x.nrows(), most))?;
        let Some((x_nd, _)) = buffers.branches.first_mut() else {
            return Ok(false);
        };
        branch.map.input().load(x, x_nd)?;
        map.featurize_to(x_nd, z_nd, past_caches)
    }

    /// As [`Self::run_to`] for sparse rows.
    pub(super) fn run_sparse(&mut self, x: &SparseRows, z_nd: &mut [f32]) -> Result<bool> {
        self.load()?;
        let (Some(Loaded { maps, .. }), Device::Cpu(_)) = (&mut self.loaded, &self.device) else {
            return Ok(false);
        };
        match (&self.branches[..], &mut maps[..]) {
            // The logarithms of zeros are no zeros.
            ([branch], _) if !branch.map.input().is_affine() => Ok(false),
            ([branch], [(map, None)]) => map.featurize_sparse(&branch.map.input().sparse(x)?, z_nd),
            _ => Ok(false),
        }
    }

    pub(super) fn buffers(&self) -> Result<&Buffers> {
        let loaded = self.loaded.as_ref().and_then(|l| l.chunk.as_ref());
        loaded.ok_or_else(not_loaded)
    }

    /// What came off the first branch, and the targets.
    pub(super) fn on_device(&mut self) -> Result<(&mut Matrix, &Matrix)> {
        let buffers = self.loaded.as_mut().and_then(|l| l.chunk.as_mut());
        let Buffers { branches, beside } = buffers.ok_or_else(not_loaded)?;
        match (branches.first_mut(), beside) {
            (Some((_, z_nd)), Some(y_nt)) => Ok((z_nd, y_nt)),
            _ => Err(not_loaded()),
        }
    }

    /// What came off the branches of a CPU, where it lies.
    pub(super) fn on_host(&self) -> Result<Vec<ArrayView2<'_, f32>>> {
        let branches = self.buffers()?.branches.iter();
        branches
            .map(|(_, out)| out.on_host().ok_or_else(not_loaded))
            .collect()
    }
}

fn not_loaded() -> Error {
    Error::device("rows were counted before they were worked on")
}

impl Buffers {
    /// Those that are there, or others for `rows` rows and, once they are too small, for up to
    /// `most`: chunks of growing sizes must not allocate each time.
    fn reuse<'b>(
        kept: &'b mut Option<Self>,
        branches: &[Branch<'_>],
        end: Destination,
        device: &Device,
        (rows, most): (usize, usize),
    ) -> Result<&'b mut Self> {
        let capacity = kept.as_ref().map_or(0, Self::capacity);
        if capacity < rows {
            // The old ones first, so that a pool can hand them out again.
            *kept = None;
        }
        Ok(match kept {
            Some(buffers) => buffers,
            none => none.insert(Self::new(
                branches,
                end,
                device,
                rows.max((2 * capacity).min(most)),
            )?),
        })
    }

    fn new(
        branches: &[Branch<'_>],
        end: Destination,
        device: &Device,
        rows: usize,
    ) -> Result<Self> {
        let matrices = branches.iter().map(|branch| {
            let x_nd = Matrix::new(device, rows, branch.map.input_dim())?;
            Ok((x_nd, Matrix::new(device, rows, branch.columns())?))
        });
        Ok(Self {
            branches: matrices.collect::<Result<_>>()?,
            beside: match end {
                Destination::Device { beside } => Some(Matrix::new(device, rows, beside)?),
                Destination::Host => None,
            },
        })
    }

    /// The most rows that a chunk can have.
    pub(super) fn capacity(&self) -> usize {
        let rows = self.branches.iter().map(|(x_nd, _)| x_nd.capacity_rows());
        rows.min().unwrap_or(usize::MAX)
    }
}
