//! bochner in a page: models that predict on WebGPU or in WebAssembly, and small fits.
//!
//! A page has one thread and nobody waits in it, so whatever takes a device is a promise. An error
//! is JavaScript's `Error` with one line that says what is wrong and what to do; its `name` tells
//! kinds apart.
#![cfg(target_family = "wasm")]

mod devices;
mod errors;
mod fit;
mod model;
mod options;
mod rows;
mod study;
mod table;
mod work;

use wasm_bindgen::prelude::wasm_bindgen;

pub use fit::fit;
pub use model::{Model, load};
pub use study::{Outcome, Study, Surface, Table, Trial};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Where a model predicts: `auto` is WebGPU where there is a GPU, else the CPU; `gpu` takes any
 * adapter that the browser has, a software one too, and is an error where it has none. */
export type DeviceName = "auto" | "cpu" | "gpu";
/** What `load` may be told. */
export interface LoadOptions { device?: DeviceName; }
/** What `fit` may be told; what is left out is chosen as everywhere in bochner. */
export interface FitOptions extends LoadOptions {
  /** Random features of a Gaussian kernel [default: 500]. */
  features?: number;
  /** exp(-gamma |x - y|^2) [default: the median rule]. */
  gamma?: number;
  /** The penalty of the ridge regression [default: chosen]. */
  lambda?: number;
  /** The seed of all draws [default: 0]. */
  seed?: number;
  /** Whether targets are labels of classes [default: where they are text]. */
  classify?: boolean;
}
/** What `Table.study` may be told. */
export interface StudyOptions {
  /** What the target is taken for [default: what it looks like]. */
  task?: "regression" | "classification";
}
/** What `Study.fit` may be told; what is left out is chosen as `bochner fit` chooses it. */
export interface TrialOptions {
  /** `fourier`, `sorf`, `fastfood`, `nystrom` or another map [default: fourier]. */
  map?: string;
  /** `gaussian`, `laplacian`, `matern52` or another kernel [default: gaussian]. */
  kernel?: string;
  /** How many features [default: 1000]. */
  features?: number;
  /** The lengthscale over the one that rows left out choose [default: 1]. */
  width?: number;
  /** Whether the lengthscale is that of a rule, which takes no time [default: false]. */
  byRule?: boolean;
  /** The seed of all draws [default: 0]. */
  seed?: number;
}
/** Rows, one after the other. */
export type Numbers = Float64Array | Float32Array | number[];
/** `name` of errors: `DeviceLostError` after which a model has to be loaded anew. */
export type ErrorName = "BochnerError" | "DeviceLostError";
"#;
