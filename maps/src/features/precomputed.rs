//! Nystrom features of kernel values that were computed elsewhere.

use super::{
    Affine, Bandwidth, FeatureMap, Formula, LoadedMap, MapBuilder, MapData, names::PRECOMPUTED,
    nystrom::Whitening,
};
use crate::{
    Device, Error, Matrix, Result,
    data::{ChunkSource, Rows},
    device::memory_left,
    error::Remedy,
    kernels::{Kernel, Linear},
    ops::product::product,
    settings::Settings,
    store::Store,
    text::counted,
};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// Kernel values of two pairs that are one pair the other way round may differ by so much of the
/// largest: files of f32 hold no more, and half precision is not meant.
const ASYMMETRY: f64 = 1e-4;
/// Rows read at a time.
const AT_A_TIME: usize = 1024;

/// [`Nystrom`](super::Nystrom) features (Williams & Seeger 2001) of rows that are kernel values
/// already: column j of a row x is `k(x, l_j)`, l_j landmark j.
///
/// `z(x) = K_mm^{-1/2} k_m(x)` up to a rotation, with the landmarks' own kernel `K_mm` `[m, m]`
/// given: `z(x)'z(y) = k_m(x)' K_mm^{-1} k_m(y)`. With all rows as landmarks that is the kernel
/// matrix itself, and ridge regression on it is exact kernel ridge regression. Eigenvalues are cut
/// as [`Nystrom`](super::Nystrom) cuts them. Columns are neither centred nor scaled: bandwidths and
/// standardisation have no effect.
///
/// ```
/// use bochner::{features::{FeatureMap, Precomputed}, prelude::*};
/// let k_mm = ndarray::array![[1.0, 0.5], [0.5, 1.0]];
/// let k_nm = ndarray::array![[1.0, 0.5], [0.5, 1.0], [0.7, 0.7]];
/// let y = ndarray::array![0.0, 1.0, 0.5];
/// let model = Ridge::on(Precomputed::new(k_mm)?).lambda(1e-6).fit((&k_nm, &y))?;
/// assert!((model.predict(&k_nm)?[1] - 1.0).abs() < 1e-3);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Precomputed {
    k_mm: Arc<Array2<f64>>,
    rank: Option<usize>,
}

impl Precomputed {
    /// Of the landmarks' own kernel, `[m, m]`, of which rows and columns are in the order of the
    /// columns of the data.
    ///
    /// Errors with [`Error::Shape`] unless it is square and with [`Error::Numerical`] when a value
    /// is not finite or not that of the pair the other way round.
    pub fn new(k_mm: Array2<f64>) -> Result<Self> {
        let (rows, columns) = k_mm.dim();
        if rows != columns || rows == 0 {
            return Err(Error::shape(format!(
                "the kernel of the landmarks is {rows} x {columns}; give one row and one column \
                 for each landmark"
            )));
        }
        if let Some(((i, j), k)) = k_mm.indexed_iter().find(|(_, k)| !k.is_finite()) {
            return Err(Error::numerical(format!(
                "the kernel of the landmarks holds {k} at row {i}, column {j}"
            )));
        }
        let largest = k_mm.iter().fold(0.0_f64, |a, k| a.max(k.abs()));
        let apart =
            |&((i, j), k): &((usize, usize), &f64)| (k - k_mm[[j, i]]).abs() > ASYMMETRY * largest;
        if let Some(((i, j), k)) = k_mm.indexed_iter().find(apart) {
            return Err(Error::numerical(format!(
                "the kernel of the landmarks is {k} at row {i}, column {j}, and {} at row {j}, \
                 column {i}; give that of the landmarks in the order of the columns",
                k_mm[[j, i]]
            )));
        }
        let k_mm = (&k_mm + &k_mm.t()) / 2.0;
        Ok(Self {
            k_mm: Arc::new(k_mm),
            rank: None,
        })
    }

    /// As [`Self::new`], of rows of `source` (counted from 0) that are the landmarks themselves,
    /// one for each column and in their order: row `rows[j]` is the one that column j compares
    /// with.
    ///
    /// Errors with [`Error::Shape`] when there is not one for each column, with [`Error::Data`]
    /// when the source has not so many rows, and as the source does.
    pub fn of_rows(source: &mut dyn ChunkSource, rows: &[u64]) -> Result<Self> {
        let m = source.columns();
        if rows.len() != m {
            return Err(Error::shape(format!(
                "{} for {}; give the row of each column's landmark",
                counted(rows.len(), "row"),
                counted(m, "column")
            )));
        }
        memory_left::require_square(m, 8, || format!("the kernel of {m} landmarks"))?;
        let mut wanted: Vec<(u64, usize)> = rows.iter().copied().zip(0..).collect();
        wanted.sort_unstable();
        let mut wanted = wanted.into_iter().peekable();
        let mut k_mm = Array2::zeros((m, m));
        let mut first = 0;
        source.rewind()?;
        while wanted.peek().is_some() {
            let Some(chunk) = source.next_chunk(AT_A_TIME)? else {
                let last = wanted.last().map_or(0, |(row, _)| row);
                return Err(Error::data(
                    "landmarks",
                    format!("row {last} is one of them, and there are {first} rows, from 0"),
                ));
            };
            let end = first + chunk.x.nrows() as u64;
            while let Some((row, j)) = wanted.next_if(|(row, _)| *row < end) {
                let at = usize::try_from(row - first).unwrap_or(usize::MAX);
                let mut to = k_mm.row_mut(j);
                match &chunk.x {
                    Rows::F32(x) => to.assign(&x.row(at).mapv(f64::from)),
                    Rows::F64(x) => to.assign(&x.row(at)),
                }
            }
            first = end;
        }
        source.rewind()?;
        Self::new(k_mm)
    }

    /// Keeps the `rank` largest eigenvalues.
    pub fn rank(mut self, rank: usize) -> Self {
        self.rank = Some(rank);
        self
    }

    /// m, the number of landmarks and of columns.
    pub fn landmarks(&self) -> usize {
        self.k_mm.nrows()
    }

    /// Whitens. Errors with [`Error::Parameter`] when the rank is 0 and with [`Error::Numerical`]
    /// when the kernel has no positive eigenvalue.
    pub fn build(&self) -> Result<PrecomputedMap> {
        if self.rank == Some(0) {
            return Err(Error::parameter("the rank is 0; use at least 1"));
        }
        let whitening = Whitening::of_gram(&self.k_mm, false, self.rank, false)?;
        let m = self.landmarks();
        let remark = (whitening.dependent > 0).then(|| {
            format!(
                "kept {} of {}: the kernel of the others is a combination of theirs to the \
                 rounding of f64",
                m - whitening.dependent,
                counted(m, "landmark")
            )
        });
        if let Some(remark) = &remark {
            log::warn!("{remark}");
        }
        Ok(PrecomputedMap {
            input: Affine::identity(m),
            root_mr: whitening.root,
            remark,
        })
    }
}

impl MapBuilder for Precomputed {
    fn settings(&self) -> Settings {
        let settings = Settings::of_map(PRECOMPUTED);
        match self.rank {
            Some(rank) => settings.text("rank", rank),
            None => settings,
        }
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(Arc::new(Linear))
    }

    fn features(&self) -> Option<usize> {
        Some(self.rank.unwrap_or(usize::MAX).min(self.landmarks()))
    }

    fn usual_bandwidth(&self) -> Option<Bandwidth> {
        Some(Bandwidth::Sigma(1.0))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        self.check(data.input.columns())?;
        Ok(Box::new(self.build()?))
    }
}

impl Precomputed {
    /// Errors unless the data has a column for each landmark.
    pub(super) fn check(&self, columns: usize) -> Result<()> {
        if columns == self.landmarks() {
            Ok(())
        } else {
            let problem = format!(
                "the data has {}, and the kernel is of {}; give one column for each",
                counted(columns, "column"),
                counted(self.landmarks(), "landmark")
            );
            Err(Error::shape(problem).help(Remedy::words("name targets with --target")))
        }
    }
}

/// [`Precomputed`] with the landmarks' kernel taken apart.
#[derive(Debug, Clone)]
pub struct PrecomputedMap {
    input: Affine,
    /// `z(x) = root' k_m(x)`, `[m, r]`.
    root_mr: Array2<f32>,
    /// For people; not kept in files.
    remark: Option<String>,
}

impl PrecomputedMap {
    /// The inverse root of the landmarks' kernel, `[m, r]`.
    #[doc(hidden)]
    pub fn root(&self) -> ArrayView2<'_, f32> {
        self.root_mr.view()
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let input = Affine::read(store)?;
        let root_mr = store.f32("root")?;
        if root_mr.nrows() != input.columns() {
            return Err(Error::shape(format!(
                "a root of {:?} does not fit {}",
                root_mr.dim(),
                counted(input.columns(), "column")
            )));
        }
        Ok(Self {
            input,
            root_mr,
            remark: None,
        })
    }
}

impl FeatureMap for PrecomputedMap {
    fn name(&self) -> &'static str {
        PRECOMPUTED
    }

    fn describe(&self) -> String {
        format!(
            "nystrom features of precomputed kernel values, {} to {}",
            counted(self.input_dim(), "column"),
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.root_mr.ncols()
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(Loaded {
            root_mr: Matrix::upload(device, self.root_mr.view())?,
            folded: None,
        }))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", PRECOMPUTED);
        store.put_f32("root", self.root_mr.view());
        self.input.write(store);
        Ok(())
    }

    fn formula(&self) -> Result<Formula> {
        Ok(Formula::Mixed {
            root_de: self.root_mr.mapv(f64::from),
            inner: Box::new(Formula::Identity(self.root_mr.ncols())),
        })
    }

    fn remarks(&self) -> Vec<String> {
        self.remark.iter().cloned().collect()
    }
}

/// The map on a device.
#[derive(Debug)]
struct Loaded {
    root_mr: Matrix,
    /// The coefficients of the kernel values.
    folded: Option<Matrix>,
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        product(x_nd, &self.root_mr, z_nd)
    }

    /// `k_m(x) (root beta)`, as Nystrom maps have it.
    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let (m, targets) = (self.root_mr.rows(), beta_dt.cols());
        let folded = match &mut self.folded {
            Some(folded) if folded.cols() == targets => folded,
            none => none.insert(Matrix::new(y_nt.device(), m, targets)?),
        };
        product(&self.root_mr, beta_dt, folded)?;
        product(x_nd, folded, y_nt)
    }
}
