//! Average gradient outer product of a fitted model.

use crate::{
    Error, Result,
    data::{ChunkSource, Rows, Survey},
    features::{Affine, FeatureMap, Formula},
    flow::Run,
    model::{
        LinearModel, Targets,
        gradients::{smooth, smooth_by_columns},
        linear::check_columns,
    },
    normal::NormalEquations,
    parallel,
};
use ndarray::{Array2, ArrayView2, s};

/// Maximum number of rows whose gradients are computed one by one, if sums of features do not
/// determine M.
const MOST_ROWS: usize = 20_000;
/// Rows per block of gradients: one thread, fixed order.
const BLOCK: usize = 256;
/// Blocks that are kept before they are added in order.
const BLOCKS: usize = 16;

/// `M = (1/n) sum_i sum_t grad f_t(x_i) grad f_t(x_i)'`, `[d, d]`, with respect to the raw columns
/// of the rows of `source`: symmetric, in units of the targets over units of the columns, summed
/// over the outputs f_t of the model (the scores of a classifier). `run` is a `&Device` or a
/// [`Run`].
///
/// For paired Fourier features of any sampling, Fastfood and SORF, M is a function of Z'Z, which is
/// summed over all rows on the device. For other maps (phases, Nystrom, kernels with landmarks,
/// arc-cosine of order 1 and 2, unions of maps) gradients are computed row by row on the CPU, for a
/// uniform sample of at most 20,000 rows. Results do not depend on the number of threads.
///
/// A constant column has 0, because the rows do not vary along it.
///
/// ```
/// use bochner::{metric::average_gradient_outer_product, prelude::*};
/// use ndarray::Array;
/// let x = Array::from_shape_fn((900, 2), |(i, j)| ((7 * i) % [97, 101][j]) as f64 / 100.0);
/// let y: Vec<f64> = x.rows().into_iter().map(|x| 2.0 * x[0]).collect();
/// let ridge = Ridge::on(Fourier::new(Gaussian).features(200)).device(&Device::cpu());
/// let model = ridge.fit((&x, &y))?;
/// let mut rows = bochner::data::MemorySource::new(&x, None)?;
/// let m = average_gradient_outer_product(model.linear(), &mut rows, &Device::cpu())?;
/// assert!((m[[0, 0]] - 4.0).abs() < 0.1 && m[[1, 1]] < 0.1);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// Errors with [`Error::Unsupported`] for maps without a known gradient (random binning, steps,
/// custom nonlinearities and kernels), with [`Error::Shape`] if the rows have other columns than
/// the model, and as sources and devices do.
pub fn average_gradient_outer_product(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    run: impl Into<Run>,
) -> Result<Array2<f64>> {
    check_columns(model, source)?;
    let run = run.into();
    let map = model.map.as_ref();
    let formula = smooth(map)?;
    let beta_dt = model.coefficients.beta_dt.view();
    let inner = if formula.is_in_span() {
        let sums = NormalEquations::accumulate(map, source, &Targets::none(), &run)?;
        of_sums(&formula, &sums, beta_dt)
    } else {
        None
    };
    let inner = match inner {
        Some(inner) => inner,
        None => {
            let survey = Survey::watched(source, MOST_ROWS, 0, &|step| run.say(step))?;
            of_rows(map, &formula, &survey.sample, beta_dt)?
        }
    };
    Ok(by_columns(&inner, map.input().scale()))
}

/// M, `[d, d]`, of raw rows `[n, d]`, whose gradients are computed one by one on the CPU. Errors
/// with [`Error::Unsupported`] for maps without a gradient with respect to raw columns, and without
/// rows.
pub(crate) fn outer_product_of_rows(
    model: &LinearModel,
    rows: &Array2<f64>,
) -> Result<Array2<f64>> {
    let map = model.map.as_ref();
    let formula = smooth_by_columns(map)?;
    let inner = of_rows(map, &formula, rows, model.coefficients.beta_dt.view())?;
    Ok(by_columns(&inner, map.input().scale()))
}

/// M with respect to the prepared columns of `map`, from the sums over its features, if these
/// determine it.
fn of_sums(
    formula: &Formula,
    sums: &NormalEquations,
    beta_dt: ArrayView2<'_, f64>,
) -> Option<Array2<f64>> {
    let sum = formula.outer_product_of_sums(&sums.gram_dd, beta_dt)?;
    // Exactly symmetric.
    Some((&sum + &sum.t()) / (2.0 * sums.weight))
}

/// M with respect to the prepared columns of `map`, for raw rows `[n, d]`.
fn of_rows(
    map: &dyn FeatureMap,
    formula: &Formula,
    rows: &Array2<f64>,
    beta_dt: ArrayView2<'_, f64>,
) -> Result<Array2<f64>> {
    let (n, d) = rows.dim();
    if n == 0 {
        return Err(Error::shape("there are no rows to take gradients at"));
    }
    let u_nd = map.input().apply(&Rows::from(rows))?;
    let one = |start: usize| -> Result<Array2<f64>> {
        let block = u_nd.slice(s![start..(start + BLOCK).min(n), ..]);
        let mut sum = Array2::zeros((d, d));
        for g_nd in formula.gradient(block, beta_dt)? {
            sum += &g_nd.t().dot(&g_nd);
        }
        Ok(sum)
    };
    let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
    let mut sum = Array2::zeros((d, d));
    for starts in starts.chunks(BLOCKS) {
        let blocks = parallel::usual().map(starts.len(), &|i| one(starts[i]));
        for block in blocks {
            sum += &block?;
        }
    }
    Ok((&sum + &sum.t()) / (2.0 * n as f64))
}

/// Chain rule: from M with respect to scaled columns to M with respect to the columns before
/// multiplication by `scale`.
fn by_columns(inner: &Array2<f64>, scale: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn(inner.dim(), |(i, j)| inner[[i, j]] * (scale[i] * scale[j]))
}

/// M with respect to the columns that `prepared` gives, for the model of `map` whose features have
/// these sums; `rows` are raw, for maps whose sums do not determine M. Dropped constant columns
/// have 0.
pub(in crate::learn) fn by_prepared(
    map: &dyn FeatureMap,
    beta_dt: ArrayView2<'_, f64>,
    (sums, rows): (Option<&NormalEquations>, &Array2<f64>),
    prepared: &Affine,
) -> Result<Array2<f64>> {
    let formula = smooth(map)?;
    let of_sums = sums.and_then(|sums| of_sums(&formula, sums, beta_dt));
    let inner = match of_sums {
        Some(inner) => inner,
        None => of_rows(map, &formula, rows, beta_dt)?,
    };
    let scales = map.input().scale().iter().zip(prepared.scale());
    let ratio: Vec<f64> = scales
        .map(|(own, of_prepared)| {
            if *of_prepared == 0.0 {
                0.0
            } else {
                own / of_prepared
            }
        })
        .collect();
    Ok(by_columns(&inner, &ratio))
}
