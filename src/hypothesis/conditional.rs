//! Conditional independence tests RCIT and RCoT.

use super::{
    Outcome, WeightedChiSquares,
    groups::{Drawn, Group, apart},
    independence::side_by_side,
    sums::{Products, each_block},
};
use crate::{
    Error, Result,
    data::{ChunkSource, ToRows},
    door::{Learner, RowsAlone},
    error::Remedy,
    features::{Branch, Destination, FeatureMap, Featurizer, Form, Fourier, MapBuilder},
    flow::Run,
    kernels::Gaussian,
    linalg::cholesky::Lower,
};
use ndarray::{Array1, Array2, Axis, linalg::general_mat_mul, s};
use std::sync::Arc;

/// The randomised conditional tests RCIT and RCoT (Strobl, Zhang & Visweswaran 2019): whether x and
/// y are independent given z. A few features of x and y, 5 for each column, are regressed on
/// features of z by the map; n |C|^2 with the covariance C of the residuals is compared with its
/// null distribution. Linear in rows, three passes.
///
/// It tests whether features of x and of y are correlated after regressing out z. The map of z
/// should have 25 to 100 features: dependence on z that they do not capture counts as dependence of
/// x and y. The null distribution corrects for a regression on many features with few rows.
///
/// ```
/// use bochner::{hypothesis::ConditionalIndependence, prelude::*, seed::Stream};
/// let mut draws = Seed(0).stream(Stream::Data, 0);
/// let n = 400;
/// let mut noise = |scale: f64| {
///     ndarray::Array2::from_shape_simple_fn((n, 1), || scale * draws.normal())
/// };
/// // A chain x -> z -> y: z is all that y knows of x.
/// let x = noise(1.0);
/// let z = &x + &noise(0.5);
/// let y = z.mapv(f64::tanh) + &noise(0.5);
/// let map = Fourier::new(Gaussian).features(50);
/// let test = ConditionalIndependence::on(map).device(&Device::cpu());
/// assert!(!test.test(&x, &y, &z)?.outcome.rejects(0.01));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type ConditionalIndependence = Learner<ConditionalOptions, RowsAlone>;

/// Variant of the test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Variant {
    /// The randomised conditional correlation test: features of x alone. Faster, and closer to its
    /// level if z has many columns.
    #[default]
    Rcot,
    /// The randomised conditional independence test: features of x and z together, which also
    /// detects dependences through products of both.
    Rcit,
}

/// Options of [`ConditionalIndependence`].
#[derive(Debug, Clone)]
pub struct ConditionalOptions {
    /// RCoT or RCIT.
    pub variant: Variant,
    /// The map of x and of y; `None` for Gaussian Fourier features with phases, [`outer_features`]
    /// of them for each.
    pub outer: Option<Arc<dyn MapBuilder>>,
    /// Ridge penalty of the regression on features of z, in units of their variances.
    pub lambda: f64,
}

/// Default number of features of x or y: 5 for each column, at most 30. With few features for many
/// columns, the power of the test depends on the draw.
#[doc(hidden)]
pub fn outer_features(columns: usize) -> usize {
    (5 * columns).clamp(5, 30)
}

impl Default for ConditionalOptions {
    fn default() -> Self {
        Self {
            variant: Variant::Rcot,
            outer: None,
            lambda: 1e-10,
        }
    }
}

/// Result of a test of conditional independence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionalOutcome {
    /// Statistic and asymptotic p-value; the statistic is n |C|^2 with C the covariance of the
    /// residuals of features of unit variance.
    pub outcome: Outcome,
    /// n.
    pub rows: u64,
}

impl ConditionalIndependence {
    /// RCoT or RCIT.
    pub fn variant(mut self, variant: Variant) -> Self {
        self.job.learner.variant = variant;
        self
    }

    /// The map of x and of y.
    pub fn outer(mut self, map: impl MapBuilder + 'static) -> Self {
        self.job.learner.outer = Some(Arc::new(map));
        self
    }

    /// Ridge penalty of the regression on features of z, in units of their variances.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Tests whether `x` and `y` are independent given `z`, by their rows.
    ///
    /// Errors if they have different numbers of rows or values that are not finite; with fewer than
    /// twice as many rows as features of z; if all of x, of y or of z is constant; if a map cannot
    /// be drawn or its features cannot be stored.
    pub fn test(
        &self,
        x: impl ToRows,
        y: impl ToRows,
        z: impl ToRows,
    ) -> Result<ConditionalOutcome> {
        let parts = [("x", x.to_rows()), ("y", y.to_rows()), ("z", z.to_rows())];
        let (mut source, columns) = side_by_side(&parts)?;
        self.test_columns(&mut source, [&columns[0], &columns[1], &columns[2]])
    }

    /// As [`Self::test`], for columns x, y and z of a source, counted from 0; other columns are
    /// ignored.
    pub fn test_columns(
        &self,
        source: &mut dyn ChunkSource,
        [x, y, z]: [&[usize]; 3],
    ) -> Result<ConditionalOutcome> {
        for (a, b) in [
            (("x", x), ("y", y)),
            (("x", x), ("z", z)),
            (("y", y), ("z", z)),
        ] {
            apart(a, b)?;
        }
        let group = |name, columns: Vec<usize>, map| Group { name, columns, map };
        let outer = |columns: &[usize]| -> Arc<dyn MapBuilder> {
            let usual = || -> Arc<dyn MapBuilder> {
                let map = Fourier::new(Gaussian).form(Form::Phase);
                Arc::new(map.features(outer_features(columns.len())))
            };
            self.job.learner.outer.clone().unwrap_or_else(usual)
        };
        let (of_x, of_y) = (outer(x), outer(y));
        let with_z = match self.job.learner.variant {
            Variant::Rcot => x.to_vec(),
            Variant::Rcit => [x, z].concat(),
        };
        let groups = [
            group("z", z.to_vec(), &self.job.preparation.map),
            group("x", with_z, &of_x),
            group("y", y.to_vec(), &of_y),
        ];
        let run = self.settings.run()?;
        let drawn = Drawn::draw((&self.job.preparation, run), source, &groups)?;
        let maps = [1, 2, 0].map(|k| drawn.maps[k].as_ref());
        self.job.learner.test(maps, source, &drawn.run)
    }
}

/// Maximum number of products of a feature of x and one of y: their covariance has the square of
/// that.
const MOST_PRODUCTS: usize = 4096;

impl ConditionalOptions {
    /// Tests with the features of maps of x, y and z, which read columns of `source`; for
    /// [`Variant::Rcit`], the first map has x and z. `run` is a `&Device` or a [`Run`].
    ///
    /// Two passes: one sums the covariance of all features, one the products of residuals. Time n
    /// (D_z + D_x + D_y)^2 and n (D_x D_y)^2, memory (D_z + D_x + D_y)^2 and (D_x D_y)^2.
    ///
    /// Errors as [`ConditionalIndependence::test`] does.
    pub fn test(
        &self,
        maps: [&dyn FeatureMap; 3],
        source: &mut dyn ChunkSource,
        run: impl Into<Run>,
    ) -> Result<ConditionalOutcome> {
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return Err(Error::parameter(format!(
                "lambda is {}; it must be finite and not negative",
                self.lambda
            )));
        }
        let [dx, dy, dz] = maps.map(FeatureMap::output_dim);
        if dx * dy > MOST_PRODUCTS {
            return Err(Error::Limit {
                what: format!("{dx} features of x and {dy} of y"),
                needed: format!("{} products", dx * dy),
                allowed: MOST_PRODUCTS.to_string(),
                remedies: vec![Remedy::FewerFeatures],
            });
        }
        let branches = maps.iter().map(|map| Branch::features(*map));
        let branches = branches.collect::<Result<_>>()?;
        let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
        source.rewind()?;
        let mut products = Products::new(dx + dy + dz);
        let none = |_: &_, _| ();
        let rows = featurizer.on_host(source, none, |z, ()| {
            products.add(z);
            Ok(())
        })?;
        if rows < 2 * dz as u64 {
            return Err(Error::shape(format!(
                "{rows} rows for {dz} features of z: residuals need at least twice as many rows as \
                 features"
            ))
            .help(Remedy::FewerFeatures));
        }
        let regression = Regression::new(&products, [dx, dy, dz], self.lambda)?;
        let mut residuals = Residuals::new(dx * dy);
        let seen = featurizer.on_host(source, none, |z, ()| {
            each_block(z, |z| residuals.add(&regression.products(z)));
            Ok(())
        })?;
        if seen != rows {
            return Err(Error::shape(format!(
                "the data had {rows} rows and now has {seen}; it must not change during a test"
            )));
        }
        Ok(ConditionalOutcome {
            outcome: residuals.outcome(rows as f64),
            rows,
        })
    }
}

/// Features of x and y regressed on features of z, all standardised.
struct Regression {
    dims: [usize; 3],
    mean_d: Array1<f64>,
    /// 1 over the standard deviation of each feature; 0 for a constant one.
    scale_d: Array1<f64>,
    /// `[D_z, D_x + D_y]`.
    beta: Array2<f64>,
    /// The factor of the correlations of z.
    factor: Lower,
    rows: f64,
}

impl Regression {
    fn new(products: &Products, dims: [usize; 3], lambda: f64) -> Result<Self> {
        let n = products.rows as f64;
        let mut r_dd = products.scatter() / n;
        let mean_d = products.mean();
        // The variance of a constant feature is a rounding error.
        let varies = |c: f64, m: f64| c > 1e-12 * (c + m * m);
        let spread = r_dd.diag().to_owned();
        let scale_d = Array1::from_shape_fn(spread.len(), |j| {
            if varies(spread[j], mean_d[j]) {
                1.0 / spread[j].sqrt()
            } else {
                0.0
            }
        });
        for ((i, j), r) in r_dd.indexed_iter_mut() {
            *r *= scale_d[i] * scale_d[j];
        }
        let outer = dims[0] + dims[1];
        let mut r_zz = r_dd.slice(s![outer.., outer..]).to_owned();
        let mut beta = r_dd
            .slice(s![outer.., ..outer])
            .as_standard_layout()
            .into_owned();
        // If features are exactly collinear, rounding requires a larger penalty.
        let mut ridge = lambda;
        let factor = loop {
            r_zz.diag_mut().fill(1.0 + ridge);
            let mut factor = Lower::from_matrix(&r_zz);
            if factor.factor() {
                break factor;
            }
            if ridge > 1e-3 {
                return Err(Error::numerical(
                    "the features of z are collinear beyond what a ridge of 0.001 mends",
                )
                .help(Remedy::FewerFeatures));
            }
            ridge = (10.0 * ridge).max(1e-10);
        };
        factor.solve(&mut beta);
        factor.solve_transposed(&mut beta);
        Ok(Self {
            dims,
            mean_d,
            scale_d,
            beta,
            factor,
            rows: n,
        })
    }

    /// Products of each residual of x with each of y, `[rows, D_x D_y]`, and 1 minus the leverage
    /// of each row.
    fn products(&self, z_nd: Array2<f64>) -> (Array2<f64>, Array1<f64>) {
        let [dx, dy, _] = self.dims;
        let z = (z_nd - &self.mean_d) * &self.scale_d;
        let mut outer = z.slice(s![.., ..dx + dy]).to_owned();
        let of_z = z.slice(s![.., dx + dy..]);
        outer -= &of_z.dot(&self.beta);
        let products = Array2::from_shape_fn((z.nrows(), dx * dy), |(i, k)| {
            outer[[i, k / dy]] * outer[[i, dx + k % dy]]
        });
        let mut root_zn = of_z.t().as_standard_layout().into_owned();
        self.factor.solve(&mut root_zn);
        let left = root_zn.map_axis(Axis(0), |root| {
            (1.0 - (1.0 + root.dot(&root)) / self.rows).max(0.0)
        });
        (products, left)
    }
}

/// Sums of products of residuals, and of products of these.
struct Residuals {
    sum_p: Array1<f64>,
    gram_pp: Array2<f64>,
    /// Sums of 1 minus the leverage of each row, and of its square.
    left: [f64; 2],
}

impl Residuals {
    fn new(products: usize) -> Self {
        Self {
            sum_p: Array1::zeros(products),
            gram_pp: Array2::zeros((products, products)),
            left: [0.0; 2],
        }
    }

    fn add(&mut self, (products_np, left_n): &(Array2<f64>, Array1<f64>)) {
        self.left[0] += left_n.sum();
        self.left[1] += left_n.dot(left_n);
        self.sum_p += &products_np.sum_axis(Axis(0));
        general_mat_mul(1.0, &products_np.t(), products_np, 1.0, &mut self.gram_pp);
    }

    /// Compares n |C|^2 with the squared norm of a normal vector with the second moments of the
    /// products, which are their covariance if the residuals are uncorrelated (Strobl et al. 2019,
    /// sec. 3).
    ///
    /// A regression makes residuals smaller and dependent. With its projection M the covariance of
    /// their sums is tr M while the products of a row have (M_ii)^2, so that without a correction
    /// few rows with many features would be rejected too often.
    fn outcome(&self, n: f64) -> Outcome {
        let statistic = self.sum_p.dot(&self.sum_p) / n;
        let [left, squares] = self.left;
        let freedom = if squares > 0.0 { left / squares } else { 1.0 };
        let law = WeightedChiSquares::of_covariance(&(&self.gram_pp * (freedom / n)));
        Outcome::asymptotic(statistic, &law)
    }
}
