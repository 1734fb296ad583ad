//! As many features, chosen or not: ridge regression on D random ones, a greedy fit that chooses D
//! from a pool, and boosting with D in blocks. Errors are of rows that no fit has seen.
//!
//! `cargo run --release --example stagewise [ROWS.npz TEST.npz]`

use bochner::{
    data::{Part, Split},
    models::{BoostingClassifier, GreedyClassifier},
    prelude::*,
};

fn open(named: &[String], part: Part) -> Result<Box<dyn ChunkSource>> {
    let path = match part {
        Part::Train => named.first(),
        Part::Test => named.get(1),
    };
    if let Some(path) = path {
        return DataFile::at(path).open();
    }
    let digits = DataFile::at("data/digits.csv").target("label");
    let rows = digits.open()?;
    Ok(Box::new(Split::new(rows, part, 0.5, 0)?))
}

fn main() -> Result<()> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let rows = || open(&named, Part::Train);
    let map = |features| Fourier::new(Gaussian).features(features);
    let error = |model: &Model<Vec<f64>>| -> Result<f64> {
        let (mut wrong, mut rows) = (0, 0);
        model.stream(&mut open(&named, Part::Test)?, |predicted, y| {
            rows += y.nrows();
            wrong += predicted.iter().zip(y).filter(|(p, y)| p != y).count();
            Ok(())
        })?;
        Ok(100.0 * wrong as f64 / rows as f64)
    };
    for features in [100, 300, 1000] {
        let ridge = RidgeClassifier::on(map(features)).lambda(1e-6);
        let ridge = ridge.fit(&mut rows()?)?;
        let greedy = GreedyClassifier::on(map(4 * features))
            .steps(features)
            .held_out(0.0);
        let greedy = greedy.fit(&mut rows()?)?;
        let boosting = BoostingClassifier::on(map(features)).fit(&mut rows()?)?;
        println!(
            "{features} features: ridge {:.2} %, greedy ({} of {}) {:.2} %, boosting ({} stages) \
             {:.2} % wrong",
            error(&ridge)?,
            greedy.linear().facts["nonzero_features"],
            4 * features,
            error(&greedy)?,
            boosting.linear().facts["stages"],
            error(&boosting)?,
        );
    }
    Ok(())
}
