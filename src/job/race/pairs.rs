//! Pairs of columns with an interaction, for additive models.

use super::{
    deciding::{Deciding, How},
    kernel_values::KernelValues,
    order,
};
use crate::{
    Error, Result, Run,
    data::{Survey, TableColumn},
    features::{AdditiveMap, MapBuilder},
    job::Job,
    learn::Fit,
    model::Targets,
    order::ascending,
    progress::Step,
};
use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, s};

/// Largest number of rows whose residuals are used.
const ROWS: usize = 1024;
/// Largest number of pairs.
const MOST: usize = 10;
/// Bins of a column, with about equal numbers of rows.
const BINS: usize = 8;
/// Largest number of encoded columns per column of the table for which pairs are tried; hashed
/// words, for example, have more.
const PLACES: usize = 16;
/// Pseudo-rows with residual 0 in each quarter (shrinkage).
const PRIOR: f64 = 1.0;
/// Standard errors by which a gain has to exceed 0.
const CLEAR: f64 = 1.0;

impl Job<&dyn Fit> {
    /// Returns the pairs of [`AdditiveMap::columns`] with the clearest gain over the additive fit:
    /// at most 10, and at most as many as there are columns.
    ///
    /// The gain is computed on leave-one-out residuals of the additive fit (FAST of Lou, Caruana,
    /// Gehrke & Hooker 2013, "Accurate intelligible models with pairwise interactions", sec. 4):
    /// one cut of each column divides the plane into four quarters, and each quarter predicts its
    /// mean. Cuts and means of one half of the rows predict the other half, so that a pair without
    /// interaction has a negative gain on average.
    pub(super) fn pairs(
        &self,
        additive: &AdditiveMap,
        (survey, targets): (&Survey, &Targets),
        run: &Run,
    ) -> Result<Vec<[usize; 2]>> {
        let rescaled = self.survey_to_fit(survey, targets)?;
        let of_scale = rescaled.as_ref().map(Targets::real);
        let (survey, targets) = match (&rescaled, &of_scale) {
            (Some(survey), Some(targets)) => (survey, targets),
            _ => (survey, targets),
        };
        let Some(kept) = &survey.deciding else {
            let problem = "pairs of columns are found by targets, and there are none, or too many \
                           columns; ask for columns alone";
            return Err(Error::unsupported(problem));
        };
        let order = order::by_priority(kept)?;
        let penalties = self.learner.penalties();
        let rows = Deciding::from_rows((kept, &order), targets, (penalties, survey.rows))?;
        let (Some(rows), Some(kernel)) = (rows, additive.kernel()) else {
            return Ok(Vec::new());
        };
        let parts = additive.column_parts(survey)?;
        let kernel_values = KernelValues::for_map(additive, &kernel, (survey, parts), kept);
        let scales = self
            .preparation
            .scales_for(additive, survey, self.bandwidth())?;
        let how = How {
            scaling: &scales.scaling,
            lengthscales: &scales.lengthscales,
            line: None,
        };
        let Some((x_md, off_mt)) = rows.residuals(ROWS, &kernel_values, how)? else {
            return Ok(Vec::new());
        };
        run.pause(Step::Candidate(1))?;
        let found = clearest(x_md, &off_mt, additive.columns());
        let name = |&[i, j]: &[usize; 2]| {
            let columns = additive.columns();
            format!("{} x {}", columns[i].name, columns[j].name)
        };
        let names: Vec<_> = found.iter().map(name).collect();
        log::info!("pairs of columns: {}", names.join(", "));
        Ok(found)
    }
}

/// Returns the pairs of `columns` with the largest gains, in the order of the columns.
fn clearest(
    x_md: ArrayView2<'_, f64>,
    off_mt: &Array2<f64>,
    columns: &[TableColumn],
) -> Vec<[usize; 2]> {
    let cut = |column: &TableColumn| -> Vec<Vec<usize>> {
        let places = column.places.clone();
        let few = if places.len() > PLACES { 0..0 } else { places };
        few.map(|j| bins(x_md.column(j))).collect()
    };
    let cut: Vec<_> = columns.iter().map(cut).collect();
    let mut gains = Vec::new();
    for i in 0..columns.len() {
        for j in i + 1..columns.len() {
            let places = cut[i]
                .iter()
                .flat_map(|a| cut[j].iter().map(move |b| (a, b)));
            let best = places
                .map(|(a, b)| gain(a, b, off_mt))
                .fold(0.0_f64, f64::max);
            if best > 0.0 {
                gains.push((best, [i, j]));
            }
        }
    }
    gains.sort_by(|a, b| b.0.total_cmp(&a.0));
    gains.truncate(MOST.min(columns.len()));
    let mut pairs: Vec<_> = gains.into_iter().map(|(_, pair)| pair).collect();
    pairs.sort_unstable();
    pairs
}

/// Returns the quantile bin of each value, of [`BINS`] bins; equal values share a bin.
fn bins(x_m: ArrayView1<'_, f64>) -> Vec<usize> {
    let order = ascending(x_m.len(), &|i, j| x_m[i].total_cmp(&x_m[j]));
    let mut bins = vec![0; x_m.len()];
    for (rank, &i) in order.iter().enumerate() {
        bins[i] = match rank.checked_sub(1).map(|before| order[before]) {
            Some(before) if x_m[before] == x_m[i] => bins[before],
            _ => rank * BINS / x_m.len(),
        };
    }
    bins
}

/// Counts and sums of residuals in each cell of the plane, for one half of the rows.
struct Cells {
    rows_bb: Array2<f64>,
    sums_bbt: Array3<f64>,
}

impl Cells {
    fn of_half(half: usize, (a, b): (&[usize], &[usize]), off_mt: &Array2<f64>) -> Self {
        let mut rows_bb = Array2::zeros((BINS, BINS));
        let mut sums_bbt = Array3::zeros((BINS, BINS, off_mt.ncols()));
        for i in (half..a.len()).step_by(2) {
            rows_bb[[a[i], b[i]]] += 1.0;
            let mut sum = sums_bbt.slice_mut(s![a[i], b[i], ..]);
            sum += &off_mt.row(i);
        }
        Self { rows_bb, sums_bbt }
    }

    /// Returns counts and sums of the four quarters around a cut.
    fn quarters(&self, (a, b): (usize, usize)) -> [(f64, Array1<f64>); 4] {
        let of = |low_a: bool, low_b: bool| {
            let range = |low, cut| if low { 0..cut } else { cut..BINS };
            let (a, b) = (range(low_a, a), range(low_b, b));
            let rows = self.rows_bb.slice(s![a.clone(), b.clone()]).sum();
            let cells = self.sums_bbt.slice(s![a, b, ..]);
            let sum = cells.sum_axis(ndarray::Axis(0)).sum_axis(ndarray::Axis(0));
            (rows, sum)
        };
        [
            of(true, true),
            of(true, false),
            of(false, true),
            of(false, false),
        ]
    }
}

/// Returns the decrease of squared residuals in standard errors, if each half of the rows is
/// predicted by the best cut of the other half; 0 if it is not clear.
fn gain(a: &[usize], b: &[usize], off_mt: &Array2<f64>) -> f64 {
    let halves = [0, 1].map(|half| Cells::of_half(half, (a, b), off_mt));
    let (mut fall, mut squares) = (0.0, 0.0);
    for [seen, held] in [[0, 1], [1, 0]].map(|pair| pair.map(|half| &halves[half])) {
        let cuts = (1..BINS).flat_map(|a| (1..BINS).map(move |b| (a, b)));
        let falls = |cut: &(usize, usize)| -> f64 {
            let quarters = seen.quarters(*cut);
            let fall = quarters
                .iter()
                .map(|(rows, sum)| sum.dot(sum) / (rows + PRIOR));
            fall.sum()
        };
        let Some(best) = cuts.max_by(|a, b| falls(a).total_cmp(&falls(b))) else {
            return 0.0;
        };
        for ((rows, sum), (held_rows, held_sum)) in
            seen.quarters(best).iter().zip(&held.quarters(best))
        {
            let mean = sum / (rows + PRIOR);
            let square = mean.dot(&mean);
            fall += 2.0 * mean.dot(held_sum) - held_rows * square;
            squares += held_rows * square;
        }
    }
    // A row decreases by 2 m'r - |m|^2, which has the variance of 2 m'r.
    let variance = off_mt.mapv(|r| r * r).mean().unwrap_or(0.0);
    let error = 2.0 * (variance * squares).sqrt();
    if fall > CLEAR * error && error > 0.0 {
        fall
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    fn columns(count: usize) -> Vec<TableColumn> {
        let column = |j: usize| TableColumn {
            name: j.to_string(),
            places: j..j + 1,
        };
        (0..count).map(column).collect()
    }

    /// Finds the two columns of a product, and mostly no pair in noise.
    #[test]
    fn products_are_found_and_noise_is_not() {
        let (mut of_product, mut of_noise) = (0, 0);
        for seed in 0..10 {
            let mut draws = Seed(seed).stream(Stream::Sample, 0);
            let x = Array2::from_shape_simple_fn((800, 6), || draws.normal());
            let noise = Array2::from_shape_simple_fn((800, 1), || draws.normal());
            let product = (&x.column(1) * &x.column(4)).insert_axis(ndarray::Axis(1));
            let pairs = clearest(x.view(), &(&product * 0.7 + &noise), &columns(6));
            let found = usize::from(pairs.contains(&[1, 4]));
            of_product += found;
            of_noise += pairs.len() - found + clearest(x.view(), &noise, &columns(6)).len();
        }
        // The mean hold-out gain of 290 pairs without interaction is below 0.
        assert!(of_product >= 9 && of_noise < 10, "{of_product} {of_noise}");
    }

    /// Puts equal values into one bin, and about equal numbers of rows into all bins.
    #[test]
    fn bins_are_of_equal_rows() {
        let x = Array1::from_shape_fn(80, |i| ((i * 7) % 80) as f64);
        let all = bins(x.view());
        let count = |b: usize| all.iter().filter(|&&own| own == b).count();
        assert!((0..BINS).all(|b| count(b) == 10));
        let truth = Array1::from_shape_fn(80, |i| f64::from(u8::from(i % 3 == 0)));
        let all = bins(truth.view());
        assert!((0..80).all(|i| (all[i] == all[0]) == (truth[i] == truth[0])));
    }
}
