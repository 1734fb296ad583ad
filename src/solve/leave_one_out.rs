//! Leave-one-out errors for many penalties in one pass over the rows, without refitting.

use super::{
    Intercept, LambdaPath, LeftOut,
    left_out::Each,
    looked_at::{LookedAt, Portion, each_row, unseen},
};
use crate::{
    Error, Result,
    data::ChunkSource,
    features::FeatureMap,
    flow::Run,
    linalg::{entries, products::product_of_share},
    model::{Coefficients, LeftOutScores, Targets},
    normal::NormalEquations,
    parallel,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};

/// Rows per unit of parallel work.
const BLOCK: usize = 256;

/// Squares of leave-one-out residuals in the basis of a path's eigenvectors. A row with residual r
/// and leverage `h = w z'(Z'Z + lambda n I)^-1 z` (plus `w / n` for a free intercept) has the
/// leave-one-out residual `r / (1 - h)` (Allen 1974; Golub, Heath & Wahba 1979).
#[derive(Debug)]
struct Residuals<'a> {
    path: &'a LambdaPath,
    /// One column per penalty, `[p, L]`.
    inverse_pl: Array2<f64>,
    /// Coefficients in the basis, all penalties side by side, `[p, L t]`.
    scaled_pc: Array2<f64>,
}

impl Residuals<'_> {
    /// Weighted squares for rows, `[m, L t]`, from their weights and the weights left out with
    /// them.
    fn squares(
        &self,
        z_md: ArrayView2<'_, f32>,
        y_mt: ArrayView2<'_, f64>,
        (weights_m, left_out_m): (&[f64], &[f64]),
    ) -> Array2<f64> {
        let p_mp = self.path.rotate(z_md);
        let fit_mc = product_of_share(p_mp.view(), self.scaled_pc.view());
        let squares_mp = p_mp.mapv_into(entries::square);
        let leverage_ml = product_of_share(squares_mp.view(), self.inverse_pl.view());
        let of_intercept = self.path.leverage_of_intercept();
        let (lambdas, targets) = (leverage_ml.ncols(), y_mt.ncols());
        let mut squares_mc = fit_mc;
        for (i, (&w, out)) in weights_m.iter().zip(left_out_m).enumerate() {
            for l in 0..lambdas {
                let left = 1.0 - out * (leverage_ml[[i, l]] + of_intercept);
                for k in 0..targets {
                    let square = &mut squares_mc[[i, l * targets + k]];
                    let residual = y_mt[[i, k]] - (*square + self.path.centre()[k]);
                    *square = w * unseen(residual, left).powi(2);
                }
            }
        }
        squares_mc
    }

    /// As [`Self::squares`], for any number of rows, in parallel blocks.
    fn of_rows(
        &self,
        z_md: ArrayView2<'_, f32>,
        y_mt: ArrayView2<'_, f64>,
        (weights_m, left_out_m): (&[f64], &[f64]),
    ) -> Vec<Array2<f64>> {
        let blocks: Vec<_> = (0..z_md.nrows()).step_by(BLOCK).collect();
        parallel::usual().map(blocks.len(), &|block| {
            let rows = blocks[block]..z_md.nrows().min(blocks[block] + BLOCK);
            let z_md = z_md.slice(s![rows.clone(), ..]);
            let weights = (&weights_m[rows.clone()], &left_out_m[rows.clone()]);
            self.squares(z_md, y_mt.slice(s![rows, ..]), weights)
        })
    }
}

impl LambdaPath {
    /// The mean squared leave-one-out error of each penalty and target, `[L, t]`, in one more pass
    /// over the rows that were summed: n D^2 operations for all penalties together. The penalty
    /// `lambda n` stays that of all n rows, and a row's weight is its share of the mean.
    ///
    /// Errors with [`Error::Parameter`] unless every lambda is positive and finite, with
    /// [`Error::Shape`] on other rows than were summed, and as sources and devices do.
    pub fn leave_one_out(
        &self,
        lambdas: &[f64],
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        run: impl Into<Run>,
    ) -> Result<Array2<f64>> {
        let residuals = self.residuals(lambdas, targets.outputs())?;
        let shape = (lambdas.len(), targets.outputs());
        let mut sums = (Array1::zeros(shape.0 * shape.1), 0.0);
        each_row(
            map,
            source,
            targets,
            &run.into(),
            |z_md, y_mt, weights_m| {
                let of_blocks = residuals.of_rows(z_md, y_mt.view(), (&weights_m, &weights_m));
                // Summed in the order of the rows, so that results do not depend on threads or
                // chunks.
                for row in of_blocks.iter().flat_map(|squares_mc| squares_mc.rows()) {
                    sums.0 += &row;
                }
                weights_m.iter().for_each(|w| sums.1 += w);
            },
        )?;
        let squares_lt = sums.0.into_shape_with_order(shape);
        Ok(squares_lt.map_err(|e| Error::shape(e.to_string()))? / sums.1)
    }

    /// As [`Self::leave_one_out`], for kept rows.
    pub(crate) fn errors_of(&self, lambdas: &[f64], rows: LookedAt<'_>) -> Result<Array2<f64>> {
        let shape = (lambdas.len(), rows.targets.outputs());
        let residuals = self.residuals(lambdas, shape.1)?;
        let mut sums = Array1::zeros(shape.0 * shape.1);
        let weight = rows.for_each_portion(|portion| {
            let Portion { z_md, y_mt, .. } = &portion;
            let weights = (portion.weights_m.as_slice(), portion.left_out_m.as_slice());
            let squares_mc = residuals.of_rows(*z_md, y_mt.view(), weights);
            for row in squares_mc.iter().flat_map(|squares_mc| squares_mc.rows()) {
                sums += &row;
            }
        })?;
        let squares_lt = sums.into_shape_with_order(shape);
        Ok(squares_lt.map_err(|e| Error::shape(e.to_string()))? / weight)
    }

    /// As [`Self::solved`], with leave-one-out scores of the kept rows.
    pub(crate) fn solved_left_out(
        &self,
        lambda: f64,
        (sums, rows): (&NormalEquations, LookedAt<'_>),
        intercept: Intercept,
    ) -> Result<(Coefficients, LeftOutScores)> {
        match LeftOut::solve(sums, rows, lambda, intercept) {
            Err(Error::Numerical(_)) => {
                let scores = self.left_out(lambda, rows)?;
                Ok((self.coefficients(lambda)?, scores))
            }
            one => one.map(|one| (one.coefficients, one.scores)),
        }
    }

    /// Leave-one-out scores of the kept rows at this penalty.
    pub(super) fn left_out(&self, lambda: f64, rows: LookedAt<'_>) -> Result<LeftOutScores> {
        let inverse_p = self.inverse(lambda, Self::CUTOFF)?;
        let scaled_pt = self.scaled(&inverse_p);
        let mut each = Each::of(&rows);
        rows.for_each_portion(|portion| {
            let p_mp = self.rotate(portion.z_md);
            let fitted_mt = product_of_share(p_mp.view(), scaled_pt.view()) + self.centre();
            let residual_mt = &portion.y_mt - &fitted_mt;
            let leverage_m = p_mp.mapv_into(entries::square).dot(&inverse_p);
            for (i, &weight) in portion.weights_m.iter().enumerate() {
                let leverage = leverage_m[i] + self.leverage_of_intercept();
                let (y_t, residual_t) = (portion.y_mt.row(i), residual_mt.row(i));
                let left = 1.0 - portion.left_out_m[i] * leverage;
                each.push(y_t, residual_t, (left, weight));
            }
        })?;
        each.scores(self.targets())
    }

    /// Prepares the residuals at several penalties.
    fn residuals(&self, lambdas: &[f64], targets: usize) -> Result<Residuals<'_>> {
        if lambdas.is_empty() || targets != self.targets() {
            return Err(Error::shape(format!(
                "{} penalties and {} targets; give at least one penalty and the {} targets that \
                 were fitted",
                lambdas.len(),
                targets,
                self.targets()
            )));
        }
        if let Some(zero) = lambdas.iter().find(|&&lambda| lambda == 0.0) {
            return Err(Error::parameter(format!(
                "lambda is {zero}; leave-one-out errors are for a lambda above 0"
            )));
        }
        let inverses = lambdas.iter().map(|&l| self.inverse(l, Self::CUTOFF));
        let inverses = inverses.collect::<Result<Vec<_>>>()?;
        let side_by_side = |columns: &[Array2<f64>]| {
            let views: Vec<_> = columns.iter().map(|c| c.view()).collect();
            let all = concatenate(Axis(1), &views).map_err(|e| Error::shape(e.to_string()))?;
            Ok::<_, Error>(all.as_standard_layout().into_owned())
        };
        let scaled: Vec<_> = inverses.iter().map(|i| self.scaled(i)).collect();
        let columns: Vec<_> = inverses
            .into_iter()
            .map(|i| i.insert_axis(Axis(1)))
            .collect();
        Ok(Residuals {
            path: self,
            inverse_pl: side_by_side(&columns)?,
            scaled_pc: side_by_side(&scaled)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::MemorySource,
        features::{Affine, Fourier},
        kernels::Gaussian,
        solve::Cholesky,
    };

    /// Rows.
    const N: usize = 40;
    /// Penalties.
    const LAMBDAS: [f64; 3] = [1e-4, 1e-2, 1.0];

    /// Weighted rows with two targets, and a map of them.
    struct Example {
        x: Array2<f64>,
        y: Array2<f64>,
        weights: Array1<f64>,
        map: Box<dyn FeatureMap>,
        targets: Targets,
        cpu: Device,
    }

    impl Example {
        fn new() -> Self {
            let map = Fourier::new(Gaussian).features(20);
            Self {
                x: Array2::from_shape_fn((N, 2), |(i, j)| ((i * (2 * j + 3)) % 17) as f64 / 5.0),
                y: Array2::from_shape_fn((N, 2), |(i, k)| 4.0 + ((i + 3 * k) as f64).sin()),
                weights: Array1::from_shape_fn(N, |i| 0.5 + (i % 3) as f64),
                map: Box::new(map.build(Affine::identity(2)).expect("builds")),
                targets: Targets::Real {
                    columns: 2,
                    shift: vec![4.0, 3.0],
                },
                cpu: Device::cpu(),
            }
        }

        fn source(&self, weights: Array1<f64>) -> MemorySource {
            let rows = MemorySource::new(&self.x, Some(self.y.clone())).expect("rows");
            rows.with_weights(weights).expect("weights")
        }

        fn sums(&self, weights: Array1<f64>) -> NormalEquations {
            let (map, mut rows) = (self.map.as_ref(), self.source(weights));
            NormalEquations::accumulate(map, &mut rows, &self.targets, &self.cpu).expect("sums")
        }

        fn errors(&self, path: &LambdaPath, lambdas: &[f64]) -> Result<Array2<f64>> {
            let (map, rows) = (self.map.as_ref(), &mut self.source(self.weights.clone()));
            path.leave_one_out(lambdas, map, rows, &self.targets, &self.cpu)
        }

        /// Leave-one-out errors by refitting, `[l, t]`.
        fn errors_of_fits(&self, intercept: Intercept) -> Array2<f64> {
            let mut z_nd = Array2::zeros((N, 20));
            let mut rows = self.source(self.weights.clone());
            crate::features::featurize(self.map.as_ref(), &mut rows, &self.cpu, |z| {
                z_nd.assign(&z.mapv(f64::from));
                Ok(())
            })
            .expect("features");
            let weight = self.weights.sum();
            let mut errors_lt = Array2::<f64>::zeros((3, 2));
            for i in 0..N {
                let mut without = self.weights.clone();
                without[i] = 0.0;
                let rest = self.sums(without);
                for (l, lambda) in LAMBDAS.iter().enumerate() {
                    // The same penalty as with all rows.
                    let lambda = lambda * weight / rest.weight;
                    let fit = match intercept {
                        Intercept::Penalised => LambdaPath::new(&rest, intercept)
                            .and_then(|path| path.coefficients(lambda)),
                        _ => Cholesky {
                            lambda,
                            intercept: intercept == Intercept::Free,
                        }
                        .solve(&rest),
                    };
                    let fit = fit.expect("solves");
                    let fitted = z_nd.row(i).dot(&fit.beta_dt) + &fit.intercept_t;
                    let error = (&self.y.row(i) - &fitted).mapv(|e| e * e) * self.weights[i];
                    errors_lt.row_mut(l).scaled_add(1.0 / weight, &error);
                }
            }
            errors_lt
        }
    }

    /// Leave-one-out errors equal refits, with weights, and with each kind of intercept.
    #[test]
    fn a_row_left_out_is_a_fit_without_it() {
        let example = Example::new();
        let sums = example.sums(example.weights.clone());
        for intercept in [Intercept::None, Intercept::Free, Intercept::Penalised] {
            let path = LambdaPath::new(&sums, intercept).expect("decomposes");
            let fast_lt = example.errors(&path, &LAMBDAS).expect("errors");
            let slow_lt = example.errors_of_fits(intercept);
            // Rounding of f32 sums, at most 1e-3 for lambda 1e-4.
            let worst = (&fast_lt / &slow_lt - 1.0).fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!(
                worst < 1e-3,
                "{intercept:?}: {worst:e}, {fast_lt} {slow_lt}"
            );
        }
    }

    #[test]
    fn penalties_are_positive_and_there_is_one() {
        let example = Example::new();
        let sums = example.sums(example.weights.clone());
        let path = LambdaPath::new(&sums, true).expect("decomposes");
        for bad in [&[0.0][..], &[-1.0], &[]] {
            assert!(example.errors(&path, bad).is_err());
        }
    }
}
