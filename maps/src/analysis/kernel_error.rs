//! The error of `Z Z'` against the exact kernel matrix on given rows.

use crate::{
    Error, Result,
    data::Rows,
    device::CpuDevice,
    error::Remedy,
    features::{
        Affine, Branch, Destination, FeatureMap, Featurizer, Leaf, binning::shared_bins, leaves,
    },
    flow::Run,
    kernels::{Kernel, gram},
    linalg::entries,
    seed::{Seed, Stream},
};
use faer::{
    Accum, MatMut, MatRef,
    linalg::matmul::{matmul, triangular, triangular::BlockStructure},
};
use ndarray::{Array2, ArrayView2, s};
use std::fmt;

/// Errors of one approximate kernel matrix K~ = Z Z' against K.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelError {
    /// `|K - K~|_F / |K|_F`.
    pub frobenius: f64,
    /// `|K - K~|_2 / |K|_2`, both by power iteration: a lower bound, tight to about one per mille.
    pub spectral: f64,
    /// The largest entry of `|K - K~|`.
    pub largest: f64,
}

/// Errors over several seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorSummary {
    /// One per seed.
    pub runs: Vec<KernelError>,
}

impl ErrorSummary {
    /// The mean of each error.
    pub fn mean(&self) -> KernelError {
        self.summarise(|values| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The standard deviation of each error over seeds; zero with one seed.
    pub fn spread(&self) -> KernelError {
        self.summarise(|values| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
            (squares / (n - 1.0).max(1.0)).sqrt()
        })
    }

    fn summarise(&self, f: impl Fn(&[f64]) -> f64) -> KernelError {
        let of = |part: fn(&KernelError) -> f64| {
            let values: Vec<f64> = self.runs.iter().map(part).collect();
            f(&values)
        };
        KernelError {
            frobenius: of(|e| e.frobenius),
            spectral: of(|e| e.spectral),
            largest: of(|e| e.largest),
        }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "relative Frobenius {:.4}, relative spectral {:.4}, largest {:.4}",
            self.frobenius, self.spectral, self.largest
        )
    }
}

/// Compares the maps that `build` gives for each seed with `kernel` on `rows` (raw). `input` takes
/// raw columns to unit lengthscale; the exact matrix is computed once, in f64, and `Z Z'` from
/// features that `run` computes, a `&Device` or a [`Run`] ([`approximate_gram`]).
///
/// ```
/// use bochner::{Device, features::{Affine, Fourier}, kernels::Gaussian, seed::Seed};
/// use bochner::analysis::kernel_errors;
/// let value = |(i, j)| ((i * 7 + j * 3) % 11) as f64 / 11.0;
/// let rows = ndarray::Array2::from_shape_fn((50, 2), value);
/// let (input, device, seeds) = (Affine::identity(2), Device::cpu(), (0..5).map(Seed));
/// let summary = kernel_errors(&Gaussian, &input, &(&rows).into(), &device, seeds, |seed| {
///     let map = Fourier::new(Gaussian).features(200).seed(seed).build(input.clone())?;
///     Ok(Box::new(map))
/// })?;
/// assert!(summary.mean().frobenius < 0.1);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] without rows or seeds, and as building and featurizing do.
pub fn kernel_errors(
    kernel: &dyn Kernel,
    input: &Affine,
    rows: &Rows,
    run: impl Into<Run>,
    seeds: impl IntoIterator<Item = Seed>,
    mut build: impl FnMut(Seed) -> Result<Box<dyn FeatureMap>>,
) -> Result<ErrorSummary> {
    let (exact, run) = (ExactKernel::new(kernel, input, rows)?, run.into());
    let mut runs = Vec::new();
    for seed in seeds {
        runs.push(exact.error(build(seed)?.as_ref(), &run)?);
    }
    if runs.is_empty() {
        return Err(Error::shape("no seeds, so no kernel errors"));
    }
    Ok(ErrorSummary { runs })
}

/// The exact kernel matrix of some rows with its norms, computed once for any number of maps.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct ExactKernel {
    rows: Rows,
    exact_nn: Array2<f64>,
    frobenius: f64,
    spectral: f64,
}

impl ExactKernel {
    /// The matrix of `kernel` on `rows` (raw), in f64. `input` takes raw columns to unit
    /// lengthscale.
    ///
    /// Errors with [`Error::Shape`] when columns differ or there are no rows, and with
    /// [`Error::Numerical`] when the matrix is zero or not finite.
    pub fn new(kernel: &dyn Kernel, input: &Affine, rows: &Rows) -> Result<Self> {
        let exact_nn = gram(kernel, input.apply(rows)?.view());
        Self::from_matrix(exact_nn, rows.clone())
    }

    /// Of a matrix that was computed, `[n, n]` of raw rows.
    #[doc(hidden)]
    pub fn from_matrix(exact_nn: Array2<f64>, rows: Rows) -> Result<Self> {
        if exact_nn.is_empty() {
            return Err(Error::shape(
                "there are no rows to compare kernels on; give at least one",
            ));
        }
        let frobenius = exact_nn.iter().map(|k| k * k).sum::<f64>().sqrt();
        if !(frobenius > 0.0 && frobenius.is_finite()) {
            return Err(Error::numerical(
                "the exact kernel is zero or not finite on these rows, so there is no relative error", ).help(Remedy::OtherBandwidth));
        }
        let spectral = spectral_norm(&exact_nn);
        Ok(Self {
            rows,
            exact_nn,
            frobenius,
            spectral,
        })
    }

    /// The errors of `map` on these rows, its features from `run` ([`approximate_gram`]).
    pub fn error(&self, map: &dyn FeatureMap, run: impl Into<Run>) -> Result<KernelError> {
        self.compare(approximate_gram(map, &self.rows, run)?)
    }

    fn compare(&self, mut error_nn: Array2<f64>) -> Result<KernelError> {
        if error_nn.dim() != self.exact_nn.dim() {
            return Err(Error::shape(format!(
                "kernel matrices of shapes {:?} and {:?} cannot be compared",
                self.exact_nn.dim(),
                error_nn.dim()
            )));
        }
        error_nn -= &self.exact_nn;
        let (mut square, mut largest) = (0.0, 0.0_f64);
        for e in &error_nn {
            square += e * e;
            largest = largest.max(e.abs());
        }
        Ok(KernelError {
            frobenius: square.sqrt() / self.frobenius,
            spectral: spectral_norm(&error_nn) / self.spectral,
            largest,
        })
    }
}

/// The errors of an approximate kernel matrix, `[n, n]`, against the exact one.
///
/// Errors with [`Error::Shape`] when the shapes differ or there are no rows, and with
/// [`Error::Numerical`] when the exact matrix is zero.
pub fn kernel_error(exact_nn: &Array2<f64>, approximate_nn: &Array2<f64>) -> Result<KernelError> {
    if exact_nn.nrows() != exact_nn.ncols() {
        return Err(Error::shape(format!(
            "a kernel matrix is square, not {:?}",
            exact_nn.dim()
        )));
    }
    let standard = |matrix: &Array2<f64>| matrix.as_standard_layout().into_owned();
    let none = Rows::F64(Array2::zeros((0, 0)));
    ExactKernel::from_matrix(standard(exact_nn), none)?.compare(standard(approximate_nn))
}

/// The features of raw rows, `[n, D]`, in the chunks of `run`, widened to f64.
///
/// Errors as [`featurize`](crate::features::featurize) does, and with [`Error::Data`] on rows that
/// are not finite.
pub fn features_of(map: &dyn FeatureMap, rows: &Rows, run: impl Into<Run>) -> Result<Array2<f64>> {
    features_in(map, rows, run.into())
}

fn features_in(map: &dyn FeatureMap, rows: &Rows, run: Run) -> Result<Array2<f64>> {
    rows.require_finite()?;
    let branches = vec![Branch::features(map)?];
    let mut featurizer = Featurizer::new(branches, 0, Destination::Host, run)?;
    let mut all = Array2::zeros((rows.nrows(), map.output_dim()));
    featurizer.rows(rows, |z, range| {
        entries::widen(all.slice_mut(s![range, ..]), z[0]);
        Ok(())
    })?;
    Ok(all)
}

/// The approximate kernel matrix `Z Z'` of raw rows, `[n, n]`: by matrix products where features
/// are stored, by counting shared bins for random binning, weighted sums of both for unions.
///
/// Errors as [`features_of`].
pub fn approximate_gram(
    map: &dyn FeatureMap,
    rows: &Rows,
    run: impl Into<Run>,
) -> Result<Array2<f64>> {
    let run = run.into();
    let n = rows.nrows();
    let mut sum = Array2::zeros((n, n));
    for (leaf, _, root) in leaves(map) {
        let part = match leaf {
            Leaf::Dense(map) => products(features_of(map, rows, &run)?.view()),
            Leaf::Binning(map) => {
                let hashes = map.drawn().hashes(&run, rows)?;
                shared_bins(hashes.view(), hashes.view())
            }
        };
        sum.scaled_add(root * root, &part);
    }
    Ok(sum)
}

/// `Z Z'`, symmetric to the last bit.
fn products(z_nd: ArrayView2<'_, f64>) -> Array2<f64> {
    let (n, features) = z_nd.dim();
    let z_nd = z_nd.as_standard_layout();
    let z = MatRef::from_row_major_slice(z_nd.as_slice().expect("standard layout"), n, features);
    let mut out = Array2::zeros((n, n));
    triangular::matmul(
        MatMut::from_row_major_slice_mut(out.as_slice_mut().expect("standard layout"), n, n),
        BlockStructure::TriangularLower,
        Accum::Replace,
        z,
        BlockStructure::Rectangular,
        z.transpose(),
        BlockStructure::Rectangular,
        1.0,
        CpuDevice::shared().par(),
    );
    for i in 0..n {
        for j in 0..i {
            out[[j, i]] = out[[i, j]];
        }
    }
    out
}

/// Steps of power iteration at most.
const STEPS: usize = 300;
/// The iteration ends when ten steps together gain less than this.
const GAIN: f64 = 1e-4;

/// `|A|_2` of a symmetric matrix: the growth of a vector under repeated multiplication, which rises
/// towards it and does not mind eigenvalues of both signs.
fn spectral_norm(a_nn: &Array2<f64>) -> f64 {
    let n = a_nn.nrows();
    let a = MatRef::from_row_major_slice(a_nn.as_slice().expect("standard layout"), n, n);
    let par = CpuDevice::shared().par();
    let mut draws = Seed(0).stream(Stream::Iteration, 0);
    let mut v: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
    let mut next = vec![0.0; n];
    let mut marks = (0.0, 0.0_f64);
    for step in 1..=STEPS {
        let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length == 0.0 {
            return 0.0;
        }
        v.iter_mut().for_each(|v| *v /= length);
        matmul(
            MatMut::from_column_major_slice_mut(&mut next, n, 1),
            Accum::Replace,
            a,
            MatRef::from_column_major_slice(&v, n, 1),
            1.0,
            par,
        );
        std::mem::swap(&mut v, &mut next);
        marks.1 = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        if step % 10 == 0 {
            if marks.1 - marks.0 <= GAIN * marks.1 {
                break;
            }
            marks.0 = marks.1;
        }
    }
    marks.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn errors_of_a_known_matrix() {
        // Z Z' = diag(1, 4) against diag(3, 2): the error is diag(-2, 2).
        let exact = array![[3.0, 0.0], [0.0, 2.0]];
        let approximate = products(array![[1.0, 0.0], [0.0, 2.0]].view());
        let error = kernel_error(&exact, &approximate).expect("fits");
        assert!((error.frobenius - (8.0 / 13.0_f64).sqrt()).abs() < 1e-12);
        assert!((error.spectral - 2.0 / 3.0).abs() < 1e-3, "{error}");
        assert_eq!(error.largest, 2.0);
        assert!(kernel_error(&exact, &array![[1.0]]).is_err());
        assert!(kernel_error(&Array2::zeros((2, 2)), &approximate).is_err());
    }

    #[test]
    fn mean_and_spread_over_seeds() {
        let run = |frobenius| KernelError {
            frobenius,
            spectral: 1.0,
            largest: 0.5,
        };
        let summary = ErrorSummary {
            runs: vec![run(1.0), run(3.0)],
        };
        assert_eq!(summary.mean().frobenius, 2.0);
        assert_eq!(summary.spread().frobenius, 2_f64.sqrt());
        assert_eq!(summary.spread().largest, 0.0);
    }
}
