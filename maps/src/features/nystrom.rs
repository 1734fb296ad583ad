//! Nystrom features (Williams & Seeger 2001): the kernel with a few landmark rows, whitened by
//! their own kernel matrix.

mod landmarks;
mod whitening;

pub use landmarks::Landmarks;
pub(super) use landmarks::not_finite;

use super::{Affine, FeatureMap, Formula, LoadedMap, MapBuilder, MapData, names::NYSTROM};
use crate::{
    Device, Error, Matrix, Result,
    data::Rows,
    kernels::{self, Kernel},
    linalg::entries,
    ops::{
        kernel_block::{KernelBlock, Level},
        product::product,
    },
    seed::Seed,
    settings::Settings,
    store::Store,
    text::counted,
};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;
pub(super) use whitening::Whitening;

/// Builds a Nystrom map from candidate rows: kernel, landmarks, number of features, rank, seed.
///
/// `z(x) = K_mm^{-1/2} k_m(x)`, up to a rotation: with `K_mm = U diag(lambda) U'` in f64, columns
/// `diag(lambda)^{-1/2} U' k_m(x)` for the eigenvalues above `m 2^-52 max(lambda)` and, of these,
/// the `rank` largest. Below lies rounding of f64, where duplicate landmarks fall away: a warning
/// and [`FeatureMap::remarks`] say how many. Rounding of `k_m(x)` in f32 is blown up by
/// `lambda^{-1/2}`, so lambda counts as `2^-24 m s^2 / max_i k_ii` at least, with `s^2` the mean
/// square of `k - k(0)`, which is what is computed where it is small. With all rows as landmarks
/// the kernel is reproduced.
///
/// ```
/// use bochner::{features::{Affine, FeatureMap, Nystrom}, kernels::Gaussian};
/// let rows = ndarray::array![[0.0], [0.5], [2.0]];
/// let map = Nystrom::new(Gaussian).features(3).build(Affine::identity(1), &rows)?;
/// assert_eq!(map.output_dim(), 3);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Nystrom {
    kernel: Arc<dyn Kernel>,
    landmarks: Landmarks,
    features: usize,
    rank: Option<usize>,
    symmetric: bool,
    seed: Seed,
}

impl Nystrom {
    /// Features of `kernel`: 1000 uniform landmarks, of full rank, from seed 0, until said
    /// otherwise.
    pub fn new(kernel: impl Kernel + 'static) -> Self {
        Self {
            kernel: Arc::new(kernel),
            landmarks: Landmarks::default(),
            features: 1000,
            rank: None,
            symmetric: false,
            seed: Seed(0),
        }
    }

    /// How landmarks are chosen.
    pub fn landmarks(mut self, landmarks: Landmarks) -> Self {
        self.landmarks = landmarks;
        self
    }

    /// m, the number of landmarks, and of features unless the landmarks' kernel is singular or
    /// [`Self::rank`] is less. [`Landmarks::Rows`] brings its own.
    pub fn features(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// Keeps the `rank` largest eigenvalues.
    pub fn rank(mut self, rank: usize) -> Self {
        self.rank = Some(rank);
        self
    }

    /// Whether features are `K_mm^{-1/2} k_m(x)` with the symmetric root, `U lambda^{-1/2} U'
    /// k_m(x)`: a rotation of the others, and always as many as there are landmarks, which is how
    /// scikit-learn has them. They are not, until said otherwise.
    ///
    /// ```
    /// use bochner::{features::{Affine, FeatureMap, Landmarks, Nystrom}, kernels::Gaussian};
    /// let twice = ndarray::array![[0.0], [0.0], [2.0]];
    /// let map = Nystrom::new(Gaussian).landmarks(Landmarks::Rows(twice.clone())).symmetric(true);
    /// assert_eq!(map.build(Affine::identity(1), &twice)?.output_dim(), 3);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn symmetric(mut self, symmetric: bool) -> Self {
        self.symmetric = symmetric;
        self
    }

    /// The seed of all draws.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Chooses landmarks among `candidates` (raw rows, `[n, d]`: the training rows or a sample of
    /// them) and whitens. `input` takes raw columns to unit lengthscale.
    ///
    /// # Errors
    /// [`Error::Parameter`] when there are more landmarks than rows, or none, or the rank is 0;
    /// [`Error::Shape`] when columns differ; [`Error::Numerical`] when the kernel of the landmarks
    /// is not finite or zero throughout.
    pub fn build(&self, input: Affine, candidates: impl Into<Rows>) -> Result<NystromFeatures> {
        if self.rank == Some(0) {
            return Err(Error::parameter("the rank is 0; use at least 1"));
        }
        let kernel = self.kernel.as_ref();
        let chosen =
            (self.landmarks).among(kernel, &input, candidates, self.features, self.seed)?;
        // As the device will see them.
        let landmarks_md = chosen.mapv(entries::narrow);
        let whitening = Whitening::from_landmarks(
            self.kernel.as_ref(),
            landmarks_md.mapv(f64::from).view(),
            self.rank,
            self.symmetric,
        )?;
        let remark = self.dropped(landmarks_md.nrows(), whitening.dependent);
        if let Some(remark) = &remark {
            log::warn!("{remark}");
        }
        Ok(NystromFeatures {
            origin: format!(
                "the {} kernel, {} landmarks",
                self.kernel.spec(),
                self.landmarks
            ),
            kernel: self.kernel.clone(),
            input,
            landmarks_md,
            level: whitening.level,
            root_br: whitening.root,
            remark,
        })
    }

    /// What to say when `dependent` of the `chosen` landmarks have no feature, or fewer were chosen
    /// than asked for.
    fn dropped(&self, chosen: usize, dependent: usize) -> Option<String> {
        let asked = match self.landmarks {
            Landmarks::Rows(_) => chosen,
            _ => self.features,
        };
        let kept = chosen - dependent;
        // With the symmetric root there are as many features all the same.
        (kept < asked && !self.symmetric).then(|| {
            format!(
                "asked for {}, kept {kept}: the kernel of the others is a combination of theirs \
                 to the rounding of f64; a shorter lengthscale tells more apart",
                counted(asked, "landmark")
            )
        })
    }
}

impl MapBuilder for Nystrom {
    fn settings(&self) -> Settings {
        let settings = Settings::of_map(NYSTROM)
            .text("kernel", self.kernel.spec())
            .text("features", self.features)
            .text("landmarks-choice", &self.landmarks);
        let settings = match self.rank {
            Some(rank) => settings.text("rank", rank),
            None => settings,
        };
        settings.text("seed", self.seed.0)
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(self.kernel.clone())
    }

    /// Ten times the landmarks, at least 2,000 and at most 20,000, but never fewer than the
    /// landmarks; none for [`Landmarks::Rows`].
    fn sample_rows(&self) -> usize {
        self.landmarks.candidates(self.features)
    }

    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    fn variant(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Box<dyn MapBuilder>> {
        let given = matches!(self.landmarks, Landmarks::Rows(_));
        let varied = || Self {
            kernel,
            features,
            ..self.clone()
        };
        (!given).then(|| Box::new(varied()) as _)
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let map = self.clone().seed(data.seed.unwrap_or(self.seed));
        Ok(Box::new(map.build(data.input, &data.survey.sample)?))
    }
}

/// A Nystrom map with its landmarks chosen.
#[derive(Debug, Clone)]
pub struct NystromFeatures {
    /// Kernel and landmarks, for people.
    origin: String,
    kernel: Arc<dyn Kernel>,
    input: Affine,
    landmarks_md: Array2<f32>,
    /// What the kernel block is measured from.
    level: Level,
    /// From a row of the kernel block to features.
    root_br: Array2<f32>,
    /// For people; not kept in files.
    remark: Option<String>,
}

impl NystromFeatures {
    /// The landmarks at unit scale, `[m, d]`.
    pub fn landmarks(&self) -> ArrayView2<'_, f32> {
        self.landmarks_md.view()
    }

    /// The inverse root of their kernel, `[m, r]`: `z(x) = root' k_m(x)`.
    #[doc(hidden)]
    pub fn root(&self) -> ArrayView2<'_, f32> {
        let m = self.landmarks_md.nrows();
        self.root_br.slice(ndarray::s![..m, ..])
    }

    pub(super) fn read(store: &Store) -> Result<Self> {
        let input = Affine::read(store)?;
        let landmarks_md = store.f32("landmarks")?;
        let root_br = store.f32("root")?;
        // A row more than landmarks is that of a block from the top.
        let m = landmarks_md.nrows();
        let level = [Level::Zero, Level::Top]
            .into_iter()
            .find(|level| level.columns(m) == root_br.nrows());
        let Some(level) = level.filter(|_| landmarks_md.ncols() == input.columns()) else {
            return Err(Error::shape(format!(
                "landmarks {:?} and root {:?} do not fit {} columns",
                landmarks_md.dim(),
                root_br.dim(),
                input.columns()
            )));
        };
        Ok(Self {
            origin: store.text("origin")?.to_owned(),
            kernel: kernels::parse(store.text("kernel")?)?,
            input,
            landmarks_md,
            level,
            root_br,
            remark: None,
        })
    }
}

impl FeatureMap for NystromFeatures {
    fn name(&self) -> &'static str {
        NYSTROM
    }

    fn describe(&self) -> String {
        format!(
            "{} features of {}, {} to {}",
            NYSTROM,
            self.origin,
            counted(self.input_dim(), "column"),
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.root_br.ncols()
    }

    fn formula(&self) -> Result<Formula> {
        let root = Some(self.root_br.view());
        Ok(Formula::kernel(
            &self.kernel,
            self.landmarks(),
            self.level,
            root,
        ))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(Loaded {
            block: KernelBlock::load_from(
                device,
                self.kernel.clone(),
                self.landmarks_md.view(),
                self.level,
            )?,
            root_br: Matrix::upload(device, self.root_br.view())?,
            scratch: None,
            folded: None,
        }))
    }

    /// Errors when the kernel is code of the user's own.
    fn write(&self, store: &mut Store) -> Result<()> {
        let spec = self.kernel.spec();
        kernels::parse(&spec).map_err(|_| {
            Error::unsupported(format!(
                "the kernel {spec} is code, which no file can keep, and a Nystrom map needs it to predict; \
                 use a kernel of the catalogue"
            ))
        })?;
        store.set("map", NYSTROM);
        store.set("origin", &self.origin);
        store.set("kernel", spec);
        store.put_f32("landmarks", self.landmarks_md.view());
        store.put_f32("root", self.root_br.view());
        self.input.write(store);
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        self.remark.iter().cloned().collect()
    }
}

/// A Nystrom map on a device.
#[derive(Debug)]
struct Loaded {
    block: KernelBlock,
    root_br: Matrix,
    /// Some rows of the kernel block, on a GPU.
    scratch: Option<Matrix>,
    /// The coefficients of the kernel block.
    folded: Option<Matrix>,
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.block
            .times(x_nd, &self.root_br, z_nd, &mut self.scratch)
    }

    /// `k_m(x) (root beta)`: folding costs `m r t` operations a call, little beside the kernel of a
    /// chunk of rows.
    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let targets = beta_dt.cols();
        let folded = match &mut self.folded {
            Some(folded) if folded.cols() == targets => folded,
            none => none.insert(Matrix::new(y_nt.device(), self.block.columns(), targets)?),
        };
        product(&self.root_br, beta_dt, folded)?;
        self.block.times(x_nd, folded, y_nt, &mut self.scratch)
    }
}
