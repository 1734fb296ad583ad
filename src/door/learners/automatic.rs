//! Builders of ridge regression with automatic hyperparameter search.

use super::ridge::{Ridge, RidgeClassifier};
use crate::{features::Fourier, kernels, learn::Search, sampling::Sampling};

impl Ridge {
    /// Ridge regression on 1,500 orthogonal Fourier features, whose kernel, bandwidth, penalty and
    /// metric are selected on a hold-out set, in about the time of three fits ([`Search::brief`]).
    /// `.search(Search::everything())` searches longer.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// use ndarray::Array;
    /// let x = Array::from_shape_fn((200, 3), |(i, j)| ((i * (3 * j + 7)) % 31) as f64 / 31.0);
    /// let y: Vec<f64> = x.rows().into_iter().map(|x| (4.0 * x[1]).sin()).collect();
    /// # use bochner::models::{Budget, Search};
    /// # let budget = Budget::Trials(2);
    /// # let few = Search { budget, ..Search::everything() };
    /// # let quick = Ridge::on(Fourier::new(Gaussian).features(60)).search(few);
    /// let automatic = Ridge::automatic();
    /// # let automatic = quick.device(&Device::cpu());
    /// let predicted = automatic.fit((&x, &y))?.predict(&x)?;
    /// assert!(predicted.iter().zip(&y).all(|(p, y)| (p - y).abs() < 0.1));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn automatic() -> Self {
        Self::on(map()).search(Search::brief())
    }
}

impl RidgeClassifier {
    /// As [`Ridge::automatic`], for classes.
    pub fn automatic() -> Self {
        Self::on(map()).search(Search::brief())
    }
}

/// Feature map of automatic fits.
fn map() -> Fourier {
    let map = Fourier::new(kernels::Gaussian).sampling(Sampling::Orthogonal);
    map.features(1500)
}
