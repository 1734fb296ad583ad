//! Columns of the kernel matrix as they are: the kernel of a row with landmark rows, for learners
//! that penalise functions by the kernel itself.

use super::{
    Affine, FeatureMap, Formula, Landmarks, LoadedMap, MapBuilder, MapData, Structure,
    names::KERNEL_COLUMNS,
};
use crate::{
    Device, Error, Matrix, Result,
    data::Rows,
    kernels::{self, Kernel, gram},
    linalg::entries,
    ops::kernel_block::{KernelBlock, Level},
    seed::Seed,
    settings::Settings,
    store::Store,
    text::counted,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::sync::Arc;

/// What `KernelRidge` and `Falkon` stand on:
/// a kernel, and for the second how many rows are landmarks and how they are chosen.
///
/// The map is `k_m(x)`, the kernel of x with every landmark, without the root that a
/// [`Nystrom`](super::Nystrom) map whitens it with. Its inner products are therefore not the
/// kernel, and it is for these learners alone.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, KernelColumns}, kernels::Gaussian};
/// let rows = ndarray::array![[0.0], [0.5], [2.0]];
/// let map = KernelColumns::new(Gaussian).landmarks(2);
/// let map = map.build(Affine::identity(1), &rows)?;
/// assert_eq!(map.landmarks().dim(), (2, 1));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct KernelColumns {
    kernel: Arc<dyn Kernel>,
    landmarks: usize,
    choice: Landmarks,
    seed: Seed,
}

impl KernelColumns {
    /// Of `kernel`, without landmarks until some are asked for: a learner that takes all rows needs
    /// none.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self {
            kernel: Arc::new(kernel),
            landmarks: 0,
            choice: Landmarks::default(),
            seed: Seed(0),
        }
    }

    /// m, the number of landmarks.
    pub fn landmarks(mut self, landmarks: usize) -> Self {
        self.landmarks = landmarks;
        self
    }

    /// How landmarks are chosen; uniform, until said otherwise. [`Landmarks::Rows`] brings its own.
    pub fn choice(mut self, choice: Landmarks) -> Self {
        self.choice = choice;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Chooses landmarks among `candidates`, raw rows `[n, d]`. `input` takes raw columns to unit
    /// lengthscale.
    ///
    /// Errors as [`Nystrom::build`](super::Nystrom::build) does, but for landmarks that were not
    /// asked for.
    pub fn build(&self, input: Affine, candidates: impl Into<Rows>) -> Result<KernelColumnsMap> {
        let given = matches!(self.choice, Landmarks::Rows(_));
        if self.landmarks == 0 && !given {
            let none = Array2::zeros((0, input.columns()));
            return Ok(KernelColumnsMap::from_landmarks(
                self.kernel.clone(),
                input,
                none,
            ));
        }
        let kernel = self.kernel.as_ref();
        let chosen = (self.choice).among(kernel, &input, candidates, self.landmarks, self.seed)?;
        Ok(KernelColumnsMap::from_landmarks(
            self.kernel.clone(),
            input,
            chosen.mapv(entries::narrow),
        ))
    }
}

impl MapBuilder for KernelColumns {
    fn settings(&self) -> Settings {
        let settings = Settings::default().text("kernel", self.kernel.spec());
        let settings = match self.landmarks {
            0 => settings,
            landmarks => settings
                .text("landmarks", landmarks)
                .text("landmarks-choice", &self.choice),
        };
        settings.text("seed", self.seed.0)
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(self.kernel.clone())
    }

    fn sample_rows(&self) -> usize {
        match self.landmarks {
            0 => 0,
            landmarks => self.choice.candidates(landmarks),
        }
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input, &data.survey.sample)?))
    }
}

/// Landmarks up to which all their kernel values decide where a block is measured from.
const LOOKED_AT: usize = 1000;

/// [`KernelColumns`] with their landmarks chosen, or without any.
#[derive(Debug, Clone)]
pub struct KernelColumnsMap {
    kernel: Arc<dyn Kernel>,
    input: Affine,
    landmarks_md: Array2<f32>,
    level: Level,
}

impl KernelColumnsMap {
    /// Of landmarks at unit scale.
    pub(crate) fn from_landmarks(
        kernel: Arc<dyn Kernel>,
        input: Affine,
        landmarks_md: Array2<f32>,
    ) -> Self {
        let some = landmarks_md.slice(s![..landmarks_md.nrows().min(LOOKED_AT), ..]);
        let k = gram(kernel.as_ref(), some.mapv(f64::from).view());
        // From the top where most values are near it: f32 then holds more of their digits.
        let square = |from: f64| k.mapv(|k| (k - from).powi(2)).mean();
        let top = k.get([0, 0]).filter(|_| kernel.is_shift_invariant());
        let level = match top {
            Some(&top) if square(top) < square(0.0) => Level::Top,
            _ => Level::Zero,
        };
        Self {
            kernel,
            input,
            landmarks_md,
            level,
        }
    }

    /// The same kernel with all `rows` as landmarks, raw as the data are.
    #[doc(hidden)]
    pub fn with_all(&self, rows: &Rows) -> Result<Self> {
        let landmarks_md = self.input.apply(rows)?.mapv(entries::narrow);
        Ok(Self::from_landmarks(
            self.kernel.clone(),
            self.input.clone(),
            landmarks_md,
        ))
    }

    /// The kernel, at unit scale.
    #[doc(hidden)]
    pub fn kernel(&self) -> Arc<dyn Kernel> {
        self.kernel.clone()
    }

    /// The landmarks at unit scale, `[m, d]`.
    pub fn landmarks(&self) -> ArrayView2<'_, f32> {
        self.landmarks_md.view()
    }

    /// The kernel of the landmarks in f64, `[m, m]`, of rows as a device sees them.
    ///
    /// Errors with [`Error::Numerical`] when a value is not finite.
    #[doc(hidden)]
    pub fn gram(&self) -> Result<Array2<f64>> {
        let k_mm = gram(
            self.kernel.as_ref(),
            self.landmarks_md.mapv(f64::from).view(),
        );
        if k_mm.iter().all(|k| k.is_finite()) {
            Ok(k_mm)
        } else {
            Err(super::nystrom::not_finite("the landmarks"))
        }
    }

    /// k(0) where columns are measured from it: the last column then is ones, `[m + 1]` in all.
    #[doc(hidden)]
    pub fn top(&self) -> Option<f64> {
        let one = (self.level == Level::Top).then(|| self.landmarks_md.row(0));
        one.map(|row| {
            let row: Vec<f64> = row.iter().map(|&v| f64::from(v)).collect();
            self.kernel.evaluate(&row, &row)
        })
    }

    /// Coefficients of the landmarks, `[m, t]`, as those of the columns of this map.
    #[doc(hidden)]
    pub fn lift(&self, alpha_mt: Array2<f64>) -> Array2<f64> {
        match self.top() {
            None => alpha_mt,
            Some(top) => {
                let sums: Array1<f64> = top * alpha_mt.sum_axis(Axis(0));
                let sums = sums.insert_axis(Axis(0));
                ndarray::concatenate![Axis(0), alpha_mt, sums]
            }
        }
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let input = Affine::read(store)?;
        let landmarks_md = store.f32("landmarks")?;
        let level = match store.text("level")? {
            "zero" => Level::Zero,
            "top" => Level::Top,
            other => return Err(Error::format(format!("the level {other:?} is not known"))),
        };
        if landmarks_md.ncols() != input.columns() {
            return Err(Error::shape(format!(
                "landmarks {:?} do not fit {}",
                landmarks_md.dim(),
                counted(input.columns(), "column")
            )));
        }
        Ok(Self {
            kernel: kernels::parse(store.text("kernel")?)?,
            input,
            landmarks_md,
            level,
        })
    }
}

impl FeatureMap for KernelColumnsMap {
    fn name(&self) -> &'static str {
        KERNEL_COLUMNS
    }

    fn describe(&self) -> String {
        let m = self.landmarks_md.nrows();
        let landmarks = match m {
            0 => "all rows".into(),
            _ => counted(m, "landmark"),
        };
        format!("the {} kernel with {landmarks}", self.kernel.spec())
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.level.columns(self.landmarks_md.nrows())
    }

    fn formula(&self) -> Result<Formula> {
        Ok(Formula::kernel(
            &self.kernel,
            self.landmarks(),
            self.level,
            None,
        ))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        let (kernel, landmarks_md) = (self.kernel.clone(), self.landmarks_md.view());
        Ok(Box::new(Loaded {
            block: KernelBlock::load_from(device, kernel, landmarks_md, self.level)?,
            scratch: None,
        }))
    }

    /// Errors when the kernel is code of the user's own.
    fn write(&self, store: &mut Store) -> Result<()> {
        let spec = self.kernel.spec();
        kernels::parse(&spec).map_err(|_| {
            Error::unsupported(format!(
                "the kernel {spec} is code, which no file can keep, and its columns need it to \
                 predict; use a kernel of the catalogue"
            ))
        })?;
        store.set("map", KERNEL_COLUMNS);
        store.set("kernel", spec);
        store.set(
            "level",
            match self.level {
                Level::Zero => "zero",
                Level::Top => "top",
            },
        );
        store.put_f32("landmarks", self.landmarks_md.view());
        self.input.write(store);
        Ok(())
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Kernel(self)
    }
}

/// Kernel columns on a device.
#[derive(Debug)]
struct Loaded {
    block: KernelBlock,
    /// Some rows of the kernel block, on a GPU.
    scratch: Option<Matrix>,
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.block.run(x_nd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        self.block.times(x_nd, beta_dt, y_nt, &mut self.scratch)
    }
}
