//! The formula of every map agrees with the map.

use crate::common::normal;
use bochner::{
    data::Rows,
    features::{
        AdditiveChi2Features, Affine, ArcCosine, DenseFeatures, Fastfood, FeatureMap, Form,
        Formula, Fourier, HadamardSketch, KernelColumns, Mixed, Nystrom, RandomProjection,
        SkewedChi2, Sorf, TensorSketch, Transformer, Union,
    },
    kernels,
    prelude::*,
};
use ndarray::{Array2, array};

const D: usize = 5;

fn rows() -> Array2<f64> {
    normal(40, D, 3).mapv(|v| (2.0 + f64::from(v)).abs())
}

/// Scales only, for kernels of nonnegative values.
fn scaled() -> Affine {
    Affine::new(vec![0.0; D], vec![0.5, 0.7, 0.3, 1.1, 0.6]).expect("finite")
}

/// Scales and centres that differ by column.
fn input() -> Affine {
    let center = vec![2.0, 1.5, 2.5, 2.0, 1.0];
    Affine::new(center, vec![0.5, 0.7, 0.3, 1.1, 0.6]).expect("finite")
}

fn fourier(form: Form) -> Fourier {
    Fourier::new(kernels::Matern::FIVE_HALVES)
        .features(30)
        .form(form)
}

/// One map of each family, and every branch of it.
fn maps() -> Vec<(&'static str, Box<dyn FeatureMap>)> {
    let x = rows();
    let boxed =
        |map: Result<DenseFeatures>| -> Box<dyn FeatureMap> { Box::new(map.expect("draws")) };
    let mut maps = vec![
        ("paired", boxed(fourier(Form::Paired).build(input()))),
        ("phase", boxed(fourier(Form::Phase).build(input()))),
        (
            "projection",
            boxed(RandomProjection::new().features(12).build(input())),
        ),
    ];
    for (name, order) in [("step", 0), ("relu", 1), ("relu squared", 2)] {
        let map = ArcCosine::new().order(order).bias(0.5).features(24);
        maps.push((name, boxed(map.build(input()))));
    }
    let structured = Fastfood::new(kernels::Gaussian).features(48).build(input());
    maps.push(("fastfood", Box::new(structured.expect("draws"))));
    let structured = Sorf::new(kernels::Gaussian)
        .features(48)
        .form(Form::Phase)
        .build(input());
    maps.push(("sorf", Box::new(structured.expect("draws"))));
    // With a long lengthscale the block is computed relative to k(0).
    for (name, factor) in [("nystrom", 1.0), ("smooth nystrom", 30.0)] {
        let input = input().lengthscale(factor).expect("positive");
        let map = Nystrom::new(kernels::Gaussian)
            .features(10)
            .build(input.clone(), &x);
        maps.push((name, Box::new(map.expect("whitens"))));
        let map = KernelColumns::new(kernels::Gaussian)
            .landmarks(10)
            .build(input, &x);
        maps.push((name, Box::new(map.expect("chooses"))));
    }
    for form in [Form::Paired, Form::Phase] {
        let map = SkewedChi2::new().features(30).form(form).build(scaled());
        maps.push(("skewed chi-squared", boxed(map)));
    }
    for samples in [1, 4] {
        let map = AdditiveChi2Features::new().samples(samples).build(scaled());
        maps.push(("additive chi-squared", Box::new(map.expect("builds"))));
    }
    // Two frequencies are real for an even number of features, one for an odd number.
    for (degree, features) in [(1, 9), (2, 12), (3, 13), (2, 1), (2, 2)] {
        let map = TensorSketch::new(degree, 1.5).features(features);
        let map = map.build(input()).expect("draws");
        maps.push(("tensor sketch", Box::new(map)));
        let map = HadamardSketch::new(degree, 1.5).features(features);
        let map = map.build(input()).expect("draws");
        maps.push(("Hadamard sketch", Box::new(map)));
    }
    // With another centre: parts rescale and shift the common input.
    let other = Affine::new(vec![0.5; D], vec![0.4, 0.3, 0.2, 0.5, 0.6]).expect("finite");
    let part = |form, input| boxed(fourier(form).build(input));
    let parts = vec![
        (part(Form::Paired, input()), 0.3),
        (part(Form::Phase, other), 1.7),
    ];
    maps.push(("union", Box::new(Union::new(parts).expect("fits"))));
    let root = array![[1.0, 0.2], [0.0, -0.5], [0.3, 0.3], [0.1, 0.0], [-1.0, 0.4]];
    let inner = Fastfood::new(kernels::Gaussian)
        .features(16)
        .build(Affine::identity(2));
    let inner = Box::new(inner.expect("draws"));
    maps.push((
        "mixed",
        Mixed::compose(input(), &root, inner).expect("fits"),
    ));
    maps
}

fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let largest = |a: &Array2<f64>| a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    largest(&(a - b)) / largest(b)
}

#[test]
fn formulas_are_what_maps_compute() {
    let x = rows();
    for (name, map) in maps() {
        let formula = map.formula().expect("is known");
        let u = map.input().apply(&Rows::from(x.clone())).expect("finite");
        let there = formula.features(u.view()).expect("fits");
        let mut here = Array2::<f64>::zeros((40, map.output_dim()));
        let mut loaded = Transformer::new(map.as_ref(), &Device::cpu()).expect("loads");
        let run = loaded.rows(&Rows::from(x.clone()), here.view_mut());
        run.expect("runs");
        assert_eq!(there.dim(), (40, map.output_dim()), "{name}");
        assert!(
            apart(&here, &there) < 3e-6,
            "{name}: {:.1e}",
            apart(&here, &there)
        );
        // A change of 3 % in one column is detected.
        let mut moved = u;
        moved.column_mut(1).mapv_inplace(|v| v * 1.03);
        let moved = formula.features(moved.view()).expect("fits");
        assert!(apart(&moved, &there) > 3e-5, "{name}");
    }
}

#[test]
fn what_has_no_formula_or_no_gradient_says_so() {
    let steps = ArcCosine::new().order(0).build(input()).expect("draws");
    let formula = steps.formula().expect("is known");
    let error = formula.require_smooth().expect_err("a step");
    assert!(
        error
            .to_string()
            .contains("no gradient of features that are steps"),
        "{error}"
    );
    assert!(matches!(formula, Formula::Projected { .. }));
    let sketch = TensorSketch::new(2, 1.0).build(input()).expect("draws");
    let chi2 = AdditiveChi2Features::new().build(scaled()).expect("builds");
    for formula in [sketch.formula(), chi2.formula()] {
        let formula = formula.expect("is known");
        assert!(formula.require_smooth().is_err());
        let beta = Array2::zeros((formula.features(rows().view()).expect("fits").ncols(), 1));
        assert!(formula.gradient(rows().view(), beta.view()).is_err());
    }
    let wide = Array2::zeros((3, D + 1));
    assert!(formula.features(wide.view()).is_err());
}
