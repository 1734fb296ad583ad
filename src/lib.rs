//! Kernel methods at the cost of linear ones, on any GPU: rows x are mapped to random features z(x)
//! with z(x)'z(y) close to k(x, y), and a linear model is fitted to them while the data stream by.
//!
//! ```
//! use bochner::prelude::*;
//! # fn main() -> Result<()> {
//! # let value = |(i, j): (usize, usize)| ((i * (3 * j + 7)) % 31) as f64 / 31.0;
//! # let x = ndarray::Array2::from_shape_fn((300, 2), value);
//! # let y: Vec<f64> = x.rows().into_iter().map(|x| (3.0 * x[0]).sin() + x[1]).collect();
//! let map = Fourier::new(Gaussian).features(200);
//! let model = Ridge::on(map).bandwidth(Bandwidth::Median).fit((&x, &y))?;
//! let predicted = model.predict(&x)?;
//! # assert!(predicted.iter().zip(&y).all(|(p, y)| (p - y).abs() < 0.02));
//! # Ok(())
//! # }
//! ```
//!
//! Here `x` is any `ndarray` array of two dimensions and `y` one of one or two; both may be views,
//! and of any numeric type. The work runs on the best GPU, or on the CPU if there is none.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`prelude`] | the items that most programs need |
//! | [`models`] | learners, such as [`Ridge`](models::Ridge), and the fitted models |
//! | [`job`] | a fit from end to end, in stages; shared by Rust, command line and Python |
//! | [`features`] | the maps: Fourier, Fastfood, SORF, Nystrom and more; scales, bandwidths |
//! | [`metric`] | the directions of the inputs that matter to a model |
//! | [`kernels`] | exact k(x, y) and spectral measures; a trait for custom kernels |
//! | [`sampling`] | distributions of frequencies: random, orthogonal, quasi-random, by leverage |
//! | [`data`] | arrays, .npy, .npz and .csv in chunks; splits, surveys, writers |
//! | [`solve`] | normal equations that merge and resume, and their solvers |
//! | [`stream`] | online learning: ridge regression with forgetting, bandits |
//! | [`hypothesis`] | tests: did the data change, do columns depend on each other |
//! | [`analysis`] | measured kernel errors, bounds, variances |
//! | [`explain`] | which columns matter to a model, and what they add to a prediction |
//! | [`export`] | models for other runtimes: ONNX |
//! | [`device`] | CPU and GPUs, how one is chosen, matrices in device memory |
//! | [`Run`], [`Step`] | device and memory limit of a run, and its progress |
//! | [`ops`] | the matrix product on any device, for custom maps |
//! | [`seed`], [`error`] | one seed for all random draws; the error type |
//!
//! Each stage can be called alone, with every setting explicit: [`data::Survey`],
//! [`features::Standardize`], [`features::Bandwidth`], a map's own `build`,
//! [`models::LinearModel::fit`], [`models::Predictor`].
//!
//! # Features
//!
//! | feature | contents |
//! |---|---|
//! | `learn`, on by default | learners, hyperparameter search, hypothesis tests, and `files` |
//! | `files` | files of rows, and tables; without it rows come from arrays |
//! | `parquet`, `excel`, `sqlite` | files of these formats |
//! | `web` | the clock of a browser page |
//!
//! Without `learn` there are only the maps and the models that predict: half as much to compile.

#[cfg(feature = "learn")]
mod door;
#[cfg(feature = "learn")]
pub mod explain;
pub mod export;
#[cfg(test)]
mod faults;
#[cfg(feature = "learn")]
pub mod hypothesis;
#[cfg(feature = "learn")]
pub mod job;
#[cfg(feature = "learn")]
mod learn;
mod model;
pub mod models;
#[cfg(feature = "learn")]
mod normal;
pub mod prelude;
#[cfg(feature = "learn")]
pub mod solve;
#[cfg(feature = "learn")]
pub mod stream;
#[cfg(feature = "learn")]
mod sums;

pub use bochner_maps::{
    Device, DeviceChoice, Error, Matrix, Result, Run, Step, analysis, data, device, error,
    features, kernels, ops, sampling, seed,
};
#[doc(hidden)]
pub use bochner_maps::{as_its_source, bench, check, form, registry};
#[cfg(feature = "learn")]
pub use learn::metric;

// Modules of `bochner-maps` that users do not see.
#[cfg(feature = "learn")]
use bochner_maps::{clock, instructions, simd};
use bochner_maps::{flow, linalg, order, parallel, progress, settings, special, store, text, wait};
