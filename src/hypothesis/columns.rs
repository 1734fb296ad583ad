//! Differences between two samples by column.

use crate::{
    Error, Result,
    data::{ChunkSource, Survey},
    parallel,
    seed::{Seed, Stream},
};
use ndarray::{Array2, ArrayView1};

/// Difference of one column between two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnShift {
    /// Its index, counted from 0.
    pub column: usize,
    /// Its name, if the samples have names.
    pub name: Option<String>,
    /// The maximum mean discrepancy of this column alone, |mean z(a) - mean z(b)|, for the Gaussian
    /// kernel with the column's standard deviation as lengthscale: between 0 and sqrt 2.
    pub mmd: f64,
    /// (mean of the second - mean of the first)/(root of the mean of both variances); infinite if
    /// both samples are constant and differ.
    pub mean_difference: f64,
    /// Standard deviation of the second over that of the first.
    pub deviation_ratio: f64,
}

/// Frequencies of the features of one column.
const FREQUENCIES: usize = 32;
/// Rows of each sample for the discrepancy.
const ROWS: usize = 2000;

/// Differences of each column between the rows of `a` and of `b`, the largest discrepancy first.
/// Means and deviations use all rows, discrepancies 2,000 rows of each sample, drawn with `seed`,
/// in 64 features. These are no tests: among many columns, some differ by chance.
///
/// Errors with [`Error::Shape`] if the samples have different columns, and as sources do.
///
/// ```
/// use bochner::{data::MemorySource, hypothesis::column_shifts, seed::Seed};
/// let rows = |shift: f64| {
///     let value = |(i, j): (usize, usize)| ((5 * i + j) % 17) as f64 + shift * j as f64;
///     MemorySource::new(ndarray::Array2::from_shape_fn((100, 2), value), None)
/// };
/// let shifts = column_shifts(&mut rows(0.0)?, &mut rows(3.0)?, Seed(0))?;
/// assert_eq!(shifts[0].column, 1);
/// assert!(shifts[0].mean_difference > 0.5 && shifts[1].mean_difference == 0.0);
/// # Ok::<(), bochner::Error>(())
/// ```
pub fn column_shifts(
    a: &mut dyn ChunkSource,
    b: &mut dyn ChunkSource,
    seed: Seed,
) -> Result<Vec<ColumnShift>> {
    if a.columns() != b.columns() {
        return Err(Error::shape(format!(
            "the first sample has {} columns and the second {}; give both the same",
            a.columns(),
            b.columns()
        )));
    }
    let [a, b] = [Survey::new(a, ROWS, seed.0)?, Survey::new(b, ROWS, seed.0)?];
    let mut draws = seed.stream(Stream::Frequencies, 0);
    let omega: Vec<f64> = (0..FREQUENCIES).map(|_| draws.normal()).collect();
    let columns = a.mean.len();
    let mut shifts = parallel::usual().map(columns, &|j| shift(j, &a, &b, &omega));
    // Stable: equal ones stay in the order of the columns.
    shifts.sort_by(|p, q| q.mmd.total_cmp(&p.mmd));
    Ok(shifts)
}

fn shift(j: usize, a: &Survey, b: &Survey, omega: &[f64]) -> ColumnShift {
    let apart = b.mean[j] - a.mean[j];
    let within = (a.variance[j] + b.variance[j]) / 2.0;
    let rows = [a.rows as f64, b.rows as f64];
    let shares = rows.map(|n| n / (rows[0] + rows[1]));
    let pooled = shares[0] * a.variance[j] + shares[1] * b.variance[j];
    let width = (pooled + shares[0] * shares[1] * apart * apart).sqrt();
    let mmd = if width > 0.0 {
        let centre = shares[0] * a.mean[j] + shares[1] * b.mean[j];
        let of = |sample: &Array2<f64>| embedding(sample.column(j), centre, width, omega);
        let (a, b) = (of(&a.sample), of(&b.sample));
        let squares = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    } else {
        0.0
    };
    let ratio = |top: f64, bottom: f64| match (top == 0.0, bottom == 0.0) {
        (true, true) => None,
        _ => Some(top / bottom),
    };
    ColumnShift {
        column: j,
        name: a.names.as_ref().or(b.names.as_ref()).map(|n| n[j].clone()),
        mmd,
        mean_difference: ratio(apart, within.sqrt()).unwrap_or(0.0),
        deviation_ratio: ratio(b.variance[j].sqrt(), a.variance[j].sqrt()).unwrap_or(1.0),
    }
}

/// Mean of [cos, sin](omega (x - centre)/width)/sqrt(frequencies).
fn embedding(x_n: ArrayView1<'_, f64>, centre: f64, width: f64, omega: &[f64]) -> Vec<f64> {
    let scale = 1.0 / (x_n.len() as f64 * (omega.len() as f64).sqrt());
    let each = omega.iter().flat_map(|omega| {
        let mut sums = [0.0; 2];
        for x in x_n {
            let phase = omega * (x - centre) / width;
            sums[0] += libm::cos(phase);
            sums[1] += libm::sin(phase);
        }
        sums.map(|sum| scale * sum)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;

    /// Few rows, in closed form: the kernel is that of the frequencies, with the deviation of both
    /// samples together.
    #[test]
    fn figures_are_their_definitions() {
        let a = Array2::from_shape_fn((12, 1), |(i, _)| ((5 * i) % 12) as f64 / 3.0);
        let b = Array2::from_shape_fn((20, 1), |(i, _)| 1.0 + ((7 * i) % 20) as f64 / 9.0);
        let source = |x: &Array2<f64>| MemorySource::new(x, None).expect("finite");
        let shifts = column_shifts(&mut source(&a), &mut source(&b), Seed(5)).expect("runs");
        let (mean, deviation) = (
            |x: &Array2<f64>| x.mean().expect("rows"),
            |x: &Array2<f64>| x.std(0.0),
        );
        let within = ((a.var(0.0) + b.var(0.0)) / 2.0).sqrt();
        let difference = (mean(&b) - mean(&a)) / within;
        assert!((shifts[0].mean_difference / difference - 1.0).abs() < 1e-12);
        let ratio = deviation(&b) / deviation(&a);
        assert!((shifts[0].deviation_ratio / ratio - 1.0).abs() < 1e-12);
        let both = ndarray::concatenate![ndarray::Axis(0), a, b];
        let width = deviation(&both);
        let mut draws = Seed(5).stream(Stream::Frequencies, 0);
        let omega: Vec<f64> = (0..FREQUENCIES).map(|_| draws.normal()).collect();
        let k = |x: &Array2<f64>, y: &Array2<f64>| {
            let pairs = x
                .iter()
                .flat_map(|x| y.iter().map(move |y| (x - y) / width));
            let each = pairs.map(|apart| omega.iter().map(|w| (w * apart).cos()).sum::<f64>());
            each.sum::<f64>() / (FREQUENCIES * x.len() * y.len()) as f64
        };
        let mmd = (k(&a, &a) + k(&b, &b) - 2.0 * k(&a, &b)).sqrt();
        assert!((shifts[0].mmd / mmd - 1.0).abs() < 1e-9, "{shifts:?} {mmd}");
    }

    #[test]
    fn columns_that_moved_spread_or_changed_shape_come_first() {
        let mut draws = Seed(3).stream(Stream::Data, 0);
        let n = 3000;
        let a = Array2::from_shape_simple_fn((n, 5), || draws.normal());
        let mut b = Array2::from_shape_simple_fn((n, 5), || draws.normal());
        for mut row in b.rows_mut() {
            row[1] += 1.0;
            row[2] *= 2.0;
            // Two points instead of a normal distribution, with the same mean and variance.
            row[3] = row[3].signum();
            row[4] = 7.0;
        }
        let mut a5 = a.clone();
        a5.column_mut(4).fill(7.0);
        let source = |x: &Array2<f64>| MemorySource::new(x, None).expect("finite");
        let shifts = column_shifts(&mut source(&a5), &mut source(&b), Seed(0)).expect("runs");
        let mut order: Vec<_> = shifts.iter().map(|s| s.column).collect();
        let of = |j| shifts.iter().find(|s| s.column == j).expect("there");
        // MMD of N(0, 1) and N(1, 1) at the pooled width w: E k = w/sqrt(w^2 + 2) at distance 0.
        let w2 = 1.25_f64;
        let k = |d2: f64| (w2 / (w2 + 2.0)).sqrt() * (-d2 / (2.0 * (w2 + 2.0))).exp();
        let exact = (2.0 * (k(0.0) - k(1.0))).sqrt();
        assert!(
            (of(1).mmd / exact - 1.0).abs() < 0.15,
            "{} {exact}",
            of(1).mmd
        );
        assert!((of(1).mean_difference - 1.0).abs() < 0.1);
        assert!((of(2).deviation_ratio - 2.0).abs() < 0.1);
        assert!(of(3).mean_difference.abs() < 0.1 && of(3).mmd > 2.0 * of(0).mmd);
        assert_eq!(
            (of(4).mmd, of(4).mean_difference, of(4).deviation_ratio),
            (0.0, 0.0, 1.0)
        );
        order.truncate(3);
        order.sort_unstable();
        assert_eq!(order, [1, 2, 3]);
    }
}
