use crate::{assert_says, opened, place};
use bochner::data::{
    Chunk, ChunkSource, CsvOptions, CsvSource, MemorySource, Survey, TargetStats, median_distance,
};
use bochner::kernels::Norm;
use bochner::{Result, Step};
use ndarray::{Array2, Axis, array};
use std::cell::RefCell;

/// A source that returns at most `most` rows for any request.
#[derive(Debug)]
struct Small(MemorySource, usize);

impl ChunkSource for Small {
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn targets(&self) -> usize {
        self.0.targets()
    }
    fn rows(&self) -> Option<usize> {
        None
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        self.0.next_chunk(max_rows.min(self.1))
    }
    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
}

fn survey(x: Array2<f64>, y: Option<Array2<f64>>, sample_rows: usize) -> Result<Survey> {
    Survey::new(&mut MemorySource::new(x, y)?, sample_rows, 5)
}

#[test]
fn keeps_the_digits_of_columns_far_from_zero() {
    // 0..7 at offsets whose squares exceed the precision of the variance; the variance of 0..7 is
    // 4, exactly.
    let offsets = [0.0, 1e9, -1e9, 1e15];
    let x = Array2::from_shape_fn((70_000, 4), |(i, j)| offsets[j] + (i % 7) as f64);
    let survey = survey(x, None, 0).unwrap();
    for (j, offset) in offsets.iter().enumerate() {
        assert!(
            (survey.variance[j] - 4.0).abs() < 1e-10,
            "variance {}",
            survey.variance[j]
        );
        // The mean itself is rounded to f64.
        assert!(
            (survey.mean[j] - (offset + 3.0)).abs() <= f64::EPSILON * offset.abs() + 1e-11,
            "mean {}",
            survey.mean[j]
        );
        assert_eq!((survey.min[j], survey.max[j]), (*offset, offset + 6.0));
    }
    assert_eq!(survey.rows, 70_000);
}

#[test]
fn variances_over_all_entries() {
    let x = array![[1.0, 10.0, 5.0], [2.0, 30.0, 5.0], [6.0, 20.0, 5.0]];
    let mean = x.mean().unwrap();
    let variance = x.mapv(|v| (v - mean) * (v - mean)).mean().unwrap();
    let survey = survey(x, None, 10).unwrap();
    assert!((survey.entry_variance() / variance - 1.0).abs() < 1e-14);
    assert!(survey.is_constant(2) && !survey.is_constant(0));
}

#[test]
fn does_not_depend_on_chunks() {
    let x = Array2::from_shape_fn((500, 3), |(i, j)| ((i * 37 + j * 11) % 89) as f64 / 3.0);
    let y = Array2::from_shape_fn((500, 1), |(i, _)| (i % 13) as f64);
    let source = MemorySource::new(x.clone(), Some(y)).unwrap();
    let of = |most, seed| {
        let heard = RefCell::new(Vec::new());
        let hear = |step| match step {
            Step::Survey(rows) => heard.borrow_mut().push(rows),
            other => panic!("{other:?}"),
        };
        let mut source = Small(source.clone(), most);
        let survey = Survey::watched(&mut source, 50, seed, &hear).unwrap();
        let heard = heard.into_inner();
        assert!(heard.is_sorted() && heard.last() == Some(&500));
        survey
    };
    let whole = of(500, 9);
    for most in [1, 7, 499] {
        assert_eq!(of(most, 9), whole);
    }
    assert_eq!(whole.sample.dim(), (50, 3));
    assert!(whole.sample_index.is_sorted_by(|a, b| a < b));
    for (row, &i) in whole.sample.rows().into_iter().zip(&whole.sample_index) {
        assert_eq!(row, x.row(i as usize));
    }
    assert_ne!(of(500, 10).sample_index, whole.sample_index);
    assert_eq!(
        survey(x.clone(), None, 1000).unwrap().sample,
        x,
        "all rows in order when there are few"
    );
}

#[test]
fn samples_uniformly() {
    // Over 400 seeds each of 20 rows is kept 5 times in 20: 100 times, standard deviation
    // sqrt(400 * 0.25 * 0.75) = 8.7.
    let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f64);
    let mut source = MemorySource::new(x, None).unwrap();
    let mut counts = [0_i32; 20];
    for seed in 0..400 {
        for i in Survey::new(&mut source, 5, seed).unwrap().sample_index {
            counts[i as usize] += 1;
        }
    }
    assert!(
        counts.iter().all(|count| (count - 100).abs() < 40),
        "{counts:?}"
    );
}

#[test]
fn targets() {
    let y = Array2::from_shape_fn((3000, 3), |(i, j)| match j {
        0 => (i % 3) as f64 - 1.0,
        1 => (i % 4) as f64 / 2.0,
        _ => i as f64,
    });
    let mut y = y;
    y[(1, 0)] = -0.0;
    let stats = survey(Array2::zeros((3000, 1)), Some(y), 0)
        .unwrap()
        .targets;
    assert_eq!(stats[0].distinct.as_deref(), Some(&[-1.0, 0.0, 1.0][..]));
    assert!(stats[0].whole && !stats[1].whole && stats[2].whole);
    assert_eq!(stats[1].distinct.as_ref().map(Vec::len), Some(4));
    assert_eq!(
        (stats[2].distinct.as_ref(), stats[2].min, stats[2].max),
        (None, 0.0, 2999.0)
    );
    assert!((stats[0].variance - 2.0 / 3.0).abs() < 1e-12 && (stats[2].mean - 1499.5).abs() < 1e-9);
    let most = TargetStats::MOST_DISTINCT;
    for (values, kept) in [(most, true), (most + 1, false)] {
        let y = Array2::from_shape_fn((values, 1), |(i, _)| i as f64);
        let stats = survey(Array2::zeros((values, 1)), Some(y), 0)
            .unwrap()
            .targets;
        assert_eq!(stats[0].distinct.is_some(), kept);
    }
}

#[test]
fn refuses_what_exceeds_f64() {
    assert_says(
        survey(array![[0.0, 1e300], [0.0, -1e300]], None, 1),
        &["variance of feature column 1", "rescale"],
    );
    assert_says(
        survey(array![[0.0], [0.0]], Some(array![[1e308], [-1e308]]), 1),
        &["target column 0"],
    );
    let (_directory, path) = place("data.csv");
    std::fs::write(&path, "a,b\n1,2\n1,x\n").unwrap();
    let mut source = opened(CsvSource::open(&path, CsvOptions::default()));
    assert_says(Survey::new(&mut source, 5, 0), &["line 3"]);
}

#[test]
fn median_distance_is_exact() {
    // Sizes around the tiles of 32 rows and the blocks of 8 columns, with even and odd numbers of
    // pairs.
    for (rows, columns) in [(2, 1), (3, 7), (4, 8), (31, 9), (32, 3), (33, 17), (70, 2)] {
        let x = Array2::from_shape_fn((rows, columns), |(i, j)| {
            ((i * 71 + j * 29 + i * i) % 97) as f64 / 5.0
        });
        for norm in [Norm::L1, Norm::L2] {
            let mut all = Vec::new();
            for i in 0..rows {
                for j in 0..i {
                    let difference = &x.row(i) - &x.row(j);
                    all.push(match norm {
                        Norm::L1 => difference.mapv(f64::abs).sum(),
                        Norm::L2 => difference.mapv(|v| v * v).sum().sqrt(),
                    });
                }
            }
            all.sort_by(f64::total_cmp);
            let half = all.len() / 2;
            let expected = if all.len() % 2 == 1 {
                all[half]
            } else {
                (all[half - 1] + all[half]) / 2.0
            };
            let median = median_distance(x.view(), norm).unwrap();
            assert!(
                (median / expected - 1.0).abs() < 1e-14,
                "{rows} x {columns}: {median}, {expected}"
            );
            assert_eq!(
                median_distance(x.t().as_standard_layout().t(), norm).unwrap(),
                median,
                "layout"
            );
        }
    }
}

#[test]
fn median_distance_of_many_rows() {
    // 4,000 rows 0, 1, 2, ...: every second one is taken, so distances are even, and the median of
    // |i - j| over 2,000 rows is 586 (the smallest k whose pairs at distance up to k are half of
    // all).
    let x = Array2::from_shape_fn((4000, 1), |(i, _)| i as f64);
    assert_eq!(median_distance(x.view(), Norm::L1).unwrap(), 2.0 * 586.0);
    let large = Array2::from_shape_fn((2000, 784), |(i, j)| ((i * 131 + j * 7919) % 256) as f64);
    let start = std::time::Instant::now();
    median_distance(large.view(), Norm::L2).unwrap();
    println!(
        "median distance of 2,000 x 784: {:.2} s",
        start.elapsed().as_secs_f64()
    );
}

#[test]
fn median_distance_refuses() {
    assert_says(
        median_distance(array![[1.0, 2.0]].view(), Norm::L2),
        &["at least 2 rows"],
    );
    let mut x = Array2::<f64>::zeros((10, 2));
    x[(9, 0)] = 1.0;
    assert_says(
        median_distance(x.view(), Norm::L2),
        &["is 0", "as a number"],
    );
    assert_says(
        median_distance(array![[1e200], [-1e200]].view(), Norm::L2),
        &["range of f64"],
    );
}

#[test]
fn two_values_and_no_third_make_a_column_binary() {
    // Ascending and descending: the third value is a new extreme, not between.
    let x = array![
        [0.0, 2.0, 5.0, 0.0, 1.0, 7.0],
        [1.0, 1.0, 5.0, 1.0, 3.0, 7.0],
        [2.0, 0.0, 5.0, 0.0, 2.0, 7.5],
    ];
    let survey = survey(x, None, 0).unwrap();
    assert_eq!(survey.binary, [false, false, false, true, false, true]);
}

#[test]
fn a_row_of_weight_two_is_one_that_is_there_twice() {
    let x = array![[1.0, -3.0], [2.0, 5.0], [7.0, 0.5], [4.0, 4.0]];
    let y = array![[0.5], [2.0], [3.0], [9.0]];
    let again = [0, 1, 1, 3, 3, 3];
    let repeated = survey(
        x.select(Axis(0), &again),
        Some(y.select(Axis(0), &again)),
        0,
    )
    .unwrap();
    let mut source = MemorySource::new(x, Some(y)).unwrap();
    source = source.with_weights(vec![1.0, 2.0, 0.0, 3.0]).unwrap();
    let weighted = Survey::new(&mut source.clone(), 4, 5).unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} for {b}");
    for j in 0..2 {
        near(weighted.mean[j], repeated.mean[j]);
        near(weighted.variance[j], repeated.variance[j]);
    }
    assert_eq!(
        (&weighted.min, &weighted.max),
        (&repeated.min, &repeated.max)
    );
    near(weighted.targets[0].mean, repeated.targets[0].mean);
    near(weighted.targets[0].variance, repeated.targets[0].variance);
    // Rows of weight 0 count as rows, and their labels as labels.
    assert_eq!((weighted.rows, weighted.sample_index), (4, vec![0, 1, 3]));
    assert_eq!(
        weighted.targets[0].distinct.as_deref(),
        Some(&[0.5, 2.0, 3.0, 9.0][..])
    );
    let none = source.with_weights(vec![0.0; 4]).unwrap();
    assert_says(Survey::new(&mut none.clone(), 0, 5), &["weight 0"]);
}
