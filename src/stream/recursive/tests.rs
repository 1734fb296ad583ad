use super::*;

/// Features and targets of one row of a synthetic stream.
fn row(t: usize, features: usize) -> (Vec<f64>, Vec<f64>, f64) {
    let at = |k: usize| ((t * (2 * k + 3) + 7 * k * k) as f64 * 0.618).sin();
    let z: Vec<f64> = (0..features).map(at).collect();
    // The relation changes in the course of the stream.
    let turn = if t < 150 { 1.0 } else { -0.5 };
    let y = vec![turn * z[0] + 0.3 * z[1] + 2.0, z[2] * turn - 1.0];
    (z, y, 0.5 + ((t % 5) as f64) / 4.0)
}

/// Coefficients `[t][m]` of the weighted fit of rows `..count`, and `z'A^-1 z` of `probe`.
fn fitted(rule: Recursive, penalty: f64, count: usize, probe: &[f64]) -> (Vec<f64>, f64) {
    let features = probe.len();
    let size = features + usize::from(rule.intercept);
    let mut a = Array2::<f64>::zeros((size, size));
    let mut b = Array2::<f64>::zeros((size, 2));
    a.diag_mut()
        .iter_mut()
        .take(features)
        .for_each(|v| *v = penalty);
    for t in 0..count {
        let (mut z, y, weight) = row(t, features);
        z.extend(rule.intercept.then_some(1.0));
        let weight = weight * (-((count - 1 - t) as f64) / rule.half_life).exp2();
        for i in 0..size {
            for j in 0..size {
                a[[i, j]] += weight * z[i] * z[j];
            }
            for k in 0..2 {
                b[[i, k]] += weight * z[i] * y[k];
            }
        }
    }
    let mut factor = Lower::take(a);
    assert!(factor.factor());
    factor.solve(&mut b);
    factor.solve_transposed(&mut b);
    let mut z = probe.to_vec();
    z.extend(rule.intercept.then_some(1.0));
    let mut z = Array2::from_shape_vec((size, 1), z).expect("its shape");
    factor.solve(&mut z);
    (
        b.t().iter().copied().collect(),
        z.iter().map(|v| v * v).sum(),
    )
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f64::max) / largest
}

#[test]
fn every_row_leaves_the_weighted_fit() {
    for (half_life, intercept, features) in [
        (f64::INFINITY, true, 9),
        (f64::INFINITY, false, 4),
        (100.0, true, 9),
        (100.0, false, 33),
        (7.5, true, 5),
        (1.0, true, 3),
    ] {
        let rule = Recursive {
            penalty: 0.1,
            half_life,
            intercept,
        };
        let mut stream = rule.start(features, 2).expect("starts");
        let probe: Vec<f64> = (0..features).map(|k| (k as f64 + 0.3).cos()).collect();
        for t in 0..400 {
            let (z, y, weight) = row(t, features);
            stream.learn(&z, &y, weight).expect("learns");
            if ![0, 1, 6, 7, 62, 63, 64, 65, 99, 100, 101, 163, 164, 255, 399].contains(&t) {
                continue;
            }
            let penalty = stream.penalty();
            assert!(
                (0.05 * (1.0 - 1e-9)..=0.1).contains(&penalty),
                "{t}: {penalty}"
            );
            let (expected, spread) = fitted(rule, penalty, t + 1, &probe);
            let apart = distance(&stream.beta_tm, &expected);
            assert!(apart < 1e-9, "{rule:?}, row {t}: {apart:e}");
            let found = stream.spread(&probe).expect("its width");
            assert!(
                (found / spread - 1.0).abs() < 1e-9,
                "{rule:?}, row {t}: {found} {spread}"
            );
            // Soon after the change of the relation, a half-life that is 3 % larger, or another
            // penalty, is detected.
            if half_life == 100.0 && t == 255 {
                let longer = Recursive {
                    half_life: 103.0,
                    ..rule
                };
                for (rule, penalty) in [(longer, penalty), (rule, 1.03 * penalty)] {
                    let (other, _) = fitted(rule, penalty, t + 1, &probe);
                    assert!(distance(&stream.beta_tm, &other) > 1e-6);
                }
            }
        }
        let coefficients = stream.coefficients();
        let predicted = stream.predict(&probe).expect("predicts");
        let by_hand =
            coefficients.beta_dt.t().dot(&ndarray::aview1(&probe)) + &coefficients.intercept_t;
        assert!(distance(&predicted, by_hand.as_slice().expect("one row")) < 1e-12);
        assert_eq!(stream.rows(), 400);
    }
}

#[test]
fn what_cannot_be_learned_leaves_all_as_before() {
    let rule = Recursive {
        half_life: 50.0,
        ..Recursive::default()
    };
    let mut stream = rule.start(5, 2).expect("starts");
    for t in 0..100 {
        let (z, y, weight) = row(t, 5);
        stream.learn(&z, &y, weight).expect("learns");
    }
    let before = stream.to_bytes().expect("bytes");
    let (z, y, _) = row(100, 5);
    let mut holed = z.clone();
    holed[3] = f64::NAN;
    for (z, y, weight) in [
        (&holed[..], &y[..], 1.0),
        (&z[..4], &y[..], 1.0),
        (&z[..], &y[..1], 1.0),
        (&z[..], &[1.0, f64::INFINITY][..], 1.0),
        (&z[..], &y[..], -1.0),
        (&z[..], &y[..], f64::NAN),
    ] {
        assert!(stream.learn(z, y, weight).is_err());
        assert_eq!(stream.to_bytes().expect("bytes"), before);
    }
    assert!(stream.predict(&holed).is_err() && stream.spread(&holed).is_err());
    for wrong in [
        Recursive {
            penalty: 0.0,
            ..rule
        },
        Recursive {
            penalty: f64::NAN,
            ..rule
        },
        Recursive {
            half_life: 0.5,
            ..rule
        },
        Recursive {
            half_life: f64::NAN,
            ..rule
        },
    ] {
        assert!(wrong.start(5, 2).is_err());
    }
    let alone = Recursive {
        intercept: false,
        ..rule
    };
    assert!(alone.start(0, 1).is_err() && rule.start(0, 1).is_ok());
}

#[test]
fn a_stream_goes_on_from_its_bytes() {
    let rule = Recursive {
        half_life: 90.0,
        ..Recursive::default()
    };
    let learned = |stop: Option<usize>| {
        let mut stream = rule.start(6, 2).expect("starts");
        for t in 0..200 {
            if Some(t) == stop {
                let bytes = stream.to_bytes().expect("bytes");
                stream = RecursiveRidge::from_bytes(&bytes).expect("reads");
            }
            let (z, y, weight) = row(t, 6);
            stream.learn(&z, &y, weight).expect("learns");
        }
        stream.to_bytes().expect("bytes")
    };
    let whole = learned(None);
    for stop in [0, 1, 40, 64, 130] {
        assert!(learned(Some(stop)) == whole, "{stop}: other bits");
    }
    assert!(RecursiveRidge::from_bytes(&whole[..whole.len() - 9]).is_err());
}

/// After many rows, mostly along one direction, the inverse and the coefficients still match the
/// sums.
#[test]
fn a_long_stream_keeps_its_inverse() {
    for half_life in [f64::INFINITY, 300.0] {
        let rule = Recursive {
            penalty: 1e-4,
            half_life,
            intercept: true,
        };
        let mut stream = rule.start(6, 2).expect("starts");
        for t in 0..20_000 {
            let (mut z, mut y, weight) = row(t, 6);
            z.iter_mut().skip(3).for_each(|z| *z *= 1e-3);
            // Noise changes the coefficients up to the end.
            y[0] += (t as f64 * 1.7).cos();
            stream.learn(&z, &y, weight).expect("learns");
        }
        let mut anew = stream.clone();
        anew.rule.penalty = anew.penalty();
        anew.end_block();
        anew.solve_anew().expect("definite");
        let apart = distance(&stream.beta_tm, &anew.beta_tm);
        assert!(apart < 1e-6, "{half_life}: {apart:e}");
        for k in 0..6 {
            let probe: Vec<f64> = (0..6).map(|j| f64::from(u8::from(j == k))).collect();
            let [kept, solved] = [&stream, &anew].map(|s| s.spread(&probe).expect("its width"));
            assert!(
                (kept / solved - 1.0).abs() < 1e-6,
                "{half_life}, {k}: {kept} {solved}"
            );
        }
    }
}

/// A million rank-one updates with two nearly equal columns, without forgetting and with a
/// half-life: the inverse stays positive definite and matches the sums.
#[test]
fn a_million_steps_keep_the_inverse_definite() {
    for half_life in [f64::INFINITY, 1000.0] {
        let rule = Recursive {
            penalty: 1e-5,
            half_life,
            intercept: true,
        };
        let mut stream = rule.start(2, 1).expect("starts");
        for t in 0..1_000_000_u64 {
            let x = (t.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1_u64 << 53) as f64;
            let apart = 1e-3 * ((t % 17) as f64 - 8.0);
            let y = 2.0 * x - 300.0 * apart + 0.5;
            stream
                .learn(&[x, x + apart], &[y], 1.0)
                .expect("stays definite");
            if t % 50_000 == 49_999 {
                let mut inverse = stream.clone();
                inverse.end_block();
                assert!(
                    Lower::take(inverse.inverse_mm).factor(),
                    "{half_life}: row {t}"
                );
            }
        }
        // y = 302 x - 300 (x + apart) + 0.5, minus the effect of the penalty.
        let found = stream.predict(&[0.3, 0.304]).expect("predicts")[0];
        let expected = 302.0 * 0.3 - 300.0 * 0.304 + 0.5;
        assert!((found - expected).abs() < 0.05, "{half_life}: {found}");
        let mut anew = stream.clone();
        anew.rule.penalty = anew.penalty();
        anew.end_block();
        anew.solve_anew().expect("definite");
        let apart = distance(&stream.beta_tm, &anew.beta_tm);
        assert!(apart < 1e-6, "{half_life}: {apart:e}");
    }
}

/// A target added late equals one that was 0 from the first row on: before any row, within a block
/// and at its end.
#[test]
fn a_target_that_comes_late_was_zero() {
    for (half_life, late) in [
        (f64::INFINITY, 0),
        (f64::INFINITY, 30),
        (40.0, 64),
        (40.0, 70),
    ] {
        let rule = Recursive {
            half_life,
            ..Recursive::default()
        };
        let (mut stream, mut both) = (rule.start(4, 1).unwrap(), rule.start(4, 2).unwrap());
        for t in 0..200 {
            let (z, y, weight) = row(t, 4);
            if t == late {
                stream.add_target();
            }
            let second = if t < late { 0.0 } else { y[1] };
            let targets = [y[0], second];
            stream
                .learn(&z, &targets[..stream.targets()], weight)
                .unwrap();
            both.learn(&z, &targets, weight).unwrap();
        }
        assert_eq!(stream.coefficients(), both.coefficients(), "{late}");
        let bytes = stream.to_bytes().unwrap();
        let again = RecursiveRidge::from_bytes(&bytes).unwrap();
        assert_eq!(again.coefficients(), both.coefficients(), "{late}");
    }
}
