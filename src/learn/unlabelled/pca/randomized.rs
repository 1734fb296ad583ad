//! Randomised principal components, for features whose covariance does not fit into memory:
//! products with a few random directions.

use super::{Covariance, not_there};
use crate::{
    Error, Result,
    data::ChunkSource,
    features::FeatureMap,
    flow::Run,
    learn::unlabelled::kmeans::weights,
    linalg::{
        eigen::{Eigen, sign},
        leading::orthonormal,
        nystrom::{Leading, nystrom},
    },
    progress::Step,
    seed::{Seed, Stream},
    solve::{Block, FeatureProducts, StreamedRows},
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Parameters: the number of directions, and of passes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sketch {
    pub(super) components: usize,
    pub(super) oversampling: usize,
    pub(super) passes: usize,
}

/// Products of the rows with random directions, and sums over all rows.
struct Products {
    /// Total weight of the rows.
    weight: f64,
    /// `Z'W Z Q`, a row for each direction, `[l, D]`.
    y_ld: Array2<f64>,
    /// `Z'w`.
    sum_d: Array1<f64>,
    /// Weighted sum of squares of all features.
    squares: f64,
}

impl Products {
    /// One pass. Features are computed on the device, and products with them on the host in f64,
    /// which overlaps with the next chunk of a GPU. Rows have weights `weights_n`, or 1.
    fn accumulate(
        q_ld: &Array2<f64>,
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        (rows, weights_n): (u64, Option<&[f64]>),
        run: &Run,
    ) -> Result<Self> {
        let (directions, features) = q_ld.dim();
        let mut products = Self {
            weight: total(rows, weights_n),
            y_ld: Array2::zeros((directions, features)),
            sum_d: Array1::zeros(features),
            squares: 0.0,
        };
        let n = usize::try_from(rows)
            .map_err(|_| Error::shape(format!("{rows} rows do not fit this machine")))?;
        let mut streamed = StreamedRows::new(&[(map, 0, 1.0)], source, n, run)?;
        let mut squares_d = vec![0.0; features];
        let Self {
            y_ld,
            sum_d,
            squares,
            ..
        } = &mut products;
        streamed.blocks(0, &mut |row0, z_nd| {
            let block = Block::new(z_nd, 0, 1.0);
            let mut along_lm = Array2::zeros((directions, z_nd.nrows()));
            block.add_product(q_ld.view(), along_lm.view_mut());
            match weights_n {
                None => {
                    let sums = sum_d.as_slice_mut().expect("standard layout");
                    block.add_moments(sums, &mut squares_d);
                }
                Some(weights_n) => {
                    let weights_m = ArrayView1::from(&weights_n[row0..row0 + z_nd.nrows()]);
                    along_lm *= &weights_m;
                    let sums = sum_d.view_mut().insert_axis(Axis(0));
                    block.add_transposed(weights_m.insert_axis(Axis(0)), sums);
                    for (z, weight) in z_nd.rows().into_iter().zip(weights_m) {
                        let square: f64 = z.iter().map(|&z| f64::from(z).powi(2)).sum();
                        *squares += weight * square;
                    }
                }
            }
            block.add_transposed(along_lm.view(), y_ld.view_mut());
            run.say(Step::Rows((row0 + z_nd.nrows()) as u64));
            Ok(())
        })?;
        products.squares += squares_d.iter().sum::<f64>();
        Ok(products)
    }

    /// Products with the covariance, `(Z'W Z - n m m') Q / (n - 1)` for total weight n.
    fn centred(&self, q_ld: &Array2<f64>) -> Array2<f64> {
        let n = self.weight;
        let mean_d = &self.sum_d / n;
        let along_l = q_ld.dot(&mean_d) * n;
        let mut centred_ld = self.y_ld.clone();
        for (mut y, along) in centred_ld.rows_mut().into_iter().zip(&along_l) {
            y.scaled_add(-along, &mean_d);
        }
        centred_ld / (n - 1.0)
    }
}

/// Total weight of the rows.
fn total(rows: u64, weights_n: Option<&[f64]>) -> f64 {
    weights_n.map_or(rows as f64, |weights_n| weights_n.iter().sum())
}

impl Sketch {
    /// The leading eigenvectors, and the covariance without its matrix.
    ///
    /// Subspace iteration from a random start (Halko, Martinsson & Tropp 2011, sec. 4.5), with one
    /// pass over the rows per iteration. The last pass gives the Nystrom approximation of the
    /// covariance instead of a new start, so that a single pass suffices for an approximation (sec.
    /// 5.5 there). Memory is some matrices of `D (k + p)`, most of them during orthonormalization;
    /// weights, which take an additional pass, add 8 bytes per row.
    pub(super) fn components(
        self,
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        (rows, seed): (u64, Seed),
        run: &Run,
    ) -> Result<(Covariance, Eigen)> {
        let features = map.output_dim();
        let weights_n = weights(source, run)?;
        let n = total(rows, weights_n.as_deref());
        Covariance::check_rows(rows, n)?;
        super::check_count(self.components, features)?;
        if self.passes == 0 {
            return Err(Error::parameter(
                "0 passes over the rows see none of them; use 1 or more",
            ));
        }
        let directions = features.min(self.components.saturating_add(self.oversampling));
        let mut draws = seed.stream(Stream::Iteration, 0);
        let start = Array2::from_shape_simple_fn((features, directions), || draws.normal());
        let basis = |y_dl: &Array2<f64>| orthonormal(y_dl).t().as_standard_layout().into_owned();
        let mut q_ld = basis(&start);
        drop(start);
        let mut pass = 1;
        let (products, y_ld) = loop {
            let counted = (rows, weights_n.as_deref());
            let products = Products::accumulate(&q_ld, map, source, counted, run)?;
            let y_ld = products.centred(&q_ld);
            if pass == self.passes {
                break (products, y_ld);
            }
            pass += 1;
            drop(products);
            q_ld = basis(&y_ld.t().to_owned());
        };
        let mean_d = products.sum_d / n;
        let total = (products.squares - n * mean_d.dot(&mean_d)) / (n - 1.0);
        let covariance = Covariance::without_matrix(mean_d, n, (total, products.squares / n))?;
        let found = nystrom(q_ld, y_ld, covariance.noise)?;
        let there = found.as_ref().map_or(0, |found| found.values_r.len());
        let Some(Leading {
            values_r,
            directions_rd,
        }) = found.filter(|_| there >= self.components)
        else {
            return Err(not_there(there));
        };
        let kept = self.components;
        let mut vectors_nn = directions_rd.slice(s![..kept, ..]).t().to_owned();
        sign(&mut vectors_nn);
        let eigen = Eigen {
            values_n: values_r.slice(s![..kept]).to_owned(),
            vectors_nn: vectors_nn.as_standard_layout().into_owned(),
        };
        Ok((covariance, eigen))
    }
}
