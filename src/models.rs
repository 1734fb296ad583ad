//! What a user fits and keeps: a feature map with coefficients, in one file that predicts anywhere.
//!
//! [`Ridge`] and [`RidgeClassifier`] are the front door: learners on a map, with a default for
//! everything else. What all learners share lies in [`Learner`], and what they give back is a
//! [`Model`]. Below lie [`LinearModel`], which is fitted to a map that is drawn, and its
//! [`Predictor`].

mod iterative;
mod labels;
mod learner;
mod linear;
mod listener;
mod model;
mod ridge;
mod scores;
mod setup;
mod train;

pub use labels::{FromLabel, IsLabel, Label, ToLabels};
pub use learner::{Features, Learner, OfRows};
pub use linear::{LinearModel, Predictor};
pub use listener::{Listener, Step};
pub use model::{FittedFeatures, LoadedModel, Model, Predicted};
pub use ridge::{Classes, FitOptions, FitTimes, Numbers, Ridge, RidgeClassifier, RidgeOf, Solver};
pub use scores::Scores;
pub use train::{LabelledData, TrainingData};
