//! Files whose parts are valid but inconsistent.

use super::*;
use crate::{
    features::{Affine, FeatureMap, LoadedMap},
    prelude::*,
};
use ndarray::Array2;

/// A map without features, which no builder of this library creates.
#[derive(Debug)]
struct Nothing(Affine);

impl FeatureMap for Nothing {
    fn name(&self) -> &'static str {
        "nothing"
    }

    fn describe(&self) -> String {
        "no features".into()
    }

    fn input(&self) -> &Affine {
        &self.0
    }

    fn output_dim(&self) -> usize {
        0
    }

    fn load(&self, _: &Device) -> Result<Box<dyn LoadedMap>> {
        Err(Error::unsupported("there is nothing to load"))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", self.name());
        Ok(())
    }
}

/// A Gaussian process on two features, whose spread is stored.
fn whole() -> Store {
    let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f64 / 4.0);
    let y = x.column(0).mapv(f64::sin);
    let map = Fourier::new(Gaussian).features(6);
    let process = GaussianProcess::on(map).noise(0.1).signal(1.0);
    let model = process.device(&Device::cpu()).fit((&x, &y)).expect("fits");
    assert!(model.linear().spread.is_some());
    model.linear().store().expect("is kept")
}

fn refusal(store: &Store) -> String {
    let message = LinearModel::read(store).expect_err("refused").to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// A root with a missing row or column, which predictions would multiply with.
#[test]
fn a_spread_of_another_shape_is_refused() {
    let store = whole();
    let read = LinearModel::read(&store).expect("is whole");
    let root_dd = read.spread.expect("is kept").root_dd;
    assert_eq!(root_dd.dim(), (6, 6));
    for (rows, columns) in [(5, 6), (6, 5), (1, 36), (0, 0)] {
        let mut other = whole();
        other.put_f64("spread_root", Array2::zeros((rows, columns)).view());
        let message = refusal(&other);
        let says = format!("a spread of shape {:?}", (rows, columns));
        assert!(message.contains(&says), "{message}");
    }
}

/// Coefficients without outputs, with and without a link.
#[test]
fn coefficients_of_nothing_are_refused() {
    let mut store = whole();
    store.put_f64("coefficients", Array2::zeros((6, 0)).view());
    store.put_vector("intercept", &[]);
    let message = refusal(&store);
    assert!(message.contains("no features or no outputs"), "{message}");

    let nothing = Nothing(Affine::identity(1));
    features::register(nothing.name(), |_| {
        Ok(Box::new(Nothing(Affine::identity(1))))
    })
    .expect("a name of its own");
    let mut store = Store::default();
    nothing.write(&mut store).expect("is kept");
    store.put_f64("coefficients", Array2::zeros((0, 1)).view());
    store.put_vector("intercept", &[0.0]);
    store.set("task", "regression");
    for figure in ["lambda", "rows", "device"] {
        store.set(figure, 1);
    }
    let message = refusal(&store);
    assert!(message.contains("no features or no outputs"), "{message}");
}
