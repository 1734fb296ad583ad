use super::*;
use crate::{
    Device,
    features::MapKind,
    kernels::Gaussian,
    learn::{
        BoostingOptions, DensityOptions, FalkonOptions, GaussianProcessOptions, KMeansOptions,
        KernelPcaOptions, LassoOptions, LogisticOptions, RidgeOptions, SupportVectorOptions,
    },
};
use std::sync::Arc;

fn plan(fit: &dyn Fit, features: usize) -> MemoryPlan {
    let mut spec = MapSpec::new(MapKind::Fourier.into(), Arc::new(Gaussian));
    spec.features = features;
    MemoryPlan::of_fit(&spec, fit, (10, 1), &Run::on(&Device::cpu()))
}

/// Memory per pair of features of each learner. Measured with the command line as the increase from
/// 1,000 to 2,000 features, ridge regression took 9 to 12 bytes, a Gaussian process 44, boosting 36
/// and support vectors 12. Choosing a penalty factors a copy of the sums.
#[test]
fn each_learner_says_what_grows_with_the_square_of_features() {
    let given = RidgeOptions {
        lambda: 1e-6.into(),
        ..RidgeOptions::default()
    };
    let of: [(&dyn Fit, u128); 9] = [
        (&given, 12),
        (&RidgeOptions::default(), 16),
        (&LassoOptions::default(), 12),
        (&GaussianProcessOptions::default(), 44),
        (&KernelPcaOptions::default(), 44),
        (&BoostingOptions::default(), 36),
        (&LogisticOptions::default(), 44),
        (&SupportVectorOptions::default(), 16),
        (&KMeansOptions::default(), 0),
    ];
    for (fit, bytes) in of {
        assert_eq!(plan(fit, 1000).square_bytes, bytes * 1_000_000, "{fit:?}");
    }
    assert_eq!(plan(&DensityOptions::default(), 1000).square_bytes, 0);
    // A diagonal replaces the covariance of more features than that.
    assert_eq!(plan(&LogisticOptions::default(), 20_000).square_bytes, 0);
    let run = Run::on(&Device::cpu());
    let falkon = MemoryPlan::of_landmarks(500, &FalkonOptions::default(), (10, 1), &run);
    assert_eq!(falkon.square_bytes, 16 * 250_000);
}

/// The suggested number of features fits, and 10 % more do not.
#[test]
fn what_is_said_to_fit_fits() {
    let fit = RidgeOptions::default();
    for bytes in [1 << 20, 64 << 20, 1 << 30] {
        let most = plan(&fit, 100_000).features_within(bytes - own(bytes));
        let most = most as usize;
        let left = plan(&fit, most / 2 * 2).within(bytes).expect("fits");
        let fixed = plan(&fit, most / 2 * 2);
        assert_eq!(
            u128::from(left) + fixed.map_bytes + fixed.square_bytes,
            u128::from(bytes - own(bytes))
        );
        let error = plan(&fit, most + most / 10)
            .within(bytes)
            .expect_err("too many");
        let said = error.to_string();
        assert!(
            said.contains("enough for") && !said.contains('\n'),
            "{said}"
        );
    }
}
