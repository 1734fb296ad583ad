//! Number of features chosen by a search.

use super::*;

/// The smallest number that meets a kernel error is chosen.
#[test]
fn features_are_as_many_as_a_kernel_error_asks_for() {
    let x = rows(600, 3, 7);
    let y = x.column(0).to_owned();
    let of = |error| Search {
        features: Some(Enough::KernelError(error)),
        ..Search::default()
    };
    for error in [0.1, 0.05] {
        let mut table = Table::new(&x, &y, false);
        let found = table.found(&of(error), Fourier::new(Gaussian).features(10), 1.5);
        let size = found.size.expect("was asked for");
        assert_eq!(found.builder.features(), Some(size.features));
        assert!(!size.limited && size.features.is_multiple_of(2), "{size:?}");
        let own = size.tried.iter().find(|(d, _)| *d == size.features);
        let (_, off) = own.expect("was tried");
        assert!(*off <= error && *off > 0.85 * error, "{size:?}");
        assert_eq!(found.lambda, Lambda::Fixed(1e-6));
        assert!((found.lengthscale - 1.5).abs() < 1e-12);
        // The reported error is that of the final map.
        let map = Fourier::new(Gaussian).features(size.features).seed(Seed(3));
        let input = Affine::identity(3).lengthscale(1.5).expect("positive");
        let map = map.build(input.clone()).expect("draws");
        let rows = crate::data::Rows::from(&table.survey.sample);
        let exact = crate::analysis::ExactKernel::new(&Gaussian, &input, &rows).expect("finite");
        let error = exact.error(&map, &Device::cpu()).expect("runs").frobenius;
        assert!((error / off - 1.0).abs() < 1e-6, "{error} {off}");
    }
    // 8 D^2 bytes with 80 kB allow 100 features.
    let mut table = Table::new(&x, &y, false);
    table.run = table.run.memory(80_000);
    let found = table.found(&of(0.02), Fourier::new(Gaussian).features(10), 1.5);
    let size = found.size.expect("was asked for");
    assert!(size.limited && size.features == 100, "{size:?}");
    assert!(size.to_string().contains("memory allows no more"), "{size}");
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(size::check(Enough::KernelError(bad)).is_err());
        assert!(size::check(Enough::AccuracyLoss(bad)).is_err());
    }
}

#[test]
fn features_are_doubled_until_that_gains_nothing() {
    let x = rows(1000, 2, 8);
    let y: Array1<f64> = (x.rows().into_iter())
        .map(|x| (3.0 * x[0]).sin() * x[1])
        .collect();
    let noise = rows(1000, 1, 9).column(0).to_owned() * 0.3;
    let search = |loss| Search {
        features: Some(Enough::AccuracyLoss(loss)),
        ..Search::default()
    };
    let map = || Fourier::new(Gaussian).features(10);
    let mut sizes = Vec::new();
    for (y, loss) in [(&y + &noise, 0.05), (y.clone(), 0.5)] {
        let found = Table::new(&x, &y, false).found(&search(loss), map(), 0.5);
        let size = found.size.expect("was asked for");
        assert!(!size.limited, "{size:?}");
        let (last, before) = (size.tried.len() - 1, size.tried.len() - 2);
        assert_eq!(size.features, size.tried[before].0);
        for pair in size.tried.windows(2) {
            assert_eq!(pair[1].0, 2 * pair[0].0);
        }
        let gains = |at: usize| 1.0 - size.tried[at].1 / size.tried[at - 1].1;
        assert!(gains(last) < loss, "{size:?}");
        assert!((1..last).all(|at| gains(at) >= loss), "{size:?}");
        assert_eq!(found.builder.features(), Some(size.features));
        sizes.push(size.features);
    }
    // Memory limits it: 500 features take 2 MB.
    let mut table = Table::new(&x, &y, false);
    table.run = table.run.memory(2_000_000);
    let tight = table
        .found(&search(1e-3), map(), 0.5)
        .size
        .expect("was asked for");
    assert!(tight.limited && tight.features == 500, "{tight:?}");
    // A budget limits it, too.
    let few = Search {
        budget: Budget::Trials(1),
        ..search(1e-3)
    };
    let mut table = Table::new(&x, &y, false);
    let one = table.found(&few, map(), 0.5).size.expect("was asked for");
    assert!(one.limited && one.features == 250, "{one:?}");
}

/// A sample is representative if it has at least two fifths of the rows.
#[test]
fn a_good_part_of_the_rows_tells() {
    let x = rows(2000, 2, 5);
    let mut table = Table::new(&x, &x.column(0).to_owned(), false);
    for (most, tells) in [(600, false), (1000, true), (2000, true)] {
        let sample = Sample::of_most(table.data(1.0), most).expect("reads");
        assert_eq!(sample.tells(), tells, "{most}");
    }
}
