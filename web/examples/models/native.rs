//! What is written, and the reference in f64.

use bochner::{
    data::{OpenOptions, Rows, open},
    features::{
        AdditiveChi2Features, HadamardSketch, Identity, KernelColumns, RandomProjection,
        SkewedChi2, TensorSketch, Transformer, require_dense,
    },
    models::{Label, LinearModel},
    prelude::*,
};
use ndarray::{Array2, s};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Rows that every map is tried on.
const ROWS: usize = 200;

/// A map by its name in the tests.
type Named = (&'static str, Box<dyn MapBuilder>);

fn maps() -> Vec<Named> {
    let fourier = || Fourier::new(Gaussian).features(96);
    let union = UnionBuilder::new()
        .part(0.3, Fourier::new(Laplacian).features(64))
        .part(0.7, Nystrom::new(Laplacian).features(24));
    let binned = UnionBuilder::new()
        .part(0.5, Binning::new(Laplacian).grids(24))
        .part(0.5, fourier());
    vec![
        ("fourier", Box::new(fourier())),
        (
            "matern",
            Box::new(Fourier::new(Matern::FIVE_HALVES).features(90)),
        ),
        ("fastfood", Box::new(Fastfood::new(Gaussian).features(128))),
        ("sorf", Box::new(Sorf::new(Gaussian).features(128))),
        ("nystrom", Box::new(Nystrom::new(Gaussian).features(60))),
        (
            "kernel_columns",
            Box::new(KernelColumns::new(Gaussian).landmarks(60)),
        ),
        ("arc_cosine", Box::new(ArcCosine::new().features(96))),
        ("projection", Box::new(RandomProjection::new().features(48))),
        ("sketch", Box::new(TensorSketch::new(2, 1.0).features(64))),
        (
            "hadamard_sketch",
            Box::new(HadamardSketch::new(2, 1.0).features(64)),
        ),
        ("identity", Box::new(Identity)),
        ("additive_chi2", Box::new(AdditiveChi2Features::new())),
        ("skewed_chi2", Box::new(SkewedChi2::new().features(96))),
        ("binning", Box::new(Binning::new(Laplacian).grids(32))),
        ("union", Box::new(union)),
        ("binned_union", Box::new(binned)),
    ]
}

/// The digits: rows `[1797, 64]` and their labels.
fn digits() -> Result<(Array2<f64>, Vec<f64>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/digits.csv");
    let options = OpenOptions {
        target: vec!["label".into()],
        ..OpenOptions::default()
    };
    let mut source = open(path, &options)?;
    let chunk = source
        .next_chunk(10_000)?
        .ok_or_else(|| Error::parameter("no digits"))?;
    Ok((chunk.x.into_f64(), chunk.y.column(0).to_vec()))
}

/// Everything, in the folder that the program is given.
pub(crate) fn write() -> Result<()> {
    let folder = std::env::args_os().nth(1);
    let folder = PathBuf::from(folder.ok_or_else(|| Error::parameter("name a folder"))?);
    fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
    let (x, labels) = digits()?;
    let names = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ];
    let words: Vec<&str> = labels.iter().map(|&l| names[l as usize]).collect();
    let few = x.slice(s![..ROWS, ..]).to_owned();
    let mut entries = Vec::new();
    for (name, map) in maps() {
        let learner = RidgeClassifier::on(map).lambda(1e-2).device(&Device::cpu());
        let model = learner.fit((&x, &labels))?;
        entries.push(Entry::new(name, model.linear(), &few)?.write(&folder)?);
    }
    let map = || Fourier::new(Gaussian).features(2000).seed(Seed(7));
    let learner = RidgeClassifier::on(map()).bandwidth(Bandwidth::Scale);
    let learner = learner.lambda(1e-2).device(&Device::cpu());
    let model = learner.fit((&x, &labels))?;
    entries.push(Entry::new("digits", model.linear(), &x)?.write(&folder)?);
    let model = learner.fit((&x, &words))?;
    entries.push(Entry::new("words", model.linear(), &few)?.write(&folder)?);
    let targets = x.column(20).to_owned();
    let learner = Ridge::on(Fourier::new(Gaussian).features(80)).device(&Device::cpu());
    let model = learner.fit((&x, &targets))?;
    entries.push(Entry::new("regression", model.linear(), &few)?.write(&folder)?);
    let fitted = Fit {
        x: &few,
        labels: &labels[..ROWS],
    };
    let text = format!(
        "{{\"models\":[{}],\"fit\":{}}}",
        entries.join(","),
        fitted.write(&folder)?
    );
    put(&folder, "manifest.json", text.as_bytes())
}

/// A model and what it must give for some rows.
struct Entry<'m> {
    name: &'static str,
    model: &'m LinearModel,
    x: &'m Array2<f64>,
    scores: Array2<f64>,
    predicted: Vec<String>,
    /// By which each output may be off.
    bound: f64,
    exact: bool,
}

impl<'m> Entry<'m> {
    fn new(name: &'static str, model: &'m LinearModel, x: &'m Array2<f64>) -> Result<Self> {
        let cpu = Device::cpu();
        let rows = Rows::from(x);
        let native = model.on(&cpu)?.scores(&rows)?;
        let beta = &model.coefficients;
        let reference = match model.map.formula() {
            Ok(formula) => {
                let u = model.map.input().apply(&rows)?;
                formula.features(u.view())?.dot(&beta.beta_dt) + &beta.intercept_t
            }
            Err(_) => native.clone(),
        };
        let largest = |a: &Array2<f64>| a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let scale = match require_dense(model.map.as_ref()) {
            Err(_) => largest(&native),
            Ok(()) => {
                let mut z = Array2::<f64>::zeros((x.nrows(), model.map.output_dim()));
                Transformer::new(model.map.as_ref(), &cpu)?.rows(&rows, z.view_mut())?;
                largest(&z.mapv(f64::abs).dot(&beta.beta_dt.mapv(f64::abs)))
            }
        };
        let labels = model.decide(native).into_raw_vec_and_offset().0;
        let predicted = labels.iter().map(|&label| match model.label(label) {
            Label::Number(number) => format!("{number}"),
            Label::Text(text) => format!("\"{text}\""),
        });
        Ok(Self {
            name,
            model,
            x,
            predicted: predicted.collect(),
            scores: reference,
            bound: 4e-6 * scale,
            exact: model.map.formula().is_ok(),
        })
    }

    /// Its files, and its part of the list.
    fn write(&self, folder: &Path) -> Result<String> {
        let name = self.name;
        self.model.save(folder.join(format!("{name}.model")))?;
        put_floats(folder, &format!("{name}.rows"), self.x)?;
        put_floats(folder, &format!("{name}.scores"), &self.scores)?;
        Ok(format!(
            "{{\"name\":\"{name}\",\"rows\":{},\"columns\":{},\"outputs\":{},\"bound\":{:e},\"formula\":{},\"predicted\":[{}]}}",
            self.x.nrows(),
            self.x.ncols(),
            self.scores.ncols(),
            self.bound,
            self.exact,
            self.predicted.join(",")
        ))
    }
}

/// A fit that the browser repeats: the same parameters to the bit.
struct Fit<'f> {
    x: &'f Array2<f64>,
    labels: &'f [f64],
}

impl Fit<'_> {
    fn write(&self, folder: &Path) -> Result<String> {
        let map = Fourier::new(Gaussian).features(100);
        let learner = RidgeClassifier::on(map).bandwidth(Bandwidth::Gamma(0.01));
        let learner = learner.lambda(1e-2).seed(Seed(5)).device(&Device::cpu());
        let labels = self.labels.to_vec();
        let model = learner.fit((self.x, &labels))?;
        model.linear().save(folder.join("fit.model"))?;
        let labels: Vec<_> = labels.iter().map(f64::to_string).collect();
        Ok(format!(
            "{{\"features\":100,\"gamma\":0.01,\"lambda\":0.01,\"seed\":5,\"labels\":[{}]}}",
            labels.join(",")
        ))
    }
}

fn put_floats(folder: &Path, name: &str, values: &Array2<f64>) -> Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    put(folder, name, &bytes)
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    fs::write(&path, bytes).map_err(|e| Error::io(&path, e))
}
