//! Laplace approximation for logistic regression, by more passes over the rows: two with a full
//! Hessian (always for two classes), or one for each class with a block-diagonal one.

#[cfg(test)]
mod tests;

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
    error::Remedy,
    features::{FeatureMap, featurize, require_dense},
    flow::Run,
    learn::{LogisticOptions, fit::passes::Keeping},
    linalg::{eigen::eigen, entries},
    model::{LinearModel, Targets},
    normal::NormalEquations,
    solve::{
        ClassHessian, ClassLaplace, Laplace, contrasts,
        loss::{Logistic, SmoothLoss},
    },
};
use ndarray::{Array1, Array2, Axis, s};

/// Maximum number of unknowns, (C - 1)(D + 1), for a full Hessian, whose factor and root take the
/// square of that. Beyond it, each direction among the scores has one block.
const WHOLE: usize = 3_000;

/// Errors unless the approximation is defined for the objective of `options`.
pub(super) fn check(options: &LogisticOptions, map: &dyn FeatureMap) -> Result<()> {
    if options.l1 != 0.0 || options.bound.is_some() {
        let problem = "the Laplace approximation is of a penalty of squares, not of l1 or a bound";
        return Err(Error::unsupported(problem).help(Remedy::words("leave one of both out")));
    }
    require_dense(map)
}

/// Source whose rows are weighted by the curvature of their losses.
struct Curved<'a> {
    source: &'a mut dyn ChunkSource,
    curvature_n: &'a [f64],
    next: usize,
}

impl ChunkSource for Curved<'_> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn is_weighted(&self) -> bool {
        true
    }
    fn groups(&self) -> Option<std::sync::Arc<[u32]>> {
        self.source.groups()
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else {
            return Ok(None);
        };
        let end = self.next + chunk.x.nrows();
        let Some(of_rows) = self.curvature_n.get(self.next..end) else {
            return Err(other_rows());
        };
        chunk.weights = Some(Array1::from(of_rows.to_vec()));
        self.next = end;
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        self.source.rewind()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
}

/// Rows with their scores at the mode, in order.
struct AtMode {
    /// `[n, t]`.
    scores_nt: Array2<f64>,
    /// Class index of each row.
    class_n: Vec<usize>,
    weight_n: Vec<f64>,
}

impl AtMode {
    fn compute(
        model: &LinearModel,
        source: &mut dyn ChunkSource,
        options: &LogisticOptions,
        run: &Run,
    ) -> Result<Self> {
        let Targets::Classes(labels) = &model.targets else {
            let problem = "the Laplace approximation is of classes, and the targets are amounts";
            return Err(Error::unsupported(problem));
        };
        let mut keeping = Keeping::new(source, Some(&model.targets), &options.class_weights, run)?;
        let mut scores = Vec::new();
        (model.on(run.silent())?).stream_scores(&mut keeping, |scores_nt, _| {
            scores.extend(scores_nt);
            Ok(())
        })?;
        let (y, weight_n) = keeping.kept();
        let outputs = model.coefficients.intercept_t.len();
        let scores_nt = Array2::from_shape_vec((y.len(), outputs), scores);
        let place = |y: &f64| labels.iter().position(|l| l == y).unwrap_or(labels.len());
        Ok(Self {
            scores_nt: scores_nt.map_err(|e| Error::shape(e.to_string()))?,
            class_n: y.iter().map(place).collect(),
            weight_n: weight_n.unwrap_or_else(|| vec![1.0; y.len()]),
        })
    }

    fn total(&self) -> f64 {
        self.weight_n.iter().sum()
    }

    /// Turns the scores of several classes into probabilities, and returns the log likelihood.
    fn probabilities(&mut self) -> f64 {
        let mut log_likelihood = 0.0;
        for (i, mut row) in self.scores_nt.rows_mut().into_iter().enumerate() {
            let own = row[self.class_n[i]];
            let top = row.fold(f64::NEG_INFINITY, |m, &s| m.max(s));
            entries::exp_below(row.view_mut(), top);
            let sum = row.sum();
            log_likelihood -= self.weight_n[i] * (sum.ln() + top - own);
            row /= sum;
        }
        log_likelihood
    }
}

/// Adds spread and evidence to a model of logistic regression; for two classes, before its single
/// score is split among both. Keeps 24 bytes per row, and 8 more for each class beyond two.
///
/// Errors as the source, the device, [`Laplace::new`] and [`ClassHessian::approximate`] do.
pub(super) fn approximate(
    model: &mut LinearModel,
    source: &mut dyn ChunkSource,
    options: &LogisticOptions,
    run: &Run,
) -> Result<()> {
    match model.coefficients.intercept_t.len() {
        1 => approximate_two(model, source, options, run),
        _ => approximate_classes(model, source, options, run, WHOLE),
    }
}

/// Two classes with one score.
fn approximate_two(
    model: &mut LinearModel,
    source: &mut dyn ChunkSource,
    options: &LogisticOptions,
    run: &Run,
) -> Result<()> {
    let at = AtMode::compute(model, &mut *source, options, run)?;
    let mut log_likelihood = 0.0;
    let mut curvature_n = Vec::with_capacity(at.class_n.len());
    for (i, (&score, &class)) in at.scores_nt.iter().zip(&at.class_n).enumerate() {
        let (side, weight) = (if class == 1 { 1.0 } else { -1.0 }, at.weight_n[i]);
        log_likelihood -= weight * Logistic.value_and_slope(side, score).0;
        curvature_n.push(weight * Logistic.bend(side, score).unwrap_or(0.0));
    }
    let sums = curved_sums(model, source, &curvature_n, run)?;
    let beta_d = model.coefficients.beta_dt.column(0);
    let precision = options.lambda * at.total();
    let place = (beta_d, options.intercept);
    let laplace = Laplace::new(&sums, place, precision, log_likelihood)?;
    let mut spread = laplace.spread;
    // One noise value for each class, like the outputs of the model.
    spread.noise_t = Array1::ones(2);
    model.spread = Some(spread);
    let evidence = laplace.log_evidence;
    (model.facts).insert("log_marginal_likelihood".into(), evidence);
    Ok(())
}

/// More than two classes: the full Hessian up to `whole` unknowns, otherwise its blocks along the
/// eigenvectors of the mean curvature of the loss over the scores, for which the off-diagonal
/// blocks are 0 on average.
fn approximate_classes(
    model: &mut LinearModel,
    source: &mut dyn ChunkSource,
    options: &LogisticOptions,
    run: &Run,
    whole: usize,
) -> Result<()> {
    let mut at = AtMode::compute(model, &mut *source, options, run)?;
    let log_likelihood = at.probabilities();
    let precision = options.lambda * at.total();
    let (p_nc, weight_n) = (at.scores_nt, at.weight_n);
    let (beta_dc, intercept) = (model.coefficients.beta_dt.view(), options.intercept);
    let (features, classes) = beta_dc.dim();
    let laplace = if (classes - 1) * (features + usize::from(intercept)) <= whole {
        let mut hessian = ClassHessian::zero(classes, features, intercept)?;
        source.rewind()?;
        let mut next = 0;
        featurize(model.map.as_ref(), source, run.silent(), |z_nd| {
            let end = next + z_nd.nrows();
            let Some(of_rows) = weight_n.get(next..end) else {
                return Err(other_rows());
            };
            hessian.add(z_nd, p_nc.slice(s![next..end, ..]), of_rows);
            next = end;
            Ok(())
        })?;
        hessian.approximate(beta_dc, precision, log_likelihood)?
    } else {
        let turn_cu = even_directions(&p_nc, &weight_n)?;
        let sums = |a: usize| {
            let along_n = p_nc.dot(&turn_cu.column(a));
            let square_n = p_nc.dot(&turn_cu.column(a).mapv(entries::square));
            let each = square_n.iter().zip(&along_n).zip(&weight_n);
            let curvature_n =
                each.map(|((square, along), w)| w * (square - along * along).max(0.0));
            curved_sums(model, &mut *source, &curvature_n.collect::<Vec<_>>(), run)
        };
        let figures = (precision, log_likelihood);
        ClassLaplace::apart(turn_cu.clone(), (beta_dc, intercept), figures, sums)?
    };
    let evidence = laplace.log_evidence;
    (model.facts).insert("log_marginal_likelihood".into(), evidence);
    model.class_spread = Some(laplace.spread);
    Ok(())
}

/// Eigenvectors of `sum_i w_i (diag(p_i) - p_i p_i')`, without the one that a softmax ignores, `[C,
/// C - 1]`.
fn even_directions(p_nc: &Array2<f64>, weight_n: &[f64]) -> Result<Array2<f64>> {
    let weight_n = Array1::from(weight_n.to_vec());
    let weighted_nc = p_nc * &weight_n.insert_axis(Axis(1));
    let mean_cc = Array2::from_diag(&weighted_nc.sum_axis(Axis(0))) - p_nc.t().dot(&weighted_nc);
    let turn_cu = contrasts(p_nc.ncols());
    let turned = turn_cu.t().dot(&mean_cc).dot(&turn_cu);
    Ok(turn_cu.dot(&eigen(&turned)?.vectors_nn))
}

/// Sums of the features with rows weighted by their curvature.
fn curved_sums(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    curvature_n: &[f64],
    run: &Run,
) -> Result<NormalEquations> {
    source.rewind()?;
    let mut curved = Curved {
        source,
        curvature_n,
        next: 0,
    };
    let none = Targets::none();
    NormalEquations::accumulate(model.map.as_ref(), &mut curved, &none, run.silent())
}

fn other_rows() -> Error {
    Error::shape("the data has more rows than when it was read before; give the same every time")
}
