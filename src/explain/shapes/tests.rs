//! Known functions, and their standard errors over many draws of the noise.

use super::*;
use crate::{
    Device, Run,
    data::{MemorySource, Rows},
    explain::{
        ExplainOptions,
        tests::{mixed, normal, of_sets},
    },
    features::{Additive, MapSpec},
    kernels::{Gaussian, Laplacian},
    prelude::{Bandwidth, Fourier, GaussianProcess, Ridge, Seed},
    seed::Stream,
};

const NOISE: f64 = 0.3;

fn part(j: usize, x: f64) -> f64 {
    match j {
        0 => x.sin(),
        1 => x * x / 2.0,
        // A category with three levels.
        2 => [0.5, -0.75, 0.25][x as usize],
        _ => 0.0,
    }
}

/// sin(x0) + x1^2 / 2 + effects of three levels + noise, with columns within (-2, 2) and levels 0,
/// 1, 2.
fn table(rows: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut draws = Seed(seed).stream(Stream::Sample, 1);
    let x_nd = Array2::from_shape_fn((rows, 3), |(_, j)| match j {
        2 => (3.0 * draws.uniform()).floor().min(2.0),
        _ => 4.0 * draws.uniform() - 2.0,
    });
    let y_n1 = Array2::from_shape_fn((rows, 1), |(i, _)| {
        let sum: f64 = (0..3).map(|j| part(j, x_nd[[i, j]])).sum();
        sum + NOISE * draws.normal()
    });
    (x_nd, y_n1)
}

fn with<T>(
    model: &LinearModel,
    (x_nd, y_nt): (&Array2<f64>, Option<&Array2<f64>>),
    ask: impl FnOnce(&mut Explainer<'_>) -> T,
) -> T {
    let mut rows = MemorySource::new(x_nd.clone(), y_nt.cloned()).expect("finite");
    let options = ExplainOptions::default();
    let explainer = Explainer::new(model, &mut rows, options, &Device::cpu());
    ask(&mut explainer.expect("explains"))
}

fn numbers(values: &[ColumnValue]) -> Vec<f64> {
    let number = |value: &ColumnValue| match value {
        ColumnValue::Number(number) => *number,
        other => panic!("{other} is no number"),
    };
    values.iter().map(number).collect()
}

fn ridge() -> Ridge {
    let map = Fourier::new(Gaussian).features(120);
    let ridge = Ridge::on(map).additive(Additive::Columns);
    ridge
        .bandwidth(Bandwidth::Sigma(1.0))
        .device(&Device::cpu())
}

/// Squares of (estimate - truth) / band over seeds, for each part: with correct bands their mean is
/// 1, and the truth is within 1.96 bands in 95 % of cases. The noise is estimated, too.
#[test]
fn bands_hold_the_truth_at_their_level() {
    let seeds = 30;
    let (mut squares, mut noise) = ([const { Vec::new() }; 3], 0.0);
    for seed in 0..seeds {
        let (x_nd, y_n1) = table(200, seed);
        let model = ridge().fit((&x_nd, &y_n1)).expect("fits");
        let given = (&x_nd, Some(&y_n1));
        let found = with(model.linear(), given, |of| of.shapes()).expect("additive");
        noise += found.noise_k.as_ref().expect("residuals")[0] / seeds as f64;
        for shape in &found.shapes {
            let j = shape.columns[0];
            let mean = x_nd.column(j).mapv(|x| part(j, x)).mean().expect("rows");
            let band_gk = shape.band_gk.as_ref().expect("a band");
            for (g, x) in numbers(&shape.values[0]).into_iter().enumerate() {
                let off = shape.mean_gk[[g, 0]] - (part(j, x) - mean);
                squares[j].push((off / band_gk[[g, 0]]).powi(2));
            }
        }
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let all = squares.concat();
    let within = all.iter().filter(|&&square| square < 1.96 * 1.96).count();
    let share = within as f64 / all.len() as f64;
    let roots = squares.map(|of| mean(&of).sqrt());
    assert!((0.88..0.985).contains(&share), "{share} {roots:?}");
    assert!((0.8..1.3).contains(&mean(&all).sqrt()), "{roots:?}");
    assert!((noise.sqrt() / NOISE - 1.0).abs() < 0.025, "{noise}");
}

/// For columns with few values the functions are known at every row: they and the intercept sum to
/// the prediction, for parts with bins, pairs and two maps of one column; and each has mean 0.
#[test]
fn shapes_sum_to_the_prediction() {
    let x_nd = Array2::from_shape_fn((90, 3), |(i, j)| ((i * (3 * j + 7)) % (5 + 2 * j)) as f64);
    let y_n1 = Array2::from_shape_fn((90, 1), |(i, _)| {
        x_nd[[i, 0]].sin() + x_nd[[i, 1]] * x_nd[[i, 2]] / 9.0
    });
    let kernel = std::sync::Arc::new(Laplacian);
    for choice in [
        "fourier[0]+fourier[1:3]",
        "nystrom[0]:5+0.5*fourier[0]:20+binning[2]:30+fourier[1,2]:60",
    ] {
        let mut spec = MapSpec::new(choice.parse().expect("maps"), kernel.clone());
        spec.features = 60;
        let ridge = Ridge::on(spec)
            .bandwidth(Bandwidth::Sigma(1.0))
            .lambda(1e-4);
        let model = ridge
            .device(&Device::cpu())
            .fit((&x_nd, &y_n1))
            .expect(choice);
        let model = model.linear();
        let found = with(model, (&x_nd, Some(&y_n1)), |of| of.shapes()).expect("additive");
        assert!(found.others.is_empty() && found.shapes.iter().all(|of| of.band_gk.is_some()));
        let mut predictor = model.on(&Device::cpu()).expect("loads");
        let wanted = predictor
            .predict(&Rows::F64(x_nd.clone()))
            .expect("predicts");
        let mut sums = vec![0.0; found.shapes.len()];
        for (row, wanted) in x_nd.rows().into_iter().zip(&wanted) {
            let of_shape = |shape: &Shape| {
                let place = |(&j, values): (&usize, &Vec<ColumnValue>)| {
                    let numbers = numbers(values);
                    let own = numbers.iter().position(|&x| x == row[j]);
                    (own.expect("among the values"), numbers.len())
                };
                let places = shape.columns.iter().zip(&shape.values).map(place);
                let g = places.fold(0, |g, (own, of)| g * of + own);
                shape.mean_gk[[g, 0]]
            };
            let each: Vec<f64> = found.shapes.iter().map(of_shape).collect();
            let sum = found.intercept_k[0] + each.iter().sum::<f64>();
            assert!((sum - wanted).abs() < 2e-5, "{choice}: {sum}, {wanted}");
            sums.iter_mut()
                .zip(&each)
                .for_each(|(sum, own)| *sum += own);
        }
        assert!(sums.iter().all(|sum| sum.abs() < 1e-4), "{sums:?}");
    }
}

/// The covariance from sums of features and from kernel values agree, also if the rows are a sample
/// of the training rows; and with a Gaussian process of the same ratio.
#[test]
fn three_ways_give_one_band() {
    let (x_nd, y_n1) = table(160, 3);
    let lambda = 1e-3;
    let model = ridge().lambda(lambda).fit((&x_nd, &y_n1)).expect("fits");
    let map = Fourier::new(Gaussian).features(120);
    let process = GaussianProcess::on(map).additive(Additive::Columns);
    let process = process.noise(0.09).signal(0.09 / (lambda * 160.0));
    let process = process
        .bandwidth(Bandwidth::Sigma(1.0))
        .device(&Device::cpu());
    let process = process.fit((&x_nd, &y_n1)).expect("fits");
    let by_root = with(process.linear(), (&x_nd, None), |of| of.shapes()).expect("additive");
    let some_nd = x_nd.slice(s![..80, ..]).to_owned();
    let run = Run::on(&Device::cpu());
    with(model.linear(), (&x_nd, Some(&y_n1)), |of| {
        let parts = of.summands().expect("additive");
        let linear = model.linear();
        for rows_nd in [&x_nd, &some_nd] {
            let by_features = Covariance::of_features(linear, &parts, rows_nd, &run);
            let by_rows = Covariance::of_rows(linear, &parts, rows_nd, &run);
            let both = [by_features, by_rows].map(|of| of.expect("runs").expect("definite"));
            let dimensions = both.each_ref().map(|of| of.dimension());
            assert!(
                (dimensions[0] - dimensions[1]).abs() < 1e-6,
                "{dimensions:?}"
            );
            for (p, part) in parts.iter().enumerate() {
                let grid = of.grid(&part.columns).expect("drawn");
                let found = both.each_ref().map(|of| {
                    let found = of.relative((p, part), &grid.x_gd, &run);
                    found.expect("runs")
                });
                let off = (&found[0] / &found[1] - 1.0).mapv(f64::abs);
                assert!(off.iter().all(|&off| off < 1e-6), "{found:?}");
                if rows_nd.nrows() == 160 {
                    let mut shapes = by_root.shapes.iter();
                    let of_root = shapes.find(|of| of.columns == part.columns).expect("there");
                    let band_gk = of_root.band_gk.as_ref().expect("kept");
                    let off = band_gk.column(0).mapv(|b| b * b / 0.09) / &found[0] - 1.0;
                    assert!(off.iter().all(|off| off.abs() < 1e-3), "{off}");
                }
            }
        }
    });
}

/// A model of all columns, and one with a part that depends on all, are refused in one line.
#[test]
fn what_is_no_sum_is_refused() {
    let (x_nd, y_n1) = table(80, 5);
    for choice in ["fourier", "fourier+binning[1]"] {
        let kernel = std::sync::Arc::new(Laplacian);
        let mut spec = MapSpec::new(choice.parse().expect("maps"), kernel);
        spec.features = 40;
        let ridge = Ridge::on(spec)
            .bandwidth(Bandwidth::Sigma(1.0))
            .lambda(1e-3);
        let model = ridge
            .device(&Device::cpu())
            .fit((&x_nd, &y_n1))
            .expect("fits");
        let error = with(model.linear(), (&x_nd, None), |of| of.shapes()).expect_err("whole");
        let error = error.to_string();
        assert!(
            error.contains("no sum of functions") && !error.contains('\n'),
            "{error}"
        );
    }
}

/// Exact values equal those by all subsets of all columns, for parts of one, two and three columns;
/// for classes they explain scores, and for seven columns in one part permutations are sampled.
#[test]
fn shapley_values_of_a_sum_are_exact() {
    let x_nd = normal(70, 7);
    let y_n1 = Array2::from_shape_fn((70, 1), |(i, _)| {
        x_nd[[i, 0]].sin()
            + x_nd[[i, 1]] * x_nd[[i, 2]]
            + x_nd[[i, 3]] * x_nd[[i, 4]] * x_nd[[i, 5]]
    });
    let kernel = std::sync::Arc::new(Gaussian);
    for (choice, is_exact) in [
        (
            "fourier[0,1]+0.25*fourier[1,2]+0.5*fourier[2]+fourier[3:6]",
            true,
        ),
        ("fourier[0]+fourier[0:7]", false),
    ] {
        let mut spec = MapSpec::new(choice.parse().expect("maps"), kernel.clone());
        spec.features = 60;
        let ridge = Ridge::on(spec)
            .bandwidth(Bandwidth::Sigma(1.5))
            .lambda(1e-3);
        let model = ridge
            .device(&Device::cpu())
            .fit((&x_nd, &y_n1))
            .expect("fits");
        let found = with(model.linear(), (&x_nd, None), |of| of.shapley(3)).expect("explains");
        assert_eq!((found.is_exact, found.background), (is_exact, 64));
        let sums_rk = found.values_rpk.sum_axis(Axis(1));
        let off_rk = &found.outputs_rk - &found.base_k - &sums_rk;
        assert!(off_rk.iter().all(|off| off.abs() < 1e-12), "{off_rk}");
        let mut predictor = model.linear().on(&Device::cpu()).expect("loads");
        let mut predict = |x_nd: Array2<f64>| {
            let found = predictor.predict(&Rows::F64(x_nd)).expect("predicts");
            found.column(0).to_owned()
        };
        let rows: Vec<usize> = found.rows.iter().map(|&row| row as usize).collect();
        let wanted_r = predict(x_nd.select(Axis(0), &rows));
        let off_r = &found.outputs_rk.column(0) - &wanted_r;
        assert!(off_r.iter().all(|off| off.abs() < 2e-5), "{off_r}");
        if !is_exact {
            continue;
        }
        assert!(found.errors_rpk.iter().all(|&error| error == 0.0));
        let background_bd = x_nd.select(Axis(0), &(0..64).map(|i| i * 70 / 64).collect::<Vec<_>>());
        let x = x_nd.row(rows[1]).to_vec();
        let value = |set: usize| {
            let rows = background_bd.rows().into_iter();
            let all: Vec<f64> = rows.flat_map(|row| mixed(&x, &row.to_vec(), set)).collect();
            let all_bd = Array2::from_shape_vec(background_bd.dim(), all).expect("whole");
            predict(all_bd).mean().expect("rows")
        };
        let wanted_j = of_sets(&(0..1 << 7).map(value).collect::<Vec<_>>());
        for (j, wanted) in wanted_j.into_iter().enumerate() {
            let value = found.values_rpk[[1, j, 0]];
            assert!((value - wanted).abs() < 2e-5, "{j}: {value}, {wanted}");
        }
    }
}
