//! Kernel principal components: the directions in feature space along which rows differ most.

use super::{Fit, FitData, FitRows, FitTimes, Learner, LinearModel, Model, RowsAlone};
use crate::{
    Error, Result,
    data::{ChunkSource, MemorySource, ToRows},
    features::{End, FeatureMap, Featurizer, Lane},
    flow::Run,
    linalg::{
        eigen::{Eigen, eigen},
        leading::leading,
    },
    normal::{NormalEquations, Targets},
    solve::Coefficients,
    store::Store,
    text::counted,
};
use ndarray::{Array1, Array2, ArrayView1, s};
use rayon::prelude::*;
use std::time::Instant;

/// Principal components of the features: approximate kernel PCA (Schoelkopf, Smola and Mueller
/// 1998; on random features Lopez-Paz et al. 2014). The covariance of z(x), centred, is summed in
/// one pass in `8 D^2` bytes; its leading eigenvectors V give the components `(z(x) - mean)'V`,
/// which the model predicts, `[n, k]`.
///
/// Their variances are the eigenvalues of the centred kernel matrix of all rows, divided by n - 1.
/// The largest loading of each component is positive, so that signs are the same everywhere.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array2;
/// let x = Array2::from_shape_fn((200, 3), |(i, j)| ((i * (7 * j + 3)) % 23) as f64 / 23.0);
/// let pca = KernelPca::on(Fourier::new(Gaussian).features(128)).components(2);
/// let model = pca.fit(&x)?;
/// assert_eq!(model.predict(&x)?.dim(), (200, 2));
/// // How far a row is from all that the components span: a row unlike the others is far.
/// let far = model.reconstruction_errors(&ndarray::array![[5.0, -5.0, 5.0]])?;
/// assert!(far[0] > model.reconstruction_errors(&x)?.mean().unwrap());
/// # Ok::<(), bochner::Error>(())
/// ```
pub type KernelPca = Learner<KernelPcaOptions, RowsAlone>;

/// How many components are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Components {
    /// So many.
    Count(usize),
    /// The fewest whose variances are at least this share of all, above 0 and at most 1.
    Variance(f64),
}

/// What [`KernelPca`] has of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelPcaOptions {
    /// How many components are kept.
    pub components: Components,
}

impl Default for KernelPcaOptions {
    /// The components that explain 0.95 of the variance.
    fn default() -> Self {
        Self {
            components: Components::Variance(0.95),
        }
    }
}

impl KernelPca {
    /// Keeps `count` components.
    pub fn components(mut self, count: usize) -> Self {
        self.own.components = Components::Count(count);
        self
    }

    /// Keeps the fewest components that explain `share` of the variance; 0.95 until said otherwise.
    pub fn explained_variance(mut self, share: f64) -> Self {
        self.own.components = Components::Variance(share);
        self
    }
}

/// What kernel PCA knows beside its components.
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    /// The variance along each component, largest first, `[k]`.
    pub variance_t: Vec<f64>,
    /// The variance in all directions.
    pub total_variance: f64,
    /// The mean of z(x), `[D]`.
    pub mean_d: Array1<f64>,
}

impl Principal {
    /// The share of the variance along each component, `[k]`.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let share = |v| v / self.total_variance;
        self.variance_t.iter().map(share).collect()
    }

    pub(super) fn write(&self, store: &mut Store) {
        let mut own = Store::default();
        own.set("total_variance", self.total_variance);
        own.put_vector("variance", &self.variance_t);
        own.put_vector("mean", &self.mean_d.to_vec());
        store.nest(PREFIX, own);
    }

    /// What [`Self::write`] wrote, if it did, for a model of these coefficients.
    pub(super) fn read(store: &Store, (features, outputs): (usize, usize)) -> Result<Option<Self>> {
        let own = store.nested(PREFIX);
        if !own.has("variance") {
            return Ok(None);
        }
        Ok(Some(Self {
            variance_t: own.vector("variance", outputs)?.to_vec(),
            total_variance: own.get("total_variance")?,
            mean_d: own.vector("mean", features)?,
        }))
    }
}

const PREFIX: &str = "principal";

/// The covariance of features, of which the lower triangle is kept.
pub(super) struct Covariance {
    pub(super) mean_d: Array1<f64>,
    pub(super) matrix_dd: Array2<f64>,
    /// Its trace.
    pub(super) total: f64,
    /// Variance that is lost to the rounding of features and sums.
    pub(super) noise: f64,
}

/// Features are rounded to f32, and so are the sums of some thousand of them: of the second moment
/// this share.
const ROUNDING: f64 = 1e-6;

impl Covariance {
    /// Of the rows that `sums` holds. Errors when they are fewer than two or all the same.
    pub(super) fn of(sums: NormalEquations) -> Result<Self> {
        if sums.rows < 2 {
            return Err(Error::shape(format!(
                "components need at least 2 rows, and there is {}",
                sums.rows
            )));
        }
        let rows = sums.rows as f64;
        let mean_d = &sums.z_sum_d / rows;
        let mut matrix_dd = sums.gram_dd;
        let noise = ROUNDING * matrix_dd.diag().sum() / rows;
        let each: Vec<_> = matrix_dd.rows_mut().into_iter().enumerate().collect();
        each.into_par_iter().for_each(|(i, mut row)| {
            for (j, v) in row.iter_mut().enumerate().take(i + 1) {
                *v = (*v - rows * mean_d[i] * mean_d[j]) / (rows - 1.0);
            }
        });
        let total = matrix_dd.diag().sum();
        // `is_finite` too: sums of large features can leave the range.
        if !(total.is_finite() && total > noise) {
            let problem = "the features do not vary: all rows are the same, or the bandwidth is \
                           far too large";
            return Err(Error::numerical(problem).help(crate::error::Remedy::OtherBandwidth));
        }
        Ok(Self {
            mean_d,
            matrix_dd,
            total,
            noise,
        })
    }

    /// The leading eigenvectors as `components` asks for them.
    ///
    /// Errors when more are asked for than there are directions in which the rows differ.
    pub(super) fn leading(&self, components: Components) -> Result<Eigen> {
        let features = self.mean_d.len();
        let found = match components {
            Components::Count(0) => {
                return Err(Error::parameter(
                    "0 components say nothing; ask for 1 or more",
                ));
            }
            Components::Count(count) if count > features => {
                return Err(Error::parameter(format!(
                    "{features} features do not have {count} components; ask for fewer, or use \
                     more features"
                )));
            }
            Components::Count(count) => leading(&self.matrix_dd, count)?,
            Components::Variance(share) => self.explaining(share)?,
        };
        let there = found.values_n.iter().filter(|&&v| v > self.noise).count();
        match there == found.values_n.len() {
            true => Ok(found),
            false => Err(Error::numerical(format!(
                "the features of these rows vary in {} only; ask for no more components",
                counted(there, "direction")
            ))),
        }
    }

    /// The fewest eigenvectors that explain `share` of the variance, none of them noise.
    fn explaining(&self, share: f64) -> Result<Eigen> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::parameter(format!(
                "the explained share of the variance must be above 0 and at most 1, not {share}"
            )));
        }
        let all = eigen(&self.matrix_dd)?;
        let there = all.values_n.iter().filter(|&&v| v > self.noise).count();
        let mut explained = 0.0;
        let enough = all.values_n.iter().take(there).take_while(|&&v| {
            let before = explained;
            explained += v;
            before < share * self.total
        });
        let count = enough.count();
        Ok(Eigen {
            values_n: all.values_n.slice(s![..count]).to_owned(),
            vectors_nn: all.vectors_nn.slice(s![.., ..count]).to_owned(),
        })
    }
}

impl FitRows for KernelPcaOptions {
    type Predicted = Array2<f64>;
}

impl Fit for KernelPcaOptions {
    /// Sums the covariance in one pass and takes its leading eigenvectors.
    ///
    /// Errors with [`Error::Unsupported`] on maps whose features cannot be stored, with
    /// [`Error::Parameter`] on no components or more than features, and with [`Error::Numerical`]
    /// when the rows differ in fewer directions.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let start = Instant::now();
        let none = Targets::none();
        let sums = NormalEquations::accumulate(map.as_ref(), data.source, &none, data.run)?;
        let (accumulate, rows) = (start.elapsed(), sums.rows);
        let start = Instant::now();
        let covariance = Covariance::of(sums)?;
        let Eigen {
            values_n: variance_t,
            vectors_nn: beta_dt,
        } = covariance.leading(self.components)?;
        let Covariance { mean_d, total, .. } = covariance;
        let coefficients = Coefficients {
            intercept_t: -mean_d.dot(&beta_dt),
            beta_dt,
        };
        let principal = Principal {
            variance_t: variance_t.to_vec(),
            total_variance: total,
            mean_d,
        };
        let explained: f64 = principal.explained_variance_ratio().iter().sum();
        let components = variance_t.len();
        Ok(LinearModel {
            learner: "pca".into(),
            facts: [
                ("components".into(), components as f64),
                ("explained_variance_ratio".into(), explained),
            ]
            .into(),
            rows,
            times: Some(FitTimes {
                accumulate,
                solve: start.elapsed(),
            }),
            principal: Some(principal),
            ..LinearModel::new(map, coefficients, scores(components), &data.run.device)
        })
    }
}

/// What a model of so many scores that have no targets predicts.
pub(super) fn scores(columns: usize) -> Targets {
    Targets::Real {
        columns,
        shift: vec![0.0; columns],
    }
}

impl LinearModel {
    /// Streams a source through a model of kernel PCA: `sink` gets `|z(x) - mean|^2 - |scores|^2`
    /// of the rows of each chunk, in order: how far they are, in feature space, from what the
    /// components span. Rows unlike those of the fit are far. `run` is a `&Device` or a [`Run`].
    /// Returns the number of rows.
    ///
    /// Errors with [`Error::Unsupported`] for models of anything else, and as
    /// [`Predictor::stream`](super::Predictor::stream) does.
    pub fn reconstruction_errors(
        &self,
        source: &mut dyn ChunkSource,
        run: impl Into<Run>,
        mut sink: impl FnMut(ArrayView1<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let Some(Principal { mean_d, .. }) = &self.principal else {
            return Err(Error::unsupported(format!(
                "a model of {} has no reconstruction errors; kernel PCA has",
                self.learner
            )));
        };
        let map = self.map.as_ref();
        let Coefficients {
            beta_dt,
            intercept_t,
        } = &self.coefficients;
        let lanes = vec![Lane::features(map)?, Lane::outputs(map, beta_dt)];
        let mut featurizer = Featurizer::new(lanes, source.targets(), End::Host, run)?;
        featurizer.on_host(
            source,
            |_, _| (),
            |lanes, ()| {
                let (z_nd, y_nt) = (&lanes[0], &lanes[1]);
                let errors: Vec<f64> = (0..z_nd.nrows())
                    .into_par_iter()
                    .with_min_len(64)
                    .map(|i| {
                        let away = z_nd.row(i).into_iter().zip(mean_d);
                        let away = away.map(|(&z, m)| (f64::from(z) - m).powi(2));
                        let along = y_nt.row(i).into_iter().zip(intercept_t);
                        let along = along.map(|(&y, b)| (f64::from(y) + b).powi(2));
                        // Rounding can make nothing less than nothing.
                        (away.sum::<f64>() - along.sum::<f64>()).max(0.0)
                    })
                    .collect();
                sink(ArrayView1::from(&errors))
            },
        )
    }
}

impl Model<Array2<f64>> {
    /// How far each row is, squared and in feature space, from what the components of a kernel PCA
    /// span, `[n]`: see [`LinearModel::reconstruction_errors`].
    pub fn reconstruction_errors(&self, x_nd: impl ToRows) -> Result<Array1<f64>> {
        let mut all = Vec::new();
        let mut source = MemorySource::new(x_nd.to_rows(), None)?;
        self.linear()
            .reconstruction_errors(&mut source, self.run()?, |errors| {
                all.extend(errors);
                Ok(())
            })?;
        Ok(all.into())
    }
}
