//! Kernel ridge regression of the digits three ways: with the kernel of all rows, by Falkon with
//! landmark rows, and by ridge regression on Nystrom features of as many landmarks. Falkon and
//! Nystrom come to the same functions; both come to the exact ones as landmarks grow.
//!
//! `cargo run --release --example kernel_machines [ROWS.npz [TEST.npz]]`

use bochner::{
    features::KernelColumns,
    models::{FalkonClassifier, KernelRidgeClassifier},
    prelude::*,
};
use std::time::Instant;

/// The digits, or what was named, and the rows to test on.
fn data() -> [DataFile; 2] {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let digits = || DataFile::at("data/digits.csv").target("label");
    let train = named.first().map_or_else(digits, DataFile::at);
    let test = named.get(1).map_or_else(|| train.clone(), DataFile::at);
    [train, test]
}

fn report(name: &str, fit: impl FnOnce(DataFile) -> Result<Model<Vec<f64>>>) -> Result<()> {
    let [train, test] = data();
    let start = Instant::now();
    let model = fit(train)?;
    let seconds = start.elapsed().as_secs_f64();
    let (mut wrong, mut rows) = (0, 0);
    model.stream(&mut test.open()?, |predicted, y| {
        rows += y.nrows();
        wrong += predicted.iter().zip(y).filter(|(p, y)| p != y).count();
        Ok(())
    })?;
    let share = 100.0 * wrong as f64 / rows as f64;
    let iterations = model.linear().facts.get("iterations");
    let iterations = iterations.map_or(String::new(), |i| format!(", {i} iterations"));
    println!("{name}: {share:.2} % wrong, fitted in {seconds:.2} s{iterations}");
    Ok(())
}

fn main() -> Result<()> {
    let (lambda, memory) = (1e-6, 4 << 30);
    report("kernel ridge", |rows| {
        let ridge = KernelRidgeClassifier::on(KernelColumns::new(Gaussian));
        ridge.lambda(lambda).memory(memory).fit(rows)
    })?;
    for landmarks in [100, 400, 1600] {
        report(&format!("falkon, {landmarks} landmarks"), |rows| {
            let columns = KernelColumns::new(Gaussian).landmarks(landmarks);
            FalkonClassifier::on(columns).lambda(lambda).fit(rows)
        })?;
        report(
            &format!("ridge on Nystrom, {landmarks} landmarks"),
            |rows| {
                let map = Nystrom::new(Gaussian).features(landmarks);
                RidgeClassifier::on(map).lambda(lambda).fit(rows)
            },
        )?;
    }
    Ok(())
}
