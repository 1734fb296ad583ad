//! The same job through the command line and through the library gives the same file, byte for
//! byte: whatever one of them has of its own would show.

use crate::{bochner, here};
use bochner::{
    Device,
    data::DataFile,
    features::{KernelColumns, MapBuilder, MapSpec},
    models::{
        Density, Falkon, FalkonClassifier, GaussianProcess, GreedyRegressor, KMeans, KernelIca,
        KernelPca, KernelRidge, Lasso, LogisticRegression, OneClass, RowWeights, Search,
        SpectralEmbedding, SupportVectorClassifier, SupportVectorRegressor,
    },
    prelude::*,
};
use std::path::Path;

/// A smooth amount, a label of it and two columns of unlike scales.
fn table(folder: &Path) {
    let mut text = String::from("a,b,amount,label\n");
    for i in 0..240 {
        let (a, b) = (f64::from(i * 37 % 240) / 60.0, f64::from(i * 53 % 239));
        let amount = (2.0 * a).sin() + 0.01 * b + f64::from(i * 7919 % 101) / 500.0;
        let label = i32::from(amount > 1.2) + i32::from(amount > 2.2);
        text.push_str(&format!("{a},{b},{amount},{label}\n"));
    }
    std::fs::write(folder.join("t.csv"), text).expect("writes");
}

/// Fits by the command line with `options`, and compares with the file of `fitted`.
fn same<P: bochner::models::Predicted>(
    folder: &Path,
    options: &str,
    fitted: bochner::Result<bochner::models::Model<P>>,
) {
    let quick = if options.contains("auto") {
        ""
    } else {
        "--quick"
    };
    let command = format!("fit t.csv --device cpu -q -o cli.model {quick} {options}");
    bochner(folder, &command, &[]).ok();
    fitted
        .expect(options)
        .save(folder.join("rust.model"))
        .expect("saves");
    let read = |name: &str| std::fs::read(folder.join(name)).expect("reads");
    let (cli, rust) = (read("cli.model"), read("rust.model"));
    let apart = cli.iter().zip(&rust).position(|(a, b)| a != b);
    let around = |bytes: &[u8]| {
        let at = apart.unwrap_or(0);
        let bytes = &bytes[at.saturating_sub(80)..bytes.len().min(at + 40)];
        String::from_utf8_lossy(bytes).into_owned()
    };
    assert!(
        cli == rust,
        "{options}: {} and {} bytes, apart at {apart:?}: {:?} and {:?}",
        cli.len(),
        rust.len(),
        around(&cli),
        around(&rust)
    );
}

#[test]
fn the_command_line_and_the_library_write_the_same_files() {
    let here = here();
    let folder = here.path();
    table(folder);
    let cpu = Device::cpu();
    let file = |target: &str, other: &str| {
        let columns = bochner::data::ColumnChoice::AllBut(vec![other.into()]);
        DataFile::at(folder.join("t.csv"))
            .target(target)
            .columns(columns)
    };
    let amounts = || file("amount", "label");
    let labels = || file("label", "amount");
    let map = || Fourier::new(Gaussian).features(64);
    let kernel = || KernelColumns::new(Gaussian);
    let _: &dyn MapBuilder = &map();
    let amount = "--target amount --ignore label --features 64";
    let label = "--target label --ignore amount --features 64";
    let no_map = "--target amount --ignore label";
    macro_rules! fitted {
        ($learner:ty, $map:expr, $data:expr $(, $option:ident($value:expr))*) => {
            <$learner>::on($map).device(&cpu)$(.$option($value))*.fit($data)
        };
    }
    let with = |base: &str, more: &str| format!("{base} {more}");

    same(folder, amount, fitted!(Ridge, map(), amounts()));
    let more = "--target amount --ignore label --features 300";
    let many = Fourier::new(Gaussian).features(300);
    same(folder, more, fitted!(Ridge, many, amounts()));
    same(folder, label, fitted!(RidgeClassifier, map(), labels()));
    let ridge = fitted!(Ridge, map(), amounts(), lambda(1e-4));
    same(folder, &with(amount, "--lambda 1e-4"), ridge);
    let least = fitted!(Ridge, bochner::features::Identity, amounts(), lambda(0.0));
    let none = "--target amount --ignore label --map none --lambda 0";
    same(folder, none, least);
    let ridge = fitted!(
        RidgeClassifier,
        map(),
        labels(),
        lambda(1e-4),
        probabilities(true)
    );
    same(folder, &with(label, "--lambda 1e-4 --probabilities"), ridge);
    let ridge = fitted!(Ridge, map(), amounts(), calibrate(0.2));
    same(folder, &with(amount, "--calibrate 0.2"), ridge);
    let search = Search {
        bandwidth: true,
        lambda: true,
        ..Search::default()
    };
    let ridge = fitted!(Ridge, map(), amounts(), search(search));
    same(folder, &with(amount, "--sigma auto"), ridge);
    let leaves = fitted!(Ridge, map(), amounts(), lambda(1e-4), leaves(100));
    same(folder, &with(amount, "--lambda 1e-4 --leaves 100"), leaves);
    let logistic = fitted!(LogisticRegression, map(), labels());
    same(folder, &with(label, "--model logistic"), logistic);
    let vectors = fitted!(SupportVectorClassifier, map(), labels());
    same(folder, &with(label, "--model svm"), vectors);
    let vectors = fitted!(SupportVectorRegressor, map(), amounts());
    same(folder, &with(amount, "--model svr"), vectors);
    let lasso = fitted!(Lasso, map(), amounts());
    same(folder, &with(amount, "--model lasso"), lasso);
    let greedy = fitted!(GreedyRegressor, map(), amounts());
    same(folder, &with(amount, "--model greedy"), greedy);
    let process = fitted!(GaussianProcess, map(), amounts());
    same(folder, &with(amount, "--model gaussian-process"), process);
    let ridge = fitted!(Ridge, map(), amounts(), half_life(60.0));
    same(folder, &with(amount, "--half-life 60"), ridge);
    let ridge = fitted!(Ridge, map(), amounts(), half_life(60.0), calibrate(0.2));
    let options = "--half-life 60 --calibrate 0.2";
    same(folder, &with(amount, options), ridge);
    let logistic = fitted!(LogisticRegression, map(), labels(), half_life(60.0));
    let options = "--model logistic --half-life 60";
    same(folder, &with(label, options), logistic);
    let counts = RowWeights::Counts;
    let process = fitted!(
        GaussianProcess,
        map(),
        amounts(),
        weights(counts),
        half_life(80.0)
    );
    let options = "--model gaussian-process --half-life 80";
    same(folder, &with(amount, options), process);
    let parts = fitted!(Ridge, map(), amounts(), additive(Additive::Columns));
    same(folder, &with(amount, "--additive"), parts);
    let parts = fitted!(Ridge, map(), amounts(), additive(Additive::Pairs));
    same(folder, &with(amount, "--additive=pairs"), parts);
    let bins = Binning::new(Laplacian).grids(64);
    let parts = fitted!(Ridge, bins, amounts(), additive(Additive::Columns));
    let options = "--map binning --kernel laplacian --additive";
    same(folder, &with(amount, options), parts);
    let mut named = MapSpec::new(
        "fourier[a]+fourier[b]:40".parse().expect("maps"),
        std::sync::Arc::new(Gaussian),
    );
    named.features = 64;
    let parts = fitted!(Ridge, named, amounts());
    same(
        folder,
        &with(amount, "--map fourier[a]+fourier[b]:40"),
        parts,
    );
    let exact = fitted!(KernelRidge, kernel(), amounts());
    same(folder, &with(no_map, "--model kernel-ridge"), exact);
    let falkon = fitted!(Falkon, kernel().landmarks(40), amounts());
    same(
        folder,
        &with(no_map, "--model falkon --landmarks 40"),
        falkon,
    );
    let falkon = fitted!(FalkonClassifier, kernel().landmarks(40), labels());
    let options = "--target label --ignore amount --model falkon --landmarks 40";
    same(folder, options, falkon);

    let alone = "--ignore amount,label --features 64";
    let rows = || {
        let columns = bochner::data::ColumnChoice::AllBut(vec!["amount".into(), "label".into()]);
        DataFile::at(folder.join("t.csv")).columns(columns)
    };
    same(
        folder,
        &with(alone, "--model density"),
        fitted!(Density, map(), rows()),
    );
    same(
        folder,
        &with(alone, "--model pca"),
        fitted!(KernelPca, map(), rows()),
    );
    same(
        folder,
        &with(alone, "--model ica"),
        fitted!(KernelIca, bochner::features::Identity, rows()),
    );
    same(
        folder,
        &with(alone, "--model kmeans"),
        fitted!(KMeans, map(), rows()),
    );
    let spectral = fitted!(
        SpectralEmbedding,
        Nystrom::new(Gaussian).features(64),
        rows()
    );
    same(folder, &with(alone, "--model spectral"), spectral);
    let novelty = fitted!(OneClass, map(), rows());
    same(folder, &with(alone, "--model one-class"), novelty);
}
