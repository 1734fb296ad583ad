use super::*;
use crate::data::MemorySource;
use ndarray::{Array2, s};

fn numbers(rows: usize) -> (Array2<f64>, Array2<f64>, Vec<f64>) {
    let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
    let x = Array2::from_shape_fn((rows, 4), |(i, j)| match j {
        // Large values with a small spread, a binary column, and one that is constant.
        0 => 1e9 + wave(i, j),
        1 => f64::from(i % 3 == 0),
        2 => -4.5,
        _ => 3.0 * wave(i, j) - 1.0,
    });
    let y = Array2::from_shape_fn((rows, 2), |(i, j)| match j {
        0 => (i % 5) as f64,
        _ => wave(i, 9) * 1e3,
    });
    let weights = (0..rows).map(|i| (i % 4) as f64 / 2.0).collect();
    (x, y, weights)
}

/// Parts in another order, by way of bytes, are one pass: bits of the sample, ends and classes,
/// and moments up to rounding.
#[test]
fn parts_in_any_order_are_one_pass() {
    let (x, y, weights) = numbers(403);
    let source = |from: usize, to: usize, weighted: bool| {
        let rows = MemorySource::new(
            x.slice(s![from..to, ..]),
            Some(y.slice(s![from..to, ..]).to_owned()),
        );
        let rows = rows.expect("rows");
        if weighted {
            rows.with_weights(weights[from..to].to_vec())
                .expect("weights")
        } else {
            rows
        }
    };
    // The third has one row, of weight 0 where there are weights.
    let cuts = [(250, 403), (0, 100), (100, 101), (101, 250)];
    for weighted in [false, true] {
        let whole = Survey::new(&mut source(0, 403, weighted), 50, 3).expect("surveys");
        let mut parts = cuts.map(|(from, to)| {
            let mut part = source(from, to, weighted);
            let part = SurveyPart::new(&mut part, from as u64, 50, 3).expect("surveys");
            SurveyPart::from_bytes(&part.to_bytes().expect("writes")).expect("reads")
        });
        let (first, others) = parts.split_first_mut().expect("four");
        for other in others {
            first.merge(other).expect("merges");
        }
        let merged = first.clone().finish().expect("rows");
        assert_eq!(merged.rows, 403);
        assert_eq!(merged.sample, whole.sample);
        assert_eq!(merged.sample_index, whole.sample_index);
        assert_eq!((&merged.min, &merged.max), (&whole.min, &whole.max));
        assert_eq!(merged.binary, [false, true, false, false]);
        assert_eq!(merged.binary, whole.binary);
        let close = |a: f64, b: f64, spread: f64| {
            assert!((a - b).abs() <= 1e-12 * spread, "{a} {b} {weighted}");
        };
        for j in 0..4 {
            close(
                merged.variance[j],
                whole.variance[j],
                whole.variance[j].max(1e-30),
            );
            close(merged.mean[j], whole.mean[j], whole.mean[j].abs());
        }
        for (merged, whole) in merged.targets.iter().zip(&whole.targets) {
            close(merged.variance, whole.variance, whole.variance);
            close(merged.mean, whole.mean, whole.variance.sqrt());
            assert_eq!((merged.min, merged.max), (whole.min, whole.max));
            assert_eq!(merged.whole, whole.whole);
            assert_eq!(merged.distinct, whole.distinct);
        }
    }
}

/// Two ends in one part and a third value in another are three values.
#[test]
fn a_third_value_in_another_part_is_seen() {
    let part = |values: &[f64], first| {
        let x = Array2::from_shape_fn((values.len(), 1), |(i, _)| values[i]);
        let mut rows = MemorySource::new(x, None).expect("rows");
        SurveyPart::new(&mut rows, first, 0, 0).expect("surveys")
    };
    for (a, b, binary) in [
        (vec![0.0, 1.0], vec![0.0, 1.0, 1.0], true),
        (vec![0.0, 1.0], vec![1.0], true),
        (vec![0.0], vec![1.0], true),
        (vec![0.0, 1.0], vec![2.0], false),
        (vec![0.0, 2.0], vec![1.0], false),
        (vec![0.0, 1.0], vec![2.0, 3.0], false),
        (vec![0.0], vec![0.0], false),
        (vec![0.0], vec![1.0, 2.0, 3.0], false),
    ] {
        let mut all = part(&a, 0);
        all.merge(&part(&b, 10)).expect("merges");
        assert_eq!(all.finish().expect("rows").binary, [binary], "{a:?} {b:?}");
    }
}

/// One fraction among whole numbers, and one value too many, are seen in whichever part.
#[test]
fn targets_of_parts_are_those_of_all() {
    let part = |values: Vec<f64>| {
        let y = Array2::from_shape_fn((values.len(), 1), |(i, _)| values[i]);
        let x = Array2::<f64>::zeros((values.len(), 1));
        let mut rows = MemorySource::new(x, Some(y)).expect("rows");
        SurveyPart::new(&mut rows, 0, 0, 0).expect("surveys")
    };
    let whole = |from: usize, to: usize| (from..to).map(|i| i as f64).collect::<Vec<_>>();
    for (a, b, is_whole, distinct) in [
        (vec![2.0, 1.0], vec![3.0, 1.0], true, Some(3)),
        (vec![2.0, 1.0], vec![0.5], false, Some(3)),
        (vec![0.5], vec![2.0, 1.0], false, Some(3)),
        (whole(0, 1000), whole(900, 1025), true, Some(1025)),
        (whole(0, 1000), whole(900, 1026), true, None),
        (whole(0, 1026), vec![1.0], true, None),
        (vec![1.0], whole(0, 1026), true, None),
    ] {
        let mut all = part(a);
        all.merge(&part(b)).expect("merges");
        let target = &all.finish().expect("rows").targets[0];
        assert_eq!(
            (target.whole, target.distinct.as_ref().map(Vec::len)),
            (is_whole, distinct)
        );
    }
}

#[test]
fn parts_of_other_datasets_are_refused() {
    let (x, y, _) = numbers(20);
    let part = |columns: usize, targets: bool, rows: usize, seed| {
        let y = targets.then(|| y.clone());
        let mut source = MemorySource::new(x.slice(s![.., ..columns]), y).expect("rows");
        SurveyPart::new(&mut source, 0, rows, seed).expect("surveys")
    };
    let mut base = part(4, true, 5, 0);
    for (other, says) in [
        (part(3, true, 5, 0), "columns"),
        (part(4, false, 5, 0), "columns"),
        (part(4, true, 6, 0), "sample"),
        (part(4, true, 5, 1), "sample"),
    ] {
        let error = base.merge(&other).expect_err("refused").to_string();
        assert!(error.contains(says), "{error}");
    }
    let bytes = base.to_bytes().expect("writes");
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        assert!(SurveyPart::from_bytes(&bytes[..cut]).is_err());
    }
}

#[test]
fn rows_of_weight_zero_alone_are_refused_at_the_end() {
    let (x, _, _) = numbers(6);
    let part = |from: usize, to: usize, weight| {
        let rows = MemorySource::new(x.slice(s![from..to, ..]), None).expect("rows");
        let mut rows = rows.with_weights(vec![weight; to - from]).expect("weights");
        let part = SurveyPart::new(&mut rows, from as u64, 4, 0).expect("surveys");
        SurveyPart::from_bytes(&part.to_bytes().expect("writes")).expect("reads")
    };
    let mut all = part(0, 3, 0.0);
    assert!(all.clone().finish().is_err());
    all.merge(&part(3, 6, 2.0)).expect("merges");
    let survey = all.finish().expect("rows");
    assert_eq!((survey.rows, survey.sample_index), (6, vec![3, 4, 5]));
    assert_eq!(
        survey.min[3],
        x.slice(s![3.., 3]).iter().copied().fold(f64::MAX, f64::min)
    );
}
