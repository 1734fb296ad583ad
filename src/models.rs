//! What a user fits and keeps: a feature map with coefficients, in one file that predicts anywhere.

mod iterative;
mod linear;
mod ridge;
mod scores;

pub use iterative::{IterativeOptions, Step};
pub use linear::{LinearModel, Predictor};
pub use ridge::{FitOptions, FitTimes, RidgeClassifier, RidgeRegressor};
pub use scores::Scores;
