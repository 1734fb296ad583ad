//! Columns mixed by a matrix before a map sees them: kernels of a learned metric.

use super::{
    Affine, FeatureMap, Formula, LoadedMap, MapBuilder, MapData, Reader, names::MIXED,
    require_dense, union::room,
};
use crate::{
    Device, Error, Matrix, Result, data::Rows, kernels::Domain, linalg::entries,
    ops::product::product, store::Store, text::counted,
};
use ndarray::{Array2, Axis};

/// `z(R'u)`: a map of the columns that a matrix R makes of the prepared ones.
#[derive(Debug)]
#[doc(hidden)]
pub struct Mixed {
    input: Affine,
    /// R with the scales of the map behind it, `[d, e]`.
    root_de: Array2<f32>,
    inner: Box<dyn FeatureMap>,
}

impl Mixed {
    /// Rows go through `input`, then `root_de` `[d, e]`, then `inner`, which takes e columns and
    /// centres none. Dense maps take R into their frequencies: what comes back is one.
    ///
    /// Errors with [`Error::Shape`] when these do not fit together, and with
    /// [`Error::Unsupported`] when `inner` centres its columns, does not take every number, or its
    /// features cannot be stored.
    pub fn compose(
        input: Affine,
        root_de: &Array2<f64>,
        inner: Box<dyn FeatureMap>,
    ) -> Result<Box<dyn FeatureMap>> {
        if root_de.dim() != (input.columns(), inner.input_dim()) {
            return Err(Error::shape(format!(
                "a matrix of {:?} does not take {} to a map of {}",
                root_de.dim(),
                counted(input.columns(), "column"),
                inner.input_dim()
            )));
        }
        require_dense(inner.as_ref())?;
        if inner.input().centres() {
            return Err(Error::unsupported(
                "a map of mixed columns cannot centre them; centre before they are mixed",
            ));
        }
        if inner.input().domain() != Domain::Any {
            return Err(Error::unsupported(format!(
                "{} features take values of {} and mixed columns hold any; use another map",
                inner.name(),
                inner.input().domain()
            )));
        }
        if let Some(folded) = inner.after(&input, root_de) {
            return Ok(folded);
        }
        let mut scaled = root_de.clone();
        for (mut column, scale) in scaled.columns_mut().into_iter().zip(inner.input().scale()) {
            column *= *scale;
        }
        let root_de = scaled.mapv(entries::narrow);
        Ok(Box::new(Self {
            input,
            root_de,
            inner,
        }))
    }

    /// Draws the map of `builder` for mixed columns: what it sees of the data are rows that went
    /// through `data.input` and `root_dd` `[d, d]`, divided by `lengthscale`.
    ///
    /// Errors as the builder and [`Self::compose`] do.
    #[doc(hidden)]
    pub fn build(
        builder: &dyn MapBuilder,
        data: MapData<'_>,
        root_dd: &Array2<f64>,
        lengthscale: f64,
    ) -> Result<Box<dyn FeatureMap>> {
        let input = data.input;
        let sample = input.apply(&Rows::from(&data.survey.sample))?.dot(root_dd);
        let mut survey = data.survey.clone();
        if sample.nrows() > 1 {
            survey.variance = sample.var_axis(Axis(0), 0.0).to_vec();
        }
        survey.sample = sample;
        let inner = builder.build_from(MapData {
            input: Affine::identity(root_dd.ncols()).lengthscale(lengthscale)?,
            survey: &survey,
            source: data.source,
            run: data.run,
            seed: data.seed,
            sampling: data.sampling,
            columns: None,
        })?;
        Self::compose(input, root_dd, inner)
    }

    pub(super) fn read(store: &Store, read: Reader) -> Result<Self> {
        let input = Affine::read(store)?;
        let root_de = store.f32("root")?;
        let inner = read(&store.nested("inner"))?;
        if root_de.dim() != (input.columns(), inner.input_dim()) {
            return Err(Error::shape(format!(
                "a root of {:?} does not fit {} and {} columns",
                root_de.dim(),
                input.columns(),
                inner.input_dim()
            )));
        }
        require_dense(inner.as_ref())?;
        Ok(Self {
            input,
            root_de,
            inner,
        })
    }
}

impl FeatureMap for Mixed {
    fn name(&self) -> &'static str {
        MIXED
    }

    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn describe(&self) -> String {
        format!("{}, mixed by a metric", self.inner.describe())
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.inner.output_dim()
    }

    fn formula(&self) -> Result<Formula> {
        Ok(Formula::Mixed {
            root_de: self.root_de.mapv(f64::from),
            inner: Box::new(self.inner.formula()?),
        })
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(Loaded {
            root_de: Matrix::upload(device, self.root_de.view())?,
            inner: self.inner.load(device)?,
            mixed: None,
            device: device.clone(),
        }))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        let mut inner = Store::default();
        self.inner.write(&mut inner)?;
        store.set("map", MIXED);
        store.put_f32("root", self.root_de.view());
        store.nest("inner", inner);
        self.input.write(store);
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        self.inner.remarks()
    }

    /// Mixed rows, beside what the map behind them keeps.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        self.root_de.ncols() + self.inner.scratch_columns(targets)
    }
}

/// Mixed columns on a device.
#[derive(Debug)]
struct Loaded {
    root_de: Matrix,
    inner: Box<dyn LoadedMap>,
    mixed: Option<Matrix>,
    device: Device,
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        let columns = self.root_de.cols();
        let mixed = room(&mut self.mixed, &self.device, x_nd.rows(), columns)?;
        product(x_nd, &self.root_de, mixed)?;
        self.inner.featurize(mixed, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let columns = self.root_de.cols();
        let mixed = room(&mut self.mixed, &self.device, x_nd.rows(), columns)?;
        product(x_nd, &self.root_de, mixed)?;
        self.inner.predict(mixed, beta_dt, y_nt)
    }
}
