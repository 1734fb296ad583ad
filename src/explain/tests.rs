//! Explanations of known functions.

use super::{
    Column, ColumnValue, Measure,
    column::Holds,
    dependence::{curves, levels, summed_up},
    importance::{by_permutation, in_order, trace},
    measure::Judge,
    shapley::{Shapley, shapley},
};
use crate::{
    Result,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, Axis, array, s};

/// Columns with one number each.
fn numbers(count: usize) -> Vec<Column> {
    let column = |j: usize| Column {
        name: j.to_string(),
        places: j..j + 1,
        holds: Holds::Numbers,
        has_indicator: false,
    };
    (0..count).map(column).collect()
}

/// Independent standard normal columns.
pub(super) fn normal(rows: usize, columns: usize) -> Array2<f64> {
    let mut draws = Seed(3).stream(Stream::Data, 0);
    Array2::from_shape_simple_fn((rows, columns), || draws.normal())
}

/// `f` of each row, as one output.
fn of_rows(f: impl Fn(&[f64]) -> f64) -> impl FnMut(Array2<f64>) -> Result<Array2<f64>> {
    move |x_nd: Array2<f64>| {
        let rows = x_nd.rows().into_iter();
        let found: Array1<f64> = rows.map(|row| f(&row.to_vec())).collect();
        Ok(found.insert_axis(Axis(1)))
    }
}

fn judge(measure: Measure, wanted_nt: Array2<f64>) -> Judge<'static> {
    Judge {
        measure,
        labels: &[0.0, 1.0, 2.0],
        wanted_nt,
    }
}

/// The squared error of `f = sum_j beta_j x_j` increases by `2 beta_j^2 var x_j`, by 0 for an
/// irrelevant column, and predictions move by the root of that over their deviation.
#[test]
fn exchanged_columns_raise_the_error_as_the_closed_form_says() {
    let x_nd = normal(2000, 3) * array![1.0, 2.0, 5.0];
    let beta = [1.5, -0.5, 0.0];
    let f = |row: &[f64]| row.iter().zip(beta).map(|(x, b)| x * b).sum();
    let mut predict = of_rows(f);
    let y_nt = predict(x_nd.clone()).expect("a function") + 0.25;
    let mut rises = |measure, wanted_nt| {
        let judge = judge(measure, wanted_nt);
        by_permutation(&mut predict, &x_nd, &numbers(3), &judge, (40, Seed(0))).expect("a function")
    };
    let (error, found) = rises(Measure::SquaredError, y_nt.clone());
    assert!((error - 0.0625).abs() < 1e-12);
    for j in 0..3 {
        let wanted = 2.0 * beta[j] * beta[j] * x_nd.column(j).var(0.0);
        assert!(
            (found[j].0 - wanted).abs() <= 0.02 * wanted,
            "{j}: {found:?}, {wanted}"
        );
    }
    // Over repeats the mean of this number of pairs has a relative standard deviation of about
    // sqrt(2 / n).
    assert!(
        found[0].1 > 0.01 * found[0].0 && found[0].1 < 0.08 * found[0].0,
        "{found:?}"
    );
    assert_eq!(in_order(found.clone(), None).map_columns(), [0, 1, 2]);
    let (_, moved) = rises(Measure::Moved, &y_nt - 0.25);
    let deviation = y_nt.column(0).std(0.0);
    for j in 0..3 {
        let wanted = found[j].0.sqrt() / deviation;
        assert!((moved[j].0 - wanted).abs() <= 0.01 * wanted, "{moved:?}");
    }
}

trait MapColumns {
    fn map_columns(&self) -> Vec<usize>;
}

impl MapColumns for Vec<super::ColumnImportance> {
    fn map_columns(&self) -> Vec<usize> {
        self.iter().map(|of| of.column).collect()
    }
}

/// A category is one column, whose indicators are permuted together: separate permutations would
/// give rows of no category or of two.
#[test]
fn a_category_is_exchanged_whole() {
    let x_nd = Array2::from_shape_fn((60, 3), |(i, k)| f64::from(u8::from(i % 3 == k)));
    let column = Column {
        name: "city".into(),
        places: 0..3,
        holds: Holds::Categories(["a", "b", "c"].map(String::from).to_vec()),
        has_indicator: false,
    };
    let mut predict = |x_nd: Array2<f64>| {
        assert!(
            x_nd.sum_axis(Axis(1)).iter().all(|&sum| sum == 1.0),
            "{x_nd}"
        );
        Ok(x_nd.slice(s![.., 1..2]).to_owned())
    };
    let judge = judge(Measure::SquaredError, x_nd.slice(s![.., 1..2]).to_owned());
    let columns = [column];
    let found = by_permutation(&mut predict, &x_nd, &columns, &judge, (20, Seed(0)));
    let (error, rises) = found.expect("a function");
    // 2 p (1 - p) with p = 1/3.
    assert_eq!(error, 0.0);
    assert!((rises[0].0 - 4.0 / 9.0).abs() < 0.05, "{rises:?}");
}

/// The variance of `sum_k b_k x_k` over the model columns of a column does not change if a constant
/// is added to all b of a category.
#[test]
fn gradients_of_a_category_count_along_its_differences_alone() {
    let x_nd = Array2::from_shape_fn((60, 3), |(i, k)| f64::from(u8::from(i % 3 == k)));
    let column = Column {
        places: 0..3,
        ..numbers(1)[0].clone()
    };
    for shift in [0.0, 100.0] {
        let b = array![1.0, 2.0, 6.0] + shift;
        let m_dd = Array2::from_shape_fn((3, 3), |(i, j)| b[i] * b[j]);
        let own = x_nd.dot(&b).var(0.0);
        assert!((trace(&m_dd, &x_nd, &column) - own).abs() < 1e-9);
    }
    let one = Column {
        places: 1..2,
        ..column
    };
    let m_dd = Array2::from_elem((3, 3), 4.0);
    assert!((trace(&m_dd, &x_nd, &one) - 4.0 * 2.0 / 9.0).abs() < 1e-12);
}

#[test]
fn classes_are_judged_by_their_probabilities_or_labels() {
    let wanted = array![[0.0], [2.0], [1.0], [7.0]];
    let outputs = array![
        [0.5, 0.5, 0.0],
        [0.1, 0.1, 0.8],
        [0.6, 0.4, 0.0],
        [1.0, 0.0, 0.0]
    ];
    let of = |measure| judge(measure, wanted.clone()).error(&outputs);
    // The last row has an unknown label.
    assert_eq!(of(Measure::WrongLabels), 0.5);
    let logs = [0.5_f64, 0.8, 0.4, f64::EPSILON].map(f64::ln);
    assert!((of(Measure::LogLoss) + logs.iter().sum::<f64>() / 4.0).abs() < 1e-12);
    let amounts = judge(Measure::PinballLoss(0.9), array![[1.0], [3.0]]);
    let loss = amounts.error(&array![[2.0], [1.0]]);
    assert!((loss - (0.1 + 1.8) / 2.0).abs() < 1e-12, "{loss}");
}

/// For `f = 2 x_0 + x_1 x_2`: `2 v + mean x_1 x_2` along the first, `v mean x_2` and the rest along
/// the second; each row has a different slope there.
#[test]
fn partial_dependence_is_that_of_the_closed_form() {
    let x_nd = normal(400, 3);
    let mut predict = of_rows(|x| 2.0 * x[0] + x[1] * x[2]);
    let columns = numbers(3);
    let index: Vec<u64> = (0..400).map(|i| 10 * i).collect();
    let mean = |of: &dyn Fn(&[f64]) -> f64| {
        let rows = x_nd.rows().into_iter();
        rows.map(|row| of(&row.to_vec())).sum::<f64>() / 400.0
    };
    for (j, column) in columns.iter().enumerate().take(2) {
        let levels = levels(column, &x_nd, 9);
        let curves = curves(&mut predict, &x_nd, column, &levels).expect("a function");
        let found = summed_up(j, levels, &curves, (&index, 8));
        assert_eq!(
            (found.values.len(), found.rows, found.curves_cgk.dim()),
            (9, 400, (8, 9, 1))
        );
        let mut last = f64::NEG_INFINITY;
        for (g, value) in found.values.iter().enumerate() {
            let &ColumnValue::Number(v) = value else {
                panic!("{value} is no number");
            };
            assert!(v > last);
            last = v;
            let wanted = match j {
                0 => 2.0 * v + mean(&|x| x[1] * x[2]),
                _ => v * mean(&|x| x[2]) + mean(&|x| 2.0 * x[0]),
            };
            assert!((found.mean_gk[[g, 0]] - wanted).abs() < 1e-9, "{wanted}");
            for (c, &row) in found.curve_rows.iter().enumerate() {
                let x = x_nd.row(row as usize / 10);
                let own = if j == 0 {
                    2.0 * v + x[1] * x[2]
                } else {
                    2.0 * x[0] + v * x[2]
                };
                assert!((found.curves_cgk[[c, g, 0]] - own).abs() < 1e-12);
            }
        }
    }
    // The grid consists of quantiles, from the 1st to the 99th percentile.
    let column = Array2::from_shape_fn((101, 1), |(i, _)| (i * i) as f64);
    let values: Vec<String> = levels(&columns[0], &column, 3)
        .iter()
        .map(|level| level.value.to_string())
        .collect();
    assert_eq!(values, ["1", "2500", "9801"]);
}

/// Categories by name, then missing, each encoded for the model.
#[test]
fn levels_are_what_the_model_takes() {
    let column = Column {
        name: "city".into(),
        places: 1..4,
        holds: Holds::Categories(["a", "b"].map(String::from).to_vec()),
        has_indicator: true,
    };
    let x_nd = array![
        [5.0, 1.0, 0.0, 0.0],
        [6.0, 0.25, 0.75, 1.0],
        [7.0, 0.0, 0.0, 0.0]
    ];
    let found = levels(&column, &x_nd, 20);
    let names: Vec<String> = found.iter().map(|level| level.value.to_string()).collect();
    assert_eq!(names, ["a", "b", "missing"]);
    let mut predict = |x_nd: Array2<f64>| Ok(x_nd);
    let set = curves(&mut predict, &x_nd, &column, &found).expect("itself");
    assert_eq!(set.slice(s![2, 1, ..]), array![7.0, 0.0, 1.0, 0.0]);
    assert_eq!(set.slice(s![0, 2, ..]), array![5.0, 0.25, 0.75, 1.0]);
    assert_eq!(
        column.value(x_nd.row(0)),
        Some(ColumnValue::Category("a".into()))
    );
    assert_eq!(column.value(x_nd.row(1)), Some(ColumnValue::Missing));
    assert_eq!(column.value(x_nd.row(2)), None);
}

fn explained(f: &dyn Fn(&[f64]) -> f64, columns: &[Column]) -> (Array2<f64>, Array2<f64>, Shapley) {
    let places = columns.last().map_or(0, |column| column.places.end);
    let all_nd = normal(60, places);
    let (x_rd, background_bd) = (all_nd.slice(s![..4, ..]), all_nd.slice(s![20.., ..]));
    let (x_rd, background_bd) = (x_rd.to_owned(), background_bd.to_owned());
    let mut predict = of_rows(f);
    let rows = (&x_rd, [0, 1, 2, 3].as_slice());
    let found = shapley(&mut predict, rows, &background_bd, columns, Seed(0));
    (x_rd, background_bd, found.expect("a function"))
}

/// A background row with a subset of its columns copied from the row x.
pub(super) fn mixed(x: &[f64], row: &[f64], set: usize) -> Vec<f64> {
    let own = |j: usize| if set >> j & 1 == 1 { x[j] } else { row[j] };
    (0..x.len()).map(own).collect()
}

/// Shapley values of a row by all subsets of its columns: the mean over the background, and over
/// subsets without j of each size, of the change by j.
fn by_subsets(f: &dyn Fn(&[f64]) -> f64, x: &[f64], background_bd: &Array2<f64>) -> Vec<f64> {
    let value = |set: usize| {
        let rows = background_bd.rows().into_iter();
        let sum: f64 = rows.map(|row| f(&mixed(x, &row.to_vec(), set))).sum();
        sum / background_bd.nrows() as f64
    };
    of_sets(&(0..1 << x.len()).map(value).collect::<Vec<_>>())
}

/// The same from the value of each subset.
pub(super) fn of_sets(values: &[f64]) -> Vec<f64> {
    let d = values.len().ilog2() as usize;
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let of_column = |j: usize| {
        let without = (0..values.len()).filter(|set| set >> j & 1 == 0);
        let weighed = without.map(|set: usize| {
            let size = set.count_ones() as usize;
            let weight = factorial(size) * factorial(d - size - 1) / factorial(d);
            weight * (values[set | 1 << j] - values[set])
        });
        weighed.sum()
    };
    (0..d).map(of_column).collect()
}

/// `beta_j (x_j - mean_j)`, without an error, for any sampled permutations.
#[test]
fn shapley_values_of_a_line_are_its_terms() {
    let beta = [1.5, -2.0, 0.0, 0.5];
    let f = |row: &[f64]| 3.0 + row.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>();
    let (x_rd, background_bd, found) = explained(&f, &numbers(4));
    let mean_d = background_bd.mean_axis(Axis(0)).expect("rows");
    for ((r, j, _), &value) in found.values_rpk.indexed_iter() {
        let wanted = beta[j] * (x_rd[[r, j]] - mean_d[j]);
        assert!((value - wanted).abs() < 1e-12, "{value}, {wanted}");
    }
    assert!(found.errors_rpk.iter().all(|&error| error < 1e-12));
    let first = found.mean_absolute()[0];
    let wanted = (0..4)
        .map(|r| (1.5 * (x_rd[[r, 0]] - mean_d[0])).abs())
        .sum::<f64>()
        / 4.0;
    assert!((first - wanted).abs() < 1e-12);
}

/// Pairs of permutations are exact without interactions of three columns; otherwise errors match
/// their standard errors. The values of a row always sum to its prediction minus the mean.
#[test]
fn shapley_values_are_those_of_all_subsets() {
    let two = |x: &[f64]| x[0].sin() + 2.0 * x[1] * x[2] - x[3] * x[0];
    let three = |x: &[f64]| x[0] * x[1] * x[2] + x[3] * x[3];
    for (f, exact) in [(&two as &dyn Fn(&[f64]) -> f64, true), (&three, false)] {
        let (x_rd, background_bd, found) = explained(f, &numbers(4));
        let (mut off, mut errors) = (0.0, 0.0);
        for (r, row) in x_rd.rows().into_iter().enumerate() {
            let row = row.to_vec();
            let wanted = by_subsets(f, &row, &background_bd);
            for (j, wanted) in wanted.into_iter().enumerate() {
                let (value, error) = (found.values_rpk[[r, j, 0]], found.errors_rpk[[r, j, 0]]);
                if exact {
                    assert!(
                        (value - wanted).abs() < 1e-12,
                        "{r}, {j}: {value}, {wanted}"
                    );
                } else {
                    assert!(
                        (value - wanted).abs() <= 4.0 * error + 1e-12,
                        "{r}, {j}: {value}, {wanted}"
                    );
                    off += (value - wanted).powi(2);
                    errors += error * error;
                }
            }
            let sum = found.values_rpk.slice(s![r, .., 0]).sum();
            let wanted = f(&row) - found.base_k[0];
            assert!((sum - wanted).abs() < 1e-12, "{sum}, {wanted}");
        }
        if !exact {
            assert!(
                errors > 0.0 && (0.3..3.0).contains(&(off / errors)),
                "{off}, {errors}"
            );
        }
        let rows = background_bd.rows().into_iter();
        let mean = rows.map(|row| f(&row.to_vec())).sum::<f64>() / 40.0;
        assert!((found.base_k[0] - mean).abs() < 1e-12 && found.background == 40);
    }
}

/// The model columns of a category change together.
#[test]
fn places_of_a_column_share_a_shapley_value() {
    let columns = [
        Column {
            places: 0..2,
            holds: Holds::Texts,
            ..numbers(1)[0].clone()
        },
        Column {
            places: 2..3,
            ..numbers(1)[0].clone()
        },
    ];
    let f = |x: &[f64]| x[0] * x[1] + x[2];
    let (x_rd, background_bd, found) = explained(&f, &columns);
    let rows = background_bd.rows().into_iter();
    let mean = rows.map(|row| row[0] * row[1]).sum::<f64>() / 40.0;
    let wanted = x_rd[[1, 0]] * x_rd[[1, 1]] - mean;
    assert!((found.values_rpk[[1, 0, 0]] - wanted).abs() < 1e-12);
    assert_eq!(found.values_rpk.dim(), (4, 2, 1));
}
