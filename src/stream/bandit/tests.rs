use super::*;

const ARMS: usize = 4;
const FEATURES: usize = 5;

/// A row and the mean reward of each arm; and draws for its noise.
fn round(t: u64) -> (Vec<f64>, [f64; ARMS], crate::seed::Draws) {
    let mut draws = Seed(3).stream(Stream::Data, t);
    let z: Vec<f64> = (0..FEATURES).map(|_| draws.normal()).collect();
    let reward = |arm: usize| -> f64 {
        let slope = |k: usize| ((arm * 5 + k * 3) as f64).sin();
        0.1 * arm as f64 + (0..FEATURES).map(|k| slope(k) * z[k]).sum::<f64>()
    };
    let means = std::array::from_fn(reward);
    (z, means, draws)
}

/// Loss compared with the best arm, in each third of the rounds.
fn regret(rounds: u64, mut choose: impl FnMut(&[f64], &[f64; ARMS], f64) -> usize) -> [f64; 3] {
    let mut lost = [0.0; 3];
    for t in 0..rounds {
        let (z, means, mut draws) = round(t);
        let noise = 0.5 * draws.normal();
        let arm = choose(&z, &means, noise);
        let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        lost[(3 * t / rounds) as usize] += best - means[arm];
    }
    lost
}

#[test]
fn regret_falls() {
    let blind = regret(900, {
        let mut next = 0;
        move |_, _, _| {
            next += 1;
            next % ARMS
        }
    });
    assert!(blind[2] > 0.8 * blind[0], "{blind:?}");
    for choice in [Choice::UpperBound(2.0), Choice::Thompson(0.5)] {
        let mut bandit =
            Bandit::new(Recursive::default(), FEATURES, ARMS, choice, Seed(1)).unwrap();
        let lost = regret(900, |z, means, noise| {
            let arm = bandit.choose(z).expect("chooses");
            bandit.learn(arm, z, means[arm] + noise).expect("learns");
            arm
        });
        // Regret grows at most like the root of the rounds: the last third has at most .18 of it.
        assert!(lost[2] < 0.25 * lost[0], "{choice:?}: {lost:?}");
        assert!(lost[2] < 0.02 * blind[2], "{choice:?}: {lost:?}, {blind:?}");
    }
}

/// Sampled scores have the predicted mean and width.
#[test]
fn scores_are_drawn_as_said() {
    let rule = Recursive::default();
    let mut bandit = Bandit::new(rule, 2, 1, Choice::Thompson(0.7), Seed(2)).unwrap();
    for t in 0..20 {
        let z = [f64::from(t % 3), f64::from(t % 5)];
        bandit.learn(0, &z, z[0] - 0.2 * z[1]).expect("learns");
    }
    let z = [1.0, 2.0];
    let (mean, spread) = (
        bandit.arms()[0].predict(&z).unwrap()[0],
        bandit.arms()[0].spread(&z).unwrap(),
    );
    let scores: Vec<f64> = (0..20_000)
        .map(|_| {
            let score = bandit.scores(&z).expect("scores")[0];
            bandit.rounds += 1;
            (score - mean) / (0.7 * spread.sqrt())
        })
        .collect();
    let n = scores.len() as f64;
    let first = scores.iter().sum::<f64>() / n;
    let second = scores.iter().map(|s| s * s).sum::<f64>() / n;
    // Standard errors are .007 and .010.
    assert!(
        first.abs() < 0.03 && (second - 1.0).abs() < 0.04,
        "{first} {second}"
    );
    bandit.choice = Choice::UpperBound(0.7);
    let score = bandit.scores(&z).expect("scores")[0];
    assert!((score - mean - 0.7 * spread.sqrt()).abs() < 1e-12);
}

#[test]
fn a_bandit_goes_on_from_its_bytes() {
    let rule = Recursive {
        half_life: 40.0,
        ..Recursive::default()
    };
    let start = || Bandit::new(rule, FEATURES, ARMS, Choice::Thompson(0.5), Seed(7)).unwrap();
    let (mut whole, mut part) = (start(), start());
    for t in 0..150 {
        let (z, means, _) = round(t);
        for bandit in [&mut whole, &mut part] {
            let arm = bandit.choose(&z).expect("chooses");
            bandit.learn(arm, &z, means[arm]).expect("learns");
        }
        if t == 77 {
            part = Bandit::from_bytes(&part.to_bytes().expect("bytes")).expect("reads");
        }
    }
    assert!(whole.to_bytes().expect("bytes") == part.to_bytes().expect("bytes"));
    assert!(part.learn(ARMS, &round(0).0, 1.0).is_err());
    for (arms, width) in [(0, 1.0), (2, -1.0), (2, f64::NAN)] {
        assert!(Bandit::new(rule, 2, arms, Choice::UpperBound(width), Seed(0)).is_err());
    }
}
