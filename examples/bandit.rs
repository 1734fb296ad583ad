//! Which of four offers to make to whom, when only the answer to the one that was made is seen:
//! `cargo run --release --example bandit`

use bochner::{
    prelude::*,
    seed::Stream,
    stream::{Bandit, Choice, Recursive},
};

const OFFERS: usize = 4;
const ROUNDS: u64 = 3000;

fn main() -> Result<()> {
    for (name, choice) in [
        ("the largest mean alone", Choice::UpperBound(0.0)),
        ("upper bounds", Choice::UpperBound(2.0)),
        ("Thompson sampling", Choice::Thompson(0.5)),
    ] {
        let mut bandit = Bandit::new(Recursive::default(), 5, OFFERS, choice, Seed(1))?;
        let mut lost = [0.0; 3];
        for round in 0..ROUNDS {
            let mut draws = Seed(2).stream(Stream::Data, round);
            let person: Vec<f64> = (0..5).map(|_| draws.normal()).collect();
            let worth: Vec<f64> = (0..OFFERS).map(|offer| worth(offer, &person)).collect();
            let offer = bandit.choose(&person)?;
            bandit.learn(offer, &person, worth[offer] + 0.5 * draws.normal())?;
            let best = worth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            lost[(3 * round / ROUNDS) as usize] += best - worth[offer];
        }
        println!(
            "{name}: lost {:.1}, {:.1} and {:.1} in three times {} rounds",
            lost[0],
            lost[1],
            lost[2],
            ROUNDS / 3
        );
    }
    Ok(())
}

/// What an offer is worth to a person, on average.
fn worth(offer: usize, person: &[f64]) -> f64 {
    let liking = |k: usize| (offer * 5 + k * 3) as f64;
    person
        .iter()
        .enumerate()
        .map(|(k, x)| liking(k).sin() * x)
        .sum()
}
