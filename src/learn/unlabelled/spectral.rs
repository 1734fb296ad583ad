//! Spectral embedding and clustering: rows are the nodes of a graph with kernel values as edge
//! weights.

use crate::{
    Device, Error, Matrix, Result,
    clock::Instant,
    data::ChunkSource,
    error::Remedy,
    features::{Bandwidth, FeatureMap, MapKind},
    flow::Run,
    learn::{
        Fit, FitData, FitRows, Usual,
        unlabelled::{
            kmeans::{Clusters, Finish, KMeansOptions, Points, Streamed, numbered, whole},
            pca::scores,
        },
    },
    linalg::{
        eigen::Eigen,
        entries,
        leading::{LEADING_BYTES, leading},
    },
    model::{Coefficients, LinearModel, Link},
    ops::gram::GramAccumulator,
    parallel,
    progress::Step,
    settings::Settings,
    text::counted,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};

/// Options of [`SpectralEmbedding`](crate::models::SpectralEmbedding).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralEmbeddingOptions {
    /// Number of coordinates.
    pub dimensions: usize,
}

impl Default for SpectralEmbeddingOptions {
    /// Two coordinates.
    fn default() -> Self {
        Self { dimensions: 2 }
    }
}

/// Options of [`SpectralClustering`](crate::models::SpectralClustering).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralClusteringOptions {
    /// Number of clusters, at least 2, and options of k-means on the coordinates.
    pub kmeans: KMeansOptions,
}

impl Default for SpectralClusteringOptions {
    /// Eight clusters, the best of ten starts.
    fn default() -> Self {
        Self {
            kmeans: KMeansOptions {
                starts: 10,
                ..KMeansOptions::default()
            },
        }
    }
}

impl FitRows for SpectralEmbeddingOptions {
    type Predicted = Array2<f64>;
}

impl FitRows for SpectralClusteringOptions {
    type Predicted = Vec<usize>;
}

/// Defaults for graphs. Edges connect near rows, so the kernel is narrow: one as wide as the
/// distances between rows would not show gaps. Unlike with cosine features, edge weights are not
/// negative.
fn of_graph() -> Usual {
    Usual {
        map: MapKind::Nystrom,
        features: 500,
        bandwidth: Bandwidth::Neighbours,
        ..Usual::default()
    }
}

/// Graph of rows, represented by its leading eigenvectors.
struct Graph {
    /// d(x) = z(x)'s, `[D]`.
    s_d: Array1<f64>,
    /// Minimum degree.
    floor: f64,
    /// Number of rows whose degree was raised to the minimum.
    raised: u64,
    /// Coordinates times degree equal z(x)'V, `[D, k]`.
    v_dk: Array2<f64>,
    /// Eigenvalues of the coordinates, `[k]`.
    values_k: Array1<f64>,
}

/// Eigenvalues below this are lost in the rounding of f32.
const ROUNDING: f64 = 1e-6;

impl Graph {
    /// Builds the graph of all rows in two passes: degrees, then the sums of z z'/d.
    fn build(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        rows: u64,
        dimensions: usize,
        run: &Run,
    ) -> Result<Self> {
        let features = map.output_dim();
        require_coordinates(features, dimensions)?;
        let mut points = Streamed::features(map, source, rows, run)?;
        let all = vec![true; points.rows()];
        let (mut s_d, mut squares, mut done) = (Array1::zeros(features), 0.0, 0);
        points.for_each_block(&all, &mut |rows, z_nd| {
            for z in z_nd.rows() {
                for (sum, &z) in s_d.iter_mut().zip(z) {
                    let z = f64::from(z);
                    *sum += z;
                    squares += z * z;
                }
            }
            done += rows.len() as u64;
            run.say(Step::Rows(done));
            Ok(())
        })?;
        let floor = squares / rows as f64;
        let (mut raised, mut volume) = (0, 0.0);
        let mut sums = GramAccumulator::new(&run.device, features, 1)?;
        points.for_each_block(&all, &mut |_, z_nd| {
            let (scaled, degrees) = over_root_degree(z_nd, &s_d, floor);
            for degree in degrees {
                raised += u64::from(degree < floor);
                volume += degree.max(floor);
            }
            add(&mut sums, &run.device, scaled.view())
        })?;
        drop(points);
        let Eigen {
            values_n,
            vectors_nn,
        } = leading(&sums.finish()?.gram_dd, dimensions + 1)?;
        let values_k = values_n.slice(s![1..]).to_owned();
        let there = values_k.iter().filter(|&&v| v > ROUNDING).count();
        if there < dimensions {
            return Err(Error::numerical(format!(
                "these rows have {}, and {dimensions} are asked for",
                counted(there, "coordinate")
            ))
            .help(Remedy::words("ask for fewer")));
        }
        let scale_k = values_k.mapv(|v| (volume / v).sqrt());
        Ok(Self {
            v_dk: &vectors_nn.slice(s![.., 1..]) * &scale_k,
            s_d,
            floor,
            raised,
            values_k,
        })
    }

    fn facts(&self) -> [(String, f64); 3] {
        let last = self.values_k.last().copied().unwrap_or(0.0);
        [
            ("dimensions".into(), self.values_k.len() as f64),
            ("degrees_raised".into(), self.raised as f64),
            ("smallest_eigenvalue".into(), last),
        ]
    }

    /// Coefficients of the raw scores, `[D, k + 1]`: coordinates times degree, and the degree.
    fn beta(&self) -> Result<Array2<f64>> {
        let s = self.s_d.view().insert_axis(Axis(1));
        concatenate(Axis(1), &[self.v_dk.view(), s]).map_err(|e| Error::shape(e.to_string()))
    }

    fn link(&self) -> Link {
        Link::OverDegree { floor: self.floor }
    }
}

/// Errors unless `features` features can give `dimensions` coordinates.
fn require_coordinates(features: usize, dimensions: usize) -> Result<()> {
    if features == 1 {
        return Err(Error::parameter(
            "one feature gives no coordinates; use more features, of rows that differ",
        ));
    }
    if dimensions == 0 || dimensions >= features {
        return Err(Error::parameter(format!(
            "{features} features give 1 to {} coordinates, not {dimensions}",
            features - 1
        )));
    }
    Ok(())
}

/// Features divided by the root of their degrees, and the degrees before they are raised.
fn over_root_degree(
    z_nd: ArrayView2<'_, f32>,
    s_d: &Array1<f64>,
    floor: f64,
) -> (Array2<f32>, Vec<f64>) {
    let mut scaled = z_nd.to_owned();
    let mut degrees = vec![0.0; scaled.nrows()];
    let mut rows: Vec<_> = scaled.rows_mut().into_iter().zip(&mut degrees).collect();
    parallel::usual().parts(&mut rows, &|_, (z, degree)| {
        **degree = z.iter().zip(s_d).map(|(&z, s)| f64::from(z) * s).sum();
        let root = degree.max(floor).sqrt().recip() as f32;
        z.mapv_inplace(|z| z * root);
    });
    (scaled, degrees)
}

/// Adds rows to sums on a device.
fn add(sums: &mut GramAccumulator, device: &Device, z_nd: ArrayView2<'_, f32>) -> Result<()> {
    let ones = Array2::zeros((z_nd.nrows(), 1));
    sums.add(
        &Matrix::upload(device, z_nd)?,
        &Matrix::upload(device, ones.view())?,
    )
}

impl Fit for SpectralEmbeddingOptions {
    fn settings(&self) -> Settings {
        Settings::of_learner("spectral").text("components", self.dimensions)
    }

    fn usual(&self) -> Usual {
        of_graph()
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        LEADING_BYTES
    }

    /// Errors with [`Error::Unsupported`] on maps whose features cannot be stored, with
    /// [`Error::Parameter`] on 0 coordinates or more than features less one, and with
    /// [`Error::Numerical`] if the rows have fewer.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let start = Instant::now();
        let rows = data.survey.rows;
        let graph = Graph::build(map.as_ref(), data.source, rows, self.dimensions, data.run)?;
        let beta_dt = graph.beta()?;
        let coefficients = Coefficients {
            intercept_t: Array1::zeros(beta_dt.ncols()),
            beta_dt,
        };
        Ok(LinearModel {
            learner: "spectral".into(),
            facts: graph.facts().into(),
            link: Some(graph.link()),
            rows,
            times: Some(whole(start.elapsed())),
            ..LinearModel::new(map, coefficients, scores(self.dimensions), &data.run.device)
        })
    }
}

impl Fit for SpectralClusteringOptions {
    fn settings(&self) -> Settings {
        self.kmeans
            .said(Settings::of_learner("spectral-clustering"))
    }

    fn usual(&self) -> Usual {
        of_graph()
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        LEADING_BYTES
    }

    /// Errors as [`SpectralEmbedding`](crate::models::SpectralEmbedding) and
    /// [`KMeans`](crate::models::KMeans) do, and with [`Error::Parameter`] on fewer than two
    /// clusters.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let start = Instant::now();
        let (run, rows) = (data.run, data.survey.rows);
        let clusters = self.kmeans.clusters;
        if clusters < 2 {
            return Err(Error::parameter(format!(
                "spectral clustering finds 2 clusters or more, not {clusters}"
            )));
        }
        let dimensions = clusters - 1;
        let graph = Graph::build(map.as_ref(), &mut *data.source, rows, dimensions, run)?;
        let (beta_dt, link) = (graph.beta()?, graph.link());
        let finish: Finish<'_> = Box::new(|y| link.apply(&y.mapv(f64::from)).mapv(entries::narrow));
        let room = (run.memory / 2) as usize / (4 * dimensions);
        let half = run.clone().memory(run.memory - run.memory / 2);
        let branch = (map.as_ref(), &beta_dt);
        let mut points = Streamed::outputs(branch, (finish, dimensions), data.source, rows, &half)?;
        let hear = |iteration, moves: f64| run.say(Step::Iteration(iteration, moves.sqrt()));
        let Clusters {
            centres_kd,
            mut facts,
        } = self
            .kmeans
            .cluster((&mut points, None), room, data.seed, &hear)?;
        drop(points);
        facts.extend(graph.facts());
        let half_squares = entries::row_squares(centres_kd.view()) * 0.5;
        let of_degree = graph.s_d.view().insert_axis(Axis(1));
        let beta_dt = graph.v_dk.dot(&centres_kd.t()) - &of_degree * &half_squares;
        let coefficients = Coefficients {
            intercept_t: Array1::zeros(clusters),
            beta_dt,
        };
        Ok(LinearModel {
            learner: "spectral-clustering".into(),
            facts,
            rows,
            times: Some(whole(start.elapsed())),
            ..LinearModel::new(map, coefficients, numbered(clusters), &run.device)
        })
    }
}
