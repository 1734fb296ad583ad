//! Digits without their labels: components that stand for them, where these are dense, clusters
//! that grow, and rows unlike the rest.
//!
//! `cargo run --release --example unlabelled`

use bochner::{data::NpyWriter, models::Density, prelude::*};
use ndarray::{Array2, Axis, s};

fn main() -> Result<()> {
    // Targets named so are left alone.
    let digits = || DataFile::at("data/digits.csv").target("label");
    let mut source = digits().open()?;
    let chunk = source.next_chunk(usize::MAX)?.expect("rows");
    let (x, labels) = (chunk.x.into_f64(), chunk.y);

    let map = || Fourier::new(Gaussian).features(512);
    let pca = KernelPca::on(map()).components(20).fit(digits())?;
    let ratios = pca
        .linear()
        .principal
        .as_ref()
        .map(|p| p.explained_variance_ratio());
    let ratios = ratios.unwrap_or_default();
    println!(
        "20 components hold {:.0} % of the variance, the first {:.0} %",
        100.0 * ratios.iter().sum::<f64>(),
        100.0 * ratios[0]
    );
    let components: Array2<f64> = pca.predict(&x)?;
    println!("the first row: {:.3}", components.slice(s![0, ..4]));

    // Noise has no place among digits.
    let far = pca.reconstruction_errors(&x)?;
    let noise = Array2::from_shape_fn((100, 64), |(i, j)| ((i * 31 + j * j * 17) % 17) as f64);
    let noise = pca.reconstruction_errors(&noise)?;
    let mean = |errors: &ndarray::Array1<f64>| errors.mean().unwrap_or_default();
    println!(
        "reconstruction error of digits {:.3}, of noise {:.3}",
        mean(&far),
        mean(&noise)
    );

    // Where two components are dense, digits are alike.
    let plane = components.slice(s![.., ..2]).to_owned();
    let density = Density::on(Fourier::new(Gaussian).features(4000)).fit(&plane)?;
    let densities = density.predict(&plane)?;
    println!(
        "densities from {:.2} to {:.2}, give or take {:.2}",
        densities.fold(f64::INFINITY, |m, &f| m.min(f)),
        densities.fold(0.0_f64, |m, &f| m.max(f)),
        density.linear().facts["noise_deviation"]
    );

    // Rows that come later go to the clusters of the first, which follow them.
    let mut growing = KMeans::on(map())
        .clusters(10)
        .start(&x.slice(s![..500, ..]))?;
    growing.add(&x.slice(s![500.., ..]))?;
    println!(
        "{} rows in clusters of {:?}",
        growing.rows(),
        growing.weights()
    );

    let kmeans = KMeans::on(map()).clusters(10).starts(5).fit(digits())?;
    let clusters: Vec<usize> = kmeans.predict(&x)?;
    let mut right = 0;
    for cluster in 0..10 {
        let mut counts = [0; 10];
        let rows = clusters.iter().zip(labels.index_axis(Axis(1), 0));
        for (_, &label) in rows.filter(|(c, _)| **c == cluster) {
            counts[label as usize] += 1;
        }
        right += counts.iter().max().unwrap_or(&0);
    }
    let share = f64::from(right) / x.nrows() as f64;
    println!(
        "{:.0} % of the rows are of the digit that is most frequent in their cluster",
        100.0 * share
    );

    // Components go wherever rows go.
    let folder = tempfile::tempdir().map_err(|e| Error::io("a folder", e))?;
    let mut writer = NpyWriter::create(folder.path().join("components.npy"), 20)?;
    pca.stream(source.as_mut(), |components, _| {
        writer.write_rows(components)
    })?;
    println!("{} rows of components written", writer.finish()?);
    Ok(())
}
