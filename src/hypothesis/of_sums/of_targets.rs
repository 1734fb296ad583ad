//! Tests whether targets depend on rows in the same way in two sums: concept drift of y given x.

use super::{Sample, WeightedChiSquares};
use crate::{
    Result,
    hypothesis::{Null, Outcome},
    linalg::{
        eigen::{Eigen, eigen},
        leading::leading,
        products::product,
    },
    normal::NormalEquations,
};
use ndarray::{Array1, Array2, s};

/// Result of comparing how the targets of two samples depend on the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetsOutcome {
    /// For the target that differs most, the statistic, with mean 1 if both samples have the same
    /// coefficients; and the p-value of all targets together: the smallest times [`Self::targets`]
    /// (Bonferroni).
    pub outcome: Outcome,
    /// The target that differs most: a column, or the index of a class.
    pub target: usize,
    /// Number of tested targets: of two opposite ones, like two classes, only one.
    pub targets: usize,
    /// Number of directions of the features, in addition to the constant, in which coefficients are
    /// compared.
    pub directions: usize,
}

/// Effective rows of the smaller sample per direction.
const ROWS_EACH: f64 = 3.0;
/// Maximum number of directions.
const MOST: usize = 256;
/// Directions with a smaller variance relative to the first are rounding errors.
const LEAST_SHARE: f64 = 1e-6;
/// Minimum noise of a sample, relative to the mean square of the target: the rounding error of f32
/// sums of products.
const LEAST_NOISE: f64 = 1e-8;

/// One sample along the leading directions of both, relative to the means of both. The constant
/// comes last, scaled like the features.
struct Part {
    gram_rr: Array2<f64>,
    zty_rt: Array2<f64>,
    /// Noise variance of each target, from the sample's own fit.
    noise_t: Vec<f64>,
    /// Degrees of freedom of that variance.
    dof: f64,
}

/// Tests target by target; `None` without targets.
pub(super) fn test(
    sums: [&NormalEquations; 2],
    samples: [&Sample; 2],
) -> Result<Option<TargetsOutcome>> {
    let [a, b] = sums;
    let tested = told_apart(a, b);
    if tested.is_empty() {
        return Ok(None);
    }
    let along = Directions::of_both(samples)?;
    let ys = Centre::of_both((a, samples[0].rows), (b, samples[1].rows));
    let parts = [
        Part::new((a, samples[0]), &along, &ys)?,
        Part::new((b, samples[1]), &along, &ys)?,
    ];
    let compared = Compared::new(parts, &along);
    let of = |&target: &usize| (compared.statistic_and_p(target), target);
    let smallest = tested.iter().map(of);
    let smallest = smallest.min_by(|a, b| a.0.1.total_cmp(&b.0.1));
    Ok(
        smallest.map(|((statistic, p_value), target)| TargetsOutcome {
            outcome: Outcome {
                statistic,
                p_value: (p_value * tested.len() as f64).min(1.0),
                null: Null::Asymptotic,
            },
            target,
            targets: tested.len(),
            directions: along.basis_dr.ncols(),
        }),
    )
}

/// Directions of greatest variance of the features, over both samples.
struct Directions {
    mean_d: Array1<f64>,
    basis_dr: Array2<f64>,
    /// `Z'Z` of both samples along them, which is diagonal, and that of the constant.
    total_r: Array1<f64>,
    constant: f64,
}

impl Directions {
    fn of_both([a, b]: [&Sample; 2]) -> Result<Self> {
        let rows = a.rows + b.rows;
        let apart_d = &a.mean_d - &b.mean_d;
        // Scatter within the samples plus that between them.
        let between = a.rows * b.rows / rows;
        let all_dd = Array2::from_shape_fn(a.scatter_dd.dim(), |(i, j)| {
            let within = a.scatter_dd[[i, j]] + b.scatter_dd[[i, j]];
            within + between * apart_d[i] * apart_d[j]
        });
        let most = (a.rows.min(b.rows) / ROWS_EACH) as usize;
        let Eigen {
            values_n,
            vectors_nn,
        } = leading(&all_dd, most.clamp(1, MOST).min(all_dd.nrows()))?;
        let least = values_n.first().map_or(0.0, |first| LEAST_SHARE * first);
        let directions = values_n.iter().filter(|&&v| v > least).count();
        let mut total_r = values_n.slice(s![..directions]).to_vec();
        let spread: f64 = total_r.iter().sum();
        let constant = if spread > 0.0 {
            (spread / rows).sqrt()
        } else {
            1.0
        };
        total_r.push(constant * constant * rows);
        Ok(Self {
            mean_d: (&a.mean_d * a.rows + &b.mean_d * b.rows) / rows,
            basis_dr: vectors_nn.slice(s![.., ..directions]).to_owned(),
            total_r: total_r.into(),
            constant,
        })
    }
}

/// Comparison of two samples.
struct Compared {
    /// `(A^-1 + B^-1)^-1 (beta_a - beta_b)` for each target.
    apart_rt: Array2<f64>,
    /// Its covariance for a noise variance of 1 in one sample and 0 in the other.
    unsure_rr: [Array2<f64>; 2],
    parts: [Part; 2],
}

impl Compared {
    fn new(parts: [Part; 2], along: &Directions) -> Self {
        let [a, b] = &parts;
        let [a_over, b_over] = [a, b].map(|part| &part.gram_rr / &along.total_r);
        let apart_rt = product(&b_over, &a.zty_rt) - product(&a_over, &b.zty_rt);
        let unsure = |over: &Array2<f64>, part: &Part| {
            let turned = over.t().as_standard_layout().into_owned();
            product(&product(over, &part.gram_rr), &turned)
        };
        Self {
            apart_rt,
            unsure_rr: [unsure(&b_over, a), unsure(&a_over, b)],
            parts,
        }
    }

    /// For one target: the squared norm of the difference, divided by its expectation under the
    /// null hypothesis.
    fn statistic_and_p(&self, target: usize) -> (f64, f64) {
        let [a, b] = &self.parts;
        let (of_a, of_b) = (a.noise_t[target], b.noise_t[target]);
        let [unsure_a, unsure_b] = &self.unsure_rr;
        let law = WeightedChiSquares::of_covariance(&(unsure_a * of_a + unsure_b * of_b));
        let apart_r = self.apart_rt.column(target);
        let length = apart_r.dot(&apart_r);
        // By Welch and Satterthwaite.
        let shares = [
            of_a * unsure_a.diag().sum() / a.dof.sqrt(),
            of_b * unsure_b.diag().sum() / b.dof.sqrt(),
        ];
        let known = law.mean().powi(2) / shares.iter().map(|v| v * v).sum::<f64>();
        let each = known * 0.5 * law.variance() / law.mean().powi(2);
        let statistic = length / law.mean().max(f64::MIN_POSITIVE);
        (statistic, law.tail_of_ratio(length, each))
    }
}

/// The targets of both samples; a target that is the opposite of an earlier one in all sums is
/// omitted.
fn told_apart(a: &NormalEquations, b: &NormalEquations) -> Vec<usize> {
    let opposite = |sums: &NormalEquations, i: usize, j: usize| {
        let mut pairs = sums.zty_dt.column(i).into_iter().zip(sums.zty_dt.column(j));
        sums.y_sum_t[i] == -sums.y_sum_t[j] && pairs.all(|(&i, &j)| i == -j)
    };
    let targets = a.zty_dt.ncols().min(b.zty_dt.ncols());
    let says_new = |&j: &usize| !(0..j).any(|i| opposite(a, i, j) && opposite(b, i, j));
    (0..targets).filter(says_new).collect()
}

/// Means of the targets over both samples.
struct Centre {
    mean_t: Array1<f64>,
    /// Minimum noise.
    least_t: Vec<f64>,
}

impl Centre {
    /// From sums and their effective rows.
    fn of_both(a: (&NormalEquations, f64), b: (&NormalEquations, f64)) -> Self {
        let rows = a.1 + b.1;
        let mean = |of: fn(&NormalEquations) -> &Array1<f64>| {
            let share = |(sums, rows): (&NormalEquations, f64)| of(sums) * (rows / sums.weight);
            (share(a) + share(b)) / rows
        };
        let (mean_t, square_t) = (mean(|sums| &sums.y_sum_t), mean(|sums| &sums.y_square_t));
        let least_t = square_t.iter().map(|square| LEAST_NOISE * square).collect();
        Self { mean_t, least_t }
    }
}

impl Part {
    fn new(
        (sums, sample): (&NormalEquations, &Sample),
        along: &Directions,
        ys: &Centre,
    ) -> Result<Self> {
        let basis_dr = &along.basis_dr;
        let rows = sample.rows;
        let turned_rd = basis_dr.t().as_standard_layout().into_owned();
        // Within the sample, about its own means.
        let scatter_rr = product(&product(&turned_rd, &sample.scatter_dd), basis_dr);
        let y_mean_t = &sums.y_sum_t / sums.weight;
        let share = rows / sums.weight;
        let zty_dt = Array2::from_shape_fn(sums.zty_dt.dim(), |(i, t)| {
            share * sums.zty_dt[[i, t]] - rows * sample.mean_d[i] * y_mean_t[t]
        });
        let own_rt = product(&turned_rd, &zty_dt);
        let square_t = &sums.y_square_t * share - &y_mean_t * &y_mean_t * rows;
        let (left_t, dof) = left_over(&scatter_rr, &own_rt, &square_t, rows)?;
        let least = left_t.iter().zip(&ys.least_t);
        let noise_t = least
            .map(|(left, least)| (left / dof).max(*least))
            .collect();
        // About the means of both, with the constant.
        let r = scatter_rr.nrows();
        let mut apart_r = turned_rd.dot(&(&sample.mean_d - &along.mean_d)).to_vec();
        apart_r.push(along.constant);
        let y_apart_t = &y_mean_t - &ys.mean_t;
        let within = |i: usize, j: usize| {
            if i.max(j) < r {
                scatter_rr[[i, j]]
            } else {
                0.0
            }
        };
        let gram_rr = Array2::from_shape_fn((r + 1, r + 1), |(i, j)| {
            within(i, j) + rows * apart_r[i] * apart_r[j]
        });
        let zty_rt = Array2::from_shape_fn((r + 1, y_apart_t.len()), |(i, t)| {
            let within = if i < r { own_rt[[i, t]] } else { 0.0 };
            within + rows * apart_r[i] * y_apart_t[t]
        });
        Ok(Self {
            gram_rr,
            zty_rt,
            noise_t,
            dof,
        })
    }
}

/// Residual sums of squares of least squares for each target, and their degrees of freedom.
fn left_over(
    scatter_rr: &Array2<f64>,
    zty_rt: &Array2<f64>,
    square_t: &Array1<f64>,
    rows: f64,
) -> Result<(Vec<f64>, f64)> {
    let Eigen {
        values_n,
        vectors_nn,
    } = eigen(scatter_rr)?;
    let least = values_n
        .first()
        .map_or(0.0, |first| LEAST_SHARE * LEAST_SHARE * first);
    let rank = values_n.iter().filter(|&&v| v > least).count();
    let along_rt = vectors_nn.t().dot(zty_rt);
    let left = |(along_r, square): (ndarray::ArrayView1<'_, f64>, &f64)| {
        let pairs = along_r.into_iter().zip(&values_n).take(rank);
        square
            - pairs
                .map(|(along, value)| along * along / value)
                .sum::<f64>()
    };
    let left_t = along_rt.columns().into_iter().zip(square_t).map(left);
    Ok((left_t.collect(), rows - 1.0 - rank as f64))
}
