//! A penalty for the digits, chosen without fitting anew: the held-out error and the effective
//! dimension of every penalty tried, from one eigendecomposition.
//!
//! `cargo run --release --example penalty`

use bochner::{
    models::{HeldOut, Lambda},
    prelude::*,
};

fn main() -> Result<()> {
    for by in [HeldOut::LeaveOneOut, HeldOut::Folds(5)] {
        let map = Fourier::new(Gaussian).features(300);
        let ridge = RidgeClassifier::on(map).lambda(Lambda::auto(by));
        let model = ridge.fit(DataFile::at("data/digits.csv").target("label"))?;
        let linear = model.linear();
        println!("{by:?}: lambda {:e}", linear.lambda);
        for point in linear.lambda_curve.iter().flat_map(|curve| &curve.points) {
            println!(
                "  lambda {:.1e}  held-out error {:.4}  effective dimension {:.1}",
                point.lambda, point.error, point.effective_dimension
            );
        }
    }
    Ok(())
}
