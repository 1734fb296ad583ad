//! Independence test by the Hilbert-Schmidt independence criterion.

use super::{
    Null, Outcome, WeightedChiSquares,
    groups::{Drawn, Group, apart},
    sums::Products,
};
use crate::{
    Error, Result,
    data::{ChunkSource, MemorySource, Rows, ToRows},
    door::{Learner, RowsAlone},
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
    parallel,
    seed::{Seed, Stream},
    text::counted,
};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, concatenate, linalg::general_mat_mul, s};

/// The test of independence by the Hilbert-Schmidt independence criterion (Gretton et al. 2005,
/// 2008), with features instead of kernels: HSIC = |cov(z(x), z(y))|^2, the squared Frobenius norm,
/// in time linear in rows. The maps of x and y have different seeds.
///
/// It detects every dependence that the product of the kernels detects, of any shape. By default
/// the p-value is asymptotic.
///
/// ```
/// use bochner::{hypothesis::Independence, prelude::*};
/// # use ndarray::Array2;
/// let x = Array2::from_shape_fn((300, 1), |(i, _)| ((i * 37) % 300) as f64 / 150.0 - 1.0);
/// let noise = Array2::from_shape_fn((300, 1), |(i, _)| ((i * i * 7) % 301) as f64 / 300.0);
/// let test = Independence::on(Fourier::new(Gaussian).features(40)).device(&Device::cpu());
/// // A parabola has no correlation with x.
/// assert!(test.test(&x, &x.mapv(|x| x * x))?.outcome.rejects(0.001));
/// assert!(!test.test(&x, &noise)?.outcome.rejects(0.001));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Independence = Learner<IndependenceOptions, RowsAlone>;

/// Options of [`Independence`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndependenceOptions {
    /// How the p-value is computed.
    pub null: Null,
    /// The seed of the permutations.
    pub seed: Seed,
}

impl Default for IndependenceOptions {
    fn default() -> Self {
        Self {
            null: Null::Asymptotic,
            seed: Seed(0),
        }
    }
}

/// Result of a test of independence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndependenceOutcome {
    /// Statistic and p-value; the statistic is n times [`Self::hsic`].
    pub outcome: Outcome,
    /// |cov(z(x), z(y))|^2: for kernel matrices, tr(K H L H)/n^2 (Gretton et al. 2008, eq. 4).
    pub hsic: f64,
    /// n.
    pub rows: u64,
}

impl Independence {
    /// Sets how the p-value is computed.
    pub fn null(mut self, null: Null) -> Self {
        self.job.learner.null = null;
        self
    }

    /// Tests whether `x` and `y` are independent, by their rows.
    ///
    /// Errors if they have different numbers of rows, fewer than 4 rows, or values that are not
    /// finite; if all of x or of y is constant; if the map cannot be drawn or its features cannot
    /// be stored.
    pub fn test(&self, x: impl ToRows, y: impl ToRows) -> Result<IndependenceOutcome> {
        let (mut source, columns) = side_by_side(&[("x", x.to_rows()), ("y", y.to_rows())])?;
        self.test_columns(&mut source, &columns[0], &columns[1])
    }

    /// As [`Self::test`], for columns of a source, counted from 0; other columns are ignored.
    pub fn test_columns(
        &self,
        source: &mut dyn ChunkSource,
        x: &[usize],
        y: &[usize],
    ) -> Result<IndependenceOutcome> {
        self.job.learner.null.check()?;
        apart(("x", x), ("y", y))?;
        let group = |name, columns: &[usize]| Group {
            name,
            columns: columns.to_vec(),
            map: &self.job.preparation.map,
        };
        let run = self.settings.run()?;
        let drawn = Drawn::draw(
            (&self.job.preparation, run),
            source,
            &[group("x", x), group("y", y)],
        )?;
        require_rows(drawn.rows)?;
        let own = IndependenceOptions {
            seed: self.job.preparation.seed.unwrap_or(self.job.learner.seed),
            ..self.job.learner
        };
        let maps = [drawn.maps[0].as_ref(), drawn.maps[1].as_ref()];
        own.test(maps, source, &drawn.run)
    }
}

/// Errors on fewer rows than the null distribution needs.
pub(super) fn require_rows(rows: u64) -> Result<()> {
    match rows {
        0..4 => Err(Error::shape(format!(
            "{} to test independence on; at least 4 are needed",
            counted(rows as usize, "row")
        ))),
        _ => Ok(()),
    }
}

/// Arrays with the same rows as one source, and the columns of each.
pub(super) fn side_by_side(
    parts: &[(&'static str, Rows)],
) -> Result<(MemorySource, Vec<Vec<usize>>)> {
    let rows = parts[0].1.nrows();
    if let Some((name, part)) = parts.iter().find(|(_, part)| part.nrows() != rows) {
        return Err(Error::shape(format!(
            "x has {} and {name} has {}; give one row of each for each row of x",
            counted(rows, "row"),
            part.nrows()
        )));
    }
    let mut from = 0;
    let columns = parts.iter().map(|(_, part)| {
        let own = from..from + part.ncols();
        from = own.end;
        own.collect()
    });
    let columns = columns.collect();
    let parts: Vec<_> = parts
        .iter()
        .map(|(_, part)| part.clone().into_f64())
        .collect();
    let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
    let x = concatenate(Axis(1), &views).expect("of the same rows");
    Ok((MemorySource::new(x, None)?, columns))
}

impl IndependenceOptions {
    /// Tests with the features of two maps of the columns of `source`. `run` is a `&Device` or a
    /// [`Run`].
    ///
    /// With [`Null::Asymptotic`] n HSIC is compared with the squared norm of a normal vector whose
    /// covariance is the Kronecker product of the covariances of z(x) and z(y): time n (D_x +
    /// D_y)^2 and memory (D_x + D_y)^2. [`Null::Permutation`] permutes y within windows of 1,024
    /// consecutive rows, which is exact for independent rows, and takes time n B D_x D_y and memory
    /// B D_x D_y: for few features.
    ///
    /// Errors as [`Independence::test`] does, and with [`Error::Limit`] if the sums of the
    /// permutations take more than 4 GiB.
    pub fn test(
        &self,
        [map_x, map_y]: [&dyn FeatureMap; 2],
        source: &mut dyn ChunkSource,
        run: impl Into<Run>,
    ) -> Result<IndependenceOutcome> {
        self.null.check()?;
        let dims = [map_x.output_dim(), map_y.output_dim()];
        let branches = vec![Branch::features(map_x)?, Branch::features(map_y)?];
        let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
        source.rewind()?;
        let mut exchanged = match self.null {
            Null::Permutation(count) => Some(Exchanged::new(count, dims, self.seed)?),
            Null::Asymptotic => None,
        };
        let mut products = Products::new(dims[0] + dims[1]);
        let rows = featurizer.on_host(
            source,
            |_, _| (),
            |z, ()| {
                match &mut exchanged {
                    Some(exchanged) => exchanged.add(z[0], z[1]),
                    None => products.add(z),
                }
                Ok(())
            },
        )?;
        require_rows(rows)?;
        let n = rows as f64;
        if let Some(exchanged) = exchanged {
            let (hsic, others) = exchanged.finish();
            let others: Vec<f64> = others.iter().map(|other| n * other).collect();
            return Ok(IndependenceOutcome {
                outcome: Outcome::among(n * hsic, &others),
                hsic,
                rows,
            });
        }
        let covariance = products.scatter() / n;
        let of = |range: std::ops::Range<usize>| {
            WeightedChiSquares::of_covariance(
                &covariance.slice(s![range.clone(), range]).to_owned(),
            )
        };
        let law = of(0..dims[0]).times(&of(dims[0]..dims[0] + dims[1]));
        let cross = covariance.slice(s![dims[0].., ..dims[0]]);
        let hsic = cross.iter().map(|c| c * c).sum::<f64>();
        Ok(IndependenceOutcome {
            outcome: Outcome::asymptotic(n * hsic, &law),
            hsic,
            rows,
        })
    }
}

/// Number of consecutive rows in which y is permuted.
const WINDOW: usize = 1024;
/// Maximum bytes of the sums of all permutations.
const MOST: u64 = 4 << 30;

/// Products of z(x) with permuted z(y).
struct Exchanged {
    /// Row 0 is not permuted. `[B + 1, D_x D_y]`.
    products: Array2<f64>,
    sums: [Vec<f64>; 2],
    /// The current window: rows of z(x) and of z(y).
    window: [Vec<f32>; 2],
    dims: [usize; 2],
    rows: u64,
    windows: u64,
    seed: Seed,
}

impl Exchanged {
    fn new(count: usize, dims: [usize; 2], seed: Seed) -> Result<Self> {
        let bytes = 8 * (count as u64 + 1) * dims[0] as u64 * dims[1] as u64;
        if bytes > MOST {
            return Err(Error::Limit {
                what: format!("{count} permutations of {} x {} products", dims[0], dims[1]),
                needed: format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
                allowed: "4 GiB".into(),
                remedies: vec![
                    crate::error::Remedy::FewerFeatures,
                    crate::error::Remedy::words("take fewer permutations or the asymptotic law"),
                ],
            });
        }
        Ok(Self {
            products: Array2::zeros((count + 1, dims[0] * dims[1])),
            sums: dims.map(|d| vec![0.0; d]),
            window: [Vec::new(), Vec::new()],
            dims,
            rows: 0,
            windows: 0,
            seed,
        })
    }

    fn add(&mut self, x_nd: ArrayView2<'_, f32>, y_nd: ArrayView2<'_, f32>) {
        for (x, y) in x_nd.rows().into_iter().zip(y_nd.rows()) {
            for (k, row) in [x, y].into_iter().enumerate() {
                self.window[k].extend(row);
                for (sum, &z) in self.sums[k].iter_mut().zip(row) {
                    *sum += f64::from(z);
                }
            }
            self.rows += 1;
            if self.rows.is_multiple_of(WINDOW as u64) {
                self.exchange();
            }
        }
    }

    /// Adds the products of the window and empties it.
    fn exchange(&mut self) {
        let dims = self.dims;
        let [x, y] = [0, 1].map(|k| {
            let values: Vec<f64> = self.window[k].drain(..).map(f64::from).collect();
            let shape = (values.len() / dims[k], dims[k]);
            Array2::from_shape_vec(shape, values).expect("whole rows")
        });
        let rows = x.nrows();
        if rows == 0 {
            return;
        }
        let (seed, window) = (self.seed, self.windows);
        let each = self.products.as_slice_mut().expect("standard layout");
        parallel::usual().chunks(each, dims[0] * dims[1], &|b, products| {
            let order = match b {
                0 => (0..rows).collect(),
                _ => {
                    let block = ((b as u64) << 40) + window;
                    seed.stream(Stream::Exchange, block).permutation(rows)
                }
            };
            let mut products = ArrayViewMut2::from_shape(dims, products).expect("a row");
            general_mat_mul(1.0, &x.t(), &y.select(Axis(0), &order), 1.0, &mut products);
        });
        self.windows += 1;
    }

    /// HSIC of the rows as given, and after each permutation.
    fn finish(mut self) -> (f64, Vec<f64>) {
        self.exchange();
        let n = self.rows as f64;
        let [sum_x, sum_y] = &self.sums;
        let hsic = |products: ndarray::ArrayView1<'_, f64>| -> f64 {
            let means = sum_x.iter().flat_map(|x| sum_y.iter().map(move |y| x * y));
            let terms = products.iter().zip(means);
            terms.map(|(p, m)| (p / n - m / (n * n)).powi(2)).sum()
        };
        let mut all = self.products.rows().into_iter().map(hsic);
        let first = all.next().unwrap_or(0.0);
        (first, all.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two windows with the same rows have twice the products of one without permutation, but not
    /// with separate permutations.
    #[test]
    fn every_window_has_an_exchange_of_its_own() {
        let [x, y] = [1, 2].map(|seed| crate::check::normal(WINDOW, 2, seed));
        let products = |windows: usize| {
            let mut exchanged = Exchanged::new(3, [2, 2], Seed(6)).expect("small");
            (0..windows).for_each(|_| exchanged.add(x.view(), y.view()));
            assert_eq!(exchanged.windows, windows as u64);
            exchanged.products
        };
        let (one, two) = (products(1), products(2));
        let doubled = |b: usize| {
            let off = &two.row(b) - &(&one.row(b) * 2.0);
            off.iter().all(|e| e.abs() < 1e-6)
        };
        assert_eq!([0, 1, 2, 3].map(doubled), [true, false, false, false]);
        let alike = (1..4).any(|b| (0..b).any(|other| one.row(b) == one.row(other)));
        assert!(!alike, "{one}");
    }
}
