//! How close several maps come to the exact kernel on a data file: mean and spread over ten seeds.
//!
//! `cargo run --release --example compare_maps -- DATA.npz`

use bochner::{
    Device, Result,
    analysis::kernel_errors,
    data::{OpenOptions, Rows, Survey, open},
    features::{Bandwidth, FeatureMap, Form, Fourier, Landmarks, Nystrom, Standardize},
    kernels::Gaussian,
    seed::Seed,
};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or("data/digits.csv".into());
    let mut source = open(path, &OpenOptions::default())?;
    let survey = Survey::new(source.as_mut(), 2000, 0)?;
    let rows = Rows::from(&survey.sample);
    let scaling = Standardize::Yes.decide(&survey, true);
    let sigma = Bandwidth::Median.lengthscales(&Gaussian, &survey, &scaling)?;
    let input = scaling.input(&sigma)?;
    let device = Device::cpu();
    println!(
        "{:28} {:>6} {:>10} {:>10} {:>10} {:>10}",
        "map", "D", "Frobenius", "spread", "spectral", "largest"
    );
    for features in [100, 800] {
        let report = |name: &str, build: &dyn Fn(Seed) -> Result<Box<dyn FeatureMap>>| {
            let summary =
                kernel_errors(&Gaussian, &input, &rows, &device, (0..10).map(Seed), build)?;
            let (mean, spread) = (summary.mean(), summary.spread());
            println!(
                "{name:28} {features:6} {:10.4} {:10.4} {:10.4} {:10.4}",
                mean.frobenius, spread.frobenius, mean.spectral, mean.largest
            );
            Ok::<(), bochner::Error>(())
        };
        for form in [Form::Paired, Form::Phase] {
            report(&format!("fourier, {form}"), &|seed| {
                let map = Fourier::new(Gaussian)
                    .form(form)
                    .features(features)
                    .seed(seed);
                Ok(Box::new(map.build(input.clone())?))
            })?;
        }
        for name in ["uniform", "leverage", "pivoted-cholesky", "k-means"] {
            let landmarks: Landmarks = name.parse()?;
            report(&format!("nystrom, {landmarks}"), &|seed| {
                let map = Nystrom::new(Gaussian).landmarks(landmarks.clone());
                let map = map.features(features).seed(seed);
                Ok(Box::new(map.build(input.clone(), &survey.sample)?))
            })?;
        }
    }
    Ok(())
}
