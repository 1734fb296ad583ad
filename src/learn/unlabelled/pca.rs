//! Kernel principal components: the directions of greatest variance in feature space.

mod covariance;
mod randomized;

pub(in crate::learn) use covariance::Covariance;

use crate::{
    Error, Result,
    clock::Instant,
    data::{ChunkSource, MemorySource, ToRows},
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
    learn::{Fit, FitAnySums, FitData, FitRows, FitSums, fit::fit_sums::fit_sums},
    linalg::{
        eigen::{EIGEN_BYTES, Eigen},
        leading::LEADING_BYTES,
    },
    model::{Coefficients, FitTimes, LinearModel, Model, Principal, Targets},
    normal::NormalEquations,
    parallel,
    settings::Settings,
    sums::{ModelContext, Resume, RowsToSum},
    text::counted,
};
use ndarray::{Array1, Array2, ArrayView1};
use randomized::Sketch;
use std::time::Duration;

/// Number of components to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Components {
    /// This number of components.
    Count(usize),
    /// The fewest components that explain at least this share of the variance, above 0 and at most
    /// 1.
    Variance(f64),
}

/// Solver of the components.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PcaSolver {
    /// Eigenvectors of the covariance of all features, in one pass and `8 D^2` bytes: all
    /// components are exact up to rounding.
    #[default]
    Covariance,
    /// Products of the covariance with `l = k + oversampling` random directions, in about `64 D l`
    /// bytes and `passes` passes (Halko, Martinsson & Tropp 2011), for covariances that do not fit
    /// into memory. Variances are underestimated rather than overestimated. One pass gives an
    /// approximation; each further pass reduces the directions outside the k leading ones by the
    /// ratio of their variances to the k-th. Requires a [`Components::Count`].
    Randomized {
        /// Directions in addition to the components; usually ten.
        oversampling: usize,
        /// Passes over the rows, at least 1.
        passes: usize,
    },
}

impl PcaSolver {
    /// Ten additional directions and three passes.
    pub fn randomized() -> Self {
        Self::Randomized {
            oversampling: 10,
            passes: 3,
        }
    }
}

/// Options of [`KernelPca`](crate::models::KernelPca).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelPcaOptions {
    /// Number of components to keep.
    pub components: Components,
    /// The solver.
    pub solver: PcaSolver,
}

impl Default for KernelPcaOptions {
    /// The components that explain 0.95 of the variance, by the covariance.
    fn default() -> Self {
        Self {
            components: Components::Variance(0.95),
            solver: PcaSolver::Covariance,
        }
    }
}

impl FitRows for KernelPcaOptions {
    type Predicted = Array2<f64>;
}

impl Fit for KernelPcaOptions {
    fn settings(&self) -> Settings {
        let settings = Settings::of_learner("pca");
        let settings = match self.components {
            Components::Count(count) => settings.text("components", count),
            Components::Variance(share) => settings.number("explained", share),
        };
        match self.solver {
            PcaSolver::Covariance => settings.text("pca-solver", "covariance"),
            PcaSolver::Randomized {
                oversampling,
                passes,
            } => settings
                .text("pca-solver", "randomized")
                .text("oversampling", oversampling)
                .text("passes", passes),
        }
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        match (self.solver, self.components) {
            (PcaSolver::Randomized { .. }, _) => 0,
            (_, Components::Count(_)) => LEADING_BYTES,
            (_, Components::Variance(_)) => EIGEN_BYTES,
        }
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    /// A row of weight w equals w rows.
    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors with [`Error::Unsupported`] on maps whose features cannot be stored, with
    /// [`Error::Parameter`] on 0 components, on more than features, on 0 passes, and on a share of
    /// the variance with the randomised solver, and with [`Error::Numerical`] if the rows vary in
    /// fewer directions.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let (oversampling, passes) = match self.solver {
            PcaSolver::Covariance => return fit_sums(self, map, data),
            PcaSolver::Randomized {
                oversampling,
                passes,
            } => (oversampling, passes),
        };
        let start = Instant::now();
        let Components::Count(components) = self.components else {
            return Err(Error::parameter(
                "the randomized solver finds a number of components, not a share of the variance; \
                 ask for a number",
            ));
        };
        let sketch = Sketch {
            components,
            oversampling,
            passes,
        };
        let known = (data.survey.rows, data.seed);
        let found = sketch.components(map.as_ref(), data.source, known, data.run)?;
        Ok(LinearModel {
            times: Some(FitTimes {
                accumulate: start.elapsed(),
                solve: Duration::ZERO,
            }),
            ..model(map, data.survey.rows, found, data.run)
        })
    }
}

impl FitSums for KernelPcaOptions {
    type Sums = NormalEquations;

    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, NormalEquations>,
    ) -> Result<NormalEquations> {
        match self.solver {
            PcaSolver::Covariance => {
                NormalEquations::of_part(map, data.source, data.targets, data.run, resume)
            }
            PcaSolver::Randomized { .. } => Err(Error::unsupported(
                "the randomized solver keeps no sums that rows could be added to; use the \
                 covariance",
            )),
        }
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: NormalEquations,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let rows = sums.rows;
        let covariance = Covariance::from_sums(sums)?;
        let eigen = covariance.leading(self.components)?;
        Ok(model(map, rows, (covariance, eigen), known.run))
    }
}

/// Model of these components.
fn model(
    map: Box<dyn FeatureMap>,
    rows: u64,
    (covariance, eigen): (Covariance, Eigen),
    run: &Run,
) -> LinearModel {
    let Eigen {
        values_n: variance_t,
        vectors_nn: beta_dt,
    } = eigen;
    let Covariance {
        mean_d,
        total,
        weight,
        ..
    } = covariance;
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
    LinearModel {
        learner: "pca".into(),
        facts: [
            ("components".into(), components as f64),
            ("explained_variance_ratio".into(), explained),
        ]
        .into_iter()
        // Total weight of the rows, unless it equals their number.
        .chain((weight != rows as f64).then(|| ("weight".into(), weight)))
        .collect(),
        rows,
        principal: Some(principal),
        ..LinearModel::new(map, coefficients, scores(components), &run.device)
    }
}

/// Errors on 0 components or more than `features`.
fn check_count(components: usize, features: usize) -> Result<()> {
    match components {
        0 => Err(Error::parameter(
            "0 components say nothing; ask for 1 or more",
        )),
        count if count > features => Err(Error::parameter(format!(
            "{} cannot come of {}; ask for at most {features}, or use a map of more features",
            counted(count, "component"),
            counted(features, "feature")
        ))),
        _ => Ok(()),
    }
}

/// Error for more components than directions in which rows vary.
fn not_there(there: usize) -> Error {
    Error::numerical(format!(
        "the features of these rows vary in {} only; ask for no more components",
        counted(there, "direction")
    ))
}

/// Targets of a model with `columns` scores and no target column.
pub(in crate::learn) fn scores(columns: usize) -> Targets {
    Targets::Real {
        columns,
        shift: vec![0.0; columns],
    }
}

impl LinearModel {
    /// Streams a source through a kernel PCA model. `sink` gets `|z(x) - mean|^2 - |scores|^2` for
    /// the rows of each chunk, in order: the squared distance in feature space from the span of the
    /// components. It is large for rows unlike the training rows. `run` is a `&Device` or a
    /// [`Run`]. Returns the number of rows.
    ///
    /// Errors with [`Error::Unsupported`] on other models, and as
    /// [`Predictor::stream`](crate::models::Predictor::stream) does.
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
        let branches = vec![Branch::features(map)?, Branch::outputs(map, beta_dt)];
        let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
        featurizer.on_host(
            source,
            |_, _| (),
            |branches, ()| {
                let (z_nd, y_nt) = (&branches[0], &branches[1]);
                let errors = parallel::at_least(64).numbers(z_nd.nrows(), &|i| {
                    let away = z_nd.row(i).into_iter().zip(mean_d);
                    let away = away.map(|(&z, m)| (f64::from(z) - m).powi(2));
                    let along = y_nt.row(i).into_iter().zip(intercept_t);
                    let along = along.map(|(&y, b)| (f64::from(y) + b).powi(2));
                    // Rounding can make the difference negative.
                    (away.sum::<f64>() - along.sum::<f64>()).max(0.0)
                });
                sink(ArrayView1::from(&errors))
            },
        )
    }
}

impl Model<Array2<f64>> {
    /// Squared distance of each row, in feature space, from the span of the components of a kernel
    /// PCA, `[n]`: see [`LinearModel::reconstruction_errors`].
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
