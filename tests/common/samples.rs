//! Models of every kind, and malicious variants of their files.
#![allow(dead_code, reason = "each suite uses its part")]

use bochner::{
    features::KernelColumns,
    models::{Density, Falkon, LogisticRegression},
    prelude::*,
};
use ndarray::{Array1, Array2};

/// Rows, numbers and labels.
pub(crate) fn data() -> (Array2<f64>, Array1<f64>, Vec<&'static str>) {
    let x = Array2::from_shape_fn((90, 2), |(i, j)| ((i * (7 * j + 5)) % 23) as f64 / 9.0);
    let y = x.column(0).mapv(f64::sin) + x.column(1);
    let labels = y.iter().map(|y| if *y > 1.5 { "high" } else { "low" });
    let labels = labels.collect();
    (x, y, labels)
}

/// Models of every kind of map, and of learners with additional parts in their files.
pub(crate) fn models() -> Vec<Vec<u8>> {
    let (x, y, labels) = data();
    let cpu = Device::cpu();
    let mut bytes = Vec::new();
    let union = UnionBuilder::new()
        .part(0.5, Fourier::new(Laplacian).features(8))
        .part(0.5, Nystrom::new(Laplacian).features(4));
    let maps: [Box<dyn MapBuilder>; 6] = [
        Box::new(Fourier::new(Gaussian).features(8)),
        Box::new(Fastfood::new(Gaussian).features(8)),
        Box::new(Sorf::new(Gaussian).features(8)),
        Box::new(Nystrom::new(Gaussian).features(6)),
        Box::new(Binning::new(Laplacian).grids(4)),
        Box::new(union),
    ];
    for map in maps {
        let model = Ridge::on(map).device(&cpu).fit((&x, &y)).expect("fits");
        bytes.push(model.linear().to_bytes().expect("writes"));
    }
    let map = || Fourier::new(Gaussian).features(8);
    let process = GaussianProcess::on(map()).device(&cpu).fit((&x, &y));
    bytes.push(process.expect("fits").linear().to_bytes().expect("writes"));
    let logistic = LogisticRegression::on(map())
        .device(&cpu)
        .fit((&x, &labels));
    bytes.push(logistic.expect("fits").linear().to_bytes().expect("writes"));
    let pca = KernelPca::on(map()).components(2).device(&cpu).fit(&x);
    bytes.push(pca.expect("fits").linear().to_bytes().expect("writes"));
    let density = Density::on(map()).log(true).device(&cpu).fit(&x);
    bytes.push(density.expect("fits").linear().to_bytes().expect("writes"));
    let spectral = SpectralEmbedding::on(map()).dimensions(2).device(&cpu);
    let spectral = spectral.fit(&x).expect("fits");
    bytes.push(spectral.linear().to_bytes().expect("writes"));
    let falkon = Falkon::on(KernelColumns::new(Gaussian).landmarks(5)).device(&cpu);
    let falkon = falkon.calibrate(0.3).fit((&x, &y)).expect("fits");
    bytes.push(falkon.linear().to_bytes().expect("writes"));
    let ridge = RidgeClassifier::on(map()).device(&cpu).probabilities(true);
    let ridge = ridge.fit((&x, &labels)).expect("fits");
    bytes.push(ridge.linear().to_bytes().expect("writes"));
    let three: Vec<i64> = y.iter().map(|y| y.clamp(0.5, 3.5) as i64).collect();
    for labels in [
        labels.iter().map(|l| i64::from(*l == "low")).collect(),
        three,
    ] {
        let laplace = LogisticRegression::on(map()).lambda(1e-2).laplace(true);
        let laplace = laplace.device(&cpu).fit((&x, &labels)).expect("fits");
        bytes.push(laplace.linear().to_bytes().expect("writes"));
    }
    bytes
}

/// The file with changed properties and the same arrays.
pub(crate) fn changed(
    bytes: &[u8],
    change: impl Fn(&mut serde_json::Map<String, serde_json::Value>),
) -> Vec<u8> {
    let n = u64::from_le_bytes(bytes[..8].try_into().expect("eight")) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + n]).expect("JSON");
    let text = header["__metadata__"]["bochner"]
        .as_str()
        .expect("is there");
    let mut properties: serde_json::Map<_, _> = serde_json::from_str(text).expect("JSON");
    change(&mut properties);
    let text = serde_json::Value::Object(properties).to_string();
    header["__metadata__"]["bochner"] = text.into();
    let mut header = header.to_string();
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let mut all = (header.len() as u64).to_le_bytes().to_vec();
    all.extend(header.bytes());
    all.extend(&bytes[8 + n..]);
    all
}

/// The file with another f64 array under a name.
pub(crate) fn with_array(bytes: &[u8], name: &str, shape: [usize; 2], values: &[f64]) -> Vec<u8> {
    let n = u64::from_le_bytes(bytes[..8].try_into().expect("eight")) as usize;
    let header: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&bytes[8..8 + n]).expect("JSON");
    let (mut other, mut data) = (serde_json::Map::new(), Vec::new());
    for (key, mut entry) in header {
        if key == "__metadata__" {
            other.insert(key, entry);
            continue;
        }
        let offset = |k: usize| entry["data_offsets"][k].as_u64().expect("a number") as usize;
        let mut own = bytes[8 + n + offset(0)..8 + n + offset(1)].to_vec();
        if key == name {
            own = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            entry["shape"] = serde_json::json!(shape);
        }
        let from = data.len();
        data.extend(own);
        entry["data_offsets"] = serde_json::json!([from, data.len()]);
        other.insert(key, entry);
    }
    let mut header = serde_json::Value::Object(other).to_string();
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let mut all = (header.len() as u64).to_le_bytes().to_vec();
    all.extend(header.bytes());
    all.extend(data);
    all
}
