//! Fitted probabilities compared with their definition.

use super::*;
use crate::store::Store;
use crate::{
    Device,
    features::{Bandwidth, Fourier},
    kernels::Gaussian,
    models::RidgeClassifier,
    seed::{Seed, Stream},
};
use ndarray::{Array1, array};

/// Probabilities of rows of weight 1.
fn fitted(scores: &Array2<f64>, class_n: &[usize]) -> Probabilities {
    of_weights(scores, class_n, &vec![1.0; class_n.len()])
}

fn of_weights(scores: &Array2<f64>, class_n: &[usize], weight_n: &[f64]) -> Probabilities {
    let of = (class_n, weight_n);
    Probabilities::fitted(scores, of, class_n.len() as f64).probabilities
}

#[test]
fn scores_become_probabilities_as_said() {
    let scores = array![[1.0, -0.5, 0.25], [800.0, 799.0, -800.0]];
    let softmax = Probabilities::Softmax.apply(scores.clone());
    let e = [1.0_f64, -0.5, 0.25].map(f64::exp);
    for (p, e_k) in softmax.row(0).iter().zip(e) {
        assert!((p - e_k / e.iter().sum::<f64>()).abs() < 1e-15);
    }
    assert!((softmax[[1, 0]] - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-15);

    let (slope_t, offset_t) = (vec![2.0, 0.5, 1.0], vec![0.1, -0.3, 0.7]);
    let sigmoid = |u: f64| 1.0 / (1.0 + (-u).exp());
    let own = [sigmoid(2.1), sigmoid(-0.55), sigmoid(0.95)];
    let offsets = offset_t.clone();
    let sigmoids = Probabilities::Sigmoids { slope_t, offset_t }.apply(scores.clone());
    for (p, own_k) in sigmoids.row(0).iter().zip(own) {
        assert!((p - own_k / own.iter().sum::<f64>()).abs() < 1e-15);
    }
    let tempered = Probabilities::Tempered {
        slope: 2.0,
        offset_t: offsets,
    };
    let mut store = Store::default();
    tempered.write(&mut store);
    let read = Probabilities::read(&store, 3).expect("reads");
    assert_eq!(read.as_ref(), Some(&tempered));
    let e = [2.1_f64, -1.3, 1.2].map(f64::exp);
    for (p, e_k) in tempered.apply(scores).row(0).iter().zip(e) {
        assert!((p - e_k / e.iter().sum::<f64>()).abs() < 1e-15);
    }
    let none = Probabilities::Sigmoids {
        slope_t: vec![1e6; 2],
        offset_t: vec![0.0; 2],
    };
    assert_eq!(none.apply(array![[-1.0, -2.0]]), array![[0.5, 0.5]]);
}

/// The gradient of the penalised likelihood is zero at the fit, by differences of its formula; and
/// the temperature that generated the labels is recovered.
#[test]
fn one_softmax_is_the_likeliest() {
    let mut draws = Seed(3).stream(Stream::Sample, 0);
    let class_n: Vec<usize> = (0..90).map(|i| i * i % 4).collect();
    let scores = Array2::from_shape_fn((90, 4), |(i, k)| {
        draws.normal() + if class_n[i] == k { 1.0 + k as f64 } else { 0.0 }
    });
    let Probabilities::Tempered { slope, offset_t } = fitted(&scores, &class_n) else {
        panic!("a softmax")
    };
    let cost = |slope: f64, offset_t: &[f64]| {
        let offset_t = offset_t.to_vec();
        let mut sum = 0.5 * offset_t.iter().map(|b| b * b).sum::<f64>();
        let p = Probabilities::Tempered { slope, offset_t }.apply(scores.clone());
        for ((i, k), p) in p.indexed_iter() {
            let own = if class_n[i] == k { 90.0 / 91.0 } else { 0.0 };
            sum -= (own + 1.0 / (91.0 * 4.0)) * p.ln();
        }
        sum
    };
    let h = 1e-5;
    let by_slope = (cost(slope + h, &offset_t) - cost(slope - h, &offset_t)) / (2.0 * h);
    assert!(by_slope.abs() < 1e-4, "{by_slope}");
    for k in 0..4 {
        let moved = |by: f64| {
            let mut offset_t = offset_t.clone();
            offset_t[k] += by;
            cost(slope, &offset_t)
        };
        let slope = (moved(h) - moved(-h)) / (2.0 * h);
        assert!(slope.abs() < 1e-4, "{k}: {slope}");
    }

    // Labels drawn from a softmax of 2.5 times the scores.
    let scores = Array2::from_shape_simple_fn((6000, 5), || draws.normal());
    let slope_t = Probabilities::Tempered {
        slope: 2.5,
        offset_t: vec![0.4, 0.0, -0.4, 0.2, -0.2],
    };
    let p_nt = slope_t.apply(scores.clone());
    let drawn = p_nt.rows().into_iter().map(|p| {
        let mut left = draws.uniform();
        let found = p.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        found.unwrap_or(4)
    });
    let class_n: Vec<usize> = drawn.collect();
    let Probabilities::Tempered { slope, offset_t } = fitted(&scores, &class_n) else {
        panic!("a softmax")
    };
    assert!((slope / 2.5 - 1.0).abs() < 0.05, "{slope}");
    assert!(
        (offset_t[0] - offset_t[2] - 0.8).abs() < 0.15,
        "{offset_t:?}"
    );
}

/// If every row is classified correctly, or a class has no rows, probabilities stay below 1.
#[test]
fn a_softmax_of_few_rows_is_not_certain() {
    let class_n = [0, 1, 3, 0, 1, 3];
    let scores = Array2::from_shape_fn((6, 4), |(i, k)| f64::from(class_n[i] == k));
    let p_nt = fitted(&scores, &class_n).apply(scores);
    for (p, &class) in p_nt.rows().into_iter().zip(&class_n) {
        assert!(p[class] > 0.7 && p[class] < 0.95, "{p_nt}");
        assert!((p.sum() - 1.0).abs() < 1e-12 && p[2] > 1e-3, "{p_nt}");
    }
    let same = fitted(&Array2::ones((9, 3)), &[0, 1, 2, 0, 1, 2, 0, 1, 2]);
    let p_nt = same.apply(Array2::ones((1, 3)));
    assert!(p_nt.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-6), "{p_nt}");
}

/// The gradient of the likelihood is zero at the fit, with the targets of Platt (1999): (N+ +
/// 1)/(N+ + 2) and 1/(N- + 2).
#[test]
fn sigmoids_are_the_likeliest() {
    let mut draws = Seed(3).stream(Stream::Sample, 0);
    let class_n: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let scores = Array2::from_shape_fn((60, 3), |(i, k)| {
        draws.normal() + if class_n[i] == k { 2.5 - k as f64 } else { 0.0 }
    });
    let Probabilities::Sigmoids { slope_t, offset_t } =
        Probabilities::sigmoids(&scores, (&class_n, &[1.0; 60])).probabilities
    else {
        panic!("sigmoids")
    };
    for k in 0..3 {
        let (mut by_slope, mut by_offset) = (0.0, 0.0);
        for (s, &class) in scores.column(k).iter().zip(&class_n) {
            let target = if class == k { 21.0 / 22.0 } else { 1.0 / 42.0 };
            let p = 1.0 / (1.0 + (-(slope_t[k] * s + offset_t[k])).exp());
            by_slope += (p - target) * s;
            by_offset += p - target;
        }
        assert!(
            by_slope.abs() < 1e-6 && by_offset.abs() < 1e-6,
            "{by_slope} {by_offset}"
        );
    }
    assert!(slope_t[0] > 0.5 && slope_t[2] > 0.0, "{slope_t:?}");
}

/// For scores with two values, a sigmoid, which has two parameters, gives the weighted means of
/// Platt's targets; for three classes a softmax gives the weighted shares up to the prior of its
/// offsets. Weights ten times as large change nothing.
#[test]
fn rows_count_by_their_weights() {
    let counted = |times: f64| {
        let weights: Vec<f64> = (0..40).map(|i| times * [0.5, 1.0, 3.0][i % 3]).collect();
        let class_n: Vec<usize> = (0..40).map(|i| usize::from(i * i % 7 < 3)).collect();
        let first = |i: usize| (class_n[i] == 0) != i.is_multiple_of(5);
        let scores = Array2::from_shape_fn((40, 2), |(i, k)| {
            let side = if first(i) { 1.0 } else { -1.0 };
            if k == 0 { side } else { -side }
        });
        let fitted = of_weights(&scores, &class_n, &weights);
        let Probabilities::Sigmoids { slope_t, offset_t } = fitted else {
            panic!("sigmoids")
        };
        let mean = weights.iter().sum::<f64>() / 40.0;
        let sum = |of: &dyn Fn(usize) -> bool| -> f64 {
            (0..40).filter(|&i| of(i)).map(|i| weights[i] / mean).sum()
        };
        let (yes, no) = (sum(&|i| class_n[i] == 0), sum(&|i| class_n[i] == 1));
        for (side, score) in [(true, 1.0), (false, -1.0)] {
            let own = |class| sum(&|i| first(i) == side && class_n[i] == class);
            let high = own(0) * (yes + 1.0) / (yes + 2.0);
            let expected = (high + own(1) / (no + 2.0)) / (own(0) + own(1));
            let p = 1.0 / (1.0 + (-(slope_t[0] * score + offset_t[0])).exp());
            assert!((p - expected).abs() < 1e-6, "{p} {expected}");
        }
        assert!(slope_t[0] > 0.1, "{slope_t:?}");
        slope_t[0]
    };
    assert!((counted(1.0) - counted(10.0)).abs() < 1e-9);

    let class_n: Vec<usize> = (0..3000).map(|i| i % 3).collect();
    let weights: Vec<f64> = class_n
        .iter()
        .map(|&class| [1.0, 2.0, 5.0][class])
        .collect();
    let same = Array2::ones((3000, 3));
    let fitted = of_weights(&same, &class_n, &weights);
    let p_nt = fitted.apply(Array2::ones((1, 3)));
    for (p, share) in p_nt.iter().zip([0.125, 0.25, 0.625]) {
        assert!((p - share).abs() < 2e-3, "{p_nt}");
    }
}

/// If held-out rows contradict the order of the scores, probabilities are the class shares within a
/// per cent, which keeps the order, and the calibration reports this.
#[test]
fn contradicted_scores_keep_their_order() {
    for classes in [2, 3] {
        let class_n: Vec<usize> = (0..400).map(|i| [0, 1, 0, classes - 1][i % 4]).collect();
        let against = Array2::from_shape_fn((400, classes), |(i, k)| {
            -0.01 * f64::from(u8::from(class_n[i] == k)) + 1e-3 * (i as f64).sin()
        });
        let weights = vec![1.0; 400];
        let of = (class_n.as_slice(), weights.as_slice());
        let found = Probabilities::fitted(&against, of, 400.0);
        assert!(!found.confirms_order);
        let p_nt = found.probabilities.apply(against.clone());
        for (k, p_n) in p_nt.columns().into_iter().enumerate() {
            let share = class_n.iter().filter(|&&class| class == k).count() as f64 / 400.0;
            assert!(
                p_n.iter().all(|p| (p - share).abs() < 0.02),
                "{classes}: {p_n}"
            );
        }
        // Rows whose own class has the lower score have the lower probability of it.
        let (own, other) = (p_nt[[1, 0]], p_nt[[0, 0]]);
        assert!(
            against[[1, 0]] > against[[0, 0]] && own > other,
            "{own} {other}"
        );
    }
}

/// Offsets move until the mean probabilities equal the shares, with weights and for any number of
/// classes; the order of the scores stays.
#[test]
fn means_of_probabilities_are_shares() {
    for classes in [2, 3] {
        let class_n: Vec<usize> = (0..300).map(|i| (i * i) % classes).collect();
        let scores = Array2::from_shape_fn((300, classes), |(i, k)| {
            f64::from(u8::from(class_n[i] == k)) + (i as f64 * 0.7).sin()
        });
        let weights: Vec<f64> = (0..300).map(|i| [1.0, 30.0][class_n[i].min(1)]).collect();
        let mut probabilities = fitted(&scores, &class_n);
        let share_t: Vec<f64> = match classes {
            2 => vec![0.02, 0.98],
            _ => vec![0.1, 0.3, 0.6],
        };
        probabilities.match_shares(&scores, &weights, &share_t);
        let p_nt = probabilities.apply(scores.clone());
        let mean_t = Array1::from(weights.clone()).dot(&p_nt) / weights.iter().sum::<f64>();
        for (mean, share) in mean_t.iter().zip(&share_t) {
            assert!((mean / share - 1.0).abs() < 1e-5, "{mean} {share}");
        }
    }
}

/// Random labels are memorised, and held-out rows show that the model knows nothing.
#[test]
fn sigmoids_are_of_rows_that_were_kept_out() {
    let mut draws = Seed(4).stream(Stream::Sample, 0);
    let x = Array2::from_shape_simple_fn((120, 4), || draws.normal());
    let labels: Vec<bool> = (0..120).map(|_| draws.uniform() < 0.5).collect();
    let learner = RidgeClassifier::on(Fourier::new(Gaussian).features(256))
        .bandwidth(Bandwidth::Sigma(0.7))
        .lambda(1e-6)
        .device(&Device::cpu())
        .probabilities(true);
    let model = learner.fit((&x, &labels)).expect("fits");
    assert_eq!(model.predict(&x).expect("predicts"), labels);
    let p = model.predict_probabilities(&x).expect("has");
    let away = p.mapv(|p| (p - 0.5).abs()).mean().expect("rows");
    assert!(away < 0.25, "{away}");
}
