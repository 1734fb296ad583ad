//! Class weights of classifiers that have none of their own.

use crate::{
    door::learner::{Labels, Learner},
    learn::{
        BoostingOptions, ClassWeights, FalkonOptions, GreedyOptions, LassoOptions, RidgeOptions,
    },
};

macro_rules! weighs_classes {
    ($($options:ty),*) => {$(
        impl Learner<$options, Labels> {
            /// How much classes count, of all that [`Self::fit`] sees; all the same until said
            /// otherwise. The rows of a class weigh as much as if they had these weights, beside
            /// their own.
            pub fn class_weights(mut self, weights: ClassWeights) -> Self {
                self.job.class_weights = weights;
                self
            }
        }
    )*};
}

weighs_classes!(
    RidgeOptions,
    FalkonOptions,
    GreedyOptions,
    BoostingOptions,
    LassoOptions
);
