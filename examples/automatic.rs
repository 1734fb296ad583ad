//! Digits without a choice of one's own: kernel, bandwidth, penalty and metric by rows held out,
//! and what was tried on the way.
//!
//! `cargo run --release --example automatic`

use bochner::{
    data::{Part, Split},
    models::{Budget, Scores, Search},
    prelude::*,
};

fn main() -> Result<()> {
    let half = |part| {
        let digits = DataFile::at("data/digits.csv").target("label");
        Split::new(digits.open()?, part, 0.5, 0)
    };
    let search = Search {
        budget: Budget::Trials(40),
        ..Search::everything()
    };
    let map = Fourier::new(Gaussian).features(1000);
    let model = RidgeClassifier::on(map)
        .search(search)
        .progress(|step| {
            if let Step::Trial(trial, best) = step {
                println!("trial {trial}: the least share of wrong labels is {best:.4}");
            }
        })
        .fit(&mut half(Part::Train)?)?;
    let linear = model.linear();
    println!("{}, lambda {:.0e}", linear.map.describe(), linear.lambda);
    if let Some(metric) = &linear.metric {
        println!("a {} metric", metric.kind());
    }
    let mut scores = Scores::default();
    let mut predictor = linear.on(&Device::cpu())?;
    predictor.stream(&mut half(Part::Test)?, |p, y| scores.add(p, y))?;
    println!("right on the other half: {:.4}", scores.accuracy());
    Ok(())
}
