//! Covariance of features, and coordinates in which it is the identity, so that few iterations are
//! needed.

use crate::{Error, Result, linalg::cholesky::Lower, normal::NormalEquations, parallel};
use ndarray::{Array1, Array2, ArrayView2, Axis, Zip, s};

/// Means and covariances of features, or their second moments about zero if no intercept is fitted.
#[derive(Debug, Clone)]
pub(crate) struct Covariance {
    /// `[D]`; zeros if no intercept is fitted.
    pub(crate) mean_d: Array1<f64>,
    pub(crate) spread: Spread,
}

/// Covariances of all pairs, or only variances.
#[derive(Debug, Clone)]
pub(crate) enum Spread {
    /// `[D, D]`, lower triangle.
    Pairs(Array2<f64>),
    /// `[D]`.
    Alone(Array1<f64>),
}

impl Covariance {
    /// From sums over weighted rows.
    pub(crate) fn of_sums(sums: NormalEquations, intercept: bool) -> Self {
        let n = sums.weight;
        let mean_d = if intercept {
            sums.z_sum_d / n
        } else {
            Array1::zeros(sums.z_sum_d.len())
        };
        let mut pairs = sums.gram_dd;
        for (mut row, &mean) in pairs.rows_mut().into_iter().zip(&mean_d) {
            Zip::from(&mut row)
                .and(&mean_d)
                .for_each(|c, &m| *c = *c / n - mean * m);
        }
        Self {
            mean_d,
            spread: Spread::Pairs(pairs),
        }
    }

    /// From the sums and the sums of squares of the columns, `[2, D]`, over n rows.
    pub(crate) fn of_moments(moments_2d: &Array2<f64>, n: f64, intercept: bool) -> Self {
        let (sums, squares) = (moments_2d.row(0), moments_2d.row(1));
        let mean_d = if intercept {
            &sums / n
        } else {
            Array1::zeros(sums.len())
        };
        let alone = Zip::from(&squares)
            .and(&mean_d)
            .map_collect(|&square, &m| (square / n - m * m).max(0.0));
        Self {
            mean_d,
            spread: Spread::Alone(alone),
        }
    }

    /// The preconditioner `scale C + penalty I` of coefficients, and `scale` of an intercept. If
    /// rounding leaves it not positive definite, the penalty is increased, up to `scale` times the
    /// mean of the diagonal.
    pub(crate) fn preconditioner(&self, scale: f64, penalty: f64) -> Result<Preconditioner> {
        let factor = match &self.spread {
            Spread::Alone(c) => Factor::Alone(c.mapv(|c| (scale * c + penalty).sqrt())),
            Spread::Pairs(c) => {
                let most = scale * c.diag().sum() / c.nrows() as f64;
                let mut penalty = penalty;
                let mut lower = Lower::from_matrix(c);
                loop {
                    for i in 0..c.nrows() {
                        let row = lower.row_mut(i);
                        row.iter_mut().for_each(|c| *c *= scale);
                        row[i] += penalty;
                    }
                    if lower.factor() {
                        break Factor::Pairs(lower);
                    }
                    penalty = (10.0 * penalty).max(1e-9 * most);
                    if penalty > most || penalty.is_nan() {
                        let problem = "the features have no covariance that can be factored";
                        return Err(Error::numerical(problem));
                    }
                    lower.assign(c);
                }
            }
        };
        Ok(Preconditioner {
            factor,
            root: scale.sqrt(),
        })
    }
}

/// `M = L L'` on coefficients, with a factor for the intercept.
#[derive(Debug)]
pub(crate) struct Preconditioner {
    factor: Factor,
    root: f64,
}

#[derive(Debug)]
enum Factor {
    Pairs(Lower),
    /// The diagonal of L.
    Alone(Array1<f64>),
    /// A separate factor for each direction among the outputs, a column of `[t, t]`, or a shared
    /// one. With an intercept, the last row belongs to it.
    Each(Vec<Lower>, Array2<f64>),
}

/// A point, a gradient or a step: coefficients, and intercepts for centred features.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// `[t, D]`.
    pub(crate) beta_td: Array2<f64>,
    /// `[t]`.
    pub(crate) intercept_t: Array1<f64>,
}

impl Point {
    pub(crate) fn zero(targets: usize, features: usize) -> Self {
        Self {
            beta_td: Array2::zeros((targets, features)),
            intercept_t: Array1::zeros(targets),
        }
    }

    /// `self += factor other`.
    pub(crate) fn add(&mut self, factor: f64, other: &Self) {
        self.beta_td.scaled_add(factor, &other.beta_td);
        self.intercept_t.scaled_add(factor, &other.intercept_t);
    }
}

impl Preconditioner {
    /// From factors for each direction among the outputs, orthonormal columns of `[t, t]`, or a
    /// shared factor; an intercept is the last coordinate.
    pub(crate) fn by_direction(factors: Vec<Lower>, turn_tt: Array2<f64>) -> Self {
        Self {
            factor: Factor::Each(factors, turn_tt),
            root: 1.0,
        }
    }

    /// `L^-1 g` for a gradient.
    pub(crate) fn whiten(&self, gradient: &Point) -> Point {
        match &self.factor {
            Factor::Each(factors, turn_tt) => {
                solve_each(factors, turned(gradient, turn_tt.t()), &|l, b| l.solve(b))
            }
            _ => self.solve(gradient, |l, b| l.solve(b)),
        }
    }

    /// `L'^-1 u` for a step in whitened coordinates.
    pub(crate) fn unwhiten(&self, step: &Point) -> Point {
        match &self.factor {
            Factor::Each(factors, turn_tt) => {
                let step = solve_each(factors, step.clone(), &|l, b| l.solve_transposed(b));
                turned(&step, turn_tt.view())
            }
            _ => self.solve(step, |l, b| l.solve_transposed(b)),
        }
    }

    /// `M^-1 g`.
    pub(crate) fn inverse(&self, gradient: &Point) -> Point {
        self.unwhiten(&self.whiten(gradient))
    }

    fn solve(&self, point: &Point, solve: impl Fn(&Lower, &mut Array2<f64>)) -> Point {
        let beta_td = match &self.factor {
            Factor::Pairs(lower) => {
                let mut beta_dt = point.beta_td.t().as_standard_layout().into_owned();
                solve(lower, &mut beta_dt);
                beta_dt.reversed_axes().as_standard_layout().into_owned()
            }
            Factor::Alone(root_d) => &point.beta_td / &root_d.view().insert_axis(Axis(0)),
            Factor::Each(..) => unreachable!("solved by directions"),
        };
        Point {
            beta_td,
            intercept_t: &point.intercept_t / self.root,
        }
    }
}

/// Rotates a point to other directions among the outputs.
fn turned(point: &Point, turn_tt: ArrayView2<'_, f64>) -> Point {
    Point {
        beta_td: turn_tt.dot(&point.beta_td),
        intercept_t: turn_tt.dot(&point.intercept_t),
    }
}

/// Solves with a separate factor for each output, or with a shared one.
fn solve_each(
    factors: &[Lower],
    mut point: Point,
    solve: &(dyn Fn(&Lower, &mut Array2<f64>) + Sync),
) -> Point {
    let (outputs, features) = point.beta_td.dim();
    let all = match factors {
        [_] => outputs,
        _ => 1,
    };
    let betas: Vec<_> = point.beta_td.axis_chunks_iter_mut(Axis(0), all).collect();
    let intercepts: Vec<_> = point
        .intercept_t
        .axis_chunks_iter_mut(Axis(0), all)
        .collect();
    let mut parts: Vec<_> = factors.iter().zip(betas).zip(intercepts).collect();
    parallel::usual().parts(&mut parts, &|_, ((lower, beta), intercept)| {
        let order = lower.order();
        let mut b = Array2::zeros((order, beta.nrows()));
        b.slice_mut(s![..features, ..]).assign(&beta.t());
        if order > features {
            b.row_mut(features).assign(intercept);
        }
        solve(lower, &mut b);
        beta.assign(&b.slice(s![..features, ..]).t());
        if order > features {
            intercept.assign(&b.row(features));
        }
    });
    point
}
