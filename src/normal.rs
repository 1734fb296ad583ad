//! [`NormalEquations`]: all that a linear fit needs of the data. Sums only, so that parts computed anywhere merge.

use crate::{
    Device, Error, Matrix, Result,
    data::{ChunkSource, Rows},
    features::{FeatureMap, LoadedMap, require_dense},
    ops::gram::GramAccumulator,
    plan::{RowNeeds, chunk_rows_on},
    store::{Store, in_file},
    stream::{Portions, Progress, for_each_chunk},
};
use ndarray::{Array1, Array2, ArrayView2, s};
use std::path::Path;

const KIND: &str = "normal-equations";

/// What the target columns mean.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Real values, one column each.
    Real {
        /// Number of target columns.
        columns: usize,
        /// Subtracted before anything is rounded to f32, and added again; the mean is a good choice. `[columns]`.
        shift: Vec<f64>,
    },
    /// One column of class labels, fitted one against all as +-1.
    Classes(Vec<f64>),
}

impl Targets {
    /// Columns that are fitted: one per target, or one per class.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Real { columns, .. } => *columns,
            Self::Classes(labels) => labels.len(),
        }
    }

    pub(crate) fn shift(&self, k: usize) -> f64 {
        match self {
            Self::Real { shift, .. } => shift[k],
            Self::Classes(_) => 0.0,
        }
    }

    /// The fitted columns of a chunk, shifted, `[rows, outputs]`. Errors on a label that is no class.
    pub(crate) fn encode(&self, y: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        match self {
            Self::Real { columns, shift } => {
                if y.ncols() != *columns {
                    return Err(Error::Shape(format!(
                        "the data has {} target columns, the fit takes {columns}",
                        y.ncols()
                    )));
                }
                Ok(&y - &Array1::from(shift.clone()))
            }
            Self::Classes(labels) => {
                if y.ncols() != 1 {
                    return Err(Error::Shape(format!(
                        "a classifier takes one column of labels, the data has {}",
                        y.ncols()
                    )));
                }
                let mut encoded = Array2::from_elem((y.nrows(), labels.len()), -1.0);
                for (mut row, label) in encoded.rows_mut().into_iter().zip(y.column(0)) {
                    let class = labels.iter().position(|l| l == label).ok_or_else(|| {
                        Error::Parameter(format!("label {label} is none of the classes {labels:?}"))
                    })?;
                    row[class] = 1.0;
                }
                Ok(encoded)
            }
        }
    }
}

/// A loaded map with the matrices of a chunk.
struct Buffers {
    loaded: Box<dyn LoadedMap>,
    x_nd: Matrix,
    z_nd: Matrix,
    /// Targets, and a column of ones beside them that gives the column sums of Z.
    y_nt: Matrix,
}

impl Buffers {
    /// Those that are there, or new ones for `rows` rows; the map too, whose scratch is for as many.
    fn of<'a>(
        kept: &'a mut Option<Self>,
        map: &dyn FeatureMap,
        device: &Device,
        rows: usize,
        outputs: usize,
    ) -> Result<&'a mut Self> {
        if kept
            .as_ref()
            .is_some_and(|b| b.x_nd.capacity_rows() != rows)
        {
            *kept = None;
        }
        Ok(match kept {
            Some(buffers) => buffers,
            none => none.insert(Self {
                loaded: map.load(device)?,
                x_nd: Matrix::new(device, rows, map.input_dim())?,
                z_nd: Matrix::new(device, rows, map.output_dim())?,
                y_nt: Matrix::new(device, rows, outputs + 1)?,
            }),
        })
    }

    fn featurize(&mut self, map: &dyn FeatureMap, x: &Rows, y: &Array2<f64>) -> Result<()> {
        map.input().load(x, &mut self.x_nd)?;
        let mut augmented = Array2::from_elem((y.nrows(), y.ncols() + 1), 1.0_f32);
        augmented
            .slice_mut(s![.., ..y.ncols()])
            .assign(&y.mapv(|v| v as f32));
        self.y_nt.write(augmented.view())?;
        self.z_nd.set_rows(self.x_nd.rows())?;
        self.loaded.featurize(&self.x_nd, &mut self.z_nd)
    }
}

/// `Z'Z`, `Z'Y` and the sums beside them, in f64: a monoid under [`Self::merge`].
#[derive(Debug, Clone, PartialEq)]
pub struct NormalEquations {
    /// Number of rows, n.
    pub rows: u64,
    /// `Z'Z`, `[D, D]`, lower triangle.
    pub gram_dd: Array2<f64>,
    /// `Z'Y`, `[D, t]`.
    pub zty_dt: Array2<f64>,
    /// Column sums of Z, `[D]`.
    pub z_sum_d: Array1<f64>,
    /// Column sums of Y, `[t]`.
    pub y_sum_t: Array1<f64>,
    /// Sums of squares of Y, `[t]`.
    pub y_square_t: Array1<f64>,
}

impl NormalEquations {
    /// No rows.
    pub fn zero(features: usize, targets: usize) -> Self {
        Self {
            rows: 0,
            gram_dd: Array2::zeros((features, features)),
            zty_dt: Array2::zeros((features, targets)),
            z_sum_d: Array1::zeros(features),
            y_sum_t: Array1::zeros(targets),
            y_square_t: Array1::zeros(targets),
        }
    }

    /// Streams `source` through `map` on `device`: chunks of at most `memory` bytes are read, featurized and summed; the
    /// features never leave the device and nothing is read back before the end. `progress` hears the rows done.
    ///
    /// Errors on a source without rows or targets, a label that is no class, and everything that sources and devices report.
    pub fn accumulate(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        device: &Device,
        memory: u64,
        progress: Progress<'_>,
    ) -> Result<Self> {
        if source.targets() == 0 {
            return Err(Error::Shape(
                "the data has no targets to fit; name them with --target or --targets".into(),
            ));
        }
        require_dense(map)?;
        let (d, features) = (map.input_dim(), map.output_dim());
        let outputs = targets.outputs();
        let needs = RowNeeds {
            columns: d,
            widest: features.max(d),
            // Targets: as read (two chunks of f64), encoded in f64, augmented in f32, and on the device.
            device_columns: d + features + 4 * source.targets() + 4 * (outputs + 1),
        };
        let rows = chunk_rows_on(device, needs, memory)?;
        let rows = source.rows().map_or(rows, |n| rows.min(n.max(1)));
        let mut sums = GramAccumulator::new(device, features, outputs + 1)?;
        let mut out = Self::zero(features, outputs);
        let mut buffers = None;
        let mut portions = Portions::new(rows);
        out.rows = for_each_chunk(source, rows, progress, |chunk| {
            portions.each(chunk.x.nrows(), |range, rows| {
                let buffers = Buffers::of(&mut buffers, map, device, rows, outputs)?;
                let y = targets.encode(chunk.y.slice(s![range.clone(), ..]))?;
                buffers.featurize(map, &chunk.x.part(range), &y)?;
                for row in y.rows() {
                    for (k, &v) in row.iter().enumerate() {
                        let raw = v + targets.shift(k);
                        out.y_sum_t[k] += raw;
                        out.y_square_t[k] += raw * raw;
                    }
                }
                Ok(sums.add(&buffers.z_nd, &buffers.y_nt))
            })
        })?;
        if out.rows == 0 {
            return Err(Error::Shape("the data has no rows".into()));
        }
        let sums = sums.finish()?;
        out.gram_dd = sums.gram_dd;
        out.z_sum_d = sums.zty_dt.column(outputs).to_owned();
        out.zty_dt = sums.zty_dt.slice(s![.., ..outputs]).to_owned();
        for k in 0..outputs {
            let shift = targets.shift(k);
            out.zty_dt.column_mut(k).scaled_add(shift, &out.z_sum_d);
        }
        if out
            .gram_dd
            .iter()
            .chain(&out.zty_dt)
            .any(|v| !v.is_finite())
        {
            return Err(Error::Numerical(
                "the sums are not finite: the features or targets are too large; use --standardize"
                    .into(),
            ));
        }
        Ok(out)
    }

    /// Adds the sums of other rows: associative and, but for rounding, commutative. Errors when the shapes differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.zty_dt.dim() != other.zty_dt.dim() {
            return Err(Error::Shape(format!(
                "normal equations of {:?} and {:?} features and targets do not merge",
                self.zty_dt.dim(),
                other.zty_dt.dim()
            )));
        }
        self.rows += other.rows;
        self.gram_dd += &other.gram_dd;
        self.zty_dt += &other.zty_dt;
        self.z_sum_d += &other.z_sum_d;
        self.y_sum_t += &other.y_sum_t;
        self.y_square_t += &other.y_square_t;
        Ok(())
    }

    /// Writes the sums to a file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut store = Store::default();
        store.set("rows", self.rows);
        store.put_f64("gram", self.gram_dd.view());
        store.put_f64("zty", self.zty_dt.view());
        for (name, vector) in [
            ("z_sum", &self.z_sum_d),
            ("y_sum", &self.y_sum_t),
            ("y_square", &self.y_square_t),
        ] {
            store.put_vector(name, &vector.to_vec());
        }
        store.save(KIND, path.as_ref())
    }

    /// Reads what [`Self::save`] wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        let read = || -> Result<Self> {
            let zty_dt = store.f64("zty")?;
            let (features, targets) = zty_dt.dim();
            let gram_dd = store.f64("gram")?;
            if gram_dd.dim() != (features, features) {
                return Err(Error::Shape(format!(
                    "a Gram matrix of shape {:?} does not go with {features} features",
                    gram_dd.dim()
                )));
            }
            Ok(Self {
                rows: store.get("rows")?,
                gram_dd,
                zty_dt,
                z_sum_d: store.vector("z_sum", features)?,
                y_sum_t: store.vector("y_sum", targets)?,
                y_square_t: store.vector("y_square", targets)?,
            })
        };
        read().map_err(|e| in_file(path, &e))
    }
}
