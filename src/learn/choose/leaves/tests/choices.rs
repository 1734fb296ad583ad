//! Tests of what leaves choose.

use super::*;

/// The settings chosen on held-out rows are refitted to all rows of the leaf.
#[test]
fn what_is_chosen_is_fitted_to_all_rows() {
    let (x, new) = (uniform(400, 2, 20), uniform(100, 2, 21));
    let y = x.column(0).mapv(|x| (3.0 * x).sin()) + normal(400, 22) * 0.3;
    let ridge = Ridge::on(Fourier::new(Gaussian).features(60))
        .standardize(Standardize::No)
        .bandwidth(Bandwidth::Sigma(0.7))
        .device(&Device::cpu());
    let lambda = Search {
        lambda: true,
        ..Search::default()
    };
    let leaves = ridge.clone().seed(Seed(4)).search(lambda).leaves(400);
    let model = leaves.fit((&x, &y)).expect("fits");
    assert_eq!(model.linear().facts["leaves"], 1.0);
    let seed = Seed(Seed(4).stream(Stream::Leaves, 0).next_u64());
    let alone = ridge.seed(seed).lambda(model.linear().lambda);
    let expected = alone.fit((&x, &y)).expect("fits");
    let expected = expected.predict(&new).expect("predicts");
    let off = (model.predict(&new).expect("predicts") - expected).mapv(f64::abs);
    assert!(off.iter().all(|off| *off < 1e-3), "{off}");
}

/// If one of many columns matters, the metric of a leaf finds it.
#[test]
fn leaves_learn_metrics_of_their_own() {
    let (x, new) = (uniform(1200, 8, 23), uniform(600, 8, 24));
    let truth = |x: &Array2<f64>| x.column(5).mapv(|x| (5.0 * x).sin());
    let y = truth(&x) + normal(1200, 25) * 0.1;
    let error = |metrics: Vec<MetricOptions>| {
        let metric_required = !metrics.is_empty();
        let search = Search {
            metrics,
            metric_required,
            ..chosen()
        };
        let ridge = Ridge::on(Fourier::new(Gaussian).features(200)).search(search);
        let model = ridge.leaves(600).device(&Device::cpu()).fit((&x, &y));
        let found = model.expect("fits").predict(&new).expect("predicts");
        mean_square(&found, &truth(&new))
    };
    let none = error(Vec::new());
    for kind in [Metric::Diagonal, Metric::Full] {
        let found = error(vec![kind.into()]);
        assert!(10.0 * found < none, "{kind}: {found} {none}");
    }
}

/// Shares are weighted by the rows of leaves; columns that are constant in a leaf have none there.
#[test]
fn importances_are_those_of_leaves_by_their_rows() {
    let mut grown = Grown::default();
    assert!(grown.shares().is_none());
    grown.count(&[1.0, 0.0, 0.0], 300);
    grown.count(&[0.0, 0.5, 0.5], 100);
    assert_eq!(grown.shares(), Some(vec![0.75, 0.125, 0.125]));
    let mut x = uniform(50, 3, 26);
    x.column_mut(0).fill(0.3);
    let mut rows = MemorySource::new(&x, None).expect("finite");
    let survey = Survey::new(&mut rows, 0, 0).expect("surveys");
    let shares = moving(&[0.5, 0.3, 0.2], &survey);
    let expected = [0.0, 0.6, 0.4];
    let apart = shares.iter().zip(expected).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-12, "{shares:?}");
    // In a tree of two leaves: the column that matters, in the model and in its file.
    let x = uniform(1200, 4, 27);
    let y = x.column(2).mapv(|x| (5.0 * x).sin());
    let ridge = Ridge::on(Fourier::new(Gaussian).features(100)).device(&Device::cpu());
    let fit = |ridge: Ridge| ridge.leaves(600).fit((&x, &y)).expect("fits");
    let model = fit(ridge.clone().search(chosen()));
    assert_eq!(model.linear().facts["leaves"], 2.0);
    let shares = model.linear().leaf_importance.clone().expect("searched");
    assert!(shares[2] > 0.9, "{shares:?}");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let bytes = model.linear().to_bytes().expect("writes");
    let read = LinearModel::from_bytes(&bytes).expect("reads");
    assert_eq!(read.leaf_importance, Some(shares));
    // Without a search no importance is computed.
    assert!(fit(ridge).linear().leaf_importance.is_none());
}
